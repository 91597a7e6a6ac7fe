/* test_api.c -- winnow.h as a user meets it: handles, messages, what is refused, what is handed back.
 *
 * Only the tests of a failing store look behind the handles. */
#include "tests/check.h"

#include "api/api_int.h"
#include "tests/api_space.h"

static char why[WN_WHY_MAX];

static wn_space *full_space(void)
{
    int failed;
    wn_space *s = api_space_new(&failed);
    assert_non_null(s);
    CHECK_TEXT(wn_space_error(s), "");
    CHECK_INT(failed, 0);
    return s;
}

static wn_study *open_over(wn_space *space, wn_study_options options)
{
    wn_study *study;
    options.struct_size = sizeof options;
    wn_status st = wn_study_open("memory:", "api", space, &options, &study, why);
    wn_space_free(space);
    CHECK(st == WN_OK, "opening gave %d: %s", st, why);
    CHECK_TEXT(wn_study_error(study), "");
    return study;
}

static wn_study *open_study(wn_study_options options)
{
    return open_over(full_space(), options);
}

static wn_study *open_small(wn_study_options options) /* one int, 1 to 4 */
{
    wn_space *s = wn_space_new();
    CHECK_INT(wn_space_int(s, "n", 1, 4, WN_LINEAR), WN_OK);
    return open_over(s, options);
}

static wn_trial *ask(wn_study *study)
{
    wn_trial *trial;
    wn_status st = wn_study_ask(study, &trial);
    CHECK(st == WN_OK, "ask gave %d: %s", st, wn_study_error(study));
    assert_non_null(trial);
    return trial;
}

static wn_decision report(wn_trial *trial, double resource, double value)
{
    wn_decision next = (wn_decision)9;
    CHECK_INT(wn_trial_report(trial, resource, value, &next), WN_OK);
    return next;
}

static wn_trial_info info_of(const wn_study *study, int64_t number)
{
    wn_trial_info info;
    CHECK_INT(wn_study_trial(study, number, &info), WN_OK);
    return info;
}

/* ---- words ---- */

static void words(void **state)
{
    (void)state;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", WN_VERSION_MAJOR, WN_VERSION_MINOR, WN_VERSION_PATCH);
    CHECK_TEXT(wn_version(), version);
    CHECK_TEXT(wn_status_text(WN_OK), "success");
    CHECK_TEXT(wn_status_text(WN_EXHAUSTED), "every configuration of the space has been tried");
    CHECK_TEXT(wn_status_text(WN_ENOMEM), "out of memory");
    CHECK_TEXT(wn_status_text((wn_status)-99), "unknown status");
    static const char *const names[] = {"WAITING", "RUNNING", "PAUSED", "COMPLETE", "STOPPED",
                                        "FAILED",  "TIMEOUT", "LOST",   "CANCELLED"};
    for (int i = 0; i < 9; i++)
        CHECK_TEXT(wn_state_name((wn_state)i), names[i]);
    CHECK_TEXT(wn_state_name((wn_state)9), "UNKNOWN");
    CHECK_TEXT(wn_state_name((wn_state)-1), "UNKNOWN");
}

/* ---- spaces ---- */

static void a_space_is_written_and_read(void **state)
{
    (void)state;
    wn_space *one = full_space(), *two;
    char *text, *again;
    CHECK_INT(wn_space_to_json(one, &text), WN_OK);
    CHECK_TEXT(text, api_space_json);
    CHECK_INT(wn_space_from_json(text, &two, why), WN_OK);
    CHECK_INT(wn_space_to_json(two, &again), WN_OK);
    CHECK_TEXT(again, api_space_json);
    wn_string_free(text);
    wn_string_free(again);
    wn_space_free(one);
    wn_space_free(two);
}

/* The first mistake is kept, whatever comes after it, and comes out again where it hurts. */
static void the_first_mistake_sticks(void **state)
{
    (void)state;
    wn_space *s = wn_space_new();
    wn_study *study = (wn_study *)s;
    char *text = why;
    CHECK_INT(wn_space_float(s, "x", 0, 1, WN_LINEAR), WN_OK);
    CHECK_INT(wn_space_float(s, "lr", 0, 1, WN_LOG), WN_EINVAL);
    const char *says = "parameter 'lr': log scale needs a lower bound above 0";
    CHECK_TEXT(wn_space_error(s), says);
    CHECK_INT(wn_space_int(s, "x", 1, 2, WN_LINEAR), WN_EINVAL);
    CHECK_INT(wn_space_bool(s, "fine"), WN_OK);
    CHECK_TEXT(wn_space_error(s), says);
    CHECK_INT(wn_study_open("memory:", "s", s, NULL, &study, why), WN_EINVAL);
    assert_null(study);
    CHECK_TEXT(why, says);
    CHECK_INT(wn_space_to_json(s, &text), WN_EINVAL);
    assert_null(text);
    wn_space_free(s);
}

static void expect_mistake(wn_status (*declare)(wn_space *), const char *says)
{
    wn_space *s = wn_space_new();
    assert_non_null(s);
    CHECK_INT(declare(s), WN_EINVAL);
    CHECK_TEXT(wn_space_error(s), says);
    wn_space_free(s);
}

static wn_status no_name(wn_space *s)
{
    return wn_space_bool(s, NULL);
}

static wn_status bad_name(wn_space *s)
{
    return wn_space_bool(s, "2 words");
}

static wn_status declared_twice(wn_space *s)
{
    wn_space_bool(s, "b");
    return wn_space_float(s, "b", 0, 1, WN_LINEAR);
}

static wn_status upside_down(wn_space *s)
{
    return wn_space_int(s, "n", 5, 2, WN_LINEAR);
}

static wn_status not_a_number(wn_space *s)
{
    return wn_space_float(s, "x", NAN, 1, WN_LINEAR);
}

static wn_status no_step(wn_space *s)
{
    return wn_space_float_step(s, "x", 0, 1, 0);
}

static wn_status backward_step(wn_space *s)
{
    return wn_space_int_step(s, "n", 0, 9, -3);
}

static wn_status no_scale(wn_space *s)
{
    return wn_space_float(s, "x", 1, 2, (wn_scale)7);
}

static wn_status no_scale_of_values(wn_space *s)
{
    return wn_space_ordinal(s, "x", (const double[]){1, 2}, 2, (wn_scale)7);
}

static wn_status no_values(wn_space *s)
{
    return wn_space_categorical(s, "c", NULL, 3);
}

static wn_status no_numbers(wn_space *s)
{
    return wn_space_ordinal(s, "o", NULL, 3, WN_LINEAR);
}

static wn_status missing_value(wn_space *s)
{
    return wn_space_categorical(s, "c", (const char *const[]){"a", NULL}, 2);
}

static wn_status infinite_value(wn_space *s)
{
    return wn_space_ordinal(s, "o", (const double[]){1, INFINITY}, 2, WN_LINEAR);
}

static wn_status unordered_values(wn_space *s)
{
    return wn_space_ordinal(s, "o", (const double[]){1, 3, 2}, 3, WN_LINEAR);
}

static wn_status constant_without_value(wn_space *s)
{
    return wn_space_constant(s, "k", NULL);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    expect_mistake(
        no_name, "parameter '': a name has 1 to 64 letters, digits, '_', '-' or '.' and starts with a letter "
                 "or '_'");
    expect_mistake(
        bad_name,
        "parameter '2 words': a name has 1 to 64 letters, digits, '_', '-' or '.' and starts with a "
        "letter or '_'");
    expect_mistake(declared_twice, "parameter 'b': declared twice");
    expect_mistake(upside_down, "parameter 'n': min 5 is above max 2");
    expect_mistake(not_a_number, "parameter 'x': bounds must be finite numbers");
    expect_mistake(no_step, "parameter 'x': step must be above 0");
    expect_mistake(backward_step, "parameter 'n': step must be above 0");
    expect_mistake(no_scale, "parameter 'x': scale is neither WN_LINEAR nor WN_LOG");
    expect_mistake(no_scale_of_values, "parameter 'x': scale is neither WN_LINEAR nor WN_LOG");
    expect_mistake(no_values, "parameter 'c': needs at least one value");
    expect_mistake(no_numbers, "parameter 'o': values is NULL");
    expect_mistake(missing_value, "parameter 'c': value 2 is missing");
    expect_mistake(infinite_value, "parameter 'o': value 2 is inf, not a finite number");
    expect_mistake(unordered_values, "parameter 'o': ordinal values must increase, but 2 follows 3");
    expect_mistake(constant_without_value, "parameter 'k': value 1 is missing");
}

static void wrong_json_is_explained(void **state)
{
    (void)state;
    static const struct {
        const char *json, *says;
    } cases[] = {
        {NULL, "the JSON text is NULL"},
        {"", "line 1, column 1: the document is empty"},
        {"3", "'parameters' must be a mapping of names to parameters, got '3'"},
        {"{}", "'parameters' is empty; there is nothing to tune"},
        {"{\"lr\": {\"type\": \"flaot\"}}", "parameter 'lr': unknown type 'flaot'; did you mean 'float'?"},
        {"{\"lr\": {\"type\": \"float\", \"min\": 0, \"max\": 1, \"scale\": \"log\"}}",
         "parameter 'lr': log scale needs a lower bound above 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wn_space *space = (wn_space *)why;
        CHECK_INT(wn_space_from_json(cases[i].json, &space, why), WN_EINVAL);
        assert_null(space);
        CHECK_TEXT(why, cases[i].says);
        CHECK_INT(wn_space_from_json(cases[i].json, &space, NULL), WN_EINVAL);
    }
}

/* ---- opening ---- */

static void wrong_openings_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *store, *name;
        wn_study_options options;
        const char *says;
    } cases[] = {
        {NULL, "s", {0}, "store and name must not be NULL"},
        {"memory:", NULL, {0}, "store and name must not be NULL"},
        {"mem:", "s", {0}, "unknown store 'mem'; there are memory, sqlite"},
        {"memory:", "s", {.method = "ahsa"}, "unknown method 'ahsa'; did you mean 'asha'?"},
        {"memory:", "s", {.goal = (wn_goal)5}, "options: goal is neither WN_MINIMIZE nor WN_MAXIMIZE"},
        {"memory:",
         "s",
         {.method = "asha"},
         "scheduler 'asha' needs a largest resource (how many epochs a full run has)"},
        {"memory:",
         "s",
         {.method = "asha", .max_resource = -1},
         "resource: bounds must be finite numbers, 0 or above"},
        {"memory:",
         "s",
         {.method = "asha", .max_resource = 9, .options = "scheduler.eat=3"},
         "scheduler 'asha': unknown option 'eat'; did you mean 'eta'?"},
        {"memory:",
         "s",
         {.options = "eta=3"},
         "scheduler 'fifo': option 'eta=3': expected scheduler.NAME=VALUE or "
         "searcher.NAME=VALUE"},
    };
    wn_space *space = full_space();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wn_study_options o = cases[i].options;
        wn_study *study = (wn_study *)space;
        o.struct_size = sizeof o;
        CHECK_INT(wn_study_open(cases[i].store, cases[i].name, space, &o, &study, why), WN_EINVAL);
        assert_null(study);
        CHECK_TEXT(why, cases[i].says);
        CHECK_INT(wn_study_open(cases[i].store, cases[i].name, space, &o, &study, NULL), WN_EINVAL);
    }
    wn_space_free(space);
}

static void an_empty_space_is_refused(void **state)
{
    (void)state;
    wn_space *space = wn_space_new();
    wn_study *study;
    CHECK_INT(wn_study_open("memory:", "s", space, NULL, &study, why), WN_EINVAL);
    CHECK_TEXT(why, "the space has no parameters");
    CHECK_INT(wn_study_open("memory:", "s", NULL, NULL, &study, why), WN_EINVAL);
    CHECK_TEXT(why, "store 'memory:' is gone with the process that opened it");
    wn_space_free(space);
}

/* A program compiled against an older header has a shorter struct: what it lacks is zero.  A longer one is
 * not understood. */
static void options_of_other_versions(void **state)
{
    (void)state;
    wn_space *space = full_space();
    wn_study_options o = {.method = "asha", .seed = 1, .max_resource = 81};
    wn_study *study;
    static const size_t wrong[] = {0, 1, sizeof(size_t) - 1, sizeof o + 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.struct_size = wrong[i];
        CHECK_INT(wn_study_open("memory:", "s", space, &o, &study, why), WN_EINVAL);
        CHECK_TEXT(why, "options: start from WN_STUDY_OPTIONS_INIT");
    }
    o.struct_size =
        offsetof(wn_study_options, min_resource); /* before there were resources: asha lacks its largest */
    CHECK_INT(wn_study_open("memory:", "s", space, &o, &study, why), WN_EINVAL);
    CHECK(strstr(why, "needs a largest resource"), "got '%s'", why);
    o.struct_size = offsetof(wn_study_options, method); /* before there was anything */
    o.method = (const char *)1;                         /* not to be read */
    CHECK_INT(wn_study_open("memory:", "s", space, &o, &study, why), WN_OK);
    wn_study_close(study);
    CHECK_INT(wn_study_open("memory:", "s", space, NULL, &study, NULL), WN_OK);
    wn_study_close(study);
    wn_space_free(space);
}

/* ---- NULL ---- */

static void null_is_survived(void **state)
{
    (void)state;
    wn_study *study = open_study((wn_study_options){0});
    wn_trial *trial = ask(study);
    wn_space *space = full_space();
    char *text;
    wn_trial_info info;
    wn_space_free(NULL);
    wn_string_free(NULL);
    wn_study_close(NULL);
    CHECK_INT(wn_space_float(NULL, "x", 0, 1, WN_LINEAR), WN_EINVAL);
    CHECK_INT(wn_space_ordinal(NULL, "x", (const double[]){1}, 1, WN_LINEAR), WN_EINVAL);
    CHECK_INT(wn_space_constant(NULL, "x", "1"), WN_EINVAL);
    CHECK_TEXT(wn_space_error(NULL), "the space is NULL");
    CHECK_INT(wn_space_from_json("{}", NULL, why), WN_EINVAL);
    CHECK_TEXT(why, "out is NULL");
    CHECK_INT(wn_space_to_json(NULL, &text), WN_EINVAL);
    CHECK_INT(wn_space_to_json(space, NULL), WN_EINVAL);
    CHECK_INT(wn_study_open("memory:", "s", space, NULL, NULL, why), WN_EINVAL);
    CHECK_TEXT(why, "out is NULL");
    CHECK_TEXT(wn_study_error(NULL), "the study is NULL");
    CHECK_INT(wn_study_ask(NULL, &trial), WN_EINVAL);
    assert_null(trial);
    CHECK_INT(wn_study_ask(study, NULL), WN_EINVAL);
    CHECK_TEXT(wn_study_error(study), "out is NULL");
    CHECK_INT(wn_study_enqueue(NULL, "{}"), WN_EINVAL);
    CHECK_INT(wn_study_enqueue(study, NULL), WN_EINVAL);
    CHECK_TEXT(wn_study_error(study), "the configuration is NULL");
    CHECK_INT(wn_trial_number(NULL), -1);
    CHECK_DOUBLE(wn_trial_resumed_from(NULL), 0);
    CHECK_DOUBLE(wn_trial_float(NULL, "lr"), NAN);
    CHECK_INT(wn_trial_int(NULL, "lr"), INT64_MIN);
    CHECK_INT(wn_trial_bool(NULL, "lr"), false);
    assert_null(wn_trial_string(NULL, "lr"));
    assert_null(wn_trial_json(NULL));
    CHECK_INT(wn_trial_report(NULL, 1, 1, NULL), WN_EINVAL);
    CHECK_INT(wn_trial_finish(NULL, WN_COMPLETE), WN_EINVAL);
    CHECK_INT(wn_study_trials(NULL), 0);
    CHECK_INT(wn_study_trial(NULL, 0, &info), WN_EINVAL);
    CHECK_INT(wn_study_trial(study, 0, NULL), WN_EINVAL);
    CHECK_INT(wn_study_best(NULL, &info), WN_EINVAL);
    CHECK_INT(wn_study_best(study, NULL), WN_EINVAL);
    CHECK_INT(wn_study_config(NULL, 0, &text), WN_EINVAL);
    CHECK_INT(wn_study_config(study, 0, NULL), WN_EINVAL);
    CHECK_INT(wn_study_reports(NULL, 0, NULL, NULL, 0), 0);
    trial = ask(study);
    CHECK_DOUBLE(wn_trial_float(trial, NULL), NAN);
    assert_null(wn_trial_string(trial, NULL));
    wn_space_free(space);
    wn_study_close(study);
}

/* ---- a trial in hand ---- */

static void values_of_every_kind(void **state)
{
    (void)state;
    wn_study *study = open_study((wn_study_options){0});
    CHECK_INT(wn_study_enqueue(
                  study,
                  "{\"lr\": 0.01, \"dropout\": 0.3, \"units\": 100, \"depth\": 4, \"batch\": 64, "
                  "\"size\": \"large\", \"activation\": \"gelu\", \"nesterov\": true, \"epochs\": 10}"),
              WN_OK);
    wn_trial *t = ask(study);
    CHECK_INT(wn_trial_number(t), 0);
    CHECK_DOUBLE(wn_trial_resumed_from(t), 0);
    CHECK_DOUBLE(wn_trial_float(t, "lr"), 0.01);
    CHECK_DOUBLE(wn_trial_float(t, "dropout"), 0.3);
    CHECK_DOUBLE(wn_trial_float(t, "units"), 100);
    CHECK_INT(wn_trial_int(t, "units"), 100);
    CHECK_INT(wn_trial_int(t, "depth"), 4);
    CHECK_INT(wn_trial_int(t, "batch"), 64);
    CHECK_DOUBLE(wn_trial_float(t, "batch"), 64);
    CHECK_INT(wn_trial_int(t, "epochs"), 10);
    CHECK_INT(wn_trial_bool(t, "nesterov"), true);
    CHECK_TEXT(wn_trial_string(t, "lr"), "0.01");
    CHECK_TEXT(wn_trial_string(t, "units"), "100");
    CHECK_TEXT(wn_trial_string(t, "batch"), "64");
    CHECK_TEXT(wn_trial_string(t, "size"), "large");
    CHECK_TEXT(wn_trial_string(t, "activation"), "gelu");
    CHECK_TEXT(wn_trial_string(t, "nesterov"), "true");
    CHECK_TEXT(wn_trial_string(t, "epochs"), "10");
    CHECK_TEXT(wn_trial_json(t),
               "{\"lr\": 0.01, \"dropout\": 0.3, \"units\": 100, \"depth\": 4, \"batch\": 64, "
               "\"size\": \"large\", \"activation\": \"gelu\", \"nesterov\": true, \"epochs\": 10}");
    /* what is not there, or not a number */
    CHECK_DOUBLE(wn_trial_float(t, "momentum"), NAN);
    CHECK_INT(wn_trial_int(t, "momentum"), INT64_MIN);
    CHECK_INT(wn_trial_bool(t, "momentum"), false);
    assert_null(wn_trial_string(t, "momentum"));
    CHECK_DOUBLE(wn_trial_float(t, "size"), NAN);
    CHECK_INT(wn_trial_int(t, "lr"), INT64_MIN);
    CHECK_INT(wn_trial_bool(t, "units"), false);
    wn_study_close(study);
}

/* Texts live as long as the trial is in hand, however many are asked for. */
static void texts_stay(void **state)
{
    (void)state;
    wn_study *study = open_study((wn_study_options){.seed = 1});
    wn_trial *t = ask(study);
    const char *kept[400], *names[] = {"lr", "activation", "units", "epochs"};
    char copies[4][64];
    for (int i = 0; i < 4; i++)
        snprintf(copies[i], sizeof copies[i], "%s", wn_trial_string(t, names[i]));
    for (int i = 0; i < 400; i++)
        kept[i] = wn_trial_string(t, names[i % 4]);
    assert_non_null(wn_trial_json(t));
    for (int i = 0; i < 400; i++)
        CHECK_TEXT(kept[i], copies[i % 4]);
    wn_study_close(study);
}

/* Many trials in hand, ended in another order than they came; the rest goes with the study. */
static void many_trials_in_hand(void **state)
{
    (void)state;
    enum { N = 200 };
    wn_study *study = open_study((wn_study_options){.seed = 2});
    wn_trial *hands[N];
    struct rng rng = wni_rng_stream(1, 1, 1);
    uint32_t order[N];
    for (int i = 0; i < N; i++) {
        hands[i] = ask(study);
        CHECK_INT(wn_trial_number(hands[i]), i);
        assert_non_null(wn_trial_json(hands[i]));
    }
    wni_rng_permutation(&rng, order, N);
    for (int i = 0; i < N / 2; i++) {
        wn_trial *t = hands[order[i]];
        CHECK_INT(wn_trial_number(t), order[i]);
        CHECK_INT(report(t, 1, order[i]), WN_CONTINUE);
        CHECK_INT(wn_trial_finish(t, WN_COMPLETE), WN_OK);
    }
    for (int i = N / 2; i < N; i++)
        CHECK_INT(wn_trial_number(hands[order[i]]), order[i]);
    CHECK_INT(wn_trial_number(ask(study)), N);
    for (int i = 0; i < N; i++)
        CHECK_INT(info_of(study, order[i]).state, i < N / 2 ? WN_COMPLETE : WN_RUNNING);
    wn_study_close(study);
}

static void refused_calls_change_nothing(void **state)
{
    (void)state;
    wn_study *study = open_study((wn_study_options){0});
    wn_trial *t = ask(study);
    wn_decision next = WN_PAUSE;
    CHECK_INT(wn_trial_report(t, 0, 1, &next), WN_EINVAL);
    CHECK_INT(next, WN_CONTINUE);
    CHECK_TEXT(wn_study_error(study), "trial 0: resource 0 is not a finite number above 0");
    CHECK_INT(wn_trial_report(t, NAN, 1, NULL), WN_EINVAL);
    CHECK_INT(wn_trial_finish(t, WN_RUNNING), WN_EINVAL);
    CHECK_INT(wn_trial_finish(t, (wn_state)42), WN_EINVAL);
    CHECK_TEXT(wn_study_error(study), "trial 0: a trial does not end as UNKNOWN");
    CHECK_INT(info_of(study, 0).reports, 0);
    CHECK_INT(wn_trial_report(t, 1, 1, NULL),
              WN_OK); /* the handle is as good as before; who does not ask is not told */
    CHECK_INT(wn_trial_finish(t, WN_COMPLETE), WN_OK);
    wn_study_close(study);
}

static void a_loop_may_end_with_complete(void **state)
{
    (void)state;
    wn_study *study = open_study((wn_study_options){.method = "asha", .max_resource = 9});
    for (int i = 0; i < 30; i++) {
        wn_trial *t = ask(study);
        for (int epoch = 1; epoch <= 9; epoch++) {
            double value = i == 7 ? NAN : (i * 5) % 13 + 1.0 / epoch;
            if (report(t, epoch, value) != WN_CONTINUE) break;
        }
        CHECK_INT(wn_trial_finish(t, WN_COMPLETE), WN_OK);
        wn_trial_info info = info_of(study, i);
        wn_state expected = i == 7 ? WN_FAILED : info.resource == 9 ? WN_COMPLETE : WN_STOPPED;
        CHECK_INT(info.state, expected);
    }
    CHECK_INT(info_of(study, 0).state, WN_COMPLETE); /* the first is not stopped */
    CHECK_INT(info_of(study, 1).state, WN_STOPPED);
    wn_study_close(study);
}

static void a_paused_trial_is_handed_out_again(void **state)
{
    (void)state;
    wn_study *study = open_study((wn_study_options){.method = "asha-promotion", .max_resource = 9});
    char *first;
    for (int i = 0; i < 3; i++) {
        wn_trial *t = ask(study);
        CHECK_INT(report(t, 1, 3 - i), WN_PAUSE);
        CHECK_INT(wn_trial_finish(t, WN_COMPLETE), WN_OK);
        CHECK_INT(info_of(study, i).state, WN_PAUSED);
    }
    CHECK_INT(wn_study_config(study, 2, &first), WN_OK);
    wn_trial *t = ask(study);
    CHECK_INT(wn_trial_number(t), 2);
    CHECK_DOUBLE(wn_trial_resumed_from(t), 1);
    CHECK_TEXT(wn_trial_json(t), first);
    CHECK_INT(report(t, 2, 0.5), WN_CONTINUE);
    CHECK_INT(report(t, 3, 0.4), WN_PAUSE);
    CHECK_INT(wn_trial_finish(t, WN_PAUSED), WN_OK); /* saying so is as good */
    CHECK_INT(info_of(study, 2).state, WN_PAUSED);
    CHECK_INT(info_of(study, 2).reports, 3);
    wn_string_free(first);
    wn_study_close(study);
}

static void wait_and_exhausted(void **state)
{
    (void)state;
    wn_trial *t = (wn_trial *)why;
    wn_study *study = open_small((wn_study_options){0});
    for (int i = 0; i < 4; i++)
        ask(study);
    CHECK_INT(wn_study_ask(study, &t), WN_EXHAUSTED);
    assert_null(t);
    wn_study_close(study);

    study = open_small((wn_study_options){.method = "asha-promotion", .max_resource = 9});
    wn_trial *hands[4];
    for (int i = 0; i < 4; i++)
        hands[i] = ask(study);
    CHECK_INT(wn_study_ask(study, &t), WN_WAIT);
    for (int i = 0; i < 4; i++) {
        report(hands[i], 1, i);
        wn_trial_finish(hands[i], WN_COMPLETE);
    }
    CHECK_INT(wn_trial_number(ask(study)), 0);
    CHECK_TEXT(wn_study_error(study), ""); /* neither is a failure */
    wn_study_close(study);
}

/* ---- enqueue ---- */

static void enqueued_configurations_keep_their_order(void **state)
{
    (void)state;
    wn_study *study = open_small((wn_study_options){0});
    static const char *const configs[] = {"{\"n\": 3}", "{\"n\": 1}", "{\"n\": 3}"};
    for (int i = 0; i < 3; i++)
        CHECK_INT(wn_study_enqueue(study, configs[i]), WN_OK);
    CHECK_INT(wn_trial_int(ask(study), "n"), 3);
    CHECK_INT(wn_trial_int(ask(study), "n"), 1);
    CHECK_INT(wn_study_enqueue(study, configs[0]), WN_OK);
    CHECK_INT(wn_trial_int(ask(study), "n"), 3);
    CHECK_INT(wn_trial_int(ask(study), "n"), 3);
    int64_t rest = wn_trial_int(ask(study), "n") + wn_trial_int(ask(study), "n");
    CHECK_INT(rest, 2 + 4); /* what nobody asked for yet */
    wn_trial *t;
    CHECK_INT(wn_study_ask(study, &t), WN_EXHAUSTED);
    wn_study_close(study);
}

/* What is left open is drawn at random: inside the space, by the seed, and not the same for every gap. */
static void open_parameters_are_drawn(void **state)
{
    (void)state;
    char *texts[2][3];
    for (int run = 0; run < 2; run++) {
        wn_study *study = open_study((wn_study_options){.seed = 5});
        for (int i = 0; i < 3; i++)
            CHECK_INT(wn_study_enqueue(study, i == 2 ? "{}" : "{\"units\": 77}"), WN_OK);
        for (int i = 0; i < 3; i++) {
            wn_trial *t = ask(study);
            if (i < 2) CHECK_INT(wn_trial_int(t, "units"), 77);
            double lr = wn_trial_float(t, "lr");
            CHECK(lr >= 1e-5 && lr <= 0.1, "lr %g", lr);
            CHECK_INT(wn_study_config(study, i, &texts[run][i]), WN_OK);
        }
        wn_study_close(study);
    }
    for (int i = 0; i < 3; i++)
        CHECK_TEXT(texts[1][i], texts[0][i]);
    CHECK(strcmp(texts[0][0], texts[0][1]) != 0, "twice %s", texts[0][0]);
    for (int i = 0; i < 6; i++)
        wn_string_free(texts[i / 3][i % 3]);
}

static void wrong_configurations_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *config, *says;
    } cases[] = {
        {"{\"lr\": 1}", "parameter 'lr': 1 is outside 1e-05..0.1"},
        {"{\"lr\": \"fast\"}", "parameter 'lr': 'fast' is not a number"},
        {"{\"lr\": null}", "parameter 'lr': expected a value, got nothing"},
        {"{\"lr\": [1]}", "parameter 'lr': expected a value, got a list"},
        {"{\"units\": 16.5}", "parameter 'units': 16.5 is not a whole number"},
        {"{\"depth\": 3}", "parameter 'depth': 3 is not 2 plus a multiple of 2"},
        {"{\"batch\": 32}", "parameter 'batch': '32' is not one of 16, 64, 256"},
        {"{\"activation\": \"rellu\"}", "parameter 'activation': 'rellu' is not one of relu, tanh, gelu"},
        {"{\"nesterov\": 2}", "parameter 'nesterov': '2' is not one of false, true"},
        {"{\"epochs\": 11}", "parameter 'epochs': '11' is not one of 10"},
        {"{\"unit\": 20}", "unknown parameter 'unit'; did you mean 'units'?"},
        {"{\"zebra\": 20}", "unknown parameter 'zebra'"},
        {"[1]", "expected a mapping of parameters to values, got a list"},
        {"7", "expected a mapping of parameters to values, got a number"},
    };
    wn_study *study = open_study((wn_study_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(wn_study_enqueue(study, cases[i].config), WN_EINVAL);
        CHECK_TEXT(wn_study_error(study), cases[i].says);
    }
    CHECK_INT(wn_study_enqueue(study, "{\"lr\": 0.01"), WN_EINVAL);
    CHECK(strstr(wn_study_error(study), "line 1, column"), "got '%s'", wn_study_error(study));
    CHECK_INT(wn_study_enqueue(study, "{\"lr\": 0.01, \"lr\": 0.02}"), WN_EINVAL);
    wn_trial *t = ask(study); /* none of them got into the line */
    CHECK(wn_trial_float(t, "lr") != 0.01, "lr %g", wn_trial_float(t, "lr"));
    wn_study_close(study);
}

/* ---- looking back ---- */

static void trials_and_reports_can_be_listed(void **state)
{
    (void)state;
    wn_study *study = open_study((wn_study_options){0});
    wn_trial *a = ask(study), *b = ask(study);
    report(a, 1, 0.5);
    report(b, 1, 0.4);
    report(a, 3, 0.3);
    report(a, 2, 0.1); /* out of order */
    CHECK_INT(wn_trial_finish(a, WN_COMPLETE), WN_OK);
    CHECK_INT(wn_study_trials(study), 2);
    wn_trial_info info = info_of(study, 0);
    CHECK_INT(info.number, 0);
    CHECK_INT(info.state, WN_COMPLETE);
    CHECK_DOUBLE(info.value, 0.3); /* at the largest resource */
    CHECK_DOUBLE(info.resource, 3);
    CHECK_INT(info.reports, 3);
    CHECK_INT(info.saw, 0);
    info = info_of(study, 1);
    CHECK_INT(info.state, WN_RUNNING);
    CHECK_DOUBLE(info.value, 0.4);
    CHECK_INT(info.saw, 1);
    double resources[4] = {-1, -1, -1, -1}, values[4] = {-1, -1, -1, -1};
    CHECK_INT(wn_study_reports(study, 0, resources, values, 4), 3);
    static const double came_r[] = {1, 3, 2, -1}, came_v[] = {0.5, 0.3, 0.1, -1};
    for (int i = 0; i < 4; i++) {
        CHECK_DOUBLE(resources[i], came_r[i]);
        CHECK_DOUBLE(values[i], came_v[i]);
    }
    resources[0] = resources[1] = resources[2] = -1;
    CHECK_INT(wn_study_reports(study, 0, resources, NULL, 2), 3); /* the oldest two */
    CHECK_DOUBLE(resources[0], 1);
    CHECK_DOUBLE(resources[1], 3);
    CHECK_DOUBLE(resources[2], -1);
    CHECK_INT(wn_study_reports(study, 0, NULL, values, 4), 3);
    CHECK_INT(wn_study_reports(study, 0, NULL, NULL, 0), 3);
    CHECK_INT(wn_study_reports(study, 2, resources, values, 4), 0);
    CHECK_INT(wn_study_reports(study, -1, resources, values, 4), 0);
    wn_study_close(study);
}

static void a_trial_without_reports(void **state)
{
    (void)state;
    wn_study *study = open_study((wn_study_options){0});
    ask(study);
    wn_trial_info info = info_of(study, 0);
    CHECK_DOUBLE(info.value, NAN);
    CHECK_DOUBLE(info.resource, 0);
    CHECK_INT(info.reports, 0);
    CHECK_INT(wn_study_trial(study, 1, &info), WN_ENOTFOUND);
    CHECK_INT(wn_study_trial(study, -1, &info), WN_ENOTFOUND);
    CHECK_INT(wn_study_trial(study, INT64_MAX, &info), WN_ENOTFOUND);
    char *text = why;
    CHECK_INT(wn_study_config(study, 1, &text), WN_ENOTFOUND);
    assert_null(text);
    wn_study_close(study);
}

/* The best value anywhere on the way counts, with its own resource; ties belong to whoever came first. */
static void the_best_is_kept(void **state)
{
    (void)state;
    for (int goal = WN_MINIMIZE; goal <= WN_MAXIMIZE; goal++) {
        double sign = goal == WN_MAXIMIZE ? -1 : 1;
        wn_study *study = open_study((wn_study_options){.goal = (wn_goal)goal});
        wn_trial_info best;
        CHECK_INT(wn_study_best(study, &best), WN_ENOTFOUND);
        wn_trial *a = ask(study), *b = ask(study);
        report(a, 1, NAN);
        CHECK_INT(wn_study_best(study, &best), WN_ENOTFOUND);
        report(b, 1, sign * 5);
        report(b, 2, sign * 2);
        report(b, 3, sign * 4);
        wn_trial *c = ask(study);
        report(c, 1, sign * 2);
        report(c, 2, sign * -INFINITY);
        CHECK_INT(wn_study_best(study, &best), WN_OK);
        CHECK_INT(best.number, 1);
        CHECK_DOUBLE(best.value, sign * 2);
        CHECK_DOUBLE(best.resource, 2);
        CHECK_INT(best.reports, 3);
        CHECK_DOUBLE(info_of(study, 1).value, sign * 4);
        double values[3];
        CHECK_INT(wn_study_reports(study, 1, NULL, values, 3), 3);
        CHECK_DOUBLE(values[0], sign * 5); /* as they were reported, whatever the goal */
        wn_study_close(study);
    }
}

/* The same seed and the same reports give the same asks, whatever else the process does. */
static void studies_are_independent(void **state)
{
    (void)state;
    wn_study *alone = open_study((wn_study_options){.method = "rea", .seed = 9});
    wn_study *one = open_study((wn_study_options){.method = "rea", .seed = 9});
    wn_study *two = open_study((wn_study_options){.method = "rea", .seed = 10});
    int same = 0;
    for (int i = 0; i < 60; i++) {
        wn_trial *t[3] = {ask(one), ask(two), ask(alone)};
        CHECK_TEXT(wn_trial_json(t[0]), wn_trial_json(t[2]));
        same += !strcmp(wn_trial_json(t[0]), wn_trial_json(t[1]));
        for (int k = 0; k < 3; k++) {
            report(t[k], 1, wn_trial_float(t[k], "lr"));
            CHECK_INT(wn_trial_finish(t[k], WN_COMPLETE), WN_OK);
        }
    }
    CHECK_INT(same, 0);
    wn_study_close(alone);
    wn_study_close(one);
    wn_study_close(two);
}

/* ---- a store that fails ---- */

static wn_status refuse(void *self, uint64_t seq, const struct event *e, const struct trial_row *row,
                        struct err *err)
{
    (void)self, (void)seq, (void)e, (void)row;
    return wni_fail(err, WN_ESTORE, "the disk is full");
}

/* A call that the store refused did not happen, and the handle lives on. */
static void a_failing_store_costs_nothing(void **state)
{
    (void)state;
    wn_study *study = open_small((wn_study_options){0});
    const struct store_ops *good = study->study.store.ops;
    struct store_ops bad = *good;
    bad.append = refuse;
    wn_trial *first = ask(study), *t;
    study->study.store.ops = &bad;
    CHECK_INT(wn_study_ask(study, &t), WN_ESTORE);
    assert_null(t);
    CHECK_TEXT(wn_study_error(study), "the disk is full");
    CHECK_INT(wn_study_enqueue(study, "{\"n\": 2}"), WN_ESTORE);
    wn_decision next = WN_STOP;
    CHECK_INT(wn_trial_report(first, 1, 1, &next), WN_ESTORE);
    CHECK_INT(next, WN_CONTINUE);
    CHECK_INT(wn_trial_finish(first, WN_COMPLETE), WN_ESTORE);
    CHECK_INT(wn_study_trials(study), 1);
    study->study.store.ops = good;
    CHECK_INT(wn_trial_number(first), 0);
    report(first, 1, 1);
    CHECK_INT(wn_trial_finish(first, WN_COMPLETE), WN_OK);
    CHECK_INT(wn_trial_number(ask(study)), 1);
    wn_study_close(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),
        cmocka_unit_test(a_space_is_written_and_read),
        cmocka_unit_test(the_first_mistake_sticks),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(wrong_json_is_explained),
        cmocka_unit_test(wrong_openings_are_explained),
        cmocka_unit_test(an_empty_space_is_refused),
        cmocka_unit_test(options_of_other_versions),
        cmocka_unit_test(null_is_survived),
        cmocka_unit_test(values_of_every_kind),
        cmocka_unit_test(texts_stay),
        cmocka_unit_test(many_trials_in_hand),
        cmocka_unit_test(refused_calls_change_nothing),
        cmocka_unit_test(a_loop_may_end_with_complete),
        cmocka_unit_test(a_paused_trial_is_handed_out_again),
        cmocka_unit_test(wait_and_exhausted),
        cmocka_unit_test(enqueued_configurations_keep_their_order),
        cmocka_unit_test(open_parameters_are_drawn),
        cmocka_unit_test(wrong_configurations_are_refused),
        cmocka_unit_test(trials_and_reports_can_be_listed),
        cmocka_unit_test(a_trial_without_reports),
        cmocka_unit_test(the_best_is_kept),
        cmocka_unit_test(studies_are_independent),
        cmocka_unit_test(a_failing_store_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
