/* test_study.c -- tuner/study.h: which state a trial ends in, what an ask answers, and that events take
 * effect everywhere.
 *
 * The contract tests drive studies by chance; here the cases are worked out by hand. */
#include "tests/check.h"

#include "core/streams.h"
#include "tuner/study.h"

static struct err err;

static void one_float(struct space *space)
{
    wni_space_init(space);
    check_add(space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1});
}

static void three_values(struct space *space)
{
    wni_space_init(space);
    check_add(space, (struct param_decl){.name = "n", .kind = PARAM_INT, .min = 1, .max = 3});
}

static wn_status try_open(struct study *s, const struct space *space, struct study_setup setup)
{
    struct store store;
    CHECK_OK(wni_store_open(&store, "memory:", "study", space, &err), err);
    setup.space = space;
    if (!setup.searcher) setup.searcher = "random";
    if (!setup.scheduler) setup.scheduler = "fifo";
    return wni_study_open(s, &setup, &store, &err);
}

/* The space is released at once, the study has its own. */
static void open_study_in(struct study *s, void (*make)(struct space *), struct study_setup setup)
{
    struct space space;
    make(&space);
    CHECK_OK(try_open(s, &space, setup), err);
    wni_space_release(&space);
}

static void open_study(struct study *s, struct study_setup setup)
{
    open_study_in(s, one_float, setup);
}

static uint32_t ask(struct study *s)
{
    struct handout job;
    CHECK_OK(wni_study_ask(s, 0, &job, &err), err);
    return job.trial;
}

static wn_status try_ask(struct study *s)
{
    struct handout job;
    return wni_study_ask(s, 0, &job, &err);
}

static wn_decision report(struct study *s, uint32_t trial, double resource, double value)
{
    wn_decision decision;
    CHECK_OK(wni_study_report(s, trial, resource, value, 0, &decision, &err), err);
    return decision;
}

/* Finishes and gives the state that was recorded. */
static wn_state finish(struct study *s, uint32_t trial, wn_state state)
{
    CHECK_OK(wni_study_finish(s, trial, state, 0, &err), err);
    return (wn_state)s->history.trials[trial].state;
}

static const struct study_setup asha = {.scheduler = "asha", .max_resource = 9};
static const struct study_setup promotion = {
    .scheduler = "asha", .options = {"scheduler.type=promotion"}, .max_resource = 9};

/* Three trials that pause at 1, with these values. */
static void pause_three(struct study *s, const double values[3])
{
    for (int i = 0; i < 3; i++) {
        uint32_t t = ask(s);
        CHECK_INT(report(s, t, 1, values[i]), WN_PAUSE);
        CHECK_INT(finish(s, t, WN_COMPLETE), WN_PAUSED);
    }
}

/* ---- which state it ends in ---- */

/* A trial that reports once and says that it is complete: what it is told, and how it is recorded. */
static void check_one_report(struct study_setup setup, double resource, wn_decision told, wn_state recorded)
{
    struct study s;
    open_study(&s, setup);
    uint32_t t = ask(&s);
    CHECK_INT(report(&s, t, resource, 0.5), told);
    CHECK_INT(finish(&s, t, WN_COMPLETE), recorded);
    wni_study_release(&s);
}

static void complete_stays_complete(void **state)
{
    (void)state;
    check_one_report((struct study_setup){0}, 1, WN_CONTINUE, WN_COMPLETE);
}

/* Nobody told it to stop: it converged, say. */
static void complete_below_the_largest_resource(void **state)
{
    (void)state;
    check_one_report(asha, 2, WN_CONTINUE, WN_COMPLETE);
}

static void told_to_stop_is_stopped(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, asha);
    uint32_t good = ask(&s), bad = ask(&s);
    CHECK_INT(report(&s, good, 1, 0.1), WN_CONTINUE);
    CHECK_INT(report(&s, bad, 1, 0.9), WN_STOP);
    CHECK_INT(finish(&s, bad, WN_COMPLETE), WN_STOPPED);
    CHECK_INT(finish(&s, good, WN_STOPPED), WN_STOPPED); /* the caller may say so itself */
    wni_study_release(&s);
}

static void stop_at_the_largest_resource_is_complete(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, asha);
    uint32_t t = ask(&s);
    for (int r = 1; r < 9; r++)
        CHECK_INT(report(&s, t, r, 0.5), WN_CONTINUE);
    CHECK_INT(report(&s, t, 9, 0.5), WN_STOP);
    CHECK_INT(finish(&s, t, WN_COMPLETE), WN_COMPLETE);
    t = ask(&s);
    CHECK_INT(report(&s, t, 12, 0.4), WN_STOP); /* beyond it, too */
    CHECK_INT(finish(&s, t, WN_COMPLETE), WN_COMPLETE);
    wni_study_release(&s);
}

/* A scheduler without an opinion is overruled at the end of the curve. */
static void the_largest_resource_ends_a_trial_under_fifo(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, (struct study_setup){.max_resource = 3});
    uint32_t t = ask(&s);
    CHECK_INT(report(&s, t, 1, 0.5), WN_CONTINUE);
    CHECK_INT(report(&s, t, 3, 0.5), WN_STOP);
    CHECK_INT(finish(&s, t, WN_COMPLETE), WN_COMPLETE);
    wni_study_release(&s);
}

static void told_to_pause_is_paused(void **state)
{
    (void)state;
    check_one_report(promotion, 1, WN_PAUSE, WN_PAUSED);
}

/* A broken trial has failed whatever it, or the scheduler, says afterwards (docs/adr/0007). */
static void not_finite_is_failed(void **state)
{
    (void)state;
    static const double broken[] = {NAN, INFINITY, -INFINITY};
    static const wn_state said[] = {WN_COMPLETE, WN_STOPPED, WN_PAUSED, WN_FAILED};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 4; k++) {
            struct study s;
            open_study(&s, (struct study_setup){.max_resource = 9});
            uint32_t t = ask(&s);
            CHECK_INT(report(&s, t, 1, 0.5), WN_CONTINUE);
            CHECK_INT(report(&s, t, 2, broken[i]), WN_STOP);
            CHECK_INT(report(&s, t, 3, 0.1), WN_STOP); /* it does not come back */
            CHECK_INT(finish(&s, t, said[k]), WN_FAILED);
            wni_study_release(&s);
        }
}

static void no_report_is_failed(void **state)
{
    (void)state;
    static const struct {
        wn_state said, recorded;
    } cases[] = {{WN_COMPLETE, WN_FAILED},    {WN_STOPPED, WN_FAILED}, {WN_FAILED, WN_FAILED},
                 {WN_TIMEOUT, WN_TIMEOUT},    {WN_LOST, WN_LOST},      {WN_PAUSED, WN_PAUSED},
                 {WN_CANCELLED, WN_CANCELLED}};
    struct study s;
    open_study(&s, (struct study_setup){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_INT(finish(&s, ask(&s), cases[i].said), cases[i].recorded);
    wni_study_release(&s);
}

/* What happened to a worker is not corrected by what it reported before. */
static void other_ends_are_kept(void **state)
{
    (void)state;
    static const wn_state ends[] = {WN_FAILED, WN_TIMEOUT, WN_LOST, WN_CANCELLED};
    struct study s;
    open_study(&s, promotion);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        uint32_t t = ask(&s);
        CHECK_INT(report(&s, t, 1, 0.5), WN_PAUSE);
        CHECK_INT(finish(&s, t, ends[i]), ends[i]);
    }
    wni_study_release(&s);
}

static void a_decision_is_forgotten_at_resume(void **state)
{
    (void)state;
    struct study s;
    struct handout job;
    open_study(&s, promotion);
    pause_three(&s, (double[]){0.5, 0.4, 0.3});
    CHECK_OK(wni_study_ask(&s, 0, &job, &err), err);
    CHECK_INT(job.trial, 2); /* the best of three */
    CHECK_DOUBLE(job.resumed_from, 1);
    CHECK_DOUBLE(job.config[0], wni_history_config(&s.history, 2)[0]);
    CHECK_INT(report(&s, 2, 2, 0.3), WN_CONTINUE);
    CHECK_INT(finish(&s, 2, WN_COMPLETE), WN_COMPLETE);
    wni_study_release(&s);
}

static void calls_out_of_place_are_refused(void **state)
{
    (void)state;
    struct study s;
    wn_decision decision;
    open_study(&s, (struct study_setup){0});
    uint32_t t = ask(&s);
    CHECK_INT(wni_study_report(&s, 7, 1, 1, 0, &decision, &err), WN_ENOTFOUND);
    CHECK_TEXT(err.text, "trial 7: there is no such trial");
    CHECK_INT(wni_study_finish(&s, 7, WN_COMPLETE, 0, &err), WN_ENOTFOUND);
    CHECK_INT(wni_study_report(&s, t, 0, 1, 0, &decision, &err), WN_EINVAL);
    CHECK_TEXT(err.text, "trial 0: resource 0 is not a finite number above 0");
    CHECK_INT(wni_study_finish(&s, t, WN_RUNNING, 0, &err), WN_EINVAL);
    CHECK_TEXT(err.text, "trial 0: a trial does not end as RUNNING");
    CHECK_INT(wni_study_finish(&s, t, (wn_state)99, 0, &err), WN_EINVAL);
    report(&s, t, 1, 0.5);
    finish(&s, t, WN_COMPLETE);
    CHECK_INT(wni_study_report(&s, t, 2, 1, 0, &decision, &err), WN_ESTATE);
    CHECK_TEXT(err.text, "trial 0 is COMPLETE: it cannot report");
    CHECK_INT(wni_study_finish(&s, t, WN_FAILED, 0, &err), WN_ESTATE);
    CHECK_TEXT(err.text, "trial 0 is COMPLETE: it cannot become FAILED");
    CHECK_INT(s.history.n_events, 3);
    wni_study_release(&s);
}

/* ---- ask ---- */

static void exhausted_when_every_value_was_tried(void **state)
{
    (void)state;
    struct study s;
    open_study_in(&s, three_values, (struct study_setup){0});
    for (int i = 0; i < 3; i++)
        ask(&s);
    CHECK_INT(try_ask(&s), WN_EXHAUSTED); /* under FIFO nothing can come of the trials that run */
    CHECK_OK(wni_study_enqueue(&s, (double[]){2}, 0, &err), err);
    CHECK_INT(ask(&s), 3); /* who asks for it by name gets it again */
    CHECK_INT(try_ask(&s), WN_EXHAUSTED);
    wni_study_release(&s);
}

/* A scheduler that pauses may have something to go on with once a running trial has reported. */
static void wait_while_a_promotion_may_come(void **state)
{
    (void)state;
    struct study s;
    open_study_in(&s, three_values, promotion);
    for (int i = 0; i < 3; i++)
        ask(&s);
    CHECK_INT(try_ask(&s), WN_WAIT);
    for (uint32_t t = 0; t < 3; t++) {
        CHECK_INT(try_ask(&s), WN_WAIT);
        CHECK_INT(report(&s, t, 1, t), WN_PAUSE);
        CHECK_INT(finish(&s, t, WN_COMPLETE), WN_PAUSED);
    }
    CHECK_INT(ask(&s), 0); /* promoted */
    CHECK_INT(try_ask(&s), WN_WAIT);
    CHECK_INT(finish(&s, 0, WN_FAILED), WN_FAILED);
    CHECK_INT(try_ask(&s), WN_EXHAUSTED); /* two are paused, but nothing can promote them any more */
    wni_study_release(&s);
}

/* Enqueued configurations come first, in order, before promotions and proposals. */
static void the_queue_comes_first(void **state)
{
    (void)state;
    struct study s;
    struct handout job;
    open_study(&s, promotion);
    pause_three(&s, (double[]){0, 1, 2});
    static const double wanted[] = {0.25, 0.75, 0.25};
    for (int i = 0; i < 3; i++)
        CHECK_OK(wni_study_enqueue(&s, &wanted[i], 0, &err), err);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(wni_study_ask(&s, 0, &job, &err), err);
        CHECK_INT(job.trial, 3 + i);
        CHECK_DOUBLE(job.config[0], wanted[i]);
        CHECK_DOUBLE(job.resumed_from, 0);
    }
    CHECK_INT(ask(&s), 0);
    CHECK_INT(wni_study_enqueue(&s, (double[]){1.5}, 0, &err), WN_EINVAL);
    CHECK_TEXT(err.text, "parameter 'x': 1.5 is not a value of the space");
    wni_study_release(&s);
}

/* A trial row keeps how much of the log its proposal knew. */
static void an_ask_notes_what_it_saw(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, (struct study_setup){0});
    ask(&s);
    ask(&s);
    report(&s, 0, 1, 0.5);
    uint32_t t = ask(&s);
    CHECK_INT(s.history.trials[0].saw, 0);
    CHECK_INT(s.history.trials[1].saw, 1);
    CHECK_INT(s.history.trials[t].saw, 3);
    wni_study_release(&s);
}

/* ---- opening ---- */

static void the_second_list_of_options_wins(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, (struct study_setup){.scheduler = "asha",
                                        .options = {"scheduler.type=promotion", "scheduler.type=stopping"},
                                        .max_resource = 9});
    CHECK_INT(report(&s, ask(&s), 1, 0.5), WN_CONTINUE);
    wni_study_release(&s);
    open_study(&s, (struct study_setup){.scheduler = "asha",
                                        .options = {"scheduler.type=stopping", "scheduler.type=promotion"},
                                        .max_resource = 9});
    CHECK_INT(report(&s, ask(&s), 1, 0.5), WN_PAUSE);
    wni_study_release(&s);
}

static void wrong_setups_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct study_setup setup;
        const char *says;
    } cases[] = {
        {{.scheduler = "ahsa"}, "unknown scheduler 'ahsa'; did you mean 'asha'?"},
        {{.searcher = "randon"}, "unknown searcher 'randon'; did you mean 'random'?"},
        {{.scheduler = "asha"}, "scheduler 'asha' needs a largest resource (how many epochs a full run has)"},
        {{.min_resource = -1}, "resource: bounds must be finite numbers, 0 or above"},
        {{.max_resource = NAN}, "resource: bounds must be finite numbers, 0 or above"},
        {{.max_resource = INFINITY}, "resource: bounds must be finite numbers, 0 or above"},
        {{.min_resource = 5, .max_resource = 2}, "resource: min 5 is above max 2"},
        {{.options = {"searcher.points=3"}},
         "searcher 'random': unknown option 'points'; there are none here"},
        {{.scheduler = "asha", .options = {"scheduler.eta=1"}, .max_resource = 9},
         "scheduler 'asha': option 'eta': expected a number from 1.1 to 1000, got '1'"},
    };
    struct space space;
    one_float(&space);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct study s;
        CHECK_INT(try_open(&s, &space, cases[i].setup), WN_EINVAL);
        CHECK_TEXT(err.text, cases[i].says);
        wni_study_release(&s); /* nothing is left, so nothing happens */
    }
    wni_space_release(&space);
}

/* The first rung: as told, else 1, but not above the largest resource. */
static void the_first_rung(void **state)
{
    (void)state;
    static const double cases[][3] = {{0, 9, 1}, {3, 9, 3}, {0, 0.5, 0.5}, {0.1, 0.5, 0.1}, {0, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct study s;
        open_study(&s, (struct study_setup){.min_resource = cases[i][0], .max_resource = cases[i][1]});
        CHECK_DOUBLE(s.sched_env.min_resource, cases[i][2]);
        CHECK_DOUBLE(s.sched_env.max_resource, cases[i][1] > 0 ? cases[i][1] : INFINITY);
        wni_study_release(&s);
    }
}

/* ---- maximising ---- */

static void maximising_is_minimising_the_negative(void **state)
{
    (void)state;
    struct study low, high;
    struct study_setup setup = {.scheduler = "asha", .searcher = "rea", .max_resource = 9};
    open_study(&low, setup);
    setup.goal = WN_MAXIMIZE;
    open_study(&high, setup);
    struct rng rng = wni_rng_stream(1, 0, 1);
    for (int i = 0; i < 100; i++) {
        uint32_t t = ask(&low);
        CHECK_INT(ask(&high), t);
        CHECK_DOUBLE(wni_history_config(&low.history, t)[0], wni_history_config(&high.history, t)[0]);
        wn_decision a = WN_CONTINUE;
        for (int r = 1; a == WN_CONTINUE; r++) {
            double value = i % 10 == 9 ? NAN : wni_rng_normal(&rng);
            a = report(&low, t, r, value);
            CHECK_INT(report(&high, t, r, -value), a);
        }
        CHECK_INT(finish(&low, t, WN_COMPLETE), finish(&high, t, WN_COMPLETE));
    }
    CHECK_INT(low.history.best_trial, high.history.best_trial);
    CHECK_DOUBLE(low.history.best_value, high.history.best_value);
    CHECK(low.history.by_state[WN_COMPLETE] > 0 && low.history.by_state[WN_STOPPED] > 0,
          "%zu complete, %zu stopped", low.history.by_state[WN_COMPLETE], low.history.by_state[WN_STOPPED]);
    wni_study_release(&low);
    wni_study_release(&high);
}

/* ---- replay ---- */

/* A study that follows another by its events decides the same and is in the same state at every moment. */
static void a_follower_keeps_up(void **state)
{
    (void)state;
    struct study leader, follower;
    struct history_cursor at = {0};
    open_study(&leader, promotion);
    open_study(&follower, promotion);
    for (int i = 0; i < 60; i++) {
        struct event e;
        wn_decision decision = WN_CONTINUE, followed = WN_CONTINUE;
        uint32_t t = ask(&leader);
        double from = 0, value;
        wni_history_last(&leader.history, t, &value, &from);
        for (double r = from + 1; decision == WN_CONTINUE; r++) {
            decision = report(&leader, t, r, wni_history_config(&leader.history, t)[0] + 1 / r);
            while (wni_history_next(&leader.history, &at, &e))
                CHECK_OK(wni_study_apply(&follower, &e, &followed, &err), err);
            CHECK_INT(followed, decision);
        }
        finish(&leader, t, WN_COMPLETE);
        while (wni_history_next(&leader.history, &at, &e))
            CHECK_OK(wni_study_apply(&follower, &e, &followed, &err), err);
        for (int k = 0; k <= WN_CANCELLED; k++)
            CHECK_INT(follower.history.by_state[k], leader.history.by_state[k]);
    }
    CHECK(leader.history.by_state[WN_COMPLETE] > 0, "nothing got to the end in %zu trials",
          leader.history.n_trials);
    wni_study_release(&leader);
    wni_study_release(&follower);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_stays_complete),
        cmocka_unit_test(complete_below_the_largest_resource),
        cmocka_unit_test(told_to_stop_is_stopped),
        cmocka_unit_test(stop_at_the_largest_resource_is_complete),
        cmocka_unit_test(the_largest_resource_ends_a_trial_under_fifo),
        cmocka_unit_test(told_to_pause_is_paused),
        cmocka_unit_test(not_finite_is_failed),
        cmocka_unit_test(no_report_is_failed),
        cmocka_unit_test(other_ends_are_kept),
        cmocka_unit_test(a_decision_is_forgotten_at_resume),
        cmocka_unit_test(calls_out_of_place_are_refused),
        cmocka_unit_test(exhausted_when_every_value_was_tried),
        cmocka_unit_test(wait_while_a_promotion_may_come),
        cmocka_unit_test(the_queue_comes_first),
        cmocka_unit_test(an_ask_notes_what_it_saw),
        cmocka_unit_test(the_second_list_of_options_wins),
        cmocka_unit_test(wrong_setups_are_refused),
        cmocka_unit_test(the_first_rung),
        cmocka_unit_test(maximising_is_minimising_the_negative),
        cmocka_unit_test(a_follower_keeps_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
