/* test_sqlite.c -- no memory while a SQLite store is used: ours and SQLite's own allocations fail in turn.  A
 * call either happened or did not, says so, and can be repeated. */
#include "tests/check.h"
#include "tests/fault/alloc.h"

#include "tuner/study.h"

#include <sqlite3.h>

static char folder[CHECK_PATH_MAX], url[CHECK_PATH_MAX + 64];
static struct space space;

/* ---- SQLite's memory from our allocator; it wants to know sizes ---- */

static void *sqlite_malloc(int n)
{
    size_t *block = __wrap_malloc((size_t)n + sizeof(double));
    if (!block) return NULL;
    *block = (size_t)n;
    return (char *)block + sizeof(double);
}

static void sqlite_free(void *p)
{
    if (p) __wrap_free((char *)p - sizeof(double));
}

static int sqlite_size(void *p)
{
    return p ? (int)*(size_t *)(void *)((char *)p - sizeof(double)) : 0;
}

static void *sqlite_realloc(void *p, int n)
{
    size_t *block = __wrap_realloc((char *)p - sizeof(double), (size_t)n + sizeof(double));
    if (!block) return NULL;
    *block = (size_t)n;
    return (char *)block + sizeof(double);
}

static int sqlite_round(int n)
{
    return (n + 7) & ~7;
}

static int sqlite_start(void *context)
{
    (void)context;
    return SQLITE_OK;
}

static void sqlite_stop(void *context)
{
    (void)context;
}

static void use_our_allocator(void)
{
    static sqlite3_mem_methods methods = {sqlite_malloc, sqlite_free,  sqlite_realloc, sqlite_size,
                                          sqlite_round,  sqlite_start, sqlite_stop,    NULL};
    CHECK_INT(sqlite3_config(SQLITE_CONFIG_MALLOC, &methods), SQLITE_OK);
    CHECK_INT(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK); /* every allocation may fail */
    CHECK_INT(sqlite3_initialize(), SQLITE_OK);
}

/* ---- a study ---- */

static wn_status open_study(struct study *s, struct err *err)
{
    struct store store;
    wn_status st = wni_store_open(&store, url, "s", &space, err);
    struct study_setup setup = {.space = &space,
                                .scheduler = "asha",
                                .searcher = "rea",
                                .options = {"searcher.population=2 searcher.sample=2"},
                                .max_resource = 9,
                                .lease = 60,
                                .retries = 1,
                                .adopts = true};
    return st ? st : wni_study_open(s, &setup, &store, err);
}

/* Does `call` with the first, second, ... allocation failing until it needs no more.  WN_ESTORE is an honest
 * answer too: SQLite takes some failed allocations for an error of the file. */
#define REPEAT(call)                                                                                         \
    do {                                                                                                     \
        wn_status st = WN_ENOMEM;                                                                            \
        for (size_t k = 0; st; k++) {                                                                        \
            size_t events = s.history.n_events;                                                              \
            alloc_fail_at(k, mode);                                                                          \
            st = (call);                                                                                     \
            bool failed = alloc_failed();                                                                    \
            alloc_fail_never();                                                                              \
            CHECK(!st || failed, "%s gave %d: %s", #call, st, err.text);                                     \
            CHECK(!st || st == WN_ENOMEM || st == WN_ESTORE, "%s gave %d: %s", #call, st, err.text);         \
            CHECK(s.history.n_events == events + !st, "%zu events after %zu", s.history.n_events, events);   \
        }                                                                                                    \
    } while (0)

static void events_happen_or_do_not(enum alloc_mode mode)
{
    struct study s, again;
    struct err err = {0};
    struct handout job = {0};
    wn_decision next;
    double config[] = {0.5};
    bool changed;
    struct study_setup to = {.scheduler = "asha",
                             .searcher = "rea",
                             .options = {"searcher.population=2 searcher.sample=2"},
                             .max_resource = 9,
                             .file = "wider: yes"};
    CHECK_OK(open_study(&s, &err), err);
    for (int round = 0; round < 4; round++) {
        struct space wider;
        wni_space_init(&wider);
        CHECK_OK(wni_space_add(
                     &wider, &(struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 2 + round}, &err),
                 err);
        to.space = &wider;
        REPEAT(wni_study_change(&s, &to, 0, &changed, &err));
        CHECK_DOUBLE(s.space.params[0].max, 2 + round);
        wni_space_release(&wider);
        REPEAT(wni_study_ask(&s, 0, &job, &err));
        REPEAT(wni_study_report(&s, job.trial, 1, job.config[0], 0, &next, &err));
        REPEAT(wni_study_finish(&s, job.trial, round % 2 ? WN_FAILED : WN_COMPLETE, 0, &err));
        REPEAT(wni_study_enqueue(&s, config, 0, &err));
    }
    CHECK_OK(open_study(&again, &err), err);
    CHECK_INT(again.history.n_events, s.history.n_events);
    CHECK_INT(again.n_versions, s.n_versions);
    CHECK_DOUBLE(again.space.params[0].max, 5);
    wni_study_release(&again);
    wni_study_release(&s);
}

static int set_up(void **state)
{
    (void)state;
    check_tmp_make(folder);
    snprintf(url, sizeof url, "sqlite:///%s/store.db", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    check_tmp_remove(folder);
    return 0;
}

static void one_allocation_fails(void **state)
{
    (void)state;
    events_happen_or_do_not(ALLOC_ONCE);
}

static void memory_has_run_out(void **state)
{
    (void)state;
    events_happen_or_do_not(ALLOC_FROM);
}

/* Opening and listing: a message, and nothing left behind. */
static wn_status take_study_row(void *context, const struct study_row *row, struct err *err)
{
    (void)context, (void)row, (void)err;
    return WN_OK;
}

static wn_status take_trial_row(void *context, const struct trial_row *row, struct err *err)
{
    (void)context, (void)row, (void)err;
    return WN_OK;
}

static wn_status look(int what, struct err *err)
{
    struct study s;
    wn_status st;
    if (what == 0) {
        st = open_study(&s, err);
        if (!st) wni_study_release(&s);
        return st;
    }
    return what == 1 ? wni_store_studies(url, NULL, take_study_row, NULL, err)
                     : wni_store_trials(url, "s", 0, take_trial_row, NULL, err);
}

static void opening_and_listing_leave_nothing(void **state)
{
    (void)state;
    struct study s;
    struct err err = {0};
    struct handout job;
    CHECK_OK(look(0, &err), err);
    CHECK_OK(open_study(&s, &err), err);
    CHECK_OK(wni_study_ask(&s, 0, &job, &err), err);
    wni_study_release(&s);
    for (int what = 0; what < 3; what++) {
        wn_status st = WN_ENOMEM;
        CHECK_OK(look(what, &err), err); /* SQLite keeps a little for ever */
        size_t before = alloc_live();
        for (size_t k = 0; st; k++) {
            alloc_fail_at(k, ALLOC_ONCE);
            st = look(what, &err);
            bool failed = alloc_failed();
            alloc_fail_never();
            CHECK(!st || failed, "look %d gave %d: %s", what, st, err.text);
            CHECK(!failed || st != WN_OK || k > 0, "look %d: the failure was not noticed", what);
            CHECK_INT(alloc_live(), before);
            if (failed && !st) st = WN_ENOMEM; /* SQLite could do without: go on to the next */
        }
    }
}

int main(void)
{
    struct err err = {0};
    use_our_allocator();
    wni_space_init(&space);
    if (wni_space_add(&space, &(struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1}, &err))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_allocation_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_has_run_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(opening_and_listing_leave_nothing, set_up, tear_down),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    wni_space_release(&space);
    return failed;
}
