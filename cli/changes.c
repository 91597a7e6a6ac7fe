/* changes.c -- what a study's new setup changed, a line for each thing.
 *
 * Parameters are compared as they are searched.  All else is what the study files say: their documents are
 * compared key by key, so a key that is new tomorrow needs nothing here. */
#include "base/mem.h"
#include "cli/study_option.h"

#include <string.h>

static void line(struct buf *out, const char *indent, const char *what, const char *before, const char *after)
{
    wni_buf_printf(out, "%s%-16s %s -> %s\n", indent, what, before, after);
}

/* ---- parameters ---- */

static void put_added(const struct param *old, const struct param *new, struct buf *out)
{
    for (size_t i = (size_t)old->count; i < new->count; i++)
        wni_buf_printf(out, "%s%s", i > old->count ? ", " : "", new->labels[i]);
}

static void put_parameter(const struct param *old, const struct param *new, const char *indent,
                          struct buf *out)
{
    struct buf before = {0}, after = {0};
    wni_describe_param(old, &before);
    wni_describe_param(new, &after);
    if (strcmp(wni_buf_text(&before), wni_buf_text(&after)) != 0) {
        if (new->labels) {
            wni_buf_printf(out, "%s%-16s and ", indent, new->name);
            put_added(old, new, out);
            wni_buf_putc(out, '\n');
        } else {
            line(out, indent, new->name, wni_buf_text(&before), wni_buf_text(&after));
        }
    }
    wni_buf_release(&before);
    wni_buf_release(&after);
}

/* ---- files ---- */

static void put_value(const struct node *n, struct buf *out)
{
    if (!n)
        wni_buf_puts(out, "none");
    else if (n->kind == NODE_SCALAR)
        wni_buf_puts(out, n->text);
    else
        wni_node_write(n, out);
}

static void put_key(const char *name, const struct node *old, const struct node *new, const char *indent,
                    struct buf *out)
{
    struct buf before = {0}, after = {0};
    put_value(old, &before);
    put_value(new, &after);
    if (strcmp(wni_buf_text(&before), wni_buf_text(&after)) != 0)
        line(out, indent, name, wni_buf_text(&before), wni_buf_text(&after));
    wni_buf_release(&before);
    wni_buf_release(&after);
}

static void put_keys(const char *prefix, const struct node *old, const struct node *new, const char *indent,
                     struct buf *out);

static void put_either(const char *name, const struct node *old, const struct node *new, const char *indent,
                       struct buf *out)
{
    if ((!old || old->kind == NODE_MAP) && (!new || new->kind == NODE_MAP))
        put_keys(name, old, new, indent, out);
    else
        put_key(name, old, new, indent, out);
}

/* Each of the two may be NULL: nothing was said. */
static void put_keys(const char *prefix, const struct node *old, const struct node *new, const char *indent,
                     struct buf *out)
{
    for (int pass = 0; pass < 2; pass++) { /* what there is now, then what there is no more */
        const struct node *map = pass ? old : new;
        for (size_t i = 0; map && i < map->n; i++) {
            const char *key = map->keys[i]->text;
            struct buf name = {0};
            bool known = !*prefix && (!strcmp(key, "parameters") || !strcmp(key, "name"));
            if (known || (pass && wni_node_get(new, key))) continue;
            wni_buf_printf(&name, "%s%s%s", prefix, *prefix ? "." : "", key);
            put_either(wni_buf_text(&name), old ? wni_node_get(old, key) : NULL,
                       new ? wni_node_get(new, key) : NULL, indent, out);
            wni_buf_release(&name);
        }
    }
}

static void put_files(const char *old, const char *new, const char *indent, struct buf *out)
{
    struct document before = {0}, after = {0};
    bool fine = old && new && !wni_yaml_parse(&before, "", old, strlen(old), NULL) &&
                !wni_yaml_parse(&after, "", new, strlen(new), NULL);
    if (fine && before.root->kind == NODE_MAP && after.root->kind == NODE_MAP)
        put_keys("", before.root, after.root, indent, out);
    wni_document_release(&before);
    wni_document_release(&after);
}

/* ---- together ---- */

void wni_describe_changes(const struct study_setup *before, const struct study_setup *after,
                          const char *indent, struct buf *out)
{
    size_t start = out->len;
    for (size_t i = 0; i < after->space->n; i++)
        put_parameter(&before->space->params[i], &after->space->params[i], indent, out);
    put_files(before->file, after->file, indent, out);
    if (out->len == start)
        wni_buf_printf(out, "%sthe study file, which says the same in other words\n", indent);
}
