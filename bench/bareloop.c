/* bareloop.c -- start, wait, start again. */
#define _GNU_SOURCE
#include "bench/bareloop.h"

#include "backend/spawn.h"
#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

struct place {
    struct spawn spawn;
    pid_t pid; /* 0: nothing runs */
    bool near;
    double freed; /* NAN: never */
};

struct bare {
    const char *const *argv;
    struct environment env;
    struct place *places;
    unsigned n, alive;
    double looked;
    struct local_figures *figures;
};

static const struct making outputs[] = {{.kind = MAKE_OUTPUT, .place = 1, .path = "/dev/null"},
                                        {.kind = MAKE_OUTPUT, .place = 2, .path = "/dev/null"}};

static wn_status start(struct bare *b, struct place *p, struct err *err)
{
    wni_spawn_clear(&p->spawn);
    wni_environment_copy(&p->spawn.env, &b->env);
    p->spawn.argv = b->argv;
    p->spawn.makings = outputs;
    p->spawn.n_makings = sizeof outputs / sizeof *outputs;
    wn_status st = wni_spawn(&p->spawn, &p->pid, err);
    if (st) return st;
    p->near = true;
    b->alive++;
    b->figures->starts++;
    if (!isnan(p->freed)) wni_delay_add(&b->figures->refill, wni_clock_seconds() - p->freed);
    return WN_OK;
}

static void note_executions(struct bare *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        struct place *p = &b->places[i];
        if (!p->near || wni_spawn_is_near(&p->spawn)) continue;
        p->near = false;
        if (!isnan(p->freed)) wni_delay_add(&b->figures->execute, wni_clock_seconds() - p->freed);
    }
}

static void bury(struct bare *b, pid_t pid, double freed)
{
    for (unsigned i = 0; i < b->n; i++) {
        if (b->places[i].pid != pid) continue;
        b->places[i].pid = 0;
        b->places[i].freed = freed;
        b->alive--;
        return;
    }
}

/* All that have ended, at least one. */
static wn_status take_ends(struct bare *b, struct err *err)
{
    double entered = wni_clock_seconds();
    int status;
    pid_t pid = waitpid(-1, &status, 0);
    note_executions(b);
    for (; pid > 0; pid = waitpid(-1, &status, WNOHANG))
        bury(b, pid, wni_earliest_end(b->looked, entered, wni_clock_seconds()));
    b->looked = wni_clock_seconds();
    if (pid < 0 && errno != ECHILD && errno != EINTR)
        return wni_fail(err, WN_EIO, "cannot wait for processes: %s", strerror(errno));
    return WN_OK;
}

static wn_status run(struct bare *b, uint64_t trials, struct err *err)
{
    wn_status st = WN_OK;
    while (!st && (b->figures->starts < trials || b->alive)) {
        for (unsigned i = 0; i < b->n && b->figures->starts < trials && !st; i++)
            if (!b->places[i].pid) st = start(b, &b->places[i], err);
        if (!st) st = take_ends(b, err);
    }
    return st;
}

static wn_status open_bare(struct bare *b, struct err *err)
{
    wni_environment_init(&b->env, environ);
    if (!b->places) return wni_fail_memory(err);
    for (unsigned i = 0; i < b->n; i++)
        b->places[i].freed = NAN;
    b->looked = wni_clock_seconds();
    return WN_OK;
}

wn_status wni_bare_loop(const char *const *argv, unsigned workers, uint64_t trials,
                        struct local_figures *figures, struct err *err)
{
    *figures = (struct local_figures){0};
    struct bare b = {
        .argv = argv, .places = wni_new(struct place, workers), .n = workers, .figures = figures};
    wn_status st = open_bare(&b, err);
    if (!st) st = run(&b, trials, err);
    for (struct err ignored; b.alive && !take_ends(&b, &ignored);) /* after a failure */
        continue;
    for (unsigned i = 0; b.places && i < workers; i++)
        wni_spawn_release(&b.places[i].spawn);
    free(b.places);
    wni_environment_release(&b.env);
    return st;
}
