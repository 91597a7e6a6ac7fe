/* term.c -- draws on a grid of dots, then writes each 2 x 4 of them as one braille character. */
#include "plot/term.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 10, COLORS = 7 }; /* columns for numbers of the y axis */

static const char *const escapes[COLORS] = {"",         "\033[34m", "\033[33m", "\033[32m",
                                            "\033[31m", "\033[35m", "\033[90m"};

struct canvas {
    int columns, rows; /* characters */
    uint8_t *dots;     /* a braille pattern for each character */
    uint8_t *colors;   /* of the dot drawn last */
    double x0, x1, y0, y1;
    bool log_x, log_y;
};

/* ---- scale ---- */

static bool is_drawn(const struct term_plot *p, double x, double y)
{
    return isfinite(x) && isfinite(y) && (!p->log_x || x > 0) && (!p->log_y || y > 0);
}

static double width_of(const struct canvas *c, double x)
{
    return c->log_x ? log(x) : x;
}

static double height_of(const struct canvas *c, double y)
{
    return c->log_y ? log(y) : y;
}

static bool find_range(const struct term_plot *p, struct canvas *c)
{
    c->x0 = c->y0 = INFINITY;
    c->x1 = c->y1 = -INFINITY;
    for (size_t s = 0; s < p->n; s++)
        for (size_t i = 0; i < p->series[s].n; i++) {
            double x = p->series[s].x[i], y = p->series[s].y[i];
            if (!is_drawn(p, x, y)) continue;
            c->x0 = fmin(c->x0, width_of(c, x));
            c->x1 = fmax(c->x1, width_of(c, x));
            c->y0 = fmin(c->y0, height_of(c, y));
            c->y1 = fmax(c->y1, height_of(c, y));
        }
    if (c->x0 > c->x1) return false;
    if (c->x0 == c->x1) c->x1 = c->x0 + 1;
    if (p->y_min < p->y_max && (!c->log_y || p->y_min > 0)) {
        c->y0 = height_of(c, p->y_min);
        c->y1 = height_of(c, p->y_max);
    }
    if (c->y0 == c->y1) { /* one level: in the middle */
        double around = c->y0 == 0 ? 1 : 0.1 * fabs(c->y0);
        c->y0 -= around;
        c->y1 += around;
    }
    return true;
}

/* ---- dots ---- */

static void put_dot(struct canvas *c, int x, int y, int color)
{
    static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= 2 * c->columns || y >= 4 * c->rows) return;
    size_t at = (size_t)(y / 4) * (size_t)c->columns + (size_t)(x / 2);
    c->dots[at] |= bits[y % 4][x % 2];
    c->colors[at] = (uint8_t)color;
}

static int dot_x(const struct canvas *c, double x)
{
    return (int)lround((width_of(c, x) - c->x0) / (c->x1 - c->x0) * (2 * c->columns - 1));
}

/* Far outside is as good as just outside, and fits in an int. */
static int dot_y(const struct canvas *c, double y)
{
    double at = (c->y1 - height_of(c, y)) / (c->y1 - c->y0) * (4 * c->rows - 1);
    return (int)lround(fmin(fmax(at, -4.0 * c->rows), 8.0 * c->rows));
}

static void put_line(struct canvas *c, int x0, int y0, int x1, int y1, int color)
{
    int n = abs(x1 - x0) > abs(y1 - y0) ? abs(x1 - x0) : abs(y1 - y0);
    for (int i = 0; i <= n; i++) {
        double t = n ? (double)i / n : 0;
        put_dot(c, (int)lround(x0 + t * (x1 - x0)), (int)lround(y0 + t * (y1 - y0)), color);
    }
}

static void put_series(struct canvas *c, const struct term_plot *p, const struct term_series *s)
{
    bool first = true;
    int x0 = 0, y0 = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (!is_drawn(p, s->x[i], s->y[i])) {
            first = s->style == TERM_LINE || first; /* a gap */
            continue;
        }
        int x = dot_x(c, s->x[i]), y = dot_y(c, s->y[i]);
        if (s->style == TERM_POINTS) {
            put_dot(c, x, y < 0 ? 0 : y < 4 * c->rows ? y : 4 * c->rows - 1, s->color);
        } else if (first) {
            put_dot(c, x, y, s->color);
        } else if (s->style == TERM_STEPS) {
            put_line(c, x0, y0, x, y0, s->color);
            put_line(c, x, y0, x, y, s->color);
        } else {
            put_line(c, x0, y0, x, y, s->color);
        }
        first = false;
        x0 = x;
        y0 = y;
    }
}

/* ---- text ---- */

static void put_cell(struct buf *out, const struct canvas *c, const struct term_plot *p, size_t at,
                     int *color)
{
    int wanted = p->color && c->dots[at] ? c->colors[at] : 0;
    if (wanted != *color) {
        if (*color) wni_buf_puts(out, "\033[0m");
        wni_buf_puts(out, escapes[wanted % COLORS]);
        *color = wanted;
    }
    if (!c->dots[at]) {
        wni_buf_putc(out, ' ');
        return;
    }
    int code = 0x2800 + c->dots[at];
    wni_buf_printf(out, "%c%c%c", 0xe0 | code >> 12, 0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f));
}

/* The number at a row: top, middle and bottom have one. */
static void put_y_number(struct buf *out, const struct canvas *c, int row)
{
    char number[32] = "";
    if (row == 0 || row == c->rows - 1 || row == c->rows / 2) {
        double y = c->y1 - (c->y1 - c->y0) * row / (c->rows - 1);
        snprintf(number, sizeof number, "%.4g", c->log_y ? exp(y) : y);
    }
    wni_buf_printf(out, "%*s ┤", LEFT - 2, number);
}

static void put_rows(struct buf *out, const struct canvas *c, const struct term_plot *p)
{
    for (int row = 0; row < c->rows; row++) {
        int color = 0, last = c->columns;
        put_y_number(out, c, row);
        while (last > 0 && !c->dots[(size_t)row * (size_t)c->columns + (size_t)last - 1])
            last--;
        for (int column = 0; column < last; column++)
            put_cell(out, c, p, (size_t)row * (size_t)c->columns + (size_t)column, &color);
        if (color) wni_buf_puts(out, "\033[0m");
        wni_buf_putc(out, '\n');
    }
}

static void put_x_axis(struct buf *out, const struct canvas *c, const struct term_plot *p)
{
    char from[32], to[32];
    wni_buf_printf(out, "%*s └", LEFT - 2, "");
    for (int i = 0; i < c->columns; i++)
        wni_buf_puts(out, "─");
    int n = snprintf(from, sizeof from, "%.4g", c->log_x ? exp(c->x0) : c->x0);
    int m = snprintf(to, sizeof to, "%.4g", c->log_x ? exp(c->x1) : c->x1);
    const char *label = p->x_label ? p->x_label : "";
    int width = (int)wni_utf8_count(label, strlen(label)), room = c->columns - n - m - width;
    int before = room > 0 ? room / 2 : 1;
    wni_buf_printf(out, "\n%*s%s%*s%s%*s%s\n", LEFT, "", from, before, "", label,
                   room - before > 0 ? room - before : 1, "", to);
}

static void put_head(struct buf *out, const struct term_plot *p)
{
    wni_buf_printf(out, "%*s%s", LEFT, "", p->title ? p->title : "");
    if (p->y_label) wni_buf_printf(out, "%s%s", p->title ? ": " : "", p->y_label);
    for (size_t i = 0; i < p->n; i++) {
        const struct term_series *s = &p->series[i];
        if (!s->name) continue;
        const char *escape = p->color ? escapes[s->color % COLORS] : "";
        const char *mark = s->style == TERM_POINTS ? "⠂⠠" : "⠒⠒"; /* told apart without colour too */
        wni_buf_printf(out, "   %s%s%s %s", escape, mark, *escape ? "\033[0m" : "", s->name);
    }
    wni_buf_putc(out, '\n');
}

void wni_term_plot(const struct term_plot *p, struct buf *out)
{
    struct canvas c = {.columns = (p->width < 30 ? 30 : p->width) - LEFT,
                       .rows = (p->height < 8 ? 8 : p->height) - 3,
                       .log_x = p->log_x,
                       .log_y = p->log_y};
    put_head(out, p);
    if (!find_range(p, &c)) {
        wni_buf_printf(out, "%*s(nothing to draw)\n", LEFT, "");
        return;
    }
    size_t cells = (size_t)c.columns * (size_t)c.rows;
    c.dots = wni_new(uint8_t, cells);
    c.colors = wni_new(uint8_t, cells);
    if (c.dots && c.colors) {
        for (size_t i = 0; i < p->n; i++)
            put_series(&c, p, &p->series[i]);
        put_rows(out, &c, p);
        put_x_axis(out, &c, p);
    } else {
        out->failed = true;
    }
    free(c.dots);
    free(c.colors);
}
