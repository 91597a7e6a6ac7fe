/* node_yaml.c -- YAML to a document tree, through libyaml's events.
 *
 * Events rather than libyaml's own document: the tree is refused while it grows, so deep nesting or an alias
 * bomb costs nothing.  Nodes whose parent is still open wait in one vector; when a list or mapping ends, its
 * entries are the tail of that vector and move into the arena.
 *
 * The subset is what a study file needs.  Aliases, anchors and tags are refused: they hide what a reader
 * sees, and every mistake has one place in the file to point at. */
#include "base/mem.h"
#include "base/node_int.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct frame {
    struct node *node; /* an open list or mapping */
    size_t start;      /* its first entry in `pending` */
};

struct builder {
    struct document *doc;
    const char *text; /* what is parsed, for error messages */
    size_t length;
    struct node **pending; /* entries of open nodes; in a mapping key, value, key, value */
    size_t n, cap;
    struct frame frames[NODE_DEPTH_MAX];
    size_t depth;
    struct err *err;
};

static int from_one(size_t from_zero)
{
    return from_zero >= INT_MAX ? INT_MAX : (int)from_zero + 1;
}

#define fail_node(b, node, ...)                                                                              \
    wni_fail_at((b)->err, (b)->doc->name, (node)->line, (node)->column, __VA_ARGS__)

/* ---- syntax errors ---- */

/* The byte at a mark, '\0' at the end of the text.  Marks count characters. */
static char byte_at(const struct builder *b, const yaml_mark_t *mark)
{
    size_t at = 0, seen = 0;
    while (at < b->length && (((unsigned char)b->text[at] & 0xc0) == 0x80 || seen++ < mark->index))
        at++;
    return at < b->length ? b->text[at] : '\0';
}

static wn_status fail_reader(const struct builder *b, const yaml_parser_t *parser)
{
    int line, column;
    size_t offset = parser->problem_offset < b->length ? parser->problem_offset : b->length;
    wni_text_position(b->text, offset, &line, &column);
    return wni_fail_at(b->err, b->doc->name, line, column, "%s", parser->problem);
}

/* libyaml speaks of tokens and contexts; the mistakes people make most get plainer words. */
static wn_status fail_syntax(const struct builder *b, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR) return wni_fail_memory(b->err);
    if (parser->error == YAML_READER_ERROR) return fail_reader(b, parser);
    const char *problem = parser->problem ? parser->problem : "this is not YAML";
    struct node here = {.line = from_one(parser->problem_mark.line),
                        .column = from_one(parser->problem_mark.column)};
    char found = byte_at(b, &parser->problem_mark);
    if (strstr(problem, "cannot start any token") && found == '\t')
        return fail_node(b, &here, "a tab cannot indent; use blanks");
    if (strstr(problem, "cannot start any token"))
        return fail_node(b, &here, "'%c' cannot start a value; put the text in quotes", found);
    if (strstr(problem, "mapping values are not allowed"))
        return fail_node(b, &here, "a key cannot stand here; text that holds ': ' must be in quotes");
    if (parser->context)
        return fail_node(b, &here, "%s, %s from line %d", problem, parser->context,
                         from_one(parser->context_mark.line));
    return fail_node(b, &here, "%s", problem);
}

/* ---- building ---- */

/* Whether the next entry of the innermost open node is a mapping's key. */
static bool at_key(const struct builder *b)
{
    if (!b->depth) return false;
    const struct frame *top = &b->frames[b->depth - 1];
    return top->node->kind == NODE_MAP && (b->n - top->start) % 2 == 0;
}

static struct node *node_new(struct builder *b, enum node_kind kind, const yaml_event_t *event)
{
    struct node *n = arena_new(&b->doc->arena, struct node, 1);
    if (!n) return NULL;
    n->kind = kind;
    n->line = from_one(event->start_mark.line);
    n->column = from_one(event->start_mark.column);
    return n;
}

static wn_status append(struct builder *b, struct node *n)
{
    if (!n || !wni_reserve((void **)&b->pending, &b->cap, b->n + 1, sizeof(struct node *)))
        return wni_fail_memory(b->err);
    b->pending[b->n++] = n;
    return WN_OK;
}

static wn_status check_decoration(struct builder *b, const yaml_event_t *event, const yaml_char_t *anchor,
                                  const yaml_char_t *tag)
{
    struct node here = {.line = from_one(event->start_mark.line),
                        .column = from_one(event->start_mark.column)};
    if (anchor) return fail_node(b, &here, "anchors are not supported (&%.64s)", (const char *)anchor);
    if (tag) return fail_node(b, &here, "tags are not supported (%.64s)", (const char *)tag);
    return WN_OK;
}

static wn_status take_scalar(struct builder *b, const yaml_event_t *event)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    wn_status st = check_decoration(b, event, event->data.scalar.anchor, event->data.scalar.tag);
    if (st) return st;
    struct node *n = node_new(b, NODE_SCALAR, event);
    if (!n || !(n->text = wni_arena_strndup(&b->doc->arena, value, length))) return wni_fail_memory(b->err);
    if (strlen(n->text) != length) return fail_node(b, n, "text cannot hold a NUL character");
    n->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    n->verbatim = !n->quoted && event->start_mark.line == event->end_mark.line;
    return append(b, n);
}

static wn_status open_node(struct builder *b, const yaml_event_t *event, enum node_kind kind)
{
    wn_status st =
        kind == NODE_LIST
            ? check_decoration(b, event, event->data.sequence_start.anchor, event->data.sequence_start.tag)
            : check_decoration(b, event, event->data.mapping_start.anchor, event->data.mapping_start.tag);
    if (st) return st;
    struct node *n = node_new(b, kind, event);
    if (!n) return wni_fail_memory(b->err);
    if (at_key(b))
        return fail_node(b, n, "a key must be text, not %s", kind == NODE_LIST ? "a list" : "a mapping");
    if (b->depth == NODE_DEPTH_MAX) return fail_node(b, n, "nested deeper than %d levels", NODE_DEPTH_MAX);
    st = append(b, n);
    if (!st) b->frames[b->depth++] = (struct frame){n, b->n};
    return st;
}

static int compare_keys(const void *a, const void *b)
{
    const struct node *x = *(const struct node *const *)a, *y = *(const struct node *const *)b;
    int order = strcmp(x->text, y->text);
    if (order) return order;
    return x->line != y->line ? x->line - y->line : x->column - y->column;
}

/* Sorted, so that a mapping of a million keys is no trouble.  `sorted` is scratch for map->n pointers. */
static wn_status check_unique(struct builder *b, const struct node *map, struct node **sorted)
{
    if (map->n < 2) return WN_OK;
    memcpy(sorted, map->keys, map->n * sizeof *sorted);
    qsort(sorted, map->n, sizeof *sorted, compare_keys);
    for (size_t i = 1; i < map->n; i++)
        if (!strcmp(sorted[i]->text, sorted[i - 1]->text))
            return fail_node(b, sorted[i], "key '%.64s' is there twice, first on line %d", sorted[i]->text,
                             sorted[i - 1]->line);
    return WN_OK;
}

static wn_status close_node(struct builder *b)
{
    assert(b->depth > 0); /* libyaml balances its events */
    struct frame top = b->frames[--b->depth];
    struct node *n = top.node, **entries = b->pending + top.start;
    size_t stride = n->kind == NODE_MAP ? 2 : 1;
    n->n = (b->n - top.start) / stride;
    n->items = arena_new(&b->doc->arena, struct node *, n->n);
    if (n->kind == NODE_MAP) n->keys = arena_new(&b->doc->arena, struct node *, n->n);
    if (!n->items || (n->kind == NODE_MAP && !n->keys)) return wni_fail_memory(b->err);
    for (size_t i = 0; i < n->n; i++) {
        n->items[i] = entries[stride * i + stride - 1];
        if (n->keys) n->keys[i] = entries[stride * i];
    }
    b->n = top.start;
    return n->keys ? check_unique(b, n, entries) : WN_OK;
}

static wn_status take(struct builder *b, const yaml_event_t *event)
{
    struct node here = {.line = from_one(event->start_mark.line),
                        .column = from_one(event->start_mark.column)};
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return take_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(b, event, NODE_LIST);
    case YAML_MAPPING_START_EVENT:
        return open_node(b, event, NODE_MAP);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_node(b);
    case YAML_ALIAS_EVENT:
        return fail_node(b, &here, "aliases are not supported (*%.64s); write the value out",
                         (const char *)event->data.alias.anchor);
    case YAML_DOCUMENT_START_EVENT:
        return b->n ? fail_node(b, &here, "a second document starts here; there may be only one") : WN_OK;
    default:
        return WN_OK;
    }
}

static wn_status run(struct builder *b, yaml_parser_t *parser)
{
    yaml_event_t event;
    bool done = false;
    wn_status st = WN_OK;
    while (!st && !done) {
        if (!yaml_parser_parse(parser, &event)) return fail_syntax(b, parser);
        st = take(b, &event);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    if (st) return st;
    if (!b->n || wni_node_is_null(b->pending[0]))
        return wni_fail_at(b->err, b->doc->name, 1, 1, "the document is empty");
    b->doc->root = b->pending[0];
    return WN_OK;
}

wn_status wni_yaml_parse(struct document *doc, const char *name, const char *text, size_t length,
                         struct err *err)
{
    struct builder b = {.doc = doc, .text = text, .length = length, .err = err};
    yaml_parser_t parser;
    wn_status st = wni_document_init(doc, name, err);
    if (!st) st = wni_text_check(name, text, length, err);
    if (st) goto out;
    if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) { /* libyaml would count the mark as a column */
        b.text += 3;
        b.length -= 3;
    }
    if (!yaml_parser_initialize(&parser)) {
        st = wni_fail_memory(err);
        goto out;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)b.text, b.length);
    st = run(&b, &parser);
    yaml_parser_delete(&parser);
out:
    free(b.pending);
    if (st) wni_document_release(doc);
    return st;
}
