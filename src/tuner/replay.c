/* replay.c -- a second study in memory that follows the log of the first. */
#include "tuner/replay.h"

#include <string.h>

struct follower {
    const struct study *of;
    const struct history *log; /* of it */
    const struct study_setup *setup;
    struct study study;
    struct history_cursor at; /* next event of the log to apply */
};

static wn_status start(struct follower *f, struct err *err)
{
    struct store store;
    struct study_setup setup = *f->setup;
    setup.space = f->of->versions[0]->stored.setup.space;
    setup.is_new = setup.adopts = false;
    f->at = (struct history_cursor){0};
    wn_status st = wni_store_open(&store, "memory:", "replay", setup.space, err);
    return st ? st : wni_study_open(&f->study, &setup, &store, err);
}

/* The history does not keep setups: the study does. */
static wn_status follow_setup(struct follower *f, struct event *e, struct err *err)
{
    const struct setup_version *next = f->of->versions[f->study.n_versions];
    struct buf json = {0};
    wn_decision ignored;
    wni_setup_write(&next->stored.setup, &json);
    e->setup = json.data;
    wn_status st = json.failed ? wni_fail_memory(err) : wni_study_apply(&f->study, e, &ignored, err);
    wni_buf_release(&json);
    return st;
}

/* Applies the log up to its event number `position`. */
static wn_status follow(struct follower *f, uint64_t position, struct err *err)
{
    struct event e;
    wn_decision ignored;
    wn_status st = WN_OK;
    while (!st && f->at.event < position && wni_history_next(f->log, &f->at, &e))
        st = e.kind == EVENT_SETUP ? follow_setup(f, &e, err) : wni_study_apply(&f->study, &e, &ignored, err);
    return st;
}

/* Proposals are made in the order of their trials, each after the one before it, so what one has seen is
 * never less.  Should a log say so all the same, begin anew. */
static wn_status rewind_to(struct follower *f, uint64_t position, struct err *err)
{
    if (position >= f->at.event) return follow(f, position, err);
    wni_study_release(&f->study);
    wn_status st = start(f, err);
    return st ? st : follow(f, position, err);
}

static wn_status propose(struct follower *f, uint32_t trial, uint64_t saw, double *proposal, struct err *err)
{
    wn_status st = rewind_to(f, saw, err);
    if (st) return st;
    return f->study.searcher.ops->suggest(f->study.searcher.self, &f->study.history, trial, proposal, err);
}

static wn_status check_trial(struct follower *f, const struct event *ask, struct replay *out,
                             double *proposal, struct err *err)
{
    if (ask->queued) {
        out->queued++;
        return WN_OK;
    }
    wn_status st = propose(f, ask->trial, ask->saw, proposal, err);
    if (st && st != WN_EXHAUSTED) return st;
    out->exhausted = st == WN_EXHAUSTED;
    bool same = !st && !memcmp(proposal, ask->config, f->log->space->n * sizeof *proposal);
    if (same)
        out->proposals++;
    else
        out->differs = ask->trial;
    return WN_OK;
}

static wn_status check_all(struct follower *f, struct replay *out, double *proposal,
                           replay_progress *progress, void *context, struct err *err)
{
    struct history_cursor scan = {0};
    struct event e;
    wn_status st = WN_OK;
    while (!st && out->differs == TRIAL_NONE && wni_history_next(f->log, &scan, &e)) {
        if (e.kind != EVENT_ASK) continue;
        st = check_trial(f, &e, out, proposal, err);
        if (!st && progress && !progress(context, scan.event)) return WN_WAIT;
    }
    return st;
}

wn_status wni_replay(const struct study *of, const struct study_setup *setup, struct replay *out,
                     double *proposal, replay_progress *progress, void *context, struct err *err)
{
    struct follower f = {.of = of, .log = &of->history, .setup = setup};
    *out = (struct replay){.differs = TRIAL_NONE};
    wn_status st = start(&f, err);
    if (st) return st;
    st = check_all(&f, out, proposal, progress, context, err);
    wni_study_release(&f.study);
    return st;
}
