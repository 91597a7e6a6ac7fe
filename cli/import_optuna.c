/* import_optuna.c -- reads a study out of a SQLite file of Optuna's, schema version 12 (Optuna 3 and 4).
 *
 * What Optuna has and we do not: a trial may lack parameters (a space that depends on itself), a study may
 * have several objectives, steps count from 0.  Trials without all parameters are left out and counted;
 * several objectives are refused; step k is resource k + 1 where any step is 0. */
#include "cli/importing.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct optuna {
    sqlite3 *db;
    char *path;
    int64_t study;
    char *name;
    wn_goal goal;
    bool has_steps;
    double first_step, last_step;
};

static wn_status fail_db(const struct optuna *o, struct err *err)
{
    return wni_fail(err, WN_EINVAL, "'%s': %s; is this a study of Optuna 3 to 5?", o->path,
                    sqlite3_errmsg(o->db));
}

static wn_status prepare(const struct optuna *o, const char *sql, int64_t key, sqlite3_stmt **out,
                         struct err *err)
{
    if (sqlite3_prepare_v2(o->db, sql, -1, out, NULL) != SQLITE_OK) return fail_db(o, err);
    if (sqlite3_bind_parameter_count(*out)) sqlite3_bind_int64(*out, 1, key);
    return WN_OK;
}

static wn_status step(const struct optuna *o, sqlite3_stmt *q, bool *more, struct err *err)
{
    int code = sqlite3_step(q);
    *more = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? WN_OK : fail_db(o, err);
}

static const char *text_at(sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    return text ? text : "";
}

/* Values that SQLite has no number for are told by a type. */
static double value_at(sqlite3_stmt *q, int column)
{
    const char *type = text_at(q, column + 1);
    if (!strcmp(type, "INF_POS")) return INFINITY;
    if (!strcmp(type, "INF_NEG")) return -INFINITY;
    if (!strcmp(type, "NAN") || sqlite3_column_type(q, column) == SQLITE_NULL) return NAN;
    return sqlite3_column_double(q, column);
}

/* ---- which study ---- */

bool wni_is_sqlite_file(const char *path)
{
    char head[16] = "";
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    return n == sizeof head && !memcmp(head, "SQLite format 3", sizeof head);
}

static wn_status choose_study(struct optuna *o, const char *name, struct err *err)
{
    sqlite3_stmt *q = NULL;
    struct buf list = {0};
    bool more = false;
    size_t n = 0;
    wn_status st = prepare(o, "SELECT study_id, study_name FROM studies ORDER BY study_id", 0, &q, err);
    while (!st && !(st = step(o, q, &more, err)) && more) {
        const char *found = text_at(q, 1);
        wni_buf_printf(&list, "%s'%s'", list.len ? ", " : "", found);
        if (name && strcmp(found, name) != 0) continue;
        n++;
        o->study = sqlite3_column_int64(q, 0);
        free(o->name);
        if (!(o->name = wni_strdup(found))) st = wni_fail_memory(err);
    }
    sqlite3_finalize(q);
    if (!st && n == 0)
        st = wni_fail(err, WN_ENOTFOUND,
                      name ? "'%s' has no study '%s'; there are %s" : "'%s' holds no study%s%s", o->path,
                      name ? name : "", name ? wni_buf_text(&list) : "");
    else if (!st && n > 1)
        st = wni_fail(err, WN_EINVAL, "'%s' holds several studies: choose with --from NAME: %s", o->path,
                      wni_buf_text(&list));
    wni_buf_release(&list);
    return st;
}

static wn_status read_goal(struct optuna *o, struct err *err)
{
    sqlite3_stmt *q = NULL;
    bool more = false;
    size_t n = 0;
    wn_status st =
        prepare(o, "SELECT direction FROM study_directions WHERE study_id = ?1", o->study, &q, err);
    while (!st && !(st = step(o, q, &more, err)) && more) {
        n++;
        o->goal = !strcmp(text_at(q, 0), "MAXIMIZE") ? WN_MAXIMIZE : WN_MINIMIZE;
    }
    sqlite3_finalize(q);
    if (!st && n > 1)
        st = wni_fail(err, WN_EINVAL, "'%s': study '%s' has %zu objectives; a study here has one", o->path,
                      o->name, n);
    return st;
}

static wn_status read_steps(struct optuna *o, struct err *err)
{
    sqlite3_stmt *q = NULL;
    bool more = false;
    wn_status st =
        prepare(o,
                "SELECT min(step), max(step) FROM trial_intermediate_values JOIN trials USING (trial_id)"
                " WHERE study_id = ?1",
                o->study, &q, err);
    if (!st) st = step(o, q, &more, err);
    if (!st && more && sqlite3_column_type(q, 0) != SQLITE_NULL) {
        o->has_steps = true;
        o->first_step = sqlite3_column_double(q, 0);
        o->last_step = sqlite3_column_double(q, 1);
    }
    sqlite3_finalize(q);
    return st;
}

wn_status wni_optuna_open(struct optuna **out, const char *path, const char *name, struct err *err)
{
    struct optuna *o = *out = wni_new(struct optuna, 1);
    if (!o || !(o->path = wni_strdup(path))) return wni_fail_memory(err);
    if (sqlite3_open_v2(path, &o->db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) return fail_db(o, err);
    wn_status st = choose_study(o, name, err);
    if (!st) st = read_goal(o, err);
    if (!st) st = read_steps(o, err);
    return st;
}

void wni_optuna_close(struct optuna *o)
{
    if (!o) return;
    sqlite3_close(o->db);
    free(o->path);
    free(o->name);
    free(o);
}

const char *wni_optuna_name(const struct optuna *o)
{
    return o->name;
}

wn_goal wni_optuna_goal(const struct optuna *o)
{
    return o->goal;
}

/* ---- the space ---- */

static double attribute(const struct node *map, const char *name, double otherwise)
{
    double x;
    const struct node *n = wni_node_get(map, name);
    return n && wni_node_number(n, &x) ? x : otherwise;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* Ranges of the same parameter may differ from trial to trial: together they are one. */
static void widen(struct param_decl *decl, const struct param_decl *other)
{
    decl->min = fmin(decl->min, other->min);
    decl->max = fmax(decl->max, other->max);
}

/* A choice as text; JSON's null, true and 3 are what they say. */
static wn_status read_choices(const struct node *map, struct arena *texts, struct param_decl *decl,
                              struct err *err)
{
    const struct node *choices = wni_node_get(map, "choices");
    if (!choices || choices->kind != NODE_LIST || choices->n == 0)
        return wni_fail(err, WN_EINVAL, "parameter '%s' has no choices", decl->name);
    const char **labels = arena_new(texts, const char *, choices->n);
    if (!labels) return wni_fail_memory(err);
    bool boolean = choices->n == 2, ignored;
    for (size_t i = 0; i < choices->n; i++) {
        const struct node *c = choices->items[i];
        if (c->kind != NODE_SCALAR)
            return wni_fail(err, WN_EINVAL, "parameter '%s': a choice is %s, expected text or a number",
                            decl->name, wni_node_kind_name(c));
        boolean = boolean && !c->quoted && wni_node_bool(c, &ignored);
        if (!(labels[i] = wni_arena_strdup(texts, c->text))) return wni_fail_memory(err);
    }
    decl->labels = labels;
    decl->n_labels = choices->n;
    decl->kind = choices->n == 1 ? PARAM_CONSTANT : boolean ? PARAM_BOOL : PARAM_CATEGORICAL;
    return WN_OK;
}

/* {"name": "FloatDistribution", "attributes": {"low": 0.1, "high": 1, "log": false, "step": null}}, and the
 * names of Optuna 2. */
static wn_status read_distribution(const char *json, struct arena *texts, struct param_decl *decl,
                                   struct err *err)
{
    struct document doc = {0};
    bool log = false;
    wn_status st = wni_json_parse(&doc, "", json, strlen(json), err);
    if (st) return st;
    const struct node *name = wni_node_get(doc.root, "name"), *map = wni_node_get(doc.root, "attributes"),
                      *flag;
    const char *kind = name && name->kind == NODE_SCALAR ? name->text : "";
    if (!strcmp(kind, "CategoricalDistribution")) {
        st = read_choices(map, texts, decl, err);
    } else if (ends_in(kind, "Distribution") &&
               (strstr(kind, "Float") || strstr(kind, "Int") || strstr(kind, "niform"))) {
        flag = wni_node_get(map, "log");
        if (flag) (void)wni_node_bool(flag, &log);
        decl->kind = strstr(kind, "Int") ? PARAM_INT : PARAM_FLOAT;
        decl->min = attribute(map, "low", NAN);
        decl->max = attribute(map, "high", NAN);
        decl->scale = log || strstr(kind, "Log") ? WN_LOG : WN_LINEAR;
        decl->step = attribute(map, "step", attribute(map, "q", 0));
        if (decl->kind == PARAM_INT && decl->step == 1) decl->step = 0;
    } else {
        st = wni_fail(err, WN_EINVAL, "parameter '%s' is distributed as '%s', which is not known here",
                      decl->name, kind);
    }
    wni_document_release(&doc);
    return st;
}

/* A range of one value is a constant here. */
static wn_status add_param(struct space *space, struct param_decl *decl, struct err *err)
{
    char number[WNI_NUMBER_MAX];
    const char *only = number;
    bool range = decl->kind == PARAM_FLOAT || decl->kind == PARAM_INT;
    if (range && decl->min == decl->max) {
        wni_format_double(decl->min, number);
        *decl =
            (struct param_decl){.name = decl->name, .kind = PARAM_CONSTANT, .labels = &only, .n_labels = 1};
    }
    if (decl->kind == PARAM_BOOL) decl->n_labels = 0;
    return wni_space_add(space, decl, err);
}

static wn_status read_space(struct optuna *o, sqlite3_stmt *q, struct space *space, struct arena *texts,
                            struct err *err)
{
    struct param_decl decl = {0};
    bool more = false;
    wn_status st = WN_OK;
    while (!st && !(st = step(o, q, &more, err)) && more) {
        struct param_decl next = {.name = wni_arena_strdup(texts, text_at(q, 0))};
        if (!next.name) return wni_fail_memory(err);
        st = read_distribution(text_at(q, 1), texts, &next, err);
        if (st) break;
        if (decl.name && !strcmp(decl.name, next.name)) {
            widen(&decl, &next);
            continue;
        }
        if (decl.name) st = add_param(space, &decl, err);
        decl = next;
    }
    if (!st && decl.name) st = add_param(space, &decl, err);
    if (!st && space->n == 0)
        st = wni_fail(err, WN_EINVAL, "study '%s' has no trials with parameters", o->name);
    return st;
}

wn_status wni_optuna_space(struct optuna *o, struct space *space, struct err *err)
{
    sqlite3_stmt *q = NULL;
    struct arena texts = {0};
    wn_status st =
        prepare(o,
                "SELECT p.param_name, p.distribution_json FROM trial_params p JOIN trials t USING (trial_id)"
                " WHERE t.study_id = ?1 GROUP BY p.param_name, p.distribution_json"
                " ORDER BY min(p.param_id) OVER (PARTITION BY p.param_name), p.param_name",
                o->study, &q, err);
    if (!st) st = read_space(o, q, space, &texts, err);
    if (st) wni_err_prefix(err, "'%s'", o->path);
    sqlite3_finalize(q);
    wni_arena_release(&texts);
    return st;
}

/* ---- trials ---- */

enum { Q_TRIALS, Q_PARAMS, Q_STEPS, Q_VALUES, N_QUERIES };

struct reader {
    struct optuna *o;
    const struct space *space;
    bool skip;
    sqlite3_stmt *queries[N_QUERIES];
    bool *seen;
    size_t unfinished, incomplete, outside;
    double began; /* when the first trial did */
};

/* What the value of a parameter is called here: the choice, or the number. */
static wn_status value_text(sqlite3_stmt *q, struct arena *texts, struct buf *out, struct err *err)
{
    struct param_decl decl = {.name = text_at(q, 0)};
    double x = sqlite3_column_double(q, 1);
    wn_status st = read_distribution(text_at(q, 2), texts, &decl, err);
    if (st) return st;
    if (!decl.labels) {
        wni_buf_double(out, x);
    } else if (x >= 0 && x < (double)decl.n_labels) {
        wni_buf_puts(out, decl.labels[(size_t)x]);
    } else {
        st = wni_fail(err, WN_EINVAL, "parameter '%s': there is no choice %g", decl.name, x);
    }
    return !st && out->failed ? wni_fail_memory(err) : st;
}

/* WN_WAIT: a parameter is missing; WN_EXHAUSTED: one is outside the space. */
static wn_status read_config(struct reader *r, int64_t trial, double *config, struct err *err)
{
    sqlite3_stmt *q = r->queries[Q_PARAMS];
    struct arena texts = {0};
    struct buf text = {0};
    bool more = false;
    wn_status st = WN_OK;
    for (size_t i = 0; i < r->space->n; i++) {
        r->seen[i] = r->space->params[i].kind == PARAM_CONSTANT;
        config[i] = 0;
    }
    sqlite3_bind_int64(q, 1, trial);
    while (!st && !(st = step(r->o, q, &more, err)) && more) {
        size_t i;
        const struct param *p = wni_space_find(r->space, text_at(q, 0), &i);
        if (!p) {
            st = wni_fail(err, WN_EINVAL, "'%s': parameter '%s' is not one of the study's", r->o->path,
                          text_at(q, 0));
            break;
        }
        wni_buf_clear(&text);
        st = value_text(q, &texts, &text, err);
        if (!st && wni_param_parse(p, text.data, &config[i], err)) st = WN_EXHAUSTED;
        r->seen[i] = true;
    }
    sqlite3_reset(q);
    for (size_t i = 0; i < r->space->n && !st; i++)
        if (!r->seen[i]) st = WN_WAIT;
    wni_arena_release(&texts);
    wni_buf_release(&text);
    return st;
}

/* The reports while it ran; then the result, unless it is the last of them. */
static wn_status read_reports(struct reader *r, int64_t trial, struct import_set *set, struct err *err)
{
    sqlite3_stmt *q = r->queries[Q_STEPS];
    double shift = r->o->has_steps && r->o->first_step <= 0 ? 1 - r->o->first_step : 0, last = NAN, at = NAN;
    bool more = false;
    wn_status st = WN_OK;
    sqlite3_bind_int64(q, 1, trial);
    while (!st && !(st = step(r->o, q, &more, err)) && more) {
        at = sqlite3_column_double(q, 0) + shift;
        last = value_at(q, 1);
        st = wni_import_report(set, at, last, err);
        if (at > set->max_resource) set->max_resource = at;
    }
    sqlite3_reset(q);
    q = r->queries[Q_VALUES];
    sqlite3_bind_int64(q, 1, trial);
    if (!st) st = step(r->o, q, &more, err);
    double value = more ? value_at(q, 0) : NAN;
    if (!st && more && value != last) st = wni_import_report(set, isnan(at) ? NAN : at, value, err);
    sqlite3_reset(q);
    return st;
}

static wn_status read_trial(struct reader *r, struct import_set *set, struct err *err)
{
    sqlite3_stmt *q = r->queries[Q_TRIALS];
    const char *name = text_at(q, 1);
    bool complete = !strcmp(name, "COMPLETE"), pruned = !strcmp(name, "PRUNED"),
         failed = !strcmp(name, "FAIL");
    if (!complete && !pruned && !failed) {
        r->unfinished++;
        return WN_OK;
    }
    double *config = wni_import_row(set, r->space->n,
                                    complete ? WN_COMPLETE
                                    : pruned ? WN_STOPPED
                                             : WN_FAILED);
    if (!config) return wni_fail_memory(err);
    wn_status st = read_config(r, sqlite3_column_int64(q, 0), config, err);
    if (st == WN_WAIT || (st == WN_EXHAUSTED && r->skip)) {
        *(st == WN_WAIT ? &r->incomplete : &r->outside) += 1;
        wni_import_drop(set);
        return WN_OK;
    }
    if (st == WN_EXHAUSTED) {
        wni_err_prefix(err, "'%s': trial %lld", r->o->path, (long long)sqlite3_column_int64(q, 2));
        return WN_EINVAL;
    }
    struct import_row *row = &set->rows[set->n - 1];
    if (sqlite3_column_type(q, 3) != SQLITE_NULL) row->asked = sqlite3_column_double(q, 3);
    if (sqlite3_column_type(q, 4) != SQLITE_NULL) row->ended = sqlite3_column_double(q, 4);
    r->began = fmin(r->began, row->asked);
    return st ? st : read_reports(r, sqlite3_column_int64(q, 0), set, err);
}

static void note_left_out(const struct reader *r, struct import_set *set)
{
    if (r->unfinished)
        wni_buf_printf(&set->notes, "%zu trials that had not ended are left out\n", r->unfinished);
    if (r->incomplete)
        wni_buf_printf(
            &set->notes,
            "%zu trials lack a parameter of the others and are left out: here every trial has all\n",
            r->incomplete);
    if (r->outside) wni_buf_printf(&set->notes, "%zu trials outside the space are left out\n", r->outside);
    if (r->o->has_steps && r->o->first_step <= 0)
        wni_buf_printf(&set->notes, "steps count from %g: step k is taken for resource k + %g\n",
                       r->o->first_step, 1 - r->o->first_step);
}

static wn_status read_trials(struct reader *r, struct import_set *set, struct err *err)
{
    static const char *const sql[N_QUERIES] = {
        [Q_TRIALS] = "SELECT trial_id, state, number, (julianday(datetime_start) - 2440587.5) * 86400.0,"
                     " (julianday(datetime_complete) - 2440587.5) * 86400.0 FROM trials WHERE study_id = ?1"
                     " ORDER BY number",
        [Q_PARAMS] =
            "SELECT param_name, param_value, distribution_json FROM trial_params WHERE trial_id = ?1",
        [Q_STEPS] = "SELECT step, intermediate_value, intermediate_value_type FROM trial_intermediate_values"
                    " WHERE trial_id = ?1 ORDER BY step",
        [Q_VALUES] = "SELECT value, value_type FROM trial_values WHERE trial_id = ?1"};
    bool more = false;
    wn_status st = WN_OK;
    for (int i = 0; i < N_QUERIES && !st; i++)
        st = prepare(r->o, sql[i], r->o->study, &r->queries[i], err);
    while (!st && !(st = step(r->o, r->queries[Q_TRIALS], &more, err)) && more)
        st = read_trial(r, set, err);
    for (int i = 0; i < N_QUERIES; i++)
        sqlite3_finalize(r->queries[i]);
    for (size_t i = 0; i < set->n; i++) {
        set->rows[i].asked -= r->began;
        set->rows[i].ended -= r->began;
    }
    note_left_out(r, set);
    return st;
}

wn_status wni_optuna_rows(struct optuna *o, const struct space *space, bool skip, struct import_set *set,
                          struct err *err)
{
    struct reader r = {.o = o, .space = space, .skip = skip, .began = INFINITY};
    r.seen = wni_new(bool, space->n);
    wn_status st = r.seen ? read_trials(&r, set, err) : wni_fail_memory(err);
    free(r.seen);
    return st;
}
