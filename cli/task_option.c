/* task_option.c -- --task and --data, as several commands take them. */
#include "cli/cli.h"

#include "bench/tasks.h"

wn_status wni_open_task_option(const struct args *args, struct blackbox **out, struct err *err)
{
    const char *name = wni_arg(args, "task");
    *out = NULL;
    if (!name)
        return wni_fail(err, WN_EINVAL, "%s: --task is missing; 'winnow tasks' lists them",
                        args->command->name);
    struct buf path = {0};
    struct task_list list;
    wni_data_path(wni_arg(args, "data"), &path);
    wn_status st = wni_tasks_find(&list, wni_buf_text(&path), err);
    for (size_t i = 0; wni_flag(args, "data") && i < list.n_warnings; i++)
        fprintf(stderr, "winnow: warning: %s\n", list.warnings[i]);
    if (!st) st = wni_task_open(&list, name, out, err);
    wni_tasks_release(&list);
    wni_buf_release(&path);
    return st;
}
