/* tpe.c -- the tree-structured Parzen estimator, multivariate: densities of good and bad trials (density.h).
 *
 * Learns from each trial's observation (search.h): completed trials, or last values under a scheduler that
 * stops early.  A suggestion costs O(n d) for n observations, at most max_fit of them, times the
 * candidates. */
#include "search/density.h"

static const struct opt_def tpe_opts[] = {DENSITY_OPTIONS, OPT_END};

static wn_status init(void *self, const struct search_env *env, struct err *err)
{
    return wni_density_init(self, env, err);
}

static wn_status suggest(void *self, const struct history *h, uint32_t trial, double *config, struct err *err)
{
    struct density *s = self;
    wni_arena_reset(&s->arena);
    uint32_t *trials = arena_new(&s->arena, uint32_t, h->n_trials);
    double *values = arena_new(&s->arena, double, h->n_trials);
    if (!trials || !values) return wni_fail_memory(err);
    size_t n = 0;
    for (uint32_t t = 0; t < h->n_trials; t++) {
        if (!wni_search_observation(s->env, h, t, &values[n])) continue;
        trials[n++] = t;
    }
    return wni_density_propose(s, h, trial, trials, values, n, config, err);
}

static void release(void *self)
{
    wni_density_release(self);
}

const struct searcher_ops wni_searcher_tpe = {
    .name = "tpe",
    .summary = "densities of good and bad trials (multivariate TPE)",
    .state_size = sizeof(struct density),
    .opts = tpe_opts,
    .init = init,
    .suggest = suggest,
    .release = release,
};
