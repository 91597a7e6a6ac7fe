/* report.c -- one pass over each line, nothing allocated but the piece of a line whose end has not come yet.
 *
 * JSON is scanned by hand, not with jansson: programs print NaN and Infinity, which is no JSON; a flood of
 * lines must not become a flood of allocations; and only two keys of the outermost object matter.  Where
 * jansson accepts a line, the scanner finds the same numbers in it (tests/fuzz/fuzz_report.c compares). */
#define _GNU_SOURCE
#include "backend/report.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static const char TUNE_METRIC[] = "[tune-metric]: {"; /* Syne Tune's mark and the brace behind it */

enum { DEPTH_MAX = 512 }; /* objects and lists inside one another */

/* ---- numbers ---- */

/* NaN and infinity as C, Python, JavaScript, Java and Rust spell them. */
static bool parse_special(const char *text, double *out)
{
    bool minus = *text == '-';
    text += *text == '-' || *text == '+';
    if (!strcasecmp(text, "nan"))
        *out = NAN;
    else if (!strcasecmp(text, "inf") || !strcasecmp(text, "infinity"))
        *out = minus ? -INFINITY : INFINITY;
    else
        return false;
    return true;
}

static bool parse_number(const char *text, size_t n, double *out)
{
    char copy[512];
    if (n == 0 || n >= sizeof copy) return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return strlen(copy) == n && (parse_special(copy, out) || wni_parse_double(copy, out));
}

/* ---- JSON ---- */

struct scanner {
    const char *at, *end;
};

static void skip_blanks(struct scanner *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

static bool take_char(struct scanner *s, char c)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != c) return false;
    s->at++;
    return true;
}

static int hex4(const char *at, const char *end)
{
    int value = 0;
    if (end - at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)at[i])) return -1;
        int c = tolower((unsigned char)at[i]);
        value = value * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return value;
}

static size_t put_utf8(int code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | code);
    return n;
}

/* The characters behind \u, with the second half of a pair when it is one. */
static int take_unicode(struct scanner *s)
{
    int code = hex4(s->at, s->end), low;
    if (code < 0) return -1;
    s->at += 4;
    if (code < 0xd800 || code > 0xdbff) return code >= 0xdc00 && code <= 0xdfff ? -1 : code;
    if (s->end - s->at < 6 || s->at[0] != '\\' || s->at[1] != 'u') return -1;
    low = hex4(s->at + 2, s->end);
    if (low < 0xdc00 || low > 0xdfff) return -1;
    s->at += 6;
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

/* One character of a string, escapes resolved; 0 bytes at a mistake. */
static size_t take_string_char(struct scanner *s, char out[4])
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    unsigned char c = (unsigned char)*s->at++;
    out[0] = (char)c;
    if (c < 0x20) return 0;
    if (c != '\\') return 1;
    if (s->at == s->end) return 0;
    c = (unsigned char)*s->at++;
    if (c == 'u') {
        int code = take_unicode(s);
        return code < 0 ? 0 : put_utf8(code, out);
    }
    const char *found = c ? strchr(names, c) : NULL;
    if (!found) return 0;
    out[0] = meant[found - names];
    return 1;
}

/* A string, its opening quote next.  Up to `room` bytes go to `text`; *n tells how many there were. */
static bool take_string(struct scanner *s, char *text, size_t room, size_t *n)
{
    *n = 0;
    if (!take_char(s, '"')) return false;
    while (s->at < s->end && *s->at != '"') {
        char bytes[4];
        size_t length = take_string_char(s, bytes);
        if (length == 0) return false;
        for (size_t i = 0; i < length; i++, ++*n)
            if (*n < room) text[*n] = bytes[i];
    }
    return s->at < s->end && *s->at++ == '"';
}

/* A number or a word: up to what may follow one. */
static bool take_plain(struct scanner *s, const char **text, size_t *n)
{
    *text = s->at;
    while (s->at < s->end && !strchr(" \t,]}", *s->at))
        s->at++;
    *n = (size_t)(s->at - *text);
    return *n > 0;
}

static bool skip_value(struct scanner *s);

/* The rest of a list or of an inner object.  Depth is counted, not recursed: a line of a million brackets is
 * no reason to crash. */
static bool skip_nested(struct scanner *s)
{
    int depth = 0;
    do {
        size_t n;
        skip_blanks(s);
        if (s->at == s->end) return false;
        char c = *s->at;
        if (c == '"') {
            if (!take_string(s, NULL, 0, &n)) return false;
            continue;
        }
        if (c == '{' || c == '[') depth++;
        if (c == '}' || c == ']') depth--;
        if (depth > DEPTH_MAX) return false;
        s->at++;
    } while (depth > 0);
    return true;
}

static bool skip_value(struct scanner *s)
{
    const char *text;
    size_t n;
    skip_blanks(s);
    if (s->at == s->end) return false;
    if (*s->at == '"') return take_string(s, NULL, 0, &n);
    if (*s->at == '{' || *s->at == '[') return skip_nested(s);
    return take_plain(s, &text, &n);
}

/* A value that is wanted.  A number, or text that is one ("NaN" in quotes is common); anything else counts as
 * not said: null is how some programs say that there is no value this time. */
static bool take_number(struct scanner *s, double *out, bool *said)
{
    char quoted[64];
    const char *text = quoted;
    size_t n;
    skip_blanks(s);
    *said = false;
    if (s->at == s->end) return false;
    if (*s->at == '{' || *s->at == '[') return skip_nested(s);
    bool fine = *s->at == '"' ? take_string(s, quoted, sizeof quoted, &n) : take_plain(s, &text, &n);
    *said = fine && !(text == quoted && n > sizeof quoted) && parse_number(text, n, out);
    return fine;
}

/* What a line was found to say. */
struct found {
    double value, resource;
    bool has_value, has_resource;
};

static bool key_is(const char *key, size_t n, const char *name)
{
    return name && strlen(name) == n && !memcmp(key, name, n);
}

static bool scan_member(struct scanner *s, const struct report_form *form, struct found *out)
{
    char key[256];
    size_t n;
    if (!take_string(s, key, sizeof key, &n) || !take_char(s, ':')) return false;
    if (n <= sizeof key && key_is(key, n, form->metric)) return take_number(s, &out->value, &out->has_value);
    if (n <= sizeof key && key_is(key, n, form->resource))
        return take_number(s, &out->resource, &out->has_resource);
    return skip_value(s);
}

/* A whole object; what follows it is not looked at. */
static bool scan_object(const char *line, size_t n, const struct report_form *form, struct found *out)
{
    struct scanner s = {line, line + n};
    struct found found = {0};
    if (!take_char(&s, '{')) return false;
    if (!take_char(&s, '}')) {
        do
            if (!scan_member(&s, form, &found)) return false;
        while (take_char(&s, ','));
        if (!take_char(&s, '}')) return false;
    }
    *out = found;
    return true;
}

/* ---- words ---- */

static bool ends_word(const char *at, const char *end)
{
    return at == end || strchr(" \t,;|)]}'\"", *at); /* a NUL ends one too */
}

static bool starts_word(const char *line, const char *at)
{
    return at == line || strchr(" \t,;|([{'\"", at[-1]);
}

/* NAME= in the line from `at` on; NULL: no more. */
static const char *next_key(const char *at, const char *end, const char *name, size_t length)
{
    while ((at = memmem(at, (size_t)(end - at), name, length))) {
        if (at + length < end && at[length] == '=') return at;
        at += length;
    }
    return NULL;
}

static bool take_word(const char *value, const char *end, double *out)
{
    const char *stop = value;
    while (!ends_word(stop, end))
        stop++;
    return parse_number(value, (size_t)(stop - value), out);
}

/* The number behind NAME=; of several the last, as a line may tell what was before what is. */
static bool find_word(const char *line, const char *end, const char *name, double *out)
{
    size_t length = strlen(name);
    double number;
    bool found = false;
    for (const char *hit = line; (hit = next_key(hit, end, name, length)); hit += length) {
        if (!starts_word(line, hit) || !take_word(hit + length + 1, end, &number)) continue;
        *out = number;
        found = true;
    }
    return found;
}

/* Whether the word that ends before `end` is `name` as a whole. */
static bool is_word(const char *line, const char *end, const char *name)
{
    size_t length = name ? strlen(name) : 0;
    return name && (size_t)(end - line) >= length && !memcmp(end - length, name, length) &&
           starts_word(line, end - length);
}

/* Python's logging puts INFO:root: before the first word.  So where no word is NAME, the one that ends in
 * :NAME is meant, unless it is the other name that we look for.  Two of them are train:loss and val:loss, and
 * then nobody knows which. */
static bool find_behind_colon(const char *line, const char *end, const char *name, const char *other,
                              double *out)
{
    size_t length = strlen(name);
    const char *only = NULL;
    for (const char *hit = line; (hit = next_key(hit, end, name, length)); hit += length) {
        if (hit == line || hit[-1] != ':' || is_word(line, hit + length, other)) continue;
        if (only) return false;
        only = hit;
    }
    return only && take_word(only + length + 1, end, out);
}

static bool find_named(const char *line, const char *end, const char *name, const char *other, double *out)
{
    return find_word(line, end, name, out) || find_behind_colon(line, end, name, other, out);
}

static void scan_words(const char *line, size_t n, const struct report_form *form, struct found *out)
{
    const char *end = line + n;
    out->has_value = find_named(line, end, form->metric, form->resource, &out->value);
    if (out->has_value && form->resource)
        out->has_resource = find_named(line, end, form->resource, form->metric, &out->resource);
}

/* ---- the pattern ---- */

static bool take_group(const char *line, const regmatch_t *group, double *out)
{
    return group->rm_so >= 0 && parse_number(line + group->rm_so, (size_t)(group->rm_eo - group->rm_so), out);
}

/* The C library wants a terminated text, and lines are pieces of a larger one. */
static void scan_pattern(const struct report_stream *s, const char *line, size_t n, struct found *out)
{
    const struct report_form *form = s->form;
    char copy[REPORT_PATTERN_MAX + 1];
    regmatch_t groups[3];
    if (n > REPORT_PATTERN_MAX) return;
    memcpy(copy, line, n);
    copy[n] = '\0';
    if (regexec(&form->pattern, copy, 3, groups, 0)) return;
    size_t last = form->n_groups;
    out->has_value = take_group(copy, &groups[last], &out->value);
    if (last == 2) {
        out->has_resource = take_group(copy, &groups[1], &out->resource);
    } else {
        out->has_resource = true;
        out->resource = s->counted + 1;
    }
}

/* ---- lines ---- */

static void scan_line(const struct report_stream *s, const char *line, size_t n, struct found *out)
{
    const struct report_form *form = s->form;
    if (form->has_pattern) {
        scan_pattern(s, line, n, out);
        return;
    }
    size_t indent = 0;
    while (indent < n && (line[indent] == ' ' || line[indent] == '\t'))
        indent++;
    if (indent < n && line[indent] == '{' && scan_object(line + indent, n - indent, form, out)) return;
    const char *mark = memmem(line, n, TUNE_METRIC, sizeof TUNE_METRIC - 1);
    if (mark) {
        const char *brace = mark + sizeof TUNE_METRIC - 2;
        if (scan_object(brace, n - (size_t)(brace - line), form, out)) return;
    }
    scan_words(line, n, form, out);
}

static wn_status take_line(struct report_stream *s, const char *line, size_t n, report_taker *take,
                           void *context, struct err *err)
{
    struct found found = {0};
    if (n == 0) return WN_OK;
    scan_line(s, line, n, &found);
    if (!found.has_value) return WN_OK;
    if (!s->form->resource) {
        found.resource = 1;
        found.has_resource = true;
    }
    if (!found.has_resource || !(found.resource > 0) || isinf(found.resource)) {
        s->incomplete++;
        return WN_OK;
    }
    s->counted = found.resource;
    return take(context, &(struct report){found.resource, found.value}, err);
}

/* A piece of a line whose end has not come. */
static wn_status keep_partial(struct report_stream *s, const char *bytes, size_t n, struct err *err)
{
    if (s->skipping) return WN_OK;
    if (s->partial.len + n > REPORT_LINE_MAX) {
        s->skipping = true;
        s->too_long++;
        wni_buf_release(&s->partial);
        return WN_OK;
    }
    wni_buf_add(&s->partial, bytes, n);
    if (!s->partial.failed) return WN_OK;
    wni_buf_release(&s->partial);
    return wni_fail_memory(err);
}

/* The end of a line: either all of it is here, or its beginning is in `partial`. */
static wn_status end_line(struct report_stream *s, const char *bytes, size_t n, report_taker *take,
                          void *context, struct err *err)
{
    wn_status st = WN_OK;
    if (s->skipping || n > REPORT_LINE_MAX) {
        s->too_long += !s->skipping;
        s->skipping = false;
        return WN_OK;
    }
    if (s->partial.len == 0) return take_line(s, bytes, n, take, context, err);
    st = keep_partial(s, bytes, n, err);
    if (!st && !s->skipping) st = take_line(s, s->partial.data, s->partial.len, take, context, err);
    s->skipping = false;
    wni_buf_clear(&s->partial);
    return st;
}

static const char *find_end(const char *at, const char *end)
{
    const char *lf = memchr(at, '\n', (size_t)(end - at));
    const char *cr = memchr(at, '\r', (size_t)((lf ? lf : end) - at)); /* progress bars go back with CR */
    return cr ? cr : lf;
}

wn_status wni_report_feed(struct report_stream *s, const char *bytes, size_t n, report_taker *take,
                          void *context, struct err *err)
{
    const char *at = bytes, *end = bytes + n;
    while (at < end) {
        const char *stop = find_end(at, end);
        if (!stop) return keep_partial(s, at, (size_t)(end - at), err);
        wn_status st = end_line(s, at, (size_t)(stop - at), take, context, err);
        if (st) return st;
        at = stop + 1;
    }
    return WN_OK;
}

wn_status wni_report_end(struct report_stream *s, report_taker *take, void *context, struct err *err)
{
    return end_line(s, "", 0, take, context, err);
}

void wni_report_stream_init(struct report_stream *s, const struct report_form *form, double resumed_from)
{
    *s = (struct report_stream){.form = form, .counted = resumed_from};
}

void wni_report_stream_release(struct report_stream *s)
{
    wni_buf_release(&s->partial);
}

/* ---- the form ---- */

wn_status wni_report_form_init(struct report_form *form, const char *metric, const char *resource,
                               const char *pattern, struct err *err)
{
    *form = (struct report_form){.metric = metric, .resource = resource};
    if (!pattern) return WN_OK;
    int failed = regcomp(&form->pattern, pattern, REG_EXTENDED);
    if (failed) {
        char why[128];
        regerror(failed, &form->pattern, why, sizeof why);
        return wni_fail(err, failed == REG_ESPACE ? WN_ENOMEM : WN_EINVAL, "report.pattern: %s", why);
    }
    form->has_pattern = true;
    form->n_groups = form->pattern.re_nsub < 2 ? form->pattern.re_nsub : 2;
    if (form->n_groups > 0) return WN_OK;
    wni_report_form_release(form);
    return wni_fail(err, WN_EINVAL, "report.pattern: put parentheses around the metric's value");
}

void wni_report_form_release(struct report_form *form)
{
    if (form->has_pattern) regfree(&form->pattern);
    *form = (struct report_form){0};
}
