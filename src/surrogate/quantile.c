/* quantile.c -- holds out, fits, calibrates. */
#include "surrogate/quantile.h"

#include "surrogate/conformal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void wni_quantile_release(struct quantile_model *model)
{
    wni_arena_release(&model->keep);
    wni_arena_release(&model->scratch);
}

static size_t count_held_out(const struct quantile_options *o, size_t n)
{
    if (!o->conformal || n <= (size_t)o->threshold) return 0;
    size_t held = (size_t)ceil(o->holdout * (double)n * (1 - 1e-12)); /* 0.1 * 30 is 3, not 4 */
    return held < n ? held : n - 1;
}

/* Rows in random order: the first n_held_out are for calibration, the rest for the fit. */
static wn_status shuffle_rows(struct quantile_model *m, const double *x, const double *y, size_t n,
                              size_t columns, struct rng *rng, double **rows, double **targets)
{
    uint32_t *order = arena_new(&m->scratch, uint32_t, n);
    *rows = arena_new(&m->scratch, double, n *columns);
    *targets = arena_new(&m->scratch, double, n);
    if (!order || !*rows || !*targets) return WN_ENOMEM;
    wni_rng_permutation(rng, order, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        memcpy(*rows + i * columns, x + order[i] * columns, columns * sizeof *x);
        (*targets)[i] = y[order[i]];
    }
    return WN_OK;
}

static wn_status calibrate(struct quantile_model *m, const double *x, const double *y, size_t n)
{
    size_t stride = (n + BINS_BLOCK - 1) / BINS_BLOCK * BINS_BLOCK;
    uint8_t *codes = arena_new(&m->scratch, uint8_t, stride * m->bins.columns);
    double *low = arena_new(&m->scratch, double, n), *high = arena_new(&m->scratch, double, n);
    double *scores = arena_new(&m->scratch, double, n);
    if (!codes || !low || !high || !scores) return WN_ENOMEM;
    wni_bins_encode(&m->bins, x, n, codes, stride);
    for (size_t j = 0; j < m->n_levels / 2; j++) {
        size_t other = m->n_levels - 1 - j;
        wni_forest_predict(&m->forest[j], codes, stride, n, low, m->simd);
        wni_forest_predict(&m->forest[other], codes, stride, n, high, m->simd);
        double gamma = wni_conformal_correction(low, high, y, n, 1 - 2 * m->level[j], scores);
        m->shift[j] = -gamma;
        m->shift[other] = gamma;
    }
    return WN_OK;
}

wn_status wni_quantile_fit(struct quantile_model *m, const double *x, const double *y, size_t n,
                           size_t columns, const struct quantile_options *o, struct rng *rng)
{
    assert(o->levels >= 1 && o->levels <= QUANTILE_LEVELS_MAX && n > 0);
    wni_arena_reset(&m->keep);
    wni_arena_reset(&m->scratch);
    m->simd = wni_simd_pick();
    m->n_levels = (size_t)o->levels;
    m->n_held_out = count_held_out(o, n);
    memset(m->shift, 0, sizeof m->shift);
    for (size_t j = 0; j < m->n_levels; j++)
        m->level[j] = (double)(j + 1) / (double)(m->n_levels + 1);
    double *rows = (double *)x, *targets = (double *)y; /* only read; copies when rows are held out */
    size_t held = m->n_held_out;
    wn_status st = WN_OK;
    if (held) st = shuffle_rows(m, x, y, n, columns, rng, &rows, &targets);
    if (!st) st = wni_bins_build(&m->bins, rows + held * columns, n - held, columns, &m->keep);
    if (!st)
        st = wni_pinball_fit(m->forest, m->level, m->n_levels, &m->bins, targets + held, &o->boost, rng,
                             m->simd, &m->keep, &m->scratch);
    if (!st && held) st = calibrate(m, rows, targets, held);
    return st;
}

void wni_quantile_predict(const struct quantile_model *model, size_t j, const uint8_t *codes, size_t stride,
                          size_t m, double *out)
{
    wni_forest_predict(&model->forest[j], codes, stride, m, out, model->simd);
    for (size_t i = 0; i < m; i++)
        out[i] += model->shift[j];
}
