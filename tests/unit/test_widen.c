/* test_widen.c -- which changes of a space are refused and in which words, and that what is allowed leaves
 * every value of the old space what it was. */
#include "tests/check.h"

#include "core/encode.h"

static struct err err;

#define LABELS(...)                                                                                          \
    .labels = (const char *const[]){__VA_ARGS__},                                                            \
    .n_labels = sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)
#define FLOAT   .name = "x", .kind = PARAM_FLOAT
#define INT     .name = "x", .kind = PARAM_INT
#define ORDINAL .name = "x", .kind = PARAM_ORDINAL
#define CATS    .name = "x", .kind = PARAM_CATEGORICAL
#define INSTEAD "; start a new study and bring the trials along with 'winnow export' and 'winnow import'"

static void declare(struct space *space, const struct param_decl *decl)
{
    wni_space_init(space);
    CHECK_OK(wni_space_add(space, decl, &err), err);
}

/* ---- refused ---- */

static const struct refusal {
    struct param_decl old, given;
    const char *says;
} refusals[] = {
    {{FLOAT, .max = 1},
     {FLOAT, .min = 0.5, .max = 2},
     "parameter 'x': the range can only grow: 0.5..2 does not contain 0..1"},
    {{FLOAT, .max = 1},
     {FLOAT, .max = 0.5},
     "parameter 'x': the range can only grow: 0..0.5 does not contain 0..1"},
    {{INT, .min = 1, .max = 9},
     {INT, .min = 2, .max = 99},
     "parameter 'x': the range can only grow: 2..99 does not contain 1..9"},
    {{FLOAT, .max = 1}, {INT, .max = 9}, "parameter 'x': was float and cannot become int"},
    {{INT, .max = 9}, {FLOAT, .max = 9}, "parameter 'x': was int and cannot become float"},
    {{ORDINAL, LABELS("1", "2")},
     {CATS, LABELS("1", "2")},
     "parameter 'x': was ordinal and cannot become categorical"},
    {{FLOAT, .min = 1, .max = 2},
     {FLOAT, .min = 1, .max = 2, .scale = WN_LOG},
     "parameter 'x': its scale was linear and cannot become log"},
    {{ORDINAL, .scale = WN_LOG, LABELS("1", "2")},
     {ORDINAL, LABELS("1", "2", "4")},
     "parameter 'x': its scale was log and cannot become linear"},
    {{FLOAT, .max = 1},
     {FLOAT, .max = 2, .step = 0.5},
     "parameter 'x': its step was 0 and cannot become 0.5"},
    {{INT, .max = 8, .step = 2}, {INT, .max = 8}, "parameter 'x': its step was 2 and cannot become 1"},
    {{INT, .min = 2, .max = 8, .step = 2},
     {INT, .min = 1, .max = 9, .step = 2},
     "parameter 'x': its value 2 would be lost: it is not 1 plus a multiple of 2"},
    {{FLOAT, .min = 0.5, .max = 2, .step = 0.5},
     {FLOAT, .min = 0.25, .max = 3, .step = 0.5},
     "parameter 'x': its value 0.5 would be lost: it is not 0.25 plus a multiple of 0.5"},
    {{FLOAT, .max = 10, .step = 1e-6},
     {FLOAT, .max = 20, .step = 1e-6},
     "parameter 'x': a float with more than 1000000 steps cannot change"},
    {{CATS, LABELS("a", "b")},
     {CATS, LABELS("a", "c")},
     "parameter 'x': value 'b' is missing; values can only be added"},
    {{ORDINAL, LABELS("1", "2", "4")},
     {ORDINAL, LABELS("1", "2")},
     "parameter 'x': value '4' is missing; values can only be added"},
    {{ORDINAL, LABELS("16", "32")},
     {ORDINAL, LABELS("8", "16", "32")},
     "parameter 'x': values of an ordinal can only be added at the end, but '8' stands where '16' was"},
    {{ORDINAL, LABELS("small", "large")},
     {ORDINAL, LABELS("small", "medium", "large")},
     "parameter 'x': values of an ordinal can only be added at the end, but 'medium' stands where 'large' "
     "was"},
    {{ORDINAL, LABELS("1", "2")},
     {ORDINAL, LABELS("1", "2", "many")},
     "parameter 'x': its values were numbers, those added must be, too"},
    {{.name = "x", .kind = PARAM_CONSTANT, LABELS("7")},
     {.name = "x", .kind = PARAM_CONSTANT, LABELS("8")},
     "parameter 'x': value '7' is missing; values can only be added"},
    {{FLOAT, .max = 1},
     {.name = "y", .kind = PARAM_FLOAT, .max = 1},
     "parameter 'y': the study has none of that name, and the trials so far no value for it" INSTEAD},
};

static void narrower_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct space old, given, out;
        declare(&old, &refusals[i].old);
        declare(&given, &refusals[i].given);
        CHECK_INT(wni_space_widen(&out, &old, &given, &err), WN_EINVAL);
        CHECK_TEXT(err.text, refusals[i].says);
        CHECK_INT(out.n, 0);
        wni_space_release(&old);
        wni_space_release(&given);
    }
}

static void a_missing_parameter_is_refused(void **state)
{
    (void)state;
    struct space old, given, out;
    declare(&old, &(struct param_decl){FLOAT, .max = 1});
    declare(&given, &(struct param_decl){FLOAT, .max = 2});
    check_add(&old, (struct param_decl){.name = "y", .kind = PARAM_BOOL});
    CHECK_INT(wni_space_widen(&out, &old, &given, &err), WN_EINVAL);
    CHECK_TEXT(err.text, "parameter 'y': is missing, but the trials so far were run with it" INSTEAD);
    wni_space_release(&old);
    wni_space_release(&given);
}

/* ---- allowed ---- */

static const struct widening {
    struct param_decl old, given;
    const char *json; /* what comes out */
} widenings[] = {
    {{FLOAT, .max = 1},
     {FLOAT, .min = -1, .max = 2},
     "{\"x\": {\"type\": \"float\", \"min\": -1, \"max\": 2}}"},
    {{FLOAT, .max = 1}, {FLOAT, .max = 1}, "{\"x\": {\"type\": \"float\", \"min\": 0, \"max\": 1}}"},
    {{FLOAT, .min = 1e-4, .max = 0.1, .scale = WN_LOG},
     {FLOAT, .min = 1e-6, .max = 1, .scale = WN_LOG},
     "{\"x\": {\"type\": \"float\", \"min\": 1e-06, \"max\": 1, \"scale\": \"log\"}}"},
    {{INT, .min = 16, .max = 512},
     {INT, .min = 1, .max = 600},
     "{\"x\": {\"type\": \"int\", \"min\": 1, \"max\": 600}}"},
    {{INT, .min = 4, .max = 9, .step = 2}, /* 4, 6, 8 */
     {INT, .min = 2, .max = 13, .step = 2},
     "{\"x\": {\"type\": \"int\", \"min\": 2, \"max\": 12, \"step\": 2}}"},
    {{FLOAT, .min = 0.1, .max = 0.9, .step = 0.1},
     {FLOAT, .min = -0.3, .max = 1e6, .step = 0.1},
     "{\"x\": {\"type\": \"float\", \"min\": -0.3, \"max\": 1000000, \"step\": 0.1}}"},
    {{CATS, LABELS("relu", "tanh")},
     {CATS, LABELS("gelu", "tanh", "elu", "relu")}, /* order does not matter, indices do */
     "{\"x\": {\"type\": \"categorical\", \"values\": [\"relu\", \"tanh\", \"gelu\", \"elu\"]}}"},
    {{ORDINAL, LABELS("16", "32")},
     {ORDINAL, LABELS("16", "32", "64")},
     "{\"x\": {\"type\": \"ordinal\", \"values\": [16, 32, 64]}}"},
    {{ORDINAL, .text_values = true, LABELS("1", "2")},
     {ORDINAL, .text_values = true, LABELS("1", "2", "0")},
     "{\"x\": {\"type\": \"ordinal\", \"values\": [\"1\", \"2\", \"0\"]}}"},
    {{.name = "x", .kind = PARAM_CONSTANT, LABELS("7")},
     {.name = "x", .kind = PARAM_CONSTANT, LABELS("7")},
     "{\"x\": {\"type\": \"constant\", \"value\": 7}}"},
};

/* Every value, or a thousand of a continuum: the same double, the same text, a place in the encodings. */
static void check_values(const struct param *old, const struct param *new)
{
    char a[WN_WHY_MAX], b[WN_WHY_MAX];
    struct rng rng = wni_rng_stream(1, 0, 0);
    for (uint64_t k = 0; k < (old->count ? old->count : 1000); k++) {
        double value = old->count ? wni_param_value_at(old, k) : wni_param_sample(old, &rng), found;
        assert_true(wni_param_canonical(new, value, &found));
        if (new->count) CHECK_DOUBLE(found, value);
        CHECK_TEXT(wni_param_text(new, value, a), wni_param_text(old, value, b));
        double u = wni_param_to_unit(new, value);
        CHECK(u >= 0 && u <= 1, "%.17g is at %g", value, u);
    }
}

static void old_values_stay(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof widenings / sizeof *widenings; i++) {
        struct space old, given, out;
        struct buf json = {0};
        declare(&old, &widenings[i].old);
        declare(&given, &widenings[i].given);
        CHECK_OK(wni_space_widen(&out, &old, &given, &err), err);
        wni_space_write(&out, &json);
        CHECK_TEXT(wni_buf_text(&json), widenings[i].json);
        check_values(&old.params[0], &out.params[0]);
        wni_buf_release(&json);
        wni_space_release(&old);
        wni_space_release(&given);
        wni_space_release(&out);
    }
}

static void parameters_keep_their_order(void **state)
{
    (void)state;
    static const char *const names[] = {"c", "a", "b"};
    struct space old, given, out;
    wni_space_init(&old);
    wni_space_init(&given);
    for (int i = 0; i < 3; i++) {
        check_add(&old, (struct param_decl){.name = names[i], .kind = PARAM_INT, .max = 5});
        check_add(&given, (struct param_decl){.name = names[2 - i], .kind = PARAM_INT, .max = 9 - i});
    }
    CHECK_OK(wni_space_widen(&out, &old, &given, &err), err);
    for (int i = 0; i < 3; i++) {
        CHECK_TEXT(out.params[i].name, names[i]);
        CHECK_DOUBLE(out.params[i].max, 7 + i);
    }
    wni_space_release(&old);
    wni_space_release(&given);
    wni_space_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrower_is_refused),
        cmocka_unit_test(a_missing_parameter_is_refused),
        cmocka_unit_test(old_values_stay),
        cmocka_unit_test(parameters_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
