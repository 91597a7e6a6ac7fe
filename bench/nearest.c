/* nearest.c -- 1-nearest-neighbour: a configuration behaves like the closest one that was run.
 *
 * Distance is Euclidean over standardised columns, as scikit-learn's StandardScaler followed by
 * KNeighborsRegressor(1) would have it: mean 0 and population standard deviation 1 over the table's rows (a
 * constant column: 1).  Numbers enter as they are ("distance": "raw") or in their declared scale ("declared":
 * the logarithm where the parameter has a log scale); a categorical or boolean enters as one 0/1 column per
 * value, an ordinal of words as its index.  Ties go to the lowest row.
 *
 * The search is brute force, O(rows x columns): 2,000 rows of 7 take 4 microseconds.  Rows stand in blocks of
 * eight, column by column, so that several rows are worked on at once while each sum keeps its order: the
 * answer is the same on every machine. */
#include "bench/columns.h"
#include "bench/curves.h"

#include "base/mem.h"
#include "num/portable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 8, WIDTH_MAX = 1024 };

struct nearest {
    struct box box;
    struct curves curves;
    bool declared; /* numbers enter in their declared scale */
    size_t width;  /* columns of the standardised table */
    size_t n_rows;
    double *configs; /* the rows as configurations of the space */
    double *blocks;  /* [row / 8][column][row % 8]; rows past the end are infinitely far away */
    double *mean, *deviation;
};

static void close_nearest(struct blackbox *base)
{
    struct nearest *n = (struct nearest *)base;
    wni_curves_release(&n->curves);
    free(n->configs);
    free(n->blocks);
    free(n->mean);
    free(n->deviation);
    wni_box_release(&n->box);
    free(n);
}

/* ---- a configuration as coordinates ---- */

static bool is_one_hot(const struct param *p)
{
    return p->kind == PARAM_CATEGORICAL || p->kind == PARAM_BOOL;
}

static size_t columns_of(const struct param *p)
{
    return p->kind == PARAM_CONSTANT ? 0 : is_one_hot(p) ? (size_t)p->count : 1;
}

/* Writes a parameter's coordinates, not yet standardised.  `x` is the number itself, or the index of the
 * value. */
static size_t spread(const struct nearest *n, const struct param *p, double x, double *out)
{
    size_t width = columns_of(p);
    if (is_one_hot(p))
        for (size_t k = 0; k < width; k++)
            out[k] = (double)k == x ? 1 : 0;
    else if (width)
        out[0] = n->declared && p->scale == WN_LOG ? wni_log(x) : x;
    return width;
}

static void standardise(const struct nearest *n, double *row)
{
    for (size_t j = 0; j < n->width; j++)
        row[j] = (row[j] - n->mean[j]) / n->deviation[j];
}

/* ---- looking up ---- */

typedef double pair __attribute__((vector_size(16)));

static size_t nearest_row(const struct nearest *n, const double *query)
{
    size_t best_row = 0;
    double best = INFINITY;
    for (size_t block = 0; block * BLOCK < n->n_rows; block++) {
        const double *at = n->blocks + block * BLOCK * n->width;
        pair sums[BLOCK / 2] = {0};
        for (size_t j = 0; j < n->width; j++)
            for (size_t r = 0; r < BLOCK / 2; r++) {
                pair d = *(const pair *)(const void *)(at + j * BLOCK + 2 * r) - query[j];
                sums[r] += d * d;
            }
        for (size_t r = 0; r < BLOCK; r++)
            if (sums[r / 2][r % 2] < best) {
                best = sums[r / 2][r % 2];
                best_row = block * BLOCK + r;
            }
    }
    return best_row;
}

static wn_status open_curve(const struct blackbox *base, const double *config, uint64_t seed, void *state,
                            struct err *err)
{
    (void)err;
    const struct nearest *n = (const struct nearest *)base;
    double query[WIDTH_MAX];
    size_t at = 0;
    for (size_t i = 0; i < base->space.n; i++) {
        const struct param *p = &base->space.params[i];
        at += spread(n, p, p->numbers ? p->numbers[(size_t)config[i]] : config[i], query + at);
    }
    standardise(n, query);
    struct curve *curve = state;
    curve->row = nearest_row(n, query);
    curve->seed = seed % n->curves.n_seeds;
    return WN_OK;
}

static void read_curve(const struct blackbox *base, void *state, size_t level, double *value, double *seconds)
{
    wni_curves_read(&((const struct nearest *)base)->curves, state, level, value, seconds);
}

static void row_config(const struct blackbox *base, size_t row, double *config)
{
    const double *from = ((const struct nearest *)base)->configs + row * base->space.n;
    memcpy(config, from, base->space.n * sizeof *config);
}

static const struct blackbox_ops nearest_ops = {
    .open_curve = open_curve, .read_curve = read_curve, .row_config = row_config, .close = close_nearest};

/* ---- opening ---- */

static wn_status read_distance(struct nearest *n, const struct family *family, struct err *err)
{
    const char *distance;
    wn_status st = wni_family_text(family, family->root, "distance", "raw", &distance, err);
    if (st) return st;
    n->declared = !strcmp(distance, "declared");
    if (n->declared || !strcmp(distance, "raw")) return WN_OK;
    return wni_family_fail(family, wni_node_get(family->root, "distance"), err,
                           "'distance' must be raw or declared, not '%s'", distance);
}

static wn_status measure_width(struct nearest *n, struct err *err)
{
    const struct space *space = &n->box.base.space;
    for (size_t i = 0; i < space->n; i++) {
        size_t width = columns_of(&space->params[i]);
        if (width > WIDTH_MAX - n->width)
            return wni_fail(err, WN_EINVAL, "task '%s': the space has more than %d columns", n->box.base.name,
                            WIDTH_MAX);
        n->width += width;
    }
    return WN_OK;
}

struct rows {
    double *items;   /* row-major, n->width each */
    double *configs; /* likewise, space->n each */
    size_t n, cap, configs_cap;
};

/* The value of the space nearest to what stands in the table: a float is rounded to its grid. */
static double nearest_value(const struct param *p, double x)
{
    if (!p->numbers) return wni_param_nearest(p, x);
    size_t best = 0;
    for (size_t k = 1; k < p->count; k++)
        if (fabs(p->numbers[k] - x) < fabs(p->numbers[best] - x)) best = k;
    return (double)best;
}

/* Checks a row of numbers and appends its coordinates. */
static wn_status append_row(const struct nearest *n, const struct csv *csv, const double *row,
                            struct rows *rows, struct err *err)
{
    const struct space *space = &n->box.base.space;
    size_t n_rows = rows->n + 1;
    if (!wni_reserve((void **)&rows->items, &rows->cap, n_rows * n->width, sizeof *rows->items) ||
        !wni_reserve((void **)&rows->configs, &rows->configs_cap, n_rows * space->n, sizeof *rows->configs))
        return wni_fail_memory(err);
    double *out = rows->items + rows->n * n->width, *config = rows->configs + rows->n * space->n;
    rows->n = n_rows;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *p = &space->params[i];
        config[i] = nearest_value(p, row[i]);
        if (n->declared && p->scale == WN_LOG && !(row[i] > 0))
            return wni_fail(err, WN_EINVAL, "%s:%zu: '%s' has a log scale but is %.15g", csv->path,
                            csv->row_line, p->name, row[i]);
        out += spread(n, p, row[i], out);
    }
    return WN_OK;
}

static wn_status read_rows(const struct nearest *n, const char *path, struct rows *rows, struct err *err)
{
    struct columns columns = {0};
    double *row = wni_new(double, n->box.base.space.n);
    wn_status st = row ? wni_columns_open(&columns, &n->box.base.space, path, err) : wni_fail_memory(err);
    while (!st) {
        st = wni_columns_next_raw(&columns, row, err);
        if (!st) st = append_row(n, &columns.csv, row, rows, err);
    }
    if (st == WN_EXHAUSTED) st = rows->n ? WN_OK : wni_fail(err, WN_EINVAL, "'%s' has no rows", path);
    wni_columns_release(&columns);
    free(row);
    return st;
}

/* Mean, then the mean of squared differences: two passes, since one would cancel for narrow columns far from
 * 0. */
static void measure_columns(struct nearest *n, const struct rows *rows)
{
    double count = (double)rows->n;
    for (size_t j = 0; j < n->width; j++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < rows->n; i++)
            sum += rows->items[i * n->width + j];
        n->mean[j] = sum / count;
        for (size_t i = 0; i < rows->n; i++) {
            double d = rows->items[i * n->width + j] - n->mean[j];
            squares += d * d;
        }
        double deviation = sqrt(squares / count);
        n->deviation[j] = deviation > 0 ? deviation : 1;
    }
}

static void fill_blocks(struct nearest *n, struct rows *rows)
{
    size_t padded = (rows->n + BLOCK - 1) / BLOCK * BLOCK;
    for (size_t i = 0; i < padded; i++) {
        double *row = i < rows->n ? rows->items + i * n->width : NULL;
        if (row) standardise(n, row);
        double *out = n->blocks + i / BLOCK * BLOCK * n->width + i % BLOCK;
        for (size_t j = 0; j < n->width; j++)
            out[j * BLOCK] = row ? row[j] : INFINITY;
    }
}

static wn_status build(struct nearest *n, const char *path, struct err *err)
{
    struct rows rows = {0};
    wn_status st = read_rows(n, path, &rows, err);
    if (st) goto out;
    n->n_rows = n->box.base.n_rows = rows.n;
    n->configs = rows.configs;
    rows.configs = NULL;
    n->mean = wni_new(double, n->width);
    n->deviation = wni_new(double, n->width);
    n->blocks = wni_new(double, wni_size_mul(rows.n + BLOCK, n->width));
    if (!n->mean || !n->deviation || !n->blocks) {
        st = wni_fail_memory(err);
        goto out;
    }
    measure_columns(n, &rows);
    fill_blocks(n, &rows);
out:
    free(rows.items);
    free(rows.configs);
    return st;
}

static wn_status open_nearest(const struct task *task, const struct family *family, struct blackbox **out,
                              struct err *err)
{
    struct nearest *n = wni_new(struct nearest, 1);
    if (!n) return wni_fail_memory(err);
    const char *configs = NULL;
    wn_status st = wni_box_init_family(&n->box, task, family, &nearest_ops, err);
    if (!st) st = read_distance(n, family, err);
    if (!st) st = measure_width(n, err);
    if (!st) st = wni_columns_path(&n->box.arena, task, family, &configs, err);
    if (!st) st = build(n, configs, err);
    if (!st) st = wni_curves_open(&n->curves, &n->box, task, family, n->n_rows, err);
    n->box.base.curve_size = sizeof(struct curve);
    if (st)
        close_nearest(&n->box.base);
    else
        *out = &n->box.base;
    return st;
}

const struct blackbox_kind wni_blackbox_nearest = {.name = "nearest", .open = open_nearest};
