/* columns.h -- a CSV of configurations, its columns matched to the parameters of a space by name. */
#ifndef WNI_BENCH_COLUMNS_H
#define WNI_BENCH_COLUMNS_H

#include "bench/csv.h"
#include "bench/kind.h"

struct column_cache;

struct columns {
    struct csv csv;
    const struct space *space;
    size_t *column_of;          /* column of each parameter */
    struct column_cache *cache; /* texts met lately, per parameter */
};

/* The file of configurations of a task: its own, or else its family's. */
wn_status wni_columns_path(struct arena *arena, const struct task *task, const struct family *family,
                           const char **out, struct err *err);

/* Every parameter needs a column, and every column must be a parameter; the order is free. */
wn_status wni_columns_open(struct columns *c, const struct space *space, const char *path, struct err *err);
void wni_columns_release(struct columns *c);

/* The next row as a configuration of the space: values outside it are refused.  WN_EXHAUSTED after the last.
 */
wn_status wni_columns_next(struct columns *c, double *config, struct err *err);

/* The next row as numbers: what stands there for float, int and numeric ordinals, whether or not the space
 * has it; the index of the value for the others. */
wn_status wni_columns_next_raw(struct columns *c, double *row, struct err *err);

#endif
