/* test_spawn.c -- backend/spawn.h: what a new process is given, why it could not be, and that it leaves us
 * alone while it shares our memory. */
#define _GNU_SOURCE
#include "tests/check.h"

#include "backend/spawn.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

static char folder[CHECK_PATH_MAX];
static struct err err;

static int set_up(void **state)
{
    (void)state;
    check_tmp_make(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    check_tmp_remove(folder);
    return 0;
}

static const char *in_folder(const char *name)
{
    static char path[2 * CHECK_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Where all print to, emptied. */
static int open_output(void)
{
    int fd = open(in_folder("out"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    CHECK(fd >= 0, "%s", in_folder("out"));
    return fd;
}

static void prepare(struct spawn *s, const char *const *argv)
{
    static char path[2 * CHECK_PATH_MAX];
    static const struct making outputs[] = {{.kind = MAKE_OUTPUT, .place = 1, .path = path},
                                            {.kind = MAKE_OUTPUT, .place = 2, .path = path}};
    snprintf(path, sizeof path, "%s/out", folder);
    wni_spawn_clear(s);
    wni_environment_init(&s->env, environ);
    s->argv = argv;
    s->makings = outputs;
    s->n_makings = 2;
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        CHECK_INT(errno, EINTR);
    return status;
}

/* Runs argv to its end.  Returns its status; what it printed is in `text`. */
static int run(const char *const *argv, char *text, size_t room)
{
    struct spawn s = {0};
    pid_t pid = 0;
    int out = open_output();
    prepare(&s, argv);
    CHECK_OK(wni_spawn(&s, &pid, &err), err);
    int status = wait_for(pid);
    CHECK(!wni_spawn_is_near(&s), "it has ended and is near");
    CHECK_OK(wni_spawn_result(&s, &err), err);
    ssize_t n = pread(out, text, room - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(out);
    wni_spawn_release(&s);
    return status;
}

/* ---- what it is given ---- */

static void a_fresh_program(void **state)
{
    (void)state;
    char text[4096], session[64];
    static const char *const argv[] = {
        "sh", "-c",
        "cat; grep -E '^Sig(Blk|Ign)' /proc/self/status; ps -o sid= -p $$; echo $$; echo loud >&2; exit 3",
        NULL};
    sigset_t some, before;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigprocmask(SIG_BLOCK, &some, &before);
    void (*was)(int) = signal(SIGPIPE, SIG_IGN);
    int status = run(argv, text, sizeof text);
    signal(SIGPIPE, was);
    sigset_t after;
    sigprocmask(SIG_SETMASK, &before, &after);
    CHECK_INT(sigismember(&after, SIGUSR1), 1);
    CHECK_INT(sigismember(&after, SIGTERM), 0);
    CHECK_INT(WEXITSTATUS(status), 3);
    CHECK(strstr(text, "SigBlk:\t0000000000000000"), "%s", text);
    CHECK(strstr(text, "SigIgn:\t0000000000000000"), "%s", text);
    CHECK(strstr(text, "loud\n"), "%s", text);
    int sid = 0, pid = 0;
    const char *numbers = strchr(strstr(text, "SigIgn"), '\n');
    CHECK(sscanf(numbers, "%d %d", &sid, &pid) == 2 && sid == pid, "%s", text);
    snprintf(session, sizeof session, "%d", (int)getsid(0));
    CHECK(sid != getsid(0), "it is in our session %s", session);
}

static void the_environment(void **state)
{
    (void)state;
    struct environment e, copy;
    char long_value[3000];
    memset(long_value, 'x', sizeof long_value - 1);
    long_value[sizeof long_value - 1] = '\0';
    char *inherited[] = {"PATH=/bin", "WINNOW_OLD=1", "PA=2", NULL};
    wni_environment_init(&e, inherited);
    CHECK_INT(e.n, 2);
    CHECK(wni_environment_has(&e, "PA") && !wni_environment_has(&e, "P"), "names are whole");
    wni_environment_set(&e, "PA", "%d", 3);
    wni_environment_copy(&copy, &e);
    wni_environment_set(&copy, "LONG", "%s", long_value);
    wni_environment_set(&copy, "PATH", "%s", "/sbin");
    CHECK_INT(copy.failed, false);
    CHECK_INT(copy.n, 3);
    CHECK_TEXT(copy.items[0], "PATH=/sbin");
    CHECK_TEXT(copy.items[1], "PA=3");
    CHECK_TEXT(copy.items[2] + 5, long_value);
    CHECK(!copy.items[3], "the list has no end");
    CHECK_TEXT(e.items[0], "PATH=/bin");
    wni_environment_release(&copy);
    wni_environment_release(&e);
}

/* ---- what it makes ---- */

/* Runs `true` after making these.  Returns the status it is told with. */
static wn_status make(const struct making *makings, size_t n)
{
    static const char *const argv[] = {"true", NULL};
    struct spawn s = {0};
    pid_t pid = 0;
    prepare(&s, argv);
    s.makings = makings;
    s.n_makings = n;
    CHECK_OK(wni_spawn(&s, &pid, &err), err);
    int status = wait_for(pid);
    wn_status st = wni_spawn_result(&s, &err);
    CHECK_INT(WEXITSTATUS(status), st ? 127 : 0);
    wni_spawn_release(&s);
    return st;
}

static void folders_and_files(void **state)
{
    (void)state;
    char inner[2 * CHECK_PATH_MAX + 8], file[2 * CHECK_PATH_MAX + 8], text[64] = "";
    snprintf(inner, sizeof inner, "%s/new", folder);
    snprintf(file, sizeof file, "%s/new/file", folder);
    const struct making makings[] = {{.kind = MAKE_FOLDER, .path = inner},
                                     {.kind = MAKE_FILE, .path = file, .text = "what is in it", .length = 10},
                                     {.kind = MAKE_FILE, .path = file, .text = "short", .length = 5},
                                     {.kind = MAKE_FOLDER, .path = inner}}; /* is there: fine */
    for (int i = 0; i < 2; i++) {
        CHECK_OK(make(makings, 2 + 2 * (size_t)i), err);
        int fd = open(file, O_RDONLY);
        ssize_t n = read(fd, text, sizeof text - 1);
        close(fd);
        text[n > 0 ? n : 0] = '\0';
        CHECK_TEXT(text, i == 0 ? "what is in" : "short");
    }
    const struct making wrong[] = {{.kind = MAKE_FOLDER, .path = file},
                                   {.kind = MAKE_FILE, .path = inner, .text = "", .length = 0},
                                   {.kind = MAKE_OUTPUT, .path = "/no/such/folder", .place = 1},
                                   {.kind = MAKE_FILE, .path = "/dev/full", .text = "x", .length = 1}};
    const char *const said[] = {"cannot make folder '", "cannot write '", "cannot open '", "cannot write '"};
    const char *const why[] = {"Not a directory", "Is a directory", "No such file or directory",
                               "No space left on device"};
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(make(&wrong[i], 1), WN_EIO);
        CHECK(!strncmp(err.text, said[i], strlen(said[i])) && strstr(err.text, wrong[i].path) &&
                  strstr(err.text, why[i]),
              "%s", err.text);
    }
}

/* A daemon's runner may have been started without them. */
static void outputs_where_ours_are_closed(void **state)
{
    (void)state;
    char text[64];
    static const char *const argv[] = {"sh", "-c", "echo out; echo err >&2", NULL};
    for (int closed = 0; closed < 8; closed++) {
        int kept[3];
        for (int i = 0; i < 3; i++)
            kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
        struct spawn s = {0};
        pid_t pid = 0;
        int out = open_output();
        prepare(&s, argv);
        for (int i = 0; i < 3; i++)
            if (closed >> i & 1) close(i);
        wn_status st = wni_spawn(&s, &pid, &err);
        int status = st ? 0 : wait_for(pid);
        for (int i = 0; i < 3; i++) {
            dup2(kept[i], i);
            close(kept[i]);
        }
        CHECK_OK(st, err);
        CHECK_INT(status, 0);
        ssize_t n = pread(out, text, sizeof text - 1, 0);
        text[n > 0 ? n : 0] = '\0';
        CHECK_TEXT(text, "out\nerr\n");
        close(out);
        wni_spawn_release(&s);
    }
}

/* ---- where it is looked for ---- */

static void write_script(const char *name, mode_t mode)
{
    static const char script[] = "#!/bin/sh\necho \"here: $0\"\n";
    char path[2 * CHECK_PATH_MAX];
    check_tmp_write(folder, name, script, sizeof script - 1);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_INT(chmod(path, mode), 0);
}

/* Starts what cannot be executed.  Returns the status it is told with. */
static wn_status fail_to_run(const char *name)
{
    const char *argv[] = {name, NULL};
    struct spawn s = {0};
    pid_t pid = 0;
    prepare(&s, argv);
    CHECK_OK(wni_spawn(&s, &pid, &err), err);
    CHECK_INT(WEXITSTATUS(wait_for(pid)), 127);
    wn_status st = wni_spawn_result(&s, &err);
    wni_spawn_release(&s);
    return st;
}

static void along_the_path(void **state)
{
    (void)state;
    char *before = strdup(getenv("PATH")), text[1024], path[8 * CHECK_PATH_MAX], expected[2 * CHECK_PATH_MAX];
    static const char *const argv[] = {"a-script-of-ours", NULL};
    write_script("a-script-of-ours", 0755);
    snprintf(path, sizeof path, "/no/such/folder:/dev/null:%s:/bin", folder); /* a file is no folder */
    setenv("PATH", path, 1);
    CHECK_INT(run(argv, text, sizeof text), 0);
    snprintf(expected, sizeof expected, "here: %s/a-script-of-ours\n", folder);
    CHECK_TEXT(text, expected);

    CHECK_INT(fail_to_run("no-such-program"), WN_EINVAL);
    CHECK_TEXT(err.text, "cannot run 'no-such-program': No such file or directory");
    write_script("not-for-running", 0644);
    CHECK_INT(fail_to_run("not-for-running"), WN_EINVAL); /* found, though not the last place */
    CHECK_TEXT(err.text, "cannot run 'not-for-running': Permission denied");
    check_tmp_write(folder, "junk", "\1\2\3", 3);
    snprintf(path, sizeof path, "%s/junk", folder);
    chmod(path, 0755);
    CHECK_INT(fail_to_run(path), WN_EINVAL);
    CHECK(strstr(err.text, "Exec format error"), "%s", err.text);

    setenv("PATH", ":/bin", 1); /* an empty place is the current folder */
    char *here = getcwd(NULL, 0);
    CHECK(here && chdir(folder) == 0, "%s", folder);
    CHECK_INT(run(argv, text, sizeof text), 0);
    CHECK_INT(chdir(here), 0);
    CHECK_TEXT(text, "here: a-script-of-ours\n");
    free(here);
    setenv("PATH", before, 1);
    free(before);
}

/* ---- side by side ---- */

/* Processes that cannot execute their program make calls that fail, while we look at our errno. */
static void our_errno_is_ours(void **state)
{
    (void)state;
    static const char *const argv[] = {"no-such-program", NULL};
    struct spawn s = {0};
    for (int i = 0; i < 100; i++) {
        pid_t pid = 0;
        prepare(&s, argv);
        CHECK_OK(wni_spawn(&s, &pid, &err), err);
        CHECK(pid > 0, "no number");
        errno = 0;
        double until = wni_clock_seconds() + 20;
        while (wni_spawn_is_near(&s) && wni_clock_seconds() < until)
            CHECK_INT(errno, 0);
        CHECK(!wni_spawn_is_near(&s), "it is near after 20 s");
        CHECK_INT(errno, 0);
        CHECK_INT(wni_spawn_result(&s, &err), WN_EINVAL);
        wait_for(pid);
    }
    wni_spawn_release(&s);
}

static void a_signal_reaches_it_at_any_moment(void **state)
{
    (void)state;
    static const char *const argv[] = {"sleep", "60", NULL};
    struct spawn s = {0};
    for (unsigned i = 0; i < 100; i++) {
        pid_t pid = 0;
        prepare(&s, argv);
        CHECK_OK(wni_spawn(&s, &pid, &err), err);
        if (i % 2) usleep(i * 20);
        CHECK(wni_group_signal(pid, SIGTERM), "nobody is there");
        int status = wait_for(pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "run %u ended with %x", i,
              (unsigned)status);
        CHECK(!wni_group_signal(pid, 0), "somebody is left");
    }
    wni_spawn_release(&s);
}

/* Each its own arguments and environment, many at a time. */
static void many_at_a_time(void **state)
{
    (void)state;
    enum { N = 40 };
    struct spawn all[N] = {0};
    pid_t pids[N];
    char numbers[N][8];
    const char *argv[N][5];
    for (int i = 0; i < N; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%d", i);
        memcpy(argv[i], (const char *[]){"sh", "-c", "exit $(($0 + $MORE))", numbers[i], NULL},
               sizeof argv[i]);
        prepare(&all[i], argv[i]);
        wni_environment_set(&all[i].env, "MORE", "%d", 100 - 2 * i);
        CHECK_OK(wni_spawn(&all[i], &pids[i], &err), err);
    }
    for (int i = 0; i < N; i++) {
        CHECK_INT(WEXITSTATUS(wait_for(pids[i])), 100 - i);
        CHECK_OK(wni_spawn_result(&all[i], &err), err);
        wni_spawn_release(&all[i]);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_program),
        cmocka_unit_test(the_environment),
        cmocka_unit_test(folders_and_files),
        cmocka_unit_test(outputs_where_ours_are_closed),
        cmocka_unit_test(along_the_path),
        cmocka_unit_test(our_errno_is_ours),
        cmocka_unit_test(a_signal_reaches_it_at_any_moment),
        cmocka_unit_test(many_at_a_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
