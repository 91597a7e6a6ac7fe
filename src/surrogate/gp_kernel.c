/* gp_kernel.c -- what likelihood and posterior share: scaled points, and what levels add to the kernel. */
#include "surrogate/gp.h"

#include "num/linalg.h"
#include "num/portable.h"

#include <string.h>

static const double SQRT5 = 2.23606797749979;

void wni_gp_factors(const double *theta, size_t width, double *factor)
{
    for (size_t d = 0; d < width; d++)
        factor[d] = SQRT5 * wni_exp(theta[d]);
}

void wni_gp_scale_rows(const double *x, size_t n, size_t width, const double *factor, double *out,
                       size_t stride)
{
    enum { LINE = 8 }; /* doubles that come from memory together */
    for (size_t from = 0; from < width; from += LINE) {
        size_t to = from + LINE < width ? from + LINE : width;
        for (size_t i = 0; i < n; i++)
            for (size_t d = from; d < to; d++)
                out[d * stride + i] = factor[d] * x[i * width + d];
    }
}

/* ---- many columns at a time ---- */

enum { WIDE = 32 }; /* columns of a point from which a matrix product pays */

void wni_gp_square_lengths(const struct matern_points *rows, double *squares)
{
    memset(squares, 0, rows->n * sizeof *squares);
    for (size_t d = 0; d < rows->width; d++) {
        const double *x = rows->x + d * rows->stride;
        for (size_t i = 0; i < rows->n; i++)
            squares[i] += x[i] * x[i];
    }
}

void wni_gp_kernel_with(const struct matern_points *rows, const double *squares, const double *points,
                        size_t m, double scale, double *k, enum simd simd)
{
    size_t n = rows->n, width = rows->width, stride = rows->stride;
    if (width < WIDE || n == 0) {
        for (size_t j = 0; j < m; j++)
            wni_matern(rows, 0, points + j * width, scale, k + j * stride, NULL, simd);
        return;
    }
    wni_multiply(-2, rows->x, n, width, stride, points, width, m, k, stride);
    for (size_t j = 0; j < m; j++) {
        double *column = k + j * stride, own = 0;
        for (size_t d = 0; d < width; d++)
            own += points[j * width + d] * points[j * width + d];
        for (size_t i = 0; i < n; i++)
            column[i] += squares[i] + own;
        wni_matern_of_squares(0, n, scale, column, NULL, simd);
    }
}

/* Column j from the diagonal down. */
static void one_by_one(const struct matern_points *rows, size_t j, double scale, double *point, double *k,
                       double *slope, enum simd simd)
{
    for (size_t d = 0; d < rows->width; d++)
        point[d] = rows->x[d * rows->stride + j];
    wni_matern(rows, j, point, scale, k, slope, simd);
}

void wni_gp_kernel_of(const struct matern_points *rows, double scale, double *squares, double *k,
                      double *slope, enum simd simd)
{
    size_t n = rows->n, stride = rows->stride;
    bool wide = rows->width >= WIDE && n > 0;
    if (wide) {
        wni_gp_square_lengths(rows, squares);
        wni_multiply_by_itself(-2, rows->x, n, rows->width, stride, k, stride);
    }
    for (size_t j = 0; j < n; j++) {
        double *column = k + j * stride, *slopes = slope ? slope + j * stride : NULL;
        if (!wide) {
            one_by_one(rows, j, scale, squares, column, slopes, simd);
            continue;
        }
        for (size_t i = j; i < n; i++)
            column[i] += squares[i] + squares[j];
        column[j] = 0;
        wni_matern_of_squares(j, n, scale, column, slopes, simd);
    }
}

/* ---- learning curves ---- */

wn_status wni_gp_curve_init(struct gp_curve *c, size_t n_levels, struct arena *arena)
{
    c->n = n_levels ? n_levels : 1;
    size_t pairs = c->n * c->n;
    double *cov = arena_new(arena, double, 3 * pairs), *mean = arena_new(arena, double, 3 * c->n);
    if (!cov || !mean) return WN_ENOMEM;
    c->cov = cov;
    c->mean = mean;
    for (size_t k = 0; k < 2; k++) {
        c->cov_by[k] = cov + (k + 1) * pairs;
        c->mean_by[k] = mean + (k + 1) * c->n;
    }
    return WN_OK;
}

struct decay {
    double value, by_alpha, by_lambda; /* kappa and its derivatives by log alpha, log lambda */
};

static struct decay decay_at(double u, double alpha, double lambda)
{
    double beta = alpha / lambda, log_ratio = -wni_log1p(u / beta), share = u / (u + beta);
    double kappa = wni_exp(alpha * log_ratio);
    return (struct decay){kappa, kappa * alpha * (log_ratio + share), -kappa * alpha * share};
}

void wni_gp_curve_set(struct gp_curve *c, const double *resource, size_t n_levels, const double *curve_theta)
{
    if (!n_levels) return;
    double alpha = wni_exp(curve_theta[0]), lambda = wni_exp(curve_theta[1]), gamma = wni_exp(curve_theta[2]);
    for (size_t a = 0; a < n_levels; a++) {
        struct decay one = decay_at(resource[a], alpha, lambda);
        c->mean[a] = gamma * one.value;
        c->mean_by[0][a] = gamma * one.by_alpha;
        c->mean_by[1][a] = gamma * one.by_lambda;
        for (size_t b = 0; b < n_levels; b++) {
            struct decay two = decay_at(resource[b], alpha, lambda),
                         both = decay_at(resource[a] + resource[b], alpha, lambda);
            size_t at = a * n_levels + b;
            c->cov[at] = gamma * gamma * (both.value - one.value * two.value);
            c->cov_by[0][at] =
                gamma * gamma * (both.by_alpha - one.by_alpha * two.value - one.value * two.by_alpha);
            c->cov_by[1][at] =
                gamma * gamma * (both.by_lambda - one.by_lambda * two.value - one.value * two.by_lambda);
        }
    }
}
