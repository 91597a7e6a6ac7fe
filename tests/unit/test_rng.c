/* test_rng.c -- the generator is the published one, streams are pinned to the bit, draws are fair.
 *
 * Statistical checks use fixed seeds, so they either always pass or always fail; a chi-square must lie within
 * 5 standard deviations of its mean, which a fair generator misses once in a million seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "num/rng.h"
#include "num/stats.h"
#include "tests/golden.h"

static void check_u64(const char *what, uint64_t got, uint64_t want)
{
    if (got != want)
        fail_msg("%s: got 0x%llx, want 0x%llx", what, (unsigned long long)got, (unsigned long long)want);
}

static void check_double(const char *what, double got, double want)
{
    if (memcmp(&got, &want, sizeof got) != 0) fail_msg("%s: got %a, want %a", what, got, want);
}

/* Fails unless the counts look like draws from equally likely cells. */
static void check_even(const char *what, const uint32_t *count, size_t cells)
{
    double total = 0.0, chi2 = 0.0, df = (double)cells - 1.0;
    for (size_t i = 0; i < cells; i++)
        total += count[i];
    double expected = total / (double)cells;
    for (size_t i = 0; i < cells; i++)
        chi2 += (count[i] - expected) * (count[i] - expected) / expected;
    if (!(fabs(chi2 - df) <= 5.0 * sqrt(2.0 * df) + 8.0)) /* + 8: the distribution is skewed for few cells */
        fail_msg("%s: chi-square %.1f with %.0f degrees of freedom (%.0f draws)", what, chi2, df, total);
}

/* ---- the generator --------------------------------------------------------------------------- */

/* Known answers published with the authors' Random123 library. */
static void philox_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        wni_philox4x32(known[i].counter, known[i].key, out);
        for (int w = 0; w < 4; w++)
            check_u64("word", out[w], known[i].out[w]);
    }
}

static void counter_is_block_purpose_trial(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(UINT64_C(0x1111111122222222), UINT64_C(0x3333333344444444), 0x55555555);
    for (uint32_t block = 0; block < 3; block++) {
        uint32_t out[4];
        wni_philox4x32((uint32_t[]){block, 0x55555555, 0x44444444, 0x33333333},
                       (uint32_t[]){0x22222222, 0x11111111}, out);
        for (int w = 0; w < 4; w++)
            check_u64("word", wni_rng_u32(&rng), out[w]);
    }
}

static uint64_t join(double low, double high)
{
    return (uint64_t)low | (uint64_t)high << 32;
}

/* The second implementation agrees: streams are part of what a study's seed means and may never change. */
static void streams_are_pinned(void **state)
{
    (void)state;
    struct golden g = golden_open("tests/golden/num_rng.txt");
    struct rng start = {0};
    while (golden_next(&g)) {
        struct rng rng = start;
        if (golden_is(&g, "stream")) {
            start = wni_rng_stream(join(g.v[0], g.v[1]), join(g.v[2], g.v[3]), (uint32_t)g.v[4]);
        } else if (golden_is(&g, "u32")) {
            for (size_t i = 0; i < g.n; i++)
                golden_near(&g, wni_rng_u32(&rng), g.v[i], 0.0);
        } else if (golden_is(&g, "uniform")) {
            for (size_t i = 0; i < g.n; i++)
                golden_near(&g, wni_rng_uniform(&rng), g.v[i], 0.0);
        } else if (golden_is(&g, "below")) {
            for (size_t i = 1; i < g.n; i++)
                golden_near(&g, (double)wni_rng_below(&rng, (uint64_t)g.v[0]), g.v[i], 0.0);
        } else if (golden_is(&g, "normal")) {
            for (size_t i = 0; i < g.n; i++)
                golden_near(&g, wni_rng_normal(&rng), g.v[i], 1e-15);
        } else {
            fail_msg("unknown tag '%s'", g.tag);
        }
    }
    assert_true(g.records > 80);
    golden_close(&g);
}

static void a_word_pair_is_low_then_high(void **state)
{
    (void)state;
    struct rng a = wni_rng_stream(1, 2, 3), b = a;
    wni_rng_u32(&a); /* make pairs straddle blocks */
    wni_rng_u32(&b);
    for (int i = 0; i < 100; i++) {
        uint64_t low = wni_rng_u32(&a), high = wni_rng_u32(&a);
        check_u64("pair", wni_rng_u64(&b), low | high << 32);
    }
}

/* ---- state ----------------------------------------------------------------------------------- */

static void saved_state_resumes(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(7, 8, 9);
    for (int at = 0; at < 50; at++) {
        struct rng saved = rng;
        uint64_t first[20];
        for (int i = 0; i < 20; i++)
            first[i] = wni_rng_u64(&rng);
        for (int i = 0; i < 20; i++)
            check_u64("resumed draw", wni_rng_u64(&saved), first[i]);
        wni_rng_u32(&rng);
    }
}

static void filling_equals_repeated_calls(void **state)
{
    (void)state;
    for (int before = 0; before < 9; before++)
        for (size_t n = 0; n < 24; n++) {
            struct rng a = wni_rng_stream(11, n, (uint32_t)before), b;
            for (int i = 0; i < before; i++)
                wni_rng_u32(&a);
            b = a;
            double out[24];
            wni_rng_fill_uniform(&a, out, n);
            for (size_t i = 0; i < n; i++)
                check_double("filled", out[i], wni_rng_uniform(&b));
            for (int i = 0; i < 9; i++)
                check_u64("draw after filling", wni_rng_u32(&a), wni_rng_u32(&b));
        }
}

/* Draws with fixed use of words leave the stream where as many u64 would. */
static void draws_use_what_they_say(void **state)
{
    (void)state;
    struct rng a = wni_rng_stream(12, 0, 0), b = a, c = a;
    for (int i = 0; i < 100; i++) {
        wni_rng_normal(&a);
        wni_rng_uniform(&b);
        wni_rng_u64(&c);
    }
    uint64_t next = wni_rng_u64(&c);
    check_u64("after normals", wni_rng_u64(&a), next);
    check_u64("after uniforms", wni_rng_u64(&b), next);
}

/* ---- fairness -------------------------------------------------------------------------------- */

static void uniforms_are_uniform(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 0);
        uint32_t cells[1000] = {0}, low_bits[256] = {0};
        for (int i = 0; i < 400000; i++) {
            double u = wni_rng_uniform(&rng);
            if (!(u >= 0.0 && u < 1.0)) fail_msg("outside [0, 1): %a", u);
            cells[(int)(u * 1000.0)]++;
            low_bits[(uint64_t)(u * 0x1p53) & 255]++; /* all 53 bits are random, not only the first */
        }
        check_even("first digits", cells, 1000);
        check_even("last bits", low_bits, 256);
    }
}

static void below_has_no_bias(void **state)
{
    (void)state;
    static const uint64_t small[] = {2, 3, 5, 7, 10, 100, 1000};
    for (size_t s = 0; s < sizeof small / sizeof *small; s++) {
        struct rng rng = wni_rng_stream(20, s, 0);
        uint32_t cells[1000] = {0};
        for (int i = 0; i < 100000; i++) {
            uint64_t v = wni_rng_below(&rng, small[s]);
            if (v >= small[s])
                fail_msg("%llu is not below %llu", (unsigned long long)v, (unsigned long long)small[s]);
            cells[v]++;
        }
        check_even("small range", cells, (size_t)small[s]);
    }
}

/* 3/4 of the word's range: taking a remainder would make the lowest third twice as likely, scaling without
 * rejection one residue modulo 3 twice as likely. */
static void below_rejects_the_surplus(void **state)
{
    (void)state;
    static const uint64_t large[] = {UINT64_C(3) << 30, UINT64_C(3) << 62};
    for (int s = 0; s < 2; s++) {
        struct rng rng = wni_rng_stream(21, (uint64_t)s, 0);
        uint32_t thirds[3] = {0}, residues[3] = {0};
        for (int i = 0; i < 60000; i++) {
            uint64_t v = wni_rng_below(&rng, large[s]);
            assert_true(v < large[s]);
            thirds[v / (large[s] / 3)]++;
            residues[v % 3]++;
        }
        check_even("thirds", thirds, 3);
        check_even("residues", residues, 3);
    }
}

static void below_at_the_ends_of_its_range(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(22, 0, 0);
    uint64_t all_or = 0, all_and = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        check_u64("below 1", wni_rng_below(&rng, 1), 0);
        assert_true(wni_rng_below(&rng, UINT32_MAX) < UINT32_MAX);
        assert_true(wni_rng_below(&rng, UINT64_C(1) << 32) < UINT64_C(1) << 32);
        uint64_t v = wni_rng_below(&rng, UINT64_MAX);
        assert_true(v < UINT64_MAX);
        all_or |= v;
        all_and &= v;
    }
    check_u64("every bit is set sometimes", all_or, UINT64_MAX);
    check_u64("every bit is clear sometimes", all_and, 0);
}

/* Kolmogorov-Smirnov distance in cells of equal probability, and the moments. */
static void normals_are_normal(void **state)
{
    (void)state;
    enum { DRAWS = 200000, CELLS = 200 };
    struct rng rng = wni_rng_stream(23, 0, 0);
    uint32_t cells[CELLS] = {0};
    double sum = 0.0, squares = 0.0, fourth = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        double z = wni_rng_normal(&rng);
        if (!(fabs(z) < 8.21)) fail_msg("impossible draw %g", z);
        cells[(int)(wni_normal_cdf(z) * CELLS)]++;
        sum += z;
        squares += z * z;
        fourth += z * z * z * z;
    }
    check_even("cells of equal probability", cells, CELLS);
    double mean = sum / DRAWS, variance = squares / DRAWS,
           kurtosis = fourth / DRAWS; /* 5 standard errors each */
    if (!(fabs(mean) < 5.0 * sqrt(1.0 / DRAWS))) fail_msg("mean %g", mean);
    if (!(fabs(variance - 1.0) < 5.0 * sqrt(2.0 / DRAWS))) fail_msg("variance %g", variance);
    if (!(fabs(kurtosis - 3.0) < 5.0 * sqrt(96.0 / DRAWS))) fail_msg("fourth moment %g", kurtosis);
}

/* ---- permutations and subsets ---------------------------------------------------------------- */

static void check_permutation(const uint32_t *x, uint32_t n)
{
    bool seen[300] = {false};
    for (uint32_t i = 0; i < n; i++) {
        if (x[i] >= n || seen[x[i]]) fail_msg("n = %u: place %u holds %u", n, i, x[i]);
        seen[x[i]] = true;
    }
}

static void permutations_are_permutations(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(30, 0, 0);
    uint32_t x[300];
    for (uint32_t n = 0; n < 300; n++) {
        wni_rng_permutation(&rng, x, n);
        check_permutation(x, n);
        wni_rng_shuffle(&rng, x, n);
        check_permutation(x, n);
    }
}

static void all_orders_are_equally_likely(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(31, 0, 0);
    uint32_t cells[256] = {0}, counts[24] = {0}, n_cells = 0;
    for (int i = 0; i < 24000; i++) {
        uint32_t x[4];
        wni_rng_permutation(&rng, x, 4);
        cells[x[0] * 64 + x[1] * 16 + x[2] * 4 + x[3]]++;
    }
    for (int i = 0; i < 256; i++)
        if (cells[i]) {
            assert_true(n_cells < 24);
            counts[n_cells++] = cells[i];
        }
    assert_int_equal(n_cells, 24);
    check_even("orders of 4", counts, 24);
}

static void samples_are_increasing_and_in_range(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {0, 1, 2, 3, 10, 127, 128, 129, 200, 1000, 5000, 1000000, UINT32_MAX};
    static uint32_t out[5000];
    struct rng rng = wni_rng_stream(32, 0, 0);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint32_t n = sizes[s], ks[] = {0, 1, 2, n / 3, n / 2, n > 0 ? n - 1 : 0, n, 300};
        for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
            uint32_t k = ks[i];
            if (k > n || k > 5000) continue;
            wni_rng_sample(&rng, n, k, out);
            for (uint32_t j = 0; j < k; j++)
                if (out[j] >= n || (j > 0 && out[j] <= out[j - 1]))
                    fail_msg("n %u, k %u: place %u holds %u", n, k, j, out[j]);
        }
    }
}

static void all_subsets_are_equally_likely(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(33, 0, 0);
    uint32_t cells[64] = {0}, counts[20] = {0}, n_cells = 0;
    for (int i = 0; i < 40000; i++) {
        uint32_t x[3];
        wni_rng_sample(&rng, 6, 3, x);
        cells[1u << x[0] | 1u << x[1] | 1u << x[2]]++;
    }
    for (int i = 0; i < 64; i++)
        if (cells[i]) {
            assert_true(n_cells < 20);
            counts[n_cells++] = cells[i];
        }
    assert_int_equal(n_cells, 20);
    check_even("3 of 6", counts, 20);
}

/* 129 of 130 goes the way of dense samples; the one left out says which subset it is. */
static void all_dense_subsets_are_equally_likely(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(34, 0, 0);
    uint32_t left_out[130] = {0}, x[129];
    for (int i = 0; i < 20000; i++) {
        wni_rng_sample(&rng, 130, 129, x);
        uint32_t j = 0;
        while (j < 129 && x[j] == j)
            j++;
        left_out[j]++;
    }
    check_even("left out", left_out, 130);
}

/* ---- independence ---------------------------------------------------------------------------- */

static void check_independent(struct rng a, struct rng b, const char *what)
{
    enum { DRAWS = 16384, SIDE = 16 };
    uint32_t joint[SIDE * SIDE] = {0}, equal_bits = 0;
    for (int i = 0; i < DRAWS; i++) {
        uint32_t x = wni_rng_u32(&a), y = wni_rng_u32(&b);
        joint[(x >> 28) * SIDE + (y >> 28)]++;
        equal_bits += (uint32_t)__builtin_popcount(~(x ^ y));
    }
    check_even(what, joint, SIDE * SIDE);
    double bits = 32.0 * DRAWS, z = (equal_bits - bits / 2) / sqrt(bits / 4);
    if (!(fabs(z) < 5.0))
        fail_msg("%s: %u of %.0f bits agree, %.1f standard deviations off", what, equal_bits, bits, z);
}

static void streams_that_differ_in_one_part_are_independent(void **state)
{
    (void)state;
    struct rng base = wni_rng_stream(100, 200, 300);
    for (int bit = 0; bit < 64; bit += 3) {
        uint64_t flip = UINT64_C(1) << bit;
        check_independent(base, wni_rng_stream(100 ^ flip, 200, 300), "seeds");
        check_independent(base, wni_rng_stream(100, 200 ^ flip, 300), "trials");
        if (bit < 32) check_independent(base, wni_rng_stream(100, 200, 300 ^ (uint32_t)flip), "purposes");
    }
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Neighbouring streams are not one stream seen from different places: no 64-bit draw occurs twice among them.
 */
static void streams_do_not_overlap(void **state)
{
    (void)state;
    enum { STREAMS = 27, DRAWS = 2000 };
    static uint64_t all[STREAMS * DRAWS];
    size_t n = 0;
    for (uint64_t s = 0; s < STREAMS; s++) {
        struct rng rng = wni_rng_stream(s % 3, s / 3 % 3, (uint32_t)(s / 9));
        for (int i = 0; i < DRAWS; i++)
            all[n++] = wni_rng_u64(&rng);
    }
    qsort(all, n, sizeof *all, compare_u64);
    for (size_t i = 1; i < n; i++)
        if (all[i] == all[i - 1]) fail_msg("0x%llx drawn twice", (unsigned long long)all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(counter_is_block_purpose_trial),
        cmocka_unit_test(streams_are_pinned),
        cmocka_unit_test(a_word_pair_is_low_then_high),
        cmocka_unit_test(saved_state_resumes),
        cmocka_unit_test(filling_equals_repeated_calls),
        cmocka_unit_test(draws_use_what_they_say),
        cmocka_unit_test(uniforms_are_uniform),
        cmocka_unit_test(below_has_no_bias),
        cmocka_unit_test(below_rejects_the_surplus),
        cmocka_unit_test(below_at_the_ends_of_its_range),
        cmocka_unit_test(normals_are_normal),
        cmocka_unit_test(permutations_are_permutations),
        cmocka_unit_test(all_orders_are_equally_likely),
        cmocka_unit_test(samples_are_increasing_and_in_range),
        cmocka_unit_test(all_subsets_are_equally_likely),
        cmocka_unit_test(all_dense_subsets_are_equally_likely),
        cmocka_unit_test(streams_that_differ_in_one_part_are_independent),
        cmocka_unit_test(streams_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
