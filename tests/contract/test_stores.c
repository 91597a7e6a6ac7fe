/* test_stores.c -- what every row of stores.def must do: take events in order, and give back what it keeps.
 */
#include "tests/contract/contract.h"

#include "tuner/rows.h"

/* Where a test study of this store can live.  A new store needs a line here; without one its row fails. */
static const struct place {
    const char *scheme, *url; /* %s: a temporary folder */
    bool keeps;               /* the log is there after closing, and others can open it */
} places[] = {
    {"memory", "memory:", false},
    {"sqlite", "sqlite:///%s/store.db", true},
};

static char folder[CHECK_PATH_MAX];

static const struct place *place_of(const struct store_ops *ops)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!strcmp(places[i].scheme, ops->scheme)) return &places[i];
    fail_msg("tests/contract/test_stores.c does not know where a test of store '%s' can live", ops->scheme);
    return NULL;
}

static const char *url_of(const struct place *place)
{
    static char url[CHECK_PATH_MAX + 64];
    const char *at = strstr(place->url, "%s");
    if (!at) return place->url;
    snprintf(url, sizeof url, "%.*s%s%s", (int)(at - place->url), place->url, folder, at + 2);
    return url;
}

static void small_space(struct space *space)
{
    wni_space_init(space);
    check_add(space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1});
    check_add(space, (struct param_decl){.name = "b", .kind = PARAM_BOOL});
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

/* `base` over a new small space, which is the caller's to release. */
static struct study_setup make_setup(struct space *space)
{
    struct study_setup setup = base;
    small_space(space);
    setup.space = space;
    return setup;
}

static void open_rig(struct rig *r, const struct study_setup *setup, const char *url, const char *name,
                     const struct world *world)
{
    struct err err = {0};
    struct store store;
    *r = (struct rig){.setup = *setup, .world = *world};
    CHECK_OK(wni_store_open(&store, url, name, setup->space, &err), err);
    CHECK_OK(wni_study_open(&r->study, &r->setup, &store, &err), err);
    assert_null(store.ops); /* the study has taken it over */
}

static void is_complete(void **row)
{
    const struct store_ops *ops = *row;
    CHECK(ops->open && ops->attach && ops->begin && ops->append && ops->lease && ops->commit &&
              ops->rollback && ops->read && ops->expired && ops->close,
          "store '%s' lacks a function", ops->scheme);
    CHECK(strspn(ops->scheme, "abcdefghijklmnopqrstuvwxyz") == strlen(ops->scheme), "scheme '%s'",
          ops->scheme);
}

/* All kinds of events, whatever happens to the trials. */
static void takes_every_event(void **row)
{
    struct space space;
    struct err err = {0};
    const struct place *place = place_of(*row);
    struct study_setup setup = make_setup(&space);
    struct rig r;
    open_rig(&r, &setup, url_of(place), "takes",
             &(struct world){.rng = wni_rng_stream(1, 1, 93), .workers = 5, .trouble = 30});
    rig_run(&r, 500);
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
    const struct place *place = place_of(*row);
    struct study_setup setup = make_setup(&space);
    struct world world = {.rng = wni_rng_stream(2, 2, 93), .workers = 3, .trouble = 10};
    struct rig r, again;
    open_rig(&r, &setup, url_of(place), "again", &world);
    rig_run(&r, 300);
    size_t n = r.study.history.n_events;
    rig_close(&r);
    open_rig(&again, &setup, url_of(place), "again", &world);
    CHECK_INT(again.study.history.n_events, place->keeps ? n : 0);
    rig_close(&again);
    wni_space_release(&space);
}

/* Two that write by turns see one log, and both make of it what a third makes who reads it at the end:
 * states, decisions, rungs.  Their trials are their own. */
static void serves_two(void **row)
{
    struct space space;
    struct err err = {0};
    const struct place *place = place_of(*row);
    if (!place->keeps) return;
    struct study_setup setup = make_setup(&space);
    setup.goal = WN_MAXIMIZE;
    struct rig one, two, third;
    struct rng rng = wni_rng_stream(7, 7, 93);
    open_rig(&one, &setup, url_of(place), "two", &(struct world){.rng = rng, .workers = 4, .trouble = 20});
    open_rig(&two, &setup, url_of(place), "two",
             &(struct world){.rng = wni_rng_stream(8, 8, 93), .workers = 3, .trouble = 20});
    for (int turn = 0; turn < 600; turn++)
        rig_step(check_chance(&rng, 50) ? &one : &two);
    CHECK_OK(wni_study_sync(&one.study, 0, &err), err);
    CHECK_OK(wni_study_sync(&two.study, 0, &err), err);
    check_same_log(&one.study.history, &two.study.history);
    open_rig(&third, &setup, url_of(place), "two", &(struct world){.rng = rng, .workers = 1});
    check_same_log(&third.study.history, &two.study.history);
    CHECK(third.study.history.n_events > 300, "only %zu events", third.study.history.n_events);
    CHECK(!memcmp(one.study.decisions, third.study.decisions, third.study.history.n_trials),
          "decisions differ");
    CHECK(!memcmp(two.study.decisions, third.study.decisions, third.study.history.n_trials),
          "decisions differ");
    size_t wrong; /* what listings show is what the log says */
    CHECK_OK(wni_rows_repair(&third.study, url_of(place), "two", &wrong, &err), err);
    CHECK_INT(wrong, 0);
    rig_close(&one);
    rig_close(&two);
    rig_close(&third);
    wni_space_release(&space);
}

/* Studies of one place do not see each other. */
static void keeps_studies_apart(void **row)
{
    struct space space;
    const struct place *place = place_of(*row);
    if (!place->keeps) return;
    struct study_setup setup = make_setup(&space);
    struct rig rigs[3], again;
    for (size_t i = 0; i < 3; i++) {
        char name[] = {'a', (char)('0' + i), '\0'};
        setup.seed = i;
        open_rig(&rigs[i], &setup, url_of(place), name,
                 &(struct world){.rng = wni_rng_stream(i, 9, 93), .workers = 2, .trouble = 10});
    }
    for (int turn = 0; turn < 300; turn++)
        rig_step(&rigs[turn % 3]);
    for (size_t i = 0; i < 3; i++) {
        char name[] = {'a', (char)('0' + i), '\0'};
        open_rig(&again, &rigs[i].setup, url_of(place), name, &(struct world){.workers = 1});
        check_same_log(&again.study.history, &rigs[i].study.history);
        rig_close(&again);
        rig_close(&rigs[i]);
    }
    wni_space_release(&space);
}

/* In batches the same happens as one event at a time, and others see a batch whole or not at all.  Calls that
 * break a rule fail alone. */
static void writes_batches(void **row)
{
    struct space space;
    struct err err = {0};
    const struct place *place = place_of(*row);
    small_space(&space);
    struct study_setup setup = base;
    setup.space = &space;
    setup.lease = 60;
    struct world world = {.rng = wni_rng_stream(4, 4, 93), .workers = 4, .trouble = 20};
    struct rng lengths = wni_rng_stream(5, 4, 93);
    struct rig alone, batched, reader;
    open_rig(&alone, &setup, url_of(place), "alone", &world);
    open_rig(&batched, &setup, url_of(place), "batched", &world);
    open_rig(&reader, &setup, url_of(place), "batched", &world);
    for (int batch = 0; batch < 60; batch++) {
        size_t before = batched.study.history.n_events, steps = (size_t)wni_rng_below(&lengths, 12);
        wni_study_batch_begin(&batched.study);
        rig_run(&batched, steps);
        CHECK_OK(wni_study_sync(&reader.study, 0, &err), err);
        CHECK_INT(reader.study.history.n_events, place->keeps ? before : 0);
        CHECK_OK(wni_study_batch_end(&batched.study, &err), err);
        rig_run(&alone, steps);
        CHECK_OK(wni_study_sync(&reader.study, 0, &err), err);
        if (place->keeps) CHECK_INT(reader.study.history.n_events, batched.study.history.n_events);
    }
    CHECK(alone.study.history.n_events > 200, "only %zu events", alone.study.history.n_events);
    check_same_log(&batched.study.history, &alone.study.history);
    if (place->keeps) {
        size_t wrong;
        check_same_log(&reader.study.history, &alone.study.history);
        CHECK_OK(wni_rows_repair(&reader.study, url_of(place), "batched", &wrong, &err), err);
        CHECK_INT(wrong, 0);
    }
    rig_close(&alone);
    rig_close(&batched);
    rig_close(&reader);
    wni_space_release(&space);
}

/* What was written and not committed is not there; the next may write at once. */
static void forgets_what_is_rolled_back(void **row)
{
    struct space space;
    struct err err = {0};
    const struct place *place = place_of(*row);
    if (!place->keeps) return;
    struct study_setup setup = make_setup(&space);
    struct rig r;
    open_rig(&r, &setup, url_of(place), "undone", &(struct world){.workers = 1});
    rig_run(&r, 5);
    size_t n = r.study.history.n_events;
    const struct store_ops *ops = r.study.store.ops;
    void *self = r.study.store.self;
    double config[] = {0.5, 1};
    struct event e = {.kind = EVENT_ENQUEUE, .config = config};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(ops->begin(self, &err), err);
        CHECK_OK(ops->append(self, n + 1, &e, NULL, &err), err);
        ops->rollback(self);
        ops->rollback(self); /* nothing is open: harmless */
    }
    CHECK_OK(wni_study_sync(&r.study, 0, &err), err);
    CHECK_INT(r.study.history.n_events, n);
    CHECK_OK(wni_study_enqueue(&r.study, config, 0, &err), err);
    CHECK_INT(r.study.history.n_events, n + 1);
    rig_close(&r);
    wni_space_release(&space);
}

/* ---- setups ---- */

struct difference {
    const char *says;
    struct study_setup setup;
};

/* Who opens a study that is there with another setup is told what differs; nothing is written. */
static void compares_setups(void **row)
{
    struct space space, other;
    const struct place *place = place_of(*row);
    if (!place->keeps) return;
    struct study_setup setup = make_setup(&space);
    small_space(&other);
    struct err err = {0};
    other.params[0].max = 2;
    struct rig r;
    open_rig(&r, &setup, url_of(place), "setup", &(struct world){.workers = 1});
    rig_close(&r);
    struct difference differences[] = {
        {"the stored study was created with seed 3, not 4", setup},
        {"the stored study was created with goal 'minimize', not 'maximize'", setup},
        {"the stored study was created with scheduler 'asha', not 'fifo'", setup},
        {"the stored study was created with searcher 'rea', not 'random'", setup},
        {"the stored study was created with options 'scheduler.type=promotion', not "
         "'scheduler.type=promotion "
         "searcher.sample=2'",
         setup},
        {"the stored study was created with smallest resource 1, not 2", setup},
        {"the stored study was created with largest resource 9, not 27", setup},
        {"the stored study was created with parameter {\"x\": {\"type\": \"float\", \"min\": 0, \"max\": "
         "1}}, not {\"x\": "
         "{\"type\": \"float\", \"min\": 0, \"max\": 2}}",
         setup},
        {"", setup},
    };
    differences[0].setup.seed = 4;
    differences[1].setup.goal = WN_MAXIMIZE;
    differences[2].setup.scheduler = "fifo", differences[2].setup.options[0] = NULL;
    differences[3].setup.searcher = "random";
    differences[4].setup.options[1] = "searcher.sample=2";
    differences[5].setup.min_resource = 2;
    differences[6].setup.max_resource = 27;
    differences[7].setup.space = &other;
    differences[8].setup.lease = 10, differences[8].setup.retries = 3;
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++) {
        struct store store;
        struct study study;
        bool fine = !differences[i].says[0];
        CHECK_OK(wni_store_open(&store, url_of(place), "setup", &space, &err), err);
        CHECK_INT(wni_study_open(&study, &differences[i].setup, &store, &err), fine ? WN_OK : WN_EINVAL);
        if (fine)
            wni_study_release(&study);
        else
            CHECK_TEXT(err.text, differences[i].says);
    }
    wni_space_release(&space);
    wni_space_release(&other);
}

static const struct property properties[] = {
    {"is complete", is_complete},
    {"takes every event", takes_every_event},
    {"opens again", opens_again},
    {"serves two", serves_two},
    {"keeps studies apart", keeps_studies_apart},
    {"writes batches", writes_batches},
    {"forgets what is rolled back", forgets_what_is_rolled_back},
    {"compares setups", compares_setups},
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
        {"memory", "store 'memory': expected SCHEME:ADDRESS, for instance sqlite:///winnow.db"},
        {"", "store '': expected SCHEME:ADDRESS, for instance sqlite:///winnow.db"},
        {"memroy:", "unknown store 'memroy'; did you mean 'memory'?"},
        {"Memory:", "unknown store 'Memory'; did you mean 'memory'?"},
        {"memory:x", "store 'memory:x': nothing may follow memory:"},
        {"a-scheme-of-more-than-thirty-two-letters:x",
         "store 'a-scheme-of-more-than-thirty-two-letters:x': expected SCHEME:ADDRESS, for instance "
         "sqlite:///winnow.db"},
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
    check_tmp_make(folder);
    int failed = contract_run("stores", properties, sizeof properties / sizeof *properties, wni_store_count(),
                              name_at, row_at);
    failed += cmocka_run_group_tests(tests, NULL, NULL);
    check_tmp_remove(folder);
    return failed;
}
