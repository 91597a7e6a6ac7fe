/* cmd_best.c -- winnow best: the best configurations of a study, for people and for other programs. */
#include "cli/trialtable.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOP_MAX = 100000 };

/* The best trials so far, best first. */
struct ranking {
    struct trial_row *rows;
    size_t n, top;
    bool maximize;
};

static bool is_better(const struct ranking *r, const struct trial_row *a, const struct trial_row *b)
{
    return r->maximize ? a->best > b->best : a->best < b->best; /* of equals the first one */
}

static wn_status take(void *context, const struct trial_row *row, struct err *err)
{
    struct ranking *r = context;
    if (isnan(row->best) || (r->n == r->top && !is_better(r, row, &r->rows[r->n - 1]))) return WN_OK;
    char *config = wni_strdup(row->config);
    if (!config) return wni_fail_memory(err);
    if (r->n == r->top) free((char *)(uintptr_t)r->rows[--r->n].config);
    size_t at = r->n++;
    for (; at > 0 && is_better(r, row, &r->rows[at - 1]); at--)
        r->rows[at] = r->rows[at - 1];
    r->rows[at] = *row;
    r->rows[at].config = config;
    return WN_OK;
}

static void release(struct ranking *r)
{
    for (size_t i = 0; i < r->n; i++)
        free((char *)(uintptr_t)r->rows[i].config);
    free(r->rows);
}

/* ---- printing ---- */

static wn_status read_config(const struct space *space, const char *json, double *config, struct err *err)
{
    struct document doc = {0};
    wn_status st = wni_json_parse(&doc, "", json, strlen(json), err);
    if (!st) st = wni_config_read(space, doc.root, config, NULL, err);
    for (size_t i = 0; i < space->n && !st; i++) /* as it was run: the range may have been a finer one then */
        if (space->params[i].count == 0)
            wni_node_number(wni_node_get(doc.root, space->params[i].name), &config[i]);
    wni_document_release(&doc);
    return st;
}

static void put_text(const struct opened_study *s, const struct trial_row *row, const double *config,
                     struct buf *out)
{
    char scratch[WN_WHY_MAX], state[16];
    wni_buf_printf(out, "best %s: ", wni_metric_name(s));
    wni_buf_double(out, row->best);
    if (s->setup.setup.max_resource > 0)
        wni_buf_printf(out, " at %s %.15g", wni_resource_name(s), row->best_resource);
    wni_lower_state(row->state, state);
    wni_buf_printf(out, ", trial %u (%s)\n", row->number, state);
    for (size_t i = 0; i < s->setup.space.n; i++) {
        const struct param *p = &s->setup.space.params[i];
        wni_buf_printf(out, "  %-16s %s\n", p->name, wni_param_text(p, config[i], scratch));
    }
}

static wn_status print_config(const struct opened_study *s, const struct trial_row *row, const char *format,
                              struct err *err)
{
    const struct space *space = &s->setup.space;
    struct buf out = {0};
    double *config = wni_new(double, space->n);
    wn_status st = config ? read_config(space, row->config, config, err) : wni_fail_memory(err);
    if (!st && !strcmp(format, "flags")) {
        wni_config_flags(space, config, &out);
        wni_buf_putc(&out, '\n');
    } else if (!st && !strcmp(format, "env")) {
        wni_config_env(space, config, &out);
    } else if (!st) {
        put_text(s, row, config, &out);
    }
    if (!st && out.failed) st = wni_fail_memory(err);
    if (!st) fputs(wni_buf_text(&out), stdout);
    wni_buf_release(&out);
    free(config);
    return st;
}

static wn_status print_rows(const struct opened_study *s, const struct ranking *r, const char *format,
                            struct err *err)
{
    struct trial_table t;
    wn_status st = wni_trial_table_open(&t, &s->setup.space, format, false, err);
    for (size_t i = 0; i < r->n && !st; i++)
        st = wni_trial_table_add(&t, &r->rows[i], err);
    if (!st) st = wni_trial_table_print(&t, format, err);
    wni_trial_table_release(&t);
    return st;
}

static wn_status print(const struct opened_study *s, const struct ranking *r, const char *format,
                       struct err *err)
{
    bool listing = !strcmp(format, "json") || !strcmp(format, "csv") || !strcmp(format, "table");
    wn_status st = WN_OK;
    if (r->n == 0 && !listing) return wni_fail(err, WN_ESTATE, "study '%s' has no finite value yet", s->name);
    if (listing || (!strcmp(format, "text") && r->top > 1))
        return print_rows(s, r, listing ? format : "table", err);
    if (!strcmp(format, "env") && r->top > 1)
        return wni_fail(err, WN_EINVAL, "--format env is for one configuration, not for --top %zu", r->top);
    for (size_t i = 0; i < r->n && !st; i++)
        st = print_config(s, &r->rows[i], format, err);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s;
    struct ranking r = {0};
    uint64_t top = 1;
    wn_status st = wni_find_study_option(args, 0, &s, &err);
    if (!st) st = wni_arg_count(args, "top", 1, TOP_MAX, &top, &err);
    r.top = top;
    r.maximize = s.setup.setup.goal == WN_MAXIMIZE;
    if (!st && !(r.rows = wni_new(struct trial_row, r.top))) st = wni_fail_memory(&err);
    if (!st) st = wni_store_trials(s.url, s.name, 0, take, &r, &err);
    if (!st) st = print(&s, &r, wni_arg(args, "format"), &err);
    release(&r);
    wni_close_study(&s);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "top", .value = "K", .fallback = "1", .help = "the K best trials"},
    STORE_OPTION,
    STUDY_OPTION,
    {.name = "format",
     .value = "FORMAT",
     .fallback = "text",
     .choices = "text|table|json|csv|flags|env",
     .help = "how to print it; flags: --lr 0.1 ..., env: lines param_lr=0.1"},
    {0},
};

const struct cli_command wni_cmd_best = {
    .name = "best",
    .summary = "print the best configuration of a study",
    .words = "[STUDY]",
    .max_words = 1,
    .about =
        "The best is the trial with the lowest value it ever reported, or the highest where the study "
        "maximizes. Trials that still run count, values that are not finite do not. Of equals the first is "
        "taken.\n\n"
        "Exit code 1 with text, flags and env: there is no finite value yet. Listings are empty then.",
    .options = options,
    .examples = "winnow best\n"
                "winnow best mlp --top 10\n"
                "./train $(winnow best mlp --format flags)   # train once more with it\n"
                "winnow best mlp --format json",
    .run = run,
};
