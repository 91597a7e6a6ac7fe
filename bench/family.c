/* family.c -- reads blackbox.json far enough to list its tasks; the kinds read the rest when a task is
 * opened. */
#include "bench/family.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *wni_path_join(struct arena *arena, const char *folder, const char *name)
{
    size_t n = strlen(folder), m = strlen(name);
    char *path = wni_arena_alloc(arena, n + m + 2, 1);
    if (!path) return NULL;
    memcpy(path, folder, n);
    path[n] = '/';
    memcpy(path + n + 1, name, m + 1);
    return path;
}

wn_status wni_family_fail(const struct family *f, const struct node *at, struct err *err, const char *format,
                          ...)
{
    if (!err) return WN_EINVAL;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (at && at->line > 0)
        wni_err_prefix(err, "%s:%d:%d", f->file, at->line, at->column);
    else
        wni_err_prefix(err, "%s", f->file);
    return WN_EINVAL;
}

wn_status wni_family_text(const struct family *f, const struct node *map, const char *key,
                          const char *missing, const char **out, struct err *err)
{
    *out = missing;
    const struct node *n = wni_node_get(map, key);
    if (!n && missing) return WN_OK;
    if (!n) return wni_family_fail(f, map, err, "'%s' is missing", key);
    if (n->kind != NODE_SCALAR || !n->text[0])
        return wni_family_fail(f, n, err, "'%s' must be a text, but is %s", key,
                               n->kind == NODE_SCALAR ? "empty" : wni_node_kind_name(n));
    *out = n->text;
    return WN_OK;
}

/* A number that may be missing: then *out is left alone. */
static wn_status get_number(const struct family *f, const struct node *map, const char *key, double *out,
                            struct err *err)
{
    const struct node *n = wni_node_get(map, key);
    if (n && !wni_node_number(n, out)) return wni_family_fail(f, n, err, "'%s' must be a number", key);
    return WN_OK;
}

/* A list or mapping with at least one entry. */
static wn_status get_entries(const struct family *f, const struct node *map, const char *key, bool list_only,
                             const struct node **out, struct err *err)
{
    const struct node *n = wni_node_get(map, key);
    if (!n) return wni_family_fail(f, map, err, "'%s' is missing", key);
    if (n->kind == NODE_SCALAR || (list_only && n->kind != NODE_LIST))
        return wni_family_fail(f, n, err, "'%s' must be a list, but is %s", key, wni_node_kind_name(n));
    if (n->n == 0) return wni_family_fail(f, n, err, "'%s' is empty", key);
    *out = n;
    return WN_OK;
}

static wn_status check_levels(const struct family *f, struct err *err)
{
    double before = 0;
    for (size_t i = 0; i < f->levels->n; i++) {
        const struct node *n = f->levels->items[i];
        double level;
        if (!wni_node_number(n, &level) || !isfinite(level))
            return wni_family_fail(f, n, err, "resource levels must be numbers");
        if (level <= before)
            return wni_family_fail(f, n, err,
                                   "resource levels must be above 0 and increase, but %.15g follows %.15g",
                                   level, before);
        before = level;
    }
    return WN_OK;
}

static wn_status read_common(struct family *f, struct err *err)
{
    if (f->root->kind != NODE_MAP)
        return wni_family_fail(f, f->root, err, "expected a mapping, found %s", wni_node_kind_name(f->root));
    wn_status st = wni_family_text(f, f->root, "family", NULL, &f->name, err);
    if (!st) st = wni_family_text(f, f->root, "kind", NULL, &f->kind, err);
    if (!st) st = wni_family_text(f, f->root, "honesty", "not stated", &f->honesty, err);
    if (!st) st = get_entries(f, f->root, "parameters", false, &f->parameters, err);
    if (!st) st = get_entries(f, f->root, "tasks", true, &f->tasks, err);
    if (st) return st;
    const struct node *resource = wni_node_get(f->root, "resource");
    if (!resource) return wni_family_fail(f, f->root, err, "'resource' is missing");
    st = wni_family_text(f, resource, "name", "resource", &f->resource, err);
    if (!st) st = get_entries(f, resource, "levels", true, &f->levels, err);
    return st ? st : check_levels(f, err);
}

wn_status wni_family_load(struct family *f, const char *folder, struct err *err)
{
    *f = (struct family){0};
    f->folder = wni_arena_strdup(&f->arena, folder);
    f->file = wni_path_join(&f->arena, folder, "blackbox.json");
    if (!f->folder || !f->file) return wni_fail_memory(err);
    wn_status st = wni_document_load(&f->doc, f->file, err);
    if (st) return st;
    f->root = f->doc.root;
    return read_common(f, err);
}

void wni_family_release(struct family *f)
{
    wni_document_release(&f->doc);
    wni_arena_release(&f->arena);
    *f = (struct family){0};
}

/* ---- tasks ---- */

static wn_status read_metric(const struct family *f, const struct node *entry, struct task *out,
                             struct err *err)
{
    const struct node *metric = wni_node_get(entry, "metric");
    if (!metric) return wni_family_fail(f, entry, err, "'metric' is missing");
    const char *goal;
    wn_status st = wni_family_text(f, metric, "name", NULL, &out->metric, err);
    if (!st) st = wni_family_text(f, metric, "goal", "minimize", &goal, err);
    if (st) return st;
    if (strcmp(goal, "minimize") != 0 && strcmp(goal, "maximize") != 0)
        return wni_family_fail(f, wni_node_get(metric, "goal"), err,
                               "'goal' must be minimize or maximize, not '%s'", goal);
    out->goal = !strcmp(goal, "maximize") ? WN_MAXIMIZE : WN_MINIMIZE;
    return WN_OK;
}

static wn_status read_numbers(const struct family *f, const struct node *entry, struct task *out,
                              struct err *err)
{
    out->best = out->worst = NAN;
    const struct node *limits = wni_node_get(entry, "limits");
    wn_status st = get_number(f, limits, "results", &out->limit_resource, err);
    if (!st) st = get_number(f, limits, "time", &out->limit_seconds, err);
    if (!st) st = get_number(f, entry, "best", &out->best, err);
    if (!st) st = get_number(f, entry, "worst", &out->worst, err);
    if (!st && (!(out->limit_resource >= 0) || !(out->limit_seconds >= 0)))
        return wni_family_fail(f, limits, err, "limits must not be below 0");
    return st;
}

/* Everything but the name. */
static wn_status read_task(const struct family *f, const struct node *entry, struct task *out,
                           struct err *err)
{
    wn_status st = wni_family_text(f, entry, "honesty", f->honesty, &out->honesty, err);
    if (!st) st = read_metric(f, entry, out, err);
    if (!st) st = read_numbers(f, entry, out, err);
    if (!st)
        wni_node_number(f->levels->items[f->levels->n - 1],
                        &out->max_resource); /* a number: it was checked */
    return st;
}

wn_status wni_family_task(const struct family *f, size_t i, struct task *out, struct err *err)
{
    const struct node *entry = f->tasks->items[i];
    *out = (struct task){.family = f->name,
                         .kind = f->kind,
                         .resource = f->resource,
                         .folder = f->folder,
                         .index = i,
                         .n_params = f->parameters->n,
                         .n_levels = f->levels->n};
    wn_status st = WN_OK;
    if (entry->kind != NODE_MAP)
        st = wni_family_fail(f, entry, err, "a task must be a mapping, but is %s", wni_node_kind_name(entry));
    if (!st) st = wni_family_text(f, entry, "name", NULL, &out->name, err);
    if (st) {
        wni_err_prefix(err, "task %zu", i + 1);
        return st;
    }
    st = read_task(f, entry, out, err);
    if (st) wni_err_prefix(err, "task '%s'", out->name);
    return st;
}
