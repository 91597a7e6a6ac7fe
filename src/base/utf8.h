/* utf8.h -- text from outside: is it text at all, and is it safe to show? */
#ifndef WNI_BASE_UTF8_H
#define WNI_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the longest prefix that is well-formed UTF-8 (no overlong forms, no surrogates); n when all of it
 * is. */
size_t wni_utf8_valid(const char *text, size_t n);

/* Characters in the first n bytes of well-formed text, which is what editors count columns in. */
size_t wni_utf8_count(const char *text, size_t n);

/* Turns control characters and broken sequences into '?', in place, so that a message quoting a hostile file
 * cannot move a terminal's cursor, and one that was cut in the middle of a character is still text. */
void wni_utf8_tidy(char *text);

#endif
