/* guard.h -- a small process that outlives the runner for a moment and ends its trials.
 *
 * A runner that is killed with SIGKILL can clean up nothing.  The guard holds the other end of a pipe and a
 * list of the process groups that run; when the pipe closes with groups left in the list, their runner has
 * died, and the guard ends them: SIGTERM, the grace time, SIGKILL.  (The kernel's PR_SET_PDEATHSIG would
 * reach the trial's first process only, and with `shell: true` that is the shell, not the program.) */
#ifndef WNI_BACKEND_GUARD_H
#define WNI_BACKEND_GUARD_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct guard {
    pid_t pid; /* 0: none */
    int pipe;  /* -1: none */
};

/* `most`: groups it must be able to remember. */
wn_status wni_guard_open(struct guard *g, unsigned most, double grace, struct err *err);
void wni_guard_add(const struct guard *g, pid_t group);
void wni_guard_remove(const struct guard *g, pid_t group);
void wni_guard_close(struct guard *g); /* waits for its end; an empty guard is fine */

#endif
