/* search.h -- what every searcher provides: the next configuration, from a history.
 *
 * A searcher is a pure function of (space, seed, history, trial number): it reads no clock and no file, and
 * draws from the keyed streams of the trial it proposes.  State is only a cache of what the history says; it
 * is rebuilt by replaying the events through observe().  To add one: a file with a `const struct
 * searcher_ops`, and a line in searchers.def. */
#ifndef WNI_SEARCH_SEARCH_H
#define WNI_SEARCH_SEARCH_H

#include "base/buf.h"
#include "base/opts.h"
#include "core/history.h"
#include "core/levels.h"
#include "core/space.h"

struct search_env {
    const struct space *space; /* outlives the searcher */
    uint64_t seed;
    /* Multi-fidelity: the observation of a trial is its last reported value, whatever resource it reached,
     * running trials included.  Otherwise only completed trials are observed. */
    bool partial;
    /* Where the scheduler compares trials: what search/levels.h goes by.  Outlives the searcher.  NULL:
     * nowhere in particular. */
    const struct levels *levels;
};

struct searcher_ops {
    const char *name;           /* as typed by users: "random" */
    const char *summary;        /* one line for `winnow methods` */
    size_t state_size;          /* allocated zeroed, options filled in before init() */
    const struct opt_def *opts; /* NULL: none */
    /* `env` outlives the searcher.  May refuse a space it cannot search (WN_EINVAL).  NULL: nothing to do. */
    wn_status (*init)(void *self, const struct search_env *env, struct err *err);
    /* Proposes a configuration for trial number `trial`, of values of the space.  Those of the history may be
     * from a narrower space and have other digits: what is copied from them goes through wni_param_nearest().
     * Must work with an empty history.  WN_EXHAUSTED when a finite space has nothing new.  May be slow (fits
     * a model), must not block on anything else. */
    wn_status (*suggest)(void *self, const struct history *h, uint32_t trial, double *config,
                         struct err *err);
    /* An event was appended to `h`.  Only note it, without allocating: fitting belongs in suggest().  NULL:
     * not interested. */
    void (*observe)(void *self, const struct history *h, const struct event *e);
    /* Adds to `out` what is worth knowing about the model behind the last suggestion, as one JSON object;
     * nothing when there was none.  NULL: no model to speak of. */
    void (*describe)(const void *self, struct buf *out);
    void (*release)(void *self); /* drops what init() and suggest() allocated; NULL: nothing */
};

struct searcher {
    const struct searcher_ops *ops;
    void *self;
};

size_t wni_searcher_count(void);
const struct searcher_ops *wni_searcher_at(size_t i);
const struct searcher_ops *wni_searcher_find(const char *name,
                                             struct err *err); /* NULL with a "did you mean" */

/* `options` is a list of "searcher.NAME=VALUE" words (others are ignored) or NULL. */
wn_status wni_searcher_open(struct searcher *s, const struct searcher_ops *ops, const char *options,
                            const struct search_env *env, struct err *err);
void wni_searcher_release(struct searcher *s);

/* ---- shared by searchers ---- */

/* A configuration drawn uniformly in the declared scales that was not asked before, from STREAM_RANDOM of the
 * trial: the same one whichever searcher calls.  WN_EXHAUSTED when a finite space is used up. */
wn_status wni_search_random(const struct search_env *env, const struct history *h, uint32_t trial,
                            double *config);

/* The trial's observation under env->partial; false: it has none (yet), or failed. */
bool wni_search_observation(const struct search_env *env, const struct history *h, uint32_t trial,
                            double *value);

#endif
