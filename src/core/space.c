/* space.c -- parameters: checking what was declared, and the values a parameter can take. */
#include "core/space.h"

#include "base/mem.h"
#include "base/number.h"
#include "core/decimal.h"
#include "core/encode.h"
#include "num/portable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double LARGEST_INT =
    35184372088832.0; /* 2^45: the unit encoding of a log int is exact up to there */
/* Beyond these the unit encoding of a log float would lose the 12th digit, and sums of bounds could overflow.
 */
static const double LARGEST_FLOAT = 1e300, SMALLEST_LOG = 1e-300, NARROWEST = 1e-290;
/* Of the larger bound, which has 15 exact digits: what is left for the steps of a range, and for the digits
 * of a step. */
static const double NARROWEST_NEXT_TO_BOUNDS = 1e-10;
static const double CLOSEST_LOG_VALUES = 1e-12; /* ratio of ordinal neighbours, less 1 */
enum { NAME_LENGTH_MAX = 64 };

void wni_space_init(struct space *space)
{
    *space = (struct space){.size = 1};
}

void wni_space_release(struct space *space)
{
    free(space->params);
    wni_arena_release(&space->arena);
    wni_space_init(space);
}

const struct param *wni_space_find(const struct space *space, const char *name, size_t *index)
{
    for (size_t i = 0; i < space->n; i++) {
        if (strcmp(space->params[i].name, name) != 0) continue;
        if (index) *index = i;
        return &space->params[i];
    }
    return NULL;
}

/* ---- checking a declaration ---- */

/* Not isalpha(): that asks the locale. */
static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool name_is_fine(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > NAME_LENGTH_MAX || !starts_name(name[0])) return false;
    for (size_t i = 1; i < n; i++)
        if (!starts_name(name[i]) && !strchr("0123456789-.", name[i])) return false;
    return true;
}

static wn_status check_name(const struct space *space, const char *name, struct err *err)
{
    if (!name || !name_is_fine(name))
        return wni_fail(err, WN_EINVAL,
                        "parameter '%s': a name has 1 to %d letters, digits, '_', '-' or '.' and starts with "
                        "a letter or '_'",
                        name ? name : "", NAME_LENGTH_MAX);
    if (wni_space_find(space, name, NULL))
        return wni_fail(err, WN_EINVAL, "parameter '%s': declared twice", name);
    return WN_OK;
}

static wn_status check_range(const struct param_decl *d, struct err *err)
{
    if (!isfinite(d->min) || !isfinite(d->max))
        return wni_fail(err, WN_EINVAL, "parameter '%s': bounds must be finite numbers", d->name);
    if (d->min > d->max)
        return wni_fail(err, WN_EINVAL, "parameter '%s': min %.15g is above max %.15g", d->name, d->min,
                        d->max);
    if (d->min == d->max)
        return wni_fail(err, WN_EINVAL,
                        "parameter '%s': min and max are both %.15g; use a constant for a fixed value",
                        d->name, d->min);
    if (d->scale == WN_LOG && d->min <= 0)
        return wni_fail(err, WN_EINVAL, "parameter '%s': log scale needs a lower bound above 0", d->name);
    if (d->scale != WN_LOG && d->scale != WN_LINEAR)
        return wni_fail(err, WN_EINVAL, "parameter '%s': unknown scale", d->name);
    if (d->step < 0 || !isfinite(d->step))
        return wni_fail(err, WN_EINVAL, "parameter '%s': step must be above 0", d->name);
    return WN_OK;
}

static wn_status check_int(const struct param_decl *d, struct err *err)
{
    wn_status st = check_range(d, err);
    if (st) return st;
    if (d->min != rint(d->min) || d->max != rint(d->max) || d->step != rint(d->step))
        return wni_fail(err, WN_EINVAL, "parameter '%s': bounds and step of an int must be whole numbers",
                        d->name);
    if (d->step > d->max - d->min)
        return wni_fail(err, WN_EINVAL, "parameter '%s': step %.15g is wider than the range", d->name,
                        d->step);
    if (fabs(d->min) > LARGEST_INT || fabs(d->max) > LARGEST_INT)
        return wni_fail(err, WN_EINVAL, "parameter '%s': int bounds must lie within +-%.0f", d->name,
                        LARGEST_INT);
    return WN_OK;
}

static double largest_bound(double min, double max)
{
    return fmax(fabs(min), fabs(max));
}

static wn_status check_float_step(const struct param_decl *d, struct err *err)
{
    double range = d->max - d->min, largest = largest_bound(d->min, d->max);
    if (range / d->step > 1e9)
        return wni_fail(err, WN_EINVAL, "parameter '%s': more than 1e9 steps; leave the step out", d->name);
    if (d->step < NARROWEST_NEXT_TO_BOUNDS * largest || d->step < NARROWEST)
        return wni_fail(err, WN_EINVAL,
                        "parameter '%s': the step is too small next to the bounds (below %g of them)",
                        d->name, NARROWEST_NEXT_TO_BOUNDS);
    int places = wni_decimal_places(d->step, largest); /* compared as they will be rounded */
    if (d->step > 2 * range ||
        wni_decimal_round(d->min + d->step, places) > wni_decimal_round(d->max, places))
        return wni_fail(err, WN_EINVAL, "parameter '%s': step %.15g is wider than the range", d->name,
                        d->step);
    return WN_OK;
}

static wn_status check_float(const struct param_decl *d, struct err *err)
{
    wn_status st = check_range(d, err);
    if (st) return st;
    double range = d->max - d->min, largest = largest_bound(d->min, d->max);
    if (largest > LARGEST_FLOAT)
        return wni_fail(err, WN_EINVAL, "parameter '%s': bounds must lie within +-%g", d->name,
                        LARGEST_FLOAT);
    if (d->scale == WN_LOG && d->min < SMALLEST_LOG)
        return wni_fail(err, WN_EINVAL, "parameter '%s': the lower bound of a log scale must be at least %g",
                        d->name, SMALLEST_LOG);
    if (range < NARROWEST_NEXT_TO_BOUNDS * largest || (d->scale == WN_LINEAR && range < NARROWEST))
        return wni_fail(err, WN_EINVAL,
                        "parameter '%s': the range is too narrow next to its bounds (below %g of them)",
                        d->name, NARROWEST_NEXT_TO_BOUNDS);
    return d->step > 0 ? check_float_step(d, err) : WN_OK;
}

static wn_status check_labels(const struct param_decl *d, struct err *err)
{
    if (d->n_labels == 0)
        return wni_fail(err, WN_EINVAL, "parameter '%s': needs at least one value", d->name);
    for (size_t i = 0; i < d->n_labels; i++) {
        if (!d->labels[i])
            return wni_fail(err, WN_EINVAL, "parameter '%s': value %zu is missing", d->name, i + 1);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(d->labels[i], d->labels[j]))
                return wni_fail(err, WN_EINVAL, "parameter '%s': value '%s' is there twice", d->name,
                                d->labels[i]);
    }
    return WN_OK;
}

static wn_status check_constant(const struct param_decl *d, struct err *err)
{
    if (d->n_labels != 1)
        return wni_fail(err, WN_EINVAL, "parameter '%s': a constant has one value", d->name);
    return check_labels(d, err);
}

/* All labels as increasing numbers; an ordinal of words leaves numbers NULL. */
static wn_status read_ordinal_numbers(const struct param_decl *d, double *numbers, bool *numeric,
                                      struct err *err)
{
    *numeric = !d->text_values;
    for (size_t i = 0; i < d->n_labels && *numeric; i++)
        if (!wni_parse_double(d->labels[i], &numbers[i]) || !isfinite(numbers[i])) *numeric = false;
    if (!*numeric && d->scale == WN_LOG)
        return wni_fail(err, WN_EINVAL, "parameter '%s': log scale needs values that are numbers", d->name);
    for (size_t i = 0; i < d->n_labels && *numeric; i++) {
        if (i > 0 && numbers[i] <= numbers[i - 1])
            return wni_fail(err, WN_EINVAL, "parameter '%s': ordinal values must increase, but %s follows %s",
                            d->name, d->labels[i], d->labels[i - 1]);
        if (d->scale == WN_LOG && (numbers[i] < SMALLEST_LOG || numbers[i] > LARGEST_FLOAT))
            return wni_fail(err, WN_EINVAL, "parameter '%s': log scale needs values above 0, within %g..%g",
                            d->name, SMALLEST_LOG, LARGEST_FLOAT);
        if (d->scale == WN_LOG && i > 0 && numbers[i] / numbers[i - 1] - 1 < CLOSEST_LOG_VALUES)
            return wni_fail(err, WN_EINVAL, "parameter '%s': %s and %s are too close for a log scale",
                            d->name, d->labels[i - 1], d->labels[i]);
    }
    return WN_OK;
}

static wn_status check_decl(const struct space *space, const struct param_decl *d, struct err *err)
{
    wn_status st = check_name(space, d->name, err);
    if (st) return st;
    switch (d->kind) {
    case PARAM_FLOAT:
        return check_float(d, err);
    case PARAM_INT:
        return check_int(d, err);
    case PARAM_ORDINAL:
    case PARAM_CATEGORICAL:
        return check_labels(d, err);
    case PARAM_CONSTANT:
        return check_constant(d, err);
    case PARAM_BOOL:
        return WN_OK;
    }
    return wni_fail(err, WN_EINVAL, "parameter '%s': unknown type", d->name);
}

/* ---- building a parameter ---- */

static double round_float(const struct param *p, double x)
{
    return p->scale == WN_LOG && p->step == 0 ? wni_decimal_significant(x)
                                              : wni_decimal_round(x, p->places) + 0.0;
}

/* The last step within the bounds becomes the upper one.  Its size decides how many decimals steps can have,
 * so this is repeated until both agree (it may fall into a lower decade once): a space declared by the result
 * is then the same space. */
static void fit_float_steps(struct param *p)
{
    p->places = wni_decimal_places(p->step, largest_bound(p->min, p->max));
    p->count = (uint64_t)rint((p->max - p->min) / p->step) + 1;
    if (wni_param_value_at(p, p->count - 1) > wni_decimal_round(p->max, p->places)) p->count--;
    for (int i = 0; i < 3; i++) {
        p->max = wni_param_value_at(p, p->count - 1);
        p->places = wni_decimal_places(p->step, largest_bound(p->min, p->max));
    }
}

static void fit_steps(struct param *p)
{
    if (p->kind == PARAM_FLOAT) {
        fit_float_steps(p);
    } else {
        p->count = (uint64_t)(p->max - p->min) / (uint64_t)p->step + 1;
        p->max = wni_param_value_at(p, p->count - 1);
    }
}

static void build_range(struct param *p, const struct param_decl *d)
{
    p->min = d->min + 0.0; /* turns -0 into 0, which prints and hashes alike */
    p->max = d->max + 0.0;
    p->step = d->kind == PARAM_INT && d->step == 0 ? 1 : d->step;
    double from = p->min, to = p->max;
    if (p->step > 0) {
        fit_steps(p);
        from = p->min - p->step / 2; /* each value owns an interval of one step around it */
        to = p->max + p->step / 2;
        if (p->scale == WN_LOG) from = fmax(from, p->min / 2);
    } else {
        p->places = wni_decimal_places(p->max - p->min, largest_bound(p->min, p->max));
        p->lowest = round_float(p, p->min);
        p->highest = round_float(p, p->max);
    }
    p->unit_from = p->scale == WN_LOG ? wni_log(from) : from;
    p->unit_span = (p->scale == WN_LOG ? wni_log(to) : to) - p->unit_from;
}

static wn_status copy_labels(struct arena *arena, struct param *p, const char *const *labels, size_t n)
{
    const char **copy = arena_new(arena, const char *, n);
    if (!copy) return WN_ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (!(copy[i] = wni_arena_strdup(arena, labels[i]))) return WN_ENOMEM;
    p->labels = copy;
    p->count = n;
    return WN_OK;
}

/* By log value: the ends own as much outside as inside. */
static bool build_log_ordinal(struct arena *arena, struct param *p, size_t n)
{
    double *logs = arena_new(arena, double, n);
    if (!logs) return false;
    for (size_t i = 0; i < n; i++)
        logs[i] = wni_log(p->numbers[i]);
    p->logs = logs;
    if (n == 1) return true;
    p->unit_from = logs[0] - (logs[1] - logs[0]) / 2;
    p->unit_span = logs[n - 1] + (logs[n - 1] - logs[n - 2]) / 2 - p->unit_from;
    return true;
}

static wn_status build_ordinal(struct arena *arena, struct param *p, const struct param_decl *d,
                               struct err *err)
{
    double *numbers = arena_new(arena, double, d->n_labels);
    if (!numbers) return wni_fail_memory(err);
    bool numeric;
    wn_status st = read_ordinal_numbers(d, numbers, &numeric, err);
    if (st) return st;
    if (numeric) p->numbers = numbers;
    if (p->scale == WN_LOG && !build_log_ordinal(arena, p, d->n_labels)) return wni_fail_memory(err);
    return copy_labels(arena, p, d->labels, d->n_labels) ? wni_fail_memory(err) : WN_OK;
}

static wn_status build_param(struct arena *arena, struct param *p, const struct param_decl *d,
                             struct err *err)
{
    static const char *const booleans[] = {"false", "true"};
    *p = (struct param){.kind = d->kind, .scale = d->kind <= PARAM_ORDINAL ? d->scale : WN_LINEAR};
    if (!(p->name = wni_arena_strdup(arena, d->name))) return wni_fail_memory(err);
    switch (d->kind) {
    case PARAM_FLOAT:
    case PARAM_INT:
        build_range(p, d);
        return WN_OK;
    case PARAM_ORDINAL:
        return build_ordinal(arena, p, d, err);
    case PARAM_CATEGORICAL:
    case PARAM_CONSTANT:
        return copy_labels(arena, p, d->labels, d->n_labels) ? wni_fail_memory(err) : WN_OK;
    case PARAM_BOOL:
        return copy_labels(arena, p, booleans, 2) ? wni_fail_memory(err) : WN_OK;
    }
    return WN_EINVAL;
}

static uint64_t space_size(const struct space *space)
{
    uint64_t size = 1;
    for (size_t i = 0; i < space->n; i++) {
        uint64_t count = space->params[i].count;
        if (count == 0 || size > (UINT64_MAX >> 1) / count) return 0;
        size *= count;
    }
    return size;
}

wn_status wni_space_add(struct space *space, const struct param_decl *decl, struct err *err)
{
    wn_status st = check_decl(space, decl, err);
    if (st) return st;
    if (!wni_reserve((void **)&space->params, &space->cap, space->n + 1, sizeof *space->params))
        return wni_fail_memory(err);
    struct param *p = &space->params[space->n];
    st = build_param(&space->arena, p, decl, err);
    if (st) return st;
    space->n++;
    space->size = space_size(space);
    space->unit_width += wni_param_unit_columns(p);
    space->tree_width += wni_param_tree_columns(p);
    return WN_OK;
}

wn_status wni_space_copy(struct space *to, const struct space *from, struct err *err)
{
    wni_space_init(to);
    for (size_t i = 0; i < from->n; i++) {
        const struct param *p = &from->params[i];
        struct param_decl decl = {.name = p->name,
                                  .kind = p->kind,
                                  .scale = p->scale,
                                  .min = p->min,
                                  .max = p->max,
                                  .step = p->step,
                                  .labels = p->labels,
                                  .n_labels = p->labels ? (size_t)p->count : 0,
                                  .text_values = p->kind == PARAM_ORDINAL && !p->numbers};
        wn_status st = wni_space_add(to, &decl, err);
        if (st) {
            wni_space_release(to);
            return st;
        }
    }
    return WN_OK;
}

/* ---- values ---- */

static double nearest_float(const struct param *p, double x)
{
    if (x >= p->max) return p->max;
    if (!(x > p->min)) return p->min; /* NaN too */
    double v = round_float(p, x);
    return v <= p->lowest ? p->min : v >= p->highest ? p->max : v;
}

double wni_param_nearest(const struct param *p, double x)
{
    if (!p->labels && p->step == 0) return nearest_float(p, x);
    double k = rint(p->labels ? x : (x - p->min) / p->step), last = (double)(p->count - 1);
    return wni_param_value_at(p, (uint64_t)(k >= last ? last : k > 0 ? k : 0));
}

bool wni_param_canonical(const struct param *p, double x, double *out)
{
    if (!p->labels && !(x >= p->min && x <= p->max)) return false;
    double v = wni_param_nearest(p, x);
    double tolerance = p->kind != PARAM_FLOAT ? 0 : p->step > 0 ? 1e-9 * p->step : INFINITY;
    if (!(fabs(v - x) <= tolerance)) return false;
    *out = v;
    return true;
}

double wni_param_value_at(const struct param *p, uint64_t k)
{
    if (p->labels) return (double)k;
    double v = p->min + (double)k * p->step;
    return p->kind == PARAM_INT || k == 0 ? v : round_float(p, v);
}

uint64_t wni_param_index_of(const struct param *p, double value)
{
    return (uint64_t)(p->labels ? value : rint((value - p->min) / p->step));
}

double wni_param_sample(const struct param *p, struct rng *rng)
{
    if (p->count == 1) return wni_param_value_at(p, 0);
    if (p->count && p->scale == WN_LINEAR) return wni_param_value_at(p, wni_rng_below(rng, p->count));
    return wni_param_from_unit(p, wni_rng_uniform(rng));
}

double wni_param_number(const struct param *p, double value)
{
    if (!p->labels) return value;
    if (p->numbers) return p->numbers[(size_t)value];
    double number;
    return wni_parse_double(p->labels[(size_t)value], &number) ? number : NAN;
}

const char *wni_param_text(const struct param *p, double value, char scratch[WN_WHY_MAX])
{
    if (p->labels) return p->labels[(size_t)value];
    wni_format_double(value, scratch);
    return scratch;
}

static bool parse_label(const struct param *p, const char *text, double *out)
{
    double number, other;
    bool numeric = wni_parse_double(text, &number);
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->labels[i], text)) {
            *out = (double)i;
            return true;
        }
    for (size_t i = 0; i < p->count && numeric; i++)
        if (wni_parse_double(p->labels[i], &other) && other == number) {
            *out = (double)i;
            return true;
        }
    return false;
}

static bool parse_boolean(const char *text, double *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1", "False", "True"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(text, words[i])) {
            *out = (double)(i % 2);
            return true;
        }
    return false;
}

static wn_status fail_label(const struct param *p, const char *text, struct err *err)
{
    struct buf list = {0};
    for (size_t i = 0; i < p->count && i < 12; i++)
        wni_buf_printf(&list, "%s%s", i ? ", " : "", p->labels[i]);
    if (p->count > 12) wni_buf_printf(&list, ", ... (%zu in all)", (size_t)p->count);
    wn_status st =
        wni_fail(err, WN_EINVAL, "parameter '%s': '%s' is not one of %s", p->name, text, wni_buf_text(&list));
    wni_buf_release(&list);
    return st;
}

wn_status wni_param_parse(const struct param *p, const char *text, double *out, struct err *err)
{
    if (p->kind == PARAM_BOOL && parse_boolean(text, out)) return WN_OK;
    if (p->labels) return parse_label(p, text, out) ? WN_OK : fail_label(p, text, err);
    double x;
    if (!wni_parse_double(text, &x))
        return wni_fail(err, WN_EINVAL, "parameter '%s': '%s' is not a number", p->name, text);
    if (wni_param_canonical(p, x, out)) return WN_OK;
    if (p->kind == PARAM_INT && isfinite(x) && x != rint(x))
        return wni_fail(err, WN_EINVAL, "parameter '%s': %s is not a whole number", p->name, text);
    if (x >= p->min && x <= p->max)
        return wni_fail(err, WN_EINVAL, "parameter '%s': %s is not %.15g plus a multiple of %.15g", p->name,
                        text, p->min, p->step);
    return wni_fail(err, WN_EINVAL, "parameter '%s': %s is outside %.15g..%.15g", p->name, text, p->min,
                    p->max);
}

/* ---- configurations ---- */

void wni_config_sample(const struct space *space, struct rng *rng, double *config)
{
    for (size_t i = 0; i < space->n; i++)
        config[i] = wni_param_sample(&space->params[i], rng);
}

void wni_config_at(const struct space *space, uint64_t index, double *config)
{
    for (size_t i = space->n; i-- > 0;) {
        const struct param *p = &space->params[i];
        config[i] = wni_param_value_at(p, index % p->count);
        index /= p->count;
    }
}

uint64_t wni_config_index(const struct space *space, const double *config)
{
    uint64_t index = 0;
    for (size_t i = 0; i < space->n; i++) {
        const struct param *p = &space->params[i];
        index = index * p->count + wni_param_index_of(p, config[i]);
    }
    return index;
}

/* Multiply and fold, 64 bits at a time; only equality within one space matters, so speed comes before
 * pedigree. */
uint64_t wni_config_hash(const struct space *space, const double *config)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < space->n; i++) {
        uint64_t bits;
        double value = config[i] + 0.0; /* -0 equals 0, so it must hash alike */
        memcpy(&bits, &value, sizeof bits);
        unsigned __int128 product = (unsigned __int128)(h ^ bits) * 0xd6e8feb86659fd93u;
        h = (uint64_t)product ^ (uint64_t)(product >> 64) ^ (i + 1);
    }
    return h ^ (h >> 29);
}

bool wni_config_equal(const struct space *space, const double *a, const double *b)
{
    for (size_t i = 0; i < space->n; i++)
        if (a[i] != b[i]) return false;
    return true;
}
