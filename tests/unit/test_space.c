/* test_space.c -- parameters and configurations: what is refused and in which words, the values of a
 * parameter, text and back, index and back, uniform sampling, hashes. */
#include "tests/check.h"

#include "base/number.h"
#include "core/encode.h"
#include "num/stats.h"

enum { SPACES = 3000, VALUES = 20, PARAMS_MAX = 6 };

static const struct param *add(struct space *space, struct param_decl decl)
{
    if (!decl.name) decl.name = "x";
    check_add(space, decl);
    return &space->params[space->n - 1];
}

static const struct param *only(struct space *space, struct param_decl decl)
{
    wni_space_init(space);
    return add(space, decl);
}

/* ---- refusals ---- */

#define FLOAT .name = "x", .kind = PARAM_FLOAT
#define INT   .name = "x", .kind = PARAM_INT
#define LABELS(...)                                                                                          \
    .labels = (const char *const[]){__VA_ARGS__},                                                            \
    .n_labels = sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)

static const struct mistake {
    struct param_decl decl;
    const char *message;
} mistakes[] = {
    {{FLOAT, .min = NAN, .max = 1}, "parameter 'x': bounds must be finite numbers"},
    {{FLOAT, .min = 0, .max = INFINITY}, "parameter 'x': bounds must be finite numbers"},
    {{FLOAT, .min = 2, .max = 1.5}, "parameter 'x': min 2 is above max 1.5"},
    {{FLOAT, .min = 0.5, .max = 0.5},
     "parameter 'x': min and max are both 0.5; use a constant for a fixed value"},
    {{FLOAT, .min = 0, .max = 1, .scale = WN_LOG}, "parameter 'x': log scale needs a lower bound above 0"},
    {{FLOAT, .min = -1, .max = 1, .scale = WN_LOG}, "parameter 'x': log scale needs a lower bound above 0"},
    {{FLOAT, .min = 0, .max = 1, .scale = (wn_scale)7}, "parameter 'x': unknown scale"},
    {{FLOAT, .min = 1e-301, .max = 1, .scale = WN_LOG},
     "parameter 'x': the lower bound of a log scale must be at least 1e-300"},
    {{FLOAT, .min = -1e301, .max = 1}, "parameter 'x': bounds must lie within +-1e+300"},
    {{FLOAT, .min = -1e308, .max = 1e308}, "parameter 'x': bounds must lie within +-1e+300"},
    {{FLOAT, .min = 1, .max = 1 + 9e-11},
     "parameter 'x': the range is too narrow next to its bounds (below 1e-10 of them)"},
    {{FLOAT, .min = 1, .max = 1 + 9e-11, .scale = WN_LOG},
     "parameter 'x': the range is too narrow next to its bounds (below 1e-10 of them)"},
    {{FLOAT, .min = 0, .max = 1e-291},
     "parameter 'x': the range is too narrow next to its bounds (below 1e-10 of them)"},
    {{FLOAT, .min = 0, .max = 1, .step = -0.1}, "parameter 'x': step must be above 0"},
    {{FLOAT, .min = 0, .max = 1, .step = NAN}, "parameter 'x': step must be above 0"},
    {{FLOAT, .min = 0, .max = 1, .step = INFINITY}, "parameter 'x': step must be above 0"},
    {{FLOAT, .min = 0, .max = 1, .step = 1.25}, "parameter 'x': step 1.25 is wider than the range"},
    {{FLOAT, .min = 0, .max = 1, .step = 9e-10}, "parameter 'x': more than 1e9 steps; leave the step out"},
    {{FLOAT, .min = 1e8, .max = 1e8 + 0.1, .step = 1e-3},
     "parameter 'x': the step is too small next to the bounds (below 1e-10 of them)"},
    {{INT, .min = 3, .max = 1}, "parameter 'x': min 3 is above max 1"},
    {{INT, .min = 3, .max = 3}, "parameter 'x': min and max are both 3; use a constant for a fixed value"},
    {{INT, .min = 0, .max = 8, .scale = WN_LOG}, "parameter 'x': log scale needs a lower bound above 0"},
    {{INT, .min = 0.5, .max = 8}, "parameter 'x': bounds and step of an int must be whole numbers"},
    {{INT, .min = 0, .max = 8.25}, "parameter 'x': bounds and step of an int must be whole numbers"},
    {{INT, .min = 0, .max = 8, .step = 1.5},
     "parameter 'x': bounds and step of an int must be whole numbers"},
    {{INT, .min = 0, .max = 8, .step = 9}, "parameter 'x': step 9 is wider than the range"},
    {{INT, .min = 0, .max = 8, .step = -1}, "parameter 'x': step must be above 0"},
    {{INT, .min = 0, .max = 0x1p45 + 1}, "parameter 'x': int bounds must lie within +-35184372088832"},
    {{INT, .min = -0x1p45 - 1, .max = 0}, "parameter 'x': int bounds must lie within +-35184372088832"},
    {{.name = "x", .kind = PARAM_CATEGORICAL}, "parameter 'x': needs at least one value"},
    {{.name = "x", .kind = PARAM_ORDINAL}, "parameter 'x': needs at least one value"},
    {{.name = "x", .kind = PARAM_CATEGORICAL, LABELS("a", "b", "a")},
     "parameter 'x': value 'a' is there twice"},
    {{.name = "x", .kind = PARAM_CATEGORICAL, LABELS("a", NULL)}, "parameter 'x': value 2 is missing"},
    {{.name = "x", .kind = PARAM_ORDINAL, LABELS("1", "3", "2")},
     "parameter 'x': ordinal values must increase, but 2 follows 3"},
    {{.name = "x", .kind = PARAM_ORDINAL, LABELS("1", "1.0")},
     "parameter 'x': ordinal values must increase, but 1.0 follows 1"},
    {{.name = "x", .kind = PARAM_ORDINAL, .scale = WN_LOG, LABELS("small", "large")},
     "parameter 'x': log scale needs values that are numbers"},
    {{.name = "x", .kind = PARAM_ORDINAL, .scale = WN_LOG, .text_values = true, LABELS("1", "2")},
     "parameter 'x': log scale needs values that are numbers"},
    {{.name = "x", .kind = PARAM_ORDINAL, .scale = WN_LOG, LABELS("0", "2")},
     "parameter 'x': log scale needs values above 0, within 1e-300..1e+300"},
    {{.name = "x", .kind = PARAM_ORDINAL, .scale = WN_LOG, LABELS("1", "1.0000000000001")},
     "parameter 'x': 1 and 1.0000000000001 are too close for a log scale"},
    {{.name = "x", .kind = PARAM_CONSTANT}, "parameter 'x': a constant has one value"},
    {{.name = "x", .kind = PARAM_CONSTANT, LABELS("a", "b")}, "parameter 'x': a constant has one value"},
    {{.name = "x", .kind = PARAM_CONSTANT, LABELS(NULL)}, "parameter 'x': value 1 is missing"},
    {{.name = "x", .kind = (enum param_kind)77}, "parameter 'x': unknown type"},
    {{.name = "taken", .kind = PARAM_BOOL}, "parameter 'taken': declared twice"},
    {{.name = NULL, .kind = PARAM_BOOL},
     "parameter '': a name has 1 to 64 letters, digits, '_', '-' or '.' and starts with a letter or '_'"},
    {{.name = "", .kind = PARAM_BOOL},
     "parameter '': a name has 1 to 64 letters, digits, '_', '-' or '.' and starts with a letter or '_'"},
    {{.name = "9lives", .kind = PARAM_BOOL},
     "parameter '9lives': a name has 1 to 64 letters, digits, '_', '-' or '.' and starts with a letter or "
     "'_'"},
    {{.name = "h\xe9", .kind = PARAM_BOOL},
     "parameter 'h\xe9': a name has 1 to 64 letters, digits, '_', '-' or '.' and starts with a letter or "
     "'_'"},
    {{.name = "-x", .kind = PARAM_BOOL},
     "parameter '-x': a name has 1 to 64 letters, digits, '_', '-' or '.' and starts with a letter or '_'"},
    {{.name = "two words", .kind = PARAM_BOOL},
     "parameter 'two words': a name has 1 to 64 letters, digits, '_', '-' or '.' and starts with a letter or "
     "'_'"},
    {{.name = "a2345678901234567890123456789012345678901234567890123456789012345", .kind = PARAM_BOOL},
     "parameter 'a2345678901234567890123456789012345678901234567890123456789012345': a name has 1 to 64 "
     "letters, digits, "
     "'_', '-' or '.' and starts with a letter or '_'"},
};

static void mistakes_are_named(void **state)
{
    (void)state;
    struct space space;
    only(&space, (struct param_decl){.name = "taken", .kind = PARAM_INT, .min = 1, .max = 3});
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct err err = {0};
        CHECK_INT(wni_space_add(&space, &mistakes[i].decl, &err), WN_EINVAL);
        CHECK_TEXT(err.text, mistakes[i].message);
        CHECK_INT(wni_space_add(&space, &mistakes[i].decl, NULL), WN_EINVAL); /* nobody need listen */
        CHECK_INT(space.n, 1);
        CHECK_INT(space.size, 3);
        CHECK_INT(space.unit_width, 1);
        CHECK_INT(space.tree_width, 1);
    }
    wni_space_release(&space);
}

/* The other side of each limit. */
static void what_is_just_allowed(void **state)
{
    (void)state;
    const struct param_decl fine[] = {
        {FLOAT, .min = 1e-300, .max = 1e300, .scale = WN_LOG},
        {FLOAT, .min = -1e300, .max = 1e300},
        {FLOAT, .min = 1, .max = 1 + 1.1e-10},
        {FLOAT, .min = 0, .max = 1e-290},
        {FLOAT, .min = 0, .max = 1, .step = 1},
        {FLOAT, .min = 0, .max = 1, .step = 1e-9},
        {FLOAT, .min = 1e8, .max = 1e8 + 0.1, .step = 0.011},
        {INT, .min = -0x1p45, .max = 0x1p45},
        {INT, .min = 1, .max = 2, .scale = WN_LOG},
        {.name = "a-b.c_9", .kind = PARAM_BOOL},
        {.name = "_", .kind = PARAM_BOOL},
        {.name = "a234567890123456789012345678901234567890123456789012345678901234", .kind = PARAM_BOOL},
        {.name = "x", .kind = PARAM_ORDINAL, LABELS("1", "x", "0")},
        {.name = "x", .kind = PARAM_ORDINAL, .text_values = true, LABELS("3", "2", "1")},
        {.name = "x", .kind = PARAM_ORDINAL, .scale = WN_LOG, LABELS("7")},
        {.name = "x", .kind = PARAM_CATEGORICAL, LABELS("", " ", "1", "1.0")},
    };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        struct space space;
        only(&space, fine[i]);
        wni_space_release(&space);
    }
}

/* ---- shape of a parameter ---- */

static void the_last_step_is_the_upper_bound(void **state)
{
    (void)state;
    static const struct {
        struct param_decl decl;
        uint64_t count;
        double max;
    } cases[] = {
        {{FLOAT, .min = 0, .max = 1, .step = 0.1}, 11, 1},
        {{FLOAT, .min = 0, .max = 0.95, .step = 0.1}, 10, 0.9},
        {{FLOAT, .min = 0.1, .max = 0.7, .step = 0.2}, 4, 0.7},
        {{FLOAT, .min = -0.3, .max = 0.3, .step = 0.1}, 7, 0.3},
        {{FLOAT, .min = 0, .max = 1.9995, .step = 1}, 2, 1},
        {{FLOAT, .min = 0, .max = 1, .step = 1.0 / 3}, 4, 1},
        {{FLOAT, .min = 1.0 / 3, .max = 2, .step = 1.0 / 3}, 6, 2},
        {{FLOAT, .min = 0, .max = 1, .step = 1e-9}, 1000000001, 1},
        {{FLOAT, .min = 0, .max = 10.2, .step = 0.7}, 15, 9.8},
        {{FLOAT, .min = 1e6, .max = 1e6 + 1, .step = 1e-3}, 1001, 1e6 + 1},
        {{INT, .min = 0, .max = 10}, 11, 10},
        {{INT, .min = 0, .max = 10, .step = 3}, 4, 9},
        {{INT, .min = -5, .max = 5, .step = 5}, 3, 5},
        {{INT, .min = -0x1p45, .max = 0x1p45}, ((uint64_t)1 << 46) + 1, 0x1p45},
        {{INT, .min = 0, .max = 0x1p45 - 1, .step = 2}, (uint64_t)1 << 44, 0x1p45 - 2},
        {{INT, .min = 0, .max = 2e13 - 1, .step = 1e13}, 2, 1e13},
        {{INT, .min = 1, .max = 0x1p45, .scale = WN_LOG}, (uint64_t)1 << 45, 0x1p45},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct space space;
        const struct param *p = only(&space, cases[i].decl);
        CHECK_INT(p->count, cases[i].count);
        CHECK_DOUBLE(p->max, cases[i].max);
        CHECK_DOUBLE(wni_param_value_at(p, p->count - 1), p->max);
        CHECK_DOUBLE(wni_param_value_at(p, 0), p->min);
        wni_space_release(&space);
    }
}

static void steps_of_a_tenth_are_tenths(void **state)
{
    (void)state;
    static const double tenths[] = {-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3};
    struct space space;
    const struct param *p = only(&space, (struct param_decl){FLOAT, .min = -0.3, .max = 0.3, .step = 0.1});
    for (uint64_t k = 0; k < 7; k++)
        CHECK_DOUBLE(wni_param_value_at(p, k), tenths[k]);
    wni_space_release(&space);
}

static void check_same_param(const struct param *a, const struct param *b)
{
    CHECK_TEXT(a->name, b->name);
    CHECK_INT(a->kind, b->kind);
    CHECK_INT(a->scale, b->scale);
    CHECK_INT(a->count, b->count);
    CHECK_INT(a->places, b->places);
    CHECK_DOUBLE(a->min, b->min);
    CHECK_DOUBLE(a->max, b->max);
    CHECK_DOUBLE(a->step, b->step);
    CHECK_DOUBLE(a->unit_from, b->unit_from);
    CHECK_DOUBLE(a->unit_span, b->unit_span);
    CHECK_DOUBLE(a->lowest, b->lowest);
    CHECK_DOUBLE(a->highest, b->highest);
    CHECK_INT(!a->labels, !b->labels);
    CHECK_INT(!a->numbers, !b->numbers);
    for (size_t i = 0; i < a->count && a->labels; i++) {
        CHECK_TEXT(a->labels[i], b->labels[i]);
        if (a->numbers) CHECK_DOUBLE(a->numbers[i], b->numbers[i]);
    }
}

/* Also shows that a space written down as min, max, step and read again is the same. */
static void a_copy_is_the_same_space(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 1);
        struct space space, copy;
        struct err err = {0};
        check_random_space(&space, &rng, (size_t)check_between(&rng, 1, PARAMS_MAX));
        CHECK_OK(wni_space_copy(&copy, &space, &err), err);
        CHECK_INT(copy.n, space.n);
        CHECK_INT(copy.size, space.size);
        CHECK_INT(copy.unit_width, space.unit_width);
        CHECK_INT(copy.tree_width, space.tree_width);
        for (size_t i = 0; i < space.n; i++)
            check_same_param(&copy.params[i], &space.params[i]);
        wni_space_release(&space);
        wni_space_release(&copy);
    }
}

static void the_size_of_a_space(void **state)
{
    (void)state;
    struct space space;
    wni_space_init(&space);
    CHECK_INT(space.size, 1);
    add(&space, (struct param_decl){.name = "a", .kind = PARAM_INT, .min = 1, .max = 6});
    CHECK_INT(space.size, 6);
    add(&space, (struct param_decl){.name = "b", .kind = PARAM_BOOL});
    CHECK_INT(space.size, 12);
    add(&space, (struct param_decl){.name = "c", .kind = PARAM_CONSTANT, LABELS("v")});
    CHECK_INT(space.size, 12);
    add(&space, (struct param_decl){.name = "d", .kind = PARAM_INT, .min = 1, .max = 0x1p45});
    CHECK_INT(space.size, 12 * ((uint64_t)1 << 45));
    add(&space, (struct param_decl){.name = "e", .kind = PARAM_INT, .min = 1, .max = 1 << 14});
    CHECK_INT(space.size, 12 * ((uint64_t)1 << 59)); /* 0.75 of 2^63 */
    add(&space, (struct param_decl){.name = "f", .kind = PARAM_BOOL});
    CHECK_INT(space.size, 0); /* more than fits */
    wni_space_release(&space);
    only(&space, (struct param_decl){FLOAT, .min = 0, .max = 1});
    CHECK_INT(space.size, 0); /* a continuum */
    wni_space_release(&space);
}

static void parameters_are_found_by_name(void **state)
{
    (void)state;
    struct space space;
    size_t at = 99;
    wni_space_init(&space);
    CHECK(!wni_space_find(&space, "a", &at), "found at %zu", at);
    add(&space, (struct param_decl){.name = "a", .kind = PARAM_BOOL});
    add(&space, (struct param_decl){.name = "b", .kind = PARAM_BOOL});
    CHECK(wni_space_find(&space, "b", &at) == &space.params[1], "found at %zu", at);
    CHECK_INT(at, 1);
    CHECK(wni_space_find(&space, "a", NULL) == &space.params[0], "not the first of %zu", space.n);
    CHECK(!wni_space_find(&space, "B", &at), "found at %zu", at);
    wni_space_release(&space);
}

/* ---- canonical values ---- */

static double random_inside(const struct param *p, struct rng *rng)
{
    if (check_chance(rng, 50)) return wni_param_from_unit(p, wni_rng_uniform(rng));
    double x = check_uniform(rng, p->min, p->max);
    return fmin(fmax(x, p->min), p->max);
}

static void canonical_is_idempotent_and_monotone(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 1, 1);
        struct space space;
        wni_space_init(&space);
        const struct param *p = check_add_random(&space, &rng, PARAM_FLOAT);
        for (int i = 0; i < VALUES && p->count == 0; i++) {
            double x = random_inside(p, &rng), a = NAN, b = NAN, again = NAN;
            double y = check_chance(&rng, 50) ? nextafter(x, p->max)
                                              : fmin(p->max, x + fabs(x) * check_magnitude(&rng, -16, -9));
            CHECK(wni_param_canonical(p, x, &a) && wni_param_canonical(p, y, &b), "%.17g or %.17g refused", x,
                  y);
            CHECK(a <= b, "%.17g <= %.17g, but %.17g > %.17g", x, y, a, b);
            CHECK(wni_param_canonical(p, a, &again) && again == a, "%.17g, then %.17g, then %.17g", x, a,
                  again);
            CHECK(a >= p->min && a <= p->max, "%.17g outside %.17g..%.17g", a, p->min, p->max);
        }
        wni_space_release(&space);
    }
}

/* 12 digits on a log scale; on a linear one a last place of at most 1e-12 of the range (or 1e-14 of the
 * bounds). */
static void floats_print_short(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 2, 1);
        struct space space;
        wni_space_init(&space);
        const struct param *p = check_add_random(&space, &rng, PARAM_FLOAT);
        for (int i = 0; i < VALUES; i++) {
            double value = wni_param_sample(p, &rng);
            if (value == p->min || value == p->max) continue; /* the bounds are as the user wrote them */
            char text[64];
            snprintf(text, sizeof text, "%.*e", p->scale == WN_LOG && p->step == 0 ? 11 : 14, value);
            CHECK(strtod(text, NULL) == value, "%.17g has more digits than %s", value, text);
        }
        wni_space_release(&space);
    }
}

static void what_is_outside_is_refused(void **state)
{
    (void)state;
    struct space space;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 3, 1);
        wni_space_init(&space);
        const struct param *p =
            check_add_random(&space, &rng, (enum param_kind)(seed % (PARAM_CONSTANT + 1)));
        double low = p->labels ? 0 : p->min, high = p->labels ? (double)p->count - 1 : p->max, out = 1234;
        const double outside[] = {
            NAN, INFINITY, -INFINITY, nextafter(low, -INFINITY), nextafter(high, INFINITY), 1e305, -1e305};
        for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
            CHECK(!wni_param_canonical(p, outside[i], &out) && out == 1234,
                  "%.17g accepted in %.17g..%.17g, out %g", outside[i], low, high, out);
        if (p->count > 1 && p->kind != PARAM_FLOAT) /* between two values */
            CHECK(!wni_param_canonical(p, low + (p->labels ? 0.5 : p->step / 3), &out), "%g became %g", low,
                  out);
        wni_space_release(&space);
    }
    const struct param *p = only(&space, (struct param_decl){FLOAT, .min = 0, .max = 1, .step = 0.1});
    double out = -1;
    CHECK(wni_param_canonical(p, 0.1 + 0.2, &out) && out == 0.3, "0.1 + 0.2 is %.17g", out);
    CHECK(!wni_param_canonical(p, 0.3001, &out), "0.3001 is %.17g", out);
    wni_space_release(&space);
    p = only(&space, (struct param_decl){INT, .min = 0, .max = 0x1p40, .step = 0x1p36});
    CHECK(!wni_param_canonical(p, 0x1p36 + 1, &out), "2^36 + 1 is %.17g", out);
    wni_space_release(&space);
}

static void nearest_takes_anything(void **state)
{
    (void)state;
    struct space space;
    const struct param *p = only(&space, (struct param_decl){INT, .min = 10, .max = 20, .step = 5});
    static const double cases[][2] = {{-INFINITY, 10}, {NAN, 10},  {12.4, 10},
                                      {12.6, 15},      {17.6, 20}, {1e300, 20}};
    for (size_t i = 0; i < 6; i++)
        CHECK_DOUBLE(wni_param_nearest(p, cases[i][0]), cases[i][1]);
    wni_space_release(&space);
    p = only(&space, (struct param_decl){FLOAT, .min = 1, .max = 2});
    CHECK_DOUBLE(wni_param_nearest(p, NAN), 1);
    CHECK_DOUBLE(wni_param_nearest(p, -5), 1);
    CHECK_DOUBLE(wni_param_nearest(p, INFINITY), 2);
    CHECK_DOUBLE(wni_param_nearest(p, 1.23456789012345), 1.234567890123);
    wni_space_release(&space);
}

/* Bounds with 17 digits lie next to a value of the grid: there must not be two values a hair apart. */
static void bounds_absorb_their_neighbour_on_the_grid(void **state)
{
    (void)state;
    struct space space;
    double out;
    const struct param *p =
        only(&space, (struct param_decl){FLOAT, .scale = WN_LOG, .min = 0.01, .max = 0.10000000000000002});
    CHECK(wni_param_canonical(p, 0.1, &out) && out == p->max, "0.1 became %.17g", out);
    CHECK(wni_param_canonical(p, 0.0999999999999, &out) && out == 0.0999999999999, "became %.17g", out);
    wni_space_release(&space);
    p = only(&space, (struct param_decl){FLOAT, .min = 0.29999999999999993, .max = 1});
    CHECK(wni_param_canonical(p, 0.3, &out) && out == p->min, "0.3 became %.17g", out);
    wni_space_release(&space);
}

static void negative_zero_is_zero(void **state)
{
    (void)state;
    struct space space;
    double out = 1;
    const struct param *p = only(&space, (struct param_decl){FLOAT, .min = -0.0, .max = 1});
    CHECK_DOUBLE(p->min, 0.0);
    wni_space_release(&space);
    p = only(&space, (struct param_decl){FLOAT, .min = -1, .max = -0.0});
    CHECK_DOUBLE(p->max, 0.0);
    wni_space_release(&space);
    p = only(&space, (struct param_decl){FLOAT, .min = -1, .max = 1});
    CHECK(wni_param_canonical(p, -1e-20, &out) && !signbit(out), "-1e-20 became %g", out);
    CHECK_DOUBLE(out, 0.0);
    const double zero = 0.0, minus = -0.0;
    CHECK(wni_config_equal(&space, &zero, &minus), "0 and -0 of %zu parameters differ", space.n);
    CHECK(wni_config_hash(&space, &zero) == wni_config_hash(&space, &minus),
          "hashes of 0 and -0 differ in %zu", space.n);
    wni_space_release(&space);
    p = only(&space, (struct param_decl){FLOAT, .min = -1, .max = 1, .step = 0.1});
    CHECK_DOUBLE(wni_param_value_at(p, 10), 0.0);
    wni_space_release(&space);
}

/* ---- index and back ---- */

static void values_and_indices_are_a_bijection(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 4, 1);
        struct space space;
        wni_space_init(&space);
        const struct param *p =
            check_add_random(&space, &rng, (enum param_kind)(seed % (PARAM_CONSTANT + 1)));
        uint64_t all = p->count < 200 ? p->count : 200;
        double before = -INFINITY;
        for (uint64_t i = 0; i < all; i++) {
            uint64_t k = p->count == all ? i : wni_rng_below(&rng, p->count);
            double value = wni_param_value_at(p, k);
            check_in_space(p, value);
            CHECK_INT(wni_param_index_of(p, value), k);
            CHECK(p->count != all || value > before, "value %.17g follows %.17g", value, before);
            before = value;
            if (k + 1 < p->count)
                CHECK(wni_param_value_at(p, k + 1) > value, "%.17g is not below the next", value);
        }
        wni_space_release(&space);
    }
}

static void configurations_count_with_the_last_parameter_fastest(void **state)
{
    (void)state;
    struct space space;
    only(&space, (struct param_decl){.name = "a", .kind = PARAM_INT, .min = 5, .max = 6});
    add(&space, (struct param_decl){.name = "b", .kind = PARAM_CONSTANT, LABELS("v")});
    add(&space, (struct param_decl){.name = "c", .kind = PARAM_FLOAT, .min = 0, .max = 1, .step = 0.5});
    static const double expected[6][3] = {{5, 0, 0}, {5, 0, 0.5}, {5, 0, 1},
                                          {6, 0, 0}, {6, 0, 0.5}, {6, 0, 1}};
    for (uint64_t k = 0; k < 6; k++) {
        double config[3];
        wni_config_at(&space, k, config);
        for (int i = 0; i < 3; i++)
            CHECK_DOUBLE(config[i], expected[k][i]);
        CHECK_INT(wni_config_index(&space, config), k);
    }
    wni_space_release(&space);
}

static void configurations_and_indices_are_a_bijection(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct rng rng = wni_rng_stream(seed, 5, 1);
        struct space space;
        double config[16];
        check_random_finite_space(&space, &rng, 5000);
        for (uint64_t k = 0; k < space.size; k++) {
            wni_config_at(&space, k, config);
            CHECK_INT(wni_config_index(&space, config), k);
        }
        wni_config_sample(&space, &rng, config);
        CHECK(wni_config_index(&space, config) < space.size, "size %llu", (unsigned long long)space.size);
        wni_space_release(&space);
    }
}

static void indices_of_a_space_nearly_too_large(void **state)
{
    (void)state;
    struct space space;
    struct rng rng = wni_rng_stream(6, 6, 1);
    only(&space,
         (struct param_decl){.name = "a", .kind = PARAM_INT, .min = -0x1p45, .max = 0x1p45, .step = 3});
    add(&space, (struct param_decl){.name = "b", .kind = PARAM_FLOAT, .min = 0, .max = 1, .step = 0.001});
    add(&space, (struct param_decl){.name = "c", .kind = PARAM_INT, .min = 1, .max = 300, .scale = WN_LOG});
    CHECK(space.size > (uint64_t)1 << 61, "size %llu", (unsigned long long)space.size);
    for (int i = 0; i < 10000; i++) {
        double config[3];
        uint64_t k = i == 0 ? space.size - 1 : wni_rng_below(&rng, space.size);
        wni_config_at(&space, k, config);
        CHECK_INT(wni_config_index(&space, config), k);
    }
    wni_space_release(&space);
}

/* ---- text and back ---- */

static void text_reads_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 7, 1);
        struct space space;
        check_random_space(&space, &rng, (size_t)check_between(&rng, 1, PARAMS_MAX));
        for (size_t i = 0; i < space.n; i++)
            for (int j = 0; j < VALUES; j++) {
                const struct param *p = &space.params[i];
                char scratch[WN_WHY_MAX];
                struct err err = {0};
                double value = check_random_value(p, &rng), back = NAN;
                CHECK_OK(wni_param_parse(p, wni_param_text(p, value, scratch), &back, &err), err);
                CHECK_DOUBLE(back, value);
            }
        wni_space_release(&space);
    }
}

static void check_text(const struct param *p, const char *text, double expected)
{
    double value = NAN;
    struct err err = {0};
    CHECK_OK(wni_param_parse(p, text, &value, &err), err);
    CHECK_DOUBLE(value, expected);
}

static void check_refused(const struct param *p, const char *text, const char *message)
{
    double value;
    struct err err = {0};
    CHECK_INT(wni_param_parse(p, text, &value, &err), WN_EINVAL);
    CHECK_TEXT(err.text, message);
}

static void numbers_are_read(void **state)
{
    (void)state;
    struct space space;
    const struct param *p =
        only(&space, (struct param_decl){FLOAT, .min = 1e-5, .max = 0.1, .scale = WN_LOG});
    check_text(p, "0.001", 0.001);
    check_text(p, "1e-3", 0.001);
    check_text(p, "0.012345678901234", 0.0123456789012);
    check_refused(p, "fast", "parameter 'x': 'fast' is not a number");
    check_refused(p, "", "parameter 'x': '' is not a number");
    check_refused(p, "0.2", "parameter 'x': 0.2 is outside 1e-05..0.1");
    check_refused(p, "nan", "parameter 'x': nan is outside 1e-05..0.1");
    wni_space_release(&space);
    p = only(&space, (struct param_decl){INT, .min = 10, .max = 30, .step = 5});
    check_text(p, "15", 15);
    check_text(p, "2e1", 20);
    check_refused(p, "12", "parameter 'x': 12 is not 10 plus a multiple of 5");
    check_refused(p, "35", "parameter 'x': 35 is outside 10..30");
    wni_space_release(&space);
    p = only(&space, (struct param_decl){INT, .min = 1, .max = 3});
    check_refused(p, "1.5", "parameter 'x': 1.5 is not a whole number");
    wni_space_release(&space);
    p = only(&space, (struct param_decl){FLOAT, .min = 0, .max = 1, .step = 0.25});
    check_text(p, "0.75", 0.75);
    check_refused(p, "0.8", "parameter 'x': 0.8 is not 0 plus a multiple of 0.25");
    wni_space_release(&space);
}

static void words_are_read(void **state)
{
    (void)state;
    struct space space;
    const struct param *p = only(&space, (struct param_decl){.kind = PARAM_BOOL});
    static const char *const yes[] = {"true", "yes", "on", "1", "True"}, *const no[] = {"false", "no", "off",
                                                                                        "0", "False"};
    for (size_t i = 0; i < 5; i++)
        check_text(p, yes[i], 1), check_text(p, no[i], 0);
    check_refused(p, "maybe", "parameter 'x': 'maybe' is not one of false, true");
    check_refused(p, "2", "parameter 'x': '2' is not one of false, true");
    wni_space_release(&space);
    p = only(&space, (struct param_decl){.kind = PARAM_ORDINAL, LABELS("0.5", "2", "64")});
    check_text(p, "2", 1);
    check_text(p, "2.0", 1); /* the same number */
    check_text(p, "5e-1", 0);
    check_refused(p, "3", "parameter 'x': '3' is not one of 0.5, 2, 64");
    CHECK_DOUBLE(wni_param_number(p, 2), 64);
    wni_space_release(&space);
    p = only(&space, (struct param_decl){.kind = PARAM_CATEGORICAL, LABELS("1.0", "1", "relu")});
    check_text(p, "1", 1); /* the exact word before the same number */
    check_text(p, "1.0", 0);
    check_text(p, "1.00", 0);
    check_text(p, "relu", 2);
    check_refused(p, "Relu", "parameter 'x': 'Relu' is not one of 1.0, 1, relu");
    CHECK_DOUBLE(wni_param_number(p, 0), 1);
    CHECK_DOUBLE(wni_param_number(p, 2), NAN);
    wni_space_release(&space);
    p = only(&space, (struct param_decl){
                         .kind = PARAM_CATEGORICAL,
                         LABELS("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n")});
    check_refused(p, "z",
                  "parameter 'x': 'z' is not one of a, b, c, d, e, f, g, h, i, j, k, l, ... (14 in all)");
    wni_space_release(&space);
}

/* ---- sampling ---- */

static void sampling_never_leaves_the_space(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < SPACES; seed++) {
        struct rng rng = wni_rng_stream(seed, 8, 1);
        struct space space;
        double config[PARAMS_MAX];
        check_random_space(&space, &rng, (size_t)check_between(&rng, 1, PARAMS_MAX));
        for (int j = 0; j < VALUES; j++) {
            wni_config_sample(&space, &rng, config);
            for (size_t i = 0; i < space.n; i++)
                check_in_space(&space.params[i], config[i]);
        }
        wni_space_release(&space);
    }
}

/* Samples a discrete parameter and compares with the share each value should have. */
static void check_shares(struct param_decl decl, const double *shares)
{
    enum { DRAWS = 200000 };
    struct space space;
    struct rng rng = wni_rng_stream(9, 9, 1);
    const struct param *p = only(&space, decl);
    size_t counts[64] = {0};
    for (int i = 0; i < DRAWS; i++)
        counts[wni_param_index_of(p, wni_param_sample(p, &rng))]++;
    check_counts(counts, shares, p->count, 6);
    wni_space_release(&space);
}

static void discrete_values_have_their_share(void **state)
{
    (void)state;
    const double seventh[] = {1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0},
                 half[] = {0.5, 0.5};
    check_shares((struct param_decl){INT, .min = -3, .max = 3}, seventh);
    check_shares((struct param_decl){INT, .min = 10, .max = 45, .step = 5},
                 (double[]){.125, .125, .125, .125, .125, .125, .125, .125});
    check_shares((struct param_decl){FLOAT, .min = 0, .max = 0.6, .step = 0.1}, seventh);
    check_shares((struct param_decl){.kind = PARAM_ORDINAL, LABELS("1", "2", "30", "31", "50", "60", "1e9")},
                 seventh);
    check_shares((struct param_decl){.kind = PARAM_CATEGORICAL, LABELS("a", "b", "c", "d", "e", "f", "g")},
                 seventh);
    check_shares((struct param_decl){.kind = PARAM_BOOL}, half);

    double log_shares[20], low = log(0.5),
                           high = log(20.5); /* of v: from v - 0.5 to v + 0.5 in the logarithm */
    for (int v = 1; v <= 20; v++)
        log_shares[v - 1] = (log(v + 0.5) - log(v - 0.5)) / (high - low);
    check_shares((struct param_decl){INT, .min = 1, .max = 20, .scale = WN_LOG}, log_shares);
    /* 1, 2, 8, 16: edges half-way in doublings, the ends as wide outside as inside */
    check_shares((struct param_decl){.kind = PARAM_ORDINAL, .scale = WN_LOG, LABELS("1", "2", "8", "16")},
                 (double[]){1 / 5.0, 1.5 / 5.0, 1.5 / 5.0, 1 / 5.0});
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Kolmogorov and Smirnov's distance from the uniform distribution; 2.5 / sqrt(n) is passed once in 130,000
 * seeds. */
static void floats_are_uniform_in_their_scale(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    static const struct param_decl decls[] = {
        {FLOAT, .min = 0, .max = 1},
        {FLOAT, .min = -1e5, .max = 3},
        {FLOAT, .min = 1e8, .max = 1e8 + 1},
        {FLOAT, .min = 1e-8, .max = 9.8, .scale = WN_LOG},
        {FLOAT, .min = 1e-300, .max = 1e300, .scale = WN_LOG},
        {FLOAT, .min = 5, .max = 5.001, .scale = WN_LOG},
    };
    for (size_t d = 0; d < sizeof decls / sizeof *decls; d++) {
        struct space space;
        struct rng rng = wni_rng_stream(10, d, 1);
        const struct param *p = only(&space, decls[d]);
        static double at[DRAWS];
        bool logs = p->scale == WN_LOG;
        double low = logs ? log(p->min) : p->min, high = logs ? log(p->max) : p->max, distance = 0;
        for (int i = 0; i < DRAWS; i++) {
            double value = wni_param_sample(p, &rng);
            at[i] = ((logs ? log(value) : value) - low) / (high - low);
        }
        qsort(at, DRAWS, sizeof *at, compare_doubles);
        for (int i = 0; i < DRAWS; i++)
            distance = fmax(distance, fmax(fabs(at[i] - (double)i / DRAWS), fabs(at[i] - (i + 1.0) / DRAWS)));
        CHECK(distance * sqrt(DRAWS) < 2.5, "declaration %zu: distance %g", d, distance);
        wni_space_release(&space);
    }
}

static void parameters_are_drawn_independently(void **state)
{
    (void)state;
    struct space space;
    struct rng rng = wni_rng_stream(11, 0, 1);
    only(&space, (struct param_decl){.name = "a", .kind = PARAM_INT, .min = 0, .max = 3});
    add(&space, (struct param_decl){.name = "b", .kind = PARAM_FLOAT, .min = 0, .max = 4});
    add(&space, (struct param_decl){.name = "c", .kind = PARAM_BOOL});
    size_t counts[32] = {0};
    double shares[32];
    for (int i = 0; i < 32; i++)
        shares[i] = 1 / 32.0;
    for (int i = 0; i < 200000; i++) {
        double config[3];
        wni_config_sample(&space, &rng, config);
        counts[(size_t)config[0] * 8 + (size_t)fmin(3, config[1]) * 2 + (size_t)config[2]]++;
    }
    check_counts(counts, shares, 32, 6);
    wni_space_release(&space);
}

/* ---- hashes ---- */

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* No two of n distinct configurations share a hash, and the low bits, which pick the slot, fill evenly. */
static void check_hashes(const struct space *space, uint64_t n, uint64_t first)
{
    enum { SLOTS = 1024 };
    uint64_t *hashes = calloc(n, sizeof *hashes);
    size_t counts[SLOTS] = {0};
    double config[8], expected = (double)n / SLOTS;
    assert_non_null(hashes);
    for (uint64_t k = 0; k < n; k++) {
        wni_config_at(space, first + k, config);
        hashes[k] = wni_config_hash(space, config);
        CHECK(hashes[k] == wni_config_hash(space, config), "configuration %llu hashes differently",
              (unsigned long long)k);
        counts[hashes[k] % SLOTS]++;
    }
    for (int i = 0; i < SLOTS; i++)
        CHECK_NEAR((double)counts[i], expected, 6 * sqrt(expected));
    qsort(hashes, n, sizeof *hashes, compare_hashes);
    for (uint64_t k = 1; k < n; k++)
        CHECK(hashes[k] != hashes[k - 1], "%llu configurations collide", (unsigned long long)n);
    free(hashes);
}

static void a_million_configurations_do_not_collide(void **state)
{
    (void)state;
    struct space space;
    only(&space, (struct param_decl){INT, .min = 1, .max = 1 << 20});
    check_hashes(&space, 1 << 20, 0);
    wni_space_release(&space);
    wni_space_init(&space); /* what tabular benchmarks look like: a few values each */
    for (int i = 0; i < 6; i++)
        add(&space,
            (struct param_decl){.name = (char[]){(char)('a' + i), 0}, .kind = PARAM_INT, .min = 0, .max = 9});
    check_hashes(&space, 1000000, 0);
    wni_space_release(&space);
    only(&space, (struct param_decl){.name = "a", .kind = PARAM_FLOAT, .min = 0, .max = 1, .step = 1e-9});
    add(&space, (struct param_decl){.name = "b", .kind = PARAM_FLOAT, .min = -5, .max = 5, .step = 0.1});
    check_hashes(&space, 1000000, 123456789);
    wni_space_release(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(what_is_just_allowed),
        cmocka_unit_test(the_last_step_is_the_upper_bound),
        cmocka_unit_test(steps_of_a_tenth_are_tenths),
        cmocka_unit_test(a_copy_is_the_same_space),
        cmocka_unit_test(the_size_of_a_space),
        cmocka_unit_test(parameters_are_found_by_name),
        cmocka_unit_test(canonical_is_idempotent_and_monotone),
        cmocka_unit_test(floats_print_short),
        cmocka_unit_test(what_is_outside_is_refused),
        cmocka_unit_test(nearest_takes_anything),
        cmocka_unit_test(bounds_absorb_their_neighbour_on_the_grid),
        cmocka_unit_test(negative_zero_is_zero),
        cmocka_unit_test(values_and_indices_are_a_bijection),
        cmocka_unit_test(configurations_count_with_the_last_parameter_fastest),
        cmocka_unit_test(configurations_and_indices_are_a_bijection),
        cmocka_unit_test(indices_of_a_space_nearly_too_large),
        cmocka_unit_test(text_reads_back),
        cmocka_unit_test(numbers_are_read),
        cmocka_unit_test(words_are_read),
        cmocka_unit_test(sampling_never_leaves_the_space),
        cmocka_unit_test(discrete_values_have_their_share),
        cmocka_unit_test(floats_are_uniform_in_their_scale),
        cmocka_unit_test(parameters_are_drawn_independently),
        cmocka_unit_test(a_million_configurations_do_not_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
