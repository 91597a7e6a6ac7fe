/* minimize.c -- NLopt, with the best point kept by ourselves.
 *
 * NLopt's L-BFGS ends with "failure" or "rounding errors" when a line search finds nothing better, as often
 * as with success, and then does not always hand back the best point.  So the return code is only asked about
 * memory. */
#include "num/minimize.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

static const double VERY_BAD = 1e100;

struct run {
    minimize_fn fn;
    void *context;
    size_t n;
    nlopt_opt opt;
    double tolerance;
    double best, *best_x;
    double *gradient;
};

static double evaluate(unsigned n, const double *x, double *gradient, void *data)
{
    struct run *r = data;
    double value = r->fn(r->context, x, gradient ? gradient : r->gradient);
    if (!isfinite(value)) {
        if (gradient) memset(gradient, 0, n * sizeof *gradient);
        return VERY_BAD;
    }
    if (!(value < r->best)) return value;
    r->best = value;
    memcpy(r->best_x, x, n * sizeof *x);
    return value;
}

static nlopt_result run_nlopt(struct run *r, const double *lower, const double *upper, int evaluations,
                              double *x)
{
    double value;
    nlopt_set_min_objective(r->opt, evaluate, r);
    nlopt_set_lower_bounds(r->opt, lower);
    nlopt_set_upper_bounds(r->opt, upper);
    nlopt_set_maxeval(r->opt, evaluations);
    nlopt_set_ftol_abs(r->opt, r->tolerance);
    nlopt_set_ftol_rel(r->opt, r->tolerance);
    return nlopt_optimize(r->opt, x, &value);
}

wn_status wni_minimize(minimize_fn fn, void *context, size_t n, const double *lower, const double *upper,
                       const struct minimize_limits *limits, double *x, double *value)
{
    struct run r = {.fn = fn, .context = context, .n = n, .tolerance = limits->tolerance, .best = INFINITY};
    wn_status st = WN_ENOMEM;
    double *at = malloc(3 * n * sizeof *at);
    r.opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)n);
    if (at && r.opt) {
        memcpy(at, x, n * sizeof *x);
        r.best_x = at + n;
        r.gradient = at + 2 * n;
        if (run_nlopt(&r, lower, upper, limits->evaluations, at) != NLOPT_OUT_OF_MEMORY) st = WN_OK;
        if (r.best < INFINITY) memcpy(x, r.best_x, n * sizeof *x);
        *value = r.best;
    }
    nlopt_destroy(r.opt);
    free(at);
    return st;
}
