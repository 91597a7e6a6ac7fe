/* showtrial.c -- one trial in full, out of the log: each report, and each time it ended with what was said
 * about it.  Listings have room for its first line only. */
#include "cli/showtrial.h"

#include "backend/trialdir.h"
#include "base/utf8.h"
#include "studyfile/studyfile.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { LABEL = 13 };

struct story {
    struct opened_study *s;
    uint32_t trial;
    bool json;
    size_t n_reports, n_endings;
    struct buf reports, endings, reason; /* written as the log is read; the reason is the last ending's */
};

static double seconds(double x)
{
    return round(x * 1000) / 1000;
}

/* ---- reading the log ---- */

static void add_report(struct story *t, const struct event *e)
{
    struct buf *out = &t->reports;
    if (t->json) {
        wni_buf_puts(out, t->n_reports ? ", {\"resource\": " : "{\"resource\": ");
        wni_buf_json_double(out, e->resource);
        wni_buf_puts(out, ", \"value\": ");
        wni_buf_json_double(out, e->value);
        wni_buf_puts(out, ", \"time\": ");
        wni_buf_json_double(out, e->time);
        wni_buf_putc(out, '}');
    } else {
        wni_buf_puts(out, "  ");
        if (t->s->setup.setup.max_resource > 0)
            wni_buf_printf(out, "%s %.15g  ", wni_resource_name(t->s), e->resource);
        wni_buf_printf(out, "%s ", wni_metric_name(t->s));
        wni_buf_double(out, e->value);
        wni_buf_printf(out, "  at %.15g s\n", seconds(e->time));
    }
    t->n_reports++;
}

/* The lines of a text below one another, from the label's column on. */
static void put_lines(struct buf *out, const char *text, int indent)
{
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        size_t from = out->len;
        wni_buf_printf(out, "%*s%.*s", at == text ? 0 : indent, "", (int)n, at);
        if (!out->failed && out->data) wni_utf8_tidy(out->data + from); /* a user's words may be anything */
        wni_buf_putc(out, '\n');
        at += n + (at[n] == '\n');
    }
}

static const char *retry_words(wn_state state, bool retry)
{
    return !retry ? "" : state == WN_PAUSED ? ", to be continued" : ", to be tried again";
}

static void add_ending(struct story *t, const struct event *e)
{
    struct buf *out = &t->endings;
    char state[16];
    wni_lower_state(e->state, state);
    wni_buf_clear(&t->reason);
    if (e->detail) wni_buf_puts(&t->reason, e->detail);
    if (t->json) {
        wni_buf_printf(out, "%s{\"state\": \"%s\", \"time\": ", t->n_endings ? ", " : "", state);
        wni_buf_json_double(out, e->time);
        wni_buf_printf(out, ", \"retry\": %s, \"reason\": ", e->retry ? "true" : "false");
        if (e->detail)
            wni_buf_json_string(out, e->detail);
        else
            wni_buf_puts(out, "null");
        wni_buf_putc(out, '}');
    } else {
        wni_buf_printf(out, "  %s at %.15g s%s", state, seconds(e->time), retry_words(e->state, e->retry));
        wni_buf_puts(out, e->detail && *e->detail ? ": " : "\n");
        if (e->detail) put_lines(out, e->detail, 4);
    }
    t->n_endings++;
}

static wn_status take(void *context, const struct event *e, struct err *err)
{
    struct story *t = context;
    if (e->kind == EVENT_REPORT && e->trial == t->trial) add_report(t, e);
    if (e->kind == EVENT_FINISH && e->trial == t->trial) add_ending(t, e);
    return t->reports.failed || t->endings.failed || t->reason.failed ? wni_fail_memory(err) : WN_OK;
}

/* ---- telling ---- */

/* Where a runner in this folder put it; "": the study has no command. */
static void put_folder(const struct story *t, struct buf *out)
{
    struct studyfile file;
    struct buf parent = {0};
    char path[TRIAL_PATH_MAX];
    wni_stored_studyfile(t->s, &file);
    if (file.folder)
        wni_buf_puts(&parent, file.folder);
    else
        wni_buf_printf(&parent, "winnow-runs/%s", t->s->name);
    if (t->s->file && !parent.failed) wni_buf_puts(out, wni_trial_path(path, parent.data, t->trial, ""));
    wni_buf_release(&parent);
    wni_studyfile_release(&file);
}

static void put_text(const struct story *t, const char *folder, struct buf *out)
{
    const struct study *s = &t->s->study;
    const struct trial *row = &s->history.trials[t->trial];
    char state[16], scratch[WN_WHY_MAX];
    wni_lower_state((wn_state)row->state, state);
    wni_buf_printf(out, "%-*s%u\n%-*s%s\n", LABEL, "trial", t->trial, LABEL, "study", t->s->name);
    wni_buf_printf(out, "%-*s%s%s\n", LABEL, "state", state, retry_words((wn_state)row->state, row->retry));
    if (t->reason.len) {
        wni_buf_printf(out, "%-*s", LABEL, "reason");
        put_lines(out, t->reason.data, LABEL);
    }
    wni_buf_printf(out, "%-*s%u\n", LABEL, "attempts", row->attempt);
    wni_buf_printf(out, "%-*s%.15g s after the study began\n", LABEL, "asked", seconds(row->asked));
    wni_buf_puts(out, "parameters\n");
    for (size_t i = 0; i < s->space.n; i++) {
        const struct param *p = &s->space.params[i];
        wni_buf_printf(out, "  %-16s %s\n", p->name,
                       wni_param_text(p, wni_history_config(&s->history, t->trial)[i], scratch));
    }
    wni_buf_printf(out, "%-*s%zu\n%s", LABEL, "reports", t->n_reports, wni_buf_text(&t->reports));
    if (t->n_endings > 1)
        wni_buf_printf(out, "%-*s%zu times\n%s", LABEL, "ended", t->n_endings, wni_buf_text(&t->endings));
    else if (!isnan(row->ended))
        wni_buf_printf(out, "%-*s%.15g s after the study began\n", LABEL, "ended", seconds(row->ended));
    if (*folder)
        wni_buf_printf(out, "%-*s%s%s\n", LABEL, "folder", folder,
                       access(folder, F_OK) ? " (not in the current folder)" : "");
}

static void put_json(const struct story *t, const char *folder, struct buf *out)
{
    const struct study *s = &t->s->study;
    const struct trial *row = &s->history.trials[t->trial];
    char state[16];
    wni_lower_state((wn_state)row->state, state);
    wni_buf_puts(out, "{\"study\": ");
    wni_buf_json_string(out, t->s->name);
    wni_buf_printf(out, ", \"trial\": %u, \"state\": \"%s\", \"reason\": ", t->trial, state);
    if (t->reason.len)
        wni_buf_json_string(out, t->reason.data);
    else
        wni_buf_puts(out, "null");
    wni_buf_printf(out, ",\n \"attempt\": %u, \"asked\": ", row->attempt);
    wni_buf_json_double(out, row->asked);
    wni_buf_puts(out, ", \"ended\": ");
    wni_buf_json_double(out, row->ended);
    wni_buf_puts(out, ",\n \"config\": ");
    wni_config_write(&s->space, wni_history_config(&s->history, t->trial), out);
    wni_buf_printf(out,
                   ",\n \"reports\": [%s],\n \"endings\": [%s],\n \"folder\": ", wni_buf_text(&t->reports),
                   wni_buf_text(&t->endings));
    if (*folder)
        wni_buf_json_string(out, folder);
    else
        wni_buf_puts(out, "null");
    wni_buf_puts(out, "}\n");
}

static wn_status print(const struct story *t, struct err *err)
{
    struct buf out = {0}, folder = {0};
    put_folder(t, &folder);
    (t->json ? put_json : put_text)(t, wni_buf_text(&folder), &out);
    wn_status st = out.failed || folder.failed ? wni_fail_memory(err) : WN_OK;
    if (!st) fputs(wni_buf_text(&out), stdout);
    wni_buf_release(&out);
    wni_buf_release(&folder);
    return st;
}

wn_status wni_show_trial(struct opened_study *s, uint32_t trial, bool json, struct err *err)
{
    struct story t = {.s = s, .trial = trial, .json = json};
    const struct store *store = &s->study.store;
    size_t n = s->study.history.n_trials;
    if (trial >= n && n == 0) return wni_fail(err, WN_ENOTFOUND, "study '%s' has no trials yet", s->name);
    if (trial >= n)
        return wni_fail(err, WN_ENOTFOUND, "study '%s' has no trial %u: its trials are 0 to %zu", s->name,
                        trial, n - 1);
    wn_status st = store->ops->read(store->self, 0, take, &t, err);
    if (!st) st = print(&t, err);
    wni_buf_release(&t.reports);
    wni_buf_release(&t.endings);
    wni_buf_release(&t.reason);
    return st;
}
