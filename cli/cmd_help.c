/* cmd_help.c -- winnow help, and the same tables as manual pages and shell completion. */
#include "cli/plots.h"

#include <string.h>

/* ---- manual pages (man macros) ---- */

/* Text with what troff would take for a command made harmless. */
static void man_text(const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
        if (*text == '-')
            fputs("\\-", stdout);
        else if (*text == '\\')
            fputs("\\e", stdout);
        else
            putchar(*text);
        line_start = *text == '\n';
    }
}

static void man_paragraphs(const char *text)
{
    for (const char *end; (end = strstr(text, "\n\n")); text = end + 2) {
        char part[2048];
        snprintf(part, sizeof part, "%.*s", (int)(end - text), text);
        man_text(part);
        puts("\n.PP");
    }
    man_text(text);
    putchar('\n');
}

static void man_head(const char *title, const char *name, const char *summary)
{
    printf(".TH %s 1 \"\" \"winnow %s\" \"Winnow manual\"\n.SH NAME\n", title, wn_version());
    man_text(name);
    fputs(" \\- ", stdout);
    man_text(summary);
    putchar('\n');
}

static void man_option(const struct cli_option *o)
{
    fputs(".TP\n.B \\-\\-", stdout);
    man_text(o->name);
    if (o->value) printf(" \\fI%s\\fR", o->value);
    putchar('\n');
    man_text(o->help);
    putchar('.');
    if (o->choices) printf(" One of %s.", o->choices);
    if (o->fallback) printf(" Default: %s.", o->fallback);
    putchar('\n');
}

static void man_command(const struct cli_command *c)
{
    char title[64] = "winnow-";
    strncat(title, c->name, sizeof title - strlen(title) - 1);
    man_head(title, title, c->summary);
    printf(".SH SYNOPSIS\n.B winnow %s\n%s\\fI%s\\fR\n.SH DESCRIPTION\n", c->name,
           c->options ? "[OPTIONS] " : "", c->words);
    man_paragraphs(c->about);
    if (c->options) puts(".SH OPTIONS");
    for (const struct cli_option *o = c->options; o && o->name; o++)
        man_option(o);
    puts(".SH EXAMPLES\n.nf");
    man_text(c->examples);
    puts("\n.fi\n.SH SEE ALSO\n.BR winnow (1)");
}

static void man_overview(void)
{
    man_head("winnow", "winnow", "tune hyperparameters");
    puts(".SH SYNOPSIS\n.B winnow\n\\fICOMMAND\\fR [OPTIONS]\n.SH DESCRIPTION\n"
         "Winnow proposes configurations, runs them side by side, stops the bad ones early and learns from "
         "all of them.\n"
         "Each command has a manual page of its own.\n.SH COMMANDS");
    for (size_t i = 0; i < wni_command_count(); i++) {
        printf(".TP\n.BR winnow\\-%s (1)\n", wni_command_at(i)->name);
        man_text(wni_command_at(i)->summary);
        putchar('\n');
    }
    puts(".SH EXIT STATUS\n0 done, 1 the study or run failed, 2 wrong usage or input, 130 interrupted.\n"
         ".SH ENVIRONMENT\n.TP\n.B WINNOW_DATA\nFolder of benchmark tables, as \\-\\-data.\n"
         ".TP\n.B WINNOW_SIMD\nnone: do not use vector instructions. Results are the same.");
}

/* ---- completion ---- */

/* What a word or a value stands for is told by its name in the synopsis. */
static const char *source_of(const char *words)
{
    static const struct {
        const char *name, *source;
    } rows[] = {{"KIND", "pictures"},  {"STUDY.yaml", "files"}, {"FILE...", "files"}, {"STUDY", "studies"},
                {"COMMAND]", "verbs"}, {"METHOD", "methods"},   {"TASK", "tasks"}};
    for (size_t i = 0; words && i < sizeof rows / sizeof *rows; i++)
        if (strstr(words, rows[i].name)) return rows[i].source;
    return "";
}

static const char *source_of_option(const struct cli_option *o)
{
    return !strcmp(o->name, "study") ? "studies" : source_of(o->value);
}

static void print_choices(const char *choices)
{
    for (; *choices; choices++)
        putchar(*choices == '|' ? ' ' : *choices);
}

static void print_verbs(void)
{
    for (size_t i = 0; i < wni_command_count(); i++)
        printf("%s%s", i ? " " : "", wni_command_at(i)->name);
}

static void print_pictures(void)
{
    for (size_t i = 0; i < wni_n_plot_kinds; i++)
        printf("%s ", wni_plot_kinds[i].name);
    fputs("all", stdout);
}

/* Names from a listing: the first column.  A store that is not there has none, and says nothing. */
static void print_listing(const char *program, const char *command)
{
    printf("$(%s %s --format csv 2>/dev/null </dev/null | sed 1d | cut -d, -f1)", program, command);
}

/* Fills COMPREPLY from a source.  bash takes the colon of a store's address for the end of a word, so that is
 * looked for in the line. */
static void bash_sources(void)
{
    puts("_winnow_from()\n{\n    local store=() words=\n"
         "    if [[ $COMP_LINE =~ --store[=\\ ]+([^ ]+) ]]; then store=(--store \"${BASH_REMATCH[1]}\"); fi\n"
         "    case $1 in");
    fputs("        studies | pictures) words=\"", stdout);
    print_listing("\"${COMP_WORDS[0]}\"", "ls \"${store[@]}\"");
    fputs("\";;\n        methods | tasks) words=\"", stdout);
    print_listing("\"${COMP_WORDS[0]}\"", "\"$1\"");
    fputs("\";;\n        verbs) words='", stdout);
    print_verbs();
    fputs("';;\n    esac\n    if [ \"$1\" = pictures ]; then words=\"", stdout);
    print_pictures();
    puts(" $words\"; fi\n"
         "    case $1 in\n"
         "        files)\n            compopt -o filenames 2>/dev/null\n"
         "            COMPREPLY=($(compgen -f -X '!*.y*ml' -- \"$cur\") $(compgen -d -- \"$cur\"));;\n"
         "        '') compopt -o default 2>/dev/null; COMPREPLY=($(compgen -W \"$2\" -- \"$cur\"));;\n"
         "        *) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"));;\n    esac\n}");
}

static void bash_values(const struct cli_option *o, const char *command)
{
    if (!o->value) return;
    printf("        %s:--%s) ", command, o->name);
    if (o->choices) {
        fputs("COMPREPLY=($(compgen -W '", stdout);
        print_choices(o->choices);
        puts("' -- \"$cur\"));;");
    } else {
        printf("_winnow_from '%s' '';;\n", source_of_option(o));
    }
}

static void bash_words(const struct cli_command *c)
{
    printf("                %s) source='%s' options='", c->name, source_of(c->words));
    for (const struct cli_option *o = c->options; o && o->name; o++)
        printf("--%s ", o->name);
    puts("--help';;");
}

static void bash_completion(void)
{
    puts("# bash completion for winnow");
    bash_sources();
    puts("_winnow()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
         "command=${COMP_WORDS[1]}\n    local source= options=\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        _winnow_from verbs ''\n        return\n    fi\n"
         "    case $command:$prev in");
    for (size_t i = 0; i < wni_command_count(); i++)
        for (const struct cli_option *o = wni_command_at(i)->options; o && o->name; o++)
            bash_values(o, wni_command_at(i)->name);
    puts("        *)\n            case $command in");
    for (size_t i = 0; i < wni_command_count(); i++)
        bash_words(wni_command_at(i));
    puts("            esac\n"
         "            if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
         "            else _winnow_from \"$source\" \"$options\"; fi;;\n"
         "    esac\n}\ncomplete -F _winnow winnow");
}

/* Text inside a zsh _arguments specification, itself in single quotes. */
static void zsh_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_option(const struct cli_option *o)
{
    printf(" \\\n                '%s--%s[", o->many ? "*" : "", o->name);
    zsh_text(o->help);
    putchar(']');
    if (o->value) printf(":%s:", o->value);
    if (o->choices) {
        putchar('(');
        print_choices(o->choices);
        putchar(')');
    } else if (o->value && (!strcmp(o->name, "data") || !strcmp(o->name, "out"))) {
        fputs("_files -/", stdout);
    } else if (o->value && *source_of_option(o)) {
        printf("_winnow_%s", source_of_option(o));
    }
    putchar('\'');
}

static void zsh_listing(const char *source, const char *command)
{
    printf("_winnow_%s() {\n    local -a store\n    local at=${words[(i)--store]}\n"
           "    if (( at < $#words )); then store=(--store $words[at+1]); fi\n    compadd -- ${(f)\"",
           source);
    print_listing("winnow", command);
    puts("\"}\n}");
}

static void zsh_sources(void)
{
    zsh_listing("studies", "ls $store");
    zsh_listing("methods", "methods");
    zsh_listing("tasks", "tasks");
    fputs("_winnow_verbs() {\n    compadd -- ", stdout);
    print_verbs();
    fputs("\n}\n_winnow_pictures() {\n    compadd -- ", stdout);
    print_pictures();
    puts("\n    _winnow_studies\n}\n_winnow_files() {\n    _files -g '*.(yaml|yml|json)'\n}");
}

static void zsh_completion(void)
{
    puts("#compdef winnow");
    zsh_sources();
    puts("_winnow() {\n    local -a commands\n    commands=(");
    for (size_t i = 0; i < wni_command_count(); i++) {
        printf("        '%s:", wni_command_at(i)->name);
        zsh_text(wni_command_at(i)->summary);
        puts("'");
    }
    puts("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    "
         "fi\n    case $words[2] in");
    for (size_t i = 0; i < wni_command_count(); i++) {
        printf("        %s)\n            _arguments -S '--help[show help]'", wni_command_at(i)->name);
        for (const struct cli_option *o = wni_command_at(i)->options; o && o->name; o++)
            zsh_option(o);
        const char *source = source_of(wni_command_at(i)->words);
        printf(" '*: :_%s%s';;\n", *source ? "winnow_" : "files", source);
    }
    puts("    esac\n}\n_winnow \"$@\"");
}

static int run(struct args *args)
{
    const char *form = wni_arg(args, "as");
    const struct cli_command *c = NULL;
    if (args->n_words) {
        struct err err = {0};
        c = wni_command_find(args->words[0], &err);
        if (!c) return wni_complain(&err, WN_EINVAL);
    }
    if (!strcmp(form, "bash"))
        bash_completion();
    else if (!strcmp(form, "zsh"))
        zsh_completion();
    else if (!strcmp(form, "man"))
        c ? man_command(c) : man_overview();
    else
        c ? wni_print_help(c, stdout) : wni_print_overview(stdout);
    return EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "as",
     .value = "FORM",
     .fallback = "text",
     .choices = "text|man|bash|zsh",
     .help = "a manual page, or completion for a shell, instead of text"},
    {0},
};

const struct cli_command wni_cmd_help = {
    .name = "help",
    .summary = "explain a command",
    .words = "[COMMAND]",
    .max_words = 1,
    .about = "Explains the program or one of its commands. The same tables make the manual pages and shell "
             "completion.",
    .options = options,
    .examples = "winnow help sim\n"
                "winnow help --as bash > ~/.local/share/bash-completion/completions/winnow",
    .run = run,
};
