/* number.c -- locale-proof conversion between doubles and text. */
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The decimal point of the process's locale; more than one byte in no locale that matters, so only such are
 * mended. */
static char locale_point(void)
{
    const char *point = localeconv()->decimal_point;
    return point[0] && !point[1] ? point[0] : '.';
}

static void swap_char(char *text, char from, char to)
{
    if (from == to) return;
    char *at = strchr(text, from);
    if (at) *at = to;
}

size_t wni_format_double(double x, char out[WNI_NUMBER_MAX])
{
    if (isnan(x)) return (size_t)snprintf(out, WNI_NUMBER_MAX, "nan");
    int n = 0;
    if (x == rint(x) && fabs(x) < 1e15) { /* the common case, and the fastest: epochs, units, counts */
        n = snprintf(out, WNI_NUMBER_MAX, "%lld", (long long)x);
        if (x == 0 && signbit(x)) n = snprintf(out, WNI_NUMBER_MAX, "-0");
        return (size_t)n;
    }
    for (int digits = 15; digits <= 17; digits++) {
        n = snprintf(out, WNI_NUMBER_MAX, "%.*g", digits, x);
        if (isinf(x) || strtod(out, NULL) == x) break;
    }
    swap_char(out, locale_point(), '.');
    return (size_t)n;
}

bool wni_parse_double(const char *text, double *out)
{
    const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    if (!isdigit((unsigned char)digits[0]) && digits[0] != '.' && strcmp(digits, "inf") &&
        strcmp(digits, "nan"))
        return false;
    if (strpbrk(text, "xXpP,")) return false;
    char point = locale_point();
    char copy[512], *end;
    size_t n = strlen(text);
    if (n >= sizeof copy) return false;
    memcpy(copy, text, n + 1);
    swap_char(copy, '.', point);
    *out = strtod(copy, &end);
    return end == copy + n;
}

bool wni_parse_int(const char *text, int64_t *out)
{
    const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    if (!isdigit((unsigned char)digits[0])) return false;
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || *end) return false;
    *out = value;
    return true;
}
