/* scratch.h -- a folder for what a measurement writes, in $TMPDIR or /tmp, and its removal. */
#ifndef WNI_BENCH_SCRATCH_H
#define WNI_BENCH_SCRATCH_H

#include "base/err.h"

enum { SCRATCH_MAX = 512 };

wn_status wni_scratch_make(char folder[SCRATCH_MAX], struct err *err);
void wni_scratch_remove(const char *folder); /* with all that is in it */

#endif
