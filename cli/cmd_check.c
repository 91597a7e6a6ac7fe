/* cmd_check.c -- winnow check: every mistake in a study file, with its place. */
#include "cli/notes.h"
#include "cli/study_option.h"
#include "cli/studyargs.h"

static void describe_param(const struct param *p)
{
    struct buf text = {0};
    wni_describe_param(p, &text);
    printf("  %-16s %s\n", p->name, wni_buf_text(&text));
    wni_buf_release(&text);
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
    wni_note_study(s, "  ", stdout);
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
             "the program or its script is not found from here or a parameter is not in the command.\n\n"
             "The exit code is 2 when there is a mistake.",
    .examples = "winnow check study.yaml",
    .run = run,
};
