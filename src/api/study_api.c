/* study_api.c -- wn_study and wn_trial: argument checks and handles around tuner/study.h, nothing clever. */
#include "api/api_int.h"

#include "base/clock.h"
#include "base/mem.h"
#include "core/streams.h"
#include "method/method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

/* Options of an older, shorter struct keep their meaning: what it lacks stays zero. */
static wn_status read_options(const wn_study_options *given, wn_study_options *out, struct err *err)
{
    *out = (wn_study_options)WN_STUDY_OPTIONS_INIT;
    if (!given) return WN_OK;
    if (given->struct_size < sizeof given->struct_size || given->struct_size > sizeof *out)
        return wni_fail(err, WN_EINVAL, "options: start from WN_STUDY_OPTIONS_INIT");
    memcpy(out, given, given->struct_size);
    if (out->goal != WN_MINIMIZE && out->goal != WN_MAXIMIZE)
        return wni_fail(err, WN_EINVAL, "options: goal is neither WN_MINIMIZE nor WN_MAXIMIZE");
    if (!(out->lease >= 0) || isinf(out->lease))
        return wni_fail(err, WN_EINVAL, "options: lease must be a finite number of seconds, 0 or above");
    if (out->retries > 100) return wni_fail(err, WN_EINVAL, "options: at most 100 retries");
    return WN_OK;
}

/* The store is opened by its study's space, which says how many parameters a configuration has. */
static wn_status open_setup(struct study *study, const char *url, const char *name,
                            const struct study_setup *setup, struct err *err)
{
    struct store store;
    wn_status st = wni_store_open(&store, url, name, setup->space, err);
    return st ? st : wni_study_open(study, setup, &store, err);
}

static wn_status open_given(struct study *study, const char *url, const char *name, const wn_space *space,
                            const wn_study_options *o, struct err *err)
{
    if (space->first_status) return wni_fail(err, space->first_status, "%s", space->first_error.text);
    if (space->space.n == 0) return wni_fail(err, WN_EINVAL, "the space has no parameters");
    const struct method *method = wni_method_find(o->method ? o->method : "rs", err);
    if (!method) return WN_EINVAL;
    return open_setup(study, url, name,
                      &(struct study_setup){.space = &space->space,
                                            .scheduler = method->scheduler,
                                            .searcher = method->searcher,
                                            .options = {method->options, o->options},
                                            .method = method->name,
                                            .seed = o->seed,
                                            .goal = o->goal,
                                            .min_resource = o->min_resource,
                                            .max_resource = o->max_resource,
                                            .lease = o->lease,
                                            .retries = o->retries},
                      err);
}

/* As it was created. */
static wn_status open_stored(struct study *study, const char *url, const char *name,
                             const wn_study_options *o, struct err *err)
{
    struct stored_setup stored;
    char *json;
    wn_status st = wni_store_setup(url, name, &json, err);
    if (!st) st = wni_setup_read(&stored, json, NULL, err);
    free(json);
    if (st) return st;
    stored.setup.lease = o->lease;
    stored.setup.retries = o->retries;
    st = open_setup(study, url, name, &stored.setup, err);
    wni_setup_release(&stored);
    return st;
}

static wn_status open_study(struct study *study, const char *url, const char *name, const wn_space *space,
                            const wn_study_options *given, struct err *err)
{
    wn_study_options o;
    if (!url || !name) return wni_fail(err, WN_EINVAL, "store and name must not be NULL");
    wn_status st = read_options(given, &o, err);
    if (st) return st;
    return space ? open_given(study, url, name, space, &o, err) : open_stored(study, url, name, &o, err);
}

wn_status wn_study_open(const char *store, const char *name, const wn_space *space,
                        const wn_study_options *options, wn_study **out, char why[WN_WHY_MAX])
{
    struct err err = {0};
    if (!out) {
        wn_status refused = wni_fail(&err, WN_EINVAL, "out is NULL");
        wni_tell_why(why, &err);
        return refused;
    }
    *out = wni_new(wn_study, 1);
    wn_status st =
        *out ? open_study(&(*out)->study, store, name, space, options, &err) : wni_fail_memory(&err);
    if (st || !*out) {
        free(*out);
        *out = NULL;
        wni_tell_why(why, &err);
        return st;
    }
    (*out)->began = wni_clock_seconds() - fmax(0, wni_clock_wall() - (*out)->study.created);
    return WN_OK;
}

static double now(const wn_study *s)
{
    return wni_clock_seconds() - s->began;
}

static void free_handle(wn_trial *t)
{
    if (t) wni_arena_release(&t->texts);
    free(t);
}

void wn_study_close(wn_study *s)
{
    if (!s) return;
    while (s->trials) {
        wn_trial *t = s->trials;
        s->trials = t->next;
        free_handle(t);
    }
    free_handle(s->spare);
    wni_study_release(&s->study);
    free(s);
}

const char *wn_study_error(const wn_study *s)
{
    return s ? s->error.text : "the study is NULL";
}

/* ---- handing out ---- */

static wn_trial *new_handle(wn_study *s)
{
    wn_trial *t = s->spare ? s->spare : wni_new(wn_trial, 1);
    s->spare = t;
    return t;
}

static void link_handle(wn_study *s, wn_trial *t)
{
    s->spare = NULL;
    t->owner = s;
    t->next = s->trials;
    t->link = &s->trials;
    if (t->next) t->next->link = &t->next;
    s->trials = t;
}

static void unlink_handle(wn_trial *t)
{
    *t->link = t->next;
    if (t->next) t->next->link = t->link;
    wn_study *s = t->owner;
    wni_arena_reset(&t->texts);
    if (s->spare)
        free_handle(t);
    else
        s->spare = t;
}

wn_status wn_study_ask(wn_study *s, wn_trial **out)
{
    if (out) *out = NULL;
    if (!s) return WN_EINVAL;
    if (!out) return wni_fail(&s->error, WN_EINVAL, "out is NULL");
    wn_trial *t = new_handle(s); /* before the ask: a trial must not be lost for want of a handle */
    if (!t) return wni_fail_memory(&s->error);
    struct handout job;
    wn_status st = wni_study_ask(&s->study, now(s), &job, &s->error);
    if (st) return st;
    link_handle(s, t);
    t->number = job.trial;
    t->resumed_from = job.resumed_from;
    *out = t;
    return WN_OK;
}

wn_status wn_study_sync(wn_study *s)
{
    return s ? wni_study_sync(&s->study, now(s), &s->error) : WN_EINVAL;
}

wn_status wn_study_attach(wn_study *s, int64_t number, wn_trial **out)
{
    if (out) *out = NULL;
    if (!s) return WN_EINVAL;
    if (!out) return wni_fail(&s->error, WN_EINVAL, "out is NULL");
    wn_status st = wni_study_sync(&s->study, now(s), &s->error);
    if (st) return st;
    const struct history *h = &s->study.history;
    if (number < 0 || number >= (int64_t)h->n_trials)
        return wni_fail(&s->error, WN_ENOTFOUND, "trial %lld: there is no such trial", (long long)number);
    wn_state state = h->trials[number].state;
    if (state != WN_RUNNING && state != WN_LOST)
        return wni_fail(&s->error, WN_ESTATE, "trial %lld is %s, not running", (long long)number,
                        wn_state_name(state));
    wn_trial *t = new_handle(s);
    if (!t) return wni_fail_memory(&s->error);
    link_handle(s, t);
    t->number = (uint32_t)number;
    t->resumed_from = 0;
    *out = t;
    return WN_OK;
}

/* Reads a JSON object; parameters it leaves out are drawn from the random stream of the queue's position. */
static wn_status read_config(wn_study *s, const char *json, double *config, bool *given)
{
    struct document doc = {0};
    const struct space *space = &s->study.space;
    wn_status st = wni_json_parse(&doc, "", json, strlen(json), &s->error);
    if (!st) {
        struct rng rng = wni_rng_stream(s->study.search_env.seed, s->study.history.n_queue, STREAM_ENQUEUE);
        wni_config_sample(space, &rng, config);
        st = wni_config_read(space, doc.root, config, given, &s->error);
    }
    wni_document_release(&doc);
    return st;
}

wn_status wn_study_enqueue(wn_study *s, const char *config)
{
    if (!s) return WN_EINVAL;
    if (!config) return wni_fail(&s->error, WN_EINVAL, "the configuration is NULL");
    double *values = wni_new(double, s->study.space.n);
    bool *given = wni_new(bool, s->study.space.n);
    wn_status st = values && given ? read_config(s, config, values, given) : wni_fail_memory(&s->error);
    if (!st) st = wni_study_enqueue(&s->study, values, now(s), &s->error);
    free(values);
    free(given);
    return st;
}

/* ---- a trial in hand ---- */

int64_t wn_trial_number(const wn_trial *t)
{
    return t ? (int64_t)t->number : -1;
}

int64_t wn_trial_attempt(const wn_trial *t)
{
    return t ? t->owner->study.history.trials[t->number].attempt : 0;
}

double wn_trial_resumed_from(const wn_trial *t)
{
    return t ? t->resumed_from : 0;
}

static const struct param *find_value(const wn_trial *t, const char *name, double *value)
{
    if (!t || !name) return NULL;
    const struct study *s = &t->owner->study;
    size_t i;
    const struct param *p = wni_space_find(&s->space, name, &i);
    if (p) *value = wni_history_config(&s->history, t->number)[i];
    return p;
}

double wn_trial_float(const wn_trial *t, const char *name)
{
    double value;
    const struct param *p = find_value(t, name, &value);
    return p ? wni_param_number(p, value) : NAN;
}

int64_t wn_trial_int(const wn_trial *t, const char *name)
{
    double number = wn_trial_float(t, name);
    return number == rint(number) && fabs(number) < 9e15 ? (int64_t)number : INT64_MIN;
}

bool wn_trial_bool(const wn_trial *t, const char *name)
{
    double value;
    const struct param *p = find_value(t, name, &value);
    return p && p->kind == PARAM_BOOL && value == 1;
}

const char *wn_trial_string(wn_trial *t, const char *name)
{
    double value;
    char scratch[WN_WHY_MAX];
    const struct param *p = find_value(t, name, &value);
    return p ? wni_arena_strdup(&t->texts, wni_param_text(p, value, scratch)) : NULL;
}

const char *wn_trial_json(wn_trial *t)
{
    char *json;
    if (!t || wn_study_config(t->owner, t->number, &json) != WN_OK) return NULL;
    const char *kept = wni_arena_strdup(&t->texts, json);
    free(json);
    return kept;
}

wn_status wn_trial_report(wn_trial *t, double resource, double value, wn_decision *next)
{
    if (!t) return WN_EINVAL;
    wn_study *s = t->owner;
    wn_decision decision = WN_CONTINUE;
    wn_status st = wni_study_report(&s->study, t->number, resource, value, now(s), &decision, &s->error);
    if (next) *next = st ? WN_CONTINUE : decision;
    return st;
}

wn_status wn_trial_heartbeat(wn_trial *t)
{
    return t ? wni_study_heartbeat(&t->owner->study, t->number, &t->owner->error) : WN_EINVAL;
}

wn_status wn_trial_finish(wn_trial *t, wn_state state)
{
    if (!t) return WN_EINVAL;
    wn_study *s = t->owner;
    wn_status st = wni_study_finish(&s->study, t->number, state, now(s), &s->error);
    if (!st) unlink_handle(t);
    return st;
}

/* ---- looking back ---- */

int64_t wn_study_trials(const wn_study *s)
{
    return s ? (int64_t)s->study.history.n_trials : 0;
}

static bool has_trial(const wn_study *s, int64_t number)
{
    return s && number >= 0 && number < wn_study_trials(s);
}

wn_status wn_study_trial(const wn_study *s, int64_t number, wn_trial_info *out)
{
    if (!s || !out) return WN_EINVAL;
    if (!has_trial(s, number)) return WN_ENOTFOUND;
    const struct history *h = &s->study.history;
    const struct trial *t = &h->trials[number];
    *out = (wn_trial_info){
        .number = number, .state = t->state, .value = NAN, .reports = t->n_reports, .saw = t->saw};
    if (t->furthest) {
        out->value = s->study.sign * h->values[t->furthest - 1];
        out->resource = h->resources[t->furthest - 1];
    }
    return WN_OK;
}

wn_status wn_study_best(const wn_study *s, wn_trial_info *out)
{
    if (!s || !out) return WN_EINVAL;
    if (s->study.history.best_trial == TRIAL_NONE) return WN_ENOTFOUND;
    const struct history *h = &s->study.history;
    wn_status st = wn_study_trial(s, h->best_trial, out);
    out->value = s->study.sign * h->best_value;
    out->resource = h->resources[h->best_report];
    return st;
}

wn_status wn_study_config(const wn_study *s, int64_t number, char **json)
{
    if (json) *json = NULL;
    if (!s || !json) return WN_EINVAL;
    if (!has_trial(s, number)) return WN_ENOTFOUND;
    struct buf text = {0};
    wni_config_write(&s->study.space, wni_history_config(&s->study.history, (uint32_t)number), &text);
    if (text.failed) {
        wni_buf_release(&text);
        return WN_ENOMEM;
    }
    *json = text.data;
    return WN_OK;
}

size_t wn_study_reports(const wn_study *s, int64_t number, double *resources, double *values, size_t capacity)
{
    if (!has_trial(s, number)) return 0;
    const struct history *h = &s->study.history;
    size_t n = h->trials[number].n_reports, i = n;
    for (uint32_t at = h->trials[number].last_arrival; at; at = h->previous[at - 1]) { /* newest first */
        if (--i >= capacity) continue;
        if (resources) resources[i] = h->resources[at - 1];
        if (values) values[i] = s->study.sign * h->values[at - 1];
    }
    return n;
}
