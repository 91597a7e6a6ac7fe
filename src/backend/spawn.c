/* spawn.c -- environments, and processes that run in our memory until they execute their program.
 *
 * fork() copies page tables, so a start would cost more the larger the runner has become.  vfork() and
 * posix_spawn() share the memory instead, but stand still until the program is executed: milliseconds on a
 * busy machine, in which others end and report.  So we call clone() ourselves: memory shared, a small stack
 * of its own, and the runner goes on at once (64 trials of 50 ms on 2 cores: twice as many a second).
 *
 * The price: the new process runs beside us in the same memory.  It writes to nothing but its stack, `stuck`
 * and `error`, makes system calls without the C library (whose errno is ours), and has all signals blocked
 * until none of our handlers is left. */
#define _GNU_SOURCE
#include "backend/spawn.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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
    enum { MORE = 16 }; /* those that will be added */
    *to = (struct environment){.failed = from->failed};
    if (!wni_reserve((void **)&to->items, &to->cap, from->n + MORE, sizeof *to->items)) to->failed = true;
    for (size_t i = 0; i < from->n; i++)
        add_item(to, from->items[i]);
}

static size_t find_item(const struct environment *e, const char *name)
{
    size_t n = strlen(name), i = 0;
    while (i < e->n &&
           (e->items[i][0] != *name || strncmp(e->items[i], name, n) != 0 || e->items[i][n] != '='))
        i++;
    return i;
}

bool wni_environment_has(const struct environment *e, const char *name)
{
    return find_item(e, name) < e->n;
}

void wni_environment_set(struct environment *e, const char *name, const char *format, ...)
{
    char value[1024]; /* most fit, and need not be printed twice */
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
    if ((size_t)n < sizeof value) {
        memcpy(item + before, value, (size_t)n);
    } else {
        va_start(args, format);
        vsnprintf(item + before, (size_t)n + 1, format, args);
        va_end(args);
    }
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

/* ---- in the new process ---- */

/* Sanitizers keep books in thread-local memory, which is ours. */
#define BARE __attribute__((no_sanitize("address"), no_sanitize("thread"), no_sanitize("undefined")))

#if defined __SANITIZE_THREAD__
#define WATCHED 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif

#if defined __x86_64__ && !defined WATCHED
enum { SIDE_BY_SIDE = 1 };

BARE static long call(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    long result;
    register uintptr_t fourth __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined __aarch64__ && !defined WATCHED
enum { SIDE_BY_SIDE = 1 };

BARE static long call(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    register long what __asm__("x8") = number;
    register uintptr_t first __asm__("x0") = a, second __asm__("x1") = b;
    register uintptr_t third __asm__("x2") = c, fourth __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(first) : "r"(what), "r"(second), "r"(third), "r"(fourth) : "memory");
    return (long)first;
}
#else
enum { SIDE_BY_SIDE = 0 }; /* errno is free to use: we stand still, as with vfork() */

BARE static long call(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    long result = syscall(number, a, b, c, d);
    return result < 0 ? -errno : result;
}
#endif

/* As a fresh program expects them: none ignored, none blocked.  Ours are handled in our memory, so that none
 * may come before the last is gone. */
BARE static void reset_signals(void)
{
    enum {
        SET = 8,
        ACTION = 64
    }; /* bytes: of the kernel's set of signals; no less than its struct sigaction */
    uint64_t zero[ACTION / 8] = {0}; /* SIG_DFL, no flags; no signals */
    for (unsigned i = 1; i <= 64; i++)
        call(SYS_rt_sigaction, i, (uintptr_t)zero, 0, SET);
    call(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)zero, 0, SET);
}

BARE static long open_path(const char *path, int flags)
{
    return call(SYS_openat, (uintptr_t)AT_FDCWD, (uintptr_t)path, (uintptr_t)flags, 0666);
}

BARE static void close_file(long file)
{
    call(SYS_close, (uintptr_t)file, 0, 0, 0);
}

BARE static long make_folder(const char *path)
{
    long result = call(SYS_mkdirat, (uintptr_t)AT_FDCWD, (uintptr_t)path, 0777, 0);
    if (result != -EEXIST) return result;
    long folder = open_path(path, O_PATH | O_DIRECTORY); /* or a file of that name? */
    if (folder >= 0) close_file(folder);
    return folder;
}

BARE static long make_file(const struct making *m)
{
    long file = open_path(m->path, O_WRONLY | O_CREAT | O_TRUNC), n = 1;
    if (file < 0) return file;
    for (size_t at = 0; at < m->length && n > 0; at += (size_t)n)
        n = call(SYS_write, (uintptr_t)file, (uintptr_t)(m->text + at), m->length - at, 0);
    close_file(file);
    return n;
}

BARE static long put_file(const char *path, int flags, int place)
{
    long file = open_path(path, flags);
    if (file < 0 || file == place) return file;
    long result = call(SYS_dup3, (uintptr_t)file, (uintptr_t)place, 0, 0);
    close_file(file);
    return result;
}

BARE static long make(const struct making *m)
{
    if (m->kind == MAKE_FOLDER) return make_folder(m->path);
    if (m->kind == MAKE_FILE) return make_file(m);
    return put_file(m->path, O_RDWR | O_CREAT | O_APPEND, m->place);
}

BARE static long make_all(struct spawn *s)
{
    long result = put_file("/dev/null", O_RDONLY, 0);
    for (size_t i = 0; i < s->n_makings && result >= 0; i++) {
        result = make(&s->makings[i]);
        if (result < 0) s->stuck = &s->makings[i];
    }
    return result;
}

/* Tries the places where the program may be; comes back with the reason only when it is in none. */
BARE static long execute(const struct spawn *s)
{
    long denied = 0, result = -ENOENT;
    for (const char *const *at = s->places; *at; at++) {
        result = call(SYS_execve, (uintptr_t)*at, (uintptr_t)s->argv, (uintptr_t)s->env.items, 0);
        if (result == -EACCES) denied = result;
        if (result != -EACCES && result != -ENOENT && result != -ENOTDIR) return result;
    }
    return denied ? denied : result;
}

BARE static int be_born(void *context)
{
    struct spawn *s = context;
    call(SYS_setsid, 0, 0, 0, 0);
    reset_signals();
    long failed = make_all(s);
    if (failed >= 0) failed = execute(s);
    __atomic_store_n(&s->error, (int)-failed, __ATOMIC_RELEASE);
    call(SYS_exit_group, 127, 0, 0, 0);
    return 127; /* never */
}

/* ---- in ours ---- */

/* NAME in a folder of PATH; an empty one is the current. */
static const char *join(struct arena *arena, const char *folder, size_t n, const char *name)
{
    size_t length = strlen(name) + 1;
    char *path = arena_new(arena, char, n + 1 + length);
    if (!path) return NULL;
    memcpy(path, folder, n);
    path[n] = '/';
    memcpy(path + n + (n > 0), name, length);
    return path;
}

/* Where the program may be: the name itself, or in each folder of PATH. */
static bool find_places(struct spawn *s)
{
    const char *path = getenv("PATH"), *name = s->argv[0];
    size_t n = 0, most = 1;
    bool search = path && *path && !strchr(name, '/');
    for (const char *at = path; search && *at; at++)
        most += *at == ':';
    s->places = arena_new(&s->arena, const char *, most + 1);
    if (!s->places) return false;
    if (!search) s->places[n++] = name;
    while (n < most && search) {
        size_t length = strcspn(path, ":");
        s->places[n] = join(&s->arena, path, length, name);
        if (!s->places[n++]) return false;
        path += length + 1;
    }
    return true;
}

wn_status wni_spawn(struct spawn *s, pid_t *pid, struct err *err)
{
    enum { STACK = 1 << 14 };
    sigset_t all, before;
    if (!s->stack) s->stack = malloc(STACK);
    if (s->env.failed || !s->stack || !find_places(s)) return wni_fail_memory(err);
    s->error = 0;
    s->stuck = NULL;
    s->near = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int flags = CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | (SIDE_BY_SIDE ? 0 : CLONE_VFORK);
    int made = clone(be_born, s->stack + STACK, flags | SIGCHLD, s, pid, NULL, &s->near);
    int failed = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made > 0) return WN_OK;
    s->near = 0;
    if (failed == ENOMEM) return wni_fail_memory(err);
    return wni_fail(err, WN_EIO, "cannot start a process: %s", strerror(failed));
}

bool wni_spawn_is_near(const struct spawn *s)
{
    return __atomic_load_n(&s->near, __ATOMIC_ACQUIRE) != 0;
}

wn_status wni_spawn_result(const struct spawn *s, struct err *err)
{
    static const char *const verbs[] = {
        [MAKE_FOLDER] = "make folder", [MAKE_FILE] = "write", [MAKE_OUTPUT] = "open"};
    int failed = __atomic_load_n(&s->error, __ATOMIC_ACQUIRE);
    if (!failed) return WN_OK;
    if (failed == ENOMEM) return wni_fail_memory(err);
    if (s->stuck)
        return wni_fail(err, WN_EIO, "cannot %s '%s': %s", verbs[s->stuck->kind], s->stuck->path,
                        strerror(failed));
    return wni_fail(err, failed == ENOENT || failed == EACCES || failed == ENOEXEC ? WN_EINVAL : WN_EIO,
                    "cannot run '%s': %s", s->argv[0], strerror(failed));
}

void wni_spawn_clear(struct spawn *s)
{
    wni_environment_release(&s->env);
    wni_arena_release(&s->arena);
    *s = (struct spawn){.stack = s->stack};
}

void wni_spawn_release(struct spawn *s)
{
    wni_spawn_clear(s);
    free(s->stack);
    s->stack = NULL;
}
