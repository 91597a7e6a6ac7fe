/* levels.c -- values of trials at the scheduler's levels, read off the log. */
#include "search/levels.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

void wni_level_values_init(struct level_values *v, const struct search_env *env)
{
    *v = (struct level_values){.env = env, .n = env->levels ? env->levels->n + 1 : 1};
}

void wni_level_values_release(struct level_values *v)
{
    for (size_t k = 0; k < v->n; k++) {
        free(v->columns[k].trials);
        free(v->columns[k].values);
    }
    free(v->reached);
    *v = (struct level_values){0};
}

static bool reserve_value(struct level_column *c)
{
    return wni_reserve((void **)&c->trials, &c->trials_cap, c->n + 1, sizeof *c->trials) &&
           wni_reserve((void **)&c->values, &c->values_cap, c->n + 1, sizeof *c->values);
}

/* Out of memory leaves everything as it was before this report. */
static bool take_report(struct level_values *v, const struct event *e)
{
    size_t reached = wni_levels_reached_of_all(v->env->levels, v->reached[e->trial], e->resource);
    if (reached == v->reached[e->trial]) return true;
    struct level_column *c = &v->columns[reached - 1];
    if (!reserve_value(c)) return false;
    c->trials[c->n] = e->trial;
    c->values[c->n++] = e->value;
    v->reached[e->trial] = (uint8_t)reached;
    return true;
}

static bool take_event(struct level_values *v, const struct event *e)
{
    if (e->kind == EVENT_REPORT) return take_report(v, e);
    if (e->kind != EVENT_ASK) return true;
    if (!wni_reserve((void **)&v->reached, &v->reached_cap, (size_t)e->trial + 1, 1)) return false;
    v->reached[e->trial] = 0;
    return true;
}

wn_status wni_level_values_update(struct level_values *v, const struct history *h, struct err *err)
{
    struct history_cursor next = v->at;
    struct event e;
    while (v->env->levels && wni_history_next(h, &next, &e)) {
        if (!take_event(v, &e)) return wni_fail_memory(err);
        v->at = next;
    }
    return WN_OK;
}

size_t wni_level_values_room(const struct level_values *v, const struct history *h, size_t level)
{
    return v->env->levels ? v->columns[level].n : h->n_trials;
}

static size_t get_observations(const struct search_env *env, const struct history *h, uint32_t *trials,
                               double *values)
{
    size_t n = 0;
    for (uint32_t t = 0; t < h->n_trials; t++) {
        if (!wni_search_observation(env, h, t, &values[n])) continue;
        trials[n++] = t;
    }
    return n;
}

size_t wni_level_values_get(const struct level_values *v, const struct history *h, size_t level,
                            uint32_t *trials, double *values)
{
    if (!v->env->levels) return get_observations(v->env, h, trials, values);
    const struct level_column *c = &v->columns[level];
    size_t n = 0;
    double last;
    for (size_t i = 0; i < c->n; i++) {
        if (!wni_history_last(h, c->trials[i], &last, NULL)) continue;
        trials[n] = c->trials[i];
        values[n++] = c->values[i];
    }
    return n;
}

double wni_level_resource(const struct level_values *v, size_t level)
{
    return v->env->levels ? v->env->levels->at[level] : NAN;
}
