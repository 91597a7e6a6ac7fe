/* progress.h -- one line on the terminal that says how far long work is; nothing when stderr is not a
 * terminal. */
#ifndef WNI_CLI_PROGRESS_H
#define WNI_CLI_PROGRESS_H

#include <stdbool.h>

struct progress {
    bool on;
    double began, shown; /* on the monotonic clock */
};

void wni_progress_start(struct progress *p);
/* Rewrites the line, at most five times a second.  `share` is how much of the work is done; the time left is
 * estimated from it when it is above 0. */
void wni_progress_show(struct progress *p, const char *what, double share);
void wni_progress_end(struct progress *p); /* clears the line */

#endif
