/* number.c -- locale-proof conversion between doubles and text. */
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINT_MAX = 8 }; /* bytes of a decimal point */

/* The decimal point of the process's locale: a comma for Germans, two bytes for Persians. */
static const char *locale_point(void)
{
    const char *point = nl_langinfo(RADIXCHAR);
    return *point ? point : ".";
}

/* Puts `to` in the place of the first `from`; `text` has room. */
static void replace_first(char *text, const char *from, const char *to)
{
    char *at = strstr(text, from);
    if (!at) return;
    size_t old = strlen(from), new = strlen(to);
    memmove(at + new, at + old, strlen(at + old) + 1);
    memcpy(at, to, new);
}

size_t wni_format_double(double x, char out[WNI_NUMBER_MAX])
{
    if (isnan(x)) return (size_t)snprintf(out, WNI_NUMBER_MAX, "nan");
    if (x == rint(x) && fabs(x) < 1e15) { /* the common case, and the fastest: epochs, units, counts */
        const char *sign = x == 0 && signbit(x) ? "-" : "";
        return (size_t)snprintf(out, WNI_NUMBER_MAX, "%s%lld", sign, (long long)x);
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, WNI_NUMBER_MAX, "%.*g", digits, x);
        if (isinf(x) || strtod(out, NULL) == x) break;
    }
    replace_first(out, locale_point(), ".");
    return strlen(out);
}

bool wni_parse_double(const char *text, double *out)
{
    const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    bool finite =
        (isdigit((unsigned char)digits[0]) || digits[0] == '.') && !digits[strspn(digits, "0123456789.eE+-")];
    if (!finite && strcmp(digits, "inf") != 0 && strcmp(digits, "nan") != 0) return false;
    char copy[512 + POINT_MAX], *end;
    size_t n = strlen(text);
    const char *point = locale_point();
    if (n >= 512 || strlen(point) > POINT_MAX) return false;
    memcpy(copy, text, n + 1);
    replace_first(copy, ".", point);
    double value = strtod(copy, &end);
    if (*end) return false;
    *out = value;
    return true;
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
