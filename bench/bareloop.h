/* bareloop.h -- the least that keeps so many processes alive: what a machine can do, to compare a runner
 * with.
 */
#ifndef WNI_BENCH_BARELOOP_H
#define WNI_BENCH_BARELOOP_H

#include "backend/local.h"

/* Starts `trials` processes, `workers` at a time, waits for their ends and does nothing else: no folders, no
 * output, no study.  Reaps all children of the process. */
wn_status wni_bare_loop(const char *const *argv, unsigned workers, uint64_t trials,
                        struct local_figures *figures, struct err *err);

#endif
