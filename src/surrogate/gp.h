/* gp.h -- Gaussian process regression: likelihood, fit, posterior.
 *
 * The model of y at a point x: a constant mean, a Matern-5/2 kernel with a covariance scale and one inverse
 * bandwidth per column, and noise.  Rows may also carry a level (a resource such as epochs); then the kernel
 * and the mean get the exponential decay of learning curves on top (Swersky, Snoek, Adams: "Freeze-thaw
 * Bayesian optimization", 2014, in the form MOBSTER uses):
 *
 *     k((x, r), (x', r')) = matern(x, x') + gamma^2 (kappa(r + r') - kappa(r) kappa(r'))
 *     mean(r) = mean + gamma kappa(r),    kappa(u) = (beta / (u + beta))^alpha,  beta = alpha / lambda
 *
 * Hyperparameters are one vector `theta`, logarithms of all that is positive:
 *
 *     inverse bandwidth of each column | scale | noise variance | mean | with levels: alpha, lambda, gamma
 *
 * Linear algebra is num/linalg.h; O(n^3) for n rows where a factor is made, O(n^2) for what reads it. */
#ifndef WNI_SURROGATE_GP_H
#define WNI_SURROGATE_GP_H

#include "base/arena.h"
#include "num/rng.h"
#include "surrogate/matern.h"
#include "winnow.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- data and hyperparameters ---- */

struct gp_data {
    size_t n, width;
    const double *x; /* n rows of `width` */
    const double *y;
    const uint8_t *level;   /* of each row; not read when there are no levels */
    const double *resource; /* of each level, 0..1 */
    size_t n_levels;        /* 0: no levels, no curve */
};

static inline size_t wni_gp_slot_scale(size_t width)
{
    return width;
}
static inline size_t wni_gp_slot_noise(size_t width)
{
    return width + 1;
}
static inline size_t wni_gp_slot_mean(size_t width)
{
    return width + 2;
}
static inline size_t wni_gp_slot_curve(size_t width) /* alpha, lambda, gamma */
{
    return width + 3;
}
static inline size_t wni_gp_slots(size_t width, size_t n_levels)
{
    return width + (n_levels ? 6 : 3);
}

/* What levels add: cov[a * n + b] to the kernel and mean[a] to the mean; by_* are derivatives by the
 * logarithms of alpha and lambda.  With no levels n is 1 and all is 0. */
struct gp_curve {
    size_t n;
    double *cov, *mean;
    double *cov_by[2], *mean_by[2];
};
wn_status wni_gp_curve_init(struct gp_curve *c, size_t n_levels, struct arena *arena);
void wni_gp_curve_set(struct gp_curve *c, const double *resource, size_t n_levels, const double *curve_theta);

/* sqrt(5) times the inverse bandwidth of each column; and rows multiplied by that and turned to columns
 * out[d * stride + i]. */
void wni_gp_factors(const double *theta, size_t width, double *factor);
void wni_gp_scale_rows(const double *x, size_t n, size_t width, const double *factor, double *out,
                       size_t stride);

/* Many columns of the kernel at a time.  Where points have many columns (one-hot categories), distances come
 * from a matrix product, |a|^2 + |b|^2 - 2ab, which is several times as fast and as exact as the kernel
 * needs: it is flat where the difference is small.  `squares` holds a number for each row. */

/* |a|^2 of each row. */
void wni_gp_square_lengths(const struct matern_points *rows, double *squares);

/* k[j * stride + i]: row i with point j, of m points one after the other.  `squares` of the rows are known.
 */
void wni_gp_kernel_with(const struct matern_points *rows, const double *squares, const double *points,
                        size_t m, double scale, double *k, enum simd simd);
/* The rows with each other, lower triangle, and unless NULL the slopes.  `squares` is scratch. */
void wni_gp_kernel_of(const struct matern_points *rows, double scale, double *squares, double *k,
                      double *slope, enum simd simd);

/* ---- likelihood (gp_likelihood.c) ---- */

struct gp_work {
    size_t stride;
    double *xs;         /* scaled points and a column of ones */
    double *k, *slope;  /* stride x stride */
    double *products;   /* stride x (width + 1) */
    double *z, *alpha;  /* residuals, K^-1 of them */
    double *squares;    /* scratch of a kernel: a point, or a number for each row */
    double *level_sums; /* by pair of levels */
    struct gp_curve curve;
    enum simd simd;
};
wn_status wni_gp_work_init(struct gp_work *w, size_t n_max, size_t width, size_t n_levels,
                           struct arena *arena);

/* Minus the log marginal likelihood of `data` and, unless NULL, its gradient by theta.  A kernel that is not
 * positive definite to rounding gets growing jitter on its diagonal.  O(n^3). */
double wni_gp_likelihood(struct gp_work *w, const struct gp_data *data, const double *theta,
                         double *gradient);

/* ---- fit (gp_fit.c) ---- */

struct gp_fit_options {
    int evaluations;  /* of the likelihood, at most, for each start */
    double tolerance; /* of its value */
    int starts;       /* the initial values, and perturbed ones */
};

/* Maximum a posteriori.  Several data sets share bandwidths and noise (and curve) and have their own mean and
 * scale; the result is one theta for each, one after the other. */
wn_status wni_gp_fit(const struct gp_data *sets, size_t n_sets, const struct gp_fit_options *options,
                     struct rng *rng, double *theta, struct arena *scratch);

/* Initial values, for when there is nothing to fit. */
void wni_gp_initial(size_t width, size_t n_levels, double *theta);

/* ---- posterior (gp_posterior.c) ---- */

/* A factored kernel matrix, and targets: several columns, which differ in what pending rows are thought to
 * show.  Rows can be appended. */
struct gp_posterior {
    size_t n, cap;        /* rows, room for */
    size_t width, stride; /* stride: leading dimension, padded cap */
    double *theta;
    double scale, noise, mean;
    double jitter;
    double *xs;      /* scaled points, columns of stride */
    double *squares; /* of their lengths */
    uint8_t *level;  /* of each row */
    double *l;       /* the factor */
    double *root;    /* L^-1 residuals: one column of stride for each target column */
    double *alpha;   /* L^-T of that */
    size_t n_columns;
    double *work;   /* stride + width */
    double *factor; /* of each column: sqrt(5) times the inverse bandwidth */
    struct gp_curve curve;
    enum simd simd;
};

/* Room for `cap` rows and `columns` target columns. */
wn_status wni_gp_posterior_init(struct gp_posterior *p, const double *theta, const struct gp_data *shape,
                                size_t cap, size_t columns, struct arena *arena);
/* Factors the kernel of n rows (levels: NULL for none). */
void wni_gp_posterior_factor(struct gp_posterior *p, const double *x, const uint8_t *level, size_t n);
/* Appends m rows to the factor, in one go.  O(n^2 m). */
void wni_gp_posterior_append(struct gp_posterior *p, const double *x, const uint8_t *level, size_t m);
/* Forgets all rows from number n on. */
void wni_gp_posterior_cut(struct gp_posterior *p, size_t n);
/* Conditions on y, the targets of the first n_y rows.  Rows after them are pending: each of the `columns`
 * gets a joint draw of what they might show (noise included) from the posterior given y. */
void wni_gp_posterior_targets(struct gp_posterior *p, const double *y, size_t n_y, size_t columns,
                              struct rng *rng);

/* The variance at a level with no rows at all. */
double wni_gp_prior(const struct gp_posterior *p, size_t level);

/* Mean (m rows of n_columns) and variance (without noise) at m rows of x, all at one level.  `scratch` holds
 * what wni_gp_predict_scratch() says. */
void wni_gp_predict(const struct gp_posterior *p, const double *x, size_t m, size_t level, double *mean,
                    double *variance, double *scratch);
size_t wni_gp_predict_scratch(const struct gp_posterior *p, size_t m);

/* The mean of a column at each of the model's own rows, at their own levels; y and n_y as given to
 * wni_gp_posterior_targets().  O(n) for each pending row, O(1) for the others. */
void wni_gp_row_means(const struct gp_posterior *p, const double *y, size_t n_y, size_t column, double *out);

/* At one point: mean of each column and variance, and with weights for how a function depends on them, its
 * gradient by x: sum over columns of by_mean[c] dmean_c/dx + by_variance dvariance/dx.  The two calls share
 * `scratch`, which holds wni_gp_point_scratch(). */
void wni_gp_point(const struct gp_posterior *p, const double *x, size_t level, double *mean, double *variance,
                  double *scratch);
void wni_gp_point_gradient(const struct gp_posterior *p, const double *by_mean, double by_variance,
                           double *scratch, double *gradient);
size_t wni_gp_point_scratch(const struct gp_posterior *p);

/* `samples` joint draws at m rows of x (column 0's targets, no noise), row after row of m.  O(m^3). */
wn_status wni_gp_sample(const struct gp_posterior *p, const double *x, size_t m, size_t level, size_t samples,
                        struct rng *rng, double *out, struct arena *scratch);

#endif
