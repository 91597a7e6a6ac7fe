/* forest.h -- boosted trees over binned columns, and their predictions.
 *
 * Trees are complete: depth d has 2^d - 1 splits in heap order and 2^d leaves.  A node that was not worth
 * splitting sends everything to the left (no code is above 255), so all trees have one shape and walking one
 * has no branch that depends on the data. */
#ifndef WNI_SURROGATE_FOREST_H
#define WNI_SURROGATE_FOREST_H

#include "surrogate/bins.h"

enum { FOREST_DEPTH_MAX = 8, FOREST_NO_SPLIT = 255 };

struct forest {
    int n_trees, depth;
    double start;       /* prediction before the first tree */
    uint16_t *features; /* n_trees rows of 2^depth - 1 */
    uint8_t *cuts;      /* likewise: right iff code > cut */
    double *leaves;     /* n_trees rows of 2^depth, learning rate included */
};

wn_status wni_forest_init(struct forest *forest, int n_trees, int depth, struct arena *arena);

/* Which instructions to use; results are the same.  Picked once by wni_simd_pick(): the best the processor
 * has, unless the environment variable WINNOW_SIMD says none, avx2 or avx512. */
enum simd { SIMD_NONE, SIMD_AVX2, SIMD_AVX512 };
enum simd wni_simd_pick(void);
const char *wni_simd_name(enum simd simd);

/* Predictions for m rows given as codes (wni_bins_encode(); stride a multiple of BINS_BLOCK).  O(m trees
 * depth). */
void wni_forest_predict(const struct forest *forest, const uint8_t *codes, size_t stride, size_t m,
                        double *out, enum simd simd);

#endif
