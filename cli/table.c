/* table.c -- listings: aligned columns for people, CSV and JSON for programs. */
#include "cli/cli.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cell {
    char *text;
    bool number;
};

struct table {
    const char *const *columns;
    size_t n_columns;
    struct cell *cells; /* row by row */
    size_t n_cells, cap;
    bool failed;
};

struct table *wni_table_new(const char *const *columns, size_t n)
{
    struct table *t = wni_new(struct table, 1);
    if (t) *t = (struct table){.columns = columns, .n_columns = n};
    return t;
}

void wni_table_free(struct table *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i].text);
    free(t->cells);
    free(t);
}

static void add_cell(struct table *t, const char *text, bool number)
{
    char *copy = wni_strdup(text);
    if (!copy || !wni_reserve((void **)&t->cells, &t->cap, t->n_cells + 1, sizeof *t->cells)) {
        free(copy);
        t->failed = true;
        return;
    }
    t->cells[t->n_cells++] = (struct cell){.text = copy, .number = number};
}

void wni_table_text(struct table *t, const char *text)
{
    add_cell(t, text, false);
}

void wni_table_number(struct table *t, double x)
{
    char text[WNI_NUMBER_MAX] = "";
    if (!isnan(x)) wni_format_double(x, text);
    add_cell(t, text, true);
}

static size_t column_width(const struct table *t, size_t column)
{
    size_t width = strlen(t->columns[column]);
    for (size_t i = column; i < t->n_cells; i += t->n_columns) {
        size_t n = strlen(t->cells[i].text);
        if (n > width) width = n;
    }
    return width;
}

/* Numbers to the right, text to the left; the last column is not padded. */
static void print_aligned(const struct table *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_cells + t->n_columns; i++) {
        size_t column = i % t->n_columns;
        bool header = i < t->n_columns;
        bool right = t->n_cells >= t->n_columns && t->cells[column].number;
        const char *text = header ? t->columns[column] : t->cells[i - t->n_columns].text;
        int width = (int)column_width(t, column);
        bool last = column + 1 == t->n_columns;
        if (right)
            wni_buf_printf(out, "%*s", width, text);
        else
            wni_buf_printf(out, "%-*s", last ? 0 : width, text);
        wni_buf_puts(out, last ? "\n" : "  ");
    }
}

static void print_csv(const struct table *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_cells + t->n_columns; i++) {
        size_t column = i % t->n_columns;
        wni_buf_csv_field(out, i < t->n_columns ? t->columns[column] : t->cells[i - t->n_columns].text);
        wni_buf_putc(out, column + 1 == t->n_columns ? '\n' : ',');
    }
}

static void json_cell(const struct cell *cell, struct buf *out)
{
    double x;
    if (!cell->number)
        wni_buf_json_string(out, cell->text);
    else if (cell->text[0] && wni_parse_double(cell->text, &x) && isfinite(x))
        wni_buf_puts(out, cell->text);
    else
        wni_buf_puts(out, "null");
}

static void print_json(const struct table *t, struct buf *out)
{
    wni_buf_putc(out, '[');
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t column = i % t->n_columns;
        wni_buf_puts(out, column ? ", " : i ? ",\n {" : "\n {");
        wni_buf_json_string(out, t->columns[column]);
        wni_buf_puts(out, ": ");
        json_cell(&t->cells[i], out);
        if (column + 1 == t->n_columns) wni_buf_putc(out, '}');
    }
    wni_buf_puts(out, "\n]\n");
}

wn_status wni_table_print(struct table *t, const char *format, FILE *out)
{
    struct buf text = {0};
    if (!strcmp(format, "csv"))
        print_csv(t, &text);
    else if (!strcmp(format, "json"))
        print_json(t, &text);
    else
        print_aligned(t, &text);
    bool failed = t->failed || text.failed;
    if (!failed) fwrite(text.data, 1, text.len, out);
    wni_buf_release(&text);
    return failed ? WN_ENOMEM : WN_OK;
}
