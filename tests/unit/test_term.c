/* test_term.c -- plot/term.h: pictures checked dot by dot where they are small, by their frame where not. */
#include "tests/check.h"

#include "base/utf8.h"
#include "plot/term.h"

/* Draws series without a title. */
static struct buf draw(const struct term_series *series, size_t n, struct term_plot plot)
{
    struct buf out = {0};
    plot.series = series;
    plot.n = n;
    wni_term_plot(&plot, &out);
    CHECK(!out.failed, "out of memory");
    CHECK(wni_utf8_valid(wni_buf_text(&out), out.len) == out.len, "not UTF-8");
    return out;
}

static size_t count_lines(const struct buf *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->len; i++)
        n += b->data[i] == '\n';
    return n;
}

/* Line k, from 0. */
static const char *line(const struct buf *b, size_t k, char out[512])
{
    const char *at = b->data;
    while (k-- > 0)
        at = strchr(at, '\n') + 1;
    snprintf(out, 512, "%.*s", (int)strcspn(at, "\n"), at);
    return out;
}

static void a_diagonal_goes_from_corner_to_corner(void **state)
{
    (void)state;
    char text[512];
    const double x[] = {0, 19}, y[] = {0, 19};
    struct term_series s = {.x = x, .y = y, .n = 2};
    struct buf out = draw(&s, 1, (struct term_plot){.title = "t", .x_label = "x", .width = 30, .height = 8});
    CHECK_INT(count_lines(&out), 8);
    CHECK_TEXT(line(&out, 0, text), "          t");
    CHECK_TEXT(line(&out, 1, text), "      19 ┤                ⣀⠤⠒⠉");
    CHECK_TEXT(line(&out, 5, text), "       0 ┤⣀⠤⠒⠉");
    CHECK_TEXT(line(&out, 6, text), "         └────────────────────");
    CHECK_TEXT(line(&out, 7, text), "          0        x        19");
    wni_buf_release(&out);
}

static void steps_hold_their_value(void **state)
{
    (void)state;
    char text[512];
    const double x[] = {0, 10, 20}, y[] = {2, 1, 1};
    struct term_series s = {.x = x, .y = y, .n = 3, .style = TERM_STEPS};
    struct buf out = draw(&s, 1, (struct term_plot){.width = 30, .height = 8});
    CHECK_TEXT(line(&out, 1, text), "       2 ┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⡇");
    CHECK_TEXT(line(&out, 5, text), "       1 ┤          ⣇⣀⣀⣀⣀⣀⣀⣀⣀⣀");
    wni_buf_release(&out);
}

static void points_are_not_joined(void **state)
{
    (void)state;
    char text[512];
    const double x[] = {0, 20}, y[] = {1, 2};
    struct term_series s = {.x = x, .y = y, .n = 2, .style = TERM_POINTS};
    struct buf out = draw(&s, 1, (struct term_plot){.width = 30, .height = 8});
    CHECK_TEXT(line(&out, 1, text), "       2 ┤                   ⠈");
    CHECK_TEXT(line(&out, 3, text), "     1.5 ┤");
    CHECK_TEXT(line(&out, 5, text), "       1 ┤⡀");
    wni_buf_release(&out);
}

static void log_scales_and_limits(void **state)
{
    (void)state;
    char text[512];
    const double x[] = {0, 1, 2, 3}, y[] = {100, 1, -5, 0.01};
    struct term_series s = {.x = x, .y = y, .n = 4};
    struct buf out = draw(&s, 1, (struct term_plot){.width = 40, .height = 8, .log_y = true});
    CHECK(strstr(line(&out, 1, text), "     100 ┤"), "%s", text);
    CHECK(strstr(line(&out, 3, text), "       1 ┤"), "%s", text);
    CHECK(strstr(line(&out, 5, text), "    0.01 ┤"), "%s", text);
    wni_buf_release(&out);
    out = draw(&s, 1, (struct term_plot){.width = 40, .height = 8, .y_min = 0, .y_max = 2});
    CHECK(strstr(line(&out, 1, text), "       2 ┤"), "%s", text);
    CHECK(strstr(line(&out, 5, text), "       0 ┤"), "%s", text);
    wni_buf_release(&out);
}

static void what_cannot_be_drawn_is_left_out(void **state)
{
    (void)state;
    const double x[] = {NAN, 1, 2}, y[] = {1, INFINITY, NAN};
    struct term_series s = {.x = x, .y = y, .n = 3};
    struct buf out = draw(&s, 1, (struct term_plot){.title = "t", .width = 40, .height = 9});
    CHECK_TEXT(out.data, "          t\n          (nothing to draw)\n");
    wni_buf_release(&out);
    out = draw(NULL, 0, (struct term_plot){.width = 40, .height = 9});
    CHECK_INT(count_lines(&out), 2);
    wni_buf_release(&out);
}

static void colors_are_switched_off_again(void **state)
{
    (void)state;
    const double x[] = {0, 1}, y[] = {0, 1};
    struct term_series s[] = {{.name = "one", .x = x, .y = y, .n = 2, .color = 1},
                              {.name = "two", .x = x, .y = x, .n = 2, .color = 3}};
    struct buf out = draw(s, 2, (struct term_plot){.title = "t", .width = 40, .height = 9, .color = true});
    for (const char *at = out.data; *at;) {
        int on = 0;
        size_t n = strcspn(at, "\n");
        for (size_t i = 0; i < n; i++)
            if (at[i] == '\033') on = strncmp(at + i, "\033[0m", 4) != 0;
        CHECK(!on, "a colour is left on: %.*s", (int)n, at);
        at += n + 1;
    }
    CHECK(strstr(out.data, "\033[34m⠒⠒\033[0m one") && strstr(out.data, "two"), "%s", out.data);
    wni_buf_release(&out);
    out = draw(s, 2, (struct term_plot){.title = "t", .width = 40, .height = 9});
    CHECK(!strchr(out.data, '\033'), "colours without being asked");
    wni_buf_release(&out);
}

/* Whatever the data, the frame is as wide and high as it should be. */
static void frames_are_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 1);
        double x[50], y[50];
        size_t n = (size_t)check_between(&rng, 1, 50);
        for (size_t i = 0; i < n; i++) {
            x[i] = check_magnitude(&rng, -9, 9) * (check_chance(&rng, 50) ? -1 : 1);
            y[i] = check_chance(&rng, 10) ? NAN : check_magnitude(&rng, -300, 300);
        }
        y[0] = 1;
        struct term_series s = {.x = x, .y = y, .n = n, .style = (enum term_style)check_between(&rng, 0, 2)};
        int width = check_between(&rng, 1, 120), height = check_between(&rng, 1, 40);
        struct buf out = draw(
            &s, 1, (struct term_plot){.width = width, .height = height, .log_y = check_chance(&rng, 50)});
        CHECK_INT(count_lines(&out), height < 8 ? 8 : height);
        for (const char *at = out.data; *at;) {
            size_t bytes = strcspn(at, "\n"), columns = wni_utf8_count(at, bytes);
            CHECK(columns <= (size_t)(width < 30 ? 30 : width) + 8, "seed %llu: %zu columns: %.*s",
                  (unsigned long long)seed, columns, (int)bytes, at);
            at += bytes + 1;
        }
        wni_buf_release(&out);
    }
}

/* The axis reads as the values do; what is not above 0 is left out. */
static void a_logarithmic_x_axis(void **state)
{
    (void)state;
    char text[512];
    const double x[] = {1e-4, 0, 1e-2, 1}, y[] = {0, 7, 1, 2};
    struct term_series s = {.x = x, .y = y, .n = 4, .style = TERM_POINTS};
    struct buf out =
        draw(&s, 1, (struct term_plot){.x_label = "lr", .log_x = true, .width = 30, .height = 8});
    CHECK_TEXT(line(&out, 1, text), "       2 ┤                   ⠈");
    CHECK_TEXT(line(&out, 3, text), "       1 ┤          ⠄");
    CHECK_TEXT(line(&out, 5, text), "       0 ┤⡀");
    CHECK_TEXT(line(&out, 7, text), "          0.0001     lr      1");
    wni_buf_release(&out);
}

static void points_outside_stand_at_the_edge(void **state)
{
    (void)state;
    char text[512];
    const double x[] = {0, 1, 2}, y[] = {1e6, 1, -1e6};
    struct term_series s = {.x = x, .y = y, .n = 3, .style = TERM_POINTS};
    struct term_plot plot = {.width = 30, .height = 8, .y_min = 0, .y_max = 2};
    struct buf out = draw(&s, 1, plot);
    CHECK_TEXT(line(&out, 1, text), "       2 ┤⠁");
    CHECK_TEXT(line(&out, 5, text), "       0 ┤                   ⢀");
    wni_buf_release(&out);
    s.style = TERM_LINE; /* a line leaves the picture */
    out = draw(&s, 1, plot);
    CHECK_TEXT(line(&out, 1, text), "       2 ┤      ⠈⢢");
    wni_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diagonal_goes_from_corner_to_corner),
        cmocka_unit_test(steps_hold_their_value),
        cmocka_unit_test(points_are_not_joined),
        cmocka_unit_test(log_scales_and_limits),
        cmocka_unit_test(what_cannot_be_drawn_is_left_out),
        cmocka_unit_test(colors_are_switched_off_again),
        cmocka_unit_test(frames_are_exact),
        cmocka_unit_test(a_logarithmic_x_axis),
        cmocka_unit_test(points_outside_stand_at_the_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
