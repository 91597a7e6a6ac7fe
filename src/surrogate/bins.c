/* bins.c -- finds the cuts of each column and the order of its rows.
 *
 * Tuning data has few distinct values in most columns (categories, ordinals), so those are found with a short
 * sorted list; only a column with more than SHORT_LIST of them is sorted. */
#include "surrogate/bins.h"

#include "num/order.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    SHORT_LIST = 24,
    BUCKETS = 1024,
    CROWDED = 64, /* so many values in each bucket, in the mean over values, are sorted otherwise */
};

/* A column of the matrix. */
struct source {
    const double *x;
    size_t n, stride;
};

static inline double value_at(const struct source *from, size_t i)
{
    return from->x[i * from->stride];
}

/* Collects the distinct values of a column if there are at most SHORT_LIST; returns their number, or 0. */
static size_t few_distinct(const struct source *from, double *distinct)
{
    size_t k = 0;
    for (size_t i = 0; i < from->n; i++) {
        double value = value_at(from, i);
        size_t at = k;
        while (at > 0 && distinct[at - 1] > value)
            at--;
        if (at > 0 && distinct[at - 1] == value) continue;
        if (k == SHORT_LIST) return 0;
        memmove(distinct + at + 1, distinct + at, (k - at) * sizeof *distinct);
        distinct[at] = value;
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

static void cuts_between(const double *distinct, size_t k, double *cuts)
{
    for (size_t i = 0; i + 1 < k; i++)
        cuts[i] = midpoint(distinct[i], distinct[i + 1]);
}

/* ---- many values ---- */

/* Which of BUCKETS equal parts of the column's range a value lies in. */
struct scale {
    double low, factor;
};

static inline size_t bucket_of(const struct scale *scale, double value)
{
    return (size_t)((value - scale->low) * scale->factor); /* rounding is monotonic, so is this */
}

static struct scale find_scale(const struct source *from)
{
    double low = value_at(from, 0), high = low;
    for (size_t i = 1; i < from->n; i++) {
        double value = value_at(from, i);
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    return (struct scale){low, (BUCKETS - 0.5) / (high - low)};
}

/* Where the rows of each bucket begin; false when the values are bunched so much that buckets are no help. */
static bool count_buckets(const struct source *from, const struct scale *scale, uint16_t *begin)
{
    if (!(scale->factor > 0) || isinf(scale->factor))
        return false; /* the range overflows, or nearly vanishes */
    size_t sum = 0, squares = 0;
    memset(begin, 0, BUCKETS * sizeof *begin);
    for (size_t i = 0; i < from->n; i++)
        begin[bucket_of(scale, value_at(from, i))]++;
    for (size_t b = 0; b < BUCKETS; b++) {
        size_t count = begin[b];
        begin[b] = (uint16_t)sum;
        sum += count;
        squares += count * count;
    }
    return squares <= CROWDED * from->n;
}

/* Sorts by value, then row.  Distributed over buckets the values are nearly in order, and an insertion sort
 * has little left to do: O(n) for what tuning data looks like, whatever the scale of the parameter. */
static void sort_in_buckets(const struct source *from, const struct scale *scale, uint16_t *begin,
                            double *sorted, uint16_t *rows)
{
    for (size_t i = 0; i < from->n; i++) {
        double value = value_at(from, i);
        size_t at = begin[bucket_of(scale, value)]++;
        sorted[at] = value;
        rows[at] = (uint16_t)i;
    }
    for (size_t i = 1; i < from->n; i++) {
        double value = sorted[i];
        uint16_t row = rows[i];
        size_t at = i;
        for (; at > 0 && sorted[at - 1] > value; at--) {
            sorted[at] = sorted[at - 1];
            rows[at] = rows[at - 1];
        }
        sorted[at] = value;
        rows[at] = row;
    }
}

static wn_status sort_column(const struct source *from, double *sorted, uint16_t *rows, struct arena *arena)
{
    uint16_t begin[BUCKETS];
    struct scale scale = find_scale(from);
    if (count_buckets(from, &scale, begin)) {
        sort_in_buckets(from, &scale, begin, sorted, rows);
        return WN_OK;
    }
    uint32_t *index = arena_new(arena, uint32_t, 2 * from->n);
    double *values = arena_new(arena, double, from->n);
    if (!index || !values) return WN_ENOMEM;
    for (size_t i = 0; i < from->n; i++)
        values[i] = value_at(from, i);
    wni_argsort(values, from->n, index, index + from->n);
    for (size_t i = 0; i < from->n; i++) {
        rows[i] = (uint16_t)index[i];
        sorted[i] = values[index[i]];
    }
    return WN_OK;
}

/* 255 evenly filled bins: a cut after every n/256 rows, moved up to the next change of value.  Returns their
 * number and the ends of the bins. */
static size_t quantile_ends(const double *sorted, size_t n, uint16_t *ends)
{
    size_t made = 0, last = 0;
    for (size_t k = 1; k < BINS_MAX; k++) {
        size_t at = k * n / BINS_MAX;
        if (at <= last) continue;
        while (at < n && sorted[at] == sorted[at - 1])
            at++;
        if (at == n) break;
        ends[made++] = (uint16_t)at;
        last = at;
    }
    return made;
}

/* A bin for each distinct value, or for each quantile when they are too many. */
static size_t find_ends(const double *sorted, size_t n, uint16_t *ends)
{
    size_t made = 0;
    for (size_t i = 1; i < n; i++) {
        if (sorted[i] == sorted[i - 1]) continue;
        if (made == BINS_MAX - 1) return quantile_ends(sorted, n, ends);
        ends[made++] = (uint16_t)i;
    }
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
    if (above - below == 1) return below; /* most often */
    double middle = c->high[below] + (c->low[above] - c->high[below]) / 2;
    uint32_t next = below, end = above; /* the first cut not below the middle */
    while (next < end) {
        uint32_t half = (next + end) / 2;
        if (c->cuts[half] < middle)
            next = half + 1;
        else
            end = half;
    }
    if (next == below) return below;
    if (next == above) return (uint8_t)(above - 1);
    return c->cuts[next] - middle < middle - c->cuts[next - 1] ? (uint8_t)next : (uint8_t)(next - 1);
}

/* Rows in order of code (a counting sort), the ends of the runs, and each bin's smallest and largest value.
 */
static void order_rows(struct bin_column *c, const struct source *from)
{
    uint16_t next[BINS_MAX] = {0};
    size_t n = from->n;
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
        double value = value_at(from, i);
        bool first = next[code] == (code ? c->run_end[code - 1] : 0);
        if (first || value < c->low[code]) c->low[code] = value;
        if (first || value > c->high[code]) c->high[code] = value;
        c->order[next[code]++] = (uint16_t)i;
    }
}

static bool allocate_column(struct bin_column *c, size_t n_cuts, size_t n, size_t stride, struct arena *arena)
{
    size_t n_bins = n_cuts + 1;
    c->n_cuts = (uint32_t)n_cuts;
    c->first_step = n_cuts ? (uint32_t)1 << (31 - __builtin_clz(c->n_cuts)) : 0;
    size_t padded = c->first_step ? 2 * (size_t)c->first_step - 1 : 0;
    double *numbers = arena_new(arena, double, padded + 2 * n_bins);
    uint16_t *rows = arena_new(arena, uint16_t, n + n_bins);
    c->codes = arena_new(arena, uint8_t, stride);
    if (!numbers || !rows || !c->codes) return false;
    c->cuts = numbers;
    for (size_t b = n_cuts; b < padded; b++)
        c->cuts[b] = INFINITY;
    c->low = numbers + padded;
    c->high = c->low + n_bins;
    c->order = rows;
    c->run_end = rows + n;
    return true;
}

static wn_status bin_distinct(struct bin_column *c, const struct source *from, const double *distinct,
                              size_t k, size_t stride, struct arena *arena)
{
    if (!allocate_column(c, k - 1, from->n, stride, arena)) return WN_ENOMEM;
    cuts_between(distinct, k, c->cuts);
    for (size_t i = 0; i < from->n; i++)
        c->codes[i] = wni_bins_code(c, value_at(from, i));
    order_rows(c, from);
    return WN_OK;
}

/* A few rows, increasing. */
static void sort_rows(uint16_t *rows, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint16_t row = rows[i];
        size_t at = i;
        for (; at > 0 && rows[at - 1] > row; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

static wn_status bin_sorted(struct bin_column *c, const struct source *from, const double *sorted,
                            const uint16_t *rows, size_t stride, struct arena *arena)
{
    uint16_t ends[BINS_MAX];
    size_t n_cuts = find_ends(sorted, from->n, ends), begin = 0;
    ends[n_cuts] = (uint16_t)from->n;
    if (!allocate_column(c, n_cuts, from->n, stride, arena)) return WN_ENOMEM;
    memcpy(c->order, rows, from->n * sizeof *rows);
    for (size_t b = 0; b <= n_cuts; begin = ends[b++]) {
        size_t end = ends[b];
        if (b < n_cuts) c->cuts[b] = midpoint(sorted[end - 1], sorted[end]);
        c->low[b] = sorted[begin];
        c->high[b] = sorted[end - 1];
        c->run_end[b] = (uint16_t)end;
        for (size_t i = begin; i < end; i++)
            c->codes[rows[i]] = (uint8_t)b;
        if (sorted[begin] != sorted[end - 1]) sort_rows(c->order + begin, end - begin); /* else they are */
    }
    return WN_OK;
}

wn_status wni_bins_build(struct bins *bins, const double *x, size_t n, size_t columns, struct arena *arena)
{
    assert(n > 0 && n <= BINS_ROWS_MAX && columns <= BINS_COLUMNS_MAX);
    size_t stride = (n + BINS_BLOCK - 1) / BINS_BLOCK * BINS_BLOCK;
    *bins = (struct bins){.n = n, .stride = stride, .columns = columns};
    bins->column = arena_new(arena, struct bin_column, columns);
    double *sorted = arena_new(arena, double, n);
    uint16_t *rows = arena_new(arena, uint16_t, n);
    if (!bins->column || !sorted || !rows) return WN_ENOMEM;
    wn_status st = WN_OK;
    for (size_t j = 0; j < columns && !st; j++) {
        struct bin_column *c = &bins->column[j];
        struct source from = {x + j, n, columns};
        double distinct[SHORT_LIST];
        size_t k = few_distinct(&from, distinct);
        if (k) {
            st = bin_distinct(c, &from, distinct, k, stride, arena);
            continue;
        }
        st = sort_column(&from, sorted, rows, arena);
        if (!st) st = bin_sorted(c, &from, sorted, rows, stride, arena);
    }
    return st;
}

void wni_bins_encode(const struct bins *bins, const double *x, size_t m, uint8_t *out, size_t stride)
{
    for (size_t j = 0; j < bins->columns; j++) {
        const struct bin_column *c = &bins->column[j];
        const double *value = x + j;
        uint8_t *code = out + j * stride;
        if (c->n_cuts == 1) { /* a category's */
            double cut = c->cuts[0];
            for (size_t i = 0; i < m; i++)
                code[i] = cut < value[i * bins->columns];
            continue;
        }
        for (size_t i = 0; i < m; i++)
            code[i] = wni_bins_code(c, value[i * bins->columns]);
    }
}
