/* calibration.h -- how good a surrogate is on a task: error, calibration, time (the paper's surrogate
 * tables). */
#ifndef WNI_BENCH_CALIBRATION_H
#define WNI_BENCH_CALIBRATION_H

#include "backend/blackbox.h"

#include <stddef.h>
#include <stdint.h>

enum surrogate_model { SURROGATE_QR, SURROGATE_CQR, SURROGATE_GP };

/* What is predicted, made from the value at the last level so that tasks are comparable. */
enum surrogate_target {
    TARGET_SCORES,  /* the value of one run, as the normal score of its rank; ties share the middle rank */
    TARGET_AUTHORS, /* what fits the paper's tables (docs/adr/0014): the mean over a table's repeats, as the
                       normal score of the share of values strictly below it, both tails cut */
    TARGET_LOG      /* the logarithm of the value of one run, standardised; values must be positive */
};

struct surrogate_case {
    enum surrogate_model model;
    enum surrogate_target target;
    size_t n; /* observations it is fitted to */
    uint64_t seed;
};

struct surrogate_score {
    double rmse;        /* of the mean of the predicted quantiles */
    double mae;         /* mean absolute error of the same: what the paper's column "RMSE" holds */
    double calibration; /* sqrt of the sum over levels of (share of targets below the quantile - level)^2 */
    double mean_gap;    /* mean over levels of |share - level|: what the authors' code computes under the same
                           name */
    double seconds;     /* fit and prediction */
    size_t n_test;
};

/* Values drawn of a task with one seed and one kind of target, so that they are not asked for again by other
 * models and numbers of observations.  Empty at first; one thread at a time. */
struct surrogate_draws {
    double *y;
    size_t n, cap;
};
void wni_surrogate_draws_release(struct surrogate_draws *draws);

/* Fits the model, with 5 levels j/6, to n configurations of the task drawn at random and scores it on the
 * others that were run (or, where any configuration is as good as another, on 5,000 more).  Runs that
 * diverged are left out.  `draws` may be NULL: what it holds makes no difference but in time. */
wn_status wni_surrogate_score(const struct blackbox *box, const struct surrogate_case *c,
                              struct surrogate_draws *draws, struct surrogate_score *out, struct err *err);

#endif
