/* closest.c -- edit distance over short names. */
#include "base/closest.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 63 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Optimal string alignment distance: O(|a| |b|) time, three rows of memory. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > NAME_MAX_LENGTH || m > NAME_MAX_LENGTH) return n > m ? n : m;
    size_t rows[3][NAME_MAX_LENGTH + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                tolower((unsigned char)a[i - 2]) == y && before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[m];
}

const char *wni_closest(const char *name, const char *const *names, size_t n)
{
    size_t length = strlen(name);
    size_t worst = length < 3 ? 1 : length < 9 ? length / 3 : 3;
    const char *best = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(name, names[i]);
        size_t longer = length > strlen(names[i]) ? length : strlen(names[i]);
        if (d > worst || d >= longer || (best && d == worst))
            continue; /* d == longer: not a letter in common */
        best = names[i];
        worst = d;
    }
    return best;
}
