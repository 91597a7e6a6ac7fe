/* test_calibration.c -- the score of a surrogate on a task, against the same thing done step by step.
 *
 * The black box is made here: 90 configurations, two repeats each, many equal values, some diverged.  The
 * slow version draws as calibration.c says it does, makes targets by counting, and fits with the public
 * functions of src/surrogate. */
#include "tests/unit/boost_world.h"

#include "bench/calibration.h"
#include "core/streams.h"
#include "num/portable.h"
#include "num/stats.h"
#include "surrogate/quantile.h"

enum { ROWS = 90, REPEATS = 2, TRAIN = 40, LEVELS = 5 };

/* ---- the black box ---- */

static double value_at(size_t row, size_t repeat)
{
    if (row % 17 == 3) return NAN;                                      /* diverged */
    if (row % 23 == 5) return repeat ? NAN : 1.5;                       /* one of the repeats did */
    if (row % 3 == 0) return 0.25;                                      /* many equal ones at the low end */
    return 0.5 + (double)(row * row % 31) / 10 + 0.01 * (double)repeat; /* and pairs elsewhere */
}

static size_t opened;

static wn_status open_curve(const struct blackbox *box, const double *config, uint64_t seed, void *curve,
                            struct err *err)
{
    opened++;
    (void)box;
    (void)err;
    *(double *)curve = value_at((size_t)config[0], (size_t)seed);
    return WN_OK;
}

static void read_curve(const struct blackbox *box, void *curve, size_t level, double *value, double *seconds)
{
    CHECK_INT(level, box->n_levels - 1);
    *value = *(double *)curve;
    *seconds = 1;
}

static void row_config(const struct blackbox *box, size_t row, double *config)
{
    (void)box;
    config[0] = (double)row;
}

static const struct blackbox_ops ops = {
    .open_curve = open_curve, .read_curve = read_curve, .row_config = row_config};

static void make_box(struct blackbox *box, wn_goal goal)
{
    *box = (struct blackbox){.ops = &ops,
                             .name = "made",
                             .goal = goal,
                             .n_levels = 2,
                             .n_seeds = REPEATS,
                             .curve_size = sizeof(double),
                             .n_rows = ROWS};
    wni_space_init(&box->space);
    check_add(&box->space, (struct param_decl){.name = "x", .kind = PARAM_INT, .min = 0, .max = ROWS - 1});
}

/* ---- the slow version ---- */

struct slow {
    size_t n;
    double x[ROWS], y[ROWS];
};

static void slow_draw(struct slow *s, const struct surrogate_case *c, struct rng *rng)
{
    uint32_t order[ROWS];
    wni_rng_permutation(rng, order, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t repeat = wni_rng_below(rng, REPEATS);
        double first = value_at(order[i], 0), second = value_at(order[i], 1), y = value_at(order[i], repeat);
        if (c->target == TARGET_AUTHORS) y = isnan(second) ? first : (first + second) / 2;
        if (isnan(y)) continue;
        s->x[s->n] = order[i];
        s->y[s->n++] = y;
    }
}

static void slow_scores(struct slow *s, const struct surrogate_case *c, wn_goal goal)
{
    double y[ROWS], n = (double)s->n, cut = 1 / (4 * pow(n, 0.25) * sqrt(M_PI * log(n)));
    for (size_t i = 0; i < s->n; i++) {
        double below = 0, equal = 0;
        for (size_t k = 0; k < s->n; k++) {
            below +=
                goal == WN_MAXIMIZE && c->target == TARGET_SCORES ? s->y[k] > s->y[i] : s->y[k] < s->y[i];
            equal += s->y[k] == s->y[i];
        }
        double share =
            c->target == TARGET_SCORES ? (below + equal / 2) / n : fmin(fmax(below / n, cut), 1 - cut);
        y[i] = wni_normal_quantile(share);
    }
    memcpy(s->y, y, sizeof y);
}

static void slow_logarithms(struct slow *s)
{
    double sum = 0, squares = 0, n = (double)s->n;
    for (size_t i = 0; i < s->n; i++)
        sum += log(s->y[i]);
    for (size_t i = 0; i < s->n; i++)
        squares += pow(log(s->y[i]) - sum / n, 2);
    for (size_t i = 0; i < s->n; i++)
        s->y[i] = (log(s->y[i]) - sum / n) / sqrt(squares / n);
}

static void slow_score(const struct slow *s, const struct surrogate_case *c, struct rng *rng,
                       struct surrogate_score *out)
{
    static struct quantile_model m;
    struct quantile_options options = {
        .boost = {.trees = 100, .depth = 3, .rate = 0.1, .min_leaf = 1, .row_share = 1, .column_share = 1},
        .levels = LEVELS,
        .conformal = c->model == SURROGATE_CQR,
        .holdout = 0.1,
        .threshold = 32};
    double q[LEVELS][ROWS], squares = 0, sizes = 0, gaps = 0, gap_squares = 0;
    size_t left = s->n - TRAIN;
    uint8_t codes[4 * BINS_BLOCK];
    CHECK_INT(wni_quantile_fit(&m, s->x, s->y, TRAIN, 1, &options, rng), WN_OK);
    wni_bins_encode(&m.bins, s->x + TRAIN, left, codes, sizeof codes);
    for (size_t j = 0; j < LEVELS; j++) {
        double covered = 0;
        wni_quantile_predict(&m, j, codes, sizeof codes, left, q[j]);
        for (size_t i = 0; i < left; i++)
            covered += s->y[TRAIN + i] < q[j][i];
        gaps += fabs(covered / (double)left - (double)(j + 1) / 6);
        gap_squares += pow(covered / (double)left - (double)(j + 1) / 6, 2);
    }
    for (size_t i = 0; i < left; i++) {
        double error = (q[0][i] + q[1][i] + q[2][i] + q[3][i] + q[4][i]) / 5 - s->y[TRAIN + i];
        squares += error * error;
        sizes += fabs(error);
    }
    *out = (struct surrogate_score){.rmse = sqrt(squares / (double)left),
                                    .mae = sizes / (double)left,
                                    .calibration = sqrt(gap_squares),
                                    .mean_gap = gaps / 5,
                                    .n_test = left};
    wni_quantile_release(&m);
}

/* ---- tests ---- */

static void check_case(const struct blackbox *box, const struct surrogate_case *c)
{
    struct slow s = {0};
    struct surrogate_score got = {0}, expected;
    struct err err = {0};
    struct rng rng = wni_rng_stream(c->seed, 0, STREAM_SEARCH);
    slow_draw(&s, c, &rng);
    if (c->target == TARGET_LOG)
        slow_logarithms(&s);
    else
        slow_scores(&s, c, box->goal);
    slow_score(&s, c, &rng, &expected);
    CHECK_OK(wni_surrogate_score(box, c, NULL, &got, &err), err);
    CHECK_INT(got.n_test, expected.n_test);
    CHECK_NEAR(got.rmse, expected.rmse, 1e-9);
    CHECK_NEAR(got.mae, expected.mae, 1e-9);
    CHECK_NEAR(got.calibration, expected.calibration, 1e-9);
    CHECK_NEAR(got.mean_gap, expected.mean_gap, 1e-9);
}

static void agrees_with_the_slow_version(void **state)
{
    (void)state;
    static const enum surrogate_target targets[] = {TARGET_SCORES, TARGET_AUTHORS, TARGET_LOG};
    for (int goal = 0; goal < 2; goal++) {
        struct blackbox box;
        make_box(&box, goal ? WN_MAXIMIZE : WN_MINIMIZE);
        for (size_t t = 0; t < 3; t++)
            for (uint64_t seed = 0; seed < 10; seed++)
                check_case(&box, &(struct surrogate_case){.model = seed % 2 ? SURROGATE_CQR : SURROGATE_QR,
                                                          .target = targets[t],
                                                          .n = TRAIN,
                                                          .seed = seed});
        wni_space_release(&box.space);
    }
}

/* What holds of any errors and gaps: the mean size is below the root mean square, the root of the sum of
 * squares between the mean and the sum. */
static void absolute_errors_are_smaller(void **state)
{
    (void)state;
    struct blackbox box;
    struct surrogate_score s;
    struct err err = {0};
    make_box(&box, WN_MINIMIZE);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct surrogate_case c = {.model = SURROGATE_GP, .target = TARGET_SCORES, .n = 16, .seed = seed};
        CHECK_OK(wni_surrogate_score(&box, &c, NULL, &s, &err), err);
        CHECK(s.mae > 0 && s.mae < s.rmse, "%g %g", s.mae, s.rmse);
        CHECK(s.mean_gap <= s.calibration && s.calibration <= 5 * s.mean_gap, "%g %g", s.mean_gap,
              s.calibration);
    }
    wni_space_release(&box.space);
}

/* Once with draws that are shared, whatever was asked before, and once alone: as rows of a table, and drawn
 * from the space. */
static void shared_draws_change_nothing(void **state)
{
    (void)state;
    static const size_t sizes[] = {16, 40, 8};
    for (int fresh = 0; fresh < 2; fresh++) {
        struct blackbox box;
        struct surrogate_draws draws = {0};
        struct err err = {0};
        size_t opened_alone = 0, opened_shared = 0;
        make_box(&box, WN_MINIMIZE);
        if (fresh) box.n_rows = 0;
        for (size_t i = 0; i < 6; i++) {
            struct surrogate_case c = {.model = i % 2 ? SURROGATE_GP : SURROGATE_CQR,
                                       .target = TARGET_AUTHORS,
                                       .n = sizes[i / 2],
                                       .seed = 5};
            struct surrogate_score alone, shared;
            opened = 0;
            CHECK_OK(wni_surrogate_score(&box, &c, NULL, &alone, &err), err);
            opened_alone += opened;
            opened = 0;
            CHECK_OK(wni_surrogate_score(&box, &c, &draws, &shared, &err), err);
            opened_shared += opened;
            CHECK_INT(shared.n_test, alone.n_test);
            CHECK_DOUBLE(shared.rmse, alone.rmse);
            CHECK_DOUBLE(shared.calibration, alone.calibration);
        }
        CHECK(opened_shared * 5 < opened_alone, "%zu curves instead of %zu", opened_shared, opened_alone);
        wni_surrogate_draws_release(&draws);
        wni_space_release(&box.space);
    }
}

static void too_few_are_told(void **state)
{
    (void)state;
    struct blackbox box;
    struct surrogate_score s;
    struct err err = {0};
    make_box(&box, WN_MINIMIZE);
    struct surrogate_case c = {.model = SURROGATE_QR, .n = 80};
    CHECK_INT(wni_surrogate_score(&box, &c, NULL, &s, &err), WN_EINVAL);
    CHECK(strstr(err.text, "too few to train on 80"), "%s", err.text);
    c.n = 1;
    CHECK_INT(wni_surrogate_score(&box, &c, NULL, &s, &err), WN_EINVAL);
    wni_space_release(&box.space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_slow_version),
        cmocka_unit_test(absolute_errors_are_smaller),
        cmocka_unit_test(shared_draws_change_nothing),
        cmocka_unit_test(too_few_are_told),
    };
    return cmocka_run_group_tests_name("calibration", tests, NULL, NULL);
}
