/* pool.h -- independent jobs on several threads, while the caller watches. */
#ifndef WNI_BENCH_POOL_H
#define WNI_BENCH_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct pool_work {
    void (*job)(void *context, size_t index); /* on any thread; locks what it shares itself */
    bool (*tick)(void *context); /* in the caller's thread, a few times a second; false: start no more jobs */
    void *context;
};

/* Runs jobs 0 .. n-1, started in that order, at most `threads` at a time; returns when those that were
 * started have ended.  Without a thread to be had the caller's own does the work. */
void wni_pool_run(const struct pool_work *work, size_t n, size_t threads);
size_t wni_pool_cores(void); /* threads that make sense here, at least 1 */

#endif
