/* columns.c -- configurations out of a CSV file.
 *
 * A table's column repeats a handful of texts tens of thousands of times.  Parsing each ("is it a label?  is
 * it a number equal to one?") would take ten times as long as reading the file, so each parameter has a small
 * cache from text to value: a text is parsed once and compared afterwards. */
#include "bench/columns.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CACHE_SLOTS = 64,
    CACHE_TEXT = 24, /* longer texts are not cached */
    TEXT_MAX = 511,
};

struct column_cache {
    struct cached {
        unsigned char length; /* 0: empty slot; an empty text is never cached */
        char text[CACHE_TEXT];
        double value;
    } slots[CACHE_SLOTS];
};

wn_status wni_columns_path(struct arena *arena, const struct task *task, const struct family *family,
                           const char **out, struct err *err)
{
    const struct node *entry = family->tasks->items[task->index];
    const struct node *map = wni_node_get(entry, "configs") ? entry : family->root;
    const char *name;
    wn_status st = wni_family_text(family, map, "configs", "configs.csv", &name, err);
    if (st) return st;
    *out = wni_path_join(arena, family->folder, name);
    return *out ? WN_OK : wni_fail_memory(err);
}

static wn_status match_columns(struct columns *c, struct err *err)
{
    const struct csv *csv = &c->csv;
    for (size_t i = 0; i < c->space->n; i++)
        c->column_of[i] = SIZE_MAX;
    for (size_t j = 0; j < csv->n_columns; j++) {
        size_t i;
        if (!wni_space_find(c->space, csv->names[j], &i))
            return wni_fail(err, WN_EINVAL, "%s:1: column '%s' is not a parameter of the space", csv->path,
                            csv->names[j]);
        if (c->column_of[i] != SIZE_MAX)
            return wni_fail(err, WN_EINVAL, "%s:1: column '%s' is there twice", csv->path, csv->names[j]);
        c->column_of[i] = j;
    }
    for (size_t i = 0; i < c->space->n; i++)
        if (c->column_of[i] == SIZE_MAX)
            return wni_fail(err, WN_EINVAL, "%s:1: there is no column for parameter '%s'", csv->path,
                            c->space->params[i].name);
    return WN_OK;
}

wn_status wni_columns_open(struct columns *c, const struct space *space, const char *path, struct err *err)
{
    *c = (struct columns){.space = space};
    wn_status st = wni_csv_open(&c->csv, path, err);
    if (st) return st;
    c->column_of = wni_new(size_t, space->n);
    c->cache = wni_new(struct column_cache, space->n);
    st = c->column_of && c->cache ? match_columns(c, err) : wni_fail_memory(err);
    if (st) wni_columns_release(c);
    return st;
}

void wni_columns_release(struct columns *c)
{
    wni_csv_release(&c->csv);
    free(c->column_of);
    free(c->cache);
    *c = (struct columns){0};
}

/* Any spread will do: a collision costs one more parse. */
static struct cached *cache_slot(struct column_cache *cache, const struct csv_field *field)
{
    uint32_t h = (uint32_t)field->length;
    for (size_t i = 0; i < field->length; i++)
        h = h * 31 + (unsigned char)field->text[i];
    return &cache->slots[(h ^ (h >> 7)) % CACHE_SLOTS];
}

static wn_status parse_field(const struct csv *csv, const struct param *p, const struct csv_field *field,
                             bool raw, double *out, struct err *err)
{
    char text[TEXT_MAX + 1];
    if (field->length > TEXT_MAX)
        return wni_fail(err, WN_EINVAL, "%s:%zu: a value of '%s' is longer than %d bytes", csv->path,
                        csv->row_line, p->name, TEXT_MAX);
    memcpy(text, field->text, field->length);
    text[field->length] = '\0';
    bool number = raw && (!p->labels || p->numbers);
    if (number && (!wni_parse_double(text, out) || !isfinite(*out)))
        return wni_fail(err, WN_EINVAL, "%s:%zu: '%s' is not a finite number for '%s'", csv->path,
                        csv->row_line, text, p->name);
    wn_status st = number ? WN_OK : wni_param_parse(p, text, out, err);
    if (st) wni_err_prefix(err, "%s:%zu", csv->path, csv->row_line);
    return st;
}

static wn_status read_field(struct columns *c, size_t i, bool raw, double *out, struct err *err)
{
    const struct csv_field *field = &c->csv.fields[c->column_of[i]];
    struct cached *slot = cache_slot(&c->cache[i], field);
    if (slot->length == field->length && slot->length && !memcmp(slot->text, field->text, field->length)) {
        *out = slot->value;
        return WN_OK;
    }
    wn_status st = parse_field(&c->csv, &c->space->params[i], field, raw, out, err);
    if (st || field->length > CACHE_TEXT) return st;
    memcpy(slot->text, field->text, field->length);
    slot->length = (unsigned char)field->length;
    slot->value = *out;
    return WN_OK;
}

static wn_status next(struct columns *c, bool raw, double *row, struct err *err)
{
    wn_status st = wni_csv_next(&c->csv, err);
    for (size_t i = 0; i < c->space->n && !st; i++)
        st = read_field(c, i, raw, &row[i], err);
    return st;
}

wn_status wni_columns_next(struct columns *c, double *config, struct err *err)
{
    return next(c, false, config, err);
}

wn_status wni_columns_next_raw(struct columns *c, double *row, struct err *err)
{
    return next(c, true, row, err);
}
