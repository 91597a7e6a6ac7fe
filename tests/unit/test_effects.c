/* test_effects.c -- analysis/effects.h, against functions whose effects can be computed by hand. */
#include "tests/check.h"

#include "analysis/effects.h"
#include "num/rng.h"

static struct err err;

enum { PARAMS = 4, ROWS_MAX = 600 };

struct world {
    struct space space;
    double configs[ROWS_MAX * PARAMS], values[ROWS_MAX], out[PARAMS];
    size_t n;
};

/* x and y from 0 to 1, a pair of categories, a constant. */
static void begin(struct world *w)
{
    static const char *const labels[] = {"linear", "quadratic"};
    const struct param_decl decls[] = {
        {.name = "x", .kind = PARAM_FLOAT, .max = 1},
        {.name = "y", .kind = PARAM_FLOAT, .max = 1},
        {.name = "features", .kind = PARAM_CATEGORICAL, .labels = labels, .n_labels = 2},
        {.name = "fixed", .kind = PARAM_CONSTANT, .labels = labels, .n_labels = 1},
    };
    w->n = 0;
    wni_space_init(&w->space);
    for (size_t i = 0; i < PARAMS; i++)
        CHECK_OK(wni_space_add(&w->space, &decls[i], &err), err);
}

static double *add(struct world *w, struct rng *rng)
{
    double *config = w->configs + w->n++ * PARAMS;
    wni_config_sample(&w->space, rng, config);
    return config;
}

static void run(struct world *w)
{
    CHECK_OK(wni_effects(&w->space, w->configs, w->values, w->n, w->out, &err), err);
}

/* 2 x + y: variances 4/12 and 1/12.  x y: x and y alike. */
static void as_computed_by_hand(void **state)
{
    (void)state;
    static struct world w;
    for (int product = 0; product < 2; product++) {
        struct rng rng = wni_rng_stream(1, 0, 1);
        begin(&w);
        for (size_t i = 0; i < ROWS_MAX; i++) {
            const double *c = add(&w, &rng);
            w.values[i] = product ? c[0] * c[1] : 2 * c[0] + c[1];
        }
        run(&w);
        CHECK_NEAR(w.out[0], product ? 0.5 : 0.8, 0.02);
        CHECK_NEAR(w.out[1], product ? 0.5 : 0.2, 0.02);
        CHECK(w.out[2] < 0.01, "%g", w.out[2]);
        CHECK_DOUBLE(w.out[3], 0);
        CHECK_NEAR(w.out[0] + w.out[1] + w.out[2], 1, 1e-12);
        wni_space_release(&w.space);
    }
}

/* A search that soon tries the good category only: it still decides nearly everything. */
static void what_was_settled_early_still_counts(void **state)
{
    (void)state;
    static struct world w;
    struct rng rng = wni_rng_stream(2, 0, 1);
    begin(&w);
    for (size_t i = 0; i < 40; i++) {
        double *c = add(&w, &rng);
        if (i >= 8) c[2] = 1;
        w.values[i] = (c[2] > 0 ? 0.1 : 0.5) + 0.1 * (c[0] - 0.5) * (c[0] - 0.5);
    }
    run(&w);
    CHECK(w.out[2] > 0.9, "%g", w.out[2]);
    wni_space_release(&w.space);
}

/* One run that diverged, however far, does not become all there is to explain. */
static void a_stray_value_does_not_rule(void **state)
{
    (void)state;
    static struct world w;
    for (double stray = 1e3; stray < 1e308; stray *= 1e100) {
        struct rng rng = wni_rng_stream(3, 0, 1);
        begin(&w);
        for (size_t i = 0; i < 100; i++) {
            const double *c = add(&w, &rng);
            w.values[i] = i == 50 ? stray : c[0];
        }
        run(&w);
        CHECK(w.out[0] > 0.8, "%g with %g", w.out[0], stray);
        wni_space_release(&w.space);
    }
}

static void equal_values_give_nothing(void **state)
{
    (void)state;
    static struct world w;
    struct rng rng = wni_rng_stream(4, 0, 1);
    begin(&w);
    for (size_t i = 0; i < 20; i++) {
        add(&w, &rng);
        w.values[i] = 0;
    }
    run(&w);
    for (size_t i = 0; i < PARAMS; i++)
        CHECK_DOUBLE(w.out[i], 0);
    wni_space_release(&w.space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_computed_by_hand),
        cmocka_unit_test(what_was_settled_early_still_counts),
        cmocka_unit_test(a_stray_value_does_not_rule),
        cmocka_unit_test(equal_values_give_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
