/* method.c -- the registry of methods. */
#include "method/method.h"

#include "base/registry.h"

static const struct method methods[] = {
#define METHOD(name, scheduler, searcher, options, summary) {name, scheduler, searcher, options, summary},
#include "method/methods.def"
#undef METHOD
};

size_t wni_method_count(void)
{
    return sizeof methods / sizeof *methods;
}

const struct method *wni_method_at(size_t i)
{
    return &methods[i];
}

static const char *name_at(size_t i)
{
    return methods[i].name;
}

const struct method *wni_method_find(const char *name, struct err *err)
{
    ptrdiff_t i = wni_registry_find("method", name, wni_method_count(), name_at, err);
    return i < 0 ? NULL : &methods[i];
}
