/* table.c -- exact look-up: every configuration of a finite space was run, and its results are in a table.
 *
 * configs.csv says which configuration each row of the arrays belongs to.  Opening turns it into one array
 * that maps the configuration's number in the space (mixed radix, wni_config_index) to its row, so a look-up
 * is O(1); the arrays themselves stay mapped.  FCNet's 62,208 rows are read in about 15 ms, nearly all of it
 * spent on the text. */
#include "bench/columns.h"
#include "bench/curves.h"

#include "base/mem.h"

#include <stdlib.h>

enum { CONFIGURATIONS_MAX = 1 << 28 }; /* 1 GiB of row numbers */

struct table {
    struct box box;
    struct curves curves;
    uint32_t *rows; /* configuration number -> row + 1 */
};

static void close_table(struct blackbox *base)
{
    struct table *t = (struct table *)base;
    wni_curves_release(&t->curves);
    free(t->rows);
    wni_box_release(&t->box);
    free(t);
}

static wn_status open_curve(const struct blackbox *base, const double *config, uint64_t seed, void *state,
                            struct err *err)
{
    (void)err;
    const struct table *t = (const struct table *)base;
    struct curve *curve = state;
    curve->row = t->rows[wni_config_index(&base->space, config)] - 1;
    curve->seed = seed % t->curves.n_seeds;
    return WN_OK;
}

static void read_curve(const struct blackbox *base, void *state, size_t level, double *value, double *seconds)
{
    wni_curves_read(&((const struct table *)base)->curves, state, level, value, seconds);
}

static void row_config(const struct blackbox *base, size_t row, double *config)
{
    wni_config_at(&base->space, row, config); /* every configuration was run; any order will do */
}

static const struct blackbox_ops table_ops = {
    .open_curve = open_curve, .read_curve = read_curve, .row_config = row_config, .close = close_table};

/* ---- opening ---- */

/* Notes that row `columns->csv.row` holds this configuration. */
static wn_status note_row(struct table *t, const struct columns *columns, const double *config,
                          struct err *err)
{
    uint64_t index = wni_config_index(&t->box.base.space, config);
    if (t->rows[index])
        return wni_fail(err, WN_EINVAL, "%s:%zu: this configuration was already in row %u", columns->csv.path,
                        columns->csv.row_line, t->rows[index]);
    t->rows[index] = (uint32_t)columns->csv.row;
    return WN_OK;
}

static wn_status fail_missing(const struct table *t, const char *path, size_t n_rows, struct err *err)
{
    const struct space *space = &t->box.base.space;
    uint64_t index = 0;
    while (t->rows[index])
        index++;
    struct buf text = {.limit = WN_WHY_MAX};
    double *config = wni_new(double, space->n);
    if (!config) return wni_fail_memory(err);
    wni_config_at(space, index, config);
    wni_config_write(space, config, &text);
    wn_status st =
        wni_fail(err, WN_EINVAL, "'%s' has %zu rows for a space of %zu configurations; there is none for %s",
                 path, n_rows, (size_t)space->size, wni_buf_text(&text));
    wni_buf_release(&text);
    free(config);
    return st;
}

static wn_status read_rows(struct table *t, struct columns *columns, double *config, struct err *err)
{
    wn_status st;
    while ((st = wni_columns_next(columns, config, err)) == WN_OK) {
        st = note_row(t, columns, config, err);
        if (st) return st;
    }
    if (st != WN_EXHAUSTED) return st;
    return columns->csv.row == t->box.base.space.size
               ? WN_OK
               : fail_missing(t, columns->csv.path, columns->csv.row, err);
}

static wn_status build_index(struct table *t, const char *path, struct err *err)
{
    const struct space *space = &t->box.base.space;
    if (space->size == 0 || space->size > CONFIGURATIONS_MAX)
        return wni_fail(err, WN_EINVAL,
                        "task '%s': a table needs a finite space of at most %d configurations",
                        t->box.base.name, CONFIGURATIONS_MAX);
    struct columns columns = {0};
    double *config = wni_new(double, space->n);
    t->rows = wni_new(uint32_t, (size_t)space->size);
    wn_status st = config && t->rows ? wni_columns_open(&columns, space, path, err) : wni_fail_memory(err);
    if (!st) st = read_rows(t, &columns, config, err);
    wni_columns_release(&columns);
    free(config);
    return st;
}

static wn_status open_table(const struct task *task, const struct family *family, struct blackbox **out,
                            struct err *err)
{
    struct table *t = wni_new(struct table, 1);
    if (!t) return wni_fail_memory(err);
    const char *configs = NULL;
    wn_status st = wni_box_init_family(&t->box, task, family, &table_ops, err);
    if (!st) st = wni_columns_path(&t->box.arena, task, family, &configs, err);
    if (!st) st = build_index(t, configs, err);
    if (!st) st = wni_curves_open(&t->curves, &t->box, task, family, (size_t)t->box.base.space.size, err);
    t->box.base.curve_size = sizeof(struct curve);
    t->box.base.n_rows = (size_t)t->box.base.space.size;
    if (st)
        close_table(&t->box.base);
    else
        *out = &t->box.base;
    return st;
}

const struct blackbox_kind wni_blackbox_table = {.name = "table", .open = open_table};
