/* live.c -- draws a running study. */
#include "cli/live.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { RUNNING_SHOWN = 12, WRAPPED_MAX = 4 };
static const double REDRAW_SECONDS = 0.2;
static const double SAY_SECONDS = 5; /* between lines of a log that say that the same trial got better */

/* ---- parts of lines ---- */

void wni_live_config(const struct space *space, const double *config, struct buf *out)
{
    char scratch[WN_WHY_MAX];
    for (size_t i = 0; i < space->n; i++) {
        const struct param *p = &space->params[i];
        if (p->kind == PARAM_CONSTANT) continue;
        const char *text = wni_param_text(p, config[i], scratch);
        /* people compare the first digits; the whole number is in the results */
        bool number = p->kind == PARAM_FLOAT;
        if (number)
            wni_buf_printf(out, "%s%s=%.4g", out->len ? " " : "", p->name, config[i]);
        else
            wni_buf_printf(out, "%s%s=%s", out->len ? " " : "", p->name, text);
    }
}

static void put_duration(struct buf *out, double seconds)
{
    long s = lround(seconds);
    if (s < 120)
        wni_buf_printf(out, "%ld s", s);
    else if (s < 7200)
        wni_buf_printf(out, "%ld m %02ld s", s / 60, s % 60);
    else
        wni_buf_printf(out, "%ld h %02ld m", s / 3600, s / 60 % 60);
}

static void put_report(const struct live *l, double value, double resource, struct buf *out)
{
    wni_buf_printf(out, "%s %.6g", l->file->metric.name, value);
    if (l->file->resource.name) wni_buf_printf(out, " at %s %.15g", l->file->resource.name, resource);
}

static void put_value(const struct live *l, const struct study *study, uint32_t trial, struct buf *out)
{
    const struct history *h = &study->history;
    uint32_t furthest = h->trials[trial].furthest;
    if (furthest)
        put_report(l, study->sign * h->values[furthest - 1], h->resources[furthest - 1], out);
    else
        wni_buf_puts(out, "no report yet");
}

static void put_counts(const struct study *study, struct buf *out)
{
    static const char *const names[] = {"waiting", "running", "paused", "complete", "stopped",
                                        "failed",  "timeout", "lost",   "cancelled"};
    wni_buf_printf(out, "%zu trial%s", study->history.n_trials, study->history.n_trials == 1 ? "" : "s");
    const char *separator = ": ";
    for (size_t i = WN_RUNNING; i <= WN_CANCELLED; i++) {
        if (!study->history.by_state[i]) continue;
        wni_buf_printf(out, "%s%zu %s", separator, study->history.by_state[i], names[i]);
        separator = ", ";
    }
}

/* ---- the screen ---- */

static int screen_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/* One line, cut to the width: a line that wraps could not be taken back. */
static void put_line(struct live *l, struct buf *screen, struct buf *line)
{
    size_t room = (size_t)screen_width() - 1, n = line->len;
    if (line->failed) return;
    if (line->data) wni_utf8_tidy(line->data);
    while (n > room && wni_utf8_count(wni_buf_text(line), n) > room)
        n--;
    n = wni_utf8_valid(wni_buf_text(line), n);
    wni_buf_add(screen, wni_buf_text(line), n);
    wni_buf_putc(screen, '\n');
    wni_buf_clear(line);
    l->lines++;
}

/* Words over as many lines as they need, up to a few. */
static void put_wrapped(struct live *l, struct buf *screen, struct buf *line, const char *text)
{
    size_t room = (size_t)screen_width() - 1;
    for (int lines = 0; *text && lines < WRAPPED_MAX; lines++) {
        wni_buf_puts(line, "   ");
        while (*text) {
            size_t n = strcspn(text, " ");
            if (line->len > 3 && line->len + 1 + n > room) break;
            wni_buf_putc(line, ' ');
            wni_buf_add(line, text, n);
            text += n + strspn(text + n, " ");
        }
        put_line(l, screen, line);
    }
}

/* A line that may be too long, broken behind semicolons: its end says how long it will take. */
static void put_folded(struct live *l, struct buf *screen, struct buf *line)
{
    size_t room = (size_t)screen_width() - 1;
    struct buf part = {0};
    for (const char *at = wni_buf_text(line); *at;) {
        if (!part.len) at += strspn(at, " ");
        size_t n = strcspn(at, ";");
        n += at[n] == ';';
        if (part.len && part.len + n > room) {
            put_line(l, screen, &part);
            continue;
        }
        wni_buf_add(&part, at, n);
        at += n;
    }
    if (part.len) put_line(l, screen, &part);
    wni_buf_release(&part);
    wni_buf_clear(line);
}

static void put_head(struct live *l, const struct study *study, struct buf *screen, struct buf *line)
{
    double seconds = wni_clock_seconds() - l->began;
    struct standing now = wni_standing(&study->history);
    struct forecast f = wni_forecast(l->limits, &l->before, &now, seconds);
    put_counts(study, line);
    wni_buf_puts(line, "; ");
    put_duration(line, seconds);
    if (study->history.total_resource > 0 && l->file->resource.name)
        wni_buf_printf(line, ", %.6g %ss", study->history.total_resource, l->file->resource.name);
    if (f.share > 0.01) wni_buf_printf(line, "; %.0f %% done", 100 * f.share);
    if (f.share > 0.01 && !isnan(f.left) && !l->interrupted) {
        wni_buf_puts(line, ", about ");
        put_duration(line, f.left);
        wni_buf_puts(line, " left");
    }
    put_folded(l, screen, line);
}

static void put_best(struct live *l, const struct study *study, struct buf *screen, struct buf *line)
{
    const struct history *h = &study->history;
    if (h->best_trial == TRIAL_NONE) return;
    wni_buf_printf(line, "best %s %.6g", l->file->metric.name, study->sign * h->best_value);
    if (l->file->resource.name)
        wni_buf_printf(line, " at %s %.15g", l->file->resource.name, h->resources[h->best_report]);
    wni_buf_printf(line, ", trial %u:", h->best_trial);
    put_line(l, screen, line);
    struct buf config = {0};
    wni_live_config(&study->space, wni_history_config(h, h->best_trial), &config);
    put_wrapped(l, screen, line, wni_buf_text(&config));
    wni_buf_release(&config);
}

static void put_running(struct live *l, const struct study *study, struct buf *screen, struct buf *line)
{
    const struct history *h = &study->history;
    size_t left = h->by_state[WN_RUNNING], shown = 0;
    for (size_t i = h->n_trials; i-- > 0 && left > 0;) { /* those that run are among the last */
        if (h->trials[i].state != WN_RUNNING) continue;
        left--;
        if (shown == RUNNING_SHOWN) continue;
        shown++;
        struct buf config = {0};
        wni_buf_printf(line, "  trial %zu: ", i);
        put_value(l, study, (uint32_t)i, line);
        wni_live_config(&study->space, wni_history_config(h, (uint32_t)i), &config);
        wni_buf_printf(line, "  %s", wni_buf_text(&config));
        wni_buf_release(&config);
        put_line(l, screen, line);
    }
    size_t more = h->by_state[WN_RUNNING] - shown;
    if (more == 0) return;
    wni_buf_printf(line, "  and %zu more", more);
    put_line(l, screen, line);
}

static void take_back(struct live *l)
{
    if (l->lines) fprintf(stderr, "\r\033[%dA\033[J", l->lines);
    l->lines = 0;
}

/* ---- the log ---- */

/* Above the drawing, which comes back with the next redraw. */
static void say(struct live *l, struct buf *text)
{
    take_back(l);
    l->shown = 0;
    fprintf(stderr, "%s\n", wni_buf_text(text));
    wni_buf_release(text);
}

static void begin_log(const struct live *l, uint32_t trial, struct buf *out)
{
    wni_buf_printf(out, "%8.2f s  trial %u  ", wni_clock_seconds() - l->began, trial);
}

/* NULL: out of memory, and then more is said than must be. */
static double *last_said(struct live *l, uint32_t trial)
{
    if (!wni_reserve((void **)&l->said_at, &l->said_at_cap, (size_t)trial + 1, sizeof *l->said_at))
        return NULL;
    while (l->n_said_at <= trial)
        l->said_at[l->n_said_at++] = -INFINITY;
    return &l->said_at[trial];
}

static void say_held(struct live *l, const struct study *study)
{
    uint32_t trial = l->held.trial;
    double *at = last_said(l, trial);
    struct buf line = {0}, config = {0};
    begin_log(l, trial, &line);
    wni_buf_puts(&line, "best so far: ");
    put_report(l, l->held.value, l->held.resource, &line);
    if (!at || isinf(*at)) {
        wni_live_config(&study->space, wni_history_config(&study->history, trial), &config);
        wni_buf_printf(&line, "  %s", wni_buf_text(&config));
    }
    wni_buf_release(&config);
    say(l, &line);
    l->holds = false;
    if (at) *at = wni_clock_seconds();
}

/* A trial that gets better with every epoch is told of now and then, and when it ends. */
static void say_held_if_due(struct live *l, const struct study *study)
{
    const double *at = l->holds ? last_said(l, l->held.trial) : NULL;
    if (l->holds && (!at || wni_clock_seconds() - *at >= SAY_SECONDS)) say_held(l, study);
}

/* Several reports may have happened before the first is told: the study's best is of one of them, of an
 * earlier one, or of somebody else. */
static void on_report(void *context, const struct study *study, const struct happening *it)
{
    struct live *l = context;
    const struct history *h = &study->history;
    if (h->best_value < l->best) {
        l->best = h->best_value;
        wni_best_curve_add(&l->curve, it->time, study->sign * l->best);
    }
    if (h->best_trial != it->trial || study->sign * it->value > l->best || !(l->best < l->said)) return;
    l->said = l->best;
    if (l->mode != LIVE_LOG) return;
    l->held = *it;
    l->holds = true;
    say_held_if_due(l, study);
}

static void on_odd(void *context, const struct study *study, const struct happening *it, double before)
{
    struct live *l = context;
    const char *name = l->file->resource.name;
    if (l->mode == LIVE_QUIET || !name) return;
    struct buf line = {0};
    begin_log(l, it->trial, &line);
    if (it->resource > study->sched_env.max_resource)
        wni_buf_printf(&line,
                       "warning: it reported %s %.15g, beyond the largest, %.15g: the trial is complete",
                       name, it->resource, study->sched_env.max_resource);
    else
        wni_buf_printf(&line,
                       "warning: it reported %s %.15g after %s %.15g: every value counts, and the one at the "
                       "largest %s as its last",
                       name, it->resource, name, before, name);
    say(l, &line);
}

/* ---- trouble, told once ---- */

static const char *skip_number(const char *at)
{
    return at + strspn(at, "0123456789.eE+-");
}

/* 0: they differ; 1: in numbers only; 2: not at all. */
static int likeness(const char *a, const char *b)
{
    if (!strcmp(a, b)) return 2;
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a = skip_number(a);
            b = skip_number(b);
        } else if (*a++ != *b++) {
            return 0;
        }
    }
    return *a == *b;
}

/* A program that does not work fails the same way each time: the first time is told in full. */
static bool put_likeness(struct live *l, uint32_t trial, const char *detail, struct buf *line)
{
    for (size_t i = 0; i < FAULTS_KEPT; i++) {
        int like = l->faults[i].text ? likeness(l->faults[i].text, detail) : 0;
        if (!like) continue;
        wni_buf_printf(line, ": same as trial %u%s", l->faults[i].trial,
                       like == 2 ? "" : ", but for numbers");
        return true;
    }
    struct told_fault *oldest = &l->faults[l->n_faults++ % FAULTS_KEPT];
    free(oldest->text);
    *oldest = (struct told_fault){wni_strdup(detail), trial}; /* NULL: told in full again */
    return false;
}

static void put_detail(struct live *l, uint32_t trial, struct buf *line, const char *detail)
{
    if (!detail || !*detail || put_likeness(l, trial, detail, line)) return;
    wni_buf_puts(line, ": ");
    for (; *detail; detail++) {
        wni_buf_putc(line, *detail);
        if (*detail == '\n') wni_buf_puts(line, "            ");
    }
}

static bool is_trouble(wn_state state)
{
    return state == WN_FAILED || state == WN_TIMEOUT || state == WN_LOST;
}

static void on_end(void *context, const struct study *study, uint32_t trial, wn_state state,
                   const char *detail)
{
    struct live *l = context;
    if (l->holds && l->held.trial == trial) say_held(l, study);
    if (l->mode == LIVE_QUIET || (l->mode == LIVE_SCREEN && !is_trouble(state))) return;
    struct buf line = {0};
    begin_log(l, trial, &line);
    wni_buf_printf(&line, "%s", wn_state_name(state));
    if (is_trouble(state)) {
        put_detail(l, trial, &line, detail);
    } else {
        wni_buf_puts(&line, "  ");
        put_value(l, study, trial, &line);
    }
    say(l, &line);
}

static void on_retry(void *context, const struct study *study, uint32_t trial, const char *detail)
{
    struct live *l = context;
    (void)study;
    if (l->mode == LIVE_QUIET) return;
    struct buf line = {0};
    begin_log(l, trial, &line);
    wni_buf_puts(&line, "failed and is run again");
    put_detail(l, trial, &line, detail);
    say(l, &line);
}

static void on_wait(void *context, const struct study *study)
{
    struct live *l = context;
    size_t n = study->history.by_state[WN_RUNNING];
    if (l->mode == LIVE_QUIET || n == 0) return;
    struct buf line = {0};
    wni_buf_printf(&line, "Another process runs this study: waiting for its %zu trial%s.", n,
                   n == 1 ? "" : "s");
    say(l, &line);
}

static void on_interrupt(void *context, const struct study *study, bool urgent, unsigned running)
{
    struct live *l = context;
    (void)study;
    l->interrupted = true;
    if (l->mode == LIVE_QUIET) return;
    struct buf line = {0};
    if (running == 0)
        wni_buf_puts(&line, "Interrupted.");
    else if (urgent)
        wni_buf_printf(&line, "Interrupted: stopping %u trial%s now.", running, running == 1 ? "" : "s");
    else
        wni_buf_printf(&line, "Interrupted: waiting for %u running trial%s. Ctrl-C again stops %s now.",
                       running, running == 1 ? "" : "s", running == 1 ? "it" : "them");
    say(l, &line);
}

void wni_live_draw(struct live *l, const struct study *study)
{
    double time = wni_clock_seconds();
    say_held_if_due(l, study);
    if (l->mode != LIVE_SCREEN || time - l->shown < REDRAW_SECONDS) return;
    struct buf screen = {0}, line = {0};
    l->shown = time;
    take_back(l);
    put_head(l, study, &screen, &line);
    put_best(l, study, &screen, &line);
    put_running(l, study, &screen, &line);
    fputs(wni_buf_text(&screen), stderr);
    fflush(stderr);
    wni_buf_release(&screen);
    wni_buf_release(&line);
}

void wni_live_say(struct live *l, const char *text)
{
    struct buf line = {0};
    if (l->mode == LIVE_QUIET) return;
    wni_buf_puts(&line, text);
    say(l, &line);
}

/* ---- start and end ---- */

void wni_live_start(struct live *l, const struct studyfile *file, const struct study *study,
                    const struct tuner_limits *limits, bool quiet)
{
    const char *term = getenv("TERM");
    bool screen = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    *l = (struct live){.file = file,
                       .limits = limits,
                       .mode = quiet    ? LIVE_QUIET
                               : screen ? LIVE_SCREEN
                                        : LIVE_LOG,
                       .began = wni_clock_seconds(),
                       .before = wni_standing(&study->history),
                       .best = study->history.best_value,
                       .said = study->history.best_value};
}

void wni_live_end(struct live *l)
{
    take_back(l);
    for (size_t i = 0; i < FAULTS_KEPT; i++)
        free(l->faults[i].text);
    memset(l->faults, 0, sizeof l->faults);
    free(l->said_at);
    l->said_at = NULL;
}

void wni_live_watch(struct live *l, struct tuner_watcher *w)
{
    *w = (struct tuner_watcher){.context = l,
                                .on_report = on_report,
                                .on_odd = on_odd,
                                .on_end = on_end,
                                .on_retry = on_retry,
                                .on_wait = on_wait,
                                .on_interrupt = on_interrupt};
}
