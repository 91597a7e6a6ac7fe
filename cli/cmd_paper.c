/* cmd_paper.c -- winnow paper: the paper's evaluation and figures, from our own computations. */
#include "cli/bench.h"

#include "bench/illustration.h"

#include <string.h>

static wn_status draw_illustration(const struct args *args, struct err *err)
{
    struct illustration setup = ILLUSTRATION_INIT;
    uint32_t counts[ILLUSTRATION_BINS];
    const char *out = wni_arg(args, "out");
    wn_status st = wni_arg_count(args, "seed", 0, INT64_MAX, &setup.seed, err);
    if (!st) st = wni_illustration_draw(&setup, out, counts, err);
    if (!st)
        printf("%s/illustration.svg, .png, .pdf (data: illustration-*.csv, script: illustration.gp)\n", out);
    return st;
}

/* ---- everything ---- */

struct paper {
    const struct args *args;
    struct paper_setup setup;
    struct task_list tasks;
    size_t jobs;
    const char *out;
    bool interrupted, failed;
};

/* The command that goes on with this one. */
static void put_again(const struct paper *p, struct buf *out)
{
    static const char *const names[] = {"groups", "tasks", "seeds", "data", "jobs", "out"};
    wni_buf_puts(out, "winnow paper");
    wni_put_options(p->args, names, sizeof names / sizeof *names, out);
}

static wn_status run_surrogates(struct paper *p, struct results *results, struct err *err)
{
    if (p->interrupted || !wni_paper_wants(&p->setup, "surrogates")) return WN_OK;
    wn_status st = wni_surrogates_shown(&p->setup, &p->tasks, results, p->jobs, err);
    if (wni_interrupted()) p->interrupted = true;
    return st;
}

static wn_status run_parts(struct paper *p, struct results *results, const struct experiment *e,
                           struct err *err)
{
    struct buf again = {0};
    struct bench_tally tally;
    put_again(p, &again);
    wni_catch_interrupt();
    wn_status st = wni_run_shown(e, &p->tasks, results, p->jobs, wni_buf_text(&again), &tally, err);
    wni_buf_release(&again);
    p->interrupted = !st && tally.interrupted;
    p->failed = !st && tally.failed;
    if (!st) st = run_surrogates(p, results, err);
    if (!st && !p->interrupted) st = wni_paper_report(&p->setup, &p->tasks, results, p->out, err);
    return st;
}

/* Groups without a single task would make a long page that says nothing. */
static wn_status check_tasks(const struct paper *p, const struct experiment *e, struct err *err)
{
    size_t n = 0;
    for (size_t g = 0; g < e->n_groups; g++)
        n += e->groups[g].n_tasks;
    if (n || !e->n_groups) return WN_OK;
    if (p->setup.tasks)
        return wni_fail(
            err, WN_EINVAL,
            "--tasks %s: none of them is both at hand and in a group to be run ('winnow tasks' lists "
            "what is at hand; --data DIR or $WINNOW_DATA names a folder of benchmark tables)",
            p->setup.tasks);
    return wni_fail(err, WN_ENOTFOUND,
                    "none of the tasks to compare methods on is at hand: name the folder of benchmark tables "
                    "with --data DIR or $WINNOW_DATA ('winnow tasks' lists what is found; --groups "
                    "illustration needs none)");
}

static wn_status run_paper(struct paper *p, struct err *err)
{
    struct experiment e;
    struct results results;
    wn_status st = wni_paper_experiment(&p->setup, &p->tasks, &e, err);
    e.data = wni_arg(p->args, "data");
    if (!st) st = check_tasks(p, &e, err);
    if (!st) st = wni_results_create(&results, p->out, err);
    if (!st) {
        st = run_parts(p, &results, &e, err);
        wni_results_close(&results);
    }
    wni_experiment_release(&e);
    if (!st && !p->interrupted) printf("%s/index.html\n", p->out);
    return st;
}

static int everything(const struct args *args)
{
    struct err err = {0};
    struct paper p = {
        .args = args,
        .setup = {.groups = wni_arg(args, "groups"), .tasks = wni_arg(args, "tasks"), .seeds = 30},
        .out = wni_arg(args, "out")};
    wn_status st = wni_arg_count(args, "seeds", 1, 1000000, &p.setup.seeds, &err);
    if (!st) st = wni_jobs_option(args, &p.jobs, &err);
    if (st) return wni_complain(&err, st);
    st = wni_find_tasks_option(args, &p.tasks, &err);
    if (!st) st = run_paper(&p, &err);
    wni_tasks_release(&p.tasks);
    if (st) return wni_complain(&err, st);
    return p.interrupted ? EXIT_INTERRUPTED : p.failed ? EXIT_FAILED : EXIT_DONE;
}

static int run(struct args *args)
{
    struct err err = {0};
    wn_status st;
    if (!args->n_words) return everything(args);
    if (!strcmp(args->words[0], "illustration"))
        st = draw_illustration(args, &err);
    else
        st = wni_fail(&err, WN_EINVAL, "paper: unknown part '%s'; there is illustration", args->words[0]);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "out", .value = "DIR", .fallback = "paper", .help = "where figures, scripts and data go"},
    {.name = "seeds", .value = "K", .fallback = "30", .help = "repetitions of everything"},
    {.name = "groups",
     .value = "G,...",
     .help = "only these: single-fidelity, multi-fidelity, variants, one-epoch, released-baselines, "
             "real-curves, yahpo-lcbench, surrogates, benchmarks, illustration, claims, all; default: all "
             "but yahpo-lcbench"},
    {.name = "tasks", .value = "T,...", .help = "only these tasks and families"},
    {.name = "jobs", .value = "N", .help = "runs at the same time; default: all cores"},
    DATA_OPTION,
    {.name = "seed", .value = "N", .fallback = "0", .help = "illustration alone: of the observations"},
    {0},
};

const struct cli_command wni_cmd_paper = {
    .name = "paper",
    .summary = "redo the paper's evaluation",
    .words = "[illustration]",
    .min_words = 0,
    .max_words = 1,
    .about =
        "Runs the groups of the paper's evaluation on the tables at hand, measures the surrogate models, and "
        "writes one page, "
        "DIR/index.html: the paper's claims one by one beside what was measured, ranks, regret and "
        "critical-difference "
        "diagrams of each group, the surrogate tables next to the paper's numbers, what the benchmarks are, "
        "and the time each "
        "method took. Every plotted number is in a CSV file. It can be stopped at any time; the same command "
        "goes on.\n\n"
        "illustration: only the figure of a function that is all noise: samples, the quantiles predicted "
        "from "
        "them with "
        "Thompson draws, and where the proposals go: to x = pi/2 and 3 pi/2, where the noise is largest.\n\n"
        "Figures need gnuplot.",
    .options = options,
    .examples = "winnow paper --seeds 3 --data ~/tables --out paper\n"
                "winnow paper --groups single-fidelity --tasks fcnet --seeds 10\n"
                "winnow paper illustration --out figures",
    .run = run,
};
