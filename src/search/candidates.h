/* candidates.h -- what a model-based searcher learns from, and what it chooses from.
 *
 * Observations: the trials that have a value, or a random subset when they are more than the model is meant
 * to fit, as rows of numbers.  Candidates: configurations drawn from the space, or all that were never asked
 * when these are few.  Everything lives in the caller's arena; WN_ENOMEM is the only way to fail. */
#ifndef WNI_SEARCH_CANDIDATES_H
#define WNI_SEARCH_CANDIDATES_H

#include "base/arena.h"
#include "num/rng.h"
#include "search/search.h"

struct observations {
    size_t n_observed; /* trials that have a value */
    size_t n;          /* of those, to be fitted */
    uint32_t *trials;  /* which */
    double *y;         /* their values */
    double *x;         /* their rows, once encoded */
};

/* Finds the observed trials and their values; of more than `max` a random subset, in the order of asking. */
wn_status wni_observations_choose(const struct search_env *env, const struct history *h, size_t max,
                                  struct rng *rng, struct arena *arena, struct observations *o);

typedef void encode_fn(const struct space *space, const double *config, double *row);

/* Rows of `width` numbers of the chosen trials, into o->x. */
wn_status wni_observations_encode(const struct history *h, encode_fn *encode, size_t width,
                                  struct arena *arena, struct observations *o);

struct candidates {
    size_t n;
    double *configs; /* rows of the space's n */
};

/* `max` draws in the declared scales, without those asked before unless `duplicates`; or, in a finite space
 * that has no more than `max` configurations left, all of these, in the order of their numbers.  None at all
 * happens when every draw was a repeat: the space is nearly used up. */
wn_status wni_candidates_make(const struct space *space, const struct history *h, size_t max, bool duplicates,
                              struct rng *rng, struct arena *arena, struct candidates *c);

#endif
