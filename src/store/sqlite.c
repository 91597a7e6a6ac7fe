/* sqlite.c -- the log of a study in a SQLite file that many processes share.
 *
 * An event, or a batch of them, is one transaction: BEGIN IMMEDIATE takes the file's write lock, so that what
 * was read up to there is all there is, and COMMIT is the moment the event has happened.  The statements are
 * prepared once. An append touches one page of the log; the summary of its trial is written when the trial
 * begins, ends or holds a new best value, not at every report.  Reading goes along the row numbers, without
 * sorting or look-ups. */
#include "store/sqlite_int.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "configurations are stored as they are in memory");

static const double LOOK_SECONDS = 0.2; /* between looks for leases that are over */

static const char *const texts[STMT_COUNT] = {
    [STMT_BEGIN] = "BEGIN IMMEDIATE",
    [STMT_COMMIT] = "COMMIT",
    [STMT_ROLLBACK] = "ROLLBACK",
    [STMT_APPEND] =
        "INSERT INTO events (id, study, kind, trial, time, wall, resource, value, state, saw, config,"
        " detail, flag) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    [STMT_READ] = "SELECT kind, trial, time, resource, value, state, saw, config, detail, flag, seq FROM"
                  " events"
                  " WHERE id > ?1 AND id < ?2 ORDER BY id",
    [STMT_CHANGE] = "INSERT INTO setups (study, since, setup, file) VALUES (?1, ?2, ?3, ?4)",
    [STMT_SETUP] = "SELECT setup, file FROM setups WHERE study = ?1 AND since = ?2",
    [STMT_ROW] = "INSERT OR REPLACE INTO trials (id, study, state, attempt, saw, reports, value, resource,"
                 " best, best_resource, asked, ended, config)"
                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    [STMT_FORGET] = "DELETE FROM trials WHERE id >= ?1 AND id < ?2",
    [STMT_GRANT] =
        "INSERT OR REPLACE INTO leases (study, trial, owner, boot, ends) VALUES (?1, ?2, ?3, ?4, ?5)",
    [STMT_RENEW] = "UPDATE leases SET boot = ?3, ends = ?4 WHERE study = ?1 AND trial = ?2",
    [STMT_DROP] = "DELETE FROM leases WHERE study = ?1 AND trial = ?2",
    [STMT_EXPIRED] = "SELECT trial FROM leases WHERE study = ?1 AND (boot <> ?2 OR ends <= ?3"
                     " OR (owner <> ?4 AND is_gone(owner))) ORDER BY trial LIMIT 1",
};

/* ---- opening ---- */

static void close_store(void *self)
{
    struct sqlite_store *s = self;
    for (size_t i = 0; i < STMT_COUNT; i++)
        sqlite3_finalize(s->statements[i]);
    wni_sqlite_helper_free(s->helper);
    wni_sqlite_close(&s->file);
    free(s->name);
    free(s->config);
    free(s->due);
    free(s);
}

/* is_gone(owner) in SQL: the process that holds a lease has ended. */
static void is_gone(sqlite3_context *context, int n, sqlite3_value **values)
{
    const char *owner = n == 1 ? (const char *)sqlite3_value_text(values[0]) : NULL;
    sqlite3_result_int(context, owner && wni_process_is_gone(owner));
}

static wn_status prepare_all(struct sqlite_store *s, struct err *err)
{
    int code = sqlite3_create_function(s->file.db, "is_gone", 1, SQLITE_UTF8, NULL, is_gone, NULL, NULL);
    wn_status st = code ? wni_sqlite_fail(&s->file, code, err) : WN_OK;
    for (size_t i = 0; i < STMT_COUNT && !st; i++)
        st = wni_sqlite_prepare(&s->file, texts[i], &s->statements[i], err);
    return st;
}

static wn_status open_sqlite(const char *address, const char *name, const struct space *space, void **self,
                             struct err *err)
{
    struct sqlite_store *s = wni_new(struct sqlite_store, 1);
    *self = NULL;
    if (!s) return wni_fail_memory(err);
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    snprintf(s->owner, sizeof s->owner, "%ld@%s", (long)getpid(), host);
    wni_process_self(s->self);
    s->clock = wni_clock_seconds;
    wni_clock_boot(s->boot);
    s->width = space->n;
    s->name = wni_strdup(name);
    s->config = wni_new(double, space->n);
    wn_status st =
        s->name && s->config ? wni_sqlite_open(&s->file, address, SQLITE_CREATE, err) : wni_fail_memory(err);
    if (!st) st = prepare_all(s, err);
    if (st)
        close_store(s);
    else
        *self = s;
    return st;
}

/* ---- which study ---- */

/* NULL stays NULL. */
static wn_status copy_text(sqlite3_stmt *q, int column, char **out, struct err *err)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    if (!text && sqlite3_column_type(q, column) == SQLITE_NULL) return WN_OK;
    *out = text ? wni_strdup(text) : NULL;
    return *out ? WN_OK : wni_fail_memory(err);
}

static wn_status find_study(struct sqlite_store *s, struct study_found *found, struct err *err)
{
    sqlite3_stmt *find = NULL;
    bool more = false;
    wn_status st = wni_sqlite_prepare(&s->file,
                                      "SELECT id, created, setup, file FROM studies JOIN setups"
                                      " ON study = id AND since = 0 WHERE name = ?1",
                                      &find, err);
    if (!st) sqlite3_bind_text(find, 1, s->name, -1, SQLITE_STATIC);
    if (!st) st = wni_sqlite_step(&s->file, find, &more, err);
    if (more) {
        s->study = sqlite3_column_int64(find, 0);
        found->created = sqlite3_column_double(find, 1);
        st = copy_text(find, 2, &found->setup, err);
        if (!st) st = copy_text(find, 3, &found->file, err);
    }
    sqlite3_finalize(find);
    return st;
}

/* As of event number `since`; 0: created so. */
static wn_status write_setup(struct sqlite_store *s, uint64_t since, const char *setup, const char *file,
                             struct err *err)
{
    sqlite3_stmt *c = s->statements[STMT_CHANGE];
    sqlite3_clear_bindings(c);
    sqlite3_bind_int64(c, 1, s->study);
    sqlite3_bind_int64(c, 2, (int64_t)since);
    sqlite3_bind_text(c, 3, setup, -1, SQLITE_STATIC);
    if (file) sqlite3_bind_text(c, 4, file, -1, SQLITE_STATIC);
    return wni_sqlite_run(&s->file, c, err);
}

static wn_status create_study(struct sqlite_store *s, const struct study_about *about, double *created,
                              struct err *err)
{
    sqlite3_stmt *create = NULL;
    *created = wni_clock_wall();
    wn_status st = wni_sqlite_prepare(
        &s->file, "INSERT INTO studies (name, created, goal) VALUES (?1, ?2, ?3)", &create, err);
    if (!st) {
        sqlite3_bind_text(create, 1, s->name, -1, SQLITE_STATIC);
        sqlite3_bind_double(create, 2, *created);
        sqlite3_bind_int(create, 3, (int)about->goal);
        st = wni_sqlite_run(&s->file, create, err);
        s->study = sqlite3_last_insert_rowid(s->file.db);
    }
    sqlite3_finalize(create);
    return st ? st : write_setup(s, 0, about->setup, about->file, err);
}

static wn_status begin(void *self, struct err *err)
{
    struct sqlite_store *s = self;
    return wni_sqlite_run(&s->file, s->statements[STMT_BEGIN], err);
}

static wn_status commit(void *self, struct err *err)
{
    struct sqlite_store *s = self;
    return wni_sqlite_run(&s->file, s->statements[STMT_COMMIT], err);
}

/* SQLite has ended the transaction itself after some failures. */
static void rollback(void *self)
{
    struct sqlite_store *s = self;
    if (sqlite3_get_autocommit(s->file.db)) return;
    sqlite3_step(s->statements[STMT_ROLLBACK]);
    sqlite3_reset(s->statements[STMT_ROLLBACK]);
}

static wn_status attach(void *self, const struct study_about *about, struct study_found *found,
                        struct err *err)
{
    struct sqlite_store *s = self;
    wn_status st = find_study(s, found, err);
    if (st || found->setup) return st;
    st = begin(s, err);
    if (!st) st = find_study(s, found, err); /* somebody else may have been faster */
    if (!st && !found->setup) st = create_study(s, about, &found->created, err);
    if (!st) st = commit(s, err);
    if (st) rollback(s);
    return st;
}

/* ---- events ---- */

static void bind_number(sqlite3_stmt *statement, int column, double x)
{
    if (isnan(x))
        sqlite3_bind_null(statement, column);
    else
        sqlite3_bind_double(statement, column, x);
}

static void bind_event(const struct sqlite_store *s, sqlite3_stmt *a, uint64_t seq, const struct event *e)
{
    sqlite3_clear_bindings(a);
    sqlite3_bind_int64(a, 1, sqlite_row(s->study, seq));
    sqlite3_bind_int64(a, 2, s->study);
    sqlite3_bind_int(a, 3, (int)e->kind);
    if (e->kind != EVENT_ENQUEUE && e->kind != EVENT_SETUP) sqlite3_bind_int64(a, 4, e->trial);
    bind_number(a, 5, e->time);
    sqlite3_bind_double(a, 6, wni_clock_wall());
    if (e->kind == EVENT_REPORT) {
        sqlite3_bind_double(a, 7, e->resource);
        bind_number(a, 8, e->value);
    }
    if (e->kind == EVENT_FINISH) sqlite3_bind_int(a, 9, (int)e->state);
    if (e->kind == EVENT_ASK) sqlite3_bind_int64(a, 10, (int64_t)e->saw);
    if (e->kind == EVENT_ASK || e->kind == EVENT_ENQUEUE)
        sqlite3_bind_blob(a, 11, e->config, (int)(s->width * sizeof *e->config), SQLITE_STATIC);
    if (e->queued || e->retry) sqlite3_bind_int(a, 13, 1);
    if (e->detail) sqlite3_bind_text(a, 12, e->detail, -1, SQLITE_STATIC);
}

static wn_status write_row(struct sqlite_store *s, const struct trial_row *row, struct err *err)
{
    sqlite3_stmt *w = s->statements[STMT_ROW];
    sqlite3_bind_int64(w, 1, sqlite_row(s->study, row->number));
    sqlite3_bind_int64(w, 2, s->study);
    sqlite3_bind_int(w, 3, (int)row->state);
    sqlite3_bind_int64(w, 4, row->attempt);
    sqlite3_bind_int64(w, 5, (int64_t)row->saw);
    sqlite3_bind_int64(w, 6, (int64_t)row->reports);
    bind_number(w, 7, row->value);
    bind_number(w, 8, row->resource);
    bind_number(w, 9, row->best);
    bind_number(w, 10, row->best_resource);
    bind_number(w, 11, row->asked);
    bind_number(w, 12, row->ended);
    sqlite3_bind_text(w, 13, row->config, -1, SQLITE_STATIC);
    return wni_sqlite_run(&s->file, w, err);
}

static wn_status rewrite(void *self, const struct trial_row *row, struct err *err)
{
    struct sqlite_store *s = self;
    sqlite3_stmt *f = s->statements[STMT_FORGET];
    if (row) return write_row(s, row, err);
    sqlite3_bind_int64(f, 1, sqlite_row(s->study, 0));
    sqlite3_bind_int64(f, 2, sqlite_row(s->study + 1, 0));
    return wni_sqlite_run(&s->file, f, err);
}

static wn_status append(void *self, uint64_t seq, const struct event *e, const struct trial_row *row,
                        struct err *err)
{
    struct sqlite_store *s = self;
    sqlite3_stmt *a = s->statements[STMT_APPEND];
    bind_event(s, a, seq, e);
    wn_status st = wni_sqlite_run(&s->file, a, err);
    if (st && sqlite3_extended_errcode(s->file.db) == SQLITE_CONSTRAINT_FOREIGNKEY)
        return wni_fail(err, WN_ENOTFOUND, "study '%s' was removed from store '%s'", s->name, s->file.path);
    if (!st && e->kind == EVENT_SETUP) st = write_setup(s, seq, e->setup, e->file, err);
    return !st && row ? write_row(s, row, err) : st;
}

static wn_status read_config(struct sqlite_store *s, sqlite3_stmt *r, struct event *e, struct err *err)
{
    const void *bytes = sqlite3_column_blob(r, 7);
    size_t n = (size_t)sqlite3_column_bytes(r, 7);
    if (n != s->width * sizeof *s->config)
        return wni_fail(err, WN_ESTORE,
                        "store '%s': a configuration of %zu bytes in a study of %zu parameters", s->file.path,
                        n, s->width);
    if (n) memcpy(s->config, bytes, n);
    e->config = s->config;
    return WN_OK;
}

/* Its texts stay until the next one is read. */
static wn_status read_setup(struct sqlite_store *s, uint64_t seq, struct event *e, struct err *err)
{
    sqlite3_stmt *q = s->statements[STMT_SETUP];
    bool more;
    sqlite3_reset(q);
    sqlite3_bind_int64(q, 1, s->study);
    sqlite3_bind_int64(q, 2, (int64_t)seq);
    wn_status st = wni_sqlite_step(&s->file, q, &more, err);
    if (st) return st;
    e->setup = more ? (const char *)sqlite3_column_text(q, 0) : NULL;
    e->file = more ? (const char *)sqlite3_column_text(q, 1) : NULL;
    if (!more)
        return wni_fail(err, WN_ESTORE, "store '%s': the setup of event %llu is missing", s->file.path,
                        (unsigned long long)seq);
    return e->setup ? WN_OK : wni_fail_memory(err);
}

static wn_status read_event(struct sqlite_store *s, sqlite3_stmt *r, struct event *e, struct err *err)
{
    *e = (struct event){.kind = (enum event_kind)sqlite3_column_int(r, 0),
                        .trial = (uint32_t)sqlite3_column_int64(r, 1),
                        .time = wni_sqlite_number(r, 2)};
    switch (e->kind) {
    case EVENT_ASK:
        e->queued = sqlite3_column_int(r, 9);
        e->saw = (uint64_t)sqlite3_column_int64(r, 6);
        return read_config(s, r, e, err);
    case EVENT_ENQUEUE:
        return read_config(s, r, e, err);
    case EVENT_REPORT:
        e->resource = sqlite3_column_double(r, 3);
        e->value = wni_sqlite_number(r, 4);
        break;
    case EVENT_FINISH:
        e->retry = sqlite3_column_int(r, 9);
        e->state = (wn_state)sqlite3_column_int(r, 5);
        e->detail = (const char *)sqlite3_column_text(r, 8);
        break;
    case EVENT_RESUME:
        break;
    case EVENT_SETUP:
        return read_setup(s, (uint64_t)sqlite3_column_int64(r, 10), e, err);
    }
    return WN_OK;
}

static wn_status read_events(void *self, uint64_t position, take_event *take, void *context, struct err *err)
{
    struct sqlite_store *s = self;
    sqlite3_stmt *r = s->statements[STMT_READ];
    sqlite3_bind_int64(r, 1, sqlite_row(s->study, position));
    sqlite3_bind_int64(r, 2, sqlite_row(s->study + 1, 0));
    struct event e;
    bool more;
    wn_status st = wni_sqlite_step(&s->file, r, &more, err);
    while (!st && more) {
        st = read_event(s, r, &e, err);
        if (!st) st = take(context, &e, err);
        if (!st) st = wni_sqlite_step(&s->file, r, &more, err);
    }
    sqlite3_reset(r);
    sqlite3_reset(s->statements[STMT_SETUP]);
    return st;
}

/* ---- leases ---- */

/* Renewed when a quarter of its time is gone: a worker that reports a thousand times a second writes it a few
 * times a minute. */
static wn_status renew_lease(struct sqlite_store *s, uint32_t trial, double seconds, struct err *err)
{
    sqlite3_stmt *r = s->statements[STMT_RENEW];
    double now = s->clock();
    size_t known = s->n_due;
    if (trial < known && now < s->due[trial]) return WN_OK;
    if (!wni_reserve((void **)&s->due, &s->due_cap, (size_t)trial + 1, sizeof *s->due))
        return wni_fail_memory(err);
    for (; s->n_due <= trial; s->n_due++)
        s->due[s->n_due] = 0;
    sqlite3_bind_int64(r, 1, s->study);
    sqlite3_bind_int64(r, 2, trial);
    sqlite3_bind_text(r, 3, s->boot, -1, SQLITE_STATIC);
    sqlite3_bind_double(r, 4, now + seconds);
    wn_status st = wni_sqlite_run(&s->file, r, err);
    if (!st) s->due[trial] = now + seconds / 4;
    return st;
}

static wn_status grant_lease(struct sqlite_store *s, uint32_t trial, const char *owner, double seconds,
                             struct err *err)
{
    sqlite3_stmt *g = s->statements[STMT_GRANT];
    sqlite3_bind_int64(g, 1, s->study);
    sqlite3_bind_int64(g, 2, trial);
    sqlite3_bind_text(g, 3, owner, -1, SQLITE_STATIC);
    sqlite3_bind_text(g, 4, s->boot, -1, SQLITE_STATIC);
    sqlite3_bind_double(g, 5, s->clock() + seconds);
    if (trial < s->n_due) s->due[trial] = 0;
    return wni_sqlite_run(&s->file, g, err);
}

static wn_status lease(void *self, uint32_t trial, enum lease_act act, double seconds, struct err *err)
{
    struct sqlite_store *s = self;
    if (act == LEASE_GRANT) return grant_lease(s, trial, s->owner, seconds, err);
    if (act == LEASE_HOLD) return grant_lease(s, trial, s->self, seconds, err);
    if (act == LEASE_RENEW) return renew_lease(s, trial, seconds, err);
    sqlite3_bind_int64(s->statements[STMT_DROP], 1, s->study);
    sqlite3_bind_int64(s->statements[STMT_DROP], 2, trial);
    return wni_sqlite_run(&s->file, s->statements[STMT_DROP], err);
}

/* All users of a file in write-ahead mode are on one machine, so a lease of another boot is of a worker that
 * died with it.  One whose holder has ended is over at once; our own we need not look up.  Every ask comes
 * here, and each look goes through the leases of all that run: when none was over, a while of rest. */
static wn_status expired(void *self, uint32_t *trial, struct err *err)
{
    struct sqlite_store *s = self;
    sqlite3_stmt *q = s->statements[STMT_EXPIRED];
    bool more = false;
    double now = s->clock();
    *trial = TRIAL_NONE;
    if (now < s->look_again) return WN_OK;
    sqlite3_bind_int64(q, 1, s->study);
    sqlite3_bind_text(q, 2, s->boot, -1, SQLITE_STATIC);
    sqlite3_bind_double(q, 3, now);
    sqlite3_bind_text(q, 4, s->self, -1, SQLITE_STATIC);
    wn_status st = wni_sqlite_step(&s->file, q, &more, err);
    if (more) *trial = (uint32_t)sqlite3_column_int64(q, 0);
    if (!st && !more) s->look_again = now + LOOK_SECONDS;
    sqlite3_reset(q);
    return st;
}

static void employ_helper(void *self)
{
    struct sqlite_store *s = self;
    if (!s->helper) s->helper = wni_sqlite_helper_new(&s->file, SQLITE_PASS, SQLITE_MOST);
}

const struct store_ops wni_store_sqlite = {
    .scheme = "sqlite",
    .open = open_sqlite,
    .attach = attach,
    .begin = begin,
    .append = append,
    .rewrite = rewrite,
    .lease = lease,
    .commit = commit,
    .rollback = rollback,
    .read = read_events,
    .expired = expired,
    .employ_helper = employ_helper,
    .close = close_store,
    .catalog = &wni_sqlite_catalog,
};
