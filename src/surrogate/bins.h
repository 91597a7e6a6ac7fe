/* bins.h -- a matrix of numbers as one byte per value.
 *
 * A tree only asks "is column j above this cut?", and a column has at most 255 cuts worth asking about: every
 * midpoint between neighbouring distinct values when there are at most 256 of them, 255 evenly filled
 * quantiles otherwise.  The code of a value is the number of cuts below it, so "above cut b" is "code > b":
 * one byte comparison, 32 rows to a vector register.
 *
 * The same cuts serve training rows and candidates; all quantile levels and all trees share one set of bins.
 */
#ifndef WNI_SURROGATE_BINS_H
#define WNI_SURROGATE_BINS_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

enum {
    BINS_MAX = 256,        /* codes 0..255 */
    BINS_ROWS_MAX = 65535, /* row numbers and counts fit 16 bits */
    BINS_COLUMNS_MAX = 65535,
    BINS_BLOCK = 32, /* rows are padded to a multiple of this, so that vector loads never run over */
};

struct bin_column {
    uint32_t n_cuts;
    uint32_t first_step; /* largest power of two not above n_cuts; 0 without cuts */
    double *cuts;        /* increasing; then infinities, up to 2 first_step - 1 in all */
    double *low, *high;  /* n_cuts + 1: smallest and largest training value of each bin */
    uint16_t *order;     /* training rows, by code, then row number */
    uint16_t *run_end;   /* n_cuts + 1: where in `order` each bin ends */
    uint8_t *codes;      /* one per training row */
};

struct bins {
    size_t n;      /* training rows */
    size_t stride; /* n rounded up to a multiple of BINS_BLOCK */
    size_t columns;
    struct bin_column *column;
};

/* Bins `x` (n rows of `columns` numbers, row-major, finite).  Everything is allocated in `arena`.  0 < n <=
 * BINS_ROWS_MAX. */
wn_status wni_bins_build(struct bins *bins, const double *x, size_t n, size_t columns, struct arena *arena);

/* Code of a value in a column. */
uint8_t wni_bins_code(const struct bin_column *column, double value);

/* Of the cuts between the bins `below` < `above`, the one nearest to the middle of the values on either side
 * (the lower of two).  For a node without rows in the bins between, all these cuts split alike; this one is
 * where an exact learner would put its own. */
uint8_t wni_bins_middle_cut(const struct bin_column *column, uint8_t below, uint8_t above);

/* Codes of m other rows, column-major: out[j * stride + i], stride at least m. */
void wni_bins_encode(const struct bins *bins, const double *x, size_t m, uint8_t *out, size_t stride);

#endif
