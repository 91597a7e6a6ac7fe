/* report.h -- finds reports in what a program prints: bytes in, reports out.
 *
 * A line is a report when it is
 *     {"epoch": 3, "val_loss": 0.21}                  a JSON object holding the metric and the resource
 *     ... [tune-metric]: {"epoch": 3, ...}            the same, as Syne Tune prints it
 *     ... epoch=3 val_loss=0.21 ...                   words, anywhere in the line
 *     INFO:root:epoch=3 val_loss=0.21                 where no word is 'epoch', the one that ends in ':epoch'
 *     whatever the study file's report.pattern says   then the other forms do not count
 *
 * The metric may be NaN or infinite in any usual spelling: the trial has diverged, and the study wants to
 * know.  A study without a resource needs the metric only, at resource 1. */
#ifndef WNI_BACKEND_REPORT_H
#define WNI_BACKEND_REPORT_H

#include "base/buf.h"
#include "base/err.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    REPORT_LINE_MAX = 1 << 20,    /* a longer line is not read: memory stays bounded */
    REPORT_PATTERN_MAX = 1 << 16, /* a longer line is not matched against a pattern: time stays bounded */
};

struct report {
    double resource; /* above 0, finite */
    double value;
};

/* What to look for; shared by all streams of a study, constant once opened. */
struct report_form {
    const char *metric;   /* outlives the form, as the next */
    const char *resource; /* NULL: the study has none */
    regex_t pattern;
    bool has_pattern;
    size_t n_groups; /* of the pattern, at most 2: the last is the value, the one before the resource */
};

wn_status wni_report_form_init(struct report_form *form, const char *metric, const char *resource,
                               const char *pattern, struct err *err);
void wni_report_form_release(struct report_form *form);

/* One output stream of one process. */
struct report_stream {
    const struct report_form *form;
    struct buf partial;  /* the line so far, when it came in pieces */
    bool skipping;       /* the rest of a line that was too long */
    double counted;      /* resource of the last report; where a pattern has one group, reports count up */
    uint64_t incomplete; /* lines with the metric but no usable resource, or none that is a number */
    uint64_t too_long;
};

typedef wn_status report_taker(void *context, const struct report *report, struct err *err);

/* `resumed_from`: where counting goes on for a pattern without a resource. */
void wni_report_stream_init(struct report_stream *s, const struct report_form *form, double resumed_from);
void wni_report_stream_release(struct report_stream *s);
/* Hands every report in these bytes to `take`, in order.  Lines end with LF, CR or both.  Ends early only
 * when `take` fails or memory runs out; the bytes are lost then. */
wn_status wni_report_feed(struct report_stream *s, const char *bytes, size_t n, report_taker *take,
                          void *context, struct err *err);
/* The stream has ended: a last line without its newline counts too. */
wn_status wni_report_end(struct report_stream *s, report_taker *take, void *context, struct err *err);

#endif
