/* describe.c -- parts of a study in words for people, and configurations for other programs. */
#include "base/number.h"
#include "base/utf8.h"
#include "cli/study_option.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <time.h>

void wni_describe_param(const struct param *p, struct buf *out)
{
    static const char *const scales[] = {"linear", "log"};
    char text[WN_WHY_MAX];
    if (p->kind == PARAM_CONSTANT) {
        wni_buf_printf(out, "constant %s", p->labels[0]);
    } else if (p->labels) {
        wni_buf_puts(out, "one of ");
        for (size_t i = 0; i < p->count; i++)
            wni_buf_printf(out, "%s%s", i ? ", " : "", p->labels[i]);
        if (p->kind == PARAM_ORDINAL) wni_buf_puts(out, " (ordered)");
    } else {
        wni_buf_printf(out, "%s %s..", p->kind == PARAM_INT ? "int" : "float",
                       wni_param_text(p, p->min, text));
        wni_buf_printf(out, "%s, %s", wni_param_text(p, p->max, text), scales[p->scale]);
        if (p->step > 0 && (p->kind == PARAM_FLOAT || p->step > 1))
            wni_buf_printf(out, ", step %s", wni_param_text(p, p->step, text));
    }
}

void wni_lower_state(wn_state state, char out[16])
{
    snprintf(out, 16, "%s", wn_state_name(state));
    for (char *c = out; *c; c++)
        *c = (char)tolower((unsigned char)*c);
}

void wni_describe_states(const uint64_t by_state[WN_CANCELLED + 1], struct buf *out)
{
    const char *separator = "";
    char name[16];
    for (int i = WN_WAITING; i <= WN_CANCELLED; i++) {
        if (!by_state[i]) continue;
        wni_lower_state((wn_state)i, name);
        wni_buf_printf(out, "%s%llu %s", separator, (unsigned long long)by_state[i], name);
        separator = ", ";
    }
    if (!*separator) wni_buf_puts(out, "none");
}

void wni_format_moment(double seconds, char out[MOMENT_MAX])
{
    time_t whole = (time_t)seconds;
    struct tm parts;
    if (!isfinite(seconds) || !gmtime_r(&whole, &parts) ||
        !strftime(out, MOMENT_MAX, "%Y-%m-%dT%H:%M:%SZ", &parts))
        out[0] = '\0';
}

/* ---- for other programs ---- */

void wni_config_flags(const struct space *space, const double *config, struct buf *out)
{
    char scratch[WN_WHY_MAX];
    for (size_t i = 0; i < space->n; i++) {
        const struct param *p = &space->params[i];
        wni_buf_puts(out, i ? " --" : "--");
        wni_buf_shell(out, p->name);
        wni_buf_putc(out, ' ');
        wni_buf_shell(out, wni_param_text(p, config[i], scratch));
    }
}

void wni_config_env(const struct space *space, const double *config, struct buf *out)
{
    char scratch[WN_WHY_MAX];
    for (size_t i = 0; i < space->n; i++) {
        const struct param *p = &space->params[i];
        wni_buf_puts(out, "param_");
        for (const char *c = p->name; *c; c++)
            wni_buf_putc(out, (char)(isalnum((unsigned char)*c) ? *c : '_'));
        wni_buf_putc(out, '=');
        wni_buf_shell(out, wni_param_text(p, config[i], scratch));
        wni_buf_putc(out, '\n');
    }
}

/* Where the character number `most` begins. */
static size_t prefix_length(const char *text, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < most && text[n]; i++)
        do
            n++;
        while (((unsigned char)text[n] & 0xc0) == 0x80);
    return n;
}

void wni_short_line(const char *text, size_t most, struct buf *out)
{
    struct buf line = {0};
    wni_buf_add(&line, text, strcspn(text, "\r\n"));
    out->failed = out->failed || line.failed;
    if (line.data) wni_utf8_tidy(line.data);
    const char *whole = wni_buf_text(&line);
    bool fits = wni_utf8_count(whole, strlen(whole)) <= most;
    wni_buf_add(out, whole, fits ? strlen(whole) : prefix_length(whole, most - 3));
    if (!fits) wni_buf_puts(out, "...");
    wni_buf_release(&line);
}
