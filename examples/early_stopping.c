/* early_stopping.c -- stop training runs that are not worth it, with ASHA.
 *
 * Every epoch is reported, and the answer says whether to go on.  The loop obeys and ends each trial with
 * WN_COMPLETE; the study knows by itself which ones were stopped.  What is saved: most runs end after a few
 * epochs.
 *
 *     cc early_stopping.c -lwinnow -lm && ./a.out */
#include <winnow.h>

#include <math.h>
#include <stdio.h>

enum { TRIALS = 100, EPOCHS = 81 };

/* Stands for a training run: the loss after some epochs.  A learning rate near 0.01 and many units end
 * lowest. */
static double loss_after(int epoch, double learning_rate, double units)
{
    double off = log10(learning_rate) + 2;
    double end = 0.1 + 0.2 * off * off + 4 / units;
    return end + (1 - end) * pow(epoch, -0.5 - 5 * learning_rate);
}

static void train(wn_trial *trial)
{
    double learning_rate = wn_trial_float(trial, "lr"), units = wn_trial_float(trial, "units");
    wn_decision next = WN_CONTINUE;
    for (int epoch = 1; epoch <= EPOCHS && next == WN_CONTINUE; epoch++)
        wn_trial_report(trial, epoch, loss_after(epoch, learning_rate, units), &next);
    wn_trial_finish(trial, WN_COMPLETE);
}

/* Counts epochs trained and trials that ended in each state. */
static void look_back(const wn_study *study)
{
    int epochs = 0, complete = 0, stopped = 0;
    for (int64_t i = 0; i < wn_study_trials(study); i++) {
        wn_trial_info info;
        if (wn_study_trial(study, i, &info) != WN_OK) continue;
        epochs += (int)info.resource;
        complete += info.state == WN_COMPLETE;
        stopped += info.state == WN_STOPPED;
    }
    printf("%d trials complete, %d stopped early\n", complete, stopped);
    printf("%d epochs instead of %d: %.0f %% saved\n", epochs, TRIALS * EPOCHS,
           100 - 100.0 * epochs / (TRIALS * EPOCHS));
}

int main(void)
{
    wn_space *space = wn_space_new();
    wn_space_float(space, "lr", 1e-4, 1e-1, WN_LOG);
    wn_space_int(space, "units", 16, 512, WN_LOG);
    wn_study_options options = WN_STUDY_OPTIONS_INIT;
    options.method = "asha";
    options.max_resource = EPOCHS; /* ASHA compares trials after 1, 3, 9 and 27 of them */
    options.seed = 1;

    wn_study *study;
    char why[WN_WHY_MAX];
    wn_status status = wn_study_open("memory:", "mlp", space, &options, &study, why);
    wn_space_free(space);
    if (status != WN_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    wn_trial *trial;
    for (int i = 0; i < TRIALS && wn_study_ask(study, &trial) == WN_OK; i++)
        train(trial);

    wn_trial_info best;
    look_back(study);
    if (wn_study_best(study, &best) == WN_OK)
        printf("best loss %.4f after %.0f epochs, trial %lld\n", best.value, best.resource,
               (long long)best.number);
    wn_study_close(study);
    return 0;
}
