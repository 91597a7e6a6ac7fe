/* test_importance.c -- analysis/importance.h, against an independent version and by its properties. */
#include "tests/check.h"
#include "tests/golden.h"

#include "analysis/importance.h"

static struct err err;

enum { PARAMS_MAX = 8, ROWS_MAX = 512 };

struct world {
    struct space space;
    double configs[ROWS_MAX * PARAMS_MAX], values[ROWS_MAX], out[PARAMS_MAX], share;
    size_t n;
};

static void add_param(struct world *w, size_t i, double kind)
{
    static const char *const labels[] = {"a", "b", "c", "d", "e", "f"};
    static const char *const names[] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"};
    struct param_decl decl = {.name = names[i]};
    if (kind == 0) {
        decl.kind = PARAM_FLOAT;
        decl.max = 1;
    } else if (kind == 1) {
        decl.kind = PARAM_CONSTANT;
        decl.labels = labels;
        decl.n_labels = 1;
    } else if (kind > 0) {
        decl.kind = PARAM_INT;
        decl.max = kind - 1;
    } else {
        decl.kind = PARAM_CATEGORICAL;
        decl.labels = labels;
        decl.n_labels = (size_t)-kind;
    }
    check_add(&w->space, decl);
}

static void begin(struct world *w, const double *kinds, size_t n)
{
    w->n = 0;
    wni_space_init(&w->space);
    for (size_t i = 0; i < n; i++)
        add_param(w, i, kinds[i]);
}

static void run(struct world *w)
{
    CHECK_OK(wni_importance(&w->space, w->configs, w->values, w->n, w->share, w->out, &err), err);
}

/* Values of floats are put on the space's grid of decimals, as a study does. */
static void add_row(struct world *w, double value, const double *x)
{
    for (size_t i = 0; i < w->space.n; i++)
        CHECK(wni_param_canonical(&w->space.params[i], x[i], &w->configs[w->n * w->space.n + i]), "%g", x[i]);
    w->values[w->n++] = value;
}

static void as_another_computes_it(void **state)
{
    (void)state;
    static struct world w;
    struct golden g = golden_open("tests/golden/importance.txt");
    while (golden_next(&g)) {
        if (golden_is(&g, "kinds")) begin(&w, g.v, g.n);
        if (golden_is(&g, "share")) w.share = g.v[0];
        if (golden_is(&g, "row")) add_row(&w, g.v[0], g.v + 1);
        if (!golden_is(&g, "importance")) continue;
        run(&w);
        for (size_t i = 0; i < g.n; i++)
            golden_near(&g, w.out[i], g.v[i], 1e-9);
        wni_space_release(&w.space);
    }
    golden_close(&g);
}

/* Only the first of three parameters decides: it gets nearly everything, also when a tuner tried its good
 * half far more often. */
static void finds_what_matters(void **state)
{
    (void)state;
    static struct world w;
    for (int skewed = 0; skewed < 2; skewed++) {
        begin(&w, (double[]){0, 0, -3}, 3);
        w.share = 0.1;
        struct rng rng = wni_rng_stream(1, 0, 1);
        for (int i = 0; i < 400; i++) {
            double x = wni_rng_uniform(&rng);
            if (skewed && i % 4) x = 0.5 * x;
            add_row(&w, fabs(x - 0.25), (double[]){x, wni_rng_uniform(&rng), (double)wni_rng_below(&rng, 3)});
        }
        run(&w);
        CHECK(w.out[0] > 0.9, "%g, skewed %d", w.out[0], skewed);
        wni_space_release(&w.space);
    }
}

/* Shifting and stretching the values changes nothing: only who is among the best counts. */
static void only_the_order_counts(void **state)
{
    (void)state;
    static struct world w;
    double before[2];
    begin(&w, (double[]){0, 9}, 2);
    w.share = 0.2;
    struct rng rng = wni_rng_stream(2, 0, 1);
    for (int i = 0; i < 100; i++)
        add_row(&w, wni_rng_uniform(&rng), (double[]){wni_rng_uniform(&rng), (double)wni_rng_below(&rng, 9)});
    run(&w);
    memcpy(before, w.out, sizeof before);
    for (size_t i = 0; i < w.n; i++)
        w.values[i] = 1e6 * w.values[i] - 3;
    run(&w);
    CHECK_DOUBLE(w.out[0], before[0]);
    CHECK_DOUBLE(w.out[1], before[1]);
    CHECK_NEAR(before[0] + before[1], 1, 1e-12);
    wni_space_release(&w.space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_another_computes_it),
        cmocka_unit_test(finds_what_matters),
        cmocka_unit_test(only_the_order_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
