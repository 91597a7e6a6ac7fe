/* experiment.h -- what an experiment is: methods on tasks, with seeds.
 *
 * Methods and tasks are listed once; groups pick from them, and each group is compared and reported on its
 * own.  The runs are the union of methods x tasks over the groups, times the seeds, so a method that stands
 * in two groups runs once.  The same structure is built from a file (spec.h), by `winnow paper` (paper.h) and
 * from finished results (results.h). */
#ifndef WNI_BENCH_EXPERIMENT_H
#define WNI_BENCH_EXPERIMENT_H

#include "bench/simrun.h"
#include "bench/tasks.h"

struct bench_method {
    const char *name;    /* in tables and figures: the method's, or a label */
    const char *method;  /* a row of methods.def */
    const char *options; /* "searcher.levels=8 ..."; "" when there are none */
};

struct bench_group {
    const char *name;                        /* in file names */
    const char *title;                       /* in headings */
    size_t *methods, n_methods, methods_cap; /* indices, in the order of appearance */
    size_t *tasks, n_tasks, tasks_cap;
};

struct experiment {
    const char *name;
    struct bench_method *methods;
    size_t n_methods, methods_cap;
    struct task *tasks; /* `folder` and `index` are not set */
    size_t n_tasks, tasks_cap;
    struct bench_group *groups;
    size_t n_groups, groups_cap;
    uint64_t first_seed, seeds;
    unsigned workers;
    double poll;
    struct tuner_limits limits; /* all 0: each task's own */
    const char *data;           /* where tables were looked for, for wni_run_command; NULL: the usual place */
    struct arena arena;         /* all texts */
};

struct bench_run { /* one of its runs */
    size_t method, task;
    uint64_t seed;
};

void wni_experiment_init(struct experiment *e); /* no methods, no tasks; 1 seed, 4 workers */
void wni_experiment_release(struct experiment *e);

/* Everything is copied.  A method or task that is there already is not added again.  WN_EINVAL: the name is
 * taken by a method with other options. */
wn_status wni_experiment_add_group(struct experiment *e, const char *name, const char *title);
wn_status wni_experiment_add_method(struct experiment *e, const struct bench_method *method, size_t *index);
wn_status wni_experiment_add_task(struct experiment *e, const struct task *task, size_t *index);
wn_status wni_group_add_method(struct bench_group *group, size_t index);
wn_status wni_group_add_task(struct bench_group *group, size_t index);

/* Seed by seed, and within a seed task by task: an experiment that was stopped early has whole seeds, and
 * after the first seed the cost of everything is known.  The caller frees *runs. */
wn_status wni_experiment_plan(const struct experiment *e, struct bench_run **runs, size_t *n,
                              struct err *err);

/* Whether a group has this pair. */
bool wni_experiment_wants(const struct experiment *e, size_t method, size_t task);
struct tuner_limits wni_experiment_limits(const struct experiment *e, const struct task *task);

/* All that decides the outcome of a run, as a line of text: results whose line differs are not trusted. */
void wni_run_identity(const struct experiment *e, const struct bench_run *run, struct buf *out);
/* The command that repeats a run alone. */
void wni_run_command(const struct experiment *e, const struct bench_run *run, struct buf *out);

/* The 13 tasks of the paper; NULL-terminated. */
extern const char *const wni_paper_tasks[];

#endif
