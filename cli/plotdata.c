/* plotdata.c -- see plotdata.h. */
#include "cli/plotdata.h"

#include "analysis/effects.h"
#include "analysis/importance.h"
#include "base/mem.h"
#include "num/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static double best_of(const struct study *s, uint32_t trial)
{
    const struct history *h = &s->history;
    double best = INFINITY;
    for (uint32_t at = h->trials[trial].last_arrival; at; at = h->previous[at - 1])
        if (isfinite(h->values[at - 1])) best = fmin(best, h->values[at - 1]);
    return isfinite(best) ? s->sign * best : NAN;
}

static void read_values(struct plot_data *d)
{
    const struct study *s = &d->of->study;
    double best = NAN;
    for (uint32_t i = 0; i < d->n; i++) {
        double v = d->values[i] = best_of(s, i);
        if (!isnan(v)) d->n_values++;
        if (!isnan(v) && (isnan(best) || s->sign * v < s->sign * best)) best = v;
        d->best[i] = best;
    }
}

/* As far as the picture shows them: `tail` worst values are not part of [low, high] if they are far away from
 * the rest. */
static void leave_out_worst(struct plot_data *d, const double *sorted, size_t n, size_t tail)
{
    bool maximize = d->of->study.goal == WN_MAXIMIZE;
    double last = sorted[maximize ? tail : n - 1 - tail], good = maximize ? d->high : d->low;
    double worst = maximize ? d->low : d->high;
    d->log = d->low > 0 && (maximize ? d->high > 20 * last : last > 20 * d->low);
    double common = d->log ? fabs(log(last / good)) : fabs(last - good);
    double beyond = d->log ? fabs(log(worst / last)) : fabs(worst - last);
    if (!(common > 0) || beyond <= 2 * common) {
        d->log = d->low > 0 && d->high > 20 * d->low;
        return;
    }
    for (size_t i = n - tail; i < n; i++) { /* to the last one that is not */
        double next = sorted[maximize ? n - 1 - i : i];
        if ((d->log ? fabs(log(next / last)) : fabs(next - last)) <= common)
            last = next;
        else
            break;
    }
    if (maximize)
        d->low = last;
    else
        d->high = last;
}

/* The range of the values, but for a worst tenth that is far away from the rest. */
static wn_status find_range(struct plot_data *d)
{
    double *sorted = arena_new(&d->arena, double, d->n_values);
    size_t n = 0;
    if (!sorted) return WN_ENOMEM;
    for (size_t i = 0; i < d->n; i++)
        if (!isnan(d->values[i])) sorted[n++] = d->values[i];
    wni_sort(sorted, n);
    d->low = n ? sorted[0] : 0;
    d->high = n ? sorted[n - 1] : 1;
    if (n) leave_out_worst(d, sorted, n, n >= 10 ? n / 10 : n >= 5);
    if (d->low == d->high) {
        double around = d->low == 0 ? 1 : 0.1 * fabs(d->low);
        d->low -= around;
        d->high += around;
        d->log = false;
    }
    return WN_OK;
}

void wni_plot_curve(const struct study *s, uint32_t trial, double *resources, double *values)
{
    const struct history *h = &s->history;
    size_t i = h->trials[trial].n_reports;
    for (uint32_t at = h->trials[trial].last_arrival; at && i > 0; at = h->previous[at - 1]) {
        resources[--i] = h->resources[at - 1];
        values[i] = s->sign * h->values[at - 1];
    }
}

size_t wni_plot_order(const struct plot_data *d, uint32_t *order, uint32_t *work)
{
    size_t n = 0;
    bool maximize = d->of->study.goal == WN_MAXIMIZE;
    wni_argsort(d->values, d->n, order, work); /* ascending, NAN last */
    n = d->n_values;
    for (size_t i = 0; !maximize && i < n / 2; i++) {
        uint32_t other = order[n - 1 - i];
        order[n - 1 - i] = order[i];
        order[i] = other;
    }
    return n;
}

double wni_plot_position(const struct param *p, double value)
{
    if (p->labels ||
        p->kind == PARAM_CATEGORICAL) /* numbers of an ordinal too: they are few, and far apart */
        return p->count > 1 ? (double)wni_param_index_of(p, value) / (double)(p->count - 1) : 0.5;
    double from = p->min, to = p->max;
    if (p->scale == WN_LOG) return log(value / from) / log(to / from);
    return (value - from) / (to - from);
}

/* ---- importance ---- */

wn_status wni_study_importance(const struct study *s, double share, double *out, size_t *n_trials,
                               struct err *err)
{
    const struct history *h = &s->history;
    size_t width = s->space.n, n = 0;
    double *configs = wni_new(double, h->n_trials *width), *values = wni_new(double, h->n_trials);
    wn_status st = configs && values ? WN_OK : wni_fail_memory(err);
    for (uint32_t i = 0; i < h->n_trials && !st; i++) {
        if (!wni_history_last(h, i, &values[n], NULL)) continue;
        memcpy(configs + n++ * width, wni_history_config(h, i), width * sizeof *configs);
    }
    *n_trials = n;
    if (!st && n < IMPORTANCE_TRIALS_MIN)
        st = wni_fail(err, WN_ESTATE, "importance needs at least %d trials with a value; the study has %zu",
                      IMPORTANCE_TRIALS_MIN, n);
    if (!st && share > 0) st = wni_importance(&s->space, configs, values, n, share, out, err);
    if (!st && share == 0) st = wni_effects(&s->space, configs, values, n, out, err);
    free(configs);
    free(values);
    return st;
}

static wn_status read_importance(struct plot_data *d, struct err *err)
{
    size_t n;
    struct err few;
    double *out = arena_new(&d->arena, double, d->of->study.space.n);
    if (!out) return wni_fail_memory(err);
    wn_status st = wni_study_importance(&d->of->study, 0, out, &n, &few);
    if (st == WN_ENOMEM) return wni_fail_memory(err);
    if (!st) d->importance = out;
    return WN_OK;
}

/* ---- time ---- */

static wn_status take_event_time(void *context, const struct event *e, struct err *err)
{
    struct plot_data *d = context;
    if (isfinite(e->time)) d->end = fmax(d->end, e->time);
    if (e->kind == EVENT_ASK || e->kind == EVENT_RESUME) {
        if (!wni_reserve((void **)&d->spans, &d->spans_cap, d->n_spans + 1, sizeof *d->spans))
            return wni_fail_memory(err);
        d->spans[d->n_spans++] =
            (struct span){.trial = e->trial, .from = e->time, .to = NAN, .end = WN_RUNNING};
    } else if (e->kind == EVENT_FINISH) {
        for (size_t i = d->n_spans; i-- > 0;) {
            if (d->spans[i].trial != e->trial) continue;
            if (isnan(d->spans[i].to)) d->spans[i].to = e->time;
            d->spans[i].end = e->state; /* a late word about a trial that was lost counts */
            break;
        }
    }
    return WN_OK;
}

/* Each span goes into the first lane that is free, as if lanes were workers. */
static wn_status find_lanes(struct plot_data *d)
{
    double *until = arena_new(&d->arena, double, d->n_spans + 1);
    if (!until) return WN_ENOMEM;
    for (size_t i = 0; i < d->n_spans; i++) {
        struct span *s = &d->spans[i];
        if (isnan(s->to)) s->to = d->end;
        while (s->lane < d->n_lanes && until[s->lane] > s->from)
            s->lane++;
        if (s->lane == d->n_lanes) d->n_lanes++;
        until[s->lane] = s->to;
    }
    return WN_OK;
}

wn_status wni_plot_data_read(struct plot_data *d, const struct opened_study *s, struct err *err)
{
    const struct store *store = &s->study.store;
    *d = (struct plot_data){.of = s, .n = s->study.history.n_trials};
    d->values = arena_new(&d->arena, double, d->n + 1);
    d->best = arena_new(&d->arena, double, d->n + 1);
    if (!d->values || !d->best) return wni_fail_memory(err);
    read_values(d);
    if (find_range(d)) return wni_fail_memory(err);
    wn_status st = store->ops->read(store->self, 0, take_event_time, d, err);
    if (!st && find_lanes(d)) st = wni_fail_memory(err);
    return st ? st : read_importance(d, err);
}

void wni_plot_data_release(struct plot_data *d)
{
    wni_arena_release(&d->arena);
    free(d->spans);
    *d = (struct plot_data){0};
}
