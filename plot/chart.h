/* chart.h -- the charts of a comparison: curves with bands, small multiples, critical differences.
 *
 * They are drawn for a column of a paper (3.3 inches) or a page (6.8), and read their numbers from CSV files
 * in the figure's directory.  A curve takes two columns of such a file, mean and standard error.  On a log
 * axis a band is cut at a third of its mean. */
#ifndef WNI_PLOT_CHART_H
#define WNI_PLOT_CHART_H

#include "plot/figure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chart_line {
    const char *name;
    const char *color; /* "#D55E00" */
    int dash;          /* gnuplot's dash type; 1: solid */
    int point;         /* gnuplot's point type */
};

struct chart {
    const char *directory, *name;
    const char *note; /* small print below */
    const char *test; /* another line of it: the test that was used; NULL: none */
    const struct chart_line *lines;
    size_t n;
    bool bands; /* there are errors to draw */
};

/* The colour of a method is the same in every figure: known names have theirs, the others get what is left.
 * X and X+mf share one; where both are among `names` the later one is dashed. */
void wni_chart_colors(const char *const *names, size_t n, struct chart_line *out);

/* One panel, column width.  CSV: x, then mean and error of each line.  floor above 0: a log axis that starts
 * there; what is below, 0 above all, runs along the bottom. */
wn_status wni_chart_curves(const struct chart *chart, const char *csv, const char *y_label, double floor,
                           struct err *err);

struct chart_panel {
    const char *title;
    double floor; /* as above */
};

/* Panels with log axes, page width.  CSV: a name, x, then mean and error of each line; `rows` rows for each
 * panel. */
wn_status wni_chart_multiples(const struct chart *chart, const char *csv, const struct chart_panel *panels,
                              size_t n_panels, size_t rows, const char *y_label, struct err *err);

struct critical_panel {
    const char *title;
    const char *remark;      /* right of the title */
    const double *ranks;     /* mean rank of each line */
    const uint64_t *cliques; /* bit i: line i; joined by a bar */
    size_t n_cliques;
};

/* Critical-difference diagrams below each other, column width: mean ranks on an axis, best on the left, bars
 * over methods that are not told apart. */
wn_status wni_chart_critical(const struct chart *chart, const struct critical_panel *panels, size_t n_panels,
                             struct err *err);

#endif
