/* cmd_bench.c -- winnow bench: experiments (bench_run.c, bench_report.c) and measurements of the program
 * itself. */
#include "cli/bench_store.h"
#include "cli/cli.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "bench/latency.h"
#include "cli/bench.h"
#include "cli/bench_runner.h"
#include "core/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    double before = wni_peak_memory(), began = wni_clock_seconds();
    wn_status st = wni_arg_count(args, "trials", 1, 100000000, &trials, err);
    if (!st) st = wni_arg_count(args, "reports", 0, 100000, &reports, err);
    if (st) return st;
    st = build_space(&space, err);
    if (!st) st = wni_history_init(&history, &space, err);
    if (!st) st = fill_history(&history, trials, reports, err);
    double seconds = wni_clock_seconds() - began;
    if (!st)
        st = print_history(&history, reports, seconds, wni_peak_memory() - before, wni_arg(args, "format"));
    wni_history_release(&history);
    wni_space_release(&space);
    return st;
}

/* ---- latency, memory and fit: tables over (method or learner, space, n) ---- */

struct subject {
    const struct method *method; /* NULL: a fit */
    int levels;                  /* of the fit */
    bool memory;                 /* show it */
};

/* Takes the next word of a comma-separated list. */
static bool next_word(const char **list, char word[64])
{
    size_t n = strcspn(*list, ",");
    if (n == 0) return false;
    snprintf(word, 64, "%.*s", (int)(n < 63 ? n : 63), *list);
    *list += n + ((*list)[n] == ',');
    return true;
}

static wn_status next_count(const char **list, size_t *n, bool *more, struct err *err)
{
    char word[64];
    int64_t count;
    *more = next_word(list, word);
    if (!*more) return WN_OK;
    if (!wni_parse_int(word, &count) || count < 1 || count > 10000000)
        return wni_fail(err, WN_EINVAL, "--n: expected whole numbers from 1, separated by commas, got '%s'",
                        word);
    *n = (size_t)count;
    return WN_OK;
}

/* One row per n for a space. */
static wn_status measure(struct table *t, const struct args *args, const struct subject *what,
                         const char *space_name, struct err *err)
{
    struct space space;
    const char *list = wni_arg(args, "n");
    bool more = true;
    wn_status st = wni_latency_space(space_name, &space, err);
    if (st) return st;
    while (!st && more) {
        size_t n = 0;
        double seconds;
        char learner[32];
        st = next_count(&list, &n, &more, err);
        if (st || !more) break;
        st = what->method ? wni_latency_suggest(what->method, &space, n, &seconds, err)
                          : wni_latency_fit(&space, n, what->levels, &seconds, err);
        if (st) break;
        snprintf(learner, sizeof learner, "quantile%d", what->levels);
        wni_table_text(t, what->method ? what->method->name : learner);
        wni_table_text(t, space_name);
        wni_table_number(t, (double)n);
        wni_table_number(t, rint(seconds * 1e9) / 1e9);
        if (what->memory) wni_table_number(t, rint(wni_peak_memory() / 1e5) / 10);
    }
    wni_space_release(&space);
    return st;
}

static wn_status measure_spaces(struct table *t, const struct args *args, const struct subject *what,
                                struct err *err)
{
    const char *wanted = wni_arg(args, "space");
    wn_status st = WN_OK;
    if (wanted) return measure(t, args, what, wanted, err);
    for (size_t i = 0; i < wni_latency_space_count() && !st; i++)
        st = measure(t, args, what, wni_latency_space_name(i), err);
    return st;
}

static wn_status measure_methods(struct table *t, const struct args *args, bool memory, struct err *err)
{
    const char *list = wni_arg(args, "methods");
    wn_status st = WN_OK;
    char name[64];
    while (list && !st && next_word(&list, name)) {
        struct subject what = {.method = wni_method_find(name, err), .memory = memory};
        st = what.method ? measure_spaces(t, args, &what, err) : WN_EINVAL;
    }
    for (size_t i = 0; !list && i < wni_method_count() && !st; i++)
        st = measure_spaces(t, args, &(struct subject){.method = wni_method_at(i), .memory = memory}, err);
    return st;
}

static wn_status bench_methods(const struct args *args, bool memory, struct err *err)
{
    static const char *const columns[] = {"method", "space", "n", "seconds", "megabytes"};
    struct table *t = wni_table_new(columns, memory ? 5 : 4);
    wn_status st = t ? measure_methods(t, args, memory, err) : wni_fail_memory(err);
    if (!st) st = wni_table_print(t, wni_arg(args, "format"), stdout);
    wni_table_free(t);
    return st;
}

static wn_status bench_latency(const struct args *args, struct err *err)
{
    return bench_methods(args, false, err);
}

static wn_status bench_memory(const struct args *args, struct err *err)
{
    return bench_methods(args, true, err);
}

static wn_status bench_fit(const struct args *args, struct err *err)
{
    static const char *const columns[] = {"learner", "space", "n", "seconds"};
    struct table *t = wni_table_new(columns, 4);
    wn_status st = t ? measure_spaces(t, args, &(struct subject){.levels = 1}, err) : wni_fail_memory(err);
    if (!st) st = measure_spaces(t, args, &(struct subject){.levels = 4}, err);
    if (!st) st = wni_table_print(t, wni_arg(args, "format"), stdout);
    wni_table_free(t);
    return st;
}

/* ---- observations: what latency and fit are measured on, for others to be measured on the same ---- */

static const char **observation_columns(const struct space *space)
{
    const char **columns = wni_new(const char *, space->n + 1);
    for (size_t i = 0; columns && i < space->n; i++)
        columns[i] = space->params[i].name;
    if (columns) columns[space->n] = "value";
    return columns;
}

static void add_observation(struct table *t, const struct space *space, const double *config, double value)
{
    char scratch[WN_WHY_MAX];
    for (size_t i = 0; i < space->n; i++)
        wni_table_text(t, wni_param_text(&space->params[i], config[i], scratch));
    wni_table_number(t, value);
}

static wn_status print_observations(const struct args *args, const struct space *space, size_t n,
                                    uint64_t seed, struct err *err)
{
    const char **columns = observation_columns(space);
    struct table *t = columns ? wni_table_new(columns, space->n + 1) : NULL;
    double *config = wni_new(double, space->n), *unit = wni_new(double, space->unit_width);
    struct rng rng = wni_latency_stream(seed);
    wn_status st = t && config && unit ? WN_OK : wni_fail_memory(err);
    for (size_t i = 0; i < n && !st; i++)
        add_observation(t, space, config, wni_latency_observation(space, &rng, config, unit));
    if (!st) st = wni_table_print(t, wni_arg(args, "format"), stdout);
    wni_table_free(t);
    free(columns);
    free(config);
    free(unit);
    return st;
}

static wn_status bench_observations(const struct args *args, struct err *err)
{
    struct space space;
    const char *name = wni_arg(args, "space"), *list = wni_arg(args, "n");
    uint64_t seed = 0;
    size_t n = 0;
    bool more;
    if (!name) return wni_fail(err, WN_EINVAL, "bench observations: --space is missing");
    if (strchr(list, ',')) return wni_fail(err, WN_EINVAL, "bench observations: --n takes one number");
    wn_status st = next_count(&list, &n, &more, err);
    if (!st) st = wni_arg_count(args, "seed", 0, UINT64_MAX, &seed, err);
    if (!st) st = wni_latency_space(name, &space, err);
    if (st) return st;
    st = print_observations(args, &space, n, seed, err);
    wni_space_release(&space);
    return st;
}

/* ---- the command ---- */

static const struct part_of_bench {
    const char *name;
    wn_status (*run)(const struct args *args, struct err *err); /* NULL: an experiment's */
    const char *takes;                                          /* options */
} parts[] = {{"run", NULL, "out jobs data"},
             {"report", NULL, ""},
             {"history", bench_history, "trials reports format"},
             {"latency", bench_latency, "methods n space format"},
             {"memory", bench_memory, "methods n space format"},
             {"fit", bench_fit, "n space format"},
             {"observations", bench_observations, "n space seed format"},
             {"store", wni_bench_store, "trials reports store format"},
             {"runner", wni_bench_runner, "trials workers format"}};

enum { N_PARTS = sizeof parts / sizeof *parts };

static const struct cli_option options[] = {
    {.name = "trials",
     .value = "N",
     .help = "history, store, runner: how many trials; default: 1000000, for a store 100000, for the runner "
             "2000"},
    {.name = "reports", .value = "K", .fallback = "10", .help = "history, store: reports of each trial"},
    {.name = "store",
     .value = "URL",
     .address = true,
     .help = "store: where; default: a temporary SQLite file"},
    {.name = "workers", .value = "N", .fallback = "64", .help = "runner: trials at a time"},
    {.name = "methods", .value = "M,...", .help = "latency, memory: which methods; default: all"},
    {.name = "n",
     .value = "N,...",
     .fallback = "16,64,256,1024",
     .help = "latency, memory, fit, observations: observed trials"},
    {.name = "space",
     .value = "SPACE",
     .choices = "fcnet|lcbench",
     .help = "latency, memory, fit: only this space; default: both.  observations: which"},
    {.name = "seed", .value = "S", .fallback = "0", .help = "observations: others; latency and fit use 0"},
    {.name = "out", .value = "DIR", .help = "run: where the results go; the same folder again goes on"},
    {.name = "jobs", .value = "N", .help = "run: runs at the same time; default: all cores"},
    {.name = "data",
     .value = "DIR",
     .help = "run: folder of benchmark tables (or several, separated by colons); default: $WINNOW_DATA"},
    TABLE_FORMAT_OPTION("how to print the result"),
    {0},
};

static bool takes(const struct part_of_bench *part, const char *option)
{
    size_t n = strlen(option);
    for (const char *at = part->takes; (at = strstr(at, option)); at += n)
        if ((at == part->takes || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    return false;
}

/* An option of another part would do nothing, in silence. */
static wn_status check_options(const struct part_of_bench *part, const struct args *args, struct err *err)
{
    for (const struct cli_option *o = options; o->name; o++)
        if (wni_flag(args, o->name) && !takes(part, o->name))
            return wni_fail(err, WN_EINVAL, "bench %s: there is no --%s here%s", part->name, o->name,
                            strcmp(part->name, "run") ? "" : "; what is run, and how, stands in SPEC");
    return WN_OK;
}

static wn_status find_part(const char *name, const struct part_of_bench **found, struct err *err)
{
    struct buf known = {0};
    for (size_t i = 0; i < N_PARTS; i++) {
        if (!strcmp(name, parts[i].name)) *found = &parts[i];
        wni_buf_printf(&known, "%s%s", i == 0 ? "" : i + 1 < N_PARTS ? ", " : " and ", parts[i].name);
    }
    if (!*found)
        wni_fail(err, WN_EINVAL, "bench: unknown measurement '%s'; there are %s", name, wni_buf_text(&known));
    wni_buf_release(&known);
    return *found ? WN_OK : WN_EINVAL;
}

static int run(struct args *args)
{
    struct err err = {0};
    const struct part_of_bench *part = NULL;
    wn_status st = find_part(args->words[0], &part, &err);
    if (!st) st = check_options(part, args, &err);
    if (st) return wni_complain(&err, st);
    if (!strcmp(part->name, "run")) return wni_bench_run(args);
    if (!strcmp(part->name, "report")) return wni_bench_report(args);
    if (args->n_words > 1)
        st = wni_fail(&err, WN_EINVAL, "bench %s: unexpected '%s'", args->words[0], args->words[1]);
    if (!st) st = part->run(args, &err);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

const struct cli_command wni_cmd_bench = {
    .name = "bench",
    .summary = "compare methods on tasks; measure the program itself",
    .words = "run SPEC | report DIR | history | latency | memory | fit | observations | store | runner",
    .min_words = 1,
    .max_words = 2,
    .about =
        "run: simulates every method on every task with every seed of SPEC (a YAML file), on all cores, "
        "and keeps the "
        "results in DIR/results.db. It can be stopped and killed at any time; the same command goes on "
        "where it was.\n\n"
        "    methods: [rs, cqr, {name: cqr, label: cqr-8, levels: 8}]\n"
        "    tasks: [fcnet, lcbench-airlines]   # tasks, families, or paper: the paper's 13\n"
        "    seeds: 30\n"
        "    workers: 4                         # optional, as all below\n"
        "    limits: {time: 2h}                 # also results, trials, resource; default: the task's\n\n"
        "report: average ranks, normalised regret, critical-difference diagrams, curves of each task, "
        "final values and times, "
        "as figures (needs gnuplot), CSV files and one page, DIR/report.html.\n\n"
        "history: builds the in-memory log of a study (4 parameters) event by event; shows the rate, "
        "and the memory the "
        "process gained at its peak.\n\n"
        "latency: median seconds (processor time) of one suggestion on one core, model fit included, "
        "with n observed trials and, between suggestions, one more each time, on two spaces: "
        "fcnet (9 finite parameters) and lcbench (7, mostly continuous). A method that fits only now "
        "and then (gp beyond 200 observations) does so in some of the suggestions.\n\n"
        "memory: the same, and the most memory the process has had so far; for a method's own, measure it "
        "alone.\n\n"
        "fit: median seconds of fitting the quantile trees alone (quantile1: one level, quantile4: "
        "four; 100 trees of depth "
        "3 each), on one core.\n\n"
        "observations: prints the n made-up observations that latency and fit use, for others to be "
        "measured on the same rows.\n\n"
        "store: one worker's asks, reports and finishes, each event a transaction of its own; then the time "
        "to "
        "open the study again and to list its first ten trials. cpu_seconds are those of the seconds that "
        "are "
        "processor time. An interrupted study of that name (bench) is gone on with.\n\n"
        "runner: runs real processes that sleep 50 ms; shows the share of one core that the runner itself "
        "uses, the share of time that it was ready but others had the processors, what its processes use "
        "together, and how long a worker is without a process: until there is one (refill_ms; late_percent "
        "of them took more than 20 ms), and until that "
        "was seen to have executed its program (execute_ms), from the earliest moment at which the last one "
        "may have ended. Three rows: a bare loop that only starts and reaps the same processes, which is "
        "what "
        "the machine can do; a study in memory; one in a SQLite file. Trial folders go to TMPDIR.",
    .options = options,
    .examples = "winnow bench run levels.yaml --out levels   # then: winnow bench report levels\n"
                "winnow bench history\n"
                "winnow bench latency --methods cqr,rea --n 64,1000\n"
                "winnow bench fit --space lcbench --format csv\n"
                "winnow bench observations --space fcnet --n 1000 --format csv\n"
                "winnow bench store --trials 20000 --store sqlite:///try.db?sync=full\n"
                "winnow bench runner --workers 64",
    .run = run,
};
