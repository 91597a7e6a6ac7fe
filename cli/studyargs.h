/* studyargs.h -- a study from a file, from flags, or from a file changed by flags.
 *
 * Flags become part of the document before it is read, so one piece of code checks everything and says what
 * is wrong. */
#ifndef WNI_CLI_STUDYARGS_H
#define WNI_CLI_STUDYARGS_H

#include "cli/cli.h"
#include "studyfile/studyfile.h"

/* Flags that change or make up a study: rows for a command's table. */
/* clang-format off */
/* What a study may be given later, too. */
#define LIMIT_OPTIONS                                                                                        \
    {.name = "trials", .value = "N", .help = "start at most N trials in all"},                               \
    {.name = "results", .value = "N", .help = "end after N reports in all"},                                 \
    {.name = "time", .value = "TIME", .help = "end after this long: 90s, 30m, 1h30m"},                       \
    {.name = "total-resource", .value = "R",                                                                 \
     .help = "end when all trials together have used so much: epochs, or what the resource is"},             \
    {.name = "timeout", .value = "TIME", .help = "end a trial that runs longer"},                            \
    {.name = "grace", .value = "TIME", .help = "between SIGTERM and SIGKILL [the study's, else 10s]"},       \
    {.name = "retries", .value = "N", .help = "how often a failed trial is run again [the study's, else 0]"}

#define STUDY_OPTIONS                                                                                        \
    {.name = "name", .value = "NAME", .help = "name of the study [the file's, or the program's]"},           \
    {.name = "store", .value = "ADDRESS", .address = true, .help = "where results are kept [the file's, else $WINNOW_STORE, else sqlite:///winnow.db]; memory: nowhere"},                                 \
    {.name = "workers", .value = "N", .help = "trials that run at the same time [1]"},                       \
    {.name = "method", .value = "METHOD", .help = "how to tune: a row of 'winnow methods' [rs]"},            \
    {.name = "set", .value = "PART.OPTION=VALUE", .many = true,                                              \
     .help = "change an option of the method: --set scheduler.eta=4"},                                       \
    {.name = "seed", .value = "N", .help = "which random numbers [0]"},                                      \
    LIMIT_OPTIONS

#define STUDY_FROM_FLAGS                                                                                     \
    {.name = "minimize", .value = "METRIC", .help = "without a file: what to minimize, as the program reports it"}, \
    {.name = "maximize", .value = "METRIC", .help = "without a file: what to maximize"},                     \
    {.name = "param", .value = "NAME=RANGE", .many = true,                                                   \
     .help = "without a file: what to tune: x=0..1, lr=log:1e-5..0.1, units=int:16..512, n=logint:1..4096, " \
             "batch=ord:16,32,64, act=relu,tanh, fast=bool, seed=7"},                                        \
    {.name = "resource", .value = "NAME=MIN..MAX", .help = "without a file: what early stopping saves: epoch=1..81"}, \
    {.name = "pattern", .value = "REGEX", .help = "without a file: where reports are in the program's output"}
/* clang-format on */

/* Reads a study file's text.  Whoever names a program where the study file goes is told where programs go,
 * and whoever has no file yet how to get one. */
wn_status wni_studyargs_load(struct document *doc, const char *path, struct err *err);

/* Reads the study that the arguments describe: words[0] is a file, or, when one of --minimize and --maximize
 * is given, all words are the command.  Mistakes are printed to stderr; returns an exit code, 0: `study` is
 * complete and `text` is a study file that says all of it, to be stored.  The caller releases both either
 * way.
 */
int wni_study_from_args(const struct args *args, struct studyfile *study, struct buf *text);

/* The same for a study that is in a store with its file: `stored` is that text, `name` and `store` are where
 * the study is.  Flags, unless `args` is NULL, change what may change. */
int wni_study_from_stored(const struct args *args, const char *stored, const char *name, const char *store,
                          struct studyfile *study);

/* The same for a study that goes on changed: by the file that --file names, which need not say what stays, by
 * --param in place of what the file says of these parameters, and by the flags.  `text` is what is to be
 * stored, `stored` itself when nothing changes.  Whether a study can change like that is not looked at. */
int wni_study_from_changes(const struct args *args, const char *stored, const char *name, const char *store,
                           struct studyfile *study, struct buf *text);

#endif
