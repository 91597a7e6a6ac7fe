/* space_read.c -- a space from a document.
 *
 * Syntax is checked here (keys, kinds of values) and sense by wni_space_add(), whose complaint is put at the
 * node most likely to blame.  All mistakes are told in one pass.  Three ways to declare a parameter:
 *
 *     lr:         {type: float, min: 1.0e-5, max: 0.1, scale: log}
 *     activation: [relu, tanh]        a list is a categorical
 *     epochs:     10                  a scalar is a constant
 */
#include "base/closest.h"
#include "base/mem.h"
#include "base/number.h"
#include "core/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Generous, and they bound what a hostile file can cost: checking values for duplicates takes the square. */
enum { PARAMETERS_MAX = 1000, VALUES_MAX = 10000 };

enum key { KEY_NAME, KEY_TYPE, KEY_MIN, KEY_MAX, KEY_STEP, KEY_SCALE, KEY_VALUES, KEY_VALUE, N_KEYS };
#define BIT(key)   (1u << (key))
#define RANGE_KEYS (BIT(KEY_MIN) | BIT(KEY_MAX))

static const char *const key_names[N_KEYS] = {"name", "type",  "min",    "max",
                                              "step", "scale", "values", "value"};

static const struct type {
    const char *name;
    unsigned needs, allows; /* keys; allows besides needs */
    const char *says;       /* what goes with it, for messages */
} types[] = {
    [PARAM_FLOAT] = {"float", RANGE_KEYS, BIT(KEY_STEP) | BIT(KEY_SCALE), "min, max, step and scale"},
    [PARAM_INT] = {"int", RANGE_KEYS, BIT(KEY_STEP) | BIT(KEY_SCALE), "min, max, step and scale"},
    [PARAM_ORDINAL] = {"ordinal", BIT(KEY_VALUES), BIT(KEY_SCALE), "values and scale"},
    [PARAM_CATEGORICAL] = {"categorical", BIT(KEY_VALUES), 0, "values"},
    [PARAM_BOOL] = {"bool", 0, 0, "nothing else"},
    [PARAM_CONSTANT] = {"constant", BIT(KEY_VALUE), 0, "value"},
};
enum { N_TYPES = sizeof types / sizeof *types };

/* ---- reading one parameter ---- */

struct reading {
    struct problems *problems;
    const struct node *at; /* where the parameter stands: its name */
    char where[96];        /* "parameter 'lr'" */
    const struct node *keys[N_KEYS];
    struct param_decl decl;
    const char **labels; /* owned */
    unsigned misspelt;   /* keys that another was probably meant for: not missing as well */
    bool wrong;          /* something was told; do not add it */
};

#define complain(r, node, format, ...)                                                                       \
    ((r)->wrong = true, wni_problem((r)->problems, (node), "%s: " format, (r)->where, __VA_ARGS__))

static void complain_unknown(struct reading *r, const struct node *at, const char *kind,
                             const char *const *names, size_t n)
{
    r->wrong = true;
    wni_problem_unknown(r->problems, at, r->where, kind, at->text, names, n);
}

static bool needs_scalar(struct reading *r, const struct node *node, const char *what, const char *expected)
{
    char got[NODE_DESCRIPTION_MAX];
    if (node->kind == NODE_SCALAR && !wni_node_is_null(node)) return true;
    complain(r, node, "%s must be %s, got %s", what, expected, wni_node_describe(node, got));
    return false;
}

static bool read_type(struct reading *r)
{
    const struct node *node = r->keys[KEY_TYPE];
    const char *names[N_TYPES];
    for (size_t i = 0; i < N_TYPES; i++)
        names[i] = types[i].name;
    if (!node) {
        if (r->misspelt & BIT(KEY_TYPE)) return false;
        complain(r, r->at, "missing 'type': %s", "float, int, ordinal, categorical, bool or constant");
        return false;
    }
    if (!needs_scalar(r, node, "'type'", "the name of a type")) return false;
    for (size_t i = 0; i < N_TYPES; i++)
        if (!strcmp(names[i], node->text)) {
            r->decl.kind = (enum param_kind)i;
            return true;
        }
    complain_unknown(r, node, "type", names, N_TYPES);
    return false;
}

/* Sorts the mapping's entries into r->keys. */
static void read_keys(struct reading *r, const struct node *map)
{
    for (size_t i = 0; i < map->n && !wni_problems_full(r->problems); i++) {
        size_t k = 0;
        while (k < N_KEYS && strcmp(key_names[k], map->keys[i]->text) != 0)
            k++;
        if (k < N_KEYS) {
            r->keys[k] = map->items[i];
            continue;
        }
        complain_unknown(r, map->keys[i], "key", key_names + 1, N_KEYS - 1);
        const char *meant = wni_closest(map->keys[i]->text, key_names + 1, N_KEYS - 1);
        for (k = 0; k < N_KEYS; k++)
            if (meant == key_names[k]) r->misspelt |= BIT(k);
    }
}

static void check_keys(struct reading *r, const struct node *map)
{
    const struct type *type = &types[r->decl.kind];
    unsigned known = type->needs | type->allows | BIT(KEY_TYPE) | BIT(KEY_NAME);
    for (size_t i = 0; i < map->n; i++)
        for (size_t k = 0; k < N_KEYS; k++)
            if (!(known & BIT(k)) && r->keys[k] == map->items[i])
                complain(r, map->keys[i], "'%s' does not go with type %s, which takes %s", key_names[k],
                         type->name, type->says);
    for (size_t k = 0; k < N_KEYS; k++)
        if ((type->needs & ~r->misspelt & BIT(k)) && !r->keys[k])
            complain(r, r->at, "missing '%s': type %s takes %s", key_names[k], type->name, type->says);
}

static void read_number(struct reading *r, enum key key, double *out)
{
    const struct node *node = r->keys[key];
    char got[NODE_DESCRIPTION_MAX];
    if (!node || wni_node_number(node, out)) return;
    complain(r, node, "'%s' must be a number, got %s", key_names[key], wni_node_describe(node, got));
}

static void read_scale(struct reading *r)
{
    static const char *const names[] = {"linear", "log"};
    const struct node *node = r->keys[KEY_SCALE];
    if (!node || !needs_scalar(r, node, "'scale'", "linear or log")) return;
    if (!strcmp(node->text, names[WN_LOG]))
        r->decl.scale = WN_LOG;
    else if (strcmp(node->text, names[WN_LINEAR]) != 0)
        complain_unknown(r, node, "scale", names, 2);
}

static void read_range(struct reading *r)
{
    read_number(r, KEY_MIN, &r->decl.min);
    read_number(r, KEY_MAX, &r->decl.max);
    read_number(r, KEY_STEP, &r->decl.step);
    read_scale(r);
    if (r->keys[KEY_STEP] && !r->wrong && !(r->decl.step > 0)) /* 0 would mean "no step" to wni_space_add() */
        complain(r, r->keys[KEY_STEP], "'step' must be above %d", 0);
}

static void read_values(struct reading *r, const struct node *list)
{
    char what[32], got[NODE_DESCRIPTION_MAX];
    if (list->kind != NODE_LIST) {
        complain(r, list, "'values' must be a list, got %s", wni_node_describe(list, got));
        return;
    }
    if (list->n > VALUES_MAX) {
        complain(r, list, "%zu values; at most %d are allowed", list->n, VALUES_MAX);
        return;
    }
    if (!(r->labels = wni_new(const char *, list->n))) {
        r->problems->failed = r->wrong = true;
        return;
    }
    r->decl.labels = r->labels;
    r->decl.n_labels = list->n;
    for (size_t i = 0; i < list->n; i++) {
        const struct node *value = list->items[i];
        snprintf(what, sizeof what, "value %zu", i + 1);
        if (!needs_scalar(r, value, what, "text or a number")) continue;
        r->labels[i] = value->text;
        if (value->quoted && !r->keys[KEY_SCALE])
            r->decl.text_values = true; /* a scale says that they are numbers */
    }
}

static void read_constant(struct reading *r, const struct node *value)
{
    if (!needs_scalar(r, value, "the value", "text or a number")) return;
    if (!(r->labels = wni_new(const char *, 1))) {
        r->problems->failed = r->wrong = true;
        return;
    }
    r->labels[0] = value->text;
    r->decl.labels = r->labels;
    r->decl.n_labels = 1;
}

static void read_mapping(struct reading *r, const struct node *map)
{
    read_keys(r, map);
    if (!read_type(r)) return;
    check_keys(r, map);
    switch (r->decl.kind) {
    case PARAM_FLOAT:
    case PARAM_INT:
        read_range(r);
        break;
    case PARAM_ORDINAL:
        read_scale(r); /* fall through */
    case PARAM_CATEGORICAL:
        if (r->keys[KEY_VALUES]) read_values(r, r->keys[KEY_VALUES]);
        break;
    case PARAM_CONSTANT:
        if (r->keys[KEY_VALUE]) read_constant(r, r->keys[KEY_VALUE]);
        break;
    case PARAM_BOOL:
        break;
    }
}

/* ---- pointing at what wni_space_add() did not like ---- */

static const struct node *blame_range(const struct reading *r)
{
    const struct param_decl *d = &r->decl;
    bool whole = d->kind == PARAM_INT;
    const struct node *min = r->keys[KEY_MIN], *max = r->keys[KEY_MAX], *step = r->keys[KEY_STEP];
    if (!isfinite(d->min)) return min;
    if (!isfinite(d->max) || d->min >= d->max) return max;
    if (d->scale == WN_LOG && d->min <= 0) return min;
    if (step && (!isfinite(d->step) || d->step > d->max - d->min)) return step;
    if (whole && d->min != rint(d->min)) return min;
    if (whole && d->max != rint(d->max)) return max;
    if (whole && d->step != rint(d->step)) return step;
    return r->at;
}

static const struct node *blame_values(const struct reading *r, const struct node *list)
{
    const char *const *labels = r->decl.labels;
    double last = r->decl.scale == WN_LOG ? 0 : -INFINITY, number;
    for (size_t i = 0; i < r->decl.n_labels; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(labels[i], labels[j])) return list->items[i];
    for (size_t i = 0; i < r->decl.n_labels && r->decl.kind == PARAM_ORDINAL; i++) {
        if (!wni_parse_double(labels[i], &number) || number <= last) return list->items[i];
        last = number;
    }
    return list;
}

static const struct node *blame(const struct reading *r, const struct space *space,
                                const struct node *declared)
{
    if (wni_space_find(space, r->decl.name, NULL)) return r->at;
    switch (r->decl.kind) {
    case PARAM_FLOAT:
    case PARAM_INT:
        return blame_range(r);
    case PARAM_ORDINAL:
    case PARAM_CATEGORICAL:
        return blame_values(r, r->keys[KEY_VALUES] ? r->keys[KEY_VALUES] : declared);
    case PARAM_BOOL:
    case PARAM_CONSTANT:
        break;
    }
    return r->at;
}

static void read_parameter(struct space *space, const struct node *at, const char *name,
                           const struct node *declared, struct problems *problems)
{
    struct reading r = {.problems = problems, .at = at, .decl = {.name = name}};
    struct err err = {0};
    snprintf(r.where, sizeof r.where, "parameter '%.64s'", name);
    if (declared->kind == NODE_MAP) {
        read_mapping(&r, declared);
    } else if (declared->kind == NODE_LIST) {
        r.decl.kind = PARAM_CATEGORICAL;
        read_values(&r, declared);
    } else if (wni_node_is_null(declared)) {
        complain(&r, declared, "expected a mapping with its 'type', a list of values or a constant, got %s",
                 "nothing");
    } else {
        r.decl.kind = PARAM_CONSTANT;
        read_constant(&r, declared);
    }
    wn_status st = r.wrong ? WN_OK : wni_space_add(space, &r.decl, &err);
    if (st == WN_ENOMEM)
        problems->failed = true;
    else if (st)
        wni_problem(problems, blame(&r, space, declared), "%s", err.text);
    free(r.labels);
}

/* ---- reading a space ---- */

static void read_listed(struct space *space, const struct node *item, size_t number,
                        struct problems *problems)
{
    const struct node *name = wni_node_get(item, "name");
    char got[NODE_DESCRIPTION_MAX];
    if (item->kind != NODE_MAP)
        wni_problem(problems, item, "parameter %zu: expected a mapping with 'name' and 'type', got %s",
                    number, wni_node_describe(item, got));
    else if (!name)
        wni_problem(problems, item, "parameter %zu: missing 'name'", number);
    else if (name->kind != NODE_SCALAR || wni_node_is_null(name))
        wni_problem(problems, name, "parameter %zu: 'name' must be text, got %s", number,
                    wni_node_describe(name, got));
    else
        read_parameter(space, name, name->text, item, problems);
}

static void read_named(struct space *space, const struct node *key, const struct node *declared,
                       struct problems *problems)
{
    const struct node *name = wni_node_get(declared, "name");
    if (name) {
        wni_problem(problems, name,
                    "parameter '%.64s': 'name' belongs in a list of parameters; here the key is the name",
                    key->text);
        return;
    }
    read_parameter(space, key, key->text, declared, problems);
}

void wni_space_read(struct space *space, const struct node *parameters, struct problems *problems)
{
    char got[NODE_DESCRIPTION_MAX];
    if (!parameters || parameters->kind == NODE_SCALAR) {
        wni_problem(problems, parameters, "'parameters' must be a mapping of names to parameters, got %s",
                    wni_node_describe(parameters, got));
        return;
    }
    if (parameters->n == 0)
        wni_problem(problems, parameters, "'parameters' is empty; there is nothing to tune");
    for (size_t i = 0; i < parameters->n && !wni_problems_full(problems); i++) {
        const struct node *item = parameters->items[i];
        if (i == PARAMETERS_MAX) {
            wni_problem(problems, item, "more than %d parameters", PARAMETERS_MAX);
            return;
        }
        if (parameters->kind == NODE_LIST)
            read_listed(space, item, i + 1, problems);
        else
            read_named(space, parameters->keys[i], item, problems);
    }
}

const char *wni_param_kind_name(enum param_kind kind)
{
    return types[kind].name;
}
