/* node_json.c -- JSON to a document tree, through jansson.
 *
 * jansson keeps no positions, so nodes have none; what it refuses itself is reported with line and column. */
#include "base/node_int.h"
#include "base/number.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

struct converter {
    struct document *doc;
    struct err *err;
};

static wn_status convert(struct converter *c, const json_t *value, size_t depth, struct node **out);

static wn_status fail_syntax(const char *name, const json_error_t *error, struct err *err)
{
    const char *why = error->text;
    if (!why[0]) return wni_fail_memory(err); /* jansson has nothing to say when an allocation failed */
    switch (json_error_code(error)) {
    case json_error_out_of_memory:
        return wni_fail_memory(err);
    case json_error_null_character:
    case json_error_null_byte_in_key:
        why = "text cannot hold a NUL character";
        break;
    case json_error_numeric_overflow:
        why = "number out of range";
        break;
    default:
        break;
    }
    int line = error->line > 0 ? error->line : 1, column = error->column > 0 ? error->column : 1;
    return wni_fail_at(err, name, line, column, "%s", why);
}

static bool is_blank(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && strchr(" \t\r\n", text[at]))
        at++; /* no NUL here: wni_text_check() refused it */
    return at == length;
}

static struct node *node_new(struct converter *c, enum node_kind kind, size_t n)
{
    struct node *node = arena_new(&c->doc->arena, struct node, 1);
    if (!node) return NULL;
    node->kind = kind;
    node->n = n;
    if (kind == NODE_SCALAR) return node;
    node->items = arena_new(&c->doc->arena, struct node *, n);
    if (kind == NODE_MAP) node->keys = arena_new(&c->doc->arena, struct node *, n);
    return node->items && (kind == NODE_LIST || node->keys) ? node : NULL;
}

static wn_status scalar(struct converter *c, const char *text, bool quoted, struct node **out)
{
    struct node *n = node_new(c, NODE_SCALAR, 0);
    if (!n || !(n->text = wni_arena_strdup(&c->doc->arena, text))) return wni_fail_memory(c->err);
    n->quoted = quoted;
    *out = n;
    return WN_OK;
}

static wn_status convert_list(struct converter *c, const json_t *list, size_t depth, struct node **out)
{
    struct node *n = *out = node_new(c, NODE_LIST, json_array_size(list));
    if (!n) return wni_fail_memory(c->err);
    wn_status st = WN_OK;
    for (size_t i = 0; i < n->n && !st; i++)
        st = convert(c, json_array_get(list, i), depth + 1, &n->items[i]);
    return st;
}

static wn_status convert_map(struct converter *c, json_t *map, size_t depth, struct node **out)
{
    struct node *n = *out = node_new(c, NODE_MAP, json_object_size(map));
    if (!n) return wni_fail_memory(c->err);
    size_t i = 0;
    for (void *at = json_object_iter(map); at; at = json_object_iter_next(map, at), i++) {
        wn_status st = scalar(c, json_object_iter_key(at), true, &n->keys[i]);
        if (!st) st = convert(c, json_object_iter_value(at), depth + 1, &n->items[i]);
        if (st) return st;
    }
    return WN_OK;
}

static wn_status convert(struct converter *c, const json_t *value, size_t depth, struct node **out)
{
    char text[WNI_NUMBER_MAX];
    switch (json_typeof(value)) {
    case JSON_NULL:
        return scalar(c, "null", false, out);
    case JSON_TRUE:
        return scalar(c, "true", false, out);
    case JSON_FALSE:
        return scalar(c, "false", false, out);
    case JSON_STRING:
        return scalar(c, json_string_value(value), true, out);
    case JSON_INTEGER:
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return scalar(c, text, false, out);
    case JSON_REAL:
        wni_format_double(json_real_value(value), text);
        return scalar(c, text, false, out);
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    if (depth == NODE_DEPTH_MAX) {
        const char *name = c->doc->name;
        return wni_fail(c->err, WN_EINVAL, "%s%snested deeper than %d levels", name, *name ? ": " : "",
                        NODE_DEPTH_MAX);
    }
    return json_is_array(value) ? convert_list(c, value, depth, out)
                                : convert_map(c, (json_t *)value, depth, out);
}

wn_status wni_json_parse(struct document *doc, const char *name, const char *text, size_t length,
                         struct err *err)
{
    struct converter c = {doc, err};
    json_error_t error = {0};
    json_t *value = NULL;
    wn_status st = wni_document_init(doc, name, err);
    if (!st) st = wni_text_check(name, text, length, err);
    if (!st && is_blank(text, length)) st = wni_fail_at(err, name, 1, 1, "the document is empty");
    if (st) goto out;
    value = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    st = value ? convert(&c, value, 0, &doc->root) : fail_syntax(name, &error, err);
out:
    json_decref(value);
    if (st) wni_document_release(doc);
    return st;
}
