/* forecast.h -- how much of a study is done, and how long the rest will take. */
#ifndef WNI_TUNER_FORECAST_H
#define WNI_TUNER_FORECAST_H

#include "tuner/tuner.h"

/* Where a study stands: what its limits count. */
struct standing {
    double ended; /* trials that do not run any more */
    double reports, resource;
};

struct forecast {
    double share; /* of the limit that is nearest, 0 .. 1 */
    double left;  /* seconds; NAN: nothing is known yet */
};

struct standing wni_standing(const struct history *h);

/* `before` is where this run began, `seconds` ago: a study that was resumed goes on at the pace of this run,
 * and what earlier ones did took its time elsewhere. */
struct forecast wni_forecast(const struct tuner_limits *limits, const struct standing *before,
                             const struct standing *now, double seconds);

#endif
