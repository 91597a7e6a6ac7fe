/* portable.h -- elementary functions that give the same bits on every IEEE 754 machine.
 *
 * A libm may choose another code path where the processor has fused multiply-add, so exp() on one machine can
 * differ from exp() on the next in the last bit; a tuner that compares such values then proposes different
 * trials.  The functions here use only + - * / and integer operations on the bits, each of which IEEE 754
 * defines exactly.  They need double arithmetic without excess precision and without contraction
 * (-ffp-contract=off, never -ffast-math).
 *
 * Anything that influences a decision or an output uses these.  sqrt, fabs, floor, ceil, rint and fmod are
 * exact or correctly rounded in every libm and may be called directly.
 *
 * Errors are in units in the last place of the result (ulp); the bound is what tests/unit/test_portable.c
 * enforces and the measured maximum is in num/README.md.  NaN gives NaN, and no function touches errno. */
#ifndef WNI_NUM_PORTABLE_H
#define WNI_NUM_PORTABLE_H

/* e^x, below 0.6 ulp (1 ulp where the result is subnormal).  Overflows to inf above 709.78, underflows to 0
 * below -745.13. */
double wni_exp(double x);

/* e^x - 1, below 1 ulp: exact in the limit x -> 0, where wni_exp(x) - 1 loses every digit.  Keeps the sign of
 * zero. */
double wni_expm1(double x);

/* Natural logarithm, below 0.6 ulp, subnormal arguments included.  -inf at 0 of either sign, NaN below. */
double wni_log(double x);

/* log(1 + x), below 1 ulp.  -inf at -1, NaN below.  Keeps the sign of zero. */
double wni_log1p(double x);

/* Sine and cosine of x radians, below 1 ulp for every finite x, however large; NaN for infinities. */
double wni_sin(double x);
double wni_cos(double x);

/* Hyperbolic tangent, below 3 ulp. */
double wni_tanh(double x);

/* erf(x) = 2/sqrt(pi) * integral of exp(-t^2) from 0 to x, below 2 ulp. */
double wni_erf(double x);

/* 1 - erf(x) without the cancellation, below 4 ulp (relative error below 8e-16) down to 2^-1022, which is
 * passed at x = 26.54; beyond, results are subnormal and within 2 of their last places; 0 from 27.23. */
double wni_erfc(double x);

/* exp(x^2) erfc(x), below 4 ulp: a Gaussian tail without its exponential part, so that ratios and logarithms
 * of tails do not underflow.  About 1/(x sqrt(pi)) for large x, inf below -26.63. */
double wni_erfcx(double x);

/* exp(s x^2) below 1 ulp, for s a power of two or minus one (s = -0.5: the bell curve).  Rounding x^2 first
 * would cost x^2 ulp. */
double wni_exp_square(double x, double s);

#endif
