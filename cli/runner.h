/* runner.h -- runs a study as local processes until it ends: what `winnow run` and its kin share. */
#ifndef WNI_CLI_RUNNER_H
#define WNI_CLI_RUNNER_H

#include "cli/cli.h"
#include "studyfile/studyfile.h"
#include "tuner/tuner.h"

struct study_setup;

struct run_options {
    const struct study_setup *stored; /* the study is there, set up like this; NULL: it must not be */
    bool change;                      /* and goes on as the file says, for everybody */
    const struct args *own;           /* flags that count in this process only; NULL: none */
    bool quiet, plot;
    bool interrupt_ends;              /* the first Ctrl-C stops running trials too */
    unsigned give_up, give_up_silent; /* see tuner.h */
    const char *format;               /* of the summary on stdout: text or json */
    bool begins;                      /* it is a new study, in place of one without a single report */
    const char *path;                 /* of the study file; NULL: there was none, or it is not known */
};

/* Flags for these: rows of a command's table, and reading them. */
/* clang-format off */
#define RUN_OPTIONS                                                                                          \
    {.name = "folder", .value = "DIR", .help = "where trial folders go [winnow-runs/NAME]"},                 \
    {.name = "backend", .value = "NAME", .help = "where trials run [the study's, else local: processes here]"}, \
    {.name = "on-interrupt", .value = "WHAT", .fallback = "finish", .choices = "finish|stop",                \
     .help = "what the first Ctrl-C does to running trials; the second always stops them, and they go on with the next resume"}, \
    {.name = "checkpoints", .value = "WHICH", .choices = "best|all|none",                                    \
     .help = "whose checkpoints stay when they are done [the study's, else best]; paused trials keep theirs"}, \
    {.name = "give-up", .value = "N",                                                                        \
     .help = "end with an error after N failures or timeouts in a row without a report; 0: never [20; 3 "    \
             "while programs end without a fault and nothing was ever reported]"},                           \
    {.name = "format", .value = "FORMAT", .fallback = "text", .choices = "text|json",                        \
     .help = "how to print the result"},                                                                     \
    {.name = "plot", .help = "draw the best value over time and the learning curves at the end"},            \
    {.name = "quiet", .help = "show no progress"}
/* clang-format on */

wn_status wni_run_options(const struct args *args, struct run_options *out, struct err *err);

/* Runs the study and prints what came of it.  Returns an exit code.  `text` is the file's, kept with a new
 * study so that it can be resumed without the file. */
int wni_run_study(const struct studyfile *file, const char *text, const struct run_options *options);

/* Before a new study is begun: one of this name must not be there.  One without a single report is removed,
 * with a line on stderr unless quiet; else the error says how it stands and what to do.  `text` is the new
 * file's. */
wn_status wni_make_way(const char *url, const char *name, const char *text, bool quiet, struct err *err);

#endif
