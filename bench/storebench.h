/* storebench.h -- how fast a store takes trials, and how fast it gives them back. */
#ifndef WNI_BENCH_STOREBENCH_H
#define WNI_BENCH_STOREBENCH_H

#include "base/err.h"

#include <stdint.h>

struct storebench {
    uint64_t trials, reports; /* in: how many, and of each */
    double lease;             /* in: seconds; 0: none */
    double fill;              /* seconds for ask, the reports and finish of all trials */
    double cpu;  /* of these, processor time: what a quiet machine would take, but for the disk */
    double open; /* seconds to open the study anew: replay of the whole log */
    double list; /* seconds to the first ten trials of a listing */
};

/* Random search over four parameters, in a study of its own in `url`, which stays there.  NULL: in a SQLite
 * file in the temporary folder, which is removed. */
wn_status wni_storebench_run(struct storebench *b, const char *url, struct err *err);

#endif
