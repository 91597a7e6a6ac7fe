/* bohb.c -- the model of BOHB (Falkner, Klein, Hutter: "BOHB: Robust and Efficient Hyperparameter
 * Optimization at Scale", ICML 2018): the densities of `tpe`, fitted to one level of the scheduler.
 *
 * Values at different resources do not compare, so the model sees those of one level only (levels.h): the
 * highest that has `enough` of them.  More and more trials reach the higher levels, and the model moves up
 * with them.  Before any level has enough it is the one with the most, as soon as that makes a model at all.
 */
#include "search/density.h"
#include "search/levels.h"

#include <math.h>

struct bohb {
    struct density density; /* first: its options are ours */
    double enough;          /* option */
    struct level_values levels;
};

static const struct opt_def bohb_opts[] = {
    DENSITY_OPTIONS,
    OPT_REAL(struct bohb, enough, 2, 0.01, 1000,
             "values that make the model move up to a level, times parameters + 1"),
    OPT_END,
};

static wn_status init(void *self, const struct search_env *env, struct err *err)
{
    struct bohb *b = self;
    wni_level_values_init(&b->levels, env);
    return wni_density_init(&b->density, env, err);
}

/* Fills in the values of the level to learn from; returns how many. */
static size_t choose_level(const struct bohb *b, const struct history *h, uint32_t *trials, double *values)
{
    size_t level = 0, most = 0, enough = (size_t)ceil(b->enough * (double)(b->density.d + 1));
    for (size_t k = b->levels.n; k-- > 0;) {
        size_t n = wni_level_values_get(&b->levels, h, k, trials, values);
        if (n >= enough) return n;
        if (n <= most) continue;
        level = k;
        most = n;
    }
    return wni_level_values_get(&b->levels, h, level, trials, values);
}

static wn_status suggest(void *self, const struct history *h, uint32_t trial, double *config, struct err *err)
{
    struct bohb *b = self;
    struct density *s = &b->density;
    wni_arena_reset(&s->arena);
    wn_status st = wni_level_values_update(&b->levels, h, err);
    if (st) return st;
    uint32_t *trials = arena_new(&s->arena, uint32_t, h->n_trials);
    double *values = arena_new(&s->arena, double, h->n_trials);
    if (!trials || !values) return wni_fail_memory(err);
    size_t n = choose_level(b, h, trials, values);
    return wni_density_propose(s, h, trial, trials, values, n, config, err);
}

static void release(void *self)
{
    struct bohb *b = self;
    wni_level_values_release(&b->levels);
    wni_density_release(&b->density);
}

const struct searcher_ops wni_searcher_bohb = {
    .name = "bohb",
    .summary = "densities of good and bad trials at the highest level that has enough (BOHB)",
    .state_size = sizeof(struct bohb),
    .opts = bohb_opts,
    .init = init,
    .suggest = suggest,
    .release = release,
};
