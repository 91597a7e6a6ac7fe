/* main.c -- picks the command, parses its arguments, runs it. */
#include "cli/cli.h"

#include "base/node.h"

#include "base/registry.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#define COMMAND(name) extern const struct cli_command wni_cmd_##name;
#include "cli/commands.def"
#undef COMMAND

static const struct cli_command *const commands[] = {
#define COMMAND(name) &wni_cmd_##name,
#include "cli/commands.def"
#undef COMMAND
};

size_t wni_command_count(void)
{
    return sizeof commands / sizeof *commands;
}

const struct cli_command *wni_command_at(size_t i)
{
    return commands[i];
}

static const char *name_at(size_t i)
{
    return commands[i]->name;
}

const struct cli_command *wni_command_find(const char *name, struct err *err)
{
    ptrdiff_t i = wni_registry_find("command", name, wni_command_count(), name_at, err);
    return i < 0 ? NULL : commands[i];
}

int wni_complain(const struct err *err, wn_status status)
{
    fflush(stdout);
    fprintf(stderr, "winnow: %s\n", err->text[0] ? err->text : wn_status_text(status));
    return status == WN_EINVAL || status == WN_ENOTFOUND ? EXIT_USAGE : EXIT_FAILED;
}

int wni_complain_document(const struct err *err, wn_status status)
{
    if (status != WN_EINVAL) return wni_complain(err, status);
    fflush(stdout);
    fprintf(stderr, "%s\n", err->text);
    return EXIT_USAGE;
}

int wni_complain_problems(const struct problems *problems)
{
    struct buf lines = {0};
    wni_problems_write(problems, &lines);
    fflush(stdout);
    fprintf(stderr, "%s%zu mistake%s\n", wni_buf_text(&lines), problems->n, problems->n == 1 ? "" : "s");
    wni_buf_release(&lines);
    return EXIT_USAGE;
}

int wni_finish_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return code;
    if (errno != EPIPE) fprintf(stderr, "winnow: cannot write the output: %s\n", strerror(errno));
    return EXIT_FAILED;
}

double wni_peak_memory(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (double)usage.ru_maxrss * 1024;
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
    struct args args;
    struct err err = {0};
    wn_status st = wni_args_parse(&args, command, argc, argv, &err);
    int code;
    if (st) {
        code = wni_complain(&err, st);
        if (code == EXIT_USAGE) fprintf(stderr, "Try 'winnow help %s'.\n", command->name);
    } else if (wni_flag(&args, "help")) {
        wni_print_help(command, stdout);
        code = EXIT_DONE;
    } else {
        code = command->run(&args);
    }
    wni_args_release(&args);
    return wni_finish_output(code);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* `winnow tasks | head` ends with an error code, not with a signal */
    if (argc < 2) {
        wni_print_overview(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) name = "help";
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) name = "version";
    struct err err = {0};
    const struct cli_command *command = wni_command_find(name, &err);
    if (!command) {
        wni_complain(&err, WN_EINVAL);
        fprintf(stderr, "Try 'winnow help'.\n");
        return EXIT_USAGE;
    }
    return run_command(command, argc - 2, argv + 2);
}
