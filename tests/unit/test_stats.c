/* test_stats.c -- num/stats.h against 60-digit values, SciPy, full enumeration and the definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "num/order.h"
#include "num/portable.h"
#include "num/rng.h"
#include "num/stats.h"
#include "tests/golden.h"

static void check_near(const char *what, double got, double want, double tol)
{
    if (!golden_close_to(got, want, tol))
        fail_msg("%s: got %.17g, want %.17g, relative difference %.2g, allowed %.2g", what, got, want,
                 fabs(got - want) / fabs(want), tol);
}

/* ---- distributions --------------------------------------------------------------------------- */

static void distributions_agree_with_reference(void **state)
{
    (void)state;
    struct golden g = golden_open("tests/golden/num_normal.txt");
    while (golden_next(&g)) {
        if (golden_is(&g, "pdf"))
            golden_near(&g, wni_normal_pdf(g.v[0]), g.v[1], 5e-16);
        else if (golden_is(&g, "cdf"))
            golden_near(&g, wni_normal_cdf(g.v[0]), g.v[1], 1e-15);
        else if (golden_is(&g, "quantile"))
            golden_near(&g, wni_normal_quantile(g.v[0]), g.v[1], 1e-15);
        /* SciPy rounds its argument to x/sqrt(2) first, which costs it x^2 ulp in the tails. */
        else if (golden_is(&g, "scipy_cdf"))
            golden_near(&g, wni_normal_cdf(g.v[0]), g.v[1], 5e-13);
        else if (golden_is(&g, "scipy_quantile"))
            golden_near(&g, wni_normal_quantile(g.v[0]), g.v[1], 5e-15);
        else if (golden_is(&g, "gamma_q"))
            golden_near(&g, wni_gamma_q(g.v[0], g.v[1]), g.v[2], 1e-13);
        else if (golden_is(&g, "scipy_gamma_q")) /* SciPy is off by 5e-13 at a = 1000 */
            golden_near(&g, wni_gamma_q(g.v[0], g.v[1]), g.v[2], 1e-12);
        else if (golden_is(&g, "chi2_sf"))
            golden_near(&g, wni_chi2_sf(g.v[0], g.v[1]), g.v[2], 1e-13);
        else
            fail_msg("unknown tag '%s'", g.tag);
    }
    assert_true(g.records > 400);
    golden_close(&g);
}

static void quantile_inverts_the_distribution(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(1, 0, 0);
    for (int i = 0; i < 20000; i++) {
        double p = wni_exp(-700.0 * wni_rng_uniform(&rng) * wni_rng_uniform(&rng) * wni_rng_uniform(&rng));
        double x = wni_normal_quantile(p);
        /* an error e in x moves the tail by about |x| e relative to itself */
        check_near("cdf(quantile(p))", wni_normal_cdf(x), p, 2e-15 * (1.0 + x * x));
    }
}

static void quantile_is_antisymmetric_and_increasing(void **state)
{
    (void)state;
    double before = -INFINITY;
    for (int i = 1; i < 4096; i++) {
        double p = i / 4096.0, x = wni_normal_quantile(p);
        check_near("quantile(1 - p)", wni_normal_quantile(1.0 - p), -x, 0.0);
        if (!(x > before)) fail_msg("quantile(%g) = %.17g does not exceed %.17g", p, x, before);
        before = x;
    }
    check_near("middle", wni_normal_quantile(0.5), 0.0, 0.0);
    check_near("at 0", wni_normal_quantile(0.0), -INFINITY, 0.0);
    check_near("at 1", wni_normal_quantile(1.0), INFINITY, 0.0);
    check_near("below 0", wni_normal_quantile(-1e-300), NAN, 0.0);
    check_near("above 1", wni_normal_quantile(1.0 + 1e-15), NAN, 0.0);
    check_near("of NaN", wni_normal_quantile(NAN), NAN, 0.0);
    assert_true(isfinite(wni_normal_quantile(0x1p-1074)));
}

static void normal_cdf_at_its_ends(void **state)
{
    (void)state;
    check_near("middle", wni_normal_cdf(0.0), 0.5, 0.0);
    check_near("far left", wni_normal_cdf(-INFINITY), 0.0, 0.0);
    check_near("far right", wni_normal_cdf(INFINITY), 1.0, 0.0);
    check_near("underflow", wni_normal_cdf(-40.0), 0.0, 0.0);
    check_near("of NaN", wni_normal_cdf(NAN), NAN, 0.0);
    check_near("density far out", wni_normal_pdf(-INFINITY), 0.0, 0.0);
    double x = -1.0; /* the two formulas meet */
    check_near("seam", wni_normal_cdf(nextafter(x, -2.0)), wni_normal_cdf(x), 2e-15);
}

static void gamma_q_special_cases(void **state)
{
    (void)state;
    check_near("at 0", wni_gamma_q(2.5, 0.0), 1.0, 0.0);
    check_near("below 0", wni_gamma_q(2.5, -1e-12), 1.0, 0.0);
    check_near("at inf", wni_gamma_q(2.5, INFINITY), 0.0, 0.0);
    check_near("of NaN", wni_gamma_q(2.5, NAN), NAN, 0.0);
    for (double x = 0.125; x < 600.0; x *= 1.5) {
        check_near("a = 1 is the exponential tail", wni_gamma_q(1.0, x), wni_exp(-x), 2e-13);
        check_near("a = 1/2 is erfc", wni_gamma_q(0.5, x), wni_erfc(sqrt(x)), 2e-13);
        double q = 0.0, term = wni_exp(-x); /* integer a: a Poisson sum */
        for (int k = 0; k < 20; k++) {
            q += term;
            term *= x / (k + 1);
        }
        check_near("a = 20 is a Poisson sum", wni_gamma_q(20.0, x), q, 2e-13);
    }
}

/* ---- Wilcoxon -------------------------------------------------------------------------------- */

static struct wilcoxon wilcoxon(const double *d, size_t n, enum wilcoxon_mode mode)
{
    size_t room = wni_wilcoxon_work(n, mode);
    double *work =
        malloc((room + 1) * sizeof *work); /* exactly what was asked for, so that ASan sees any excess */
    assert_non_null(work);
    struct wilcoxon w;
    wni_wilcoxon(d, n, mode, work + 1, &w);
    free(work);
    return w;
}

static void check_wilcoxon(const struct golden *g, const double *d, size_t n, enum wilcoxon_mode mode)
{
    struct wilcoxon w = wilcoxon(d, n, mode);
    golden_near(g, w.statistic, g->v[0], 0.0);
    golden_near(g, w.p, g->v[1], 1e-13);
}

static void wilcoxon_agrees_with_scipy(void **state)
{
    (void)state;
    double d[1000];
    size_t n = 0;
    int modes[3] = {0};
    struct golden g = golden_open("tests/golden/num_tests.txt");
    while (golden_next(&g)) {
        if (golden_is(&g, "differences")) {
            n = g.n;
            assert_true(n <= 1000);
            memcpy(d, g.v, n * sizeof *d);
        } else if (golden_is(&g, "auto")) {
            check_wilcoxon(&g, d, n, WILCOXON_AUTO);
            modes[0]++;
        } else if (golden_is(&g, "exact")) {
            check_wilcoxon(&g, d, n, WILCOXON_EXACT);
            modes[1]++;
        } else if (golden_is(&g, "approx")) {
            check_wilcoxon(&g, d, n, WILCOXON_APPROX);
            modes[2]++;
        }
    }
    golden_close(&g);
    assert_true(modes[0] > 15 && modes[1] > 10 && modes[2] > 20);
}

/* All 2^n sign patterns; ties and zeros included. */
static double enumerate(const double *d, size_t n)
{
    double size[12], ranks[12];
    uint32_t work[24];
    size_t m = 0;
    double w = 0.0;
    for (size_t i = 0; i < n; i++)
        if (d[i] != 0.0) size[m++] = fabs(d[i]);
    wni_ranks_average(size, m, ranks, work);
    for (size_t i = 0, j = 0; i < n; i++) {
        if (d[i] == 0.0) continue;
        if (d[i] > 0.0) w += ranks[j];
        j++;
    }
    size_t low = 0, high = 0;
    for (uint32_t signs = 0; signs < 1u << m; signs++) {
        double v = 0.0;
        for (size_t i = 0; i < m; i++)
            if (signs >> i & 1) v += ranks[i];
        low += v <= w;
        high += v >= w;
    }
    return fmin(1.0, 2.0 * (double)(low < high ? low : high) / (double)(1u << m));
}

static void wilcoxon_exact_equals_enumeration(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(2, 0, 0);
    for (int round = 0; round < 300; round++) {
        double d[12];
        size_t n = 1 + (size_t)wni_rng_below(&rng, 12);
        for (size_t i = 0; i < n; i++)
            d[i] =
                round % 2 ? wni_rng_normal(&rng) : (double)wni_rng_below(&rng, 9) - 3.0; /* ties and zeros */
        struct wilcoxon w = wilcoxon(d, n, WILCOXON_EXACT);
        if (w.n > 0) check_near("exact p", w.p, enumerate(d, n), 1e-15);
        check_near("w_plus + w_minus", w.w_plus + w.w_minus, 0.5 * (double)w.n * ((double)w.n + 1.0), 0.0);
    }
}

static void wilcoxon_chooses_its_mode(void **state)
{
    (void)state;
    double d[51];
    for (int i = 0; i < 51; i++)
        d[i] = (i % 3 ? 1.0 : -1.0) * (i + 1);
    assert_true(wilcoxon(d, 50, WILCOXON_AUTO).exact);
    assert_false(wilcoxon(d, 51, WILCOXON_AUTO).exact);
    assert_false(wilcoxon(d, 50, WILCOXON_APPROX).exact);
    assert_true(wilcoxon(d, 51, WILCOXON_EXACT).exact);
    d[3] = d[4]; /* a tie */
    assert_false(wilcoxon(d, 50, WILCOXON_AUTO).exact);
    d[3] = 0.0;
    assert_false(wilcoxon(d, 50, WILCOXON_AUTO).exact);
    assert_int_equal(wilcoxon(d, 50, WILCOXON_AUTO).n, 49);
}

static void wilcoxon_is_symmetric(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(3, 0, 0);
    double d[80], reversed[80];
    for (size_t n = 1; n <= 80; n++) {
        for (size_t i = 0; i < n; i++) {
            d[i] = (double)wni_rng_below(&rng, 100) - 40.0;
            reversed[n - 1 - i] = -2.0 * d[i];
        }
        struct wilcoxon a = wilcoxon(d, n, WILCOXON_AUTO), b = wilcoxon(reversed, n, WILCOXON_AUTO);
        check_near("statistic", b.statistic, a.statistic, 0.0);
        check_near("p", b.p, a.p, 0.0);
        check_near("signs swapped", b.w_plus, a.w_minus, 0.0);
    }
}

static void wilcoxon_without_information(void **state)
{
    (void)state;
    const double zeros[3] = {0.0, -0.0, 0.0}, broken[3] = {1.0, NAN, 2.0},
                 infinite[3] = {INFINITY, -1.0, 2.0};
    for (enum wilcoxon_mode mode = WILCOXON_AUTO; mode <= WILCOXON_APPROX; mode++) {
        check_near("no differences", wilcoxon(NULL, 0, mode).p, 1.0, 0.0);
        check_near("only zeros", wilcoxon(zeros, 3, mode).p, 1.0, 0.0);
        assert_int_equal(wilcoxon(zeros, 3, mode).n, 0);
        check_near("NaN", wilcoxon(broken, 3, mode).p, NAN, 0.0);
        check_near("infinity is the largest", wilcoxon(infinite, 3, mode).w_plus, 5.0, 0.0);
    }
}

/* Exact and approximate answers meet where both are good. */
static void wilcoxon_approximation_is_close(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(4, 0, 0);
    double d[60];
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 60; i++)
            d[i] = wni_rng_normal(&rng) + 0.15;
        double exact = wilcoxon(d, 60, WILCOXON_EXACT).p, approximate = wilcoxon(d, 60, WILCOXON_APPROX).p;
        if (!(fabs(exact - approximate) < 0.01)) fail_msg("exact %g, approximate %g", exact, approximate);
    }
}

/* ---- Holm ------------------------------------------------------------------------------------ */

static void holm_agrees_with_reference(void **state)
{
    (void)state;
    double p[64], adjusted[64];
    uint32_t work[128];
    size_t n = 0;
    int seen = 0;
    struct golden g = golden_open("tests/golden/num_tests.txt");
    while (golden_next(&g)) {
        if (golden_is(&g, "p")) {
            n = g.n;
            assert_true(n <= 64);
            memcpy(p, g.v, n * sizeof *p);
        } else if (golden_is(&g, "holm")) {
            wni_holm(p, n, adjusted, work);
            for (size_t i = 0; i < n; i++)
                golden_near(&g, adjusted[i], g.v[i], 3e-16);
            seen++;
        }
    }
    golden_close(&g);
    assert_true(seen >= 20);
}

/* Adjusted values reject exactly what the step-down procedure rejects. */
static void holm_rejects_as_the_procedure_does(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(5, 0, 0);
    for (int round = 0; round < 500; round++) {
        double p[20], sorted[20], adjusted[20], alpha = 0.05;
        uint32_t work[40];
        size_t n = 1 + (size_t)wni_rng_below(&rng, 20), rejected = 0;
        for (size_t i = 0; i < n; i++)
            sorted[i] = p[i] = 0.1 * wni_rng_uniform(&rng) * wni_rng_uniform(&rng);
        wni_holm(p, n, adjusted, work);
        wni_sort(sorted, n);
        while (rejected < n && sorted[rejected] * (double)(n - rejected) <= alpha)
            rejected++;
        for (size_t i = 0; i < n; i++) {
            bool want = rejected > 0 && p[i] <= sorted[rejected - 1];
            if ((adjusted[i] <= alpha) != want)
                fail_msg("p %g of %zu: adjusted %g, reject %d", p[i], n, adjusted[i], want);
        }
    }
}

static void holm_small_cases(void **state)
{
    (void)state;
    double adjusted[5];
    uint32_t work[10];
    wni_holm((double[]){0.05, 0.01, 0.04, 0.02, 0.03}, 5, adjusted, work);
    const double want[] = {0.09, 0.05, 0.09, 0.08, 0.09};
    for (int i = 0; i < 5; i++)
        check_near("textbook", adjusted[i], want[i], 1e-15);
    wni_holm((double[]){0.9, NAN, 0.01}, 3, adjusted, work);
    check_near("capped", adjusted[0], 1.0, 0.0);
    check_near("NaN stays", adjusted[1], NAN, 0.0);
    check_near("NaN is counted", adjusted[2], 0.03, 1e-15);
    wni_holm(NULL, 0, adjusted, work);
}

/* ---- Friedman -------------------------------------------------------------------------------- */

static void friedman_agrees_with_scipy(void **state)
{
    (void)state;
    double table[1000], work[60];
    size_t blocks = 0, treatments = 0;
    int seen = 0;
    struct golden g = golden_open("tests/golden/num_tests.txt");
    while (golden_next(&g)) {
        if (golden_is(&g, "table")) {
            blocks = (size_t)g.v[0];
            treatments = (size_t)g.v[1];
            assert_true(g.n == 2 + blocks * treatments && g.n <= 1002 && treatments <= 30);
            memcpy(table, g.v + 2, blocks * treatments * sizeof *table);
        } else if (golden_is(&g, "friedman")) {
            struct friedman f;
            wni_friedman(table, blocks, treatments, work, &f);
            golden_near(&g, f.statistic, g.v[0], 1e-13);
            golden_near(&g, f.p, g.v[1], 1e-12);
            for (size_t j = 0; j < treatments; j++)
                golden_near(&g, work[j], g.v[2 + j], 1e-15);
            seen++;
        }
    }
    golden_close(&g);
    assert_true(seen >= 9);
}

static void friedman_sees_ranks_only(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(6, 0, 0);
    double table[15 * 6], work[12];
    for (int i = 0; i < 15 * 6; i++)
        table[i] = wni_rng_normal(&rng);
    struct friedman before, after;
    wni_friedman(table, 15, 6, work, &before);
    for (int i = 0; i < 15 * 6; i++)
        table[i] = wni_exp(table[i]) * (1 + i / 6); /* increasing within each block */
    wni_friedman(table, 15, 6, work, &after);
    check_near("statistic", after.statistic, before.statistic, 0.0);
    check_near("p", after.p, before.p, 0.0);
}

static void friedman_extremes(void **state)
{
    (void)state;
    double table[12], work[6];
    struct friedman f;
    for (int i = 0; i < 12; i++)
        table[i] = i % 3; /* every block agrees: the largest statistic, n (k-1) */
    wni_friedman(table, 4, 3, work, &f);
    check_near("full agreement", f.statistic, 8.0, 1e-14);
    check_near("its p, exp(-4)", f.p, wni_exp(-4.0), 1e-14);
    for (int j = 0; j < 3; j++)
        check_near("mean rank", work[j], j + 1.0, 0.0);
    for (int i = 0; i < 12; i++)
        table[i] = 1.0;
    wni_friedman(table, 4, 3, work, &f);
    check_near("all tied", f.statistic, 0.0, 0.0);
    check_near("all tied, p", f.p, 1.0, 0.0);
    check_near("all tied, mean rank", work[0], 2.0, 0.0);
    table[5] = NAN;
    wni_friedman(table, 4, 3, work, &f);
    check_near("NaN", f.statistic, NAN, 0.0);
    check_near("NaN, p", f.p, NAN, 0.0);
    check_near("NaN, mean rank", work[0], NAN, 0.0);
}

/* Under the null the p-values of each test are not too often small. */
static void tests_keep_their_level(void **state)
{
    (void)state;
    enum { ROUNDS = 2000 };
    struct rng rng = wni_rng_stream(7, 0, 0);
    int wilcoxon_rejects = 0, friedman_rejects = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double d[20], table[20 * 5], work[10];
        for (int i = 0; i < 20; i++)
            d[i] = wni_rng_normal(&rng);
        for (int i = 0; i < 100; i++)
            table[i] = wni_rng_uniform(&rng);
        struct friedman f;
        wni_friedman(table, 20, 5, work, &f);
        wilcoxon_rejects += wilcoxon(d, 20, WILCOXON_AUTO).p <= 0.05;
        friedman_rejects += f.p <= 0.05;
    }
    /* 5 % of 2000 is 100, standard deviation 10; both tests are slightly conservative at these sizes */
    if (wilcoxon_rejects < 50 || wilcoxon_rejects > 140)
        fail_msg("Wilcoxon rejects %d of 2000", wilcoxon_rejects);
    if (friedman_rejects < 50 || friedman_rejects > 140)
        fail_msg("Friedman rejects %d of 2000", friedman_rejects);
}

/* Symmetric, blind to monotone maps, ties shared. */
static void normal_scores_depend_on_the_order_only(void **state)
{
    (void)state;
    double x[5] = {3, -1, 3, 10, 2}, y[5], ranks[5];
    uint32_t work[10];
    for (int i = 0; i < 5; i++)
        y[i] = x[i] * x[i] * x[i] + 7;
    wni_normal_scores(x, 5, ranks, work);
    wni_normal_scores(y, 5, ranks, work);
    for (int i = 0; i < 5; i++)
        assert_true(x[i] == y[i]);
    assert_true(x[0] == x[2] && x[1] < x[4] && x[4] < x[0] && x[0] < x[3]);
    assert_true(x[1] == wni_normal_quantile(0.1) && x[3] == wni_normal_quantile(0.9));
    assert_true(x[0] == wni_normal_quantile(0.6)); /* ranks 3 and 4 share 3.5 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normal_scores_depend_on_the_order_only),
        cmocka_unit_test(distributions_agree_with_reference),
        cmocka_unit_test(quantile_inverts_the_distribution),
        cmocka_unit_test(quantile_is_antisymmetric_and_increasing),
        cmocka_unit_test(normal_cdf_at_its_ends),
        cmocka_unit_test(gamma_q_special_cases),
        cmocka_unit_test(wilcoxon_agrees_with_scipy),
        cmocka_unit_test(wilcoxon_exact_equals_enumeration),
        cmocka_unit_test(wilcoxon_chooses_its_mode),
        cmocka_unit_test(wilcoxon_is_symmetric),
        cmocka_unit_test(wilcoxon_without_information),
        cmocka_unit_test(wilcoxon_approximation_is_close),
        cmocka_unit_test(holm_agrees_with_reference),
        cmocka_unit_test(holm_rejects_as_the_procedure_does),
        cmocka_unit_test(holm_small_cases),
        cmocka_unit_test(friedman_agrees_with_scipy),
        cmocka_unit_test(friedman_sees_ranks_only),
        cmocka_unit_test(friedman_extremes),
        cmocka_unit_test(tests_keep_their_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
