/* store.h -- where a study's event log is kept.
 *
 * A store appends events and gives them back in order; it knows nothing of what they mean.  An event that
 * append() accepted is durable.  The study appends to the store first and only then to its own history, so a
 * failed write leaves no trace.  To add one: a file with a `const struct store_ops`, and a line in
 * stores.def. */
#ifndef WNI_STORE_STORE_H
#define WNI_STORE_STORE_H

#include "core/history.h"

struct store_ops {
    const char *scheme; /* of the address: "memory" for "memory:" */
    /* Opens or creates study `name`.  `address` is what follows "scheme:". */
    wn_status (*open)(const char *address, const char *name, const struct space *space, void **self,
                      struct err *err);
    wn_status (*append)(void *self, const struct event *e, struct err *err);
    /* Hands every event after the first `position` to `take`, in order, until it fails. */
    wn_status (*read)(void *self, uint64_t position,
                      wn_status (*take)(void *context, const struct event *e, struct err *err), void *context,
                      struct err *err);
    void (*close)(void *self);
};

struct store {
    const struct store_ops *ops;
    void *self;
};

size_t wni_store_count(void);
const struct store_ops *wni_store_at(size_t i);
/* On failure *s is empty, which wni_store_close() does not mind. */
wn_status wni_store_open(struct store *s, const char *url, const char *name, const struct space *space,
                         struct err *err);
void wni_store_close(struct store *s);

#endif
