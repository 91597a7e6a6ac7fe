/* candidates.c -- rows to fit and configurations to score, for every searcher with a model. */
#include "search/candidates.h"

/* ---- observations ---- */

static wn_status draw_subset(size_t max, struct rng *rng, struct arena *arena, struct observations *o)
{
    uint32_t *drawn = arena_new(arena, uint32_t, max);
    if (!drawn) return WN_ENOMEM;
    wni_rng_sample(rng, (uint32_t)o->n, (uint32_t)max, drawn);
    for (size_t i = 0; i < max; i++) { /* increasing, so nothing is overwritten before it is read */
        o->trials[i] = o->trials[drawn[i]];
        o->y[i] = o->y[drawn[i]];
    }
    o->n = max;
    return WN_OK;
}

wn_status wni_observations_choose(const struct search_env *env, const struct history *h, size_t max,
                                  struct rng *rng, struct arena *arena, struct observations *o)
{
    *o = (struct observations){.trials = arena_new(arena, uint32_t, h->n_trials),
                               .y = arena_new(arena, double, h->n_trials)};
    if (!o->trials || !o->y) return WN_ENOMEM;
    for (uint32_t t = 0; t < h->n_trials; t++)
        if (wni_search_observation(env, h, t, &o->y[o->n])) o->trials[o->n++] = t;
    o->n_observed = o->n;
    return o->n > max ? draw_subset(max, rng, arena, o) : WN_OK;
}

wn_status wni_observations_encode(const struct history *h, encode_fn *encode, size_t width,
                                  struct arena *arena, struct observations *o)
{
    o->x = arena_new(arena, double, o->n *width);
    if (!o->x) return WN_ENOMEM;
    for (size_t i = 0; i < o->n; i++)
        encode(h->space, wni_history_config(h, o->trials[i]), o->x + i * width);
    return WN_OK;
}

/* ---- candidates ---- */

/* Walks those asked and those left. */
static size_t enumerate_unseen(const struct space *space, const struct history *h, double *configs)
{
    size_t n = 0;
    for (uint64_t index = 0; index < space->size; index++) {
        double *config = configs + n * space->n;
        wni_config_at(space, index, config);
        n += !wni_history_seen(h, config);
    }
    return n;
}

static size_t draw(const struct space *space, const struct history *h, size_t max, bool duplicates,
                   struct rng *rng, double *configs)
{
    size_t n = 0;
    for (size_t i = 0; i < max; i++) {
        double *config = configs + n * space->n;
        wni_config_sample(space, rng, config);
        n += duplicates || !wni_history_seen(h, config);
    }
    return n;
}

wn_status wni_candidates_make(const struct space *space, const struct history *h, size_t max, bool duplicates,
                              struct rng *rng, struct arena *arena, struct candidates *c)
{
    bool all = !duplicates && space->size && space->size - h->n_distinct <= (uint64_t)max;
    /* one row more: where a rejected draw is written */
    c->configs = arena_new(arena, double, (max + 1) * space->n);
    if (!c->configs) return WN_ENOMEM;
    c->n = all ? enumerate_unseen(space, h, c->configs) : draw(space, h, max, duplicates, rng, c->configs);
    return WN_OK;
}
