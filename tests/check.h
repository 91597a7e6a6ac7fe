/* check.h -- what the C tests share: checks that print both values, random spaces, events that must be legal,
 * temporary folders.
 *
 * Include it first: it brings cmocka with the headers that cmocka needs.  Random inputs come from keyed
 * streams of num/rng.h, so a failure comes back with the same seed; pass the seed on in the message. */
#ifndef WNI_TESTS_CHECK_H
#define WNI_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/history.h"
#include "core/space.h"
#include "num/portable.h"
#include "num/rng.h"

/* ---- checks; each evaluates its arguments once ---- */

/* CHECK(x < y, "x %g, y %g", x, y): the message is needed, and holds the values. */
#define CHECK(claim, ...)                                                                                    \
    do {                                                                                                     \
        if (!(claim)) {                                                                                      \
            print_error("not so: %s\n", #claim);                                                             \
            fail_msg(__VA_ARGS__);                                                                           \
        }                                                                                                    \
    } while (0)

/* Integers of any type that fits in 64 bits, signed values compared as such. */
#define CHECK_INT(got, expected)                                                                             \
    do {                                                                                                     \
        int64_t check_got = (int64_t)(got), check_expected = (int64_t)(expected);                            \
        if (check_got != check_expected)                                                                     \
            fail_msg("%s is %lld, expected %lld", #got, (long long)check_got, (long long)check_expected);    \
    } while (0)

/* The same double, bit for bit, except that one NaN is as good as another. */
#define CHECK_DOUBLE(got, expected)                                                                          \
    do {                                                                                                     \
        double check_got = (got), check_expected = (expected);                                               \
        if (!check_same_double(check_got, check_expected))                                                   \
            fail_msg("%s is %.17g, expected %.17g", #got, check_got, check_expected);                        \
    } while (0)

#define CHECK_NEAR(got, expected, tolerance)                                                                 \
    do {                                                                                                     \
        double check_got = (got), check_expected = (expected), check_within = (tolerance);                   \
        if (!(fabs(check_got - check_expected) <= check_within))                                             \
            fail_msg("%s is %.17g, expected %.17g within %g", #got, check_got, check_expected,               \
                     check_within);                                                                          \
    } while (0)

#define CHECK_TEXT(got, expected)                                                                            \
    do {                                                                                                     \
        const char *check_got = (got), *check_expected = (expected);                                         \
        if (!check_got || strcmp(check_got, check_expected) != 0)                                            \
            fail_msg("%s is\n  '%s', expected\n  '%s'", #got, check_got ? check_got : "(NULL)",              \
                     check_expected);                                                                        \
    } while (0)

/* A call that must succeed; `error` is a struct err. */
#define CHECK_OK(call, error)                                                                                \
    do {                                                                                                     \
        wn_status check_status = (call);                                                                     \
        if (check_status) fail_msg("%s gave %d: %s", #call, check_status, (error).text);                     \
    } while (0)

static inline bool check_same_double(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

/* ---- random numbers of every size ---- */

static inline double check_uniform(struct rng *rng, double low, double high)
{
    return low + wni_rng_uniform(rng) * (high - low);
}

static inline int check_between(struct rng *rng, int low, int high) /* both included */
{
    return low + (int)wni_rng_below(rng, (uint64_t)(high - low + 1));
}

static inline bool check_chance(struct rng *rng, int percent)
{
    return check_between(rng, 1, 100) <= percent;
}

/* 10^x for x uniform between the two: every order of magnitude is as likely. */
static inline double check_magnitude(struct rng *rng, double low, double high)
{
    return wni_exp(check_uniform(rng, low, high) * 2.302585092994046);
}

/* ---- random parameters ---- */

enum { CHECK_LABELS_MAX = 12, CHECK_LABEL_MAX = 32 };

/* A declaration with the storage for its texts; not to be copied. */
struct check_decl {
    struct param_decl decl;
    char name[16];
    char texts[CHECK_LABELS_MAX][CHECK_LABEL_MAX];
    const char *labels[CHECK_LABELS_MAX];
};

/* Linear bounds: everyday ones, huge, tiny, narrow next to large, of either sign, with all 17 digits. */
static inline void check_linear_range(struct rng *rng, double *min, double *max)
{
    double sign = check_chance(rng, 30) ? -1 : 1;
    switch (check_between(rng, 0, 4)) {
    case 0:
        *min = check_between(rng, -30, 30) / 10.0, *max = *min + check_between(rng, 1, 50) / 10.0;
        break;
    case 1:
        *min = sign * check_magnitude(rng, -250, 290), *max = *min + check_magnitude(rng, -250, 290);
        break;
    case 2:
        *min = sign * check_magnitude(rng, -5, 15), *max = *min + fabs(*min) * check_magnitude(rng, -9.9, 0);
        break;
    case 3:
        *min = -check_magnitude(rng, -8, 8), *max = check_magnitude(rng, -8, 8);
        break;
    default:
        *min = 0, *max = check_magnitude(rng, -280, 290);
        break;
    }
}

static inline void check_log_range(struct rng *rng, double *min, double *max)
{
    switch (check_between(rng, 0, 4)) {
    case 0:
        *min = 1e-300, *max = 1e300;
        break;
    case 1:
        *min = 1e-8, *max = 9.8;
        break;
    case 2:
        *min = check_magnitude(rng, -300, 300), *max = check_magnitude(rng, -300, 300);
        break;
    case 3:
        *min = check_magnitude(rng, -12, 12), *max = *min * (1 + check_magnitude(rng, -9.9, 1));
        break;
    default:
        *min = check_magnitude(rng, -6, 0), *max = check_magnitude(rng, 0, 6);
        break;
    }
}

static inline double check_float_step(struct rng *rng, double range)
{
    static const double everyday[] = {0.1, 0.05, 0.25, 0.5, 1, 1.0 / 3};
    if (check_chance(rng, 50)) return everyday[check_between(rng, 0, 5)];
    return check_chance(rng, 50) ? range / check_between(rng, 1, 1000) : range * check_magnitude(rng, -8, 0);
}

static inline void check_int_range(struct rng *rng, struct param_decl *d)
{
    bool small = check_chance(rng, 50);
    double low = d->scale == WN_LOG ? 0 : small ? -20 : -0x1p45, high = small ? 100 : 0x1p45;
    d->min =
        rint(d->scale == WN_LOG ? check_magnitude(rng, 0, small ? 2 : 13.5) : check_uniform(rng, low, high));
    d->max = rint(d->scale == WN_LOG && check_chance(rng, 50) ? check_magnitude(rng, 0, 13.5)
                                                              : check_uniform(rng, low, high));
    if (check_chance(rng, 10)) d->max = 0x1p45;
    if (d->max < d->min) d->max = d->min + check_between(rng, 1, 10);
    if (check_chance(rng, 40)) d->step = rint(1 + (d->max - d->min) * check_magnitude(rng, -14, 0));
}

static inline void check_labels(struct rng *rng, struct check_decl *c)
{
    struct param_decl *d = &c->decl;
    d->n_labels = d->kind == PARAM_CONSTANT ? 1 : (size_t)check_between(rng, 1, CHECK_LABELS_MAX);
    d->labels = c->labels;
    bool numbers = d->kind == PARAM_ORDINAL && check_chance(rng, 70);
    if (numbers && check_chance(rng, 50)) d->scale = WN_LOG;
    double number = d->scale == WN_LOG ? check_magnitude(rng, -30, 0) : check_uniform(rng, -50, 50);
    for (size_t i = 0; i < d->n_labels; i++) {
        c->labels[i] = c->texts[i];
        if (numbers)
            snprintf(c->texts[i], CHECK_LABEL_MAX, "%.15g", number);
        else
            snprintf(c->texts[i], CHECK_LABEL_MAX, "word %zu", i);
        number += d->scale == WN_LOG ? number * check_magnitude(rng, -9, 3) : check_magnitude(rng, -5, 3);
    }
    d->text_values = numbers && d->scale == WN_LINEAR && check_chance(rng, 20);
}

static inline void check_random_decl(struct rng *rng, enum param_kind kind, struct check_decl *c)
{
    *c = (struct check_decl){.decl = {.kind = kind}};
    struct param_decl *d = &c->decl;
    if (kind == PARAM_FLOAT || kind == PARAM_INT) d->scale = check_chance(rng, 50) ? WN_LOG : WN_LINEAR;
    if (kind == PARAM_FLOAT) {
        (d->scale == WN_LOG ? check_log_range : check_linear_range)(rng, &d->min, &d->max);
        if (check_chance(rng, 30)) d->step = check_float_step(rng, d->max - d->min);
    } else if (kind == PARAM_INT) {
        check_int_range(rng, d);
    } else if (kind != PARAM_BOOL) {
        check_labels(rng, c);
    }
}

/* Adds a random parameter of this kind; draws again while the declaration is refused. */
static inline const struct param *check_add_random(struct space *space, struct rng *rng, enum param_kind kind)
{
    for (int attempt = 0; attempt < 1000; attempt++) {
        struct check_decl c;
        check_random_decl(rng, kind, &c);
        snprintf(c.name, sizeof c.name, "p%zu", space->n);
        c.decl.name = c.name;
        if (wni_space_add(space, &c.decl, NULL) == WN_OK) return &space->params[space->n - 1];
    }
    fail_msg("no declaration of kind %d was accepted", kind);
    return NULL;
}

/* Adds a parameter that must be accepted. */
static inline void check_add(struct space *space, struct param_decl decl)
{
    struct err err = {0};
    CHECK_OK(wni_space_add(space, &decl, &err), err);
}

/* n parameters of any kind.  The space is initialised here. */
static inline void check_random_space(struct space *space, struct rng *rng, size_t n)
{
    wni_space_init(space);
    while (space->n < n)
        check_add_random(space, rng, (enum param_kind)wni_rng_below(rng, PARAM_CONSTANT + 1));
}

/* At most `size` configurations, at least 2, in up to 6 parameters. */
static inline void check_random_finite_space(struct space *space, struct rng *rng, uint64_t size)
{
    do {
        wni_space_init(space);
        for (int i = check_between(rng, 1, 6); i > 0; i--) {
            struct param_decl d = {.kind = PARAM_INT,
                                   .name = (const char *[]){"a", "b", "c", "d", "e", "f"}[i - 1]};
            enum param_kind kind = (enum param_kind)wni_rng_below(rng, PARAM_CONSTANT + 1);
            if (kind > PARAM_INT) {
                struct check_decl c;
                check_random_decl(rng, kind, &c);
                c.decl.name = d.name;
                wni_space_add(space, &c.decl, NULL);
                continue;
            }
            d.scale = check_chance(rng, 50) ? WN_LOG : WN_LINEAR;
            d.min = check_between(rng, 1, 5);
            d.max = d.min + check_between(rng, 1, 8);
            wni_space_add(space, &d, NULL);
        }
        if (space->size >= 2 && space->size <= size) return;
        wni_space_release(space);
    } while (true);
}

/* A value of the parameter, the unlikely ones included: both bounds and their neighbours. */
static inline double check_random_value(const struct param *p, struct rng *rng)
{
    double value = wni_param_sample(p, rng);
    if (p->count) return check_chance(rng, 50) ? value : wni_param_value_at(p, wni_rng_below(rng, p->count));
    double range = p->max - p->min, near = check_magnitude(rng, -17, -9);
    switch (check_between(rng, 0, 5)) {
    case 0:
        return check_chance(rng, 50) ? p->min : p->max;
    case 1:
        wni_param_canonical(p, fmin(p->max, p->min + range * near), &value);
        break;
    case 2:
        wni_param_canonical(p, fmax(p->min, p->max - range * near), &value);
        break;
    case 3:
        wni_param_canonical(p, fmin(p->max, p->min + fabs(p->min) * near), &value);
        break;
    case 4:
        wni_param_canonical(p, fmax(p->min, p->max - fabs(p->max) * near), &value);
        break;
    }
    return value;
}

static inline void check_random_config(const struct space *space, struct rng *rng, double *config)
{
    for (size_t i = 0; i < space->n; i++)
        config[i] = check_random_value(&space->params[i], rng);
}

/* Fails unless the value is one of the parameter's. */
static inline void check_in_space(const struct param *p, double value)
{
    double canonical = NAN;
    bool fine = wni_param_canonical(p, value, &canonical);
    CHECK(fine && canonical == value, "parameter kind %d, %.17g..%.17g: %.17g, canonical %.17g", p->kind,
          p->min, p->max, value, canonical);
}

/* ---- a log ---- */

/* An event that must be legal here. */
static inline void check_event(struct history *h, const struct event *e)
{
    struct err err = {0};
    CHECK_OK(wni_history_check(h, e, &err), err);
    CHECK_OK(wni_history_reserve(h, e, &err), err);
    wni_history_append(h, e);
}

/* ---- is a sample uniform? ---- */

/* Chi-square per degree of freedom may be off by `sigmas` of its standard deviation.  6: once in a billion.
 */
static inline void check_counts(const size_t *counts, const double *shares, size_t n, double sigmas)
{
    double total = 0, chi2 = 0, df = (double)n - 1;
    for (size_t i = 0; i < n; i++)
        total += (double)counts[i];
    for (size_t i = 0; i < n; i++) {
        double expected = total * shares[i], off = (double)counts[i] - expected;
        chi2 += off * off / expected;
    }
    CHECK(fabs(chi2 - df) <= sigmas * sqrt(2 * df) + sigmas * sigmas,
          "chi-square %g with %g degrees of freedom", chi2, df);
}

/* ---- temporary folders ---- */

enum { CHECK_PATH_MAX = 1024 };

static inline void check_tmp_make(char dir[CHECK_PATH_MAX])
{
    const char *parent = getenv("TMPDIR");
    snprintf(dir, CHECK_PATH_MAX, "%s/winnow-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(dir)) fail_msg("cannot make a folder like %s", dir);
}

/* Writes dir/name and gives its path, valid until the next call. */
static inline const char *check_tmp_write(const char *dir, const char *name, const void *bytes, size_t n)
{
    static char path[CHECK_PATH_MAX];
    CHECK(strlen(dir) + strlen(name) + 2 < sizeof path, "%s/%s", dir, name);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "wb");
    if (!file) fail_msg("cannot write %s", path);
    size_t written = n ? fwrite(bytes, 1, n, file) : 0;
    if (fclose(file) != 0 || written != n) fail_msg("cannot write %s", path);
    return path;
}

/* Removes the folder and all that is in it. */
static inline void check_tmp_remove(const char *dir)
{
    char path[CHECK_PATH_MAX];
    DIR *listing = opendir(dir);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (snprintf(path, sizeof path, "%s/%s", dir, entry->d_name) >= (int)sizeof path) continue;
        if (remove(path) != 0) check_tmp_remove(path);
    }
    if (listing) closedir(listing);
    rmdir(dir);
}

#endif
