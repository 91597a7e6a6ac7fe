/* test_store_processes.c -- one SQLite file, many real processes: nothing is lost, nothing happens twice,
 * nobody is told that the database is locked; and a process killed at any moment leaves all that it was told
 * had happened. */
#include "tests/check.h"

#include "tuner/rows.h"
#include "tuner/study.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 64, TRIALS_EACH = 3, REPORTS = 10, KILLS = 200 };

static char folder[CHECK_PATH_MAX], url[CHECK_PATH_MAX + 64];
static struct space space;

static int set_up(void **state)
{
    (void)state;
    check_tmp_make(folder);
    snprintf(url, sizeof url, "sqlite:///%s/store.db", folder);
    wni_space_init(&space);
    check_add(&space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1});
    check_add(&space, (struct param_decl){.name = "n", .kind = PARAM_INT, .max = 50});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wni_space_release(&space);
    check_tmp_remove(folder);
    return 0;
}

static struct study_setup setup_of(const char *scheduler, const char *options)
{
    return (struct study_setup){.space = &space,
                                .scheduler = scheduler,
                                .searcher = "rea",
                                .options = {"searcher.population=4 searcher.sample=2", options},
                                .seed = 5,
                                .max_resource = REPORTS};
}

static wn_status open_study(struct study *s, const struct study_setup *setup, struct err *err)
{
    struct store store;
    wn_status st = wni_store_open(&store, url, "many", &space, err);
    return st ? st : wni_study_open(s, setup, &store, err);
}

static double value_of(uint32_t trial, double resource)
{
    return (double)trial + 1 / resource;
}

/* ---- looking at the file afterwards ---- */

static void check_integrity(void)
{
    sqlite3 *db;
    sqlite3_stmt *check;
    CHECK_INT(sqlite3_open(url + strlen("sqlite:///"), &db), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &check, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(check), SQLITE_ROW);
    CHECK_TEXT((const char *)sqlite3_column_text(check, 0), "ok");
    sqlite3_finalize(check);
    CHECK_INT(sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &check, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(check), SQLITE_DONE);
    sqlite3_finalize(check);
    sqlite3_close(db);
}

static void check_rows(struct study *s)
{
    struct err err = {0};
    size_t wrong;
    CHECK_OK(wni_rows_repair(s, url, "many", &wrong, &err), err);
    CHECK_INT(wrong, 0);
}

/* Every proposal comes out again from the events it saw: asynchronous, and yet repeatable bit for bit. */
static void check_proposals(const struct study_setup *setup, const struct history *h)
{
    struct err err = {0};
    for (uint32_t t = 0; t < h->n_trials; t++) {
        struct study again;
        struct store store;
        struct history_cursor at = {0};
        struct event e;
        wn_decision ignored;
        double config[2] = {0};
        CHECK_OK(wni_store_open(&store, "memory:", "again", &space, &err), err);
        CHECK_OK(wni_study_open(&again, setup, &store, &err), err);
        while (again.history.n_events < h->trials[t].saw && wni_history_next(h, &at, &e))
            CHECK_OK(wni_study_apply(&again, &e, &ignored, &err), err);
        CHECK_OK(again.searcher.ops->suggest(again.searcher.self, &again.history, t, config, &err), err);
        CHECK(wni_config_equal(&space, config, wni_history_config(h, t)),
              "trial %u saw %zu: another proposal", t, (size_t)h->trials[t].saw);
        wni_study_release(&again);
    }
}

/* ---- 64 processes ---- */

/* One trial from ask to finish.  Tells its number through `out`. */
static wn_status work(struct study *s, int out, struct err *err)
{
    struct handout job = {0};
    wn_decision next = WN_CONTINUE;
    wn_status st = wni_study_ask(s, 0, &job, err);
    for (double r = job.resumed_from + 1; r <= REPORTS && next == WN_CONTINUE && !st; r++)
        st = wni_study_report(s, job.trial, r, value_of(job.trial, r), 0, &next, err);
    if (!st) st = wni_study_finish(s, job.trial, WN_COMPLETE, 0, err);
    if (!st && write(out, &job.trial, sizeof job.trial) != sizeof job.trial) st = WN_EIO;
    return st;
}

static void child(const struct study_setup *setup, int out, int trials)
{
    struct study s;
    struct err err = {0};
    wn_status st = open_study(&s, setup, &err);
    for (int i = 0; i < trials && !st; i++)
        do
            st = work(&s, out, &err);
        while (st == WN_WAIT);
    if (st) fprintf(stderr, "# worker: status %d: %s\n", st, err.text);
    if (!st) wni_study_release(&s);
    _exit(st ? 1 : 0);
}

/* Starts the workers, waits for them and returns which trials were finished, how often. */
static void run_workers(const struct study_setup *setup, int workers, int trials, int *finished, size_t n)
{
    int ends[2], status;
    uint32_t trial;
    CHECK_INT(pipe(ends), 0);
    fflush(stdout);
    for (int w = 0; w < workers; w++) {
        pid_t pid = fork();
        CHECK(pid >= 0, "fork failed");
        if (pid == 0) child(setup, ends[1], trials);
    }
    close(ends[1]);
    while (read(ends[0], &trial, sizeof trial) == sizeof trial)
        if (trial < n) finished[trial]++;
    close(ends[0]);
    for (int w = 0; w < workers; w++) {
        CHECK(wait(&status) > 0, "a worker is missing");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a worker ended with %d", status);
    }
}

static void sixty_four_processes_share_a_file(void **state)
{
    (void)state;
    enum { N = WORKERS * TRIALS_EACH };
    struct study_setup setup = setup_of("fifo", NULL);
    struct study s;
    struct err err = {0};
    int finished[N] = {0};
    run_workers(&setup, WORKERS, TRIALS_EACH, finished,
                N); /* also who creates file, tables and study is a race */
    CHECK_OK(open_study(&s, &setup, &err), err);
    CHECK_INT(s.history.n_trials, N);
    CHECK_INT(s.history.n_events, N * (REPORTS + 2));
    CHECK_INT(s.history.by_state[WN_COMPLETE], N);
    for (uint32_t t = 0; t < N; t++) {
        CHECK(finished[t] == 1, "trial %u was finished by %d workers", t, finished[t]);
        CHECK_INT(s.history.trials[t].n_reports, REPORTS);
        uint32_t at = s.history.trials[t].last_arrival;
        for (double r = REPORTS; r >= 1; r--, at = s.history.previous[at - 1]) {
            CHECK_DOUBLE(s.history.resources[at - 1], r);
            CHECK_DOUBLE(s.history.values[at - 1], value_of(t, r));
        }
    }
    check_rows(&s);
    check_proposals(&setup, &s.history);
    check_integrity();
    wni_study_release(&s);
}

/* Paused trials are handed out to one process each, whoever paused them. */
static void promotions_go_to_one(void **state)
{
    (void)state;
    struct study_setup setup = setup_of("asha", "scheduler.type=promotion scheduler.eta=2");
    struct study s;
    struct err err = {0};
    int finished[200] = {0};
    run_workers(&setup, 12, 12, finished, 200);
    CHECK_OK(open_study(&s, &setup, &err), err);
    size_t handed_out = 0, resumed = 0;
    struct history_cursor at = {0};
    struct event e;
    while (wni_history_next(&s.history, &at, &e)) {
        handed_out += e.kind == EVENT_ASK || e.kind == EVENT_RESUME;
        resumed += e.kind == EVENT_RESUME;
    }
    CHECK_INT(handed_out, 144);
    CHECK(resumed > 10, "only %zu promotions", resumed);
    CHECK_INT(s.history.by_state[WN_RUNNING], 0);
    check_rows(&s);
    check_proposals(&setup, &s.history);
    wni_study_release(&s);
}

/* ---- killed ---- */

/* Works until it is killed, and says after each call how long the log is that it was promised. */
static void work_until_killed(const struct study_setup *setup, int out)
{
    struct study s;
    struct err err = {0};
    wn_status st = open_study(&s, setup, &err);
    while (!st) {
        struct handout job = {0};
        wn_decision next = WN_CONTINUE;
        st = wni_study_ask(&s, 0, &job, &err);
        for (double r = 1; r <= REPORTS && next == WN_CONTINUE && !st; r++) {
            if (write(out, &s.history.n_events, sizeof s.history.n_events) < 0) _exit(3);
            st = wni_study_report(&s, job.trial, r, value_of(job.trial, r), 0, &next, &err);
        }
        if (!st) st = wni_study_finish(&s, job.trial, WN_COMPLETE, 0, &err);
        if (write(out, &s.history.n_events, sizeof s.history.n_events) < 0) _exit(3);
    }
    fprintf(stderr, "# worker: status %d: %s\n", st, err.text);
    _exit(1);
}

enum { BATCH = 3 };

/* The same in batches of a runner, whose checkpoints a thread makes. */
static void batch_until_killed(const struct study_setup *setup, int out)
{
    struct study s;
    struct err err = {0};
    wn_status st = open_study(&s, setup, &err);
    while (!st) {
        wni_study_batch_begin(&s);
        for (int i = 0; i < BATCH && !st; i++) {
            struct handout job = {0};
            wn_decision next = WN_CONTINUE;
            st = wni_study_ask(&s, 0, &job, &err);
            for (double r = 1; r <= REPORTS && !st; r++)
                st = wni_study_report(&s, job.trial, r, value_of(job.trial, r), 0, &next, &err);
            if (!st) st = wni_study_finish(&s, job.trial, WN_COMPLETE, 0, &err);
        }
        if (!st) st = wni_study_batch_end(&s, &err);
        if (write(out, &s.history.n_events, sizeof s.history.n_events) < 0) _exit(3);
    }
    fprintf(stderr, "# worker: status %d: %s\n", st, err.text);
    _exit(1);
}

/* Lets a worker work for `wait` nanoseconds (after its first word, if asked), kills it, and returns what it
 * was promised last. */
static size_t promised_before_kill(void (*work_on)(const struct study_setup *setup, int out),
                                   const struct study_setup *setup, bool after_word, long wait_ns)
{
    int ends[2], status;
    size_t promised = 0, word;
    CHECK_INT(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) work_on(setup, ends[1]);
    close(ends[1]);
    if (after_word && read(ends[0], &promised, sizeof promised) != sizeof promised) fail_msg("no word");
    nanosleep(&(struct timespec){.tv_nsec = wait_ns}, NULL);
    kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status), "the worker ended by itself, with %d", status);
    while (read(ends[0], &word, sizeof word) == sizeof word)
        promised = word;
    close(ends[0]);
    return promised;
}

static void killed_at_any_moment(void **state)
{
    (void)state;
    struct study_setup setup = setup_of("fifo", NULL);
    struct rng rng = wni_rng_stream(1, 2, 3);
    struct err err = {0};
    size_t before = 0, unannounced = 0;
    setup.lease = 1e-3; /* what the dead had in hand is given up by the next */
    fflush(stdout);
    for (int i = 0; i < KILLS; i++) {
        struct study s;
        bool after_word = check_chance(&rng, 80);
        size_t promised =
            promised_before_kill(work_until_killed, &setup, after_word, (long)wni_rng_below(&rng, 4000000));
        CHECK_OK(open_study(&s, &setup, &err), err); /* replays the log, checking each event */
        CHECK(s.history.n_events >= promised && s.history.n_events >= before, "%zu events of %zu promised",
              s.history.n_events, promised);
        unannounced += s.history.n_events > promised;
        before = s.history.n_events;
        if (i % 10 == 0) check_rows(&s);
        wni_study_release(&s);
        check_integrity();
    }
    CHECK(before > KILLS, "hardly anything happened: %zu events", before);
    CHECK(unannounced > 0, "no kill came between a commit and its announcement");
}

/* A batch is there as a whole, or not at all. */
static void killed_in_batches(void **state)
{
    (void)state;
    struct study_setup setup = setup_of("fifo", NULL);
    struct rng rng = wni_rng_stream(2, 2, 3);
    struct err err = {0};
    size_t before = 0;
    setup.holds = true;
    fflush(stdout);
    for (int i = 0; i < KILLS / 2; i++) {
        struct study s;
        bool after_word = check_chance(&rng, 80);
        size_t promised =
            promised_before_kill(batch_until_killed, &setup, after_word, (long)wni_rng_below(&rng, 4000000));
        CHECK_OK(open_study(&s, &setup, &err), err);
        CHECK(s.history.n_events >= promised && s.history.n_events >= before, "%zu events of %zu promised",
              s.history.n_events, promised);
        CHECK_INT(s.history.n_events % (BATCH * (REPORTS + 2)), 0);
        CHECK_INT(s.history.by_state[WN_RUNNING], 0);
        before = s.history.n_events;
        if (i % 10 == 0) check_rows(&s);
        wni_study_release(&s);
        if (i % 10 == 0) check_integrity();
    }
    CHECK(before > KILLS, "hardly anything happened: %zu events", before);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sixty_four_processes_share_a_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(promotions_go_to_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_at_any_moment, set_up, tear_down),
        cmocka_unit_test_setup_teardown(killed_in_batches, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
