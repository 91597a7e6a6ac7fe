/* sim.h -- the simulated backend: workers that replay the learning curves of a black box on a virtual clock.
 */
#ifndef WNI_BACKEND_SIM_H
#define WNI_BACKEND_SIM_H

#include "backend/backend.h"
#include "backend/blackbox.h"

struct sim_setup {
    unsigned workers;
    uint64_t seed; /* of the study; picks each trial's repetition */
    double poll;   /* 0: reports are seen when they happen; else at the next multiple of this many seconds */
};

/* `box` outlives the backend. */
wn_status wni_sim_open(struct backend *backend, const struct blackbox *box, const struct sim_setup *setup,
                       struct err *err);

#endif
