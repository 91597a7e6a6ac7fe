/* test_store_sqlite.c -- a SQLite file from outside: addresses, versions, listings, and what goes wrong with
 * files: full, read-only, damaged, foreign, not there. */
#include "tests/check.h"

#include "store/sqlite_int.h"
#include "tuner/rows.h"
#include "tuner/study.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[CHECK_PATH_MAX], path[CHECK_PATH_MAX + 32], url[CHECK_PATH_MAX + 64];
static struct space space;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    check_tmp_make(folder);
    snprintf(path, sizeof path, "%s/store.db", folder);
    snprintf(url, sizeof url, "sqlite:///%s", path);
    wni_space_init(&space);
    check_add(&space, (struct param_decl){.name = "x", .kind = PARAM_FLOAT, .max = 1});
    check_add(&space, (struct param_decl){.name = "b", .kind = PARAM_BOOL});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wni_space_release(&space);
    check_tmp_remove(folder);
    return 0;
}

static wn_status try_open(struct study *s, const char *name, wn_goal goal)
{
    struct store store;
    wn_status st = wni_store_open(&store, url, name, &space, &err);
    struct study_setup setup = {.space = &space,
                                .scheduler = "fifo",
                                .searcher = "random",
                                .goal = goal,
                                .max_resource = 9,
                                .file = "name: it\n"};
    return st ? st : wni_study_open(s, &setup, &store, &err);
}

static void open_study(struct study *s, const char *name, wn_goal goal)
{
    CHECK_OK(try_open(s, name, goal), err);
}

static wn_status run_trial(struct study *s, double value, wn_state state)
{
    struct handout job = {0};
    wn_decision next;
    wn_status st = wni_study_ask(s, 1, &job, &err);
    for (int r = 1; r <= 3 && !st; r++)
        st = wni_study_report(s, job.trial, r, value + 1.0 / r, 1 + r, &next, &err);
    return st ? st : wni_study_finish(s, job.trial, state, 5, &err);
}

/* Straight to the file, past Winnow. */
static int sql(const char *text)
{
    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, "PRAGMA foreign_keys=ON", NULL, NULL, NULL);
    int code = sqlite3_exec(db, text, NULL, NULL, NULL);
    sqlite3_close(db);
    return code;
}

static int64_t sql_number(const char *text)
{
    sqlite3 *db;
    sqlite3_stmt *q;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, text, -1, &q, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(q), SQLITE_ROW);
    int64_t n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return n;
}

/* ---- addresses ---- */

static void addresses(void **state)
{
    (void)state;
    static const struct {
        const char *url, *says;
    } wrong[] = {
        {"sqlite:x.db",
         "store 'sqlite:x.db': expected sqlite:///FILE, with a fourth slash for an absolute path"},
        {"sqlite://x.db",
         "store 'sqlite://x.db': expected sqlite:///FILE, with a fourth slash for an absolute path"},
        {"sqlite:///",
         "store 'sqlite:///': expected sqlite:///FILE, with a fourth slash for an absolute path"},
        {"sqlite:///x.db?sync=maybe",
         "store 'sqlite:///x.db?sync=maybe': expected ?sync=normal or ?sync=full, got '?sync=maybe'"},
    };
    struct store store;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_INT(wni_store_open(&store, wrong[i].url, "s", &space, &err), WN_EINVAL);
        CHECK_TEXT(err.text, wrong[i].says);
    }
    char before[CHECK_PATH_MAX];
    assert_non_null(getcwd(before, sizeof before));
    CHECK_INT(chdir(folder), 0);
    CHECK_OK(wni_store_open(&store, "sqlite:///sub.db?sync=full", "s", &space, &err), err);
    wni_store_close(&store);
    CHECK_INT(access("sub.db", F_OK), 0);
    CHECK_OK(wni_store_open(&store, "sqlite:", "s", &space, &err), err);
    wni_store_close(&store);
    CHECK_INT(access("winnow.db", F_OK), 0);
    CHECK_INT(chdir(before), 0);
}

/* ---- listings ---- */

struct listing {
    char text[2000];
};

static wn_status note_study(void *context, const struct study_row *row, struct err *e)
{
    (void)e;
    struct listing *l = context;
    size_t n = strlen(l->text);
    snprintf(l->text + n, sizeof l->text - n,
             "%s goal=%d trials=%d complete=%d events=%d best=%g at %u file=%s", row->name, row->about.goal,
             (int)row->trials, (int)row->by_state[WN_COMPLETE], (int)row->events, row->best, row->best_trial,
             row->about.file);
    return WN_OK;
}

static wn_status note_trial(void *context, const struct trial_row *row, struct err *e)
{
    (void)e;
    struct listing *l = context;
    size_t n = strlen(l->text);
    snprintf(l->text + n, sizeof l->text - n, "%u %s %d value=%g at %g best=%g at %g asked %g ended %g\n",
             row->number, wn_state_name(row->state), (int)row->reports, row->value, row->resource, row->best,
             row->best_resource, row->asked, row->ended);
    return strlen(row->config) > 8 ? WN_OK : WN_EINVAL;
}

static wn_status note_reason(void *context, const struct trial_row *row, struct err *e)
{
    (void)e;
    struct listing *l = context;
    size_t n = strlen(l->text);
    snprintf(l->text + n, sizeof l->text - n, "%u %s: %s\n", row->number, wn_state_name(row->state),
             row->reason ? row->reason : "-");
    return WN_OK;
}

static wn_status only_one(void *context, const struct trial_row *row, struct err *e)
{
    wn_status st = note_trial(context, row, e);
    return st ? st : WN_WAIT;
}

static void studies_are_listed(void **state)
{
    (void)state;
    struct study up, down;
    struct listing all = {""};
    open_study(&down, "down", WN_MINIMIZE);
    open_study(&up, "up", WN_MAXIMIZE);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(run_trial(&down, i - 1, WN_COMPLETE), err);
        CHECK_OK(run_trial(&up, i - 1, WN_COMPLETE), err);
    }
    CHECK_OK(run_trial(&up, -7, WN_FAILED), err);
    CHECK_OK(wni_store_studies(url, NULL, note_study, &all, &err), err);
    CHECK_TEXT(all.text, "down goal=0 trials=3 complete=3 events=15 best=-0.666667 at 0 file=name: it\n"
                         "up goal=1 trials=4 complete=3 events=20 best=2 at 2 file=name: it\n");
    all.text[0] = '\0';
    CHECK_OK(wni_store_studies(url, "up", note_study, &all, &err), err);
    CHECK_TEXT(all.text, "up goal=1 trials=4 complete=3 events=20 best=2 at 2 file=name: it\n");
    CHECK_INT(wni_store_studies(url, "upp", note_study, &all, &err), WN_ENOTFOUND);
    CHECK(strstr(err.text, "has no study 'upp'"), "'%s'", err.text);
    wni_study_release(&up);
    wni_study_release(&down);
}

/* Running trials show what they have reported, though no report touched their row. */
/* Of several ends the last, and only where something went wrong. */
static void reasons_are_listed(void **state)
{
    (void)state;
    struct study s;
    struct handout job = {0};
    struct listing l = {""};
    static const struct {
        wn_state state;
        const char *detail;
    } ends[] = {
        {WN_FAILED, "two\nlines"}, {WN_TIMEOUT, "late"}, {WN_CANCELLED, NULL}, {WN_PAUSED, "no matter"}};
    open_study(&s, "s", WN_MINIMIZE);
    s.retries = 1;
    CHECK_OK(wni_study_ask(&s, 1, &job, &err), err);
    CHECK_OK(wni_study_finish_as(&s, job.trial, WN_FAILED, "one", 2, &err), err);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) { /* the first is trial 0, run again */
        CHECK_OK(wni_study_ask(&s, 3 + (double)i, &job, &err), err);
        CHECK_INT(job.trial, i);
        CHECK_OK(wni_study_finish_as(&s, job.trial, ends[i].state, ends[i].detail, 3.5 + (double)i, &err),
                 err);
    }
    wni_study_release(&s);
    CHECK_OK(wni_store_trials(url, "s", 0, note_reason, &l, &err), err);
    CHECK_TEXT(l.text, "0 FAILED: two\nlines\n1 TIMEOUT: late\n2 CANCELLED: -\n3 PAUSED: -\n");
}

static void trials_are_listed(void **state)
{
    (void)state;
    struct study s;
    struct handout job;
    wn_decision next;
    struct listing l = {""};
    open_study(&s, "s", WN_MAXIMIZE);
    CHECK_OK(run_trial(&s, 10, WN_COMPLETE), err);
    CHECK_OK(wni_study_ask(&s, 6, &job, &err), err);
    CHECK_OK(wni_study_report(&s, 1, 2, 3, 7, &next, &err), err);
    CHECK_OK(wni_study_report(&s, 1, 1, 4, 8, &next, &err), err);
    CHECK_OK(wni_study_ask(&s, 9, &job, &err), err);
    CHECK_OK(wni_study_report(&s, 2, 1, NAN, 10, &next, &err), err);
    CHECK_OK(wni_study_finish(&s, 2, WN_COMPLETE, 11, &err), err);
    CHECK_OK(wni_study_ask(&s, 12, &job, &err), err);
    CHECK_OK(wni_store_trials(url, "s", 0, note_trial, &l, &err), err);
    CHECK_TEXT(l.text, "0 COMPLETE 3 value=10.3333 at 3 best=11 at 1 asked 1 ended 5\n"
                       "1 RUNNING 2 value=3 at 2 best=4 at 1 asked 6 ended nan\n"
                       "2 FAILED 1 value=nan at 1 best=nan at nan asked 9 ended 11\n"
                       "3 RUNNING 0 value=nan at nan best=nan at nan asked 12 ended nan\n");
    l.text[0] = '\0';
    CHECK_OK(wni_store_trials(url, "s", 2, only_one, &l, &err), err);
    CHECK_TEXT(l.text, "2 FAILED 1 value=nan at 1 best=nan at nan asked 9 ended 11\n");
    wni_study_release(&s);
}

/* The best of a study is there while its trial still runs, and stays when that breaks. */
static void the_best_is_listed_at_once(void **state)
{
    (void)state;
    static const double values[] = {3, 1, 2, -INFINITY};
    static const char *const best[] = {"best=3 at 0", "best=1 at 0", "best=1 at 0", "best=1 at 0"};
    struct study s;
    struct handout job;
    wn_decision next;
    open_study(&s, "s", WN_MINIMIZE);
    CHECK_OK(wni_study_ask(&s, 0, &job, &err), err);
    for (int i = 0; i < 4; i++) {
        struct listing l = {""};
        CHECK_OK(wni_study_report(&s, 0, i + 1, values[i], 0, &next, &err), err);
        CHECK_OK(wni_store_studies(url, NULL, note_study, &l, &err), err);
        CHECK(strstr(l.text, best[i]), "'%s' after report %d", l.text, i);
    }
    wni_study_release(&s);
}

static void a_removed_study_is_gone(void **state)
{
    (void)state;
    struct study s, other;
    struct listing l = {""};
    open_study(&s, "s", WN_MINIMIZE);
    open_study(&other, "other", WN_MINIMIZE);
    CHECK_OK(run_trial(&s, 1, WN_COMPLETE), err);
    CHECK_OK(run_trial(&other, 1, WN_COMPLETE), err);
    CHECK_OK(wni_store_remove(url, "s", &err), err);
    CHECK_INT(wni_store_remove(url, "s", &err), WN_ENOTFOUND);
    CHECK_INT(run_trial(&s, 1, WN_COMPLETE), WN_ENOTFOUND); /* whoever has it open is told */
    CHECK(strstr(err.text, "study 's' was removed from store"), "'%s'", err.text);
    wni_study_release(&s);
    CHECK_INT(sql_number("SELECT count(*) FROM events"), 5);
    CHECK_INT(sql_number("SELECT count(*) FROM trials"), 1);
    open_study(&s, "s", WN_MAXIMIZE); /* the name is free, and the log empty */
    CHECK_INT(s.history.n_events, 0);
    CHECK_OK(run_trial(&other, 1, WN_COMPLETE), err);
    CHECK_OK(wni_store_studies(url, "other", note_study, &l, &err), err);
    wni_study_release(&s);
    wni_study_release(&other);
}

/* ---- the log and what is made from it ---- */

static void the_log_is_only_appended_to(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, "s", WN_MINIMIZE);
    CHECK_OK(run_trial(&s, 1, WN_COMPLETE), err);
    wni_study_release(&s);
    CHECK_INT(sql("UPDATE events SET value = 0"), SQLITE_CONSTRAINT);
    CHECK_INT(sql("DELETE FROM events WHERE seq = 2"), SQLITE_CONSTRAINT);
    CHECK_INT(sql("INSERT INTO events (id, study, kind, wall) VALUES (5, 1, 0, 0)"), SQLITE_CONSTRAINT);
    CHECK_INT(sql("UPDATE setups SET file = ''"), SQLITE_CONSTRAINT);
    CHECK_INT(sql("DELETE FROM setups"), SQLITE_CONSTRAINT);
    CHECK_INT(sql_number("SELECT count(*) FROM log WHERE study = 's' AND event = 'REPORT'"), 3);
}

static void rows_are_made_again_from_the_log(void **state)
{
    (void)state;
    struct study s;
    size_t wrong;
    struct listing before = {""}, after = {""};
    open_study(&s, "s", WN_MAXIMIZE);
    for (int i = 0; i < 10; i++)
        CHECK_OK(run_trial(&s, i, i % 3 ? WN_COMPLETE : WN_FAILED), err);
    CHECK_OK(wni_store_trials(url, "s", 0, note_trial, &before, &err), err);
    CHECK_OK(wni_rows_repair(&s, url, "s", &wrong, &err), err);
    CHECK_INT(wrong, 0);
    CHECK_INT(sql("DELETE FROM trials WHERE number = 3; UPDATE trials SET value = 0 WHERE number = 5;"
                  "UPDATE trials SET config = '{}' WHERE number = 6;"
                  "INSERT INTO trials SELECT (study << 40) + 77, study, state, attempt, saw, reports, value, "
                  "resource,"
                  " best, best_resource, asked, ended, config FROM trials WHERE number = 1"),
              SQLITE_OK);
    CHECK_OK(wni_rows_repair(&s, url, "s", &wrong, &err), err);
    CHECK_INT(wrong, 4);
    CHECK_OK(wni_rows_repair(&s, url, "s", &wrong, &err), err);
    CHECK_INT(wrong, 0);
    CHECK_OK(wni_store_trials(url, "s", 0, note_trial, &after, &err), err);
    CHECK_TEXT(after.text, before.text);
    wni_study_release(&s);
}

/* ---- versions ---- */

static void open_file(struct sqlite_file *f)
{
    CHECK_OK(wni_sqlite_open(f, url + strlen("sqlite:"), SQLITE_CREATE, &err), err);
}

static void older_files_are_brought_forward(void **state)
{
    (void)state;
    static const char *const later[] = {"never run", "nor this",
                                        "CREATE TABLE extra (x); INSERT INTO extra VALUES (7)",
                                        "UPDATE extra SET x = x + 1"};
    static const char *const broken[] = {"never run", "nor this",
                                         "CREATE TABLE extra (x); INSERT INTO nowhere VALUES (7)"};
    struct sqlite_file f;
    open_file(&f);
    CHECK_INT(wni_sqlite_migrate(&f, broken, 3, &err), WN_ESTORE);
    CHECK(strstr(err.text, "no such table: nowhere"), "'%s'", err.text);
    CHECK_INT(sql_number("SELECT max(version) FROM versions"), 2); /* all or nothing */
    CHECK_OK(wni_sqlite_migrate(&f, later, 4, &err), err);
    CHECK_INT(sql_number("SELECT x FROM extra"), 8);
    CHECK_OK(wni_sqlite_migrate(&f, later, 4, &err), err); /* once */
    CHECK_INT(sql_number("SELECT x FROM extra"), 8);
    CHECK_INT(sql_number("SELECT count(*) FROM versions"), 4);
    wni_sqlite_close(&f);
}

/* A file that the first version has made, with a study of its own and one of `winnow ask`. */
static void load_first_version(void)
{
    static char text[1 << 16];
    FILE *file = fopen("tests/golden/store_v1.sql", "r");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    CHECK_INT(sql(text), SQLITE_OK);
}

static void open_stored(struct study *s, const char *name)
{
    struct stored_setup stored;
    struct store store;
    char *json;
    CHECK_OK(wni_store_setup(url, name, &json, &err), err);
    CHECK_OK(wni_setup_read(&stored, json, NULL, &err), err);
    CHECK_OK(wni_store_open(&store, url, name, &stored.space, &err), err);
    CHECK_OK(wni_study_open(s, &stored.setup, &store, &err), err);
    wni_setup_release(&stored);
    free(json);
}

static void the_first_version_is_brought_forward(void **state)
{
    (void)state;
    struct study s;
    struct listing l = {""};
    size_t wrong;
    load_first_version();
    CHECK_OK(wni_store_studies(url, "driven", note_study, &l, &err), err); /* looking is enough */
    CHECK(strstr(l.text, "driven goal=1 trials=1 complete=0 events=2 best=0.5 at 0 file=name: driven\n"),
          "'%s'", l.text);
    CHECK_INT(sql_number("SELECT max(version) FROM versions"), 2);
    CHECK_INT(sql_number("SELECT count(*) FROM setups WHERE since = 0 AND file IS NOT NULL"), 2);
    CHECK_INT(sql_number("SELECT count(*) FROM pragma_table_info('studies')"), 4);
    open_stored(&s, "old");
    CHECK_INT(s.history.n_trials, 4);
    CHECK_INT(s.history.n_events, 16);
    CHECK_DOUBLE(s.history.best_value, 0.0280449180779);
    CHECK(strstr(wni_study_setup(&s)->file, "\"stop\": {\"trials\": 4}"), "'%s'", wni_study_setup(&s)->file);
    CHECK_OK(wni_rows_repair(&s, url, "old", &wrong, &err), err);
    CHECK_INT(wrong, 0);
    CHECK_OK(run_trial(&s, 1, WN_COMPLETE), err);
    wni_study_release(&s);
    CHECK_OK(wni_store_remove(url, "old", &err), err);
    CHECK_INT(sql_number("SELECT count(*) FROM setups"), 1);
}

static void newer_files_are_refused(void **state)
{
    (void)state;
    struct study s;
    open_study(&s, "s", WN_MINIMIZE);
    wni_study_release(&s);
    CHECK_INT(sql("INSERT INTO versions VALUES (99, 0, '9.9')"), SQLITE_OK);
    CHECK_INT(try_open(&s, "s", WN_MINIMIZE), WN_ESTORE);
    CHECK(strstr(err.text, "written by a newer Winnow (version 99 of the file, this program knows up to 2)"),
          "'%s'", err.text);
    CHECK_INT(wni_store_studies(url, NULL, note_study, NULL, &err), WN_ESTORE);
}

/* ---- bad files ---- */

static void check_refused(const char *says)
{
    struct study s;
    struct listing l = {""};
    CHECK_INT(try_open(&s, "s", WN_MINIMIZE), WN_ESTORE);
    CHECK(strstr(err.text, says) && strstr(err.text, path), "'%s' instead of '%s'", err.text, says);
    CHECK_INT(wni_store_studies(url, NULL, note_study, &l, &err), WN_ESTORE);
    CHECK(strstr(err.text, says), "'%s' instead of '%s'", err.text, says);
}

static void files_of_others_are_refused(void **state)
{
    (void)state;
    char garbage[9000];
    for (size_t i = 0; i < sizeof garbage; i++)
        garbage[i] = (char)(i * 7);
    check_tmp_write(folder, "store.db", garbage, sizeof garbage);
    check_refused("not a SQLite file");
    unlink(path);
    CHECK_INT(sql("CREATE TABLE studies (id)"), SQLITE_OK);
    check_refused("a SQLite file, but not one of Winnow's");
    CHECK_INT(sql_number("SELECT count(*) FROM sqlite_schema"), 1);
}

static void what_is_not_there(void **state)
{
    (void)state;
    struct study s;
    struct listing l = {""};
    CHECK_INT(wni_store_studies(url, NULL, note_study, &l, &err), WN_ENOTFOUND);
    CHECK(strstr(err.text, "there is no such file"), "'%s'", err.text);
    CHECK_INT(wni_store_remove(url, "s", &err), WN_ENOTFOUND);
    CHECK_INT(access(path, F_OK), -1); /* looking creates nothing */
    snprintf(url, sizeof url, "sqlite:///%s/missing/store.db", folder);
    CHECK_INT(try_open(&s, "s", WN_MINIMIZE), WN_ESTORE);
    CHECK(strstr(err.text, "/missing/store.db': cannot be opened: No such file or directory"), "'%s'",
          err.text);
    snprintf(url, sizeof url, "sqlite:///%s", folder);
    CHECK_INT(try_open(&s, "s", WN_MINIMIZE), WN_ESTORE);
    CHECK(strstr(err.text, "cannot be opened"), "'%s'", err.text);
}

static void fill_file(int trials)
{
    struct study s;
    open_study(&s, "s", WN_MINIMIZE);
    for (int i = 0; i < trials; i++)
        CHECK_OK(run_trial(&s, i, WN_COMPLETE), err);
    wni_study_release(&s);
}

/* Half a file is never taken for a whole one: a log that lost its end would be silent loss. */
static void cut_files_are_refused(void **state)
{
    (void)state;
    struct stat info;
    fill_file(200);
    CHECK_INT(stat(path, &info), 0);
    for (int part = 3; part >= 1; part--) {
        CHECK_INT(truncate(path, info.st_size * part / 4 / 4096 * 4096), 0);
        check_refused("the file is damaged");
    }
    CHECK_INT(truncate(path, 50), 0);
    check_refused("the file is damaged");
}

/* Whatever a bad disk makes of the bytes: an answer or a message, never a crash or an endless loop. */
static void damaged_files_are_survived(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(4, 4, 4);
    int refused = 0;
    static char bytes[400000];
    fill_file(100);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (int round = 0; round < 100; round++) {
        struct study s;
        static char copy[sizeof bytes];
        memcpy(copy, bytes, n);
        for (int i = check_between(&rng, 1, 40); i > 0; i--)
            copy[wni_rng_below(&rng, n)] = (char)wni_rng_below(&rng, 256);
        check_tmp_write(folder, "store.db", copy, n);
        wn_status st = try_open(&s, "s", WN_MINIMIZE);
        CHECK(st == WN_OK || st == WN_ESTORE || st == WN_EINVAL, "status %d: %s", st, err.text);
        refused += st != WN_OK;
        if (!st) run_trial(&s, 1, WN_COMPLETE);
        if (!st) wni_study_release(&s);
    }
    CHECK(refused > 10, "only %d of 100 damaged files were noticed", refused);
}

/* Even root then may do only what the bits of a file say. */
static bool obey_permissions(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    return syscall(SYS_capset, &header, none) == 0;
}

/* Does `reader` as somebody who may only read; it returns 0 when all is well. */
static void only_reading(int (*reader)(void))
{
    CHECK_INT(chmod(path, 0444), 0);
    CHECK_INT(chmod(folder, 0555), 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) _exit(obey_permissions() ? reader() : 3);
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the reader ended with %d", status);
    CHECK_INT(chmod(folder, 0755), 0);
}

static int read_new(void)
{
    struct study s;
    struct listing l = {""};
    if (try_open(&s, "s", WN_MINIMIZE) != WN_ESTORE || !strstr(err.text, "may not be written")) {
        fprintf(stderr, "# '%s'\n", err.text);
        return 1;
    }
    wn_status st = wni_store_studies(url, NULL, note_study, &l, &err);
    if (!st || strstr(err.text, "may not be written") || strstr(err.text, "cannot be opened")) return 0;
    fprintf(stderr, "# listing: '%s'\n", err.text);
    return 2;
}

static void read_only_files(void **state)
{
    (void)state;
    fill_file(1);
    only_reading(read_new);
}

static int read_old(void)
{
    struct listing l = {""};
    wn_status st = wni_store_studies(url, NULL, note_study, &l, &err);
    if (st == WN_ESTORE && strstr(err.text, "written by an older Winnow (version 1 of the file); it must be "
                                            "writable once, to be brought forward to version 2"))
        return 0;
    fprintf(stderr, "# %d '%s'\n", st, err.text);
    return 1;
}

static void an_old_file_must_be_writable_once(void **state)
{
    (void)state;
    load_first_version();
    only_reading(read_old);
    CHECK_INT(sql_number("SELECT max(version) FROM versions"), 1);
}

/* ---- full disks ---- */

/* Works until the disk is full; what was said to have happened is there, and once there is room it goes on.
 */
static void a_full_disk(void **state)
{
    (void)state;
    struct study s, again;
    open_study(&s, "s", WN_MINIMIZE);
    struct sqlite_store *store = s.store.self;
    CHECK_INT(sqlite3_exec(store->file.db, "PRAGMA max_page_count = 20", NULL, NULL, NULL), SQLITE_OK);
    wn_status st = WN_OK;
    int trials = 0;
    while (trials < 10000 && !(st = run_trial(&s, trials, WN_COMPLETE)))
        trials++;
    CHECK_INT(st, WN_ESTORE);
    CHECK(strstr(err.text, "the disk is full"), "'%s'", err.text);
    CHECK(trials > 5, "%d trials", trials);
    open_study(&again, "s", WN_MINIMIZE);
    CHECK_INT(again.history.n_events, s.history.n_events);
    wni_study_release(&again);
    sqlite3_exec(store->file.db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL);
    CHECK_OK(run_trial(&s, trials, WN_COMPLETE), err);
    wni_study_release(&s);
}

/* The same from below: the system refuses to let any file grow. */
static void files_may_not_grow(void **state)
{
    (void)state;
    struct study s, again;
    struct rlimit before, tight = {.rlim_cur = 300000};
    wn_status st = WN_OK;
    int trials = 0;
    signal(SIGXFSZ, SIG_IGN);
    open_study(&s, "s", WN_MINIMIZE);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight.rlim_max = before.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &tight), 0);
    while (trials < 10000 && !(st = run_trial(&s, trials, WN_COMPLETE)))
        trials++;
    size_t promised = s.history.n_events;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
    CHECK_INT(st, WN_ESTORE);
    CHECK(strstr(err.text, "the system cannot write it"), "'%s'", err.text);
    open_study(&again, "s", WN_MINIMIZE);
    CHECK_INT(again.history.n_events, promised);
    CHECK_OK(run_trial(&s, 0, WN_COMPLETE), err);
    CHECK_OK(wni_study_sync(&again, 0, &err), err);
    CHECK_INT(again.history.n_events, s.history.n_events);
    wni_study_release(&s);
    wni_study_release(&again);
}

/* ---- waiting ---- */

/* Somebody who never lets go is named at last. */
static void patience_has_an_end(void **state)
{
    (void)state;
    struct study one, two;
    open_study(&one, "s", WN_MINIMIZE);
    open_study(&two, "s", WN_MINIMIZE);
    ((struct sqlite_store *)two.store.self)->file.patience = 0.05;
    CHECK_OK(wni_study_enter(&one, &err), err);
    CHECK_INT(run_trial(&two, 1, WN_COMPLETE), WN_ESTORE);
    CHECK(strstr(err.text, "another process has not let anybody write for"), "'%s'", err.text);
    CHECK_OK(wni_study_leave(&one, WN_OK, &err), err);
    CHECK_OK(run_trial(&two, 1, WN_COMPLETE), err);
    wni_study_release(&one);
    wni_study_release(&two);
}

/* ---- checkpoints ---- */

static long size_of(const char *suffix)
{
    char name[sizeof path + 8];
    struct stat file;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &file) == 0 ? (long)file.st_size / 4096 : -1;
}

/* A thread moves the log into the file while commits go on; a log that is never at rest is bounded all the
 * same; and nothing is lost. */
static void a_thread_makes_checkpoints(void **state)
{
    (void)state;
    enum { PASS = 20, MOST = 200, TRIALS = 400 };
    for (int bounded = 0; bounded < 2; bounded++) {
        struct study s;
        const char *name = bounded ? "bounded" : "free";
        long log = 0;
        open_study(&s, name, WN_MINIMIZE);
        struct sqlite_store *store = s.store.self;
        store->helper = wni_sqlite_helper_new(&store->file, PASS, bounded ? MOST : INT32_MAX);
        assert_non_null(store->helper);
        long before = size_of("");
        for (int i = 0; i < TRIALS; i++) {
            CHECK_OK(run_trial(&s, i, WN_COMPLETE), err);
            if (!bounded && i % 20 == 0) usleep(1000); /* a moment for the thread */
            if (size_of("-wal") > log) log = size_of("-wal");
        }
        if (bounded) CHECK(log < 3 * MOST, "the log has become %ld pages long", log);
        if (!bounded) CHECK(size_of("") > before, "nothing was moved: %ld pages", before);
        wni_study_release(&s);
        CHECK_INT(size_of("-wal"), -1); /* the last to close has moved it all */
        open_study(&s, name, WN_MINIMIZE);
        CHECK_INT(s.history.by_state[WN_COMPLETE], TRIALS);
        wni_study_release(&s);
    }
}

/* Passes that fail do no harm. */
static void a_thread_without_a_file(void **state)
{
    (void)state;
    struct study s;
    char moved[sizeof path + 8];
    snprintf(moved, sizeof moved, "%s.away", path);
    open_study(&s, "s", WN_MINIMIZE);
    struct sqlite_store *store = s.store.self;
    store->helper = wni_sqlite_helper_new(&store->file, 1, INT32_MAX);
    CHECK_INT(rename(path, moved), 0);
    for (int i = 0; i < 20; i++)
        CHECK_OK(run_trial(&s, i, WN_COMPLETE), err);
    CHECK_INT(rename(moved, path), 0);
    wni_study_release(&s);
    open_study(&s, "s", WN_MINIMIZE);
    CHECK_INT(s.history.by_state[WN_COMPLETE], 20);
    wni_study_release(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(addresses),
        TEST(studies_are_listed),
        TEST(reasons_are_listed),
        TEST(trials_are_listed),
        TEST(the_best_is_listed_at_once),
        TEST(a_removed_study_is_gone),
        TEST(the_log_is_only_appended_to),
        TEST(rows_are_made_again_from_the_log),
        TEST(older_files_are_brought_forward),
        TEST(the_first_version_is_brought_forward),
        TEST(newer_files_are_refused),
        TEST(files_of_others_are_refused),
        TEST(what_is_not_there),
        TEST(cut_files_are_refused),
        TEST(damaged_files_are_survived),
        TEST(read_only_files),
        TEST(an_old_file_must_be_writable_once),
        TEST(a_full_disk),
        TEST(files_may_not_grow),
        TEST(patience_has_an_end),
        TEST(a_thread_makes_checkpoints),
        TEST(a_thread_without_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
