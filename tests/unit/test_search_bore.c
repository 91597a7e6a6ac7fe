/* test_search_bore.c -- the searcher bore against proposals worked out the long way, and whether it finds
 * what it should.
 *
 * The long way draws what the searcher draws, in the order the method says: the subset that is fitted, the
 * candidates, the winner among the surest.  It labels by counting, fits with the public functions of
 * src/surrogate and predicts every candidate by itself. */
#include "tests/unit/search_world.h"

#include "num/order.h"
#include "surrogate/newton.h"

struct method {
    int trees, depth, candidates, max_fit;
    double gamma, rate, lambda, weight;
    bool duplicates;
};

static const struct method BORE = {.trees = 100,
                                   .depth = 6,
                                   .candidates = 2000,
                                   .max_fit = 1000,
                                   .gamma = 0.25,
                                   .rate = 0.3,
                                   .lambda = 1,
                                   .weight = 1};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The quantile as NumPy defines it, from a sorted copy. */
static double quantile(const double *y, size_t n, double q)
{
    double sorted[TRIALS_MAX];
    memcpy(sorted, y, n * sizeof *y);
    qsort(sorted, n, sizeof *sorted, by_value);
    double at = q * (double)(n - 1);
    size_t below = (size_t)at;
    return below + 1 < n ? sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below])
                         : sorted[n - 1];
}

static size_t gather(const struct world *w, const struct method *m, struct rng *rng, double *x, double *y)
{
    uint32_t trials[TRIALS_MAX];
    size_t n = list_fitted(w, m->max_fit, rng, trials);
    for (size_t i = 0; i < n; i++) {
        wni_encode_unit(&w->space, wni_history_config(&w->history, trials[i]), x + i * w->space.unit_width);
        wni_history_last(&w->history, trials[i], &y[i], NULL);
    }
    double cut = quantile(y, n, m->gamma);
    for (size_t i = 0; i < n; i++)
        y[i] = y[i] <= cut;
    return n;
}

static void log_odds(const struct forest *f, const struct bins *bins, const struct space *space,
                     const double *configs, size_t n, double *out)
{
    static double rows[CANDIDATES_MAX * WIDTH_MAX];
    static uint8_t codes[WIDTH_MAX * CANDIDATES_MAX];
    enum { STRIDE = CANDIDATES_MAX / BINS_BLOCK * BINS_BLOCK };
    CHECK(n <= STRIDE, "%zu candidates", n);
    for (size_t i = 0; i < n; i++)
        wni_encode_unit(space, configs + i * space->n, rows + i * space->unit_width);
    wni_bins_encode(bins, rows, n, codes, STRIDE);
    wni_forest_predict(f, codes, STRIDE, n, out, SIMD_NONE);
}

/* Of the surest candidates each next one replaces the one at hand with probability 1/k, k counting them. */
static void expected_proposal(const struct world *w, const struct method *m, double *config)
{
    static double x[TRIALS_MAX * WIDTH_MAX], y[TRIALS_MAX], configs[CANDIDATES_MAX * PARAMS_MAX];
    static double scores[CANDIDATES_MAX];
    const struct space *space = &w->space;
    struct rng rng = wni_rng_stream(w->env.seed, w->history.n_trials, STREAM_SEARCH);
    struct arena arena = {0};
    struct bins bins;
    struct forest f;
    struct newton_options o = {.loss = LOSS_LOGISTIC,
                               .boost = {m->trees, m->depth, m->rate, 1, 1, 1},
                               .lambda = m->lambda,
                               .min_child_weight = m->weight};
    size_t n = gather(w, m, &rng, x, y);
    CHECK_INT(wni_bins_build(&bins, x, n, space->unit_width, &arena), WN_OK);
    CHECK_INT(wni_newton_fit(&f, &bins, y, &o, &rng, &arena, &arena), WN_OK);
    size_t n_candidates = list_candidates(w, m->candidates, m->duplicates, &rng, configs);
    size_t winner = 0, surest = 1;
    double best = -INFINITY;
    log_odds(&f, &bins, space, configs, n_candidates, scores);
    for (size_t i = 0; i < n_candidates; i++) {
        if (scores[i] < best) continue;
        surest = scores[i] > best ? 1 : surest + 1;
        if (i == 0 || wni_rng_below(&rng, surest) == 0) winner = i;
        best = scores[i];
    }
    memcpy(config, configs + winner * space->n, space->n * sizeof *config);
    wni_arena_release(&arena);
}

/* ---- proposals ---- */

static void random_until_five_are_observed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct world w;
        double config[PARAMS_MAX];
        open_world(&w, endless_space, "bore", "", seed);
        observe_random(&w, 4, seed);
        struct rng rng = wni_rng_stream(0, 0, 0);
        wni_config_sample(&w.space, &rng, config);
        finish(&w, ask(&w, config), WN_FAILED); /* does not count */
        CHECK(is_random(&w), "seed %d: four are observed, not random", (int)seed);
        observe_random(&w, 6, seed + 100);
        CHECK(!is_random(&w), "seed %d: five are observed, still random", (int)seed);
        check_proposal(&w, expected_proposal, &BORE, "five observed");
        close_world(&w);
    }
}

static void proposes_the_surest(void **state)
{
    (void)state;
    static const size_t sizes[] = {5, 12, 33, 60, 110};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint64_t seed = 0; seed < 4; seed++)
            for (int finite = 0; finite < 2; finite++) {
                struct world w;
                open_world(&w, finite ? small_space : endless_space, "bore", "", seed);
                observe_random(&w, sizes[s], seed);
                check_proposal(&w, expected_proposal, &BORE, finite ? "finite" : "endless");
                close_world(&w);
            }
}

/* Running trials count with their last value. */
static void learns_from_running_trials_under_a_stopping_scheduler(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5; seed++) {
        struct world w;
        struct rng rng = wni_rng_stream(seed, 0, 51);
        open_world(&w, endless_space, "bore", "", seed);
        w.env.partial = true;
        for (int i = 0; i < 40; i++) {
            double config[PARAMS_MAX];
            wni_config_sample(&w.space, &rng, config);
            report(&w, ask(&w, config), 1, value_of(&w.space, config, &rng));
        }
        check_proposal(&w, expected_proposal, &BORE, "running");
        close_world(&w);
    }
}

/* Every option, checked by what it does to the proposal. */
static void options_do_what_they_say(void **state)
{
    (void)state;
    static const char *const options[] = {
        "searcher.gamma=0.6",  "searcher.trees=3",       "searcher.depth=1",
        "searcher.rate=0.05",  "searcher.lambda=30",     "searcher.min_child_weight=3",
        "searcher.max_fit=20", "searcher.candidates=17", "searcher.duplicates=true",
    };
    enum { N = sizeof options / sizeof *options };
    struct method methods[N];
    for (size_t i = 0; i < N; i++)
        methods[i] = BORE;
    methods[0].gamma = 0.6;
    methods[1].trees = 3;
    methods[2].depth = 1;
    methods[3].rate = 0.05;
    methods[4].lambda = 30;
    methods[5].weight = 3;
    methods[6].max_fit = 20;
    methods[7].candidates = 17;
    methods[8].duplicates = true;
    for (size_t i = 0; i < N; i++)
        check_option("bore", options[i], 60, expected_proposal, &methods[i], &BORE);
}

/* ---- hard cases ---- */

/* One class only, or values at the ends of what a double holds: any new configuration will do. */
static void nothing_to_learn(void **state)
{
    (void)state;
    static const double odd[][2] = {{1, 1}, {1e308, -1e308}, {5e-324, 0}, {-1e308, -1e308}};
    for (size_t k = 0; k < 4; k++) {
        struct world w;
        struct rng rng = wni_rng_stream(k, 0, 52);
        double config[PARAMS_MAX];
        open_world(&w, small_space, "bore", "", k);
        while (w.history.n_trials < 30) {
            wni_config_sample(&w.space, &rng, config);
            if (!wni_history_seen(&w.history, config)) complete(&w, config, odd[k][w.history.n_trials % 2]);
        }
        CHECK_INT(suggest(&w, config), WN_OK);
        CHECK(!wni_history_seen(&w.history, config), "case %zu: proposed again", k);
        close_world(&w);
    }
}

static void a_space_is_used_up(void **state)
{
    (void)state;
    struct world w;
    struct rng rng = wni_rng_stream(0, 0, 53);
    double config[PARAMS_MAX];
    open_world(&w, small_space, "bore", "searcher.trees=5", 1);
    for (int i = 0; i < 120; i++) {
        CHECK_INT(suggest(&w, config), WN_OK);
        CHECK(!wni_history_seen(&w.history, config), "trial %d: proposed again", i);
        complete(&w, config, value_of(&w.space, config, &rng));
    }
    CHECK_INT(suggest(&w, config), WN_EXHAUSTED);
    close_world(&w);
    open_world(&w, constant_space, "bore", "", 1);
    CHECK_INT(suggest(&w, config), WN_OK);
    close_world(&w);
}

/* Surest candidates are drawn evenly: with one class only, every configuration is as sure as any other. */
static void ties_are_drawn(void **state)
{
    (void)state;
    struct world w;
    double config[PARAMS_MAX], sum = 0;
    open_world(&w, small_space, "bore", "searcher.trees=1", 3);
    for (int i = 0; i < 6; i++) {
        wni_config_at(&w.space, (uint64_t)i, config);
        complete(&w, config, 1);
    }
    for (uint32_t trial = 6; trial < 406; trial++) { /* suggestions for other trials: other draws */
        struct err err = {0};
        CHECK_OK(w.searcher.ops->suggest(w.searcher.self, &w.history, trial, config, &err), err);
        sum += config[0];
    }
    CHECK(fabs(sum / 400 - 2.55) < 0.25, "the mean of the first parameter (1 to 4) is %g", sum / 400);
    close_world(&w);
}

/* ---- is it any good? ---- */

/* Mean true value of the last 30 of 60 proposals, with noisy evaluations. */
static double mean_value(const char *searcher)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct world w;
        struct rng rng = wni_rng_stream(seed, 0, 54);
        double config[PARAMS_MAX];
        open_world(&w, large_space, searcher, "", seed);
        for (int i = 0; i < 60; i++) {
            CHECK_INT(suggest(&w, config), WN_OK);
            complete(&w, config, value_of(&w.space, config, &rng));
            double a = config[0] / 999 - 0.3, b = config[1] / 999 - 0.3;
            if (i >= 30) sum += (a * a + 2 * b * b) / (6 * 30);
        }
        close_world(&w);
    }
    return sum;
}

static void proposes_better_than_random_search(void **state)
{
    (void)state;
    double bore = mean_value("bore"), random = mean_value("random");
    CHECK(bore < 0.3 * random, "bore %g, random %g", bore, random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_until_five_are_observed),
        cmocka_unit_test(proposes_the_surest),
        cmocka_unit_test(learns_from_running_trials_under_a_stopping_scheduler),
        cmocka_unit_test(options_do_what_they_say),
        cmocka_unit_test(nothing_to_learn),
        cmocka_unit_test(a_space_is_used_up),
        cmocka_unit_test(ties_are_drawn),
        cmocka_unit_test(proposes_better_than_random_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
