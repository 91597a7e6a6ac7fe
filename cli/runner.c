/* runner.c -- joins a study file, a store, local processes and the tuner's loop. */
#include "cli/runner.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/number.h"
#include "cli/live.h"
#include "cli/study_option.h"
#include "cli/studyargs.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GIVE_UP = 20, GIVE_UP_SILENT = 3 }; /* unless --give-up says otherwise */
static const double TICK_SECONDS = 0.1, LEASE_SECONDS = 60;

wn_status wni_run_options(const struct args *args, struct run_options *out, struct err *err)
{
    uint64_t give_up = GIVE_UP;
    wn_status st = wni_arg_count(args, "give-up", 0, 1000000, &give_up, err);
    *out = (struct run_options){.quiet = wni_flag(args, "quiet"),
                                .plot = wni_flag(args, "plot"),
                                .interrupt_ends = !strcmp(wni_arg(args, "on-interrupt"), "stop"),
                                .give_up = (unsigned)give_up,
                                .give_up_silent = wni_flag(args, "give-up") ? 0 : GIVE_UP_SILENT,
                                .format = wni_arg(args, "format")};
    return st;
}

/* ---- the parts ---- */

/* Where a command looks that is not told otherwise. */
static const char *usual_store(void)
{
    const char *usual = getenv("WINNOW_STORE");
    return usual && *usual ? usual : WNI_STORE_DEFAULT;
}

static const char *store_of(const struct studyfile *file)
{
    return file->store ? file->store : usual_store();
}

/* There was none when existing.c looked. */
static wn_status fail_made_meanwhile(const char *name, const char *url, struct err *err)
{
    return wni_fail(err, WN_EINVAL,
                    "study '%s' was made in %s by another process just now: help it with 'winnow worker %s', "
                    "or give this one another --name",
                    name, url, name);
}

struct run {
    const struct studyfile *file;
    const char *text; /* of the file */
    const struct run_options *options;
    struct buf folder;
    const char **env; /* pairs */
    struct study study;
    size_t known; /* setups of the study that were told */
    bool changed; /* the last one is ours */
    struct backend backend;
    struct tuner_setup tuner;
    struct tuner_result result;
    wn_status status; /* of the loop */
    struct live live;
};

/* The file says the command; what the parameters are says the study, which may have been widened. */
static wn_status expand(void *context, uint32_t trial, const double *config, struct arena *arena,
                        const char *const **argv, struct err *err)
{
    const struct run *r = context;
    const struct studyfile *file = r->file;
    struct command_values values = {&r->study.space, config, file->resource.min, file->resource.max, trial};
    return wni_command_expand(&file->command, &values, arena, argv, err);
}

static double age(const struct study *study)
{
    return fmax(0, wni_clock_wall() - study->created);
}

static wn_status open_study(struct run *r, struct err *err)
{
    struct store store;
    const struct studyfile *file = r->file;
    const struct study_setup *stored = r->options->stored;
    const char *url = store_of(file);
    struct study_setup given = wni_setup_of_file(file, r->text), setup = stored ? *stored : given;
    wn_status st = wni_store_open(&store, url, file->name, setup.space, err);
    if (st) return st;
    setup.lease = LEASE_SECONDS;
    setup.retries = given.retries;
    setup.holds = true;
    setup.is_new = !stored;
    st = wni_study_open(&r->study, &setup, &store, err);
    if (st == WN_ESTATE && !stored) return fail_made_meanwhile(file->name, url, err);
    if (!st && r->options->change) st = wni_study_change(&r->study, &given, age(&r->study), &r->changed, err);
    if (!st) r->known = r->study.n_versions - r->changed;
    return st;
}

static wn_status open_backend(struct run *r, struct err *err)
{
    const struct studyfile *f = r->file;
    r->env = wni_new(const char *, 2 * f->n_env);
    if (!r->env) return wni_fail_memory(err);
    for (size_t i = 0; i < f->n_env; i++) {
        r->env[2 * i] = f->env[i].name;
        r->env[2 * i + 1] = f->env[i].value;
    }
    if (f->folder)
        wni_buf_puts(&r->folder, f->folder);
    else
        wni_buf_printf(&r->folder, "winnow-runs/%s", f->name);
    if (r->folder.failed) return wni_fail_memory(err);
    return wni_backend_open(&r->backend, f->backend,
                            &(struct backend_setup){.workers = (unsigned)f->workers,
                                                    .study = f->name,
                                                    .folder = r->folder.data,
                                                    .space = &r->study.space,
                                                    .expand = expand,
                                                    .context = r,
                                                    .metric = f->metric.name,
                                                    .resource = f->resource.name,
                                                    .pattern = f->pattern,
                                                    .min_resource = f->resource.min,
                                                    .max_resource = f->resource.max,
                                                    .timeout = f->trial.timeout,
                                                    .grace = f->trial.grace,
                                                    .gpus = f->gpus,
                                                    .n_gpus = f->n_gpus,
                                                    .env = r->env,
                                                    .n_env = f->n_env,
                                                    .tick = TICK_SECONDS,
                                                    .interrupts = true},
                            err);
}

/* ---- while it runs ---- */

static void set_limits(struct run *r, const struct studyfile *f)
{
    r->tuner.limits = (struct tuner_limits){.trials = (uint64_t)f->stop.trials,
                                            .reports = (uint64_t)f->stop.results,
                                            .resource = f->stop.resource,
                                            .seconds = f->stop.time};
    r->study.max_trials = r->tuner.limits.trials;
}

/* The newest file's, as far as no flag of ours says otherwise. */
static void take_limits(struct run *r)
{
    struct studyfile fresh;
    const char *text = wni_study_setup(&r->study)->file;
    if (!text) return;
    int code = wni_study_from_stored(r->options->own, text, r->file->name, store_of(r->file), &fresh);
    if (code == EXIT_DONE) set_limits(r, &fresh);
    wni_studyfile_release(&fresh);
}

static void tell_change(struct run *r, size_t version)
{
    struct setup_version *const *v = r->study.versions;
    bool ours = r->changed && version + 1 == r->study.n_versions;
    struct buf text = {0};
    wni_buf_puts(&text, ours ? "From here on:\n" : "Changed from elsewhere, and adopted here:\n");
    wni_describe_changes(&v[version - 1]->stored.setup, &v[version]->stored.setup, "  ", &text);
    if (!text.failed) text.data[text.len - 1] = '\0';
    if (!text.failed) wni_live_say(&r->live, text.data);
    wni_buf_release(&text);
}

/* Somebody has changed the study: what it searches is adopted by the study itself, the limits here.  Command,
 * workers and time limits of trials stay as this process was started. */
static void notice_changes(struct run *r)
{
    bool ours = r->changed && r->known + 1 == r->study.n_versions;
    if (r->known == r->study.n_versions) return;
    for (; r->known < r->study.n_versions; r->known++)
        tell_change(r, r->known);
    if (!ours) take_limits(r);
    r->changed = false;
}

static void tell_interrupted(struct run *r)
{
    const struct history *h = &r->study.history;
    size_t n = 0;
    char text[100];
    for (size_t i = 0; i < h->n_retries; i++)
        n += h->trials[h->retries[i]].state == WN_PAUSED;
    if (!n) return;
    snprintf(text, sizeof text, "%zu trial%s interrupted: continuing with %s first.", n,
             n == 1 ? " was" : "s were", n == 1 ? "it" : "them");
    wni_live_say(&r->live, text);
}

/* Trials of a runner that was killed, or of a machine that went down, are found now rather than at the first
 * ask, so that they can be told of. */
static wn_status find_lost(struct run *r, struct err *err)
{
    const struct history *h = &r->study.history;
    size_t lost = h->by_state[WN_LOST], retries = h->n_retries;
    char text[200];
    wn_status st = wni_study_sync(&r->study, age(&r->study), err);
    if (st || h->by_state[WN_LOST] <= lost) return st;
    lost = h->by_state[WN_LOST] - lost;
    retries = h->n_retries > retries ? h->n_retries - retries : 0;
    const char *again = retries == lost ? "run again"
                        : retries       ? "in part run again"
                                        : "not run again (trial.retries)";
    snprintf(text, sizeof text, "%zu trial%s lost when %s runner ended without a word: %s %s.", lost,
             lost == 1 ? " was" : "s were", lost == 1 ? "its" : "their", lost == 1 ? "it is" : "they are",
             again);
    wni_live_say(&r->live, text);
    return WN_OK;
}

/* The place for everything that must happen now and then, whatever the trials do. */
static wn_status on_duty(void *context, struct study *study, struct err *err)
{
    struct live *live = context;
    (void)err;
    notice_changes((struct run *)((char *)live - offsetof(struct run, live)));
    wni_live_draw(live, study);
    return WN_OK;
}

static enum keep_checkpoints kept(const char *which)
{
    return !strcmp(which, "all") ? KEEP_ALL : !strcmp(which, "none") ? KEEP_NONE : KEEP_BEST;
}

static void set_up_tuner(struct run *r)
{
    const struct studyfile *f = r->file;
    r->tuner = (struct tuner_setup){.workers = (unsigned)f->workers,
                                    .duty_seconds = TICK_SECONDS,
                                    .began = age(&r->study),
                                    .give_up = r->options->give_up,
                                    .give_up_silent = r->options->give_up_silent,
                                    .keep = kept(f->trial.checkpoints),
                                    .settle = true,
                                    .interrupt_ends = r->options->interrupt_ends};
    set_limits(r, f);
    wni_live_start(&r->live, f, &r->study, &r->tuner.limits, r->options->quiet);
    wni_live_watch(&r->live, &r->tuner.watcher);
    r->tuner.watcher.on_duty = on_duty;
    notice_changes(r);
}

/* ---- what came of it ---- */

static const char *why_it_ended(const struct run *r)
{
    if (r->result.gave_up) return "gave up";
    if (r->status) return "error";
    if (r->result.interrupted) return "interrupted";
    return r->result.exhausted ? "nothing left to try" : "limit";
}

static void print_states(const struct history *h, FILE *out, bool json)
{
    const char *separator = "";
    for (size_t i = WN_RUNNING; i <= WN_CANCELLED; i++) {
        if (!h->by_state[i]) continue;
        fprintf(out, json ? "%s\"%s\": %zu" : "%s%s %zu", separator, wn_state_name((wn_state)i),
                h->by_state[i]);
        separator = ", ";
    }
}

static void print_best(const struct run *r)
{
    const struct history *h = &r->study.history;
    char scratch[WN_WHY_MAX], number[WNI_NUMBER_MAX];
    const double *config = wni_history_config(h, h->best_trial);
    wni_format_double(r->study.sign * h->best_value, number);
    printf("best %s: %s", r->file->metric.name, number);
    if (r->file->resource.name) printf(" at %s %.15g", r->file->resource.name, h->resources[h->best_report]);
    printf(", trial %u\n", h->best_trial);
    for (size_t i = 0; i < r->study.space.n; i++) {
        const struct param *p = &r->study.space.params[i];
        printf("  %-16s %s\n", p->name, wni_param_text(p, config[i], scratch));
    }
}

/* For a study in which nothing ever worked. */
static void print_mend(const struct run *r)
{
    const char *path = r->options->path;
    const char *more = r->result.gave_up_silent ? " (--give-up N: not before N failures in a row)" : "";
    if (!r->options->begins)
        printf("no trial reported: mend the program and go on: winnow resume %s; or mend the study file and "
               "start over: winnow run FILE%s\n",
               r->file->name, more);
    else
        printf("no trial reported: mend the program or the study and start over: %s%s%s\n",
               path ? "winnow run " : "run the same command again", path ? path : "", more);
}

/* What a command needs to find the study, after its name. */
static void print_store(const struct run *r)
{
    const char *url = store_of(r->file);
    if (strcmp(url, usual_store()) != 0) printf(" --store %s", url);
    putchar('\n');
}

/* The command that helps: the same again only where that does something. */
static void print_next(const struct run *r)
{
    const struct history *h = &r->study.history;
    const struct tuner_limits *limits = &r->tuner.limits;
    const char *name = r->file->name;
    bool cut = r->status || r->result.interrupted;
    printf("the study is in %s; ", store_of(r->file));
    if (h->n_reports == 0 && !r->result.interrupted) {
        print_mend(r);
        return;
    }
    if (!cut && r->result.exhausted) {
        printf("there is nothing left to try\n");
        return;
    }
    if (!cut && limits->trials && h->n_trials >= limits->trials)
        printf("its limit of %llu trial%s is reached; go on with more: winnow resume %s --trials %zu",
               (unsigned long long)limits->trials, limits->trials == 1 ? "" : "s", name, 2 * h->n_trials);
    else if (!cut && limits->reports && h->n_reports >= limits->reports)
        printf("its limit of %llu report%s is reached; go on with more: winnow resume %s --results %zu",
               (unsigned long long)limits->reports, limits->reports == 1 ? "" : "s", name, 2 * h->n_reports);
    else if (!cut && limits->resource > 0 && h->total_resource >= limits->resource)
        printf("its limit of %.15g %ss in all is reached; go on with more: winnow resume %s --total-resource "
               "%.15g",
               limits->resource, r->file->resource.name ? r->file->resource.name : "report", name,
               2 * h->total_resource);
    else
        printf("go on with it: winnow resume %s", name);
    print_store(r);
}

static void print_text(const struct run *r)
{
    const struct history *h = &r->study.history;
    if (h->best_trial == TRIAL_NONE)
        printf("no trial reported a finite %s\n", r->file->metric.name);
    else
        print_best(r);
    printf("%zu trial%s (", h->n_trials, h->n_trials == 1 ? "" : "s");
    print_states(h, stdout, false);
    printf("), %zu report%s, %.1f s%s; ended by: %s\n", h->n_reports, h->n_reports == 1 ? "" : "s",
           r->result.seconds, r->options->begins ? "" : " this time", why_it_ended(r));
    printf("what trials printed and saved is in %s\n", r->folder.data);
    bool removed = r->status == WN_ENOTFOUND; /* while it ran */
    if (r->study.store.ops->catalog && !removed) print_next(r);
}

static wn_status print_json(const struct run *r)
{
    const struct history *h = &r->study.history;
    struct buf text = {0};
    wni_buf_puts(&text, "{\"study\": ");
    wni_buf_json_string(&text, r->file->name);
    if (h->best_trial != TRIAL_NONE) {
        wni_buf_printf(&text, ", \"best\": {\"trial\": %u, \"value\": ", h->best_trial);
        wni_buf_json_double(&text, r->study.sign * h->best_value);
        wni_buf_puts(&text, ", \"resource\": ");
        wni_buf_json_double(&text, h->resources[h->best_report]);
        wni_buf_puts(&text, ", \"config\": ");
        wni_config_write(&r->study.space, wni_history_config(h, h->best_trial), &text);
        wni_buf_putc(&text, '}');
    }
    wni_buf_printf(&text, ", \"trials\": %zu, \"reports\": %zu, \"seconds\": ", h->n_trials, h->n_reports);
    wni_buf_json_double(&text, round(r->result.seconds * 1000) / 1000);
    wni_buf_puts(&text, ", \"ended_by\": ");
    wni_buf_json_string(&text, why_it_ended(r));
    wni_buf_puts(&text, ", \"folder\": ");
    wni_buf_json_string(&text, wni_buf_text(&r->folder));
    wni_buf_puts(&text, ", \"states\": {");
    if (!text.failed) {
        fputs(text.data, stdout);
        print_states(h, stdout, true);
        puts("}}");
    }
    wn_status st = text.failed ? WN_ENOMEM : WN_OK;
    wni_buf_release(&text);
    return st;
}

static void print_plot(const struct run *r)
{
    enum { WIDTH = 80 };
    struct buf text = {0};
    bool color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    wni_run_plot(r->file, &r->study, &r->live.curve, r->result.seconds, WIDTH, color, &text);
    if (!text.failed) printf("\n%s", wni_buf_text(&text));
    wni_buf_release(&text);
}

/* ---- together ---- */

static wn_status run_loop(struct run *r, struct err *err)
{
    wn_status st = open_study(r, err);
    if (st) return st;
    st = open_backend(r, err);
    if (!st) {
        set_up_tuner(r);
        tell_interrupted(r);
        st = find_lost(r, err);
        if (!st) st = wni_tuner_run(&r->study, &r->backend, &r->tuner, &r->result, err);
        r->status = st;
        r->backend.ops->close(r->backend.self);
        wni_live_end(&r->live);
        bool any = r->study.history.n_trials > 0;
        if (any && !strcmp(r->options->format, "text")) print_text(r);
        if (any && !strcmp(r->options->format, "json") && print_json(r) && !st) st = wni_fail_memory(err);
        if (any && r->options->plot) print_plot(r);
    }
    return st;
}

/* Something came out of it: a trial that was not a failure reported. */
static bool is_success(const struct history *h)
{
    return h->best_trial != TRIAL_NONE && h->by_state[WN_COMPLETE] + h->by_state[WN_STOPPED] +
                                                  h->by_state[WN_PAUSED] + h->by_state[WN_CANCELLED] >
                                              0;
}

int wni_run_study(const struct studyfile *file, const char *text, const struct run_options *options)
{
    struct run r = {.file = file, .text = text, .options = options};
    struct err err = {0};
    const char *url = store_of(file);
    wn_status st = options->begins ? wni_make_way(url, file->name, text, options->quiet, &err) : WN_OK;
    if (!st) st = run_loop(&r, &err);
    int code = EXIT_DONE;
    if (st)
        code = wni_complain(&err, st);
    else if (r.result.interrupted)
        code = EXIT_INTERRUPTED;
    else if (!is_success(&r.study.history))
        code = EXIT_FAILED;
    wni_study_release(&r.study);
    wni_buf_release(&r.folder);
    wni_best_curve_release(&r.live.curve);
    free(r.env);
    return code;
}
