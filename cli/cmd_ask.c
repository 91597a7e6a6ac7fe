/* cmd_ask.c -- winnow ask: hands out the next trial of a study to a script. */
#include "cli/study_option.h"

#include "base/clock.h"
#include "base/duration.h"
#include "studyfile/studyfile.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { EXIT_WAIT = 3, EXIT_EXHAUSTED = 4 };

static void nap(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&t, NULL);
}

/* Asks until there is a trial, or `patience` seconds are over. */
static wn_status ask(struct opened_study *s, double patience, struct handout *out, struct err *err)
{
    double end = wni_clock_seconds() + patience, pause = 0.05;
    for (;;) {
        wn_status st = wni_study_ask(&s->study, wni_study_clock(s), out, err);
        double left = end - wni_clock_seconds();
        if (st != WN_WAIT || left <= 0) return st;
        nap(fmin(pause, left));
        pause = fmin(2 * pause, 1);
    }
}

static void put_json(const struct opened_study *s, const struct handout *job, struct buf *out)
{
    const struct study_setup *u = &s->setup.setup;
    wni_buf_printf(out, "{\"trial\": %u, \"attempt\": %u, \"resumed_from\": ", job->trial, job->attempt);
    wni_buf_json_double(out, job->resumed_from);
    wni_buf_puts(out, ", \"max_resource\": ");
    wni_buf_json_double(out, u->max_resource > 0 ? u->max_resource : NAN);
    wni_buf_puts(out, ", \"config\": ");
    wni_config_write(&s->study.space, job->config, out);
    wni_buf_puts(out, "}\n");
}

/* The names are those that 'winnow run' gives its commands. */
static void put_env(const struct opened_study *s, const struct handout *job, struct buf *out)
{
    struct buf json = {0};
    wni_config_write(&s->study.space, job->config, &json);
    wni_buf_printf(out, "WINNOW_TRIAL=%u\nWINNOW_ATTEMPT=%u\nWINNOW_RESUMED_FROM=", job->trial, job->attempt);
    wni_buf_double(out, job->resumed_from);
    if (s->setup.setup.max_resource > 0)
        wni_buf_printf(out, "\nWINNOW_RESOURCE_MAX=%.15g", s->setup.setup.max_resource);
    wni_buf_puts(out, "\nWINNOW_PARAMS=");
    wni_buf_shell(out, wni_buf_text(&json));
    wni_buf_putc(out, '\n');
    wni_config_env(&s->study.space, job->config, out);
    if (json.failed) out->failed = true;
    wni_buf_release(&json);
}

static void put_flags(const struct opened_study *s, const struct handout *job, struct buf *out)
{
    wni_buf_printf(out, "%u ", job->trial);
    wni_config_flags(&s->study.space, job->config, out);
    wni_buf_putc(out, '\n');
}

static wn_status print(const struct opened_study *s, const struct handout *job, const char *format,
                       struct err *err)
{
    struct buf out = {0};
    if (!strcmp(format, "env"))
        put_env(s, job, &out);
    else if (!strcmp(format, "flags"))
        put_flags(s, job, &out);
    else
        put_json(s, job, &out);
    wn_status st = out.failed ? wni_fail_memory(err) : WN_OK;
    if (!st) fputs(out.data, stdout);
    wni_buf_release(&out);
    return st;
}

/* The study's file says how many trials there are to be; its other limits end the study where it stands, but
 * for time, which is up to whoever runs it. */
static bool set_limits(struct opened_study *s)
{
    struct studyfile file;
    const struct history *h = &s->study.history;
    wni_stored_studyfile(s, &file);
    s->study.max_trials = (uint64_t)file.stop.trials;
    bool over = (file.stop.results && h->n_reports >= (uint64_t)file.stop.results) ||
                (file.stop.resource > 0 && h->total_resource >= file.stop.resource);
    wni_studyfile_release(&file);
    return over;
}

/* Nothing was handed out: says why. */
static int say_why(const struct opened_study *s, wn_status st, bool over)
{
    bool full = s->study.max_trials && s->study.history.n_trials >= s->study.max_trials;
    const char *why = wn_status_text(st);
    if (over) why = "the study has used up its budget";
    if (st == WN_EXHAUSTED && full) why = "the study has all the trials it should have";
    fprintf(stderr, "winnow: %s\n", why);
    return st == WN_WAIT ? EXIT_WAIT : EXIT_EXHAUSTED;
}

static wn_status read_seconds(const struct args *args, const char *name, double *out, struct err *err)
{
    const char *text = wni_arg(args, name);
    if (!text || wni_duration_parse(text, out)) return WN_OK;
    return wni_fail(err, WN_EINVAL, "--%s: expected a time such as 30s or 5m, got '%s'", name, text);
}

static int answer(const struct args *args, struct opened_study *s, double patience)
{
    struct err err = {0};
    struct handout job;
    bool over = set_limits(s);
    wn_status st = over ? WN_EXHAUSTED : ask(s, patience, &job, &err);
    if (st > 0) return say_why(s, st, over);
    if (!st) st = print(s, &job, wni_arg(args, "format"), &err);
    return st ? wni_complain(&err, st) : EXIT_DONE;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s = {0};
    double patience = 0, lease = 0;
    const char *file = wni_arg(args, "file");
    wn_status st = read_seconds(args, "wait", &patience, &err);
    if (!st) st = read_seconds(args, "lease", &lease, &err);
    if (!st && wni_arg(args, "lease") && !file)
        st = wni_fail(&err, WN_EINVAL, "--lease goes with --file: it is set when the study is created");
    int code = EXIT_DONE;
    if (!st && file)
        code = wni_open_study_file(args, file, lease, &s);
    else if (!st)
        st = wni_open_study_option(args, NO_WORD, &s, &err);
    if (st)
        code = wni_complain(&err, st);
    else if (code == EXIT_DONE)
        code = answer(args, &s, patience);
    wni_close_study(&s);
    return code;
}

static const struct cli_option options[] = {
    {.name = "file",
     .value = "STUDY.yaml",
     .help = "create the study from this file if it is not there; it needs no command, and none is run"},
    {.name = "wait",
     .value = "TIME",
     .help = "when there is nothing to hand out yet, wait for so long: 30s, 5m"},
    {.name = "lease",
     .value = "TIME",
     .help =
         "with --file, for a new study: a trial without a report for so long is lost, and given out again if "
         "the file has retries"},
    STORE_OPTION,
    STUDY_OPTION,
    {.name = "format",
     .value = "FORMAT",
     .fallback = "json",
     .choices = "json|env|flags",
     .help = "how to print the trial"},
    {0},
};

const struct cli_command wni_cmd_ask = {
    .name = "ask",
    .summary = "hand out the next trial of a study, for scripts",
    .words = "",
    .about =
        "Together with 'winnow report' and 'winnow tell' this drives a study from any language that can "
        "start "
        "a program. The trial is yours until you tell how it ended.\n\n"
        "json: {\"trial\": 3, \"attempt\": 1, \"resumed_from\": 0, \"max_resource\": 81, \"config\": {...}}. "
        "env: shell variables WINNOW_TRIAL, WINNOW_ATTEMPT, WINNOW_RESUMED_FROM, WINNOW_RESOURCE_MAX, "
        "WINNOW_PARAMS and param_NAME for each parameter. flags: the trial's number, then --NAME VALUE for "
        "each parameter, quoted for a shell.\n\n"
        "Exit codes: 0 a trial was handed out, 3 nothing to start before a running trial reports or ends, "
        "4 the study is complete, 1 and 2 something went wrong.",
    .options = options,
    .examples = "winnow ask --file study.yaml               # creates the study the first time\n"
                "eval \"$(winnow ask --format env)\"          # then $WINNOW_TRIAL and $param_lr are set\n"
                "winnow ask --format flags | { read -r trial flags; eval \"./train $flags\"; }\n"
                "winnow ask --study mlp --wait 10m",
    .run = run,
};
