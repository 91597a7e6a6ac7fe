/* family.h -- a blackbox.json: a family of tasks over one space, as it stands in its folder. */
#ifndef WNI_BENCH_FAMILY_H
#define WNI_BENCH_FAMILY_H

#include "base/node.h"
#include "bench/tasks.h"

struct family {
    struct document doc;
    struct arena arena;
    const char *folder;
    const char *file; /* FOLDER/blackbox.json, for messages */
    const char *name, *kind, *honesty, *resource;
    const struct node *root, *parameters, *levels, *tasks;
};

/* Reads and checks what all kinds have in common.  Initialised here; release is fine after a failure too. */
wn_status wni_family_load(struct family *f, const char *folder, struct err *err);
void wni_family_release(struct family *f);

/* Describes task i < f->tasks->n.  The strings belong to the family. */
wn_status wni_family_task(const struct family *f, size_t i, struct task *out, struct err *err);

/* Fails with "FILE:LINE:COLUMN: message" (without the numbers where they are not known). */
wn_status wni_family_fail(const struct family *f, const struct node *at, struct err *err, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

/* A text of a mapping; when it is not there *out is `missing`, or the call fails if that is NULL. */
wn_status wni_family_text(const struct family *f, const struct node *map, const char *key,
                          const char *missing, const char **out, struct err *err);

/* FOLDER/NAME.  NULL when out of memory. */
char *wni_path_join(struct arena *arena, const char *folder, const char *name);

#endif
