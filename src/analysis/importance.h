/* importance.h -- which parameters decide whether a trial is among the good ones.
 *
 * PED-ANOVA (Watanabe, Bansal, Hutter: "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in
 * Arbitrary Subspaces", IJCAI 2023): take the best share of the trials and compare, for each parameter, how
 * its values are distributed among them with how they are among all trials.  The importance is the Pearson
 * divergence of the two densities.  A parameter that does not matter has the same distribution in both;
 * because the reference is what was tried and not what could have been, a tuner that searches one corner
 * harder does not distort it.
 *
 * The densities are on a grid: every value of a parameter with up to IMPORTANCE_CELLS of them, else that many
 * equal parts of its scale.  Numbers and ordinals are smoothed with a Gaussian kernel, cut off at the ends,
 * of Scott's bandwidth (1.059 min(deviation, interquartile range / 1.34) n^-1/5, at least half a cell);
 * categories are counted.  A uniform density is mixed in with the weight of one trial. */
#ifndef WNI_ANALYSIS_IMPORTANCE_H
#define WNI_ANALYSIS_IMPORTANCE_H

#include "core/space.h"

enum { IMPORTANCE_CELLS = 50 };

/* n configurations (rows of space->n) with their values, lower is better, all finite; n > 0.  `share` of them
 * count as good, 0 < share < 1, at least one; with ties all of the equals.  out[space->n] sums to 1, or is
 * all 0 when nothing sets the good ones apart.  O(n log n + n space->n IMPORTANCE_CELLS). */
wn_status wni_importance(const struct space *space, const double *configs, const double *values, size_t n,
                         double share, double *out, struct err *err);

#endif
