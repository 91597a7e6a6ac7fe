/* boost_golden.h -- reads the tables of tests/golden/gbt_*.txt (tools/gen-golden-gbt says how they are
 * written). */
#ifndef TESTS_UNIT_BOOST_GOLDEN_H
#define TESTS_UNIT_BOOST_GOLDEN_H

#include "tests/golden.h"

struct golden_table {
    size_t n, m,
        columns;   /* training rows, held-out rows behind them, columns after categories are expanded */
    double *x, *y; /* n + m rows */
    size_t raw;    /* columns of the file */
    size_t *kinds; /* categories of each; 0: a number */
};

static inline void golden_table_release(struct golden_table *t)
{
    free(t->x);
    free(t->y);
    free(t->kinds);
    *t = (struct golden_table){0};
}

/* Reads the next line, which must have this tag and so many numbers. */
static inline void golden_expect(struct golden *g, const char *tag, size_t n)
{
    if (!golden_next(g) || !golden_is(g, tag) || g->n != n)
        fail_msg("%s:%d: expected '%s' with %zu numbers", g->path, g->line, tag, n);
}

static inline void golden_table_row(struct golden_table *t, const double *raw, size_t i)
{
    double *cell = t->x + i * t->columns;
    for (size_t j = 0; j < t->raw; j++) {
        if (!t->kinds[j]) *cell++ = raw[j];
        for (size_t k = 0; k < t->kinds[j]; k++)
            *cell++ = raw[j] == (double)k;
    }
    t->y[i] = raw[t->raw];
}

/* Reads a table whose `data` line has just been read. */
static inline void golden_table_read(struct golden *g, struct golden_table *t)
{
    golden_table_release(t);
    t->n = (size_t)g->v[0];
    t->m = (size_t)g->v[1];
    t->raw = (size_t)g->v[2];
    t->kinds = calloc(t->raw, sizeof *t->kinds);
    golden_expect(g, "kinds", t->raw);
    for (size_t j = 0; j < t->raw; j++) {
        t->kinds[j] = (size_t)g->v[j];
        t->columns += t->kinds[j] ? t->kinds[j] : 1;
    }
    t->x = calloc((t->n + t->m) * t->columns, sizeof *t->x);
    t->y = calloc(t->n + t->m, sizeof *t->y);
    for (size_t i = 0; i < t->n + t->m;) {
        if (!golden_next(g) || !golden_is(g, "rows") || !g->n || g->n % (t->raw + 1) ||
            i + g->n / (t->raw + 1) > t->n + t->m)
            fail_msg("%s:%d: expected 'rows' with some rows of %zu numbers", g->path, g->line, t->raw + 1);
        for (size_t at = 0; at < g->n; at += t->raw + 1)
            golden_table_row(t, g->v + at, i++);
    }
}

/* Reads the next table; false at the end of the file. */
static inline bool golden_table_next(struct golden *g, struct golden_table *t)
{
    if (!golden_next(g)) return false;
    if (!golden_is(g, "data") || g->n != 3) fail_msg("%s:%d: expected 'data n m columns'", g->path, g->line);
    golden_table_read(g, t);
    return true;
}

#endif
