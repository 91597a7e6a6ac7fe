/* illustration.c -- samples, quantiles with Thompson draws, and the histogram of proposals. */
#include "bench/illustration.h"

#include "base/mem.h"
#include "core/streams.h"
#include "num/portable.h"
#include "plot/figure.h"
#include "surrogate/quantile.h"

#include <math.h>
#include <stdlib.h>

static const double TWO_PI = 6.283185307179586;
enum { GRID = 500, SHOWN_DRAWS = 300, CANDIDATES = 2000 };

/* ---- the model ---- */

struct world {
    const struct illustration *setup;
    double *x, *y;           /* observations */
    double *points, *values; /* CANDIDATES each: where the model is asked, and what it said */
    double *predicted;       /* scratch of a draw */
    uint8_t *levels;         /* drawn for each point */
    uint8_t *codes;          /* of the points */
    struct quantile_model model;
};

static wn_status world_init(struct world *w, const struct illustration *setup, struct err *err)
{
    *w = (struct world){.setup = setup};
    w->x = wni_new(double, setup->samples);
    w->y = wni_new(double, setup->samples);
    w->points = wni_new(double, CANDIDATES);
    w->values = wni_new(double, CANDIDATES);
    w->predicted = wni_new(double, CANDIDATES);
    w->levels = wni_new(uint8_t, CANDIDATES);
    w->codes = wni_new(uint8_t, CANDIDATES + BINS_BLOCK);
    bool fine = w->x && w->y && w->points && w->values && w->predicted && w->levels && w->codes;
    return fine ? WN_OK : wni_fail_memory(err);
}

static void world_release(struct world *w)
{
    free(w->x);
    free(w->y);
    free(w->points);
    free(w->values);
    free(w->predicted);
    free(w->levels);
    free(w->codes);
    wni_quantile_release(&w->model);
}

static double spread(double x)
{
    double s = wni_sin(x);
    return s * s + 0.3;
}

static wn_status observe_and_fit(struct world *w, uint64_t repetition, struct rng *rng)
{
    *rng = wni_rng_stream(w->setup->seed, repetition, STREAM_NOISE);
    for (size_t i = 0; i < w->setup->samples; i++) {
        w->x[i] = TWO_PI * wni_rng_uniform(rng);
        w->y[i] = spread(w->x[i]) * wni_rng_normal(rng);
    }
    struct quantile_options options = {
        .boost = {.trees = 100, .depth = 3, .rate = 0.1, .min_leaf = 1, .row_share = 1, .column_share = 1},
        .levels = w->setup->levels};
    return wni_quantile_fit(&w->model, w->x, w->y, w->setup->samples, 1, &options, rng);
}

static void predict(struct world *w, size_t level, const double *points, size_t n, double *out)
{
    size_t stride = (n + BINS_BLOCK - 1) / BINS_BLOCK * BINS_BLOCK;
    wni_bins_encode(&w->model.bins, points, n, w->codes, stride);
    wni_quantile_predict(&w->model, level, w->codes, stride, n, out);
}

/* One Thompson draw per point: a level at random, and its prediction. */
static void thompson(struct world *w, size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i++) {
        w->points[i] = TWO_PI * wni_rng_uniform(rng);
        w->levels[i] = (uint8_t)wni_rng_below(rng, (uint64_t)w->setup->levels);
    }
    for (size_t j = 0; j < (size_t)w->setup->levels; j++) {
        predict(w, j, w->points, n, w->predicted);
        for (size_t i = 0; i < n; i++)
            if (w->levels[i] == j) w->values[i] = w->predicted[i];
    }
}

static size_t lowest(const double *values, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (values[i] < values[best]) best = i;
    return best;
}

wn_status wni_illustration_histogram(const struct illustration *setup, uint32_t counts[ILLUSTRATION_BINS],
                                     struct err *err)
{
    struct world w;
    wn_status st = world_init(&w, setup, err);
    for (size_t k = 0; k < ILLUSTRATION_BINS; k++)
        counts[k] = 0;
    for (size_t r = 0; r < setup->repetitions && !st; r++) {
        struct rng rng;
        if (observe_and_fit(&w, r + 1, &rng)) {
            st = wni_fail_memory(err);
            break;
        }
        thompson(&w, CANDIDATES, &rng);
        double x = w.points[lowest(w.values, CANDIDATES)];
        counts[(size_t)(x / TWO_PI * ILLUSTRATION_BINS)]++;
    }
    world_release(&w);
    return st;
}

/* ---- the panels ---- */

static wn_status write_samples(const struct world *w, const char *directory, struct err *err)
{
    struct buf csv = {0};
    wni_buf_puts(&csv, "x,y\n");
    for (size_t i = 0; i < w->setup->samples; i++)
        wni_buf_printf(&csv, "%.6g,%.6g\n", w->x[i], w->y[i]);
    wn_status st = wni_write_file(directory, "illustration-samples.csv", &csv, err);
    wni_buf_release(&csv);
    return st;
}

static wn_status write_quantiles(struct world *w, const char *directory, struct err *err)
{
    struct buf csv = {0};
    wni_buf_puts(&csv, "x");
    for (int j = 0; j < w->setup->levels; j++)
        wni_buf_printf(&csv, ",q%.4g", w->model.level[j]);
    wni_buf_putc(&csv, '\n');
    for (size_t i = 0; i < GRID; i++) {
        double x = TWO_PI * (double)i / (GRID - 1), value;
        wni_buf_printf(&csv, "%.6g", x);
        for (int j = 0; j < w->setup->levels; j++) {
            predict(w, (size_t)j, &x, 1, &value);
            wni_buf_printf(&csv, ",%.6g", value);
        }
        wni_buf_putc(&csv, '\n');
    }
    wn_status st = wni_write_file(directory, "illustration-quantiles.csv", &csv, err);
    wni_buf_release(&csv);
    return st;
}

static wn_status write_draws(struct world *w, struct rng *rng, const char *directory, struct err *err)
{
    struct buf csv = {0};
    thompson(w, SHOWN_DRAWS, rng);
    size_t best = lowest(w->values, SHOWN_DRAWS);
    wni_buf_puts(&csv, "x,value,chosen\n");
    for (size_t i = 0; i < SHOWN_DRAWS; i++)
        wni_buf_printf(&csv, "%.6g,%.6g,%d\n", w->points[i], w->values[i], i == best);
    wn_status st = wni_write_file(directory, "illustration-draws.csv", &csv, err);
    wni_buf_release(&csv);
    return st;
}

static wn_status write_histogram(const struct illustration *setup, const char *directory,
                                 uint32_t counts[ILLUSTRATION_BINS], struct err *err)
{
    struct buf csv = {0};
    wn_status st = wni_illustration_histogram(setup, counts, err);
    wni_buf_puts(&csv, "x,share\n");
    for (size_t k = 0; k < ILLUSTRATION_BINS; k++)
        wni_buf_printf(&csv, "%.6g,%.6g\n", TWO_PI * ((double)k + 0.5) / ILLUSTRATION_BINS,
                       (double)counts[k] / (double)setup->repetitions);
    if (!st) st = wni_write_file(directory, "illustration-proposals.csv", &csv, err);
    wni_buf_release(&csv);
    return st;
}

static wn_status write_data(const struct illustration *setup, const char *directory,
                            uint32_t counts[ILLUSTRATION_BINS], struct err *err)
{
    struct world w;
    struct rng rng;
    wn_status st = world_init(&w, setup, err);
    if (!st && observe_and_fit(&w, 0, &rng)) st = wni_fail_memory(err);
    if (!st) st = write_samples(&w, directory, err);
    if (!st) st = write_quantiles(&w, directory, err);
    if (!st) st = write_draws(&w, &rng, directory, err);
    world_release(&w);
    return st ? st : write_histogram(setup, directory, counts, err);
}

static void write_script(const struct illustration *setup, struct buf *script)
{
    wni_buf_printf(
        script,
        "set multiplot layout 3,1 margins 0.18,0.95,0.10,0.95 spacing 0,0.115\n"
        "set tics scale 0.5 font ',10'\n"
        "set xrange [0:2*pi]\n"
        "set xtics ('0' 0, 'π/2' pi/2, 'π' pi, '3π/2' 3*pi/2, '2π' 2*pi) offset 0,0.3\n"
        "set grid lc rgb '#dddddd' lw 0.5\n"
        "set border lw 0.8\n"
        "set key off\n"
        "set yrange [-4:4]\n"
        "set ytics 2\n"
        "set label 1 'f(x)' at graph -0.19,0.5 center rotate font ',10'\n"
        "set title 'Samples of f(x) ~ N(0, ρ(x)²), ρ(x) = sin(x)² + 0.3' offset 0,-0.6 font ',10' "
        "noenhanced\n"
        "plot 'illustration-samples.csv' every ::1 using 1:2 with points pt 7 ps 0.2 lc rgb '%s'\n"
        "set yrange [-2.2:2.2]\n"
        "set ytics 1\n"
        "set title 'Predicted quantiles and Thompson draws (▲ proposed)' "
        "offset 0,-0.6 font ',10' noenhanced\n"
        "plot for [j=2:%d] 'illustration-quantiles.csv' every ::1 using 1:j with lines lw 0.8 lc rgb '%s', "
        "\\\n"
        "     'illustration-draws.csv' every ::1 using 1:2 with points pt 7 ps 0.2 lc rgb '%s', \\\n"
        "     '' every ::1 using ($3 == 1 ? $1 : NaN):2 with points pt 9 ps 0.8 lc rgb '%s'\n"
        "set title 'Where %zu independent fits look next' offset 0,-0.6 font ',10' noenhanced\n"
        "set label 1 'share of proposals'\n"
        "set xlabel 'x' font ',10'\n"
        "set ytics 0.02\n"
        "set yrange [0:*]\n"
        "set style fill solid 0.8 noborder\n"
        "set boxwidth %.6g\n"
        "plot 'illustration-proposals.csv' every ::1 using 1:2 with boxes lc rgb '%s'\n"
        "unset multiplot\n"
        "unset xlabel\n",
        wni_figure_color(0), setup->levels + 1, wni_figure_color(5), wni_figure_color(0), wni_figure_color(1),
        setup->repetitions, TWO_PI / ILLUSTRATION_BINS * 0.9, wni_figure_color(0));
}

wn_status wni_illustration_draw(const struct illustration *setup, const char *directory,
                                uint32_t counts[ILLUSTRATION_BINS], struct err *err)
{
    struct buf script = {0};
    wn_status st = wni_make_directory(directory, err);
    if (!st) st = write_data(setup, directory, counts, err);
    write_script(setup, &script);
    if (!st && script.failed) st = wni_fail_memory(err);
    struct figure figure = {.directory = directory, .name = "illustration", .width = 3.3, .height = 4.7};
    figure.script = wni_buf_text(&script);
    if (!st) st = wni_figure_draw(&figure, err);
    wni_buf_release(&script);
    return st;
}
