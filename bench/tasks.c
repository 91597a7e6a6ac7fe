/* tasks.c -- the registry of kinds, and the search through data directories. */
#include "bench/tasks.h"

#include "base/closest.h"
#include "base/mem.h"
#include "bench/kind.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLACKBOX(n) extern const struct blackbox_kind wni_blackbox_##n;
#include "bench/blackboxes.def"
#undef BLACKBOX
#define BLACKBOX(n) &wni_blackbox_##n,
const struct blackbox_kind *const wni_blackbox_kinds[] = {
#include "bench/blackboxes.def"
    NULL};
#undef BLACKBOX

const struct blackbox_kind *wni_blackbox_kind(const char *name)
{
    for (size_t i = 0; wni_blackbox_kinds[i]; i++)
        if (!strcmp(wni_blackbox_kinds[i]->name, name)) return wni_blackbox_kinds[i];
    return NULL;
}

/* ---- the list ---- */

static wn_status warn(struct task_list *list, const char *text, struct err *err)
{
    const char *copy = wni_arena_strdup(&list->arena, text);
    if (!copy || !wni_reserve((void **)&list->warnings, &list->warnings_cap, list->n_warnings + 1,
                              sizeof *list->warnings))
        return wni_fail_memory(err);
    list->warnings[list->n_warnings++] = copy;
    return WN_OK;
}

static wn_status copy_text(struct task_list *list, const char **text)
{
    if (!*text) return WN_OK;
    *text = wni_arena_strdup(&list->arena, *text);
    return *text ? WN_OK : WN_ENOMEM;
}

static wn_status add(struct task_list *list, const struct task *task, struct err *err)
{
    if (wni_tasks_get(list, task->name)) return WN_OK; /* an earlier directory has its own */
    struct task t = *task;
    if (!wni_reserve((void **)&list->items, &list->cap, list->n + 1, sizeof *list->items) ||
        copy_text(list, &t.name) || copy_text(list, &t.family) || copy_text(list, &t.kind) ||
        copy_text(list, &t.metric) || copy_text(list, &t.resource) || copy_text(list, &t.honesty) ||
        copy_text(list, &t.folder))
        return wni_fail_memory(err);
    list->items[list->n++] = t;
    return WN_OK;
}

static wn_status add_builtin(struct task_list *list, struct err *err)
{
    for (size_t i = 0; wni_blackbox_kinds[i]; i++) {
        const struct blackbox_kind *kind = wni_blackbox_kinds[i];
        for (size_t j = 0; kind->builtin && kind->builtin[j]; j++) {
            struct task task;
            wn_status st = kind->describe(kind->builtin[j], &task) ? add(list, &task, err) : WN_OK;
            if (st) return st;
        }
    }
    return WN_OK;
}

static wn_status check_kind(const struct family *f, struct err *err)
{
    const struct blackbox_kind *kind = wni_blackbox_kind(f->kind);
    const struct node *at = wni_node_get(f->root, "kind");
    if (!kind)
        return wni_family_fail(f, at, err, "unknown kind '%s'; it must be table, nearest or network",
                               f->kind);
    if (kind->builtin) return wni_family_fail(f, at, err, "kind '%s' is for tasks in the code", f->kind);
    return WN_OK;
}

static wn_status add_tasks(struct task_list *list, const struct family *f, struct err *err)
{
    for (size_t i = 0; i < f->tasks->n; i++) {
        struct task task;
        struct err why = {0};
        wn_status st = wni_family_task(f, i, &task, &why);
        st = st ? warn(list, why.text, err) : add(list, &task, err);
        if (st) return st;
    }
    return WN_OK;
}

/* A folder that is known to hold a blackbox.json. */
static wn_status add_folder(struct task_list *list, const char *folder, struct err *err)
{
    struct family f;
    struct err why = {0};
    wn_status st = wni_family_load(&f, folder, &why);
    if (!st) st = check_kind(&f, &why);
    if (!st)
        st = add_tasks(list, &f, err);
    else if (st == WN_ENOMEM)
        wni_fail_memory(err);
    else
        st = warn(list, why.text, err);
    wni_family_release(&f);
    return st;
}

/* ---- directories ---- */

static bool has_blackbox(const char *folder, struct arena *scratch, wn_status *st)
{
    struct stat info;
    const char *file = wni_path_join(scratch, folder, "blackbox.json");
    if (!file) *st = WN_ENOMEM;
    return file && !stat(file, &info) && !S_ISDIR(info.st_mode);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct folders {
    const char **items;
    size_t n, cap;
};

/* Sub-folders of a directory that hold a black box, in the order of their names: readdir's order is the
 * disk's. */
static wn_status list_folders(DIR *dir, const char *path, struct arena *scratch, struct folders *out)
{
    struct dirent *entry;
    wn_status st = WN_OK;
    while (!st && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.') continue;
        const char *folder = wni_path_join(scratch, path, entry->d_name);
        if (!folder) return WN_ENOMEM;
        if (!has_blackbox(folder, scratch, &st)) continue;
        if (!wni_reserve((void **)&out->items, &out->cap, out->n + 1, sizeof *out->items)) return WN_ENOMEM;
        out->items[out->n++] = folder;
    }
    if (out->n > 1) qsort(out->items, out->n, sizeof *out->items, compare_names);
    return st;
}

static wn_status warn_directory(struct task_list *list, const char *path, const char *what, struct err *err)
{
    struct err why;
    wni_fail(&why, WN_EIO, "data directory '%s': %s", path, what);
    return warn(list, why.text, err);
}

static wn_status add_folders(struct task_list *list, const char *path, struct arena *scratch, struct err *err)
{
    DIR *dir = opendir(path);
    if (!dir) return warn_directory(list, path, strerror(errno), err);
    struct folders folders = {0};
    wn_status st = list_folders(dir, path, scratch, &folders);
    closedir(dir);
    if (st) wni_fail_memory(err);
    if (!st && folders.n == 0) st = warn_directory(list, path, "no folder in it has a blackbox.json", err);
    for (size_t i = 0; i < folders.n && !st; i++)
        st = add_folder(list, folders.items[i], err);
    free(folders.items);
    return st;
}

static wn_status add_directory(struct task_list *list, const char *path, struct arena *scratch,
                               struct err *err)
{
    wn_status st = WN_OK;
    bool is_folder = has_blackbox(path, scratch, &st);
    if (st) return wni_fail_memory(err);
    return is_folder ? add_folder(list, path, err) : add_folders(list, path, scratch, err);
}

wn_status wni_tasks_find(struct task_list *list, const char *directories, struct err *err)
{
    *list = (struct task_list){0};
    struct arena scratch = {0};
    wn_status st = add_builtin(list, err);
    const char *at = directories ? directories : "";
    while (*at && !st) {
        size_t n = strcspn(at, ":");
        if (n) {
            const char *path = wni_arena_strndup(&scratch, at, n);
            st = path ? add_directory(list, path, &scratch, err) : wni_fail_memory(err);
        }
        at += n;
        if (*at) at++;
    }
    wni_arena_release(&scratch);
    return st;
}

void wni_tasks_release(struct task_list *list)
{
    free(list->items);
    free(list->warnings);
    wni_arena_release(&list->arena);
    *list = (struct task_list){0};
}

const struct task *wni_tasks_get(const struct task_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->items[i].name, name)) return &list->items[i];
    return NULL;
}

/* ---- opening ---- */

static wn_status fail_unknown(const struct task_list *list, const char *name, struct err *err)
{
    const char **names = wni_new(const char *, list->n);
    if (!names) return wni_fail_memory(err);
    for (size_t i = 0; i < list->n; i++)
        names[i] = list->items[i].name;
    const char *closest = wni_closest(name, names, list->n);
    free(names);
    /* most often the task is unknown because its folder was not found, so say that too */
    const char *also = list->n_warnings ? list->warnings[0] : "";
    const char *link = list->n_warnings ? "; also, " : "";
    if (closest)
        return wni_fail(err, WN_ENOTFOUND, "no task '%s'; did you mean '%s'?%s%s", name, closest, link, also);
    return wni_fail(err, WN_ENOTFOUND, "no task '%s' among the %zu at hand%s%s", name, list->n, link, also);
}

static bool describe_builtin(const char *name, struct task *out)
{
    for (size_t i = 0; wni_blackbox_kinds[i]; i++)
        if (wni_blackbox_kinds[i]->describe && wni_blackbox_kinds[i]->describe(name, out)) return true;
    return false;
}

static wn_status open_in_folder(const struct task *task, struct blackbox **out, struct err *err)
{
    struct family f;
    struct task now;
    wn_status st = wni_family_load(&f, task->folder, err);
    if (!st && task->index >= f.tasks->n)
        st = wni_family_fail(&f, f.tasks, err, "it changed since it was listed");
    if (!st) st = wni_family_task(&f, task->index, &now, err);
    if (!st && (strcmp(now.name, task->name) != 0 || strcmp(now.kind, task->kind) != 0))
        st = wni_family_fail(&f, f.tasks, err, "it changed since it was listed");
    if (!st) st = wni_blackbox_kind(task->kind)->open(&now, &f, out, err);
    wni_family_release(&f);
    return st;
}

wn_status wni_task_open(const struct task_list *list, const char *name, struct blackbox **out,
                        struct err *err)
{
    *out = NULL;
    struct task unlisted;
    const struct task *task = wni_tasks_get(list, name);
    if (!task && describe_builtin(name, &unlisted)) task = &unlisted;
    if (!task) return fail_unknown(list, name, err);
    if (task->folder) return open_in_folder(task, out, err);
    return wni_blackbox_kind(task->kind)->open(task, NULL, out, err);
}
