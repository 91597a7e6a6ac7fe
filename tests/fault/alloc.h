/* alloc.h -- an allocator that fails when it is told to, and knows what is still alive.
 *
 * Fault tests are linked with --wrap=malloc and kin, so every allocation of ours comes here.  Those inside
 * the C library and libyaml do not.  jansson's are counted after alloc_count_json(), so that a document left
 * behind is found; they fail only after alloc_fail_json(), because jansson takes some failed allocations for
 * mistakes in the text.
 *
 *     for (size_t k = 0; ; k++) {
 *         size_t before = alloc_live();
 *         alloc_fail_at(k, ALLOC_ONCE);        the k-th allocation from here fails
 *         wn_status st = whatever();
 *         if (!alloc_failed()) break;          it needs k allocations and no more
 *         alloc_fail_never();
 *         CHECK_INT(st, WN_ENOMEM);
 *         CHECK_INT(alloc_live(), before);
 *     }
 *
 * Include in one file only. */
#ifndef TESTS_FAULT_ALLOC_H
#define TESTS_FAULT_ALLOC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

enum alloc_mode {
    ALLOC_ONCE, /* one allocation fails, those after it work again */
    ALLOC_FROM, /* memory has run out: all fail until alloc_fail_never() */
};

/* Blocks alive, by address: open addressing.  free() also meets blocks of the C library, which are not in
 * here. */
enum { ALLOC_SLOTS = 1 << 20 };
static uintptr_t alloc_slots[ALLOC_SLOTS];

/* Volatile because compilers know what malloc() does, and that it does not write to our variables. */
static volatile struct {
    size_t live;      /* blocks */
    size_t countdown; /* allocations until one fails, +1; 0: never */
    enum alloc_mode mode;
    bool failed; /* since alloc_fail_at() */
} alloc;

static inline size_t alloc_home(uintptr_t address)
{
    return (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (ALLOC_SLOTS - 1);
}

static inline size_t alloc_find(uintptr_t address)
{
    size_t at = alloc_home(address);
    while (alloc_slots[at] && alloc_slots[at] != address)
        at = (at + 1) & (ALLOC_SLOTS - 1);
    return at;
}

static inline void *alloc_note(void *p)
{
    if (!p) return NULL;
    if (alloc.live >= ALLOC_SLOTS / 2) abort();
    alloc_slots[alloc_find((uintptr_t)p)] = (uintptr_t)p;
    alloc.live++;
    return p;
}

/* Takes the block out and moves back those that stood behind it. */
static inline void alloc_forget(const void *p)
{
    size_t hole = alloc_find((uintptr_t)p);
    if (!p || !alloc_slots[hole]) return;
    alloc.live--;
    for (size_t at = (hole + 1) & (ALLOC_SLOTS - 1); alloc_slots[at]; at = (at + 1) & (ALLOC_SLOTS - 1)) {
        size_t home = alloc_home(alloc_slots[at]);
        if (((at - home) & (ALLOC_SLOTS - 1)) < ((at - hole) & (ALLOC_SLOTS - 1))) continue;
        alloc_slots[hole] = alloc_slots[at];
        hole = at;
    }
    alloc_slots[hole] = 0;
}

static inline bool alloc_refuse(void)
{
    if (!alloc.countdown || --alloc.countdown) return false;
    alloc.failed = true;
    if (alloc.mode == ALLOC_FROM) alloc.countdown = 1;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return alloc_refuse() ? NULL : alloc_note(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return alloc_refuse() ? NULL : alloc_note(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    if (alloc_refuse()) return NULL;
    if (p) alloc_forget(p);
    return alloc_note(__real_realloc(p, size));
}

void __wrap_free(void *p)
{
    alloc_forget(p);
    __real_free(p);
}

/* ---- for tests ---- */

static inline void *alloc_sure(size_t size)
{
    return alloc_note(__real_malloc(size));
}

static inline void alloc_count_json(void)
{
    json_set_alloc_funcs(alloc_sure, __wrap_free);
}

static inline void alloc_fail_json(void)
{
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
}

static inline void alloc_fail_at(size_t k, enum alloc_mode mode)
{
    alloc.countdown = k + 1;
    alloc.mode = mode;
    alloc.failed = false;
}

static inline void alloc_fail_never(void)
{
    alloc.countdown = 0;
}

static inline bool alloc_failed(void)
{
    return alloc.failed;
}

static inline size_t alloc_live(void)
{
    return alloc.live;
}

#endif
