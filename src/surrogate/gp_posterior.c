/* gp_posterior.c -- a factored kernel matrix and what can be read off it.
 *
 * With K = L L' and root = L^-1 (y - mean), the mean at a point with kernel column k is mean + k' L^-T root
 * and the variance k(x, x) - |L^-1 k|^2.  A pending row appended to L has as its entry of `root` a standard
 * normal variable given the rows before it: a joint draw of all pending rows costs one normal number each. */
#include "surrogate/gp.h"

#include "num/linalg.h"
#include "num/portable.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Least variance, relative to the scale: where rounding took the rest. */
static const double LEAST_VARIANCE = 1e-12;

wn_status wni_gp_posterior_init(struct gp_posterior *p, const double *theta, const struct gp_data *shape,
                                size_t cap, size_t columns, struct arena *arena)
{
    size_t width = shape->width, stride = wni_matern_pad(cap), slots = wni_gp_slots(width, shape->n_levels);
    *p = (struct gp_posterior){.cap = cap, .width = width, .stride = stride, .simd = wni_simd_pick()};
    p->theta = arena_new(arena, double, slots);
    p->xs = arena_new(arena, double, stride *width);
    p->squares = arena_new(arena, double, stride);
    p->level = arena_new(arena, uint8_t, stride);
    p->l = arena_new(arena, double, stride *stride);
    p->root = arena_new(arena, double, stride *columns);
    p->alpha = arena_new(arena, double, stride *columns);
    p->work = arena_new(arena, double, stride + width);
    p->factor = arena_new(arena, double, width);
    if (!p->theta || !p->xs || !p->squares || !p->level || !p->l || !p->root || !p->alpha || !p->work ||
        !p->factor || wni_gp_curve_init(&p->curve, shape->n_levels, arena))
        return WN_ENOMEM;
    memcpy(p->theta, theta, slots * sizeof *theta);
    wni_gp_factors(theta, width, p->factor);
    p->scale = wni_exp(theta[wni_gp_slot_scale(width)]);
    p->noise = wni_exp(theta[wni_gp_slot_noise(width)]);
    p->mean = theta[wni_gp_slot_mean(width)];
    wni_gp_curve_set(&p->curve, shape->resource, shape->n_levels, theta + wni_gp_slot_curve(width));
    return WN_OK;
}

/* ---- the factor ---- */

static void add_rows(struct gp_posterior *p, const double *x, const uint8_t *level, size_t m)
{
    assert(p->n + m <= p->cap);
    struct matern_points added = {p->xs + p->n, m, p->width, p->stride};
    wni_gp_scale_rows(x, m, p->width, p->factor, p->xs + p->n, p->stride);
    wni_gp_square_lengths(&added, p->squares + p->n);
    for (size_t i = 0; i < m; i++)
        p->level[p->n + i] = level ? level[i] : 0;
}

static void point_of(const struct gp_posterior *p, size_t i, double *point)
{
    for (size_t d = 0; d < p->width; d++)
        point[d] = p->xs[d * p->stride + i];
}

/* The kernel matrix of all rows, lower triangle. */
static void build(struct gp_posterior *p)
{
    struct matern_points points = {p->xs, p->n, p->width, p->stride};
    wni_gp_kernel_of(&points, p->scale, p->work, p->l, NULL, p->simd);
    for (size_t j = 0; j < p->n; j++) {
        double *column = p->l + j * p->stride;
        const double *cov = p->curve.cov + p->level[j] * p->curve.n;
        for (size_t i = j; i < p->n; i++)
            column[i] += cov[p->level[i]];
        column[j] += p->noise + p->jitter;
    }
}

static void factor_all(struct gp_posterior *p)
{
    build(p);
    while (!wni_cholesky(p->l, p->n, p->stride)) {
        p->jitter = p->jitter > 0 ? 10 * p->jitter : 1e-10 * p->scale;
        assert(p->jitter < 1e3 * p->scale);
        build(p);
    }
}

void wni_gp_posterior_factor(struct gp_posterior *p, const double *x, const uint8_t *level, size_t n)
{
    p->n = 0;
    p->jitter = 0;
    add_rows(p, x, level, n);
    p->n = n;
    factor_all(p);
}

/* The kernel of new row r with all rows up to it, into row r of the matrix. */
static void build_row(struct gp_posterior *p, size_t r)
{
    struct matern_points points = {p->xs, r + 1, p->width, p->stride};
    double *point = p->work, *column = p->work + p->width;
    const double *cov = p->curve.cov + p->level[r] * p->curve.n;
    point_of(p, r, point);
    wni_matern(&points, 0, point, p->scale, column, NULL, p->simd);
    for (size_t j = 0; j <= r; j++)
        p->l[j * p->stride + r] = column[j] + cov[p->level[j]];
    p->l[r * p->stride + r] += p->noise + p->jitter;
}

void wni_gp_posterior_append(struct gp_posterior *p, const double *x, const uint8_t *level, size_t m)
{
    size_t n = p->n;
    add_rows(p, x, level, m);
    for (size_t r = n; r < n + m; r++)
        build_row(p, r);
    p->n = n + m;
    if (!wni_cholesky_append(p->l, n, m, p->stride, p->work)) factor_all(p); /* with jitter */
}

void wni_gp_posterior_cut(struct gp_posterior *p, size_t n)
{
    assert(n <= p->n);
    p->n = n;
}

/* ---- targets ---- */

void wni_gp_posterior_targets(struct gp_posterior *p, const double *y, size_t n_y, size_t columns,
                              struct rng *rng)
{
    double *first = p->root;
    for (size_t i = 0; i < n_y; i++)
        first[i] = y[i] - p->mean - p->curve.mean[p->level[i]];
    wni_solve_lower(p->l, n_y, p->stride, first, 1, p->stride);
    p->n_columns = columns;
    for (size_t c = 0; c < columns; c++) {
        double *root = p->root + c * p->stride;
        if (c) memcpy(root, first, n_y * sizeof *root);
        for (size_t i = n_y; i < p->n; i++)
            root[i] = wni_rng_normal(rng);
        memcpy(p->alpha + c * p->stride, root, p->n * sizeof *root);
    }
    wni_solve_upper(p->l, p->n, p->stride, p->alpha, columns, p->stride);
}

/* y = mean + K alpha holds for every row, and K without the noise gives the mean there. */
void wni_gp_row_means(const struct gp_posterior *p, const double *y, size_t n_y, size_t column, double *out)
{
    const double *root = p->root + column * p->stride, *alpha = p->alpha + column * p->stride;
    for (size_t i = 0; i < p->n; i++) {
        double shown = i < n_y ? y[i] : p->mean + p->curve.mean[p->level[i]];
        for (size_t j = 0; i >= n_y && j <= i; j++)
            shown += p->l[j * p->stride + i] * root[j]; /* what the draw was */
        out[i] = shown - (p->noise + p->jitter) * alpha[i];
    }
}

/* ---- prediction ---- */

static void add_curve(const struct gp_posterior *p, size_t level, double *k)
{
    const double *cov = p->curve.cov + level * p->curve.n;
    for (size_t i = 0; p->curve.n > 1 && i < p->n; i++)
        k[i] += cov[p->level[i]];
}

static void kernel_column(const struct gp_posterior *p, const double *x, size_t level, double *point,
                          double *k, double *slope)
{
    struct matern_points points = {p->xs, p->n, p->width, p->stride};
    wni_gp_scale_rows(x, 1, p->width, p->factor, point, 1);
    wni_matern(&points, 0, point, p->scale, k, slope, p->simd);
    add_curve(p, level, k);
}

double wni_gp_prior(const struct gp_posterior *p, size_t level)
{
    return p->scale + p->curve.cov[level * p->curve.n + level];
}

static double variance_left(const struct gp_posterior *p, size_t level, const double *v)
{
    double prior = wni_gp_prior(p, level), known = 0;
    for (size_t i = 0; i < p->n; i++)
        known += v[i] * v[i];
    return fmax(prior - known, LEAST_VARIANCE * prior);
}

size_t wni_gp_predict_scratch(const struct gp_posterior *p, size_t m)
{
    return (p->stride + p->width) * m;
}

void wni_gp_predict(const struct gp_posterior *p, const double *x, size_t m, size_t level, double *mean,
                    double *variance, double *scratch)
{
    double *points = scratch + p->stride * m;
    double base = p->mean + p->curve.mean[level];
    struct matern_points rows = {p->xs, p->n, p->width, p->stride};
    for (size_t i = 0; i < m; i++)
        wni_gp_scale_rows(x + i * p->width, 1, p->width, p->factor, points + i * p->width, 1);
    wni_gp_kernel_with(&rows, p->squares, points, m, p->scale, scratch, p->simd);
    for (size_t i = 0; i < m; i++)
        add_curve(p, level, scratch + i * p->stride);
    if (p->n && m)
        wni_multiply_transposed(1, p->alpha, p->stride, p->n, p->n_columns, scratch, p->stride, m, 0, mean,
                                p->n_columns);
    for (size_t i = 0; i < m * p->n_columns; i++)
        mean[i] = base + (p->n ? mean[i] : 0);
    if (!variance) return;
    wni_solve_lower(p->l, p->n, p->stride, scratch, m, p->stride);
    for (size_t i = 0; i < m; i++)
        variance[i] = variance_left(p, level, scratch + i * p->stride);
}

/* ---- one point, with gradient ---- */

/* scratch: k, slope, v, the scaled point, sums by column */
size_t wni_gp_point_scratch(const struct gp_posterior *p)
{
    return 3 * p->stride + 2 * p->width;
}

void wni_gp_point(const struct gp_posterior *p, const double *x, size_t level, double *mean, double *variance,
                  double *scratch)
{
    double *k = scratch, *slope = k + p->stride, *v = slope + p->stride, *point = v + p->stride;
    kernel_column(p, x, level, point, k, slope);
    if (p->n) wni_multiply_vector(p->alpha, p->n, p->n_columns, p->stride, k, mean);
    for (size_t c = 0; c < p->n_columns; c++)
        mean[c] = (p->n ? mean[c] : 0) + p->mean + p->curve.mean[level];
    memcpy(v, k, p->n * sizeof *v);
    wni_solve_lower(p->l, p->n, p->stride, v, 1, p->stride);
    *variance = variance_left(p, level, v);
}

void wni_gp_point_gradient(const struct gp_posterior *p, const double *by_mean, double by_variance,
                           double *scratch, double *gradient)
{
    double *k = scratch, *slope = k + p->stride, *v = slope + p->stride, *point = v + p->stride,
           *sums = point + p->width;
    double total = 0;
    wni_solve_upper(p->l, p->n, p->stride, v, 1, p->stride); /* K^-1 k */
    for (size_t i = 0; i < p->n; i++)
        k[i] = -2 * by_variance * v[i];
    for (size_t c = 0; c < p->n_columns; c++)
        for (size_t i = 0; i < p->n; i++)
            k[i] += by_mean[c] * p->alpha[c * p->stride + i];
    for (size_t i = 0; i < p->n; i++) {
        k[i] *= slope[i];
        total += k[i];
    }
    memset(sums, 0, p->width * sizeof *sums);
    if (p->n) wni_multiply_vector(p->xs, p->n, p->width, p->stride, k, sums);
    for (size_t d = 0; d < p->width; d++)
        gradient[d] = (sums[d] - point[d] * total) * p->factor[d];
}

/* ---- joint samples ---- */

wn_status wni_gp_sample(const struct gp_posterior *p, const double *x, size_t m, size_t level, size_t samples,
                        struct rng *rng, double *out, struct arena *scratch)
{
    struct gp_posterior at; /* only for the kernel among the m points */
    struct gp_data shape = {.width = p->width};
    double *mean = arena_new(scratch, double, m * p->n_columns + 1);
    double *v = arena_new(scratch, double, wni_gp_predict_scratch(p, m));
    double *noise = arena_new(scratch, double, m + 1);
    if (!mean || !v || !noise || wni_gp_posterior_init(&at, p->theta, &shape, m, 1, scratch))
        return WN_ENOMEM;
    wni_gp_predict(p, x, m, level, mean, noise, v); /* v := L^-1 K */
    at.noise = 1e-10 * p->scale;
    add_rows(&at, x, NULL, m);
    at.n = m;
    at.curve.cov[0] = p->curve.cov[level * p->curve.n + level];
    do {
        at.jitter = at.jitter > 0 ? 10 * at.jitter : 1e-10 * p->scale;
        assert(at.jitter < 1e3 * p->scale);
        build(&at);
        if (p->n && m)
            wni_multiply_transposed(-1, v, p->stride, p->n, m, v, p->stride, m, 1, at.l, at.stride);
    } while (!wni_cholesky(at.l, m, at.stride));
    for (size_t s = 0; s < samples; s++) {
        double *row = out + s * m;
        for (size_t i = 0; i < m; i++)
            noise[i] = wni_rng_normal(rng);
        for (size_t i = 0; i < m; i++)
            row[i] = mean[i * p->n_columns];
        for (size_t j = 0; j < m; j++)
            for (size_t i = j; i < m; i++)
                row[i] += at.l[j * at.stride + i] * noise[j];
    }
    return WN_OK;
}
