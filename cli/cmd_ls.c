/* cmd_ls.c -- winnow ls: the studies of a store. */
#include "cli/study_option.h"

#include <math.h>
#include <string.h>

struct listing {
    struct table *table;
    bool full; /* a column for each state: for programs */
};

static const char *const short_columns[] = {"name", "method", "trials", "states", "best", "trial", "created"};
static const char *const full_columns[] = {
    "name",     "method",  "metric", "goal",    "trials", "events",    "waiting", "running",    "paused",
    "complete", "stopped", "failed", "timeout", "lost",   "cancelled", "best",    "best_trial", "created"};
enum {
    N_SHORT = sizeof short_columns / sizeof *short_columns,
    N_FULL = sizeof full_columns / sizeof *full_columns
};

static const char *method_of(const struct study_setup *setup)
{
    return setup->method ? setup->method : setup->searcher;
}

static void add_counts(struct table *t, const struct study_row *row)
{
    for (size_t i = 0; i <= WN_CANCELLED; i++)
        wni_table_number(t, (double)row->by_state[i]);
}

static wn_status add_states(struct table *t, const struct study_row *row, struct err *err)
{
    struct buf states = {0};
    wni_describe_states(row->by_state, &states);
    wni_table_text(t, wni_buf_text(&states));
    wn_status st = states.failed ? wni_fail_memory(err) : WN_OK;
    wni_buf_release(&states);
    return st;
}

static wn_status add_study(struct listing *l, const struct study_row *row, const struct study_setup *setup,
                           struct err *err)
{
    struct table *t = l->table;
    char created[MOMENT_MAX];
    wn_status st = WN_OK;
    wni_format_moment(row->created, created);
    wni_table_text(t, row->name);
    wni_table_text(t, method_of(setup));
    if (l->full) {
        wni_table_text(t, setup->metric ? setup->metric : "");
        wni_table_text(t, row->about.goal == WN_MAXIMIZE ? "maximize" : "minimize");
    }
    wni_table_number(t, (double)row->trials);
    if (l->full) wni_table_number(t, (double)row->events);
    if (l->full)
        add_counts(t, row);
    else
        st = add_states(t, row, err);
    wni_table_number(t, row->best);
    wni_table_number(t, isnan(row->best) ? NAN : (double)row->best_trial);
    wni_table_text(t, created);
    return st;
}

static wn_status take(void *context, const struct study_row *row, struct err *err)
{
    struct stored_setup stored;
    wn_status st = wni_setup_read(&stored, row->about.setup, NULL, err);
    if (st) {
        wni_err_prefix(err, "study '%s'", row->name);
        return st;
    }
    st = add_study(context, row, &stored.setup, err);
    wni_setup_release(&stored);
    return st;
}

static int run(struct args *args)
{
    const char *format = wni_arg(args, "format");
    struct listing l = {.full = strcmp(format, "table") != 0};
    struct err err = {0};
    l.table = l.full ? wni_table_new(full_columns, N_FULL) : wni_table_new(short_columns, N_SHORT);
    wn_status st = l.table ? wni_list_studies(wni_store_option(args), take, &l, &err) : WN_ENOMEM;
    if (!st) st = wni_table_print(l.table, format, stdout);
    wni_table_free(l.table);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {STORE_OPTION, TABLE_FORMAT_OPTION("how to print it"), {0}};

const struct cli_command wni_cmd_ls = {
    .name = "ls",
    .summary = "list the studies of a store",
    .words = "",
    .about =
        "One line for each study: its method, its trials by state, the best value so far and the trial that "
        "has it, and when the study was created. As JSON or CSV every state has a column of its own.",
    .options = options,
    .examples = "winnow ls\n"
                "winnow ls --store sqlite:///runs/all.db\n"
                "winnow ls --format json | jq -r '.[] | select(.running > 0) | .name'",
    .run = run,
};
