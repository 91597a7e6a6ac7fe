/* cmd_replay.c -- winnow replay: would the same study be proposed today? */
#include "cli/progress.h"
#include "cli/study_option.h"
#include "tuner/replay.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct shown {
    struct progress progress;
    uint64_t events;
};

static bool show(void *context, uint64_t events)
{
    struct shown *s = context;
    char text[64];
    snprintf(text, sizeof text, "event %llu of %llu", (unsigned long long)events,
             (unsigned long long)s->events);
    wni_progress_show(&s->progress, text, (double)events / (double)s->events);
    return true;
}

static void put_json(const struct opened_study *s, const struct replay *r, const double *proposal,
                     struct buf *out)
{
    wni_buf_puts(out, "{\"study\": ");
    wni_buf_json_string(out, s->name);
    wni_buf_printf(out, ", \"identical\": %s, \"proposals\": %llu, \"given\": %llu",
                   r->differs == TRIAL_NONE ? "true" : "false", (unsigned long long)r->proposals,
                   (unsigned long long)r->queued);
    if (r->differs != TRIAL_NONE) {
        wni_buf_printf(out, ", \"trial\": %u, \"logged\": ", r->differs);
        wni_config_write(&s->study.space, wni_history_config(&s->study.history, r->differs), out);
        wni_buf_puts(out, ", \"proposed\": ");
        if (r->exhausted)
            wni_buf_puts(out, "null");
        else
            wni_config_write(&s->study.space, proposal, out);
    }
    wni_buf_puts(out, "}\n");
}

static void put_difference(const struct opened_study *s, const struct replay *r, const double *proposal,
                           struct buf *out)
{
    const double *logged = wni_history_config(&s->study.history, r->differs);
    char a[WN_WHY_MAX], b[WN_WHY_MAX];
    wni_buf_printf(out, "study '%s' differs at trial %u, after %llu proposals that are the same\n", s->name,
                   r->differs, (unsigned long long)r->proposals);
    if (r->exhausted) wni_buf_puts(out, "  the searcher has nothing left to propose there\n");
    for (size_t i = 0; i < s->study.space.n && !r->exhausted; i++) {
        const struct param *p = &s->study.space.params[i];
        if (logged[i] == proposal[i]) continue;
        wni_buf_printf(out, "  %-16s logged %s, proposed now %s\n", p->name, wni_param_text(p, logged[i], a),
                       wni_param_text(p, proposal[i], b));
    }
}

static void put_text(const struct opened_study *s, const struct replay *r, const double *proposal,
                     struct buf *out)
{
    if (r->differs != TRIAL_NONE) {
        put_difference(s, r, proposal, out);
        return;
    }
    wni_buf_printf(out, "study '%s': %llu proposal%s, bit-identical", s->name,
                   (unsigned long long)r->proposals, r->proposals == 1 ? "" : "s");
    if (r->queued) wni_buf_printf(out, "; %llu given by the user", (unsigned long long)r->queued);
    wni_buf_putc(out, '\n');
}

static wn_status replay(const struct args *args, const struct opened_study *s, struct replay *r,
                        struct err *err)
{
    struct shown shown = {.events = s->study.history.n_events};
    struct buf out = {0};
    double *proposal = wni_new(double, s->study.space.n);
    if (!proposal) return wni_fail_memory(err);
    wni_progress_start(&shown.progress);
    wn_status st = wni_replay(&s->study, &s->setup.setup, r, proposal, show, &shown, err);
    wni_progress_end(&shown.progress);
    if (!st) (strcmp(wni_arg(args, "format"), "json") ? put_text : put_json)(s, r, proposal, &out);
    if (!st && out.failed) st = wni_fail_memory(err);
    if (!st) fputs(out.data, stdout);
    wni_buf_release(&out);
    free(proposal);
    return st;
}

static int run(struct args *args)
{
    struct err err = {0};
    struct opened_study s;
    struct replay r = {.differs = TRIAL_NONE};
    int code = EXIT_DONE;
    wn_status st = wni_open_study_option(args, 0, &s, &err);
    if (!st) st = replay(args, &s, &r, &err);
    if (st)
        code = wni_complain(&err, st);
    else if (r.differs != TRIAL_NONE)
        code = EXIT_FAILED;
    wni_close_study(&s);
    return code;
}

static const struct cli_option options[] = {
    STORE_OPTION,
    STUDY_OPTION,
    TEXT_FORMAT_OPTION("how to print the verdict"),
    {0},
};

const struct cli_command wni_cmd_replay = {
    .name = "replay",
    .summary = "recompute every proposal of a study and compare it with the log",
    .words = "[STUDY]",
    .max_words = 1,
    .about =
        "A proposal depends on the study's setup, its seed, the number of the trial and the events before "
        "it, "
        "and on nothing else. This command makes each one again from the log and compares it bit by bit. It "
        "takes as long as the proposals took. Configurations that the user gave or imported have nothing to "
        "be compared with and are counted apart.\n\n"
        "Exit codes: 0 all the same, 1 there is a difference (the first one is printed), 2 no such study.",
    .options = options,
    .examples = "winnow replay\n"
                "winnow replay mlp --format json",
    .run = run,
};
