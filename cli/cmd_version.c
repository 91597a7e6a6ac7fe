/* cmd_version.c -- winnow version. */
#include "cli/cli.h"

static int run(struct args *args)
{
    (void)args;
    printf("winnow %s\n", wn_version());
    return EXIT_DONE;
}

const struct cli_command wni_cmd_version = {
    .name = "version",
    .summary = "print the version",
    .words = "",
    .about = "Prints the program's version.",
    .examples = "winnow version",
    .run = run,
};
