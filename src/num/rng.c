/* rng.c -- the Philox block function and the draws made from its words. */
#include "num/rng.h"

#include <assert.h>
#include <string.h>

#include "num/stats.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

__extension__ typedef unsigned __int128 u128;

/* ---- words ----------------------------------------------------------------------------------- */

/* Round `r` of a block in place: two products scatter, the counter's other half and the key are mixed in. The
 * key grows by the golden ratio and by sqrt(3) - 1 each round (the paper's Weyl sequences). */
static inline void mix(uint32_t c[4], const uint32_t key[2], uint32_t r)
{
    uint64_t p0 = UINT64_C(0xD2511F53) * c[0], p1 = UINT64_C(0xCD9E8D57) * c[2];
    c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ (key[0] + r * 0x9E3779B9);
    c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ (key[1] + r * 0xBB67AE85);
    c[1] = (uint32_t)p1;
    c[3] = (uint32_t)p0;
}

static inline void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c[4] = {counter[0], counter[1], counter[2], counter[3]};
    mix(c, key, 0); /* written out: gcc -O2 keeps a loop, which takes twice the time */
    mix(c, key, 1);
    mix(c, key, 2);
    mix(c, key, 3);
    mix(c, key, 4);
    mix(c, key, 5);
    mix(c, key, 6);
    mix(c, key, 7);
    mix(c, key, 8);
    mix(c, key, 9);
    memcpy(out, c, sizeof c);
}

void wni_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    philox(counter, key, out);
}

struct rng wni_rng_stream(uint64_t seed, uint64_t trial, uint32_t purpose)
{
    return (struct rng){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .counter = {0, purpose, (uint32_t)trial, (uint32_t)(trial >> 32)},
        .used = RNG_WORDS,
    };
}

/* Four blocks with successive counters, one after the other in `out`.  Vectors hold one word of each block;
 * every x86-64 processor can multiply two pairs of 32-bit words at once.  Takes less than half the time of
 * four single blocks. */
#if defined(__SSE2__)
struct product {
    __m128i low, high; /* halves of four products */
};

static inline struct product multiply(__m128i a, uint32_t by)
{
    __m128i factor = _mm_set1_epi32((int)by), even = _mm_mul_epu32(a, factor),
            odd = _mm_mul_epu32(_mm_srli_epi64(a, 32), factor);
    __m128i first = _mm_unpacklo_epi32(even, odd), second = _mm_unpackhi_epi32(even, odd);
    return (struct product){_mm_unpacklo_epi64(first, second), _mm_unpackhi_epi64(first, second)};
}

static void four_blocks(const uint32_t counter[4], const uint32_t key[2], uint32_t out[RNG_WORDS])
{
    __m128i c[4];
    for (int i = 0; i < 4; i++)
        c[i] = _mm_set1_epi32((int)counter[i]);
    c[0] = _mm_add_epi32(c[0], _mm_setr_epi32(0, 1, 2, 3));
    __m128i k0 = _mm_set1_epi32((int)key[0]), k1 = _mm_set1_epi32((int)key[1]);
    for (int r = 0; r < 10; r++) { /* mix() for each */
        struct product p0 = multiply(c[0], 0xD2511F53), p1 = multiply(c[2], 0xCD9E8D57);
        c[0] = _mm_xor_si128(_mm_xor_si128(p1.high, c[1]), k0);
        c[2] = _mm_xor_si128(_mm_xor_si128(p0.high, c[3]), k1);
        c[1] = p1.low;
        c[3] = p0.low;
        k0 = _mm_add_epi32(k0, _mm_set1_epi32((int)0x9E3779B9));
        k1 = _mm_add_epi32(k1, _mm_set1_epi32((int)0xBB67AE85));
    }
    __m128i a = _mm_unpacklo_epi32(c[0], c[1]), b = _mm_unpackhi_epi32(c[0], c[1]),
            d = _mm_unpacklo_epi32(c[2], c[3]), e = _mm_unpackhi_epi32(c[2], c[3]);
    __m128i blocks[4] = {_mm_unpacklo_epi64(a, d), _mm_unpackhi_epi64(a, d), _mm_unpacklo_epi64(b, e),
                         _mm_unpackhi_epi64(b, e)};
    memcpy(out, blocks, sizeof blocks);
}
#else
static void four_blocks(const uint32_t counter[4], const uint32_t key[2], uint32_t out[RNG_WORDS])
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t at[4] = {counter[0] + i, counter[1], counter[2], counter[3]};
        philox(at, key, out + 4 * i);
    }
}
#endif

static __attribute__((noinline)) void next_words(struct rng *rng, uint32_t out[RNG_WORDS])
{
    assert(rng->counter[0] <= UINT32_MAX - 4); /* wrapping would repeat the stream */
    four_blocks(rng->counter, rng->key, out);
    rng->counter[0] += 4;
}

static inline uint32_t next_u32(struct rng *rng)
{
    if (rng->used == RNG_WORDS) {
        next_words(rng, rng->words);
        rng->used = 0;
    }
    return rng->words[rng->used++];
}

static inline uint64_t next_u64(struct rng *rng)
{
    uint64_t low = next_u32(rng);
    return low | (uint64_t)next_u32(rng) << 32;
}

static inline double to_unit(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

uint32_t wni_rng_u32(struct rng *rng)
{
    return next_u32(rng);
}

uint64_t wni_rng_u64(struct rng *rng)
{
    return next_u64(rng);
}

/* ---- numbers --------------------------------------------------------------------------------- */

double wni_rng_uniform(struct rng *rng)
{
    return to_unit(next_u64(rng));
}

void wni_rng_fill_uniform(struct rng *rng, double *out, size_t n)
{
    size_t i = 0;
    while (i < n && rng->used < RNG_WORDS)
        out[i++] = to_unit(next_u64(rng));
    /* All words are used up now, unless an odd number was drawn before: then pairs straddle for ever. */
    for (; rng->used == RNG_WORDS && n - i >= RNG_WORDS / 2; i += RNG_WORDS / 2) {
        uint32_t w[RNG_WORDS];
        next_words(rng, w);
        for (size_t k = 0; k < RNG_WORDS / 2; k++)
            out[i + k] = to_unit(w[2 * k] | (uint64_t)w[2 * k + 1] << 32);
    }
    while (i < n)
        out[i++] = to_unit(next_u64(rng));
}

/* Lemire, "Fast random integer generation in an interval" (ACM TOMACS 29, 2019): the high half of word * n is
 * in range; the low half tells whether the word lies in the 2^w mod n surplus, which is redrawn. */
static uint32_t below32(struct rng *rng, uint32_t n)
{
    uint64_t m = (uint64_t)next_u32(rng) * n;
    if ((uint32_t)m < n) {
        uint32_t surplus = -n % n;
        while ((uint32_t)m < surplus)
            m = (uint64_t)next_u32(rng) * n;
    }
    return (uint32_t)(m >> 32);
}

static uint64_t below64(struct rng *rng, uint64_t n)
{
    u128 m = (u128)next_u64(rng) * n;
    if ((uint64_t)m < n) {
        uint64_t surplus = -n % n;
        while ((uint64_t)m < surplus)
            m = (u128)next_u64(rng) * n;
    }
    return (uint64_t)(m >> 64);
}

uint64_t wni_rng_below(struct rng *rng, uint64_t n)
{
    assert(n > 0);
    return n <= UINT32_MAX ? below32(rng, (uint32_t)n) : below64(rng, n);
}

double wni_rng_normal(struct rng *rng)
{
    /* 52 bits and a half: symmetric about 1/2, never 0 or 1, and exact (53 bits and a half would round up to
     * 1). */
    double u = ((double)(next_u64(rng) >> 12) + 0.5) * 0x1p-52;
    return wni_normal_quantile(u);
}

/* ---- orders and subsets ---------------------------------------------------------------------- */

void wni_rng_shuffle(struct rng *rng, uint32_t *x, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) { /* Fisher-Yates: x[i-1..n) is settled */
        uint32_t j = below32(rng, i), t = x[i - 1];
        x[i - 1] = x[j];
        x[j] = t;
    }
}

void wni_rng_permutation(struct rng *rng, uint32_t *out, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = i;
    wni_rng_shuffle(rng, out, n);
}

/* The first place in sorted x[0..n) whose value is at least v. */
static uint32_t lower_bound(const uint32_t *x, uint32_t n, uint32_t v)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (x[mid] < v)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Floyd's subset (Bentley and Floyd, CACM 30, 1987): the j-th step adds a number up to j, or j itself if that
 * number is taken, and keeps all subsets equally likely.  `out` stays sorted, so it is its own look-up table.
 */
static void sample_floyd(struct rng *rng, uint32_t n, uint32_t k, uint32_t *out)
{
    for (uint32_t size = 0; size < k; size++) {
        uint32_t j = n - k + size; /* above all present */
        uint32_t v = below32(rng, j + 1), at = lower_bound(out, size, v);
        if (at < size && out[at] == v) {
            out[size] = j;
        } else {
            memmove(out + at + 1, out + at, (size - at) * sizeof *out);
            out[at] = v;
        }
    }
}

/* Knuth's Algorithm S: walk the population, take each with probability (still needed) / (still left). */
static void sample_walk(struct rng *rng, uint32_t n, uint32_t k, uint32_t *out)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; taken < k; i++)
        if (below32(rng, n - i) < k - taken) out[taken++] = i;
}

void wni_rng_sample(struct rng *rng, uint32_t n, uint32_t k, uint32_t *out)
{
    assert(k <= n);
    if ((uint64_t)k * k <= 128 * (uint64_t)n)
        sample_floyd(rng, n, k, out);
    else
        sample_walk(rng, n, k, out);
}
