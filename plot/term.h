/* term.h -- a plot in a terminal: curves in dots of Unicode's braille, eight to a character. */
#ifndef WNI_PLOT_TERM_H
#define WNI_PLOT_TERM_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum term_style {
    TERM_LINE,   /* points joined */
    TERM_STEPS,  /* each value holds until the next */
    TERM_POINTS, /* dots only */
};

struct term_series {
    const char *name; /* for the legend; NULL: none */
    const double *x, *y;
    size_t n;
    enum term_style style;
    int color; /* 0 to 6: plain, blue, orange, green, red, purple, grey; drawn only when the plot is coloured
                */
};

struct term_plot {
    const char *title;
    const char *x_label, *y_label; /* NULL: none */
    const struct term_series *series;
    size_t n;          /* later ones are drawn over earlier ones */
    int width, height; /* in characters, axes and labels included; below 30 x 8: that */
    double y_min,
        y_max;         /* points outside are drawn at the edge, lines are not; equal: as far as the data go */
    bool log_x, log_y; /* values not above 0 are left out */
    bool color;
};

/* Appends the picture, a line of text for each of its rows.  Points that are not finite are left out; with
 * none left the picture says so.  On failure (out of memory) `out` has failed. */
void wni_term_plot(const struct term_plot *plot, struct buf *out);

#endif
