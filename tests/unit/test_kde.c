/* test_kde.c -- kernel densities against statsmodels and against the formulas written out; draws against the
 * kernels they come from. */
#include "tests/check.h"

#include "num/stats.h"
#include "surrogate/forest.h"
#include "surrogate/kde.h"
#include "tests/golden.h"

enum { WIDTH_MAX = 16, COUNT_MAX = 40, ROWS_MAX = 400 };

struct set {
    size_t n, m, width;
    struct kde_column columns[WIDTH_MAX];
    double at[WIDTH_MAX][COUNT_MAX];
    double bandwidths[WIDTH_MAX];
    double rows[ROWS_MAX * WIDTH_MAX]; /* observations, then points */
};

/* ---- statsmodels ---- */

static void read_column(const struct golden *g, struct set *s, size_t j)
{
    CHECK(golden_is(g, "column"), "line %d: %s", g->line, g->tag);
    s->columns[j] =
        (struct kde_column){.kind = (enum kde_kind)g->v[0], .count = (size_t)g->v[1], .at = s->at[j]};
    memcpy(s->at[j], g->v + 2, (g->n - 2) * sizeof *g->v);
}

/* The set whose first line was read. */
static void read_set(struct golden *g, struct set *s)
{
    CHECK(golden_is(g, "set"), "line %d: %s", g->line, g->tag);
    s->n = (size_t)g->v[0], s->m = (size_t)g->v[1], s->width = (size_t)g->v[2];
    for (size_t j = 0; j < s->width && golden_next(g); j++)
        read_column(g, s, j);
    CHECK(golden_next(g) && g->n == s->width, "line %d: bandwidths", g->line);
    memcpy(s->bandwidths, g->v, s->width * sizeof *g->v);
    for (size_t i = 0; i < (s->n + s->m) * s->width; i += g->n) {
        CHECK(golden_next(g) && golden_is(g, "rows"), "line %d: rows", g->line);
        memcpy(s->rows + i, g->v, g->n * sizeof *g->v);
    }
}

static void densities(const struct set *s, double *out)
{
    struct arena arena = {0};
    struct kde k;
    CHECK_INT(wni_kde_fit(&k, s->columns, s->width, s->rows, s->n, s->bandwidths, &arena), WN_OK);
    CHECK_INT(wni_kde_density(&k, s->rows + s->n * s->width, s->m, out, &arena), WN_OK);
    wni_arena_release(&arena);
}

static void agrees_with_statsmodels(void **state)
{
    (void)state;
    static struct set s;
    static double got[ROWS_MAX];
    size_t sets = 0;
    struct golden g = golden_open("tests/golden/kde.txt");
    for (; golden_next(&g); sets++) {
        read_set(&g, &s);
        densities(&s, got);
        CHECK(golden_next(&g) && golden_is(&g, "densities") && g.n == s.m, "line %d", g.line);
        for (size_t i = 0; i < s.m; i++)
            golden_near(&g, got[i], g.v[i], 1e-12);
        CHECK(golden_next(&g) && golden_is(&g, "rule") && g.n == s.width, "line %d", g.line);
        wni_kde_bandwidths(s.columns, s.width, s.rows, s.n, 1e-9, got);
        for (size_t j = 0; j < s.width; j++)
            if (s.columns[j].kind != KDE_UNORDERED) golden_near(&g, got[j], g.v[j], 1e-12);
    }
    golden_close(&g);
    CHECK(sets > 20, "%zu sets", sets);
}

/* ---- the formulas ---- */

static double slow_kernel(const struct set *s, size_t j, double x, double center)
{
    const struct kde_column *c = &s->columns[j];
    double h = s->bandwidths[j];
    if (c->kind == KDE_CONTINUOUS) return wni_normal_pdf((x - center) / h) / h;
    if (x == center) return 1 - h;
    if (c->kind == KDE_UNORDERED) return h / (double)(c->count - 1);
    return (1 - h) / 2 * pow(h, fabs(c->at[(size_t)x] - c->at[(size_t)center]));
}

static double slow_density(const struct set *s, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++) {
        double product = 1;
        for (size_t j = 0; j < s->width; j++)
            product *= slow_kernel(s, j, x[j], s->rows[i * s->width + j]);
        sum += product;
    }
    return sum / (double)s->n;
}

static void make_column(struct set *s, size_t j, struct rng *rng)
{
    size_t count = (size_t)check_between(rng, 2, COUNT_MAX);
    s->columns[j] =
        (struct kde_column){.kind = (enum kde_kind)check_between(rng, 0, 2), .count = count, .at = s->at[j]};
    for (size_t v = 0; v < count; v++)
        s->at[j][v] = ((double)v + 0.5) / (double)count;
    s->bandwidths[j] = check_uniform(rng, 0.01, 0.5);
    for (size_t i = 0; i < s->n + s->m; i++)
        s->rows[i * s->width + j] =
            s->columns[j].kind == KDE_CONTINUOUS ? wni_rng_uniform(rng) : (double)wni_rng_below(rng, count);
}

static void make_set(struct set *s, uint64_t seed)
{
    struct rng rng = wni_rng_stream(seed, 0, 1);
    s->n = (size_t)check_between(&rng, 1, 200);
    s->m = (size_t)check_between(&rng, 1, 100);
    s->width = (size_t)check_between(&rng, 1, 12);
    for (size_t j = 0; j < s->width; j++)
        make_column(s, j, &rng);
}

static void agrees_with_the_formulas(void **state)
{
    (void)state;
    static struct set s;
    static double got[ROWS_MAX];
    for (uint64_t seed = 0; seed < 200; seed++) {
        make_set(&s, seed);
        densities(&s, got);
        for (size_t i = 0; i < s.m; i++) {
            double expected = slow_density(&s, s.rows + (s.n + i) * s.width);
            CHECK(fabs(got[i] - expected) <= 1e-11 * expected + 1e-290,
                  "seed %d, point %zu: %.17g, not %.17g", (int)seed, i, got[i], expected);
        }
    }
}

/* A point's density does not depend on which points are evaluated with it. */
static void points_do_not_disturb_each_other(void **state)
{
    (void)state;
    static struct set s;
    static double together[ROWS_MAX], alone[1];
    for (uint64_t seed = 0; seed < 20; seed++) {
        make_set(&s, seed);
        densities(&s, together);
        double *points = s.rows + s.n * s.width;
        for (size_t i = 0, m = s.m; i < m; i++) {
            memmove(points, points + (i ? s.width : 0), (m - i) * s.width * sizeof *points);
            s.m = 1;
            densities(&s, alone);
            CHECK_DOUBLE(alone[0], together[i]);
        }
    }
}

static void every_instruction_set_gives_the_same_bits(void **state)
{
    (void)state;
    static struct set s;
    static double best[ROWS_MAX], other[ROWS_MAX];
    for (uint64_t seed = 0; seed < 20; seed++) {
        make_set(&s, seed);
        unsetenv("WINNOW_SIMD");
        densities(&s, best);
        for (enum simd simd = SIMD_NONE; simd <= SIMD_AVX512; simd++) {
            setenv("WINNOW_SIMD", wni_simd_name(simd), 1);
            densities(&s, other);
            for (size_t i = 0; i < s.m; i++)
                CHECK_DOUBLE(other[i], best[i]);
        }
        unsetenv("WINNOW_SIMD");
    }
}

/* 40 bandwidths from everything, in ten columns: nothing is left, and nothing breaks. */
static void far_points_have_no_density(void **state)
{
    (void)state;
    static struct set s;
    double got[1];
    s = (struct set){.n = 2, .m = 1, .width = 10};
    for (size_t j = 0; j < s.width; j++)
        s.bandwidths[j] = 0.025, s.rows[20 + j] = 1;
    densities(&s, got);
    CHECK(got[0] >= 0 && got[0] < 1e-250, "density %g", got[0]);
}

/* ---- bandwidths ---- */

static void bandwidths_of_categories_ignore_their_numbering(void **state)
{
    (void)state;
    static const double one[] = {0, 0, 0, 1, 1, 2}, other[] = {3, 3, 3, 0, 0, 1};
    struct kde_column c = {.kind = KDE_UNORDERED, .count = 4};
    double a, b, rule = 1.06 * pow(6, -1.0 / 5);
    wni_kde_bandwidths(&c, 1, one, 6, 0.01, &a);
    wni_kde_bandwidths(&c, 1, other, 6, 0.01, &b);
    CHECK_DOUBLE(a, b);
    CHECK_NEAR(a, rule * sqrt((1 - 14.0 / 36) / 2), 1e-15);
    c.count = 2; /* with two values: the standard deviation of 0/1 */
    static const double pair[] = {0, 1, 1, 1, 1, 1};
    wni_kde_bandwidths(&c, 1, pair, 6, 0.01, &a);
    CHECK_NEAR(a, rule * sqrt(5.0 / 36), 1e-15);
}

static void bandwidths_stay_within_bounds(void **state)
{
    (void)state;
    static const double same[] = {1, 1, 1};
    double at[] = {0.25, 0.75}, h;
    struct kde_column c = {.kind = KDE_UNORDERED, .count = 2, .at = at};
    for (int kind = 0; kind < 3; kind++) {
        c.kind = (enum kde_kind)kind;
        wni_kde_bandwidths(&c, 1, same, 3, 0.1, &h);
        CHECK_DOUBLE(h, 0.1);
    }
    wni_kde_bandwidths(&c, 1, same, 3, 0.9, &h);
    CHECK_DOUBLE(h, 0.5); /* flat */
    c.kind = KDE_ORDERED;
    wni_kde_bandwidths(&c, 1, same, 3, 1, &h);
    CHECK_DOUBLE(h, KDE_ORDERED_MAX);
}

/* ---- draws ---- */

enum { DRAWS = 40000, CELLS = 20 };

/* Pearson's statistic, with `cells` expected shares. */
static void check_shares(const size_t *counts, const double *shares, size_t cells, const char *what)
{
    double chi2 = 0;
    for (size_t i = 0; i < cells; i++) {
        double expected = shares[i] * DRAWS, d = (double)counts[i] - expected;
        CHECK(expected > 0 || !counts[i], "%s: cell %zu should be empty", what, i);
        if (expected > 0) chi2 += d * d / expected;
    }
    double p = wni_chi2_sf(chi2, (double)(cells - 1));
    CHECK(p > 1e-6, "%s: chi-square %g over %zu cells, p %g", what, chi2, cells, p);
}

static void numbers_are_drawn_from_the_truncated_bell(void **state)
{
    (void)state;
    static const double centers[] = {0, 0.03, 0.5, 1}, bandwidths[] = {0.05, 0.3, 2, 1000};
    struct kde_column c = {.kind = KDE_CONTINUOUS};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) {
            double center = centers[i], h = bandwidths[k], shares[CELLS];
            size_t counts[CELLS] = {0};
            struct rng rng = wni_rng_stream(i, k, 1);
            for (int n = 0; n < DRAWS; n++) {
                double x = wni_kde_draw(&c, h, center, &rng);
                CHECK(x >= 0 && x <= 1, "drew %.17g", x);
                counts[x < 1 ? (size_t)(x * CELLS) : CELLS - 1]++;
            }
            double low = wni_normal_cdf(-center / h), all = wni_normal_cdf((1 - center) / h) - low;
            for (size_t cell = 0; cell < CELLS; cell++)
                shares[cell] = (wni_normal_cdf(((double)(cell + 1) / CELLS - center) / h) -
                                wni_normal_cdf(((double)cell / CELLS - center) / h)) /
                               all;
            if (h == 0.05) continue; /* cells of almost no share: only the range is checked */
            check_shares(counts, shares, CELLS, "truncated bell");
        }
}

static void values_are_drawn_from_their_kernels(void **state)
{
    (void)state;
    static struct set s;
    s = (struct set){.width = 1};
    for (size_t v = 0; v < 6; v++)
        s.at[0][v] = ((double)v + 0.5) / 6;
    for (int kind = KDE_ORDERED; kind <= KDE_UNORDERED; kind++)
        for (size_t center = 0; center < 6; center += 2) {
            s.columns[0] = (struct kde_column){.kind = (enum kde_kind)kind, .count = 6, .at = s.at[0]};
            s.bandwidths[0] = 0.3;
            struct rng rng = wni_rng_stream(center, (uint64_t)kind, 1);
            size_t counts[6] = {0};
            double shares[6], total = 0;
            for (size_t v = 0; v < 6; v++)
                total += shares[v] = slow_kernel(&s, 0, (double)v, (double)center);
            for (size_t v = 0; v < 6; v++)
                shares[v] /= total;
            for (int n = 0; n < DRAWS; n++)
                counts[(size_t)wni_kde_draw(&s.columns[0], 0.3, (double)center, &rng)]++;
            check_shares(counts, shares, 6, kind == KDE_ORDERED ? "ordered" : "unordered");
        }
}

static void a_bandwidth_beyond_flat_is_flat(void **state)
{
    (void)state;
    struct kde_column c = {.kind = KDE_UNORDERED, .count = 4};
    struct rng rng = wni_rng_stream(1, 1, 1);
    size_t counts[4] = {0};
    for (int n = 0; n < DRAWS; n++)
        counts[(size_t)wni_kde_draw(&c, 5, 2, &rng)]++;
    check_shares(counts, (double[]){0.25, 0.25, 0.25, 0.25}, 4, "flat");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_statsmodels),
        cmocka_unit_test(agrees_with_the_formulas),
        cmocka_unit_test(points_do_not_disturb_each_other),
        cmocka_unit_test(every_instruction_set_gives_the_same_bits),
        cmocka_unit_test(far_points_have_no_density),
        cmocka_unit_test(bandwidths_of_categories_ignore_their_numbering),
        cmocka_unit_test(bandwidths_stay_within_bounds),
        cmocka_unit_test(numbers_are_drawn_from_the_truncated_bell),
        cmocka_unit_test(values_are_drawn_from_their_kernels),
        cmocka_unit_test(a_bandwidth_beyond_flat_is_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
