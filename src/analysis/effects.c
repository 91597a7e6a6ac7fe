/* effects.c -- fits the trees, draws the points, compares; see effects.h. */
#include "analysis/effects.h"

#include "base/mem.h"
#include "core/encode.h"
#include "core/streams.h"
#include "num/order.h"
#include "num/stats.h"
#include "surrogate/newton.h"

#include <math.h>
#include <string.h>

struct effects {
    const struct space *space;
    struct arena arena;
    struct bins bins;
    struct forest forest;
    double *points, *others;  /* EFFECTS_POINTS configurations each */
    double *row;              /* one encoded configuration per point */
    uint8_t *codes;           /* likewise */
    double *before, *changed; /* predictions */
};

/* Copies the values, those far above the rest cut off, and scaled so that squares of the largest are numbers.
 */
static double *tamed(const double *values, size_t n, struct arena *arena)
{
    double *out = arena_new(arena, double, 2 * n), *sorted = out ? out + n : NULL;
    if (!out) return NULL;
    memcpy(sorted, values, n * sizeof *sorted);
    wni_sort(sorted, n);
    double high = wni_quantile_linear(sorted, n, 0.9), middle = wni_quantile_linear(sorted, n, 0.5);
    double limit = high > middle ? high + 3 * (high - middle) : INFINITY;
    double most = fmax(fabs(sorted[0]), fmin(fabs(sorted[n - 1]), limit));
    for (size_t i = 0; i < n; i++)
        out[i] = fmin(values[i], limit) / (most > 0 ? most : 1);
    return out;
}

static wn_status fit(struct effects *e, const double *configs, const double *values, size_t n)
{
    static const struct newton_options options = {
        .loss = LOSS_SQUARED,
        .boost = {.trees = EFFECTS_TREES,
                  .depth = 3,
                  .rate = 0.1,
                  .min_leaf = 2,
                  .row_share = 1,
                  .column_share = 1},
    };
    size_t width = e->space->tree_width, rows = n < EFFECTS_ROWS_MAX ? n : EFFECTS_ROWS_MAX;
    double *x = arena_new(&e->arena, double, rows *width), *y = arena_new(&e->arena, double, rows);
    const double *tame = tamed(values, n, &e->arena);
    struct rng unused = wni_rng_stream(0, 0, STREAM_SEARCH); /* every tree sees all rows and columns */
    if (!x || !y || !tame) return WN_ENOMEM;
    for (size_t i = 0; i < rows; i++) {
        size_t from = i * n / rows;
        wni_encode_tree(e->space, configs + from * e->space->n, x + i * width);
        y[i] = tame[from];
    }
    wn_status st = wni_bins_build(&e->bins, x, rows, width, &e->arena);
    return st ? st : wni_newton_fit(&e->forest, &e->bins, y, &options, &unused, &e->arena, &e->arena);
}

static wn_status draw(struct effects *e)
{
    size_t width = e->space->n, columns = e->space->tree_width;
    struct rng rng = wni_rng_stream(0, 0, STREAM_RANDOM);
    e->points = arena_new(&e->arena, double, 2 * EFFECTS_POINTS * width);
    e->row = arena_new(&e->arena, double, EFFECTS_POINTS *columns);
    e->codes = arena_new(&e->arena, uint8_t, EFFECTS_POINTS * columns);
    e->before = arena_new(&e->arena, double, 2 * EFFECTS_POINTS);
    if (!e->points || !e->row || !e->codes || !e->before) return WN_ENOMEM;
    e->others = e->points + EFFECTS_POINTS * width;
    e->changed = e->before + EFFECTS_POINTS;
    for (size_t i = 0; i < 2 * (size_t)EFFECTS_POINTS; i++)
        wni_config_sample(e->space, &rng, e->points + i * width);
    return WN_OK;
}

static void predict(struct effects *e, double *out)
{
    size_t columns = e->space->tree_width;
    for (size_t i = 0; i < EFFECTS_POINTS; i++)
        wni_encode_tree(e->space, e->points + i * e->space->n, e->row + i * columns);
    wni_bins_encode(&e->bins, e->row, EFFECTS_POINTS, e->codes, EFFECTS_POINTS);
    wni_forest_predict(&e->forest, e->codes, EFFECTS_POINTS, EFFECTS_POINTS, out, wni_simd_pick());
}

/* One parameter of every point for that of the other point, and back again when called once more. */
static void swap(struct effects *e, size_t param)
{
    for (size_t i = 0; i < EFFECTS_POINTS; i++) {
        double *a = &e->points[i * e->space->n + param], *b = &e->others[i * e->space->n + param], keep = *a;
        *a = *b;
        *b = keep;
    }
}

static double effect(struct effects *e, size_t param)
{
    double sum = 0;
    swap(e, param);
    predict(e, e->changed);
    swap(e, param);
    for (size_t i = 0; i < EFFECTS_POINTS; i++)
        sum += (e->changed[i] - e->before[i]) * (e->changed[i] - e->before[i]);
    return sum / (2.0 * EFFECTS_POINTS);
}

wn_status wni_effects(const struct space *space, const double *configs, const double *values, size_t n,
                      double *out, struct err *err)
{
    struct effects e = {.space = space};
    double total = 0;
    memset(out, 0, space->n * sizeof *out);
    if (space->tree_width == 0) return WN_OK; /* nothing but constants */
    wn_status st = fit(&e, configs, values, n);
    if (!st) st = draw(&e);
    if (!st) predict(&e, e.before);
    for (size_t i = 0; i < space->n && !st; i++) {
        out[i] = effect(&e, i);
        total += out[i];
    }
    for (size_t i = 0; i < space->n && total > 0; i++)
        out[i] /= total;
    wni_arena_release(&e.arena);
    return st ? wni_fail_memory(err) : WN_OK;
}
