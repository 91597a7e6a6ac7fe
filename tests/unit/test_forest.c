/* test_forest.c -- predictions against walking each tree by hand, for every instruction set, depth and number
 * of rows. */
#include "tests/unit/boost_world.h"

/* A forest that no learner would grow: any splits, any leaves. */
static struct forest random_forest(struct rng *rng, int n_trees, int depth, size_t columns,
                                   struct arena *arena)
{
    struct forest f;
    CHECK_INT(wni_forest_init(&f, n_trees, depth, arena), WN_OK);
    size_t n_splits = ((size_t)1 << depth) - 1;
    f.start = wni_rng_normal(rng);
    for (size_t i = 0; i < (size_t)n_trees * n_splits; i++) {
        f.features[i] = (uint16_t)wni_rng_below(rng, columns);
        f.cuts[i] = check_chance(rng, 20) ? FOREST_NO_SPLIT : (uint8_t)wni_rng_below(rng, 255);
    }
    for (size_t i = 0; i < (size_t)n_trees * (n_splits + 1); i++)
        f.leaves[i] = wni_rng_normal(rng) * check_magnitude(rng, -3, 3);
    return f;
}

static double walk(const struct forest *f, const uint8_t *codes, size_t stride, size_t row)
{
    size_t n_splits = ((size_t)1 << f->depth) - 1;
    double sum = f->start;
    for (size_t t = 0; t < (size_t)f->n_trees; t++) {
        size_t at = 0;
        while (at < n_splits) {
            bool right = codes[f->features[t * n_splits + at] * stride + row] > f->cuts[t * n_splits + at];
            at = 2 * at + (right ? 2 : 1);
        }
        sum += f->leaves[t * (n_splits + 1) + at - n_splits];
    }
    return sum;
}

static void check_predictions(const struct forest *f, const uint8_t *codes, size_t stride, size_t m,
                              enum simd simd)
{
    struct arena arena = {0};
    double *out = arena_new(&arena, double, m + 1);
    out[m] = 12345;
    wni_forest_predict(f, codes, stride, m, out, simd);
    for (size_t i = 0; i < m; i++) {
        double expected = walk(f, codes, stride, i);
        CHECK(check_same_double(out[i], expected), "%s, depth %d, row %zu of %zu: %.17g, expected %.17g",
              wni_simd_name(simd), f->depth, i, m, out[i], expected);
    }
    CHECK_DOUBLE(out[m], 12345); /* nothing is written behind the last row */
    wni_arena_release(&arena);
}

static void predicts_like_walking_the_trees(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 100, 257};
    enum { COLUMNS_MAX = 300, STRIDE = 288 };
    table_say_simd();
    for (int depth = 1; depth <= FOREST_DEPTH_MAX; depth++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct arena arena = {0};
            struct rng rng = wni_rng_stream((uint64_t)depth, sizes[s], 1);
            size_t columns = s % 3 == 0 ? 1 : s % 3 == 1 ? 7 : COLUMNS_MAX;
            struct forest f = random_forest(&rng, 13, depth, columns, &arena);
            uint8_t *codes = arena_new(&arena, uint8_t, STRIDE * columns);
            for (size_t i = 0; i < STRIDE * columns; i++)
                codes[i] = (uint8_t)wni_rng_below(&rng, 256);
            for (enum simd simd = SIMD_NONE; simd <= table_best_simd(); simd++)
                check_predictions(&f, codes, STRIDE, sizes[s], simd);
            wni_arena_release(&arena);
        }
}

static void without_trees_the_start_is_predicted(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct forest f;
    uint8_t codes[BINS_BLOCK] = {0};
    double out[3];
    CHECK_INT(wni_forest_init(&f, 0, 3, &arena), WN_OK);
    f.start = -1.5;
    wni_forest_predict(&f, codes, BINS_BLOCK, 3, out, table_best_simd());
    for (int i = 0; i < 3; i++)
        CHECK_DOUBLE(out[i], -1.5);
    wni_arena_release(&arena);
}

/* Nothing exceeds FOREST_NO_SPLIT: an unsplit tree sends even code 255 to its first leaf. */
static void an_unsplit_node_sends_all_left(void **state)
{
    (void)state;
    for (int depth = 1; depth <= FOREST_DEPTH_MAX; depth++) {
        struct arena arena = {0};
        struct forest f;
        uint8_t codes[BINS_BLOCK];
        memset(codes, 255, sizeof codes);
        CHECK_INT(wni_forest_init(&f, 1, depth, &arena), WN_OK);
        memset(f.cuts, FOREST_NO_SPLIT, ((size_t)1 << depth) - 1);
        for (int k = 0; k < 1 << depth; k++)
            f.leaves[k] = k + 1;
        for (enum simd simd = SIMD_NONE; simd <= table_best_simd(); simd++) {
            double out[BINS_BLOCK];
            wni_forest_predict(&f, codes, BINS_BLOCK, BINS_BLOCK, out, simd);
            for (int i = 0; i < BINS_BLOCK; i++)
                CHECK_DOUBLE(out[i], 1);
        }
        wni_arena_release(&arena);
    }
}

/* A new forest is all zero, so leaves that no row reaches predict no change. */
static void begins_empty(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct forest f;
    CHECK_INT(wni_forest_init(&f, 5, 4, &arena), WN_OK);
    CHECK_INT(f.n_trees, 5);
    CHECK_INT(f.depth, 4);
    CHECK_DOUBLE(f.start, 0);
    for (int i = 0; i < 5 * 15; i++)
        CHECK_INT(f.features[i] + f.cuts[i], 0);
    for (int i = 0; i < 5 * 16; i++)
        CHECK_DOUBLE(f.leaves[i], 0);
    wni_arena_release(&arena);
}

/* ---- choosing the instructions ---- */

static void the_environment_may_ask_for_less(void **state)
{
    (void)state;
    enum simd best = table_best_simd();
    for (enum simd s = SIMD_NONE; s <= SIMD_AVX512; s++) {
        setenv("WINNOW_SIMD", wni_simd_name(s), 1);
        CHECK_INT(wni_simd_pick(), s < best ? s : best); /* what the processor lacks is not granted */
    }
    static const char *const others[] = {"", "AVX2", "sse", "none "};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        setenv("WINNOW_SIMD", others[i], 1);
        CHECK_INT(wni_simd_pick(), best);
    }
    unsetenv("WINNOW_SIMD");
}

static void instruction_sets_have_names(void **state)
{
    (void)state;
    CHECK_TEXT(wni_simd_name(SIMD_NONE), "none");
    CHECK_TEXT(wni_simd_name(SIMD_AVX2), "avx2");
    CHECK_TEXT(wni_simd_name(SIMD_AVX512), "avx512");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predicts_like_walking_the_trees),
        cmocka_unit_test(without_trees_the_start_is_predicted),
        cmocka_unit_test(an_unsplit_node_sends_all_left),
        cmocka_unit_test(begins_empty),
        cmocka_unit_test(the_environment_may_ask_for_less),
        cmocka_unit_test(instruction_sets_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
