/* test_search_qr.c -- the searchers qr and cqr against proposals worked out the long way.
 *
 * The long way draws what the searcher draws, in the order the method says: the subset that is fitted, the
 * hold-out, the candidates, their levels.  Then it fits with the public functions of src/surrogate, predicts
 * every candidate at every level one by one, and takes the first of the lowest. */
#include "tests/unit/search_world.h"

#include "num/stats.h"
#include "surrogate/quantile.h"

/* ---- the long way ---- */

struct method {
    int levels, trees, depth, candidates, max_fit, threshold;
    double rate, holdout;
    bool conformal, duplicates, normalize;
};

static const struct method QR = {
    .levels = 4, .trees = 100, .depth = 3, .candidates = 2000, .max_fit = 1000, .rate = 0.1};
static const struct method CQR = {.levels = 4,
                                  .trees = 100,
                                  .depth = 3,
                                  .candidates = 2000,
                                  .max_fit = 1000,
                                  .rate = 0.1,
                                  .holdout = 0.1,
                                  .threshold = 32,
                                  .conformal = true};

static size_t gather(const struct world *w, const struct method *m, struct rng *rng, double *x, double *y)
{
    uint32_t trials[TRIALS_MAX];
    size_t n = list_fitted(w, m->max_fit, rng, trials);
    for (size_t i = 0; i < n; i++) {
        wni_encode_tree(&w->space, wni_history_config(&w->history, trials[i]), x + i * w->space.tree_width);
        wni_history_last(&w->history, trials[i], &y[i], NULL);
    }
    return n;
}

/* The normal score of the mean rank of each value, by counting. */
static void normal_scores(double *y, size_t n)
{
    double raw[TRIALS_MAX];
    memcpy(raw, y, n * sizeof *y);
    for (size_t i = 0; i < n; i++) {
        double below = 0, same = 0;
        for (size_t k = 0; k < n; k++)
            below += raw[k] < raw[i], same += raw[k] == raw[i];
        y[i] = wni_normal_quantile((below + same / 2) / (double)n);
    }
}

static double predict_one(const struct quantile_model *model, const struct space *space, const double *config,
                          size_t level)
{
    double row[WIDTH_MAX], out;
    uint8_t codes[WIDTH_MAX * BINS_BLOCK] = {0};
    wni_encode_tree(space, config, row);
    wni_bins_encode(&model->bins, row, 1, codes, BINS_BLOCK);
    wni_quantile_predict(model, level, codes, BINS_BLOCK, 1, &out);
    return out;
}

static struct quantile_model expected_model(const struct world *w, const struct method *m, struct rng *rng)
{
    static double x[TRIALS_MAX * WIDTH_MAX], y[TRIALS_MAX];
    struct quantile_model model = {0};
    struct quantile_options o = {.boost = {.trees = m->trees,
                                           .depth = m->depth,
                                           .rate = m->rate,
                                           .min_leaf = 1,
                                           .row_share = 1,
                                           .column_share = 1},
                                 .levels = m->levels,
                                 .conformal = m->conformal,
                                 .holdout = m->holdout,
                                 .threshold = m->threshold};
    size_t n = gather(w, m, rng, x, y);
    if (m->normalize) normal_scores(y, n);
    CHECK_INT(wni_quantile_fit(&model, x, y, n, w->space.tree_width, &o, rng), WN_OK);
    return model;
}

static void expected_proposal(const struct world *w, const struct method *m, double *config)
{
    static double configs[CANDIDATES_MAX * PARAMS_MAX];
    const struct space *space = &w->space;
    struct rng rng = wni_rng_stream(w->env.seed, w->history.n_trials, STREAM_SEARCH);
    struct quantile_model model = expected_model(w, m, &rng);
    size_t n_candidates = list_candidates(w, m->candidates, m->duplicates, &rng, configs), winner = 0;
    double best = INFINITY;
    for (size_t i = 0; i < n_candidates; i++) {
        size_t level = (size_t)wni_rng_below(&rng, (uint64_t)m->levels);
        double score = predict_one(&model, space, configs + i * space->n, level);
        if (score < best) best = score, winner = i;
    }
    memcpy(config, configs + winner * space->n, space->n * sizeof *config);
    wni_quantile_release(&model);
}

/* ---- the first trials ---- */

/* Running, failed and broken trials do not count as observed. */
static void random_until_five_are_observed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct world w;
        struct rng rng = wni_rng_stream(seed, 0, 50);
        open_world(&w, endless_space, seed % 2 ? "qr" : "cqr", "", seed);
        for (int observed = 0; observed < 5; observed++) {
            double config[PARAMS_MAX];
            for (int trouble = 0; trouble < 3; trouble++) {
                CHECK(is_random(&w), "%d observed, trial %zu is not random", observed, w.history.n_trials);
                wni_config_sample(&w.space, &rng, config);
                uint32_t trial = ask(&w, config);
                if (trouble) report(&w, trial, 1, trouble == 1 ? 1.0 : NAN);
                if (trouble) finish(&w, trial, trouble == 1 ? WN_FAILED : WN_COMPLETE);
            }
            CHECK(is_random(&w), "%d observed, trial %zu is not random", observed, w.history.n_trials);
            wni_config_sample(&w.space, &rng, config);
            complete(&w, config, value_of(&w.space, config, &rng));
        }
        CHECK(!is_random(&w), "seed %d: five are observed, still random", (int)seed);
        check_proposal(&w, expected_proposal, seed % 2 ? &QR : &CQR, "five observed");
        close_world(&w);
    }
}

/* The number observed counts, not the number fitted. */
static void another_number_of_initial_trials(void **state)
{
    (void)state;
    static const struct {
        const char *options;
        size_t initial;
    } cases[] = {{"searcher.initial=1", 1},
                 {"searcher.initial=12", 12},
                 {"searcher.initial=30 searcher.max_fit=8", 30}};
    for (size_t c = 0; c < 3; c++) {
        struct world w;
        open_world(&w, endless_space, "qr", cases[c].options, 3);
        observe_random(&w, cases[c].initial - 1, 1);
        CHECK(is_random(&w), "%s: not random", cases[c].options);
        observe_random(&w, cases[c].initial, 2);
        CHECK(!is_random(&w), "%s: still random", cases[c].options);
        close_world(&w);
    }
}

/* ---- proposals ---- */

static void proposes_the_lowest_draw(void **state)
{
    (void)state;
    static const size_t sizes[] = {5, 12, 32, 33, 34, 60, 100};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (uint64_t seed = 0; seed < 4; seed++)
            for (int conformal = 0; conformal < 2; conformal++)
                for (int finite = 0; finite < 2; finite++) {
                    struct world w;
                    open_world(&w, finite ? small_space : endless_space, conformal ? "cqr" : "qr", "", seed);
                    observe_random(&w, sizes[s], seed);
                    check_proposal(&w, expected_proposal, conformal ? &CQR : &QR, w.searcher.ops->name);
                    close_world(&w);
                }
}

/* The correction that was used can be read: none with 32 observations, gamma of both pairs with 60. */
static void the_model_tells_its_gamma(void **state)
{
    (void)state;
    struct world w;
    struct buf got = {0}, expected = {0};
    double config[PARAMS_MAX];
    open_world(&w, endless_space, "cqr", "", 3);
    w.searcher.ops->describe(w.searcher.self, &got);
    CHECK_TEXT(wni_buf_text(&got), "");
    observe_random(&w, 32, 3);
    CHECK_INT(suggest(&w, config), WN_OK);
    w.searcher.ops->describe(w.searcher.self, &got);
    CHECK_TEXT(wni_buf_text(&got),
               "{\"levels\": [0.2, 0.4, 0.6, 0.8], \"gamma\": [0, 0], \"fitted\": 32, \"held_out\": 0}");
    observe_random(&w, 60, 4);
    CHECK_INT(suggest(&w, config), WN_OK);
    wni_buf_clear(&got);
    w.searcher.ops->describe(w.searcher.self, &got);
    struct rng rng = wni_rng_stream(w.env.seed, w.history.n_trials, STREAM_SEARCH);
    struct quantile_model model = expected_model(&w, &CQR, &rng);
    CHECK(model.shift[3] != 0 && model.shift[2] != 0, "no correction: %g %g", model.shift[3], model.shift[2]);
    wni_buf_puts(&expected, "{\"levels\": [0.2, 0.4, 0.6, 0.8], \"gamma\": [");
    wni_buf_json_double(&expected, model.shift[3]);
    wni_buf_puts(&expected, ", ");
    wni_buf_json_double(&expected, model.shift[2]);
    wni_buf_puts(&expected, "], \"fitted\": 54, \"held_out\": 6}");
    CHECK_TEXT(wni_buf_text(&got), wni_buf_text(&expected));
    wni_quantile_release(&model);
    wni_buf_release(&got);
    wni_buf_release(&expected);
    close_world(&w);
}

/* Every option, checked by what it does to the proposal. */
static void options_do_what_they_say(void **state)
{
    (void)state;
    struct method methods[13];
    for (size_t i = 0; i < 13; i++)
        methods[i] = CQR;
    static const char *const options[] = {"searcher.levels=7",
                                          "searcher.levels=2",
                                          "searcher.trees=3",
                                          "searcher.depth=6",
                                          "searcher.rate=0.5",
                                          "searcher.candidates=17",
                                          "searcher.max_fit=20",
                                          "searcher.duplicates=true",
                                          "searcher.normalize=true",
                                          "searcher.conformal=false",
                                          "searcher.holdout=0.4",
                                          "searcher.threshold=50",
                                          "searcher.threshold=10 searcher.max_fit=30"};
    methods[0].levels = 7;
    methods[1].levels = 2;
    methods[2].trees = 3;
    methods[3].depth = 6;
    methods[4].rate = 0.5;
    methods[5].candidates = 17;
    methods[6].max_fit = 20;
    methods[7].duplicates = true;
    methods[8].normalize = true;
    methods[9].conformal = false;
    methods[10].holdout = 0.4;
    methods[11].threshold = 50;
    methods[12].threshold = 10, methods[12].max_fit = 30;
    for (size_t i = 0; i < 13; i++)
        check_option("cqr", options[i], 45, expected_proposal, &methods[i], &CQR);
}

static void options_are_checked(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "searcher.levels=1",    "searcher.levels=65",    "searcher.depth=0",   "searcher.depth=9",
        "searcher.rate=0",      "searcher.rate=1.5",     "searcher.trees=0",   "searcher.candidates=0",
        "searcher.max_fit=7",   "searcher.max_fit=4097", "searcher.initial=0", "searcher.holdout=0.6",
        "searcher.threshold=1", "searcher.duplicates=7", "searcher.level=4"};
    struct space space;
    small_space(&space);
    struct search_env env = {.space = &space};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct searcher s;
        struct err err = {0};
        CHECK(wni_searcher_open(&s, wni_searcher_find("cqr", NULL), bad[i], &env, &err) == WN_EINVAL,
              "%s was accepted", bad[i]);
        CHECK(err.text[0], "%s: no message", bad[i]);
    }
    struct searcher s;
    CHECK_INT(wni_searcher_open(&s, wni_searcher_find("qr", NULL), "searcher.holdout=0.2", &env, NULL),
              WN_EINVAL);
    wni_space_release(&space);
}

/* Nothing is remembered between suggestions but memory: old questions, other histories, a fresh searcher. */
static void a_proposal_depends_on_the_history_only(void **state)
{
    (void)state;
    struct world w, fresh;
    double first[PARAMS_MAX], again[PARAMS_MAX];
    open_world(&w, endless_space, "cqr", "", 5);
    for (size_t n = 10; n <= 80; n += 14) {
        observe_random(&w, n, n);
        CHECK_INT(suggest(&w, first), WN_OK);
        CHECK_INT(suggest(&w, again), WN_OK);
        check_config(&w, again, first, "again");
        open_world(&fresh, endless_space, "cqr", "", 5);
        struct searcher other = fresh.searcher;
        struct err err = {0};
        CHECK_OK(other.ops->suggest(other.self, &w.history, (uint32_t)w.history.n_trials, again, &err), err);
        check_config(&w, again, first, "fresh");
        close_world(&fresh);
    }
    close_world(&w);
}

static void every_instruction_set_makes_the_same_proposals(void **state)
{
    (void)state;
    unsetenv("WINNOW_SIMD");
    for (enum simd s = SIMD_NONE; s < wni_simd_pick(); s++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            struct world w;
            double best[PARAMS_MAX], other[PARAMS_MAX];
            open_world(&w, endless_space, "cqr", "", seed);
            observe_random(&w, 50 + 20 * seed, seed);
            CHECK_INT(suggest(&w, best), WN_OK);
            setenv("WINNOW_SIMD", wni_simd_name(s), 1);
            CHECK_INT(suggest(&w, other), WN_OK);
            unsetenv("WINNOW_SIMD");
            check_config(&w, other, best, wni_simd_name(s));
            close_world(&w);
        }
}

/* ---- what was asked before ---- */

/* A whole finite space is used up without a repeat, whatever becomes of the trials. */
static void a_finite_space_is_used_up_without_repeats(void **state)
{
    (void)state;
    for (int conformal = 0; conformal < 2; conformal++) {
        struct world w;
        struct rng rng = wni_rng_stream(1, 0, 50);
        double config[PARAMS_MAX];
        open_world(&w, small_space, conformal ? "cqr" : "qr", "searcher.trees=10", 1);
        for (size_t i = 0; i < 120; i++) {
            CHECK_INT(suggest(&w, config), WN_OK);
            CHECK(!wni_history_seen(&w.history, config), "trial %zu repeats a configuration", i);
            uint32_t trial = ask(&w, config);
            if (i % 10 == 3) continue; /* pending for ever */
            report(&w, trial, 1, i % 10 == 6 ? NAN : value_of(&w.space, config, &rng));
            finish(&w, trial, i % 10 == 9 ? WN_FAILED : WN_COMPLETE);
        }
        CHECK_INT(suggest(&w, config), WN_EXHAUSTED);
        close_world(&w);
    }
}

/* Few unseen ones left in a space that is drawn from: the draws find nothing, the enumeration does. */
static void the_last_of_a_space_are_scored_completely(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct world w;
        struct method m = QR;
        struct rng rng = wni_rng_stream(seed, 1, 50);
        m.candidates = 5;
        m.trees = 20;
        open_world(&w, small_space, "qr", "searcher.candidates=5 searcher.trees=20", seed);
        observe_random(&w, 120 - 1 - (size_t)wni_rng_below(&rng, 5), seed);
        check_proposal(&w, expected_proposal, &m, "the last");
        close_world(&w);
    }
}

/* However large the space is, when there are as many candidates. */
static void a_large_space_is_scored_completely_on_demand(void **state)
{
    (void)state;
    struct world w;
    double config[PARAMS_MAX], value;
    open_world(&w, large_space, "qr", "searcher.candidates=1000000 searcher.trees=10 searcher.levels=2", 1);
    struct rng rng = wni_rng_stream(1, 0, 50);
    for (int i = 0; i < 40; i++) { /* only b matters, and only its lowest tenth is good */
        config[0] = check_between(&rng, 0, 999), config[1] = check_between(&rng, 0, 999);
        value = config[1] < 100 ? -1 : 1;
        complete(&w, config, value);
    }
    config[0] = 17, config[1] = 3;
    if (!wni_history_seen(&w.history, config)) complete(&w, config, -1);
    CHECK_INT(suggest(&w, config), WN_OK);
    /* the first of the equally good ones: with all of them there, that is in the first row but for those
     * whose level was unlucky */
    CHECK(config[0] == 0 && config[1] < 100, "proposes %g, %g", config[0], config[1]);
    close_world(&w);
}

/* With duplicates a used-up space is no end. */
static void duplicates_are_proposed_when_allowed(void **state)
{
    (void)state;
    struct world w;
    struct method m = QR;
    m.duplicates = true;
    m.trees = 10;
    open_world(&w, small_space, "qr", "searcher.duplicates=true searcher.trees=10", 1);
    observe_random(&w, 120, 1);
    for (int i = 0; i < 5; i++) {
        double config[PARAMS_MAX];
        check_proposal(&w, expected_proposal, &m, "duplicates");
        CHECK_INT(suggest(&w, config), WN_OK);
        complete(&w, config, 1);
    }
    close_world(&w);
}

/* Failed trials and values that are not finite do not move the model. */
static void failures_are_kept_out_of_the_fit(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct world w;
        struct rng rng = wni_rng_stream(seed, 0, 51);
        open_world(&w, endless_space, "cqr", "", seed);
        observe_random(&w, 40, seed);
        for (int i = 0; i < 12; i++) { /* these would be by far the best */
            static const double values[] = {-1e9, NAN, -INFINITY, INFINITY, -1e9, -1e9};
            static const wn_state states[] = {WN_FAILED,   WN_COMPLETE, WN_COMPLETE,
                                              WN_COMPLETE, WN_TIMEOUT,  WN_STOPPED};
            double config[PARAMS_MAX];
            wni_config_sample(&w.space, &rng, config);
            uint32_t trial = ask(&w, config);
            report(&w, trial, 1, values[i % 6]);
            finish(&w, trial, states[i % 6]);
        }
        check_proposal(&w, expected_proposal, &CQR, "failures");
        static double x[TRIALS_MAX * WIDTH_MAX], y[TRIALS_MAX];
        CHECK_INT(gather(&w, &CQR, &rng, x, y), 40); /* the long way saw the others only */
        close_world(&w);
    }
}

/* Under a scheduler that stops trials, the last value counts, of running ones too. */
static void partial_values_are_observed_when_told_so(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct world w;
        struct rng rng = wni_rng_stream(seed, 0, 51);
        open_world(&w, endless_space, "qr", "", seed);
        w.env.partial = true;
        for (int i = 0; i < 30; i++) {
            double config[PARAMS_MAX];
            wni_config_sample(&w.space, &rng, config);
            uint32_t trial = ask(&w, config);
            if (i % 4 == 3) continue; /* nothing reported yet */
            for (int r = 1; r <= 3; r++)
                report(&w, trial, r, value_of(&w.space, config, &rng) + 10.0 / r);
            if (i % 4 == 1) finish(&w, trial, WN_STOPPED);
        }
        CHECK(!is_random(&w), "seed %d: running trials do not count", (int)seed);
        check_proposal(&w, expected_proposal, &QR, "partial");
        close_world(&w);
    }
}

/* ---- values ---- */

/* Ends both worlds. */
static void propose_the_same(struct world *plain, struct world *other, const char *about)
{
    double a[PARAMS_MAX], b[PARAMS_MAX];
    CHECK_INT(suggest(plain, a), WN_OK);
    CHECK_INT(suggest(other, b), WN_OK);
    check_config(plain, b, a, about);
    close_world(plain);
    close_world(other);
}

static double stretch(int how, double value)
{
    switch (how) {
    case 0:
        return wni_exp(3 * value);
    case 1:
        return 1e6 * value - 5;
    case 2:
        return value * value * value;
    case 3:
        return value < 1 ? value : value * 1e290;
    default:
        return rint(value * 4); /* with ties: not the same ranks, but of another study that is stretched */
    }
}

/* With normalisation only ranks matter. */
static void normalisation_makes_the_scale_irrelevant(void **state)
{
    (void)state;
    for (int how = 0; how < 5; how++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            struct world plain, other;
            struct rng rng = wni_rng_stream(seed, 0, 52);
            open_world(&plain, endless_space, "cqr", "searcher.normalize=true", seed);
            open_world(&other, endless_space, "cqr", "searcher.normalize=true", seed);
            for (int i = 0; i < 50; i++) {
                double config[PARAMS_MAX];
                wni_config_sample(&plain.space, &rng, config);
                double value = value_of(&plain.space, config, &rng);
                if (how == 4) value = stretch(4, value);
                complete(&plain, config, value);
                complete(&other, config, how == 4 ? wni_exp(value) : stretch(how, value));
            }
            propose_the_same(&plain, &other, "stretched");
        }
}

/* The unit of the values does not matter, up to where differences of two are no doubles any more. */
static void the_largest_unit_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct world plain, other;
        struct rng rng = wni_rng_stream(seed, 0, 56);
        double config[PARAMS_MAX];
        open_world(&plain, endless_space, "cqr", "", seed);
        open_world(&other, endless_space, "cqr", "", seed);
        for (int i = 0; i < 45; i++) {
            wni_config_sample(&plain.space, &rng, config);
            double value = check_uniform(&rng, -1.9, 1.9);
            complete(&plain, config, value);
            complete(&other, config, ldexp(value, 1023));
        }
        propose_the_same(&plain, &other, "times 2^1023");
    }
}

/* Values that differ by more than a double can hold come to an end, and to a proposal. */
static void extreme_values_are_survived(void **state)
{
    (void)state;
    static const double extremes[] = {1.7e308, -1.7e308, 5e-324, 0, 1e308, -1e308};
    for (uint64_t seed = 0; seed < 20; seed++)
        for (int normalize = 0; normalize < 2; normalize++) {
            struct world w;
            struct rng rng = wni_rng_stream(seed, 0, 53);
            double config[PARAMS_MAX];
            open_world(&w, endless_space, "cqr", normalize ? "searcher.normalize=true" : "", seed);
            for (int i = 0; i < 45; i++) {
                wni_config_sample(&w.space, &rng, config);
                complete(&w, config, extremes[wni_rng_below(&rng, 6)]);
            }
            CHECK_INT(suggest(&w, config), WN_OK);
            for (size_t i = 0; i < w.space.n; i++)
                check_in_space(&w.space.params[i], config[i]);
            close_world(&w);
        }
}

static void constant_values_are_survived(void **state)
{
    (void)state;
    struct world w;
    struct rng rng = wni_rng_stream(1, 0, 54);
    double config[PARAMS_MAX];
    open_world(&w, endless_space, "cqr", "", 1);
    for (int i = 0; i < 50; i++) {
        wni_config_sample(&w.space, &rng, config);
        complete(&w, config, 0.25);
    }
    check_proposal(&w, expected_proposal, &CQR, "constant");
    close_world(&w);
}

static void nothing_to_choose_is_random(void **state)
{
    (void)state;
    struct world w;
    double config[PARAMS_MAX];
    open_world(&w, constant_space, "cqr", "searcher.initial=1", 1);
    CHECK_INT(suggest(&w, config), WN_OK);
    complete(&w, config, 1);
    CHECK_INT(suggest(&w, config), WN_EXHAUSTED);
    close_world(&w);
}

/* ---- does it help? ---- */

static double best_after(const char *searcher, size_t trials, uint64_t seed)
{
    struct world w;
    struct rng rng = wni_rng_stream(seed, 0, 55);
    double config[PARAMS_MAX], best = INFINITY;
    open_world(&w, endless_space, searcher, "", seed);
    while (w.history.n_trials < trials) {
        CHECK_INT(suggest(&w, config), WN_OK);
        double value = value_of(&w.space, config, &rng);
        best = fmin(best, value);
        complete(&w, config, value);
    }
    close_world(&w);
    return best;
}

/* On an easy function both beat random search in most of 12 studies of 60 trials. */
static void beats_random_search(void **state)
{
    (void)state;
    int wins[2] = {0};
    for (uint64_t seed = 0; seed < 12; seed++) {
        double random = best_after("random", 60, seed);
        wins[0] += best_after("qr", 60, seed) < random;
        wins[1] += best_after("cqr", 60, seed) < random;
    }
    CHECK(wins[0] >= 8 && wins[1] >= 8, "qr wins %d of 12, cqr %d", wins[0], wins[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_until_five_are_observed),
        cmocka_unit_test(another_number_of_initial_trials),
        cmocka_unit_test(proposes_the_lowest_draw),
        cmocka_unit_test(the_model_tells_its_gamma),
        cmocka_unit_test(options_do_what_they_say),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(a_proposal_depends_on_the_history_only),
        cmocka_unit_test(every_instruction_set_makes_the_same_proposals),
        cmocka_unit_test(a_finite_space_is_used_up_without_repeats),
        cmocka_unit_test(the_last_of_a_space_are_scored_completely),
        cmocka_unit_test(a_large_space_is_scored_completely_on_demand),
        cmocka_unit_test(duplicates_are_proposed_when_allowed),
        cmocka_unit_test(failures_are_kept_out_of_the_fit),
        cmocka_unit_test(partial_values_are_observed_when_told_so),
        cmocka_unit_test(normalisation_makes_the_scale_irrelevant),
        cmocka_unit_test(the_largest_unit_changes_nothing),
        cmocka_unit_test(extreme_values_are_survived),
        cmocka_unit_test(constant_values_are_survived),
        cmocka_unit_test(nothing_to_choose_is_random),
        cmocka_unit_test(beats_random_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
