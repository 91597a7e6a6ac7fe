/* figure.c -- writes gnuplot scripts and runs gnuplot on them. */
#define _GNU_SOURCE /* posix_spawn_file_actions_addchdir_np: gnuplot runs in the figure's directory */
#include "plot/figure.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

const char *wni_figure_color(size_t i)
{
    static const char *const colors[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                         "#E69F00", "#56B4E9", "#000000", "#F0E442"};
    return colors[i % (sizeof colors / sizeof *colors)];
}

wn_status wni_make_directory(const char *path, struct err *err)
{
    struct buf part = {0};
    wn_status st = WN_OK;
    for (const char *end = path; *end && !st;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        wni_buf_clear(&part);
        wni_buf_add(&part, path, (size_t)(end - path));
        if (part.failed)
            st = wni_fail_memory(err);
        else if (mkdir(part.data, 0777) && errno != EEXIST)
            st = wni_fail(err, WN_EIO, "cannot make the directory '%s': %s", part.data, strerror(errno));
    }
    wni_buf_release(&part);
    return st;
}

static wn_status write_and_rename(const char *temporary, const char *path, const struct buf *text,
                                  struct err *err)
{
    FILE *out = fopen(temporary, "wb");
    if (!out) return wni_fail(err, WN_EIO, "cannot write '%s': %s", temporary, strerror(errno));
    bool fine = fwrite(wni_buf_text(text), 1, text->len, out) == text->len;
    fine = fclose(out) == 0 && fine;
    if (fine && rename(temporary, path) == 0) return WN_OK;
    int reason = errno;
    unlink(temporary);
    return wni_fail(err, WN_EIO, "cannot write '%s': %s", path, strerror(reason));
}

wn_status wni_write_file(const char *directory, const char *name, const struct buf *text, struct err *err)
{
    struct buf path = {0}, temporary = {0};
    wni_buf_printf(&path, "%s/%s", directory, name);
    wni_buf_printf(&temporary, "%s/.%s.part", directory, name);
    wn_status st = path.failed || temporary.failed || text->failed
                       ? wni_fail_memory(err)
                       : write_and_rename(temporary.data, path.data, text, err);
    wni_buf_release(&path);
    wni_buf_release(&temporary);
    return st;
}

/* pdfcairo counts 1/72 inch where the other two, at 96 dots to the inch, count 1/96: letters are equally
 * large on paper in all three, so what fits into one fits into the others. */
static const double PDF_FONTSCALE = 0.75 * 0.75;

static void write_script(const struct figure *f, struct buf *script)
{
    wni_buf_printf(
        script,
        "# Drawn by winnow.  Redraw with: gnuplot %s.gp\n"
        "set datafile separator ','\n"
        "set encoding utf8\n"
        "do for [kind in 'svg png pdf'] {\n"
        "if (kind eq 'svg') { set terminal svg size %.0f,%.0f dynamic font 'Helvetica,12' "
        "background '#ffffff' }\n"
        "if (kind eq 'png') { set terminal pngcairo size %.0f,%.0f font 'Helvetica,12' fontscale "
        "1.5 linewidth 2 pointscale 1.6 }\n"
        "if (kind eq 'pdf') { set terminal pdfcairo size %gin,%gin font 'Helvetica,12' fontscale %g "
        "linewidth 0.75 }\n"
        "set output '%s.'.kind\n",
        f->name, f->width * 96, f->height * 96, f->width * 192, f->height * 192, f->width, f->height,
        PDF_FONTSCALE, f->name);
    wni_buf_puts(script, f->script);
    wni_buf_puts(script, "\nset output\n}\n");
}

/* Waits for gnuplot; its own messages go to stderr as they are. */
static wn_status run_gnuplot(const char *directory, const char *name, struct err *err)
{
    struct buf file = {0};
    wni_buf_printf(&file, "%s.gp", name);
    if (file.failed) return wni_fail_memory(err);
    char *argv[] = {(char *)"gnuplot", file.data, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, directory);
    pid_t child;
    int reason = posix_spawnp(&child, "gnuplot", &actions, NULL, argv, environ), how = 0;
    posix_spawn_file_actions_destroy(&actions);
    wni_buf_release(&file);
    if (reason == ENOENT)
        return wni_fail(err, WN_ENOTFOUND,
                        "gnuplot is not installed (Debian: apt install gnuplot-nox); '%s' has the data and "
                        "the script '%s.gp'",
                        directory, name);
    if (reason) return wni_fail(err, WN_EIO, "cannot run gnuplot: %s", strerror(reason));
    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR) return wni_fail(err, WN_EIO, "cannot wait for gnuplot: %s", strerror(errno));
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return WN_OK;
    return wni_fail(err, WN_EIO, "gnuplot failed on '%s/%s.gp'", directory, name);
}

wn_status wni_figure_draw(const struct figure *f, struct err *err)
{
    struct buf script = {0}, file = {0};
    write_script(f, &script);
    wni_buf_printf(&file, "%s.gp", f->name);
    wn_status st = file.failed ? wni_fail_memory(err) : wni_write_file(f->directory, file.data, &script, err);
    if (!st) st = run_gnuplot(f->directory, f->name, err);
    wni_buf_release(&script);
    wni_buf_release(&file);
    return st;
}
