/* ei.h -- expected improvement over Gaussian processes, averaged over fantasies.
 *
 * The model is a weighted sum of posteriors: one for a plain process, several for an ensemble.
 * Mean and variance are the weighted averages of theirs (weights squared would be right if they erred
 * independently; processes of one function's rungs do not).  All posteriors have the same number of target
 * columns; each column is a fantasy with an incumbent of its own.  EI of a fantasy is the expectation of
 * max(0, incumbent - margin - f(x)) (Jones, Schonlau, Welch 1998). */
#ifndef WNI_SURROGATE_EI_H
#define WNI_SURROGATE_EI_H

#include "surrogate/gp.h"

struct gp_member {
    const struct gp_posterior *posterior;
    double weight;
    size_t level; /* where it is asked */
};

struct ei {
    const struct gp_member *members;
    size_t n_members, width, n_columns;
    const double *incumbent; /* of each column */
    double margin;
    /* scratch */
    double *means, *variances, *work, *part_mean, *part_gradient;
};

enum { EI_BATCH = 64 };

/* members and incumbent outlive it; all posteriors have the width and columns of the first. */
wn_status wni_ei_init(struct ei *ei, const struct gp_member *members, size_t n_members,
                      const double *incumbent, double margin, struct arena *arena);

/* EI of m rows. */
void wni_ei_scores(struct ei *ei, const double *x, size_t m, double *out);

/* Mean and variance of the sum at m rows, variance may be NULL; means are m rows of n_columns. */
void wni_ei_predict(struct ei *ei, const double *x, size_t m, double *mean, double *variance);

/* The variance before anything was observed: none is larger. */
double wni_ei_prior(const struct ei *ei);

/* Minus the logarithm of EI at a point, and its gradient: what a minimiser wants.  INFINITY where EI
 * underflows. */
double wni_ei_minus_log(struct ei *ei, const double *x, double *gradient);

/* E max(0, -f) for f normal with this mean and standard deviation, and its derivatives. */
double wni_expected_improvement(double mean, double deviation, double *by_mean, double *by_deviation);

#endif
