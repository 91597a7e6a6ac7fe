/* termplots.c -- pictures of a study in a terminal. */
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/plots.h"
#include "plot/term.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT = 18, SMALL = 12, CURVES_MAX = 200, LINES_MAX = 100 };
enum { BLUE = 1, ORANGE = 2, GREEN = 3, RED = 4, GREY = 6 };

static double *counting(size_t n)
{
    double *x = wni_new(double, n);
    for (size_t i = 0; x && i < n; i++)
        x[i] = (double)i;
    return x;
}

static void draw(const struct plot_data *d, struct term_plot plot, int width, bool color, struct buf *out)
{
    plot.width = width;
    plot.color = color;
    plot.log_y = d->log;
    plot.y_min = d->low;
    plot.y_max = d->high;
    wni_term_plot(&plot, out);
}

void wni_term_history(const struct plot_data *d, int width, bool color, struct buf *out)
{
    double *x = counting(d->n);
    struct term_series series[] = {
        {.name = "trials", .x = x, .y = d->values, .n = d->n, .style = TERM_POINTS, .color = GREY},
        {.name = "best so far", .x = x, .y = d->best, .n = d->n, .style = TERM_STEPS, .color = BLUE}};
    if (x)
        draw(d,
             (struct term_plot){.title = wni_metric_name(d->of),
                                .x_label = "trial",
                                .series = series,
                                .n = 2,
                                .height = HEIGHT},
             width, color, out);
    else
        out->failed = true;
    free(x);
}

/* A series of its own memory: x, then y. */
static bool read_curve(const struct study *s, uint32_t trial, struct term_series *out)
{
    size_t n = s->history.trials[trial].n_reports;
    double *x = wni_new(double, 2 * n);
    if (!x) return false;
    wni_plot_curve(s, trial, x, x + n);
    *out = (struct term_series){.x = x, .y = x + n, .n = n, .color = GREY};
    return true;
}

static void free_series(struct term_series *series, size_t n)
{
    for (size_t i = 0; series && i < n; i++)
        free((double *)(uintptr_t)series[i].x);
    free(series);
}

void wni_term_curves(const struct plot_data *d, int width, bool color, struct buf *out)
{
    const struct study *s = &d->of->study;
    size_t each = d->n / CURVES_MAX + 1, n = 0;
    struct term_series *series = wni_new(struct term_series, CURVES_MAX + 2);
    bool fine = series != NULL;
    for (uint32_t i = 0; i < d->n && fine; i++)
        if (i % each == 0 && i != s->history.best_trial && s->history.trials[i].n_reports)
            fine = read_curve(s, i, &series[n]) && ++n;
    if (fine && s->history.best_trial != TRIAL_NONE &&
        (fine = read_curve(s, s->history.best_trial, &series[n]))) {
        series[n].color = ORANGE;
        series[n++].name = "the best trial";
    }
    if (fine)
        draw(d,
             (struct term_plot){.title = wni_metric_name(d->of),
                                .x_label = wni_resource_name(d->of),
                                .series = series,
                                .n = n,
                                .height = HEIGHT},
             width, color, out);
    else
        out->failed = true;
    free_series(series, n);
}

/* ---- slice ---- */

/* A parameter's axis: as the parameter is searched, on a log scale or not; words by their numbers. */
static void slice_one(const struct plot_data *d, size_t i, double *x, int width, bool color, struct buf *out)
{
    const struct study *s = &d->of->study;
    const struct param *p = &s->space.params[i];
    bool log = !p->labels && p->scale == WN_LOG;
    struct buf label = {0};
    for (uint32_t t = 0; t < d->n; t++)
        x[t] = wni_history_config(&s->history, t)[i];
    wni_buf_printf(&label, "%s%s", p->name, log ? " (log scale)" : "");
    for (uint64_t k = 0; p->labels && k < p->count && k < 12; k++)
        wni_buf_printf(&label, "%s%llu %s", k ? ", " : ": ", (unsigned long long)k, p->labels[k]);
    struct term_series series = {.x = x, .y = d->values, .n = d->n, .style = TERM_POINTS, .color = BLUE};
    draw(d,
         (struct term_plot){.title = wni_metric_name(d->of),
                            .x_label = wni_buf_text(&label),
                            .series = &series,
                            .n = 1,
                            .log_x = log,
                            .height = SMALL},
         width, color, out);
    wni_buf_release(&label);
}

void wni_term_slice(const struct plot_data *d, int width, bool color, struct buf *out)
{
    double *x = wni_new(double, d->n);
    for (size_t i = 0; i < d->of->study.space.n && x; i++) {
        if (i) wni_buf_putc(out, '\n');
        slice_one(d, i, x, width, color, out);
    }
    if (!x) out->failed = true;
    free(x);
}

/* ---- parallel coordinates ---- */

static bool read_line(const struct plot_data *d, uint32_t trial, struct term_series *out)
{
    const struct study *s = &d->of->study;
    size_t n = s->space.n;
    double *x = wni_new(double, 2 * n);
    if (!x) return false;
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        x[n + i] = wni_plot_position(&s->space.params[i], wni_history_config(&s->history, trial)[i]);
    }
    *out = (struct term_series){.x = x, .y = x + n, .n = n};
    return true;
}

/* Good trials are easier to see when the others are few: the best tenth over a sample of the rest. */
void wni_term_parallel(const struct plot_data *d, int width, bool color, struct buf *out)
{
    uint32_t *order = wni_new(uint32_t, 2 * d->n);
    struct term_series *series = wni_new(struct term_series, 2 * LINES_MAX);
    size_t n = 0, drawn = order ? wni_plot_order(d, order, order + d->n) : 0;
    size_t good = drawn / 10 ? drawn / 10 : drawn > 0, each = drawn / LINES_MAX + 1;
    bool fine = order && series;
    if (good > LINES_MAX) good = LINES_MAX;
    for (size_t k = 0; k < drawn && fine; k++) {
        bool top = k + good >= drawn;
        if (!top && (k % each || !color)) continue; /* without colour they could not be told apart */
        if (!(fine = read_line(d, order[k], &series[n]))) break;
        series[n].color = top ? ORANGE : GREY;
        if (k + 1 == drawn) series[n].name = "the best tenth";
        n++;
    }
    if (fine) {
        struct buf names = {0};
        for (size_t i = 0; i < d->of->study.space.n; i++)
            wni_buf_printf(&names, "%s%s", i ? "  |  " : "", d->of->study.space.params[i].name);
        wni_term_plot(&(struct term_plot){.title = "position in its range, from lowest to highest",
                                          .x_label = wni_buf_text(&names),
                                          .series = series,
                                          .n = n,
                                          .width = width,
                                          .height = HEIGHT,
                                          .y_max = 1,
                                          .color = color},
                      out);
        wni_buf_release(&names);
    } else {
        out->failed = true;
    }
    free_series(series, n);
    free(order);
}

/* ---- importance ---- */

void wni_term_importance(const struct plot_data *d, int width, bool color, struct buf *out)
{
    const struct space *space = &d->of->study.space;
    bool *done = wni_new(bool, space->n);
    int room = width > 60 ? width - 32 : 28;
    for (size_t k = 0; k < space->n && done; k++) {
        size_t most = space->n;
        for (size_t i = 0; i < space->n; i++)
            if (!done[i] && (most == space->n || d->importance[i] > d->importance[most])) most = i;
        done[most] = true;
        wni_buf_printf(out, "%18s %s", space->params[most].name, color ? "\033[34m" : "");
        for (int i = 0; i < (int)lround(d->importance[most] * room); i++)
            wni_buf_puts(out, "█");
        wni_buf_printf(out, "%s %.3f\n", color ? "\033[0m" : "", d->importance[most]);
    }
    if (!done) out->failed = true;
    free(done);
}

/* ---- timeline ---- */

void wni_term_timeline(const struct plot_data *d, int width, bool color, struct buf *out)
{
    static const int colors[] = {[WN_RUNNING] = ORANGE, [WN_PAUSED] = GREEN,  [WN_COMPLETE] = BLUE,
                                 [WN_STOPPED] = GREY,   [WN_FAILED] = RED,    [WN_TIMEOUT] = RED,
                                 [WN_LOST] = RED,       [WN_CANCELLED] = RED, [WN_WAITING] = GREY};
    struct term_series *series = wni_new(struct term_series, d->n_spans);
    double *points = wni_new(double, 4 * d->n_spans);
    if (!series || !points) {
        out->failed = true;
    } else {
        for (size_t i = 0; i < d->n_spans; i++) {
            const struct span *s = &d->spans[i];
            double *p = points + 4 * i;
            p[0] = s->from;
            p[1] = s->to;
            p[2] = p[3] = (double)s->lane + 1;
            series[i] = (struct term_series){.x = p, .y = p + 2, .n = 2, .color = colors[s->end]};
        }
        int height = (int)(d->n_lanes < 12 ? 2 * d->n_lanes + 5 : 30);
        wni_term_plot(
            &(struct term_plot){.title = color ? "trials at a time (blue complete, grey stopped, red failed, "
                                                 "orange running)"
                                               : "trials at a time",
                                .x_label = "seconds since the study began",
                                .series = series,
                                .n = d->n_spans,
                                .width = width,
                                .height = height,
                                .y_min = 0.5,
                                .y_max = (double)d->n_lanes + 0.5,
                                .color = color},
            out);
    }
    free(points);
    free(series);
}
