/* importance.c -- densities on grids and their divergence; see importance.h. */
#include "analysis/importance.h"

#include "base/mem.h"
#include "core/encode.h"
#include "num/order.h"
#include "num/portable.h"
#include "num/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A parameter of the observations: the cell each of them falls into. */
struct grid {
    size_t cells;
    bool ordered;
    uint32_t *cell;    /* one per observation */
    double *positions; /* scratch, n */
};

static size_t count_cells(const struct param *p)
{
    return p->count && (p->count <= IMPORTANCE_CELLS || p->kind == PARAM_CATEGORICAL) ? (size_t)p->count
                                                                                      : IMPORTANCE_CELLS;
}

static size_t cell_of(const struct param *p, size_t cells, double value)
{
    if (p->count && p->count == cells) return (size_t)wni_param_index_of(p, value);
    double at = floor(wni_param_to_unit(p, value) * (double)cells);
    return at >= (double)cells ? cells - 1 : at < 0 ? 0 : (size_t)at;
}

static double center(size_t cell, size_t cells)
{
    return ((double)cell + 0.5) / (double)cells;
}

/* Scott's rule over the cells' centres of the chosen observations. */
static double bandwidth(const struct grid *g, const bool *chosen, size_t n)
{
    double *x = g->positions, floor_at = 0.5 / (double)g->cells;
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (!chosen || chosen[i]) x[m++] = center(g->cell[i], g->cells);
    double deviation = m > 1 ? sqrt(wni_variance(x, m, 1)) : 0;
    wni_sort(x, m);
    double range = (wni_quantile_linear(x, m, 0.75) - wni_quantile_linear(x, m, 0.25)) / 1.34;
    double spread = range > 0 ? fmin(deviation, range) : deviation;
    return fmax(1.059 * spread * wni_exp(-0.2 * wni_log((double)m)), floor_at);
}

/* Spreads `weight` observations of one cell over the grid. */
static void add_kernel(double *density, size_t cells, size_t at, double weight, double sigma)
{
    double mean = center(at, cells), below = wni_normal_cdf(-mean / sigma);
    double total = wni_normal_cdf((1 - mean) / sigma) - below, left = below;
    for (size_t c = 0; c < cells; c++) {
        double right = wni_normal_cdf(((double)(c + 1) / (double)cells - mean) / sigma);
        density[c] += weight * (right - left) / total;
        left = right;
    }
}

/* The density of the chosen observations (NULL: of all) over the grid; it sums to 1. */
static void estimate(const struct grid *g, const bool *chosen, size_t n, double *counts, double *density)
{
    double sigma = g->ordered ? bandwidth(g, chosen, n) : 0, total = 1;
    for (size_t c = 0; c < g->cells; c++) {
        counts[c] = 0;
        density[c] = 1 / (double)g->cells;
    }
    for (size_t i = 0; i < n; i++) {
        if (chosen && !chosen[i]) continue;
        counts[g->cell[i]]++;
        total++;
    }
    for (size_t c = 0; c < g->cells; c++) {
        if (g->ordered && counts[c] > 0)
            add_kernel(density, g->cells, c, counts[c], sigma);
        else
            density[c] += counts[c];
    }
    for (size_t c = 0; c < g->cells; c++)
        density[c] /= total;
}

static double divergence(const double *p, const double *q, size_t n)
{
    double sum = 0;
    for (size_t c = 0; c < n; c++) {
        double ratio = p[c] / q[c] - 1;
        sum += q[c] * ratio * ratio;
    }
    return sum;
}

static wn_status score(const struct param *p, size_t column, const struct space *space, const double *configs,
                       const bool *good, size_t n, struct arena *scratch, double *out)
{
    struct grid g = {.cells = count_cells(p),
                     .ordered = p->kind != PARAM_CATEGORICAL && p->kind != PARAM_BOOL};
    *out = 0;
    if (p->count == 1) return WN_OK;
    wni_arena_reset(scratch);
    g.cell = arena_new(scratch, uint32_t, n);
    g.positions = arena_new(scratch, double, n);
    double *counts = arena_new(scratch, double, 3 * g.cells);
    if (!g.cell || !g.positions || !counts) return WN_ENOMEM;
    for (size_t i = 0; i < n; i++)
        g.cell[i] = (uint32_t)cell_of(p, g.cells, configs[i * space->n + column]);
    double *among_good = counts + g.cells, *among_all = among_good + g.cells;
    estimate(&g, good, n, counts, among_good);
    estimate(&g, NULL, n, counts, among_all);
    *out = divergence(among_good, among_all, g.cells);
    return WN_OK;
}

/* Those at or below the value of rank ceil(share n). */
static void choose_good(const double *values, size_t n, double share, double *sorted, bool *good)
{
    size_t k = (size_t)ceil(share * (double)n);
    memcpy(sorted, values, n * sizeof *sorted);
    double limit = wni_select(sorted, n, k > 0 ? k - 1 : 0);
    for (size_t i = 0; i < n; i++)
        good[i] = values[i] <= limit;
}

wn_status wni_importance(const struct space *space, const double *configs, const double *values, size_t n,
                         double share, double *out, struct err *err)
{
    struct arena scratch = {0};
    double total = 0, *sorted = wni_new(double, n);
    bool *good = wni_new(bool, n);
    wn_status st = sorted && good ? WN_OK : WN_ENOMEM;
    if (!st) choose_good(values, n, share, sorted, good);
    for (size_t i = 0; i < space->n && !st; i++) {
        st = score(&space->params[i], i, space, configs, good, n, &scratch, &out[i]);
        total += out[i];
    }
    for (size_t i = 0; i < space->n && !st && total > 0; i++)
        out[i] /= total;
    free(sorted);
    free(good);
    wni_arena_release(&scratch);
    return st ? wni_fail_memory(err) : WN_OK;
}
