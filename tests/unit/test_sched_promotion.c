/* test_sched_promotion.c -- ASHA of the promotion type: cases worked out by hand, then random studies against
 * a version that ranks whole rungs at every step. */
#include "tests/unit/sched_world.h"

#define PROMOTION "scheduler.type=promotion "

/* ---- by hand ---- */

static void pause_at(struct world *w, uint32_t trial, double resource, double value)
{
    assert_int_equal(world_report(w, trial, resource, value), WN_PAUSE);
    world_finish(w, trial, WN_PAUSED);
}

static uint32_t newcomer(struct world *w, double resource, double value)
{
    uint32_t trial = world_ask(w);
    pause_at(w, trial, resource, value);
    return trial;
}

/* n trials paused at 1 of 9, with the values 0, 1, .. */
static void open_crowd(struct world *w, uint32_t *trials, int n)
{
    world_open(w, "asha", PROMOTION, 1, 9, 0);
    for (int i = 0; i < n; i++)
        trials[i] = newcomer(w, 1, i);
}

static void one_in_eta_is_promoted(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", PROMOTION, 1, 9, 0);
    world_expect_new(&w);
    newcomer(&w, 1, 5);
    world_expect_new(&w);
    uint32_t best = newcomer(&w, 1, 4);
    world_expect_new(&w); /* floor(2/3) = 0 */
    newcomer(&w, 1, 6);
    world_expect_resume(&w, best);
    world_expect_resume(&w, best); /* asking does not take */
    world_resume(&w, best);
    world_expect_new(&w);
    uint32_t better = newcomer(&w, 1, 3); /* the best of four: the one place is its own now */
    world_expect_resume(&w, better);
    world_resume(&w, better);
    world_expect_new(&w);
    world_close(&w);
}

static void the_top_rung_comes_first(void **state)
{
    (void)state;
    struct world w;
    uint32_t t[9];
    open_crowd(&w, t, 9);
    for (int i = 0; i < 3; i++) {
        world_expect_resume(&w, t[i]);
        world_resume(&w, t[i]);
        assert_int_equal(world_report(&w, t[i], 2, 9), WN_CONTINUE); /* between rungs */
        if (i < 2) pause_at(&w, t[i], 3, -i);
    }
    for (int i = 0; i < 3; i++)
        newcomer(&w, 1, -1 - i); /* candidates below */
    pause_at(&w, t[2], 3, 7);
    world_expect_resume(&w, t[1]); /* best of rung 3 */
    world_resume(&w, t[1]);
    assert_int_equal(world_report(&w, t[1], 9, 0), WN_STOP); /* complete */
    world_finish(&w, t[1], WN_COMPLETE);
    world_expect_resume(&w, 11); /* then the best of rung 1 */
    world_close(&w);
}

/* Between "pause" and "paused" a worker still holds the trial. */
static void only_paused_trials_are_resumed(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", PROMOTION, 1, 9, 0);
    uint32_t best = world_ask(&w), second = world_ask(&w);
    assert_int_equal(world_report(&w, best, 1, 1), WN_PAUSE);
    assert_int_equal(world_report(&w, second, 1, 2), WN_PAUSE);
    for (int i = 0; i < 4; i++)
        newcomer(&w, 1, 5);
    world_expect_new(&w); /* two of six may go on, and both are still pausing */
    world_finish(&w, second, WN_PAUSED);
    world_expect_resume(&w, second);
    world_finish(&w, best, WN_PAUSED);
    world_expect_resume(&w, best);
    world_close(&w);
}

static void late_reports_do_not_undo_the_pause(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", PROMOTION, 1, 9, 0);
    uint32_t t = world_ask(&w);
    assert_int_equal(world_report(&w, t, 1, 1), WN_PAUSE);
    assert_int_equal(world_report(&w, t, 2, 0), WN_PAUSE);
    assert_int_equal(world_report(&w, t, 3, 0), WN_PAUSE); /* not entered at 3 */
    world_finish(&w, t, WN_PAUSED);
    newcomer(&w, 1, 5);
    newcomer(&w, 1, 6);
    world_expect_resume(&w, t);
    world_resume(&w, t);
    assert_int_equal(world_report(&w, t, 2, 0), WN_CONTINUE);
    assert_int_equal(world_report(&w, t, 3, 0), WN_PAUSE); /* now it is */
    world_close(&w);
}

/* A second worker may act on an older next(): what it takes need not be the best any more. */
static void another_may_be_taken(void **state)
{
    (void)state;
    struct world w;
    uint32_t t[6];
    open_crowd(&w, t, 6);
    world_resume(&w, t[1]);
    world_expect_resume(&w, t[0]);
    world_resume(&w, t[0]);
    world_expect_new(&w);
    world_close(&w);
}

static void a_cancelled_candidate_is_skipped(void **state)
{
    (void)state;
    struct world w;
    uint32_t t[6];
    open_crowd(&w, t, 6);
    world_finish(&w, t[0], WN_CANCELLED);
    world_expect_resume(&w, t[1]);
    world_finish(&w, t[1], WN_STOPPED);
    world_expect_new(&w); /* both places of six are used up */
    world_close(&w);
}

/* Three at rung 3 let one on, whether they got there or broke on the way. */
static void failing_after_a_promotion_counts_at_the_next_rung(void **state)
{
    (void)state;
    static const wn_state ends[] = {WN_FAILED, WN_CANCELLED};
    for (int i = 0; i < 2; i++) {
        struct world w;
        uint32_t t[9];
        open_crowd(&w, t, 9);
        for (int k = 0; k < 3; k++)
            world_resume(&w, t[k]);
        world_finish(&w, t[0], ends[i]);
        assert_int_equal(world_report(&w, t[1], 2, NAN), WN_STOP);
        world_finish(&w, t[1], WN_FAILED);
        pause_at(&w, t[2], 3, 100);
        if (ends[i] == WN_FAILED)
            world_expect_resume(&w, t[2]);
        else
            world_expect_new(&w);
        world_close(&w);
    }
}

static void a_lost_worker_may_come_back_paused(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", PROMOTION, 1, 9, 0);
    newcomer(&w, 1, 5);
    newcomer(&w, 1, 6);
    uint32_t t = world_ask(&w);
    assert_int_equal(world_report(&w, t, 1, 1), WN_PAUSE);
    world_finish(&w, t, WN_LOST); /* a slow checkpoint */
    world_expect_new(&w);
    world_finish(&w, t, WN_PAUSED);
    world_expect_resume(&w, t);
    world_finish(&w, t, WN_LOST); /* its checkpoint is gone */
    world_expect_new(&w);
    world_finish(&w, t, WN_PAUSED);
    world_expect_new(&w);
    world_close(&w);
}

static void one_level_never_pauses(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "asha", PROMOTION, 1, 1, 0);
    uint32_t t = world_ask(&w);
    assert_int_equal(world_report(&w, t, 0.5, 1), WN_CONTINUE);
    assert_int_equal(world_report(&w, t, 1, 1), WN_STOP);
    world_expect_new(&w);
    world_close(&w);
}

/* ---- the slow version ---- */

enum { MAX_RUNGS = 16, MAX_EVENTS = 2000 };

enum where { RACING, PAUSING, PAUSED, OUT };

struct place {
    double value;
    uint32_t trial;
};

struct slow {
    double eta, level[MAX_RUNGS], r_max;
    int n_levels, n_brackets;
    uint64_t seed;
    struct place rung[MAX_RUNGS][MAX_RUNGS][MAX_EVENTS]; /* [bracket][level], by arrival */
    int n[MAX_RUNGS][MAX_RUNGS];
    int bracket[MAX_EVENTS], entered[MAX_EVENTS]; /* by trial */
    enum where where[MAX_EVENTS];
};

static void slow_open(struct slow *s, double eta, int brackets, double r_max, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    s->eta = eta, s->r_max = r_max, s->seed = seed;
    s->n_levels = slow_levels(eta, r_max, s->level);
    s->n_brackets = brackets < s->n_levels ? brackets : s->n_levels;
}

static void slow_enter(struct slow *s, uint32_t trial, int k, double value)
{
    int b = s->bracket[trial];
    s->rung[b][k][s->n[b][k]++] = (struct place){value, trial};
    s->entered[trial] = k;
}

static wn_decision slow_report(struct slow *s, const struct event *e)
{
    enum where *where = &s->where[e->trial];
    if (*where != RACING) return *where == OUT ? WN_STOP : WN_PAUSE;
    bool broken = !isfinite(e->value);
    int first = s->entered[e->trial] + 1, k = -1;
    for (int i = first; i < s->n_levels; i++)
        if (e->resource >= s->level[i]) k = i;
    if (k < 0 && broken && first < s->n_levels) k = first;
    if (k >= 0) slow_enter(s, e->trial, k, broken ? INFINITY : e->value);
    *where = broken || e->resource >= s->r_max ? OUT : k >= 0 ? PAUSING : RACING;
    return *where == OUT ? WN_STOP : *where == PAUSING ? WN_PAUSE : WN_CONTINUE;
}

static void slow_finish(struct slow *s, const struct event *e)
{
    enum where *where = &s->where[e->trial];
    if (e->state == WN_PAUSED) {
        if (*where == PAUSING) *where = PAUSED;
        return;
    }
    if (*where == PAUSING && e->state == WN_LOST) return;
    bool failed = e->state == WN_FAILED || e->state == WN_TIMEOUT || e->state == WN_LOST;
    if (*where == RACING && failed && s->entered[e->trial] + 1 < s->n_levels)
        slow_enter(s, e->trial, s->entered[e->trial] + 1, INFINITY);
    *where = OUT;
}

static wn_decision slow_observe(struct slow *s, const struct event *e)
{
    switch (e->kind) {
    case EVENT_REPORT:
        return slow_report(s, e);
    case EVENT_FINISH:
        slow_finish(s, e);
        break;
    case EVENT_ASK:
        s->bracket[e->trial] = slow_draw(s->eta, s->n_levels, s->n_brackets, s->seed, e->trial);
        s->entered[e->trial] = s->bracket[e->trial] - 1;
        break;
    case EVENT_RESUME:
        if (s->where[e->trial] == PAUSED) s->where[e->trial] = RACING;
        break;
    case EVENT_ENQUEUE:
    case EVENT_SETUP:
        break;
    }
    return WN_CONTINUE;
}

/* The best paused trial whose latest entry is here, if fewer than floor(n/eta) entries are better. */
static uint32_t slow_promotable(const struct slow *s, int b, int k)
{
    const struct place *p = s->rung[b][k];
    int n = s->n[b][k], best = -1, better = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(p[i].value) && s->where[p[i].trial] == PAUSED && s->entered[p[i].trial] == k &&
            (best < 0 || p[i].value < p[best].value))
            best = i;
    for (int i = 0; best >= 0 && i < n; i++)
        better += p[i].value < p[best].value || (p[i].value == p[best].value && i < best);
    return best >= 0 && better < (int)floor(n / s->eta) ? p[best].trial : TRIAL_NONE;
}

static struct job slow_next(const struct slow *s)
{
    for (int k = s->n_levels - 1; k >= 0; k--)
        for (int b = 0; b < s->n_brackets && b <= k; b++) {
            uint32_t trial = slow_promotable(s, b, k);
            if (trial != TRIAL_NONE) return (struct job){.kind = JOB_RESUME, .trial = trial};
        }
    return (struct job){.kind = JOB_NEW};
}

static int check_study(double eta, int brackets, double r_max, uint64_t seed)
{
    static struct slow slow; /* too large for the stack */
    struct chance chance = {
        .rng = wni_rng_stream(seed, 0, 98), .ties = 0.3, .wrong = 0.02, .limit = r_max + 2};
    struct world w;
    char options[96];
    int resumed = 0;
    snprintf(options, sizeof options, PROMOTION "scheduler.eta=%g scheduler.brackets=%d", eta, brackets);
    world_open(&w, "asha", options, 1, r_max, seed);
    slow_open(&slow, eta, brackets, r_max, seed);
    for (int i = 0; i < MAX_EVENTS; i++) {
        double config;
        struct event e = chance_event(&chance, &w, &config);
        wn_decision got = world_apply(&w, &e), expected = slow_observe(&slow, &e);
        if (e.kind == EVENT_REPORT && got != expected)
            fail_msg("seed %d, event %d, trial %u at %g: %d, expected %d", (int)seed, i, e.trial, e.resource,
                     got, expected);
        struct job job = world_next(&w), slow_job = slow_next(&slow);
        if (job.kind != slow_job.kind || job.trial != slow_job.trial)
            fail_msg("seed %d, after event %d: job %d, trial %u, expected %d, %u", (int)seed, i, job.kind,
                     job.trial, slow_job.kind, slow_job.trial);
        resumed += e.kind == EVENT_RESUME;
    }
    world_close(&w);
    return resumed;
}

static void random_studies_agree_with_ranking(void **state)
{
    (void)state;
    int resumed = sum_studies(
        check_study, &(struct study_grid){
                         .etas = {3, 2, 4, 2.5}, .maxima = {9, 27, 50}, .brackets = {1, 2, 4}, .repeats = 6});
    if (resumed < 4000) fail_msg("only %d resumed: the test does not test much", resumed);
}

/* A quiet study on one worker: of the trials that reached a rung, one in eta goes on. */
static void a_large_study(void **state)
{
    (void)state;
    enum { N = 60000 };
    static const int rungs[] = {1, 3, 9, 27, 81};
    struct rng rng = wni_rng_stream(5, 0, 1);
    struct world w;
    double *quality = malloc(N * sizeof *quality);
    int *rung = calloc(N, sizeof *rung), at[5] = {0};
    assert_non_null(quality);
    assert_non_null(rung);
    world_open(&w, "asha", PROMOTION, 1, 81, 0);
    while (w.history.n_trials < N) {
        uint32_t t = world_take(&w);
        if (!w.history.trials[t].n_reports) quality[t] = wni_rng_uniform(&rng);
        int k = rung[t]++;
        at[k]++;
        wn_decision d = world_report(&w, t, rungs[k], quality[t]);
        assert_int_equal(d, k < 4 ? WN_PAUSE : WN_STOP);
        world_finish(&w, t, k < 4 ? WN_PAUSED : WN_COMPLETE);
    }
    for (int k = 1; k < 5; k++) {
        int share = at[k - 1] / 3; /* and some that were among the best for a while */
        if (at[k] < share - 1 || at[k] > share + 500)
            fail_msg("%d at rung %d, expected about %d", at[k], k, share);
    }
    world_close(&w);
    free(quality);
    free(rung);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_in_eta_is_promoted),
        cmocka_unit_test(the_top_rung_comes_first),
        cmocka_unit_test(only_paused_trials_are_resumed),
        cmocka_unit_test(late_reports_do_not_undo_the_pause),
        cmocka_unit_test(another_may_be_taken),
        cmocka_unit_test(a_cancelled_candidate_is_skipped),
        cmocka_unit_test(failing_after_a_promotion_counts_at_the_next_rung),
        cmocka_unit_test(a_lost_worker_may_come_back_paused),
        cmocka_unit_test(one_level_never_pauses),
        cmocka_unit_test(random_studies_agree_with_ranking),
        cmocka_unit_test(a_large_study),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
