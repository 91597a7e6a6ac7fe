/* cmd_importance.c -- winnow importance: which parameters matter. */
#include "cli/plotdata.h"

#include "base/mem.h"
#include "num/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 40 };

static void put_bar(struct table *t, double share)
{
    char bar[3 * BAR + 1] = "";
    for (int i = 0; i < (int)lround(share * BAR); i++)
        memcpy(bar + strlen(bar), "█", sizeof "█");
    wni_table_text(t, bar);
}

static wn_status print(const struct space *space, const double *importance, const char *format,
                       struct err *err)
{
    static const char *const columns[] = {"parameter", "importance", ""};
    bool bars = !strcmp(format, "table");
    struct table *t = wni_table_new(columns, bars ? 3 : 2);
    uint32_t *order = wni_new(uint32_t, 2 * space->n);
    wn_status st = t && order ? WN_OK : wni_fail_memory(err);
    if (!st) wni_argsort(importance, space->n, order, order + space->n);
    for (size_t i = space->n; i-- > 0 && !st;) {
        wni_table_text(t, space->params[order[i]].name);
        wni_table_number(t, bars ? round(importance[order[i]] * 1e4) / 1e4 : importance[order[i]]);
        if (bars) put_bar(t, importance[order[i]]);
    }
    if (!st && wni_table_print(t, format, stdout)) st = wni_fail_memory(err);
    wni_table_free(t);
    free(order);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s;
    double share = 0.1, *importance = NULL;
    size_t n = 0;
    wn_status st = wni_arg_number(args, "share", 0.001, 0.999, &share, &err);
    if (st) return wni_complain(&err, st);
    st = wni_open_study_option(args, 0, &s, &err);
    if (!st && !(importance = wni_new(double, s.study.space.n))) st = wni_fail_memory(&err);
    if (!st) st = wni_study_importance(&s.study, share, importance, &n, &err);
    if (!st) st = print(&s.study.space, importance, wni_arg(args, "format"), &err);
    free(importance);
    wni_close_study(&s);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "share", .value = "S", .fallback = "0.1", .help = "the share of trials that count as good"},
    STORE_OPTION,
    STUDY_OPTION,
    TABLE_FORMAT_OPTION("how to print it"),
    {0},
};

const struct cli_command wni_cmd_importance = {
    .name = "importance",
    .summary = "say which parameters decide whether a trial is good",
    .words = "[STUDY]",
    .max_words = 1,
    .about = "The method is PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023): for each parameter, how "
             "differently "
             "its values are distributed among the best tenth of the trials and among all trials (Pearson "
             "divergence). The numbers add up to 1. They say what mattered for getting among the best in "
             "this study; "
             "interactions between parameters are not told apart.\n\n"
             "A trial counts with the value at its largest resource; failed ones do not count. At least 10 "
             "trials are "
             "needed, and some 100 for numbers that mean something.",
    .options = options,
    .examples = "winnow importance\n"
                "winnow importance mlp --share 0.25 --format csv",
    .run = run,
};
