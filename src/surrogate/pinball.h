/* pinball.h -- quantile regression by gradient boosting: one forest per level, all levels fitted together.
 *
 * Friedman's gradient boosting (Annals of Statistics 2001) with the pinball loss.  Start: the empirical
 * quantile of y.  Each tree is grown on the sign of the residuals by Friedman's improvement, and each leaf
 * takes the lower empirical quantile of the residuals in it, times the learning rate. */
#ifndef WNI_SURROGATE_PINBALL_H
#define WNI_SURROGATE_PINBALL_H

#include "num/rng.h"
#include "surrogate/forest.h"

enum {
    PINBALL_ROWS_MAX = 4096
}; /* products of two counts stay exact in single precision (pinball_kernel.inc) */

struct boost_options {
    int trees, depth; /* depth at most FOREST_DEPTH_MAX */
    double rate;
    int min_leaf;        /* rows on either side of a split; at least 1 */
    double row_share;    /* of the rows for each tree, drawn without replacement; 1: all */
    double column_share; /* of the columns for each tree; 1: all */
};

/* Fits n_levels forests (levels strictly between 0 and 1) to bins->n targets.  The forests are allocated in
 * `keep`; `scratch` is used and may be reset afterwards.  `rng` is only drawn from when a share is below 1.
 * The result does not depend on `simd`, nor on which other levels are fitted in the same call: all see the
 * same samples. */
wn_status wni_pinball_fit(struct forest *forests, const double *levels, size_t n_levels,
                          const struct bins *bins, const double *y, const struct boost_options *options,
                          struct rng *rng, enum simd simd, struct arena *keep, struct arena *scratch);

#endif
