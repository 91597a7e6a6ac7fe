/* store.c -- the registry of stores, and how an address picks one. */
#include "store/store.h"

#include "base/registry.h"

#include <math.h>
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

/* The row that the address names; *address is what follows the colon. */
static const struct store_ops *find_store(const char *url, const char **address, struct err *err)
{
    char scheme[32];
    size_t length = strcspn(url, ":");
    if (!url[length] || length >= sizeof scheme) {
        wni_fail(err, WN_EINVAL, "store '%s': expected SCHEME:ADDRESS, for instance %s", url,
                 WNI_STORE_DEFAULT);
        return NULL;
    }
    memcpy(scheme, url, length);
    scheme[length] = '\0';
    ptrdiff_t i = wni_registry_find("store", scheme, wni_store_count(), scheme_at, err);
    *address = url + length + 1;
    return i < 0 ? NULL : stores[i];
}

wn_status wni_store_open(struct store *s, const char *url, const char *name, const struct space *space,
                         struct err *err)
{
    const char *address;
    void *self = NULL;
    *s = (struct store){0};
    const struct store_ops *ops = find_store(url, &address, err);
    if (!ops) return WN_EINVAL;
    wn_status st = ops->open(address, name, space, &self, err);
    if (!st) *s = (struct store){.ops = ops, .self = self};
    return st;
}

void wni_store_close(struct store *s)
{
    if (s->ops) s->ops->close(s->self);
    *s = (struct store){0};
}

/* ---- looking ---- */

void wni_trial_row_add(struct trial_row *row, double resource, double value, wn_goal goal)
{
    row->reports++;
    if (isnan(row->resource) || resource >= row->resource) {
        row->resource = resource;
        row->value = value;
    }
    bool better = isnan(row->best) || (goal == WN_MAXIMIZE ? value > row->best : value < row->best);
    if (!isfinite(value) || !better) return;
    row->best = value;
    row->best_resource = resource;
}

static const struct catalog_ops *find_catalog(const char *url, const char **address, struct err *err)
{
    const struct store_ops *ops = find_store(url, address, err);
    if (ops && !ops->catalog)
        wni_fail(err, WN_EINVAL, "store '%s' is gone with the process that opened it", url);
    return ops ? ops->catalog : NULL;
}

wn_status wni_store_setup(const char *url, const char *name, char **setup, struct err *err)
{
    const char *address;
    const struct catalog_ops *catalog = find_catalog(url, &address, err);
    *setup = NULL;
    return catalog ? catalog->setup(address, name, setup, err) : WN_EINVAL;
}

wn_status wni_store_studies(const char *url, const char *name, take_study *take, void *context,
                            struct err *err)
{
    const char *address;
    const struct catalog_ops *catalog = find_catalog(url, &address, err);
    return catalog ? catalog->studies(address, name, take, context, err) : WN_EINVAL;
}

wn_status wni_store_trials(const char *url, const char *name, uint32_t from, take_trial *take, void *context,
                           struct err *err)
{
    const char *address;
    const struct catalog_ops *catalog = find_catalog(url, &address, err);
    return catalog ? catalog->trials(address, name, from, take, context, err) : WN_EINVAL;
}

wn_status wni_store_remove(const char *url, const char *name, struct err *err)
{
    const char *address;
    const struct catalog_ops *catalog = find_catalog(url, &address, err);
    return catalog ? catalog->remove(address, name, err) : WN_EINVAL;
}
