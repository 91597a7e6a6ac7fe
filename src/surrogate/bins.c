/* bins.c -- finds the cuts of each column and the order of its rows.
 *
 * Tuning data has few distinct values in most columns (categories, ordinals), so those are found with a short
 * sorted list; only a column with more than SHORT_LIST of them is sorted. */
#include "surrogate/bins.h"

#include "num/order.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SHORT_LIST = 24 };

/* Collects the distinct values of a column if there are at most SHORT_LIST; returns their number, or 0. */
static size_t few_distinct(const double *values, size_t n, double *distinct)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = k;
        while (at > 0 && distinct[at - 1] > values[i])
            at--;
        if (at > 0 && distinct[at - 1] == values[i]) continue;
        if (k == SHORT_LIST) return 0;
        memmove(distinct + at + 1, distinct + at, (k - at) * sizeof *distinct);
        distinct[at] = values[i];
        k++;
    }
    return k;
}

/* Halfway between two neighbours a < b; never b itself, which has to lie above the cut. */
static double midpoint(double a, double b)
{
    double middle = a + (b - a) / 2;
    return middle < b ? middle : a;
}

static size_t cuts_between(const double *distinct, size_t k, double *cuts)
{
    for (size_t i = 0; i + 1 < k; i++)
        cuts[i] = midpoint(distinct[i], distinct[i + 1]);
    return k - 1;
}

/* 255 evenly filled bins: a cut after every n/256 rows, moved up to the next change of value. */
static size_t quantile_cuts(const double *sorted, size_t n, double *cuts)
{
    size_t made = 0, last = 0;
    for (size_t k = 1; k < BINS_MAX; k++) {
        size_t at = k * n / BINS_MAX;
        if (at <= last) continue;
        while (at < n && sorted[at] == sorted[at - 1])
            at++;
        if (at == n) break;
        cuts[made++] = midpoint(sorted[at - 1], sorted[at]);
        last = at;
    }
    return made;
}

static size_t find_cuts(double *values, size_t n, double *cuts)
{
    double distinct[SHORT_LIST];
    size_t k = few_distinct(values, n, distinct);
    if (k) return cuts_between(distinct, k, cuts);
    wni_sort(values, n);
    k = 1;
    for (size_t i = 1; i < n; i++)
        k += values[i] != values[i - 1];
    if (k > BINS_MAX) return quantile_cuts(values, n, cuts);
    size_t made = 0;
    for (size_t i = 1; i < n; i++)
        if (values[i] != values[i - 1]) cuts[made++] = midpoint(values[i - 1], values[i]);
    return made;
}

/* A search of fixed length over cuts padded with infinity to 2^k - 1: nothing to mispredict, so that searches
 * for several values overlap. */
uint8_t wni_bins_code(const struct bin_column *column, double value)
{
    uint32_t below = 0;
    for (uint32_t step = column->first_step; step > 0; step /= 2)
        below += step & -(uint32_t)(column->cuts[below + step - 1] < value);
    return (uint8_t)below;
}

uint8_t wni_bins_middle_cut(const struct bin_column *c, uint8_t below, uint8_t above)
{
    double middle = c->high[below] + (c->low[above] - c->high[below]) / 2;
    uint8_t next = wni_bins_code(c, middle); /* the first cut not below the middle */
    if (next <= below) return below;
    if (next >= above) return (uint8_t)(above - 1);
    return c->cuts[next] - middle < middle - c->cuts[next - 1] ? next : (uint8_t)(next - 1);
}

/* Rows in order of code (a counting sort), the ends of the runs, and each bin's smallest and largest value.
 */
static void order_rows(struct bin_column *c, const double *x, size_t n, size_t columns)
{
    uint16_t next[BINS_MAX] = {0};
    for (size_t i = 0; i < n; i++)
        next[c->codes[i]]++;
    uint16_t sum = 0;
    for (uint32_t b = 0; b <= c->n_cuts; b++) {
        uint16_t count = next[b];
        next[b] = sum;
        sum = (uint16_t)(sum + count);
        c->run_end[b] = sum;
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t code = c->codes[i];
        double value = x[i * columns];
        bool first = next[code] == (code ? c->run_end[code - 1] : 0);
        if (first || value < c->low[code]) c->low[code] = value;
        if (first || value > c->high[code]) c->high[code] = value;
        c->order[next[code]++] = (uint16_t)i;
    }
}

static bool allocate_column(struct bin_column *c, size_t n, size_t stride, struct arena *arena)
{
    size_t n_bins = (size_t)c->n_cuts + 1;
    c->first_step = c->n_cuts ? (uint32_t)1 << (31 - __builtin_clz(c->n_cuts)) : 0;
    size_t padded = c->first_step ? 2 * (size_t)c->first_step - 1 : 0;
    double *numbers = arena_new(arena, double, padded + 2 * n_bins);
    uint16_t *rows = arena_new(arena, uint16_t, n + n_bins);
    c->codes = arena_new(arena, uint8_t, stride);
    if (!numbers || !rows || !c->codes) return false;
    c->cuts = numbers;
    for (size_t b = c->n_cuts; b < padded; b++)
        c->cuts[b] = INFINITY;
    c->low = numbers + padded;
    c->high = c->low + n_bins;
    c->order = rows;
    c->run_end = rows + n;
    return true;
}

wn_status wni_bins_build(struct bins *bins, const double *x, size_t n, size_t columns, struct arena *arena)
{
    assert(n > 0 && n <= BINS_ROWS_MAX && columns <= BINS_COLUMNS_MAX);
    size_t stride = (n + BINS_BLOCK - 1) / BINS_BLOCK * BINS_BLOCK;
    *bins = (struct bins){.n = n, .stride = stride, .columns = columns};
    bins->column = arena_new(arena, struct bin_column, columns);
    double *values = arena_new(arena, double, n);
    if (!bins->column || !values) return WN_ENOMEM;
    for (size_t j = 0; j < columns; j++) {
        struct bin_column *c = &bins->column[j];
        double cuts[BINS_MAX];
        for (size_t i = 0; i < n; i++)
            values[i] = x[i * columns + j];
        c->n_cuts = (uint32_t)find_cuts(values, n, cuts);
        if (!allocate_column(c, n, stride, arena)) return WN_ENOMEM;
        memcpy(c->cuts, cuts, c->n_cuts * sizeof *cuts);
        for (size_t i = 0; i < n; i++)
            c->codes[i] = wni_bins_code(c, x[i * columns + j]);
        order_rows(c, x + j, n, columns);
    }
    return WN_OK;
}

void wni_bins_encode(const struct bins *bins, const double *x, size_t m, uint8_t *out, size_t stride)
{
    for (size_t j = 0; j < bins->columns; j++)
        for (size_t i = 0; i < m; i++)
            out[j * stride + i] = wni_bins_code(&bins->column[j], x[i * bins->columns + j]);
}
