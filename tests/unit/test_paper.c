/* test_paper.c -- the verdicts on the paper's claims follow the results: made-up curves decide them. */
#include "tests/check.h"

#include "base/mem.h"
#include "bench/paper.h"

#include <stdlib.h>

enum { CQR, ASHA, QR_MF, CQR_MF, OTHERS, METHODS = 15, TASKS = 2, SEEDS = 12 };
static const char *const names[METHODS] = {"cqr", "asha", "qr+mf",  "cqr+mf", "rs",
                                           "tpe", "gp",   "rea",    "bore",   "bohb",
                                           "ht",  "mob",  "rea+mf", "gp+mf",  "bore+mf"};

/* What each of the first methods reaches, and all the others. */
struct reached {
    double level[OTHERS + 1];
    bool without_mob;
};

struct world {
    struct archive archive;
    struct comparison comparisons[3];
    double time[METHODS * TASKS * SEEDS], value[METHODS * TASKS * SEEDS];
    char directory[CHECK_PATH_MAX];
    struct page page;
    struct paper_measures measures;
};

static void add_group(struct experiment *e, const char *name, const size_t *methods, size_t n)
{
    CHECK_INT(wni_experiment_add_group(e, name, name), WN_OK);
    struct bench_group *g = &e->groups[e->n_groups - 1];
    for (size_t i = 0; i < n; i++)
        CHECK_INT(wni_group_add_method(g, methods[i]), WN_OK);
    for (size_t t = 0; t < TASKS; t++)
        CHECK_INT(wni_group_add_task(g, t), WN_OK);
}

static void make_plan(struct experiment *e, size_t levels, bool without_mob)
{
    size_t index;
    wni_experiment_init(e);
    e->seeds = SEEDS;
    for (size_t m = 0; m < METHODS; m++)
        CHECK_INT(wni_experiment_add_method(e, &(struct bench_method){names[m], names[m], ""}, &index),
                  WN_OK);
    for (size_t t = 0; t < TASKS; t++) {
        struct task task = {.name = t ? "fcnet-naval" : "fcnet-protein",
                            .family = "fcnet",
                            .kind = "table",
                            .metric = "loss",
                            .resource = "epoch",
                            .honesty = "real",
                            .n_levels = levels,
                            .best = 0,
                            .worst = 9};
        CHECK_INT(wni_experiment_add_task(e, &task, &index), WN_OK);
    }
    add_group(e, "single-fidelity", (const size_t[]){4, 5, 6, 7, 8, CQR}, 6);
    add_group(e, "multi-fidelity", (const size_t[]){ASHA, 9, 10, CQR_MF, 11}, without_mob ? 4 : 5);
    add_group(e, "variants", (const size_t[]){ASHA, 12, 13, 14, QR_MF, CQR_MF}, 6);
}

/* Every run has one result, early on: `level` of its method, the seeds a little apart. */
static void make(struct world *w, struct reached made, size_t levels)
{
    struct err err = {0};
    *w = (struct world){0};
    make_plan(&w->archive.plan, levels, made.without_mob);
    w->archive.runs = wni_new(struct loaded_run, METHODS * TASKS * SEEDS);
    CHECK(w->archive.runs, "memory");
    for (size_t i = 0; i < METHODS * TASKS * SEEDS; i++) {
        w->time[i] = 0.5;
        size_t method = i / (TASKS * SEEDS);
        w->value[i] = made.level[method < OTHERS ? method : OTHERS] + (double)(i % SEEDS) / 1000;
        w->archive.runs[i] = (struct loaded_run){
            .there = true, .simulated_seconds = 100, .curve = {&w->time[i], &w->value[i], 1, 100}};
    }
    for (size_t g = 0; g < 3; g++)
        CHECK_OK(wni_compare(&w->comparisons[g], &w->archive, g, &err), err);
    check_tmp_make(w->directory);
    wni_page_begin(&w->page, w->directory, "claims");
}

static void release(struct world *w)
{
    for (size_t g = 0; g < 3; g++)
        wni_comparison_release(&w->comparisons[g]);
    wni_archive_release(&w->archive);
    wni_page_release(&w->page);
    check_tmp_remove(w->directory);
}

/* The line of claims.csv that starts with these words. */
static const char *verdict_line(struct world *w, const char *says)
{
    static char line[4096];
    char path[CHECK_PATH_MAX + 16];
    struct err err = {0};
    CHECK_OK(wni_claims_section(&w->page, &w->archive, w->comparisons, &w->measures, &err), err);
    snprintf(path, sizeof path, "%s/claims.csv", w->directory);
    FILE *file = fopen(path, "r");
    CHECK(file, "no claims.csv");
    bool found = false;
    while (!found && fgets(line, sizeof line, file))
        found = strstr(line, says) == line + (line[0] == '"');
    fclose(file);
    if (!found) fail_msg("no claim '%s'", says);
    return line;
}

static const char *verdict(struct world *w, const char *says)
{
    const char *line = verdict_line(w, says);
    const char *after = line[0] == '"' ? strstr(line + 1, "\",") + 2 : strchr(line, ',') + 1;
    return !strncmp(after, "holds,", 6)            ? "holds"
           : !strncmp(after, "does not hold,", 14) ? "does not hold"
                                                   : "open";
}

static const char RANK[] = "Single fidelity: CQR has the best average rank",
                  REGRET[] = "Single fidelity: CQR has the lowest",
                  AGAINST_ASHA[] = "Multi-fidelity: CQR+MF is significantly better than ASHA",
                  MODELS[] = "Multi-fidelity: CQR+MF is significantly better than the other",
                  TRAILS[] = "Variants: without the conformal correction",
                  CURVES[] = "Multi-fidelity results on FCNet", TREES[] = "Surrogates: boosted",
                  GAP[] = "Surrogates: the conformal";

static void they_hold_when_it_is_so(void **state)
{
    (void)state;
    static struct world w;
    make(&w, (struct reached){{1, 3, 2, 1, 3}, false}, 100);
    CHECK_TEXT(verdict(&w, RANK), "holds");
    CHECK_TEXT(verdict(&w, REGRET), "holds");
    CHECK_TEXT(verdict(&w, AGAINST_ASHA), "holds");
    CHECK_TEXT(verdict(&w, TRAILS), "holds");
    CHECK_TEXT(verdict(&w, MODELS), "holds");
    CHECK_TEXT(verdict(&w, CURVES), "holds");
    CHECK_TEXT(verdict(&w, TREES), "open");
    release(&w);
}

static void they_do_not_when_it_is_not(void **state)
{
    (void)state;
    static struct world w;
    make(&w, (struct reached){{3, 1, 1, 2, 1}, false}, 1);
    CHECK_TEXT(verdict(&w, RANK), "does not hold");
    CHECK_TEXT(verdict(&w, REGRET), "does not hold");
    CHECK_TEXT(verdict(&w, AGAINST_ASHA), "does not hold");
    CHECK_TEXT(verdict(&w, TRAILS), "does not hold");
    CHECK_TEXT(verdict(&w, CURVES), "open");
    release(&w);
}

/* Three of the four tied ahead of it, on both tasks. */
static void ranks_are_told_by_family(void **state)
{
    (void)state;
    static struct world w;
    make(&w, (struct reached){{3, 1, 1, 2, 1}, false}, 1);
    const struct comparison *c = &w.comparisons[1];
    CHECK_DOUBLE(wni_family_rank(c, "fcnet", wni_group_method(c, "cqr+mf")), 5);
    CHECK_DOUBLE(wni_family_rank(c, "fcnet", wni_group_method(c, "asha")), 2.5);
    CHECK(wni_family_begins(c, 0) && !wni_family_begins(c, 1), "one family");
    const char *line = strchr(verdict_line(&w, AGAINST_ASHA), 'B');
    CHECK(strstr(line, "By family at 100 %: fcnet 5.00 (asha 2.50). "), "%s", line);
    release(&w);
}

/* A rival that is missing: to lose against the others settles it, to win does not. */
static void a_missing_rival_leaves_it_open(void **state)
{
    (void)state;
    static struct world w;
    make(&w, (struct reached){{1, 3, 2, 1, 3}, true}, 1);
    CHECK_TEXT(verdict(&w, MODELS), "open");
    CHECK_TEXT(verdict(&w, AGAINST_ASHA), "holds");
    release(&w);
    make(&w, (struct reached){{1, 3, 2, 3, 2}, true}, 1);
    CHECK_TEXT(verdict(&w, MODELS), "does not hold");
    release(&w);
}

/* Equal results are not a lead, and no significant difference. */
static void a_tie_is_no_lead(void **state)
{
    (void)state;
    static struct world w;
    make(&w, (struct reached){{1, 1, 1, 1, 1}, false}, 1);
    CHECK_TEXT(verdict(&w, RANK), "does not hold");
    CHECK_TEXT(verdict(&w, AGAINST_ASHA), "does not hold");
    CHECK_TEXT(verdict(&w, TRAILS), "does not hold");
    release(&w);
}

static void surrogates_are_compared_at_every_size(void **state)
{
    (void)state;
    static struct world w;
    make(&w, (struct reached){{1, 2, 3, 4, 5}, false}, 1);
    for (size_t i = 0; i < SURROGATE_SIZES; i++)
        for (size_t m = 0; m < SURROGATE_MODELS; m++)
            w.measures.all[i][m] = (struct surrogate_mean){
                .mae = m ? 0.5 : 0.9, .calibration = m == 2 ? 0.1 : 0.2, .seconds = m ? 1 : 2, .n = 3};
    CHECK_TEXT(verdict(&w, TREES), "holds");
    CHECK_TEXT(verdict(&w, GAP), "holds");
    CHECK_TEXT(verdict(&w, "Surrogates: at 1024"), "holds");
    w.measures.all[2][1].mae = 0.95; /* one size is enough */
    w.measures.all[3][2].calibration = 0.3;
    w.measures.all[3][1].seconds = 3;
    CHECK_TEXT(verdict(&w, TREES), "does not hold");
    CHECK_TEXT(verdict(&w, GAP), "does not hold");
    CHECK_TEXT(verdict(&w, "Surrogates: at 1024"), "does not hold");
    release(&w);
}

static void proposals_are_counted(void **state)
{
    (void)state;
    static struct world w;
    static const char says[] = "Illustration: sampling";
    make(&w, (struct reached){{1, 2, 3, 4, 5}, false}, 1);
    CHECK_TEXT(verdict(&w, says), "open");
    for (size_t k = 0; k < ILLUSTRATION_BINS; k++)
        w.measures.proposals[k] = 10;
    CHECK_TEXT(verdict(&w, says), "does not hold"); /* flat */
    w.measures.proposals[ILLUSTRATION_BINS / 4] = 1000;
    CHECK_TEXT(verdict(&w, says), "holds");
    release(&w);
}

static void numbers_are_the_papers(void **state)
{
    (void)state;
    CHECK_DOUBLE(wni_paper_number("all", 16, "GP").mae, 1.01);
    CHECK_DOUBLE(wni_paper_number("all", 1024, "CQR").mean_gap, 0.03);
    CHECK_DOUBLE(wni_paper_number("fcnet-parkinsons", 1024, "GP").seconds, 21.68);
    CHECK_DOUBLE(wni_paper_number("fcnet-naval", 16, "GP").mae, NAN); /* not in the paper */
    CHECK_INT(wni_paper_number("fcnet-naval", 16, "GP").n, 0);
}

static void groups_are_the_papers(void **state)
{
    (void)state;
    struct experiment e;
    struct err err = {0};
    struct task_list tasks;
    struct paper_setup setup = {.seeds = 2};
    CHECK_OK(wni_tasks_find(&tasks, "data", &err), err);
    CHECK_OK(wni_paper_experiment(&setup, &tasks, &e, &err), err);
    CHECK_INT(e.n_groups, 6); /* all but yahpo-lcbench */
    CHECK_TEXT(e.groups[0].name, "single-fidelity");
    CHECK_TEXT(e.groups[2].name, "variants");
    for (size_t m = 0; m < e.n_methods; m++) /* methods of the program, each once */
        for (size_t k = 0; k < m; k++)
            CHECK(strcmp(e.methods[m].name, e.methods[k].name), "'%s' twice", e.methods[m].name);
    CHECK(wni_paper_wants(&setup, "claims") && !wni_paper_wants(&setup, "yahpo-lcbench"), "wants");
    wni_experiment_release(&e);
    setup.groups = "variants,surrogates";
    CHECK_OK(wni_paper_experiment(&setup, &tasks, &e, &err), err);
    CHECK_INT(e.n_groups, 1);
    CHECK(wni_paper_wants(&setup, "surrogates") && !wni_paper_wants(&setup, "claims"), "wants");
    wni_experiment_release(&e);
    wni_tasks_release(&tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_hold_when_it_is_so),  cmocka_unit_test(they_do_not_when_it_is_not),
        cmocka_unit_test(ranks_are_told_by_family), cmocka_unit_test(a_missing_rival_leaves_it_open),
        cmocka_unit_test(a_tie_is_no_lead),         cmocka_unit_test(surrogates_are_compared_at_every_size),
        cmocka_unit_test(proposals_are_counted),    cmocka_unit_test(numbers_are_the_papers),
        cmocka_unit_test(groups_are_the_papers),
    };
    return cmocka_run_group_tests_name("paper", tests, NULL, NULL);
}
