/* test_experiment.c -- experiments from files, their plans, and results that survive the way to disk and
 * back. */
#include "tests/check.h"

#include "base/mem.h"
#include "bench/pool.h"
#include "bench/runner.h"
#include "bench/spec.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- specifications ---- */

struct world {
    struct experiment e;
    struct task_list tasks;
    struct document doc;
    struct problems problems;
    struct buf complaints;
};

static wn_status read_spec(struct world *w, const char *text)
{
    struct err err = {0};
    *w = (struct world){0};
    CHECK_OK(wni_tasks_find(&w->tasks, "data", &err), err);
    CHECK_OK(wni_yaml_parse(&w->doc, "x.yaml", text, strlen(text), &err), err);
    wn_status st = wni_spec_read(&w->e, &w->doc, &w->tasks, &w->problems);
    wni_problems_write(&w->problems, &w->complaints);
    return st;
}

static void release(struct world *w)
{
    wni_experiment_release(&w->e);
    wni_document_release(&w->doc);
    wni_problems_release(&w->problems);
    wni_tasks_release(&w->tasks);
    wni_buf_release(&w->complaints);
}

static void check_spec(const char *text, const char *complaint)
{
    struct world w;
    CHECK_INT(read_spec(&w, text), WN_EINVAL);
    CHECK(strstr(wni_buf_text(&w.complaints), complaint), "expected '%s' in\n%s", complaint,
          wni_buf_text(&w.complaints));
    release(&w);
}

static void a_file_becomes_an_experiment(void **state)
{
    (void)state;
    struct world w;
    wn_status st =
        read_spec(&w, "name: one\n"
                      "methods: [rs, {name: asha, label: fast, eta: 4, scheduler.type: promotion}]\n"
                      "tasks: [branin, digits]\n"
                      "seeds: {first: 5, count: 3}\n"
                      "workers: 7\n"
                      "limits: {time: 1h, results: 50}\n"
                      "poll: 2.5\n");
    CHECK(st == WN_OK, "%s", wni_buf_text(&w.complaints));
    CHECK_TEXT(w.e.name, "one");
    CHECK_INT(w.e.n_groups, 1);
    CHECK_INT(w.e.n_methods, 2);
    CHECK_TEXT(w.e.methods[1].name, "fast");
    CHECK_TEXT(w.e.methods[1].method, "asha");
    CHECK_TEXT(w.e.methods[1].options, "scheduler.eta=4 scheduler.type=promotion");
    CHECK_INT(w.e.n_tasks, 2);
    CHECK_TEXT(w.e.tasks[1].name, "digits-mlp"); /* the family */
    CHECK_INT(w.e.first_seed, 5);
    CHECK_INT(w.e.seeds, 3);
    CHECK_INT(w.e.workers, 7);
    CHECK_DOUBLE(w.e.limits.seconds, 3600);
    CHECK_INT(w.e.limits.reports, 50);
    CHECK_DOUBLE(w.e.poll, 2.5);
    release(&w);
}

static void defaults_are_the_papers(void **state)
{
    (void)state;
    struct world w;
    CHECK_INT(read_spec(&w, "{methods: [rs, rea], tasks: digits-mlp}"), WN_OK);
    CHECK_INT(w.e.workers, 4);
    CHECK_INT(w.e.seeds, 1);
    struct tuner_limits l = wni_experiment_limits(&w.e, &w.e.tasks[0]);
    CHECK_DOUBLE(l.resource, w.e.tasks[0].limit_resource);
    CHECK_DOUBLE(l.seconds, w.e.tasks[0].limit_seconds);
    release(&w);
}

static void mistakes_have_a_place(void **state)
{
    (void)state;
    check_spec("[1]", "x.yaml:1:1: an experiment must be a mapping");
    check_spec("methods: [rs, rea]\n", "missing 'tasks'");
    check_spec("tasks: branin\n", "missing 'methods'");
    check_spec("methods: []\ntasks: branin\n", "x.yaml:1:10: missing 'methods'");
    check_spec("methods: [rs, [rea]]\ntasks: branin\n", "x.yaml:1:15: a method must be a name");
    check_spec("methods: [rs, {label: x}]\ntasks: branin\n", "x.yaml:1:15: a method must be a name");
    check_spec("methods: [rs, {name: rea, label: 'a/b'}]\ntasks: branin\n",
               "x.yaml:1:34: 'label' must be letters");
    check_spec("methods: [rs, {name: rs, x: 1}]\ntasks: branin\n", "x.yaml:1:26: unknown option 'x'");
    check_spec("methods: [rs, {name: rea, population: [3]}]\ntasks: branin\n",
               "option 'population' must be a value");
    check_spec("methods: [rs, rea]\ntasks: [{a: 1}]\n", "x.yaml:2:9: a task must be a name");
    check_spec("methods: [rs, rea]\ntasks: branni\n",
               "x.yaml:2:8: no task or family 'branni'; did you mean 'branin'?");
    check_spec("methods: [rs, rea]\ntasks: branin\nseeds: many\n",
               "x.yaml:3:8: 'seeds' must be a whole number");
    check_spec("methods: [rs, rea]\ntasks: branin\nseeds: {frist: 1}\n",
               "unknown key 'frist'; did you mean 'first'?");
    check_spec("methods: [rs, rea]\ntasks: branin\nlimits: 3\n", "x.yaml:3:9: 'limits' must be a mapping");
    check_spec("methods: [rs, rea]\ntasks: branin\nlimits: {resource: -1}\n",
               "'limits.resource' must be a number above 0");
    check_spec("methods: [rs, rea]\ntasks: branin\npoll: -1\n", "'poll' must be a number not below 0");
    check_spec("groups: []\n", "'groups' must be a list");
    check_spec("groups: [{name: a, methods: [rs, rea], tasks: branin}]\nmethods: rs\n",
               "give either 'groups' or");
}

static void groups_share_their_runs(void **state)
{
    (void)state;
    struct world w;
    struct bench_run *runs;
    size_t n;
    struct err err = {0};
    CHECK_INT(read_spec(&w, "groups:\n- {name: a, methods: [rs, rea], tasks: [branin, hartmann6]}\n"
                            "- {name: b, methods: [rea, asha], tasks: [hartmann6, digits-mlp]}\nseeds: 2\n"),
              WN_OK);
    CHECK_OK(wni_experiment_plan(&w.e, &runs, &n, &err), err);
    CHECK_INT(n, 2 * (4 + 4 - 1)); /* rea on hartmann6 stands in both */
    for (size_t i = 1; i < n; i++)
        CHECK(runs[i].seed >= runs[i - 1].seed, "seeds are not in order");
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(memcmp(&runs[i], &runs[j], sizeof *runs), "a run twice");
    CHECK(!wni_experiment_wants(&w.e, 0, 2), "rs on digits is in no group");
    free(runs);
    release(&w);
}

/* ---- who is who ---- */

static void identity(const struct experiment *e, struct buf *out)
{
    wni_buf_clear(out);
    wni_run_identity(e, &(struct bench_run){.method = 1}, out);
}

static void identity_tells_what_matters(void **state)
{
    (void)state;
    struct world w;
    struct buf before = {0}, after = {0};
    CHECK_INT(read_spec(&w, "{methods: [rs, {name: rea, population: 20}], tasks: branin}"), WN_OK);
    identity(&w.e, &before);
    const struct experiment plain = w.e;
    w.e.seeds = 9; /* neither the number of seeds nor a label matters */
    w.e.methods[1].name = "other";
    identity(&w.e, &after);
    CHECK_TEXT(after.data, before.data);
#define DIFFERS(change)                                                                                      \
    do {                                                                                                     \
        w.e = plain;                                                                                         \
        struct task task = w.e.tasks[0];                                                                     \
        const char *options = w.e.methods[1].options;                                                        \
        change;                                                                                              \
        identity(&w.e, &after);                                                                              \
        CHECK(strcmp(after.data, before.data), "%s does not show", #change);                                 \
        w.e.tasks[0] = task;                                                                                 \
        w.e.methods[1].options = options;                                                                    \
    } while (0)
    DIFFERS(w.e.workers = 5);
    DIFFERS(w.e.poll = 1);
    DIFFERS(w.e.limits.trials = 3);
    DIFFERS(w.e.limits.seconds = 3);
    DIFFERS(w.e.tasks[0].limit_resource = 7);
    DIFFERS(w.e.tasks[0].best = 0.5);
    DIFFERS(w.e.tasks[0].n_levels = 2);
    DIFFERS(w.e.methods[1].options = "");
#undef DIFFERS
    w.e = plain;
    wni_buf_release(&before);
    wni_buf_release(&after);
    release(&w);
}

static void the_command_repeats_the_run(void **state)
{
    (void)state;
    struct world w;
    struct buf command = {0};
    CHECK_INT(read_spec(&w,
                        "{methods: [rs, {name: asha, label: x, eta: 4, brackets: 2}], tasks: branin, poll: 5,"
                        " limits: {trials: 3, results: 4, resource: 5, time: 6}, workers: 2}"),
              WN_OK);
    wni_run_command(&w.e, &(struct bench_run){.method = 1, .seed = 8}, &command);
    CHECK_TEXT(
        command.data,
        "winnow sim --task branin --method asha --set scheduler.eta=4 --set scheduler.brackets=2 --seed 8 "
        "--workers 2 --max-trials 3 --max-results 4 --max-resource 5 --max-time 6 --poll 5");
    wni_buf_clear(&command);
    w.e.data = "my tables:others";
    wni_run_command(&w.e, &(struct bench_run){.method = 0, .seed = 8}, &command);
    CHECK(strstr(command.data, " --poll 5 --data 'my tables:others'"), "%s", command.data);
    wni_buf_release(&command);
    release(&w);
}

/* ---- results ---- */

static bool never(void *context)
{
    (void)context;
    return false;
}

static void results_come_back(void **state)
{
    (void)state;
    struct world w;
    struct results r;
    struct archive a;
    struct bench_tally tally;
    struct bench_hooks hooks = {0};
    struct err err = {0};
    char directory[CHECK_PATH_MAX];
    check_tmp_make(directory);
    CHECK_INT(
        read_spec(&w, "{methods: [rs, asha], tasks: [digits-mlp, branin], seeds: {first: 3, count: 2}}"),
        WN_OK);
    CHECK_OK(wni_results_create(&r, directory, &err), err);
    CHECK_OK(wni_experiment_run(&w.e, &w.tasks, &r, 2, &hooks, &tally, &err), err);
    CHECK_INT(tally.done, 8);
    CHECK_INT(tally.total, 8);
    CHECK(!tally.interrupted && !tally.failed && !tally.before, "tally");
    CHECK_OK(wni_archive_load(&a, &r, &err), err);
    CHECK_INT(a.plan.n_methods, 2);
    CHECK_INT(a.plan.first_seed, 3);
    CHECK_TEXT(a.plan.tasks[0].honesty, w.e.tasks[0].honesty);
    CHECK_DOUBLE(a.plan.tasks[0].best, w.e.tasks[0].best);
    CHECK_INT(a.plan.groups[0].n_tasks, 2);
    for (size_t i = 0; i < 8; i++) {
        const struct loaded_run *run = wni_archive_run(&a, i / 4, i / 2 % 2, 3 + i % 2);
        CHECK(run->there && run->trials > 0 && run->curve.n > 1, "run %zu", i);
        double best = a.plan.tasks[i / 2 % 2].goal == WN_MAXIMIZE ? -run->best : run->best;
        CHECK_DOUBLE(run->curve.value[run->curve.n - 1], best);
        for (size_t k = 1; k < run->curve.n; k++)
            CHECK(run->curve.time[k] >= run->curve.time[k - 1] &&
                      run->curve.value[k] < run->curve.value[k - 1],
                  "run %zu does not improve at %zu", i, k);
        CHECK(run->curve.time[run->curve.n - 1] <= run->curve.end, "it improves after its end");
    }
    wni_archive_release(&a);
    wni_results_close(&r);
    release(&w);
    check_tmp_remove(directory);
}

struct seen {
    struct bench_progress first, last;
    size_t n;
};

static void see(void *context, const struct bench_progress *p)
{
    struct seen *seen = context;
    if (!seen->n++) seen->first = *p;
    CHECK(p->done >= seen->last.done && p->elapsed >= seen->last.elapsed, "progress goes back");
    seen->last = *p;
}

/* The estimate comes from what was measured before: a second session knows the cost of everything at once. */
static void time_left_is_measured(void **state)
{
    (void)state;
    struct world w;
    struct results r;
    struct bench_tally tally;
    struct seen seen = {0};
    struct bench_hooks hooks = {.progress = see, .context = &seen};
    struct err err = {0};
    char directory[CHECK_PATH_MAX];
    check_tmp_make(directory);
    CHECK_INT(read_spec(&w, "{methods: [rs, cqr], tasks: branin, limits: {trials: 20}, seeds: 2}"), WN_OK);
    CHECK_OK(wni_results_create(&r, directory, &err), err);
    CHECK_OK(wni_experiment_run(&w.e, &w.tasks, &r, 1, &hooks, &tally, &err), err);
    CHECK_INT(seen.last.done, 4);
    CHECK_DOUBLE(seen.last.left, 0);
    CHECK(!seen.last.guess, "nothing is left to guess");
    double seconds[2] = {0};
    size_t count[2] = {0};
    CHECK_OK(wni_results_costs(&r, &w.e, seconds, count, &err), err);
    CHECK(count[0] == 2 && count[1] == 2 && seconds[1] > seconds[0], "costs %g %g", seconds[0], seconds[1]);
    seen = (struct seen){0};
    hooks.go_on = never;
    w.e.seeds = 42; /* forty more of each */
    CHECK_OK(wni_experiment_run(&w.e, &w.tasks, &r, 2, &hooks, &tally, &err), err);
    CHECK_INT(seen.first.total, 84);
    CHECK(!seen.first.guess && seen.first.left > 0, "it should know: %g", seen.first.left);
    wni_results_close(&r);
    release(&w);
    check_tmp_remove(directory);
}

/* A method that is known from one task is not known on another: there it may take a hundred times as long. */
static void time_left_on_a_new_task_is_a_guess(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "{methods: [rs, cqr], tasks: branin, limits: {trials: 100}}",
        "{methods: [rs, cqr], tasks: [branin, hartmann6], limits: {trials: 100}}"};
    char directory[CHECK_PATH_MAX];
    check_tmp_make(directory);
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        struct results r;
        struct bench_tally tally;
        struct seen seen = {0};
        struct bench_hooks hooks = {.progress = see, .context = &seen};
        struct err err = {0};
        CHECK_INT(read_spec(&w, specs[i]), WN_OK);
        CHECK_OK(wni_results_create(&r, directory, &err), err);
        CHECK_OK(wni_experiment_run(&w.e, &w.tasks, &r, 2, &hooks, &tally, &err), err);
        CHECK_INT(tally.before, 2 * i);
        /* the thread of rs leaves first, while cqr is at work */
        CHECK(seen.first.guess && seen.first.done + 1 == seen.first.total, "it cannot know: %g",
              seen.first.left);
        CHECK(!seen.last.guess, "nothing is left to guess");
        wni_results_close(&r);
        release(&w);
    }
    check_tmp_remove(directory);
}

static void an_interrupted_session_goes_on(void **state)
{
    (void)state;
    struct world w;
    struct results r, second;
    struct bench_tally tally;
    struct bench_hooks hooks = {.go_on = never};
    struct err err = {0};
    char directory[CHECK_PATH_MAX];
    size_t before = 0;
    check_tmp_make(directory);
    CHECK_INT(read_spec(&w, "{methods: [rs, cqr], tasks: branin, limits: {trials: 20}, seeds: 120}"), WN_OK);
    CHECK_OK(wni_results_create(&r, directory, &err), err);
    CHECK_INT(wni_results_create(&second, directory, &err), WN_EIO); /* one writer at a time */
    CHECK(strstr(err.text, "another winnow is at work"), "%s", err.text);
    CHECK_OK(wni_experiment_run(&w.e, &w.tasks, &r, 1, &hooks, &tally, &err), err);
    CHECK(tally.interrupted && tally.done < 240, "%zu runs", tally.done);
    before = tally.done;
    hooks.go_on = NULL;
    CHECK_OK(wni_experiment_run(&w.e, &w.tasks, &r, 2, &hooks, &tally, &err), err);
    CHECK_INT(tally.before, before);
    CHECK_INT(tally.before + tally.done, 240);
    CHECK(!tally.interrupted, "still interrupted");
    wni_results_close(&r);
    release(&w);
    check_tmp_remove(directory);
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    struct results r;
    struct err err = {0};
    char directory[CHECK_PATH_MAX];
    check_tmp_make(directory);
    CHECK_INT(wni_results_open(&r, directory, &err), WN_ENOTFOUND);
    check_tmp_write(directory, "results.db", "not a database, but long enough to be read as one", 50);
    CHECK(wni_results_open(&r, directory, &err) != WN_OK, "taken for a database");
    CHECK(wni_results_create(&r, directory, &err) != WN_OK, "taken for a database");
    check_tmp_write(directory, "results.db", "", 0); /* empty, as after a death before the first page */
    CHECK_OK(wni_results_create(&r, directory, &err), err);
    wni_results_close(&r);
    check_tmp_remove(directory);
}

/* ---- the pool ---- */

struct count {
    atomic_int done[100];
    int ticks, stop_after;
};

static void note(void *context, size_t index)
{
    struct count *c = context;
    atomic_fetch_add(&c->done[index], 1);
    if (c->stop_after) usleep(20000);
}

static bool tick(void *context)
{
    struct count *c = context;
    c->ticks++;
    return !c->stop_after || c->ticks < c->stop_after;
}

static void every_job_runs_once(void **state)
{
    (void)state;
    for (size_t threads = 1; threads <= 8; threads++) {
        struct count c = {0};
        wni_pool_run(&(struct pool_work){.job = note, .tick = tick, .context = &c}, 100, threads);
        for (size_t i = 0; i < 100; i++)
            CHECK_INT(atomic_load(&c.done[i]), 1);
    }
    struct count none = {0};
    wni_pool_run(&(struct pool_work){.job = note, .tick = tick, .context = &none}, 0, 4);
    CHECK(wni_pool_cores() >= 1, "no core");
}

static void the_pool_stops_when_told(void **state)
{
    (void)state;
    struct count c = {.stop_after = 1};
    int done = 0;
    wni_pool_run(&(struct pool_work){.job = note, .tick = tick, .context = &c}, 100, 2);
    for (size_t i = 0; i < 100; i++)
        done += atomic_load(&c.done[i]);
    CHECK(done > 0 && done < 100, "%d jobs", done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_becomes_an_experiment),
        cmocka_unit_test(defaults_are_the_papers),
        cmocka_unit_test(mistakes_have_a_place),
        cmocka_unit_test(groups_share_their_runs),
        cmocka_unit_test(identity_tells_what_matters),
        cmocka_unit_test(the_command_repeats_the_run),
        cmocka_unit_test(results_come_back),
        cmocka_unit_test(time_left_is_measured),
        cmocka_unit_test(time_left_on_a_new_task_is_a_guess),
        cmocka_unit_test(an_interrupted_session_goes_on),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(every_job_runs_once),
        cmocka_unit_test(the_pool_stops_when_told),
    };
    return cmocka_run_group_tests_name("experiment", tests, NULL, NULL);
}
