/* test_stores.c -- what every row of stores.def must do: take events in order, and give back what it keeps.
 */
#include "tests/contract/contract.h"

/* Where a test study of this store can live.  A new store needs a line here; without one its row fails. */
static const struct place {
    const char *scheme, *url;
    bool keeps; /* the log is there after closing */
} places[] = {
    {"memory", "memory:", false},
};

static const struct place *place_of(const struct store_ops *ops)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!strcmp(places[i].scheme, ops->scheme)) return &places[i];
    fail_msg("tests/contract/test_stores.c does not know where a test of store '%s' can live", ops->scheme);
    return NULL;
}

static void small_space(struct space *space)
{
    struct err err = {0};
    wni_space_init(space);
    CHECK_OK(wni_space_add(space, &(struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1}, &err),
             err);
    CHECK_OK(wni_space_add(space, &(struct param_decl){.name = "b", .kind = PARAM_BOOL}, &err), err);
}

static const struct study_setup base = {.scheduler = "asha",
                                        .searcher = "rea",
                                        .options = {"scheduler.type=promotion"},
                                        .seed = 3,
                                        .max_resource = 9};

/* Puts the events that a store gives back into a history of their own. */
static wn_status take(void *context, const struct event *e, struct err *err)
{
    struct history *h = context;
    wn_status st = wni_history_check(h, e, err);
    if (!st) st = wni_history_reserve(h, e, err);
    if (!st) wni_history_append(h, e);
    return st;
}

static void is_complete(void **row)
{
    const struct store_ops *ops = *row;
    CHECK(ops->open && ops->append && ops->read && ops->close, "store '%s' lacks a function", ops->scheme);
    CHECK(strspn(ops->scheme, "abcdefghijklmnopqrstuvwxyz") == strlen(ops->scheme), "scheme '%s'",
          ops->scheme);
}

/* All kinds of events, whatever happens to the trials. */
static void takes_every_event(void **row)
{
    struct space space;
    struct err err = {0};
    const struct place *place = place_of(*row);
    small_space(&space);
    struct study_setup setup = base;
    setup.space = &space;
    struct rig r = {.setup = setup, .world = {.rng = wni_rng_stream(1, 1, 93), .workers = 5, .trouble = 30}};
    struct store store;
    CHECK_OK(wni_store_open(&store, place->url, "takes", &space, &err), err);
    CHECK_OK(wni_study_open(&r.study, &r.setup, &store, &err), err);
    assert_null(store.ops); /* the study has taken it over */
    rig_run(&r, 1500);
    struct history back;
    CHECK_OK(wni_history_init(&back, &space, &err), err);
    CHECK_OK(r.study.store.ops->read(r.study.store.self, 0, take, &back, &err), err);
    if (place->keeps)
        check_same_log(&back, &r.study.history);
    else
        CHECK_INT(back.n_events, 0); /* nobody else can have written anything */
    wni_history_release(&back);
    rig_close(&r);
    wni_space_release(&space);
}

/* Closed and opened again: everything is back, or nothing ever was. */
static void opens_again(void **row)
{
    struct space space;
    struct err err = {0};
    const struct place *place = place_of(*row);
    small_space(&space);
    struct study_setup setup = base;
    setup.space = &space;
    struct world world = {.rng = wni_rng_stream(2, 2, 93), .workers = 3, .trouble = 10};
    struct rig r = {.setup = setup, .world = world}, again = r;
    struct store store;
    CHECK_OK(wni_store_open(&store, place->url, "again", &space, &err), err);
    CHECK_OK(wni_study_open(&r.study, &r.setup, &store, &err), err);
    rig_run(&r, 300);
    size_t n = r.study.history.n_events;
    rig_close(&r);
    CHECK_OK(wni_store_open(&store, place->url, "again", &space, &err), err);
    CHECK_OK(wni_study_open(&again.study, &again.setup, &store, &err), err);
    CHECK_INT(again.study.history.n_events, place->keeps ? n : 0);
    rig_close(&again);
    wni_space_release(&space);
}

static const struct property properties[] = {
    {"is complete", is_complete},
    {"takes every event", takes_every_event},
    {"opens again", opens_again},
};

static const char *name_at(size_t i)
{
    return wni_store_at(i)->scheme;
}

static const void *row_at(size_t i)
{
    return wni_store_at(i);
}

/* ---- addresses ---- */

static void wrong_addresses_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *url, *says;
    } cases[] = {
        {"memory", "store 'memory': expected SCHEME:ADDRESS, for instance memory:"},
        {"", "store '': expected SCHEME:ADDRESS, for instance memory:"},
        {"memroy:", "unknown store 'memroy'; did you mean 'memory'?"},
        {"Memory:", "unknown store 'Memory'; did you mean 'memory'?"},
        {"memory:x", "store 'memory:x': nothing may follow memory:"},
        {"a-scheme-of-more-than-thirty-two-letters:x",
         "store 'a-scheme-of-more-than-thirty-two-letters:x': expected SCHEME:ADDRESS, for instance memory:"},
    };
    struct space space;
    small_space(&space);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct store store;
        struct err err = {0};
        CHECK_INT(wni_store_open(&store, cases[i].url, "s", &space, &err), WN_EINVAL);
        CHECK_TEXT(err.text, cases[i].says);
        assert_null(store.ops);
        wni_store_close(&store); /* nothing is open: harmless */
    }
    wni_space_release(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_addresses_are_refused)};
    int failed = contract_run("stores", properties, sizeof properties / sizeof *properties, wni_store_count(),
                              name_at, row_at);
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
