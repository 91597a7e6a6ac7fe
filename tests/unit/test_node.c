/* test_node.c -- documents: YAML and JSON become the same tree, everything keeps its place, nothing hostile
 * gets in. */
#include "tests/check.h"

#include "base/node.h"
#include "base/utf8.h"

static struct document yaml(const char *text)
{
    struct document doc;
    struct err err = {0};
    CHECK_OK(wni_yaml_parse(&doc, "t.yaml", text, strlen(text), &err), err);
    return doc;
}

static struct document json(const char *text)
{
    struct document doc;
    struct err err = {0};
    CHECK_OK(wni_json_parse(&doc, "t.json", text, strlen(text), &err), err);
    return doc;
}

typedef wn_status parser(struct document *doc, const char *name, const char *text, size_t length,
                         struct err *err);

static void refused_bytes(parser *parse, const char *name, const char *text, size_t length,
                          const char *message)
{
    struct document doc;
    struct err err = {0};
    /* a copy of exactly this length, so that reading past the end is noticed by the sanitizer */
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    wn_status st = parse(&doc, name, copy, length, &err);
    free(copy);
    CHECK(st == WN_EINVAL, "status %d for:\n%s", st, text);
    CHECK_TEXT(err.text, message);
    assert_null(doc.root);
    assert_null(doc.arena.block);
    wni_document_release(&doc);
}

static void yaml_refused(const char *text, const char *message)
{
    refused_bytes(wni_yaml_parse, "t.yaml", text, strlen(text), message);
}

static void json_refused(const char *text, const char *message)
{
    refused_bytes(wni_json_parse, "t.json", text, strlen(text), message);
}

static void check_place(const struct node *n, int line, int column)
{
    assert_non_null(n);
    CHECK(n->line == line && n->column == column, "at %d:%d, expected %d:%d", n->line, n->column, line,
          column);
}

/* ---- trees ---- */

static void test_yaml_tree_and_places(void **state)
{
    (void)state;
    struct document doc = yaml("# a study\n"
                               "name: mlp\n"
                               "metric:   {name: val_loss, goal: minimize}\n"
                               "list:\n"
                               "  - 1\n"
                               "  - 'two'\n"
                               "  - [3, {four: 5}]\n");
    CHECK_TEXT(doc.name, "t.yaml");
    CHECK_INT(doc.root->kind, NODE_MAP);
    CHECK_INT(doc.root->n, 3);
    check_place(doc.root, 2, 1);
    check_place(doc.root->keys[1], 3, 1);
    const struct node *metric = wni_node_get(doc.root, "metric");
    check_place(metric, 3, 11);
    check_place(wni_node_get(metric, "goal"), 3, 34);
    CHECK_TEXT(wni_node_get(metric, "goal")->text, "minimize");
    const struct node *list = wni_node_get(doc.root, "list");
    CHECK_INT(list->n, 3);
    assert_null(list->keys);
    check_place(list, 5, 3);
    check_place(list->items[1], 6, 5);
    assert_true(list->items[1]->quoted);
    assert_false(list->items[0]->quoted);
    check_place(wni_node_get(list->items[2]->items[1], "four"), 7, 16);
    wni_document_release(&doc);
}

/* Columns count characters, and a byte order mark is not one. */
static void test_columns_count_characters(void **state)
{
    (void)state;
    struct document doc = yaml("\xef\xbb\xbf{\"\xc3\xa9\xe2\x82\xac\": x, y: z}");
    check_place(doc.root, 1, 1);
    check_place(doc.root->items[0], 1, 8);
    check_place(doc.root->keys[1], 1, 11);
    wni_document_release(&doc);
    doc = yaml("a: 1\r\nb:\r\n  c: 2\r\n");
    check_place(wni_node_get(wni_node_get(doc.root, "b"), "c"), 3, 6);
    wni_document_release(&doc);
}

static void test_scalar_styles(void **state)
{
    (void)state;
    struct document doc = yaml("plain: a b c\n"
                               "folded: a\n  b\n"
                               "single: 'it''s'\n"
                               "double: \"tab\\tend\"\n"
                               "block: |\n  line 1\n  line 2\n"
                               "none:\n");
    static const struct {
        const char *key, *text;
        bool quoted, verbatim;
    } expected[] = {
        {"plain", "a b c", false, true},
        {"folded", "a b", false, false},
        {"single", "it's", true, false},
        {"double", "tab\tend", true, false},
        {"block", "line 1\nline 2\n", true, false},
        {"none", "", false, true},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct node *n = wni_node_get(doc.root, expected[i].key);
        assert_non_null(n);
        CHECK_TEXT(n->text, expected[i].text);
        CHECK(n->quoted == expected[i].quoted && n->verbatim == expected[i].verbatim,
              "%s: quoted %d, verbatim %d", expected[i].key, n->quoted, n->verbatim);
    }
    assert_true(wni_node_is_null(wni_node_get(doc.root, "none")));
    wni_document_release(&doc);
}

static void check_same_tree(const struct node *a, const struct node *b)
{
    CHECK_INT(a->kind, b->kind);
    CHECK_INT(a->n, b->n);
    if (a->kind == NODE_SCALAR) {
        CHECK_TEXT(a->text, b->text);
        CHECK_INT(a->quoted, b->quoted);
    }
    for (size_t i = 0; i < a->n; i++) {
        if (a->kind == NODE_MAP) CHECK_TEXT(a->keys[i]->text, b->keys[i]->text);
        check_same_tree(a->items[i], b->items[i]);
    }
}

/* JSON is YAML: both parsers see the same document, where numbers are written as we write them. */
static void test_json_is_the_same_tree(void **state)
{
    (void)state;
    const char *text = "{\"b\": [1, -2, 0.5, 1e-05, 1e+22, true, false, null, \"text\", \"1\"],\n"
                       " \"a\": {\"x\": {}, \"y\": []}, \"\\u00e9\": \"\\ud83d\\ude00\", \"\": \"\"}";
    struct document from_json = json(text);
    struct document from_yaml =
        yaml("{b: [1, -2, 0.5, 1e-05, 1e+22, true, false, null, 'text', '1'], a: {x: {}, y: []},"
             " '\xc3\xa9': '\xf0\x9f\x98\x80', '': ''}");
    check_same_tree(from_json.root, from_yaml.root);
    CHECK_INT(from_json.root->line, 0);
    wni_document_release(&from_json);
    wni_document_release(&from_yaml);
}

static void test_json_numbers_keep_their_value(void **state)
{
    (void)state;
    struct document doc =
        json("[9223372036854775807, -9223372036854775808, 0.1, 1.0, 100000000000000000000.0, -0.0, 5e-324]");
    static const char *const texts[] = {
        "9223372036854775807", "-9223372036854775808", "0.1", "1", "1e+20", "-0", "4.94065645841247e-324"};
    CHECK_INT(doc.root->n, sizeof texts / sizeof *texts);
    for (size_t i = 0; i < doc.root->n; i++)
        CHECK_TEXT(doc.root->items[i]->text, texts[i]);
    double smallest;
    assert_true(wni_node_number(doc.root->items[6], &smallest));
    CHECK_DOUBLE(smallest, 5e-324);
    wni_document_release(&doc);
}

/* ---- scalars ---- */

static const struct node *only(struct document *doc, const char *text)
{
    *doc = yaml(text);
    return doc->root->items[0];
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value; /* NAN: no number */
    } table[] = {
        {"[1]", 1},       {"[-1.5]", -1.5}, {"[1e-4]", 1e-4},  {"[1.0e-5]", 1e-5},  {"[+3]", 3},
        {"[.5]", 0.5},    {"[5.]", 5},      {"['1']", NAN},    {"[\"1\"]", NAN},    {"[0x10]", NAN},
        {"[1_000]", NAN}, {"[1,]", 1},      {"[one]", NAN},    {"[true]", NAN},     {"[1 2]", NAN},
        {"[~]", NAN},     {"[[1]]", NAN},   {"[{1: 2}]", NAN}, {"[inf]", INFINITY}, {"[12:30]", NAN},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct document doc;
        double value = NAN;
        bool is = wni_node_number(only(&doc, table[i].text), &value);
        CHECK(is == !isnan(table[i].value), "%s: a number? %d", table[i].text, is);
        if (is) CHECK_DOUBLE(value, table[i].value);
        wni_document_release(&doc);
    }
}

static void test_integers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is;
        int64_t value;
    } table[] = {
        {"[7]", true, 7},
        {"[-7]", true, -7},
        {"[9223372036854775807]", true, INT64_MAX},
        {"[9223372036854775808]", false, 0},
        {"[7.0]", false, 0},
        {"['7']", false, 0},
        {"[1e3]", false, 0},
        {"[]", false, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct document doc = yaml(table[i].text);
        int64_t value = 0;
        bool is = wni_node_int(doc.root->n ? doc.root->items[0] : NULL, &value);
        CHECK(is == table[i].is && (!is || value == table[i].value), "%s: %d, %lld", table[i].text, is,
              (long long)value);
        wni_document_release(&doc);
    }
}

static void test_booleans_and_kinds(void **state)
{
    (void)state;
    struct document doc =
        yaml("[true, False, YES, no, on, Off, 'true', 1, word, [], {}, null, ~, '', \"~\"]");
    static const int truth[] = {1, 0, 1, 0, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    static const char *const kinds[] = {"true or false", "true or false", "true or false", "true or false",
                                        "true or false", "true or false", "text",          "a number",
                                        "text",          "a list",        "a mapping",     "nothing",
                                        "nothing",       "text",          "text"};
    CHECK_INT(doc.root->n, sizeof truth / sizeof *truth);
    for (size_t i = 0; i < doc.root->n; i++) {
        bool value = false, is = wni_node_bool(doc.root->items[i], &value);
        CHECK(is ? truth[i] == value : truth[i] == -1, "item %zu: boolean %d, value %d", i, is, value);
        CHECK_TEXT(wni_node_kind_name(doc.root->items[i]), kinds[i]);
    }
    CHECK_TEXT(wni_node_kind_name(NULL), "nothing");
    assert_false(wni_node_bool(NULL, &(bool){0}));
    assert_false(wni_node_number(NULL, &(double){0}));
    wni_document_release(&doc);
}

static void test_descriptions(void **state)
{
    (void)state;
    char got[NODE_DESCRIPTION_MAX], longest[200];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    struct document doc = yaml("[abc, 'abc', [1], null]");
    CHECK_TEXT(wni_node_describe(doc.root->items[0], got), "'abc'");
    CHECK_TEXT(wni_node_describe(doc.root->items[1], got), "the text 'abc'");
    CHECK_TEXT(wni_node_describe(doc.root->items[2], got), "a list");
    CHECK_TEXT(wni_node_describe(doc.root->items[3], got), "nothing");
    CHECK_TEXT(wni_node_describe(NULL, got), "nothing");
    struct node n = {.kind = NODE_SCALAR, .text = longest, .quoted = true};
    CHECK_TEXT(wni_node_describe(&n, got), "the text 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'");
    wni_document_release(&doc);
}

static void test_get(void **state)
{
    (void)state;
    struct document doc = yaml("{a: 1, b: [2]}");
    CHECK_TEXT(wni_node_get(doc.root, "a")->text, "1");
    assert_null(wni_node_get(doc.root, "c"));
    assert_null(wni_node_get(wni_node_get(doc.root, "b"), "a"));
    assert_null(wni_node_get(NULL, "a"));
    wni_document_release(&doc);
}

/* ---- what is refused ---- */

static void test_yaml_refusals(void **state)
{
    (void)state;
    yaml_refused("", "t.yaml:1:1: the document is empty");
    yaml_refused("# only a comment\n\n", "t.yaml:1:1: the document is empty");
    yaml_refused("---\n", "t.yaml:1:1: the document is empty");
    yaml_refused("null\n", "t.yaml:1:1: the document is empty");
    yaml_refused("a: 1\nb: 2\nc: 3\nb: 4\n", "t.yaml:4:1: key 'b' is there twice, first on line 2");
    yaml_refused("x: {a: 1, 'a': 2}", "t.yaml:1:11: key 'a' is there twice, first on line 1");
    yaml_refused("a: &x 1\nb: *x\n", "t.yaml:1:4: anchors are not supported (&x)");
    yaml_refused("a: 1\nb: *x\n", "t.yaml:2:4: aliases are not supported (*x); write the value out");
    yaml_refused("a: &x [1]\n", "t.yaml:1:4: anchors are not supported (&x)");
    yaml_refused("a: &x {b: 1}\n", "t.yaml:1:4: anchors are not supported (&x)");
    yaml_refused("a: !!str 5\n", "t.yaml:1:4: tags are not supported (tag:yaml.org,2002:str)");
    yaml_refused("a: !run [rm]\n", "t.yaml:1:4: tags are not supported (!run)");
    yaml_refused("a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document starts here; there may be only one");
    yaml_refused("? [a, b]\n: 1\n", "t.yaml:1:3: a key must be text, not a list");
    yaml_refused("{{a: 1}: 2}", "t.yaml:1:2: a key must be text, not a mapping");
    yaml_refused("a: \"x\\0y\"\n", "t.yaml:1:4: text cannot hold a NUL character");
    yaml_refused("\"x\\0y\": a\n", "t.yaml:1:1: text cannot hold a NUL character");
}

static void test_yaml_syntax_errors_have_plain_words(void **state)
{
    (void)state;
    yaml_refused("a:\n\tb: 1\n", "t.yaml:2:1: a tab cannot indent; use blanks");
    yaml_refused("a: 1\nb: @home\n", "t.yaml:2:4: '@' cannot start a value; put the text in quotes");
    yaml_refused("\xc3\xa9: `x`\n", "t.yaml:1:4: '`' cannot start a value; put the text in quotes");
    yaml_refused("command: echo a: b\n",
                 "t.yaml:1:16: a key cannot stand here; text that holds ': ' must be in quotes");
    yaml_refused("a: [1, 2\nb: 3\n",
                 "t.yaml:2:2: did not find expected ',' or ']', while parsing a flow sequence from line 1");
    yaml_refused("a: 'never\nclosed\n",
                 "t.yaml:3:1: found unexpected end of stream, while scanning a quoted scalar from line 1");
    yaml_refused("a: b\x01\n", "t.yaml:1:5: control characters are not allowed");
    yaml_refused("a: 1\nb: x\x7f\n", "t.yaml:2:5: control characters are not allowed");
}

static void test_nameless_documents_say_line(void **state)
{
    (void)state;
    refused_bytes(wni_yaml_parse, "", "a: 1\na: 2\n", 10,
                  "line 2, column 1: key 'a' is there twice, first on line 1");
    refused_bytes(wni_json_parse, NULL, "", 0, "line 1, column 1: the document is empty");
}

static void test_json_refusals(void **state)
{
    (void)state;
    json_refused("", "t.json:1:1: the document is empty");
    json_refused(" \n\t ", "t.json:1:1: the document is empty");
    json_refused("{\"a\": 1,\n \"a\": 2}", "t.json:2:4: duplicate object key near '\"a\"'");
    json_refused("{'a': 1}", "t.json:1:2: string or '}' expected near '''");
    json_refused("[1, 2,]", "t.json:1:7: unexpected token near ']'");
    json_refused("[1] [2]", "t.json:1:5: end of file expected near '['");
    json_refused("[1, ", "t.json:1:4: ']' expected near end of file");
    json_refused("\"a\\u0000b\"", "t.json:1:10: text cannot hold a NUL character");
    json_refused("[123456789012345678901234567890]", "t.json:1:31: number out of range");
    json_refused("[1e999]", "t.json:1:6: number out of range");
    json_refused("[NaN]", "t.json:1:4: invalid token near 'NaN'");
    json_refused("{a: 1}", "t.json:1:2: string or '}' expected near 'a'");
}

static void test_what_is_not_text(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *message;
    } table[] = {
        {"a: \0b", 5, "1:4: NUL byte: this is not a text file"},
        {"a: 1\n\xff", 6, "2:1: byte 0xff is not UTF-8 text"},
        {"a: \xc3", 4, "1:4: byte 0xc3 is not UTF-8 text"},             /* cut */
        {"\xc3\xa9 \xe2\x82", 5, "1:3: byte 0xe2 is not UTF-8 text"},   /* cut, after a wide character */
        {"a: \xc0\xaf", 5, "1:4: byte 0xc0 is not UTF-8 text"},         /* overlong */
        {"a: \xe0\x80\xaf", 6, "1:4: byte 0xe0 is not UTF-8 text"},     /* overlong */
        {"a: \xed\xa0\x80", 6, "1:4: byte 0xed is not UTF-8 text"},     /* surrogate */
        {"a: \xf4\x90\x80\x80", 7, "1:4: byte 0xf4 is not UTF-8 text"}, /* above U+10FFFF */
        {"\x7f"
         "ELF\x02\x01\x01\0\0",
         9, "1:8: NUL byte: this is not a text file"},
        {"\xff\xfe{\0}\0", 6, "1:1: byte 0xff is not UTF-8 text"}, /* UTF-16 */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char message[128];
        snprintf(message, sizeof message, "t:%s", table[i].message);
        refused_bytes(wni_yaml_parse, "t", table[i].bytes, table[i].n, message);
        refused_bytes(wni_json_parse, "t", table[i].bytes, table[i].n, message);
    }
}

/* ---- size and depth ---- */

/* depth brackets, then as many to close. */
static char *nested(size_t depth, char open, char close)
{
    char *text = malloc(2 * depth + 1);
    assert_non_null(text);
    memset(text, open, depth);
    memset(text + depth, close, depth);
    text[2 * depth] = '\0';
    return text;
}

static void test_depth_has_a_limit(void **state)
{
    (void)state;
    struct document doc;
    struct err err = {0};
    for (size_t depth = NODE_DEPTH_MAX - 1; depth <= NODE_DEPTH_MAX + 1; depth++) {
        char *text = nested(depth, '[', ']');
        bool fine = depth <= NODE_DEPTH_MAX;
        wn_status st = wni_yaml_parse(&doc, "t", text, strlen(text), &err);
        CHECK(st == (fine ? WN_OK : WN_EINVAL), "YAML depth %zu: %d", depth, st);
        if (st) CHECK_TEXT(err.text, "t:1:65: nested deeper than 64 levels");
        wni_document_release(&doc);
        st = wni_json_parse(&doc, "t", text, strlen(text), &err);
        CHECK(st == (fine ? WN_OK : WN_EINVAL), "JSON depth %zu: %d", depth, st);
        if (st) CHECK_TEXT(err.text, "t: nested deeper than 64 levels");
        wni_document_release(&doc);
        free(text);
    }
}

/* Must come back soon and without using up the stack. */
static void test_very_deep_nesting(void **state)
{
    (void)state;
    struct document doc;
    struct err err = {0};
    char *text = nested(1000000, '[', ']');
    CHECK_INT(wni_yaml_parse(&doc, "t", text, strlen(text), &err), WN_EINVAL);
    CHECK_TEXT(err.text, "t:1:65: nested deeper than 64 levels");
    CHECK_INT(wni_json_parse(&doc, "t", text, strlen(text), &err), WN_EINVAL);
    free(text);
    text = nested(500000, '{', '}');
    CHECK_INT(wni_yaml_parse(&doc, "t", text, strlen(text), &err), WN_EINVAL);
    CHECK_INT(wni_json_parse(&doc, "t", text, strlen(text), &err), WN_EINVAL);
    free(text);
}

static void test_large_documents(void **state)
{
    (void)state;
    struct buf text = {0};
    enum { KEYS = 20000, GIANT = 1 << 20 };
    for (int i = 0; i < KEYS; i++)
        wni_buf_printf(&text, "key%d: %d\n", i, i);
    wni_buf_puts(&text, "giant: ");
    for (int i = 0; i < GIANT / 16; i++)
        wni_buf_puts(&text, "0123456789abcdef");
    wni_buf_puts(&text, "\n");
    assert_false(text.failed);
    struct document doc = yaml(text.data);
    CHECK_INT(doc.root->n, KEYS + 1);
    CHECK_TEXT(wni_node_get(doc.root, "key19999")->text, "19999");
    CHECK_INT(strlen(wni_node_get(doc.root, "giant")->text), GIANT);
    wni_document_release(&doc);
    wni_buf_puts(&text, "key77: again\n");
    yaml_refused(text.data, "t.yaml:20002:1: key 'key77' is there twice, first on line 78");
    wni_buf_release(&text);
}

/* A key of a megabyte makes a message that is cut, not one that overruns. */
static void test_giant_key_in_a_message(void **state)
{
    (void)state;
    enum { GIANT = 1 << 20 };
    struct buf text = {0};
    struct document doc;
    struct err err = {0};
    for (int twice = 0; twice < 2; twice++) {
        wni_buf_puts(&text, "? ");
        for (int i = 0; i < GIANT / 2; i++)
            wni_buf_puts(&text, "\xc3\xa9");
        wni_buf_puts(&text, "\n: 1\n");
    }
    CHECK_INT(wni_yaml_parse(&doc, "t", text.data, text.len, &err), WN_EINVAL);
    CHECK(strlen(err.text) < 200, "%s", err.text);
    CHECK_INT(wni_utf8_valid(err.text, strlen(err.text)), strlen(err.text));
    assert_non_null(strstr(err.text, "' is there twice, first on line 1"));
    wni_buf_release(&text);
}

/* Every prefix of a document is parsed or refused with a place, and never anything else. */
static void test_truncated_documents(void **state)
{
    (void)state;
    static const char text[] =
        "a: {b: [1, 'two', \"three\\n\"], c: |\n   x\n}\nd:\n  - \xe2\x82\xac\n  - >\n   folded\n";
    for (size_t n = 0; n < sizeof text; n++) {
        parser *const parsers[] = {wni_yaml_parse, wni_json_parse};
        for (size_t i = 0; i < 2; i++) {
            struct document doc;
            struct err err = {0};
            char *copy = malloc(n ? n : 1);
            assert_non_null(copy);
            memcpy(copy, text, n);
            wn_status st = parsers[i](&doc, "t", copy, n, &err);
            free(copy);
            CHECK(st == WN_OK || !strncmp(err.text, "t:", 2), "%zu bytes: %d %s", n, st, err.text);
            wni_document_release(&doc);
        }
    }
}

static void test_messages_cannot_drive_a_terminal(void **state)
{
    (void)state;
    yaml_refused("\"a\\e[2J\\x9b\": 1\n\"a\\e[2J\\x9b\": 2\n",
                 "t.yaml:2:1: key 'a?[2J?' is there twice, first on line 1");
}

/* ---- files ---- */

static void test_load(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX], message[CHECK_PATH_MAX + 64];
    struct document doc;
    struct err err = {0};
    check_tmp_make(dir);
    const char *path = check_tmp_write(dir, "study.yaml", "a: 1 # yaml\n", 12);
    CHECK_OK(wni_document_load(&doc, path, &err), err);
    CHECK_TEXT(doc.name, path);
    CHECK_TEXT(wni_node_get(doc.root, "a")->text, "1");
    wni_document_release(&doc);

    path = check_tmp_write(dir, "study.json", "{\"a\": 2}", 8);
    CHECK_OK(wni_document_load(&doc, path, &err), err);
    CHECK_TEXT(wni_node_get(doc.root, "a")->text, "2");
    wni_document_release(&doc);

    path = check_tmp_write(dir, "yaml.json", "a: 1\n", 5);
    CHECK_INT(wni_document_load(&doc, path, &err), WN_EINVAL);
    snprintf(message, sizeof message, "%s:1:1: ", path);
    CHECK(!strncmp(err.text, message, strlen(message)), "%s", err.text);

    snprintf(message, sizeof message, "cannot read '%s': Is a directory", dir);
    CHECK_INT(wni_document_load(&doc, dir, &err), WN_EIO);
    CHECK_TEXT(err.text, message);
    check_tmp_remove(dir);
    CHECK_INT(wni_document_load(&doc, path, &err), WN_ENOTFOUND);
    snprintf(message, sizeof message, "cannot open '%s': No such file or directory", path);
    CHECK_TEXT(err.text, message);
    assert_null(doc.root);
    CHECK_INT(wni_document_load(&doc, "/dev/zero", &err), WN_EINVAL);
    CHECK_TEXT(err.text, "'/dev/zero' is larger than 64 MiB");
}

/* ---- problems ---- */

static void test_problems_are_collected_and_sorted(void **state)
{
    (void)state;
    struct problems p = {.file = "f.yaml"};
    struct err err = {0};
    struct buf out = {0};
    CHECK_INT(wni_problems_status(&p, &err), WN_OK);
    wni_problem(&p, &(struct node){.line = 7, .column = 3}, "late");
    wni_problem(&p, &(struct node){.line = 2, .column = 9}, "number %d", 1);
    wni_problem(&p, &(struct node){.line = 2, .column = 4}, "first on its line");
    wni_problem(&p, &(struct node){.line = 2, .column = 9}, "number %d", 2);
    wni_problem(&p, NULL, "everywhere");
    wni_problem(&p, &(struct node){.flag = "set"}, "not in the file");
    wni_problems_sort(&p);
    wni_problems_write(&p, &out);
    CHECK_TEXT(wni_buf_text(&out), "f.yaml: everywhere\n"
                                   "--set: not in the file\n"
                                   "f.yaml:2:4: first on its line\n"
                                   "f.yaml:2:9: number 1\n"
                                   "f.yaml:2:9: number 2\n"
                                   "f.yaml:7:3: late\n");
    CHECK_INT(wni_problems_status(&p, &err), WN_EINVAL);
    CHECK_TEXT(err.text, "f.yaml: everywhere");
    wni_buf_clear(&out);
    p.file = NULL;
    wni_problems_write(&p, &out);
    CHECK(!strncmp(out.data, "everywhere\n--set: not in the file\nline 2, column 4: first", 57), "%s",
          out.data);
    wni_buf_release(&out);
    wni_problems_release(&p);
    CHECK_INT(p.n, 0);
    CHECK_INT(wni_problems_status(&p, NULL), WN_OK);
}

static void test_problem_did_you_mean(void **state)
{
    (void)state;
    static const char *const names[] = {"metric", "method", "seed"};
    struct problems p = {0};
    wni_problem_unknown(&p, NULL, "stop", "key", "sede", names, 3);
    wni_problem_unknown(&p, NULL, NULL, "key", "zebra", names, 3);
    wni_problem_unknown(&p, NULL, "", "type", "metrik", names, 3);
    CHECK_INT(p.n, 3);
    CHECK_TEXT(p.items[0].text, "stop: unknown key 'sede'; did you mean 'seed'?");
    CHECK_TEXT(p.items[1].text, "unknown key 'zebra'; expected metric, method or seed");
    CHECK_TEXT(p.items[2].text, "unknown type 'metrik'; did you mean 'metric'?");
    wni_problems_release(&p);
}

static void test_problems_have_a_limit(void **state)
{
    (void)state;
    struct problems p = {0};
    struct buf out = {0};
    for (int i = 0; i < PROBLEMS_MAX + 500; i++) {
        CHECK_INT(wni_problems_full(&p), i >= PROBLEMS_MAX);
        wni_problem(&p, &(struct node){.line = 10000 - i, .column = 1}, "problem %d", i);
    }
    CHECK_INT(p.n, PROBLEMS_MAX);
    wni_problems_sort(&p);
    for (size_t i = 1; i < p.n; i++)
        assert_true(p.items[i - 1].line < p.items[i].line);
    wni_problems_write(&p, &out);
    assert_non_null(strstr(out.data, "\nthese are the first 1000 problems\n"));
    wni_buf_release(&out);
    wni_problems_release(&p);
}

static void test_failed_list_is_out_of_memory(void **state)
{
    (void)state;
    struct problems p = {.failed = true};
    struct err err = {0};
    wni_problem(&p, NULL, "not kept");
    CHECK_INT(p.n, 0);
    CHECK_INT(wni_problems_status(&p, &err), WN_ENOMEM);
    CHECK_TEXT(err.text, "out of memory");
}

/* What is written reads back as the same tree: kinds, order, what is a number and what only looks like one.
 */
static void written_and_read_again(void **state)
{
    (void)state;
    static const char yaml[] =
        "a: 1.0e-5\nb: \"1.0\"\nc: [relu, \"it's \\\"so\\\"\", true, 'true', null, ~, 0x10, -3]\n"
        "d: {}\ne: []\nf: {g: {h: \"line\\nbreak\"}}\n\"key: odd\": '#no comment'\ni:\n";
    static const char expected[] = "{\"a\": 1.0e-5, \"b\": \"1.0\", \"c\": [\"relu\", \"it's \\\"so\\\"\", "
                                   "true, \"true\", null, null, \"0x10\", -3], "
                                   "\"d\": {}, \"e\": [], \"f\": {\"g\": {\"h\": \"line\\nbreak\"}}, \"key: "
                                   "odd\": \"#no comment\", \"i\": null}";
    struct document doc, again;
    struct buf once = {0}, twice = {0};
    struct err why = {0};
    CHECK_OK(wni_yaml_parse(&doc, "", yaml, strlen(yaml), &why), why);
    wni_node_write(doc.root, &once);
    CHECK_TEXT(wni_buf_text(&once), expected);
    CHECK_OK(wni_yaml_parse(&again, "", once.data, once.len, &why), why);
    wni_node_write(again.root, &twice);
    CHECK_TEXT(wni_buf_text(&twice), expected);
    wni_buf_release(&once);
    wni_buf_release(&twice);
    wni_document_release(&doc);
    wni_document_release(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_and_read_again),
        cmocka_unit_test(test_yaml_tree_and_places),
        cmocka_unit_test(test_columns_count_characters),
        cmocka_unit_test(test_scalar_styles),
        cmocka_unit_test(test_json_is_the_same_tree),
        cmocka_unit_test(test_json_numbers_keep_their_value),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_booleans_and_kinds),
        cmocka_unit_test(test_descriptions),
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_yaml_refusals),
        cmocka_unit_test(test_yaml_syntax_errors_have_plain_words),
        cmocka_unit_test(test_nameless_documents_say_line),
        cmocka_unit_test(test_json_refusals),
        cmocka_unit_test(test_what_is_not_text),
        cmocka_unit_test(test_depth_has_a_limit),
        cmocka_unit_test(test_very_deep_nesting),
        cmocka_unit_test(test_large_documents),
        cmocka_unit_test(test_giant_key_in_a_message),
        cmocka_unit_test(test_truncated_documents),
        cmocka_unit_test(test_messages_cannot_drive_a_terminal),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_problems_are_collected_and_sorted),
        cmocka_unit_test(test_problem_did_you_mean),
        cmocka_unit_test(test_problems_have_a_limit),
        cmocka_unit_test(test_failed_list_is_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
