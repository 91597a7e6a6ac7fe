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

void wni_err_prefix(struct err *err, const char *format, ...)
{
    if (!err) return;
    char old[WN_WHY_MAX], prefix[WN_WHY_MAX];
    memcpy(old, err->text, sizeof old);
    va_list args;
    va_start(args, format);
    vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    size_t used = strlen(prefix), room = sizeof err->text;
    memcpy(err->text, prefix, used + 1);
    snprintf(err->text + used, room - used, ": %s", old);
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
