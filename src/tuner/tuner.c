/* tuner.c -- ask, run, report, decide, tell. */
#include "tuner/tuner.h"

#include "base/clock.h"

struct tuner {
    struct study *study;
    struct backend *backend;
    const struct tuner_setup *setup;
    struct tuner_result *result;
    unsigned running;
    bool closed; /* no more trials will be asked */
};

static double now(const struct tuner *t)
{
    return t->backend->ops->now(t->backend->self);
}

/* Asks for a trial, charging the time it took if the backend wants to know. */
static wn_status timed_ask(struct tuner *t, struct handout *out, struct err *err)
{
    if (!t->setup->charge || !t->backend->ops->charge) return wni_study_ask(t->study, now(t), out, err);
    double before = wni_clock_seconds();
    wn_status st = wni_study_ask(t->study, now(t), out, err);
    t->backend->ops->charge(t->backend->self, wni_clock_seconds() - before);
    return st;
}

static wn_status fill_workers(struct tuner *t, struct err *err)
{
    while (t->running < t->setup->workers && !t->closed) {
        struct handout job;
        wn_status st = timed_ask(t, &job, err);
        if (st == WN_WAIT) return WN_OK;
        if (st == WN_EXHAUSTED) t->closed = true;
        if (st) return st == WN_EXHAUSTED ? WN_OK : st;
        st = t->backend->ops->start(t->backend->self, job.trial, job.config, job.resumed_from, err);
        if (st) return st;
        t->running++;
    }
    return WN_OK;
}

static wn_status end_trial(struct tuner *t, uint32_t trial, wn_state state, struct err *err)
{
    t->running--;
    return wni_study_finish(t->study, trial, state, now(t), err);
}

static wn_status take_report(struct tuner *t, const struct happening *it, struct err *err)
{
    wn_decision decision;
    wn_status st = wni_study_report(t->study, it->trial, it->resource, it->value, it->time, &decision, err);
    if (st) return st;
    t->result->reports++;
    if (t->setup->on_report) t->setup->on_report(t->setup->context, t->study, it);
    if (decision == WN_CONTINUE) return WN_OK;
    st = t->backend->ops->stop(t->backend->self, it->trial, decision == WN_PAUSE, err);
    return st ? st : end_trial(t, it->trial, WN_COMPLETE, err);
}

static bool over_limit(const struct tuner *t)
{
    const struct tuner_limits *limits = &t->setup->limits;
    return (limits->reports && t->result->reports >= limits->reports) ||
           (limits->resource > 0 && t->study->history.total_resource >= limits->resource);
}

wn_status wni_tuner_run(struct study *study, struct backend *backend, const struct tuner_setup *setup,
                        struct tuner_result *result, struct err *err)
{
    struct tuner t = {.study = study, .backend = backend, .setup = setup, .result = result};
    *result = (struct tuner_result){0};
    study->max_trials = setup->limits.trials;
    while (!over_limit(&t)) {
        struct happening it;
        wn_status st = fill_workers(&t, err);
        if (st || t.running == 0) {
            result->exhausted = !st && !(study->max_trials && study->history.n_trials >= study->max_trials);
            return st;
        }
        st = backend->ops->next(backend->self, &it, err);
        if (st) return st;
        if (setup->limits.seconds > 0 && it.time > setup->limits.seconds) break;
        result->seconds = it.time;
        st = it.kind == HAPPENED_REPORT ? take_report(&t, &it, err) : end_trial(&t, it.trial, it.state, err);
        if (st) return st;
    }
    return WN_OK;
}
