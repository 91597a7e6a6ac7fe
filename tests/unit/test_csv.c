/* test_csv.c -- bench/csv.h: RFC 4180 by example, mistakes with their lines, and random tables there and
 * back. */
#include "tests/check.h"

#include "base/buf.h"
#include "bench/csv.h"

/* Fields of all rows joined: '|' between fields, ';' after each row. */
static void flatten(const char *text, size_t length, struct buf *out, wn_status *end, struct err *err)
{
    char *copy = malloc(length ? length : 1); /* ends where the text ends: the address sanitizer watches */
    memcpy(copy, text, length);
    struct csv csv;
    *err = (struct err){0};
    wni_buf_clear(out);
    *end = wni_csv_open_text(&csv, "t.csv", copy, length, err);
    for (size_t i = 0; !*end && i < csv.n_columns; i++)
        wni_buf_printf(out, "%s%s", i ? "|" : "", csv.names[i]);
    while (!*end) {
        wni_buf_putc(out, ';');
        *end = wni_csv_next(&csv, err);
        for (size_t i = 0; !*end && i < csv.n_columns; i++) {
            if (i) wni_buf_putc(out, '|');
            wni_buf_add(out, csv.fields[i].text, csv.fields[i].length);
        }
    }
    wni_csv_release(&csv);
    free(copy);
}

static void reads_what_the_standard_allows(void **state)
{
    (void)state;
    static const struct {
        const char *text, *flat;
    } cases[] = {
        {"a,b\n1,2\n3,4\n", "a|b;1|2;3|4;"},
        {"a,b\r\n1,2\r\n3,4\r\n", "a|b;1|2;3|4;"},
        {"a,b\n1,2\n3,4", "a|b;1|2;3|4;"},
        {"\xef\xbb\xbf"
         "a,b\n1,2\n",
         "a|b;1|2;"},
        {"a,b\n,\n", "a|b;|;"},
        {"a\n\nx\n", "a;;x;"},
        {"a,b\n\"x\",\"y z\"\n", "a|b;x|y z;"},
        {"a,b\n\"1,5\",\"two\nlines\"\n", "a|b;1,5|two\nlines;"},
        {"a,b\n\"say \"\"hi\"\"\",\"\"\"\"\n", "a|b;say \"hi\"|\";"},
        {"a,b\n\"\",\"\"\n", "a|b;|;"},
        {"\"a\",\"b,c\"\r\n\"1\",\"2\"\r\n", "a|b,c;1|2;"},
        {"a,b\n 1 ,\t2\n", "a|b; 1 |\t2;"},
        {"a,b\n1\r2,3\n", "a|b;1\r2|3;"},
        {"a", "a;"},
        {"a\n", "a;"},
        {"a,b\n1,\"x\"", "a|b;1|x;"},
        {"\xc3\xa9,b\n\xe2\x82\xac,2\n", "\xc3\xa9|b;\xe2\x82\xac|2;"},
    };
    struct buf out = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err;
        wn_status end;
        flatten(cases[i].text, strlen(cases[i].text), &out, &end, &err);
        CHECK(end == WN_EXHAUSTED, "case %zu ended with %d: %s", i, end, err.text);
        CHECK_TEXT(wni_buf_text(&out), cases[i].flat);
    }
    wni_buf_release(&out);
}

static void names_the_line_of_a_mistake(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "'t.csv' is empty: its first line must name the columns"},
        {"a,b\n1\n", "t.csv:2: 1 field where the header has 2"},
        {"a,b\n1,2\n1,2,3\n", "t.csv:3: 3 fields where the header has 2"},
        {"a,b\n1,2\n\n", "t.csv:3: 1 field where the header has 2"},
        {"a,b\n1,x\"y\n", "t.csv:2: a quote inside a field that does not begin with one"},
        {"a,b\n1,\"x\"y\n", "t.csv:2: text after a closing quote"},
        {"a,b\n1,\"x\" \n", "t.csv:2: text after a closing quote"},
        {"a,b\n1,\"x\"\r,2\n", "t.csv:2: text after a closing quote"},
        {"a,b\n1,2\n3,\"x\ny\nz\n", "t.csv:3: a quote in this row is never closed"},
        {"a,b\n1,\"", "t.csv:2: a quote in this row is never closed"},
        {"a,b\n\"two\nlines\",1\n3\n", "t.csv:4: 1 field where the header has 2"},
        {"a,\"b\n", "t.csv:1: a quote in this row is never closed"},
    };
    struct buf out = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err;
        wn_status end;
        flatten(cases[i].text, strlen(cases[i].text), &out, &end, &err);
        CHECK(end == WN_EINVAL, "case %zu ended with %d", i, end);
        CHECK_TEXT(err.text, cases[i].why);
    }
    wni_buf_release(&out);
}

static void keeps_count_of_rows_and_lines(void **state)
{
    (void)state;
    static const char text[] = "a,b\n1,2\n\"x\ny\",3\n4,5\n";
    struct csv csv;
    struct err err = {0};
    CHECK_OK(wni_csv_open_text(&csv, "t.csv", text, sizeof text - 1, &err), err);
    static const size_t lines[] = {2, 3, 5};
    for (size_t i = 0; i < 3; i++) {
        CHECK_OK(wni_csv_next(&csv, &err), err);
        CHECK_INT(csv.row, i + 1);
        CHECK_INT(csv.row_line, lines[i]);
    }
    CHECK_INT(wni_csv_next(&csv, &err), WN_EXHAUSTED);
    CHECK_INT(wni_csv_next(&csv, &err), WN_EXHAUSTED);
    wni_csv_release(&csv);
    wni_csv_release(&csv); /* twice is fine */
}

static void limits_the_number_of_columns(void **state)
{
    (void)state;
    struct buf text = {0}, out = {0};
    for (int i = 1; i < CSV_COLUMNS_MAX; i++)
        wni_buf_putc(&text, ',');
    struct err err;
    wn_status end;
    flatten(text.data, text.len, &out, &end, &err);
    CHECK_INT(end, WN_EXHAUSTED);
    wni_buf_putc(&text, ',');
    flatten(text.data, text.len, &out, &end, &err);
    CHECK_INT(end, WN_EINVAL);
    CHECK_TEXT(err.text, "t.csv:1: more than 4096 fields");
    wni_buf_release(&text);
    wni_buf_release(&out);
}

/* ---- random tables ---- */

static void random_text(struct rng *rng, struct buf *out)
{
    static const char letters[] = "ab,\"\"\r\n 01.";
    wni_buf_clear(out);
    for (int n = check_between(rng, 0, 8); n > 0; n--)
        wni_buf_putc(out, letters[wni_rng_below(rng, sizeof letters - 1)]);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    struct buf text = {0}, flat = {0}, got = {0}, field = {0};
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct rng rng = wni_rng_stream(3, seed, 0);
        int columns = check_between(&rng, 2, 5), rows = check_between(&rng, 1, 20);
        const char *line_end = check_chance(&rng, 50) ? "\r\n" : "\n";
        wni_buf_clear(&text);
        wni_buf_clear(&flat);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                random_text(&rng, &field);
                if (j) wni_buf_putc(&text, ','), wni_buf_putc(&flat, '|');
                wni_buf_csv_field(&text, wni_buf_text(&field));
                wni_buf_puts(&flat, wni_buf_text(&field));
            }
            wni_buf_puts(&text, line_end);
            wni_buf_putc(&flat, ';');
        }
        struct err err;
        wn_status end;
        flatten(text.data, text.len, &got, &end, &err);
        CHECK(end == WN_EXHAUSTED, "seed %d: %s", (int)seed, err.text);
        CHECK_TEXT(wni_buf_text(&got), wni_buf_text(&flat));
    }
    wni_buf_release(&text);
    wni_buf_release(&flat);
    wni_buf_release(&got);
    wni_buf_release(&field);
}

static void survives_rubbish(void **state)
{
    (void)state;
    static const char letters[] = "a,\"\n\r\"";
    struct buf out = {0};
    for (uint64_t seed = 0; seed < 20000; seed++) {
        struct rng rng = wni_rng_stream(4, seed, 0);
        char text[24];
        size_t n = wni_rng_below(&rng, sizeof text);
        for (size_t i = 0; i < n; i++)
            text[i] = letters[wni_rng_below(&rng, sizeof letters)]; /* with zero bytes */
        struct err err;
        wn_status end;
        flatten(text, n, &out, &end, &err);
        CHECK(end == WN_EXHAUSTED || end == WN_EINVAL, "seed %d: %d", (int)seed, end);
        CHECK((end == WN_EINVAL) == (err.text[0] != '\0'), "seed %d: '%s'", (int)seed, err.text);
    }
    wni_buf_release(&out);
}

static void opens_files(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX];
    check_tmp_make(dir);
    struct csv csv;
    struct err err = {0};
    CHECK_OK(wni_csv_open(&csv, check_tmp_write(dir, "a.csv", "x,y\n1,2\n", 8), &err), err);
    CHECK_INT(csv.n_columns, 2);
    CHECK_TEXT(csv.names[1], "y");
    CHECK_OK(wni_csv_next(&csv, &err), err);
    CHECK_INT(csv.fields[1].length, 1);
    CHECK_INT(csv.fields[1].text[0], '2');
    wni_csv_release(&csv);
    CHECK_INT(wni_csv_open(&csv, check_tmp_write(dir, "empty.csv", "", 0), &err), WN_EINVAL);
    CHECK_INT(wni_csv_open(&csv, "no/such.csv", &err), WN_EIO);
    CHECK_TEXT(err.text, "cannot open 'no/such.csv': No such file or directory");
    check_tmp_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_standard_allows),
        cmocka_unit_test(names_the_line_of_a_mistake),
        cmocka_unit_test(keeps_count_of_rows_and_lines),
        cmocka_unit_test(limits_the_number_of_columns),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(survives_rubbish),
        cmocka_unit_test(opens_files),
    };
    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
