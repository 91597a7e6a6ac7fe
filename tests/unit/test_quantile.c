/* test_quantile.c -- the surrogate as a whole: who is held out, what is fitted, which levels move by how
 * much. */
#include "tests/unit/boost_world.h"

#include "surrogate/conformal.h"
#include "surrogate/quantile.h"

static const struct quantile_options DEFAULTS = {
    .boost = {.trees = 10, .depth = 3, .rate = 0.1, .min_leaf = 1, .row_share = 1, .column_share = 1},
    .levels = 4,
    .conformal = true,
    .holdout = 0.1,
    .threshold = 32,
};

static struct table some_table(uint64_t seed, size_t n, size_t columns, struct arena *arena)
{
    struct rng rng = wni_rng_stream(seed, n, 1);
    return table_random(&rng, n, columns, N_COLUMN_KINDS, TARGET_NORMAL, arena);
}

static void fit(struct quantile_model *m, const struct table *t, const struct quantile_options *o,
                uint64_t seed)
{
    struct rng rng = wni_rng_stream(seed, 0, 9);
    CHECK_INT(wni_quantile_fit(m, t->x, t->y, t->n, t->columns, o, &rng), WN_OK);
}

/* ---- who is held out ---- */

static size_t held_out(size_t n, const struct quantile_options *options)
{
    struct arena arena = {0};
    struct quantile_model model = {0};
    struct table t = some_table(1, n, 1, &arena);
    struct quantile_options o = *options;
    o.boost.trees = 1;
    fit(&model, &t, &o, 1);
    size_t held = model.n_held_out;
    CHECK_INT(model.bins.n, n - held);
    wni_quantile_release(&model);
    wni_arena_release(&arena);
    return held;
}

static void a_tenth_is_held_out_rounded_up(void **state)
{
    (void)state;
    CHECK_INT(held_out(32, &DEFAULTS), 0);
    CHECK_INT(held_out(33, &DEFAULTS), 4);
    CHECK_INT(held_out(40, &DEFAULTS), 4);
    CHECK_INT(held_out(41, &DEFAULTS), 5);
    for (size_t n = 1; n <= 400; n++)
        CHECK_INT(held_out(n, &DEFAULTS), n <= 32 ? 0 : (n + 9) / 10);
}

/* The product is rounded up, but not because 0.07 * 100 is 7.000000000000001. */
static void other_shares_and_thresholds(void **state)
{
    (void)state;
    static const int percents[] = {1, 3, 7, 10, 14, 15, 20, 28, 29, 33, 50};
    for (size_t p = 0; p < sizeof percents / sizeof *percents; p++) {
        struct quantile_options o = DEFAULTS;
        o.holdout = percents[p] / 100.0;
        o.threshold = 2;
        for (size_t n = 3; n <= 300; n += 1 + n / 20)
            CHECK_INT(held_out(n, &o), (n * (size_t)percents[p] + 99) / 100);
    }
    struct quantile_options o = DEFAULTS;
    o.threshold = 100;
    CHECK_INT(held_out(100, &o), 0);
    CHECK_INT(held_out(101, &o), 11);
    o.conformal = false;
    CHECK_INT(held_out(101, &o), 0);
}

/* One row at least is left to fit. */
static void the_fit_keeps_a_row(void **state)
{
    (void)state;
    struct quantile_options o = DEFAULTS;
    o.holdout = 1;
    o.threshold = 0;
    CHECK_INT(held_out(1, &o), 0);
    CHECK_INT(held_out(2, &o), 1);
    CHECK_INT(held_out(50, &o), 49);
}

/* Each row is held out equally often. */
static void chance_decides_who_is_held_out(void **state)
{
    (void)state;
    enum { N = 40, REPETITIONS = 2000 };
    double x[N], y[N], shares[N];
    size_t counts[N] = {0};
    struct quantile_model model = {0};
    struct quantile_options o = DEFAULTS;
    o.boost.trees = 1;
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i;
        y[i] = (double)(i * i);
        shares[i] = 1.0 / N;
    }
    for (uint64_t r = 0; r < REPETITIONS; r++) {
        struct rng rng = wni_rng_stream(r, 0, 1);
        CHECK_INT(wni_quantile_fit(&model, x, y, N, 1, &o, &rng), WN_OK);
        for (size_t i = 0; i < N; i++) { /* a value that is not among the training rows was held out */
            bool trained = false;
            for (size_t b = 0; b <= model.bins.column[0].n_cuts; b++)
                trained |= model.bins.column[0].low[b] == x[i];
            counts[i] += !trained;
        }
    }
    check_counts(counts, shares, N, 5);
    wni_quantile_release(&model);
}

/* ---- what is fitted ---- */

/* The model put together by hand: permute, bin, fit, predict, correct. */
static void check_by_hand(const struct table *t, const struct quantile_options *o, uint64_t seed)
{
    struct arena arena = {0};
    struct quantile_model model = {0};
    struct rng rng = wni_rng_stream(seed, 0, 9);
    fit(&model, t, o, seed);
    size_t held = model.n_held_out, m = (size_t)o->levels, d = t->columns;
    uint32_t *order = arena_new(&arena, uint32_t, t->n);
    for (uint32_t i = 0; i < t->n; i++)
        order[i] = i;
    if (held) wni_rng_permutation(&rng, order, (uint32_t)t->n);
    struct table shuffled = {.n = t->n, .columns = d};
    shuffled.x = arena_new(&arena, double, t->n *d);
    shuffled.y = arena_new(&arena, double, t->n);
    for (size_t i = 0; i < t->n; i++) {
        memcpy(shuffled.x + i * d, t->x + order[i] * d, d * sizeof *t->x);
        shuffled.y[i] = t->y[order[i]];
    }
    struct bins bins;
    struct forest forest[QUANTILE_LEVELS_MAX];
    double levels[QUANTILE_LEVELS_MAX];
    CHECK_INT(model.n_levels, m);
    for (size_t j = 0; j < m; j++) {
        levels[j] = (double)(j + 1) / (double)(m + 1);
        CHECK_DOUBLE(model.level[j], levels[j]);
    }
    CHECK_INT(wni_bins_build(&bins, shuffled.x + held * d, t->n - held, d, &arena), WN_OK);
    CHECK_INT(wni_pinball_fit(forest, levels, m, &bins, shuffled.y + held, &o->boost, &rng, SIMD_NONE, &arena,
                              &arena),
              WN_OK);
    double *low = arena_new(&arena, double, held), *high = arena_new(&arena, double, held),
           *work = arena_new(&arena, double, held);
    uint8_t *codes = table_codes(&bins, shuffled.x, held, &arena);
    for (size_t j = 0; j < m; j++) {
        size_t other = m - 1 - j;
        double gamma = 0;
        table_same_forest(&model.forest[j], &forest[j], "by hand");
        if (held && j != other) {
            size_t below = j < other ? j : other;
            wni_forest_predict(&forest[below], codes, table_stride(held), held, low, SIMD_NONE);
            wni_forest_predict(&forest[m - 1 - below], codes, table_stride(held), held, high, SIMD_NONE);
            gamma = wni_conformal_correction(low, high, shuffled.y, held, 1 - 2 * levels[below], work);
            CHECK(gamma != 0, "pair %zu of %zu is not corrected", below, m);
        }
        CHECK(model.shift[j] == (j < other ? -gamma : gamma), "level %zu of %zu moves by %g, gamma %g", j, m,
              model.shift[j], gamma);
        if (j < m / 2)
            CHECK(wni_quantile_gamma(&model, j) == gamma, "gamma %g, expected %g",
                  wni_quantile_gamma(&model, j), gamma);
    }
    wni_quantile_release(&model);
    wni_arena_release(&arena);
}

static void fits_and_corrects_as_by_hand(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 5, 32, 33, 64, 100, 257};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int m = 2; m <= 9; m++) {
            struct arena arena = {0};
            struct table t = some_table(2, sizes[s], (size_t)(m % 5) + 1, &arena);
            struct quantile_options o = DEFAULTS;
            o.levels = m;
            check_by_hand(&t, &o, sizes[s]);
            o.conformal = false;
            check_by_hand(&t, &o, sizes[s]);
            o.conformal = true;
            o.boost.row_share = 0.8; /* draws after the hold-out, from the same stream */
            check_by_hand(&t, &o, sizes[s]);
            wni_arena_release(&arena);
        }
}

static void the_largest_number_of_levels(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct table t = some_table(3, 150, 4, &arena);
    struct quantile_options o = DEFAULTS;
    o.boost.trees = 3;
    o.levels = QUANTILE_LEVELS_MAX;
    check_by_hand(&t, &o, 1);
    o.levels = QUANTILE_LEVELS_MAX - 1;
    check_by_hand(&t, &o, 1);
    wni_arena_release(&arena);
}

static void an_odd_number_leaves_the_median_alone(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct table t = some_table(4, 200, 3, &arena);
    for (int m = 3; m <= 9; m += 2) {
        struct quantile_model model = {0};
        struct quantile_options o = DEFAULTS;
        o.levels = m;
        fit(&model, &t, &o, 1);
        CHECK_DOUBLE(model.level[m / 2], 0.5);
        CHECK_DOUBLE(model.shift[m / 2], 0);
        for (int j = 0; j < m / 2; j++)
            CHECK(model.shift[j] != 0 && model.shift[j] == -model.shift[m - 1 - j],
                  "pair %d of %d: %g and %g", j, m, model.shift[j], model.shift[m - 1 - j]);
        wni_quantile_release(&model);
    }
    wni_arena_release(&arena);
}

static void predictions_are_the_forest_moved(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct quantile_model model = {0};
    struct table t = some_table(5, 120, 6, &arena);
    double forest[120], moved[120];
    fit(&model, &t, &DEFAULTS, 1);
    uint8_t *codes = table_codes(&model.bins, t.x, t.n, &arena);
    for (size_t j = 0; j < 4; j++) {
        wni_forest_predict(&model.forest[j], codes, table_stride(t.n), t.n, forest, SIMD_NONE);
        wni_quantile_predict(&model, j, codes, table_stride(t.n), t.n, moved);
        for (size_t i = 0; i < t.n; i++)
            CHECK_DOUBLE(moved[i],
                         forest[i] + (j < 2 ? -1 : 1) * wni_quantile_gamma(&model, j < 2 ? j : 3 - j));
    }
    wni_quantile_release(&model);
    wni_arena_release(&arena);
}

/* ---- fitting again ---- */

static void check_same_model(const struct quantile_model *a, const struct quantile_model *b)
{
    CHECK_INT(a->n_levels, b->n_levels);
    CHECK_INT(a->n_held_out, b->n_held_out);
    for (size_t j = 0; j < a->n_levels; j++) {
        CHECK_DOUBLE(a->level[j], b->level[j]);
        CHECK_DOUBLE(a->shift[j], b->shift[j]);
        table_same_forest(&a->forest[j], &b->forest[j], "again");
    }
}

/* Whatever was fitted in between, with the memory it left behind. */
static void the_same_draws_give_the_same_bits(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct quantile_model fresh = {0}, used = {0};
    struct table small = some_table(6, 20, 3, &arena), t = some_table(6, 150, 7, &arena),
                 large = some_table(6, 700, 12, &arena);
    struct quantile_options other = DEFAULTS;
    other.levels = 9;
    other.boost.depth = 6;
    fit(&fresh, &t, &DEFAULTS, 1);
    for (int round = 0; round < 3; round++) {
        fit(&used, &t, &DEFAULTS, 1);
        check_same_model(&used, &fresh);
        fit(&used, round ? &small : &large, &other, 2);
    }
    fit(&used, &t, &DEFAULTS, 3); /* another hold-out, another model */
    CHECK(used.shift[0] != fresh.shift[0], "both %g", used.shift[0]);
    wni_quantile_release(&fresh);
    wni_quantile_release(&used);
    wni_arena_release(&arena);
}

static void every_instruction_set_gives_the_same_bits(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct table t = some_table(7, 300, 9, &arena);
    struct quantile_model best = {0}, other = {0};
    enum simd simd = table_best_simd();
    table_say_simd();
    fit(&best, &t, &DEFAULTS, 1);
    CHECK_INT(best.simd, simd);
    for (enum simd s = SIMD_NONE; s < simd; s++) {
        setenv("WINNOW_SIMD", wni_simd_name(s), 1);
        fit(&other, &t, &DEFAULTS, 1);
        CHECK_INT(other.simd, s);
        check_same_model(&other, &best);
    }
    unsetenv("WINNOW_SIMD");
    wni_quantile_release(&best);
    wni_quantile_release(&other);
    wni_arena_release(&arena);
}

/* From the third fit of one size on, the arenas' blocks stay where they are. */
static void memory_is_kept_for_the_next_fit(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct quantile_model model = {0};
    struct table t = some_table(8, 500, 10, &arena);
    for (uint64_t i = 0; i < 3; i++)
        fit(&model, &t, &DEFAULTS, i);
    struct arena keep = model.keep, scratch = model.scratch;
    for (uint64_t i = 3; i < 10; i++) {
        fit(&model, &t, &DEFAULTS, i);
        assert_ptr_equal(model.keep.block, keep.block);
        assert_ptr_equal(model.scratch.block, scratch.block);
        CHECK(model.keep.used < 2 * keep.used && model.scratch.used < 2 * scratch.used,
              "%zu and %zu bytes, before %zu and %zu", model.keep.used, model.scratch.used, keep.used,
              scratch.used);
    }
    wni_quantile_release(&model);
    wni_arena_release(&arena);
}

static void an_empty_model_can_be_released(void **state)
{
    (void)state;
    struct quantile_model model = {0};
    wni_quantile_release(&model);
    wni_quantile_release(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tenth_is_held_out_rounded_up),
        cmocka_unit_test(other_shares_and_thresholds),
        cmocka_unit_test(the_fit_keeps_a_row),
        cmocka_unit_test(chance_decides_who_is_held_out),
        cmocka_unit_test(fits_and_corrects_as_by_hand),
        cmocka_unit_test(the_largest_number_of_levels),
        cmocka_unit_test(an_odd_number_leaves_the_median_alone),
        cmocka_unit_test(predictions_are_the_forest_moved),
        cmocka_unit_test(the_same_draws_give_the_same_bits),
        cmocka_unit_test(every_instruction_set_gives_the_same_bits),
        cmocka_unit_test(memory_is_kept_for_the_next_fit),
        cmocka_unit_test(an_empty_model_can_be_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
