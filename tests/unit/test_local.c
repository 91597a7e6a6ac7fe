/* test_local.c -- backend/local.h with real processes: what they get, what is heard of them, how they end.
 *
 * Each test runs small shell scripts in a folder of its own and pulls happenings, as the tuner does.  Nothing
 * may be left running: the last thing a test does is to look for children. */
#define _GNU_SOURCE
#include "tests/backend_world.h"

#include "backend/local.h"
#include "base/clock.h"

#include <signal.h>
#include <sys/stat.h>

/* ---- a run ---- */

static void reports_come_as_they_are_printed(void **state)
{
    (void)state;
    struct backend_world w;
    make_world(&w, "local",
               "echo epoch=1 loss=3; sleep 0.2; echo '{\"epoch\": 2, \"loss\": 2}' >&2; sleep 0.2; "
               "printf 'epoch=3 '; sleep 0.1; printf 'loss=1'");
    open_world(&w);
    start(&w, 0, 0);
    double times[3];
    for (int i = 0; i < 3; i++) {
        struct happening it = next(&w);
        CHECK_INT(it.kind, HAPPENED_REPORT);
        CHECK_DOUBLE(it.resource, i + 1);
        CHECK_DOUBLE(it.value, 3 - i);
        times[i] = it.time;
    }
    CHECK(times[1] - times[0] > 0.1 && times[2] - times[1] > 0.1, "%g %g %g", times[0], times[1], times[2]);
    struct happening it = next(&w);
    CHECK_INT(it.kind, HAPPENED_END);
    CHECK_INT(it.state, WN_COMPLETE);
    CHECK_INT(w.backend.ops->next(w.backend.self, &it, &w.err), WN_EXHAUSTED);
    close_world(&w);
}

static void a_program_finds_what_it_needs(void **state)
{
    (void)state;
    struct backend_world w;
    char text[8192];
    static const int64_t gpus[] = {3, 5};
    static const char *const env[] = {"DATA", "/data", "OMP_NUM_THREADS", "7"};
    setenv("WINNOW_FROM_OUTSIDE", "1", 1);
    make_world(
        &w, "local",
        "env | grep -E '^(WINNOW|CUDA|OMP|DATA|PYTHON)' | sort; cat \"$WINNOW_TRIAL_DIR/config.json\"; cat; "
        "touch \"$WINNOW_CHECKPOINT_DIR/here\"; echo loss=1 epoch=1");
    w.setup.gpus = gpus;
    w.setup.n_gpus = 2;
    w.setup.env = env;
    w.setup.n_env = 2;
    open_world(&w);
    start(&w, 12, 4);
    size_t reports;
    CHECK_INT(next_end(&w, &reports).state, WN_COMPLETE);
    read_file(&w, "trial-00012/stdout", text, sizeof text);
    CHECK_HAS(text, "WINNOW_TRIAL=12\n");
    CHECK_HAS(text, "WINNOW_STUDY=test\n");
    CHECK_HAS(text, "WINNOW_PARAMS={\"x\": 0.25, \"act\": \"tanh\"}\n");
    CHECK_HAS(text, "\n{\"x\": 0.25, \"act\": \"tanh\"}"); /* config.json */
    CHECK_HAS(text, "WINNOW_RESUMED_FROM=4\n");
    CHECK_HAS(text, "WINNOW_RESOURCE_MAX=9\n");
    CHECK_HAS(text, "WINNOW_RESOURCE=epoch\n");
    CHECK_HAS(text, "WINNOW_METRIC=loss\n");
    CHECK_HAS(text, "WINNOW_WORKER=0\n");
    CHECK_HAS(text, "CUDA_VISIBLE_DEVICES=3\n");
    CHECK_HAS(text, "OMP_NUM_THREADS=7\n");
    CHECK_HAS(text, "DATA=/data\n");
    CHECK_HAS(text, "PYTHONUNBUFFERED=1\n");
    CHECK(!strstr(text, "FROM_OUTSIDE"), "%s", text);
    CHECK(exists(&w, "trial-00012/checkpoint/here"), "no checkpoint");
    unsetenv("WINNOW_FROM_OUTSIDE");
    close_world(&w);
}

/* ---- resuming ---- */

/* It is paused at its first report but has printed more by then, and its checkpoint is beyond that too. Where
 * a pattern has no resource, reports are numbered over all runs. */
static void a_resumed_trial_tells_what_nobody_heard(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *first, *second;
    } rows[] = {
        {NULL, "epoch=1 loss=8\\nepoch=2 loss=7\\nepoch=3 loss=6\\nepoch=4 lo", "epoch=4 loss=5"},
        {"L ([0-9.]+)", "L 8\\nL 7\\nL 6\\n", "L 5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct backend_world w;
        char script[512];
        snprintf(script, sizeof script,
                 "cd \"$WINNOW_CHECKPOINT_DIR\"; if test -e done; then echo '%s'; exit; fi; touch done; "
                 "printf '%s'; sleep 60",
                 rows[i].second, rows[i].first);
        make_world(&w, "local", script);
        w.setup.pattern = rows[i].pattern;
        open_world(&w);
        start(&w, 0, 0);
        expect_report(&w, 1, 8);
        stop(&w, 0, true);
        start(&w, 0, 1);
        expect_earlier(&w, 2, 7);
        expect_earlier(&w, 3, 6);
        expect_report(&w, 4, 5);
        expect_completion(&w);
        close_world(&w);
    }
}

/* Its checkpoint was the last one; the line after it was never printed. */
static void a_resumed_trial_may_have_nothing_to_add(void **state)
{
    (void)state;
    struct backend_world w;
    make_world(&w, "local", "echo all done already");
    open_world(&w);
    start(&w, 0, 8);
    expect_completion(&w);
    start(&w, 1, 0);
    CHECK_INT(next(&w).state, WN_FAILED);
    close_world(&w);
}

/* Reports of earlier runs are not told twice, and those of a run that starts over are told. */
static void what_was_heard_is_not_told_again(void **state)
{
    (void)state;
    struct backend_world w;
    make_world(&w, "local", "printf 'epoch=1 loss=8\\nepoch=2 loss=7\\n'; exit 3");
    open_world(&w);
    for (int run = 0; run < 3; run++) {
        start(&w, 0, run ? 2 : 0);
        expect_report(&w, 1, 8);
        expect_report(&w, 2, 7);
        CHECK_INT(next(&w).state, WN_FAILED);
    }
    close_world(&w);
}

/* More workers than cards: they share them evenly. */
static void cards_are_shared_out(void **state)
{
    (void)state;
    struct backend_world w;
    char text[256], name[64], expected[64];
    static const int64_t gpus[] = {3, 5};
    make_world(&w, "local", "echo card $CUDA_VISIBLE_DEVICES; echo epoch=1 loss=1");
    w.setup.workers = 5;
    w.setup.gpus = gpus;
    w.setup.n_gpus = 2;
    open_world(&w);
    for (uint32_t i = 0; i < 5; i++)
        start(&w, i, 0);
    for (uint32_t i = 0; i < 5; i++) {
        size_t reports;
        next_end(&w, &reports);
    }
    for (uint32_t i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "trial-%05u/stdout", i);
        snprintf(expected, sizeof expected, "card %d\n", (int)gpus[i % 2]);
        read_file(&w, name, text, sizeof text);
        CHECK_HAS(text, expected);
    }
    close_world(&w);
}

/* Many short ones: each is heard of once, and free workers are filled again soon. */
static void short_trials_in_quick_succession(void **state)
{
    (void)state;
    enum { WORKERS = 8, TRIALS = 200 };
    struct backend_world w;
    bool ended[TRIALS] = {false};
    uint32_t started = 0;
    make_world(&w, "local", "echo epoch=1 loss=1");
    w.setup.workers = WORKERS;
    open_world(&w);
    for (; started < WORKERS; started++)
        start(&w, started, 0);
    for (int i = 0; i < TRIALS; i++) {
        size_t reports;
        struct happening it = next_end(&w, &reports);
        CHECK(it.state == WN_COMPLETE && !ended[it.trial], "trial %u", it.trial);
        ended[it.trial] = true;
        if (started < TRIALS) start(&w, started++, 0);
    }
    struct local_figures figures = wni_local_figures(&w.backend);
    CHECK_INT(figures.starts, TRIALS);
    CHECK_INT(figures.refill.n, TRIALS - WORKERS);
    CHECK(figures.execute.n >= TRIALS - WORKERS - 1 && figures.execute.sum >= figures.refill.sum,
          "%llu executed, %g s and %g s", (unsigned long long)figures.execute.n, figures.execute.sum,
          figures.refill.sum);
    double mean = figures.refill.sum / (double)figures.refill.n;
    CHECK(mean > 0 && mean < 0.5, "%g s", mean);
    close_world(&w);
}

static void threads_are_shared_out(void **state)
{
    (void)state;
    struct backend_world w;
    char text[256];
    unsetenv("OMP_NUM_THREADS");
    make_world(&w, "local", "echo threads $OMP_NUM_THREADS; echo epoch=1 loss=1");
    w.setup.workers = 1000;
    open_world(&w);
    start(&w, 0, 0);
    size_t reports;
    next_end(&w, &reports);
    read_file(&w, "trial-00000/stdout", text, sizeof text);
    CHECK_HAS(text, "threads 1\n");
    close_world(&w);
}

/* ---- ends ---- */

static void ends_are_judged(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        wn_state state;
        const char *detail;
    } rows[] = {
        {"echo epoch=1 loss=1", WN_COMPLETE, "it ended by itself"},
        {"echo epoch=1 loss=1; exit 3", WN_FAILED, "exit code 3\nlast lines of stdout:\nepoch=1 loss=1"},
        {"echo hello; echo oh no >&2", WN_FAILED,
         "it ended without reporting 'loss': print a line such as 'epoch=3 loss=0.21', or set report.pattern "
         "in "
         "the study file\nlast lines of stdout:\nhello\nlast lines of stderr:\noh no"},
        {"echo epoch=1 los=1; echo x >&2", WN_FAILED,
         "it ended without reporting 'loss': it printed numbers for 'los'; did you mean 'los' as "
         "the "
         "metric?\nlast lines of stderr:\nx"},
        {"echo lost=1 >&2", WN_FAILED,
         "it ended without reporting 'loss': it printed numbers for 'lost'; did you mean 'lost' as the "
         "metric?\n"
         "last lines of stderr:\nlost=1"},
        {"echo loss=1", WN_FAILED,
         "it reported 'loss' but never with a number above 0 for 'epoch' in the same line: print both, as in "
         "'epoch=3 loss=0.21'"},
        {"kill -SEGV $$", WN_FAILED, "killed by signal 11 (Segmentation fault)"},
        {"echo epoch=1 loss=nan", WN_COMPLETE, "it ended by itself"}, /* the study knows better */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct backend_world w;
        char text[4096];
        size_t reports;
        make_world(&w, "local", rows[i].script);
        open_world(&w);
        start(&w, 0, 0);
        struct happening it = next_end(&w, &reports);
        CHECK(it.state == rows[i].state, "'%s' ends as %s", rows[i].script, wn_state_name(it.state));
        CHECK_TEXT(it.detail, rows[i].detail);
        read_file(&w, "trial-00000/outcome.json", text, sizeof text);
        struct document doc;
        CHECK_OK(wni_json_parse(&doc, "outcome.json", text, strlen(text), &w.err), w.err);
        char reason[256];
        snprintf(reason, sizeof reason, "%.*s", (int)strcspn(rows[i].detail, "\n"), rows[i].detail);
        CHECK_TEXT(wni_node_get(doc.root, "reason")->text, reason);
        CHECK_TEXT(wni_node_get(doc.root, "ended_by_winnow")->text, "false");
        wni_document_release(&doc);
        close_world(&w);
    }
}

static void a_program_that_is_not_there(void **state)
{
    (void)state;
    struct backend_world w;
    make_world(&w, "local", "exec ./no-such-program");
    open_world(&w);
    start(&w, 0, 0);
    size_t reports;
    struct happening it = next_end(&w, &reports);
    CHECK_INT(it.state, WN_FAILED);
    CHECK_HAS(it.detail, "exit code 127");
    CHECK_HAS(it.detail, "no-such-program");
    close_world(&w);
}

static wn_status expand_missing(void *context, uint32_t trial, const double *values, struct arena *arena,
                                const char *const **argv, struct err *err)
{
    static const char *const words[] = {"./no-such-program", "--lr", NULL};
    (void)context, (void)trial, (void)values, (void)arena, (void)err;
    *argv = words;
    return WN_OK;
}

static void a_command_that_cannot_be_run_is_hopeless(void **state)
{
    (void)state;
    struct backend_world w;
    size_t reports;
    make_world(&w, "local", "");
    w.setup.expand = expand_missing;
    open_world(&w);
    start(&w, 0, 0);
    struct happening it = next_end(&w, &reports);
    CHECK(it.hopeless, "%s", it.detail);
    CHECK_TEXT(it.detail, "cannot run './no-such-program': No such file or directory");
    close_world(&w);
}

static void folders_that_cannot_be_made(void **state)
{
    (void)state;
    struct backend_world w;
    make_world(&w, "local", "");
    w.setup.folder = "/proc/no/such";
    CHECK_INT(wni_backend_open(&w.backend, w.ops, &w.setup, &w.err), WN_EIO);
    CHECK_HAS(w.err.text, "cannot make folder '/proc/no'");
    w.setup.folder = "/dev/null/x";
    CHECK_INT(wni_backend_open(&w.backend, w.ops, &w.setup, &w.err), WN_EIO);
    w.setup.folder = w.dir;
    open_world(&w);
    check_tmp_write(w.dir, "trial-00003", "", 0); /* a file where the folder should be */
    start(&w, 3, 0);
    size_t reports;
    struct happening it = next_end(&w, &reports);
    CHECK(it.hopeless, "%s", it.detail);
    CHECK_HAS(it.detail, "trial-00003': Not a directory");
    close_world(&w);
}

/* ---- stopping ---- */

static void decisions_arrive_within_a_tenth_of_a_second(void **state)
{
    (void)state;
    struct backend_world w;
    char text[256], *end;
    make_world(
        &w, "local",
        "trap 'date +%s.%N; exit' TERM; date +%s.%N; echo epoch=1 loss=1; while :; do sleep 0.01; done");
    for (int attempt = 0;; attempt++) { /* the machine may be busy with something else */
        open_world(&w);
        start(&w, 0, 0);
        CHECK_INT(next(&w).kind, HAPPENED_REPORT);
        stop(&w, 0, false);
        w.backend.ops->close(w.backend.self);
        read_file(&w, "trial-00000/stdout", text, sizeof text);
        double printed = strtod(text, &end), got = strtod(strchr(end + 1, '\n') + 1, NULL);
        CHECK(got > printed, "%s", text);
        if (got - printed < 0.1) break;
        CHECK(attempt < 10, "it took %g s", got - printed);
    }
    w.backend = (struct backend){0};
    close_world(&w);
}

static void deaf_programs_are_killed(void **state)
{
    (void)state;
    struct backend_world w;
    char text[1024];
    make_world(&w, "local", "trap '' TERM; echo epoch=1 loss=1; while :; do sleep 0.05; done");
    w.setup.grace = 0.3;
    open_world(&w);
    start(&w, 0, 0);
    next(&w);
    double began = wni_clock_seconds();
    stop(&w, 0, false);
    w.backend.ops->close(w.backend.self);
    w.backend = (struct backend){0};
    double took = wni_clock_seconds() - began;
    CHECK(took > 0.25 && took < 3, "%g s", took);
    read_file(&w, "trial-00000/outcome.json", text, sizeof text);
    CHECK_HAS(text, "\"signal\": 9");
    CHECK_HAS(text, "\"ended_by_winnow\": true");
    CHECK_HAS(text, "stopped by the scheduler");
    close_world(&w);
}

/* A process that marks its life with a file that it touches again and again. */
static void check_dead(const struct backend_world *w, const char *name)
{
    char path[2 * CHECK_PATH_MAX];
    struct stat before, after;
    snprintf(path, sizeof path, "%s/%s", w->dir, name);
    CHECK(stat(path, &before) == 0, "%s was never alive", name);
    usleep(150000);
    CHECK(stat(path, &after) == 0, "%s", path);
    CHECK(before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec,
          "%s is still alive", name);
}

#define LIVE(name) "(while :; do touch " name "; sleep 0.02; done) & "

static void grandchildren_go_too(void **state)
{
    (void)state;
    struct backend_world w;
    make_world(&w, "local",
               "cd $WINNOW_TRIAL_DIR/..; " LIVE("a") "sh -c '" LIVE(
                   "b") "sleep 30' & sleep 0.3; echo epoch=1 loss=1; wait");
    open_world(&w);
    start(&w, 0, 0);
    next(&w);
    stop(&w, 0, false);
    w.backend.ops->close(w.backend.self);
    w.backend = (struct backend){0};
    check_dead(&w, "a");
    check_dead(&w, "b");
    close_world(&w);
}

static void those_left_behind_are_cleared_away(void **state)
{
    (void)state;
    struct backend_world w;
    size_t reports;
    make_world(&w, "local", "cd $WINNOW_TRIAL_DIR/..; " LIVE("a") "sleep 0.2; echo epoch=1 loss=1");
    open_world(&w);
    start(&w, 0, 0);
    CHECK_INT(next_end(&w, &reports).state, WN_COMPLETE);
    w.script = "echo epoch=1 loss=2"; /* needs the worker: it comes after the others have gone */
    start(&w, 1, 0);
    CHECK_INT(next_end(&w, &reports).state, WN_COMPLETE);
    check_dead(&w, "a");
    close_world(&w);
}

/* Out of the group, and out of the session. */
static void runaways_are_found(void **state)
{
    (void)state;
    struct backend_world w;
    size_t reports;
    make_world(&w, "local",
               "cd $WINNOW_TRIAL_DIR/..; setsid sh -c '" LIVE("a") "wait' & sleep 0.3; echo epoch=1 loss=1");
    open_world(&w);
    start(&w, 0, 0);
    CHECK_INT(next_end(&w, &reports).state, WN_COMPLETE);
    w.backend.ops->close(w.backend.self);
    w.backend = (struct backend){0};
    usleep(50000);
    check_dead(&w, "a");
    close_world(&w);
}

static void time_is_limited(void **state)
{
    (void)state;
    struct backend_world w;
    size_t reports;
    make_world(&w, "local", "echo epoch=1 loss=1; sleep 30");
    w.setup.timeout = 0.3;
    open_world(&w);
    start(&w, 0, 0);
    struct happening it = next_end(&w, &reports);
    CHECK_INT(it.state, WN_TIMEOUT);
    CHECK_INT(reports, 1);
    CHECK_HAS(it.detail, "it ran longer than 0.3 s\nlast lines of stdout:\nepoch=1 loss=1");
    CHECK(it.time > 0.25 && it.time < 5, "%g s", it.time);
    close_world(&w);
}

static void a_complete_trial_may_save_its_model(void **state)
{
    (void)state;
    struct backend_world w;
    char text[1024];
    make_world(&w, "local", "echo epoch=9 loss=1; sleep 0.3; touch $WINNOW_TRIAL_DIR/model");
    open_world(&w);
    start(&w, 0, 0);
    next(&w);
    CHECK_OK(w.backend.ops->complete(w.backend.self, 0, &w.err), w.err);
    w.script = "echo epoch=1 loss=2";
    start(&w, 1, 0); /* waits for the worker */
    size_t reports;
    CHECK_INT(next_end(&w, &reports).trial, 1);
    CHECK(exists(&w, "trial-00000/model"), "it was cut off");
    read_file(&w, "trial-00000/outcome.json", text, sizeof text);
    CHECK_HAS(text, "reached the largest resource");
    close_world(&w);
}

/* ---- workers ---- */

static void a_worker_takes_one_at_a_time(void **state)
{
    (void)state;
    struct backend_world w;
    make_world(
        &w, "local",
        "mkdir $WINNOW_TRIAL_DIR/../lock && echo epoch=1 loss=1; sleep 0.1; rmdir $WINNOW_TRIAL_DIR/../lock");
    open_world(&w);
    for (uint32_t trial = 0; trial < 5; trial++) {
        start(&w, trial, 0);
        CHECK_INT(next(&w).kind, HAPPENED_REPORT); /* it got the lock */
        if (trial % 2)
            stop(&w, trial, false); /* and lets go of it while the next one waits */
        else
            CHECK_INT(next(&w).kind, HAPPENED_END);
        char path[2 * CHECK_PATH_MAX];
        snprintf(path, sizeof path, "%s/lock", w.dir);
        rmdir(path);
    }
    close_world(&w);
}

static void checkpoints_survive_pause_and_retry(void **state)
{
    (void)state;
    struct backend_world w;
    size_t reports;
    char text[1024];
    make_world(
        &w, "local",
        "cd $WINNOW_CHECKPOINT_DIR; n=$(cat n 2>/dev/null || echo 0); while [ $n -lt 9 ]; do n=$((n+1)); "
        "echo $n >n.new; mv n.new n; echo epoch=$n loss=$n; sleep 0.05; done");
    open_world(&w);
    start(&w, 0, 0);
    struct happening it;
    do
        it = next(&w);
    while (it.resource < 3);
    stop(&w, 0, true);
    start(&w, 0, 3); /* at once: it waits until the first run has ended */
    it = next(&w);
    CHECK_INT(it.kind, HAPPENED_REPORT);
    CHECK(it.resource >= 4 && it.resource <= 5, "it goes on at %g", it.resource);
    CHECK_INT(next_end(&w, &reports).state, WN_COMPLETE);
    read_file(&w, "trial-00000/stdout", text, sizeof text);
    CHECK_HAS(text, "epoch=1 ");
    CHECK_HAS(text, "epoch=9 ");
    w.backend.ops->discard(w.backend.self, 0);
    CHECK(!exists(&w, "trial-00000/checkpoint/n"), "the checkpoint is still there");
    start(&w, 0, 0); /* a retry: nothing is cleared, and nothing was left */
    it = next(&w);
    CHECK_DOUBLE(it.resource, 1);
    stop(&w, 0, false);
    close_world(&w);
}

/* A folder of an earlier study with the same name: its checkpoint is not this trial's. */
static void new_trials_start_afresh(void **state)
{
    (void)state;
    struct backend_world w;
    size_t reports;
    char text[1024];
    make_world(&w, "local",
               "ls $WINNOW_CHECKPOINT_DIR; echo epoch=1 loss=1; touch $WINNOW_CHECKPOINT_DIR/old");
    for (int i = 0; i < 2; i++) {
        open_world(&w);
        start(&w, 0, 0);
        CHECK_INT(next_end(&w, &reports).state, WN_COMPLETE);
        w.backend.ops->close(w.backend.self);
        w.backend = (struct backend){0};
    }
    read_file(&w, "trial-00000/stdout", text, sizeof text);
    CHECK_TEXT(text, "epoch=1 loss=1\n");
    close_world(&w);
}

/* ---- rubbish ---- */

static void floods_and_junk_are_survived(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        size_t reports;
    } rows[] = {
        {"yes nonsense | head -c 20000000; echo; echo epoch=1 loss=1", 1},
        {"head -c 10000000 /dev/zero | tr '\\0' x; echo; echo epoch=1 loss=1", 1},
        {"head -c 3000000 /dev/urandom; echo; echo epoch=1 loss=1", 1},
        {"head -c 3000000 /dev/urandom >&2; echo epoch=1 loss=1", 1},
        {"yes epoch=1 loss=1 | head -n 20000", 20000},
        {"printf 'epoch=1 loss='; sleep 0.1; printf '1\\r\\nepoch=2'; sleep 0.1; echo ' loss=2'", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct backend_world w;
        size_t reports;
        make_world(&w, "local", rows[i].script);
        open_world(&w);
        start(&w, 0, 0);
        struct happening it = next_end(&w, &reports);
        CHECK(it.state == WN_COMPLETE, "%s: %s, %s", rows[i].script, wn_state_name(it.state), it.detail);
        CHECK(reports == rows[i].reports, "%s: %zu reports", rows[i].script, reports);
        close_world(&w);
    }
}

/* One that floods does not keep others from being heard. */
static void a_flood_does_not_drown_others(void **state)
{
    (void)state;
    struct backend_world w;
    make_world(&w, "local",
               "if [ $WINNOW_TRIAL = 0 ]; then yes nonsense | head -c 300000000; else sleep 0.2; echo "
               "epoch=1 loss=1; fi; "
               "sleep 30");
    w.setup.workers = 2;
    open_world(&w);
    start(&w, 0, 0);
    start(&w, 1, 0);
    struct happening it = next(&w);
    CHECK_INT(it.trial, 1);
    CHECK(it.time < 3, "heard after %g s", it.time);
    stop(&w, 0, false);
    stop(&w, 1, false);
    close_world(&w);
}

/* ---- ticks and interrupts ---- */

static void ticks_come_when_nothing_else_does(void **state)
{
    (void)state;
    struct backend_world w;
    make_world(&w, "local", "sleep 0.5; echo epoch=1 loss=1");
    w.setup.tick = 0.1;
    open_world(&w);
    CHECK_INT(next(&w).kind, HAPPENED_TICK); /* with nothing running, too */
    start(&w, 0, 0);
    unsigned ticks = 0;
    struct happening it;
    while ((it = next(&w)).kind == HAPPENED_TICK)
        ticks++;
    CHECK(ticks >= 2 && ticks <= 6, "%u ticks", ticks);
    CHECK_INT(it.kind, HAPPENED_REPORT);
    close_world(&w);
}

/* With nothing running: a process that was started beside us (docs/adr/0013) leaves the thread sanitizer's
 * notes of our thread as the child left them, and it then keeps signals to itself. */
static void signals_become_happenings(void **state)
{
    (void)state;
    struct backend_world w;
    make_world(&w, "local", "exit");
    w.setup.interrupts = true;
    w.setup.tick = 10;
    open_world(&w);
    static const int sent[] = {SIGINT, SIGINT, SIGTERM};
    for (int i = 0; i < 3; i++) {
        raise(sent[i]);
        struct happening it = next(&w);
        CHECK_INT(it.kind, HAPPENED_INTERRUPT);
        CHECK_INT(it.urgent, i > 0);
    }
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_become_happenings), /* before anything was started */
        cmocka_unit_test(reports_come_as_they_are_printed),
        cmocka_unit_test(a_program_finds_what_it_needs),
        cmocka_unit_test(threads_are_shared_out),
        cmocka_unit_test(a_resumed_trial_tells_what_nobody_heard),
        cmocka_unit_test(a_resumed_trial_may_have_nothing_to_add),
        cmocka_unit_test(what_was_heard_is_not_told_again),
        cmocka_unit_test(cards_are_shared_out),
        cmocka_unit_test(short_trials_in_quick_succession),
        cmocka_unit_test(ends_are_judged),
        cmocka_unit_test(a_program_that_is_not_there),
        cmocka_unit_test(a_command_that_cannot_be_run_is_hopeless),
        cmocka_unit_test(folders_that_cannot_be_made),
        cmocka_unit_test(decisions_arrive_within_a_tenth_of_a_second),
        cmocka_unit_test(deaf_programs_are_killed),
        cmocka_unit_test(grandchildren_go_too),
        cmocka_unit_test(those_left_behind_are_cleared_away),
        cmocka_unit_test(runaways_are_found),
        cmocka_unit_test(time_is_limited),
        cmocka_unit_test(a_complete_trial_may_save_its_model),
        cmocka_unit_test(a_worker_takes_one_at_a_time),
        cmocka_unit_test(checkpoints_survive_pause_and_retry),
        cmocka_unit_test(new_trials_start_afresh),
        cmocka_unit_test(floods_and_junk_are_survived),
        cmocka_unit_test(a_flood_does_not_drown_others),
        cmocka_unit_test(ticks_come_when_nothing_else_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
