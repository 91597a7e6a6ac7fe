/* widen.c -- which changes of a space a study survives.
 *
 * The log holds configurations as doubles: numbers, or indices of values.  They keep their meaning in another
 * space if each range contains the old one and no index moves, so that is what is allowed; old trials then
 * need no translation, and models see them in the encoding of the new space.  A parameter more or less would
 * leave the old trials without a value, or with one that says nothing. */
#include "core/space.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Walking all values of a stepped float proves that none is lost; an int needs no walk. */
static const uint64_t STEPS_MAX = 1000000;

#define INSTEAD "start a new study and bring the trials along with 'winnow export' and 'winnow import'"

/* ---- ranges ---- */

static wn_status widen_range(const struct param *old, const struct param *given, struct err *err)
{
    if (given->min > old->min || given->max < old->max)
        return wni_fail(err, WN_EINVAL,
                        "parameter '%s': the range can only grow: %.15g..%.15g does not contain "
                        "%.15g..%.15g",
                        old->name, given->min, given->max, old->min, old->max);
    if (given->step != old->step)
        return wni_fail(err, WN_EINVAL, "parameter '%s': its step was %.15g and cannot become %.15g",
                        old->name, old->step, given->step);
    if (old->count == 0) return WN_OK;
    if (old->kind == PARAM_FLOAT && old->count > STEPS_MAX)
        return wni_fail(err, WN_EINVAL, "parameter '%s': a float with more than %llu steps cannot change",
                        old->name, (unsigned long long)STEPS_MAX);
    for (uint64_t k = 0; k < (old->kind == PARAM_FLOAT ? old->count : 1); k++) {
        double value = wni_param_value_at(old, k), found;
        if (!wni_param_canonical(given, value, &found) || found != value)
            return wni_fail(err, WN_EINVAL,
                            "parameter '%s': its value %.15g would be lost: it is not %.15g plus a multiple "
                            "of %.15g",
                            old->name, value, given->min, given->step);
    }
    return WN_OK;
}

/* ---- values ---- */

static bool has_label(const struct param *p, const char *label)
{
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->labels[i], label)) return true;
    return false;
}

static wn_status widen_ordinal(const struct param *old, const struct param *given, struct err *err)
{
    for (size_t i = 0; i < old->count; i++)
        if (strcmp(old->labels[i], given->labels[i]) != 0)
            return wni_fail(err, WN_EINVAL,
                            "parameter '%s': values of an ordinal can only be added at the end, but '%s' "
                            "stands where '%s' was",
                            old->name, given->labels[i], old->labels[i]);
    if (!old->numbers != !given->numbers)
        return wni_fail(err, WN_EINVAL, "parameter '%s': its values were %s, those added must be, too",
                        old->name, old->numbers ? "numbers" : "words");
    return WN_OK;
}

static wn_status check_labels(const struct param *old, const struct param *given, struct err *err)
{
    for (size_t i = 0; i < old->count; i++)
        if (!has_label(given, old->labels[i]))
            return wni_fail(err, WN_EINVAL, "parameter '%s': value '%s' is missing; values can only be added",
                            old->name, old->labels[i]);
    if (old->kind == PARAM_ORDINAL) return widen_ordinal(old, given, err);
    if (old->kind != PARAM_CATEGORICAL && given->count > old->count)
        return wni_fail(err, WN_EINVAL, "parameter '%s': a constant stays as it is", old->name);
    return WN_OK;
}

/* ---- together ---- */

static wn_status check_parameter(const struct param *old, const struct param *given, struct err *err)
{
    static const char *const scales[] = {[WN_LINEAR] = "linear", [WN_LOG] = "log"};
    if (given->kind != old->kind)
        return wni_fail(err, WN_EINVAL, "parameter '%s': was %s and cannot become %s", old->name,
                        wni_param_kind_name(old->kind), wni_param_kind_name(given->kind));
    if (given->scale != old->scale)
        return wni_fail(err, WN_EINVAL, "parameter '%s': its scale was %s and cannot become %s", old->name,
                        scales[old->scale], scales[given->scale]);
    return old->labels ? check_labels(old, given, err) : widen_range(old, given, err);
}

/* The old values first, then the new ones. */
static wn_status add_parameter(struct space *out, const struct param *old, const struct param *given,
                               struct err *err)
{
    size_t n = given->labels ? (size_t)given->count : 0, used = 0;
    const char **labels = wni_new(const char *, n);
    if (!labels) return wni_fail_memory(err);
    for (size_t i = 0; i < n && i < old->count; i++)
        labels[used++] = old->labels[i];
    for (size_t i = 0; i < n; i++)
        if (!has_label(old, given->labels[i])) labels[used++] = given->labels[i];
    wn_status st =
        wni_space_add(out,
                      &(struct param_decl){.name = old->name,
                                           .kind = old->kind,
                                           .scale = old->scale,
                                           .min = given->min,
                                           .max = given->max,
                                           .step = given->step,
                                           .labels = labels,
                                           .n_labels = used,
                                           .text_values = old->kind == PARAM_ORDINAL && !old->numbers},
                      err);
    free(labels);
    return st;
}

static wn_status check_names(const struct space *old, const struct space *given, struct err *err)
{
    for (size_t i = 0; i < given->n; i++)
        if (!wni_space_find(old, given->params[i].name, NULL))
            return wni_fail(err, WN_EINVAL,
                            "parameter '%s': the study has none of that name, and the trials so far no "
                            "value for it; " INSTEAD,
                            given->params[i].name);
    for (size_t i = 0; i < old->n; i++)
        if (!wni_space_find(given, old->params[i].name, NULL))
            return wni_fail(err, WN_EINVAL,
                            "parameter '%s': is missing, but the trials so far were run with it; " INSTEAD,
                            old->params[i].name);
    return WN_OK;
}

wn_status wni_space_widen(struct space *out, const struct space *old, const struct space *given,
                          struct err *err)
{
    wni_space_init(out);
    wn_status st = check_names(old, given, err);
    for (size_t i = 0; i < old->n && !st; i++) {
        const struct param *p = &old->params[i], *q = wni_space_find(given, p->name, NULL);
        st = check_parameter(p, q, err);
        if (!st) st = add_parameter(out, p, q, err);
    }
    if (st) wni_space_release(out);
    return st;
}
