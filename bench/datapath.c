/* datapath.c -- where black boxes are looked for. */
#include "bench/tasks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Puts a directory on the list when it is there. */
static void add_if_there(struct buf *out, const char *path)
{
    struct stat info;
    if (strchr(path, ':') || stat(path, &info) || !S_ISDIR(info.st_mode)) return;
    if (out->len) wni_buf_putc(out, ':');
    wni_buf_puts(out, path);
}

/* Cuts the last component off; false when there is none. */
static bool to_parent(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return slash;
}

static void add_bundled(struct buf *out)
{
    static const char *const places[] = {"data",
                                         "share/winnow/data"}; /* a build inside the clone; an installation */
    char prefix[PATH_MAX], path[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", prefix, sizeof prefix - 1);
    if (n <= 0) return;
    prefix[n] = '\0';
    if (!to_parent(prefix) || !to_parent(prefix)) return; /* /usr/bin/winnow: /usr */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s", prefix, places[i]);
        add_if_there(out, path);
    }
}

void wni_data_path(const char *flag, struct buf *out)
{
    const char *given = flag ? flag : getenv("WINNOW_DATA");
    if (given) wni_buf_puts(out, given);
    add_bundled(out);
}
