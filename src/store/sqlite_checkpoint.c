/* sqlite_checkpoint.c -- moves what was committed from the write-ahead log into the file, beside the writer.
 *
 * SQLite does it in the commit that makes the log 4 MB long: that one waits for the disk twice, 15 to 70 ms
 * where trials make files as well.  A runner with free workers has no time for that.  Here a thread with a
 * connection of its own does it, in passes, while commits go on.
 *
 * A pass that has moved everything lets the next writer begin the log anew.  Under a writer that never rests
 * none ever does, so when the log has become `most` pages long the writer moves the little that the passes
 * have left over.  So the log stays at 64 MB and some, and a commit waits for the disk once in as many, not
 * once in 4.
 *
 * Nothing depends on a pass.  One that fails (no memory, no thread, another process has a pass of its own)
 * is tried again some commits later; when the last handle is closed SQLite moves all there is. */
#include "store/sqlite_int.h"

#include "base/mem.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct sqlite_helper {
    char *path;
    pthread_t thread;
    bool started; /* and not joined */
    bool done;    /* written by the thread as its last act */
    int pass, most;
    int next_pass; /* length of the log */
};

/* Other users of the file are waited for by nobody. */
static void *move_pages(void *context)
{
    struct sqlite_helper *h = context;
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE;
    if (sqlite3_open_v2(h->path, &db, flags, NULL) == SQLITE_OK &&
        sqlite3_exec(db, "PRAGMA user_version", NULL, NULL, NULL) == SQLITE_OK) /* opens the log */
        sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    sqlite3_close(db);
    __atomic_store_n(&h->done, true, __ATOMIC_RELEASE);
    return NULL;
}

static bool is_at_work(const struct sqlite_helper *h)
{
    return h->started && !__atomic_load_n(&h->done, __ATOMIC_ACQUIRE);
}

static void wait_for(struct sqlite_helper *h)
{
    if (h->started) pthread_join(h->thread, NULL);
    h->started = false;
}

/* Signals are for the threads that the program knows of. */
static void start_pass(struct sqlite_helper *h)
{
    sigset_t all, before;
    wait_for(h);
    h->done = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    h->started = pthread_create(&h->thread, NULL, move_pages, h) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* After a commit: the log has so many pages. */
static int on_commit(void *context, sqlite3 *db, const char *name, int pages)
{
    struct sqlite_helper *h = context;
    if (pages < h->pass) h->next_pass = h->pass; /* it was begun anew */
    if (pages < h->next_pass || (pages < h->most && is_at_work(h))) return SQLITE_OK;
    h->next_pass = pages + h->pass;
    if (pages < h->most) {
        start_pass(h);
    } else {
        wait_for(h); /* only one can: else the log would grow while the thread waits for a processor */
        sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    }
    return SQLITE_OK;
}

struct sqlite_helper *wni_sqlite_helper_new(struct sqlite_file *f, int pass, int most)
{
    struct sqlite_helper *h = wni_new(struct sqlite_helper, 1);
    if (!h) return NULL;
    h->pass = h->next_pass = pass;
    h->most = most;
    h->path = wni_strdup(f->path);
    if (!h->path) {
        free(h);
        return NULL;
    }
    sqlite3_wal_hook(f->db, on_commit, h); /* in place of SQLite's own */
    return h;
}

void wni_sqlite_helper_free(struct sqlite_helper *h)
{
    if (!h) return;
    wait_for(h);
    free(h->path);
    free(h);
}
