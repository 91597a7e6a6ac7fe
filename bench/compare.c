/* compare.c -- gathers the complete rows of a group and has them judged. */
#include "bench/compare.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double wni_moments[MOMENTS] = {0.25, 0.5, 0.75, 1};
static const double ALPHA = 0.05;

static bool complete(const struct comparison *c, size_t task, uint64_t seed)
{
    for (size_t m = 0; m < c->group->n_methods; m++)
        if (!wni_archive_run(c->archive, c->group->methods[m], task, seed)->there) return false;
    return true;
}

struct room { /* the contest's arrays while they are filled */
    struct curve *curves;
    size_t *task;
    double *y_min;
};

static bool make_room(struct comparison *c, struct room *w)
{
    size_t blocks = wni_size_mul(c->group->n_tasks, c->archive->plan.seeds);
    c->tasks = arena_new(&c->arena, size_t, c->group->n_tasks);
    w->curves = arena_new(&c->arena, struct curve, wni_size_mul(blocks, c->group->n_methods));
    w->task = arena_new(&c->arena, size_t, blocks);
    w->y_min = arena_new(&c->arena, double, c->group->n_tasks);
    return c->tasks && w->curves && w->task && w->y_min;
}

static void add_block(struct comparison *c, struct room *w, size_t task, uint64_t seed)
{
    struct contest *k = &c->contest;
    for (size_t m = 0; m < k->n_methods; m++)
        w->curves[k->n_blocks * k->n_methods + m] =
            wni_archive_run(c->archive, c->group->methods[m], task, seed)->curve;
    w->task[k->n_blocks++] = k->n_tasks;
}

static void gather(struct comparison *c, struct room *w)
{
    const struct experiment *e = &c->archive->plan;
    struct contest *k = &c->contest;
    *k = (struct contest){
        .n_methods = c->group->n_methods, .curves = w->curves, .task = w->task, .y_min = w->y_min};
    for (size_t i = 0; i < c->group->n_tasks; i++) {
        size_t task = c->group->tasks[i], before = k->n_blocks;
        for (uint64_t s = 0; s < e->seeds; s++)
            if (complete(c, task, e->first_seed + s))
                add_block(c, w, task, e->first_seed + s);
            else
                c->left_out++;
        if (k->n_blocks == before) continue;
        double best = e->tasks[task].best;
        w->y_min[k->n_tasks] = e->tasks[task].goal == WN_MAXIMIZE ? -best : best;
        c->tasks[k->n_tasks++] = task;
    }
}

static wn_status rank_tasks(struct comparison *c, const double *ranks, struct err *err)
{
    const struct contest *k = &c->contest;
    c->task_rank = arena_new(&c->arena, double, k->n_tasks * k->n_methods);
    if (!c->task_rank) return wni_fail_memory(err);
    for (size_t b = 0; b < k->n_blocks; b++)
        for (size_t m = 0; m < k->n_methods; m++)
            c->task_rank[k->task[b] * k->n_methods + m] +=
                ranks[b * k->n_methods + m] / (double)c->standings.seeds[k->task[b]];
    return WN_OK;
}

static wn_status judge(struct comparison *c, struct err *err)
{
    const struct contest *k = &c->contest;
    double *ranks = wni_new(double, k->n_blocks * k->n_methods);
    wn_status st = ranks ? wni_standings_compute(k, &c->standings, err) : wni_fail_memory(err);
    for (size_t i = 0; i < MOMENTS && !st; i++) {
        st = wni_ranks_at(k, &c->standings, wni_moments[i], ranks, err);
        if (!st) st = wni_difference_compute(ranks, k->n_blocks, k->n_methods, ALPHA, &c->at[i], err);
    }
    if (!st) st = rank_tasks(c, ranks, err); /* those of the last moment */
    free(ranks);
    return st;
}

wn_status wni_compare(struct comparison *c, const struct archive *archive, size_t group, struct err *err)
{
    struct room w = {0};
    *c = (struct comparison){.archive = archive, .group = &archive->plan.groups[group]};
    wn_status st = make_room(c, &w) ? WN_OK : wni_fail_memory(err);
    if (!st) gather(c, &w);
    if (!st && c->contest.n_blocks && c->contest.n_methods > 1) st = judge(c, err);
    if (c->contest.n_methods < 2) c->contest.n_blocks = 0;
    if (st) wni_comparison_release(c);
    return st;
}

void wni_comparison_release(struct comparison *c)
{
    wni_standings_release(&c->standings);
    for (size_t i = 0; i < MOMENTS; i++)
        wni_difference_release(&c->at[i]);
    wni_arena_release(&c->arena);
    *c = (struct comparison){0};
}

size_t wni_group_method(const struct comparison *c, const char *name)
{
    for (size_t m = 0; m < c->group->n_methods; m++)
        if (!strcmp(wni_contest_method(c, m), name)) return m;
    return SIZE_MAX;
}

const struct task *wni_contest_task(const struct comparison *c, size_t task)
{
    return &c->archive->plan.tasks[c->tasks[task]];
}

static bool in_family(const struct comparison *c, size_t task, const char *family)
{
    return !strcmp(wni_contest_task(c, task)->family, family);
}

bool wni_family_begins(const struct comparison *c, size_t task)
{
    for (size_t t = 0; t < task; t++)
        if (in_family(c, t, wni_contest_task(c, task)->family)) return false;
    return true;
}

double wni_family_rank(const struct comparison *c, const char *family, size_t method)
{
    double sum = 0, n = 0;
    for (size_t t = 0; t < c->contest.n_tasks; t++) {
        if (!in_family(c, t, family)) continue;
        sum += c->task_rank[t * c->contest.n_methods + method];
        n++;
    }
    return sum / n;
}

const char *wni_contest_method(const struct comparison *c, size_t method)
{
    return c->archive->plan.methods[c->group->methods[method]].name;
}

const char *wni_honesty_mark(const char *honesty)
{
    if (strstr(honesty, "semi-synthetic")) return "†";
    if (strstr(honesty, "surrogate")) return "‡";
    if (strstr(honesty, "synthetic")) return "§";
    return "";
}
