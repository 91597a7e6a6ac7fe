/* test_blackbox.c -- listing and opening black boxes while any one allocation fails, or all from there on:
 * WN_ENOMEM, no leak, and the next attempt works. */
#include "tests/unit/tiny_network.h"

#include "tests/fault/alloc.h"

/* Lists the tasks of a directory, opens one, reads a value of its curve and closes it. */
static wn_status use(const char *directory, const char *name, double *value, struct err *err)
{
    static double config[128];
    static unsigned char curve[8192] __attribute__((aligned(16)));
    struct task_list list;
    struct blackbox *box = NULL;
    double seconds;
    wn_status st = wni_tasks_find(&list, directory, err);
    if (!st) st = wni_task_open(&list, name, &box, err);
    wni_tasks_release(&list);
    if (st) return st;
    if (box->space.n > 128 || box->curve_size > sizeof curve) abort();
    for (size_t i = 0; i < box->space.n; i++)
        config[i] = box->space.params[i].labels ? 0 : box->space.params[i].min;
    memset(curve, 0, sizeof curve);
    st = box->ops->open_curve(box, config, 0, curve, err);
    if (!st) box->ops->read_curve(box, curve, box->n_levels - 1, value, &seconds);
    box->ops->close(box);
    return st;
}

static void torture(const char *directory, const char *name)
{
    struct err err = {0};
    double expected, value;
    CHECK_OK(use(directory, name, &expected, &err), err);
    for (int mode = ALLOC_ONCE; mode <= ALLOC_FROM; mode++) {
        size_t k = 0;
        for (bool failed = true; failed; k++) {
            size_t before = alloc_live();
            value = NAN;
            alloc_fail_at(k, (enum alloc_mode)mode);
            wn_status st = use(directory, name, &value, &err);
            failed = alloc_failed();
            alloc_fail_never();
            CHECK(st == (failed ? WN_ENOMEM : WN_OK), "%s, allocation %zu: status %d, '%s'", name, k, st,
                  err.text);
            CHECK(alloc_live() == before, "%s, allocation %zu: %zu blocks before, %zu after", name, k, before,
                  alloc_live());
            if (!failed) CHECK_DOUBLE(value, expected);
        }
        CHECK(k > 5, "%s: only %zu allocations", name, k);
    }
}

static void functions_survive(void **state)
{
    (void)state;
    torture("", "branin");
    torture("", "rosenbrock-9");
    torture("", "synthetic-curves");
}

static void a_table_survives(void **state)
{
    (void)state;
    torture("data", "digits-mlp");
}

static void a_nearest_neighbour_box_survives(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX];
    check_tmp_make(dir);
    world_write(dir, "blackbox.json",
                "{\"family\": \"near\", \"kind\": \"nearest\", \"distance\": \"declared\", \"resource\": "
                "{\"levels\": [1]},"
                " \"parameters\": [{\"name\": \"x\", \"type\": \"float\", \"min\": 1, \"max\": 10, "
                "\"scale\": \"log\"},"
                " {\"name\": \"c\", \"type\": \"categorical\", \"values\": [\"a\", \"b\"]}],"
                " \"tasks\": [{\"name\": \"near\", \"metric\": {\"name\": \"m\"}, \"values\": \"v.npy\"}]}");
    world_write(dir, "configs.csv", "x,c\n1,a\n2.5,\"b\"\n7,\"a\"\n");
    world_write_npy(dir, "v.npy", (size_t[]){3, 1, 1}, 3, (float[]){0, 1, 2});
    torture(dir, "near");
    check_tmp_remove(dir);
}

static void a_network_survives(void **state)
{
    (void)state;
    struct tiny t;
    make_tiny(&t, 1);
    torture(t.dir, "tiny");
    drop_tiny(&t);
}

/* A message about a broken folder needs memory too; without it the answer is WN_ENOMEM, not silence. */
static void warnings_survive(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX];
    check_tmp_make(dir);
    world_write(dir, "blackbox.json", "{\"family\": \"broken\"}");
    for (size_t k = 0;; k++) {
        struct task_list list;
        struct err err = {0};
        size_t before = alloc_live();
        alloc_fail_at(k, ALLOC_ONCE);
        wn_status st = wni_tasks_find(&list, dir, &err);
        bool failed = alloc_failed();
        alloc_fail_never();
        CHECK(st == (failed ? WN_ENOMEM : WN_OK), "allocation %zu: status %d, '%s'", k, st, err.text);
        if (!failed) CHECK_INT(list.n_warnings, 1);
        wni_tasks_release(&list);
        CHECK_INT(alloc_live(), before);
        if (!failed) break;
    }
    check_tmp_remove(dir);
}

int main(void)
{
    alloc_count_json();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_survive),
        cmocka_unit_test(a_table_survives),
        cmocka_unit_test(a_nearest_neighbour_box_survives),
        cmocka_unit_test(a_network_survives),
        cmocka_unit_test(warnings_survive),
    };
    return cmocka_run_group_tests_name("blackbox faults", tests, NULL, NULL);
}
