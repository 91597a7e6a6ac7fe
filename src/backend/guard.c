/* guard.c -- the process that ends what a killed runner left.
 *
 * It is forked without exec from a process that may have threads, so it calls nothing but system calls: its
 * memory was allocated before. */
#define _GNU_SOURCE
#include "backend/guard.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHECKS_PER_SECOND = 20 };

struct watch {
    int pipe;
    int32_t *groups; /* 0: free */
    size_t n;
    double grace;
};

static void note(const struct watch *w, int32_t message)
{
    int32_t find = message > 0 ? 0 : -message;
    for (size_t i = 0; i < w->n; i++) {
        if (w->groups[i] != find) continue;
        w->groups[i] = message > 0 ? message : 0;
        return;
    }
}

static size_t signal_all(const struct watch *w, int signal)
{
    size_t alive = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->groups[i] && kill(-w->groups[i], signal) == 0) alive++;
    return alive;
}

static void end_all(const struct watch *w)
{
    static const struct timespec moment = {.tv_nsec = 1000000000 / CHECKS_PER_SECOND};
    if (signal_all(w, SIGTERM) == 0) return;
    for (double waited = 0; waited < w->grace && signal_all(w, 0) > 0; waited += 1.0 / CHECKS_PER_SECOND)
        nanosleep(&moment, NULL);
    signal_all(w, SIGKILL);
}

static _Noreturn void stand_guard(const struct watch *w)
{
    int32_t message;
    ssize_t n;
    do {
        n = read(w->pipe, &message, sizeof message); /* whole messages: writes this small are atomic */
        if (n == (ssize_t)sizeof message) note(w, message);
    } while (n > 0 || (n < 0 && errno == EINTR));
    end_all(w);
    _exit(0);
}

/* Own session, no files but the pipe, deaf to what ends the runner. */
static void step_aside(struct watch *w)
{
    static const int deaf[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    sigset_t none;
    sigemptyset(&none);
    setsid();
    for (size_t i = 0; i < sizeof deaf / sizeof *deaf; i++)
        signal(deaf[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    w->pipe = dup2(w->pipe, 0);
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 1U, ~0U, 0U) == 0) return;
#endif
    for (int fd = 1; fd < 4096; fd++)
        close(fd);
}

wn_status wni_guard_open(struct guard *g, unsigned most, double grace, struct err *err)
{
    int ends[2];
    *g = (struct guard){.pipe = -1};
    struct watch w = {.groups = wni_new(int32_t, most), .n = most, .grace = grace};
    if (!w.groups) return wni_fail_memory(err);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        free(w.groups);
        return wni_fail(err, WN_EIO, "cannot make a pipe: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        w.pipe = ends[0];
        step_aside(&w);
        stand_guard(&w);
    }
    int why = errno;
    free(w.groups);
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return wni_fail(err, WN_EIO, "cannot start a process: %s", strerror(why));
    }
    *g = (struct guard){.pid = pid, .pipe = ends[1]};
    return WN_OK;
}

/* A guard that has gone is no reason to fail a study: it only matters if the runner is killed too. */
static void tell(const struct guard *g, int32_t message)
{
    if (g->pid && write(g->pipe, &message, sizeof message) < 0) return;
}

void wni_guard_add(const struct guard *g, pid_t group)
{
    tell(g, (int32_t)group);
}

void wni_guard_remove(const struct guard *g, pid_t group)
{
    tell(g, -(int32_t)group);
}

void wni_guard_close(struct guard *g)
{
    if (!g->pid) return;
    close(g->pipe);
    while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    *g = (struct guard){.pipe = -1};
}
