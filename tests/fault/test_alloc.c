/* test_alloc.c -- any allocation may fail: no leak, no crash, no lie.
 *
 * A scenario is run again and again, with its first allocation failing, then its second, and so on until it
 * gets by without a failure; once with a single failure and once with memory gone for good.  It may succeed
 * or say WN_ENOMEM, and it must leave as many blocks alive as there were before.
 *
 * A study must also go on as if nothing had happened: the call that failed is repeated, and at the end the
 * log is that of a study which never ran out of memory. */
#include "tests/contract/contract.h"

#include "analysis/effects.h"
#include "analysis/importance.h"
#include "api/api_int.h"
#include "bench/simrun.h"
#include "bench/tasks.h"
#include "studyfile/studyfile.h"
#include "tests/api_space.h"
#include "tests/fault/alloc.h"
#include "tuner/replay.h"

#include <stdalign.h>

/* ---- the torture ---- */

struct scenario {
    wn_status (*run)(const void *subject);
    const void *subject;
    wn_status expected; /* when no allocation fails */
    size_t at_least;    /* allocations: proof that something is tortured */
};

static void torture(const struct scenario *s)
{
    for (int mode = ALLOC_ONCE; mode <= ALLOC_FROM; mode++)
        for (size_t k = 0;; k++) {
            size_t before = alloc_live();
            alloc_fail_at(k, (enum alloc_mode)mode);
            wn_status st = s->run(s->subject);
            alloc_fail_never();
            CHECK(alloc_live() == before, "allocation %zu failed, mode %d: %zu blocks alive, %zu before", k,
                  mode, alloc_live(), before);
            CHECK(st == s->expected || (alloc_failed() && st == WN_ENOMEM),
                  "allocation %zu failed, mode %d: status %d", k, mode, st);
            if (alloc_failed()) continue;
            CHECK(k >= s->at_least, "it takes only %zu allocations", k);
            break;
        }
}

/* ---- spaces and documents ---- */

static wn_space *build_space(void)
{
    int failed; /* some may: the space remembers it */
    return api_space_new(&failed);
}

/* What is written is whole or not there. */
static wn_status write_space(const wn_space *space)
{
    char *text;
    wn_status st = wn_space_to_json(space, &text);
    if (st)
        assert_null(text);
    else
        CHECK_TEXT(text, api_space_json);
    wn_string_free(text);
    return st;
}

/* A mistake of a chain of calls is remembered, running out of memory too. */
static wn_status build_and_write(const void *subject)
{
    (void)subject;
    wn_space *space = build_space();
    if (!space) return WN_ENOMEM;
    wn_study *study;
    wn_status st = wn_study_open("memory:", "s", space, NULL, &study, NULL);
    if (*wn_space_error(space)) {
        CHECK_INT(st, WN_ENOMEM);
        CHECK_TEXT(wn_space_error(space), "out of memory");
    }
    wn_study_close(study);
    if (!st) st = write_space(space);
    wn_space_free(space);
    return st;
}

static wn_status read_and_write(const void *subject)
{
    wn_space *space;
    char why[WN_WHY_MAX] = "";
    wn_status st = wn_space_from_json(subject, &space, why);
    if (st == WN_ENOMEM) CHECK_TEXT(why, "out of memory");
    if (st)
        assert_null(space);
    else
        st = write_space(space);
    wn_space_free(space);
    return st;
}

static void spaces(void **state)
{
    (void)state;
    torture(&(struct scenario){build_and_write, .at_least = 20});
    torture(&(struct scenario){read_and_write, api_space_json, .at_least = 15});
    torture(&(struct scenario){read_and_write,
                               "{\"x\": {\"type\": \"flaot\", \"min\": []}, \"y\": 1, \"z\": []}",
                               .expected = WN_EINVAL, .at_least = 5});
    torture(&(struct scenario){read_and_write, "{\"x\": ", .expected = WN_EINVAL, .at_least = 1});
}

static wn_status read_with_jansson_failing(const void *subject)
{
    wn_space *space;
    alloc_fail_json();
    wn_status st = wn_space_from_json(subject, &space, NULL);
    alloc_count_json();
    wn_space_free(space);
    return st == WN_EINVAL ? WN_ENOMEM : st; /* see alloc.h */
}

static void json_itself(void **state)
{
    (void)state;
    torture(&(struct scenario){read_with_jansson_failing, api_space_json, .at_least = 150});
}

static const char study_text[] = "name: mlp\n"
                                 "command: ./train --lr {lr} --units {units}\n"
                                 "metric: {name: loss, goal: minimize}\n"
                                 "resource: {name: epoch, min: 1, max: 81}\n"
                                 "parameters:\n"
                                 "  lr: {type: float, min: 1.0e-5, max: 0.1, scale: log}\n"
                                 "  units: {type: int, min: 16, max: 512, scale: log}\n"
                                 "  activation: [relu, tanh]\n"
                                 "  epochs: 10\n"
                                 "method: asha\n"
                                 "workers: 4\n"
                                 "stop: {trials: 200, time: 2h, resource: 20000}\n"
                                 "seed: 7\n"
                                 "trial: {timeout: 30m, retries: 1, grace: 10s}\n";

static const char wrong_study_text[] = "nmae: mlp\n"
                                       "command: [./train, {}]\n"
                                       "metric: loss\n"
                                       "resource: {name: epoch, min: 90, max: 81}\n"
                                       "parameters:\n"
                                       "  lr: {type: float, min: 1, max: 0.1, scale: logg}\n"
                                       "  lr2: {type: flot}\n"
                                       "method: ahsa\n"
                                       "workers: many\n";

static wn_status read_study_file(const void *subject)
{
    struct document doc;
    struct studyfile study = {0};
    struct problems problems = {0};
    struct buf text = {0};
    struct err err = {0};
    wn_status st = wni_yaml_parse(&doc, "study.yaml", subject, strlen(subject), &err);
    if (!st) st = wni_studyfile_read(&study, &doc, &problems);
    if (st == WN_EINVAL) CHECK(problems.n > 4, "only %zu problems", problems.n);
    wni_problems_write(&problems, &text);
    wni_buf_release(&text);
    wni_problems_release(&problems);
    wni_studyfile_release(&study);
    wni_document_release(&doc);
    return st;
}

static void study_files(void **state)
{
    (void)state;
    torture(&(struct scenario){read_study_file, study_text, .at_least = 15});
    torture(&(struct scenario){read_study_file, wrong_study_text, .expected = WN_EINVAL, .at_least = 10});
}

/* ---- tasks and simulated runs ---- */

/* Lists everything, opens one and reads a curve. */
static wn_status list_and_open(const void *subject)
{
    struct task_list list;
    struct blackbox *box = NULL;
    struct err err = {0};
    wn_status st = wni_tasks_find(&list, "data", &err);
    if (!st) {
        CHECK(list.n_warnings == 0, "%s", list.warnings[0]); /* a lack of memory is not a broken folder */
        st = wni_task_open(&list, subject, &box, &err);
        CHECK((box != NULL) == (st == WN_OK), "status %d and box %p", st, (void *)box);
    }
    wni_tasks_release(&list);
    if (box) {
        double config[16], value, seconds;
        alignas(max_align_t) unsigned char curve[4096] = {0};
        struct rng rng = wni_rng_stream(1, 1, 1);
        CHECK(box->space.n <= 16 && box->curve_size <= sizeof curve,
              "the box is larger than the test thinks");
        wni_config_sample(&box->space, &rng, config);
        st = box->ops->open_curve(box, config, 0, curve, &err);
        if (!st) box->ops->read_curve(box, curve, 0, &value, &seconds);
        box->ops->close(box);
    }
    return st;
}

static void tasks(void **state)
{
    (void)state;
    torture(&(struct scenario){list_and_open, "branin", .at_least = 10});
    torture(&(struct scenario){list_and_open, "synthetic-curves", .at_least = 10});
    torture(&(struct scenario){list_and_open, "no-such-task", .expected = WN_ENOTFOUND, .at_least = 5});
    struct task_list list;
    struct err err = {0};
    CHECK_OK(wni_tasks_find(&list, "data", &err), err);
    bool there = wni_tasks_get(&list, "digits-mlp");
    wni_tasks_release(&list);
    if (there)
        torture(&(struct scenario){list_and_open, "digits-mlp", .at_least = 20});
    else
        print_message("# skip: task digits-mlp is not there\n");
}

struct simulation {
    const struct method *method;
    const struct blackbox *box;
};

static wn_status simulate(const void *subject)
{
    const struct simulation *s = subject;
    struct err err = {0};
    struct sim_outcome out;
    struct sim_run run = {.box = s->box,
                          .method = s->method,
                          .seed = 1,
                          .workers = 3,
                          .limits = {.trials = 30, .reports = 200}};
    run.options = brisk_options(s->method->searcher);
    return wni_sim_run(&run, &out, &err);
}

static void simulated_run(void **row)
{
    static const char *const names[] = {"branin", "synthetic-curves"};
    struct task_list list;
    struct err err = {0};
    CHECK_OK(wni_tasks_find(&list, NULL, &err), err);
    for (int i = 0; i < 2; i++) {
        struct blackbox *box;
        CHECK_OK(wni_task_open(&list, names[i], &box, &err), err);
        torture(&(struct scenario){simulate, &(struct simulation){*row, box}, .at_least = 20});
        box->ops->close(box);
    }
    wni_tasks_release(&list);
}

/* ---- a study that runs out of memory and goes on ---- */

/* Repeats a call that ran out of memory, with memory back. */
#define INSIST(call)                                                                                         \
    do {                                                                                                     \
        wn_status insist_status = (call);                                                                    \
        if (insist_status == WN_ENOMEM) {                                                                    \
            assert_true(alloc_failed());                                                                     \
            alloc_fail_never();                                                                              \
            insist_status = (call);                                                                          \
        }                                                                                                    \
        CHECK(insist_status == WN_OK, "%s gave %d", #call, insist_status);                                   \
    } while (0)

enum { ROUNDS = 40, HANDS = 4 };

static wn_study *insist_on_study(const struct method *method, const wn_space *space)
{
    wn_study_options o = WN_STUDY_OPTIONS_INIT;
    o.method = method->name;
    o.options = brisk_options(method->searcher);
    o.seed = 11;
    o.max_resource = 9;
    wn_study *study;
    INSIST(wn_study_open("memory:", "tortured", space, &o, &study, NULL));
    return study;
}

/* Texts are whole or not there. */
static void look_at(wn_trial *trial)
{
    const char *json = wn_trial_json(trial), *text = wn_trial_string(trial, "activation");
    if (!json || !text) {
        assert_true(alloc_failed());
        alloc_fail_never();
        json = wn_trial_json(trial);
        text = wn_trial_string(trial, "activation");
    }
    CHECK(json && json[0] == '{' && json[strlen(json) - 1] == '}', "json '%s'", json);
    CHECK(text && strlen(text) == 4, "activation '%s'", text);
}

/* Up to three reports and the end. */
static void work(wn_trial *trial, int round)
{
    wn_decision next = WN_CONTINUE;
    double at = wn_trial_resumed_from(trial), lr = wn_trial_float(trial, "lr");
    look_at(trial);
    for (int i = 0; i < 3 && next == WN_CONTINUE; i++) {
        at++;
        double value = round % 9 == 8 ? NAN : lr + wn_trial_float(trial, "dropout") / at;
        INSIST(wn_trial_report(trial, at, value, &next));
    }
    INSIST(wn_trial_finish(trial, round % 7 == 6 ? WN_FAILED : WN_COMPLETE));
}

static void run_study(wn_study *study)
{
    wn_trial *hands[HANDS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        wn_trial **hand = &hands[round % HANDS];
        if (*hand) work(*hand, round);
        if (round % 10 == 5) INSIST(wn_study_enqueue(study, "{\"lr\": 0.001, \"activation\": \"tanh\"}"));
        INSIST(wn_study_ask(study, hand));
        assert_non_null(*hand);
    }
    work(hands[0], 0); /* the others are in hand when the study is closed */
}

static void study_goes_on(void **row)
{
    wn_space *space = build_space();
    size_t before = alloc_live();
    wn_study *calm = insist_on_study(*row, space);
    run_study(calm);
    size_t n = calm->study.history.n_events;
    CHECK(n > 2 * ROUNDS, "only %zu events", n);
    for (int mode = ALLOC_ONCE; mode <= ALLOC_FROM; mode++)
        for (size_t k = 0;; k++) {
            alloc_fail_at(k, (enum alloc_mode)mode);
            wn_study *study = insist_on_study(*row, space);
            run_study(study);
            bool failed = alloc_failed();
            alloc_fail_never();
            check_same_log(&study->study.history, &calm->study.history);
            wn_study_close(study);
            if (failed) continue;
            CHECK(k > 60, "it takes only %zu allocations", k);
            break;
        }
    wn_study_close(calm);
    CHECK_INT(alloc_live(), before);
    wn_space_free(space);
}

/* ---- parts that are opened and released without ever being used ---- */

static wn_status open_searcher(const void *subject)
{
    struct searcher s;
    struct err err = {0};
    struct space space;
    wni_space_init(&space);
    wn_status st =
        wni_space_add(&space, &(struct param_decl){.name = "x", .kind = PARAM_INT, .max = 9}, &err);
    struct search_env env = {.space = &space, .partial = true};
    if (!st) {
        st = wni_searcher_open(&s, subject, NULL, &env, &err);
        wni_searcher_release(&s);
    }
    wni_space_release(&space);
    return st;
}

static wn_status open_scheduler(const void *subject)
{
    struct scheduler s;
    struct err err = {0};
    struct sched_env env = {.min_resource = 1, .max_resource = 81};
    wn_status st = wni_scheduler_open(&s, subject, "scheduler.no=1", &env, &err);
    CHECK(st == WN_EINVAL || st == WN_ENOMEM, "status %d", st);
    st = wni_scheduler_open(&s, subject, NULL, &env, &err);
    wni_scheduler_release(&s);
    return st;
}

/* ---- looking back ---- */

static const struct study_setup looked_at = {
    .scheduler = "fifo", .searcher = "cqr", .options = {"searcher.trees=3 searcher.candidates=20"}};

static wn_status replay_it(const void *subject)
{
    const struct study *s = subject;
    struct replay r;
    struct err err;
    double proposal[16];
    wn_status st = wni_replay(s, &looked_at, &r, proposal, NULL, NULL, &err);
    if (!st) CHECK_INT(r.differs, TRIAL_NONE);
    return st;
}

static wn_status weigh_it(const void *subject)
{
    const struct study *s = subject;
    double out[16];
    struct err err;
    return wni_importance(&s->space, s->history.configs, s->history.values, s->history.n_trials, 0.2, out,
                          &err);
}

static wn_status move_it(const void *subject)
{
    const struct study *s = subject;
    double out[16];
    struct err err;
    return wni_effects(&s->space, s->history.configs, s->history.values, s->history.n_trials, out, &err);
}

/* With all its parameters as they are: the work is the same. */
static wn_status widen_it(const void *subject)
{
    struct err err;
    struct space out;
    wn_status st = wni_space_widen(&out, subject, subject, &err);
    if (!st) CHECK_INT(out.n, ((const struct space *)subject)->n);
    if (!st) wni_space_release(&out);
    return st;
}

static void looking_back(void **state)
{
    (void)state;
    struct err err;
    struct store store;
    struct study s;
    wn_space *space = build_space();
    struct study_setup setup = looked_at;
    setup.space = &space->space;
    CHECK_OK(wni_store_open(&store, "memory:", "s", setup.space, &err), err);
    CHECK_OK(wni_study_open(&s, &setup, &store, &err), err);
    for (int i = 0; i < 12; i++) {
        struct handout job;
        wn_decision ignored;
        CHECK_OK(wni_study_ask(&s, 0, &job, &err), err);
        CHECK_OK(wni_study_report(&s, job.trial, 1, job.config[0], 0, &ignored, &err), err);
        CHECK_OK(wni_study_finish(&s, job.trial, WN_COMPLETE, 0, &err), err);
    }
    bool changed;
    setup.file = "another";
    CHECK_OK(wni_study_change(&s, &setup, 0, &changed, &err), err);
    torture(&(struct scenario){replay_it, &s, .at_least = 30});
    torture(&(struct scenario){widen_it, &space->space, .at_least = 10});
    torture(&(struct scenario){weigh_it, &s, .at_least = 3});
    torture(&(struct scenario){move_it, &s, .at_least = 3});
    wni_study_release(&s);
    wn_space_free(space);
}

static void unused_parts(void **state)
{
    (void)state;
    for (size_t i = 0; i < wni_searcher_count(); i++)
        torture(&(struct scenario){open_searcher, wni_searcher_at(i), .at_least = 2});
    for (size_t i = 0; i < wni_scheduler_count(); i++)
        torture(&(struct scenario){open_scheduler, wni_scheduler_at(i), .at_least = 1});
}

/* The tool itself: a test that counts must be able to count. */
static void the_allocator_counts(void **state)
{
    (void)state;
    size_t before = alloc_live();
    void *blocks[300];
    for (int i = 0; i < 300; i++)
        assert_non_null(blocks[i] = malloc(8));
    CHECK_INT(alloc_live(), before + 300);
    assert_non_null(blocks[0] = realloc(blocks[0], 100000));
    CHECK_INT(alloc_live(), before + 300);
    alloc_fail_at(1, ALLOC_ONCE);
    void *volatile first = malloc(1), *volatile second = malloc(1),
                   *volatile third = calloc(1, 1); /* not optimised out */
    assert_true(first && !second && third && alloc_failed());
    alloc_fail_at(0, ALLOC_FROM);
    second = realloc(blocks[0], 10);
    assert_null(second);
    second = malloc(1);
    assert_null(second);
    alloc_fail_never();
    CHECK_INT(alloc_live(), before + 302);
    free(first);
    free(third);
    for (int i = 0; i < 300; i++)
        free(blocks[(i * 7) % 300]);
    free(NULL);
    CHECK_INT(alloc_live(), before);
}

static const struct property properties[] = {
    {"simulated run", simulated_run},
    {"study goes on", study_goes_on},
};

static const char *name_at(size_t i)
{
    return wni_method_at(i)->name;
}

static const void *row_at(size_t i)
{
    return wni_method_at(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_allocator_counts), cmocka_unit_test(spaces), cmocka_unit_test(json_itself),
        cmocka_unit_test(study_files),          cmocka_unit_test(tasks),  cmocka_unit_test(unused_parts),
        cmocka_unit_test(looking_back)};
    alloc_count_json();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + contract_run("methods", properties, sizeof properties / sizeof *properties,
                                 wni_method_count(), name_at, row_at);
}
