/* spawn.h -- starting a process: its environment, its files, its group. */
#ifndef WNI_BACKEND_SPAWN_H
#define WNI_BACKEND_SPAWN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <errno.h>
#include <signal.h>
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

/* What a process makes for itself before it executes its program, as a child of a shell opens what it is
 * redirected to.  Making files is most of what a start costs; this way it is done beside us, not by us. */
struct making {
    enum making_kind {
        MAKE_FOLDER, /* unless it is there */
        MAKE_FILE,   /* with this text, in place of what it held */
        MAKE_OUTPUT, /* appended to by what the program writes to descriptor `place` */
    } kind;
    int place;
    const char *path, *text;
    size_t length; /* of the text */
};

/* A process on its way from us to its program.  Until it is there it runs in our memory: all of this stays
 * as it is while wni_spawn_is_near(). */
struct spawn {
    struct arena arena; /* for argv and what it points to, if you like */
    const char *const *argv;
    struct environment env;
    const struct making *makings; /* in this order */
    size_t n_makings;

    const char **places; /* where the program may be */
    char *stack;
    pid_t near;                 /* the kernel clears it when the process executes its program or ends */
    const struct making *stuck; /* what it could not make; NULL: it was the program that failed */
    int error;                  /* of what kept it from executing; 0: nothing */
};

/* Starts argv in a session, and so a process group, of its own, with empty standard input and the outputs
 * among its makings; the program is looked for along PATH.  Does not wait: the group is there a little later
 * than the process, and whether the program could be executed is known when the process is not near any more.
 * *pid is written before the process can do anything. */
wn_status wni_spawn(struct spawn *s, pid_t *pid, struct err *err);
bool wni_spawn_is_near(const struct spawn *s);
/* Why the program could not be executed, or something be made; the process has ended then. */
wn_status wni_spawn_result(const struct spawn *s, struct err *err);
/* Ready for the next process. */
void wni_spawn_clear(struct spawn *s);
void wni_spawn_release(struct spawn *s);

/* Signals all of the group, or its first process while it has not made its group yet.  Returns whether there
 * was anyone.  Makes no other call, so that a guard may use it. */
static inline bool wni_group_signal(pid_t group, int signal)
{
    return kill(-group, signal) == 0 || (errno == ESRCH && kill(group, signal) == 0);
}

#endif
