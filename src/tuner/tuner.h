/* tuner.h -- the loop: keep the workers busy, pass reports on, carry decisions out.
 *
 * It is the same loop for simulation and for real processes: time, processes and results belong to the
 * backend. */
#ifndef WNI_TUNER_TUNER_H
#define WNI_TUNER_TUNER_H

#include "backend/backend.h"
#include "tuner/study.h"

struct tuner_limits { /* of the whole study, whoever ran it; 0: no limit */
    uint64_t trials;  /* no new ones beyond; those there are go on */
    uint64_t reports; /* ends at once, as do the next two */
    double resource;  /* summed over trials: epochs trained in all */
    double seconds;   /* of the backend's clock: only this run's */
};

/* What is kept of a trial that will not run again. */
enum keep_checkpoints { KEEP_BEST, KEEP_ALL, KEEP_NONE };

/* Who wants to know; each may be NULL.  `study` is as it is after what happened. */
struct tuner_watcher {
    void *context;
    void (*on_start)(void *context, const struct study *study, uint32_t trial, double resumed_from);
    void (*on_report)(void *context, const struct study *study, const struct happening *report);
    /* Before on_report, once in a run of a trial: the report is of less resource than the one `before` it in
     * that run, or of more than there is.  It counts all the same. */
    void (*on_odd)(void *context, const struct study *study, const struct happening *report, double before);
    /* `state` is what was recorded; `detail` may be NULL. */
    void (*on_end)(void *context, const struct study *study, uint32_t trial, wn_state state,
                   const char *detail);
    /* It ended in trouble, as its state says, and waits to be tried again. */
    void (*on_retry)(void *context, const struct study *study, uint32_t trial, const char *detail);
    /* Nothing runs here and nothing can be started until a trial that runs elsewhere has ended: once in a
     * row.
     */
    void (*on_wait)(void *context, const struct study *study);
    void (*on_interrupt)(void *context, const struct study *study, bool urgent, unsigned running);
    /* About every `duty_seconds`, whatever else happens: heartbeats, what others did, a progress display. */
    wn_status (*on_duty)(void *context, struct study *study, struct err *err);
};

struct tuner_setup {
    unsigned workers;
    struct tuner_limits limits;
    struct tuner_watcher watcher;
    double duty_seconds;
    double began;     /* how old the study was when the backend's clock was 0: events are noted by its age */
    unsigned give_up; /* fail after so many trials in a row that ended as FAILED or TIMEOUT without any
                         report; 0: never */
    unsigned give_up_silent; /* fail after so many of them that ended without a fault, while no trial of the
                                study has reported anything; 0: never */
    enum keep_checkpoints keep;
    bool charge; /* tell the backend the real seconds spent deciding */
    bool settle; /* what still runs at the end is stopped and recorded as CANCELLED, or handed back after an
                    interrupt, not left RUNNING */
    bool interrupt_ends; /* the first interrupt is as urgent as the second */
};

struct tuner_result {
    uint64_t reports;
    bool exhausted;      /* it ended because there was nothing left to try, not by a limit */
    bool interrupted;    /* it ended because someone wanted it to */
    bool gave_up;        /* it failed because too many trials in a row did */
    bool gave_up_silent; /* because none of them reported */
    double seconds;      /* backend time of the last happening within the limits */
};

wn_status wni_tuner_run(struct study *study, struct backend *backend, const struct tuner_setup *setup,
                        struct tuner_result *result, struct err *err);

#endif
