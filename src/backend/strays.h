/* strays.h -- processes that left their trial's group, and outlived it. */
#ifndef WNI_BACKEND_STRAYS_H
#define WNI_BACKEND_STRAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Orphans below this process become its children: they can be found. */
void wni_strays_adopt(bool on);

/* Ends (SIGKILL) every child of this process that belongs to a trial below `folder`, unless spare() says that
 * the trial is still alive.  Children are told by the environment they were born with.  Linux only;
 * elsewhere, and for processes that hide their environment, nothing happens.  Returns how many were ended:
 * their own children are ours now, so that another look may be worth it. */
size_t wni_strays_end(const char *folder, bool (*spare)(const void *context, uint32_t trial),
                      const void *context);

#endif
