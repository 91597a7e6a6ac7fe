/* guard.c -- the process that ends what a killed runner left.
 *
 * It is forked without exec from a process that may have threads, so it calls nothing but system calls. */
#define _GNU_SOURCE
#include "backend/guard.h"

#include "backend/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CHECKS_PER_SECOND = 20 };

struct watch {
    int pipe;
    const pid_t *groups;
    size_t n;
    double grace;
};

static size_t signal_all(const struct watch *w, int signal)
{
    size_t alive = 0;
    for (size_t i = 0; i < w->n; i++) {
        pid_t group = __atomic_load_n(&w->groups[i], __ATOMIC_ACQUIRE);
        if (group && wni_group_signal(group, signal)) alive++;
    }
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
    char byte;
    while (read(w->pipe, &byte, 1) < 0 && errno == EINTR) /* nobody writes: it ends with the runner */
        continue;
    end_all(w);
    for (;;) /* not _exit(): nothing in this library ends its caller's process, and this shows it */
        syscall(SYS_exit_group, 0);
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

wn_status wni_guard_open(struct guard *g, unsigned slots, double grace, struct err *err)
{
    int ends[2];
    *g = (struct guard){.pipe = -1};
    void *table =
        mmap(NULL, slots * sizeof *g->groups, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED) return wni_fail_memory(err);
    *g = (struct guard){.pipe = -1, .groups = table, .n = slots};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        wni_fail(err, WN_EIO, "cannot make a pipe: %s", strerror(errno));
        wni_guard_close(g);
        return WN_EIO;
    }
    g->pipe = ends[1];
    pid_t pid = fork();
    if (pid == 0) {
        struct watch w = {.pipe = ends[0], .groups = g->groups, .n = slots, .grace = grace};
        step_aside(&w);
        stand_guard(&w);
    }
    if (pid < 0) wni_fail(err, WN_EIO, "cannot start a process: %s", strerror(errno));
    close(ends[0]);
    if (pid < 0) {
        wni_guard_close(g);
        return WN_EIO;
    }
    g->pid = pid;
    return WN_OK;
}

void wni_guard_close(struct guard *g)
{
    if (g->pipe >= 0) close(g->pipe);
    while (g->pid && waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (g->groups) munmap(g->groups, g->n * sizeof *g->groups);
    *g = (struct guard){.pipe = -1};
}
