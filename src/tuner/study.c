/* study.c -- the one path every event takes; ask.c has what an ask decides. */
#include "tuner/study_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "tuner/rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double HOLD_SECONDS = 0.01; /* a batch may keep others from writing */

/* ---- opening ---- */

static wn_status join_options(const char *const lists[2], char **out, struct err *err)
{
    struct buf joined = {0};
    for (int i = 0; i < 2; i++)
        if (lists[i] && lists[i][0]) wni_buf_printf(&joined, "%s%s", joined.len ? " " : "", lists[i]);
    wni_buf_puts(&joined, "");
    if (joined.failed) {
        wni_buf_release(&joined);
        return wni_fail_memory(err);
    }
    *out = joined.data;
    return WN_OK;
}

static wn_status fill_in_resources(const struct study_setup *setup, const struct scheduler_ops *ops,
                                   struct study_setup *full, struct err *err)
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
    full->min_resource = min;
    full->max_resource = max;
    return WN_OK;
}

wn_status wni_study_fill_in(const struct study_setup *setup, struct study_setup *full, char **options,
                            struct err *err)
{
    const struct scheduler_ops *sched = wni_scheduler_find(setup->scheduler, err);
    *full = *setup;
    if (!sched || !wni_searcher_find(setup->searcher, err)) return WN_EINVAL;
    wn_status st = fill_in_resources(setup, sched, full, err);
    if (!st) st = join_options(setup->options, options, err);
    full->options[0] = *options;
    full->options[1] = NULL;
    return st;
}

static wn_status open_parts(struct study *s, const struct study_setup *full, struct err *err)
{
    struct stored_setup first;
    const struct scheduler_ops *sched = wni_scheduler_find(full->scheduler, err);
    s->sched_env = (struct sched_env){.seed = full->seed,
                                      .min_resource = full->min_resource,
                                      .max_resource = full->max_resource > 0 ? full->max_resource : INFINITY};
    wn_status st = wni_history_init(&s->history, &s->space, err);
    if (!st) st = wni_scheduler_open(&s->scheduler, sched, s->options, &s->sched_env, err);
    if (!st) st = wni_setup_copy(&first, full, err);
    return st ? st : wni_version_first(s, &first, err);
}

/* Stores keep values as they were reported. */
static struct event turned(const struct study *s, const struct event *e)
{
    struct event out = *e;
    out.value *= s->sign;
    return out;
}

static wn_status take_stored(void *context, const struct event *stored, struct err *err)
{
    struct study *s = context;
    struct event e = turned(s, stored);
    wn_decision ignored;
    wn_status st = wni_study_apply(s, &e, &ignored, err);
    if (st && st != WN_ENOMEM) {
        wni_err_prefix(err, "event %zu of the stored log", s->history.n_events + 1);
        st = WN_ESTORE;
    }
    return st;
}

static wn_status fail_batch(const struct study *s, struct err *err)
{
    if (err) *err = s->batch.why;
    return s->batch.failed;
}

/* Reads what others have appended.  Positions in the store and in the history are the same.  While a batch
 * has the lock there is nothing to read. */
static wn_status catch_up(struct study *s, struct err *err)
{
    if (s->batch.failed) return fail_batch(s, err);
    if (s->batch.entered) return WN_OK;
    return s->store.ops->read(s->store.self, s->history.n_events, take_stored, s, err);
}

/* Somebody else has created it: what the log begins with is theirs. */
static wn_status take_found(struct study *s, const struct study_found *found, const struct study_setup *full,
                            struct err *err)
{
    struct stored_setup first;
    if (full->is_new) return wni_fail(err, WN_ESTATE, "the study is there already");
    wn_status st = wni_setup_read(&first, found->setup, found->file, err);
    if (st) return st;
    st = wni_setup_compare(&first.setup, full, err);
    if (!st) return wni_version_first(s, &first, err);
    wni_setup_release(&first);
    return st;
}

/* Finds the study in the store, or creates it. */
static wn_status attach(struct study *s, const struct study_setup *full, struct err *err)
{
    struct study_found found = {0};
    struct buf json = {0};
    wni_setup_write(full, &json);
    wn_status st = json.failed ? wni_fail_memory(err) : WN_OK;
    struct study_about about = {.setup = json.data, .file = full->file, .goal = full->goal};
    if (!st) st = s->store.ops->attach(s->store.self, &about, &found, err);
    s->created = found.created;
    if (!st && found.setup) st = take_found(s, &found, full, err);
    free(found.setup);
    free(found.file);
    wni_buf_release(&json);
    return st;
}

wn_status wni_study_open(struct study *s, const struct study_setup *setup, struct store *store,
                         struct err *err)
{
    struct study_setup full;
    *s = (struct study){.store = *store,
                        .goal = setup->goal,
                        .sign = setup->goal == WN_MAXIMIZE ? -1 : 1,
                        .lease = setup->lease,
                        .retries = setup->retries,
                        .holds = setup->holds};
    *store = (struct store){0};
    wn_status st = wni_study_fill_in(setup, &full, &s->options, err);
    if (!st) st = open_parts(s, &full, err);
    if (!st) st = attach(s, &full, err);
    if (!st) st = catch_up(s, err);
    if (!st && !setup->adopts) st = wni_setup_compare_spaces(&s->space, setup->space, err);
    if (!st && s->holds && s->store.ops->employ_helper) s->store.ops->employ_helper(s->store.self);
    if (st) wni_study_release(s);
    return st;
}

void wni_study_release(struct study *s)
{
    wni_searcher_release(&s->searcher);
    wni_scheduler_release(&s->scheduler);
    wni_history_release(&s->history);
    wni_versions_release(s);
    wni_store_close(&s->store);
    free(s->options);
    free(s->decisions);
    wni_buf_release(&s->json);
    *s = (struct study){0};
}

/* ---- events ---- */

/* Another setup is none of a scheduler's business: it sees values, not parameters.  Nor do schedulers learn
 * of a failure that is to be retried, nor of the RESUME after it: to them the trial just goes on running, so
 * it keeps its place in its bracket and is not counted twice. */
static bool scheduler_sees(const struct study *s, const struct event *e)
{
    if (e->kind == EVENT_SETUP) return false;
    return !e->retry && !(e->kind == EVENT_RESUME && s->history.trials[e->trial].retry);
}

/* All that may fail, before anything changes. */
static wn_status prepare(struct study *s, const struct event *e, struct err *err)
{
    wn_status st = wni_history_check(&s->history, e, err);
    if (!st) st = wni_history_reserve(&s->history, e, err);
    if (!st && e->kind == EVENT_ASK &&
        !wni_reserve((void **)&s->decisions, &s->decisions_cap, s->history.n_trials + 1, 1))
        st = wni_fail_memory(err);
    if (!st && e->kind == EVENT_SETUP) st = wni_version_prepare(s, e, err);
    if (!st && s->scheduler.ops->reserve && scheduler_sees(s, e))
        st = s->scheduler.ops->reserve(s->scheduler.self, &s->history, e, err);
    return st;
}

/* All that cannot. */
static wn_decision commit(struct study *s, const struct event *e)
{
    bool told = scheduler_sees(s, e);
    wn_decision decision = WN_CONTINUE;
    wni_history_append(&s->history, e);
    if (e->kind == EVENT_SETUP) {
        wni_version_commit(s);
        return WN_CONTINUE;
    }
    if (s->searcher.ops->observe) s->searcher.ops->observe(s->searcher.self, &s->history, e);
    if (told) decision = s->scheduler.ops->observe(s->scheduler.self, &s->history, e);
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

/* ---- writing ---- */

wn_status wni_study_enter(struct study *s, struct err *err)
{
    if (s->batch.failed) return fail_batch(s, err);
    if (s->batch.entered) return WN_OK;
    wn_status st = s->store.ops->begin(s->store.self, err);
    if (st) return st;
    st = catch_up(s, err);
    if (st) s->store.ops->rollback(s->store.self);
    s->batch.entered = !st && s->batch.on;
    if (s->batch.entered) s->batch.since = wni_clock_seconds();
    return st;
}

wn_status wni_study_withdraw(struct study *s, wn_status st)
{
    if (!s->batch.entered) s->store.ops->rollback(s->store.self);
    return st;
}

/* A store that fails may have undone the transaction by itself, so there is no going on with a batch, and
 * memory knows events of it already. */
static void doom_batch(struct study *s, wn_status st, const struct err *err)
{
    s->batch.entered = false;
    s->batch.failed = st;
    if (err) s->batch.why = *err;
}

wn_status wni_study_leave(struct study *s, wn_status st, struct err *err)
{
    bool in_batch = s->batch.entered;
    if (!st && !in_batch) st = s->store.ops->commit(s->store.self, err);
    if (!st) return WN_OK;
    s->store.ops->rollback(s->store.self);
    if (in_batch) doom_batch(s, st, err);
    return st;
}

void wni_study_batch_begin(struct study *s)
{
    assert(!s->batch.on);
    s->batch.on = true;
}

wn_status wni_study_batch_end(struct study *s, struct err *err)
{
    assert(s->batch.on);
    s->batch.on = false;
    if (s->batch.failed) return fail_batch(s, err);
    if (!s->batch.entered) return WN_OK;
    wn_status st = s->store.ops->commit(s->store.self, err);
    s->batch.entered = false;
    if (!st) return WN_OK;
    s->store.ops->rollback(s->store.self);
    doom_batch(s, st, err);
    return st;
}

bool wni_study_batch_is_due(const struct study *s)
{
    return s->batch.entered && wni_clock_seconds() - s->batch.since + s->batch.thinking > HOLD_SECONDS;
}

/* Whether the event changes what listings show of a trial that is not running: a running one's reports are
 * looked up when somebody asks, but the best value of a study must be there. */
static bool changes_row(const struct study *s, const struct event *e)
{
    if (!s->store.ops->catalog || e->kind == EVENT_ENQUEUE || e->kind == EVENT_SETUP) return false;
    return e->kind != EVENT_REPORT || s->history.trials[e->trial].state != WN_RUNNING ||
           e->value < s->history.best_value;
}

static wn_status keep_lease(struct study *s, const struct event *e, struct err *err)
{
    const struct store_ops *ops = s->store.ops;
    enum lease_act grant = s->holds ? LEASE_HOLD : LEASE_GRANT;
    switch (e->kind) {
    case EVENT_ASK:
    case EVENT_RESUME:
        return s->lease > 0 ? ops->lease(s->store.self, e->trial, grant, s->lease, err) : WN_OK;
    case EVENT_REPORT:
        return s->lease > 0 ? ops->lease(s->store.self, e->trial, LEASE_RENEW, s->lease, err) : WN_OK;
    case EVENT_FINISH:
        return ops->lease(s->store.self, e->trial, LEASE_DROP, 0, err);
    case EVENT_ENQUEUE:
    case EVENT_SETUP:
        break;
    }
    return WN_OK;
}

static wn_status write_event(struct study *s, const struct event *e, struct err *err)
{
    struct trial_row row, *changed = NULL;
    struct event stored = turned(s, e);
    if (changes_row(s, e)) {
        wni_row_after(s, e, &s->json, changed = &row);
        if (s->json.failed) {
            wni_buf_release(&s->json);
            return wni_fail_memory(err);
        }
    }
    wn_status st = s->store.ops->append(s->store.self, s->history.n_events + 1, &stored, changed, err);
    return st ? st : keep_lease(s, e, err);
}

wn_status wni_study_happen(struct study *s, const struct event *e, wn_decision *decision, struct err *err)
{
    wn_status st = prepare(s, e, err);
    if (st) return wni_study_withdraw(s, st);
    st = wni_study_leave(s, write_event(s, e, err), err);
    if (!st) *decision = commit(s, e);
    return st;
}

/* ---- lost trials ---- */

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

/* A diverged trial would diverge again, one that ran out of time would again. */
static bool worth_retrying(const struct study *s, uint32_t trial, wn_state state)
{
    if (trial >= s->history.n_trials || (state != WN_FAILED && state != WN_LOST)) return false;
    const struct trial *t = &s->history.trials[trial];
    return !t->broken && t->attempt <= s->retries;
}

static wn_status finish_entered(struct study *s, uint32_t trial, wn_state state, const char *detail,
                                bool hand_back, double now, struct err *err)
{
    struct event e = {.kind = EVENT_FINISH,
                      .trial = trial,
                      .state = fitting_state(s, trial, state),
                      .detail = detail,
                      .time = now};
    wn_decision ignored;
    e.retry = worth_retrying(s, trial, e.state) || (hand_back && e.state == WN_PAUSED);
    return wni_study_happen(s, &e, &ignored, err);
}

/* The lease is looked at again under the lock, so that one of those who notice declares the trial lost. */
static wn_status give_up(struct study *s, double now, struct err *err)
{
    uint32_t trial;
    wn_status st = wni_study_enter(s, err);
    if (st) return st;
    st = s->store.ops->expired(s->store.self, &trial, err);
    if (st || trial == TRIAL_NONE) return wni_study_leave(s, st, err);
    if (trial < s->history.n_trials && s->history.trials[trial].state == WN_RUNNING)
        return finish_entered(s, trial, WN_LOST, "its worker gave no sign of life", false, now, err);
    return wni_study_leave(s, s->store.ops->lease(s->store.self, trial, LEASE_DROP, 0, err), err);
}

static wn_status give_up_lost(struct study *s, double now, struct err *err)
{
    uint32_t trial = 0;
    wn_status st = WN_OK;
    while (!st && !(st = s->store.ops->expired(s->store.self, &trial, err))) {
        if (trial == TRIAL_NONE) return WN_OK;
        st = give_up(s, now, err);
    }
    return s->batch.entered ? wni_study_leave(s, st, err) : st;
}

wn_status wni_study_sync(struct study *s, double now, struct err *err)
{
    wn_status st = catch_up(s, err);
    return st ? st : give_up_lost(s, now, err);
}

wn_status wni_study_heartbeat(struct study *s, uint32_t trial, struct err *err)
{
    wn_status st = wni_study_enter(s, err);
    if (st) return st;
    if (trial >= s->history.n_trials)
        return wni_study_withdraw(s, wni_fail(err, WN_ENOTFOUND, "trial %u: there is no such trial", trial));
    if (s->history.trials[trial].state != WN_RUNNING)
        return wni_study_withdraw(s, wni_fail(err, WN_ESTATE, "trial %u is %s, not running", trial,
                                              wn_state_name(s->history.trials[trial].state)));
    if (s->lease > 0) st = s->store.ops->lease(s->store.self, trial, LEASE_RENEW, s->lease, err);
    return wni_study_leave(s, st, err);
}

/* ---- report, finish, enqueue ---- */

/* + 0.0: a store may not tell -0 from 0, so there is only one of them. */
wn_status wni_study_report(struct study *s, uint32_t trial, double resource, double value, double now,
                           wn_decision *decision, struct err *err)
{
    struct event e = {.kind = EVENT_REPORT,
                      .trial = trial,
                      .resource = resource,
                      .value = s->sign * (value + 0.0),
                      .time = now};
    wn_status st = wni_study_enter(s, err);
    return st ? st : wni_study_happen(s, &e, decision, err);
}

wn_status wni_study_finish_as(struct study *s, uint32_t trial, wn_state state, const char *detail, double now,
                              struct err *err)
{
    wn_status st = wni_study_enter(s, err);
    return st ? st : finish_entered(s, trial, state, detail, false, now, err);
}

wn_status wni_study_hand_back(struct study *s, uint32_t trial, const char *detail, double now,
                              struct err *err)
{
    wn_status st = wni_study_enter(s, err);
    return st ? st : finish_entered(s, trial, WN_PAUSED, detail, true, now, err);
}

wn_status wni_study_finish(struct study *s, uint32_t trial, wn_state state, double now, struct err *err)
{
    return wni_study_finish_as(s, trial, state, NULL, now, err);
}

wn_status wni_study_enqueue(struct study *s, const double *config, double now, struct err *err)
{
    struct event e = {.kind = EVENT_ENQUEUE, .config = config, .time = now};
    wn_decision ignored;
    wn_status st = wni_study_enter(s, err);
    return st ? st : wni_study_happen(s, &e, &ignored, err);
}
