/* method.h -- named pairings of a scheduler and a searcher.  Being a row of methods.def is all it takes. */
#ifndef WNI_METHOD_METHOD_H
#define WNI_METHOD_METHOD_H

#include "base/err.h"

#include <stddef.h>

struct method {
    const char *name;
    const char *scheduler, *searcher; /* rows of schedulers.def and searchers.def */
    const char *options;              /* "scheduler.type=promotion": applied before the user's */
    const char *summary;
};

size_t wni_method_count(void);
const struct method *wni_method_at(size_t i);
const struct method *wni_method_find(const char *name, struct err *err); /* NULL with a "did you mean" */

#endif
