/* spec.c -- reads the file of an experiment. */
#include "bench/spec.h"

#include "base/closest.h"
#include "base/duration.h"
#include "base/mem.h"
#include "base/number.h"
#include "bench/metrics.h"
#include "sched/sched.h"
#include "search/search.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS_MAX = 1000000, WORKERS_MAX = 1000000, LABEL_MAX = 40 };

struct reader {
    struct experiment *e;
    const struct task_list *tasks;
    struct problems *problems;
};

/* ---- pieces ---- */

static bool fine(struct reader *r, wn_status st)
{
    if (st == WN_ENOMEM) r->problems->failed = true;
    return st == WN_OK;
}

static bool knows(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static void check_keys(struct reader *r, const struct node *map, const char *where, const char *const *names,
                       size_t n)
{
    for (size_t i = 0; i < map->n; i++)
        if (!knows(names, n, map->keys[i]->text))
            wni_problem_unknown(r->problems, map->keys[i], where, "key", map->keys[i]->text, names, n);
}

static void read_count(struct reader *r, const struct node *node, const char *what, int64_t min, int64_t max,
                       uint64_t *out)
{
    char got[NODE_DESCRIPTION_MAX];
    int64_t value;
    if (!node) return;
    if (wni_node_int(node, &value) && value >= min && value <= max)
        *out = (uint64_t)value;
    else
        wni_problem(r->problems, node, "'%s' must be a whole number from %lld to %lld, got %s", what,
                    (long long)min, (long long)max, wni_node_describe(node, got));
}

static void read_real(struct reader *r, const struct node *node, const char *what, bool zero, double *out)
{
    char got[NODE_DESCRIPTION_MAX];
    double value;
    if (!node) return;
    if (wni_node_number(node, &value) && (value > 0 || (zero && value >= 0)) && value <= 1e300)
        *out = value;
    else
        wni_problem(r->problems, node, "'%s' must be a number %s 0, got %s", what,
                    zero ? "not below" : "above", wni_node_describe(node, got));
}

static void read_time(struct reader *r, const struct node *node, double *out)
{
    char got[NODE_DESCRIPTION_MAX];
    if (!node) return;
    if (node->kind == NODE_SCALAR && wni_duration_parse(node->text, out) && *out > 0) return;
    wni_problem(r->problems, node, "'limits.time' must be a duration above 0, as 3600 or 1h30m, got %s",
                wni_node_describe(node, got));
}

/* A name that is fit for a file name, a CSV field and a label in a figure. */
static bool good_name(struct reader *r, const struct node *node, const char *what)
{
    char got[NODE_DESCRIPTION_MAX];
    const char *expected = "letters, digits and any of +-._, at most 40 of them";
    bool good = node->kind == NODE_SCALAR && node->text[0] && strlen(node->text) <= LABEL_MAX;
    for (const char *at = good ? node->text : ""; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("+-._", *at)) good = false;
    if (!good)
        wni_problem(r->problems, node, "'%s' must be %s, got %s", what, expected,
                    wni_node_describe(node, got));
    return good;
}

/* ---- methods ---- */

struct part { /* one half of a method, as far as its options go */
    const char *prefix;
    const struct opt_def *opts;
};

static const struct opt_def *find_option(const struct opt_def *defs, const char *name)
{
    for (; defs && defs->kind != OPT_KIND_END; defs++)
        if (!strcmp(defs->name, name)) return defs;
    return NULL;
}

static void unknown_option(struct reader *r, const struct node *key, const struct part parts[2])
{
    const char *names[128];
    size_t n = 0;
    for (size_t i = 0; i < 2; i++)
        for (const struct opt_def *d = parts[i].opts; d && d->kind != OPT_KIND_END && n < 128; d++)
            names[n++] = d->name;
    if (n)
        wni_problem_unknown(r->problems, key, NULL, "option", key->text, names, n);
    else
        wni_problem(r->problems, key, "unknown option '%.64s'; the method has none", key->text);
}

/* "levels: 8" or "searcher.levels: 8". */
static void read_option(struct reader *r, const struct node *key, const struct node *value,
                        const struct part parts[2], struct buf *options)
{
    const struct part *found = NULL;
    const char *name = NULL;
    struct err err = {0};
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(parts[i].prefix);
        bool prefixed = !strncmp(key->text, parts[i].prefix, n) && key->text[n] == '.';
        const char *here = key->text + (prefixed ? n + 1 : 0);
        if (!find_option(parts[i].opts, here)) continue;
        if (found) {
            wni_problem(r->problems, key, "both parts have an option '%s'; write scheduler.%s or searcher.%s",
                        here, here, here);
            return;
        }
        found = &parts[i];
        name = here;
    }
    if (!found)
        unknown_option(r, key, parts);
    else if (value->kind != NODE_SCALAR)
        wni_problem(r->problems, value, "option '%s' must be a value, got %s", name,
                    wni_node_kind_name(value));
    else if (wni_opts_set(found->opts, NULL, name, value->text, &err))
        wni_problem(r->problems, value, "%s %s", found->prefix, err.text);
    else
        wni_buf_printf(options, "%s%s.%s=%s", options->len ? " " : "", found->prefix, name, value->text);
}

static void read_options(struct reader *r, const struct node *node, const struct method *method,
                         struct buf *options)
{
    struct part parts[2] = {{"scheduler", wni_scheduler_find(method->scheduler, NULL)->opts},
                            {"searcher", wni_searcher_find(method->searcher, NULL)->opts}};
    for (size_t i = 0; node->kind == NODE_MAP && i < node->n; i++) {
        const char *key = node->keys[i]->text;
        if (strcmp(key, "name") != 0 && strcmp(key, "label") != 0)
            read_option(r, node->keys[i], node->items[i], parts, options);
    }
}

static void add_method(struct reader *r, const struct node *at, size_t group,
                       const struct bench_method *method)
{
    size_t index;
    wn_status st = wni_experiment_add_method(r->e, method, &index);
    if (st == WN_EINVAL)
        wni_problem(r->problems, at, "two methods with different options are called '%s'; give one a 'label'",
                    method->name);
    else if (fine(r, st))
        fine(r, wni_group_add_method(&r->e->groups[group], index));
}

static void read_method(struct reader *r, const struct node *node, size_t group)
{
    const struct node *name = node->kind == NODE_MAP ? wni_node_get(node, "name") : node;
    const struct node *label = wni_node_get(node, "label");
    struct err err = {0};
    if (!name || name->kind != NODE_SCALAR) {
        wni_problem(r->problems, node,
                    "a method must be a name, or a mapping with 'name', 'label' and options");
        return;
    }
    const struct method *method = wni_method_find(name->text, &err);
    if (!method) {
        wni_problem(r->problems, name, "%s", err.text);
        return;
    }
    if (label && !good_name(r, label, "label")) return;
    struct buf options = {0};
    read_options(r, node, method, &options);
    if (options.failed) r->problems->failed = true;
    struct bench_method entry = {.name = label ? label->text : method->name,
                                 .method = method->name,
                                 .options = wni_buf_text(&options)};
    if (!options.failed) add_method(r, name, group, &entry);
    wni_buf_release(&options);
}

/* ---- tasks ---- */

static wn_status add_task(struct experiment *e, size_t group, const struct task *task)
{
    size_t index;
    wn_status st = wni_experiment_add_task(e, task, &index);
    return st ? st : wni_group_add_task(&e->groups[group], index);
}

static wn_status add_family(struct experiment *e, size_t group, const struct task_list *tasks,
                            const char *family)
{
    wn_status st = WN_ENOTFOUND;
    for (size_t i = 0; i < tasks->n; i++)
        if (tasks->items[i].folder && !strcmp(tasks->items[i].family, family))
            if ((st = add_task(e, group, &tasks->items[i]))) return st;
    return st;
}

/* Those of the paper's tasks that are at hand; at least one must be. */
static wn_status add_paper(struct experiment *e, size_t group, const struct task_list *tasks)
{
    wn_status st = WN_ENOTFOUND;
    for (size_t i = 0; wni_paper_tasks[i]; i++) {
        const struct task *task = wni_tasks_get(tasks, wni_paper_tasks[i]);
        if (task && (st = add_task(e, group, task))) return st;
    }
    return st;
}

wn_status wni_group_add_tasks(struct experiment *e, size_t group, const struct task_list *tasks,
                              const char *word)
{
    const struct task *task = wni_tasks_get(tasks, word);
    if (task) return add_task(e, group, task);
    return strcmp(word, "paper") ? add_family(e, group, tasks, word) : add_paper(e, group, tasks);
}

static void unknown_task(struct reader *r, const struct node *node)
{
    const char **names = wni_new(const char *, 2 * r->tasks->n + 1);
    size_t n = 0;
    if (!names) {
        r->problems->failed = true;
        return;
    }
    for (size_t i = 0; i < r->tasks->n; i++)
        names[n++] = r->tasks->items[i].name;
    for (size_t i = 0; i < r->tasks->n; i++)
        names[n++] = r->tasks->items[i].family;
    const char *near = wni_closest(node->text, names, n);
    if (near)
        wni_problem(r->problems, node, "no task or family '%.64s'; did you mean '%s'?", node->text, near);
    else
        wni_problem(r->problems, node, "no task or family '%.64s' among the %zu tasks at hand%s%s",
                    node->text, r->tasks->n,
                    r->tasks->n_warnings ? "; also, " : " ('winnow tasks' lists them)",
                    r->tasks->n_warnings ? r->tasks->warnings[0] : "");
    free(names);
}

static void read_task(struct reader *r, const struct node *node, size_t group)
{
    char got[NODE_DESCRIPTION_MAX];
    if (node->kind != NODE_SCALAR) {
        wni_problem(r->problems, node, "a task must be a name, got %s", wni_node_describe(node, got));
        return;
    }
    wn_status st = wni_group_add_tasks(r->e, group, r->tasks, node->text);
    if (st == WN_ENOTFOUND)
        unknown_task(r, node);
    else
        fine(r, st);
}

/* ---- groups ---- */

typedef void item_reader(struct reader *r, const struct node *node, size_t group);

/* A list, or a single item without the brackets. */
static void read_items(struct reader *r, const struct node *map, const char *key, item_reader *read,
                       size_t group)
{
    const struct node *node = wni_node_get(map, key);
    if (!node || wni_node_is_null(node) || (node->kind == NODE_LIST && !node->n))
        wni_problem(r->problems, node ? node : map, "missing '%s'", key);
    else if (node->kind == NODE_LIST)
        for (size_t i = 0; i < node->n && !wni_problems_full(r->problems); i++)
            read(r, node->items[i], group);
    else
        read(r, node, group);
}

static void read_group(struct reader *r, const struct node *map, const char *name)
{
    size_t group = r->e->n_groups;
    if (!fine(r, wni_experiment_add_group(r->e, name, name))) return;
    read_items(r, map, "methods", read_method, group);
    read_items(r, map, "tasks", read_task, group);
    size_t n = r->e->groups[group].n_methods;
    if (n == 1 && !r->problems->n)
        wni_problem(r->problems, wni_node_get(map, "methods"),
                    "there is nothing to compare: give two methods");
    if (n > CONTEST_METHODS_MAX)
        wni_problem(r->problems, wni_node_get(map, "methods"), "at most %d methods can be compared, got %zu",
                    CONTEST_METHODS_MAX, n);
}

static bool has_group(const struct experiment *e, const char *name)
{
    for (size_t g = 0; g < e->n_groups; g++)
        if (!strcmp(e->groups[g].name, name)) return true;
    return false;
}

static void read_groups(struct reader *r, const struct node *list)
{
    static const char *const keys[] = {"name", "methods", "tasks"};
    if (list->kind != NODE_LIST || !list->n) {
        wni_problem(r->problems, list,
                    "'groups' must be a list of mappings with 'name', 'methods' and 'tasks'");
        return;
    }
    for (size_t i = 0; i < list->n && !wni_problems_full(r->problems); i++) {
        const struct node *group = list->items[i], *name = wni_node_get(group, "name");
        if (group->kind != NODE_MAP || !name) {
            wni_problem(r->problems, group, "a group must be a mapping with 'name', 'methods' and 'tasks'");
            continue;
        }
        check_keys(r, group, "group", keys, 3);
        if (!good_name(r, name, "group.name")) continue;
        if (has_group(r->e, name->text)) /* its files would overwrite the other's */
            wni_problem(r->problems, name, "two groups are called '%s'", name->text);
        else
            read_group(r, group, name->text);
    }
}

/* ---- the file ---- */

static void read_seeds(struct reader *r, const struct node *node)
{
    static const char *const keys[] = {"first", "count"};
    if (!node || node->kind != NODE_MAP) {
        read_count(r, node, "seeds", 1, SEEDS_MAX, &r->e->seeds);
        return;
    }
    check_keys(r, node, "seeds", keys, 2);
    read_count(r, wni_node_get(node, "first"), "seeds.first", 0, INT64_MAX / 2, &r->e->first_seed);
    read_count(r, wni_node_get(node, "count"), "seeds.count", 1, SEEDS_MAX, &r->e->seeds);
}

static void read_limits(struct reader *r, const struct node *node)
{
    static const char *const keys[] = {"results", "trials", "resource", "time"};
    struct tuner_limits *l = &r->e->limits;
    if (!node) return;
    if (node->kind != NODE_MAP) {
        wni_problem(r->problems, node, "'limits' must be a mapping of results, trials, resource and time");
        return;
    }
    check_keys(r, node, "limits", keys, 4);
    read_count(r, wni_node_get(node, "results"), "limits.results", 1, INT64_MAX / 4, &l->reports);
    read_count(r, wni_node_get(node, "trials"), "limits.trials", 1, UINT32_MAX - 1, &l->trials);
    read_real(r, wni_node_get(node, "resource"), "limits.resource", false, &l->resource);
    read_time(r, wni_node_get(node, "time"), &l->seconds);
}

static void check_budgets(struct reader *r, const struct node *root)
{
    for (size_t i = 0; i < r->e->n_tasks; i++) {
        struct tuner_limits l = wni_experiment_limits(r->e, &r->e->tasks[i]);
        if (!l.trials && !l.reports && !(l.resource > 0) && !(l.seconds > 0))
            wni_problem(r->problems, root, "task '%s' has no limits of its own; give 'limits'",
                        r->e->tasks[i].name);
    }
}

static void read_root(struct reader *r, const struct node *root)
{
    static const char *const keys[] = {"name",  "methods", "tasks",  "groups",
                                       "seeds", "workers", "limits", "poll"};
    const struct node *name = wni_node_get(root, "name"), *groups = wni_node_get(root, "groups");
    uint64_t workers = r->e->workers;
    check_keys(r, root, NULL, keys, sizeof keys / sizeof *keys);
    if (name && !good_name(r, name, "name")) name = NULL;
    r->e->name = wni_arena_strdup(&r->e->arena, name ? name->text : "experiment");
    if (!r->e->name) r->problems->failed = true;
    read_seeds(r, wni_node_get(root, "seeds"));
    read_count(r, wni_node_get(root, "workers"), "workers", 1, WORKERS_MAX, &workers);
    r->e->workers = (unsigned)workers;
    read_limits(r, wni_node_get(root, "limits"));
    read_real(r, wni_node_get(root, "poll"), "poll", true, &r->e->poll);
    if (groups && (wni_node_get(root, "methods") || wni_node_get(root, "tasks")))
        wni_problem(r->problems, groups, "give either 'groups' or 'methods' and 'tasks'");
    else if (groups)
        read_groups(r, groups);
    else
        read_group(r, root, r->e->name ? r->e->name : "");
    if (!r->problems->n) check_budgets(r, root);
}

wn_status wni_spec_read(struct experiment *e, const struct document *doc, const struct task_list *tasks,
                        struct problems *problems)
{
    struct reader r = {e, tasks, problems};
    wni_experiment_init(e);
    problems->file = doc->name;
    if (doc->root->kind != NODE_MAP)
        wni_problem(problems, doc->root, "an experiment must be a mapping with 'methods' and 'tasks'");
    else
        read_root(&r, doc->root);
    wni_problems_sort(problems);
    if (problems->failed) return WN_ENOMEM;
    return problems->n ? WN_EINVAL : WN_OK;
}
