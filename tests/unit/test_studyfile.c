/* test_studyfile.c -- study files: what they mean, and that every mistake is told once, in its place, all in
 * one pass. */
#include "tests/check.h"

#include "base/node.h"
#include "base/utf8.h"
#include "studyfile/studyfile.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The least a study file needs, for tests about one more key. */
#define LEAST                                                                                                \
    "command: ./train --lr {lr}\n"                                                                           \
    "metric: val_loss\n"                                                                                     \
    "parameters: {lr: {type: float, min: 0, max: 1}}\n"

/* ---- helpers ---- */

static wn_status read_text(struct studyfile *study, const char *name, const char *text,
                           struct problems *problems)
{
    struct document doc;
    struct err err = {0};
    CHECK_OK(wni_yaml_parse(&doc, name, text, strlen(text), &err), err);
    wn_status st = wni_studyfile_read(study, &doc, problems);
    wni_document_release(&doc); /* the study owns its texts: the sanitizer would see it point here */
    problems->file = name;
    return st;
}

static void read_good(struct studyfile *study, const char *text)
{
    struct problems problems = {0};
    struct err err = {0};
    wn_status st = read_text(study, "study.yaml", text, &problems);
    wni_problems_status(&problems, &err);
    CHECK(st == WN_OK, "%d: %s", st, err.text);
    wni_problems_release(&problems);
}

static void check_problems(const char *text, const char *expected)
{
    struct studyfile study;
    struct problems problems = {0};
    struct buf out = {0};
    wn_status st = read_text(&study, "s", text, &problems);
    wni_problems_write(&problems, &out);
    CHECK_TEXT(wni_buf_text(&out), expected);
    CHECK_INT(st, WN_EINVAL);
    assert_null(study.arena.block); /* nothing half-read is left */
    CHECK_INT(study.space.n, 0);
    wni_studyfile_release(&study);
    wni_problems_release(&problems);
    wni_buf_release(&out);
}

/* A complaint about lines added to a file that is fine without them; they start on line 4. */
static void check_added(const char *lines, const char *expected)
{
    char text[2048];
    CHECK(strlen(lines) + strlen(LEAST) < sizeof text, "%zu", strlen(lines));
    snprintf(text, sizeof text, "%s%s", LEAST, lines);
    check_problems(text, expected);
}

/* ---- what files mean ---- */

static void test_whole_file(void **state)
{
    (void)state;
    struct studyfile s;
    read_good(&s, "name: mlp\n"
                  "command: ./train --lr {lr} --units {units} --epochs {resource.max}   # a comment\n"
                  "metric:   {name: val_loss, goal: minimize}\n"
                  "resource: {name: epoch, min: 1, max: 81}\n"
                  "parameters:\n"
                  "  lr:         {type: float, min: 1.0e-5, max: 0.1, scale: log}\n"
                  "  units:      {type: int, min: 16, max: 512, scale: log}\n"
                  "  dropout:    {type: ordinal, values: [0.0, 0.3, 0.6]}\n"
                  "  activation: {type: categorical, values: [relu, tanh]}\n"
                  "method: asha\n"
                  "workers: 4\n"
                  "stop: {trials: 200, time: 2h, resource: 20000, results: 1e6}\n"
                  "seed: 7\n"
                  "trial: {timeout: 30m, retries: 1, grace: 5s, checkpoints: none}\n"
                  "backend: local\n"
                  "store: sqlite:///mlp.db\n"
                  "folder: /scratch/mlp\n"
                  "report: {pattern: 'loss=([0-9.]+)'}\n"
                  "gpus: [0, 2]\n"
                  "env: {OMP_NUM_THREADS: 4, DATA: \"/tmp/my data\", EMPTY: ''}\n");
    CHECK_TEXT(s.name, "mlp");
    CHECK_INT(s.command.n, 7);
    CHECK_TEXT(s.command.words[0], "./train");
    CHECK_TEXT(s.command.words[6], "{resource.max}");
    assert_null(s.command.words[7]);
    assert_false(s.command.shell);
    CHECK_TEXT(s.metric.name, "val_loss");
    CHECK_INT(s.metric.goal, WN_MINIMIZE);
    CHECK_TEXT(s.resource.name, "epoch");
    CHECK_DOUBLE(s.resource.min, 1);
    CHECK_DOUBLE(s.resource.max, 81);
    CHECK_INT(s.space.n, 4);
    CHECK_TEXT(s.method, "asha");
    CHECK_TEXT(s.scheduler->name, "asha");
    CHECK_TEXT(s.searcher->name, "random");
    CHECK_TEXT(s.options, "");
    CHECK_INT(s.workers, 4);
    CHECK_INT(s.stop.trials, 200);
    CHECK_DOUBLE(s.stop.time, 7200);
    CHECK_DOUBLE(s.stop.resource, 20000);
    CHECK_INT(s.stop.results, 1000000);
    CHECK_INT(s.seed, 7);
    CHECK_DOUBLE(s.trial.timeout, 1800);
    CHECK_INT(s.trial.retries, 1);
    CHECK_TEXT(s.trial.checkpoints, "none");
    CHECK_TEXT(s.backend->name, "local");
    CHECK_DOUBLE(s.trial.grace, 5);
    CHECK_TEXT(s.store, "sqlite:///mlp.db");
    CHECK_TEXT(s.folder, "/scratch/mlp");
    CHECK_TEXT(s.pattern, "loss=([0-9.]+)");
    CHECK_INT(s.n_gpus, 2);
    CHECK_INT(s.gpus[1], 2);
    CHECK_INT(s.n_env, 3);
    CHECK_TEXT(s.env[0].name, "OMP_NUM_THREADS");
    CHECK_TEXT(s.env[0].value, "4");
    CHECK_TEXT(s.env[1].value, "/tmp/my data");
    CHECK_TEXT(s.env[2].value, "");
    wni_studyfile_release(&s);
    wni_studyfile_release(&s);
}

static void test_defaults(void **state)
{
    (void)state;
    struct studyfile s;
    read_good(&s, LEAST);
    CHECK_TEXT(s.name, "study");
    CHECK_INT(s.metric.goal, WN_MINIMIZE);
    assert_null(s.resource.name);
    CHECK_DOUBLE(s.resource.min, 1);
    CHECK_DOUBLE(s.resource.max, 1);
    CHECK_TEXT(s.method, "rs");
    CHECK_TEXT(s.scheduler->name, "fifo");
    CHECK_TEXT(s.searcher->name, "random");
    CHECK_INT(s.workers, 1);
    CHECK_INT(s.seed, 0);
    CHECK_INT(s.stop.trials, 0);
    CHECK_INT(s.stop.results, 0);
    CHECK_DOUBLE(s.stop.time, 0);
    CHECK_DOUBLE(s.stop.resource, 0);
    CHECK_DOUBLE(s.trial.timeout, 0);
    CHECK_INT(s.trial.retries, 0);
    CHECK_TEXT(s.trial.checkpoints, "best");
    CHECK_TEXT(s.backend->name, "local");
    CHECK_DOUBLE(s.trial.grace, 10);
    assert_null(s.store);
    assert_null(s.folder);
    assert_null(s.pattern);
    CHECK_INT(s.n_gpus + s.n_env, 0);
    wni_studyfile_release(&s);
}

static void test_name_comes_from_the_file(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"mlp.yaml", "mlp"}, {"/home/me/studies/big run.v2.yaml", "big run"},
        {"./x", "x"},        {"", NULL},
        {"dir/.yaml", NULL}, {"-x.yaml", NULL},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct studyfile s;
        struct problems problems = {0};
        wn_status st = read_text(&s, table[i][0], LEAST, &problems);
        CHECK(st == (table[i][1] ? WN_OK : WN_EINVAL), "'%s': %d", table[i][0], st);
        if (table[i][1])
            CHECK_TEXT(s.name, table[i][1]);
        else
            CHECK_TEXT(problems.items[0].text, "missing 'name'");
        wni_problems_release(&problems);
        wni_studyfile_release(&s);
    }
}

static void test_shorter_and_longer_forms(void **state)
{
    (void)state;
    struct studyfile s;
    read_good(&s, "command: [python3, train.py, '--lr={lr}', 5]\n"
                  "metric: {name: accuracy, goal: maximize}\n"
                  "parameters:\n"
                  "  - {name: lr, type: float, min: 0, max: 1}\n"
                  "resource: {name: epoch, max: 27}\n"
                  "scheduler: {name: asha, eta: 4, type: promotion}\n"
                  "searcher: {name: rea, population: 20.0}\n"
                  "stop: {}\n");
    CHECK_INT(s.command.n, 4);
    CHECK_TEXT(s.command.words[2], "--lr={lr}");
    CHECK_TEXT(s.command.words[3], "5");
    CHECK_INT(s.metric.goal, WN_MAXIMIZE);
    CHECK_DOUBLE(s.resource.min, 1);
    assert_null(s.method);
    CHECK_TEXT(s.scheduler->name, "asha");
    CHECK_TEXT(s.searcher->name, "rea");
    CHECK_TEXT(s.options, "scheduler.eta=4 scheduler.type=promotion searcher.population=20");
    wni_studyfile_release(&s);
}

static void test_method_options(void **state)
{
    (void)state;
    struct studyfile s;
    read_good(&s, LEAST "resource: {name: epoch, max: 27}\n"
                        "method: {name: rea+mf, eta: 2, searcher.sample: 7, scheduler.type: promotion}\n");
    CHECK_TEXT(s.method, "rea+mf");
    CHECK_TEXT(s.options, "scheduler.eta=2 searcher.sample=7 scheduler.type=promotion");
    wni_studyfile_release(&s);
    read_good(&s, LEAST "resource: {name: epoch, max: 27}\nmethod: {name: hyperband, eta: 2}\n");
    CHECK_TEXT(s.options, "scheduler.brackets=5 scheduler.eta=2");
    wni_studyfile_release(&s);
    read_good(&s, LEAST "searcher: grid\n");
    assert_null(s.method);
    CHECK_TEXT(s.scheduler->name, "fifo");
    CHECK_TEXT(s.searcher->name, "grid");
    wni_studyfile_release(&s);
    read_good(&s, LEAST "scheduler: median\nresource: {name: epoch, max: 27}\n");
    CHECK_TEXT(s.searcher->name, "random");
    wni_studyfile_release(&s);
}

/* Whatever was accepted can be opened. */
static void test_options_open(void **state)
{
    (void)state;
    struct studyfile s;
    struct scheduler scheduler;
    struct err err = {0};
    read_good(&s, LEAST "resource: {name: epoch, min: 3, max: 81}\nmethod: {name: asha, eta: "
                        "000000000000000000000000000004.000000}\n");
    struct sched_env env = {1, s.resource.min, s.resource.max};
    CHECK_OK(wni_scheduler_open(&scheduler, s.scheduler, s.options, &env, &err), err);
    CHECK_TEXT(s.options, "scheduler.eta=4");
    wni_scheduler_release(&scheduler);
    wni_studyfile_release(&s);
}

/* Files as people write them. */
static void test_more_valid_files(void **state)
{
    (void)state;
    static const char *const files[] = {
        "# tuning a compiler: no resource, no method\n"
        "command: |\n"
        "  ./bench.sh \\\n"
        "    {opt} \"{flags}\"\n"
        "shell: yes\n"
        "metric: {goal: minimize, name: seconds}\n"
        "parameters:\n"
        "  opt:   [-O1, -O2, -O3]\n"
        "  flags: ['', '-funroll-loops', '-flto -fno-plt']\n"
        "stop: {time: 1h30m}\n",

        "{\"command\": [\"./x\", \"{a}\"], \"metric\": \"loss\", \"parameters\": {\"a\": {\"type\": "
        "\"bool\"}}, \"workers\": 8}\n",

        "command: python3 -c 'print({{}})' {n}\n"
        "metric: m\n"
        "resource: {name: rows, min: 0.01, max: 1.0}\n"
        "method: {name: sh}\n"
        "parameters: {n: {type: int, min: 1, max: 10}}\n"
        "trial: {grace: 0}\n"
        "gpus: []\n"
        "env: {}\n"
        "seed: 9223372036854775807\n",

        "command: train {trial} {resource.min}\nmetric: m\nresource: {name: e, min: 81, max: "
        "81}\nparameters: {a: [b]}\n",
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        struct studyfile s;
        read_good(&s, files[i]);
        wni_studyfile_release(&s);
    }
}

/* Adds the keys a fragment of the manual leaves out. */
static void complete(struct buf *study, const char *fragment)
{
    static const char *const least[][2] = {{"command:", "./train"},
                                           {"metric:", "val_loss"},
                                           {"parameters:", "{lr: {type: float, min: 0, max: 1}}"}};
    for (size_t i = 0; i < COUNT(least); i++) {
        char on_its_own_line[32];
        snprintf(on_its_own_line, sizeof on_its_own_line, "\n%s", least[i][0]);
        if (strncmp(fragment, least[i][0], strlen(least[i][0])) != 0 && !strstr(fragment, on_its_own_line))
            wni_buf_printf(study, "%s %s\n", least[i][0], least[i][1]);
    }
    wni_buf_puts(study, fragment);
}

/* Every example in the manual is accepted. */
static void test_examples_of_the_manual(void **state)
{
    (void)state;
    static char text[100000];
    FILE *file = fopen("docs/manual/study-file.md", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    size_t examples = 0;
    for (char *at = text; (at = strstr(at, "\n```yaml\n")); examples++) {
        char *begin = at + strlen("\n```yaml\n"), *end = strstr(begin, "\n```");
        assert_non_null(end);
        end[1] = '\0'; /* keep the newline, cut the fence */
        struct buf study = {0};
        struct studyfile s;
        complete(&study, begin);
        read_good(&s, study.data);
        wni_studyfile_release(&s);
        wni_buf_release(&study);
        at = end + 2;
    }
    CHECK(examples >= 20, "only %zu examples were found", examples);
}

/* ---- mistakes ---- */

static void test_not_a_study_at_all(void **state)
{
    (void)state;
    check_problems("[1, 2]", "s:1:1: a study file is a mapping of keys to values, this is a list\n");
    check_problems("hello", "s:1:1: a study file is a mapping of keys to values, this is text\n");
    check_problems("{}", "s:1:1: missing 'command'\ns:1:1: missing 'metric'\ns:1:1: missing 'parameters'\n");
}

/* A script that asks and tells needs no command; everything else is as wrong as ever. */
static void test_driven_studies_need_no_command(void **state)
{
    (void)state;
    static const char fine[] = "metric: loss\nparameters: {x: {type: float, min: 0, max: 1}}\n";
    struct document doc;
    struct err err = {0};
    struct studyfile study;
    struct problems problems = {0};
    CHECK_OK(wni_yaml_parse(&doc, "s.yaml", fine, strlen(fine), &err), err);
    CHECK_INT(wni_studyfile_read_driven(&study, &doc, &problems), WN_OK);
    CHECK_INT(study.command.n, 0);
    assert_string_equal(study.metric.name, "loss");
    wni_studyfile_release(&study);
    wni_document_release(&doc);
    CHECK_OK(wni_yaml_parse(&doc, "s.yaml", "{}", 2, &err), err);
    CHECK_INT(wni_studyfile_read_driven(&study, &doc, &problems), WN_EINVAL);
    CHECK_INT(problems.n, 2);
    wni_problems_release(&problems);
    wni_studyfile_release(&study);
    wni_document_release(&doc);
}

static void test_unknown_keys(void **state)
{
    (void)state;
    check_added("wrokers: 4\n", "s:4:1: unknown key 'wrokers'; did you mean 'workers'?\n");
    check_added(
        "zebra: 4\n",
        "s:4:1: unknown key 'zebra'; expected name, command, shell, metric, resource, parameters, method, "
        "searcher, scheduler, backend, workers, stop, seed, trial, store, folder, report, gpus or env\n");
    check_added("stop: {trails: 4}\n", "s:4:8: stop: unknown key 'trails'; did you mean 'trials'?\n");
    check_added("trial:\n  timout: 4\n", "s:5:3: trial: unknown key 'timout'; did you mean 'timeout'?\n");
    check_added("resource: {name: e, max: 3, mn: 1}\n",
                "s:4:29: resource: unknown key 'mn'; did you mean 'min'?\n");
    check_added("report: {patern: x}\n", "s:4:10: report: unknown key 'patern'; did you mean 'pattern'?\n");
    /* a misspelt key that is needed is not missing as well */
    check_problems("comand: x\nmetrics: m\nparameter: {a: [1]}\n",
                   "s:1:1: unknown key 'comand'; did you mean 'command'?\n"
                   "s:2:1: unknown key 'metrics'; did you mean 'metric'?\n"
                   "s:3:1: unknown key 'parameter'; did you mean 'parameters'?\n");
}

static void test_wrong_values(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"workers: many", "s:4:10: 'workers' must be a whole number from 1 to 100000, got 'many'\n"},
        {"workers: 0", "s:4:10: 'workers' must be a whole number from 1 to 100000, got '0'\n"},
        {"workers: 1.5", "s:4:10: 'workers' must be a whole number from 1 to 100000, got '1.5'\n"},
        {"workers: '4'", "s:4:10: 'workers' must be a whole number from 1 to 100000, got the text '4'\n"},
        {"workers:", "s:4:9: 'workers' must be a whole number from 1 to 100000, got nothing\n"},
        {"workers: [4]", "s:4:10: 'workers' must be a whole number from 1 to 100000, got a list\n"},
        {"seed: -1", "s:4:7: 'seed' must be a whole number of at least 0, got '-1'\n"},
        {"seed: 9223372036854775808",
         "s:4:7: 'seed' must be a whole number of at least 0, got '9223372036854775808'\n"},
        {"shell: maybe", "s:4:8: 'shell' must be true or false, got 'maybe'\n"},
        {"name: ''", "s:4:7: 'name' must be text, got the text ''\n"},
        {"name: [x]", "s:4:7: 'name' must be text, got a list\n"},
        {"name: a/b",
         "s:4:7: 'name' must have 1 to 100 characters, no '/', and not start with '.', '-' or a blank\n"},
        {"name: -b",
         "s:4:7: 'name' must have 1 to 100 characters, no '/', and not start with '.', '-' or a blank\n"},
        {"name: \"a\\tb\"",
         "s:4:7: 'name' must have 1 to 100 characters, no '/', and not start with '.', '-' or a blank\n"},
        {"store: {}", "s:4:8: 'store' must be text, got a mapping\n"},
        {"stop: 200", "s:4:7: 'stop' must be a mapping, got '200'\n"},
        {"stop: {trials: 0}", "s:4:16: 'stop.trials' must be a whole number from 1 to 4294967294, got '0'\n"},
        {"stop: {results: -3}", "s:4:17: 'stop.results' must be a whole number of at least 1, got '-3'\n"},
        {"stop: {time: soon}",
         "s:4:14: 'stop.time' must be a time such as 90s, 30m, 2h, 1d or 1h30m, above 0, got 'soon'\n"},
        {"stop: {time: 0}",
         "s:4:14: 'stop.time' must be a time such as 90s, 30m, 2h, 1d or 1h30m, above 0, got '0'\n"},
        {"stop: {resource: 0}", "s:4:18: 'stop.resource' must be a number above 0, got '0'\n"},
        {"stop: {resource: inf}", "s:4:18: 'stop.resource' must be a number above 0, got 'inf'\n"},
        {"trial: {grace: -1s}",
         "s:4:16: 'trial.grace' must be a time such as 90s, 30m, 2h, 1d or 1h30m, got '-1s'\n"},
        {"trial: {checkpoints: bes}", "s:4:22: unknown choice of checkpoints 'bes'; did you mean 'best'?\n"},
        {"backend: lcoal", "s:4:10: unknown backend 'lcoal'; did you mean 'local'?\n"},
        {"backend: [local]", "s:4:10: 'backend' must be the name of a backend, got a list\n"},
        {"trial: {retries: -1}", "s:4:18: 'trial.retries' must be a whole number from 0 to 1000, got '-1'\n"},
        {"trial: {timeout: [1]}",
         "s:4:18: 'trial.timeout' must be a time such as 90s, 30m, 2h, 1d or 1h30m, above 0, got a list\n"},
        {"resource: epoch", "s:4:11: 'resource' must be a mapping, got 'epoch'\n"},
        {"resource: {name: epoch}", "s:4:1: missing 'resource.max'\n"},
        {"resource: {max: 3}", "s:4:1: missing 'resource.name'\n"},
        {"resource: {name: e, min: 9, max: 3}", "s:4:34: 'resource.max' 3 is below 'resource.min' 9\n"},
        {"resource: {name: e, max: 0.5}",
         "s:4:26: 'resource.max' 0.5 is below 'resource.min' 1, its default\n"},
        {"resource: {name: e, min: 0, max: x}", "s:4:26: 'resource.min' must be a number above 0, got '0'\n"
                                                "s:4:34: 'resource.max' must be a number above 0, got 'x'\n"},
        {"gpus: 0", "s:4:7: 'gpus' must be a list of numbers, as in [0, 1], got '0'\n"},
        {"gpus: [0, one, -1, 0]", "s:4:11: 'gpus' must hold numbers from 0 to 1023, got 'one'\n"
                                  "s:4:16: 'gpus' must hold numbers from 0 to 1023, got '-1'\n"
                                  "s:4:20: 'gpus' names 0 twice\n"},
        {"env: [A]", "s:4:6: 'env' must be a mapping of names to values, got a list\n"},
        {"env: {1A: x, WINNOW_PARAMS: y, B: [1], C: , D-E: z}",
         "s:4:7: 'env': '1A' cannot name a variable; use letters, digits and '_'\n"
         "s:4:14: 'env': 'WINNOW_PARAMS' is set by winnow itself\n"
         "s:4:35: 'env.B' must be text, got a list\n"
         "s:4:43: 'env.C' must be text, got nothing\n"
         "s:4:45: 'env': 'D-E' cannot name a variable; use letters, digits and '_'\n"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        char line[256];
        snprintf(line, sizeof line, "%s\n", table[i][0]);
        check_added(line, table[i][1]);
    }
}

static void test_metric_mistakes(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"metric: [a]", "s:1:9: 'metric' must be a name, or a mapping with 'name' and 'goal', got a list\n"},
        {"metric:", "s:1:8: 'metric' must be a name, or a mapping with 'name' and 'goal', got nothing\n"},
        {"metric: {goal: maximize}", "s:1:1: missing 'metric.name'\n"},
        {"metric: {name: m, goal: maximise}", "s:1:25: unknown goal 'maximise'; did you mean 'maximize'?\n"},
        {"metric: {name: m, goal: up}", "s:1:25: unknown goal 'up'; expected minimize or maximize\n"},
        {"metric: {name: m, goal: }", "s:1:25: 'metric.goal' must be minimize or maximize, got nothing\n"},
        {"metric: {nmae: m}", "s:1:10: metric: unknown key 'nmae'; did you mean 'name'?\n"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        char text[256];
        snprintf(text, sizeof text, "%s\ncommand: x\nparameters: {a: [1, 2]}\n", table[i][0]);
        check_problems(text, table[i][1]);
    }
}

static void test_method_mistakes(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"method: ahsa", "s:4:9: unknown method 'ahsa'; did you mean 'asha'?\n"},
        {"method: [rs]",
         "s:4:9: 'method' must be the name of a method, or a mapping with 'name' and options, got a list\n"},
        {"method: {eta: 3}", "s:4:9: missing 'method.name'\n"},
        {"method: {name: }", "s:4:16: 'method.name' must be the name of a method, got nothing\n"},
        {"method: rs\nsearcher: grid",
         "s:5:11: 'searcher' does not go with 'method', which chooses both searcher and scheduler\n"},
        {"method: asha",
         "s:4:9: method 'asha' stops trials early and needs 'resource' (its name, min and max)\n"},
        {"scheduler: asha",
         "s:4:12: scheduler 'asha' stops trials early and needs 'resource' (its name, min and max)\n"},
        {"method: {name: rs, eta: 3}", "s:4:20: unknown option 'eta'; there are none here\n"},
        {"method: {name: rea, scheduler.population: 3}",
         "s:4:21: scheduler: unknown option 'population'; there are none here\n"},
        {"method: {name: rea, searcher.populaton: 3}",
         "s:4:21: searcher: unknown option 'populaton'; did you mean 'population'?\n"},
        {"method: {name: rea, populaton: 3}",
         "s:4:21: unknown option 'populaton'; did you mean 'population'?\n"},
        {"method: {name: rea, population: 0}",
         "s:4:33: searcher option 'population': expected a whole number from 1 to 100000, got '0'\n"},
        {"method: {name: rea, population: [3]}",
         "s:4:33: 'searcher.population' must be a value, got a list\n"},
        {"searcher: gird", "s:4:11: unknown searcher 'gird'; did you mean 'grid'?\n"},
        {"searcher: {name: grid, pionts: 3}", "s:4:24: unknown option 'pionts'; did you mean 'points'?\n"},
        {"scheduler: {name: fifoo}", "s:4:19: unknown scheduler 'fifoo'; did you mean 'fifo'?\n"},
        {"scheduler: {type: stopping}", "s:4:12: missing 'scheduler.name'\n"},
        {"resource: {name: e, max: 9}\nscheduler: {name: asha, type: pausing, eta: two}",
         "s:5:31: scheduler option 'type': expected stopping or promotion, got 'pausing'\n"
         "s:5:45: scheduler option 'eta': expected a number from 1.1 to 1000, got 'two'\n"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        char line[256];
        snprintf(line, sizeof line, "%s\n", table[i][0]);
        check_added(line, table[i][1]);
    }
}

static void test_pattern_mistakes(void **state)
{
    (void)state;
    check_added("report: {pattern: 'loss=(.*'}\n",
                "s:4:19: 'report.pattern' is not a regular expression: Unmatched ( or \\(\n");
    check_added("report: {pattern: 'loss=.*'}\n",
                "s:4:19: 'report.pattern' must have the metric's value in a group: (...)\n");
    check_added("report: {pattern: [x]}\n",
                "s:4:19: 'report.pattern' must be a regular expression, got a list\n");
    check_added("report: {}\n", "s:4:1: missing 'report.pattern'\n");
    /* these make the C library's compiler use gigabytes, or all of the stack */
    check_added("report: {pattern: '(((a{1,255}){1,255}){1,255}){1,255}'}\n",
                "s:4:19: 'report.pattern' is too large to match against every line\n");
    check_added("report: {pattern: '(x{32767}{32767})'}\n",
                "s:4:19: 'report.pattern' is too large to match against every line\n");
    check_added("report: {pattern: '(x{99999999999999999999,})'}\n",
                "s:4:19: 'report.pattern' is too large to match against every line\n");
    struct studyfile s;
    read_good(&s, LEAST "report: {pattern: '^[0-9]{1,3}: loss ([0-9.e+-]{1,24}) {2}'}\n");
    wni_studyfile_release(&s);
}

static void test_hostile_pattern_lengths(void **state)
{
    (void)state;
    struct buf text = {0};
    wni_buf_puts(&text, LEAST "report: {pattern: '");
    for (int i = 0; i < 200000; i++)
        wni_buf_putc(&text, '(');
    wni_buf_puts(&text, "'}\n");
    check_problems(text.data, "s:4:19: 'report.pattern' is too large to match against every line\n");
    wni_buf_release(&text);
}

static void test_command_mistakes(void **state)
{
    (void)state;
    static const char *const table[][2] = {
        {"command:", "s:1:9: 'command' must be a command line or a list of words, got nothing\n"},
        {"command: {}", "s:1:10: 'command' must be a command line or a list of words, got a mapping\n"},
        {"command: '  '", "s:1:10: 'command' is empty\n"},
        {"command: []", "s:1:10: 'command' is empty\n"},
        {"command: [a, [b], ~]", "s:1:14: 'command': word 2 must be text, got a list\n"
                                 "s:1:19: 'command': word 3 must be text, got nothing\n"},
        {"command: ./train --units {unist}",
         "s:1:26: 'command': unknown placeholder {unist}; did you mean {units}?\n"},
        {"command: ./train {zebra} {units} {lrr}",
         "s:1:18: 'command': placeholder {zebra} is no parameter; write {{ and }} for braces\n"
         "s:1:34: 'command': unknown placeholder {lrr}; did you mean {lr}?\n"},
        {"command: ./train {} {units",
         "s:1:18: 'command': placeholder {} is no parameter; write {{ and }} for braces\n"
         "s:1:21: 'command': '{' without its partner; write {{ for a brace\n"},
        {"command: ./train units}", "s:1:23: 'command': '}' without its partner; write }} for a brace\n"},
        {"command: ./train {resource.max}",
         "s:1:18: 'command': placeholder {resource.max} needs 'resource' in the study\n"},
        {"command: ./train {resource.mx}",
         "s:1:18: 'command': unknown placeholder {resource.mx}; did you mean {resource.max}?\n"},
        {"command: \xc3\xa9\xe2\x82\xac {lrr}",
         "s:1:13: 'command': unknown placeholder {lrr}; did you mean {lr}?\n"},
        {"command: ./train 'x", "s:1:18: 'command': the quote ' is never closed\n"},
        {"command: ./train \"x\\\"", "s:1:18: 'command': the quote \" is never closed\n"},
        {"command: ./train x\\", "s:1:19: 'command': a backslash at the end escapes nothing\n"},
        {"command: ./train | tee log",
         "s:1:18: 'command': '|' means something to a shell only; set 'shell: true' or quote it\n"},
        {"command: ./train 2>&1",
         "s:1:18: 'command': '2>&1' means something to a shell only; set 'shell: true' or quote it\n"},
        /* the column inside quotes is not known: the value's own */
        {"command: \"./train {lrr}\"", "s:1:10: 'command': unknown placeholder {lrr}; did you mean {lr}?\n"},
        {"command: ['./train', '{lrr}', '{units}', {x: y}]",
         "s:1:22: 'command': unknown placeholder {lrr}; did you mean {lr}?\n"
         "s:1:42: 'command': word 4 must be text, got a mapping\n"},
        {"shell: true\ncommand: [a, b]",
         "s:1:8: 'shell: true' needs 'command' as one line of text, not a list of words\n"},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        char text[512];
        snprintf(text, sizeof text, "%s\nmetric: m\nparameters: {lr: [1, 2], units: [3, 4]}\n", table[i][0]);
        check_problems(text, table[i][1]);
    }
}

static void test_parameters_called_like_placeholders(void **state)
{
    (void)state;
    check_problems("command: x\nmetric: m\nparameters: {trial: [1, 2], resource.max: 3}\n",
                   "s:3:14: parameter 'trial': {trial} means something else in 'command'\n"
                   "s:3:29: parameter 'resource.max': {resource.max} means something else in 'command'\n");
}

/* A mistake in a parameter is not a mistake in the command that uses it. */
static void test_wrong_parameter_is_told_once(void **state)
{
    (void)state;
    check_problems("command: ./train {lr} {x}\nmetric: m\nparameters:\n  lr: {type: float, min: 1, max: 0}\n "
                   " x: {typ: bool}\n",
                   "s:4:34: parameter 'lr': min 1 is above max 0\n"
                   "s:5:7: parameter 'x': unknown key 'typ'; did you mean 'type'?\n");
}

static void test_many_mistakes_in_one_pass(void **state)
{
    (void)state;
    check_problems(
        "name: a/b\n"
        "command: ./train {lt} |\n"
        "metric: {nam: x, goal: minimal}\n"
        "resource: {name: epoch, min: 5, max: 2}\n"
        "parameters:\n"
        "  lr: {type: float, min: 0, max: 1, scale: log}\n"
        "  units: {type: integer}\n"
        "method: {name: asha, etaa: 3}\n"
        "stop: {trials: none, time: 2x}\n"
        "wokers: 3\n",
        "s:1:7: 'name' must have 1 to 100 characters, no '/', and not start with '.', '-' or a blank\n"
        "s:2:18: 'command': unknown placeholder {lt}; did you mean {lr}?\n"
        "s:2:23: 'command': '|' means something to a shell only; set 'shell: true' or quote it\n"
        "s:3:10: metric: unknown key 'nam'; did you mean 'name'?\n"
        "s:3:24: unknown goal 'minimal'; expected minimize or maximize\n"
        "s:4:38: 'resource.max' 2 is below 'resource.min' 5\n"
        "s:6:26: parameter 'lr': log scale needs a lower bound above 0\n"
        "s:7:17: parameter 'units': unknown type 'integer'; expected float, int, ordinal, categorical, bool "
        "or constant\n"
        "s:8:22: unknown option 'etaa'; did you mean 'eta'?\n"
        "s:9:16: 'stop.trials' must be a whole number from 1 to 4294967294, got 'none'\n"
        "s:9:28: 'stop.time' must be a time such as 90s, 30m, 2h, 1d or 1h30m, above 0, got '2x'\n"
        "s:10:1: unknown key 'wokers'; did you mean 'workers'?\n");
}

/* Options that fit alone but not together are found by opening them. */
static void test_refusals_of_the_searcher_are_told(void **state)
{
    (void)state;
    struct buf text = {0};
    wni_buf_puts(&text, "command: x\nmetric: m\nsearcher: {name: grid, points: 1000000}\nparameters:\n");
    for (int i = 0; i < 12; i++)
        wni_buf_printf(&text, "  p%d: {type: float, min: 0, max: 1}\n", i);
    check_problems(text.data, "s:3:11: searcher 'grid': the grid has more than 2^64 points\n");
    wni_buf_release(&text);
}

static void test_json_study(void **state)
{
    (void)state;
    const char *text = "{\"command\": [\"x\", \"{aa}\"], \"metric\": \"m\", \"parameters\": {\"a\": "
                       "{\"type\": \"bool\"}}, \"sed\": 3}";
    struct document doc;
    struct studyfile s;
    struct problems problems = {0};
    struct buf out = {0};
    struct err err = {0};
    CHECK_OK(wni_json_parse(&doc, "study.json", text, strlen(text), &err), err);
    CHECK_INT(wni_studyfile_read(&s, &doc, &problems), WN_EINVAL);
    wni_problems_write(&problems, &out);
    CHECK_TEXT(wni_buf_text(&out), "study.json: unknown key 'sed'; did you mean 'seed'?\n"
                                   "study.json: 'command': unknown placeholder {aa}; did you mean {a}?\n");
    wni_buf_release(&out);
    wni_problems_release(&problems);
    wni_studyfile_release(&s);
    wni_document_release(&doc);
}

/* ---- splitting ---- */

static void test_splitting_table(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        const char *words[6];
    } table[] = {
        {"", {NULL}},
        {" \t\n ", {NULL}},
        {"a", {"a"}},
        {"  a   b\tc\nd\r\n", {"a", "b", "c", "d"}},
        {"'a b' c", {"a b", "c"}},
        {"\"a b\" c", {"a b", "c"}},
        {"a' 'b\" \"c", {"a b c"}},
        {"''", {""}},
        {"a '' \"\"", {"a", "", ""}},
        {"a\\ b", {"a b"}},
        {"\\'a\\'", {"'a'"}},
        {"'\\n'", {"\\n"}},
        {"\"\\n\"", {"\\n"}},
        {"\"\\\"\\\\\"", {"\"\\"}},
        {"'it'\\''s'", {"it's"}},
        {"\"it's\"", {"it's"}},
        {"a \\\n b", {"a", "b"}},
        {"a\\\nb", {"ab"}},
        {"$HOME *.c ~ #x", {"$HOME", "*.c", "~", "#x"}},
        {"a=b --x='{\"k\": 1}'", {"a=b", "--x={\"k\": 1}"}},
        {"'|' \\> a|b x;y http://h/?a=1&b=2", {"|", ">", "a|b", "x;y", "http://h/?a=1&b=2"}},
        {"\xc3\xa9 '\xe2\x82\xac \xf0\x9f\x98\x80'", {"\xc3\xa9", "\xe2\x82\xac \xf0\x9f\x98\x80"}},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct arena arena = {0};
        const char *const *words = NULL;
        size_t n = 99;
        struct command_mistake mistake = {0};
        wn_status st = wni_command_split(table[i].line, &arena, &words, &n, &mistake);
        CHECK(st == WN_OK, "'%s': %s", table[i].line, mistake.err.text);
        for (size_t k = 0; k < n && table[i].words[k]; k++)
            CHECK_TEXT(words[k], table[i].words[k]);
        CHECK(n < 6 && !table[i].words[n] && !words[n], "'%s': %zu words", table[i].line, n);
        CHECK(n == 0 || table[i].words[n - 1], "'%s': more than %zu words", table[i].line, n);
        wni_arena_release(&arena);
    }
}

static void test_splitting_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        size_t offset;
    } table[] = {
        {"a 'b", 2},   {"a \"b", 2}, {"a b\\", 3}, {"a > b", 2}, {"a >b", 2},   {"a 2> b", 2}, {"a && b", 2},
        {"a || b", 2}, {"a ; b", 2}, {"a &", 2},   {"a < b", 2}, {"a 1>&2", 2}, {"a >> b", 2}, {"'a' 'b", 4},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        struct arena arena = {0};
        const char *const *words = NULL;
        size_t n;
        struct command_mistake mistake = {0};
        wn_status st = wni_command_split(table[i].line, &arena, &words, &n, &mistake);
        CHECK(st == WN_EINVAL && mistake.offset == table[i].offset && mistake.err.text[0],
              "'%s': %d at %zu: %s", table[i].line, st, mistake.offset, mistake.err.text);
        wni_arena_release(&arena);
    }
}

/* Any words survive being quoted by the shell's own rule and split again. */
static void test_splitting_undoes_quoting(void **state)
{
    (void)state;
    static const char letters[] = "ab'\"\\ \t\n$|><;&{}*#";
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct rng rng = wni_rng_stream(seed, 0, 1);
        struct buf line = {0};
        char words[5][8];
        for (size_t i = 0; i < COUNT(words); i++) {
            size_t n = (size_t)wni_rng_below(&rng, sizeof *words);
            for (size_t k = 0; k < n; k++)
                words[i][k] = letters[wni_rng_below(&rng, sizeof letters - 1)];
            words[i][n] = '\0';
            wni_buf_puts(&line, " '");
            for (const char *c = words[i]; *c; c++)
                wni_buf_puts(&line, *c == '\'' ? "'\\''" : (char[]){*c, '\0'});
            wni_buf_puts(&line, "'");
        }
        struct arena arena = {0};
        const char *const *split = NULL;
        size_t n = 0;
        struct command_mistake mistake = {0};
        CHECK(!wni_command_split(line.data, &arena, &split, &n, &mistake), "%s: %s", line.data,
              mistake.err.text);
        CHECK_INT(n, COUNT(words));
        for (size_t i = 0; i < n; i++)
            CHECK_TEXT(split[i], words[i]);
        wni_arena_release(&arena);
        wni_buf_release(&line);
    }
}

/* ---- expanding ---- */

static const char *const *expand(const struct studyfile *s, const double *config, int64_t trial,
                                 struct arena *arena)
{
    struct command_values values = {&s->space, config, s->resource.min, s->resource.max, trial};
    const char *const *argv = NULL;
    struct err err = {0};
    CHECK_OK(wni_command_expand(&s->command, &values, arena, &argv, &err), err);
    return argv;
}

static void test_expanding(void **state)
{
    (void)state;
    struct studyfile s;
    struct arena arena = {0};
    read_good(
        &s,
        "command: ./train --lr={lr} {act}{act} {{lr}} {resource.min}-{resource.max} t{trial} {d} '' {flag}\n"
        "metric: m\n"
        "resource: {name: e, min: 0.5, max: 81}\n"
        "parameters:\n"
        "  lr: {type: float, min: 1.0e-5, max: 0.1, scale: log}\n"
        "  act: [relu, 'a b; rm']\n"
        "  d: {type: ordinal, values: [0.0, 0.5]}\n"
        "  flag: {type: bool}\n");
    double config[] = {0.001, 1, 0, 1};
    const char *const *argv = expand(&s, config, 12, &arena);
    static const char *const expected[] = {
        "./train", "--lr=0.001", "a b; rma b; rm", "{lr}", "0.5-81", "t12", "0.0", "", "true"};
    for (size_t i = 0; i < COUNT(expected); i++)
        CHECK_TEXT(argv[i], expected[i]);
    assert_null(argv[COUNT(expected)]);
    wni_arena_release(&arena);
    wni_studyfile_release(&s);
}

/* A real shell must see each value as one word, whatever is in it. */
static void test_shell_sees_values_as_text(void **state)
{
    (void)state;
    struct studyfile s;
    struct arena arena = {0};
    read_good(&s, "command: printf '%s|' {x} plain {n} > out.txt\n"
                  "shell: true\n"
                  "metric: m\n"
                  "parameters:\n"
                  "  x: [a, '', 'a b', '$HOME', '`id`', \"it's\", '\"', '; exit 1', \"two\\nlines\", '*', "
                  "'-n', '&', '#', \"'''\"]\n"
                  "  n: {type: float, min: -1, max: 1}\n");
    assert_true(s.command.shell);
    CHECK_INT(s.command.n, 1);
    char dir[CHECK_PATH_MAX], command[4096], got[256], expected[256];
    check_tmp_make(dir);
    for (size_t k = 0; k < s.space.params[0].count; k++) {
        double config[] = {(double)k, -0.5};
        const char *const *argv = expand(&s, config, 0, &arena);
        CHECK_TEXT(argv[0], "/bin/sh");
        CHECK_TEXT(argv[1], "-c");
        assert_null(argv[3]);
        snprintf(command, sizeof command, "cd %s && %s", dir, argv[2]);
        CHECK_INT(system(command), 0);
        snprintf(command, sizeof command, "%s/out.txt", dir);
        FILE *file = fopen(command, "rb");
        assert_non_null(file);
        got[fread(got, 1, sizeof got - 1, file)] = '\0';
        fclose(file);
        snprintf(expected, sizeof expected, "%s|plain|-0.5|", s.space.params[0].labels[k]);
        CHECK_TEXT(got, expected);
    }
    check_tmp_remove(dir);
    wni_arena_release(&arena);
    wni_studyfile_release(&s);
}

/* ---- hostile files ---- */

static void test_thousands_of_mistakes(void **state)
{
    (void)state;
    struct buf text = {0};
    struct studyfile s;
    struct problems problems = {0};
    for (int i = 0; i < 30000; i++)
        wni_buf_printf(&text, "comand%d: [{x: 1}]\n", i);
    CHECK_INT(read_text(&s, "s", text.data, &problems), WN_EINVAL);
    CHECK_INT(problems.n, PROBLEMS_MAX);
    wni_problems_release(&problems);
    wni_buf_release(&text);
}

static void test_huge_commands(void **state)
{
    (void)state;
    struct buf text = {0};
    wni_buf_puts(&text, "metric: m\nparameters: {a: [1, 2]}\ncommand: x ");
    for (int i = 0; i < 100000; i++)
        wni_buf_puts(&text, "{b} ");
    check_problems(text.data, "s:3:10: 'command' is longer than 128 KiB\n");
    wni_buf_clear(&text);
    wni_buf_puts(&text, "metric: m\nparameters: {a: [1, 2]}\ncommand: [");
    for (int i = 0; i < 10001; i++)
        wni_buf_puts(&text, "x, ");
    wni_buf_puts(&text, "]\n");
    check_problems(text.data, "s:3:10: 'command' has too many words\n");
    wni_buf_release(&text);
}

/* Every value of a good file is replaced by things that do not belong there: a complaint or not, never a
 * crash, and every complaint is text that a terminal may show. */
static void test_everything_anywhere(void **state)
{
    (void)state;
    static const char *const keys[] = {"name",   "command",  "shell",     "metric",  "resource", "parameters",
                                       "method", "searcher", "scheduler", "workers", "stop",     "seed",
                                       "trial",  "store",    "folder",    "report",  "gpus",     "env"};
    static const char *const values[] = {"",
                                         "~",
                                         "''",
                                         "x",
                                         "-1",
                                         "0",
                                         "1e999",
                                         "nan",
                                         "[]",
                                         "{}",
                                         "[[]]",
                                         "[{}]",
                                         "[~]",
                                         "{x: ~}",
                                         "{name: }",
                                         "{name: []}",
                                         "{name: x, max: []}",
                                         "{pattern: '('}",
                                         "\"\\e[31m\\u009b\"",
                                         "'{'",
                                         "['{', '}']",
                                         "true",
                                         "{? x : y, trials: {}, time: [], timeout: ~}",
                                         "99999999999999999999",
                                         "{name: asha, eta: {}}",
                                         "{name: grid, points: nan}",
                                         "[1, 2, 3]",
                                         "{A: 1, B: []}",
                                         "|\n  a\n  b\n"};
    for (size_t k = 0; k < COUNT(keys); k++)
        for (size_t v = 0; v < COUNT(values); v++) {
            struct buf text = {0};
            struct studyfile s;
            struct problems problems = {0};
            for (size_t i = 0; i < 3; i++) {
                static const char *const least[] = {"command", "x",          "metric",
                                                    "m",       "parameters", "{a: [1, 2]}"};
                if (strcmp(least[2 * i], keys[k]) != 0)
                    wni_buf_printf(&text, "%s: %s\n", least[2 * i], least[2 * i + 1]);
            }
            wni_buf_printf(&text, "%s: %s\n", keys[k], values[v]);
            wn_status st = read_text(&s, "s", text.data, &problems);
            CHECK(st == (problems.n ? WN_EINVAL : WN_OK), "%d with %zu problems:\n%s", st, problems.n,
                  text.data);
            for (size_t i = 0; i < problems.n; i++) {
                char tidy[WN_WHY_MAX];
                snprintf(tidy, sizeof tidy, "%s", problems.items[i].text);
                wni_utf8_tidy(tidy);
                CHECK_TEXT(problems.items[i].text, tidy);
                CHECK(problems.items[i].line > 0 && problems.items[i].column > 0, "no place: %s", tidy);
            }
            wni_problems_release(&problems);
            wni_studyfile_release(&s);
            wni_buf_release(&text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_file),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_name_comes_from_the_file),
        cmocka_unit_test(test_shorter_and_longer_forms),
        cmocka_unit_test(test_method_options),
        cmocka_unit_test(test_options_open),
        cmocka_unit_test(test_more_valid_files),
        cmocka_unit_test(test_examples_of_the_manual),
        cmocka_unit_test(test_not_a_study_at_all),
        cmocka_unit_test(test_driven_studies_need_no_command),
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_metric_mistakes),
        cmocka_unit_test(test_method_mistakes),
        cmocka_unit_test(test_pattern_mistakes),
        cmocka_unit_test(test_hostile_pattern_lengths),
        cmocka_unit_test(test_command_mistakes),
        cmocka_unit_test(test_parameters_called_like_placeholders),
        cmocka_unit_test(test_wrong_parameter_is_told_once),
        cmocka_unit_test(test_many_mistakes_in_one_pass),
        cmocka_unit_test(test_refusals_of_the_searcher_are_told),
        cmocka_unit_test(test_json_study),
        cmocka_unit_test(test_splitting_table),
        cmocka_unit_test(test_splitting_refuses),
        cmocka_unit_test(test_splitting_undoes_quoting),
        cmocka_unit_test(test_expanding),
        cmocka_unit_test(test_shell_sees_values_as_text),
        cmocka_unit_test(test_thousands_of_mistakes),
        cmocka_unit_test(test_huge_commands),
        cmocka_unit_test(test_everything_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
