/* backend_world.h -- a backend with a folder and a small space, and trials that are shell scripts.
 *
 * A test sets `setup` and `script` as it likes between make_world() and open_world(), then pulls happenings,
 * as the tuner does.  Nothing may be left running: close_world() looks for children. */
#ifndef WNI_TESTS_BACKEND_WORLD_H
#define WNI_TESTS_BACKEND_WORLD_H

#include "tests/check.h"

#include "backend/backend.h"

#include <errno.h>
#include <sys/wait.h>

struct backend_world {
    char dir[CHECK_PATH_MAX];
    struct space space;
    const struct backend_ops *ops;
    struct backend_setup setup;
    struct backend backend;
    const char *script;
    struct err err;
};

static const double world_config[2] = {0.25, 1};

static inline wn_status expand(void *context, uint32_t trial, const double *values, struct arena *arena,
                               const char *const **argv, struct err *err)
{
    const struct backend_world *w = context;
    const char **words = arena_new(arena, const char *, 4);
    (void)trial, (void)values, (void)err;
    words[0] = "/bin/sh";
    words[1] = "-c";
    words[2] = w->script;
    *argv = words;
    return WN_OK;
}

static inline void make_world(struct backend_world *w, const char *backend, const char *script)
{
    static const char *const labels[] = {"relu", "tanh"};
    *w = (struct backend_world){.script = script, .ops = wni_backend_find(backend, NULL)};
    check_tmp_make(w->dir);
    wni_space_init(&w->space);
    struct param_decl x = {.name = "x", .kind = PARAM_FLOAT, .max = 1};
    struct param_decl act = {.name = "act", .kind = PARAM_CATEGORICAL, .labels = labels, .n_labels = 2};
    CHECK_OK(wni_space_add(&w->space, &x, &w->err), w->err);
    CHECK_OK(wni_space_add(&w->space, &act, &w->err), w->err);
    w->setup = (struct backend_setup){.workers = 1,
                                      .study = "test",
                                      .folder = w->dir,
                                      .space = &w->space,
                                      .expand = expand,
                                      .context = w,
                                      .metric = "loss",
                                      .resource = "epoch",
                                      .min_resource = 1,
                                      .max_resource = 9,
                                      .grace = 5};
}

static inline void open_world(struct backend_world *w)
{
    CHECK_OK(wni_backend_open(&w->backend, w->ops, &w->setup, &w->err), w->err);
}

static inline void close_world(struct backend_world *w)
{
    if (w->backend.ops) w->backend.ops->close(w->backend.self);
    w->backend = (struct backend){0};
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "a process was left behind");
    wni_space_release(&w->space);
    check_tmp_remove(w->dir);
}

static inline void start(struct backend_world *w, uint32_t trial, double from)
{
    CHECK_OK(w->backend.ops->start(w->backend.self, trial, world_config, from > 0, from, &w->err), w->err);
}

static inline struct happening next(struct backend_world *w)
{
    struct happening it;
    CHECK_OK(w->backend.ops->next(w->backend.self, &it, &w->err), w->err);
    return it;
}

static inline void stop(struct backend_world *w, uint32_t trial, bool keep)
{
    CHECK_OK(w->backend.ops->stop(w->backend.self, trial, keep, &w->err), w->err);
}

/* Skips reports; how many is told. */
static inline struct happening next_end(struct backend_world *w, size_t *reports)
{
    *reports = 0;
    struct happening it;
    while ((it = next(w)).kind != HAPPENED_END)
        *reports += it.kind == HAPPENED_REPORT;
    return it;
}

static inline void read_file(const struct backend_world *w, const char *name, char *out, size_t room)
{
    char path[2 * CHECK_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", w->dir, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("no file %s", path);
    size_t n = fread(out, 1, room - 1, file);
    out[n] = '\0';
    fclose(file);
}

static inline bool exists(const struct backend_world *w, const char *name)
{
    char path[2 * CHECK_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", w->dir, name);
    return access(path, F_OK) == 0;
}

#define CHECK_HAS(text, part) CHECK(strstr((text), (part)), "'%s' not in: %s", part, text)

static inline void expect_earlier(struct backend_world *w, double resource, double value)
{
    struct happening it = next(w);
    CHECK_INT(it.kind, HAPPENED_REPORT);
    CHECK(it.resource == resource && it.value == value && it.earlier, "%g at %g, %s", it.value, it.resource,
          it.earlier ? "of an earlier run" : "of this run");
}

static inline void expect_report(struct backend_world *w, double resource, double value)
{
    struct happening it = next(w);
    CHECK_INT(it.kind, HAPPENED_REPORT);
    CHECK_DOUBLE(it.resource, resource);
    CHECK_DOUBLE(it.value, value);
    CHECK(!it.earlier, "an earlier run reported %g at %g", value, resource);
}

static inline void expect_completion(struct backend_world *w)
{
    struct happening it = next(w);
    CHECK_INT(it.kind, HAPPENED_END);
    CHECK(it.state == WN_COMPLETE, "%s: %s", wn_state_name(it.state), it.detail);
}

#endif
