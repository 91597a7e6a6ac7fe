/* local.c -- runs trials as processes and tells what happens to them.
 *
 * A worker is a slot.  A slot holds one run of a trial from its start until the last process of its group is
 * gone, which is longer than the tuner hears of it: a stopped trial may take its grace time to end, and a new
 * one must not share its processor or graphics card meanwhile.  So a start may have to wait for a slot.
 *
 * Everything that depends on time (reading what was printed, timeouts, SIGKILL after the grace time, ticks)
 * happens in one timer, POLL seconds apart.  The ends of processes come by SIGCHLD at once. */
#define _GNU_SOURCE
#include "backend/local.h"

#include "backend/guard.h"
#include "backend/report.h"
#include "backend/seats.h"
#include "backend/spawn.h"
#include "backend/strays.h"
#include "backend/trialdir.h"
#include "backend/unreported.h"
#include "base/clock.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

extern char **environ;

enum {
    POLL_MS = 25,       /* a decision must reach the process within 100 ms of its line */
    CHUNK = 1 << 16,    /* bytes read from a stream before others get their turn */
    STRAYS_SECONDS = 1, /* between looks for processes that left their group */
    N_STREAMS = 2,      /* stdout, stderr */
    OLD_MAX = 16 << 20, /* bytes of earlier runs' output that are read again */
};

static const double GATHER = 0.004; /* seconds that ends of processes may wait to be taken together */

struct stream {
    int fd;            /* -1: not opened; the process may not have made the file yet */
    uint64_t from, at; /* where this run's output began, what is read next: earlier runs' too */
    struct report_stream parser;
};

enum ending { /* who ended the run */
              ENDED_ITSELF,
              ENDED_STOPPED,
              ENDED_PAUSED,
              ENDED_COMPLETE,
              ENDED_TIMEOUT,
              ENDED_CLOSED,
};

struct slot {
    bool busy;
    bool near;    /* its process has not executed its program yet, as far as we know */
    bool heard;   /* the tuner wants to know */
    bool reaped;  /* its first process has ended, as `status` says */
    bool drained; /* and all it printed has been read */
    bool whole;   /* it has reported the largest resource: what follows is of no use to the tuner */
    uint32_t trial;
    pid_t group; /* and its first process */
    int status;
    enum ending why;
    double started, ended;
    double perhaps_ended;    /* not before this */
    double term_at, kill_at; /* INFINITY: not */
    double resumed_from;     /* what the tuner had heard of before; 0: nothing */
    uint64_t reports;        /* of this run, that the tuner was told of */
    uint64_t unheard;        /* that came after it had heard enough */
    struct stream streams[N_STREAMS];
    struct spawn spawn;
};

struct waiting { /* a start without a slot yet */
    uint32_t trial;
    bool again;
    double resumed_from;
    double *config;
};

struct queued {
    struct happening it;
    char *detail;
};

struct local {
    const struct backend_setup *setup; /* points to `own` */
    struct backend_setup own;
    char folder[TRIAL_PATH_MAX]; /* absolute */
    uint32_t known;              /* no folder of a trial from this number on was there at the start */
    struct report_form form;
    struct environment base; /* of all trials */
    struct guard guard;
    struct seats seats;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_signal_t signals[4];
    size_t n_signals;
    bool loop_open, closing;
    double opened, last_told, looked_for_strays;
    double buried, looked, entered; /* last: end of a process, look for ends, wait for them */
    unsigned interrupts;
    struct slot *slots;
    struct waiting *waiting;
    size_t n_waiting;
    struct queued *queue;
    size_t head, n_queue, queue_cap;
    char *told; /* detail of the happening last given out */
    char *chunk;
    wn_status status; /* what went wrong in a callback; next() tells */
    struct err err;
    struct local_figures figures;
    double *freed; /* when each slot's last process ended; NAN: it has had none */
};

static double now(const void *self)
{
    return wni_clock_seconds() - ((const struct local *)self)->opened;
}

static void remember(struct local *b, wn_status st, const struct err *err)
{
    if (!st || b->status) return;
    b->status = st;
    b->err = *err;
}

/* ---- the queue of happenings ---- */

static wn_status push(struct local *b, const struct happening *it, char *detail, struct err *err)
{
    if (!wni_reserve((void **)&b->queue, &b->queue_cap, b->n_queue + 1, sizeof *b->queue)) {
        free(detail);
        return wni_fail_memory(err);
    }
    b->queue[b->n_queue] = (struct queued){*it, detail};
    b->queue[b->n_queue].it.time = now(b);
    b->n_queue++;
    return WN_OK;
}

static void pop(struct local *b, struct happening *out)
{
    free(b->told);
    *out = b->queue[b->head].it;
    out->detail = b->told = b->queue[b->head].detail;
    if (++b->head == b->n_queue) b->head = b->n_queue = 0;
    b->last_told = now(b);
}

/* Nobody wants to hear of this trial any more.  Returns how many reports of it were not told. */
static size_t forget(struct local *b, uint32_t trial)
{
    size_t kept = b->head, reports = 0;
    for (size_t i = b->head; i < b->n_queue; i++) {
        bool its = b->queue[i].it.kind <= HAPPENED_END && b->queue[i].it.trial == trial;
        reports += its && b->queue[i].it.kind == HAPPENED_REPORT;
        if (its)
            free(b->queue[i].detail);
        else
            b->queue[kept++] = b->queue[i];
    }
    b->n_queue = kept;
    if (b->head == b->n_queue) b->head = b->n_queue = 0;
    return reports;
}

/* ---- reading what is printed ---- */

struct hearing {
    struct local *b;
    struct slot *slot;
    bool old; /* printed by an earlier run */
};

static wn_status take_report(void *context, const struct report *report, struct err *err)
{
    struct hearing *h = context;
    struct happening it = {.kind = HAPPENED_REPORT,
                           .trial = h->slot->trial,
                           .resource = report->resource,
                           .value = report->value,
                           .earlier = h->old};
    double max = h->b->setup->resource ? h->b->setup->max_resource : 0;
    if (h->old && report->resource <= h->slot->resumed_from) return WN_OK;
    if (!h->slot->heard || h->slot->whole) {
        h->slot->unheard++;
        return WN_OK;
    }
    h->slot->whole = max > 0 && report->resource >= max;
    h->slot->reports++;
    return push(h->b, &it, NULL, err);
}

/* Not before the process has made it: to look for a name that is not there waits for all that make names in
 * the same folder, and some of those wait for a processor. */
static bool open_stream(const struct slot *slot, struct stream *s)
{
    const struct making *output = &slot->spawn.makings[TRIAL_STDOUT + (s - slot->streams)];
    if (s->fd < 0 && !wni_spawn_is_near(&slot->spawn)) s->fd = open(output->path, O_RDONLY | O_CLOEXEC);
    return s->fd >= 0;
}

/* All of the earlier runs' output is read.  A last line without its end was cut off: it tells nothing. */
static void begin_own_output(struct slot *slot, struct stream *s)
{
    double counted = s->parser.counted;
    const struct report_form *form = s->parser.form;
    wni_report_stream_release(&s->parser);
    wni_report_stream_init(&s->parser, form, fmax(counted, slot->resumed_from));
}

/* Reads a piece of a stream.  Returns whether there may be more. */
static bool read_stream(struct local *b, struct slot *slot, struct stream *s)
{
    struct hearing hearing = {b, slot, s->at < s->from};
    struct err err = {0};
    if (!open_stream(slot, s)) return false;
    size_t wanted = hearing.old && s->from - s->at < CHUNK ? (size_t)(s->from - s->at) : CHUNK;
    ssize_t n = pread(s->fd, b->chunk, wanted, (off_t)s->at);
    if (n <= 0) return false;
    s->at += (uint64_t)n;
    remember(b, wni_report_feed(&s->parser, b->chunk, (size_t)n, take_report, &hearing, &err), &err);
    if (hearing.old && s->at == s->from) begin_own_output(slot, s);
    return hearing.old || n == CHUNK;
}

/* Returns whether something is left to read. */
static bool read_slot(struct local *b, struct slot *slot)
{
    bool more = false;
    for (int i = 0; i < N_STREAMS; i++)
        if (read_stream(b, slot, &slot->streams[i])) more = true;
    return more;
}

static void close_stream(struct stream *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
    wni_report_stream_release(&s->parser);
}

static void close_streams(struct slot *slot)
{
    for (int i = 0; i < N_STREAMS; i++)
        close_stream(&slot->streams[i]);
}

/* ---- how a run ended ---- */

/* The number of a process that was reaped may be another's; that of a group with members is not. */
static void signal_group(const struct slot *slot, int signal)
{
    if (slot->reaped)
        kill(-slot->group, signal);
    else
        wni_group_signal(slot->group, signal);
}

static bool group_is_gone(const struct slot *slot)
{
    return kill(-slot->group, 0) != 0 && errno == ESRCH;
}

static void end_group(const struct local *b, struct slot *slot, enum ending why)
{
    if (slot->why == ENDED_ITSELF) slot->why = why;
    signal_group(slot, SIGTERM);
    slot->term_at = INFINITY;
    if (isinf(slot->kill_at)) slot->kill_at = now(b) + b->setup->grace;
}

static uint64_t count_incomplete(const struct slot *slot)
{
    return slot->streams[0].parser.incomplete + slot->streams[1].parser.incomplete;
}

/* A run that ended well and in vain.  Where nothing looks like a report, what it printed is shown. */
static void explain_silence(const struct local *b, const struct slot *slot, struct buf *out)
{
    size_t n = 0;
    wni_buf_printf(out, "it ended without reporting '%s': ", b->setup->metric);
    for (int i = 0; i < N_STREAMS; i++) {
        const struct stream *s = &slot->streams[i];
        ssize_t got = s->at > s->from ? pread(s->fd, b->chunk + n, CHUNK / N_STREAMS, (off_t)s->from) : 0;
        if (got > 0) n += (size_t)got;
    }
    if (wni_explain_unreported(&b->form, b->chunk, n, out) || n == 0) return;
    char tail[TAIL_MAX + 1];
    wni_file_tail(slot->streams[0].fd, slot->streams[0].from, tail);
    if (*tail) wni_buf_printf(out, "\nlast lines of stdout:\n%s", tail);
}

static bool ended_well(const struct slot *slot)
{
    return slot->why == ENDED_ITSELF && WIFEXITED(slot->status) && WEXITSTATUS(slot->status) == 0;
}

/* Why a run failed that ended by itself; false when it did not. */
static bool find_fault(const struct local *b, const struct slot *slot, struct buf *out)
{
    if (WIFSIGNALED(slot->status)) {
        int signal = WTERMSIG(slot->status);
        wni_buf_printf(out, "killed by signal %d (%s)", signal, strsignal(signal));
    } else if (WEXITSTATUS(slot->status) != 0) {
        wni_buf_printf(out, "exit code %d", WEXITSTATUS(slot->status));
    } else if (slot->reports == 0 && count_incomplete(slot) > 0) {
        wni_buf_printf(
            out,
            "it reported '%s' but never with a number above 0 for '%s' in the same line: print both, as in ",
            b->setup->metric, b->setup->resource ? b->setup->resource : "");
        wni_report_example(b->setup->metric, b->setup->resource, out);
    } else if (slot->reports == 0 && slot->resumed_from == 0) {
        explain_silence(b, slot, out);
    } else {
        return false;
    }
    return true;
}

static wn_state judge(const struct local *b, const struct slot *slot, struct buf *reason)
{
    static const char *const said[] = {[ENDED_STOPPED] = "stopped by the scheduler",
                                       [ENDED_PAUSED] = "paused by the scheduler",
                                       [ENDED_COMPLETE] = "complete: it reached the largest resource",
                                       [ENDED_CLOSED] = "stopped with the study"};
    switch (slot->why) {
    case ENDED_TIMEOUT:
        wni_buf_printf(reason, "it ran longer than %.6g s", b->setup->timeout);
        return WN_TIMEOUT;
    case ENDED_ITSELF:
        if (find_fault(b, slot, reason)) return WN_FAILED;
        wni_buf_puts(reason, "it ended by itself");
        return WN_COMPLETE;
    case ENDED_STOPPED:
    case ENDED_PAUSED:
    case ENDED_COMPLETE:
    case ENDED_CLOSED:
        break;
    }
    wni_buf_puts(reason, said[slot->why]);
    return WN_COMPLETE; /* nobody asks */
}

static double unix_time(const struct local *b, double when)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return round(((double)t.tv_sec + 1e-9 * (double)t.tv_nsec + when - now(b)) * 1000) / 1000;
}

static void write_outcome(const struct local *b, const struct slot *slot, const char *reason,
                          const char *tail)
{
    struct buf text = {0};
    wni_buf_printf(&text, "{\"trial\": %u, \"reason\": ", slot->trial);
    wni_buf_json_string(&text, reason);
    wni_buf_puts(&text, ", \"exit_code\": ");
    wni_buf_json_double(&text, WIFEXITED(slot->status) ? WEXITSTATUS(slot->status) : (double)NAN);
    wni_buf_puts(&text, ", \"signal\": ");
    wni_buf_json_double(&text, WIFSIGNALED(slot->status) ? WTERMSIG(slot->status) : (double)NAN);
    wni_buf_printf(&text, ", \"ended_by_winnow\": %s", slot->why == ENDED_ITSELF ? "false" : "true");
    wni_buf_printf(&text, ", \"reports\": %llu, \"reports_unheard\": %llu, \"started\": ",
                   (unsigned long long)slot->reports, (unsigned long long)slot->unheard);
    wni_buf_json_double(&text, unix_time(b, slot->started));
    wni_buf_puts(&text, ", \"ended\": ");
    wni_buf_json_double(&text, unix_time(b, slot->ended));
    wni_buf_puts(&text, ", \"seconds\": ");
    wni_buf_json_double(&text, round((slot->ended - slot->started) * 1e6) / 1e6);
    wni_buf_puts(&text, ", \"stderr\": ");
    wni_buf_json_string(&text, tail);
    wni_buf_puts(&text, "}\n");
    if (!text.failed) wni_trial_outcome_write(b->folder, slot->trial, &text);
    wni_buf_release(&text);
}

/* What it printed last is often why: its errors, or else whatever there is. */
static void put_tail(const struct slot *slot, wn_state state, const char *errors, struct buf *detail)
{
    char tail[TAIL_MAX + 1] = "";
    if (state == WN_COMPLETE) return;
    if (*errors) {
        wni_buf_printf(detail, "\nlast lines of stderr:\n%s", errors);
        return;
    }
    if (!ended_well(slot) && slot->streams[0].at > slot->streams[0].from)
        wni_file_tail(slot->streams[0].fd, slot->streams[0].from, tail);
    if (*tail) wni_buf_printf(detail, "\nlast lines of stdout:\n%s", tail);
}

/* The last line that came without its newline, then the end itself. */
static void tell_end(struct local *b, struct slot *slot)
{
    struct hearing hearing = {b, slot, false};
    struct err err = {0};
    char tail[TAIL_MAX + 1];
    struct buf detail = {0};
    for (int i = 0; i < N_STREAMS; i++)
        remember(b, wni_report_end(&slot->streams[i].parser, take_report, &hearing, &err), &err);
    wn_state state = judge(b, slot, &detail);
    tail[0] = '\0';
    if (slot->streams[1].at > slot->streams[1].from)
        wni_file_tail(slot->streams[1].fd, slot->streams[1].from, tail);
    char *more = detail.failed ? NULL : strchr(detail.data, '\n'); /* the file has the sentence only */
    if (more) *more = '\0';
    write_outcome(b, slot, wni_buf_text(&detail), tail);
    if (more) *more = '\n';
    put_tail(slot, state, tail, &detail);
    struct happening it = {.kind = HAPPENED_END,
                           .trial = slot->trial,
                           .state = state,
                           .silent = state == WN_FAILED && ended_well(slot)};
    if (slot->heard && !detail.failed) {
        remember(b, push(b, &it, detail.data, &err), &err);
        detail = (struct buf){0}; /* the queue has it */
    } else if (slot->heard) {
        remember(b, wni_fail_memory(&err), &err);
    }
    wni_buf_release(&detail);
}

/* A trial that could not be started ends as soon as it began; nor will others start. */
static void tell_stillborn(struct local *b, uint32_t trial, struct err *why)
{
    struct happening it = {.kind = HAPPENED_END, .trial = trial, .state = WN_FAILED, .hopeless = true};
    char *detail = wni_strdup(why->text);
    remember(b, detail ? push(b, &it, detail, why) : wni_fail_memory(why), why);
}

/* Its process has ended, and all it printed is read. */
static void end_run(struct local *b, struct slot *slot)
{
    struct err why = {0};
    if (!wni_spawn_result(&slot->spawn, &why)) {
        tell_end(b, slot);
    } else if (slot->heard) {
        tell_stillborn(b, slot->trial, &why);
    }
    slot->heard = false;
    slot->drained = true;
    close_streams(slot);
}

static wn_status run_in(struct local *b, struct slot *slot, const struct waiting *w, struct err *err);

/* ---- slots ---- */

static struct slot *find_slot(const struct local *b, uint32_t trial)
{
    for (unsigned i = 0; i < b->setup->workers; i++)
        if (b->slots[i].busy && b->slots[i].trial == trial) return &b->slots[i];
    return NULL;
}

static struct slot *free_slot(const struct local *b)
{
    for (unsigned i = 0; i < b->setup->workers; i++)
        if (!b->slots[i].busy) return &b->slots[i];
    return NULL;
}

/* Starts what waits and can run: a slot is free, and the trial's own last run is over. */
static void start_waiting(struct local *b)
{
    for (size_t i = 0; i < b->n_waiting;) {
        struct slot *slot = free_slot(b);
        struct waiting w = b->waiting[i];
        struct err err = {0};
        if (!slot) return;
        if (find_slot(b, w.trial)) {
            i++;
            continue;
        }
        memmove(&b->waiting[i], &b->waiting[i + 1], (--b->n_waiting - i) * sizeof w);
        wn_status st = run_in(b, slot, &w, &err);
        if (st) tell_stillborn(b, w.trial, &err); /* the tuner believes that it runs */
        free(w.config);
    }
}

/* Moves an ended run on: read the rest, tell the end, free the slot when its group is gone.  Returns whether
 * there is more to read. */
static bool settle(struct local *b, struct slot *slot)
{
    if (!slot->busy || !slot->reaped) return false;
    if (!slot->drained) {
        if (read_slot(b, slot)) return true;
        end_run(b, slot);
    }
    if (group_is_gone(slot)) {
        wni_guard_set(&b->guard, (size_t)(slot - b->slots), 0);
        slot->busy = false;
        b->freed[slot - b->slots] = slot->perhaps_ended;
    } else if (isinf(slot->kill_at)) { /* left behind by a program that is done */
        end_group(b, slot, ENDED_ITSELF);
    }
    return false;
}

static void note_execution(struct local *b, struct slot *slot)
{
    double freed = b->freed[slot - b->slots];
    if (!slot->near || wni_spawn_is_near(&slot->spawn)) return;
    slot->near = false;
    if (!isnan(freed)) wni_delay_add(&b->figures.execute, now(b) - freed);
}

static void bury(struct local *b, pid_t pid, int status)
{
    for (unsigned i = 0; i < b->setup->workers; i++) {
        struct slot *slot = &b->slots[i];
        if (!slot->busy || slot->reaped || slot->group != pid) continue;
        note_execution(b, slot);
        slot->reaped = true;
        slot->status = status;
        slot->ended = b->buried = now(b);
        slot->perhaps_ended = wni_earliest_end(b->looked, b->entered, slot->ended);
        return;
    }
}

/* Takes the ends of all children: of trials, of orphans we adopted, of the guard. */
static void reap(struct local *b)
{
    int status;
    for (unsigned i = 0; i < b->setup->workers; i++)
        note_execution(b, &b->slots[i]);
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        bury(b, pid, status);
    b->looked = now(b);
}

static void settle_all(struct local *b, bool *more)
{
    for (unsigned i = 0; i < b->setup->workers; i++)
        if (settle(b, &b->slots[i])) *more = true;
    start_waiting(b);
}

/* ---- callbacks ---- */

static void mind_clock(struct local *b, struct slot *slot)
{
    double time = now(b);
    if (b->setup->timeout > 0 && slot->why == ENDED_ITSELF && !slot->reaped &&
        time - slot->started > b->setup->timeout)
        end_group(b, slot, ENDED_TIMEOUT);
    if (time >= slot->term_at) end_group(b, slot, slot->why);
    if (time >= slot->kill_at) signal_group(slot, SIGKILL);
}

static bool trial_lives(const void *context, uint32_t trial)
{
    return find_slot(context, trial) != NULL;
}

static bool is_ours(const void *context, pid_t pid)
{
    const struct local *b = context;
    bool found = pid == b->guard.pid;
    for (unsigned i = 0; i < b->setup->workers && !found; i++)
        found = b->slots[i].busy && !b->slots[i].reaped && b->slots[i].group == pid;
    return found;
}

static size_t end_strays(const struct local *b, bool (*is_alive)(const void *context, uint32_t trial))
{
    return wni_strays_end(&(struct strays){b->folder, is_ours, is_alive, b});
}

static void on_timer(uv_timer_t *timer)
{
    struct local *b = timer->data;
    bool more = false;
    reap(b);
    for (unsigned i = 0; i < b->setup->workers; i++) {
        struct slot *slot = &b->slots[i];
        if (!slot->busy) continue;
        mind_clock(b, slot);
        if (!slot->reaped && read_slot(b, slot)) more = true;
    }
    settle_all(b, &more);
    if (now(b) - b->looked_for_strays > STRAYS_SECONDS) {
        end_strays(b, trial_lives);
        b->looked_for_strays = now(b);
    }
    uv_timer_start(timer, on_timer, more ? 0 : POLL_MS, 0);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct local *b = handle->data;
    struct err err = {0};
    bool more = false;
    if (number == SIGCHLD) {
        reap(b);
        settle_all(b, &more); /* more: the timer goes on */
        return;
    }
    b->interrupts++;
    struct happening it = {.kind = HAPPENED_INTERRUPT, .urgent = number != SIGINT || b->interrupts > 1};
    if (!b->closing) remember(b, push(b, &it, NULL, &err), &err);
}

/* ---- starting ---- */

static void set_environment(const struct local *b, const struct slot *slot, const struct waiting *w,
                            const char *config, struct environment *e)
{
    const struct backend_setup *s = b->setup;
    const struct making *makings = slot->spawn.makings;
    uint32_t seat = b->seats.number[slot - b->slots];
    wni_environment_copy(e, &b->base);
    wni_environment_set(e, "WINNOW_TRIAL", "%u", w->trial);
    wni_environment_set(e, "WINNOW_TRIAL_DIR", "%s", makings[TRIAL_FOLDER].path);
    wni_environment_set(e, "WINNOW_CHECKPOINT_DIR", "%s", makings[TRIAL_CHECKPOINT].path);
    wni_environment_set(e, "WINNOW_PARAMS", "%s", config);
    wni_environment_set(e, "WINNOW_RESUMED_FROM", "%.15g", w->resumed_from);
    wni_environment_set(e, "WINNOW_WORKER", "%u", (unsigned)seat);
    if (s->n_gpus) wni_environment_set(e, "CUDA_VISIBLE_DEVICES", "%d", (int)s->gpus[seat % s->n_gpus]);
}

/* A trial that ran before has output of that run, which ends here.  It may hold reports that nobody heard: a
 * program goes on for a moment when it is paused or its runner is killed, and may save a checkpoint beyond
 * the last report that was told.  It will not print those again, so they are read first. */
static wn_status open_streams(struct local *b, struct slot *slot, const struct waiting *w, struct err *err)
{
    for (int i = 0; i < N_STREAMS; i++) {
        struct stream *s = &slot->streams[i];
        wni_report_stream_init(&s->parser, &b->form, w->resumed_from);
        if (!w->again || !open_stream(slot, s)) continue;
        off_t end = lseek(s->fd, 0, SEEK_END);
        if (end < 0)
            return wni_fail(err, WN_EIO, "cannot read the output of trial %u: %s", w->trial, strerror(errno));
        s->from = (uint64_t)end;
        s->at = end > OLD_MAX ? s->from : 0;
        if (s->at < s->from) s->parser.counted = 0;
    }
    return WN_OK;
}

static bool make_plans(struct local *b, struct slot *slot, const struct waiting *w)
{
    struct spawn *spawn = &slot->spawn;
    struct buf config = {0};
    wni_config_write(b->setup->space, w->config, &config);
    size_t length = config.len;
    wni_buf_putc(&config, '\n'); /* so it is a file */
    if (!config.failed) spawn->makings = wni_trial_makings(b->folder, w->trial, &config, &spawn->arena);
    spawn->n_makings = TRIAL_MAKINGS;
    if (spawn->makings) {
        config.data[length] = '\0';
        set_environment(b, slot, w, config.data, &spawn->env);
    }
    wni_buf_release(&config);
    return spawn->makings && !spawn->env.failed;
}

/* All that a start needs, but for what the process makes itself. */
static wn_status prepare(struct local *b, struct slot *slot, const struct waiting *w, struct err *err)
{
    struct spawn *spawn = &slot->spawn;
    wn_status st = b->setup->expand(b->setup->context, w->trial, w->config, &spawn->arena, &spawn->argv, err);
    if (!st && !make_plans(b, slot, w)) st = wni_fail_memory(err);
    if (st) return st;
    if (!w->again && w->trial < b->known) wni_trial_folder_clear(b->folder, w->trial);
    return open_streams(b, slot, w, err);
}

static wn_status run_in(struct local *b, struct slot *slot, const struct waiting *w, struct err *err)
{
    size_t place = (size_t)(slot - b->slots);
    wni_spawn_clear(&slot->spawn);
    *slot = (struct slot){.trial = w->trial,
                          .term_at = INFINITY,
                          .kill_at = INFINITY,
                          .heard = true,
                          .resumed_from = w->resumed_from,
                          .spawn = slot->spawn};
    for (int i = 0; i < N_STREAMS; i++)
        slot->streams[i].fd = -1;
    wn_status st = prepare(b, slot, w, err);
    if (!st) st = wni_spawn(&slot->spawn, &b->guard.groups[place], err); /* guarded from its first moment */
    if (st) {
        close_streams(slot);
        return st;
    }
    slot->busy = slot->near = true;
    slot->group = b->guard.groups[place];
    slot->started = now(b);
    b->figures.starts++;
    if (!isnan(b->freed[place])) wni_delay_add(&b->figures.refill, slot->started - b->freed[place]);
    return WN_OK;
}

static wn_status start(void *self, uint32_t trial, const double *config, bool again, double resumed_from,
                       struct err *err)
{
    struct local *b = self;
    struct slot *slot = free_slot(b);
    size_t bytes = b->setup->space->n * sizeof *config;
    struct waiting w = {trial, again, resumed_from, NULL};
    assert(b->n_waiting < b->setup->workers);
    w.config = malloc(bytes ? bytes : 1);
    if (!w.config) return wni_fail_memory(err);
    memcpy(w.config, config, bytes);
    if (!slot || b->n_waiting || find_slot(b, trial)) {
        b->waiting[b->n_waiting++] = w;
        return WN_OK;
    }
    wn_status st = run_in(b, slot, &w, err);
    free(w.config);
    return st;
}

/* ---- ending ---- */

static bool drop_waiting(struct local *b, uint32_t trial)
{
    for (size_t i = 0; i < b->n_waiting; i++) {
        if (b->waiting[i].trial != trial) continue;
        free(b->waiting[i].config);
        memmove(&b->waiting[i], &b->waiting[i + 1], (--b->n_waiting - i) * sizeof *b->waiting);
        return true;
    }
    return false;
}

/* The run that the tuner hears of; others of the same trial are only being cleared away. */
static wn_status silence(struct local *b, uint32_t trial, struct slot **out, struct err *err)
{
    *out = NULL;
    struct slot *slot = find_slot(b, trial);
    bool known = drop_waiting(b, trial) || (slot && slot->heard);
    for (size_t i = b->head; i < b->n_queue && !known; i++) /* it has ended, but that was not told yet */
        known = b->queue[i].it.kind == HAPPENED_END && b->queue[i].it.trial == trial;
    size_t untold = forget(b, trial);
    if (!known) return wni_fail(err, WN_ENOTFOUND, "trial %u is not running", trial);
    if (!slot || !slot->heard) return WN_OK;
    slot->heard = false;
    slot->reports -= untold;
    slot->unheard += untold;
    *out = slot;
    return WN_OK;
}

static wn_status stop(void *self, uint32_t trial, bool keep, struct err *err)
{
    struct slot *slot;
    wn_status st = silence(self, trial, &slot, err);
    if (slot) end_group(self, slot, keep ? ENDED_PAUSED : ENDED_STOPPED);
    return st;
}

/* It may want to save its model: it gets the grace time to end by itself before it is asked to. */
static wn_status complete(void *self, uint32_t trial, struct err *err)
{
    struct slot *slot;
    wn_status st = silence(self, trial, &slot, err);
    if (!slot) return st;
    slot->why = ENDED_COMPLETE;
    slot->term_at = now(self) + ((const struct local *)self)->setup->grace;
    return st;
}

static void discard(void *self, uint32_t trial)
{
    const struct local *b = self;
    wni_trial_checkpoint_remove(b->folder, trial);
}

/* ---- waiting ---- */

static bool expects_something(const struct local *b)
{
    for (unsigned i = 0; i < b->setup->workers; i++)
        if (b->slots[i].busy && b->slots[i].heard) return true;
    return b->n_waiting > 0;
}

static void block_ends(bool on)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    pthread_sigmask(on ? SIG_BLOCK : SIG_UNBLOCK, &ends, NULL);
}

/* Where processes end in quick succession they are taken several at a time: a turn of the loop for each end
 * would cost half as much again.  So after an end the next look is GATHER later; one that comes alone is seen
 * at once. */
static void gather(const struct local *b)
{
    double rest = b->buried + GATHER - now(b);
    if (rest > 0) nanosleep(&(struct timespec){.tv_nsec = (long)(rest * 1e9)}, NULL);
}

/* SIGCHLD is heard here and nowhere else: one for many ends, and no call is interrupted by it. */
static void turn_loop(struct local *b, uv_run_mode mode)
{
    b->entered = now(b);
    block_ends(false);
    uv_run(&b->loop, mode);
    block_ends(true);
}

static void wait_for_something(struct local *b)
{
    gather(b);
    turn_loop(b, UV_RUN_ONCE);
}

static void look(void *self)
{
    turn_loop(self, UV_RUN_NOWAIT);
}

static wn_status next(void *self, struct happening *out, struct err *err)
{
    struct local *b = self;
    for (;;) {
        if (b->status) {
            *err = b->err;
            return b->status;
        }
        if (b->head < b->n_queue) {
            pop(b, out);
            return WN_OK;
        }
        if (b->setup->tick > 0 && now(b) - b->last_told >= b->setup->tick) {
            *out = (struct happening){.kind = HAPPENED_TICK, .time = now(b)};
            b->last_told = out->time;
            return WN_OK;
        }
        if (b->setup->tick <= 0 && !expects_something(b))
            return wni_fail(err, WN_EXHAUSTED, "nothing is running");
        wait_for_something(b);
    }
}

static bool pending(const void *self)
{
    const struct local *b = self;
    return b->status || b->head < b->n_queue;
}

/* ---- opening and closing ---- */

static bool is_busy(const struct local *b)
{
    for (unsigned i = 0; i < b->setup->workers; i++)
        if (b->slots[i].busy) return true;
    return false;
}

static bool nobody_lives(const void *context, uint32_t trial)
{
    (void)context, (void)trial;
    return false;
}

/* Ends all that runs, however long that takes; one more interrupt and it takes no longer. */
static void end_everything(struct local *b)
{
    unsigned before = b->interrupts;
    b->closing = true;
    while (b->n_waiting)
        free(b->waiting[--b->n_waiting].config);
    for (unsigned i = 0; i < b->setup->workers; i++) {
        struct slot *slot = &b->slots[i];
        if (slot->busy && isinf(slot->kill_at) && slot->why != ENDED_COMPLETE)
            end_group(b, slot, ENDED_CLOSED);
        slot->heard = false;
    }
    while (is_busy(b)) {
        wait_for_something(b);
        for (unsigned i = 0; i < b->setup->workers && b->interrupts > before; i++)
            if (b->slots[i].busy) signal_group(&b->slots[i], SIGKILL);
    }
    for (int i = 0; i < 100 && end_strays(b, nobody_lives) > 0; i++) {
        usleep(1000); /* they have to die first */
        reap(b);
    }
}

static void close_handle(uv_handle_t *handle, void *unused)
{
    (void)unused;
    if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void close_local(void *self)
{
    struct local *b = self;
    if (b->loop_open) {
        end_everything(b);
        uv_walk(&b->loop, close_handle, NULL);
        while (uv_run(&b->loop, UV_RUN_DEFAULT) != 0 || uv_loop_close(&b->loop) != 0)
            continue;
        reap(b);
        wni_strays_adopt(false);
        block_ends(false);
    }
    wni_guard_close(&b->guard);
    wni_seats_leave(&b->seats);
    for (size_t i = b->head; i < b->n_queue; i++)
        free(b->queue[i].detail);
    free(b->queue);
    free(b->told);
    free(b->chunk);
    for (unsigned i = 0; b->slots && i < b->setup->workers; i++)
        wni_spawn_release(&b->slots[i].spawn);
    free(b->slots);
    free(b->waiting);
    free(b->freed);
    wni_environment_release(&b->base);
    wni_report_form_release(&b->form);
    free(b);
}

static int count_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* What is the same for all trials. */
static void set_base_environment(struct local *b)
{
    const struct backend_setup *s = b->setup;
    struct environment *e = &b->base;
    unsigned threads = (unsigned)count_cores() / s->workers;
    wni_environment_init(e, environ);
    for (size_t i = 0; i < s->n_env; i++)
        wni_environment_set(e, s->env[2 * i], "%s", s->env[2 * i + 1]);
    if (!wni_environment_has(e, "OMP_NUM_THREADS"))
        wni_environment_set(e, "OMP_NUM_THREADS", "%u", threads ? threads : 1);
    if (!wni_environment_has(e, "PYTHONUNBUFFERED")) /* else reports come when the program ends */
        wni_environment_set(e, "PYTHONUNBUFFERED", "1");
    wni_environment_set(e, "WINNOW_STUDY", "%s", s->study);
    wni_environment_set(e, "WINNOW_METRIC", "%s", s->metric);
    if (!s->resource) return;
    wni_environment_set(e, "WINNOW_RESOURCE", "%s", s->resource);
    wni_environment_set(e, "WINNOW_RESOURCE_MIN", "%.15g", s->min_resource);
    wni_environment_set(e, "WINNOW_RESOURCE_MAX", "%.15g", s->max_resource);
}

static int open_loop(struct local *b)
{
    static const int wanted[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    int failed = uv_loop_init(&b->loop);
    if (failed) return failed;
    b->loop_open = true;
    block_ends(true);
    uv_timer_init(&b->loop, &b->timer);
    b->timer.data = b;
    uv_timer_start(&b->timer, on_timer, POLL_MS, 0);
    for (size_t i = 0; i < (b->setup->interrupts ? 4 : 1) && !failed; i++) {
        failed = uv_signal_init(&b->loop, &b->signals[i]);
        b->signals[i].data = b;
        if (!failed) failed = uv_signal_start(&b->signals[i], on_signal, wanted[i]);
    }
    return failed;
}

static wn_status open_parts(struct local *b, struct err *err)
{
    const struct backend_setup *s = b->setup;
    b->slots = wni_new(struct slot, s->workers);
    b->waiting = wni_new(struct waiting, s->workers);
    b->freed = wni_new(double, s->workers);
    b->chunk = malloc(CHUNK);
    if (!b->slots || !b->waiting || !b->freed || !b->chunk) return wni_fail_memory(err);
    for (unsigned i = 0; i < s->workers; i++)
        b->freed[i] = NAN;
    wn_status st = wni_folder_make(s->folder, b->folder, err);
    if (!st) b->known = wni_trial_folders(b->folder);
    if (!st) st = wni_seats_take(&b->seats, b->folder, s->workers, err);
    if (!st) st = wni_report_form_init(&b->form, s->metric, s->resource, s->pattern, err);
    if (!st) set_base_environment(b);
    if (!st && b->base.failed) st = wni_fail_memory(err);
    if (!st) st = wni_guard_open(&b->guard, s->workers, s->grace, err);
    if (st) return st;
    wni_strays_adopt(true);
    int failed = open_loop(b);
    if (failed == UV_ENOMEM) return wni_fail_memory(err);
    return failed ? wni_fail(err, WN_EIO, "cannot start the event loop: %s", uv_strerror(failed)) : WN_OK;
}

static wn_status open_local(const struct backend_setup *setup, void **self, struct err *err)
{
    struct local *b = wni_new(struct local, 1);
    if (!b) return wni_fail_memory(err);
    b->own = *setup;
    b->setup = &b->own;
    b->guard.pipe = -1;
    b->seats.fd = -1;
    b->opened = wni_clock_seconds();
    wn_status st = open_parts(b, err);
    if (st)
        close_local(b);
    else
        *self = b;
    return st;
}

const struct backend_ops wni_backend_local = {.name = "local",
                                              .summary = "processes on this machine",
                                              .ticks = true,
                                              .open = open_local,
                                              .start = start,
                                              .stop = stop,
                                              .complete = complete,
                                              .discard = discard,
                                              .next = next,
                                              .pending = pending,
                                              .look = look,
                                              .now = now,
                                              .close = close_local};

struct local_figures wni_local_figures(const struct backend *backend)
{
    return ((const struct local *)backend->self)->figures;
}
