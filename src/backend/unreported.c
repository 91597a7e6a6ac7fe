/* unreported.c -- see unreported.h. */
#include "backend/unreported.h"

#include "base/closest.h"
#include "base/number.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAMES_MAX = 12, NAME_MAX_LENGTH = 64, NUMBER_MAX = 64, SHOWN = 4 };

struct mention { /* NAME=NUMBER, "NAME": NUMBER, NAME: NUMBER */
    char name[NAME_MAX_LENGTH];
    char text[NAME_MAX_LENGTH + NUMBER_MAX + 8]; /* as it was printed */
};

struct mentions {
    struct mention items[NAMES_MAX];
    size_t n;
};

/* ---- what was printed ---- */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_./@-", c));
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

static size_t number_length(const char *at, const char *end)
{
    char copy[NUMBER_MAX];
    double ignored;
    size_t n = 0;
    while (at + n < end && at[n] && (isalnum((unsigned char)at[n]) || strchr("+-.", at[n])))
        n++;
    while (n > 0 && at[n - 1] == '.') /* ends a sentence */
        n--;
    if (n == 0 || n >= sizeof copy) return 0;
    memcpy(copy, at, n);
    copy[n] = '\0';
    return wni_parse_double(copy, &ignored) || !strcasecmp(copy, "nan") || !strcasecmp(copy, "inf") ? n : 0;
}

static void remember(struct mentions *m, const char *name, size_t length, const char *from, const char *to)
{
    struct mention *fresh = &m->items[m->n];
    for (size_t i = 0; i < m->n; i++)
        if (strlen(m->items[i].name) == length && !memcmp(m->items[i].name, name, length)) return;
    if (m->n == NAMES_MAX || (size_t)(to - from) >= sizeof fresh->text) return;
    memcpy(fresh->name, name, length);
    fresh->name[length] = '\0';
    memcpy(fresh->text, from, (size_t)(to - from));
    fresh->text[to - from] = '\0';
    m->n++;
}

/* A mention that starts at `from`; returns where to look on. */
static const char *take_mention(struct mentions *m, const char *from, const char *end)
{
    bool quoted = *from == '"' || *from == '\'';
    const char *name = from + quoted, *at = name;
    while (at < end && is_name_char(*at))
        at++;
    size_t length = (size_t)(at - name);
    const char *next = at > from ? at : from + 1;
    if (length == 0 || length >= NAME_MAX_LENGTH || isdigit((unsigned char)*name)) return next;
    if (quoted && (at == end || *at++ != *from)) return next;
    at = skip_blanks(at, end);
    if (at == end || (*at != '=' && *at != ':')) return next;
    at = skip_blanks(at + 1, end);
    size_t number = number_length(at, end);
    if (number == 0) return next;
    remember(m, name, length, from, at + number);
    return at + number;
}

static void find_mentions(const char *text, size_t n, const char *resource, struct mentions *m)
{
    const char *end = text + n;
    for (const char *at = text; at < end;)
        at = is_name_char(*at) || *at == '"' || *at == '\'' ? take_mention(m, at, end) : at + 1;
    for (size_t i = 0; resource && i < m->n; i++) /* that is no metric */
        if (!strcmp(m->items[i].name, resource))
            memmove(&m->items[i], &m->items[i + 1], (--m->n - i) * sizeof *m->items);
}

/* ---- what to say ---- */

void wni_report_example(const char *metric, const char *resource, struct buf *out)
{
    wni_buf_puts(out, "'");
    if (resource) wni_buf_printf(out, "%s=3 ", resource);
    wni_buf_printf(out, "%s=0.21'", metric);
}

static void say_how(const struct report_form *form, struct buf *out)
{
    wni_buf_puts(out, "print a line such as ");
    wni_report_example(form->metric, form->resource, out);
    wni_buf_puts(out, ", or set report.pattern in the study file");
}

static const struct mention *find_mention(const struct mentions *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (!strcmp(m->items[i].name, name)) return &m->items[i];
    return NULL;
}

static void list_mentions(const struct mentions *m, struct buf *out)
{
    size_t n = m->n < SHOWN ? m->n : SHOWN;
    for (size_t i = 0; i < n; i++)
        wni_buf_printf(out, "%s'%s'", !i ? "" : i + 1 < n || n < m->n ? ", " : " and ", m->items[i].name);
    if (n < m->n) wni_buf_printf(out, " and more");
}

static void explain_mentions(const struct report_form *form, const struct mentions *m, struct buf *out)
{
    const char *names[NAMES_MAX];
    const struct mention *same = find_mention(m, form->metric);
    for (size_t i = 0; i < m->n; i++)
        names[i] = m->items[i].name;
    const char *near = wni_closest(form->metric, names, m->n);
    if (same) {
        wni_buf_printf(out, "it printed '%s', which is not the form of a report; ", same->text);
        say_how(form, out);
        return;
    }
    wni_buf_puts(out, "it printed numbers for ");
    list_mentions(m, out);
    if (near) {
        wni_buf_printf(out, "; did you mean '%s' as the metric?", near);
    } else {
        wni_buf_puts(out, "; name one of them as the metric, or ");
        say_how(form, out);
    }
}

bool wni_explain_unreported(const struct report_form *form, const char *text, size_t n, struct buf *out)
{
    struct mentions m = {.n = 0};
    if (n == 0) {
        wni_buf_puts(out, "it printed nothing; ");
        say_how(form, out);
        return false;
    }
    if (form->has_pattern) {
        wni_buf_puts(out, "report.pattern found a number in none of its lines");
        return false;
    }
    find_mentions(text, n, form->resource, &m);
    if (m.n)
        explain_mentions(form, &m, out);
    else
        say_how(form, out);
    return m.n > 0;
}
