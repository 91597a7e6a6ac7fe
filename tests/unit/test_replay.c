/* test_replay.c -- tuner/replay.h: what a study proposed is proposed again, and a log that was changed is
 * found out. */
#include "tests/contract/contract.h"

#include "method/method.h"
#include "tuner/replay.h"

static struct err err;

enum { TRIALS = 40, AT_A_TIME = 3 };

static void make_space(struct space *space)
{
    static const char *const words[] = {"a", "b", "c"};
    wni_space_init(space);
    check_add(space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1});
    check_add(space, (struct param_decl){.name = "n", .kind = PARAM_INT, .min = 1, .max = 99});
    check_add(space,
              (struct param_decl){.name = "w", .kind = PARAM_CATEGORICAL, .labels = words, .n_labels = 3});
}

static double value_of(const double *config, int epoch)
{
    return fabs(config[0] - 0.3) + config[1] / 100 + (config[2] == 1) + 1.0 / epoch;
}

static void open_study(struct study *s, const struct study_setup *setup)
{
    struct space space;
    struct store store;
    struct study_setup full = *setup;
    make_space(&space);
    full.space = &space;
    CHECK_OK(wni_store_open(&store, "memory:", "s", &space, &err), err);
    CHECK_OK(wni_study_open(s, &full, &store, &err), err);
    wni_space_release(&space);
}

/* Several trials at a time report in turn, so that proposals have seen some of their neighbours only. */
static void drive(struct study *s)
{
    struct {
        bool on;
        uint32_t trial;
        int epoch;
    } slots[AT_A_TIME] = {0};
    for (int i = 0; s->history.n_trials < TRIALS || i % AT_A_TIME; i++) {
        int k = i % AT_A_TIME;
        wn_decision decision = WN_CONTINUE;
        struct handout job;
        if (!slots[k].on) {
            if (wni_study_ask(s, 0, &job, &err) != WN_OK) continue;
            slots[k].on = true;
            slots[k].trial = job.trial;
            slots[k].epoch = (int)job.resumed_from;
            continue;
        }
        slots[k].epoch++;
        double value = value_of(wni_history_config(&s->history, slots[k].trial), slots[k].epoch);
        CHECK_OK(wni_study_report(s, slots[k].trial, slots[k].epoch, value, 0, &decision, &err), err);
        if (decision == WN_CONTINUE) continue;
        CHECK_OK(wni_study_finish(s, slots[k].trial, WN_COMPLETE, 0, &err), err);
        slots[k].on = false;
    }
}

static void open_driven(struct study *s, const struct study_setup *setup)
{
    open_study(s, setup);
    drive(s);
}

static const struct study_setup setups[] = {
    {.scheduler = "fifo", .searcher = "random", .max_resource = 2, .seed = 1},
    {.scheduler = "asha",
     .searcher = "cqr",
     .options = {"searcher.trees=10 searcher.candidates=50"},
     .max_resource = 9,
     .seed = 2},
};

static void replay_setup(const struct study_setup *setup)
{
    struct study s;
    struct replay r;
    double proposal[3];
    open_study(&s, setup);
    CHECK_OK(wni_study_enqueue(&s, (double[]){0.5, 7, 2}, 0, &err), err);
    drive(&s);
    CHECK_OK(wni_replay(&s, setup, &r, proposal, NULL, NULL, &err), err);
    CHECK(r.differs == TRIAL_NONE, "%s under %s: trial %u differs", setup->searcher, setup->scheduler,
          r.differs);
    CHECK_INT(r.queued, 1);
    CHECK_INT(r.proposals, s.history.n_trials - 1);
    wni_study_release(&s);
}

static void the_same_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < wni_method_count(); i++) {
        const struct method *m = wni_method_at(i);
        replay_setup(&(struct study_setup){.scheduler = m->scheduler,
                                           .searcher = m->searcher,
                                           .options = {m->options, brisk_options(m->searcher)},
                                           .max_resource = 9,
                                           .seed = i});
    }
}

/* One bit of one proposal, or one of the values that later ones were made from. */
static void a_change_is_found(void **state)
{
    (void)state;
    struct study s;
    struct replay r;
    double proposal[3];
    open_driven(&s, &setups[1]);
    double *x = &s.history.configs[20 * 3], logged = *x;
    *x = nextafter(logged, 1);
    bool on_grid = wni_param_canonical(&s.space.params[0], *x, &proposal[0]) && proposal[0] == *x;
    CHECK(!on_grid, "%.17g", *x);
    CHECK_OK(wni_replay(&s, &setups[1], &r, proposal, NULL, NULL, &err), err);
    CHECK_INT(r.differs, 20);
    CHECK_INT(r.proposals, 20);
    CHECK_DOUBLE(proposal[0], logged);
    *x = logged;
    for (size_t i = 0; i < 30; i++) /* the first values upside down: the model learns something else */
        s.history.values[i] = -s.history.values[i];
    CHECK_OK(wni_replay(&s, &setups[1], &r, proposal, NULL, NULL, &err), err);
    CHECK(r.differs != TRIAL_NONE && r.differs >= 5, "%u", r.differs);
    wni_study_release(&s);
}

static void another_seed_differs_at_once(void **state)
{
    (void)state;
    struct study s;
    struct replay r;
    double proposal[3];
    open_driven(&s, &setups[0]);
    struct study_setup other = setups[0];
    other.seed++;
    CHECK_OK(wni_replay(&s, &other, &r, proposal, NULL, NULL, &err), err);
    CHECK_INT(r.differs, 0);
    wni_study_release(&s);
}

static bool stop_at_once(void *context, uint64_t events)
{
    (void)context, (void)events;
    return false;
}

static void can_be_interrupted(void **state)
{
    (void)state;
    struct study s;
    struct replay r;
    double proposal[3];
    open_driven(&s, &setups[0]);
    CHECK_INT(wni_replay(&s, &setups[0], &r, proposal, stop_at_once, NULL, &err), WN_WAIT);
    CHECK_INT(r.proposals, 1);
    wni_study_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_again),
        cmocka_unit_test(a_change_is_found),
        cmocka_unit_test(another_seed_differs_at_once),
        cmocka_unit_test(can_be_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
