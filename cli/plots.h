/* plots.h -- the pictures of a study: each as a figure (gnuplot) and as text for a terminal. */
#ifndef WNI_CLI_PLOTS_H
#define WNI_CLI_PLOTS_H

#include "cli/plotdata.h"
#include "plot/figure.h"

struct plot_kind {
    const char *name;
    /* Writes the gnuplot script, and the data it plots as CSV. */
    void (*figure)(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data);
    void (*size)(const struct plot_data *d, double *width, double *height); /* in inches; NULL: 6 x 3.6 */
    void (*term)(const struct plot_data *d, int width, bool color, struct buf *out);
};

extern const struct plot_kind wni_plot_kinds[];
extern const size_t wni_n_plot_kinds;

/* figures.c */
void wni_figure_history(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data);
void wni_figure_curves(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data);
void wni_figure_slice(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data);
void wni_figure_slice_size(const struct plot_data *d, double *width, double *height);
void wni_figure_parallel(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data);
void wni_figure_parallel_size(const struct plot_data *d, double *width, double *height);
void wni_figure_importance(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data);
void wni_figure_importance_size(const struct plot_data *d, double *width, double *height);
void wni_figure_timeline(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data);
void wni_figure_timeline_size(const struct plot_data *d, double *width, double *height);

/* termplots.c */
void wni_term_history(const struct plot_data *d, int width, bool color, struct buf *out);
void wni_term_curves(const struct plot_data *d, int width, bool color, struct buf *out);
void wni_term_slice(const struct plot_data *d, int width, bool color, struct buf *out);
void wni_term_parallel(const struct plot_data *d, int width, bool color, struct buf *out);
void wni_term_importance(const struct plot_data *d, int width, bool color, struct buf *out);
void wni_term_timeline(const struct plot_data *d, int width, bool color, struct buf *out);

#endif
