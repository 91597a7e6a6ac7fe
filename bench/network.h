/* network.h -- a surrogate network as a function of named inputs; network.c makes a black box of it. */
#ifndef WNI_BENCH_NETWORK_H
#define WNI_BENCH_NETWORK_H

#include "bench/mlp.h"

struct network_model {
    const char *family;       /* as blackbox.json has it */
    const char *const *words; /* inputs that are embedded, in the network's order */
    size_t n_words;
    const char *const *numbers; /* inputs that are numbers; "epoch" is among them */
    size_t n_numbers;
    const char *const *outputs;
    size_t n_outputs;
    const char *seconds; /* the output that is the cumulative time */
    /* A number as the network wants it, and an output as people want it (`sigmoid` is in 0..1). */
    double (*scale)(size_t number, double x);
    double (*descale)(size_t output, double sigmoid);
};

struct network {
    struct mlp mlp;
    const struct network_model *model;
    size_t varying; /* the network's input that is the epoch */
};

/* Loads the weights in `folder` for the model of that family; WN_EINVAL when there is no such model. */
wn_status wni_network_open(struct network *n, const char *folder, const char *family, struct err *err);
void wni_network_release(struct network *n); /* a zeroed one is fine */

/* Begins a curve: codes[n_words] for the embeddings, numbers[n_numbers] (the epoch's is not read);
 * prefix[mlp.width]. */
void wni_network_begin(const struct network *n, const uint32_t *codes, const double *numbers, float *prefix);
/* Outputs, still before sigmoid and scale, at `count` <= MLP_TILE epochs. */
void wni_network_run(const struct network *n, const float *prefix, const double *epochs, size_t count,
                     float raw[MLP_OUTPUTS_MAX][MLP_TILE]);
/* One output as people want it. */
double wni_network_output(const struct network *n, size_t output, float raw);

#endif
