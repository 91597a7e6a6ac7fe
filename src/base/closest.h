/* closest.h -- "did you mean": the known name nearest to a mistyped one. */
#ifndef WNI_BASE_CLOSEST_H
#define WNI_BASE_CLOSEST_H

#include <stddef.h>

/* The nearest of n names by edit distance (insert, delete, replace, swap of neighbours; case is ignored), the
 * first on ties; NULL when none is near enough to be worth saying (more than a third of the letters differ,
 * at most 3). */
const char *wni_closest(const char *name, const char *const *names, size_t n);

#endif
