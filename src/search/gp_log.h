/* gp_log.h -- the log as the Gaussian process searchers read it: which values have arrived. */
#ifndef WNI_SEARCH_GP_LOG_H
#define WNI_SEARCH_GP_LOG_H

#include "search/gp_common.h"

/* Rows of every set from the entries that still count (a trial may have failed since), with values as they
 * are now, normalised.  WN_ENOMEM only. */
wn_status wni_gp_gather(struct gp_search *s, const struct gp_entry *entries, size_t n, size_t n_base,
                        bool refresh, struct gp_rows *rows);

/* The level a running trial will show next; false: it has shown all, or counts as observed. */
bool wni_gp_pending_level(const struct gp_search *s, const struct history *h, uint32_t trial, uint8_t *level);

/* At most fit_rows of the entries, at random. */
size_t wni_gp_thin(const struct gp_search *s, const struct gp_entry *from, size_t n, struct gp_entry *to);

#endif
