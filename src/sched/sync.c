/* sync.c -- synchronous successive halving (Jamieson, Talwalkar, AISTATS 2016) and Hyperband (Li, Jamieson,
 * DeSalvo, Rostamizadeh, Talwalkar, JMLR 2018).
 *
 * A bracket is a tournament: eta^K trials run to r_min, and when the last of them has arrived the best 1/eta
 * go on to the next rung, and so on up to r_max (core/levels.h; K rungs).  For r_min 1, r_max 9, eta 3:
 *
 *     9 trials to 1  ->  best 3 to 3  ->  best 1 to 9
 *
 * With `brackets` above 1 they are opened in Hyperband's order, the one with the most halving first, then
 * around again.
 *
 * Differs from the papers in that nobody idles: a worker with nothing to promote starts the next bracket, so
 * several are under way at once and each decides on its own members only.  Promoted trials go before new
 * ones, first decided first.  Trials join the newest bracket in the order of asking, enqueued ones too.  A
 * member that ends before its rung, for whatever reason, counts as worst there, and a promoted one that ends
 * before it is resumed counts as worst at the next: every rung fills up, so no bracket waits for ever.  One
 * that pauses before its rung is handed out again at once.
 *
 * A rung is sorted once when it is full, which is O(log n) per member; everything else is O(1).  Memory: 20
 * bytes per member of a bracket under way, 16 per trial. */
#include "sched/sched.h"

#include "base/mem.h"
#include "num/order.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { BRACKET_MAX = 1 << 24 }; /* members; keeps a wild r_max / r_min from asking for all memory */

enum standing {
    RACING, /* on its way to its bracket's rung, or past the last one */
    HELD,   /* at the rung: pausing or paused, until the rung is decided */
    CHOSEN, /* promoted, but not paused yet */
    READY,  /* paused and to be resumed: in the queue */
    OUT,    /* not promoted, or over */
};

struct member {
    uint32_t bracket; /* index into s->open */
    union {
        uint32_t place; /* HELD: number of its arrival at the rung */
        uint32_t ahead; /* READY: neighbours in the queue, TRIAL_NONE at its ends */
    };
    uint32_t behind;
    uint8_t standing;
};

struct bracket {
    double size;    /* n eta^-i: members of the current rung before rounding down (Li et al., Algorithm 1) */
    uint32_t quota; /* members of the current rung */
    uint32_t n;     /* those that have arrived */
    size_t k;       /* current rung */
    double *values; /* by arrival; NULL: no rung left to decide, its members run to the end */
    uint32_t *trials;       /* by arrival; TRIAL_NONE: failed or gone */
    uint32_t *order, *work; /* for sorting; these three share the allocation of `values` */
};

struct sync {
    double eta; /* options */
    int brackets;

    const struct sched_env *env;
    struct levels levels;
    size_t n_kinds; /* brackets in a round of Hyperband */

    struct bracket *open; /* every bracket so far; only the last takes new trials */
    size_t n_open, open_cap;
    uint32_t room;       /* how many it still takes */
    double *spare;       /* memory for the next one, made by reserve() */
    uint32_t spare_size; /* and the members it is for */

    struct member *members; /* by trial */
    size_t members_cap;
    uint32_t first, last; /* queue of READY trials */
};

static const struct opt_def sync_opts[] = {
    OPT_REAL(struct sync, eta, 3, 1.1, 1000,
             "reduction factor: one in eta goes on, to eta times the resource"),
    OPT_INT(struct sync, brackets, 1, 1, LEVELS_MAX + 1,
            "Hyperband brackets (at most one per rung and one without)"),
    OPT_END,
};

static wn_status init(void *self, const struct sched_env *env, struct err *err)
{
    struct sync *s = self;
    s->env = env;
    s->first = s->last = TRIAL_NONE;
    wn_status st = wni_levels_init(&s->levels, env->min_resource, env->max_resource, s->eta, err);
    if (st) return st;
    s->n_kinds = (size_t)s->brackets <= s->levels.n ? (size_t)s->brackets : s->levels.n + 1;
    for (size_t b = 0; b < s->n_kinds; b++) {
        double size = wni_bracket_size(&s->levels, b);
        if (size > BRACKET_MAX)
            return wni_fail(err, WN_EINVAL,
                            "eta %.15g gives a bracket of %.0f trials between %.15g and %.15g", s->eta, size,
                            env->min_resource, env->max_resource);
    }
    return WN_OK;
}

static void release(void *self)
{
    struct sync *s = self;
    for (size_t i = 0; i < s->n_open; i++)
        free(s->open[i].values);
    free(s->open);
    free(s->spare);
    free(s->members);
}

/* ---- the queue of trials to resume ---- */

static void enqueue(struct sync *s, uint32_t trial)
{
    struct member *m = &s->members[trial];
    m->standing = READY;
    m->ahead = s->last;
    m->behind = TRIAL_NONE;
    *(s->last == TRIAL_NONE ? &s->first : &s->members[s->last].behind) = trial;
    s->last = trial;
}

static void dequeue(struct sync *s, uint32_t trial)
{
    const struct member *m = &s->members[trial];
    *(m->ahead == TRIAL_NONE ? &s->first : &s->members[m->ahead].behind) = m->behind;
    *(m->behind == TRIAL_NONE ? &s->last : &s->members[m->behind].ahead) = m->ahead;
}

/* ---- brackets ---- */

static wn_status reserve(void *self, const struct history *h, const struct event *e, struct err *err)
{
    (void)h;
    struct sync *s = self;
    if (e->kind != EVENT_ASK) return WN_OK;
    if (!wni_reserve((void **)&s->members, &s->members_cap, (size_t)e->trial + 1, sizeof *s->members))
        return wni_fail_memory(err);
    if (s->room || s->spare) return WN_OK;
    if (!wni_reserve((void **)&s->open, &s->open_cap, s->n_open + 1, sizeof *s->open))
        return wni_fail_memory(err);
    s->spare_size = (uint32_t)wni_bracket_size(&s->levels, s->n_open % s->n_kinds);
    s->spare = malloc(wni_size_mul(s->spare_size, sizeof(double) + 3 * sizeof(uint32_t)));
    return s->spare ? WN_OK : wni_fail_memory(err);
}

/* Nothing to decide (any more): the members that are left run to the end. */
static void close_bracket(struct bracket *b)
{
    free(b->values);
    b->values = NULL;
}

static void open_bracket(struct sync *s)
{
    struct bracket *b = &s->open[s->n_open];
    uint32_t *words = (uint32_t *)(void *)(s->spare + s->spare_size);
    *b = (struct bracket){.size = s->spare_size, .quota = s->spare_size, .values = s->spare};
    b->k = s->n_open % s->n_kinds;
    b->trials = words;
    b->order = words + b->quota;
    b->work = b->order + b->quota;
    if (b->k == s->levels.n) close_bracket(b);
    s->n_open++;
    s->room = s->spare_size;
    s->spare = NULL;
}

static void add(struct bracket *b, double value, uint32_t trial)
{
    assert(b->n < b->quota);
    b->values[b->n] = value;
    b->trials[b->n++] = trial;
}

/* The rung is full: the best go on, ties to the earlier arrival, and those of them that are gone count as
 * worst at the next rung. */
static void decide(struct sync *s, const struct history *h, struct bracket *b)
{
    uint32_t promoted = (uint32_t)(b->size /= s->eta), gone = 0;
    wni_argsort(b->values, b->n, b->order, b->work);
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t trial = b->trials[b->order[i]];
        if (trial == TRIAL_NONE)
            gone += i < promoted;
        else if (i >= promoted)
            s->members[trial].standing = OUT;
        else if (h->trials[trial].state == WN_PAUSED)
            enqueue(s, trial);
        else
            s->members[trial].standing = CHOSEN;
    }
    b->k++;
    b->n = 0;
    b->quota = promoted;
    while (gone-- > 0)
        add(b, INFINITY, TRIAL_NONE);
}

/* A member has reached the current rung, or never will (TRIAL_NONE). */
static void arrive(struct sync *s, const struct history *h, struct bracket *b, double value, uint32_t trial)
{
    if (!b->values) return;
    if (trial != TRIAL_NONE) s->members[trial].place = b->n;
    add(b, value, trial);
    while (b->n == b->quota && b->k < s->levels.n && b->quota)
        decide(s, h, b);
    if (b->k == s->levels.n || !b->quota) close_bracket(b);
}

/* ---- events ---- */

static void on_ask(struct sync *s, uint32_t trial)
{
    if (!s->room) open_bracket(s);
    s->room--;
    s->members[trial] = (struct member){.bracket = (uint32_t)(s->n_open - 1), .standing = RACING};
}

static void on_racing_report(struct sync *s, const struct history *h, const struct event *e)
{
    struct member *m = &s->members[e->trial];
    struct bracket *b = &s->open[m->bracket];
    if (!isfinite(e->value)) {
        m->standing = OUT;
        arrive(s, h, b, INFINITY, TRIAL_NONE);
    } else if (b->values && wni_levels_reached(&s->levels, b->k, e->resource) > b->k) {
        m->standing = HELD;
        arrive(s, h, b, e->value, e->trial);
    }
}

/* The report that fills a rung is decided on at once, so it may be answered with STOP. */
static wn_decision on_report(struct sync *s, const struct history *h, const struct event *e)
{
    const struct member *m = &s->members[e->trial];
    if (m->standing == RACING) on_racing_report(s, h, e);
    if (m->standing == OUT || e->resource >= s->env->max_resource) return WN_STOP;
    return m->standing == RACING ? WN_CONTINUE : WN_PAUSE;
}

static void on_pause(struct sync *s, uint32_t trial)
{
    uint8_t standing = s->members[trial].standing;
    if (standing == RACING || standing == CHOSEN) enqueue(s, trial);
}

static void on_end(struct sync *s, const struct history *h, uint32_t trial)
{
    struct member *m = &s->members[trial];
    struct bracket *b = &s->open[m->bracket];
    uint8_t standing = m->standing;
    m->standing = OUT;
    if (standing == READY) dequeue(s, trial);
    if (standing == HELD)
        b->trials[m->place] = TRIAL_NONE; /* its value stays, its place at the next rung will be empty */
    else if (standing != OUT)
        arrive(s, h, b, INFINITY, TRIAL_NONE);
}

static void on_resume(struct sync *s, uint32_t trial)
{
    struct member *m = &s->members[trial];
    if (m->standing != READY) return; /* by its owner, not because we said so */
    dequeue(s, trial);
    m->standing = RACING;
}

static wn_decision observe(void *self, const struct history *h, const struct event *e)
{
    struct sync *s = self;
    switch (e->kind) {
    case EVENT_REPORT:
        return on_report(s, h, e);
    case EVENT_ASK:
        on_ask(s, e->trial);
        break;
    case EVENT_RESUME:
        on_resume(s, e->trial);
        break;
    case EVENT_FINISH:
        if (e->state == WN_PAUSED)
            on_pause(s, e->trial);
        else
            on_end(s, h, e->trial);
        break;
    case EVENT_ENQUEUE:
    case EVENT_SETUP:
        break;
    }
    return WN_CONTINUE;
}

static struct job next(const void *self, const struct history *h)
{
    const struct sync *s = self;
    if (s->first == TRIAL_NONE) return (struct job){.kind = JOB_NEW};
    assert(h->trials[s->first].state == WN_PAUSED);
    return (struct job){.kind = JOB_RESUME, .trial = s->first};
}

static const struct levels *levels(const void *self)
{
    return &((const struct sync *)self)->levels;
}

const struct scheduler_ops wni_scheduler_sync = {
    .name = "sync",
    .summary = "synchronous successive halving, with Hyperband brackets",
    .state_size = sizeof(struct sync),
    .opts = sync_opts,
    .stops_early = true,
    .init = init,
    .reserve = reserve,
    .observe = observe,
    .next = next,
    .levels = levels,
    .release = release,
};
