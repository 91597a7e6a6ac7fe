/* enqueue.c -- start from configurations you already know.
 *
 * What worked last time is tried first, in the order given; what a configuration leaves out is drawn at
 * random.  A value outside the space is refused with a message instead of being bent into it.
 *
 *     cc enqueue.c -lwinnow && ./a.out */
#include <winnow.h>

#include <stdio.h>
#include <string.h>

static const char *const known[] = {
    "{\"lr\": 0.01, \"optimizer\": \"sgd\", \"nesterov\": true}", /* last month's best */
    "{\"lr\": 0.001, \"optimizer\": \"adam\"}",                   /* a colleague's; nesterov is left open */
    "{\"lr\": 5, \"optimizer\": \"adam\"}",                       /* a typing error */
};

/* Stands for a training run. */
static double error_of(wn_trial *trial)
{
    double lr = wn_trial_float(trial, "lr"), best_lr = 0.004;
    double penalty = strcmp(wn_trial_string(trial, "optimizer"), "adam") ? 0.02 : 0;
    return 0.08 + (lr > best_lr ? lr - best_lr : best_lr - lr) + penalty -
           (wn_trial_bool(trial, "nesterov") ? 0.001 : 0);
}

int main(void)
{
    wn_space *space = wn_space_new();
    wn_space_float(space, "lr", 1e-4, 0.1, WN_LOG);
    wn_space_categorical(space, "optimizer", (const char *const[]){"adam", "sgd", "rmsprop"}, 3);
    wn_space_bool(space, "nesterov");

    wn_study *study;
    char why[WN_WHY_MAX];
    wn_status status =
        wn_study_open("memory:", "known", space, NULL, &study, why); /* NULL: random search, seed 0 */
    wn_space_free(space);
    if (status != WN_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    for (int i = 0; i < 3; i++)
        if (wn_study_enqueue(study, known[i]) != WN_OK) printf("refused: %s\n", wn_study_error(study));

    wn_trial *trial;
    for (int i = 0; i < 20 && wn_study_ask(study, &trial) == WN_OK; i++) {
        double error = error_of(trial);
        if (i < 3) printf("trial %d: error %.4f, %s\n", i, error, wn_trial_json(trial));
        wn_trial_report(trial, 1, error, NULL);
        wn_trial_finish(trial, WN_COMPLETE);
    }
    wn_trial_info best;
    if (wn_study_best(study, &best) == WN_OK)
        printf("best error %.4f, trial %lld\n", best.value, (long long)best.number);
    wn_study_close(study);
    return 0;
}
