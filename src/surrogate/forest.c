/* forest.c -- storage of boosted trees, and their predictions with the best instructions at hand. */
#include "surrogate/forest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

wn_status wni_forest_init(struct forest *forest, int n_trees, int depth, struct arena *arena)
{
    assert(n_trees >= 0 && depth >= 1 && depth <= FOREST_DEPTH_MAX);
    size_t n_splits = ((size_t)1 << depth) - 1, n = (size_t)n_trees;
    *forest = (struct forest){.n_trees = n_trees, .depth = depth};
    forest->features = arena_new(arena, uint16_t, n * n_splits);
    forest->cuts = arena_new(arena, uint8_t, n * n_splits);
    forest->leaves = arena_new(arena, double, n *(n_splits + 1));
    return forest->features && forest->cuts && forest->leaves ? WN_OK : WN_ENOMEM;
}

/* ---- instruction sets ---- */

const char *wni_simd_name(enum simd simd)
{
    static const char *const names[] = {"none", "avx2", "avx512"};
    return names[simd];
}

static enum simd best_simd(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return SIMD_AVX512;
    if (__builtin_cpu_supports("avx2")) return SIMD_AVX2;
#endif
    return SIMD_NONE;
}

enum simd wni_simd_pick(void)
{
    enum simd best = best_simd();
    const char *wanted = getenv("WINNOW_SIMD");
    for (enum simd s = SIMD_NONE; wanted && s < best; s++)
        if (!strcmp(wanted, wni_simd_name(s))) return s;
    return best;
}

/* ---- prediction ---- */

typedef uint8_t byte_block __attribute__((vector_size(BINS_BLOCK)));

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#include "surrogate/forest_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET

#if defined(__x86_64__)
#define KERNEL_X86
#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2")))
#include "surrogate/forest_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_X86
#endif

static void predict_block(const struct forest *f, const uint8_t *block, size_t stride, double *sums,
                          enum simd simd)
{
#if defined(__x86_64__)
    if (simd >= SIMD_AVX2) { /* the look-ups decide the speed: 512 bits would not help */
        predict_block_avx2(f, block, stride, sums);
        return;
    }
#endif
    (void)simd;
    predict_block_plain(f, block, stride, sums);
}

void wni_forest_predict(const struct forest *forest, const uint8_t *codes, size_t stride, size_t m,
                        double *out, enum simd simd)
{
    assert(stride % BINS_BLOCK == 0 && m <= stride);
    for (size_t at = 0; at < m; at += BINS_BLOCK) {
        double sums[BINS_BLOCK];
        size_t n = m - at < BINS_BLOCK ? m - at : BINS_BLOCK;
        predict_block(forest, codes + at, stride, sums, simd);
        memcpy(out + at, sums, n * sizeof *sums);
    }
}
