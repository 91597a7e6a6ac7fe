/* effects.h -- how much each parameter moves the value, over the whole space.
 *
 * A model of the value (boosted trees, as in functional ANOVA by Hutter, Hoos and Leyton-Brown, ICML 2014) is
 * asked about configurations drawn uniformly from the space.  The importance of a parameter is its total
 * effect (Homma and Saltelli 1996, by Jansen's formula): half the mean square by which the prediction moves
 * when this parameter alone is drawn anew.  So what a parameter does together with others counts for each of
 * them.
 *
 * The question is asked of the space, not of the trials: a tuner that soon tries one category only does not
 * hide that this category decides.  PED-ANOVA (importance.h) cannot see that, as its good trials and its
 * others are alike then.  The price is that the answer is as good as the model is where there are few trials.
 *
 * Values far above the rest, as of a diverged run, are cut off at q90 + 3 (q90 - median); else the one of
 * 1e9 among values around 1 would be all there is to explain. */
#ifndef WNI_ANALYSIS_EFFECTS_H
#define WNI_ANALYSIS_EFFECTS_H

#include "core/space.h"

enum {
    EFFECTS_TREES = 100,
    EFFECTS_POINTS = 2048,   /* configurations the model is asked about, and once more for each parameter */
    EFFECTS_ROWS_MAX = 4096, /* trials fitted; of more, this many evenly over the study */
};

/* n configurations (rows of space->n) with their values, lower is better, all finite; n > 0.  out[space->n]
 * sums to 1, or is all 0 when the model found nothing.  The same numbers for the same trials.  O(trees (n
 * columns + points space->n)). */
wn_status wni_effects(const struct space *space, const double *configs, const double *values, size_t n,
                      double *out, struct err *err);

#endif
