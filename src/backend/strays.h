/* strays.h -- processes that left their trial's group, and outlived it. */
#ifndef WNI_BACKEND_STRAYS_H
#define WNI_BACKEND_STRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Orphans below this process become its children: they can be found. */
void wni_strays_adopt(bool on);

struct strays {
    const char *folder;                                    /* of the trials */
    bool (*is_known)(const void *context, pid_t pid);      /* a child that needs no look */
    bool (*is_alive)(const void *context, uint32_t trial); /* a trial whose processes may live */
    const void *context;
};

/* Ends (SIGKILL) every child of this process that belongs to a trial below the folder and is not known,
 * unless the trial is still alive.  Children are told by the environment they were born with; the kernel
 * shows it only between two steps of theirs, which may take a while: known ones are not asked.  Linux only;
 * elsewhere, and for processes that hide their environment, nothing happens.  Returns how many were ended:
 * their own children are ours now, so that another look may be worth it. */
size_t wni_strays_end(const struct strays *s);

#endif
