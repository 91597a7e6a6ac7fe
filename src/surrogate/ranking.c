/* ranking.c -- counts misordered pairs one by one: with a few hundred values vector units do that faster than
 * any sort. */
#include "surrogate/ranking.h"

#include "num/order.h"

wn_status wni_ranking_init(struct ranking *r, const double *y, size_t n, struct arena *arena)
{
    r->n = n;
    r->order = arena_new(arena, uint32_t, 2 * n + 1);
    r->above = arena_new(arena, uint32_t, n + 1);
    r->sorted = arena_new(arena, double, n + 1);
    if (!r->order || !r->above || !r->sorted) return WN_ENOMEM;
    wni_argsort(y, n, r->order, r->order + n);
    for (size_t i = n; i-- > 0;) {
        bool tied = i + 1 < n && y[r->order[i]] == y[r->order[i + 1]];
        r->above[i] = tied ? r->above[i + 1] : (uint32_t)i + 1;
    }
    return WN_OK;
}

uint64_t wni_misordered(struct ranking *r, const double *f)
{
    int64_t pairs = 0;
    for (size_t i = 0; i < r->n; i++)
        r->sorted[i] = f[r->order[i]];
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = r->above[i]; j < r->n; j++)
            pairs += r->sorted[j] < r->sorted[i];
    return (uint64_t)pairs;
}
