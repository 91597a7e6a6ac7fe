/* cmd_resume.c -- winnow resume and winnow worker: go on with a study that is in a store, by its name alone.
 *
 * Both run the command of the file that was stored with the study.  Resuming may change the study: the file
 * as flags and --file make it becomes a new setup.  A worker is one more process for a study that others run
 * too, so it takes one trial at a time unless told otherwise. */
#include "cli/notes.h"
#include "cli/runner.h"
#include "cli/study_option.h"
#include "cli/studyargs.h"

#include <string.h>

static wn_status need_command(const struct opened_study *s, struct err *err)
{
    struct studyfile file;
    wni_stored_studyfile(s, &file);
    bool driven = file.metric.name && file.command.n == 0;
    wni_studyfile_release(&file);
    if (driven)
        return wni_fail(err, WN_EINVAL,
                        "study '%s' has no command: 'winnow ask' hands out its trials; to run one, put "
                        "'command' into a study file and 'winnow resume %s --file FILE'",
                        s->name, s->name);
    if (s->file) return WN_OK;
    return wni_fail(
        err, WN_EINVAL,
        "study '%s' was not made by 'winnow run': no command is stored with it (see 'winnow help ask')",
        s->name);
}

/* Stores what is to change, and runs nothing. */
static int only_change(struct opened_study *s, const struct studyfile *file, const char *text)
{
    struct err err = {0};
    struct buf out = {0};
    bool changed = false;
    struct study_setup given = wni_setup_of_file(file, text);
    wn_status st = wni_open_found(s, &err);
    if (!st) st = wni_study_change(&s->study, &given, wni_study_clock(s), &changed, &err);
    if (st) return wni_complain(&err, st);
    size_t n = s->study.n_versions;
    if (changed)
        wni_describe_changes(&s->study.versions[n - 2]->stored.setup, wni_study_setup(&s->study), "", &out);
    else
        wni_buf_puts(&out, "nothing changes\n");
    if (!out.failed) fputs(wni_buf_text(&out), stdout);
    wni_buf_release(&out);
    return EXIT_DONE;
}

/* A new limit that is passed already would only be in the way of the next 'winnow resume'. */
static wn_status check_limit(const struct opened_study *s, const struct studyfile *to, struct err *err)
{
    struct studyfile from;
    uint64_t limit = (uint64_t)to->stop.trials;
    wni_stored_studyfile(s, &from);
    bool same = from.stop.trials == to->stop.trials;
    wni_studyfile_release(&from);
    if (same || limit == 0 || limit >= s->trials) return WN_OK;
    return wni_fail(
        err, WN_EINVAL,
        "a limit of %llu trial%s is below the %llu there are: the limit counts all trials of study '%s'",
        (unsigned long long)limit, limit == 1 ? "" : "s", (unsigned long long)s->trials, s->name);
}

static int resume_study(struct args *args, struct opened_study *s)
{
    struct studyfile study = {0};
    struct run_options options;
    struct err err = {0};
    struct buf text = {0};
    wn_status st = wni_run_options(args, &options, &err);
    /* a file from --file brings its own command, or is told what it lacks */
    if (!st && !(s->file && (wni_arg(args, "file") || wni_flag(args, "no-run")))) st = need_command(s, &err);
    if (st) return wni_complain(&err, st);
    int code = wni_study_from_changes(args, s->file, s->name, s->url, &study, &text);
    if (code == EXIT_DONE && wni_flag(args, "trials")) st = check_limit(s, &study, &err);
    if (st) code = wni_complain(&err, st);
    options.stored = &s->setup.setup;
    options.change = s->file && strcmp(wni_buf_text(&text), s->file) != 0;
    if (code == EXIT_DONE && !options.quiet) wni_note_study(&study, "winnow: ", stderr);
    if (code == EXIT_DONE)
        code = wni_flag(args, "no-run") ? only_change(s, &study, wni_buf_text(&text))
                                        : wni_run_study(&study, wni_buf_text(&text), &options);
    wni_studyfile_release(&study);
    wni_buf_release(&text);
    return code;
}

/* Its flags are its own: the study stays as it is. */
static int help_study(struct args *args, struct opened_study *s)
{
    struct studyfile study = {0};
    struct run_options options;
    struct err err = {0};
    wn_status st = wni_run_options(args, &options, &err);
    if (!st) st = need_command(s, &err);
    if (st) return wni_complain(&err, st);
    options.stored = &s->setup.setup;
    options.own = args;
    int code = wni_study_from_stored(args, s->file, s->name, s->url, &study);
    if (code == EXIT_DONE && !options.quiet) wni_note_study(&study, "winnow: ", stderr);
    if (code == EXIT_DONE) code = wni_run_study(&study, s->file, &options);
    wni_studyfile_release(&study);
    return code;
}

static int run_found(struct args *args, int (*go_on)(struct args *args, struct opened_study *s))
{
    struct err err = {0};
    struct opened_study s;
    wn_status st = wni_find_study_option(args, 0, &s, &err);
    int code = st ? wni_complain(&err, st) : go_on(args, &s);
    wni_close_study(&s);
    return code;
}

static int run_resume(struct args *args)
{
    return run_found(args, resume_study);
}

static int run_worker(struct args *args)
{
    return run_found(args, help_study);
}

static const struct cli_option resume_options[] = {
    {.name = "file", .value = "STUDY.yaml", .help = "go on as this file says; what it leaves out stays"},
    {.name = "param",
     .value = "NAME=RANGE",
     .many = true,
     .help = "widen a parameter: a larger range, or all values and new ones behind: lr=log:1e-6..1, "
             "act=relu,tanh,gelu"},
    {.name = "workers", .value = "N", .help = "trials that run at the same time [as before]"},
    LIMIT_OPTIONS,
    {.name = "no-run", .help = "only store what changes, run nothing"},
    STORE_OPTION,
    STUDY_OPTION,
    RUN_OPTIONS,
    {0},
};

static const struct cli_option worker_options[] = {
    {.name = "workers", .value = "N", .fallback = "1", .help = "trials that run at the same time here"},
    LIMIT_OPTIONS,
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
        "retries.\n\n"
        "The study may go on with other limits, workers, command or time limits, with wider ranges and with "
        "more categories: say so with flags, or change the study file and give it with --file. What is "
        "changed is stored: the next 'winnow resume' needs no flags, workers that run meanwhile adopt ranges "
        "and limits, and 'winnow show' tells what was changed when. Trials so far are kept and learned "
        "from.\n\n"
        "What would lose a trial is refused: a narrower range, a value that is missing, another type, scale "
        "or "
        "step, a parameter more or less. Metric, resource, method and seed stay too. For these start a new "
        "study and bring the trials along with 'winnow export' and 'winnow import'.",
    .options = resume_options,
    .examples = "winnow resume\n"
                "winnow resume mlp --trials 200 --workers 8      # raise the limit\n"
                "winnow resume mlp --param lr=log:1e-6..1 --trials 200\n"
                "winnow resume mlp --file study.yaml\n"
                "winnow resume mlp --param act=relu,tanh,gelu --no-run",
    .run = run_resume,
};

const struct cli_command wni_cmd_worker = {
    .name = "worker",
    .summary = "help with a study that another process runs",
    .words = "[STUDY]",
    .max_words = 1,
    .about =
        "Takes trials of the study, runs them here and reports to the store, until the study is "
        "complete. Any number "
        "of workers may be started and stopped at any time; each learns from the results of all. The "
        "command is run "
        "in the current folder. Flags count for this worker only. When 'winnow resume' changes the study "
        "meanwhile, the worker says so and adopts the new ranges, and the new limits where no flag of its "
        "own says otherwise.",
    .options = worker_options,
    .examples = "winnow worker mlp --store sqlite:////shared/runs.db\n"
                "winnow worker --workers 4 --quiet",
    .run = run_worker,
};
