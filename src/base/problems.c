/* problems.c -- the list of complaints about a document. */
#include "base/node.h"

#include "base/closest.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool wni_problems_full(const struct problems *p)
{
    return p->failed || p->n >= PROBLEMS_MAX;
}

void wni_problem(struct problems *p, const struct node *at, const char *format, ...)
{
    if (wni_problems_full(p)) return;
    char text[WN_WHY_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    wni_utf8_tidy(text);
    const char *copy = wni_arena_strdup(&p->arena, text);
    if (!copy || !wni_reserve((void **)&p->items, &p->cap, p->n + 1, sizeof *p->items)) {
        p->failed = true;
        return;
    }
    p->items[p->n++] = (struct problem){at ? at->line : 0, at ? at->column : 0, at ? at->flag : NULL, copy};
}

/* "a, b or c"; cut by the buffer when there are too many. */
static void list_names(char *out, size_t size, const char *const *names, size_t n)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n && used < size; i++) {
        const char *glue = !i ? "" : i + 1 < n ? ", " : " or ";
        used += (size_t)snprintf(out + used, size - used, "%s%s", glue, names[i]);
    }
}

void wni_problem_unknown(struct problems *p, const struct node *at, const char *where, const char *kind,
                         const char *name, const char *const *names, size_t n)
{
    if (wni_problems_full(p)) return;
    const char *glue = where && *where ? ": " : "", *near = wni_closest(name, names, n);
    if (!*glue) where = "";
    if (near) {
        wni_problem(p, at, "%s%sunknown %s '%.64s'; did you mean '%s'?", where, glue, kind, name, near);
        return;
    }
    char list[256];
    list_names(list, sizeof list, names, n);
    wni_problem(p, at, "%s%sunknown %s '%.64s'; expected %s", where, glue, kind, name, list);
}

static bool stands_before(const struct problem *a, const struct problem *b)
{
    return a->line != b->line ? a->line < b->line : a->column < b->column;
}

/* Insertion: keeps equals in order, and PROBLEMS_MAX bounds the work. */
void wni_problems_sort(struct problems *p)
{
    for (size_t i = 1; i < p->n; i++) {
        struct problem moving = p->items[i];
        size_t j = i;
        for (; j > 0 && stands_before(&moving, &p->items[j - 1]); j--)
            p->items[j] = p->items[j - 1];
        p->items[j] = moving;
    }
}

void wni_problems_release(struct problems *p)
{
    free(p->items);
    wni_arena_release(&p->arena);
    *p = (struct problems){.file = p->file};
}

static void write_problem(const struct problems *p, const struct problem *item, struct buf *out)
{
    const char *file = p->file ? p->file : "";
    if (item->flag)
        wni_buf_printf(out, "--%s: ", item->flag);
    else if (*file && item->line)
        wni_buf_printf(out, "%s:%d:%d: ", file, item->line, item->column);
    else if (*file)
        wni_buf_printf(out, "%s: ", file);
    else if (item->line)
        wni_buf_printf(out, "line %d, column %d: ", item->line, item->column);
    wni_buf_puts(out, item->text);
}

void wni_problems_write(const struct problems *p, struct buf *out)
{
    for (size_t i = 0; i < p->n; i++) {
        write_problem(p, &p->items[i], out);
        wni_buf_putc(out, '\n');
    }
    if (p->n >= PROBLEMS_MAX) wni_buf_printf(out, "these are the first %d problems\n", PROBLEMS_MAX);
}

wn_status wni_problems_status(const struct problems *p, struct err *err)
{
    if (p->failed) return wni_fail_memory(err);
    if (!p->n) return WN_OK;
    struct buf line = {0};
    write_problem(p, &p->items[0], &line);
    wn_status st = line.failed ? wni_fail_memory(err) : wni_fail(err, WN_EINVAL, "%s", wni_buf_text(&line));
    wni_buf_release(&line);
    if (err) wni_utf8_tidy(err->text); /* it may have been cut inside a character */
    return st;
}
