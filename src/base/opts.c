/* opts.c -- reads option values into the fields an option table names. */
#include "base/opts.h"

#include "base/closest.h"
#include "base/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { OPTIONS_MAX = 64, WORD_MAX_LENGTH = 256 };

static size_t opts_count(const struct opt_def *defs)
{
    size_t n = 0;
    while (defs && defs[n].kind != OPT_KIND_END)
        n++;
    return n;
}

static void store(const struct opt_def *def, void *self, double value)
{
    char *field = (char *)self + def->offset;
    switch (def->kind) {
    case OPT_KIND_REAL:
        memcpy(field, &value, sizeof value);
        break;
    case OPT_KIND_BOOL:
        *(bool *)(void *)field = value != 0;
        break;
    case OPT_KIND_INT:
    case OPT_KIND_CHOICE:
        *(int *)(void *)field = (int)value;
        break;
    case OPT_KIND_END:
        break;
    }
}

void wni_opts_defaults(const struct opt_def *defs, void *self)
{
    for (size_t i = 0; i < opts_count(defs); i++)
        store(&defs[i], self, defs[i].initial);
}

static bool parse_choice(const struct opt_def *def, const char *text, double *out)
{
    for (int i = 0; def->choices[i]; i++)
        if (!strcmp(def->choices[i], text)) {
            *out = i;
            return true;
        }
    return false;
}

static bool parse_bool(const char *text, double *out)
{
    *out = !strcmp(text, "true") || !strcmp(text, "yes") || !strcmp(text, "on") || !strcmp(text, "1");
    return *out != 0 || !strcmp(text, "false") || !strcmp(text, "no") || !strcmp(text, "off") ||
           !strcmp(text, "0");
}

static bool parse_value(const struct opt_def *def, const char *text, double *out)
{
    switch (def->kind) {
    case OPT_KIND_INT:
        return wni_parse_double(text, out) && *out == rint(*out) && *out >= def->min && *out <= def->max;
    case OPT_KIND_REAL:
        return wni_parse_double(text, out) && *out >= def->min && *out <= def->max;
    case OPT_KIND_BOOL:
        return parse_bool(text, out);
    case OPT_KIND_CHOICE:
        return parse_choice(def, text, out);
    case OPT_KIND_END:
        break;
    }
    return false;
}

static wn_status unknown_option(const struct opt_def *defs, const char *name, struct err *err)
{
    const char *names[OPTIONS_MAX] = {0};
    size_t n = opts_count(defs);
    if (n > OPTIONS_MAX) n = OPTIONS_MAX;
    for (size_t i = 0; i < n; i++)
        names[i] = defs[i].name;
    const char *near = wni_closest(name, names, n);
    if (near) return wni_fail(err, WN_EINVAL, "unknown option '%s'; did you mean '%s'?", name, near);
    if (!n) return wni_fail(err, WN_EINVAL, "unknown option '%s'; there are none here", name);
    return wni_fail(err, WN_EINVAL, "unknown option '%s'; 'winnow methods' lists them", name);
}

wn_status wni_opts_set(const struct opt_def *defs, void *self, const char *name, const char *value,
                       struct err *err)
{
    for (size_t i = 0; i < opts_count(defs); i++) {
        if (strcmp(defs[i].name, name) != 0) continue;
        double number;
        if (parse_value(&defs[i], value, &number)) {
            if (self) store(&defs[i], self, number);
            return WN_OK;
        }
        char range[128];
        wni_opt_range_text(&defs[i], range, sizeof range);
        return wni_fail(err, WN_EINVAL, "option '%s': expected %s, got '%s'", name, range, value);
    }
    return unknown_option(defs, name, err);
}

static wn_status apply_word(const struct opt_def *defs, void *self, const char *prefix, char *word,
                            struct err *err)
{
    char *equals = strchr(word, '='), *dot = strchr(word, '.');
    if (!equals || !dot || dot > equals)
        return wni_fail(err, WN_EINVAL, "option '%s': expected scheduler.NAME=VALUE or searcher.NAME=VALUE",
                        word);
    *equals = *dot = '\0';
    if (strcmp(word, "scheduler") != 0 && strcmp(word, "searcher") != 0)
        return wni_fail(err, WN_EINVAL, "option '%s.%s': expected it to start with scheduler. or searcher.",
                        word, dot + 1);
    if (strcmp(word, prefix) != 0) return WN_OK;
    return wni_opts_set(defs, self, dot + 1, equals + 1, err);
}

wn_status wni_opts_apply(const struct opt_def *defs, void *self, const char *prefix, const char *list,
                         struct err *err)
{
    for (const char *at = list ? list : ""; *(at += strspn(at, " \t\n"));) {
        size_t length = strcspn(at, " \t\n");
        char word[WORD_MAX_LENGTH];
        if (length >= sizeof word)
            return wni_fail(err, WN_EINVAL, "option longer than %d bytes", WORD_MAX_LENGTH);
        memcpy(word, at, length);
        word[length] = '\0';
        wn_status st = apply_word(defs, self, prefix, word, err);
        if (st) return st;
        at += length;
    }
    return WN_OK;
}

void wni_opt_default_text(const struct opt_def *def, char *out, size_t size)
{
    char number[WNI_NUMBER_MAX];
    switch (def->kind) {
    case OPT_KIND_BOOL:
        snprintf(out, size, "%s", def->initial != 0 ? "true" : "false");
        break;
    case OPT_KIND_CHOICE:
        snprintf(out, size, "%s", def->choices[(int)def->initial]);
        break;
    default:
        wni_format_double(def->initial, number);
        snprintf(out, size, "%s", number);
    }
}

static void choices_text(const struct opt_def *def, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; def->choices[i] && used < size; i++) {
        const char *glue = !i ? "" : def->choices[i + 1] ? ", " : " or ";
        used += (size_t)snprintf(out + used, size - used, "%s%s", glue, def->choices[i]);
    }
}

void wni_opt_range_text(const struct opt_def *def, char *out, size_t size)
{
    char min[WNI_NUMBER_MAX], max[WNI_NUMBER_MAX];
    switch (def->kind) {
    case OPT_KIND_BOOL:
        snprintf(out, size, "true or false");
        break;
    case OPT_KIND_CHOICE:
        choices_text(def, out, size);
        break;
    default:
        wni_format_double(def->min, min);
        wni_format_double(def->max, max);
        snprintf(out, size, "%s from %s to %s", def->kind == OPT_KIND_INT ? "a whole number" : "a number",
                 min, max);
    }
}
