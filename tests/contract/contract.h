/* contract.h -- what the contract tests share: a case for every row of a registry, and studies driven by
 * chance.
 *
 * A rig is a study and the workers around it.  The workers ask, report, obey (mostly), crash, disappear, come
 * back and report rubbish, as one stream of random numbers says.  Everything but the study is plain data: a
 * copy of it continues exactly as the original would, which is how "stopped and resumed" is compared with
 * "never stopped". */
#ifndef TESTS_CONTRACT_CONTRACT_H
#define TESTS_CONTRACT_CONTRACT_H

#include "tests/check.h"

#include "base/opts.h"
#include "method/method.h"
#include "tuner/study.h"

/* ---- one case for every row and property ---- */

struct property {
    const char *name;
    void (*check)(void **row);
};

/* Runs every property on every row; the case is called "ROW: PROPERTY". */
static inline int contract_run(const char *group, const struct property *properties, size_t n_properties,
                               size_t n_rows, const char *(*name_at)(size_t), const void *(*row_at)(size_t))
{
    enum { NAME_MAX_BYTES = 160 };
    size_t n = n_rows * n_properties;
    struct CMUnitTest *tests = calloc(n ? n : 1, sizeof *tests);
    char(*names)[NAME_MAX_BYTES] = calloc(n ? n : 1, sizeof *names);
    if (!tests || !names) abort();
    for (size_t i = 0; i < n; i++) {
        const struct property *p = &properties[i % n_properties];
        size_t row = i / n_properties;
        snprintf(names[i], sizeof names[i], "%s: %s", name_at(row), p->name);
        tests[i].name = names[i];
        tests[i].test_func = p->check;
        tests[i].initial_state = (void *)(uintptr_t)row_at(row);
    }
    int failed = _cmocka_run_group_tests(group, tests, n, NULL, NULL);
    free(tests);
    free(names);
    return failed;
}

/* Settings under which a searcher answers at once, for tests that ask it thousands of times: its decisions
 * are worth less, but they are made the same way.  One that is not listed here is tested as it is. */
static inline const char *brisk_options(const char *searcher)
{
#define GP_BRISK                                                                                             \
    "searcher.candidates=5 searcher.fantasies=2 searcher.refit_from=8 searcher.refit_every=4 "               \
    "searcher.fit_rows=8 searcher.max_fit=12 searcher.evaluations=3 "
    static const struct {
        const char *searcher, *options;
    } brisk[] = {
        {"bore", "searcher.trees=4 searcher.depth=3 searcher.candidates=30 "},
        {"tpe", "searcher.candidates=8 "},
        {"bohb", "searcher.candidates=8 "},
        {"qr", "searcher.trees=4 searcher.candidates=30 "},
        {"cqr", "searcher.trees=4 searcher.candidates=30 searcher.threshold=10 "},
        {"gp", GP_BRISK},
        {"mob", GP_BRISK},
        {"ht", GP_BRISK},
    };
    for (size_t i = 0; i < sizeof brisk / sizeof *brisk; i++)
        if (!strcmp(brisk[i].searcher, searcher)) return brisk[i].options;
    return "";
}

/* ---- comparing ---- */

static inline void check_same_config(const struct space *space, const double *got, const double *expected,
                                     size_t event)
{
    for (size_t i = 0; i < space->n; i++)
        if (!check_same_double(got[i], expected[i]))
            fail_msg("event %zu: parameter '%s' is %.17g, expected %.17g", event, space->params[i].name,
                     got[i], expected[i]);
}

static inline void check_same_event(const struct space *space, const struct event *got,
                                    const struct event *expected, size_t at)
{
    CHECK(got->kind == expected->kind, "event %zu: kind %d, expected %d", at, got->kind, expected->kind);
    CHECK(got->trial == expected->trial, "event %zu: trial %u, expected %u", at, got->trial, expected->trial);
    CHECK(got->queued == expected->queued, "event %zu: queued %d, expected %d", at, got->queued,
          expected->queued);
    CHECK(got->saw == expected->saw, "event %zu: saw %zu, expected %zu", at, (size_t)got->saw,
          (size_t)expected->saw);
    CHECK(got->state == expected->state, "event %zu: trial %u ended as %s, expected %s", at, got->trial,
          wn_state_name(got->state), wn_state_name(expected->state));
    CHECK(got->retry == expected->retry, "event %zu: retry %d, expected %d", at, got->retry, expected->retry);
    CHECK(check_same_double(got->resource, expected->resource), "event %zu: resource %.17g, expected %.17g",
          at, got->resource, expected->resource);
    CHECK(check_same_double(got->value, expected->value), "event %zu: value %.17g, expected %.17g", at,
          got->value, expected->value);
    CHECK(!got->config == !expected->config, "event %zu: one has a configuration, the other has none", at);
    if (got->config && expected->config) check_same_config(space, got->config, expected->config, at);
}

/* Event by event, values bit by bit; times are not part of what happened. */
static inline void check_same_log(const struct history *got, const struct history *expected)
{
    struct history_cursor a = {0}, b = {0};
    struct event one, two;
    for (size_t i = 0; i < expected->n_events && i < got->n_events; i++) {
        assert_true(wni_history_next(got, &a, &one));
        assert_true(wni_history_next(expected, &b, &two));
        check_same_event(expected->space, &one, &two, i);
    }
    CHECK_INT(got->n_events, expected->n_events);
}

/* ---- the rig ---- */

enum { HANDS_MAX = 64, GONE_MAX = 8 };

struct hand { /* a worker, busy when it has a trial */
    bool busy;
    uint32_t trial;
    double at; /* resource reached */
};

struct world {
    struct rng rng;
    unsigned workers;
    int trouble;         /* percent of what happens that should not */
    bool constant;       /* every report is 1 */
    size_t trials_limit; /* no new trials beyond; 0: no limit */
    struct hand hands[HANDS_MAX];
    uint32_t gone[GONE_MAX]; /* trials whose worker was lost and may come back */
    size_t n_gone;
    size_t steps;
    bool exhausted; /* the last ask said so */
};

struct rig {
    struct study_setup setup; /* its space outlives the rig */
    struct study study;
    struct world world;
    uint8_t *decisions; /* by event: what a report was answered */
    size_t decisions_cap;
};

/* May be refused, with a reason: a searcher need not take every space. */
static inline wn_status rig_try(struct rig *r, const struct study_setup *setup, const struct world *world,
                                struct err *err)
{
    struct store store;
    *r = (struct rig){.setup = *setup, .world = *world};
    CHECK(world->workers >= 1 && world->workers <= HANDS_MAX, "%u workers", world->workers);
    CHECK_OK(wni_store_open(&store, "memory:", "rig", setup->space, err), *err);
    return wni_study_open(&r->study, &r->setup, &store, err);
}

static inline void rig_open(struct rig *r, const struct study_setup *setup, const struct world *world)
{
    struct err err = {0};
    CHECK_OK(rig_try(r, setup, world, &err), err);
}

static inline void rig_close(struct rig *r)
{
    wni_study_release(&r->study);
    free(r->decisions);
}

static inline void rig_note(struct rig *r, wn_decision decision)
{
    size_t at = r->study.history.n_events - 1;
    while (at >= r->decisions_cap) {
        r->decisions_cap = r->decisions_cap ? 2 * r->decisions_cap : 64;
        r->decisions = realloc(r->decisions, r->decisions_cap);
        assert_non_null(r->decisions);
    }
    r->decisions[at] = (uint8_t)decision;
}

static inline double rig_top(const struct rig *r) /* the resource of a full run */
{
    return r->setup.max_resource > 0 ? r->setup.max_resource : 1;
}

static inline unsigned rig_busy(const struct rig *r)
{
    unsigned n = 0;
    for (unsigned w = 0; w < r->world.workers; w++)
        n += r->world.hands[w].busy;
    return n;
}

/* The configuration decides how good a trial is, and all of them get better with the resource. */
static inline double rig_value(struct rig *r, uint32_t trial, double resource)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, 1e308, -1e308, 5e-324, 0.0, -0.0};
    struct world *w = &r->world;
    if (check_chance(&w->rng, w->trouble / 4)) return odd[wni_rng_below(&w->rng, sizeof odd / sizeof *odd)];
    if (w->constant) return 1;
    const struct history *h = &r->study.history;
    uint64_t hash = wni_config_hash(h->space, wni_history_config(h, trial));
    return (double)(hash >> 40) * 0x1p-24 + 1 / resource;
}

/* Looks at the job and at a second look finds the same: next() changes nothing. */
static inline struct job rig_next(const struct study *s)
{
    if (!s->scheduler.ops->next) return (struct job){.kind = JOB_NEW};
    struct job one = s->scheduler.ops->next(s->scheduler.self, &s->history);
    struct job two = s->scheduler.ops->next(s->scheduler.self, &s->history);
    CHECK(one.kind == two.kind && (one.kind != JOB_RESUME || one.trial == two.trial),
          "next() gave job %d (trial %u), then %d (%u)", one.kind, one.trial, two.kind, two.trial);
    return one;
}

static inline void rig_check_handout(struct rig *r, const struct handout *job)
{
    const struct history *h = &r->study.history;
    CHECK(job->trial < h->n_trials, "trial %u of %zu", job->trial, h->n_trials);
    CHECK_INT(h->trials[job->trial].state, WN_RUNNING);
    for (unsigned w = 0; w < r->world.workers; w++)
        CHECK(!r->world.hands[w].busy || r->world.hands[w].trial != job->trial, "trial %u handed out twice",
              job->trial);
    if (r->study.n_versions > 1) return; /* it may be from before the space was widened */
    for (size_t i = 0; i < h->space->n; i++)
        check_in_space(&h->space->params[i], job->config[i]);
}

static inline void rig_ask(struct rig *r, struct hand *hand)
{
    struct err err = {0};
    struct handout job;
    const struct history *h = &r->study.history;
    size_t limit = r->world.trials_limit;
    if (limit && h->n_trials >= limit && rig_next(&r->study).kind != JOB_RESUME) return;
    wn_status st = wni_study_ask(&r->study, (double)r->world.steps, &job, &err);
    r->world.exhausted = st == WN_EXHAUSTED;
    CHECK(st == WN_OK || st == WN_WAIT || st == WN_EXHAUSTED, "ask gave %d: %s", st, err.text);
    CHECK(st != WN_WAIT || rig_busy(r) > 0, "told to wait with %u trials running", rig_busy(r));
    if (st) return;
    rig_note(r, WN_CONTINUE);
    rig_check_handout(r, &job);
    *hand = (struct hand){.busy = true, .trial = job.trial, .at = job.resumed_from};
}

static inline void rig_finish(struct rig *r, uint32_t trial, wn_state state)
{
    struct err err = {0};
    CHECK_OK(wni_study_finish(&r->study, trial, state, (double)r->world.steps, &err), err);
    rig_note(r, WN_CONTINUE);
}

static inline wn_decision rig_report(struct rig *r, uint32_t trial, double resource)
{
    struct err err = {0};
    wn_decision decision = (wn_decision)77;
    double value = rig_value(r, trial, resource), now = (double)r->world.steps;
    CHECK_OK(wni_study_report(&r->study, trial, resource, value, now, &decision, &err), err);
    CHECK(decision == WN_CONTINUE || decision == WN_STOP || decision == WN_PAUSE, "decision %d", decision);
    rig_note(r, decision);
    return decision;
}

/* A busy worker does what it should: one more step, and what it is told. */
static inline void rig_work(struct rig *r, struct hand *hand)
{
    double top = rig_top(r);
    hand->at = hand->at + 1 < top ? floor(hand->at) + 1 : top;
    wn_decision decision = rig_report(r, hand->trial, hand->at);
    bool over = decision != WN_CONTINUE || hand->at >= top;
    if (!over || check_chance(&r->world.rng, r->world.trouble))
        return; /* in trouble it does not listen, this time */
    rig_finish(r, hand->trial, WN_COMPLETE);
    hand->busy = false;
}

static inline void rig_lose(struct rig *r, struct hand *hand)
{
    struct world *w = &r->world;
    rig_finish(r, hand->trial, WN_LOST);
    w->gone[w->n_gone < GONE_MAX ? w->n_gone++ : wni_rng_below(&w->rng, GONE_MAX)] = hand->trial;
}

/* ... and what it should not. */
static inline void rig_misbehave(struct rig *r, struct hand *hand)
{
    static const wn_state ends[] = {WN_FAILED, WN_TIMEOUT,  WN_CANCELLED, WN_STOPPED,
                                    WN_PAUSED, WN_COMPLETE, WN_LOST};
    struct world *w = &r->world;
    double top = rig_top(r);
    if (check_chance(&w->rng, 50)) { /* out of order, ahead, beyond the end, or between the levels */
        rig_report(r, hand->trial, ceil(check_uniform(&w->rng, 0, 1.2) * top * 4) / 4 + 0.25);
        return;
    }
    wn_state end = ends[wni_rng_below(&w->rng, sizeof ends / sizeof *ends)];
    hand->busy = false;
    if (end == WN_LOST)
        rig_lose(r, hand);
    else
        rig_finish(r, hand->trial, end);
}

/* A worker that was given up comes back with a report, or ends its trial after all. */
static inline void rig_come_back(struct rig *r)
{
    static const wn_state ends[] = {WN_COMPLETE, WN_FAILED, WN_PAUSED, WN_TIMEOUT, WN_CANCELLED};
    struct world *w = &r->world;
    if (!w->n_gone) return;
    size_t i = wni_rng_below(&w->rng, w->n_gone);
    uint32_t trial = w->gone[i];
    if (check_chance(&w->rng, 50)) {
        rig_report(r, trial, ceil(wni_rng_uniform(&w->rng) * rig_top(r) + 0.5));
        return;
    }
    w->gone[i] = w->gone[--w->n_gone];
    rig_finish(r, trial, ends[wni_rng_below(&w->rng, sizeof ends / sizeof *ends)]);
}

/* Somebody from outside gives a paused trial up, or wants a configuration tried. */
static inline void rig_interfere(struct rig *r)
{
    struct world *w = &r->world;
    struct study *s = &r->study;
    struct err err = {0};
    if (check_chance(&w->rng, 50) && s->history.n_trials > 0) {
        uint32_t trial = (uint32_t)wni_rng_below(&w->rng, s->history.n_trials);
        if (s->history.trials[trial].state == WN_PAUSED) rig_finish(r, trial, WN_CANCELLED);
        return;
    }
    if (w->trials_limit) return;
    double *config = calloc(s->space.n, sizeof *config);
    assert_non_null(config);
    check_random_config(&s->space, &w->rng, config);
    CHECK_OK(wni_study_enqueue(s, config, (double)w->steps, &err), err);
    rig_note(r, WN_CONTINUE);
    free(config);
}

static inline void rig_step(struct rig *r)
{
    struct world *w = &r->world;
    struct hand *hand = &w->hands[wni_rng_below(&w->rng, w->workers)];
    w->steps++;
    if (check_chance(&w->rng, w->trouble / 2))
        rig_come_back(r);
    else if (check_chance(&w->rng, w->trouble / 4))
        rig_interfere(r);
    else if (!hand->busy)
        rig_ask(r, hand);
    else if (check_chance(&w->rng, w->trouble))
        rig_misbehave(r, hand);
    else
        rig_work(r, hand);
}

/* What the history counts is what a recount finds, and who has a trial in hand is running. */
static inline void rig_check_states(const struct rig *r)
{
    const struct history *h = &r->study.history;
    size_t by_state[WN_CANCELLED + 1] = {0};
    for (size_t i = 0; i < h->n_trials; i++)
        by_state[h->trials[i].state]++;
    for (int s = 0; s <= WN_CANCELLED; s++)
        CHECK_INT(h->by_state[s], by_state[s]);
    CHECK_INT(by_state[WN_RUNNING], rig_busy(r));
    CHECK_INT(by_state[WN_WAITING], 0);
}

static inline void rig_run(struct rig *r, size_t steps)
{
    for (size_t i = 0; i < steps; i++) {
        rig_step(r);
        if (i % 64 == 0) rig_check_states(r);
    }
    rig_check_states(r);
}

/* Goes on until the space is used up and nothing runs; fails when that takes for ever. */
static inline void rig_run_out(struct rig *r, size_t steps)
{
    for (size_t i = 0; i < steps; i++) {
        if (r->world.exhausted && !rig_busy(r)) return;
        rig_step(r);
    }
    fail_msg("not at its end after %zu steps: %zu trials, %u running", steps, r->study.history.n_trials,
             rig_busy(r));
}

/* The same world around a fresh study that has read the log up to here. */
static inline void rig_fork(struct rig *to, const struct rig *from)
{
    struct history_cursor at = {0};
    struct event e;
    struct err err = {0};
    wn_decision decision;
    rig_open(to, &from->setup, &from->world);
    while (wni_history_next(&from->study.history, &at, &e)) {
        CHECK_OK(wni_study_apply(&to->study, &e, &decision, &err), err);
        rig_note(to, decision);
    }
}

/* Before an event of the log, the study would do just that: the same job, the same proposal, however often it
 * is asked. */
static inline void rig_check_would(struct study *s, const struct event *e, size_t at, double *config)
{
    struct err err = {0};
    if (e->kind != EVENT_RESUME && (e->kind != EVENT_ASK || e->queued)) return;
    struct job job = rig_next(s);
    CHECK_INT(job.kind, e->kind == EVENT_RESUME ? JOB_RESUME : JOB_NEW);
    if (e->kind == EVENT_RESUME) {
        CHECK_INT(job.trial, e->trial);
        return;
    }
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < s->space.n; i++)
            config[i] = NAN;
        CHECK_OK(s->searcher.ops->suggest(s->searcher.self, &s->history, e->trial, config, &err), err);
        check_same_config(&s->space, config, e->config, at);
    }
    CHECK_INT(e->saw, s->history.n_events);
}

/* Reads the log into a fresh study, event by event: the same jobs, proposals and decisions all along. */
static inline void rig_check_replay(const struct rig *r)
{
    struct rig again;
    struct history_cursor at = {0};
    struct event e;
    struct err err = {0};
    rig_open(&again, &r->setup, &r->world);
    double *config = calloc(r->study.space.n, sizeof *config);
    assert_non_null(config);
    while (wni_history_next(&r->study.history, &at, &e)) {
        size_t i = at.event - 1;
        wn_decision decision;
        rig_check_would(&again.study, &e, i, config);
        CHECK_OK(wni_study_apply(&again.study, &e, &decision, &err), err);
        CHECK(decision == r->decisions[i], "event %zu: decided %d, on replay %d", i, r->decisions[i],
              decision);
    }
    free(config);
    check_same_log(&again.study.history, &r->study.history);
    rig_close(&again);
}

/* Stops and resumes at `stops` places on the way; the log is that of a run which never stopped. */
static inline void rig_check_resume(const struct study_setup *setup, const struct world *world, size_t steps,
                                    size_t stops)
{
    struct rig whole, parts[2];
    rig_open(&whole, setup, world);
    rig_run(&whole, steps);
    rig_check_replay(&whole);
    rig_open(&parts[0], setup, world);
    for (size_t stop = 1; stop <= stops + 1; stop++) {
        struct rig *now = &parts[(stop - 1) % 2], *next = &parts[stop % 2];
        rig_run(now, steps * stop / (stops + 1) - now->world.steps);
        rig_fork(next, now);
        rig_close(now);
    }
    check_same_log(&parts[(stops + 1) % 2].study.history, &whole.study.history);
    rig_close(&parts[(stops + 1) % 2]);
    rig_close(&whole);
}

/* ---- options ---- */

typedef wn_status contract_open(const void *ops, const char *options, struct err *err);

static inline void check_option(const void *ops, contract_open *open, const char *prefix,
                                const struct opt_def *def, const char *value, bool fine)
{
    char text[256];
    struct err err = {0};
    snprintf(text, sizeof text, "%s.%s=%s", prefix, def->name, value);
    wn_status st = open(ops, text, &err);
    CHECK((st == WN_OK) == fine, "%s gave %d: %s", text, st, err.text);
    if (fine) return;
    CHECK(st == WN_EINVAL && strstr(err.text, def->name), "%s gave %d: '%s' does not name the option", text,
          st, err.text);
}

static inline void check_option_bounds(const void *ops, contract_open *open, const char *prefix,
                                       const struct opt_def *def)
{
    char text[64];
    bool whole = def->kind == OPT_KIND_INT;
    CHECK(def->min < def->max && def->initial >= def->min && def->initial <= def->max,
          "option %s: default %g is not within %g..%g", def->name, def->initial, def->min, def->max);
    const double values[] = {def->min, def->max, whole ? def->min - 1 : nextafter(def->min, -INFINITY),
                             whole ? def->max + 1 : nextafter(def->max, INFINITY)};
    for (size_t i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "%.17g", values[i]);
        check_option(ops, open, prefix, def, text, i < 2);
    }
    if (whole) check_option(ops, open, prefix, def, "1.5", false);
}

/* Every option is taken at its default and at its bounds, and refused beyond with a message that names it. */
static inline void check_options(const void *ops, contract_open *open, const char *prefix,
                                 const struct opt_def *defs)
{
    char text[128];
    struct err err = {0};
    for (const struct opt_def *def = defs; def && def->kind != OPT_KIND_END; def++) {
        CHECK(def->help && *def->help, "option %s has no help", def->name);
        wni_opt_default_text(def, text, sizeof text);
        check_option(ops, open, prefix, def, text, true);
        for (int i = 0; def->kind == OPT_KIND_CHOICE && def->choices[i]; i++)
            check_option(ops, open, prefix, def, def->choices[i], true);
        if (def->kind == OPT_KIND_INT || def->kind == OPT_KIND_REAL)
            check_option_bounds(ops, open, prefix, def);
        check_option(ops, open, prefix, def, "nan", false);
        check_option(ops, open, prefix, def, "", false);
        check_option(ops, open, prefix, def, "xyz", false);
    }
    snprintf(text, sizeof text, "%s.no-such-option=1", prefix);
    CHECK_INT(open(ops, text, &err), WN_EINVAL);
    CHECK(strstr(err.text, "unknown option 'no-such-option'"), "got '%s'", err.text);
}

/* Random settings of all options, not far from ordinary ones. */
static inline void random_options(struct rng *rng, const char *prefix, const struct opt_def *defs, char *out,
                                  size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (const struct opt_def *def = defs; def && def->kind != OPT_KIND_END; def++) {
        char value[64] = "";
        size_t n = 0;
        while (def->kind == OPT_KIND_CHOICE && def->choices[n])
            n++;
        double high = fmin(def->max, def->min + 6);
        switch (def->kind) {
        case OPT_KIND_CHOICE:
            snprintf(value, sizeof value, "%s", def->choices[wni_rng_below(rng, n)]);
            break;
        case OPT_KIND_BOOL:
            snprintf(value, sizeof value, "%s", check_chance(rng, 50) ? "true" : "false");
            break;
        case OPT_KIND_INT:
            snprintf(value, sizeof value, "%.0f", floor(check_uniform(rng, def->min, high + 1)));
            break;
        case OPT_KIND_REAL:
            snprintf(value, sizeof value, "%.3f", check_uniform(rng, def->min + 0.001, high));
            break;
        case OPT_KIND_END:
            break;
        }
        used += (size_t)snprintf(out + used, size - used, "%s.%s=%s ", prefix, def->name, value);
        assert_true(used < size);
    }
}

#endif
