/* tasks.h -- which tuning problems are at hand, and opening one by name.
 *
 * Some tasks are in the code (functions).  The others are folders: DIR/FAMILY/blackbox.json, or
 * DIR/blackbox.json, describes a family of tasks that share a space (bench/README.md has the format). Listing
 * reads the descriptions only, never a table, and takes a few milliseconds. */
#ifndef WNI_BENCH_TASKS_H
#define WNI_BENCH_TASKS_H

#include "backend/blackbox.h"

struct task {
    const char *name;     /* "fcnet-naval": what users type */
    const char *family;   /* "fcnet" */
    const char *kind;     /* a row of blackboxes.def */
    const char *metric;   /* "valid_mse" */
    const char *resource; /* "epoch" */
    const char *honesty;  /* the task's own word, else its family's */
    const char *folder;   /* NULL: the task is in the code */
    size_t index;         /* among the tasks of its family */
    wn_goal goal;
    size_t n_params, n_levels;
    double max_resource;
    double limit_resource, limit_seconds; /* the protocol's budget; 0: none */
    double best, worst;                   /* NAN: not known */
};

struct task_list {
    struct task *items; /* tasks in the code first, then folder by folder, sorted by the folder's name */
    size_t n, cap;
    const char **warnings; /* folders and tasks that could not be read, and why */
    size_t n_warnings, warnings_cap;
    struct arena arena;
};

/* Finds every task below the directories of a colon-separated list ("" and NULL: none).  Whatever is wrong
 * with a folder becomes a warning and hides nothing else; the only failure is WN_ENOMEM.  Of two tasks with
 * one name the first is kept.  The list is initialised here and may be released after a failure too. */
wn_status wni_tasks_find(struct task_list *list, const char *directories, struct err *err);
void wni_tasks_release(struct task_list *list);
const struct task *wni_tasks_get(const struct task_list *list, const char *name); /* NULL: no such task */

/* Opens a task by name.  An unknown name is WN_ENOTFOUND with a "did you mean".  On success the caller owns
 * *out and ends it with (*out)->ops->close(); it does not need the list any more.  On failure *out is NULL.
 */
wn_status wni_task_open(const struct task_list *list, const char *name, struct blackbox **out,
                        struct err *err);

/* Where the data is: the directories of `flag` (--data) if not NULL, else of the environment variable
 * WINNOW_DATA, followed by the data that came with the program (../data or ../share/winnow/data beside the
 * executable's directory), as a colon-separated list. */
void wni_data_path(const char *flag, struct buf *out);

#endif
