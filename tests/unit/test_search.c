/* test_search.c -- the searchers that need no model: random, grid, regularised evolution, and what they
 * share.
 *
 * Evolution is checked against its definition: the population is found by a scan of the log, parents are
 * recognised by the values they hand on, and their ranks must be distributed as the best of five draws are.
 */
#include "tests/unit/search_world.h"

/* Asks for a proposal and starts it. */
static uint32_t propose(struct world *w, double *config)
{
    CHECK_INT(suggest(w, config), WN_OK);
    for (size_t i = 0; i < w->space.n; i++)
        check_in_space(&w->space.params[i], config[i]);
    return ask(w, config);
}

static void floats(struct space *space, int n)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    wni_space_init(space);
    for (int i = 0; i < n; i++)
        check_add(space, (struct param_decl){.name = names[i], .kind = PARAM_FLOAT, .max = 1});
}

static void ints(struct space *space, int n, double count)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    wni_space_init(space);
    for (int i = 0; i < n; i++)
        check_add(space, (struct param_decl){.name = names[i], .kind = PARAM_INT, .min = 1, .max = count});
}

/* ---- random ---- */

static void use_up_random_spaces(const char *searcher, uint64_t seeds, uint64_t size)
{
    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct rng rng = wni_rng_stream(seed, 1, 1);
        struct space space;
        struct world w;
        double config[PARAMS_MAX];
        check_random_finite_space(&space, &rng, size);
        open_world_in(&w, &space, searcher, NULL, seed, false);
        uint64_t n = 0;
        for (; suggest(&w, config) == WN_OK; n++) {
            CHECK(!wni_history_seen(&w.history, config), "seed %llu: trial %llu repeats",
                  (unsigned long long)seed, (unsigned long long)n);
            if (check_chance(&rng, 10))
                wni_config_sample(&w.space, &rng, config); /* somebody asks for something else */
            uint32_t trial = ask(&w, config);
            report(&w, trial, 1, check_chance(&rng, 5) ? NAN : wni_rng_uniform(&rng));
            finish(&w, trial, check_chance(&rng, 80) ? WN_COMPLETE : WN_FAILED);
            CHECK(n <= 20 * size, "no end after %llu", (unsigned long long)n);
        }
        CHECK_INT(suggest(&w, config), WN_EXHAUSTED);
        CHECK_INT(w.history.n_distinct, w.space.size);
        close_world(&w);
    }
}

static void random_uses_up_a_finite_space(void **state)
{
    (void)state;
    use_up_random_spaces("random", 60, 3000);
}

/* Without interference: exactly `size` proposals, no more. */
static void random_ends_after_exactly_size_configurations(void **state)
{
    (void)state;
    struct space space;
    struct world w;
    double config[2];
    ints(&space, 2, 50);
    open_world_in(&w, &space, "random", NULL, 5, false);
    for (int i = 0; i < 2500; i++)
        propose(&w, config);
    CHECK_INT(suggest(&w, config), WN_EXHAUSTED);
    CHECK_INT(w.history.n_distinct, 2500);
    close_world(&w);
}

/* 990 of 1000 are gone; each of the ten that are left must be as likely. */
static void random_is_uniform_over_what_is_left(void **state)
{
    (void)state;
    struct space space;
    struct world w;
    double config[3], shares[10];
    size_t counts[10] = {0};
    ints(&space, 3, 10);
    open_world_in(&w, &space, "random", NULL, 0, false);
    for (uint64_t k = 0; k < 1000; k++) {
        wni_config_at(&w.space, k, config);
        if (k % 100 != 37) ask(&w, config);
    }
    for (uint64_t seed = 0; seed < 20000; seed++) {
        w.env.seed = seed;
        CHECK_INT(suggest(&w, config), WN_OK);
        uint64_t k = wni_config_index(&w.space, config);
        CHECK_INT(k % 100, 37);
        counts[k / 100]++;
    }
    for (int i = 0; i < 10; i++)
        shares[i] = 0.1;
    check_counts(counts, shares, 10, 6);
    close_world(&w);
}

/* The last of 20,000: hundreds of draws, not a failure and not a repeat. */
static void random_finds_the_last_one(void **state)
{
    (void)state;
    struct space space;
    struct world w;
    double config[1];
    ints(&space, 1, 20000);
    open_world_in(&w, &space, "random", NULL, 3, false);
    for (uint64_t k = 0; k < 20000; k++) {
        wni_config_at(&w.space, k, config);
        if (k != 12345) ask(&w, config);
    }
    CHECK_INT(suggest(&w, config), WN_OK);
    CHECK_DOUBLE(config[0], 12346);
    close_world(&w);
}

/* A float has no count, but one next to large bounds has few values: then repeats are better than no trial.
 */
static void random_repeats_rather_than_stop_on_a_coarse_continuum(void **state)
{
    (void)state;
    struct space space;
    struct world w;
    double config[1];
    wni_space_init(&space);
    check_add(&space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .min = 1e8, .max = 1e8 + 0.011});
    CHECK_INT(space.size, 0);
    open_world_in(&w, &space, "random", NULL, 3, false);
    for (int i = 0; i < 15000; i++)
        propose(&w, config);
    CHECK(w.history.n_distinct > 10900 && w.history.n_distinct < 11002, "%zu distinct", w.history.n_distinct);
    close_world(&w);
}

/* The stream of a trial depends on nothing but seed and trial: the same draws whatever happened before. */
static void the_random_start_is_the_same_for_every_searcher(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct rng rng = wni_rng_stream(seed, 2, 1);
        struct space space, same;
        struct world a, b;
        struct err err = {0};
        double from_random[PARAMS_MAX], from_rea[PARAMS_MAX];
        check_random_space(&space, &rng, (size_t)check_between(&rng, 1, PARAMS_MAX));
        CHECK_OK(wni_space_copy(&same, &space, &err), err);
        open_world_in(&a, &space, "random", NULL, seed, false);
        open_world_in(&b, &same, "rea", NULL, seed, check_chance(&rng, 50));
        for (int i = 0; i < 9; i++) {
            wn_status st = suggest(&a, from_random);
            CHECK_INT(suggest(&b, from_rea), st);
            if (st == WN_EXHAUSTED) break;
            for (size_t k = 0; k < a.space.n; k++)
                CHECK_DOUBLE(from_rea[k], from_random[k]);
            report(&a, ask(&a, from_random), 1, 0.5);
            complete(&b, from_rea, wni_rng_uniform(&rng));
        }
        close_world(&a);
        close_world(&b);
    }
}

static void another_seed_or_trial_is_another_configuration(void **state)
{
    (void)state;
    struct space space;
    struct world w;
    double first[4], other[4];
    floats(&space, 4);
    open_world_in(&w, &space, "random", NULL, 1, false);
    CHECK_INT(suggest(&w, first), WN_OK);
    CHECK_INT(suggest(&w, other), WN_OK); /* asking twice changes nothing */
    CHECK(wni_config_equal(&w.space, first, other), "%g became %g", first[0], other[0]);
    w.env.seed = 2;
    CHECK_INT(suggest(&w, other), WN_OK);
    CHECK(!wni_config_equal(&w.space, first, other), "seeds 1 and 2 both give %g", first[0]);
    w.env.seed = 1;
    ask(&w, other);
    CHECK_INT(suggest(&w, other), WN_OK);
    CHECK(!wni_config_equal(&w.space, first, other), "trials 0 and 1 both get %g", first[0]);
    close_world(&w);
}

/* ---- grid ---- */

static void grid_walks_the_product_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rng rng = wni_rng_stream(seed, 3, 1);
        struct space space;
        struct world w;
        double config[PARAMS_MAX], expected[PARAMS_MAX];
        check_random_finite_space(&space, &rng, 500);
        open_world_in(&w, &space, "grid", NULL, seed, false);
        for (uint64_t k = 0; k < w.space.size; k++) {
            wni_config_at(&w.space, k, expected);
            propose(&w, config);
            for (size_t i = 0; i < w.space.n; i++)
                CHECK_DOUBLE(config[i], expected[i]);
        }
        CHECK_INT(suggest(&w, config), WN_EXHAUSTED);
        close_world(&w);
    }
}

/* lr: 4 points on a log scale, x: 4 on a linear one, b: both values; the last parameter is the fastest. */
static void grid_spaces_continuous_parameters_evenly(void **state)
{
    (void)state;
    static const double lr[] = {0.001, 0.01, 0.1, 1}, x[] = {-1, 0, 1, 2};
    struct space space;
    struct world w;
    double config[3];
    wni_space_init(&space);
    check_add(&space,
              (struct param_decl){.name = "lr", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-3, .max = 1});
    check_add(&space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .min = -1, .max = 2});
    check_add(&space, (struct param_decl){.name = "b", .kind = PARAM_BOOL});
    open_world_in(&w, &space, "grid", "searcher.points=4 scheduler.eta=3", 0, false);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 2; k++) {
                propose(&w, config);
                CHECK_DOUBLE(config[0], lr[i]);
                CHECK_DOUBLE(config[1], x[j]);
                CHECK_DOUBLE(config[2], k);
            }
    CHECK_INT(suggest(&w, config), WN_EXHAUSTED);
    close_world(&w);
}

static void grid_has_five_points_unless_told(void **state)
{
    (void)state;
    struct space space;
    struct world w;
    double config[1];
    floats(&space, 1);
    open_world_in(&w, &space, "grid", NULL, 0, false);
    for (int k = 0; k < 5; k++) {
        propose(&w, config);
        CHECK_DOUBLE(config[0], k / 4.0);
    }
    CHECK_INT(suggest(&w, config), WN_EXHAUSTED);
    close_world(&w);
}

/* What was asked already is passed over, whether before the walk began or in the middle of it. */
static void grid_skips_what_was_asked(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rng rng = wni_rng_stream(seed, 4, 1);
        struct space space;
        struct world w;
        double config[3], other[3];
        bool asked[125] = {false};
        ints(&space, 3, 5);
        open_world_in(&w, &space, "grid", NULL, seed, false);
        for (uint64_t k = 0; k < 125; k++) {
            while (check_chance(&rng, 20)) {
                wni_config_sample(&w.space, &rng, other);
                asked[wni_config_index(&w.space, other)] = true;
                ask(&w, other);
            }
            if (asked[k]) continue;
            CHECK_INT(suggest(&w, config), WN_OK);
            CHECK_INT(wni_config_index(&w.space, config), k);
            CHECK_INT(suggest(&w, config), WN_OK); /* a proposal that is not taken comes again */
            CHECK_INT(wni_config_index(&w.space, config), k);
            asked[k] = true;
            ask(&w, config);
        }
        CHECK_INT(suggest(&w, config), WN_EXHAUSTED);
        close_world(&w);
    }
}

static void grid_refuses_what_it_cannot_count(void **state)
{
    (void)state;
    struct space space;
    struct searcher s;
    struct err err = {0};
    floats(&space, 8);
    struct search_env env = {.space = &space};
    CHECK_INT(wni_searcher_open(&s, wni_searcher_find("grid", NULL), "searcher.points=1000", &env, &err),
              WN_EINVAL);
    CHECK_TEXT(err.text, "searcher 'grid': the grid has more than 2^64 points");
    CHECK(!s.self, "state left at %p", s.self);
    wni_space_release(&space);
}

/* ---- what a trial's observation is ---- */

static void observations_with_and_without_partial_results(void **state)
{
    (void)state;
    static const struct {
        wn_state state;
        bool partial, completed; /* observed? */
    } cases[] = {{WN_RUNNING, true, false}, {WN_PAUSED, true, false},   {WN_COMPLETE, true, true},
                 {WN_STOPPED, true, false}, {WN_FAILED, false, false},  {WN_TIMEOUT, false, false},
                 {WN_LOST, false, false},   {WN_CANCELLED, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct space space;
        struct world w;
        double value = 9, config[2] = {0, 1};
        floats(&space, 2);
        open_world_in(&w, &space, "random", NULL, 0, true);
        uint32_t trial = ask(&w, config), silent = ask(&w, config), broken = ask(&w, config);
        report(&w, trial, 1, 0.5);
        report(&w, trial, 2, 0.75);
        report(&w, broken, 1, 0.5);
        report(&w, broken, 2, NAN);
        if (cases[i].state != WN_RUNNING) {
            finish(&w, trial, cases[i].state);
            finish(&w, silent, cases[i].state);
            finish(&w, broken, cases[i].state);
        }
        CHECK_INT(wni_search_observation(&w.env, &w.history, trial, &value), cases[i].partial);
        CHECK_DOUBLE(value, cases[i].partial ? 0.75 : 9);
        w.env.partial = false;
        CHECK_INT(wni_search_observation(&w.env, &w.history, trial, &value), cases[i].completed);
        for (int partial = 0; partial < 2; partial++) {
            w.env.partial = partial;
            CHECK(!wni_search_observation(&w.env, &w.history, silent, &value), "no report, but %g", value);
            CHECK(!wni_search_observation(&w.env, &w.history, broken, &value), "NaN reported, but %g", value);
        }
        close_world(&w);
    }
}

/* ---- regularised evolution ---- */

enum { POPULATION = 10 };

/* The trials of the population by a scan of the log: those observed, in the order of their first observation.
 */
static size_t scan_population(const struct world *w, uint32_t *out)
{
    struct history_cursor at = {0};
    struct event e;
    uint32_t members[512];
    bool broken[512] = {false}, reported[512] = {false};
    size_t n = 0;
    while (wni_history_next(&w->history, &at, &e)) {
        bool first = e.kind == EVENT_REPORT && !reported[e.trial];
        if (e.kind == EVENT_REPORT) reported[e.trial] = true, broken[e.trial] |= !isfinite(e.value);
        bool completes = e.kind == EVENT_FINISH && e.state == WN_COMPLETE && reported[e.trial];
        if ((w->env.partial ? first : completes) && !broken[e.trial]) members[n++] = e.trial;
    }
    size_t from = n > POPULATION ? n - POPULATION : 0;
    for (size_t i = from; i < n; i++)
        out[i - from] = members[i];
    return n - from;
}

/* The population's member from which the configuration differs in exactly one parameter; TRIAL_NONE: not one
 * alone. */
static uint32_t find_parent(const struct world *w, const double *config, size_t *changed)
{
    uint32_t members[POPULATION], parent = TRIAL_NONE;
    size_t n = scan_population(w, members), found = 0;
    for (size_t i = 0; i < n; i++) {
        const double *other = wni_history_config(&w->history, members[i]);
        size_t differ = 0, where = 0;
        for (size_t k = 0; k < w->space.n; k++)
            if (config[k] != other[k]) differ++, where = k;
        if (differ == 1) found++, parent = members[i], *changed = where;
    }
    return found == 1 ? parent : (uint32_t)TRIAL_NONE;
}

/* Unrelated trials, asked by hand, with distinct values; the population is the last ten. */
static void fill_population(struct world *w, struct rng *rng, int n)
{
    double config[PARAMS_MAX];
    for (int i = 0; i < n; i++) {
        wni_config_sample(&w->space, rng, config);
        complete(w, config, wni_rng_uniform(rng));
    }
}

/* How many members are better than this one. */
static size_t rank_of(const struct world *w, uint32_t trial)
{
    uint32_t members[POPULATION];
    size_t n = scan_population(w, members), better = 0;
    double value, other;
    CHECK(wni_search_observation(&w->env, &w->history, trial, &value), "trial %u has no value", trial);
    for (size_t i = 0; i < n; i++)
        better += wni_search_observation(&w->env, &w->history, members[i], &other) && other < value;
    return better;
}

/* The rank of the best of 5 draws with replacement out of 10: it is k or worse with probability ((10 - k) /
 * 10)^5. */
static void rea_takes_the_best_of_five(void **state)
{
    (void)state;
    size_t ranks[POPULATION] = {0}, changes[6] = {0};
    double shares[POPULATION], even[6];
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct rng rng = wni_rng_stream(seed, 5, 1);
        struct space space;
        struct world w;
        double config[6];
        size_t changed = 0;
        floats(&space, 6);
        open_world_in(&w, &space, "rea", NULL, seed, seed % 2);
        fill_population(&w, &rng, check_between(&rng, POPULATION, 25));
        CHECK_INT(suggest(&w, config), WN_OK);
        uint32_t parent = find_parent(&w, config, &changed);
        CHECK(parent != TRIAL_NONE, "seed %llu: no parent", (unsigned long long)seed);
        ranks[rank_of(&w, parent)]++;
        changes[changed]++;
        close_world(&w);
    }
    for (int k = 0; k < POPULATION; k++)
        shares[k] = pow((10 - k) / 10.0, 5) - pow((9 - k) / 10.0, 5);
    check_counts(ranks, shares, POPULATION, 6);
    for (int k = 0; k < 6; k++)
        even[k] = 1 / 6.0;
    check_counts(changes, even, 6, 6);
}

/* With a thousand draws the parent is the best member; with the log in any order, and members that fail
 * later. */
static void rea_follows_the_log(void **state)
{
    (void)state;
    int from_population = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct rng rng = wni_rng_stream(seed, 6, 1);
        struct space space;
        struct world w;
        double config[6], drawn[6];
        floats(&space, 6);
        open_world_in(&w, &space, "rea", "searcher.sample=1000", seed, seed % 2);
        struct search_env env = w.env;
        for (int step = 0; step < 150; step++) {
            uint32_t trial = (uint32_t)wni_rng_below(&rng, w.history.n_trials + 1);
            wn_state from = trial < w.history.n_trials ? (wn_state)w.history.trials[trial].state : WN_WAITING;
            if (from == WN_WAITING) {
                wni_config_sample(&w.space, &rng, config);
                ask(&w, config);
            } else if (from == WN_RUNNING && check_chance(&rng, 70)) {
                report(&w, trial, check_between(&rng, 1, 9),
                       check_chance(&rng, 3) ? NAN : wni_rng_uniform(&rng));
            } else if (from == WN_RUNNING) {
                finish(&w, trial,
                       check_chance(&rng, 60) ? WN_COMPLETE
                                              : (wn_state)check_between(&rng, WN_STOPPED, WN_TIMEOUT));
            }
        }
        uint32_t members[POPULATION], best = TRIAL_NONE;
        size_t n = scan_population(&w, members), changed;
        double value, lowest = INFINITY;
        for (size_t i = 0; i < n; i++)
            if (wni_search_observation(&w.env, &w.history, members[i], &value) && value < lowest)
                lowest = value, best = members[i];
        CHECK_INT(suggest(&w, config), WN_OK);
        if (n < POPULATION || best == TRIAL_NONE) { /* as random search would */
            CHECK_INT(wni_search_random(&env, &w.history, (uint32_t)w.history.n_trials, drawn), WN_OK);
            for (size_t k = 0; k < w.space.n; k++)
                CHECK_DOUBLE(config[k], drawn[k]);
        } else {
            uint32_t parent = find_parent(&w, config, &changed);
            CHECK(parent == best, "seed %llu: parent %u, best %u", (unsigned long long)seed, parent, best);
            from_population++;
        }
        close_world(&w);
    }
    CHECK(from_population > 100, "only %d", from_population);
}

/* Nine are not enough, the tenth is; without partial results running trials do not count. */
static void rea_waits_for_ten_observed_trials(void **state)
{
    (void)state;
    for (int partial = 0; partial < 2; partial++) {
        struct rng rng = wni_rng_stream(7, 7, 1);
        struct space space;
        struct world w;
        double config[6];
        size_t changed;
        floats(&space, 6);
        open_world_in(&w, &space, "rea", NULL, 7, partial);
        fill_population(&w, &rng, 9);
        CHECK_INT(suggest(&w, config), WN_OK);
        CHECK_INT(find_parent(&w, config, &changed), TRIAL_NONE);
        uint32_t trial = ask(&w, config);
        report(&w, trial, 1, 0.5);
        CHECK_INT(suggest(&w, config), WN_OK);
        CHECK_INT(find_parent(&w, config, &changed) != TRIAL_NONE, partial);
        report(&w, trial, 2, 0.25);
        finish(&w, trial, WN_COMPLETE);
        CHECK_INT(suggest(&w, config), WN_OK);
        CHECK(find_parent(&w, config, &changed) != TRIAL_NONE, "partial %d: no parent", partial);
        close_world(&w);
    }
}

/* Old trials die however good they are. */
static void rea_forgets_the_eleventh_last(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(8, 8, 1);
    struct space space;
    struct world w;
    double config[6];
    size_t changed;
    floats(&space, 6);
    open_world_in(&w, &space, "rea", "searcher.sample=1000", 8, false);
    wni_config_sample(&w.space, &rng, config);
    uint32_t champion = ask(&w, config);
    report(&w, champion, 1, -100);
    finish(&w, champion, WN_COMPLETE);
    fill_population(&w, &rng, 9);
    CHECK_INT(suggest(&w, config), WN_OK);
    CHECK_INT(find_parent(&w, config, &changed), champion);
    fill_population(&w, &rng, 1);
    CHECK_INT(suggest(&w, config), WN_OK);
    uint32_t parent = find_parent(&w, config, &changed);
    CHECK(parent != champion && parent != TRIAL_NONE, "parent %u", parent);
    close_world(&w);
}

/* In every kind of space a mutant differs from one member in one parameter, in nothing else, and constants
 * stay. */
static void rea_mutates_one_parameter_of_any_space(void **state)
{
    (void)state;
    int proposals = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct rng rng = wni_rng_stream(seed, 9, 1);
        struct space space;
        struct world w;
        double config[PARAMS_MAX];
        check_random_space(&space, &rng, (size_t)check_between(&rng, 2, PARAMS_MAX));
        if (space.size && space.size < 1000) {
            wni_space_release(&space);
            continue;
        }
        open_world_in(&w, &space, "rea", NULL, seed, seed % 2);
        for (int i = 0; i < 40; i++) {
            CHECK_INT(suggest(&w, config), WN_OK);
            uint32_t members[POPULATION];
            size_t n = scan_population(&w, members), relatives = 0;
            for (size_t m = 0; m < n; m++) {
                size_t differ = 0;
                for (size_t k = 0; k < w.space.n; k++)
                    differ += config[k] != wni_history_config(&w.history, members[m])[k];
                relatives += differ == 1;
            }
            CHECK(n < POPULATION || relatives > 0, "seed %llu, trial %d: not a mutant",
                  (unsigned long long)seed, i);
            CHECK(!wni_history_seen(&w.history, config), "seed %llu, trial %d: a repeat",
                  (unsigned long long)seed, i);
            uint32_t trial = propose(&w, config);
            report(&w, trial, 1, wni_rng_uniform(&rng));
            finish(&w, trial, WN_COMPLETE);
            proposals += n == POPULATION;
        }
        close_world(&w);
    }
    CHECK(proposals > 3000, "only %d", proposals);
}

static void rea_uses_up_a_finite_space(void **state)
{
    (void)state;
    use_up_random_spaces("rea", 40, 300);
}

/* The state is a cache: a searcher that saw the events only now proposes the same. */
static void rea_is_rebuilt_by_replay(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(10, 10, 1);
    struct space space;
    struct world w;
    struct searcher late;
    struct err err = {0};
    double config[6], again[6];
    floats(&space, 6);
    open_world_in(&w, &space, "rea", NULL, 10, true);
    fill_population(&w, &rng, 37);
    CHECK_OK(wni_searcher_open(&late, w.searcher.ops, NULL, &w.env, &err), err);
    struct history_cursor at = {0};
    struct event e;
    struct history grown;
    CHECK_OK(wni_history_init(&grown, &w.space, &err), err);
    while (wni_history_next(&w.history, &at, &e)) {
        CHECK_OK(wni_history_reserve(&grown, &e, &err), err);
        wni_history_append(&grown, &e);
        late.ops->observe(late.self, &grown, &e);
    }
    CHECK_INT(suggest(&w, config), WN_OK);
    CHECK_INT(late.ops->suggest(late.self, &grown, (uint32_t)grown.n_trials, again, &err), WN_OK);
    for (size_t k = 0; k < 6; k++)
        CHECK_DOUBLE(again[k], config[k]);
    wni_history_release(&grown);
    wni_searcher_release(&late);
    close_world(&w);
}

/* ---- the registry ---- */

static void searchers_are_found_by_name(void **state)
{
    (void)state;
    struct err err = {0};
    for (size_t i = 0; i < wni_searcher_count(); i++)
        CHECK(wni_searcher_find(wni_searcher_at(i)->name, &err) == wni_searcher_at(i), "%s", err.text);
    CHECK(!wni_searcher_find("randm", &err), "found %s", "randm");
    CHECK_TEXT(err.text, "unknown searcher 'randm'; did you mean 'random'?");
}

static void a_wrong_option_names_the_searcher(void **state)
{
    (void)state;
    struct space space;
    struct searcher s;
    struct err err = {0};
    floats(&space, 1);
    struct search_env env = {.space = &space};
    CHECK_INT(wni_searcher_open(&s, wni_searcher_find("rea", NULL), "searcher.populaton=3", &env, &err),
              WN_EINVAL);
    CHECK(strstr(err.text, "searcher 'rea': ") == err.text && strstr(err.text, "did you mean 'population'"),
          "%s", err.text);
    CHECK(!s.self, "state left at %p", s.self);
    wni_space_release(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_uses_up_a_finite_space),
        cmocka_unit_test(random_ends_after_exactly_size_configurations),
        cmocka_unit_test(random_is_uniform_over_what_is_left),
        cmocka_unit_test(random_finds_the_last_one),
        cmocka_unit_test(random_repeats_rather_than_stop_on_a_coarse_continuum),
        cmocka_unit_test(the_random_start_is_the_same_for_every_searcher),
        cmocka_unit_test(another_seed_or_trial_is_another_configuration),
        cmocka_unit_test(grid_walks_the_product_in_order),
        cmocka_unit_test(grid_spaces_continuous_parameters_evenly),
        cmocka_unit_test(grid_has_five_points_unless_told),
        cmocka_unit_test(grid_skips_what_was_asked),
        cmocka_unit_test(grid_refuses_what_it_cannot_count),
        cmocka_unit_test(observations_with_and_without_partial_results),
        cmocka_unit_test(rea_takes_the_best_of_five),
        cmocka_unit_test(rea_follows_the_log),
        cmocka_unit_test(rea_waits_for_ten_observed_trials),
        cmocka_unit_test(rea_forgets_the_eleventh_last),
        cmocka_unit_test(rea_mutates_one_parameter_of_any_space),
        cmocka_unit_test(rea_uses_up_a_finite_space),
        cmocka_unit_test(rea_is_rebuilt_by_replay),
        cmocka_unit_test(searchers_are_found_by_name),
        cmocka_unit_test(a_wrong_option_names_the_searcher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
