/* fuzz_report.c -- any bytes as the output of a program.
 *
 * Beyond not crashing: reports are well formed, however the bytes are cut into pieces they are the same, and
 * where a line is JSON to jansson, the numbers found in it are jansson's.  What is said where none was found
 * is checked too. */
#include "backend/unreported.h"
#include "tests/fuzz/must.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct heard {
    struct report *reports;
    size_t n, cap;
};

static wn_status hear(void *context, const struct report *report, struct err *err)
{
    struct heard *h = context;
    (void)err;
    MUST(report->resource > 0 && isfinite(report->resource));
    if (h->n == h->cap) {
        h->cap = 2 * h->cap + 16;
        h->reports = realloc(h->reports, h->cap * sizeof *h->reports);
        MUST(h->reports);
    }
    h->reports[h->n++] = *report;
    return WN_OK;
}

static struct heard read_all(const struct report_form *form, const char *text, size_t size, size_t piece)
{
    struct report_stream s;
    struct heard h = {0};
    struct err err;
    wni_report_stream_init(&s, form, 0);
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        char *copy = malloc(n);
        MUST(copy);
        memcpy(copy, text + at, n);
        MUST(!wni_report_feed(&s, copy, n, hear, &h, &err));
        free(copy);
    }
    MUST(!wni_report_end(&s, hear, &h, &err));
    wni_report_stream_release(&s);
    return h;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_cuts(const struct report_form *form, const char *text, size_t size)
{
    struct heard whole = read_all(form, text, size, size ? size : 1);
    for (size_t piece = 1; piece < size; piece = 3 * piece + 1) {
        struct heard cut = read_all(form, text, size, piece);
        MUST(cut.n == whole.n);
        for (size_t i = 0; i < cut.n; i++)
            MUST(same(cut.reports[i].resource, whole.reports[i].resource) &&
                 same(cut.reports[i].value, whole.reports[i].value));
        free(cut.reports);
    }
    free(whole.reports);
}

/* A whole input that jansson takes for one object on one line. */
static void check_json(const struct report_form *form, const char *text, size_t size)
{
    if (size == 0 || text[0] != '{' || memchr(text, '\n', size) || memchr(text, '\r', size)) return;
    json_t *object = json_loadb(text, size, JSON_ALLOW_NUL, NULL);
    if (!object) return;
    const json_t *loss = json_object_get(object, "loss"), *epoch = json_object_get(object, "epoch");
    if (json_is_number(loss) && json_is_number(epoch) && json_number_value(epoch) > 0) {
        struct heard h = read_all(form, text, size, size);
        MUST(h.n == 1);
        MUST(same(h.reports[0].value, json_number_value(loss)));
        MUST(same(h.reports[0].resource, json_number_value(epoch)));
        free(h.reports);
    }
    json_decref(object);
}

/* What is said of bytes without a report is a sentence on one line. */
static void check_words(const struct report_form *form, const char *text, size_t size)
{
    struct buf said = {0};
    wni_explain_unreported(form, text, size, &said);
    MUST(said.len > 0 && said.len < 2000 && !memchr(said.data, '\n', said.len));
    wni_buf_release(&said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct report_form plain, single, pattern;
    struct err err;
    const char *text = (const char *)data;
    MUST(!wni_report_form_init(&plain, "loss", "epoch", NULL, &err));
    MUST(!wni_report_form_init(&single, "loss", NULL, NULL, &err));
    MUST(!wni_report_form_init(&pattern, "loss", "epoch", "e *([0-9]+).*l *([^ ]+)", &err));
    check_cuts(&plain, text, size);
    check_cuts(&single, text, size);
    check_cuts(&pattern, text, size);
    check_json(&plain, text, size);
    check_words(&plain, text, size);
    check_words(&pattern, text, size);
    wni_report_form_release(&plain);
    wni_report_form_release(&single);
    wni_report_form_release(&pattern);
    return 0;
}
