/* test_unreported.c -- what a user is told whose program printed no report. */
#include "tests/check.h"

#include "backend/unreported.h"

static struct buf said;

/* What is said about a program that printed this. */
static const char *explain(const char *metric, const char *resource, const char *pattern, const char *printed)
{
    struct report_form form;
    struct err err = {0};
    CHECK_OK(wni_report_form_init(&form, metric, resource, pattern, &err), err);
    wni_buf_clear(&said);
    wni_explain_unreported(&form, printed, strlen(printed), &said);
    wni_report_form_release(&form);
    return wni_buf_text(&said);
}

static int tear_down(void **state)
{
    (void)state;
    wni_buf_release(&said);
    return 0;
}

static void another_name_is_found(void **state)
{
    (void)state;
    CHECK_TEXT(explain("valid_loss", "epoch", NULL, "hello\nepoch=1 val_loss=0.69\nepoch=2 val_loss=0.5\n"),
               "it printed numbers for 'val_loss'; did you mean 'val_loss' as the metric?");
    CHECK_TEXT(
        explain("acc", NULL, NULL, "{\"accuracy_top_1\": 0.5, \"word\": \"x\"}\n"),
        "it printed numbers for 'accuracy_top_1'; name one of them as the metric, or print a line such as "
        "'acc=0.21', or set report.pattern in the study file");
    CHECK_TEXT(
        explain("zzzzzz", NULL, NULL, "a=1 b=2, c: 3; d=nan e=1e-3 f=4 a=5"),
        "it printed numbers for 'a', 'b', 'c', 'd' and more; name one of them as the metric, or print a "
        "line such as 'zzzzzz=0.21', or set report.pattern in the study file");
}

static void the_name_in_another_form_is_shown(void **state)
{
    (void)state;
    CHECK_TEXT(explain("loss", "epoch", NULL, "Epoch 3, loss: 0.25."),
               "it printed 'loss: 0.25', which is not the form of a report; print a line such as 'epoch=3 "
               "loss=0.21', or set report.pattern in the study file");
    CHECK_TEXT(
        explain("loss", NULL, NULL, "loss = 7"),
        "it printed 'loss = 7', which is not the form of a report; print a line such as 'loss=0.21', or "
        "set report.pattern in the study file");
}

static void nothing_that_looks_like_it(void **state)
{
    (void)state;
    static const char how[] = "print a line such as 'loss=0.21', or set report.pattern in the study file";
    static const char *const texts[] = {
        "done in 3 seconds\n", "loss=low", "12:30 started", "=5", "\"", "x=", "http://host:8080x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK_TEXT(explain("loss", NULL, NULL, texts[i]), how);
    CHECK_TEXT(explain("loss", NULL, "loss is ([0-9.]+)", "loss was 5\n"),
               "report.pattern found a number in none of its lines");
    explain("loss", NULL, NULL, "");
    CHECK(!strncmp(wni_buf_text(&said), "it printed nothing; ", 20), "got %s", wni_buf_text(&said));
}

/* Names and numbers of any length, cut anywhere: nothing is read behind the end. */
static void long_words_do_no_harm(void **state)
{
    (void)state;
    enum { LONG = 300 };
    char *text = test_malloc(2 * LONG);
    for (size_t name = 1; name < LONG; name += 13)
        for (size_t number = 1; number < LONG; number += 17) {
            memset(text, 'n', name);
            text[name] = '=';
            memset(text + name + 1, '7', number);
            struct report_form form = {.metric = "loss"};
            wni_buf_clear(&said);
            bool found = wni_explain_unreported(&form, text, name + 1 + number, &said);
            CHECK(found == (name < 64 && number < 64), "%zu letters, %zu digits", name, number);
        }
    test_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_name_is_found),
        cmocka_unit_test(the_name_in_another_form_is_shown),
        cmocka_unit_test(nothing_that_looks_like_it),
        cmocka_unit_test(long_words_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
