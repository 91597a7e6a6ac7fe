/* gp_common.h -- what the searchers on Gaussian processes (gp, mob, ht) share.
 *
 * A suggestion: gather what was observed, fit hyperparameters if it is time to, factor the kernel (or append
 * to the factor), add pending trials as fantasies, and look for the largest expected improvement.  The
 * searchers differ in their rows (one per trial, or one per trial and rung), in how rows are divided among
 * processes, and in which processes are asked: struct gp_kind.
 *
 * Being a function of the log: hyperparameters are fitted at every suggestion until `refit_from` rows have
 * arrived, to the rows at hand; from then on to the rows and values there were when `refit_every` more, and
 * a share `refit_share` more, had arrived since the last time: the more is known, the less does a fit change.
 * observe() notes them when it happens, so replay notes the same.  Which rows are kept when there are too
 * many is decided there as well.  Factors are kept between suggestions, and are the same to the bit when made
 * anew: rows known at the last multiple of GP_BLOCK are factored at once, later ones appended one by one, in
 * both cases. */
#ifndef WNI_SEARCH_GP_COMMON_H
#define WNI_SEARCH_GP_COMMON_H

#include "search/search.h"
#include "surrogate/ei.h"

enum gp_normalize { GP_STANDARD, GP_QUANTILE };
enum { GP_SETS_MAX = LEVELS_MAX + 1, GP_BLOCK = 25 };

/* A value a trial has shown, at a level (0 where there are none). */
struct gp_entry {
    uint32_t trial, level;
    double value;
};

/* Rows of one process. */
struct gp_rows {
    size_t n, n_base; /* of which the first n_base are factored at once */
    uint32_t *trial;
    uint8_t *level;
    double *value, *y; /* as reported, and normalised */
    double *x;
};

/* A process with its factor, kept between suggestions. */
struct gp_model {
    struct gp_posterior posterior;
    struct arena arena;
    uint64_t version; /* of the hyperparameters; 0: nothing in it */
    size_t n_base;
    uint32_t *trial; /* of each row of the factor */
    uint8_t *level;
};

struct gp_search;

struct gp_kind {
    bool levels;  /* rows are values at the scheduler's levels, not last values */
    bool divided; /* each level is a process of its own; otherwise levels are a dimension of one */
    /* Looks at the processes before pending trials are added to them.  NULL: nothing to do. */
    wn_status (*prepare)(struct gp_search *s);
    /* Which processes are asked for a candidate: fills members (room for GP_SETS_MAX) and says how many.
     * NULL: the only one, at level 0. */
    wn_status (*choose)(struct gp_search *s, struct gp_member *members, size_t *n_members);
    /* Adds to what the model says about itself, as further pairs of a JSON object.  NULL: nothing. */
    void (*describe)(const struct gp_search *s, struct buf *out);
};

struct gp_search {
    const struct search_env *env;
    const struct gp_kind *kind;
    /* options */
    int initial, candidates, fantasies, refit_from, refit_every, max_fit, fit_rows, evaluations, normalize,
        start;
    double margin, random, refit_share;
    /* the fold over the log */
    struct gp_entry *entries; /* by arrival; room for max_fit + GP_BLOCK */
    size_t n_entries, n_base; /* base: factored at once */
    uint64_t count;           /* arrivals in all */
    struct gp_entry *noted;   /* what the last fit on schedule is made of; room for fit_rows */
    size_t n_noted;
    uint64_t noted_at;      /* `count` then; 0: not yet */
    uint32_t *order;        /* scratch for observe(), 3 x room of entries */
    struct gp_entry *moved; /* the same */
    /* levels */
    size_t n_levels; /* 0: rows have none */
    double resource[GP_SETS_MAX];
    size_t n_sets;
    /* caches */
    uint64_t version, fitted_at;
    struct gp_entry *fitted; /* what the hyperparameters were fitted to */
    size_t n_fitted, fitted_cap;
    double *theta; /* one vector for each set */
    struct gp_model models[GP_SETS_MAX];
    /* of one suggestion */
    struct arena arena;
    struct rng rng;
    struct gp_rows rows[GP_SETS_MAX];
    const struct history *history;
};

extern const char *const wni_gp_normalize_names[];

#define GP_OPTIONS(first, targets, most)                                                                     \
    OPT_INT(struct gp_search, initial, first, 1, 1000000,                                                    \
            "observed values before the first model; random until then"),                                    \
        OPT_INT(struct gp_search, candidates, 250, 1, 1000000,                                               \
                "random configurations scored for each suggestion"),                                         \
        OPT_INT(struct gp_search, fantasies, 20, 1, 1000, "joint draws of what pending trials might show"),  \
        OPT_CHOICE(struct gp_search, normalize, targets, wni_gp_normalize_names,                             \
                   "targets: zero mean and unit deviation, or normal scores of their ranks"),                \
        OPT_REAL(struct gp_search, random, 0, 0, 1, "share of random suggestions"),                          \
        OPT_REAL(struct gp_search, margin, 0.01, 0, 10,                                                      \
                 "improvement that does not count yet, in normalised units; more explores more"),            \
        OPT_INT(struct gp_search, refit_from, 200, 1, 1000000,                                               \
                "hyperparameters are fitted at every suggestion up to so many values"),                      \
        OPT_INT(struct gp_search, refit_every, 25, 1, 1000, "and beyond after so many new ones"),            \
        OPT_REAL(struct gp_search, refit_share, 0.1, 0, 10, "and this share of all at the last fit"),        \
        OPT_INT(struct gp_search, fit_rows, 256, 2, 2000,                                                    \
                "values the hyperparameters are fitted to at most; beyond that a random subset"),            \
        OPT_INT(struct gp_search, evaluations, 60, 2, 10000,                                                 \
                "evaluations of the likelihood in a fit, at most, for each of its starts"),                  \
        OPT_INT(struct gp_search, max_fit, most, 8, 3000,                                                    \
                "values the model is conditioned on at most; beyond that the best half and a random rest")

wn_status wni_gp_search_init(struct gp_search *s, const struct gp_kind *kind, const struct search_env *env,
                             struct err *err);
void wni_gp_search_release(void *self);
void wni_gp_search_observe(void *self, const struct history *h, const struct event *e);
/* {"fitted": N, "noise": variance, "bandwidth": [...], "scale": [...], ...}: of the columns of the unit cube,
 * and of each process; N is all their rows. */
void wni_gp_search_describe(const void *self, struct buf *out);
wn_status wni_gp_search_suggest(void *self, const struct history *h, uint32_t trial, double *config,
                                struct err *err);

#endif
