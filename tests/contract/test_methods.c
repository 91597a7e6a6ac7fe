/* test_methods.c -- every row of methods.def, from end to end: opened through the library, run on the
 * simulator. */
#include "tests/contract/contract.h"

#include "bench/simrun.h"
#include "bench/tasks.h"

static struct task_list tasks;

static const char *const task_names[] = {"branin", "synthetic-curves", "digits-mlp"};
enum { N_TASKS = sizeof task_names / sizeof *task_names };

/* NULL after saying so: the data is not there. */
static struct blackbox *open_task(const char *name)
{
    struct err err = {0};
    struct blackbox *box = NULL;
    if (!wni_tasks_get(&tasks, name)) {
        print_message("# skip: task %s is not there\n", name);
        return NULL;
    }
    CHECK_OK(wni_task_open(&tasks, name, &box, &err), err);
    return box;
}

/* ---- what a run did ---- */

struct noted { /* an event, or what was heard of a report */
    struct event event;
    uint64_t config_hash;
    struct happening happening;
};

struct record {
    struct noted *items;
    size_t n, cap;
    struct history_cursor at;
};

static struct noted *add_note(struct record *r)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 256;
        r->items = realloc(r->items, r->cap * sizeof *r->items);
        assert_non_null(r->items);
    }
    r->items[r->n] = (struct noted){0};
    return &r->items[r->n++];
}

static void listen(void *context, const struct study *study, const struct happening *report)
{
    struct record *r = context;
    struct event e;
    while (wni_history_next(&study->history, &r->at, &e)) {
        struct noted *note = add_note(r);
        if (e.config) note->config_hash = wni_config_hash(&study->space, e.config);
        note->event = e;
        note->event.config = NULL;
        if (e.kind != EVENT_REPORT) continue;
        CHECK(check_same_double(e.value, study->sign * report->value), "value %g heard, %g noted",
              report->value, e.value);
        note->happening = *report;
    }
}

static void check_same_record(const struct space *space, const struct record *a, const struct record *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        const struct noted *x = &a->items[i], *y = &b->items[i];
        check_same_event(space, &x->event, &y->event, i);
        CHECK(x->config_hash == y->config_hash, "event %zu: another configuration", i);
        CHECK_DOUBLE(x->happening.time, y->happening.time);
        CHECK_DOUBLE(x->happening.value, y->happening.value);
    }
    CHECK_INT(a->n, b->n);
}

static struct sim_outcome run(const struct method *method, const struct blackbox *box, struct sim_run how,
                              struct record *record)
{
    struct err err = {0};
    struct sim_outcome out;
    *record = (struct record){0};
    how.box = box;
    how.method = method;
    how.options = brisk_options(method->searcher);
    how.on_report = listen;
    how.context = record;
    CHECK_OK(wni_sim_run(&how, &out, &err), err);
    return out;
}

/* ---- the properties ---- */

static void names_its_parts(void **row)
{
    const struct method *m = *row;
    struct err err = {0};
    CHECK(wni_scheduler_find(m->scheduler, &err), "%s: %s", m->name, err.text);
    CHECK(wni_searcher_find(m->searcher, &err), "%s: %s", m->name, err.text);
    CHECK(m->options, "%s: options are NULL, not empty", m->name);
    CHECK(m->summary && strlen(m->summary) > 5 && strlen(m->summary) < 100, "%s: summary '%s'", m->name,
          m->summary);
    assert_ptr_equal(wni_method_find(m->name, &err), m);
    CHECK(strspn(m->name, "abcdefghijklmnopqrstuvwxyz0123456789+-") == strlen(m->name), "name '%s'", m->name);
}

static wn_study *open_study(const struct method *m, const char *options, double max_resource,
                            wn_status expected, char why[WN_WHY_MAX])
{
    wn_space *space = wn_space_new();
    assert_non_null(space);
    wn_space_float(space, "x", 0, 1, WN_LINEAR);
    wn_study_options o = WN_STUDY_OPTIONS_INIT;
    o.method = m->name;
    o.options = options;
    o.max_resource = max_resource;
    wn_study *study = NULL;
    why[0] = '\0';
    wn_status st = wn_study_open("memory:", "contract", space, &o, &study, why);
    wn_space_free(space);
    CHECK(st == expected, "opening gave %d, expected %d: %s", st, expected, why);
    assert_int_equal(study != NULL, expected == WN_OK);
    return study;
}

static void opens(void **row)
{
    char why[WN_WHY_MAX];
    wn_study_close(open_study(*row, NULL, 81, WN_OK, why));
    wn_study_close(open_study(*row, "", 1, WN_OK, why));
    open_study(*row, "scheduler.no-such-option=1", 81, WN_EINVAL, why);
    CHECK(strstr(why, "unknown option 'no-such-option'"), "got '%s'", why);
}

/* What the user sets wins over what the method sets. */
static void its_options_can_be_changed(void **row)
{
    const struct method *m = *row;
    char why[WN_WHY_MAX], options[256];
    const struct opt_def *defs = wni_scheduler_find(m->scheduler, NULL)->opts;
    for (; defs && defs->kind != OPT_KIND_END; defs++) {
        char value[64];
        wni_opt_default_text(defs, value, sizeof value);
        snprintf(options, sizeof options, "scheduler.%s=%s", defs->name, value);
        wn_study_close(open_study(m, options, 81, WN_OK, why));
        snprintf(options, sizeof options, "scheduler.%s=xyz", defs->name);
        open_study(m, options, 81, WN_EINVAL, why);
        CHECK(strstr(why, defs->name), "got '%s'", why);
    }
}

static void says_that_it_needs_a_largest_resource(void **row)
{
    const struct method *m = *row;
    char why[WN_WHY_MAX], expected[WN_WHY_MAX];
    if (!wni_scheduler_find(m->scheduler, NULL)->stops_early) {
        wn_study_close(open_study(m, NULL, 0, WN_OK, why));
        return;
    }
    open_study(m, NULL, 0, WN_EINVAL, why);
    snprintf(expected, sizeof expected,
             "scheduler '%s' needs a largest resource (how many epochs a full run has)", m->scheduler);
    CHECK_TEXT(why, expected);
}

/* 1, 4 and 64 workers, each twice: the same events and times, bit by bit. */
static void two_runs_are_the_same(void **row, const char *task)
{
    static const unsigned crews[] = {1, 4, 64};
    struct blackbox *box = open_task(task);
    if (!box) skip();
    for (size_t i = 0; i < sizeof crews / sizeof *crews; i++) {
        struct sim_run how = {.seed = 5, .workers = crews[i], .limits = {.trials = 150, .reports = 1500}};
        struct record a, b;
        struct sim_outcome one = run(*row, box, how, &a), two = run(*row, box, how, &b);
        check_same_record(&box->space, &a, &b);
        CHECK_INT(one.trials, two.trials);
        CHECK_INT(one.reports, two.reports);
        CHECK_DOUBLE(one.best, two.best);
        CHECK_DOUBLE(one.simulated_seconds, two.simulated_seconds);
        CHECK(one.reports > 20 && one.reports <= 1500, "%zu reports", (size_t)one.reports);
        CHECK(isfinite(one.best), "best value %g", one.best);
        CHECK(isnan(box->best) ||
                  (box->goal == WN_MINIMIZE ? one.best >= box->best - 1e-6 : one.best <= box->best + 1e-6),
              "best value %.17g is better than the best there is, %.17g", one.best, box->best);
        free(a.items);
        free(b.items);
    }
    box->ops->close(box);
}

static void runs_the_same_on_a_function(void **row)
{
    two_runs_are_the_same(row, task_names[0]);
}

static void runs_the_same_on_curves(void **row)
{
    two_runs_are_the_same(row, task_names[1]);
}

static void runs_the_same_on_a_table(void **row)
{
    two_runs_are_the_same(row, task_names[2]);
}

/* With so many trials and no more, every method ends by itself, polling or not. */
static void ends_when_the_trials_do(void **row)
{
    struct blackbox *box = open_task("synthetic-curves");
    assert_non_null(box);
    for (unsigned workers = 1; workers <= 64; workers *= 8) {
        struct sim_run how = {
            .seed = 2, .workers = workers, .limits = {.trials = 40}, .poll = workers == 8 ? 5 : 0};
        struct record record;
        struct sim_outcome out = run(*row, box, how, &record);
        CHECK(out.trials == 40, "%zu trials", (size_t)out.trials);
        CHECK(out.reports >= 40 && out.reports <= 40 * box->n_levels, "%zu reports", (size_t)out.reports);
        free(record.items);
    }
    box->ops->close(box);
}

/* More than one worker makes it faster, never slower than one by much: nobody waits for nothing. */
static void workers_help(void **row)
{
    struct blackbox *box = open_task("synthetic-curves");
    assert_non_null(box);
    double seconds[2];
    for (int i = 0; i < 2; i++) {
        struct record record;
        struct sim_run how = {.seed = 9, .workers = i ? 8 : 1, .limits = {.reports = 2000}};
        seconds[i] = run(*row, box, how, &record).simulated_seconds;
        free(record.items);
    }
    CHECK(seconds[1] < seconds[0] / 4, "8 workers took %g s where one took %g s", seconds[1], seconds[0]);
    box->ops->close(box);
}

static const struct property properties[] = {
    {"names its parts", names_its_parts},
    {"opens", opens},
    {"its options can be changed", its_options_can_be_changed},
    {"says that it needs a largest resource", says_that_it_needs_a_largest_resource},
    {"two runs are the same on a function", runs_the_same_on_a_function},
    {"two runs are the same on curves", runs_the_same_on_curves},
    {"two runs are the same on a table", runs_the_same_on_a_table},
    {"ends when the trials do", ends_when_the_trials_do},
    {"workers help", workers_help},
};

static const char *name_at(size_t i)
{
    return wni_method_at(i)->name;
}

static const void *row_at(size_t i)
{
    return wni_method_at(i);
}

int main(void)
{
    struct err err = {0};
    if (wni_tasks_find(&tasks, "data", &err)) return 1;
    int failed = contract_run("methods", properties, sizeof properties / sizeof *properties,
                              wni_method_count(), name_at, row_at);
    wni_tasks_release(&tasks);
    return failed;
}
