/* importing.h -- finished trials from elsewhere: read as a whole and checked first, then recorded. */
#ifndef WNI_CLI_IMPORTING_H
#define WNI_CLI_IMPORTING_H

#include "cli/study_option.h"

struct import_row {
    wn_state state;
    size_t first, n_reports; /* in `resources` and `values` */
    double asked, ended;     /* seconds since the first trial began; NAN: not known */
};

struct import_set {
    double *configs; /* rows of the space's n */
    struct import_row *rows;
    double *resources, *values;
    size_t n, n_reports, configs_cap, rows_cap, resources_cap, values_cap;
    double max_resource; /* of the reports */
    struct buf notes;    /* lines for people: what was left out, what was taken for what */
};

/* Which columns of a CSV mean what; NULL: by the usual names. */
struct csv_meaning {
    const char *value, *resource;
    const char *metric; /* of the study: a column of this name is the value */
    const char *ignore; /* columns that are no parameters, separated by blanks */
    bool skip;          /* leave out rows that do not fit the space */
};

/* Appends an empty row with a configuration of its own.  NULL: out of memory. */
double *wni_import_row(struct import_set *set, size_t width, wn_state state);
wn_status wni_import_report(struct import_set *set, double resource, double value, struct err *err);
/* Forgets the last row. */
void wni_import_drop(struct import_set *set);
void wni_import_release(struct import_set *set);

/* A CSV file with a header.  The space is guessed from the columns, what is odd about them goes to the notes;
 * rows are read against any space. */
wn_status wni_import_csv_space(const char *path, const struct csv_meaning *meaning, struct space *space,
                               struct buf *notes, struct err *err);
wn_status wni_import_csv_rows(const char *path, const struct csv_meaning *meaning, const struct space *space,
                              struct import_set *set, struct err *err);

/* A study in a SQLite file as Optuna 3 writes them. */
struct optuna;
bool wni_is_sqlite_file(const char *path);
/* `name`: which study; NULL: the only one.  The caller closes it, also on failure. */
wn_status wni_optuna_open(struct optuna **o, const char *path, const char *name, struct err *err);
void wni_optuna_close(struct optuna *o);
const char *wni_optuna_name(const struct optuna *o);
wn_goal wni_optuna_goal(const struct optuna *o);
wn_status wni_optuna_space(struct optuna *o, struct space *space, struct err *err);
wn_status wni_optuna_rows(struct optuna *o, const struct space *space, bool skip, struct import_set *set,
                          struct err *err);

#endif
