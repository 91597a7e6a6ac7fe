/* compare.h -- a group of finished runs as a contest, with everything that is computed about it. */
#ifndef WNI_BENCH_COMPARE_H
#define WNI_BENCH_COMPARE_H

#include "bench/results.h"

enum { MOMENTS = 4 };
extern const double wni_moments[MOMENTS]; /* shares of the budget at which methods are tested */

struct comparison {
    const struct archive *archive;
    const struct bench_group *group;
    struct contest contest;
    size_t *tasks;   /* of the contest: indices into the plan; those without a complete seed are left out */
    size_t left_out; /* pairs of task and seed for which a method is missing */
    struct standings standings;
    struct difference at[MOMENTS];
    double *task_rank; /* at the end of the budget, mean over seeds: [task * n_methods + method] */
    struct arena arena;
};

/* contest.n_blocks is 0 when no task has a seed that every method has finished; nothing else is set then. */
wn_status wni_compare(struct comparison *c, const struct archive *archive, size_t group, struct err *err);
void wni_comparison_release(struct comparison *c);

size_t wni_group_method(const struct comparison *c, const char *name); /* SIZE_MAX: not in the group */
const struct task *wni_contest_task(const struct comparison *c, size_t task);
/* Whether a task of the contest is the first of its family; and a method's mean rank, at the end of the
 * budget, over that family's tasks.  Ranks are those within the whole group. */
bool wni_family_begins(const struct comparison *c, size_t task);
double wni_family_rank(const struct comparison *c, const char *family, size_t method);
const char *wni_contest_method(const struct comparison *c, size_t method);

/* "†" semi-synthetic, "‡" surrogate, "§" a formula, "" real. */
const char *wni_honesty_mark(const char *honesty);

#endif
