/* latency.h -- how long one suggestion, and one model fit, takes on one core. */
#ifndef WNI_BENCH_LATENCY_H
#define WNI_BENCH_LATENCY_H

#include "core/space.h"
#include "method/method.h"

/* The spaces on which the authors and peers were measured: "fcnet" (9 parameters, all finite) and "lcbench"
 * (7, mostly floats). */
size_t wni_latency_space_count(void);
const char *wni_latency_space_name(size_t i);
wn_status wni_latency_space(const char *name, struct space *space, struct err *err);

/* Everything here is measured on the same made-up observations: the i-th draws of this function from
 * wni_latency_stream(0).  Fills `config` (space->n numbers) and returns its value; `unit` is scratch for
 * space->unit_width. */
struct rng wni_latency_stream(uint64_t seed);
double wni_latency_observation(const struct space *space, struct rng *rng, double *config, double *unit);

/* Median seconds of processor time of a suggestion with n observed trials and, one by one, more. */
wn_status wni_latency_suggest(const struct method *method, const struct space *space, size_t n,
                              double *seconds, struct err *err);

/* Median seconds of fitting `levels` quantile levels (100 trees of depth 3 each) to n observations, binning
 * included. */
wn_status wni_latency_fit(const struct space *space, size_t n, int levels, double *seconds, struct err *err);

#endif
