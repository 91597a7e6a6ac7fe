/* test_blackbox_table.c -- bench/table.c: look-ups against a slow search through the files, and broken
 * tables. */
#include "tests/unit/box_world.h"

#include <fcntl.h>

/* ---- a small family: 2 x 3 configurations, levels 1, 3 and 9, 2 seeds ---- */

static const char description[] =
    "{\"family\": \"small\", \"kind\": \"table\", \"honesty\": \"made up\",\n"
    " \"parameters\": [{\"name\": \"act\", \"type\": \"categorical\", \"values\": [\"relu\", \"tanh\"]},\n"
    "  {\"name\": \"lr\", \"type\": \"ordinal\", \"values\": [0.001, 0.01, 0.1], \"scale\": \"log\"}],\n"
    " \"configs\": \"configs.csv\", \"resource\": {\"name\": \"epoch\", \"levels\": [1, 3, 9]},\n"
    " \"tasks\": [{\"name\": \"small-one\", \"metric\": {\"name\": \"loss\", \"goal\": \"maximize\"},\n"
    "  \"values\": \"v.npy\", \"seconds\": \"s.npy\", \"limits\": {\"results\": 60, \"time\": 5},\n"
    "  \"best\": 9, \"worst\": -1}]}\n";
static const char configs[] = "lr,act\n0.1,relu\n0.001,tanh\n1e-3,relu\n0.01,tanh\n0.010,relu\n0.1,tanh\n";
enum { ROWS = 6, LEVELS = 3, SEEDS = 2 };

/* Row of the configuration (act, lr) in `configs`. */
static const size_t row_of[2][3] = {{2, 4, 0}, {1, 3, 5}};

static double small_value(size_t row, size_t level, size_t seed)
{
    return (double)(100 * row + 10 * level + seed);
}

static void make_small(char dir[CHECK_PATH_MAX])
{
    float values[ROWS * LEVELS * SEEDS], seconds[ROWS * LEVELS];
    for (size_t i = 0; i < ROWS * LEVELS * SEEDS; i++)
        values[i] = (float)small_value(i / (LEVELS * SEEDS), i / SEEDS % LEVELS, i % SEEDS);
    for (size_t i = 0; i < ROWS * LEVELS; i++)
        seconds[i] = (float)(i / LEVELS + 1) * (float)(i % LEVELS + 1);
    check_tmp_make(dir);
    world_write(dir, "blackbox.json", description);
    world_write(dir, "configs.csv", configs);
    world_write_npy(dir, "v.npy", (size_t[]){ROWS, LEVELS, SEEDS}, 3, values);
    world_write_npy(dir, "s.npy", (size_t[]){ROWS, LEVELS}, 2, seconds);
}

static struct blackbox *open_small(const char *dir)
{
    return world_open_in(dir, "small-one");
}

static void gives_what_is_in_the_arrays(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX];
    make_small(dir);
    struct blackbox *box = open_small(dir);
    CHECK_INT(box->n_seeds, SEEDS);
    CHECK_INT(box->n_levels, LEVELS);
    CHECK_DOUBLE(box->levels[2], 9);
    for (size_t act = 0; act < 2; act++)
        for (size_t lr = 0; lr < 3; lr++)
            for (size_t seed = 0; seed < SEEDS; seed++) {
                size_t row = row_of[act][lr];
                void *curve = world_curve(box, (double[]){(double)act, (double)lr}, seed);
                for (size_t level = 0; level < LEVELS; level++) {
                    double value, seconds;
                    box->ops->read_curve(box, curve, level, &value, &seconds);
                    CHECK_DOUBLE(value, small_value(row, level, seed));
                    CHECK_DOUBLE(seconds, (double)((row + 1) * (level + 1)));
                }
                free(curve);
                world_check_curve(box, (double[]){(double)act, (double)lr}, seed);
            }
    CHECK_DOUBLE(world_value(box, (double[]){0, 0}, 2 * SEEDS + 1, 0),
                 small_value(row_of[0][0], 0, 1)); /* seeds wrap */
    box->ops->close(box);
    check_tmp_remove(dir);
}

static void carries_the_description_on(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX];
    make_small(dir);
    struct blackbox *box = open_small(dir);
    CHECK_TEXT(box->name, "small-one");
    CHECK_TEXT(box->family, "small");
    CHECK_TEXT(box->metric, "loss");
    CHECK_TEXT(box->resource, "epoch");
    CHECK_TEXT(box->honesty, "made up");
    CHECK_INT(box->goal, WN_MAXIMIZE);
    CHECK_DOUBLE(box->limit_resource, 60);
    CHECK_DOUBLE(box->limit_seconds, 5);
    CHECK_DOUBLE(box->best, 9);
    CHECK_DOUBLE(box->worst, -1);
    CHECK_INT(box->space.n, 2);
    CHECK_TEXT(box->space.params[1].name, "lr");
    CHECK_INT(box->space.params[1].scale, WN_LOG);
    box->ops->close(box);
    check_tmp_remove(dir);
}

static void refuses_broken_tables_and_names_the_row(void **state)
{
    (void)state;
    static const struct {
        const char *file, *from, *to, *why;
    } cases[] = {
        {"configs.csv", "0.1,tanh\n", "",
         "has 5 rows for a space of 6 configurations; there is none for "
         "{\"act\": \"tanh\", \"lr\": 0.1}"},
        {"configs.csv", "0.1,tanh", "0.01,relu", "configs.csv:7: this configuration was already in row 5"},
        {"configs.csv", "0.1,tanh\n", "0.1,tanh\n0.1,tanh\n",
         "configs.csv:8: this configuration was already in row 6"},
        {"configs.csv", "0.010", "0.02",
         "configs.csv:6: parameter 'lr': '0.02' is not one of 0.001, 0.01, 0.1"},
        {"configs.csv", "1e-3,relu", "1e-3,gelu",
         "configs.csv:4: parameter 'act': 'gelu' is not one of relu, tanh"},
        {"configs.csv", "1e-3,relu", "1e-3", "configs.csv:4: 1 field where the header has 2"},
        {"configs.csv", "lr,act", "lr,activation",
         "configs.csv:1: column 'activation' is not a parameter of the space"},
        {"configs.csv", "lr,act", "lr,lr", "configs.csv:1: column 'lr' is there twice"},
        {"configs.csv", "lr,act\n0.1,relu\n0.001,tanh\n1e-3,relu\n0.01,tanh\n0.010,relu\n0.1,tanh\n",
         "lr\n0.1\n", "configs.csv:1: there is no column for parameter 'act'"},
        {"blackbox.json", "[1, 3, 9]", "[1, 3]",
         "'v.npy' has shape (6, 3, 2), but there are 6 configurations, 2 levels and 2 seeds"},
        {"blackbox.json", "\"seconds\": \"s.npy\"", "\"seconds\": \"empty.npy\"",
         "'empty.npy' has shape (6, 3, 0), but there are 6 configurations, 3 levels and 2 seeds"},
        {"blackbox.json", "\"values\": \"v.npy\"", "\"values\": \"s.npy\"", "'s.npy' has shape (6, 3), but"},
        {"blackbox.json", "\"values\": \"v.npy\"", "\"values\": \"empty.npy\"", "'empty.npy' has 0 seeds"},
        {"blackbox.json", "\"values\": \"v.npy\",", "", "'values' is missing"},
        {"blackbox.json", "\"values\": \"v.npy\"", "\"values\": [1]",
         "'values' must be a text, but is a list"},
        {"blackbox.json", "v.npy", "none.npy", "/none.npy': No such file or directory"},
        {"blackbox.json", "s.npy", "none.npy", "/none.npy': No such file or directory"},
        {"blackbox.json", "\"configs.csv\"", "\"none.csv\"", "/none.csv': No such file or directory"},
        {"blackbox.json", "\"type\": \"ordinal\", \"values\": [0.001, 0.01, 0.1], \"scale\": \"log\"",
         "\"type\": \"float\", \"min\": 0, \"max\": 1", "task 'small-one': a table needs a finite space"},
        {"blackbox.json", "\"type\": \"ordinal\", \"values\": [0.001, 0.01, 0.1], \"scale\": \"log\"",
         "\"type\": \"int\", \"min\": 0, \"max\": 1000000000",
         "task 'small-one': a table needs a finite space"},
        {"blackbox.json", "\"type\": \"ordinal\"", "\"type\": \"ordinary\"", "ordinary"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[CHECK_PATH_MAX];
        make_small(dir);
        world_write_npy(dir, "empty.npy", (size_t[]){ROWS, LEVELS, 0}, 3, NULL);
        const char *text = strcmp(cases[i].file, "configs.csv") ? description : configs;
        world_write_changed(dir, cases[i].file, text, cases[i].from, cases[i].to);
        world_refused(dir, "small-one", cases[i].why);
        check_tmp_remove(dir);
    }
}

/* More values than the reader of configurations remembers: each text must still be taken for what it says. */
static void a_column_may_have_many_values(void **state)
{
    (void)state;
    enum { FIRST = 100, COUNT = 900 };
    char dir[CHECK_PATH_MAX];
    struct buf csv = {0};
    float values[COUNT];
    wni_buf_puts(&csv, "n\n");
    for (int i = 0; i < COUNT; i++) {
        int n = FIRST + i * 7 % COUNT; /* 7 and 900 have no common factor: every value once */
        wni_buf_printf(&csv, "%d\n", n);
        values[i] = (float)n;
    }
    check_tmp_make(dir);
    world_write(dir, "configs.csv", csv.data);
    world_write_npy(dir, "v.npy", (size_t[]){COUNT, 1, 1}, 3, values);
    world_write(
        dir, "blackbox.json",
        "{\"family\": \"f\", \"kind\": \"table\", \"parameters\": {\"n\": {\"type\": \"int\", \"min\": 100, "
        "\"max\": 999}}, \"resource\": {\"levels\": [1]}, \"tasks\": [{\"name\": \"small-one\", "
        "\"metric\": {\"name\": \"m\"}, \"values\": \"v.npy\"}]}");
    struct blackbox *box = open_small(dir);
    for (int n = FIRST; n < FIRST + COUNT; n++)
        CHECK_DOUBLE(world_value(box, (double[]){n}, 0, 0), n);
    box->ops->close(box);
    wni_buf_release(&csv);
    check_tmp_remove(dir);
}

static void seconds_may_differ_by_seed_or_be_left_out(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX];
    double value, seconds;
    make_small(dir);
    float by_seed[ROWS * LEVELS * SEEDS];
    for (size_t i = 0; i < ROWS * LEVELS * SEEDS; i++)
        by_seed[i] = (float)(i + 1);
    world_write_npy(dir, "s.npy", (size_t[]){ROWS, LEVELS, SEEDS}, 3, by_seed);
    struct blackbox *box = open_small(dir);
    void *curve = world_curve(box, (double[]){1, 2}, 1);
    box->ops->read_curve(box, curve, 2, &value, &seconds);
    CHECK_DOUBLE(seconds, (double)by_seed[(row_of[1][2] * LEVELS + 2) * SEEDS + 1]);
    free(curve);
    box->ops->close(box);

    world_write_changed(dir, "blackbox.json", description, "\"seconds\": \"s.npy\",", "");
    box = open_small(dir);
    curve = world_curve(box, (double[]){1, 2}, 1);
    box->ops->read_curve(box, curve, 2, &value, &seconds);
    CHECK_DOUBLE(seconds, 9); /* a second per unit of resource */
    free(curve);
    box->ops->close(box);
    check_tmp_remove(dir);
}

static void a_clock_never_goes_back(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX];
    make_small(dir);
    float seconds[ROWS * LEVELS];
    for (size_t i = 0; i < ROWS; i++)
        memcpy(seconds + i * LEVELS, (float[]){5, i % 2 ? NAN : 2, 7}, 12);
    world_write_npy(dir, "s.npy", (size_t[]){ROWS, LEVELS}, 2, seconds);
    struct blackbox *box = open_small(dir);
    static const double expected[] = {5, 5, 7};
    for (size_t k = 0; k < 6; k++) {
        double config[] = {(double)(k / 3), (double)(k % 3)}, value, got;
        void *curve = world_curve(box, config, 0);
        static const size_t order[] = {1, 0, 2, 1, 2, 0};
        for (size_t i = 0; i < 6; i++) {
            box->ops->read_curve(box, curve, order[i], &value, &got);
            CHECK_DOUBLE(got, expected[order[i]]);
        }
        free(curve);
        world_check_curve(box, config, 0);
    }
    box->ops->close(box);
    check_tmp_remove(dir);
}

static void large_arrays_are_not_read_when_opened(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX], path[CHECK_PATH_MAX + 16];
    make_small(dir);
    /* 8 GB of holes; reading them would take seconds and show in the memory */
    enum { HUGE_SEEDS = 1 << 27 };
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 3, 134217728)}";
    snprintf(path, sizeof path, "%s/v.npy", dir);
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    CHECK_INT(write(fd, "\x93NUMPY\x01\x00", 8), 8);
    CHECK_INT(write(fd, (unsigned char[]){sizeof header - 1, 0}, 2), 2);
    CHECK_INT(write(fd, header, sizeof header - 1), sizeof header - 1);
    off_t size = 10 + (off_t)sizeof header - 1 + (off_t)ROWS * LEVELS * HUGE_SEEDS * 4;
    if (ftruncate(fd, size)) {
        print_message("# skip: this file system has no sparse files of %lld bytes\n", (long long)size);
        close(fd);
        check_tmp_remove(dir);
        skip();
    }
    CHECK_INT(pwrite(fd, &(float){42}, 4, size - 4), 4);
    close(fd);
    struct blackbox *box = open_small(dir);
    CHECK_INT(box->n_seeds, HUGE_SEEDS);
    CHECK_DOUBLE(world_value(box, (double[]){1, 2}, HUGE_SEEDS - 1, 2),
                 42); /* the last row, level and seed */
    box->ops->close(box);
    check_tmp_remove(dir);
}

/* ---- the tables at hand ---- */

/* Number of the line of a CSV text that holds these values of the parameters, found by comparing texts and
 * numbers; the columns must stand in the order of the parameters. */
static size_t slow_row(const struct space *space, const char *text, const double *config)
{
    size_t row = 0;
    for (const char *line = strchr(text, '\n') + 1; *line && *line != '\n';
         line = strchr(line, '\n') + 1, row++) {
        const char *at = line;
        bool same = true;
        for (size_t i = 0; i < space->n && same; i++) {
            size_t n = strcspn(at, ",\r\n");
            char field[64], scratch[WN_WHY_MAX];
            snprintf(field, sizeof field, "%.*s", (int)n, at);
            const char *wanted = wni_param_text(&space->params[i], config[i], scratch);
            char *end, *other;
            double x = strtod(field, &end), y = strtod(wanted, &other);
            same = !strcmp(field, wanted) || (end != field && !*end && !*other && x == y);
            at += n + 1;
        }
        if (same) return row;
    }
    fail_msg("no row for a configuration of %zu parameters", space->n);
    return 0;
}

static void check_task_against_files(const struct task_list *list, const struct task *task, uint64_t seed,
                                     int rounds)
{
    struct blackbox *box = world_open(list, task->name);
    struct npy values, seconds;
    struct err err = {0};
    char path[CHECK_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.values.npy", task->folder, task->name);
    CHECK_OK(wni_npy_open(&values, path, &err), err);
    snprintf(path, sizeof path, "%s/%s.seconds.npy", task->folder, task->name);
    CHECK_OK(wni_npy_open(&seconds, path, &err), err);
    char *text = world_read(task->folder, "configs.csv");
    double config[64];
    for (int round = 0; round < rounds; round++) {
        struct rng rng = wni_rng_stream(seed, (uint64_t)round, 0);
        check_random_config(&box->space, &rng, config);
        size_t row = slow_row(&box->space, text, config), run = wni_rng_below(&rng, box->n_seeds);
        void *curve = world_curve(box, config, run);
        for (size_t level = 0; level < box->n_levels; level++) {
            double value, time;
            box->ops->read_curve(box, curve, level, &value, &time);
            size_t at = row * box->n_levels + level;
            CHECK_DOUBLE(value, wni_npy_at(&values, at * box->n_seeds + run));
            CHECK_DOUBLE(time, wni_npy_at(&seconds, at)); /* all tables at hand have clocks that go forward */
        }
        free(curve);
        world_check_curve(box, config, run);
    }
    free(text);
    wni_npy_release(&values);
    wni_npy_release(&seconds);
    box->ops->close(box);
}

static void the_bundled_table_agrees_with_its_files(void **state)
{
    (void)state;
    struct task_list list;
    world_tasks(&list, "data");
    const struct task *task = wni_tasks_get(&list, "digits-mlp");
    if (!task) fail_msg("data/digits has no task digits-mlp");
    check_task_against_files(&list, task, 5, 300);
    wni_tasks_release(&list);
}

static void the_large_tables_agree_with_their_files(void **state)
{
    (void)state;
    struct task_list list;
    world_tasks(&list, NULL);
    int tested = 0;
    for (size_t i = 0; i < list.n; i++) {
        const struct task *task = &list.items[i];
        if (strcmp(task->kind, "table") != 0 || !strcmp(task->name, "digits-mlp")) continue;
        check_task_against_files(&list, task, i, 25);
        tested++;
    }
    wni_tasks_release(&list);
    if (tested == 0) {
        print_message("# skip: no tables in $WINNOW_DATA or " SHARED_DATA "\n");
        skip();
    }
}

/* best and worst of blackbox.json are what the arrays hold. */
static void best_and_worst_are_those_of_the_arrays(void **state)
{
    (void)state;
    struct task_list list;
    world_tasks(&list, NULL);
    for (size_t i = 0; i < list.n; i++) {
        const struct task *task = &list.items[i];
        if (!task->folder || !strcmp(task->kind, "network") || isnan(task->best)) continue;
        struct npy values;
        struct err err = {0};
        char path[CHECK_PATH_MAX];
        snprintf(path, sizeof path, "%s/%s.values.npy", task->folder, task->name);
        CHECK_OK(wni_npy_open(&values, path, &err), err);
        double low = INFINITY, high = -INFINITY;
        for (size_t k = 0; k < values.n; k++) {
            double x = wni_npy_at(&values, k);
            if (x < low) low = x;
            if (x > high) high = x;
        }
        bool up = task->goal == WN_MAXIMIZE;
        CHECK(fabs(task->best - (up ? high : low)) <= 1e-6 * fabs(task->best),
              "%s: best %.17g, values %.17g..%.17g", task->name, task->best, low, high);
        CHECK(fabs(task->worst - (up ? low : high)) <= 1e-6 * fabs(task->worst) || isinf(high),
              "%s: worst %.17g, values %.17g..%.17g", task->name, task->worst, low, high);
        wni_npy_release(&values);
    }
    wni_tasks_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_what_is_in_the_arrays),
        cmocka_unit_test(carries_the_description_on),
        cmocka_unit_test(refuses_broken_tables_and_names_the_row),
        cmocka_unit_test(a_column_may_have_many_values),
        cmocka_unit_test(seconds_may_differ_by_seed_or_be_left_out),
        cmocka_unit_test(a_clock_never_goes_back),
        cmocka_unit_test(large_arrays_are_not_read_when_opened),
        cmocka_unit_test(the_bundled_table_agrees_with_its_files),
        cmocka_unit_test(the_large_tables_agree_with_their_files),
        cmocka_unit_test(best_and_worst_are_those_of_the_arrays),
    };
    return cmocka_run_group_tests_name("blackbox_table", tests, NULL, NULL);
}
