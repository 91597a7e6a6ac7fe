/* test_backends.c -- what every row of backends.def must do: run programs, tell what happened, end them.
 *
 * The programs are shell scripts.  Times are generous: a cluster may take seconds to start something. */
#define _GNU_SOURCE
#include "tests/backend_world.h"
#include "tests/contract/contract.h"

#include "base/clock.h"

#include <string.h>

static void make(struct backend_world *w, void **row, const char *script)
{
    const struct backend_ops *ops = *row;
    make_world(w, ops->name, script);
}

static void is_described(void **row)
{
    const struct backend_ops *ops = *row;
    CHECK(ops->name && *ops->name, "no name");
    CHECK(ops->summary && strlen(ops->summary) > 3, "'%s' has no summary", ops->name);
    CHECK(ops->open && ops->start && ops->stop && ops->next && ops->now && ops->close,
          "'%s' lacks a function", ops->name);
    CHECK(wni_backend_find(ops->name, NULL) == ops, "'%s' is not found", ops->name);
}

static void needs_a_worker(void **row)
{
    struct backend_world w;
    make(&w, row, "exit");
    w.setup.workers = 0;
    CHECK_INT(wni_backend_open(&w.backend, w.ops, &w.setup, &w.err), WN_EINVAL);
    CHECK_HAS(w.err.text, "at least one worker");
    close_world(&w);
}

static void tells_reports_and_the_end(void **row)
{
    struct backend_world w;
    make(
        &w, row,
        "echo epoch=1 loss=3; echo \"epoch=2 loss=$WINNOW_TRIAL\"; echo '{\"epoch\": 3, \"loss\": 0.5}' >&2");
    open_world(&w);
    start(&w, 7, 0);
    double seen[4] = {0}, before = 0;
    struct happening it;
    while ((it = next(&w)).kind == HAPPENED_REPORT) {
        CHECK_INT(it.trial, 7);
        CHECK(it.time >= before && it.time <= w.ops->now(w.backend.self), "told at %g, after %g", it.time,
              before);
        before = it.time;
        seen[(int)it.resource] = it.value;
    }
    CHECK(seen[1] == 3 && seen[2] == 7 && seen[3] == 0.5, "%g %g %g", seen[1], seen[2], seen[3]);
    CHECK_INT(it.kind, HAPPENED_END);
    CHECK_INT(it.trial, 7);
    CHECK_INT(it.state, WN_COMPLETE);
    CHECK_INT(w.ops->next(w.backend.self, &it, &w.err), WN_EXHAUSTED);
    close_world(&w);
}

static void tells_why_one_failed(void **row)
{
    struct backend_world w;
    size_t reports;
    make(&w, row, "echo epoch=1 loss=3; echo the disk is full >&2; exit 3");
    open_world(&w);
    start(&w, 0, 0);
    struct happening it = next_end(&w, &reports);
    CHECK_INT(it.state, WN_FAILED);
    CHECK_INT(reports, 1);
    CHECK(it.detail && !it.silent && !it.hopeless, "no reason given");
    CHECK_HAS(it.detail, "exit code 3");
    CHECK_HAS(it.detail, "the disk is full");
    w.script = "echo loss 3";
    start(&w, 1, 0);
    it = next_end(&w, &reports);
    CHECK(it.state == WN_FAILED && it.silent, "one that never reported ended as %s", wn_state_name(it.state));
    close_world(&w);
}

static void runs_as_many_as_it_has_workers(void **row)
{
    struct backend_world w;
    make(&w, row,
         "cd \"$WINNOW_TRIAL_DIR/..\"; touch here-$WINNOW_TRIAL; "
         "while ! test -e here-0 -a -e here-1 -a -e here-2; do sleep 0.02; done; echo epoch=1 loss=1");
    w.setup.workers = 3;
    open_world(&w);
    for (uint32_t i = 0; i < 3; i++)
        start(&w, i, 0);
    unsigned ended = 0;
    for (int i = 0; i < 3; i++) {
        size_t reports;
        struct happening it = next_end(&w, &reports);
        CHECK_INT(it.state, WN_COMPLETE);
        ended |= 1u << it.trial;
    }
    CHECK_INT(ended, 7);
    close_world(&w);
}

static void is_silent_about_stopped_ones(void **row)
{
    struct backend_world w;
    struct happening it;
    make(&w, row, "for i in 1 2 3 4 5; do echo epoch=$i loss=1; done; sleep 60");
    open_world(&w);
    start(&w, 0, 0);
    CHECK_INT(next(&w).kind, HAPPENED_REPORT);
    stop(&w, 0, false);
    CHECK_INT(w.ops->stop(w.backend.self, 0, false, &w.err), WN_ENOTFOUND);
    CHECK_INT(w.ops->next(w.backend.self, &it, &w.err), WN_EXHAUSTED);
    close_world(&w);
}

/* The second run finds what the first saved, and what that printed unheard is told. */
static void resumes_paused_ones(void **row)
{
    struct backend_world w;
    make(&w, row,
         "cd \"$WINNOW_CHECKPOINT_DIR\"; if test -e n; then echo epoch=3 loss=$(cat n)$WINNOW_RESUMED_FROM; "
         "exit; "
         "fi; echo 4 >n; printf 'epoch=1 loss=8\\nepoch=2 loss=7\\n'; sleep 60");
    open_world(&w);
    start(&w, 0, 0);
    expect_report(&w, 1, 8);
    stop(&w, 0, true);
    start(&w, 0, 1);
    expect_earlier(&w, 2, 7);
    expect_report(&w, 3, 41);
    expect_completion(&w);
    if (w.ops->discard) w.ops->discard(w.backend.self, 0);
    CHECK(!exists(&w, "trial-00000/checkpoint/n"), "a checkpoint that nobody needs is still there");
    close_world(&w);
}

static void lets_complete_ones_end_in_peace(void **row)
{
    struct backend_world w;
    size_t reports;
    make(&w, row, "echo epoch=9 loss=1; sleep 0.2; touch \"$WINNOW_TRIAL_DIR/model\"");
    open_world(&w);
    if (w.ops->complete) {
        start(&w, 0, 0);
        CHECK_INT(next(&w).kind, HAPPENED_REPORT);
        CHECK_OK(w.ops->complete(w.backend.self, 0, &w.err), w.err);
        w.script = "echo epoch=1 loss=2";
        start(&w, 1, 0); /* the only worker is free when the first is over */
        CHECK_INT(next_end(&w, &reports).trial, 1);
        CHECK(exists(&w, "trial-00000/model"), "it was cut off");
    }
    close_world(&w);
}

static void limits_time(void **row)
{
    struct backend_world w;
    size_t reports;
    make(&w, row, "echo epoch=1 loss=1; sleep 60");
    w.setup.timeout = 0.3;
    open_world(&w);
    start(&w, 0, 0);
    struct happening it = next_end(&w, &reports);
    CHECK_INT(it.state, WN_TIMEOUT);
    CHECK_HAS(it.detail, "longer than 0.3 s");
    close_world(&w);
}

static void ticks_if_it_says_so(void **row)
{
    struct backend_world w;
    make(&w, row, "exit");
    w.setup.tick = 0.05;
    open_world(&w);
    for (int i = 0; i < 3 && w.ops->ticks; i++)
        CHECK_INT(next(&w).kind, HAPPENED_TICK);
    close_world(&w);
}

static void ends_everything_when_closed(void **row)
{
    struct backend_world w;
    make(&w, row,
         "echo epoch=1 loss=1; trap 'touch \"$WINNOW_TRIAL_DIR/../ended\"; exit' TERM; while :; do sleep "
         "0.05; done");
    w.setup.workers = 2;
    open_world(&w);
    start(&w, 0, 0);
    start(&w, 1, 0);
    next(&w);
    next(&w);
    usleep(100000); /* until the trap is set */
    double began = wni_clock_seconds();
    w.ops->close(w.backend.self);
    w.backend = (struct backend){0};
    CHECK(exists(&w, "ended"), "its trials were not asked to end");
    CHECK(wni_clock_seconds() - began < w.setup.grace, "closing took its whole grace time");
    close_world(&w);
}

static const struct property properties[] = {
    {"is described", is_described},
    {"needs a worker", needs_a_worker},
    {"tells reports and the end", tells_reports_and_the_end},
    {"tells why one failed", tells_why_one_failed},
    {"runs as many as it has workers", runs_as_many_as_it_has_workers},
    {"is silent about stopped ones", is_silent_about_stopped_ones},
    {"resumes paused ones", resumes_paused_ones},
    {"lets complete ones end in peace", lets_complete_ones_end_in_peace},
    {"limits time", limits_time},
    {"ticks if it says so", ticks_if_it_says_so},
    {"ends everything when closed", ends_everything_when_closed},
};

static const char *name_at(size_t i)
{
    return wni_backend_at(i)->name;
}

static const void *row_at(size_t i)
{
    return wni_backend_at(i);
}

int main(void)
{
    return contract_run("backends", properties, sizeof properties / sizeof *properties, wni_backend_count(),
                        name_at, row_at);
}
