/* chart.c -- gnuplot scripts of the charts of a comparison. */
#include "plot/chart.h"

#include "base/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const double COLUMN = 3.3, PAGE = 6.8; /* inches */
enum { LINES_MAX = 64 };

/* ---- colours ---- */

/* Okabe and Ito's, then three of Tol's muted ones, dark enough to be seen on white. */
static const struct {
    const char *name, *color;
    int point;
} known[] = {
    {"rs", "#000000", 1},       {"asha", "#000000", 1},      {"tpe", "#009E73", 8},
    {"bohb", "#009E73", 8},     {"gp", "#0072B2", 4},        {"gp+mf", "#0072B2", 4},
    {"rea", "#E69F00", 10},     {"rea+mf", "#E69F00", 10},   {"bore", "#CC79A7", 12},
    {"bore+mf", "#CC79A7", 12}, {"qr", "#56B4E9", 6},        {"qr+mf", "#56B4E9", 6},
    {"cqr", "#D55E00", 7},      {"cqr+mf", "#D55E00", 7},    {"mob", "#882255", 5},
    {"ht", "#999933", 9},       {"one-epoch", "#332288", 2}, {"tpe-late", "#009E73", 8},
};
static const char *const spare[] = {"#332288", "#999933", "#882255", "#0072B2", "#009E73",
                                    "#E69F00", "#CC79A7", "#56B4E9", "#D55E00", "#000000"};

static bool taken(const struct chart_line *lines, size_t n, const char *color)
{
    for (size_t i = 0; i < n; i++)
        if (lines[i].color && !strcmp(lines[i].color, color)) return true;
    return false;
}

static void give_spare(struct chart_line *lines, size_t n, size_t i)
{
    size_t k = 0;
    while (k < COUNT(spare) && taken(lines, n, spare[k]))
        k++;
    lines[i].color = spare[k < COUNT(spare) ? k : i % COUNT(spare)];
    lines[i].point = 1 + (int)(i % 13);
}

void wni_chart_colors(const char *const *names, size_t n, struct chart_line *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = (struct chart_line){.name = names[i], .dash = 1};
        for (size_t k = 0; k < COUNT(known); k++)
            if (!strcmp(known[k].name, names[i])) {
                out[i].color = known[k].color;
                out[i].point = known[k].point;
            }
    }
    for (size_t i = 0; i < n; i++)
        if (!out[i].color) give_spare(out, n, i);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(out[i].color, out[j].color)) out[i].dash = out[j].dash + 1;
}

/* ---- pieces of scripts ---- */

static const char *dash_of(int dash)
{
    static const char *const patterns[] = {"solid", "(12,5)", "(4,4)", "(14,4,4,4)"};
    return patterns[(size_t)(dash - 1) % COUNT(patterns)];
}

/* In single quotes, where gnuplot knows no escapes but the doubled quote. */
static void quote(struct buf *b, const char *text)
{
    wni_buf_putc(b, '\'');
    for (; *text; text++) {
        if (*text == '\'') wni_buf_putc(b, '\'');
        wni_buf_putc(b, *text);
    }
    wni_buf_putc(b, '\'');
}

static void put_label(struct buf *b, const char *text, const char *place, int size)
{
    wni_buf_puts(b, "set label ");
    quote(b, text);
    wni_buf_printf(b, " %s font ',%d' noenhanced\n", place, size);
}

static void put_note(const struct chart *c, struct buf *b, double height)
{
    char place[96];
    double line = c->test ? 0.2 : 0.085;                              /* inches from below */
    int size = wni_utf8_count(c->note, strlen(c->note)) > 84 ? 7 : 8; /* more would not fit into a column */
    snprintf(place, sizeof place, "at screen 0.5,%.4f center tc rgb '#555555'", line / height);
    if (c->test) put_label(b, c->test, place, 8);
    snprintf(place, sizeof place, "at screen 0.5,%.4f center tc rgb '#555555'", 0.085 / height);
    put_label(b, c->note, place, size);
}

static void put_axes(struct buf *b)
{
    wni_buf_puts(b, "set border 3 lw 0.8\n"
                    "set grid lc rgb '#e4e4e4' lw 0.5\n"
                    "set tics nomirror out scale 0.5 font ',10'\n"
                    "set xrange [0:100]\n"
                    "set xtics 25\n");
}

/* Functions of the script: at(y) is y on the axis, low(m, e) the lower end of a band. */
static void put_scale(struct buf *b, double floor)
{
    if (floor > 0)
        wni_buf_printf(b,
                       "set logscale y\nset format y '10^{%%T}'\nset yrange [%.6g:*]\n"
                       "at(y) = y > %.6g ? y : %.6g\nlow(m,e) = at(m - e > m / 3 ? m - e : m / 3)\n",
                       floor, floor, floor);
    else
        wni_buf_puts(b, "at(y) = y\nlow(m,e) = m - e\n");
}

/* Bands first, so that no band covers a line. */
static void put_plot(const struct chart *c, struct buf *b, const char *csv, const char *every, int x_column,
                     bool titles)
{
    const char *glue = "plot ";
    for (size_t i = 0; i < c->n && c->bands; i++) {
        int mean = x_column + 1 + 2 * (int)i, error = mean + 1;
        wni_buf_printf(
            b,
            "%s'%s' %s using %d:(low($%d,$%d)):(at($%d+$%d)) with filledcurves fs transparent solid 0.16 "
            "noborder lc rgb '%s' notitle",
            glue, csv, every, x_column, mean, error, mean, error, c->lines[i].color);
        glue = ", \\\n     ";
    }
    for (size_t i = 0; i < c->n; i++) {
        const struct chart_line *l = &c->lines[i];
        wni_buf_printf(
            b, "%s'%s' %s using %d:(at($%d)) with linespoints lw 1.6 dt %s pt %d ps 0.35 pi %d lc rgb '%s' ",
            glue, csv, every, x_column, x_column + 1 + 2 * (int)i, dash_of(l->dash), l->point,
            titles ? 10 : 50, l->color);
        glue = ", \\\n     ";
        if (titles) {
            wni_buf_puts(b, "title ");
            quote(b, l->name);
        } else {
            wni_buf_puts(b, "notitle");
        }
    }
    wni_buf_putc(b, '\n');
}

static wn_status draw(const struct chart *c, struct buf *script, double width, double height, struct err *err)
{
    struct figure figure = {.directory = c->directory, .name = c->name, .width = width, .height = height};
    wn_status st = script->failed ? wni_fail_memory(err) : WN_OK;
    figure.script = wni_buf_text(script);
    if (!st) st = wni_figure_draw(&figure, err);
    wni_buf_release(script);
    return st;
}

/* ---- curves ---- */

static size_t longest_name(const struct chart *c)
{
    size_t letters = 0;
    for (size_t i = 0; i < c->n; i++)
        letters = strlen(c->lines[i].name) > letters ? strlen(c->lines[i].name) : letters;
    return letters;
}

/* A key: a sample of the line, then its name. */
struct key {
    size_t columns, rows;
};

/* What fits into `width` inches: all in one row, or rows that are about equally full. */
static struct key plan_key(const struct chart *c, double width, double letter)
{
    struct key key = {.columns = (size_t)(width / (0.4 + letter * (double)longest_name(c)))};
    if (key.columns < 1) key.columns = 1;
    key.rows = (c->n + key.columns - 1) / key.columns;
    key.columns = (c->n + key.rows - 1) / key.rows;
    return key;
}

static void put_reset(struct buf *b)
{
    wni_buf_puts(b, "reset\nset datafile separator ','\nset encoding utf8\n");
}

wn_status wni_chart_curves(const struct chart *c, const char *csv, const char *y_label, double floor,
                           struct err *err)
{
    struct buf b = {0};
    char place[96];
    double width = fmax(COLUMN, 1.6 + 0.085 * (double)longest_name(c)); /* wider only for a very long name */
    struct key key = plan_key(c, width - 0.4, 0.07);
    double height = 2.4 + 0.155 * (double)key.rows, left = floor > 0 ? 0.18 : 0.16, right = 0.95;
    double bottom = 0.62 / height, top = 1 - (0.1 + 0.155 * (double)key.rows) / height;
    put_reset(&b);
    put_axes(&b);
    wni_buf_printf(&b,
                   "set lmargin at screen %.2f\nset rmargin at screen %.2f\n"
                   "set bmargin at screen %.4f\nset tmargin at screen %.4f\n",
                   left, right, bottom, top);
    wni_buf_printf(&b,
                   "set key at screen 0.56,%.4f center top horizontal Left reverse maxcols %zu samplen 1.6 "
                   "spacing 1.05 width 0.5 font ',10' noenhanced\n",
                   1 - 0.03 / height, key.columns);
    snprintf(place, sizeof place, "at screen %.4f,%.4f center", (left + right) / 2, 0.25 / height);
    put_label(&b, "budget used (%)", place, 10);
    snprintf(place, sizeof place, "at screen 0.03,%.4f center rotate", (bottom + top) / 2);
    put_label(&b, y_label, place, 10);
    put_scale(&b, floor);
    put_note(c, &b, height);
    put_plot(c, &b, csv, "every ::1", 1, true);
    return draw(c, &b, width, height, err);
}

/* ---- small multiples ---- */

static size_t columns_for(size_t n_panels)
{
    return n_panels <= 3 ? n_panels : n_panels <= 20 ? 4 : 6;
}

/* A key of its own above the panels: a plot of nothing. */
static void put_legend(const struct chart *c, struct buf *b, size_t columns, double top, double height)
{
    wni_buf_printf(
        b,
        "set origin 0,%.4f\nset size 1,%.4f\nunset border\nunset tics\nunset grid\nunset xlabel\n"
        "unset ylabel\nunset title\nunset logscale\nset lmargin 0\nset rmargin 0\nset bmargin 0\n"
        "set tmargin 0\nset xrange [0:1]\nset yrange [0:1]\n"
        "set key at screen 0.5,%.4f center top horizontal Left reverse maxcols %zu samplen 1.8 width 0.5 "
        "font ',11' noenhanced\n",
        top, 1 - top, 1 - 0.02 / height, columns);
    for (size_t i = 0; i < c->n; i++) {
        wni_buf_printf(b, "%s NaN with lines lw 2 dt %s lc rgb '%s' title ", i ? ",\\\n    " : "plot",
                       dash_of(c->lines[i].dash), c->lines[i].color);
        quote(b, c->lines[i].name);
    }
    wni_buf_puts(b, "\n");
}

/* At most `most` characters: the middle gives way, so that a mark at the end stays. */
static void cut_title(const char *text, size_t most, char out[64])
{
    size_t size = strlen(text), n = wni_utf8_count(text, size);
    if (n <= most) {
        snprintf(out, 64, "%.63s", text);
        return;
    }
    size_t tail = size;
    for (size_t kept = 0; kept < 4 && tail > 0; kept++)
        do
            tail--;
        while (tail > 0 && (text[tail] & 0xC0) == 0x80);
    snprintf(out, 64, "%.*s…%s", (int)(most - 5), text,
             text + tail); /* names of tasks are ASCII but for the mark */
}

/* How many letters of `text` the first of two lines takes: all, or up to a '-', '_' or '.' that leaves it at
 * most `most`. */
static size_t first_line(const char *text, size_t most)
{
    size_t size = strlen(text), end = 0;
    if (wni_utf8_count(text, size) <= most) return size;
    for (size_t i = 1; i < most; i++)
        if (strchr("-_.", text[i])) end = i + 1;
    return end ? end : size;
}

/* A long name takes two lines: cut short, two names of a benchmark may look the same. */
static void put_title(struct buf *b, const char *text, size_t most, int size)
{
    char line[64];
    size_t end = first_line(text, most);
    wni_buf_puts(b, "set title ");
    if (text[end]) {
        snprintf(line, sizeof line, "%.*s", (int)end, text);
        quote(b, line);
        wni_buf_puts(b, ".\"\\n\".");
    }
    cut_title(text[end] ? text + end : text, most, line);
    quote(b, line);
    wni_buf_printf(b, " font ',%d' offset 0,-0.6 noenhanced\n", size);
}

struct grid {                       /* of panels, in inches */
    size_t columns, lines, letters; /* the last: of a title's line */
    int title_size;
    double width, height, left, foot, head, step, cell, title;
    struct key key;
};

static struct grid plan_grid(const struct chart *c, const struct chart_panel *panels, size_t n_panels)
{
    struct grid g = {.columns = columns_for(n_panels), .left = 0.5, .foot = 0.42, .title = 0.22};
    g.lines = (n_panels + g.columns - 1) / g.columns;
    g.width = g.columns < 3 ? PAGE / 3 * (double)g.columns + 0.6 : PAGE;
    g.step = (g.width - g.left - 0.08) / (double)g.columns;
    g.title_size = g.columns > 4 ? 7 : 9;
    g.letters = (size_t)(g.step / (0.0068 * g.title_size));
    g.key = plan_key(c, 0.95 * g.width, 0.085);
    g.head = 0.12 + 0.2 * (double)g.key.rows;
    for (size_t i = 0; i < n_panels; i++)
        if (panels[i].title[first_line(panels[i].title, g.letters)]) g.title = g.columns > 4 ? 0.3 : 0.34;
    g.cell = (g.columns > 4 ? 0.9 : 1.13) + g.title;
    g.height = g.head + g.foot + g.cell * (double)g.lines;
    return g;
}

/* Margins, axes and title of panel i. */
static void put_frame(struct buf *b, const struct grid *g, const struct chart_panel *panel, size_t i)
{
    double x = g->left + g->step * (double)(i % g->columns);
    double y = g->foot + g->cell * (double)(g->lines - 1 - i / g->columns);
    put_axes(b);
    put_scale(b, panel->floor);
    wni_buf_printf(b,
                   "set tics font ',8'\nset xtics 50 offset 0,0.4\nset ytics offset 0.6,0\n"
                   "set lmargin at screen %.4f\nset rmargin at screen %.4f\nset bmargin at screen %.4f\n"
                   "set tmargin at screen %.4f\n",
                   (x + 0.22) / g->width, (x + g->step - 0.1) / g->width, (y + 0.2) / g->height,
                   (y + g->cell - g->title) / g->height);
    put_title(b, panel->title, g->letters, g->title_size);
}

/* What the panels share: the names of the axes and the small print. */
static void put_shared(const struct chart *c, struct buf *b, const struct grid *g, const char *y_label)
{
    char place[96];
    put_note(c, b, g->height);
    snprintf(place, sizeof place, "at screen 0.5,%.4f center", 0.26 / g->height);
    put_label(b, "budget used (%)", place, 10);
    snprintf(place, sizeof place, "at screen %.4f,0.5 center rotate", 0.09 / g->width);
    put_label(b, y_label, place, 10);
    wni_buf_puts(b, "set key off\n");
}

wn_status wni_chart_multiples(const struct chart *c, const char *csv, const struct chart_panel *panels,
                              size_t n_panels, size_t rows, const char *y_label, struct err *err)
{
    struct buf b = {0};
    struct grid g = plan_grid(c, panels, n_panels);
    put_reset(&b);
    wni_buf_puts(&b, "set multiplot\n");
    put_shared(c, &b, &g, y_label);
    for (size_t i = 0; i < n_panels; i++) {
        char every[64];
        snprintf(every, sizeof every, "every ::%zu::%zu", 1 + rows * i, rows * (i + 1));
        put_frame(&b, &g, &panels[i], i);
        put_plot(c, &b, csv, every, 2, false);
        if (i == 0) wni_buf_puts(&b, "unset label\n"); /* once is enough */
    }
    put_legend(c, &b, g.key.columns, 1 - g.head / g.height, g.height);
    wni_buf_puts(&b, "unset multiplot\n");
    return draw(c, &b, g.width, g.height, err);
}

/* ---- critical differences ---- */

struct order { /* of the methods of a panel, best first */
    size_t at[LINES_MAX];
    double low, high; /* ends of the axis */
};

static struct order sort_ranks(const double *ranks, size_t n)
{
    struct order o = {.low = INFINITY, .high = -INFINITY};
    for (size_t i = 0; i < n; i++) {
        size_t j = i;
        for (; j > 0 && ranks[o.at[j - 1]] > ranks[i]; j--)
            o.at[j] = o.at[j - 1];
        o.at[j] = i;
        o.low = fmin(o.low, floor(ranks[i] * 2) / 2);
        o.high = fmax(o.high, ceil(ranks[i] * 2) / 2);
    }
    if (o.high - o.low < 1) o.high = o.low + 1;
    return o;
}

struct frame {                     /* of a panel, in screen coordinates */
    double left, right, axis, row; /* ends and height of the axis, height of a row */
    double low, high;
};

static double place(const struct frame *f, double rank)
{
    return f->left + (f->right - f->left) * (rank - f->low) / (f->high - f->low);
}

static void put_line(struct buf *b, double x0, double y0, double x1, double y1, double width,
                     const char *color)
{
    wni_buf_printf(b, "set arrow from screen %.4f,%.4f to screen %.4f,%.4f nohead lw %.2g lc rgb '%s'\n", x0,
                   y0, x1, y1, width, color);
}

static void put_axis(struct buf *b, const struct frame *f)
{
    char at[96], text[16];
    put_line(b, f->left, f->axis, f->right, f->axis, 1.2, "#000000");
    for (double rank = f->low; rank <= f->high; rank += 0.5) {
        bool whole = rank == floor(rank);
        double x = place(f, rank);
        put_line(b, x, f->axis, x, f->axis + f->row * (whole ? 0.3 : 0.18), 0.9, "#000000");
        if (!whole && f->high - f->low > 1.5) continue;
        snprintf(at, sizeof at, "at screen %.4f,%.4f center", x, f->axis + f->row * 0.75);
        snprintf(text, sizeof text, "%.*f", !whole, rank);
        put_label(b, text, at, 9);
    }
}

/* Heights in rows of text. */
static double bars_height(const struct critical_panel *p)
{
    return 0.45 + 0.42 * (double)p->n_cliques;
}

/* From the method's place on the axis down, then out to its name: the better half to the left. */
static void put_method(const struct chart *c, struct buf *b, const struct frame *f, size_t method,
                       const struct critical_panel *p, size_t row, bool left)
{
    char at[128], text[80];
    double x = place(f, p->ranks[method]), y = f->axis - f->row * (bars_height(p) - 0.3 + (double)row);
    double edge = left ? f->left - 0.02 : f->right + 0.02;
    put_line(b, x, f->axis, x, y, 1.0, c->lines[method].color);
    put_line(b, x, y, edge, y, 1.0, c->lines[method].color);
    snprintf(at, sizeof at, "at screen %.4f,%.4f %s tc rgb '%s'", edge + (left ? -0.012 : 0.012), y,
             left ? "right" : "left", c->lines[method].color);
    snprintf(text, sizeof text, "%s  %.2f", c->lines[method].name, p->ranks[method]);
    put_label(b, text, at, 10);
}

static void put_bars(struct buf *b, const struct frame *f, const struct critical_panel *p, size_t n)
{
    for (size_t k = 0; k < p->n_cliques; k++) {
        double low = INFINITY, high = -INFINITY, y = f->axis - f->row * (0.45 + 0.42 * (double)k);
        for (size_t i = 0; i < n; i++)
            if (p->cliques[k] >> i & 1) {
                low = fmin(low, p->ranks[i]);
                high = fmax(high, p->ranks[i]);
            }
        put_line(b, place(f, low) - 0.006, y, place(f, high) + 0.006, y, 3.5, "#444444");
    }
}

static double panel_rows(const struct critical_panel *p, size_t n)
{
    return 3.0 + bars_height(p) + (double)((n + 1) / 2);
}

/* Inches that "name  1.23" takes on either side, by the longest name. */
static double label_width(const struct chart *c)
{
    return fmax(0.92, 0.1 + 0.073 * (double)(longest_name(c) + 6));
}

/* A column, unless long names leave too little of it for the axis. */
static double critical_width(const struct chart *c)
{
    return fmax(COLUMN, 2 * label_width(c) + 0.8);
}

static void put_panel(const struct chart *c, struct buf *b, const struct critical_panel *p, double top,
                      double row)
{
    struct order o = sort_ranks(p->ranks, c->n);
    double side = label_width(c) / critical_width(c);
    struct frame f = {
        .left = side, .right = 1 - side, .axis = top - 2.4 * row, .row = row, .low = o.low, .high = o.high};
    char at[96];
    snprintf(at, sizeof at, "at screen 0.02,%.4f left", top - 0.6 * row);
    put_label(b, p->title, at, 11);
    snprintf(at, sizeof at, "at screen 0.98,%.4f right tc rgb '#555555'", top - 0.6 * row);
    put_label(b, p->remark, at, 8);
    put_axis(b, &f);
    size_t half = (c->n + 1) / 2;
    for (size_t i = 0; i < c->n; i++)
        put_method(c, b, &f, o.at[i], p, i < half ? i + 1 : c->n - i, i < half);
    put_bars(b, &f, p, c->n);
}

wn_status wni_chart_critical(const struct chart *c, const struct critical_panel *panels, size_t n_panels,
                             struct err *err)
{
    assert(c->n <= LINES_MAX);
    struct buf b = {0};
    double rows = 0, row_inches = 0.135, foot = 0.32;
    for (size_t i = 0; i < n_panels; i++)
        rows += panel_rows(&panels[i], c->n);
    double height = rows * row_inches + foot, row = row_inches / height, top = 1;
    put_reset(&b);
    wni_buf_puts(
        &b, "unset border\nunset tics\nunset key\nset xrange [0:1]\nset yrange [0:1]\nset margins 0,0,0,0\n");
    put_note(c, &b, height);
    for (size_t i = 0; i < n_panels; i++) {
        put_panel(c, &b, &panels[i], top, row);
        top -= panel_rows(&panels[i], c->n) * row;
    }
    wni_buf_puts(&b, "plot NaN notitle\n");
    return draw(c, &b, critical_width(c), height, err);
}
