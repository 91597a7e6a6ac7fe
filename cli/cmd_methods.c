/* cmd_methods.c -- winnow methods: every method with its scheduler and searcher, or the options of one. */
#include "cli/cli.h"

#include "base/opts.h"
#include "method/method.h"
#include "sched/sched.h"
#include "search/search.h"

#include <stdlib.h>
#include <string.h>

/* The default of an option under a method: the table's, unless the method's own options say otherwise. */
static void method_default(const struct method *m, const char *part, const struct opt_def *def, char *out,
                           size_t size)
{
    wni_opt_default_text(def, out, size);
    char key[128];
    int n = snprintf(key, sizeof key, "%s.%s=", part, def->name);
    const char *at = strstr(m->options, key);
    if (at) snprintf(out, size, "%.*s", (int)strcspn(at + n, " "), at + n);
}

static void json_options(struct buf *out, const struct method *m, const char *part,
                         const struct opt_def *defs, bool *first)
{
    for (; defs && defs->kind != OPT_KIND_END; defs++) {
        char text[128];
        wni_buf_printf(out, "%s\n    {\"name\": \"%s.%s\", \"default\": ", *first ? "" : ",", part,
                       defs->name);
        *first = false;
        method_default(m, part, defs, text, sizeof text);
        if (defs->kind == OPT_KIND_CHOICE)
            wni_buf_json_string(out, text);
        else
            wni_buf_puts(out, text);
        wni_opt_range_text(defs, text, sizeof text);
        wni_buf_puts(out, ", \"values\": ");
        wni_buf_json_string(out, text);
        wni_buf_puts(out, ", \"help\": ");
        wni_buf_json_string(out, defs->help);
        wni_buf_putc(out, '}');
    }
}

static void json_method(struct buf *out, const struct method *m)
{
    const struct scheduler_ops *sched = wni_scheduler_find(m->scheduler, NULL);
    const struct searcher_ops *search = wni_searcher_find(m->searcher, NULL);
    wni_buf_printf(out,
                   "\n {\"name\": \"%s\", \"scheduler\": \"%s\", \"searcher\": \"%s\", \"multi_fidelity\": "
                   "%s, \"summary\": ",
                   m->name, m->scheduler, m->searcher, sched->stops_early ? "true" : "false");
    wni_buf_json_string(out, m->summary);
    wni_buf_puts(out, ", \"options\": [");
    bool first = true;
    json_options(out, m, "scheduler", sched->opts, &first);
    json_options(out, m, "searcher", search->opts, &first);
    wni_buf_puts(out, "]}");
}

static int print_json(void)
{
    struct buf out = {0};
    wni_buf_putc(&out, '[');
    for (size_t i = 0; i < wni_method_count(); i++) {
        if (i) wni_buf_putc(&out, ',');
        json_method(&out, wni_method_at(i));
    }
    wni_buf_puts(&out, "\n]\n");
    if (!out.failed) fwrite(out.data, 1, out.len, stdout);
    int code = out.failed ? wni_complain(&(struct err){0}, WN_ENOMEM) : EXIT_DONE;
    wni_buf_release(&out);
    return code;
}

static void options_text(struct buf *out, const struct method *m, const char *part,
                         const struct opt_def *defs)
{
    for (; defs && defs->kind != OPT_KIND_END; defs++) {
        char text[128];
        method_default(m, part, defs, text, sizeof text);
        wni_buf_printf(out, "%s%s.%s=%s", out->len ? " " : "", part, defs->name, text);
    }
}

/* ---- one method ---- */

static void option_rows(struct table *t, const struct method *m, const char *part, const struct opt_def *defs)
{
    for (; defs && defs->kind != OPT_KIND_END; defs++) {
        char text[128];
        snprintf(text, sizeof text, "%s.%s", part, defs->name);
        wni_table_text(t, text);
        method_default(m, part, defs, text, sizeof text);
        wni_table_text(t, text);
        wni_opt_range_text(defs, text, sizeof text);
        wni_table_text(t, text);
        wni_table_text(t, defs->help);
    }
}

static int print_one(const char *name, const char *format)
{
    static const char *const columns[] = {"option", "default", "values", "help"};
    struct err err = {0};
    const struct method *m = wni_method_find(name, &err);
    if (!m) return wni_complain(&err, WN_EINVAL);
    struct table *t = wni_table_new(columns, 4);
    if (!t) return wni_complain(&err, WN_ENOMEM);
    option_rows(t, m, "scheduler", wni_scheduler_find(m->scheduler, NULL)->opts);
    option_rows(t, m, "searcher", wni_searcher_find(m->searcher, NULL)->opts);
    if (!strcmp(format, "table"))
        printf("%s: %s\nscheduler %s, searcher %s\n\n", m->name, m->summary, m->scheduler, m->searcher);
    wn_status st = wni_table_print(t, format, stdout);
    wni_table_free(t);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

/* ---- all of them ---- */

/* Options make lines of 400 characters: programs get them, people ask for one method. */
static int print_table(const char *format)
{
    static const char *const columns[] = {"name", "scheduler", "searcher", "summary", "options"};
    bool full = strcmp(format, "table") != 0;
    struct table *t = wni_table_new(columns, full ? 5 : 4);
    wn_status st = t ? WN_OK : WN_ENOMEM;
    for (size_t i = 0; i < wni_method_count() && !st; i++) {
        const struct method *m = wni_method_at(i);
        struct buf options = {0};
        options_text(&options, m, "scheduler", wni_scheduler_find(m->scheduler, NULL)->opts);
        options_text(&options, m, "searcher", wni_searcher_find(m->searcher, NULL)->opts);
        wni_table_text(t, m->name);
        wni_table_text(t, m->scheduler);
        wni_table_text(t, m->searcher);
        wni_table_text(t, m->summary);
        if (full) wni_table_text(t, wni_buf_text(&options));
        if (options.failed) st = WN_ENOMEM;
        wni_buf_release(&options);
    }
    if (!st) st = wni_table_print(t, format, stdout);
    wni_table_free(t);
    return st ? wni_complain(&(struct err){0}, st) : EXIT_DONE;
}

static int run(struct args *args)
{
    const char *format = wni_arg(args, "format");
    if (args->n_words) return print_one(args->words[0], format);
    return strcmp(format, "json") ? print_table(format) : print_json();
}

static const struct cli_option options[] = {
    TABLE_FORMAT_OPTION("how to print the list"),
    {0},
};

const struct cli_command wni_cmd_methods = {
    .name = "methods",
    .summary = "list the methods, or the options of one with their defaults",
    .words = "[METHOD]",
    .max_words = 1,
    .about = "A method is a scheduler (who stops, who goes on) and a searcher (what to try next) with their "
             "options. "
             "Any option can be changed: in a study file under scheduler: and searcher:, in 'winnow run' and "
             "'winnow sim' with --set.\n\n"
             "With the name of a method: its options, their defaults and what they may be.",
    .options = options,
    .examples = "winnow methods\n"
                "winnow methods cqr+mf\n"
                "winnow methods --format json   # with the values each option takes",
    .run = run,
};
