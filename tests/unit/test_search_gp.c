/* test_search_gp.c -- the searchers gp, mob and ht: what they read off the log, that they find minima, and
 * that what they keep is bounded. */
#include "tests/contract/contract.h"

#include "bench/simrun.h"
#include "bench/tasks.h"
#include "search/gp_log.h"
#include "search/levels.h"

static void plain_space(struct space *space, size_t n)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    wni_space_init(space);
    for (size_t i = 0; i < n; i++)
        check_add(space, (struct param_decl){.name = names[i], .kind = PARAM_FLOAT, .min = 0, .max = 1});
}

/* ---- what is read off the log ---- */

static void check_against_levels(const struct rig *r)
{
    const struct history *h = &r->study.history;
    const struct gp_search *s = r->study.searcher.self;
    struct level_values v;
    struct err err = {0};
    size_t total = 0, found = 0;
    wni_level_values_init(&v, &r->study.search_env);
    CHECK_OK(wni_level_values_update(&v, h, &err), err);
    for (size_t level = 0; level < v.n; level++) {
        size_t n = wni_level_values_room(&v, h, level);
        uint32_t *trials = calloc(n + 1, sizeof *trials);
        double *values = calloc(n + 1, sizeof *values);
        n = wni_level_values_get(&v, h, level, trials, values);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < s->n_entries; k++)
                found += s->entries[k].trial == trials[i] && s->entries[k].level == level &&
                         s->entries[k].value == values[i];
        total += n;
        free(trials);
        free(values);
    }
    CHECK_INT(found, total);
    CHECK(total > 20, "only %zu values", total);
    wni_level_values_release(&v);
}

/* mob and ht count values where search/levels.h does. */
static void arrivals_are_those_of_levels(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct space space;
        plain_space(&space, 2);
        struct study_setup setup = {
            .space = &space,
            .scheduler = "asha",
            .searcher = seed % 2 ? "mob" : "ht",
            .options = {seed % 3 ? "" : "scheduler.type=promotion", "searcher.initial=1000000"},
            .seed = seed,
            .max_resource = 27};
        struct world world = {.rng = wni_rng_stream(seed, 0, 99), .workers = 4, .trouble = 20};
        struct rig r;
        rig_open(&r, &setup, &world);
        rig_run(&r, 800);
        check_against_levels(&r);
        rig_close(&r);
        wni_space_release(&space);
    }
}

/* A study of "gp" over two parameters; the space is the caller's to release. */
static void open_gp(struct rig *r, struct space *space, const char *options, uint64_t seed, unsigned workers)
{
    plain_space(space, 2);
    struct study_setup setup = {
        .space = space, .scheduler = "fifo", .searcher = "gp", .options = {options, NULL}};
    struct world world = {.rng = wni_rng_stream(seed, 0, 99), .workers = workers};
    rig_open(r, &setup, &world);
}

/* However many trials there are, so many are kept, and the best are among them. */
static void keeps_the_best_and_no_more(void **state)
{
    (void)state;
    struct space space;
    struct rig r;
    open_gp(&r, &space, "searcher.max_fit=20 searcher.refit_every=7 searcher.initial=1000000", 1, 4);
    rig_run(&r, 1000);
    const struct gp_search *s = r.study.searcher.self;
    const struct history *h = &r.study.history;
    double value;
    size_t better = 0, kept = 0;
    CHECK(s->count > 200, "only %zu arrivals", (size_t)s->count);
    CHECK(s->n_entries >= 20 && s->n_entries < 27, "%zu entries", s->n_entries);
    for (uint32_t t = 0; t < h->n_trials; t++) { /* the best 10 */
        if (!wni_search_observation(&r.study.search_env, h, t, &value)) continue;
        size_t above = 0;
        for (uint32_t u = 0; u < h->n_trials; u++) {
            double other;
            above += wni_search_observation(&r.study.search_env, h, u, &other) && other < value;
        }
        if (above >= 10) continue;
        better++;
        for (size_t i = 0; i < s->n_entries; i++)
            kept += s->entries[i].trial == t;
    }
    CHECK(better >= 10, "%zu trials", better);
    CHECK_INT(kept, better);
    rig_close(&r);
    wni_space_release(&space);
}

/* A scheduled fit is to what there was when it fell due, not to what came later. */
static void fits_fall_due_by_the_log(void **state)
{
    (void)state;
    struct space space;
    struct rig r;
    open_gp(&r, &space, "searcher.refit_from=10 searcher.refit_every=5 searcher.fit_rows=8", 2, 1);
    const struct gp_search *s = r.study.searcher.self;
    for (uint64_t due = 0; s->count < 40;) {
        rig_run(&r, 1);
        if (s->count >= 10) due = s->count - s->count % 5;
        CHECK_INT(s->noted_at, due);
        if (due) CHECK(s->n_noted == 8, "%zu rows noted", s->n_noted);
        for (size_t i = 0; i < s->n_noted; i++)
            CHECK(s->noted[i].trial < due, "trial %u was not there at %u", s->noted[i].trial, (unsigned)due);
    }
    rig_close(&r);
    wni_space_release(&space);
}

/* ---- does it find anything? ---- */

static double mean_best(const char *task, const char *method, const char *options, uint64_t trials,
                        double resource, unsigned seeds)
{
    struct task_list list;
    struct blackbox *box;
    struct err err = {0};
    double sum = 0;
    CHECK_OK(wni_tasks_find(&list, NULL, &err), err);
    CHECK_OK(wni_task_open(&list, task, &box, &err), err);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        struct sim_outcome out;
        struct sim_run run = {.box = box,
                              .method = wni_method_find(method, NULL),
                              .options = options,
                              .seed = seed,
                              .workers = 4,
                              .limits = {.trials = trials, .resource = resource}};
        CHECK_OK(wni_sim_run(&run, &out, &err), err);
        sum += out.best / seeds;
    }
    box->ops->close(box);
    wni_tasks_release(&list);
    return sum;
}

/* Regret of random search over that of the model; the margin is wide, what is seen is several times more. */
static void finds_minima(void **state)
{
    (void)state;
    static const struct {
        const char *task;
        double best;
        uint64_t trials;
        double factor;
    } cases[] = {{"branin", 0.397887, 40, 4}, {"hartmann6", -3.32237, 60, 2}, {"rosenbrock-2", 0, 40, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double blind = mean_best(cases[i].task, "rs", NULL, cases[i].trials, 0, 4) - cases[i].best;
        double gp = mean_best(cases[i].task, "gp", NULL, cases[i].trials, 0, 4) - cases[i].best;
        CHECK(gp * cases[i].factor < blind, "%s: regret %g, random %g", cases[i].task, gp, blind);
    }
}

/* In memory, over n parameters. */
static void open_study(struct study *study, size_t n, struct study_setup setup)
{
    struct space space;
    struct store store;
    struct err err = {0};
    plain_space(&space, n);
    setup.space = &space;
    CHECK_OK(wni_store_open(&store, "memory:", "s", &space, &err), err);
    CHECK_OK(wni_study_open(study, &setup, &store, &err), err);
    wni_space_release(&space);
}

/* Curves that fall towards a bowl in four parameters; the best after 600 units of resource, one worker. */
static double best_of_curves(const char *searcher, uint64_t seed)
{
    struct study study;
    struct err err = {0};
    double best = INFINITY;
    open_study(
        &study, 4,
        (struct study_setup){.scheduler = "asha", .searcher = searcher, .seed = seed, .max_resource = 27});
    while (study.history.total_resource < 600) {
        struct handout job;
        wn_decision next = WN_CONTINUE;
        double bowl = 0;
        CHECK_OK(wni_study_ask(&study, 0, &job, &err), err);
        for (size_t i = 0; i < 4; i++)
            bowl += (job.config[i] - 0.2 * (double)(i + 1)) * (job.config[i] - 0.2 * (double)(i + 1));
        for (double r = 1; r <= 27 && next == WN_CONTINUE; r++) {
            CHECK_OK(wni_study_report(&study, job.trial, r, bowl + 0.5 / r, 0, &next, &err), err);
            if (r == 27) best = fmin(best, bowl);
        }
        CHECK_OK(wni_study_finish(&study, job.trial, WN_COMPLETE, 0, &err), err);
    }
    wni_study_release(&study);
    return best;
}

static void multi_fidelity_beats_asha(void **state)
{
    (void)state;
    static const char *const searchers[] = {"random", "gp", "mob", "ht"};
    double best[4] = {0};
    for (size_t i = 0; i < 4; i++)
        for (uint64_t seed = 0; seed < 3; seed++)
            best[i] += best_of_curves(searchers[i], seed) / 3;
    for (size_t i = 1; i < 4; i++)
        CHECK(best[i] < 0.5 * best[0], "%s: %g, random %g", searchers[i], best[i], best[0]);
}

/* With the answer nearly known, the next trial is near the minimum or where nothing is known. */
static void proposes_where_it_is_good(void **state)
{
    (void)state;
    struct study study;
    struct err err = {0};
    open_study(&study, 1, (struct study_setup){.scheduler = "fifo", .searcher = "gp"});
    size_t near = 0;
    for (int i = 0; i < 25; i++) {
        struct handout job;
        wn_decision decision;
        CHECK_OK(wni_study_ask(&study, 0, &job, &err), err);
        double x = job.config[0];
        near += i >= 10 && fabs(x - 0.3) < 0.1;
        CHECK_OK(wni_study_report(&study, job.trial, 1, (x - 0.3) * (x - 0.3), 0, &decision, &err), err);
        CHECK_OK(wni_study_finish(&study, job.trial, WN_COMPLETE, 0, &err), err);
    }
    CHECK(near >= 10, "%zu of 15 proposals near the minimum", near);
    wni_study_release(&study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_are_those_of_levels), cmocka_unit_test(keeps_the_best_and_no_more),
        cmocka_unit_test(fits_fall_due_by_the_log),     cmocka_unit_test(finds_minima),
        cmocka_unit_test(multi_fidelity_beats_asha),    cmocka_unit_test(proposes_where_it_is_good),
    };
    return cmocka_run_group_tests_name("search_gp", tests, NULL, NULL);
}
