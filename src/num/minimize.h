/* minimize.h -- smooth functions of a few variables within bounds, by NLopt's L-BFGS. */
#ifndef WNI_NUM_MINIMIZE_H
#define WNI_NUM_MINIMIZE_H

#include "winnow.h"

#include <stddef.h>

/* Value at x and, unless gradient is NULL, its derivatives.  A value that is not finite is taken as very bad.
 */
typedef double (*minimize_fn)(void *context, const double *x, double *gradient);

struct minimize_limits {
    int evaluations;  /* at most */
    double tolerance; /* stop when a step changes the value by less, relatively to 1 + |value| */
};

/* Minimises from x, which becomes the best point evaluated; *value is what it is worth.  Never worse than the
 * start.  WN_ENOMEM only. */
wn_status wni_minimize(minimize_fn fn, void *context, size_t n, const double *lower, const double *upper,
                       const struct minimize_limits *limits, double *x, double *value);

#endif
