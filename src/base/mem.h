/* mem.h -- sizes that cannot overflow, and arrays that grow.
 *
 * Growth doubles, so n appends cost O(n) copies in all; large blocks are moved by the kernel's page tables
 * (mremap behind realloc), and pages never written are never resident, so a doubled array does not double the
 * memory in use. */
#ifndef WNI_BASE_MEM_H
#define WNI_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* n * size, or SIZE_MAX when that does not fit (which no allocator grants). */
size_t wni_size_mul(size_t n, size_t size);

/* A zeroed array, or NULL.  n = 0 gives a valid pointer. */
void *wni_new_array(size_t n, size_t size);
#define wni_new(type, n) ((type *)wni_new_array((n), sizeof(type)))

/* Makes room for `need` elements in *array, whose capacity is *cap; false when out of memory, *array
 * unchanged. */
bool wni_reserve(void **array, size_t *cap, size_t need, size_t size);

char *wni_strdup(const char *text);                 /* NULL when out of memory */
char *wni_strndup(const char *text, size_t length); /* NULL when out of memory */

#endif
