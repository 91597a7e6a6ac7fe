/* metrics.c -- ranks, normalised regret and their standard errors; tests and cliques. */
#include "bench/metrics.h"

#include "base/mem.h"
#include "num/order.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

double wni_curve_at(const struct curve *curve, double t)
{
    size_t low = 0, high = curve->n; /* improvements before `low` are at or before t */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->time[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? curve->value[low - 1] : NAN;
}

/* ---- what the budget and the scale of a task are ---- */

/* Median over methods of the longest run, as the authors do: one method that gives up early, or one that is
 * allowed to go on for ever, does not decide how long a task is. */
static double horizon_of(const struct contest *c, size_t task, double *longest)
{
    for (size_t m = 0; m < c->n_methods; m++) {
        longest[m] = 0;
        for (size_t b = 0; b < c->n_blocks; b++)
            if (c->task[b] == task) longest[m] = fmax(longest[m], c->curves[b * c->n_methods + m].end);
    }
    wni_sort(longest, c->n_methods);
    return wni_quantile_linear(longest, c->n_methods, 0.5);
}

/* The worst value any compared run has at time t; -INFINITY when none has one. */
static double worst_at(const struct contest *c, size_t task, double t)
{
    double worst = -INFINITY;
    for (size_t i = 0; i < c->n_blocks * c->n_methods; i++)
        if (c->task[i / c->n_methods] == task) worst = fmax(worst, wni_curve_at(&c->curves[i], t));
    return worst;
}

static double best_seen(const struct contest *c, size_t task)
{
    double best = INFINITY;
    for (size_t i = 0; i < c->n_blocks * c->n_methods; i++)
        if (c->task[i / c->n_methods] == task && c->curves[i].n)
            best = fmin(best, c->curves[i].value[c->curves[i].n - 1]);
    return best;
}

static double point_time(const struct standings *s, size_t task, size_t k)
{
    return s->horizon[task] * (double)(k + 1) / METRIC_POINTS;
}

/* The table's own worst is useless where runs diverge to 1e7, so regret 1 is the worst that was held at the
 * first point (or at the first point where anything is held). */
static void set_scale(const struct contest *c, size_t task, struct standings *s)
{
    s->y_min[task] = isnan(c->y_min[task]) ? best_seen(c, task) : c->y_min[task];
    s->y_max[task] = -INFINITY;
    for (size_t k = 0; k < METRIC_POINTS && isinf(s->y_max[task]); k++)
        s->y_max[task] = worst_at(c, task, point_time(s, task, k));
}

static double regret_of(const struct standings *s, size_t task, double value)
{
    double range = s->y_max[task] - s->y_min[task];
    if (isnan(value)) return 1; /* nothing found yet */
    if (!(range > 0)) return 0; /* every run held the best there is from the start */
    return fmin(1, fmax(0, (value - s->y_min[task]) / range));
}

/* ---- means over seeds, then over tasks ---- */

/* Welford's running mean and sum of squared deviations, in place: `error` holds the latter until the end. */
static void add(const struct series *series, size_t at, size_t n_before, double x)
{
    double n = (double)n_before + 1, delta = x - series->mean[at];
    series->mean[at] += delta / n;
    series->error[at] += delta * (x - series->mean[at]);
}

static void finish(const struct series *series, size_t cells, size_t n)
{
    for (size_t i = 0; i < cells; i++)
        series->error[i] = n > 1 ? sqrt(series->error[i] / (double)(n - 1) / (double)n) : NAN;
}

/* The mean of the tasks' means; errors of independent means add up in squares. */
static void over_tasks(const struct series *of_task, size_t n_tasks, size_t cells, const struct series *out)
{
    for (size_t i = 0; i < cells; i++) {
        double sum = 0, squares = 0;
        for (size_t t = 0; t < n_tasks; t++) {
            sum += of_task[t].mean[i];
            squares += of_task[t].error[i] * of_task[t].error[i];
        }
        out->mean[i] = sum / (double)n_tasks;
        out->error[i] = sqrt(squares) / (double)n_tasks;
    }
}

struct scratch { /* of one row of methods */
    double *values, *ranks;
    uint32_t *work;
    struct series *task_rank;
};

static void add_block(const struct contest *c, size_t block, size_t n_before, struct scratch *w,
                      struct standings *s)
{
    size_t task = c->task[block], n = c->n_methods;
    for (size_t k = 0; k < METRIC_POINTS; k++) {
        double t = point_time(s, task, k);
        for (size_t m = 0; m < n; m++)
            w->values[m] = wni_curve_at(&c->curves[block * n + m], t);
        wni_ranks_average(w->values, n, w->ranks, w->work);
        for (size_t m = 0; m < n; m++) {
            size_t at = m * METRIC_POINTS + k;
            add(&w->task_rank[task], at, n_before, w->ranks[m]);
            add(&s->task_regret[task], at, n_before, regret_of(s, task, w->values[m]));
            add(&s->task_value[task], at, n_before, w->values[m]);
        }
    }
}

static bool make_series(struct arena *arena, size_t cells, struct series *out)
{
    out->mean = arena_new(arena, double, cells);
    out->error = arena_new(arena, double, cells);
    return out->mean && out->error;
}

static bool make_many(struct arena *arena, size_t n, size_t cells, struct series **out)
{
    *out = arena_new(arena, struct series, n);
    for (size_t i = 0; *out && i < n; i++)
        if (!make_series(arena, cells, &(*out)[i])) return false;
    return *out;
}

static bool make_room(const struct contest *c, struct standings *s, struct scratch *w)
{
    size_t n = c->n_methods, cells = n * METRIC_POINTS;
    s->horizon = arena_new(&s->arena, double, c->n_tasks);
    s->y_min = arena_new(&s->arena, double, c->n_tasks);
    s->y_max = arena_new(&s->arena, double, c->n_tasks);
    s->seeds = arena_new(&s->arena, size_t, c->n_tasks);
    w->values = arena_new(&s->arena, double, n);
    w->ranks = arena_new(&s->arena, double, n);
    w->work = arena_new(&s->arena, uint32_t, 2 * n);
    return s->horizon && s->y_min && s->y_max && s->seeds && w->values && w->ranks && w->work &&
           make_series(&s->arena, cells, &s->rank) && make_series(&s->arena, cells, &s->regret) &&
           make_many(&s->arena, c->n_tasks, cells, &s->task_regret) &&
           make_many(&s->arena, c->n_tasks, cells, &s->task_value) &&
           make_many(&s->arena, c->n_tasks, cells, &w->task_rank);
}

wn_status wni_standings_compute(const struct contest *c, struct standings *s, struct err *err)
{
    assert(c->n_methods >= 2 && c->n_blocks >= 1);
    struct scratch w = {0};
    size_t cells = c->n_methods * METRIC_POINTS;
    *s = (struct standings){0};
    if (!make_room(c, s, &w)) {
        wni_standings_release(s);
        return wni_fail_memory(err);
    }
    for (size_t t = 0; t < c->n_tasks; t++) {
        s->horizon[t] = horizon_of(c, t, w.values);
        set_scale(c, t, s);
    }
    for (size_t b = 0; b < c->n_blocks; b++)
        add_block(c, b, s->seeds[c->task[b]]++, &w, s);
    for (size_t t = 0; t < c->n_tasks; t++) {
        finish(&w.task_rank[t], cells, s->seeds[t]);
        finish(&s->task_regret[t], cells, s->seeds[t]);
        finish(&s->task_value[t], cells, s->seeds[t]);
    }
    over_tasks(w.task_rank, c->n_tasks, cells, &s->rank);
    over_tasks(s->task_regret, c->n_tasks, cells, &s->regret);
    return WN_OK;
}

void wni_standings_release(struct standings *s)
{
    wni_arena_release(&s->arena);
    *s = (struct standings){0};
}

wn_status wni_ranks_at(const struct contest *c, const struct standings *s, double share, double *ranks,
                       struct err *err)
{
    size_t n = c->n_methods;
    double *values = wni_new(double, n);
    uint32_t *work = wni_new(uint32_t, 2 * n);
    for (size_t b = 0; values && work && b < c->n_blocks; b++) {
        for (size_t m = 0; m < n; m++)
            values[m] = wni_curve_at(&c->curves[b * n + m], s->horizon[c->task[b]] * share);
        wni_ranks_average(values, n, ranks + b * n, work);
    }
    wn_status st = values && work ? WN_OK : wni_fail_memory(err);
    free(values);
    free(work);
    return st;
}

/* ---- is it chance ---- */

struct tests { /* scratch of the pairwise tests */
    double *differences, *work, *p, *adjusted;
    uint32_t *order;
};

static void test_pairs(const double *ranks, size_t n_blocks, struct tests *w, struct difference *d)
{
    size_t n = d->n, pair = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            struct wilcoxon result;
            for (size_t b = 0; b < n_blocks; b++)
                w->differences[b] = ranks[b * n + i] - ranks[b * n + j];
            wni_wilcoxon(w->differences, n_blocks, WILCOXON_AUTO, w->work, &result);
            w->p[pair++] = result.p;
        }
    wni_holm(w->p, pair, w->adjusted, w->order);
    pair = 0;
    for (size_t i = 0; i < n; i++) {
        d->p[i * n + i] = d->adjusted[i * n + i] = 1;
        for (size_t j = i + 1; j < n; j++, pair++) {
            d->p[i * n + j] = d->p[j * n + i] = w->p[pair];
            d->adjusted[i * n + j] = d->adjusted[j * n + i] = w->adjusted[pair];
        }
    }
}

struct cliques { /* of the graph whose edges join methods that do not differ */
    uint64_t neighbours[CONTEST_METHODS_MAX];
    uint64_t *found;
    size_t n, cap;
    bool failed;
};

/* Bron and Kerbosch (1973), without a pivot: the graphs have a handful of nodes. */
static void extend_clique(struct cliques *c, uint64_t members, uint64_t candidates, uint64_t excluded)
{
    if (!candidates && !excluded) {
        if (!wni_reserve((void **)&c->found, &c->cap, c->n + 1, sizeof *c->found))
            c->failed = true;
        else
            c->found[c->n++] = members;
    }
    while (candidates && !c->failed) {
        uint64_t one = candidates & -candidates, near = c->neighbours[__builtin_ctzll(one)];
        extend_clique(c, members | one, candidates & near, excluded & near);
        candidates &= ~one;
        excluded |= one;
    }
}

static wn_status find_cliques(struct difference *d)
{
    struct cliques c = {0};
    for (size_t i = 0; i < d->n; i++)
        for (size_t j = 0; j < d->n; j++)
            if (i != j && !(d->adjusted[i * d->n + j] <= d->alpha)) c.neighbours[i] |= UINT64_C(1) << j;
    extend_clique(&c, 0, d->n < 64 ? (UINT64_C(1) << d->n) - 1 : UINT64_MAX, 0);
    d->cliques = c.failed ? NULL : arena_new(&d->arena, uint64_t, c.n);
    for (size_t i = 0; d->cliques && i < c.n; i++)
        if (c.found[i] & (c.found[i] - 1))
            d->cliques[d->n_cliques++] = c.found[i]; /* a single one is no bar */
    free(c.found);
    return d->cliques ? WN_OK : WN_ENOMEM;
}

static bool difference_room(struct difference *d, struct tests *w, size_t n_blocks)
{
    size_t n = d->n, pairs = n * (n - 1) / 2;
    d->mean_rank = arena_new(&d->arena, double, 2 * n);
    d->p = arena_new(&d->arena, double, n *n);
    d->adjusted = arena_new(&d->arena, double, n *n);
    w->differences = arena_new(&d->arena, double, n_blocks);
    w->work = arena_new(&d->arena, double, wni_wilcoxon_work(n_blocks, WILCOXON_AUTO));
    w->p = arena_new(&d->arena, double, pairs);
    w->adjusted = arena_new(&d->arena, double, pairs);
    w->order = arena_new(&d->arena, uint32_t, 2 * pairs);
    return d->mean_rank && d->p && d->adjusted && w->differences && w->work && w->p && w->adjusted &&
           w->order;
}

wn_status wni_difference_compute(const double *ranks, size_t n_blocks, size_t n_methods, double alpha,
                                 struct difference *d, struct err *err)
{
    assert(n_methods >= 2 && n_methods <= CONTEST_METHODS_MAX && n_blocks >= 1);
    struct tests w = {0};
    *d = (struct difference){.n = n_methods, .alpha = alpha};
    bool fine = difference_room(d, &w, n_blocks);
    if (fine) {
        wni_friedman(ranks, n_blocks, n_methods, d->mean_rank, &d->friedman);
        test_pairs(ranks, n_blocks, &w, d);
        fine = find_cliques(d) == WN_OK;
    }
    if (!fine) {
        wni_difference_release(d);
        return wni_fail_memory(err);
    }
    return WN_OK;
}

void wni_difference_release(struct difference *d)
{
    wni_arena_release(&d->arena);
    *d = (struct difference){0};
}
