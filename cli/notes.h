/* notes.h -- what is no mistake in a study, but likely to be one. */
#ifndef WNI_CLI_NOTES_H
#define WNI_CLI_NOTES_H

#include "cli/cli.h"
#include "studyfile/studyfile.h"

/* The word that is the user's program: the script behind an interpreter and its options, else the first.  0
 * too where there is no telling. */
size_t wni_command_script(const char *const *words, size_t n);

/* Prints a line for each, `lead` before it. */
void wni_note_study(const struct studyfile *s, const char *lead, FILE *to);

#endif
