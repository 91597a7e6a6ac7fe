/* test_report.c -- backend/report.h: every form, however it is cut into pieces, and what is not a report. */
#include "tests/check.h"

#include "backend/report.h"

enum { REPORTS_MAX = 64 };

struct heard {
    struct report reports[REPORTS_MAX];
    size_t n;
    size_t fail_at; /* the n-th is refused; 0: none */
};

static wn_status hear(void *context, const struct report *report, struct err *err)
{
    struct heard *h = context;
    if (h->fail_at && h->n + 1 == h->fail_at) return wni_fail(err, WN_ESTORE, "enough");
    if (h->n < REPORTS_MAX) h->reports[h->n] = *report;
    h->n++;
    return WN_OK;
}

static struct report_form form_of(const char *resource, const char *pattern)
{
    struct report_form form;
    struct err err = {0};
    CHECK_OK(wni_report_form_init(&form, "loss", resource, pattern, &err), err);
    return form;
}

/* Feeds a text in pieces of a size. */
static void feed(struct report_stream *s, struct heard *h, const char *text, size_t n, size_t piece)
{
    struct err err = {0};
    for (size_t at = 0; at < n; at += piece) {
        size_t length = n - at < piece ? n - at : piece;
        char *copy = malloc(length + 1); /* so that a sanitizer sees reads beyond it */
        memcpy(copy, text + at, length);
        CHECK_OK(wni_report_feed(s, copy, length, hear, h, &err), err);
        free(copy);
    }
    CHECK_OK(wni_report_end(s, hear, h, &err), err);
}

/* The one report in a line; NAN, NAN: none. */
static struct report only(const char *resource, const char *pattern, const char *line)
{
    struct report_form form = form_of(resource, pattern);
    struct report_stream s;
    struct heard h = {0};
    wni_report_stream_init(&s, &form, 0);
    feed(&s, &h, line, strlen(line), 7);
    CHECK(h.n <= 1, "%zu reports in '%s'", h.n, line);
    wni_report_stream_release(&s);
    wni_report_form_release(&form);
    return h.n ? h.reports[0] : (struct report){NAN, NAN};
}

/* ---- the forms ---- */

static void lines_that_are_reports(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        double resource, value;
    } rows[] = {
        {"{\"epoch\": 3, \"loss\": 0.21}", 3, 0.21},
        {"  {\"loss\":0.21,\"epoch\":3}  ", 3, 0.21},
        {"{\"a\": [1, {\"loss\": 9}], \"b\": {\"epoch\": 8}, \"epoch\": 2, \"loss\": -1e-3}", 2, -1e-3},
        {"{\"s\": \"}\\\"{,\", \"epoch\": 1, \"loss\": 4}", 1, 4},
        {"{\"\\u006coss\": 1, \"\\u0065poch\": 2}", 2, 1},
        {"{\"epoch\": 1, \"loss\": 1, \"loss\": 2}", 1, 2},
        {"{\"epoch\": 3, \"loss\": \"0.5\"}", 3, 0.5},
        {"[tune-metric]: {\"epoch\": 5, \"loss\": 7, \"st_worker_time\": 1.5}", 5, 7},
        {"INFO:root:[tune-metric]: {\"loss\": 7, \"epoch\": 5}", 5, 7},
        {"epoch=3 loss=0.21", 3, 0.21},
        {"loss=0.21 epoch=3", 3, 0.21},
        {"2026-01-02 12:00 INFO epoch=3, loss=0.21, lr=1e-3", 3, 0.21},
        {"(epoch=3) [loss=+.5]", 3, 0.5},
        {"epoch=3 loss=1 loss=2", 3, 2},
        {"{\"broken\": epoch=3 loss=4", 3, 4},
        {"epoch=0.5 loss=1e3", 0.5, 1000},
        {"INFO:root:epoch=3 loss=0.21", 3, 0.21},
        {"WARNING:my.module:loss=0.21 epoch=3", 3, 0.21},
        {"2026-01-02 12:00:00,123:INFO:loss=0.21, epoch=3", 3, 0.21},
        {"epoch=3 val:loss=0.21", 3, 0.21},
        {"epoch=3 val:loss=9 loss=0.21", 3, 0.21}, /* the whole word comes first, wherever it is */
        {"epoch=3 loss=0.21 train:loss=9 val:loss=8", 3, 0.21},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct report r = only("epoch", NULL, rows[i].line);
        CHECK(r.resource == rows[i].resource && r.value == rows[i].value, "'%s': %g at %g", rows[i].line,
              r.value, r.resource);
    }
}

static struct report read_as(const char *metric, const char *resource, const char *line)
{
    struct report_form form;
    struct report_stream s;
    struct heard h = {0};
    struct err err = {0};
    CHECK_OK(wni_report_form_init(&form, metric, resource, NULL, &err), err);
    wni_report_stream_init(&s, &form, 0);
    feed(&s, &h, line, strlen(line), 5);
    CHECK_OK(wni_report_end(&s, hear, &h, &err), err);
    wni_report_stream_release(&s);
    wni_report_form_release(&form);
    return h.n == 1 ? h.reports[0] : (struct report){NAN, NAN};
}

/* A name may have colons of its own. */
static void names_with_colons(void **state)
{
    (void)state;
    static const char line[] = "INFO:root:epoch=3 train:loss=1 val:loss=2 loss=4";
    CHECK_DOUBLE(read_as("val:loss", "epoch", line).value, 2);
    CHECK_DOUBLE(read_as("train:loss", "epoch", line).value, 1);
    CHECK_DOUBLE(read_as("loss", "epoch", line).value, 4);
    CHECK_DOUBLE(read_as("loss", "epoch", line).resource, 3);
    CHECK_DOUBLE(read_as("val:loss", "epoch", "epoch=1 INFO:root:val:loss=2").value, 2);
    CHECK_DOUBLE(read_as("loss", "at:loss", "INFO:root:loss=5 at:loss=3").value, 5);
    CHECK_DOUBLE(read_as("loss", "at:loss", "INFO:root:loss=5 at:loss=3").resource, 3);
    CHECK(isnan(read_as("loss", "at:loss", "at:loss=3").value), "the resource is not the metric");
}

static void lines_that_are_not(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "epoch=3",
        "loss=0.2",
        "{\"loss\": 0.2}",
        "{\"epoch\": 3, \"loss\": null}",
        "{\"epoch\": 3, \"loss\": true}",
        "{\"epoch\": 3, \"loss\": [1]}",
        "{\"epoch\": 3, \"loss\": 0.2",
        "{\"epoch\": 3 \"loss\": 0.2}",
        "{\"epoch\": {\"loss\": 1}, \"x\": 2}",
        "{\"Epoch\": 3, \"Loss\": 0.2}",
        "epoch=3 val_loss=0.2",
        "epoch=3 losses=0.2",
        "epoch=3 loss=",
        "epoch=3 loss= 0.2",
        "epoch=3 loss=0.2x",
        "epoch=3 loss=0x10",
        "epoch=0 loss=1",
        "epoch=-1 loss=1",
        "epoch=nan loss=1",
        "epoch=inf loss=1",
        "epoch=3 train:loss=1 val:loss=2", /* which? */
        "epoch=3 :loss=1 :loss=2",
        "epoch=3 val:losses=1",
        "epoch=3 val:loss:1",
        "epoch=3 val:loss=",
        "{\"\\udc00\": 1, \"epoch\": 1, \"loss\": 2}",
        "tune-metric: {\"epoch\": 1, \"loss\": 2}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct report r = only("epoch", NULL, lines[i]);
        CHECK(isnan(r.resource), "'%s': %g at %g", lines[i], r.value, r.resource);
    }
}

static void not_a_number_is_told(void **state)
{
    (void)state;
    static const char *const nans[] = {"nan", "NaN", "NAN", "-nan", "+nan"};
    static const char *const infinities[] = {"inf", "Inf", "INF", "Infinity", "infinity", "+inf", "1e999"};
    char line[128];
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++)
        for (int form = 0; form < 3; form++) {
            snprintf(line, sizeof line,
                     form == 0   ? "epoch=1 loss=%s"
                     : form == 1 ? "{\"epoch\": 1, \"loss\": %s}"
                                 : "{\"epoch\": 1, \"loss\": \"%s\"}",
                     nans[i]);
            struct report r = only("epoch", NULL, line);
            CHECK(r.resource == 1 && isnan(r.value), "'%s'", line);
        }
    for (size_t i = 0; i < sizeof infinities / sizeof *infinities; i++) {
        snprintf(line, sizeof line, "{\"epoch\": 1, \"loss\": %s}", infinities[i]);
        struct report r = only("epoch", NULL, line);
        CHECK(r.value == INFINITY, "'%s' gives %g", line, r.value);
        snprintf(line, sizeof line, "epoch=1 loss=-%s", infinities[i] + (infinities[i][0] == '+'));
        r = only("epoch", NULL, line);
        CHECK(r.value == -INFINITY, "'%s' gives %g", line, r.value);
    }
}

static void without_a_resource_it_is_one(void **state)
{
    (void)state;
    struct report r = only(NULL, NULL, "done: loss=3.5");
    CHECK_DOUBLE(r.resource, 1);
    CHECK_DOUBLE(r.value, 3.5);
    r = only(NULL, NULL, "{\"loss\": 2, \"epoch\": 9}");
    CHECK_DOUBLE(r.resource, 1);
}

/* ---- patterns ---- */

static void patterns_replace_the_other_forms(void **state)
{
    (void)state;
    struct report r = only("epoch", "Epoch ([0-9]+): ([0-9.]+)", "Epoch 7: 0.25 (best)");
    CHECK_DOUBLE(r.resource, 7);
    CHECK_DOUBLE(r.value, 0.25);
    r = only("epoch", "Epoch ([0-9]+): ([0-9.]+)", "epoch=3 loss=1");
    CHECK(isnan(r.value), "%g", r.value);
    r = only("epoch", "Epoch ([0-9]+): (nan|[0-9.]+)", "Epoch 7: nan");
    CHECK(r.resource == 7 && isnan(r.value), "%g at %g", r.value, r.resource);
    r = only("epoch", "x(a)?(.*)", "xyz");
    CHECK(isnan(r.resource), "%g", r.resource);
}

/* One group: the reports are numbered, on from where a paused trial was. */
static void one_group_counts_up(void **state)
{
    (void)state;
    struct report_form form = form_of("epoch", "loss: ([0-9.]+)");
    struct report_stream s;
    struct heard h = {0};
    static const char text[] = "loss: 5\nnothing\nloss: 4\nloss: 3";
    wni_report_stream_init(&s, &form, 10);
    feed(&s, &h, text, strlen(text), 3);
    CHECK_INT(h.n, 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK_DOUBLE(h.reports[i].resource, 11 + (double)i);
        CHECK_DOUBLE(h.reports[i].value, 5 - (double)i);
    }
    wni_report_stream_release(&s);
    wni_report_form_release(&form);
}

static void bad_patterns_are_refused(void **state)
{
    (void)state;
    struct report_form form;
    struct err err = {0};
    CHECK_INT(wni_report_form_init(&form, "loss", NULL, "(", &err), WN_EINVAL);
    CHECK(strstr(err.text, "report.pattern"), "%s", err.text);
    CHECK_INT(wni_report_form_init(&form, "loss", NULL, "abc", &err), WN_EINVAL);
    wni_report_form_release(&form);
}

/* ---- pieces ---- */

/* Whatever the pieces, the reports are the same. */
static void any_cut_will_do(void **state)
{
    (void)state;
    static const char text[] =
        "hello\nepoch=1 loss=9\r\n{\"epoch\": 2, \"loss\": 8}\rbar 50%\repoch=3 loss=7\n\n\r\n"
        "junk \x01\xff\xfe without end\0epoch=4 loss=6\nepoch=5 loss=5";
    size_t n = sizeof text - 1;
    for (size_t piece = 1; piece <= n; piece++) {
        struct report_form form = form_of("epoch", NULL);
        struct report_stream s;
        struct heard h = {0};
        wni_report_stream_init(&s, &form, 0);
        feed(&s, &h, text, n, piece);
        CHECK(h.n == 5, "pieces of %zu: %zu reports", piece, h.n);
        for (size_t i = 0; i < 5; i++)
            CHECK(h.reports[i].resource == (double)(i + 1) && h.reports[i].value == (double)(9 - i),
                  "pieces of %zu: report %zu", piece, i);
        wni_report_stream_release(&s);
        wni_report_form_release(&form);
    }
}

static void long_lines_are_skipped_in_bounded_memory(void **state)
{
    (void)state;
    struct report_form form = form_of("epoch", NULL);
    struct report_stream s;
    struct heard h = {0};
    struct err err = {0};
    static char piece[100000];
    memset(piece, 'x', sizeof piece);
    wni_report_stream_init(&s, &form, 0);
    for (int i = 0; i < 100; i++) { /* 10 MB */
        CHECK_OK(wni_report_feed(&s, piece, sizeof piece, hear, &h, &err), err);
        CHECK(s.partial.cap <= 2 * REPORT_LINE_MAX + 16, "%zu bytes", s.partial.cap);
    }
    static const char rest[] = " epoch=1 loss=1\nepoch=2 loss=2\n";
    feed(&s, &h, rest, strlen(rest), 5);
    CHECK_INT(h.n, 1);
    CHECK_DOUBLE(h.reports[0].resource, 2);
    CHECK_INT(s.too_long, 1);
    wni_report_stream_release(&s);
    wni_report_form_release(&form);
}

/* A line of just under the limit is read, one byte more is not. */
static void the_limit_is_exact(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        struct report_form form = form_of("epoch", NULL);
        struct report_stream s;
        struct heard h = {0};
        size_t n = REPORT_LINE_MAX + extra;
        char *line = malloc(n + 1);
        memset(line, ' ', n);
        memcpy(line, "epoch=1 loss=2", 14);
        line[n] = '\n';
        for (size_t piece = 1 << 16; piece <= n + 1; piece += n + 1 - (1 << 16)) {
            wni_report_stream_init(&s, &form, 0);
            h.n = 0;
            feed(&s, &h, line, n + 1, piece);
            CHECK(h.n == 1 - extra, "%zu bytes in pieces of %zu: %zu reports", n, piece, h.n);
            wni_report_stream_release(&s);
        }
        free(line);
        wni_report_form_release(&form);
    }
}

static void deep_nesting_is_survived(void **state)
{
    (void)state;
    size_t n = 500000;
    char *line = malloc(n + 64);
    memcpy(line, "{\"a\": ", 6);
    memset(line + 6, '[', n);
    strcpy(line + 6 + n, ", \"epoch\": 1, \"loss\": 2}\n");
    struct report_form form = form_of("epoch", NULL);
    struct report_stream s;
    struct heard h = {0};
    wni_report_stream_init(&s, &form, 0);
    feed(&s, &h, line, strlen(line), 1 << 20);
    CHECK_INT(h.n, 0);
    wni_report_stream_release(&s);
    wni_report_form_release(&form);
    free(line);
}

/* ---- the rest ---- */

static void lines_without_a_resource_are_counted(void **state)
{
    (void)state;
    struct report_form form = form_of("epoch", NULL);
    struct report_stream s;
    struct heard h = {0};
    static const char text[] = "loss=1\nloss=2 epoch=x\n{\"loss\": 3}\nepoch=1\n";
    wni_report_stream_init(&s, &form, 0);
    feed(&s, &h, text, strlen(text), 4);
    CHECK_INT(h.n, 0);
    CHECK_INT(s.incomplete, 3);
    wni_report_stream_release(&s);
    wni_report_form_release(&form);
}

static void a_refused_report_ends_the_reading(void **state)
{
    (void)state;
    struct report_form form = form_of(NULL, NULL);
    struct report_stream s;
    struct heard h = {.fail_at = 2};
    struct err err = {0};
    static const char text[] = "loss=1\nloss=2\nloss=3\n";
    wni_report_stream_init(&s, &form, 0);
    CHECK_INT(wni_report_feed(&s, text, strlen(text), hear, &h, &err), WN_ESTORE);
    CHECK_INT(h.n, 1);
    wni_report_stream_release(&s);
    wni_report_form_release(&form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_are_reports),
        cmocka_unit_test(names_with_colons),
        cmocka_unit_test(lines_that_are_not),
        cmocka_unit_test(not_a_number_is_told),
        cmocka_unit_test(without_a_resource_it_is_one),
        cmocka_unit_test(patterns_replace_the_other_forms),
        cmocka_unit_test(one_group_counts_up),
        cmocka_unit_test(bad_patterns_are_refused),
        cmocka_unit_test(any_cut_will_do),
        cmocka_unit_test(long_lines_are_skipped_in_bounded_memory),
        cmocka_unit_test(the_limit_is_exact),
        cmocka_unit_test(deep_nesting_is_survived),
        cmocka_unit_test(lines_without_a_resource_are_counted),
        cmocka_unit_test(a_refused_report_ends_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
