/* median.c -- the median stopping rule (Golovin, Solnik, Moitra, Kochanski, Karro, Sculley: "Google Vizier: A
 * Service for Black-Box Optimization", KDD 2017, section 3.2.2).
 *
 * A trial that reports at resource r is stopped if the best value it has reported is strictly worse than the
 * median, over the other trials that reported at r, of their averages up to r.
 *
 * Differs from the paper: every trial that has reached r is compared with, not only completed ones (with
 * early stopping few are); nothing is stopped below `grace`, nor by fewer than `min_trials` others.  Trials
 * meet where they report at exactly the same resource.  Reports that do not go beyond the trial's last one
 * are ignored.  A value that is not finite makes the trial's average there +inf; a trial that just ends
 * leaves its averages behind.
 *
 * O(log n) per report.  Memory: 32 bytes per trial, 8 per report (a rung for every resource). */
#include "sched/sched.h"

#include "base/mem.h"
#include "sched/rungs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct course {
    double reached; /* largest resource reported */
    double best;
    double sum; /* of the n values up to there */
    uint32_t n;
    bool stopped;
};

struct meeting {
    double resource;
    struct quantile_rung averages;
};

struct median {
    double grace; /* options */
    int min_trials;

    const struct sched_env *env;
    struct course *courses; /* by trial */
    size_t courses_cap;

    struct meeting *meetings; /* in the order of their first report */
    size_t n_meetings, meetings_cap;
    uint32_t *slots; /* by resource: open addressing, index into meetings + 1, 0: free; at most half full */
    size_t n_slots;  /* a power of two */
};

static const struct opt_def median_opts[] = {
    OPT_REAL(struct median, grace, 1, 0, 1e300, "resource below which nothing is stopped"),
    OPT_INT(struct median, min_trials, 5, 1, 1000000,
            "stop only where at least so many other trials reported"),
    OPT_END,
};

static wn_status init(void *self, const struct sched_env *env, struct err *err)
{
    struct median *m = self;
    m->env = env;
    m->n_slots = 64;
    m->slots = wni_new(uint32_t, m->n_slots);
    return m->slots ? WN_OK : wni_fail_memory(err);
}

static void release(void *self)
{
    struct median *m = self;
    for (size_t i = 0; i < m->n_meetings; i++)
        wni_quantile_rung_release(&m->meetings[i].averages);
    free(m->meetings);
    free(m->slots);
    free(m->courses);
}

/* ---- resources ---- */

/* The slot of this resource, or the free one where it belongs.  Resources are above 0, so equal ones have
 * equal bits.  The factor is 2^64 over the golden ratio: it spreads small integers over the upper bits. */
static size_t find_slot(const struct median *m, const uint32_t *slots, size_t n_slots, double resource)
{
    uint64_t bits;
    memcpy(&bits, &resource, sizeof bits);
    bits *= UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t)(bits >> 32) & (n_slots - 1);
    while (slots[at] && m->meetings[slots[at] - 1].resource != resource)
        at = (at + 1) & (n_slots - 1);
    return at;
}

static bool grow_slots(struct median *m)
{
    if (2 * (m->n_meetings + 1) <= m->n_slots) return true;
    size_t n = 2 * m->n_slots;
    uint32_t *slots = wni_new(uint32_t, n);
    if (!slots) return false;
    for (size_t i = 0; i < m->n_meetings; i++)
        slots[find_slot(m, slots, n, m->meetings[i].resource)] = (uint32_t)i + 1;
    free(m->slots);
    m->slots = slots;
    m->n_slots = n;
    return true;
}

/* Finds or founds the meeting at a resource; NULL when out of memory. */
static struct meeting *meet(struct median *m, double resource)
{
    size_t slot = find_slot(m, m->slots, m->n_slots, resource);
    if (m->slots[slot]) return &m->meetings[m->slots[slot] - 1];
    if (!wni_reserve((void **)&m->meetings, &m->meetings_cap, m->n_meetings + 1, sizeof *m->meetings))
        return NULL;
    if (!grow_slots(m)) return NULL;
    struct meeting *new = &m->meetings[m->n_meetings++];
    new->resource = resource;
    wni_quantile_rung_init(&new->averages, 0.5);
    m->slots[find_slot(m, m->slots, m->n_slots, resource)] = (uint32_t)m->n_meetings;
    return new;
}

/* ---- events ---- */

/* Whether the report says anything new.  reserve() and observe() both ask, so they agree. */
static bool is_news(const struct median *m, const struct event *e)
{
    const struct course *c = &m->courses[e->trial];
    return !c->stopped && e->resource > c->reached;
}

static wn_status reserve(void *self, const struct history *h, const struct event *e, struct err *err)
{
    (void)h;
    struct median *m = self;
    if (e->kind == EVENT_ASK) {
        size_t n = (size_t)e->trial + 1;
        bool fine = wni_reserve((void **)&m->courses, &m->courses_cap, n, sizeof *m->courses);
        return fine ? WN_OK : wni_fail_memory(err);
    }
    if (e->kind != EVENT_REPORT || !is_news(m, e)) return WN_OK;
    struct meeting *meeting = meet(m, e->resource);
    return meeting ? wni_quantile_rung_reserve(&meeting->averages, err) : wni_fail_memory(err);
}

/* Against the others only: the trial's own average is not among them yet. */
static bool is_worse_than_median(const struct median *m, const struct meeting *meeting,
                                 const struct course *c)
{
    return meeting->resource >= m->grace &&
           wni_quantile_rung_count(&meeting->averages) >= (size_t)m->min_trials &&
           c->best > wni_quantile_rung_cut(&meeting->averages);
}

static void on_report(struct median *m, const struct event *e)
{
    struct course *c = &m->courses[e->trial];
    struct meeting *meeting = &m->meetings[m->slots[find_slot(m, m->slots, m->n_slots, e->resource)] - 1];
    bool sound = isfinite(e->value);
    c->reached = e->resource;
    c->sum += e->value;
    c->n++;
    if (e->value < c->best) c->best = e->value;
    c->stopped = !sound || e->resource >= m->env->max_resource || is_worse_than_median(m, meeting, c);
    double average = c->sum / c->n;
    wni_quantile_rung_add(&meeting->averages, sound && isfinite(average) ? average : INFINITY);
}

static wn_decision observe(void *self, const struct history *h, const struct event *e)
{
    (void)h;
    struct median *m = self;
    if (e->kind == EVENT_ASK) m->courses[e->trial] = (struct course){.best = INFINITY};
    if (e->kind != EVENT_REPORT) return WN_CONTINUE;
    if (is_news(m, e)) on_report(m, e);
    return m->courses[e->trial].stopped ? WN_STOP : WN_CONTINUE;
}

const struct scheduler_ops wni_scheduler_median = {
    .name = "median",
    .summary = "stops trials whose best value is worse than the median of the others' averages",
    .state_size = sizeof(struct median),
    .opts = median_opts,
    .stops_early = true,
    .init = init,
    .reserve = reserve,
    .observe = observe,
    .release = release,
};
