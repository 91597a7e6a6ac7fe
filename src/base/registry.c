/* registry.c -- name look-up shared by searchers, schedulers, methods, black boxes and commands. */
#include "base/registry.h"

#include "base/buf.h"
#include "base/closest.h"

#include <string.h>

enum { NAMES_MAX = 256, LISTED_MAX = 32 };

static wn_status fail_unknown(const char *what, const char *name, const char *const *names, size_t n,
                              struct err *err)
{
    const char *near = wni_closest(name, names, n);
    if (near) return wni_fail(err, WN_EINVAL, "unknown %s '%s'; did you mean '%s'?", what, name, near);
    struct buf list = {0};
    for (size_t i = 0; i < n && i < LISTED_MAX; i++)
        wni_buf_printf(&list, "%s%s", i ? ", " : "", names[i]);
    wn_status st = wni_fail(err, WN_EINVAL, "unknown %s '%s'; there are %s%s", what, name,
                            wni_buf_text(&list), n > LISTED_MAX ? ", ..." : "");
    wni_buf_release(&list);
    return st;
}

ptrdiff_t wni_registry_find(const char *what, const char *name, size_t n, const char *(*name_at)(size_t),
                            struct err *err)
{
    const char *names[NAMES_MAX] = {0};
    if (n > NAMES_MAX) n = NAMES_MAX;
    for (size_t i = 0; i < n; i++) {
        names[i] = name_at(i);
        if (!strcmp(names[i], name)) return (ptrdiff_t)i;
    }
    fail_unknown(what, name, names, n, err);
    return -1;
}
