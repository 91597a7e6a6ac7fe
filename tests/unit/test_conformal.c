/* test_conformal.c -- the correction of a pair of quantiles: exact small cases, and what it promises about
 * coverage.
 *
 * The promise: on exchangeable rows with continuous scores the corrected interval of level a covers a new row
 * with probability k / (|V| + 1), k = ceil((|V| + 1)(1 - 2a)), which lies between 1 - 2a and 1 - 2a + 1/(|V|
 * + 1); where k exceeds |V| the largest score gives |V| / (|V| + 1).  Repetitions are independent, so the
 * mean over R of them is off by more than four standard errors once in 16,000. */
#include "tests/unit/boost_world.h"

#include "num/order.h"
#include "surrogate/conformal.h"
#include "surrogate/quantile.h"

enum { ROWS_MAX = 400 };

/* ---- exact cases ---- */

static double correct(const double *low, const double *high, const double *y, size_t n, double coverage)
{
    double scores[ROWS_MAX];
    return wni_conformal_correction(low, high, y, n, coverage, scores);
}

static void small_cases(void **state)
{
    (void)state;
    /* scores: 1 above, 2 below, inside by 0.5 (twice the nearer end), inside by 1 */
    const double low[] = {0, 0, 0, 0}, high[] = {2, 2, 2, 2}, y[] = {3, -2, 1.5, 1};
    CHECK_DOUBLE(correct(low, high, y, 4, 0.2), -1); /* rank 1 of 4 */
    CHECK_DOUBLE(correct(low, high, y, 4, 0.4), -0.5);
    CHECK_DOUBLE(correct(low, high, y, 4, 0.6), 1);
    CHECK_DOUBLE(correct(low, high, y, 4, 0.61), 2);
    CHECK_DOUBLE(correct(low, high, y, 4, 0.8), 2);
    CHECK_DOUBLE(correct(low, high, y, 4, 0.99), 2); /* too few rows for that: the largest */
    CHECK_DOUBLE(correct(low, high, y, 1, 0.5), 1);
    CHECK_DOUBLE(correct(low, high, y, 1, 0.01), 1);
}

/* Crossed quantiles are nothing special: both ends move. */
static void crossed_intervals(void **state)
{
    (void)state;
    const double low[] = {2, 2}, high[] = {0, 0}, y[] = {1, 5};
    CHECK_DOUBLE(correct(low, high, y, 2, 1.0 / 3), 1);
    CHECK_DOUBLE(correct(low, high, y, 2, 2.0 / 3), 5);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Levels are fractions, so the rank can be had in integers: level j of m covers (m + 1 - 2j) / (m + 1). */
static void agrees_with_sorting(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(1, 0, 1);
    for (int round = 0; round < 3000; round++) {
        size_t n = (size_t)check_between(&rng, 1, 60), m = (size_t)check_between(&rng, 2, 64),
               j = (size_t)check_between(&rng, 1, (int)m / 2);
        double low[60], high[60], y[60], scores[60];
        for (size_t i = 0; i < n; i++) {
            low[i] = check_between(&rng, -3, 3), high[i] = low[i] + check_between(&rng, -1, 4),
            y[i] = check_between(&rng, -5, 5);
            scores[i] = low[i] - y[i] > y[i] - high[i] ? low[i] - y[i] : y[i] - high[i];
        }
        qsort(scores, n, sizeof *scores, compare_doubles);
        size_t rank = ((n + 1) * (m + 1 - 2 * j) + m) / (m + 1);
        double level = (double)j / (double)(m + 1), got = correct(low, high, y, n, 1 - 2 * level);
        CHECK(got == scores[rank > n ? n - 1 : rank - 1],
              "n %zu, level %zu of %zu: %g, expected rank %zu: %g", n, j, m, got, rank,
              scores[rank > n ? n - 1 : rank - 1]);
    }
}

/* ---- coverage ---- */

enum law { LAW_GAUSSIAN, LAW_STUDENT_2, LAW_HETEROSKEDASTIC, N_LAWS };
static const char *const law_names[] = {"Gaussian", "Student t2", "heteroskedastic"};

static double noise(struct rng *rng, enum law law, double x)
{
    double z = wni_rng_normal(rng);
    if (law == LAW_STUDENT_2)
        return z / sqrt(-wni_log(1 - wni_rng_uniform(rng))); /* chi-square with 2 degrees: -2 log u */
    return law == LAW_HETEROSKEDASTIC ? (0.05 + 2 * x * x) * z : z;
}

static void draw_rows(struct rng *rng, enum law law, double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[2 * i] = wni_rng_uniform(rng);
        x[2 * i + 1] = check_between(rng, 0, 2);
        y[i] = 3 * x[2 * i] + x[2 * i + 1] + noise(rng, law, x[2 * i]);
    }
}

struct tally {
    double sum, squares;
    size_t n;
};

static void count(struct tally *t, double value)
{
    t->sum += value;
    t->squares += value * value;
    t->n++;
}

/* Between the bounds, and at the very rank, within four standard errors. */
static void check_coverage(const struct tally *t, size_t held_out, size_t j, size_t m, const char *about)
{
    double n = (double)t->n, mean = t->sum / n, error = sqrt(fmax(0, t->squares / n - mean * mean) / (n - 1));
    double v = (double)held_out, promised = 1 - 2 * (double)(j + 1) / (double)(m + 1);
    size_t rank = ((held_out + 1) * (m - 1 - 2 * j) + m) / (m + 1);
    double exact = (rank > held_out ? v : (double)rank) / (v + 1);
    CHECK(error > 0 && error < 0.02, "%s: standard error %g", about, error);
    CHECK(fabs(mean - exact) <= 4 * error, "%s, |V| %zu, pair %zu of %zu: covers %g +- %g, expected %g",
          about, held_out, j, m, mean, error, exact);
    if (rank > held_out) return;
    CHECK(mean >= promised - 4 * error && mean <= promised + 1 / (v + 1) + 4 * error,
          "%s, |V| %zu, pair %zu of %zu: covers %g +- %g, promised %g .. %g", about, held_out, j, m, mean,
          error, promised, promised + 1 / (v + 1));
}

enum { REPETITIONS = 2000, NEW_ROWS = 16 };

static void repeat_fits(size_t n, int m, enum law law, const struct boost_options *boost)
{
    struct quantile_options o = {
        .boost = *boost, .levels = m, .conformal = true, .holdout = 0.1, .threshold = 32};
    struct quantile_model model = {0};
    struct arena arena = {0};
    struct tally tallies[QUANTILE_LEVELS_MAX / 2] = {0};
    double x[2 * ROWS_MAX], y[ROWS_MAX], low[NEW_ROWS], high[NEW_ROWS];
    size_t held_out = 0;
    for (uint64_t r = 0; r < REPETITIONS; r++) {
        struct rng rng = wni_rng_stream(r, (uint64_t)n * 100 + (uint64_t)m, law);
        draw_rows(&rng, law, x, y, n + NEW_ROWS);
        CHECK_INT(wni_quantile_fit(&model, x, y, n, 2, &o, &rng), WN_OK);
        held_out = model.n_held_out;
        wni_arena_reset(&arena);
        uint8_t *codes = table_codes(&model.bins, x + 2 * n, NEW_ROWS, &arena);
        for (size_t j = 0; j < (size_t)m / 2; j++) {
            double covered = 0;
            wni_quantile_predict(&model, j, codes, table_stride(NEW_ROWS), NEW_ROWS, low);
            wni_quantile_predict(&model, (size_t)m - 1 - j, codes, table_stride(NEW_ROWS), NEW_ROWS, high);
            for (size_t i = 0; i < NEW_ROWS; i++)
                covered += low[i] <= y[n + i] && y[n + i] <= high[i];
            count(&tallies[j], covered / NEW_ROWS);
        }
    }
    for (size_t j = 0; j < (size_t)m / 2; j++)
        check_coverage(&tallies[j], held_out, j, (size_t)m, law_names[law]);
    wni_quantile_release(&model);
    wni_arena_release(&arena);
}

static void fitted_intervals_cover_what_they_promise(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        int m;
    } cases[] = {{33, 2}, {40, 4}, {75, 5}, {100, 8}, {200, 4}};
    static const struct boost_options boost = {
        .trees = 6, .depth = 2, .rate = 0.3, .min_leaf = 1, .row_share = 1, .column_share = 1};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (enum law law = 0; law < N_LAWS; law++)
            repeat_fits(cases[c].n, cases[c].m, law, &boost);
}

/* A model that has learnt its rows by heart: its intervals are empty until they are corrected. */
static void overfitted_intervals_cover_what_they_promise(void **state)
{
    (void)state;
    static const struct boost_options boost = {
        .trees = 20, .depth = 6, .rate = 1, .min_leaf = 1, .row_share = 1, .column_share = 1};
    repeat_fits(60, 4, LAW_GAUSSIAN, &boost);
}

/* Any model will do: here one interval for all rows, with many more repetitions and every size of V. */
static void a_fixed_model_covers_what_it_promises(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    for (size_t v = 1; v <= 60; v = v < 8 ? v + 1 : v + 13)
        for (size_t m = 2; m <= 10; m += 4)
            for (size_t j = 0; j < m / 2; j++) {
                struct rng rng = wni_rng_stream(v, m, (uint32_t)j);
                struct tally t = {0};
                double low[60], high[60], y[61];
                for (int r = 0; r < MANY; r++) {
                    for (size_t i = 0; i < v; i++)
                        low[i] = -0.3, high[i] = 0.8;
                    for (size_t i = 0; i <= v; i++)
                        y[i] = wni_rng_normal(&rng);
                    double gamma = correct(low, high, y, v, 1 - 2 * (double)(j + 1) / (double)(m + 1));
                    count(&t, -0.3 - gamma <= y[v] && y[v] <= 0.8 + gamma);
                }
                check_coverage(&t, v, j, m, "fixed model");
            }
}

/* ---- direction ---- */

/* Intervals of half-width w around the truth, with standard normal noise: too wide ones shrink, too narrow
 * ones grow, and both end up at the width that covers. */
static void moves_the_ends_in_the_right_direction(void **state)
{
    (void)state;
    static const double widths[] = {0, 0.1, 0.5, 2, 5, 100};
    static const double coverages[] = {0.2, 0.6, 0.8};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t c = 0; c < 3; c++) {
            struct rng rng = wni_rng_stream(w, c, 1);
            double low[ROWS_MAX], high[ROWS_MAX], y[ROWS_MAX];
            for (size_t i = 0; i < ROWS_MAX; i++) {
                double truth = check_uniform(&rng, -10, 10);
                low[i] = truth - widths[w], high[i] = truth + widths[w], y[i] = truth + wni_rng_normal(&rng);
            }
            double gamma = correct(low, high, y, ROWS_MAX, coverages[c]);
            double right = (const double[]){0.2533, 0.8416, 1.2816}[c]; /* P(|z| <= this) is the coverage */
            CHECK((gamma > 0) == (widths[w] < right), "half-width %g, right is %g: gamma %g", widths[w],
                  right, gamma);
            CHECK_NEAR(widths[w] + gamma, right, 0.25);
        }
}

/* The same through a fit: trees that repeat their training rows are too sure of themselves, on average over
 * data sets. */
static void overfitted_trees_are_widened(void **state)
{
    (void)state;
    struct quantile_options o = {
        .boost = {.trees = 20, .depth = 8, .rate = 1, .min_leaf = 1, .row_share = 1, .column_share = 1},
        .levels = 4,
        .conformal = true,
        .holdout = 0.1,
        .threshold = 32};
    struct quantile_model model = {0};
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 5);
        double x[2 * 200], y[200];
        draw_rows(&rng, LAW_GAUSSIAN, x, y, 200);
        CHECK_INT(wni_quantile_fit(&model, x, y, 200, 2, &o, &rng), WN_OK);
        CHECK(wni_quantile_gamma(&model, 0) > 0.3, "gamma %g", wni_quantile_gamma(&model, 0));
    }
    wni_quantile_release(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_cases),
        cmocka_unit_test(crossed_intervals),
        cmocka_unit_test(agrees_with_sorting),
        cmocka_unit_test(fitted_intervals_cover_what_they_promise),
        cmocka_unit_test(overfitted_intervals_cover_what_they_promise),
        cmocka_unit_test(a_fixed_model_covers_what_it_promises),
        cmocka_unit_test(moves_the_ends_in_the_right_direction),
        cmocka_unit_test(overfitted_trees_are_widened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
