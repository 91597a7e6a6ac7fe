/* table.c -- listings: aligned columns for people, CSV and JSON for programs. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/number.h"
#include "base/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 256 }; /* of a listing that is printed as it comes */

enum cell_kind { CELL_TEXT, CELL_NUMBER, CELL_JSON };

struct cell {
    char *text;
    enum cell_kind kind;
};

struct table {
    const char *const *columns;
    size_t n_columns;
    struct cell *cells; /* row by row */
    size_t n_cells, cap;
    bool failed;
    FILE *stream;       /* NULL: everything is printed at the end */
    const char *format; /* of the stream */
    bool begun;         /* something was printed */
    bool any;           /* a row was */
    bool remarks;       /* the last column may be left out */
    size_t *widths;     /* in characters; NULL before the first block of an aligned table */
};

static void print_block(struct table *t);

struct table *wni_table_new(const char *const *columns, size_t n)
{
    struct table *t = wni_new(struct table, 1);
    if (t) *t = (struct table){.columns = columns, .n_columns = n};
    return t;
}

static void drop_cells(struct table *t)
{
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i].text);
    t->n_cells = 0;
}

void wni_table_free(struct table *t)
{
    if (!t) return;
    drop_cells(t);
    free(t->cells);
    free(t->widths);
    free(t);
}

static void add_cell(struct table *t, const char *text, enum cell_kind kind)
{
    char *copy = wni_strdup(text);
    if (!copy || !wni_reserve((void **)&t->cells, &t->cap, t->n_cells + 1, sizeof *t->cells)) {
        free(copy);
        t->failed = true;
        return;
    }
    t->cells[t->n_cells++] = (struct cell){.text = copy, .kind = kind};
    if (t->stream && t->n_cells == BLOCK_ROWS * t->n_columns) print_block(t);
}

void wni_table_text(struct table *t, const char *text)
{
    add_cell(t, text, CELL_TEXT);
}

void wni_table_number(struct table *t, double x)
{
    char text[WNI_NUMBER_MAX] = "";
    if (!isnan(x)) wni_format_double(x, text);
    add_cell(t, text, CELL_NUMBER);
}

void wni_table_json(struct table *t, const char *json)
{
    add_cell(t, json, CELL_JSON);
}

void wni_table_stream(struct table *t, const char *format, FILE *out)
{
    t->format = format;
    t->stream = out;
}

void wni_table_remarks(struct table *t)
{
    t->remarks = true;
}

/* ---- for people ---- */

static size_t width_of(const char *text)
{
    return wni_utf8_count(text, strlen(text));
}

static bool measure(struct table *t)
{
    assert(t->n_columns > 0);
    if (t->widths) return true;
    t->widths = wni_new(size_t, t->n_columns);
    if (!t->widths) return false;
    for (size_t i = 0; i < t->n_columns; i++)
        t->widths[i] = width_of(t->columns[i]);
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t n = width_of(t->cells[i].text), *width = &t->widths[i % t->n_columns];
        if (n > *width) *width = n;
    }
    return true;
}

/* Numbers to the right, text to the left; the last column is not padded. */
static void put_aligned(const struct table *t, size_t column, const char *text, struct buf *out)
{
    size_t n = width_of(text), gap = t->widths[column] > n ? t->widths[column] - n : 0;
    bool right = t->n_cells >= t->n_columns && t->cells[column].kind == CELL_NUMBER;
    bool last = column + 1 == t->n_columns;
    wni_buf_printf(out, "%*s%s%*s%s", right ? (int)gap : 0, "", text, right || last ? 0 : (int)gap, "",
                   last ? "\n" : "  ");
}

static void end_without_remark(struct buf *out)
{
    if (out->failed) return;
    out->len--; /* the newline */
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->len--;
    wni_buf_putc(out, '\n');
}

static bool has_remark(const struct table *t)
{
    for (size_t i = t->n_columns - 1; i < t->n_cells; i += t->n_columns)
        if (t->cells[i].text[0]) return true;
    return false;
}

static void print_aligned(struct table *t, struct buf *out)
{
    bool header = !t->begun;
    size_t n = t->n_columns;
    assert(n > 0);
    if (!measure(t)) {
        t->failed = true;
        return;
    }
    for (size_t i = 0; header && i < n; i++)
        put_aligned(t, i, t->remarks && i + 1 == n && !has_remark(t) ? "" : t->columns[i], out);
    if (header && t->remarks && !has_remark(t)) end_without_remark(out);
    for (size_t i = 0; i < t->n_cells; i++) {
        put_aligned(t, i % n, t->cells[i].text, out);
        if (t->remarks && i % n + 1 == n && !t->cells[i].text[0]) end_without_remark(out);
    }
}

/* ---- for programs ---- */

static void print_csv(const struct table *t, struct buf *out)
{
    size_t n_header = t->begun ? 0 : t->n_columns;
    for (size_t i = 0; i < t->n_cells + n_header; i++) {
        size_t column = i % t->n_columns;
        wni_buf_csv_field(out, i < n_header ? t->columns[column] : t->cells[i - n_header].text);
        wni_buf_putc(out, column + 1 == t->n_columns ? '\n' : ',');
    }
}

static void json_cell(const struct cell *cell, struct buf *out)
{
    double x;
    if (cell->kind == CELL_TEXT)
        wni_buf_json_string(out, cell->text);
    else if (cell->kind == CELL_JSON)
        wni_buf_puts(out, cell->text);
    else if (cell->text[0] && wni_parse_double(cell->text, &x) && isfinite(x))
        wni_buf_puts(out, cell->text);
    else
        wni_buf_puts(out, "null");
}

static void print_json(struct table *t, struct buf *out)
{
    if (!t->begun) wni_buf_putc(out, '[');
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t column = i % t->n_columns;
        wni_buf_puts(out, column ? ", " : t->any || i ? ",\n {" : "\n {");
        wni_buf_json_string(out, t->columns[column]);
        wni_buf_puts(out, ": ");
        json_cell(&t->cells[i], out);
        if (column + 1 == t->n_columns) wni_buf_putc(out, '}');
    }
}

static void print_block(struct table *t)
{
    struct buf text = {0};
    if (!strcmp(t->format, "csv"))
        print_csv(t, &text);
    else if (!strcmp(t->format, "json"))
        print_json(t, &text);
    else
        print_aligned(t, &text);
    t->failed = t->failed || text.failed;
    if (!t->failed && text.len) fwrite(text.data, 1, text.len, t->stream);
    wni_buf_release(&text);
    t->begun = true;
    t->any = t->any || t->n_cells;
    drop_cells(t);
}

wn_status wni_table_print(struct table *t, const char *format, FILE *out)
{
    wni_table_stream(t, format, out);
    print_block(t);
    if (!t->failed && !strcmp(format, "json")) fputs("\n]\n", out);
    return t->failed ? WN_ENOMEM : WN_OK;
}
