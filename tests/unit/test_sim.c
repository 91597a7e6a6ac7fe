/* test_sim.c -- the simulated backend against a slow simulation: every run's whole schedule written down when
 * it starts, and a scan over all running trials for what comes next.
 *
 * All times are multiples of 1/8, so sums are exact and the two must agree to the bit. */
#include "tests/check.h"

#include "backend/sim.h"
#include "core/streams.h"

enum { LEVELS = 6, WORKERS_MAX = 64, TRIALS_MAX = 4000 };

/* ---- a black box with one int parameter that says how its curve goes ---- */

static const double levels[LEVELS] = {1, 2, 4, 8, 9, 16};

enum curve_kind { EVEN, UNEVEN, AT_ONCE, BACKWARDS, CURVE_KINDS }; /* config % CURVE_KINDS */

static const double BROKEN = 999; /* this configuration cannot be run */

struct curve {
    double x;
    uint64_t seed;
    char padding[5]; /* an odd size */
};

static double curve_seconds(double x, size_t level)
{
    switch ((enum curve_kind)((int)x % CURVE_KINDS)) {
    case EVEN:
        return levels[level];
    case UNEVEN:
        return (double)(level + 1) * (1 + (int)x % 7) / 8 + (level > 2 ? 3 : 0);
    case AT_ONCE:
        return 2;
    default:
        return level % 2 ? 1 : 4 + (double)level / 4;
    }
}

static double curve_value(double x, uint64_t seed, size_t level)
{
    if ((int)x % 17 == 3 && level >= 2) return NAN;
    return x + (double)level / 1024 + (double)(seed % 1000) * 1024;
}

static wn_status open_curve(const struct blackbox *box, const double *config, uint64_t seed, void *memory,
                            struct err *err)
{
    (void)box;
    struct curve *curve = memory;
    CHECK((uintptr_t)memory % _Alignof(max_align_t) == 0, "curve at %p", memory);
    for (size_t i = 0; i < sizeof *curve; i++)
        CHECK(((unsigned char *)memory)[i] == 0, "byte %zu is dirty", i);
    memset(curve, 0xee, sizeof *curve);
    curve->x = config[0];
    curve->seed = seed;
    return config[0] == BROKEN ? wni_fail(err, WN_EIO, "no such curve") : WN_OK;
}

static void read_curve(const struct blackbox *box, void *memory, size_t level, double *value, double *seconds)
{
    (void)box;
    const struct curve *curve = memory;
    CHECK(level < LEVELS, "level %zu", level);
    *value = curve_value(curve->x, curve->seed, level);
    *seconds = curve_seconds(curve->x, level);
}

static const struct blackbox_ops box_ops = {.open_curve = open_curve, .read_curve = read_curve};
static const struct blackbox box = {
    .ops = &box_ops, .levels = levels, .n_levels = LEVELS, .n_seeds = 7, .curve_size = sizeof(struct curve)};

/* ---- the slow simulation ---- */

struct run {
    uint32_t trial;
    bool running;
    size_t n, at; /* happenings in all, next one */
    struct happening plan[LEVELS + 1];
};

struct slow {
    struct run runs[TRIALS_MAX];
    size_t n_runs, n_running;
    uint64_t seed;
    double now, poll;
};

static uint64_t table_seed(uint64_t seed, uint32_t trial)
{
    struct rng rng = wni_rng_stream(seed, trial, STREAM_TABLE_SEED);
    return wni_rng_below(&rng, box.n_seeds);
}

static void slow_start(struct slow *s, uint32_t trial, double x, double resumed_from)
{
    struct run *run = &s->runs[s->n_runs++];
    *run = (struct run){.trial = trial, .running = true};
    double spent = 0, latest = s->now;
    for (size_t k = 0; k < LEVELS; k++) {
        if (levels[k] <= resumed_from) {
            spent = curve_seconds(x, k);
            continue;
        }
        latest = fmax(latest, s->now + curve_seconds(x, k) - spent);
        run->plan[run->n++] = (struct happening){.kind = HAPPENED_REPORT,
                                                 .trial = trial,
                                                 .resource = levels[k],
                                                 .value = curve_value(x, table_seed(s->seed, trial), k),
                                                 .time = latest};
    }
    run->plan[run->n++] =
        (struct happening){.kind = HAPPENED_END, .trial = trial, .state = WN_COMPLETE, .time = latest};
    s->n_running++;
}

static struct run *slow_find(struct slow *s, uint32_t trial)
{
    for (size_t i = 0; i < s->n_runs; i++)
        if (s->runs[i].running && s->runs[i].trial == trial) return &s->runs[i];
    return NULL;
}

static void slow_end(struct slow *s, struct run *run)
{
    run->running = false;
    s->n_running--;
}

static struct happening slow_next(struct slow *s)
{
    struct run *first = NULL;
    for (size_t i = 0; i < s->n_runs; i++) {
        struct run *run = &s->runs[i];
        if (!run->running) continue;
        double time = run->plan[run->at].time;
        if (!first || time < first->plan[first->at].time ||
            (time == first->plan[first->at].time && run->trial < first->trial))
            first = run;
    }
    struct happening it = first->plan[first->at++];
    if (it.kind == HAPPENED_END) slow_end(s, first);
    if (it.time > s->now && s->poll > 0) {
        uint64_t polls = 0;
        while ((double)polls * s->poll < it.time)
            polls++;
        s->now = (double)polls * s->poll;
    } else if (it.time > s->now) {
        s->now = it.time;
    }
    return it;
}

/* ---- both side by side ---- */

static void open_sim(struct backend *b, unsigned workers, uint64_t seed, double poll)
{
    struct err err = {0};
    CHECK_OK(wni_sim_open(b, &box, &(struct sim_setup){.workers = workers, .seed = seed, .poll = poll}, &err),
             err);
    CHECK_TEXT(b->ops->name, "sim");
    CHECK_DOUBLE(b->ops->now(b->self), 0);
}

static void start(struct backend *b, uint32_t trial, double x, double resumed_from)
{
    struct err err = {0};
    CHECK_OK(b->ops->start(b->self, trial, &x, resumed_from > 0, resumed_from, &err), err);
}

static void stop(struct backend *b, uint32_t trial)
{
    struct err err = {0};
    CHECK_OK(b->ops->stop(b->self, trial, false, &err), err);
}

static struct happening next(struct backend *b)
{
    struct err err = {0};
    struct happening it;
    CHECK_OK(b->ops->next(b->self, &it, &err), err);
    return it;
}

static void check_happening(const struct happening *got, const struct happening *expected)
{
    CHECK_INT(got->trial, expected->trial);
    CHECK_INT(got->kind, expected->kind);
    CHECK_DOUBLE(got->time, expected->time);
    CHECK_DOUBLE(got->resource, expected->resource);
    CHECK_DOUBLE(got->value, expected->value);
    CHECK_INT(got->state, expected->state);
}

/* Starts a new trial, or goes on with one that ran before. */
static void start_some(struct backend *b, struct slow *s, struct rng *rng, double *configs,
                       uint32_t *n_trials)
{
    uint32_t trial = *n_trials;
    double resumed_from = 0;
    if (trial > 0 && check_chance(rng, 30)) {
        uint32_t old = (uint32_t)wni_rng_below(rng, trial);
        static const double reached[] = {0.5, 1, 2,  3,  4,
                                         8,   9, 10, 16, 100}; /* between and beyond the levels, too */
        if (!slow_find(s, old)) trial = old, resumed_from = reached[check_between(rng, 0, 9)];
    }
    if (trial == *n_trials) configs[(*n_trials)++] = check_between(rng, 0, 900);
    start(b, trial, configs[trial], resumed_from);
    slow_start(s, trial, configs[trial], resumed_from);
}

static void stop_some(struct backend *b, struct slow *s, struct rng *rng, uint32_t delivered,
                      uint32_t n_trials)
{
    struct err err = {0};
    uint32_t trial = check_chance(rng, 60) ? delivered : (uint32_t)wni_rng_below(rng, n_trials + 1);
    struct run *run = slow_find(s, trial);
    wn_status st = b->ops->stop(b->self, trial, check_chance(rng, 50), &err);
    CHECK_INT(st, run ? WN_OK : WN_ENOTFOUND);
    char message[64];
    snprintf(message, sizeof message, "trial %u is not running", trial);
    CHECK_TEXT(err.text, run ? "" : message);
    if (run) slow_end(s, run);
}

static void compare_with_slow(uint64_t seed, unsigned workers, double poll)
{
    static struct slow s;
    static double configs[TRIALS_MAX];
    struct rng rng = wni_rng_stream(seed, 0, 1);
    struct backend b;
    uint32_t n_trials = 0, delivered = 0;
    double before = 0;
    s = (struct slow){.seed = seed, .poll = poll};
    open_sim(&b, workers, seed, poll);
    for (int i = 0; i < 3000 && s.n_runs < TRIALS_MAX - WORKERS_MAX; i++) {
        while (s.n_running < workers && check_chance(&rng, 80))
            start_some(&b, &s, &rng, configs, &n_trials);
        if (n_trials && check_chance(&rng, 25)) stop_some(&b, &s, &rng, delivered, n_trials);
        if (check_chance(&rng, 3)) {
            double seconds = check_between(&rng, 0, 40) / 8.0;
            b.ops->charge(b.self, seconds);
            s.now += seconds;
        }
        struct happening got, expected;
        struct err err = {0};
        bool any = s.n_running > 0;
        CHECK_INT(b.ops->next(b.self, &got, &err), any ? WN_OK : WN_EXHAUSTED);
        if (!any) continue;
        expected = slow_next(&s);
        check_happening(&got, &expected);
        CHECK_DOUBLE(b.ops->now(b.self), s.now);
        CHECK(got.time >= before && got.time <= s.now, "%g after %g, the clock is at %g", got.time, before,
              s.now);
        before = got.time;
        delivered = got.trial;
    }
    b.ops->close(b.self);
}

static void agrees_with_the_slow_simulation(void **state)
{
    (void)state;
    static const unsigned workers[] = {1, 2, 3, 7, 64};
    static const double polls[] = {0, 5, 0.625};
    for (uint64_t seed = 0; seed < 3; seed++)
        for (size_t w = 0; w < 5; w++)
            for (size_t p = 0; p < 3; p++)
                compare_with_slow(seed, workers[w], polls[p]);
}

/* ---- small stories ---- */

static void check_next(struct backend *b, enum happening_kind kind, uint32_t trial, double resource,
                       double time)
{
    struct happening it = next(b);
    CHECK_INT(it.kind, kind);
    CHECK_INT(it.trial, trial);
    CHECK_DOUBLE(it.resource, resource);
    CHECK_DOUBLE(it.time, time);
}

/* A free worker is refilled at the moment it became free, not when the next report comes. */
static void one_worker_runs_trials_one_after_the_other(void **state)
{
    (void)state;
    struct backend b;
    open_sim(&b, 1, 1, 0);
    start(&b, 0, EVEN, 0);
    check_next(&b, HAPPENED_REPORT, 0, 1, 1);
    check_next(&b, HAPPENED_REPORT, 0, 2, 2);
    stop(&b, 0);
    start(&b, 1, EVEN, 0);
    for (size_t k = 0; k < LEVELS; k++)
        check_next(&b, HAPPENED_REPORT, 1, levels[k], 2 + levels[k]);
    check_next(&b, HAPPENED_END, 1, 0, 18);
    CHECK_DOUBLE(b.ops->now(b.self), 18);
    b.ops->close(b.self);
}

static void ties_go_to_the_lower_trial(void **state)
{
    (void)state;
    struct backend b;
    open_sim(&b, 4, 1, 0);
    static const uint32_t order[] = {2, 0, 3, 1};
    for (int i = 0; i < 4; i++)
        start(&b, order[i], EVEN, 0);
    for (size_t k = 0; k < LEVELS; k++)
        for (uint32_t t = 0; t < 4; t++) {
            check_next(&b, HAPPENED_REPORT, t, levels[k], levels[k]);
            if (k == LEVELS - 1) check_next(&b, HAPPENED_END, t, 0, 16);
        }
    b.ops->close(b.self);
}

static void a_resumed_trial_pays_only_the_rest(void **state)
{
    (void)state;
    struct backend b;
    open_sim(&b, 2, 1, 0);
    start(&b, 0, EVEN, 0);
    for (size_t k = 0; k < 3; k++)
        check_next(&b, HAPPENED_REPORT, 0, levels[k], levels[k]);
    stop(&b, 0); /* paused at resource 4 after 4 seconds */
    start(&b, 1, EVEN, 0);
    check_next(&b, HAPPENED_REPORT, 1, 1, 5);
    check_next(&b, HAPPENED_REPORT, 1, 2, 6);
    stop(&b, 1);
    start(&b, 0, EVEN, 4); /* at 6: resource 8 is 4 seconds away, 16 is 12 */
    check_next(&b, HAPPENED_REPORT, 0, 8, 10);
    check_next(&b, HAPPENED_REPORT, 0, 9, 11);
    check_next(&b, HAPPENED_REPORT, 0, 16, 18);
    check_next(&b, HAPPENED_END, 0, 0, 18);
    start(&b, 0, EVEN, 16); /* nothing is left of it */
    check_next(&b, HAPPENED_END, 0, 0, 18);
    b.ops->close(b.self);
}

static void stopping_another_trial_lets_the_reporter_go_on(void **state)
{
    (void)state;
    struct backend b;
    open_sim(&b, 2, 1, 0);
    start(&b, 0, EVEN, 0);
    start(&b, 1, EVEN, 0);
    check_next(&b, HAPPENED_REPORT, 0, 1, 1);
    stop(&b, 1);
    check_next(&b, HAPPENED_REPORT, 0, 2, 2);
    start(&b, 2, EVEN, 0); /* while 0's report has been delivered and not yet been followed up */
    check_next(&b, HAPPENED_REPORT, 2, 1, 3);
    check_next(&b, HAPPENED_REPORT, 0, 4, 4);
    b.ops->close(b.self);
}

/* With a poll every 5 s: stamped with their own time, seen at the poll; the freed worker starts at the poll.
 */
static void polling_delays_the_refill(void **state)
{
    (void)state;
    struct backend b;
    open_sim(&b, 1, 1, 5);
    start(&b, 0, EVEN, 0);
    check_next(&b, HAPPENED_REPORT, 0, 1, 1);
    CHECK_DOUBLE(b.ops->now(b.self), 5);
    check_next(&b, HAPPENED_REPORT, 0, 2, 2);
    CHECK_DOUBLE(b.ops->now(b.self), 5);
    stop(&b, 0);
    start(&b, 1, EVEN, 0);
    check_next(&b, HAPPENED_REPORT, 1, 1, 6);
    CHECK_DOUBLE(b.ops->now(b.self), 10);
    check_next(&b, HAPPENED_REPORT, 1, 2, 7);
    check_next(&b, HAPPENED_REPORT, 1, 4, 9);
    CHECK_DOUBLE(b.ops->now(b.self), 10);
    check_next(&b, HAPPENED_REPORT, 1, 8, 13);
    CHECK_DOUBLE(b.ops->now(b.self), 15);
    b.ops->close(b.self);
}

/* A poll of 0.1 s is no binary fraction, so quotients round: 63.00000000000001 / 0.1 is 630, but 630 * 0.1 is
 * before it; 76.5 / 5.1 is above 15, but 15 * 5.1 is not before 76.5. */
static void the_poll_is_the_first_that_can_see_it(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(4, 0, 1);
    for (int i = 0; i < 20000; i++) {
        static const double polls[] = {0.1, 0.3, 0.7, 5.1};
        double poll = polls[i % 4], start_at = (double)check_between(&rng, 10, 1000) * poll - 1;
        struct backend b;
        open_sim(&b, 1, 1, poll);
        b.ops->charge(b.self, check_chance(&rng, 50) ? start_at : nextafter(start_at, INFINITY));
        start(&b, 0, EVEN, 0);
        struct happening it = next(&b);
        double now = b.ops->now(b.self), polls_passed = rint(now / poll);
        CHECK_DOUBLE(now, polls_passed * poll);
        CHECK(now >= it.time && (polls_passed - 1) * poll < it.time,
              "poll %g: seen at %.17g, happened at %.17g", poll, now, it.time);
        b.ops->close(b.self);
    }
}

static void charged_time_delays_what_starts_later(void **state)
{
    (void)state;
    struct backend b;
    open_sim(&b, 2, 1, 0);
    start(&b, 0, EVEN, 0);
    b.ops->charge(b.self, 2.5); /* deciding what comes second took a while; the first trial ran meanwhile */
    start(&b, 1, EVEN, 0);
    check_next(&b, HAPPENED_REPORT, 0, 1, 1);
    CHECK_DOUBLE(b.ops->now(b.self), 2.5);
    check_next(&b, HAPPENED_REPORT, 0, 2, 2);
    check_next(&b, HAPPENED_REPORT, 1, 1, 3.5);
    check_next(&b, HAPPENED_REPORT, 0, 4, 4);
    b.ops->close(b.self);
}

static void a_start_that_fails_leaves_the_worker_free(void **state)
{
    (void)state;
    struct backend b;
    struct err err = {0};
    struct happening it;
    open_sim(&b, 1, 1, 0);
    CHECK_INT(b.ops->start(b.self, 0, &BROKEN, false, 0, &err), WN_EIO);
    CHECK_TEXT(err.text, "no such curve");
    CHECK_INT(b.ops->next(b.self, &it, &err), WN_EXHAUSTED);
    CHECK_TEXT(err.text, "nothing is running");
    start(&b, 1, EVEN, 0);
    check_next(&b, HAPPENED_REPORT, 1, 1, 1);
    b.ops->close(b.self);
}

static void a_simulation_needs_a_worker(void **state)
{
    (void)state;
    struct backend b;
    struct err err = {0};
    CHECK_INT(wni_sim_open(&b, &box, &(struct sim_setup){.workers = 0}, &err), WN_EINVAL);
    CHECK_TEXT(err.text, "a simulation needs at least one worker");
    CHECK(!b.self && !b.ops, "left behind: %p", b.self);
}

/* ---- repetitions ---- */

/* The repetition depends on (seed, trial) alone: not on the worker, the order, or a resume. */
static void a_trial_sees_one_repetition_whenever_it_runs(void **state)
{
    (void)state;
    size_t counts[7] = {0};
    for (uint32_t trial = 0; trial < 7000; trial++) {
        struct backend b;
        open_sim(&b, 3, 11, 0);
        if (trial % 2) start(&b, trial + 1, AT_ONCE, 0);
        start(&b, trial, EVEN, 0);
        struct happening fresh = next(&b), again;
        stop(&b, trial);
        start(&b, trial, EVEN, 1);
        do
            again = next(&b);
        while (again.trial != trial);
        uint64_t seed = (uint64_t)(fresh.value / 1024);
        CHECK_INT(fresh.trial, trial);
        CHECK_INT(seed, table_seed(11, trial));
        CHECK_DOUBLE(again.value, curve_value(EVEN, seed, 1));
        counts[seed]++;
        b.ops->close(b.self);
    }
    check_counts(counts, (double[]){1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0, 1 / 7.0}, 7, 6);
}

/* A box without repetitions gets 64 random bits, for its noise. */
static void a_box_without_repetitions_gets_all_bits(void **state)
{
    (void)state;
    struct blackbox single = box;
    single.n_seeds = 1;
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t trial = 0; trial < 200; trial++) {
        struct backend b;
        struct err err = {0};
        CHECK_OK(wni_sim_open(&b, &single, &(struct sim_setup){.workers = 1, .seed = 5}, &err), err);
        start(&b, trial, EVEN, 0);
        uint64_t seed = (uint64_t)(next(&b).value / 1024); /* modulo 1000 */
        if (seed < low) low = seed;
        if (seed > high) high = seed;
        b.ops->close(b.self);
    }
    CHECK(low < 100 && high > 900, "seeds between %llu and %llu", (unsigned long long)low,
          (unsigned long long)high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_slow_simulation),
        cmocka_unit_test(one_worker_runs_trials_one_after_the_other),
        cmocka_unit_test(ties_go_to_the_lower_trial),
        cmocka_unit_test(a_resumed_trial_pays_only_the_rest),
        cmocka_unit_test(stopping_another_trial_lets_the_reporter_go_on),
        cmocka_unit_test(polling_delays_the_refill),
        cmocka_unit_test(the_poll_is_the_first_that_can_see_it),
        cmocka_unit_test(charged_time_delays_what_starts_later),
        cmocka_unit_test(a_start_that_fails_leaves_the_worker_free),
        cmocka_unit_test(a_simulation_needs_a_worker),
        cmocka_unit_test(a_trial_sees_one_repetition_whenever_it_runs),
        cmocka_unit_test(a_box_without_repetitions_gets_all_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
