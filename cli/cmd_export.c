/* cmd_export.c -- winnow export: a whole study for other programs. */
#include "cli/trialtable.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct export
{
    struct opened_study study;
    struct trial_table table; /* CSV of trials */
    double *times;            /* of the reports, in order of arrival; NULL: not wanted */
    size_t n_times;
    enum export_format { CSV, JSON, JSONL } format;
    bool any; /* a trial was written */
    struct buf out;
};

static wn_status take_time(void *context, const struct event *e, struct err *err)
{
    struct export *x = context;
    (void)err;
    if (e->kind == EVENT_REPORT && x->n_times < x->study.study.history.n_reports)
        x->times[x->n_times++] = e->time;
    return WN_OK;
}

/* The history drops the times of reports; the store has them. */
static wn_status read_times(struct export *x, struct err *err)
{
    struct store *store = &x->study.study.store;
    x->times = wni_new(double, x->study.study.history.n_reports);
    return x->times ? store->ops->read(store->self, 0, take_time, x, err) : wni_fail_memory(err);
}

/* Empties the buffer into stdout; nobody reading on ends the export well. */
static wn_status flush(struct export *x, struct err *err)
{
    if (x->out.failed) return wni_fail_memory(err);
    if (x->out.len) fwrite(x->out.data, 1, x->out.len, stdout);
    wni_buf_clear(&x->out);
    return ferror(stdout) ? WN_WAIT : WN_OK;
}

/* The reports of a trial, oldest first; `order` holds their indices.  NULL: out of memory. */
static uint32_t *report_order(const struct history *h, uint32_t trial, size_t *n)
{
    *n = h->trials[trial].n_reports;
    uint32_t *order = wni_new(uint32_t, *n);
    size_t i = *n;
    for (uint32_t at = h->trials[trial].last_arrival; order && at && i > 0; at = h->previous[at - 1])
        order[--i] = at - 1;
    return order;
}

static void json_reports(const struct export *x, const uint32_t *order, size_t n, struct buf *out)
{
    const struct study *s = &x->study.study;
    wni_buf_puts(out, ", \"reports\": [");
    for (size_t i = 0; i < n; i++) {
        wni_buf_puts(out, i ? ", {\"resource\": " : "{\"resource\": ");
        wni_buf_json_double(out, s->history.resources[order[i]]);
        wni_buf_puts(out, ", \"value\": ");
        wni_buf_json_double(out, s->sign * s->history.values[order[i]]);
        wni_buf_puts(out, ", \"time\": ");
        wni_buf_json_double(out, x->times[order[i]]);
        wni_buf_putc(out, '}');
    }
    wni_buf_putc(out, ']');
}

static void csv_reports(const struct export *x, uint32_t trial, const uint32_t *order, size_t n,
                        struct buf *out)
{
    const struct study *s = &x->study.study;
    for (size_t i = 0; i < n; i++) {
        wni_buf_printf(out, "%u,", trial);
        wni_buf_double(out, s->history.resources[order[i]]);
        wni_buf_putc(out, ',');
        wni_buf_double(out, s->sign * s->history.values[order[i]]);
        wni_buf_putc(out, ',');
        wni_buf_double(out, x->times[order[i]]);
        wni_buf_putc(out, '\n');
    }
}

static void json_field(struct buf *out, const char *name, double x)
{
    wni_buf_printf(out, ", \"%s\": ", name);
    wni_buf_json_double(out, x);
}

static void json_trial(const struct trial_row *row, struct buf *out)
{
    char state[16];
    wni_lower_state(row->state, state);
    wni_buf_printf(out, "{\"trial\": %u, \"state\": \"%s\"", row->number, state);
    json_field(out, "value", row->value);
    json_field(out, "resource", row->resource);
    json_field(out, "best", row->best);
    json_field(out, "best_resource", row->best_resource);
    json_field(out, "attempt", row->attempt);
    json_field(out, "asked", row->asked);
    json_field(out, "ended", row->ended);
    wni_buf_printf(out, ", \"config\": %s, \"reason\": ", row->config);
    if (row->reason)
        wni_buf_json_string(out, row->reason);
    else
        wni_buf_puts(out, "null");
}

static wn_status take(void *context, const struct trial_row *row, struct err *err)
{
    struct export *x = context;
    const struct history *h = &x->study.study.history;
    if (row->number >= h->n_trials) return WN_WAIT; /* asked after we looked */
    if (x->format == CSV && !x->times)
        return ferror(stdout) ? WN_WAIT : wni_trial_table_add(&x->table, row, err);
    size_t n = 0;
    uint32_t *order = x->times ? report_order(h, row->number, &n) : NULL;
    if (x->times && !order) return wni_fail_memory(err);
    if (x->format == CSV) {
        csv_reports(x, row->number, order, n, &x->out);
    } else {
        if (x->format == JSON) wni_buf_puts(&x->out, x->any ? ",\n  " : "\n  ");
        json_trial(row, &x->out);
        if (x->times) json_reports(x, order, n, &x->out);
        wni_buf_puts(&x->out, x->format == JSON ? "}" : "}\n");
    }
    x->any = true;
    free(order);
    return flush(x, err);
}

static void put_head(struct export *x)
{
    char moment[MOMENT_MAX];
    if (x->format == CSV && x->times) wni_buf_puts(&x->out, "trial,resource,value,time\n");
    if (x->format != JSON) return;
    wni_format_moment(x->study.created, moment);
    wni_buf_puts(&x->out, "{\"study\": ");
    wni_buf_json_string(&x->out, x->study.name);
    wni_buf_printf(&x->out, ", \"created\": \"%s\",\n \"setup\": ", moment);
    wni_setup_write(&x->study.setup.setup, &x->out);
    wni_buf_puts(&x->out, ",\n \"trials\": [");
}

static wn_status write_all(struct export *x, struct err *err)
{
    bool table = x->format == CSV && !x->times;
    wn_status st = WN_OK;
    put_head(x);
    st = flush(x, err);
    if (!st && table) st = wni_trial_table_open(&x->table, &x->study.setup.space, "csv", true, err);
    if (!st) st = wni_store_trials(x->study.url, x->study.name, 0, take, x, err);
    if (!st && table) st = wni_trial_table_print(&x->table, "csv", err);
    if (!st && x->format == JSON) fputs(x->any ? "\n ]}\n" : "]}\n", stdout);
    wni_trial_table_release(&x->table);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct export x = {0};
    const char *format = wni_arg(args, "format");
    x.format = !strcmp(format, "csv") ? CSV : !strcmp(format, "json") ? JSON : JSONL;
    wn_status st = wni_open_study_option(args, 0, &x.study, &err);
    if (!st && wni_flag(args, "reports")) st = read_times(&x, &err);
    if (!st) st = write_all(&x, &err);
    free(x.times);
    wni_buf_release(&x.out);
    wni_close_study(&x.study);
    return st && st != WN_WAIT ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "reports", .help = "every report of every trial, not only the last"},
    STORE_OPTION,
    STUDY_OPTION,
    {.name = "format",
     .value = "FORMAT",
     .fallback = "csv",
     .choices = "csv|json|jsonl",
     .help = "what to write"},
    {0},
};

const struct cli_command wni_cmd_export = {
    .name = "export",
    .summary = "write a whole study as CSV, JSON or JSON lines",
    .words = "[STUDY]",
    .max_words = 1,
    .about =
        "csv: a row for each trial, as 'winnow trials' has them; with --reports a row for each report: "
        "trial, "
        "resource, value, and when it came in seconds since the study began. json: one document with the "
        "setup "
        "and all trials. jsonl: a line for each trial.\n\n"
        "Numbers read back as the same numbers. Values that are not finite are nan, inf and -inf in CSV and "
        "null in JSON. reason says why a trial failed, ran out of time, was lost or cancelled: its first "
        "line in "
        "CSV, all of it in JSON. 'winnow import' reads the CSV of trials.",
    .options = options,
    .examples = "winnow export >trials.csv\n"
                "winnow export mlp --reports --format json >mlp.json\n"
                "winnow export mlp --format jsonl | jq -r 'select(.state == \"failed\") | .reason'",
    .run = run,
};
