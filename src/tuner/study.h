/* study.h -- a study as a machine: ask, report, finish.
 *
 * It joins a history, a searcher, a scheduler and a store.  Every change is one event that goes the same way,
 * whether it comes from the public library, the simulator, a worker process or a replay: check, make room,
 * append to the store, append to the history, tell searcher and scheduler.  Only the steps before the store's
 * append may fail, so an event either happened everywhere or nowhere. */
#ifndef WNI_TUNER_STUDY_H
#define WNI_TUNER_STUDY_H

#include "core/history.h"
#include "sched/sched.h"
#include "search/search.h"
#include "store/store.h"

struct study_setup {
    const struct space *space;        /* copied */
    const char *scheduler, *searcher; /* registry names */
    const char *options[2];           /* "scheduler.eta=4 ...", the second list wins; NULL: none */
    uint64_t seed;
    wn_goal goal;
    double min_resource, max_resource; /* 0: min 1; max 0: trials report one final value */
};

struct study {
    struct space space;
    struct search_env search_env;
    struct sched_env sched_env;
    struct history history;
    struct searcher searcher;
    struct scheduler scheduler;
    struct store store;
    char *options;
    uint64_t max_trials; /* no new ones beyond; 0: no limit */
    double sign;         /* -1 when maximising: the history minimises */
    uint8_t *decisions;  /* last wn_decision of each trial */
    size_t decisions_cap;
};

/* A trial handed out.  `config` is valid until the next ask. */
struct handout {
    uint32_t trial;
    const double *config;
    double resumed_from; /* 0: new */
};

/* Takes over `store` (also on failure) and replays what it holds. */
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
wn_status wni_study_enqueue(struct study *s, const double *config, double now, struct err *err);

/* Applies an event that is in the store already (replay, another worker's). */
wn_status wni_study_apply(struct study *s, const struct event *e, wn_decision *decision, struct err *err);

#endif
