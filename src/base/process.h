/* process.h -- naming a process so that another one can tell whether it is still there. */
#ifndef WNI_BASE_PROCESS_H
#define WNI_BASE_PROCESS_H

#include <stdbool.h>

enum { WNI_PROCESS_MAX = 96 };

/* A text that no other process of this run of the machine ever has: its number, when it was started (numbers
 * are used again), and the world in which the number means something (containers have their own).  "" where
 * the system does not tell. */
void wni_process_self(char out[WNI_PROCESS_MAX]);
/* Whether the process so named has surely ended.  false when we cannot know: another container's, "", or
 * something else. */
bool wni_process_is_gone(const char *name);

#endif
