/* box_world.h -- what the tests of black boxes share: folders made on the spot, and the large tables when
 * they are there.
 *
 * The bundled data is always at hand.  The others are looked for in $WINNOW_DATA and in ../shared/data; a
 * test that needs one skips itself, saying so, when it is absent. */
#ifndef TESTS_UNIT_BOX_WORLD_H
#define TESTS_UNIT_BOX_WORLD_H

#include "tests/check.h"

#include "base/buf.h"
#include "bench/npy.h"
#include "bench/tasks.h"

#include <sys/stat.h>

#define SHARED_DATA "../shared/data"

/* ---- tasks ---- */

/* Every task at hand: the directories given, or (NULL) all the data there is. */
static inline void world_tasks(struct task_list *list, const char *directories)
{
    struct buf all = {0};
    struct err err = {0};
    struct stat info;
    const char *outside = getenv("WINNOW_DATA");
    wni_buf_puts(&all, "data");
    if (outside) wni_buf_printf(&all, ":%s", outside);
    if (!stat(SHARED_DATA, &info)) wni_buf_puts(&all, ":" SHARED_DATA);
    CHECK_OK(wni_tasks_find(list, directories ? directories : wni_buf_text(&all), &err), err);
    wni_buf_release(&all);
}

/* The task out of all the data there is; the test is skipped, saying so, when it is not there. */
static inline const struct task *world_task_or_skip(struct task_list *list, const char *name)
{
    world_tasks(list, NULL);
    const struct task *task = wni_tasks_get(list, name);
    if (task) return task;
    print_message("# skip: no task %s in $WINNOW_DATA or " SHARED_DATA "\n", name);
    wni_tasks_release(list);
    skip();
    return NULL;
}

static inline struct blackbox *world_open(const struct task_list *list, const char *name)
{
    struct blackbox *box;
    struct err err = {0};
    CHECK_OK(wni_task_open(list, name, &box, &err), err);
    return box;
}

/* Opens a task of a folder and closes the list again. */
static inline wn_status world_try(const char *folder, const char *name, struct blackbox **box,
                                  struct err *err)
{
    struct task_list list;
    *err = (struct err){0};
    world_tasks(&list, folder);
    wn_status st = wni_task_open(&list, name, box, err);
    CHECK((st == WN_OK) == (*box != NULL), "status %d", st);
    wni_tasks_release(&list);
    return st;
}

static inline struct blackbox *world_open_in(const char *folder, const char *name)
{
    struct blackbox *box;
    struct err err;
    CHECK_OK(world_try(folder, name, &box, &err), err);
    return box;
}

/* Opening the task must fail with a message that contains `why`. */
static inline void world_refused(const char *folder, const char *name, const char *why)
{
    struct blackbox *box;
    struct err err;
    wn_status st = world_try(folder, name, &box, &err);
    CHECK(st < 0 && strstr(err.text, why), "status %d, message\n  '%s', expected\n  '%s'", st, err.text, why);
}

/* The box is what its line in the list says. */
static inline void world_check_listing(const struct blackbox *box, const struct task *task)
{
    CHECK_TEXT(box->name, task->name);
    CHECK_TEXT(box->family, task->family);
    CHECK_TEXT(box->metric, task->metric);
    CHECK_TEXT(box->resource, task->resource);
    CHECK_TEXT(box->honesty, task->honesty);
    CHECK_INT(box->goal, task->goal);
    CHECK_INT(box->space.n, task->n_params);
    CHECK_INT(box->n_levels, task->n_levels);
    CHECK_DOUBLE(box->levels[box->n_levels - 1], task->max_resource);
    CHECK_DOUBLE(box->limit_resource, task->limit_resource);
    CHECK_DOUBLE(box->limit_seconds, task->limit_seconds);
    CHECK_DOUBLE(box->best, task->best);
    CHECK_DOUBLE(box->worst, task->worst);
}

/* ---- curves ---- */

static inline void *world_curve(const struct blackbox *box, const double *config, uint64_t seed)
{
    void *curve = calloc(1, box->curve_size);
    struct err err = {0};
    CHECK_OK(box->ops->open_curve(box, config, seed, curve, &err), err);
    return curve;
}

static inline double world_value(const struct blackbox *box, const double *config, uint64_t seed,
                                 size_t level)
{
    double value, seconds;
    void *curve = world_curve(box, config, seed);
    box->ops->read_curve(box, curve, level, &value, &seconds);
    free(curve);
    return value;
}

/* What holds for the curve of any black box: seconds above 0 that never go back, the same answers whatever
 * the order of reading, and however often the curve is opened. */
static inline void world_check_curve(const struct blackbox *box, const double *config, uint64_t seed)
{
    double *values = calloc(box->n_levels, sizeof *values), *seconds = calloc(box->n_levels, sizeof *seconds);
    void *forward = world_curve(box, config, seed), *backward = world_curve(box, config, seed);
    double before = 0, value, second;
    for (size_t i = 0; i < box->n_levels; i++) {
        box->ops->read_curve(box, forward, i, &values[i], &seconds[i]);
        CHECK(seconds[i] >= before && isfinite(seconds[i]) && seconds[i] > 0, "%s level %zu: %g s after %g s",
              box->name, i, seconds[i], before);
        before = seconds[i];
    }
    for (size_t i = box->n_levels; i-- > 0;) {
        box->ops->read_curve(box, backward, i, &value, &second);
        CHECK_DOUBLE(value, values[i]);
        CHECK_DOUBLE(second, seconds[i]);
    }
    box->ops->read_curve(box, forward, 0, &value, &second);
    CHECK_DOUBLE(value, values[0]);
    CHECK_DOUBLE(second, seconds[0]);
    free(forward);
    free(backward);
    free(values);
    free(seconds);
}

/* ---- folders ---- */

static inline void world_write(const char *dir, const char *name, const char *text)
{
    check_tmp_write(dir, name, text, strlen(text));
}

static inline void world_write_npy(const char *dir, const char *name, const size_t *shape, size_t ndim,
                                   const float *data)
{
    struct buf path = {0};
    struct err err = {0};
    wni_buf_printf(&path, "%s/%s", dir, name);
    CHECK_OK(wni_npy_write(path.data, false, shape, ndim, data, &err), err);
    wni_buf_release(&path);
}

/* Writes `text` with the first occurrence of `from` replaced. */
static inline void world_write_changed(const char *dir, const char *name, const char *text, const char *from,
                                       const char *to)
{
    struct buf changed = {0};
    const char *at = strstr(text, from);
    if (!at) fail_msg("'%s' is not in the text to be changed", from);
    wni_buf_add(&changed, text, (size_t)(at - text));
    wni_buf_puts(&changed, to);
    wni_buf_puts(&changed, at + strlen(from));
    world_write(dir, name, changed.data);
    wni_buf_release(&changed);
}

/* ---- a slow reader of simple CSV files ---- */

/* The file's text, zero-terminated, to be freed. */
static inline char *world_read(const char *folder, const char *name)
{
    struct buf text = {0};
    char path[2 * CHECK_PATH_MAX], chunk[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;)
        wni_buf_add(&text, chunk, n);
    fclose(file);
    wni_buf_putc(&text, '\n'); /* so that it is never NULL */
    return text.data;
}

#endif
