/* ask.c -- what a free worker gets: a retry, the head of the queue, a paused trial, or a proposal.
 *
 * Thinking comes before locking.  A plan is made from what is known; under the lock it is looked at again,
 * and made again if others have overtaken it. */
#include "tuner/study_int.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* What an ask will do, if nobody is faster. */
struct plan {
    enum plan_kind { PLAN_WAIT, PLAN_EXHAUSTED, PLAN_RESUME, PLAN_QUEUED, PLAN_NEW } kind;
    uint32_t trial; /* RESUME; NEW: the number it was proposed for */
    uint64_t saw;   /* NEW: events the proposal is based on */
    size_t setup;   /* NEW: and how many setups there were */
    double *config; /* NEW: where it is */
};

/* Nothing new can be started.  A scheduler that pauses may still find a trial to go on with, once a running
 * one has reported; or a running one fails and is to be tried again. */
static enum plan_kind nothing_new(const struct study *s)
{
    bool more = s->scheduler.ops->next || s->retries;
    return more && s->history.by_state[WN_RUNNING] > 0 ? PLAN_WAIT : PLAN_EXHAUSTED;
}

/* What comes next, but for the searcher's proposal. */
static void look_ahead(const struct study *s, struct plan *plan)
{
    const struct history *h = &s->history;
    bool full = s->max_trials && h->n_trials >= s->max_trials;
    struct job job = {.kind = JOB_NEW};
    if (h->n_retries) {
        plan->kind = PLAN_RESUME;
        plan->trial = h->retries[0];
        return;
    }
    if (h->queue_head < h->n_queue && !full) {
        plan->kind = PLAN_QUEUED;
        return;
    }
    if (s->scheduler.ops->next) job = s->scheduler.ops->next(s->scheduler.self, h);
    plan->kind = job.kind == JOB_WAIT ? PLAN_WAIT : job.kind == JOB_RESUME ? PLAN_RESUME : PLAN_NEW;
    plan->trial = job.trial;
    if (plan->kind == PLAN_NEW && full) plan->kind = nothing_new(s);
}

/* In a batch, notes how long it took: others cannot write meanwhile. */
static wn_status propose(struct study *s, struct plan *plan, struct err *err)
{
    double before = s->batch.on ? wni_clock_seconds() : 0;
    wn_status st = s->searcher.ops->suggest(s->searcher.self, &s->history, plan->trial, plan->config, err);
    if (s->batch.on) s->batch.thinking = fmax(wni_clock_seconds() - before, 0.9 * s->batch.thinking);
    return st;
}

static wn_status make_plan(struct study *s, struct plan *plan, struct err *err)
{
    look_ahead(s, plan);
    if (plan->kind != PLAN_NEW) return WN_OK;
    plan->trial = (uint32_t)s->history.n_trials;
    plan->saw = s->history.n_events;
    plan->setup = s->n_versions;
    wn_status st = propose(s, plan, err);
    if (st != WN_EXHAUSTED) return st;
    plan->kind = nothing_new(s);
    return WN_OK;
}

/* Whether the plan is still what to do after others have appended.  Reports that came in between do no harm
 * to a proposal: the event says what it saw.  Another setup does: a proposal is of the setup that holds when
 * it is written. */
static bool plan_holds(const struct study *s, const struct plan *plan)
{
    struct plan now = {0};
    look_ahead(s, &now);
    if (now.kind != plan->kind) return false;
    if (plan->kind == PLAN_RESUME) return now.trial == plan->trial;
    return plan->kind != PLAN_NEW || (plan->trial == s->history.n_trials && plan->setup == s->n_versions);
}

static wn_status carry_out(struct study *s, const struct plan *plan, double now, struct handout *out,
                           struct err *err)
{
    struct history *h = &s->history;
    struct event e = {.kind = EVENT_ASK, .trial = (uint32_t)h->n_trials, .time = now};
    wn_decision ignored;
    double value;
    if (plan->kind == PLAN_WAIT) return wni_study_withdraw(s, WN_WAIT);
    if (plan->kind == PLAN_EXHAUSTED) return wni_study_withdraw(s, WN_EXHAUSTED);
    if (plan->kind == PLAN_RESUME) {
        e.kind = EVENT_RESUME;
        e.trial = plan->trial;
    } else {
        e.queued = plan->kind == PLAN_QUEUED;
        e.config = e.queued ? h->queue + h->queue_head * s->space.n : plan->config;
        e.saw = e.queued ? h->n_events : plan->saw;
    }
    wn_status st = wni_study_happen(s, &e, &ignored, err);
    if (st) return st;
    *out = (struct handout){.trial = e.trial,
                            .config = wni_history_config(h, e.trial),
                            .attempt = h->trials[e.trial].attempt,
                            .again = e.kind == EVENT_RESUME};
    if (e.kind == EVENT_RESUME) wni_history_last(h, e.trial, &value, &out->resumed_from);
    return WN_OK;
}

/* A proposal may take half a second, so it is made before the lock is taken.  If somebody else was faster, it
 * is made again, now with the lock held: nobody tries for ever. */
static wn_status ask_with(struct study *s, double now, struct plan *plan, struct handout *out,
                          struct err *err)
{
    wn_status st = make_plan(s, plan, err);
    if (st) return st;
    if (plan->kind == PLAN_WAIT) return WN_WAIT;
    if (plan->kind == PLAN_EXHAUSTED) return WN_EXHAUSTED;
    st = wni_study_enter(s, err);
    if (st) return st;
    if (!plan_holds(s, plan)) st = make_plan(s, plan, err);
    return st ? wni_study_withdraw(s, st) : carry_out(s, plan, now, out, err);
}

wn_status wni_study_ask(struct study *s, double now, struct handout *out, struct err *err)
{
    struct plan plan = {.config = wni_new(double, s->space.n)};
    if (!plan.config) return wni_fail_memory(err);
    wn_status st = wni_study_sync(s, now, err);
    if (!st) st = ask_with(s, now, &plan, out, err);
    free(plan.config);
    return st;
}
