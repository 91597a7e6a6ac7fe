/* csv.c -- one pass over the bytes of a row. */
#include "bench/csv.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static wn_status fail_row(const struct csv *csv, struct err *err, const char *what)
{
    return wni_fail(err, WN_EINVAL, "%s:%zu: %s", csv->path, csv->line, what);
}

static bool at_field_end(const struct csv *csv)
{
    if (csv->at == csv->end || *csv->at == ',' || *csv->at == '\n') return true;
    return *csv->at == '\r' && csv->at + 1 < csv->end && csv->at[1] == '\n';
}

static wn_status read_plain(struct csv *csv, struct csv_field *field, struct err *err)
{
    const char *from = csv->at;
    while (!at_field_end(csv)) {
        if (*csv->at == '"') return fail_row(csv, err, "a quote inside a field that does not begin with one");
        csv->at++;
    }
    *field = (struct csv_field){from, (size_t)(csv->at - from)};
    return WN_OK;
}

/* The text between quotes, with "" turned into ". */
static wn_status undouble(struct csv *csv, struct csv_field *field, struct err *err)
{
    char *copy = wni_arena_alloc(&csv->scratch, field->length + 1, 1);
    if (!copy) return wni_fail_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < field->length; i++) {
        copy[n++] = field->text[i];
        if (field->text[i] == '"') i++;
    }
    *field = (struct csv_field){copy, n};
    return WN_OK;
}

static wn_status read_quoted(struct csv *csv, struct csv_field *field, struct err *err)
{
    const char *from = ++csv->at;
    bool doubled = false;
    for (;; csv->at++) {
        if (csv->at == csv->end) {
            csv->line = csv->row_line;
            return fail_row(csv, err, "a quote in this row is never closed");
        }
        if (*csv->at == '\n') csv->line++;
        if (*csv->at != '"') continue;
        if (csv->at + 1 == csv->end || csv->at[1] != '"') break;
        doubled = true;
        csv->at++;
    }
    *field = (struct csv_field){from, (size_t)(csv->at - from)};
    csv->at++;
    if (!at_field_end(csv)) return fail_row(csv, err, "text after a closing quote");
    return doubled ? undouble(csv, field, err) : WN_OK;
}

/* Reads a whole row of any length; *n fields. */
static wn_status read_row(struct csv *csv, size_t *n, struct err *err)
{
    csv->row_line = csv->line;
    if (csv->scratch.block) wni_arena_reset(&csv->scratch);
    for (*n = 0;;) {
        if (*n == CSV_COLUMNS_MAX) return fail_row(csv, err, "more than 4096 fields");
        if (*n == csv->fields_cap &&
            !wni_reserve((void **)&csv->fields, &csv->fields_cap, *n + 1, sizeof *csv->fields))
            return wni_fail_memory(err);
        struct csv_field *field = &csv->fields[(*n)++];
        bool quoted = csv->at < csv->end && *csv->at == '"';
        wn_status st = quoted ? read_quoted(csv, field, err) : read_plain(csv, field, err);
        if (st) return st;
        if (csv->at == csv->end) return WN_OK;
        char separator = *csv->at;
        csv->at += separator == '\r' ? 2 : 1;
        if (separator == ',') continue;
        csv->line++;
        return WN_OK;
    }
}

static wn_status read_names(struct csv *csv, struct err *err)
{
    if (csv->at == csv->end)
        return wni_fail(err, WN_EINVAL, "'%s' is empty: its first line must name the columns", csv->path);
    wn_status st = read_row(csv, &csv->n_columns, err);
    if (st) return st;
    csv->names = arena_new(&csv->arena, const char *, csv->n_columns);
    if (!csv->names) return wni_fail_memory(err);
    for (size_t i = 0; i < csv->n_columns; i++) {
        csv->names[i] = wni_arena_strndup(&csv->arena, csv->fields[i].text, csv->fields[i].length);
        if (!csv->names[i]) return wni_fail_memory(err);
    }
    return WN_OK;
}

/* Takes over csv->map, empty or not. */
static wn_status begin(struct csv *csv, const char *name, const char *text, size_t length, struct err *err)
{
    csv->path = wni_arena_strdup(&csv->arena, name);
    csv->at = text;
    csv->end = text + length;
    csv->line = 1;
    if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) csv->at += 3;
    wn_status st = csv->path ? read_names(csv, err) : wni_fail_memory(err);
    if (st) wni_csv_release(csv);
    return st;
}

wn_status wni_csv_open_text(struct csv *csv, const char *name, const char *text, size_t length,
                            struct err *err)
{
    *csv = (struct csv){0};
    return begin(csv, name, text, length, err);
}

wn_status wni_csv_open(struct csv *csv, const char *path, struct err *err)
{
    *csv = (struct csv){0};
    wn_status st = wni_map_open(&csv->map, path, err);
    if (st) return st;
    return begin(csv, path, csv->map.data ? (const char *)csv->map.data : "", csv->map.size, err);
}

wn_status wni_csv_next(struct csv *csv, struct err *err)
{
    if (csv->at == csv->end) return WN_EXHAUSTED;
    size_t n;
    wn_status st = read_row(csv, &n, err);
    if (st) return st;
    if (n != csv->n_columns)
        return wni_fail(err, WN_EINVAL, "%s:%zu: %zu field%s where the header has %zu", csv->path,
                        csv->row_line, n, n == 1 ? "" : "s", csv->n_columns);
    csv->row++;
    return WN_OK;
}

void wni_csv_release(struct csv *csv)
{
    wni_map_release(&csv->map);
    free(csv->fields);
    wni_arena_release(&csv->arena);
    wni_arena_release(&csv->scratch);
    *csv = (struct csv){0};
}
