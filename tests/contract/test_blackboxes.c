/* test_blackboxes.c -- every task at hand keeps what blackbox.h promises the simulator.
 *
 * Tasks come from the code, from data/ and, where it is there, from ../shared/data. */
#include "tests/contract/contract.h"

#include "bench/kind.h"
#include "tests/unit/box_world.h"

enum { CONFIGS = 20 };

static struct task_list tasks;

struct opened {
    struct blackbox *box;
    void *curve;
};

static struct opened open_task(const struct task *task)
{
    struct err err = {0};
    struct opened o = {0};
    CHECK_OK(wni_task_open(&tasks, task->name, &o.box, &err), err);
    o.curve = aligned_alloc(64, (o.box->curve_size + 64) / 64 * 64);
    assert_non_null(o.curve);
    return o;
}

static void close_task(struct opened *o)
{
    o->box->ops->close(o->box);
    free(o->curve);
}

static double *random_config(const struct blackbox *box, uint64_t number)
{
    struct rng rng = wni_rng_stream(17, number, 92);
    double *config = calloc(box->space.n, sizeof *config);
    assert_non_null(config);
    if (number % 2)
        wni_config_sample(&box->space, &rng, config);
    else
        check_random_config(&box->space, &rng, config); /* bounds and neighbours of bounds */
    return config;
}

static uint64_t random_seed(const struct blackbox *box, uint64_t number)
{
    struct rng rng = wni_rng_stream(18, number, 92);
    return box->n_seeds > 1 ? wni_rng_below(&rng, box->n_seeds) : wni_rng_u64(&rng);
}

static void start_curve(struct opened *o, const double *config, uint64_t seed)
{
    struct err err = {0};
    memset(o->curve, 0, o->box->curve_size);
    CHECK_OK(o->box->ops->open_curve(o->box, config, seed, o->curve, &err), err);
}

/* ---- the properties ---- */

static void is_what_its_listing_says(void **row)
{
    const struct task *task = *row;
    struct opened o = open_task(task);
    world_check_listing(o.box, task);
    assert_non_null(wni_blackbox_kind(task->kind));
    close_task(&o);
}

static void has_a_space_and_levels(void **row)
{
    struct opened o = open_task(*row);
    const struct blackbox *box = o.box;
    CHECK(box->space.n > 0 && box->space.size != 1, "%zu parameters, %zu configurations", box->space.n,
          (size_t)box->space.size);
    CHECK(box->n_levels > 0 && box->levels[0] > 0, "%zu levels", box->n_levels);
    for (size_t i = 1; i < box->n_levels; i++)
        CHECK(box->levels[i] > box->levels[i - 1], "level %g follows %g", box->levels[i], box->levels[i - 1]);
    CHECK(box->n_seeds >= 1, "%u seeds", box->n_seeds);
    CHECK(box->limit_resource >= 0 && box->limit_seconds >= 0, "limits %g, %g", box->limit_resource,
          box->limit_seconds);
    close_task(&o);
}

/* Time only goes forward; values are numbers or NaN, within what the task says is best and worst. */
static void curves_are_sound(void **row)
{
    struct opened o = open_task(*row);
    const struct blackbox *box = o.box;
    double low = box->goal == WN_MINIMIZE ? box->best : box->worst,
           high = box->goal == WN_MINIMIZE ? box->worst : box->best;
    size_t numbers = 0;
    for (uint64_t k = 0; k < CONFIGS; k++) {
        double *config = random_config(box, k), before = 0, value, seconds, last = NAN;
        start_curve(&o, config, random_seed(box, k));
        if (box->ops->last_value) last = box->ops->last_value(box, o.curve);
        for (size_t level = 0; level < box->n_levels; level++) {
            box->ops->read_curve(box, o.curve, level, &value, &seconds);
            CHECK(seconds >= before && isfinite(seconds), "%g s at level %zu, %g s before", seconds, level,
                  before);
            before = seconds;
            CHECK(!isinf(value), "value %g at level %zu", value, level);
            double slack = 1e-6 * fabs(value); /* bounds are printed decimals of floats */
            CHECK(isnan(value) || isnan(low) || value >= low - slack, "%.9g at level %zu, the least is %.9g",
                  value, level, low);
            CHECK(isnan(value) || isnan(high) || value <= high + slack,
                  "%.9g at level %zu, the largest is %.9g", value, level, high);
            if (!isnan(value)) numbers++;
        }
        if (box->ops->last_value) CHECK_DOUBLE(last, value);
        free(config);
    }
    CHECK(numbers > 0, "not one of %d curves has a value", CONFIGS);
    close_task(&o);
}

/* The same configuration and seed: the same curve, whatever was opened between and in whatever order it is
 * read. */
static void curves_are_reproducible(void **row)
{
    struct opened a = open_task(*row), b = open_task(*row);
    const struct blackbox *box = a.box;
    struct rng rng = wni_rng_stream(19, 0, 92);
    double *values = calloc(2 * box->n_levels, sizeof *values), *seconds = values + box->n_levels;
    assert_non_null(values);
    for (uint64_t k = 0; k < CONFIGS / 2; k++) {
        double *config = random_config(box, k), *other = random_config(box, k + 1000), value, second;
        start_curve(&a, config, random_seed(box, k));
        for (size_t level = 0; level < box->n_levels; level++)
            box->ops->read_curve(box, a.curve, level, &values[level], &seconds[level]);
        start_curve(&a, other, random_seed(box, k + 1000));
        box->ops->read_curve(box, a.curve, 0, &value, &second);
        start_curve(&b, config, random_seed(box, k));
        for (size_t i = 0; i < 2 * box->n_levels; i++) {
            size_t level = i < box->n_levels ? box->n_levels - 1 - i : wni_rng_below(&rng, box->n_levels);
            b.box->ops->read_curve(b.box, b.curve, level, &value, &second);
            CHECK(check_same_double(value, values[level]), "level %zu: %.17g, then %.17g", level,
                  values[level], value);
            CHECK(check_same_double(second, seconds[level]), "level %zu: %.17g s, then %.17g s", level,
                  seconds[level], second);
        }
        free(config);
        free(other);
    }
    free(values);
    close_task(&a);
    close_task(&b);
}

/* Workers read their curves in turns. */
static void curves_do_not_mix(void **row)
{
    struct opened o = open_task(*row);
    const struct blackbox *box = o.box;
    struct opened second = {.box = o.box, .curve = aligned_alloc(64, (box->curve_size + 64) / 64 * 64)};
    assert_non_null(second.curve);
    double *one = random_config(box, 1), *two = random_config(box, 3), a, b, x, y, s;
    start_curve(&o, one, 0);
    box->ops->read_curve(box, o.curve, box->n_levels - 1, &a, &s);
    start_curve(&o, two, 0);
    box->ops->read_curve(box, o.curve, box->n_levels - 1, &b, &s);
    start_curve(&o, one, 0);
    start_curve(&second, two, 0);
    box->ops->read_curve(box, second.curve, 0, &y, &s);
    box->ops->read_curve(box, o.curve, box->n_levels - 1, &x, &s);
    box->ops->read_curve(box, second.curve, box->n_levels - 1, &y, &s);
    CHECK_DOUBLE(x, a);
    CHECK_DOUBLE(y, b);
    free(one);
    free(two);
    free(second.curve);
    close_task(&o);
}

static const struct property properties[] = {
    {"is what its listing says", is_what_its_listing_says},
    {"has a space and levels", has_a_space_and_levels},
    {"curves are sound", curves_are_sound},
    {"curves are reproducible", curves_are_reproducible},
    {"curves do not mix", curves_do_not_mix},
};

static const char *name_at(size_t i)
{
    return tasks.items[i].name;
}

static const void *row_at(size_t i)
{
    return &tasks.items[i];
}

/* ---- the listing ---- */

static void nothing_at_hand_is_broken(void **state)
{
    (void)state;
    CHECK(tasks.n_warnings == 0, "%zu folders cannot be read: %s", tasks.n_warnings, tasks.warnings[0]);
}

static void every_kind_has_a_task(void **state)
{
    (void)state;
    for (size_t i = 0; wni_blackbox_kinds[i]; i++) {
        size_t n = 0;
        for (size_t k = 0; k < tasks.n; k++)
            n += !strcmp(tasks.items[k].kind, wni_blackbox_kinds[i]->name);
        if (n) continue;
        print_message("# skip: no task of kind %s is at hand (../shared/data is not there)\n",
                      wni_blackbox_kinds[i]->name);
        skip();
    }
}

static void an_unknown_task_is_not_found(void **state)
{
    (void)state;
    struct blackbox *box;
    struct err err = {0};
    CHECK_INT(wni_task_open(&tasks, "brannin", &box, &err), WN_ENOTFOUND);
    assert_null(box);
    CHECK(strstr(err.text, "did you mean 'branin'"), "got '%s'", err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_at_hand_is_broken),
                                       cmocka_unit_test(every_kind_has_a_task),
                                       cmocka_unit_test(an_unknown_task_is_not_found)};
    struct err err = {0};
    bool large =
        access("../shared/data", R_OK) == 0; /* a folder that is named and missing would be a warning */
    if (wni_tasks_find(&tasks, large ? "data:../shared/data" : "data", &err)) return 1;
    int failed = contract_run("blackboxes", properties, sizeof properties / sizeof *properties, tasks.n,
                              name_at, row_at);
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    wni_tasks_release(&tasks);
    return failed;
}
