/* winnow.h -- hyperparameter optimisation.
 *
 * Describe a space, open a study over it, then loop: ask for a trial, read its parameters, evaluate it,
 * report what it reached, obey the decision, finish it.  The study learns from every report.
 *
 *     wn_space *space = wn_space_new();
 *     wn_space_float(space, "lr", 1e-5, 1e-1, WN_LOG);
 *     wn_space_int(space, "units", 16, 512, WN_LOG);
 *     wn_study_options options = WN_STUDY_OPTIONS_INIT;
 *     options.method = "asha";
 *     options.max_resource = 81;
 *     wn_study *study;
 *     char why[WN_WHY_MAX];
 *     if (wn_study_open("memory:", "mlp", space, &options, &study, why) != WN_OK) { puts(why); return 1; }
 *     wn_trial *trial;
 *     for (int i = 0; i < 100 && wn_study_ask(study, &trial) == WN_OK; i++) {
 *         double lr = wn_trial_float(trial, "lr");
 *         for (int epoch = 1; epoch <= 81; epoch++) {
 *             wn_decision next;
 *             wn_trial_report(trial, epoch, train_one_epoch(lr), &next);
 *             if (next != WN_CONTINUE) break;
 *         }
 *         wn_trial_finish(trial, WN_COMPLETE);
 *     }
 *
 * No function prints, exits, or keeps state outside the handles you pass.  A handle may be used by one thread
 * at a time; different handles are independent.  The same seed and the same reports in the same order give
 * the same proposals, on every machine.
 *
 * Functions return WN_OK (0), a negative status when something failed, or a positive one when there is
 * nothing to do (WN_WAIT, WN_EXHAUSTED).  Where a function takes `why`, it may be NULL; otherwise it is
 * filled on failure with a sentence that names what was wrong, for instance "parameter 'lr': log scale needs
 * a lower bound above 0".
 */
#ifndef WINNOW_H
#define WINNOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WN_API __attribute__((visibility("default")))
#else
#define WN_API
#endif

#define WN_VERSION_MAJOR 0
#define WN_VERSION_MINOR 1
#define WN_VERSION_PATCH 0

/* "0.1.0", of the library that is running (the macros above are those it was compiled against). */
WN_API const char *wn_version(void);

/* ---- status
 * ------------------------------------------------------------------------------------------------- */

#define WN_STATUS_MAP(X)                                                                                     \
    X(OK, 0, "success")                                                                                      \
    X(WAIT, 1, "nothing to start before a running trial reports or ends")                                    \
    X(EXHAUSTED, 2, "every configuration of the space has been tried")                                       \
    X(EINVAL, -1, "invalid argument")                                                                        \
    X(ENOMEM, -2, "out of memory")                                                                           \
    X(ESTATE, -3, "not allowed in the trial's current state")                                                \
    X(ESTORE, -4, "storage failed")                                                                          \
    X(EIO, -5, "input or output failed")                                                                     \
    X(ENOTFOUND, -6, "not found")

typedef enum {
#define X(name, value, text) WN_##name = (value),
    WN_STATUS_MAP(X)
#undef X
} wn_status;

WN_API const char *wn_status_text(wn_status status);

enum { WN_WHY_MAX = 512 }; /* bytes of a `why` buffer, terminating zero included */

/* ---- the space
 * ----------------------------------------------------------------------------------------------- */

typedef struct wn_space wn_space;
typedef struct wn_study wn_study;
typedef struct wn_trial wn_trial;

typedef enum {
    WN_LINEAR = 0,
    WN_LOG = 1, /* uniform in the logarithm; the lower bound must be above 0 */
} wn_scale;

/* Returns NULL when out of memory. */
WN_API wn_space *wn_space_new(void);
WN_API void wn_space_free(wn_space *space); /* NULL is fine */

/* Each call adds a parameter.  A mistake is remembered: the first one is also returned by wn_study_open(), so
 * a chain of these calls may be left unchecked.  wn_space_error() tells it ("" when there is none).
 *
 * Values of a float are decimals, so that what is printed is what was used: 12 significant digits on a log
 * scale, 12 digits below the leading digit of the range (or step) on a linear one.  One with more is rounded.
 */
WN_API wn_status wn_space_float(wn_space *space, const char *name, double min, double max, wn_scale scale);
WN_API wn_status wn_space_float_step(wn_space *space, const char *name, double min, double max, double step);
WN_API wn_status wn_space_int(wn_space *space, const char *name, int64_t min, int64_t max, wn_scale scale);
WN_API wn_status wn_space_int_step(wn_space *space, const char *name, int64_t min, int64_t max, int64_t step);
WN_API wn_status wn_space_ordinal(wn_space *space, const char *name, const double *values, size_t n,
                                  wn_scale scale);
WN_API wn_status wn_space_ordinal_strings(wn_space *space, const char *name, const char *const *values,
                                          size_t n);
WN_API wn_status wn_space_categorical(wn_space *space, const char *name, const char *const *values, size_t n);
WN_API wn_status wn_space_bool(wn_space *space, const char *name);
WN_API wn_status wn_space_constant(wn_space *space, const char *name, const char *value);
WN_API const char *wn_space_error(const wn_space *space);

/* The `parameters` of a study file, as JSON: {"lr": {"type": "float", "min": 1e-5, "max": 0.1, "scale":
 * "log"}}. */
WN_API wn_status wn_space_from_json(const char *json, wn_space **out, char why[WN_WHY_MAX]);
/* The caller frees *json with wn_string_free(). */
WN_API wn_status wn_space_to_json(const wn_space *space, char **json);
WN_API void wn_string_free(char *text); /* NULL is fine */

/* ---- the study
 * ----------------------------------------------------------------------------------------------- */

typedef enum {
    WN_MINIMIZE = 0,
    WN_MAXIMIZE = 1,
} wn_goal;

/* What a worker should do after a report. */
typedef enum {
    WN_CONTINUE = 0,
    WN_STOP = 1,  /* end the trial now: it is not worth more, or it has reached the largest resource */
    WN_PAUSE = 2, /* save a checkpoint and end; a later ask may hand the trial out again */
} wn_decision;

typedef enum {
    WN_WAITING = 0,
    WN_RUNNING,
    WN_PAUSED,
    WN_COMPLETE,
    WN_STOPPED,   /* by the scheduler, before the largest resource */
    WN_FAILED,    /* ended with an error, or reported something that is not a finite number */
    WN_TIMEOUT,   /* ran longer than it was allowed to */
    WN_LOST,      /* its worker went away without a word */
    WN_CANCELLED, /* by the user */
} wn_state;

WN_API const char *wn_state_name(wn_state state); /* "COMPLETE" */

typedef struct {
    size_t struct_size; /* set by WN_STUDY_OPTIONS_INIT; lets later versions add fields */
    const char *method; /* a row of `winnow methods`; NULL: "rs" */
    const char
        *options; /* changes to the method's options: "scheduler.eta=4 searcher.population=20"; NULL: none */
    wn_goal goal;
    uint64_t seed;       /* same seed, same reports in the same order: same asks */
    double min_resource; /* first rung of a multi-fidelity method; 0: 1 */
    double max_resource; /* epochs, rows, ...; 0: a trial reports one final value */
    /* For stores that outlive the process.  Each process that opens the study has its own say in these two.
     */
    double lease; /* seconds: a trial without a report or heartbeat for so long is LOST; 0: never */
    uint32_t
        retries; /* how often a trial that is LOST, or ended as FAILED, is handed out again; at most 100 */
} wn_study_options;

#define WN_STUDY_OPTIONS_INIT                                                                                \
    {                                                                                                        \
        .struct_size = sizeof(wn_study_options)                                                              \
    }

/* Opens a study, creating it when it is not there.  `store` is one of
 *
 *     memory:               gone with the process
 *     sqlite:///FILE        in a SQLite file, relative to the current folder; many studies fit in one
 *     sqlite:////FILE       likewise, with an absolute path
 *
 * A file may be shared by any number of processes on one machine: each opens the study for itself, asks,
 * reports and finishes as if alone, and learns from the reports of all.  What a call has recorded survives
 * the death of the process; with "?sync=full" after FILE also a power cut.  A handle must not be used after
 * fork(): open the study in the child.
 *
 * `space` is copied; `options` may be NULL.  A study that is there must have the same space and options
 * (goal, method, its options, seed, resources), or `why` says what differs.  With `space` NULL the study must
 * be there: it is opened as it was created, and of the options only lease and retries count.  `winnow resume`
 * may widen the space of a study while others have it open: trials from then on are of the wider one, which
 * is also the one a study opened later must be opened with.
 *
 * On success the caller owns *out and frees it with wn_study_close(); on failure *out is NULL. */
WN_API wn_status wn_study_open(const char *store, const char *name, const wn_space *space,
                               const wn_study_options *options, wn_study **out, char why[WN_WHY_MAX]);
WN_API void wn_study_close(wn_study *study); /* NULL is fine; trials handed out by it become invalid */
WN_API const char *
wn_study_error(const wn_study *study); /* the last failure of a call on this study, "" if none */

/* Hands out the next trial: a configuration given with wn_study_enqueue(), a paused trial worth going on
 * with, or a new proposal.  WN_WAIT: nothing before a running trial reports or ends.  WN_EXHAUSTED: the space
 * is used up. */
WN_API wn_status wn_study_ask(wn_study *study, wn_trial **out);

/* Catches up with what other processes have recorded, and declares trials LOST whose lease has run out. Calls
 * that record something do the former by themselves, wn_study_ask() both; this is for looking back. */
WN_API wn_status wn_study_sync(wn_study *study);

/* A handle for a trial that was handed out before, perhaps to another process.  It must be RUNNING or LOST,
 * or the answer is WN_ESTATE. */
WN_API wn_status wn_study_attach(wn_study *study, int64_t number, wn_trial **out);

/* Puts a configuration at the head of the line.  `config` is a JSON object; parameters it leaves out are
 * drawn at random.  A value outside the space is refused. */
WN_API wn_status wn_study_enqueue(wn_study *study, const char *config);

/* ---- a trial in hand
 * ----------------------------------------------------------------------------------------- */

WN_API int64_t wn_trial_number(const wn_trial *trial); /* 0, 1, 2, ... in the order of asking */
/* The resource reached before the trial was paused, failed or lost; 0 for a new one. */
WN_API double wn_trial_resumed_from(const wn_trial *trial);
WN_API int64_t wn_trial_attempt(const wn_trial *trial); /* 1, and one more for each retry */

/* The value of a parameter.  float, int and numeric ordinals: wn_trial_float and wn_trial_int.  Anything has
 * a text: wn_trial_string, valid until the trial is finished.  Asking for a parameter that is not there, or
 * for a number where there is none, gives NAN, INT64_MIN, false, NULL. */
WN_API double wn_trial_float(const wn_trial *trial, const char *name);
WN_API int64_t wn_trial_int(const wn_trial *trial, const char *name);
WN_API bool wn_trial_bool(const wn_trial *trial, const char *name);
WN_API const char *wn_trial_string(wn_trial *trial, const char *name);
WN_API const char *
wn_trial_json(wn_trial *trial); /* the whole configuration; valid until the trial is finished */

/* Reports the metric at a resource (epochs done so far, > 0; use 1 when there is only one).  *next says what
 * to do; `next` may be NULL.  A value that is not finite fails the trial: *next is WN_STOP. */
WN_API wn_status wn_trial_report(wn_trial *trial, double resource, double value, wn_decision *next);

/* Renews the lease of a running trial between reports that are far apart.  WN_ESTATE: it was given up as
 * LOST, or ended by another process; reports of a LOST trial are still accepted. */
WN_API wn_status wn_trial_heartbeat(wn_trial *trial);

/* Ends the trial, whatever state it ended in, and invalidates the handle.  WN_COMPLETE after a WN_STOP
 * decision below the largest resource is recorded as WN_STOPPED, after a WN_PAUSE as WN_PAUSED, after a
 * non-finite report, or without any report, as WN_FAILED, so a loop may simply end with WN_COMPLETE. */
WN_API wn_status wn_trial_finish(wn_trial *trial, wn_state state);

/* ---- looking back
 * -------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t number;
    wn_state state;
    double value;    /* last reported, NAN before the first report */
    double resource; /* of that report, 0 before */
    int64_t reports; /* how many there are */
    uint64_t saw;    /* events the proposal had seen: with the seed this is all it depends on */
} wn_trial_info;

/* These show the study as of the last call that caught up; see wn_study_sync(). */

WN_API int64_t wn_study_trials(const wn_study *study);
WN_API wn_status wn_study_trial(const wn_study *study, int64_t number, wn_trial_info *out);
/* The trial holding the best value reported so far, with that value and its resource; WN_ENOTFOUND before the
 * first. */
WN_API wn_status wn_study_best(const wn_study *study, wn_trial_info *out);
/* Configuration of a trial as JSON, freed by the caller with wn_string_free(). */
WN_API wn_status wn_study_config(const wn_study *study, int64_t number, char **json);
/* Fills up to `capacity` reports of a trial, oldest first, and returns how many there are (0 for an unknown
 * trial). Either array may be NULL. */
WN_API size_t wn_study_reports(const wn_study *study, int64_t number, double *resources, double *values,
                               size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
