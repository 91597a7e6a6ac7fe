/* calibration.h -- how good a surrogate is on a task: error, calibration, time (the paper's surrogate
 * tables). */
#ifndef WNI_BENCH_CALIBRATION_H
#define WNI_BENCH_CALIBRATION_H

#include "backend/blackbox.h"

#include <stddef.h>
#include <stdint.h>

enum surrogate_model { SURROGATE_QR, SURROGATE_CQR, SURROGATE_GP };

struct surrogate_score {
    double rmse;        /* of the mean of the predicted quantiles; targets are normal scores */
    double calibration; /* sqrt of the sum over levels of (share of targets below the quantile - level)^2 */
    double mean_gap;    /* mean over levels of |share - level|: what the authors' code computes under the same
                           name */
    double seconds;     /* fit and prediction */
    size_t n_test;
};

/* Fits the model, with 5 levels j/6, to n configurations of the task drawn at random and scores it on the
 * others that were run (or, where any configuration is as good as another, on 10,000 more).  Runs that
 * diverged are left out. */
wn_status wni_surrogate_score(const struct blackbox *box, enum surrogate_model model, size_t n, uint64_t seed,
                              struct surrogate_score *out, struct err *err);

#endif
