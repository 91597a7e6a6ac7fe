/* test_chart.c -- one colour per method, everywhere; long names are neither cut off nor mistaken. */
#include "tests/check.h"

#include "method/method.h"
#include "plot/chart.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct chart_line color_of(const char *const *names, size_t n, const char *name)
{
    struct chart_line lines[64];
    wni_chart_colors(names, n, lines);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(names[i], name)) return lines[i];
    fail_msg("no '%s'", name);
    return lines[0];
}

static void a_method_has_its_colour_in_every_company(void **state)
{
    (void)state;
    static const char *const single[] = {"rs", "tpe", "gp", "rea", "bore", "cqr"};
    static const char *const mixed[] = {"mine", "cqr", "other", "cqr+mf", "gp"};
    CHECK_TEXT(color_of(single, 6, "cqr").color, color_of(mixed, 5, "cqr").color);
    CHECK_TEXT(color_of(single, 6, "gp").color, color_of(mixed, 5, "gp").color);
    CHECK_TEXT(color_of(mixed, 5, "cqr+mf").color, color_of(mixed, 5, "cqr").color);
    CHECK(color_of(mixed, 5, "cqr+mf").dash != color_of(mixed, 5, "cqr").dash, "both look alike");
    CHECK_INT(color_of(single, 6, "cqr").dash, 1);
}

/* No two lines of a figure look alike: colour or dashes differ. */
static void check_distinct(const char *const *names, size_t n)
{
    struct chart_line lines[64];
    wni_chart_colors(names, n, lines);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(lines[i].color, lines[j].color) || lines[i].dash != lines[j].dash,
                  "%s and %s look alike", names[i], names[j]);
}

static void lines_differ(void **state)
{
    (void)state;
    static const char *const groups[][6] = {{"rs", "tpe", "gp", "rea", "bore", "cqr"},
                                            {"asha", "bohb", "ht", "mob", "cqr+mf", "qr+mf"},
                                            {"asha", "rea+mf", "gp+mf", "bore+mf", "qr+mf", "cqr+mf"},
                                            {"a", "b", "c", "d", "e", "f"},
                                            {"rs", "asha", "one-epoch", "cqr+mf", "mine", "yours"}};
    const char *all[64];
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        check_distinct(groups[g], 6);
        struct chart_line lines[6];
        wni_chart_colors(groups[g], 6, lines);
        for (size_t i = 0; g < 4 && i < 6; i++)
            CHECK_INT(lines[i].dash, 1); /* the paper's groups need no dashes */
    }
    size_t n = 0;
    for (; n < wni_method_count() && n < 30; n++)
        all[n] = wni_method_at(n)->name;
    check_distinct(all, n);
}

/* ---- scripts: they are written whether or not gnuplot is there to draw ---- */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/winnow-chart-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const endings[] = {"gp", "svg", "png", "pdf", "csv"};
    char path[96];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s/chart.%s", folder, endings[i]);
        unlink(path);
    }
    return rmdir(folder);
}

/* Whether the script of the chart that was drawn last holds a text. */
static bool script_has(const char *text)
{
    static char script[65536];
    char path[96];
    snprintf(path, sizeof path, "%s/chart.gp", folder);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(script, 1, sizeof script - 1, file);
    fclose(file);
    script[n] = '\0';
    return strstr(script, text) != NULL;
}

static void write_rows(size_t panels)
{
    struct buf csv = {0};
    struct err err = {0};
    wni_buf_puts(&csv, "task,percent,a,a_error,b,b_error\n");
    for (size_t i = 0; i < panels; i++)
        wni_buf_puts(&csv, "t,50,0.5,0.1,0.4,0.1\nt,100,0.3,0.1,0.2,0.1\n");
    CHECK_OK(wni_write_file(folder, "chart.csv", &csv, &err), err);
    wni_buf_release(&csv);
}

static struct chart chart_of(struct chart_line lines[2], const char *a, const char *b)
{
    wni_chart_colors((const char *const[]){a, b}, 2, lines);
    return (struct chart){.directory = folder, .name = "chart", .note = "", .lines = lines, .n = 2};
}

/* Drawn, or not for want of gnuplot. */
static void check_drawn(wn_status st, const struct err *err)
{
    CHECK(st == WN_OK || st == WN_ENOTFOUND, "%s", err->text);
}

/* Two tasks of a benchmark that differ in the middle of their names. */
static void long_titles_stay_apart(void **state)
{
    (void)state;
    struct chart_line lines[2];
    struct chart c = chart_of(lines, "a", "b");
    struct err err = {0};
    struct chart_panel panels[4] = {{.title = "taskset-patch128-lstm128-avg-bs64", .floor = 0.01},
                                    {.title = "taskset-patch128-lstm128-embed128-bs64‡", .floor = 0.01},
                                    {.title = "short", .floor = 0.01},
                                    {.title = "onewordthatislongandcannotbebrokenanywhere", .floor = 0.01}};
    write_rows(4);
    check_drawn(wni_chart_multiples(&c, "chart.csv", panels, 4, 2, "y", &err), &err);
    assert_true(script_has("set title 'taskset-patch128-lstm128-'.\"\\n\".'avg-bs64' "));
    assert_true(script_has("set title 'taskset-patch128-lstm128-'.\"\\n\".'embed128-bs64‡' "));
    assert_true(script_has("set title 'short' "));
    assert_true(script_has("…here' "));
}

/* The figure grows rather than cut a name off. */
static void long_names_have_room(void **state)
{
    (void)state;
    static const double ranks[] = {1.25, 1.75};
    struct critical_panel panel = {.title = "t", .remark = "r", .ranks = ranks};
    struct chart_line lines[2];
    struct err err = {0};
    struct chart c = chart_of(lines, "rs", "cqr");
    check_drawn(wni_chart_critical(&c, &panel, 1, &err), &err);
    assert_true(script_has("pdfcairo size 3.3in,")); /* a column */
    c = chart_of(lines, "rs", "a-name-of-forty-letters-as-a-spec-allows");
    check_drawn(wni_chart_critical(&c, &panel, 1, &err), &err);
    assert_false(script_has("pdfcairo size 3.3in,"));
    write_rows(2);
    struct chart_panel panels[2] = {{.title = "s", .floor = 0.01}, {.title = "t", .floor = 0.01}};
    check_drawn(wni_chart_multiples(&c, "chart.csv", panels, 2, 2, "y", &err), &err);
    assert_true(script_has("maxcols 1 "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_method_has_its_colour_in_every_company),
        cmocka_unit_test(lines_differ),
        cmocka_unit_test_setup_teardown(long_titles_stay_apart, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(long_names_have_room, make_folder, remove_folder),
    };
    return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}
