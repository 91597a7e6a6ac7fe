/* showtrial.h -- all that is known of one trial: winnow show --trial N. */
#ifndef WNI_CLI_SHOWTRIAL_H
#define WNI_CLI_SHOWTRIAL_H

#include "cli/study_option.h"

wn_status wni_show_trial(struct opened_study *s, uint32_t trial, bool json, struct err *err);

#endif
