/* test_search_levels.c -- values at levels, against a scan of all reports by the rule in words. */
#include "tests/check.h"

#include "search/levels.h"

enum { TRIALS_MAX = 60, REPORTS_MAX = 4000 };

struct world {
    struct space space;
    struct history history;
    struct levels levels;
    struct search_env env;
    struct level_values values;
};

static void open_world(struct world *w, double min, double max, double eta)
{
    struct err err = {0};
    *w = (struct world){0};
    wni_space_init(&w->space);
    struct param_decl x = {.name = "x", .kind = PARAM_INT, .min = 0, .max = 1e9};
    check_add(&w->space, x);
    CHECK_OK(wni_history_init(&w->history, &w->space, &err), err);
    w->env = (struct search_env){.space = &w->space, .partial = true};
    if (eta > 0) {
        CHECK_OK(wni_levels_init(&w->levels, min, max, eta, &err), err);
        w->env.levels = &w->levels;
    }
    wni_level_values_init(&w->values, &w->env);
}

static void close_world(struct world *w)
{
    wni_level_values_release(&w->values);
    wni_history_release(&w->history);
    wni_space_release(&w->space);
}

static void ask(struct world *w)
{
    double config = (double)w->history.n_trials;
    check_event(&w->history, &(struct event){.kind = EVENT_ASK,
                                             .trial = (uint32_t)w->history.n_trials,
                                             .config = &config,
                                             .saw = w->history.n_events});
}

static void report(struct world *w, uint32_t trial, double resource, double value)
{
    check_event(&w->history,
                &(struct event){.kind = EVENT_REPORT, .trial = trial, .resource = resource, .value = value});
}

static void finish(struct world *w, uint32_t trial, wn_state state)
{
    check_event(&w->history, &(struct event){.kind = EVENT_FINISH, .trial = trial, .state = state});
}

static size_t get(struct world *w, size_t level, uint32_t *trials, double *values)
{
    struct err err = {0};
    CHECK_OK(wni_level_values_update(&w->values, &w->history, &err), err);
    size_t n = wni_level_values_get(&w->values, &w->history, level, trials, values);
    size_t room = wni_level_values_room(&w->values, &w->history, level);
    CHECK(n <= room, "%zu values, room for %zu", n, room);
    return n;
}

/* ---- the rule, the long way ---- */

static bool failed(const struct history *h, uint32_t trial)
{
    const struct trial *t = &h->trials[trial];
    return t->broken || t->state == WN_FAILED || t->state == WN_TIMEOUT || t->state == WN_LOST;
}

/* The highest level at or below `resource`, counted from 1; 0: none. */
static size_t highest(const struct levels *l, double resource)
{
    size_t k = 0;
    for (size_t i = 0; i <= l->n; i++)
        if (resource > l->at[i] - 1e-6) k = i + 1;
    return k;
}

static size_t expect(const struct world *w, size_t level, uint32_t *trials, double *values)
{
    size_t n = 0, best[TRIALS_MAX] = {0};
    struct history_cursor at = {0};
    struct event e;
    while (wni_history_next(&w->history, &at, &e)) {
        if (e.kind != EVENT_REPORT) continue;
        size_t k = highest(&w->levels, e.resource);
        bool counts = k > best[e.trial];
        if (counts) best[e.trial] = k;
        if (!counts || k != level + 1 || failed(&w->history, e.trial)) continue;
        trials[n] = e.trial;
        values[n++] = e.value;
    }
    return n;
}

static void check_all(struct world *w)
{
    uint32_t trials[REPORTS_MAX], expected_trials[REPORTS_MAX];
    double values[REPORTS_MAX], expected_values[REPORTS_MAX];
    CHECK_INT(w->values.n, w->levels.n + 1);
    for (size_t k = 0; k < w->values.n; k++) {
        size_t n = get(w, k, trials, values), expected = expect(w, k, expected_trials, expected_values);
        CHECK(n == expected, "level %zu: %zu values, expected %zu", k, n, expected);
        for (size_t i = 0; i < n; i++) {
            CHECK_INT(trials[i], expected_trials[i]);
            CHECK_DOUBLE(values[i], expected_values[i]);
        }
    }
}

/* Whatever happens may happen: out of order, jumps, failures, trials that come back. */
static void something(struct world *w, struct rng *rng)
{
    static const wn_state ends[] = {WN_COMPLETE, WN_STOPPED, WN_FAILED, WN_LOST, WN_PAUSED, WN_CANCELLED};
    size_t n = w->history.n_trials;
    if (n < TRIALS_MAX && check_chance(rng, 15)) ask(w);
    if (!n) return;
    uint32_t trial = (uint32_t)wni_rng_below(rng, n);
    uint8_t state = w->history.trials[trial].state;
    if (state == WN_LOST && check_chance(rng, 50)) {
        finish(w, trial, WN_COMPLETE);
    } else if (state == WN_RUNNING && check_chance(rng, 10)) {
        finish(w, trial, ends[wni_rng_below(rng, sizeof ends / sizeof *ends)]);
    } else if (state == WN_RUNNING) {
        double r = check_chance(rng, 50) ? w->levels.at[wni_rng_below(rng, w->levels.n + 1)]
                                         : check_uniform(rng, 0.1, w->levels.at[w->levels.n] * 1.1);
        report(w, trial, r, check_chance(rng, 2) ? NAN : wni_rng_uniform(rng));
    }
}

static void values_are_those_the_rule_gives(void **state)
{
    (void)state;
    static const double ranges[][3] = {{1, 81, 3}, {1, 100, 3}, {0.1, 0.9, 3}, {5, 5, 3}, {2, 200, 2}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct world w;
            struct rng rng = wni_rng_stream(seed, i, 1);
            open_world(&w, ranges[i][0], ranges[i][1], ranges[i][2]);
            for (int step = 0; step < 800; step++) {
                something(&w, &rng);
                if (check_chance(&rng, 4)) check_all(&w);
            }
            check_all(&w);
            close_world(&w);
        }
}

/* NAS-Bench-201 reports at 12 and 200 of 200: rungs 9 (of 1, 3, 9, 27, 81) and the end. */
static void sparse_reports_count_where_they_arrive(void **state)
{
    (void)state;
    struct world w;
    uint32_t trials[4];
    double values[4];
    open_world(&w, 1, 200, 3);
    ask(&w);
    report(&w, 0, 12, 0.5);
    report(&w, 0, 200, 0.25);
    finish(&w, 0, WN_COMPLETE);
    static const size_t counts[] = {0, 0, 1, 0, 0, 1};
    for (size_t k = 0; k < 6; k++) {
        CHECK_INT(get(&w, k, trials, values), counts[k]);
        if (counts[k]) CHECK_DOUBLE(values[0], k == 2 ? 0.5 : 0.25);
    }
    CHECK_DOUBLE(wni_level_resource(&w.values, 2), 9);
    CHECK_DOUBLE(wni_level_resource(&w.values, 5), 200);
    close_world(&w);
}

static void without_levels_there_is_one_with_the_observations(void **state)
{
    (void)state;
    struct world w;
    uint32_t trials[4];
    double values[4];
    open_world(&w, 1, 1, 0);
    CHECK_INT(w.values.n, 1);
    CHECK_INT(get(&w, 0, trials, values), 0);
    for (int i = 0; i < 3; i++)
        ask(&w);
    report(&w, 1, 1, 0.5);
    report(&w, 1, 7, 0.25);
    report(&w, 2, 7, 0.125);
    finish(&w, 2, WN_COMPLETE);
    CHECK_INT(get(&w, 0, trials, values), 2);
    CHECK_INT(trials[0], 1);
    CHECK_DOUBLE(values[0], 0.25);
    w.env.partial = false;
    CHECK_INT(get(&w, 0, trials, values), 1);
    CHECK_INT(trials[0], 2);
    CHECK(isnan(wni_level_resource(&w.values, 0)), "a resource where there is none");
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_the_rule_gives),
        cmocka_unit_test(sparse_reports_count_where_they_arrive),
        cmocka_unit_test(without_levels_there_is_one_with_the_observations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
