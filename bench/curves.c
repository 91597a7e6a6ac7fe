/* curves.c -- reads values and seconds out of mapped arrays. */
#include "bench/curves.h"

/* Opens the array that the task names under `key`. */
static wn_status open_array(struct npy *a, struct arena *arena, const struct family *f,
                            const struct node *entry, const char *key, struct err *err)
{
    const char *name;
    wn_status st = wni_family_text(f, entry, key, NULL, &name, err);
    if (st) return st;
    const char *path = wni_path_join(arena, f->folder, name);
    return path ? wni_npy_open(a, path, err) : wni_fail_memory(err);
}

static wn_status check_shape(const struct npy *a, const struct family *f, const struct node *at,
                             size_t n_rows, size_t n_levels, size_t n_seeds, bool seeds_optional,
                             struct err *err)
{
    bool fits = a->ndim == 3 || (a->ndim == 2 && seeds_optional);
    fits = fits && a->shape[0] == n_rows && a->shape[1] == n_levels;
    fits = fits && (a->ndim == 2 || a->shape[2] == n_seeds);
    if (fits) return WN_OK;
    char shape[128];
    wni_npy_shape_text(a, shape, sizeof shape);
    return wni_family_fail(f, at, err,
                           "'%s' has shape %s, but there are %zu configurations, %zu levels and %zu seeds",
                           at->text, shape, n_rows, n_levels, n_seeds);
}

wn_status wni_curves_open(struct curves *c, struct box *box, const struct task *task,
                          const struct family *family, size_t n_rows, struct err *err)
{
    const struct node *entry = family->tasks->items[task->index];
    wn_status st = open_array(&c->values, &box->arena, family, entry, "values", err);
    if (st) return st;
    c->n_levels = box->base.n_levels;
    c->levels = box->base.levels;
    c->n_seeds = c->values.ndim == 3 ? c->values.shape[2] : 1;
    const struct node *at = wni_node_get(entry, "values");
    st = check_shape(&c->values, family, at, n_rows, c->n_levels, c->n_seeds, false, err);
    if (st) return st;
    if (c->n_seeds == 0 || c->n_seeds > UINT32_MAX)
        return wni_family_fail(family, at, err, "'%s' has %zu seeds; at least one is needed", at->text,
                               c->n_seeds);
    box->base.n_seeds = (uint32_t)c->n_seeds;
    at = wni_node_get(entry, "seconds");
    if (!at) return WN_OK;
    st = open_array(&c->seconds, &box->arena, family, entry, "seconds", err);
    return st ? st : check_shape(&c->seconds, family, at, n_rows, c->n_levels, c->n_seeds, true, err);
}

void wni_curves_release(struct curves *c)
{
    wni_npy_release(&c->values);
    wni_npy_release(&c->seconds);
}

static double seconds_at(const struct curves *c, const struct curve *curve, size_t level)
{
    if (!c->seconds.data) return c->levels[level];
    size_t at = curve->row * c->n_levels + level;
    return wni_npy_at(&c->seconds, c->seconds.ndim == 3 ? at * c->n_seeds + curve->seed : at);
}

void wni_curves_read(const struct curves *c, struct curve *curve, size_t level, double *value,
                     double *seconds)
{
    *value = wni_npy_at(&c->values, (curve->row * c->n_levels + level) * c->n_seeds + curve->seed);
    if (level + 1 < curve->reached) curve->reached = 0, curve->latest = 0;
    for (; curve->reached <= level; curve->reached++) {
        double s = seconds_at(c, curve, curve->reached);
        if (s > curve->latest) curve->latest = s; /* NaN is not */
    }
    *seconds = curve->latest;
}
