/* cmd_run.c -- winnow run: tunes a command of the user's, here and now. */
#include "cli/notes.h"
#include "cli/runner.h"
#include "cli/studyargs.h"

static int run(struct args *args)
{
    struct studyfile study;
    struct run_options options;
    struct err err = {0};
    struct buf text = {0};
    wn_status st = wni_run_options(args, &options, &err);
    if (st) return wni_complain(&err, st);
    options.begins = true;
    if (!wni_arg(args, "minimize") && !wni_arg(args, "maximize") && args->n_words)
        options.path = args->words[0];
    int code = wni_study_from_args(args, &study, &text);
    if (code == EXIT_DONE && !wni_flag(args, "quiet")) wni_note_study(&study, "winnow: ", stderr);
    if (code == EXIT_DONE) code = wni_run_study(&study, wni_buf_text(&text), &options);
    wni_studyfile_release(&study);
    wni_buf_release(&text);
    return code;
}

static const struct cli_option options[] = {STUDY_OPTIONS, STUDY_FROM_FLAGS, RUN_OPTIONS, {0}};

const struct cli_command wni_cmd_run = {
    .name = "run",
    .summary = "tune a command: run it many times, learn, stop the bad runs early",
    .words = "STUDY.yaml | -- COMMAND...",
    .min_words = 0,
    .max_words = 10000,
    .about =
        "Runs the command of a study file again and again, each time with other parameters, several at a "
        "time, "
        "until a limit of the study is reached. Flags change what the file says; without a file they make up "
        "the study: what to --minimize or --maximize, a --param for each thing to tune, and the command "
        "after "
        "--, with {NAME} where a parameter goes.\n\n"
        "The command reports by printing a line such as 'epoch=3 val_loss=0.21' or "
        "'{\"epoch\": 3, \"val_loss\": 0.21}'. It also finds its parameters in $WINNOW_PARAMS and in "
        "config.json of $WINNOW_TRIAL_DIR, and may keep a checkpoint in $WINNOW_CHECKPOINT_DIR. What it "
        "prints "
        "goes to files there. docs/manual/trials.md tells the rest.\n\n"
        "A study of that name that is there already is left alone, unless none of its trials ever reported: "
        "then it is replaced. Mend the file or the program and run it again.\n\n"
        "Ctrl-C once: no new trials, running ones finish. Twice: running ones are stopped.\n\n"
        "Exit codes: 0 done, 1 no trial succeeded or the run failed, 2 a mistake in the study, 130 "
        "interrupted.",
    .options = options,
    .examples =
        "winnow run study.yaml\n"
        "winnow run study.yaml --workers 8 --time 30m --method cqr+mf\n"
        "winnow run --minimize val_loss --param lr=log:1e-5..1e-1 --param units=int:16..512 --trials 50 -- "
        "./train --lr {lr} --units {units}\n"
        "winnow run --maximize acc --resource epoch=1..27 --method asha --param lr=log:1e-4..1 -- "
        "python3 train.py --lr {lr} --epochs {resource.max}",
    .run = run,
};
