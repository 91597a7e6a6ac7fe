/* setup.h -- how a study is set up, as JSON: what a store keeps so that a study can be opened by its name
 * alone, and so that nobody goes on with a study that is not the one they mean.
 *
 * A study may get another setup while it goes on: ranges that are wider, values that were added, another
 * study file with other limits.  What makes it the study it is stays: see wni_setup_compare(). */
#ifndef WNI_TUNER_SETUP_H
#define WNI_TUNER_SETUP_H

#include "base/arena.h"
#include "core/space.h"

struct study_setup {
    const struct space *space;        /* copied */
    const char *scheduler, *searcher; /* registry names */
    const char *options[2];           /* "scheduler.eta=4 ...", the second list wins; NULL: none */
    uint64_t seed;
    wn_goal goal;
    double min_resource, max_resource; /* 0: min 1; max 0: trials report one final value */

    /* Each process that opens the study has its own say in these. */
    double lease;     /* seconds without a sign of life until a trial is LOST; 0: never */
    unsigned retries; /* how often a trial that is LOST or FAILED is tried again */
    bool holds;       /* it runs the trials it asks for: they are lost as soon as it has ended */
    bool is_new;      /* the study must not be there yet: else WN_ESTATE */
    bool adopts;      /* it was read from the store: what has changed since is fine */

    /* For people and other programs; NULL: not known. */
    const char *method, *metric, *resource; /* names */
    const char *file;                       /* text of the study file */
};

/* A setup with all that it points to. */
struct stored_setup {
    struct study_setup setup;
    struct space space;
    struct arena texts;
};

void wni_setup_write(const struct study_setup *setup, struct buf *json);
/* What comes from a store `adopts`.  `file` is copied; NULL: none.  On failure nothing is left to release. */
wn_status wni_setup_read(struct stored_setup *out, const char *json, const char *file, struct err *err);
/* The same for a setup that was never written. */
wn_status wni_setup_copy(struct stored_setup *out, const struct study_setup *from, struct err *err);
void wni_setup_release(struct stored_setup *s);

/* WN_EINVAL with the first thing in which a study set up as `given` would not be the stored one: what can
 * never change but for the parameters, of which only the number is compared.  Lease, retries and what is for
 * people may differ. */
wn_status wni_setup_compare(const struct study_setup *stored, const struct study_setup *given,
                            struct err *err);
/* The same for the parameters, to the last digit. */
wn_status wni_setup_compare_spaces(const struct space *stored, const struct space *given, struct err *err);
/* The setup of a study that goes on as `given`: see wni_space_widen().  `space` is where its space goes, *out
 * points there and into the other two. */
wn_status wni_setup_change(const struct study_setup *now, const struct study_setup *given,
                           struct space *space, struct study_setup *out, struct err *err);

#endif
