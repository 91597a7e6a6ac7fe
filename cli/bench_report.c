/* bench_report.c -- winnow bench report: tables, figures and a page about finished runs. */
#include "bench/report.h"
#include "cli/bench.h"

#include <string.h>

int wni_bench_report(struct args *args)
{
    struct err err = {0};
    if (args->n_words < 2) {
        wni_fail(&err, WN_EINVAL, "bench report: of which folder? expected: winnow bench report DIR");
        return wni_complain(&err, WN_EINVAL);
    }
    const char *directory = args->words[1];
    struct results results;
    struct archive archive;
    wn_status st = wni_results_open(&results, directory, &err);
    if (st) return wni_complain(&err, st);
    st = wni_archive_load(&archive, &results, &err);
    wni_results_close(&results);
    if (st) return wni_complain(&err, st);
    st = wni_report_write(&archive, directory, &err);
    wni_archive_release(&archive);
    if (st) return wni_complain(&err, st);
    printf("%s/report.html (figures: *.svg, .png, .pdf; every plotted number: *.csv)\n", directory);
    return EXIT_DONE;
}
