/* test_history.c -- the event log against a slow model of it: a list of events, and a scan of that list for
 * every answer.
 *
 * Long random sequences mix legal events with every kind of illegal one; the model says which is which. After
 * each event all that the history keeps at hand must be what the scan finds. */
#include "tests/check.h"

#include "base/mem.h"
#include "core/history.h"

enum { EVENTS_MAX = 1200, WIDTH = 6, STATES = WN_CANCELLED + 1 };

/* ---- the model ---- */

struct entry {
    struct event event;
    double config[WIDTH]; /* event.config points here */
};

struct model {
    const struct space *space;
    struct entry log[EVENTS_MAX];
    size_t n;
};

static bool same_config(const struct model *m, const double *a, const double *b)
{
    for (size_t i = 0; i < m->space->n; i++)
        if (a[i] != b[i]) return false;
    return true;
}

static size_t count_kind(const struct model *m, enum event_kind kind, bool only_queued)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->log[i].event.kind == kind && (!only_queued || m->log[i].event.queued);
    return n;
}

static const double *queue_head(const struct model *m)
{
    size_t taken = count_kind(m, EVENT_ASK, true);
    for (size_t i = 0; i < m->n; i++)
        if (m->log[i].event.kind == EVENT_ENQUEUE && taken-- == 0) return m->log[i].config;
    return NULL;
}

static wn_state state_of(const struct model *m, uint32_t trial)
{
    wn_state state = WN_WAITING; /* there is no such trial */
    for (size_t i = 0; i < m->n; i++) {
        const struct event *e = &m->log[i].event;
        if (e->kind == EVENT_ENQUEUE || e->trial != trial) continue;
        if (e->kind == EVENT_ASK || e->kind == EVENT_RESUME) state = WN_RUNNING;
        if (e->kind == EVENT_FINISH) state = e->state;
    }
    return state;
}

/* Whether the last that happened to the trial is an end that is to be retried; reports do not count. */
static bool waits_for_retry(const struct model *m, uint32_t trial)
{
    bool waits = false;
    for (size_t i = 0; i < m->n; i++) {
        const struct event *e = &m->log[i].event;
        if (e->kind == EVENT_ENQUEUE || e->kind == EVENT_REPORT || e->trial != trial) continue;
        waits = e->kind == EVENT_FINISH && e->retry;
    }
    return waits;
}

/* When the trial began to wait, as a number of the log: a later word that it waits does not move it back. */
static size_t waits_since(const struct model *m, uint32_t trial)
{
    size_t since = m->n;
    for (size_t i = m->n; i-- > 0;) {
        const struct event *e = &m->log[i].event;
        if (e->kind == EVENT_ENQUEUE || e->kind == EVENT_REPORT || e->trial != trial) continue;
        if (e->kind != EVENT_FINISH || !e->retry) break;
        since = i;
    }
    return since;
}

static int attempt_of(const struct model *m, uint32_t trial)
{
    int attempt = 1;
    bool waits = false;
    for (size_t i = 0; i < m->n; i++) {
        const struct event *e = &m->log[i].event;
        if (e->kind == EVENT_ENQUEUE || e->kind == EVENT_REPORT || e->trial != trial) continue;
        attempt += e->kind == EVENT_RESUME && waits;
        waits =
            e->kind == EVENT_FINISH && e->retry && e->state != WN_PAUSED; /* handed back: the same attempt */
    }
    return attempt;
}

static bool was_asked(const struct model *m, const double *config, size_t before)
{
    for (size_t i = 0; i < before; i++)
        if (m->log[i].event.kind == EVENT_ASK && same_config(m, m->log[i].config, config)) return true;
    return false;
}

static size_t distinct_asked(const struct model *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += m->log[i].event.kind == EVENT_ASK && !was_asked(m, m->log[i].config, i);
    return n;
}

/* The report at the largest resource, the newest of equals; NULL: none. */
static const struct event *furthest(const struct model *m, uint32_t trial)
{
    const struct event *best = NULL;
    for (size_t i = 0; i < m->n; i++) {
        const struct event *e = &m->log[i].event;
        if (e->kind == EVENT_REPORT && e->trial == trial && (!best || e->resource >= best->resource))
            best = e;
    }
    return best;
}

static bool has_failed(const struct model *m, uint32_t trial)
{
    wn_state state = state_of(m, trial);
    for (size_t i = 0; i < m->n; i++) {
        const struct event *e = &m->log[i].event;
        if (e->kind == EVENT_REPORT && e->trial == trial && !isfinite(e->value)) return true;
    }
    return state == WN_FAILED || state == WN_TIMEOUT || state == WN_LOST;
}

static const struct event *best_report(const struct model *m, size_t *index)
{
    const struct event *best = NULL;
    size_t report = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct event *e = &m->log[i].event;
        if (e->kind != EVENT_REPORT) continue;
        if (isfinite(e->value) && (!best || e->value < best->value)) best = e, *index = report;
        report++;
    }
    return best;
}

/* ---- what may happen ---- */

static bool may_become(wn_state from, wn_state to)
{
    switch (from) {
    case WN_RUNNING:
        return to >= WN_PAUSED && to <= WN_CANCELLED;
    case WN_PAUSED:
        return to == WN_STOPPED || to == WN_LOST || to == WN_CANCELLED;
    case WN_LOST:
        return to >= WN_PAUSED && to <= WN_CANCELLED && to != WN_LOST;
    default:
        return false;
    }
}

static bool is_config(const struct space *space, const double *config)
{
    for (size_t i = 0; i < space->n; i++) {
        double value = NAN;
        if (!wni_param_canonical(&space->params[i], config[i], &value)) return false;
        if (value != config[i] && space->params[i].count) return false; /* a float may have more digits */
    }
    return true;
}

static wn_status expected_status(const struct model *m, const struct event *e)
{
    size_t n_trials = count_kind(m, EVENT_ASK, false);
    const double *head = queue_head(m);
    switch (e->kind) {
    case EVENT_ENQUEUE:
        return is_config(m->space, e->config) ? WN_OK : WN_EINVAL;
    case EVENT_ASK:
        if (e->trial != n_trials || e->saw > m->n || !is_config(m->space, e->config)) return WN_EINVAL;
        return e->queued && !(head && same_config(m, head, e->config)) ? WN_EINVAL : WN_OK;
    case EVENT_REPORT:
        if (!(e->resource > 0 && isfinite(e->resource))) return WN_EINVAL;
        if (e->trial >= n_trials) return WN_ENOTFOUND;
        return state_of(m, e->trial) == WN_RUNNING || state_of(m, e->trial) == WN_LOST ? WN_OK : WN_ESTATE;
    case EVENT_RESUME:
        if (e->trial >= n_trials) return WN_ENOTFOUND;
        return state_of(m, e->trial) == WN_PAUSED || waits_for_retry(m, e->trial) ? WN_OK : WN_ESTATE;
    case EVENT_FINISH:
        if (e->state < WN_PAUSED || e->state > WN_CANCELLED) return WN_EINVAL;
        if (e->retry && e->state != WN_FAILED && e->state != WN_TIMEOUT && e->state != WN_LOST &&
            e->state != WN_PAUSED)
            return WN_EINVAL;
        if (e->trial >= n_trials) return WN_ENOTFOUND;
        if (waits_for_retry(m, e->trial) && e->state == WN_CANCELLED) return WN_OK;
        return may_become(state_of(m, e->trial), e->state) ? WN_OK : WN_ESTATE;
    case EVENT_SETUP:
        return WN_OK;
    }
    return WN_EINVAL;
}

/* ---- random events ---- */

static void spoil_config(const struct space *space, struct rng *rng, double *config)
{
    static const double wrong[] = {NAN, INFINITY, -INFINITY, -1, 1e9, 0.12345678901234567};
    config[wni_rng_below(rng, space->n)] = wrong[check_between(rng, 0, 5)];
}

static void random_config(const struct model *m, struct rng *rng, double *config)
{
    wni_config_sample(m->space, rng, config);
    if (check_chance(rng, 5)) spoil_config(m->space, rng, config);
    if (check_chance(rng, 5)) config[0] = -config[0]; /* -0 where it is 0 */
}

static double random_of(struct rng *rng, const double *usual, int n_usual, const double *odd, int n_odd)
{
    return check_chance(rng, 90) ? usual[check_between(rng, 0, n_usual - 1)]
                                 : odd[check_between(rng, 0, n_odd - 1)];
}

static void random_ask(const struct model *m, struct rng *rng, struct event *e, double *config)
{
    const double *head = queue_head(m);
    e->kind = EVENT_ASK;
    e->trial = (uint32_t)count_kind(m, EVENT_ASK, false) + (check_chance(rng, 5) ? 1 : 0);
    e->saw = check_chance(rng, 5) ? m->n + 1 : wni_rng_below(rng, m->n + 1);
    e->queued = check_chance(rng, head ? 60 : 5);
    if (e->queued && head && check_chance(rng, 95)) memcpy(config, head, m->space->n * sizeof *config);
}

static struct event random_event(const struct model *m, struct rng *rng, double *config)
{
    /* quarters, so that sums are exact in any order; resources come out of order */
    static const double resources[] = {0.25, 0.5, 1, 2, 3, 3, 9, 27, 81.75},
                        bad_resources[] = {0, -1, NAN, INFINITY};
    static const double values[] = {-3.5, -0.0, 0, 0.1, 0.25, 7, 1e300, -1e-300},
                        odd_values[] = {NAN, INFINITY, -INFINITY};
    size_t n_trials = count_kind(m, EVENT_ASK, false);
    struct event e = {.time = (double)m->n, .config = config};
    e.trial = (uint32_t)wni_rng_below(rng, n_trials + (check_chance(rng, 10) ? 2 : 1));
    random_config(m, rng, config);
    int choice = check_between(rng, 1, 100);
    if (choice <= 5) {
        e.kind = EVENT_ENQUEUE;
    } else if (choice <= 20) {
        random_ask(m, rng, &e, config);
    } else if (choice <= 75) {
        e.kind = EVENT_REPORT;
        e.resource = random_of(rng, resources, 9, bad_resources, 4);
        e.value =
            check_chance(rng, 80) ? check_uniform(rng, -1, 1) : random_of(rng, values, 8, odd_values, 3);
    } else if (choice <= 84) {
        e.kind = EVENT_RESUME;
    } else if (choice <= 85) {
        e.kind = EVENT_SETUP;
        e.trial = TRIAL_NONE;
    } else {
        e.kind = EVENT_FINISH;
        e.state = (wn_state)check_between(rng, 0, STATES);
        if (check_chance(rng, 30)) e.state = check_chance(rng, 50) ? WN_PAUSED : WN_LOST;
        bool may_wait = e.state == WN_PAUSED || (e.state >= WN_FAILED && e.state <= WN_LOST);
        e.retry = check_chance(rng, may_wait ? 50 : 5);
    }
    return e;
}

/* ---- agreement ---- */

static void check_trial(const struct model *m, const struct history *h, uint32_t trial)
{
    const struct event *last = furthest(m, trial);
    bool failed = has_failed(m, trial);
    double value = 123, resource = 456;
    bool there = wni_history_last(h, trial, &value, &resource);
    CHECK(there == (last && !failed), "trial %u: has a last value: %d", trial, there);
    CHECK_DOUBLE(value, there ? last->value : 123);
    CHECK_DOUBLE(resource, there ? last->resource : 456);
    CHECK_INT(h->trials[trial].state, state_of(m, trial));
    CHECK_INT(h->trials[trial].attempt, attempt_of(m, trial));
    CHECK_INT(h->trials[trial].retry, waits_for_retry(m, trial));
    size_t n = 0, total = 0;
    for (size_t i = 0; i < m->n; i++)
        total += m->log[i].event.kind == EVENT_REPORT;
    uint32_t at = h->trials[trial].last_arrival; /* newest first, through `previous` */
    for (size_t i = m->n; i-- > 0;) {
        const struct event *e = &m->log[i].event;
        if (e->kind != EVENT_REPORT) continue;
        total--;
        if (e->trial != trial) continue;
        CHECK_INT(at, total + 1);
        CHECK_DOUBLE(h->values[at - 1], e->value);
        CHECK_DOUBLE(h->resources[at - 1], e->resource);
        at = h->previous[at - 1];
        n++;
    }
    CHECK_INT(at, 0);
    CHECK_INT(h->trials[trial].n_reports, n);
}

static void check_counts_of(const struct model *m, const struct history *h)
{
    size_t n_trials = count_kind(m, EVENT_ASK, false), by_state[STATES] = {0}, best_index = 0;
    double total = 0;
    for (uint32_t t = 0; t < n_trials; t++) {
        by_state[state_of(m, t)]++;
        total += furthest(m, t) ? furthest(m, t)->resource : 0;
    }
    CHECK_INT(h->n_trials, n_trials);
    CHECK_INT(h->n_events, m->n);
    CHECK_INT(h->n_reports, count_kind(m, EVENT_REPORT, false));
    CHECK_INT(h->n_queue, count_kind(m, EVENT_ENQUEUE, false));
    CHECK_INT(h->queue_head, count_kind(m, EVENT_ASK, true));
    CHECK_INT(h->n_distinct, distinct_asked(m));
    for (int s = 0; s < STATES; s++)
        CHECK_INT(h->by_state[s], by_state[s]);
    CHECK_DOUBLE(h->total_resource, total);
    size_t waiting = 0;
    for (uint32_t t = 0; t < n_trials; t++)
        waiting += waits_for_retry(m, t);
    CHECK_INT(h->n_retries, waiting);
    for (size_t i = 0; i < waiting; i++) { /* the longest waiting first */
        CHECK(waits_for_retry(m, h->retries[i]), "trial %u does not wait", h->retries[i]);
        if (i)
            CHECK(waits_since(m, h->retries[i - 1]) < waits_since(m, h->retries[i]), "out of order at %zu",
                  i);
    }
    const struct event *best = best_report(m, &best_index);
    CHECK_DOUBLE(h->best_value, best ? best->value : INFINITY);
    CHECK_INT(h->best_trial, best ? best->trial : TRIAL_NONE);
    if (best) CHECK_INT(h->best_report, best_index);
}

static void check_seen(const struct model *m, const struct history *h, struct rng *rng)
{
    double config[WIDTH];
    wni_config_sample(m->space, rng, config);
    CHECK_INT(wni_history_seen(h, config), was_asked(m, config, m->n));
    for (size_t i = 0; i < m->n; i++)
        if (m->log[i].event.kind == EVENT_ASK)
            CHECK(wni_history_seen(h, m->log[i].config), "event %zu is not seen", i);
}

static void check_same_event(const struct model *m, size_t i, const struct event *got)
{
    const struct event *e = &m->log[i].event;
    CHECK_INT(got->kind, e->kind);
    if (e->kind != EVENT_ENQUEUE && e->kind != EVENT_SETUP) CHECK_INT(got->trial, e->trial);
    CHECK_INT(got->queued, e->kind == EVENT_ASK && e->queued);
    CHECK_INT(got->state, e->kind == EVENT_FINISH ? e->state : 0);
    CHECK_INT(got->saw, e->kind == EVENT_ASK ? e->saw : 0);
    CHECK_DOUBLE(got->resource, e->kind == EVENT_REPORT ? e->resource : 0);
    CHECK_DOUBLE(got->value, e->kind == EVENT_REPORT ? e->value : 0);
    CHECK_INT(got->retry, e->kind == EVENT_FINISH && e->retry);
    bool timed = e->kind == EVENT_ASK ||
                 (e->kind == EVENT_FINISH && e->state != WN_PAUSED && e->state != WN_LOST && !e->retry);
    CHECK_DOUBLE(got->time, timed ? e->time : NAN);
    bool configured = e->kind == EVENT_ASK || e->kind == EVENT_ENQUEUE;
    CHECK_INT(got->config != NULL, configured);
    for (size_t k = 0; k < m->space->n && configured; k++)
        CHECK(got->config[k] == e->config[k], "%g is not %g", got->config[k], e->config[k]);
}

/* ---- the long run ---- */

static void record(struct model *m, const struct event *e)
{
    struct entry *entry = &m->log[m->n++];
    entry->event = *e;
    memcpy(entry->config, e->config, m->space->n * sizeof *e->config);
    entry->event.config = entry->config;
}

/* One event: legal ones happen in both, illegal ones must be refused for the right reason. */
static void step(struct model *m, struct history *h, struct rng *rng)
{
    double config[WIDTH];
    struct err err = {0};
    struct event e = random_event(m, rng, config);
    wn_status expected = expected_status(m, &e), got = wni_history_check(h, &e, &err);
    CHECK(got == expected, "event %zu of kind %d, trial %u: status %d, expected %d (%s)", m->n, e.kind,
          e.trial, got, expected, err.text);
    CHECK((got == WN_OK) == (err.text[0] == 0), "status %d says '%s'", got, err.text);
    if (check_chance(rng, 10))
        CHECK_OK(wni_history_reserve(h, &e, &err), err); /* room alone changes nothing */
    if (got) return;
    check_event(h, &e);
    record(m, &e);
    if (e.kind != EVENT_ENQUEUE && e.kind != EVENT_SETUP) check_trial(m, h, e.trial);
}

static void replay(const struct model *m, const struct history *h)
{
    struct history copy;
    struct history_cursor at = {0};
    struct event e;
    struct err err = {0};
    size_t n = 0;
    CHECK_OK(wni_history_init(&copy, h->space, &err), err);
    for (; wni_history_next(h, &at, &e); n++) {
        check_same_event(m, n, &e);
        check_event(&copy, &e);
    }
    CHECK_INT(n, m->n);
    check_counts_of(m, &copy);
    for (uint32_t t = 0; t < copy.n_trials; t++)
        check_trial(m, &copy, t);
    wni_history_release(&copy);
}

static void long_random_sequences_agree_with_the_model(void **state)
{
    (void)state;
    struct model *m = calloc(1, sizeof *m);
    assert_non_null(m);
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 1);
        struct space space;
        struct history h;
        struct err err = {0};
        struct history_cursor follower = {0};
        struct event e;
        check_random_finite_space(&space, &rng, 40); /* small: configurations come again */
        *m = (struct model){.space = &space};
        CHECK_OK(wni_history_init(&h, &space, &err), err);
        size_t wanted = (size_t)check_between(&rng, 1, 400), followed = 0;
        for (int i = 0; m->n < wanted; i++) {
            step(m, &h, &rng);
            if (i % 7 == 0) check_counts_of(m, &h);
            if (i % 31 == 0) check_seen(m, &h, &rng);
            for (; check_chance(&rng, 60) && wni_history_next(&h, &follower, &e); followed++)
                check_same_event(m, followed, &e);
        }
        for (uint32_t t = 0; t < h.n_trials; t++)
            check_trial(m, &h, t);
        replay(m, &h);
        wni_history_release(&h);
        wni_space_release(&space);
    }
    free(m);
}

/* ---- words of a refusal ---- */

static void one_int_space(struct space *space)
{
    wni_space_init(space);
    check_add(space, (struct param_decl){.name = "x", .kind = PARAM_INT, .min = 0, .max = 1000000});
}

static void check_refused(const struct history *h, struct event e, wn_status status, const char *message)
{
    struct err err = {0};
    CHECK_INT(wni_history_check(h, &e, &err), status);
    CHECK_TEXT(err.text, message);
    CHECK_INT(wni_history_check(h, &e, NULL), status);
}

static void refusals_are_named(void **state)
{
    (void)state;
    struct space space;
    struct history h;
    struct err err = {0};
    const double five = 5, half = 0.5, seven = 7;
    one_int_space(&space);
    CHECK_OK(wni_history_init(&h, &space, &err), err);
    check_event(&h, &(struct event){.kind = EVENT_ASK, .config = &five});
    check_event(&h, &(struct event){.kind = EVENT_ASK, .trial = 1, .config = &five});
    check_event(&h, &(struct event){.kind = EVENT_FINISH, .trial = 1, .state = WN_COMPLETE});
    check_event(&h, &(struct event){.kind = EVENT_ENQUEUE, .config = &five});

    check_refused(&h, (struct event){.kind = EVENT_ENQUEUE, .config = &half}, WN_EINVAL,
                  "parameter 'x': 0.5 is not a value of the space");
    check_refused(&h, (struct event){.kind = EVENT_ASK, .trial = 2, .config = &half}, WN_EINVAL,
                  "parameter 'x': 0.5 is not a value of the space");
    check_refused(&h, (struct event){.kind = EVENT_ASK, .trial = 1, .config = &five}, WN_EINVAL,
                  "trial 1 asked where 2 comes next");
    check_refused(&h, (struct event){.kind = EVENT_ASK, .trial = 2, .config = &five, .saw = 5}, WN_EINVAL,
                  "trial 2 saw events that are still to come");
    check_refused(&h, (struct event){.kind = EVENT_ASK, .trial = 2, .config = &seven, .queued = true},
                  WN_EINVAL, "trial 2: its configuration is not the head of the queue");
    check_refused(&h, (struct event){.kind = EVENT_REPORT, .trial = 2, .resource = 1}, WN_ENOTFOUND,
                  "trial 2: there is no such trial");
    check_refused(&h, (struct event){.kind = EVENT_REPORT, .trial = 0, .resource = 0}, WN_EINVAL,
                  "trial 0: resource 0 is not a finite number above 0");
    check_refused(&h, (struct event){.kind = EVENT_REPORT, .trial = 0, .resource = INFINITY}, WN_EINVAL,
                  "trial 0: resource inf is not a finite number above 0");
    check_refused(&h, (struct event){.kind = EVENT_REPORT, .trial = 1, .resource = 1}, WN_ESTATE,
                  "trial 1 is COMPLETE: it cannot report");
    check_refused(&h, (struct event){.kind = EVENT_RESUME, .trial = 0}, WN_ESTATE,
                  "trial 0 is RUNNING: it cannot resume");
    check_refused(&h, (struct event){.kind = EVENT_FINISH, .trial = 1, .state = WN_FAILED}, WN_ESTATE,
                  "trial 1 is COMPLETE: it cannot become FAILED");
    check_refused(&h, (struct event){.kind = EVENT_FINISH, .trial = 0, .state = WN_RUNNING}, WN_EINVAL,
                  "trial 0: a trial does not end as RUNNING");
    check_refused(&h, (struct event){.kind = EVENT_FINISH, .trial = 0, .state = (wn_state)40}, WN_EINVAL,
                  "trial 0: a trial does not end as UNKNOWN");
    check_refused(&h, (struct event){.kind = (enum event_kind)40}, WN_EINVAL, "unknown kind of event");

    size_t trials = h.n_trials, reports = h.n_reports; /* pretend to be full */
    h.n_trials = (1 << 28) - 1;
    check_refused(&h, (struct event){.kind = EVENT_ASK, .trial = (1 << 28) - 1, .config = &five}, WN_ESTATE,
                  "a study holds at most 134217727 trials");
    h.n_trials = trials;
    h.n_reports = UINT32_MAX - 1;
    check_refused(&h, (struct event){.kind = EVENT_REPORT, .trial = 0, .resource = 1}, WN_ESTATE,
                  "a study holds at most 4294967294 reports");
    h.n_reports = reports;
    wni_history_release(&h);
    wni_space_release(&space);
}

static void the_states_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"WAITING", "RUNNING", "PAUSED", "COMPLETE", "STOPPED",
                                        "FAILED",  "TIMEOUT", "LOST",   "CANCELLED"};
    for (int s = 0; s < STATES; s++)
        CHECK_TEXT(wn_state_name((wn_state)s), names[s]);
    CHECK_TEXT(wn_state_name((wn_state)STATES), "UNKNOWN");
    for (int s = 0; s < STATES; s++)
        CHECK_INT(wni_state_is_final((wn_state)s), s >= WN_COMPLETE);
}

/* ---- small stories ---- */

static void a_lost_trial_that_comes_back_counts_again(void **state)
{
    (void)state;
    struct space space;
    struct history h;
    struct err err = {0};
    const double five = 5;
    double value;
    one_int_space(&space);
    CHECK_OK(wni_history_init(&h, &space, &err), err);
    check_event(&h, &(struct event){.kind = EVENT_ASK, .config = &five});
    check_event(&h, &(struct event){.kind = EVENT_REPORT, .resource = 1, .value = 0.5});
    check_event(&h, &(struct event){.kind = EVENT_FINISH, .state = WN_LOST});
    CHECK(!wni_history_last(&h, 0, &value, NULL), "a lost trial has value %g", value);
    check_event(&h, &(struct event){.kind = EVENT_REPORT, .resource = 2, .value = 0.25});
    CHECK(!wni_history_last(&h, 0, &value, NULL), "a lost trial has value %g", value);
    check_event(&h, &(struct event){.kind = EVENT_FINISH, .state = WN_COMPLETE});
    CHECK(wni_history_last(&h, 0, &value, NULL), "%zu reports", h.n_reports);
    CHECK_DOUBLE(value, 0.25);
    CHECK_INT(h.by_state[WN_LOST], 0);
    CHECK_INT(h.by_state[WN_COMPLETE], 1);
    wni_history_release(&h);
    wni_space_release(&space);
}

static void reports_out_of_order(void **state)
{
    (void)state;
    struct space space;
    struct history h;
    struct err err = {0};
    const double five = 5;
    double value, resource;
    static const double reports[][4] = {/* resource, value, then the last value and the total */
                                        {3, 0.5, 0.5, 3},
                                        {1, 0.1, 0.5, 3},
                                        {3, 0.7, 0.7, 3},
                                        {2, 0.2, 0.7, 3},
                                        {9, 0.9, 0.9, 9}};
    one_int_space(&space);
    CHECK_OK(wni_history_init(&h, &space, &err), err);
    check_event(&h, &(struct event){.kind = EVENT_ASK, .config = &five});
    for (size_t i = 0; i < 5; i++) {
        check_event(&h,
                    &(struct event){.kind = EVENT_REPORT, .resource = reports[i][0], .value = reports[i][1]});
        CHECK(wni_history_last(&h, 0, &value, &resource), "report %zu", i);
        CHECK_DOUBLE(value, reports[i][2]);
        CHECK_DOUBLE(resource, reports[i][3]);
        CHECK_DOUBLE(h.total_resource, reports[i][3]);
    }
    CHECK_DOUBLE(h.best_value, 0.1);
    CHECK_INT(h.best_report, 1);
    wni_history_release(&h);
    wni_space_release(&space);
}

/* ---- size ---- */

static size_t bytes_used(const struct history *h)
{
    return h->n_events * sizeof *h->codes +
           h->n_reports * (sizeof *h->resources + sizeof *h->values + sizeof *h->previous) +
           h->n_trials * (h->space->n * sizeof *h->configs + sizeof *h->trials) +
           h->n_slots * sizeof *h->slots + h->n_queue * h->space->n * sizeof *h->queue;
}

static void a_hundred_thousand_trials_are_small(void **state)
{
    (void)state;
    enum { TRIALS = 100000, REPORTS = 10, PARAMS = 6 };
    struct space space;
    struct history h;
    struct err err = {0};
    struct rng rng = wni_rng_stream(1, 0, 1);
    double config[PARAMS];
    wni_space_init(&space);
    for (int i = 0; i < PARAMS; i++)
        check_add(&space,
                  (struct param_decl){.name = (char[]){(char)('a' + i), 0}, .kind = PARAM_FLOAT, .max = 1});
    CHECK_OK(wni_history_init(&h, &space, &err), err);
    for (uint32_t t = 0; t < TRIALS; t++) {
        wni_config_sample(&space, &rng, config);
        check_event(&h, &(struct event){.kind = EVENT_ASK, .trial = t, .config = config});
        for (int r = 1; r <= REPORTS; r++)
            check_event(&h,
                        &(struct event){
                            .kind = EVENT_REPORT, .trial = t, .resource = r, .value = wni_rng_uniform(&rng)});
        check_event(&h, &(struct event){.kind = EVENT_FINISH, .trial = t, .state = WN_COMPLETE});
    }
    CHECK_INT(h.n_reports, TRIALS * REPORTS);
    CHECK_INT(h.n_distinct, TRIALS);
    size_t bytes = bytes_used(&h);
    CHECK(bytes <= (size_t)400 * TRIALS, "%zu bytes per trial", bytes / TRIALS);
    /* what the header says: 8 d + 24 k + about 80 */
    CHECK(bytes <= (size_t)(8 * PARAMS + 24 * REPORTS + 80) * TRIALS, "%zu bytes per trial", bytes / TRIALS);
    wni_history_release(&h);
    wni_space_release(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_random_sequences_agree_with_the_model),
        cmocka_unit_test(refusals_are_named),
        cmocka_unit_test(the_states_have_names),
        cmocka_unit_test(a_lost_trial_that_comes_back_counts_again),
        cmocka_unit_test(reports_out_of_order),
        cmocka_unit_test(a_hundred_thousand_trials_are_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
