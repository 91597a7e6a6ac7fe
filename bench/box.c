/* box.c -- the beginning that all black boxes share. */
#include "bench/kind.h"

wn_status wni_box_init(struct box *box, const struct task *task, const struct blackbox_ops *ops,
                       struct err *err)
{
    struct blackbox *b = &box->base;
    wni_space_init(&b->space);
    b->ops = ops;
    b->name = wni_arena_strdup(&box->arena, task->name);
    b->family = wni_arena_strdup(&box->arena, task->family);
    b->metric = wni_arena_strdup(&box->arena, task->metric);
    b->resource = wni_arena_strdup(&box->arena, task->resource);
    b->honesty = wni_arena_strdup(&box->arena, task->honesty);
    if (!b->name || !b->family || !b->metric || !b->resource || !b->honesty) return wni_fail_memory(err);
    b->goal = task->goal;
    b->n_seeds = 1;
    b->limit_resource = task->limit_resource;
    b->limit_seconds = task->limit_seconds;
    b->best = task->best;
    b->worst = task->worst;
    return WN_OK;
}

static wn_status read_space(struct space *space, const struct family *family, struct err *err)
{
    struct problems problems = {.file = family->file};
    wni_space_read(space, family->parameters, &problems);
    wn_status st = wni_problems_status(&problems, err);
    wni_problems_release(&problems);
    return st;
}

static wn_status read_levels(struct box *box, const struct family *family, struct err *err)
{
    size_t n = family->levels->n;
    double *levels = arena_new(&box->arena, double, n);
    if (!levels) return wni_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        wni_node_number(family->levels->items[i], &levels[i]); /* checked at loading */
    box->base.levels = levels;
    box->base.n_levels = n;
    return WN_OK;
}

wn_status wni_box_init_family(struct box *box, const struct task *task, const struct family *family,
                              const struct blackbox_ops *ops, struct err *err)
{
    wn_status st = wni_box_init(box, task, ops, err);
    if (!st) st = read_space(&box->base.space, family, err);
    return st ? st : read_levels(box, family, err);
}

void wni_box_release(struct box *box)
{
    wni_space_release(&box->base.space);
    wni_arena_release(&box->arena);
}
