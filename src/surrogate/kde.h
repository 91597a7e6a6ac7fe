/* kde.h -- kernel density estimation over columns of mixed kinds.
 *
 * A density is the mean over the observations of a product of kernels, one per column:
 *
 *     continuous   Gaussian                exp(-((x - c) / h)^2 / 2) / (h sqrt(2 pi))
 *     ordered      Wang and van Ryzin      1 - h where x = c, else (1 - h) / 2 * h^|x - c|
 *     unordered    Aitchison and Aitken    1 - h where x = c, else h / (number of values - 1)
 *
 * as in statsmodels' KDEMultivariate, to rounding.  |x - c| of an ordered column is the distance of the
 * values' positions, which the caller gives: the search uses positions in [0,1], where h is of the same size
 * for all kinds.  (Wang, van Ryzin, Biometrika 68, 1981; Aitchison, Aitken, Biometrika 63, 1976.)
 *
 * Rows are arrays of `width` doubles: the number itself, or the index of the value in a discrete column.
 *
 * Evaluation costs n * width multiplications for each point and, where there is a continuous column, n
 * exponentials; points are handled eight at a time in vector registers.  Each point's sum runs over the
 * observations in order, so results are the same to the bit whatever the register width. */
#ifndef WNI_SURROGATE_KDE_H
#define WNI_SURROGATE_KDE_H

#include "base/arena.h"
#include "base/err.h"
#include "num/rng.h"

#include <stdint.h>

enum kde_kind { KDE_CONTINUOUS, KDE_ORDERED, KDE_UNORDERED };

struct kde_column {
    enum kde_kind kind;
    size_t count;     /* discrete: number of values */
    const double *at; /* ordered: position of each value, increasing */
};

struct kde {
    const struct kde_column *columns; /* outlive the model, as does what was allocated */
    size_t width, n;
    const double *bandwidths;
    double weight; /* of one observation: 1 / (n * product of h sqrt(2 pi) over continuous columns) */
    size_t n_numbers, n_codes;
    double **pairs;       /* by column, where ordered: the kernel of each value at each */
    double *inverses;     /* by continuous column: 1 / (h sqrt 2) */
    double *numbers;      /* n rows of n_numbers: x / (h sqrt 2) */
    uint32_t *codes;      /* n rows of n_codes: rows of the tables of all discrete columns together */
    uint32_t table_count; /* rows of those tables */
};

/* Silverman's normal reference rule, 1.06 s n^(-1/(4+width)), for each column, not below `floor`.  s is the
 * standard deviation (over n) of a column's positions.  In an unordered column it is that of 0/1 distances,
 * sqrt((1 - sum p^2) / 2), which does not depend on how values are numbered and for two of them is the
 * standard deviation.  Not above what makes a kernel flat: (count-1)/count where unordered, KDE_ORDERED_MAX
 * where ordered.  n > 0. */
void wni_kde_bandwidths(const struct kde_column *columns, size_t width, const double *rows, size_t n,
                        double floor, double *bandwidths);
#define KDE_ORDERED_MAX 0.95

/* n > 0.  `bandwidths` and `columns` are kept, not copied; the rest is allocated in `arena`.  WN_ENOMEM. */
wn_status wni_kde_fit(struct kde *k, const struct kde_column *columns, size_t width, const double *rows,
                      size_t n, const double *bandwidths, struct arena *arena);

/* Densities at m rows.  WN_ENOMEM: `arena` has no room for the tables. */
wn_status wni_kde_density(const struct kde *k, const double *rows, size_t m, double *densities,
                          struct arena *arena);

/* A value drawn from the kernel around `center`, in [0,1] where continuous (the Gaussian is truncated), one
 * of the values where discrete.  A bandwidth above the flattest is taken as that. */
double wni_kde_draw(const struct kde_column *c, double bandwidth, double center, struct rng *rng);

#endif
