/* cmd_sim.c -- winnow sim: simulated studies on a virtual clock.
 *
 * Runs (one per seed) are independent: threads take them in order and each writes into a buffer of its own,
 * which the main thread prints in the order of the seeds.  So the output does not depend on the number of
 * threads. */
#include "cli/cli.h"

#include "base/mem.h"
#include "bench/simrun.h"
#include "cli/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum report_format { FORMAT_CSV, FORMAT_JSON, FORMAT_TABLE, FORMAT_NONE };
enum { FLUSH_BYTES = 1 << 16 };

struct sim_job { /* one seed */
    struct sim_run run;
    struct sim_outcome outcome;
    wn_status status;
    struct err err;
    struct buf rows;
    enum report_format format;
    bool seed_column;
    bool first;  /* its rows come first: the header goes before them */
    bool stream; /* the only run: print as we go instead of collecting */
    bool done;
    struct progress *progress; /* of the only run */
};

struct sim_batch {
    struct sim_job *jobs;
    size_t n, next; /* next job to be taken */
    pthread_mutex_t lock;
    pthread_cond_t finished;
};

/* ---- rows ---- */

/* With the first row, not before: a run that is refused leaves no half file behind. */
static void csv_header(struct sim_job *job)
{
    wni_buf_printf(&job->rows, "%stime,trial,resource,value,best\n", job->seed_column ? "seed," : "");
}

static void csv_row(struct sim_job *job, const struct happening *it, double best)
{
    struct buf *b = &job->rows;
    if (job->seed_column) wni_buf_printf(b, "%llu,", (unsigned long long)job->run.seed);
    wni_buf_double(b, it->time);
    wni_buf_printf(b, ",%u,", it->trial);
    wni_buf_double(b, it->resource);
    wni_buf_putc(b, ',');
    wni_buf_double(b, it->value);
    wni_buf_putc(b, ',');
    wni_buf_double(b, best);
    wni_buf_putc(b, '\n');
}

static void json_row(struct sim_job *job, const struct happening *it, double best)
{
    struct buf *b = &job->rows;
    wni_buf_printf(b, "{\"seed\": %llu, \"time\": ", (unsigned long long)job->run.seed);
    wni_buf_json_double(b, it->time);
    wni_buf_printf(b, ", \"trial\": %u, \"resource\": ", it->trial);
    wni_buf_json_double(b, it->resource);
    wni_buf_puts(b, ", \"value\": ");
    wni_buf_json_double(b, it->value);
    wni_buf_puts(b, ", \"best\": ");
    wni_buf_json_double(b, best);
    wni_buf_puts(b, "}\n");
}

static void flush_rows(struct sim_job *job)
{
    if (job->rows.failed) return; /* told at the end */
    fwrite(wni_buf_text(&job->rows), 1, job->rows.len, stdout);
    wni_buf_clear(&job->rows);
}

static double share_done(const struct sim_job *job, const struct study *study, const struct happening *it,
                         size_t reports)
{
    const struct tuner_limits *l = &job->run.limits;
    double share = 0;
    if (l->reports) share = fmax(share, (double)reports / (double)l->reports);
    if (l->resource > 0) share = fmax(share, study->history.total_resource / l->resource);
    if (l->seconds > 0) share = fmax(share, it->time / l->seconds);
    return share;
}

static void show_progress(const struct sim_job *job, const struct study *study, const struct happening *it)
{
    size_t reports = study->history.n_reports;
    if (!job->progress->on || reports % 4096 != 0) return;
    char text[128];
    snprintf(text, sizeof text, "%zu trials, %zu reports, best %.6g", study->history.n_trials, reports,
             study->sign * study->history.best_value);
    wni_progress_show(job->progress, text, share_done(job, study, it, reports));
}

static void on_report(void *context, const struct study *study, const struct happening *it)
{
    struct sim_job *job = context;
    const struct history *h = &study->history;
    double best = h->best_trial == TRIAL_NONE ? NAN : study->sign * h->best_value;
    if (job->format == FORMAT_CSV && job->first && h->n_reports == 1) csv_header(job);
    if (job->format == FORMAT_CSV) csv_row(job, it, best);
    if (job->format == FORMAT_JSON) json_row(job, it, best);
    if (job->stream && job->rows.len > FLUSH_BYTES) flush_rows(job);
    if (job->progress) show_progress(job, study, it);
}

/* ---- running ---- */

static void run_job(struct sim_job *job)
{
    job->run.on_report = on_report;
    job->run.context = job;
    job->status = wni_sim_run(&job->run, &job->outcome, &job->err);
    if (!job->status && job->rows.failed) job->status = wni_fail_memory(&job->err);
}

static void *take_jobs(void *context)
{
    struct sim_batch *batch = context;
    pthread_mutex_lock(&batch->lock);
    while (batch->next < batch->n) {
        struct sim_job *job = &batch->jobs[batch->next++];
        pthread_mutex_unlock(&batch->lock);
        run_job(job);
        pthread_mutex_lock(&batch->lock);
        job->done = true;
        pthread_cond_signal(&batch->finished);
    }
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}

/* Prints finished runs in order while others go on. */
static void print_in_order(struct sim_batch *batch)
{
    struct progress progress;
    wni_progress_start(&progress);
    for (size_t i = 0; i < batch->n; i++) {
        char text[64];
        pthread_mutex_lock(&batch->lock);
        while (!batch->jobs[i].done)
            pthread_cond_wait(&batch->finished, &batch->lock);
        pthread_mutex_unlock(&batch->lock);
        flush_rows(&batch->jobs[i]);
        wni_buf_release(&batch->jobs[i].rows);
        snprintf(text, sizeof text, "%zu of %zu runs", i + 1, batch->n);
        wni_progress_show(&progress, text, (double)(i + 1) / (double)batch->n);
    }
    wni_progress_end(&progress);
}

static void run_batch(struct sim_batch *batch, size_t n_threads)
{
    pthread_t threads[64];
    size_t started = 0;
    pthread_mutex_init(&batch->lock, NULL);
    pthread_cond_init(&batch->finished, NULL);
    while (started < n_threads && !pthread_create(&threads[started], NULL, take_jobs, batch))
        started++;
    if (started == 0) take_jobs(batch); /* no thread to be had: do it here */
    print_in_order(batch);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&batch->finished);
    pthread_mutex_destroy(&batch->lock);
}

static void run_alone(struct sim_job *job)
{
    struct progress progress;
    wni_progress_start(&progress);
    job->stream = true;
    job->progress = &progress;
    run_job(job);
    job->progress = NULL;
    wni_progress_end(&progress);
    flush_rows(job);
}

/* ---- what is printed besides the rows ---- */

static void print_stats(const struct sim_batch *batch)
{
    struct sim_outcome sum = {0};
    for (size_t i = 0; i < batch->n; i++) {
        const struct sim_outcome *o = &batch->jobs[i].outcome;
        sum.trials += o->trials;
        sum.reports += o->reports;
        sum.simulated_seconds += o->simulated_seconds;
        sum.real_seconds += o->real_seconds; /* of the runs, added up: threads do not shorten it */
    }
    fprintf(stderr,
            "{\"runs\": %zu, \"trials\": %llu, \"reports\": %llu, \"simulated_seconds\": %.6g, "
            "\"real_seconds\": %.6g, "
            "\"reports_per_second\": %.6g, \"peak_memory_bytes\": %.0f}\n",
            batch->n, (unsigned long long)sum.trials, (unsigned long long)sum.reports, sum.simulated_seconds,
            sum.real_seconds, (double)sum.reports / fmax(sum.real_seconds, 1e-9), wni_peak_memory());
}

static wn_status print_summary(const struct sim_batch *batch)
{
    static const char *const columns[] = {"task",    "method",   "seed",        "best",   "trials",
                                          "reports", "resource", "simulated_s", "real_s", "ended_by"};
    struct table *t = wni_table_new(columns, 10);
    if (!t) return WN_ENOMEM;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < batch->n; i++) {
        const struct sim_job *job = &batch->jobs[i];
        wni_table_text(t, job->run.box->name);
        wni_table_text(t, job->run.method->name);
        wni_table_number(t, (double)job->run.seed);
        wni_table_number(t, job->outcome.best);
        wni_table_number(t, (double)job->outcome.trials);
        wni_table_number(t, (double)job->outcome.reports);
        wni_table_number(t, job->outcome.total_resource);
        wni_table_number(t, round(job->outcome.simulated_seconds * 100) / 100);
        wni_table_number(t, round(job->outcome.real_seconds * 1e4) / 1e4);
        wni_table_text(t, job->outcome.exhausted ? "nothing left to try" : "limit");
        sum += job->outcome.best;
    }
    wn_status st = wni_table_print(t, "table", stdout);
    wni_table_free(t);
    double n = (double)batch->n, mean = sum / n;
    for (size_t i = 0; i < batch->n; i++)
        squares += (batch->jobs[i].outcome.best - mean) * (batch->jobs[i].outcome.best - mean);
    if (!st && batch->n > 1)
        printf("mean best %.8g, standard error %.2g\n", mean, sqrt(squares / (n - 1) / n));
    return st;
}

/* ---- options ---- */

static enum report_format format_of(const char *name)
{
    static const char *const names[] = {"csv", "json", "table", "none"};
    enum report_format format = FORMAT_CSV;
    while (format < FORMAT_NONE && strcmp(names[format], name) != 0)
        format++;
    return format;
}

/* Any limit given replaces the task's own ones. */
static wn_status read_limits(const struct args *args, struct tuner_limits *limits, struct err *err)
{
    const char *const names[] = {"max-results", "max-trials", "max-resource", "max-time"};
    bool any = false;
    for (size_t i = 0; i < 4; i++)
        any = any || wni_flag(args, names[i]);
    if (any) *limits = (struct tuner_limits){0};
    wn_status st = wni_arg_count(args, names[0], 1, UINT64_MAX / 4, &limits->reports, err);
    if (!st) st = wni_arg_count(args, names[1], 1, UINT32_MAX, &limits->trials, err);
    if (!st) st = wni_arg_number(args, names[2], 1e-9, 1e300, &limits->resource, err);
    if (!st) st = wni_arg_number(args, names[3], 1e-9, 1e300, &limits->seconds, err);
    return st;
}

/* A row of the table, or a pair put together here. */
static wn_status choose_method(const struct args *args, struct method *out, struct err *err)
{
    const char *scheduler = wni_arg(args, "scheduler"), *searcher = wni_arg(args, "searcher");
    if (!scheduler && !searcher) {
        const struct method *row = wni_method_find(wni_arg(args, "method"), err);
        if (row) *out = *row;
        return row ? WN_OK : WN_EINVAL;
    }
    if (wni_flag(args, "method"))
        return wni_fail(err, WN_EINVAL, "sim: give either --method or --scheduler and --searcher");
    *out = (struct method){.name = searcher ? searcher : scheduler,
                           .scheduler = scheduler ? scheduler : "fifo",
                           .searcher = searcher ? searcher : "random"};
    return WN_OK;
}

static wn_status read_run(const struct args *args, const struct blackbox *box, struct method *pair,
                          struct sim_run *run, struct err *err)
{
    wn_status st = choose_method(args, pair, err);
    *run = (struct sim_run){.box = box,
                            .method = pair,
                            .options = wni_arg(args, "set"),
                            .limits = wni_sim_limits(box),
                            .charge = wni_flag(args, "charge-decisions")};
    uint64_t workers = 4;
    if (!st) st = wni_arg_count(args, "seed", 0, INT64_MAX, &run->seed, err);
    if (!st) st = wni_arg_count(args, "workers", 1, 1000000, &workers, err);
    if (!st) st = wni_arg_number(args, "poll", 0, 1e9, &run->poll, err);
    if (!st)
        st = wni_arg_number(args, "first-rung", 0, box->levels[box->n_levels - 1], &run->first_rung, err);
    if (!st) st = read_limits(args, &run->limits, err);
    run->workers = (unsigned)workers;
    return st;
}

static wn_status first_failure(const struct sim_batch *batch, struct err *err)
{
    for (size_t i = 0; i < batch->n; i++) {
        if (!batch->jobs[i].status) continue;
        *err = batch->jobs[i].err;
        if (batch->n > 1) wni_err_prefix(err, "seed %llu", (unsigned long long)batch->jobs[i].run.seed);
        return batch->jobs[i].status;
    }
    return WN_OK;
}

static wn_status run_all(const struct args *args, struct sim_batch *batch, struct err *err)
{
    uint64_t threads = 1;
    wn_status st = wni_arg_count(args, "threads", 1, 64, &threads, err);
    if (st) return st;
    enum report_format format = batch->jobs[0].format;
    if (batch->n == 1)
        run_alone(&batch->jobs[0]);
    else
        run_batch(batch, threads);
    st = first_failure(batch, err);
    if (!st && format == FORMAT_TABLE) st = print_summary(batch);
    if (!st && wni_flag(args, "stats")) print_stats(batch);
    return st;
}

static wn_status simulate(const struct args *args, const struct blackbox *box, struct err *err)
{
    struct sim_run run;
    struct method pair = {0};
    uint64_t repeat = 1;
    wn_status st = read_run(args, box, &pair, &run, err);
    if (!st) st = wni_arg_count(args, "repeat", 1, 1000000, &repeat, err);
    if (st) return st;
    struct sim_batch batch = {.n = repeat, .jobs = wni_new(struct sim_job, repeat)};
    if (!batch.jobs) return wni_fail_memory(err);
    for (size_t i = 0; i < batch.n; i++) {
        batch.jobs[i] = (struct sim_job){
            .run = run, .format = format_of(wni_arg(args, "format")), .seed_column = repeat > 1};
        batch.jobs[i].run.seed += i;
        batch.jobs[i].first = i == 0;
    }
    st = run_all(args, &batch, err);
    for (size_t i = 0; i < batch.n; i++)
        wni_buf_release(&batch.jobs[i].rows);
    free(batch.jobs);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct blackbox *box = NULL;
    wn_status st = wni_open_task_option(args, &box, &err);
    if (!st) st = simulate(args, box, &err);
    if (box) box->ops->close(box);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "task", .value = "TASK", .help = "what to tune: a row of 'winnow tasks'"},
    {.name = "method",
     .value = "METHOD",
     .fallback = "asha",
     .help = "how to tune it: a row of 'winnow methods'"},
    {.name = "searcher",
     .value = "SEARCHER",
     .help = "instead of a method: what proposes configurations [random]"},
    {.name = "scheduler", .value = "SCHEDULER", .help = "instead of a method: who stops and goes on [fifo]"},
    {.name = "set",
     .value = "PART.OPTION=VALUE",
     .many = true,
     .help = "change an option of the method: --set scheduler.eta=4 --set searcher.population=20"},
    {.name = "seed",
     .value = "N",
     .fallback = "0",
     .help = "the same seed gives the same output, byte for byte"},
    {.name = "repeat",
     .value = "K",
     .fallback = "1",
     .help = "run K seeds, from --seed up; rows get a first column 'seed'"},
    {.name = "workers", .value = "N", .fallback = "4", .help = "trials that run at the same time"},
    {.name = "first-rung",
     .value = "R",
     .help = "resource after which a trial may first be stopped [the first level of the task]"},
    {.name = "max-results", .value = "N", .help = "end after N reports"},
    {.name = "max-trials", .value = "N", .help = "start at most N trials"},
    {.name = "max-resource", .value = "R", .help = "end when R resource (epochs) was spent in all"},
    {.name = "max-time",
     .value = "SECONDS",
     .help = "end after so many simulated seconds; without any limit the task's own apply"},
    {.name = "poll",
     .value = "SECONDS",
     .fallback = "0",
     .help = "look for reports only every so often, as the authors' simulator does (5); 0: at once"},
    {.name = "charge-decisions",
     .help = "count the real time of decisions as simulated time (not reproducible)"},
    DATA_OPTION,
    {.name = "threads",
     .value = "N",
     .fallback = "1",
     .help = "run seeds of --repeat side by side; the output is the same"},
    {.name = "format",
     .value = "FORMAT",
     .fallback = "csv",
     .choices = "csv|json|table|none",
     .help = "csv, json: a row per report (json: one object a line); table: a summary per run"},
    {.name = "stats", .help = "print one line of JSON about the run on stderr"},
    {0},
};

const struct cli_command wni_cmd_sim = {
    .name = "sim",
    .summary = "simulate a study on a task, on a virtual clock",
    .words = "",
    .about = "Runs a study whose trials are looked up instead of trained: workers report at the times the "
             "table tells, a "
             "freed worker starts the next trial at once. Weeks of tuning take milliseconds, and the same "
             "seed gives the "
             "same output.\n\n"
             "CSV columns: time (simulated seconds), trial, resource, value, best (so far).",
    .options = options,
    .examples =
        "winnow sim --task digits-mlp --method asha --seed 1\n"
        "winnow sim --task branin --method rs --max-trials 50 --format table\n"
        "winnow sim --task digits-mlp --method rea --repeat 30 --threads 2 --format table   # 30 seeds\n"
        "winnow sim --task synthetic-curves --method asha --workers 1000 --max-results 2000000 --format none "
        "--stats",
    .run = run,
};
