/* memory.c -- no store at all: the log lives in the study's own history and is gone with the process.  Nobody
 * else can write to it, so there is never anything to read. */
#include "store/store.h"

static wn_status open_memory(const char *address, const char *name, const struct space *space, void **self,
                             struct err *err)
{
    (void)name, (void)space;
    *self = NULL;
    if (address[0]) return wni_fail(err, WN_EINVAL, "store 'memory:%s': nothing may follow memory:", address);
    return WN_OK;
}

static wn_status append(void *self, const struct event *e, struct err *err)
{
    (void)self, (void)e, (void)err;
    return WN_OK;
}

static wn_status read_events(void *self, uint64_t position,
                             wn_status (*take)(void *context, const struct event *e, struct err *err),
                             void *context, struct err *err)
{
    (void)self, (void)position, (void)take, (void)context, (void)err;
    return WN_OK;
}

static void close_memory(void *self)
{
    (void)self;
}

const struct store_ops wni_store_memory = {
    .scheme = "memory", .open = open_memory, .append = append, .read = read_events, .close = close_memory};
