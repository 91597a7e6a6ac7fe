/* test_api_store.c -- the public library over a SQLite file: resumed, shared, leased. */
#include "tests/check.h"

#include "api/api_int.h"
#include "store/sqlite_int.h"

static char folder[CHECK_PATH_MAX], url[CHECK_PATH_MAX + 64], why[WN_WHY_MAX];
static double the_time;

static double our_clock(void)
{
    return the_time;
}

static int set_up(void **state)
{
    (void)state;
    the_time = 50;
    check_tmp_make(folder);
    snprintf(url, sizeof url, "sqlite:///%s/store.db", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    check_tmp_remove(folder);
    return 0;
}

static const wn_study_options base = {.struct_size = sizeof(wn_study_options),
                                      .method = "asha",
                                      .options = "scheduler.eta=2",
                                      .goal = WN_MAXIMIZE,
                                      .seed = UINT64_MAX,
                                      .max_resource = 8,
                                      .lease = 30,
                                      .retries = 1};

static wn_status try_open(double max, const wn_study_options *given, wn_study **out)
{
    wn_study_options options = given ? *given : base;
    wn_space *space = wn_space_new();
    wn_space_float(space, "lr", 1e-5, max, WN_LOG);
    wn_space_categorical(space, "opt", (const char *const[]){"sgd", "a \"quoted\" one"}, 2);
    wn_status st = wn_study_open(url, "s", space, &options, out, why);
    wn_space_free(space);
    if (!st && options.lease > 0) ((struct sqlite_store *)(*out)->study.store.self)->clock = our_clock;
    return st;
}

static wn_study *open_study(void)
{
    wn_study *study;
    wn_status st = try_open(1, NULL, &study);
    CHECK(st == WN_OK, "opening gave %d: %s", st, why);
    return study;
}

static wn_trial *ask(wn_study *study)
{
    wn_trial *trial;
    wn_status st = wn_study_ask(study, &trial);
    CHECK(st == WN_OK, "ask gave %d: %s", st, wn_study_error(study));
    return trial;
}

static void run_trial(wn_study *study, double value)
{
    wn_trial *t = ask(study);
    wn_decision next = WN_CONTINUE;
    for (int r = 1; r <= 8 && next == WN_CONTINUE; r++)
        CHECK_INT(wn_trial_report(t, r, value + r, &next), WN_OK);
    CHECK_INT(wn_trial_finish(t, WN_COMPLETE), WN_OK);
}

/* What one process did, the next finds: values, configurations, and the proposals that would have come. */
static void a_study_is_resumed(void **state)
{
    (void)state;
    char *before[6], *after;
    wn_trial_info info, again;
    wn_study *study = open_study();
    for (int i = 0; i < 6; i++) {
        run_trial(study, i);
        CHECK_INT(wn_study_config(study, i, &before[i]), WN_OK);
    }
    CHECK_INT(wn_study_best(study, &info), WN_OK);
    wn_study_close(study);
    study = open_study();
    CHECK_INT(wn_study_trials(study), 6);
    for (int i = 0; i < 6; i++) {
        CHECK_INT(wn_study_config(study, i, &after), WN_OK);
        CHECK_TEXT(after, before[i]);
        wn_string_free(after);
        wn_string_free(before[i]);
    }
    CHECK_INT(wn_study_best(study, &again), WN_OK);
    CHECK(!memcmp(&info, &again, sizeof info), "another best trial");
    double values[8], resources[8];
    CHECK_INT(wn_study_reports(study, 5, resources, values, 8), 8);
    CHECK_DOUBLE(values[7], 13);
    CHECK_INT(wn_trial_number(ask(study)), 6);
    wn_study_close(study);
}

/* By its name alone. */
static void a_study_is_opened_as_it_was_created(void **state)
{
    (void)state;
    wn_study *study = open_study(), *other;
    run_trial(study, 1);
    char *expected, *got;
    CHECK_INT(wn_study_open(url, "s", NULL, NULL, &other, why), WN_OK);
    CHECK_INT(other->study.search_env.seed == UINT64_MAX, 1);
    CHECK_DOUBLE(other->study.sign, -1);
    wn_trial *t = ask(other);
    CHECK_INT(wn_study_sync(study), WN_OK);
    CHECK_INT(wn_study_config(study, wn_trial_number(t), &expected), WN_OK);
    CHECK_INT(wn_study_config(other, wn_trial_number(t), &got), WN_OK);
    CHECK_TEXT(got, expected);
    wn_string_free(got);
    wn_string_free(expected);
    wn_study_close(other);
    CHECK_INT(wn_study_open(url, "t", NULL, NULL, &other, why), WN_ENOTFOUND);
    CHECK(strstr(why, "has no study 't'"), "'%s'", why);
    wn_study_close(study);
}

/* Somebody widens the study while it is open. */
static void a_wider_space_is_adopted(void **state)
{
    (void)state;
    wn_study *study = open_study(), *other;
    struct space wide;
    struct err err = {0};
    struct study_setup to = *wni_study_setup(&study->study);
    bool changed;
    static const char *const words[] = {"sgd", "a \"quoted\" one", "new"};
    run_trial(study, 1);
    CHECK_INT(wn_study_open(url, "s", NULL, NULL, &other, why), WN_OK);
    wni_space_init(&wide);
    check_add(&wide, (struct param_decl){
                         .name = "lr", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-5, .max = 1e6});
    check_add(&wide,
              (struct param_decl){.name = "opt", .kind = PARAM_CATEGORICAL, .labels = words, .n_labels = 3});
    to.space = &wide;
    CHECK_OK(wni_study_change(&study->study, &to, 0, &changed, &err), err);
    wni_space_release(&wide);
    double most = 0;
    bool found = false;
    for (int i = 0; i < 30; i++) {
        wn_trial *t = ask(other);
        most = fmax(most, wn_trial_float(t, "lr"));
        found = found || !strcmp(wn_trial_string(t, "opt"), "new");
    }
    CHECK(most > 10, "%g", most);
    assert_true(found);
    wn_study_close(other);
    CHECK_INT(try_open(1, NULL, &other), WN_EINVAL); /* the old space is not the study's any more */
    wn_study_close(study);
}

static void another_study_of_that_name_is_refused(void **state)
{
    (void)state;
    wn_study *study = open_study(), *other;
    wn_study_options o = base;
    o.options = "scheduler.eta=3";
    CHECK_INT(try_open(1, &o, &other), WN_EINVAL);
    assert_null(other);
    CHECK_TEXT(why, "the stored study was created with options 'scheduler.eta=2', not "
                    "'scheduler.eta=3'");
    CHECK_INT(try_open(2, NULL, &other), WN_EINVAL);
    CHECK(strstr(why, "the stored study was created with parameter {\"lr\": "), "'%s'", why);
    wn_study_close(study);
}

/* Trials handed out by one handle are reported through another. */
static void a_trial_is_attached_to(void **state)
{
    (void)state;
    wn_study *one = open_study(), *two = open_study();
    wn_trial *mine = ask(one), *theirs, *none;
    CHECK_INT(wn_study_attach(two, wn_trial_number(mine), &theirs), WN_OK);
    CHECK_DOUBLE(wn_trial_float(theirs, "lr"), wn_trial_float(mine, "lr"));
    CHECK_TEXT(wn_trial_string(theirs, "opt"), wn_trial_string(mine, "opt"));
    CHECK_INT(wn_trial_report(theirs, 1, 5, NULL), WN_OK);
    CHECK_INT(wn_trial_finish(theirs, WN_COMPLETE), WN_OK);
    CHECK_INT(wn_trial_report(mine, 2, 5, NULL), WN_ESTATE);
    CHECK_TEXT(wn_study_error(one), "trial 0 is COMPLETE: it cannot report");
    CHECK_INT(wn_study_attach(two, 0, &none), WN_ESTATE);
    assert_null(none);
    CHECK_TEXT(wn_study_error(two), "trial 0 is COMPLETE, not running");
    CHECK_INT(wn_study_attach(two, 7, &none), WN_ENOTFOUND);
    CHECK_INT(wn_study_attach(two, -1, &none), WN_ENOTFOUND);
    CHECK_INT(wn_study_attach(two, 0, NULL), WN_EINVAL);
    CHECK_INT(wn_study_attach(NULL, 0, &none), WN_EINVAL);
    wn_study_close(one);
    wn_study_close(two);
}

static void leases_and_retries(void **state)
{
    (void)state;
    wn_study *one = open_study(), *two = open_study();
    wn_trial *alive = ask(one), *silent = ask(one), *again;
    CHECK_INT(wn_trial_attempt(silent), 1);
    the_time += 20;
    CHECK_INT(wn_trial_heartbeat(alive), WN_OK);
    the_time += 20;
    wn_trial_info info;
    CHECK_INT(wn_study_sync(two), WN_OK);
    CHECK_INT(wn_study_trial(two, 1, &info), WN_OK);
    CHECK_INT(info.state, WN_LOST);
    CHECK_INT(wn_study_trial(two, 0, &info), WN_OK);
    CHECK_INT(info.state, WN_RUNNING);
    CHECK_INT(wn_trial_heartbeat(silent), WN_ESTATE);
    CHECK_TEXT(wn_study_error(one), "trial 1 is LOST, not running");
    CHECK_INT(wn_trial_report(silent, 1, 3, NULL), WN_OK); /* late, and welcome */
    again = ask(two);
    CHECK_INT(wn_trial_number(again), 1);
    CHECK_INT(wn_trial_attempt(again), 2);
    CHECK_DOUBLE(wn_trial_resumed_from(again), 1);
    CHECK_INT(wn_trial_heartbeat(NULL), WN_EINVAL);
    CHECK_INT(wn_study_sync(NULL), WN_EINVAL);
    wn_study_close(one);
    wn_study_close(two);
}

static void options_are_checked(void **state)
{
    (void)state;
    static const struct {
        double lease;
        uint32_t retries;
        const char *says;
    } wrong[] = {{-1, 0, "options: lease must be a finite number of seconds, 0 or above"},
                 {INFINITY, 0, "options: lease must be a finite number of seconds, 0 or above"},
                 {NAN, 0, "options: lease must be a finite number of seconds, 0 or above"},
                 {0, 101, "options: at most 100 retries"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        wn_study_options o = base;
        wn_study *study;
        o.lease = wrong[i].lease;
        o.retries = wrong[i].retries;
        CHECK_INT(try_open(1, &o, &study), WN_EINVAL);
        CHECK_TEXT(why, wrong[i].says);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_study_is_resumed),       TEST(a_study_is_opened_as_it_was_created),
        TEST(a_wider_space_is_adopted), TEST(another_study_of_that_name_is_refused),
        TEST(a_trial_is_attached_to),   TEST(leases_and_retries),
        TEST(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
