/* cmd_check.c -- winnow check: every mistake in a study file, with its place. */
#include "cli/study_option.h"
#include "cli/studyargs.h"
#include "studyfile/studyfile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void describe_param(const struct param *p)
{
    struct buf text = {0};
    wni_describe_param(p, &text);
    printf("  %-16s %s\n", p->name, wni_buf_text(&text));
    wni_buf_release(&text);
}

/* ---- what is no mistake in the file, but likely to be one ---- */

static bool is_on_path(const char *program)
{
    const char *path = getenv("PATH");
    struct buf full = {0};
    bool found = false;
    for (const char *at = path ? path : ""; *at && !found;) {
        size_t n = strcspn(at, ":");
        wni_buf_clear(&full);
        wni_buf_add(&full, at, n);
        wni_buf_printf(&full, "%s%s", n ? "/" : "", program);
        found = full.failed || access(wni_buf_text(&full), X_OK) == 0;
        at += n + (at[n] == ':');
    }
    wni_buf_release(&full);
    return found;
}

/* The study may be meant for another folder or machine, so it is only said. */
static void note_program(const struct studyfile *s)
{
    const char *program = s->command.n ? s->command.words[0] : "";
    for (size_t i = 0; i < s->n_env; i++)
        if (!strcmp(s->env[i].name, "PATH")) return;
    if (s->command.shell || !*program || strchr(program, '{')) return;
    if (!strchr(program, '/') && !is_on_path(program))
        printf("  note: there is no program '%s' on the PATH\n", program);
    else if (strchr(program, '/') && access(program, X_OK) != 0)
        printf("  note: '%s' cannot be run from this folder\n", program);
}

static bool is_in_command(const struct studyfile *s, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < s->command.n; i++)
        for (const char *at = s->command.words[i]; (at = strchr(at, '{')); at++)
            if (!strncmp(at + 1, name, length) && at[length + 1] == '}') return true;
    return false;
}

static void note_unused(const struct studyfile *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->space.n; i++) {
        const struct param *p = &s->space.params[i];
        if (p->kind == PARAM_CONSTANT || is_in_command(s, p->name)) continue;
        printf("%s%s", n++ ? ", " : "  note: not in the command: ", p->name);
    }
    if (n)
        printf("; the program has to read %s from $WINNOW_PARAMS or config.json\n", n == 1 ? "it" : "them");
}

static void describe(const char *file, const struct studyfile *s)
{
    printf("%s: study '%s' is fine\n", file, s->name);
    printf("  %s %s", s->metric.goal == WN_MAXIMIZE ? "maximize" : "minimize", s->metric.name);
    if (s->resource.name) printf(" over %s %.15g..%.15g", s->resource.name, s->resource.min, s->resource.max);
    printf(", %s%s%s with %lld worker%s\n", s->method ? s->method : s->searcher->name,
           s->method ? "" : " under ", s->method ? "" : s->scheduler->name, (long long)s->workers,
           s->workers == 1 ? "" : "s");
    printf("  runs%s", s->command.shell ? " by the shell:" : "");
    for (size_t i = 0; i < s->command.n; i++)
        printf(" %s", s->command.words[i]);
    putchar('\n');
    for (size_t i = 0; i < s->space.n; i++)
        describe_param(&s->space.params[i]);
    if (s->space.size) printf("  %llu configurations\n", (unsigned long long)s->space.size);
    note_program(s);
    note_unused(s);
}

static int check_file(const char *path)
{
    struct document doc = {0};
    struct studyfile study = {0};
    struct problems problems = {0};
    struct err err = {0};
    int code = EXIT_DONE;
    wn_status st = wni_studyargs_load(&doc, path, &err);
    if (st) {
        code = wni_complain_document(&err, st);
    } else if ((st = wni_studyfile_read(&study, &doc, &problems)) == WN_EINVAL) {
        wni_complain_problems(&problems);
        code = EXIT_USAGE;
    } else if (st) {
        code = wni_complain(&err, st);
    } else {
        describe(path, &study);
    }
    wni_problems_release(&problems);
    wni_studyfile_release(&study);
    wni_document_release(&doc);
    return code;
}

static int run(struct args *args)
{
    int worst = EXIT_DONE;
    for (size_t i = 0; i < args->n_words; i++) {
        int code = check_file(args->words[i]);
        if (code > worst) worst = code;
    }
    return worst;
}

const struct cli_command wni_cmd_check = {
    .name = "check",
    .summary = "check a study file and explain every mistake",
    .words = "FILE...",
    .min_words = 1,
    .max_words = 1000,
    .about = "Reads a study file (YAML or JSON) and reports all mistakes in one go, each as "
             "FILE:LINE:COLUMN: what is wrong and "
             "what was expected. A file without mistakes is summed up in a few lines, with a note where "
             "the program is not found from here or a parameter is not in the command.\n\n"
             "The exit code is 2 when there is a mistake.",
    .examples = "winnow check study.yaml",
    .run = run,
};
