/* help.c -- help for people at a terminal. */
#include "cli/cli.h"

#include <string.h>

enum { TEXT_WIDTH = 90 };

/* Prints text wrapped at blanks; a newline in it is kept. */
static void print_wrapped(FILE *out, const char *text, int indent, int width)
{
    int column = indent;
    while (*text) {
        if (*text == '\n') {
            fprintf(out, "\n%*s", text[1] && text[1] != '\n' ? indent : 0, "");
            column = indent;
            text++;
            continue;
        }
        int length = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + length > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", length, text);
        column += length;
        text += length;
        while (*text == ' ')
            text++;
    }
    fputc('\n', out);
}

void wni_print_overview(FILE *out)
{
    fprintf(out, "Winnow tunes hyperparameters.\n\nusage: winnow COMMAND [OPTIONS]\n\ncommands:\n");
    for (size_t i = 0; i < wni_command_count(); i++)
        fprintf(out, "  %-10s %s\n", wni_command_at(i)->name, wni_command_at(i)->summary);
    fprintf(out, "\n'winnow help COMMAND' explains a command, with examples.\n");
}

static void print_option(FILE *out, const struct cli_option *o)
{
    char head[64];
    int n = snprintf(head, sizeof head, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
    fprintf(out, "  %-22s ", head);
    if (n > 22) fprintf(out, "\n%25s", "");
    struct buf text = {0};
    wni_buf_puts(&text, o->help);
    if (o->choices) wni_buf_printf(&text, " (%s)", o->choices);
    if (o->fallback) wni_buf_printf(&text, " [%s]", o->fallback);
    print_wrapped(out, wni_buf_text(&text), 25, 110);
    wni_buf_release(&text);
}

void wni_print_help(const struct cli_command *c, FILE *out)
{
    fprintf(out, "winnow %s -- %s\n\nusage: winnow %s%s%s%s\n\n", c->name, c->summary, c->name,
            c->options ? " [OPTIONS]" : "", c->words[0] ? " " : "", c->words);
    print_wrapped(out, c->about, 0, TEXT_WIDTH);
    if (c->options) fprintf(out, "\noptions (defaults in brackets):\n");
    for (const struct cli_option *o = c->options; o && o->name; o++)
        print_option(out, o);
    fprintf(out, "\nexamples:\n");
    for (const char *line = c->examples; *line;) {
        int length = (int)strcspn(line, "\n");
        fprintf(out, "  %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}
