/* cmd_cancel.c -- winnow cancel: gives up trials that run, are paused or wait to be tried again. */
#include "cli/study_option.h"

static wn_status cancel(const struct args *args, struct opened_study *s, size_t word, struct err *err)
{
    uint32_t trial;
    wn_status st = wni_trial_word(args, word, &trial, err);
    if (!st)
        st = wni_study_finish_as(&s->study, trial, WN_CANCELLED, wni_arg(args, "why"), wni_study_clock(s),
                                 err);
    if (!st) printf("trial %u: cancelled\n", trial);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s = {0};
    int code = EXIT_DONE;
    wn_status st = wni_open_study_option(args, NO_WORD, &s, &err);
    if (st) code = wni_complain(&err, st);
    for (size_t i = 0; i < args->n_words && !st; i++) {
        struct err why = {0};
        wn_status one = cancel(args, &s, i, &why); /* one that cannot be cancelled does not save the others */
        if (one) code = wni_complain(&why, one);
    }
    wni_close_study(&s);
    return code;
}

static const struct cli_option options[] = {
    {.name = "why", .value = "TEXT", .fallback = "cancelled by the user", .help = "a sentence for people"},
    STORE_OPTION,
    STUDY_OPTION,
    {0},
};

const struct cli_command wni_cmd_cancel = {
    .name = "cancel",
    .summary = "give up trials that run, are paused, or wait to be tried again",
    .words = "TRIAL...",
    .min_words = 1,
    .max_words = 1000000,
    .about =
        "The trial is recorded as cancelled and its reports stay in the study. Whoever runs it learns of it "
        "with the next report, which is refused.",
    .options = options,
    .examples = "winnow cancel 17\n"
                "winnow cancel 3 4 5 --study mlp --why 'wrong data'",
    .run = run,
};
