/* page.c -- writes HTML. */
#include "bench/page.h"

#include "plot/figure.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 4096 };

static const char *const style =
    "body{font:16px/1.45 system-ui,sans-serif;color:#222;max-width:72rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.7rem}h2{margin-top:2.6rem;border-bottom:1px solid #ccc;padding-bottom:.2rem}"
    "h3{margin-top:1.8rem}p{max-width:48rem}"
    "table{border-collapse:collapse;font-size:.86rem;margin:1rem 0}caption{text-align:left;color:#555;"
    "padding:.3rem 0}th,td{padding:.18rem .6rem;text-align:left;border-bottom:1px solid "
    "#eee;vertical-align:top}"
    "th{border-bottom:1px solid #999;vertical-align:bottom}td.n{text-align:right;font-variant-numeric:"
    "tabular-nums}td.n,td.s{white-space:nowrap}"
    ".scroll{overflow-x:auto}.figures{display:flex;flex-wrap:wrap;gap:1.5rem;align-items:flex-start}"
    "figure{margin:1rem 0;max-width:100%}.figures figure{width:22rem}figure svg{max-width:100%;height:auto}"
    "figcaption{font-size:.82rem;color:#555;max-width:44rem}"
    ".holds{color:#00684a;font-weight:600}.fails{color:#a33a00;font-weight:600}.open{color:#555;font-weight:"
    "600}"
    "nav a{margin-right:1rem;white-space:nowrap}code{font-size:.85em}";

/* Text as HTML shows it. */
static void put_escaped(struct buf *b, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            wni_buf_puts(b, "&lt;");
        else if (*text == '>')
            wni_buf_puts(b, "&gt;");
        else if (*text == '&')
            wni_buf_puts(b, "&amp;");
        else if (*text == '"')
            wni_buf_puts(b, "&quot;");
        else
            wni_buf_putc(b, *text);
    }
}

__attribute__((format(printf, 2, 0))) static void put_format(struct buf *b, const char *format,
                                                             va_list values)
{
    char text[TEXT_MAX];
    vsnprintf(text, sizeof text, format, values);
    put_escaped(b, text);
}

void wni_page_begin(struct page *p, const char *directory, const char *title)
{
    *p = (struct page){.directory = directory};
    wni_buf_puts(&p->html, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                           "<meta name=\"viewport\" content=\"width=device-width\"><title>");
    put_escaped(&p->html, title);
    wni_buf_printf(&p->html, "</title>\n<style>%s</style></head><body>\n<h1>", style);
    put_escaped(&p->html, title);
    wni_buf_puts(&p->html, "</h1>\n");
    p->top = p->html.len;
}

void wni_page_heading(struct page *p, int level, const char *id, const char *text)
{
    wni_buf_printf(&p->html, "<h%d id=\"", level);
    put_escaped(&p->html, id);
    wni_buf_puts(&p->html, "\">");
    put_escaped(&p->html, text);
    wni_buf_printf(&p->html, "</h%d>\n", level);
}

void wni_page_text(struct page *p, const char *format, ...)
{
    va_list values;
    wni_buf_puts(&p->html, "<p>");
    va_start(values, format);
    put_format(&p->html, format, values);
    va_end(values);
    wni_buf_puts(&p->html, "</p>\n");
}

/* ---- figures ---- */

static wn_status read_svg(const char *directory, const char *name, struct buf *out, struct err *err)
{
    struct buf path = {0};
    wni_buf_printf(&path, "%s/%s.svg", directory, name);
    FILE *file = path.failed ? NULL : fopen(path.data, "rb");
    char block[16384];
    size_t n;
    wn_status st = path.failed ? wni_fail_memory(err) : WN_OK;
    if (!st && !file) st = wni_fail(err, WN_ENOTFOUND, "cannot read '%s': %s", path.data, strerror(errno));
    while (file && (n = fread(block, 1, sizeof block, file)) > 0)
        wni_buf_add(out, block, n);
    if (file) fclose(file);
    wni_buf_release(&path);
    return !st && out->failed ? wni_fail_memory(err) : st;
}

/* Ids must be unique in a page: each figure's get a prefix.  gnuplot uses single and double quotes. */
static void put_svg(struct page *p, const char *svg)
{
    static const char *const marks[] = {"id=\"", "id='", "href=\"#", "href='#", "url(#"};
    while (*svg) {
        size_t k = 0, length = 0;
        for (; k < sizeof marks / sizeof *marks; k++) {
            length = strlen(marks[k]);
            if (!strncmp(svg, marks[k], length)) break;
        }
        if (k == sizeof marks / sizeof *marks) {
            wni_buf_putc(&p->html, *svg++);
            continue;
        }
        wni_buf_printf(&p->html, "%sf%zu-", marks[k], p->n_figures);
        svg += length;
    }
}

/* The drawing would fill the page, however small it is: a figure of one panel is not magnified beyond what
 * one of the width of a page needs. */
static void put_figure_start(struct page *p, const char *svg)
{
    static const double magnified = 1.75;
    const char *box = strstr(svg, "viewBox=\"0 0 ");
    double width = box ? strtod(box + strlen("viewBox=\"0 0 "), NULL) : 0;
    if (width > 0)
        wni_buf_printf(&p->html, "<figure style=\"max-width:min(100%%,%.0fpx)\">", magnified * width);
    else
        wni_buf_puts(&p->html, "<figure>");
}

static bool has_file(const struct page *p, const char *name, const char *ending)
{
    struct buf path = {0};
    wni_buf_printf(&path, "%s/%s.%s", p->directory, name, ending);
    bool there = !path.failed && access(path.data, R_OK) == 0;
    wni_buf_release(&path);
    return there;
}

/* To the files of a figure, which lie beside the page. */
static void put_links(struct page *p, const char *name)
{
    static const char *const endings[] = {"svg", "png", "pdf", "csv"};
    const char *before = ": ";
    wni_buf_printf(&p->html, " (%s", name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (!has_file(p, name, endings[i])) continue;
        wni_buf_printf(&p->html, "%s<a href=\"%s.%s\">%s</a>", before, name, endings[i], endings[i]);
        before = ", ";
    }
    wni_buf_puts(&p->html, ")");
}

wn_status wni_page_figure(struct page *p, const char *name, const char *caption, struct err *err)
{
    struct buf svg = {0};
    wn_status st = read_svg(p->directory, name, &svg, err);
    const char *start = st ? NULL : strstr(wni_buf_text(&svg), "<svg"); /* without the XML declaration */
    p->n_figures++;
    if (!st && start) {
        put_figure_start(p, start);
        put_svg(p, start);
        wni_buf_puts(&p->html, "<figcaption>");
        put_escaped(&p->html, caption);
        put_links(p, name);
        wni_buf_puts(&p->html, "</figcaption></figure>\n");
    } else if (!st) {
        st = wni_fail(err, WN_EIO, "'%s/%s.svg' is not a drawing", p->directory, name);
    }
    wni_buf_release(&svg);
    return st;
}

/* ---- tables ---- */

void wni_page_table(struct page *p, const char *caption, const char *const *columns, size_t n)
{
    wni_buf_puts(&p->html, "<div class=\"scroll\"><table><caption>");
    put_escaped(&p->html, caption);
    wni_buf_puts(&p->html, "</caption>\n<thead><tr>");
    for (size_t i = 0; i < n; i++) {
        wni_buf_puts(&p->html, "<th>");
        put_escaped(&p->html, columns[i]);
        wni_buf_puts(&p->html, "</th>");
    }
    wni_buf_puts(&p->html, "</tr></thead><tbody>\n");
}

void wni_page_row(struct page *p)
{
    wni_buf_puts(&p->html, p->in_row ? "</tr>\n<tr>" : "<tr>");
    p->in_row = true;
}

/* Short text stays in one line: a name is not broken at its hyphens, a mark not parted from it. */
void wni_page_cell(struct page *p, const char *format, ...)
{
    enum { SHORT = 40 };
    char text[TEXT_MAX];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    wni_buf_puts(&p->html, strlen(text) <= SHORT ? "<td class=\"s\">" : "<td>");
    put_escaped(&p->html, text);
    wni_buf_puts(&p->html, "</td>");
}

void wni_page_value(struct page *p, bool strong, const char *format, ...)
{
    va_list values;
    wni_buf_puts(&p->html, strong ? "<td class=\"n\"><b>" : "<td class=\"n\">");
    va_start(values, format);
    put_format(&p->html, format, values);
    va_end(values);
    wni_buf_puts(&p->html, strong ? "</b></td>" : "</td>");
}

void wni_page_estimate(struct page *p, bool strong, double mean, double error)
{
    wni_buf_printf(&p->html, strong ? "<td class=\"n\"><b>%.5g</b>" : "<td class=\"n\">%.5g", mean);
    if (!isnan(error)) wni_buf_printf(&p->html, "<br>± %.1g", error);
    wni_buf_puts(&p->html, "</td>");
}

void wni_page_number(struct page *p, int digits, double x)
{
    if (isnan(x))
        wni_buf_puts(&p->html, "<td class=\"n\">–</td>");
    else
        wni_buf_printf(&p->html, "<td class=\"n\">%.*g</td>", digits, x);
}

void wni_page_table_end(struct page *p)
{
    wni_buf_puts(&p->html, p->in_row ? "</tr>\n</tbody></table></div>\n" : "</tbody></table></div>\n");
    p->in_row = false;
}

/* A link to each heading of level 2, as it was written: <h2 id="X">Y</h2> becomes <a href="#X">Y</a>. */
static void put_contents(const char *html, struct buf *out)
{
    static const char start[] = "<h2 id=\"", end[] = "</h2>";
    wni_buf_puts(out, "<nav>");
    while ((html = strstr(html, start))) {
        html += sizeof start - 1;
        const char *stop = strstr(html, end);
        if (!stop) break;
        wni_buf_puts(out, "<a href=\"#");
        wni_buf_add(out, html, (size_t)(stop - html));
        wni_buf_puts(out, "</a> ");
        html = stop;
    }
    wni_buf_puts(out, "</nav>\n");
}

wn_status wni_page_write(struct page *p, const char *name, struct err *err)
{
    struct buf whole = {0};
    wni_buf_puts(&p->html, "</body></html>\n");
    const char *html = wni_buf_text(&p->html);
    wni_buf_add(&whole, html, p->html.failed ? 0 : p->top);
    put_contents(html, &whole);
    wni_buf_puts(&whole, p->html.failed ? "" : html + p->top);
    if (p->html.failed) whole.failed = true;
    wn_status st = wni_write_file(p->directory, name, &whole, err);
    wni_buf_release(&whole);
    wni_page_release(p);
    return st;
}

void wni_page_release(struct page *p)
{
    wni_buf_release(&p->html);
}
