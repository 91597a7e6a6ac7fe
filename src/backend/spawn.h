/* spawn.h -- starting a process: its environment, its files, its group. */
#ifndef WNI_BACKEND_SPAWN_H
#define WNI_BACKEND_SPAWN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* An environment under construction: what we inherited, changed.  Strings live in the arena. */
struct environment {
    struct arena arena;
    const char **items; /* "NAME=VALUE"; NULL after the last */
    size_t n, cap;
    bool failed;
};

void wni_environment_init(struct environment *e, char *const *inherited);
void wni_environment_copy(struct environment *to, const struct environment *from); /* shares the strings */
void wni_environment_set(struct environment *e, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool wni_environment_has(const struct environment *e, const char *name);
void wni_environment_release(struct environment *e);

/* Starts argv in a session, and so a process group, of its own: *pid is the group's number too.  Standard
 * input is empty.  The program is looked for along PATH.  Fails with the reason when it cannot be executed.
 */
wn_status wni_spawn(const char *const *argv, const struct environment *env, int out, int err_out, pid_t *pid,
                    struct err *err);

#endif
