/* cmd_bench.c -- winnow bench: measurements of the program itself. */
#include "cli/cli.h"

#include "base/clock.h"
#include "core/history.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

static double peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (double)usage.ru_maxrss * 1024;
}

/* ---- history: a study of `trials` trials with `reports` reports each ---- */

static wn_status build_space(struct space *space, struct err *err)
{
    static const char *const words[] = {"relu", "tanh", "gelu"};
    wni_space_init(space);
    wn_status st = wni_space_add(
        space,
        &(struct param_decl){.name = "lr", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-5, .max = 1}, err);
    if (!st)
        st = wni_space_add(space, &(struct param_decl){.name = "dropout", .kind = PARAM_FLOAT, .max = 0.9},
                           err);
    if (!st)
        st = wni_space_add(
            space,
            &(struct param_decl){.name = "units", .kind = PARAM_INT, .scale = WN_LOG, .min = 16, .max = 4096},
            err);
    if (!st)
        st = wni_space_add(
            space,
            &(struct param_decl){
                .name = "activation", .kind = PARAM_CATEGORICAL, .labels = words, .n_labels = 3},
            err);
    return st;
}

static wn_status append(struct history *h, const struct event *e, struct err *err)
{
    wn_status st = wni_history_check(h, e, err);
    if (!st) st = wni_history_reserve(h, e, err);
    if (!st) wni_history_append(h, e);
    return st;
}

static wn_status append_trial(struct history *h, uint64_t reports, struct rng *rng, struct err *err)
{
    double config[4];
    uint32_t trial = (uint32_t)h->n_trials;
    wni_config_sample(h->space, rng, config);
    wn_status st = append(
        h, &(struct event){.kind = EVENT_ASK, .trial = trial, .config = config, .saw = h->n_events}, err);
    for (uint64_t r = 1; r <= reports && !st; r++)
        st = append(
            h,
            &(struct event){
                .kind = EVENT_REPORT, .trial = trial, .resource = (double)r, .value = wni_rng_uniform(rng)},
            err);
    if (!st) st = append(h, &(struct event){.kind = EVENT_FINISH, .trial = trial, .state = WN_COMPLETE}, err);
    return st;
}

static wn_status fill_history(struct history *h, uint64_t trials, uint64_t reports, struct err *err)
{
    struct rng rng = wni_rng_stream(0, 0, 0);
    wn_status st = WN_OK;
    for (uint64_t k = 0; k < trials && !st; k++)
        st = append_trial(h, reports, &rng, err);
    return st;
}

static wn_status print_history(const struct history *h, uint64_t reports, double seconds, double bytes,
                               const char *format)
{
    static const char *const columns[] = {"trials",    "reports",        "seconds", "events_per_second",
                                          "megabytes", "bytes_per_trial"};
    struct table *t = wni_table_new(columns, 6);
    if (!t) return WN_ENOMEM;
    wni_table_number(t, (double)h->n_trials);
    wni_table_number(t, (double)reports);
    wni_table_number(t, round(seconds * 1e3) / 1e3);
    wni_table_number(t, round((double)h->n_events / seconds));
    wni_table_number(t, round(bytes / 1e5) / 10);
    wni_table_number(t, round(bytes / (double)h->n_trials));
    wn_status st = wni_table_print(t, format, stdout);
    wni_table_free(t);
    return st;
}

static wn_status bench_history(const struct args *args, struct err *err)
{
    uint64_t trials = 1000000, reports = 10;
    struct space space;
    struct history history = {0};
    double before = peak_bytes(), began = wni_clock_seconds();
    wn_status st = wni_arg_count(args, "trials", 1, 100000000, &trials, err);
    if (!st) st = wni_arg_count(args, "reports", 0, 100000, &reports, err);
    if (st) return st;
    st = build_space(&space, err);
    if (!st) st = wni_history_init(&history, &space, err);
    if (!st) st = fill_history(&history, trials, reports, err);
    double seconds = wni_clock_seconds() - began;
    if (!st) st = print_history(&history, reports, seconds, peak_bytes() - before, wni_arg(args, "format"));
    wni_history_release(&history);
    wni_space_release(&space);
    return st;
}

/* ---- the command ---- */

static int run(struct args *args)
{
    struct err err = {0};
    wn_status st;
    if (!strcmp(args->words[0], "history"))
        st = bench_history(args, &err);
    else
        st = wni_fail(&err, WN_EINVAL, "bench: unknown measurement '%s'; there is history", args->words[0]);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "trials", .value = "N", .fallback = "1000000", .help = "history: how many trials"},
    {.name = "reports", .value = "K", .fallback = "10", .help = "history: reports of each trial"},
    {.name = "format",
     .value = "FORMAT",
     .fallback = "table",
     .choices = "table|json|csv",
     .help = "how to print the result"},
    {0},
};

const struct cli_command wni_cmd_bench = {
    .name = "bench",
    .summary = "measure the program itself",
    .words = "history",
    .min_words = 1,
    .max_words = 1,
    .about = "history: builds the in-memory log of a study (4 parameters) event by event; shows the rate, "
             "and the memory the "
             "process gained at its peak.",
    .options = options,
    .examples = "winnow bench history\n"
                "winnow bench history --trials 100000 --reports 100 --format json",
    .run = run,
};
