/* test_schedulers.c -- what every row of schedulers.def must do, the one you are about to add included
 * (sched.h).
 *
 * The rig checks as it goes: every decision is one of the three, next() leaves no trace, only paused trials
 * are resumed, no trial is in two hands, and nobody is told to wait while nothing runs. */
#include "tests/contract/contract.h"

static const unsigned crews[] = {1, 2, 7, 64};
enum { N_CREWS = sizeof crews / sizeof *crews };

static void plain_space(struct space *space)
{
    wni_space_init(space);
    check_add(space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1});
    check_add(space, (struct param_decl){.name = "n", .kind = PARAM_INT, .min = 1, .max = 99});
}

static struct study_setup setup_for(const struct scheduler_ops *ops, const struct space *space,
                                    const char *options, uint64_t seed)
{
    return (struct study_setup){.space = space,
                                .scheduler = ops->name,
                                .searcher = "random",
                                .options = {options},
                                .seed = seed,
                                .max_resource = 27};
}

static struct world world_for(uint64_t seed, int trouble)
{
    return (struct world){
        .rng = wni_rng_stream(seed, 0, 97), .workers = crews[seed % N_CREWS], .trouble = trouble};
}

/* A sensible setting of all options that the scheduler accepts for these resources. */
static void acceptable_options(const struct scheduler_ops *ops, uint64_t seed, char *options, size_t size)
{
    struct rng rng = wni_rng_stream(seed, 0, 96);
    struct sched_env env = {.seed = seed, .min_resource = 1, .max_resource = 27};
    for (int attempt = 0; attempt < 20; attempt++) {
        struct scheduler s;
        random_options(&rng, "scheduler", ops->opts, options, size);
        wn_status st = wni_scheduler_open(&s, ops, options, &env, NULL);
        wni_scheduler_release(&s);
        if (!st) return;
    }
    fail_msg("%s refuses whatever options it is given", ops->name);
}

/* ---- the properties ---- */

static void is_described(void **row)
{
    const struct scheduler_ops *ops = *row;
    CHECK(ops->summary && strlen(ops->summary) > 10 && strlen(ops->summary) < 100, "summary '%s'",
          ops->summary);
    CHECK(ops->observe, "%s decides nothing", ops->name);
    assert_ptr_equal(wni_scheduler_find(ops->name, NULL), ops);
}

static void decides_the_same_again(void **row)
{
    struct space space;
    plain_space(&space);
    for (uint64_t seed = 0; seed < 80; seed++) {
        char options[512];
        acceptable_options(*row, seed, options, sizeof options);
        struct study_setup setup = setup_for(*row, &space, options, seed);
        struct world world = world_for(seed, 0);
        rig_check_resume(&setup, &world, 1500, 5);
    }
    wni_space_release(&space);
}

/* Crashes, NaN, infinities, reports out of order, beyond the end, from trials that were told to stop or given
 * up. */
static void survives_trouble(void **row)
{
    struct space space;
    plain_space(&space);
    for (uint64_t seed = 0; seed < 240; seed++) {
        char options[512];
        acceptable_options(*row, seed, options, sizeof options);
        struct study_setup setup = setup_for(*row, &space, options, seed);
        setup.goal = seed % 2 ? WN_MAXIMIZE : WN_MINIMIZE;
        struct world world = world_for(seed, seed % 3 ? 12 : 50);
        rig_check_resume(&setup, &world, 1000, 3);
    }
    wni_space_release(&space);
}

/* Resources need not be epochs counted from 1. */
static void any_resources(void **row)
{
    static const double bounds[][2] = {{1, 1},      {1, 1.5},    {0.001, 0.7}, {3, 1000},
                                       {1e-3, 1e3}, {1e9, 1e12}, {200, 200}};
    struct space space;
    plain_space(&space);
    for (uint64_t seed = 0; seed < sizeof bounds / sizeof *bounds; seed++) {
        struct study_setup setup = setup_for(*row, &space, "", seed);
        setup.min_resource = bounds[seed][0];
        setup.max_resource = bounds[seed][1];
        struct world world = world_for(seed, 10);
        rig_check_resume(&setup, &world, 600, 1);
    }
    wni_space_release(&space);
}

static void constant_objective(void **row)
{
    struct space space;
    plain_space(&space);
    for (uint64_t seed = 0; seed < N_CREWS; seed++) {
        struct study_setup setup = setup_for(*row, &space, "", seed);
        struct world world = world_for(seed, 0);
        world.constant = true;
        rig_check_resume(&setup, &world, 1500, 1);
    }
    wni_space_release(&space);
}

/* Whoever comes first has nobody to be worse than, however bad it is: it may be told to pause, never to stop.
 */
static void the_first_is_not_stopped(void **row)
{
    struct space space;
    struct err err = {0};
    plain_space(&space);
    for (uint64_t seed = 0; seed < 20; seed++) {
        char options[512];
        acceptable_options(*row, seed, options, sizeof options);
        struct study_setup setup = setup_for(*row, &space, options, seed);
        struct world world = world_for(seed, 0);
        struct handout job;
        struct rig r;
        rig_open(&r, &setup, &world);
        CHECK_OK(wni_study_ask(&r.study, 0, &job, &err), err);
        for (double at = 1; at <= 27; at++) {
            wn_decision decision;
            CHECK_OK(wni_study_report(&r.study, job.trial, at, at * 1e6, 0, &decision, &err), err);
            CHECK((decision == WN_STOP) == (at == 27), "options %s: decision %d at %g", options, decision,
                  at);
        }
        rig_close(&r);
    }
    wni_space_release(&space);
}

/* With so many configurations and no more there is an end, whatever goes wrong on the way. */
static void comes_to_an_end(void **row)
{
    for (uint64_t seed = 0; seed < 120; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 95);
        struct space space;
        char options[512];
        check_random_finite_space(&space, &rng, 80);
        acceptable_options(*row, seed, options, sizeof options);
        struct study_setup setup = setup_for(*row, &space, options, seed);
        struct world world = world_for(seed, seed % 2 ? 15 : 0);
        world.trials_limit = space.size + 1; /* never reached; keeps configurations from being enqueued */
        struct rig r;
        rig_open(&r, &setup, &world);
        rig_run_out(&r, 2000000);
        rig_check_states(&r);
        CHECK_INT(r.study.history.n_trials, space.size);
        rig_close(&r);
        wni_space_release(&space);
    }
}

/* When all trials do what they should, some get the full resource, and under a scheduler that stops early
 * some do not. */
static void something_reaches_the_end(void **row)
{
    struct space space;
    plain_space(&space);
    for (uint64_t seed = 0; seed < N_CREWS; seed++) {
        struct study_setup setup = setup_for(*row, &space, "", seed);
        struct world world = world_for(seed, 0);
        struct rig r;
        rig_open(&r, &setup, &world);
        rig_run(&r, 6000);
        const struct history *h = &r.study.history;
        CHECK(h->by_state[WN_COMPLETE] > 0, "%zu trials, %zu complete", h->n_trials,
              h->by_state[WN_COMPLETE]);
        size_t early = h->by_state[WN_STOPPED] + h->by_state[WN_PAUSED];
        CHECK((early > 0) == r.study.scheduler.ops->stops_early, "%zu of %zu trials ended early", early,
              h->n_trials);
        rig_close(&r);
    }
    wni_space_release(&space);
}

/* Decisions are about values as they compare, so a maximised metric is a minimised one negated. */
static void maximising_mirrors_minimising(void **row)
{
    struct space space;
    struct err err = {0};
    plain_space(&space);
    struct study_setup setup = setup_for(*row, &space, "", 4), mirrored = setup;
    mirrored.goal = WN_MAXIMIZE;
    struct world world = world_for(0, 0);
    struct rng rng = wni_rng_stream(4, 0, 94);
    struct rig a, b;
    rig_open(&a, &setup, &world);
    rig_open(&b, &mirrored, &world);
    for (int i = 0; i < 200; i++) {
        struct handout one, two;
        CHECK_OK(wni_study_ask(&a.study, 0, &one, &err), err);
        CHECK_OK(wni_study_ask(&b.study, 0, &two, &err), err);
        wn_decision x = WN_CONTINUE, y = WN_CONTINUE;
        for (double at = floor(one.resumed_from) + 1; at <= 27 && x == WN_CONTINUE; at++) {
            double value = wni_rng_normal(&rng);
            CHECK_OK(wni_study_report(&a.study, one.trial, at, value, 0, &x, &err), err);
            CHECK_OK(wni_study_report(&b.study, two.trial, at, -value, 0, &y, &err), err);
            CHECK_INT(x, y);
        }
        CHECK_OK(wni_study_finish(&a.study, one.trial, WN_COMPLETE, 0, &err), err);
        CHECK_OK(wni_study_finish(&b.study, two.trial, WN_COMPLETE, 0, &err), err);
    }
    check_same_log(&b.study.history, &a.study.history);
    rig_close(&a);
    rig_close(&b);
    wni_space_release(&space);
}

static void needs_a_largest_resource_if_it_stops_early(void **row)
{
    const struct scheduler_ops *ops = *row;
    struct space space;
    struct err err = {0};
    struct store store;
    struct study study;
    plain_space(&space);
    struct study_setup setup = setup_for(ops, &space, "", 0);
    setup.max_resource = 0;
    CHECK_OK(wni_store_open(&store, "memory:", "s", &space, &err), err);
    CHECK_INT(wni_study_open(&study, &setup, &store, &err), ops->stops_early ? WN_EINVAL : WN_OK);
    CHECK(!ops->stops_early || strstr(err.text, "needs a largest resource"), "got '%s'", err.text);
    wni_study_release(&study); /* also after a failure */
    wni_space_release(&space);
}

static wn_status open_alone(const void *ops, const char *options, struct err *err)
{
    struct scheduler s;
    struct sched_env env = {.seed = 1, .min_resource = 1, .max_resource = 81};
    wn_status st = wni_scheduler_open(&s, ops, options, &env, err);
    wni_scheduler_release(&s); /* also after a failure */
    return st;
}

static void options_have_bounds(void **row)
{
    const struct scheduler_ops *ops = *row;
    check_options(ops, open_alone, "scheduler", ops->opts);
}

static const struct property properties[] = {
    {"is described", is_described},
    {"decides the same again", decides_the_same_again},
    {"survives trouble", survives_trouble},
    {"any resources", any_resources},
    {"constant objective", constant_objective},
    {"the first is not stopped", the_first_is_not_stopped},
    {"comes to an end", comes_to_an_end},
    {"something reaches the end", something_reaches_the_end},
    {"maximising mirrors minimising", maximising_mirrors_minimising},
    {"needs a largest resource if it stops early", needs_a_largest_resource_if_it_stops_early},
    {"options have bounds", options_have_bounds},
};

static const char *name_at(size_t i)
{
    return wni_scheduler_at(i)->name;
}

static const void *row_at(size_t i)
{
    return wni_scheduler_at(i);
}

int main(void)
{
    return contract_run("schedulers", properties, sizeof properties / sizeof *properties,
                        wni_scheduler_count(), name_at, row_at);
}
