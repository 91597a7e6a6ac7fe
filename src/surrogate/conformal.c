/* conformal.c -- the order statistic of the conformity scores. */
#include "surrogate/conformal.h"

#include "num/order.h"

#include <math.h>

double wni_conformal_correction(const double *low, const double *high, const double *y, size_t n,
                                double coverage, double *scores)
{
    for (size_t i = 0; i < n; i++)
        scores[i] = fmax(low[i] - y[i], y[i] - high[i]);
    size_t rank = wni_conformal_rank(n, coverage);
    return wni_select(scores, n, (rank > n ? n : rank) - 1);
}
