/* history.h -- the event log, in memory, in columns.
 *
 * A study is an append-only sequence of events.  The history keeps all of them (so that it can be replayed)
 * and what every decision wants to know without scanning: each trial's configuration, state and last value,
 * the best so far, which configurations have been seen.  Values are minimised: a maximised metric is negated
 * before it gets here.
 *
 * Memory per trial, d parameters, k reports: 8 d + 24 k + about 80 bytes.  Appending is O(1). */
#ifndef WNI_CORE_HISTORY_H
#define WNI_CORE_HISTORY_H

#include "core/space.h"

enum event_kind {
    EVENT_ENQUEUE, /* a configuration waits to be asked */
    EVENT_ASK,     /* trial proposed and handed out; it runs from here */
    EVENT_REPORT,
    EVENT_RESUME, /* a paused trial, or one that waits for its retry, handed out again */
    EVENT_FINISH, /* trial ended in `state`, PAUSED included */
    EVENT_SETUP,  /* from here on the study has another setup: `setup`, `file` */
};

struct event {
    enum event_kind kind;
    bool queued;     /* ASK: the configuration is the head of the queue */
    bool retry;      /* FINISH as FAILED, TIMEOUT or LOST, or as PAUSED because its worker was told to end: a
                        RESUME is to follow, whatever the scheduler thinks */
    wn_state state;  /* FINISH */
    uint32_t trial;  /* not for ENQUEUE and SETUP; for ASK the next unused number */
    double resource; /* REPORT, > 0 */
    double value;    /* REPORT; may be NaN or infinite: such a trial has failed */
    const double
        *config;  /* ENQUEUE, ASK; not a row of `configs` or, for ENQUEUE, of `queue`, which may move */
    uint64_t saw; /* ASK: events the proposal was based on */
    double time;  /* seconds since the study began; no decision looks at it */
    const char
        *detail; /* FINISH: why, for people; NULL: nothing to say.  Stores keep it, the history does not */
    const char *setup, *file; /* SETUP: see tuner/setup.h; file may be NULL.  The history keeps neither */
};

enum { TRIAL_NONE = UINT32_MAX };

struct history {
    const struct space *space; /* outlives the history; what it says may widen (wni_space_widen) */

    uint32_t *codes; /* one per event: kind and state in the top 4 bits, trial below */
    size_t n_events, events_cap;

    double *resources, *values; /* one per report, in order of arrival */
    uint32_t *previous;         /* report before it of the same trial, +1; 0: none */
    size_t n_reports, resources_cap, values_cap, previous_cap;

    double *configs; /* one row of space->n per trial */
    struct trial *trials;
    size_t n_trials, configs_cap, trials_cap;

    uint32_t *slots; /* seen configurations: open addressing, trial + 1, 0: free */
    size_t n_slots, n_distinct;

    double *queue; /* configurations waiting, rows of space->n; the head is queue_head */
    size_t queue_head, n_queue, queue_cap;

    uint32_t *retries; /* trials that wait to be tried again or gone on with, the longest waiting first */
    size_t n_retries, retries_cap;

    size_t by_state[WN_CANCELLED + 1]; /* trials in each state */
    double best_value;                 /* INFINITY before the first finite report */
    size_t best_report;                /* index of the report that holds it */
    uint32_t best_trial;               /* TRIAL_NONE before */
    double total_resource;             /* sum over trials of the resource they reached */
};

struct trial {
    uint64_t saw;
    double asked, ended; /* times; ended is NAN while it runs */
    uint32_t n_reports;
    uint32_t last_arrival; /* newest report, +1; 0: none */
    uint32_t furthest;     /* report at the largest resource (the newest of equals), +1: "the last value" */
    uint8_t state;         /* wn_state */
    uint8_t broken;        /* a report was not finite */
    uint8_t attempt;       /* 1, and one more for each retry */
    uint8_t retry;         /* ended, and waits to be tried again; PAUSED: to be gone on with */
};

wn_status wni_history_init(struct history *h, const struct space *space, struct err *err);
void wni_history_release(struct history *h);

/* Whether the event may happen now: known trial, legal state, resource above 0, configuration of the space. A
 * float without steps may have digits that the space has not: it was asked when the range was narrower. */
wn_status wni_history_check(const struct history *h, const struct event *e, struct err *err);
/* Makes room, so that wni_history_append() of this event cannot fail. */
wn_status wni_history_reserve(struct history *h, const struct event *e, struct err *err);
/* Appends a checked event for which room was made. */
void wni_history_append(struct history *h, const struct event *e);

/* Reads the log back, oldest first, while it may grow.  `time` is kept for ASK and for the FINISH that no
 * event of the trial can follow (not PAUSED, not LOST, no retry); it comes back as NAN elsewhere. */
struct history_cursor {
    size_t event, report, queued; /* next of each */
};
bool wni_history_next(const struct history *h, struct history_cursor *at, struct event *out);

/* Whether this configuration was ever asked. */
bool wni_history_seen(const struct history *h, const double *config);

static inline const double *wni_history_config(const struct history *h, uint32_t trial)
{
    return h->configs + (size_t)trial * h->space->n;
}

/* The last value of a trial and the resource it belongs to; false when it has none that is finite, or failed.
 */
bool wni_history_last(const struct history *h, uint32_t trial, double *value, double *resource);

/* Whether the RESUME it waits for is another attempt, rather than more of the same. */
static inline bool wni_trial_tries_again(const struct trial *t)
{
    return t->retry && t->state != WN_PAUSED;
}

static inline bool wni_state_is_final(wn_state state)
{
    return state >= WN_COMPLETE;
}

#endif
