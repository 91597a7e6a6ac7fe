/* test_base_text.c -- numbers, buffers, text, options and memory: what everything else is built from. */
#include "tests/check.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/closest.h"
#include "base/duration.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/opts.h"
#include "base/registry.h"
#include "base/utf8.h"

#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <stdalign.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- number ---- */

static void check_formatted(double x, const char *expected)
{
    char text[WNI_NUMBER_MAX];
    size_t n = wni_format_double(x, text);
    CHECK_TEXT(text, expected);
    CHECK_INT(n, strlen(text));
}

static void test_format_double(void **state)
{
    (void)state;
    check_formatted(0, "0");
    check_formatted(-0.0, "-0");
    check_formatted(81, "81");
    check_formatted(-3, "-3");
    check_formatted(0.1, "0.1");
    check_formatted(1e-5, "1e-05");
    check_formatted(1.0 / 3, "0.3333333333333333");
    check_formatted(0.1 + 0.2, "0.30000000000000004");
    check_formatted(999999999999999, "999999999999999");
    check_formatted(1e15, "1e+15");
    check_formatted(1e22, "1e+22");
    check_formatted(DBL_MAX, "1.7976931348623157e+308");
    check_formatted(INFINITY, "inf");
    check_formatted(-INFINITY, "-inf");
    check_formatted(NAN, "nan");
    check_formatted(-NAN, "nan");
}

/* Any bit pattern comes back as itself, and fewer of 15, 16 or 17 digits would not do. */
static void check_comes_back(double x)
{
    char text[WNI_NUMBER_MAX], shorter[WNI_NUMBER_MAX];
    double back = 0;
    size_t n = wni_format_double(x, text);
    CHECK(n < WNI_NUMBER_MAX && wni_parse_double(text, &back), "%.17g became '%s'", x, text);
    CHECK_DOUBLE(back, x);
    if (!isfinite(x) || (x == rint(x) && fabs(x) < 1e15)) return;
    int digits = 15;
    do
        snprintf(shorter, sizeof shorter, "%.*g", digits, x);
    while (strtod(shorter, NULL) != x && digits++ < 17);
    CHECK_TEXT(text, shorter);
}

static void test_every_double_comes_back(void **state)
{
    (void)state;
    static const double special[] = {
        DBL_MIN,  DBL_MAX, DBL_TRUE_MIN, DBL_EPSILON, 1e15,      1e15 - 1,
        1e15 + 2, 0x1p53,  0x1p63,       0x1p64,      INFINITY,  -INFINITY,
        NAN,      0.0,     -0.0,         4.35,        0.1 + 0.7, 123456789012345678.0};
    for (size_t i = 0; i < COUNT(special); i++)
        check_comes_back(special[i]);
    struct rng rng = wni_rng_stream(11, 0, 1);
    for (int i = 0; i < 50000; i++) {
        uint64_t bits = wni_rng_u64(&rng);
        double x;
        memcpy(&x, &bits, sizeof x);
        check_comes_back(x);
        check_comes_back((double)check_between(&rng, -2000000, 2000000) / 1000);
    }
}

static void test_parse_double(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"0", 0},          {"1", 1},
        {"-1", -1},        {"+1", 1},
        {"1.5", 1.5},      {".5", 0.5},
        {"5.", 5},         {"1e3", 1000},
        {"1E-3", 0.001},   {"1e+3", 1000},
        {"-0", -0.0},      {"007", 7},
        {"inf", INFINITY}, {"-inf", -INFINITY},
        {"nan", NAN},      {"1e400", INFINITY},
        {"1e-400", 0},     {"0.1000000000000000055511151231257827021181583404541015625", 0.1},
        {"-.5e1", -5},
    };
    static const char *const bad[] = {
        "",      " ",  "1 ",  " 1",    "1x",  "0x10", "0X1p3",    "1p3",        "one", "1,5",
        "1.2.3", "e5", ".",   "-",     "+",   "--1",  "+-1",      "infinity",   "INF", "nan(1)",
        "NaN",   "1e", "1e+", "1_000", "1\n", "1d3",  "\xd9\xa1", "1\xd9\xab.", "in",  "-"};
    for (size_t i = 0; i < COUNT(good); i++) {
        double value = -77;
        CHECK(wni_parse_double(good[i].text, &value), "'%s' was refused", good[i].text);
        CHECK_DOUBLE(value, good[i].value);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        double value = -77;
        CHECK(!wni_parse_double(bad[i], &value), "'%s' was read as %g", bad[i], value);
        CHECK_DOUBLE(value, -77);
    }
}

static void test_parse_long_numbers(void **state)
{
    (void)state;
    char text[2000];
    double value;
    memset(text, '1', sizeof text);
    text[511] = '\0';
    CHECK(wni_parse_double(text, &value) && isinf(value), "511 digits: %g", value);
    text[511] = '1';
    text[sizeof text - 1] = '\0';
    assert_false(wni_parse_double(text, &value));
}

static void test_parse_int(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool fine;
        int64_t value;
    } table[] = {
        {"0", true, 0},
        {"-12", true, -12},
        {"+12", true, 12},
        {"010", true, 10},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"0x1", false, 0},
        {"-", false, 0},
        {"+-1", false, 0},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        int64_t value = 0;
        bool fine = wni_parse_int(table[i].text, &value);
        CHECK(fine == table[i].fine && value == table[i].value, "'%s': %d, %lld", table[i].text, fine,
              (long long)value);
    }
}

/* Makes a locale whose decimal point is this and switches to it. */
static bool set_decimal_point(const char *dir, const char *name, const char *point)
{
    char source[256], command[3 * CHECK_PATH_MAX];
    snprintf(
        source, sizeof source,
        "escape_char /\nLC_NUMERIC\ndecimal_point \"%s\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n",
        point);
    check_tmp_write(dir, "source", source, strlen(source));
    snprintf(command, sizeof command, "localedef -c -i %s/source -f UTF-8 %s/%s >/dev/null 2>&1", dir, dir,
             name);
    if (system(command) == -1) return false;
    setenv("LOCPATH", dir, 1);
    return setlocale(LC_NUMERIC, name) != NULL;
}

/* A program that embeds us may have set its locale: a comma, or a point of two bytes as in Persian. */
static void test_numbers_ignore_the_locale(void **state)
{
    (void)state;
    static const char *const points[] = {",", "<U066B>"}, *const halves[] = {"0,5", "0\xd9\xab"
                                                                                    "5"};
    char dir[CHECK_PATH_MAX], printed[32];
    int tried = 0;
    check_tmp_make(dir);
    for (size_t i = 0; i < COUNT(points); i++) {
        if (!set_decimal_point(dir, i ? "wide_POINT" : "comma_POINT", points[i])) continue;
        snprintf(printed, sizeof printed, "%g", 0.5);
        if (strcmp(printed, halves[i]) != 0) continue;
        tried++;
        check_formatted(0.5, "0.5");
        check_formatted(-1.25e-7, "-1.25e-07");
        check_formatted(12345.678901234567, "12345.678901234567");
        double value = 0;
        CHECK(wni_parse_double("0.5", &value) && value == 0.5, "0.5 is read as %g", value);
        CHECK(wni_parse_double("-1.25e-07", &value) && value == -1.25e-7, "-1.25e-07 is read as %g", value);
        CHECK(!wni_parse_double(printed, &value), "'%s' is read as %g", printed, value);
    }
    setlocale(LC_NUMERIC, "C");
    check_tmp_remove(dir);
    if (!tried) {
        print_message("# skip: no locale with another decimal point can be made here\n");
        skip();
    }
}

/* ---- duration ---- */

static void test_durations(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } good[] = {
        {"90", 90},      {"90s", 90}, {"30m", 1800},   {"2h", 7200},        {"1d", 86400},
        {"1h30m", 5400}, {"0", 0},    {"0s", 0},       {"1.5h", 5400},      {"1d2h3m4s", 93784},
        {"0.25", 0.25},  {".5m", 30}, {"1d4s", 86404}, {"1000000000", 1e9},
    };
    static const char *const bad[] = {
        "",       "s",     "h1",    "-1",         "-1h",
        "1h30",   "30m1h", "1h1h",  "1s1m",       "1 h",
        "1h 30m", " 1h",   "1ms",   "1w",         "1H",
        "1e3",    "1e3s",  "1..5h", ".",          ".s",
        "10:30",  "inf",   "nan",   "1000000001", "99999999999999999999999999999999999999h",
        "20000d", "1hs",   "1h\n"};
    for (size_t i = 0; i < COUNT(good); i++) {
        double seconds = -1;
        CHECK(wni_duration_parse(good[i].text, &seconds), "'%s' was refused", good[i].text);
        CHECK_DOUBLE(seconds, good[i].seconds);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        double seconds = -1;
        CHECK(!wni_duration_parse(bad[i], &seconds) && seconds == -1, "'%s' was read as %g", bad[i], seconds);
    }
}

/* ---- utf8 ---- */

/* The slow version: decode by the definition, then look at the code point. */
static size_t slow_valid(const unsigned char *s, size_t n)
{
    size_t at = 0;
    while (at < n) {
        size_t more = s[at] < 0x80             ? 0
                      : (s[at] & 0xe0) == 0xc0 ? 1
                      : (s[at] & 0xf0) == 0xe0 ? 2
                      : (s[at] & 0xf8) == 0xf0 ? 3
                                               : 9;
        static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
        if (more == 9 || at + more >= n) return at;
        uint32_t c = more ? s[at] & (0x3fu >> more) : s[at];
        for (size_t i = 1; i <= more; i++) {
            if ((s[at + i] & 0xc0) != 0x80) return at;
            c = c << 6 | (s[at + i] & 0x3f);
        }
        if (c < least[more] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff) return at;
        at += more + 1;
    }
    return at;
}

static void test_utf8_against_the_definition(void **state)
{
    (void)state;
    static const unsigned char edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                          0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
                                          0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    enum { N = COUNT(edges) };
    for (size_t i = 0; i < N * N * N * N; i++) { /* every sequence of four such bytes */
        unsigned char s[4] = {edges[i % N], edges[i / N % N], edges[i / N / N % N], edges[i / N / N / N]};
        size_t got = wni_utf8_valid((const char *)s, 4), expected = slow_valid(s, 4);
        CHECK(got == expected, "%02x %02x %02x %02x: %zu, expected %zu", s[0], s[1], s[2], s[3], got,
              expected);
    }
    CHECK_INT(wni_utf8_valid("", 0), 0);
    CHECK_INT(wni_utf8_count("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10), 4);
}

static void test_utf8_tidy(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"", ""},
        {"plain \xc3\xa9\xe2\x82\xac", "plain \xc3\xa9\xe2\x82\xac"},
        {"a\x1b[2Jb\tc\n\x7f", "a?[2Jb?c??"},
        {"\xc2\x9b"
         "31m",
         "?31m"},
        {"cut \xe2\x82", "cut ??"},
        {"\xff\xfe", "??"},
        {"\xc2\xa0", "\xc2\xa0"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", table[i][0]);
        wni_utf8_tidy(text);
        CHECK_TEXT(text, table[i][1]);
        CHECK_INT(wni_utf8_valid(text, strlen(text)), strlen(text));
    }
}

/* ---- buf ---- */

static void test_buf_appends(void **state)
{
    (void)state;
    struct buf b = {0};
    CHECK_TEXT(wni_buf_text(&b), "");
    wni_buf_add(&b, "", 0);
    CHECK_TEXT(wni_buf_text(&b), "");
    wni_buf_puts(&b, "abc");
    wni_buf_putc(&b, ' ');
    wni_buf_printf(&b, "%d %s", 42, "xyz");
    wni_buf_putc(&b, ' ');
    wni_buf_double(&b, 0.25);
    wni_buf_printf(&b, "%s", "");
    CHECK_TEXT(wni_buf_text(&b), "abc 42 xyz 0.25");
    CHECK_INT(b.len, 15);
    wni_buf_clear(&b);
    CHECK_TEXT(wni_buf_text(&b), "");
    CHECK_INT(b.len, 0);
    for (int i = 0; i < 10000; i++)
        wni_buf_printf(&b, "%04d", i);
    CHECK_INT(b.len, 40000);
    assert_memory_equal(b.data + 4 * 1234, "1234", 4);
    assert_false(b.failed);
    wni_buf_release(&b);
    assert_null(b.data);
    wni_buf_puts(&b, "again");
    CHECK_TEXT(wni_buf_text(&b), "again");
    wni_buf_release(&b);
}

static void test_buf_limit_is_sticky(void **state)
{
    (void)state;
    struct buf b = {.limit = 10};
    wni_buf_puts(&b, "0123456789");
    assert_false(b.failed);
    wni_buf_add(&b, "", 0);
    assert_false(b.failed);
    wni_buf_putc(&b, 'x');
    assert_true(b.failed);
    CHECK_TEXT(wni_buf_text(&b), "0123456789");
    wni_buf_clear(&b);
    wni_buf_printf(&b, "%s", "01234567890");
    assert_true(b.failed);
    wni_buf_puts(&b, "short");
    CHECK_TEXT(wni_buf_text(&b), "");
    wni_buf_release(&b);
    CHECK_INT(b.limit, 10);
    wni_buf_puts(&b, "fine again");
    assert_false(b.failed);
    wni_buf_release(&b);
}

/* What we write, jansson reads back, byte for byte. */
static void check_json_string(const char *text)
{
    struct buf b = {0};
    wni_buf_json_string(&b, text);
    json_t *value = json_loadb(b.data, b.len, JSON_DECODE_ANY, NULL);
    CHECK(value && json_is_string(value), "not JSON: %s", b.data);
    CHECK_TEXT(json_string_value(value), text);
    json_decref(value);
    wni_buf_release(&b);
}

static void test_buf_json(void **state)
{
    (void)state;
    check_json_string("");
    check_json_string("a \"quoted\" \\ back/slash\n\r\t\b\f\x01\x1f\x7f");
    check_json_string("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    struct buf b = {0};
    static const double numbers[] = {1, 0.5, -1e300, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        wni_buf_json_double(&b, numbers[i]);
        wni_buf_putc(&b, ' ');
    }
    wni_buf_json_string(&b, "a\"\x01");
    CHECK_TEXT(wni_buf_text(&b), "1 0.5 -1e+300 null null null \"a\\\"\\u0001\"");
    wni_buf_release(&b);
}

static void test_buf_csv(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"plain", "plain"},
        {"", ""},
        {"a,b", "\"a,b\""},
        {"say \"hi\"", "\"say \"\"hi\"\"\""},
        {"two\nlines", "\"two\nlines\""},
        {"cr\r", "\"cr\r\""},
        {" blank ", " blank "},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct buf b = {0};
        wni_buf_csv_field(&b, table[i][0]);
        CHECK_TEXT(wni_buf_text(&b), table[i][1]);
        wni_buf_release(&b);
    }
}

static void test_shell_word(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"plain-1.5/x", "plain-1.5/x"}, {"", "''"},           {"two words", "'two words'"},
        {"it's", "'it'\\''s'"},         {"$HOME", "'$HOME'"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct buf b = {0};
        wni_buf_shell(&b, table[i][0]);
        CHECK_TEXT(wni_buf_text(&b), table[i][1]);
        wni_buf_release(&b);
    }
}

/* ---- closest ---- */

static void test_closest(void **state)
{
    (void)state;
    static const char *const keys[] = {"name",   "command",  "metric",    "resource", "parameters",
                                       "method", "searcher", "scheduler", "workers",  "stop",
                                       "seed",   "trial",    "lr",        "x"};
    static const char *const table[][2] = {
        {"comand", "command"}, {"commnad", "command"},
        {"METRIC", "metric"},  {"parameter", "parameters"},
        {"params", NULL},      {"sede", "seed"},
        {"stpo", "stop"},      {"scheduller", "scheduler"},
        {"zebra", NULL},       {"", NULL},
        {"y", NULL},           {"lrr", "lr"},
        {"l", "lr"},           {"methods", "method"},
        {"worker", "workers"}, {"resrce", "resource"},
        {"trail", "trial"},    {"naem", "name"},
        {"xy", "x"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        const char *got = wni_closest(table[i][0], keys, COUNT(keys));
        if (table[i][1])
            CHECK_TEXT(got, table[i][1]);
        else
            CHECK(!got, "'%s' is not near '%s'", table[i][0], got);
    }
    assert_null(wni_closest("name", NULL, 0));
}

static void test_closest_takes_the_nearest_then_the_first(void **state)
{
    (void)state;
    static const char *const names[] = {"abcdefxy", "abcdefgx", "abcdefgz"};
    CHECK_TEXT(wni_closest("abcdefgh", names, 3), "abcdefgx");
    CHECK_TEXT(wni_closest("abcdefgz", names, 3), "abcdefgz");
    char giant[100000];
    memset(giant, 'a', sizeof giant - 1);
    giant[sizeof giant - 1] = '\0';
    assert_null(wni_closest(giant, names, 3));
    assert_null(wni_closest("abc", (const char *const[]){giant}, 1));
}

/* ---- err ---- */

static void test_err(void **state)
{
    (void)state;
    struct err err = {0};
    CHECK_INT(wni_fail(&err, WN_EIO, "disk %d is %s", 3, "full"), WN_EIO);
    CHECK_TEXT(err.text, "disk 3 is full");
    wni_err_prefix(&err, "study '%s'", "mlp");
    CHECK_TEXT(err.text, "study 'mlp': disk 3 is full");
    CHECK_INT(wni_fail(NULL, WN_EIO, "nobody %s", "listens"), WN_EIO);
    wni_err_prefix(NULL, "nobody");
    CHECK_INT(wni_fail_memory(&err), WN_ENOMEM);
    CHECK_TEXT(err.text, "out of memory");
    CHECK_TEXT(wn_status_text(WN_EINVAL), "invalid argument");
    CHECK_TEXT(wn_status_text((wn_status)-99), "unknown status");
}

static void test_err_is_cut_not_overrun(void **state)
{
    (void)state;
    char giant[2000];
    struct err err = {0};
    memset(giant, 'g', sizeof giant - 1);
    giant[sizeof giant - 1] = '\0';
    wni_fail(&err, WN_EINVAL, "%s", giant);
    CHECK_INT(strlen(err.text), WN_WHY_MAX - 1);
    wni_err_prefix(&err, "short");
    CHECK_INT(strlen(err.text), WN_WHY_MAX - 1);
    CHECK(!strncmp(err.text, "short: gggg", 11), "%s", err.text);
    wni_err_prefix(&err, "%s", giant);
    CHECK_INT(strlen(err.text), WN_WHY_MAX - 1);
}

/* ---- mem, arena ---- */

static void test_sizes_do_not_overflow(void **state)
{
    (void)state;
    CHECK_INT(wni_size_mul(6, 7), 42);
    assert_true(wni_size_mul(SIZE_MAX, 2) == SIZE_MAX);
    assert_true(wni_size_mul(SIZE_MAX / 8 + 1, 8) == SIZE_MAX);
    CHECK_INT(wni_size_mul(0, SIZE_MAX), 0);
    void *nothing = wni_new_array(0, 8);
    assert_non_null(nothing);
    free(nothing);
    int *numbers = wni_new(int, 100);
    assert_non_null(numbers);
    for (int i = 0; i < 100; i++)
        CHECK_INT(numbers[i], 0);
    free(numbers);
}

static void test_reserve_grows_and_keeps(void **state)
{
    (void)state;
    int *array = NULL;
    size_t cap = 0, moves = 0;
    for (int i = 0; i < 100000; i++) {
        size_t before = cap;
        assert_true(wni_reserve((void **)&array, &cap, (size_t)i + 1, sizeof *array));
        moves += cap != before;
        array[i] = i;
    }
    for (int i = 0; i < 100000; i++)
        CHECK_INT(array[i], i);
    CHECK(moves < 20, "%zu moves for 100000 appends", moves);
    free(array);
}

static void test_strdup(void **state)
{
    (void)state;
    char *a = wni_strdup("abc"), *b = wni_strndup("abcdef", 2), *c = wni_strdup("");
    CHECK_TEXT(a, "abc");
    CHECK_TEXT(b, "ab");
    CHECK_TEXT(c, "");
    free(a);
    free(b);
    free(c);
}

static void test_arena(void **state)
{
    (void)state;
    struct arena a = {0};
    struct rng rng = wni_rng_stream(5, 0, 1);
    enum { PIECES = 2000 };
    unsigned char *pieces[PIECES];
    size_t sizes[PIECES];
    for (int i = 0; i < PIECES; i++) {
        sizes[i] = wni_rng_below(&rng, i % 100 ? 200 : 20000);
        pieces[i] = wni_arena_alloc(&a, sizes[i], 1);
        assert_non_null(pieces[i]);
        CHECK_INT((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            CHECK_INT(pieces[i][k], 0);
        memset(pieces[i], i & 0xff, sizes[i]);
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            CHECK_INT(pieces[i][k], i & 0xff);
    CHECK_TEXT(wni_arena_strdup(&a, "text"), "text");
    CHECK_TEXT(wni_arena_strndup(&a, "texture", 4), "text");
    assert_null(wni_arena_alloc(&a, SIZE_MAX, 2));
    assert_null(wni_arena_alloc(&a, SIZE_MAX - 8, 1));
    assert_null(wni_arena_strndup(&a, "", SIZE_MAX));
    CHECK_TEXT(wni_arena_strdup(&a, "still works"), "still works");
    wni_arena_release(&a);
    assert_null(a.block);
    wni_arena_release(&a);
}

/* After a reset the memory is zeroed again and the same block serves. */
static void test_arena_reset(void **state)
{
    (void)state;
    struct arena a = {0};
    wni_arena_reset(&a);
    for (int round = 0; round < 3; round++) {
        struct arena_block *block = a.block;
        char *p = arena_new(&a, char, 3000);
        char *q = arena_new(&a, char, 3000);
        assert_true(p && q);
        for (int i = 0; i < 3000; i++)
            CHECK_INT(p[i] | q[i], 0);
        memset(p, 1, 3000);
        memset(q, 2, 3000);
        if (round > 0) assert_ptr_equal(a.block, block);
        wni_arena_reset(&a);
    }
    wni_arena_release(&a);
}

/* ---- opts ---- */

struct sample {
    int count;
    double rate;
    bool eager;
    int mode;
};

static const char *const modes[] = {"stopping", "promotion", NULL};
static const struct opt_def sample_opts[] = {
    OPT_INT(struct sample, count, 20, 1, 1000, "how many"),
    OPT_REAL(struct sample, rate, 0.5, 0, 1, "how fast"),
    OPT_BOOL(struct sample, eager, true, "at once"),
    OPT_CHOICE(struct sample, mode, 1, modes, "which"),
    OPT_END,
};

static void test_opts_defaults_and_values(void **state)
{
    (void)state;
    struct sample s = {0};
    struct err err = {0};
    wni_opts_defaults(sample_opts, &s);
    CHECK(s.count == 20 && s.rate == 0.5 && s.eager && s.mode == 1, "%d %g %d %d", s.count, s.rate, s.eager,
          s.mode);
    CHECK_OK(wni_opts_set(sample_opts, &s, "count", "1000", &err), err);
    CHECK_OK(wni_opts_set(sample_opts, &s, "rate", "1e-3", &err), err);
    CHECK_OK(wni_opts_set(sample_opts, &s, "eager", "no", &err), err);
    CHECK_OK(wni_opts_set(sample_opts, &s, "mode", "stopping", &err), err);
    CHECK(s.count == 1000 && s.rate == 1e-3 && !s.eager && s.mode == 0, "%d %g %d %d", s.count, s.rate,
          s.eager, s.mode);
    CHECK_OK(wni_opts_set(sample_opts, NULL, "count", "7", &err), err); /* only checks */
    wni_opts_defaults(NULL, NULL);
}

static void test_opts_refusals(void **state)
{
    (void)state;
    static const char *const table[][3] = {
        {"cuont", "1", "unknown option 'cuont'; did you mean 'count'?"},
        {"zebra", "1", "unknown option 'zebra'; 'winnow methods' lists them"},
        {"count", "0", "option 'count': expected a whole number from 1 to 1000, got '0'"},
        {"count", "1001", "option 'count': expected a whole number from 1 to 1000, got '1001'"},
        {"count", "1.5", "option 'count': expected a whole number from 1 to 1000, got '1.5'"},
        {"count", "nan", "option 'count': expected a whole number from 1 to 1000, got 'nan'"},
        {"rate", "1.01", "option 'rate': expected a number from 0 to 1, got '1.01'"},
        {"rate", "nan", "option 'rate': expected a number from 0 to 1, got 'nan'"},
        {"rate", "", "option 'rate': expected a number from 0 to 1, got ''"},
        {"eager", "maybe", "option 'eager': expected true or false, got 'maybe'"},
        {"mode", "pausing", "option 'mode': expected stopping or promotion, got 'pausing'"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct sample s = {.count = -5, .rate = -5, .mode = -5};
        struct err err = {0};
        CHECK_INT(wni_opts_set(sample_opts, &s, table[i][0], table[i][1], &err), WN_EINVAL);
        CHECK_TEXT(err.text, table[i][2]);
        CHECK(s.count == -5 && s.rate == -5 && s.mode == -5, "a refused value was stored: %s", table[i][2]);
    }
    struct err err = {0};
    CHECK_INT(wni_opts_set(NULL, NULL, "count", "1", &err), WN_EINVAL);
    CHECK_TEXT(err.text, "unknown option 'count'; there are none here");
}

static void test_opts_lists(void **state)
{
    (void)state;
    struct sample s = {0};
    struct err err = {0};
    wni_opts_defaults(sample_opts, &s);
    CHECK_OK(wni_opts_apply(sample_opts, &s, "scheduler",
                            " scheduler.count=3\tsearcher.count=9\nscheduler.rate=0.25 ", &err),
             err);
    CHECK(s.count == 3 && s.rate == 0.25, "%d %g", s.count, s.rate);
    CHECK_OK(wni_opts_apply(sample_opts, &s, "searcher", "scheduler.count=4 searcher.count=5", &err), err);
    CHECK_INT(s.count, 5);
    CHECK_OK(wni_opts_apply(sample_opts, &s, "searcher", NULL, &err), err);
    CHECK_OK(wni_opts_apply(sample_opts, &s, "searcher", "", &err), err);
    static const char *const bad[][2] = {
        {"count=3", "option 'count=3': expected scheduler.NAME=VALUE or searcher.NAME=VALUE"},
        {"rate=0.5", "option 'rate=0.5': expected scheduler.NAME=VALUE or searcher.NAME=VALUE"},
        {"scheduler.count", "option 'scheduler.count': expected scheduler.NAME=VALUE or searcher.NAME=VALUE"},
        {"shceduler.count=1", "option 'shceduler.count': expected it to start with scheduler. or searcher."},
        {"searcher.cuont=1", "unknown option 'cuont'; did you mean 'count'?"},
        {"searcher.count=x", "option 'count': expected a whole number from 1 to 1000, got 'x'"},
        {"searcher.count=", "option 'count': expected a whole number from 1 to 1000, got ''"},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_INT(wni_opts_apply(sample_opts, &s, "searcher", bad[i][0], &err), WN_EINVAL);
        CHECK_TEXT(err.text, bad[i][1]);
    }
    char giant[1000];
    memset(giant, 'a', sizeof giant - 1);
    giant[sizeof giant - 1] = '\0';
    CHECK_INT(wni_opts_apply(sample_opts, &s, "searcher", giant, &err), WN_EINVAL);
}

static void test_opts_texts(void **state)
{
    (void)state;
    static const char *const expected[][2] = {
        {"20", "a whole number from 1 to 1000"},
        {"0.5", "a number from 0 to 1"},
        {"true", "true or false"},
        {"promotion", "stopping or promotion"},
    };
    for (size_t i = 0; i < COUNT(expected); i++) {
        char text[64], tiny[4];
        wni_opt_default_text(&sample_opts[i], text, sizeof text);
        CHECK_TEXT(text, expected[i][0]);
        wni_opt_range_text(&sample_opts[i], text, sizeof text);
        CHECK_TEXT(text, expected[i][1]);
        wni_opt_range_text(&sample_opts[i], tiny, sizeof tiny);
        CHECK_INT(strlen(tiny), 3);
    }
    static const char *const three[] = {"a", "b", "c", NULL};
    struct opt_def def = {OPT_KIND_CHOICE, "x", 0, 0, 0, 0, three, ""};
    char text[64];
    wni_opt_range_text(&def, text, sizeof text);
    CHECK_TEXT(text, "a, b or c");
}

/* ---- registry ---- */

static const char *sample_name(size_t i)
{
    static const char *const names[] = {"random", "grid", "rea"};
    return names[i];
}

static void test_registry(void **state)
{
    (void)state;
    struct err err = {0};
    CHECK_INT(wni_registry_find("searcher", "grid", 3, sample_name, &err), 1);
    CHECK_INT(wni_registry_find("searcher", "gird", 3, sample_name, &err), -1);
    CHECK_TEXT(err.text, "unknown searcher 'gird'; did you mean 'grid'?");
    CHECK_INT(wni_registry_find("searcher", "bayes", 3, sample_name, &err), -1);
    CHECK_TEXT(err.text, "unknown searcher 'bayes'; there are random, grid, rea");
    CHECK_INT(wni_registry_find("searcher", "bayes", 3, sample_name, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format_double),
        cmocka_unit_test(test_every_double_comes_back),
        cmocka_unit_test(test_parse_double),
        cmocka_unit_test(test_parse_long_numbers),
        cmocka_unit_test(test_parse_int),
        cmocka_unit_test(test_numbers_ignore_the_locale),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_utf8_against_the_definition),
        cmocka_unit_test(test_utf8_tidy),
        cmocka_unit_test(test_buf_appends),
        cmocka_unit_test(test_buf_limit_is_sticky),
        cmocka_unit_test(test_buf_json),
        cmocka_unit_test(test_buf_csv),
        cmocka_unit_test(test_shell_word),
        cmocka_unit_test(test_closest),
        cmocka_unit_test(test_closest_takes_the_nearest_then_the_first),
        cmocka_unit_test(test_err),
        cmocka_unit_test(test_err_is_cut_not_overrun),
        cmocka_unit_test(test_sizes_do_not_overflow),
        cmocka_unit_test(test_reserve_grows_and_keeps),
        cmocka_unit_test(test_strdup),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_reset),
        cmocka_unit_test(test_opts_defaults_and_values),
        cmocka_unit_test(test_opts_refusals),
        cmocka_unit_test(test_opts_lists),
        cmocka_unit_test(test_opts_texts),
        cmocka_unit_test(test_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
