/* test_sched_asha.c -- ASHA of the stopping type: cases worked out by hand, then thousands of random studies
 * against a version that sorts the rung at every report. */
#include "tests/unit/sched_world.h"

/* ---- by hand ---- */

/* A new trial that reports v at resource r. */
static wn_decision newcomer(struct world *w, double r, double v)
{
    return world_report(w, world_ask(w), r, v);
}

static void the_rule_at_a_rung(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", "", 1, 9, 0);
    world_expect_new(&w);
    assert_int_equal(newcomer(&w, 1, 5.0), WN_CONTINUE); /* the first always */
    assert_int_equal(newcomer(&w, 1, 6.0), WN_STOP);     /* cut 5.33 */
    assert_int_equal(newcomer(&w, 1, 5.0), WN_CONTINUE); /* a tie with the cut of 5 5 6 */
    assert_int_equal(newcomer(&w, 1, 4.0), WN_CONTINUE);
    assert_int_equal(newcomer(&w, 1, 5.0), WN_CONTINUE); /* 4 5 5 5 6: cut 5 */
    assert_int_equal(newcomer(&w, 1, 5.5), WN_STOP);
    world_expect_new(&w);
    world_close(&w);
}

static void decisions_fall_at_rungs_only(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", "", 1, 100, 0);
    uint32_t good = world_ask(&w), bad = world_ask(&w);
    for (int r = 1; r < 100; r++)
        assert_int_equal(world_report(&w, good, r, 0), WN_CONTINUE);
    assert_int_equal(world_report(&w, good, 100, 0), WN_STOP);  /* complete */
    assert_int_equal(world_report(&w, bad, 1, 0), WN_CONTINUE); /* ties at 1 */
    assert_int_equal(world_report(&w, bad, 2, 9), WN_CONTINUE);
    assert_int_equal(world_report(&w, bad, 3, 9), WN_STOP);
    world_close(&w);
}

/* At 27 of 50 the share is 0.54, not a third: with ten values the cut lies at 0.54 * 9 = 4.86. */
static void the_last_rung_keeps_more(void **state)
{
    (void)state;
    static const double values[] = {0, 1, 2, 3, 5, 6, 7, 8, 9};
    for (int better = 0; better < 2; better++) {
        struct world w;
        world_open(&w, "asha", "", 27, 50, 0);
        for (size_t i = 0; i < 9; i++)
            newcomer(&w, 27, values[i]);
        /* 0 1 2 3 [4.5] 5 ...: 4.5 is below the cut of 4.93; 5.5 comes after 5: cut 5 + 0.86 * 0.5 = 5.43. */
        assert_int_equal(newcomer(&w, 27, better ? 4.5 : 5.5), better ? WN_CONTINUE : WN_STOP);
        world_close(&w);
    }
}

static void one_level_has_no_rungs(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", "scheduler.brackets=4", 1, 1, 0);
    for (int i = 0; i < 20; i++) {
        uint32_t t = world_ask(&w);
        assert_int_equal(world_report(&w, t, 0.5, i), WN_CONTINUE);
        assert_int_equal(world_report(&w, t, 1, i), WN_STOP);
        world_finish(&w, t, i % 2 ? WN_COMPLETE : WN_FAILED);
    }
    world_close(&w);
}

/* With 5 and 7 alone the cut is 5.67 and 7 is stopped.  Three trials that crash first put the cut beyond 7.
 */
static void check_crash(wn_state end, bool report_first, wn_decision expected)
{
    struct world w;
    world_open(&w, "asha", "", 1, 9, 0);
    newcomer(&w, 1, 5);
    for (int i = 0; i < 3; i++) {
        uint32_t t = world_ask(&w);
        if (report_first) assert_int_equal(world_report(&w, t, 0.5, 0), WN_CONTINUE);
        world_finish(&w, t, end);
    }
    assert_int_equal(newcomer(&w, 1, 7), expected);
    world_close(&w);
}

static void failed_trials_count_as_worst(void **state)
{
    (void)state;
    for (int report_first = 0; report_first < 2; report_first++) {
        check_crash(WN_FAILED, report_first, WN_CONTINUE);
        check_crash(WN_TIMEOUT, report_first, WN_CONTINUE);
        check_crash(WN_LOST, report_first, WN_CONTINUE);
        check_crash(WN_CANCELLED, report_first, WN_STOP);
        check_crash(WN_COMPLETE, report_first, WN_STOP);
        check_crash(WN_PAUSED, report_first, WN_STOP);
    }
}

/* Offers 7 to a rung that holds a 5: stopped if that is all, but kept if three failures are there too. */
static void expect_full_of_failures(struct world *w, double at, bool yes)
{
    assert_int_equal(newcomer(w, at, 7), yes ? WN_CONTINUE : WN_STOP);
}

/* Its entry at the rung is its failure: it must not also be entered at the next. */
static void a_broken_report_counts_once(void **state)
{
    (void)state;
    static const double broken[] = {NAN, INFINITY, -INFINITY};
    struct world w;
    world_open(&w, "asha", "", 1, 27, 0);
    newcomer(&w, 1, 5);
    newcomer(&w, 3, 5); /* jumps over 1 */
    for (int i = 0; i < 3; i++) {
        uint32_t t = world_ask(&w);
        assert_int_equal(world_report(&w, t, 1, broken[i]), WN_STOP);
        world_finish(&w, t, WN_FAILED);
    }
    expect_full_of_failures(&w, 3, false);
    expect_full_of_failures(&w, 1, true);
    world_close(&w);
}

static void a_broken_report_between_rungs_counts_at_the_next(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", "", 1, 27, 0);
    uint32_t t[3];
    for (int i = 0; i < 3; i++) {
        t[i] = world_ask(&w);
        assert_int_equal(world_report(&w, t[i], 1, -i), WN_CONTINUE);
    }
    newcomer(&w, 3, 5);
    newcomer(&w, 9, 5);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(world_report(&w, t[i], 2, NAN), WN_STOP);
        world_finish(&w, t[i], WN_FAILED);
    }
    expect_full_of_failures(&w, 9, false);
    expect_full_of_failures(&w, 3, true);
    world_close(&w);
}

static void a_jump_counts_at_the_highest_rung_reached(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", "", 1, 81, 0);
    uint32_t a = world_ask(&w);
    assert_int_equal(world_report(&w, a, 12, 5), WN_CONTINUE); /* first at 9 */
    assert_int_equal(newcomer(&w, 1, 9), WN_CONTINUE);         /* first at 1: the jump left it empty */
    assert_int_equal(newcomer(&w, 3, 9), WN_CONTINUE);
    assert_int_equal(newcomer(&w, 9, 9), WN_STOP);
    assert_int_equal(world_report(&w, a, 3, 99), WN_CONTINUE); /* out of order: passed already */
    assert_int_equal(newcomer(&w, 3, 10), WN_STOP); /* so 99 is not there: the cut of 9 10 is 9.33 */
    assert_int_equal(world_report(&w, a, 12, 99), WN_CONTINUE); /* a repetition */
    world_close(&w);
}

/* Reports that were under way when the trial was told to stop. */
static void a_stopped_trial_stays_stopped(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", "", 1, 27, 0);
    newcomer(&w, 1, 0);
    uint32_t t = world_ask(&w);
    assert_int_equal(world_report(&w, t, 1, 1), WN_STOP);
    assert_int_equal(world_report(&w, t, 2, 0), WN_STOP);
    assert_int_equal(world_report(&w, t, 3, -5), WN_STOP);
    assert_int_equal(newcomer(&w, 3, 7), WN_CONTINUE); /* first at 3: -5 was not entered */
    world_finish(&w, t, WN_FAILED);                    /* killed rather roughly: that is no failure */
    assert_int_equal(newcomer(&w, 3, 8), WN_STOP);
    world_close(&w);
}

/* Counted as failed at the next rung, a lost trial that comes back has had its turn. */
static void a_lost_trial_is_out(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", "", 1, 27, 0);
    uint32_t t = world_ask(&w);
    assert_int_equal(world_report(&w, t, 1, 1), WN_CONTINUE);
    world_finish(&w, t, WN_LOST);
    assert_int_equal(world_report(&w, t, 2, 1), WN_STOP);
    assert_int_equal(world_report(&w, t, 3, 1), WN_STOP);
    world_finish(&w, t, WN_STOPPED);
    world_close(&w);
}

static void fractional_resources_meet_their_rungs(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", "", 0.1, 1, 0); /* rungs 0.1, 0.30000000000000004, 0.9000000000000001 */
    newcomer(&w, 0.3, 0);
    assert_int_equal(newcomer(&w, 0.3, 1), WN_STOP);
    newcomer(&w, 0.9, 0);
    assert_int_equal(newcomer(&w, 0.9, 1), WN_STOP);
    world_close(&w);
}

/* ---- brackets ---- */

/* Where a newcomer that is worse than everyone before is stopped: the first rung of its bracket.  0: the
 * first one there. */
static int stopped_at(struct world *w, double value, int max)
{
    uint32_t t = world_ask(w);
    for (int r = 1; r < max; r++)
        if (world_report(w, t, r, value) == WN_STOP) return r;
    return 0;
}

static void brackets_are_drawn_as_hyperband_begins_them(void **state)
{
    (void)state;
    enum { N = 20000 };
    static const double sizes[] = {81, 34, 15}; /* of brackets that start at 1, 3, 9 when r_max is 81 */
    int at[28] = {0}, never = 0;
    struct world w;
    world_open(&w, "asha", "scheduler.brackets=3", 1, 81, 11);
    for (int i = 0; i < N; i++) {
        int r = stopped_at(&w, i, 28);
        never += r == 0;
        at[r]++;
    }
    assert_int_equal(never, 3); /* the first of each bracket */
    for (int b = 0, r = 1; b < 3; b++, r *= 3) {
        double p = sizes[b] / 130, sd = sqrt(N * p * (1 - p));
        if (fabs(at[r] - N * p) > 5 * sd)
            fail_msg("%d trials began at %d, expected %.0f +- %.0f", at[r], r, N * p, sd);
    }
    assert_int_equal(at[1] + at[3] + at[9] + never, N);
    world_close(&w);
}

static void brackets_are_capped_at_the_rungs(void **state)
{
    (void)state;
    int at[9] = {0};
    struct world w;
    world_open(&w, "asha", "scheduler.brackets=64", 1, 9, 3); /* rungs 1 and 3 */
    for (int i = 0; i < 1000; i++)
        at[stopped_at(&w, i, 9)]++;
    assert_int_equal(at[0], 2);
    assert_int_equal(at[1] + at[3], 998);
    assert_true(at[3] > 200);
    world_close(&w);
}

static void the_seed_draws_the_brackets(void **state)
{
    (void)state;
    int differ = 0;
    struct world a, b;
    world_open(&a, "asha", "scheduler.brackets=3", 1, 81, 1);
    world_open(&b, "asha", "scheduler.brackets=3", 1, 81, 2);
    for (int i = 0; i < 200; i++)
        differ += stopped_at(&a, i, 28) != stopped_at(&b, i, 28);
    assert_true(differ > 50);
    world_close(&a);
    world_close(&b);
}

/* ---- the slow version ---- */

enum { MAX_RUNGS = 32, MAX_EVENTS = 3000 };

struct slow {
    double eta, level[MAX_RUNGS], share[MAX_RUNGS], r_max;
    int n_levels, n_brackets;
    uint64_t seed;
    double *rung[MAX_RUNGS][MAX_RUNGS]; /* [bracket][level] */
    int n[MAX_RUNGS][MAX_RUNGS];
    int bracket[MAX_EVENTS], entered[MAX_EVENTS]; /* by trial: highest level entered, bracket - 1 for none */
    bool out[MAX_EVENTS];
};

static void slow_open(struct slow *s, double eta, int brackets, double r_max, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->eta = eta, s->r_max = r_max, s->seed = seed;
    s->n_levels = slow_levels(eta, r_max, s->level);
    s->level[s->n_levels] = r_max;
    for (int k = 0; k < s->n_levels; k++)
        s->share[k] = s->level[k] / s->level[k + 1];
    s->n_brackets = brackets < s->n_levels ? brackets : s->n_levels ? s->n_levels : 1;
    for (int b = 0; b < s->n_brackets; b++)
        for (int k = b; k < s->n_levels; k++) {
            s->rung[b][k] = malloc(MAX_EVENTS * sizeof(double));
            assert_non_null(s->rung[b][k]);
        }
}

static void slow_close(struct slow *s)
{
    for (int b = 0; b < s->n_brackets; b++)
        for (int k = b; k < s->n_levels; k++)
            free(s->rung[b][k]);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Adds, sorts, and says whether the value is at or below numpy's quantile. */
static bool slow_enter(struct slow *s, uint32_t trial, int k, double value)
{
    double *v = s->rung[s->bracket[trial]][k];
    int n = ++s->n[s->bracket[trial]][k];
    s->entered[trial] = k;
    v[n - 1] = value;
    qsort(v, (size_t)n, sizeof *v, by_value);
    double at = s->share[k] * (n - 1), t = at - floor(at);
    double lo = v[(int)at], hi = (int)at + 1 < n ? v[(int)at + 1] : lo;
    double cut = t == 0 || lo == hi ? lo
                 : isinf(hi)        ? INFINITY
                 : t < 0.5          ? lo + (hi - lo) * t
                                    : hi - (hi - lo) * (1 - t);
    return value <= cut;
}

static wn_decision slow_report(struct slow *s, const struct event *e)
{
    if (s->out[e->trial]) return WN_STOP;
    bool broken = !isfinite(e->value), on = true;
    int first = s->entered[e->trial] + 1, k = -1;
    for (int i = first; i < s->n_levels; i++)
        if (e->resource >= s->level[i] * (1 - 1e-12)) k = i;
    if (k < 0 && broken && first < s->n_levels) k = first;
    if (k >= 0) on = slow_enter(s, e->trial, k, broken ? INFINITY : e->value);
    s->out[e->trial] = broken || !on || e->resource >= s->r_max;
    return s->out[e->trial] ? WN_STOP : WN_CONTINUE;
}

static wn_decision slow_observe(struct slow *s, const struct event *e)
{
    switch (e->kind) {
    case EVENT_ASK:
        s->bracket[e->trial] = slow_draw(s->eta, s->n_levels, s->n_brackets, s->seed, e->trial);
        s->entered[e->trial] = s->bracket[e->trial] - 1;
        return WN_CONTINUE;
    case EVENT_REPORT:
        return slow_report(s, e);
    case EVENT_FINISH:
        if (e->state == WN_PAUSED) return WN_CONTINUE;
        if (!s->out[e->trial] && (e->state == WN_FAILED || e->state == WN_TIMEOUT || e->state == WN_LOST) &&
            s->entered[e->trial] + 1 < s->n_levels)
            slow_enter(s, e->trial, s->entered[e->trial] + 1, INFINITY);
        s->out[e->trial] = true;
        return WN_CONTINUE;
    default:
        return WN_CONTINUE;
    }
}

static int check_study(double eta, int brackets, double r_max, uint64_t seed)
{
    static struct slow slow; /* too large for the stack */
    struct chance chance = {
        .rng = wni_rng_stream(seed, 0, 99), .ties = 0.3, .wrong = 0.02, .limit = r_max + 3};
    struct world w;
    char options[64];
    int stops = 0;
    snprintf(options, sizeof options, "scheduler.eta=%g scheduler.brackets=%d", eta, brackets);
    world_open(&w, "asha", options, 1, r_max, seed);
    slow_open(&slow, eta, brackets, r_max, seed);
    for (int i = 0; i < MAX_EVENTS; i++) {
        double config;
        struct event e = chance_event(&chance, &w, &config);
        wn_decision got = world_apply(&w, &e), expected = slow_observe(&slow, &e);
        if (e.kind == EVENT_REPORT && got != expected)
            fail_msg(
                "eta %g, %d brackets, r_max %g, seed %d: event %d, trial %u at %g, value %g: %d, expected %d",
                eta, brackets, r_max, (int)seed, i, e.trial, e.resource, e.value, got, expected);
        stops += e.kind == EVENT_REPORT && got == WN_STOP;
    }
    slow_close(&slow);
    world_close(&w);
    return stops;
}

static void random_studies_agree_with_sorting(void **state)
{
    (void)state;
    int stops = sum_studies(check_study, &(struct study_grid){.etas = {3, 2, 4, 1.5},
                                                              .maxima = {1, 9, 27, 50, 100},
                                                              .brackets = {1, 2, 5},
                                                              .repeats = 4});
    if (stops < 10000) fail_msg("only %d stops: the test does not test much", stops);
}

/* Trials that race to the end, most stopped early; scanning the rungs would take minutes. */
static void a_large_study(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct rng rng = wni_rng_stream(5, 0, 1);
    struct world w;
    int complete = 0;
    world_open(&w, "asha", "", 1, 81, 0);
    for (int i = 0; i < N; i++) {
        uint32_t t = world_ask(&w);
        double quality = wni_rng_uniform(&rng);
        int r = 1;
        while (world_report(&w, t, r, quality) == WN_CONTINUE)
            r++;
        complete += r == 81;
        world_finish(&w, t, r == 81 ? WN_COMPLETE : WN_STOPPED);
    }
    /* One in 81, and some more for the beginning when there is little to compare with. */
    if (complete < N / 81 || complete > N / 81 + 200)
        fail_msg("%d complete, expected about %d", complete, N / 81);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rule_at_a_rung),
        cmocka_unit_test(decisions_fall_at_rungs_only),
        cmocka_unit_test(the_last_rung_keeps_more),
        cmocka_unit_test(one_level_has_no_rungs),
        cmocka_unit_test(failed_trials_count_as_worst),
        cmocka_unit_test(a_broken_report_counts_once),
        cmocka_unit_test(a_broken_report_between_rungs_counts_at_the_next),
        cmocka_unit_test(a_jump_counts_at_the_highest_rung_reached),
        cmocka_unit_test(a_stopped_trial_stays_stopped),
        cmocka_unit_test(a_lost_trial_is_out),
        cmocka_unit_test(fractional_resources_meet_their_rungs),
        cmocka_unit_test(brackets_are_drawn_as_hyperband_begins_them),
        cmocka_unit_test(brackets_are_capped_at_the_rungs),
        cmocka_unit_test(the_seed_draws_the_brackets),
        cmocka_unit_test(random_studies_agree_with_sorting),
        cmocka_unit_test(a_large_study),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
