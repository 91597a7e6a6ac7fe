/* decimal.c -- rounds doubles to decimals.
 *
 * A double has more digits than anybody wants in a command line, and an encoding that goes through logarithms
 * loses the last few of them.  Rounding to n / 10^k with n < 10^15 gives the double nearest to that decimal
 * (one correctly rounded division), which prints short and survives an encoding error of a few units in the
 * last place.  It is idempotent because n / 10^k times 10^k is within 2 ulp of n, a quarter at most, so
 * rint() finds n again. */
#include "core/decimal.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXACT_POWER = 22, LARGEST_EXACT_DIGITS = 15 };

static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* The double nearest to 10^k. */
static double power_of_ten(int k)
{
    if (k >= 0 && k <= EXACT_POWER) return powers[k];
    if (k < 0 && -k <= EXACT_POWER) return 1 / powers[-k];
    char text[WNI_NUMBER_MAX];
    snprintf(text, sizeof text, "1e%d", k);
    return strtod(text, NULL);
}

/* The e with 10^e <= x < 10^(e+1), x > 0. */
static int decimal_exponent(double x)
{
    int binary;
    frexp(x, &binary); /* x = m 2^binary, m in [0.5, 1) */
    int e = (int)floor((binary - 1) * 0.30102999566398120);
    return x >= power_of_ten(e + 1) ? e + 1 : e; /* 2^(binary-1) may be in the decade below x's */
}

double wni_decimal_significant(double x)
{
    int places = DECIMAL_DIGITS - 1 - decimal_exponent(x);
    if (abs(places) <= EXACT_POWER) return wni_decimal_round(x, places);
    char text[WNI_NUMBER_MAX]; /* far out: let the library's exact conversion do it */
    snprintf(text, sizeof text, "%.*e", DECIMAL_DIGITS - 1, x);
    return strtod(text, NULL);
}

int wni_decimal_places(double span, double largest)
{
    int wanted = DECIMAL_DIGITS - decimal_exponent(span);
    int possible = LARGEST_EXACT_DIGITS - 1 - decimal_exponent(largest);
    return wanted < possible ? wanted : possible;
}

double wni_decimal_round(double x, int places)
{
    if (places >= 0 && places <= EXACT_POWER) return rint(x * powers[places]) / powers[places];
    if (places < 0 && -places <= EXACT_POWER) return rint(x / powers[-places]) * powers[-places];
    double power = power_of_ten(abs(places)); /* not exact, so only good for finding n */
    double n = rint(places > 0 ? x * power : x / power);
    char text[WNI_NUMBER_MAX];
    snprintf(text, sizeof text, "%.0fe%d", n, -places);
    return strtod(text, NULL);
}
