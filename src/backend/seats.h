/* seats.h -- numbers of workers that no other process on this machine has for the same folder of trials.
 *
 * `winnow run` and any number of `winnow worker` share a study: each worker's seat decides which graphics
 * card its trials get, so seats must not be taken twice. */
#ifndef WNI_BACKEND_SEATS_H
#define WNI_BACKEND_SEATS_H

#include "base/err.h"

#include <stdint.h>

struct seats {
    int fd;           /* holds the locks; -1: none */
    uint32_t *number; /* of each worker, increasing */
};

/* The lowest n seats that are free.  They are so again when this process has ended, however it did.  Where
 * the file system knows no locks, 0 to n - 1.  `folder` is there. */
wn_status wni_seats_take(struct seats *s, const char *folder, unsigned n, struct err *err);
void wni_seats_leave(struct seats *s);

#endif
