/* history.c -- appends events to columns and keeps what decisions ask for up to date.
 *
 * An event is one 32-bit code (4 bits of kind, 28 of trial number) plus, for reports, a row in the report
 * columns, plus, for a new trial, a row in the trial columns.  Nothing is ever removed or moved, so positions
 * are stable. */
#include "core/history.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIAL_BITS = 27,
    TRIALS_MAX = (1 << TRIAL_BITS) - 1,
};
static const size_t REPORTS_MAX = UINT32_MAX - 1; /* their number, +1, fits in 32 bits */

enum event_code {
    CODE_ENQUEUE,
    CODE_ASK,
    CODE_ASK_QUEUED,
    CODE_REPORT,
    CODE_RESUME,
    CODE_FINISH,                                             /* + state - WN_PAUSED, up to WN_CANCELLED */
    CODE_RETRY = CODE_FINISH + WN_CANCELLED - WN_PAUSED + 1, /* + state - WN_FAILED, up to WN_LOST */
    CODE_HAND_BACK = CODE_RETRY + WN_LOST - WN_FAILED + 1,
    CODE_SETUP,
};
_Static_assert(CODE_SETUP < 1 << (32 - TRIAL_BITS), "codes fit beside the trial's number");

/* Which state may follow which.  A LOST worker may come back late, so its trial can still end some other way;
 * a paused trial may be given up. */
static const bool trial_may[WN_CANCELLED + 1][WN_CANCELLED + 1] = {
    [WN_RUNNING] = {[WN_PAUSED] = 1,
                    [WN_COMPLETE] = 1,
                    [WN_STOPPED] = 1,
                    [WN_FAILED] = 1,
                    [WN_TIMEOUT] = 1,
                    [WN_LOST] = 1,
                    [WN_CANCELLED] = 1},
    [WN_PAUSED] = {[WN_RUNNING] = 1, [WN_STOPPED] = 1, [WN_LOST] = 1, [WN_CANCELLED] = 1},
    [WN_LOST] = {[WN_PAUSED] = 1,
                 [WN_COMPLETE] = 1,
                 [WN_STOPPED] = 1,
                 [WN_FAILED] = 1,
                 [WN_TIMEOUT] = 1,
                 [WN_CANCELLED] = 1},
};

const char *wn_state_name(wn_state state)
{
    static const char *const names[] = {"WAITING", "RUNNING", "PAUSED", "COMPLETE", "STOPPED",
                                        "FAILED",  "TIMEOUT", "LOST",   "CANCELLED"};
    return state <= WN_CANCELLED ? names[state] : "UNKNOWN";
}

wn_status wni_history_init(struct history *h, const struct space *space, struct err *err)
{
    *h = (struct history){.space = space, .best_value = INFINITY, .best_trial = TRIAL_NONE};
    h->n_slots = 64;
    h->slots = wni_new(uint32_t, h->n_slots);
    return h->slots ? WN_OK : wni_fail_memory(err);
}

void wni_history_release(struct history *h)
{
    free(h->codes);
    free(h->resources);
    free(h->values);
    free(h->previous);
    free(h->configs);
    free(h->trials);
    free(h->slots);
    free(h->queue);
    free(h->retries);
    *h = (struct history){0};
}

/* ---- seen configurations ---- */

/* The slot that holds this configuration, or the free one where it belongs. */
static size_t find_slot(const struct history *h, const uint32_t *slots, size_t n_slots, const double *config)
{
    size_t at = (size_t)wni_config_hash(h->space, config) & (n_slots - 1);
    while (slots[at] && !wni_config_equal(h->space, wni_history_config(h, slots[at] - 1), config))
        at = (at + 1) & (n_slots - 1);
    return at;
}

bool wni_history_seen(const struct history *h, const double *config)
{
    return h->slots[find_slot(h, h->slots, h->n_slots, config)] != 0;
}

/* Keeps the table at most half full. */
static bool grow_slots(struct history *h)
{
    if (2 * (h->n_distinct + 1) <= h->n_slots) return true;
    size_t n = 2 * h->n_slots;
    uint32_t *slots = wni_new(uint32_t, n);
    if (!slots) return false;
    for (size_t i = 0; i < h->n_slots; i++)
        if (h->slots[i]) slots[find_slot(h, slots, n, wni_history_config(h, h->slots[i] - 1))] = h->slots[i];
    free(h->slots);
    h->slots = slots;
    h->n_slots = n;
    return true;
}

/* ---- checking ---- */

static bool is_value(const struct param *p, double x)
{
    double value;
    return wni_param_canonical(p, x, &value) && (value == x || p->count == 0);
}

static wn_status check_config(const struct history *h, const double *config, struct err *err)
{
    for (size_t i = 0; i < h->space->n; i++) {
        const struct param *p = &h->space->params[i];
        if (!is_value(p, config[i]))
            return wni_fail(err, WN_EINVAL, "parameter '%s': %.17g is not a value of the space", p->name,
                            config[i]);
    }
    return WN_OK;
}

static wn_status check_trial(const struct history *h, const struct event *e, struct err *err)
{
    if (e->trial >= h->n_trials)
        return wni_fail(err, WN_ENOTFOUND, "trial %u: there is no such trial", e->trial);
    const struct trial *t = &h->trials[e->trial];
    wn_state from = t->state;
    bool fine;
    if (e->kind == EVENT_REPORT)
        fine = from == WN_RUNNING || from == WN_LOST;
    else
        fine = trial_may[from][e->kind == EVENT_RESUME ? WN_RUNNING : e->state];
    if (t->retry && (e->kind == EVENT_RESUME || (e->kind == EVENT_FINISH && e->state == WN_CANCELLED)))
        fine = true; /* whatever it ended as, it is not over */
    if (fine) return WN_OK;
    if (e->kind == EVENT_FINISH && e->state == from)
        return wni_fail(err, WN_ESTATE, "trial %u is %s already", e->trial, wn_state_name(from));
    const char *what = e->kind == EVENT_REPORT ? "report" : e->kind == EVENT_RESUME ? "resume" : "become ";
    return wni_fail(err, WN_ESTATE, "trial %u is %s: it cannot %s%s", e->trial, wn_state_name(from), what,
                    e->kind == EVENT_FINISH ? wn_state_name(e->state) : "");
}

static wn_status check_ask(const struct history *h, const struct event *e, struct err *err)
{
    if (h->n_trials >= TRIALS_MAX)
        return wni_fail(err, WN_ESTATE, "a study holds at most %d trials", TRIALS_MAX);
    if (e->trial != h->n_trials)
        return wni_fail(err, WN_EINVAL, "trial %u asked where %zu comes next", e->trial, h->n_trials);
    if (e->saw > h->n_events)
        return wni_fail(err, WN_EINVAL, "trial %u saw events that are still to come", e->trial);
    if (e->queued && (h->queue_head == h->n_queue ||
                      !wni_config_equal(h->space, h->queue + h->queue_head * h->space->n, e->config)))
        return wni_fail(err, WN_EINVAL, "trial %u: its configuration is not the head of the queue", e->trial);
    return check_config(h, e->config, err);
}

wn_status wni_history_check(const struct history *h, const struct event *e, struct err *err)
{
    switch (e->kind) {
    case EVENT_ENQUEUE:
        return check_config(h, e->config, err);
    case EVENT_ASK:
        return check_ask(h, e, err);
    case EVENT_REPORT:
        if (!(e->resource > 0) || isinf(e->resource))
            return wni_fail(err, WN_EINVAL, "trial %u: resource %.15g is not a finite number above 0",
                            e->trial, e->resource);
        if (h->n_reports >= REPORTS_MAX)
            return wni_fail(err, WN_ESTATE, "a study holds at most %u reports", (unsigned)REPORTS_MAX);
        return check_trial(h, e, err);
    case EVENT_RESUME:
        return check_trial(h, e, err);
    case EVENT_FINISH:
        if (e->state < WN_PAUSED || e->state > WN_CANCELLED)
            return wni_fail(err, WN_EINVAL, "trial %u: a trial does not end as %s", e->trial,
                            wn_state_name(e->state));
        if (e->retry && e->state != WN_PAUSED && (e->state < WN_FAILED || e->state > WN_LOST))
            return wni_fail(err, WN_EINVAL, "trial %u: a trial that ended as %s is not retried", e->trial,
                            wn_state_name(e->state));
        return check_trial(h, e, err);
    case EVENT_SETUP:
        return WN_OK;
    }
    return wni_fail(err, WN_EINVAL, "unknown kind of event");
}

/* ---- appending ---- */

#define RESERVE(h, column, count)                                                                            \
    wni_reserve((void **)&(h)->column, &(h)->column##_cap, (count), sizeof *(h)->column)

wn_status wni_history_reserve(struct history *h, const struct event *e, struct err *err)
{
    size_t width = h->space->n;
    bool fine = wni_reserve((void **)&h->codes, &h->events_cap, h->n_events + 1, sizeof *h->codes);
    if (e->kind == EVENT_REPORT)
        fine = fine && RESERVE(h, resources, h->n_reports + 1) && RESERVE(h, values, h->n_reports + 1) &&
               RESERVE(h, previous, h->n_reports + 1);
    if (e->kind == EVENT_ASK)
        fine = fine && RESERVE(h, configs, (h->n_trials + 1) * width) &&
               RESERVE(h, trials, h->n_trials + 1) && grow_slots(h);
    if (e->kind == EVENT_ENQUEUE) fine = fine && RESERVE(h, queue, (h->n_queue + 1) * width);
    if (e->retry) fine = fine && RESERVE(h, retries, h->n_retries + 1);
    return fine ? WN_OK : wni_fail_memory(err);
}

static void append_code(struct history *h, uint32_t code, uint32_t trial)
{
    assert(h->n_events < h->events_cap);
    h->codes[h->n_events++] = code << TRIAL_BITS | trial;
}

static void set_state(struct history *h, uint32_t trial, wn_state state)
{
    struct trial *t = &h->trials[trial];
    h->by_state[t->state]--;
    h->by_state[state]++;
    t->state = (uint8_t)state;
}

static void append_ask(struct history *h, const struct event *e)
{
    append_code(h, e->queued ? CODE_ASK_QUEUED : CODE_ASK, e->trial);
    size_t slot = find_slot(h, h->slots, h->n_slots, e->config);
    memcpy(h->configs + h->n_trials * h->space->n, e->config, h->space->n * sizeof *e->config);
    h->trials[h->n_trials++] =
        (struct trial){.saw = e->saw, .asked = e->time, .ended = NAN, .state = WN_RUNNING, .attempt = 1};
    h->by_state[WN_RUNNING]++;
    if (e->queued) h->queue_head++;
    if (h->slots[slot]) return;
    h->slots[slot] = e->trial + 1;
    h->n_distinct++;
}

static void append_report(struct history *h, const struct event *e)
{
    append_code(h, CODE_REPORT, e->trial);
    struct trial *t = &h->trials[e->trial];
    size_t at = h->n_reports++;
    h->resources[at] = e->resource;
    h->values[at] = e->value;
    h->previous[at] = t->last_arrival;
    t->last_arrival = (uint32_t)at + 1;
    t->n_reports++;
    double reached = t->furthest ? h->resources[t->furthest - 1] : 0;
    if (e->resource >= reached) {
        h->total_resource += e->resource - reached;
        t->furthest = t->last_arrival;
    }
    if (!isfinite(e->value)) {
        t->broken = 1;
    } else if (e->value < h->best_value) {
        h->best_value = e->value;
        h->best_trial = e->trial;
        h->best_report = at;
    }
}

/* Puts the trial at the end of those that wait for a retry, or takes it out.  They are few. */
static void set_retry(struct history *h, uint32_t trial, bool retry)
{
    struct trial *t = &h->trials[trial];
    size_t at = 0;
    if (t->retry == retry) return;
    t->retry = retry;
    if (retry) {
        h->retries[h->n_retries++] = trial;
        return;
    }
    while (h->retries[at] != trial)
        at++;
    h->n_retries--;
    memmove(h->retries + at, h->retries + at + 1, (h->n_retries - at) * sizeof *h->retries);
}

static void append_resume(struct history *h, const struct event *e)
{
    struct trial *t = &h->trials[e->trial];
    append_code(h, CODE_RESUME, e->trial);
    if (wni_trial_tries_again(t) && t->attempt < UINT8_MAX) t->attempt++;
    set_state(h, e->trial, WN_RUNNING);
    t->ended = NAN;
    set_retry(h, e->trial, false);
}

static void append_finish(struct history *h, const struct event *e)
{
    uint32_t code = !e->retry               ? CODE_FINISH + (uint32_t)(e->state - WN_PAUSED)
                    : e->state == WN_PAUSED ? CODE_HAND_BACK
                                            : CODE_RETRY + (uint32_t)(e->state - WN_FAILED);
    append_code(h, code, e->trial);
    set_state(h, e->trial, e->state);
    h->trials[e->trial].ended = e->time;
    set_retry(h, e->trial, e->retry);
}

void wni_history_append(struct history *h, const struct event *e)
{
    switch (e->kind) {
    case EVENT_ENQUEUE:
        append_code(h, CODE_ENQUEUE, 0);
        memcpy(h->queue + h->n_queue++ * h->space->n, e->config, h->space->n * sizeof *e->config);
        break;
    case EVENT_ASK:
        append_ask(h, e);
        break;
    case EVENT_REPORT:
        append_report(h, e);
        break;
    case EVENT_RESUME:
        append_resume(h, e);
        break;
    case EVENT_FINISH:
        append_finish(h, e);
        break;
    case EVENT_SETUP:
        append_code(h, CODE_SETUP, 0);
        break;
    }
}

/* ---- reading back ---- */

bool wni_history_next(const struct history *h, struct history_cursor *at, struct event *out)
{
    if (at->event == h->n_events) return false;
    uint32_t code = h->codes[at->event] >> TRIAL_BITS, trial = h->codes[at->event] & TRIALS_MAX;
    at->event++;
    *out = (struct event){.trial = trial, .time = NAN};
    switch (code) {
    case CODE_ENQUEUE:
        out->kind = EVENT_ENQUEUE;
        out->config = h->queue + at->queued++ * h->space->n;
        break;
    case CODE_ASK:
    case CODE_ASK_QUEUED:
        out->kind = EVENT_ASK;
        out->queued = code == CODE_ASK_QUEUED;
        out->config = wni_history_config(h, trial);
        out->saw = h->trials[trial].saw;
        out->time = h->trials[trial].asked;
        break;
    case CODE_REPORT:
        out->kind = EVENT_REPORT;
        out->resource = h->resources[at->report];
        out->value = h->values[at->report++];
        break;
    case CODE_RESUME:
        out->kind = EVENT_RESUME;
        break;
    case CODE_SETUP:
        out->kind = EVENT_SETUP;
        break;
    default:
        out->kind = EVENT_FINISH;
        out->retry = code >= CODE_RETRY;
        if (out->retry) {
            out->state = code == CODE_HAND_BACK ? WN_PAUSED : (wn_state)(code - CODE_RETRY + WN_FAILED);
            break;
        }
        out->state = (wn_state)(code - CODE_FINISH + WN_PAUSED);
        if (out->state != WN_PAUSED && out->state != WN_LOST) out->time = h->trials[trial].ended;
    }
    return true;
}

bool wni_history_last(const struct history *h, uint32_t trial, double *value, double *resource)
{
    const struct trial *t = &h->trials[trial];
    if (!t->furthest || t->broken || t->state == WN_FAILED || t->state == WN_TIMEOUT || t->state == WN_LOST)
        return false;
    *value = h->values[t->furthest - 1];
    if (resource) *resource = h->resources[t->furthest - 1];
    return true;
}
