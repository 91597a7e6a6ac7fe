/* sqlite_list.c -- listings of a SQLite file: studies and trials as rows, and removing a study.
 *
 * Trials come from the summary, so that the first of 100,000 is there at once.  The log is looked at for
 * those that are running, because their reports do not touch the summary, and for those that ended in
 * trouble, because it says why. */
#include "store/sqlite_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/process.h"

#include <math.h>
#include <string.h>

struct found {
    int64_t study;
    wn_goal goal;
    char *setup; /* when asked for */
};

static wn_status find_study(struct sqlite_file *f, const char *name, bool setup, struct found *out,
                            struct err *err)
{
    sqlite3_stmt *find = NULL;
    bool more = false;
    wn_status st = wni_sqlite_prepare(f,
                                      "SELECT id, goal, setup FROM studies JOIN setups ON study = id WHERE"
                                      " name = ?1 ORDER BY since DESC LIMIT 1",
                                      &find, err);
    if (!st) sqlite3_bind_text(find, 1, name, -1, SQLITE_STATIC);
    if (!st) st = wni_sqlite_step(f, find, &more, err);
    if (more)
        *out = (struct found){sqlite3_column_int64(find, 0), (wn_goal)sqlite3_column_int(find, 1), NULL};
    if (more && setup) {
        const char *text = (const char *)sqlite3_column_text(find, 2);
        out->setup = text ? wni_strdup(text) : NULL;
        if (!out->setup) st = wni_fail_memory(err);
    }
    sqlite3_finalize(find);
    if (!st && !more) st = wni_fail(err, WN_ENOTFOUND, "store '%s' has no study '%s'", f->path, name);
    return st;
}

/* ---- studies ---- */

static wn_status read_setup(const char *address, const char *name, char **setup, struct err *err)
{
    struct sqlite_file f;
    struct found found = {0};
    wn_status st = wni_sqlite_open(&f, address, SQLITE_LOOK, err);
    if (st) return st;
    st = find_study(&f, name, true, &found, err);
    *setup = found.setup;
    wni_sqlite_close(&f);
    return st;
}

static void between(sqlite3_stmt *q, int64_t study)
{
    sqlite3_bind_int64(q, 1, sqlite_row(study, 0));
    sqlite3_bind_int64(q, 2, sqlite_row(study + 1, 0));
}

static wn_status count_states(struct sqlite_file *f, int64_t study, struct study_row *row, struct err *err)
{
    sqlite3_stmt *q = NULL;
    bool more = false;
    wn_status st = wni_sqlite_prepare(
        f, "SELECT state, count(*) FROM trials WHERE id >= ?1 AND id < ?2 GROUP BY state", &q, err);
    if (!st) between(q, study);
    while (!st && !(st = wni_sqlite_step(f, q, &more, err)) && more) {
        int state = sqlite3_column_int(q, 0);
        if (state < 0 || state > WN_CANCELLED) continue;
        row->by_state[state] = (uint64_t)sqlite3_column_int64(q, 1);
        row->trials += row->by_state[state];
    }
    sqlite3_finalize(q);
    return st;
}

/* A number and a value: the best trial, the last event. */
static wn_status find_one(struct sqlite_file *f, int64_t study, const char *sql, int64_t *number,
                          double *value, struct err *err)
{
    sqlite3_stmt *q = NULL;
    bool more = false;
    wn_status st = wni_sqlite_prepare(f, sql, &q, err);
    if (!st) between(q, study);
    if (!st) st = wni_sqlite_step(f, q, &more, err);
    *number = more ? sqlite3_column_int64(q, 0) : 0;
    *value = more ? wni_sqlite_number(q, 1) : NAN;
    sqlite3_finalize(q);
    return st;
}

static wn_status find_best(struct sqlite_file *f, int64_t study, struct study_row *row, struct err *err)
{
    static const char *const best[] = {
        [WN_MINIMIZE] = "SELECT number, min(best) FROM trials WHERE id >= ?1 AND id < ?2",
        [WN_MAXIMIZE] = "SELECT number, max(best) FROM trials WHERE id >= ?1 AND id < ?2",
    };
    int64_t trial, events = 0;
    double ignored;
    wn_status st = find_one(f, study, best[row->about.goal], &trial, &row->best, err);
    if (!st)
        st =
            find_one(f, study, "SELECT seq, 0 FROM events WHERE id > ?1 AND id < ?2 ORDER BY id DESC LIMIT 1",
                     &events, &ignored, err);
    row->best_trial = (uint32_t)trial;
    row->events = (uint64_t)events;
    return st;
}

/* The leases that a worker's look would find in force. */
static wn_status count_alive(struct sqlite_file *f, int64_t study, struct study_row *row, struct err *err)
{
    sqlite3_stmt *q = NULL;
    bool more = false;
    char boot[WNI_BOOT_MAX];
    wni_clock_boot(boot);
    wn_status st = wni_sqlite_prepare(
        f, "SELECT owner FROM leases WHERE study = ?1 AND boot = ?2 AND ends > ?3", &q, err);
    if (!st) {
        sqlite3_bind_int64(q, 1, study);
        sqlite3_bind_text(q, 2, boot, -1, SQLITE_STATIC);
        sqlite3_bind_double(q, 3, wni_clock_seconds());
    }
    while (!st && !(st = wni_sqlite_step(f, q, &more, err)) && more) {
        const char *owner = (const char *)sqlite3_column_text(q, 0);
        row->alive += !owner || !wni_process_is_gone(owner);
    }
    sqlite3_finalize(q);
    return st;
}

static wn_status give_study(struct sqlite_file *f, sqlite3_stmt *q, take_study *take, void *context,
                            struct err *err)
{
    int64_t study = sqlite3_column_int64(q, 0);
    struct study_row row = {.name = (const char *)sqlite3_column_text(q, 1),
                            .created = sqlite3_column_double(q, 2),
                            .about = {.setup = (const char *)sqlite3_column_text(q, 3),
                                      .file = (const char *)sqlite3_column_text(q, 4),
                                      .goal = sqlite3_column_int(q, 5) ? WN_MAXIMIZE : WN_MINIMIZE}};
    if (!row.name || !row.about.setup) return wni_fail_memory(err);
    wn_status st = count_states(f, study, &row, err);
    if (!st) st = find_best(f, study, &row, err);
    if (!st) st = count_alive(f, study, &row, err);
    return st ? st : take(context, &row, err);
}

static wn_status list_studies(struct sqlite_file *f, const char *name, take_study *take, void *context,
                              struct err *err)
{
    sqlite3_stmt *q = NULL;
    bool more = false;
    wn_status st = wni_sqlite_prepare(
        f,
        "SELECT id, name, created, setup, file, goal FROM studies JOIN setups ON study = id"
        " AND since = (SELECT max(since) FROM setups WHERE study = id)"
        " WHERE ?1 IS NULL OR name = ?1 ORDER BY id",
        &q, err);
    if (!st && name) sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
    while (!st && !(st = wni_sqlite_step(f, q, &more, err)) && more)
        st = give_study(f, q, take, context, err);
    sqlite3_finalize(q);
    return st;
}

static wn_status studies(const char *address, const char *name, take_study *take, void *context,
                         struct err *err)
{
    struct sqlite_file f;
    struct found study;
    wn_status st = wni_sqlite_open(&f, address, SQLITE_LOOK, err);
    if (st) return st;
    if (name) st = find_study(&f, name, false, &study, err);
    if (!st) st = list_studies(&f, name, take, context, err);
    wni_sqlite_close(&f);
    return st;
}

/* ---- trials ---- */

static wn_status read_running(struct sqlite_file *f, sqlite3_stmt *q, const struct found *of,
                              struct trial_row *row, struct err *err)
{
    bool more = false;
    wn_status st = WN_OK;
    row->reports = 0;
    row->value = row->resource = row->best = row->best_resource = NAN;
    sqlite3_bind_int64(q, 1, sqlite_row(of->study, row->saw));
    sqlite3_bind_int64(q, 2, sqlite_row(of->study + 1, 0));
    sqlite3_bind_int64(q, 3, row->number);
    while (!(st = wni_sqlite_step(f, q, &more, err)) && more)
        wni_trial_row_add(row, sqlite3_column_double(q, 0), wni_sqlite_number(q, 1), of->goal);
    sqlite3_reset(q);
    return st;
}

/* The FINISH event that the row tells of, from the trial's ASK on: what happened in the study while the trial
 * lived is read.  There is no index by trial, which every report would pay for.  The text is the statement's,
 * until it is reset. */
static wn_status read_reason(struct sqlite_file *f, sqlite3_stmt *q, const struct found *of,
                             struct trial_row *row, struct err *err)
{
    bool more = false;
    sqlite3_bind_int64(q, 1, sqlite_row(of->study, row->saw));
    sqlite3_bind_int64(q, 2, sqlite_row(of->study + 1, 0));
    sqlite3_bind_int64(q, 3, row->number);
    sqlite3_bind_int(q, 4, row->state);
    sqlite3_bind_double(q, 5, row->ended);
    wn_status st = wni_sqlite_step(f, q, &more, err);
    if (more) row->reason = (const char *)sqlite3_column_text(q, 0);
    return st;
}

static bool is_trouble(wn_state state)
{
    return state >= WN_FAILED && state <= WN_CANCELLED;
}

static void read_row(sqlite3_stmt *q, struct trial_row *row)
{
    *row = (struct trial_row){
        .number = (uint32_t)sqlite3_column_int64(q, 0),
        .state = (wn_state)sqlite3_column_int(q, 1),
        .attempt = (uint32_t)sqlite3_column_int64(q, 2),
        .saw = (uint64_t)sqlite3_column_int64(q, 3),
        .reports = (uint64_t)sqlite3_column_int64(q, 4),
        .value = wni_sqlite_number(q, 5),
        .resource = wni_sqlite_number(q, 6),
        .best = wni_sqlite_number(q, 7),
        .best_resource = wni_sqlite_number(q, 8),
        .asked = wni_sqlite_number(q, 9),
        .ended = wni_sqlite_number(q, 10),
        .config = (const char *)sqlite3_column_text(q, 11),
    };
}

static wn_status list_trials(struct sqlite_file *f, const struct found *of, uint32_t from, take_trial *take,
                             void *context, struct err *err)
{
    sqlite3_stmt *q = NULL, *reports = NULL, *reason = NULL;
    struct trial_row row;
    bool more = false;
    wn_status st = wni_sqlite_prepare(
        f,
        "SELECT number, state, attempt, saw, reports, value, resource, best, best_resource, asked, ended,"
        " config FROM trials WHERE id >= ?1 AND id < ?2 ORDER BY id",
        &q, err);
    if (!st)
        st = wni_sqlite_prepare(f,
                                "SELECT resource, value FROM events WHERE id > ?1 AND id < ?2 AND kind = 2"
                                " AND trial = ?3 ORDER BY id",
                                &reports, err);
    if (!st)
        st = wni_sqlite_prepare(f,
                                "SELECT detail FROM events WHERE id > ?1 AND id < ?2 AND kind = 4"
                                " AND trial = ?3 AND state = ?4 AND time = ?5 ORDER BY id LIMIT 1",
                                &reason, err);
    if (!st) between(q, of->study);
    if (!st) sqlite3_bind_int64(q, 1, sqlite_row(of->study, from));
    while (!st && !(st = wni_sqlite_step(f, q, &more, err)) && more) {
        read_row(q, &row);
        if (!row.config) st = wni_fail_memory(err);
        if (!st && row.state == WN_RUNNING) st = read_running(f, reports, of, &row, err);
        if (!st && is_trouble(row.state)) st = read_reason(f, reason, of, &row, err);
        if (!st) st = take(context, &row, err);
        sqlite3_reset(reason);
    }
    sqlite3_finalize(q);
    sqlite3_finalize(reports);
    sqlite3_finalize(reason);
    return st == WN_WAIT ? WN_OK : st;
}

static wn_status trials(const char *address, const char *name, uint32_t from, take_trial *take, void *context,
                        struct err *err)
{
    struct sqlite_file f;
    struct found found = {0};
    wn_status st = wni_sqlite_open(&f, address, SQLITE_LOOK, err);
    if (st) return st;
    st = find_study(&f, name, false, &found, err);
    if (!st) st = list_trials(&f, &found, from, take, context, err);
    wni_sqlite_close(&f);
    return st;
}

/* ---- removing ---- */

/* Events, trials and leases go with the study.  Whoever has it open is told at the next write. */
static wn_status remove_study(const char *address, const char *name, struct err *err)
{
    struct sqlite_file f;
    sqlite3_stmt *q = NULL;
    struct found found = {0};
    wn_status st = wni_sqlite_open(&f, address, SQLITE_CHANGE, err);
    if (st) return st;
    st = find_study(&f, name, false, &found, err);
    if (!st) st = wni_sqlite_prepare(&f, "DELETE FROM studies WHERE id = ?1", &q, err);
    if (!st) sqlite3_bind_int64(q, 1, found.study);
    if (!st) st = wni_sqlite_run(&f, q, err);
    sqlite3_finalize(q);
    wni_sqlite_close(&f);
    return st;
}

const struct catalog_ops wni_sqlite_catalog = {
    .setup = read_setup, .studies = studies, .trials = trials, .remove = remove_study};
