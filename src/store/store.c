/* store.c -- the registry of stores, and how an address picks one. */
#include "store/store.h"

#include "base/registry.h"

#include <string.h>

#define STORE(name) extern const struct store_ops wni_store_##name;
#include "store/stores.def"
#undef STORE

static const struct store_ops *const stores[] = {
#define STORE(name) &wni_store_##name,
#include "store/stores.def"
#undef STORE
};

size_t wni_store_count(void)
{
    return sizeof stores / sizeof *stores;
}

const struct store_ops *wni_store_at(size_t i)
{
    return stores[i];
}

static const char *scheme_at(size_t i)
{
    return stores[i]->scheme;
}

wn_status wni_store_open(struct store *s, const char *url, const char *name, const struct space *space,
                         struct err *err)
{
    *s = (struct store){0};
    char scheme[32];
    size_t length = strcspn(url, ":");
    if (!url[length] || length >= sizeof scheme)
        return wni_fail(err, WN_EINVAL, "store '%s': expected SCHEME:ADDRESS, for instance memory:", url);
    memcpy(scheme, url, length);
    scheme[length] = '\0';
    ptrdiff_t i = wni_registry_find("store", scheme, wni_store_count(), scheme_at, err);
    if (i < 0) return WN_EINVAL;
    void *self = NULL;
    wn_status st = stores[i]->open(url + length + 1, name, space, &self, err);
    if (!st) *s = (struct store){.ops = stores[i], .self = self};
    return st;
}

void wni_store_close(struct store *s)
{
    if (s->ops) s->ops->close(s->self);
    *s = (struct store){0};
}
