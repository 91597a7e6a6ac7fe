/* cmd_tasks.c -- winnow tasks: every black box at hand. */
#include "cli/cli.h"

#include "bench/tasks.h"

#include <math.h>
#include <string.h>

static void add_task(struct table *t, const struct task *task, bool full)
{
    wni_table_text(t, task->name);
    wni_table_text(t, task->kind);
    wni_table_number(t, (double)task->n_params);
    wni_table_number(t, (double)task->n_levels);
    wni_table_number(t, task->max_resource);
    wni_table_text(t, task->metric);
    wni_table_text(t, task->goal == WN_MAXIMIZE ? "maximize" : "minimize");
    wni_table_number(t, task->limit_resource > 0 ? task->limit_resource : NAN);
    wni_table_number(t, task->limit_seconds > 0 ? task->limit_seconds : NAN);
    wni_table_text(t, task->honesty);
    if (!full) return;
    wni_table_text(t, task->family);
    wni_table_text(t, task->resource);
    wni_table_number(t, task->best);
    wni_table_number(t, task->worst);
}

static wn_status print_tasks(const struct task_list *list, const char *format)
{
    static const char *const columns[] = {
        "name",           "kind",          "parameters", "levels", "max_resource", "metric", "goal",
        "limit_resource", "limit_seconds", "honesty",    "family", "resource",     "best",   "worst"};
    bool full = strcmp(format, "table") != 0; /* programs get everything, people what fits */
    struct table *t = wni_table_new(columns, full ? 14 : 10);
    if (!t) return WN_ENOMEM;
    for (size_t i = 0; i < list->n; i++)
        add_task(t, &list->items[i], full);
    wn_status st = wni_table_print(t, format, stdout);
    wni_table_free(t);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct buf path = {0};
    struct task_list list;
    wni_data_path(wni_arg(args, "data"), &path);
    wn_status st = wni_tasks_find(&list, wni_buf_text(&path), &err);
    for (size_t i = 0; i < list.n_warnings; i++)
        fprintf(stderr, "winnow: warning: %s\n", list.warnings[i]);
    if (!st) st = print_tasks(&list, wni_arg(args, "format"));
    wni_tasks_release(&list);
    wni_buf_release(&path);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    DATA_OPTION,
    TABLE_FORMAT_OPTION("how to print the list"),
    {0},
};

const struct cli_command wni_cmd_tasks = {
    .name = "tasks",
    .summary = "list the tasks that can be simulated",
    .words = "",
    .about = "A task is a black box whose results are known: a table of real training runs, a surrogate "
             "network, or a "
             "function. Functions and one small table come with the program; others are read from folders. "
             "The column "
             "honesty says whether results are real.\n\n"
             "Each task has the limits that 'winnow sim' uses unless told otherwise: total resource and "
             "simulated seconds.",
    .options = options,
    .examples = "winnow tasks\n"
                "winnow tasks --data ~/tables --format json",
    .run = run,
};
