/* page.h -- one HTML page that needs nothing else: style and figures are inside. */
#ifndef WNI_BENCH_PAGE_H
#define WNI_BENCH_PAGE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct page {
    struct buf html;
    const char *directory; /* of its figures */
    size_t n_figures;
    size_t top;  /* where the contents go: behind the title */
    bool in_row; /* of a table */
};

void wni_page_begin(struct page *p, const char *directory, const char *title);
void wni_page_heading(struct page *p, int level, const char *id, const char *text);
void wni_page_text(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A figure that was drawn in the directory, with links to its files; WN_ENOTFOUND when it was not. */
wn_status wni_page_figure(struct page *p, const char *name, const char *caption, struct err *err);

/* Rows fill up from left to right, as many cells as there are columns. */
void wni_page_table(struct page *p, const char *caption, const char *const *columns, size_t n);
void wni_page_row(struct page *p);
void wni_page_cell(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void wni_page_number(struct page *p, int digits,
                     double x); /* right-aligned, significant digits; NAN: a dash */
/* Right-aligned; the strong one of a row stands out. */
void wni_page_value(struct page *p, bool strong, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A mean with its standard error below it; NAN: it is not known. */
void wni_page_estimate(struct page *p, bool strong, double mean, double error);
void wni_page_table_end(struct page *p);

/* Puts the headings of level 2 on top, writes the page and releases it. */
wn_status wni_page_write(struct page *p, const char *name, struct err *err);
void wni_page_release(struct page *p);

#endif
