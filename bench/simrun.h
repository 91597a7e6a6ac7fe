/* simrun.h -- one simulated study from start to end: black box, method, seed, limits. */
#ifndef WNI_BENCH_SIMRUN_H
#define WNI_BENCH_SIMRUN_H

#include "backend/blackbox.h"
#include "method/method.h"
#include "tuner/tuner.h"

struct sim_run {
    const struct blackbox *box; /* may be shared by runs on several threads */
    const struct method *method;
    const char *options; /* changes to the method's options; NULL: none */
    uint64_t seed;
    unsigned workers;
    double first_rung; /* resource of the lowest rung; 0: the first level there is */
    struct tuner_limits limits;
    double poll;
    bool charge; /* real decision time counts as simulated time: no longer reproducible */
    void (*on_report)(void *context, const struct study *study,
                      const struct happening *report); /* may be NULL */
    void *context;
};

struct sim_outcome {
    uint64_t trials, reports;
    bool exhausted; /* every configuration of the space was tried before a limit was reached */
    double simulated_seconds, real_seconds;
    double total_resource;
    double best; /* as the user sees it; NAN when nothing finite was reported */
};

/* The black box's own limits: the budget of the paper's protocol. */
struct tuner_limits wni_sim_limits(const struct blackbox *box);
wn_status wni_sim_run(const struct sim_run *run, struct sim_outcome *out, struct err *err);

#endif
