/* sqlite_int.h -- a SQLite file as Winnow opens it; shared by the log (sqlite.c) and the listings
 * (sqlite_list.c). */
#ifndef WNI_STORE_SQLITE_INT_H
#define WNI_STORE_SQLITE_INT_H

#include "base/clock.h"
#include "base/process.h"
#include "store/store.h"

#include <sqlite3.h>

struct sqlite_file {
    sqlite3 *db;
    char *path;
    uint64_t jitter; /* state of the generator of waiting times */
    double waiting;  /* since when we wait for another writer, on the monotonic clock */
    double patience; /* how many seconds we do */
    bool gave_up;    /* they were over */
};

enum sqlite_mode {
    SQLITE_LOOK,   /* the file must be there; nothing is written, unless it is of an older version */
    SQLITE_CHANGE, /* the file must be there */
    SQLITE_CREATE,
};

/* "///rel.db", "////abs.db" or "" (winnow.db), then perhaps "?sync=full".  On failure the file is closed. */
wn_status wni_sqlite_open(struct sqlite_file *f, const char *address, enum sqlite_mode mode, struct err *err);
void wni_sqlite_close(struct sqlite_file *f);

/* The message for SQLite's answer `code`, in the user's words. */
wn_status wni_sqlite_fail(const struct sqlite_file *f, int code, struct err *err);

/* Prepares a statement that is kept.  `*out` is finalised by the caller, also on failure. */
wn_status wni_sqlite_prepare(struct sqlite_file *f, const char *sql, sqlite3_stmt **out, struct err *err);
/* Runs one without a result, and makes it ready for the next time. */
wn_status wni_sqlite_run(struct sqlite_file *f, sqlite3_stmt *statement, struct err *err);
/* The next row: *more says whether there is one.  A cell that is NULL is the number NaN. */
wn_status wni_sqlite_step(struct sqlite_file *f, sqlite3_stmt *statement, bool *more, struct err *err);
double wni_sqlite_number(sqlite3_stmt *statement, int column);
/* Runs text, several statements perhaps, and waits for others where SQLite would not. */
wn_status wni_sqlite_execute(struct sqlite_file *f, const char *sql, struct err *err);

/* Brings the file from the version it has to `n`, step by step in one transaction.  step[i] leads from i to
 * i + 1. */
wn_status wni_sqlite_migrate(struct sqlite_file *f, const char *const *steps, int n, struct err *err);

/* Rows of a study are numbered from its own multiple of 2^40, so that one tree keeps each study's rows
 * together and in order, and an append goes to one page. */
enum { SQLITE_STUDY_SHIFT = 40 };
static inline int64_t sqlite_row(int64_t study, uint64_t number)
{
    return study << SQLITE_STUDY_SHIFT | (int64_t)number;
}

extern const struct catalog_ops wni_sqlite_catalog;

/* Lets a thread make the checkpoints of a file, whenever the log has grown by `pass` pages; at `most` the
 * writer helps.  NULL: no memory, SQLite goes on making them in commits.  Is freed before the file is closed.
 */
enum { SQLITE_PASS = 1000, SQLITE_MOST = 16 * SQLITE_PASS }; /* pages of 4 KB */
struct sqlite_helper *wni_sqlite_helper_new(struct sqlite_file *f, int pass, int most);
void wni_sqlite_helper_free(struct sqlite_helper *h); /* waits for it */

/* ---- the store ---- */

enum sqlite_statement {
    STMT_BEGIN,
    STMT_COMMIT,
    STMT_ROLLBACK,
    STMT_APPEND,
    STMT_READ,
    STMT_CHANGE,
    STMT_SETUP,
    STMT_ROW,
    STMT_FORGET,
    STMT_GRANT,
    STMT_RENEW,
    STMT_DROP,
    STMT_EXPIRED,
    STMT_COUNT
};

struct sqlite_store {
    struct sqlite_file file;
    struct sqlite_helper *helper; /* NULL: none */
    char *name;                   /* of the study */
    int64_t study;
    size_t width; /* parameters */
    sqlite3_stmt *statements[STMT_COUNT];
    double *config;             /* one row, where blobs are unpacked: they need not be aligned */
    char owner[128];            /* for people: who handed a trial out */
    char self[WNI_PROCESS_MAX]; /* for other processes: who holds a lease */

    /* Leases: the clock of the machine since it started, which no one sets, and which start that was.
     * Replaced by tests. */
    double (*clock)(void);
    char boot[WNI_BOOT_MAX];
    double look_again; /* when to look for leases that are over */
    double *due;       /* by trial: when its lease is to be renewed, 0: at the next occasion */
    size_t due_cap, n_due;
};

#endif
