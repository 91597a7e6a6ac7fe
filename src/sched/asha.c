/* asha.c -- asynchronous successive halving (Li, Jamieson, Rostamizadeh, Gonina, Ben-Tzur, Hardt, Recht,
 * Talwalkar: "A System for Massively Parallel Hyperparameter Tuning", MLSys 2020), and Hyperband over it.
 *
 * Trials are compared where they meet: at rungs of resource r_min eta^k (core/levels.h).  Nobody waits.
 *
 *   stopping    A trial that reaches a rung is added to it and goes on if its value is at most the quantile
 *               of the rung's values at the share that fits through, r_k / r_{k+1}.  Ties go on, so does the
 *               first.  No checkpoints.
 *   promotion   A trial that reaches a rung pauses.  A free worker takes, from the top rung down, the best
 *               paused trial that is among the best 1/eta of its rung and goes on with it; if there is none
 *               it starts a new one.
 *
 * With several brackets, trial by trial a bracket is drawn in proportion to the size Hyperband would begin
 * it with (Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar, JMLR 2018); each has rungs of its own.
 *
 * Differs from the paper: stopping is the variant of Klein, Tiao, Lienart, Archambeau, Seeger (2020), which
 * decides on arrival and never revises; its share at the last rung is r_k / r_max rather than 1/eta.  What
 * workers do in practice:
 *   - a report that jumps over rungs counts at the highest one it reached;
 *   - a trial that fails, runs out of time or is lost counts as worst at the first rung it has not reached,
 *     so that crashing early does not make a rung's survivors look better; cancelled trials do not count;
 *   - a trial has one answer per rung: reports after it was told to stop or pause get the same answer and
 *     change nothing.
 *
 * A report that reaches no rung costs one comparison, one that does O(log n); a trial takes 3 bytes
 * (promotion: 7) beside its entries in the rungs. */
#include "sched/sched.h"

#include "base/mem.h"
#include "core/streams.h"
#include "sched/rungs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum asha_type { STOPPING, PROMOTION };

enum standing {
    RACING,  /* on its way to rung `next` */
    HELD,    /* promotion: told to pause, not paused yet */
    WAITING, /* promotion: paused, may be promoted */
    OUT,     /* told to stop, or over */
};

struct track {
    uint8_t bracket;
    uint8_t next; /* lowest rung it has not been entered at */
    uint8_t standing;
};

struct asha {
    int type; /* options */
    double eta;
    int brackets;

    const struct sched_env *env;
    struct levels levels;
    size_t n_brackets;
    double up_to[LEVELS_MAX]; /* trials in this bracket and those before, per round of Hyperband */

    struct quantile_rung *cuts;        /* stopping: rows of levels.n, a row per bracket */
    struct promotion_rung *promotions; /* promotion: likewise */

    struct track *tracks; /* by trial */
    uint32_t *entries;    /* promotion: its number in rung next - 1 */
    size_t tracks_cap, entries_cap;
};

static const char *const types[] = {[STOPPING] = "stopping", [PROMOTION] = "promotion", NULL};

static const struct opt_def asha_opts[] = {
    OPT_CHOICE(struct asha, type, STOPPING, types,
               "stop trials at rungs, or pause them and promote the best"),
    OPT_REAL(struct asha, eta, 3, 1.1, 1000, "reduction factor: resource of a rung over the one before"),
    OPT_INT(struct asha, brackets, 1, 1, LEVELS_MAX, "Hyperband brackets (at most one per rung)"),
    OPT_END,
};

/* ---- rungs and brackets ---- */

static size_t rung_index(const struct asha *a, size_t bracket, size_t k)
{
    return bracket * a->levels.n + k;
}

static wn_status make_rungs(struct asha *a, struct err *err)
{
    size_t n = a->n_brackets * a->levels.n;
    if (a->type == STOPPING)
        a->cuts = wni_new(struct quantile_rung, n);
    else
        a->promotions = wni_new(struct promotion_rung, n);
    if (!a->cuts && !a->promotions) return wni_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        if (a->type == STOPPING)
            wni_quantile_rung_init(&a->cuts[i], wni_levels_share(&a->levels, i % a->levels.n));
        else
            wni_promotion_rung_init(&a->promotions[i], a->eta);
    return WN_OK;
}

static wn_status init(void *self, const struct sched_env *env, struct err *err)
{
    struct asha *a = self;
    a->env = env;
    wn_status st = wni_levels_init(&a->levels, env->min_resource, env->max_resource, a->eta, err);
    if (st) return st;
    a->n_brackets = (size_t)a->brackets < a->levels.n ? (size_t)a->brackets : a->levels.n;
    if (!a->n_brackets) a->n_brackets = 1;
    double sum = 0;
    for (size_t b = 0; b < a->n_brackets; b++)
        a->up_to[b] = sum += wni_bracket_size(&a->levels, b);
    return make_rungs(a, err);
}

static void release(void *self)
{
    struct asha *a = self;
    size_t n = a->n_brackets * a->levels.n;
    for (size_t i = 0; a->cuts && i < n; i++)
        wni_quantile_rung_release(&a->cuts[i]);
    for (size_t i = 0; a->promotions && i < n; i++)
        wni_promotion_rung_release(&a->promotions[i]);
    free(a->cuts);
    free(a->promotions);
    free(a->tracks);
    free(a->entries);
}

static size_t draw_bracket(const struct asha *a, uint32_t trial)
{
    if (a->n_brackets == 1) return 0;
    struct rng rng = wni_rng_stream(a->env->seed, trial, STREAM_BRACKET);
    double u = wni_rng_uniform(&rng) * a->up_to[a->n_brackets - 1];
    size_t b = 0;
    while (b + 1 < a->n_brackets && u >= a->up_to[b])
        b++;
    return b;
}

/* ---- events ---- */

/* The rung that the event adds an entry to, levels.n for none.  reserve() and observe() both ask, so they
 * agree. */
static size_t rung_entered(const struct asha *a, const struct event *e)
{
    const struct track *t = &a->tracks[e->trial];
    if (t->standing != RACING) return a->levels.n;
    if (e->kind == EVENT_REPORT) {
        size_t reached = wni_levels_reached(&a->levels, t->next, e->resource);
        if (reached > t->next) return reached - 1;
        return isfinite(e->value) ? a->levels.n : t->next;
    }
    bool failed = e->state == WN_FAILED || e->state == WN_TIMEOUT || e->state == WN_LOST;
    return failed ? t->next : a->levels.n;
}

static bool reserve_trial(struct asha *a, size_t n)
{
    return wni_reserve((void **)&a->tracks, &a->tracks_cap, n, sizeof *a->tracks) &&
           (a->type == STOPPING || wni_reserve((void **)&a->entries, &a->entries_cap, n, sizeof *a->entries));
}

static wn_status reserve(void *self, const struct history *h, const struct event *e, struct err *err)
{
    (void)h;
    struct asha *a = self;
    if (e->kind == EVENT_ASK) return reserve_trial(a, (size_t)e->trial + 1) ? WN_OK : wni_fail_memory(err);
    if (e->kind != EVENT_REPORT && e->kind != EVENT_FINISH) return WN_OK;
    size_t k = rung_entered(a, e);
    if (k == a->levels.n) return WN_OK;
    size_t i = rung_index(a, a->tracks[e->trial].bracket, k);
    return a->type == STOPPING ? wni_quantile_rung_reserve(&a->cuts[i], err)
                               : wni_promotion_rung_reserve(&a->promotions[i], err);
}

/* Adds the trial to rung k; a value of +inf is a failure. */
static wn_decision enter(struct asha *a, uint32_t trial, size_t k, double value)
{
    struct track *t = &a->tracks[trial];
    size_t i = rung_index(a, t->bracket, k);
    t->next = (uint8_t)(k + 1);
    if (a->type == STOPPING) {
        wni_quantile_rung_add(&a->cuts[i], value);
        return value <= wni_quantile_rung_cut(&a->cuts[i]) ? WN_CONTINUE : WN_STOP;
    }
    a->entries[trial] = wni_promotion_rung_add(&a->promotions[i], value, trial);
    return WN_PAUSE;
}

static wn_decision on_report(struct asha *a, const struct event *e)
{
    static const uint8_t standing[] = {[WN_CONTINUE] = RACING, [WN_STOP] = OUT, [WN_PAUSE] = HELD};
    struct track *t = &a->tracks[e->trial];
    if (t->standing != RACING) return t->standing == OUT ? WN_STOP : WN_PAUSE;
    bool over = !isfinite(e->value) || e->resource >= a->env->max_resource;
    wn_decision decision = WN_CONTINUE;
    size_t k = rung_entered(a, e);
    if (k < a->levels.n) decision = enter(a, e->trial, k, isfinite(e->value) ? e->value : INFINITY);
    if (over) decision = WN_STOP;
    t->standing = standing[decision];
    return decision;
}

/* The rung a promotion's trial stands at. */
static struct promotion_rung *rung_of(struct asha *a, uint32_t trial)
{
    const struct track *t = &a->tracks[trial];
    return &a->promotions[rung_index(a, t->bracket, t->next - 1u)];
}

/* A worker that was told to pause and given up as lost may still come back and say PAUSED: it stays HELD. */
static void on_finish(struct asha *a, const struct event *e)
{
    struct track *t = &a->tracks[e->trial];
    if (e->state == WN_PAUSED) {
        if (t->standing != HELD) return; /* of its own accord: only its owner can resume it */
        wni_promotion_rung_wait(rung_of(a, e->trial), a->entries[e->trial]);
        t->standing = WAITING;
        return;
    }
    if (t->standing == HELD && e->state == WN_LOST) return;
    size_t k = rung_entered(a, e);
    if (k < a->levels.n) enter(a, e->trial, k, INFINITY);
    if (t->standing == WAITING) wni_promotion_rung_leave(rung_of(a, e->trial), a->entries[e->trial]);
    t->standing = OUT;
}

static void on_resume(struct asha *a, uint32_t trial)
{
    struct track *t = &a->tracks[trial];
    if (t->standing != WAITING) return;
    wni_promotion_rung_leave(rung_of(a, trial), a->entries[trial]);
    t->standing = RACING;
}

static wn_decision observe(void *self, const struct history *h, const struct event *e)
{
    (void)h;
    struct asha *a = self;
    switch (e->kind) {
    case EVENT_REPORT:
        return on_report(a, e);
    case EVENT_ASK:
        a->tracks[e->trial].bracket = a->tracks[e->trial].next = (uint8_t)draw_bracket(a, e->trial);
        a->tracks[e->trial].standing = RACING;
        break;
    case EVENT_RESUME:
        on_resume(a, e->trial);
        break;
    case EVENT_FINISH:
        on_finish(a, e);
        break;
    case EVENT_ENQUEUE:
    case EVENT_SETUP:
        break;
    }
    return WN_CONTINUE;
}

/* From the top rung down, so that the most advanced candidate is first; in a rung, the more thorough halving
 * first. */
static struct job next(const void *self, const struct history *h)
{
    const struct asha *a = self;
    if (a->type == STOPPING) return (struct job){.kind = JOB_NEW};
    for (size_t k = a->levels.n; k-- > 0;)
        for (size_t b = 0; b < a->n_brackets && b <= k; b++) {
            uint32_t trial = wni_promotion_rung_best(&a->promotions[rung_index(a, b, k)]);
            if (trial == TRIAL_NONE) continue;
            assert(h->trials[trial].state == WN_PAUSED);
            return (struct job){.kind = JOB_RESUME, .trial = trial};
        }
    return (struct job){.kind = JOB_NEW};
}

static const struct levels *levels(const void *self)
{
    return &((const struct asha *)self)->levels;
}

const struct scheduler_ops wni_scheduler_asha = {
    .name = "asha",
    .summary = "asynchronous successive halving, stopping or promotion, with Hyperband brackets",
    .state_size = sizeof(struct asha),
    .opts = asha_opts,
    .stops_early = true,
    .init = init,
    .reserve = reserve,
    .observe = observe,
    .next = next,
    .levels = levels,
    .release = release,
};
