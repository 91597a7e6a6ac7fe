/* seats.c -- a byte of a file in the folder stands for a seat; who has locked it has the seat.
 *
 * The lock belongs to the open file (F_OFD_SETLK), not to the process: closing another descriptor of the same
 * file does not give it back, and the kernel does when the process ends, however that was.  The file's name
 * has the machine's: seats on another one are others, in a folder that both see. */
#define _GNU_SOURCE
#include "backend/seats.h"

#include "base/mem.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SEATS_MAX = 1 << 20 };

static int open_file(const char *folder)
{
    char host[64] = "", path[PATH_MAX];
    gethostname(host, sizeof host - 1);
    int n = snprintf(path, sizeof path, "%s/.seats-%s", folder, host);
    if (n < 0 || (size_t)n >= sizeof path) return -1;
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

static bool lock(int fd, uint32_t seat)
{
    struct flock byte = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = seat, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &byte) == 0;
}

/* Ours are locked, and locking them again would succeed: so the search goes upwards only. */
wn_status wni_seats_take(struct seats *s, const char *folder, unsigned n, struct err *err)
{
    uint32_t next = 0;
    *s = (struct seats){.fd = open_file(folder), .number = wni_new(uint32_t, n)};
    if (!s->number) return wni_fail_memory(err);
    for (unsigned i = 0; i < n; i++, next++) {
        while (s->fd >= 0 && next < SEATS_MAX && !lock(s->fd, next))
            next++;
        if (next >= SEATS_MAX) { /* nothing can be locked here */
            close(s->fd);
            s->fd = -1;
            next = i;
        }
        s->number[i] = next;
    }
    return WN_OK;
}

void wni_seats_leave(struct seats *s)
{
    if (s->fd >= 0) close(s->fd);
    free(s->number);
    *s = (struct seats){.fd = -1};
}
