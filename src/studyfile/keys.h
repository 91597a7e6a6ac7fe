/* keys.h -- mappings as tables: a row per key says what may stand there and which field of the study it
 * fills.
 *
 * Unknown keys, missing ones and wrong values are told in the same words everywhere, and a new key is one
 * line. */
#ifndef WNI_STUDYFILE_KEYS_H
#define WNI_STUDYFILE_KEYS_H

#include "studyfile/studyfile.h"

struct reader {
    struct studyfile *study;
    const struct node *root;
    struct problems *problems;
};

enum key_kind {
    KEY_TEXT,         /* const char *, not empty */
    KEY_BOOL,         /* bool */
    KEY_INT,          /* int64_t from min to max */
    KEY_POSITIVE,     /* double above 0 */
    KEY_TIME,         /* double, a duration above 0 */
    KEY_TIME_OR_ZERO, /* double, a duration */
    KEY_OTHER,        /* read() does it */
};

/* `at` is the key, for complaints about what is not there; `value` may be anything. */
typedef void key_reader(struct reader *r, const struct node *at, const struct node *value);

struct key_def {
    const char *name;
    enum key_kind kind;
    bool required;
    size_t offset; /* of the field in struct studyfile */
    int64_t min, max;
    key_reader *read;
};

/* Reads `map` by a table.  `where` names it in messages ("stop"; "" for the whole file) and `at` is where it
 * stands. */
void wni_keys_read(struct reader *r, const struct node *at, const struct node *map, const char *where,
                   const struct key_def *defs, size_t n);

/* A copy that lives as long as the study; NULL when out of memory, which the list of problems remembers. */
const char *wni_keep_text(struct reader *r, const char *text);
void *wni_keep_array(struct reader *r, size_t n, size_t size);

/* Whether the node is a scalar that says something; complains that `what` must be `expected` otherwise. */
bool wni_needs_text(struct reader *r, const struct node *node, const char *what, const char *expected);

/* ---- the other files of this directory ---- */

key_reader wni_read_command; /* command.. without its placeholders, which need the parameters */
void wni_check_placeholders(struct reader *r, const struct node *command, const struct node *parameters);
/* method, searcher and scheduler together */
void wni_read_decisions(struct reader *r);
void wni_check_decisions(struct reader *r); /* after everything else was found to be right */

#endif
