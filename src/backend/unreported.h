/* unreported.h -- why nothing that a program printed was a report: a sentence that says what to change.
 *
 * Looked at only when a run has ended in vain, so it may be slow and guess. */
#ifndef WNI_BACKEND_UNREPORTED_H
#define WNI_BACKEND_UNREPORTED_H

#include "backend/report.h"

/* Appends to `out` what is the matter with these bytes, in which no report was found: names that were printed
 * with a number, the nearest one, or what a report looks like.  Returns whether anything in them looked like
 * a report; if not, a reader may want to see them. */
bool wni_explain_unreported(const struct report_form *form, const char *text, size_t n, struct buf *out);
/* "'epoch=3 val_loss=0.21'" */
void wni_report_example(const char *metric, const char *resource, struct buf *out);

#endif
