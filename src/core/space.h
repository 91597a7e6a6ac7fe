/* space.h -- what may be tuned: parameters, their values, and configurations.
 *
 * A configuration is one double per parameter: the number itself for float and int, the index of the value
 * for ordinal, categorical, boolean and constant.  So a history of configurations is a plain matrix, and
 * comparing two is comparing doubles.  Everything that needs to know what a parameter means goes through here
 * or through encode.h.
 *
 * Float values are decimals: 12 significant digits on a log scale, 12 digits below the leading digit of the
 * range on a linear one (docs/adr/0003).  Every value that enters a configuration is put on that grid by
 * wni_param_canonical(). */
#ifndef WNI_CORE_SPACE_H
#define WNI_CORE_SPACE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/node.h"
#include "num/rng.h"
#include "winnow.h"

enum param_kind { PARAM_FLOAT, PARAM_INT, PARAM_ORDINAL, PARAM_CATEGORICAL, PARAM_BOOL, PARAM_CONSTANT };

struct param {
    const char *name;
    enum param_kind kind;
    wn_scale scale;
    double min, max;           /* float, int: both are values; max is moved to the last step */
    double step;               /* 0: every float; ints have 1 unless told otherwise */
    uint64_t count;            /* how many values; 0: a continuum (float without step) */
    const char *const *labels; /* ordinal, categorical, bool, constant: text of each value */
    const double *numbers;     /* ordinal whose values are all numbers, increasing; NULL otherwise */
    const double *logs;        /* their logarithms, for an ordinal on a log scale; NULL otherwise */
    /* derived: the unit interval spans unit_from .. unit_from + unit_span, of logarithms on a log scale */
    double unit_from, unit_span;
    double lowest, highest; /* float: the bounds, rounded; what rounds to these becomes the bound */
    int places;             /* linear float: decimals behind the point, see decimal.h */
};

struct space {
    struct arena arena;
    struct param *params;
    size_t n, cap;
    uint64_t size;     /* configurations; 0: infinite, or more than 2^63 */
    size_t unit_width; /* columns of the unit encoding */
    size_t tree_width; /* columns of the tree encoding */
};

/* A parameter as a person declares it; unset fields are zero. */
struct param_decl {
    const char *name;
    enum param_kind kind;
    wn_scale scale;
    double min, max, step;
    const char *const *labels; /* ordinal, categorical, constant */
    size_t n_labels;
    bool text_values; /* ordinal: the values are words even if they look like numbers */
};

void wni_space_init(struct space *space);
void wni_space_release(struct space *space);
wn_status wni_space_copy(struct space *to, const struct space *from,
                         struct err *err); /* `to` is initialised here */

/* Checks and adds; everything is copied.  On failure the space is unchanged and err names the parameter. */
wn_status wni_space_add(struct space *space, const struct param_decl *decl, struct err *err);
const struct param *wni_space_find(const struct space *space, const char *name,
                                   size_t *index); /* NULL: none */

/* The space of a study that goes on with `given`: every value of `old` stays the same double (categories keep
 * their index), parameters keep their order.  Refuses, naming the parameter, whatever would lose a value:
 * ranges only grow, values are only added, at the end of an ordinal.  `out` is initialised here. */
wn_status wni_space_widen(struct space *out, const struct space *old, const struct space *given,
                          struct err *err);

/* ---- values of one parameter ---- */

/* The value of the space equal to x (float: the nearest on its decimal grid); false when there is none, *out
 * unchanged. */
bool wni_param_canonical(const struct param *p, double x, double *out);
double wni_param_nearest(const struct param *p, double x);        /* for any x; NAN gives the first value */
double wni_param_value_at(const struct param *p, uint64_t k);     /* k < count */
uint64_t wni_param_index_of(const struct param *p, double value); /* inverse; only for count > 0 */
double wni_param_sample(const struct param *p, struct rng *rng);  /* uniform in the declared scale */
/* The number a person means by a value: itself, or the ordinal's number; NAN for words. */
double wni_param_number(const struct param *p, double value);
/* As written on a command line or in a table.  Returns a pointer into the space or into `scratch`. */
const char *wni_param_text(const struct param *p, double value, char scratch[WN_WHY_MAX]);
/* Reads such a text.  err says what was expected. */
wn_status wni_param_parse(const struct param *p, const char *text, double *out, struct err *err);

/* ---- configurations: arrays of space->n doubles ---- */

void wni_config_sample(const struct space *space, struct rng *rng, double *config);
void wni_config_at(const struct space *space, uint64_t index,
                   double *config); /* index < size; last parameter fastest */
uint64_t wni_config_index(const struct space *space, const double *config); /* inverse; only for size > 0 */
uint64_t wni_config_hash(const struct space *space, const double *config);
bool wni_config_equal(const struct space *space, const double *a, const double *b);

/* ---- JSON and study files (space_read.c, space_json.c) ---- */

const char *wni_param_kind_name(enum param_kind kind); /* as typed by users: "float" */

/* Reads the `parameters` mapping (name: {type: ...}) or a list of mappings that carry their `name`.  Every
 * mistake goes to `problems`; what is right is added to `space`. */
void wni_space_read(struct space *space, const struct node *parameters, struct problems *problems);
void wni_space_write(const struct space *space, struct buf *json);
void wni_config_write(const struct space *space, const double *config, struct buf *json);
/* Reads a mapping of parameter to value.  `given[i]` says which were there; NULL: all must be. */
wn_status wni_config_read(const struct space *space, const struct node *map, double *config, bool *given,
                          struct err *err);

#endif
