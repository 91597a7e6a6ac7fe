/* opts.h -- options are data.
 *
 * A searcher or scheduler lists its options once; the table gives defaults, parsing, bounds, `winnow
 * methods`, study files and the manual.
 *
 *     static const struct opt_def tpe_opts[] = {
 *         OPT_INT (struct tpe, n_startup, 20,   1, 1000000, "random trials before the first model"),
 *         OPT_REAL(struct tpe, gamma,     0.15, 0, 1,       "share of trials counted as good"),
 *         OPT_END
 *     };
 */
#ifndef WNI_BASE_OPTS_H
#define WNI_BASE_OPTS_H

#include "base/err.h"

#include <stddef.h>

enum opt_kind { OPT_KIND_END, OPT_KIND_INT, OPT_KIND_REAL, OPT_KIND_BOOL, OPT_KIND_CHOICE };

struct opt_def {
    enum opt_kind kind;
    const char *name;           /* as typed by users: the field's name */
    size_t offset;              /* of the field: int, double, bool, int (index into choices) */
    double initial;             /* default */
    double min, max;            /* int and real, both ends allowed */
    const char *const *choices; /* NULL-terminated */
    const char *help;
};

#define OPT_INT(type, field, initial, min, max, help)                                                        \
    {                                                                                                        \
        OPT_KIND_INT, #field, offsetof(type, field), initial, min, max, NULL, help                           \
    }
#define OPT_REAL(type, field, initial, min, max, help)                                                       \
    {                                                                                                        \
        OPT_KIND_REAL, #field, offsetof(type, field), initial, min, max, NULL, help                          \
    }
#define OPT_BOOL(type, field, initial, help)                                                                 \
    {                                                                                                        \
        OPT_KIND_BOOL, #field, offsetof(type, field), initial, 0, 1, NULL, help                              \
    }
#define OPT_CHOICE(type, field, initial, choices, help)                                                      \
    {                                                                                                        \
        OPT_KIND_CHOICE, #field, offsetof(type, field), initial, 0, 0, choices, help                         \
    }
#define OPT_END                                                                                              \
    {                                                                                                        \
        OPT_KIND_END, NULL, 0, 0, 0, 0, NULL, NULL                                                           \
    }

/* `defs` may be NULL everywhere: no options. */
void wni_opts_defaults(const struct opt_def *defs, void *self);

/* Sets one option from text.  An unknown name gets a "did you mean", a wrong value says what was expected.
 * self NULL: only checks. */
wn_status wni_opts_set(const struct opt_def *defs, void *self, const char *name, const char *value,
                       struct err *err);

/* Applies the "prefix.name=value" words of a blank-separated list that carry `prefix`, ignoring the others.
 */
wn_status wni_opts_apply(const struct opt_def *defs, void *self, const char *prefix, const char *list,
                         struct err *err);

/* The option's default as text, and the values it takes ("1..1000000", "true or false", "a, b or c"). */
void wni_opt_default_text(const struct opt_def *def, char *out, size_t size);
void wni_opt_range_text(const struct opt_def *def, char *out, size_t size);

#endif
