/* existing.c -- what 'winnow run' does about a study that is there already.
 *
 * A study in which no trial ever reported is nothing but a first attempt with a mistake in it: it is
 * replaced, so that mending the file or the program and running again is all there is to do.  Any other is
 * left alone, and the message says what it takes to choose: whether it runs now, and in what the file
 * differs. */
#include "cli/runner.h"
#include "cli/study_option.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct existing {
    bool found, has_value;
    uint64_t alive;     /* trials that run now */
    struct buf differs; /* keys of the file that say something else, "a, b"; empty: none */
    const char *text;   /* of the new file */
};

/* ---- in what two files differ ---- */

static void put_name(struct buf *out, const char *name)
{
    wni_buf_printf(out, "%s%s", out->len ? ", " : "", name);
}

static bool says_the_same(const struct node *a, const struct node *b)
{
    struct buf first = {0}, second = {0};
    if (a) wni_node_write(a, &first);
    if (b) wni_node_write(b, &second);
    bool same = !strcmp(wni_buf_text(&first), wni_buf_text(&second));
    wni_buf_release(&first);
    wni_buf_release(&second);
    return same;
}

static void compare_keys(const struct node *old, const struct node *new, struct buf *out)
{
    for (size_t i = 0; i < new->n; i++)
        if (!says_the_same(wni_node_get(old, new->keys[i]->text), new->items[i]))
            put_name(out, new->keys[i]->text);
    for (size_t i = 0; i < old->n; i++)
        if (!wni_node_get(new, old->keys[i]->text)) put_name(out, old->keys[i]->text);
}

static void compare_files(const char *old, const char *new, struct buf *out)
{
    struct document before = {0}, after = {0};
    bool fine = old && !wni_yaml_parse(&before, "", old, strlen(old), NULL) &&
                !wni_yaml_parse(&after, "", new, strlen(new), NULL);
    if (fine && before.root->kind == NODE_MAP && after.root->kind == NODE_MAP)
        compare_keys(before.root, after.root, out);
    wni_document_release(&before);
    wni_document_release(&after);
}

/* ---- the study ---- */

static wn_status take_row(void *context, const struct study_row *row, struct err *err)
{
    struct existing *e = context;
    e->found = true;
    e->has_value = !isnan(row->best);
    e->alive = row->alive;
    compare_files(row->about.file, e->text, &e->differs);
    return e->differs.failed ? wni_fail_memory(err) : WN_OK;
}

/* Nothing reported, not even NaN, and nothing that a user put into its queue. */
static wn_status look_closer(const char *url, const char *name, bool *worthless, struct err *err)
{
    struct opened_study s;
    wn_status st = wni_open_named(url, name, &s, err);
    const struct history *h = &s.study.history;
    *worthless = !st && h->n_reports == 0 && h->queue_head == h->n_queue;
    wni_close_study(&s);
    return st;
}

static wn_status fail_existing(const struct existing *e, const char *name, const char *url, struct err *err)
{
    struct buf differs = {0};
    if (e->differs.len) wni_buf_printf(&differs, " (this one differs from it in: %s)", e->differs.data);
    const char *how = wni_buf_text(&differs);
    wn_status st =
        e->alive
            ? wni_fail(err, WN_EINVAL,
                       "study '%s' is running now, %" PRIu64 " trial%s of it, in %s%s: help it with "
                       "'winnow worker %s', wait for its end, or give this one another --name",
                       name, e->alive, e->alive == 1 ? "" : "s", url, how, name)
            : wni_fail(
                  err, WN_EINVAL,
                  "study '%s' is in %s already%s: go on with it as it is: 'winnow resume %s', %s"
                  "remove it: 'winnow rm %s', or give this one another --name",
                  name, url, how, name,
                  e->differs.len
                      ? "with what has changed: add flags such as --trials and --param, or '--file FILE', "
                      : "",
                  name);
    wni_buf_release(&differs);
    return st;
}

wn_status wni_make_way(const char *url, const char *name, const char *text, bool quiet, struct err *err)
{
    struct existing e = {.text = text};
    bool worthless = false;
    struct err ignored = {0};
    /* a store that is not there, or that nobody can look into, has no study in the way */
    wn_status st = wni_store_studies(url, name, take_row, &e, &ignored);
    if (st == WN_ENOMEM) *err = ignored;
    if (st != WN_ENOMEM) st = WN_OK;
    if (!st && e.found && !e.has_value && !e.alive) st = look_closer(url, name, &worthless, err);
    if (!st && e.found && !worthless) st = fail_existing(&e, name, url, err);
    if (!st && worthless) st = wni_store_remove(url, name, err);
    if (!st && worthless && !quiet)
        fprintf(stderr, "winnow: starting over: no trial of study '%s' had reported anything\n", name);
    wni_buf_release(&e.differs);
    return st;
}
