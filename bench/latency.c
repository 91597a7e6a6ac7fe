/* latency.c -- times suggestions and fits on made-up observations.
 *
 * Observations are a smooth function of the unit encoding plus noise, so that models have something to find.
 * The study grows by one observed trial between suggestions, untimed, as it would for a single worker: what a
 * searcher keeps from one suggestion to the next helps it here as it does in use, and what it does only now
 * and then is part of some of the rounds.  It grows from a little below n to as much above, then another one
 * begins. */
#include "bench/latency.h"

#include "base/clock.h"
#include "base/mem.h"
#include "core/encode.h"
#include "num/order.h"
#include "num/portable.h"
#include "surrogate/quantile.h"
#include "tuner/study.h"

#include <stdlib.h>
#include <string.h>

enum { REPEATS_MAX = 101 };
static const double ENOUGH_SECONDS = 1.0;

/* ---- spaces ---- */

#define WORDS(...)                                                                                           \
    .labels = (const char *const[]){__VA_ARGS__},                                                            \
    .n_labels = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static const struct param_decl fcnet[] = {
    {.name = "activation_fn_1", .kind = PARAM_CATEGORICAL, WORDS("tanh", "relu")},
    {.name = "activation_fn_2", .kind = PARAM_CATEGORICAL, WORDS("tanh", "relu")},
    {.name = "batch_size", .kind = PARAM_ORDINAL, .scale = WN_LOG, WORDS("8", "16", "32", "64")},
    {.name = "dropout_1", .kind = PARAM_ORDINAL, WORDS("0.0", "0.3", "0.6")},
    {.name = "dropout_2", .kind = PARAM_ORDINAL, WORDS("0.0", "0.3", "0.6")},
    {.name = "init_lr", .kind = PARAM_CATEGORICAL, WORDS("0.0005", "0.001", "0.005", "0.01", "0.05", "0.1")},
    {.name = "lr_schedule", .kind = PARAM_CATEGORICAL, WORDS("cosine", "const")},
    {.name = "n_units_1",
     .kind = PARAM_ORDINAL,
     .scale = WN_LOG,
     WORDS("16", "32", "64", "128", "256", "512")},
    {.name = "n_units_2",
     .kind = PARAM_ORDINAL,
     .scale = WN_LOG,
     WORDS("16", "32", "64", "128", "256", "512")},
};

static const struct param_decl lcbench[] = {
    {.name = "num_layers", .kind = PARAM_INT, .min = 1, .max = 5},
    {.name = "max_units", .kind = PARAM_INT, .scale = WN_LOG, .min = 64, .max = 1024},
    {.name = "batch_size", .kind = PARAM_INT, .scale = WN_LOG, .min = 16, .max = 512},
    {.name = "learning_rate", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-4, .max = 1e-1},
    {.name = "weight_decay", .kind = PARAM_FLOAT, .min = 1e-5, .max = 1e-1},
    {.name = "momentum", .kind = PARAM_FLOAT, .min = 0.1, .max = 0.99},
    {.name = "max_dropout", .kind = PARAM_FLOAT, .min = 0, .max = 1},
};

static const struct {
    const char *name;
    const struct param_decl *decls;
    size_t n;
} spaces[] = {{"fcnet", fcnet, sizeof fcnet / sizeof *fcnet},
              {"lcbench", lcbench, sizeof lcbench / sizeof *lcbench}};

size_t wni_latency_space_count(void)
{
    return sizeof spaces / sizeof *spaces;
}

const char *wni_latency_space_name(size_t i)
{
    return spaces[i].name;
}

wn_status wni_latency_space(const char *name, struct space *space, struct err *err)
{
    wni_space_init(space);
    for (size_t i = 0; i < wni_latency_space_count(); i++) {
        if (strcmp(spaces[i].name, name) != 0) continue;
        wn_status st = WN_OK;
        for (size_t k = 0; k < spaces[i].n && !st; k++)
            st = wni_space_add(space, &spaces[i].decls[k], err);
        if (st) wni_space_release(space);
        return st;
    }
    return wni_fail(err, WN_EINVAL, "unknown space '%s'; there are fcnet and lcbench", name);
}

/* ---- observations ---- */

static double objective(const double *unit, size_t width, struct rng *rng)
{
    double sum = 0;
    for (size_t j = 0; j < width; j++) {
        double d = unit[j] - wni_sin((double)j + 1) * wni_sin((double)j + 1);
        sum += d * d * (double)(1 + j % 3);
    }
    return sum + 0.1 * wni_rng_normal(rng);
}

struct rng wni_latency_stream(uint64_t seed)
{
    return wni_rng_stream(seed, 0, 0);
}

double wni_latency_observation(const struct space *space, struct rng *rng, double *config, double *unit)
{
    wni_config_sample(space, rng, config);
    wni_encode_unit(space, config, unit);
    return objective(unit, space->unit_width, rng);
}

/* A study that is fed made-up observations. */
struct fed {
    struct study study;
    struct rng rng;
    double *config, *unit;
    const struct method *method; /* these and below: of a study that grows */
    const struct space *space;
    size_t least, most; /* observed trials */
};

/* One more trial: asked, and reported at 1, 3, 9, ... for as long as the scheduler lets it go on. */
static wn_status observe_one(struct fed *f, struct err *err)
{
    const struct space *space = &f->study.space;
    struct handout job = {0};
    wn_decision next = WN_CONTINUE;
    double value = wni_latency_observation(space, &f->rng, f->config, f->unit);
    double last = f->study.sched_env.max_resource;
    wn_status st = wni_study_enqueue(&f->study, f->config, 0, err);
    if (!st) st = wni_study_ask(&f->study, 0, &job, err);
    for (double r = 1; r <= last && next == WN_CONTINUE && !st; r *= 3)
        st = wni_study_report(&f->study, job.trial, r, value + 1 / r, 0, &next, err);
    if (!st) st = wni_study_finish(&f->study, job.trial, WN_COMPLETE, 0, err);
    return st;
}

static wn_status open_study(struct study *study, const struct method *method, const struct space *space,
                            struct err *err)
{
    struct store store;
    wn_status st = wni_store_open(&store, "memory:", "latency", space, err);
    if (st) return st;
    bool partial = wni_scheduler_find(method->scheduler, NULL)->stops_early;
    return wni_study_open(study,
                          &(struct study_setup){.space = space,
                                                .scheduler = method->scheduler,
                                                .searcher = method->searcher,
                                                .options = {method->options, NULL},
                                                .max_resource = partial ? 81 : 1},
                          &store, err);
}

/* ---- timing ---- */

/* Something to be timed again and again. */
struct timed {
    wn_status (*once)(void *context, uint32_t round, struct err *err);
    wn_status (*between)(void *context, struct err *err); /* not timed; NULL: nothing */
    void *context;
};

/* Runs it until there is enough to take a median of: at least three times, at most a second or REPEATS_MAX.
 * The time is this thread's: OpenBLAS starts others with the program, which idle busily for a moment. */
static wn_status median_seconds(const struct timed *t, double *seconds, struct err *err)
{
    double times[REPEATS_MAX], total = 0;
    size_t n = 0;
    wn_status st = t->once(t->context, 0, err); /* warms caches and arenas up */
    while (!st && n < REPEATS_MAX && (n < 3 || total < ENOUGH_SECONDS)) {
        if (t->between) st = t->between(t->context, err);
        double began = wni_clock_thread_seconds();
        if (!st) st = t->once(t->context, (uint32_t)n + 1, err);
        times[n] = wni_clock_thread_seconds() - began;
        total += times[n++];
    }
    if (!st) *seconds = wni_select(times, n, n / 2);
    return st;
}

static wn_status suggest_once(void *context, uint32_t round, struct err *err)
{
    struct fed *f = context;
    struct history *h = &f->study.history;
    (void)round;
    return f->study.searcher.ops->suggest(f->study.searcher.self, h, (uint32_t)h->n_trials, f->config, err);
}

/* A study with `least` observed trials. */
static wn_status start_study(struct fed *f, struct err *err)
{
    wni_study_release(&f->study);
    wn_status st = open_study(&f->study, f->method, f->space, err);
    for (size_t i = 0; i < f->least && !st; i++)
        st = observe_one(f, err);
    return st;
}

static wn_status grow(void *context, struct err *err)
{
    struct fed *f = context;
    return f->study.history.n_trials < f->most ? observe_one(f, err) : start_study(f, err);
}

wn_status wni_latency_suggest(const struct method *method, const struct space *space, size_t n,
                              double *seconds, struct err *err)
{
    enum { REACH = 12 }; /* 25 suggestions: what searchers do on schedule falls into it */
    size_t reach = n / 8 < REACH ? n / 8 : REACH;
    struct fed f = {.rng = wni_latency_stream(0),
                    .method = method,
                    .space = space,
                    .least = n - reach,
                    .most = n + reach};
    f.config = wni_new(double, space->n);
    f.unit = wni_new(double, space->unit_width);
    wn_status st = f.config && f.unit ? start_study(&f, err) : wni_fail_memory(err);
    if (!st) st = median_seconds(&(struct timed){suggest_once, grow, &f}, seconds, err);
    free(f.config);
    free(f.unit);
    wni_study_release(&f.study);
    return st;
}

struct fit_round {
    size_t n, width;
    double *x, *y;
    struct quantile_model model;
    struct quantile_options options;
};

static wn_status fit_once(void *context, uint32_t round, struct err *err)
{
    struct fit_round *f = context;
    struct rng rng = wni_rng_stream(0, round, 0);
    wn_status st = wni_quantile_fit(&f->model, f->x, f->y, f->n, f->width, &f->options, &rng);
    return st ? wni_fail_memory(err) : WN_OK;
}

static wn_status make_rows(const struct space *space, struct fit_round *f, struct err *err)
{
    f->width = space->tree_width;
    f->x = wni_new(double, f->n * f->width);
    f->y = wni_new(double, f->n);
    double *config = wni_new(double, space->n), *unit = wni_new(double, space->unit_width);
    struct rng rng = wni_latency_stream(0);
    wn_status st = f->x && f->y && config && unit ? WN_OK : wni_fail_memory(err);
    for (size_t i = 0; i < f->n && !st; i++) {
        f->y[i] = wni_latency_observation(space, &rng, config, unit);
        wni_encode_tree(space, config, f->x + i * f->width);
    }
    free(config);
    free(unit);
    return st;
}

wn_status wni_latency_fit(const struct space *space, size_t n, int levels, double *seconds, struct err *err)
{
    struct fit_round round = {.n = n};
    round.options = (struct quantile_options){
        .levels = levels,
        .boost = {.trees = 100, .depth = 3, .rate = 0.1, .min_leaf = 1, .row_share = 1, .column_share = 1}};
    wn_status st = make_rows(space, &round, err);
    if (!st) st = median_seconds(&(struct timed){.once = fit_once, .context = &round}, seconds, err);
    free(round.x);
    free(round.y);
    wni_quantile_release(&round.model);
    return st;
}
