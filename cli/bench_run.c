/* bench_run.c -- winnow bench run: an experiment with a progress line; Ctrl-C; what to type to go on. */
#include "cli/bench.h"

#include "bench/pool.h"
#include "bench/spec.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- Ctrl-C ---- */

static volatile sig_atomic_t interrupted; /* a signal handler has nowhere else to write */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void wni_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    action.sa_flags =
        (int)SA_RESETHAND; /* the second one ends the program: nothing half-written is trusted */
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool wni_interrupted(void)
{
    return interrupted;
}

/* ---- progress ---- */

struct display {
    const char *what; /* is counted */
    bool terminal;
    bool line;     /* a progress line stands on the terminal */
    bool told;     /* that it is being interrupted */
    double logged; /* when a log file last got a line, in seconds since the start */
};

enum { LOG_SECONDS = 60 };

/* "3 s", "12 min", "2.5 h": nobody plans by the second for an hour. */
static void format_time(double seconds, char out[32])
{
    if (seconds < 90)
        snprintf(out, 32, "%.0f s", seconds);
    else if (seconds < 5400)
        snprintf(out, 32, "%.0f min", seconds / 60);
    else
        snprintf(out, 32, "%.1f h", seconds / 3600);
}

static void clear_line(struct display *d)
{
    if (d->line) fprintf(stderr, "\r\033[K");
    d->line = false;
}

static void show(void *context, const struct bench_progress *p)
{
    struct display *d = context;
    char elapsed[32], left[32];
    if (wni_interrupted() && !d->told) {
        clear_line(d);
        fprintf(stderr, "stopping after the runs that are under way; Ctrl-C again drops them\n");
        d->told = true;
    }
    if (!d->terminal && p->elapsed - d->logged < LOG_SECONDS) return;
    d->logged = p->elapsed;
    format_time(p->elapsed, elapsed);
    clear_line(d);
    fprintf(stderr, "%zu of %zu %s", p->done, p->total, d->what);
    if (p->failed) fprintf(stderr, ", %zu failed", p->failed);
    fprintf(stderr, "  %s", elapsed);
    if (!isnan(p->left) && p->done + p->failed < p->total) {
        format_time(p->left, left);
        fprintf(stderr, ", %s %s left", p->guess ? "perhaps" : "about", left);
    }
    if (!d->terminal) fputc('\n', stderr);
    fflush(stderr);
    d->line = d->terminal;
}

static void tell_failure(void *context, const char *run, const char *why, const char *command)
{
    clear_line(context);
    fprintf(stderr, "winnow: failed: %s: %s\n  repeat it: %s\n", run, why, command);
}

static bool go_on(void *context)
{
    (void)context;
    return !wni_interrupted();
}

static void sum_up(const struct bench_tally *t, const char *again)
{
    if (t->stale) fprintf(stderr, "%zu runs had been made differently: not used\n", t->stale);
    fprintf(stderr, "%zu of %zu runs are done", t->before + t->done, t->total);
    if (t->before) fprintf(stderr, ", %zu of them from before", t->before);
    if (t->failed) fprintf(stderr, "; %zu failed", t->failed);
    fprintf(stderr, "\n");
    if (t->interrupted) fprintf(stderr, "go on with: %s\n", again);
}

wn_status wni_run_shown(const struct experiment *e, const struct task_list *tasks, struct results *results,
                        size_t jobs, const char *again, struct bench_tally *tally, struct err *err)
{
    struct display display = {.terminal = isatty(STDERR_FILENO), .what = "runs"};
    struct bench_hooks hooks = {
        .progress = show, .failed = tell_failure, .go_on = go_on, .context = &display};
    wn_status st = wni_experiment_run(e, tasks, results, jobs, &hooks, tally, err);
    clear_line(&display);
    if (!st) sum_up(tally, again);
    return st;
}

wn_status wni_surrogates_shown(const struct paper_setup *setup, const struct task_list *tasks,
                               struct results *results, size_t jobs, struct err *err)
{
    struct display display = {.terminal = isatty(STDERR_FILENO), .what = "surrogate scores"};
    struct bench_hooks hooks = {.progress = show, .go_on = go_on, .context = &display};
    wn_status st = wni_paper_surrogates(setup, tasks, results, jobs, &hooks, err);
    clear_line(&display);
    return st;
}

/* ---- options ---- */

wn_status wni_find_tasks_option(const struct args *args, struct task_list *list, struct err *err)
{
    struct buf path = {0};
    wni_data_path(wni_arg(args, "data"), &path);
    wn_status st = wni_tasks_find(list, wni_buf_text(&path), err);
    for (size_t i = 0; wni_flag(args, "data") && i < list->n_warnings; i++)
        fprintf(stderr, "winnow: warning: %s\n", list->warnings[i]);
    wni_buf_release(&path);
    return st;
}

wn_status wni_jobs_option(const struct args *args, size_t *jobs, struct err *err)
{
    uint64_t n = wni_pool_cores();
    wn_status st = wni_arg_count(args, "jobs", 1, 256, &n, err);
    *jobs = (size_t)n;
    return st;
}

void wni_put_options(const struct args *args, const char *const *names, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (!wni_flag(args, names[i])) continue;
        wni_buf_printf(out, " --%s ", names[i]);
        wni_buf_shell(out, wni_arg(args, names[i]));
    }
}

/* ---- winnow bench run ---- */

/* The command that goes on with this one. */
static void put_again(const struct args *args, struct buf *out)
{
    static const char *const names[] = {"out", "data", "jobs"};
    wni_buf_puts(out, "winnow bench run ");
    wni_buf_shell(out, args->words[1]);
    wni_put_options(args, names, sizeof names / sizeof *names, out);
}

static void tell_next(const char *out)
{
    struct buf word = {0};
    wni_buf_shell(&word, out);
    fprintf(stderr, "see the results with: winnow bench report %s\n", wni_buf_text(&word));
    wni_buf_release(&word);
}

static int run_experiment(const struct args *args, const struct experiment *e, const struct task_list *tasks)
{
    const char *out = wni_arg(args, "out");
    struct results results;
    struct bench_tally tally;
    struct buf again = {0};
    struct err err = {0};
    size_t jobs = 1;
    put_again(args, &again);
    wn_status st = wni_jobs_option(args, &jobs, &err);
    if (!st) st = wni_results_create(&results, out, &err);
    if (st) {
        wni_buf_release(&again);
        return wni_complain(&err, st);
    }
    wni_catch_interrupt();
    st = wni_run_shown(e, tasks, &results, jobs, wni_buf_text(&again), &tally, &err);
    wni_results_close(&results);
    wni_buf_release(&again);
    if (st) return wni_complain(&err, st);
    if (!tally.interrupted) tell_next(out);
    return tally.interrupted ? EXIT_INTERRUPTED : tally.failed ? EXIT_FAILED : EXIT_DONE;
}

static int read_and_run(const struct args *args, const struct document *doc)
{
    struct experiment e;
    struct task_list tasks;
    struct problems problems = {0};
    struct err err = {0};
    int code;
    wn_status st = wni_find_tasks_option(args, &tasks, &err);
    wni_experiment_init(&e);
    if (!st) st = wni_spec_read(&e, doc, &tasks, &problems);
    e.data = wni_arg(args, "data");
    if (st == WN_EINVAL)
        code = wni_complain_problems(&problems);
    else if (st)
        code = wni_complain(&err, st);
    else
        code = run_experiment(args, &e, &tasks);
    wni_problems_release(&problems);
    wni_experiment_release(&e);
    wni_tasks_release(&tasks);
    return code;
}

int wni_bench_run(struct args *args)
{
    struct document doc = {0};
    struct err err = {0};
    wn_status st = WN_OK;
    if (args->n_words < 2)
        st = wni_fail(&err, WN_EINVAL,
                      "bench run: which experiment? expected: winnow bench run SPEC --out DIR");
    else if (!wni_arg(args, "out"))
        st = wni_fail(&err, WN_EINVAL, "bench run: --out is missing: the folder for the results");
    if (st) return wni_complain(&err, st);
    st = wni_document_load(&doc, args->words[1], &err);
    if (st) return wni_complain_document(&err, st);
    int code = read_and_run(args, &doc);
    wni_document_release(&doc);
    return code;
}
