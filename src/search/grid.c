/* grid.c -- every combination in order, the last parameter fastest; continuous parameters at `points` evenly
 * spaced values of their scale.
 *
 * The state is a cursor into the grid: configurations before it have all been asked, because the set of asked
 * ones only grows.  Enqueued configurations that lie on the grid are thus not repeated. */
#include "search/search.h"

#include "core/encode.h"

struct grid {
    const struct search_env *env;
    int points;
    uint64_t size, cursor;
};

static const struct opt_def grid_opts[] = {
    OPT_INT(struct grid, points, 5, 2, 1000000, "values of a continuous parameter, both bounds included"),
    OPT_END,
};

static uint64_t axis_length(const struct grid *g, const struct param *p)
{
    return p->count ? p->count : (uint64_t)g->points;
}

static double axis_value(const struct grid *g, const struct param *p, uint64_t k)
{
    return p->count ? wni_param_value_at(p, k) : wni_param_from_unit(p, (double)k / (g->points - 1));
}

static void grid_point(const struct grid *g, uint64_t index, double *config)
{
    const struct space *space = g->env->space;
    for (size_t i = space->n; i-- > 0;) {
        uint64_t length = axis_length(g, &space->params[i]);
        config[i] = axis_value(g, &space->params[i], index % length);
        index /= length;
    }
}

static wn_status init(void *self, const struct search_env *env, struct err *err)
{
    struct grid *g = self;
    g->env = env;
    g->size = 1;
    for (size_t i = 0; i < env->space->n; i++) {
        uint64_t length = axis_length(g, &env->space->params[i]);
        if (g->size > UINT64_MAX / length)
            return wni_fail(err, WN_EINVAL, "the grid has more than 2^64 points");
        g->size *= length;
    }
    return WN_OK;
}

static wn_status suggest(void *self, const struct history *h, uint32_t trial, double *config, struct err *err)
{
    (void)trial, (void)err;
    struct grid *g = self;
    for (; g->cursor < g->size; g->cursor++) {
        grid_point(g, g->cursor, config);
        if (!wni_history_seen(h, config)) return WN_OK;
    }
    return WN_EXHAUSTED;
}

const struct searcher_ops wni_searcher_grid = {
    .name = "grid",
    .summary = "every combination in order; continuous parameters at evenly spaced points",
    .state_size = sizeof(struct grid),
    .opts = grid_opts,
    .init = init,
    .suggest = suggest,
};
