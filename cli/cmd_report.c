/* cmd_report.c -- winnow report: a value of a running trial, and what to do next. */
#include "cli/study_option.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

enum { EXIT_STOP = 3, EXIT_PAUSE = 4 };

static const char *const words[] = {[WN_CONTINUE] = "continue", [WN_STOP] = "stop", [WN_PAUSE] = "pause"};
static const int codes[] = {[WN_CONTINUE] = EXIT_DONE, [WN_STOP] = EXIT_STOP, [WN_PAUSE] = EXIT_PAUSE};

/* One step further than the trial was. */
static double next_resource(const struct study *s, uint32_t trial)
{
    const struct history *h = &s->history;
    uint32_t furthest = trial < h->n_trials ? h->trials[trial].furthest : 0;
    return furthest ? h->resources[furthest - 1] + 1 : 1;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s = {0};
    uint32_t trial = 0;
    double value = 0, resource = 0;
    wn_decision decision = WN_CONTINUE;
    wn_status st = wni_trial_word(args, 0, &trial, &err);
    if (!st && !wni_parse_double(args->words[1], &value))
        st = wni_fail(&err, WN_EINVAL, "expected a number as the value of trial %u, got '%s'", trial,
                      args->words[1]);
    if (!st) st = wni_arg_number(args, "resource", 0, HUGE_VAL, &resource, &err);
    if (!st) st = wni_open_study_option(args, NO_WORD, &s, &err);
    if (!st && !wni_arg(args, "resource")) resource = next_resource(&s.study, trial);
    if (!st) st = wni_study_report(&s.study, trial, resource, value, wni_study_clock(&s), &decision, &err);
    if (!st) puts(words[decision]);
    wni_close_study(&s);
    return st ? wni_complain(&err, st) : codes[decision];
}

static const struct cli_option options[] = {
    {.name = "resource",
     .value = "R",
     .help = "what the value was reached with, as epochs so far [one more than the trial's last]"},
    STORE_OPTION,
    STUDY_OPTION,
    {0},
};

const struct cli_command wni_cmd_report = {
    .name = "report",
    .summary = "report a value of a running trial; says whether to go on",
    .words = "TRIAL VALUE",
    .min_words = 2,
    .max_words = 2,
    .about =
        "Prints what the study decides: continue, stop (end the trial with 'winnow tell') or pause (save a "
        "checkpoint, then end it with 'winnow tell'; a later ask may hand it out again). A value that is not "
        "a "
        "finite number (nan, inf) fails the trial.\n\n"
        "Exit codes: 0 continue, 3 stop, 4 pause, 1 and 2 something went wrong.",
    .options = options,
    .examples = "winnow report 3 0.241 --resource 5     # trial 3 reached 0.241 after 5 epochs\n"
                "winnow report \"$WINNOW_TRIAL\" \"$loss\" >/dev/null || break",
    .run = run,
};
