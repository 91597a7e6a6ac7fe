/* bench_runner.c -- winnow bench runner: what the runner itself costs, with trials that do nothing but wait.
 */
#include "cli/bench_runner.h"

#include "backend/local.h"
#include "base/clock.h"
#include "bench/scratch.h"
#include "tuner/tuner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static wn_status expand(void *context, uint32_t trial, const double *config, struct arena *arena,
                        const char *const **argv, struct err *err)
{
    static const char *const words[] = {"sleep", "0.05",
                                        NULL}; /* they fail for want of a report: no matter */
    (void)context, (void)trial, (void)config, (void)arena, (void)err;
    *argv = words;
    return WN_OK;
}

static wn_status open_study(struct study *study, struct space *space, struct err *err)
{
    struct store store;
    wn_status st =
        wni_space_add(space, &(struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1}, err);
    if (!st) st = wni_store_open(&store, "memory:", "runner", space, err);
    if (st) return st;
    return wni_study_open(
        study, &(struct study_setup){.space = space, .scheduler = "fifo", .searcher = "random"}, &store, err);
}

static wn_status print(const struct study *study, const struct local_figures *figures, unsigned workers,
                       double seconds, double cpu, const char *format)
{
    static const char *const columns[] = {"workers",           "trials",       "seconds",
                                          "trials_per_second", "core_percent", "refill_ms_mean",
                                          "refill_ms_max"};
    struct table *t = wni_table_new(columns, 7);
    if (!t) return WN_ENOMEM;
    wni_table_number(t, workers);
    wni_table_number(t, (double)study->history.n_trials);
    wni_table_number(t, round(seconds * 1e3) / 1e3);
    wni_table_number(t, round((double)study->history.n_trials / seconds));
    wni_table_number(t, round(cpu / seconds * 1e4) / 100);
    wni_table_number(t, round(figures->refill_sum / fmax((double)figures->refills, 1) * 1e6) / 1e3);
    wni_table_number(t, round(figures->refill_max * 1e6) / 1e3);
    wn_status st = wni_table_print(t, format, stdout);
    wni_table_free(t);
    return st;
}

static wn_status run_trials(struct study *study, const struct space *space, const char *folder,
                            unsigned workers, uint64_t trials, const char *format, struct err *err)
{
    struct backend backend;
    struct tuner_result result;
    struct tuner_setup tuner = {
        .workers = workers, .limits = {.trials = trials}, .keep = KEEP_NONE, .settle = true};
    wn_status st = wni_local_open(&backend,
                                  &(struct local_setup){.workers = workers,
                                                        .study = "runner",
                                                        .folder = folder,
                                                        .space = space,
                                                        .expand = expand,
                                                        .metric = "loss",
                                                        .grace = 5},
                                  err);
    if (st) return st;
    double began = wni_clock_seconds(), cpu = wni_clock_cpu_seconds();
    st = wni_tuner_run(study, &backend, &tuner, &result, err);
    double seconds = wni_clock_seconds() - began;
    cpu = wni_clock_cpu_seconds() - cpu;
    struct local_figures figures = wni_local_figures(&backend);
    backend.ops->close(backend.self);
    return st ? st : print(study, &figures, workers, seconds, cpu, format);
}

wn_status wni_bench_runner(const struct args *args, struct err *err)
{
    char folder[SCRATCH_MAX];
    uint64_t workers = 64, trials = 2000;
    struct space space;
    struct study study = {0};
    wn_status st = wni_arg_count(args, "workers", 1, 10000, &workers, err);
    if (!st && wni_flag(args, "trials")) st = wni_arg_count(args, "trials", 1, 10000000, &trials, err);
    if (!st) st = wni_scratch_make(folder, err);
    if (st) return st;
    wni_space_init(&space);
    st = open_study(&study, &space, err);
    if (!st) st = run_trials(&study, &space, folder, (unsigned)workers, trials, wni_arg(args, "format"), err);
    wni_study_release(&study);
    wni_space_release(&space);
    wni_scratch_remove(folder);
    return st;
}
