/* cmd_tell.c -- winnow tell: how a trial ended. */
#include "cli/study_option.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static wn_state state_of(const char *word)
{
    char name[16];
    for (int i = WN_PAUSED; i <= WN_CANCELLED; i++) {
        wni_lower_state((wn_state)i, name);
        if (!strcmp(name, word)) return (wn_state)i;
    }
    return WN_COMPLETE;
}

/* A last value belongs to the largest resource, unless told otherwise. */
static wn_status report_last(const struct args *args, struct opened_study *s, uint32_t trial, struct err *err)
{
    double value, resource = s->setup.setup.max_resource > 0 ? s->setup.setup.max_resource : 1;
    wn_decision ignored;
    if (!wni_parse_double(args->words[1], &value))
        return wni_fail(err, WN_EINVAL, "expected a number as the value of trial %u, got '%s'", trial,
                        args->words[1]);
    wn_status st = wni_arg_number(args, "resource", 0, HUGE_VAL, &resource, err);
    return st ? st : wni_study_report(&s->study, trial, resource, value, wni_study_clock(s), &ignored, err);
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s = {0};
    uint32_t trial = 0;
    char recorded[16] = "";
    wn_status st = wni_trial_word(args, 0, &trial, &err);
    if (!st && wni_arg(args, "resource") && args->n_words < 2)
        st = wni_fail(&err, WN_EINVAL, "--resource goes with a value: winnow tell %u VALUE --resource R",
                      trial);
    if (!st) st = wni_open_study_option(args, NO_WORD, &s, &err);
    if (!st && args->n_words > 1) st = report_last(args, &s, trial, &err);
    if (!st)
        st = wni_study_finish_as(&s.study, trial, state_of(wni_arg(args, "state")), wni_arg(args, "why"),
                                 wni_study_clock(&s), &err);
    if (!st) wni_lower_state((wn_state)s.study.history.trials[trial].state, recorded);
    if (!st) puts(recorded);
    wni_close_study(&s);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "state",
     .value = "STATE",
     .fallback = "complete",
     .choices = "complete|stopped|paused|failed|timeout",
     .help = "how it ended"},
    {.name = "resource", .value = "R", .help = "what VALUE was reached with [the largest resource, or 1]"},
    {.name = "why", .value = "TEXT", .help = "a sentence for people: why it failed (see 'winnow trials')"},
    STORE_OPTION,
    STUDY_OPTION,
    {0},
};

const struct cli_command wni_cmd_tell = {
    .name = "tell",
    .summary = "end a trial that was asked for, perhaps with its last value",
    .words = "TRIAL [VALUE]",
    .min_words = 1,
    .max_words = 2,
    .about =
        "Prints the state that was recorded. It is the one that fits what happened: a trial that was told to "
        "stop before the largest resource is stopped, one that was told to pause is paused, one without any "
        "finite value has failed.",
    .options = options,
    .examples = "winnow tell 3 0.187                       # the result of trial 3\n"
                "winnow tell 3                             # all its values were reported before\n"
                "winnow tell 3 --state failed --why 'out of memory'",
    .run = run,
};
