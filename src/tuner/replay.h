/* replay.h -- recomputes every proposal of a study from its log.
 *
 * A proposal is a function of the setup, the trial's number and the events it had seen, whose count the ASK
 * event notes.  So a log can be checked: feed the events to a fresh searcher, let it propose again at the
 * same places and compare bit by bit.  A difference means another version of a searcher, another machine that
 * computes differently, or a log that was tampered with. */
#ifndef WNI_TUNER_REPLAY_H
#define WNI_TUNER_REPLAY_H

#include "tuner/study.h"

struct replay {
    uint64_t proposals; /* made again and found the same */
    uint64_t queued;    /* trials whose configuration was given by the user: nothing to propose */
    uint32_t differs;   /* the first trial that would be another today; TRIAL_NONE */
    bool exhausted;     /* ... namely none: the searcher has nothing left to propose */
};

/* Called now and then with the events done so far; false ends the replay with WN_WAIT. */
typedef bool replay_progress(void *context, uint64_t events);

/* Follows the log of a study that was set up like this when it was created, but for the space, which is taken
 * from there; later setups are part of the log, and each proposal is made under the one that was in force.
 * `proposal` holds what is proposed in place of trial `differs` (space->n numbers).  Costs as much time as
 * all the proposals did.  progress may be NULL. */
wn_status wni_replay(const struct study *of, const struct study_setup *setup, struct replay *out,
                     double *proposal, replay_progress *progress, void *context, struct err *err);

#endif
