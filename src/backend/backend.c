/* backend.c -- the registry of backends that run programs. */
#include "backend/backend.h"

#include "base/registry.h"

#include <assert.h>

#define BACKEND(name) extern const struct backend_ops wni_backend_##name;
#include "backend/backends.def"
#undef BACKEND

static const struct backend_ops *const backends[] = {
#define BACKEND(name) &wni_backend_##name,
#include "backend/backends.def"
#undef BACKEND
};

size_t wni_backend_count(void)
{
    return sizeof backends / sizeof *backends;
}

const struct backend_ops *wni_backend_at(size_t i)
{
    assert(i < wni_backend_count());
    return backends[i];
}

static const char *name_at(size_t i)
{
    return backends[i]->name;
}

const struct backend_ops *wni_backend_find(const char *name, struct err *err)
{
    ptrdiff_t i = wni_registry_find("backend", name, wni_backend_count(), name_at, err);
    return i < 0 ? NULL : backends[i];
}

wn_status wni_backend_open(struct backend *backend, const struct backend_ops *ops,
                           const struct backend_setup *setup, struct err *err)
{
    void *self = NULL;
    *backend = (struct backend){0};
    if (setup->workers == 0) return wni_fail(err, WN_EINVAL, "a study needs at least one worker");
    wn_status st = ops->open(setup, &self, err);
    if (!st) *backend = (struct backend){.ops = ops, .self = self};
    return st;
}
