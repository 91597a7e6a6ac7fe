/* quantile.h -- the surrogate of the paper: m quantiles of the target given the configuration, conformally
 * corrected or not.
 *
 * Levels are j/(m+1), j = 1..m.  Each is a forest of boosted trees (pinball.h).  With more than `threshold`
 * rows and `conformal` set, a share of the rows is held out and every pair of levels a, 1-a is moved apart by
 * its correction (conformal.h); the median of an odd m is not. */
#ifndef WNI_SURROGATE_QUANTILE_H
#define WNI_SURROGATE_QUANTILE_H

#include "surrogate/pinball.h"

enum { QUANTILE_LEVELS_MAX = 64 };

struct quantile_options {
    struct boost_options boost;
    int levels; /* m, 1 .. QUANTILE_LEVELS_MAX */
    bool conformal;
    double holdout; /* share of the rows for calibration, rounded up */
    int threshold;  /* calibrate with more rows than this */
};

struct quantile_model {
    struct arena keep; /* bins and forests of the last fit */
    struct arena scratch;
    struct bins bins;
    size_t n_levels, n_held_out; /* n_held_out 0: not corrected */
    double level[QUANTILE_LEVELS_MAX];
    double shift[QUANTILE_LEVELS_MAX]; /* added to the forest's prediction: -gamma below the median, +gamma
                                          above */
    struct forest forest[QUANTILE_LEVELS_MAX];
    enum simd simd;
};

/* Zero-initialised is empty.  A model may be fitted again and again; its memory is kept for the next fit. */
void wni_quantile_release(struct quantile_model *model);

/* Fits to n rows of `columns` numbers and their targets, all finite; n > 0, at most PINBALL_ROWS_MAX.  `rng`
 * decides who is held out. */
wn_status wni_quantile_fit(struct quantile_model *model, const double *x, const double *y, size_t n,
                           size_t columns, const struct quantile_options *options, struct rng *rng);

/* Predictions of level j for m rows of codes (wni_bins_encode() with model->bins; stride a multiple of
 * BINS_BLOCK). */
void wni_quantile_predict(const struct quantile_model *model, size_t j, const uint8_t *codes, size_t stride,
                          size_t m, double *out);

/* The correction of pair j (levels j and m-1-j), the paper's gamma; 0 when not corrected. */
static inline double wni_quantile_gamma(const struct quantile_model *model, size_t j)
{
    return model->shift[model->n_levels - 1 - j];
}

#endif
