/* bench_store.c -- winnow bench store: prints what bench/storebench.c measured. */
#include "cli/bench_store.h"

#include "bench/storebench.h"

#include <math.h>

wn_status wni_bench_store(const struct args *args, struct err *err)
{
    static const char *const columns[] = {
        "trials",      "reports",      "seconds",     "trials_per_second", "events_per_second",
        "cpu_seconds", "open_seconds", "list_seconds"};
    struct storebench b = {.trials = 100000, .reports = 10};
    wn_status st = wni_arg_count(args, "trials", 1, 10000000, &b.trials, err);
    if (!st) st = wni_arg_count(args, "reports", 0, 100000, &b.reports, err);
    if (!st) st = wni_storebench_run(&b, wni_arg(args, "store"), err);
    if (st) return st;
    struct table *t = wni_table_new(columns, 8);
    if (!t) return wni_fail_memory(err);
    wni_table_number(t, (double)b.trials);
    wni_table_number(t, (double)b.reports);
    wni_table_number(t, rint(b.fill * 1e3) / 1e3);
    wni_table_number(t, rint((double)b.trials / b.fill));
    wni_table_number(t, rint((double)(b.trials * (b.reports + 2)) / b.fill));
    wni_table_number(t, rint(b.cpu * 1e3) / 1e3);
    wni_table_number(t, rint(b.open * 1e3) / 1e3);
    wni_table_number(t, rint(b.list * 1e5) / 1e5);
    st = wni_table_print(t, wni_arg(args, "format"), stdout);
    wni_table_free(t);
    return st;
}
