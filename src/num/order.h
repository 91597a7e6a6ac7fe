/* order.h -- sorting, selection, ranks, quantiles and moments of plain arrays of doubles.
 *
 * One order everywhere: ascending, NaN after everything (a failed measurement is never better than a number).
 * Nothing allocates; what scratch a function needs, the caller passes.  Sums run in index order, so results
 * do not depend on threads or vector width. */
#ifndef WNI_NUM_ORDER_H
#define WNI_NUM_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Sorts in place.  -0 comes before +0, so the outcome is one sequence of bits (NaNs keep theirs, in any
 * order).  O(n log n) in the worst case (quicksort that falls back to heapsort), O(log n) stack. */
void wni_sort(double *x, size_t n);

/* Writes the indices of x in ascending order of value; equal values (-0 and +0 too, NaNs too) keep their
 * index order.  `work` holds n.  O(n log n), merge sort; O(n) if x is sorted already.  n < 2^32. */
void wni_argsort(const double *x, size_t n, uint32_t *out, uint32_t *work);

/* Returns the k-th smallest (k = 0 is the least), reordering x so that x[k] is it, nothing before it is
 * larger and nothing after it smaller.  k < n.  O(n) on average, O(n log n) at worst. */
double wni_select(double *x, size_t n, size_t k);

/* ---- quantiles; `sorted` ascending, n > 0, 0 <= q <= 1 --------------------------------------- */

/* Linear interpolation at (n-1) q between order statistics, computed as NumPy's default does, so that results
 * agree with it to the bit.  Where NumPy's formula breaks down (infinite neighbours, a difference that
 * overflows) this gives the limit instead; only between -inf and +inf is it NaN.  NaN if any value is NaN, as
 * in NumPy. */
double wni_quantile_linear(const double *sorted, size_t n, double q);

/* The smallest order statistic with at least q n values at or below it, never an average: scikit-learn's
 * weighted percentile with unit weights (leaf values of its quantile boosting), including how it rounds
 * q n.  q = 0 gives the least value. */
double wni_quantile_lower(const double *sorted, size_t n, double q);

/* The index of that order statistic, 0 .. n-1. */
size_t wni_quantile_lower_index(size_t n, double q);

/* k = ceil((n+1) level), the rank (from 1) of the conformal score among n that covers a new one with
 * probability `level`.  k = n+1 means that n scores are too few; callers take the largest score then.  At
 * least 1.  A product that misses an integer by rounding only counts as that integer:
 * 18 * (1 - 2/3) evaluates to 6.000000000000001, and the rank is 6, not 7. */
size_t wni_conformal_rank(size_t n, double level);

/* ---- ranks and moments ----------------------------------------------------------------------- */

/* Ranks from 1; equal values share the mean of their ranks (NaNs count as equal to each other).  `work` holds
 * 2n. */
void wni_ranks_average(const double *x, size_t n, double *ranks, uint32_t *work);

/* Arithmetic mean; NaN if n = 0.  The sum is compensated: error about one rounding, whatever n. */
double wni_mean(const double *x, size_t n);

/* Sum of squared deviations over n - ddof, in two passes; NaN if n <= ddof. */
double wni_variance(const double *x, size_t n, size_t ddof);

#endif
