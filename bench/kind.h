/* kind.h -- what a kind of black box provides, and what all of them share. */
#ifndef WNI_BENCH_KIND_H
#define WNI_BENCH_KIND_H

#include "bench/family.h"

struct blackbox_kind {
    const char *name;
    const char *const
        *builtin; /* tasks in the code to be listed, NULL-terminated; NULL: all tasks are in folders */
    /* Describes a task in the code, listed or not; false: there is none of that name.  The strings are
     * constant, or `name` itself.  NULL together with `builtin`. */
    bool (*describe)(const char *name, struct task *out);
    /* Opens a task.  `family` is NULL for a task in the code. */
    wn_status (*open)(const struct task *task, const struct family *family, struct blackbox **out,
                      struct err *err);
};

/* Every kind, in the order of blackboxes.def, NULL at the end. */
extern const struct blackbox_kind *const wni_blackbox_kinds[];
const struct blackbox_kind *wni_blackbox_kind(const char *name); /* NULL: no such kind */

/* The part that every black box of ours begins with. */
struct box {
    struct blackbox base;
    struct arena arena; /* names, levels and whatever the kind keeps */
};

/* Fills the box in from the task's description: everything but the space, the levels and what the kind adds.
 * `box` must be zeroed. */
wn_status wni_box_init(struct box *box, const struct task *task, const struct blackbox_ops *ops,
                       struct err *err);
/* The same, with the space and the levels of a family. */
wn_status wni_box_init_family(struct box *box, const struct task *task, const struct family *family,
                              const struct blackbox_ops *ops, struct err *err);
void wni_box_release(struct box *box); /* not the box itself; a zeroed one is fine */

#endif
