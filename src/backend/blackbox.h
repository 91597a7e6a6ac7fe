/* blackbox.h -- a tuning problem whose answers are known in advance, as the simulator sees it.
 *
 * A black box has a space, the resource levels at which a run reports, and for each configuration a learning
 * curve: the value and the seconds since the start at each level.  Kinds (table, nearest, network, function)
 * live in bench/.  A black box is constant once opened: any number of simulations on any number of threads
 * may share it. */
#ifndef WNI_BACKEND_BLACKBOX_H
#define WNI_BACKEND_BLACKBOX_H

#include "core/space.h"

struct blackbox {
    const struct blackbox_ops *ops;
    const char *name;     /* "fcnet-naval" */
    const char *family;   /* "fcnet" */
    const char *metric;   /* "valid_mse" */
    const char *resource; /* "epoch" */
    const char *honesty;  /* "real", "surrogate", "synthetic", ...: carried on into every report */
    wn_goal goal;
    struct space space;
    const double *levels; /* increasing; the last is the largest resource */
    size_t n_levels;
    uint32_t n_seeds;      /* repetitions a trial may see; at least 1 */
    double limit_resource; /* the paper's budget: total resource and simulated seconds; 0: none */
    double limit_seconds;
    double best, worst; /* of the whole black box, as reported (not negated); NAN: not known */
    size_t curve_size;  /* bytes of a curve being read, see below */
    size_t n_rows;      /* configurations that were really run; 0: any is as good as another */
};

struct blackbox_ops {
    /* Prepares the curve of a configuration in `curve`, curve_size zeroed bytes aligned for anything.  `seed`
     * is below n_seeds where the box has repetitions; a noisy function uses all of it.  Nothing needs
     * freeing. */
    wn_status (*open_curve)(const struct blackbox *box, const double *config, uint64_t seed, void *curve,
                            struct err *err);
    /* Value (as the user sees it, NAN: diverged) and seconds since the start at levels[level].  Levels may be
     * read in any order. */
    void (*read_curve)(const struct blackbox *box, void *curve, size_t level, double *value, double *seconds);
    /* The value at the last level, where it can be had without the curve up to there.  NULL: it cannot. */
    double (*last_value)(const struct blackbox *box, void *curve);
    /* Configuration number `row` of those that were run, as the nearest one of the space.  NULL: n_rows is 0.
     */
    void (*row_config)(const struct blackbox *box, size_t row, double *config);
    void (*close)(struct blackbox *box); /* frees the box itself too */
};

#endif
