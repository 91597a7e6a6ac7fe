/* rea.c -- regularised evolution (Real, Aggarwal, Huang, Le: "Regularized Evolution for Image Classifier
 * Architecture Search", AAAI 2019).
 *
 * The population is the last `population` observed trials, so old ones die of age however good they are.
 * `sample` of them are drawn with replacement; the best, mutated in one parameter, is the proposal.  Below a
 * full population: random. Differs from the paper in not proposing a configuration twice: a mutant that was
 * asked before is drawn again, and after `MUTATIONS` attempts gives way to a random configuration. */
#include "search/search.h"

#include "base/mem.h"
#include "core/streams.h"

#include <stdlib.h>
#include <string.h>

enum { MUTATIONS = 1000 };

struct rea {
    const struct search_env *env;
    int population, sample;
    uint32_t *ring; /* trials in the order of their first observation; slot = n_observed % population */
    size_t n_observed;
};

static const struct opt_def rea_opts[] = {
    OPT_INT(struct rea, population, 10, 1, 100000, "how many of the last observed trials may be parents"),
    OPT_INT(struct rea, sample, 5, 1, 100000, "how many are drawn to find the parent"),
    OPT_END,
};

static wn_status init(void *self, const struct search_env *env, struct err *err)
{
    struct rea *r = self;
    r->env = env;
    r->ring = wni_new(uint32_t, (size_t)r->population);
    return r->ring ? WN_OK : wni_fail_memory(err);
}

/* A trial joins once, when its first observation comes: with its first report under multi-fidelity, else at
 * completion. */
static void observe(void *self, const struct history *h, const struct event *e)
{
    struct rea *r = self;
    double value;
    bool joins = r->env->partial ? e->kind == EVENT_REPORT && h->trials[e->trial].n_reports == 1
                                 : e->kind == EVENT_FINISH && e->state == WN_COMPLETE;
    if (!joins || !wni_search_observation(r->env, h, e->trial, &value)) return;
    r->ring[r->n_observed++ % (size_t)r->population] = e->trial;
}

/* The best of `sample` draws; the first drawn wins ties.  A member that failed after it joined loses to
 * anyone. */
static uint32_t draw_parent(const struct rea *r, const struct history *h, struct rng *rng)
{
    uint32_t parent = TRIAL_NONE;
    double best = 0, value;
    for (int i = 0; i < r->sample; i++) {
        uint32_t trial = r->ring[wni_rng_below(rng, (uint64_t)r->population)];
        if (!wni_search_observation(r->env, h, trial, &value)) continue;
        if (parent != TRIAL_NONE && value >= best) continue;
        parent = trial;
        best = value;
    }
    return parent;
}

/* The parent may be from before the space was widened, and have digits that it no longer has. */
static void mutate(const struct space *space, struct rng *rng, double *config)
{
    size_t i = (size_t)wni_rng_below(rng, space->n);
    for (size_t k = 0; k < space->n; k++)
        config[k] = wni_param_nearest(&space->params[k], config[k]);
    config[i] = wni_param_sample(&space->params[i], rng);
}

static wn_status suggest(void *self, const struct history *h, uint32_t trial, double *config, struct err *err)
{
    (void)err;
    struct rea *r = self;
    const struct space *space = r->env->space;
    if (r->n_observed < (size_t)r->population || space->n == 0)
        return wni_search_random(r->env, h, trial, config);
    struct rng rng = wni_rng_stream(r->env->seed, trial, STREAM_SEARCH);
    uint32_t parent = draw_parent(r, h, &rng);
    for (int i = 0; i < MUTATIONS && parent != TRIAL_NONE; i++) {
        memcpy(config, wni_history_config(h, parent), space->n * sizeof *config);
        mutate(space, &rng, config);
        if (!wni_history_seen(h, config)) return WN_OK;
    }
    return wni_search_random(r->env, h, trial, config);
}

static void release(void *self)
{
    free(((struct rea *)self)->ring);
}

const struct searcher_ops wni_searcher_rea = {
    .name = "rea",
    .summary = "regularised evolution: the best of a few recent trials, mutated in one parameter",
    .state_size = sizeof(struct rea),
    .opts = rea_opts,
    .init = init,
    .suggest = suggest,
    .observe = observe,
    .release = release,
};
