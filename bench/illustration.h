/* illustration.h -- the paper's picture of why quantiles explore where noise is: f(x) ~ N(0, rho(x)^2) with
 * rho(x) = sin(x)^2 + 0.3 on [0, 2 pi].  The mean is flat, so a model of the mean has nothing to go by; low
 * values are only to be had where the noise is large, at pi/2 and 3 pi/2, and that is where Thompson sampling
 * from predicted quantiles looks. */
#ifndef WNI_BENCH_ILLUSTRATION_H
#define WNI_BENCH_ILLUSTRATION_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { ILLUSTRATION_BINS = 40 };

struct illustration {
    size_t samples;     /* observations of each fit */
    int levels;         /* quantile levels */
    size_t repetitions; /* fits behind the histogram, each with observations of its own */
    uint64_t seed;
};

#define ILLUSTRATION_INIT                                                                                    \
    {                                                                                                        \
        .samples = 500, .levels = 8, .repetitions = 400                                                      \
    }

/* Where `repetitions` independent fits propose to look next: counts over [0, 2 pi] in equal bins. */
wn_status wni_illustration_histogram(const struct illustration *setup, uint32_t counts[ILLUSTRATION_BINS],
                                     struct err *err);

/* Writes the data of the three panels as CSV into `directory` (made if missing) and draws the figure
 * "illustration"; `counts` becomes the histogram in it. */
wn_status wni_illustration_draw(const struct illustration *setup, const char *directory,
                                uint32_t counts[ILLUSTRATION_BINS], struct err *err);

#endif
