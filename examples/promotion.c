/* promotion.c -- pause trials and go on with the best of them, from checkpoints.
 *
 * Under "asha-promotion" a trial is told to pause at each rung.  Its checkpoint is kept, here in an array,
 * and when the trial turns out to be among the best third it is handed out again: wn_trial_resumed_from()
 * says where it was.  Nothing is trained twice.
 *
 *     cc promotion.c -lwinnow && ./a.out */
#include <winnow.h>

#include <stdio.h>

enum { TRIALS_MAX = 200, EPOCHS = 27, BUDGET = 400 /* epochs in all */ };

struct checkpoint {
    int epoch;
    double x, y; /* all there is to the model */
};

static struct checkpoint checkpoints[TRIALS_MAX];
static int epochs_trained, resumed;

/* A step down the long valley of (x - 1)^2 + 25 (y - 1)^2: too small a learning rate does not arrive, too
 * large a one bounces off the walls. */
static double train_one_epoch(struct checkpoint *c, double learning_rate)
{
    c->x -= learning_rate * 2 * (c->x - 1);
    c->y -= learning_rate * 50 * (c->y - 1);
    c->epoch++;
    epochs_trained++;
    return (c->x - 1) * (c->x - 1) + 25 * (c->y - 1) * (c->y - 1);
}

static void run(wn_trial *trial)
{
    struct checkpoint model = checkpoints[wn_trial_number(trial)]; /* zero for a new trial: untrained */
    if (wn_trial_resumed_from(trial) != model.epoch)
        puts("the checkpoint is not from where the trial stopped");
    if (model.epoch > 0) resumed++;

    wn_decision next = WN_CONTINUE;
    while (next == WN_CONTINUE) {
        double loss = train_one_epoch(&model, wn_trial_float(trial, "lr"));
        wn_trial_report(trial, model.epoch, loss, &next);
    }
    if (next == WN_PAUSE) checkpoints[wn_trial_number(trial)] = model;
    wn_trial_finish(trial, WN_COMPLETE); /* recorded as PAUSED after a pause */
}

static void count_states(const wn_study *study)
{
    int counts[WN_CANCELLED + 1] = {0};
    for (int64_t i = 0; i < wn_study_trials(study); i++) {
        wn_trial_info info;
        if (wn_study_trial(study, i, &info) == WN_OK) counts[info.state]++;
    }
    for (int s = 0; s <= WN_CANCELLED; s++)
        if (counts[s]) printf("%d %s\n", counts[s], wn_state_name((wn_state)s));
}

int main(void)
{
    wn_space *space = wn_space_new();
    wn_space_float(space, "lr", 1e-4, 0.1, WN_LOG);
    wn_study_options options = WN_STUDY_OPTIONS_INIT;
    options.method = "asha-promotion";
    options.max_resource = EPOCHS;
    options.seed = 3;

    wn_study *study;
    char why[WN_WHY_MAX];
    wn_status status = wn_study_open("memory:", "descent", space, &options, &study, why);
    wn_space_free(space);
    if (status != WN_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    wn_trial *trial;
    while (epochs_trained < BUDGET && wn_study_trials(study) < TRIALS_MAX &&
           wn_study_ask(study, &trial) == WN_OK)
        run(trial);

    printf("%d epochs in %lld trials, %d times resumed\n", epochs_trained, (long long)wn_study_trials(study),
           resumed);
    count_states(study);
    wn_trial_info best;
    if (wn_study_best(study, &best) == WN_OK)
        printf("best loss %.3g after %.0f epochs, trial %lld\n", best.value, best.resource,
               (long long)best.number);
    wn_study_close(study);
    return 0;
}
