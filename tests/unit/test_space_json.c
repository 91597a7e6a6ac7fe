/* test_space_json.c -- spaces and configurations to and from documents: nothing is lost, every mistake has
 * its place. */
#include "tests/check.h"

#include "base/node.h"
#include "core/space.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- helpers ---- */

static void parse(struct document *doc, const char *text)
{
    struct err err = {0};
    CHECK_OK(wni_yaml_parse(doc, "t.yaml", text, strlen(text), &err), err);
}

/* The space declared by a YAML text that has no mistakes. */
static void read_space(struct space *space, const char *text)
{
    struct document doc;
    struct problems problems = {.file = "t.yaml"};
    struct err err = {0};
    wni_space_init(space);
    parse(&doc, text);
    wni_space_read(space, doc.root, &problems);
    CHECK_OK(wni_problems_status(&problems, &err), err);
    wni_document_release(&doc);
}

static void check_problems(const char *text, const char *expected)
{
    struct document doc;
    struct space space;
    struct problems problems = {0};
    struct buf out = {0};
    wni_space_init(&space);
    parse(&doc, text);
    wni_space_read(&space, doc.root, &problems);
    wni_problems_sort(&problems);
    for (size_t i = 0; i < problems.n; i++)
        wni_buf_printf(&out, "%d:%d: %s\n", problems.items[i].line, problems.items[i].column,
                       problems.items[i].text);
    CHECK_TEXT(wni_buf_text(&out), expected);
    wni_buf_release(&out);
    wni_problems_release(&problems);
    wni_space_release(&space);
    wni_document_release(&doc);
}

static void check_same_param(const struct param *a, const struct param *b)
{
    CHECK_TEXT(a->name, b->name);
    CHECK_INT(a->kind, b->kind);
    CHECK_INT(a->scale, b->scale);
    CHECK_INT(a->count, b->count);
    CHECK_DOUBLE(a->min, b->min);
    CHECK_DOUBLE(a->max, b->max);
    CHECK_DOUBLE(a->step, b->step);
    CHECK_INT(a->numbers != NULL, b->numbers != NULL);
    CHECK_INT(a->labels != NULL, b->labels != NULL);
    for (size_t i = 0; a->labels && i < a->count; i++) {
        CHECK_TEXT(a->labels[i], b->labels[i]);
        if (a->numbers) CHECK_DOUBLE(a->numbers[i], b->numbers[i]);
    }
}

static void check_same_space(const struct space *a, const struct space *b)
{
    CHECK_INT(a->n, b->n);
    CHECK_INT(a->size, b->size);
    CHECK_INT(a->unit_width, b->unit_width);
    CHECK_INT(a->tree_width, b->tree_width);
    for (size_t i = 0; i < a->n; i++)
        check_same_param(&a->params[i], &b->params[i]);
}

/* Writes the space, reads it back strictly as JSON, compares; the second writing is the same text. */
static void check_round_trip(const struct space *space)
{
    struct buf json = {0}, again = {0};
    struct document doc;
    struct space back;
    struct problems problems = {0};
    struct err err = {0};
    wni_space_init(&back);
    wni_space_write(space, &json);
    assert_false(json.failed);
    CHECK_OK(wni_json_parse(&doc, "", json.data, json.len, &err), err);
    wni_space_read(&back, doc.root, &problems);
    CHECK(!wni_problems_status(&problems, &err), "%s\n%s", err.text, json.data);
    check_same_space(&back, space);
    wni_space_write(&back, &again);
    CHECK_TEXT(again.data, json.data);
    wni_buf_release(&json);
    wni_buf_release(&again);
    wni_space_release(&back);
    wni_document_release(&doc);
}

static void check_config_round_trip(const struct space *space, const double *config)
{
    struct buf json = {0};
    struct document doc;
    struct err err = {0};
    double *back = calloc(space->n + 1, sizeof *back);
    assert_non_null(back);
    wni_config_write(space, config, &json);
    assert_false(json.failed);
    CHECK_OK(wni_json_parse(&doc, "", json.data, json.len, &err), err);
    CHECK(!wni_config_read(space, doc.root, back, NULL, &err), "%s\n%s", err.text, json.data);
    for (size_t i = 0; i < space->n; i++)
        CHECK(check_same_double(back[i], config[i]), "%s: %.17g, expected %.17g, in %s",
              space->params[i].name, back[i], config[i], json.data);
    wni_document_release(&doc);
    wni_buf_release(&json);
    free(back);
}

/* ---- reading ---- */

static void test_every_type(void **state)
{
    (void)state;
    struct space s;
    read_space(&s, "lr:         {type: float, min: 1.0e-5, max: 0.1, scale: log}\n"
                   "momentum:   {type: float, min: 0, max: 0.9, step: 0.1}\n"
                   "units:      {type: int, min: 16, max: 512, scale: log}\n"
                   "layers:     {type: int, min: 1, max: 9, step: 2, scale: linear}\n"
                   "dropout:    {type: ordinal, values: [0.0, 0.3, 0.6]}\n"
                   "batch:      {type: ordinal, values: [8, 16, 32], scale: log}\n"
                   "size:       {type: ordinal, values: [small, medium, large]}\n"
                   "activation: {type: categorical, values: [relu, tanh]}\n"
                   "nesterov:   {type: bool}\n"
                   "epochs:     {type: constant, value: 81}\n"
                   "optimizer:  [sgd, adam]\n"
                   "dataset:    mnist\n");
    static const enum param_kind kinds[] = {
        PARAM_FLOAT,   PARAM_FLOAT,       PARAM_INT,  PARAM_INT,      PARAM_ORDINAL,     PARAM_ORDINAL,
        PARAM_ORDINAL, PARAM_CATEGORICAL, PARAM_BOOL, PARAM_CONSTANT, PARAM_CATEGORICAL, PARAM_CONSTANT};
    CHECK_INT(s.n, COUNT(kinds));
    for (size_t i = 0; i < s.n; i++)
        CHECK_INT(s.params[i].kind, kinds[i]);
    CHECK_DOUBLE(s.params[0].min, 1e-5);
    CHECK_DOUBLE(s.params[0].max, 0.1);
    CHECK_INT(s.params[0].scale, WN_LOG);
    CHECK_DOUBLE(s.params[1].step, 0.1);
    CHECK_INT(s.params[1].count, 10);
    CHECK_INT(s.params[3].count, 5);
    CHECK_TEXT(s.params[4].labels[0], "0.0");
    CHECK_DOUBLE(s.params[4].numbers[1], 0.3);
    CHECK_INT(s.params[5].scale, WN_LOG);
    assert_null(s.params[6].numbers);
    CHECK_TEXT(s.params[7].labels[1], "tanh");
    CHECK_TEXT(s.params[9].labels[0], "81");
    CHECK_TEXT(s.params[10].labels[1], "adam");
    CHECK_TEXT(s.params[11].labels[0], "mnist");
    check_round_trip(&s);
    wni_space_release(&s);
}

/* The form of blackbox.json. */
static void test_list_form(void **state)
{
    (void)state;
    struct space list, map;
    read_space(&list,
               "- {name: a, type: int, min: 1, max: 3}\n- type: categorical\n  values: [x, y]\n  name: b\n");
    read_space(&map, "a: {type: int, min: 1, max: 3}\nb: {type: categorical, values: [x, y]}\n");
    check_same_space(&list, &map);
    wni_space_release(&list);
    wni_space_release(&map);
}

/* Quoted values of an ordinal are words even if they look like numbers, unless a scale says otherwise. */
static void test_quotes_make_words(void **state)
{
    (void)state;
    struct space s;
    read_space(&s, "a: {type: ordinal, values: ['1', '2']}\n"
                   "b: {type: ordinal, values: [1, 2]}\n"
                   "c: {type: ordinal, values: ['1.0', '2.0'], scale: linear}\n"
                   "d: {type: ordinal, values: ['2', '1']}\n"
                   "e: {type: categorical, values: ['on', off, 1]}\n");
    assert_null(s.params[0].numbers);
    assert_non_null(s.params[1].numbers);
    assert_non_null(s.params[2].numbers);
    assert_null(s.params[3].numbers);
    CHECK_TEXT(s.params[4].labels[1], "off");
    check_round_trip(&s);
    wni_space_release(&s);
}

/* ---- mistakes ---- */

static void test_mistakes_of_form(void **state)
{
    (void)state;
    check_problems("3", "1:1: 'parameters' must be a mapping of names to parameters, got '3'\n");
    check_problems("{}", "1:1: 'parameters' is empty; there is nothing to tune\n");
    check_problems("[]", "1:1: 'parameters' is empty; there is nothing to tune\n");
    check_problems("lr:\n", "1:4: parameter 'lr': expected a mapping with its 'type', a list of values or a "
                            "constant, got nothing\n");
    check_problems("- 3\n", "1:3: parameter 1: expected a mapping with 'name' and 'type', got '3'\n");
    check_problems("- {type: bool}\n", "1:3: parameter 1: missing 'name'\n");
    check_problems("- {name: a, type: bool}\n- {name: [b], type: bool}\n",
                   "2:10: parameter 2: 'name' must be text, got a list\n");
    check_problems(
        "lr: {name: x, type: bool}\n",
        "1:12: parameter 'lr': 'name' belongs in a list of parameters; here the key is the name\n");
    check_problems(
        "lr: {}\n",
        "1:1: parameter 'lr': missing 'type': float, int, ordinal, categorical, bool or constant\n");
}

static void test_mistakes_of_types_and_keys(void **state)
{
    (void)state;
    check_problems("lr: {type: flaot, min: 0, max: 1}\n",
                   "1:12: parameter 'lr': unknown type 'flaot'; did you mean 'float'?\n");
    check_problems("lr: {type: gaussian}\n", "1:12: parameter 'lr': unknown type 'gaussian'; expected float, "
                                             "int, ordinal, categorical, bool or constant\n");
    check_problems("lr: {type: [float]}\n",
                   "1:12: parameter 'lr': 'type' must be the name of a type, got a list\n");
    check_problems("lr: {typ: float, min: 0, max: 1}\n",
                   "1:6: parameter 'lr': unknown key 'typ'; did you mean 'type'?\n");
    check_problems("lr: {type: float, mim: 0, max: 1}\n",
                   "1:19: parameter 'lr': unknown key 'mim'; did you mean 'min'?\n");
    check_problems(
        "lr: {type: float, min: 0, max: 1, prior: x}\n",
        "1:35: parameter 'lr': unknown key 'prior'; expected type, min, max, step, scale, values or value\n");
    check_problems("lr: {type: float, min: 0}\n",
                   "1:1: parameter 'lr': missing 'max': type float takes min, max, step and scale\n");
    check_problems("lr:\n  type: int\n",
                   "1:1: parameter 'lr': missing 'min': type int takes min, max, step and scale\n"
                   "1:1: parameter 'lr': missing 'max': type int takes min, max, step and scale\n");
    check_problems(
        "a: {type: float, min: 0, max: 1, values: [1]}\n",
        "1:34: parameter 'a': 'values' does not go with type float, which takes min, max, step and scale\n");
    check_problems("a: {type: categorical, values: [x, y], scale: log}\n",
                   "1:40: parameter 'a': 'scale' does not go with type categorical, which takes values\n");
    check_problems("a: {type: bool, value: true}\n",
                   "1:17: parameter 'a': 'value' does not go with type bool, which takes nothing else\n");
    check_problems("a: {type: categorical}\n",
                   "1:1: parameter 'a': missing 'values': type categorical takes values\n");
    check_problems("a: {type: constant}\n",
                   "1:1: parameter 'a': missing 'value': type constant takes value\n");
}

static void test_mistakes_of_values(void **state)
{
    (void)state;
    check_problems("a: {type: float, min: low, max: '1'}\n",
                   "1:23: parameter 'a': 'min' must be a number, got 'low'\n"
                   "1:33: parameter 'a': 'max' must be a number, got the text '1'\n");
    check_problems("a: {type: float, min: [0], max: }\n",
                   "1:23: parameter 'a': 'min' must be a number, got a list\n"
                   "1:33: parameter 'a': 'max' must be a number, got nothing\n");
    check_problems("a: {type: float, min: 1, max: 2, scale: lg}\n",
                   "1:41: parameter 'a': unknown scale 'lg'; did you mean 'log'?\n");
    check_problems("a: {type: float, min: 1, max: 2, scale: [log]}\n",
                   "1:41: parameter 'a': 'scale' must be linear or log, got a list\n");
    check_problems("a: {type: float, min: 1, max: 2, step: 0}\n",
                   "1:40: parameter 'a': 'step' must be above 0\n");
    check_problems("a: {type: int, min: 1, max: 2, step: -1}\n",
                   "1:38: parameter 'a': 'step' must be above 0\n");
    check_problems("a: {type: int, min: 1, max: 2, step: nan}\n",
                   "1:38: parameter 'a': 'step' must be above 0\n");
    check_problems("a: {type: categorical, values: relu}\n",
                   "1:32: parameter 'a': 'values' must be a list, got 'relu'\n");
    check_problems("a: {type: categorical, values: {relu, tanh}}\n",
                   "1:32: parameter 'a': 'values' must be a list, got a mapping\n");
    check_problems("a: {type: categorical, values: [x, [y], ~]}\n",
                   "1:36: parameter 'a': value 2 must be text or a number, got a list\n"
                   "1:41: parameter 'a': value 3 must be text or a number, got nothing\n");
    check_problems("a: {type: constant, value: [1]}\n",
                   "1:28: parameter 'a': the value must be text or a number, got a list\n");
    check_problems("a: {type: constant, value: }\n",
                   "1:28: parameter 'a': the value must be text or a number, got nothing\n");
}

/* What wni_space_add() refuses is put where it is written. */
static void test_mistakes_of_sense_have_their_place(void **state)
{
    (void)state;
    check_problems("a: {type: float, min: 2, max: 1}\n", "1:31: parameter 'a': min 2 is above max 1\n");
    check_problems("a: {type: float, min: 1, max: 1}\n",
                   "1:31: parameter 'a': min and max are both 1; use a constant for a fixed value\n");
    check_problems("a: {max: 1, scale: log, min: 0, type: float}\n",
                   "1:30: parameter 'a': log scale needs a lower bound above 0\n");
    check_problems("a: {type: float, min: -inf, max: 1}\n",
                   "1:23: parameter 'a': bounds must be finite numbers\n");
    check_problems("a: {type: float, min: 0, max: nan}\n",
                   "1:31: parameter 'a': bounds must be finite numbers\n");
    check_problems("a: {type: float, min: 0, max: 1, step: 2}\n",
                   "1:40: parameter 'a': step 2 is wider than the range\n");
    check_problems("a: {type: int, min: 0.5, max: 3}\n",
                   "1:21: parameter 'a': bounds and step of an int must be whole numbers\n");
    check_problems("a: {type: int, min: 1, max: 3.5}\n",
                   "1:29: parameter 'a': bounds and step of an int must be whole numbers\n");
    check_problems("a: {type: int, min: 1, max: 3, step: 0.5}\n",
                   "1:38: parameter 'a': bounds and step of an int must be whole numbers\n");
    check_problems("a: {type: categorical, values: []}\n", "1:32: parameter 'a': needs at least one value\n");
    check_problems("a: []\n", "1:4: parameter 'a': needs at least one value\n");
    check_problems("a: [x, y, x]\n", "1:11: parameter 'a': value 'x' is there twice\n");
    check_problems("a: {type: categorical, values: [x, x]}\n",
                   "1:36: parameter 'a': value 'x' is there twice\n");
    check_problems("a: {type: ordinal, values: [1, 3, 2]}\n",
                   "1:35: parameter 'a': ordinal values must increase, but 2 follows 3\n");
    check_problems("a: {type: ordinal, values: [0, 1], scale: log}\n",
                   "1:29: parameter 'a': log scale needs values above 0, within 1e-300..1e+300\n");
    check_problems("a: {type: ordinal, values: [1, two], scale: log}\n",
                   "1:32: parameter 'a': log scale needs values that are numbers\n");
    check_problems("- {name: a, type: bool}\n- {name: b, type: bool}\n- {name: a, type: bool}\n",
                   "3:10: parameter 'a': declared twice\n");
    check_problems("- {name: a, type: bool}\n- {name: a, type: int, min: 2, max: 1}\n",
                   "2:10: parameter 'a': declared twice\n");
    check_problems("9lives: {type: bool}\n",
                   "1:1: parameter '9lives': a name has 1 to 64 letters, digits, '_', '-' or '.' and "
                   "starts with a letter or '_'\n");
    check_problems("two words: {type: bool}\n",
                   "1:1: parameter 'two words': a name has 1 to 64 letters, digits, '_', '-' or '.' "
                   "and starts with a letter or '_'\n");
}

/* One pass finds them all, and the good ones are kept. */
static void test_all_mistakes_in_one_pass(void **state)
{
    (void)state;
    const char *text = "lr: {type: float, min: 0, max: 1, scale: log}\n"
                       "units: {type: int, min: a, mx: 3}\n"
                       "good: [a, b]\n"
                       "act: {type: categorcal, values: 3}\n"
                       "drop: {type: ordinal, values: [1, 1], scale: lin}\n";
    check_problems(text, "1:24: parameter 'lr': log scale needs a lower bound above 0\n"
                         "2:25: parameter 'units': 'min' must be a number, got 'a'\n"
                         "2:28: parameter 'units': unknown key 'mx'; did you mean 'max'?\n"
                         "4:13: parameter 'act': unknown type 'categorcal'; did you mean 'categorical'?\n"
                         "5:46: parameter 'drop': unknown scale 'lin'; expected linear or log\n");
    struct document doc;
    struct space space;
    struct problems problems = {0};
    wni_space_init(&space);
    parse(&doc, text);
    wni_space_read(&space, doc.root, &problems);
    CHECK_INT(space.n, 1);
    CHECK_TEXT(space.params[0].name, "good");
    wni_problems_release(&problems);
    wni_space_release(&space);
    wni_document_release(&doc);
}

static void test_limits(void **state)
{
    (void)state;
    struct buf text = {0};
    wni_buf_puts(&text, "a: [");
    for (int i = 0; i <= 10000; i++)
        wni_buf_printf(&text, "v%d, ", i);
    wni_buf_puts(&text, "]\n");
    check_problems(text.data, "1:4: parameter 'a': 10001 values; at most 10000 are allowed\n");
    wni_buf_clear(&text);
    for (int i = 0; i <= 1000; i++)
        wni_buf_printf(&text, "p%d: 1\n", i);
    check_problems(text.data, "1001:8: more than 1000 parameters\n");
    wni_buf_release(&text);
}

/* A name or value of any size gives a message of bounded size that is still text. */
static void test_giant_names_and_values(void **state)
{
    (void)state;
    struct buf text = {0};
    struct document doc;
    struct space space;
    struct problems problems = {0};
    enum { GIANT = 100000 };
    wni_buf_puts(&text, "? ");
    for (int i = 0; i < GIANT; i++)
        wni_buf_puts(&text, "\xc3\xa9");
    wni_buf_puts(&text, "\n: {type: float, min: ");
    for (int i = 0; i < GIANT; i++)
        wni_buf_puts(&text, "\xc3\xa9");
    wni_buf_puts(&text, ", max: 1}\nb: {type: ");
    for (int i = 0; i < GIANT; i++)
        wni_buf_puts(&text, "x");
    wni_buf_puts(&text, "}\n");
    wni_space_init(&space);
    parse(&doc, text.data);
    wni_space_read(&space, doc.root, &problems);
    CHECK_INT(problems.n, 2);
    for (size_t i = 0; i < problems.n; i++)
        CHECK(strlen(problems.items[i].text) < 300, "%s", problems.items[i].text);
    wni_problems_release(&problems);
    wni_space_release(&space);
    wni_document_release(&doc);
    wni_buf_release(&text);
}

/* ---- writing ---- */

static void test_space_json_text(void **state)
{
    (void)state;
    struct space s;
    struct buf json = {0};
    read_space(&s, "lr: {type: float, min: 1.0e-5, max: 0.1, scale: log}\n"
                   "m: {type: float, min: 0, max: 0.9, step: 0.1}\n"
                   "n: {type: int, min: 1, max: 9}\n"
                   "k: {type: int, min: 1, max: 10, step: 2}\n"
                   "o: {type: ordinal, values: [8, 16], scale: log}\n"
                   "d: {type: ordinal, values: [0.0, 0.5]}\n"
                   "w: {type: ordinal, values: ['1', '2']}\n"
                   "c: [relu, 0.001, 1.0, \"quo\\\"te\"]\n"
                   "b: {type: bool}\n"
                   "e: 81\n");
    wni_space_write(&s, &json);
    CHECK_TEXT(wni_buf_text(&json),
               "{\"lr\": {\"type\": \"float\", \"min\": 1e-05, \"max\": 0.1, \"scale\": \"log\"}, "
               "\"m\": {\"type\": \"float\", \"min\": 0, \"max\": 0.9, \"step\": 0.1}, "
               "\"n\": {\"type\": \"int\", \"min\": 1, \"max\": 9}, "
               "\"k\": {\"type\": \"int\", \"min\": 1, \"max\": 9, \"step\": 2}, "
               "\"o\": {\"type\": \"ordinal\", \"values\": [8, 16], \"scale\": \"log\"}, "
               "\"d\": {\"type\": \"ordinal\", \"values\": [\"0.0\", 0.5], \"scale\": \"linear\"}, "
               "\"w\": {\"type\": \"ordinal\", \"values\": [\"1\", \"2\"]}, "
               "\"c\": {\"type\": \"categorical\", \"values\": [\"relu\", 0.001, \"1.0\", \"quo\\\"te\"]}, "
               "\"b\": {\"type\": \"bool\"}, "
               "\"e\": {\"type\": \"constant\", \"value\": 81}}");
    check_round_trip(&s);
    wni_buf_release(&json);
    wni_space_release(&s);
}

static void test_config_json_text(void **state)
{
    (void)state;
    struct space s;
    struct buf json = {0};
    read_space(&s, "lr: {type: float, min: 1.0e-5, max: 0.1, scale: log}\n"
                   "units: {type: int, min: 16, max: 512}\n"
                   "dropout: {type: ordinal, values: [0.0, 0.3]}\n"
                   "word: {type: ordinal, values: ['1', '2']}\n"
                   "act: [relu, tanh]\n"
                   "init: [5e-4, 0.001]\n"
                   "flag: {type: bool}\n"
                   "epochs: 81\n"
                   "data: mnist\n");
    double config[] = {0.001, 64, 0, 1, 0, 0, 1, 0, 0};
    CHECK_INT(s.n, COUNT(config));
    wni_config_write(&s, config, &json);
    CHECK_TEXT(wni_buf_text(&json), "{\"lr\": 0.001, \"units\": 64, \"dropout\": 0, \"word\": \"2\", "
                                    "\"act\": \"relu\", \"init\": 0.0005, "
                                    "\"flag\": true, \"epochs\": 81, \"data\": \"mnist\"}");
    check_config_round_trip(&s, config);
    wni_buf_release(&json);
    wni_space_release(&s);
}

/* Labels that a number would confuse: equal numbers in two spellings, negative zero, infinity, too many
 * digits. */
static void test_awkward_labels_come_back(void **state)
{
    (void)state;
    struct space s;
    read_space(&s, "a: [1, 1.0, '1e0', 0, -0, '', ' ', inf, nan, 1e400, 9007199254740993, 9007199254740992, "
                   "12345678901234567890123]\n"
                   "b: ['true', 'null', '~', '[1]', \"\\t\\n\\e\", '{lr}', .5, 0.5, +7, 007]\n"
                   "c: {type: ordinal, values: [-0, 1e-7, .5, 1.50, 1e16, 1e300]}\n"
                   "d: {type: ordinal, values: ['10', '9', 'x']}\n"
                   "e: '007'\n"
                   "f: {type: constant, value: -0}\n"
                   "g: {type: constant, value: 1.0}\n");
    check_round_trip(&s);
    double config[7] = {0};
    for (size_t i = 0; i < s.n; i++)
        for (size_t k = 0; k < s.params[i].count; k++) {
            config[i] = (double)k;
            check_config_round_trip(&s, config);
        }
    wni_space_release(&s);
}

/* Any space the random generator of the tests can think of, and any configuration of it. */
static void test_random_spaces_come_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 1);
        struct space s;
        double config[16];
        check_random_space(&s, &rng, 1 + (size_t)wni_rng_below(&rng, COUNT(config)));
        check_round_trip(&s);
        for (int i = 0; i < 20; i++) {
            check_random_config(&s, &rng, config);
            check_config_round_trip(&s, config);
        }
        wni_space_release(&s);
    }
}

/* Random bytes as labels: whatever they are, they come back. */
static void test_random_labels_come_back(void **state)
{
    (void)state;
    static const char letters[] = "0123456789.eE+-\"\\ {}[]:,~abtrue\n\t\x7f";
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct rng rng = wni_rng_stream(seed, 1, 1);
        char texts[8][8];
        const char *labels[8];
        struct space s;
        wni_space_init(&s);
        for (size_t i = 0; i < COUNT(labels); i++) {
            size_t n = (size_t)wni_rng_below(&rng, sizeof *texts);
            for (size_t k = 0; k < n; k++)
                texts[i][k] = letters[wni_rng_below(&rng, sizeof letters - 1)];
            texts[i][n] = '\0';
            labels[i] = texts[i];
        }
        struct param_decl d = {
            .name = "x", .kind = PARAM_CATEGORICAL, .labels = labels, .n_labels = COUNT(labels)};
        if (!wni_space_add(&s, &d, NULL)) { /* refused when two are equal */
            check_round_trip(&s);
            for (size_t k = 0; k < COUNT(labels); k++)
                check_config_round_trip(&s, (double[]){(double)k});
        }
        wni_space_release(&s);
    }
}

/* ---- configurations ---- */

static const char small_space[] = "lr: {type: float, min: 1.0e-5, max: 0.1, scale: log}\n"
                                  "units: {type: int, min: 16, max: 512}\n"
                                  "init: [0.0005, 0.001]\n"
                                  "act: [relu, tanh]\n"
                                  "flag: {type: bool}\n";

static void test_config_read(void **state)
{
    (void)state;
    struct space s;
    struct document doc;
    struct err err = {0};
    double config[5];
    bool given[5];
    read_space(&s, small_space);
    parse(&doc, "{flag: yes, act: tanh, init: 5e-4, units: 64, lr: 1e-3}");
    CHECK_OK(wni_config_read(&s, doc.root, config, NULL, &err), err);
    CHECK(config[0] == 1e-3 && config[1] == 64 && config[2] == 0 && config[3] == 1 && config[4] == 1,
          "%g %g %g %g %g", config[0], config[1], config[2], config[3], config[4]);
    wni_document_release(&doc);
    parse(&doc, "{units: '128', init: 1.0e-3}");
    memset(given, 1, sizeof given);
    CHECK_OK(wni_config_read(&s, doc.root, config, given, &err), err);
    CHECK(!given[0] && given[1] && given[2] && !given[3] && !given[4], "%d%d%d%d%d", given[0], given[1],
          given[2], given[3], given[4]);
    CHECK_DOUBLE(config[1], 128);
    CHECK_DOUBLE(config[2], 1);
    wni_document_release(&doc);
    wni_space_release(&s);
}

static void test_config_mistakes(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"[1]", "expected a mapping of parameters to values, got a list"},
        {"{lrr: 1}", "unknown parameter 'lrr'; did you mean 'lr'?"},
        {"{zebra: 1}", "unknown parameter 'zebra'"},
        {"{lr: [1]}", "parameter 'lr': expected a value, got a list"},
        {"{lr: ~}", "parameter 'lr': expected a value, got nothing"},
        {"{lr: fast}", "parameter 'lr': 'fast' is not a number"},
        {"{lr: 1}", "parameter 'lr': 1 is outside 1e-05..0.1"},
        {"{units: 16.5}", "parameter 'units': 16.5 is not a whole number"},
        {"{act: gelu}", "parameter 'act': 'gelu' is not one of relu, tanh"},
        {"{init: 0.002}", "parameter 'init': '0.002' is not one of 0.0005, 0.001"},
        {"{flag: 2}", "parameter 'flag': '2' is not one of false, true"},
        {"{lr: 0.01, units: 16, init: 0.001, act: relu}", "parameter 'flag' is missing"},
    };
    struct space s;
    read_space(&s, small_space);
    for (size_t i = 0; i < COUNT(table); i++) {
        struct document doc;
        struct err err = {0};
        double config[5];
        parse(&doc, table[i][0]);
        CHECK_INT(wni_config_read(&s, doc.root, config, NULL, &err), WN_EINVAL);
        CHECK_TEXT(err.text, table[i][1]);
        wni_document_release(&doc);
    }
    wni_space_release(&s);
}

/* ---- real spaces ---- */

static void test_spaces_of_the_benchmarks(void **state)
{
    (void)state;
    static const char *const families[] = {"fcnet",   "nas201",       "nb301",   "lcbench",
                                           "taskset", "hpobench-mlp", "xgboost", "yahpo-lcbench"};
    int found = 0;
    for (size_t i = 0; i < COUNT(families); i++) {
        char path[256];
        snprintf(path, sizeof path, "../shared/data/%s/blackbox.json", families[i]);
        if (access(path, R_OK) != 0) continue;
        struct document doc;
        struct space s;
        struct problems problems = {.file = path};
        struct err err = {0};
        double config[64];
        struct rng rng = wni_rng_stream(i, 0, 1);
        wni_space_init(&s);
        CHECK_OK(wni_document_load(&doc, path, &err), err);
        wni_space_read(&s, wni_node_get(doc.root, "parameters"), &problems);
        CHECK_OK(wni_problems_status(&problems, &err), err);
        CHECK(s.n > 0 && s.n <= COUNT(config), "%s has %zu parameters", families[i], s.n);
        check_round_trip(&s);
        for (int k = 0; k < 100; k++) {
            check_random_config(&s, &rng, config);
            check_config_round_trip(&s, config);
        }
        wni_space_release(&s);
        wni_document_release(&doc);
        found++;
    }
    if (found) return;
    print_message("# skip: no benchmark folders in ../shared/data\n");
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_list_form),
        cmocka_unit_test(test_quotes_make_words),
        cmocka_unit_test(test_mistakes_of_form),
        cmocka_unit_test(test_mistakes_of_types_and_keys),
        cmocka_unit_test(test_mistakes_of_values),
        cmocka_unit_test(test_mistakes_of_sense_have_their_place),
        cmocka_unit_test(test_all_mistakes_in_one_pass),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_giant_names_and_values),
        cmocka_unit_test(test_space_json_text),
        cmocka_unit_test(test_config_json_text),
        cmocka_unit_test(test_awkward_labels_come_back),
        cmocka_unit_test(test_random_spaces_come_back),
        cmocka_unit_test(test_random_labels_come_back),
        cmocka_unit_test(test_config_read),
        cmocka_unit_test(test_config_mistakes),
        cmocka_unit_test(test_spaces_of_the_benchmarks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
