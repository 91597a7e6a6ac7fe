/* node_int.h -- shared by the two parsers behind node.h. */
#ifndef WNI_BASE_NODE_INT_H
#define WNI_BASE_NODE_INT_H

#include "base/node.h"

/* WN_EINVAL with "NAME:LINE:COLUMN: ..." ("line LINE, column COLUMN: ..." when the document has no name). */
wn_status wni_fail_at(struct err *err, const char *name, int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Where the byte at `offset` stands.  Counts from the start: for errors only. */
void wni_text_position(const char *text, size_t offset, int *line, int *column);

/* Refuses NUL bytes and what is not UTF-8. */
wn_status wni_text_check(const char *name, const char *text, size_t length, struct err *err);

/* An empty document that knows its name. */
wn_status wni_document_init(struct document *doc, const char *name, struct err *err);

#endif
