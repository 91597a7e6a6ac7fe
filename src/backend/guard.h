/* guard.h -- a small process that outlives the runner for a moment and ends its trials.
 *
 * A runner that is killed with SIGKILL can clean up nothing.  The guard sleeps on a pipe whose other end the
 * runner holds, and shares a table of the process groups that run; when the pipe closes with groups left in
 * the table, their runner has died, and the guard ends them: SIGTERM, the grace time, SIGKILL.  While all is
 * well it costs a store to memory per trial.  (The kernel's PR_SET_PDEATHSIG would reach the trial's first
 * process only, and with `shell: true` that is the shell, not the program.) */
#ifndef WNI_BACKEND_GUARD_H
#define WNI_BACKEND_GUARD_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

struct guard {
    pid_t pid;     /* 0: none */
    int pipe;      /* -1: none */
    pid_t *groups; /* shared, one per slot; 0: none */
    size_t n;
};

wn_status wni_guard_open(struct guard *g, unsigned slots, double grace, struct err *err);
void wni_guard_close(struct guard *g); /* waits for its end; an empty guard is fine */

/* What runs in a slot; 0: nothing. */
static inline void wni_guard_set(const struct guard *g, size_t slot, pid_t group)
{
    if (g->groups) __atomic_store_n(&g->groups[slot], group, __ATOMIC_RELEASE);
}

#endif
