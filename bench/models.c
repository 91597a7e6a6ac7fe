/* models.c -- what is known about the two networks besides their weights: inputs, their scaling, outputs.
 *
 * Both are surrogates of YAHPO Gym (Pfisterer et al. 2022).  The numbers are those of the published ONNX
 * files. */
#include "bench/network.h"

#include "num/portable.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- yahpo-lcbench: LCBench, model v1.0 ---- */

static const char *const lcbench_words[] = {"OpenML_task_id"};
static const char *const lcbench_numbers[] = {"epoch",        "batch_size", "learning_rate", "momentum",
                                              "weight_decay", "num_layers", "max_units",     "max_dropout"};
static const char *const lcbench_outputs[] = {"time",
                                              "val_accuracy",
                                              "val_cross_entropy",
                                              "val_balanced_accuracy",
                                              "test_cross_entropy",
                                              "test_balanced_accuracy"};

static double lcbench_scale(size_t number, double x)
{
    static const double from[] = {0, 16, -9.209311485290527,   0.10000386089086533, -9.91645622253418,
                                  1, 64, 0.0005357532645575702};
    static const double range[] = {
        3.9512436389923096, 495, 6.896975040435791, 0.8822514414787292, 7.6138458251953125, 3, 960,
        0.9994120597839355};
    bool log_scaled = number == 0 || number == 2 || number == 4;
    return ((log_scaled ? wni_log(x + 1e-12) : x) - from[number]) / range[number];
}

static double lcbench_descale(size_t output, double sigmoid)
{
    static const double factor[] = {46790.66796875,     32.233848571777344, 34.48017883300781,
                                    27.624671936035156, 5.54842472076416,   27.626203536987305};
    static const double offset[] = {0.00014209747314453125, -27.63102149963379, 0.018199017271399498,
                                    -27.630813598632812,    0.3263173997402191, -27.63102149963379};
    double v = sigmoid * factor[output] + offset[output];
    return output % 2 ? wni_exp(v) - 1e-12 : v;
}

/* ---- nb301: NAS-Bench-301, model v2 ---- */

/* In the network's order, which is not the alphabetical one of encoding.json: the inactive edges of the
 * reference rows agree with the conditions of the space only so (tests/unit/test_blackbox_network.c). */
static const char *const nb301_words[] = {
    "edge_normal_0",        "edge_normal_1",        "edge_normal_2",        "edge_normal_3",
    "edge_normal_4",        "edge_normal_5",        "edge_normal_6",        "edge_normal_7",
    "edge_normal_8",        "edge_normal_9",        "edge_normal_10",       "edge_normal_11",
    "edge_normal_12",       "edge_normal_13",       "edge_reduce_0",        "edge_reduce_1",
    "edge_reduce_2",        "edge_reduce_3",        "edge_reduce_4",        "edge_reduce_5",
    "edge_reduce_6",        "edge_reduce_7",        "edge_reduce_8",        "edge_reduce_9",
    "edge_reduce_10",       "edge_reduce_11",       "edge_reduce_12",       "edge_reduce_13",
    "inputs_node_normal_3", "inputs_node_normal_4", "inputs_node_normal_5", "inputs_node_reduce_3",
    "inputs_node_reduce_4", "inputs_node_reduce_5"};
static const char *const nb301_numbers[] = {"epoch"};
static const char *const nb301_outputs[] = {"val_accuracy", "val_cross_entropy", "runtime",
                                            "runtime_increase"};

static double nb301_scale(size_t number, double epoch)
{
    (void)number;
    return 2 * ((epoch - 1) * 0.98 / 97 + 0.01) - 1;
}

static double nb301_descale(size_t output, double sigmoid)
{
    static const double factor[] = {8.480978012084961, 14.86089038848877, 6.27029275894165,
                                    5.236003875732422};
    static const double offset[] = {-7.500442028045654, -1.0725573301315308, -4.432941913604736,
                                    -2.348090887069702};
    static const double deviation[] = {0.10130907595157623, 0.2638307809829712, 0.9633499383926392,
                                       0.2779826521873474};
    static const double mean[] = {0.851162850856781, 0.4556839168071747, 7.69010066986084, 4.072354793548584};
    double q = (offset[output] + (sigmoid - 0.01) / 0.98 * factor[output]) * deviation[output] + mean[output];
    if (output >= 2) q = wni_exp(q);
    if (q < 0) return 0;
    return output == 0 && q > 1 ? 1 : q;
}

/* ---- both ---- */

static const struct network_model models[] = {
    {
        .family = "yahpo-lcbench",
        .words = lcbench_words,
        .n_words = COUNT(lcbench_words),
        .numbers = lcbench_numbers,
        .n_numbers = COUNT(lcbench_numbers),
        .outputs = lcbench_outputs,
        .n_outputs = COUNT(lcbench_outputs),
        .seconds = "time",
        .scale = lcbench_scale,
        .descale = lcbench_descale,
    },
    {
        .family = "nb301",
        .words = nb301_words,
        .n_words = COUNT(nb301_words),
        .numbers = nb301_numbers,
        .n_numbers = COUNT(nb301_numbers),
        .outputs = nb301_outputs,
        .n_outputs = COUNT(nb301_outputs),
        .seconds = "runtime",
        .scale = nb301_scale,
        .descale = nb301_descale,
    },
};

static const struct network_model *find_model(const char *family)
{
    for (size_t i = 0; i < COUNT(models); i++)
        if (!strcmp(models[i].family, family)) return &models[i];
    return NULL;
}

static wn_status check_sizes(const struct network *n, const char *folder, struct err *err)
{
    const struct network_model *model = n->model;
    if (n->mlp.n_embeddings == model->n_words && n->mlp.n_inputs - n->mlp.n_embedded == model->n_numbers &&
        n->mlp.n_outputs == model->n_outputs)
        return WN_OK;
    return wni_fail(
        err, WN_EINVAL,
        "'%s/weights.json': %zu embeddings, %zu numbers and %zu outputs where %s has %zu, %zu and %zu",
        folder, n->mlp.n_embeddings, n->mlp.n_inputs - n->mlp.n_embedded, n->mlp.n_outputs, model->family,
        model->n_words, model->n_numbers, model->n_outputs);
}

wn_status wni_network_open(struct network *n, const char *folder, const char *family, struct err *err)
{
    *n = (struct network){.model = find_model(family)};
    if (!n->model) return wni_fail(err, WN_EINVAL, "there is no network model for the family '%s'", family);
    wn_status st = wni_mlp_open(&n->mlp, folder, err);
    if (!st) st = check_sizes(n, folder, err);
    if (st) {
        wni_network_release(n);
        return st;
    }
    n->varying = n->mlp.n_embedded; /* in both models the epoch is the first of the numbers */
    return WN_OK;
}

void wni_network_release(struct network *n)
{
    wni_mlp_release(&n->mlp);
    *n = (struct network){0};
}

void wni_network_begin(const struct network *n, const uint32_t *codes, const double *numbers, float *prefix)
{
    float x[MLP_INPUTS_MAX];
    wni_mlp_embed(&n->mlp, codes, x);
    x[n->varying] = 0;
    for (size_t i = 1; i < n->model->n_numbers; i++)
        x[n->mlp.n_embedded + i] = (float)n->model->scale(i, (double)(float)numbers[i]);
    wni_mlp_prefix(&n->mlp, x, n->varying, prefix);
}

void wni_network_run(const struct network *n, const float *prefix, const double *epochs, size_t count,
                     float raw[MLP_OUTPUTS_MAX][MLP_TILE])
{
    float values[MLP_TILE];
    for (size_t i = 0; i < MLP_TILE; i++)
        values[i] = (float)n->model->scale(0, epochs[i < count ? i : count - 1]);
    wni_mlp_tile(&n->mlp, prefix, n->varying, values, raw);
}

double wni_network_output(const struct network *n, size_t output, float raw)
{
    return n->model->descale(output, 1 / (1 + wni_exp(-(double)raw)));
}
