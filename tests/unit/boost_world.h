/* boost_world.h -- what the tests of src/surrogate share: tables of every unpleasant shape and their bins,
 * shares drawn as a fit draws them, the instruction sets to try, and a comparison of forests bit by bit. */
#ifndef TESTS_UNIT_BOOST_WORLD_H
#define TESTS_UNIT_BOOST_WORLD_H

#include "tests/check.h"

#include "surrogate/forest.h"

/* ---- tables ---- */

struct table {
    size_t n, columns;
    double *x, *y; /* x row-major */
};

enum column_kind {
    COLUMN_NORMAL,
    COLUMN_BINARY,
    COLUMN_FEW,       /* up to 6 values */
    COLUMN_GRID,      /* up to 40 values, some rare */
    COLUMN_CONSTANT,  /* nothing to split */
    COLUMN_COPY,      /* of an earlier column: every split ties */
    COLUMN_REVERSED,  /* likewise, mirrored */
    COLUMN_ADJACENT,  /* neighbouring doubles */
    COLUMN_MAGNITUDE, /* 1e-200 to 1e200 of both signs, and zero */
    N_COLUMN_KINDS
};

enum target_kind {
    TARGET_NORMAL,
    TARGET_FEW, /* up to 4 values: ties in y, and with the fit */
    TARGET_CONSTANT,
    TARGET_SIGNAL, /* follows the first column */
    TARGET_OUTLIERS,
    N_TARGET_KINDS
};

static inline double table_cell(struct rng *rng, enum column_kind kind)
{
    switch (kind) {
    case COLUMN_BINARY:
        return check_between(rng, 0, 1);
    case COLUMN_FEW:
        return check_between(rng, 0, 5) / 10.0;
    case COLUMN_GRID:
        return check_between(rng, 0, 6) * check_between(rng, 0, 6) / 7.0;
    case COLUMN_CONSTANT:
        return 3.25;
    case COLUMN_ADJACENT:
        return 1 + check_between(rng, 0, 30) * 0x1p-52;
    case COLUMN_MAGNITUDE:
        return check_chance(rng, 5) ? 0 : (check_chance(rng, 50) ? -1 : 1) * check_magnitude(rng, -200, 200);
    default:
        return wni_rng_normal(rng);
    }
}

static inline void table_fill_column(struct table *t, struct rng *rng, size_t j, enum column_kind kind)
{
    size_t from = j ? (size_t)wni_rng_below(rng, j) : 0;
    bool copies = j > 0 && (kind == COLUMN_COPY || kind == COLUMN_REVERSED);
    for (size_t i = 0; i < t->n; i++) {
        double *cell = &t->x[i * t->columns + j], other = t->x[i * t->columns + from];
        *cell = copies ? (kind == COLUMN_COPY ? other : -other) : table_cell(rng, kind);
    }
}

static inline double table_target(const struct table *t, struct rng *rng, size_t i, enum target_kind kind)
{
    double first = t->columns ? t->x[i * t->columns] : 0;
    switch (kind) {
    case TARGET_FEW:
        return check_between(rng, 0, 3) / 8.0;
    case TARGET_CONSTANT:
        return 0.1;
    case TARGET_SIGNAL:
        return (first > 0.3) + 0.5 * (first > 1) + 0.1 * wni_rng_normal(rng);
    case TARGET_OUTLIERS:
        return wni_rng_normal(rng) * (check_chance(rng, 10) ? 1e7 : 1);
    default:
        return wni_rng_normal(rng);
    }
}

/* Columns of all kinds when `kind` is N_COLUMN_KINDS, else of that kind. */
static inline struct table table_random(struct rng *rng, size_t n, size_t columns, enum column_kind kind,
                                        enum target_kind target, struct arena *arena)
{
    struct table t = {.n = n, .columns = columns};
    t.x = arena_new(arena, double, n *columns);
    t.y = arena_new(arena, double, n);
    assert_non_null(t.x);
    assert_non_null(t.y);
    for (size_t j = 0; j < columns; j++)
        table_fill_column(
            &t, rng, j, kind < N_COLUMN_KINDS ? kind : (enum column_kind)wni_rng_below(rng, N_COLUMN_KINDS));
    for (size_t i = 0; i < n; i++)
        t.y[i] = table_target(&t, rng, i, target);
    return t;
}

static inline struct bins table_bins(const double *x, size_t n, size_t columns, struct arena *arena)
{
    struct bins bins;
    CHECK_INT(wni_bins_build(&bins, x, n, columns, arena), WN_OK);
    return bins;
}

static inline size_t table_stride(size_t n)
{
    return (n + BINS_BLOCK - 1) / BINS_BLOCK * BINS_BLOCK;
}

/* Codes of the rows of a matrix; room beyond the last row is filled with noise, which must not matter. */
static inline uint8_t *table_codes(const struct bins *bins, const double *x, size_t m, struct arena *arena)
{
    size_t stride = table_stride(m);
    uint8_t *codes = arena_new(arena, uint8_t, stride * bins->columns);
    assert_non_null(codes);
    for (size_t i = 0; i < stride * bins->columns; i++)
        codes[i] = (uint8_t)(37 * i);
    wni_bins_encode(bins, x, m, codes, stride);
    return codes;
}

/* ---- rows and columns of one tree ---- */

/* Which of n are in; the generator is not touched when all are. */
static inline void table_draw(struct rng *rng, bool *chosen, size_t n, double share, struct arena *arena)
{
    for (size_t i = 0; i < n; i++)
        chosen[i] = share == 1;
    if (share == 1) return;
    uint32_t k = (uint32_t)(share * (double)n), *drawn = arena_new(arena, uint32_t, n);
    if (k < 1) k = 1;
    wni_rng_sample(rng, (uint32_t)n, k, drawn);
    for (uint32_t i = 0; i < k; i++)
        chosen[drawn[i]] = true;
}

/* ---- memory ---- */

/* An arena of one block that is large enough: `used` is then all that was taken from it. */
static inline struct arena table_roomy(size_t bytes)
{
    struct arena a = {0};
    assert_non_null(wni_arena_alloc(&a, bytes, 1));
    wni_arena_reset(&a);
    return a;
}

/* ---- instruction sets ---- */

/* What this processor can run, SIMD_NONE first. */
static inline enum simd table_best_simd(void)
{
    unsetenv("WINNOW_SIMD");
    return wni_simd_pick();
}

/* Says which paths are not tried here; call once from a test that compares them. */
static inline void table_say_simd(void)
{
    for (enum simd s = table_best_simd() + 1; s <= SIMD_AVX512; s++)
        print_message("# %s: this processor does not have it, not compared\n", wni_simd_name(s));
}

/* ---- forests ---- */

static inline void table_same_forest(const struct forest *got, const struct forest *expected,
                                     const char *what)
{
    CHECK(got->depth == expected->depth && got->n_trees == expected->n_trees,
          "%s: %d trees of depth %d, expected %d of %d", what, got->n_trees, got->depth, expected->n_trees,
          expected->depth);
    CHECK(check_same_double(got->start, expected->start), "%s: start %.17g, expected %.17g", what, got->start,
          expected->start);
    size_t n_splits = ((size_t)1 << got->depth) - 1;
    for (size_t t = 0; t < (size_t)got->n_trees; t++) {
        for (size_t k = 0; k < n_splits; k++) {
            size_t at = t * n_splits + k;
            CHECK(got->cuts[at] == expected->cuts[at],
                  "%s, tree %zu, node %zu: feature %d cut %d, expected %d cut %d", what, t, k,
                  got->features[at], got->cuts[at], expected->features[at], expected->cuts[at]);
            if (got->cuts[at] == FOREST_NO_SPLIT) continue;
            CHECK(got->features[at] == expected->features[at],
                  "%s, tree %zu, node %zu: feature %d cut %d, expected %d cut %d", what, t, k,
                  got->features[at], got->cuts[at], expected->features[at], expected->cuts[at]);
        }
        for (size_t k = 0; k <= n_splits; k++) {
            double a = got->leaves[t * (n_splits + 1) + k], b = expected->leaves[t * (n_splits + 1) + k];
            CHECK(check_same_double(a, b), "%s, tree %zu, leaf %zu: %.17g, expected %.17g", what, t, k, a, b);
        }
    }
}

#endif
