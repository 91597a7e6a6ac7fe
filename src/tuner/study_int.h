/* study_int.h -- shared by study.c and ask.c. */
#ifndef WNI_TUNER_STUDY_INT_H
#define WNI_TUNER_STUDY_INT_H

#include "tuner/study.h"

/* One event, one transaction: since wni_study_enter() the caller has looked at the history and decided.
 * Appends the event, commits, and then lets it happen in memory; ends the transaction in any case. */
wn_status wni_study_happen(struct study *s, const struct event *e, wn_decision *decision, struct err *err);

#endif
