/* cmd_paper.c -- winnow paper: the paper's figures, from our own computations. */
#include "cli/cli.h"

#include "bench/illustration.h"

#include <string.h>

static wn_status draw_illustration(const struct args *args, struct err *err)
{
    struct illustration setup = ILLUSTRATION_INIT;
    const char *out = wni_arg(args, "out");
    wn_status st = wni_arg_count(args, "seed", 0, INT64_MAX, &setup.seed, err);
    if (!st) st = wni_illustration_draw(&setup, out, err);
    if (!st)
        printf("%s/illustration.svg, .png, .pdf (data: illustration-*.csv, script: illustration.gp)\n", out);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    wn_status st;
    if (!strcmp(args->words[0], "illustration"))
        st = draw_illustration(args, &err);
    else
        st = wni_fail(&err, WN_EINVAL, "paper: unknown part '%s'; there is illustration", args->words[0]);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "out", .value = "DIR", .fallback = "paper", .help = "where figures, scripts and data go"},
    {.name = "seed", .value = "N", .fallback = "0", .help = "of the observations"},
    {0},
};

const struct cli_command wni_cmd_paper = {
    .name = "paper",
    .summary = "redo the paper's figures",
    .words = "illustration",
    .min_words = 1,
    .max_words = 1,
    .about = "illustration: samples of a function that is all noise, the quantiles predicted from them with "
             "Thompson draws, and "
             "where the proposals go: to x = pi/2 and 3 pi/2, where the noise is largest. Needs gnuplot; "
             "every plotted number "
             "is in a CSV file beside the figure.",
    .options = options,
    .examples = "winnow paper illustration --out figures",
    .run = run,
};
