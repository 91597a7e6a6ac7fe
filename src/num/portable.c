/* portable.c -- how the functions of portable.h are computed.
 *
 * The common plan: bring the argument near a table point so that what remains is tiny, keep the table value
 * and the remainder as exact head and small tail, and let a short Taylor polynomial handle the tail. Rounding
 * errors then happen in a quantity 2^-8 or less of the result, so the last addition is nearly the only one
 * that counts.
 *
 *   exp    x = n ln2/128 + r:       2^(n/128) from a table, e^r - 1 by its series           |r| < 2^-8.5
 *   log    x = 2^k c (1 + r):       log c from a table for c = i/128, log(1 + r) by series  |r| < 2^-7.5
 *   sin    x = n pi/2 + r:          r from integer arithmetic, exact for all x; series      |r| <= pi/4
 *   erfc   exp(-x^2) * polynomial:  piecewise on [1/2, 4), in 1/x^2 beyond
 *
 * The reduction with exactly representable steps is due to Cody and Waite (Software Manual for the Elementary
 * Functions, 1980), the use of tables to Tang (ACM TOMS 15, 1989, and 16, 1990), reduction by a long 2/pi to
 * Payne and Hanek (1983). Where we differ: exp, log and sin need no fused multiply-add and no division, and
 * log and sin work with remainders that are exact by construction instead of corrected afterwards.
 * tools/gen-num-tables makes the tables. */
#include "num/portable.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "num/portable_tables.h"

#ifdef __FAST_MATH__
#error "num/portable.c defines results to the bit: do not build it with -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "needs double arithmetic without excess precision");
_Static_assert(DBL_MANT_DIG == 53 && DBL_MAX_EXP == 1024, "needs IEEE 754 binary64");

static inline uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline double from_bits(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static inline double pow2(int k) /* -1022 <= k <= 1023 */
{
    return from_bits((uint64_t)(k + 1023) << 52);
}

/* v * 2^k for 1/2 < v < 4, rounding once when the result is subnormal. */
static inline double scale(double v, int k)
{
    if (k >= -1020 && k <= 1022) return v * pow2(k);
    if (k > 0) return v * pow2(k - 2) * 4.0;
    return v * pow2(k + 64) * 0x1p-64;
}

/* x rounded to a multiple of 2^(e-52), for |x| < 2^(e-1).  Adding and taking away 1.5 * 2^e leaves no lower
 * bits; it is rint() where e = 52, without a library call. */
#define ROUND_AT(x, e) (((x) + 0x1.8p##e) - 0x1.8p##e)

/* ---- exp ------------------------------------------------------------------------------------- */

#define EXP_OVERFLOW  0x1.62e42fefa39efp+9    /* the largest double whose exponential is finite */
#define EXP_UNDERFLOW (-0x1.74910d52d3051p+9) /* the smallest whose exponential rounds above 0 */

struct exp_parts {
    double head; /* 2^(i/128), in [1, 2) */
    double tail; /* |tail| < 0.006 */
    int k;       /* e^(x + lo) = 2^k (head + tail) */
};

static inline struct exp_parts exp_split(double x, double lo)
{
    double n = ROUND_AT(x * INV_LN2_128, 52);
    int64_t i = (int64_t)n;
    double r = ((x - n * LN2_128_HI) - n * LN2_128_LO) + lo;
    double p = r + r * r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120))));
    const double *t = exp_table[i & 127];
    return (struct exp_parts){.head = t[0], .tail = t[1] + t[0] * p, .k = (int)(i >> 7)};
}

/* e^(x + lo) for a correction |lo| < 2^-10. */
static inline double exp_sum(double x, double lo)
{
    if (isnan(x)) return x;
    if (x > EXP_OVERFLOW) return INFINITY;
    if (x < EXP_UNDERFLOW) return 0.0;
    struct exp_parts e = exp_split(x, lo);
    return scale(e.head + e.tail, e.k);
}

double wni_exp(double x)
{
    return exp_sum(x, 0.0);
}

double wni_exp_square(double x, double s)
{
    if (isnan(x)) return x;
    double h = from_bits(bits_of(x) & ~UINT64_C(0x7ffffff)); /* 26 bits: its square is exact */
    double square = s * (h * h);
    if (square > EXP_OVERFLOW) return INFINITY; /* also keeps infinities out of the correction */
    if (square < EXP_UNDERFLOW) return 0.0;
    return exp_sum(square, s * ((x - h) * (x + h)));
}

static double expm1_series(double x) /* |x| < 1/16 */
{
    double p = 1.0 / 720 + x * (1.0 / 5040 + x * (1.0 / 40320 + x * (1.0 / 362880 + x * (1.0 / 3628800))));
    return x + x * x * (1.0 / 2 + x * (1.0 / 6 + x * (1.0 / 24 + x * (1.0 / 120 + x * p))));
}

double wni_expm1(double x)
{
    if (fabs(x) < 0x1p-4) return fabs(x) < 0x1p-54 ? x : expm1_series(x);
    if (x < -38.0) return -1.0;
    if (!(x < 64.0)) return wni_exp(x); /* the 1 is far below the last place; NaN too */
    struct exp_parts e = exp_split(x, 0.0);
    double h = e.head * pow2(e.k), t = e.tail * pow2(e.k);
    double d = h - 1.0;
    double rest = h > 1.0 ? (h - d) - 1.0 : h - (d + 1.0); /* what that subtraction rounded off, exactly */
    return d + (rest + t);
}

/* ---- log ------------------------------------------------------------------------------------- */

#define SQRT_HALF_BITS UINT64_C(0x3fe6a09e667f3bcd)

/* log(x + lo) for finite x > 0 and |lo| at most half the spacing of doubles at x.
 *
 * c = i/128 has few bits, so z - c is exact and so is (z - c) - h c once h, the head of (z - c)/c, is cut to
 * 2^-42: the tail t is then right to its own last place although 1/c was rounded.  The heads k ln2, log c and
 * h are all multiples of 2^-42 below 2^10, hence they add up exactly. */
static inline double log_sum(double x, double lo)
{
    int k = 0;
    if (x < DBL_MIN) {
        x *= 0x1p54;
        k = -54;
    }
    uint64_t above = bits_of(x) - SQRT_HALF_BITS;
    int shift = (int)((int64_t)above >> 52);
    k += shift;
    double z = from_bits(bits_of(x) - ((uint64_t)(int64_t)shift << 52)); /* in [sqrt(1/2), sqrt 2) */
    int i = (int)(z * 128.0 + 0.5);
    const double *entry = log_table[i - LOG_FIRST];
    double c = i * (1.0 / 128), d = z - c;
    double h = ROUND_AT(d * entry[0], 10);
    if (lo != 0.0) lo = scale(1.0, -k) * lo;
    double t = ((d - h * c) + lo) * entry[0];
    double r = h + t;
    double p = -1.0 / 2 + r * (1.0 / 3 + r * (-1.0 / 4 + r * (1.0 / 5 + r * (-1.0 / 6 + r * (1.0 / 7)))));
    return (k * LN2_HI + entry[1] + h) + ((k * LN2_LO + entry[2]) + (t + r * r * p));
}

double wni_log(double x)
{
    if (!(x > 0.0)) return x == 0.0 ? -INFINITY : NAN;
    if (x > DBL_MAX) return x;
    return log_sum(x, 0.0);
}

double wni_log1p(double x)
{
    if (fabs(x) < 0x1p-54) return x;
    if (!(x > -1.0)) return x == -1.0 ? -INFINITY : NAN;
    if (x > DBL_MAX) return x;
    double s = 1.0 + x;
    double lost = fabs(x) <= 1.0 ? x - (s - 1.0) : 1.0 - (s - x); /* exact: Dekker's two-sum */
    return log_sum(s, lost);
}

/* ---- sine and cosine ------------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 u128;

struct angle {
    double r, tail; /* x = (quadrant + 4 m) pi/2 + r + tail, |r + tail| <= pi/4 (a hair more), tail below an
                       ulp of r */
    unsigned quadrant;
};

/* 64 binary places of two_over_pi from place `at` on. */
static inline uint64_t two_over_pi_at(unsigned at)
{
    unsigned word = at / 64, shift = at % 64;
    uint64_t top = two_over_pi[word] << shift;
    return shift == 0 ? top : top | two_over_pi[word + 1] >> (64 - shift);
}

/* Reduces finite |x| >= 1/2 in integers.  With x = m 2^e, x * 2/pi modulo 4 needs only the 192 places of 2/pi
 * that start two before the binary point once shifted by e: places further left are multiples of 4 after
 * multiplying by m.  The product keeps 190 binary places with an error below 2^-136.  No double comes nearer
 * to a multiple of pi/2 than about 2^-61, so at least 75 good bits remain of the fraction; 64 of them are
 * used. */
static struct angle reduce(double x)
{
    uint64_t b = bits_of(x);
    int e = (int)(b >> 52 & 0x7ff) - 1075;
    uint64_t m = (b & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    unsigned at = (unsigned)(62 + e); /* place 0 weighs 2^63; e >= -54 */
    u128 low = (u128)m * two_over_pi_at(at + 128);
    u128 mid = (u128)m * two_over_pi_at(at + 64) + (uint64_t)(low >> 64);
    uint64_t top = m * two_over_pi_at(at) + (uint64_t)(mid >> 64);

    unsigned quadrant = (unsigned)((top >> 61) + 1) >> 1; /* nearest, of 4 */
    uint64_t f2 = top - ((uint64_t)quadrant << 62), f1 = (uint64_t)mid, f0 = (uint64_t)low;
    bool negative = f2 >> 63;
    if (negative) { /* one's complement: off by 2^-190, far below what is used */
        f2 = ~f2;
        f1 = ~f1;
        f0 = ~f0;
    }
    int zeros = 0;
    if (f2 == 0) {
        zeros = 64;
        f2 = f1;
        f1 = f0;
    }
    int shift = __builtin_clzll(f2 | 1);
    zeros += shift;
    if (shift) f2 = f2 << shift | f1 >> (64 - shift);

    u128 product = (u128)f2 * HALF_PI_63; /* |r| = product * 2^(-62 - zeros) * 2^-63 */
    uint64_t hi = (uint64_t)(product >> 64), lo = (uint64_t)product;
    double unit = pow2(-61 - zeros + 11);
    if (negative != (b >> 63 != 0)) unit = -unit;
    return (struct angle){
        .r = (double)(hi >> 11) * unit,
        .tail = (double)((hi & 0x7ff) << 42 | lo >> 22) * (unit * 0x1p-53),
        .quadrant = b >> 63 ? -quadrant & 3 : quadrant & 3,
    };
}

static double sin_series(double r, double tail)
{
    double q = r * r;
    double p = 1.0 / 362880 - q * (1.0 / 39916800 -
                                   q * (1.0 / 6227020800 - q * (1.0 / 1307674368000 - q / 355687428096000)));
    p = -1.0 / 6 + q * (1.0 / 120 - q * (1.0 / 5040 - q * p));
    return r + (tail * (1.0 - 0.5 * q) + r * q * p);
}

static double cos_series(double r, double tail)
{
    double q = r * r, half = 0.5 * q, w = 1.0 - half;
    double p =
        1.0 / 3628800 -
        q * (1.0 / 479001600 - q * (1.0 / 87178291200 - q * (1.0 / 20922789888000 - q / 6402373705728000)));
    p = 1.0 / 24 - q * (1.0 / 720 - q * (1.0 / 40320 - q * p));
    return w + (((1.0 - w) - half) + (q * q * p - r * tail));
}

double wni_sin(double x)
{
    if (!(fabs(x) <= DBL_MAX)) return NAN;
    if (fabs(x) < 0.5) return fabs(x) < 0x1p-27 ? x : sin_series(x, 0.0);
    struct angle a = reduce(x);
    double v = a.quadrant & 1 ? cos_series(a.r, a.tail) : sin_series(a.r, a.tail);
    return a.quadrant & 2 ? -v : v;
}

double wni_cos(double x)
{
    if (!(fabs(x) <= DBL_MAX)) return NAN;
    if (fabs(x) < 0.5) return cos_series(x, 0.0);
    struct angle a = reduce(x);
    double v = a.quadrant & 1 ? -sin_series(a.r, a.tail) : cos_series(a.r, a.tail);
    return a.quadrant & 2 ? -v : v;
}

/* ---- tanh ------------------------------------------------------------------------------------ */

double wni_tanh(double x)
{
    double a = fabs(x), y;
    if (!(a >= 0x1p-28)) return x; /* NaN too */
    if (a > 20.0) {
        y = 1.0;
    } else {
        double t = wni_expm1(2.0 * a);
        y = a < 0.55 ? t / (t + 2.0) : 1.0 - 2.0 / (t + 2.0); /* each where it loses less */
    }
    return x < 0.0 ? -y : y;
}

/* ---- error functions ------------------------------------------------------------------------- */

static inline double polynomial(const double *c, int terms, double x)
{
    double y = c[terms - 1];
    for (int k = terms - 2; k >= 0; k--)
        y = y * x + c[k];
    return y;
}

static inline double erf_small(double x) /* |x| < 1/2 */
{
    return x + x * polynomial(erf_series, ERF_TERMS, x * x);
}

static double erfcx_tail(double x) /* x >= 1/2 */
{
    if (x >= 4.0) return polynomial(erfcx_far, ERFCX_TERMS, 32.0 / (x * x) - 1.0) / x;
    int i = (int)(2.0 * x) - 1;
    return polynomial(erfcx_near[i], ERFCX_TERMS, x - (0.5 * i + 0.75));
}

double wni_erfcx(double x)
{
    if (x >= 0.5) return erfcx_tail(x);
    if (isnan(x)) return x;
    double e = wni_exp_square(x, 1.0);
    return x > -0.5 ? e * (1.0 - erf_small(x)) : 2.0 * e - erfcx_tail(-x);
}

double wni_erfc(double x)
{
    if (fabs(x) < 0.5) return 1.0 - erf_small(x);
    if (isnan(x)) return x;
    double y = fabs(x) > 28.0 ? 0.0 : wni_exp_square(x, -1.0) * erfcx_tail(fabs(x));
    return x < 0.0 ? 2.0 - y : y;
}

double wni_erf(double x)
{
    if (fabs(x) < 0.5) return erf_small(x);
    if (isnan(x)) return x;
    double y = fabs(x) > 6.0 ? 1.0 : 1.0 - wni_exp_square(x, -1.0) * erfcx_tail(fabs(x));
    return x < 0.0 ? -y : y;
}
