/* args.c -- reads a command line against a command's option table: --name value, --name=value, switches,
 * words. */
#include "cli/cli.h"

#include "base/closest.h"
#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option help_option = {.name = "help", .help = "show this text"};

static size_t count_options(const struct cli_command *command)
{
    size_t n = 0;
    while (command->options && command->options[n].name)
        n++;
    return n;
}

/* Row of an option; the implied --help is the row after the last. */
static ptrdiff_t find_option(const struct cli_command *command, const char *name, size_t length)
{
    size_t n = count_options(command);
    for (size_t i = 0; i <= n; i++) {
        const char *candidate = i < n ? command->options[i].name : help_option.name;
        if (strlen(candidate) == length && !memcmp(candidate, name, length)) return (ptrdiff_t)i;
    }
    return -1;
}

static wn_status fail_unknown(const struct cli_command *command, const char *name, struct err *err)
{
    const char *names[CLI_OPTIONS_MAX] = {0};
    size_t n = count_options(command);
    for (size_t i = 0; i < n; i++)
        names[i] = command->options[i].name;
    const char *near = wni_closest(name, names, n);
    if (near) return wni_fail(err, WN_EINVAL, "unknown option '--%s'; did you mean '--%s'?", name, near);
    return wni_fail(err, WN_EINVAL, "unknown option '--%s'", name);
}

static bool is_choice(const char *choices, const char *value)
{
    size_t length = strlen(value);
    for (const char *at = choices; *at;) {
        size_t n = strcspn(at, "|");
        if (n == length && !memcmp(at, value, n)) return true;
        at += n + (at[n] == '|');
    }
    return false;
}

static wn_status append_value(struct args *args, size_t row, const char *value, struct err *err)
{
    const char *old = args->joined[row];
    struct buf both = {0};
    if (old) wni_buf_printf(&both, "%s ", old);
    wni_buf_puts(&both, value);
    if (both.failed) {
        wni_buf_release(&both);
        return wni_fail_memory(err);
    }
    free(args->joined[row]);
    args->joined[row] = both.data;
    args->values[row] = both.data;
    return WN_OK;
}

static wn_status set_option(struct args *args, size_t row, const char *value, struct err *err)
{
    const struct cli_option *o = &args->command->options[row];
    if (o->choices && !is_choice(o->choices, value))
        return wni_fail(err, WN_EINVAL, "--%s: expected one of %s, got '%s'", o->name, o->choices, value);
    if (o->address && !strchr(value, ':'))
        return wni_fail(err, WN_EINVAL, "--%s: expected SCHEME:ADDRESS, got '%s'; did you mean %s%s%s?",
                        o->name, value, strcmp(value, "memory") ? "sqlite:///" : "", value,
                        strcmp(value, "memory") ? "" : ":");
    args->given[row] = true;
    args->values[row] = value;
    return o->many ? append_value(args, row, value, err) : WN_OK;
}

/* One --option at argv[*i]; moves *i over the value it takes. */
static wn_status take_option(struct args *args, int argc, char **argv, int *i, struct err *err)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    ptrdiff_t row = find_option(args->command, name, length);
    if (row < 0) {
        char copy[64];
        snprintf(copy, sizeof copy, "%.*s", (int)(length < 60 ? length : 60), name);
        return fail_unknown(args->command, copy, err);
    }
    size_t n = count_options(args->command);
    const struct cli_option *o = (size_t)row < n ? &args->command->options[row] : &help_option;
    if (!o->value) {
        if (equals) return wni_fail(err, WN_EINVAL, "--%s takes no value", o->name);
        args->given[row] = true;
        return WN_OK;
    }
    if (!equals && *i + 1 >= argc)
        return wni_fail(err, WN_EINVAL, "--%s needs a value: %s", o->name, o->value);
    return set_option(args, (size_t)row, equals ? equals + 1 : argv[++*i], err);
}

/* A lone dash and negative numbers are words, not options. */
static bool looks_like_option(const char *word)
{
    double x;
    return word[0] == '-' && word[1] && !wni_parse_double(word, &x);
}

static wn_status check_words(const struct args *args, struct err *err)
{
    const struct cli_command *c = args->command;
    if (args->given[count_options(c)]) return WN_OK; /* --help */
    if (args->n_words < c->min_words) return wni_fail(err, WN_EINVAL, "%s: expected %s", c->name, c->words);
    if (args->n_words > c->max_words)
        return wni_fail(err, WN_EINVAL, "%s: unexpected '%s'", c->name, args->words[c->max_words]);
    return WN_OK;
}

wn_status wni_args_parse(struct args *args, const struct cli_command *command, int argc, char **argv,
                         struct err *err)
{
    *args = (struct args){.command = command};
    for (size_t i = 0; i < count_options(command); i++)
        args->values[i] = command->options[i].fallback;
    args->words = wni_new(char *, (size_t)argc);
    if (!args->words) return wni_fail_memory(err);
    bool only_words = false;
    for (int i = 0; i < argc; i++) {
        wn_status st = WN_OK;
        if (!only_words && !strcmp(argv[i], "--"))
            only_words = true;
        else if (!only_words && !strcmp(argv[i], "-h"))
            args->given[count_options(command)] = true;
        else if (!only_words && !strncmp(argv[i], "--", 2))
            st = take_option(args, argc, argv, &i, err);
        else if (!only_words && looks_like_option(argv[i]))
            st = wni_fail(err, WN_EINVAL, "unknown option '%s'; options start with two dashes", argv[i]);
        else
            args->words[args->n_words++] = argv[i];
        if (st) return st;
    }
    return check_words(args, err);
}

void wni_args_release(struct args *args)
{
    for (size_t i = 0; i < CLI_OPTIONS_MAX; i++)
        free(args->joined[i]);
    free(args->words);
    *args = (struct args){0};
}

const char *wni_arg(const struct args *args, const char *name)
{
    ptrdiff_t row = find_option(args->command, name, strlen(name));
    return row < 0 ? NULL : args->values[row];
}

bool wni_flag(const struct args *args, const char *name)
{
    ptrdiff_t row = find_option(args->command, name, strlen(name));
    return row >= 0 && args->given[row];
}

wn_status wni_arg_number(const struct args *args, const char *name, double min, double max, double *out,
                         struct err *err)
{
    const char *text = wni_arg(args, name);
    double x;
    if (!text) return WN_OK;
    if (!wni_parse_double(text, &x) || !(x >= min && x <= max))
        return wni_fail(err, WN_EINVAL, "--%s: expected a number from %.15g to %.15g, got '%s'", name, min,
                        max, text);
    *out = x;
    return WN_OK;
}

wn_status wni_arg_count(const struct args *args, const char *name, uint64_t min, uint64_t max, uint64_t *out,
                        struct err *err)
{
    const char *text = wni_arg(args, name);
    int64_t x;
    if (!text) return WN_OK;
    if (!wni_parse_int(text, &x) || x < 0 || (uint64_t)x < min || (uint64_t)x > max)
        return wni_fail(err, WN_EINVAL, "--%s: expected a whole number from %llu to %llu, got '%s'", name,
                        (unsigned long long)min, (unsigned long long)max, text);
    *out = (uint64_t)x;
    return WN_OK;
}
