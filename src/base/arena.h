/* arena.h -- memory that lives and dies together.
 *
 * Pick the lifetime first (a parsed document, a space, one model fit), then allocate into its arena: nothing
 * is freed alone, and a failed half-built structure leaks nothing because its arena is released either way.
 *
 *     struct arena a = {0};
 *     double *x = arena_new(&a, double, n);      zeroed; NULL when out of memory
 *     wni_arena_release(&a);
 */
#ifndef WNI_BASE_ARENA_H
#define WNI_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *block; /* newest first; NULL: empty */
    size_t used;               /* bytes taken from the newest block */
};

/* Zeroed, aligned for any type. */
void *wni_arena_alloc(struct arena *a, size_t n, size_t size);
#define arena_new(a, type, n) ((type *)wni_arena_alloc((a), (n), sizeof(type)))

char *wni_arena_strdup(struct arena *a, const char *text);
char *wni_arena_strndup(struct arena *a, const char *text, size_t length);

/* Forgets the contents but keeps the largest block, so that a loop of fits allocates only once. */
void wni_arena_reset(struct arena *a);
void wni_arena_release(struct arena *a); /* an empty arena is fine; it can be used again */

#endif
