/* cli.h -- what a command of the program is, and what commands share.
 *
 * A command is one file with a `const struct cli_command` and one line in commands.def.  Its tables give
 * argument parsing,
 * --help, the manual page and shell completion, so they cannot drift apart.
 *
 * Results go to stdout, everything else to stderr. */
#ifndef WNI_CLI_CLI_H
#define WNI_CLI_CLI_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* the study, trial or run failed */
    EXIT_USAGE = 2,  /* wrong usage or input */
    EXIT_INTERRUPTED = 130,
};

struct cli_option {
    const char *name;     /* without the dashes; NULL ends the table */
    const char *value;    /* what it takes, as --help shows it: "SECONDS"; NULL: a switch */
    const char *fallback; /* default, as typed; NULL: none */
    const char *choices;  /* "table|json|csv": anything else is refused; NULL: free */
    const char *help;
    bool address; /* of a store: a bare file name is refused, with the address it may stand for */
    bool many;    /* may be repeated; values are joined with blanks */
};

enum { CLI_OPTIONS_MAX = 32 };

/* Rows that several commands have; `what` is the help: "how to print the list". */
/* clang-format off */
#define TABLE_FORMAT_OPTION(what)                                                                            \
    {.name = "format", .value = "FORMAT", .fallback = "table", .choices = "table|json|csv", .help = (what)}
#define TEXT_FORMAT_OPTION(what)                                                                             \
    {.name = "format", .value = "FORMAT", .fallback = "text", .choices = "text|json", .help = (what)}
#define DATA_OPTION                                                                                          \
    {.name = "data", .value = "DIR",                                                                         \
     .help = "folder of benchmark tables (or several, separated by colons); default: $WINNOW_DATA"}
/* clang-format on */

struct args {
    const struct cli_command *command;
    const char *
        values[CLI_OPTIONS_MAX]; /* one per row of the command's table, fallback filled in; NULL: not given */
    bool given[CLI_OPTIONS_MAX]; /* typed by the user */
    char *joined[CLI_OPTIONS_MAX]; /* storage for `many` */
    char **words;                  /* positional */
    size_t n_words;
};

struct cli_command {
    const char *name;
    const char *summary; /* one line */
    const char *words;   /* positional arguments in the synopsis: "FILE"; "" when there are none */
    size_t min_words, max_words;
    const char *about; /* paragraphs for --help and the manual, separated by blank lines */
    const struct cli_option *options;
    const char *examples;          /* lines of "command   # what it does" */
    int (*run)(struct args *args); /* returns an exit code */
};

size_t wni_command_count(void);
const struct cli_command *wni_command_at(size_t i);
const struct cli_command *wni_command_find(const char *name,
                                           struct err *err); /* NULL with a "did you mean" */

/* ---- arguments (args.c) ---- */

/* Parses argv (without the command's name) against the command's table. */
wn_status wni_args_parse(struct args *args, const struct cli_command *command, int argc, char **argv,
                         struct err *err);
void wni_args_release(struct args *args);
const char *wni_arg(const struct args *args, const char *name); /* NULL: not given and no default */
bool wni_flag(const struct args *args, const char *name);
/* Reads a number within [min, max]; absent leaves *out alone.  err: "--workers: expected ..., got 'x'". */
wn_status wni_arg_number(const struct args *args, const char *name, double min, double max, double *out,
                         struct err *err);
wn_status wni_arg_count(const struct args *args, const char *name, uint64_t min, uint64_t max, uint64_t *out,
                        struct err *err);

struct blackbox;
/* Opens the task that --task names in the folders of --data.  The caller closes it. */
wn_status wni_open_task_option(const struct args *args, struct blackbox **out, struct err *err);

/* ---- output ---- */

/* "winnow: message" on stderr; returns the exit code that fits the status. */
int wni_complain(const struct err *err, wn_status status);
/* The same for a document that cannot be read: a mistake in it already starts with the file's name and place,
 * as editors and compilers have it. */
int wni_complain_document(const struct err *err, wn_status status);
/* The same for every mistake of a file: a line each, and how many there are. */
struct problems;
int wni_complain_problems(const struct problems *problems);
/* Flushes stdout; a full disk or a closed pipe is a failure, not silence. */
int wni_finish_output(int code);
double wni_peak_memory(void); /* bytes this process had resident at most */

/* Rows of text in one of the listing formats (table.c). */
struct table;
struct table *wni_table_new(const char *const *columns,
                            size_t n);                  /* NULL when out of memory; names are not copied */
void wni_table_text(struct table *t, const char *text); /* next cell; rows fill up from left to right */
void wni_table_number(struct table *t, double x);       /* NAN is empty */
void wni_table_json(struct table *t, const char *json); /* text that is JSON already */
/* From here on rows are printed as they come, in blocks: a long listing begins at once and needs no memory.
 * The widths of an aligned table are those of its first block.  wni_table_print() prints what is left. */
void wni_table_stream(struct table *t, const char *format, FILE *out);
/* The last column is for remarks: an aligned table has no heading for it when its first block has none. */
void wni_table_remarks(struct table *t);
wn_status wni_table_print(struct table *t, const char *format, FILE *out); /* table, json, csv */
void wni_table_free(struct table *t);

/* ---- help (help.c) ---- */

void wni_print_overview(FILE *out);
void wni_print_help(const struct cli_command *command, FILE *out);

#endif
