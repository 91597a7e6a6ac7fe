/* tiny_network.h -- a folder with a random network of the shape of yahpo-lcbench, small enough to be checked
 * by a slow one. */
#ifndef TESTS_UNIT_TINY_NETWORK_H
#define TESTS_UNIT_TINY_NETWORK_H

#include "tests/unit/box_world.h"

enum {
    CODES = 5,
    EMBEDDED = 3,
    NUMBERS = 8,
    INPUTS = EMBEDDED + NUMBERS,
    WIDTH = 6,
    HIDDEN = 7,
    LAYERS = 2,
    OUTPUTS = 6
};

struct tiny {
    char dir[CHECK_PATH_MAX];
    struct buf tensors; /* the list in weights.json */
    float weights[2048];
    size_t n;
    const float *embedding, *first_weight, *first_bias, *head_weight, *head_bias, *last[4];
    struct {
        const float *norm[4], *weight0, *bias0, *weight1, *bias1;
    } layer[LAYERS];
};

static const char tiny_json[] =
    "{\"family\": \"yahpo-lcbench\", \"kind\": \"network\", \"honesty\": \"surrogate\",\n"
    " \"parameters\": [{\"name\": \"num_layers\", \"type\": \"int\", \"min\": 1, \"max\": 5},\n"
    "  {\"name\": \"max_units\", \"type\": \"int\", \"min\": 64, \"max\": 1024, \"scale\": \"log\"},\n"
    "  {\"name\": \"batch_size\", \"type\": \"int\", \"min\": 16, \"max\": 512, \"scale\": \"log\"},\n"
    "  {\"name\": \"learning_rate\", \"type\": \"float\", \"min\": 0.0001, \"max\": 0.1, \"scale\": "
    "\"log\"},\n"
    "  {\"name\": \"weight_decay\", \"type\": \"float\", \"min\": 1e-5, \"max\": 0.1},\n"
    "  {\"name\": \"momentum\", \"type\": \"float\", \"min\": 0.1, \"max\": 0.99},\n"
    "  {\"name\": \"max_dropout\", \"type\": \"float\", \"min\": 0, \"max\": 1}],\n"
    " \"resource\": {\"name\": \"epoch\", \"levels\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, "
    "16, 17, 18, 19, 20,"
    " 25, 30, 35, 40, 50]},\n"
    " \"tasks\": [{\"name\": \"tiny\", \"instance\": \"b\", \"metric\": {\"name\": \"val_accuracy\", "
    "\"goal\": \"maximize\"}}]}";
static const char tiny_encoding[] =
    "{\"OpenML_task_id\": {\"#na#\": 0, \"a\": 1, \"b\": 3, \"beyond\": 5, \"word\": \"x\"}}";

/* Adds a tensor of normal weights; `positive` ones lie around 1. */
static inline const float *add_tensor(struct tiny *t, struct rng *rng, const char *name, size_t rows,
                                      size_t cols, bool positive)
{
    const float *at = t->weights + t->n;
    wni_buf_printf(&t->tensors, "%s{\"name\": \"%s\", \"shape\": [%zu", t->n ? ",\n" : "", name, rows);
    if (cols) wni_buf_printf(&t->tensors, ", %zu", cols);
    wni_buf_printf(&t->tensors, "], \"offset\": %zu}", t->n);
    for (size_t i = 0; i < rows * (cols ? cols : 1); i++)
        t->weights[t->n++] = (float)(positive ? 0.5 + wni_rng_uniform(rng) : 0.4 * wni_rng_normal(rng));
    CHECK(t->n <= 2048, "%zu weights", t->n);
    return at;
}

static inline void add_norm(struct tiny *t, struct rng *rng, const char *prefix, const float *out[4])
{
    static const char *const parts[] = {"weight", "bias", "running_mean", "running_var"};
    for (size_t i = 0; i < 4; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s.%s", prefix, parts[i]);
        out[i] = add_tensor(t, rng, name, WIDTH, 0, i == 3);
    }
}

static inline void make_tiny(struct tiny *t, uint64_t seed)
{
    struct rng rng = wni_rng_stream(seed, 0, 0);
    *t = (struct tiny){0};
    t->embedding = add_tensor(t, &rng, "embds_fct.0.weight", CODES, EMBEDDED, false);
    t->first_weight = add_tensor(t, &rng, "first_layer.weight", WIDTH, INPUTS, false);
    t->first_bias = add_tensor(t, &rng, "first_layer.bias", WIDTH, 0, false);
    for (size_t i = 0; i < LAYERS; i++) {
        char name[64];
        snprintf(name, sizeof name, "layers.%zu.norm", i);
        add_norm(t, &rng, name, t->layer[i].norm);
        snprintf(name, sizeof name, "layers.%zu.linear0.weight", i);
        t->layer[i].weight0 = add_tensor(t, &rng, name, (size_t)2 * HIDDEN, WIDTH, false);
        snprintf(name, sizeof name, "layers.%zu.linear0.bias", i);
        t->layer[i].bias0 = add_tensor(t, &rng, name, (size_t)2 * HIDDEN, 0, false);
        snprintf(name, sizeof name, "layers.%zu.linear1.weight", i);
        t->layer[i].weight1 = add_tensor(t, &rng, name, WIDTH, HIDDEN, false);
        snprintf(name, sizeof name, "layers.%zu.linear1.bias", i);
        t->layer[i].bias1 = add_tensor(t, &rng, name, WIDTH, 0, false);
    }
    add_norm(t, &rng, "last_normalization", t->last);
    t->head_weight = add_tensor(t, &rng, "head.weight", OUTPUTS, WIDTH, false);
    t->head_bias = add_tensor(t, &rng, "head.bias", OUTPUTS, 0, false);
    check_tmp_make(t->dir);
    struct buf json = {0};
    wni_buf_printf(&json, "{\"tensors\": [%s]}", t->tensors.data);
    world_write(t->dir, "weights.json", json.data);
    check_tmp_write(t->dir, "weights.f32", t->weights, t->n * sizeof(float));
    world_write(t->dir, "blackbox.json", tiny_json);
    world_write(t->dir, "encoding.json", tiny_encoding);
    wni_buf_release(&json);
}

static inline void drop_tiny(struct tiny *t)
{
    check_tmp_remove(t->dir);
    wni_buf_release(&t->tensors);
}

#endif
