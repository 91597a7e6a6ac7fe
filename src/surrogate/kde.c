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

#include <assert.h>
#include <math.h>
#include <string.h>

#define SQRT_HALF 0x1.6a09e667f3bcdp-1
#define SQRT_TAU  0x1.40d931ff62706p+1 /* sqrt(2 pi) */

enum { LANES = 8 };
typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t bits __attribute__((vector_size(LANES * sizeof(int64_t))));

static lanes all(double x)
{
    return (lanes){x, x, x, x, x, x, x, x};
}

/* ---- exponential ---- */

/* e^x for x <= 0, relative error below 1e-14; e^-700 below that.  x = n ln 2 + r, |r| < 0.35; the Taylor
 * polynomial of degree 12 leaves 0.35^13 / 13! = 2e-16.  Plain arithmetic: the same bits everywhere. */
static lanes exp_lanes(lanes x)
{
    static const double taylor[] = {
        1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1,           1};
    bits low = x < -700;
    x = (lanes)(((bits)x & ~low) | ((bits)all(-700) & low));
    lanes shifted = x * 0x1.71547652b82fep+0 + 0x1.8p52; /* low bits hold the nearest integer to x / ln 2 */
    lanes n = shifted - 0x1.8p52;
    lanes r = (x - n * 0x1.62e42fefap-1) - n * 0x1.cf79abc9e3b3ap-40;
    lanes p = all(taylor[0]);
    for (size_t i = 1; i < sizeof taylor / sizeof *taylor; i++)
        p = p * r + taylor[i];
    return (lanes)((bits)p + ((bits)shifted << 52)); /* adds n to the exponent */
}

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

/* ---- fit ---- */

static void fill_numbers(struct kde *k, const double *rows)
{
    double *out = k->numbers;
    for (size_t i = 0; i < k->n; i++)
        for (size_t j = 0, c = 0; j < k->width; j++)
            if (k->columns[j].kind == KDE_CONTINUOUS) *out++ = rows[i * k->width + j] * k->inverses[c++];
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
    if (!k->inverses) return WN_ENOMEM;
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

/* The kernel of a discrete column: center v, point at value x. */
static double discrete_kernel(const struct kde_column *c, double h, size_t v, size_t x)
{
    if (v == x) return 1 - h;
    if (c->kind == KDE_UNORDERED) return h / (double)(c->count - 1);
    return 0.5 * (1 - h) * wni_exp(fabs(c->at[v] - c->at[x]) * wni_log(h));
}

/* What one block of points needs: scaled numbers, and the tables. */
struct block {
    lanes *numbers; /* n_numbers */
    lanes *tables;  /* table_count */
};

static void load_block(const struct kde *k, const double *rows, size_t n, struct block *b)
{
    size_t number = 0, first = 0;
    for (size_t j = 0; j < k->width; j++) {
        const struct kde_column *c = &k->columns[j];
        if (c->kind == KDE_CONTINUOUS) {
            for (size_t l = 0; l < LANES; l++)
                b->numbers[number][l] = rows[(l < n ? l : 0) * k->width + j] * k->inverses[number];
            number++;
            continue;
        }
        for (size_t v = 0; v < c->count; v++)
            for (size_t l = 0; l < LANES; l++)
                b->tables[first + v][l] =
                    discrete_kernel(c, k->bandwidths[j], v, (size_t)rows[(l < n ? l : 0) * k->width + j]);
        first += c->count;
    }
}

static lanes sum_block(const struct kde *k, const struct block *b)
{
    const double *numbers = k->numbers;
    const uint32_t *codes = k->codes;
    lanes sum = all(0);
    for (size_t i = 0; i < k->n; i++, numbers += k->n_numbers, codes += k->n_codes) {
        lanes product = all(1), power = all(0);
        for (size_t j = 0; j < k->n_codes; j++)
            product *= b->tables[codes[j]];
        for (size_t j = 0; j < k->n_numbers; j++) {
            lanes d = b->numbers[j] - numbers[j];
            power -= d * d;
        }
        if (k->n_numbers) product *= exp_lanes(power);
        sum += product;
    }
    return sum;
}

/* The arena's blocks are aligned for every scalar type; vectors want more. */
static lanes *new_lanes(struct arena *arena, size_t n)
{
    char *room = wni_arena_alloc(arena, n + 1, sizeof(lanes));
    return room ? (lanes *)(void *)(room + (sizeof(lanes) - (uintptr_t)room % sizeof(lanes))) : NULL;
}

wn_status wni_kde_density(const struct kde *k, const double *rows, size_t m, double *densities,
                          struct arena *arena)
{
    struct block b = {.numbers = new_lanes(arena, k->n_numbers), .tables = new_lanes(arena, k->table_count)};
    if (!b.numbers || !b.tables) return WN_ENOMEM;
    for (size_t first = 0; first < m; first += LANES) {
        size_t n = m - first < LANES ? m - first : LANES;
        load_block(k, rows + first * k->width, n, &b);
        lanes sum = sum_block(k, &b);
        for (size_t l = 0; l < n; l++)
            densities[first + l] = sum[l] * k->weight;
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
    double total = 0;
    for (size_t v = 0; v < c->count; v++)
        total += discrete_kernel(c, h, center, v);
    double u = wni_rng_uniform(rng) * total;
    for (size_t v = 0; v + 1 < c->count; v++)
        if ((u -= discrete_kernel(c, h, center, v)) < 0) return (double)v;
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
