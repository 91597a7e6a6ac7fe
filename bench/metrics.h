/* metrics.h -- who was better, when, and is it chance: pure functions over best-so-far curves.
 *
 * A contest is a table of curves: a column per method, a row (block) per pair of task and seed.  Only
 * complete rows are compared.  Values are minimised throughout.  What is computed is that of the paper's
 * evaluation: average ranks and normalised regret on 50 points of the budget, and at single moments the
 * pairwise Wilcoxon signed-rank tests behind a critical-difference diagram.  docs/adr/0011 says where we
 * differ and why. */
#ifndef WNI_BENCH_METRICS_H
#define WNI_BENCH_METRICS_H

#include "base/arena.h"
#include "base/err.h"
#include "num/stats.h"

#include <stddef.h>
#include <stdint.h>

enum { METRIC_POINTS = 50, CONTEST_METHODS_MAX = 64 };

struct curve {           /* of one run: its improvements only */
    const double *time;  /* increasing */
    const double *value; /* decreasing */
    size_t n;
    double end; /* time of the run's last result */
};

/* Best value at time t; NAN before the first result. */
double wni_curve_at(const struct curve *curve, double t);

struct contest {
    size_t n_methods, n_tasks, n_blocks;
    const struct curve *curves; /* [block * n_methods + method] */
    const size_t *task;         /* of each block */
    const double *y_min; /* of each task: best value there is; NAN: not known, the best seen is taken */
};

/* A quantity for each method at each point: [method * METRIC_POINTS + k]; point k is (k + 1)/50 of the
 * budget. `error` is the standard error over seeds with the tasks taken as given; NAN when a task has a
 * single seed.
 */
struct series {
    double *mean, *error;
};

struct standings {
    double *horizon;       /* of each task, in its seconds: what 100 % of the budget is */
    double *y_min, *y_max; /* of each task: regret 0 and regret 1 */
    size_t *seeds;         /* of each task */
    struct series rank, regret;
    struct series *task_regret, *task_value; /* of each task; a value is NAN until every run has one */
    struct arena arena;
};

/* O(blocks * methods * (points + improvements)).  At least one block and two methods. */
wn_status wni_standings_compute(const struct contest *contest, struct standings *out, struct err *err);
void wni_standings_release(struct standings *s);

/* Ranks of the methods within each block at a share of the budget: ranks[block * n_methods + method].  Equal
 * values share a rank; runs without a result yet are last. */
wn_status wni_ranks_at(const struct contest *contest, const struct standings *s, double share, double *ranks,
                       struct err *err);

/* ---- is it chance ---- */

struct difference {
    size_t n; /* methods */
    double alpha;
    double *mean_rank;    /* of each method */
    double *p, *adjusted; /* [i * n + j]: pairwise Wilcoxon on ranks, then Holm over all pairs; diagonal 1 */
    struct friedman friedman; /* does anything differ at all? */
    uint64_t *cliques;        /* largest sets of methods of which no two differ; bit i is method i */
    size_t n_cliques;
    struct arena arena;
};

wn_status wni_difference_compute(const double *ranks, size_t n_blocks, size_t n_methods, double alpha,
                                 struct difference *out, struct err *err);
void wni_difference_release(struct difference *d);

#endif
