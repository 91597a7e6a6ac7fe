/* process.c -- reads Linux's /proc; elsewhere nothing is known of other processes. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART_MAX = 32 };

/* The world our process numbers are from, as "pid:[4026531836]". */
static bool own_world(char out[PART_MAX])
{
    ssize_t n = readlink("/proc/self/ns/pid", out, PART_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* When the process was started, in ticks since the machine was: field 22.  The name before the third is in
 * parentheses and may hold anything.  A process that only waits to be reaped has none. */
static bool read_start(long pid, char out[PART_MAX])
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t n = read(file, text, sizeof text - 1);
    close(file);
    text[n > 0 ? n : 0] = '\0';
    const char *at = strrchr(text, ')');
    if (!at) return false;
    bool dead = !strncmp(at, ") Z", 3) || !strncmp(at, ") X", 3);
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (!at) return false;
    snprintf(out, PART_MAX, "%.*s", (int)strcspn(at + 1, " "), dead ? "" : at + 1);
    return true;
}

void wni_process_self(char out[WNI_PROCESS_MAX])
{
    char world[PART_MAX], start[PART_MAX];
    out[0] = '\0';
    if (own_world(world) && read_start((long)getpid(), start))
        snprintf(out, WNI_PROCESS_MAX, "%s %s %ld", world, start, (long)getpid());
}

bool wni_process_is_gone(const char *name)
{
    char world[PART_MAX], start[PART_MAX], now[WNI_PROCESS_MAX];
    const char *last = strrchr(name, ' ');
    long pid = last ? strtol(last, NULL, 10) : 0;
    if (pid <= 0 || !own_world(world)) return false;
    size_t n = strlen(world);
    if (strncmp(name, world, n) != 0 || name[n] != ' ') return false;
    if (kill((pid_t)pid, 0) != 0) return errno == ESRCH;
    if (!read_start(pid, start)) return false;
    snprintf(now, sizeof now, "%s %s %ld", world, start, pid);
    return strcmp(now, name) != 0;
}
