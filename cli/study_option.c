/* study_option.c -- finds and opens the study a command line means; errors name what there is. */
#include "cli/study_option.h"

#include "base/clock.h"
#include "base/closest.h"
#include "base/mem.h"
#include "base/number.h"
#include "studyfile/studyfile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *wni_store_option(const struct args *args)
{
    const char *url = wni_arg(args, "store"), *from_env = getenv("WINNOW_STORE");
    if (url) return url;
    return from_env && *from_env ? from_env : WNI_STORE_DEFAULT;
}

wn_status wni_list_studies(const char *url, take_study *take, void *context, struct err *err)
{
    wn_status st = wni_store_studies(url, NULL, take, context, err);
    if (st != WN_ENOTFOUND || !err) return st;
    struct err why = *err;
    return wni_fail(err, st,
                    "%s; go to the folder where the study was run, or say where it is with --store or "
                    "$WINNOW_STORE",
                    why.text);
}

/* ---- names ---- */

struct names {
    struct arena texts;
    const char **items;
    size_t n, cap;
};

static wn_status take_name(void *context, const struct study_row *row, struct err *err)
{
    struct names *names = context;
    char *copy = wni_arena_strdup(&names->texts, row->name);
    if (!copy || !wni_reserve((void **)&names->items, &names->cap, names->n + 1, sizeof *names->items))
        return wni_fail_memory(err);
    names->items[names->n++] = copy;
    return WN_OK;
}

static void release_names(struct names *names)
{
    wni_arena_release(&names->texts);
    free(names->items);
}

/* "'a', 'b' and 12 more" */
static void list_names(const struct names *names, struct buf *out)
{
    enum { SHOWN = 6 };
    size_t n = names->n <= SHOWN + 1 ? names->n : SHOWN, rest = names->n - n;
    for (size_t i = 0; i < n; i++) {
        const char *separator = i == 0 ? "" : i + 1 == n && !rest ? " and " : ", ";
        wni_buf_printf(out, "%s'%s'", separator, names->items[i]);
    }
    if (rest) wni_buf_printf(out, " and %zu more", rest);
}

static wn_status fail_among(const char *url, const char *name, const struct names *names, struct err *err)
{
    const char *near = wni_closest(name, names->items, names->n);
    struct buf list = {0};
    if (names->n == 0) return wni_fail(err, WN_ENOTFOUND, "no study '%s' in %s: it has none yet", name, url);
    if (near) return wni_fail(err, WN_ENOTFOUND, "no study '%s' in %s; did you mean '%s'?", name, url, near);
    list_names(names, &list);
    wni_fail(err, WN_ENOTFOUND, "no study '%s' in %s; there %s %s", name, url, names->n == 1 ? "is" : "are",
             wni_buf_text(&list));
    wni_buf_release(&list);
    return WN_ENOTFOUND;
}

wn_status wni_fail_no_study(const char *url, const char *name, struct err *err)
{
    struct names names = {0};
    wn_status st = wni_list_studies(url, take_name, &names, err);
    if (!st) st = fail_among(url, name, &names, err);
    release_names(&names);
    return st;
}

static wn_status only_name(const char *url, char **out, struct err *err)
{
    struct names names = {0};
    struct buf list = {0};
    wn_status st = wni_list_studies(url, take_name, &names, err);
    list_names(&names, &list);
    if (!st && names.n == 0)
        st = wni_fail(err, WN_ENOTFOUND, "%s holds no study yet", url);
    else if (!st && names.n > 1)
        st = wni_fail(err, WN_EINVAL, "which study of %s? There are %s: say --study NAME", url,
                      wni_buf_text(&list));
    else if (!st && !(*out = wni_strdup(names.items[0])))
        st = wni_fail_memory(err);
    wni_buf_release(&list);
    release_names(&names);
    return st;
}

static const char *named(const struct args *args, size_t word)
{
    const char *option = wni_arg(args, "study"), *from_env = getenv("WINNOW_STUDY");
    if (word < args->n_words) return args->words[word];
    if (option) return option;
    return from_env && *from_env ? from_env : NULL;
}

wn_status wni_study_name_option(const struct args *args, size_t word, char **name, struct err *err)
{
    const char *given = named(args, word);
    *name = NULL;
    if (word < args->n_words && wni_arg(args, "study"))
        return wni_fail(err, WN_EINVAL, "give the study once: '%s' or --study '%s'", given,
                        wni_arg(args, "study"));
    if (!given) return only_name(wni_store_option(args), name, err);
    *name = wni_strdup(given);
    return *name ? WN_OK : wni_fail_memory(err);
}

/* ---- opening ---- */

static wn_status take_study_row(void *context, const struct study_row *row, struct err *err)
{
    struct opened_study *s = context;
    wn_status st = wni_setup_read(&s->setup, row->about.setup, NULL, err);
    if (st) return st;
    s->has_setup = true;
    s->trials = row->trials;
    s->created = row->created;
    s->began = wni_clock_seconds() - fmax(0, wni_clock_wall() - row->created);
    if (!row->about.file) return WN_OK;
    s->file = wni_strdup(row->about.file);
    return s->file ? WN_OK : wni_fail_memory(err);
}

/* out->url and out->name are set. */
static wn_status look_up(struct opened_study *out, struct err *err)
{
    wn_status st = wni_store_studies(out->url, out->name, take_study_row, out, err);
    if (st != WN_ENOTFOUND) return st;
    struct err missing = {0}; /* the store itself may be what is not there: then its own words say so */
    wn_status again = wni_fail_no_study(out->url, out->name, &missing);
    if (missing.text[0]) *err = missing;
    return again;
}

wn_status wni_open_found(struct opened_study *out, struct err *err)
{
    struct store store;
    wn_status st = wni_store_open(&store, out->url, out->name, &out->setup.space, err);
    if (!st) st = wni_study_open(&out->study, &out->setup.setup, &store, err);
    out->has_study = !st;
    return st;
}

wn_status wni_open_named(const char *url, const char *name, struct opened_study *out, struct err *err)
{
    *out = (struct opened_study){.url = url, .name = wni_strdup(name)};
    wn_status st = out->name ? look_up(out, err) : wni_fail_memory(err);
    return st ? st : wni_open_found(out, err);
}

wn_status wni_find_study_option(const struct args *args, size_t word, struct opened_study *out,
                                struct err *err)
{
    *out = (struct opened_study){.url = wni_store_option(args)};
    wn_status st = wni_study_name_option(args, word, &out->name, err);
    return st ? st : look_up(out, err);
}

wn_status wni_open_study_option(const struct args *args, size_t word, struct opened_study *out,
                                struct err *err)
{
    wn_status st = wni_find_study_option(args, word, out, err);
    return st ? st : wni_open_found(out, err);
}

wn_status wni_create_study(struct opened_study *out, const struct study_setup *setup, struct err *err)
{
    struct store store;
    wn_status st = wni_store_open(&store, out->url, out->name, setup->space, err);
    if (!st) st = wni_study_open(&out->study, setup, &store, err);
    out->has_study = !st;
    return st ? st : wni_store_studies(out->url, out->name, take_study_row, out, err);
}

int wni_open_study_file(const struct args *args, const char *path, double lease, struct opened_study *out)
{
    struct studyfile file;
    struct buf text = {0};
    struct err err = {0};
    const char *name = named(args, NO_WORD);
    *out = (struct opened_study){0};
    int code = wni_load_studyfile(path, &file);
    if (code != EXIT_DONE) return code;
    wn_status st = wni_read_text_file(path, &text, &err);
    out->name = wni_strdup(name ? name : file.name);
    out->url = wni_store_option(args);
    if (!st && file.store && !wni_arg(args, "store") && !getenv("WINNOW_STORE")) {
        out->file_url = wni_strdup(file.store);
        out->url = out->file_url;
    }
    if (!st && (!out->name || !out->url)) st = wni_fail_memory(&err);
    struct study_setup setup = wni_setup_of_file(&file, wni_buf_text(&text));
    setup.lease = lease;
    if (!st) st = wni_create_study(out, &setup, &err);
    if (st) code = wni_complain(&err, st);
    wni_buf_release(&text);
    wni_studyfile_release(&file);
    return code;
}

void wni_stored_studyfile(const struct opened_study *s, struct studyfile *out)
{
    struct document doc = {0};
    struct problems problems = {0};
    *out = (struct studyfile){0};
    if (s->file && !wni_yaml_parse(&doc, s->name, s->file, strlen(s->file), NULL))
        (void)wni_studyfile_read_driven(out, &doc, &problems);
    wni_problems_release(&problems);
    wni_document_release(&doc);
}

void wni_close_study(struct opened_study *s)
{
    if (s->has_study) wni_study_release(&s->study);
    if (s->has_setup) wni_setup_release(&s->setup);
    free(s->name);
    free(s->file);
    free(s->file_url);
    *s = (struct opened_study){0};
}

double wni_study_clock(const struct opened_study *s)
{
    return wni_clock_seconds() - s->began;
}

const char *wni_metric_name(const struct opened_study *s)
{
    return s->setup.setup.metric ? s->setup.setup.metric : "value";
}

const char *wni_resource_name(const struct opened_study *s)
{
    return s->setup.setup.resource ? s->setup.setup.resource : "resource";
}

wn_status wni_trial_word(const struct args *args, size_t word, uint32_t *trial, struct err *err)
{
    int64_t number;
    if (!wni_parse_int(args->words[word], &number) || number < 0 || number >= TRIAL_NONE)
        return wni_fail(err, WN_EINVAL, "expected the number of a trial, got '%s'", args->words[word]);
    *trial = (uint32_t)number;
    return WN_OK;
}
