/* search.c -- the registry of searchers, and what they share. */
#include "search/search.h"

#include "base/mem.h"
#include "base/registry.h"
#include "core/streams.h"

#include <stdlib.h>

#define SEARCHER(name) extern const struct searcher_ops wni_searcher_##name;
#include "search/searchers.def"
#undef SEARCHER

static const struct searcher_ops *const searchers[] = {
#define SEARCHER(name) &wni_searcher_##name,
#include "search/searchers.def"
#undef SEARCHER
};

size_t wni_searcher_count(void)
{
    return sizeof searchers / sizeof *searchers;
}

const struct searcher_ops *wni_searcher_at(size_t i)
{
    return searchers[i];
}

static const char *name_at(size_t i)
{
    return searchers[i]->name;
}

const struct searcher_ops *wni_searcher_find(const char *name, struct err *err)
{
    ptrdiff_t i = wni_registry_find("searcher", name, wni_searcher_count(), name_at, err);
    return i < 0 ? NULL : searchers[i];
}

wn_status wni_searcher_open(struct searcher *s, const struct searcher_ops *ops, const char *options,
                            const struct search_env *env, struct err *err)
{
    *s = (struct searcher){.ops = ops, .self = wni_new_array(1, ops->state_size)};
    if (!s->self) return wni_fail_memory(err);
    wni_opts_defaults(ops->opts, s->self);
    wn_status st = wni_opts_apply(ops->opts, s->self, "searcher", options, err);
    if (!st && ops->init) st = ops->init(s->self, env, err);
    if (!st) return WN_OK;
    wni_err_prefix(err, "searcher '%s'", ops->name);
    wni_searcher_release(s);
    return st;
}

void wni_searcher_release(struct searcher *s)
{
    if (s->self && s->ops->release) s->ops->release(s->self);
    free(s->self);
    *s = (struct searcher){0};
}

/* ---- shared ---- */

enum { BLIND_DRAWS = 100 };

/* The r-th configuration not seen yet, in index order.  O(size), so only for the few that are left when blind
 * draws keep hitting seen ones: with 100 draws failing, more than 9 in 10 have been asked. */
static void nth_unseen(const struct space *space, const struct history *h, uint64_t r, double *config)
{
    for (uint64_t index = 0; index < space->size; index++) {
        wni_config_at(space, index, config);
        if (!wni_history_seen(h, config) && r-- == 0) return;
    }
}

wn_status wni_search_random(const struct search_env *env, const struct history *h, uint32_t trial,
                            double *config)
{
    const struct space *space = env->space;
    if (space->size && h->n_distinct >= space->size) return WN_EXHAUSTED;
    struct rng rng = wni_rng_stream(env->seed, trial, STREAM_RANDOM);
    for (int draw = 0; draw < BLIND_DRAWS; draw++) {
        wni_config_sample(space, &rng, config);
        if (!wni_history_seen(h, config)) return WN_OK;
    }
    if (space->size) nth_unseen(space, h, wni_rng_below(&rng, space->size - h->n_distinct), config);
    return WN_OK; /* an infinite space that repeats itself 100 times over is as good as finite: accept the
                     repeat */
}

bool wni_search_observation(const struct search_env *env, const struct history *h, uint32_t trial,
                            double *value)
{
    if (!env->partial && h->trials[trial].state != WN_COMPLETE) return false;
    return wni_history_last(h, trial, value, NULL);
}
