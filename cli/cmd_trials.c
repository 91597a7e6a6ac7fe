/* cmd_trials.c -- winnow trials: the trials of a study, as they come out of the store. */
#include "cli/trialtable.h"

#include <stdlib.h>
#include <string.h>

struct listing {
    struct trial_table table;
    const char *state; /* only these; NULL: all */
    uint64_t left;     /* rows still wanted */
};

static wn_status take(void *context, const struct trial_row *row, struct err *err)
{
    struct listing *l = context;
    char state[16];
    if (l->left == 0 || ferror(stdout)) return WN_WAIT; /* nobody reads on */
    wni_lower_state(row->state, state);
    if (l->state && strcmp(l->state, state) != 0) return WN_OK;
    l->left--;
    return wni_trial_table_add(&l->table, row, err);
}

static wn_status list(const struct args *args, const struct opened_study *s, struct err *err)
{
    const char *format = wni_arg(args, "format");
    struct listing l = {.state = wni_arg(args, "state"), .left = UINT64_MAX};
    uint64_t from = 0;
    wn_status st = wni_arg_count(args, "from", 0, UINT32_MAX, &from, err);
    if (!st) st = wni_arg_count(args, "limit", 1, UINT64_MAX / 2, &l.left, err);
    if (!st) st = wni_trial_table_open(&l.table, &s->setup.space, format, true, err);
    if (!st) st = wni_store_trials(s->url, s->name, (uint32_t)from, take, &l, err);
    if (!st) st = wni_trial_table_print(&l.table, format, err);
    wni_trial_table_release(&l.table);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s;
    wn_status st = wni_find_study_option(args, 0, &s, &err);
    if (!st) st = list(args, &s, &err);
    wni_close_study(&s);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "state",
     .value = "STATE",
     .choices = "running|paused|complete|stopped|failed|timeout|lost|cancelled",
     .help = "only trials in this state"},
    {.name = "from", .value = "N", .fallback = "0", .help = "begin with trial N"},
    {.name = "limit", .value = "N", .help = "print at most N trials"},
    STORE_OPTION,
    STUDY_OPTION,
    TABLE_FORMAT_OPTION("how to print it"),
    {0},
};

const struct cli_command wni_cmd_trials = {
    .name = "trials",
    .summary = "list the trials of a study",
    .words = "[STUDY]",
    .max_words = 1,
    .about =
        "One line for each trial, in the order they were asked for. value is what it reported at its largest "
        "resource, best the best it ever reported; asked and ended are seconds since the study began. Then "
        "come the parameters. A parameter that has the name of another column is called param.NAME. Where a "
        "trial failed, ran out of time, was lost or cancelled, reason says why: "
        "its first line, cut short in the table and whole in JSON. 'winnow show STUDY --trial N' tells all "
        "of "
        "one trial.\n\n"
        "The listing begins at once, however many trials there are.",
    .options = options,
    .examples = "winnow trials | head\n"
                "winnow trials mlp --state failed\n"
                "winnow trials mlp --format csv >trials.csv",
    .run = run,
};
