/* test_minimize.c -- the bounded minimiser finds minima it can know of, inside and at the edge. */
#include "tests/check.h"

#include "num/minimize.h"

enum { N = 5 };

struct bowl {
    double centre[N], scale[N];
    size_t n;
    int calls;
    bool spoilt; /* not finite away from the start */
};

static double bowl(void *context, const double *x, double *gradient)
{
    struct bowl *b = context;
    double sum = 0;
    for (size_t i = 0; i < b->n; i++) {
        double d = x[i] - b->centre[i];
        sum += b->scale[i] * d * d;
        gradient[i] = 2 * b->scale[i] * d;
    }
    return b->calls++ && b->spoilt ? NAN : sum;
}

static void finds_the_corner_or_the_middle(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 0);
        struct bowl b = {.n = (size_t)check_between(&rng, 1, N)};
        double low[N], high[N], x[N], value;
        for (size_t i = 0; i < b.n; i++) {
            low[i] = -1;
            high[i] = 1;
            b.centre[i] = check_uniform(&rng, -2, 2); /* half of them out of bounds */
            b.scale[i] = check_magnitude(&rng, -1, 1);
            x[i] = check_uniform(&rng, -1, 1);
        }
        struct minimize_limits limits = {.evaluations = 200, .tolerance = 1e-12};
        assert_int_equal(wni_minimize(bowl, &b, b.n, low, high, &limits, x, &value), WN_OK);
        for (size_t i = 0; i < b.n; i++)
            CHECK_NEAR(x[i], fmin(fmax(b.centre[i], -1), 1), 1e-3);
        CHECK(b.calls <= 210, "%d evaluations", b.calls);
    }
}

static void keeps_the_start_when_all_else_fails(void **state)
{
    (void)state;
    struct bowl b = {.n = 2, .centre = {1, 1}, .scale = {1, 1}, .spoilt = true};
    double low[2] = {-3, -3}, high[2] = {3, 3}, x[2] = {0.25, 0.5}, value;
    struct minimize_limits limits = {.evaluations = 50, .tolerance = 1e-9};
    assert_int_equal(wni_minimize(bowl, &b, 2, low, high, &limits, x, &value), WN_OK);
    CHECK_DOUBLE(x[0], 0.25);
    CHECK_DOUBLE(x[1], 0.5);
    CHECK_DOUBLE(value, 0.75 * 0.75 + 0.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_the_corner_or_the_middle),
                                       cmocka_unit_test(keeps_the_start_when_all_else_fails)};
    return cmocka_run_group_tests_name("minimize", tests, NULL, NULL);
}
