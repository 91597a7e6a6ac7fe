/* test_sched_sync.c -- synchronous successive halving: brackets worked out by hand, simulated workers under a
 * referee, and random studies against a version that ranks by counting. */
#include "tests/unit/sched_world.h"

/* ---- by hand: r_max 9, eta 3 is 9 trials to 1, 3 to 3, 1 to 9 ---- */

/* The last of a rung may be told to stop instead, when it is not among the best. */
static void reach(struct world *w, uint32_t trial, double resource, double value)
{
    wn_decision d = world_report(w, trial, resource, value);
    if (d == WN_CONTINUE) fail_msg("trial %u goes on at %g", trial, resource);
    world_finish(w, trial, d == WN_PAUSE ? WN_PAUSED : WN_STOPPED);
}

static void ask_many(struct world *w, uint32_t *trials, int n)
{
    for (int i = 0; i < n; i++) {
        world_expect_new(w);
        trials[i] = world_ask(w);
    }
}

/* The whole first bracket. */
static void open_bracket(struct world *w, uint32_t trials[9])
{
    world_open(w, "sync", "", 1, 9, 0);
    ask_many(w, trials, 9);
}

static void resume_next(struct world *w, uint32_t trial)
{
    world_expect_resume(w, trial);
    world_resume(w, trial);
}

static void a_bracket_from_first_to_last(void **state)
{
    (void)state;
    static const double values[] = {5, 3, 8, 1, 9, 2, 7, 6, 4};
    struct world w;
    uint32_t t[9], other[3];
    open_bracket(&w, t);
    for (int i = 0; i < 8; i++)
        reach(&w, t[8 - i], 1, values[8 - i]);
    ask_many(&w, other, 3); /* one is missing: the workers begin the next bracket */
    reach(&w, other[0], 1, -100);
    reach(&w, t[0], 1, values[0]);
    resume_next(&w, t[3]);
    resume_next(&w, t[5]);
    resume_next(&w, t[1]);
    world_expect_new(&w); /* the three that go on are out; -100 belongs to another bracket */
    assert_int_equal(world_report(&w, t[3], 2, 0), WN_CONTINUE);
    reach(&w, t[3], 3, 7);
    reach(&w, t[5], 3, 6);
    world_expect_new(&w);
    reach(&w, t[1], 3, 8);
    resume_next(&w, t[5]);
    for (int r = 4; r < 9; r++)
        assert_int_equal(world_report(&w, t[5], r, 99), WN_CONTINUE);
    assert_int_equal(world_report(&w, t[5], 9, 0), WN_STOP);
    world_finish(&w, t[5], WN_COMPLETE);
    world_expect_new(&w);
    world_close(&w);
}

static void ties_go_to_the_earlier_arrival(void **state)
{
    (void)state;
    struct world w;
    uint32_t t[9];
    open_bracket(&w, t);
    for (int i = 8; i >= 0; i--)
        reach(&w, t[i], 1, 1);
    resume_next(&w, t[8]);
    resume_next(&w, t[7]);
    resume_next(&w, t[6]);
    world_expect_new(&w);
    world_close(&w);
}

/* It is decided on with its own report: a loser need not save a checkpoint. */
static void the_last_to_arrive_may_be_stopped(void **state)
{
    (void)state;
    for (int wins = 0; wins < 2; wins++) {
        struct world w;
        uint32_t t[9];
        open_bracket(&w, t);
        for (int i = 0; i < 8; i++)
            reach(&w, t[i], 1, i);
        assert_int_equal(world_report(&w, t[8], 1, wins ? -1 : 9), wins ? WN_PAUSE : WN_STOP);
        resume_next(&w, t[0]); /* a winner that is still pausing does not hold up the others */
        if (wins) {
            resume_next(&w, t[1]);
            world_expect_new(&w);
            world_finish(&w, t[8], WN_PAUSED);
            resume_next(&w, t[8]);
        }
        world_close(&w);
    }
}

static void the_dead_are_not_waited_for(void **state)
{
    (void)state;
    static const wn_state ends[] = {WN_FAILED,   WN_TIMEOUT, WN_LOST,  WN_CANCELLED,
                                    WN_COMPLETE, WN_STOPPED, WN_FAILED};
    struct world w;
    uint32_t t[9];
    open_bracket(&w, t);
    for (int i = 0; i < 7; i++)
        world_finish(&w, t[i], ends[i]);
    assert_int_equal(world_report(&w, t[7], 0.5, NAN), WN_STOP);
    world_expect_new(&w);
    reach(&w, t[8], 1, 5);
    world_finish(&w, t[7], WN_FAILED); /* its broken report was counted */
    resume_next(&w, t[8]);             /* with two dead */
    reach(&w, t[8], 3, 5);
    resume_next(&w, t[8]);
    assert_int_equal(world_report(&w, t[8], 9, 5), WN_STOP);
    world_close(&w);
}

static void a_bracket_may_die_out(void **state)
{
    (void)state;
    struct world w;
    uint32_t t[9];
    world_open(&w, "sync", "", 1, 9, 0);
    for (int bracket = 0; bracket < 3; bracket++) {
        ask_many(&w, t, 9);
        for (int i = 0; i < 9; i++)
            world_finish(&w, t[i], WN_FAILED);
    }
    ask_many(&w, t, 9);
    for (int i = 0; i < 9; i++)
        reach(&w, t[i], 1, i);
    resume_next(&w, t[0]);
    world_close(&w);
}

static void a_promoted_trial_may_die_before_it_is_resumed(void **state)
{
    (void)state;
    struct world w;
    uint32_t t[9];
    open_bracket(&w, t);
    for (int i = 0; i < 8; i++)
        reach(&w, t[i], 1, i);
    world_finish(&w, t[0], WN_CANCELLED); /* before the decision: its place at the next rung stays empty */
    assert_int_equal(world_report(&w, t[8], 1, 0.5), WN_PAUSE);
    resume_next(&w, t[1]);
    world_finish(&w, t[8], WN_FAILED); /* chosen, but its checkpoint failed */
    world_expect_new(&w);
    reach(&w, t[1], 3, 5);
    world_expect_resume(&w, t[1]); /* alone of three */
    world_finish(&w, t[1], WN_CANCELLED);
    world_expect_new(&w);
    world_close(&w);
}

static void an_early_pause_is_handed_out_again(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "sync", "", 3, 27, 0);
    uint32_t t = world_ask(&w);
    assert_int_equal(world_report(&w, t, 1, 1), WN_CONTINUE);
    world_finish(&w, t, WN_PAUSED); /* its machine is needed elsewhere */
    resume_next(&w, t);
    world_expect_new(&w);
    assert_int_equal(world_report(&w, t, 3, 1), WN_PAUSE);
    world_close(&w);
}

static void enqueued_trials_are_members(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "sync", "", 1, 3, 0); /* 3 to 1, 1 to 3 */
    double config = 77;
    world_apply(&w, &(struct event){.kind = EVENT_ENQUEUE, .config = &config});
    world_ask(&w);
    world_ask(&w);
    world_apply(&w, &(struct event){.kind = EVENT_ASK, .trial = 2, .queued = true, .config = &config});
    reach(&w, 2, 1, 0);
    reach(&w, 1, 1, 1);
    world_expect_new(&w);
    reach(&w, 0, 1, 2);
    resume_next(&w, 2);
    world_close(&w);
}

static void one_level_never_pauses(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "sync", "scheduler.brackets=3", 1, 1, 0);
    for (int i = 0; i < 10; i++) {
        world_expect_new(&w);
        uint32_t t = world_ask(&w);
        assert_int_equal(world_report(&w, t, 0.5, i), WN_CONTINUE);
        assert_int_equal(world_report(&w, t, 1, i), WN_STOP);
        world_finish(&w, t, WN_COMPLETE);
    }
    world_close(&w);
}

static int first_pause(struct world *w, int max)
{
    uint32_t t = world_ask(w);
    for (int r = 1; r <= max; r++)
        if (world_report(w, t, r, 0) != WN_CONTINUE) return r;
    fail_msg("trial %u never paused", t);
    return 0;
}

/* Li et al. 2018, Algorithm 1: r_max 81, eta 3.  Each bracket begins later, with fewer; after the last, the
 * first again. */
static void hyperband_opens_brackets_in_turn(void **state)
{
    (void)state;
    static const int sizes[] = {81, 34, 15, 8, 5}, starts[] = {1, 3, 9, 27, 81};
    for (int brackets = 1; brackets <= 6; brackets++) {
        struct world w;
        char options[32];
        snprintf(options, sizeof options, "scheduler.brackets=%d", brackets);
        world_open(&w, "sync", options, 1, 81, 0);
        for (int round = 0; round < 2; round++)
            for (int b = 0; b < brackets && b < 5; b++)
                for (int i = 0; i < sizes[b]; i++) {
                    int r = first_pause(&w, 81);
                    if (r != starts[b])
                        fail_msg("bracket %d, trial %d paused at %d, expected %d", b, i, r, starts[b]);
                }
        world_close(&w);
    }
}

/* n eta^-i, rounded down once: 16, 6.4, 2.56, 1.024.  Rounding down at each rung would leave nobody for
 * r_max. */
static void a_broken_eta_still_reaches_the_end(void **state)
{
    (void)state;
    static const int quota[] = {16, 6, 2, 1};
    struct world w;
    uint32_t t[16];
    world_open(&w, "sync", "scheduler.eta=2.5", 1, 15.625, 0);
    ask_many(&w, t, 16);
    for (int k = 0; k < 3; k++) {
        double level = k == 0 ? 1 : k == 1 ? 2.5 : 6.25;
        for (int i = 0; i < quota[k]; i++) {
            world_expect_new(&w);
            reach(&w, t[i], level, i);
        }
        for (int i = 0; i < quota[k + 1]; i++)
            resume_next(&w, t[i]);
        world_expect_new(&w);
    }
    world_close(&w);
}

/* ---- simulated workers under a referee ---- */

enum { WORKERS = 7, TRIALS = 1200, MEMBERS = 27 };

/* What the rules say of a bracket, kept by plain lists: r_max 27, eta 3. */
struct bracket {
    double value[MEMBERS];
    uint32_t here[MEMBERS]; /* arrived at the current rung */
    int n, quota, rung;
    bool may_go[TRIALS];
};

static void referee_arrival(struct bracket *b, uint32_t trial, double value)
{
    b->here[b->n] = trial;
    b->value[b->n++] = value;
    if (b->n < b->quota) return;
    for (int i = 0; i < b->n; i++) {
        int better = 0;
        for (int j = 0; j < b->n; j++)
            better += b->value[j] < b->value[i] || (b->value[j] == b->value[i] && j < i);
        b->may_go[b->here[i]] = better < b->quota / 3;
    }
    b->quota /= 3;
    b->rung++;
    b->n = 0;
}

/* Seven workers, each with a trial of its own pace.  Every resume must have been earned in a finished rung,
 * and workers never idle. */
static void nobody_is_promoted_before_the_rung_is_full(void **state)
{
    (void)state;
    static const int levels[] = {1, 3, 9, 27};
    static struct bracket brackets[TRIALS / MEMBERS + 2];
    memset(brackets, 0, sizeof brackets);
    for (size_t i = 0; i < sizeof brackets / sizeof *brackets; i++)
        brackets[i].quota = MEMBERS;
    struct rng rng = wni_rng_stream(3, 0, 1);
    struct world w;
    uint32_t busy[WORKERS];
    int at[TRIALS] = {0}, complete = 0, resumed = 0;
    world_open(&w, "sync", "", 1, 27, 0);
    for (int i = 0; i < WORKERS; i++)
        busy[i] = world_take(&w);
    while (w.history.n_trials < TRIALS) {
        int i = (int)wni_rng_below(&rng, WORKERS);
        uint32_t t = busy[i];
        struct bracket *b = &brackets[t / MEMBERS];
        double value = (double)wni_rng_below(&rng, 10);
        wn_decision d = world_report(&w, t, ++at[t], value);
        if (d == WN_CONTINUE) continue;
        if (at[t] < 27) {
            assert_int_equal(at[t], levels[b->rung]);
            referee_arrival(b, t, value);
        }
        complete += at[t] == 27;
        world_finish(&w, t, d == WN_PAUSE ? WN_PAUSED : at[t] == 27 ? WN_COMPLETE : WN_STOPPED);
        struct job job = world_next(&w);
        assert_int_not_equal(job.kind, JOB_WAIT);
        if (job.kind == JOB_RESUME) {
            struct bracket *from = &brackets[job.trial / MEMBERS];
            if (!from->may_go[job.trial]) fail_msg("trial %u goes on without having earned it", job.trial);
            from->may_go[job.trial] = false;
            resumed++;
        }
        busy[i] = world_take(&w);
    }
    /* Of 27: 9 + 3 + 1 promotions and one completion in each bracket but the few under way. */
    int done = TRIALS / MEMBERS - WORKERS;
    if (complete < done || resumed < 13 * done)
        fail_msg("%d complete, %d resumed in %d brackets", complete, resumed, done);
    world_close(&w);
}

/* ---- the slow version ---- */

enum { MAX_EVENTS = 2500, MAX_RUNGS = 8 };

enum where { RACING, HELD, CHOSEN, READY, OUT };

struct slow_bracket {
    double size;
    int k, quota, n;
    bool done;
    double value[512];
    uint32_t trial[512];
};

struct slow {
    double eta, level[MAX_RUNGS], r_max;
    int n_levels, n_kinds, n_brackets, room;
    struct slow_bracket brackets[MAX_EVENTS];
    int bracket[MAX_EVENTS]; /* by trial */
    enum where where[MAX_EVENTS];
    uint32_t queue[MAX_EVENTS];
    int n_queue;
};

static void slow_open(struct slow *s, double eta, int brackets, double r_max)
{
    memset(s, 0, sizeof *s);
    s->eta = eta, s->r_max = r_max;
    s->n_levels = slow_levels(eta, r_max, s->level);
    s->n_kinds = brackets < s->n_levels + 1 ? brackets : s->n_levels + 1;
}

static void slow_unqueue(struct slow *s, uint32_t trial)
{
    int n = 0;
    for (int i = 0; i < s->n_queue; i++)
        if (s->queue[i] != trial) s->queue[n++] = s->queue[i];
    s->n_queue = n;
}

static void slow_queue(struct slow *s, uint32_t trial)
{
    s->where[trial] = READY;
    s->queue[s->n_queue++] = trial;
}

static int slow_rank(const struct slow_bracket *b, int i)
{
    int better = 0;
    for (int j = 0; j < b->n; j++)
        better += b->value[j] < b->value[i] || (b->value[j] == b->value[i] && j < i);
    return better;
}

static void slow_decide(struct slow *s, const struct history *h, struct slow_bracket *b)
{
    int gone = 0;
    b->size /= s->eta;
    for (int place = 0; place < b->n; place++) {
        int i = 0;
        while (slow_rank(b, i) != place)
            i++;
        if (b->trial[i] == TRIAL_NONE)
            gone += place < (int)b->size;
        else if (place >= (int)b->size)
            s->where[b->trial[i]] = OUT;
        else if (h->trials[b->trial[i]].state == WN_PAUSED)
            slow_queue(s, b->trial[i]);
        else
            s->where[b->trial[i]] = CHOSEN;
    }
    b->quota = (int)b->size;
    b->n = 0;
    b->done = ++b->k == s->n_levels || !b->quota;
    for (int i = 0; i < gone; i++) {
        b->value[b->n] = INFINITY;
        b->trial[b->n++] = TRIAL_NONE;
    }
}

static void slow_arrive(struct slow *s, const struct history *h, struct slow_bracket *b, double value,
                        uint32_t trial)
{
    if (b->done) return;
    b->value[b->n] = value;
    b->trial[b->n++] = trial;
    while (!b->done && b->n == b->quota)
        slow_decide(s, h, b);
}

static void slow_ask(struct slow *s, uint32_t trial)
{
    if (!s->room) {
        struct slow_bracket *b = &s->brackets[s->n_brackets];
        b->k = s->n_brackets++ % s->n_kinds;
        b->size = slow_size(s->eta, s->n_levels, b->k);
        b->done = b->k == s->n_levels;
        s->room = b->quota = (int)b->size;
        assert_true(b->quota <= 512);
    }
    s->room--;
    s->bracket[trial] = s->n_brackets - 1;
    s->where[trial] = RACING;
}

static wn_decision slow_report(struct slow *s, const struct history *h, const struct event *e)
{
    struct slow_bracket *b = &s->brackets[s->bracket[e->trial]];
    enum where *where = &s->where[e->trial];
    if (*where == RACING && !isfinite(e->value)) {
        *where = OUT;
        slow_arrive(s, h, b, INFINITY, TRIAL_NONE);
    } else if (*where == RACING && !b->done && e->resource >= s->level[b->k]) {
        *where = HELD;
        slow_arrive(s, h, b, e->value, e->trial);
    }
    if (*where == OUT || e->resource >= s->r_max) return WN_STOP;
    return *where == RACING ? WN_CONTINUE : WN_PAUSE;
}

static void slow_finish(struct slow *s, const struct history *h, const struct event *e)
{
    struct slow_bracket *b = &s->brackets[s->bracket[e->trial]];
    enum where was = s->where[e->trial];
    if (e->state == WN_PAUSED) {
        if (was == RACING || was == CHOSEN) slow_queue(s, e->trial);
        return;
    }
    s->where[e->trial] = OUT;
    slow_unqueue(s, e->trial);
    for (int i = 0; was == HELD && i < b->n; i++)
        if (b->trial[i] == e->trial) b->trial[i] = TRIAL_NONE;
    if (was == RACING || was == CHOSEN || was == READY) slow_arrive(s, h, b, INFINITY, TRIAL_NONE);
}

static wn_decision slow_observe(struct slow *s, const struct history *h, const struct event *e)
{
    switch (e->kind) {
    case EVENT_REPORT:
        return slow_report(s, h, e);
    case EVENT_FINISH:
        slow_finish(s, h, e);
        break;
    case EVENT_ASK:
        slow_ask(s, e->trial);
        break;
    case EVENT_RESUME:
        if (s->where[e->trial] != READY) break;
        slow_unqueue(s, e->trial);
        s->where[e->trial] = RACING;
        break;
    case EVENT_ENQUEUE:
    case EVENT_SETUP:
        break;
    }
    return WN_CONTINUE;
}

static int check_study(double eta, int brackets, double r_max, uint64_t seed)
{
    static struct slow slow; /* too large for the stack */
    struct chance chance = {
        .rng = wni_rng_stream(seed, 0, 97), .ties = 0.3, .wrong = 0.02, .limit = r_max + 2};
    struct world w;
    char options[64];
    int resumed = 0;
    snprintf(options, sizeof options, "scheduler.eta=%g scheduler.brackets=%d", eta, brackets);
    world_open(&w, "sync", options, 1, r_max, seed);
    slow_open(&slow, eta, brackets, r_max);
    for (int i = 0; i < MAX_EVENTS; i++) {
        double config;
        struct event e = chance_event(&chance, &w, &config);
        wn_decision got = world_apply(&w, &e), expected = slow_observe(&slow, &w.history, &e);
        if (e.kind == EVENT_REPORT && got != expected)
            fail_msg("seed %d, event %d, trial %u at %g: %d, expected %d", (int)seed, i, e.trial, e.resource,
                     got, expected);
        struct job job = world_next(&w);
        uint32_t ready = slow.n_queue ? slow.queue[0] : TRIAL_NONE,
                 got_ready = job.kind == JOB_RESUME ? job.trial : TRIAL_NONE;
        if (ready != got_ready)
            fail_msg("seed %d, after event %d: resume %u, expected %u", (int)seed, i, got_ready, ready);
        resumed += e.kind == EVENT_RESUME;
    }
    world_close(&w);
    return resumed;
}

static void random_studies_agree_with_counting(void **state)
{
    (void)state;
    int resumed = sum_studies(
        check_study,
        &(struct study_grid){.etas = {3, 2, 2.5}, .maxima = {3, 9, 20}, .brackets = {1, 2, 9}, .repeats = 6});
    if (resumed < 4000) fail_msg("only %d resumed: the test does not test much", resumed);
}

/* One bracket of 59049. */
static void a_large_bracket(void **state)
{
    (void)state;
    enum { N = 59049 };
    struct rng rng = wni_rng_stream(5, 0, 1);
    struct world w;
    double best = INFINITY, level = 1;
    uint32_t winner = 0;
    world_open(&w, "sync", "", 1, N, 0);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(world_ask(&w), i);
    double *quality = malloc(N * sizeof *quality);
    assert_non_null(quality);
    for (uint32_t i = 0; i < N; i++) {
        quality[i] = wni_rng_uniform(&rng);
        if (quality[i] < best) best = quality[winner = i];
        reach(&w, i, level, quality[i]);
    }
    for (int left = N / 3; left >= 3; left /= 3) {
        level *= 3;
        for (int i = 0; i < left; i++) {
            uint32_t t = world_next(&w).trial;
            resume_next(&w, t);
            reach(&w, t, level, quality[t]);
        }
    }
    resume_next(&w, winner);
    world_expect_new(&w);
    free(quality);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bracket_from_first_to_last),
        cmocka_unit_test(ties_go_to_the_earlier_arrival),
        cmocka_unit_test(the_last_to_arrive_may_be_stopped),
        cmocka_unit_test(the_dead_are_not_waited_for),
        cmocka_unit_test(a_bracket_may_die_out),
        cmocka_unit_test(a_promoted_trial_may_die_before_it_is_resumed),
        cmocka_unit_test(an_early_pause_is_handed_out_again),
        cmocka_unit_test(enqueued_trials_are_members),
        cmocka_unit_test(one_level_never_pauses),
        cmocka_unit_test(hyperband_opens_brackets_in_turn),
        cmocka_unit_test(a_broken_eta_still_reaches_the_end),
        cmocka_unit_test(nobody_is_promoted_before_the_rung_is_full),
        cmocka_unit_test(random_studies_agree_with_counting),
        cmocka_unit_test(a_large_bracket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
