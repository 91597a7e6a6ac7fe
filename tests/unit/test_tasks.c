/* test_tasks.c -- bench/tasks.h: listing, broken folders, names, where the data is, and what every task
 * obeys. */
#include "tests/unit/box_world.h"

#include "bench/kind.h"

static const char good[] =
    "{\"family\": \"fam\", \"kind\": \"table\", \"honesty\": \"real\",\n"
    " \"parameters\": [{\"name\": \"x\", \"type\": \"int\", \"min\": 1, \"max\": 2}],\n"
    " \"resource\": {\"name\": \"epoch\", \"levels\": [1, 4]},\n"
    " \"tasks\": [{\"name\": \"fam-a\", \"metric\": {\"name\": \"loss\", \"goal\": \"minimize\"},\n"
    "   \"values\": \"a.npy\", \"limits\": {\"results\": 8, \"time\": 3.5}, \"best\": 1, \"worst\": 9},\n"
    "  {\"name\": \"fam-b\", \"metric\": {\"name\": \"score\", \"goal\": \"maximize\"},\n"
    "   \"values\": \"b.npy\", \"honesty\": \"half real\"}]}\n";

static void make_folder(const char *dir, const char *name, const char *json, char out[CHECK_PATH_MAX + 256])
{
    snprintf(out, CHECK_PATH_MAX + 256, "%s/%s", dir, name);
    CHECK_INT(mkdir(out, 0700), 0);
    if (json) world_write(out, "blackbox.json", json);
}

static void find(struct task_list *list, const char *directories)
{
    struct err err = {0};
    CHECK_OK(wni_tasks_find(list, directories, &err), err);
}

static size_t builtin_tasks(void)
{
    struct task_list list;
    find(&list, NULL);
    size_t n = list.n;
    CHECK_INT(list.n_warnings, 0);
    wni_tasks_release(&list);
    return n;
}

/* ---- the registry ---- */

static void every_kind_has_a_name_and_a_way_to_open(void **state)
{
    (void)state;
    size_t n = 0;
    for (; wni_blackbox_kinds[n]; n++) {
        const struct blackbox_kind *kind = wni_blackbox_kinds[n];
        CHECK(kind->name && kind->open, "kind %zu", n);
        CHECK(wni_blackbox_kind(kind->name) == kind, "two kinds are called %s", kind->name);
        CHECK(!kind->builtin == !kind->describe, "%s", kind->name);
    }
    CHECK(n >= 4, "%zu kinds", n);
    CHECK(wni_blackbox_kind("tables") == NULL, "%s", "tables");
}

static void tasks_in_the_code_are_always_listed(void **state)
{
    (void)state;
    static const char *const names[] = {"branin",        "hartmann6",   "rosenbrock-2",    "rosenbrock-5",
                                        "rosenbrock-10", "hetero-sine", "synthetic-curves"};
    struct task_list list;
    find(&list, "");
    CHECK_INT(list.n, sizeof names / sizeof *names);
    for (size_t i = 0; i < list.n; i++) {
        CHECK_TEXT(list.items[i].name, names[i]);
        CHECK_TEXT(list.items[i].kind, "function");
        CHECK(list.items[i].folder == NULL, "%s", list.items[i].folder);
    }
    wni_tasks_release(&list);
    wni_tasks_release(&list); /* twice is fine */
}

/* ---- folders ---- */

static void lists_what_the_description_says(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX], folder[CHECK_PATH_MAX + 256];
    check_tmp_make(dir);
    make_folder(dir, "fam", good, folder);
    for (int round = 0; round < 2;
         round++) { /* a directory of folders, and a folder itself; no table is there */
        struct task_list list;
        find(&list, round ? folder : dir);
        CHECK_INT(list.n_warnings, 0);
        CHECK_INT(list.n, builtin_tasks() + 2);
        const struct task *a = wni_tasks_get(&list, "fam-a"), *b = wni_tasks_get(&list, "fam-b");
        CHECK(a && b, "%p %p", (const void *)a, (const void *)b);
        CHECK_TEXT(a->family, "fam");
        CHECK_TEXT(a->kind, "table");
        CHECK_TEXT(a->metric, "loss");
        CHECK_TEXT(a->resource, "epoch");
        CHECK_TEXT(a->honesty, "real");
        CHECK_TEXT(a->folder, folder);
        CHECK_INT(a->goal, WN_MINIMIZE);
        CHECK_INT(a->n_params, 1);
        CHECK_INT(a->n_levels, 2);
        CHECK_DOUBLE(a->max_resource, 4);
        CHECK_DOUBLE(a->limit_resource, 8);
        CHECK_DOUBLE(a->limit_seconds, 3.5);
        CHECK_DOUBLE(a->best, 1);
        CHECK_DOUBLE(a->worst, 9);
        CHECK_TEXT(b->honesty, "half real"); /* its own word goes before the family's */
        CHECK_INT(b->goal, WN_MAXIMIZE);
        CHECK_DOUBLE(b->limit_resource, 0);
        CHECK_DOUBLE(b->limit_seconds, 0);
        CHECK_DOUBLE(b->best, NAN);
        CHECK_DOUBLE(b->worst, NAN);
        wni_tasks_release(&list);
    }
    check_tmp_remove(dir);
}

static void folders_come_in_the_order_of_their_names(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX], folder[CHECK_PATH_MAX + 256];
    check_tmp_make(dir);
    static const char *const names[] = {"m", "b", "z", "a", "q"}, *const sorted = "abmqz";
    for (size_t i = 0; i < 5; i++) {
        struct buf json = {0};
        wni_buf_printf(
            &json,
            "{\"family\": \"f\", \"kind\": \"table\", \"parameters\": {\"x\": [1, 2]}, \"resource\": "
            "{\"levels\": [1]}, "
            "\"tasks\": [{\"name\": \"%s\", \"metric\": {\"name\": \"m\"}, \"values\": \"v.npy\"}]}",
            names[i]);
        make_folder(dir, names[i], json.data, folder);
        wni_buf_release(&json);
    }
    make_folder(dir, ".hidden", good, folder);
    make_folder(dir, "empty", NULL, folder);
    make_folder(dir, "strange", NULL, folder);
    char inner[CHECK_PATH_MAX + 512];
    make_folder(folder, "blackbox.json", NULL, inner); /* a folder of that name is no description */
    world_write(dir, "file", "not a folder");
    struct task_list list;
    find(&list, dir);
    size_t first = builtin_tasks();
    CHECK_INT(list.n, first + 5);
    CHECK_INT(list.n_warnings, 0);
    for (size_t i = 0; i < 5; i++)
        CHECK_INT(list.items[first + i].name[0], sorted[i]);
    CHECK_TEXT(list.items[first].honesty, "not stated");
    CHECK_TEXT(list.items[first].resource, "resource");
    CHECK_INT(list.items[first].goal, WN_MINIMIZE);
    wni_tasks_release(&list);
    check_tmp_remove(dir);
}

static void a_broken_folder_hides_no_other(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *why;
        size_t tasks; /* that are still listed from it */
    } cases[] = {
        {"\"family\": \"fam\", ", "", "'family' is missing", 0},
        {"\"kind\": \"table\", ", "", "'kind' is missing", 0},
        {"\"kind\": \"table\"", "\"kind\": \"tabel\"",
         "unknown kind 'tabel'; it must be table, nearest or network", 0},
        {"\"kind\": \"table\"", "\"kind\": \"function\"", "kind 'function' is for tasks in the code", 0},
        {"\"kind\": \"table\"", "\"kind\": [\"table\"]", "'kind' must be a text, but is a list", 0},
        {"\"kind\": \"table\"", "\"kind\": \"\"", "'kind' must be a text, but is empty", 0},
        {"\"parameters\": [", "\"parameters\": [], \"p\": [", "'parameters' is empty", 0},
        {"\"parameters\": [", "\"parameters\": 7, \"p\": [", "'parameters' must be a list", 0},
        {"\"resource\": {", "\"source\": {", "'resource' is missing", 0},
        {"\"levels\": [1, 4]", "\"level\": 4", "'levels' is missing", 0},
        {"\"levels\": [1, 4]", "\"levels\": {\"a\": 1}", "'levels' must be a list, but is a mapping", 0},
        {"\"levels\": [1, 4]", "\"levels\": [4, 1]", "levels must be above 0 and increase, but 1 follows 4",
         0},
        {"\"levels\": [1, 4]", "\"levels\": [4, 4]", "levels must be above 0 and increase, but 4 follows 4",
         0},
        {"\"levels\": [1, 4]", "\"levels\": [0, 4]", "levels must be above 0", 0},
        {"\"levels\": [1, 4]", "\"levels\": [1, \"4\"]", "resource levels must be numbers", 0},
        {"\"tasks\": [", "\"task\": [", "'tasks' is missing", 0},
        {"{\"name\": \"fam-b\", ", "{", "task 2: ", 1},
        {"{\"name\": \"fam-b\", ", "{", "'name' is missing", 1},
        {"{\"name\": \"fam-a\", ", "7, {\"name\": \"fam-a\", ", "task 1: ", 2},
        {"\"metric\": {\"name\": \"loss\", \"goal\": \"minimize\"},", "", "task 'fam-a': ", 1},
        {"\"metric\": {\"name\": \"loss\", \"goal\": \"minimize\"},", "", "'metric' is missing", 1},
        {"\"goal\": \"minimize\"", "\"goal\": \"minimise\"",
         "'goal' must be minimize or maximize, not 'minimise'", 1},
        {"\"results\": 8", "\"results\": \"many\"", "'results' must be a number", 1},
        {"\"results\": 8", "\"results\": -8", "limits must not be below 0", 1},
        {"\"best\": 1", "\"best\": [1]", "'best' must be a number", 1},
        {"\"honesty\": \"half real\"", "\"honesty\": {}", "'honesty' must be a text, but is a mapping", 1},
        {"{\"family\"", "{{\"family\"", "blackbox.json", 0},
        {good, "[1, 2]", "expected a mapping, found a list", 0},
        {good, "", "blackbox.json", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char dir[CHECK_PATH_MAX], folder[CHECK_PATH_MAX + 256], other[CHECK_PATH_MAX + 256];
        check_tmp_make(dir);
        make_folder(dir, "broken", NULL, folder);
        world_write_changed(folder, "blackbox.json", good, cases[i].from, cases[i].to);
        make_folder(dir, "other", NULL, other);
        world_write_changed(other, "blackbox.json", good, "\"fam-a\"", "\"still-here\"");
        struct task_list list;
        find(&list, dir);
        CHECK(list.n_warnings == 1 && strstr(list.warnings[0], "blackbox.json") &&
                  strstr(list.warnings[0], cases[i].why),
              "case %zu: %zu warnings, the first '%s', expected '%s'", i, list.n_warnings,
              list.n_warnings ? list.warnings[0] : "", cases[i].why);
        CHECK(strstr(list.warnings[0], folder), "which folder? '%s'", list.warnings[0]);
        CHECK(wni_tasks_get(&list, "still-here"), "case %zu", i);
        size_t own = 0;
        for (size_t k = 0; k < list.n; k++)
            own += list.items[k].folder && !strcmp(list.items[k].folder, folder);
        CHECK_INT(own, cases[i].tasks);
        wni_tasks_release(&list);
        check_tmp_remove(dir);
    }
}

static void directories_are_searched_in_order_and_the_first_task_wins(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX], one[CHECK_PATH_MAX + 256], two[CHECK_PATH_MAX + 256];
    check_tmp_make(dir);
    make_folder(dir, "one", NULL, one);
    make_folder(dir, "two", NULL, two);
    world_write_changed(one, "blackbox.json", good, "\"real\"", "\"first\"");
    world_write_changed(two, "blackbox.json", good, "\"fam-b\"", "\"fam-c\"");
    struct buf path = {0};
    wni_buf_printf(&path, "%s::%s:", one, two);
    struct task_list list;
    find(&list, path.data);
    CHECK_INT(list.n_warnings, 0);
    CHECK_INT(list.n, builtin_tasks() + 3);
    CHECK_TEXT(wni_tasks_get(&list, "fam-a")->folder, one);
    CHECK_TEXT(wni_tasks_get(&list, "fam-a")->honesty, "first");
    CHECK_TEXT(wni_tasks_get(&list, "fam-c")->folder, two);
    wni_tasks_release(&list);
    wni_buf_release(&path);
    check_tmp_remove(dir);
}

static void a_missing_or_empty_directory_is_a_warning(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX];
    check_tmp_make(dir);
    struct buf path = {0};
    wni_buf_printf(&path, "%s/nowhere:%s", dir, dir);
    struct task_list list;
    find(&list, path.data);
    CHECK_INT(list.n_warnings, 2);
    CHECK(strstr(list.warnings[0], "/nowhere': No such file or directory"), "%s", list.warnings[0]);
    CHECK(strstr(list.warnings[1], "no folder in it has a blackbox.json"), "%s", list.warnings[1]);
    CHECK_INT(list.n, builtin_tasks());
    struct blackbox *box;
    struct err err = {0};
    CHECK_INT(wni_task_open(&list, "fcnet-naval", &box, &err), WN_ENOTFOUND);
    CHECK(strstr(err.text, "no task 'fcnet-naval'") && strstr(err.text, "/nowhere"), "%s",
          err.text); /* the likely reason */
    wni_tasks_release(&list);
    wni_buf_release(&path);
    check_tmp_remove(dir);
}

/* ---- opening by name ---- */

static void an_unknown_name_gets_a_suggestion(void **state)
{
    (void)state;
    static const struct {
        const char *name, *why;
    } cases[] = {{"brannin", "no task 'brannin'; did you mean 'branin'?"},
                 {"synthetic-curve", "no task 'synthetic-curve'; did you mean 'synthetic-curves'?"},
                 {"Hartmann6", "no task 'Hartmann6'; did you mean 'hartmann6'?"},
                 {"digits-mpl", "no task 'digits-mpl'; did you mean 'digits-mlp'?"},
                 {"something else", "no task 'something else' among the "},
                 {"", "no task '' among the "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct task_list list;
        struct blackbox *box = (struct blackbox *)&list;
        struct err err = {0};
        find(&list, "data");
        CHECK_INT(wni_task_open(&list, cases[i].name, &box, &err), WN_ENOTFOUND);
        CHECK(strstr(err.text, cases[i].why) == err.text, "'%s', expected '%s'", err.text, cases[i].why);
        CHECK(box == NULL, "%p", (const void *)box);
        wni_tasks_release(&list);
    }
}

static void a_folder_that_changed_since_is_noticed(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX], folder[CHECK_PATH_MAX + 256];
    check_tmp_make(dir);
    make_folder(dir, "fam", good, folder);
    struct task_list list;
    struct blackbox *box;
    struct err err = {0};
    find(&list, dir);
    CHECK_INT(wni_task_open(&list, "fam-b", &box, &err), WN_EIO);
    CHECK(strstr(err.text, "configs.csv"), "%s", err.text); /* there never was a table */
    world_write_changed(folder, "blackbox.json", good, "\"fam-b\"", "\"fam-x\"");
    CHECK_INT(wni_task_open(&list, "fam-b", &box, &err), WN_EINVAL);
    CHECK(strstr(err.text, "changed since it was listed"), "%s", err.text);
    world_write_changed(folder, "blackbox.json", good, "\"table\"", "\"nearest\"");
    CHECK_INT(wni_task_open(&list, "fam-b", &box, &err), WN_EINVAL);
    CHECK(strstr(err.text, "changed since it was listed"), "%s", err.text);
    check_tmp_remove(dir);
    CHECK_INT(wni_task_open(&list, "fam-b", &box, &err), WN_ENOTFOUND);
    wni_tasks_release(&list);
}

/* ---- every task at hand ---- */

static void check_task(const struct task_list *list, const struct task *task)
{
    struct blackbox *box = world_open(list, task->name);
    world_check_listing(box, task);
    CHECK(box->n_seeds >= 1, "%u", box->n_seeds);
    CHECK(box->curve_size > 0, "%zu", box->curve_size);
    CHECK(box->limit_resource > 0, "%g", box->limit_resource);
    double config[128];
    for (uint64_t i = 0; i < 3; i++) {
        struct rng rng = wni_rng_stream(4, i, 0);
        check_random_config(&box->space, &rng, config);
        world_check_curve(box, config, wni_rng_u64(&rng));
    }
    box->ops->close(box);
}

static void every_task_opens_and_obeys(void **state)
{
    (void)state;
    struct task_list list;
    world_tasks(&list, NULL);
    for (size_t i = 0; i < list.n_warnings; i++)
        print_message("# %s\n", list.warnings[i]);
    CHECK_INT(list.n_warnings, 0);
    for (size_t i = 0; i < list.n; i++)
        check_task(&list, &list.items[i]);
    print_message("# %zu tasks opened\n", list.n);
    wni_tasks_release(&list);
}

/* A box does not need the list, nor another box of the same folder. */
static void boxes_stand_alone(void **state)
{
    (void)state;
    struct task_list list;
    find(&list, "data");
    struct blackbox *a = world_open(&list, "digits-mlp"), *b = world_open(&list, "digits-mlp");
    wni_tasks_release(&list);
    double config[] = {3, 2, 1, 1, 0}, before = world_value(a, config, 1, 10);
    a->ops->close(a);
    CHECK_DOUBLE(world_value(b, config, 1, 10), before);
    CHECK_TEXT(b->name, "digits-mlp");
    b->ops->close(b);
}

/* ---- where the data is ---- */

static const char *data_path(struct buf *out, const char *flag, const char *environment)
{
    if (environment)
        setenv("WINNOW_DATA", environment, 1);
    else
        unsetenv("WINNOW_DATA");
    wni_buf_clear(out);
    wni_data_path(flag, out);
    return wni_buf_text(out);
}

static void the_flag_goes_before_the_environment(void **state)
{
    (void)state;
    const char *outside = getenv("WINNOW_DATA");
    char *saved = outside ? strdup(outside) : NULL;
    struct buf b = {0}, bundled = {0};
    data_path(&bundled, NULL, NULL); /* what lies beside this program, if anything */
    struct buf expected = {0};
    const char *colon = bundled.len ? ":" : "";
    wni_buf_printf(&expected, "/a:/b%s%s", colon, wni_buf_text(&bundled));
    CHECK_TEXT(data_path(&b, "/a:/b", NULL), expected.data);
    CHECK_TEXT(data_path(&b, "/a:/b", "/c"), expected.data);
    CHECK_TEXT(data_path(&b, NULL, "/a:/b"), expected.data);
    CHECK_TEXT(data_path(&b, NULL, ""), wni_buf_text(&bundled));
    if (saved)
        setenv("WINNOW_DATA", saved, 1);
    else
        unsetenv("WINNOW_DATA");
    free(saved);
    wni_buf_release(&b);
    wni_buf_release(&bundled);
    wni_buf_release(&expected);
}

/* In the build tree this program lies where the real one does, so the bundled data is found without being
 * told. */
static void the_bundled_data_is_found(void **state)
{
    (void)state;
    char exe[CHECK_PATH_MAX] = "", data[CHECK_PATH_MAX + 16];
    struct stat info;
    CHECK(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0, "%s", exe);
    for (int i = 0; i < 2; i++)
        *strrchr(exe, '/') = '\0';
    snprintf(data, sizeof data, "%s/data/digits", exe);
    if (stat(data, &info)) {
        print_message("# skip: this program was not built inside the repository\n");
        skip();
    }
    struct buf path = {0};
    struct task_list list;
    wni_data_path("", &path);
    find(&list, wni_buf_text(&path));
    const struct task *task = wni_tasks_get(&list, "digits-mlp");
    CHECK_TEXT(task ? task->folder : "not found", data);
    wni_tasks_release(&list);
    wni_buf_release(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_name_and_a_way_to_open),
        cmocka_unit_test(tasks_in_the_code_are_always_listed),
        cmocka_unit_test(lists_what_the_description_says),
        cmocka_unit_test(folders_come_in_the_order_of_their_names),
        cmocka_unit_test(a_broken_folder_hides_no_other),
        cmocka_unit_test(directories_are_searched_in_order_and_the_first_task_wins),
        cmocka_unit_test(a_missing_or_empty_directory_is_a_warning),
        cmocka_unit_test(an_unknown_name_gets_a_suggestion),
        cmocka_unit_test(a_folder_that_changed_since_is_noticed),
        cmocka_unit_test(every_task_opens_and_obeys),
        cmocka_unit_test(boxes_stand_alone),
        cmocka_unit_test(the_flag_goes_before_the_environment),
        cmocka_unit_test(the_bundled_data_is_found),
    };
    return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}
