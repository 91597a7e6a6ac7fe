/* paper.h -- the paper's evaluation as one experiment, and the page about it.
 *
 * The groups are the paper's three and ours beyond it.  A method that the program does not have is left out
 * and named on the page. */
#ifndef WNI_BENCH_PAPER_H
#define WNI_BENCH_PAPER_H

#include "bench/compare.h"
#include "bench/illustration.h"
#include "bench/page.h"
#include "bench/runner.h"

struct paper_setup {
    const char *groups; /* comma-separated names; NULL: the usual ones */
    const char *tasks;  /* comma-separated tasks and families; NULL: all of each group */
    uint64_t seeds;
};

/* Whether a part is wanted: a group, "surrogates", "benchmarks", "illustration" or "claims". */
bool wni_paper_wants(const struct paper_setup *setup, const char *part);
bool wni_paper_has_task(const struct paper_setup *setup, const struct task *task);

/* The experiment of the wanted groups on the tasks at hand.  WN_EINVAL: an unknown group or task.  The caller
 * releases it either way. */
wn_status wni_paper_experiment(const struct paper_setup *setup, const struct task_list *tasks,
                               struct experiment *e, struct err *err);

/* Scores of the surrogate models on the paper's tasks, on several threads; those that are there are kept.
 * go_on as in struct bench_hooks. */
wn_status wni_paper_surrogates(const struct paper_setup *setup, const struct task_list *tasks,
                               struct results *results, size_t threads, const struct bench_hooks *hooks,
                               struct err *err);

/* All tables, figures and the page DIR/index.html. */
wn_status wni_paper_report(const struct paper_setup *setup, const struct task_list *tasks,
                           struct results *results, const char *directory, struct err *err);

/* ---- between the files of this part ---- */

struct surrogate_mean { /* of one model at one n, over seeds (and tasks) */
    double rmse, mae, calibration, mean_gap, seconds;
    size_t n; /* scores behind it; 0: none */
};

enum { SURROGATE_SIZES = 4, SURROGATE_MODELS = 3 };
extern const uint64_t wni_surrogate_sizes[SURROGATE_SIZES];
extern const char *const wni_surrogate_models[SURROGATE_MODELS]; /* GP, QR, CQR */

struct paper_measures { /* what claims ask about, besides the groups */
    struct surrogate_mean all[SURROGATE_SIZES][SURROGATE_MODELS]; /* over all tasks */
    uint32_t proposals[ILLUSTRATION_BINS];                        /* of the illustration; all 0: not drawn */
};

wn_status wni_surrogate_section(struct page *page, const struct paper_setup *setup,
                                const struct task_list *tasks, struct results *results,
                                struct paper_measures *means, struct err *err);
/* What the paper printed, its "RMSE" as mae and its calibration error as mean_gap (docs/adr/0014); NAN:
 * nothing. task "all" is its Table 1. */
struct surrogate_mean wni_paper_number(const char *task, uint64_t n, const char *model);

wn_status wni_benchmark_section(struct page *page, const struct paper_setup *setup,
                                const struct task_list *tasks, struct err *err);

/* comparisons[g] belongs to group g of the plan. */
wn_status wni_claims_section(struct page *page, const struct archive *archive,
                             const struct comparison *comparisons, const struct paper_measures *means,
                             struct err *err);

#endif
