/* bore.c -- Bayesian optimisation by density-ratio estimation (Tiao, Klein, Seeger, Bonilla, Archambeau,
 * Ramos: "BORE: Bayesian Optimization by Density-Ratio Estimation", ICML 2021).
 *
 * Call the best `gamma` of the observations class 1 and the others class 0, and train a classifier.  Its
 * probability of class 1 grows with the expected improvement over the value that separates the classes, so
 * the candidate with the highest probability is proposed; no model of the values is needed.  The classifier
 * is boosted trees with XGBoost's defaults, as in the paper's experiments, on the unit encoding.
 *
 * Trees give many candidates the very same probability: one of the highest is drawn.  Differs from the
 * authors' released code in that nothing is proposed twice, in scoring 2,000 candidates rather than 500, and
 * in class 1 holding the value that separates the classes too (y <= the quantile), so that it is never empty.
 *
 * A suggestion costs O(trees depth (n d + candidates)) for n observations of d columns. */
#include "search/candidates.h"

#include "core/encode.h"
#include "core/streams.h"
#include "num/order.h"
#include "surrogate/newton.h"

#include <string.h>

struct bore {
    const struct search_env *env;
    /* options */
    int trees, depth, candidates, max_fit, initial;
    double gamma, rate, lambda, min_child_weight;
    bool duplicates;
    /* scratch, kept between suggestions */
    struct arena arena;
};

static const struct opt_def bore_opts[] = {
    OPT_REAL(struct bore, gamma, 0.25, 0.001, 0.999, "share of the observations that counts as good"),
    OPT_INT(struct bore, trees, 100, 1, 10000, "trees of the classifier"),
    OPT_INT(struct bore, depth, 6, 1, FOREST_DEPTH_MAX, "depth of a tree"),
    OPT_REAL(struct bore, rate, 0.3, 1e-6, 1, "learning rate"),
    OPT_REAL(struct bore, lambda, 1, 0, 1e6, "L2 penalty on leaf values"),
    OPT_REAL(struct bore, min_child_weight, 1, 0, 1e6, "least sum of second derivatives in a leaf"),
    OPT_INT(struct bore, candidates, 2000, 1, 10000000, "configurations scored for each suggestion"),
    OPT_INT(struct bore, max_fit, 1000, 8, BINS_ROWS_MAX,
            "observations fitted at most; beyond that a random subset"),
    OPT_INT(struct bore, initial, 5, 1, 1000000, "observed trials before the first model; random until then"),
    OPT_BOOL(struct bore, duplicates, false,
             "propose configurations again that were asked before, as the paper does"),
    OPT_END,
};

static wn_status init(void *self, const struct search_env *env, struct err *err)
{
    (void)err;
    ((struct bore *)self)->env = env;
    return WN_OK;
}

static void release(void *self)
{
    wni_arena_release(&((struct bore *)self)->arena);
}

/* ---- the classifier ---- */

/* Replaces values by classes: 1 for those at or below the gamma quantile. */
static wn_status classify(struct bore *b, struct observations *o)
{
    double *sorted = arena_new(&b->arena, double, o->n);
    if (!sorted) return WN_ENOMEM;
    memcpy(sorted, o->y, o->n * sizeof *sorted);
    wni_sort(sorted, o->n);
    double cut = wni_quantile_linear(sorted, o->n, b->gamma);
    for (size_t i = 0; i < o->n; i++)
        o->y[i] = o->y[i] <= cut;
    return WN_OK;
}

static wn_status fit(struct bore *b, const struct observations *o, struct rng *rng, struct bins *bins,
                     struct forest *forest)
{
    struct newton_options options = {
        .loss = LOSS_LOGISTIC,
        .boost = {.trees = b->trees,
                  .depth = b->depth,
                  .rate = b->rate,
                  .min_leaf = 1,
                  .row_share = 1,
                  .column_share = 1},
        .lambda = b->lambda,
        .min_child_weight = b->min_child_weight,
    };
    wn_status st = wni_bins_build(bins, o->x, o->n, b->env->space->unit_width, &b->arena);
    return st ? st : wni_newton_fit(forest, bins, o->y, &options, rng, &b->arena, &b->arena);
}

/* ---- candidates ---- */

/* Log odds of class 1, which rise with its probability and do not saturate. */
static double *score(struct bore *b, const struct bins *bins, const struct forest *forest,
                     const struct candidates *c)
{
    const struct space *space = b->env->space;
    size_t width = space->unit_width, stride = (c->n + BINS_BLOCK - 1) / BINS_BLOCK * BINS_BLOCK;
    double *rows = arena_new(&b->arena, double, c->n *width), *scores = arena_new(&b->arena, double, c->n);
    uint8_t *codes = arena_new(&b->arena, uint8_t, stride * width);
    if (!rows || !scores || !codes) return NULL;
    for (size_t i = 0; i < c->n; i++)
        wni_encode_unit(space, c->configs + i * space->n, rows + i * width);
    wni_bins_encode(bins, rows, c->n, codes, stride);
    wni_forest_predict(forest, codes, stride, c->n, scores, wni_simd_pick());
    return scores;
}

/* One of the highest, all of them equally likely. */
static size_t draw_highest(const double *scores, size_t n, struct rng *rng)
{
    size_t winner = 0, tied = 1;
    for (size_t i = 1; i < n; i++) {
        if (scores[i] < scores[winner]) continue;
        tied = scores[i] > scores[winner] ? 1 : tied + 1;
        if (wni_rng_below(rng, tied) == 0) winner = i;
    }
    return winner;
}

static wn_status suggest(void *self, const struct history *h, uint32_t trial, double *config, struct err *err)
{
    struct bore *b = self;
    const struct space *space = b->env->space;
    struct rng rng = wni_rng_stream(b->env->seed, trial, STREAM_SEARCH);
    struct observations o;
    struct candidates c;
    struct bins bins;
    struct forest forest;
    double *scores;
    wni_arena_reset(&b->arena);
    if (wni_observations_choose(b->env, h, (size_t)b->max_fit, &rng, &b->arena, &o))
        return wni_fail_memory(err);
    if (o.n_observed < (size_t)b->initial || space->unit_width == 0)
        return wni_search_random(b->env, h, trial, config);
    if (wni_observations_encode(h, wni_encode_unit, space->unit_width, &b->arena, &o) || classify(b, &o) ||
        fit(b, &o, &rng, &bins, &forest) ||
        wni_candidates_make(space, h, (size_t)b->candidates, b->duplicates, &rng, &b->arena, &c) ||
        !(scores = score(b, &bins, &forest, &c)))
        return wni_fail_memory(err);
    if (c.n == 0) return wni_search_random(b->env, h, trial, config);
    size_t winner = draw_highest(scores, c.n, &rng);
    memcpy(config, c.configs + winner * space->n, space->n * sizeof *config);
    return WN_OK;
}

const struct searcher_ops wni_searcher_bore = {
    .name = "bore",
    .summary = "density-ratio estimation: a tree classifier of the best quarter, its surest candidate",
    .state_size = sizeof(struct bore),
    .opts = bore_opts,
    .init = init,
    .suggest = suggest,
    .release = release,
};
