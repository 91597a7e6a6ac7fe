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

/* What a reader should know before believing the numbers. */
static void warn(const struct study *s, double share, size_t n)
{
    const char *searcher = s->searcher.ops->name;
    if (n < IMPORTANCE_TRIALS_ENOUGH)
        fprintf(stderr, "winnow: %zu trials: take this as a hint, some %d make it reliable\n", n,
                IMPORTANCE_TRIALS_ENOUGH);
    if (share > 0 && strcmp(searcher, "random") != 0 && strcmp(searcher, "grid") != 0)
        fprintf(stderr,
                "winnow: searcher '%s' favours what looked good, so a parameter it settled early on seems "
                "unimportant here; without --share the whole space counts\n",
                searcher);
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s;
    double share = 0, *importance = NULL;
    size_t n = 0;
    wn_status st = wni_arg_number(args, "share", 0.001, 0.999, &share, &err);
    if (st) return wni_complain(&err, st);
    st = wni_open_study_option(args, 0, &s, &err);
    if (!st && !(importance = wni_new(double, s.study.space.n))) st = wni_fail_memory(&err);
    if (!st) st = wni_study_importance(&s.study, share, importance, &n, &err);
    if (!st) warn(&s.study, share, n);
    if (!st) st = print(&s.study.space, importance, wni_arg(args, "format"), &err);
    free(importance);
    wni_close_study(&s);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "share",
     .value = "S",
     .help = "instead: what sets the best share of the trials (0.1: a tenth) apart from all (PED-ANOVA)"},
    STORE_OPTION,
    STUDY_OPTION,
    TABLE_FORMAT_OPTION("how to print it"),
    {0},
};

const struct cli_command wni_cmd_importance = {
    .name = "importance",
    .summary = "say which parameters matter most",
    .words = "[STUDY]",
    .max_words = 1,
    .about =
        "Fits a model (boosted trees) to the trials and asks it about configurations drawn evenly from the "
        "whole space: the more the value moves when one parameter alone changes, the more important it is "
        "(functional ANOVA, total effects). The numbers add up to 1; parameters that matter only together "
        "share the credit. A model is a guess where few trials are.\n\n"
        "With --share another question: how differently are a parameter's values distributed among the best "
        "of the trials and among all trials (PED-ANOVA: Watanabe, Bansal and Hutter, IJCAI 2023)? It suits "
        "random search. A searcher that learns soon tries the good values only; what it settled early on "
        "then seems unimportant.\n\n"
        "A trial counts with the value at its largest resource; failed ones do not count. At least 10 trials "
        "are needed, and some 100 for numbers that mean something.",
    .options = options,
    .examples = "winnow importance\n"
                "winnow importance mlp --share 0.25 --format csv",
    .run = run,
};
