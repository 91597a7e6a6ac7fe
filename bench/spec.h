/* spec.h -- an experiment as a file:
 *
 *     name: levels
 *     methods: [rs, cqr, {name: cqr, label: cqr-8, levels: 8}]
 *     tasks: [fcnet, lcbench-airlines]     tasks, families, or `paper`: the 13 tasks of the paper
 *     seeds: 30                            or {first: 100, count: 30}
 *     workers: 4
 *     limits: {results, trials, resource, time}   instead of each task's own
 *     poll: 0
 *
 * Instead of `methods` and `tasks` there may be `groups`, a list of mappings with `name`, `methods` and
 * `tasks`; each is compared on its own.  All mistakes are collected with their places. */
#ifndef WNI_BENCH_SPEC_H
#define WNI_BENCH_SPEC_H

#include "base/node.h"
#include "bench/experiment.h"

/* WN_EINVAL: `problems` says what is wrong.  The experiment is initialised here and released by the caller
 * either way. */
wn_status wni_spec_read(struct experiment *e, const struct document *doc, const struct task_list *tasks,
                        struct problems *problems);

/* Adds what a word names: a task, a family or `paper`.  WN_ENOTFOUND: nothing has that name. */
wn_status wni_group_add_tasks(struct experiment *e, size_t group, const struct task_list *tasks,
                              const char *word);

#endif
