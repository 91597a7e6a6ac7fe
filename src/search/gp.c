/* gp.c -- the searcher `gp`: Bayesian optimisation with a Gaussian process and expected improvement (Snoek,
 * Larochelle, Adams: "Practical Bayesian optimization of machine learning algorithms", NeurIPS 2012), with
 * the priors and bounds of Syne Tune's `bayesopt`, which the paper compares with.
 *
 * Rows are observations of trials (search.h): under a scheduler that stops early, last values.  A suggestion
 * with n rows, d columns, m candidates costs O(n^2 (m + d)) and, when hyperparameters are fitted, about 100
 * times O(n^3) for at most `fit_rows` of them. */
#include "search/gp_common.h"

static const struct gp_kind gp_kind = {.levels = false};

static const struct opt_def gp_opts[] = {GP_OPTIONS(3, GP_STANDARD, 1000), OPT_END};

static wn_status init(void *self, const struct search_env *env, struct err *err)
{
    return wni_gp_search_init(self, &gp_kind, env, err);
}

const struct searcher_ops wni_searcher_gp = {
    .name = "gp",
    .summary = "expected improvement of a Gaussian process, with fantasies of pending trials",
    .state_size = sizeof(struct gp_search),
    .opts = gp_opts,
    .init = init,
    .suggest = wni_gp_search_suggest,
    .observe = wni_gp_search_observe,
    .describe = wni_gp_search_describe,
    .release = wni_gp_search_release,
};
