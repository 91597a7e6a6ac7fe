/* study_option.h -- --store and --study, as the commands take them that look at studies or steer them. */
#ifndef WNI_CLI_STUDY_OPTION_H
#define WNI_CLI_STUDY_OPTION_H

#include "cli/cli.h"
#include "tuner/study.h"

/* Rows of a command's table. */
/* clang-format off */
#define STORE_OPTION                                                                                         \
    {.name = "store", .value = "URL", .address = true, .help = "where studies are kept [$WINNOW_STORE, else sqlite:///winnow.db]"}
#define STUDY_OPTION                                                                                         \
    {.name = "study", .value = "NAME", .help = "which study [$WINNOW_STUDY, else the only one of the store]"}
/* clang-format on */

enum { NO_WORD = 1000000 };

const char *wni_store_option(const struct args *args);
/* All studies of a store; one that is not there is an error that says what to do. */
wn_status wni_list_studies(const char *url, take_study *take, void *context, struct err *err);

/* The study that --study, or else the word number `word` names, or the only one there is.  A name that is not
 * in the store is an error that says which are.  *name is for free(). */
wn_status wni_study_name_option(const struct args *args, size_t word, char **name, struct err *err);
/* "no study 'mpl' in sqlite:///winnow.db; did you mean 'mlp'?" */
wn_status wni_fail_no_study(const char *url, const char *name, struct err *err);

/* A study out of a store, as it was created, with all that happened in it. */
struct opened_study {
    const char *url;
    char *file_url; /* storage for one that a study file named */
    char *name;
    char *file;                /* text of the study file; NULL: none */
    struct stored_setup setup; /* its lease and retries are those of whoever created it */
    struct study study;
    double created;  /* seconds since 1970 */
    double began;    /* the same moment on the monotonic clock */
    uint64_t trials; /* when it was looked up */
    bool has_setup, has_study;
};

/* The caller closes it, also on failure. */
wn_status wni_open_study_option(const struct args *args, size_t word, struct opened_study *out,
                                struct err *err);
wn_status wni_open_named(const char *url, const char *name, struct opened_study *out, struct err *err);
/* Creates and opens the study out->name in out->url; what is there must have the same setup. */
wn_status wni_create_study(struct opened_study *out, const struct study_setup *setup, struct err *err);
/* Only looks it up: `study` stays empty. */
wn_status wni_find_study_option(const struct args *args, size_t word, struct opened_study *out,
                                struct err *err);
/* Opens one that was looked up. */
wn_status wni_open_found(struct opened_study *out, struct err *err);
/* Opens the study that a study file describes and creates it when it is not there.  --store and --study win
 * over what the file says.  Returns an exit code; mistakes have been printed. */
int wni_open_study_file(const struct args *args, const char *path, double lease, struct opened_study *out);
void wni_close_study(struct opened_study *s);
double wni_study_clock(const struct opened_study *s);        /* seconds since it was created */
const char *wni_metric_name(const struct opened_study *s);   /* "value" when nobody named it */
const char *wni_resource_name(const struct opened_study *s); /* "resource" when nobody named it */

struct studyfile;
/* The study file that was stored with it; empty when there is none that this version can read. */
void wni_stored_studyfile(const struct opened_study *s, struct studyfile *out);

/* Reads a word as the number of a trial. */
wn_status wni_trial_word(const struct args *args, size_t word, uint32_t *trial, struct err *err);

/* ---- a study by its file ---- */

/* Reads the study file at `path`; all mistakes are printed.  Returns an exit code; the caller releases `out`.
 */
int wni_load_studyfile(const char *path, struct studyfile *out);
/* The setup that a study file describes; it points into the file. */
struct study_setup wni_setup_of_file(const struct studyfile *file, const char *text);
/* Reads a whole file as text, at most 64 MiB. */
wn_status wni_read_text_file(const char *path, struct buf *out, struct err *err);

/* ---- words for people ---- */

void wni_describe_param(const struct param *p, struct buf *out); /* "float 1e-05..0.1, log" */
/* A line for each parameter and each key of the study file that is another one now: "stop.trials  50 -> 200".
 */
void wni_describe_changes(const struct study_setup *before, const struct study_setup *after,
                          const char *indent, struct buf *out);
/* "12 complete, 2 running", in the order of the states; "none" for no trials. */
void wni_describe_states(const uint64_t by_state[WN_CANCELLED + 1], struct buf *out);
void wni_lower_state(wn_state state, char out[16]); /* "complete" */
/* The first line of a text, cut to so many characters. */
void wni_short_line(const char *text, size_t most, struct buf *out);
enum { MOMENT_MAX = 32 };
void wni_format_moment(double seconds, char out[MOMENT_MAX]); /* since 1970, as 2026-11-15T23:46:27Z */

/* ---- a configuration for other programs ---- */

/* "--lr 0.01 --act relu" */
void wni_config_flags(const struct space *space, const double *config, struct buf *out);
/* Lines param_NAME=VALUE for eval, so that none takes the place of PATH; letters that no variable may have
 * become '_'. */
void wni_config_env(const struct space *space, const double *config, struct buf *out);

#endif
