/* mem.c -- checked allocation. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t wni_size_mul(size_t n, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes;
}

void *wni_new_array(size_t n, size_t size)
{
    size_t bytes = wni_size_mul(n, size);
    return calloc(1, bytes ? bytes : 1);
}

bool wni_reserve(void **array, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap) return true;
    size_t grown = *cap < 8 ? 8 : wni_size_mul(*cap, 2);
    if (grown < need) grown = need;
    void *moved = realloc(*array, wni_size_mul(grown, size));
    if (!moved) return false;
    *array = moved;
    *cap = grown;
    return true;
}

char *wni_strndup(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *wni_strdup(const char *text)
{
    return wni_strndup(text, strlen(text));
}
