/* test_gp.c -- the Gaussian process: against scikit-learn and dense NumPy, gradients against differences,
 * factors that grow against factors made at once, and what fantasies and samples are distributed like. */
#include "tests/check.h"
#include "tests/golden.h"

#include "num/linalg.h"
#include "num/portable.h"
#include "surrogate/ei.h"

/* ---- cases: random ones, and those of the reference ---- */

enum { ROWS_MAX = 64, WIDTH_MAX = 8, SLOTS_MAX = WIDTH_MAX + 6, LEVELS = 4 };

struct sample {
    struct gp_data data;
    double x[ROWS_MAX * WIDTH_MAX], y[ROWS_MAX], resource[LEVELS + 1], theta[SLOTS_MAX];
    uint8_t level[ROWS_MAX];
    double tx[ROWS_MAX * WIDTH_MAX];
    size_t n_test, test_level;
};

static void sample_random(struct sample *s, struct rng *rng, size_t n, size_t width, size_t n_levels)
{
    *s = (struct sample){.n_test = 10};
    s->data = (struct gp_data){n, width, s->x, s->y, s->level, s->resource, n_levels};
    for (size_t i = 0; i < n * width; i++)
        s->x[i] = wni_rng_uniform(rng);
    for (size_t i = 0; i < s->n_test * width; i++)
        s->tx[i] = wni_rng_uniform(rng);
    for (size_t k = 0; k < n_levels; k++)
        s->resource[k] = (double)(k + 1) / (double)n_levels;
    for (size_t i = 0; i < n; i++) {
        s->level[i] = n_levels ? (uint8_t)wni_rng_below(rng, n_levels) : 0;
        s->y[i] = wni_sin(6 * s->x[i * width]) + 0.3 * wni_rng_normal(rng);
    }
    for (size_t k = 0; k < wni_gp_slots(width, n_levels); k++)
        s->theta[k] = 0.5 * wni_rng_normal(rng);
    s->theta[wni_gp_slot_noise(width)] -= 3;
}

static double likelihood(const struct sample *s, const double *theta, double *gradient, struct arena *arena)
{
    struct gp_work work;
    assert_int_equal(
        wni_gp_work_init(&work, s->data.n + arena->used % 3, s->data.width, s->data.n_levels, arena), WN_OK);
    return wni_gp_likelihood(&work, &s->data, theta, gradient);
}

static void posterior(struct gp_posterior *p, const struct sample *s, size_t cap, size_t columns,
                      struct arena *arena)
{
    assert_int_equal(wni_gp_posterior_init(p, s->theta, &s->data, cap, columns, arena), WN_OK);
}

static double *room(struct arena *arena, size_t n)
{
    double *p = arena_new(arena, double, n);
    assert_non_null(p);
    return p;
}

/* ---- against other implementations ---- */

static void take(const struct golden *g, double *to, size_t n)
{
    CHECK(g->n == n, "%s:%d: %zu numbers, expected %zu", g->path, g->line, g->n, n);
    memcpy(to, g->v, n * sizeof *to);
}

static void near_enough(const struct golden *g, double got, double want)
{
    CHECK(fabs(got - want) <= 1e-8 * fmax(1, fabs(want)), "%s:%d (%s): got %.17g, want %.17g", g->path,
          g->line, g->tag, got, want);
}

/* The factor squared is the kernel matrix. */
static void check_kernel(const struct golden *g, const struct sample *s, struct arena *arena)
{
    struct gp_posterior p;
    size_t n = s->data.n;
    posterior(&p, s, n, 1, arena);
    wni_gp_posterior_factor(&p, s->x, s->data.n_levels ? s->level : NULL, n);
    CHECK_DOUBLE(p.jitter, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k <= j; k++)
                sum += p.l[k * p.stride + i] * p.l[k * p.stride + j];
            near_enough(g, sum, g->v[i * n + j]);
        }
}

static void check_posterior(const struct golden *g, const struct sample *s, bool want_mean,
                            struct arena *arena)
{
    struct gp_posterior p;
    struct rng rng = wni_rng_stream(0, 0, 0);
    posterior(&p, s, s->data.n, 1, arena);
    wni_gp_posterior_factor(&p, s->x, s->data.n_levels ? s->level : NULL, s->data.n);
    wni_gp_posterior_targets(&p, s->y, s->data.n, 1, &rng);
    double *mean = room(arena, s->n_test), *variance = room(arena, s->n_test);
    wni_gp_predict(&p, s->tx, s->n_test, s->test_level, mean, variance,
                   room(arena, wni_gp_predict_scratch(&p, s->n_test)));
    for (size_t i = 0; i < s->n_test; i++)
        near_enough(g, want_mean ? mean[i] : variance[i], g->v[i]);
}

static void check_line(const struct golden *g, struct sample *s, struct arena *arena)
{
    size_t n = s->data.n, width = s->data.width, slots = wni_gp_slots(width, s->data.n_levels);
    double gradient[SLOTS_MAX];
    if (golden_is(g, "x")) take(g, s->x, n * width);
    if (golden_is(g, "y")) take(g, s->y, n);
    if (golden_is(g, "resource")) take(g, s->resource, s->data.n_levels);
    if (golden_is(g, "theta")) take(g, s->theta, slots);
    if (golden_is(g, "tx")) take(g, s->tx, s->n_test * width);
    if (golden_is(g, "tlevel")) s->test_level = (size_t)g->v[0];
    for (size_t i = 0; golden_is(g, "level") && i < n; i++)
        s->level[i] = (uint8_t)g->v[i];
    if (golden_is(g, "kernel")) check_kernel(g, s, arena);
    if (golden_is(g, "nll")) near_enough(g, likelihood(s, s->theta, NULL, arena), g->v[0]);
    if (golden_is(g, "mean")) check_posterior(g, s, true, arena);
    if (golden_is(g, "variance")) check_posterior(g, s, false, arena);
    if (!golden_is(g, "gradient")) return;
    likelihood(s, s->theta, gradient, arena);
    for (size_t k = 0; k < slots; k++)
        near_enough(g, gradient[k], g->v[k]);
}

static void agrees_with_others(void **state)
{
    (void)state;
    struct golden g = golden_open("tests/golden/gp.txt");
    struct sample s = {0};
    int cases = 0;
    while (golden_next(&g)) {
        struct arena arena = {0};
        if (golden_is(&g, "case")) {
            s.data = (struct gp_data){(size_t)g.v[0], (size_t)g.v[1], s.x,           s.y,
                                      s.level,        s.resource,     (size_t)g.v[2]};
            s.n_test = (size_t)g.v[3];
            cases++;
        } else {
            check_line(&g, &s, &arena);
        }
        wni_arena_release(&arena);
    }
    CHECK_INT(cases, 6);
    golden_close(&g);
}

/* ---- the kernel ---- */

/* In long double, from the formula. */
static double slow_matern(double s)
{
    long double t = sqrtl((long double)s);
    return (double)((1 + t + (long double)s / 3) * expl(-t));
}

static void kernel_is_accurate_and_the_same_everywhere(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(3, 0, 0);
    enum { N = 1000, STRIDE = 1000 };
    static double x[STRIDE], value[2][STRIDE], slope[2][STRIDE];
    for (size_t i = 0; i < N; i++)
        x[i] = i == 0 ? 0 : check_magnitude(&rng, -12, 2.8);
    struct matern_points points = {x, N, 1, STRIDE};
    for (int simd = SIMD_NONE; simd <= (int)wni_simd_pick(); simd++) {
        int to = simd > SIMD_NONE;
        wni_matern(&points, 0, (double[]){0}, 1, value[to], slope[to], (enum simd)simd);
        for (size_t i = 0; i < N; i++) {
            CHECK_DOUBLE(value[to][i], value[0][i]);
            CHECK_DOUBLE(slope[to][i], slope[0][i]);
        }
    }
    for (size_t i = 0; i < N; i++) {
        double want = slow_matern(x[i] * x[i]);
        CHECK(fabs(value[0][i] - want) <= 2e-15 * want * fmax(1, x[i]), "at %g: %.17g, want %.17g", x[i],
              value[0][i], want);
    }
    CHECK_DOUBLE(value[0][0], 1);
}

/* Columns in bulk are those one by one: to the bit with few columns of a point, to rounding with many, where
 * duplicates are still at distance 0 and the diagonal is exact. */
static void columns_in_bulk(void **state)
{
    (void)state;
    enum { N = 21, M = 5, STRIDE = 24, WIDEST = 70 };
    static const size_t widths[] = {1, 9, 31, 32, WIDEST};
    static double x[STRIDE * WIDEST], points[M * WIDEST], squares[STRIDE + WIDEST], k[STRIDE * STRIDE],
        slope[STRIDE * STRIDE], point[WIDEST], one[STRIDE], one_slope[STRIDE];
    struct rng rng = wni_rng_stream(5, 0, 0);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        size_t width = widths[w];
        double near = width < 32 ? 0 : 1e-12;
        struct matern_points rows = {x, N, width, STRIDE};
        for (size_t d = 0; d < width; d++) {
            for (size_t i = 0; i < N; i++)
                x[d * STRIDE + i] = i == 7 ? x[d * STRIDE + 3] : 2 * wni_rng_uniform(&rng);
            for (size_t j = 0; j < M; j++)
                points[j * width + d] = j == 2 ? x[d * STRIDE + 9] : 2 * wni_rng_uniform(&rng);
        }
        wni_gp_square_lengths(&rows, squares);
        wni_gp_kernel_with(&rows, squares, points, M, 1.5, k, wni_simd_pick());
        for (size_t j = 0; j < M; j++) {
            wni_matern(&rows, 0, points + j * width, 1.5, one, NULL, wni_simd_pick());
            for (size_t i = 0; i < N; i++)
                CHECK_NEAR(k[j * STRIDE + i], one[i], near);
        }
        wni_gp_kernel_of(&rows, 1.5, squares, k, slope, wni_simd_pick());
        for (size_t j = 0; j < N; j++) {
            for (size_t d = 0; d < width; d++)
                point[d] = x[d * STRIDE + j];
            wni_matern(&rows, 0, point, 1.5, one, one_slope, wni_simd_pick());
            CHECK_DOUBLE(k[j * STRIDE + j], 1.5);
            for (size_t i = j; i < N; i++) {
                CHECK_NEAR(k[j * STRIDE + i], one[i], near);
                CHECK_NEAR(slope[j * STRIDE + i], one_slope[i], near);
            }
        }
    }
}

/* ---- gradients ---- */

static void likelihood_gradient(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 0);
        struct arena arena = {0};
        struct sample s;
        size_t n_levels = seed % 3 ? (size_t)check_between(&rng, 1, LEVELS) : 0;
        sample_random(&s, &rng, (size_t)check_between(&rng, 1, 40), (size_t)check_between(&rng, 1, WIDTH_MAX),
                      n_levels);
        double gradient[SLOTS_MAX], theta[SLOTS_MAX], step = 1e-5;
        likelihood(&s, s.theta, gradient, &arena);
        for (size_t k = 0; k < wni_gp_slots(s.data.width, n_levels); k++) {
            memcpy(theta, s.theta, sizeof theta);
            theta[k] += step;
            double above = likelihood(&s, theta, NULL, &arena);
            theta[k] -= 2 * step;
            double below = likelihood(&s, theta, NULL, &arena);
            CHECK_NEAR(gradient[k], (above - below) / (2 * step), 1e-5 * (1 + fabs(gradient[k])));
        }
        wni_arena_release(&arena);
    }
}

static void improvement_gradient(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct rng rng = wni_rng_stream(seed, 1, 0);
        struct arena arena = {0};
        struct sample s[2];
        struct gp_posterior p[2];
        size_t width = (size_t)check_between(&rng, 1, WIDTH_MAX), columns = 1 + seed % 4;
        struct gp_member members[2] = {{&p[0], 0.7, 0}, {&p[1], 0.3, 0}};
        for (int k = 0; k < 2; k++) {
            sample_random(&s[k], &rng, 20, width, k || seed % 2 ? 0 : LEVELS);
            posterior(&p[k], &s[k], 20, columns, &arena);
            wni_gp_posterior_factor(&p[k], s[k].x, s[k].level, 20);
            wni_gp_posterior_targets(&p[k], s[k].y, 17, columns, &rng);
        }
        members[0].level = s[0].data.n_levels ? LEVELS - 1 : 0;
        struct ei ei;
        double incumbent[4] = {-0.5, -0.4, -0.6, 0}, gradient[WIDTH_MAX], other[WIDTH_MAX], step = 1e-6;
        assert_int_equal(wni_ei_init(&ei, members, 1 + seed % 2, incumbent, 0.01, &arena), WN_OK);
        for (size_t t = 0; t < 5; t++) {
            double *x = s[0].tx + t * width, score;
            double value = wni_ei_minus_log(&ei, x, gradient);
            wni_ei_scores(&ei, x, 1, &score);
            CHECK_NEAR(-wni_log(score), value, 1e-9 * fmax(1, fabs(value)));
            for (size_t d = 0; d < width; d++) {
                x[d] += step;
                double above = wni_ei_minus_log(&ei, x, other);
                x[d] -= 2 * step;
                double below = wni_ei_minus_log(&ei, x, other);
                x[d] += step;
                CHECK_NEAR(gradient[d], (above - below) / (2 * step), 1e-4 * (1 + fabs(gradient[d])));
            }
        }
        wni_arena_release(&arena);
    }
}

/* ---- expected improvement ---- */

static void no_variance_is_above_the_prior(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(12, 1, 0);
    struct arena arena = {0};
    struct sample s[2];
    struct gp_posterior p[2];
    struct gp_member members[2] = {{&p[0], 0.8, LEVELS - 1}, {&p[1], 0.2, 0}};
    struct ei ei;
    double incumbent[1] = {0}, mean, variance, far[3] = {1e6, -1e6, 1e6};
    for (int k = 0; k < 2; k++) {
        sample_random(&s[k], &rng, 20, 3, k ? 0 : LEVELS);
        posterior(&p[k], &s[k], 20, 1, &arena);
        wni_gp_posterior_factor(&p[k], s[k].x, s[k].level, 20);
        wni_gp_posterior_targets(&p[k], s[k].y, 20, 1, &rng);
    }
    for (size_t n_members = 1; n_members <= 2; n_members++) {
        assert_int_equal(wni_ei_init(&ei, members, n_members, incumbent, 0.01, &arena), WN_OK);
        double prior = wni_ei_prior(&ei), curve = p[0].curve.cov[LEVELS * LEVELS - 1];
        for (size_t i = 0; i < 20; i++) {
            wni_ei_predict(&ei, s[0].x + 3 * i, 1, &mean, &variance);
            assert_true(variance < prior);
        }
        /* far from all rows only what they tell of learning curves is known */
        wni_ei_predict(&ei, far, 1, &mean, &variance);
        assert_true(variance <= prior && variance >= prior - 0.8 * curve);
    }
    wni_arena_release(&arena);
}

static void improvement_by_sampling(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(9, 0, 0);
    double by_mean, by_deviation;
    for (double mean = -2; mean <= 2; mean += 0.5) {
        double sum = 0, draws = 40000, deviation = 0.7;
        for (int i = 0; i < draws; i++)
            sum += fmax(0, -(mean + deviation * wni_rng_normal(&rng)));
        double ei = wni_expected_improvement(mean, deviation, &by_mean, &by_deviation);
        CHECK_NEAR(ei, sum / draws, 0.02);
        CHECK(ei > 0 && by_mean < 0 && by_mean > -1 && by_deviation > 0, "%g %g %g", ei, by_mean,
              by_deviation);
        CHECK(ei >= -mean && ei >= wni_expected_improvement(mean + 0.1, deviation, &by_mean, &by_deviation),
              "%g at mean %g", ei, mean);
    }
    CHECK(wni_expected_improvement(5, 1e-6, &by_mean, &by_deviation) == 0,
          "a certain loss promises something");
}

/* ---- factors ---- */

static void appending_is_factoring(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rng rng = wni_rng_stream(seed, 2, 0);
        struct arena arena = {0};
        struct sample s;
        struct gp_posterior whole, grown;
        size_t n = 30, first = (size_t)check_between(&rng, 0, 29), width = 4;
        sample_random(&s, &rng, n, width, seed % 2 ? LEVELS : 0);
        posterior(&whole, &s, n, 1, &arena);
        posterior(&grown, &s, n + 11, 1, &arena);
        wni_gp_posterior_factor(&whole, s.x, s.level, n);
        wni_gp_posterior_factor(&grown, s.x, s.level, first);
        for (size_t at = first, m; at < n; at += m) { /* one by one, or several; and back again */
            m = seed % 3 ? 1 : (n - at + 1) / 2;
            wni_gp_posterior_append(&grown, s.x + at * width, s.level + at, m);
            wni_gp_posterior_append(&grown, s.x, s.level, 3);
            wni_gp_posterior_cut(&grown, at + m);
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                CHECK_NEAR(grown.l[j * grown.stride + i], whole.l[j * whole.stride + i], 1e-10);
        wni_arena_release(&arena);
    }
}

/* Equal rows and hardly any noise: singular to rounding. */
static void duplicates_get_jitter(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(0, 3, 0);
    struct sample s;
    struct gp_posterior p;
    sample_random(&s, &rng, 40, 2, 0);
    for (size_t i = 0; i < 40; i++)
        s.x[2 * i] = s.x[2 * i + 1] = (double)(i % 2);
    memset(s.theta, 0, sizeof s.theta);
    s.theta[wni_gp_slot_noise(2)] = -60;
    double gradient[SLOTS_MAX], mean, variance;
    CHECK(isfinite(likelihood(&s, s.theta, gradient, &arena)), "no likelihood");
    for (size_t k = 0; k < 5; k++)
        CHECK(isfinite(gradient[k]), "gradient %zu is %g", k, gradient[k]);
    posterior(&p, &s, 50, 1, &arena);
    wni_gp_posterior_factor(&p, s.x, NULL, 20);
    for (size_t i = 20; i < 40; i++)
        wni_gp_posterior_append(&p, s.x + 2 * i, NULL, 1);
    CHECK(p.jitter > 0 && p.jitter < 1e-3, "jitter %g", p.jitter);
    wni_gp_posterior_targets(&p, s.y, 40, 1, &rng);
    wni_gp_predict(&p, s.tx, 1, 0, &mean, &variance, room(&arena, wni_gp_predict_scratch(&p, 1)));
    CHECK(isfinite(mean) && variance > 0, "mean %g, variance %g", mean, variance);
    wni_arena_release(&arena);
}

static void means_at_rows(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(0, 4, 0);
    struct sample s;
    struct gp_posterior p;
    enum { N = 25, COLUMNS = 3 };
    sample_random(&s, &rng, N, 3, LEVELS);
    posterior(&p, &s, N, COLUMNS, &arena);
    wni_gp_posterior_factor(&p, s.x, s.level, N);
    wni_gp_posterior_targets(&p, s.y, 20, COLUMNS, &rng); /* 5 pending */
    double at_rows[N], mean[COLUMNS], variance, *scratch = room(&arena, wni_gp_predict_scratch(&p, 1));
    for (size_t c = 0; c < COLUMNS; c++) {
        wni_gp_row_means(&p, s.y, 20, c, at_rows);
        for (size_t i = 0; i < N; i++) {
            wni_gp_predict(&p, s.x + 3 * i, 1, s.level[i], mean, &variance, scratch);
            CHECK_NEAR(at_rows[i], mean[c], 1e-9);
        }
    }
    wni_arena_release(&arena);
}

/* ---- chance ---- */

/* Fantasies of two pending rows, and joint samples there: means, variances and covariance. */
static void draws_have_the_right_moments(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(0, 5, 0);
    struct sample s;
    struct gp_posterior p, known;
    enum { N = 12, DRAWS = 20000 };
    sample_random(&s, &rng, N, 2, 0);
    s.tx[2] = s.tx[0] + 0.1; /* close together: correlated */
    s.tx[3] = s.tx[1];
    posterior(&known, &s, N, 1, &arena);
    wni_gp_posterior_factor(&known, s.x, NULL, N);
    wni_gp_posterior_targets(&known, s.y, N, 1, &rng);
    double mean[2], variance[2], *samples = room(&arena, 2 * DRAWS);
    wni_gp_predict(&known, s.tx, 2, 0, mean, variance, room(&arena, wni_gp_predict_scratch(&known, 2)));
    assert_int_equal(wni_gp_sample(&known, s.tx, 2, 0, DRAWS, &rng, samples, &arena), WN_OK);
    posterior(&p, &s, N + 2, DRAWS, &arena);
    wni_gp_posterior_factor(&p, s.x, NULL, N);
    wni_gp_posterior_append(&p, s.tx, NULL, 2);
    wni_gp_posterior_targets(&p, s.y, N, DRAWS, &rng);
    double sums[2][5] = {{0}}; /* of samples and of fantasies: a, b, aa, bb, ab */
    for (size_t c = 0; c < DRAWS; c++) {
        double shown[2], rows[N + 2];
        wni_gp_row_means(&p, s.y, N, c, rows);
        for (size_t k = 0; k < 2; k++)
            shown[k] = rows[N + k] + p.noise * p.alpha[c * p.stride + N + k] - mean[k];
        double *pairs[2] = {samples + 2 * c, shown};
        pairs[0][0] -= mean[0];
        pairs[0][1] -= mean[1];
        for (size_t k = 0; k < 2; k++) {
            double a = pairs[k][0], b = pairs[k][1], add[5] = {a, b, a * a, b * b, a * b};
            for (size_t i = 0; i < 5; i++)
                sums[k][i] += add[i] / DRAWS;
        }
    }
    double tolerance = 0.05 * fmax(variance[0], variance[1]) + 0.005;
    for (size_t k = 0; k < 2; k++) {
        CHECK_NEAR(sums[k][0], 0, 4 * sqrt((variance[0] + p.noise) / DRAWS));
        CHECK_NEAR(sums[k][1], 0, 4 * sqrt((variance[1] + p.noise) / DRAWS));
        CHECK_NEAR(sums[k][2], variance[0] + (k ? p.noise : 0), tolerance);
        CHECK_NEAR(sums[k][3], variance[1] + (k ? p.noise : 0), tolerance);
    }
    CHECK_NEAR(sums[0][4], sums[1][4], tolerance); /* noise is independent: the covariance is the same */
    wni_arena_release(&arena);
}

/* ---- the fit ---- */

/* Draws from a process are recognised: the column that matters, the noise. */
static void fit_finds_what_made_the_data(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(0, 6, 0);
    enum { N = 60, WIDTH = 3 };
    double x[N * WIDTH], y[N], theta[2 * SLOTS_MAX];
    for (size_t i = 0; i < N * WIDTH; i++)
        x[i] = wni_rng_uniform(&rng);
    for (size_t i = 0; i < N; i++)
        y[i] = 1.4 * wni_sin(9 * x[i * WIDTH + 1]) + 0.1 * wni_rng_normal(&rng);
    struct gp_data sets[2] = {{.n = 40, .width = WIDTH, .x = x, .y = y},
                              {.n = 20, .width = WIDTH, .x = x + 40 * WIDTH, .y = y + 40}};
    struct gp_fit_options options = {.evaluations = 100, .tolerance = 1e-6, .starts = 2};
    for (size_t n_sets = 1; n_sets <= 2; n_sets++) {
        assert_int_equal(wni_gp_fit(sets, n_sets, &options, &rng, theta, &arena), WN_OK);
        for (size_t k = 0; k < n_sets; k++) {
            const double *t = theta + k * wni_gp_slots(WIDTH, 0);
            CHECK(t[1] > t[0] + 1 && t[1] > t[2] + 1, "inverse bandwidths %g %g %g", t[0], t[1], t[2]);
            double deviation = wni_exp(0.5 * t[wni_gp_slot_noise(WIDTH)]);
            CHECK(deviation > 0.05 && deviation < 0.25, "noise %g", deviation);
            CHECK_DOUBLE(t[0], theta[0]); /* shared */
        }
    }
    wni_arena_release(&arena);
}

/* Never worse than where it began, wherever that is, and within its bounds. */
static void fit_is_sane_on_odd_data(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct arena arena = {0};
        struct rng rng = wni_rng_stream(seed, 7, 0);
        struct sample s;
        size_t n_levels = seed % 2 ? LEVELS : 0;
        sample_random(&s, &rng, (size_t)check_between(&rng, 1, 30), 3, n_levels);
        for (size_t i = 0; i < s.data.n; i++)
            s.y[i] = seed % 3 == 0 ? 0 : seed % 3 == 1 ? (i == 0 ? 5 : -0.2) : s.y[i];
        struct gp_fit_options options = {.evaluations = 40, .tolerance = 1e-4, .starts = 2};
        double theta[SLOTS_MAX];
        assert_int_equal(wni_gp_fit(&s.data, 1, &options, &rng, theta, &arena), WN_OK);
        for (size_t k = 0; k < wni_gp_slots(3, n_levels); k++)
            CHECK(isfinite(theta[k]) && fabs(theta[k]) < 21, "seed %u: theta %zu is %g", (unsigned)seed, k,
                  theta[k]);
        CHECK(isfinite(likelihood(&s, theta, NULL, &arena)), "seed %u: no likelihood", (unsigned)seed);
        wni_arena_release(&arena);
    }
}

int main(void)
{
    wni_linalg_one_thread();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_others),
        cmocka_unit_test(kernel_is_accurate_and_the_same_everywhere),
        cmocka_unit_test(columns_in_bulk),
        cmocka_unit_test(likelihood_gradient),
        cmocka_unit_test(improvement_gradient),
        cmocka_unit_test(no_variance_is_above_the_prior),
        cmocka_unit_test(improvement_by_sampling),
        cmocka_unit_test(appending_is_factoring),
        cmocka_unit_test(duplicates_get_jitter),
        cmocka_unit_test(means_at_rows),
        cmocka_unit_test(draws_have_the_right_moments),
        cmocka_unit_test(fit_finds_what_made_the_data),
        cmocka_unit_test(fit_is_sane_on_odd_data),
    };
    return cmocka_run_group_tests_name("gp", tests, NULL, NULL);
}
