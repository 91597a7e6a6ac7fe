/* ht.c -- the searcher `ht`: Hyper-Tune's model (Li, Shen, Jiang, Zhang, Li, Liu, Zhang, Cui: "Hyper-Tune:
 * towards efficient hyper-parameter tuning at scale", VLDB 2022): a Gaussian process for every rung, combined
 * by how well each orders the trials of the highest rung that has enough of them.
 *
 * The processes share bandwidths and noise and have their own mean and scale.  Weights: draw joint samples of
 * each process at the trials of that rung and count, per draw, which process misorders the fewest pairs; the
 * rung's own process is judged by cross-validation, since it has seen the answers.  Expected improvement is
 * that of the weighted sum.
 *
 * Differs from the authors' code: weights that are dropped as too small are shared out among the others; the
 * variance of the sum (surrogate/ei.h); the best mean so far is looked for among the 32 best of each rung
 * (gp_common.c); processes are judged by the newest 128 trials of the top rung. */
#include "search/gp_common.h"

#include "surrogate/ranking.h"

#include <string.h>

enum { ENOUGH = 6, SAMPLES = 50, FOLDS = 5, RANKED_MAX = 128 };
static const double LEAST_WEIGHT = 0.01;

struct ht {
    struct gp_search search; /* first: the shared functions see only this */
    double weight[GP_SETS_MAX];
};

/* ---- how well a process orders the trials of the top rung ---- */

struct judged {
    const double *x, *y; /* the newest trials of that rung */
    size_t n;
    double *samples; /* SAMPLES rows of n */
    struct ranking ranking;
};

static void count_losses(struct judged *j, uint64_t losses[SAMPLES])
{
    for (size_t i = 0; i < SAMPLES; i++)
        losses[i] = wni_misordered(&j->ranking, j->samples + i * j->n);
}

/* What the process says of trials from .. to when it has not seen them; columns from .. to of the samples. */
static wn_status sample_fold(struct gp_search *s, const struct judged *j, const double *theta, size_t from,
                             size_t to)
{
    size_t width = s->env->space->unit_width, kept = j->n - (to - from), left = to - from;
    struct gp_posterior p;
    struct gp_data shape = {.width = width};
    double *x = arena_new(&s->arena, double, kept *width), *y = arena_new(&s->arena, double, kept);
    double *out = arena_new(&s->arena, double, SAMPLES *left);
    if (!x || !y || !out || wni_gp_posterior_init(&p, theta, &shape, kept, 1, &s->arena)) return WN_ENOMEM;
    memcpy(x, j->x, from * width * sizeof *x);
    memcpy(x + from * width, j->x + to * width, (j->n - to) * width * sizeof *x);
    memcpy(y, j->y, from * sizeof *y);
    memcpy(y + from, j->y + to, (j->n - to) * sizeof *y);
    wni_gp_posterior_factor(&p, x, NULL, kept);
    wni_gp_posterior_targets(&p, y, kept, 1, &s->rng);
    if (wni_gp_sample(&p, j->x + from * width, left, 0, SAMPLES, &s->rng, out, &s->arena)) return WN_ENOMEM;
    for (size_t i = 0; i < SAMPLES; i++)
        memcpy(j->samples + i * j->n + from, out + i * left, left * sizeof *out);
    return WN_OK;
}

static wn_status cross_validate(struct gp_search *s, const struct judged *j, const double *theta)
{
    size_t folds = j->n / 2 < FOLDS ? j->n / 2 : FOLDS;
    for (size_t k = 0; k < folds; k++)
        if (sample_fold(s, j, theta, j->n * k / folds, j->n * (k + 1) / folds)) return WN_ENOMEM;
    return WN_OK;
}

static wn_status judge(struct gp_search *s, struct judged *j, size_t set, size_t top,
                       uint64_t losses[SAMPLES])
{
    struct gp_posterior *p = &s->models[set].posterior;
    const struct gp_rows *r = &s->rows[set];
    wn_status st;
    if (set == top) {
        st = cross_validate(s, j, p->theta);
    } else {
        wni_gp_posterior_targets(p, r->y, r->n, 1, &s->rng);
        st = wni_gp_sample(p, j->x, j->n, 0, SAMPLES, &s->rng, j->samples, &s->arena);
    }
    if (!st) count_losses(j, losses);
    return st;
}

/* ---- weights ---- */

/* Shares of draws won; processes that tie for a draw win it all. */
static void share_out(double *weight, size_t n, uint64_t losses[][SAMPLES], const bool *used)
{
    double total = 0, kept = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        uint64_t least = UINT64_MAX;
        for (size_t k = 0; k < n; k++)
            if (used[k] && losses[k][i] < least) least = losses[k][i];
        for (size_t k = 0; k < n; k++)
            if (used[k] && losses[k][i] == least) weight[k]++, total++;
    }
    for (size_t k = 0; k < n; k++) {
        weight[k] = weight[k] > LEAST_WEIGHT * total ? weight[k] : 0;
        kept += weight[k];
    }
    for (size_t k = 0; k < n; k++)
        weight[k] /= kept;
}

static wn_status judge_all(struct ht *ht, size_t top)
{
    struct gp_search *s = &ht->search;
    const struct gp_rows *r = &s->rows[top];
    size_t n = r->n < RANKED_MAX ? r->n : RANKED_MAX, width = s->env->space->unit_width;
    uint64_t(*losses)[SAMPLES] = wni_arena_alloc(&s->arena, top + 1, sizeof *losses);
    bool used[GP_SETS_MAX] = {false};
    struct judged j = {.x = r->x + (r->n - n) * width, .y = r->y + (r->n - n), .n = n};
    j.samples = arena_new(&s->arena, double, SAMPLES *n);
    if (!losses || !j.samples || wni_ranking_init(&j.ranking, j.y, n, &s->arena)) return WN_ENOMEM;
    for (size_t k = 0; k <= top; k++) {
        used[k] = s->rows[k].n > 0;
        if (used[k] && judge(s, &j, k, top, losses[k])) return WN_ENOMEM;
    }
    share_out(ht->weight, top + 1, losses, used);
    return WN_OK;
}

static wn_status prepare(struct gp_search *s)
{
    struct ht *ht = (struct ht *)s;
    size_t lowest = 0, top = 0;
    memset(ht->weight, 0, sizeof ht->weight);
    while (s->rows[lowest].n == 0 && lowest + 1 < s->n_sets)
        lowest++;
    for (size_t k = 0; k < s->n_sets; k++)
        if (s->rows[k].n >= ENOUGH) top = k;
    if (top > lowest) return judge_all(ht, top);
    ht->weight[lowest] = 1;
    return WN_OK;
}

static wn_status choose(struct gp_search *s, struct gp_member *members, size_t *n_members)
{
    const struct ht *ht = (const struct ht *)s;
    *n_members = 0;
    for (size_t k = 0; k < s->n_sets; k++)
        if (ht->weight[k] > 0)
            members[(*n_members)++] = (struct gp_member){&s->models[k].posterior, ht->weight[k], 0};
    return WN_OK;
}

static void describe(const struct gp_search *s, struct buf *out)
{
    wni_buf_puts(out, ", \"weight\": ");
    wni_buf_json_doubles(out, ((const struct ht *)s)->weight, s->n_sets);
}

static const struct gp_kind ht_kind = {
    .levels = true, .divided = true, .prepare = prepare, .choose = choose, .describe = describe};

static const struct opt_def ht_opts[] = {GP_OPTIONS(6, GP_STANDARD, 500), OPT_END};

static wn_status init(void *self, const struct search_env *env, struct err *err)
{
    return wni_gp_search_init(self, &ht_kind, env, err);
}

const struct searcher_ops wni_searcher_ht = {
    .name = "ht",
    .summary = "a Gaussian process for each rung, weighted by ranking, as Hyper-Tune has it",
    .state_size = sizeof(struct ht),
    .opts = ht_opts,
    .init = init,
    .suggest = wni_gp_search_suggest,
    .observe = wni_gp_search_observe,
    .describe = wni_gp_search_describe,
    .release = wni_gp_search_release,
};
