/* rungs.h -- what reached a resource, and who is good enough to go beyond it.
 *
 * A rung collects values and never loses one, so the rank that separates the kept from the rest only moves
 * up.  Both kinds of rung keep the two sides in two heaps that meet at that rank: the best below, worst on
 * top, and the others above, best on top.
 *
 *          kept          |          rest
 *     3  1  2 ... [worst]|[best] ... 9  7  8
 *
 * Adding a value pushes it on its side and moves one value across when the rank moved: O(log n).  Reading the
 * cut costs O(1).  Small values are good; +inf stands for a failed trial and is worse than everything. */
#ifndef WNI_SCHED_RUNGS_H
#define WNI_SCHED_RUNGS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- a quantile of values (stopping rules): 8 bytes per entry ---- */

struct value_heap {
    double *at; /* least on top */
    size_t n, cap;
};

struct quantile_rung {
    double share;           /* of the quantile, 0..1 */
    struct value_heap kept; /* the 1 + floor(share (n-1)) smallest, negated: the largest of them is on top */
    struct value_heap rest;
};

void wni_quantile_rung_init(struct quantile_rung *r, double share);
void wni_quantile_rung_release(struct quantile_rung *r);
size_t wni_quantile_rung_count(const struct quantile_rung *r);
wn_status wni_quantile_rung_reserve(struct quantile_rung *r, struct err *err); /* room for one more */
/* Cannot fail: room was made.  `value` is finite or +inf. */
void wni_quantile_rung_add(struct quantile_rung *r, double value);
/* Linear interpolation between order statistics, as NumPy computes it; +inf where it touches +inf with a
 * weight above 0.  The rung is not empty. */
double wni_quantile_rung_cut(const struct quantile_rung *r);

/* ---- the best 1/eta, by trial (promotion): at most 24 bytes per entry ---- */

/* Entries are known by their number of arrival, from 0, which also breaks ties: the earlier is the better.
 * The heaps hold such numbers. */
struct promotion_rung {
    double eta;
    double *values;    /* by arrival */
    uint32_t *trials;  /* by arrival; TRIAL_NONE: promoted or gone, never to be promoted (again) */
    uint32_t *kept;    /* heap: the best floor(n/eta), worst on top */
    uint32_t *rest;    /* heap: the others, best on top */
    uint32_t *waiting; /* heap: those that are paused, best on top */
    uint32_t n, n_kept, n_rest, n_waiting;
    size_t cap; /* of each array */
};

void wni_promotion_rung_init(struct promotion_rung *r, double eta);
void wni_promotion_rung_release(struct promotion_rung *r);
wn_status wni_promotion_rung_reserve(struct promotion_rung *r, struct err *err); /* room for one more */
/* Adds an entry and returns its number.  Cannot fail: room was made.  `value` is finite or +inf. */
uint32_t wni_promotion_rung_add(struct promotion_rung *r, double value, uint32_t trial);
/* The entry's trial is paused: it may be promoted from now on.  At most once per entry. */
void wni_promotion_rung_wait(struct promotion_rung *r, uint32_t entry);
/* The entry's trial was promoted or is gone; its value stays. */
void wni_promotion_rung_leave(struct promotion_rung *r, uint32_t entry);
/* The best waiting trial if it is among the best floor(n/eta) of all entries, else TRIAL_NONE.  O(1). */
uint32_t wni_promotion_rung_best(const struct promotion_rung *r);

#endif
