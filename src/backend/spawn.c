/* spawn.c -- posix_spawn, not uv_spawn: the latter forks, which copies page tables, so that a start costs
 * more the larger the runner has become; the C library's shares the memory until the program is executed. */
#define _GNU_SOURCE
#include "backend/spawn.h"

#include "base/mem.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- environment ---- */

static void add_item(struct environment *e, const char *item)
{
    if (!item || !wni_reserve((void **)&e->items, &e->cap, e->n + 2, sizeof *e->items)) {
        e->failed = true;
        return;
    }
    e->items[e->n++] = item;
    e->items[e->n] = NULL;
}

void wni_environment_init(struct environment *e, char *const *inherited)
{
    *e = (struct environment){0};
    for (; *inherited; inherited++) /* a runner may run inside a trial: its own are not ours */
        if (strncmp(*inherited, "WINNOW_", 7) != 0) add_item(e, wni_arena_strdup(&e->arena, *inherited));
}

void wni_environment_copy(struct environment *to, const struct environment *from)
{
    *to = (struct environment){.failed = from->failed};
    for (size_t i = 0; i < from->n; i++)
        add_item(to, from->items[i]);
}

static size_t find_item(const struct environment *e, const char *name)
{
    size_t n = strlen(name), i = 0;
    while (i < e->n && (strncmp(e->items[i], name, n) != 0 || e->items[i][n] != '='))
        i++;
    return i;
}

bool wni_environment_has(const struct environment *e, const char *name)
{
    return find_item(e, name) < e->n;
}

void wni_environment_set(struct environment *e, const char *name, const char *format, ...)
{
    char value[256];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(value, sizeof value, format, args);
    va_end(args);
    size_t before = strlen(name) + 1, at = find_item(e, name);
    char *item = n < 0 ? NULL : arena_new(&e->arena, char, before + (size_t)n + 1);
    if (!item) {
        e->failed = true;
        return;
    }
    memcpy(item, name, before - 1);
    item[before - 1] = '=';
    va_start(args, format);
    vsnprintf(item + before, (size_t)n + 1, format, args);
    va_end(args);
    if (at < e->n)
        e->items[at] = item;
    else
        add_item(e, item);
}

void wni_environment_release(struct environment *e)
{
    free(e->items);
    wni_arena_release(&e->arena);
    *e = (struct environment){0};
}

/* ---- processes ---- */

/* Signals as a fresh program expects them: none blocked, none ignored. */
static int set_signals(posix_spawnattr_t *attr)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    int failed = posix_spawnattr_setsigdefault(attr, &all);
    if (!failed) failed = posix_spawnattr_setsigmask(attr, &none);
    return failed ? failed
                  : posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                                       POSIX_SPAWN_SETSIGMASK);
}

static int set_files(posix_spawn_file_actions_t *files, int out, int err_out)
{
    int failed = posix_spawn_file_actions_addopen(files, 0, "/dev/null", 0, 0);
    if (!failed) failed = posix_spawn_file_actions_adddup2(files, out, 1);
    return failed ? failed : posix_spawn_file_actions_adddup2(files, err_out, 2);
}

wn_status wni_spawn(const char *const *argv, const struct environment *env, int out, int err_out, pid_t *pid,
                    struct err *err)
{
    posix_spawnattr_t attr;
    posix_spawn_file_actions_t files;
    int failed = posix_spawnattr_init(&attr);
    if (failed) return wni_fail_memory(err);
    failed = posix_spawn_file_actions_init(&files);
    if (!failed) {
        failed = set_signals(&attr);
        if (!failed) failed = set_files(&files, out, err_out);
        if (!failed)
            failed =
                posix_spawnp(pid, argv[0], &files, &attr, (char *const *)argv, (char *const *)env->items);
        posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&attr);
    if (!failed) return WN_OK;
    if (failed == ENOMEM) return wni_fail_memory(err);
    return wni_fail(err, failed == ENOENT || failed == EACCES || failed == ENOEXEC ? WN_EINVAL : WN_EIO,
                    "cannot run '%s': %s", argv[0], strerror(failed));
}
