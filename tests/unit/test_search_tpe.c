/* test_search_tpe.c -- the searchers tpe and bohb against proposals worked out the long way, and on functions
 * where they have to win.
 *
 * The long way draws what the searcher draws, in the order density.h tells, sorts all trials, and evaluates
 * the two densities by their formulas, candidate by candidate. */
#include "tests/check.h"

#include "core/encode.h"
#include "core/streams.h"
#include "num/stats.h"
#include "search/density.h"
#include "tuner/study.h"

enum { PARAMS_MAX = 12, TRIALS_MAX = 512, CANDIDATES = 64 };

static struct err err;

/* ---- spaces ---- */

static const char *const words[] = {"red", "green", "blue", "pink"};
static const char *const sizes[] = {"16", "32", "64", "512"};

/* One of each: wide and log ranges, few and many values, ordered or not, and one that cannot be chosen. */
static void mixed(struct space *space)
{
    wni_space_init(space);
    check_add(space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .min = -3, .max = 7});
    check_add(space,
              (struct param_decl){.name = "only", .kind = PARAM_CONSTANT, .labels = words, .n_labels = 1});
    check_add(space,
              (struct param_decl){.name = "lr", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-6, .max = 1});
    check_add(space, (struct param_decl){.name = "layers", .kind = PARAM_INT, .min = 1, .max = 5});
    check_add(space, (struct param_decl){
                         .name = "units", .kind = PARAM_INT, .scale = WN_LOG, .min = 16, .max = 1024});
    check_add(space, (struct param_decl){
                         .name = "color", .kind = PARAM_CATEGORICAL, .labels = words, .n_labels = 4});
    check_add(space,
              (struct param_decl){
                  .name = "batch", .kind = PARAM_ORDINAL, .scale = WN_LOG, .labels = sizes, .n_labels = 4});
    check_add(space, (struct param_decl){.name = "flag", .kind = PARAM_BOOL});
}

static void floats(struct space *space)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    wni_space_init(space);
    for (int i = 0; i < 5; i++)
        check_add(space, (struct param_decl){.name = names[i], .kind = PARAM_FLOAT, .max = 1});
}

static void learning_rate(struct space *space)
{
    wni_space_init(space);
    check_add(space,
              (struct param_decl){.name = "lr", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-8, .max = 1});
}

/* ---- a study ---- */

static void open_study(struct study *s, void (*make)(struct space *), struct study_setup setup)
{
    struct space space;
    struct store store;
    make(&space);
    CHECK_OK(wni_store_open(&store, "memory:", "study", &space, &err), err);
    setup.space = &space;
    if (!setup.scheduler) setup.scheduler = "fifo";
    CHECK_OK(wni_study_open(s, &setup, &store, &err), err);
    wni_space_release(&space);
}

/* Asks for this configuration instead of a proposal. */
static uint32_t start(struct study *s, const double *config)
{
    struct handout job;
    CHECK_OK(wni_study_enqueue(s, config, 0, &err), err);
    CHECK_OK(wni_study_ask(s, 0, &job, &err), err);
    return job.trial;
}

static wn_decision report(struct study *s, uint32_t trial, double resource, double value)
{
    wn_decision decision;
    CHECK_OK(wni_study_report(s, trial, resource, value, 0, &decision, &err), err);
    return decision;
}

static void finish(struct study *s, uint32_t trial, wn_state state)
{
    CHECK_OK(wni_study_finish(s, trial, state, 0, &err), err);
}

static void suggest(struct study *s, uint32_t trial, double *config)
{
    CHECK_OK(s->searcher.ops->suggest(s->searcher.self, &s->history, trial, config, &err), err);
    for (size_t i = 0; i < s->space.n; i++)
        check_in_space(&s->space.params[i], config[i]);
}

static void observe_random(struct study *s, size_t n, uint64_t seed, double (*value)(struct rng *))
{
    double config[PARAMS_MAX];
    struct rng rng = wni_rng_stream(seed, 0, 99);
    for (size_t i = 0; i < n; i++) {
        wni_config_sample(&s->space, &rng, config);
        uint32_t trial = start(s, config);
        double y = value(&rng);
        if (isfinite(y)) report(s, trial, 1, y);
        finish(s, trial, isfinite(y) ? WN_COMPLETE : WN_FAILED);
    }
}

/* ---- the long way ---- */

struct settings {
    double share, least, floor, widen, random;
    size_t max_fit;
};
static const struct settings usual = {0.15, 0.5, 0.1, 3, 0.1, 1000};

struct row {
    double value;
    uint32_t trial;
};

struct side {
    size_t n;
    uint32_t trials[TRIALS_MAX];
    double h[PARAMS_MAX];
};

static bool is_number(const struct param *p)
{
    return p->kind != PARAM_CATEGORICAL && p->kind != PARAM_BOOL && (p->count == 0 || p->count > 32);
}

static bool is_category(const struct param *p)
{
    return p->kind == PARAM_CATEGORICAL || p->kind == PARAM_BOOL;
}

static int by_value(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->trial < y->trial ? -1 : 1;
}

static int by_trial(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static double config_of(const struct study *s, uint32_t trial, size_t i)
{
    return wni_history_config(&s->history, trial)[i];
}

static double spread(const struct study *s, const struct side *side, size_t i)
{
    const struct param *p = &s->space.params[i];
    double pairs = 0, n = (double)side->n;
    for (size_t a = 0; a < side->n; a++)
        for (size_t b = 0; b < side->n; b++) {
            double x = config_of(s, side->trials[a], i), y = config_of(s, side->trials[b], i);
            double d = is_category(p) ? x != y : wni_param_to_unit(p, x) - wni_param_to_unit(p, y);
            pairs += d * d / 2;
        }
    return sqrt(pairs / n / n); /* the variance is half the mean squared distance of pairs */
}

static size_t dimensions(const struct space *space)
{
    size_t d = 0;
    for (size_t i = 0; i < space->n; i++)
        d += space->params[i].count != 1;
    return d;
}

static void set_bandwidths(const struct study *s, struct side *side, double floor)
{
    double d = (double)dimensions(&s->space);
    for (size_t i = 0; i < s->space.n; i++) {
        const struct param *p = &s->space.params[i];
        double flat = is_number(p) ? INFINITY : is_category(p) ? 1 - 1 / (double)p->count : 0.95;
        side->h[i] = fmin(flat, fmax(floor, 1.06 * spread(s, side, i) * pow((double)side->n, -1 / (4 + d))));
    }
}

static double kernel(const struct param *p, double h, double x, double center)
{
    double d = is_category(p) ? 0 : wni_param_to_unit(p, x) - wni_param_to_unit(p, center);
    if (is_number(p)) return wni_normal_pdf(d / h) / h;
    if (x == center) return 1 - h;
    return is_category(p) ? h / (double)(p->count - 1) : 0.5 * (1 - h) * pow(h, fabs(d));
}

static double density(const struct study *s, const struct side *side, const double *config)
{
    double sum = 0;
    for (size_t k = 0; k < side->n; k++) {
        double product = 1;
        for (size_t i = 0; i < s->space.n; i++)
            if (s->space.params[i].count != 1)
                product *=
                    kernel(&s->space.params[i], side->h[i], config[i], config_of(s, side->trials[k], i));
        sum += product;
    }
    return fmax(1e-32, sum / (double)side->n);
}

static void split(const struct study *s, const struct settings *o, struct rng *rng, struct side *good,
                  struct side *bad)
{
    struct row rows[TRIALS_MAX];
    uint32_t failed[TRIALS_MAX], drawn[TRIALS_MAX];
    size_t n = 0, n_failed = 0;
    for (uint32_t t = 0; t < s->history.n_trials; t++) {
        if (s->history.trials[t].state == WN_FAILED)
            failed[n_failed++] = t;
        else if (wni_search_observation(&s->search_env, &s->history, t, &rows[n].value))
            rows[n++].trial = t;
    }
    qsort(rows, n, sizeof *rows, by_value);
    size_t fitted = n < o->max_fit ? n : o->max_fit;
    double least = fmax(2, ceil(o->least * (double)(dimensions(&s->space) + 1)));
    good->n = (size_t)fmin((double)(fitted - 1), fmax(least, floor(o->share * (double)fitted)));
    bad->n = 0;
    for (size_t i = 0; i < n; i++)
        *(i < good->n ? &good->trials[i] : &bad->trials[bad->n++]) = rows[i].trial;
    qsort(good->trials, good->n, sizeof *good->trials, by_trial);
    qsort(bad->trials, bad->n, sizeof *bad->trials, by_trial);
    for (size_t i = 0; i < n_failed; i++)
        bad->trials[bad->n++] = failed[i];
    if (bad->n <= o->max_fit - good->n) return;
    wni_rng_sample(rng, (uint32_t)bad->n, (uint32_t)(o->max_fit - good->n), drawn);
    bad->n = o->max_fit - good->n;
    for (size_t i = 0; i < bad->n; i++)
        bad->trials[i] = bad->trials[drawn[i]];
}

/* A candidate as density.h describes it; the columns are described here once more, by the parameter. */
static void draw(const struct study *s, const struct side *good, double widen, struct rng *rng,
                 double *config)
{
    uint32_t center = good->trials[wni_rng_below(rng, good->n)];
    for (size_t i = 0; i < s->space.n; i++) {
        const struct param *p = &s->space.params[i];
        double at[32], c = config_of(s, center, i);
        config[i] = c;
        if (p->count == 1) continue;
        for (uint64_t v = 0; v < p->count && v < 32; v++)
            at[v] = wni_param_to_unit(p, wni_param_value_at(p, v));
        struct kde_column column = {.kind = is_number(p)     ? KDE_CONTINUOUS
                                            : is_category(p) ? KDE_UNORDERED
                                                             : KDE_ORDERED,
                                    .count = p->count,
                                    .at = at};
        bool number = is_number(p);
        double from = number ? wni_param_to_unit(p, c) : (double)wni_param_index_of(p, c);
        double to = wni_kde_draw(&column, widen * good->h[i], from, rng);
        config[i] = number ? wni_param_from_unit(p, to) : wni_param_value_at(p, (uint64_t)to);
    }
}

/* The proposal is the best of the candidates, or as good but for rounding. */
static void check_proposal(struct study *s, uint32_t trial, const struct settings *o)
{
    static struct side good, bad;
    double got[PARAMS_MAX], config[PARAMS_MAX], best = 0, of_got = -1;
    struct rng rng = wni_rng_stream(s->search_env.seed, trial, STREAM_SEARCH);
    suggest(s, trial, got);
    if (wni_rng_uniform(&rng) < o->random) {
        CHECK_INT(wni_search_random(&s->search_env, &s->history, trial, config), WN_OK);
        CHECK(wni_config_equal(&s->space, got, config), "trial %u is not random", trial);
        return;
    }
    split(s, o, &rng, &good, &bad);
    set_bandwidths(s, &good, o->floor);
    set_bandwidths(s, &bad, o->floor);
    for (int n = 0, tries = 0; n < CANDIDATES && tries < 4 * CANDIDATES; tries++) {
        draw(s, &good, o->widen, &rng, config);
        if (wni_history_seen(&s->history, config)) continue;
        double ratio = density(s, &good, config) / density(s, &bad, config);
        best = fmax(best, ratio);
        if (wni_config_equal(&s->space, got, config)) of_got = ratio;
        n++;
    }
    CHECK(of_got >= best * (1 - 1e-9), "trial %u: ratio %.17g (-1: not a candidate), the best is %.17g",
          trial, of_got, best);
}

static double any_value(struct rng *rng)
{
    return wni_rng_normal(rng);
}

static double few_values_and_failures(struct rng *rng)
{
    return check_chance(rng, 20) ? NAN : (double)check_between(rng, 0, 3);
}

static void proposals_are_the_best_candidates(void **state)
{
    (void)state;
    struct study s;
    for (uint64_t seed = 0; seed < 12; seed++) {
        open_study(&s, mixed, (struct study_setup){.searcher = "tpe", .seed = seed});
        observe_random(&s, 8 + 12 * seed, seed, seed % 2 ? few_values_and_failures : any_value);
        for (uint32_t k = 0; k < 8; k++)
            check_proposal(&s, (uint32_t)s.history.n_trials + k, &usual);
        wni_study_release(&s);
    }
}

static void options_mean_what_they_say(void **state)
{
    (void)state;
    struct study s;
    static const char text[] = "searcher.share=0.3 searcher.least=1 searcher.floor=0.02 searcher.widen=1.5 "
                               "searcher.random=0.5 searcher.max_fit=30";
    open_study(&s, mixed, (struct study_setup){.searcher = "tpe", .seed = 4, .options = {text}});
    observe_random(&s, 200, 4, few_values_and_failures);
    for (uint32_t k = 0; k < 30; k++)
        check_proposal(&s, (uint32_t)s.history.n_trials + k, &(struct settings){0.3, 1, 0.02, 1.5, 0.5, 30});
    wni_study_release(&s);
}

static bool is_random(struct study *s, uint32_t trial)
{
    double got[PARAMS_MAX], random[PARAMS_MAX];
    suggest(s, trial, got);
    CHECK_INT(wni_search_random(&s->search_env, &s->history, trial, random), WN_OK);
    return wni_config_equal(&s->space, got, random);
}

/* Seven parameters that matter: four good ones and as many others. */
static void the_model_begins_when_both_sides_have_enough(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, mixed,
               (struct study_setup){.searcher = "tpe", .seed = 1, .options = {"searcher.random=0"}});
    for (int n = 0; n < 8; n++) {
        CHECK(is_random(&s, 100), "a model of %d trials", n);
        observe_random(&s, 1, (uint64_t)n, any_value);
    }
    CHECK(!is_random(&s, 100), "no model of 8 trials");
    wni_study_release(&s);
}

/* ---- behaviour ---- */

/* Good ones between 1e-6 and 1e-5: on a linear scale all of that is 0. */
static void log_scales_are_respected(void **state)
{
    (void)state;
    struct study s;
    double lr;
    int near = 0;
    struct rng rng = wni_rng_stream(1, 1, 1);
    open_study(&s, learning_rate, (struct study_setup){.searcher = "tpe"});
    for (int i = 0; i < 60; i++) {
        lr = check_magnitude(&rng, -7.99, -0.01);
        wni_param_canonical(&s.space.params[0], lr, &lr);
        uint32_t trial = start(&s, &lr);
        report(&s, trial, 1, fabs(log10(lr) + 5.5));
        finish(&s, trial, WN_COMPLETE);
    }
    for (uint32_t k = 0; k < 100; k++) {
        suggest(&s, 60 + k, &lr);
        near += lr > 10e-8 && lr < 10e-5;
    }
    CHECK(near > 80, "%d of 100 are within a factor of 30", near); /* 3 of 8 decades: 37 by chance */
    wni_study_release(&s);
}

/* The left half fails, and everything else is equal. */
static void failures_are_avoided(void **state)
{
    (void)state;
    struct study s;
    int left = 0;
    double config[PARAMS_MAX];
    struct rng rng = wni_rng_stream(2, 1, 1);
    open_study(&s, floats, (struct study_setup){.searcher = "tpe"});
    for (int i = 0; i < 80; i++) {
        wni_config_sample(&s.space, &rng, config);
        uint32_t trial = start(&s, config);
        if (config[0] < 0.5) {
            report(&s, trial, 1, NAN);
            finish(&s, trial, WN_FAILED);
            continue;
        }
        report(&s, trial, 1, 1);
        finish(&s, trial, WN_COMPLETE);
    }
    for (uint32_t k = 0; k < 200; k++) {
        suggest(&s, 80 + k, config);
        left += config[0] < 0.5;
    }
    CHECK(left < 40, "%d of 200 where everything fails", left);
    wni_study_release(&s);
}

/* ---- getting somewhere ---- */

static double bowl(const double *config, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (config[i] - 0.3) * (config[i] - 0.3);
    return sum;
}

static double best_of(const char *searcher, uint64_t seed)
{
    struct study s;
    struct handout job;
    open_study(&s, floats, (struct study_setup){.searcher = searcher, .seed = seed});
    for (int i = 0; i < 150; i++) {
        CHECK_OK(wni_study_ask(&s, 0, &job, &err), err);
        report(&s, job.trial, 1, bowl(job.config, 5));
        finish(&s, job.trial, WN_COMPLETE);
    }
    double best = s.history.best_value;
    wni_study_release(&s);
    return best;
}

static void tpe_converges(void **state)
{
    (void)state;
    double tpe = 0, random = 0;
    for (uint64_t seed = 0; seed < 10; seed++)
        tpe += best_of("tpe", seed), random += best_of("random", seed);
    CHECK(tpe < random / 3, "mean best %g, of random search %g", tpe / 10, random / 10);
}

/* Early values are the later ones and a penalty that shrinks: good to know, but not the last word. */
static double best_of_curves(const char *searcher, uint64_t seed)
{
    struct study s;
    struct handout job;
    open_study(
        &s, floats,
        (struct study_setup){.searcher = searcher, .scheduler = "asha", .seed = seed, .max_resource = 27});
    double best = INFINITY;
    while (s.history.total_resource < 27 * 100) {
        CHECK_OK(wni_study_ask(&s, 0, &job, &err), err);
        double final = bowl(job.config, 5), r = 0;
        wn_decision decision = WN_CONTINUE;
        for (r = 1; decision == WN_CONTINUE; r++)
            decision = report(&s, job.trial, r, final + (1 + job.config[0]) / r);
        finish(&s, job.trial, WN_COMPLETE);
        if (r > 27) best = fmin(best, final);
    }
    wni_study_release(&s);
    return best;
}

static void bohb_beats_successive_halving_alone(void **state)
{
    (void)state;
    double bohb = 0, asha = 0;
    for (uint64_t seed = 0; seed < 10; seed++)
        bohb += best_of_curves("bohb", seed), asha += best_of_curves("random", seed);
    CHECK(bohb < asha / 2, "mean best %g, of random proposals %g", bohb / 10, asha / 10);
}

/* ---- bohb: which values the model sees ---- */

/* What tpe proposes after the same trials, when those in `seen` have ended with these values and the others
 * are under way. */
static void propose_from(const struct study *like, const double *values, double *config)
{
    struct study s;
    open_study(&s, mixed, (struct study_setup){.searcher = "tpe", .options = {"searcher.random=0"}});
    for (uint32_t t = 0; t < like->history.n_trials; t++) {
        start(&s, wni_history_config(&like->history, t));
        if (isnan(values[t])) continue;
        report(&s, t, 1, values[t]);
        finish(&s, t, WN_COMPLETE);
    }
    suggest(&s, (uint32_t)s.history.n_trials, config);
    wni_study_release(&s);
}

/* Rungs 1, 3, 9 and the end at 27; 16 make the model move up.  Of n trials some come to 3 and fewer to 9.
 * While no level has 16 it is the one with the most. */
static void bohb_learns_at_the_highest_level_with_enough(void **state)
{
    (void)state;
    static const struct {
        int n, to_3, to_9, to_27;
        double level;
    } cases[] = {{8, 0, 0, 0, 1},    {15, 12, 9, 8, 1},   {40, 15, 0, 0, 1},   {40, 16, 0, 0, 3},
                 {40, 25, 15, 8, 3}, {40, 25, 16, 15, 9}, {40, 25, 18, 16, 27}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct study s;
        struct rng rng = wni_rng_stream(c, 5, 1);
        double config[PARAMS_MAX], expected[PARAMS_MAX], values[40];
        open_study(&s, mixed,
                   (struct study_setup){.searcher = "bohb",
                                        .scheduler = "asha",
                                        .options = {"searcher.random=0"},
                                        .max_resource = 27});
        for (int t = 0; t < cases[c].n; t++) {
            double last = t < cases[c].to_27 ? 27 : t < cases[c].to_9 ? 9 : t < cases[c].to_3 ? 3 : 1;
            wni_config_sample(&s.space, &rng, config);
            uint32_t trial = start(&s, config);
            values[t] = NAN;
            for (double r = 1; r <= last; r++) {
                double value = wni_rng_normal(&rng);
                if (r == cases[c].level) values[t] = value;
                report(&s, trial, r, value);
            }
            finish(&s, trial, WN_STOPPED);
        }
        suggest(&s, (uint32_t)s.history.n_trials, config);
        propose_from(&s, values, expected);
        for (size_t i = 0; i < s.space.n; i++)
            CHECK(config[i] == expected[i], "case %zu: parameter %zu is %.17g, expected %.17g", c, i,
                  config[i], expected[i]);
        wni_study_release(&s);
    }
}

/* Without levels bohb is tpe. */
static void bohb_without_a_scheduler_is_tpe(void **state)
{
    (void)state;
    CHECK_DOUBLE(best_of("bohb", 3), best_of("tpe", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(proposals_are_the_best_candidates),
        cmocka_unit_test(options_mean_what_they_say),
        cmocka_unit_test(the_model_begins_when_both_sides_have_enough),
        cmocka_unit_test(log_scales_are_respected),
        cmocka_unit_test(failures_are_avoided),
        cmocka_unit_test(tpe_converges),
        cmocka_unit_test(bohb_beats_successive_halving_alone),
        cmocka_unit_test(bohb_learns_at_the_highest_level_with_enough),
        cmocka_unit_test(bohb_without_a_scheduler_is_tpe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
