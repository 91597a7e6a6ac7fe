/* gp_candidates.h -- where expected improvement is looked for. */
#ifndef WNI_SEARCH_GP_CANDIDATES_H
#define WNI_SEARCH_GP_CANDIDATES_H

#include "search/gp_common.h"

/* Writes a configuration not asked before with large expected improvement.  *found is false when every
 * candidate was a repeat.  WN_ENOMEM only. */
wn_status wni_gp_maximise(struct gp_search *s, struct ei *ei, double *config, bool *found);

#endif
