/* cmd_plot.c -- winnow plot: pictures of a study, as files for a paper or in the terminal. */
#include "cli/plots.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

const struct plot_kind wni_plot_kinds[] = {
    {"history", wni_figure_history, NULL, wni_term_history},
    {"curves", wni_figure_curves, NULL, wni_term_curves},
    {"slice", wni_figure_slice, wni_figure_slice_size, wni_term_slice},
    {"parallel", wni_figure_parallel, wni_figure_parallel_size, wni_term_parallel},
    {"importance", wni_figure_importance, wni_figure_importance_size, wni_term_importance},
    {"timeline", wni_figure_timeline, wni_figure_timeline_size, wni_term_timeline},
};
const size_t wni_n_plot_kinds = sizeof wni_plot_kinds / sizeof *wni_plot_kinds;

/* ---- what can be drawn ---- */

/* Why there is nothing to see; NULL: there is. */
static const char *missing(const struct plot_kind *kind, const struct plot_data *d)
{
    if (d->n == 0) return "it has no trials yet";
    if (!strcmp(kind->name, "timeline")) return NULL;
    if (d->n_values == 0) return "no trial has a finite value yet";
    if (!strcmp(kind->name, "importance") && !d->importance)
        return "it needs at least 10 trials with a value";
    if (!strcmp(kind->name, "curves") && d->of->study.history.n_reports <= d->of->study.history.n_trials &&
        d->of->setup.setup.max_resource == 0)
        return "its trials report one value each: there are no learning curves";
    return NULL;
}

/* ---- files ---- */

/* The name of a file: letters of the study's name that a file system may not like become '-'. */
static void file_stem(const char *study, const char *kind, struct buf *out)
{
    for (const char *c = study; *c; c++)
        wni_buf_putc(out, (char)(isalnum((unsigned char)*c) || strchr("._-", *c) ? *c : '-'));
    wni_buf_printf(out, "-%s", kind);
}

static wn_status draw_files(const struct plot_kind *kind, const struct plot_data *d, const char *directory,
                            const char *name, struct err *err)
{
    struct buf csv = {0}, script = {0}, data = {0};
    double width = 6, height = 3.6;
    wni_buf_printf(&csv, "%s.csv", name);
    kind->figure(d, wni_buf_text(&csv), &script, &data);
    if (kind->size) kind->size(d, &width, &height);
    wn_status st = csv.failed || script.failed || data.failed ? wni_fail_memory(err) : WN_OK;
    if (!st) st = wni_make_directory(directory, err);
    if (!st) st = wni_write_file(directory, csv.data, &data, err);
    if (!st)
        st = wni_figure_draw(&(struct figure){.directory = directory,
                                              .name = name,
                                              .width = width,
                                              .height = height,
                                              .script = script.data},
                             err);
    wni_buf_release(&csv);
    wni_buf_release(&script);
    wni_buf_release(&data);
    return st;
}

static wn_status draw_into(const struct plot_kind *kind, const struct plot_data *d, const char *directory,
                           struct err *err)
{
    struct buf stem = {0};
    file_stem(d->of->name, kind->name, &stem);
    wn_status st =
        stem.failed ? wni_fail_memory(err) : draw_files(kind, d, directory, wni_buf_text(&stem), err);
    if (!st) printf("%s/%s.svg .png .pdf\n", directory, stem.data);
    wni_buf_release(&stem);
    return st;
}

/* ---- one file ---- */

static const char *const endings[] = {"png", "svg", "pdf", "gp", "csv"}; /* the first three are pictures */

/* The ending of a path that names a picture; NULL: it names a folder. */
static const char *picture_ending(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < 3; i++)
        if (!strcmp(dot + 1, endings[i])) return dot + 1;
    return NULL;
}

/* Pictures that we do not draw are not folders either. */
static wn_status check_ending(const char *path, struct err *err)
{
    static const char *const others[] = {"jpg",  "jpeg", "gif", "bmp", "tif",
                                         "tiff", "webp", "eps", "ps",  "html"};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof others / sizeof *others; i++)
        if (!strcasecmp(dot + 1, others[i]))
            return wni_fail(err, WN_EINVAL, "--out '%s': pictures end in .png, .svg or .pdf", path);
    return WN_OK;
}

/* Moves the picture out of the folder it was drawn in, and removes that with whatever else is there. */
static wn_status take_picture(const char *folder, const char *path, bool drawn, struct err *err)
{
    struct buf file = {0};
    wn_status st = WN_OK;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        wni_buf_clear(&file);
        wni_buf_printf(&file, "%s/picture.%s", folder, endings[i]);
        if (file.failed)
            st = wni_fail_memory(err);
        else if (drawn && !strcmp(endings[i], picture_ending(path)) && rename(file.data, path) != 0)
            st = wni_fail(err, WN_EIO, "cannot write '%s': %s", path, strerror(errno));
        unlink(wni_buf_text(&file));
    }
    rmdir(folder);
    wni_buf_release(&file);
    return st;
}

/* Drawn in a folder of its own beside the file, which only then appears. */
static wn_status draw_one(const struct plot_kind *kind, const struct plot_data *d, const char *path,
                          struct err *err)
{
    const char *slash = strrchr(path, '/');
    struct buf folder = {0};
    struct err moved = {0};
    wni_buf_add(&folder, path, slash ? (size_t)(slash + 1 - path) : 0);
    wn_status st = slash ? wni_make_directory(wni_buf_text(&folder), err) : WN_OK;
    wni_buf_puts(&folder, ".winnow-plot-XXXXXX");
    if (!st && folder.failed) st = wni_fail_memory(err);
    if (!st && !mkdtemp(folder.data))
        st = wni_fail(err, WN_EIO, "cannot write beside '%s': %s", path, strerror(errno));
    if (!st) {
        st = draw_files(kind, d, folder.data, "picture", err);
        wn_status taken = take_picture(folder.data, path, !st, &moved);
        if (!st && (st = taken)) *err = moved;
        if (st == WN_ENOTFOUND) /* the data and the script it left are gone */
            wni_fail(err, st, "gnuplot is not installed (Debian: apt install gnuplot-nox)");
    }
    if (!st) puts(path);
    wni_buf_release(&folder);
    return st;
}

static wn_status draw_file(const struct plot_kind *kind, const struct plot_data *d, const char *out,
                           struct err *err)
{
    return picture_ending(out) ? draw_one(kind, d, out, err) : draw_into(kind, d, out, err);
}

/* ---- terminal ---- */

static int terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col < 140 ? size.ws_col : 140;
    return 80;
}

static wn_status draw_term(const struct plot_kind *kind, const struct plot_data *d, struct err *err)
{
    struct buf out = {0};
    kind->term(d, terminal_width(), isatty(STDOUT_FILENO) && !getenv("NO_COLOR"), &out);
    wn_status st = out.failed ? wni_fail_memory(err) : WN_OK;
    if (!st) fputs(wni_buf_text(&out), stdout);
    wni_buf_release(&out);
    return st;
}

/* ---- together ---- */

static wn_status draw(const struct args *args, const struct plot_data *d, const struct plot_kind *kind,
                      bool only, struct err *err)
{
    const char *why = missing(kind, d);
    if (why && only)
        return wni_fail(err, WN_ESTATE, "study '%s': nothing to draw as %s: %s", d->of->name, kind->name,
                        why);
    if (why) {
        fprintf(stderr, "winnow: no %s: %s\n", kind->name, why);
        return WN_OK;
    }
    if (!wni_flag(args, "term")) return draw_file(kind, d, wni_arg(args, "out"), err);
    if (!only) printf("\n%s\n\n", kind->name);
    return draw_term(kind, d, err);
}

static wn_status draw_all(const struct args *args, const char *wanted, const struct opened_study *s,
                          struct err *err)
{
    struct plot_data d;
    bool all = !strcmp(wanted, "all");
    const char *out = wni_arg(args, "out");
    if (all && picture_ending(out))
        return wni_fail(err, WN_EINVAL,
                        "'%s' is one picture: say which, as in 'winnow plot slice', or give a "
                        "folder with --out",
                        out);
    wn_status st = wni_plot_data_read(&d, s, err);
    for (size_t i = 0; i < wni_n_plot_kinds && !st; i++)
        if (all || !strcmp(wni_plot_kinds[i].name, wanted))
            st = draw(args, &d, &wni_plot_kinds[i], !all, err);
    wni_plot_data_release(&d);
    return st;
}

static bool is_kind(const char *word)
{
    for (size_t i = 0; i < wni_n_plot_kinds; i++)
        if (!strcmp(wni_plot_kinds[i].name, word)) return true;
    return !strcmp(word, "all");
}

static wn_status fail_kind(const char *word, struct err *err)
{
    return wni_fail(
        err, WN_EINVAL,
        "unknown picture '%s': choose from history, curves, slice, parallel, importance, timeline and all, "
        "and name the study, as in: winnow plot history mlp",
        word);
}

/* The picture and the study come in either order; the first word that is a picture is it.  A single word that
 * is none is the study, unless there is no such study: then either may be misspelt. */
static wn_status sort_words(const struct args *args, const char **kind, size_t *study, struct err *err)
{
    size_t n = args->n_words, at = 0;
    while (at < n && !is_kind(args->words[at]))
        at++;
    *kind = at < n ? args->words[at] : "history";
    *study = at == 0 ? 1 : 0;
    if (n == 2 && at == 2) return fail_kind(args->words[0], err);
    return WN_OK;
}

static wn_status open_it(const struct args *args, const char **kind, struct opened_study *s, struct err *err)
{
    size_t word;
    wn_status st = sort_words(args, kind, &word, err);
    if (!st && word == 0 && args->n_words == 1 && wni_arg(args, "study"))
        return fail_kind(args->words[0], err); /* the study is named already */
    if (!st) st = wni_open_study_option(args, word, s, err);
    if (st == WN_ENOTFOUND && word == 0 && args->n_words == 1) {
        struct err why = *err;
        wni_fail(err, st,
                 "'%s' is neither a picture (history, curves, slice, parallel, importance, timeline, "
                 "all) nor a study: %s",
                 args->words[0], why.text);
    }
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s = {0};
    const char *kind = NULL;
    wn_status st = WN_OK;
    if (wni_flag(args, "term") && wni_flag(args, "out"))
        st = wni_fail(&err, WN_EINVAL, "give either --term or --out");
    if (!st) st = check_ending(wni_arg(args, "out"), &err);
    if (!st) st = open_it(args, &kind, &s, &err);
    if (!st) st = draw_all(args, kind, &s, &err);
    wni_close_study(&s);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "out",
     .value = "PATH",
     .fallback = "plots",
     .help = "folder for the files, or one file that ends in .png, .svg or .pdf"},
    {.name = "term", .help = "draw in the terminal instead"},
    STORE_OPTION,
    STUDY_OPTION,
    {0},
};

const struct cli_command wni_cmd_plot = {
    .name = "plot",
    .summary = "draw a study: history, learning curves, slices, importance, time",
    .words = "[KIND] [STUDY]",
    .max_words = 2,
    .about = "KIND is one of\n"
             "history: the best value of each trial, and the best so far, drawn if none is named;\n"
             "curves: every learning curve, the best one on top;\n"
             "slice: the value against each parameter;\n"
             "parallel: each trial as a line through all its parameters, coloured by its rank;\n"
             "importance: which parameters matter (see 'winnow importance');\n"
             "timeline: who ran when, and how it ended;\n"
             "all: all of these.\n\n"
             "Files are STUDY-KIND.svg, .png and .pdf, with the gnuplot script and the data as CSV beside "
             "them. A few "
             "values far away from the rest are drawn at the edge.",
    .options = options,
    .examples = "winnow plot mlp --term\n"
                "winnow plot slice --term\n"
                "winnow plot all mlp --out figures\n"
                "winnow plot slice mlp --out slice.png\n"
                "winnow plot parallel --study mlp",
    .run = run,
};
