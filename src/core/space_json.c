/* space_json.c -- spaces and configurations as JSON, and configurations back.
 *
 * A label is a text, but people write numbers as numbers: it goes out as one wherever it comes back as the
 * same label, and in quotes otherwise. */
#include "base/closest.h"
#include "base/mem.h"
#include "base/number.h"
#include "core/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

/* The number a label is written as, if it reads back as this label and no other. */
static bool label_number(const struct param *p, size_t index, double *out)
{
    char text[WNI_NUMBER_MAX];
    double found;
    if (p->kind == PARAM_ORDINAL && !p->numbers) return false; /* words, whatever they look like */
    if (!wni_parse_double(p->labels[index], out) || !isfinite(*out)) return false;
    *out += 0.0; /* JSON readers turn -0 into 0 */
    wni_format_double(*out, text);
    return !wni_param_parse(p, text, &found, NULL) && found == (double)index;
}

/* Whether the label's text survives being written as a number: then it is, since that is how people write it.
 */
static bool label_is_exact(const struct param *p, size_t index)
{
    char text[WNI_NUMBER_MAX];
    double number;
    if (!label_number(p, index, &number)) return false;
    wni_format_double(number, text);
    return !strcmp(text, p->labels[index]);
}

/* Returns whether it was a number. */
static bool write_label(const struct param *p, size_t index, struct buf *json)
{
    bool exact = label_is_exact(p, index);
    if (exact)
        wni_buf_puts(json, p->labels[index]);
    else
        wni_buf_json_string(json, p->labels[index]);
    return exact;
}

static void write_values(const struct param *p, struct buf *json)
{
    bool exact = true;
    wni_buf_puts(json, ", \"values\": [");
    for (size_t i = 0; i < p->count; i++) {
        if (i) wni_buf_puts(json, ", ");
        if (!write_label(p, i, json)) exact = false;
    }
    wni_buf_putc(json, ']');
    /* "0.0" went out in quotes to keep its text: the scale says that it is a number all the same */
    if (p->scale == WN_LOG)
        wni_buf_puts(json, ", \"scale\": \"log\"");
    else if (p->numbers && !exact)
        wni_buf_puts(json, ", \"scale\": \"linear\"");
}

static void write_range(const struct param *p, struct buf *json)
{
    wni_buf_puts(json, ", \"min\": ");
    wni_buf_double(json, p->min);
    wni_buf_puts(json, ", \"max\": ");
    wni_buf_double(json, p->max);
    if (p->step > 0 && !(p->kind == PARAM_INT && p->step == 1)) {
        wni_buf_puts(json, ", \"step\": ");
        wni_buf_double(json, p->step);
    }
    if (p->scale == WN_LOG) wni_buf_puts(json, ", \"scale\": \"log\"");
}

static void write_parameter(const struct param *p, struct buf *json)
{
    wni_buf_json_string(json, p->name);
    wni_buf_printf(json, ": {\"type\": \"%s\"", wni_param_kind_name(p->kind));
    switch (p->kind) {
    case PARAM_FLOAT:
    case PARAM_INT:
        write_range(p, json);
        break;
    case PARAM_ORDINAL:
    case PARAM_CATEGORICAL:
        write_values(p, json);
        break;
    case PARAM_CONSTANT:
        wni_buf_puts(json, ", \"value\": ");
        write_label(p, 0, json);
        break;
    case PARAM_BOOL:
        break;
    }
    wni_buf_putc(json, '}');
}

void wni_space_write(const struct space *space, struct buf *json)
{
    wni_buf_putc(json, '{');
    for (size_t i = 0; i < space->n; i++) {
        if (i) wni_buf_puts(json, ", ");
        write_parameter(&space->params[i], json);
    }
    wni_buf_putc(json, '}');
}

static void write_value(const struct param *p, double value, struct buf *json)
{
    double number = value;
    if (p->kind == PARAM_BOOL)
        wni_buf_puts(json, p->labels[(size_t)value]);
    else if (!p->labels || label_number(p, (size_t)value, &number))
        wni_buf_double(json, number);
    else
        wni_buf_json_string(json, p->labels[(size_t)value]);
}

void wni_config_write(const struct space *space, const double *config, struct buf *json)
{
    wni_buf_putc(json, '{');
    for (size_t i = 0; i < space->n; i++) {
        if (i) wni_buf_puts(json, ", ");
        wni_buf_json_string(json, space->params[i].name);
        wni_buf_puts(json, ": ");
        write_value(&space->params[i], config[i], json);
    }
    wni_buf_putc(json, '}');
}

/* ---- reading a configuration ---- */

static wn_status fail_unknown(const struct space *space, const char *name, struct err *err)
{
    const char **names = wni_new(const char *, space->n);
    if (!names) return wni_fail_memory(err);
    for (size_t i = 0; i < space->n; i++)
        names[i] = space->params[i].name;
    const char *near = wni_closest(name, names, space->n);
    wn_status st = near
                       ? wni_fail(err, WN_EINVAL, "unknown parameter '%.64s'; did you mean '%s'?", name, near)
                       : wni_fail(err, WN_EINVAL, "unknown parameter '%.64s'", name);
    free(names);
    return st;
}

static wn_status read_value(const struct param *p, const struct node *node, double *out, struct err *err)
{
    if (node->kind != NODE_SCALAR || wni_node_is_null(node))
        return wni_fail(err, WN_EINVAL, "parameter '%s': expected a value, got %s", p->name,
                        wni_node_kind_name(node));
    return wni_param_parse(p, node->text, out, err);
}

wn_status wni_config_read(const struct space *space, const struct node *map, double *config, bool *given,
                          struct err *err)
{
    if (!map || map->kind != NODE_MAP)
        return wni_fail(err, WN_EINVAL, "expected a mapping of parameters to values, got %s",
                        wni_node_kind_name(map));
    for (size_t i = 0; i < space->n && given; i++)
        given[i] = false;
    for (size_t i = 0; i < map->n; i++) {
        size_t index;
        const struct param *p = wni_space_find(space, map->keys[i]->text, &index);
        wn_status st = p ? read_value(p, map->items[i], &config[index], err)
                         : fail_unknown(space, map->keys[i]->text, err);
        if (st) return st;
        if (given) given[index] = true;
    }
    for (size_t i = 0; i < space->n && !given; i++)
        if (!wni_node_get(map, space->params[i].name))
            return wni_fail(err, WN_EINVAL, "parameter '%s' is missing", space->params[i].name);
    return WN_OK;
}
