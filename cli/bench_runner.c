/* bench_runner.c -- winnow bench runner: what the runner itself costs, with trials that do nothing but wait.
 *
 * Next to it stands what the machine can do at best: a bare loop that only starts and reaps the same
 * processes.  Starting a program costs about a millisecond of processor time, so many short trials keep the
 * machine busy by themselves, and then everything waits for its turn, the runner too. */
#include "cli/bench_runner.h"

#include "backend/local.h"
#include "base/clock.h"
#include "bench/bareloop.h"
#include "bench/scratch.h"
#include "tuner/tuner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* They fail for want of a report: no matter. */
static const char *const words[] = {"sleep", "0.05", NULL};

static wn_status expand(void *context, uint32_t trial, const double *config, struct arena *arena,
                        const char *const **argv, struct err *err)
{
    (void)context, (void)trial, (void)config, (void)arena, (void)err;
    *argv = words;
    return WN_OK;
}

struct measurement {
    const char *name;
    unsigned workers;
    uint64_t trials;
    double seconds, own, children; /* the last two: of processors */
    double waited;                 /* ready to run, but without a processor; NAN: the kernel does not tell */
    struct local_figures figures;
};

static double children_seconds(void)
{
    struct rusage r;
    getrusage(RUSAGE_CHILDREN, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static double waiting_seconds(void)
{
    char line[128] = "", *second;                    /* nanoseconds it ran and waited, and how often */
    FILE *file = fopen("/proc/self/schedstat", "r"); /* of the main thread, which is the loop */
    bool known = file && fgets(line, sizeof line, file) && (second = strchr(line, ' '));
    if (file) fclose(file);
    return known ? 1e-9 * (double)strtoull(second, NULL, 10) : NAN;
}

static void begin(struct measurement *m)
{
    m->waited = -waiting_seconds();
    m->seconds = -wni_clock_seconds();
    m->own = -wni_clock_cpu_seconds();
    m->children = -children_seconds();
}

static void end(struct measurement *m)
{
    m->seconds += wni_clock_seconds();
    m->own += wni_clock_cpu_seconds();
    m->children += children_seconds();
    m->waited += waiting_seconds();
}

/* ---- the runner ---- */

static wn_status open_study(struct study *study, const struct space *space, const char *url, struct err *err)
{
    struct store store;
    wn_status st = wni_store_open(&store, url, "runner", space, err);
    if (st) return st;
    return wni_study_open(
        study,
        &(struct study_setup){
            .space = space, .scheduler = "fifo", .searcher = "random", .lease = 60, .holds = true},
        &store, err);
}

static wn_status run_trials(struct study *study, const struct space *space, const char *folder,
                            struct measurement *m, struct err *err)
{
    struct backend backend;
    struct tuner_result result;
    struct tuner_setup tuner = {
        .workers = m->workers, .limits = {.trials = m->trials}, .keep = KEEP_NONE, .settle = true};
    wn_status st = wni_backend_open(&backend, wni_backend_find("local", NULL),
                                    &(struct backend_setup){.workers = m->workers,
                                                            .study = "runner",
                                                            .folder = folder,
                                                            .space = space,
                                                            .expand = expand,
                                                            .metric = "loss",
                                                            .grace = 5},
                                    err);
    if (st) return st;
    begin(m);
    st = wni_tuner_run(study, &backend, &tuner, &result, err);
    end(m);
    m->figures = wni_local_figures(&backend);
    backend.ops->close(backend.self);
    return st;
}

/* A study in memory or in a file, as its name says. */
static wn_status measure_runner(struct measurement *m, const char *scratch, struct err *err)
{
    char folder[SCRATCH_MAX + 32], url[SCRATCH_MAX + 32];
    struct space space;
    struct study study = {0};
    snprintf(folder, sizeof folder, "%s/%s", scratch, m->name);
    snprintf(url, sizeof url, "sqlite:///%s/winnow.db", scratch);
    wni_space_init(&space);
    wn_status st =
        wni_space_add(&space, &(struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1}, err);
    if (!st) st = open_study(&study, &space, strcmp(m->name, "sqlite") ? "memory:" : url, err);
    if (!st) st = run_trials(&study, &space, folder, m, err);
    wni_study_release(&study);
    wni_space_release(&space);
    return st;
}

static wn_status measure_bare(struct measurement *m, struct err *err)
{
    begin(m);
    wn_status st = wni_bare_loop(words, m->workers, m->trials, &m->figures, err);
    end(m);
    return st;
}

/* ---- the table ---- */

static void add_delay(struct table *t, const struct delay *d)
{
    wni_table_number(t, round(d->sum / fmax((double)d->n, 1) * 1e6) / 1e3);
    wni_table_number(t, round(d->max * 1e6) / 1e3);
}

static void add_share(struct table *t, double part, double seconds)
{
    wni_table_number(t, round(part / seconds * 1e4) / 100);
}

static void add_row(struct table *t, const struct measurement *m)
{
    wni_table_text(t, m->name);
    wni_table_number(t, m->workers);
    wni_table_number(t, (double)m->trials);
    wni_table_number(t, round(m->seconds * 1e3) / 1e3);
    wni_table_number(t, round((double)m->trials / m->seconds));
    add_share(t, m->own, m->seconds);
    add_share(t, m->waited, m->seconds);
    add_share(t, m->children, m->seconds);
    add_delay(t, &m->figures.refill);
    add_share(t, (double)m->figures.refill.late, fmax((double)m->figures.refill.n, 1));
    add_delay(t, &m->figures.execute);
}

/* What trials left is removed at the end: a file system may be busy with that for a while. */
static wn_status measure_all(struct table *t, unsigned workers, uint64_t trials, struct err *err)
{
    static const char *const names[] = {"bare", "memory", "sqlite"};
    char scratch[SCRATCH_MAX];
    wn_status st = wni_scratch_make(scratch, err);
    if (st) return st;
    for (size_t i = 0; i < sizeof names / sizeof *names && !st; i++) {
        struct measurement m = {.name = names[i], .workers = workers, .trials = trials};
        st = i == 0 ? measure_bare(&m, err) : measure_runner(&m, scratch, err);
        if (!st) add_row(t, &m);
    }
    wni_scratch_remove(scratch);
    return st;
}

wn_status wni_bench_runner(const struct args *args, struct err *err)
{
    static const char *const columns[] = {
        "store",        "workers",         "trials",           "seconds",        "trials_per_second",
        "core_percent", "waiting_percent", "children_percent", "refill_ms_mean", "refill_ms_max",
        "late_percent", "execute_ms_mean", "execute_ms_max"};
    uint64_t workers = 64, trials = 2000;
    wn_status st = wni_arg_count(args, "workers", 1, 10000, &workers, err);
    if (!st && wni_flag(args, "trials")) st = wni_arg_count(args, "trials", 1, 10000000, &trials, err);
    if (st) return st;
    struct table *t = wni_table_new(columns, sizeof columns / sizeof *columns);
    if (!t) return wni_fail_memory(err);
    st = measure_all(t, (unsigned)workers, trials, err);
    if (!st && wni_table_print(t, wni_arg(args, "format"), stdout)) st = wni_fail_memory(err);
    wni_table_free(t);
    return st;
}
