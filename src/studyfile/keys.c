/* keys.c -- reads a mapping by its table. */
#include "studyfile/keys.h"

#include "base/closest.h"
#include "base/duration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEYS_MAX = 32, WHAT_MAX = 96 };

static const double LARGEST_POSITIVE = 1e15;

const char *wni_keep_text(struct reader *r, const char *text)
{
    const char *copy = wni_arena_strdup(&r->study->arena, text);
    if (!copy) r->problems->failed = true;
    return copy;
}

void *wni_keep_array(struct reader *r, size_t n, size_t size)
{
    void *array = wni_arena_alloc(&r->study->arena, n, size);
    if (!array) r->problems->failed = true;
    return array;
}

static void complain(struct reader *r, const struct node *node, const char *what, const char *expected)
{
    char got[NODE_DESCRIPTION_MAX];
    wni_problem(r->problems, node, "'%s' must be %s, got %s", what, expected, wni_node_describe(node, got));
}

bool wni_needs_text(struct reader *r, const struct node *node, const char *what, const char *expected)
{
    if (node->kind == NODE_SCALAR && !wni_node_is_null(node) && node->text[0]) return true;
    complain(r, node, what, expected);
    return false;
}

/* Whole numbers exactly, 1e3 included. */
static bool read_whole(const struct node *node, int64_t *out)
{
    double number;
    if (wni_node_int(node, out)) return true;
    if (!wni_node_number(node, &number) || number != rint(number) || fabs(number) > 9007199254740992.0)
        return false;
    *out = (int64_t)number;
    return true;
}

static void read_int(struct reader *r, const struct key_def *def, const struct node *node, const char *what,
                     void *field)
{
    int64_t number;
    if (read_whole(node, &number) && number >= def->min && number <= def->max) {
        *(int64_t *)field = number;
        return;
    }
    char expected[96];
    if (def->max == INT64_MAX)
        snprintf(expected, sizeof expected, "a whole number of at least %lld", (long long)def->min);
    else
        snprintf(expected, sizeof expected, "a whole number from %lld to %lld", (long long)def->min,
                 (long long)def->max);
    complain(r, node, what, expected);
}

static void read_positive(struct reader *r, const struct node *node, const char *what, double *field)
{
    double number;
    if (wni_node_number(node, &number) && number > 0 && number <= LARGEST_POSITIVE)
        *field = number;
    else
        complain(r, node, what, "a number above 0");
}

static void read_time(struct reader *r, const struct node *node, bool zero_too, const char *what,
                      double *field)
{
    double seconds;
    if (node->kind == NODE_SCALAR && wni_duration_parse(node->text, &seconds) && (seconds > 0 || zero_too))
        *field = seconds;
    else
        complain(r, node, what, zero_too ? WNI_DURATION_FORMS : WNI_DURATION_FORMS ", above 0");
}

static void read_value(struct reader *r, const struct key_def *def, const struct node *at,
                       const struct node *node, const char *what)
{
    void *field = (char *)r->study + def->offset;
    switch (def->kind) {
    case KEY_TEXT:
        if (wni_needs_text(r, node, what, "text")) *(const char **)field = wni_keep_text(r, node->text);
        break;
    case KEY_BOOL:
        if (!wni_node_bool(node, field)) complain(r, node, what, "true or false");
        break;
    case KEY_INT:
        read_int(r, def, node, what, field);
        break;
    case KEY_POSITIVE:
        read_positive(r, node, what, field);
        break;
    case KEY_TIME:
        read_time(r, node, false, what, field);
        break;
    case KEY_TIME_OR_ZERO:
        read_time(r, node, true, what, field);
        break;
    case KEY_OTHER:
        def->read(r, at, node);
        break;
    }
}

/* "stop.trials" */
static void full_name(char out[WHAT_MAX], const char *where, const char *key)
{
    snprintf(out, WHAT_MAX, "%s%s%s", where, *where ? "." : "", key);
}

static void read_entry(struct reader *r, const struct node *key, const struct node *value, const char *where,
                       const struct key_def *defs, size_t n, bool seen[KEYS_MAX])
{
    const char *names[KEYS_MAX];
    char what[WHAT_MAX];
    for (size_t i = 0; i < n; i++) {
        names[i] = defs[i].name;
        if (strcmp(names[i], key->text) != 0) continue;
        seen[i] = true;
        full_name(what, where, names[i]);
        read_value(r, &defs[i], key, value, what);
        return;
    }
    wni_problem_unknown(r->problems, key, where, "key", key->text, names, n);
    const char *meant = wni_closest(key->text, names, n);
    for (size_t i = 0; i < n && meant; i++)
        seen[i] = seen[i] || meant == names[i]; /* misspelt is not missing too */
}

void wni_keys_read(struct reader *r, const struct node *at, const struct node *map, const char *where,
                   const struct key_def *defs, size_t n)
{
    bool seen[KEYS_MAX] = {false};
    char what[WHAT_MAX];
    if (map->kind != NODE_MAP) {
        complain(r, map, where, "a mapping");
        return;
    }
    for (size_t i = 0; i < map->n && !wni_problems_full(r->problems); i++)
        read_entry(r, map->keys[i], map->items[i], where, defs, n, seen);
    for (size_t i = 0; i < n; i++) {
        if (!defs[i].required || seen[i]) continue;
        full_name(what, where, defs[i].name);
        wni_problem(r->problems, at, "missing '%s'", what);
    }
}
