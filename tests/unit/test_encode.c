/* test_encode.c -- the unit and tree encodings: exact round trips over thousands of random spaces, any row
 * decodes to a value of the space, and the numbers themselves for small parameters worked out by hand. */
#include "tests/check.h"

#include "core/encode.h"

enum { SPACES = 3000, CONFIGS = 20, WIDTH_MAX = 256, PARAMS_MAX = 8 };

static void describe(const struct param *p, char out[256])
{
    snprintf(out, 256, "kind %d, scale %d, %.17g..%.17g step %.17g, count %llu", p->kind, p->scale, p->min,
             p->max, p->step, (unsigned long long)p->count);
}

static void check_equal_configs(const struct space *space, const double *got, const double *expected,
                                const char *what)
{
    char about[256];
    for (size_t i = 0; i < space->n; i++) {
        describe(&space->params[i], about);
        CHECK(check_same_double(got[i], expected[i]), "%s of %s: %.17g became %.17g", what, about,
              expected[i], got[i]);
    }
}

/* ---- round trips ---- */

static void check_row_is_unit(const struct space *space, const double *row)
{
    for (size_t k = 0; k < space->unit_width; k++)
        CHECK(row[k] >= 0 && row[k] <= 1, "column %zu is %.17g", k, row[k]);
}

static void round_trips_are_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 1);
        struct space space;
        double config[PARAMS_MAX], back[PARAMS_MAX], row[WIDTH_MAX];
        check_random_space(&space, &rng, (size_t)check_between(&rng, 1, PARAMS_MAX));
        for (int i = 0; i < CONFIGS; i++) {
            check_random_config(&space, &rng, config);
            wni_encode_unit(&space, config, row);
            check_row_is_unit(&space, row);
            wni_decode_unit(&space, row, back);
            check_equal_configs(&space, back, config, "unit encoding");
            wni_encode_tree(&space, config, row);
            wni_decode_tree(&space, row, back);
            check_equal_configs(&space, back, config, "tree encoding");
        }
        wni_space_release(&space);
    }
}

/* One parameter declared by hand, every kind of hardship. */
static const struct param_decl hard[] = {
    {.kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-300, .max = 1e300},
    {.kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-8, .max = 9.8},
    {.kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-300, .max = 1.0000001e-300},
    {.kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e21, .max = 1e35},
    {.kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1.0 / 3, .max = 1000.0 / 3},
    {.kind = PARAM_FLOAT, .scale = WN_LOG, .min = 0.01, .max = 0.10000000000000002},
    {.kind = PARAM_FLOAT, .scale = WN_LOG, .min = 0.0099999999999999985, .max = 1},
    {.kind = PARAM_FLOAT, .min = 1e15, .max = 1e15 + 1e6},
    {.kind = PARAM_FLOAT, .min = -1e300, .max = 1e300},
    {.kind = PARAM_FLOAT, .min = 0, .max = 1e-290},
    {.kind = PARAM_FLOAT, .min = 0, .max = 1e-20},
    {.kind = PARAM_FLOAT, .min = 0, .max = 1e30},
    {.kind = PARAM_FLOAT, .min = -1e-5, .max = 7e4},
    {.kind = PARAM_FLOAT, .min = -1.0 / 3, .max = 1.0 / 7},
    {.kind = PARAM_FLOAT, .min = 0.1, .max = 1.0000000000000002},
    {.kind = PARAM_FLOAT, .min = 0.29999999999999999, .max = 0.30000000000000004 + 1e-9},
    {.kind = PARAM_FLOAT, .min = 99999999.999, .max = 100000000.01},
    {.kind = PARAM_FLOAT, .min = 0, .max = 1, .step = 0.1},
    {.kind = PARAM_FLOAT, .min = -0.3, .max = 0.3, .step = 0.1},
    {.kind = PARAM_FLOAT, .min = 0, .max = 1, .step = 1e-9},
    {.kind = PARAM_FLOAT, .min = 1.0 / 3, .max = 10, .step = 1.0 / 3},
    {.kind = PARAM_FLOAT, .min = 1e6, .max = 1e6 + 1, .step = 1e-3},
    {.kind = PARAM_FLOAT, .scale = WN_LOG, .min = 0.1, .max = 5, .step = 0.1},
    {.kind = PARAM_INT, .min = -0x1p45, .max = 0x1p45},
    {.kind = PARAM_INT, .scale = WN_LOG, .min = 1, .max = 0x1p45},
    {.kind = PARAM_INT, .scale = WN_LOG, .min = 0x1p45 - 5, .max = 0x1p45},
    {.kind = PARAM_INT, .scale = WN_LOG, .min = 1, .max = 0x1p45, .step = 3},
    {.kind = PARAM_INT, .scale = WN_LOG, .min = 7, .max = 1000, .step = 100},
    {.kind = PARAM_INT, .min = 0, .max = 2e13 - 1, .step = 1e13},
    {.kind = PARAM_INT, .min = -5, .max = 5, .step = 5},
    {.kind = PARAM_BOOL},
};

static const struct param *only_param(struct space *space, const struct param_decl *decl)
{
    struct param_decl named = *decl;
    named.name = "x";
    wni_space_init(space);
    check_add(space, named);
    return &space->params[0];
}

static void hard_ranges_round_trip(void **state)
{
    (void)state;
    for (size_t h = 0; h < sizeof hard / sizeof *hard; h++) {
        struct space space;
        struct rng rng = wni_rng_stream(7, h, 1);
        const struct param *p = only_param(&space, &hard[h]);
        char about[256];
        describe(p, about);
        for (int i = 0; i < 20000; i++) {
            double value = check_random_value(p, &rng), row[1], back;
            double u = wni_param_to_unit(p, value);
            CHECK(u >= 0 && u <= 1, "%s: u %.17g for %.17g", about, u, value);
            back = wni_param_from_unit(p, u);
            CHECK(check_same_double(back, value), "%s: %.17g became %.17g through u %.17g", about, value,
                  back, u);
            wni_encode_tree(&space, &value, row);
            wni_decode_tree(&space, row, &back);
            CHECK(check_same_double(back, value), "%s: %.17g became %.17g through %.17g", about, value, back,
                  row[0]);
        }
        wni_space_release(&space);
    }
}

/* Every single value of small parameters, and the encoding increases with it. */
static void all_values_of_small_parameters(void **state)
{
    (void)state;
    int checked = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct rng rng = wni_rng_stream(seed, 1, 1);
        struct space space;
        wni_space_init(&space);
        const struct param *p =
            check_add_random(&space, &rng, (enum param_kind)(seed % (PARAM_CONSTANT + 1)));
        char about[256];
        describe(p, about);
        double before = -1;
        for (uint64_t k = 0; k < p->count && p->count <= 500 && wni_param_unit_columns(p) == 1; k++) {
            double value = wni_param_value_at(p, k), u = wni_param_to_unit(p, value),
                   back = wni_param_from_unit(p, u);
            CHECK(check_same_double(back, value), "%s: %.17g became %.17g", about, value, back);
            CHECK(u > before, "%s: u %.17g follows %.17g", about, u, before);
            before = u;
            checked++;
        }
        wni_space_release(&space);
    }
    CHECK(checked > 10000, "only %d values", checked);
}

/* ---- any row decodes ---- */

static double wild_number(struct rng *rng)
{
    static const double wild[] = {NAN, INFINITY, -INFINITY, 0,      -0.0,
                                  1,   1e300,    -1e300,    5e-324, 0.99999999999999989};
    if (check_chance(rng, 50)) return wild[check_between(rng, 0, (int)(sizeof wild / sizeof *wild) - 1)];
    return check_chance(rng, 80) ? wni_rng_uniform(rng) : check_uniform(rng, -3, 3);
}

static void any_row_decodes_to_a_configuration(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 2, 1);
        struct space space;
        double config[PARAMS_MAX], row[WIDTH_MAX];
        check_random_space(&space, &rng, (size_t)check_between(&rng, 1, PARAMS_MAX));
        for (int i = 0; i < CONFIGS; i++) {
            for (size_t k = 0; k < space.unit_width; k++)
                row[k] = wild_number(&rng);
            wni_decode_unit(&space, row, config);
            for (size_t k = 0; k < space.n; k++)
                check_in_space(&space.params[k], config[k]);
            for (size_t k = 0; k < space.tree_width; k++)
                row[k] = check_chance(&rng, 50) ? wild_number(&rng) : check_magnitude(&rng, -20, 20);
            wni_decode_tree(&space, row, config);
            for (size_t k = 0; k < space.n; k++)
                check_in_space(&space.params[k], config[k]);
        }
        wni_space_release(&space);
    }
}

static void the_ends_of_the_interval_are_the_bounds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 3, 1);
        struct space space;
        wni_space_init(&space);
        const struct param *p = check_add_random(&space, &rng, seed % 2 ? PARAM_FLOAT : PARAM_INT);
        const double low[] = {0, -1, -INFINITY, NAN}, high[] = {1, 2, INFINITY};
        for (size_t i = 0; i < 4; i++)
            CHECK_DOUBLE(wni_param_from_unit(p, low[i]), p->min);
        for (size_t i = 0; i < 3; i++)
            CHECK_DOUBLE(wni_param_from_unit(p, high[i]), p->max);
        if (p->count == 0) {
            CHECK_DOUBLE(wni_param_to_unit(p, p->min), 0);
            CHECK_DOUBLE(wni_param_to_unit(p, p->max), 1);
        }
        wni_space_release(&space);
    }
}

/* A value is never far from the u it was decoded from: half a step, or half a unit of the decimal grid. */
static void decoding_goes_to_the_nearest_value(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 4, 1);
        struct space space;
        wni_space_init(&space);
        const struct param *p = check_add_random(&space, &rng, PARAM_FLOAT);
        for (int i = 0; i < CONFIGS && p->count == 0; i++) {
            double u = wni_rng_uniform(&rng), back = wni_param_to_unit(p, wni_param_from_unit(p, u));
            /* a range may be as narrow as 1e-10 of its bounds, whose values have 12 to 15 digits */
            double coarse = 1e-11 * fmax(fabs(p->min), fabs(p->max)) / (p->max - p->min);
            double within =
                p->scale == WN_LOG ? 1e-11 / wni_log(p->max / p->min) : fmax(1e-12, 1e-3 * coarse);
            if (isinf(p->max / p->min)) within = 1e-12;
            CHECK(fabs(back - u) <= within, "seed %llu: u %.17g came back as %.17g, allowed %g",
                  (unsigned long long)seed, u, back, within);
        }
        wni_space_release(&space);
    }
}

/* ---- worked out by hand ---- */

static void linear_ints_own_equal_intervals(void **state)
{
    (void)state;
    struct space space;
    const struct param *p = only_param(&space, &(struct param_decl){.kind = PARAM_INT, .min = 1, .max = 3});
    CHECK_NEAR(wni_param_to_unit(p, 1), 1 / 6.0, 1e-16);
    CHECK_NEAR(wni_param_to_unit(p, 2), 3 / 6.0, 1e-16);
    CHECK_NEAR(wni_param_to_unit(p, 3), 5 / 6.0, 2e-16);
    CHECK_DOUBLE(wni_param_from_unit(p, 0.3333), 1);
    CHECK_DOUBLE(wni_param_from_unit(p, 0.3334), 2);
    CHECK_DOUBLE(wni_param_from_unit(p, 0.6666), 2);
    CHECK_DOUBLE(wni_param_from_unit(p, 0.6667), 3);
    wni_space_release(&space);
}

/* 1..4 on a log scale covers 0.5..4.5, a factor of 9; the edges between values are at 1.5, 2.5 and 3.5. */
static void log_ints_own_their_share_of_the_logarithm(void **state)
{
    (void)state;
    struct space space;
    const struct param *p =
        only_param(&space, &(struct param_decl){.kind = PARAM_INT, .scale = WN_LOG, .min = 1, .max = 4});
    for (int v = 1; v <= 4; v++)
        CHECK_NEAR(wni_param_to_unit(p, v), log(v / 0.5) / log(9), 1e-15);
    for (int v = 1; v < 4; v++) {
        double edge = log((v + 0.5) / 0.5) / log(9);
        CHECK_DOUBLE(wni_param_from_unit(p, edge - 1e-12), v);
        CHECK_DOUBLE(wni_param_from_unit(p, edge + 1e-12), v + 1);
    }
    wni_space_release(&space);
}

/* 7, 107, 207: half a step below 7 is negative, so the first interval begins at 3.5. */
static void a_wide_step_on_a_log_scale_begins_at_half_the_minimum(void **state)
{
    (void)state;
    struct space space;
    const struct param *p = only_param(
        &space, &(struct param_decl){.kind = PARAM_INT, .scale = WN_LOG, .min = 7, .max = 250, .step = 100});
    double all = log(257 / 3.5);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(wni_param_to_unit(p, 7 + 100 * k), log((7 + 100 * k) / 3.5) / all, 1e-15);
    CHECK_DOUBLE(wni_param_from_unit(p, log(57 / 3.5) / all - 1e-9), 7);
    CHECK_DOUBLE(wni_param_from_unit(p, log(57 / 3.5) / all + 1e-9), 107);
    wni_space_release(&space);
}

static void floats_span_the_interval(void **state)
{
    (void)state;
    struct space space;
    const struct param *p =
        only_param(&space, &(struct param_decl){.kind = PARAM_FLOAT, .min = -1, .max = 3});
    CHECK_DOUBLE(wni_param_to_unit(p, 0), 0.25);
    CHECK_DOUBLE(wni_param_from_unit(p, 0.75), 2);
    wni_space_release(&space);
    p = only_param(&space, &(struct param_decl){.kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-4, .max = 1});
    CHECK_NEAR(wni_param_to_unit(p, 0.01), 0.5, 1e-15);
    CHECK_DOUBLE(wni_param_from_unit(p, 0.5), 0.01);
    CHECK_DOUBLE(wni_param_from_unit(p, 0.25), 0.001);
    wni_space_release(&space);
}

static void ordinals_by_index_or_by_log_value(void **state)
{
    (void)state;
    static const char *const values[] = {"1", "2", "8"};
    struct param_decl decl = {.kind = PARAM_ORDINAL, .labels = values, .n_labels = 3};
    struct space space;
    const struct param *p = only_param(&space, &decl);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(wni_param_to_unit(p, k), (k + 0.5) / 3, 1e-16);
    CHECK_DOUBLE(wni_param_from_unit(p, 0.34), 1);
    wni_space_release(&space);

    decl.scale =
        WN_LOG; /* the ends own as much outside as inside: from 1/sqrt(2) to 16, in all 4.5 doublings */
    p = only_param(&space, &decl);
    CHECK_NEAR(wni_param_to_unit(p, 0), 0.5 / 4.5, 1e-15);
    CHECK_NEAR(wni_param_to_unit(p, 1), 1.5 / 4.5, 1e-15);
    CHECK_NEAR(wni_param_to_unit(p, 2), 3.5 / 4.5, 1e-15);
    CHECK_DOUBLE(wni_param_from_unit(p, 1 / 4.5 - 1e-9), 0); /* edges: sqrt(2) and 4 */
    CHECK_DOUBLE(wni_param_from_unit(p, 1 / 4.5 + 1e-9), 1);
    CHECK_DOUBLE(wni_param_from_unit(p, 2.5 / 4.5 - 1e-9), 1);
    CHECK_DOUBLE(wni_param_from_unit(p, 2.5 / 4.5 + 1e-9), 2);
    wni_space_release(&space);
}

static void log_ordinals_of_extreme_size(void **state)
{
    (void)state;
    static const char *const sets[][4] = {{"1e-300", "1e-299", "1e-298", "1e300"},
                                          {"1e-300", "1e299", "2e299", "1e300"},
                                          {"1e200", "1e201", "1e202", "1e203"},
                                          {"1", "1.00000000001", "1.00000000002", "1e300"}};
    for (size_t s = 0; s < 4; s++) {
        struct param_decl decl = {.kind = PARAM_ORDINAL, .scale = WN_LOG, .labels = sets[s], .n_labels = 4};
        struct space space;
        const struct param *p = only_param(&space, &decl);
        for (int k = 0; k < 4; k++)
            CHECK_DOUBLE(wni_param_from_unit(p, wni_param_to_unit(p, k)), k);
        wni_space_release(&space);
    }
}

/* x: three categories, y: two, z: constant, n: ordinal numbers, w: ordinal words, b: bool, i: int */
static void the_columns_of_a_mixed_space(void **state)
{
    (void)state;
    static const char *const three[] = {"a", "b", "c"}, *const numbers[] = {"0.5", "2", "64"};
    const struct param_decl decls[] = {
        {.name = "x", .kind = PARAM_CATEGORICAL, .labels = three, .n_labels = 3},
        {.name = "y", .kind = PARAM_CATEGORICAL, .labels = three, .n_labels = 2},
        {.name = "z", .kind = PARAM_CONSTANT, .labels = three, .n_labels = 1},
        {.name = "n", .kind = PARAM_ORDINAL, .labels = numbers, .n_labels = 3},
        {.name = "w", .kind = PARAM_ORDINAL, .labels = three, .n_labels = 3},
        {.name = "one", .kind = PARAM_CATEGORICAL, .labels = three, .n_labels = 1},
        {.name = "b", .kind = PARAM_BOOL},
        {.name = "i", .kind = PARAM_INT, .min = -2, .max = 2},
    };
    struct space space;
    wni_space_init(&space);
    for (size_t i = 0; i < sizeof decls / sizeof *decls; i++)
        check_add(&space, decls[i]);
    CHECK_INT(space.unit_width, 8);
    CHECK_INT(space.tree_width, 8);
    const double config[] = {1, 1, 0, 2, 1, 0, 0, -1};
    const double unit[] = {0, 1, 0, 1, 2.5 / 3, 0.5, 0, 0.3}, tree[] = {0, 1, 0, 1, 64, 1, 0, -1};
    double row[8], back[8];
    wni_encode_unit(&space, config, row);
    for (int k = 0; k < 8; k++)
        CHECK_NEAR(row[k], unit[k], 1e-15);
    wni_encode_tree(&space, config, row);
    for (int k = 0; k < 8; k++)
        CHECK_DOUBLE(row[k], tree[k]);
    const double soft[] = {0.2, 0.1, 0.4, 0.49, 0.1, 0.9, 0.51, 0.99}, meant[] = {2, 0, 0, 0, 2, 0, 1, 2};
    wni_decode_unit(&space, soft, back); /* the largest column wins */
    check_equal_configs(&space, back, meant, "decoding");
    const double even[] = {0.1, 0.4, 0.4, 1, 1, 1, 1, 1}, first[] = {1, 1, 0, 2, 2, 0, 1, 2};
    wni_decode_unit(&space, even, back); /* the first of equals */
    check_equal_configs(&space, back, first, "decoding");
    wni_space_release(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips_are_exact),
        cmocka_unit_test(hard_ranges_round_trip),
        cmocka_unit_test(all_values_of_small_parameters),
        cmocka_unit_test(any_row_decodes_to_a_configuration),
        cmocka_unit_test(the_ends_of_the_interval_are_the_bounds),
        cmocka_unit_test(decoding_goes_to_the_nearest_value),
        cmocka_unit_test(linear_ints_own_equal_intervals),
        cmocka_unit_test(log_ints_own_their_share_of_the_logarithm),
        cmocka_unit_test(a_wide_step_on_a_log_scale_begins_at_half_the_minimum),
        cmocka_unit_test(floats_span_the_interval),
        cmocka_unit_test(ordinals_by_index_or_by_log_value),
        cmocka_unit_test(log_ordinals_of_extreme_size),
        cmocka_unit_test(the_columns_of_a_mixed_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
