/* cmd_resume.c -- winnow resume and winnow worker: go on with a study that is in a store, by its name alone.
 *
 * Both run the command of the file that was stored with the study.  A worker is one more process for a study
 * that others run too, so it takes one trial at a time unless told otherwise. */
#include "cli/runner.h"
#include "cli/study_option.h"
#include "cli/studyargs.h"

static int go_on(struct args *args, const struct opened_study *s)
{
    struct studyfile study;
    struct run_options options;
    struct err err = {0};
    wn_status st = wni_run_options(args, &options, &err);
    if (!st && !s->file)
        st = wni_fail(
            &err, WN_EINVAL,
            "study '%s' was not made by 'winnow run': no command is stored with it (see 'winnow help ask')",
            s->name);
    if (st) return wni_complain(&err, st);
    options.resume = true;
    int code = wni_study_from_stored(args, s->file, s->name, s->url, &study);
    if (code == EXIT_DONE) code = wni_run_study(&study, s->file, &options);
    wni_studyfile_release(&study);
    return code;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s;
    wn_status st = wni_find_study_option(args, 0, &s, &err);
    int code = st ? wni_complain(&err, st) : go_on(args, &s);
    wni_close_study(&s);
    return code;
}

/* clang-format off */
#define LIMITS                                                                                               \
    {.name = "trials", .value = "N", .help = "start at most N trials in all, those there are included"},     \
    {.name = "results", .value = "N", .help = "end after N reports in all"},                                   \
    {.name = "time", .value = "TIME", .help = "end after this long: 90s, 30m, 1h30m"},                       \
    {.name = "timeout", .value = "TIME", .help = "end a trial that runs longer"},                            \
    {.name = "grace", .value = "TIME", .help = "between SIGTERM and SIGKILL"},                               \
    {.name = "retries", .value = "N", .help = "how often a failed trial is run again"}
/* clang-format on */

static const struct cli_option resume_options[] = {
    {.name = "workers", .value = "N", .help = "trials that run at the same time [as before]"},
    LIMITS,
    STORE_OPTION,
    STUDY_OPTION,
    RUN_OPTIONS,
    {0},
};

static const struct cli_option worker_options[] = {
    {.name = "workers", .value = "N", .fallback = "1", .help = "trials that run at the same time here"},
    LIMITS,
    STORE_OPTION,
    STUDY_OPTION,
    RUN_OPTIONS,
    {0},
};

const struct cli_command wni_cmd_resume = {
    .name = "resume",
    .summary = "go on with a study that ended or was interrupted",
    .words = "[STUDY]",
    .max_words = 1,
    .about =
        "Runs the study's command again, as 'winnow run' did: the study file was stored with the study. All "
        "earlier "
        "trials count, paused ones go on from their checkpoints, lost ones are tried again if the study has "
        "retries. Limits and workers may be other ones than before; the space, the method and the seed may "
        "not.",
    .options = resume_options,
    .examples = "winnow resume\n"
                "winnow resume mlp --trials 200 --workers 8      # raise the limit",
    .run = run,
};

const struct cli_command wni_cmd_worker = {
    .name = "worker",
    .summary = "help with a study that another process runs",
    .words = "[STUDY]",
    .max_words = 1,
    .about = "Takes trials of the study, runs them here and reports to the store, until the study is "
             "complete. Any number "
             "of workers may be started and stopped at any time; each learns from the results of all. The "
             "command is run "
             "in the current folder.",
    .options = worker_options,
    .examples = "winnow worker mlp --store sqlite:////shared/runs.db\n"
                "winnow worker --workers 4 --quiet",
    .run = run,
};
