/* trialtable.h -- trials as rows of a listing: one column per parameter for people and spreadsheets, one
 * object for JSON. */
#ifndef WNI_CLI_TRIALTABLE_H
#define WNI_CLI_TRIALTABLE_H

#include "cli/study_option.h"

struct trial_table {
    struct table *table;
    const struct space *space;
    bool json, short_results;
    const char **columns;
    size_t n_columns;
    struct arena texts; /* column names */
};

/* `stream` prints rows as they come; see wni_table_stream(). */
wn_status wni_trial_table_open(struct trial_table *t, const struct space *space, const char *format,
                               bool stream, struct err *err);
wn_status wni_trial_table_add(struct trial_table *t, const struct trial_row *row, struct err *err);
wn_status wni_trial_table_print(struct trial_table *t, const char *format, struct err *err);
void wni_trial_table_release(struct trial_table *t);

/* The name of a parameter's column: its own, or param.NAME where a column of ours is called like that.
 * NULL: out of memory. */
const char *wni_param_column(struct arena *texts, const struct param *p);

#endif
