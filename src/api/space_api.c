/* space_api.c -- wn_space: builds a space one parameter at a time and remembers the first mistake. */
#include "api/api_int.h"

#include "base/mem.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *wn_version(void)
{
#define TEXT(x)                      #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)
    return VERSION(WN_VERSION_MAJOR, WN_VERSION_MINOR, WN_VERSION_PATCH);
#undef VERSION
#undef TEXT
}

void wni_tell_why(char *why, const struct err *err)
{
    if (why) memcpy(why, err->text, WN_WHY_MAX);
}

wn_space *wn_space_new(void)
{
    wn_space *space = wni_new(wn_space, 1);
    if (space) wni_space_init(&space->space);
    return space;
}

void wn_space_free(wn_space *space)
{
    if (!space) return;
    wni_space_release(&space->space);
    free(space);
}

const char *wn_space_error(const wn_space *space)
{
    return space ? space->first_error.text : "the space is NULL";
}

void wn_string_free(char *text)
{
    free(text);
}

/* Remembers the first failure of a chain of calls. */
static wn_status note(wn_space *space, wn_status st, const struct err *err)
{
    if (st && !space->first_status) {
        space->first_status = st;
        space->first_error = *err;
    }
    return st;
}

static wn_status add(wn_space *space, const struct param_decl *decl)
{
    if (!space) return WN_EINVAL;
    struct err err = {0};
    wn_status st = decl->scale == WN_LINEAR || decl->scale == WN_LOG
                       ? wni_space_add(&space->space, decl, &err)
                       : wni_fail(&err, WN_EINVAL, "parameter '%s': scale is neither WN_LINEAR nor WN_LOG",
                                  decl->name ? decl->name : "");
    return note(space, st, &err);
}

wn_status wn_space_float(wn_space *space, const char *name, double min, double max, wn_scale scale)
{
    return add(space, &(struct param_decl){
                          .name = name, .kind = PARAM_FLOAT, .scale = scale, .min = min, .max = max});
}

wn_status wn_space_float_step(wn_space *space, const char *name, double min, double max, double step)
{
    struct param_decl decl = {
        .name = name, .kind = PARAM_FLOAT, .min = min, .max = max, .step = step > 0 ? step : -1};
    return add(space, &decl);
}

wn_status wn_space_int(wn_space *space, const char *name, int64_t min, int64_t max, wn_scale scale)
{
    return add(space,
               &(struct param_decl){
                   .name = name, .kind = PARAM_INT, .scale = scale, .min = (double)min, .max = (double)max});
}

wn_status wn_space_int_step(wn_space *space, const char *name, int64_t min, int64_t max, int64_t step)
{
    struct param_decl decl = {.name = name, .kind = PARAM_INT, .min = (double)min, .max = (double)max};
    decl.step = step > 0 ? (double)step : -1;
    return add(space, &decl);
}

/* The values as labels, which is how a space keeps them. */
static wn_status number_labels(struct arena *arena, const char *name, const double *values, size_t n,
                               const char ***out, struct err *err)
{
    const char **labels = *out = arena_new(arena, const char *, n);
    if (!labels) return wni_fail_memory(err);
    if (!values && n) return wni_fail(err, WN_EINVAL, "parameter '%s': values is NULL", name);
    for (size_t i = 0; i < n; i++) {
        char text[WNI_NUMBER_MAX];
        wni_format_double(values[i], text);
        if (!isfinite(values[i]))
            return wni_fail(err, WN_EINVAL, "parameter '%s': value %zu is %s, not a finite number", name,
                            i + 1, text);
        if (!(labels[i] = wni_arena_strdup(arena, text))) return wni_fail_memory(err);
    }
    return WN_OK;
}

wn_status wn_space_ordinal(wn_space *space, const char *name, const double *values, size_t n, wn_scale scale)
{
    if (!space) return WN_EINVAL;
    struct arena scratch = {0};
    struct err err = {0};
    const char **labels;
    wn_status st = number_labels(&scratch, name ? name : "", values, n, &labels, &err);
    struct param_decl decl = {
        .name = name, .kind = PARAM_ORDINAL, .scale = scale, .labels = labels, .n_labels = n};
    st = st ? note(space, st, &err) : add(space, &decl);
    wni_arena_release(&scratch);
    return st;
}

wn_status wn_space_ordinal_strings(wn_space *space, const char *name, const char *const *values, size_t n)
{
    return add(space, &(struct param_decl){.name = name,
                                           .kind = PARAM_ORDINAL,
                                           .labels = values,
                                           .n_labels = values ? n : 0,
                                           .text_values = true});
}

wn_status wn_space_categorical(wn_space *space, const char *name, const char *const *values, size_t n)
{
    return add(space,
               &(struct param_decl){
                   .name = name, .kind = PARAM_CATEGORICAL, .labels = values, .n_labels = values ? n : 0});
}

wn_status wn_space_bool(wn_space *space, const char *name)
{
    return add(space, &(struct param_decl){.name = name, .kind = PARAM_BOOL});
}

wn_status wn_space_constant(wn_space *space, const char *name, const char *value)
{
    return add(space,
               &(struct param_decl){.name = name, .kind = PARAM_CONSTANT, .labels = &value, .n_labels = 1});
}

wn_status wn_space_from_json(const char *json, wn_space **out, char why[WN_WHY_MAX])
{
    struct err err = {0};
    struct document doc = {0};
    struct problems problems = {0};
    wn_status st;
    if (!out) {
        wni_fail(&err, WN_EINVAL, "out is NULL");
        wni_tell_why(why, &err);
        return WN_EINVAL;
    }
    *out = wn_space_new();
    if (!*out)
        st = wni_fail_memory(&err);
    else if (!json)
        st = wni_fail(&err, WN_EINVAL, "the JSON text is NULL");
    else
        st = wni_json_parse(&doc, "", json, strlen(json), &err);
    if (!st) {
        wni_space_read(&(*out)->space, doc.root, &problems);
        st = wni_problems_status(&problems, &err);
    }
    wni_problems_release(&problems);
    wni_document_release(&doc);
    if (!st) return WN_OK;
    wn_space_free(*out);
    *out = NULL;
    wni_tell_why(why, &err);
    return st;
}

wn_status wn_space_to_json(const wn_space *space, char **json)
{
    if (json) *json = NULL;
    if (!space || !json) return WN_EINVAL;
    if (space->first_status) return space->first_status; /* it lacks what was refused */
    struct buf text = {0};
    wni_space_write(&space->space, &text);
    if (text.failed) {
        wni_buf_release(&text);
        return WN_ENOMEM;
    }
    *json = text.data;
    return WN_OK;
}
