/* tuner.h -- the loop: keep the workers busy, pass reports on, carry decisions out.
 *
 * It is the same loop for simulation and for real processes: time, processes and results belong to the
 * backend. */
#ifndef WNI_TUNER_TUNER_H
#define WNI_TUNER_TUNER_H

#include "backend/backend.h"
#include "tuner/study.h"

struct tuner_limits { /* 0: no limit */
    uint64_t trials;  /* no new ones beyond; those there are go on */
    uint64_t reports; /* ends at once, as do the next two */
    double resource;  /* summed over trials: epochs trained in all */
    double seconds;   /* of the backend's clock */
};

struct tuner_setup {
    unsigned workers;
    struct tuner_limits limits;
    bool charge; /* tell the backend the real seconds spent deciding */
    /* Called after each report was taken in; NULL: nobody listens. */
    void (*on_report)(void *context, const struct study *study, const struct happening *report);
    void *context;
};

struct tuner_result {
    uint64_t reports;
    bool exhausted; /* it ended because there was nothing left to try, not by a limit */
    double seconds; /* backend time of the last happening within the limits */
};

wn_status wni_tuner_run(struct study *study, struct backend *backend, const struct tuner_setup *setup,
                        struct tuner_result *result, struct err *err);

#endif
