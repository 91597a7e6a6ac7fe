/* sim.c -- a virtual clock over learning curves known in advance.
 *
 * Each busy worker has one pending report; a binary heap orders them by (time, trial).  The report just
 * delivered stays at the top until the next call: by then the tuner has either stopped the trial or not, and
 * going on is one sift down instead of a removal and an insertion.  So a report costs O(log workers) and no
 * allocation.
 *
 * With polling, the clock only stands at multiples of the interval: everything due by then is delivered, in
 * order of time and stamped with its own time, but a worker freed in between is refilled at the poll (the
 * authors' simulator polls every 5 s). */
#include "backend/sim.h"

#include "base/mem.h"
#include "core/streams.h"
#include "num/rng.h"

#include <assert.h>
#include <math.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct worker {
    uint32_t trial;
    uint32_t level; /* of the pending report; n_levels: the curve has ended */
    double value;   /* of the pending report */
    double time;    /* when it is due */
    double origin;  /* the virtual moment at which this curve's own clock stood at 0 */
};

struct sim {
    const struct blackbox *box;
    struct sim_setup setup;
    double now;
    struct worker *workers;
    unsigned char *curves; /* one per worker */
    size_t curve_stride;
    uint32_t *heap; /* busy workers, earliest pending report first */
    uint32_t *idle; /* a stack */
    size_t n_busy, n_idle;
    bool delivered; /* the top of the heap has been delivered and not been stopped */
};

static void *curve_of(const struct sim *s, uint32_t w)
{
    return s->curves + (size_t)w * s->curve_stride;
}

/* ---- the heap ---- */

static bool earlier(const struct sim *s, uint32_t a, uint32_t b)
{
    const struct worker *x = &s->workers[a], *y = &s->workers[b];
    return x->time != y->time ? x->time < y->time : x->trial < y->trial;
}

static void sift_down(struct sim *s, size_t at)
{
    uint32_t w = s->heap[at];
    for (size_t child; (child = 2 * at + 1) < s->n_busy; at = child) {
        if (child + 1 < s->n_busy && earlier(s, s->heap[child + 1], s->heap[child])) child++;
        if (!earlier(s, s->heap[child], w)) break;
        s->heap[at] = s->heap[child];
    }
    s->heap[at] = w;
}

static void sift_up(struct sim *s, size_t at)
{
    uint32_t w = s->heap[at];
    for (size_t parent; at > 0 && earlier(s, w, s->heap[parent = (at - 1) / 2]); at = parent)
        s->heap[at] = s->heap[parent];
    s->heap[at] = w;
}

static void remove_at(struct sim *s, size_t at)
{
    s->idle[s->n_idle++] = s->heap[at];
    s->heap[at] = s->heap[--s->n_busy];
    if (at == s->n_busy) return;
    sift_down(s, at);
    sift_up(s, at);
}

/* ---- a worker's curve ---- */

static void read_pending(const struct sim *s, uint32_t w)
{
    struct worker *worker = &s->workers[w];
    if (worker->level == s->box->n_levels) return; /* ended: due at once */
    double seconds;
    s->box->ops->read_curve(s->box, curve_of(s, w), worker->level, &worker->value, &seconds);
    double due = worker->origin + seconds;
    if (due > worker->time) worker->time = due; /* a clock that ran backwards in the data does not here */
}

/* The tuner has seen the delivered report and did not stop its trial: on to the next level. */
static void advance_delivered(struct sim *s)
{
    if (!s->delivered) return;
    s->delivered = false;
    s->workers[s->heap[0]].level++;
    read_pending(s, s->heap[0]);
    sift_down(s, 0);
}

static uint32_t first_level_after(const struct blackbox *box, double resource)
{
    uint32_t level = 0;
    while (level < box->n_levels && box->levels[level] <= resource)
        level++;
    return level;
}

static uint64_t table_seed(const struct sim *s, uint32_t trial)
{
    struct rng rng = wni_rng_stream(s->setup.seed, trial, STREAM_TABLE_SEED);
    return s->box->n_seeds > 1 ? wni_rng_below(&rng, s->box->n_seeds) : wni_rng_u64(&rng);
}

static wn_status start(void *self, uint32_t trial, const double *config, bool again, double resumed_from,
                       struct err *err)
{
    (void)again;
    struct sim *s = self;
    advance_delivered(s);
    assert(s->n_idle > 0);
    uint32_t w = s->idle[s->n_idle - 1];
    memset(curve_of(s, w), 0, s->curve_stride);
    wn_status st = s->box->ops->open_curve(s->box, config, table_seed(s, trial), curve_of(s, w), err);
    if (st) return st;
    struct worker *worker = &s->workers[w];
    *worker = (struct worker){.trial = trial, .origin = s->now, .time = s->now};
    worker->level = first_level_after(s->box, resumed_from);
    if (worker->level > 0) { /* what it trained before the pause is not paid for again */
        double value, spent;
        s->box->ops->read_curve(s->box, curve_of(s, w), worker->level - 1, &value, &spent);
        worker->origin -= spent;
    }
    read_pending(s, w);
    s->n_idle--;
    s->heap[s->n_busy] = w;
    sift_up(s, s->n_busy++);
    return WN_OK;
}

static wn_status stop(void *self, uint32_t trial, bool keep, struct err *err)
{
    (void)keep; /* curves need no checkpoint */
    struct sim *s = self;
    if (s->delivered &&
        s->workers[s->heap[0]].trial == trial) /* nearly always: the trial that has just reported */
        s->delivered = false;
    else
        advance_delivered(s);
    for (size_t at = 0; at < s->n_busy; at++) {
        if (s->workers[s->heap[at]].trial != trial) continue;
        remove_at(s, at);
        return WN_OK;
    }
    return wni_fail(err, WN_ENOTFOUND, "trial %u is not running", trial);
}

/* The first multiple of `poll` that is not before `due`.  due / poll is rounded, so its ceiling may be one
 * off. */
static double next_poll(double due, double poll)
{
    double k = floor(due / poll);
    return k * poll < due ? (k + 1) * poll : k * poll;
}

static void advance_clock(struct sim *s, double due)
{
    if (due <= s->now) return;
    s->now = s->setup.poll > 0 ? next_poll(due, s->setup.poll) : due;
}

static wn_status next(void *self, struct happening *out, struct err *err)
{
    struct sim *s = self;
    advance_delivered(s);
    if (s->n_busy == 0) return wni_fail(err, WN_EXHAUSTED, "nothing is running");
    const struct worker *worker = &s->workers[s->heap[0]];
    advance_clock(s, worker->time);
    *out = (struct happening){.trial = worker->trial, .time = worker->time};
    if (worker->level == s->box->n_levels) { /* nobody stopped it at the last level */
        out->kind = HAPPENED_END;
        out->state = WN_COMPLETE;
        remove_at(s, 0);
        return WN_OK;
    }
    out->kind = HAPPENED_REPORT;
    out->resource = s->box->levels[worker->level];
    out->value = worker->value;
    s->delivered = true;
    return WN_OK;
}

static double sim_now(const void *self)
{
    return ((const struct sim *)self)->now;
}

static void charge(void *self, double seconds)
{
    ((struct sim *)self)->now += seconds;
}

static void close_sim(void *self)
{
    struct sim *s = self;
    free(s->workers);
    free(s->curves);
    free(s->heap);
    free(s->idle);
    free(s);
}

static const struct backend_ops sim_ops = {.name = "sim",
                                           .start = start,
                                           .stop = stop,
                                           .next = next,
                                           .now = sim_now,
                                           .charge = charge,
                                           .close = close_sim};

wn_status wni_sim_open(struct backend *backend, const struct blackbox *box, const struct sim_setup *setup,
                       struct err *err)
{
    *backend = (struct backend){0};
    if (setup->workers == 0) return wni_fail(err, WN_EINVAL, "a simulation needs at least one worker");
    struct sim *s = wni_new(struct sim, 1);
    if (!s) return wni_fail_memory(err);
    size_t align = alignof(max_align_t);
    *s = (struct sim){.box = box, .setup = *setup, .n_idle = setup->workers};
    s->curve_stride = (box->curve_size + align) / align * align;
    s->workers = wni_new(struct worker, setup->workers);
    s->curves = wni_new_array(setup->workers, s->curve_stride);
    s->heap = wni_new(uint32_t, setup->workers);
    s->idle = wni_new(uint32_t, setup->workers);
    if (!s->workers || !s->curves || !s->heap || !s->idle) {
        close_sim(s);
        return wni_fail_memory(err);
    }
    for (unsigned w = 0; w < setup->workers; w++)
        s->idle[w] = setup->workers - 1 - w; /* worker 0 is first in line */
    *backend = (struct backend){.ops = &sim_ops, .self = s};
    return WN_OK;
}
