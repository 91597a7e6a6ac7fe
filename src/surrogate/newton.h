/* newton.h -- gradient boosting by second-order steps: the logistic and the squared loss.
 *
 * As XGBoost defines it (Chen & Guestrin, KDD 2016): with g and h the first and second derivative of the loss
 * at the current fit, a leaf is -G/(H + lambda) times the learning rate, and a split gains GL^2/(HL+lambda) +
 * GR^2/(HR+lambda) - G^2/(H+lambda).  With the squared loss and lambda 0 this is Friedman's boosting on
 * residuals. */
#ifndef WNI_SURROGATE_NEWTON_H
#define WNI_SURROGATE_NEWTON_H

#include "surrogate/pinball.h"

enum newton_loss { LOSS_LOGISTIC, LOSS_SQUARED };

struct newton_options {
    enum newton_loss loss;
    struct boost_options boost;
    double lambda;           /* L2 on leaf values */
    double min_child_weight; /* least sum of h on either side of a split */
};

/* Fits one forest.  y is 0 or 1 for the logistic loss, whose forest predicts log odds.  The start is 0
 * (logistic), the mean (squared). */
wn_status wni_newton_fit(struct forest *forest, const struct bins *bins, const double *y,
                         const struct newton_options *options, struct rng *rng, struct arena *keep,
                         struct arena *scratch);

#endif
