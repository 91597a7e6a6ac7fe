/* store.h -- where a study's event log is kept, for one process or many.
 *
 * A store appends events and gives them back in order; it knows nothing of what they mean.  Writers take
 * turns: between begin() and commit() nobody else writes to the study, so whoever has read everything up to
 * there may decide what comes next.  An event that was committed is durable, one that was not never happened.
 *
 * Beside the log a store keeps what can be made from it again (a row per trial, for listings) and leases,
 * which say until when a running trial is believed to be alive.  To add one: a file with a
 * `const struct store_ops`, and a line in stores.def. */
#ifndef WNI_STORE_STORE_H
#define WNI_STORE_STORE_H

#include "core/history.h"

#define WNI_STORE_DEFAULT "sqlite:///winnow.db"

/* What listings show of a trial: derived from its events, in the sign the user reports. */
struct trial_row {
    uint32_t number;
    wn_state state;
    uint32_t attempt;           /* 1, and one more for each retry */
    uint64_t saw;               /* events its proposal had seen */
    uint64_t reports;           /* how many; the four below are NAN before the first */
    double value, resource;     /* last value: at the largest resource */
    double best, best_resource; /* finite values only */
    double asked, ended;        /* seconds since the study began; ended is NAN while it runs or waits */
    const char *config;         /* JSON */
    const char *reason;         /* why it FAILED, ran out of time, was lost or cancelled, in the log's words;
                                   NULL: nobody said.  Only in listings; valid during the call */
};

/* What a study is created with. */
struct study_about {
    const char *setup; /* JSON, see tuner/setup.h */
    const char *file;  /* the study file's text; NULL: none */
    wn_goal goal;      /* says which values listings call best */
};

/* A study that was there, as it was created.  Later setups are events. */
struct study_found {
    char *setup, *file; /* for free(); setup NULL: it was created just now */
    double created;     /* seconds since 1970 */
};

struct study_row {
    const char *name;
    struct study_about about; /* its newest setup and file */
    double created;           /* seconds since 1970 */
    uint64_t events, trials, by_state[WN_CANCELLED + 1];
    uint64_t alive; /* trials that are running and whose lease has not ended: someone works on them now */
    double best;    /* NAN before the first value */
    uint32_t best_trial;
};

enum lease_act {
    LEASE_GRANT, /* a trial was handed out, to someone who may outlive this process */
    LEASE_HOLD,  /* to this process: when it ends, so does the lease */
    LEASE_RENEW, /* its worker gave a sign of life; without effect on a trial that has no lease */
    LEASE_DROP,
};

typedef wn_status take_event(void *context, const struct event *e, struct err *err);
typedef wn_status take_study(void *context, const struct study_row *row, struct err *err);
typedef wn_status take_trial(void *context, const struct trial_row *row, struct err *err);

/* Looking without opening a study as a machine.  A store that is not there is WN_ENOTFOUND, as is a study. */
struct catalog_ops {
    /* The newest setup of a study, for free(). */
    wn_status (*setup)(const char *address, const char *name, char **setup, struct err *err);
    /* Every study in order of creation, or only `name` (NULL: all). */
    wn_status (*studies)(const char *address, const char *name, take_study *take, void *context,
                         struct err *err);
    /* Its trials from number `from` on, in order, until `take` fails; WN_WAIT from it ends the listing well.
     */
    wn_status (*trials)(const char *address, const char *name, uint32_t from, take_trial *take, void *context,
                        struct err *err);
    wn_status (*remove)(const char *address, const char *name, struct err *err);
};

struct store_ops {
    const char *scheme; /* of the address: "memory" for "memory:" */
    /* Opens the place where study `name` is, or will be.  `address` is what follows "scheme:". */
    wn_status (*open)(const char *address, const char *name, const struct space *space, void **self,
                      struct err *err);
    /* Finds the study or creates it.  *found is empty before, and may be filled on failure too. */
    wn_status (*attach)(void *self, const struct study_about *about, struct study_found *found,
                        struct err *err);
    /* One writer at a time: waits for the others.  After a failure, and after rollback(), nothing has
     * happened.  Any number of appends, leases and rewrites may follow: a commit makes all of them durable,
     * and until then no other process sees any. */
    wn_status (*begin)(void *self, struct err *err);
    /* Event number `seq`, from 1.  `row` is its trial afterwards; NULL: need not be written. */
    wn_status (*append)(void *self, uint64_t seq, const struct event *e, const struct trial_row *row,
                        struct err *err);
    /* Inside a transaction: writes a row that differs from the log; NULL: forgets all rows of the study. */
    wn_status (*rewrite)(void *self, const struct trial_row *row, struct err *err);
    /* Inside a transaction.  GRANT and RENEW let the lease end `seconds` from now. */
    wn_status (*lease)(void *self, uint32_t trial, enum lease_act act, double seconds, struct err *err);
    wn_status (*commit)(void *self, struct err *err);
    void (*rollback)(void *self);
    /* Hands every event after the first `position` to `take`, in order, until it fails. */
    wn_status (*read)(void *self, uint64_t position, take_event *take, void *context, struct err *err);
    /* The first trial whose lease has run out, TRIAL_NONE for none. */
    wn_status (*expired)(void *self, uint32_t *trial, struct err *err);
    /* A loop depends on quick commits: from now on a thread of the store's own does what would hold one up
     * now and then.  Not for programs that fork.  NULL: there is no such thing. */
    void (*employ_helper)(void *self);
    void (*close)(void *self);
    const struct catalog_ops *catalog; /* NULL: nobody else can look into it */
};

struct store {
    const struct store_ops *ops;
    void *self;
};

size_t wni_store_count(void);
const struct store_ops *wni_store_at(size_t i);
/* On failure *s is empty, which wni_store_close() does not mind. */
wn_status wni_store_open(struct store *s, const char *url, const char *name, const struct space *space,
                         struct err *err);
void wni_store_close(struct store *s);

/* Adds a report to a row, by the rules of the history: the last value is the newest at the largest resource,
 * only finite ones can be best. */
void wni_trial_row_add(struct trial_row *row, double resource, double value, wn_goal goal);

/* See struct catalog_ops. */
wn_status wni_store_setup(const char *url, const char *name, char **setup, struct err *err);
wn_status wni_store_studies(const char *url, const char *name, take_study *take, void *context,
                            struct err *err);
wn_status wni_store_trials(const char *url, const char *name, uint32_t from, take_trial *take, void *context,
                           struct err *err);
wn_status wni_store_remove(const char *url, const char *name, struct err *err);

#endif
