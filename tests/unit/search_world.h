/* search_world.h -- a searcher with a history under it and no tuner, spaces to search, and the comparison of
 * proposals with those worked out the long way, for the tests of searchers. */
#ifndef TESTS_UNIT_SEARCH_WORLD_H
#define TESTS_UNIT_SEARCH_WORLD_H

#include "tests/check.h"

#include "core/encode.h"
#include "core/streams.h"
#include "search/search.h"

enum { PARAMS_MAX = 8, WIDTH_MAX = 32, TRIALS_MAX = 400, CANDIDATES_MAX = 3000 };

/* ---- a study without a tuner ---- */

struct world {
    struct space space;
    struct history history;
    struct search_env env;
    struct searcher searcher;
};

/* Takes over the space. */
static inline void open_world_in(struct world *w, const struct space *space, const char *searcher,
                                 const char *options, uint64_t seed, bool partial)
{
    struct err err = {0};
    *w = (struct world){.space = *space};
    w->env = (struct search_env){.space = &w->space, .seed = seed, .partial = partial};
    const struct searcher_ops *ops = wni_searcher_find(searcher, &err);
    CHECK(ops, "%s", err.text);
    CHECK_OK(wni_history_init(&w->history, &w->space, &err), err);
    CHECK_OK(wni_searcher_open(&w->searcher, ops, options, &w->env, &err), err);
}

static inline void open_world(struct world *w, void (*make)(struct space *), const char *searcher,
                              const char *options, uint64_t seed)
{
    struct space space;
    make(&space);
    open_world_in(w, &space, searcher, options, seed, false);
}

static inline void close_world(struct world *w)
{
    wni_searcher_release(&w->searcher);
    wni_history_release(&w->history);
    wni_space_release(&w->space);
}

static inline void happen(struct world *w, struct event e)
{
    check_event(&w->history, &e);
    if (w->searcher.ops->observe) w->searcher.ops->observe(w->searcher.self, &w->history, &e);
}

static inline uint32_t ask(struct world *w, const double *config)
{
    uint32_t trial = (uint32_t)w->history.n_trials;
    happen(w,
           (struct event){.kind = EVENT_ASK, .trial = trial, .config = config, .saw = w->history.n_events});
    return trial;
}

static inline void report(struct world *w, uint32_t trial, double resource, double value)
{
    happen(w, (struct event){.kind = EVENT_REPORT, .trial = trial, .resource = resource, .value = value});
}

static inline void finish(struct world *w, uint32_t trial, wn_state state)
{
    happen(w, (struct event){.kind = EVENT_FINISH, .trial = trial, .state = state});
}

static inline void complete(struct world *w, const double *config, double value)
{
    uint32_t trial = ask(w, config);
    report(w, trial, 1, value);
    finish(w, trial, WN_COMPLETE);
}

static inline wn_status suggest(struct world *w, double *config)
{
    struct err err = {0};
    return w->searcher.ops->suggest(w->searcher.self, &w->history, (uint32_t)w->history.n_trials, config,
                                    &err);
}

/* ---- spaces and what is to be minimised ---- */

static const char *const words[] = {"adam", "sgd", "lamb"};

/* 4 x 5 x 3 x 2 = 120 configurations. */
static inline void small_space(struct space *space)
{
    wni_space_init(space);
    check_add(space, (struct param_decl){.name = "a", .kind = PARAM_INT, .min = 1, .max = 4});
    check_add(space, (struct param_decl){.name = "b",
                                         .kind = PARAM_ORDINAL,
                                         .labels = (const char *const[]){"1", "2", "4", "8", "16"},
                                         .n_labels = 5});
    check_add(space,
              (struct param_decl){.name = "c", .kind = PARAM_CATEGORICAL, .labels = words, .n_labels = 3});
    check_add(space, (struct param_decl){.name = "d", .kind = PARAM_BOOL});
}

static inline void endless_space(struct space *space)
{
    wni_space_init(space);
    check_add(space, (struct param_decl){
                         .name = "rate", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-5, .max = 0.1});
    check_add(space, (struct param_decl){.name = "share", .kind = PARAM_FLOAT, .min = 0, .max = 1});
    check_add(space,
              (struct param_decl){.name = "kind", .kind = PARAM_CATEGORICAL, .labels = words, .n_labels = 3});
}

static inline void constant_space(struct space *space)
{
    wni_space_init(space);
    check_add(space,
              (struct param_decl){.name = "k", .kind = PARAM_CONSTANT, .labels = words, .n_labels = 1});
}

/* Finite, but more configurations than any test draws. */
static inline void large_space(struct space *space)
{
    wni_space_init(space);
    check_add(space, (struct param_decl){.name = "a", .kind = PARAM_INT, .min = 0, .max = 999});
    check_add(space, (struct param_decl){.name = "b", .kind = PARAM_INT, .min = 0, .max = 999});
}

static inline double value_of(const struct space *space, const double *config, struct rng *rng)
{
    double row[WIDTH_MAX], sum = 0;
    wni_encode_unit(space, config, row);
    for (size_t i = 0; i < space->unit_width; i++)
        sum += (row[i] - 0.3) * (row[i] - 0.3) * (double)(i + 1);
    return sum + 0.05 * wni_rng_normal(rng);
}

/* Observes n different configurations. */
static inline void observe_random(struct world *w, size_t n, uint64_t seed)
{
    struct rng rng = wni_rng_stream(seed, 0, 50);
    while (w->history.n_trials < n) {
        double config[PARAMS_MAX];
        wni_config_sample(&w->space, &rng, config);
        if (!wni_history_seen(&w->history, config)) complete(w, config, value_of(&w->space, config, &rng));
    }
}

static inline void check_config(const struct world *w, const double *got, const double *expected,
                                const char *about)
{
    for (size_t i = 0; i < w->space.n; i++)
        CHECK(check_same_double(got[i], expected[i]), "%s, trial %zu: '%s' is %.17g, expected %.17g", about,
              w->history.n_trials, w->space.params[i].name, got[i], expected[i]);
}

/* Whether the proposal is the one that random search makes. */
static inline bool is_random(struct world *w)
{
    double got[PARAMS_MAX], random[PARAMS_MAX];
    CHECK_INT(suggest(w, got), WN_OK);
    CHECK_INT(wni_search_random(&w->env, &w->history, (uint32_t)w->history.n_trials, random), WN_OK);
    return wni_config_equal(&w->space, got, random);
}

/* ---- proposals worked out the long way ---- */

struct method; /* the options of a searcher, as its test writes them down */
typedef void proposal(const struct world *w, const struct method *m, double *config);

static inline void check_proposal(struct world *w, proposal *expected, const struct method *m,
                                  const char *about)
{
    double got[PARAMS_MAX], config[PARAMS_MAX];
    CHECK_INT(suggest(w, got), WN_OK);
    expected(w, m, config);
    check_config(w, got, config, about);
}

/* With the option the searcher does what `with` says, and that is not always what `without` says. */
static inline void check_option(const char *searcher, const char *option, size_t n, proposal *expected,
                                const struct method *with, const struct method *without)
{
    int differs = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct world w;
        double one[PARAMS_MAX], other[PARAMS_MAX];
        open_world(&w, seed % 2 ? small_space : endless_space, searcher, option, seed);
        observe_random(&w, n, seed);
        check_proposal(&w, expected, with, option);
        expected(&w, with, one);
        expected(&w, without, other);
        differs += !wni_config_equal(&w.space, one, other);
        close_world(&w);
    }
    CHECK(differs > 0, "%s changes nothing", option);
}

/* The trials that are fitted: those with a finite value that counts, a random subset when they are more than
 * max_fit. */
static inline size_t list_fitted(const struct world *w, int max_fit, struct rng *rng, uint32_t *trials)
{
    const struct history *h = &w->history;
    uint32_t usable[TRIALS_MAX], drawn[TRIALS_MAX], n = 0;
    for (uint32_t t = 0; t < h->n_trials; t++) {
        double value;
        bool ended = h->trials[t].state == WN_COMPLETE || w->env.partial;
        if (ended && wni_history_last(h, t, &value, NULL)) drawn[n] = n, usable[n++] = t;
    }
    if (n > (uint32_t)max_fit) wni_rng_sample(rng, n, (uint32_t)max_fit, drawn), n = (uint32_t)max_fit;
    for (uint32_t i = 0; i < n; i++)
        trials[i] = usable[drawn[i]];
    return n;
}

/* All unseen configurations when there are no more than candidates, else so many draws without those seen. */
static inline size_t list_candidates(const struct world *w, int max, bool duplicates, struct rng *rng,
                                     double *configs)
{
    const struct space *space = &w->space;
    size_t n = 0;
    bool all = !duplicates && space->size && space->size - w->history.n_distinct <= (uint64_t)max;
    for (uint64_t i = 0; i < (all ? space->size : (uint64_t)max); i++) {
        double config[PARAMS_MAX];
        if (all)
            wni_config_at(space, i, config);
        else
            wni_config_sample(space, rng, config);
        if (wni_history_seen(&w->history, config) && !duplicates) continue;
        memcpy(configs + n++ * space->n, config, space->n * sizeof *config);
    }
    return n;
}

#endif
