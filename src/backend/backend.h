/* backend.h -- where trials run: simulated, as local processes, on a cluster.
 *
 * To add one that runs a user's program: one file that defines a `const struct backend_ops wni_backend_NAME`,
 * and a line in backends.def.
 *
 * The tuner starts and ends trials and pulls what happened, one happening at a time.  Time belongs to the
 * backend: virtual in the simulator, the wall clock elsewhere. */
#ifndef WNI_BACKEND_BACKEND_H
#define WNI_BACKEND_BACKEND_H

#include "base/err.h"
#include "core/space.h"

#include <stdbool.h>
#include <stdint.h>

/* The program that is to be run, and how; the same for all backends that run one. */
struct backend_setup {
    unsigned workers;   /* trials at the same time */
    const char *study;  /* its name */
    const char *folder; /* trial folders are made in it; it is made itself if need be */
    const struct space *space;
    /* The argument vector of a trial, NULL-terminated, in the arena. */
    wn_status (*expand)(void *context, uint32_t trial, const double *config, struct arena *arena,
                        const char *const **argv, struct err *err);
    void *context;
    const char *metric, *resource, *pattern; /* see report.h; resource and pattern may be NULL */
    double min_resource, max_resource;
    double timeout; /* seconds a run may take; 0: any */
    double grace;   /* seconds between SIGTERM and SIGKILL */
    const int64_t *gpus;
    size_t n_gpus;
    const char *const *env; /* NAME, VALUE, NAME, VALUE, ... */
    size_t n_env;           /* pairs */
    double tick;            /* HAPPENED_TICK after so many seconds without anything else; 0: never */
    bool interrupts;        /* SIGINT, SIGTERM and SIGHUP become happenings */
};

enum happening_kind {
    HAPPENED_REPORT,    /* a trial reported `value` at `resource` */
    HAPPENED_END,       /* a trial ended by itself, in `state` */
    HAPPENED_TICK,      /* nothing, for a while: time for other duties */
    HAPPENED_INTERRUPT, /* someone wants the run to end */
};

struct happening {
    enum happening_kind kind;
    uint32_t trial;
    double resource, value; /* REPORT; the value as the user sees it */
    bool earlier;           /* REPORT: an earlier run of the trial printed it, and nobody heard */
    wn_state state;         /* END */
    const char *detail;     /* END: why, for people, maybe several lines; "" or NULL: nothing to add.  Valid
                               until the next call */
    bool hopeless;          /* END: it could not even be started, nor could another */
    bool silent;            /* END as FAILED: nothing went wrong, but there was no report */
    bool urgent;            /* INTERRUPT: now, not when the running trials have ended */
    double time;            /* when it happened, seconds since the backend was opened */
};

struct backend_ops {
    const char *name;    /* as in study files */
    const char *summary; /* in lists and the manual */
    /* What `setup` points to outlives the backend.  NULL: it does not run programs and is opened by a
     * function of its own. */
    wn_status (*open)(const struct backend_setup *setup, void **self, struct err *err);
    bool ticks; /* next() may be waited for with nothing running: it gives HAPPENED_TICK */
    /* Runs a trial on a free worker.  `again`: it has run before, here or elsewhere, and was paused, failed
     * or lost; what it kept for this is there.  `resumed_from` is the resource it had reported by then. */
    wn_status (*start)(void *self, uint32_t trial, const double *config, bool again, double resumed_from,
                       struct err *err);
    /* Ends a running trial; nothing more is heard of it.  With `keep`, its checkpoint is kept for a resume.
     */
    wn_status (*stop)(void *self, uint32_t trial, bool keep, struct err *err);
    /* A running trial has reported the largest resource: it may end by itself in its own time, or be made to;
     * nothing more is heard of it.  NULL: the same as stop(). */
    wn_status (*complete)(void *self, uint32_t trial, struct err *err);
    /* A trial that does not run will not be resumed: what was kept for that can go.  NULL: nothing is kept.
     */
    void (*discard)(void *self, uint32_t trial);
    /* Waits for the next happening.  WN_EXHAUSTED when nothing is running and nothing else will happen. */
    wn_status (*next)(void *self, struct happening *out, struct err *err);
    /* Whether next() has one to give without waiting.  NULL: cannot tell, or they do not come together. */
    bool (*pending)(const void *self);
    /* Looks for happenings without waiting for one, so that pending() knows of them.  NULL: cannot. */
    void (*look)(void *self);
    double (*now)(const void *self);
    /* The tuner spent real seconds deciding; only a simulator that charges them listens.  NULL: not
     * interested. */
    void (*charge)(void *self, double seconds);
    void (*close)(void *self); /* frees `self` too; running trials are ended */
};

struct backend {
    const struct backend_ops *ops;
    void *self;
};

/* The rows of backends.def. */
size_t wni_backend_count(void);
const struct backend_ops *wni_backend_at(size_t i);
/* NULL with err "unknown backend ...". */
const struct backend_ops *wni_backend_find(const char *name, struct err *err);
wn_status wni_backend_open(struct backend *backend, const struct backend_ops *ops,
                           const struct backend_setup *setup, struct err *err);

#endif
