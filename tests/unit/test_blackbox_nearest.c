/* test_blackbox_nearest.c -- bench/nearest.c against a slow double loop and against scikit-learn. */
#include "tests/unit/box_world.h"

#include "tests/golden.h"

enum { ROWS_MAX = 200 };

/* ---- a table in memory ---- */

struct table {
    char dir[CHECK_PATH_MAX];
    struct space space; /* a copy of the black box's */
    size_t n;
    double *rows; /* n x space.n: numbers as they stand in the file; indices for words */
    bool declared;
};

/* What a value is, in the file's terms: the number of a float, int or numeric ordinal, the index of a word.
 */
static double plain(const struct param *p, double value)
{
    return p->numbers ? p->numbers[(size_t)value] : value;
}

static bool is_word(const struct param *p)
{
    return p->kind == PARAM_CATEGORICAL || p->kind == PARAM_BOOL;
}

static double column_value(const struct table *t, size_t i, double x)
{
    const struct param *p = &t->space.params[i];
    return t->declared && p->scale == WN_LOG ? wni_log(x) : x;
}

/* Mean and population deviation of a column; for a word, of "is it value k?". */
static void moments(const struct table *t, size_t i, int k, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    for (size_t r = 0; r < t->n; r++) {
        double x = t->rows[r * t->space.n + i];
        sum += k >= 0 ? x == k : column_value(t, i, x);
    }
    *mean = sum / (double)t->n;
    for (size_t r = 0; r < t->n; r++) {
        double x = t->rows[r * t->space.n + i], v = k >= 0 ? x == k : column_value(t, i, x);
        squares += (v - *mean) * (v - *mean);
    }
    *deviation = sqrt(squares / (double)t->n);
    if (*deviation == 0) *deviation = 1;
}

/* Squared distance straight from the definition; everything is computed anew each time. */
static double slow_distance(const struct table *t, const double *query, const double *row)
{
    double sum = 0, mean, deviation;
    for (size_t i = 0; i < t->space.n; i++) {
        const struct param *p = &t->space.params[i];
        if (p->kind == PARAM_CONSTANT) continue;
        if (is_word(p)) {
            for (int k = 0; k < (int)p->count; k++) {
                moments(t, i, k, &mean, &deviation);
                double d = ((query[i] == k) - (row[i] == k)) / deviation;
                sum += d * d;
            }
        } else {
            moments(t, i, -1, &mean, &deviation);
            double d = (column_value(t, i, query[i]) - column_value(t, i, row[i])) / deviation;
            sum += d * d;
        }
    }
    return sum;
}

static void write_table(struct table *t)
{
    struct buf json = {0}, csv = {0};
    float *numbers = calloc(t->n, sizeof *numbers);
    check_tmp_make(t->dir);
    wni_buf_puts(&json, "{\"family\": \"near\", \"kind\": \"nearest\", \"parameters\": ");
    wni_space_write(&t->space, &json);
    wni_buf_printf(
        &json,
        ", \"distance\": \"%s\", \"resource\": {\"levels\": [1]}, \"tasks\": [{\"name\": \"near\", "
        "\"metric\": {\"name\": \"row\"}, \"values\": \"v.npy\"}]}",
        t->declared ? "declared" : "raw");
    for (size_t i = 0; i < t->space.n; i++)
        wni_buf_printf(&csv, "%s%s", i ? "," : "", t->space.params[i].name);
    wni_buf_putc(&csv, '\n');
    for (size_t r = 0; r < t->n; r++) {
        for (size_t i = 0; i < t->space.n; i++) {
            const struct param *p = &t->space.params[i];
            double x = t->rows[r * t->space.n + i];
            if (i) wni_buf_putc(&csv, ',');
            if (p->labels && !p->numbers)
                wni_buf_csv_field(&csv, p->labels[(size_t)x]);
            else
                wni_buf_double(&csv, x);
        }
        wni_buf_putc(&csv, '\n');
        numbers[r] = (float)r;
    }
    world_write(t->dir, "blackbox.json", json.data);
    world_write(t->dir, "configs.csv", csv.data);
    world_write_npy(t->dir, "v.npy", (size_t[]){t->n, 1, 1}, 3, numbers); /* the value is the row's number */
    wni_buf_release(&json);
    wni_buf_release(&csv);
    free(numbers);
}

static void drop_table(struct table *t)
{
    check_tmp_remove(t->dir);
    wni_space_release(&t->space);
    free(t->rows);
}

static struct blackbox *open_table(const struct table *t)
{
    return world_open_in(t->dir, "near");
}

/* ---- against the slow loop ---- */

/* A space of every kind with everyday ranges, and rows inside and a little outside of it. */
static void random_table(struct table *t, uint64_t seed)
{
    struct rng rng = wni_rng_stream(seed, 0, 0);
    static const char *const words[] = {"red", "green", "blue, dark"};
    static const char *const sizes[] = {"1", "10", "100", "1000"};
    static const char *const grades[] = {"low", "mid", "high"};
    const struct param_decl decls[] = {
        {.name = "lr", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-5, .max = 1},
        {.name = "offset", .kind = PARAM_FLOAT, .min = -3, .max = 1e3},
        {.name = "units", .kind = PARAM_INT, .scale = WN_LOG, .min = 1, .max = 512},
        {.name = "colour", .kind = PARAM_CATEGORICAL, .labels = words, .n_labels = 3},
        {.name = "size", .kind = PARAM_ORDINAL, .scale = WN_LOG, .labels = sizes, .n_labels = 4},
        {.name = "grade", .kind = PARAM_ORDINAL, .labels = grades, .n_labels = 3},
        {.name = "on", .kind = PARAM_BOOL},
        {.name = "fixed", .kind = PARAM_CONSTANT, .labels = (const char *[]){"7"}, .n_labels = 1},
    };
    *t = (struct table){.n = (size_t)check_between(&rng, 1, ROWS_MAX), .declared = check_chance(&rng, 50)};
    wni_space_init(&t->space);
    for (size_t i = 0; i < sizeof decls / sizeof *decls; i++)
        if (check_chance(&rng, 75) || i == 0) check_add(&t->space, decls[i]);
    t->rows = calloc(t->n * t->space.n, sizeof *t->rows);
    double config[8];
    bool constant_column = check_chance(&rng, 20);
    for (size_t r = 0; r < t->n; r++) {
        wni_config_sample(&t->space, &rng, config);
        for (size_t i = 0; i < t->space.n; i++) {
            double x = plain(&t->space.params[i], config[i]);
            if (!t->space.params[i].labels && check_chance(&rng, 20))
                x *= 1.7; /* tables go beyond the space */
            t->rows[r * t->space.n + i] = constant_column && i == 0 ? 0.25 : x;
        }
    }
    write_table(t);
}

static void finds_what_the_slow_loop_finds(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct table t;
        random_table(&t, seed);
        struct blackbox *box = open_table(&t);
        struct rng rng = wni_rng_stream(seed, 1, 0);
        for (int round = 0; round < 20; round++) {
            double config[8], query[8], best = INFINITY;
            wni_config_sample(&box->space, &rng, config);
            for (size_t i = 0; i < t.space.n; i++)
                query[i] = plain(&t.space.params[i], config[i]);
            for (size_t r = 0; r < t.n; r++)
                best = fmin(best, slow_distance(&t, query, t.rows + r * t.space.n));
            size_t found = (size_t)world_value(box, config, 0, 0);
            double distance = slow_distance(&t, query, t.rows + found * t.space.n);
            /* the two sum in different orders, so equal rows may swap: compare distances, not rows */
            CHECK(distance <= best * (1 + 1e-12),
                  "seed %d round %d: row %zu at %.17g, the nearest is at %.17g", (int)seed, round, found,
                  distance, best);
        }
        box->ops->close(box);
        drop_table(&t);
    }
}

/* One int parameter and these rows. */
static struct blackbox *open_ints(struct table *t, const double *rows, size_t n)
{
    *t = (struct table){.n = n, .rows = calloc(n, sizeof *rows)};
    memcpy(t->rows, rows, n * sizeof *rows);
    wni_space_init(&t->space);
    check_add(&t->space, (struct param_decl){.name = "x", .kind = PARAM_INT, .min = -100, .max = 100});
    write_table(t);
    return open_table(t);
}

static void ties_go_to_the_lowest_row(void **state)
{
    (void)state;
    for (size_t n = 5; n < 45; n += 3) {
        double rows[48];
        for (size_t r = 0; r < n; r++)
            rows[r] = r < 3 ? 90 : r % 2 ? 10 : 20; /* from row 3 on: 10, 20, 10, 20, ... */
        struct table t;
        struct blackbox *box = open_ints(&t, rows, n);
        CHECK_DOUBLE(world_value(box, (double[]){10}, 0, 0), 3);
        CHECK_DOUBLE(world_value(box, (double[]){20}, 0, 0), 4);
        CHECK_DOUBLE(world_value(box, (double[]){100}, 0, 0), 0);
        box->ops->close(box);
        drop_table(&t);
        for (size_t r = 0; r < n; r++)
            rows[r] = r % 2 ? 16 : -16;
        box = open_ints(&t, rows,
                        n / 2 * 2); /* mean 0 and deviation 16 exactly: 0 is as far from all of them */
        CHECK_DOUBLE(world_value(box, (double[]){0}, 0, 0), 0);
        CHECK_DOUBLE(world_value(box, (double[]){1}, 0, 0), 1);
        CHECK_DOUBLE(world_value(box, (double[]){-1}, 0, 0), 0);
        box->ops->close(box);
        drop_table(&t);
    }
}

/* ---- against scikit-learn ---- */

static void read_golden(struct table *t, double queries[64][4], int expected[64][2], size_t *n_queries)
{
    struct golden g = golden_open("tests/golden/bench_nearest.txt");
    while (golden_next(&g)) {
        if (golden_is(&g, "table")) memcpy(t->rows + 4 * t->n++, g.v, 4 * sizeof(double));
        if (golden_is(&g, "query")) memcpy(queries[(*n_queries)++], g.v, 4 * sizeof(double));
        if (golden_is(&g, "row"))
            for (size_t k = 0; k < 2; k++)
                expected[(size_t)g.v[0]][k] = (int)g.v[k + 1];
    }
    golden_close(&g);
}

static void finds_what_scikit_learn_finds(void **state)
{
    (void)state;
    static const char *const optimizers[] = {"sgd", "adam", "rmsprop"};
    for (int declared = 0; declared < 2; declared++) {
        double queries[64][4];
        int expected[64][2];
        size_t n_queries = 0;
        struct table t = {.declared = declared, .rows = calloc(4 * ROWS_MAX, sizeof(double))};
        wni_space_init(&t.space);
        const struct param_decl decls[] = {
            {.name = "lr", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = 1e-5, .max = 1},
            {.name = "offset", .kind = PARAM_FLOAT, .min = -3, .max = 4},
            {.name = "units", .kind = PARAM_INT, .scale = WN_LOG, .min = 8, .max = 600},
            {.name = "optimizer", .kind = PARAM_CATEGORICAL, .labels = optimizers, .n_labels = 3}};
        for (size_t i = 0; i < 4; i++)
            check_add(&t.space, decls[i]);
        read_golden(&t, queries, expected, &n_queries);
        CHECK_INT(t.n, 60);
        CHECK_INT(n_queries, 40);
        write_table(&t);
        struct blackbox *box = open_table(&t);
        for (size_t i = 0; i < n_queries; i++) {
            double row = world_value(box, queries[i], 0, 0);
            CHECK(row == expected[i][declared], "query %zu: row %g, scikit-learn has %d", i, row,
                  expected[i][declared]);
        }
        box->ops->close(box);
        drop_table(&t);
    }
}

/* ---- mistakes ---- */

static void refuses_broken_tables(void **state)
{
    (void)state;
    static const char json[] = "{\"family\": \"near\", \"kind\": \"nearest\", \"distance\": \"declared\", "
                               "\"resource\": {\"levels\": [1]},"
                               " \"parameters\": [{\"name\": \"x\", \"type\": \"float\", \"min\": 1, "
                               "\"max\": 10, \"scale\": \"log\"},"
                               " {\"name\": \"c\", \"type\": \"categorical\", \"values\": [\"a\", \"b\"]}],"
                               " \"tasks\": [{\"name\": \"near\", \"metric\": {\"name\": \"m\"}, \"values\": "
                               "\"v.npy\", \"configs\": \"mine.csv\"}]}";
    static const char csv[] = "x,c\n1,a\n25.5,b\n";
    static const struct {
        const char *file, *from, *to, *why;
    } cases[] = {
        {"blackbox.json", "\"declared\"", "\"euclid\"", "'distance' must be raw or declared, not 'euclid'"},
        {"mine.csv", "25.5", "0", "mine.csv:3: 'x' has a log scale but is 0"},
        {"mine.csv", "25.5", "-1", "mine.csv:3: 'x' has a log scale but is -1"},
        {"mine.csv", "25.5", "many", "mine.csv:3: 'many' is not a finite number for 'x'"},
        {"mine.csv", "25.5", "nan", "mine.csv:3: 'nan' is not a finite number for 'x'"},
        {"mine.csv", "25.5", "inf", "mine.csv:3: 'inf' is not a finite number for 'x'"},
        {"mine.csv", "25.5", "", "mine.csv:3: '' is not a finite number for 'x'"},
        {"mine.csv", ",b", ",z", "mine.csv:3: parameter 'c': 'z' is not one of a, b"},
        {"mine.csv", "1,a\n25.5,b\n", "", "mine.csv' has no rows"},
        {"mine.csv", "25.5,b\n", "25.5,b\n3,a\n", "there are 3 configurations"},
        {"mine.csv", "x,c", "x,d", "mine.csv:1: column 'd' is not a parameter"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[CHECK_PATH_MAX];
        check_tmp_make(dir);
        world_write(dir, "blackbox.json", json);
        world_write(dir, "mine.csv", csv);
        world_write_npy(dir, "v.npy", (size_t[]){2, 1, 1}, 3, (float[]){0, 1});
        struct blackbox *box = world_open_in(dir, "near");
        CHECK_DOUBLE(world_value(box, (double[]){9, 1}, 0, 0), 1);
        box->ops->close(box);
        world_write_changed(dir, cases[i].file, strcmp(cases[i].file, "mine.csv") ? json : csv, cases[i].from,
                            cases[i].to);
        world_refused(dir, "near", cases[i].why);
        check_tmp_remove(dir);
    }
}

/* ---- the tables at hand ---- */

/* A configuration of the table is its own nearest neighbour, and its values are those of its row. */
static void check_rows_find_themselves(const struct task_list *list, const struct task *task)
{
    struct blackbox *box = world_open(list, task->name);
    struct npy values;
    struct err err = {0};
    char path[CHECK_PATH_MAX], name[256];
    snprintf(path, sizeof path, "%s/%s.values.npy", task->folder, task->name);
    CHECK_OK(wni_npy_open(&values, path, &err), err);
    snprintf(name, sizeof name, "%s.configs.csv", task->name);
    snprintf(path, sizeof path, "%s/%s", task->folder, name);
    struct stat info;
    char *text = world_read(task->folder, stat(path, &info) ? "configs.csv" : name);
    size_t row = 0, found = 0;
    for (const char *line = strchr(text, '\n') + 1; *line && *line != '\n';
         line = strchr(line, '\n') + 1, row++) {
        double config[16];
        bool inside = true;
        const char *at = line;
        for (size_t i = 0; i < box->space.n; i++) {
            char *end;
            inside = wni_param_canonical(&box->space.params[i], strtod(at, &end), &config[i]) && inside;
            at = end + 1;
        }
        if (!inside || row % 7) continue; /* some rows lie outside the declared ranges */
        found++;
        for (size_t level = 0; level < box->n_levels; level += 7)
            CHECK_DOUBLE(world_value(box, config, 0, level),
                         wni_npy_at(&values, row * box->n_levels + level));
        if (row % 49 == 0) world_check_curve(box, config, 0);
    }
    CHECK(found > 100, "%s: only %zu rows tested", task->name, found);
    free(text);
    wni_npy_release(&values);
    box->ops->close(box);
}

static void rows_of_the_large_tables_find_themselves(void **state)
{
    (void)state;
    struct task_list list;
    world_tasks(&list, NULL);
    int tested = 0;
    for (size_t i = 0; i < list.n; i++) {
        if (strcmp(list.items[i].kind, "nearest") != 0) continue;
        check_rows_find_themselves(&list, &list.items[i]);
        tested++;
    }
    wni_tasks_release(&list);
    if (tested == 0) {
        print_message("# skip: no nearest-neighbour tables in $WINNOW_DATA or " SHARED_DATA "\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_the_slow_loop_finds),
        cmocka_unit_test(ties_go_to_the_lowest_row),
        cmocka_unit_test(finds_what_scikit_learn_finds),
        cmocka_unit_test(refuses_broken_tables),
        cmocka_unit_test(rows_of_the_large_tables_find_themselves),
    };
    return cmocka_run_group_tests_name("blackbox_nearest", tests, NULL, NULL);
}
