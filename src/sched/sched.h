/* sched.h -- what every scheduler provides: go on, stop or pause after a report, and what to start next.
 *
 * A scheduler is a fold over the event log: observe() takes one event and returns the decision it calls for,
 * next() reads the state.  It sees no clock.  Replaying the log rebuilds the state and the decisions, which
 * is all that resume is. To add one: a file with a `const struct scheduler_ops`, and a line in
 * schedulers.def. */
#ifndef WNI_SCHED_SCHED_H
#define WNI_SCHED_SCHED_H

#include "base/opts.h"
#include "core/history.h"
#include "core/levels.h"

struct sched_env {
    uint64_t seed;
    double min_resource; /* > 0: where the first rung is */
    double max_resource; /* >= min_resource: where a trial is complete */
};

enum job_kind {
    JOB_NEW,    /* ask the searcher for a configuration */
    JOB_RESUME, /* go on with paused `trial` */
    JOB_WAIT,   /* nothing before a running trial reports or ends */
};

struct job {
    enum job_kind kind;
    uint32_t trial; /* JOB_RESUME */
};

struct scheduler_ops {
    const char *name; /* as typed by users: "asha" */
    const char *summary;
    size_t state_size;          /* allocated zeroed, options filled in before init() */
    const struct opt_def *opts; /* NULL: none */
    bool stops_early; /* trials end at different resources: searchers see last values (search.h, partial) */
    /* `env` outlives the scheduler.  NULL: nothing to do. */
    wn_status (*init)(void *self, const struct sched_env *env, struct err *err);
    /* Makes room, so that observe(e) cannot fail.  `h` does not hold `e` yet.  NULL: observe() never
     * allocates. */
    wn_status (*reserve)(void *self, const struct history *h, const struct event *e, struct err *err);
    /* `e` was appended to `h`.  The decision counts for REPORT events only.  Reports of a resource already
     * passed, and of values that are not finite, happen; the caller stops the latter and those at
     * max_resource whatever this returns. */
    wn_decision (*observe)(void *self, const struct history *h, const struct event *e);
    /* What a free worker should do.  Changes nothing: the answer comes back as an ASK or RESUME event if it
     * is taken, and may also be dropped.  NULL: always JOB_NEW. */
    struct job (*next)(const void *self, const struct history *h);
    /* Where it compares trials; lives as long as the scheduler.  NULL: at no particular resources. */
    const struct levels *(*levels)(const void *self);
    void (*release)(void *self); /* NULL: nothing to free */
};

struct scheduler {
    const struct scheduler_ops *ops;
    void *self;
};

size_t wni_scheduler_count(void);
const struct scheduler_ops *wni_scheduler_at(size_t i);
const struct scheduler_ops *wni_scheduler_find(const char *name,
                                               struct err *err); /* NULL with a "did you mean" */

/* `options` is a list of "scheduler.NAME=VALUE" words (others are ignored) or NULL. */
wn_status wni_scheduler_open(struct scheduler *s, const struct scheduler_ops *ops, const char *options,
                             const struct sched_env *env, struct err *err);
void wni_scheduler_release(struct scheduler *s);

/* NULL: there are none, or the scheduler is not open. */
const struct levels *wni_scheduler_levels(const struct scheduler *s);

#endif
