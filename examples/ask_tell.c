/* ask_tell.c -- the smallest useful program: minimise a function of two numbers.
 *
 * The loop is ask, evaluate, report, finish.  Branin's function has three valleys, all 0.397887 deep.
 *
 *     cc ask_tell.c -lwinnow -lm && ./a.out */
#include <winnow.h>

#include <math.h>
#include <stdio.h>

static double branin(double x, double y)
{
    const double pi = 3.141592653589793;
    double valley = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
    return valley * valley + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10;
}

static wn_study *open_study(void)
{
    wn_space *space = wn_space_new();
    wn_space_float(space, "x", -5, 10, WN_LINEAR); /* mistakes are remembered until wn_study_open() */
    wn_space_float(space, "y", 0, 15, WN_LINEAR);

    wn_study_options options = WN_STUDY_OPTIONS_INIT;
    options.method = "cqr";
    options.seed = 7;

    wn_study *study;
    char why[WN_WHY_MAX];
    if (wn_study_open("memory:", "branin", space, &options, &study, why) != WN_OK)
        fprintf(stderr, "%s\n", why);
    wn_space_free(space); /* the study has its own copy */
    return study;         /* NULL when opening failed */
}

int main(void)
{
    wn_study *study = open_study();
    if (!study) return 1;

    wn_trial *trial;
    while (wn_study_trials(study) < 100 && wn_study_ask(study, &trial) == WN_OK) {
        double value = branin(wn_trial_float(trial, "x"), wn_trial_float(trial, "y"));
        wn_trial_report(trial, 1, value, NULL); /* one value, so the resource is 1 */
        wn_trial_finish(trial, WN_COMPLETE);
    }

    wn_trial_info best;
    char *config;
    if (wn_study_best(study, &best) != WN_OK || wn_study_config(study, best.number, &config) != WN_OK)
        return 1;
    printf("%lld trials\n", (long long)wn_study_trials(study));
    printf("best value %.4f (the minimum is 0.3979)\n", best.value);
    printf("found by trial %lld: %s\n", (long long)best.number, config);
    wn_string_free(config);
    wn_study_close(study);
    return 0;
}
