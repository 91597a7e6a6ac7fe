/* study.c -- the one path every event takes. */
#include "tuner/study.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static wn_status join_options(struct study *s, const char *const lists[2], struct err *err)
{
    struct buf joined = {0};
    for (int i = 0; i < 2; i++)
        if (lists[i]) wni_buf_printf(&joined, "%s ", lists[i]);
    wni_buf_puts(&joined, "");
    if (joined.failed) {
        wni_buf_release(&joined);
        return wni_fail_memory(err);
    }
    s->options = joined.data;
    return WN_OK;
}

static wn_status check_resources(const struct study_setup *setup, const struct scheduler_ops *ops,
                                 struct sched_env *env, struct err *err)
{
    double min = setup->min_resource, max = setup->max_resource;
    if (!(min >= 0) || !(max >= 0) || isinf(min) || isinf(max))
        return wni_fail(err, WN_EINVAL, "resource: bounds must be finite numbers, 0 or above");
    if (min == 0) min = max > 0 && max < 1 ? max : 1;
    if (max == 0 && ops->stops_early)
        return wni_fail(err, WN_EINVAL,
                        "scheduler '%s' needs a largest resource (how many epochs a full run has)",
                        ops->name);
    if (max > 0 && min > max)
        return wni_fail(err, WN_EINVAL, "resource: min %.15g is above max %.15g", min, max);
    env->min_resource = min;
    env->max_resource = max > 0 ? max : INFINITY;
    return WN_OK;
}

static wn_status open_parts(struct study *s, const struct study_setup *setup, struct err *err)
{
    const struct scheduler_ops *sched = wni_scheduler_find(setup->scheduler, err);
    const struct searcher_ops *search = sched ? wni_searcher_find(setup->searcher, err) : NULL;
    if (!search) return WN_EINVAL;
    wn_status st = wni_space_copy(&s->space, setup->space, err);
    if (!st) st = wni_history_init(&s->history, &s->space, err);
    if (!st) st = join_options(s, setup->options, err);
    if (!st) st = check_resources(setup, sched, &s->sched_env, err);
    s->sched_env.seed = setup->seed;
    if (!st) st = wni_scheduler_open(&s->scheduler, sched, s->options, &s->sched_env, err);
    s->search_env = (struct search_env){.space = &s->space,
                                        .seed = setup->seed,
                                        .partial = sched->stops_early,
                                        .levels = wni_scheduler_levels(&s->scheduler)};
    if (!st) st = wni_searcher_open(&s->searcher, search, s->options, &s->search_env, err);
    return st;
}

static wn_status take_stored(void *context, const struct event *e, struct err *err)
{
    wn_decision ignored;
    return wni_study_apply(context, e, &ignored, err);
}

wn_status wni_study_open(struct study *s, const struct study_setup *setup, struct store *store,
                         struct err *err)
{
    *s = (struct study){.store = *store, .sign = setup->goal == WN_MAXIMIZE ? -1 : 1};
    *store = (struct store){0};
    wn_status st = open_parts(s, setup, err);
    if (!st) st = s->store.ops->read(s->store.self, 0, take_stored, s, err);
    if (st) wni_study_release(s);
    return st;
}

void wni_study_release(struct study *s)
{
    wni_searcher_release(&s->searcher);
    wni_scheduler_release(&s->scheduler);
    wni_history_release(&s->history);
    wni_space_release(&s->space);
    wni_store_close(&s->store);
    free(s->options);
    free(s->decisions);
    *s = (struct study){0};
}

/* ---- events ---- */

/* All that may fail, before anything changes. */
static wn_status prepare(struct study *s, const struct event *e, struct err *err)
{
    wn_status st = wni_history_check(&s->history, e, err);
    if (!st) st = wni_history_reserve(&s->history, e, err);
    if (!st && e->kind == EVENT_ASK &&
        !wni_reserve((void **)&s->decisions, &s->decisions_cap, s->history.n_trials + 1, 1))
        st = wni_fail_memory(err);
    if (!st && s->scheduler.ops->reserve)
        st = s->scheduler.ops->reserve(s->scheduler.self, &s->history, e, err);
    return st;
}

/* All that cannot. */
static wn_decision commit(struct study *s, const struct event *e)
{
    wni_history_append(&s->history, e);
    if (s->searcher.ops->observe) s->searcher.ops->observe(s->searcher.self, &s->history, e);
    wn_decision decision = s->scheduler.ops->observe(s->scheduler.self, &s->history, e);
    if (e->kind == EVENT_ENQUEUE || e->kind == EVENT_FINISH) return WN_CONTINUE;
    if (e->kind != EVENT_REPORT)
        decision = WN_CONTINUE;
    else if (s->history.trials[e->trial].broken || e->resource >= s->sched_env.max_resource)
        decision = WN_STOP; /* broken: this report or an earlier one was not finite (docs/adr/0007) */
    s->decisions[e->trial] = (uint8_t)decision;
    return decision;
}

wn_status wni_study_apply(struct study *s, const struct event *e, wn_decision *decision, struct err *err)
{
    wn_status st = prepare(s, e, err);
    if (!st) *decision = commit(s, e);
    return st;
}

static wn_status happen(struct study *s, const struct event *e, wn_decision *decision, struct err *err)
{
    wn_status st = prepare(s, e, err);
    if (!st) st = s->store.ops->append(s->store.self, e, err);
    if (!st) *decision = commit(s, e);
    return st;
}

/* ---- ask ---- */

static wn_status resume_paused(struct study *s, uint32_t trial, double now, struct handout *out,
                               struct err *err)
{
    struct event e = {.kind = EVENT_RESUME, .trial = trial, .time = now};
    double value;
    wn_decision ignored;
    wn_status st = happen(s, &e, &ignored, err);
    if (st) return st;
    *out = (struct handout){.trial = trial, .config = wni_history_config(&s->history, trial)};
    wni_history_last(&s->history, trial, &value, &out->resumed_from);
    return WN_OK;
}

static wn_status start_new(struct study *s, const double *config, bool queued, double now,
                           struct handout *out, struct err *err)
{
    struct event e = {.kind = EVENT_ASK,
                      .queued = queued,
                      .trial = (uint32_t)s->history.n_trials,
                      .config = config,
                      .saw = s->history.n_events,
                      .time = now};
    wn_decision ignored;
    wn_status st = happen(s, &e, &ignored, err);
    if (!st) *out = (struct handout){.trial = e.trial, .config = wni_history_config(&s->history, e.trial)};
    return st;
}

/* Nothing new can be started.  A scheduler that pauses may still find a trial to go on with, once a running
 * one has reported. */
static wn_status nothing_new(const struct study *s)
{
    return s->scheduler.ops->next && s->history.by_state[WN_RUNNING] > 0 ? WN_WAIT : WN_EXHAUSTED;
}

static wn_status propose(struct study *s, double now, struct handout *out, struct err *err)
{
    double *config = wni_new(double, s->space.n);
    if (!config) return wni_fail_memory(err);
    struct history *h = &s->history;
    wn_status st = s->searcher.ops->suggest(s->searcher.self, h, (uint32_t)h->n_trials, config, err);
    if (!st) st = start_new(s, config, false, now, out, err);
    free(config);
    return st == WN_EXHAUSTED ? nothing_new(s) : st;
}

wn_status wni_study_ask(struct study *s, double now, struct handout *out, struct err *err)
{
    struct history *h = &s->history;
    bool full = s->max_trials && h->n_trials >= s->max_trials;
    if (h->queue_head < h->n_queue && !full)
        return start_new(s, h->queue + h->queue_head * s->space.n, true, now, out, err);
    struct job job = {.kind = JOB_NEW};
    if (s->scheduler.ops->next) job = s->scheduler.ops->next(s->scheduler.self, h);
    switch (job.kind) {
    case JOB_WAIT:
        return WN_WAIT;
    case JOB_RESUME:
        return resume_paused(s, job.trial, now, out, err);
    case JOB_NEW:
        break;
    }
    return full ? nothing_new(s) : propose(s, now, out, err);
}

/* ---- report, finish, enqueue ---- */

wn_status wni_study_report(struct study *s, uint32_t trial, double resource, double value, double now,
                           wn_decision *decision, struct err *err)
{
    struct event e = {
        .kind = EVENT_REPORT, .trial = trial, .resource = resource, .value = s->sign * value, .time = now};
    return happen(s, &e, decision, err);
}

/* What the caller says it ended as, corrected by what the log knows. */
static wn_state fitting_state(const struct study *s, uint32_t trial, wn_state state)
{
    if (trial >= s->history.n_trials || state < WN_PAUSED || state > WN_STOPPED) return state;
    const struct trial *t = &s->history.trials[trial];
    if (t->broken) return WN_FAILED;
    if (state == WN_PAUSED) return state;
    if (t->n_reports == 0) return WN_FAILED; /* nothing to learn from it */
    double reached = s->history.resources[t->furthest - 1];
    if (state == WN_COMPLETE && s->decisions[trial] == WN_PAUSE) return WN_PAUSED;
    if (state == WN_COMPLETE && s->decisions[trial] == WN_STOP && reached < s->sched_env.max_resource)
        return WN_STOPPED;
    return state;
}

wn_status wni_study_finish(struct study *s, uint32_t trial, wn_state state, double now, struct err *err)
{
    struct event e = {
        .kind = EVENT_FINISH, .trial = trial, .state = fitting_state(s, trial, state), .time = now};
    wn_decision ignored;
    return happen(s, &e, &ignored, err);
}

wn_status wni_study_enqueue(struct study *s, const double *config, double now, struct err *err)
{
    struct event e = {.kind = EVENT_ENQUEUE, .config = config, .time = now};
    wn_decision ignored;
    return happen(s, &e, &ignored, err);
}
