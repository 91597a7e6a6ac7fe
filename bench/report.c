/* report.c -- writes CSV files, has figures drawn from them and puts them on a page. */
#include "bench/report.h"

#include "base/mem.h"
#include "plot/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST_NAME "Wilcoxon signed-rank, Holm, α = 0.05"

enum { FILE_NAME_MAX = 128, NOTE_MAX = 192 };

struct writer { /* of one group */
    struct page *page;
    const struct comparison *c;
    struct chart_line lines[CONTEST_METHODS_MAX];
    char note[NOTE_MAX], band_note[NOTE_MAX + 32];
    bool bands; /* there is more than one seed */
    struct err *err;
};

static const char *file_name(const struct writer *w, const char *what, char out[FILE_NAME_MAX])
{
    snprintf(out, FILE_NAME_MAX, "%s-%s", w->c->group->name, what);
    return out;
}

/* Ends a CSV file; the buffer is released. */
static wn_status write_csv(const struct writer *w, const char *what, struct buf *csv)
{
    char name[FILE_NAME_MAX], file[FILE_NAME_MAX + 4];
    snprintf(file, sizeof file, "%s.csv", file_name(w, what, name));
    wn_status st = wni_write_file(w->page->directory, file, csv, w->err);
    wni_buf_release(csv);
    return st;
}

static void csv_number(struct buf *csv, double x) /* NAN: nothing */
{
    wni_buf_putc(csv, ',');
    if (!isnan(x)) wni_buf_double(csv, x);
}

/* ---- curves ---- */

static void csv_methods(const struct writer *w, struct buf *csv)
{
    for (size_t m = 0; m < w->c->contest.n_methods; m++)
        wni_buf_printf(csv, ",%s,%s_error", wni_contest_method(w->c, m), wni_contest_method(w->c, m));
    wni_buf_putc(csv, '\n');
}

static void csv_point(const struct writer *w, const struct series *s, size_t k, struct buf *csv)
{
    for (size_t m = 0; m < w->c->contest.n_methods; m++) {
        csv_number(csv, s->mean[m * METRIC_POINTS + k]);
        csv_number(csv, s->error[m * METRIC_POINTS + k]);
    }
    wni_buf_putc(csv, '\n');
}

static wn_status curves(const struct writer *w, const char *what, const struct series *s, const char *y_label,
                        double floor)
{
    struct buf csv = {0};
    char name[FILE_NAME_MAX], file[FILE_NAME_MAX + 4];
    wni_buf_puts(&csv, "percent");
    csv_methods(w, &csv);
    for (size_t k = 0; k < METRIC_POINTS; k++) {
        wni_buf_printf(&csv, "%zu", 100 * (k + 1) / METRIC_POINTS);
        csv_point(w, s, k, &csv);
    }
    wn_status st = write_csv(w, what, &csv);
    struct chart chart = {.directory = w->page->directory,
                          .name = file_name(w, what, name),
                          .note = w->band_note,
                          .bands = w->bands,
                          .lines = w->lines,
                          .n = w->c->contest.n_methods};
    snprintf(file, sizeof file, "%s.csv", name);
    return st ? st : wni_chart_curves(&chart, file, y_label, floor, w->err);
}

static wn_status csv_tasks(const struct writer *w, const char *what, const struct series *of_task)
{
    struct buf csv = {0};
    wni_buf_puts(&csv, "task,percent");
    csv_methods(w, &csv);
    for (size_t t = 0; t < w->c->contest.n_tasks; t++)
        for (size_t k = 0; k < METRIC_POINTS; k++) {
            wni_buf_csv_field(&csv, wni_contest_task(w->c, t)->name);
            wni_buf_printf(&csv, ",%zu", 100 * (k + 1) / METRIC_POINTS);
            csv_point(w, &of_task[t], k, &csv);
        }
    return write_csv(w, what, &csv);
}

/* How many letters of the names are the family that all tasks share. */
static size_t common_prefix(const struct comparison *c)
{
    const char *family = wni_contest_task(c, 0)->family;
    size_t n = strlen(family);
    for (size_t t = 0; t < c->contest.n_tasks; t++) {
        const char *name = wni_contest_task(c, t)->name;
        if (strncmp(name, family, n) != 0 || name[n] != '-') return 0;
    }
    return c->contest.n_tasks > 1 ? n + 1 : 0;
}

/* Where a log axis starts: below the smallest mean that is not 0, in a range that can be read. */
static double floor_of(const struct writer *w, const struct series *s)
{
    double least = 1;
    for (size_t i = 0; i < w->c->contest.n_methods * METRIC_POINTS; i++)
        if (s->mean[i] > 0) least = fmin(least, s->mean[i]);
    return fmin(0.08, fmax(1e-7, least / 2)); /* two labelled tics at least */
}

static struct chart_panel *make_panels(const struct writer *w, struct arena *arena)
{
    const struct comparison *c = w->c;
    size_t n = c->contest.n_tasks, skip = common_prefix(c);
    struct chart_panel *panels = arena_new(arena, struct chart_panel, n);
    for (size_t t = 0; panels && t < n; t++) {
        const struct task *task = wni_contest_task(c, t);
        size_t size = strlen(task->name) + 8;
        char *title = arena_new(arena, char, size);
        if (!title) return NULL;
        snprintf(title, size, "%s%s", task->name + skip, wni_honesty_mark(task->honesty));
        panels[t] = (struct chart_panel){.title = title, .floor = floor_of(w, &c->standings.task_regret[t])};
    }
    return panels;
}

static wn_status multiples(const struct writer *w)
{
    char name[FILE_NAME_MAX], file[FILE_NAME_MAX + 4];
    struct arena arena = {0};
    const struct chart_panel *panels = make_panels(w, &arena);
    wn_status st = panels ? csv_tasks(w, "tasks", w->c->standings.task_regret) : wni_fail_memory(w->err);
    struct chart chart = {.directory = w->page->directory,
                          .name = file_name(w, "tasks", name),
                          .note = w->band_note,
                          .bands = w->bands,
                          .lines = w->lines,
                          .n = w->c->contest.n_methods};
    snprintf(file, sizeof file, "%s.csv", name);
    if (!st)
        st = wni_chart_multiples(&chart, file, panels, w->c->contest.n_tasks, METRIC_POINTS,
                                 "normalised regret", w->err);
    wni_arena_release(&arena);
    return st;
}

/* ---- critical differences ---- */

static void format_p(double p, char out[32])
{
    if (p < 1e-4)
        snprintf(out, 32, "p < 0.0001");
    else
        snprintf(out, 32, "p = %.2g", p);
}

static wn_status csv_differences(const struct writer *w)
{
    struct buf csv = {0};
    wni_buf_puts(
        &csv, "percent,method_a,method_b,mean_rank_a,mean_rank_b,p,p_holm,friedman_statistic,friedman_p\n");
    for (size_t i = 0; i < MOMENTS; i++) {
        const struct difference *d = &w->c->at[i];
        for (size_t a = 0; a < d->n; a++)
            for (size_t b = a + 1; b < d->n; b++) {
                wni_buf_printf(&csv, "%.0f,%s,%s", 100 * wni_moments[i], wni_contest_method(w->c, a),
                               wni_contest_method(w->c, b));
                csv_number(&csv, d->mean_rank[a]);
                csv_number(&csv, d->mean_rank[b]);
                csv_number(&csv, d->p[a * d->n + b]);
                csv_number(&csv, d->adjusted[a * d->n + b]);
                csv_number(&csv, d->friedman.statistic);
                csv_number(&csv, d->friedman.p);
                wni_buf_putc(&csv, '\n');
            }
    }
    return write_csv(w, "cd", &csv);
}

static wn_status critical(const struct writer *w)
{
    struct critical_panel panels[MOMENTS];
    char titles[MOMENTS][32], remarks[MOMENTS][80], p[32], name[FILE_NAME_MAX];
    for (size_t i = 0; i < MOMENTS; i++) {
        const struct difference *d = &w->c->at[i];
        format_p(d->friedman.p, p);
        snprintf(titles[i], sizeof titles[i], "%.0f %% of the budget", 100 * wni_moments[i]);
        snprintf(remarks[i], sizeof remarks[i], "Friedman: %s, n = %zu", p, w->c->contest.n_blocks);
        panels[i] = (struct critical_panel){.title = titles[i],
                                            .remark = remarks[i],
                                            .ranks = d->mean_rank,
                                            .cliques = d->cliques,
                                            .n_cliques = d->n_cliques};
    }
    wn_status st = csv_differences(w);
    struct chart chart = {.directory = w->page->directory,
                          .name = file_name(w, "cd", name),
                          .note = w->note,
                          .test = "bar: not told apart (" TEST_NAME ")",
                          .lines = w->lines,
                          .n = w->c->contest.n_methods};
    return st ? st : wni_chart_critical(&chart, panels, MOMENTS, w->err);
}

/* ---- tables ---- */

static double lowest(const double *mean, size_t n, size_t stride)
{
    double best = mean[0];
    for (size_t m = 1; m < n; m++)
        best = fmin(best, mean[m * stride]);
    return best;
}

/* A row of ranks or regrets at the four moments, per method. */
static void summary_table(const struct writer *w)
{
    static const char *const columns[] = {"method",      "rank 25 %",   "rank 50 %",
                                          "rank 75 %",   "rank 100 %",  "regret 25 %",
                                          "regret 50 %", "regret 75 %", "regret 100 %"};
    const struct standings *s = &w->c->standings;
    size_t n = w->c->contest.n_methods;
    wni_page_table(w->page, "Mean rank (1 is best) and mean normalised regret; the best of a column is bold.",
                   columns, 9);
    for (size_t m = 0; m < n; m++) {
        wni_page_row(w->page);
        wni_page_cell(w->page, "%s", wni_contest_method(w->c, m));
        for (size_t i = 0; i < 2 * MOMENTS; i++) {
            const struct difference *d = &w->c->at[i % MOMENTS];
            size_t k = (size_t)lround(wni_moments[i % MOMENTS] * METRIC_POINTS) - 1;
            double x = i < MOMENTS ? d->mean_rank[m] : s->regret.mean[m * METRIC_POINTS + k];
            double best =
                i < MOMENTS ? lowest(d->mean_rank, n, 1) : lowest(s->regret.mean + k, n, METRIC_POINTS);
            wni_page_value(w->page, x <= best, i < MOMENTS ? "%.2f" : "%.3g", x);
        }
    }
    wni_page_table_end(w->page);
}

/* "p (Holm)" of each pair at 50 and 100 %. */
static void p_table(const struct writer *w)
{
    static const char *const columns[] = {"method", "against", "25 %", "50 %", "75 %", "100 %"};
    size_t n = w->c->contest.n_methods;
    wni_page_table(w->page,
                   "Pairwise " TEST_NAME ", on ranks within task and seed: adjusted p, and the better one "
                   "where it is significant.",
                   columns, 6);
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            wni_page_row(w->page);
            wni_page_cell(w->page, "%s", wni_contest_method(w->c, a));
            wni_page_cell(w->page, "%s", wni_contest_method(w->c, b));
            for (size_t i = 0; i < MOMENTS; i++) {
                const struct difference *d = &w->c->at[i];
                double p = d->adjusted[a * n + b];
                size_t better = d->mean_rank[a] < d->mean_rank[b] ? a : b;
                if (p <= d->alpha)
                    wni_page_cell(w->page, "%.2g %s", p, wni_contest_method(w->c, better));
                else
                    wni_page_cell(w->page, "%.2g", p);
            }
        }
    wni_page_table_end(w->page);
}

/* Where a mean over all tasks comes from: families differ in kind. */
static wn_status family_table(const struct writer *w)
{
    const struct comparison *c = w->c;
    const char *columns[CONTEST_METHODS_MAX + 1] = {"family"};
    struct buf csv = {0};
    double rank[CONTEST_METHODS_MAX];
    for (size_t m = 0; m < c->contest.n_methods; m++)
        columns[1 + m] = wni_contest_method(c, m);
    wni_buf_puts(&csv, "family,method,rank\n");
    wni_page_table(w->page, "Mean rank at the end of the budget, by family of tasks.", columns,
                   1 + c->contest.n_methods);
    for (size_t t = 0; t < c->contest.n_tasks; t++) {
        const struct task *task = wni_contest_task(c, t);
        if (!wni_family_begins(c, t)) continue;
        for (size_t m = 0; m < c->contest.n_methods; m++)
            rank[m] = wni_family_rank(c, task->family, m);
        wni_page_row(w->page);
        wni_page_cell(w->page, "%s%s", task->family, wni_honesty_mark(task->honesty));
        for (size_t m = 0; m < c->contest.n_methods; m++) {
            wni_page_value(w->page, rank[m] <= lowest(rank, c->contest.n_methods, 1), "%.2f", rank[m]);
            wni_buf_printf(&csv, "%s,%s,%.6g\n", task->family, wni_contest_method(c, m), rank[m]);
        }
    }
    wni_page_table_end(w->page);
    return write_csv(w, "families", &csv);
}

static double final_value(const struct comparison *c, size_t task, size_t method, double *error)
{
    size_t at = method * METRIC_POINTS + METRIC_POINTS - 1;
    double sign = wni_contest_task(c, task)->goal == WN_MAXIMIZE ? -1 : 1;
    *error = c->standings.task_value[task].error[at];
    return sign * c->standings.task_value[task].mean[at];
}

static void final_row(const struct writer *w, size_t task, struct buf *csv)
{
    const struct comparison *c = w->c;
    const struct task *t = wni_contest_task(c, task);
    size_t n = c->contest.n_methods;
    const double *means = c->standings.task_value[task].mean + METRIC_POINTS - 1; /* lower is better */
    double best = lowest(means, n, METRIC_POINTS);
    wni_page_row(w->page);
    wni_page_cell(w->page, "%s%s", t->name, wni_honesty_mark(t->honesty));
    wni_page_cell(w->page, "%s %s", t->metric, t->goal == WN_MAXIMIZE ? "↑" : "↓");
    wni_page_number(w->page, 5, t->best);
    for (size_t m = 0; m < n; m++) {
        double error, value = final_value(c, task, m, &error);
        wni_page_estimate(w->page, means[m * METRIC_POINTS] <= best, value, error);
        wni_buf_csv_field(csv, t->name);
        wni_buf_printf(csv, ",%s,%s,", wni_contest_method(c, m),
                       t->goal == WN_MAXIMIZE ? "maximize" : "minimize");
        wni_buf_csv_field(csv, t->honesty);
        wni_buf_printf(csv, ",%zu", c->standings.seeds[task]);
        csv_number(csv, value);
        csv_number(csv, error);
        csv_number(csv, c->standings.task_regret[task].mean[m * METRIC_POINTS + METRIC_POINTS - 1]);
        csv_number(csv, c->standings.horizon[task]);
        csv_number(csv, t->best);
        wni_buf_putc(csv, '\n');
    }
}

static wn_status final_table(const struct writer *w)
{
    const char *columns[CONTEST_METHODS_MAX + 3] = {"task", "metric", "best there is"};
    struct buf csv = {0};
    for (size_t m = 0; m < w->c->contest.n_methods; m++)
        columns[3 + m] = wni_contest_method(w->c, m);
    wni_buf_puts(&csv, "task,method,goal,honesty,seeds,mean,error,regret,budget_seconds,best_there_is\n");
    wni_page_table(w->page, "Best value at the end of the budget: mean over seeds ± standard error.", columns,
                   3 + w->c->contest.n_methods);
    for (size_t t = 0; t < w->c->contest.n_tasks; t++)
        final_row(w, t, &csv);
    wni_page_table_end(w->page);
    return write_csv(w, "final", &csv);
}

/* ---- a group ---- */

static void count_marks(const struct comparison *c, size_t counts[3])
{
    static const char *const marks[] = {"†", "‡", "§"};
    for (size_t t = 0; t < c->contest.n_tasks; t++)
        for (size_t k = 0; k < 3; k++)
            counts[k] += !strcmp(wni_honesty_mark(wni_contest_task(c, t)->honesty), marks[k]);
}

/* "13 tasks (5 semi-synthetic†, 1 surrogate‡), 30 seeds" */
static void make_note(struct writer *w)
{
    static const char *const names[] = {"semi-synthetic†", "surrogate‡", "formula§"};
    const struct comparison *c = w->c;
    size_t counts[3] = {0}, least = SIZE_MAX, most = 0, used;
    count_marks(c, counts);
    for (size_t t = 0; t < c->contest.n_tasks; t++) {
        least = c->standings.seeds[t] < least ? c->standings.seeds[t] : least;
        most = c->standings.seeds[t] > most ? c->standings.seeds[t] : most;
    }
    used = (size_t)snprintf(w->note, NOTE_MAX, "%zu task%s", c->contest.n_tasks,
                            c->contest.n_tasks > 1 ? "s" : "");
    const char *glue = " (";
    for (size_t k = 0; k < 3; k++) {
        if (!counts[k]) continue;
        used += (size_t)snprintf(w->note + used, NOTE_MAX - used, "%s%zu %s", glue, counts[k], names[k]);
        glue = ", ";
    }
    if (glue[0] == ',') used += (size_t)snprintf(w->note + used, NOTE_MAX - used, ")");
    if (least == most)
        snprintf(w->note + used, NOTE_MAX - used, ", %zu seed%s", most, most > 1 ? "s" : "");
    else
        snprintf(w->note + used, NOTE_MAX - used, ", %zu–%zu seeds", least, most);
    w->bands = most > 1;
    snprintf(w->band_note, sizeof w->band_note, "%s%s", w->note, w->bands ? "; band: standard error" : "");
}

static wn_status put_figures(const struct writer *w)
{
    char name[FILE_NAME_MAX];
    wni_buf_puts(&w->page->html, "<div class=\"figures\">\n");
    wn_status st = wni_page_figure(w->page, file_name(w, "rank", name),
                                   "Average rank over tasks and seeds; 1 is best.", w->err);
    if (!st)
        st = wni_page_figure(w->page, file_name(w, "regret", name),
                             "Normalised regret: 0 (drawn at the bottom) is the best of the whole black box "
                             "(where that is not "
                             "known, the best seen), 1 the worst value held at the first of the 50 points.",
                             w->err);
    if (!st)
        st = wni_page_figure(
            w->page, file_name(w, "cd", name),
            "Critical differences: methods joined by a bar are not told apart (" TEST_NAME ").", w->err);
    wni_buf_puts(&w->page->html, "</div>\n");
    if (!st)
        st = wni_page_figure(w->page, file_name(w, "tasks", name), "Normalised regret of each task.", w->err);
    return st;
}

static wn_status draw_all(const struct writer *w)
{
    const struct standings *s = &w->c->standings;
    wn_status st = curves(w, "rank", &s->rank, "average rank (1 is best)", 0);
    if (!st) st = curves(w, "regret", &s->regret, "normalised regret", floor_of(w, &s->regret));
    if (!st) st = critical(w);
    if (!st) st = multiples(w);
    if (!st) st = csv_tasks(w, "values", s->task_value);
    return st;
}

wn_status wni_report_group(struct page *page, const struct comparison *c, struct err *err)
{
    struct writer w = {.page = page, .c = c, .err = err};
    const char *names[CONTEST_METHODS_MAX];
    wni_page_heading(page, 2, c->group->name, c->group->title);
    if (!c->contest.n_blocks) {
        wni_page_text(page, "No task has a seed that all %zu methods have finished.", c->group->n_methods);
        return WN_OK;
    }
    if (c->left_out)
        wni_page_text(page, "%zu pair%s of task and seed %s left out: not every method has finished %s.",
                      c->left_out, c->left_out == 1 ? "" : "s", c->left_out == 1 ? "is" : "are",
                      c->left_out == 1 ? "it" : "them");
    for (size_t m = 0; m < c->contest.n_methods; m++)
        names[m] = wni_contest_method(c, m);
    wni_chart_colors(names, c->contest.n_methods, w.lines);
    make_note(&w);
    wn_status st = draw_all(&w);
    if (!st) st = put_figures(&w);
    if (st) return st;
    summary_table(&w);
    p_table(&w);
    st = family_table(&w);
    return st ? st : final_table(&w);
}

/* ---- times, failures, the page ---- */

wn_status wni_report_times(struct page *page, const struct archive *a, struct err *err)
{
    static const char *const columns[] = {"method",
                                          "runs",
                                          "trials per run",
                                          "real seconds per run",
                                          "ms per suggestion",
                                          "real minutes in all"};
    struct buf csv = {0};
    wni_page_heading(page, 2, "times", "Real time");
    wni_page_table(
        page,
        "Real seconds of whole simulated runs, on one core each; a suggestion's share includes the "
        "simulation of its trial.",
        columns, 6);
    wni_buf_puts(&csv, "method,runs,trials,real_seconds,seconds_per_suggestion\n");
    for (size_t m = 0; m < a->plan.n_methods; m++) {
        double runs = 0, trials = 0, seconds = 0;
        for (size_t i = 0; i < a->plan.n_tasks * a->plan.seeds; i++) {
            const struct loaded_run *r = &a->runs[m * a->plan.n_tasks * a->plan.seeds + i];
            if (!r->there) continue;
            runs++;
            trials += (double)r->trials;
            seconds += r->real_seconds;
        }
        wni_page_row(page);
        wni_page_cell(page, "%s", a->plan.methods[m].name);
        wni_page_number(page, 6, runs);
        wni_page_number(page, 4, trials / runs);
        wni_page_number(page, 3, seconds / runs);
        wni_page_number(page, 3, 1000 * seconds / trials);
        wni_page_number(page, 3, seconds / 60);
        wni_buf_printf(&csv, "%s,%.0f,%.0f", a->plan.methods[m].name, runs, trials);
        csv_number(&csv, seconds);
        csv_number(&csv, seconds / trials);
        wni_buf_putc(&csv, '\n');
    }
    wni_page_table_end(page);
    wn_status st = wni_write_file(page->directory, "times.csv", &csv, err);
    wni_buf_release(&csv);
    return st;
}

void wni_report_failures(struct page *page, const struct archive *a)
{
    static const char *const columns[] = {"method", "task", "seed", "why", "repeat it with"};
    if (!a->n_failures) return;
    wni_page_heading(page, 2, "failures", "Runs that failed");
    wni_page_table(page, "They are left out, with the same seed of the other methods.", columns, 5);
    for (size_t i = 0; i < a->n_failures; i++) {
        const struct failure *f = &a->failures[i];
        wni_page_row(page);
        wni_page_cell(page, "%s", f->method);
        wni_page_cell(page, "%s", f->task);
        wni_page_number(page, 12, (double)f->seed);
        wni_page_cell(page, "%s", f->why);
        wni_page_cell(page, "%s", f->command);
    }
    wni_page_table_end(page);
}

void wni_report_marks(struct page *page)
{
    wni_page_text(page,
                  "Marks behind task names: † final values are real, learning curves semi-synthetic; ‡ "
                  "values come from a "
                  "published surrogate model, not from training runs; § a formula. Tasks without a mark are "
                  "tables of real training runs.");
}

static wn_status write_groups(struct page *page, const struct archive *a, struct err *err)
{
    wn_status st = WN_OK;
    for (size_t g = 0; g < a->plan.n_groups && !st; g++) {
        struct comparison c;
        st = wni_compare(&c, a, g, err);
        if (st) break;
        st = wni_report_group(page, &c, err);
        wni_comparison_release(&c);
    }
    return st;
}

wn_status wni_report_write(const struct archive *a, const char *directory, struct err *err)
{
    struct page page;
    wni_page_begin(&page, directory, a->plan.name);
    wni_page_text(&page,
                  "%zu methods on %zu tasks with %llu seeds, %u workers, simulated on a virtual clock.",
                  a->plan.n_methods, a->plan.n_tasks, (unsigned long long)a->plan.seeds, a->plan.workers);
    wni_report_marks(&page);
    wn_status st = write_groups(&page, a, err);
    if (!st) st = wni_report_times(&page, a, err);
    if (!st) wni_report_failures(&page, a);
    if (!st) return wni_page_write(&page, "report.html", err);
    wni_page_release(&page);
    return st;
}
