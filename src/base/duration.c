/* duration.c -- reads lengths of time. */
#include "base/duration.h"

#include "base/number.h"

#include <string.h>

static const double LONGEST = 1e9;

/* Takes a number off the front of *at.  Exponents and signs have no business in a duration. */
static bool take_number(const char **at, double *out)
{
    char digits[32];
    size_t n = strspn(*at, "0123456789.");
    if (n == 0 || n >= sizeof digits) return false;
    memcpy(digits, *at, n);
    digits[n] = '\0';
    *at += n;
    return wni_parse_double(digits, out);
}

bool wni_duration_parse(const char *text, double *seconds)
{
    static const char units[] = "dhms";
    static const double worth[] = {86400, 3600, 60, 1};
    double sum = 0, number;
    const char *at = text, *unit;
    size_t next = 0; /* the largest unit that may still come */
    do {
        if (!take_number(&at, &number)) return false;
        if (!*at && next) return false; /* "1h30": minutes or seconds? */
        unit = strchr(units + next, *at ? *at++ : 's');
        if (!unit) return false;
        next = (size_t)(unit - units) + 1;
        sum += number * worth[next - 1];
    } while (*at);
    if (sum > LONGEST) return false;
    *seconds = sum;
    return true;
}
