/* matern.h -- the Matern-5/2 kernel of many pairs of points at a time.
 *
 * With s the squared distance after each column was multiplied by sqrt(5) times its inverse bandwidth, and
 * t = sqrt(s), the kernel is scale (1 + t + s/3) exp(-t).  Its derivative by the logarithm of the inverse
 * bandwidth of a column is minus that column's part of s times `slope` = scale/3 (1 + t) exp(-t); the
 * gradient by a point is made of the same number.  So one exponential serves value and all derivatives.
 *
 * Same bits with every instruction set: the exponential is made of + - * only, and the rest rounds correctly.
 */
#ifndef WNI_SURROGATE_MATERN_H
#define WNI_SURROGATE_MATERN_H

#include "surrogate/forest.h"

#include <stddef.h>

enum { MATERN_LANES = 8 }; /* columns of points are padded to a multiple of this */

static inline size_t wni_matern_pad(size_t n)
{
    return (n + MATERN_LANES - 1) / MATERN_LANES * MATERN_LANES;
}

/* Points in columns: coordinate d of point i is x[d * stride + i], scaled as above; stride is padded. */
struct matern_points {
    const double *x;
    size_t n, width, stride;
};

/* value[i] and, unless NULL, slope[i] of `point` (scaled) with the points i in [from, n).  Both arrays have
 * room for wni_matern_pad(n); what lies before `from` in its group of lanes is written too. */
void wni_matern(const struct matern_points *points, size_t from, const double *point, double scale,
                double *value, double *slope, enum simd simd);

/* The same from squared distances s, which value[from .. n) holds; rounding may have left them below 0. */
void wni_matern_of_squares(size_t from, size_t n, double scale, double *value, double *slope, enum simd simd);

#endif
