/* train.c -- a multilayer perceptron that learns which arm of a spiral a point lies on.
 *
 * It is an ordinary training program: it knows nothing of Winnow but a line it prints after each epoch,
 *
 *     epoch=3 val_loss=0.412 val_error=0.12
 *
 * and a folder for its checkpoint, which it finds in WINNOW_CHECKPOINT_DIR.  Started again with the same
 * folder it goes on where it was.
 *
 *     cc -O2 train.c -lm -o train && ./train --lr 0.1 --epochs 27
 *
 * Points, starting weights and the order of training come from --seed, so the same options print the same
 * lines. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 6, ARMS = 4, TRAIN = 2000, VALID = 800, UNITS_MAX = 64, LAYERS_MAX = 4, WIDTH = UNITS_MAX };

/* ---- random numbers (splitmix64) ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(1 - uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

/* ---- data ---- */

struct point {
    double x[INPUTS];
    int arm;
};

/* Arms that wind around the origin, blurred a little, and some inputs that mean nothing: easy to see, not so
 * easy to learn. */
static void make_points(struct point *points, int n, uint64_t seed)
{
    for (int i = 0; i < n; i++) {
        int arm = i % ARMS;
        double along = 0.1 + 0.9 * uniform(&seed);
        double angle = 6.283185307179586 * (0.7 * along + (double)arm / ARMS) + 0.25 * normal(&seed);
        points[i].x[0] = 2 * along * cos(angle);
        points[i].x[1] = 2 * along * sin(angle);
        for (int j = 2; j < INPUTS; j++)
            points[i].x[j] = normal(&seed);
        points[i].arm = arm;
    }
}

/* ---- the network ---- */

struct options {
    double lr, momentum, decay, weight_decay, dropout, init;
    int units, layers, batch, epochs, seed;
    int tanh; /* activation: 1 tanh, 0 rectified linear */
};

struct layer {
    int in, out;
    double weights[WIDTH][WIDTH + 1]; /* a row per unit, its bias last */
    double velocity[WIDTH][WIDTH + 1];
    double gradient[WIDTH][WIDTH + 1];
};

struct network {
    int n; /* layers, the output included */
    int epoch;
    uint64_t random;
    struct layer layers[LAYERS_MAX];
};

/* What one point leaves behind on its way forward. */
struct pass {
    double values[LAYERS_MAX + 1][WIDTH];
    double slopes[LAYERS_MAX][WIDTH]; /* of the activations, dropout included */
};

static void init_network(struct network *net, const struct options *o)
{
    memset(net, 0, sizeof *net);
    net->n = o->layers + 1;
    net->random = (uint64_t)o->seed * 7919 + 1;
    for (int k = 0; k < net->n; k++) {
        struct layer *l = &net->layers[k];
        l->in = k == 0 ? INPUTS : o->units;
        l->out = k == net->n - 1 ? ARMS : o->units;
        for (int i = 0; i < l->out; i++)
            for (int j = 0; j < l->in; j++)
                l->weights[i][j] = o->init * normal(&net->random) / sqrt(l->in);
    }
}

static double activate(double x, const struct options *o, double *slope)
{
    if (!o->tanh) {
        *slope = x > 0;
        return x > 0 ? x : 0;
    }
    double y = tanh(x);
    *slope = 1 - y * y;
    return y;
}

static void forward(struct network *net, const struct options *o, const double *x, int training,
                    struct pass *pass)
{
    memcpy(pass->values[0], x, INPUTS * sizeof *x);
    for (int k = 0; k < net->n; k++) {
        const struct layer *l = &net->layers[k];
        for (int i = 0; i < l->out; i++) {
            double sum = l->weights[i][l->in], slope = 1;
            for (int j = 0; j < l->in; j++)
                sum += l->weights[i][j] * pass->values[k][j];
            if (k < net->n - 1) {
                sum = activate(sum, o, &slope);
                if (training && o->dropout > 0) {
                    double keep = uniform(&net->random) < o->dropout ? 0 : 1 / (1 - o->dropout);
                    sum *= keep;
                    slope *= keep;
                }
            }
            pass->values[k + 1][i] = sum;
            pass->slopes[k][i] = slope;
        }
    }
}

/* Turns the outputs into probabilities and returns the cross-entropy. */
static double soften(double *outputs, int arm)
{
    double top = outputs[0], sum = 0;
    for (int i = 1; i < ARMS; i++)
        if (outputs[i] > top) top = outputs[i];
    for (int i = 0; i < ARMS; i++)
        sum += outputs[i] = exp(outputs[i] - top);
    for (int i = 0; i < ARMS; i++)
        outputs[i] /= sum;
    return -log(outputs[arm] > 1e-300 ? outputs[arm] : 1e-300);
}

static void backward(struct network *net, const struct pass *pass, double *error)
{
    for (int k = net->n - 1; k >= 0; k--) {
        struct layer *l = &net->layers[k];
        double below[WIDTH] = {0};
        for (int i = 0; i < l->out; i++) {
            double e = error[i] * pass->slopes[k][i];
            if (e == 0) continue;
            for (int j = 0; j < l->in; j++) {
                l->gradient[i][j] += e * pass->values[k][j];
                below[j] += e * l->weights[i][j];
            }
            l->gradient[i][l->in] += e;
        }
        memcpy(error, below, sizeof below);
    }
}

static void step(struct network *net, const struct options *o, double rate, int n)
{
    for (int k = 0; k < net->n; k++) {
        struct layer *l = &net->layers[k];
        for (int i = 0; i < l->out; i++)
            for (int j = 0; j <= l->in; j++) {
                double slope = l->gradient[i][j] / n + (j < l->in ? o->weight_decay * l->weights[i][j] : 0);
                l->velocity[i][j] = o->momentum * l->velocity[i][j] - rate * slope;
                l->weights[i][j] += l->velocity[i][j];
                l->gradient[i][j] = 0;
            }
    }
}

/* ---- an epoch ---- */

static void train_epoch(struct network *net, const struct options *o, const struct point *points)
{
    int order[TRAIN];
    double rate = o->lr * pow(o->decay, net->epoch);
    for (int i = 0; i < TRAIN; i++)
        order[i] = i;
    for (int i = TRAIN - 1; i > 0; i--) {
        int j = (int)(next_random(&net->random) % (uint64_t)(i + 1)), old = order[i];
        order[i] = order[j];
        order[j] = old;
    }
    for (int i = 0, filled = 0; i < TRAIN; i++) {
        const struct point *p = &points[order[i]];
        struct pass pass;
        forward(net, o, p->x, 1, &pass);
        double *outputs = pass.values[net->n], error[WIDTH] = {0};
        soften(outputs, p->arm);
        for (int c = 0; c < ARMS; c++)
            error[c] = outputs[c] - (c == p->arm);
        backward(net, &pass, error);
        if (++filled < o->batch && i + 1 < TRAIN) continue;
        step(net, o, rate, filled);
        filled = 0;
    }
    net->epoch++;
}

static void validate(struct network *net, const struct options *o, const struct point *points, double *loss,
                     double *wrong)
{
    *loss = *wrong = 0;
    for (int i = 0; i < VALID; i++) {
        struct pass pass;
        forward(net, o, points[i].x, 0, &pass);
        double *outputs = pass.values[net->n];
        *loss += soften(outputs, points[i].arm) / VALID;
        for (int c = 0; c < ARMS; c++)
            if (c != points[i].arm && !(outputs[c] < outputs[points[i].arm])) {
                *wrong += 1.0 / VALID;
                break;
            }
    }
}

/* ---- checkpoints ---- */

/* Written beside the old one and renamed: whoever is stopped in the middle still has a whole one. */
static void save(const struct network *net, const char *folder)
{
    char path[4096], fresh[4096];
    if (!folder) return;
    snprintf(path, sizeof path, "%s/network", folder);
    snprintf(fresh, sizeof fresh, "%s/network.new", folder);
    FILE *file = fopen(fresh, "wb");
    if (!file) return;
    int fine = fwrite(net, sizeof *net, 1, file) == 1;
    if (fclose(file) == 0 && fine) rename(fresh, path);
}

static void load(struct network *net, const char *folder)
{
    char path[4096];
    if (!folder) return;
    snprintf(path, sizeof path, "%s/network", folder);
    FILE *file = fopen(path, "rb");
    if (!file) return;
    struct network *saved = malloc(sizeof *saved);
    if (saved && fread(saved, sizeof *saved, 1, file) == 1) {
        *net = *saved;
        fprintf(stderr, "going on after epoch %d\n", net->epoch);
    }
    free(saved);
    fclose(file);
}

/* ---- options ---- */

static double number(const char *name, const char *text, double min, double max)
{
    char *end;
    double x = strtod(text, &end);
    if (*end || end == text || !(x >= min && x <= max)) {
        fprintf(stderr, "%s: expected a number from %g to %g, got '%s'\n", name, min, max, text);
        exit(2);
    }
    return x;
}

static void read_option(struct options *o, const char *name, const char *text)
{
    if (!strcmp(name, "--lr"))
        o->lr = number(name, text, 0, 1e6);
    else if (!strcmp(name, "--momentum"))
        o->momentum = number(name, text, 0, 1);
    else if (!strcmp(name, "--decay"))
        o->decay = number(name, text, 0, 1);
    else if (!strcmp(name, "--weight-decay"))
        o->weight_decay = number(name, text, 0, 1e6);
    else if (!strcmp(name, "--dropout"))
        o->dropout = number(name, text, 0, 0.99);
    else if (!strcmp(name, "--init"))
        o->init = number(name, text, 0, 1e6);
    else if (!strcmp(name, "--units"))
        o->units = (int)number(name, text, 1, UNITS_MAX);
    else if (!strcmp(name, "--layers"))
        o->layers = (int)number(name, text, 1, LAYERS_MAX - 1);
    else if (!strcmp(name, "--batch"))
        o->batch = (int)number(name, text, 1, TRAIN);
    else if (!strcmp(name, "--epochs"))
        o->epochs = (int)number(name, text, 1, 1e6);
    else if (!strcmp(name, "--seed"))
        o->seed = (int)number(name, text, 0, 1e9);
    else if (!strcmp(name, "--activation") && (!strcmp(text, "tanh") || !strcmp(text, "relu")))
        o->tanh = !strcmp(text, "tanh");
    else {
        fprintf(stderr, "unknown option %s %s\n", name, text);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    static struct network net;
    static struct point train[TRAIN], valid[VALID];
    struct options o = {.lr = 0.1,
                        .momentum = 0.9,
                        .decay = 1,
                        .init = 1,
                        .units = 32,
                        .layers = 2,
                        .batch = 32,
                        .epochs = 27,
                        .tanh = 1};
    for (int i = 1; i < argc; i += 2)
        read_option(&o, argv[i], i + 1 < argc ? argv[i + 1] : "");
    const char *folder = getenv("WINNOW_CHECKPOINT_DIR");
    make_points(train, TRAIN, 1);
    make_points(valid, VALID, 2);
    init_network(&net, &o);
    load(&net, folder);
    while (net.epoch < o.epochs) {
        double loss, wrong;
        train_epoch(&net, &o, train);
        validate(&net, &o, valid, &loss, &wrong);
        save(&net, folder); /* first the checkpoint, then the line: who reads it may pause us at once */
        printf("epoch=%d val_loss=%.6g val_error=%.6g\n", net.epoch, loss, wrong);
        fflush(stdout);
    }
    return 0;
}
