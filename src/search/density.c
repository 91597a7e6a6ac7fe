/* density.c -- good against bad: two densities and a ratio. */
#include "search/density.h"

#include "base/mem.h"
#include "core/encode.h"
#include "core/streams.h"
#include "num/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Densities below this are this: what is nowhere near any observation is neither good nor bad. */
#define TINY 1e-32

/* ---- columns ---- */

static wn_status describe_column(struct density *s, const struct param *p, struct kde_column *c)
{
    if (p->kind == PARAM_CATEGORICAL || p->kind == PARAM_BOOL) {
        *c = (struct kde_column){.kind = KDE_UNORDERED, .count = (size_t)p->count};
        return WN_OK;
    }
    *c = (struct kde_column){.kind = KDE_CONTINUOUS};
    if (p->count == 0 || p->count > DENSITY_ORDERED_MAX) return WN_OK;
    double *at = arena_new(&s->keep, double, p->count);
    if (!at) return WN_ENOMEM;
    for (uint64_t v = 0; v < p->count; v++)
        at[v] = wni_param_to_unit(p, wni_param_value_at(p, v));
    *c = (struct kde_column){.kind = KDE_ORDERED, .count = (size_t)p->count, .at = at};
    return WN_OK;
}

wn_status wni_density_init(struct density *s, const struct search_env *env, struct err *err)
{
    const struct space *space = env->space;
    s->env = env;
    s->columns = arena_new(&s->keep, struct kde_column, space->n);
    s->params = arena_new(&s->keep, uint32_t, space->n);
    if (!s->columns || !s->params) return wni_fail_memory(err);
    for (uint32_t i = 0; i < space->n; i++) {
        if (space->params[i].count == 1) continue;
        if (describe_column(s, &space->params[i], &s->columns[s->d])) return wni_fail_memory(err);
        s->params[s->d++] = i;
    }
    return WN_OK;
}

void wni_density_release(struct density *s)
{
    wni_arena_release(&s->keep);
    wni_arena_release(&s->arena);
    free(s->rows);
    s->rows = NULL;
}

static size_t least_good(const struct density *s)
{
    return (size_t)fmax(2, ceil(s->least * (double)(s->d + 1)));
}

size_t wni_density_enough(const struct density *s)
{
    return 2 * least_good(s);
}

/* ---- rows ---- */

static void encode(const struct density *s, const double *config, double *row)
{
    for (size_t j = 0; j < s->d; j++) {
        const struct param *p = &s->env->space->params[s->params[j]];
        double value = config[s->params[j]];
        row[j] = s->columns[j].kind == KDE_CONTINUOUS ? wni_param_to_unit(p, value)
                                                      : (double)wni_param_index_of(p, value);
    }
}

static void decode(const struct density *s, const double *row, double *config)
{
    const struct space *space = s->env->space;
    for (size_t i = 0; i < space->n; i++)
        if (space->params[i].count == 1) config[i] = wni_param_value_at(&space->params[i], 0);
    for (size_t j = 0; j < s->d; j++) {
        const struct param *p = &space->params[s->params[j]];
        config[s->params[j]] = s->columns[j].kind == KDE_CONTINUOUS ? wni_param_from_unit(p, row[j])
                                                                    : wni_param_value_at(p, (uint64_t)row[j]);
    }
}

/* Encodes trials that are new since the last suggestion. */
static wn_status encode_trials(struct density *s, const struct history *h)
{
    if (!wni_reserve((void **)&s->rows, &s->rows_cap, h->n_trials * s->d, sizeof *s->rows)) return WN_ENOMEM;
    for (; s->n_rows < h->n_trials; s->n_rows++)
        encode(s, wni_history_config(h, (uint32_t)s->n_rows), s->rows + s->n_rows * s->d);
    return WN_OK;
}

/* ---- sides ---- */

struct side {
    uint32_t *trials;
    size_t n;
    double *rows, *bandwidths;
    struct kde kde;
};

struct sides {
    struct side good, bad;
};

static size_t good_count(const struct density *s, size_t n)
{
    size_t share = (size_t)(s->share * (double)n), least = least_good(s);
    size_t k = share > least ? share : least;
    return k < n ? k : n - 1;
}

/* The best go to the good side, equals by arrival, the others to the bad side. */
static wn_status split(struct density *s, const uint32_t *trials, const double *values, size_t n,
                       size_t n_good, struct sides *sides)
{
    double *copy = arena_new(&s->arena, double, n);
    if (!copy) return WN_ENOMEM;
    memcpy(copy, values, n * sizeof *copy);
    double cut = wni_select(copy, n, n_good - 1);
    size_t equals = n_good;
    for (size_t i = 0; i < n; i++)
        equals -= values[i] < cut;
    for (size_t i = 0; i < n; i++) {
        bool good = values[i] < cut || (values[i] == cut && equals > 0);
        equals -= good && values[i] == cut;
        struct side *side = good ? &sides->good : &sides->bad;
        side->trials[side->n++] = trials[i];
    }
    return WN_OK;
}

/* More than max_fit observations: of the bad, a random subset. */
static wn_status thin(struct density *s, size_t limit, struct rng *rng, struct side *side)
{
    if (side->n <= limit) return WN_OK;
    uint32_t *drawn = arena_new(&s->arena, uint32_t, limit);
    if (!drawn) return WN_ENOMEM;
    wni_rng_sample(rng, (uint32_t)side->n, (uint32_t)limit, drawn);
    for (size_t i = 0; i < limit; i++)
        side->trials[i] = side->trials[drawn[i]];
    side->n = limit;
    return WN_OK;
}

static bool has_failed(const struct trial *t)
{
    return t->broken || t->state == WN_FAILED || t->state == WN_TIMEOUT;
}

/* Configurations that break a run are bad ones. */
static void add_failed(const struct history *h, struct side *bad)
{
    for (uint32_t t = 0; t < h->n_trials; t++)
        if (has_failed(&h->trials[t])) bad->trials[bad->n++] = t;
}

static wn_status fit_side(struct density *s, struct side *side)
{
    side->rows = arena_new(&s->arena, double, side->n * s->d);
    side->bandwidths = arena_new(&s->arena, double, s->d);
    if (!side->rows || !side->bandwidths) return WN_ENOMEM;
    for (size_t i = 0; i < side->n; i++)
        memcpy(side->rows + i * s->d, s->rows + side->trials[i] * s->d, s->d * sizeof *side->rows);
    wni_kde_bandwidths(s->columns, s->d, side->rows, side->n, s->floor, side->bandwidths);
    return wni_kde_fit(&side->kde, s->columns, s->d, side->rows, side->n, side->bandwidths, &s->arena);
}

static wn_status fit(struct density *s, const struct history *h, const uint32_t *trials, const double *values,
                     size_t n, struct rng *rng, struct sides *sides)
{
    size_t fitted = n < (size_t)s->max_fit ? n : (size_t)s->max_fit, n_good = good_count(s, fitted);
    *sides = (struct sides){0};
    sides->good.trials = arena_new(&s->arena, uint32_t, n_good);
    sides->bad.trials = arena_new(&s->arena, uint32_t, n + h->n_trials);
    if (!sides->good.trials || !sides->bad.trials || encode_trials(s, h)) return WN_ENOMEM;
    if (split(s, trials, values, n, n_good, sides)) return WN_ENOMEM;
    add_failed(h, &sides->bad);
    if (thin(s, (size_t)s->max_fit - n_good, rng, &sides->bad)) return WN_ENOMEM;
    return fit_side(s, &sides->good) || fit_side(s, &sides->bad) ? WN_ENOMEM : WN_OK;
}

/* ---- candidates ---- */

struct candidates {
    size_t n;
    double *configs, *rows; /* of the space's n, of d */
};

static void draw(const struct density *s, const struct side *good, struct rng *rng, double *row)
{
    const double *center = good->rows + wni_rng_below(rng, good->n) * s->d;
    for (size_t j = 0; j < s->d; j++)
        row[j] = wni_kde_draw(&s->columns[j], good->bandwidths[j] * s->widen, center[j], rng);
}

/* New configurations only.  Around a cluster in a finite space most draws may be old ones; four rounds are
 * enough to fill up, and more would not find much. */
static wn_status draw_candidates(struct density *s, const struct history *h, const struct side *good,
                                 struct rng *rng, struct candidates *c)
{
    size_t wanted = (size_t)s->candidates, width = s->env->space->n;
    c->configs = arena_new(&s->arena, double, wanted *width);
    c->rows = arena_new(&s->arena, double, wanted * s->d);
    if (!c->configs || !c->rows) return WN_ENOMEM;
    c->n = 0;
    for (size_t round = 0; round < 4 * wanted && c->n < wanted; round++) {
        double *config = c->configs + c->n * width, *row = c->rows + c->n * s->d;
        draw(s, good, rng, row);
        decode(s, row, config);
        if (wni_history_seen(h, config)) continue;
        encode(s, config, row); /* the value that is tried, not the one that was drawn */
        c->n++;
    }
    return WN_OK;
}

/* The first of the largest ratios. */
static wn_status choose(struct density *s, const struct sides *sides, const struct candidates *c,
                        size_t *winner)
{
    double *good = arena_new(&s->arena, double, c->n), *bad = arena_new(&s->arena, double, c->n);
    if (!good || !bad || wni_kde_density(&sides->good.kde, c->rows, c->n, good, &s->arena) ||
        wni_kde_density(&sides->bad.kde, c->rows, c->n, bad, &s->arena))
        return WN_ENOMEM;
    double best = -INFINITY;
    for (size_t i = 0; i < c->n; i++) {
        double ratio = fmax(good[i], TINY) / fmax(bad[i], TINY);
        if (!(ratio > best)) continue;
        best = ratio;
        *winner = i;
    }
    return WN_OK;
}

wn_status wni_density_propose(struct density *s, const struct history *h, uint32_t trial,
                              const uint32_t *trials, const double *values, size_t n, double *config,
                              struct err *err)
{
    struct rng rng = wni_rng_stream(s->env->seed, trial, STREAM_SEARCH);
    struct sides sides;
    struct candidates c;
    size_t winner = 0;
    if (s->d == 0 || n < wni_density_enough(s) || wni_rng_uniform(&rng) < s->random)
        return wni_search_random(s->env, h, trial, config);
    if (fit(s, h, trials, values, n, &rng, &sides) || draw_candidates(s, h, &sides.good, &rng, &c))
        return wni_fail_memory(err);
    if (c.n == 0) return wni_search_random(s->env, h, trial, config);
    if (choose(s, &sides, &c, &winner)) return wni_fail_memory(err);
    memcpy(config, c.configs + winner * s->env->space->n, s->env->space->n * sizeof *config);
    return WN_OK;
}
