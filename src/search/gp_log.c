/* gp_log.c -- arrivals of values, what a scheduled fit is made of, which rows are kept; and rows for models.
 *
 * Everything up to wni_gp_search_observe() runs in observe(): it allocates nothing. */
#include "search/gp_log.h"

#include "base/mem.h"
#include "core/encode.h"
#include "core/streams.h"
#include "num/order.h"
#include "num/stats.h"

#include <math.h>
#include <string.h>

/* Times the best's distance below the median: values further above it count as that far. */
static const double TAIL = 10;

/* ---- arrivals ---- */

/* Levels the trial had reached by the reports before its newest. */
static size_t reached_before(const struct levels *levels, const struct history *h, uint32_t trial)
{
    size_t reached = 0;
    for (uint32_t r = h->previous[h->trials[trial].last_arrival - 1]; r; r = h->previous[r - 1]) {
        reached = wni_levels_reached_of_all(levels, reached, h->resources[r - 1]);
        if (reached == levels->n + 1) break;
    }
    return reached;
}

/* The rule of search/levels.h: a report counts at the highest level it reached first. */
static bool arrived_at_level(const struct levels *levels, const struct history *h, const struct event *e,
                             struct gp_entry *out)
{
    if (e->kind != EVENT_REPORT || !isfinite(e->value)) return false;
    size_t now = wni_levels_reached_of_all(levels, 0, e->resource);
    uint32_t last = h->previous[h->trials[e->trial].last_arrival - 1];
    if (last && wni_levels_reached_of_all(levels, 0, h->resources[last - 1]) >= now) return false;
    if (now == 0 || reached_before(levels, h, e->trial) >= now) return false;
    *out = (struct gp_entry){.trial = e->trial, .level = (uint32_t)now - 1, .value = e->value};
    return true;
}

/* Whether the event makes a trial count as observed, that was not before. */
static bool arrived(const struct gp_search *s, const struct history *h, const struct event *e,
                    struct gp_entry *out)
{
    if (s->n_levels) return arrived_at_level(s->env->levels, h, e, out);
    *out = (struct gp_entry){.trial = e->trial};
    if (s->env->partial) return e->kind == EVENT_REPORT && h->trials[e->trial].n_reports == 1;
    return e->kind == EVENT_FINISH && e->state == WN_COMPLETE;
}

/* ---- too many ---- */

/* Whether an entry still counts, and with what value. */
static bool entry_value(const struct gp_search *s, const struct history *h, const struct gp_entry *e,
                        double *value)
{
    double last;
    if (!s->n_levels) return wni_search_observation(s->env, h, e->trial, value);
    *value = e->value;
    return wni_history_last(h, e->trial, &last, NULL);
}

static size_t drop_failed(const struct gp_search *s, const struct history *h, struct gp_entry *entries,
                          size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        struct gp_entry e = entries[i];
        if (entry_value(s, h, &e, &e.value)) entries[kept++] = e;
    }
    return kept;
}

/* Marks the best `k`: higher levels first, lower values first. */
static void mark_best(const struct gp_search *s, size_t n, size_t k, uint32_t *marks)
{
    double *values = (double *)(void *)s->moved; /* an entry is two doubles long */
    uint32_t *order = s->order, *work = order + n;
    for (size_t i = 0; i < n; i++)
        values[i] = s->entries[i].value;
    wni_argsort(values, n, order, work);
    for (size_t level = s->n_sets > s->n_levels ? s->n_sets : s->n_levels; level-- > 0 && k > 0;)
        for (size_t i = 0; i < n && k > 0; i++)
            if (s->entries[order[i]].level == level) {
                marks[order[i]] = 1;
                k--;
            }
}

/* The best half of max_fit and a random rest, in the order they had. */
static void make_room(struct gp_search *s, const struct history *h)
{
    s->n_entries = drop_failed(s, h, s->entries, s->n_entries);
    size_t n = s->n_entries, want = (size_t)s->max_fit, best = want / 2, others = 0, kept = 0, drawn = 0;
    if (n <= want) return;
    uint32_t *marks = s->order + 2 * n, *chosen = s->order;
    memset(marks, 0, n * sizeof *marks);
    mark_best(s, n, best, marks);
    struct rng rng = wni_rng_stream(s->env->seed, s->count, STREAM_GP_ROOM);
    wni_rng_sample(&rng, (uint32_t)(n - best), (uint32_t)(want - best), chosen);
    for (size_t i = 0; i < n; i++) {
        bool keep = marks[i];
        if (!keep) {
            keep = drawn < want - best && chosen[drawn] == others;
            drawn += keep;
            others++;
        }
        if (keep) s->entries[kept++] = s->entries[i];
    }
    s->n_entries = kept;
}

/* ---- the fit on schedule ---- */

size_t wni_gp_thin(const struct gp_search *s, const struct gp_entry *from, size_t n, struct gp_entry *to)
{
    size_t want = (size_t)s->fit_rows;
    if (n <= want) {
        memcpy(to, from, n * sizeof *to);
        return n;
    }
    struct rng rng = wni_rng_stream(s->env->seed, s->count, STREAM_GP_FIT);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) /* each subset of that size is equally likely */
        if (wni_rng_below(&rng, n - i) < want - kept) to[kept++] = from[i];
    return kept;
}

static void note_fit(struct gp_search *s, const struct history *h)
{
    memcpy(s->moved, s->entries, s->n_entries * sizeof *s->entries);
    size_t n = drop_failed(s, h, s->moved, s->n_entries);
    s->n_noted = wni_gp_thin(s, s->moved, n, s->noted);
    s->noted_at = s->count;
}

static bool fit_is_due(const struct gp_search *s)
{
    uint64_t new = s->count - s->noted_at;
    if (s->noted_at == 0) return s->count >= (uint64_t)s->refit_from;
    return new >= (uint64_t)s->refit_every && (double)new >= s->refit_share *(double)s->noted_at;
}

void wni_gp_search_observe(void *self, const struct history *h, const struct event *e)
{
    struct gp_search *s = self;
    struct gp_entry entry;
    if (!arrived(s, h, e, &entry)) return;
    s->count++;
    s->entries[s->n_entries++] = entry;
    bool full = s->n_entries == (size_t)s->max_fit + GP_BLOCK;
    if (full) make_room(s, h);
    if (fit_is_due(s)) note_fit(s, h);
    if (full || s->count % GP_BLOCK == 0) s->n_base = s->n_entries;
}

/* ---- rows ---- */

static wn_status rows_init(struct gp_rows *r, size_t n, size_t width, struct arena *arena)
{
    r->n = r->n_base = 0;
    r->trial = arena_new(arena, uint32_t, n);
    r->level = arena_new(arena, uint8_t, n);
    r->value = arena_new(arena, double, n);
    r->y = arena_new(arena, double, n);
    r->x = arena_new(arena, double, n *width);
    return r->trial && r->level && r->value && r->y && r->x ? WN_OK : WN_ENOMEM;
}

/* The largest value taken at its word: losses of diverged runs would leave all others alike.  `sorted` holds
 * at least one. */
static double highest_taken(const double *sorted, size_t n)
{
    double median = wni_quantile_linear(sorted, n, 0.5), below = median - sorted[0];
    return below > 0 && isfinite(below) ? median + TAIL * below : sorted[n - 1];
}

/* Zero mean, unit deviation.  Values may be as large as doubles get: a power of two takes them where sums of
 * squares are finite. */
static void standardise(const double *value, size_t n, double *y, double *work)
{
    memcpy(work, value, n * sizeof *work);
    wni_sort(work, n);
    double highest = highest_taken(work, n), mean = 0, squares = 0;
    double down = fmax(fabs(work[0]), fabs(work[n - 1])) > 0x1p500 ? 0x1p-540 : 1;
    for (size_t i = 0; i < n; i++) {
        y[i] = fmin(value[i], highest) * down;
        mean += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        y[i] -= mean;
        squares += y[i] * y[i] / (double)n;
    }
    double deviation = sqrt(squares);
    for (size_t i = 0; i < n; i++)
        y[i] = deviation > 0 ? y[i] / deviation : 0;
}

static wn_status normalise(const struct gp_search *s, struct gp_rows *r, struct arena *arena)
{
    double *work = arena_new(arena, double, r->n);
    uint32_t *order = arena_new(arena, uint32_t, 2 * r->n);
    if (!work || !order) return WN_ENOMEM;
    if (r->n == 0) return WN_OK;
    if (s->normalize == GP_STANDARD) {
        standardise(r->value, r->n, r->y, work);
        return WN_OK;
    }
    memcpy(r->y, r->value, r->n * sizeof *r->y);
    wni_normal_scores(r->y, r->n, work, order);
    return WN_OK;
}

static void add_row(const struct gp_search *s, struct gp_rows *r, const struct gp_entry *e, bool base)
{
    const struct space *space = s->env->space;
    r->trial[r->n] = e->trial;
    r->level[r->n] = (uint8_t)e->level;
    r->value[r->n] = e->value;
    wni_encode_unit(space, wni_history_config(s->history, e->trial), r->x + r->n * space->unit_width);
    r->n++;
    r->n_base += base;
}

wn_status wni_gp_gather(struct gp_search *s, const struct gp_entry *entries, size_t n, size_t n_base,
                        bool refresh, struct gp_rows *rows)
{
    for (size_t k = 0; k < s->n_sets; k++)
        if (rows_init(&rows[k], n, s->env->space->unit_width, &s->arena)) return WN_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        struct gp_entry e = entries[i];
        if (refresh && !entry_value(s, s->history, &e, &e.value)) continue;
        add_row(s, &rows[s->kind->divided ? e.level : 0], &e, i < n_base);
    }
    for (size_t k = 0; k < s->n_sets; k++)
        if (normalise(s, &rows[k], &s->arena)) return WN_ENOMEM;
    return WN_OK;
}

bool wni_gp_pending_level(const struct gp_search *s, const struct history *h, uint32_t trial, uint8_t *level)
{
    double value, resource;
    *level = 0;
    if (h->trials[trial].state != WN_RUNNING || h->trials[trial].broken) return false;
    if (!s->n_levels) return !wni_search_observation(s->env, h, trial, &value);
    if (!wni_history_last(h, trial, &value, &resource)) return true;
    size_t reached = wni_levels_reached_of_all(s->env->levels, 0, resource);
    *level = (uint8_t)reached;
    return reached < s->n_levels;
}
