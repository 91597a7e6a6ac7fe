/* figures.c -- pictures of a study as gnuplot scripts over CSV files. */
#include "base/mem.h"
#include "cli/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CURVES_MAX = 1000, LINES_MAX = 2000, SLICE_COLUMNS = 3 };

static const char style[] =
    "set termoption noenhanced\n"
    "set border 3 lw 0.8 lc rgb '#444444'\n"
    "set tics nomirror out scale 0.6\n"
    "set grid lc rgb '#e4e4e4' lw 0.6 lt 1\n"
    "set key outside top center horizontal maxrows 1 samplen 1.6 spacing 1.1 font ',10'\n";

/* Viridis: as light, so large, also in grey. */
static const char palette[] = "set palette defined (0 '#440154', 0.25 '#3b528b', 0.5 '#21918c', 0.75 "
                              "'#5ec962', 1 '#fde725')\n";

/* ---- parts ---- */

/* Text between the single quotes of gnuplot. */
static void quoted(struct buf *out, const char *text)
{
    wni_buf_putc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'') wni_buf_putc(out, '\'');
        wni_buf_putc(out, *text);
    }
    wni_buf_putc(out, '\'');
}

static void set_text(struct buf *out, const char *what, const char *text)
{
    wni_buf_printf(out, "set %s ", what);
    quoted(out, text);
    wni_buf_putc(out, '\n');
}

/* The margins of a range of values, in its scale. */
static void value_limits(const struct plot_data *d, double *low, double *high)
{
    double a = d->log ? log(d->low) : d->low, b = d->log ? log(d->high) : d->high, margin = 0.06 * (b - a);
    *low = d->log ? exp(a - margin) : a - margin;
    *high = d->log ? exp(b + margin) : b + margin;
}

static void set_values(struct buf *script, const struct plot_data *d, const char *axis)
{
    double low, high;
    value_limits(d, &low, &high);
    if (d->log) wni_buf_printf(script, "set logscale %s\n", axis);
    wni_buf_printf(script, "set %srange [%.10g:%.10g]\n", axis, low, high);
}

static void cell(struct buf *out, double x)
{
    if (isnan(x))
        wni_buf_puts(out, "nan");
    else
        wni_buf_double(out, x);
}

/* "--state" as a number for gnuplot: 0 ended well, 1 stopped or paused early, 2 failed, 3 running. */
static int state_group(wn_state state)
{
    if (state == WN_COMPLETE) return 0;
    if (state == WN_STOPPED || state == WN_PAUSED) return 1;
    return state == WN_RUNNING || state == WN_WAITING ? 3 : 2;
}

static const struct group {
    const char *name, *color;
    int point;
} groups[] = {{"complete", "#0072B2", 7},
              {"stopped or paused", "#56B4E9", 6},
              {"failed, lost, cancelled", "#D55E00", 2},
              {"running", "#E69F00", 5}};
enum { N_GROUPS = 4 };

/* ---- history ---- */

static bool group_has(const struct plot_data *d, int group)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (state_group((wn_state)d->of->study.history.trials[i].state) == group) return true;
    return false;
}

void wni_figure_history(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data)
{
    const struct history *h = &d->of->study.history;
    double low, high;
    value_limits(d, &low, &high);
    wni_buf_puts(data, "trial,value,best,group,shown\n");
    for (uint32_t i = 0; i < d->n; i++) {
        bool off = isnan(d->values[i]) || d->values[i] < low || d->values[i] > high;
        wni_buf_printf(data, "%u,", i);
        cell(data, d->values[i]);
        wni_buf_putc(data, ',');
        cell(data, d->best[i]);
        wni_buf_printf(data, ",%d,", state_group((wn_state)h->trials[i].state));
        /* what is off the picture is marked at its edge */
        cell(data, !off ? d->values[i] : d->values[i] < low || d->of->study.goal == WN_MAXIMIZE ? low : high);
        wni_buf_putc(data, '\n');
    }
    wni_buf_puts(script, style);
    set_text(script, "xlabel", "trial");
    if (d->n < 10) wni_buf_puts(script, "set xtics 1\n");
    set_text(script, "ylabel", wni_metric_name(d->of));
    wni_buf_printf(script, "set xrange [-0.5:%.10g]\n", (double)d->n - 0.5);
    set_values(script, d, "y");
    wni_buf_puts(script, "set pointsize 0.5\nplot ");
    for (int g = 0; g < N_GROUPS; g++)
        if (group_has(d, g))
            wni_buf_printf(
                script, "'%s' skip 1 using 1:($4==%d ? $5 : NaN) with points pt %d lc rgb '%s' title '%s', ",
                csv, g, groups[g].point, groups[g].color, groups[g].name);
    wni_buf_printf(script, "'%s' skip 1 using 1:3 with steps lw 2 lc rgb '#000000' title 'best so far'\n",
                   csv);
}

/* ---- learning curves ---- */

static void put_curve(const struct study *s, uint32_t trial, struct buf *data)
{
    size_t n = s->history.trials[trial].n_reports;
    double *x = wni_new(double, 2 * n);
    if (!x) data->failed = true;
    if (x) wni_plot_curve(s, trial, x, x + n);
    for (size_t i = 0; x && i < n; i++) {
        wni_buf_printf(data, "%u,", trial);
        cell(data, x[i]);
        wni_buf_putc(data, ',');
        cell(data, isfinite(x[n + i]) ? x[n + i] : NAN);
        wni_buf_putc(data, '\n');
    }
    free(x);
}

static double furthest(const struct history *h)
{
    double most = 0;
    for (size_t i = 0; i < h->n_reports; i++)
        most = fmax(most, h->resources[i]);
    return most;
}

void wni_figure_curves(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data)
{
    const struct study *s = &d->of->study;
    const struct history *h = &s->history;
    size_t each = d->n / CURVES_MAX + 1;
    wni_buf_printf(data, "trial,%s,value\n", "resource");
    for (uint32_t i = 0; i < d->n; i++) {
        if (i == h->best_trial || !h->trials[i].n_reports || i % each) continue;
        put_curve(s, i, data);
        wni_buf_puts(data, "\n"); /* ends the line in the picture */
    }
    wni_buf_puts(data, "\n");
    if (h->best_trial != TRIAL_NONE) put_curve(s, h->best_trial, data);
    wni_buf_puts(script, style);
    set_text(script, "xlabel", wni_resource_name(d->of));
    set_text(script, "ylabel", wni_metric_name(d->of));
    set_values(script, d, "y");
    wni_buf_printf(script, "set xrange [%.10g:%.10g]\n", 0.0, 1.02 * furthest(h));
    wni_buf_printf(
        script,
        "plot '%s' skip 1 index 0 using 2:3 with lines lw 0.8 lc rgb '#900072B2' title 'trials', \\\n"
        "  '' skip 1 index 0 using 2:3 with points pt 7 ps 0.18 lc rgb '#900072B2' notitle, \\\n"
        "  '' index 1 using 2:3 with linespoints pt 7 ps 0.3 lw 2.2 lc rgb '#D55E00' title 'the best: trial "
        "%u'\n",
        csv, h->best_trial == TRIAL_NONE ? 0 : h->best_trial);
}

/* ---- slice ---- */

/* Labels along an axis of words; positions 0, 1, 2 ... */
static void set_words(struct buf *script, const struct param *p, const char *axis)
{
    char scratch[WN_WHY_MAX];
    wni_buf_printf(script, "set %stics (", axis);
    for (uint64_t k = 0; k < p->count && k < 30; k++) {
        if (k) wni_buf_puts(script, ", ");
        quoted(script, wni_param_text(p, wni_param_value_at(p, k), scratch));
        wni_buf_printf(script, " %llu", (unsigned long long)k);
    }
    wni_buf_puts(script, ")\n");
}

/* Ticks at 1, 2 and 5 for a log axis too short for powers of ten. */
static void set_short_log(struct buf *script, const struct param *p)
{
    static const double steps[] = {1, 2, 5};
    const char *separator = "";
    wni_buf_puts(script, "set xtics (");
    for (int e = (int)floor(log10(p->min)); e <= (int)ceil(log10(p->max)); e++)
        for (int k = 0; k < 3; k++) {
            double x = steps[k] * pow(10, e);
            if (x < p->min * 0.999 || x > p->max * 1.001) continue;
            wni_buf_printf(script, "%s%.10g", separator, x);
            separator = ", ";
        }
    wni_buf_puts(script, ")\n");
}

static void slice_axis(struct buf *script, const struct param *p)
{
    bool few = p->kind == PARAM_INT && p->max - p->min < 8;
    wni_buf_printf(script, "unset logscale x\nset xtics %s\nset format x '%%g'\n", few ? "1" : "autofreq");
    if (p->labels) {
        set_words(script, p, "x");
        wni_buf_printf(script, "set xrange [-0.5:%llu.5]\n", (unsigned long long)p->count - 1);
        return;
    }
    if (p->scale == WN_LOG) {
        wni_buf_puts(script, "set logscale x\n");
        if (p->max / p->min > 999)
            wni_buf_puts(script, "set format x '10^{%T}'\n");
        else
            set_short_log(script, p);
        wni_buf_printf(script, "set xrange [%.10g:%.10g]\n", p->min * 0.85, p->max * 1.18);
    } else {
        double margin = p->max > p->min ? 0.04 * (p->max - p->min) : 1;
        wni_buf_printf(script, "set xrange [%.10g:%.10g]\n", p->min - margin, p->max + margin);
    }
}

void wni_figure_slice_size(const struct plot_data *d, double *width, double *height)
{
    size_t n = d->of->study.space.n, columns = n < SLICE_COLUMNS ? n : SLICE_COLUMNS;
    *width = 0.9 + 2.5 * (double)columns;
    *height = 0.3 + 2.2 * (double)((n + columns - 1) / columns);
}

void wni_figure_slice(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data)
{
    const struct study *s = &d->of->study;
    size_t n = s->space.n, columns = n < SLICE_COLUMNS ? n : SLICE_COLUMNS,
           rows = (n + columns - 1) / columns;
    double low, high, width, height;
    value_limits(d, &low, &high);
    wni_figure_slice_size(d, &width, &height);
    wni_buf_puts(data, "trial,value");
    for (size_t i = 0; i < n; i++) {
        wni_buf_putc(data, ',');
        wni_buf_csv_field(data, s->space.params[i].name);
    }
    for (uint32_t t = 0; t < d->n; t++) {
        if (isnan(d->values[t])) continue;
        wni_buf_printf(data, "\n%u,", t);
        cell(data, d->values[t]);
        for (size_t i = 0; i < n; i++) {
            wni_buf_putc(data, ',');
            wni_buf_double(data, wni_history_config(&s->history, t)[i]); /* of words the index */
        }
    }
    wni_buf_putc(data, '\n');
    wni_buf_puts(script, style);
    wni_buf_puts(script, palette);
    wni_buf_printf(
        script,
        "set key off\nset termoption enhanced\nunset colorbox\nset cblabel 'trial' offset -0.8,0\nset "
        "cbrange [0:%zu]\n"
        "set cbtics scale 0.4 offset -0.6,0 %s\n"
        "set multiplot layout %zu,%zu margins screen %.4g, screen %.4g, screen %.4g, screen %.4g spacing "
        "screen %.4g, screen %.4g\n",
        d->n > 1 ? d->n - 1 : 1, d->n < 8 ? "1" : "autofreq", rows, columns, 0.75 / width, 1 - 0.85 / width,
        0.55 / height, 1 - 0.15 / height, 0.55 / width, 0.7 / height);
    set_values(script, d, "y");
    for (size_t i = 0; i < n; i++) {
        const struct param *p = &s->space.params[i];
        wni_buf_puts(script, "set xlabel ");
        quoted(script, p->name);
        wni_buf_puts(script, " noenhanced offset 0,0.4\n");
        if (i % columns == 0) {
            wni_buf_puts(script, "set ylabel ");
            quoted(script, wni_metric_name(d->of));
            wni_buf_puts(script, " noenhanced offset 1,0\nset format y\n");
        } else {
            wni_buf_puts(script, "unset ylabel\nset format y ''\n");
        }
        slice_axis(script, p);
        if (i + 1 == n)
            wni_buf_printf(
                script, "set colorbox user origin screen %.4g, screen 0.25 size screen 0.014, screen 0.5\n",
                1 - 0.62 / width);
        wni_buf_printf(script, "plot '%s' skip 1 using ($%zu%s):2:1 with points pt 7 ps 0.38 lc palette\n",
                       csv, i + 3, p->labels ? "+0.16*(rand(0)-0.5)" : "");
    }
    wni_buf_puts(script, "unset multiplot\nset format x\nset format y\n");
}

/* ---- parallel coordinates ---- */

void wni_figure_parallel_size(const struct plot_data *d, double *width, double *height)
{
    *width = fmin(fmax(5, 1.2 + 1.15 * (double)(d->of->study.space.n + 1)), 16);
    *height = 3.4;
}

static void axis_label(struct buf *script, double x, double y, const char *text, bool name)
{
    wni_buf_puts(script, "set label ");
    quoted(script, text);
    if (name)
        wni_buf_printf(script, " at first %.6g, graph 1.07 center font ',10'\n", x);
    else
        wni_buf_printf(
            script,
            " at first %.6g, first %.6g right offset -0.6,0 font ',8' textcolor rgb '#333333' boxed front\n",
            x, y);
}

static void axis_of_param(struct buf *script, const struct param *p, double x)
{
    char scratch[WN_WHY_MAX], number[32];
    axis_label(script, x, 0, p->name, true);
    if (p->labels && p->count <= 12) {
        for (uint64_t k = 0; k < p->count; k++)
            axis_label(script, x, wni_plot_position(p, wni_param_value_at(p, k)),
                       wni_param_text(p, wni_param_value_at(p, k), scratch), false);
        return;
    }
    double ends[2] = {p->labels ? 0 : p->min, p->labels ? (double)p->count - 1 : p->max};
    for (int i = 0; i < 2; i++) {
        snprintf(number, sizeof number, "%.4g", ends[i]);
        axis_label(script, x, i, p->labels ? wni_param_text(p, ends[i], scratch) : number, false);
    }
}

/* From 0 to 1 in the picture's scale of values; what is beyond is drawn at the end. */
static double value_position(const struct plot_data *d, double value)
{
    double v = fmin(fmax(value, d->low), d->high);
    if (d->log) return log(v / d->low) / log(d->high / d->low);
    return (v - d->low) / (d->high - d->low);
}

/* Lines through words are spread a little, so that one sees how many there are. */
static double line_position(const struct param *p, uint32_t trial, double value)
{
    double at = wni_plot_position(p, value);
    return p->labels ? at + 0.05 * (fmod(trial * 0.618034, 1) - 0.5) : at;
}

void wni_figure_parallel(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data)
{
    const struct study *s = &d->of->study;
    size_t n = s->space.n;
    uint32_t *order = wni_new(uint32_t, 2 * d->n);
    char number[32];
    double width, height;
    wni_figure_parallel_size(d, &width, &height);
    if (!order) data->failed = true;
    size_t drawn = order ? wni_plot_order(d, order, order + d->n) : 0,
           from = drawn > LINES_MAX ? drawn - LINES_MAX : 0;
    wni_buf_puts(data, "trial,axis,position,rank\n");
    for (size_t k = from; k < drawn; k++) { /* the best is drawn last, on top */
        for (size_t i = 0; i <= n; i++) {
            double at = i < n ? line_position(&s->space.params[i], order[k],
                                              wni_history_config(&s->history, order[k])[i])
                              : value_position(d, d->values[order[k]]);
            wni_buf_printf(data, "%u,%zu,%.6g,%.6g\n", order[k], i, at,
                           drawn > from + 1 ? (double)(k - from) / (double)(drawn - from - 1) : 1);
        }
        wni_buf_putc(data, '\n');
    }
    free(order);
    wni_buf_puts(script, style);
    wni_buf_puts(script, palette);
    wni_buf_puts(script, "set style textbox opaque fillcolor rgb '#ffffff' noborder margins 0.4,0.4\n"
                         "set key off\nset border 0\nunset grid\nunset xtics\nunset ytics\n"
                         "set tmargin 3.2\nset bmargin 1.2\n"
                         "set cbrange [0:1]\nset cbtics ('worst' 0, 'best' 1) scale 0 offset -0.8,0\nset "
                         "yrange [-0.03:1.03]\n");
    wni_buf_printf(script,
                   "set lmargin at screen %.4g\nset rmargin at screen %.4g\n"
                   "set colorbox user origin screen %.4g, screen 0.2 size screen %.4g, screen 0.55\n",
                   0.75 / width, 1 - 1.05 / width, 1 - 0.75 / width, 0.11 / width);
    wni_buf_printf(script, "set xrange [-0.02:%zu.02]\n", n);
    for (size_t i = 0; i <= n; i++)
        wni_buf_printf(script, "set arrow from %zu, 0 to %zu, 1 nohead lc rgb '#444444' lw 1 front\n", i, i);
    for (size_t i = 0; i < n; i++)
        axis_of_param(script, &s->space.params[i], (double)i);
    axis_label(script, (double)n, 0, wni_metric_name(d->of), true);
    for (int i = 0; i < 2; i++) {
        snprintf(number, sizeof number, "%.4g", i ? d->high : d->low);
        axis_label(script, (double)n, i, number, false);
    }
    wni_buf_printf(script, "plot '%s' skip 1 using 2:3:4 with lines lw 0.9 lc palette\n", csv);
    wni_buf_puts(script, "unset label\nunset arrow\n");
}

/* ---- importance ---- */

void wni_figure_importance_size(const struct plot_data *d, double *width, double *height)
{
    *width = 5;
    *height = 0.9 + 0.3 * (double)d->of->study.space.n;
}

/* Parameters from the least to the most important. */
static void sort_importance(const struct plot_data *d, uint32_t *order)
{
    size_t n = d->of->study.space.n;
    for (uint32_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && d->importance[order[at - 1]] > d->importance[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

void wni_figure_importance(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data)
{
    const struct space *space = &d->of->study.space;
    uint32_t *order = wni_new(uint32_t, space->n);
    if (!order) {
        data->failed = true;
        return;
    }
    sort_importance(d, order);
    wni_buf_puts(script, style);
    wni_buf_puts(
        script,
        "set key off\nset xlabel 'importance (share of the total effects)'\nset style fill solid 1 noborder\n"
        "unset grid\nset grid x lc rgb '#e4e4e4' lw 0.6 lt 1\nset ytics scale 0 (");
    wni_buf_puts(data, "row,importance,parameter\n");
    for (size_t i = 0; i < space->n; i++) {
        const char *name = space->params[order[i]].name;
        wni_buf_printf(data, "%zu,%.10g,", i, d->importance[order[i]]);
        wni_buf_csv_field(data, name);
        wni_buf_putc(data, '\n');
        if (i) wni_buf_puts(script, ", ");
        quoted(script, name);
        wni_buf_printf(script, " %zu", i);
    }
    double most = space->n ? d->importance[order[space->n - 1]] : 1;
    wni_buf_printf(
        script,
        ")\nset yrange [-0.6:%.4g]\nset xrange [0:%.4g]\n"
        "plot '%s' skip 1 using (0):1:(0):2:($1-0.32):($1+0.32) with boxxyerror lc rgb '#0072B2', \\\n"
        "  '' skip 1 using 2:1:(sprintf('%%.2f', $2)) with labels left offset 0.5,0 font ',9'\n",
        (double)space->n - 0.4, most > 0 ? fmin(1.12 * most, 1.1) : 1, csv);
    free(order);
}

/* ---- timeline ---- */

void wni_figure_timeline_size(const struct plot_data *d, double *width, double *height)
{
    *width = 7;
    *height = fmin(1.3 + 0.22 * (double)d->n_lanes, 9);
}

void wni_figure_timeline(const struct plot_data *d, const char *csv, struct buf *script, struct buf *data)
{
    double unit = d->end > 3 * 7200 ? 3600 : d->end > 3 * 120 ? 60 : 1;
    bool has[N_GROUPS] = {false};
    wni_buf_puts(data, "trial,lane,from,to,group\n");
    for (size_t i = 0; i < d->n_spans; i++) {
        const struct span *s = &d->spans[i];
        has[state_group(s->end)] = true;
        wni_buf_printf(data, "%u,%zu,%.10g,%.10g,%d\n", s->trial, s->lane, s->from / unit, s->to / unit,
                       state_group(s->end));
    }
    wni_buf_puts(script, style);
    wni_buf_printf(
        script,
        "set xlabel '%s since the study began'\n"
        "set ylabel 'trials at a time'\n"
        "set style fill solid 0.85 border rgb '#ffffff'\nunset grid\nset grid x lc rgb '#e4e4e4' lw 0.6 lt "
        "1\n"
        "set ytics scale 0 %d,%d\nset yrange [0.4:%.4g]\nset xrange [0:%.10g]\nplot ",
        unit == 1    ? "seconds"
        : unit == 60 ? "minutes"
                     : "hours",
        1, d->n_lanes > 24 ? 8 : 1, (double)d->n_lanes + 0.6, d->end > 0 ? d->end / unit : 1);
    const char *separator = "";
    for (int g = 0; g < N_GROUPS; g++) {
        if (!has[g]) continue;
        wni_buf_printf(script,
                       "%s'%s' skip 1 using 3:($5==%d ? $2+1 : NaN):3:4:($2+0.6):($2+1.4) with boxxyerror lw "
                       "0.3 fc rgb '%s' "
                       "title '%s'",
                       separator, csv, g, groups[g].color, groups[g].name);
        separator = ", ";
    }
    if (!*separator) wni_buf_puts(script, "NaN notitle");
    wni_buf_putc(script, '\n');
}
