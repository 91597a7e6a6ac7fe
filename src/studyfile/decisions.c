/* decisions.c -- the keys that say who decides: `method`, or `searcher` and `scheduler`, with their options.
 *
 *     method: asha
 *     method: {name: asha, eta: 4}                    an option of its scheduler or searcher, whichever has
 * it scheduler: {name: asha, eta: 4, type: promotion} searcher: rea
 *
 * Options are checked against the tables of the registries and kept as the "scheduler.eta=4" words that open
 * them. */
#include "base/closest.h"
#include "base/number.h"
#include "method/method.h"
#include "studyfile/keys.h"

#include <stdio.h>
#include <string.h>

/* The two halves of a decision, as far as their options go. */
struct part {
    const char *prefix; /* "scheduler" */
    const struct opt_def *opts;
};

static const struct opt_def *find_option(const struct opt_def *defs, const char *name)
{
    for (; defs && defs->kind != OPT_KIND_END; defs++)
        if (!strcmp(defs->name, name)) return defs;
    return NULL;
}

/* ---- options ---- */

static void add_option(struct reader *r, const struct part *part, const struct opt_def *def,
                       const struct node *value, struct buf *options)
{
    struct err err;
    char what[96];
    double number;
    snprintf(what, sizeof what, "%s.%s", part->prefix, def->name);
    if (!wni_needs_text(r, value, what, "a value")) return;
    if (wni_opts_set(part->opts, NULL, def->name, value->text, &err)) {
        wni_problem(r->problems, value, "%s %s", part->prefix, err.text);
        return;
    }
    wni_buf_printf(options, "%s%s=", options->len ? " " : "", what);
    if (wni_parse_double(value->text, &number))
        wni_buf_double(options, number); /* a word of the list is short, whatever was written */
    else
        wni_buf_puts(options, value->text);
}

enum { NAMES_MAX = 128 };

/* What follows "scheduler." where that is the part; else NULL. */
static const char *behind_prefix(const char *name, const struct part *part)
{
    size_t n = strlen(part->prefix);
    return !strncmp(name, part->prefix, n) && name[n] == '.' ? name + n + 1 : NULL;
}

/* Guesses are made among the options of the part that was named, or of both. */
static void tell_unknown(struct reader *r, const struct node *key, const struct part *parts, size_t n_parts)
{
    const char *names[NAMES_MAX], *name = key->text, *where = NULL;
    size_t n = 0;
    for (size_t i = 0; i < n_parts; i++) {
        const char *rest = behind_prefix(key->text, &parts[i]);
        if (rest) {
            name = rest;
            where = parts[i].prefix;
        }
    }
    for (size_t i = 0; i < n_parts; i++)
        for (const struct opt_def *def = parts[i].opts; def && def->kind != OPT_KIND_END && n < NAMES_MAX;
             def++)
            if (!where || where == parts[i].prefix) names[n++] = def->name;
    if (n)
        wni_problem_unknown(r->problems, key, where, "option", name, names, n);
    else
        wni_problem(r->problems, key, "%s%sunknown option '%.64s'; there are none here", where ? where : "",
                    where ? ": " : "", name);
}

/* An option of a part.  The prefix may be written ("scheduler.eta") and must be when both parts have the
 * name. */
static void read_option(struct reader *r, const struct node *key, const struct node *value,
                        const struct part *parts, size_t n_parts, struct buf *options)
{
    const struct part *found = NULL;
    const struct opt_def *def = NULL;
    size_t n = 0;
    for (size_t i = 0; i < n_parts; i++) {
        const char *rest = behind_prefix(key->text, &parts[i]);
        const struct opt_def *here = find_option(parts[i].opts, rest ? rest : key->text);
        if (!here) continue;
        n++;
        found = &parts[i];
        def = here;
    }
    if (n == 1)
        add_option(r, found, def, value, options);
    else if (n)
        wni_problem(r->problems, key, "both parts have an option '%s'; write scheduler.%s or searcher.%s",
                    key->text, key->text, key->text);
    else
        tell_unknown(r, key, parts, n_parts);
}

static void read_options(struct reader *r, const struct node *node, const struct part *parts, size_t n_parts,
                         struct buf *options)
{
    for (size_t i = 0; node->kind == NODE_MAP && i < node->n && !wni_problems_full(r->problems); i++)
        if (strcmp(node->keys[i]->text, "name") != 0)
            read_option(r, node->keys[i], node->items[i], parts, n_parts, options);
}

/* ---- names ---- */

/* The name given by `asha` or `{name: asha, ...}`; NULL when there is none, which was told. */
static const struct node *read_name(struct reader *r, const char *key, const struct node *node)
{
    const struct node *name = node->kind == NODE_MAP ? wni_node_get(node, "name") : node;
    char what[32], expected[96];
    snprintf(what, sizeof what, "%s%s", key, name == node ? "" : ".name");
    if (!name) {
        wni_problem(r->problems, node, "missing '%s'", what);
        return NULL;
    }
    snprintf(expected, sizeof expected, "the name of a %s%s", key,
             name == node ? ", or a mapping with 'name' and options" : "");
    return wni_needs_text(r, name, what, expected) ? name : NULL;
}

static void read_scheduler(struct reader *r, const struct node *node, struct buf *options)
{
    const struct node *name = read_name(r, "scheduler", node);
    struct err err;
    if (!name) return;
    if (!(r->study->scheduler = wni_scheduler_find(name->text, &err))) {
        wni_problem(r->problems, name, "%s", err.text);
        return;
    }
    struct part part = {"scheduler", r->study->scheduler->opts};
    read_options(r, node, &part, 1, options);
}

static void read_searcher(struct reader *r, const struct node *node, struct buf *options)
{
    const struct node *name = read_name(r, "searcher", node);
    struct err err;
    if (!name) return;
    if (!(r->study->searcher = wni_searcher_find(name->text, &err))) {
        wni_problem(r->problems, name, "%s", err.text);
        return;
    }
    struct part part = {"searcher", r->study->searcher->opts};
    read_options(r, node, &part, 1, options);
}

static void use_method(struct reader *r, const struct method *method, struct buf *options)
{
    r->study->method = method->name;
    r->study->scheduler = wni_scheduler_find(method->scheduler, NULL);
    r->study->searcher = wni_searcher_find(method->searcher, NULL);
    wni_buf_puts(options, method->options ? method->options : "");
}

static void read_method(struct reader *r, const struct node *node, struct buf *options)
{
    const struct node *name = read_name(r, "method", node);
    struct err err;
    if (!name) return;
    const struct method *method = wni_method_find(name->text, &err);
    if (!method) {
        wni_problem(r->problems, name, "%s", err.text);
        return;
    }
    use_method(r, method, options);
    if (!r->study->scheduler || !r->study->searcher) return;
    struct part parts[] = {{"scheduler", r->study->scheduler->opts}, {"searcher", r->study->searcher->opts}};
    read_options(r, node, parts, 2, options);
}

/* ---- together ---- */

void wni_read_decisions(struct reader *r)
{
    const struct node *method = wni_node_get(r->root, "method"),
                      *scheduler = wni_node_get(r->root, "scheduler"),
                      *searcher = wni_node_get(r->root, "searcher"),
                      *other = scheduler ? scheduler : searcher;
    struct buf options = {0};
    struct studyfile *study = r->study;
    if (method && other)
        wni_problem(r->problems, other,
                    "'%s' does not go with 'method', which chooses both searcher and scheduler",
                    scheduler ? "scheduler" : "searcher");
    if (method) {
        read_method(r, method, &options);
    } else if (!other) {
        use_method(r, wni_method_find("rs", NULL), &options);
    } else {
        study->scheduler = wni_scheduler_find("fifo", NULL);
        study->searcher = wni_searcher_find("random", NULL);
        if (scheduler) read_scheduler(r, scheduler, &options);
        if (searcher) read_searcher(r, searcher, &options);
    }
    bool multi_fidelity = study->scheduler && study->scheduler->stops_early;
    if (multi_fidelity && !wni_node_get(r->root, "resource"))
        wni_problem(r->problems, method ? method : other,
                    "%s '%s' stops trials early and needs 'resource' (its name, min and max)",
                    method ? "method" : "scheduler", method ? study->method : study->scheduler->name);
    study->options = wni_keep_text(r, wni_buf_text(&options));
    if (options.failed) r->problems->failed = true;
    wni_buf_release(&options);
}

static void tell_refusal(struct reader *r, wn_status st, const char *key, const struct err *err)
{
    const struct node *method = wni_node_get(r->root, "method");
    if (st == WN_ENOMEM) r->problems->failed = true;
    if (st < 0) wni_problem(r->problems, method ? method : wni_node_get(r->root, key), "%s", err->text);
}

/* Some combinations are only refused when they meet: a grid over a space that is too large, rungs outside the
 * range. */
void wni_check_decisions(struct reader *r)
{
    struct studyfile *study = r->study;
    uint64_t seed = (uint64_t)study->seed;
    struct sched_env sched_env = {
        .seed = seed, .min_resource = study->resource.min, .max_resource = study->resource.max};
    struct scheduler scheduler = {0};
    struct searcher searcher = {0};
    struct err err = {0};
    wn_status st = wni_scheduler_open(&scheduler, study->scheduler, study->options, &sched_env, &err);
    tell_refusal(r, st, "scheduler", &err);
    struct search_env search_env = {.space = &study->space,
                                    .seed = seed,
                                    .partial = study->scheduler->stops_early,
                                    .levels = wni_scheduler_levels(&scheduler)};
    st = wni_searcher_open(&searcher, study->searcher, study->options, &search_env, &err);
    tell_refusal(r, st, "searcher", &err);
    wni_searcher_release(&searcher);
    wni_scheduler_release(&scheduler);
}
