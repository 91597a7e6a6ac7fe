/* local.h -- trials as processes on this machine.
 *
 * Each trial is a process in a session of its own, with a folder of its own (trialdir.h).  Its output goes to
 * files there, which are read as they grow.  It reaps all children of the process, and becomes the parent of
 * orphans below it (PR_SET_CHILD_SUBREAPER) while it is open: one in a process at a time.  See README.md in
 * this directory for the reasons, and docs/manual/trials.md for what a program may rely on. */
#ifndef WNI_BACKEND_LOCAL_H
#define WNI_BACKEND_LOCAL_H

#include "backend/backend.h"

/* For measurement: from the end of a process until there was the next one in its place, and until that was
 * seen to have executed its program, which also takes its own share of the processor. */
struct delay {
    uint64_t n, late; /* late: longer than DELAY_FINE */
    double sum, max;  /* seconds */
};
#define DELAY_FINE 0.02 /* what a free worker may wait */
struct local_figures {
    uint64_t starts;
    struct delay refill, execute;
};
struct local_figures wni_local_figures(const struct backend *backend);

static inline void wni_delay_add(struct delay *d, double seconds)
{
    d->n++;
    d->sum += seconds;
    if (seconds > DELAY_FINE) d->late++;
    if (seconds > d->max) d->max = seconds;
}

/* When a process ended is not known, only when its end was noticed.  One that was there when we came to wait,
 * so that the wait was over at once, may have been there since the last look: then that moment is taken. */
static inline double wni_earliest_end(double looked, double entered, double noticed)
{
    return noticed - entered < 0.0002 ? looked : noticed;
}

#endif
