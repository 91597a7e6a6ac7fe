/* duration.h -- lengths of time as people write them: 90, 90s, 30m, 2h, 1d, 1h30m, 1.5h. */
#ifndef WNI_BASE_DURATION_H
#define WNI_BASE_DURATION_H

#include <stdbool.h>

#define WNI_DURATION_FORMS "a time such as 90s, 30m, 2h, 1d or 1h30m"

/* The whole text must be one: a number of seconds, or numbers each with a unit, the larger unit first and
 * none twice. At most 1e9 seconds (32 years), so that adding one to a clock cannot go wrong. */
bool wni_duration_parse(const char *text, double *seconds);

#endif
