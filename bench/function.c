/* function.c -- black boxes in closed form: test functions whose optimum is known, and a family of learning
 * curves.
 *
 * One line of `functions` per task.  The plain ones have a single level and take a second per evaluation;
 * Branin (1972) and Hartmann (1973) are the forms given by Dixon and Szego, Towards Global Optimization 2
 * (1978).  hetero-sine is the illustration of Salinas et al., "Optimizing hyperparameters with conformal
 * quantile regression" (2023): pure noise whose width depends on x, so only a model of the quantiles has
 * anything to find. */
#include "bench/function.h"

#include "base/mem.h"
#include "base/number.h"
#include "core/streams.h"
#include "num/portable.h"
#include "num/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.141592653589793

enum { ROSENBROCK_MAX = 100, BUDGET = 200 /* full evaluations, as in the paper's protocol */ };

struct function {
    const char *name;      /* of the task; ending in '-': followed by the number of parameters */
    size_t n;              /* parameters; 0: in the name */
    double min[2], max[2]; /* of x1 and x2; all further ones are like x2 */
    double best, worst;    /* NAN: not known */
    double (*value)(const double *x, size_t n, uint64_t seed);
};

static double square(double x)
{
    return x * x;
}

static double branin(const double *x, size_t n, uint64_t seed)
{
    (void)n, (void)seed;
    double valley = x[1] - 5.1 / (4 * PI * PI) * square(x[0]) + 5 / PI * x[0] - 6;
    return square(valley) + 10 * (1 - 1 / (8 * PI)) * wni_cos(x[0]) + 10;
}

static double hartmann6(const double *x, size_t n, uint64_t seed)
{
    static const double weight[4] = {1.0, 1.2, 3.0, 3.2};
    static const double steep[4][6] = {{10, 3, 17, 3.5, 1.7, 8},
                                       {0.05, 10, 17, 0.1, 8, 14},
                                       {3, 3.5, 1.7, 10, 17, 8},
                                       {17, 8, 0.05, 10, 0.1, 14}};
    static const double centre[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                                        {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                                        {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                                        {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
    (void)seed;
    double sum = 0;
    for (size_t i = 0; i < 4; i++) {
        double d = 0;
        for (size_t j = 0; j < n; j++)
            d += steep[i][j] * square(x[j] - centre[i][j]);
        sum -= weight[i] * wni_exp(-d);
    }
    return sum;
}

static double rosenbrock(const double *x, size_t n, uint64_t seed)
{
    (void)seed;
    double sum = 0;
    for (size_t i = 0; i + 1 < n; i++)
        sum += 100 * square(x[i + 1] - square(x[i])) + square(1 - x[i]);
    return sum;
}

static double hetero_sine(const double *x, size_t n, uint64_t seed)
{
    (void)n;
    struct rng rng = wni_rng_stream(seed, 0, STREAM_NOISE);
    return (square(wni_sin(x[0])) + 0.3) * wni_rng_normal(&rng);
}

static const struct function functions[] = {
    {"branin", 2, {-5, 0}, {10, 15}, 0.39788735772973816, 308.12909601160663, branin},
    {"hartmann6", 6, {0, 0}, {1, 1}, -3.322368011415515, NAN, hartmann6},
    {"rosenbrock-", 0, {-5, -5}, {10, 10}, 0, NAN, rosenbrock},
    {"hetero-sine", 1, {0, 0}, {2 * PI, 0}, NAN, NAN, hetero_sine},
};
static const char *const listed[] = {"branin",        "hartmann6",   "rosenbrock-2",     "rosenbrock-5",
                                     "rosenbrock-10", "hetero-sine", "synthetic-curves", NULL};

/* The function of a task's name; *n is how many parameters it has. */
static const struct function *find(const char *name, size_t *n)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct function *f = &functions[i];
        size_t length = strlen(f->name);
        int64_t number;
        *n = f->n;
        if (f->n && !strcmp(name, f->name)) return f;
        if (f->n || strncmp(name, f->name, length) != 0 || name[length] < '1' || name[length] > '9') continue;
        if (!wni_parse_int(name + length, &number) || number < 2 || number > ROSENBROCK_MAX) continue;
        *n = (size_t)number;
        return f;
    }
    return NULL;
}

static bool describe(const char *name, struct task *out)
{
    *out = (struct task){.name = name,
                         .family = "function",
                         .kind = "function",
                         .metric = "value",
                         .resource = "evaluation",
                         .honesty = "synthetic",
                         .n_levels = 1,
                         .max_resource = 1,
                         .limit_resource = BUDGET};
    if (!strcmp(name, "synthetic-curves")) {
        wni_synthetic_describe(out);
        out->limit_resource = BUDGET * out->max_resource;
        return true;
    }
    const struct function *f = find(name, &out->n_params);
    if (!f) return false;
    out->best = f->best;
    out->worst = f->worst;
    return true;
}

/* ---- the black box ---- */

struct function_box {
    struct box box;
    const struct function *function;
};

struct evaluation {
    double value;
};

static wn_status open_curve(const struct blackbox *base, const double *config, uint64_t seed, void *state,
                            struct err *err)
{
    (void)err;
    const struct function_box *f = (const struct function_box *)base;
    ((struct evaluation *)state)->value = f->function->value(config, base->space.n, seed);
    return WN_OK;
}

static void read_curve(const struct blackbox *base, void *state, size_t level, double *value, double *seconds)
{
    *value = ((const struct evaluation *)state)->value;
    *seconds = base->levels[level];
}

static void close_function(struct blackbox *base)
{
    wni_box_release(&((struct function_box *)base)->box);
    free(base);
}

static const struct blackbox_ops function_ops = {
    .open_curve = open_curve, .read_curve = read_curve, .close = close_function};

static wn_status add_parameters(struct space *space, const struct function *f, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "x%zu", i + 1);
        size_t like = i == 0 ? 0 : 1;
        struct param_decl decl = {
            .name = name, .kind = PARAM_FLOAT, .min = f->min[like], .max = f->max[like]};
        wn_status st = wni_space_add(space, &decl, err);
        if (st) return st;
    }
    return WN_OK;
}

static wn_status open_plain(const struct task *task, struct blackbox **out, struct err *err)
{
    static const double only_level[] = {1};
    struct function_box *f = wni_new(struct function_box, 1);
    if (!f) return wni_fail_memory(err);
    size_t n;
    f->function = find(task->name, &n);
    wn_status st = wni_box_init(&f->box, task, &function_ops, err);
    if (!st) st = add_parameters(&f->box.base.space, f->function, n, err);
    f->box.base.levels = only_level;
    f->box.base.n_levels = 1;
    f->box.base.curve_size = sizeof(struct evaluation);
    if (st)
        close_function(&f->box.base);
    else
        *out = &f->box.base;
    return st;
}

static wn_status open_function(const struct task *task, const struct family *family, struct blackbox **out,
                               struct err *err)
{
    (void)family;
    return strcmp(task->name, "synthetic-curves") ? open_plain(task, out, err)
                                                  : wni_synthetic_open(task, out, err);
}

const struct blackbox_kind wni_blackbox_function = {
    .name = "function", .builtin = listed, .describe = describe, .open = open_function};
