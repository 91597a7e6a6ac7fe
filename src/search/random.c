/* random.c -- random search: uniform in the declared scales, no configuration twice (Bergstra & Bengio, JMLR
 * 2012). */
#include "search/search.h"

struct random {
    const struct search_env *env;
};

static wn_status init(void *self, const struct search_env *env, struct err *err)
{
    (void)err;
    ((struct random *)self)->env = env;
    return WN_OK;
}

static wn_status suggest(void *self, const struct history *h, uint32_t trial, double *config, struct err *err)
{
    (void)err;
    return wni_search_random(((struct random *)self)->env, h, trial, config);
}

const struct searcher_ops wni_searcher_random = {
    .name = "random",
    .summary = "uniform in the declared scales, without repeats",
    .state_size = sizeof(struct random),
    .init = init,
    .suggest = suggest,
};
