/* curves.h -- recorded learning curves: what tables and nearest-neighbour boxes have in common.
 *
 * values [row, level, seed] and seconds [row, level] or [row, level, seed] stay in their mapped files.  A row
 * is a configuration.  Where a task has no file of seconds, a unit of resource takes a second. */
#ifndef WNI_BENCH_CURVES_H
#define WNI_BENCH_CURVES_H

#include "bench/kind.h"
#include "bench/npy.h"

struct curves {
    struct npy values, seconds;
    size_t n_levels, n_seeds;
    const double *levels;
};

/* One curve being read; begins as zeroes. */
struct curve {
    size_t row;
    size_t seed;
    size_t reached; /* levels that `latest` covers */
    double latest;  /* largest seconds among them */
};

/* Opens the arrays that a task names and checks their shapes against rows and levels; sets n_seeds of the
 * box. */
wn_status wni_curves_open(struct curves *c, struct box *box, const struct task *task,
                          const struct family *family, size_t n_rows, struct err *err);
void wni_curves_release(struct curves *c);

/* Seconds never go back with the level, whatever the file says, since a clock does not: O(1) when levels are
 * read in order. */
void wni_curves_read(const struct curves *c, struct curve *curve, size_t level, double *value,
                     double *seconds);

#endif
