/* node.h -- a parsed document, YAML or JSON, as one tree that remembers where everything stood.
 *
 * Study files, benchmark specifications, black boxes on disk and JSON given through the library all become
 * this tree, so a schema is read by one piece of code whatever the syntax, and every complaint can name line
 * and column. */
#ifndef WNI_BASE_NODE_H
#define WNI_BASE_NODE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_kind kind;
    int line, column;    /* of its first character, from 1; 0 when unknown */
    bool quoted;         /* scalar in quotes: always text, never a number or a boolean */
    bool verbatim;       /* scalar written as `text` says, on one line: character i stands in column + i */
    const char *flag;    /* of the command line that it came from, without dashes; NULL: from the document */
    const char *text;    /* scalar */
    size_t n;            /* list, map: entries */
    struct node **items; /* list: elements; map: values */
    struct node **keys;  /* map: scalars, in the order written */
};

struct document {
    struct arena arena;
    const char *name; /* file name for messages; "" when there is none */
    struct node *root;
};

enum { NODE_DEPTH_MAX = 64 }; /* lists and mappings inside one another */

/* Parse the whole text.  Refused with "NAME:LINE:COLUMN: ...": syntax errors, an empty document or several,
 * duplicate keys, keys that are not scalars, aliases, anchors and tags, deeper nesting than NODE_DEPTH_MAX,
 * NUL characters and what is not UTF-8.  On failure the document is empty; release is fine either way.  JSON
 * keeps no positions: its nodes have line 0, whole numbers keep their digits and other numbers the text of
 * wni_format_double(). */
wn_status wni_yaml_parse(struct document *doc, const char *name, const char *text, size_t length,
                         struct err *err);
wn_status wni_json_parse(struct document *doc, const char *name, const char *text, size_t length,
                         struct err *err);
/* Reads a file (at most 64 MiB); .json is parsed strictly as JSON, anything else as YAML. */
wn_status wni_document_load(struct document *doc, const char *path, struct err *err);
void wni_document_release(struct document *doc);

const struct node *wni_node_get(const struct node *map,
                                const char *key); /* NULL: no such key, or not a map */
/* Scalars as values; false when the text is not one (a quoted scalar is never a number or a boolean). */
bool wni_node_number(const struct node *n, double *out);
bool wni_node_int(const struct node *n, int64_t *out);
bool wni_node_bool(const struct node *n, bool *out); /* true false yes no on off */
bool wni_node_is_null(const struct node *n);         /* nothing, null or ~ */
const char *
wni_node_kind_name(const struct node *n); /* "a list", "a mapping", "text", "a number" ... for messages */
/* What a message says it got: the kind of a list or mapping, the text of a scalar in quotes, cut when long.
 */
enum { NODE_DESCRIPTION_MAX = 80 };
const char *wni_node_describe(const struct node *n, char out[NODE_DESCRIPTION_MAX]);

/* Writes a tree on one line that wni_yaml_parse() reads back as the same: JSON, but for numbers as they were
 * typed. */
void wni_node_write(const struct node *n, struct buf *out);

/* ---- complaints ---- */

struct problem {
    int line, column;
    const char *flag; /* as in struct node */
    const char *text;
};

struct problems {
    struct arena arena;
    const char *file; /* for messages, not copied; NULL or "": none */
    struct problem *items;
    size_t n, cap;
    bool failed; /* out of memory: the list is not complete */
};

enum { PROBLEMS_MAX = 1000 }; /* a file with more mistakes is not a file of ours; the rest are not kept */

/* Adds a complaint at a node (NULL: the document as a whole).  All mistakes are collected, not only the
 * first. */
void wni_problem(struct problems *p, const struct node *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "WHERE: unknown KIND 'nmae'; did you mean 'name'?", or the names there are when none is near.  where: NULL
 * or "" for none. */
void wni_problem_unknown(struct problems *p, const struct node *at, const char *where, const char *kind,
                         const char *name, const char *const *names, size_t n);
bool wni_problems_full(const struct problems *p); /* no use looking for more */
void wni_problems_sort(struct problems *p);       /* by line, then column, then order of arrival */
void wni_problems_release(struct problems *p);
/* One line each: "FILE:LINE:COLUMN: message"; without position "FILE: message"; "--FLAG: message" for what
 * came from a flag, not from the file. */
void wni_problems_write(const struct problems *p, struct buf *out);
/* The first complaint as an error: WN_EINVAL, or WN_ENOMEM when the list failed, WN_OK when it is empty. */
wn_status wni_problems_status(const struct problems *p, struct err *err);

#endif
