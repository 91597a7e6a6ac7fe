/* ranking.h -- how well predictions order what was observed. */
#ifndef WNI_SURROGATE_RANKING_H
#define WNI_SURROGATE_RANKING_H

#include <stddef.h>
#include <stdint.h>

/* How many pairs that y orders (equal values are in no order) does f order the other way.  `work` holds 2 n
 * doubles, `order` 2 n.  O(n log n). */
uint64_t wni_misordered(const double *y, const double *f, size_t n, double *work, uint32_t *order);

#endif
