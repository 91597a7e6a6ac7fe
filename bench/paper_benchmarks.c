/* paper_benchmarks.c -- what the tasks are: numbers about the tables, and the spaces. */
#include "bench/paper.h"

#include "plot/figure.h"

#include <math.h>
#include <string.h>

static void put_task(struct page *page, struct buf *csv, const struct blackbox *box, const struct task *t)
{
    double configurations = box->n_rows       ? (double)box->n_rows
                            : box->space.size ? (double)box->space.size
                                              : NAN;
    wni_page_row(page);
    wni_page_cell(page, "%s%s", t->name, wni_honesty_mark(t->honesty));
    wni_page_number(page, 3, (double)t->n_params);
    wni_page_number(page, 8, configurations);
    wni_page_number(page, 4, (double)t->n_levels);
    wni_page_number(page, 4, t->max_resource);
    wni_page_number(page, 4, box->n_seeds);
    wni_page_cell(page, "%s %s", t->metric, t->goal == WN_MAXIMIZE ? "↑" : "↓");
    wni_page_number(page, 5, t->best);
    wni_page_number(page, 5, t->worst);
    wni_page_number(page, 6, t->limit_resource);
    wni_page_number(page, 6, t->limit_seconds);
    wni_page_cell(page, "%s", t->honesty);
    wni_buf_printf(csv, "%s,%s,%zu,%.0f,%zu,%.15g,%u,%s,%s,", t->name, t->kind, t->n_params,
                   isnan(configurations) ? 0 : configurations, t->n_levels, t->max_resource, box->n_seeds,
                   t->metric, t->goal == WN_MAXIMIZE ? "maximize" : "minimize");
    wni_buf_printf(csv, "%.9g,%.9g,%.15g,%.15g,", t->best, t->worst, t->limit_resource, t->limit_seconds);
    wni_buf_csv_field(csv, t->honesty);
    wni_buf_putc(csv, '\n');
}

static void describe_values(const struct param *p, struct buf *out)
{
    char low[WN_WHY_MAX], high[WN_WHY_MAX];
    if (p->labels) {
        for (size_t i = 0; i < p->count; i++)
            wni_buf_printf(out, "%s%s", i ? ", " : "", p->labels[i]);
        return;
    }
    wni_buf_printf(out, "%s to ", wni_param_text(p, p->min, low));
    wni_buf_puts(out, wni_param_text(p, p->max, high));
}

static void put_space(struct page *page, const char *family, const struct space *space)
{
    static const char *const kinds[] = {"float", "int", "ordinal", "categorical", "boolean", "constant"};
    for (size_t i = 0; i < space->n; i++) {
        struct buf values = {0};
        describe_values(&space->params[i], &values);
        wni_page_row(page);
        wni_page_cell(page, "%s", i ? "" : family);
        wni_page_cell(page, "%s", space->params[i].name);
        wni_page_cell(page, "%s%s", kinds[space->params[i].kind],
                      space->params[i].scale == WN_LOG ? ", log" : "");
        wni_page_cell(page, "%s", wni_buf_text(&values));
        if (values.failed) page->html.failed = true;
        wni_buf_release(&values);
    }
}

wn_status wni_benchmark_section(struct page *page, const struct paper_setup *setup,
                                const struct task_list *tasks, struct err *err)
{
    static const char *const columns[] = {"task",         "parameters",     "configurations", "levels",
                                          "max resource", "seeds",          "metric",         "best",
                                          "worst",        "resource limit", "time limit (s)", "values"};
    static const char *const space_columns[] = {"family", "parameter", "kind", "values"};
    struct buf csv = {0};
    struct page spaces = {0};
    const char *family = "";
    wn_status st = WN_OK;
    wni_buf_puts(&csv, "task,kind,parameters,configurations,levels,max_resource,seeds,metric,goal,best,worst,"
                       "limit_resource,limit_seconds,honesty\n");
    wni_page_heading(page, 2, "benchmarks", "Benchmarks");
    wni_page_table(page, "The tasks of the paper that are at hand.", columns,
                   sizeof columns / sizeof *columns);
    wni_page_table(&spaces, "Their spaces.", space_columns, 4);
    for (size_t i = 0; wni_paper_tasks[i] && !st; i++) {
        const struct task *task = wni_tasks_get(tasks, wni_paper_tasks[i]);
        struct blackbox *box = NULL;
        if (!task || !wni_paper_has_task(setup, task)) continue;
        st = wni_task_open(tasks, task->name, &box, err);
        if (st) break;
        put_task(page, &csv, box, task);
        if (strcmp(family, task->family) != 0) put_space(&spaces, task->family, &box->space);
        family = task->family;
        box->ops->close(box);
    }
    wni_page_table_end(page);
    wni_page_table_end(&spaces);
    wni_buf_puts(&page->html, wni_buf_text(&spaces.html));
    if (spaces.html.failed) page->html.failed = true;
    wni_page_release(&spaces);
    if (!st) st = wni_write_file(page->directory, "benchmarks.csv", &csv, err);
    wni_buf_release(&csv);
    return st;
}
