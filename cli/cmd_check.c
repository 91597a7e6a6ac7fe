/* cmd_check.c -- winnow check: every mistake in a study file, with its place. */
#include "cli/cli.h"

#include "studyfile/studyfile.h"

#include <string.h>

static const char *const scale_names[] = {"linear", "log"};

static void describe_param(const struct param *p)
{
    char text[WN_WHY_MAX];
    printf("  %-16s ", p->name);
    if (p->kind == PARAM_CONSTANT) {
        printf("constant %s\n", p->labels[0]);
    } else if (p->labels) {
        printf("one of ");
        for (size_t i = 0; i < p->count; i++)
            printf("%s%s", i ? ", " : "", p->labels[i]);
        printf("%s\n", p->kind == PARAM_ORDINAL ? " (ordered)" : "");
    } else {
        printf("%s %s..", p->kind == PARAM_INT ? "int" : "float", wni_param_text(p, p->min, text));
        printf("%s, %s", wni_param_text(p, p->max, text), scale_names[p->scale]);
        if (p->step > 0 && (p->kind == PARAM_FLOAT || p->step > 1))
            printf(", step %s", wni_param_text(p, p->step, text));
        putchar('\n');
    }
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
}

static void print_problems(const struct problems *problems)
{
    struct buf lines = {0};
    wni_problems_write(problems, &lines);
    fprintf(stderr, "%s%zu mistake%s\n", wni_buf_text(&lines), problems->n, problems->n == 1 ? "" : "s");
    wni_buf_release(&lines);
}

static int check_file(const char *path)
{
    struct document doc = {0};
    struct studyfile study = {0};
    struct problems problems = {0};
    struct err err = {0};
    int code = EXIT_DONE;
    wn_status st = wni_document_load(&doc, path, &err);
    if (st) {
        fprintf(stderr, "%s\n", err.text);
        code = st == WN_ENOMEM ? EXIT_FAILED : EXIT_USAGE;
    } else if ((st = wni_studyfile_read(&study, &doc, &problems)) == WN_EINVAL) {
        print_problems(&problems);
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
             "what was expected. A file without mistakes is summed up in a few lines.\n\n"
             "The exit code is 2 when there is a mistake.",
    .examples = "winnow check study.yaml",
    .run = run,
};
