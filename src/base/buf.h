/* buf.h -- a growing string with a ceiling.
 *
 * Failure is sticky: append as often as needed, look at `failed` once at the end.  The ceiling keeps hostile
 * input (a runaway log line, a huge HTTP body) from becoming swap: past it the buffer fails like an
 * allocation does. */
#ifndef WNI_BASE_BUF_H
#define WNI_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* zero-terminated once anything was added; NULL when empty */
    size_t len;
    size_t cap;
    size_t limit; /* most bytes it may hold; 0: 1 GiB */
    bool failed;  /* out of memory, or over the limit; later appends do nothing */
};

void wni_buf_release(struct buf *b); /* frees; the buffer is empty and usable again, its limit kept */
void wni_buf_clear(struct buf *b);   /* empties, keeps the memory */

void wni_buf_add(struct buf *b, const void *bytes, size_t n);
void wni_buf_puts(struct buf *b, const char *text);
void wni_buf_putc(struct buf *b, char c);
void wni_buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void wni_buf_double(struct buf *b, double x);              /* wni_format_double() */
void wni_buf_json_string(struct buf *b, const char *text); /* with its quotes */
void wni_buf_json_double(struct buf *b, double x);         /* null where JSON has no number for it */
void wni_buf_json_doubles(struct buf *b, const double *x, size_t n); /* a list of them */
void wni_buf_csv_field(struct buf *b, const char *text);             /* quoted when it must be */
void wni_buf_shell(struct buf *b, const char *text); /* a word for a POSIX shell, quoted when it must be */
const char *wni_buf_text(const struct buf *b);       /* "" when empty */

#endif
