/* import_csv.c -- finished trials from a CSV file: one row each, parameters by the names of the columns. */
#include "cli/importing.h"
#include "cli/trialtable.h"

#include "base/mem.h"
#include "base/number.h"
#include "bench/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CATEGORIES_MAX = 100 };

/* What 'winnow export' writes beside the parameters. */
static const char *const ours[] = {"trial",   "state",   "value", "resource", "best",  "best_resource",
                                   "reports", "attempt", "asked", "ended",    "reason"};

/* ---- columns ---- */

static ptrdiff_t find_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; name && i < csv->n_columns; i++)
        if (!strcmp(csv->names[i], name)) return (ptrdiff_t)i;
    return -1;
}

static bool is_ours(const char *name)
{
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (!strcmp(ours[i], name)) return true;
    return false;
}

static bool is_ignored(const struct csv_meaning *m, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = m->ignore ? m->ignore : ""; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (n == length && !memcmp(at, name, n)) return true;
        at += n;
    }
    return false;
}

static void list_columns(const struct csv *csv, struct buf *out)
{
    for (size_t i = 0; i < csv->n_columns && i < 20; i++)
        wni_buf_printf(out, "%s'%s'", i ? ", " : "", csv->names[i]);
}

static wn_status fail_column(const struct csv *csv, const char *what, const char *name, struct err *err)
{
    struct buf list = {0};
    list_columns(csv, &list);
    wni_fail(err, WN_EINVAL, "'%s' has no column '%s' for %s; it has %s", csv->path, name, what,
             wni_buf_text(&list));
    wni_buf_release(&list);
    return WN_EINVAL;
}

/* The column of the values: the one that was said, or the metric's, or ours. */
static wn_status value_column(const struct csv *csv, const struct csv_meaning *m, ptrdiff_t *out,
                              struct err *err)
{
    *out = m->value ? find_column(csv, m->value) : find_column(csv, m->metric);
    if (*out < 0 && !m->value) *out = find_column(csv, "value");
    if (*out >= 0) return WN_OK;
    return fail_column(csv, "the values (see --value)",
                       m->value    ? m->value
                       : m->metric ? m->metric
                                   : "value",
                       err);
}

static wn_status resource_column(const struct csv *csv, const struct csv_meaning *m, ptrdiff_t *out,
                                 struct err *err)
{
    *out = find_column(csv, m->resource ? m->resource : "resource");
    if (*out >= 0 || !m->resource) return WN_OK;
    return fail_column(csv, "the resource", m->resource, err);
}

/* A field as text of its own.  NULL: out of memory. */
static char *field_text(const struct csv *csv, size_t column)
{
    return wni_strndup(csv->fields[column].text, csv->fields[column].length);
}

/* ---- guessing a space ---- */

/* What a column may be, as far as has been read. */
struct guess {
    bool use, number, whole, boolean;
    double min, max;
    size_t numbers, others, odd_line; /* cells, and where the first other is */
    const char *odd;                  /* that one */
    const char **labels;              /* distinct texts */
    size_t n_labels, labels_cap;
};

static wn_status add_label(struct guess *g, struct arena *texts, const char *text, struct err *err)
{
    for (size_t i = 0; i < g->n_labels; i++)
        if (!strcmp(g->labels[i], text)) return WN_OK;
    if (g->n_labels > CATEGORIES_MAX) return WN_OK;
    char *copy = wni_arena_strdup(texts, text);
    if (!copy || !wni_reserve((void **)&g->labels, &g->labels_cap, g->n_labels + 1, sizeof *g->labels))
        return wni_fail_memory(err);
    g->labels[g->n_labels++] = copy;
    return WN_OK;
}

static wn_status look_at(struct guess *g, struct arena *texts, const char *text, size_t line, struct err *err)
{
    double x;
    int64_t whole;
    bool number = wni_parse_double(text, &x) && isfinite(x);
    g->number = g->number && number;
    g->whole = g->whole && wni_parse_int(text, &whole);
    g->boolean = g->boolean && (!strcmp(text, "true") || !strcmp(text, "false"));
    if (number) {
        g->min = fmin(g->min, x);
        g->max = fmax(g->max, x);
        g->numbers++;
    } else if (g->others++ == 0) {
        g->odd = wni_arena_strdup(texts, text);
        g->odd_line = line;
        if (!g->odd) return wni_fail_memory(err);
    }
    return add_label(g, texts, text, err);
}

static wn_status read_guesses(struct csv *csv, struct guess *guesses, struct arena *texts, struct err *err)
{
    wn_status st;
    while ((st = wni_csv_next(csv, err)) == WN_OK)
        for (size_t i = 0; i < csv->n_columns && !st; i++) {
            if (!guesses[i].use) continue;
            char *text = field_text(csv, i);
            st = text ? look_at(&guesses[i], texts, text, csv->row_line, err) : wni_fail_memory(err);
            free(text);
            if (st) return st;
        }
    return st == WN_EXHAUSTED ? WN_OK : st;
}

static wn_status add_guess(struct space *space, const char *path, const char *name, const struct guess *g,
                           struct err *err)
{
    struct param_decl decl = {.name = name, .labels = g->labels, .n_labels = g->n_labels};
    if (g->n_labels == 1)
        decl.kind = PARAM_CONSTANT;
    else if (g->boolean)
        decl.kind = PARAM_BOOL;
    else if (g->number)
        decl = (struct param_decl){.name = name,
                                   .kind = g->whole ? PARAM_INT : PARAM_FLOAT,
                                   .min = g->min,
                                   .max = g->max,
                                   .scale = g->min > 0 && g->max / g->min >= 1000 ? WN_LOG : WN_LINEAR};
    else if (g->n_labels > CATEGORIES_MAX)
        return wni_fail(
            err, WN_EINVAL,
            "'%s': column '%s' has more than %d different words: it is no parameter (--ignore %s)", path,
            name, CATEGORIES_MAX, name);
    else
        decl.kind = PARAM_CATEGORICAL;
    wn_status st = wni_space_add(space, &decl, err);
    if (st) wni_err_prefix(err, "'%s'", path);
    return st;
}

/* Numbers but for a cell or two: more likely a slip than words that look like numbers. */
static void note_odd(const char *path, const char *name, const struct guess *g, struct buf *notes)
{
    bool slip = g->others == 1 ? g->numbers >= 2 : g->others && g->numbers >= 10 * g->others;
    if (g->use && slip)
        wni_buf_printf(notes, "%s:%zu: column '%s': '%s' is no number, so its values are taken for words\n",
                       path, g->odd_line, name, g->odd);
}

/* Columns for parameters are called by their names, or param.NAME. */
static const char *param_of(const char *column)
{
    return !strncmp(column, "param.", 6) && is_ours(column + 6) ? column + 6 : column;
}

static wn_status guess_space(struct csv *csv, const struct csv_meaning *m, struct space *space,
                             struct arena *texts, struct guess *guesses, struct buf *notes, struct err *err)
{
    ptrdiff_t value, resource;
    wn_status st = value_column(csv, m, &value, err);
    if (!st) st = resource_column(csv, m, &resource, err);
    for (size_t i = 0; i < csv->n_columns && !st; i++)
        guesses[i] = (struct guess){.use = !is_ours(csv->names[i]) && !is_ignored(m, csv->names[i]) &&
                                           (ptrdiff_t)i != value && (ptrdiff_t)i != resource,
                                    .number = true,
                                    .whole = true,
                                    .boolean = true,
                                    .min = INFINITY,
                                    .max = -INFINITY};
    if (!st) st = read_guesses(csv, guesses, texts, err);
    for (size_t i = 0; i < csv->n_columns && !st; i++)
        note_odd(csv->path, csv->names[i], &guesses[i], notes);
    if (!st && csv->row == 0) st = wni_fail(err, WN_EINVAL, "'%s' has no rows", csv->path);
    for (size_t i = 0; i < csv->n_columns && !st; i++)
        if (guesses[i].use) st = add_guess(space, csv->path, param_of(csv->names[i]), &guesses[i], err);
    if (!st && space->n == 0) st = wni_fail(err, WN_EINVAL, "'%s' has no columns of parameters", csv->path);
    return st;
}

wn_status wni_import_csv_space(const char *path, const struct csv_meaning *meaning, struct space *space,
                               struct buf *notes, struct err *err)
{
    struct csv csv;
    struct arena texts = {0};
    wn_status st = wni_csv_open(&csv, path, err);
    if (st) return st == WN_EIO ? WN_EINVAL : st;
    struct guess *guesses = wni_new(struct guess, csv.n_columns);
    st = guesses ? guess_space(&csv, meaning, space, &texts, guesses, notes, err) : wni_fail_memory(err);
    for (size_t i = 0; guesses && i < csv.n_columns; i++)
        free(guesses[i].labels);
    free(guesses);
    wni_arena_release(&texts);
    wni_csv_release(&csv);
    return st;
}

/* ---- rows ---- */

struct reader {
    struct csv csv;
    const struct space *space;
    const struct csv_meaning *meaning;
    ptrdiff_t value, resource, state;
    size_t *columns; /* of the parameters */
    size_t unfinished, outside;
};

static wn_status find_params(struct reader *r, struct import_set *set, struct err *err)
{
    struct arena texts = {0};
    wn_status st = WN_OK;
    bool *used = wni_new(bool, r->csv.n_columns);
    r->columns = wni_new(size_t, r->space->n);
    if (!r->columns || !used) st = wni_fail_memory(err);
    for (size_t i = 0; i < r->space->n && !st; i++) {
        const char *name = wni_param_column(&texts, &r->space->params[i]);
        ptrdiff_t at = name ? find_column(&r->csv, name) : -1;
        if (at < 0 && r->space->params[i].kind == PARAM_CONSTANT) {
            r->columns[i] = SIZE_MAX;
        } else if (at < 0) {
            st = fail_column(&r->csv, "a parameter", r->space->params[i].name, err);
        } else {
            r->columns[i] = (size_t)at;
            used[at] = true;
        }
    }
    for (size_t i = 0; i < r->csv.n_columns && !st; i++)
        if (!used[i] && !is_ours(r->csv.names[i]) && !is_ignored(r->meaning, r->csv.names[i]) &&
            (ptrdiff_t)i != r->value && (ptrdiff_t)i != r->resource)
            wni_buf_printf(&set->notes, "column '%s' is not used\n", r->csv.names[i]);
    free(used);
    wni_arena_release(&texts);
    return st;
}

static wn_status fail_row(const struct reader *r, const char *format, const char *text, struct err *err)
{
    wn_status st = wni_fail(err, WN_EINVAL, "%s '%s'", format, text);
    wni_err_prefix(err, "%s:%zu", r->csv.path, r->csv.row_line);
    return st;
}

static wn_status read_number(const struct reader *r, ptrdiff_t column, const char *what, double *out,
                             struct err *err)
{
    wn_status st = WN_OK;
    char *text = field_text(&r->csv, (size_t)column);
    if (!text) return wni_fail_memory(err);
    if (!*text)
        *out = NAN;
    else if (!wni_parse_double(text, out))
        st = fail_row(r, what, text, err);
    free(text);
    return st;
}

static bool state_named(const char *text, wn_state *out)
{
    char name[16];
    for (int i = WN_WAITING; i <= WN_CANCELLED; i++) {
        wni_lower_state((wn_state)i, name);
        if (strcmp(name, text) != 0 && strcmp(wn_state_name((wn_state)i), text) != 0) continue;
        *out = (wn_state)i;
        return true;
    }
    return false;
}

static wn_status read_state(const struct reader *r, double value, wn_state *out, struct err *err)
{
    *out = isfinite(value) ? WN_COMPLETE : WN_FAILED;
    if (r->state < 0) return WN_OK;
    char *text = field_text(&r->csv, (size_t)r->state);
    wn_status st = text ? WN_OK : wni_fail_memory(err);
    if (text && *text && !state_named(text, out))
        st = fail_row(r, "a trial's state is complete, stopped, failed ..., not", text, err);
    free(text);
    return st;
}

/* WN_EXHAUSTED: a value is outside the space. */
static wn_status read_config(const struct reader *r, double *config, struct err *err)
{
    wn_status st = WN_OK;
    for (size_t i = 0; i < r->space->n && !st; i++) {
        config[i] = 0;
        if (r->columns[i] == SIZE_MAX) continue;
        char *text = field_text(&r->csv, r->columns[i]);
        if (!text) return wni_fail_memory(err);
        if (wni_param_parse(&r->space->params[i], text, &config[i], err)) {
            wni_err_prefix(err, "%s:%zu", r->csv.path, r->csv.row_line);
            st = WN_EXHAUSTED;
        }
        free(text);
    }
    return st;
}

static wn_status read_row(struct reader *r, struct import_set *set, struct err *err)
{
    double value = NAN, resource = NAN;
    wn_state state = WN_COMPLETE;
    wn_status st = read_number(r, r->value, "expected a number as the value, got", &value, err);
    if (!st && r->resource >= 0)
        st = read_number(r, r->resource, "expected a number as the resource, got", &resource, err);
    if (!st) st = read_state(r, value, &state, err);
    if (st) return st;
    if (state < WN_COMPLETE) {
        r->unfinished++;
        return WN_OK;
    }
    double *config = wni_import_row(set, r->space->n, state);
    if (!config) return wni_fail_memory(err);
    st = read_config(r, config, err);
    if (st == WN_EXHAUSTED) {
        wni_import_drop(set);
        r->outside++;
        return r->meaning->skip ? WN_OK : WN_EINVAL;
    }
    if (st || isnan(value)) return st;
    if (resource > set->max_resource) set->max_resource = resource;
    return wni_import_report(set, resource, value, err);
}

static wn_status read_rows(struct reader *r, struct import_set *set, struct err *err)
{
    wn_status st = value_column(&r->csv, r->meaning, &r->value, err);
    if (!st) st = resource_column(&r->csv, r->meaning, &r->resource, err);
    r->state = find_column(&r->csv, "state");
    if (!st) st = find_params(r, set, err);
    while (!st && (st = wni_csv_next(&r->csv, err)) == WN_OK)
        st = read_row(r, set, err);
    if (r->unfinished)
        wni_buf_printf(&set->notes, "%zu trials that had not ended are left out\n", r->unfinished);
    if (r->outside && r->meaning->skip)
        wni_buf_printf(&set->notes, "%zu trials outside the space are left out\n", r->outside);
    return st == WN_EXHAUSTED ? WN_OK : st;
}

wn_status wni_import_csv_rows(const char *path, const struct csv_meaning *meaning, const struct space *space,
                              struct import_set *set, struct err *err)
{
    struct reader r = {.space = space, .meaning = meaning};
    wn_status st = wni_csv_open(&r.csv, path, err);
    if (st) return st == WN_EIO ? WN_EINVAL : st;
    st = read_rows(&r, set, err);
    free(r.columns);
    wni_csv_release(&r.csv);
    return st;
}
