/* calibration.c -- draws observations of a task, fits a surrogate, scores its quantiles on the rest. */
#include "bench/calibration.h"

#include "base/clock.h"
#include "base/mem.h"
#include "core/encode.h"
#include "core/streams.h"
#include "num/linalg.h"
#include "num/portable.h"
#include "num/stats.h"
#include "surrogate/gp.h"
#include "surrogate/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 5, FRESH_TEST = 5000, LEAST_TEST = 10, GP_FIT_ROWS = 256, GP_BATCH = 64 };

/* Configurations with their final values, in random order: the first are for training. */
struct sample {
    bool unit; /* encoded for a Gaussian process, not for trees */
    enum surrogate_target target;
    size_t n, width;
    double *x, *y;
    struct arena arena;
};

/* ---- drawing ---- */

struct drawing {
    const struct blackbox *box;
    struct rng *rng;
    uint32_t *rows; /* a random order of the configurations that were run; NULL: draw from the space */
    double *config;
    void *curve;
    struct surrogate_draws *known; /* values of the first draws; NULL: none, and nobody wants them */
};

void wni_surrogate_draws_release(struct surrogate_draws *draws)
{
    free(draws->y);
    *draws = (struct surrogate_draws){0};
}

/* The value at the last level of one run. */
static wn_status final_value(const struct drawing *d, uint64_t seed, double *y, struct err *err)
{
    const struct blackbox *box = d->box;
    double seconds;
    memset(d->curve, 0, box->curve_size);
    wn_status st = box->ops->open_curve(box, d->config, seed, d->curve, err);
    if (st) return st;
    if (box->ops->last_value)
        *y = box->ops->last_value(box, d->curve);
    else
        box->ops->read_curve(box, d->curve, box->n_levels - 1, y, &seconds);
    return WN_OK;
}

/* The mean over the repeats of a table that did not diverge; NAN when all did. */
static wn_status mean_value(const struct drawing *d, double *y, struct err *err)
{
    double sum = 0, count = 0;
    wn_status st = WN_OK;
    for (uint64_t seed = 0; seed < d->box->n_seeds && !st; seed++) {
        double value = NAN;
        st = final_value(d, seed, &value, err);
        if (!isfinite(value)) continue;
        sum += value;
        count++;
    }
    *y = count > 0 ? sum / count : NAN;
    return st;
}

static wn_status find_value(const struct drawing *d, uint64_t seed, enum surrogate_target target, double *y,
                            struct err *err)
{
    return target == TARGET_AUTHORS && d->box->n_seeds > 1 ? mean_value(d, y, err)
                                                           : final_value(d, seed, y, err);
}

/* Draws come in order, so a value that is not known yet is the next one. */
static wn_status look_value_up(const struct drawing *d, size_t i, uint64_t seed, enum surrogate_target target,
                               double *y, struct err *err)
{
    struct surrogate_draws *known = d->known;
    if (!known) return find_value(d, seed, target, y, err);
    if (i == known->n) {
        if (!wni_reserve((void **)&known->y, &known->cap, known->n + 1, sizeof *known->y))
            return wni_fail_memory(err);
        wn_status st = find_value(d, seed, target, &known->y[i], err);
        if (st) return st;
        known->n++;
    }
    *y = known->y[i];
    return WN_OK;
}

/* Configuration number i and its value; not fine when the run diverged. */
static wn_status draw_one(const struct drawing *d, size_t i, const struct sample *s, double *x, double *y,
                          bool *fine, struct err *err)
{
    const struct blackbox *box = d->box;
    if (d->rows)
        box->ops->row_config(box, d->rows[i], d->config);
    else
        wni_config_sample(&box->space, d->rng, d->config);
    uint64_t seed = box->n_seeds > 1 ? wni_rng_below(d->rng, box->n_seeds) : wni_rng_u64(d->rng);
    wn_status st = look_value_up(d, i, seed, s->target, y, err);
    *fine = !st && isfinite(*y);
    if (!st) (s->unit ? wni_encode_unit : wni_encode_tree)(&box->space, d->config, x);
    return st;
}

static wn_status draw_sample(struct sample *s, const struct drawing *d, size_t available, struct err *err)
{
    wn_status st = WN_OK;
    s->width = s->unit ? d->box->space.unit_width : d->box->space.tree_width;
    s->x = arena_new(&s->arena, double, available * s->width);
    s->y = arena_new(&s->arena, double, available);
    if (!s->x || !s->y) return wni_fail_memory(err);
    for (size_t i = 0; i < available && !st; i++) {
        bool fine = false;
        st = draw_one(d, i, s, s->x + s->n * s->width, &s->y[s->n], &fine, err);
        s->n += fine;
    }
    return st;
}

/* ---- targets ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The transform of Salinas et al. 2020 (quantile-based transfer learning), with its cut of the tails.  Values
 * that are equal all get the lowest of their ranks; better and worse are not turned round. */
static void authors_scores(double *y, size_t n, double *sorted)
{
    double log_n = wni_log((double)n);
    double cut = 1 / (4 * wni_exp(0.25 * log_n) * sqrt(M_PI * log_n));
    memcpy(sorted, y, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    for (size_t i = 0; i < n; i++) {
        size_t low = 0, high = n; /* how many are strictly below */
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (sorted[middle] < y[i])
                low = middle + 1;
            else
                high = middle;
        }
        y[i] = wni_normal_quantile(fmin(fmax((double)low / (double)n, cut), 1 - cut));
    }
}

static void standardise(double *y, size_t n)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += y[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (y[i] - mean) * (y[i] - mean) / (double)n;
    for (size_t i = 0; i < n; i++)
        y[i] = squares > 0 ? (y[i] - mean) / sqrt(squares) : 0;
}

static wn_status logarithms(double *y, size_t n, const char *task, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!(y[i] > 0))
            return wni_fail(err, WN_EINVAL, "task '%s' has a value of %g: no logarithm of it", task, y[i]);
        y[i] = wni_log(y[i]);
    }
    standardise(y, n);
    return WN_OK;
}

static wn_status make_targets(struct sample *s, const struct blackbox *box, struct err *err)
{
    double *ranks = arena_new(&s->arena, double, s->n);
    uint32_t *work = arena_new(&s->arena, uint32_t, 2 * s->n);
    if (!ranks || !work) return wni_fail_memory(err);
    if (s->target == TARGET_LOG) return logarithms(s->y, s->n, box->name, err);
    if (s->target == TARGET_AUTHORS) {
        authors_scores(s->y, s->n, ranks);
        return WN_OK;
    }
    for (size_t i = 0; i < s->n && box->goal == WN_MAXIMIZE; i++)
        s->y[i] = -s->y[i];
    wni_normal_scores(s->y, s->n, ranks, work);
    return WN_OK;
}

static wn_status make_sample(struct sample *s, const struct blackbox *box, size_t n, struct rng *rng,
                             struct surrogate_draws *known, struct err *err)
{
    size_t available = box->n_rows ? box->n_rows : n + FRESH_TEST;
    struct drawing d = {.box = box, .rng = rng, .known = known};
    d.config = arena_new(&s->arena, double, box->space.n);
    d.curve = wni_arena_alloc(&s->arena, 1, box->curve_size);
    if (box->n_rows) d.rows = arena_new(&s->arena, uint32_t, available);
    if (!d.config || !d.curve || (box->n_rows && !d.rows)) return wni_fail_memory(err);
    if (d.rows) wni_rng_permutation(rng, d.rows, (uint32_t)available);
    wn_status st = draw_sample(s, &d, available, err);
    if (!st && s->n < n + LEAST_TEST)
        st = wni_fail(err, WN_EINVAL,
                      "task '%s' has %zu finished runs: too few to train on %zu and test on others",
                      box->name, s->n, n);
    if (!st) st = make_targets(s, box, err);
    return st;
}

/* ---- scoring ---- */

/* A model and its answer: quantiles[j * n_test + i] for the test rows. */
struct answer {
    double level[LEVELS];
    double *quantiles;
    size_t n_test;
};

static wn_status answer_by_trees(const struct sample *s, size_t n, bool conformal, struct rng *rng,
                                 struct arena *arena, struct quantile_model *m, struct answer *a)
{
    struct quantile_options options = {
        .boost = {.trees = 100, .depth = 3, .rate = 0.1, .min_leaf = 1, .row_share = 1, .column_share = 1},
        .levels = LEVELS,
        .conformal = conformal,
        .holdout = 0.1,
        .threshold = 32};
    size_t stride = (a->n_test + BINS_BLOCK - 1) / BINS_BLOCK * BINS_BLOCK;
    uint8_t *codes = arena_new(arena, uint8_t, stride * s->width);
    if (!codes) return WN_ENOMEM;
    wn_status st = wni_quantile_fit(m, s->x, s->y, n, s->width, &options, rng);
    if (st) return st;
    wni_bins_encode(&m->bins, s->x + n * s->width, a->n_test, codes, stride);
    for (size_t j = 0; j < LEVELS; j++) {
        a->level[j] = m->level[j];
        wni_quantile_predict(m, j, codes, stride, a->n_test, a->quantiles + j * a->n_test);
    }
    return WN_OK;
}

/* Hyperparameters from at most GP_FIT_ROWS rows, as the searcher has it; conditioned on all of them. */
static wn_status fit_process(const struct sample *s, size_t n, struct rng *rng, struct arena *arena,
                             struct gp_posterior *p)
{
    struct gp_data data = {.n = n < GP_FIT_ROWS ? n : GP_FIT_ROWS, .width = s->width, .x = s->x, .y = s->y};
    struct gp_fit_options options = {.evaluations = 60, .tolerance = 1e-4, .starts = 2};
    double *theta = arena_new(arena, double, wni_gp_slots(s->width, 0));
    if (!theta || wni_gp_fit(&data, 1, &options, rng, theta, arena) ||
        wni_gp_posterior_init(p, theta, &data, n, 1, arena))
        return WN_ENOMEM;
    wni_gp_posterior_factor(p, s->x, NULL, n);
    wni_gp_posterior_targets(p, s->y, n, 1, rng);
    return WN_OK;
}

/* Quantiles of a new observation: the noise is part of it. */
static wn_status answer_by_process(const struct sample *s, size_t n, struct rng *rng, struct arena *arena,
                                   struct answer *a)
{
    struct gp_posterior p;
    wni_linalg_one_thread();
    if (fit_process(s, n, rng, arena, &p)) return WN_ENOMEM;
    double *scratch = arena_new(arena, double, wni_gp_predict_scratch(&p, GP_BATCH));
    double mean[GP_BATCH], variance[GP_BATCH];
    if (!scratch) return WN_ENOMEM;
    for (size_t j = 0; j < LEVELS; j++)
        a->level[j] = (double)(j + 1) / (LEVELS + 1);
    for (size_t at = 0; at < a->n_test; at += GP_BATCH) {
        size_t m = a->n_test - at < GP_BATCH ? a->n_test - at : GP_BATCH;
        wni_gp_predict(&p, s->x + (n + at) * s->width, m, 0, mean, variance, scratch);
        for (size_t j = 0; j < LEVELS; j++)
            for (size_t i = 0; i < m; i++)
                a->quantiles[j * a->n_test + at + i] =
                    mean[i] + sqrt(variance[i] + p.noise) * wni_normal_quantile(a->level[j]);
    }
    return WN_OK;
}

/* Errors of the mean of the quantiles. */
static void score_mean(const double *quantiles, const double *y, size_t n, struct surrogate_score *out)
{
    double squares = 0, sizes = 0;
    for (size_t i = 0; i < n; i++) {
        double mean = 0;
        for (size_t j = 0; j < LEVELS; j++)
            mean += quantiles[j * n + i] / LEVELS;
        squares += (y[i] - mean) * (y[i] - mean);
        sizes += fabs(y[i] - mean);
    }
    out->rmse = sqrt(squares / (double)n);
    out->mae = sizes / (double)n;
}

static void score(const struct answer *a, const double *y, struct surrogate_score *out)
{
    const double *quantiles = a->quantiles, *levels = a->level;
    size_t n = a->n_test;
    double squares = 0, gaps = 0;
    for (size_t j = 0; j < LEVELS; j++) {
        size_t below = 0;
        for (size_t i = 0; i < n; i++)
            below += y[i] < quantiles[j * n + i];
        double gap = (double)below / (double)n - levels[j];
        squares += gap * gap;
        gaps += fabs(gap);
    }
    out->n_test = n;
    score_mean(quantiles, y, n, out);
    out->calibration = sqrt(squares);
    out->mean_gap = gaps / LEVELS;
}

static wn_status score_model(struct quantile_model *m, const struct blackbox *box,
                             const struct surrogate_case *c, struct surrogate_draws *draws,
                             struct surrogate_score *out, struct err *err)
{
    struct sample s = {.unit = c->model == SURROGATE_GP, .target = c->target};
    struct answer a = {.n_test = 0};
    struct rng rng = wni_rng_stream(c->seed, 0, STREAM_SEARCH);
    size_t n = c->n;
    wn_status st = make_sample(&s, box, n, &rng, draws, err);
    double began = wni_clock_seconds();
    if (!st) {
        a.n_test = s.n - n;
        a.quantiles = arena_new(&s.arena, double, LEVELS *a.n_test);
        if (!a.quantiles ||
            (s.unit ? answer_by_process(&s, n, &rng, &s.arena, &a)
                    : answer_by_trees(&s, n, c->model == SURROGATE_CQR, &rng, &s.arena, m, &a)))
            st = wni_fail_memory(err);
    }
    if (!st) score(&a, s.y + n, out);
    out->seconds = wni_clock_seconds() - began;
    wni_arena_release(&s.arena);
    return st;
}

wn_status wni_surrogate_score(const struct blackbox *box, const struct surrogate_case *c,
                              struct surrogate_draws *draws, struct surrogate_score *out, struct err *err)
{
    if (c->n < 2 || c->n > PINBALL_ROWS_MAX)
        return wni_fail(err, WN_EINVAL, "observations: expected 2 to %d, got %zu", PINBALL_ROWS_MAX, c->n);
    struct quantile_model *m = wni_new(struct quantile_model, 1);
    if (!m) return wni_fail_memory(err);
    wn_status st = score_model(m, box, c, draws, out, err);
    wni_quantile_release(m);
    free(m);
    return st;
}
