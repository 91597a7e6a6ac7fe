/* cmd_surrogate.c -- winnow surrogate: error, calibration and time of a surrogate on a task. */
#include "cli/cli.h"

#include "bench/calibration.h"
#include "bench/tasks.h"
#include "cli/progress.h"

#include <math.h>
#include <string.h>

struct totals {
    double rmse, mae, calibration, mean_gap, seconds;
};

static void add_row(struct table *t, const struct blackbox *box, const char *model,
                    const struct surrogate_case *c, const struct surrogate_score *score)
{
    wni_table_text(t, box->name);
    wni_table_text(t, model);
    wni_table_number(t, (double)c->n);
    wni_table_number(t, (double)c->seed);
    wni_table_number(t, round(score->rmse * 1e6) / 1e6);
    wni_table_number(t, round(score->mae * 1e6) / 1e6);
    wni_table_number(t, round(score->calibration * 1e6) / 1e6);
    wni_table_number(t, round(score->mean_gap * 1e6) / 1e6);
    wni_table_number(t, round(score->seconds * 1e6) / 1e6);
}

/* The position of a word among the choices of an option, which it is one of. */
static unsigned choice(const struct args *args, const char *option, const char *const *words, unsigned n)
{
    unsigned i = 0;
    while (i + 1 < n && strcmp(wni_arg(args, option), words[i]))
        i++;
    return i;
}

static wn_status measure(struct table *t, const struct blackbox *box, const char *model,
                         struct surrogate_case c, uint64_t seeds, struct totals *mean, struct err *err)
{
    struct progress progress;
    wn_status st = WN_OK;
    wni_progress_start(&progress);
    for (uint64_t k = 0; k < seeds && !st; k++, c.seed++) {
        struct surrogate_score score = {0};
        char text[64];
        st = wni_surrogate_score(box, &c, NULL, &score, err);
        if (st) break;
        add_row(t, box, model, &c, &score);
        mean->rmse += score.rmse / (double)seeds;
        mean->mae += score.mae / (double)seeds;
        mean->calibration += score.calibration / (double)seeds;
        mean->mean_gap += score.mean_gap / (double)seeds;
        mean->seconds += score.seconds / (double)seeds;
        snprintf(text, sizeof text, "%llu of %llu seeds", (unsigned long long)(k + 1),
                 (unsigned long long)seeds);
        wni_progress_show(&progress, text, (double)(k + 1) / (double)seeds);
    }
    wni_progress_end(&progress);
    return st;
}

static wn_status report(const struct args *args, const struct blackbox *box, struct err *err)
{
    static const char *const columns[] = {"task", "model",       "n",        "seed",   "rmse",
                                          "mae",  "calibration", "mean_gap", "seconds"};
    static const char *const models[] = {
        [SURROGATE_QR] = "qr", [SURROGATE_CQR] = "cqr", [SURROGATE_GP] = "gp"};
    static const char *const targets[] = {
        [TARGET_SCORES] = "scores", [TARGET_AUTHORS] = "authors", [TARGET_LOG] = "log"};
    const char *format = wni_arg(args, "format");
    uint64_t n = 256, seed = 0, seeds = 1;
    wn_status st = wni_arg_count(args, "n", 2, 4096, &n, err);
    if (!st) st = wni_arg_count(args, "seed", 0, INT64_MAX, &seed, err);
    if (!st) st = wni_arg_count(args, "seeds", 1, 1000000, &seeds, err);
    if (st) return st;
    struct totals mean = {0};
    struct surrogate_case c = {.model = choice(args, "model", models, sizeof models / sizeof *models),
                               .target = choice(args, "targets", targets, sizeof targets / sizeof *targets),
                               .n = n,
                               .seed = seed};
    struct table *t = wni_table_new(columns, sizeof columns / sizeof *columns);
    st = t ? measure(t, box, wni_arg(args, "model"), c, seeds, &mean, err) : wni_fail_memory(err);
    if (!st) st = wni_table_print(t, format, stdout);
    if (!st && !strcmp(format, "table"))
        printf("mean: rmse %.4f, mae %.4f, calibration %.4f, mean gap %.4f, %.4f s\n", mean.rmse, mean.mae,
               mean.calibration, mean.mean_gap, mean.seconds);
    wni_table_free(t);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct blackbox *box = NULL;
    wn_status st = wni_open_task_option(args, &box, &err);
    if (!st) st = report(args, box, &err);
    if (box) box->ops->close(box);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "task", .value = "TASK", .help = "a row of 'winnow tasks'"},
    {.name = "model", .value = "MODEL", .fallback = "cqr", .choices = "qr|cqr|gp", .help = "the surrogate"},
    {.name = "n", .value = "N", .fallback = "256", .help = "observations it is fitted to"},
    {.name = "targets",
     .value = "KIND",
     .fallback = "scores",
     .choices = "scores|authors|log",
     .help = "what is predicted: see above"},
    {.name = "seeds",
     .value = "K",
     .fallback = "1",
     .help = "how many times, each with observations of its own; one row each"},
    {.name = "seed", .value = "N", .fallback = "0", .help = "the first seed"},
    DATA_OPTION,
    TABLE_FORMAT_OPTION("how to print the result"),
    {0},
};

const struct cli_command wni_cmd_surrogate = {
    .name = "surrogate",
    .summary = "score a surrogate model on a task",
    .words = "",
    .about =
        "Fits the model, with 5 quantile levels j/6, to N configurations of the task drawn at random "
        "and scores it on the "
        "remaining ones. qr, cqr: quantile trees. gp: a Gaussian process, whose quantiles are those of the "
        "normal distribution it predicts for a new observation, noise included.\n\n"
        "--targets scores: values are replaced by normal scores of their ranks, so that tasks are "
        "comparable. authors: the same from the mean over a table's repeats, with the lowest rank for "
        "equal values and the tails cut, which fits the tables the paper prints. log: logarithms, "
        "standardised.\n\n"
        "rmse: of the mean of the predicted quantiles. mae: its mean absolute error (what the paper "
        "prints as RMSE). calibration: square root of the sum over the "
        "levels of the squared "
        "difference between the share of values below the quantile and the level (the paper's "
        "definition). mean_gap: the mean "
        "absolute difference (what the authors' code computes). seconds: fit and prediction.",
    .options = options,
    .examples =
        "winnow surrogate --task digits-mlp --model cqr --n 64 --seeds 20\n"
        "winnow surrogate --task fcnet-naval --data ~/tables --model qr --n 1024 --seeds 5 --format csv",
    .run = run,
};
