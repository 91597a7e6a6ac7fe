/* cmd_rm.c -- winnow rm: removes a study with everything in it, after a second thought. */
#include "cli/study_option.h"
#include "studyfile/studyfile.h"

#include <string.h>
#include <unistd.h>

static wn_status count_trials(void *context, const struct study_row *row, struct err *err)
{
    uint64_t *trials = context;
    *trials = row->trials;
    if (!row->alive) return WN_OK;
    return wni_fail(
        err, WN_ESTATE,
        "study '%s' is running now, %llu trial%s of it: end its runner first (Ctrl-C), or 'winnow "
        "cancel' them",
        row->name, (unsigned long long)row->alive, row->alive == 1 ? "" : "s");
}

/* Whoever is about to lose something types its name. */
static wn_status confirm(const struct opened_study *s, uint64_t trials, struct err *err)
{
    char line[1024];
    fprintf(stderr,
            "This removes study '%s' with %llu trial%s from %s, for good.\nType its name to go on: ", s->name,
            (unsigned long long)trials, trials == 1 ? "" : "s", s->url);
    if (!fgets(line, sizeof line, stdin)) line[0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    if (!strcmp(line, s->name)) return WN_OK;
    return wni_fail(err, WN_ESTATE, "nothing was removed (--yes removes without asking)");
}

/* Folders hold models and logs that no store has: whoever wants them gone says so to the shell. */
static void tell_folder(const struct opened_study *s)
{
    struct studyfile file;
    struct buf folder = {0};
    wni_stored_studyfile(s, &file);
    if (file.folder)
        wni_buf_puts(&folder, file.folder);
    else
        wni_buf_printf(&folder, "winnow-runs/%s", s->name);
    if (!folder.failed && access(folder.data, F_OK) == 0)
        printf("what its trials printed and saved is still in %s\n", folder.data);
    wni_buf_release(&folder);
    wni_studyfile_release(&file);
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s;
    uint64_t trials = 0;
    wn_status st = wni_find_study_option(args, 0, &s, &err);
    if (!st) st = wni_store_studies(s.url, s.name, count_trials, &trials, &err);
    if (!st && !wni_flag(args, "yes")) st = confirm(&s, trials, &err);
    if (!st) st = wni_store_remove(s.url, s.name, &err);
    if (!st) printf("removed '%s'\n", s.name);
    if (!st) tell_folder(&s);
    wni_close_study(&s);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "yes", .help = "do not ask"},
    STORE_OPTION,
    {0},
};

const struct cli_command wni_cmd_rm = {
    .name = "rm",
    .summary = "remove a study from its store",
    .words = "STUDY",
    .min_words = 1,
    .max_words = 1,
    .about =
        "Removes the study, its trials and its reports. Asks for the study's name to be typed first; a study "
        "that is running is not removed. Folders "
        "and checkpoints of trials are left alone.",
    .options = options,
    .examples = "winnow rm mlp\n"
                "winnow rm mlp --yes --store sqlite:///runs/all.db",
    .run = run,
};
