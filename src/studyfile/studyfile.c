/* studyfile.c -- the keys of a study file, and what they must be together. */
#include "studyfile/studyfile.h"

#include "studyfile/keys.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FIELD(field) .offset = offsetof(struct studyfile, field)

enum { NAME_LENGTH_MAX = 100, PATTERN_MAX = 1000, GPU_MAX = 1023, LIST_MAX = 1024 };

/* ---- metric and resource ---- */

static void read_goal(struct reader *r, const struct node *at, const struct node *value)
{
    static const char *const names[] = {[WN_MINIMIZE] = "minimize", [WN_MAXIMIZE] = "maximize"};
    (void)at;
    if (!wni_needs_text(r, value, "metric.goal", "minimize or maximize")) return;
    if (!strcmp(value->text, names[WN_MAXIMIZE]))
        r->study->metric.goal = WN_MAXIMIZE;
    else if (strcmp(value->text, names[WN_MINIMIZE]) != 0)
        wni_problem_unknown(r->problems, value, NULL, "goal", value->text, names, COUNT(names));
}

static const struct key_def metric_keys[] = {
    {"name", KEY_TEXT, .required = true, FIELD(metric.name)},
    {"goal", KEY_OTHER, .read = read_goal},
};

static void read_metric(struct reader *r, const struct node *at, const struct node *value)
{
    if (value->kind == NODE_MAP)
        wni_keys_read(r, at, value, "metric", metric_keys, COUNT(metric_keys));
    else if (wni_needs_text(r, value, "metric", "a name, or a mapping with 'name' and 'goal'"))
        r->study->metric.name = wni_keep_text(r, value->text);
}

static const struct key_def resource_keys[] = {
    {"name", KEY_TEXT, .required = true, FIELD(resource.name)},
    {"min", KEY_POSITIVE, FIELD(resource.min)},
    {"max", KEY_POSITIVE, .required = true, FIELD(resource.max)},
};

static void read_resource(struct reader *r, const struct node *at, const struct node *value)
{
    double min = r->study->resource.min = 1;
    r->study->resource.max = 0;
    wni_keys_read(r, at, value, "resource", resource_keys, COUNT(resource_keys));
    double max = r->study->resource.max;
    min = r->study->resource.min;
    if (max > 0 && min > max)
        wni_problem(r->problems, wni_node_get(value, "max"),
                    "'resource.max' %.15g is below 'resource.min' %.15g%s", max, min,
                    wni_node_get(value, "min") ? "" : ", its default");
}

/* ---- stop, trial ---- */

static const struct key_def stop_keys[] = {
    {"trials", KEY_INT, FIELD(stop.trials), .min = 1, .max = UINT32_MAX - 1},
    {"results", KEY_INT, FIELD(stop.results), .min = 1, .max = INT64_MAX},
    {"time", KEY_TIME, FIELD(stop.time)},
    {"resource", KEY_POSITIVE, FIELD(stop.resource)},
};

static void read_stop(struct reader *r, const struct node *at, const struct node *value)
{
    wni_keys_read(r, at, value, "stop", stop_keys, COUNT(stop_keys));
}

static void read_checkpoints(struct reader *r, const struct node *at, const struct node *value)
{
    static const char *const names[] = {"best", "all", "none"};
    (void)at;
    if (!wni_needs_text(r, value, "trial.checkpoints", "best, all or none")) return;
    for (size_t i = 0; i < COUNT(names); i++)
        if (!strcmp(value->text, names[i])) {
            r->study->trial.checkpoints = names[i];
            return;
        }
    wni_problem_unknown(r->problems, value, NULL, "choice of checkpoints", value->text, names, COUNT(names));
}

static const struct key_def trial_keys[] = {
    {"timeout", KEY_TIME, FIELD(trial.timeout)},
    {"retries", KEY_INT, FIELD(trial.retries), .min = 0, .max = 1000},
    {"grace", KEY_TIME_OR_ZERO, FIELD(trial.grace)},
    {"checkpoints", KEY_OTHER, .read = read_checkpoints},
};

static void read_trial(struct reader *r, const struct node *at, const struct node *value)
{
    wni_keys_read(r, at, value, "trial", trial_keys, COUNT(trial_keys));
}

/* ---- report ---- */

/* The C library's compiler unrolls {m,n}, nested ones many times over: a short pattern can ask for all memory
 * there is. Their product bounds it. */
static bool repeats_are_tame(const char *pattern)
{
    double product = 1;
    for (const char *at = pattern; (at = strchr(at, '{')); at++) {
        long low = strtol(at + 1, NULL, 10), high = low;
        const char *comma = at + 1 + strspn(at + 1, "0123456789");
        if (*comma == ',') high = strtol(comma + 1, NULL, 10);
        product *= 1 + (double)(low > high ? low : high);
    }
    return product <= 1e5;
}

static void read_pattern(struct reader *r, const struct node *at, const struct node *value)
{
    (void)at;
    regex_t compiled;
    char why[128];
    if (!wni_needs_text(r, value, "report.pattern", "a regular expression")) return;
    if (strlen(value->text) > PATTERN_MAX || !repeats_are_tame(value->text)) {
        wni_problem(r->problems, value, "'report.pattern' is too large to match against every line");
        return;
    }
    int error = regcomp(&compiled, value->text, REG_EXTENDED);
    if (error == REG_ESPACE) {
        r->problems->failed = true;
    } else if (error) {
        regerror(error, &compiled, why, sizeof why);
        wni_problem(r->problems, value, "'report.pattern' is not a regular expression: %s", why);
    } else {
        if (compiled.re_nsub == 0)
            wni_problem(r->problems, value,
                        "'report.pattern' must have the metric's value in a group: (...)");
        regfree(&compiled);
        r->study->pattern = wni_keep_text(r, value->text);
    }
}

static const struct key_def report_keys[] = {
    {"pattern", KEY_OTHER, .required = true, .read = read_pattern},
};

static void read_report(struct reader *r, const struct node *at, const struct node *value)
{
    wni_keys_read(r, at, value, "report", report_keys, COUNT(report_keys));
}

/* ---- gpus, env ---- */

static void read_gpu(struct reader *r, const struct node *item, int64_t *gpus, size_t i)
{
    char got[NODE_DESCRIPTION_MAX];
    if (!wni_node_int(item, &gpus[i]) || gpus[i] < 0 || gpus[i] > GPU_MAX) {
        wni_problem(r->problems, item, "'gpus' must hold numbers from 0 to %d, got %s", GPU_MAX,
                    wni_node_describe(item, got));
        gpus[i] = -1;
        return;
    }
    for (size_t j = 0; j < i; j++)
        if (gpus[j] == gpus[i]) {
            wni_problem(r->problems, item, "'gpus' names %d twice", (int)gpus[i]);
            return;
        }
}

static void read_gpus(struct reader *r, const struct node *at, const struct node *value)
{
    (void)at;
    char got[NODE_DESCRIPTION_MAX];
    if (value->kind != NODE_LIST || value->n > LIST_MAX) {
        wni_problem(r->problems, value, "'gpus' must be a list of numbers, as in [0, 1], got %s",
                    value->kind == NODE_LIST ? "too many" : wni_node_describe(value, got));
        return;
    }
    int64_t *gpus = wni_keep_array(r, value->n, sizeof *gpus);
    for (size_t i = 0; i < value->n && gpus; i++)
        read_gpu(r, value->items[i], gpus, i);
    r->study->gpus = gpus;
    r->study->n_gpus = value->n;
}

static bool is_variable(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return *name && !name[strspn(name, letters)] && !(*name >= '0' && *name <= '9');
}

static void read_variable(struct reader *r, const struct node *key, const struct node *value,
                          struct env_variable *out)
{
    char got[NODE_DESCRIPTION_MAX];
    if (!is_variable(key->text))
        wni_problem(r->problems, key, "'env': '%.64s' cannot name a variable; use letters, digits and '_'",
                    key->text);
    else if (!strncmp(key->text, "WINNOW_", 7))
        wni_problem(r->problems, key, "'env': '%.64s' is set by winnow itself", key->text);
    if (value->kind != NODE_SCALAR || wni_node_is_null(value))
        wni_problem(r->problems, value, "'env.%.64s' must be text, got %s", key->text,
                    wni_node_describe(value, got));
    else
        *out = (struct env_variable){wni_keep_text(r, key->text), wni_keep_text(r, value->text)};
}

static void read_env(struct reader *r, const struct node *at, const struct node *value)
{
    (void)at;
    char got[NODE_DESCRIPTION_MAX];
    if (value->kind != NODE_MAP) {
        wni_problem(r->problems, value, "'env' must be a mapping of names to values, got %s",
                    wni_node_describe(value, got));
        return;
    }
    struct env_variable *env = wni_keep_array(r, value->n, sizeof *env);
    for (size_t i = 0; i < value->n && env && !wni_problems_full(r->problems); i++)
        read_variable(r, value->keys[i], value->items[i], &env[i]);
    r->study->env = env;
    r->study->n_env = value->n;
}

/* ---- name ---- */

/* It becomes a folder and part of addresses. */
static bool name_is_fine(const char *name)
{
    if (!*name || strchr(".- ", *name) || strlen(name) > NAME_LENGTH_MAX) return false;
    for (; *name; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7f || *name == '/') return false;
    return true;
}

static void read_study_name(struct reader *r, const struct node *at, const struct node *value)
{
    (void)at;
    if (!wni_needs_text(r, value, "name", "text")) return;
    if (name_is_fine(value->text))
        r->study->name = wni_keep_text(r, value->text);
    else
        wni_problem(r->problems, value,
                    "'name' must have 1 to %d characters, no '/', and not start with '.', '-' or a blank",
                    NAME_LENGTH_MAX);
}

/* "studies/mlp.yaml" is called mlp. */
static void default_name(struct reader *r, const char *file)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    size_t length = strcspn(base, ".");
    char *name = wni_arena_strndup(&r->study->arena, base, length);
    if (!name)
        r->problems->failed = true;
    else if (name_is_fine(name))
        r->study->name = name;
    else
        wni_problem(r->problems, r->root, "missing 'name'");
}

/* ---- the whole file ---- */

static void read_backend(struct reader *r, const struct node *at, const struct node *value)
{
    struct err err;
    (void)at;
    if (!wni_needs_text(r, value, "backend", "the name of a backend")) return;
    r->study->backend = wni_backend_find(value->text, &err);
    if (!r->study->backend) wni_problem(r->problems, value, "%s", err.text);
}

static void read_parameters(struct reader *r, const struct node *at, const struct node *value)
{
    (void)at;
    wni_space_read(&r->study->space, value, r->problems);
}

/* Read after everything else, by wni_read_decisions(). */
static void read_later(struct reader *r, const struct node *at, const struct node *value)
{
    (void)r, (void)at, (void)value;
}

static const struct key_def file_keys[] = {
    {"name", KEY_OTHER, .read = read_study_name},
    {"command", KEY_OTHER, .required = true, .read = wni_read_command},
    {"shell", KEY_BOOL, FIELD(command.shell)},
    {"metric", KEY_OTHER, .required = true, .read = read_metric},
    {"resource", KEY_OTHER, .read = read_resource},
    {"parameters", KEY_OTHER, .required = true, .read = read_parameters},
    {"method", KEY_OTHER, .read = read_later},
    {"searcher", KEY_OTHER, .read = read_later},
    {"scheduler", KEY_OTHER, .read = read_later},
    {"backend", KEY_OTHER, .read = read_backend},
    {"workers", KEY_INT, FIELD(workers), .min = 1, .max = 100000},
    {"stop", KEY_OTHER, .read = read_stop},
    {"seed", KEY_INT, FIELD(seed), .min = 0, .max = INT64_MAX},
    {"trial", KEY_OTHER, .read = read_trial},
    {"store", KEY_TEXT, FIELD(store)},
    {"folder", KEY_TEXT, FIELD(folder)},
    {"report", KEY_OTHER, .read = read_report},
    {"gpus", KEY_OTHER, .read = read_gpus},
    {"env", KEY_OTHER, .read = read_env},
};

static void defaults(struct studyfile *study)
{
    *study = (struct studyfile){.workers = 1,
                                .backend = wni_backend_find("local", NULL),
                                .resource = {.min = 1, .max = 1},
                                .trial = {.grace = 10, .checkpoints = "best"}};
    wni_space_init(&study->space);
}

static void read_file(struct reader *r, const char *file, bool to_run)
{
    const struct node *root = r->root;
    if (!root || root->kind != NODE_MAP) {
        wni_problem(r->problems, root, "a study file is a mapping of keys to values, this is %s",
                    wni_node_kind_name(root));
        return;
    }
    struct key_def keys[COUNT(file_keys)];
    memcpy(keys, file_keys, sizeof keys);
    for (size_t i = 0; i < COUNT(keys) && !to_run; i++)
        if (keys[i].read == wni_read_command) keys[i].required = false;
    wni_keys_read(r, root, root, "", keys, COUNT(keys));
    if (!wni_node_get(root, "name")) default_name(r, file);
    wni_read_decisions(r);
    if (wni_node_get(root, "parameters")) /* else that is what is wrong */
        wni_check_placeholders(r, wni_node_get(root, "command"), wni_node_get(root, "parameters"));
    if (!r->problems->n && !r->problems->failed) wni_check_decisions(r);
}

static wn_status read_study(struct studyfile *study, const struct document *doc, bool to_run,
                            struct problems *problems)
{
    struct reader r = {study, doc->root, problems};
    defaults(study);
    problems->file = doc->name;
    read_file(&r, doc->name, to_run);
    wni_problems_sort(problems);
    wn_status st = wni_problems_status(problems, NULL);
    if (st) wni_studyfile_release(study);
    return st;
}

wn_status wni_studyfile_read(struct studyfile *study, const struct document *doc, struct problems *problems)
{
    return read_study(study, doc, true, problems);
}

wn_status wni_studyfile_read_driven(struct studyfile *study, const struct document *doc,
                                    struct problems *problems)
{
    return read_study(study, doc, false, problems);
}

void wni_studyfile_release(struct studyfile *study)
{
    wni_space_release(&study->space);
    wni_arena_release(&study->arena);
    defaults(study);
}
