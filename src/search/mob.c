/* mob.c -- the searcher `mob`: MOBSTER (Klein, Tiao, Lienart, Archambeau, Seeger: "Model-based asynchronous
 * hyperparameter and neural architecture search", 2020): one Gaussian process over configuration and resource
 * under asynchronous successive halving.
 *
 * Rows are values at the scheduler's levels; the kernel adds the exponential decay of learning curves to the
 * Matern kernel (surrogate/gp.h).  Expected improvement is asked at the highest level that has 3 values.
 * Running trials are fantasised at their next level.  Costs as in gp.c, with n the number of values.
 *
 * Differs from the authors' code: the incumbent is the best mean over what was or will be observed at that
 * level, not over all configurations; a refit is due after so many new values, not calls. */
#include "search/gp_common.h"

enum { ENOUGH = 3 };

static wn_status choose(struct gp_search *s, struct gp_member *members, size_t *n_members)
{
    size_t counts[GP_SETS_MAX] = {0}, at = 0;
    const struct gp_rows *r = &s->rows[0];
    for (size_t i = 0; i < r->n; i++)
        counts[r->level[i]]++;
    while (at + 1 < s->n_levels && counts[at] == 0)
        at++;
    for (size_t level = at; level < s->n_levels; level++)
        if (counts[level] >= ENOUGH) at = level;
    members[0] = (struct gp_member){&s->models[0].posterior, 1, s->n_levels ? at : 0};
    *n_members = 1;
    return WN_OK;
}

static const struct gp_kind mob_kind = {.levels = true, .choose = choose};

static const struct opt_def mob_opts[] = {GP_OPTIONS(6, GP_STANDARD, 500), OPT_END};

static wn_status init(void *self, const struct search_env *env, struct err *err)
{
    return wni_gp_search_init(self, &mob_kind, env, err);
}

const struct searcher_ops wni_searcher_mob = {
    .name = "mob",
    .summary = "one Gaussian process over configuration and resource, as MOBSTER has it",
    .state_size = sizeof(struct gp_search),
    .opts = mob_opts,
    .init = init,
    .suggest = wni_gp_search_suggest,
    .observe = wni_gp_search_observe,
    .describe = wni_gp_search_describe,
    .release = wni_gp_search_release,
};
