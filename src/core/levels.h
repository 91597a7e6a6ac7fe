/* levels.h -- at which resources trials are compared, and how many trials Hyperband's brackets begin with.
 *
 * Rungs lie at r_min eta^k, strictly below r_max: 1, 3, 9, 27, 81 for 1 to 100.  A trial that passes the last
 * goes on to r_max.  Bracket b of Hyperband leaves out the first b rungs: fewer trials, each given more
 * before it is judged.
 *
 * Schedulers decide at these levels; searchers that model several fidelities learn from the values there. */
#ifndef WNI_CORE_LEVELS_H
#define WNI_CORE_LEVELS_H

#include "base/err.h"

#include <stddef.h>

enum { LEVELS_MAX = 64 };

struct levels {
    double eta;
    size_t n;                  /* rungs; 0 when r_min = r_max */
    double at[LEVELS_MAX + 1]; /* increasing; at[n] is r_max, which is no rung */
};

/* Fails when there would be more than LEVELS_MAX rungs. */
wn_status wni_levels_init(struct levels *l, double min, double max, double eta, struct err *err);

/* How many rungs a report at `resource` has reached, `from` of which are known to be. */
size_t wni_levels_reached(const struct levels *l, size_t from, double resource);

/* The same with r_max as one level more: 0 .. n + 1. */
size_t wni_levels_reached_of_all(const struct levels *l, size_t from, double resource);

/* Share of a rung's trials that fits through it: r_k / r_{k+1}. */
double wni_levels_share(const struct levels *l, size_t k);

/* Trials a bracket begins with (Li et al. 2018, Algorithm 1, with s = n - bracket): ceil((n+1)/(s+1) eta^s).
 */
double wni_bracket_size(const struct levels *l, size_t bracket);

#endif
