/* sqlite_db.c -- opens a SQLite file for Winnow: settings, waiting for others, versions of the schema,
 * messages.
 *
 * Readers and one writer work at the same time (write-ahead log).  synchronous=NORMAL: a commit is in the
 * file system when it returns, so a process that dies loses nothing; a power cut may take the last commits
 * but leaves a log that ends cleanly earlier.  ?sync=full also flushes the disk at each commit, at some 0.3
 * ms.
 *
 * Nobody ever sees "database is locked".  SQLite tells that the lock is taken and lets us decide how long to
 * wait: short naps of random length, longer as they go on.  Random, because equal ones would wake 64 waiting
 * processes at once. */
#include "store/sqlite_int.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const int64_t APPLICATION = 0x57696e77; /* "Winw": tells our files from other SQLite files */
static const double PATIENCE = 300;            /* seconds; a writer holds the lock for less than one */

/* The schema, as steps from one version to the next.  Steps are never changed, only added.
 *
 * events     the truth: only appended to.  Row id is study * 2^40 + seq.  A report's value that is NaN is
 * NULL. config holds the parameters as 8-byte floats, in the order of the setup's space; flag says that an
 * ASK took the head of the queue, or that a FINISH will be retried; log is a view for people.
 * setups     how the study is set up, and since which event: 0 is how it was created, else a SETUP event's
 * seq. trials     a summary that can be made from the events again; row id is study * 2^40 + number. leases
 * who runs a trial, and until when that is believed: seconds since the start `boot` of the machine.
 */
static const char *const steps[] = {
    "CREATE TABLE studies (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"
    " created REAL NOT NULL, setup TEXT NOT NULL, file TEXT, goal INTEGER NOT NULL);"
    "CREATE TABLE events (id INTEGER PRIMARY KEY,"
    " study INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,"
    " kind INTEGER NOT NULL, flag INTEGER, trial INTEGER, time REAL, wall REAL NOT NULL, resource REAL,"
    " value REAL, state INTEGER, saw INTEGER, config BLOB, detail TEXT,"
    " seq INTEGER GENERATED ALWAYS AS (id & 1099511627775) VIRTUAL, CHECK (id >> 40 = study));"
    "CREATE TRIGGER events_stay BEFORE UPDATE ON events"
    " BEGIN SELECT RAISE(ABORT, 'events are only appended'); END;"
    "CREATE TRIGGER events_remain BEFORE DELETE ON events"
    " WHEN EXISTS (SELECT 1 FROM studies WHERE id = OLD.study)"
    " BEGIN SELECT RAISE(ABORT, 'events are only appended'); END;"
    "CREATE TABLE trials (id INTEGER PRIMARY KEY,"
    " study INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,"
    " state INTEGER NOT NULL, attempt INTEGER NOT NULL, saw INTEGER NOT NULL,"
    " reports INTEGER NOT NULL, value REAL, resource REAL, best REAL, best_resource REAL,"
    " asked REAL, ended REAL, config TEXT NOT NULL,"
    " number INTEGER GENERATED ALWAYS AS (id & 1099511627775) VIRTUAL, CHECK (id >> 40 = study));"
    "CREATE TABLE leases (study INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,"
    " trial INTEGER NOT NULL, owner TEXT NOT NULL, boot TEXT NOT NULL, ends REAL NOT NULL,"
    " PRIMARY KEY (study, trial)) WITHOUT ROWID;"
    "CREATE VIEW log AS SELECT studies.name AS study, seq,"
    " CASE kind WHEN 0 THEN 'ENQUEUE' WHEN 1 THEN 'ASK' WHEN 2 THEN 'REPORT' WHEN 3 THEN 'RESUME' ELSE"
    " CASE state WHEN 2 THEN 'PAUSED' WHEN 3 THEN 'COMPLETE' WHEN 4 THEN 'STOPPED' WHEN 5 THEN 'FAILED'"
    " WHEN 6 THEN 'TIMEOUT' WHEN 7 THEN 'LOST' ELSE 'CANCELLED' END END AS event,"
    " trial, time, datetime(wall, 'unixepoch') AS at, resource, value, saw, detail"
    " FROM events JOIN studies ON studies.id = events.study;",

    "CREATE TABLE setups (study INTEGER NOT NULL REFERENCES studies(id) ON DELETE CASCADE,"
    " since INTEGER NOT NULL, setup TEXT NOT NULL, file TEXT, PRIMARY KEY (study, since)) WITHOUT ROWID;"
    "INSERT INTO setups SELECT id, 0, setup, file FROM studies;"
    "ALTER TABLE studies DROP COLUMN setup;"
    "ALTER TABLE studies DROP COLUMN file;"
    "CREATE TRIGGER setups_stay BEFORE UPDATE ON setups"
    " BEGIN SELECT RAISE(ABORT, 'setups are only appended'); END;"
    "CREATE TRIGGER setups_remain BEFORE DELETE ON setups"
    " WHEN EXISTS (SELECT 1 FROM studies WHERE id = OLD.study)"
    " BEGIN SELECT RAISE(ABORT, 'setups are only appended'); END;"
    "DROP VIEW log;"
    "CREATE VIEW log AS SELECT studies.name AS study, seq,"
    " CASE kind WHEN 0 THEN 'ENQUEUE' WHEN 1 THEN 'ASK' WHEN 2 THEN 'REPORT' WHEN 3 THEN 'RESUME'"
    " WHEN 5 THEN 'SETUP' ELSE"
    " CASE state WHEN 2 THEN 'PAUSED' WHEN 3 THEN 'COMPLETE' WHEN 4 THEN 'STOPPED' WHEN 5 THEN 'FAILED'"
    " WHEN 6 THEN 'TIMEOUT' WHEN 7 THEN 'LOST' ELSE 'CANCELLED' END END AS event,"
    " trial, time, datetime(wall, 'unixepoch') AS at, resource, value, saw, detail"
    " FROM events JOIN studies ON studies.id = events.study;",
};
enum { VERSION = sizeof steps / sizeof *steps };

/* ---- messages ---- */

wn_status wni_sqlite_fail(const struct sqlite_file *f, int code, struct err *err)
{
    const char *path = f->path;
    int system = f->db ? sqlite3_system_errno(f->db) : 0;
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return wni_fail_memory(err);
    case SQLITE_FULL:
        return wni_fail(err, WN_ESTORE, "store '%s': the disk is full", path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return wni_fail(err, WN_ESTORE, "store '%s': may not be written", path);
    case SQLITE_NOTADB:
        return wni_fail(err, WN_ESTORE, "store '%s': not a SQLite file", path);
    case SQLITE_CORRUPT:
        return wni_fail(err, WN_ESTORE,
                        "store '%s': the file is damaged; `sqlite3 FILE .recover` may save its "
                        "contents",
                        path);
    case SQLITE_CANTOPEN:
        return wni_fail(err, WN_ESTORE, "store '%s': cannot be opened: %s", path,
                        system ? strerror(system) : "is the folder there?");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return wni_fail(err, WN_ESTORE,
                        "store '%s': another process has not let anybody write for %.0f seconds", path,
                        f->patience);
    default:
        break;
    }
    if ((code & 0xff) == SQLITE_IOERR) {
        bool reading = code == SQLITE_IOERR_READ || code == SQLITE_IOERR_SHORT_READ;
        return wni_fail(err, WN_ESTORE, "store '%s': the system cannot %s it%s%s", path,
                        reading ? "read" : "write", system ? ": " : "", system ? strerror(system) : "");
    }
    return wni_fail(err, WN_ESTORE, "store '%s': %s", path,
                    f->db ? sqlite3_errmsg(f->db) : sqlite3_errstr(code));
}

/* ---- waiting ---- */

static void nap(struct sqlite_file *f, int turns)
{
    f->jitter ^= f->jitter << 13; /* xorshift: its quality does not matter, only that processes differ */
    f->jitter ^= f->jitter >> 7;
    f->jitter ^= f->jitter << 17;
    long longest = 50000L << (turns < 7 ? turns : 7); /* 50 us to 6.4 ms */
    struct timespec t = {.tv_nsec = longest / 4 + (long)(f->jitter % (uint64_t)longest)};
    nanosleep(&t, NULL);
}

/* SQLite asks whether to try again, for the turns-th time. */
static int be_patient(void *context, int turns)
{
    struct sqlite_file *f = context;
    double now = wni_clock_seconds();
    if (turns == 0) f->waiting = now;
    f->gave_up = now - f->waiting > f->patience;
    if (f->gave_up) return 0;
    nap(f, turns);
    return 1;
}

/* Some steps of opening a file, and a crowd at the log's index, are refused without asking: waits for the
 * next try, unless it is over.  Turns count from 0. */
static bool try_again(struct sqlite_file *f, int code, int turn)
{
    code &= 0xff;
    if (code != SQLITE_BUSY && code != SQLITE_LOCKED && code != SQLITE_PROTOCOL) return false;
    if (f->gave_up || !be_patient(f, turn)) return f->gave_up = false;
    return true;
}

wn_status wni_sqlite_execute(struct sqlite_file *f, const char *sql, struct err *err)
{
    for (int turn = 0;; turn++) {
        int code = sqlite3_exec(f->db, sql, NULL, NULL, NULL);
        if (code == SQLITE_OK) return WN_OK;
        if (!try_again(f, code, turn)) return wni_sqlite_fail(f, code, err);
    }
}

/* ---- statements ---- */

wn_status wni_sqlite_prepare(struct sqlite_file *f, const char *sql, sqlite3_stmt **out, struct err *err)
{
    for (int turn = 0;; turn++) {
        int code = sqlite3_prepare_v3(f->db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
        if (code == SQLITE_OK) return WN_OK;
        if (!try_again(f, code, turn)) return wni_sqlite_fail(f, code, err);
    }
}

wn_status wni_sqlite_step(struct sqlite_file *f, sqlite3_stmt *statement, bool *more, struct err *err)
{
    for (int turn = 0;; turn++) {
        int code = sqlite3_step(statement);
        *more = code == SQLITE_ROW;
        if (code == SQLITE_ROW || code == SQLITE_DONE) return WN_OK;
        if (!try_again(f, code, turn)) return wni_sqlite_fail(f, code, err);
        sqlite3_reset(statement); /* only a first step is refused: nothing is skipped or done twice */
    }
}

wn_status wni_sqlite_run(struct sqlite_file *f, sqlite3_stmt *statement, struct err *err)
{
    bool more;
    wn_status st = wni_sqlite_step(f, statement, &more, err);
    sqlite3_reset(statement);
    return st;
}

double wni_sqlite_number(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL ? NAN
                                                                 : sqlite3_column_double(statement, column);
}

/* The one number a query gives; `otherwise` when it gives none. */
static wn_status query(struct sqlite_file *f, const char *sql, int64_t otherwise, int64_t *out,
                       struct err *err)
{
    sqlite3_stmt *statement = NULL;
    bool more = false;
    wn_status st = wni_sqlite_prepare(f, sql, &statement, err);
    if (!st) st = wni_sqlite_step(f, statement, &more, err);
    *out = more && sqlite3_column_type(statement, 0) != SQLITE_NULL ? sqlite3_column_int64(statement, 0)
                                                                    : otherwise;
    sqlite3_finalize(statement);
    return st;
}

/* ---- versions ---- */

static wn_status read_version(struct sqlite_file *f, int64_t *version, struct err *err)
{
    int64_t tables, application;
    wn_status st = query(f, "SELECT count(*) FROM sqlite_schema", 0, &tables, err);
    if (!st) st = query(f, "PRAGMA application_id", 0, &application, err);
    *version = 0;
    if (st || tables == 0) return st;
    if (application != APPLICATION)
        return wni_fail(err, WN_ESTORE, "store '%s': a SQLite file, but not one of Winnow's", f->path);
    return query(f, "SELECT max(version) FROM versions", 0, version, err);
}

static wn_status check_version(const struct sqlite_file *f, int64_t version, int n, struct err *err)
{
    if (version <= n) return WN_OK;
    return wni_fail(
        err, WN_ESTORE,
        "store '%s': written by a newer Winnow (version %lld of the file, this program knows up to %d)",
        f->path, (long long)version, n);
}

static wn_status take_step(struct sqlite_file *f, const char *step, int64_t to, struct err *err)
{
    char note[128];
    snprintf(note, sizeof note, "INSERT INTO versions VALUES (%lld, %.3f, '%s')", (long long)to,
             wni_clock_wall(), wn_version());
    wn_status st = wni_sqlite_execute(f, step, err);
    return st ? st : wni_sqlite_execute(f, note, err);
}

static wn_status take_steps(struct sqlite_file *f, const char *const *list, int n, struct err *err)
{
    int64_t version;
    char application[64];
    wn_status st = read_version(f, &version, err); /* somebody else may have been faster */
    if (!st) st = check_version(f, version, n, err);
    snprintf(application, sizeof application, "PRAGMA application_id = %lld", (long long)APPLICATION);
    if (!st && version == 0) st = wni_sqlite_execute(f, application, err);
    if (!st && version == 0)
        st = wni_sqlite_execute(f,
                                "CREATE TABLE versions (version INTEGER PRIMARY KEY, applied REAL NOT NULL, "
                                "program TEXT NOT NULL)",
                                err);
    for (; !st && version < n; version++)
        st = take_step(f, list[version], version + 1, err);
    return st;
}

wn_status wni_sqlite_migrate(struct sqlite_file *f, const char *const *list, int n, struct err *err)
{
    int64_t version;
    wn_status st = read_version(f, &version, err);
    if (!st) st = check_version(f, version, n, err);
    if (st || version == n) return st;
    st = wni_sqlite_execute(f, "BEGIN IMMEDIATE", err);
    if (st) return st;
    st = take_steps(f, list, n, err);
    if (!st) st = wni_sqlite_execute(f, "COMMIT", err);
    if (st) sqlite3_exec(f->db, "ROLLBACK", NULL, NULL, NULL);
    return st;
}

/* ---- opening ---- */

/* As SQLAlchemy and Optuna write it: after the third slash comes the path, which begins with a fourth when it
 * is absolute. */
static wn_status read_address(struct sqlite_file *f, const char *address, bool *full, struct err *err)
{
    static const char prefix[] = "///";
    size_t length = strcspn(address, "?");
    const char *options = address + length;
    *full = !strcmp(options, "?sync=full");
    if (options[0] && !*full && strcmp(options, "?sync=normal") != 0)
        return wni_fail(err, WN_EINVAL, "store 'sqlite:%s': expected ?sync=normal or ?sync=full, got '%s'",
                        address, options);
    if (length == 0) {
        f->path = wni_strdup("winnow.db");
    } else if (strncmp(address, prefix, 3) != 0 || length == 3) {
        return wni_fail(
            err, WN_EINVAL,
            "store 'sqlite:%s': expected sqlite:///FILE, with a fourth slash for an absolute path", address);
    } else {
        f->path = wni_strndup(address + 3, length - 3);
    }
    return f->path ? WN_OK : wni_fail_memory(err);
}

static wn_status open_file(struct sqlite_file *f, enum sqlite_mode mode, struct err *err)
{
    int flags =
        SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE | (mode == SQLITE_CREATE ? SQLITE_OPEN_CREATE : 0);
    if (mode != SQLITE_CREATE && access(f->path, F_OK) != 0 && errno == ENOENT)
        return wni_fail(err, WN_ENOTFOUND, "store '%s': there is no such file", f->path);
    int code = sqlite3_open_v2(f->path, &f->db, flags, NULL);
    if (code != SQLITE_OK) return wni_sqlite_fail(f, code, err);
    sqlite3_extended_result_codes(f->db, 1);
    sqlite3_busy_handler(f->db, be_patient, f);
    if (mode != SQLITE_LOOK && sqlite3_db_readonly(f->db, "main") == 1)
        return wni_sqlite_fail(f, SQLITE_READONLY, err);
    return WN_OK;
}

static wn_status fail_old(const struct sqlite_file *f, int64_t version, struct err *err)
{
    return wni_fail(err, WN_ESTORE,
                    "store '%s': written by an older Winnow (version %lld of the file); it must be writable "
                    "once, to be brought forward to version %d",
                    f->path, (long long)version, VERSION);
}

/* Looking writes nothing, but that an older file is brought forward: readers know only the newest tables. The
 * log's checkpoints come at 4 MB: seldom enough to cost little, often enough that nobody waits. */
static wn_status set_up(struct sqlite_file *f, enum sqlite_mode mode, bool full, struct err *err)
{
    wn_status st = wni_sqlite_execute(f, full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", err);
    if (!st) st = wni_sqlite_execute(f, "PRAGMA foreign_keys=ON", err);
    if (!st && mode == SQLITE_LOOK) {
        int64_t version = 0;
        st = read_version(f, &version, err);
        if (!st) st = check_version(f, version, VERSION, err);
        if (!st && version == 0) /* made just now, or by a hand */
            st = wni_fail(err, WN_ENOTFOUND, "store '%s': the file has no studies yet", f->path);
        if (st || version == VERSION) return st;
        if (sqlite3_db_readonly(f->db, "main") == 1) return fail_old(f, version, err);
    }
    if (!st) st = wni_sqlite_execute(f, "PRAGMA journal_mode=WAL", err);
    return st ? st : wni_sqlite_migrate(f, steps, VERSION, err);
}

wn_status wni_sqlite_open(struct sqlite_file *f, const char *address, enum sqlite_mode mode, struct err *err)
{
    bool full = false;
    *f = (struct sqlite_file){.patience = PATIENCE};
    f->jitter = ((uint64_t)getpid() << 32 ^ (uint64_t)(wni_clock_seconds() * 1e9)) | 1;
    wn_status st = read_address(f, address, &full, err);
    if (!st) st = open_file(f, mode, err);
    if (!st) st = set_up(f, mode, full, err);
    if (st) wni_sqlite_close(f);
    return st;
}

void wni_sqlite_close(struct sqlite_file *f)
{
    int code = sqlite3_close(f->db);
    assert(code == SQLITE_OK); /* a statement was left behind */
    (void)code;
    free(f->path);
    *f = (struct sqlite_file){0};
}
