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
    struct arena arena;
};

/* contest.n_blocks is 0 when no task has a seed that every method has finished; nothing else is set then. */
wn_status wni_compare(struct comparison *c, const struct archive *archive, size_t group, struct err *err);
void wni_comparison_release(struct comparison *c);

size_t wni_group_method(const struct comparison *c, const char *name); /* SIZE_MAX: not in the group */
const struct task *wni_contest_task(const struct comparison *c, size_t task);
const char *wni_contest_method(const struct comparison *c, size_t method);

/* "†" semi-synthetic, "‡" surrogate, "§" a formula, "" real. */
const char *wni_honesty_mark(const char *honesty);

#endif
