/* runner.c -- plans, skips what is done, runs the rest and writes each run as it ends. */
#include "bench/runner.h"

#include "base/clock.h"
#include "base/mem.h"
#include "bench/pool.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

struct told { /* a failure the caller's thread has yet to hear of */
    size_t run;
    struct err why;
};

struct session {
    const struct experiment *e;
    struct results *results;
    const struct bench_hooks *hooks;
    struct bench_run *runs; /* those to do */
    size_t n;
    struct blackbox **boxes; /* of each task; NULL: it could not be opened */
    struct err *closed;      /* and why */

    pthread_mutex_t lock; /* of all below, and of `results` */
    size_t done, failed, before;
    double *cost; /* mean real seconds, [method * n_tasks + task] */
    size_t *measured, *left;
    struct told *told;
    size_t n_told, told_cap;
    wn_status fatal;
    struct err err;
    double began;
};

/* ---- one run ---- */

struct recorder {
    struct improvement *items;
    size_t n, cap;
    double best; /* minimised */
    bool failed;
};

static void on_report(void *context, const struct study *study, const struct happening *report)
{
    struct recorder *r = context;
    double best = study->history.best_value;
    if (!(best < r->best) || r->failed) return;
    r->best = best;
    if (!wni_reserve((void **)&r->items, &r->cap, r->n + 1, sizeof *r->items)) {
        r->failed = true;
        return;
    }
    r->items[r->n++] = (struct improvement){
        .time = report->time, .value = study->sign * best, .reports = study->history.n_reports};
}

static wn_status simulate(const struct session *s, const struct bench_run *run, struct recorder *record,
                          struct sim_outcome *outcome, struct err *err)
{
    const struct experiment *e = s->e;
    const struct method *method = wni_method_find(e->methods[run->method].method, err);
    if (!method) return WN_EINVAL;
    if (!s->boxes[run->task]) {
        *err = s->closed[run->task];
        return WN_EIO;
    }
    struct sim_run sim = {.box = s->boxes[run->task],
                          .method = method,
                          .options = e->methods[run->method].options,
                          .seed = run->seed,
                          .workers = e->workers,
                          .limits = wni_experiment_limits(e, &e->tasks[run->task]),
                          .poll = e->poll,
                          .on_report = on_report,
                          .context = record};
    wn_status st = wni_sim_run(&sim, outcome, err);
    return !st && record->failed ? wni_fail_memory(err) : st;
}

static void note_cost(struct session *s, const struct bench_run *run, double seconds)
{
    size_t at = run->method * s->e->n_tasks + run->task;
    s->measured[at]++;
    s->cost[at] += (seconds - s->cost[at]) / (double)s->measured[at];
}

static void note_failure(struct session *s, size_t index, const struct err *why)
{
    s->failed++;
    if (wni_reserve((void **)&s->told, &s->told_cap, s->n_told + 1, sizeof *s->told))
        s->told[s->n_told++] = (struct told){.run = index, .why = *why};
}

static void do_run(void *context, size_t index)
{
    struct session *s = context;
    const struct bench_run *run = &s->runs[index];
    struct recorder record = {.best = INFINITY};
    struct finished_run finished = {.run = *run};
    struct err why = {0}, err = {0};
    wn_status st = simulate(s, run, &record, &finished.outcome, &why);
    finished.improvements = record.items;
    finished.n = record.n;
    pthread_mutex_lock(&s->lock);
    wn_status written = st ? wni_results_fail(s->results, s->e, run, why.text, &err)
                           : wni_results_save(s->results, s->e, &finished, &err);
    s->left[run->method * s->e->n_tasks + run->task]--;
    if (st)
        note_failure(s, index, &why);
    else if (!written)
        s->done++;
    if (!st) note_cost(s, run, finished.outcome.real_seconds);
    if (written && !s->fatal) {
        s->fatal = written;
        s->err = err;
    }
    pthread_mutex_unlock(&s->lock);
    free(record.items);
}

/* ---- how long it will take ---- */

/* A pair that was never measured costs what its method costs elsewhere, else what anything costs.  That is a
 * guess: on a network a method may take a hundred times as long as on a table. */
static double guess_cost(const struct session *s, size_t method)
{
    double own = 0, all = 0;
    size_t n_own = 0, n_all = 0, n_tasks = s->e->n_tasks;
    for (size_t i = 0; i < s->e->n_methods * n_tasks; i++) {
        if (!s->measured[i]) continue;
        all += s->cost[i];
        n_all++;
        if (i / n_tasks != method) continue;
        own += s->cost[i];
        n_own++;
    }
    if (n_own) return own / (double)n_own;
    return n_all ? all / (double)n_all : NAN;
}

static double time_left(const struct session *s, size_t threads, bool *guess)
{
    double sum = 0;
    *guess = false;
    for (size_t i = 0; i < s->e->n_methods * s->e->n_tasks; i++) {
        if (!s->left[i]) continue;
        if (!s->measured[i]) *guess = true;
        sum += (double)s->left[i] * (s->measured[i] ? s->cost[i] : guess_cost(s, i / s->e->n_tasks));
    }
    return sum / (double)threads;
}

struct watcher {
    struct session *session;
    size_t threads;
    bool interrupted;
};

static void tell_failures(struct session *s)
{
    for (size_t i = 0; i < s->n_told; i++) {
        const struct bench_run *run = &s->runs[s->told[i].run];
        struct buf name = {0}, command = {0};
        wni_buf_printf(&name, "%s on %s, seed %llu", s->e->methods[run->method].name,
                       s->e->tasks[run->task].name, (unsigned long long)run->seed);
        wni_run_command(s->e, run, &command);
        if (s->hooks->failed)
            s->hooks->failed(s->hooks->context, wni_buf_text(&name), s->told[i].why.text,
                             wni_buf_text(&command));
        wni_buf_release(&name);
        wni_buf_release(&command);
    }
    s->n_told = 0;
}

static bool watch(void *context)
{
    struct watcher *w = context;
    struct session *s = w->session;
    struct bench_progress p = {.total = s->before + s->n, .elapsed = wni_clock_seconds() - s->began};
    pthread_mutex_lock(&s->lock);
    p.done = s->before + s->done;
    p.failed = s->failed;
    p.left = time_left(s, w->threads, &p.guess);
    tell_failures(s);
    bool fatal = s->fatal;
    pthread_mutex_unlock(&s->lock);
    if (s->hooks->progress) s->hooks->progress(s->hooks->context, &p);
    if (s->hooks->go_on && !s->hooks->go_on(s->hooks->context)) w->interrupted = true;
    return !fatal && !w->interrupted;
}

static void watched_run(void *context, size_t index)
{
    do_run(((struct watcher *)context)->session, index);
}

/* ---- the session ---- */

static wn_status keep_pending(struct session *s, struct err *err)
{
    size_t kept = 0;
    bool *done = wni_new(bool, s->n);
    wn_status st = done ? wni_results_done(s->results, s->e, s->runs, s->n, done, err) : wni_fail_memory(err);
    for (size_t i = 0; !st && done && i < s->n; i++) {
        if (done[i]) continue;
        s->left[s->runs[i].method * s->e->n_tasks + s->runs[i].task]++;
        s->runs[kept++] = s->runs[i];
    }
    if (!st) {
        s->before = s->n - kept;
        s->n = kept;
    }
    free(done);
    return st;
}

/* Only those that something will run on.  A broken table fails the runs on it, not the others. */
static void open_boxes(struct session *s, const struct task_list *tasks)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t task = s->runs[i].task;
        if (!s->boxes[task] && !s->closed[task].text[0])
            wni_task_open(tasks, s->e->tasks[task].name, &s->boxes[task], &s->closed[task]);
    }
}

static wn_status prepare(struct session *s, const struct task_list *tasks, size_t *stale, struct err *err)
{
    size_t pairs = s->e->n_methods * s->e->n_tasks;
    s->boxes = wni_new(struct blackbox *, s->e->n_tasks);
    s->closed = wni_new(struct err, s->e->n_tasks);
    s->cost = wni_new(double, pairs);
    s->measured = wni_new(size_t, pairs);
    s->left = wni_new(size_t, pairs);
    if (!s->boxes || !s->closed || !s->cost || !s->measured || !s->left) return wni_fail_memory(err);
    wn_status st = wni_experiment_plan(s->e, &s->runs, &s->n, err);
    if (!st) st = wni_results_plan(s->results, s->e, stale, err);
    if (!st) st = wni_results_costs(s->results, s->e, s->cost, s->measured, err);
    if (!st) st = keep_pending(s, err);
    if (!st) open_boxes(s, tasks);
    return st;
}

static void release(struct session *s)
{
    for (size_t i = 0; s->boxes && i < s->e->n_tasks; i++)
        if (s->boxes[i]) s->boxes[i]->ops->close(s->boxes[i]);
    free(s->boxes);
    free(s->closed);
    free(s->cost);
    free(s->measured);
    free(s->left);
    free(s->runs);
    free(s->told);
    pthread_mutex_destroy(&s->lock);
}

wn_status wni_experiment_run(const struct experiment *e, const struct task_list *tasks,
                             struct results *results, size_t threads, const struct bench_hooks *hooks,
                             struct bench_tally *tally, struct err *err)
{
    struct session s = {.e = e, .results = results, .hooks = hooks, .began = wni_clock_seconds()};
    struct watcher w = {.session = &s, .threads = threads};
    *tally = (struct bench_tally){0};
    pthread_mutex_init(&s.lock, NULL);
    wn_status st = prepare(&s, tasks, &tally->stale, err);
    if (!st) {
        wni_pool_run(&(struct pool_work){.job = watched_run, .tick = watch, .context = &w}, s.n, threads);
        tell_failures(&s);
        tally->total = s.before + s.n;
        tally->before = s.before;
        tally->done = s.done;
        tally->failed = s.failed;
        tally->interrupted = w.interrupted && s.done + s.failed < s.n;
        if (s.fatal) *err = s.err;
        st = s.fatal;
    }
    release(&s);
    return st;
}
