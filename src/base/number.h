/* number.h -- numbers to text and back, the same in every locale.
 *
 * A library lives in programs that may have called setlocale(): printf would then write "0,5" into a command
 * line and strtod would stop at the point of "0.5".  These two always use the point. */
#ifndef WNI_BASE_NUMBER_H
#define WNI_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WNI_NUMBER_MAX = 32 };

/* The shortest of 15, 16 or 17 significant digits that reads back as x; "nan", "inf", "-inf" otherwise.
 * Returns the length.  Integers below 1e15 print without an exponent. */
size_t wni_format_double(double x, char out[WNI_NUMBER_MAX]);

/* The whole text must be one number (decimal or exponent form, inf and nan; no hexadecimal, no blanks).
 * Correctly rounded. */
bool wni_parse_double(const char *text, double *out);

/* The whole text must be one integer in decimal. */
bool wni_parse_int(const char *text, int64_t *out);

#endif
