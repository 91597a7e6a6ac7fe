/* buf.c -- growing strings. */
#include "base/buf.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_LIMIT = 1 << 30, SMALLEST = 64 };

void wni_buf_release(struct buf *b)
{
    free(b->data);
    *b = (struct buf){.limit = b->limit};
}

void wni_buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data) b->data[0] = '\0';
}

/* Room for n more bytes and the terminating zero. */
static bool reserve(struct buf *b, size_t n)
{
    if (b->failed) return false;
    size_t limit = b->limit ? b->limit : DEFAULT_LIMIT;
    size_t need = n > limit - b->len ? 0 : b->len + n + 1;
    if (need && need < SMALLEST) need = SMALLEST;
    if (!need || !wni_reserve((void **)&b->data, &b->cap, need, 1)) b->failed = true;
    return !b->failed;
}

void wni_buf_add(struct buf *b, const void *bytes, size_t n)
{
    if (!reserve(b, n)) return;
    if (n) memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void wni_buf_puts(struct buf *b, const char *text)
{
    wni_buf_add(b, text, strlen(text));
}

void wni_buf_putc(struct buf *b, char c)
{
    wni_buf_add(b, &c, 1);
}

void wni_buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    if (b->failed) return;
    size_t room = b->cap - b->len; /* what fits is printed only once */
    va_start(args, format);
    int n = vsnprintf(room ? b->data + b->len : NULL, room, format, args);
    va_end(args);
    if (n < 0 || !reserve(b, (size_t)n)) {
        if (room) b->data[b->len] = '\0';
        b->failed = true;
        return;
    }
    if ((size_t)n >= room) {
        va_start(args, format);
        vsnprintf(b->data + b->len, (size_t)n + 1, format, args);
        va_end(args);
    }
    b->len += (size_t)n;
}

void wni_buf_double(struct buf *b, double x)
{
    char text[WNI_NUMBER_MAX];
    wni_buf_add(b, text, wni_format_double(x, text));
}

void wni_buf_json_double(struct buf *b, double x)
{
    if (isfinite(x))
        wni_buf_double(b, x);
    else
        wni_buf_puts(b, "null");
}

void wni_buf_json_doubles(struct buf *b, const double *x, size_t n)
{
    wni_buf_putc(b, '[');
    for (size_t i = 0; i < n; i++) {
        if (i) wni_buf_puts(b, ", ");
        wni_buf_json_double(b, x[i]);
    }
    wni_buf_putc(b, ']');
}

static void json_char(struct buf *b, unsigned char c)
{
    switch (c) {
    case '"':
        wni_buf_puts(b, "\\\"");
        break;
    case '\\':
        wni_buf_puts(b, "\\\\");
        break;
    case '\n':
        wni_buf_puts(b, "\\n");
        break;
    case '\t':
        wni_buf_puts(b, "\\t");
        break;
    case '\r':
        wni_buf_puts(b, "\\r");
        break;
    default:
        if (c < 0x20)
            wni_buf_printf(b, "\\u%04x", c);
        else
            wni_buf_putc(b, (char)c);
    }
}

void wni_buf_json_string(struct buf *b, const char *text)
{
    wni_buf_putc(b, '"');
    for (; *text; text++)
        json_char(b, (unsigned char)*text);
    wni_buf_putc(b, '"');
}

void wni_buf_csv_field(struct buf *b, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        wni_buf_puts(b, text);
        return;
    }
    wni_buf_putc(b, '"');
    for (; *text; text++) {
        if (*text == '"') wni_buf_putc(b, '"');
        wni_buf_putc(b, *text);
    }
    wni_buf_putc(b, '"');
}

const char *wni_buf_text(const struct buf *b)
{
    return b->data ? b->data : "";
}

void wni_buf_shell(struct buf *b, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,/:@%";
    if (*text && text[strspn(text, plain)] == '\0') {
        wni_buf_puts(b, text);
        return;
    }
    wni_buf_putc(b, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            wni_buf_puts(b, "'\\''");
        else
            wni_buf_putc(b, *text);
    }
    wni_buf_putc(b, '\'');
}
