/* synthetic.c -- learning curves in closed form, to test and time multi-fidelity methods without any data.
 *
 * A pretended network is trained for 81 epochs; its validation error is
 *
 *     error(r) = end + gap * (r^-decay - 81^-decay) + noise(seed, r)
 *
 * where `end` (the error after the last epoch), `gap` and `decay` depend on the configuration.  A large
 * learning rate falls fast but ends badly, a large network starts late and ends well, so curves cross, and
 * judging early is useful but not safe. One configuration in a hundred, where learning rate and momentum are
 * both near their upper ends, diverges to NaN after some epochs.  An epoch takes longer for wider and deeper
 * networks.
 *
 * Reading a level costs one exponential and one block of random bits, about 40 ns: the simulator must be able
 * to deliver a million reports per second. */
#include "bench/function.h"

#include "base/mem.h"
#include "core/streams.h"
#include "num/portable.h"
#include "num/rng.h"

#include <math.h>
#include <stdlib.h>

enum { EPOCHS = 81, N_PARAMETERS = 5 };
enum { LEARNING_RATE, MOMENTUM, UNITS, DEPTH, ACTIVATION };

static const double LR_MIN = 1e-4, LR_MAX = 1;
static const double MOMENTUM_MAX = 0.99;
static const double UNITS_MIN = 16, UNITS_MAX = 1024;
static const double DEPTH_MAX = 6;
static const double BEST_END =
    0.1; /* reached by 256 units, depth 3, relu and a fitting pair of learning rate and momentum */
static const double NOISE =
    0.004; /* the noise stays strictly within +-NOISE; its standard deviation is 0.29 of that */
static const double EDGE =
    1.8585786437626906; /* 2 - sqrt(0.02): the corner beyond it is 1 % of the unit square */

struct synthetic {
    struct box box;
    double levels[EPOCHS];
    double log_level[EPOCHS];
};

struct curve_state {
    double floor, gap, decay; /* error(r) = floor + gap exp(-decay log r) + noise */
    double epoch_seconds;
    double diverges_at; /* first epoch that is NaN; above 81: never */
    uint32_t key[2];    /* of the noise */
};

void wni_synthetic_describe(struct task *task)
{
    task->metric = "validation_error";
    task->resource = "epoch";
    task->n_params = N_PARAMETERS;
    task->n_levels = EPOCHS;
    task->max_resource = EPOCHS;
    task->best = BEST_END - NOISE;
    task->worst = NAN;
}

static double square(double x)
{
    return x * x;
}

static wn_status open_curve(const struct blackbox *base, const double *config, uint64_t seed, void *state,
                            struct err *err)
{
    static const double handicap[] = {0, 0.02, 0.01}; /* relu, tanh, gelu */
    (void)err;
    const struct synthetic *s = (const struct synthetic *)base;
    struct curve_state *c = state;
    double lr = wni_log(config[LEARNING_RATE] / LR_MIN) / 9.210340371976184; /* log 1e4: from 0 to 1 */
    double momentum = config[MOMENTUM] / MOMENTUM_MAX;
    double units = wni_log(config[UNITS] / UNITS_MIN) / 4.1588830833596715; /* log 64: from 0 to 1 */
    double depth = (config[DEPTH] - 1) / (DEPTH_MAX - 1);
    double step = lr + 0.3 * momentum; /* momentum lengthens the steps */
    double end = BEST_END + 0.8 * square(step - 0.7) + 0.15 * square(units - 2.0 / 3) +
                 0.1 * square(depth - 0.4) + handicap[(size_t)config[ACTIVATION]];
    c->decay = 0.35 + 0.75 * step - 0.15 * depth;
    c->gap = 0.5 + 0.15 * units + 0.1 * depth - 0.1 * lr;
    c->floor = end - c->gap * wni_exp(-c->decay * s->log_level[EPOCHS - 1]);
    c->epoch_seconds = 0.2 + 1.8 * (config[UNITS] / UNITS_MAX) * (config[DEPTH] / DEPTH_MAX);
    double excess = (lr + momentum - EDGE) / (2 - EDGE); /* 0 at the edge, 1 in the corner */
    c->diverges_at = excess > 0 ? 1 + floor(30 * (1 - excess)) : INFINITY;
    c->key[0] = (uint32_t)seed;
    c->key[1] = (uint32_t)(seed >> 32);
    return WN_OK;
}

/* The sum of four uniform words, centred: nearly normal, and bounded. */
static double noise(const uint32_t key[2], size_t level)
{
    uint32_t words[4];
    wni_philox4x32((uint32_t[]){(uint32_t)level, STREAM_NOISE, 0, 0}, key, words);
    double sum = (double)words[0] + (double)words[1] + (double)words[2] + (double)words[3];
    return NOISE * (sum * 0x1p-33 - 1);
}

static void read_curve(const struct blackbox *base, void *state, size_t level, double *value, double *seconds)
{
    const struct synthetic *s = (const struct synthetic *)base;
    const struct curve_state *c = state;
    *seconds = s->levels[level] * c->epoch_seconds;
    *value = s->levels[level] < c->diverges_at
                 ? c->floor + c->gap * wni_exp(-c->decay * s->log_level[level]) + noise(c->key, level)
                 : NAN;
}

static void close_synthetic(struct blackbox *base)
{
    wni_box_release(&((struct synthetic *)base)->box);
    free(base);
}

static const struct blackbox_ops synthetic_ops = {
    .open_curve = open_curve, .read_curve = read_curve, .close = close_synthetic};

static wn_status add_parameters(struct space *space, struct err *err)
{
    static const char *const activations[] = {"relu", "tanh", "gelu"};
    const struct param_decl decls[N_PARAMETERS] = {
        [LEARNING_RATE] = {.name = "lr", .kind = PARAM_FLOAT, .scale = WN_LOG, .min = LR_MIN, .max = LR_MAX},
        [MOMENTUM] = {.name = "momentum", .kind = PARAM_FLOAT, .min = 0, .max = MOMENTUM_MAX},
        [UNITS] = {.name = "units", .kind = PARAM_INT, .scale = WN_LOG, .min = UNITS_MIN, .max = UNITS_MAX},
        [DEPTH] = {.name = "depth", .kind = PARAM_INT, .min = 1, .max = DEPTH_MAX},
        [ACTIVATION] = {.name = "activation",
                        .kind = PARAM_CATEGORICAL,
                        .labels = activations,
                        .n_labels = 3},
    };
    wn_status st = WN_OK;
    for (size_t i = 0; i < N_PARAMETERS && !st; i++)
        st = wni_space_add(space, &decls[i], err);
    return st;
}

wn_status wni_synthetic_open(const struct task *task, struct blackbox **out, struct err *err)
{
    struct synthetic *s = wni_new(struct synthetic, 1);
    if (!s) return wni_fail_memory(err);
    wn_status st = wni_box_init(&s->box, task, &synthetic_ops, err);
    if (!st) st = add_parameters(&s->box.base.space, err);
    for (size_t i = 0; i < EPOCHS; i++) {
        s->levels[i] = (double)(i + 1);
        s->log_level[i] = wni_log(s->levels[i]);
    }
    s->box.base.levels = s->levels;
    s->box.base.n_levels = EPOCHS;
    s->box.base.curve_size = sizeof(struct curve_state);
    if (st)
        close_synthetic(&s->box.base);
    else
        *out = &s->box.base;
    return st;
}
