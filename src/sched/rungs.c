/* rungs.c -- the two heaps behind a rung's cut. */
#include "sched/rungs.h"

#include "base/mem.h"
#include "core/history.h"
#include "num/order.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- heap of values ---- */

static void push_value(struct value_heap *h, double x)
{
    assert(h->n < h->cap);
    size_t i = h->n++;
    for (size_t up; i > 0 && x < h->at[up = (i - 1) / 2]; i = up)
        h->at[i] = h->at[up];
    h->at[i] = x;
}

static double pop_value(struct value_heap *h)
{
    double top = h->at[0], x = h->at[--h->n];
    size_t i = 0;
    for (size_t down; (down = 2 * i + 1) < h->n; i = down) {
        if (down + 1 < h->n && h->at[down + 1] < h->at[down]) down++;
        if (x <= h->at[down]) break;
        h->at[i] = h->at[down];
    }
    h->at[i] = x;
    return top;
}

/* ---- quantile rung ---- */

void wni_quantile_rung_init(struct quantile_rung *r, double share)
{
    assert(share >= 0 && share <= 1);
    *r = (struct quantile_rung){.share = share};
}

void wni_quantile_rung_release(struct quantile_rung *r)
{
    free(r->kept.at);
    free(r->rest.at);
    *r = (struct quantile_rung){0};
}

size_t wni_quantile_rung_count(const struct quantile_rung *r)
{
    return r->kept.n + r->rest.n;
}

static bool reserve_values(struct value_heap *h, size_t more)
{
    return wni_reserve((void **)&h->at, &h->cap, h->n + more, sizeof *h->at);
}

/* Whatever side a value goes to, one may have to cross: each side can grow by the newcomer and by the one
 * that crosses. */
wn_status wni_quantile_rung_reserve(struct quantile_rung *r, struct err *err)
{
    return reserve_values(&r->kept, 2) && reserve_values(&r->rest, 2) ? WN_OK : wni_fail_memory(err);
}

void wni_quantile_rung_add(struct quantile_rung *r, double value)
{
    assert(value > -INFINITY);
    size_t kept = 1 + (size_t)(r->share * (double)wni_quantile_rung_count(r));
    if (r->kept.n && value < -r->kept.at[0])
        push_value(&r->kept, -value);
    else
        push_value(&r->rest, value);
    while (r->kept.n < kept)
        push_value(&r->kept, -pop_value(&r->rest));
    while (r->kept.n > kept)
        push_value(&r->rest, -pop_value(&r->kept));
}

double wni_quantile_rung_cut(const struct quantile_rung *r)
{
    assert(r->kept.n > 0);
    double below = -r->kept.at[0];
    if (!r->rest.n) return below;
    double at = r->share * (double)(wni_quantile_rung_count(r) - 1);
    return wni_quantile_linear((double[]){below, r->rest.at[0]}, 2, at - floor(at));
}

/* ---- heap of entries ---- */

enum side { BEST_ON_TOP, WORST_ON_TOP };

static bool is_better(const double *values, uint32_t a, uint32_t b)
{
    return values[a] < values[b] || (a < b && values[a] == values[b]);
}

/* Whether a belongs above b in such a heap. */
static bool is_above(const double *values, enum side side, uint32_t a, uint32_t b)
{
    return side == BEST_ON_TOP ? is_better(values, a, b) : is_better(values, b, a);
}

static inline void push_entry(const double *values, enum side side, uint32_t *heap, uint32_t *n,
                              uint32_t entry)
{
    uint32_t i = (*n)++;
    for (uint32_t up; i > 0 && is_above(values, side, entry, heap[up = (i - 1) / 2]); i = up)
        heap[i] = heap[up];
    heap[i] = entry;
}

static inline uint32_t pop_entry(const double *values, enum side side, uint32_t *heap, uint32_t *n)
{
    uint32_t top = heap[0], entry = heap[--*n], i = 0;
    for (uint32_t down; (down = 2 * i + 1) < *n; i = down) {
        if (down + 1 < *n && is_above(values, side, heap[down + 1], heap[down])) down++;
        if (is_above(values, side, entry, heap[down])) break;
        heap[i] = heap[down];
    }
    heap[i] = entry;
    return top;
}

/* ---- promotion rung ---- */

void wni_promotion_rung_init(struct promotion_rung *r, double eta)
{
    assert(eta > 1);
    *r = (struct promotion_rung){.eta = eta};
}

void wni_promotion_rung_release(struct promotion_rung *r)
{
    free(r->values);
    free(r->trials);
    free(r->kept);
    free(r->rest);
    free(r->waiting);
    *r = (struct promotion_rung){0};
}

static bool resize(void **array, size_t cap, size_t size)
{
    void *moved = realloc(*array, wni_size_mul(cap, size));
    if (moved) *array = moved;
    return moved;
}

/* The heaps get room for all entries each: pages that are never written cost nothing. */
wn_status wni_promotion_rung_reserve(struct promotion_rung *r, struct err *err)
{
    if (r->n < r->cap) return WN_OK;
    size_t cap = r->cap ? 2 * r->cap : 8;
    bool fine = resize((void **)&r->values, cap, sizeof *r->values) &&
                resize((void **)&r->trials, cap, sizeof *r->trials) &&
                resize((void **)&r->kept, cap, sizeof *r->kept) &&
                resize((void **)&r->rest, cap, sizeof *r->rest) &&
                resize((void **)&r->waiting, cap, sizeof *r->waiting);
    if (!fine) return wni_fail_memory(err);
    r->cap = cap;
    return WN_OK;
}

uint32_t wni_promotion_rung_add(struct promotion_rung *r, double value, uint32_t trial)
{
    assert(r->n < r->cap && value > -INFINITY);
    uint32_t entry = r->n++;
    r->values[entry] = value;
    r->trials[entry] = trial;
    if (r->n_kept && is_better(r->values, entry, r->kept[0]))
        push_entry(r->values, WORST_ON_TOP, r->kept, &r->n_kept, entry);
    else
        push_entry(r->values, BEST_ON_TOP, r->rest, &r->n_rest, entry);
    uint32_t kept = (uint32_t)(r->n / r->eta);
    while (r->n_kept < kept) {
        uint32_t best = pop_entry(r->values, BEST_ON_TOP, r->rest, &r->n_rest);
        push_entry(r->values, WORST_ON_TOP, r->kept, &r->n_kept, best);
    }
    while (r->n_kept > kept) {
        uint32_t worst = pop_entry(r->values, WORST_ON_TOP, r->kept, &r->n_kept);
        push_entry(r->values, BEST_ON_TOP, r->rest, &r->n_rest, worst);
    }
    return entry;
}

void wni_promotion_rung_wait(struct promotion_rung *r, uint32_t entry)
{
    assert(r->trials[entry] != TRIAL_NONE && r->n_waiting < r->n);
    push_entry(r->values, BEST_ON_TOP, r->waiting, &r->n_waiting, entry);
}

/* Entries leave in any order (another worker may have been faster), so those inside the heap are only marked,
 * and cleared away when they come to the top.  Each is cleared once: O(log n) amortised. */
void wni_promotion_rung_leave(struct promotion_rung *r, uint32_t entry)
{
    r->trials[entry] = TRIAL_NONE;
    while (r->n_waiting && r->trials[r->waiting[0]] == TRIAL_NONE)
        pop_entry(r->values, BEST_ON_TOP, r->waiting, &r->n_waiting);
}

uint32_t wni_promotion_rung_best(const struct promotion_rung *r)
{
    if (!r->n_waiting || !r->n_kept) return TRIAL_NONE;
    uint32_t best = r->waiting[0];
    return is_better(r->values, r->kept[0], best) ? TRIAL_NONE : r->trials[best];
}
