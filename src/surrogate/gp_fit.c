/* gp_fit.c -- maximum a posteriori hyperparameters by bounded L-BFGS from a few starts.
 *
 * Bounds and initial values are those of the authors' code (Syne Tune).  Priors are densities of the numbers
 * searched over, logarithms of all but the mean, and firmer than the authors': theirs leave bandwidths free
 * and pull the noise to its lower bound, so that 16 to 64 observations are interpolated with great
 * confidence. These halve the calibration error there and lower the error too (docs/adr/0010). */
#include "surrogate/gp.h"

#include "num/minimize.h"
#include "num/portable.h"

#include <math.h>
#include <string.h>

/* Everything but the mean is a logarithm. */
struct slot {
    double initial, low, high;
};

static const struct slot BANDWIDTH = {1, 1e-4, 100}, SCALE = {1, 1e-3, 1e3}, NOISE = {1e-3, 1e-9, 1e6},
                         CURVE[3] = {{1, 1e-6, 250}, {0.5, 1e-4, 50}, {0.5, 1e-4, 1}};
static const double MEAN_BOUND = 10;

/* Normal priors of the logarithm of an inverse bandwidth, of the logarithm of the scale, of the mean: all
 * about 0, since rows lie in the unit cube and targets are normalised.  Gamma prior of the noise variance,
 * mean 0.1. */
static const double BANDWIDTH_DEVIATION = 1, SCALE_DEVIATION = 1, MEAN_DEVIATION = 1, GAMMA_SHAPE = 0.1,
                    GAMMA_RATE = 1;

/* ---- the search vector: bandwidths, noise, curve, then scale and mean of each data set ---- */

struct fit {
    const struct gp_data *sets;
    size_t n_sets, width, n_shared, n;
    bool curve;
    struct gp_work work;
    double *theta, *gradient; /* of one set */
};

static void set_theta(const struct fit *f, const double *v, size_t set, double *theta)
{
    size_t width = f->width;
    memcpy(theta, v, width * sizeof *v);
    theta[wni_gp_slot_noise(width)] = v[width];
    if (f->curve) memcpy(theta + wni_gp_slot_curve(width), v + width + 1, 3 * sizeof *v);
    theta[wni_gp_slot_scale(width)] = v[f->n_shared + 2 * set];
    theta[wni_gp_slot_mean(width)] = v[f->n_shared + 2 * set + 1];
}

static void add_gradient(const struct fit *f, size_t set, const double *gradient, double *out)
{
    size_t width = f->width;
    for (size_t d = 0; d < width; d++)
        out[d] += gradient[d];
    out[width] += gradient[wni_gp_slot_noise(width)];
    for (size_t k = 0; f->curve && k < 3; k++)
        out[width + 1 + k] += gradient[wni_gp_slot_curve(width) + k];
    out[f->n_shared + 2 * set] += gradient[wni_gp_slot_scale(width)];
    out[f->n_shared + 2 * set + 1] += gradient[wni_gp_slot_mean(width)];
}

/* ---- priors ---- */

static double normal_prior(double x, double deviation, double *by)
{
    double q = x / deviation;
    *by += q / deviation;
    return 0.5 * q * q;
}

static double noise_prior(double log_noise, double *by)
{
    double noise = wni_exp(log_noise);
    *by += GAMMA_RATE * noise - GAMMA_SHAPE;
    return GAMMA_RATE * noise - GAMMA_SHAPE * log_noise;
}

/* Bandwidths and noise. */
static double shared_prior(size_t width, const double *v, double *by)
{
    double value = noise_prior(v[width], &by[width]);
    for (size_t d = 0; d < width; d++)
        value += normal_prior(v[d], BANDWIDTH_DEVIATION, &by[d]);
    return value;
}

/* Scale and mean. */
static double own_prior(const double *v, double *by)
{
    return normal_prior(v[0], SCALE_DEVIATION, &by[0]) + normal_prior(v[1], MEAN_DEVIATION, &by[1]);
}

/* ---- the search ---- */

static double objective(void *context, const double *v, double *gradient)
{
    struct fit *f = context;
    memset(gradient, 0, f->n * sizeof *gradient);
    double value = shared_prior(f->width, v, gradient);
    for (size_t k = 0; k < f->n_sets; k++) {
        size_t at = f->n_shared + 2 * k;
        value += own_prior(v + at, gradient + at);
        set_theta(f, v, k, f->theta);
        value += wni_gp_likelihood(&f->work, &f->sets[k], f->theta, f->gradient);
        add_gradient(f, k, f->gradient, gradient);
    }
    return value;
}

struct box {
    double *initial, *low, *high;
};

static void put(struct box *b, size_t at, const struct slot *s)
{
    b->initial[at] = wni_log(s->initial);
    b->low[at] = wni_log(s->low);
    b->high[at] = wni_log(s->high);
}

static void fill_box(const struct fit *f, struct box *b)
{
    for (size_t d = 0; d < f->width; d++)
        put(b, d, &BANDWIDTH);
    put(b, f->width, &NOISE);
    for (size_t k = 0; f->curve && k < 3; k++)
        put(b, f->width + 1 + k, &CURVE[k]);
    for (size_t k = 0; k < f->n_sets; k++) {
        size_t at = f->n_shared + 2 * k;
        put(b, at, &SCALE);
        b->initial[at + 1] = 0;
        b->low[at + 1] = -MEAN_BOUND;
        b->high[at + 1] = MEAN_BOUND;
    }
}

void wni_gp_initial(size_t width, size_t n_levels, double *theta)
{
    for (size_t d = 0; d < width; d++)
        theta[d] = wni_log(BANDWIDTH.initial);
    theta[wni_gp_slot_scale(width)] = wni_log(SCALE.initial);
    theta[wni_gp_slot_noise(width)] = wni_log(NOISE.initial);
    theta[wni_gp_slot_mean(width)] = 0;
    for (size_t k = 0; n_levels && k < 3; k++)
        theta[wni_gp_slot_curve(width) + k] = wni_log(CURVE[k].initial);
}

/* The first start is the initial point, the others are that with every number moved by a normal draw. */
static wn_status search(struct fit *f, const struct gp_fit_options *options, const struct box *b,
                        struct rng *rng, double *v, double *best)
{
    struct minimize_limits limits = {.evaluations = options->evaluations, .tolerance = options->tolerance};
    double least = INFINITY, value;
    wn_status st = WN_OK;
    for (int start = 0; start < options->starts && !st; start++) {
        for (size_t i = 0; i < f->n; i++) {
            double moved = b->initial[i] + (start ? wni_rng_normal(rng) : 0);
            v[i] = fmin(fmax(moved, b->low[i]), b->high[i]);
        }
        st = wni_minimize(objective, f, f->n, b->low, b->high, &limits, v, &value);
        if (st || !(value < least)) continue;
        least = value;
        memcpy(best, v, f->n * sizeof *v);
    }
    return st;
}

wn_status wni_gp_fit(const struct gp_data *sets, size_t n_sets, const struct gp_fit_options *options,
                     struct rng *rng, double *theta, struct arena *scratch)
{
    size_t width = sets->width, slots = wni_gp_slots(width, sets->n_levels), n_max = 0;
    struct fit f = {.sets = sets, .n_sets = n_sets, .width = width, .curve = sets->n_levels > 0};
    f.n_shared = width + 1 + (f.curve ? 3 : 0);
    f.n = f.n_shared + 2 * n_sets;
    for (size_t k = 0; k < n_sets; k++)
        n_max = sets[k].n > n_max ? sets[k].n : n_max;
    double *numbers = arena_new(scratch, double, 5 * f.n + 2 * slots);
    if (!numbers || wni_gp_work_init(&f.work, n_max, width, sets->n_levels, scratch)) return WN_ENOMEM;
    struct box b = {numbers, numbers + f.n, numbers + 2 * f.n};
    double *v = numbers + 3 * f.n, *best = numbers + 4 * f.n;
    f.theta = numbers + 5 * f.n;
    f.gradient = f.theta + slots;
    fill_box(&f, &b);
    memcpy(best, b.initial, f.n * sizeof *best);
    wn_status st = search(&f, options, &b, rng, v, best);
    for (size_t k = 0; k < n_sets; k++)
        set_theta(&f, best, k, theta + k * slots);
    return st;
}
