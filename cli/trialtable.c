/* trialtable.c -- see trialtable.h. */
#include "cli/trialtable.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const fixed[] = {"trial",         "state",   "value",   "resource", "best",
                                    "best_resource", "reports", "attempt", "asked",    "ended"};
enum { N_FIXED = sizeof fixed / sizeof *fixed, REASON_SHOWN = 60 };
static const char reason_column[] = "reason"; /* comes last: it may be long */

const char *wni_param_column(struct arena *texts, const struct param *p)
{
    for (size_t i = 0; i <= N_FIXED; i++) {
        if (strcmp(i < N_FIXED ? fixed[i] : reason_column, p->name) != 0) continue;
        size_t size = strlen(p->name) + sizeof "param.";
        char *name = arena_new(texts, char, size);
        if (name) snprintf(name, size, "param.%s", p->name);
        return name;
    }
    return p->name;
}

wn_status wni_trial_table_open(struct trial_table *t, const struct space *space, const char *format,
                               bool stream, struct err *err)
{
    *t = (struct trial_table){
        .space = space, .json = !strcmp(format, "json"), .short_results = !strcmp(format, "table")};
    t->n_columns = N_FIXED + (t->json ? 1 : space->n) + 1;
    t->columns = wni_new(const char *, t->n_columns);
    if (!t->columns) return wni_fail_memory(err);
    memcpy(t->columns, fixed, sizeof fixed);
    if (t->json) t->columns[N_FIXED] = "config";
    for (size_t i = 0; !t->json && i < space->n; i++)
        if (!(t->columns[N_FIXED + i] = wni_param_column(&t->texts, &space->params[i])))
            return wni_fail_memory(err);
    t->columns[t->n_columns - 1] = reason_column;
    t->table = wni_table_new(t->columns, t->n_columns);
    if (!t->table) return wni_fail_memory(err);
    wni_table_remarks(t->table);
    if (stream) wni_table_stream(t->table, format, stdout);
    return WN_OK;
}

/* Values of the row's configuration, in the order of the space. */
static wn_status add_config(struct trial_table *t, const char *json, struct err *err)
{
    struct document doc = {0};
    double number;
    wn_status st = wni_json_parse(&doc, "", json, strlen(json), err);
    for (size_t i = 0; i < t->space->n && !st; i++) {
        const struct node *n = wni_node_get(doc.root, t->space->params[i].name);
        const char *text = n && n->kind == NODE_SCALAR ? n->text : "";
        if (n && wni_node_number(n, &number))
            wni_table_number(t->table, number);
        else
            wni_table_text(t->table, text);
    }
    wni_document_release(&doc);
    return st;
}

static double seconds(double x)
{
    return round(x * 1000) / 1000;
}

/* People get six digits of a result, programs all of them; parameters are always exact. */
static void add_result(struct trial_table *t, double x)
{
    char text[WNI_NUMBER_MAX];
    double shortened = x;
    if (t->short_results && isfinite(x)) {
        snprintf(text, sizeof text, "%.6g", x);
        (void)wni_parse_double(text, &shortened);
    }
    wni_table_number(t->table, shortened);
}

/* Programs that read JSON get all of it, others its first line, people what fits beside the rest. */
static wn_status add_reason(struct trial_table *t, const char *reason, struct err *err)
{
    struct buf text = {0};
    if (t->json) {
        if (reason)
            wni_buf_json_string(&text, reason);
        else
            wni_buf_puts(&text, "null");
        wni_table_json(t->table, wni_buf_text(&text));
    } else {
        if (reason) wni_short_line(reason, t->short_results ? REASON_SHOWN : SIZE_MAX, &text);
        wni_table_text(t->table, wni_buf_text(&text));
    }
    wn_status st = text.failed ? wni_fail_memory(err) : WN_OK;
    wni_buf_release(&text);
    return st;
}

wn_status wni_trial_table_add(struct trial_table *t, const struct trial_row *row, struct err *err)
{
    char state[16];
    wn_status st = WN_OK;
    wni_lower_state(row->state, state);
    wni_table_number(t->table, row->number);
    wni_table_text(t->table, state);
    add_result(t, row->value);
    wni_table_number(t->table, row->resource);
    add_result(t, row->best);
    wni_table_number(t->table, row->best_resource);
    wni_table_number(t->table, (double)row->reports);
    wni_table_number(t->table, row->attempt);
    wni_table_number(t->table, seconds(row->asked));
    wni_table_number(t->table, seconds(row->ended));
    if (t->json)
        wni_table_json(t->table, row->config);
    else
        st = add_config(t, row->config, err);
    return st ? st : add_reason(t, row->reason, err);
}

wn_status wni_trial_table_print(struct trial_table *t, const char *format, struct err *err)
{
    return wni_table_print(t->table, format, stdout) ? wni_fail_memory(err) : WN_OK;
}

void wni_trial_table_release(struct trial_table *t)
{
    wni_table_free(t->table);
    wni_arena_release(&t->texts);
    free(t->columns);
    *t = (struct trial_table){0};
}
