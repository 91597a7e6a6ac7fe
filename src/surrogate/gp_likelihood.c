/* gp_likelihood.c -- minus the log marginal likelihood and its gradient (Rasmussen & Williams 2006, 2.30 and
 * 5.9).
 *
 * With G = (K^-1 - alpha alpha') / 2 the derivative by any hyperparameter is the sum of G times the kernel's.
 * For the bandwidths that is a sum of W_ij (x_id - x_jd)^2 over pairs, W = -G * slope, for all columns d:
 * with the square written out, one symmetric matrix product.  For scale and noise the trace identity sum G K
 * = (n - z' alpha) / 2 saves another pass. */
#include "surrogate/gp.h"

#include "num/linalg.h"
#include "num/portable.h"

#include <math.h>
#include <string.h>

static const double LOG_2PI = 1.8378770664093453;

wn_status wni_gp_work_init(struct gp_work *w, size_t n_max, size_t width, size_t n_levels,
                           struct arena *arena)
{
    size_t stride = wni_matern_pad(n_max);
    *w = (struct gp_work){.stride = stride, .simd = wni_simd_pick()};
    w->xs = arena_new(arena, double, stride *(width + 1));
    w->products = arena_new(arena, double, stride *(width + 1));
    w->k = arena_new(arena, double, stride *stride);
    w->slope = arena_new(arena, double, stride *stride);
    w->z = arena_new(arena, double, stride);
    w->alpha = arena_new(arena, double, stride);
    w->squares = arena_new(arena, double, stride + width);
    w->level_sums = arena_new(arena, double, (n_levels + 1) * (n_levels + 1));
    if (!w->xs || !w->products || !w->k || !w->slope || !w->z || !w->alpha || !w->squares || !w->level_sums)
        return WN_ENOMEM;
    return wni_gp_curve_init(&w->curve, n_levels, arena);
}

static size_t level_of(const struct gp_data *data, size_t i)
{
    return data->n_levels ? data->level[i] : 0;
}

/* ---- the kernel matrix and its factor ---- */

static void build(struct gp_work *w, const struct gp_data *data, double scale, double diagonal)
{
    struct matern_points points = {w->xs, data->n, data->width, w->stride};
    wni_gp_kernel_of(&points, scale, w->squares, w->k, w->slope, w->simd);
    for (size_t j = 0; j < data->n; j++) {
        double *column = w->k + j * w->stride;
        column[j] += diagonal;
        if (!data->n_levels) continue;
        const double *cov = w->curve.cov + level_of(data, j) * w->curve.n;
        for (size_t i = j; i < data->n; i++)
            column[i] += cov[data->level[i]];
    }
}

/* Returns what was put on the diagonal: the noise and, where that is not enough, jitter. */
static double factor(struct gp_work *w, const struct gp_data *data, double scale, double noise)
{
    double jitter = 0;
    build(w, data, scale, noise);
    while (!wni_cholesky(w->k, data->n, w->stride)) {
        jitter = jitter > 0 ? 10 * jitter : 1e-10 * scale;
        if (!(jitter < 100 * scale)) return NAN; /* only if there is a NaN in it */
        build(w, data, scale, noise + jitter);
    }
    return noise + jitter;
}

/* ---- the gradient; k holds the inverse ---- */

/* Slopes become W, lower triangle, and level sums of G are taken.  Returns the trace of G. */
static double weigh(struct gp_work *w, const struct gp_data *data)
{
    double trace = 0;
    memset(w->level_sums, 0, w->curve.n * w->curve.n * sizeof *w->level_sums);
    for (size_t j = 0; j < data->n; j++) {
        const double *inverse = w->k + j * w->stride, *alpha = w->alpha;
        double *slope = w->slope + j * w->stride, own = alpha[j];
        double *sums = w->level_sums + level_of(data, j) * w->curve.n;
        trace += 0.5 * (inverse[j] - own * alpha[j]);
        for (size_t i = j; i < data->n; i++)
            slope[i] *= -0.5 * (inverse[i] - own * alpha[i]);
        slope[j] = 0;
        if (!data->n_levels) continue;
        sums[data->level[j]] += 0.5 * (inverse[j] - own * alpha[j]);
        for (size_t i = j + 1; i < data->n; i++)
            sums[data->level[i]] += inverse[i] - own * alpha[i];
    }
    return trace;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void bandwidth_gradient(struct gp_work *w, const struct gp_data *data, double *gradient)
{
    size_t n = data->n, width = data->width, stride = w->stride;
    for (size_t i = 0; i < n; i++)
        w->xs[width * stride + i] = 1;
    wni_multiply_symmetric(w->slope, n, stride, w->xs, stride, width + 1, w->products, stride);
    const double *row_sums = w->products + width * stride;
    for (size_t d = 0; d < width; d++) {
        const double *x = w->xs + d * stride, *wx = w->products + d * stride;
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += x[i] * (x[i] * row_sums[i] - wx[i]);
        gradient[d] = 2 * sum;
    }
}

/* Adds what comes through the curve; returns the part of sum G K that levels have. */
static double curve_gradient(const struct gp_work *w, const struct gp_data *data, double *gradient)
{
    const struct gp_curve *c = &w->curve;
    size_t pairs = c->n * c->n, at = wni_gp_slot_curve(data->width);
    double part = dot(w->level_sums, c->cov, pairs);
    double mean_part[3] = {0};
    for (size_t i = 0; i < data->n; i++) {
        size_t level = data->level[i];
        mean_part[0] += w->alpha[i] * c->mean_by[0][level];
        mean_part[1] += w->alpha[i] * c->mean_by[1][level];
        mean_part[2] += w->alpha[i] * c->mean[level];
    }
    gradient[at] = dot(w->level_sums, c->cov_by[0], pairs) - mean_part[0];
    gradient[at + 1] = dot(w->level_sums, c->cov_by[1], pairs) - mean_part[1];
    gradient[at + 2] = 2 * part - mean_part[2];
    return part;
}

static void make_gradient(struct gp_work *w, const struct gp_data *data, double diagonal, double noise,
                          double *gradient)
{
    size_t n = data->n, width = data->width;
    double fit = dot(w->z, w->alpha, n), of_levels = 0, sum_alpha = 0;
    wni_cholesky_inverse(w->k, n, w->stride);
    double trace = weigh(w, data);
    bandwidth_gradient(w, data, gradient);
    if (data->n_levels) of_levels = curve_gradient(w, data, gradient);
    for (size_t i = 0; i < n; i++)
        sum_alpha += w->alpha[i];
    gradient[wni_gp_slot_scale(width)] = 0.5 * ((double)n - fit) - diagonal * trace - of_levels;
    gradient[wni_gp_slot_noise(width)] = noise * trace;
    gradient[wni_gp_slot_mean(width)] = -sum_alpha;
}

double wni_gp_likelihood(struct gp_work *w, const struct gp_data *data, const double *theta, double *gradient)
{
    size_t n = data->n, width = data->width;
    double scale = wni_exp(theta[wni_gp_slot_scale(width)]), noise = wni_exp(theta[wni_gp_slot_noise(width)]);
    double mean = theta[wni_gp_slot_mean(width)];
    wni_gp_factors(theta, width, w->squares);
    wni_gp_scale_rows(data->x, n, width, w->squares, w->xs, w->stride);
    wni_gp_curve_set(&w->curve, data->resource, data->n_levels, theta + wni_gp_slot_curve(width));
    for (size_t i = 0; i < n; i++)
        w->alpha[i] = w->z[i] = data->y[i] - mean - w->curve.mean[level_of(data, i)];
    double diagonal = factor(w, data, scale, noise);
    if (isnan(diagonal)) return NAN;
    wni_solve_lower(w->k, n, w->stride, w->alpha, 1, w->stride);
    double value = 0.5 * dot(w->alpha, w->alpha, n) + wni_cholesky_half_logdet(w->k, n, w->stride) +
                   0.5 * (double)n * LOG_2PI;
    wni_solve_upper(w->k, n, w->stride, w->alpha, 1, w->stride);
    if (gradient) make_gradient(w, data, diagonal, noise, gradient);
    return value;
}
