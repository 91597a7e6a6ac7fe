/* results.h -- the results of an experiment: one SQLite file, DIR/results.db.
 *
 * A run enters in one transaction when it has ended, so what is in the file is complete, whenever the program
 * is killed.  Tables:
 *
 *     experiment, methods, tasks, groups, members     the plan, as of the last `bench run`
 *     runs            one row per finished run; `identity` is all that decides its outcome
 *     improvements    the best-so-far curve: when it improved, after how many results, to what
 *     timings         real seconds of a run (the only numbers that differ between repetitions)
 *     failures        runs that failed, why, and the command that repeats one
 *     surrogates      scores of surrogate models (winnow paper)
 *
 * One writer at a time: DIR/.lock is held while the file is open for writing. */
#ifndef WNI_BENCH_RESULTS_H
#define WNI_BENCH_RESULTS_H

#include "bench/calibration.h"
#include "bench/experiment.h"
#include "bench/metrics.h"

struct sqlite3;

struct results {
    struct sqlite3 *db;
    int lock; /* of DIR/.lock; -1: read only */
};

struct improvement {
    double time, value; /* the value as the user sees it */
    uint64_t reports;   /* results so far, this one included */
};

struct finished_run { /* what is kept of a run */
    struct bench_run run;
    struct sim_outcome outcome;
    const struct improvement *improvements;
    size_t n;
};

wn_status wni_results_create(struct results *r, const char *directory,
                             struct err *err);                                         /* or opens it again */
wn_status wni_results_open(struct results *r, const char *directory, struct err *err); /* to read */
void wni_results_close(struct results *r);

/* Writes the plan and forgets those of its runs that were made under another identity (how many: *stale). */
wn_status wni_results_plan(struct results *r, const struct experiment *e, size_t *stale, struct err *err);
/* done[i]: run i is there. */
wn_status wni_results_done(struct results *r, const struct experiment *e, const struct bench_run *runs,
                           size_t n, bool *done, struct err *err);
wn_status wni_results_save(struct results *r, const struct experiment *e, const struct finished_run *run,
                           struct err *err);
wn_status wni_results_fail(struct results *r, const struct experiment *e, const struct bench_run *run,
                           const char *why, struct err *err);
/* Mean real seconds of finished runs and their number, [method * n_tasks + task]; both zeroed by the caller.
 */
wn_status wni_results_costs(struct results *r, const struct experiment *e, double *seconds, size_t *count,
                            struct err *err);

/* ---- surrogate scores ---- */

struct surrogate_row {
    const char *task, *model;
    uint64_t n, seed;
    struct surrogate_score score;
};

wn_status wni_results_save_surrogate(struct results *r, const struct surrogate_row *row, struct err *err);
/* *found: it is there, and row->score is filled. */
wn_status wni_results_find_surrogate(struct results *r, struct surrogate_row *row, bool *found,
                                     struct err *err);

/* ---- everything, for a report ---- */

struct loaded_run {
    bool there;
    double best; /* as the user sees it */
    uint64_t trials, reports;
    double simulated_seconds, real_seconds;
    struct curve curve; /* minimised */
};

struct failure {
    const char *method, *task, *why, *command;
    uint64_t seed;
};

struct archive {
    struct experiment plan;
    struct loaded_run *runs; /* [(method * n_tasks + task) * seeds + seed] */
    struct failure *failures;
    size_t n_failures, failures_cap;
    struct arena arena;
};

wn_status wni_archive_load(struct archive *a, struct results *r, struct err *err);
void wni_archive_release(struct archive *a);
const struct loaded_run *wni_archive_run(const struct archive *a, size_t method, size_t task, uint64_t seed);

#endif
