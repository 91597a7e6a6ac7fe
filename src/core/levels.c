/* levels.c -- rung resources and bracket sizes. */
#include "core/levels.h"

#include <assert.h>
#include <math.h>

/* r_min eta^k is the end of k roundings and what a worker reports of as many others: 0.1 * 3 * 3 is above
 * 0.9.  Resources this close, relatively, are the same. */
static const double SAME = 1e-9;

wn_status wni_levels_init(struct levels *l, double min, double max, double eta, struct err *err)
{
    assert(eta > 1);
    *l = (struct levels){.eta = eta};
    for (double r = min; r < max * (1 - SAME); r *= eta) {
        if (l->n == LEVELS_MAX)
            return wni_fail(err, WN_EINVAL, "eta %.15g gives more than %d rungs between %.15g and %.15g", eta,
                            LEVELS_MAX, min, max);
        l->at[l->n++] = r;
    }
    l->at[l->n] = max;
    return WN_OK;
}

static size_t reached(const struct levels *l, size_t n, size_t from, double resource)
{
    size_t k = from;
    while (k < n && resource >= l->at[k] * (1 - SAME))
        k++;
    return k;
}

size_t wni_levels_reached(const struct levels *l, size_t from, double resource)
{
    return reached(l, l->n, from, resource);
}

size_t wni_levels_reached_of_all(const struct levels *l, size_t from, double resource)
{
    return reached(l, l->n + 1, from, resource);
}

double wni_levels_share(const struct levels *l, size_t k)
{
    assert(k < l->n);
    return l->at[k] / l->at[k + 1];
}

double wni_bracket_size(const struct levels *l, size_t bracket)
{
    assert(bracket <= l->n);
    size_t halvings = l->n - bracket;
    double power = 1;
    for (size_t i = 0; i < halvings; i++)
        power *= l->eta;
    return ceil((double)(l->n + 1) * power / (double)(halvings + 1));
}
