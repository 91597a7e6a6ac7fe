/* test_sched_rungs.c -- the cut of a rung against sorting everything each time, rung levels, bracket sizes,
 * registry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "num/rng.h"
#include "sched/rungs.h"
#include "sched/sched.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 400 };

/* ---- the slow versions ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* numpy.quantile(values, share), written from its documentation; limits where that has inf - inf or 0 * inf.
 */
static double slow_quantile(const double *values, size_t n, double share)
{
    double *sorted = malloc(n * sizeof *sorted);
    assert_non_null(sorted);
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    double at = share * (double)(n - 1), t = at - floor(at);
    size_t i = (size_t)at;
    double a = sorted[i], b = sorted[i + 1 < n ? i + 1 : i];
    free(sorted);
    if (t == 0 || a == b) return a;
    if (isinf(b)) return INFINITY;
    return t >= 0.5 ? b - (b - a) * (1 - t) : a + (b - a) * t;
}

static bool slow_is_among_best(const double *values, size_t n, size_t entry, double eta)
{
    size_t better = 0;
    for (size_t i = 0; i < n; i++)
        better += values[i] < values[entry] || (values[i] == values[entry] && i < entry);
    return better < (size_t)floor((double)n / eta);
}

/* ---- quantile rung ---- */

static void add(struct quantile_rung *r, double value)
{
    assert_int_equal(wni_quantile_rung_reserve(r, NULL), WN_OK);
    wni_quantile_rung_add(r, value);
}

static double random_value(struct rng *rng, int kind)
{
    switch (kind) {
    case 0:
        return wni_rng_normal(rng);
    case 1:
        return (double)wni_rng_below(rng, 4); /* many ties */
    case 2:
        return wni_rng_below(rng, 3) ? wni_rng_normal(rng) : INFINITY; /* many failures */
    case 3:
        return wni_rng_below(rng, 10) ? INFINITY : (double)wni_rng_below(rng, 3); /* hardly anything else */
    default:
        return wni_rng_below(rng, 2) ? 0.0 : -0.0;
    }
}

static void check_cuts(double share, int kind, uint64_t seed)
{
    struct rng rng = wni_rng_stream(seed, 0, 1);
    struct quantile_rung r;
    double values[MANY];
    wni_quantile_rung_init(&r, share);
    for (size_t n = 1; n <= MANY; n++) {
        add(&r, values[n - 1] = random_value(&rng, kind));
        double cut = wni_quantile_rung_cut(&r), expected = slow_quantile(values, n, share);
        assert_int_equal(wni_quantile_rung_count(&r), n);
        if (!(cut == expected))
            fail_msg("share %g, kind %d, n %zu: %.17g, expected %.17g", share, kind, n, cut, expected);
    }
    wni_quantile_rung_release(&r);
}

static void the_cut_is_the_quantile(void **state)
{
    (void)state;
    static const double shares[] = {1.0 / 3, 0.54,       0.81,  0.405, 0.5, 0.25,
                                    0.1,     1.0 / 1000, 0.999, 0,     1,   0.7071067811865476};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        for (int kind = 0; kind < 5; kind++)
            for (uint64_t seed = 0; seed < 5; seed++)
                check_cuts(shares[i], kind, seed);
}

static void sorted_input_is_no_trouble(void **state)
{
    (void)state;
    for (int direction = -1; direction <= 1; direction += 2) {
        struct quantile_rung r;
        double values[MANY];
        wni_quantile_rung_init(&r, 1.0 / 3);
        for (size_t n = 1; n <= MANY; n++) {
            add(&r, values[n - 1] = direction * (double)n);
            assert_true(wni_quantile_rung_cut(&r) == slow_quantile(values, n, 1.0 / 3));
        }
        wni_quantile_rung_release(&r);
    }
}

/* numpy 1.24.2: np.quantile([0.3, 0.1, 0.7, 0.2, 0.9, 0.4, 0.8][:n], q). */
static void agrees_with_numpy(void **state)
{
    (void)state;
    static const double values[] = {0.3, 0.1, 0.7, 0.2, 0.9, 0.4, 0.8};
    static const double third[] = {0.3, 0.16666666666666666, 0.23333333333333334,
                                   0.2, 0.23333333333333334, 0.26666666666666666,
                                   0.3},
                        last[] = {0.3,
                                  0.20800000000000002,
                                  0.332,
                                  0.262,
                                  0.36400000000000005,
                                  0.37000000000000005,
                                  0.4720000000000001};
    struct quantile_rung a, b;
    wni_quantile_rung_init(&a, 1.0 / 3);
    wni_quantile_rung_init(&b, 0.54);
    for (size_t i = 0; i < 7; i++) {
        add(&a, values[i]);
        add(&b, values[i]);
        if (wni_quantile_rung_cut(&a) != third[i] || wni_quantile_rung_cut(&b) != last[i])
            fail_msg("n %zu: %.17g and %.17g, numpy %.17g and %.17g", i + 1, wni_quantile_rung_cut(&a),
                     wni_quantile_rung_cut(&b), third[i], last[i]);
    }
    wni_quantile_rung_release(&a);
    wni_quantile_rung_release(&b);
}

static void infinity_counts_only_with_weight(void **state)
{
    (void)state;
    struct quantile_rung r;
    wni_quantile_rung_init(&r, 0.5);
    add(&r, 1);
    add(&r, INFINITY);
    assert_true(wni_quantile_rung_cut(&r) == INFINITY); /* halfway to infinity */
    add(&r, INFINITY);
    assert_true(wni_quantile_rung_cut(&r) == INFINITY); /* the middle one of 1 inf inf */
    add(&r, 2);
    assert_true(wni_quantile_rung_cut(&r) == INFINITY); /* between 2 and inf */
    add(&r, 3);
    assert_true(wni_quantile_rung_cut(&r) == 3); /* 1 2 [3] inf inf: the neighbour has weight 0 */
    wni_quantile_rung_release(&r);
}

static void huge_values_do_not_overflow(void **state)
{
    (void)state;
    struct quantile_rung r;
    wni_quantile_rung_init(&r, 0.5);
    add(&r, -1.7e308);
    add(&r, 1.7e308);
    assert_true(wni_quantile_rung_cut(&r) == 0);
    wni_quantile_rung_release(&r);
}

/* Quadratic insertion would take hours. */
static void a_million_values(void **state)
{
    (void)state;
    enum { N = 1000000 };
    struct rng rng = wni_rng_stream(7, 0, 1);
    struct quantile_rung r;
    wni_quantile_rung_init(&r, 1.0 / 3);
    for (int i = 0; i < N; i++)
        add(&r, wni_rng_uniform(&rng));
    double cut = wni_quantile_rung_cut(&r);
    /* Six standard errors of a quantile: 6 sqrt(p (1-p) / n). */
    if (fabs(cut - 1.0 / 3) > 0.003) fail_msg("cut %.6f, expected 1/3", cut);
    assert_int_equal(wni_quantile_rung_count(&r), N);
    wni_quantile_rung_release(&r);
}

/* ---- promotion rung ---- */

enum { RUNNING, PAUSED, GONE };

static uint32_t slow_best(const double *values, const int *states, size_t n, double eta)
{
    uint32_t best = TRIAL_NONE;
    for (uint32_t i = 0; i < n; i++)
        if (states[i] == PAUSED && (best == TRIAL_NONE || values[i] < values[best])) best = i;
    return best != TRIAL_NONE && slow_is_among_best(values, n, best, eta) ? best : TRIAL_NONE;
}

static void check_promotions(double eta, int kind, uint64_t seed)
{
    struct rng rng = wni_rng_stream(seed, 1, 1);
    struct promotion_rung r;
    double values[MANY];
    int states[MANY];
    size_t n = 0, promoted = 0;
    wni_promotion_rung_init(&r, eta);
    while (n < MANY) {
        uint32_t any = n ? (uint32_t)wni_rng_below(&rng, n) : 0, best;
        switch (wni_rng_below(&rng, 4)) {
        case 0: /* arrives; entry i is trial 1000 + i */
            assert_int_equal(wni_promotion_rung_reserve(&r, NULL), WN_OK);
            values[n] = random_value(&rng, kind);
            states[n] = isinf(values[n]) ? GONE : RUNNING;
            uint32_t trial = isinf(values[n]) ? TRIAL_NONE : 1000 + (uint32_t)n;
            assert_int_equal(wni_promotion_rung_add(&r, values[n], trial), n);
            n++;
            break;
        case 1:
            if (!n || states[any] != RUNNING) continue;
            wni_promotion_rung_wait(&r, any);
            states[any] = PAUSED;
            break;
        case 2: /* promoted */
            best = n ? slow_best(values, states, n, eta) : TRIAL_NONE;
            if (best == TRIAL_NONE) continue;
            wni_promotion_rung_leave(&r, best);
            states[best] = GONE;
            promoted++;
            break;
        default: /* cancelled, or taken by another worker that knew less */
            if (!n || states[any] == GONE || wni_rng_below(&rng, 8)) continue;
            wni_promotion_rung_leave(&r, any);
            states[any] = GONE;
        }
        best = slow_best(values, states, n, eta);
        uint32_t expected = best == TRIAL_NONE ? TRIAL_NONE : 1000 + best, got = wni_promotion_rung_best(&r);
        if (got != expected)
            fail_msg("eta %g, kind %d, n %zu: trial %u, expected %u", eta, kind, n, got, expected);
    }
    if (kind < 2 && eta < 5) assert_true(promoted > 20);
    wni_promotion_rung_release(&r);
}

static void the_best_paused_one_is_promoted(void **state)
{
    (void)state;
    static const double etas[] = {3, 2, 4, 1.1, 2.5, 1000};
    for (size_t i = 0; i < sizeof etas / sizeof *etas; i++)
        for (int kind = 0; kind < 5; kind++)
            for (uint64_t seed = 0; seed < 5; seed++)
                check_promotions(etas[i], kind, seed);
}

static void ties_are_broken_by_arrival(void **state)
{
    (void)state;
    struct promotion_rung r;
    wni_promotion_rung_init(&r, 3);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(wni_promotion_rung_reserve(&r, NULL), WN_OK);
        wni_promotion_rung_add(&r, 1.0, 10 + i);
    }
    wni_promotion_rung_wait(&r, 2);
    assert_int_equal(wni_promotion_rung_best(&r), TRIAL_NONE); /* third of six: one place too low */
    wni_promotion_rung_wait(&r, 1);
    assert_int_equal(wni_promotion_rung_best(&r), 11);
    wni_promotion_rung_wait(&r, 0);
    assert_int_equal(wni_promotion_rung_best(&r), 10);
    wni_promotion_rung_release(&r);
}

static void a_million_promotions(void **state)
{
    (void)state;
    enum { N = 1000000 };
    struct rng rng = wni_rng_stream(8, 0, 1);
    struct promotion_rung r;
    uint32_t promoted = 0, trial;
    wni_promotion_rung_init(&r, 3);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(wni_promotion_rung_reserve(&r, NULL), WN_OK);
        wni_promotion_rung_wait(&r, wni_promotion_rung_add(&r, wni_rng_uniform(&rng), i));
        for (; (trial = wni_promotion_rung_best(&r)) != TRIAL_NONE; promoted++)
            wni_promotion_rung_leave(&r, trial);
    }
    /* A third, and those that were in the best third for a while: about sqrt(n) more (Li et al. 2020). */
    if (promoted < N / 3 || promoted > N / 3 + 5000)
        fail_msg("%u promoted, expected about %d", promoted, N / 3);
    wni_promotion_rung_release(&r);
}

/* ---- levels ---- */

static void check_levels(double min, double max, double eta, const double *expected, size_t n)
{
    struct levels l;
    assert_int_equal(wni_levels_init(&l, min, max, eta, NULL), WN_OK);
    if (l.n != n) fail_msg("%g to %g by %g: %zu rungs, expected %zu", min, max, eta, l.n, n);
    for (size_t k = 0; k < n; k++)
        if (fabs(l.at[k] - expected[k]) > 1e-12 * expected[k])
            fail_msg("rung %zu is %.17g, expected %g", k, l.at[k], expected[k]);
    assert_true(l.at[n] == max);
}

static void rungs_are_below_the_largest_resource(void **state)
{
    (void)state;
    static const double threes[] = {1, 3, 9, 27, 81, 243}, twos[] = {5, 10, 20}, small[] = {0.1, 0.3},
                        real[] = {1, 2.5, 6.25};
    check_levels(1, 100, 3, threes, 5);
    check_levels(1, 200, 3, threes, 5);
    check_levels(1, 97, 3, threes, 5);
    check_levels(1, 81, 3, threes, 4); /* a rung at the end would decide nothing */
    check_levels(1, 82, 3, threes, 5);
    check_levels(1, 50, 3, threes, 4);
    check_levels(1, 2, 3, threes, 1);
    check_levels(1, 1, 3, threes, 0);
    check_levels(5, 40, 2, twos, 3);
    check_levels(0.1, 0.9, 3, small, 2); /* 0.1 * 3 * 3 = 0.9000000000000001 */
    check_levels(1, 15, 2.5, real, 3);
}

static void shares_follow_the_resources(void **state)
{
    (void)state;
    struct levels l;
    assert_int_equal(wni_levels_init(&l, 1, 50, 3, NULL), WN_OK);
    for (size_t k = 0; k < 3; k++)
        assert_true(wni_levels_share(&l, k) == 1.0 / 3);
    assert_true(wni_levels_share(&l, 3) == 0.54); /* 27 / 50 */
}

static void levels_are_reached_from_just_below(void **state)
{
    (void)state;
    struct levels l;
    assert_int_equal(wni_levels_init(&l, 0.1, 10, 3, NULL),
                     WN_OK); /* 0.1 0.3 0.9 2.7 8.1, all but the first rounded up */
    assert_int_equal(wni_levels_reached(&l, 0, 0.09), 0);
    assert_int_equal(wni_levels_reached(&l, 0, 0.1), 1);
    assert_int_equal(wni_levels_reached(&l, 0, 0.3), 2);
    assert_int_equal(wni_levels_reached(&l, 1, 0.9), 3);
    assert_int_equal(wni_levels_reached(&l, 0, 2.6999), 3);
    assert_int_equal(wni_levels_reached(&l, 2, 100), 5);
    assert_int_equal(wni_levels_reached(&l, 4, 0.1), 4);
    assert_int_equal(wni_levels_reached_of_all(&l, 0, 0.3), 2);
    assert_int_equal(wni_levels_reached_of_all(&l, 2, 9.9999), 5);
    assert_int_equal(wni_levels_reached_of_all(&l, 0, 10 * (1 - 1e-12)), 6);
    assert_int_equal(wni_levels_reached_of_all(&l, 6, 1), 6);
}

static void too_many_rungs_are_refused(void **state)
{
    (void)state;
    struct levels l;
    struct err err = {0};
    assert_int_equal(wni_levels_init(&l, 1, 1e300, 2, &err), WN_EINVAL);
    assert_string_equal(err.text, "eta 2 gives more than 64 rungs between 1 and 1e+300");
    assert_int_equal(wni_levels_init(&l, 1, 0x1p64, 2, &err), WN_OK);
    assert_int_equal(l.n, 64);
}

/* Algorithm 1 of Li et al. 2018 at r_max 81, eta 3: ceil(5 eta^s / (s+1)) for s = 4 ... 0. */
static void bracket_sizes_are_hyperbands(void **state)
{
    (void)state;
    static const double sizes[] = {81, 34, 15, 8, 5};
    struct levels l;
    assert_int_equal(wni_levels_init(&l, 1, 81, 3, NULL), WN_OK);
    for (size_t b = 0; b < 5; b++)
        assert_true(wni_bracket_size(&l, b) == sizes[b]);
}

/* ---- registry ---- */

static void schedulers_are_found_by_name(void **state)
{
    (void)state;
    struct err err = {0};
    assert_true(wni_scheduler_count() >= 4);
    for (size_t i = 0; i < wni_scheduler_count(); i++) {
        const struct scheduler_ops *ops = wni_scheduler_at(i);
        assert_ptr_equal(wni_scheduler_find(ops->name, NULL), ops);
        assert_true(strlen(ops->summary) > 0);
    }
    assert_null(wni_scheduler_find("ahsa", &err));
    assert_string_equal(err.text, "unknown scheduler 'ahsa'; did you mean 'asha'?");
}

static void check_refused(const char *name, const char *options, double max, const char *why)
{
    struct sched_env env = {.min_resource = 1, .max_resource = max};
    struct scheduler s;
    struct err err = {0};
    assert_int_equal(wni_scheduler_open(&s, wni_scheduler_find(name, NULL), options, &env, &err), WN_EINVAL);
    if (!strstr(err.text, why)) fail_msg("message '%s' does not say '%s'", err.text, why);
    assert_null(s.self);
    wni_scheduler_release(&s); /* nothing to do, and no harm */
}

static void options_are_checked(void **state)
{
    (void)state;
    check_refused("asha", "scheduler.eta=1", 81,
                  "scheduler 'asha': option 'eta': expected a number from 1.1");
    check_refused("asha", "scheduler.type=halting", 81, "stopping or promotion");
    check_refused("asha", "scheduler.etaa=3", 81, "did you mean 'eta'?");
    check_refused("asha", "scheduler.eta=2", 1e300, "scheduler 'asha': eta 2 gives more than 64 rungs");
    check_refused("sync", "scheduler.eta=2", 1e9,
                  "scheduler 'sync': eta 2 gives a bracket of 1073741824 trials");
    check_refused("sync", "scheduler.eta=2", 1e300, "more than 64 rungs");
    check_refused("median", "scheduler.min_trials=0", 81, "a whole number from 1");
    check_refused("fifo", "scheduler.eta=3", 81, "unknown option 'eta'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cut_is_the_quantile),
        cmocka_unit_test(sorted_input_is_no_trouble),
        cmocka_unit_test(agrees_with_numpy),
        cmocka_unit_test(infinity_counts_only_with_weight),
        cmocka_unit_test(huge_values_do_not_overflow),
        cmocka_unit_test(a_million_values),
        cmocka_unit_test(the_best_paused_one_is_promoted),
        cmocka_unit_test(ties_are_broken_by_arrival),
        cmocka_unit_test(a_million_promotions),
        cmocka_unit_test(rungs_are_below_the_largest_resource),
        cmocka_unit_test(shares_follow_the_resources),
        cmocka_unit_test(levels_are_reached_from_just_below),
        cmocka_unit_test(too_many_rungs_are_refused),
        cmocka_unit_test(bracket_sizes_are_hyperbands),
        cmocka_unit_test(schedulers_are_found_by_name),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
