/* rows.c -- a trial's row: the fold over its events that listings read. */
#include "tuner/rows.h"

#include <math.h>
#include <string.h>

/* The first of the best finite values. */
static void find_best(const struct history *h, const struct trial *t, struct trial_row *row, double sign)
{
    double best = INFINITY;
    for (uint32_t at = t->last_arrival; at; at = h->previous[at - 1]) {
        if (!isfinite(h->values[at - 1]) || h->values[at - 1] > best) continue;
        best = h->values[at - 1];
        row->best = sign * best;
        row->best_resource = h->resources[at - 1];
    }
}

static void write_config(const struct study *s, const double *config, struct buf *json, struct trial_row *row)
{
    wni_buf_clear(json);
    wni_config_write(&s->space, config, json);
    row->config = wni_buf_text(json);
}

/* All but its best value, for which its reports must be walked. */
static void fill_row(const struct study *s, uint32_t trial, struct buf *json, struct trial_row *out)
{
    const struct history *h = &s->history;
    const struct trial *t = &h->trials[trial];
    *out = (struct trial_row){.number = trial,
                              .state = t->state,
                              .attempt = t->attempt,
                              .saw = t->saw,
                              .reports = t->n_reports,
                              .value = NAN,
                              .resource = NAN,
                              .best = NAN,
                              .best_resource = NAN,
                              .asked = t->asked,
                              .ended = t->ended};
    if (t->furthest) {
        out->value = s->sign * h->values[t->furthest - 1];
        out->resource = h->resources[t->furthest - 1];
    }
    write_config(s, wni_history_config(h, trial), json, out);
}

void wni_row_of(const struct study *s, uint32_t trial, struct buf *json, struct trial_row *out)
{
    fill_row(s, trial, json, out);
    find_best(&s->history, &s->history.trials[trial], out, s->sign);
}

static void row_of_ask(const struct study *s, const struct event *e, struct buf *json, struct trial_row *out)
{
    *out = (struct trial_row){.number = e->trial,
                              .state = WN_RUNNING,
                              .attempt = 1,
                              .saw = e->saw,
                              .value = NAN,
                              .resource = NAN,
                              .best = NAN,
                              .best_resource = NAN,
                              .asked = e->time,
                              .ended = NAN};
    write_config(s, e->config, json, out);
}

void wni_row_after(const struct study *s, const struct event *e, struct buf *json, struct trial_row *out)
{
    if (e->kind == EVENT_ASK) {
        row_of_ask(s, e, json, out);
        return;
    }
    /* A report better than all is better than the trial's own: a long run that improves all the time is not
     * walked again at each step. */
    bool best_of_all = e->kind == EVENT_REPORT && isfinite(e->value) && e->value < s->history.best_value;
    (best_of_all ? fill_row : wni_row_of)(s, e->trial, json, out);
    if (e->kind == EVENT_REPORT) wni_trial_row_add(out, e->resource, s->sign * e->value, s->goal);
    if (e->kind == EVENT_FINISH) {
        out->state = e->state;
        out->ended = e->time;
    }
    if (e->kind == EVENT_RESUME) {
        out->state = WN_RUNNING;
        out->ended = NAN;
        if (wni_trial_tries_again(&s->history.trials[e->trial])) out->attempt++;
    }
}

/* ---- repair ---- */

struct audit {
    const struct study *study;
    size_t right, extra;
    struct buf json;
};

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_row(const struct trial_row *a, const struct trial_row *b)
{
    return a->number == b->number && a->state == b->state && a->attempt == b->attempt && a->saw == b->saw &&
           a->reports == b->reports && same_number(a->value, b->value) &&
           same_number(a->resource, b->resource) && same_number(a->best, b->best) &&
           same_number(a->best_resource, b->best_resource) && same_number(a->asked, b->asked) &&
           same_number(a->ended, b->ended) && !strcmp(a->config, b->config);
}

static wn_status compare_row(void *context, const struct trial_row *row, struct err *err)
{
    struct audit *a = context;
    struct trial_row expected;
    if (row->number >= a->study->history.n_trials) {
        a->extra++;
        return WN_OK;
    }
    wni_row_of(a->study, row->number, &a->json, &expected);
    if (a->json.failed) return wni_fail_memory(err);
    a->right += same_row(row, &expected);
    return WN_OK;
}

static wn_status rewrite_rows(struct audit *a, struct err *err)
{
    const struct store *store = &a->study->store;
    struct trial_row row;
    wn_status st = store->ops->rewrite(store->self, NULL, err);
    for (uint32_t t = 0; t < a->study->history.n_trials && !st; t++) {
        wni_row_of(a->study, t, &a->json, &row);
        st = a->json.failed ? wni_fail_memory(err) : store->ops->rewrite(store->self, &row, err);
    }
    return st;
}

wn_status wni_rows_repair(struct study *s, const char *url, const char *name, size_t *wrong, struct err *err)
{
    struct audit a = {.study = s};
    *wrong = 0;
    wn_status st = wni_study_enter(s, err);
    if (st) return st;
    st = wni_store_trials(url, name, 0, compare_row, &a, err);
    if (!st) *wrong = s->history.n_trials - a.right + a.extra;
    if (!st && *wrong) st = rewrite_rows(&a, err);
    wni_buf_release(&a.json);
    return wni_study_leave(s, st, err);
}
