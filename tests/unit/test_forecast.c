/* test_forecast.c -- tuner/forecast.h: what is left of a study, also of one that was resumed. */
#include "tests/check.h"

#include "tuner/forecast.h"

static const struct standing start = {0};

static void nothing_done_nothing_known(void **state)
{
    (void)state;
    struct tuner_limits limits = {.trials = 100};
    struct forecast f = wni_forecast(&limits, &start, &start, 5);
    CHECK_DOUBLE(f.share, 0);
    CHECK(isnan(f.left), "%g s", f.left);
    struct standing now = {.ended = 7};
    f = wni_forecast(&(struct tuner_limits){0}, &start, &now, 5); /* no limit, no end */
    CHECK_DOUBLE(f.share, 0);
    CHECK(isnan(f.left), "%g s", f.left);
}

static void each_limit_is_minded(void **state)
{
    (void)state;
    static const struct {
        struct tuner_limits limits;
        double share, left;
    } rows[] = {
        {{.trials = 40}, 0.25, 30},
        {{.reports = 50}, 0.4, 15},
        {{.resource = 250}, 0.8, 2.5},
        {{.seconds = 100}, 0.1, 90},
        {{.trials = 40, .resource = 250}, 0.8, 2.5}, /* the nearest counts */
        {{.trials = 5}, 1, 0},                       /* beyond it: others worked on the study too */
    };
    struct standing now = {.ended = 10, .reports = 20, .resource = 200};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct forecast f = wni_forecast(&rows[i].limits, &start, &now, 10);
        CHECK(fabs(f.share - rows[i].share) < 1e-12, "row %zu: share %g", i, f.share);
        CHECK(fabs(f.left - rows[i].left) < 1e-12, "row %zu: left %g", i, f.left);
    }
}

/* 90 of 100 trials came from earlier runs; this one needed 10 s for the last two. */
static void a_resumed_study_goes_at_the_pace_of_this_run(void **state)
{
    (void)state;
    struct tuner_limits limits = {.trials = 100};
    struct standing before = {.ended = 90}, now = {.ended = 92};
    struct forecast f = wni_forecast(&limits, &before, &now, 10);
    CHECK(fabs(f.share - 0.92) < 1e-12, "share %g", f.share);
    CHECK(fabs(f.left - 40) < 1e-9, "left %g s", f.left);
    f = wni_forecast(&limits, &before, &before, 10);
    CHECK(fabs(f.share - 0.9) < 1e-12, "share %g", f.share);
    CHECK(isnan(f.left), "left %g s", f.left);
}

static void running_trials_are_not_done(void **state)
{
    (void)state;
    struct history h = {.n_trials = 9, .n_reports = 30, .total_resource = 12};
    h.by_state[WN_RUNNING] = 4;
    struct standing s = wni_standing(&h);
    CHECK_DOUBLE(s.ended, 5);
    CHECK_DOUBLE(s.reports, 30);
    CHECK_DOUBLE(s.resource, 12);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_done_nothing_known),
        cmocka_unit_test(each_limit_is_minded),
        cmocka_unit_test(a_resumed_study_goes_at_the_pace_of_this_run),
        cmocka_unit_test(running_trials_are_not_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
