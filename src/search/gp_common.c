/* gp_common.c -- one suggestion by Gaussian processes, from rows to a configuration. */
#include "search/gp_common.h"

#include "base/mem.h"
#include "core/encode.h"
#include "core/streams.h"
#include "num/linalg.h"
#include "num/order.h"
#include "num/portable.h"
#include "search/gp_candidates.h"
#include "search/gp_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const wni_gp_normalize_names[] = {"standard", "quantile", NULL};

enum { PENDING_MAX = 128, INCUMBENTS = 32 };
static const double FIT_TOLERANCE = 1e-4; /* of the log posterior density */

/* ---- life ---- */

static void set_levels(struct gp_search *s)
{
    const struct levels *levels = s->kind->levels ? s->env->levels : NULL;
    s->n_levels = levels ? levels->n + 1 : 0;
    for (size_t k = 0; k < s->n_levels; k++)
        s->resource[k] = levels->at[k] / levels->at[levels->n];
    s->n_sets = s->kind->divided && s->n_levels ? s->n_levels : 1;
}

/* Levels that the kernel knows of. */
static size_t curve_levels(const struct gp_search *s)
{
    return s->kind->divided ? 0 : s->n_levels;
}

static size_t slots(const struct gp_search *s)
{
    return wni_gp_slots(s->env->space->unit_width, curve_levels(s));
}

wn_status wni_gp_search_init(struct gp_search *s, const struct gp_kind *kind, const struct search_env *env,
                             struct err *err)
{
    s->env = env;
    s->kind = kind;
    set_levels(s);
    size_t room = (size_t)s->max_fit + GP_BLOCK;
    s->entries = wni_new(struct gp_entry, room);
    s->moved = wni_new(struct gp_entry, room);
    s->order = wni_new(uint32_t, 3 * room);
    s->noted = wni_new(struct gp_entry, (size_t)s->fit_rows);
    s->theta = wni_new(double, slots(s) * s->n_sets);
    if (!s->entries || !s->moved || !s->order || !s->noted || !s->theta) return wni_fail_memory(err);
    wni_linalg_one_thread();
    return WN_OK;
}

void wni_gp_search_release(void *self)
{
    struct gp_search *s = self;
    free(s->entries);
    free(s->moved);
    free(s->order);
    free(s->noted);
    free(s->theta);
    free(s->fitted);
    for (size_t k = 0; k < GP_SETS_MAX; k++)
        wni_arena_release(&s->models[k].arena);
    wni_arena_release(&s->arena);
}

/* ---- hyperparameters ---- */

static bool same_entries(const struct gp_entry *a, size_t n, const struct gp_entry *b, size_t m)
{
    if (n != m) return false;
    for (size_t i = 0; i < n; i++)
        if (a[i].trial != b[i].trial || a[i].level != b[i].level || a[i].value != b[i].value) return false;
    return true;
}

/* Fits one theta per set; a set without rows gets the shared part and initial values for the rest. */
static wn_status fit(struct gp_search *s, const struct gp_entry *entries, size_t n, uint64_t count)
{
    struct gp_rows rows[GP_SETS_MAX];
    struct gp_data data[GP_SETS_MAX];
    size_t width = s->env->space->unit_width, used = 0, of[GP_SETS_MAX];
    if (wni_gp_gather(s, entries, n, n, false, rows)) return WN_ENOMEM;
    for (size_t k = 0; k < s->n_sets; k++) {
        if (rows[k].n == 0) continue;
        of[used] = k;
        data[used++] = (struct gp_data){.n = rows[k].n,
                                        .width = width,
                                        .x = rows[k].x,
                                        .y = rows[k].y,
                                        .level = rows[k].level,
                                        .resource = s->resource,
                                        .n_levels = curve_levels(s)};
    }
    /* with many values the likelihood has one peak worth finding */
    int starts = count < (uint64_t)s->refit_from ? 2 : 1;
    struct gp_fit_options options = {
        .evaluations = s->evaluations, .tolerance = FIT_TOLERANCE, .starts = starts};
    double *theta = arena_new(&s->arena, double, slots(s) * (used + 1));
    struct rng rng = wni_rng_stream(s->env->seed, count, STREAM_GP_START);
    if (!theta || wni_gp_fit(data, used, &options, &rng, theta, &s->arena)) return WN_ENOMEM;
    for (size_t k = 0; k < s->n_sets; k++) {
        double *to = s->theta + k * slots(s);
        memcpy(to, theta, slots(s) * sizeof *to);
        to[wni_gp_slot_scale(width)] = to[wni_gp_slot_mean(width)] = 0;
    }
    for (size_t i = 0; i < used; i++)
        memcpy(s->theta + of[i] * slots(s), theta + i * slots(s), slots(s) * sizeof *theta);
    return WN_OK;
}

/* What the hyperparameters should be fitted to now. */
static wn_status choose_fit(struct gp_search *s, const struct gp_entry **entries, size_t *n)
{
    *entries = s->noted;
    *n = s->n_noted;
    if (s->count >= (uint64_t)s->refit_from) return WN_OK;
    size_t all = 0;
    struct gp_entry *now = arena_new(&s->arena, struct gp_entry, s->n_entries + (size_t)s->fit_rows);
    if (!now) return WN_ENOMEM;
    for (size_t k = 0; k < s->n_sets; k++)
        for (size_t i = 0; i < s->rows[k].n; i++)
            now[all++] = (struct gp_entry){s->rows[k].trial[i], s->rows[k].level[i], s->rows[k].value[i]};
    *entries = now + all;
    *n = wni_gp_thin(s, now, all, now + all);
    return WN_OK;
}

static wn_status update_fit(struct gp_search *s)
{
    const struct gp_entry *entries;
    size_t n;
    if (choose_fit(s, &entries, &n)) return WN_ENOMEM;
    uint64_t count = entries == s->noted ? s->noted_at : s->count;
    if (s->fitted_at == count && same_entries(entries, n, s->fitted, s->n_fitted)) return WN_OK;
    s->fitted_at = 0; /* nothing is fitted if memory runs out on the way */
    if (!wni_reserve((void **)&s->fitted, &s->fitted_cap, n, sizeof *s->fitted)) return WN_ENOMEM;
    if (fit(s, entries, n, count)) return WN_ENOMEM;
    memcpy(s->fitted, entries, n * sizeof *entries);
    s->n_fitted = n;
    s->fitted_at = count;
    s->version++;
    return WN_OK;
}

/* ---- factors ---- */

static bool still_good(const struct gp_search *s, const struct gp_model *m, const struct gp_rows *r)
{
    const struct gp_posterior *p = &m->posterior;
    return m->version == s->version && m->n_base == r->n_base && p->n <= r->n &&
           r->n + PENDING_MAX <= p->cap && memcmp(m->trial, r->trial, p->n * sizeof *r->trial) == 0 &&
           memcmp(m->level, r->level, p->n) == 0;
}

static wn_status begin_model(struct gp_search *s, struct gp_model *m, const struct gp_rows *r,
                             const double *theta)
{
    size_t width = s->env->space->unit_width, later = r->n - r->n_base;
    size_t cap = r->n_base + (later > GP_BLOCK ? later : GP_BLOCK) + PENDING_MAX;
    struct gp_data shape = {.width = width, .resource = s->resource, .n_levels = curve_levels(s)};
    m->version = 0;
    wni_arena_reset(&m->arena);
    m->trial = arena_new(&m->arena, uint32_t, cap);
    m->level = arena_new(&m->arena, uint8_t, cap);
    if (!m->trial || !m->level ||
        wni_gp_posterior_init(&m->posterior, theta, &shape, cap, (size_t)s->fantasies, &m->arena))
        return WN_ENOMEM;
    wni_gp_posterior_factor(&m->posterior, r->x, curve_levels(s) ? r->level : NULL, r->n_base);
    m->version = s->version;
    m->n_base = r->n_base;
    return WN_OK;
}

/* A factor of exactly these rows: the one at hand with the new ones appended, or a new one. */
static wn_status update_model(struct gp_search *s, struct gp_model *m, const struct gp_rows *r,
                              const double *theta)
{
    size_t width = s->env->space->unit_width;
    if (!still_good(s, m, r) && begin_model(s, m, r, theta)) return WN_ENOMEM;
    for (size_t i = m->posterior.n; i < r->n; i++)
        wni_gp_posterior_append(&m->posterior, r->x + i * width, curve_levels(s) ? r->level + i : NULL, 1);
    memcpy(m->trial, r->trial, r->n * sizeof *r->trial);
    memcpy(m->level, r->level, r->n);
    return WN_OK;
}

/* ---- pending trials ---- */

struct pending {
    size_t n;
    uint32_t trial[PENDING_MAX];
    uint8_t level[PENDING_MAX];
};

/* The newest ones, oldest first. */
static void find_pending(const struct gp_search *s, struct pending *p)
{
    const struct history *h = s->history;
    size_t running = h->by_state[WN_RUNNING];
    p->n = 0;
    for (uint32_t t = (uint32_t)h->n_trials; t-- > 0 && running > 0 && p->n < PENDING_MAX;) {
        running -= h->trials[t].state == WN_RUNNING;
        if (!wni_gp_pending_level(s, h, t, &p->level[p->n])) continue;
        p->trial[p->n++] = t;
    }
}

/* Appends the set's pending rows and draws what all of them might show. */
static wn_status condition(struct gp_search *s, size_t set, const struct pending *pending, size_t columns)
{
    struct gp_model *m = &s->models[set];
    const struct gp_rows *r = &s->rows[set];
    size_t width = s->env->space->unit_width, n = 0;
    double *x = arena_new(&s->arena, double, (pending->n + 1) * width), jitter = m->posterior.jitter;
    uint8_t *level = arena_new(&s->arena, uint8_t, pending->n + 1);
    if (!x || !level) return WN_ENOMEM;
    for (size_t i = pending->n; i-- > 0;) {
        if (s->n_sets > 1 && pending->level[i] != set) continue;
        wni_encode_unit(s->env->space, wni_history_config(s->history, pending->trial[i]), x + n * width);
        level[n++] = pending->level[i];
    }
    if (n) wni_gp_posterior_append(&m->posterior, x, curve_levels(s) ? level : NULL, n);
    wni_gp_posterior_targets(&m->posterior, r->y, r->n, columns, &s->rng);
    if (m->posterior.jitter != jitter) m->version = 0; /* the factor is not what the rows alone would give */
    return WN_OK;
}

/* ---- the acquisition ---- */

/* The best mean there is: over the rows at the level asked for one process, over the best of each level for
 * several: asking for the mean of all would cost as much as all else. */
static wn_status find_incumbents(struct gp_search *s, struct ei *ei, double *incumbent)
{
    const struct gp_member *member = ei->members;
    const struct gp_posterior *p = member->posterior;
    double *means = arena_new(&s->arena, double, p->n + 1);
    if (!means) return WN_ENOMEM;
    for (size_t c = 0; c < ei->n_columns; c++) {
        double best = INFINITY;
        wni_gp_row_means(p, s->rows[0].y, s->rows[0].n, c, means);
        for (size_t i = 0; i < p->n; i++)
            if (p->level[i] == member->level) best = fmin(best, means[i]);
        incumbent[c] = best;
    }
    return WN_OK;
}

/* The rows with the lowest values, INCUMBENTS at most, one after the other. */
static const double *best_rows(struct gp_search *s, const struct gp_rows *r, size_t *n)
{
    size_t width = s->env->space->unit_width;
    double *x = arena_new(&s->arena, double, INCUMBENTS *width);
    uint32_t *order = arena_new(&s->arena, uint32_t, 2 * r->n + 1);
    if (!x || !order) return NULL;
    wni_argsort(r->value, r->n, order, order + r->n);
    *n = r->n < INCUMBENTS ? r->n : INCUMBENTS;
    for (size_t i = 0; i < *n; i++)
        memcpy(x + i * width, r->x + order[i] * width, width * sizeof *x);
    return x;
}

static wn_status find_ensemble_incumbents(struct gp_search *s, struct ei *ei, double *incumbent)
{
    double *means = arena_new(&s->arena, double, INCUMBENTS * ei->n_columns);
    if (!means) return WN_ENOMEM;
    for (size_t c = 0; c < ei->n_columns; c++)
        incumbent[c] = INFINITY;
    for (size_t k = 0; k < s->n_sets; k++) {
        size_t n;
        const double *x = best_rows(s, &s->rows[k], &n);
        if (!x) return WN_ENOMEM;
        wni_ei_predict(ei, x, n, means, NULL);
        for (size_t i = 0; i < n * ei->n_columns; i++)
            incumbent[i % ei->n_columns] = fmin(incumbent[i % ei->n_columns], means[i]);
    }
    return WN_OK;
}

static wn_status acquire(struct gp_search *s, double *config, bool *found)
{
    struct gp_member members[GP_SETS_MAX] = {{.posterior = &s->models[0].posterior, .weight = 1}};
    size_t n_members = 1;
    struct ei ei;
    double *incumbent = arena_new(&s->arena, double, (size_t)s->fantasies);
    if (!incumbent || (s->kind->choose && s->kind->choose(s, members, &n_members)) ||
        wni_ei_init(&ei, members, n_members, incumbent, s->margin, &s->arena))
        return WN_ENOMEM;
    if ((s->n_sets > 1 ? find_ensemble_incumbents : find_incumbents)(s, &ei, incumbent)) return WN_ENOMEM;
    return wni_gp_maximise(s, &ei, config, found);
}

/* ---- the suggestion ---- */

static wn_status propose(struct gp_search *s, double *config, bool *found)
{
    struct pending pending;
    size_t conditioned = 0;
    wn_status st = update_fit(s);
    find_pending(s, &pending);
    for (size_t k = 0; k < s->n_sets && !st; k++)
        st = update_model(s, &s->models[k], &s->rows[k], s->theta + k * slots(s));
    if (!st && s->kind->prepare) st = s->kind->prepare(s);
    size_t columns = pending.n ? (size_t)s->fantasies : 1;
    for (; conditioned < s->n_sets && !st; conditioned++)
        st = condition(s, conditioned, &pending, columns);
    if (!st) st = acquire(s, config, found);
    while (conditioned-- > 0) /* pending rows are for this suggestion only */
        wni_gp_posterior_cut(&s->models[conditioned].posterior, s->rows[conditioned].n);
    return st;
}

wn_status wni_gp_search_suggest(void *self, const struct history *h, uint32_t trial, double *config,
                                struct err *err)
{
    struct gp_search *s = self;
    size_t n = 0;
    bool found = false;
    s->history = h;
    s->rng = wni_rng_stream(s->env->seed, trial, STREAM_SEARCH);
    wni_arena_reset(&s->arena);
    if (s->env->space->unit_width == 0) return wni_search_random(s->env, h, trial, config);
    bool scheduled = s->count >= (uint64_t)s->refit_from;
    if (wni_gp_gather(s, s->entries, s->n_entries, scheduled ? s->n_base : s->n_entries, true, s->rows))
        return wni_fail_memory(err);
    for (size_t k = 0; k < s->n_sets; k++)
        n += s->rows[k].n;
    if (n < (size_t)s->initial || wni_rng_uniform(&s->rng) < s->random)
        return wni_search_random(s->env, h, trial, config);
    if (propose(s, config, &found)) return wni_fail_memory(err);
    return found ? WN_OK : wni_search_random(s->env, h, trial, config);
}

/* ---- for people ---- */

void wni_gp_search_describe(const void *self, struct buf *out)
{
    const struct gp_search *s = self;
    size_t width = s->env->space->unit_width, n = 0;
    double scale[GP_SETS_MAX];
    if (!s->fitted_at) return;
    for (size_t k = 0; k < s->n_sets; k++) {
        n += s->rows[k].n;
        scale[k] = wni_exp(s->theta[k * slots(s) + wni_gp_slot_scale(width)]);
    }
    wni_buf_printf(out, "{\"fitted\": %zu, \"noise\": ", n);
    wni_buf_json_double(out, wni_exp(s->theta[wni_gp_slot_noise(width)]));
    wni_buf_puts(out, ", \"bandwidth\": ");
    for (size_t d = 0; d < width; d++) {
        wni_buf_puts(out, d ? ", " : "[");
        wni_buf_json_double(out, wni_exp(-s->theta[d]));
    }
    wni_buf_puts(out, "], \"scale\": ");
    wni_buf_json_doubles(out, scale, s->n_sets);
    if (s->kind->describe) s->kind->describe(s, out);
    wni_buf_putc(out, '}');
}
