/* figure.h -- draws a figure with gnuplot: one script, three files.
 *
 * A figure is a gnuplot script body that says nothing about terminals, next to the CSV files it plots.  It is
 * kept as DIR/NAME.gp, so that anybody can change and redraw it, and drawn as SVG, PNG and PDF by a gnuplot
 * process. */
#ifndef WNI_PLOT_FIGURE_H
#define WNI_PLOT_FIGURE_H

#include "base/buf.h"
#include "base/err.h"

struct figure {
    const char *directory, *name;
    double width, height; /* inches, as printed */
    const char *script;   /* data files are named relative to the directory */
};

/* Colours that people with any colour vision can tell apart (Okabe & Ito 2008), as gnuplot strings; i is
 * taken modulo 8. */
const char *wni_figure_color(size_t i);

/* Makes a directory and its parents; one that is there already is fine. */
wn_status wni_make_directory(const char *path, struct err *err);
/* Writes a file as a whole: under another name first, so that a half-written one is never seen. */
wn_status wni_write_file(const char *directory, const char *name, const struct buf *text, struct err *err);

/* Writes the script and runs gnuplot.  Without gnuplot: WN_ENOTFOUND with what to install; script and data
 * stay. */
wn_status wni_figure_draw(const struct figure *figure, struct err *err);

#endif
