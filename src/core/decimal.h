/* decimal.h -- the decimal grids on which float parameters live (docs/adr/0003).
 *
 * Both roundings are monotone and idempotent, and give the double nearest to the decimal, so that it prints
 * short. */
#ifndef WNI_CORE_DECIMAL_H
#define WNI_CORE_DECIMAL_H

enum { DECIMAL_DIGITS = 12 };

/* x with 12 significant digits.  x >= 1e-300. */
double wni_decimal_significant(double x);

/* Places behind the point (negative: zeros before it) that give 12 digits below the leading one of `span`, a
 * range or a step; fewer where `largest`, the larger bound, is so large that doubles have no room for that
 * many (largest 10^places < 10^15).  1e-290 <= span, largest <= 1e300. */
int wni_decimal_places(double span, double largest);
/* x rounded to that many places; |x| 10^places < 10^15. */
double wni_decimal_round(double x, int places);

#endif
