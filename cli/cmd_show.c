/* cmd_show.c -- winnow show: how a study is set up and how it stands. */
#include "cli/showtrial.h"

#include "base/mem.h"
#include "studyfile/studyfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 13 };

struct view {
    struct opened_study *s;
    struct studyfile file; /* empty when none was stored, or it no longer reads */
    struct buf model;      /* JSON; empty: there is none */
};

/* A model tells about itself after a proposal: the next one is made, and thrown away. */
static wn_status ask_searcher(struct view *v, struct err *err)
{
    struct study *s = &v->s->study;
    const struct searcher_ops *ops = s->searcher.ops;
    if (!ops->describe) return WN_OK;
    double *config = wni_new(double, s->space.n);
    if (!config) return wni_fail_memory(err);
    wn_status st = ops->suggest(s->searcher.self, &s->history, (uint32_t)s->history.n_trials, config, err);
    free(config);
    if (st == WN_EXHAUSTED) return WN_OK;
    if (!st) ops->describe(s->searcher.self, &v->model);
    return !st && v->model.failed ? wni_fail_memory(err) : st;
}

/* ---- for people ---- */

static void label(struct buf *out, const char *name)
{
    wni_buf_printf(out, "%-*s", LABEL, name);
}

static void put_setup(const struct view *v, struct buf *out)
{
    const struct study_setup *u = &v->s->setup.setup;
    char moment[MOMENT_MAX];
    wni_format_moment(v->s->created, moment);
    label(out, "study");
    wni_buf_printf(out, "%s\n", v->s->name);
    label(out, "store");
    wni_buf_printf(out, "%s\n", v->s->url);
    label(out, "created");
    wni_buf_printf(out, "%s\n", moment);
    label(out, "method");
    wni_buf_printf(out, "%s%s(%s under %s)\n", u->method ? u->method : "", u->method ? " " : "", u->searcher,
                   u->scheduler);
    if (u->options[0] && u->options[0][strspn(u->options[0], " ")]) {
        label(out, "options");
        wni_buf_printf(out, "%s\n", u->options[0]);
    }
    label(out, "goal");
    wni_buf_printf(out, "%s %s\n", u->goal == WN_MAXIMIZE ? "maximize" : "minimize", wni_metric_name(v->s));
    if (u->max_resource > 0) {
        label(out, "resource");
        wni_buf_printf(out, "%s %.15g..%.15g\n", wni_resource_name(v->s), u->min_resource, u->max_resource);
    }
    label(out, "seed");
    wni_buf_printf(out, "%llu\n", (unsigned long long)u->seed);
}

static void put_parameters(const struct view *v, struct buf *out)
{
    wni_buf_puts(out, "parameters\n");
    for (size_t i = 0; i < v->s->setup.space.n; i++) {
        const struct param *p = &v->s->setup.space.params[i];
        wni_buf_printf(out, "  %-16s ", p->name);
        wni_describe_param(p, out);
        wni_buf_putc(out, '\n');
    }
}

static void put_part(struct buf *out, const char *name, double used, double limit, const char *unit)
{
    wni_buf_printf(out, "%s%s %.15g%s", out->len && out->data[out->len - 1] != ' ' ? ", " : "", name, used,
                   unit);
    if (limit > 0) wni_buf_printf(out, " of %.15g%s", limit, unit);
}

/* Until when the last trial ended; a study that runs is still at it. */
static double time_used(const struct view *v)
{
    const struct history *h = &v->s->study.history;
    double end = 0;
    if (h->by_state[WN_RUNNING]) return wni_study_clock(v->s);
    for (size_t i = 0; i < h->n_trials; i++)
        end = fmax(end, isnan(h->trials[i].ended) ? h->trials[i].asked : h->trials[i].ended);
    return end;
}

static void put_budget(const struct view *v, struct buf *out)
{
    const struct history *h = &v->s->study.history;
    label(out, "budget");
    put_part(out, "trials", (double)h->n_trials, (double)v->file.stop.trials, "");
    put_part(out, "reports", (double)h->n_reports, (double)v->file.stop.results, "");
    if (v->s->setup.setup.max_resource > 0)
        put_part(out, wni_resource_name(v->s), h->total_resource, v->file.stop.resource, "");
    put_part(out, "time", round(time_used(v) * 10) / 10, v->file.stop.time, " s");
    wni_buf_putc(out, '\n');
}

static void put_best(const struct view *v, struct buf *out)
{
    const struct study *s = &v->s->study;
    const struct history *h = &s->history;
    char scratch[WN_WHY_MAX];
    label(out, "best");
    if (h->best_trial == TRIAL_NONE) {
        wni_buf_puts(out, "no finite value yet\n");
        return;
    }
    wni_buf_double(out, s->sign * h->best_value);
    if (v->s->setup.setup.max_resource > 0)
        wni_buf_printf(out, " at %s %.15g", wni_resource_name(v->s), h->resources[h->best_report]);
    wni_buf_printf(out, ", trial %u\n", h->best_trial);
    for (size_t i = 0; i < s->space.n; i++) {
        const struct param *p = &s->space.params[i];
        wni_buf_printf(out, "  %-16s %s\n", p->name,
                       wni_param_text(p, wni_history_config(h, h->best_trial)[i], scratch));
    }
}

static void count_states(const struct history *h, uint64_t by_state[WN_CANCELLED + 1])
{
    for (size_t i = 0; i <= WN_CANCELLED; i++)
        by_state[i] = h->by_state[i];
}

static void put_node(const struct node *n, struct buf *out)
{
    double x;
    if (n->kind == NODE_SCALAR && wni_node_number(n, &x))
        wni_buf_printf(out, " %.6g", x);
    else if (n->kind == NODE_SCALAR)
        wni_buf_printf(out, " %s", n->text);
    for (size_t i = 0; n->kind == NODE_LIST && i < n->n; i++)
        put_node(n->items[i], out);
}

static void put_model(const struct view *v, struct buf *out)
{
    struct document doc = {0};
    if (!v->model.len || wni_json_parse(&doc, "", v->model.data, v->model.len, NULL)) return;
    label(out, "model");
    for (size_t i = 0; doc.root->kind == NODE_MAP && i < doc.root->n; i++) {
        wni_buf_printf(out, "%s%s", i ? ", " : "", doc.root->keys[i]->text);
        put_node(doc.root->items[i], out);
    }
    wni_buf_putc(out, '\n');
    wni_document_release(&doc);
}

static void put_changes(const struct view *v, struct buf *out)
{
    const struct study *s = &v->s->study;
    char moment[MOMENT_MAX];
    for (size_t i = 1; i < s->n_versions; i++) {
        const struct setup_version *w = s->versions[i];
        wni_format_moment(v->s->created + w->time, moment);
        label(out, "changed");
        wni_buf_printf(out, "%s, from event %llu on\n", moment, (unsigned long long)w->since);
        wni_describe_changes(&s->versions[i - 1]->stored.setup, &w->stored.setup, "  ", out);
    }
}

static void put_text(const struct view *v, struct buf *out)
{
    const struct history *h = &v->s->study.history;
    uint64_t by_state[WN_CANCELLED + 1];
    put_setup(v, out);
    put_parameters(v, out);
    put_changes(v, out);
    label(out, "trials");
    wni_buf_printf(out, "%zu: ", h->n_trials);
    count_states(h, by_state);
    wni_describe_states(by_state, out);
    if (h->n_queue > h->queue_head) wni_buf_printf(out, "; %zu in the queue", h->n_queue - h->queue_head);
    if (h->n_retries) wni_buf_printf(out, "; %zu to be continued or tried again", h->n_retries);
    wni_buf_putc(out, '\n');
    put_budget(v, out);
    put_best(v, out);
    put_model(v, out);
}

/* ---- for programs ---- */

static void json_limit(struct buf *out, const char *name, double used, double limit)
{
    wni_buf_printf(out, "\"%s\": {\"used\": ", name);
    wni_buf_json_double(out, used);
    wni_buf_puts(out, ", \"limit\": ");
    wni_buf_json_double(out, limit > 0 ? limit : NAN);
    wni_buf_puts(out, "}");
}

static void json_best(const struct view *v, struct buf *out)
{
    const struct study *s = &v->s->study;
    const struct history *h = &s->history;
    if (h->best_trial == TRIAL_NONE) {
        wni_buf_puts(out, "null");
        return;
    }
    wni_buf_printf(out, "{\"trial\": %u, \"value\": ", h->best_trial);
    wni_buf_json_double(out, s->sign * h->best_value);
    wni_buf_puts(out, ", \"resource\": ");
    wni_buf_json_double(out, h->resources[h->best_report]);
    wni_buf_puts(out, ", \"config\": ");
    wni_config_write(&s->space, wni_history_config(h, h->best_trial), out);
    wni_buf_putc(out, '}');
}

static void json_states(const struct history *h, struct buf *out)
{
    char name[16];
    wni_buf_puts(out, "{");
    for (int i = 0; i <= WN_CANCELLED; i++) {
        wni_lower_state((wn_state)i, name);
        wni_buf_printf(out, "%s\"%s\": %zu", i ? ", " : "", name, h->by_state[i]);
    }
    wni_buf_puts(out, "}");
}

/* All setups, the first and the last included. */
static void json_setups(const struct view *v, struct buf *out)
{
    const struct study *s = &v->s->study;
    char moment[MOMENT_MAX];
    for (size_t i = 0; i < s->n_versions; i++) {
        const struct setup_version *w = s->versions[i];
        wni_format_moment(v->s->created + w->time, moment);
        wni_buf_printf(out, "%s\n  {\"event\": %llu, \"at\": \"%s\", \"setup\": ", i ? "," : "",
                       (unsigned long long)w->since, moment);
        wni_setup_write(&w->stored.setup, out);
        wni_buf_puts(out, ", \"file\": ");
        if (w->stored.setup.file)
            wni_buf_json_string(out, w->stored.setup.file);
        else
            wni_buf_puts(out, "null");
        wni_buf_putc(out, '}');
    }
}

static void put_json(const struct view *v, struct buf *out)
{
    const struct history *h = &v->s->study.history;
    char moment[MOMENT_MAX];
    wni_format_moment(v->s->created, moment);
    wni_buf_puts(out, "{\"study\": ");
    wni_buf_json_string(out, v->s->name);
    wni_buf_puts(out, ",\n \"store\": ");
    wni_buf_json_string(out, v->s->url);
    wni_buf_printf(out, ",\n \"created\": \"%s\",\n \"setup\": ", moment);
    wni_setup_write(&v->s->setup.setup, out);
    wni_buf_puts(out, ",\n \"setups\": [");
    json_setups(v, out);
    wni_buf_puts(out, "]");
    wni_buf_printf(out, ",\n \"trials\": %zu, \"queued\": %zu, \"states\": ", h->n_trials,
                   h->n_queue - h->queue_head);
    json_states(h, out);
    wni_buf_puts(out, ",\n \"budget\": {");
    json_limit(out, "trials", (double)h->n_trials, (double)v->file.stop.trials);
    wni_buf_puts(out, ", ");
    json_limit(out, "reports", (double)h->n_reports, (double)v->file.stop.results);
    wni_buf_puts(out, ", ");
    json_limit(out, "resource", h->total_resource, v->file.stop.resource);
    wni_buf_puts(out, ", ");
    json_limit(out, "seconds", time_used(v), v->file.stop.time);
    wni_buf_puts(out, "},\n \"best\": ");
    json_best(v, out);
    wni_buf_printf(out, ",\n \"model\": %s}\n", v->model.len ? v->model.data : "null");
}

static wn_status print(struct view *v, bool json, struct err *err)
{
    struct buf out = {0};
    wni_stored_studyfile(v->s, &v->file);
    (json ? put_json : put_text)(v, &out);
    if (!out.failed) fputs(wni_buf_text(&out), stdout);
    wn_status st = out.failed ? wni_fail_memory(err) : WN_OK;
    wni_buf_release(&out);
    wni_studyfile_release(&v->file);
    return st;
}

static wn_status show_study(struct opened_study *s, bool json, struct err *err)
{
    struct view v = {.s = s};
    wn_status st = ask_searcher(&v, err);
    if (!st) st = print(&v, json, err);
    wni_buf_release(&v.model);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s = {0};
    bool json = !strcmp(wni_arg(args, "format"), "json");
    uint64_t trial = UINT64_MAX;
    wn_status st = wni_arg_count(args, "trial", 0, UINT32_MAX - 1, &trial, &err);
    if (!st) st = wni_open_study_option(args, 0, &s, &err);
    if (!st)
        st = trial == UINT64_MAX ? show_study(&s, json, &err)
                                 : wni_show_trial(&s, (uint32_t)trial, json, &err);
    wni_close_study(&s);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static const struct cli_option options[] = {
    {.name = "trial", .value = "N", .help = "only this trial, with all that is known of it"},
    STORE_OPTION,
    STUDY_OPTION,
    TEXT_FORMAT_OPTION("how to print it"),
    {0},
};

const struct cli_command wni_cmd_show = {
    .name = "show",
    .summary = "show how a study is set up and how it stands",
    .words = "[STUDY]",
    .max_words = 1,
    .about =
        "The setup and what 'winnow resume' changed of it and when, the trials by state, how much of the "
        "budget is used, the best value with its configuration.\n\n"
        "With --trial, one trial in full: its state and why it ended so, its configuration, every report, "
        "every time it ended (it may have been paused, or tried again), and the folder with what it printed "
        "and saved.\n\n"
        "Where the method has a model, what it says about itself follows. For qr and cqr: the levels of "
        "its quantiles, "
        "how many trials it was fitted to and how many it held out, and how far the conformal "
        "correction moves each pair "
        "of quantiles, outermost first (gamma, in the unit of the metric): near 0 when the model knows "
        "what it does not "
        "know, large when it was too sure of itself, below 0 when it was not sure enough. For gp, mob "
        "and ht: the values it "
        "was conditioned on, the noise variance, how far each column of the unit cube reaches "
        "(bandwidth), the scale of each process, and for ht the rungs' weights.",
    .options = options,
    .examples = "winnow show\n"
                "winnow show mlp --store sqlite:///runs/all.db\n"
                "winnow show mlp --trial 17                  # why did it fail?\n"
                "winnow show mlp --format json | jq .best.config",
    .run = run,
};
