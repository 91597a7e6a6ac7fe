/* conformal.h -- how far a pair of predicted quantiles has to be moved so that it covers what it promises.
 *
 * Split-conformal calibration of quantile regression (Romano, Patterson, Candès, NeurIPS 2019): on rows the
 * model has not seen, the score of a row is how far it lies outside the interval (negative inside).  Moving
 * both ends outwards by the right order statistic of the scores makes the interval cover a new exchangeable
 * row with probability at least `coverage`, and at most 1/(n+1) more when scores do not tie, whatever the
 * model. */
#ifndef WNI_SURROGATE_CONFORMAL_H
#define WNI_SURROGATE_CONFORMAL_H

#include <stddef.h>

/* low and high: predictions for n > 0 held-out rows with targets y.  `scores` holds n and is overwritten. The
 * correction may be negative (the interval was too wide).  Where n is too small for the promise, the largest
 * score is used. */
double wni_conformal_correction(const double *low, const double *high, const double *y, size_t n,
                                double coverage, double *scores);

#endif
