/* fifo.c -- every trial runs to its end, in the order of asking.  The base line, and what single-fidelity
 * methods use. */
#include "sched/sched.h"

static wn_decision observe(void *self, const struct history *h, const struct event *e)
{
    (void)self, (void)h, (void)e;
    return WN_CONTINUE;
}

const struct scheduler_ops wni_scheduler_fifo = {
    .name = "fifo",
    .summary = "every trial runs to its end",
    .observe = observe,
};
