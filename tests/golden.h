/* golden.h -- reads the reference numbers under tests/golden: lines of a tag and numbers
 * (tools/gen-golden-num).
 *
 *     struct golden g = golden_open("tests/golden/num_order.txt");
 *     while (golden_next(&g))
 *         if (golden_is(&g, "linear")) golden_near(&g, wni_quantile_linear(x, n, g.v[0]), g.v[1], 0.0);
 *     golden_close(&g);
 *
 * Anything wrong with the file fails the running test. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct golden {
    const char *path;
    FILE *file;
    char *text; /* the current line */
    size_t text_size;
    int line;
    int records; /* lines seen so far that are not comments */
    char tag[32];
    double *v; /* the line's numbers; valid until the next line is read */
    size_t n, room;
};

static inline struct golden golden_open(const char *path)
{
    struct golden g = {.path = path, .file = fopen(path, "r")};
    if (!g.file) fail_msg("%s: cannot open (run the tests from the repository root)", path);
    return g;
}

static inline void golden_parse(struct golden *g, char *at)
{
    size_t tag = strcspn(at, " \n");
    if (tag == 0 || tag >= sizeof g->tag) fail_msg("%s:%d: no tag", g->path, g->line);
    memcpy(g->tag, at, tag);
    g->tag[tag] = '\0';
    at += tag;
    for (g->n = 0;;) {
        char *end;
        double v = strtod(at, &end);
        if (end == at) break;
        if (g->n == g->room) {
            g->room = g->room ? 2 * g->room : 64;
            g->v = realloc(g->v, g->room * sizeof *g->v);
            if (!g->v) fail_msg("out of memory");
        }
        g->v[g->n++] = v;
        at = end;
    }
    while (isspace((unsigned char)*at))
        at++;
    if (*at) fail_msg("%s:%d: not a number: '%s'", g->path, g->line, at);
}

/* Reads the next line that is not a comment; false at the end of the file. */
static inline bool golden_next(struct golden *g)
{
    do {
        g->line++;
        if (getline(&g->text, &g->text_size, g->file) < 0) return false;
    } while (g->text[0] == '#');
    g->records++;
    golden_parse(g, g->text);
    return true;
}

static inline bool golden_is(const struct golden *g, const char *tag)
{
    return strcmp(g->tag, tag) == 0;
}

static inline void golden_close(struct golden *g)
{
    if (g->records == 0) fail_msg("%s: empty", g->path);
    fclose(g->file);
    free(g->text);
    free(g->v);
    *g = (struct golden){0};
}

/* Equal, both NaN, or relative difference at most tol (0: same value exactly). */
static inline bool golden_close_to(double got, double want, double tol)
{
    if (isnan(want)) return isnan(got);
    return got == want || fabs(got - want) <= tol * fabs(want);
}

static inline void golden_near(const struct golden *g, double got, double want, double tol)
{
    if (golden_close_to(got, want, tol)) return;
    fail_msg("%s:%d (%s %.17g ...): got %.17g, want %.17g (relative difference %.2g, allowed %.2g)", g->path,
             g->line, g->tag, g->n ? g->v[0] : NAN, got, want, fabs(got - want) / fabs(want), tol);
}

/* How many doubles lie between a and b (0: the same; zeros of either sign are one). */
static inline uint64_t golden_steps(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : UINT64_MAX;
    int64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = x < 0 ? INT64_MIN - x : x;
    y = y < 0 ? INT64_MIN - y : y;
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

/* At most `steps` doubles away from the reference. */
static inline void golden_within(const struct golden *g, double got, double want, uint64_t steps)
{
    if (golden_steps(got, want) <= steps) return;
    fail_msg("%s:%d (%s %.17g ...): got %.17g (%a), want %.17g (%a)", g->path, g->line, g->tag,
             g->n ? g->v[0] : NAN, got, got, want, want);
}

#endif
