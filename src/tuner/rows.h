/* rows.h -- what listings show of a trial, made from the history. */
#ifndef WNI_TUNER_ROWS_H
#define WNI_TUNER_ROWS_H

#include "tuner/study.h"

/* The trial's row as of now.  `json` keeps its configuration and must outlive it. */
void wni_row_of(const struct study *s, uint32_t trial, struct buf *json, struct trial_row *out);
/* As it will be once `e` (minimised) has happened. */
void wni_row_after(const struct study *s, const struct event *e, struct buf *json, struct trial_row *out);

/* Compares the rows in the store with the log, and if any differ or are missing writes all of them anew.
 * `url` and `name` are what the study was opened with.  *wrong counts those that differed. */
wn_status wni_rows_repair(struct study *s, const char *url, const char *name, size_t *wrong, struct err *err);

#endif
