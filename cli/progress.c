/* progress.c -- a line that is rewritten in place. */
#include "cli/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <unistd.h>

void wni_progress_start(struct progress *p)
{
    *p = (struct progress){.on = isatty(STDERR_FILENO), .began = wni_clock_seconds()};
    p->shown = p->began; /* work that is done within the first interval shows nothing */
}

void wni_progress_show(struct progress *p, const char *what, double share)
{
    if (!p->on) return;
    double now = wni_clock_seconds();
    if (now - p->shown < 0.2) return;
    p->shown = now;
    fprintf(stderr, "\r\033[K%s  %.0f s", what, now - p->began);
    if (share > 0 && share < 1)
        fprintf(stderr, ", about %.0f s left", (now - p->began) * (1 - share) / share);
    fflush(stderr);
}

void wni_progress_end(struct progress *p)
{
    if (p->on && p->shown > p->began) fprintf(stderr, "\r\033[K");
}
