/* pool.c -- threads that take the next job until there is none. */
#define _GNU_SOURCE /* sched_getaffinity: the cores we may use, not those there are */
#include "bench/pool.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { THREADS_MAX = 256, TICK_NANOSECONDS = 200000000 };

struct pool {
    const struct pool_work *work;
    size_t n, next, alive;
    bool stopped;
    pthread_mutex_t lock;
    pthread_cond_t ended; /* a thread has left */
};

static bool take(struct pool *pool, size_t *index)
{
    pthread_mutex_lock(&pool->lock);
    bool got = !pool->stopped && pool->next < pool->n;
    if (got) *index = pool->next++;
    pthread_mutex_unlock(&pool->lock);
    return got;
}

static void *take_jobs(void *context)
{
    struct pool *pool = context;
    size_t index = 0;
    while (take(pool, &index))
        pool->work->job(pool->work->context, index);
    pthread_mutex_lock(&pool->lock);
    pool->alive--;
    pthread_cond_signal(&pool->ended);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Ticks until all threads have left. */
static void watch(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->alive) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += TICK_NANOSECONDS;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        pthread_cond_timedwait(&pool->ended, &pool->lock, &until);
        pthread_mutex_unlock(&pool->lock);
        bool go_on = !pool->work->tick || pool->work->tick(pool->work->context);
        pthread_mutex_lock(&pool->lock);
        if (!go_on) pool->stopped = true;
    }
    pthread_mutex_unlock(&pool->lock);
}

static void work_alone(struct pool *pool)
{
    size_t index = 0;
    while (take(pool, &index)) {
        pool->work->job(pool->work->context, index);
        if (pool->work->tick && !pool->work->tick(pool->work->context)) pool->stopped = true;
    }
}

void wni_pool_run(const struct pool_work *work, size_t n, size_t threads)
{
    pthread_t ids[THREADS_MAX];
    struct pool pool = {.work = work, .n = n};
    size_t started = 0, wanted = threads < THREADS_MAX ? threads : THREADS_MAX;
    if (wanted > n) wanted = n;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.ended, NULL);
    pool.alive = wanted;
    while (started < wanted && !pthread_create(&ids[started], NULL, take_jobs, &pool))
        started++;
    pthread_mutex_lock(&pool.lock);
    pool.alive -= wanted - started;
    pthread_mutex_unlock(&pool.lock);
    if (started)
        watch(&pool);
    else
        work_alone(&pool);
    for (size_t i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    pthread_cond_destroy(&pool.ended);
    pthread_mutex_destroy(&pool.lock);
}

size_t wni_pool_cores(void)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores)) return 1;
    int n = CPU_COUNT(&cores);
    return n > 0 ? (size_t)n : 1;
}
