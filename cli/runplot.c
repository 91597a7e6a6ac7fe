/* runplot.c -- the pictures at the end of `winnow run --plot`. */
#include "cli/runplot.h"

#include "base/mem.h"
#include "plot/term.h"

#include <math.h>
#include <stdlib.h>

enum { HEIGHT = 14, CURVES_MAX = 60, BLUE = 1, ORANGE = 2, GREY = 6 };

void wni_best_curve_add(struct best_curve *c, double seconds, double value)
{
    if (!wni_reserve((void **)&c->seconds, &c->seconds_cap, c->n + 1, sizeof *c->seconds) ||
        !wni_reserve((void **)&c->values, &c->values_cap, c->n + 1, sizeof *c->values))
        return;
    c->seconds[c->n] = seconds;
    c->values[c->n++] = value;
}

void wni_best_curve_release(struct best_curve *c)
{
    free(c->seconds);
    free(c->values);
    *c = (struct best_curve){0};
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A few trials that diverge would squeeze all others into a line: the worst tenth of the values is cut off.
 */
static void find_limits(const struct term_series *series, size_t n, bool maximize, double *min, double *max)
{
    size_t total = 0, kept = 0;
    for (size_t s = 0; s < n; s++)
        total += series[s].n;
    double *all = wni_new(double, total);
    if (!all) return;
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < series[s].n; i++)
            if (isfinite(series[s].y[i])) all[kept++] = series[s].y[i];
    qsort(all, kept, sizeof *all, compare);
    if (kept) {
        *min = all[maximize ? kept / 10 : 0];
        *max = all[maximize ? kept - 1 : kept - 1 - kept / 10];
    }
    free(all);
}

/* Losses that fall by orders of magnitude want a log scale. */
static bool wants_log(double min, double max)
{
    return min > 0 && max > 20 * min;
}

static void plot_best(const struct studyfile *file, const struct best_curve *best, double seconds, int width,
                      bool color, struct buf *out)
{
    if (best->n == 0) return;
    double last_x[2] = {best->seconds[best->n - 1], seconds};
    double last_y[2] = {best->values[best->n - 1], best->values[best->n - 1]};
    struct term_series series[2] = {{.x = best->seconds, .y = best->values, .n = best->n},
                                    {.x = last_x, .y = last_y, .n = 2}};
    for (int i = 0; i < 2; i++) {
        series[i].style = TERM_STEPS;
        series[i].color = BLUE;
    }
    double first = best->values[0];
    struct buf title = {0};
    wni_buf_printf(&title, "best %s so far", file->metric.name);
    wni_term_plot(&(struct term_plot){.title = wni_buf_text(&title),
                                      .x_label = "seconds",
                                      .series = series,
                                      .n = 2,
                                      .width = width,
                                      .height = HEIGHT,
                                      .log_y = wants_log(fmin(first, last_y[0]), fmax(first, last_y[0])),
                                      .color = color},
                  out);
    wni_buf_release(&title);
}

/* The reports of a trial, oldest first. */
static bool read_curve(const struct study *study, uint32_t trial, struct term_series *s)
{
    const struct history *h = &study->history;
    size_t n = h->trials[trial].n_reports;
    double *x = wni_new(double, 2 * n), *y = x ? x + n : NULL;
    if (!x) return false;
    for (uint32_t at = h->trials[trial].last_arrival; at && n > 0; at = h->previous[at - 1]) {
        n--;
        x[n] = h->resources[at - 1];
        y[n] = study->sign * h->values[at - 1];
    }
    *s = (struct term_series){.x = x, .y = y, .n = h->trials[trial].n_reports, .color = GREY};
    return true;
}

static void plot_curves(const struct studyfile *file, const struct study *study, int width, bool color,
                        struct buf *out)
{
    const struct history *h = &study->history;
    struct term_series *series = wni_new(struct term_series, CURVES_MAX + 1);
    size_t n = 0, from = h->n_trials > CURVES_MAX ? h->n_trials - CURVES_MAX : 0;
    for (size_t i = from; series && i < h->n_trials && n < CURVES_MAX; i++)
        if (i != h->best_trial && h->trials[i].n_reports && read_curve(study, (uint32_t)i, &series[n])) n++;
    if (series && h->best_trial != TRIAL_NONE && read_curve(study, h->best_trial, &series[n])) {
        series[n].color = ORANGE;
        series[n++].name = "the best trial";
    }
    double min = 0, max = 0;
    find_limits(series, n, file->metric.goal == WN_MAXIMIZE, &min, &max);
    if (n)
        wni_term_plot(&(struct term_plot){.title = "learning curves",
                                          .y_label = file->metric.name,
                                          .x_label = file->resource.name,
                                          .series = series,
                                          .n = n,
                                          .width = width,
                                          .height = HEIGHT,
                                          .y_min = min,
                                          .y_max = max,
                                          .log_y = wants_log(min, max),
                                          .color = color},
                      out);
    for (size_t i = 0; i < n; i++)
        free((double *)(uintptr_t)series[i].x);
    free(series);
}

void wni_run_plot(const struct studyfile *file, const struct study *study, const struct best_curve *best,
                  double seconds, int width, bool color, struct buf *out)
{
    plot_best(file, best, seconds, width, color, out);
    if (file->resource.name) {
        wni_buf_putc(out, '\n');
        plot_curves(file, study, width, color, out);
    }
}
