/* test_searchers.c -- what every row of searchers.def must do, the one you are about to add included
 * (search.h). */
#include "tests/contract/contract.h"

#include "tuner/replay.h"

#include <ctype.h>

/* Under which schedulers a searcher is tried: alone, and seeing last values of trials that are under way. */
static const struct mode {
    const char *scheduler, *options;
    double max_resource;
} modes[] = {
    {"fifo", "", 0}, {"fifo", "", 4}, {"asha", "", 9}, {"asha", "scheduler.type=promotion", 9},
    {"sync", "", 9},
};
enum { N_MODES = sizeof modes / sizeof *modes };

static struct study_setup setup_for(const struct searcher_ops *ops, const struct mode *mode,
                                    const struct space *space, uint64_t seed)
{
    return (struct study_setup){.space = space,
                                .scheduler = mode->scheduler,
                                .searcher = ops->name,
                                .options = {mode->options, brisk_options(ops->name)},
                                .seed = seed,
                                .max_resource = mode->max_resource};
}

static struct world world_for(uint64_t seed, unsigned workers, int trouble)
{
    return (struct world){.rng = wni_rng_stream(seed, 0, 99), .workers = workers, .trouble = trouble};
}

/* One parameter of every kind; `wide`: those that can grow have grown. */
static void declare_mixed(struct space *space, bool wide)
{
    static const char *const words[] = {"adam", "sgd", "lamb", "lion"}, *const sizes[] = {"1", "2", "4", "8",
                                                                                          "32"};
    const struct param_decl decls[] = {
        {.name = "lr",
         .kind = PARAM_FLOAT,
         .scale = WN_LOG,
         .min = wide ? 1e-9 : 1e-5,
         .max = wide ? 7 : 0.1},
        {.name = "momentum", .kind = PARAM_FLOAT, .min = wide ? -1000 : -0.5, .max = wide ? 800 : 0.99},
        {.name = "dropout", .kind = PARAM_FLOAT, .min = 0, .max = wide ? 0.9 : 0.6, .step = 0.1},
        {.name = "units", .kind = PARAM_INT, .scale = WN_LOG, .min = wide ? 1 : 16, .max = 512},
        {.name = "layers", .kind = PARAM_INT, .min = 2, .max = wide ? 12 : 8, .step = 2},
        {.name = "batch", .kind = PARAM_ORDINAL, .scale = WN_LOG, .labels = sizes, .n_labels = wide ? 5 : 4},
        {.name = "optimiser", .kind = PARAM_CATEGORICAL, .labels = words, .n_labels = wide ? 4 : 3},
        {.name = "nesterov", .kind = PARAM_BOOL},
        {.name = "epochs", .kind = PARAM_CONSTANT, .labels = (const char *const[]){"10"}, .n_labels = 1},
    };
    wni_space_init(space);
    for (size_t i = 0; i < sizeof decls / sizeof *decls; i++)
        check_add(space, decls[i]);
}

static void mixed_space(struct space *space)
{
    declare_mixed(space, false);
}

/* Opens a rig over a random space; false when the searcher says that it cannot search it. */
static bool open_over(struct rig *r, const struct study_setup *setup, const struct world *world)
{
    struct err err = {0};
    wn_status st = rig_try(r, setup, world, &err);
    CHECK(st == WN_OK || (st == WN_EINVAL && strstr(err.text, setup->searcher)), "open gave %d: %s", st,
          err.text);
    return st == WN_OK;
}

/* Proposals do not repeat, unless somebody enqueued what was there before. */
static void check_proposals_are_new(const struct history *h)
{
    struct history_cursor at = {0};
    struct event e;
    while (wni_history_next(h, &at, &e)) {
        if (e.kind != EVENT_ASK || e.queued) continue;
        for (uint32_t before = 0; before < e.trial; before++)
            CHECK(!wni_config_equal(h->space, wni_history_config(h, before), e.config),
                  "trial %u has the configuration of trial %u", e.trial, before);
    }
}

/* ---- the properties ---- */

static void is_described(void **row)
{
    const struct searcher_ops *ops = *row;
    CHECK(ops->summary && strlen(ops->summary) > 10 && strlen(ops->summary) < 100, "summary '%s'",
          ops->summary);
    CHECK(!isupper((unsigned char)ops->summary[0]) && ops->summary[strlen(ops->summary) - 1] != '.',
          "summary '%s'", ops->summary);
    CHECK(ops->suggest, "%s proposes nothing", ops->name);
    assert_ptr_equal(wni_searcher_find(ops->name, NULL), ops);
}

static void same_seed_same_points(void **row)
{
    struct space space;
    mixed_space(&space);
    for (size_t m = 0; m < N_MODES; m++) {
        struct study_setup setup = setup_for(*row, &modes[m], &space, 7);
        struct world world = world_for(1, 4, 8);
        struct rig a, b;
        rig_open(&a, &setup, &world);
        rig_open(&b, &setup, &world);
        rig_run(&a, 600);
        rig_run(&b, 600);
        CHECK(a.study.history.n_trials > 20, "only %zu trials", a.study.history.n_trials);
        check_same_log(&a.study.history, &b.study.history);
        rig_close(&a);
        rig_close(&b);
    }
    wni_space_release(&space);
}

/* grid is a list: it has no use for a seed. */
static void another_seed_other_points(void **row)
{
    const struct searcher_ops *ops = *row;
    struct space space;
    mixed_space(&space);
    size_t same = 0, n = 0;
    struct study_setup setup = setup_for(ops, &modes[0], &space, 1),
                       other = setup_for(ops, &modes[0], &space, 2);
    struct world world = world_for(1, 1, 0);
    struct rig a, b;
    rig_open(&a, &setup, &world);
    rig_open(&b, &other, &world);
    rig_run(&a, 150);
    rig_run(&b, 150);
    for (; n < a.study.history.n_trials && n < b.study.history.n_trials; n++)
        same += wni_config_equal(&space, wni_history_config(&a.study.history, (uint32_t)n),
                                 wni_history_config(&b.study.history, (uint32_t)n));
    CHECK(n >= 40, "only %zu trials", n);
    CHECK(same == (strcmp(ops->name, "grid") ? 0 : n), "%zu of %zu points are the same", same, n);
    rig_close(&a);
    rig_close(&b);
    wni_space_release(&space);
}

/* rig_ask() looks at every point; here are the spaces: few and many parameters of all kinds, with bounds of
 * all sizes. */
static void points_lie_in_the_space(void **row)
{
    unsigned opened = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 98);
        struct space space;
        check_random_space(&space, &rng, (size_t)check_between(&rng, 1, 8));
        struct study_setup setup = setup_for(*row, &modes[seed % N_MODES], &space, seed);
        struct world world = world_for(seed, 3, 5);
        struct rig r;
        if (open_over(&r, &setup, &world)) {
            rig_run(&r, 150);
            CHECK(r.study.history.n_trials > 0, "seed %u: nothing was asked", (unsigned)seed);
            rig_close(&r);
            opened++;
        }
        wni_space_release(&space);
    }
    CHECK(opened > 50, "it searched only %u spaces of 100", opened);
}

/* Before anything was reported, and with many trials running at once. */
static void works_without_observations(void **row)
{
    struct space space;
    struct err err = {0};
    mixed_space(&space);
    for (size_t m = 0; m < N_MODES; m++) {
        struct study_setup setup = setup_for(*row, &modes[m], &space, 3);
        struct world world = world_for(3, 1, 0);
        struct rig r;
        rig_open(&r, &setup, &world);
        for (int i = 0; i < 50; i++) {
            struct handout job;
            CHECK_OK(wni_study_ask(&r.study, 0, &job, &err), err);
        }
        check_proposals_are_new(&r.study.history);
        rig_close(&r);
    }
    wni_space_release(&space);
}

/* Failures, NaN, infinities, enormous values, reports out of order, late and from the dead. */
static void survives_trouble(void **row)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct rng rng = wni_rng_stream(seed, 1, 98);
        struct space space;
        check_random_space(&space, &rng, (size_t)check_between(&rng, 1, 5));
        struct study_setup setup = setup_for(*row, &modes[seed % N_MODES], &space, seed);
        setup.goal = seed % 3 ? WN_MINIMIZE : WN_MAXIMIZE;
        struct world world = world_for(seed, (unsigned)check_between(&rng, 1, 16), 40);
        struct rig r;
        if (open_over(&r, &setup, &world)) {
            rig_run(&r, 500);
            rig_check_replay(&r);
            rig_close(&r);
        }
        wni_space_release(&space);
    }
}

static void all_reports_fail(void **row)
{
    struct space space;
    struct err err = {0};
    mixed_space(&space);
    for (size_t m = 0; m < N_MODES; m++) {
        struct study_setup setup = setup_for(*row, &modes[m], &space, 5);
        struct world world = world_for(5, 1, 0);
        struct rig r;
        rig_open(&r, &setup, &world);
        for (int i = 0; i < 60; i++) {
            struct handout job;
            wn_decision decision;
            CHECK_OK(wni_study_ask(&r.study, 0, &job, &err), err);
            CHECK_OK(wni_study_report(&r.study, job.trial, 1, i % 2 ? NAN : -INFINITY, 0, &decision, &err),
                     err);
            CHECK_INT(decision, WN_STOP);
            CHECK_OK(wni_study_finish(&r.study, job.trial, WN_COMPLETE, 0, &err), err);
        }
        CHECK_INT(r.study.history.by_state[WN_FAILED], 60);
        CHECK_INT(r.study.history.best_trial, TRIAL_NONE);
        rig_close(&r);
    }
    wni_space_release(&space);
}

/* Zero variance: no NaN, no endless retry, still new points. */
static void constant_objective(void **row)
{
    struct space space;
    mixed_space(&space);
    for (size_t m = 0; m < N_MODES; m++) {
        struct study_setup setup = setup_for(*row, &modes[m], &space, 11);
        struct world world = world_for(11, 4, 0);
        world.constant = true;
        struct rig r;
        rig_open(&r, &setup, &world);
        rig_run(&r, 1200);
        CHECK(r.study.history.n_trials > 50, "only %zu trials", r.study.history.n_trials);
        check_proposals_are_new(&r.study.history);
        rig_close(&r);
    }
    wni_space_release(&space);
}

/* Every configuration exactly once, then WN_EXHAUSTED, and again when asked again. */
static void uses_up_a_finite_space(void **row)
{
    struct err err = {0};
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct rng rng = wni_rng_stream(seed, 2, 98);
        struct space space;
        check_random_finite_space(&space, &rng, 200);
        const struct mode *mode = &modes[seed % N_MODES];
        struct study_setup setup = setup_for(*row, mode, &space, seed);
        struct world world = world_for(seed, (unsigned)check_between(&rng, 1, 8), seed % 2 ? 10 : 0);
        world.trials_limit =
            space.size + 1; /* never reached; keeps configurations from being enqueued twice */
        struct rig r;
        struct handout job;
        rig_open(&r, &setup, &world);
        rig_run_out(&r, 1000000);
        CHECK_INT(r.study.history.n_trials, space.size);
        CHECK_INT(r.study.history.n_distinct, space.size);
        CHECK_INT(wni_study_ask(&r.study, 0, &job, &err), WN_EXHAUSTED);
        rig_close(&r);
        wni_space_release(&space);
    }
}

/* A space of one configuration, and configurations that were enqueued, one of them twice. */
static void counts_enqueued_points_as_used(void **row)
{
    struct err err = {0};
    struct handout job;
    struct space space;
    wni_space_init(&space);
    check_add(&space, (struct param_decl){.name = "n", .kind = PARAM_INT, .min = 1, .max = 6});
    struct study_setup setup = setup_for(*row, &modes[0], &space, 0);
    struct world world = world_for(0, 1, 0);
    struct rig r;
    rig_open(&r, &setup, &world);
    for (int i = 0; i < 3; i++)
        CHECK_OK(wni_study_enqueue(&r.study, (double[]){i ? 4 : 2}, 0, &err), err);
    for (int i = 0; i < 7; i++)
        CHECK_OK(wni_study_ask(&r.study, 0, &job, &err), err);
    CHECK_INT(wni_study_ask(&r.study, 0, &job, &err), WN_EXHAUSTED);
    CHECK_INT(r.study.history.n_distinct, 6);
    rig_close(&r);
    wni_space_release(&space);
}

/* Single-fidelity: values on the way to the end, and of trials that fail, are nobody's business. */
static void learns_from_completed_trials_only(void **row)
{
    struct space space;
    struct err err = {0};
    mixed_space(&space);
    struct study_setup setup = setup_for(*row, &modes[1], &space, 6);
    struct world world = world_for(6, 1, 0);
    struct rig rigs[2];
    for (int k = 0; k < 2; k++) {
        rig_open(&rigs[k], &setup, &world);
        struct study *s = &rigs[k].study;
        for (int i = 0; i < 50; i++) {
            struct handout job;
            wn_decision decision;
            CHECK_OK(wni_study_ask(s, 0, &job, &err), err);
            double value = job.config[0] + job.config[1];
            if (i % 3 == 2) { /* left running, or failed: the two studies hear different things */
                CHECK_OK(wni_study_report(s, job.trial, 1, k ? -value : 9, 0, &decision, &err), err);
                if (i % 2) CHECK_OK(wni_study_finish(s, job.trial, WN_FAILED, 0, &err), err);
                continue;
            }
            CHECK_OK(wni_study_report(s, job.trial, 1, k ? -value : 9, 0, &decision, &err), err);
            CHECK_OK(wni_study_report(s, job.trial, 4, value, 0, &decision, &err), err);
            CHECK_OK(wni_study_finish(s, job.trial, WN_COMPLETE, 0, &err), err);
        }
    }
    for (uint32_t t = 0; t < 50; t++)
        check_same_config(&space, wni_history_config(&rigs[1].study.history, t),
                          wni_history_config(&rigs[0].study.history, t), t);
    rig_close(&rigs[0]);
    rig_close(&rigs[1]);
    wni_space_release(&space);
}

static void resumes_as_if_never_stopped(void **row)
{
    struct space space;
    mixed_space(&space);
    for (uint64_t seed = 0; seed < 2 * N_MODES; seed++) {
        struct study_setup setup = setup_for(*row, &modes[seed % N_MODES], &space, seed);
        struct world world = world_for(seed, seed < N_MODES ? 1 : 5, 15);
        rig_check_resume(&setup, &world, 500, 9);
    }
    wni_space_release(&space);
}

/* The other properties are tested with brisk options; this one as users have it. */
static void works_with_its_defaults(void **row)
{
    struct space space;
    mixed_space(&space);
    for (size_t m = 0; m < N_MODES; m += 2) {
        struct study_setup setup = setup_for(*row, &modes[m], &space, 8);
        setup.options[1] = NULL;
        struct world world = world_for(8, 4, 5);
        struct rig r;
        rig_open(&r, &setup, &world);
        rig_run(&r, m ? 160 : 80);
        CHECK(r.study.history.n_trials > 25, "only %zu trials", r.study.history.n_trials);
        rig_check_replay(&r);
        rig_close(&r);
    }
    wni_space_release(&space);
}

static wn_status open_alone(const void *ops, const char *options, struct err *err)
{
    struct space space;
    struct searcher searcher;
    wni_space_init(&space);
    check_add(&space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1});
    struct search_env env = {.space = &space, .seed = 1};
    wn_status st = wni_searcher_open(&searcher, ops, options, &env, err);
    wni_searcher_release(&searcher); /* also after a failure */
    wni_space_release(&space);
    return st;
}

static void options_have_bounds(void **row)
{
    const struct searcher_ops *ops = *row;
    check_options(ops, open_alone, "searcher", ops->opts);
}

static void random_options_work(void **row)
{
    const struct searcher_ops *ops = *row;
    struct space space;
    mixed_space(&space);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rng rng = wni_rng_stream(seed, 3, 98);
        char options[512];
        random_options(&rng, "searcher", ops->opts, options, sizeof options);
        struct study_setup setup = setup_for(ops, &modes[seed % N_MODES], &space, seed);
        setup.options[1] = options;
        struct world world = world_for(seed, 4, 10);
        rig_check_resume(&setup, &world, 300, 2);
    }
    wni_space_release(&space);
}

/* How many proposals after the setup changed lie outside the old space; all must be values of the new one. */
static size_t count_wider(const struct history *h, const struct space *old, size_t since)
{
    struct history_cursor at = {0};
    struct event e;
    size_t wider = 0;
    while (wni_history_next(h, &at, &e)) {
        bool outside = false;
        if (e.kind != EVENT_ASK || e.queued || at.event < since) continue;
        for (size_t i = 0; i < h->space->n; i++) {
            double value;
            check_in_space(&h->space->params[i], e.config[i]);
            outside = outside || !wni_param_canonical(&old->params[i], e.config[i], &value);
        }
        wider += outside;
    }
    return wider;
}

/* What is proposed next is what a study proposes that had the wide space from the start, and the same trials.
 */
static void check_learned(struct study *s, const struct study_setup *wide)
{
    struct err err = {0};
    struct store store;
    struct study other;
    struct history_cursor at = {0};
    struct event e;
    wn_decision ignored;
    double a[16], b[16];
    uint32_t next = (uint32_t)s->history.n_trials;
    CHECK_OK(wni_store_open(&store, "memory:", "other", wide->space, &err), err);
    CHECK_OK(wni_study_open(&other, wide, &store, &err), err);
    while (wni_history_next(&s->history, &at, &e)) {
        e.saw = 0;
        if (e.kind != EVENT_SETUP) CHECK_OK(wni_study_apply(&other, &e, &ignored, &err), err);
    }
    CHECK_OK(s->searcher.ops->suggest(s->searcher.self, &s->history, next, a, &err), err);
    CHECK_OK(other.searcher.ops->suggest(other.searcher.self, &other.history, next, b, &err), err);
    check_same_config(wide->space, a, b, s->history.n_events);
    wni_study_release(&other);
}

/* A study whose space is widened goes on in it, with the same points whenever the log is replayed.  momentum
 * loses digits by that: who copies old values must mind. */
static void goes_on_in_a_wider_space(void **row)
{
    struct space space, wide;
    struct err err = {0};
    declare_mixed(&space, false);
    declare_mixed(&wide, true);
    for (size_t m = 0; m < N_MODES; m++) {
        struct study_setup setup = setup_for(*row, &modes[m], &space, 7), to = setup;
        struct world world = world_for(1, 4, 8);
        struct rig r;
        struct replay replay;
        double proposal[16];
        bool changed;
        to.space = &wide;
        rig_open(&r, &setup, &world);
        rig_run(&r, 150);
        CHECK_OK(wni_study_change(&r.study, &to, 0, &changed, &err), err);
        size_t since = r.study.history.n_events;
        rig_note(&r, WN_CONTINUE);
        check_learned(&r.study, &to);
        rig_run(&r, 150);
        CHECK(count_wider(&r.study.history, &space, since) > 2, "mode %zu: nothing beyond the old space", m);
        CHECK_OK(wni_replay(&r.study, &setup, &replay, proposal, NULL, NULL, &err), err);
        CHECK(replay.differs == TRIAL_NONE, "mode %zu: trial %u differs", m, replay.differs);
        rig_close(&r);
    }
    wni_space_release(&space);
    wni_space_release(&wide);
}

static const struct property properties[] = {
    {"goes on in a wider space", goes_on_in_a_wider_space},
    {"is described", is_described},
    {"same seed, same points", same_seed_same_points},
    {"another seed, other points", another_seed_other_points},
    {"points lie in the space", points_lie_in_the_space},
    {"works without observations", works_without_observations},
    {"survives trouble", survives_trouble},
    {"all reports fail", all_reports_fail},
    {"constant objective", constant_objective},
    {"uses up a finite space", uses_up_a_finite_space},
    {"counts enqueued points as used", counts_enqueued_points_as_used},
    {"learns from completed trials only", learns_from_completed_trials_only},
    {"resumes as if never stopped", resumes_as_if_never_stopped},
    {"works with its defaults", works_with_its_defaults},
    {"options have bounds", options_have_bounds},
    {"random options work", random_options_work},
};

static const char *name_at(size_t i)
{
    return wni_searcher_at(i)->name;
}

static const void *row_at(size_t i)
{
    return wni_searcher_at(i);
}

int main(void)
{
    return contract_run("searchers", properties, sizeof properties / sizeof *properties, wni_searcher_count(),
                        name_at, row_at);
}
