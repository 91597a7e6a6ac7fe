/* matern.c -- the kernel's vector code, for the best instructions at hand. */
#include "surrogate/matern.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#define EXP_LEAST (-708.0) /* beyond, results would be subnormal */

#if defined(__x86_64__)
#include <immintrin.h>

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#define KERNEL_LANES   2
#define KERNEL_SQRT(x) ((lanes_plain)_mm_sqrt_pd((__m128d)(x)))
#include "surrogate/matern_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_LANES
#undef KERNEL_SQRT

#define KERNEL(name)   name##_avx2
#define KERNEL_TARGET  __attribute__((target("avx2")))
#define KERNEL_LANES   4
#define KERNEL_SQRT(x) ((lanes_avx2)_mm256_sqrt_pd((__m256d)(x)))
#include "surrogate/matern_kernel.inc"

#else

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#define KERNEL_LANES   2
#define KERNEL_SQRT(x) ((lanes_plain){sqrt((x)[0]), sqrt((x)[1])})
#include "surrogate/matern_kernel.inc"

#endif

void wni_matern(const struct matern_points *points, size_t from, const double *point, double scale,
                double *value, double *slope, enum simd simd)
{
    assert(points->stride % MATERN_LANES == 0 && points->n <= points->stride);
    from = from / MATERN_LANES * MATERN_LANES;
#if defined(__x86_64__)
    if (simd >= SIMD_AVX2) { /* square roots and additions decide: 512 bits would not help much */
        matern_avx2(points, from, point, scale, value, slope);
        return;
    }
#endif
    (void)simd;
    matern_plain(points, from, point, scale, value, slope);
}

void wni_matern_of_squares(size_t from, size_t n, double scale, double *value, double *slope, enum simd simd)
{
    from = from / MATERN_LANES * MATERN_LANES;
#if defined(__x86_64__)
    if (simd >= SIMD_AVX2) {
        matern_of_squares_avx2(from, n, scale, value, slope);
        return;
    }
#endif
    (void)simd;
    matern_of_squares_plain(from, n, scale, value, slope);
}
