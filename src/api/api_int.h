/* api_int.h -- what is behind the public handles. */
#ifndef WNI_API_API_INT_H
#define WNI_API_API_INT_H

#include "core/space.h"
#include "tuner/study.h"

struct wn_space {
    struct space space;
    struct err first_error; /* of the calls that built it; "" when all went well */
    wn_status first_status;
};

struct wn_study {
    struct study study;
    struct err error; /* of the last call that failed */
    double began;     /* when the study was created, on the monotonic clock */
    wn_trial *trials; /* handed out and not finished */
    wn_trial *spare;  /* one finished handle kept for the next ask */
};

struct wn_trial {
    wn_study *owner;
    wn_trial *next, **link; /* in owner->trials */
    uint32_t number;
    double resumed_from;
    struct arena texts; /* strings handed out; dropped with the handle */
};

/* Copies a message to a caller's `why`, which may be NULL. */
void wni_tell_why(char *why, const struct err *err);

#endif
