/* test_local.c -- processes when memory runs out: no leak, nothing left running, no lie.
 *
 * Each allocation of a small run with real processes fails in turn.  It may succeed, say WN_ENOMEM, or tell
 * that the trial could not be started for want of memory. */
#define _GNU_SOURCE
#include "tests/check.h"

#include "backend/local.h"
#include "backend/report.h"
#include "plot/term.h"
#include "tests/fault/alloc.h"

#include <errno.h>
#include <sys/wait.h>

static char folder[CHECK_PATH_MAX];
static struct space space;

static wn_status expand(void *context, uint32_t trial, const double *config, struct arena *arena,
                        const char *const **argv, struct err *err)
{
    static const char *const words[] = {"/bin/sh", "-c",
                                        "printf 'epoch=1 '; echo loss=2; echo oh >&2; exit 3", NULL};
    (void)context, (void)trial, (void)config, (void)arena, (void)err;
    *argv = words;
    return WN_OK;
}

/* Runs a trial; memory is whole again when this returns. */
static wn_status run_one(bool *told)
{
    struct backend backend;
    struct err err = {0};
    static const char *const env[] = {"A", "b"};
    struct backend_setup setup = {.workers = 2,
                                  .study = "s",
                                  .folder = folder,
                                  .space = &space,
                                  .expand = expand,
                                  .metric = "loss",
                                  .resource = "epoch",
                                  .pattern = NULL,
                                  .max_resource = 9,
                                  .grace = 1,
                                  .env = env,
                                  .n_env = 1};
    static const double config[1] = {0.5};
    struct happening it = {0};
    wn_status st = wni_backend_open(&backend, wni_backend_find("local", NULL), &setup, &err);
    if (st) return st;
    st = backend.ops->start(backend.self, 0, config, false, 0, &err);
    for (unsigned reports = 0; !st && !(st = backend.ops->next(backend.self, &it, &err));) {
        reports += it.kind == HAPPENED_REPORT;
        if (it.kind != HAPPENED_END) continue;
        *told = strstr(it.detail, "out of memory") != NULL;
        if (!*told) {
            CHECK_INT(reports, 1);
            CHECK_TEXT(it.detail, "exit code 3\nlast lines of stderr:\noh");
        }
        break;
    }
    backend.ops->close(backend.self);
    return st;
}

static void any_allocation_of_a_run_may_fail(void **state)
{
    (void)state;
    for (int mode = ALLOC_ONCE; mode <= ALLOC_FROM; mode++)
        for (size_t k = 0;; k++) {
            size_t before = alloc_live();
            bool told = false;
            alloc_fail_at(k, (enum alloc_mode)mode);
            wn_status st = run_one(&told);
            alloc_fail_never();
            CHECK(alloc_live() == before, "allocation %zu failed, mode %d: %zu blocks alive, %zu before", k,
                  mode, alloc_live(), before);
            CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "allocation %zu: a process is left",
                  k);
            CHECK(st == WN_OK || (alloc_failed() && st == WN_ENOMEM), "allocation %zu, mode %d: status %d", k,
                  mode, st);
            CHECK(!told || alloc_failed(), "allocation %zu", k);
            if (alloc_failed()) continue;
            CHECK(k > 20, "it takes only %zu allocations", k);
            break;
        }
}

static wn_status count(void *context, const struct report *report, struct err *err)
{
    (void)report, (void)err;
    ++*(size_t *)context;
    return WN_OK;
}

static void a_stream_says_that_memory_ran_out(void **state)
{
    (void)state;
    struct report_form form;
    struct report_stream s;
    struct err err = {0};
    size_t n = 0, before = alloc_live();
    CHECK_OK(wni_report_form_init(&form, "loss", NULL, NULL, &err), err);
    wni_report_stream_init(&s, &form, 0);
    alloc_fail_at(0, ALLOC_ONCE);
    CHECK_INT(wni_report_feed(&s, "lo", 2, count, &n, &err), WN_ENOMEM);
    alloc_fail_never();
    CHECK_OK(wni_report_feed(&s, "x\nloss=1\n", 9, count, &n, &err), err); /* it goes on with the next line */
    CHECK_INT(n, 1);
    wni_report_stream_release(&s);
    wni_report_form_release(&form);
    CHECK_INT(alloc_live(), before);
}

static void pictures_fail_without_a_leak(void **state)
{
    (void)state;
    const double x[] = {0, 1};
    struct term_series series = {.x = x, .y = x, .n = 2};
    struct term_plot plot = {.title = "t", .series = &series, .n = 1, .width = 40, .height = 10};
    for (size_t k = 0;; k++) {
        struct buf out = {0};
        size_t before = alloc_live();
        alloc_fail_at(k, ALLOC_ONCE);
        wni_term_plot(&plot, &out);
        alloc_fail_never();
        CHECK_INT(out.failed, alloc_failed());
        wni_buf_release(&out);
        CHECK_INT(alloc_live(), before);
        if (!alloc_failed()) break;
    }
}

static int set_up(void **state)
{
    (void)state;
    struct err err = {0};
    check_tmp_make(folder);
    wni_space_init(&space);
    struct param_decl x = {.name = "x", .kind = PARAM_FLOAT, .max = 1};
    return wni_space_add(&space, &x, &err);
}

static int tear_down(void **state)
{
    (void)state;
    wni_space_release(&space);
    check_tmp_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_of_a_run_may_fail),
        cmocka_unit_test(a_stream_says_that_memory_ran_out),
        cmocka_unit_test(pictures_fail_without_a_leak),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
