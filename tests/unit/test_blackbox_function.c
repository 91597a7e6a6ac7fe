/* test_blackbox_function.c -- bench/function.c and synthetic.c: known optima, values worked out elsewhere,
 * and what the learning curves promise. */
#include "tests/unit/box_world.h"

static struct blackbox *open_function(const char *name)
{
    return world_open_in("", name);
}

static double evaluate(const char *name, const double *x)
{
    struct blackbox *box = open_function(name);
    double value = world_value(box, x, 0, 0);
    box->ops->close(box);
    return value;
}

/* ---- closed forms ---- */

static void branin_has_its_three_minima(void **state)
{
    (void)state;
    static const double pi = 3.141592653589793;
    const double minima[3][2] = {{-pi, 12.275}, {pi, 2.275}, {9.42477796076938, 2.475}};
    for (size_t i = 0; i < 3; i++)
        CHECK_NEAR(evaluate("branin", minima[i]), 0.39788735772973816, 1e-12);
    CHECK_NEAR(evaluate("branin", (double[]){0, 0}), 55.602112642270262, 1e-12);
    CHECK_NEAR(evaluate("branin", (double[]){10, 15}), 145.87219087939556, 1e-11);
    CHECK_NEAR(evaluate("branin", (double[]){-5, 0}), 308.12909601160663, 1e-11);
    struct blackbox *box = open_function("branin");
    CHECK_INT(box->space.n, 2);
    CHECK_DOUBLE(box->space.params[0].min, -5);
    CHECK_DOUBLE(box->space.params[0].max, 10);
    CHECK_DOUBLE(box->space.params[1].min, 0);
    CHECK_DOUBLE(box->space.params[1].max, 15);
    box->ops->close(box);
}

static void hartmann6_has_its_minimum(void **state)
{
    (void)state;
    static const double best[] = {0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573};
    CHECK_NEAR(evaluate("hartmann6", best), -3.32237, 1e-5);
    CHECK_NEAR(evaluate("hartmann6", (double[]){0.5, 0.5, 0.5, 0.5, 0.5, 0.5}), -0.5053149917022333, 1e-14);
    CHECK_NEAR(evaluate("hartmann6", (double[]){0, 0, 0, 0, 0, 0}), -0.00508911288366444, 1e-16);
}

static void rosenbrock_has_any_number_of_parameters(void **state)
{
    (void)state;
    double x[100];
    for (size_t n = 2; n <= 100; n += n < 12 ? 1 : 22) {
        char name[32];
        snprintf(name, sizeof name, "rosenbrock-%zu", n);
        struct blackbox *box = open_function(name);
        CHECK_INT(box->space.n, n);
        CHECK_TEXT(box->name, name);
        for (size_t i = 0; i < n; i++)
            x[i] = 1;
        CHECK_DOUBLE(world_value(box, x, 0, 0), 0);
        for (size_t i = 0; i < n; i++)
            x[i] = 2;
        CHECK_DOUBLE(world_value(box, x, 0, 0), 401.0 * (double)(n - 1));
        x[0] = 3;
        CHECK_DOUBLE(world_value(box, x, 0, 0), 401.0 * (double)(n - 2) + 4904);
        CHECK_DOUBLE(box->best, 0);
        box->ops->close(box);
    }
    static const char *const wrong[] = {"rosenbrock-1",  "rosenbrock-101", "rosenbrock-",
                                        "rosenbrock",    "rosenbrock-2x",  "rosenbrock-02",
                                        "rosenbrock--3", "rosenbrock-+3",  "rosenbrock-99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        world_refused("", wrong[i], "no task");
}

/* No random point is below the optimum that a task claims, and a few lie near it. */
static void nothing_is_better_than_best(void **state)
{
    (void)state;
    static const char *const names[] = {"branin", "hartmann6", "rosenbrock-2", "rosenbrock-5",
                                        "rosenbrock-10"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct blackbox *box = open_function(names[k]);
        double x[16], lowest = INFINITY, highest = -INFINITY;
        for (uint64_t i = 0; i < 20000; i++) {
            struct rng rng = wni_rng_stream(1, i, 0);
            wni_config_sample(&box->space, &rng, x);
            double value = world_value(box, x, i, 0);
            lowest = fmin(lowest, value);
            highest = fmax(highest, value);
        }
        CHECK(lowest >= box->best - 1e-12, "%s: %.17g is below %.17g", names[k], lowest, box->best);
        CHECK(isnan(box->worst) || highest <= box->worst, "%s: %.17g is above %.17g", names[k], highest,
              box->worst);
        box->ops->close(box);
    }
}

static void one_level_takes_a_second(void **state)
{
    (void)state;
    static const char *const names[] = {"branin", "hartmann6", "rosenbrock-5", "hetero-sine"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct blackbox *box = open_function(names[k]);
        double x[16], value, seconds;
        struct rng rng = wni_rng_stream(2, k, 0);
        wni_config_sample(&box->space, &rng, x);
        CHECK_INT(box->n_levels, 1);
        CHECK_DOUBLE(box->levels[0], 1);
        CHECK_INT(box->goal, WN_MINIMIZE);
        CHECK_DOUBLE(box->limit_resource, 200);
        CHECK_DOUBLE(box->limit_seconds, 0);
        CHECK_TEXT(box->honesty, "synthetic");
        void *curve = world_curve(box, x, 3);
        box->ops->read_curve(box, curve, 0, &value, &seconds);
        CHECK_DOUBLE(seconds, 1);
        free(curve);
        world_check_curve(box, x, 3);
        box->ops->close(box);
    }
}

/* ---- the heteroskedastic sine ---- */

static void hetero_sine_is_normal_with_the_width_of_its_place(void **state)
{
    (void)state;
    enum { N = 20000 };
    struct blackbox *box = open_function("hetero-sine");
    CHECK_NEAR(box->space.params[0].max, 6.283185307179586, 1e-11);
    static const double places[] = {0, 0.7, 1.5707963267949, 3, 4.7123889803847, 6};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        double sum = 0, squares = 0, width = pow(sin(places[k]), 2) + 0.3;
        int within = 0;
        for (uint64_t seed = 0; seed < N; seed++) {
            double v = world_value(box, &places[k], seed, 0) / width;
            sum += v;
            squares += v * v;
            within += fabs(v) < 1;
        }
        /* five standard errors of each statistic */
        CHECK_NEAR(sum / N, 0, 5 / sqrt(N));
        CHECK_NEAR(squares / N, 1, 5 * sqrt(2.0 / N));
        CHECK_NEAR(within / (double)N, 0.6826894921, 5 * sqrt(0.2166 / N));
    }
    double x = 1;
    CHECK_DOUBLE(world_value(box, &x, 7, 0), world_value(box, &x, 7, 0));
    CHECK(world_value(box, &x, 7, 0) != world_value(box, &x, 7 + ((uint64_t)1 << 40), 0),
          "the seed's high bits count");
    box->ops->close(box);
}

/* ---- synthetic-curves ---- */

enum { SAMPLES = 20000, EPOCHS = 81 };

/* A random configuration's curve. */
static void read_whole(const struct blackbox *box, uint64_t i, double config[8], double values[EPOCHS],
                       double *seconds)
{
    struct rng rng = wni_rng_stream(5, i, 0);
    wni_config_sample(&box->space, &rng, config);
    void *curve = world_curve(box, config, i);
    for (size_t level = 0; level < EPOCHS; level++)
        box->ops->read_curve(box, curve, level, &values[level], seconds);
    free(curve);
}

static void learning_curves_fall_and_some_diverge(void **state)
{
    (void)state;
    struct blackbox *box = open_function("synthetic-curves");
    CHECK_INT(box->n_levels, EPOCHS);
    CHECK_DOUBLE(box->levels[EPOCHS - 1], 81);
    CHECK_DOUBLE(box->limit_resource, 200 * 81);
    CHECK(box->space.n >= 4, "%zu parameters", box->space.n);
    double config[8], values[EPOCHS], seconds, fastest = INFINITY, slowest = 0;
    int diverged = 0;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        read_whole(box, i, config, values, &seconds);
        fastest = fmin(fastest, seconds);
        slowest = fmax(slowest, seconds);
        size_t first_nan = 0;
        while (first_nan < EPOCHS && !isnan(values[first_nan]))
            first_nan++;
        for (size_t k = first_nan; k < EPOCHS; k++)
            CHECK(isnan(values[k]), "a diverged run came back at level %zu", k);
        diverged += first_nan < EPOCHS;
        for (size_t k = 0; k < first_nan; k++) {
            CHECK(values[k] > box->best && values[k] < 3, "sample %d level %zu: %g", (int)i, k, values[k]);
            if (k >= 9)
                CHECK(values[k] < values[k - 9] + 0.008, "sample %d rises at level %zu", (int)i,
                      k); /* the noise */
        }
        if (i % 100 == 0) world_check_curve(box, config, i);
    }
    /* one in a hundred; five standard errors */
    CHECK_NEAR(diverged / (double)SAMPLES, 0.01, 5 * sqrt(0.01 * 0.99 / SAMPLES));
    CHECK(slowest > 5 * fastest, "seconds from %g to %g", fastest, slowest);
    box->ops->close(box);
}

/* Curves that cross often enough to mislead, seldom enough that an early look is worth having. */
static void early_ranks_say_something_but_not_all(void **state)
{
    (void)state;
    enum { N = 400 };
    static double values[N][EPOCHS];
    struct blackbox *box = open_function("synthetic-curves");
    double config[8], seconds;
    for (uint64_t i = 0; i < N; i++)
        read_whole(box, i, config, values[i], &seconds);
    static const size_t looks[] = {0, 2, 8, 26};
    double before = 1;
    for (size_t k = 0; k < 4; k++) {
        int pairs = 0, swapped = 0;
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < i; j++) {
                double early = values[i][looks[k]] - values[j][looks[k]],
                       late = values[i][80] - values[j][80];
                if (isnan(early) || isnan(late)) continue;
                pairs++;
                swapped += (early < 0) != (late < 0);
            }
        double share = swapped / (double)pairs;
        CHECK(share < before, "%g of the pairs cross after level %zu, %g after the look before", share,
              looks[k], before);
        before = share;
        if (k == 0) CHECK(share > 0.15 && share < 0.45, "%g of the pairs cross after the first epoch", share);
    }
    CHECK(before > 0.001 && before < 0.1, "%g of the pairs cross after epoch 27", before);
    box->ops->close(box);
}

static void the_optimum_is_where_it_is_said_to_be(void **state)
{
    (void)state;
    struct blackbox *box = open_function("synthetic-curves");
    /* lr 10^-1.2 without momentum, 256 units, depth 3, relu: the noise-free end is 0.1, and the noise stays
     * within 0.004 */
    double config[] = {0.0630957344480193, 0, 256, 3, 0}, sum = 0;
    wni_param_canonical(&box->space.params[0], config[0], &config[0]);
    enum { N = 2000 };
    for (uint64_t seed = 0; seed < N; seed++) {
        double value = world_value(box, config, seed, 80);
        CHECK(fabs(value - 0.1) < 0.004, "seed %d: %g", (int)seed, value);
        sum += value;
    }
    CHECK_NEAR(sum / N, 0.1, 5 * 0.004 * 0.29 / sqrt(N));
    CHECK_NEAR(box->best, 0.096, 1e-15);
    box->ops->close(box);
}

static void noise_belongs_to_seed_and_level(void **state)
{
    (void)state;
    struct blackbox *box = open_function("synthetic-curves");
    double config[] = {0.01, 0.5, 64, 2, 1}, quiet[EPOCHS], seen[EPOCHS], seconds, moved = 0;
    void *a = world_curve(box, config, 1), *b = world_curve(box, config, 1 + ((uint64_t)1 << 32));
    for (size_t i = 0; i < EPOCHS; i++) {
        box->ops->read_curve(box, a, i, &quiet[i], &seconds);
        box->ops->read_curve(box, b, i, &seen[i], &seconds);
        CHECK(quiet[i] != seen[i], "level %zu: the same noise for two seeds", i);
        moved += quiet[i] - seen[i] > 0;
    }
    CHECK(moved > 20 && moved < 61, "%g of 81 levels moved up: the noise is not independent", moved);
    free(a);
    free(b);
    box->ops->close(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branin_has_its_three_minima),
        cmocka_unit_test(hartmann6_has_its_minimum),
        cmocka_unit_test(rosenbrock_has_any_number_of_parameters),
        cmocka_unit_test(nothing_is_better_than_best),
        cmocka_unit_test(one_level_takes_a_second),
        cmocka_unit_test(hetero_sine_is_normal_with_the_width_of_its_place),
        cmocka_unit_test(learning_curves_fall_and_some_diverge),
        cmocka_unit_test(early_ranks_say_something_but_not_all),
        cmocka_unit_test(the_optimum_is_where_it_is_said_to_be),
        cmocka_unit_test(noise_belongs_to_seed_and_level),
    };
    return cmocka_run_group_tests_name("blackbox_function", tests, NULL, NULL);
}
