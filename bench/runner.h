/* runner.h -- does what is left of an experiment, on all cores. */
#ifndef WNI_BENCH_RUNNER_H
#define WNI_BENCH_RUNNER_H

#include "bench/results.h"

struct bench_progress {
    size_t done, failed, total; /* runs, those of earlier calls included */
    double elapsed;             /* seconds since this call began */
    double left;                /* estimate in seconds; NAN: nothing is known yet */
    bool guess;                 /* a method that is still to run was never measured: `left` may be far off */
};

struct bench_hooks {
    /* All three in the caller's thread; any may be NULL. */
    void (*progress)(void *context, const struct bench_progress *p);
    void (*failed)(void *context, const char *run, const char *why, const char *command);
    bool (*go_on)(void *context); /* false: start no more runs */
    void *context;
};

struct bench_tally {
    size_t total, before, done, failed; /* before: finished in earlier sessions; done: in this one */
    size_t stale;                       /* done again because they were made differently */
    bool interrupted;
};

/* Runs that fail are told, kept in the file and do not stop the others; failing to write does. */
wn_status wni_experiment_run(const struct experiment *e, const struct task_list *tasks,
                             struct results *results, size_t threads, const struct bench_hooks *hooks,
                             struct bench_tally *tally, struct err *err);

#endif
