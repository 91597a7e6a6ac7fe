/* test_store.c -- a store that refuses to write: nothing has happened, the call can be repeated, the log has
 * no gap.
 *
 * The store here keeps copies of what it is given and fails at a chosen event, or while reading. */
#include "tests/contract/contract.h"

#include "api/api_int.h"
#include "tests/fault/alloc.h"

enum { NEVER = -1 };

/* ---- the store ---- */

struct shaky {
    struct event *events; /* configurations are copies */
    size_t n, cap, width;
    size_t pending; /* events appended and not committed */
    bool entered;   /* between begin and commit or rollback */
    long fail_begin, fail_commit;
    long fail_append; /* the event with this number is refused, once */
    long fail_seq;    /* the same, in the middle of a batch too */
    long fail_read;   /* reading stops before it */
    int refused, closed;
};

static wn_status refuse(struct shaky *s, long *at, struct err *err)
{
    if (*at != (long)(s->n - s->pending)) return WN_OK;
    *at = NEVER;
    s->refused++;
    return wni_fail(err, WN_ESTORE, "disk full at event %zu", s->n - s->pending);
}

static wn_status attach(void *self, const struct study_about *about, struct study_found *found,
                        struct err *err)
{
    (void)self, (void)about, (void)found, (void)err;
    return WN_OK;
}

static wn_status begin(void *self, struct err *err)
{
    struct shaky *s = self;
    assert_false(s->entered);
    wn_status st = refuse(s, &s->fail_begin, err);
    s->entered = !st;
    return st;
}

static void rollback(void *self)
{
    struct shaky *s = self;
    for (; s->pending; s->pending--)
        free((void *)(uintptr_t)s->events[--s->n].config);
    s->entered = false;
}

static wn_status commit(void *self, struct err *err)
{
    struct shaky *s = self;
    assert_true(s->entered);
    wn_status st = s->pending ? refuse(s, &s->fail_commit, err) : WN_OK;
    if (st) return st;
    s->pending = 0;
    s->entered = false;
    return WN_OK;
}

static wn_status lease(void *self, uint32_t trial, enum lease_act act, double seconds, struct err *err)
{
    (void)trial, (void)act, (void)seconds, (void)err;
    assert_true(((struct shaky *)self)->entered);
    return WN_OK;
}

static wn_status expired(void *self, uint32_t *trial, struct err *err)
{
    (void)self, (void)err;
    *trial = TRIAL_NONE;
    return WN_OK;
}

static wn_status append(void *self, uint64_t seq, const struct event *e, const struct trial_row *row,
                        struct err *err)
{
    (void)row;
    struct shaky *s = self;
    assert_true(s->entered);
    CHECK_INT(seq, s->n + 1);
    wn_status st = refuse(s, &s->fail_append, err);
    if (!st && s->fail_seq == (long)s->n) st = refuse(s, &(long){(long)(s->n - s->pending)}, err);
    if (st) return st;
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        s->events = realloc(s->events, s->cap * sizeof *s->events);
        assert_non_null(s->events);
    }
    struct event copy = *e;
    if (e->config) {
        double *config = malloc(s->width * sizeof *config);
        assert_non_null(config);
        memcpy(config, e->config, s->width * sizeof *config);
        copy.config = config;
    }
    s->events[s->n++] = copy;
    s->pending++;
    return WN_OK;
}

/* Puts an event into the log as if it had happened. */
static void put(struct shaky *s, const struct event *e)
{
    CHECK_INT(begin(s, NULL), WN_OK);
    CHECK_INT(append(s, s->n + 1, e, NULL, NULL), WN_OK);
    CHECK_INT(commit(s, NULL), WN_OK);
}

static wn_status read_events(void *self, uint64_t position, take_event *take, void *context, struct err *err)
{
    struct shaky *s = self;
    for (size_t i = position; i < s->n; i++) {
        if (s->fail_read == (long)i) return wni_fail(err, WN_ESTORE, "event %zu cannot be read", i);
        wn_status st = take(context, &s->events[i], err);
        if (st) return st;
    }
    return WN_OK;
}

static void close_shaky(void *self)
{
    ((struct shaky *)self)->closed++;
}

static const struct store_ops shaky_ops = {.scheme = "shaky",
                                           .attach = attach,
                                           .begin = begin,
                                           .append = append,
                                           .lease = lease,
                                           .commit = commit,
                                           .rollback = rollback,
                                           .read = read_events,
                                           .expired = expired,
                                           .close = close_shaky};

static struct shaky shaky_for(const struct space *space)
{
    return (struct shaky){.width = space->n,
                          .fail_begin = NEVER,
                          .fail_commit = NEVER,
                          .fail_append = NEVER,
                          .fail_seq = NEVER,
                          .fail_read = NEVER};
}

static void shaky_free(struct shaky *s)
{
    for (size_t i = 0; i < s->n; i++)
        free((void *)(uintptr_t)s->events[i].config);
    free(s->events);
}

static wn_status open_over(struct study *study, const struct study_setup *setup, struct shaky *shaky,
                           struct err *err)
{
    struct store store = {.ops = &shaky_ops, .self = shaky};
    return wni_study_open(study, setup, &store, err);
}

/* What the store holds is what the study knows. */
static void check_gapless(const struct shaky *s, const struct history *h)
{
    struct history_cursor at = {0};
    struct event e;
    CHECK_INT(s->n, h->n_events);
    for (size_t i = 0; wni_history_next(h, &at, &e); i++)
        check_same_event(h->space, &s->events[i], &e, i);
}

/* ---- a study over it ---- */

static struct space space;

static bool make_space(void)
{
    wni_space_init(&space);
    return !wni_space_add(&space, &(struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1}, NULL) &&
           !wni_space_add(&space, &(struct param_decl){.name = "n", .kind = PARAM_INT, .max = 50}, NULL);
}

static struct study_setup setup_of(const struct method *m)
{
    return (struct study_setup){.space = &space,
                                .scheduler = m->scheduler,
                                .searcher = m->searcher,
                                .options = {m->options, brisk_options(m->searcher)},
                                .seed = 3,
                                .max_resource = 9};
}

/* What a caller could see of a study. */
struct glance {
    size_t events, trials, reports, distinct, queued, by_state[WN_CANCELLED + 1];
    double best, total;
    struct job job;
};

static struct glance look(const struct study *s)
{
    const struct history *h = &s->history;
    struct glance g = {.events = h->n_events,
                       .trials = h->n_trials,
                       .reports = h->n_reports,
                       .distinct = h->n_distinct,
                       .queued = h->n_queue - h->queue_head,
                       .best = h->best_value,
                       .total = h->total_resource,
                       .job = rig_next(s)};
    memcpy(g.by_state, h->by_state, sizeof g.by_state);
    return g;
}

static void check_unchanged(const struct study *s, const struct glance *before)
{
    struct glance now = look(s);
    CHECK_INT(now.events, before->events);
    CHECK_INT(now.trials, before->trials);
    CHECK_INT(now.reports, before->reports);
    CHECK_INT(now.distinct, before->distinct);
    CHECK_INT(now.queued, before->queued);
    CHECK_DOUBLE(now.best, before->best);
    CHECK_DOUBLE(now.total, before->total);
    CHECK_INT(now.job.kind, before->job.kind);
    CHECK_INT(now.job.trial, before->job.trial);
    for (int i = 0; i <= WN_CANCELLED; i++)
        CHECK_INT(now.by_state[i], before->by_state[i]);
}

/* Repeats a call that the store refused, or gives up; before that, nothing has changed. */
#define INSIST(study, call)                                                                                  \
    do {                                                                                                     \
        struct err error = {0};                                                                              \
        struct glance before = look(study);                                                                  \
        wn_status insist_status = (call);                                                                    \
        if (insist_status == WN_ESTORE) {                                                                    \
            CHECK(strstr(error.text, "disk full"), "message '%s'", error.text);                              \
            check_unchanged(study, &before);                                                                 \
            if (give_up) return;                                                                             \
            insist_status = (call);                                                                          \
        }                                                                                                    \
        CHECK(insist_status == WN_OK, "%s gave %d: %s", #call, insist_status, error.text);                   \
    } while (0)

static void run_study(struct study *s, bool give_up)
{
    for (int round = 0; round < 25; round++) {
        struct handout job = {0};
        wn_decision decision = WN_CONTINUE;
        if (round % 8 == 3) INSIST(s, wni_study_enqueue(s, (double[]){0.5, round}, 0, &error));
        INSIST(s, wni_study_ask(s, 0, &job, &error));
        double x = job.config[0];
        for (double at = job.resumed_from + 1; decision == WN_CONTINUE; at++) {
            double value = round % 6 == 5 ? NAN : x + 1 / at;
            INSIST(s, wni_study_report(s, job.trial, at, value, 0, &decision, &error));
        }
        INSIST(s, wni_study_finish(s, job.trial, WN_COMPLETE, 0, &error));
    }
}

/* ---- the properties, for every method ---- */

static void a_refused_event_did_not_happen(void **row)
{
    struct study_setup setup = setup_of(*row);
    struct shaky calm = shaky_for(&space);
    struct study undisturbed;
    struct err err = {0};
    CHECK_OK(open_over(&undisturbed, &setup, &calm, &err), err);
    run_study(&undisturbed, false);
    check_gapless(&calm, &undisturbed.history);
    for (size_t i = 0; i < 3 * calm.n; i++) {
        struct shaky shaky = shaky_for(&space);
        struct study study;
        *(i % 3 == 0   ? &shaky.fail_begin
          : i % 3 == 1 ? &shaky.fail_append
                       : &shaky.fail_commit) = (long)(i / 3);
        CHECK_OK(open_over(&study, &setup, &shaky, &err), err);
        run_study(&study, false);
        CHECK_INT(shaky.refused, 1);
        check_gapless(&shaky, &study.history);
        check_same_log(&study.history, &undisturbed.history);
        wni_study_release(&study);
        CHECK_INT(shaky.closed, 1);
        shaky_free(&shaky);
    }
    wni_study_release(&undisturbed);
    shaky_free(&calm);
}

/* One trial after the other, ROUNDS in a batch.  Returns how many events there were at the end of the last
 * batch that went well. */
static size_t run_batches(struct study *s, int batches, wn_status *st, struct err *err)
{
    enum { ROUNDS = 3 };
    size_t safe = s->history.n_events;
    *st = WN_OK;
    for (int batch = 0; batch < batches && !*st; batch++) {
        wni_study_batch_begin(s);
        for (int round = 0; round < ROUNDS && !*st; round++) {
            struct handout job = {0};
            wn_decision decision = WN_CONTINUE;
            *st = wni_study_ask(s, 0, &job, err);
            for (double at = job.resumed_from + 1; decision == WN_CONTINUE && !*st; at++)
                *st = wni_study_report(s, job.trial, at, (double)job.trial + 1 / at, 0, &decision, err);
            if (!*st) *st = wni_study_finish(s, job.trial, WN_COMPLETE, 0, err);
        }
        wn_status ended = wni_study_batch_end(s, err);
        if (!*st) *st = ended;
        if (!*st) safe = s->history.n_events;
    }
    return safe;
}

/* A store that fails takes the batch with it, and the study will not go on: its memory knows what the log
 * does not.  Opened again it goes on from the last batch, as if nothing had been. */
static void a_refused_batch_did_not_happen(void **row)
{
    struct study_setup setup = setup_of(*row);
    struct shaky calm = shaky_for(&space);
    struct study study, undisturbed;
    struct err err = {0}, same = {0};
    wn_status st;
    CHECK_OK(open_over(&undisturbed, &setup, &calm, &err), err);
    run_batches(&undisturbed, 6, &st, &err);
    CHECK_OK(st, err);
    for (size_t i = 0; i < calm.n; i++) {
        struct shaky shaky = shaky_for(&space);
        shaky.fail_seq = i % 2 ? (long)i : NEVER;
        CHECK_OK(open_over(&study, &setup, &shaky, &err), err);
        int batches = 6;
        if (i % 2 == 0) { /* the commit of a later batch */
            batches = 1 + (int)(i / 2) % 5;
            run_batches(&study, batches, &st, &err);
            CHECK_OK(st, err);
            shaky.fail_commit = (long)shaky.n;
            batches = 6 - batches;
        }
        size_t safe = run_batches(&study, batches, &st, &err);
        CHECK_INT(st, WN_ESTORE);
        CHECK(strstr(err.text, "disk full"), "message '%s'", err.text);
        CHECK_INT(shaky.n, safe);
        CHECK(!shaky.entered, "the store is still locked");
        struct handout job;
        CHECK_INT(wni_study_ask(&study, 0, &job, &same), WN_ESTORE);
        CHECK_TEXT(same.text, err.text);
        CHECK_INT(wni_study_sync(&study, 0, &same), WN_ESTORE);
        CHECK_INT(wni_study_enqueue(&study, (double[]){0.5, 1}, 0, &same), WN_ESTORE);
        CHECK_INT(shaky.n, safe);
        wni_study_release(&study);
        shaky.fail_seq = NEVER;
        CHECK_OK(open_over(&study, &setup, &shaky, &err), err);
        CHECK_INT(study.history.n_events, safe);
        while (!st || study.history.n_events < undisturbed.history.n_events) {
            run_batches(&study, 1, &st, &err);
            CHECK_OK(st, err);
            if (study.history.n_events >= undisturbed.history.n_events) break;
        }
        check_same_log(&study.history, &undisturbed.history);
        wni_study_release(&study);
        shaky_free(&shaky);
    }
    wni_study_release(&undisturbed);
    shaky_free(&calm);
}

/* A lock that cannot be had breaks nothing: the batch goes on with the next try. */
static void a_batch_outlives_a_lock_refused(void **row)
{
    struct study_setup setup = setup_of(*row);
    struct shaky shaky = shaky_for(&space);
    struct study study;
    struct err err = {0};
    struct handout job;
    CHECK_OK(open_over(&study, &setup, &shaky, &err), err);
    shaky.fail_begin = 0;
    wni_study_batch_begin(&study);
    CHECK_INT(wni_study_ask(&study, 0, &job, &err), WN_ESTORE);
    CHECK_INT(study.history.n_events, 0);
    CHECK_OK(wni_study_ask(&study, 0, &job, &err), err);
    CHECK_INT(wni_study_finish(&study, 7, WN_COMPLETE, 0, &err), WN_ENOTFOUND);
    CHECK_OK(wni_study_finish(&study, job.trial, WN_FAILED, 0, &err), err);
    CHECK_INT(shaky.n - shaky.pending, 0);
    CHECK_OK(wni_study_batch_end(&study, &err), err);
    CHECK_INT(shaky.pending, 0);
    check_gapless(&shaky, &study.history);
    wni_study_batch_begin(&study); /* an empty one costs nothing */
    shaky.fail_begin = (long)shaky.n;
    CHECK_OK(wni_study_batch_end(&study, &err), err);
    wni_study_release(&study);
    shaky_free(&shaky);
}

/* What was made ready for an event that never happened goes with the study. */
static void giving_up_leaves_nothing(void **row)
{
    struct study_setup setup = setup_of(*row);
    size_t before = alloc_live();
    for (long k = 0, refused = 1; refused; k++) {
        struct shaky shaky = shaky_for(&space);
        struct study study;
        struct err err = {0};
        shaky.fail_append = k;
        CHECK_OK(open_over(&study, &setup, &shaky, &err), err);
        run_study(&study, true);
        refused = shaky.refused;
        if (refused) CHECK_INT(shaky.n, k);
        wni_study_release(&study);
        shaky_free(&shaky);
        CHECK_INT(alloc_live(), before);
    }
}

/* Opened over a log that is there already, the study is where it was: it asks and decides on as if never
 * closed. */
static void a_stored_log_is_read_back(void **row)
{
    struct study_setup setup = setup_of(*row);
    struct shaky shaky = shaky_for(&space);
    struct study one, two;
    struct err err = {0};
    CHECK_OK(open_over(&one, &setup, &shaky, &err), err);
    run_study(&one, false);
    size_t n = shaky.n;
    CHECK_OK(open_over(&two, &setup, &shaky, &err), err);
    CHECK_INT(shaky.n, n); /* reading writes nothing */
    check_same_log(&two.history, &one.history);
    struct shaky further = shaky_for(&space);
    for (size_t i = 0; i < n; i++)
        put(&further, &shaky.events[i]);
    one.store.self = &further; /* both go on, into different stores */
    run_study(&one, false);
    run_study(&two, false);
    check_same_log(&two.history, &one.history);
    wni_study_release(&one);
    wni_study_release(&two);
    shaky_free(&further);
    shaky_free(&shaky);
}

/* Whatever goes wrong at opening, the store is closed once and nothing is left. */
static void a_failed_opening_leaves_nothing(void **row)
{
    struct study_setup setup = setup_of(*row);
    struct shaky shaky = shaky_for(&space);
    struct study study;
    struct err err = {0};
    CHECK_OK(open_over(&study, &setup, &shaky, &err), err);
    run_study(&study, false);
    wni_study_release(&study);
    size_t before = alloc_live();
    for (size_t k = 0; k < shaky.n; k++) {
        shaky.fail_read = (long)k;
        shaky.closed = 0;
        CHECK_INT(open_over(&study, &setup, &shaky, &err), WN_ESTORE);
        CHECK_INT(shaky.closed, 1);
        CHECK_INT(alloc_live(), before);
    }
    shaky.fail_read = NEVER;
    static const char *const wrong[] = {"searcher.nonsense=1", "scheduler.nonsense=1", "nonsense",
                                        "nonsense.y=1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setup.options[1] = wrong[i];
        shaky.closed = 0;
        CHECK_INT(open_over(&study, &setup, &shaky, &err), WN_EINVAL);
        CHECK(strstr(err.text, "nonsense"), "message '%s'", err.text);
        CHECK_INT(shaky.closed, 1);
        CHECK_INT(alloc_live(), before);
    }
    shaky_free(&shaky);
}

/* A log that cannot have happened is refused, not believed. */
static void a_broken_log_is_refused(void **row)
{
    struct study_setup setup = setup_of(*row);
    struct study study;
    struct err err = {0};
    static const double inside[] = {0.5, 7}, outside[] = {1.5, 7};
    const struct event ask = {.kind = EVENT_ASK, .config = inside};
    const struct event bad[] = {
        {.kind = EVENT_ASK, .trial = 2, .config = inside},
        {.kind = EVENT_ASK, .trial = 1, .config = outside},
        {.kind = EVENT_ASK, .trial = 1, .config = inside, .saw = 9},
        {.kind = EVENT_ASK, .trial = 1, .config = inside, .queued = true},
        {.kind = EVENT_REPORT, .trial = 1, .resource = 1},
        {.kind = EVENT_REPORT, .trial = 0, .resource = 0},
        {.kind = EVENT_REPORT, .trial = 0, .resource = -1},
        {.kind = EVENT_REPORT, .trial = 0, .resource = INFINITY},
        {.kind = EVENT_REPORT, .trial = 0, .resource = NAN},
        {.kind = EVENT_RESUME, .trial = 0},
        {.kind = EVENT_FINISH, .trial = 0, .state = WN_RUNNING},
        {.kind = EVENT_FINISH, .trial = 0, .state = WN_WAITING},
        {.kind = EVENT_FINISH, .trial = 0, .state = WN_COMPLETE, .retry = true},
        {.kind = EVENT_ENQUEUE, .config = outside},
        {.kind = (enum event_kind)9},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct shaky shaky = shaky_for(&space);
        put(&shaky, &ask);
        put(&shaky, &bad[i]);
        CHECK_INT(open_over(&study, &setup, &shaky, &err), WN_ESTORE);
        CHECK(strstr(err.text, "event 2 of the stored log: "), "broken event %zu: '%s'", i, err.text);
        CHECK_INT(shaky.closed, 1);
        shaky_free(&shaky);
    }
}

static const struct property properties[] = {
    {"a refused event did not happen", a_refused_event_did_not_happen},
    {"a refused batch did not happen", a_refused_batch_did_not_happen},
    {"a batch outlives a lock refused", a_batch_outlives_a_lock_refused},
    {"giving up leaves nothing", giving_up_leaves_nothing},
    {"a stored log is read back", a_stored_log_is_read_back},
    {"a failed opening leaves nothing", a_failed_opening_leaves_nothing},
    {"a broken log is refused", a_broken_log_is_refused},
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
    if (!make_space()) return 1;
    int failed = contract_run("methods", properties, sizeof properties / sizeof *properties,
                              wni_method_count(), name_at, row_at);
    wni_space_release(&space);
    return failed;
}
