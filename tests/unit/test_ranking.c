/* test_ranking.c -- misordered pairs, against looking at every pair. */
#include "tests/check.h"

#include "surrogate/ranking.h"

static uint64_t slow(const double *y, const double *f, size_t n)
{
    uint64_t wrong = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            wrong += y[i] < y[j] && f[i] > f[j];
    return wrong;
}

static uint64_t misordered(const double *y, const double *f, size_t n)
{
    struct arena arena = {0};
    struct ranking r;
    CHECK_INT(wni_ranking_init(&r, y, n, &arena), WN_OK);
    uint64_t pairs = wni_misordered(&r, f);
    CHECK_INT(wni_misordered(&r, f), pairs); /* a ranking serves many predictions */
    wni_arena_release(&arena);
    return pairs;
}

static void as_slow_as_it_gets(void **state)
{
    (void)state;
    enum { MAX = 70 };
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 0);
        double y[MAX], f[MAX];
        size_t n = (size_t)check_between(&rng, 0, MAX);
        int distinct = seed % 2 ? 5 : 1000000; /* many ties, or none */
        for (size_t i = 0; i < n; i++) {
            y[i] = check_between(&rng, 1, distinct);
            f[i] = seed % 3 ? wni_rng_normal(&rng) : check_between(&rng, 1, distinct);
        }
        CHECK_INT(misordered(y, f, n), slow(y, f, n));
    }
}

static void extremes(void **state)
{
    (void)state;
    double up[5] = {1, 2, 3, 4, 5}, down[5] = {5, 4, 3, 2, 1}, same[5] = {0};
    CHECK_INT(misordered(up, up, 5), 0);
    CHECK_INT(misordered(up, down, 5), 10);
    CHECK_INT(misordered(same, down, 5), 0);
    CHECK_INT(misordered(up, same, 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_slow_as_it_gets), cmocka_unit_test(extremes)};
    return cmocka_run_group_tests_name("ranking", tests, NULL, NULL);
}
