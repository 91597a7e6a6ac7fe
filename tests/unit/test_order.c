/* test_order.c -- num/order.h against slow obvious versions and against NumPy, scikit-learn and SciPy.
 *
 * The source is included to reach the heapsort that only hostile input triggers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <float.h>

#include "num/order.c"
#include "num/rng.h"
#include "tests/golden.h"

enum { MAX = 3000 };

static void check_double(const char *what, double got, double want)
{
    if (!golden_close_to(got, want, 0.0)) fail_msg("%s: got %.17g, want %.17g", what, got, want);
}

static void check_size(const char *what, size_t got, size_t want)
{
    if (got != want) fail_msg("%s: got %zu, want %zu", what, got, want);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

enum shape { RANDOM, TIES, ASCENDING, DESCENDING, ORGAN_PIPE, SAWTOOTH, CONSTANT, SPECIALS, N_SHAPES };

static double element(struct rng *rng, enum shape shape, size_t i, size_t n)
{
    static const double specials[] = {NAN, -NAN, INFINITY, -INFINITY,  0.0,    -0.0,
                                      1.0, -1.0, DBL_MIN,  -0x1p-1074, DBL_MAX};
    switch (shape) {
    case RANDOM:
        return wni_rng_normal(rng);
    case TIES:
        return (double)wni_rng_below(rng, 4);
    case ASCENDING:
        return (double)i;
    case DESCENDING:
        return -(double)i;
    case ORGAN_PIPE:
        return (double)(i < n / 2 ? i : n - i);
    case SAWTOOTH:
        return (double)(i % 7);
    case CONSTANT:
        return 3.0;
    case SPECIALS:
        return specials[wni_rng_below(rng, 11)];
    default:
        return 0.0;
    }
}

static void fill(double *x, size_t n, enum shape shape, uint64_t seed)
{
    struct rng rng = wni_rng_stream(seed, n, shape);
    for (size_t i = 0; i < n; i++)
        x[i] = element(&rng, shape, i, n);
}

/* ---- the slow obvious versions --------------------------------------------------------------- */

static int slow_compare(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    if (isnan(a) || isnan(b)) return (isnan(a) != 0) - (isnan(b) != 0);
    if (a != b) return a < b ? -1 : 1;
    return (signbit(b) != 0) - (signbit(a) != 0);
}

static void check_sorted_copy(const double *got, const double *input, size_t n, const char *what)
{
    static double want[MAX];
    memcpy(want, input, n * sizeof *want);
    qsort(want, n, sizeof *want, slow_compare);
    for (size_t i = 0; i < n; i++)
        if (slow_compare(&got[i], &want[i]) != 0)
            fail_msg("%s, n %zu: place %zu holds %a, want %a", what, n, i, got[i], want[i]);
}

static const size_t sizes[] = {0,  1,  2,  3,   4,   5,   15,  16,  17,   23, 24,
                               25, 26, 33, 100, 255, 256, 257, 258, 1000, MAX};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* ---- sorting --------------------------------------------------------------------------------- */

static void sorts_every_shape(void **state)
{
    (void)state;
    static double x[MAX], input[MAX];
    for (int s = 0; s < N_SIZES; s++)
        for (enum shape shape = 0; shape < N_SHAPES; shape++) {
            fill(input, sizes[s], shape, 1);
            memcpy(x, input, sizeof x);
            wni_sort(x, sizes[s]);
            check_sorted_copy(x, input, sizes[s], "wni_sort");
        }
}

static void sorts_all_small_permutations(void **state)
{
    (void)state;
    for (int n = 1; n <= 7; n++) {
        int codes = 1;
        for (int i = 0; i < n; i++)
            codes *= 4;
        for (int code = 0; code < codes; code++) { /* every word over 4 letters */
            double x[7], input[7];
            for (int i = 0, c = code; i < n; i++, c /= 4)
                input[i] = c % 4;
            memcpy(x, input, sizeof x);
            wni_sort(x, (size_t)n);
            check_sorted_copy(x, input, (size_t)n, "wni_sort");
        }
    }
}

/* Without any budget for bad splits the sort is a heapsort; with a little, a mixture. */
static void falls_back_to_heapsort(void **state)
{
    (void)state;
    static double x[MAX], input[MAX];
    for (int s = 0; s < N_SIZES; s++)
        for (enum shape shape = 0; shape < SPECIALS; shape++)
            for (int budget = 0; budget < 4; budget++) {
                fill(input, sizes[s], shape, 2);
                memcpy(x, input, sizeof x);
                intro_sort(x, sizes[s], budget);
                check_sorted_copy(x, input, sizes[s], "intro_sort");
            }
}

static void partitions_into_two_nonempty_sides(void **state)
{
    (void)state;
    static double x[MAX];
    for (size_t n = 3; n < 600; n++)
        for (enum shape shape = 0; shape < SPECIALS; shape++) {
            fill(x, n, shape, 3);
            size_t p = partition(x, n);
            if (p == 0 || p >= n) fail_msg("n %zu: split at %zu", n, p);
            double highest = -INFINITY, lowest = INFINITY;
            for (size_t i = 0; i < n; i++) {
                if (i < p)
                    highest = fmax(highest, x[i]);
                else
                    lowest = fmin(lowest, x[i]);
            }
            if (!(highest <= lowest)) fail_msg("n %zu: %g before the split, %g after", n, highest, lowest);
        }
}

static void selects_every_rank(void **state)
{
    (void)state;
    static double x[MAX], input[MAX], sorted[MAX];
    for (int s = 1; s < N_SIZES; s++)
        for (enum shape shape = 0; shape < N_SHAPES; shape++) {
            size_t n = sizes[s], step = n / 40 + 1;
            fill(input, n, shape, 4);
            memcpy(sorted, input, sizeof sorted);
            wni_sort(sorted, n);
            for (size_t k = 0; k < n; k += step) {
                memcpy(x, input, sizeof x);
                double got = wni_select(x, n, k);
                if (slow_compare(&got, &sorted[k]) != 0 || slow_compare(&x[k], &sorted[k]) != 0)
                    fail_msg("n %zu, k %zu: got %a, x[k] %a, want %a", n, k, got, x[k], sorted[k]);
                for (size_t i = 0; i < n; i++) {
                    int c = slow_compare(&x[i], &x[k]);
                    if ((i < k && c > 0) || (i > k && c < 0))
                        fail_msg("n %zu, k %zu: %a at %zu", n, k, x[i], i);
                }
                wni_sort(x, n); /* nothing was lost */
                check_sorted_copy(x, input, n, "after wni_select");
            }
        }
}

static void argsort_is_stable(void **state)
{
    (void)state;
    static double x[MAX];
    static uint32_t index[MAX], work[MAX];
    for (int s = 0; s < N_SIZES; s++)
        for (enum shape shape = 0; shape < N_SHAPES; shape++) {
            size_t n = sizes[s];
            fill(x, n, shape, 5);
            wni_argsort(x, n, index, work);
            static bool seen[MAX];
            memset(seen, 0, sizeof seen);
            for (size_t i = 0; i < n; i++) {
                if (index[i] >= n || seen[index[i]]) fail_msg("n %zu: place %zu holds %u", n, i, index[i]);
                seen[index[i]] = true;
                if (i == 0) continue;
                double a = x[index[i - 1]], b = x[index[i]];
                bool same = a == b || (isnan(a) && isnan(b)), ascending = a < b || (!isnan(a) && isnan(b));
                if (!(ascending || (same && index[i - 1] < index[i])))
                    fail_msg("n %zu: %g (index %u) before %g (index %u)", n, a, index[i - 1], b, index[i]);
            }
        }
}

/* ---- quantiles ------------------------------------------------------------------------------- */

static void agrees_with_numpy_and_scikit_learn(void **state)
{
    (void)state;
    double sorted[256], ranks[256];
    uint32_t work[512];
    size_t n = 0;
    struct golden g = golden_open("tests/golden/num_order.txt");
    while (golden_next(&g)) {
        if (golden_is(&g, "values") || golden_is(&g, "sample")) {
            n = g.n;
            assert_true(n <= 256);
            memcpy(sorted, g.v, n * sizeof *sorted);
        } else if (golden_is(&g, "linear")) {
            golden_near(&g, wni_quantile_linear(sorted, n, g.v[0]), g.v[1], 0.0);
        } else if (golden_is(&g, "lower")) {
            golden_near(&g, wni_quantile_lower(sorted, n, g.v[0]), g.v[1], 0.0);
        } else if (golden_is(&g, "ranks")) {
            wni_ranks_average(sorted, n, ranks, work);
            for (size_t i = 0; i < n; i++)
                golden_near(&g, ranks[i], g.v[i], 0.0);
        } else if (golden_is(&g, "moments")) {
            golden_near(&g, wni_mean(sorted, n), g.v[0], 3e-16);
            golden_near(&g, wni_variance(sorted, n, 0), g.v[1], 1e-14);
            golden_near(&g, wni_variance(sorted, n, 1), g.v[2], 1e-14);
        } else {
            fail_msg("unknown tag '%s'", g.tag);
        }
    }
    assert_true(g.records > 300);
    golden_close(&g);
}

static void linear_quantile_is_monotonic_and_inside(void **state)
{
    (void)state;
    static double x[100];
    for (enum shape shape = 0; shape < SPECIALS; shape++) {
        fill(x, 100, shape, 6);
        wni_sort(x, 100);
        double before = x[0];
        for (int i = 0; i <= 10000; i++) {
            double v = wni_quantile_linear(x, 100, i / 10000.0);
            if (!(v >= before && v <= x[99])) fail_msg("level %g: %a after %a", i / 10000.0, v, before);
            before = v;
        }
        check_double("level 1", before, x[99]);
    }
}

static void linear_quantile_of_infinite_values(void **state)
{
    (void)state;
    const double x[] = {-INFINITY, 1.0, 2.0, INFINITY, INFINITY}, wide[] = {-DBL_MAX, DBL_MAX};
    check_double("least", wni_quantile_linear(x, 5, 0.0), -INFINITY);
    check_double("below the first number", wni_quantile_linear(x, 5, 0.1), -INFINITY);
    check_double("on a number", wni_quantile_linear(x, 5, 0.25), 1.0);
    check_double("between numbers", wni_quantile_linear(x, 5, 0.375), 1.5);
    check_double("on the last number", wni_quantile_linear(x, 5, 0.5), 2.0);
    check_double("just above", wni_quantile_linear(x, 5, 0.55), INFINITY);
    check_double("nearer to infinity", wni_quantile_linear(x, 5, 0.7), INFINITY);
    check_double("between infinities", wni_quantile_linear(x, 5, 0.9), INFINITY);
    check_double("largest", wni_quantile_linear(x, 5, 1.0), INFINITY);
    check_double("difference overflows", wni_quantile_linear(wide, 2, 0.5), 0.0);
    check_double("any NaN", wni_quantile_linear((double[]){1.0, NAN}, 2, 0.0), NAN);
    check_double("both infinities", wni_quantile_linear((double[]){-INFINITY, INFINITY}, 2, 0.5), NAN);
}

/* By its definition: count the values at or below each candidate. */
static void lower_quantile_is_the_first_to_reach_its_weight(void **state)
{
    (void)state;
    double x[64];
    for (size_t n = 1; n <= 64; n++) {
        for (size_t i = 0; i < n; i++)
            x[i] = (double)i;
        for (int step = 0; step <= 64; step++) { /* sixty-fourths times n are exact */
            double q = step / 64.0;
            size_t i = 0;
            while ((double)(i + 1) < q * (double)n)
                i++;
            check_double("lower quantile", wni_quantile_lower(x, n, q), (double)i);
            check_size("its index", wni_quantile_lower_index(n, q), i);
        }
    }
}

/* ceil((n+1)(1 - 2j/m)) in integers, whatever way the level was computed in floating point. */
static void conformal_rank_is_exact(void **state)
{
    (void)state;
    for (size_t m = 2; m <= 40; m++)
        for (size_t j = 1; 2 * j <= m; j++)
            for (size_t n = 0; n <= 400; n++) {
                size_t product = (n + 1) * (m - 2 * j), want = (product + m - 1) / m;
                if (want == 0) want = 1;
                double alpha = (double)j / (double)m;
                check_size("1 - 2 alpha", wni_conformal_rank(n, 1.0 - 2.0 * alpha), want);
                check_size("(1 - alpha) - alpha", wni_conformal_rank(n, (1.0 - alpha) - alpha), want);
                check_size("quotient", wni_conformal_rank(n, (double)(m - 2 * j) / (double)m), want);
            }
}

static void conformal_rank_examples(void **state)
{
    (void)state;
    double drifting = 0.1 + 0.2 + 0.3; /* 0.6000000000000001 */
    assert_true((9 + 1) * drifting > 6.0);
    check_size("10 * 0.6", wni_conformal_rank(9, drifting), 6);
    double third = 1.0 - 2.0 * (1.0 / 3.0);
    assert_true(18 * third > 6.0);
    check_size("18 / 3", wni_conformal_rank(17, third), 6);
    check_size("10 * 0.61", wni_conformal_rank(9, 0.61), 7);
    check_size("certainty needs one more score than there are", wni_conformal_rank(9, 1.0), 10);
    check_size("no scores", wni_conformal_rank(0, 0.9), 1);
    check_size("level 0", wni_conformal_rank(9, 0.0), 1);
    check_size("just above a rank", wni_conformal_rank(99, 0.9 + 1e-9), 91);
    check_size("many scores", wni_conformal_rank(999999, 0.9), 900000);
}

/* ---- ranks and moments ----------------------------------------------------------------------- */

static void ranks_match_counting(void **state)
{
    (void)state;
    static double x[257], ranks[257];
    static uint32_t work[2 * 257];
    for (enum shape shape = 0; shape < N_SHAPES; shape++)
        for (size_t n = 0; n <= 257; n += 1 + n / 8) {
            fill(x, n, shape, 7);
            wni_ranks_average(x, n, ranks, work);
            double sum = 0.0;
            for (size_t i = 0; i < n; i++) {
                size_t below = 0, equal = 0;
                for (size_t j = 0; j < n; j++) {
                    below += x[j] < x[i] || (isnan(x[i]) && !isnan(x[j]));
                    equal += x[j] == x[i] || (isnan(x[i]) && isnan(x[j]));
                }
                check_double("rank", ranks[i], (double)below + ((double)equal + 1.0) / 2.0);
                sum += ranks[i];
            }
            check_double("sum of ranks", sum, (double)n * ((double)n + 1.0) / 2.0);
        }
}

static void moments_survive_cancellation(void **state)
{
    (void)state;
    const double big[] = {1e16, 1.0, -1e16, 1.0}; /* a plain sum loses both ones */
    check_double("mean", wni_mean(big, 4), 0.5);
    double x[1000];
    for (int i = 0; i < 1000; i++)
        x[i] = 1e9 + i % 2; /* sum of squares minus square of sum would give noise */
    check_double("mean of two values", wni_mean(x, 1000), 1e9 + 0.5);
    check_double("variance of two values", wni_variance(x, 1000, 0), 0.25);
    check_double("sample variance", wni_variance(x, 2, 1), 0.5);
    check_double("mean that rounds", wni_variance((double[]){1e16, 1e16 + 2.0}, 2, 0), 1.0);
    for (int i = 0; i < 1000; i++)
        x[i] = 0.1;
    check_double("mean of a constant", wni_mean(x, 1000), 0.1);
    check_double("variance of a constant", wni_variance(x, 1000, 1), 0.0);
}

static void moments_of_nothing_and_of_infinities(void **state)
{
    (void)state;
    const double x[] = {1.0, INFINITY, 2.0}, both[] = {-INFINITY, INFINITY}, missing[] = {1.0, NAN};
    check_double("mean of nothing", wni_mean(NULL, 0), NAN);
    check_double("variance of nothing", wni_variance(NULL, 0, 0), NAN);
    check_double("sample variance of one", wni_variance(x, 1, 1), NAN);
    check_double("variance of one", wni_variance(x, 1, 0), 0.0);
    check_double("mean with inf", wni_mean(x, 3), INFINITY);
    check_double("mean of both infinities", wni_mean(both, 2), NAN);
    check_double("mean with NaN", wni_mean(missing, 2), NAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_every_shape),
        cmocka_unit_test(sorts_all_small_permutations),
        cmocka_unit_test(falls_back_to_heapsort),
        cmocka_unit_test(partitions_into_two_nonempty_sides),
        cmocka_unit_test(selects_every_rank),
        cmocka_unit_test(argsort_is_stable),
        cmocka_unit_test(agrees_with_numpy_and_scikit_learn),
        cmocka_unit_test(linear_quantile_is_monotonic_and_inside),
        cmocka_unit_test(linear_quantile_of_infinite_values),
        cmocka_unit_test(lower_quantile_is_the_first_to_reach_its_weight),
        cmocka_unit_test(conformal_rank_is_exact),
        cmocka_unit_test(conformal_rank_examples),
        cmocka_unit_test(ranks_match_counting),
        cmocka_unit_test(moments_survive_cancellation),
        cmocka_unit_test(moments_of_nothing_and_of_infinities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
