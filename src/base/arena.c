/* arena.c -- a list of blocks, each twice as large as the last; allocation bumps an offset. */
#include "base/arena.h"

#include "base/mem.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *older;
    size_t size; /* bytes of data[] */
    alignas(max_align_t) unsigned char data[];
};

enum { FIRST_BLOCK = 4096 };

static struct arena_block *block_new(size_t size, struct arena_block *older)
{
    if (size > SIZE_MAX - sizeof(struct arena_block)) return NULL;
    struct arena_block *b = malloc(sizeof *b + size);
    if (!b) return NULL;
    b->older = older;
    b->size = size;
    return b;
}

static size_t round_up(size_t bytes)
{
    size_t align = alignof(max_align_t);
    return bytes > SIZE_MAX - align ? SIZE_MAX : (bytes + align - 1) / align * align;
}

void *wni_arena_alloc(struct arena *a, size_t n, size_t size)
{
    size_t bytes = round_up(wni_size_mul(n, size));
    if (!a->block || bytes > a->block->size - a->used) {
        size_t next = a->block ? wni_size_mul(a->block->size, 2) : FIRST_BLOCK;
        struct arena_block *b = block_new(bytes > next ? bytes : next, a->block);
        if (!b) return NULL;
        a->block = b;
        a->used = 0;
    }
    void *p = a->block->data + a->used;
    a->used += bytes;
    return memset(p, 0, bytes);
}

char *wni_arena_strndup(struct arena *a, const char *text, size_t length)
{
    if (length == SIZE_MAX) return NULL;
    char *copy = wni_arena_alloc(a, length + 1, 1);
    return copy ? memcpy(copy, text, length) : NULL;
}

char *wni_arena_strdup(struct arena *a, const char *text)
{
    return wni_arena_strndup(a, text, strlen(text));
}

static void free_from(struct arena_block *b)
{
    while (b) {
        struct arena_block *older = b->older;
        free(b);
        b = older;
    }
}

void wni_arena_reset(struct arena *a)
{
    if (!a->block) return;
    free_from(a->block->older); /* blocks only grow, so the newest is the largest */
    a->block->older = NULL;
    a->used = 0;
}

void wni_arena_release(struct arena *a)
{
    free_from(a->block);
    *a = (struct arena){0};
}
