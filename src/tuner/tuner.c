/* tuner.c -- ask, run, report, decide, tell. */
#include "tuner/tuner.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEASE_PARTS = 3,  /* signs of life in a lease */
    MOST_TAKEN = 256, /* happenings before free workers get their turn */
};
static const double SYNC_SECONDS = 1; /* until we notice what others did, at the latest */
static const char RUN_ENDED[] = "the run ended before it did";
static const char INTERRUPTED[] = "interrupted; it continues when the study does";

struct running {
    uint32_t trial;
    unsigned attempt; /* another one in the log: somebody else runs it now */
    double reported;  /* resource of the last report of this run; 0: none */
    bool odd;         /* watchers have heard that something is strange with that */
};

/* What watchers are to hear once it is durable. */
struct note {
    enum note_kind { NOTE_REPORT, NOTE_END, NOTE_RETRY } kind;
    struct happening it; /* REPORT; `trial` always */
    bool odd;            /* REPORT: its resource is, after that of the one `before` it */
    double before;
    wn_state state; /* END */
    const char *detail;
};

struct tuner {
    struct study *study;
    struct backend *backend;
    const struct tuner_setup *setup;
    struct tuner_result *result;
    struct running *running;
    unsigned n_running;
    struct handout *jobs; /* asked for, not yet started */
    unsigned n_jobs;
    struct note *notes; /* not yet told */
    size_t n_notes, notes_cap;
    struct arena words;             /* their details */
    unsigned failed_in_row;         /* trials that failed or ran out of time and never reported */
    unsigned silent_in_row;         /* of these: whose programs did not say that anything was wrong */
    uint32_t best;                  /* whose checkpoint is kept */
    double duty, synced, signed_at; /* when they were last done */
    bool closed;                    /* no more trials will be asked */
    bool waiting;                   /* the study has nothing until someone reports */
    bool told_waiting;              /* somebody has heard of it */
    bool urgent;                    /* end now */
    bool late;                      /* the limit of time has passed */
};

static double now(const struct tuner *t)
{
    return t->backend->ops->now(t->backend->self);
}

/* As events note it. */
static double age(const struct tuner *t)
{
    return t->setup->began + now(t);
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
    const struct trial *row = &t->study->history.trials[trial];
    return wni_state_is_final(row->state) && !row->retry;
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

/* Those of trials that ended while nobody ran them: lost for good, or cancelled by a user. */
static void sweep_checkpoints(struct tuner *t)
{
    const struct history *h = &t->study->history;
    if (t->setup->keep == KEEP_ALL || h->by_state[WN_LOST] + h->by_state[WN_CANCELLED] == 0) return;
    for (uint32_t trial = 0; trial < h->n_trials; trial++) {
        bool best = t->setup->keep == KEEP_BEST && trial == h->best_trial;
        wn_state state = (wn_state)h->trials[trial].state;
        if ((state == WN_LOST || state == WN_CANCELLED) && is_final(t, trial) && !best) discard(t, trial);
    }
}

/* ---- starting ---- */

/* Asks for a trial, charging the time it took if the backend wants to know. */
static wn_status timed_ask(struct tuner *t, struct handout *out, struct err *err)
{
    if (!t->setup->charge || !t->backend->ops->charge) return wni_study_ask(t->study, age(t), out, err);
    double before = wni_clock_seconds();
    wn_status st = wni_study_ask(t->study, age(t), out, err);
    t->backend->ops->charge(t->backend->self, wni_clock_seconds() - before);
    return st;
}

/* A trial that cannot be started has failed, and so will the next: the run ends with the reason. */
static wn_status fail_start(struct tuner *t, uint32_t trial, wn_status st, const struct err *why)
{
    struct err ignored;
    wni_study_finish_as(t->study, trial, WN_FAILED, why ? why->text : NULL, age(t), &ignored);
    WATCH(t, on_end, trial, WN_FAILED, why ? why->text : NULL);
    return st;
}

/* Whether the log says that a trial of ours is none any more: a user has cancelled it, or it was given up as
 * lost and handed out again.  What is only lost may still come to an end here. */
static bool is_taken(const struct tuner *t, const struct running *r)
{
    const struct trial *row = &t->study->history.trials[r->trial];
    bool ended = wni_state_is_final(row->state) && row->state != WN_LOST;
    return ended || row->attempt != r->attempt;
}

/* A trial that runs here is somebody else's business now. */
static wn_status drop(struct tuner *t, struct running *r, struct err *err)
{
    uint32_t trial = r->trial;
    wn_status st = t->backend->ops->stop(t->backend->self, trial, !is_final(t, trial), err);
    if (st) return st;
    take_out(t, r);
    WATCH(t, on_end, trial, (wn_state)t->study->history.trials[trial].state, "ended from elsewhere");
    if (is_final(t, trial)) drop_checkpoints(t, trial);
    return WN_OK;
}

static wn_status start_trial(struct tuner *t, const struct handout *job, struct err *err)
{
    const struct backend_ops *ops = t->backend->ops;
    const double *config = wni_history_config(&t->study->history, job->trial);
    struct running *old = find_running(t, job->trial); /* we were taken for dead, and are to retry our own */
    wn_status st = old ? drop(t, old, err) : WN_OK;
    if (!st) st = ops->start(t->backend->self, job->trial, config, job->again, job->resumed_from, err);
    if (st) return t->setup->settle ? fail_start(t, job->trial, st, err) : st;
    t->running[t->n_running++] = (struct running){.trial = job->trial, .attempt = job->attempt};
    t->told_waiting = false;
    WATCH(t, on_start, job->trial, job->resumed_from);
    return WN_OK;
}

/* One that cannot be started ends the run, and those after it before they began. */
static wn_status start_jobs(struct tuner *t, struct err *err)
{
    struct err ignored;
    wn_status st = WN_OK;
    for (unsigned i = 0; i < t->n_jobs; i++) {
        if (!st)
            st = start_trial(t, &t->jobs[i], err);
        else if (t->setup->settle)
            wni_study_finish_as(t->study, t->jobs[i].trial, WN_CANCELLED, RUN_ENDED, age(t), &ignored);
    }
    t->n_jobs = 0;
    return st;
}

/* ---- batches ---- */

/* What happened together is made durable together, if the backend can tell.  Nobody hears of it before, and
 * no trial is started: a runner that is killed has told nothing that the log does not know. */
static bool has_batches(const struct tuner *t)
{
    return t->backend->ops->pending != NULL;
}

static void begin_batch(const struct tuner *t)
{
    if (has_batches(t)) wni_study_batch_begin(t->study);
}

static wn_status add_note(struct tuner *t, const struct note *note, struct err *err)
{
    if (!wni_reserve((void **)&t->notes, &t->notes_cap, t->n_notes + 1, sizeof *t->notes))
        return wni_fail_memory(err);
    struct note *own = &t->notes[t->n_notes];
    *own = *note;
    if (note->detail && !(own->detail = wni_arena_strdup(&t->words, note->detail)))
        return wni_fail_memory(err);
    t->n_notes++;
    return WN_OK;
}

static void tell(struct tuner *t, const struct note *note)
{
    uint32_t trial = note->it.trial;
    switch (note->kind) {
    case NOTE_REPORT:
        if (note->odd) WATCH(t, on_odd, &note->it, note->before);
        WATCH(t, on_report, &note->it);
        break;
    case NOTE_RETRY:
        WATCH(t, on_retry, trial, note->detail);
        break;
    case NOTE_END:
        WATCH(t, on_end, trial, note->state, note->detail);
        if (is_final(t, trial)) drop_checkpoints(t, trial);
        break;
    }
}

/* Ends the batch, tells, and starts what was asked for; also after a failure `st`, which comes first: what
 * happened before it did happen. */
static wn_status end_batch(struct tuner *t, wn_status st, struct err *err)
{
    struct err own = {0};
    wn_status ended = has_batches(t) ? wni_study_batch_end(t->study, &own) : WN_OK;
    if (ended) t->n_notes = t->n_jobs = 0;
    for (size_t i = 0; i < t->n_notes; i++)
        tell(t, &t->notes[i]);
    t->n_notes = 0;
    wni_arena_reset(&t->words);
    if (!ended) ended = start_jobs(t, &own);
    if (!st && ended) *err = own;
    return st ? st : ended;
}

static wn_status split_batch(struct tuner *t, struct err *err)
{
    wn_status st = end_batch(t, WN_OK, err);
    begin_batch(t);
    return st;
}

/* ---- ending ---- */

static bool reached(unsigned n, unsigned limit)
{
    return limit && n >= limit;
}

/* A command that does not work at all would go on failing until the limit of trials. */
static wn_status mind_failures(struct tuner *t, const struct happening *end, struct err *err)
{
    const struct trial *row = &t->study->history.trials[end->trial];
    const char *why = end->detail && *end->detail ? end->detail : "no reason known";
    bool failed = row->state == WN_FAILED || row->state == WN_TIMEOUT;
    if (!failed || row->n_reports > 0) {
        t->failed_in_row = t->silent_in_row = 0;
        return WN_OK;
    }
    t->failed_in_row++;
    t->silent_in_row += end->silent;
    if (reached(t->silent_in_row, t->setup->give_up_silent) && t->study->history.n_reports == 0) {
        t->result->gave_up = t->result->gave_up_silent = true;
        return wni_fail(err, WN_EIO,
                        "%u trials ended without a fault, and no trial has reported; the last: %s",
                        t->silent_in_row, why);
    }
    if (!reached(t->failed_in_row, t->setup->give_up)) return WN_OK;
    t->result->gave_up = true;
    return wni_fail(err, WN_EIO, "%u trial%s failed without a report; the last: %s", t->failed_in_row,
                    t->failed_in_row == 1 ? "" : "s in a row", why);
}

/* A trial that does not run any more is known to the study as ended, as it says or as the log does. */
static wn_status end_trial(struct tuner *t, const struct happening *end, struct err *err)
{
    uint32_t trial = end->trial;
    take_out(t, find_running(t, trial));
    wn_status st = wni_study_finish_as(t->study, trial, end->state, end->detail, age(t), err);
    const struct trial *row = &t->study->history.trials[trial];
    if (st && !(st == WN_ESTATE && row->state != WN_RUNNING)) return st; /* else somebody else was faster */
    st = add_note(t,
                  &(struct note){.kind = row->retry ? NOTE_RETRY : NOTE_END,
                                 .it.trial = trial,
                                 .state = (wn_state)row->state,
                                 .detail = end->detail},
                  err);
    return st || row->retry ? st : mind_failures(t, end, err);
}

static wn_status take_end(struct tuner *t, const struct happening *it, struct err *err)
{
    struct running *r = find_running(t, it->trial);
    if (t->study->history.trials[it->trial].attempt != r->attempt) { /* somebody else's end is what counts */
        take_out(t, r);
        return WN_OK;
    }
    wn_status st = end_trial(t, it, err);
    return st || !it->hopeless ? st : wni_fail(err, WN_EINVAL, "%s", it->detail);
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
    struct running *r = find_running(t, it->trial);
    wn_status st = wni_study_report(t->study, it->trial, it->resource, it->value, t->setup->began + it->time,
                                    &decision, err);
    if (st == WN_ESTATE && is_taken(t, r)) return drop(t, r, err);
    if (st) return st;
    t->result->reports++;
    struct note note = {.kind = NOTE_REPORT, .it = *it, .before = r->reported};
    note.odd = !r->odd && (it->resource < r->reported || it->resource > t->study->sched_env.max_resource);
    r->odd = r->odd || note.odd;
    if (!it->earlier) r->reported = it->resource; /* a program without checkpoints begins anew */
    st = add_note(t, &note, err);
    if (st || decision == WN_CONTINUE) return st;
    st = stop_trial(t, it, decision, err);
    const char *detail = t->study->history.trials[it->trial].broken
                             ? "it reported something that is not a finite number"
                             : NULL;
    struct happening end = {.trial = it->trial, .state = WN_COMPLETE, .detail = detail};
    return st ? st : end_trial(t, &end, err);
}

/* ---- other duties ---- */

static wn_status drop_taken(struct tuner *t, struct err *err)
{
    wn_status st = WN_OK;
    for (unsigned i = 0; i < t->n_running && !st;) {
        if (is_taken(t, &t->running[i]))
            st = drop(t, &t->running[i], err);
        else
            i++;
    }
    return st;
}

/* Signs of life, well within the lease, for trials that have long epochs. */
static wn_status show_life(struct tuner *t, double time, struct err *err)
{
    wn_status st = WN_OK;
    if (t->study->lease <= 0 || time - t->signed_at < t->study->lease / LEASE_PARTS) return WN_OK;
    t->signed_at = time;
    begin_batch(t);
    for (unsigned i = 0; i < t->n_running && !st; i++) {
        st = is_taken(t, &t->running[i]) ? WN_OK : wni_study_heartbeat(t->study, t->running[i].trial, err);
        if (st == WN_ESTATE) st = WN_OK; /* lost, or drop_taken() finds it */
    }
    return end_batch(t, st, err);
}

/* What others did. */
static wn_status catch_up(struct tuner *t, double time, struct err *err)
{
    if (time - t->synced < SYNC_SECONDS) return WN_OK;
    t->synced = time;
    return wni_study_sync(t->study, age(t), err);
}

static wn_status do_duty(struct tuner *t, struct err *err)
{
    const struct tuner_watcher *w = &t->setup->watcher;
    double time = now(t);
    if (!w->on_duty || time - t->duty < t->setup->duty_seconds) return WN_OK;
    t->duty = time;
    wn_status st = show_life(t, time, err);
    if (!st) st = catch_up(t, time, err);
    if (!st) st = w->on_duty(w->context, t->study, err);
    return st ? st : drop_taken(t, err);
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
    return t->urgent || (limits->reports && t->study->history.n_reports >= limits->reports) ||
           (limits->resource > 0 && t->study->history.total_resource >= limits->resource);
}

/* Nothing runs here, but something elsewhere may lead to work. */
static bool may_wait(struct tuner *t)
{
    if (!t->waiting || t->closed || !t->backend->ops->ticks) return false;
    if (!t->told_waiting && t->setup->watcher.on_wait)
        t->setup->watcher.on_wait(t->setup->watcher.context, t->study);
    t->told_waiting = true;
    return true;
}

/* Takes what has happened, and what else has by then. */
static wn_status take_all(struct tuner *t, struct happening *it, struct err *err)
{
    double limit = t->setup->limits.seconds;
    for (int n = 1;; n++) {
        t->late = limit > 0 && it->time > limit;
        if (t->late) return WN_OK;
        t->result->seconds = it->time;
        wn_status st = take(t, it, err);
        if (st || over_limit(t) || n == MOST_TAKEN || !has_batches(t) ||
            !t->backend->ops->pending(t->backend->self) || wni_study_batch_is_due(t->study))
            return st;
        st = t->backend->ops->next(t->backend->self, it, err);
        if (st) return st;
    }
}

/* Takes what has happened meanwhile, if anything. */
static wn_status take_pending(struct tuner *t, struct err *err)
{
    const struct backend_ops *ops = t->backend->ops;
    struct happening it;
    if (!ops->look || t->n_running == 0) return WN_OK;
    ops->look(t->backend->self);
    if (!ops->pending(t->backend->self)) return WN_OK;
    wn_status st = ops->next(t->backend->self, &it, err);
    return st ? st : take_all(t, &it, err);
}

static bool wants_trials(const struct tuner *t)
{
    return t->n_running + t->n_jobs < t->setup->workers && !t->closed && !t->late && !over_limit(t);
}

/* Where a proposal takes long, each trial starts as soon as there is one, and decisions about others do not
 * wait until all workers have theirs. */
static wn_status fill_workers(struct tuner *t, struct err *err)
{
    t->waiting = false;
    while (wants_trials(t)) {
        if (!has_batches(t) || wni_study_batch_is_due(t->study)) {
            wn_status st = split_batch(t, err);
            if (!st) st = take_pending(t, err);
            if (st) return st;
            if (!wants_trials(t)) return WN_OK;
        }
        wn_status st = timed_ask(t, &t->jobs[t->n_jobs], err);
        if (st == WN_WAIT) t->waiting = true;
        if (st == WN_EXHAUSTED) t->closed = true;
        if (st) return st == WN_EXHAUSTED || st == WN_WAIT ? WN_OK : st;
        t->n_jobs++;
    }
    return WN_OK;
}

static wn_status turn(struct tuner *t, struct err *err)
{
    struct happening it;
    wn_status st = t->backend->ops->next(t->backend->self, &it, err);
    if (st) return st;
    begin_batch(t);
    st = take_all(t, &it, err);
    if (!st) st = fill_workers(t, err);
    st = end_batch(t, st, err);
    return st || t->late ? st : do_duty(t, err);
}

static wn_status loop(struct tuner *t, struct err *err)
{
    const struct tuner_limits *limits = &t->setup->limits;
    begin_batch(t);
    wn_status st = end_batch(t, fill_workers(t, err), err);
    while (!st && !t->late && !over_limit(t)) {
        if (t->n_running == 0 && !may_wait(t)) {
            t->result->exhausted =
                !t->result->interrupted && !(limits->trials && t->study->history.n_trials >= limits->trials);
            return WN_OK;
        }
        st = turn(t, err);
    }
    return st;
}

/* Records how a trial ends that was stopped for the run's sake.  A limit is the end of the study, so it is
 * over; whoever interrupts a run has not said that. */
static wn_status settle_trial(struct tuner *t, uint32_t trial, bool goes_on, struct err *err)
{
    const char *why = goes_on ? INTERRUPTED : RUN_ENDED;
    wn_status st = goes_on ? wni_study_hand_back(t->study, trial, why, age(t), err)
                           : wni_study_finish_as(t->study, trial, WN_CANCELLED, why, age(t), err);
    if (st == WN_ESTATE) st = WN_OK; /* somebody else has */
    if (st) return st;
    WATCH(t, on_end, trial, (wn_state)t->study->history.trials[trial].state, why);
    if (is_final(t, trial)) drop_checkpoints(t, trial);
    return WN_OK;
}

/* Stops what still runs.  A failure of the run itself comes first: here we do what can be done. */
static wn_status settle(struct tuner *t, wn_status failed, struct err *err)
{
    struct err own = {0};
    wn_status first = failed;
    bool goes_on = t->result->interrupted && !failed;
    while (t->n_running > 0) {
        uint32_t trial = t->running[0].trial;
        wn_status st = t->backend->ops->stop(t->backend->self, trial, goes_on, &own);
        take_out(t, &t->running[0]);
        wn_status finished = settle_trial(t, trial, goes_on, &own);
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
    t.jobs = wni_new(struct handout, setup->workers);
    wn_status st = t.running && t.jobs ? loop(&t, err) : wni_fail_memory(err);
    if (setup->settle) {
        st = settle(&t, st, err);
        sweep_checkpoints(&t);
    }
    free(t.running);
    free(t.jobs);
    free(t.notes);
    wni_arena_release(&t.words);
    return st;
}
