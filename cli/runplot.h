/* runplot.h -- a study in the terminal: the best value over time, and the learning curves. */
#ifndef WNI_CLI_RUNPLOT_H
#define WNI_CLI_RUNPLOT_H

#include "studyfile/studyfile.h"
#include "tuner/study.h"

/* The best value so far, each time there was a new one. */
struct best_curve {
    double *seconds, *values; /* values as the user sees them */
    size_t n, seconds_cap, values_cap;
};

/* Forgets the point when out of memory: a picture is not worth a study. */
void wni_best_curve_add(struct best_curve *c, double seconds, double value);
void wni_best_curve_release(struct best_curve *c);

/* Writes both pictures; `seconds`: where the time axis ends. */
void wni_run_plot(const struct studyfile *file, const struct study *study, const struct best_curve *best,
                  double seconds, int width, bool color, struct buf *out);

#endif
