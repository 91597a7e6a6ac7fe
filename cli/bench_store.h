/* bench_store.h -- winnow bench store. */
#ifndef WNI_CLI_BENCH_STORE_H
#define WNI_CLI_BENCH_STORE_H

#include "cli/cli.h"

wn_status wni_bench_store(const struct args *args, struct err *err);

#endif
