/* err.h -- the sentence that goes with a failed status.
 *
 * A function that can fail for a reason worth telling takes a `struct err *` last and fills it where the
 * facts are known: lower case, no full stop, the subject in quotes.  Callers may put context in front with
 * wni_err_prefix(). */
#ifndef WNI_BASE_ERR_H
#define WNI_BASE_ERR_H

#include "winnow.h"

struct err {
    char text[WN_WHY_MAX]; /* "" until something failed; cut, never overrun */
};

/* Formats the message and returns `status`, so that `return wni_fail(err, WN_EINVAL, ...)` is the whole error
 * path. `err` may be NULL. */
wn_status wni_fail(struct err *err, wn_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " in front of the message. */
void wni_err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The one message for WN_ENOMEM. */
wn_status wni_fail_memory(struct err *err);

#endif
