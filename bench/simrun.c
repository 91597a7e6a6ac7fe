/* simrun.c -- puts a study and a simulated backend together and runs them. */
#include "bench/simrun.h"

#include "backend/sim.h"
#include "base/clock.h"

#include <math.h>

struct tuner_limits wni_sim_limits(const struct blackbox *box)
{
    return (struct tuner_limits){.resource = box->limit_resource, .seconds = box->limit_seconds};
}

static wn_status open_study(const struct sim_run *run, struct study *study, struct err *err)
{
    const struct blackbox *box = run->box;
    double first = box->levels[0];
    struct store store;
    wn_status st = wni_store_open(&store, "memory:", box->name, &box->space, err);
    if (st) return st;
    return wni_study_open(
        study,
        &(struct study_setup){.space = &box->space,
                              .scheduler = run->method->scheduler,
                              .searcher = run->method->searcher,
                              .options = {run->method->options, run->options},
                              .seed = run->seed,
                              .goal = box->goal,
                              .min_resource = run->first_rung > first ? run->first_rung : first,
                              .max_resource = box->levels[box->n_levels - 1]},
        &store, err);
}

static wn_status run_study(const struct sim_run *run, struct study *study, struct sim_outcome *out,
                           struct err *err)
{
    struct backend backend;
    struct sim_setup sim = {.workers = run->workers, .seed = run->seed, .poll = run->poll};
    wn_status st = wni_sim_open(&backend, run->box, &sim, err);
    if (st) return st;
    struct tuner_setup tuner = {.workers = run->workers,
                                .limits = run->limits,
                                .charge = run->charge,
                                .watcher = {.on_report = run->on_report, .context = run->context}};
    struct tuner_result result;
    st = wni_tuner_run(study, &backend, &tuner, &result, err);
    backend.ops->close(backend.self);
    const struct history *h = &study->history;
    *out = (struct sim_outcome){.trials = h->n_trials,
                                .reports = result.reports,
                                .exhausted = result.exhausted,
                                .simulated_seconds = result.seconds,
                                .total_resource = h->total_resource,
                                .best = h->best_trial == TRIAL_NONE ? NAN : study->sign * h->best_value};
    return st;
}

wn_status wni_sim_run(const struct sim_run *run, struct sim_outcome *out, struct err *err)
{
    double began = wni_clock_seconds();
    struct study study;
    *out = (struct sim_outcome){.best = NAN};
    wn_status st = open_study(run, &study, err);
    if (st) return st;
    st = run_study(run, &study, out, err);
    wni_study_release(&study);
    out->real_seconds = wni_clock_seconds() - began;
    return st;
}
