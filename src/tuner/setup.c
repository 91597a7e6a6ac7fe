/* setup.c -- writes, reads and compares setups. */
#include "tuner/setup.h"

#include "base/mem.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const goals[] = {[WN_MINIMIZE] = "minimize", [WN_MAXIMIZE] = "maximize"};

/* ---- writing ---- */

static void write_text(struct buf *json, const char *key, const char *text)
{
    if (!text) return;
    wni_buf_printf(json, "\"%s\": ", key);
    wni_buf_json_string(json, text);
    wni_buf_puts(json, ", ");
}

static void write_number(struct buf *json, const char *key, double x)
{
    wni_buf_printf(json, "\"%s\": ", key);
    wni_buf_double(json, x);
    wni_buf_puts(json, ", ");
}

/* The seed is in quotes: JSON readers are not agreed on whole numbers above 2^53. */
void wni_setup_write(const struct study_setup *s, struct buf *json)
{
    wni_buf_putc(json, '{');
    write_text(json, "method", s->method);
    write_text(json, "scheduler", s->scheduler);
    write_text(json, "searcher", s->searcher);
    wni_buf_puts(json, "\"options\": \"");
    for (int i = 0; i < 2; i++)
        if (s->options[i]) wni_buf_printf(json, "%s%s", i && s->options[0] ? " " : "", s->options[i]);
    wni_buf_printf(json, "\", \"seed\": \"%" PRIu64 "\", ", s->seed);
    write_text(json, "metric", s->metric);
    write_text(json, "goal", goals[s->goal]);
    write_text(json, "resource", s->resource);
    write_number(json, "min_resource", s->min_resource);
    write_number(json, "max_resource", s->max_resource);
    write_number(json, "lease", s->lease);
    write_number(json, "retries", s->retries);
    wni_buf_puts(json, "\"parameters\": ");
    wni_space_write(s->space, json);
    wni_buf_putc(json, '}');
}

/* ---- reading ---- */

/* Copies the text of a key; NULL when it is not there. */
static wn_status read_text(struct arena *texts, const struct node *map, const char *key, const char **out,
                           struct err *err)
{
    const struct node *n = wni_node_get(map, key);
    *out = NULL;
    if (!n || n->kind != NODE_SCALAR) return WN_OK;
    *out = wni_arena_strdup(texts, n->text);
    return *out ? WN_OK : wni_fail_memory(err);
}

static double read_number(const struct node *map, const char *key)
{
    double x = 0;
    const struct node *n = wni_node_get(map, key);
    return n && wni_node_number(n, &x) ? x : 0;
}

static wn_status read_space(struct space *space, const struct node *map, struct err *err)
{
    struct problems problems = {0};
    const struct node *parameters = wni_node_get(map, "parameters");
    if (!parameters) return wni_fail(err, WN_ESTORE, "the stored setup has no parameters");
    wni_space_read(space, parameters, &problems);
    wn_status st = wni_problems_status(&problems, err);
    wni_problems_release(&problems);
    return st;
}

static wn_status read_setup(struct stored_setup *out, const struct node *map, struct err *err)
{
    struct study_setup *s = &out->setup;
    const struct node *seed = wni_node_get(map, "seed"), *goal = wni_node_get(map, "goal");
    const struct {
        const char *key, **to;
    } texts[] = {{"method", &s->method}, {"scheduler", &s->scheduler}, {"searcher", &s->searcher},
                 {"metric", &s->metric}, {"resource", &s->resource},   {"options", &s->options[0]}};
    wn_status st = read_space(&out->space, map, err);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !st; i++)
        st = read_text(&out->texts, map, texts[i].key, texts[i].to, err);
    if (st) return st;
    if (!s->scheduler || !s->searcher || !seed || seed->kind != NODE_SCALAR)
        return wni_fail(err, WN_ESTORE, "the stored setup lacks scheduler, searcher or seed");
    s->seed = strtoull(seed->text, NULL, 10);
    s->goal = goal && goal->kind == NODE_SCALAR && !strcmp(goal->text, goals[WN_MAXIMIZE]) ? WN_MAXIMIZE
                                                                                           : WN_MINIMIZE;
    s->min_resource = read_number(map, "min_resource");
    s->max_resource = read_number(map, "max_resource");
    s->lease = read_number(map, "lease");
    s->retries = (unsigned)read_number(map, "retries");
    s->adopts = true;
    return WN_OK;
}

/* *text becomes a copy of it; NULL stays. */
static wn_status own_text(struct arena *texts, const char **text, struct err *err)
{
    if (!*text) return WN_OK;
    *text = wni_arena_strdup(texts, *text);
    return *text ? WN_OK : wni_fail_memory(err);
}

static wn_status finish_stored(struct stored_setup *out, wn_status st, struct err *err)
{
    if (!st) st = own_text(&out->texts, &out->setup.file, err);
    if (st)
        wni_setup_release(out);
    else
        out->setup.space = &out->space;
    return st;
}

wn_status wni_setup_read(struct stored_setup *out, const char *json, const char *file, struct err *err)
{
    struct document doc = {0};
    *out = (struct stored_setup){.setup = {.file = file}};
    wni_space_init(&out->space);
    wn_status st = wni_json_parse(&doc, "", json, strlen(json), err);
    if (!st) st = read_setup(out, doc.root, err);
    wni_document_release(&doc);
    return finish_stored(out, st, err);
}

wn_status wni_setup_copy(struct stored_setup *out, const struct study_setup *from, struct err *err)
{
    *out = (struct stored_setup){.setup = *from};
    struct study_setup *s = &out->setup;
    const char **const texts[] = {&s->method,   &s->scheduler,  &s->searcher,  &s->metric,
                                  &s->resource, &s->options[0], &s->options[1]};
    wn_status st = wni_space_copy(&out->space, from->space, err);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !st; i++)
        st = own_text(&out->texts, texts[i], err);
    return finish_stored(out, st, err);
}

void wni_setup_release(struct stored_setup *s)
{
    wni_space_release(&s->space);
    wni_arena_release(&s->texts);
    *s = (struct stored_setup){0};
}

/* ---- comparing ---- */

static wn_status compare_texts(const char *what, const char *stored, const char *given, struct err *err)
{
    if (!strcmp(stored, given)) return WN_OK;
    return wni_fail(err, WN_EINVAL, "the stored study was created with %s '%s', not '%s'", what, stored,
                    given);
}

static wn_status compare_numbers(const char *what, double stored, double given, struct err *err)
{
    if (stored == given) return WN_OK;
    return wni_fail(err, WN_EINVAL, "the stored study was created with %s %.15g, not %.15g", what, stored,
                    given);
}

/* As JSON, which says all there is to say about a parameter. */
static wn_status compare_parameter(const struct param *stored, const struct param *given, struct err *err)
{
    struct buf texts[2] = {{0}};
    wni_space_write(&(struct space){.params = (struct param *)stored, .n = 1}, &texts[0]);
    wni_space_write(&(struct space){.params = (struct param *)given, .n = 1}, &texts[1]);
    wn_status st = texts[0].failed || texts[1].failed ? wni_fail_memory(err) : WN_OK;
    if (!st && strcmp(texts[0].data, texts[1].data) != 0)
        st = wni_fail(err, WN_EINVAL, "the stored study was created with parameter %.200s, not %.200s",
                      texts[0].data, texts[1].data);
    wni_buf_release(&texts[0]);
    wni_buf_release(&texts[1]);
    return st;
}

static wn_status compare_counts(const struct space *stored, const struct space *given, struct err *err)
{
    if (stored->n == given->n) return WN_OK;
    return wni_fail(err, WN_EINVAL, "the stored study was created with %zu parameters, not %zu", stored->n,
                    given->n);
}

wn_status wni_setup_compare_spaces(const struct space *stored, const struct space *given, struct err *err)
{
    wn_status st = compare_counts(stored, given, err);
    for (size_t i = 0; !st && i < given->n; i++)
        st = compare_parameter(&stored->params[i], &given->params[i], err);
    return st;
}

static wn_status compare_seeds(uint64_t stored, uint64_t given, struct err *err)
{
    if (stored == given) return WN_OK;
    return wni_fail(err, WN_EINVAL, "the stored study was created with seed %" PRIu64 ", not %" PRIu64,
                    stored, given);
}

static const char *or_none(const char *text)
{
    return text ? text : "";
}

wn_status wni_setup_compare(const struct study_setup *stored, const struct study_setup *given,
                            struct err *err)
{
    wn_status st = compare_counts(stored->space, given->space, err);
    if (!st) st = compare_texts("scheduler", stored->scheduler, given->scheduler, err);
    if (!st) st = compare_texts("searcher", stored->searcher, given->searcher, err);
    if (!st) st = compare_texts("options", or_none(stored->options[0]), or_none(given->options[0]), err);
    if (!st) st = compare_seeds(stored->seed, given->seed, err);
    if (!st) st = compare_texts("goal", goals[stored->goal], goals[given->goal], err);
    if (!st) st = compare_numbers("smallest resource", stored->min_resource, given->min_resource, err);
    if (!st) st = compare_numbers("largest resource", stored->max_resource, given->max_resource, err);
    return st;
}

/* ---- changing ---- */

/* Values of another metric cannot be compared with those so far; a study that never named it may do so now.
 */
static wn_status compare_names(const struct study_setup *now, const struct study_setup *given,
                               struct err *err)
{
    wn_status st = WN_OK;
    if (now->metric && given->metric) st = compare_texts("metric", now->metric, given->metric, err);
    if (!st && now->resource && given->resource)
        st = compare_texts("resource", now->resource, given->resource, err);
    return st;
}

wn_status wni_setup_change(const struct study_setup *now, const struct study_setup *given,
                           struct space *space, struct study_setup *out, struct err *err)
{
    wn_status st = wni_space_widen(space, now->space, given->space, err);
    if (st) return st;
    st = wni_setup_compare(now, given, err);
    if (!st) st = compare_names(now, given, err);
    if (st && st != WN_ENOMEM) {
        struct err what = *err;
        wni_fail(err, st,
                 "%s; this stays as it is: start a new study and bring the trials along with 'winnow import'",
                 what.text);
    }
    if (st) {
        wni_space_release(space);
        return st;
    }
    *out = *now;
    out->space = space;
    out->retries = given->retries;
    out->file = given->file;
    out->method = given->method ? given->method : now->method;
    out->metric = given->metric ? given->metric : now->metric;
    out->resource = given->resource ? given->resource : now->resource;
    return WN_OK;
}
