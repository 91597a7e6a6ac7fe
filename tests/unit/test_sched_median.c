/* test_sched_median.c -- the median stopping rule by hand and against a version that recomputes every average
 * from the log; and fifo, which has no rule. */
#include "tests/unit/sched_world.h"

/* ---- by hand ---- */

/* n trials that report `value` at 1 .. upto. */
static void crowd(struct world *w, int n, int upto, double value)
{
    for (int i = 0; i < n; i++) {
        uint32_t t = world_ask(w);
        for (int r = 1; r <= upto; r++)
            world_report(w, t, r, value + i);
    }
}

static void worse_than_the_median_is_stopped(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "median", "", 1, 100, 0);
    crowd(&w, 5, 1, 0); /* 0 1 2 3 4 at 1: the median is 2 */
    assert_int_equal(world_report(&w, world_ask(&w), 1, 2.0),
                     WN_CONTINUE);                                      /* only strictly worse; 0 1 2 2 3 4 */
    assert_int_equal(world_report(&w, world_ask(&w), 1, 2.1), WN_STOP); /* 0 1 2 2 2.1 3 4 */
    assert_int_equal(world_report(&w, world_ask(&w), 1, 2.05), WN_STOP); /* 0 1 2 2 2.05 2.1 3 4 */
    assert_int_equal(world_report(&w, world_ask(&w), 1, 2.03), WN_STOP); /* median 2.025 */
    world_close(&w);
}

static void too_few_others_decide_nothing(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "median", "", 1, 100, 0);
    crowd(&w, 4, 1, 0);
    assert_int_equal(world_report(&w, world_ask(&w), 1, 99), WN_CONTINUE); /* four others */
    assert_int_equal(world_report(&w, world_ask(&w), 1, 99), WN_STOP);     /* five */
    world_close(&w);
    world_open(&w, "median", "scheduler.min_trials=1", 1, 100, 0);
    assert_int_equal(world_report(&w, world_ask(&w), 1, 1), WN_CONTINUE);
    assert_int_equal(world_report(&w, world_ask(&w), 1, 2), WN_STOP);
    world_close(&w);
}

/* The others' averages up to 4 are (10 + 10 + 10 + 2) / 4 = 8; one's own best counts, even if it was long
 * ago. */
static void averages_against_the_best(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "median", "", 1, 100, 0);
    for (int i = 0; i < 5; i++) {
        uint32_t t = world_ask(&w);
        for (int r = 1; r <= 4; r++)
            world_report(&w, t, r, r < 4 ? 10 : 2);
    }
    uint32_t good = world_ask(&w), bad = world_ask(&w);
    assert_int_equal(world_report(&w, good, 2, 7.5), WN_CONTINUE);
    assert_int_equal(world_report(&w, good, 4, 50), WN_CONTINUE);
    assert_int_equal(world_report(&w, bad, 2, 8.5), WN_CONTINUE); /* at 2 they stood at 10 */
    assert_int_equal(world_report(&w, bad, 4, 8.5), WN_STOP);
    world_close(&w);
}

static void nothing_is_stopped_in_the_grace(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "median", "scheduler.grace=3", 1, 100, 0);
    crowd(&w, 5, 5, 0);
    uint32_t t = world_ask(&w);
    assert_int_equal(world_report(&w, t, 1, 99), WN_CONTINUE);
    assert_int_equal(world_report(&w, t, 2, 99), WN_CONTINUE);
    assert_int_equal(world_report(&w, t, 3, 99), WN_STOP);
    assert_int_equal(world_report(&w, t, 4, -99), WN_STOP); /* under way when it was told */
    world_close(&w);
}

static void trials_meet_at_equal_resources(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "median", "", 1, 100, 0);
    crowd(&w, 9, 3, 0);
    uint32_t t = world_ask(&w);
    assert_int_equal(world_report(&w, t, 2.5, 99), WN_CONTINUE);
    assert_int_equal(world_report(&w, t, 2, 99), WN_CONTINUE); /* passed already */
    assert_int_equal(world_report(&w, t, 2.5, 99), WN_CONTINUE);
    assert_int_equal(world_report(&w, t, 3, 99), WN_STOP);
    world_close(&w);
}

static void a_broken_report_is_the_worst(void **state)
{
    (void)state;
    static const double broken[] = {NAN, INFINITY, -INFINITY};
    struct world w;
    world_open(&w, "median", "", 1, 100, 0);
    crowd(&w, 2, 1, 0);
    for (int i = 0; i < 3; i++) {
        uint32_t t = world_ask(&w);
        assert_int_equal(world_report(&w, t, 1, broken[i]), WN_STOP);
        world_finish(&w, t, WN_FAILED);
    }
    assert_int_equal(world_report(&w, world_ask(&w), 1, 1e300),
                     WN_CONTINUE); /* the median of 0 1 inf inf inf */
    world_close(&w);
}

/* ---- the slow version ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct seen {
    uint32_t trial;
    double resource, value;
    bool counts; /* went beyond the trial's last report, and came before it was told to stop */
};

enum { MAX_EVENTS = 1200 };

struct slow {
    double grace, r_max;
    size_t min_trials;
    struct seen log[MAX_EVENTS];
    size_t n;
    bool stopped[MAX_EVENTS];
};

/* The trial's average over what counts of its reports up to r; false when it did not report at r. */
static bool slow_average(const struct slow *s, uint32_t trial, double r, double *average, double *best)
{
    double sum = 0;
    int n = 0;
    bool at = false, broken = false;
    *best = INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        const struct seen *x = &s->log[i];
        if (x->trial != trial || !x->counts || x->resource > r) continue;
        at |= x->resource == r;
        broken |= !isfinite(x->value);
        sum += x->value;
        n++;
        if (x->value < *best) *best = x->value;
    }
    *average = broken ? INFINITY : sum / n;
    return at;
}

static wn_decision slow_report(struct slow *s, const struct event *e, size_t n_trials)
{
    struct seen *x = &s->log[s->n];
    double averages[MAX_EVENTS], best, average;
    size_t n = 0;
    *x = (struct seen){e->trial, e->resource, e->value, !s->stopped[e->trial]};
    for (size_t i = 0; i < s->n; i++)
        if (s->log[i].trial == e->trial && s->log[i].resource >= e->resource) x->counts = false;
    s->n++;
    if (!x->counts) return s->stopped[e->trial] ? WN_STOP : WN_CONTINUE;
    for (uint32_t t = 0; t < n_trials; t++)
        if (t != e->trial && slow_average(s, t, e->resource, &average, &best)) averages[n++] = average;
    qsort(averages, n, sizeof *averages, by_value);
    slow_average(s, e->trial, e->resource, &average, &best);
    bool worse = false;
    if (n >= s->min_trials && e->resource >= s->grace) {
        double low = averages[(n - 1) / 2], high = averages[n / 2];
        worse = best > (low == high ? low : high - (high - low) * 0.5);
    }
    s->stopped[e->trial] = worse || !isfinite(e->value) || e->resource >= s->r_max;
    return s->stopped[e->trial] ? WN_STOP : WN_CONTINUE;
}

static int check_study(double grace, int min_trials, double r_max, uint64_t seed)
{
    static struct slow slow;
    struct chance chance = {
        .rng = wni_rng_stream(seed, 0, 96), .ties = 0.3, .wrong = 0.02, .limit = r_max + 2};
    struct world w;
    char options[64];
    int stops = 0;
    memset(&slow, 0, sizeof slow);
    slow.grace = grace, slow.r_max = r_max, slow.min_trials = (size_t)min_trials;
    snprintf(options, sizeof options, "scheduler.grace=%g scheduler.min_trials=%d", grace, min_trials);
    world_open(&w, "median", options, 1, r_max, seed);
    for (int i = 0; i < MAX_EVENTS; i++) {
        double config;
        struct event e = chance_event(&chance, &w, &config);
        wn_decision got = world_apply(&w, &e);
        if (e.kind != EVENT_REPORT) continue;
        wn_decision expected = slow_report(&slow, &e, w.history.n_trials);
        if (got != expected)
            fail_msg("grace %g, min %d, seed %d: event %d, trial %u at %g, value %g: %d, expected %d", grace,
                     min_trials, (int)seed, i, e.trial, e.resource, e.value, got, expected);
        stops += got == WN_STOP;
    }
    world_close(&w);
    return stops;
}

static void random_studies_agree_with_recomputing(void **state)
{
    (void)state;
    int stops = 0;
    for (uint64_t seed = 0; seed < 60; seed++)
        stops += check_study((double)(seed % 4), seed % 3 ? 5 : 1, seed % 5 ? 12 : 100, seed);
    if (stops < 3000) fail_msg("only %d stops: the test does not test much", stops);
}

/* A resource of its own for every report, so every one founds a rung. */
static void many_resources(void **state)
{
    (void)state;
    enum { N = 30000 };
    struct world w;
    world_open(&w, "median", "scheduler.min_trials=1", 1, 2, 0);
    for (int round = 0; round < 2; round++) {
        uint32_t t = world_ask(&w);
        for (int i = 0; i < N; i++) {
            double value = round ? 0.5 - (i == N - 1) : 1;
            assert_int_equal(world_report(&w, t, 1 + i / (double)N, value), WN_CONTINUE);
        }
    }
    uint32_t t = world_ask(&w);
    assert_int_equal(world_report(&w, t, 1 + (N - 1) / (double)N, 0.8),
                     WN_STOP); /* the median of 1 and about 0.5 */
    world_close(&w);
}

/* ---- fifo ---- */

static void fifo_never_stops(void **state)
{
    (void)state;
    struct chance chance = {.rng = wni_rng_stream(1, 0, 95), .ties = 0.3, .wrong = 0.1, .limit = 20};
    struct world w;
    world_open(&w, "fifo", "", 1, INFINITY, 0);
    assert_false(w.scheduler.ops->stops_early);
    for (int i = 0; i < 2000; i++) {
        double config;
        struct event e = chance_event(&chance, &w, &config);
        assert_int_equal(world_apply(&w, &e), WN_CONTINUE);
        world_expect_new(&w);
    }
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worse_than_the_median_is_stopped),
        cmocka_unit_test(too_few_others_decide_nothing),
        cmocka_unit_test(averages_against_the_best),
        cmocka_unit_test(nothing_is_stopped_in_the_grace),
        cmocka_unit_test(trials_meet_at_equal_resources),
        cmocka_unit_test(a_broken_report_is_the_worst),
        cmocka_unit_test(random_studies_agree_with_recomputing),
        cmocka_unit_test(many_resources),
        cmocka_unit_test(fifo_never_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
