/* cmd_init.c -- winnow init: a study file to start from, every key explained. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char starter[] =
    "# A study: what to run, what to tune, when to stop.\n"
    "#     winnow check FILE       explains every mistake in it\n"
    "#     winnow run FILE         runs it\n"
    "name: my-study\n"
    "\n"
    "# Run for each trial, without a shell.  {lr} and its like become the trial's values; a program may also "
    "read them\n"
    "# from $WINNOW_PARAMS (JSON) or from config.json in $WINNOW_TRIAL_DIR.\n"
    "command: python3 train.py --lr {lr} --units {units} --optimizer {optimizer} --epochs {resource.max}\n"
    "\n"
    "# The program prints a line such as 'epoch=3 val_loss=0.21' or {\"epoch\": 3, \"val_loss\": 0.21} after "
    "each epoch.\n"
    "metric:   {name: val_loss, goal: minimize}     # or goal: maximize\n"
    "resource: {name: epoch, min: 1, max: 27}       # leave out if it prints one result at the end\n"
    "\n"
    "parameters:\n"
    "  lr:        {type: float, min: 1.0e-5, max: 0.1, scale: log}\n"
    "  units:     {type: int, min: 16, max: 512, scale: log}\n"
    "  optimizer: {type: categorical, values: [sgd, adam]}\n"
    "  # dropout: {type: ordinal, values: [0.0, 0.3, 0.6]}       a few values, in order\n"
    "  # nesterov: {type: bool}\n"
    "\n"
    "method: cqr+mf        # 'winnow methods' lists all; without a resource: cqr\n"
    "workers: 2            # trials at a time\n"
    "stop: {trials: 100}   # and: time: 2h, results: 5000, resource: 20000\n"
    "seed: 1               # the same seed and the same results give the same proposals\n"
    "\n"
    "# trial: {timeout: 30m, retries: 1, grace: 10s}     a trial may take so long, is repeated, is killed "
    "after SIGTERM\n"
    "# report: {pattern: 'Epoch ([0-9]+): loss ([0-9.]+)'}  for programs whose output you cannot change\n"
    "# gpus: [0, 1]                                      each worker gets one, in CUDA_VISIBLE_DEVICES\n"
    "# env: {DATA: /data/mnist}                          more environment variables\n";

static wn_status write_starter(const char *path, bool force, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | (force ? O_TRUNC : O_EXCL), 0666);
    if (fd < 0 && errno == EEXIST)
        return wni_fail(err, WN_EINVAL, "'%s' is there already; --force overwrites it", path);
    if (fd < 0) return wni_fail(err, WN_EIO, "cannot write '%s': %s", path, strerror(errno));
    bool fine = write(fd, starter, sizeof starter - 1) == (ssize_t)sizeof starter - 1;
    if (close(fd) == 0 && fine) return WN_OK;
    return wni_fail(err, WN_EIO, "cannot write '%s': %s", path, strerror(errno));
}

static int run(struct args *args)
{
    const char *path = args->n_words ? args->words[0] : "study.yaml";
    struct err err = {0};
    if (!strcmp(path, "-")) {
        fputs(starter, stdout);
        return EXIT_DONE;
    }
    wn_status st = write_starter(path, wni_flag(args, "force"), &err);
    if (st) return wni_complain(&err, st);
    printf("%s is written. Change the command and the parameters, then:\n"
           "  winnow check %s\n"
           "  winnow run %s\n",
           path, path, path);
    return EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "force", .help = "overwrite a file that is there"},
    {0},
};

const struct cli_command wni_cmd_init = {
    .name = "init",
    .summary = "write a study file to start from, with comments",
    .words = "[FILE]",
    .min_words = 0,
    .max_words = 1,
    .about = "Writes a commented study file, study.yaml unless another name is given; '-' prints it instead. "
             "docs/manual/study-file.md explains every key.",
    .options = options,
    .examples = "winnow init\n"
                "winnow init mlp.yaml\n"
                "winnow init - | less",
    .run = run,
};
