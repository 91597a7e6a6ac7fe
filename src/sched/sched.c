/* sched.c -- the registry of schedulers, and how one is opened. */
#include "sched/sched.h"

#include "base/mem.h"
#include "base/registry.h"

#include <assert.h>
#include <stdlib.h>

#define SCHEDULER(name) extern const struct scheduler_ops wni_scheduler_##name;
#include "sched/schedulers.def"
#undef SCHEDULER

static const struct scheduler_ops *const schedulers[] = {
#define SCHEDULER(name) &wni_scheduler_##name,
#include "sched/schedulers.def"
#undef SCHEDULER
};

size_t wni_scheduler_count(void)
{
    return sizeof schedulers / sizeof *schedulers;
}

const struct scheduler_ops *wni_scheduler_at(size_t i)
{
    assert(i < wni_scheduler_count());
    return schedulers[i];
}

static const char *name_at(size_t i)
{
    return schedulers[i]->name;
}

const struct scheduler_ops *wni_scheduler_find(const char *name, struct err *err)
{
    ptrdiff_t i = wni_registry_find("scheduler", name, wni_scheduler_count(), name_at, err);
    return i < 0 ? NULL : schedulers[i];
}

wn_status wni_scheduler_open(struct scheduler *s, const struct scheduler_ops *ops, const char *options,
                             const struct sched_env *env, struct err *err)
{
    assert(env->min_resource > 0 && env->max_resource >= env->min_resource);
    *s = (struct scheduler){.ops = ops, .self = wni_new_array(1, ops->state_size)};
    if (!s->self) return wni_fail_memory(err);
    wni_opts_defaults(ops->opts, s->self);
    wn_status st = wni_opts_apply(ops->opts, s->self, "scheduler", options, err);
    if (!st && ops->init) st = ops->init(s->self, env, err);
    if (!st) return WN_OK;
    wni_err_prefix(err, "scheduler '%s'", ops->name);
    wni_scheduler_release(s); /* a release() is content with a state that init() left half built */
    return st;
}

void wni_scheduler_release(struct scheduler *s)
{
    if (s->self && s->ops->release) s->ops->release(s->self);
    free(s->self);
    *s = (struct scheduler){0};
}

const struct levels *wni_scheduler_levels(const struct scheduler *s)
{
    return s->self && s->ops->levels ? s->ops->levels(s->self) : NULL;
}
