/* workers.c -- several processes tune together through one file, and a later run goes on with it.
 *
 * Each worker opens the study for itself and asks, reports and finishes as if alone.  Should one die in the
 * middle of a trial, another tries the same configuration again a minute later.
 *
 *     cc workers.c -lwinnow && ./a.out           a file in the temporary folder
 *     ./a.out sqlite:///mine.db                  one that stays; run it again to go on */
#include <winnow.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, TRIALS_EACH = 10 };

static wn_study *open_study(const char *store)
{
    wn_space *space = wn_space_new();
    wn_space_float(space, "x", -5, 10, WN_LINEAR);
    wn_space_float(space, "y", 0, 15, WN_LINEAR);
    wn_study_options options = WN_STUDY_OPTIONS_INIT;
    options.method = "rea";
    options.lease = 60; /* seconds without a report or wn_trial_heartbeat() until a trial is given up */
    options.retries = 1;
    wn_study *study;
    char why[WN_WHY_MAX];
    if (wn_study_open(store, "together", space, &options, &study, why) != WN_OK) fprintf(stderr, "%s\n", why);
    wn_space_free(space);
    return study;
}

static int work(const char *store)
{
    wn_study *study = open_study(store); /* after fork(): a handle is not shared between processes */
    wn_trial *trial;
    for (int i = 0; study && i < TRIALS_EACH && wn_study_ask(study, &trial) == WN_OK; i++) {
        double x = wn_trial_float(trial, "x"), y = wn_trial_float(trial, "y");
        wn_trial_report(trial, 1, (x - 1) * (x - 1) + (y - 2) * (y - 2), NULL);
        wn_trial_finish(trial, WN_COMPLETE);
    }
    wn_study_close(study);
    return study ? 0 : 1;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/workers-XXXXXX", store[64];
    if (argc < 2 && !mkdtemp(folder)) return 1;
    snprintf(store, sizeof store, "sqlite:///%s/study.db", folder);
    const char *where = argc < 2 ? store : argv[1];
    for (int worker = 0; worker < WORKERS; worker++)
        if (fork() == 0) _exit(work(where));
    while (wait(NULL) > 0)
        continue;

    wn_study *study = open_study(where);
    if (!study) return 1;
    wn_trial_info info;
    int complete = 0;
    for (long long i = 0; i < wn_study_trials(study); i++)
        complete += wn_study_trial(study, i, &info) == WN_OK && info.state == WN_COMPLETE;
    printf("%lld trials, %d complete\n", (long long)wn_study_trials(study), complete);
    if (wn_study_best(study, &info) == WN_OK)
        printf("best value %s\n", info.value < 20 ? "below 20" : "20 or more");
    wn_study_close(study);
    if (argc < 2) {
        remove(store + sizeof "sqlite:///" - 1);
        rmdir(folder);
    }
    return 0;
}
