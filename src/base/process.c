/* process.c -- reads Linux's /proc; elsewhere nothing is known of other processes. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The world our process numbers are from: the inode of the namespace. */
static bool own_world(unsigned long *out)
{
    char text[64];
    ssize_t n = readlink("/proc/self/ns/pid", text, sizeof text - 1);
    if (n <= 0) return false;
    text[n] = '\0';
    return sscanf(text, "pid:[%lu]", out) == 1;
}

/* When the process was started, in ticks since the machine was, and in which state it is: the name before
 * them is in parentheses and may hold anything. */
static bool read_start(long pid, unsigned long long *start, char *state)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    if (n <= 0) return false;
    text[n] = '\0';
    const char *at = strrchr(text, ')');
    return at &&
           sscanf(at, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
                  state, start) == 2;
}

void wni_process_self(char out[WNI_PROCESS_MAX])
{
    unsigned long world;
    unsigned long long start;
    char state;
    out[0] = '\0';
    if (!own_world(&world) || !read_start((long)getpid(), &start, &state)) return;
    snprintf(out, WNI_PROCESS_MAX, "process %ld of %lu since %llu", (long)getpid(), world, start);
}

bool wni_process_is_gone(const char *name)
{
    unsigned long world, own;
    unsigned long long since, start;
    long pid;
    char state;
    if (sscanf(name, "process %ld of %lu since %llu", &pid, &world, &since) != 3) return false;
    if (pid <= 0 || !own_world(&own) || own != world) return false;
    if (kill((pid_t)pid, 0) != 0) return errno == ESRCH;
    if (!read_start(pid, &start, &state)) return false;
    return start != since || state == 'Z' || state == 'X';
}
