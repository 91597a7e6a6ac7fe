/* kde.c -- kernel density estimation.
 *
 * Points to evaluate lie in the lanes of vectors, observations are walked one after the other.  A continuous
 * column adds to an exponent that all of them share, so there is one exponential per pair and not one per
 * column.  A discrete column is a table with a row per value, holding the kernel's value for each lane: no
 * gathers. */
#include "surrogate/kde.h"

#include "num/order.h"
#include "num/portable.h"
#include "num/stats.h"
#include "surrogate/forest.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define SQRT_HALF 0x1.6a09e667f3bcdp-1
#define SQRT_TAU  0x1.40d931ff62706p+1 /* sqrt(2 pi) */

enum { LANES = 8, ALIGNMENT = LANES * sizeof(double) };

/* ---- bandwidths ---- */

static double flattest(const struct kde_column *c)
{
    if (c->kind == KDE_CONTINUOUS) return INFINITY;
    return c->kind == KDE_ORDERED ? KDE_ORDERED_MAX : (double)(c->count - 1) / (double)c->count;
}

static double position(const struct kde_column *c, double value)
{
    return c->kind == KDE_ORDERED ? c->at[(size_t)value] : value;
}

static double deviation(const struct kde_column *c, const double *rows, size_t n, size_t width)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += position(c, rows[i * width]);
    mean /= (double)n;
    for (size_t i = 0; i < n; i++) {
        double d = position(c, rows[i * width]) - mean;
        sum += d * d;
    }
    return sqrt(sum / (double)n);
}

/* Pairs that agree are counted value by value: O(n count), but most columns have few values, and after the
 * last observation is placed nothing more is looked for. */
static double disagreement(const struct kde_column *c, const double *rows, size_t n, size_t width)
{
    double same = 0;
    size_t left = n;
    for (size_t v = 0; v < c->count && left; v++) {
        size_t here = 0;
        for (size_t i = 0; i < n; i++)
            here += rows[i * width] == (double)v;
        left -= here;
        double share = (double)here / (double)n;
        same += share * share;
    }
    return sqrt((1 - same) / 2);
}

void wni_kde_bandwidths(const struct kde_column *columns, size_t width, const double *rows, size_t n,
                        double floor, double *bandwidths)
{
    double shrink = 1.06 * wni_exp(-wni_log((double)n) / (double)(4 + width));
    for (size_t j = 0; j < width; j++) {
        const struct kde_column *c = &columns[j];
        double s =
            c->kind == KDE_UNORDERED ? disagreement(c, rows + j, n, width) : deviation(c, rows + j, n, width);
        bandwidths[j] = fmin(fmax(shrink * s, floor), flattest(c));
    }
}

/* ---- discrete kernels ---- */

/* Of an ordered column, two different values: `slope` is log h. */
static double ordered_kernel(const struct kde_column *c, double h, double slope, size_t v, size_t x)
{
    return 0.5 * (1 - h) * wni_exp(fabs(c->at[v] - c->at[x]) * slope);
}

/* Each value against each: count rows of count. */
static void fill_pairs(const struct kde_column *c, double h, double *pairs)
{
    double slope = wni_log(h);
    for (size_t v = 0; v < c->count; v++) {
        pairs[v * c->count + v] = 1 - h;
        for (size_t x = 0; x < v; x++)
            pairs[v * c->count + x] = pairs[x * c->count + v] = ordered_kernel(c, h, slope, v, x);
    }
}

/* ---- fit ---- */

static void fill_numbers(struct kde *k, const double *rows)
{
    double *out = k->numbers;
    for (size_t i = 0; i < k->n; i++)
        for (size_t j = 0, c = 0; j < k->width; j++)
            if (k->columns[j].kind == KDE_CONTINUOUS) *out++ = rows[i * k->width + j] * k->inverses[c++];
}

static bool make_pairs(struct kde *k, struct arena *arena)
{
    for (size_t j = 0; j < k->width; j++) {
        const struct kde_column *c = &k->columns[j];
        if (c->kind != KDE_ORDERED) continue;
        k->pairs[j] = arena_new(arena, double, c->count * c->count);
        if (!k->pairs[j]) return false;
        fill_pairs(c, k->bandwidths[j], k->pairs[j]);
    }
    return true;
}

static void fill_codes(struct kde *k, const double *rows)
{
    uint32_t *out = k->codes;
    for (size_t i = 0; i < k->n; i++) {
        uint32_t first = 0;
        for (size_t j = 0; j < k->width; j++) {
            if (k->columns[j].kind == KDE_CONTINUOUS) continue;
            *out++ = first + (uint32_t)rows[i * k->width + j];
            first += (uint32_t)k->columns[j].count;
        }
    }
}

wn_status wni_kde_fit(struct kde *k, const struct kde_column *columns, size_t width, const double *rows,
                      size_t n, const double *bandwidths, struct arena *arena)
{
    assert(n > 0);
    *k = (struct kde){.columns = columns, .width = width, .n = n, .bandwidths = bandwidths};
    k->inverses = arena_new(arena, double, width);
    k->pairs = arena_new(arena, double *, width);
    if (!k->inverses || !k->pairs || !make_pairs(k, arena)) return WN_ENOMEM;
    k->weight = 1 / (double)n;
    for (size_t j = 0; j < width; j++) {
        if (columns[j].kind == KDE_CONTINUOUS) {
            k->inverses[k->n_numbers++] = SQRT_HALF / bandwidths[j];
            k->weight /= bandwidths[j] * SQRT_TAU;
        } else {
            k->n_codes++;
            k->table_count += (uint32_t)columns[j].count;
        }
    }
    k->numbers = arena_new(arena, double, n * k->n_numbers);
    k->codes = arena_new(arena, uint32_t, n * k->n_codes);
    if (!k->numbers || !k->codes) return WN_ENOMEM;
    fill_numbers(k, rows);
    fill_codes(k, rows);
    return WN_OK;
}

/* ---- density ---- */

/* What one block of points needs: scaled numbers, and the tables. */
struct block {
    double *numbers; /* LANES for each continuous column */
    double *tables;  /* LANES for each row of the tables */
};

/* One lane of a discrete column's table: the kernel of each value, seen from value x. */
static void load_lane(const struct kde *k, size_t j, size_t x, size_t lane, double *table)
{
    const struct kde_column *c = &k->columns[j];
    double h = k->bandwidths[j];
    for (size_t v = 0; v < c->count; v++)
        if (c->kind == KDE_ORDERED)
            table[v * LANES + lane] = k->pairs[j][x * c->count + v];
        else
            table[v * LANES + lane] = v == x ? 1 - h : h / (double)(c->count - 1);
}

/* Lanes beyond the last of n rows repeat the first. */
static void load_block(const struct kde *k, const double *rows, size_t n, struct block *b)
{
    for (size_t lane = 0; lane < LANES; lane++) {
        const double *row = rows + (lane < n ? lane : 0) * k->width;
        size_t number = 0;
        double *table = b->tables;
        for (size_t j = 0; j < k->width; j++) {
            if (k->columns[j].kind == KDE_CONTINUOUS) {
                b->numbers[number * LANES + lane] = row[j] * k->inverses[number];
                number++;
            } else {
                load_lane(k, j, (size_t)row[j], lane, table);
                table += k->columns[j].count * LANES;
            }
        }
    }
}

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#define KERNEL_BYTES 16
#include "surrogate/kde_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_BYTES

#if defined(__x86_64__)
#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2")))
#define KERNEL_BYTES  32
#include "surrogate/kde_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_BYTES

#define KERNEL(name)  name##_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#define KERNEL_BYTES  64
#include "surrogate/kde_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_BYTES
#endif

static void sum_block(enum simd simd, const struct kde *k, const struct block *b, double *sums)
{
#if defined(__x86_64__)
    if (simd == SIMD_AVX512)
        sum_block_avx512(k, b, sums);
    else if (simd == SIMD_AVX2)
        sum_block_avx2(k, b, sums);
    else
#endif
        sum_block_plain(k, b, sums);
}

/* Room for n rows of LANES.  The arena's blocks are aligned for every scalar type; vectors want more. */
static double *new_lanes(struct arena *arena, size_t n)
{
    char *room = wni_arena_alloc(arena, n + 1, ALIGNMENT);
    return room ? (double *)(void *)(room + (ALIGNMENT - (uintptr_t)room % ALIGNMENT)) : NULL;
}

wn_status wni_kde_density(const struct kde *k, const double *rows, size_t m, double *densities,
                          struct arena *arena)
{
    struct block b = {.numbers = new_lanes(arena, k->n_numbers), .tables = new_lanes(arena, k->table_count)};
    if (!b.numbers || !b.tables) return WN_ENOMEM;
    enum simd simd = wni_simd_pick();
    for (size_t first = 0; first < m; first += LANES) {
        size_t n = m - first < LANES ? m - first : LANES;
        load_block(k, rows + first * k->width, n, &b);
        double sums[LANES];
        sum_block(simd, k, &b, sums);
        for (size_t l = 0; l < n; l++)
            densities[first + l] = sums[l] * k->weight;
    }
    return WN_OK;
}

/* ---- drawing ---- */

/* By inversion: one uniform number, however little of the bell is inside. */
static double draw_truncated(double center, double h, struct rng *rng)
{
    double low = wni_normal_cdf(-center / h), high = wni_normal_cdf((1 - center) / h);
    double x = center + h * wni_normal_quantile(low + (high - low) * wni_rng_uniform(rng));
    return x >= 0 ? x <= 1 ? x : 1 : 0;
}

static double draw_ordered(const struct kde_column *c, double h, size_t center, struct rng *rng)
{
    double slope = wni_log(h), total = 1 - h;
    for (size_t v = 0; v < c->count; v++)
        if (v != center) total += ordered_kernel(c, h, slope, center, v);
    double u = wni_rng_uniform(rng) * total;
    for (size_t v = 0; v + 1 < c->count; v++)
        if ((u -= v == center ? 1 - h : ordered_kernel(c, h, slope, center, v)) < 0) return (double)v;
    return (double)(c->count - 1);
}

static double draw_unordered(const struct kde_column *c, double h, size_t center, struct rng *rng)
{
    if (wni_rng_uniform(rng) >= h) return (double)center;
    uint64_t other = wni_rng_below(rng, c->count - 1);
    return (double)(other + (other >= center));
}

double wni_kde_draw(const struct kde_column *c, double bandwidth, double center, struct rng *rng)
{
    double h = fmin(bandwidth, flattest(c));
    switch (c->kind) {
    case KDE_CONTINUOUS:
        return draw_truncated(center, h, rng);
    case KDE_ORDERED:
        return draw_ordered(c, h, (size_t)center, rng);
    case KDE_UNORDERED:
        return draw_unordered(c, h, (size_t)center, rng);
    }
    return center;
}
