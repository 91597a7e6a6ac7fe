/* err.c -- formats failure messages and names the public status codes. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

wn_status wni_fail(struct err *err, wn_status status, const char *format, ...)
{
    if (!err) return status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

static void append(struct err *err, const char *text)
{
    size_t used = strlen(err->text), room = sizeof err->text - 1 - used, n = strlen(text);
    if (n > room) n = room;
    memcpy(err->text + used, text, n);
    err->text[used + n] = '\0';
}

void wni_err_prefix(struct err *err, const char *format, ...)
{
    if (!err) return;
    struct err old = *err;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    append(err, ": ");
    append(err, old.text);
}

wn_status wni_fail_memory(struct err *err)
{
    return wni_fail(err, WN_ENOMEM, "out of memory");
}

const char *wn_status_text(wn_status status)
{
    switch (status) {
#define X(name, value, text)                                                                                 \
    case WN_##name:                                                                                          \
        return text;
        WN_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}
