/* gp_candidates.c -- maximises expected improvement over configurations that were not asked before.
 *
 * Three steps.  Starting: of random configurations, the one whose value, drawn from the posterior, is lowest;
 * of a small finite space, whichever promises most of all that is left, and that is it.  Climbing: from there
 * bounded L-BFGS in the unit cube, then to the nearest configuration.  Stepping: from the better of the two,
 * as long as changing one finite parameter helps.
 *
 * Starting where improvement is largest, neighbours of good trials included, did worse on six tables (average
 * rank 3.3 to 3.6 instead of 3.0 to 3.2 among six; 8 seeds, 15 to 60 trials, ranks as targets). */
#include "search/gp_candidates.h"

#include "core/encode.h"
#include "num/minimize.h"

#include <math.h>
#include <string.h>

enum { STEPS_MAX = 20, ALL_VALUES = 10 };

struct pool {
    size_t n, cap;
    double *configs, *x, *scores;
};

static wn_status pool_init(struct pool *p, const struct space *space, size_t cap, struct arena *arena)
{
    p->n = 0;
    p->cap = cap;
    p->configs = arena_new(arena, double, (cap + 1) * space->n);
    p->x = arena_new(arena, double, (cap + 1) * space->unit_width);
    p->scores = arena_new(arena, double, cap + 1);
    return p->configs && p->x && p->scores ? WN_OK : WN_ENOMEM;
}

static double *pool_slot(struct pool *p, const struct space *space)
{
    return p->configs + p->n * space->n;
}

/* Takes the configuration in the slot, unless it was asked before or there is no room. */
static void pool_take(struct gp_search *s, struct pool *p)
{
    const struct space *space = s->env->space;
    double *config = pool_slot(p, space);
    if (p->n == p->cap || wni_history_seen(s->history, config)) return;
    wni_encode_unit(space, config, p->x + p->n * space->unit_width);
    p->n++;
}

/* ---- candidates ---- */

static void draw_candidates(struct gp_search *s, struct pool *p)
{
    const struct space *space = s->env->space;
    for (int i = 0; i < s->candidates; i++) {
        wni_config_sample(space, &s->rng, pool_slot(p, space));
        pool_take(s, p);
    }
}

static void enumerate_all(struct gp_search *s, struct pool *p)
{
    const struct space *space = s->env->space;
    for (uint64_t index = 0; index < space->size; index++) {
        wni_config_at(space, index, pool_slot(p, space));
        pool_take(s, p);
    }
}

/* The first of the best ones. */
static size_t best_of(struct ei *ei, struct pool *p)
{
    size_t best = 0;
    wni_ei_scores(ei, p->x, p->n, p->scores);
    for (size_t i = 1; i < p->n; i++)
        if (p->scores[i] > p->scores[best]) best = i;
    return best;
}

/* The one whose value, drawn from the posterior independently of the others, is lowest. */
static wn_status thompson(struct gp_search *s, struct ei *ei, struct pool *p, size_t *best)
{
    double *means = arena_new(&s->arena, double, p->n * ei->n_columns), least = INFINITY;
    double *variances = arena_new(&s->arena, double, p->n);
    if (!means || !variances) return WN_ENOMEM;
    wni_ei_predict(ei, p->x, p->n, means, variances);
    for (size_t i = 0; i < p->n; i++) {
        double drawn = sqrt(variances[i]) * wni_rng_normal(&s->rng);
        for (size_t c = 0; c < ei->n_columns; c++)
            drawn += means[i * ei->n_columns + c] / (double)ei->n_columns;
        if (!(drawn < least)) continue;
        least = drawn;
        *best = i;
    }
    wni_ei_scores(ei, p->x + *best * ei->width, 1, &p->scores[*best]);
    return WN_OK;
}

/* ---- climbing ---- */

static double objective(void *context, const double *x, double *gradient)
{
    return wni_ei_minus_log(context, x, gradient);
}

/* Moves row x to where EI is larger; *x holds unit_width. */
static wn_status climb(struct gp_search *s, struct ei *ei, double *x)
{
    size_t width = s->env->space->unit_width;
    struct minimize_limits limits = {.evaluations = 40, .tolerance = 1e-4};
    double *bounds = arena_new(&s->arena, double, 2 * width), value;
    if (!bounds) return WN_ENOMEM;
    for (size_t d = 0; d < width; d++)
        bounds[width + d] = 1;
    return wni_minimize(objective, ei, width, bounds, bounds + width, &limits, x, &value);
}

/* ---- stepping ---- */

static void neighbours_along(struct gp_search *s, struct pool *p, const double *config, size_t which)
{
    const struct space *space = s->env->space;
    const struct param *param = &space->params[which];
    if (param->count < 2) return;
    uint64_t at = wni_param_index_of(param, config[which]), jump = param->count / ALL_VALUES;
    for (int k = 0; k < ALL_VALUES; k++) {
        uint64_t to = param->count <= ALL_VALUES ? (uint64_t)k
                      : k == 0                   ? at - 1
                      : k == 1                   ? at + 1
                      : k == 2                   ? at - jump
                                                 : at + jump;
        if (to == at || to >= param->count) continue; /* below 0 is far above count */
        if (param->count > ALL_VALUES && k > 3) break;
        memcpy(pool_slot(p, space), config, space->n * sizeof *config);
        pool_slot(p, space)[which] = wni_param_value_at(param, to);
        pool_take(s, p);
    }
}

static wn_status step(struct gp_search *s, struct ei *ei, double *config, double *score)
{
    const struct space *space = s->env->space;
    struct pool p;
    if (pool_init(&p, space, space->n * ALL_VALUES, &s->arena)) return WN_ENOMEM;
    for (int i = 0; i < STEPS_MAX; i++) {
        p.n = 0;
        for (size_t k = 0; k < space->n; k++)
            neighbours_along(s, &p, config, k);
        if (p.n == 0) return WN_OK;
        size_t best = best_of(ei, &p);
        if (!(p.scores[best] > *score)) return WN_OK;
        *score = p.scores[best];
        memcpy(config, p.configs + best * space->n, space->n * sizeof *config);
    }
    return WN_OK;
}

static wn_status refine(struct gp_search *s, struct ei *ei, struct pool *p, size_t best, double *config)
{
    const struct space *space = s->env->space;
    double score = p->scores[best];
    memcpy(config, p->configs + best * space->n, space->n * sizeof *config);
    double *x = arena_new(&s->arena, double, space->unit_width);
    struct pool climbed;
    if (!x || pool_init(&climbed, space, 1, &s->arena)) return WN_ENOMEM;
    memcpy(x, p->x + best * space->unit_width, space->unit_width * sizeof *x);
    if (climb(s, ei, x)) return WN_ENOMEM;
    wni_decode_unit(space, x, climbed.configs);
    pool_take(s, &climbed);
    if (climbed.n && (best_of(ei, &climbed), climbed.scores[0] > score)) {
        score = climbed.scores[0];
        memcpy(config, climbed.configs, space->n * sizeof *config);
    }
    return step(s, ei, config, &score);
}

wn_status wni_gp_maximise(struct gp_search *s, struct ei *ei, double *config, bool *found)
{
    const struct space *space = s->env->space;
    uint64_t unseen = space->size - s->history->n_distinct;
    bool all = space->size && unseen <= (uint64_t)s->candidates;
    size_t start = 0;
    struct pool p;
    if (pool_init(&p, space, (size_t)s->candidates, &s->arena)) return WN_ENOMEM;
    (all ? enumerate_all : draw_candidates)(s, &p);
    *found = p.n > 0;
    if (!*found) return WN_OK;
    if (!all) return thompson(s, ei, &p, &start) || refine(s, ei, &p, start, config) ? WN_ENOMEM : WN_OK;
    start = best_of(ei, &p);
    memcpy(config, p.configs + start * space->n, space->n * sizeof *config);
    return WN_OK;
}
