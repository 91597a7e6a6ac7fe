/* cmd_import.c -- winnow import: finished trials of another tool, or of another study, into a study. */
#include "cli/importing.h"
#include "cli/progress.h"
#include "method/method.h"
#include "studyfile/studyfile.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct import {
    const struct args *args;
    const char *path;
    struct optuna *optuna; /* NULL: the file is a CSV */
    struct csv_meaning meaning;
    struct space guessed;
    struct studyfile file; /* --file */
    struct buf file_text;
    struct opened_study study; /* the one that is there, or was made */
    struct import_set set;
    size_t n_known; /* trials left out because the study has them */
    bool is_there, has_guess;
};

/* ---- which study, and over which space ---- */

static wn_status ignore_row(void *context, const struct study_row *row, struct err *err)
{
    (void)context, (void)row, (void)err;
    return WN_OK;
}

static const char *target_name(const struct import *im)
{
    const char *name = wni_arg(im->args, "study");
    if (name) return name;
    if (im->file.name) return im->file.name;
    return im->optuna ? wni_optuna_name(im->optuna) : NULL;
}

/* An existing study is opened; for a new one only its name and place are settled. */
static wn_status find_target(struct import *im, struct err *err)
{
    const char *name = target_name(im);
    struct err none = {0};
    if (!name)
        return wni_fail(err, WN_EINVAL, "into which study? Say --study NAME; it is made if it is not there");
    const char *url = wni_store_option(im->args);
    wn_status st = wni_store_studies(url, name, ignore_row, NULL, &none);
    im->is_there = !st;
    if (st && st != WN_ENOTFOUND) return wni_fail(err, st, "%s", none.text);
    if (im->is_there) return wni_open_named(url, name, &im->study, err);
    im->study.url = url;
    im->study.name = wni_strdup(name);
    return im->study.name ? WN_OK : wni_fail_memory(err);
}

static wn_status guess(struct import *im, struct err *err)
{
    wni_space_init(&im->guessed);
    im->has_guess = true;
    if (im->optuna) return wni_optuna_space(im->optuna, &im->guessed, err);
    if (!im->meaning.value)
        return wni_fail(
            err, WN_EINVAL,
            "a new study needs --minimize COLUMN or --maximize COLUMN, or --file STUDY.yaml with its "
            "parameters");
    return wni_import_csv_space(im->path, &im->meaning, &im->guessed, &im->set.notes, err);
}

static const struct space *space_of(const struct import *im)
{
    return im->is_there ? &im->study.setup.space : im->file.name ? &im->file.space : &im->guessed;
}

static wn_status read_source(struct import *im, struct err *err)
{
    bool skip = wni_flag(im->args, "skip");
    im->meaning.skip = skip;
    if (im->is_there) im->meaning.metric = im->study.setup.setup.metric;
    if (!im->is_there && im->file.name) im->meaning.metric = im->file.metric.name;
    wn_status st = WN_OK;
    if (!im->is_there && !im->file.name) st = guess(im, err);
    if (st) return st;
    return im->optuna ? wni_optuna_rows(im->optuna, space_of(im), skip, &im->set, err)
                      : wni_import_csv_rows(im->path, &im->meaning, space_of(im), &im->set, err);
}

/* ---- a study that is there ---- */

/* Its space, goal and method stay: whoever typed these flags should know. */
static void note_flags(struct import *im)
{
    static const char *const flags[] = {"ignore", "file", "method"};
    struct buf *notes = &im->set.notes;
    size_t n = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (wni_flag(im->args, flags[i]))
            wni_buf_printf(notes, "%s--%s",
                           n++ ? ", " : "no effect on a study that is there already: ", flags[i]);
    if (n) wni_buf_putc(notes, '\n');
    bool up = wni_arg(im->args, "maximize"), down = wni_arg(im->args, "minimize");
    if ((up || down) && up != (im->study.setup.setup.goal == WN_MAXIMIZE))
        wni_buf_printf(notes, "the study that is there already still %s: --%simize only names the column\n",
                       up ? "minimizes" : "maximizes", up ? "max" : "min");
}

/* The value a trial ended with, as the user sees it; NAN: none. */
static double value_of_row(const struct import *im, const struct import_row *row)
{
    double value = row->n_reports ? im->set.values[row->first + row->n_reports - 1] : NAN;
    return row->state == WN_FAILED || !isfinite(value) ? NAN : value;
}

static bool is_known(const struct import *im, size_t row, const uint64_t *hashes)
{
    const struct study *s = &im->study.study;
    const double *config = im->set.configs + row * s->space.n;
    double want = value_of_row(im, &im->set.rows[row]), value;
    uint64_t hash = wni_config_hash(&s->space, config);
    for (uint32_t i = 0; i < s->history.n_trials; i++) {
        if (hashes[i] != hash || !wni_config_equal(&s->space, config, wni_history_config(&s->history, i)))
            continue;
        bool has = wni_history_last(&s->history, i, &value, NULL);
        if (has ? s->sign * value == want : isnan(want)) return true;
    }
    return false;
}

/* Leaves out trials whose configuration and value the study has.  Equal ones within the file all count. */
static wn_status drop_known(struct import *im, struct err *err)
{
    const struct study *s = &im->study.study;
    size_t kept = 0, width = s->space.n;
    uint64_t *hashes = wni_new(uint64_t, s->history.n_trials);
    if (!hashes) return wni_fail_memory(err);
    for (uint32_t i = 0; i < s->history.n_trials; i++)
        hashes[i] = wni_config_hash(&s->space, wni_history_config(&s->history, i));
    for (size_t i = 0; i < im->set.n; i++) {
        if (is_known(im, i, hashes)) continue;
        memmove(im->set.configs + kept * width, im->set.configs + i * width, width * sizeof(double));
        im->set.rows[kept++] = im->set.rows[i];
    }
    im->n_known = im->set.n - kept;
    im->set.n = kept;
    free(hashes);
    return WN_OK;
}

/* ---- a new study ---- */

static wn_goal goal_of(const struct import *im)
{
    if (wni_arg(im->args, "maximize")) return WN_MAXIMIZE;
    if (wni_arg(im->args, "minimize") || !im->optuna) return WN_MINIMIZE;
    return wni_optuna_goal(im->optuna);
}

/* 1 for every trial, as exports of studies without a resource have it, is none. */
static double resource_of(const struct import *im)
{
    return im->set.max_resource > 1 || im->meaning.resource ? im->set.max_resource : 0;
}

static wn_status create(struct import *im, struct err *err)
{
    const struct method *method = wni_method_find(wni_arg(im->args, "method"), err);
    if (!method) return WN_EINVAL;
    struct study_setup setup = {.space = &im->guessed,
                                .scheduler = method->scheduler,
                                .searcher = method->searcher,
                                .options = {method->options, NULL},
                                .goal = goal_of(im),
                                .max_resource = resource_of(im),
                                .method = method->name,
                                .metric = im->meaning.value,
                                .resource = im->meaning.resource                ? im->meaning.resource
                                            : im->optuna && resource_of(im) > 0 ? "step"
                                                                                : NULL};
    if (im->file.name) setup = wni_setup_of_file(&im->file, wni_buf_text(&im->file_text));
    return wni_create_study(&im->study, &setup, err);
}

/* ---- recording ---- */

/* Each trial is given to the queue and asked for at once: so the log says that no searcher proposed it, and
 * every searcher and scheduler learns from it as from any other. */
static wn_status record(struct import *im, size_t i, double offset, struct err *err)
{
    struct opened_study *o = &im->study;
    const struct import_row *row = &im->set.rows[i];
    const double *config = im->set.configs + i * o->study.space.n;
    double largest = o->setup.setup.max_resource > 0 ? o->setup.setup.max_resource : 1;
    double began = isnan(row->asked) ? offset : row->asked, ended = isnan(row->ended) ? began : row->ended;
    struct handout job;
    wn_decision ignored;
    wn_status st = wni_study_enqueue(&o->study, config, began, err);
    if (!st) st = wni_study_ask(&o->study, began, &job, err);
    if (st > 0) return wni_fail(err, WN_ESTATE, "the study gives out no trial: %s", wn_status_text(st));
    if (!st && !wni_config_equal(&o->study.space, job.config, config)) {
        (void)wni_study_finish_as(&o->study, job.trial, WN_CANCELLED, "taken by an import", began, err);
        return wni_fail(err, WN_ESTATE,
                        "another process asks for trials of '%s' at the same time: import while nothing runs",
                        o->name);
    }
    for (size_t k = 0; k < row->n_reports && !st; k++) {
        double resource = im->set.resources[row->first + k];
        st = wni_study_report(&o->study, job.trial, isnan(resource) ? largest : resource,
                              im->set.values[row->first + k], ended, &ignored, err);
    }
    return st ? st : wni_study_finish_as(&o->study, job.trial, row->state, "imported", ended, err);
}

static wn_status record_all(struct import *im, struct err *err)
{
    const struct history *h = &im->study.study.history;
    struct progress progress;
    double offset = im->is_there ? wni_study_clock(&im->study) : 0;
    wn_status st = WN_OK;
    if (h->n_queue > h->queue_head || h->n_retries)
        return wni_fail(err, WN_ESTATE,
                        "study '%s' has configurations waiting to be tried: import when they are done",
                        im->study.name);
    im->study.study.retries = 0;
    wni_progress_start(&progress);
    for (size_t i = 0; i < im->set.n && !st; i++) {
        char text[64];
        if (im->is_there) im->set.rows[i].asked = im->set.rows[i].ended = NAN; /* not our clock */
        st = record(im, i, offset, err);
        snprintf(text, sizeof text, "trial %zu of %zu", i + 1, im->set.n);
        wni_progress_show(&progress, text, (double)(i + 1) / (double)im->set.n);
    }
    wni_progress_end(&progress);
    return st;
}

/* ---- together ---- */

static void say_notes(const struct import *im)
{
    const char *notes = wni_buf_text(&im->set.notes);
    while (*notes) {
        size_t n = strcspn(notes, "\n");
        fprintf(stderr, "winnow: %.*s\n", (int)n, notes);
        notes += n + (notes[n] == '\n');
    }
}

static void say(const struct import *im)
{
    struct buf text = {0};
    if (im->has_guess) fprintf(stderr, "winnow: new study '%s' over\n", im->study.name);
    for (size_t i = 0; im->has_guess && i < im->guessed.n; i++) {
        wni_buf_clear(&text);
        wni_describe_param(&im->guessed.params[i], &text);
        fprintf(stderr, "  %-16s %s\n", im->guessed.params[i].name, wni_buf_text(&text));
    }
    printf("%zu trial%s imported into '%s'", im->set.n, im->set.n == 1 ? "" : "s", im->study.name);
    if (im->n_known)
        printf("; %zu left out, there already with the same value (--again imports them)", im->n_known);
    putchar('\n');
    wni_buf_release(&text);
}

static wn_status import(struct import *im, struct err *err)
{
    wn_status st = WN_OK;
    const char *less = wni_arg(im->args, "minimize"), *more = wni_arg(im->args, "maximize"),
               *value = wni_arg(im->args, "value");
    if (!!less + !!more + !!value > 1)
        return wni_fail(err, WN_EINVAL, "give one of --minimize, --maximize and --value");
    im->meaning = (struct csv_meaning){.value = less   ? less
                                                : more ? more
                                                       : value,
                                       .resource = wni_arg(im->args, "resource"),
                                       .ignore = wni_arg(im->args, "ignore")};
    if (wni_is_sqlite_file(im->path))
        st = wni_optuna_open(&im->optuna, im->path, wni_arg(im->args, "from"), err);
    if (!st) st = find_target(im, err);
    if (!st) st = read_source(im, err);
    if (!st && im->is_there) note_flags(im);
    if (!st) say_notes(im);
    if (!st && im->set.n == 0)
        st = wni_fail(err, WN_EINVAL, "'%s' has no trial to import; nothing was written", im->path);
    if (!st && !im->is_there)
        st = create(im, err);
    else if (!st && !wni_flag(im->args, "again"))
        st = drop_known(im, err);
    if (!st) st = record_all(im, err);
    if (!st) say(im);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct import im = {.args = args, .path = args->words[0]};
    const char *file = wni_arg(args, "file");
    int code = file ? wni_load_studyfile(file, &im.file) : EXIT_DONE;
    wn_status st = WN_OK;
    if (code == EXIT_DONE && file) st = wni_read_text_file(file, &im.file_text, &err);
    if (code == EXIT_DONE && !st) st = import(&im, &err);
    if (st) code = wni_complain(&err, st);
    wni_optuna_close(im.optuna);
    wni_close_study(&im.study);
    wni_import_release(&im.set);
    wni_buf_release(&im.file_text);
    wni_studyfile_release(&im.file);
    if (im.has_guess) wni_space_release(&im.guessed);
    return code;
}

static const struct cli_option options[] = {
    {.name = "minimize",
     .value = "COLUMN",
     .help = "column of the values, for a new study that minimizes them"},
    {.name = "maximize",
     .value = "COLUMN",
     .help = "column of the values, for a new study that maximizes them"},
    {.name = "value", .value = "COLUMN", .help = "column of the values [the study's metric, else value]"},
    {.name = "resource", .value = "COLUMN", .help = "column of what each value was reached with [resource]"},
    {.name = "ignore",
     .value = "COLUMN",
     .many = true,
     .help = "a column that is no parameter of a new study"},
    {.name = "file", .value = "STUDY.yaml", .help = "make the new study from this file"},
    {.name = "method", .value = "METHOD", .fallback = "rs", .help = "of a new study without a file"},
    {.name = "from", .value = "NAME", .help = "which study of an Optuna file"},
    {.name = "skip", .help = "leave out trials that do not fit the study's space instead of stopping"},
    {.name = "again", .help = "also trials that the study has with the same value; else they are left out"},
    STORE_OPTION,
    STUDY_OPTION,
    {0},
};

const struct cli_command wni_cmd_import = {
    .name = "import",
    .summary = "put finished trials of a CSV or Optuna file into a study",
    .words = "FILE",
    .min_words = 1,
    .max_words = 1,
    .about = "A CSV has a row for each trial: a column for each parameter, called by its name, one for the "
             "value, and "
             "if there are any for the resource and the state (complete, stopped, failed ...). 'winnow "
             "export' writes "
             "such files. An SQLite file is taken for one of Optuna (3 to 5): its parameters, intermediate "
             "values and "
             "states are read; trials that run or lack a parameter are left out and counted.\n\n"
             "The study may be there already, and goes on knowing the imported trials; those it has are left "
             "out. A new one is made "
             "from a study "
             "file, or over a space guessed from the data: whole numbers, numbers (on a log scale if they "
             "span three "
             "orders of magnitude), true and false, words. Everything is read and checked before anything is "
             "written.",
    .options = options,
    .examples = "winnow import old.csv --study mlp                       # into a study that is there\n"
                "winnow import old.csv --study new --minimize val_loss --method cqr\n"
                "winnow import old.csv --file study.yaml\n"
                "winnow import optuna.db --from my-study --study mlp --method cqr+mf",
    .run = run,
};
