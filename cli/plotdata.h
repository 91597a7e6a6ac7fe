/* plotdata.h -- what pictures of a study show, gathered once: trials with a value, learning curves, who ran
 * when. Values are the user's, in the user's sign. */
#ifndef WNI_CLI_PLOTDATA_H
#define WNI_CLI_PLOTDATA_H

#include "cli/study_option.h"

/* A trial that was running from one moment to another; a paused trial has several. */
struct span {
    uint32_t trial;
    double from, to;
    wn_state end; /* RUNNING: it still is */
    size_t lane;  /* one of as many as trials ran at the same time */
};

struct plot_data {
    const struct opened_study *of;
    struct arena arena;
    size_t n;        /* trials */
    double *values;  /* best of each trial; NAN: none that is finite */
    double *best;    /* best of all trials up to it; NAN before the first */
    size_t n_values; /* that are not NAN */
    struct span *spans;
    size_t n_spans, spans_cap, n_lanes;
    double end; /* of the time axis */

    /* A range of values worth looking at: a few trials that went astray do not squeeze the rest. */
    double low, high;
    bool log;

    double *importance; /* of each parameter; NULL: too few trials */
};

/* Trials needed to say anything about importance, and to say it without a warning. */
enum { IMPORTANCE_TRIALS_MIN = 10, IMPORTANCE_TRIALS_ENOUGH = 100 };

wn_status wni_plot_data_read(struct plot_data *d, const struct opened_study *s, struct err *err);
void wni_plot_data_release(struct plot_data *d);

/* The reports of a trial, oldest first, into arrays of trials[trial].n_reports. */
void wni_plot_curve(const struct study *s, uint32_t trial, double *resources, double *values);
/* Importance of each parameter by what the trials of the study reached (their last values), over the whole
 * space (share 0, analysis/effects.h) or for being among the best share (analysis/importance.h); fails with a
 * sentence when there are too few. */
wn_status wni_study_importance(const struct study *s, double share, double *out, size_t *n_trials,
                               struct err *err);
/* Trial numbers from worst to best; those without a value are left out.  Returns how many. */
size_t wni_plot_order(const struct plot_data *d, uint32_t *order, uint32_t *work);
/* Where a value of a parameter stands on its axis, from 0 to 1. */
double wni_plot_position(const struct param *p, double value);

#endif
