/* clock.c -- the clocks. */
#include "base/clock.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double wni_clock_seconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double wni_clock_thread_seconds(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

double wni_clock_cpu_seconds(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double wni_clock_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

void wni_clock_boot(char out[WNI_BOOT_MAX])
{
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? read(file, out, WNI_BOOT_MAX - 1) : 0;
    if (file >= 0) close(file);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}
