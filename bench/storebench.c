/* storebench.c -- fills a study as one worker would, event by event, then opens and lists it. */
#include "bench/storebench.h"

#include "base/clock.h"
#include "bench/scratch.h"
#include "tuner/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char NAME[] = "bench";

static wn_status make_space(struct space *space, struct err *err)
{
    static const char *const words[] = {"relu", "tanh", "gelu"};
    const struct param_decl decls[] = {
        {.name = "lr", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-5, .max = 1},
        {.name = "dropout", .kind = PARAM_FLOAT, .max = 0.9},
        {.name = "units", .kind = PARAM_INT, .scale = WN_LOG, .min = 16, .max = 4096},
        {.name = "activation", .kind = PARAM_CATEGORICAL, .labels = words, .n_labels = 3},
    };
    wn_status st = WN_OK;
    wni_space_init(space);
    for (size_t i = 0; i < sizeof decls / sizeof *decls && !st; i++)
        st = wni_space_add(space, &decls[i], err);
    return st;
}

static wn_status open_study(struct study *study, const char *url, const struct space *space, double lease,
                            struct err *err)
{
    struct store store;
    wn_status st = wni_store_open(&store, url, NAME, space, err);
    if (st) return st;
    return wni_study_open(
        study,
        &(struct study_setup){.space = space, .scheduler = "fifo", .searcher = "random", .lease = lease},
        &store, err);
}

static wn_status run_trial(struct study *study, uint64_t reports, double now, struct err *err)
{
    struct handout job = {0};
    wn_decision ignored;
    wn_status st = wni_study_ask(study, now, &job, err);
    for (uint64_t r = 1; r <= reports && !st; r++)
        st = wni_study_report(study, job.trial, (double)r, job.config[1] + 1 / (double)r, now, &ignored, err);
    return st ? st : wni_study_finish(study, job.trial, WN_COMPLETE, now, err);
}

static wn_status fill(struct storebench *b, const char *url, const struct space *space, struct err *err)
{
    struct study study;
    wn_status st = open_study(&study, url, space, b->lease, err);
    if (st) return st;
    double began = wni_clock_seconds(), cpu = wni_clock_cpu_seconds();
    for (uint64_t i = 0; i < b->trials && !st; i++)
        st = run_trial(&study, b->reports, wni_clock_seconds() - began, err);
    b->fill = wni_clock_seconds() - began;
    b->cpu = wni_clock_cpu_seconds() - cpu;
    wni_study_release(&study);
    return st;
}

static wn_status take_ten(void *context, const struct trial_row *row, struct err *err)
{
    (void)context, (void)err;
    return row->number < 9 ? WN_OK : WN_WAIT;
}

static wn_status read_back(struct storebench *b, const char *url, const struct space *space, struct err *err)
{
    struct study study;
    double began = wni_clock_seconds();
    wn_status st = open_study(&study, url, space, b->lease, err);
    if (st) return st;
    b->open = wni_clock_seconds() - began;
    wni_study_release(&study);
    began = wni_clock_seconds();
    st = wni_store_trials(url, NAME, 0, take_ten, NULL, err);
    b->list = wni_clock_seconds() - began;
    return st;
}

static wn_status run_at(struct storebench *b, const char *url, struct err *err)
{
    struct space space;
    wn_status st = make_space(&space, err);
    if (!st) st = fill(b, url, &space, err);
    if (!st) st = read_back(b, url, &space, err);
    wni_space_release(&space);
    return st;
}

wn_status wni_storebench_run(struct storebench *b, const char *url, struct err *err)
{
    char folder[SCRATCH_MAX], address[SCRATCH_MAX + 32];
    if (url) return run_at(b, url, err);
    wn_status st = wni_scratch_make(folder, err);
    if (st) return st;
    snprintf(address, sizeof address, "sqlite:///%s/store.db", folder);
    st = run_at(b, address, err);
    wni_scratch_remove(folder);
    return st;
}
