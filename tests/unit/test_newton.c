/* test_newton.c -- second-order boosting: every tree replayed and checked, and against XGBoost and
 * scikit-learn.
 *
 * Gains are sums of doubles, so two learners that add in another order may part where splits are equally
 * good.  The replay therefore does not grow trees of its own: it follows the ones at hand and checks in long
 * double that no split was better than the one taken, by more than rounding. */
#include "tests/unit/boost_world.h"

#include "surrogate/newton.h"
#include "tests/golden.h"
#include "tests/unit/boost_golden.h"

static const struct newton_options LOGISTIC =
    {/* XGBoost's defaults */
     .loss = LOSS_LOGISTIC,
     .boost = {.trees = 10, .depth = 6, .rate = 0.3, .min_leaf = 1, .row_share = 1, .column_share = 1},
     .lambda = 1,
     .min_child_weight = 1};

static const struct newton_options SQUARED =
    {/* scikit-learn's */
     .loss = LOSS_SQUARED,
     .boost = {.trees = 10, .depth = 3, .rate = 0.1, .min_leaf = 1, .row_share = 1, .column_share = 1},
     .lambda = 0,
     .min_child_weight = 0};

/* ---- the replay ---- */

struct replay {
    const struct table *t;
    const struct bins *bins;
    const struct newton_options *o;
    const struct forest *f;
    long double *margin, *g, *h;
    double *y;
    size_t *node;
    bool *in_sample, *in_use;
    const char *about;
};

struct sums {
    long double g, h;
    size_t n;
};

static struct sums sum_node(const struct replay *r, size_t node, size_t j, double above)
{
    struct sums s = {0};
    for (size_t i = 0; i < r->t->n; i++) {
        if (r->node[i] != node || !r->in_sample[i] || !(r->t->x[i * r->t->columns + j] > above)) continue;
        s.g += r->g[i];
        s.h += r->h[i];
        s.n++;
    }
    return s;
}

static bool allowed(const struct replay *r, struct sums s, long double slack)
{
    return s.n >= (size_t)r->o->boost.min_leaf && s.h >= (long double)r->o->min_child_weight + slack;
}

static long double score(const struct replay *r, struct sums s)
{
    return s.n ? s.g * s.g / (s.h + (long double)r->o->lambda) : 0;
}

/* What cutting the node gains; negative when a side is too small (by more than `slack`). */
static long double gain(const struct replay *r, size_t node, size_t j, double cut, long double slack)
{
    struct sums all = sum_node(r, node, j, -INFINITY), right = sum_node(r, node, j, cut);
    struct sums left = {all.g - right.g, all.h - right.h, all.n - right.n};
    if (!left.n || !right.n || !allowed(r, left, slack) || !allowed(r, right, slack)) return -1;
    return score(r, left) + score(r, right) - score(r, all);
}

static long double best_gain(const struct replay *r, size_t node, long double slack)
{
    long double best = 0;
    for (size_t j = 0; j < r->t->columns; j++)
        for (size_t b = 0; r->in_use[j] && b < r->bins->column[j].n_cuts; b++) {
            long double one = gain(r, node, j, r->bins->column[j].cuts[b], slack);
            if (one > best) best = one;
        }
    return best;
}

/* The gain below which a node is left alone. */
static long double least_gain(const struct replay *r)
{
    return r->o->loss == LOSS_LOGISTIC ? 1e-6L : 0;
}

static void check_split(const struct replay *r, size_t tree, size_t at)
{
    size_t n_splits = ((size_t)1 << r->f->depth) - 1;
    uint8_t cut = r->f->cuts[tree * n_splits + at];
    size_t j = r->f->features[tree * n_splits + at];
    struct sums all = sum_node(r, at, 0, -INFINITY);
    if (!all.n) {
        CHECK(cut == FOREST_NO_SPLIT, "%s, tree %zu, node %zu: an empty node is split", r->about, tree, at);
        return;
    }
    long double scale = 0; /* of what rounding may do to a gain */
    for (size_t i = 0; i < r->t->n; i++)
        if (r->node[i] == at && r->in_sample[i])
            scale += r->g[i] * r->g[i] / (r->h[i] + (long double)r->o->lambda);
    long double rounding = 2e-12L * scale + 1e-15L, best = best_gain(r, at, 1e-10L);
    if (cut == FOREST_NO_SPLIT) {
        CHECK(best <= least_gain(r) + rounding,
              "%s, tree %zu, node %zu of %zu rows: not split, could gain %Lg", r->about, tree, at, all.n,
              best);
        return;
    }
    CHECK(r->in_use[j], "%s, tree %zu: column %zu is not in use", r->about, tree, j);
    long double got = gain(r, at, j, r->bins->column[j].cuts[cut], -1e-10L);
    CHECK(got >= best - rounding, "%s, tree %zu, node %zu: gains %Lg where %Lg is possible", r->about, tree,
          at, got, best);
    CHECK(got > least_gain(r) - rounding, "%s, tree %zu, node %zu: gains %Lg", r->about, tree, at, got);
}

static void descend(const struct replay *r, size_t tree, size_t at)
{
    size_t n_splits = ((size_t)1 << r->f->depth) - 1, j = r->f->features[tree * n_splits + at];
    uint8_t cut = r->f->cuts[tree * n_splits + at];
    for (size_t i = 0; i < r->t->n; i++) {
        if (r->node[i] != at) continue;
        bool right = cut != FOREST_NO_SPLIT && r->t->x[i * r->t->columns + j] > r->bins->column[j].cuts[cut];
        r->node[i] = 2 * at + 1 + right;
    }
}

static void check_leaves(const struct replay *r, size_t tree)
{
    size_t n_splits = ((size_t)1 << r->f->depth) - 1;
    const double *leaves = r->f->leaves + tree * (n_splits + 1);
    for (size_t k = 0; k <= n_splits; k++) {
        struct sums s = sum_node(r, n_splits + k, 0, -INFINITY);
        long double leaf = s.n ? (long double)r->o->boost.rate * -s.g / (s.h + (long double)r->o->lambda) : 0;
        CHECK(fabsl((long double)leaves[k] - leaf) <= 1e-11L * (1 + fabsl(leaf)),
              "%s, tree %zu, leaf %zu: %.17g, expected %.17Lg", r->about, tree, k, leaves[k], leaf);
    }
    for (size_t i = 0; i < r->t->n; i++)
        r->margin[i] += (long double)leaves[r->node[i] - n_splits];
}

static void derive(const struct replay *r)
{
    for (size_t i = 0; i < r->t->n; i++) {
        if (r->o->loss == LOSS_SQUARED) {
            r->g[i] = r->margin[i] - (long double)r->y[i];
            r->h[i] = 1;
        } else {
            long double p = 1 / (1 + expl(-r->margin[i]));
            r->g[i] = p - (long double)r->y[i];
            r->h[i] = p * (1 - p);
        }
    }
}

static double mean_of(const double *y, size_t n)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (long double)y[i];
    return (double)(sum / (long double)n);
}

/* Fits and replays. */
static void check_fit(const struct table *t, const struct newton_options *o, uint64_t seed, const char *about)
{
    struct arena arena = {0};
    struct forest f;
    struct rng rng = wni_rng_stream(seed, 0, 7), again = rng;
    struct bins bins = table_bins(t->x, t->n, t->columns, &arena);
    CHECK_INT(wni_newton_fit(&f, &bins, t->y, o, &rng, &arena, &arena), WN_OK);
    struct replay r = {.t = t, .bins = &bins, .o = o, .f = &f, .y = t->y, .about = about};
    r.margin = arena_new(&arena, long double, t->n);
    r.g = arena_new(&arena, long double, t->n);
    r.h = arena_new(&arena, long double, t->n);
    r.node = arena_new(&arena, size_t, t->n);
    r.in_sample = arena_new(&arena, bool, t->n);
    r.in_use = arena_new(&arena, bool, t->columns);
    CHECK_NEAR(f.start, o->loss == LOSS_LOGISTIC ? 0 : mean_of(t->y, t->n), 1e-12 * (1 + fabs(f.start)));
    for (size_t i = 0; i < t->n; i++)
        r.margin[i] = (long double)f.start;
    for (size_t tree = 0; tree < (size_t)o->boost.trees; tree++) {
        derive(&r);
        table_draw(&again, r.in_sample, t->n, o->boost.row_share, &arena);
        table_draw(&again, r.in_use, t->columns, o->boost.column_share, &arena);
        memset(r.node, 0, t->n * sizeof *r.node);
        for (size_t at = 0; at < ((size_t)1 << f.depth) - 1; at++) {
            check_split(&r, tree, at);
            descend(&r, tree, at);
        }
        check_leaves(&r, tree);
    }
    wni_arena_release(&arena);
}

static void check_random(enum newton_loss loss, uint64_t seed, int n_max)
{
    static const double lambdas[] = {0, 1, 1, 10}, weights[] = {0, 1, 1, 5}, shares[] = {1, 1, 1, 0.7};
    struct rng rng = wni_rng_stream(seed, loss, 1);
    struct arena arena = {0};
    char about[40];
    struct table t =
        table_random(&rng, (size_t)check_between(&rng, 1, n_max), (size_t)check_between(&rng, 1, 6),
                     N_COLUMN_KINDS, (enum target_kind)wni_rng_below(&rng, TARGET_OUTLIERS), &arena);
    struct newton_options o = loss == LOSS_LOGISTIC ? LOGISTIC : SQUARED;
    o.boost.trees = 4;
    o.boost.depth = check_between(&rng, 1, 6);
    o.boost.min_leaf = check_chance(&rng, 60) ? 1 : check_between(&rng, 2, 10);
    o.boost.row_share = shares[wni_rng_below(&rng, 4)];
    o.boost.column_share = shares[wni_rng_below(&rng, 4)];
    o.lambda = lambdas[wni_rng_below(&rng, 4)];
    o.min_child_weight = weights[wni_rng_below(&rng, 4)];
    for (size_t i = 0; loss == LOSS_LOGISTIC && i < t.n; i++)
        t.y[i] = t.y[i] > 0.4;
    snprintf(about, sizeof about, "seed %llu", (unsigned long long)seed);
    check_fit(&t, &o, seed, about);
    wni_arena_release(&arena);
}

static void logistic_trees_are_greedy(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 250; seed++)
        check_random(LOSS_LOGISTIC, seed, seed % 4 ? 40 : 150);
}

static void squared_trees_are_greedy(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 250; seed++)
        check_random(LOSS_SQUARED, seed, seed % 4 ? 40 : 150);
}

/* ---- properties ---- */

static void ties_go_to_the_lowest_feature_and_cut(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        struct arena arena = {0};
        const double x[] = {3, 0, 0, 0, 3, 1, 1, 1, 3, 2, 2, 2, 3, 3, 3, 3}, y[] = {1, 0, 0, 1};
        struct newton_options o = loss ? SQUARED : LOGISTIC;
        struct rng rng = wni_rng_stream(1, 0, 1);
        struct forest f;
        o.boost.trees = o.boost.depth = 1;
        o.min_child_weight = 0;
        struct bins bins = table_bins(x, 4, 4, &arena);
        CHECK_INT(wni_newton_fit(&f, &bins, y, &o, &rng, &arena, &arena), WN_OK);
        CHECK_INT(f.features[0], 1);
        CHECK_INT(f.cuts[0], 0); /* cutting off the last row is as good */
        wni_arena_release(&arena);
    }
}

/* Mirrored columns part the rows alike; adding up from the other side must not make one look better. */
static void a_tie_is_not_decided_by_rounding(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct arena arena = {0};
        struct rng rng = wni_rng_stream(6, seed, 1);
        struct table t = table_random(&rng, 100, 2, COLUMN_NORMAL, TARGET_NORMAL, &arena);
        struct newton_options o = seed % 2 ? SQUARED : LOGISTIC;
        struct forest f;
        for (size_t i = 0; i < t.n; i++) {
            t.x[2 * i + 1] = -t.x[2 * i];
            if (o.loss == LOSS_LOGISTIC) t.y[i] = t.y[i] > 0;
        }
        struct bins bins = table_bins(t.x, t.n, 2, &arena);
        CHECK_INT(wni_newton_fit(&f, &bins, t.y, &o, &rng, &arena, &arena), WN_OK);
        for (int k = 0; k < o.boost.trees * ((1 << o.boost.depth) - 1); k++)
            CHECK(f.cuts[k] == FOREST_NO_SPLIT || f.features[k] == 0, "seed %d: split %d takes column %d",
                  (int)seed, k, f.features[k]);
        wni_arena_release(&arena);
    }
}

/* The squared loss does not care about the unit of y. */
static void squared_trees_scale_with_the_targets(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(2, 0, 1);
    struct table t = table_random(&rng, 120, 4, COLUMN_NORMAL, TARGET_SIGNAL, &arena);
    struct forest f, scaled;
    double y[120];
    struct bins bins = table_bins(t.x, t.n, t.columns, &arena);
    CHECK_INT(wni_newton_fit(&f, &bins, t.y, &SQUARED, &rng, &arena, &arena), WN_OK);
    for (int e = -60; e <= 60; e += 20) { /* powers of two: not even the rounding changes */
        for (size_t i = 0; i < t.n; i++)
            y[i] = ldexp(t.y[i], e);
        CHECK_INT(wni_newton_fit(&scaled, &bins, y, &SQUARED, &rng, &arena, &arena), WN_OK);
        for (int i = 0; i < 10 * 7; i++)
            CHECK(scaled.features[i] == f.features[i] && scaled.cuts[i] == f.cuts[i],
                  "2^%d, split %d: %d %d, expected %d %d", e, i, scaled.features[i], scaled.cuts[i],
                  f.features[i], f.cuts[i]);
        for (int i = 0; i < 10 * 8; i++)
            CHECK_DOUBLE(scaled.leaves[i], ldexp(f.leaves[i], e));
    }
    wni_arena_release(&arena);
}

static void one_class_and_constant_targets(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(3, 0, 1);
    struct table t = table_random(&rng, 50, 3, COLUMN_NORMAL, TARGET_CONSTANT, &arena);
    struct forest f;
    double out[50];
    struct bins bins = table_bins(t.x, t.n, t.columns, &arena);
    uint8_t *codes = table_codes(&bins, t.x, t.n, &arena);
    CHECK_INT(wni_newton_fit(&f, &bins, t.y, &SQUARED, &rng, &arena, &arena), WN_OK);
    wni_forest_predict(&f, codes, bins.stride, t.n, out, SIMD_NONE);
    for (int i = 0; i < 50; i++)
        CHECK_NEAR(out[i], 0.1, 1e-15);
    for (int class = 0; class < 2; class ++) {
        for (int i = 0; i < 50; i++)
            t.y[i] = class;
        CHECK_INT(wni_newton_fit(&f, &bins, t.y, &LOGISTIC, &rng, &arena, &arena), WN_OK);
        wni_forest_predict(&f, codes, bins.stride, t.n, out, SIMD_NONE);
        for (int i = 0; i < 50; i++)
            CHECK(class ? out[i] > 2 && out[i] < 20 : out[i] < -2 && out[i] > -20, "class %d: log odds %g",
                  class, out[i]);
    }
    wni_arena_release(&arena);
}

/* A certain row has no curvature left; nothing may become infinite. */
static void many_trees_stay_finite(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(4, 0, 1);
    struct table t = table_random(&rng, 60, 2, COLUMN_NORMAL, TARGET_NORMAL, &arena);
    struct newton_options o = LOGISTIC;
    struct forest f;
    double out[60];
    for (int i = 0; i < 60; i++)
        t.y[i] = t.x[2 * i] > 0;
    o.boost.trees = 2000;
    o.boost.rate = 1;
    o.lambda = o.min_child_weight = 0;
    struct bins bins = table_bins(t.x, t.n, t.columns, &arena);
    CHECK_INT(wni_newton_fit(&f, &bins, t.y, &o, &rng, &arena, &arena), WN_OK);
    wni_forest_predict(&f, table_codes(&bins, t.x, t.n, &arena), bins.stride, t.n, out, SIMD_NONE);
    for (int i = 0; i < 60; i++)
        CHECK(isfinite(out[i]) && (out[i] > 10) == (t.y[i] > 0.5), "row %d of class %g: log odds %g", i,
              t.y[i], out[i]);
    wni_arena_release(&arena);
}

static void the_boosting_loop_allocates_nothing(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(5, 0, 1);
    struct table t = table_random(&rng, 200, 5, N_COLUMN_KINDS, TARGET_NORMAL, &arena);
    size_t used[2];
    for (size_t i = 0; i < t.n; i++)
        t.y[i] = t.y[i] > 0;
    struct bins bins = table_bins(t.x, t.n, t.columns, &arena);
    for (int i = 0; i < 2; i++) {
        struct arena keep = {0}, scratch = table_roomy(1 << 20);
        struct newton_options o = LOGISTIC;
        struct forest f;
        o.boost.trees = i ? 50 : 1;
        CHECK_INT(wni_newton_fit(&f, &bins, t.y, &o, &rng, &keep, &scratch), WN_OK);
        used[i] = scratch.used;
        wni_arena_release(&keep);
        wni_arena_release(&scratch);
    }
    CHECK_INT(used[1], used[0]);
    wni_arena_release(&arena);
}

/* ---- against others ---- */

static double probability(double log_odds)
{
    return 1 / (1 + wni_exp(-log_odds));
}

/* The share of pairs of different classes that are in the right order; equal scores count half. */
static double area_under_curve(const double *score, const double *y, size_t n)
{
    double right = 0, pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            if (!(y[i] > y[k])) continue;
            pairs++;
            right += score[i] > score[k] ? 1 : score[i] == score[k] ? 0.5 : 0;
        }
    return right / pairs;
}

static void fit_golden(const struct golden_table *t, const struct newton_options *o, double *out)
{
    struct arena arena = {0};
    struct forest f;
    struct rng rng = wni_rng_stream(1, 0, 1);
    size_t m = t->n + t->m;
    struct bins bins = table_bins(t->x, t->n, t->columns, &arena);
    CHECK_INT(wni_newton_fit(&f, &bins, t->y, o, &rng, &arena, &arena), WN_OK);
    wni_forest_predict(&f, table_codes(&bins, t->x, m, &arena), table_stride(m), m, out, table_best_simd());
    wni_arena_release(&arena);
}

/* Probabilities of held-out rows and areas under the curve, as XGBoost computes them.  Training rows get the
 * same sums; between them a cut may lie elsewhere, so a few held-out rows end up in another leaf. */
static void agrees_with_xgboost(void **state)
{
    (void)state;
    struct golden g = golden_open("tests/golden/gbt_logistic.txt");
    struct golden_table t = {0};
    int tables = 0;
    while (golden_table_next(&g, &t)) {
        struct newton_options o = LOGISTIC;
        double *out = calloc(t.n + t.m, sizeof *out), worst = 0, mean = 0;
        assert_non_null(out);
        o.boost.trees = 100;
        fit_golden(&t, &o, out);
        golden_expect(&g, "probabilities", t.m);
        for (size_t i = 0; i < t.m; i++) {
            double gap = fabs(probability(out[t.n + i]) - g.v[i]);
            worst = fmax(worst, gap);
            mean += gap / (double)t.m;
        }
        golden_expect(&g, "auc", 1);
        double auc = area_under_curve(out + t.n, t.y + t.n, t.m);
        CHECK(mean <= 0.01, "table %d, %zu rows: probabilities are %g off on average, %g at worst", tables,
              t.n, mean, worst);
        CHECK(fabs(auc - g.v[0]) <= 0.01, "table %d, %zu rows: area %g, expected %g", tables, t.n, auc,
              g.v[0]);
        free(out);
        tables++;
    }
    CHECK(tables >= 6, "only %d tables", tables);
    golden_table_release(&t);
    golden_close(&g);
}

/* Splits that part the training rows alike differ between them only, so there the function is the same; where
 * such ties put the cuts is chance, so held-out losses are compared on average. */
static void agrees_with_scikit_learn(void **state)
{
    (void)state;
    struct golden g = golden_open("tests/golden/gbt_squared.txt");
    struct golden_table t = {0};
    int tables = 0;
    double ratio = 0;
    while (golden_table_next(&g, &t)) {
        struct newton_options o = SQUARED;
        double *out = calloc(t.n + t.m, sizeof *out), loss = 0;
        assert_non_null(out);
        golden_expect(&g, "trees", 1);
        o.boost.trees = (int)g.v[0];
        fit_golden(&t, &o, out);
        golden_expect(&g, "fit", t.n);
        for (size_t i = 0; i < t.n; i++)
            CHECK(fabs(out[i] - g.v[i]) <= 1e-9 * (1 + fabs(g.v[i])),
                  "table %d, %zu rows, row %zu: %.12g, expected %.12g", tables, t.n, i, out[i], g.v[i]);
        golden_expect(&g, "loss", 1);
        for (size_t i = t.n; i < t.n + t.m; i++)
            loss += (out[i] - t.y[i]) * (out[i] - t.y[i]) / (double)t.m;
        CHECK(loss <= 1.1 * g.v[0], "table %d, %zu rows: held-out loss %g, expected %g", tables, t.n, loss,
              g.v[0]);
        ratio += loss / g.v[0];
        free(out);
        tables++;
    }
    CHECK(tables >= 6, "only %d tables", tables);
    CHECK(ratio <= 1.01 * tables, "held-out losses are %g of scikit-learn's", ratio / tables);
    golden_table_release(&t);
    golden_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logistic_trees_are_greedy),
        cmocka_unit_test(squared_trees_are_greedy),
        cmocka_unit_test(ties_go_to_the_lowest_feature_and_cut),
        cmocka_unit_test(a_tie_is_not_decided_by_rounding),
        cmocka_unit_test(squared_trees_scale_with_the_targets),
        cmocka_unit_test(one_class_and_constant_targets),
        cmocka_unit_test(many_trees_stay_finite),
        cmocka_unit_test(the_boosting_loop_allocates_nothing),
        cmocka_unit_test(agrees_with_xgboost),
        cmocka_unit_test(agrees_with_scikit_learn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
