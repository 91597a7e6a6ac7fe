/* node.c -- the document tree: what its scalars mean, and reading one from a file. */
#include "base/node.h"

#include "base/node_int.h"
#include "base/number.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { FILE_MAX = 64 << 20, CHUNK = 1 << 16 };

/* ---- scalars ---- */

const struct node *wni_node_get(const struct node *map, const char *key)
{
    if (!map || map->kind != NODE_MAP) return NULL;
    for (size_t i = 0; i < map->n; i++)
        if (!strcmp(map->keys[i]->text, key)) return map->items[i];
    return NULL;
}

static bool is_plain(const struct node *n)
{
    return n && n->kind == NODE_SCALAR && !n->quoted;
}

bool wni_node_number(const struct node *n, double *out)
{
    return is_plain(n) && wni_parse_double(n->text, out);
}

bool wni_node_int(const struct node *n, int64_t *out)
{
    return is_plain(n) && wni_parse_int(n->text, out);
}

bool wni_node_bool(const struct node *n, bool *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; is_plain(n) && i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(n->text, words[i])) {
            *out = i % 2;
            return true;
        }
    return false;
}

bool wni_node_is_null(const struct node *n)
{
    return !n || (is_plain(n) && (!n->text[0] || !strcmp(n->text, "~") || !strcasecmp(n->text, "null")));
}

const char *wni_node_kind_name(const struct node *n)
{
    double number;
    bool truth;
    if (wni_node_is_null(n)) return "nothing";
    if (n->kind == NODE_LIST) return "a list";
    if (n->kind == NODE_MAP) return "a mapping";
    if (wni_node_number(n, &number)) return "a number";
    return wni_node_bool(n, &truth) ? "true or false" : "text";
}

const char *wni_node_describe(const struct node *n, char out[NODE_DESCRIPTION_MAX])
{
    if (wni_node_is_null(n) || n->kind != NODE_SCALAR) return wni_node_kind_name(n);
    const char *kind = n->quoted ? "the text " : "";
    if (strlen(n->text) < 50)
        snprintf(out, NODE_DESCRIPTION_MAX, "%s'%s'", kind, n->text);
    else
        snprintf(out, NODE_DESCRIPTION_MAX, "%s'%.40s...'", kind, n->text);
    return out;
}

/* ---- what both parsers need ---- */

wn_status wni_fail_at(struct err *err, const char *name, int line, int column, const char *format, ...)
{
    if (!err) return WN_EINVAL;
    char message[WN_WHY_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (name && *name)
        wni_fail(err, WN_EINVAL, "%s:%d:%d: %s", name, line, column, message);
    else
        wni_fail(err, WN_EINVAL, "line %d, column %d: %s", line, column, message);
    wni_utf8_tidy(err->text);
    return WN_EINVAL;
}

void wni_text_position(const char *text, size_t offset, int *line, int *column)
{
    size_t lines = 1, start = 0;
    for (size_t i = 0; i < offset; i++)
        if (text[i] == '\n') {
            lines++;
            start = i + 1;
        }
    size_t columns = wni_utf8_count(text + start, offset - start) + 1;
    *line = lines > INT_MAX ? INT_MAX : (int)lines;
    *column = columns > INT_MAX ? INT_MAX : (int)columns;
}

wn_status wni_text_check(const char *name, const char *text, size_t length, struct err *err)
{
    const char *nul = length ? memchr(text, '\0', length) : NULL;
    size_t end = nul ? (size_t)(nul - text) : length;
    size_t good = wni_utf8_valid(text, end);
    if (good == length) return WN_OK;
    int line, column;
    wni_text_position(text, good, &line, &column);
    if (good == end) return wni_fail_at(err, name, line, column, "NUL byte: this is not a text file");
    return wni_fail_at(err, name, line, column, "byte 0x%02x is not UTF-8 text", (unsigned char)text[good]);
}

wn_status wni_document_init(struct document *doc, const char *name, struct err *err)
{
    *doc = (struct document){.name = ""};
    if (!name || !*name) return WN_OK;
    const char *copy = wni_arena_strdup(&doc->arena, name);
    if (!copy) return wni_fail_memory(err);
    doc->name = copy;
    return WN_OK;
}

void wni_document_release(struct document *doc)
{
    wni_arena_release(&doc->arena);
    *doc = (struct document){.name = ""};
}

/* ---- writing ---- */

/* What has a meaning of its own only without quotes. */
static bool is_bare(const struct node *n)
{
    double number;
    bool flag;
    return !n->quoted && (wni_node_number(n, &number) || wni_node_bool(n, &flag) || wni_node_is_null(n));
}

static void write_scalar(const struct node *n, struct buf *out)
{
    if (!is_bare(n))
        wni_buf_json_string(out, n->text);
    else
        wni_buf_puts(out, wni_node_is_null(n) ? "null" : n->text);
}

void wni_node_write(const struct node *n, struct buf *out)
{
    if (n->kind == NODE_SCALAR) {
        write_scalar(n, out);
        return;
    }
    wni_buf_putc(out, n->kind == NODE_MAP ? '{' : '[');
    for (size_t i = 0; i < n->n; i++) {
        if (i) wni_buf_puts(out, ", ");
        if (n->kind == NODE_MAP) {
            wni_buf_json_string(out, n->keys[i]->text);
            wni_buf_puts(out, ": ");
        }
        wni_node_write(n->items[i], out);
    }
    wni_buf_putc(out, n->kind == NODE_MAP ? '}' : ']');
}

/* ---- files ---- */

static wn_status read_file(const char *path, struct buf *out, struct err *err)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return wni_fail(err, errno == ENOENT ? WN_ENOTFOUND : WN_EIO, "cannot open '%s': %s", path,
                        strerror(errno));
    char chunk[CHUNK];
    size_t n;
    out->limit = FILE_MAX;
    while (!out->failed && (n = fread(chunk, 1, sizeof chunk, file)) > 0)
        wni_buf_add(out, chunk, n);
    wn_status st = WN_OK;
    if (ferror(file))
        st = wni_fail(err, WN_EIO, "cannot read '%s': %s", path, strerror(errno));
    else if (out->failed && out->len + CHUNK > FILE_MAX)
        st = wni_fail(err, WN_EINVAL, "'%s' is larger than %d MiB", path, FILE_MAX >> 20);
    else if (out->failed)
        st = wni_fail_memory(err);
    fclose(file);
    return st;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

wn_status wni_document_load(struct document *doc, const char *path, struct err *err)
{
    struct buf text = {0};
    *doc = (struct document){.name = ""};
    wn_status st = read_file(path, &text, err);
    if (!st)
        st = (ends_in(path, ".json") ? wni_json_parse : wni_yaml_parse)(doc, path, wni_buf_text(&text),
                                                                        text.len, err);
    wni_buf_release(&text);
    return st;
}
