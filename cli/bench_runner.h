/* bench_runner.h -- one of the measurements of `winnow bench`, see cmd_bench.c. */
#ifndef WNI_CLI_BENCH_RUNNER_H
#define WNI_CLI_BENCH_RUNNER_H

#include "cli/cli.h"

wn_status wni_bench_runner(const struct args *args, struct err *err);

#endif
