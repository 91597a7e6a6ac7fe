/* test_tuner.c -- tuner/tuner.h against a backend that notes what it is told: who is started, stopped and
 * kept when.
 *
 * The backend has a clock that advances by 1 with everything that happens.  Its trials take turns, each
 * reporting 1, 2, 3,
 * ... up to `levels` and then ending by itself, unless a test says otherwise. */
#include "tests/check.h"

#include "tuner/tuner.h"

enum { TRIALS_MAX = 512, WORKERS_MAX = 64 };

struct turn {
    uint32_t trial;
    double at;
};

struct stage {
    double levels;
    wn_state end;                          /* how a trial ends that nobody stops */
    double breaks_at;                      /* it ends at this level, before reporting it; 0: never */
    long fail_start, fail_stop, fail_next; /* the n-th such call fails; 0: never */
    unsigned fail_runs;                    /* so many runs of each trial end as FAILED at breaks_at */
    bool hopeless, silent;                 /* an end that is FAILED says so */
    uint32_t works_from;                   /* trials from this number on never break; 0: all do */
    double interrupt_at, again_at;         /* when someone wants it to end; 0: never */
    double ticks_until;                    /* up to this time nothing happens but ticks */
    unsigned together;                     /* see pending() */
    bool looked;                           /* something has happened, and was seen */
    const struct study *study;             /* whose trials they are, for start_known() */

    double clock, charged;
    struct turn running[WORKERS_MAX]; /* the head is next */
    size_t n_running, most_running;
    unsigned starts, stops, nexts, charges, closes;
    double last_start; /* when it was */
    unsigned rushed;   /* starts since which nothing was heard of those that run */
    struct {
        unsigned starts, stops, kept, completed, discarded;
        double resumed_from;
    } told[TRIALS_MAX]; /* by trial */
};

static wn_status start(void *self, uint32_t trial, const double *config, bool again, double resumed_from,
                       struct err *err)
{
    (void)again;
    struct stage *s = self;
    if (s->fail_start && ++s->starts == s->fail_start)
        return wni_fail(err, WN_EIO, "no process for trial %u", trial);
    CHECK(s->n_running < WORKERS_MAX && trial < TRIALS_MAX, "trial %u, %zu running", trial, s->n_running);
    CHECK(config[0] >= 0 && config[0] <= 100, "configuration %g", config[0]);
    for (size_t i = 0; i < s->n_running; i++)
        CHECK(s->running[i].trial != trial, "trial %u runs already", trial);
    s->rushed += s->n_running > 0 && s->clock == s->last_start;
    s->last_start = s->clock;
    s->running[s->n_running++] = (struct turn){trial, resumed_from};
    if (s->n_running > s->most_running) s->most_running = s->n_running;
    s->told[trial].starts++;
    s->told[trial].resumed_from = resumed_from;
    return WN_OK;
}

static void take_out(struct stage *s, size_t i)
{
    memmove(&s->running[i], &s->running[i + 1], (--s->n_running - i) * sizeof *s->running);
}

static wn_status stop(void *self, uint32_t trial, bool keep, struct err *err)
{
    struct stage *s = self;
    if (s->fail_stop && ++s->stops == s->fail_stop)
        return wni_fail(err, WN_EIO, "trial %u does not end", trial);
    for (size_t i = 0; i < s->n_running; i++)
        if (s->running[i].trial == trial) {
            take_out(s, i);
            s->told[trial].stops++;
            s->told[trial].kept += keep;
            return WN_OK;
        }
    fail_msg("trial %u is told to stop and does not run", trial);
    return WN_OK;
}

static wn_status complete(void *self, uint32_t trial, struct err *err)
{
    struct stage *s = self;
    s->told[trial].completed++;
    for (size_t i = 0; i < s->n_running; i++)
        if (s->running[i].trial == trial) {
            take_out(s, i);
            return WN_OK;
        }
    return wni_fail(err, WN_ENOTFOUND, "trial %u does not run", trial);
}

static void discard(void *self, uint32_t trial)
{
    struct stage *s = self;
    for (size_t i = 0; i < s->n_running; i++)
        CHECK(s->running[i].trial != trial, "trial %u runs and loses its checkpoint", trial);
    s->told[trial].discarded++;
}

static double value_of(uint32_t trial, double at)
{
    return (double)((trial * 7 + 3) % 11) + 1 / at;
}

static wn_status next(void *self, struct happening *out, struct err *err)
{
    struct stage *s = self;
    if (s->fail_next && ++s->nexts == s->fail_next) return wni_fail(err, WN_EIO, "the wire is cut");
    s->looked = false;
    if (s->clock < s->ticks_until) {
        *out = (struct happening){.kind = HAPPENED_TICK, .time = ++s->clock};
        return WN_OK;
    }
    if ((s->interrupt_at > 0 && s->clock + 1 == s->interrupt_at) ||
        (s->again_at > 0 && s->clock + 1 == s->again_at)) {
        s->clock++;
        *out = (struct happening){
            .kind = HAPPENED_INTERRUPT, .urgent = s->clock == s->again_at, .time = s->clock};
        return WN_OK;
    }
    if (!s->n_running) fail_msg("waits for nothing");
    struct turn turn = s->running[0];
    take_out(s, 0);
    s->clock++;
    turn.at++;
    *out = (struct happening){.kind = HAPPENED_END, .trial = turn.trial, .state = s->end, .time = s->clock};
    out->detail = "so it is";
    bool breaks =
        s->breaks_at > 0 && turn.at >= s->breaks_at && !(s->works_from && turn.trial >= s->works_from);
    if (breaks && s->fail_runs > 0) {
        breaks = s->told[turn.trial].starts <= s->fail_runs;
        out->state = WN_FAILED;
    }
    out->hopeless = s->hopeless && breaks;
    out->silent = s->silent && breaks;
    if (turn.at > s->levels || breaks) return WN_OK;
    out->kind = HAPPENED_REPORT;
    out->resource = turn.at;
    out->value = value_of(turn.trial, turn.at);
    s->running[s->n_running++] = turn; /* to the end of the line */
    return WN_OK;
}

static double now(const void *self)
{
    return ((const struct stage *)self)->clock;
}

static void charge(void *self, double seconds)
{
    struct stage *s = self;
    s->charges++;
    s->charged += seconds;
}

static void close_stage(void *self)
{
    ((struct stage *)self)->closes++;
}

static const struct backend_ops stage_ops = {.name = "stage",
                                             .start = start,
                                             .stop = stop,
                                             .next = next,
                                             .now = now,
                                             .charge = charge,
                                             .close = close_stage};

/* Happenings come `together` at a time, as those of processes do. */
static bool pending(const void *self)
{
    const struct stage *s = self;
    return s->n_running > 0 && (s->looked || (unsigned)s->clock % s->together != 0);
}

static void look(void *self)
{
    ((struct stage *)self)->looked = true;
}

/* Nothing is started that the log does not know. */
static wn_status start_known(void *self, uint32_t trial, const double *config, bool again,
                             double resumed_from, struct err *err)
{
    struct stage *s = self;
    CHECK(!s->study->batch.entered, "trial %u is started before it is written", trial);
    return start(self, trial, config, again, resumed_from, err);
}

static const struct backend_ops crowd_ops = {.name = "crowd",
                                             .ticks = true,
                                             .start = start_known,
                                             .stop = stop,
                                             .complete = complete,
                                             .discard = discard,
                                             .next = next,
                                             .pending = pending,
                                             .look = look,
                                             .now = now,
                                             .close = close_stage};

static const struct backend_ops process_ops = {.name = "processes",
                                               .ticks = true,
                                               .start = start,
                                               .stop = stop,
                                               .complete = complete,
                                               .discard = discard,
                                               .next = next,
                                               .now = now,
                                               .close = close_stage};

/* ---- a run ---- */

struct run {
    struct study study;
    struct stage stage;
    struct tuner_result result;
    struct err err;
    unsigned heard; /* on_report() */
    unsigned ended[WN_CANCELLED + 1], retries, interrupts, duties;
    uint32_t cancel; /* a trial that someone else ends at the first duty; 0: none */
    char detail[256];
    bool processes; /* the backend knows all that processes do */
};

static void open_run(struct run *r, const char *scheduler, const char *options, double max, int values)
{
    struct space space;
    struct store store;
    *r = (struct run){.stage = {.levels = max, .end = WN_COMPLETE}};
    wni_space_init(&space);
    struct param_decl decl = {.name = "n", .kind = PARAM_INT, .max = values - 1};
    CHECK_OK(wni_space_add(&space, &decl, &r->err), r->err);
    CHECK_OK(wni_store_open(&store, "memory:", "run", &space, &r->err), r->err);
    struct study_setup setup = {.space = &space,
                                .scheduler = scheduler,
                                .searcher = "random",
                                .options = {options},
                                .max_resource = max};
    CHECK_OK(wni_study_open(&r->study, &setup, &store, &r->err), r->err);
    wni_space_release(&space);
}

static void hear(void *context, const struct study *study, const struct happening *report)
{
    struct run *r = context;
    const struct history *h = &study->history;
    r->heard++;
    CHECK_INT(report->kind, HAPPENED_REPORT);
    CHECK_INT(h->n_reports, r->heard); /* it was taken in before */
    CHECK_DOUBLE(h->values[h->n_reports - 1], report->value);
    CHECK_DOUBLE(report->time, r->stage.clock);
}

static void hear_end(void *context, const struct study *study, uint32_t trial, wn_state state,
                     const char *detail)
{
    struct run *r = context;
    CHECK_INT(study->history.trials[trial].state, state);
    r->ended[state]++;
    snprintf(r->detail, sizeof r->detail, "%s", detail ? detail : "");
}

static void hear_retry(void *context, const struct study *study, uint32_t trial, const char *detail)
{
    struct run *r = context;
    CHECK_INT(study->history.trials[trial].state, WN_FAILED);
    CHECK(study->history.trials[trial].retry, "it waits");
    CHECK_TEXT(detail, "so it is");
    r->retries++;
}

static void hear_interrupt(void *context, const struct study *study, bool urgent, unsigned running)
{
    struct run *r = context;
    (void)urgent;
    CHECK_INT(running, study->history.by_state[WN_RUNNING]);
    r->interrupts++;
}

static wn_status do_duty(void *context, struct study *study, struct err *err)
{
    struct run *r = context;
    r->duties++;
    if (!r->cancel || r->cancel >= study->history.n_trials) return WN_OK;
    uint32_t trial = r->cancel;
    r->cancel = 0;
    return wni_study_finish(study, trial, WN_CANCELLED, 0, err);
}

static wn_status run(struct run *r, struct tuner_setup setup)
{
    struct backend backend = {.ops = r->processes ? &process_ops : &stage_ops, .self = &r->stage};
    setup.watcher = (struct tuner_watcher){.on_report = hear, .context = r};
    if (r->processes) {
        setup.watcher.on_end = hear_end;
        setup.watcher.on_retry = hear_retry;
        setup.watcher.on_interrupt = hear_interrupt;
        setup.watcher.on_duty = do_duty;
    }
    wn_status st = wni_tuner_run(&r->study, &backend, &setup, &r->result, &r->err);
    CHECK_INT(r->stage.closes, 0); /* who opened it closes it */
    return st;
}

static size_t count(const struct run *r, wn_state state)
{
    return r->study.history.by_state[state];
}

/* ---- the loop ---- */

/* ---- batches ---- */

/* A store that counts, and fails when told to. */
static struct {
    unsigned commits, appends, fail_at;
} counted;

static wn_status count_commit(void *self, struct err *err)
{
    (void)self;
    if (++counted.commits == counted.fail_at) return wni_fail(err, WN_ESTORE, "the disk is full");
    return WN_OK;
}

static wn_status count_append(void *self, uint64_t seq, const struct event *e, const struct trial_row *row,
                              struct err *err)
{
    (void)self, (void)seq, (void)e, (void)row, (void)err;
    counted.appends++;
    return WN_OK;
}

static void hear_written(void *context, const struct study *study, const struct happening *report)
{
    struct run *r = context;
    r->heard++;
    CHECK(!study->batch.entered, "trial %u is heard of before it is written", report->trial);
    CHECK(r->heard <= study->history.n_reports, "a report is heard before it is taken in");
}

static void hear_written_end(void *context, const struct study *study, uint32_t trial, wn_state state,
                             const char *detail)
{
    struct run *r = context;
    CHECK(!study->batch.entered, "the end of trial %u is told before it is written", trial);
    CHECK(detail == NULL || !strcmp(detail, "so it is") || !strcmp(detail, "the run ended before it did") ||
              !strncmp(detail, "no process", 10),
          "'%s'", detail);
    r->ended[state]++;
}

/* With `together` happenings at a time.  `thinking`: seconds that a proposal is said to take. */
static wn_status run_crowd(struct run *r, unsigned together, double thinking, unsigned fail_at)
{
    static struct store_ops counting;
    counting = *r->study.store.ops;
    counting.commit = count_commit;
    counting.append = count_append;
    counted.commits = counted.appends = 0;
    counted.fail_at = fail_at;
    r->study.store.ops = &counting;
    r->study.batch.thinking = thinking;
    r->stage.together = together;
    r->stage.study = &r->study;
    struct backend backend = {.ops = &crowd_ops, .self = &r->stage};
    struct tuner_setup setup = {
        .workers = 8,
        .limits = {.trials = 40},
        .settle = true,
        .watcher = {.on_report = hear_written, .on_end = hear_written_end, .context = r}};
    return wni_tuner_run(&r->study, &backend, &setup, &r->result, &r->err);
}

static void what_happens_together_is_one_transaction(void **state)
{
    (void)state;
    unsigned commits[3];
    static const unsigned together[] = {1, 4, 8};
    for (int i = 0; i < 3; i++) {
        struct run r;
        open_run(&r, "fifo", "", 5, 101);
        CHECK_OK(run_crowd(&r, together[i], 0, 0), r.err);
        CHECK_INT(count(&r, WN_COMPLETE), 40);
        CHECK_INT(r.heard, 200);
        CHECK_INT(r.ended[WN_COMPLETE], 40);
        CHECK_INT(r.stage.most_running, 8);
        CHECK(r.stage.rushed > 0, "they start one by one");
        CHECK_INT(counted.appends, 40 * 7);
        commits[i] = counted.commits;
        wni_study_release(&r.study);
    }
    CHECK(commits[0] >= 200 && commits[1] < 70 && commits[2] < 40, "%u, %u and %u transactions", commits[0],
          commits[1], commits[2]);
}

/* Where proposals take long, nobody waits for the next: each trial is written and started by itself, and
 * those that run are heard before the next is thought of. */
static void slow_proposals_are_not_gathered(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "fifo", "", 5, 101);
    CHECK_OK(run_crowd(&r, 8, 1e9, 0), r.err);
    CHECK_INT(count(&r, WN_COMPLETE), 40);
    CHECK(counted.commits >= 70, "%u transactions", counted.commits);
    CHECK_INT(r.stage.rushed, 0);
    wni_study_release(&r.study);
}

/* What could not be written was not told, and nothing of it started. */
static void a_batch_that_fails_ends_the_run(void **state)
{
    (void)state;
    for (unsigned k = 1; k < 30; k++) {
        struct run r;
        open_run(&r, "fifo", "", 5, 101);
        CHECK_INT(run_crowd(&r, 4, 0, k), WN_ESTORE);
        CHECK_TEXT(r.err.text, "the disk is full");
        CHECK_INT(counted.commits, k); /* and no other was tried */
        CHECK_INT(r.stage.n_running, 0);
        CHECK(r.heard <= r.study.history.n_reports, "%u reports heard", r.heard);
        CHECK_INT(r.ended[WN_CANCELLED], 0);
        unsigned started = 0;
        for (int t = 0; t < 40; t++)
            started += r.stage.told[t].starts;
        CHECK(k > 1 ? started >= 8 : started == 0, "%u trials were started", started);
        wni_study_release(&r.study);
    }
}

/* A trial that cannot be started ends the run, and those asked for with it as well. */
static void a_batch_of_which_one_cannot_start(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "fifo", "", 5, 101);
    r.stage.fail_start = 3;
    CHECK_INT(run_crowd(&r, 4, 0, 0), WN_EIO);
    CHECK_INT(count(&r, WN_RUNNING), 0);
    CHECK_INT(count(&r, WN_FAILED), 1);
    CHECK_INT(count(&r, WN_CANCELLED), 7);
    wni_study_release(&r.study);
}

static void all_trials_run_to_the_end(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "fifo", "", 5, 101);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 4, .limits = {.trials = 10}}), r.err);
    CHECK_INT(count(&r, WN_COMPLETE), 10);
    CHECK_INT(r.study.history.n_trials, 10);
    CHECK_INT(r.result.reports, 50);
    CHECK_INT(r.heard, 50);
    CHECK_INT(r.stage.most_running, 4);
    CHECK_INT(r.stage.charges, 0);
    for (int t = 0; t < 10; t++) {
        CHECK_INT(r.stage.told[t].starts, 1);
        CHECK_INT(r.stage.told[t].stops, 1); /* at the largest resource the tuner says stop ... */
        CHECK_INT(r.stage.told[t].kept, 0);
    }
    CHECK_DOUBLE(r.result.seconds, 50); /* ... so that nothing happens but reports */
    wni_study_release(&r.study);
}

static void trials_may_end_by_themselves(void **state)
{
    (void)state;
    static const wn_state ends[] = {WN_COMPLETE, WN_FAILED, WN_TIMEOUT, WN_LOST, WN_CANCELLED};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct run r;
        open_run(&r, "fifo", "", 5, 101);
        r.stage.breaks_at = 3;
        r.stage.end = ends[i];
        CHECK_OK(run(&r, (struct tuner_setup){.workers = 2, .limits = {.trials = 7}}), r.err);
        CHECK_INT(count(&r, ends[i]), 7);
        CHECK_INT(r.result.reports, 14);
        CHECK_DOUBLE(r.result.seconds, 21);
        CHECK_INT(r.stage.told[0].stops, 0);
        CHECK_DOUBLE(r.study.history.trials[0].ended, 5); /* two trials take turns: 1 3 5 */
        wni_study_release(&r.study);
    }
}

/* A report that ends a trial: the backend is told, without keeping anything, and the worker is free at once.
 */
static void stopped_trials_make_room(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "asha", "", 9, 101);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 3, .limits = {.trials = 40}}), r.err);
    CHECK_INT(count(&r, WN_COMPLETE) + count(&r, WN_STOPPED), 40);
    CHECK(count(&r, WN_STOPPED) > 10, "%zu stopped", count(&r, WN_STOPPED));
    CHECK_INT(r.stage.most_running, 3);
    for (int t = 0; t < 40; t++) {
        CHECK_INT(r.stage.told[t].stops, 1);
        CHECK_INT(r.stage.told[t].kept, 0);
    }
    wni_study_release(&r.study);
}

/* Paused trials keep their checkpoint and go on from there. */
static void paused_trials_are_kept_and_resumed(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "asha", "scheduler.type=promotion", 9, 101);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 3, .limits = {.reports = 300}}), r.err);
    const struct history *h = &r.study.history;
    unsigned resumed = 0;
    for (size_t t = 0; t < h->n_trials; t++) {
        if (h->trials[t].state == WN_RUNNING) continue;
        bool complete = h->trials[t].state == WN_COMPLETE;
        CHECK_INT(r.stage.told[t].starts, r.stage.told[t].stops);
        CHECK_INT(r.stage.told[t].kept, r.stage.told[t].stops - complete);
        if (r.stage.told[t].starts == 1) continue;
        resumed++;
        CHECK(r.stage.told[t].resumed_from == 1 || r.stage.told[t].resumed_from == 3, "resumed from %g",
              r.stage.told[t].resumed_from);
    }
    CHECK(resumed > 5 && count(&r, WN_COMPLETE) > 0, "%u resumed, %zu complete", resumed,
          count(&r, WN_COMPLETE));
    wni_study_release(&r.study);
}

/* In a small space workers wait for promotions, and the run ends when none can come any more. */
static void workers_wait_and_go_on(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "asha", "scheduler.type=promotion", 9, 9);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 20}), r.err);
    CHECK_INT(r.study.history.n_trials, 9);
    CHECK_INT(r.stage.most_running, 9);
    CHECK_INT(count(&r, WN_RUNNING), 0);
    CHECK_INT(count(&r, WN_COMPLETE), 1); /* 9 at 1, 3 at 3, 1 at 9 */
    CHECK_INT(r.stage.n_running, 0);
    wni_study_release(&r.study);
}

static void a_used_up_space_ends_the_run(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "fifo", "", 3, 5);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 2, .charge = true}), r.err);
    CHECK_INT(count(&r, WN_COMPLETE), 5);
    CHECK_INT(r.result.reports, 15);
    CHECK_INT(r.stage.charges, 6); /* asks: it takes no for an answer */
    wni_study_release(&r.study);
}

/* ---- limits ---- */

static void reports_are_limited_exactly(void **state)
{
    (void)state;
    for (unsigned limit = 1; limit < 30; limit += 7) {
        struct run r;
        open_run(&r, "fifo", "", 5, 101);
        CHECK_OK(run(&r, (struct tuner_setup){.workers = 4, .limits = {.reports = limit}}), r.err);
        CHECK_INT(r.result.reports, limit);
        CHECK_INT(r.study.history.n_reports, limit);
        CHECK_DOUBLE(r.result.seconds, limit);
        wni_study_release(&r.study);
    }
}

static void resource_is_limited(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "fifo", "", 5, 101);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 1, .limits = {.resource = 12}}), r.err);
    CHECK_DOUBLE(r.study.history.total_resource, 12);
    CHECK_INT(r.result.reports, 12);
    CHECK_INT(r.study.history.n_trials, 3);
    wni_study_release(&r.study);
}

/* What happens after the limit has not happened. */
static void time_is_limited(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "fifo", "", 5, 101);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 2, .limits = {.seconds = 8}}), r.err);
    CHECK_DOUBLE(r.result.seconds, 8);
    CHECK_INT(r.result.reports, 8);
    wni_study_release(&r.study);
}

static void no_worker_no_run(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "fifo", "", 5, 101);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 0}), r.err);
    CHECK_INT(r.study.history.n_events, 0);
    wni_study_release(&r.study);
}

/* A run may follow another on the same study: trials that ran are still RUNNING in the log, new ones go on.
 */
static void the_count_of_trials_includes_earlier_ones(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "fifo", "", 2, 101);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 1, .limits = {.trials = 3}}), r.err);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 1, .limits = {.trials = 5}}), r.err);
    CHECK_INT(r.study.history.n_trials, 5);
    CHECK_INT(r.result.reports, 4); /* of this run */
    wni_study_release(&r.study);
}

/* A limit on trials keeps new ones away; the best of those there are still go up, one to the largest
 * resource. */
static void promotions_go_on_at_the_limit_of_trials(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "asha", "scheduler.type=promotion", 9, 101);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 2, .limits = {.trials = 9}}), r.err);
    CHECK_INT(r.study.history.n_trials, 9);
    CHECK_INT(r.study.history.by_state[WN_COMPLETE], 1);
    CHECK_INT(r.study.history.by_state[WN_PAUSED], 8);
    wni_study_release(&r.study);
}

/* ---- trouble ---- */

static void failures_of_the_backend_end_the_run(void **state)
{
    (void)state;
    static const char *const says[] = {"no process for trial 4", "trial 2 does not end", "the wire is cut"};
    for (int i = 0; i < 3; i++) {
        struct run r;
        open_run(&r, "fifo", "", 3, 101);
        *(i == 0 ? &r.stage.fail_start : i == 1 ? &r.stage.fail_stop : &r.stage.fail_next) = i == 1 ? 3 : 5;
        CHECK_INT(run(&r, (struct tuner_setup){.workers = 3, .limits = {.trials = 10}}), WN_EIO);
        CHECK_TEXT(r.err.text, says[i]);
        wni_study_release(&r.study);
    }
}

static void decisions_are_charged_when_asked_for(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "fifo", "", 2, 101);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 2, .limits = {.trials = 6}, .charge = true}), r.err);
    CHECK_INT(r.stage.charges, 7); /* six trials, and the answer that there are no more */
    CHECK(r.stage.charged >= 0 && r.stage.charged < 5, "%g seconds", r.stage.charged);
    wni_study_release(&r.study);
}

/* ---- processes ---- */

static void open_processes(struct run *r, const char *scheduler, double max)
{
    open_run(r, scheduler, "", max, 101);
    r->processes = true;
}

static void failed_runs_are_repeated(void **state)
{
    (void)state;
    for (unsigned retries = 0; retries < 4; retries++) {
        struct run r;
        open_processes(&r, "fifo", 3);
        r.stage.breaks_at = 3;
        r.stage.fail_runs = 2;
        r.study.retries = retries;
        CHECK_OK(run(&r,
                     (struct tuner_setup){
                         .workers = 2,
                         .limits = {.trials = 4},
                     }),
                 r.err);
        unsigned used = retries < 2 ? retries : 2;
        CHECK_INT(r.retries, 4 * used);
        CHECK_INT(count(&r, retries < 2 ? WN_FAILED : WN_COMPLETE), 4);
        for (uint32_t i = 0; i < 4; i++) {
            CHECK_INT(r.stage.told[i].starts, used + 1);
            CHECK_DOUBLE(r.stage.told[i].resumed_from,
                         used ? 2 : 0); /* what it had reported before it broke */
        }
        wni_study_release(&r.study);
    }
}

static void it_gives_up_on_what_never_works(void **state)
{
    (void)state;
    struct run r;
    open_processes(&r, "fifo", 3);
    r.stage.breaks_at = 1;
    r.stage.fail_runs = 100;
    CHECK_INT(
        run(&r, (struct tuner_setup){.workers = 3, .limits = {.trials = 50}, .give_up = 5, .settle = true}),
        WN_EIO);
    CHECK_TEXT(r.err.text, "5 trials in a row failed without a report; the last: so it is");
    CHECK_INT(count(&r, WN_FAILED), 5);
    CHECK_INT(count(&r, WN_RUNNING), 0);
    CHECK_INT(r.stage.n_running, 0);
    wni_study_release(&r.study);
}

static void trials_that_hang_are_given_up_on_too(void **state)
{
    (void)state;
    struct run r;
    open_processes(&r, "fifo", 3);
    r.stage.breaks_at = 1;
    r.stage.end = WN_TIMEOUT;
    CHECK_INT(
        run(&r, (struct tuner_setup){.workers = 2, .limits = {.trials = 30}, .give_up = 1, .settle = true}),
        WN_EIO);
    CHECK_TEXT(r.err.text, "1 trial failed without a report; the last: so it is");
    CHECK_INT(count(&r, WN_TIMEOUT), 1);
    wni_study_release(&r.study);
}

static void run_silently(struct run *r, uint32_t works_from, wn_status expected)
{
    open_processes(r, "fifo", 3);
    r->stage.breaks_at = 1;
    r->stage.fail_runs = 100;
    r->stage.silent = true;
    r->stage.works_from = works_from;
    CHECK_INT(
        run(r,
            (struct tuner_setup){
                .workers = 1, .limits = {.trials = 12}, .give_up = 20, .give_up_silent = 3, .settle = true}),
        expected);
}

static void programs_that_are_well_and_silent_are_given_up_soon(void **state)
{
    (void)state;
    struct run r;
    run_silently(&r, 0, WN_EIO);
    CHECK_TEXT(r.err.text, "3 trials ended without a fault, and no trial has reported; the last: so it is");
    CHECK_INT(count(&r, WN_FAILED), 3);
    wni_study_release(&r.study);
    run_silently(&r, 2, WN_OK); /* the third reports: two failures prove nothing */
    CHECK_INT(count(&r, WN_FAILED), 2);
    CHECK_INT(count(&r, WN_COMPLETE), 10);
    wni_study_release(&r.study);
}

static void failures_after_reports_are_no_reason_to_give_up(void **state)
{
    (void)state;
    struct run r;
    open_processes(&r, "fifo", 3);
    r.stage.breaks_at = 2;
    r.stage.fail_runs = 100;
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 3, .limits = {.trials = 50}, .give_up = 5}), r.err);
    CHECK_INT(count(&r, WN_FAILED), 50);
    wni_study_release(&r.study);
}

static void a_command_that_cannot_run_ends_the_run(void **state)
{
    (void)state;
    struct run r;
    open_processes(&r, "fifo", 3);
    r.stage.breaks_at = 1;
    r.stage.fail_runs = 100;
    r.stage.hopeless = true;
    CHECK_INT(run(&r, (struct tuner_setup){.workers = 1, .limits = {.trials = 50}, .settle = true}),
              WN_EINVAL);
    CHECK_TEXT(r.err.text, "so it is");
    CHECK_INT(r.study.history.n_trials, 1);
    CHECK_INT(count(&r, WN_FAILED), 1);
    wni_study_release(&r.study);
}

static void what_runs_at_the_end_is_stopped(void **state)
{
    (void)state;
    struct run r;
    open_processes(&r, "fifo", 9);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 4, .limits = {.seconds = 10}, .settle = true}), r.err);
    CHECK_INT(count(&r, WN_CANCELLED), 4);
    CHECK_INT(r.ended[WN_CANCELLED], 4);
    CHECK_INT(count(&r, WN_RUNNING), 0);
    CHECK_INT(r.stage.n_running, 0);
    wni_study_release(&r.study);
}

static void a_failed_start_leaves_nothing_running(void **state)
{
    (void)state;
    struct run r;
    open_processes(&r, "fifo", 9);
    r.stage.fail_start = 3;
    CHECK_INT(run(&r, (struct tuner_setup){.workers = 4, .settle = true}), WN_EIO);
    CHECK_TEXT(r.err.text, "no process for trial 2");
    CHECK_INT(count(&r, WN_CANCELLED), 2);
    CHECK_INT(count(&r, WN_FAILED), 1);
    CHECK_INT(r.stage.n_running, 0);
    wni_study_release(&r.study);
}

static void the_first_interrupt_lets_trials_finish(void **state)
{
    (void)state;
    struct run r;
    open_processes(&r, "fifo", 9);
    r.stage.interrupt_at = 5;
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 3, .settle = true, .limits = {.trials = 50}}), r.err);
    CHECK(r.result.interrupted && !r.result.exhausted, "it says why");
    CHECK_INT(r.study.history.n_trials, 3);
    CHECK_INT(count(&r, WN_COMPLETE), 3);
    CHECK_INT(r.interrupts, 1);
    wni_study_release(&r.study);
}

/* They are handed back, and whoever runs the study next goes on with them. */
static void the_second_does_not(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        struct run r;
        open_processes(&r, "fifo", 9);
        r.stage.interrupt_at = 5;
        r.stage.again_at = once ? 0 : 7;
        CHECK_OK(run(&r, (struct tuner_setup){.workers = 3, .settle = true, .interrupt_ends = once}), r.err);
        CHECK(r.result.interrupted, "it says why");
        CHECK_INT(count(&r, WN_PAUSED), 3);
        CHECK_INT(r.ended[WN_PAUSED], 3);
        CHECK_INT(r.stage.clock, once ? 5 : 7);
        for (uint32_t i = 0; i < 3; i++)
            CHECK_INT(r.stage.told[i].discarded, 0);
        r.stage.interrupt_at = r.stage.again_at = 0;
        CHECK_OK(run(&r, (struct tuner_setup){.workers = 3, .settle = true, .limits = {.trials = 3}}), r.err);
        CHECK_INT(count(&r, WN_COMPLETE), 3);
        for (uint32_t i = 0; i < 3; i++) {
            CHECK_INT(r.stage.told[i].starts, 2);
            CHECK_INT(r.study.history.trials[i].attempt, 1);
        }
        wni_study_release(&r.study);
    }
}

static void interrupted_runs_are_not_repeated(void **state)
{
    (void)state;
    struct run r;
    open_processes(&r, "fifo", 9);
    r.stage.interrupt_at = 5;
    r.stage.breaks_at = 8;
    r.study.retries = 5;
    r.stage.fail_runs = 100;
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 3, .settle = true}), r.err);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT(r.stage.told[i].starts, 1);
    CHECK_INT(r.study.history.n_retries, 3); /* for whoever resumes */
    CHECK_INT(count(&r, WN_FAILED), 3);
    wni_study_release(&r.study);
}

static void trials_at_the_largest_resource_are_let_go(void **state)
{
    (void)state;
    struct run r;
    open_processes(&r, "asha", 9);
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 3, .limits = {.trials = 40}, .settle = true}), r.err);
    CHECK(count(&r, WN_COMPLETE) > 0 && count(&r, WN_STOPPED) > 0, "both ways");
    for (uint32_t i = 0; i < 40; i++) {
        bool whole = r.study.history.trials[i].state == WN_COMPLETE;
        CHECK_INT(r.stage.told[i].completed, whole);
        CHECK_INT(r.stage.told[i].stops, !whole);
    }
    wni_study_release(&r.study);
}

static void checkpoints_go_with_their_trials(void **state)
{
    (void)state;
    for (int keep = KEEP_BEST; keep <= KEEP_NONE; keep++) {
        struct run r;
        open_processes(&r, "asha", 9);
        struct tuner_setup setup = {
            .workers = 3, .limits = {.trials = 40}, .settle = true, .keep = (enum keep_checkpoints)keep};
        CHECK_OK(run(&r, setup), r.err);
        for (uint32_t i = 0; i < 40; i++) {
            bool kept = keep == KEEP_ALL || (keep == KEEP_BEST && i == r.study.history.best_trial);
            CHECK(r.stage.told[i].discarded == !kept, "policy %d, trial %u: discarded %u times", keep, i,
                  r.stage.told[i].discarded);
        }
        wni_study_release(&r.study);
    }
}

/* Cut off by the end of the run; lost, or cancelled by a user, while nobody ran them. */
static void checkpoints_go_with_trials_that_never_ended(void **state)
{
    (void)state;
    for (int keep = KEEP_BEST; keep <= KEEP_NONE; keep++) {
        struct run r;
        open_processes(&r, "fifo", 9);
        struct tuner_setup setup = {
            .workers = 3, .settle = true, .limits = {.reports = 5}, .keep = (enum keep_checkpoints)keep};
        CHECK_OK(run(&r, setup), r.err);
        CHECK_INT(count(&r, WN_CANCELLED), 3);
        for (uint32_t i = 0; i < 3; i++) {
            bool kept = keep == KEEP_ALL || (keep == KEEP_BEST && i == r.study.history.best_trial);
            CHECK_INT(r.stage.told[i].discarded > 0, !kept);
            r.stage.told[i].discarded = 0;
        }
        setup.limits = (struct tuner_limits){.trials = 3}; /* there are: nothing is to be done but this */
        CHECK_OK(run(&r, setup), r.err);
        for (uint32_t i = 0; i < 3; i++)
            CHECK_INT(r.stage.told[i].discarded,
                      keep == KEEP_NONE || (keep == KEEP_BEST && i != r.study.history.best_trial));
        wni_study_release(&r.study);
    }
}

static void paused_trials_keep_their_checkpoints(void **state)
{
    (void)state;
    struct run r;
    open_run(&r, "asha", "scheduler.type=promotion", 9, 101);
    r.processes = true;
    CHECK_OK(run(&r, (struct tuner_setup){.workers = 2, .limits = {.trials = 9}, .keep = KEEP_NONE}), r.err);
    CHECK_INT(count(&r, WN_PAUSED), 8);
    for (uint32_t i = 0; i < 9; i++)
        CHECK_INT(r.stage.told[i].discarded, r.study.history.trials[i].state != WN_PAUSED);
    wni_study_release(&r.study);
}

static void duties_are_done_and_what_they_find_is_obeyed(void **state)
{
    (void)state;
    struct run r;
    open_processes(&r, "fifo", 9);
    r.stage.ticks_until = 5;
    r.cancel = 1;
    CHECK_OK(
        run(&r,
            (struct tuner_setup){.workers = 3, .limits = {.trials = 3}, .duty_seconds = 2, .settle = true}),
        r.err);
    CHECK_INT(count(&r, WN_CANCELLED), 1);
    CHECK_INT(count(&r, WN_COMPLETE), 2);
    CHECK_INT(r.stage.told[1].stops, 1);
    CHECK(r.duties >= 5 && r.duties <= 13, "%u duties in %g", r.duties, r.stage.clock);
    CHECK_INT(r.ended[WN_CANCELLED], 1);
    wni_study_release(&r.study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_trials_run_to_the_end),
        cmocka_unit_test(trials_may_end_by_themselves),
        cmocka_unit_test(stopped_trials_make_room),
        cmocka_unit_test(paused_trials_are_kept_and_resumed),
        cmocka_unit_test(workers_wait_and_go_on),
        cmocka_unit_test(a_used_up_space_ends_the_run),
        cmocka_unit_test(promotions_go_on_at_the_limit_of_trials),
        cmocka_unit_test(reports_are_limited_exactly),
        cmocka_unit_test(resource_is_limited),
        cmocka_unit_test(time_is_limited),
        cmocka_unit_test(no_worker_no_run),
        cmocka_unit_test(the_count_of_trials_includes_earlier_ones),
        cmocka_unit_test(failures_of_the_backend_end_the_run),
        cmocka_unit_test(decisions_are_charged_when_asked_for),
        cmocka_unit_test(failed_runs_are_repeated),
        cmocka_unit_test(it_gives_up_on_what_never_works),
        cmocka_unit_test(trials_that_hang_are_given_up_on_too),
        cmocka_unit_test(programs_that_are_well_and_silent_are_given_up_soon),
        cmocka_unit_test(failures_after_reports_are_no_reason_to_give_up),
        cmocka_unit_test(a_command_that_cannot_run_ends_the_run),
        cmocka_unit_test(what_runs_at_the_end_is_stopped),
        cmocka_unit_test(a_failed_start_leaves_nothing_running),
        cmocka_unit_test(the_first_interrupt_lets_trials_finish),
        cmocka_unit_test(the_second_does_not),
        cmocka_unit_test(interrupted_runs_are_not_repeated),
        cmocka_unit_test(trials_at_the_largest_resource_are_let_go),
        cmocka_unit_test(checkpoints_go_with_their_trials),
        cmocka_unit_test(checkpoints_go_with_trials_that_never_ended),
        cmocka_unit_test(paused_trials_keep_their_checkpoints),
        cmocka_unit_test(duties_are_done_and_what_they_find_is_obeyed),
        cmocka_unit_test(what_happens_together_is_one_transaction),
        cmocka_unit_test(slow_proposals_are_not_gathered),
        cmocka_unit_test(a_batch_that_fails_ends_the_run),
        cmocka_unit_test(a_batch_of_which_one_cannot_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
