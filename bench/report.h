/* report.h -- tables, figures and a page about an experiment.
 *
 * For each group: GROUP-rank, -regret, -cd and -tasks as SVG, PNG and PDF, and a CSV file for every plotted
 * number.  The same results give the same files, byte for byte (timings are results too). */
#ifndef WNI_BENCH_REPORT_H
#define WNI_BENCH_REPORT_H

#include "bench/compare.h"
#include "bench/page.h"

/* Everything, into `directory`; the page is report.html. */
wn_status wni_report_write(const struct archive *archive, const char *directory, struct err *err);

/* Pieces of it, for pages that hold more. */
wn_status wni_report_group(struct page *page, const struct comparison *c, struct err *err);
wn_status wni_report_times(struct page *page, const struct archive *archive, struct err *err);
void wni_report_failures(struct page *page, const struct archive *archive);
void wni_report_marks(struct page *page); /* what the marks behind task names mean */

#endif
