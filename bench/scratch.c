/* scratch.c -- a folder of one's own, and its removal. */
#define _GNU_SOURCE
#include "bench/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

wn_status wni_scratch_make(char folder[SCRATCH_MAX], struct err *err)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || !*parent) parent = "/tmp";
    int n = snprintf(folder, SCRATCH_MAX, "%s/winnow-bench-XXXXXX", parent);
    if (n >= SCRATCH_MAX) return wni_fail(err, WN_EINVAL, "the name of TMPDIR is too long");
    if (!mkdtemp(folder))
        return wni_fail(err, WN_EIO, "cannot make a folder in '%s': %s", parent, strerror(errno));
    return WN_OK;
}

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *where)
{
    (void)s, (void)kind, (void)where;
    return remove(path);
}

void wni_scratch_remove(const char *folder)
{
    nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
