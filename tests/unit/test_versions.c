/* test_versions.c -- a study that gets another setup while it goes on: in one process, in two that share a
 * file, after it was closed, and when somebody has tampered with it. */
#include "tests/contract/contract.h"

#include "tuner/replay.h"
#include "tuner/rows.h"

#include <sqlite3.h>

static char folder[CHECK_PATH_MAX], path[CHECK_PATH_MAX + 32], url[CHECK_PATH_MAX + 64];
static struct err err;
static struct space narrow, wide;

/* x grows, w gets another value; n stays. */
static void make_space(struct space *space, double max, size_t words)
{
    static const char *const labels[] = {"a", "b", "c", "d"};
    const struct param_decl decls[] = {
        {.name = "x", .kind = PARAM_FLOAT, .min = 0, .max = max},
        {.name = "n", .kind = PARAM_INT, .min = 1, .max = 99},
        {.name = "w", .kind = PARAM_CATEGORICAL, .labels = labels, .n_labels = words},
    };
    wni_space_init(space);
    for (size_t i = 0; i < 3; i++)
        check_add(space, decls[i]);
}

static int set_up(void **state)
{
    (void)state;
    check_tmp_make(folder);
    snprintf(path, sizeof path, "%s/store.db", folder);
    snprintf(url, sizeof url, "sqlite:///%s", path);
    make_space(&narrow, 1, 3);
    make_space(&wide, 1000, 4);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wni_space_release(&narrow);
    wni_space_release(&wide);
    check_tmp_remove(folder);
    return 0;
}

static struct study_setup setup_of(const struct space *space)
{
    return (struct study_setup){.space = space,
                                .scheduler = "asha",
                                .searcher = "rea",
                                .options = {"searcher.population=3 searcher.sample=2"},
                                .max_resource = 9,
                                .seed = 5,
                                .metric = "loss",
                                .resource = "epoch",
                                .file = "stop: {trials: 5}"};
}

static wn_status try_open(struct study *s, const struct study_setup *setup)
{
    struct store store;
    wn_status st = wni_store_open(&store, url, "s", setup->space, &err);
    return st ? st : wni_study_open(s, setup, &store, &err);
}

static void open_study(struct study *s, const struct space *space)
{
    struct study_setup setup = setup_of(space);
    CHECK_OK(try_open(s, &setup), err);
}

/* As every command does that only knows a name. */
static wn_status open_as_stored(struct study *s)
{
    struct stored_setup stored;
    char *json;
    CHECK_OK(wni_store_setup(url, "s", &json, &err), err);
    CHECK_OK(wni_setup_read(&stored, json, NULL, &err), err);
    free(json);
    wn_status st = try_open(s, &stored.setup);
    wni_setup_release(&stored);
    return st;
}

static void run_trials(struct study *s, int n)
{
    struct handout job;
    wn_decision next = WN_CONTINUE;
    for (int i = 0; i < n; i++) {
        CHECK_OK(wni_study_ask(s, i, &job, &err), err);
        next = WN_CONTINUE;
        for (int r = (int)job.resumed_from + 1; r <= 9 && next == WN_CONTINUE; r++)
            CHECK_OK(wni_study_report(s, job.trial, r, -job.config[0] + 1.0 / r, i, &next, &err), err);
        CHECK_OK(wni_study_finish(s, job.trial, WN_COMPLETE, i, &err), err);
    }
}

static void change(struct study *s, const struct space *space, const char *file, bool expected)
{
    struct study_setup to = setup_of(space);
    bool changed;
    to.file = file;
    CHECK_OK(wni_study_change(s, &to, 7, &changed, &err), err);
    CHECK_INT(changed, expected);
}

static double largest_x(const struct study *s, size_t from)
{
    double most = -INFINITY;
    for (size_t t = from; t < s->history.n_trials; t++)
        most = fmax(most, wni_history_config(&s->history, (uint32_t)t)[0]);
    return most;
}

static void check_replay(const struct study *s)
{
    struct study_setup setup = setup_of(&narrow);
    struct replay r;
    double proposal[3];
    CHECK_OK(wni_replay(s, &setup, &r, proposal, NULL, NULL, &err), err);
    CHECK(r.differs == TRIAL_NONE, "trial %u differs", r.differs);
    CHECK_INT(r.proposals, s->history.n_trials);
}

/* ---- one process ---- */

static void the_wider_range_is_searched(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, &narrow);
    run_trials(&s, 12);
    CHECK_INT(s.n_versions, 1);
    double best = s.history.best_value;
    uint64_t before = s.history.n_events;
    double old[3];
    memcpy(old, wni_history_config(&s.history, 4), sizeof old);
    change(&s, &wide, "stop: {trials: 50}", true);
    CHECK_INT(s.n_versions, 2);
    CHECK_INT(s.versions[1]->since, before + 1);
    CHECK_INT(s.history.n_events, before + 1);
    CHECK_DOUBLE(s.space.params[0].max, 1000);
    CHECK_DOUBLE(s.history.best_value, best);
    CHECK_INT(memcmp(old, wni_history_config(&s.history, 4), sizeof old), 0);
    CHECK(largest_x(&s, 0) <= 1, "%g", largest_x(&s, 0));
    run_trials(&s, 40);
    CHECK(largest_x(&s, 12) > 100, "%g", largest_x(&s, 12));
    bool found = false;
    for (uint32_t t = 12; t < s.history.n_trials; t++)
        found = found || wni_history_config(&s.history, t)[2] == 3;
    assert_true(found);
    check_replay(&s);
    wni_study_release(&s);
}

static void nothing_new_is_no_event(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, &narrow);
    run_trials(&s, 3);
    size_t n = s.history.n_events;
    change(&s, &narrow, "stop: {trials: 5}", false);
    CHECK_INT(s.history.n_events, n);
    change(&s, &narrow, "stop: {trials: 6}", true); /* another limit: for the one who runs it */
    change(&s, &narrow, "stop: {trials: 6}", false);
    CHECK_INT(s.history.n_events, n + 1);
    CHECK_TEXT(wni_study_setup(&s)->file, "stop: {trials: 6}");
    CHECK_TEXT(s.versions[0]->stored.setup.file, "stop: {trials: 5}");
    run_trials(&s, 3);
    check_replay(&s);
    wni_study_release(&s);
}

static void what_makes_the_study_stays(void **state)
{
    (void)state;
    static const char tail[] =
        "; this stays as it is: start a new study and bring the trials along with 'winnow import'";
    struct study s;
    open_study(&s, &narrow);
    run_trials(&s, 3);
    size_t n = s.history.n_events;
    struct study_setup to[9];
    for (size_t i = 0; i < 9; i++)
        to[i] = setup_of(&wide);
    to[0].seed = 6;
    to[1].goal = WN_MAXIMIZE;
    to[2].scheduler = "fifo";
    to[3].searcher = "random";
    to[4].options[0] = "searcher.population=4 searcher.sample=2";
    to[5].min_resource = 2;
    to[6].max_resource = 27;
    to[7].metric = "accuracy";
    to[8].resource = "step";
    static const char *const says[] = {"seed 5, not 6",
                                       "goal 'minimize', not 'maximize'",
                                       "scheduler 'asha', not 'fifo'",
                                       "searcher 'rea', not 'random'",
                                       "options 'searcher.population=3 searcher.sample=2', not "
                                       "'searcher.population=4 searcher.sample=2'",
                                       "smallest resource 1, not 2",
                                       "largest resource 9, not 27",
                                       "metric 'loss', not 'accuracy'",
                                       "resource 'epoch', not 'step'"};
    for (size_t i = 0; i < 9; i++) {
        bool changed = true;
        char expected[WN_WHY_MAX];
        snprintf(expected, sizeof expected, "the stored study was created with %s%s", says[i], tail);
        CHECK_INT(wni_study_change(&s, &to[i], 0, &changed, &err), WN_EINVAL);
        CHECK_TEXT(err.text, expected);
        CHECK_INT(changed, false);
    }
    CHECK_INT(s.history.n_events, n);
    CHECK_INT(s.n_versions, 1);
    run_trials(&s, 1); /* and nobody holds the lock */
    wni_study_release(&s);
}

/* ---- opened again ---- */

static void opened_again_it_is_the_same(void **state)
{
    (void)state;
    struct study s, again;
    struct space wider;
    make_space(&wider, 5000, 4);
    open_study(&s, &narrow);
    run_trials(&s, 9);
    change(&s, &wide, "stop: {trials: 20}", true);
    run_trials(&s, 5);
    change(&s, &wider, "stop: {trials: 30}", true);
    run_trials(&s, 9);
    CHECK_OK(open_as_stored(&again), err);
    check_same_log(&again.history, &s.history);
    CHECK_INT(again.n_versions, 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(again.versions[i]->since, s.versions[i]->since);
        CHECK_TEXT(again.versions[i]->stored.setup.file, s.versions[i]->stored.setup.file);
    }
    double a[3], b[3];
    uint32_t next = (uint32_t)s.history.n_trials;
    CHECK_OK(s.searcher.ops->suggest(s.searcher.self, &s.history, next, a, &err), err);
    CHECK_OK(again.searcher.ops->suggest(again.searcher.self, &again.history, next, b, &err), err);
    CHECK_INT(memcmp(a, b, sizeof a), 0);
    check_replay(&again);
    size_t wrong;
    CHECK_OK(wni_rows_repair(&again, url, "s", &wrong, &err), err);
    CHECK_INT(wrong, 0);
    wni_study_release(&again);
    wni_study_release(&s);
    wni_space_release(&wider);
}

static void a_program_with_the_old_space_is_told(void **state)
{
    (void)state;
    struct study s, again;
    open_study(&s, &narrow);
    run_trials(&s, 2);
    change(&s, &wide, "", true);
    struct study_setup old = setup_of(&narrow), new = setup_of(&wide);
    CHECK_INT(try_open(&again, &old), WN_EINVAL);
    CHECK(strstr(err.text, "\"max\": 1000}}, not {\"x\""), "'%s'", err.text);
    CHECK_OK(try_open(&again, &new), err);
    wni_study_release(&again);
    old.adopts = true; /* it was looked up before the change */
    CHECK_OK(try_open(&again, &old), err);
    CHECK_DOUBLE(again.space.params[0].max, 1000);
    wni_study_release(&again);
    wni_study_release(&s);
}

/* ---- two processes ---- */

/* A proposal is of the setup that holds when it is written. */
static void check_order(const struct history *h)
{
    struct history_cursor at = {0};
    struct event e;
    size_t setup = 0;
    while (wni_history_next(h, &at, &e)) {
        if (e.kind == EVENT_SETUP) setup = at.event;
        if (e.kind == EVENT_ASK && !e.queued)
            CHECK(e.saw >= setup, "trial %u saw %zu events, the setup is number %zu", e.trial, (size_t)e.saw,
                  setup);
    }
}

static void others_adopt_it(void **state)
{
    (void)state;
    struct study one, two;
    struct handout job;
    wn_decision next;
    open_study(&one, &narrow);
    open_study(&two, &narrow);
    run_trials(&one, 4);
    run_trials(&two, 4);
    CHECK_OK(wni_study_ask(&two, 0, &job, &err), err);
    change(&one, &wide, "", true);
    CHECK_OK(wni_study_report(&two, job.trial, 1, 0.5, 0, &next, &err), err); /* which it was not told of */
    CHECK_INT(two.n_versions, 2);
    CHECK_DOUBLE(two.space.params[0].max, 1000);
    CHECK_OK(wni_study_finish(&two, job.trial, WN_COMPLETE, 0, &err), err);
    run_trials(&two, 20);
    run_trials(&one, 5);
    CHECK_OK(wni_study_sync(&two, 0, &err), err);
    check_same_log(&one.history, &two.history);
    CHECK(largest_x(&two, 9) > 100, "%g", largest_x(&two, 9));
    check_order(&one.history);
    check_replay(&two);
    double old[] = {0.5, 7, 2};
    change(&one, &wide, "again", true);
    CHECK_OK(wni_study_enqueue(&two, old, 0, &err), err);
    CHECK_INT(two.n_versions, 3);
    wni_study_release(&one);
    wni_study_release(&two);
}

/* Somebody changes the setup while a proposal is being made: it is made again. */
static struct study *meanwhile;

static wn_status suggest_slowly(void *self, const struct history *h, uint32_t trial, double *config,
                                struct err *why)
{
    struct study *other = meanwhile;
    meanwhile = NULL;
    if (other) change(other, &wide, "", true);
    return wni_searcher_find("rea", NULL)->suggest(self, h, trial, config, why);
}

static void a_proposal_that_was_overtaken_is_made_again(void **state)
{
    (void)state;
    struct study one, two;
    struct handout job;
    open_study(&one, &narrow);
    open_study(&two, &narrow);
    run_trials(&one, 8);
    struct searcher_ops slow = *two.searcher.ops;
    slow.suggest = suggest_slowly;
    two.searcher.ops = &slow;
    meanwhile = &one;
    CHECK_OK(wni_study_ask(&two, 0, &job, &err), err);
    CHECK_INT(two.n_versions, 2);
    CHECK_INT(two.history.trials[job.trial].saw, two.history.n_events - 1);
    CHECK_OK(wni_study_sync(&one, 0, &err), err);
    check_order(&one.history);
    check_replay(&one);
    wni_study_release(&one);
    wni_study_release(&two);
}

/* ---- tampered with ---- */

static void sql(const char *text)
{
    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void a_log_that_narrows_is_refused(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, &narrow);
    run_trials(&s, 3);
    change(&s, &wide, "", true);
    wni_study_release(&s);
    sql("DROP TRIGGER setups_stay; UPDATE setups SET setup = replace(setup, '1000', '0.5') WHERE since > 0");
    CHECK_INT(open_as_stored(&s), WN_ESTORE);
    CHECK(strstr(err.text, "of the stored log: parameter 'x': the range can only grow"), "'%s'", err.text);
    sql("DROP TRIGGER setups_remain; DELETE FROM setups WHERE since > 0");
    CHECK_INT(open_as_stored(&s), WN_ESTORE);
    CHECK(strstr(err.text, "the setup of event"), "'%s'", err.text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_wider_range_is_searched),
        TEST(nothing_new_is_no_event),
        TEST(what_makes_the_study_stays),
        TEST(opened_again_it_is_the_same),
        TEST(a_program_with_the_old_space_is_told),
        TEST(others_adopt_it),
        TEST(a_proposal_that_was_overtaken_is_made_again),
        TEST(a_log_that_narrows_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
