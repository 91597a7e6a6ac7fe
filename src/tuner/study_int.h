/* study_int.h -- shared by study.c, ask.c and versions.c. */
#ifndef WNI_TUNER_STUDY_INT_H
#define WNI_TUNER_STUDY_INT_H

#include "tuner/study.h"

/* One event, one transaction, unless there is a batch: since wni_study_enter() the caller has looked at the
 * history and decided.  Appends the event, commits, and then lets it happen in memory; leaves the study in
 * any case. */
wn_status wni_study_happen(struct study *s, const struct event *e, wn_decision *decision, struct err *err);

/* The setup with its defaults filled in: what is stored and compared.  It points into `setup` and *options,
 * which is for free(). */
wn_status wni_study_fill_in(const struct study_setup *setup, struct study_setup *full, char **options,
                            struct err *err);

/* ---- versions.c ---- */

/* Opens the searcher of a version and makes it the first. */
wn_status wni_version_first(struct study *s, const struct stored_setup *stored, struct err *err);
/* All that may fail of a SETUP event, and what cannot. */
wn_status wni_version_prepare(struct study *s, const struct event *e, struct err *err);
void wni_version_commit(struct study *s);
void wni_versions_release(struct study *s);

#endif
