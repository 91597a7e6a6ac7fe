/* memory.c -- no store at all: the log lives in the study's own history and is gone with the process.  Nobody
 * else can write to it, so there is never anything to wait for or to read. */
#include "store/store.h"

#include "base/clock.h"

static wn_status open_memory(const char *address, const char *name, const struct space *space, void **self,
                             struct err *err)
{
    (void)name, (void)space;
    *self = NULL;
    if (address[0]) return wni_fail(err, WN_EINVAL, "store 'memory:%s': nothing may follow memory:", address);
    return WN_OK;
}

static wn_status attach(void *self, const struct study_about *about, struct study_found *found,
                        struct err *err)
{
    (void)self, (void)about, (void)err;
    found->created = wni_clock_wall();
    return WN_OK;
}

static wn_status done(void *self, struct err *err)
{
    (void)self, (void)err;
    return WN_OK;
}

static wn_status append(void *self, uint64_t seq, const struct event *e, const struct trial_row *row,
                        struct err *err)
{
    (void)self, (void)seq, (void)e, (void)row, (void)err;
    return WN_OK;
}

static wn_status rewrite(void *self, const struct trial_row *row, struct err *err)
{
    (void)self, (void)row, (void)err;
    return WN_OK;
}

/* A worker cannot outlive the only process that knows of it. */
static wn_status lease(void *self, uint32_t trial, enum lease_act act, double seconds, struct err *err)
{
    (void)self, (void)trial, (void)act, (void)seconds, (void)err;
    return WN_OK;
}

static wn_status read_events(void *self, uint64_t position, take_event *take, void *context, struct err *err)
{
    (void)self, (void)position, (void)take, (void)context, (void)err;
    return WN_OK;
}

static wn_status expired(void *self, uint32_t *trial, struct err *err)
{
    (void)self, (void)err;
    *trial = TRIAL_NONE;
    return WN_OK;
}

static void nothing(void *self)
{
    (void)self;
}

const struct store_ops wni_store_memory = {
    .scheme = "memory",
    .open = open_memory,
    .attach = attach,
    .begin = done,
    .append = append,
    .rewrite = rewrite,
    .lease = lease,
    .commit = done,
    .rollback = nothing,
    .read = read_events,
    .expired = expired,
    .close = nothing,
};
