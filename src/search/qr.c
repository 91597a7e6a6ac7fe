/* qr.c -- quantile regression and Thompson sampling: the searchers `qr` and `cqr` (Salinas, Golebiowski,
 * Klein, Seeger, Archambeau: "Optimizing Hyperparameters with Conformal Quantile Regression", ICML 2023).
 *
 * Fit m conditional quantiles of the observations; draw candidates from the space and, independently for
 * each, one of the m levels; propose the candidate whose drawn quantile is lowest.  Where the model is unsure
 * its quantiles are far apart, so a lucky draw is low: that is the exploration.  cqr corrects the quantiles
 * conformally first.
 *
 * Differs from the authors' released code as the paper and docs/adr/0008 say: all pairs of levels are
 * corrected, with the finite-sample term of the theory; both searchers have the same trees; evaluated and
 * pending configurations are not proposed again.
 *
 * Failed trials are not part of the fit, but their configurations count as seen. */
#include "search/candidates.h"

#include "core/encode.h"
#include "core/streams.h"
#include "num/stats.h"
#include "surrogate/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct qr {
    const struct search_env *env;
    /* options */
    int levels, trees, depth, candidates, threshold, max_fit, initial;
    double rate, holdout;
    bool conformal, duplicates, normalize;
    /* scratch, kept between suggestions */
    struct quantile_model model;
    struct arena arena;
};

#define QR_OPTIONS                                                                                           \
    OPT_INT(struct qr, levels, 4, 2, QUANTILE_LEVELS_MAX, "quantile levels m; level j is j/(m+1)"),          \
        OPT_INT(struct qr, trees, 100, 1, 10000, "trees of each level"),                                     \
        OPT_INT(struct qr, depth, 3, 1, FOREST_DEPTH_MAX, "depth of a tree"),                                \
        OPT_REAL(struct qr, rate, 0.1, 1e-6, 1, "learning rate"),                                            \
        OPT_INT(struct qr, candidates, 2000, 1, 10000000, "configurations scored for each suggestion"),      \
        OPT_INT(struct qr, max_fit, 1000, 8, PINBALL_ROWS_MAX,                                               \
                "observations fitted at most; beyond that a random subset"),                                 \
        OPT_INT(struct qr, initial, 5, 1, 1000000,                                                           \
                "observed trials before the first model; random until then"),                                \
        OPT_BOOL(struct qr, duplicates, false,                                                               \
                 "propose configurations again that were asked before, as the paper does"),                  \
        OPT_BOOL(struct qr, normalize, false,                                                                \
                 "replace values by normal scores of their ranks before the fit")

static const struct opt_def qr_opts[] = {QR_OPTIONS, OPT_END};
static const struct opt_def cqr_opts[] = {
    QR_OPTIONS,
    OPT_BOOL(struct qr, conformal, true, "correct the quantiles"),
    OPT_REAL(struct qr, holdout, 0.1, 0.01, 0.5, "share of the observations held out for the correction"),
    OPT_INT(struct qr, threshold, 32, 2, 1000000, "correct with more observations than this"),
    OPT_END,
};

static wn_status init(void *self, const struct search_env *env, struct err *err)
{
    (void)err;
    ((struct qr *)self)->env = env;
    return WN_OK;
}

static void release(void *self)
{
    struct qr *q = self;
    wni_quantile_release(&q->model);
    wni_arena_release(&q->arena);
}

/* ---- observations ---- */

static wn_status normalise(struct arena *arena, double *y, size_t n)
{
    double *ranks = arena_new(arena, double, n);
    uint32_t *work = arena_new(arena, uint32_t, 2 * n);
    if (!ranks || !work) return WN_ENOMEM;
    wni_normal_scores(y, n, ranks, work);
    return WN_OK;
}

/* Residuals are differences of values and of sums of differences, which have to stay finite.  A power of two
 * changes no other digit, and for a choice the unit does not matter. */
static void scale_down(double *y, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(y[i]));
    for (size_t i = 0; largest > 0x1p800 && i < n; i++)
        y[i] *= 0x1p-400;
}

static wn_status prepare(struct qr *q, const struct history *h, struct observations *o)
{
    wn_status st = wni_observations_encode(h, wni_encode_tree, q->env->space->tree_width, &q->arena, o);
    if (st) return st;
    if (q->normalize) return normalise(&q->arena, o->y, o->n);
    scale_down(o->y, o->n);
    return WN_OK;
}

static wn_status fit(struct qr *q, const struct observations *o, struct rng *rng)
{
    struct quantile_options options = {
        .boost = {.trees = q->trees,
                  .depth = q->depth,
                  .rate = q->rate,
                  .min_leaf = 1,
                  .row_share = 1,
                  .column_share = 1},
        .levels = q->levels,
        .conformal = q->conformal,
        .holdout = q->holdout,
        .threshold = q->threshold,
    };
    return wni_quantile_fit(&q->model, o->x, o->y, o->n, q->env->space->tree_width, &options, rng);
}

/* ---- candidates ---- */

static uint8_t *draw_levels(struct qr *q, size_t n, struct rng *rng)
{
    uint8_t *level = arena_new(&q->arena, uint8_t, n);
    for (size_t i = 0; level && i < n; i++)
        level[i] = (uint8_t)wni_rng_below(rng, (uint64_t)q->levels);
    return level;
}

/* Scores the candidates that drew level j; the first of equally low ones wins. */
static wn_status score_level(struct qr *q, const struct candidates *c, const uint8_t *level, size_t j,
                             double *best, size_t *winner)
{
    const struct space *space = q->env->space;
    size_t n = 0, width = space->tree_width;
    uint32_t *who = arena_new(&q->arena, uint32_t, c->n);
    if (!who) return WN_ENOMEM;
    for (uint32_t i = 0; i < c->n; i++)
        if (level[i] == j) who[n++] = i;
    size_t stride = (n + BINS_BLOCK - 1) / BINS_BLOCK * BINS_BLOCK;
    double *rows = arena_new(&q->arena, double, n *width), *scores = arena_new(&q->arena, double, n);
    uint8_t *codes = arena_new(&q->arena, uint8_t, stride * width);
    if (!rows || !scores || !codes) return WN_ENOMEM;
    for (size_t i = 0; i < n; i++)
        wni_encode_tree(space, c->configs + who[i] * space->n, rows + i * width);
    wni_bins_encode(&q->model.bins, rows, n, codes, stride);
    wni_quantile_predict(&q->model, j, codes, stride, n, scores);
    for (size_t i = 0; i < n; i++) {
        if (scores[i] > *best || (scores[i] == *best && who[i] > *winner)) continue;
        *best = scores[i];
        *winner = who[i];
    }
    return WN_OK;
}

static wn_status suggest(void *self, const struct history *h, uint32_t trial, double *config, struct err *err)
{
    struct qr *q = self;
    const struct space *space = q->env->space;
    struct rng rng = wni_rng_stream(q->env->seed, trial, STREAM_SEARCH);
    struct observations o;
    struct candidates c;
    uint8_t *level;
    wni_arena_reset(&q->arena);
    if (wni_observations_choose(q->env, h, (size_t)q->max_fit, &rng, &q->arena, &o))
        return wni_fail_memory(err);
    if (o.n_observed < (size_t)q->initial || space->tree_width == 0)
        return wni_search_random(q->env, h, trial, config);
    if (prepare(q, h, &o) || fit(q, &o, &rng) ||
        wni_candidates_make(space, h, (size_t)q->candidates, q->duplicates, &rng, &q->arena, &c) ||
        !(level = draw_levels(q, c.n, &rng)))
        return wni_fail_memory(err);
    if (c.n == 0) return wni_search_random(q->env, h, trial, config);
    double best = INFINITY;
    size_t winner = SIZE_MAX;
    for (size_t j = 0; j < (size_t)q->levels; j++)
        if (score_level(q, &c, level, j, &best, &winner)) return wni_fail_memory(err);
    memcpy(config, c.configs + winner * space->n, space->n * sizeof *config);
    return WN_OK;
}

/* {"levels": [0.2, ...], "gamma": [...], "fitted": N, "held_out": N}: gamma of each pair of levels, outermost
 * first. */
static void describe(const void *self, struct buf *out)
{
    const struct quantile_model *m = &((const struct qr *)self)->model;
    double gamma[QUANTILE_LEVELS_MAX];
    if (!m->n_levels) return;
    for (size_t j = 0; j < m->n_levels / 2; j++)
        gamma[j] = wni_quantile_gamma(m, j);
    wni_buf_puts(out, "{\"levels\": ");
    wni_buf_json_doubles(out, m->level, m->n_levels);
    wni_buf_puts(out, ", \"gamma\": ");
    wni_buf_json_doubles(out, gamma, m->n_levels / 2);
    wni_buf_printf(out, ", \"fitted\": %zu, \"held_out\": %zu}", m->bins.n, m->n_held_out);
}

const struct searcher_ops wni_searcher_qr = {
    .name = "qr",
    .summary = "quantile regression with boosted trees, Thompson sampling",
    .state_size = sizeof(struct qr),
    .opts = qr_opts,
    .init = init,
    .suggest = suggest,
    .describe = describe,
    .release = release,
};

const struct searcher_ops wni_searcher_cqr = {
    .name = "cqr",
    .summary = "conformalized quantile regression with boosted trees, Thompson sampling",
    .state_size = sizeof(struct qr),
    .opts = cqr_opts,
    .init = init,
    .suggest = suggest,
    .describe = describe,
    .release = release,
};
