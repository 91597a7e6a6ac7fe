/* study.h -- a study as a machine: ask, report, finish.
 *
 * It joins a history, a searcher, a scheduler and a store.  Every change is one event that goes the same way,
 * whether it comes from the public library, the simulator, a worker process or a replay.  In a store that
 * others write to as well, it takes the write lock, catches up with what they appended, checks, makes room,
 * appends to the store, and, once that is durable, appends to the history and tells searcher and scheduler.
 * Only the steps before the store's commit may fail, so an event either happened everywhere or nowhere.
 * docs/adr/0012 has the whole story, docs/adr/0015 that of batches. */
#ifndef WNI_TUNER_STUDY_H
#define WNI_TUNER_STUDY_H

#include "core/history.h"
#include "sched/sched.h"
#include "search/search.h"
#include "store/store.h"
#include "tuner/setup.h"

/* A setup the study has or had.  Proposals are made by the newest. */
struct setup_version {
    uint64_t since; /* number of the event it came with; 0: the study was created so */
    double time;    /* of that event */
    struct stored_setup stored;
    struct search_env env;    /* of its searcher */
    struct searcher searcher; /* of one that is about to come; empty: the space is as it was */
};

/* Events that are made durable together; see wni_study_batch_begin(). */
struct study_batch {
    bool on;
    bool entered;     /* the write lock is ours */
    double since;     /* when it became so */
    double thinking;  /* seconds a proposal takes, of late */
    wn_status failed; /* the store refused it: memory is ahead of the log for good */
    struct err why;
};

struct study {
    struct space space;           /* the newest version's, which owns it */
    struct search_env search_env; /* the newest version's */
    struct sched_env sched_env;
    struct history history;
    struct searcher searcher;
    struct scheduler scheduler;
    struct store store;
    char *options;
    uint64_t max_trials; /* no new ones beyond; 0: no limit */
    wn_goal goal;
    double sign;  /* -1 when maximising: the history minimises */
    double lease; /* see study_setup */
    unsigned retries;
    bool holds;
    double created;     /* when the study was, in seconds since 1970 */
    struct buf json;    /* scratch */
    uint8_t *decisions; /* last wn_decision of each trial */
    size_t decisions_cap;
    struct setup_version **versions; /* oldest first, at least one */
    size_t n_versions, versions_cap;
    struct study_batch batch;
    struct setup_version *coming; /* by the SETUP event that is about to happen; NULL: none */
};

/* A trial handed out.  `config` is valid until the next ask. */
struct handout {
    uint32_t trial;
    const double *config;
    double resumed_from; /* resource it had reached before it was paused, failed or lost; 0: new */
    unsigned attempt;    /* 1, and one more for each retry */
    bool again;          /* it was handed out before */
};

/* Takes over `store` (also on failure) and replays what it holds.  A study that is there already must have
 * the same setup, unless that `adopts` what there is. */
wn_status wni_study_open(struct study *s, const struct study_setup *setup, struct store *store,
                         struct err *err);
void wni_study_release(struct study *s);

/* WN_WAIT, WN_EXHAUSTED: see winnow.h; a study at its max_trials is exhausted once no paused trial is worth
 * going on with.  `now` is only noted. */
wn_status wni_study_ask(struct study *s, double now, struct handout *out, struct err *err);
wn_status wni_study_report(struct study *s, uint32_t trial, double resource, double value, double now,
                           wn_decision *decision, struct err *err);
/* The state recorded is the one that fits what happened; see wn_trial_finish(). */
wn_status wni_study_finish(struct study *s, uint32_t trial, wn_state state, double now, struct err *err);
/* With a sentence for people that says why; NULL: none. */
wn_status wni_study_finish_as(struct study *s, uint32_t trial, wn_state state, const char *detail, double now,
                              struct err *err);
/* The worker was told to end and the trial was not over: it is PAUSED, and the next worker that asks goes on
 * with it.  The scheduler does not hear of it. */
wn_status wni_study_hand_back(struct study *s, uint32_t trial, const char *detail, double now,
                              struct err *err);
wn_status wni_study_enqueue(struct study *s, const double *config, double now, struct err *err);

/* Goes on with another setup, which every process learns from the log: parameters as wni_space_widen()
 * allows, retries, file and names of `to`; lease, holds and the like are not looked at.  All trials are kept,
 * and what the searcher proposes from here on is of the new space.  *changed: it differed, and is an event
 * now. */
wn_status wni_study_change(struct study *s, const struct study_setup *to, double now, bool *changed,
                           struct err *err);

/* Catches up with what others have appended, and declares trials LOST whose lease has run out.  Ask, report,
 * finish and enqueue catch up by themselves; ask also looks for the lost. */
wn_status wni_study_sync(struct study *s, double now, struct err *err);
/* The worker of a running trial is alive.  Reports say so too.  WN_ESTATE: it was given up as lost, or ended
 * by somebody else; its results are still welcome in the first case. */
wn_status wni_study_heartbeat(struct study *s, uint32_t trial, struct err *err);
/* What happens from here on is durable, all or nothing, when wni_study_batch_end() has returned WN_OK: one
 * transaction instead of one for each event.  Until then nobody may be told of it and no trial be started.
 * Calls look at the study as it will be, and a call that breaks a rule fails as ever, alone.  A store that
 * fails takes the whole batch with it, which memory cannot undo: then the study is of no more use, all calls
 * fail with the same message, and to open it again is to go on from what is in the log. */
void wni_study_batch_begin(struct study *s);
wn_status wni_study_batch_end(struct study *s, struct err *err);
/* Others have waited long enough to write, or would if one more proposal were made: end it first. */
bool wni_study_batch_is_due(const struct study *s);

/* From here to wni_study_leave() nobody else writes, and the history is all there is. */
wn_status wni_study_enter(struct study *s, struct err *err);
/* Makes what was written to the store since then durable, or, with a `st` that is not WN_OK, undone.  Returns
 * `st` or how that went. */
wn_status wni_study_leave(struct study *s, wn_status st, struct err *err);
/* Instead of that, when nothing was written: returns `st`. */
wn_status wni_study_withdraw(struct study *s, wn_status st);

static inline const struct study_setup *wni_study_setup(const struct study *s)
{
    return &s->versions[s->n_versions - 1]->stored.setup;
}

/* Applies an event of a log (replay), whose values are minimised. */
wn_status wni_study_apply(struct study *s, const struct event *e, wn_decision *decision, struct err *err);

#endif
