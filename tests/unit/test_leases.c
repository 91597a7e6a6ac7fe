/* test_leases.c -- trials whose worker went away: noticed by the lease, once, whoever looks; retried as often
 * as the study says; and a late result still counts.  The clock is ours. */
#include "tests/check.h"

#include "base/clock.h"
#include "store/sqlite_int.h"
#include "tuner/rows.h"
#include "tuner/study.h"

#include <sys/wait.h>
#include <unistd.h>

static char folder[CHECK_PATH_MAX], url[CHECK_PATH_MAX + 64];
static struct space space;
static struct err err;
static double the_time;

static double our_clock(void)
{
    return the_time;
}

static int set_up(void **state)
{
    (void)state;
    the_time = 1000;
    check_tmp_make(folder);
    snprintf(url, sizeof url, "sqlite:///%s/store.db", folder);
    wni_space_init(&space);
    check_add(&space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wni_space_release(&space);
    check_tmp_remove(folder);
    return 0;
}

static void open_as(struct study *s, const char *scheduler, const char *options, unsigned retries)
{
    struct store store;
    CHECK_OK(wni_store_open(&store, url, "s", &space, &err), err);
    ((struct sqlite_store *)store.self)->clock = our_clock;
    struct study_setup setup = {.space = &space,
                                .scheduler = scheduler,
                                .searcher = "random",
                                .options = {options},
                                .max_resource = 9,
                                .lease = 60,
                                .retries = retries};
    CHECK_OK(wni_study_open(s, &setup, &store, &err), err);
}

static struct handout ask(struct study *s)
{
    struct handout job = {0};
    CHECK_OK(wni_study_ask(s, the_time, &job, &err), err);
    return job;
}

static wn_decision report(struct study *s, uint32_t trial, double resource, double value)
{
    wn_decision next = WN_CONTINUE;
    CHECK_OK(wni_study_report(s, trial, resource, value, the_time, &next, &err), err);
    return next;
}

static void finish(struct study *s, uint32_t trial, wn_state state)
{
    CHECK_OK(wni_study_finish(s, trial, state, the_time, &err), err);
}

/* What a listing says, without opening the study. */
static wn_status take_alive(void *context, const struct study_row *row, struct err *why)
{
    (void)why;
    *(uint64_t *)context = row->alive;
    return WN_OK;
}

static uint64_t alive(void)
{
    uint64_t n = 99;
    CHECK_OK(wni_store_studies(url, "s", take_alive, &n, &err), err);
    return n;
}

static wn_state state_of(struct study *s, uint32_t trial)
{
    CHECK_OK(wni_study_sync(s, the_time, &err), err);
    return s->history.trials[trial].state;
}

static void check_file(struct study *s)
{
    size_t wrong;
    CHECK_OK(wni_rows_repair(s, url, "s", &wrong, &err), err);
    CHECK_INT(wrong, 0);
}

/* ---- noticing ---- */

static void a_silent_trial_is_lost(void **state)
{
    (void)state;
    struct study s, other;
    open_as(&s, "fifo", NULL, 0);
    open_as(&other, "fifo", NULL, 0);
    uint32_t silent = ask(&s).trial, chatty = ask(&s).trial, beating = ask(&s).trial;
    for (int i = 1; i <= 3; i++) {
        the_time += 19.9;
        report(&s, chatty, i, 1);
        CHECK_OK(wni_study_heartbeat(&s, beating, &err), err);
        CHECK_INT(state_of(&other, silent), WN_RUNNING);
    }
    the_time += 0.4;                              /* now it is 60.1 seconds */
    CHECK_INT(state_of(&other, silent), WN_LOST); /* whoever looks */
    CHECK_INT(state_of(&s, silent), WN_LOST);
    CHECK_INT(state_of(&s, chatty), WN_RUNNING);
    CHECK_INT(state_of(&s, beating), WN_RUNNING);
    CHECK_INT(s.history.n_events, 7); /* three asks, three reports, one loss: noticed once */
    CHECK_INT(wni_study_heartbeat(&s, silent, &err), WN_ESTATE);
    CHECK_TEXT(err.text, "trial 0 is LOST, not running");
    CHECK_INT(wni_study_heartbeat(&s, 9, &err), WN_ENOTFOUND);
    check_file(&s);
    wni_study_release(&s);
    wni_study_release(&other);
}

/* An ask notices too, and every sign of life counts from when it was given, though not each is written. */
static void leases_are_renewed_in_time(void **state)
{
    (void)state;
    struct study s;
    open_as(&s, "fifo", NULL, 0);
    uint32_t trial = ask(&s).trial;
    struct rng rng = wni_rng_stream(1, 1, 1);
    for (int i = 1; i < 300; i++) {
        the_time += check_uniform(&rng, 0, 44); /* three quarters of the lease: it may be a quarter old */
        CHECK_INT(state_of(&s, trial), WN_RUNNING);
        report(&s, trial, 1, 1);
    }
    the_time += 60.1;
    CHECK_INT(ask(&s).trial, 1);
    CHECK_INT(s.history.trials[trial].state, WN_LOST);
    wni_study_release(&s);
}

static void ended_trials_have_no_lease(void **state)
{
    (void)state;
    struct study s;
    open_as(&s, "fifo", NULL, 0);
    uint32_t done = ask(&s).trial, paused = ask(&s).trial;
    report(&s, done, 9, 1);
    finish(&s, done, WN_COMPLETE);
    finish(&s, paused, WN_PAUSED);
    the_time += 1e6;
    CHECK_INT(state_of(&s, done), WN_COMPLETE);
    CHECK_INT(state_of(&s, paused), WN_PAUSED);
    wni_study_release(&s);
}

/* A clock set forward or back by years is not the clock of leases; a machine that was started again is known
 * by its boot, even if its clock now shows less. */
static void a_reboot_ends_all_leases(void **state)
{
    (void)state;
    struct study s;
    open_as(&s, "fifo", NULL, 0);
    ask(&s);
    CHECK_INT(state_of(&s, 0), WN_RUNNING);
    the_time = 3;
    CHECK_INT(state_of(&s, 0), WN_RUNNING);
    wni_study_release(&s);
    open_as(&s, "fifo", NULL, 0);
    strcpy(((struct sqlite_store *)s.store.self)->boot, "another");
    CHECK_INT(state_of(&s, 0), WN_LOST);
    wni_study_release(&s);
}

/* ---- late results ---- */

static void a_late_result_is_accepted(void **state)
{
    (void)state;
    struct study s;
    open_as(&s, "fifo", NULL, 0);
    uint32_t trial = ask(&s).trial;
    report(&s, trial, 1, 0.5);
    the_time += 61;
    CHECK_INT(state_of(&s, trial), WN_LOST);
    report(&s, trial, 9, 0.25);
    CHECK_DOUBLE(s.history.best_value, 0.25);
    check_file(&s);
    finish(&s, trial, WN_COMPLETE);
    CHECK_INT(state_of(&s, trial), WN_COMPLETE);
    check_file(&s);
    wni_study_release(&s);
}

/* ---- retries ---- */

static void lost_and_failed_trials_are_tried_again(void **state)
{
    (void)state;
    struct study s, again;
    open_as(&s, "fifo", NULL, 2);
    struct handout first = ask(&s);
    double x = first.config[0];
    CHECK_INT(first.attempt, 1);
    report(&s, 0, 3, 1);
    the_time += 61;
    CHECK_INT(state_of(&s, 0), WN_LOST);
    CHECK_INT(s.history.n_retries, 1);
    struct handout second = ask(&s);
    CHECK_INT(second.trial, 0);
    CHECK_INT(second.attempt, 2);
    CHECK_DOUBLE(second.config[0], x);
    CHECK_DOUBLE(second.resumed_from, 3);
    CHECK_INT(s.history.n_distinct, 1); /* not a second configuration */
    finish(&s, 0, WN_FAILED);
    CHECK_INT(state_of(&s, 0), WN_FAILED);
    check_file(&s);
    open_as(&again, "fifo", NULL, 0); /* what waits is in the log, whoever asks */
    CHECK_INT(ask(&again).attempt, 3);
    CHECK_INT(ask(&s).trial, 1);
    finish(&s, 0, WN_FAILED); /* that was the last */
    CHECK_INT(s.history.n_retries, 0);
    CHECK_INT(ask(&s).trial, 2);
    CHECK_INT(state_of(&again, 0), WN_FAILED);
    check_file(&s);
    wni_study_release(&s);
    wni_study_release(&again);
}

static void not_everything_is_tried_again(void **state)
{
    (void)state;
    static const wn_state ends[] = {WN_TIMEOUT, WN_CANCELLED, WN_COMPLETE, WN_STOPPED};
    struct study s;
    open_as(&s, "fifo", NULL, 5);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        report(&s, ask(&s).trial, 1, 1);
        finish(&s, (uint32_t)i, ends[i]);
        CHECK_INT(s.history.n_retries, 0);
    }
    uint32_t diverged = ask(&s).trial; /* it would diverge again */
    report(&s, diverged, 1, NAN);
    finish(&s, diverged, WN_FAILED);
    CHECK_INT(s.history.n_retries, 0);
    finish(&s, ask(&s).trial, WN_FAILED);
    CHECK_INT(s.history.n_retries, 1);
    finish(&s, diverged + 1, WN_CANCELLED); /* the user has seen enough */
    CHECK_INT(s.history.n_retries, 0);
    CHECK_INT(ask(&s).trial, diverged + 2);
    wni_study_release(&s);
}

/* The worker was only slow: its trial ends and is not tried again. */
static void a_late_end_makes_a_retry_needless(void **state)
{
    (void)state;
    struct study s;
    open_as(&s, "fifo", NULL, 1);
    uint32_t slow = ask(&s).trial;
    the_time += 61;
    CHECK_INT(state_of(&s, slow), WN_LOST);
    report(&s, slow, 9, 1);
    finish(&s, slow, WN_COMPLETE);
    CHECK_INT(s.history.n_retries, 0);
    CHECK_INT(ask(&s).trial, 1);
    wni_study_release(&s);
}

/* With every configuration asked, those who could be needed for a retry wait instead of leaving. */
static void workers_wait_for_retries(void **state)
{
    (void)state;
    struct study s;
    struct handout job;
    open_as(&s, "fifo", NULL, 1);
    s.max_trials = 1;
    ask(&s);
    CHECK_INT(wni_study_ask(&s, 0, &job, &err), WN_WAIT);
    finish(&s, 0, WN_FAILED);
    CHECK_INT(ask(&s).attempt, 2);
    CHECK_INT(wni_study_ask(&s, 0, &job, &err), WN_WAIT);
    report(&s, 0, 9, 1);
    finish(&s, 0, WN_COMPLETE);
    CHECK_INT(wni_study_ask(&s, 0, &job, &err), WN_EXHAUSTED);
    wni_study_release(&s);
}

/* To a scheduler the trial just went on: a study with a failure and its retry decides like one without, and
 * so does one whose trials are handed back. */
static void schedulers_do_not_notice(void **state)
{
    (void)state;
    static const struct {
        const char *scheduler, *options;
    } rows[] = {{"asha", "scheduler.type=stopping"},
                {"asha", "scheduler.type=promotion"},
                {"sync", "scheduler.brackets=2"},
                {"median", "scheduler.min_trials=1"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum { NONE, FAILURES, HAND_BACKS, TROUBLES };
        struct study studies[TROUBLES];
        for (int trouble = NONE; trouble < TROUBLES; trouble++) {
            struct study *s = &studies[trouble];
            open_as(s, rows[i].scheduler, rows[i].options, trouble == FAILURES);
            for (int round = 0; round < 40; round++) {
                struct handout job = ask(s);
                double at = job.resumed_from;
                bool handed_back = false;
                wn_decision next = WN_CONTINUE;
                while (next == WN_CONTINUE && at < 9) {
                    bool now = at == job.trial % 3 && trouble && job.attempt == 1 && !handed_back;
                    if (now && trouble == FAILURES) finish(s, job.trial, WN_FAILED);
                    if (now && trouble == HAND_BACKS) {
                        CHECK_OK(wni_study_hand_back(s, job.trial, "over there", 0, &err), err);
                        CHECK_INT(s->history.trials[job.trial].state, WN_PAUSED);
                        handed_back = true;
                    }
                    if (now) {
                        struct handout same = ask(s);
                        CHECK_INT(same.trial, job.trial);
                        CHECK_DOUBLE(same.resumed_from, at);
                        CHECK_INT(same.attempt, trouble == FAILURES ? 2 : 1);
                        job = same;
                    }
                    at++;
                    next = report(s, job.trial, at, job.config[0] + 1 / at);
                }
                finish(s, job.trial, WN_COMPLETE);
            }
            wni_store_close(&s->store);
            CHECK_OK(wni_store_remove(url, "s", &err), err);
        }
        const struct history *without = &studies[NONE].history;
        for (int trouble = FAILURES; trouble < TROUBLES; trouble++) {
            const struct history *with = &studies[trouble].history;
            CHECK_INT(with->n_trials, without->n_trials);
            CHECK_INT(with->n_reports, without->n_reports);
            CHECK(with->n_events > without->n_events, "%s: no trouble", rows[i].scheduler);
            for (uint32_t t = 0; t < with->n_trials; t++) {
                CHECK_INT(with->trials[t].state, without->trials[t].state);
                CHECK_INT(studies[trouble].decisions[t], studies[NONE].decisions[t]);
            }
        }
        for (int trouble = NONE; trouble < TROUBLES; trouble++)
            wni_study_release(&studies[trouble]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* A runner that was killed: its lease is over as soon as somebody looks. */
static void leases_end_with_their_holder(void **state)
{
    (void)state;
    struct study s;
    pid_t child = fork();
    if (child == 0) {
        open_as(&s, "fifo", "", 1);
        s.holds = true;
        ask(&s);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    open_as(&s, "fifo", "", 1);
    s.holds = true;
    CHECK_INT(s.history.by_state[WN_RUNNING], 1);
    CHECK_OK(wni_study_sync(&s, the_time, &err), err);
    CHECK_INT(s.history.by_state[WN_LOST], 1);
    CHECK_INT(ask(&s).trial, 0);
    CHECK_OK(wni_study_sync(&s, the_time, &err), err);
    CHECK_INT(s.history.by_state[WN_RUNNING], 1); /* our own stays */
    wni_study_release(&s);
}

static void listings_count_what_is_alive(void **state)
{
    (void)state;
    struct study s;
    the_time = wni_clock_seconds(); /* a listing has the real one */
    open_as(&s, "fifo", "", 0);
    CHECK_INT(alive(), 0);
    uint32_t first = ask(&s).trial;
    ask(&s);
    CHECK_INT(alive(), 2);
    report(&s, first, 9, 1);
    finish(&s, first, WN_COMPLETE);
    CHECK_INT(alive(), 1);
    the_time -= 61; /* its lease is over already */
    ask(&s);
    CHECK_INT(alive(), 1);
    pid_t child = fork();
    if (child == 0) {
        struct study other;
        the_time += 61;
        open_as(&other, "fifo", "", 0);
        other.holds = true;
        ask(&other);
        _exit(alive() == 2 ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
    CHECK_INT(alive(), 1); /* its holder is gone */
    wni_study_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_silent_trial_is_lost),        TEST(leases_are_renewed_in_time),
        TEST(ended_trials_have_no_lease),    TEST(a_reboot_ends_all_leases),
        TEST(a_late_result_is_accepted),     TEST(lost_and_failed_trials_are_tried_again),
        TEST(not_everything_is_tried_again), TEST(a_late_end_makes_a_retry_needless),
        TEST(leases_end_with_their_holder),  TEST(workers_wait_for_retries),
        TEST(schedulers_do_not_notice),      TEST(listings_count_what_is_alive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
