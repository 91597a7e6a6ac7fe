/* versions.c -- the setups a study has had, and what happens when it gets another one.
 *
 * A new setup is an event like any other.  Its space contains the one before it, and every configuration in
 * the log means the same in both (core/widen.c), so the history stays as it is.  The searcher does not: its
 * rows, candidates and caches are of the old space.  A new one is opened and given the whole log again, which
 * is what resuming would do.  So every process that reads the event, and every replay, has the same searcher
 * from there on.
 *
 * Versions stay until the study is released: searchers point to theirs. */
#include "tuner/study_int.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void free_version(struct setup_version *v)
{
    if (!v) return;
    wni_searcher_release(&v->searcher);
    wni_setup_release(&v->stored);
    free(v);
}

/* Takes over `stored`. */
static struct setup_version *new_version(const struct stored_setup *stored)
{
    struct setup_version *v = wni_new(struct setup_version, 1);
    struct stored_setup dropped = *stored;
    if (!v) {
        wni_setup_release(&dropped);
        return NULL;
    }
    v->stored = *stored;
    v->stored.setup.space = &v->stored.space;
    return v;
}

static wn_status open_searcher(const struct study *s, struct setup_version *v, struct err *err)
{
    const struct study_setup *setup = &v->stored.setup;
    const struct searcher_ops *ops = wni_searcher_find(setup->searcher, err);
    if (!ops) return WN_EINVAL;
    v->env = (struct search_env){.space = &v->stored.space,
                                 .seed = setup->seed,
                                 .partial = s->scheduler.ops->stops_early,
                                 .levels = wni_scheduler_levels(&s->scheduler)};
    return wni_searcher_open(&v->searcher, ops, s->options, &v->env, err);
}

/* The study goes by this version now. */
static void use(struct study *s, struct setup_version *v)
{
    s->space = v->stored.space; /* the version owns what it points to */
    if (!v->searcher.ops) return;
    wni_searcher_release(&s->searcher);
    s->searcher = v->searcher;
    v->searcher = (struct searcher){0};
    s->search_env = v->env;
}

wn_status wni_version_first(struct study *s, const struct stored_setup *stored, struct err *err)
{
    struct setup_version *v = new_version(stored);
    bool fine = v && wni_reserve((void **)&s->versions, &s->versions_cap, 1, sizeof *s->versions);
    wn_status st = fine ? open_searcher(s, v, err) : wni_fail_memory(err);
    if (st) {
        free_version(v);
        return st;
    }
    use(s, v);
    if (s->n_versions) free_version(s->versions[0]);
    s->versions[0] = v;
    s->n_versions = 1;
    return WN_OK;
}

void wni_versions_release(struct study *s)
{
    for (size_t i = 0; i < s->n_versions; i++)
        free_version(s->versions[i]);
    free_version(s->coming);
    free(s->versions);
}

/* ---- the event ---- */

/* Lets a searcher see the whole log.  It must see each event in the history as it was then, so a second one
 * grows along. */
static wn_status feed(const struct study *s, struct setup_version *v, struct err *err)
{
    struct history then;
    struct history_cursor at = {0};
    struct event e;
    if (!v->searcher.ops->observe) return WN_OK;
    wn_status st = wni_history_init(&then, &v->stored.space, err);
    while (!st && wni_history_next(&s->history, &at, &e)) {
        st = wni_history_reserve(&then, &e, err);
        if (st) break;
        wni_history_append(&then, &e);
        if (e.kind != EVENT_SETUP) v->searcher.ops->observe(v->searcher.self, &then, &e);
    }
    wni_history_release(&then);
    return st;
}

/* A log is not trusted more than a user. */
static wn_status check_version(const struct study *s, const struct setup_version *v, struct err *err)
{
    struct space widened;
    wn_status st = wni_setup_compare(wni_study_setup(s), &v->stored.setup, err);
    if (st) return st;
    st = wni_space_widen(&widened, &s->space, &v->stored.space, err);
    if (st) return st;
    st = wni_setup_compare_spaces(&widened, &v->stored.space, err);
    wni_space_release(&widened);
    return st;
}

static wn_status make_version(const struct study *s, struct setup_version *v, struct err *err)
{
    wn_status st = check_version(s, v, err);
    if (st || !wni_setup_compare_spaces(&s->space, &v->stored.space, NULL)) return st;
    st = open_searcher(s, v, err);
    return st ? st : feed(s, v, err);
}

wn_status wni_version_prepare(struct study *s, const struct event *e, struct err *err)
{
    struct stored_setup stored;
    free_version(s->coming); /* of an event that could not be written */
    s->coming = NULL;
    if (!e->setup) return wni_fail(err, WN_EINVAL, "the setup is missing");
    wn_status st = wni_setup_read(&stored, e->setup, e->file, err);
    if (st) return st;
    struct setup_version *v = new_version(&stored);
    bool fine =
        v && wni_reserve((void **)&s->versions, &s->versions_cap, s->n_versions + 1, sizeof *s->versions);
    st = fine ? make_version(s, v, err) : wni_fail_memory(err);
    if (st) {
        free_version(v);
        return st;
    }
    v->since = s->history.n_events + 1;
    v->time = e->time;
    s->coming = v;
    return WN_OK;
}

void wni_version_commit(struct study *s)
{
    s->versions[s->n_versions++] = s->coming;
    use(s, s->coming);
    s->coming = NULL;
}

/* ---- changing it ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* The study is entered.  Ends the transaction in any case. */
static wn_status happen_if_other(struct study *s, const struct study_setup *next, double now, bool *changed,
                                 struct err *err)
{
    const struct study_setup *old = wni_study_setup(s);
    struct buf before = {0}, after = {0};
    struct event e = {.kind = EVENT_SETUP, .file = next->file, .time = now};
    wn_decision ignored;
    wni_setup_write(old, &before);
    wni_setup_write(next, &after);
    wn_status st = before.failed || after.failed ? wni_fail_memory(err) : WN_OK;
    if (st || (!strcmp(before.data, after.data) && same_text(old->file, next->file))) {
        st = wni_study_leave(s, st, err);
    } else {
        e.setup = after.data;
        st = wni_study_happen(s, &e, &ignored, err);
        *changed = !st;
    }
    wni_buf_release(&before);
    wni_buf_release(&after);
    return st;
}

static wn_status change_entered(struct study *s, const struct study_setup *to, double now, bool *changed,
                                struct err *err)
{
    struct study_setup full, next;
    struct space space;
    char *options = NULL;
    wn_status st = wni_study_fill_in(to, &full, &options, err);
    if (!st) st = wni_setup_change(wni_study_setup(s), &full, &space, &next, err);
    if (st) {
        st = wni_study_leave(s, st, err);
    } else {
        st = happen_if_other(s, &next, now, changed, err);
        wni_space_release(&space);
    }
    free(options);
    return st;
}

wn_status wni_study_change(struct study *s, const struct study_setup *to, double now, bool *changed,
                           struct err *err)
{
    *changed = false;
    wn_status st = wni_study_enter(s, err);
    return st ? st : change_entered(s, to, now, changed, err);
}
