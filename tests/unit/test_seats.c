/* test_seats.c -- runners of one study on a machine have different seats. */
#include "tests/check.h"

#include "backend/seats.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void take(struct seats *s, const char *folder, unsigned n)
{
    struct err err = {0};
    CHECK_OK(wni_seats_take(s, folder, n, &err), err);
}

static void the_lowest_that_are_free(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX];
    struct seats a, b, c;
    check_tmp_make(dir);
    take(&a, dir, 2);
    take(&b, dir, 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT(b.number[i], 2 + i);
    CHECK_INT(a.number[0], 0);
    CHECK_INT(a.number[1], 1);
    wni_seats_leave(&a);
    take(&c, dir, 3); /* the two that were left, and the next behind the others */
    CHECK_INT(c.number[0], 0);
    CHECK_INT(c.number[1], 1);
    CHECK_INT(c.number[2], 5);
    wni_seats_leave(&b);
    wni_seats_leave(&c);
    check_tmp_remove(dir);
}

static void a_killed_process_has_none(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX], byte;
    int ends[2];
    struct seats s;
    check_tmp_make(dir);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        take(&s, dir, 4);
        if (write(ends[1], "x", 1) != 1) _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    take(&s, dir, 1);
    CHECK_INT(s.number[0], 4);
    wni_seats_leave(&s);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    take(&s, dir, 1);
    CHECK_INT(s.number[0], 0);
    wni_seats_leave(&s);
    close(ends[0]);
    close(ends[1]);
    check_tmp_remove(dir);
}

static void without_locks_they_are_counted(void **state)
{
    (void)state;
    struct seats s;
    take(&s, "/nowhere/at/all", 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT(s.number[i], i);
    wni_seats_leave(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_lowest_that_are_free),
                                       cmocka_unit_test(a_killed_process_has_none),
                                       cmocka_unit_test(without_locks_they_are_counted)};
    return cmocka_run_group_tests_name("seats", tests, NULL, NULL);
}
