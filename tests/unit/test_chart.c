/* test_chart.c -- one colour per method, everywhere. */
#include "tests/check.h"

#include "method/method.h"
#include "plot/chart.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_method_has_its_colour_in_every_company),
        cmocka_unit_test(lines_differ),
    };
    return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}
