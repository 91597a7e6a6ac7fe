/* one_epoch.c -- train everybody for one epoch and only the best few to the end (Egele, Guyon, Yan,
 * Balaprakash: "Is One Epoch All You Need For Multi-Fidelity Hyperparameter Optimization?", ESANN 2023), a
 * baseline that successive halving finds hard to beat.
 *
 * The paper trains all configurations of a fixed budget to r_min, then the best three of them to r_max.  Here
 * nobody knows when the budget will end, so the same is kept true at every moment: a trial that arrives at
 * r_min goes on if it is among the best `finish` of all that have arrived there, and is stopped otherwise.
 * Nothing is lost by deciding at once: whoever is not among the best few now will not be later, when more
 * have arrived.  So there is nothing to pause, no checkpoint is needed, no worker waits, and whenever the
 * study is ended the best few have been trained to the end, or are being trained.
 *
 * Of n trials in random order about finish (1 + ln(n / finish)) are trained to the end: 56 of 1,000.  The
 * paper finishes 3 of a few hundred.  With budgets of some thousand epochs that leaves too much to one noisy
 * epoch, and 10 to 30 are better on every table at hand (docs/manual/methods/one-epoch.md), hence the
 * default.
 *
 * What workers do in practice:
 *   - the first report at or beyond r_min counts, wherever it is;
 *   - a tie with the last of the best few is stopped: the earlier arrival keeps its place, so that few stay
 * few;
 *   - one of the best few that fails, times out, is lost or cancelled before its end makes room for another;
 *   - a trial that was told to stop or to go on gets the same answer again.
 *
 * O(finish) for an arrival, O(1) for any other report; a byte per trial. */
#include "sched/sched.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum standing {
    RACING,
    FINISHING,
    OUT
}; /* on its way to r_min; one of the best few; told to stop, or over */

struct place {
    double value; /* at r_min */
    uint32_t trial;
};

struct one_epoch {
    int finish; /* option */
    const struct sched_env *env;
    struct place *best; /* best first; of equals the earlier */
    size_t n_best;
    uint8_t *standing; /* by trial */
    size_t standing_cap;
};

static const struct opt_def one_epoch_opts[] = {
    OPT_INT(struct one_epoch, finish, 10, 1, 100000, "how many of the best are trained to the end"),
    OPT_END,
};

static wn_status init(void *self, const struct sched_env *env, struct err *err)
{
    struct one_epoch *s = self;
    s->env = env;
    s->best = wni_new(struct place, (size_t)s->finish);
    return s->best ? WN_OK : wni_fail_memory(err);
}

static void release(void *self)
{
    struct one_epoch *s = self;
    free(s->best);
    free(s->standing);
}

static wn_status reserve(void *self, const struct history *h, const struct event *e, struct err *err)
{
    (void)h;
    struct one_epoch *s = self;
    if (e->kind != EVENT_ASK) return WN_OK;
    bool fine = wni_reserve((void **)&s->standing, &s->standing_cap, (size_t)e->trial + 1, 1);
    return fine ? WN_OK : wni_fail_memory(err);
}

/* ---- the best few ---- */

/* Takes a place among the best few; the last of them loses its own when they are full, but trains on. */
static bool take_place(struct one_epoch *s, uint32_t trial, double value)
{
    size_t at = s->n_best, full = (size_t)s->finish;
    if (at == full && value >= s->best[at - 1].value) return false;
    if (at < full)
        s->n_best++;
    else
        at--;
    for (; at > 0 && s->best[at - 1].value > value; at--)
        s->best[at] = s->best[at - 1];
    s->best[at] = (struct place){value, trial};
    return true;
}

static void give_up_place(struct one_epoch *s, uint32_t trial)
{
    for (size_t i = 0; i < s->n_best; i++) {
        if (s->best[i].trial != trial) continue;
        s->n_best--;
        memmove(&s->best[i], &s->best[i + 1], (s->n_best - i) * sizeof *s->best);
        return;
    }
}

/* ---- events ---- */

static wn_decision on_report(struct one_epoch *s, const struct event *e)
{
    uint8_t *standing = &s->standing[e->trial];
    if (!isfinite(e->value)) {
        give_up_place(s, e->trial);
        *standing = OUT;
    }
    if (*standing == RACING && e->resource >= s->env->min_resource)
        *standing = take_place(s, e->trial, e->value) ? FINISHING : OUT;
    return *standing == OUT || e->resource >= s->env->max_resource ? WN_STOP : WN_CONTINUE;
}

static wn_decision observe(void *self, const struct history *h, const struct event *e)
{
    (void)h;
    struct one_epoch *s = self;
    if (e->kind == EVENT_REPORT) return on_report(s, e);
    if (e->kind == EVENT_ASK) s->standing[e->trial] = RACING;
    bool broken =
        e->state == WN_FAILED || e->state == WN_TIMEOUT || e->state == WN_LOST || e->state == WN_CANCELLED;
    if (e->kind == EVENT_FINISH && broken) give_up_place(s, e->trial);
    return WN_CONTINUE;
}

const struct scheduler_ops wni_scheduler_one_epoch = {
    .name = "one-epoch",
    .summary = "trains everybody to the smallest resource and only the best few to the end",
    .state_size = sizeof(struct one_epoch),
    .opts = one_epoch_opts,
    .stops_early = true,
    .init = init,
    .reserve = reserve,
    .observe = observe,
    .release = release,
};
