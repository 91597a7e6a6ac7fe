/* backend.h -- where trials run: simulated, as local processes, on a cluster.
 *
 * The tuner starts and ends trials and pulls what happened, one happening at a time.  Time belongs to the
 * backend: virtual in the simulator, the wall clock elsewhere. */
#ifndef WNI_BACKEND_BACKEND_H
#define WNI_BACKEND_BACKEND_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

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
    wn_state state;         /* END */
    const char *detail;     /* END: why, for people, maybe several lines; "" or NULL: nothing to add.  Valid
                               until the next call */
    bool hopeless;          /* END: it could not even be started, nor could another */
    bool silent;            /* END as FAILED: nothing went wrong, but there was no report */
    bool urgent;            /* INTERRUPT: now, not when the running trials have ended */
    double time;            /* when it happened, seconds since the backend was opened */
};

struct backend_ops {
    const char *name;
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

#endif
