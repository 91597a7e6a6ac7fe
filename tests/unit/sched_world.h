/* sched_world.h -- a scheduler with a history under it, driven by hand or by chance, for the scheduler tests.
 *
 *     struct world w;
 *     world_open(&w, "asha", "scheduler.eta=3", 1, 81, seed);
 *     uint32_t t = world_ask(&w);
 *     assert_int_equal(world_report(&w, t, 1, 0.5), WN_CONTINUE);
 *     world_finish(&w, t, WN_COMPLETE);
 *     world_close(&w);       checks that a replay of the log gives the same decisions and the same next()
 *
 * Events take the way they take in a study: check, make room, append, observe. */
#ifndef TESTS_UNIT_SCHED_WORLD_H
#define TESTS_UNIT_SCHED_WORLD_H

#include "tests/check.h"

#include "core/streams.h"
#include "sched/sched.h"

struct world {
    struct space space;
    struct history history;
    struct scheduler scheduler;
    struct sched_env env;
    char name[16], options[128];
    uint8_t *decisions; /* by event */
    size_t decisions_cap;
};

static inline void world_open(struct world *w, const char *name, const char *options, double min, double max,
                              uint64_t seed)
{
    struct err err = {0};
    *w = (struct world){.env = {.seed = seed, .min_resource = min, .max_resource = max}};
    snprintf(w->name, sizeof w->name, "%s", name);
    snprintf(w->options, sizeof w->options, "%s", options);
    wni_space_init(&w->space);
    struct param_decl x = {.name = "x", .kind = PARAM_INT, .min = 0, .max = 1e9};
    check_add(&w->space, x);
    CHECK_OK(wni_history_init(&w->history, &w->space, &err), err);
    const struct scheduler_ops *ops = wni_scheduler_find(name, &err);
    if (!ops) fail_msg("%s", err.text);
    CHECK_OK(wni_scheduler_open(&w->scheduler, ops, options, &w->env, &err), err);
}

static inline void world_release(struct world *w)
{
    wni_scheduler_release(&w->scheduler);
    wni_history_release(&w->history);
    wni_space_release(&w->space);
    free(w->decisions);
}

static inline bool world_may(const struct world *w, const struct event *e)
{
    return wni_history_check(&w->history, e, NULL) == WN_OK;
}

static inline wn_decision world_apply(struct world *w, const struct event *e)
{
    struct err err = {0};
    size_t at = w->history.n_events;
    CHECK_OK(wni_history_check(&w->history, e, &err), err);
    CHECK_OK(wni_history_reserve(&w->history, e, &err), err);
    if (w->scheduler.ops->reserve)
        CHECK_OK(w->scheduler.ops->reserve(w->scheduler.self, &w->history, e, &err), err);
    if (at == w->decisions_cap) {
        w->decisions_cap = at ? 2 * at : 64;
        w->decisions = realloc(w->decisions, w->decisions_cap);
        assert_non_null(w->decisions);
    }
    wni_history_append(&w->history, e);
    wn_decision decision = w->scheduler.ops->observe(w->scheduler.self, &w->history, e);
    w->decisions[at] = e->kind == EVENT_REPORT ? (uint8_t)decision : 0;
    return decision;
}

static inline uint32_t world_ask(struct world *w)
{
    uint32_t trial = (uint32_t)w->history.n_trials;
    double config = trial;
    world_apply(w, &(struct event){.kind = EVENT_ASK, .trial = trial, .config = &config});
    return trial;
}

static inline wn_decision world_report(struct world *w, uint32_t trial, double resource, double value)
{
    return world_apply(
        w, &(struct event){.kind = EVENT_REPORT, .trial = trial, .resource = resource, .value = value});
}

static inline void world_finish(struct world *w, uint32_t trial, wn_state state)
{
    world_apply(w, &(struct event){.kind = EVENT_FINISH, .trial = trial, .state = state});
}

static inline void world_resume(struct world *w, uint32_t trial)
{
    world_apply(w, &(struct event){.kind = EVENT_RESUME, .trial = trial});
}

static inline wn_state world_state(const struct world *w, uint32_t trial)
{
    return (wn_state)w->history.trials[trial].state;
}

static inline struct job world_next(const struct world *w)
{
    if (!w->scheduler.ops->next) return (struct job){.kind = JOB_NEW};
    return w->scheduler.ops->next(w->scheduler.self, &w->history);
}

static inline void world_expect_new(const struct world *w)
{
    struct job job = world_next(w);
    if (job.kind != JOB_NEW) fail_msg("expected a new trial, got job %d (trial %u)", job.kind, job.trial);
}

static inline void world_expect_resume(const struct world *w, uint32_t trial)
{
    struct job job = world_next(w);
    if (job.kind != JOB_RESUME || job.trial != trial)
        fail_msg("expected to resume trial %u, got job %d (trial %u)", trial, job.kind, job.trial);
}

/* Asks for whatever next() says and takes it. */
static inline uint32_t world_take(struct world *w)
{
    struct job job = world_next(w);
    if (job.kind == JOB_NEW) return world_ask(w);
    assert_int_equal(job.kind, JOB_RESUME);
    world_resume(w, job.trial);
    return job.trial;
}

/* Feeds the log to a fresh scheduler that is never asked for next() on the way: the same decisions, and the
 * same job now.  So the state is a fold over the log, and next() leaves no trace in it. */
static inline void world_check_replay(const struct world *w)
{
    struct world again;
    world_open(&again, w->name, w->options, w->env.min_resource, w->env.max_resource, w->env.seed);
    struct history_cursor at = {0};
    struct event e;
    while (wni_history_next(&w->history, &at, &e)) {
        world_apply(&again, &e);
        size_t i = at.event - 1;
        if (again.decisions[i] != w->decisions[i])
            fail_msg("event %zu: decided %d, on replay %d", i, w->decisions[i], again.decisions[i]);
    }
    struct job one = world_next(w), two = world_next(&again);
    if (one.kind != two.kind || (one.kind == JOB_RESUME && one.trial != two.trial))
        fail_msg("next is job %d (trial %u), on replay %d (%u)", one.kind, one.trial, two.kind, two.trial);
    world_release(&again);
}

static inline void world_close(struct world *w)
{
    world_check_replay(w);
    world_release(w);
}

/* ---- chance ---- */

struct chance {
    struct rng rng;
    double ties;  /* share of values from a handful of numbers */
    double wrong; /* share of reports that are NaN or infinite */
    double limit; /* largest resource reported */
};

static inline double chance_value(struct chance *c)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    double u = wni_rng_uniform(&c->rng);
    if (u < c->wrong) return odd[wni_rng_below(&c->rng, 3)];
    if (u < c->wrong + c->ties) return (double)wni_rng_below(&c->rng, 5) - 2;
    return wni_rng_normal(&c->rng);
}

/* Mostly one step on from where the trial is, sometimes a jump, back or ahead. */
static inline double chance_resource(struct chance *c, const struct history *h, uint32_t trial)
{
    const struct trial *t = &h->trials[trial];
    double at = t->furthest ? h->resources[t->furthest - 1] : 0;
    double u = wni_rng_uniform(&c->rng);
    double r = u < 0.7 ? at + 1 : u < 0.8 ? ceil(at * 2.5) : ceil(wni_rng_uniform(&c->rng) * c->limit);
    return r < 1 ? 1 : r > c->limit ? c->limit : r;
}

/* An event that may happen now.  Paused trials are resumed as next() says, now and then by someone else. */
static inline struct event chance_event(struct chance *c, const struct world *w, double *config)
{
    static const wn_state ends[] = {WN_PAUSED, WN_PAUSED, WN_PAUSED,  WN_COMPLETE, WN_STOPPED,
                                    WN_FAILED, WN_LOST,   WN_TIMEOUT, WN_CANCELLED};
    const struct history *h = &w->history;
    for (;;) {
        double u = wni_rng_uniform(&c->rng);
        struct event e = {.kind = EVENT_REPORT, .config = config};
        size_t window = h->n_trials < 12 || u < 0.4 ? h->n_trials : 12; /* the newest, or any */
        struct job job = world_next(w);
        if (u < 0.1 || !window) {
            e.kind = job.kind == JOB_RESUME ? EVENT_RESUME : EVENT_ASK;
            e.trial = job.kind == JOB_RESUME ? job.trial : (uint32_t)h->n_trials;
            *config = (double)h->n_trials;
        } else {
            e.trial = (uint32_t)(h->n_trials - 1 - wni_rng_below(&c->rng, window));
            if (u > 0.75) e.kind = u > 0.99 ? EVENT_RESUME : EVENT_FINISH;
            if (e.kind == EVENT_FINISH) e.state = ends[wni_rng_below(&c->rng, sizeof ends / sizeof *ends)];
            e.resource = chance_resource(c, h, e.trial);
            e.value = chance_value(c);
        }
        if (world_may(w, &e)) return e;
    }
}

typedef int random_study(double eta, int brackets, double r_max, uint64_t seed);

/* Lists that end before the first 0. */
struct study_grid {
    double etas[6], maxima[6];
    int brackets[6], repeats;
};

/* A study for each point of the grid, so many times, each with a seed of its own; the sum of what they give.
 */
static inline int sum_studies(random_study *study, const struct study_grid *g)
{
    int sum = 0;
    uint64_t seed = 0;
    for (int i = 0; g->etas[i] > 0; i++)
        for (int j = 0; g->maxima[j] > 0; j++)
            for (int k = 0; g->brackets[k] > 0; k++)
                for (int repeat = 0; repeat < g->repeats; repeat++)
                    sum += study(g->etas[i], g->brackets[k], g->maxima[j], seed++);
    return sum;
}

/* ---- what the slow versions share ---- */

/* The levels below r_max, from 1; returns how many. */
static inline int slow_levels(double eta, double r_max, double *level)
{
    int n = 0;
    for (double r = 1; r < r_max - 1e-6; r *= eta)
        level[n++] = r;
    return n;
}

/* How many trials a bracket that begins at this level begins with: Li et al. 2018, Algorithm 1. */
static inline double slow_size(double eta, int n_levels, int first)
{
    int left = n_levels - first;
    return ceil((n_levels + 1.0) / (left + 1.0) * pow(eta, left) - 1e-9);
}

/* A bracket drawn for the trial, as likely as it is large. */
static inline int slow_draw(double eta, int n_levels, int n_brackets, uint64_t seed, uint32_t trial)
{
    double sum = 0, below = 0;
    for (int b = 0; b < n_brackets; b++)
        sum += slow_size(eta, n_levels, b);
    struct rng rng = wni_rng_stream(seed, trial, STREAM_BRACKET);
    double u = wni_rng_uniform(&rng);
    for (int b = 0; b < n_brackets; b++)
        if (u * sum < (below += slow_size(eta, n_levels, b))) return b;
    return 0;
}

#endif
