/* tuner.c -- ask, run, report, decide, tell. */
#include "tuner/tuner.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { LEASE_PARTS = 20 }; /* signs of life in a lease */

struct running {
    uint32_t trial;
    unsigned failures; /* runs of it that failed, since it was handed out */
};

struct tuner {
    struct study *study;
    struct backend *backend;
    const struct tuner_setup *setup;
    struct tuner_result *result;
    struct running *running;
    unsigned n_running;
    unsigned failed_in_row; /* trials that failed and never reported */
    uint32_t best;          /* whose checkpoint is kept */
    double duty, synced;    /* when they were last done */
    bool closed;            /* no more trials will be asked */
    bool waiting;           /* the study has nothing until someone reports */
    bool urgent;            /* end now */
};

static double now(const struct tuner *t)
{
    return t->backend->ops->now(t->backend->self);
}

/* Tells a watcher, if it listens: WATCH(t, on_start, trial, 0). */
#define WATCH(t, what, ...)                                                                                  \
    do {                                                                                                     \
        const struct tuner_watcher *watcher = &(t)->setup->watcher;                                          \
        if (watcher->what) watcher->what(watcher->context, (t)->study, __VA_ARGS__);                         \
    } while (0)

/* ---- who runs ---- */

static struct running *find_running(const struct tuner *t, uint32_t trial)
{
    for (unsigned i = 0; i < t->n_running; i++)
        if (t->running[i].trial == trial) return &t->running[i];
    return NULL;
}

static void take_out(struct tuner *t, struct running *r)
{
    *r = t->running[--t->n_running];
}

/* ---- checkpoints ---- */

static void discard(const struct tuner *t, uint32_t trial)
{
    if (t->backend->ops->discard) t->backend->ops->discard(t->backend->self, trial);
}

static bool is_final(const struct tuner *t, uint32_t trial)
{
    return wni_state_is_final(t->study->history.trials[trial].state);
}

/* A trial has ended for good: drops what nobody needs.  The best trial's is kept until another one is best.
 */
static void drop_checkpoints(struct tuner *t, uint32_t trial)
{
    uint32_t best = t->study->history.best_trial;
    if (t->setup->keep == KEEP_ALL) return;
    if (t->setup->keep == KEEP_NONE || trial != best) discard(t, trial);
    if (t->setup->keep != KEEP_BEST || best == t->best) return;
    if (t->best != TRIAL_NONE && t->best != trial && is_final(t, t->best)) discard(t, t->best);
    t->best = best;
}

/* ---- starting ---- */

/* Asks for a trial, charging the time it took if the backend wants to know. */
static wn_status timed_ask(struct tuner *t, struct handout *out, struct err *err)
{
    if (!t->setup->charge || !t->backend->ops->charge) return wni_study_ask(t->study, now(t), out, err);
    double before = wni_clock_seconds();
    wn_status st = wni_study_ask(t->study, now(t), out, err);
    t->backend->ops->charge(t->backend->self, wni_clock_seconds() - before);
    return st;
}

/* A trial that cannot be started has failed, and so will the next: the run ends with the reason. */
static wn_status fail_start(struct tuner *t, uint32_t trial, wn_status st, const struct err *why)
{
    struct err ignored;
    wni_study_finish_as(t->study, trial, WN_FAILED, why ? why->text : NULL, now(t), &ignored);
    WATCH(t, on_end, trial, WN_FAILED, why ? why->text : NULL);
    return st;
}

static wn_status start_trial(struct tuner *t, const struct handout *job, struct err *err)
{
    wn_status st = t->backend->ops->start(t->backend->self, job->trial, job->config, job->resumed_from, err);
    if (st) return t->setup->settle ? fail_start(t, job->trial, st, err) : st;
    t->running[t->n_running++] = (struct running){job->trial, 0};
    WATCH(t, on_start, job->trial, job->resumed_from);
    return WN_OK;
}

static wn_status fill_workers(struct tuner *t, struct err *err)
{
    t->waiting = false;
    while (t->n_running < t->setup->workers && !t->closed) {
        struct handout job;
        wn_status st = timed_ask(t, &job, err);
        if (st == WN_WAIT) t->waiting = true;
        if (st == WN_EXHAUSTED) t->closed = true;
        if (st) return st == WN_EXHAUSTED || st == WN_WAIT ? WN_OK : st;
        st = start_trial(t, &job, err);
        if (st) return st;
    }
    return WN_OK;
}

/* ---- ending ---- */

/* A command that does not work at all would go on failing until the limit of trials. */
static wn_status mind_failures(struct tuner *t, uint32_t trial, const char *detail, struct err *err)
{
    const struct trial *row = &t->study->history.trials[trial];
    if (row->state != WN_FAILED || row->n_reports > 0) {
        t->failed_in_row = 0;
        return WN_OK;
    }
    t->failed_in_row++;
    if (!t->setup->give_up || t->failed_in_row < t->setup->give_up) return WN_OK;
    return wni_fail(err, WN_EIO, "%u trials in a row failed without a report; the last: %s", t->failed_in_row,
                    detail && *detail ? detail : "no reason known");
}

static wn_status end_trial(struct tuner *t, uint32_t trial, wn_state state, const char *detail,
                           struct err *err)
{
    take_out(t, find_running(t, trial));
    wn_status st = wni_study_finish_as(t->study, trial, state, detail, now(t), err);
    if (st) return st;
    state = t->study->history.trials[trial].state;
    WATCH(t, on_end, trial, state, detail);
    if (wni_state_is_final(state)) drop_checkpoints(t, trial);
    return mind_failures(t, trial, detail, err);
}

/* A failed run is repeated with the same trial: to the study it is one that takes longer. */
static wn_status retry(struct tuner *t, struct running *r, const char *detail, struct err *err)
{
    const struct history *h = &t->study->history;
    double value, reached = 0;
    wni_history_last(h, r->trial, &value, &reached);
    r->failures++;
    WATCH(t, on_retry, r->trial, detail);
    return t->backend->ops->start(t->backend->self, r->trial, wni_history_config(h, r->trial), reached, err);
}

static wn_status take_end(struct tuner *t, const struct happening *it, struct err *err)
{
    struct running *r = find_running(t, it->trial);
    if (it->hopeless) {
        wn_status st = end_trial(t, it->trial, it->state, it->detail, err);
        return st ? st : wni_fail(err, WN_EINVAL, "%s", it->detail);
    }
    bool again = it->state == WN_FAILED && r->failures < t->setup->retries && !t->result->interrupted &&
                 !t->study->history.trials[it->trial].broken;
    return again ? retry(t, r, it->detail, err) : end_trial(t, it->trial, it->state, it->detail, err);
}

/* ---- reports ---- */

/* At the largest resource a trial is not cut off: it may have a model to save. */
static wn_status stop_trial(struct tuner *t, const struct happening *it, wn_decision decision,
                            struct err *err)
{
    const struct backend_ops *ops = t->backend->ops;
    bool whole = decision == WN_STOP && it->resource >= t->study->sched_env.max_resource;
    if (whole && ops->complete) return ops->complete(t->backend->self, it->trial, err);
    return ops->stop(t->backend->self, it->trial, decision == WN_PAUSE, err);
}

static wn_status take_report(struct tuner *t, const struct happening *it, struct err *err)
{
    wn_decision decision;
    wn_status st = wni_study_report(t->study, it->trial, it->resource, it->value, it->time, &decision, err);
    if (st) return st;
    t->result->reports++;
    WATCH(t, on_report, it);
    if (decision == WN_CONTINUE) return WN_OK;
    st = stop_trial(t, it, decision, err);
    const char *detail = t->study->history.trials[it->trial].broken
                             ? "it reported something that is not a finite number"
                             : NULL;
    return st ? st : end_trial(t, it->trial, WN_COMPLETE, detail, err);
}

/* ---- other duties ---- */

/* Somebody else (a user who cancels, a worker that took over a lease) has ended a trial that runs here. */
static wn_status drop_ended(struct tuner *t, struct err *err)
{
    for (unsigned i = 0; i < t->n_running;) {
        uint32_t trial = t->running[i].trial;
        wn_state state = t->study->history.trials[trial].state;
        if (!wni_state_is_final(state) || state == WN_LOST) {
            i++;
            continue;
        }
        wn_status st = t->backend->ops->stop(t->backend->self, trial, false, err);
        if (st) return st;
        take_out(t, &t->running[i]);
        WATCH(t, on_end, trial, state, "ended from elsewhere");
    }
    return WN_OK;
}

/* Signs of life, well within the lease, for trials that have long epochs; then what others did. */
static wn_status mind_leases(struct tuner *t, struct err *err)
{
    double time = now(t);
    wn_status st = WN_OK;
    if (t->study->lease <= 0 || time - t->synced < t->study->lease / LEASE_PARTS) return WN_OK;
    t->synced = time;
    for (unsigned i = 0; i < t->n_running && !st; i++) {
        st = wni_study_heartbeat(t->study, t->running[i].trial, err);
        if (st == WN_ESTATE) st = WN_OK; /* ended by somebody else: drop_ended() finds it */
    }
    return st ? st : wni_study_sync(t->study, time, err);
}

static wn_status do_duty(struct tuner *t, struct err *err)
{
    const struct tuner_watcher *w = &t->setup->watcher;
    if (!w->on_duty || now(t) - t->duty < t->setup->duty_seconds) return WN_OK;
    t->duty = now(t);
    wn_status st = mind_leases(t, err);
    if (!st) st = w->on_duty(w->context, t->study, err);
    return st ? st : drop_ended(t, err);
}

static void take_interrupt(struct tuner *t, bool urgent)
{
    t->closed = true;
    t->result->interrupted = true;
    t->urgent = t->urgent || urgent || t->setup->interrupt_ends;
    WATCH(t, on_interrupt, t->urgent, t->n_running);
}

static wn_status take(struct tuner *t, const struct happening *it, struct err *err)
{
    switch (it->kind) {
    case HAPPENED_REPORT:
        return take_report(t, it, err);
    case HAPPENED_END:
        return take_end(t, it, err);
    case HAPPENED_INTERRUPT:
        take_interrupt(t, it->urgent);
        return WN_OK;
    case HAPPENED_TICK:
        break;
    }
    return WN_OK;
}

/* ---- the loop ---- */

static bool over_limit(const struct tuner *t)
{
    const struct tuner_limits *limits = &t->setup->limits;
    return t->urgent || (limits->reports && t->result->reports >= limits->reports) ||
           (limits->resource > 0 && t->study->history.total_resource >= limits->resource);
}

/* Nothing runs here, but something elsewhere may lead to work. */
static bool may_wait(const struct tuner *t)
{
    return t->waiting && !t->closed && t->backend->ops->ticks;
}

static wn_status loop(struct tuner *t, struct err *err)
{
    const struct tuner_limits *limits = &t->setup->limits;
    while (!over_limit(t)) {
        struct happening it;
        wn_status st = fill_workers(t, err);
        if (st) return st;
        if (t->n_running == 0 && !may_wait(t)) {
            t->result->exhausted =
                !t->result->interrupted && !(limits->trials && t->study->history.n_trials >= limits->trials);
            return WN_OK;
        }
        st = t->backend->ops->next(t->backend->self, &it, err);
        if (st) return st;
        if (limits->seconds > 0 && it.time > limits->seconds) break;
        t->result->seconds = it.time;
        st = take(t, &it, err);
        if (!st) st = do_duty(t, err);
        if (st) return st;
    }
    return WN_OK;
}

/* Stops what still runs.  A failure of the run itself comes first: here we do what can be done. */
static wn_status settle(struct tuner *t, wn_status failed, struct err *err)
{
    static const char why[] = "the run ended before it did";
    struct err own = {0};
    wn_status first = failed;
    while (t->n_running > 0) {
        uint32_t trial = t->running[0].trial;
        wn_status st = t->backend->ops->stop(t->backend->self, trial, false, &own);
        wn_status finished = wni_study_finish_as(t->study, trial, WN_CANCELLED, why, now(t), &own);
        take_out(t, &t->running[0]);
        if (!finished) WATCH(t, on_end, trial, WN_CANCELLED, why);
        if (!first && (st || finished)) {
            first = st ? st : finished;
            *err = own;
        }
    }
    return first;
}

wn_status wni_tuner_run(struct study *study, struct backend *backend, const struct tuner_setup *setup,
                        struct tuner_result *result, struct err *err)
{
    struct tuner t = {
        .study = study, .backend = backend, .setup = setup, .result = result, .best = TRIAL_NONE};
    *result = (struct tuner_result){0};
    study->max_trials = setup->limits.trials;
    t.best = study->history.best_trial;
    t.running = wni_new(struct running, setup->workers);
    if (!t.running) return wni_fail_memory(err);
    wn_status st = loop(&t, err);
    if (setup->settle) st = settle(&t, st, err);
    free(t.running);
    return st;
}
