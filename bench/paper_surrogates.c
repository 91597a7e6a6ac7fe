/* paper_surrogates.c -- the surrogate tables: error, calibration and time of the models, next to the paper's.
 */
#include "bench/paper.h"

#include "base/mem.h"
#include "bench/pool.h"
#include "plot/figure.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const uint64_t wni_surrogate_sizes[SURROGATE_SIZES] = {16, 64, 256, 1024};
const char *const wni_surrogate_models[SURROGATE_MODELS] = {"GP", "QR", "CQR"};

enum { SEEDS_MAX = 30 };

static const enum surrogate_model kinds[SURROGATE_MODELS] = {SURROGATE_GP, SURROGATE_QR, SURROGATE_CQR};

static uint64_t seeds_of(const struct paper_setup *setup)
{
    return setup->seeds < SEEDS_MAX ? setup->seeds : SEEDS_MAX;
}

/* The paper's tasks that are at hand and wanted. */
static const struct task *surrogate_task(const struct paper_setup *setup, const struct task_list *tasks,
                                         size_t i)
{
    const struct task *task = wni_tasks_get(tasks, wni_paper_tasks[i]);
    return task && wni_paper_has_task(setup, task) ? task : NULL;
}

/* ---- measuring ---- */

/* All that is wanted of a task with one seed: models and numbers of observations share what was drawn. */
struct scoring {
    const struct task *task;
    struct blackbox *box;
    uint64_t seed;
    bool wanted[SURROGATE_SIZES][SURROGATE_MODELS];
};

struct measuring {
    struct scoring *jobs;
    size_t n, cap;
    size_t total; /* scores */
    struct results *results;
    const struct bench_hooks *hooks;
    pthread_mutex_t lock; /* of all below and of `results` */
    size_t done;
    bool stopped;
    wn_status status;
    struct err err;
};

static struct surrogate_row row_of(const struct scoring *job, size_t size, size_t model)
{
    return (struct surrogate_row){.task = job->task->name,
                                  .model = wni_surrogate_models[model],
                                  .n = wni_surrogate_sizes[size],
                                  .seed = job->seed};
}

/* Returns whether to go on. */
static bool measure_one(struct measuring *m, const struct scoring *job, size_t size, size_t model,
                        struct surrogate_draws *draws)
{
    struct surrogate_row row = row_of(job, size, model);
    struct err err = {0};
    struct surrogate_case c = {.model = kinds[model], .target = TARGET_AUTHORS, .n = row.n, .seed = row.seed};
    wn_status st = wni_surrogate_score(job->box, &c, draws, &row.score, &err);
    bool too_small = st == WN_EINVAL; /* the task has no n configurations and others to test on: no score */
    if (too_small) st = WN_OK;
    pthread_mutex_lock(&m->lock);
    if (!st && !too_small) st = wni_results_save_surrogate(m->results, &row, &err);
    if (st && !m->status) {
        m->status = st;
        m->err = err;
        wni_err_prefix(&m->err, "%s on %s", row.model, row.task);
    }
    m->done++;
    bool goes_on = !m->status && !m->stopped;
    pthread_mutex_unlock(&m->lock);
    return goes_on;
}

static void measure(void *context, size_t index)
{
    struct measuring *m = context;
    const struct scoring *job = &m->jobs[index];
    struct surrogate_draws draws = {0};
    bool goes_on = true;
    for (size_t size = 0; size < SURROGATE_SIZES; size++)
        for (size_t model = 0; model < SURROGATE_MODELS && goes_on; model++)
            if (job->wanted[size][model]) goes_on = measure_one(m, job, size, model, &draws);
    wni_surrogate_draws_release(&draws);
}

static bool watch(void *context)
{
    struct measuring *m = context;
    pthread_mutex_lock(&m->lock);
    struct bench_progress p = {.done = m->done, .total = m->total, .left = NAN};
    m->stopped = m->stopped || (m->hooks->go_on && !m->hooks->go_on(m->hooks->context));
    bool goes_on = !m->status && !m->stopped;
    pthread_mutex_unlock(&m->lock);
    if (m->hooks->progress) m->hooks->progress(m->hooks->context, &p);
    return goes_on;
}

/* What of it is not known yet; *n: how much that is. */
static wn_status find_wanted(const struct measuring *m, struct scoring *job, size_t *n, struct err *err)
{
    wn_status st = WN_OK;
    *n = 0;
    for (size_t size = 0; size < SURROGATE_SIZES; size++)
        for (size_t model = 0; model < SURROGATE_MODELS && !st; model++) {
            struct surrogate_row row = row_of(job, size, model);
            bool found = false;
            st = wni_results_find_surrogate(m->results, &row, &found, err);
            job->wanted[size][model] = !found;
            *n += !found;
        }
    return st;
}

static wn_status add_jobs(struct measuring *m, const struct paper_setup *setup, const struct task *task,
                          struct blackbox *box, struct err *err)
{
    for (uint64_t seed = 0; seed < seeds_of(setup); seed++) {
        struct scoring job = {.task = task, .box = box, .seed = seed};
        size_t wanted;
        wn_status st = find_wanted(m, &job, &wanted, err);
        if (st) return st;
        if (!wanted) continue;
        if (!wni_reserve((void **)&m->jobs, &m->cap, m->n + 1, sizeof *m->jobs)) return wni_fail_memory(err);
        m->jobs[m->n++] = job;
        m->total += wanted;
    }
    return WN_OK;
}

wn_status wni_paper_surrogates(const struct paper_setup *setup, const struct task_list *tasks,
                               struct results *results, size_t threads, const struct bench_hooks *hooks,
                               struct err *err)
{
    struct measuring m = {.results = results, .hooks = hooks};
    struct blackbox *boxes[64] = {0};
    wn_status st = WN_OK;
    pthread_mutex_init(&m.lock, NULL);
    for (size_t i = 0; wni_paper_tasks[i] && !st; i++) {
        const struct task *task = surrogate_task(setup, tasks, i);
        if (task) st = wni_task_open(tasks, task->name, &boxes[i], err);
        if (task && !st) st = add_jobs(&m, setup, task, boxes[i], err);
    }
    if (!st) {
        wni_pool_run(&(struct pool_work){.job = measure, .tick = watch, .context = &m}, m.n, threads);
        st = m.status;
        if (st) *err = m.err;
    }
    for (size_t i = 0; wni_paper_tasks[i]; i++)
        if (boxes[i]) boxes[i]->ops->close(boxes[i]);
    free(m.jobs);
    pthread_mutex_destroy(&m.lock);
    return st;
}

/* ---- telling ---- */

static void add_score(struct surrogate_mean *mean, const struct surrogate_score *s)
{
    double n = (double)++mean->n;
    mean->rmse += (s->rmse - mean->rmse) / n;
    mean->mae += (s->mae - mean->mae) / n;
    mean->calibration += (s->calibration - mean->calibration) / n;
    mean->mean_gap += (s->mean_gap - mean->mean_gap) / n;
    mean->seconds += (s->seconds - mean->seconds) / n;
}

static wn_status gather(struct results *results, const struct paper_setup *setup, const char *task,
                        size_t size, size_t model, struct surrogate_mean *of_task, struct surrogate_mean *all,
                        struct err *err)
{
    wn_status st = WN_OK;
    for (uint64_t seed = 0; seed < seeds_of(setup) && !st; seed++) {
        struct surrogate_row row = {
            .task = task, .model = wni_surrogate_models[model], .n = wni_surrogate_sizes[size], .seed = seed};
        bool found = false;
        st = wni_results_find_surrogate(results, &row, &found, err);
        if (!found) continue;
        add_score(of_task, &row.score);
        add_score(all, &row.score);
    }
    return st;
}

static double or_nan(const struct surrogate_mean *m, double x)
{
    return m->n ? x : NAN;
}

static void put_row(struct page *page, struct buf *csv, const char *task, const char *mark, size_t size,
                    size_t model, const struct surrogate_mean *m)
{
    uint64_t n = wni_surrogate_sizes[size];
    struct surrogate_mean theirs = wni_paper_number(task, n, wni_surrogate_models[model]);
    const double cells[] = {or_nan(m, m->rmse),        or_nan(m, m->mae),      theirs.mae,
                            or_nan(m, m->calibration), or_nan(m, m->mean_gap), theirs.mean_gap,
                            or_nan(m, m->seconds),     theirs.seconds};
    if (!m->n && !theirs.n) return;
    wni_page_row(page);
    wni_page_cell(page, "%s%s", task, mark);
    wni_page_number(page, 5, (double)n);
    wni_page_cell(page, "%s", wni_surrogate_models[model]);
    wni_buf_printf(csv, "%s,%llu,%s,%zu", task, (unsigned long long)n, wni_surrogate_models[model], m->n);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        wni_page_number(page, 3, cells[i]);
        wni_buf_putc(csv, ',');
        if (!isnan(cells[i])) wni_buf_double(csv, cells[i]);
    }
    wni_buf_putc(csv, '\n');
}

static void begin_table(struct page *page, const char *caption)
{
    static const char *const columns[] = {
        "task",     "n",       "model",   "RMSE",   "mean absolute error", "paper's", "calibration error",
        "mean gap", "paper's", "seconds", "paper's"};
    wni_page_table(page, caption, columns, sizeof columns / sizeof *columns);
}

static wn_status put_tasks(struct page *page, struct buf *csv, const struct paper_setup *setup,
                           const struct task_list *tasks, struct results *results,
                           struct paper_measures *means, struct err *err)
{
    wn_status st = WN_OK;
    for (size_t i = 0; wni_paper_tasks[i] && !st; i++) {
        const struct task *task = surrogate_task(setup, tasks, i);
        for (size_t size = 0; task && size < SURROGATE_SIZES && !st; size++)
            for (size_t model = 0; model < SURROGATE_MODELS && !st; model++) {
                struct surrogate_mean mean = {0};
                st = gather(results, setup, task->name, size, model, &mean, &means->all[size][model], err);
                put_row(page, csv, task->name, wni_honesty_mark(task->honesty), size, model, &mean);
            }
    }
    return st;
}

wn_status wni_surrogate_section(struct page *page, const struct paper_setup *setup,
                                const struct task_list *tasks, struct results *results,
                                struct paper_measures *means, struct err *err)
{
    struct buf csv = {0};
    struct page by_task = {0};
    wni_buf_puts(&csv, "task,n,model,scores,rmse,mae,paper_mae,calibration,mean_gap,paper_mean_gap,seconds,"
                       "paper_seconds\n");
    wni_page_heading(page, 2, "surrogates", "Surrogate models");
    wni_page_text(
        page,
        "Models fitted to n random configurations, targets replaced by normal scores, scored on the "
        "others. Calibration error: square root of the sum over 5 levels of the squared difference "
        "between coverage and level (the paper's definition). Mean gap: mean absolute difference (what the "
        "authors' released code computes under that name). The paper calls its errors RMSE, but they are "
        "mean "
        "absolute errors: a GP that has learnt nothing has 0.79 there, which is the mean size of a standard "
        "normal variable, and boosted trees of scikit-learn on the same tables reproduce the numbers only "
        "so. They stand beside ours of that kind. The paper's seconds are of another machine.");
    begin_table(&by_task, "Each task (the paper's Table 4 has three of them).");
    wn_status st = put_tasks(&by_task, &csv, setup, tasks, results, means, err);
    wni_page_table_end(&by_task);
    begin_table(page, "Mean over tasks (the paper's Table 1).");
    for (size_t size = 0; size < SURROGATE_SIZES; size++)
        for (size_t model = 0; model < SURROGATE_MODELS; model++)
            put_row(page, &csv, "all", "", size, model, &means->all[size][model]);
    wni_page_table_end(page);
    wni_buf_puts(&page->html, wni_buf_text(&by_task.html));
    if (by_task.html.failed) page->html.failed = true;
    wni_page_release(&by_task);
    if (!st) st = wni_write_file(page->directory, "surrogates.csv", &csv, err);
    wni_buf_release(&csv);
    return st;
}
