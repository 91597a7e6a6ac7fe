/* results.c -- the SQLite file of an experiment: plan, runs, curves. */
#include "bench/results.h"

#include "base/mem.h"
#include "plot/figure.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { APPLICATION_ID = 0x776e6e62, FORMAT = 1 }; /* "wnnb" */

static const char *const schema =
    "CREATE TABLE IF NOT EXISTS experiment (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS methods (position INTEGER PRIMARY KEY, name TEXT, method TEXT, options TEXT);"
    "CREATE TABLE IF NOT EXISTS tasks (position INTEGER PRIMARY KEY, name TEXT, family TEXT, kind TEXT, "
    "metric TEXT,"
    "    resource TEXT, honesty TEXT, maximize INTEGER, parameters INTEGER, levels INTEGER, max_resource "
    "REAL,"
    "    limit_resource REAL, limit_seconds REAL, best REAL, worst REAL);"
    "CREATE TABLE IF NOT EXISTS groups (position INTEGER PRIMARY KEY, name TEXT, title TEXT);"
    "CREATE TABLE IF NOT EXISTS members (group_position INTEGER, is_task INTEGER, rank INTEGER, position "
    "INTEGER,"
    "    PRIMARY KEY (group_position, is_task, rank)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS runs (method TEXT, task TEXT, seed INTEGER, identity TEXT, trials INTEGER, "
    "reports INTEGER,"
    "    resource REAL, simulated_seconds REAL, best REAL, exhausted INTEGER,"
    "    PRIMARY KEY (method, task, seed)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS improvements (method TEXT, task TEXT, seed INTEGER, step INTEGER, time REAL, "
    "reports "
    "INTEGER,"
    "    value REAL, PRIMARY KEY (method, task, seed, step)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS timings (method TEXT, task TEXT, seed INTEGER, real_seconds REAL,"
    "    PRIMARY KEY (method, task, seed)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS failures (method TEXT, task TEXT, seed INTEGER, why TEXT, command TEXT,"
    "    PRIMARY KEY (method, task, seed)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS surrogate_scores (task TEXT, model TEXT, n INTEGER, seed INTEGER, rmse REAL,"
    "    mae REAL, calibration REAL, mean_gap REAL, seconds REAL, PRIMARY KEY (task, model, n, seed)) "
    "WITHOUT ROWID;";

/* ---- statements ---- */

static wn_status sql_failed(const struct results *r, struct err *err)
{
    int code = sqlite3_errcode(r->db);
    if (code == SQLITE_NOMEM) return wni_fail_memory(err);
    return wni_fail(err, WN_ESTORE, "results.db: %s", sqlite3_errmsg(r->db));
}

static wn_status execute(struct results *r, const char *sql, struct err *err)
{
    return sqlite3_exec(r->db, sql, NULL, NULL, NULL) ? sql_failed(r, err) : WN_OK;
}

/* Binds by letters: t text, i uint64_t, z size_t, d double (NAN is NULL). */
static sqlite3_stmt *prepare_list(struct results *r, const char *sql, const char *kinds, va_list values)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(r->db, sql, -1, &s, NULL)) return NULL;
    int at = 1, bad = 0;
    for (const char *k = kinds; *k; k++, at++) {
        if (*k == 't') bad |= sqlite3_bind_text(s, at, va_arg(values, const char *), -1, SQLITE_TRANSIENT);
        if (*k == 'i') bad |= sqlite3_bind_int64(s, at, (sqlite3_int64)va_arg(values, uint64_t));
        if (*k == 'z') bad |= sqlite3_bind_int64(s, at, (sqlite3_int64)va_arg(values, size_t));
        if (*k == 'd') bad |= sqlite3_bind_double(s, at, va_arg(values, double));
    }
    if (!bad) return s;
    sqlite3_finalize(s);
    return NULL;
}

static sqlite3_stmt *prepare(struct results *r, const char *sql, const char *kinds, ...)
{
    va_list values;
    va_start(values, kinds);
    sqlite3_stmt *s = prepare_list(r, sql, kinds, values);
    va_end(values);
    return s;
}

/* Runs a statement that returns no rows. */
static wn_status perform(struct results *r, struct err *err, const char *sql, const char *kinds, ...)
{
    va_list values;
    va_start(values, kinds);
    sqlite3_stmt *s = prepare_list(r, sql, kinds, values);
    va_end(values);
    bool done = s && sqlite3_step(s) == SQLITE_DONE;
    wn_status st = done ? WN_OK : sql_failed(r, err);
    sqlite3_finalize(s);
    return st;
}

/* Ends a loop over rows: `last` is what sqlite3_step() said. */
static wn_status finish(struct results *r, sqlite3_stmt *s, int last, struct err *err)
{
    wn_status st = s && (last == SQLITE_DONE || last == SQLITE_ROW) ? WN_OK : sql_failed(r, err);
    sqlite3_finalize(s);
    return st;
}

static int step(sqlite3_stmt *s)
{
    return s ? sqlite3_step(s) : SQLITE_ERROR;
}

static wn_status commit(struct results *r, wn_status st, struct err *err)
{
    if (!st) st = execute(r, "COMMIT", err);
    if (st) sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

/* ---- opening ---- */

static wn_status take_lock(struct results *r, const char *directory, struct err *err)
{
    struct buf path = {0};
    wni_buf_printf(&path, "%s/.lock", directory);
    if (path.failed) return wni_fail_memory(err);
    r->lock = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    wni_buf_release(&path);
    if (r->lock < 0) return wni_fail(err, WN_EIO, "cannot write in '%s': %s", directory, strerror(errno));
    if (!flock(r->lock, LOCK_EX | LOCK_NB)) return WN_OK;
    return wni_fail(err, WN_EIO, "another winnow is at work in '%s'", directory);
}

static wn_status open_file(struct results *r, const char *directory, int flags, struct err *err)
{
    struct buf path = {0};
    wni_buf_printf(&path, "%s/results.db", directory);
    if (path.failed) return wni_fail_memory(err);
    wn_status st = WN_OK;
    if (!(flags & SQLITE_OPEN_CREATE) && access(path.data, F_OK))
        st = wni_fail(err, WN_ENOTFOUND, "'%s' holds no results: there is no results.db", directory);
    else if (sqlite3_open_v2(path.data, &r->db, flags | SQLITE_OPEN_FULLMUTEX, NULL))
        st = r->db ? sql_failed(r, err) : wni_fail_memory(err);
    wni_buf_release(&path);
    return st;
}

static wn_status read_number(struct results *r, const char *sql, int64_t *out, struct err *err)
{
    sqlite3_stmt *s = prepare(r, sql, "");
    int last = step(s);
    *out = last == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    return finish(r, s, last, err);
}

static wn_status check_format(struct results *r, const char *directory, bool create, struct err *err)
{
    int64_t id = 0, format = 0, tables = 0;
    wn_status st = read_number(r, "PRAGMA application_id", &id, err);
    if (!st) st = read_number(r, "PRAGMA user_version", &format, err);
    if (!st) st = read_number(r, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (st) return st;
    if (create && !tables) {
        char marks[96];
        snprintf(marks, sizeof marks, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
                 FORMAT);
        st = execute(r, "BEGIN IMMEDIATE", err);
        if (!st) st = execute(r, schema, err);
        if (!st) st = execute(r, marks, err);
        return commit(r, st, err);
    }
    if (id != APPLICATION_ID)
        return wni_fail(err, WN_EINVAL, "'%s/results.db' is not the results of an experiment", directory);
    if (format != FORMAT)
        return wni_fail(err, WN_EINVAL, "'%s/results.db' was written by another version of winnow",
                        directory);
    /* a table that came later is added; FORMAT counts changes to the others */
    return create ? execute(r, schema, err) : WN_OK;
}

wn_status wni_results_create(struct results *r, const char *directory, struct err *err)
{
    *r = (struct results){.lock = -1};
    wn_status st = wni_make_directory(directory, err);
    if (!st) st = take_lock(r, directory, err);
    if (!st) st = open_file(r, directory, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    /* Write-ahead: a commit is one append.  It survives the death of the program, if not that of the machine,
     * and a torn one is dropped when the file is opened next. */
    if (!st) st = execute(r, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", err);
    if (!st) st = check_format(r, directory, true, err);
    if (st) wni_results_close(r);
    return st;
}

wn_status wni_results_open(struct results *r, const char *directory, struct err *err)
{
    *r = (struct results){.lock = -1};
    wn_status st =
        open_file(r, directory, SQLITE_OPEN_READWRITE, err); /* a journal may have to be replayed */
    if (!st) st = check_format(r, directory, false, err);
    if (st) wni_results_close(r);
    return st;
}

void wni_results_close(struct results *r)
{
    /* back to one file that can be copied */
    if (r->lock >= 0 && r->db) sqlite3_exec(r->db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    sqlite3_close(r->db);
    if (r->lock >= 0) close(r->lock);
    *r = (struct results){.lock = -1};
}

/* ---- the plan ---- */

static wn_status write_value(struct results *r, const char *key, double value, struct err *err)
{
    return perform(r, err, "INSERT INTO experiment VALUES (?, ?)", "td", key, value);
}

static wn_status write_task(struct results *r, const struct task *t, size_t position, struct err *err)
{
    return perform(r, err, "INSERT INTO tasks VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", "zttttttizzddddd",
                   position, t->name, t->family, t->kind, t->metric, t->resource, t->honesty,
                   (uint64_t)(t->goal == WN_MAXIMIZE), t->n_params, t->n_levels, t->max_resource,
                   t->limit_resource, t->limit_seconds, t->best, t->worst);
}

static wn_status write_members(struct results *r, size_t group, size_t is_task, const size_t *list, size_t n,
                               struct err *err)
{
    wn_status st = WN_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = perform(r, err, "INSERT INTO members VALUES (?, ?, ?, ?)", "zzzz", group, is_task, i, list[i]);
    return st;
}

static wn_status write_group(struct results *r, const struct bench_group *g, size_t position, struct err *err)
{
    wn_status st = perform(r, err, "INSERT INTO groups VALUES (?, ?, ?)", "ztt", position, g->name, g->title);
    if (!st) st = write_members(r, position, 0, g->methods, g->n_methods, err);
    if (!st) st = write_members(r, position, 1, g->tasks, g->n_tasks, err);
    return st;
}

static wn_status write_plan(struct results *r, const struct experiment *e, struct err *err)
{
    wn_status st =
        execute(r,
                "DELETE FROM experiment; DELETE FROM methods; DELETE FROM tasks; DELETE FROM groups; "
                "DELETE FROM members",
                err);
    if (!st) st = perform(r, err, "INSERT INTO experiment VALUES ('name', ?)", "t", e->name);
    if (!st) st = write_value(r, "first_seed", (double)e->first_seed, err);
    if (!st) st = write_value(r, "seeds", (double)e->seeds, err);
    if (!st) st = write_value(r, "workers", e->workers, err);
    for (size_t i = 0; i < e->n_methods && !st; i++)
        st = perform(r, err, "INSERT INTO methods VALUES (?, ?, ?, ?)", "zttt", i, e->methods[i].name,
                     e->methods[i].method, e->methods[i].options);
    for (size_t i = 0; i < e->n_tasks && !st; i++)
        st = write_task(r, &e->tasks[i], i, err);
    for (size_t i = 0; i < e->n_groups && !st; i++)
        st = write_group(r, &e->groups[i], i, err);
    return st;
}

static wn_status forget(struct results *r, const char *method, const char *task, const char *identity,
                        size_t *stale, struct err *err)
{
    static const char *const statements[] = {
        "DELETE FROM improvements WHERE method = ?1 AND task = ?2 AND seed IN (SELECT seed FROM runs WHERE "
        "method = ?1 AND task = ?2 AND identity <> ?3)",
        "DELETE FROM timings WHERE method = ?1 AND task = ?2 AND seed IN (SELECT seed FROM runs WHERE "
        "method = ?1 AND task = ?2 AND identity <> ?3)",
        "DELETE FROM runs WHERE method = ?1 AND task = ?2 AND identity <> ?3"};
    wn_status st = WN_OK;
    for (size_t i = 0; i < 3 && !st; i++)
        st = perform(r, err, statements[i], "ttt", method, task, identity);
    *stale += st ? 0 : (size_t)sqlite3_changes(r->db);
    return st;
}

static wn_status forget_stale(struct results *r, const struct experiment *e, size_t *stale, struct err *err)
{
    struct buf identity = {0};
    wn_status st = WN_OK;
    for (size_t i = 0; i < e->n_methods * e->n_tasks && !st; i++) {
        struct bench_run one = {.method = i / e->n_tasks, .task = i % e->n_tasks};
        if (!wni_experiment_wants(e, one.method, one.task)) continue;
        wni_buf_clear(&identity);
        wni_run_identity(e, &one, &identity);
        st = identity.failed
                 ? wni_fail_memory(err)
                 : forget(r, e->methods[one.method].name, e->tasks[one.task].name, identity.data, stale, err);
    }
    wni_buf_release(&identity);
    return st;
}

wn_status wni_results_plan(struct results *r, const struct experiment *e, size_t *stale, struct err *err)
{
    *stale = 0;
    wn_status st = execute(r, "BEGIN IMMEDIATE", err);
    if (st) return st;
    st = write_plan(r, e, err);
    if (!st) st = forget_stale(r, e, stale, err);
    if (!st) st = execute(r, "DELETE FROM failures", err);
    return commit(r, st, err);
}

wn_status wni_results_done(struct results *r, const struct experiment *e, const struct bench_run *runs,
                           size_t n, bool *done, struct err *err)
{
    sqlite3_stmt *s = prepare(r, "SELECT 1 FROM runs WHERE method = ? AND task = ? AND seed = ?", "");
    int last = SQLITE_DONE;
    for (size_t i = 0; i < n && s && (last == SQLITE_DONE || last == SQLITE_ROW); i++) {
        sqlite3_reset(s);
        sqlite3_bind_text(s, 1, e->methods[runs[i].method].name, -1, SQLITE_STATIC);
        sqlite3_bind_text(s, 2, e->tasks[runs[i].task].name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s, 3, (sqlite3_int64)runs[i].seed);
        last = sqlite3_step(s);
        done[i] = last == SQLITE_ROW;
    }
    return finish(r, s, last, err);
}

/* ---- runs ---- */

static wn_status save_improvements(struct results *r, const struct finished_run *f, const char *method,
                                   const char *task, struct err *err)
{
    sqlite3_stmt *s =
        prepare(r, "INSERT INTO improvements VALUES (?, ?, ?, ?, ?, ?, ?)", "tti", method, task, f->run.seed);
    int last = SQLITE_DONE;
    for (size_t i = 0; i < f->n && s && last == SQLITE_DONE; i++) {
        sqlite3_reset(s); /* the first three stay bound */
        sqlite3_bind_int64(s, 4, (sqlite3_int64)i);
        sqlite3_bind_double(s, 5, f->improvements[i].time);
        sqlite3_bind_int64(s, 6, (sqlite3_int64)f->improvements[i].reports);
        sqlite3_bind_double(s, 7, f->improvements[i].value);
        last = sqlite3_step(s);
    }
    return finish(r, s, last, err);
}

static wn_status save_run(struct results *r, const struct experiment *e, const struct finished_run *f,
                          struct err *err)
{
    const char *method = e->methods[f->run.method].name, *task = e->tasks[f->run.task].name;
    const struct sim_outcome *o = &f->outcome;
    struct buf identity = {0};
    wni_run_identity(e, &f->run, &identity);
    wn_status st = identity.failed ? wni_fail_memory(err) : WN_OK;
    if (!st)
        st = perform(r, err, "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "ttitiidddi", method,
                     task, f->run.seed, identity.data, o->trials, o->reports, o->total_resource,
                     o->simulated_seconds, o->best, (uint64_t)o->exhausted);
    wni_buf_release(&identity);
    if (!st) st = save_improvements(r, f, method, task, err);
    if (!st)
        st = perform(r, err, "INSERT INTO timings VALUES (?, ?, ?, ?)", "ttid", method, task, f->run.seed,
                     o->real_seconds);
    return st;
}

wn_status wni_results_save(struct results *r, const struct experiment *e, const struct finished_run *f,
                           struct err *err)
{
    wn_status st = execute(r, "BEGIN IMMEDIATE", err);
    if (st) return st;
    return commit(r, save_run(r, e, f, err), err);
}

wn_status wni_results_fail(struct results *r, const struct experiment *e, const struct bench_run *run,
                           const char *why, struct err *err)
{
    struct buf command = {0};
    wni_run_command(e, run, &command);
    wn_status st = command.failed ? wni_fail_memory(err) : WN_OK;
    if (!st)
        st = perform(r, err, "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)", "ttitt",
                     e->methods[run->method].name, e->tasks[run->task].name, run->seed, why, command.data);
    wni_buf_release(&command);
    return st;
}

static size_t find_method(const struct experiment *e, const unsigned char *name)
{
    size_t i = 0;
    while (i < e->n_methods && strcmp(e->methods[i].name, (const char *)name) != 0)
        i++;
    return i;
}

static size_t find_task(const struct experiment *e, const unsigned char *name)
{
    size_t i = 0;
    while (i < e->n_tasks && strcmp(e->tasks[i].name, (const char *)name) != 0)
        i++;
    return i;
}

wn_status wni_results_costs(struct results *r, const struct experiment *e, double *seconds, size_t *count,
                            struct err *err)
{
    sqlite3_stmt *s =
        prepare(r, "SELECT method, task, avg(real_seconds), count(*) FROM timings GROUP BY method, task", "");
    int last;
    while ((last = step(s)) == SQLITE_ROW) {
        size_t m = find_method(e, sqlite3_column_text(s, 0)), t = find_task(e, sqlite3_column_text(s, 1));
        if (m >= e->n_methods || t >= e->n_tasks) continue;
        seconds[m * e->n_tasks + t] = sqlite3_column_double(s, 2);
        count[m * e->n_tasks + t] = (size_t)sqlite3_column_int64(s, 3);
    }
    return finish(r, s, last, err);
}

/* ---- surrogate scores ---- */

wn_status wni_results_save_surrogate(struct results *r, const struct surrogate_row *w, struct err *err)
{
    return perform(r, err, "INSERT OR REPLACE INTO surrogate_scores VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                   "ttiiddddd", w->task, w->model, w->n, w->seed, w->score.rmse, w->score.mae,
                   w->score.calibration, w->score.mean_gap, w->score.seconds);
}

wn_status wni_results_find_surrogate(struct results *r, struct surrogate_row *w, bool *found, struct err *err)
{
    sqlite3_stmt *s =
        prepare(r,
                "SELECT rmse, mae, calibration, mean_gap, seconds FROM surrogate_scores WHERE task = ? AND "
                "model = ? AND n = ? AND seed = ?",
                "ttii", w->task, w->model, w->n, w->seed);
    int last = step(s);
    *found = last == SQLITE_ROW;
    if (*found)
        w->score = (struct surrogate_score){.rmse = sqlite3_column_double(s, 0),
                                            .mae = sqlite3_column_double(s, 1),
                                            .calibration = sqlite3_column_double(s, 2),
                                            .mean_gap = sqlite3_column_double(s, 3),
                                            .seconds = sqlite3_column_double(s, 4)};
    return finish(r, s, last, err);
}

/* ---- loading ---- */

static const char *text_at(sqlite3_stmt *s, int column)
{
    const unsigned char *text = sqlite3_column_text(s, column);
    return text ? (const char *)text : "";
}

static double number_at(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

static wn_status load_values(struct results *r, struct experiment *e, struct err *err)
{
    sqlite3_stmt *s = prepare(r, "SELECT key, value FROM experiment", "");
    int last;
    while ((last = step(s)) == SQLITE_ROW) {
        const char *key = text_at(s, 0);
        if (!strcmp(key, "name")) e->name = wni_arena_strdup(&e->arena, text_at(s, 1));
        if (!strcmp(key, "first_seed")) e->first_seed = (uint64_t)sqlite3_column_int64(s, 1);
        if (!strcmp(key, "seeds")) e->seeds = (uint64_t)sqlite3_column_int64(s, 1);
        if (!strcmp(key, "workers")) e->workers = (unsigned)sqlite3_column_int64(s, 1);
    }
    if (!e->name) last = SQLITE_NOMEM;
    return finish(r, s, last, err);
}

static wn_status load_methods(struct results *r, struct experiment *e, struct err *err)
{
    sqlite3_stmt *s = prepare(r, "SELECT name, method, options FROM methods ORDER BY position", "");
    int last;
    size_t index;
    wn_status st = WN_OK;
    while (!st && (last = step(s)) == SQLITE_ROW)
        st = wni_experiment_add_method(e, &(struct bench_method){text_at(s, 0), text_at(s, 1), text_at(s, 2)},
                                       &index);
    wn_status ended = finish(r, s, st ? SQLITE_DONE : last, err);
    return st ? wni_fail_memory(err) : ended;
}

static wn_status load_tasks(struct results *r, struct experiment *e, struct err *err)
{
    sqlite3_stmt *s =
        prepare(r,
                "SELECT name, family, kind, metric, resource, honesty, maximize, parameters, levels, "
                "max_resource, limit_resource, limit_seconds, best, worst FROM tasks ORDER BY "
                "position",
                "");
    int last;
    size_t index;
    wn_status st = WN_OK;
    while (!st && (last = step(s)) == SQLITE_ROW) {
        struct task t = {.name = text_at(s, 0),
                         .family = text_at(s, 1),
                         .kind = text_at(s, 2),
                         .metric = text_at(s, 3),
                         .resource = text_at(s, 4),
                         .honesty = text_at(s, 5),
                         .goal = sqlite3_column_int64(s, 6) ? WN_MAXIMIZE : WN_MINIMIZE,
                         .n_params = (size_t)sqlite3_column_int64(s, 7),
                         .n_levels = (size_t)sqlite3_column_int64(s, 8),
                         .max_resource = number_at(s, 9),
                         .limit_resource = number_at(s, 10),
                         .limit_seconds = number_at(s, 11),
                         .best = number_at(s, 12),
                         .worst = number_at(s, 13)};
        st = wni_experiment_add_task(e, &t, &index);
    }
    wn_status ended = finish(r, s, st ? SQLITE_DONE : last, err);
    return st ? wni_fail_memory(err) : ended;
}

static wn_status load_groups(struct results *r, struct experiment *e, struct err *err)
{
    sqlite3_stmt *s = prepare(r, "SELECT name, title FROM groups ORDER BY position", "");
    int last;
    wn_status st = WN_OK;
    while (!st && (last = step(s)) == SQLITE_ROW)
        st = wni_experiment_add_group(e, text_at(s, 0), text_at(s, 1));
    wn_status ended = finish(r, s, st ? SQLITE_DONE : last, err);
    return st ? wni_fail_memory(err) : ended;
}

static wn_status load_members(struct results *r, struct experiment *e, struct err *err)
{
    sqlite3_stmt *s = prepare(
        r, "SELECT group_position, is_task, position FROM members ORDER BY group_position, is_task, rank",
        "");
    int last;
    wn_status st = WN_OK;
    while (!st && (last = step(s)) == SQLITE_ROW) {
        size_t g = (size_t)sqlite3_column_int64(s, 0), index = (size_t)sqlite3_column_int64(s, 2);
        bool is_task = sqlite3_column_int64(s, 1);
        if (g >= e->n_groups || index >= (is_task ? e->n_tasks : e->n_methods)) continue;
        st = is_task ? wni_group_add_task(&e->groups[g], index) : wni_group_add_method(&e->groups[g], index);
    }
    wn_status ended = finish(r, s, st ? SQLITE_DONE : last, err);
    return st ? wni_fail_memory(err) : ended;
}

static wn_status load_plan(struct results *r, struct experiment *e, struct err *err)
{
    wni_experiment_init(e);
    wn_status st = load_values(r, e, err);
    if (!st) st = load_methods(r, e, err);
    if (!st) st = load_tasks(r, e, err);
    if (!st) st = load_groups(r, e, err);
    if (!st) st = load_members(r, e, err);
    return st;
}

static struct loaded_run *run_slot(const struct archive *a, size_t method, size_t task, uint64_t seed)
{
    const struct experiment *e = &a->plan;
    if (method >= e->n_methods || task >= e->n_tasks || seed < e->first_seed ||
        seed - e->first_seed >= e->seeds)
        return NULL;
    return &a->runs[(method * e->n_tasks + task) * e->seeds + (seed - e->first_seed)];
}

const struct loaded_run *wni_archive_run(const struct archive *a, size_t method, size_t task, uint64_t seed)
{
    return run_slot(a, method, task, seed);
}

static wn_status load_curve(struct results *r, struct archive *a, sqlite3_stmt *run_row, double sign,
                            struct loaded_run *out, struct err *err)
{
    size_t n = (size_t)sqlite3_column_int64(run_row, 8), i = 0;
    double *time = arena_new(&a->arena, double, n), *value = arena_new(&a->arena, double, n);
    if (!time || !value) return wni_fail_memory(err);
    sqlite3_stmt *s = prepare(
        r, "SELECT time, value FROM improvements WHERE method = ? AND task = ? AND seed = ? ORDER BY step",
        "tti", text_at(run_row, 0), text_at(run_row, 1), (uint64_t)sqlite3_column_int64(run_row, 2));
    int last;
    while ((last = step(s)) == SQLITE_ROW && i < n) {
        time[i] = sqlite3_column_double(s, 0);
        value[i++] = sign * sqlite3_column_double(s, 1);
    }
    out->curve = (struct curve){.time = time, .value = value, .n = i, .end = out->simulated_seconds};
    return finish(r, s, last, err);
}

static wn_status load_runs(struct results *r, struct archive *a, struct err *err)
{
    const struct experiment *e = &a->plan;
    sqlite3_stmt *s = prepare(
        r,
        "SELECT method, task, seed, trials, reports, simulated_seconds, best, "
        "(SELECT real_seconds FROM timings WHERE timings.method = runs.method AND timings.task = runs.task "
        "AND "
        "timings.seed = runs.seed), "
        "(SELECT count(*) FROM improvements WHERE improvements.method = runs.method AND improvements.task = "
        "runs.task AND improvements.seed = runs.seed) FROM runs",
        "");
    int last = SQLITE_DONE;
    wn_status st = WN_OK;
    while (!st && (last = step(s)) == SQLITE_ROW) {
        size_t task = find_task(e, sqlite3_column_text(s, 1));
        struct loaded_run *out = run_slot(a, find_method(e, sqlite3_column_text(s, 0)), task,
                                          (uint64_t)sqlite3_column_int64(s, 2));
        if (!out) continue; /* of an earlier, larger plan */
        *out = (struct loaded_run){.there = true,
                                   .trials = (uint64_t)sqlite3_column_int64(s, 3),
                                   .reports = (uint64_t)sqlite3_column_int64(s, 4),
                                   .simulated_seconds = sqlite3_column_double(s, 5),
                                   .best = number_at(s, 6),
                                   .real_seconds = number_at(s, 7)};
        st = load_curve(r, a, s, e->tasks[task].goal == WN_MAXIMIZE ? -1 : 1, out, err);
    }
    wn_status ended = finish(r, s, st ? SQLITE_DONE : last, st ? NULL : err);
    return st ? st : ended;
}

static wn_status load_failures(struct results *r, struct archive *a, struct err *err)
{
    sqlite3_stmt *s = prepare(r, "SELECT method, task, seed, why, command FROM failures", "");
    int last = SQLITE_DONE;
    bool fine = true;
    while (fine && (last = step(s)) == SQLITE_ROW) {
        struct failure f = {.method = wni_arena_strdup(&a->arena, text_at(s, 0)),
                            .task = wni_arena_strdup(&a->arena, text_at(s, 1)),
                            .seed = (uint64_t)sqlite3_column_int64(s, 2),
                            .why = wni_arena_strdup(&a->arena, text_at(s, 3)),
                            .command = wni_arena_strdup(&a->arena, text_at(s, 4))};
        fine = f.method && f.task && f.why && f.command &&
               wni_reserve((void **)&a->failures, &a->failures_cap, a->n_failures + 1, sizeof *a->failures);
        if (fine) a->failures[a->n_failures++] = f;
    }
    wn_status ended = finish(r, s, fine ? last : SQLITE_DONE, err);
    return fine ? ended : wni_fail_memory(err);
}

wn_status wni_archive_load(struct archive *a, struct results *r, struct err *err)
{
    *a = (struct archive){0};
    wn_status st = load_plan(r, &a->plan, err);
    if (!st) {
        a->runs =
            wni_new(struct loaded_run, wni_size_mul(a->plan.n_methods * a->plan.n_tasks, a->plan.seeds));
        if (!a->runs) st = wni_fail_memory(err);
    }
    if (!st) st = load_runs(r, a, err);
    if (!st) st = load_failures(r, a, err);
    if (st) wni_archive_release(a);
    return st;
}

void wni_archive_release(struct archive *a)
{
    free(a->runs);
    free(a->failures);
    wni_arena_release(&a->arena);
    wni_experiment_release(&a->plan);
    *a = (struct archive){0};
}
