/* function.h -- between the files of the kind `function`. */
#ifndef WNI_BENCH_FUNCTION_H
#define WNI_BENCH_FUNCTION_H

#include "bench/kind.h"

/* The task synthetic-curves (synthetic.c). */
void wni_synthetic_describe(struct task *task); /* adds to what function.c filled in */
wn_status wni_synthetic_open(const struct task *task, struct blackbox **out, struct err *err);

#endif
