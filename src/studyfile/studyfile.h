/* studyfile.h -- a study as a person writes it down, read and checked.
 *
 * Everything `winnow run` needs to know is in struct studyfile, with defaults filled in.  Reading reports
 * every mistake in one pass, each with its place and what was expected.  docs/manual/study-file.md explains
 * the keys. */
#ifndef WNI_STUDYFILE_STUDYFILE_H
#define WNI_STUDYFILE_STUDYFILE_H

#include "backend/backend.h"
#include "base/node.h"
#include "core/space.h"
#include "sched/sched.h"
#include "search/search.h"
#include "studyfile/command.h"

struct env_variable {
    const char *name, *value;
};

struct studyfile {
    struct arena arena; /* owns every text below; nothing points into the document */
    const char *name;   /* default: the file's name without folder and extension */
    struct command command;
    struct space space;

    struct {
        const char *name; /* as in the reports */
        wn_goal goal;
    } metric;
    struct {
        const char *name; /* as in the reports; NULL: the study has no resource, a trial reports one value */
        double min, max;  /* 0 < min <= max; both 1 without a resource */
    } resource;

    const char *method; /* a row of methods.def, or NULL when searcher and scheduler were given */
    const struct scheduler_ops *scheduler;
    const struct searcher_ops *searcher;
    const char *options; /* for wni_scheduler_open() and wni_searcher_open(): the method's, then the file's */

    int64_t workers;
    int64_t seed; /* >= 0 */
    struct {
        int64_t trials, results; /* 0: no limit */
        double time;             /* seconds; 0: no limit */
        double resource;         /* sum over all trials; 0: no limit */
    } stop;
    struct {
        double timeout;          /* seconds; 0: none */
        double grace;            /* seconds between SIGTERM and SIGKILL */
        int64_t retries;         /* after a failure */
        const char *checkpoints; /* whose are kept when they are done: best, all or none */
    } trial;

    const struct backend_ops *backend; /* where trials run */
    const char *store;                 /* NULL: not said */
    const char *folder;                /* of the trials' folders; NULL: not said */
    const char *pattern;               /* POSIX extended, with at least one group; NULL: none */
    const int64_t *gpus;
    size_t n_gpus;
    const struct env_variable *env;
    size_t n_env;
};

/* Reads and checks.  WN_OK: the study is complete.  WN_EINVAL: `problems` (empty before, its file name is set
 * here to the document's) holds every mistake, sorted.  WN_ENOMEM.  On failure the study is empty; release is
 * fine either way. */
wn_status wni_studyfile_read(struct studyfile *study, const struct document *doc, struct problems *problems);
/* The same for a study that nobody needs to run, as ask and tell drive it: `command` may be missing, and is
 * empty then. */
wn_status wni_studyfile_read_driven(struct studyfile *study, const struct document *doc,
                                    struct problems *problems);
void wni_studyfile_release(struct studyfile *study);

#endif
