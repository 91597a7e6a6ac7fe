/* ranking.h -- how well predictions order what was observed. */
#ifndef WNI_SURROGATE_RANKING_H
#define WNI_SURROGATE_RANKING_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

/* What was observed, in order. */
struct ranking {
    size_t n;
    uint32_t *order; /* increasing */
    uint32_t *above; /* of each place in it, the first with a larger value */
    double *sorted;  /* scratch */
};

/* Ranks y; everything is allocated in `arena`.  O(n log n). */
wn_status wni_ranking_init(struct ranking *r, const double *y, size_t n, struct arena *arena);

/* How many pairs that y orders (equal values are in no order) does f order the other way.  O(n^2), a fraction
 * of a nanosecond for each pair. */
uint64_t wni_misordered(struct ranking *r, const double *f);

#endif
