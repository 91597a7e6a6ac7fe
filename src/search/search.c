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

/* A configuration not asked before, each equally likely.  Expected size/left draws, so using up a whole space
 * costs O(size log size) in all.  Its last one may take a few times `size` draws; a stream has 2^34, a study
 * at most 2^27 trials. */
static void draw_unseen(const struct space *space, const struct history *h, struct rng *rng, double *config)
{
    do
        wni_config_at(space, wni_rng_below(rng, space->size), config);
    while (wni_history_seen(h, config));
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
    /* What is likely in the declared scales is used up; what is left is drawn without regard to them.  An
     * infinite space that repeats itself 100 times over is as good as finite: the repeat is accepted. */
    if (space->size) draw_unseen(space, h, &rng, config);
    return WN_OK;
}

bool wni_search_observation(const struct search_env *env, const struct history *h, uint32_t trial,
                            double *value)
{
    if (!env->partial && h->trials[trial].state != WN_COMPLETE) return false;
    return wni_history_last(h, trial, value, NULL);
}
