/* test_sched_one_epoch.c -- "everybody for one epoch, the best few to the end", by hand and against a version
 * that sorts the whole log at each arrival. */
#include "tests/unit/sched_world.h"

/* A trial that arrives at resource 1 with this value. */
static uint32_t arrive(struct world *w, double value, wn_decision expected)
{
    uint32_t t = world_ask(w);
    wn_decision decision = world_report(w, t, 1, value);
    if (decision != expected) fail_msg("value %g: decision %d, expected %d", value, decision, expected);
    if (decision == WN_STOP) world_finish(w, t, WN_COMPLETE);
    return t;
}

/* ---- by hand ---- */

static void the_best_three_go_on(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "one-epoch", "scheduler.finish=3", 1, 100, 0);
    arrive(&w, 5, WN_CONTINUE);
    arrive(&w, 9, WN_CONTINUE);
    arrive(&w, 7, WN_CONTINUE); /* 5 7 9 */
    arrive(&w, 10, WN_STOP);
    arrive(&w, 8, WN_CONTINUE); /* 5 7 8 */
    arrive(&w, 8.5, WN_STOP);
    arrive(&w, 1, WN_CONTINUE); /* 1 5 7 */
    arrive(&w, 7.5, WN_STOP);
    world_close(&w);
}

static void a_tie_is_stopped(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "one-epoch", "scheduler.finish=2", 1, 100, 0);
    for (int i = 0; i < 6; i++)
        arrive(&w, 4, i < 2 ? WN_CONTINUE : WN_STOP);
    world_close(&w);
}

/* Only the arrival is judged, later values are not; and the answer to a trial never changes. */
static void one_answer_for_each(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "one-epoch", "scheduler.finish=1", 2, 100, 0);
    uint32_t good = world_ask(&w), bad = world_ask(&w), better = world_ask(&w);
    assert_int_equal(world_report(&w, good, 1, 99), WN_CONTINUE); /* below the smallest resource */
    assert_int_equal(world_report(&w, good, 2, 3), WN_CONTINUE);
    assert_int_equal(world_report(&w, bad, 5, 4), WN_STOP); /* jumped over it */
    assert_int_equal(world_report(&w, bad, 6, -9), WN_STOP);
    assert_int_equal(world_report(&w, better, 2, 1), WN_CONTINUE);
    assert_int_equal(world_report(&w, good, 3, 1000), WN_CONTINUE); /* lost its place, trains on */
    assert_int_equal(world_report(&w, good, 100, 1000), WN_STOP);   /* the end */
    world_close(&w);
}

static void who_breaks_makes_room(void **state)
{
    (void)state;
    static const wn_state ends[] = {WN_FAILED, WN_TIMEOUT, WN_LOST, WN_CANCELLED};
    for (size_t i = 0; i < 4; i++) {
        struct world w;
        world_open(&w, "one-epoch", "scheduler.finish=1", 1, 100, 0);
        uint32_t first = arrive(&w, 1, WN_CONTINUE);
        arrive(&w, 2, WN_STOP);
        world_finish(&w, first, ends[i]);
        arrive(&w, 3, WN_CONTINUE);
        arrive(&w, 4, WN_STOP);
        world_close(&w);
    }
}

static void who_is_done_keeps_its_place(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "one-epoch", "scheduler.finish=1", 1, 100, 0);
    uint32_t first = arrive(&w, 1, WN_CONTINUE);
    world_report(&w, first, 100, 0.5);
    world_finish(&w, first, WN_COMPLETE);
    arrive(&w, 2, WN_STOP);
    arrive(&w, 0.9, WN_CONTINUE);
    world_close(&w);
}

static void a_broken_report_is_no_arrival(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "one-epoch", "scheduler.finish=1", 1, 100, 0);
    uint32_t t = world_ask(&w);
    assert_int_equal(world_report(&w, t, 1, NAN), WN_STOP);
    arrive(&w, -INFINITY, WN_STOP);
    uint32_t good = arrive(&w, 5, WN_CONTINUE);
    arrive(&w, 6, WN_STOP);
    assert_int_equal(world_report(&w, good, 2, INFINITY), WN_STOP); /* diverged: makes room */
    arrive(&w, 7, WN_CONTINUE);
    world_close(&w);
}

/* About finish (1 + ln(n / finish)) of n trials: 3 (1 + ln(1000)) = 23.7 of 3000. */
static void few_are_trained_to_the_end(void **state)
{
    (void)state;
    double sum = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 1);
        struct world w;
        world_open(&w, "one-epoch", "scheduler.finish=3", 1, 100, seed);
        for (int i = 0; i < 3000; i++)
            sum += world_report(&w, world_ask(&w), 1, wni_rng_uniform(&rng)) == WN_CONTINUE;
        world_release(&w);
    }
    assert_true(fabs(sum / 40 - 23.7) < 3);
}

/* ---- the slow version: counts, over the log, those in the way ---- */

enum { MAX_TRIALS = 4000 };

struct slow {
    double arrived[MAX_TRIALS]; /* value at the arrival */
    bool judged[MAX_TRIALS], out[MAX_TRIALS], broken[MAX_TRIALS], admitted[MAX_TRIALS], pushed[MAX_TRIALS];
    size_t n, finish;
};

/* Those that still hold a place: admitted, not broken, not pushed out by `finish` better ones since. */
static size_t holders(const struct slow *s, uint32_t *worst)
{
    size_t held = 0;
    for (uint32_t t = 0; t < s->n; t++) {
        if (!s->admitted[t] || s->broken[t] || s->pushed[t]) continue;
        if (!held++ || s->arrived[t] > s->arrived[*worst]) *worst = t;
    }
    return held;
}

static wn_decision slow_report(struct slow *s, const struct event *e, double r_min, double r_max)
{
    uint32_t t = e->trial, worst = 0;
    if (!isfinite(e->value)) s->broken[t] = s->out[t] = true;
    if (!s->out[t] && !s->judged[t] && e->resource >= r_min) {
        size_t held = holders(s, &worst);
        s->judged[t] = true;
        s->broken[t] = false; /* lost on the way, and back */
        s->arrived[t] = e->value;
        s->admitted[t] = held < s->finish || e->value < s->arrived[worst];
        s->out[t] = !s->admitted[t];
        if (s->admitted[t] && held == s->finish) s->pushed[worst] = true;
    }
    return s->out[t] || e->resource >= r_max ? WN_STOP : WN_CONTINUE;
}

static void agrees_with_the_slow_version(void **state)
{
    (void)state;
    static struct slow s;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct world w;
        char options[64];
        struct chance c = {.rng = wni_rng_stream(seed, 0, 3), .wrong = 0.05, .limit = 12};
        s = (struct slow){.finish = 1 + seed % 6};
        snprintf(options, sizeof options, "scheduler.finish=%d", (int)s.finish);
        world_open(&w, "one-epoch", options, 1 + (double)(seed % 3), 9, seed);
        for (int i = 0; i < 1500; i++) {
            double config;
            struct event e = chance_event(&c, &w, &config);
            wn_decision decision = world_apply(&w, &e);
            if (e.kind == EVENT_ASK) s.n++;
            if (e.kind == EVENT_FINISH && (e.state == WN_FAILED || e.state == WN_TIMEOUT ||
                                           e.state == WN_LOST || e.state == WN_CANCELLED))
                s.broken[e.trial] = true;
            if (e.kind != EVENT_REPORT) continue;
            wn_decision expected = slow_report(&s, &e, w.env.min_resource, w.env.max_resource);
            if (decision != expected)
                fail_msg("seed %d, event %d, trial %u: decided %d, expected %d", (int)seed, i, e.trial,
                         decision, expected);
        }
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_three_go_on),        cmocka_unit_test(a_tie_is_stopped),
        cmocka_unit_test(one_answer_for_each),         cmocka_unit_test(who_breaks_makes_room),
        cmocka_unit_test(who_is_done_keeps_its_place), cmocka_unit_test(a_broken_report_is_no_arrival),
        cmocka_unit_test(few_are_trained_to_the_end),  cmocka_unit_test(agrees_with_the_slow_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
