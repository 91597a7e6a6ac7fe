/* test_bench.c -- every allocation of the evaluation's pure parts fails once: a clean WN_ENOMEM, and nothing
 * leaks. */
#include "tests/check.h"

#include "bench/compare.h"
#include "bench/metrics.h"
#include "bench/spec.h"
#include "tests/fault/alloc.h"

enum { METHODS = 3, BLOCKS = 6, STEPS = 4 };

static struct {
    double time[BLOCKS * METHODS][STEPS], value[BLOCKS * METHODS][STEPS];
    struct curve curves[BLOCKS * METHODS];
    size_t task[BLOCKS];
    double y_min[2];
    struct contest contest;
} world;

static void make_contest(void)
{
    struct rng rng = wni_rng_stream(1, 0, 0);
    for (size_t i = 0; i < BLOCKS * METHODS; i++) {
        double time = 0, value = 3;
        for (size_t k = 0; k < STEPS; k++) {
            world.time[i][k] = time += wni_rng_uniform(&rng);
            world.value[i][k] = value -= wni_rng_uniform(&rng);
        }
        world.curves[i] = (struct curve){world.time[i], world.value[i], STEPS, time + 1};
        world.task[i / METHODS] = i / METHODS % 2;
    }
    world.y_min[0] = world.y_min[1] = NAN;
    world.contest = (struct contest){METHODS, 2, BLOCKS, world.curves, world.task, world.y_min};
}

static wn_status judge(void)
{
    struct standings s;
    struct difference d;
    double ranks[BLOCKS * METHODS];
    struct err err = {0};
    wn_status st = wni_standings_compute(&world.contest, &s, &err);
    if (st) return st;
    st = wni_ranks_at(&world.contest, &s, 0.5, ranks, &err);
    if (!st) st = wni_difference_compute(ranks, BLOCKS, METHODS, 0.05, &d, &err);
    if (!st) wni_difference_release(&d);
    wni_standings_release(&s);
    return st;
}

static const char spec[] =
    "name: one\n"
    "groups:\n"
    "- {name: a, methods: [rs, {name: rea, label: old, population: 20}], tasks: [branin, hartmann6]}\n"
    "- {name: b, methods: [rs, asha], tasks: [digits]}\n"
    "seeds: 2\n";
static struct document document;
static struct task_list tasks;

static wn_status read_and_plan(void)
{
    struct experiment e;
    struct problems problems = {0};
    struct bench_run *runs = NULL;
    struct err err = {0};
    struct buf identity = {0};
    size_t n;
    wn_status st = wni_spec_read(&e, &document, &tasks, &problems);
    if (!st) st = wni_experiment_plan(&e, &runs, &n, &err);
    if (!st) {
        wni_run_identity(&e, &runs[0], &identity);
        wni_run_command(&e, &runs[0], &identity);
        if (identity.failed) st = WN_ENOMEM;
    }
    wni_buf_release(&identity);
    free(runs);
    wni_problems_release(&problems);
    wni_experiment_release(&e);
    return st;
}

/* Mistakes are told or memory is short; it must not be taken for a good file. */
static wn_status read_mistakes(void)
{
    static struct document bad;
    struct err err = {0};
    if (!bad.root) {
        const char text[] = "methods: [rs, {name: rea, popluation: 3}]\ntasks: [branni]\nseeds: 0\n";
        alloc_fail_never();
        CHECK_OK(wni_yaml_parse(&bad, "bad", text, sizeof text - 1, &err), err);
        return WN_OK;
    }
    struct experiment e;
    struct problems problems = {0};
    wn_status st = wni_spec_read(&e, &bad, &tasks, &problems);
    CHECK(st != WN_OK, "mistakes were not seen");
    wni_problems_release(&problems);
    wni_experiment_release(&e);
    return st == WN_EINVAL ? WN_OK : st;
}

static wn_status compare_group(void)
{
    struct comparison c;
    struct err err = {0};
    struct loaded_run runs[METHODS * 2 * 3];
    static size_t members[] = {0, 1, 2};
    static struct bench_method methods[METHODS] = {{"a", "rs", ""}, {"b", "rea", ""}, {"c", "asha", ""}};
    static struct task two[] = {{.name = "x", .honesty = "real", .best = NAN},
                                {.name = "y", .honesty = "real", .best = 0}};
    struct bench_group group = {
        .name = "g", .title = "g", .methods = members, .n_methods = METHODS, .tasks = members, .n_tasks = 2};
    struct archive a = {.plan = {.methods = methods,
                                 .n_methods = METHODS,
                                 .tasks = two,
                                 .n_tasks = 2,
                                 .groups = &group,
                                 .n_groups = 1,
                                 .seeds = 3},
                        .runs = runs};
    for (size_t i = 0; i < METHODS * 2 * 3; i++)
        runs[i] = (struct loaded_run){.there = i != 4, .curve = world.curves[i]};
    wn_status st = wni_compare(&c, &a, 0, &err);
    if (st) return st;
    CHECK_INT(c.contest.n_blocks, 5);
    CHECK_INT(c.left_out, 1);
    wni_comparison_release(&c);
    return WN_OK;
}

static void fail_everywhere(wn_status (*work)(void), size_t least)
{
    CHECK_INT(work(), WN_OK);
    for (enum alloc_mode mode = ALLOC_ONCE; mode <= ALLOC_FROM; mode++) {
        size_t k = 0;
        for (;; k++) {
            size_t before = alloc_live();
            alloc_fail_at(k, mode);
            wn_status st = work();
            bool failed = alloc_failed();
            alloc_fail_never();
            CHECK_INT(alloc_live(), before);
            if (!failed) break;
            CHECK(st == WN_ENOMEM, "allocation %zu: %d", k, st);
        }
        CHECK(k >= least, "only %zu allocations", k);
    }
}

static void metrics(void **state)
{
    (void)state;
    make_contest();
    fail_everywhere(judge, 6);
}

static void comparisons(void **state)
{
    (void)state;
    make_contest();
    fail_everywhere(compare_group, 10);
}

static void specifications(void **state)
{
    (void)state;
    struct err err = {0};
    CHECK_OK(wni_tasks_find(&tasks, "data", &err), err);
    CHECK_OK(wni_yaml_parse(&document, "x", spec, sizeof spec - 1, &err), err);
    fail_everywhere(read_and_plan, 8);
    fail_everywhere(read_mistakes, 3);
    wni_document_release(&document);
    wni_tasks_release(&tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(specifications),
    };
    return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}
