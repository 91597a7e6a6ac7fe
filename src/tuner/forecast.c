/* forecast.c -- the limit that is reached first says how long it takes. */
#include "tuner/forecast.h"

#include <math.h>

struct standing wni_standing(const struct history *h)
{
    return (struct standing){.ended = (double)(h->n_trials - h->by_state[WN_RUNNING]),
                             .reports = (double)h->n_reports,
                             .resource = h->total_resource};
}

static void mind_limit(double limit, double before, double now, double seconds, struct forecast *f)
{
    if (!(limit > 0)) return;
    double pace = (now - before) / seconds;
    f->share = fmax(f->share, fmin(now / limit, 1));
    if (pace > 0) f->left = fmin(f->left, fmax(limit - now, 0) / pace); /* fmin() passes over NAN */
}

struct forecast wni_forecast(const struct tuner_limits *limits, const struct standing *before,
                             const struct standing *now, double seconds)
{
    struct forecast f = {.share = 0, .left = NAN};
    mind_limit((double)limits->trials, before->ended, now->ended, seconds, &f);
    mind_limit((double)limits->reports, before->reports, now->reports, seconds, &f);
    mind_limit(limits->resource, before->resource, now->resource, seconds, &f);
    mind_limit(limits->seconds, 0, seconds, seconds, &f);
    return f;
}
