/* utf8.c -- checks and mends text, one character at a time (Unicode 15, table 3-7: well-formed byte
 * sequences). */
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool continues(const unsigned char *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if ((s[i] & 0xc0) != 0x80) return false;
    return true;
}

/* Bytes of the character at s, n > 0 of which are there; 0: not well-formed. */
static size_t char_length(const unsigned char *s, size_t n)
{
    if (s[0] < 0x80) return 1;
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || n < length || !continues(s, 1, length)) return 0;
    switch (s[0]) {
    case 0xe0:
        return s[1] >= 0xa0 ? 3 : 0; /* overlong */
    case 0xed:
        return s[1] < 0xa0 ? 3 : 0; /* surrogates */
    case 0xf0:
        return s[1] >= 0x90 ? 4 : 0; /* overlong */
    case 0xf4:
        return s[1] < 0x90 ? 4 : 0; /* above U+10FFFF */
    default:
        return length;
    }
}

size_t wni_utf8_valid(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t at = 0;
    while (at < n) {
        size_t length = char_length(s + at, n - at);
        if (!length) break;
        at += length;
    }
    return at;
}

size_t wni_utf8_count(const char *text, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

/* C0 and DEL are one byte, C1 (U+0080 to U+009F) two; terminals obey both. */
static bool is_control(const unsigned char *s, size_t length)
{
    if (length == 1) return s[0] < 0x20 || s[0] == 0x7f;
    return length == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

void wni_utf8_tidy(char *text)
{
    unsigned char *from = (unsigned char *)text, *to = from, *end = from + strlen(text);
    while (from < end) {
        size_t length = char_length(from, (size_t)(end - from));
        if (!length || is_control(from, length)) {
            *to++ = '?';
            from += length ? length : 1;
        } else {
            memmove(to, from, length);
            to += length;
            from += length;
        }
    }
    *to = '\0';
}
