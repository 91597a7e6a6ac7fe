/* live.h -- what a person sees while a study runs: a few lines that are redrawn on a terminal, plain log
 * lines elsewhere, nothing when quiet.  All of it goes to stderr. */
#ifndef WNI_CLI_LIVE_H
#define WNI_CLI_LIVE_H

#include "cli/runplot.h"
#include "studyfile/studyfile.h"
#include "tuner/forecast.h"

enum live_mode { LIVE_QUIET, LIVE_LOG, LIVE_SCREEN };

enum { FAULTS_KEPT = 8 };
struct told_fault {
    char *text;
    uint32_t trial; /* which failed like this first */
};

struct live {
    const struct studyfile *file;
    const struct tuner_limits *limits;
    enum live_mode mode;
    double began, shown;    /* on the monotonic clock */
    int lines;              /* drawn last time, to be taken back */
    struct standing before; /* where the run began */
    double best, said;      /* minimised; what the curve has come to, what was last said to be the best */
    struct happening held;  /* the report that is the best and was not said yet, if `holds` */
    bool holds, interrupted;
    double *said_at; /* for each trial, when it was last said to be the best; -INFINITY: never */
    size_t n_said_at, said_at_cap;
    struct best_curve curve;
    struct told_fault faults[FAULTS_KEPT]; /* the last that were told in full */
    size_t n_faults;
};

void wni_live_start(struct live *live, const struct studyfile *file, const struct study *study,
                    const struct tuner_limits *limits, bool quiet);
void wni_live_end(
    struct live *live); /* takes back what was drawn; the curve stays until wni_best_curve_release() */
/* Fills in what the tuner tells; on_duty is left to the caller, who calls wni_live_draw() in it. */
void wni_live_watch(struct live *live, struct tuner_watcher *watcher);
void wni_live_draw(struct live *live, const struct study *study);
/* A line of its own, unless quiet. */
void wni_live_say(struct live *live, const char *text);

/* "lr=0.01 units=64", with room for what fits. */
void wni_live_config(const struct space *space, const double *config, struct buf *out);

#endif
