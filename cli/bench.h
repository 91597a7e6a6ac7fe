/* bench.h -- what `winnow bench` and `winnow paper` share: doing an experiment with a progress line. */
#ifndef WNI_CLI_BENCH_H
#define WNI_CLI_BENCH_H

#include "bench/paper.h"
#include "bench/runner.h"
#include "cli/cli.h"

/* `winnow bench run SPEC` and `winnow bench report DIR`; exit codes. */
int wni_bench_run(struct args *args);
int wni_bench_report(struct args *args);

/* Finds the tasks of --data; the warnings are told when the option was given. */
wn_status wni_find_tasks_option(const struct args *args, struct task_list *list, struct err *err);
/* --jobs, or all cores. */
wn_status wni_jobs_option(const struct args *args, size_t *jobs, struct err *err);

/* Those of the options that were given, as a shell takes them: for the command that goes on. */
void wni_put_options(const struct args *args, const char *const *names, size_t n, struct buf *out);

/* The first Ctrl-C asks to stop, the second ends the program at once.  Between the two calls only. */
void wni_catch_interrupt(void);
bool wni_interrupted(void);

/* Runs what is left, shows progress and failures on stderr, and says how to go on when it was interrupted:
 * `again` is the command. */
wn_status wni_run_shown(const struct experiment *e, const struct task_list *tasks, struct results *results,
                        size_t jobs, const char *again, struct bench_tally *tally, struct err *err);
wn_status wni_surrogates_shown(const struct paper_setup *setup, const struct task_list *tasks,
                               struct results *results, size_t jobs, struct err *err);

#endif
