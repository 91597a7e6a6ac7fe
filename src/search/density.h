/* density.h -- the model that `tpe` and `bohb` share: propose where good trials are dense and bad ones are
 * not.
 *
 * Bergstra, Bardenet, Bengio, Kegl ("Algorithms for Hyper-Parameter Optimization", NeurIPS 2011), with the
 * multivariate densities of Falkner, Klein, Hutter ("BOHB: Robust and Efficient Hyperparameter Optimization
 * at Scale", ICML 2018):
 *
 *   - the best `share` of the observations are good, the others bad, and so are trials that failed; the good
 *     are at least `least` (d + 1), where d counts parameters that have more than one value;
 *   - each side gets a density (surrogate/kde.h) on the unit scale, logarithmic where declared so;
 *   - candidates are drawn from the kernels around good ones, widened; the one with the largest ratio of good
 *     to bad density is proposed; one proposal in ten is random.
 *
 * Kinds of columns: categories and booleans are unordered; ordinals, integers and stepped floats of at most
 * DENSITY_ORDERED_MAX values are ordered; everything else is continuous.
 *
 * Where it differs from the papers and why: docs/manual/methods/tpe.md. */
#ifndef WNI_SEARCH_DENSITY_H
#define WNI_SEARCH_DENSITY_H

#include "search/search.h"
#include "surrogate/kde.h"

enum { DENSITY_ORDERED_MAX = 32 };

struct density {
    /* options */
    double share, least, floor, widen, random;
    int candidates, max_fit;
    /* of the space */
    const struct search_env *env;
    struct arena keep;
    size_t d; /* columns: parameters with more than one value */
    struct kde_column *columns;
    uint32_t *params; /* of each column */
    /* caches: encoded trials, which never change, and scratch of one suggestion */
    double *rows;
    size_t n_rows, rows_cap;
    struct arena arena;
};

/* For a state that begins with a struct density. */
#define DENSITY_OPTIONS                                                                                      \
    OPT_REAL(struct density, share, 0.15, 0.001, 0.9, "share of the observed trials that is good"),          \
        OPT_REAL(struct density, least, 0.5, 0.01, 10,                                                       \
                 "good trials at least, times parameters + 1; the model begins with twice as many trials"),  \
        OPT_INT(struct density, candidates, 64, 1, 100000, "candidates scored for each suggestion"),         \
        OPT_REAL(struct density, floor, 0.1, 0.001, 1, "smallest bandwidth, on the unit scale"),             \
        OPT_REAL(struct density, widen, 3, 0.01, 100,                                                        \
                 "candidates are drawn with bandwidths this much larger"),                                   \
        OPT_REAL(struct density, random, 0.1, 0, 1, "share of random suggestions"),                          \
        OPT_INT(struct density, max_fit, 1000, 8, 1000000,                                                   \
                "observations fitted at most: the best are kept, of the others a random subset")

wn_status wni_density_init(struct density *s, const struct search_env *env, struct err *err);
void wni_density_release(struct density *s);

/* Observations that the model begins with: twice the least number of good ones. */
size_t wni_density_enough(const struct density *s);

/* A configuration for `trial`, learned from the values of some trials; random when they are too few. */
wn_status wni_density_propose(struct density *s, const struct history *h, uint32_t trial,
                              const uint32_t *trials, const double *values, size_t n, double *config,
                              struct err *err);

#endif
