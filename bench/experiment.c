/* experiment.c -- builds experiments and lists their runs. */
#include "bench/experiment.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

const char *const wni_paper_tasks[] = {"fcnet-protein",         "fcnet-naval",
                                       "fcnet-parkinsons",      "fcnet-slice",
                                       "nas201-cifar10",        "nas201-cifar100",
                                       "nas201-imagenet16-120", "lcbench-airlines",
                                       "lcbench-albert",        "lcbench-covertype",
                                       "lcbench-christine",     "lcbench-fashion-mnist",
                                       "nb301-cifar10",         NULL};

void wni_experiment_init(struct experiment *e)
{
    *e = (struct experiment){.name = "", .seeds = 1, .workers = 4};
}

void wni_experiment_release(struct experiment *e)
{
    for (size_t i = 0; i < e->n_groups; i++) {
        free(e->groups[i].methods);
        free(e->groups[i].tasks);
    }
    free(e->groups);
    free(e->methods);
    free(e->tasks);
    wni_arena_release(&e->arena);
    wni_experiment_init(e);
}

/* ---- building ---- */

wn_status wni_experiment_add_group(struct experiment *e, const char *name, const char *title)
{
    struct bench_group group = {.name = wni_arena_strdup(&e->arena, name),
                                .title = wni_arena_strdup(&e->arena, title)};
    if (!group.name || !group.title ||
        !wni_reserve((void **)&e->groups, &e->groups_cap, e->n_groups + 1, sizeof *e->groups))
        return WN_ENOMEM;
    e->groups[e->n_groups++] = group;
    return WN_OK;
}

wn_status wni_experiment_add_method(struct experiment *e, const struct bench_method *method, size_t *index)
{
    for (size_t i = 0; i < e->n_methods; i++) {
        const struct bench_method *old = &e->methods[i];
        if (strcmp(old->name, method->name) != 0) continue;
        *index = i;
        bool same = !strcmp(old->method, method->method) && !strcmp(old->options, method->options);
        return same ? WN_OK : WN_EINVAL;
    }
    struct bench_method copy = {.name = wni_arena_strdup(&e->arena, method->name),
                                .method = wni_arena_strdup(&e->arena, method->method),
                                .options = wni_arena_strdup(&e->arena, method->options)};
    if (!copy.name || !copy.method || !copy.options ||
        !wni_reserve((void **)&e->methods, &e->methods_cap, e->n_methods + 1, sizeof *e->methods))
        return WN_ENOMEM;
    *index = e->n_methods;
    e->methods[e->n_methods++] = copy;
    return WN_OK;
}

wn_status wni_experiment_add_task(struct experiment *e, const struct task *task, size_t *index)
{
    for (*index = 0; *index < e->n_tasks; ++*index)
        if (!strcmp(e->tasks[*index].name, task->name)) return WN_OK;
    struct task copy = *task;
    const char **const texts[] = {&copy.name,   &copy.family,   &copy.kind,
                                  &copy.metric, &copy.resource, &copy.honesty};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!(*texts[i] = wni_arena_strdup(&e->arena, *texts[i] ? *texts[i] : ""))) return WN_ENOMEM;
    copy.folder = NULL;
    copy.index = 0;
    if (!wni_reserve((void **)&e->tasks, &e->tasks_cap, e->n_tasks + 1, sizeof *e->tasks)) return WN_ENOMEM;
    e->tasks[e->n_tasks++] = copy;
    return WN_OK;
}

static bool holds(const size_t *list, size_t n, size_t index)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == index) return true;
    return false;
}

static wn_status add_index(size_t **list, size_t *n, size_t *cap, size_t index)
{
    if (holds(*list, *n, index)) return WN_OK;
    if (!wni_reserve((void **)list, cap, *n + 1, sizeof **list)) return WN_ENOMEM;
    (*list)[(*n)++] = index;
    return WN_OK;
}

wn_status wni_group_add_method(struct bench_group *group, size_t index)
{
    return add_index(&group->methods, &group->n_methods, &group->methods_cap, index);
}

wn_status wni_group_add_task(struct bench_group *group, size_t index)
{
    return add_index(&group->tasks, &group->n_tasks, &group->tasks_cap, index);
}

/* ---- its runs ---- */

bool wni_experiment_wants(const struct experiment *e, size_t method, size_t task)
{
    for (size_t g = 0; g < e->n_groups; g++)
        if (holds(e->groups[g].methods, e->groups[g].n_methods, method) &&
            holds(e->groups[g].tasks, e->groups[g].n_tasks, task))
            return true;
    return false;
}

wn_status wni_experiment_plan(const struct experiment *e, struct bench_run **runs, size_t *n, struct err *err)
{
    size_t pairs = 0;
    for (size_t i = 0; i < e->n_tasks * e->n_methods; i++)
        pairs += wni_experiment_wants(e, i % e->n_methods, i / e->n_methods);
    *n = 0;
    *runs = wni_new(struct bench_run, wni_size_mul(pairs, e->seeds));
    if (!*runs) return wni_fail_memory(err);
    for (uint64_t s = 0; s < e->seeds; s++)
        for (size_t t = 0; t < e->n_tasks; t++)
            for (size_t m = 0; m < e->n_methods; m++)
                if (wni_experiment_wants(e, m, t))
                    (*runs)[(*n)++] = (struct bench_run){.method = m, .task = t, .seed = e->first_seed + s};
    return WN_OK;
}

struct tuner_limits wni_experiment_limits(const struct experiment *e, const struct task *task)
{
    const struct tuner_limits *l = &e->limits;
    if (l->trials || l->reports || l->resource > 0 || l->seconds > 0) return *l;
    return (struct tuner_limits){.resource = task->limit_resource, .seconds = task->limit_seconds};
}

static void put_number(struct buf *out, const char *before, double x)
{
    wni_buf_puts(out, before);
    wni_buf_double(out, x);
}

void wni_run_identity(const struct experiment *e, const struct bench_run *run, struct buf *out)
{
    const struct bench_method *m = &e->methods[run->method];
    const struct task *task = &e->tasks[run->task];
    const struct method *row = wni_method_find(m->method, NULL);
    struct tuner_limits l = wni_experiment_limits(e, task);
    wni_buf_printf(out, "winnow %d.%d.%d; scheduler %s; searcher %s; options %s%s%s; ", WN_VERSION_MAJOR,
                   WN_VERSION_MINOR, WN_VERSION_PATCH, row ? row->scheduler : "?", row ? row->searcher : "?",
                   row ? row->options : "", m->options[0] ? " " : "", m->options);
    wni_buf_printf(out, "workers %u; trials %llu; reports %llu", e->workers, (unsigned long long)l.trials,
                   (unsigned long long)l.reports);
    put_number(out, "; resource ", l.resource);
    put_number(out, "; seconds ", l.seconds);
    put_number(out, "; poll ", e->poll);
    /* a table that was exchanged for another shows in these */
    wni_buf_printf(out, "; %s of %zu parameters, %zu levels", task->kind, task->n_params, task->n_levels);
    put_number(out, ", best ", task->best);
    put_number(out, ", worst ", task->worst);
}

static void put_word(struct buf *out, const char *option, const char *text, size_t n)
{
    struct buf word = {0};
    wni_buf_add(&word, text, n);
    wni_buf_printf(out, " %s ", option);
    wni_buf_shell(out, wni_buf_text(&word));
    if (word.failed) out->failed = true;
    wni_buf_release(&word);
}

/* "--set a=1 --set b=2" of the words "a=1 b=2". */
static void put_options(struct buf *out, const char *options)
{
    while (*options) {
        size_t n = strcspn(options, " ");
        if (n) put_word(out, "--set", options, n);
        options += n + (options[n] == ' ');
    }
}

void wni_run_command(const struct experiment *e, const struct bench_run *run, struct buf *out)
{
    const struct bench_method *m = &e->methods[run->method];
    const struct tuner_limits *l = &e->limits;
    wni_buf_printf(out, "winnow sim --task %s --method %s", e->tasks[run->task].name, m->method);
    put_options(out, m->options);
    wni_buf_printf(out, " --seed %llu --workers %u", (unsigned long long)run->seed, e->workers);
    if (l->trials) wni_buf_printf(out, " --max-trials %llu", (unsigned long long)l->trials);
    if (l->reports) wni_buf_printf(out, " --max-results %llu", (unsigned long long)l->reports);
    if (l->resource > 0) put_number(out, " --max-resource ", l->resource);
    if (l->seconds > 0) put_number(out, " --max-time ", l->seconds);
    if (e->poll > 0) put_number(out, " --poll ", e->poll);
    if (e->data) put_word(out, "--data", e->data, strlen(e->data));
}
