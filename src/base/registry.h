/* registry.h -- looking a name up in a table of named things, with a "did you mean" when it is not there. */
#ifndef WNI_BASE_REGISTRY_H
#define WNI_BASE_REGISTRY_H

#include "base/err.h"

#include <stddef.h>

/* Index of `name` among n names given by name_at(i), or -1 with err "unknown WHAT 'nmae'; did you mean
 * 'name'?". */
ptrdiff_t wni_registry_find(const char *what, const char *name, size_t n, const char *(*name_at)(size_t),
                            struct err *err);

#endif
