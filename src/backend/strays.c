/* strays.c -- a process may leave its trial's group (setsid, daemon) and then escapes the signals to it. When
 * its parent ends, it becomes our child, since we are a subreaper, and /proc shows whose it is. */
#include "backend/strays.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { ENVIRON_MAX = 1 << 18, CHILDREN_MAX = 1 << 16 };

static const char VARIABLE[] = "WINNOW_TRIAL_DIR=";

void wni_strays_adopt(bool on)
{
    prctl(PR_SET_CHILD_SUBREAPER, on ? 1UL : 0UL, 0UL, 0UL, 0UL);
}

/* Reads a whole file of /proc, which gives it in pieces; zero-terminated. */
static size_t read_proc(const char *path, char *out, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n = 0;
    while (fd >= 0 && used + 1 < room && (n = read(fd, out + used, room - 1 - used)) > 0)
        used += (size_t)n;
    if (fd >= 0) close(fd);
    out[used] = '\0';
    return used;
}

/* The trial of this folder that a process belongs to. */
static bool find_trial(pid_t pid, const char *folder, char *scratch, uint32_t *trial)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    size_t n = read_proc(path, scratch, ENVIRON_MAX), length = strlen(folder);
    for (const char *at = scratch; at < scratch + n; at += strlen(at) + 1) {
        if (strncmp(at, VARIABLE, sizeof VARIABLE - 1) != 0) continue;
        const char *value = at + sizeof VARIABLE - 1;
        if (strncmp(value, folder, length) != 0 || strncmp(value + length, "/trial-", 7) != 0) return false;
        *trial = (uint32_t)strtoul(value + length + 7, NULL, 10);
        return true;
    }
    return false;
}

/* With all of the group it has made for itself. */
static void end_process(pid_t pid)
{
    pid_t group = getpgid(pid);
    kill(group > 1 && group != getpgrp() ? -group : pid, SIGKILL);
}

/* The children of one thread: a process belongs to the thread that started it.  Returns how many were ended.
 */
static size_t end_children(const struct strays *s, const char *list, char *scratch)
{
    char *end;
    size_t n = 0;
    for (const char *at = list;; at = end) {
        long pid = strtol(at, &end, 10);
        uint32_t trial;
        if (end == at) return n;
        if (s->is_known(s->context, (pid_t)pid)) continue;
        if (!find_trial((pid_t)pid, s->folder, scratch, &trial) || s->is_alive(s->context, trial)) continue;
        end_process((pid_t)pid);
        n++;
    }
}

size_t wni_strays_end(const struct strays *s)
{
    char *children = malloc(CHILDREN_MAX), *scratch = malloc(ENVIRON_MAX);
    DIR *threads = opendir("/proc/self/task");
    struct dirent *thread;
    size_t n = 0;
    while (children && scratch && threads && (thread = readdir(threads))) {
        char path[64 + sizeof thread->d_name];
        snprintf(path, sizeof path, "/proc/self/task/%s/children", thread->d_name);
        if (read_proc(path, children, CHILDREN_MAX) > 0) n += end_children(s, children, scratch);
    }
    if (threads) closedir(threads);
    free(children);
    free(scratch);
    return n;
}
