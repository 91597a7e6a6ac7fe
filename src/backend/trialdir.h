/* trialdir.h -- the folder of a trial: what it got, what it printed, how it ended, its checkpoint.
 *
 *     FOLDER/trial-00012/config.json     the parameters
 *                        stdout, stderr  all runs of the trial, one after the other
 *                        outcome.json    how the last run ended, and why
 *                        checkpoint/     the program's own; survives pause, resume and retry */
#ifndef WNI_BACKEND_TRIALDIR_H
#define WNI_BACKEND_TRIALDIR_H

#include "backend/spawn.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum { TRIAL_PATH_MAX = 4096 };

/* Makes FOLDER and those above it, and gives its absolute name. */
wn_status wni_folder_make(const char *folder, char absolute[TRIAL_PATH_MAX], struct err *err);

/* "FOLDER/trial-00012/NAME", NAME "": the folder itself. */
const char *wni_trial_path(char out[TRIAL_PATH_MAX], const char *folder, uint32_t trial, const char *name);

/* What a run of the trial needs, for its process to make: the folder with its checkpoint folder, config.json,
 * stdout and stderr, and under another name the file that will be outcome.json.  In the arena; NULL when
 * memory is short. */
enum trial_making {
    TRIAL_FOLDER,
    TRIAL_CHECKPOINT,
    TRIAL_CONFIG,
    TRIAL_STDOUT,
    TRIAL_STDERR,
    TRIAL_OUTCOME,
    TRIAL_MAKINGS
};
const struct making *wni_trial_makings(const char *folder, uint32_t trial, const struct buf *config,
                                       struct arena *arena);
/* One more than the highest number of a trial that has a folder; 0: none has. */
uint32_t wni_trial_folders(const char *folder);
/* The trial is new: removes what an earlier study left in a folder of this name. */
void wni_trial_folder_clear(const char *folder, uint32_t trial);
/* Replaces outcome.json; readers see the old or the new one.  A failure here is not worth more. */
void wni_trial_outcome_write(const char *folder, uint32_t trial, const struct buf *text);
/* Removes what is in the checkpoint folder. */
void wni_trial_checkpoint_remove(const char *folder, uint32_t trial);

/* The last lines of an open file from byte `from` on, control characters made harmless; "" when there are
 * none. */
enum { TAIL_MAX = 1000 };
void wni_file_tail(int fd, uint64_t from, char out[TAIL_MAX + 1]);

#endif
