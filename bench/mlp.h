/* mlp.h -- the body of the YAHPO surrogates: a small residual network over embeddings, in float32.
 *
 *     x = first(embeddings and numbers)
 *     for each layer:   z = linear0(norm(x)), split in two halves;  x = x + linear1(z1 * max(z2, 0))
 *     out = head(max(norm(x), 0))                                   before the sigmoid
 *
 * A learning curve needs the same configuration at many epochs, so the network runs on a tile of 16 columns
 * that differ in one input only.  Vector lanes are columns: each output of each column is one sum in one
 * fixed order, whatever the width of the registers, and nothing is fused.  So the results are the same bits
 * on every processor. */
#ifndef WNI_BENCH_MLP_H
#define WNI_BENCH_MLP_H

#include "base/arena.h"
#include "bench/map.h"

enum {
    MLP_TILE = 16,
    MLP_WIDTH_MAX = 256,
    MLP_HIDDEN_MAX = 1024,
    MLP_LAYERS_MAX = 16,
    MLP_OUTPUTS_MAX = 8,
    MLP_EMBEDDINGS_MAX = 64,
    MLP_INPUTS_MAX = 1024,
};

struct mlp_norm {
    const float *scale, *shift; /* batch normalisation as one multiplication and one addition */
};

struct mlp {
    struct map map;     /* weights.f32, into which the pointers below point */
    struct arena arena; /* what was derived from it */
    size_t n_embeddings, n_inputs, width, hidden, n_layers, n_outputs;
    struct {
        const float *rows;
        size_t n, width;
    } embedding[MLP_EMBEDDINGS_MAX];
    size_t n_embedded; /* inputs that come out of embeddings; the numbers follow */
    const float *first_weight, *first_bias;
    struct {
        struct mlp_norm norm;
        const float *weight0, *bias0; /* [2 hidden, width] */
        const float *weight1, *bias1; /* [width, hidden] */
    } layer[MLP_LAYERS_MAX];
    struct mlp_norm last_norm;
    const float *head_weight, *head_bias;
    bool avx2; /* wide registers; WINNOW_SIMD=none in the environment turns them off */
};

/* Maps FOLDER/weights.f32 as FOLDER/weights.json describes it. */
wn_status wni_mlp_open(struct mlp *m, const char *folder, struct err *err);
void wni_mlp_release(struct mlp *m); /* a zeroed one is fine */

/* Writes the embeddings of codes[n_embeddings], each below its embedding's n, to the head of x[n_inputs]. */
void wni_mlp_embed(const struct mlp *m, const uint32_t *codes, float *x);

/* What all columns share: the first layer's sums over every input but `varying`; prefix[width]. */
void wni_mlp_prefix(const struct mlp *m, const float *x, size_t varying, float *prefix);

/* Runs a tile: column b has varying[b] in that input.  out[n_outputs][MLP_TILE]. */
void wni_mlp_tile(const struct mlp *m, const float *prefix, size_t varying, const float values[MLP_TILE],
                  float out[MLP_OUTPUTS_MAX][MLP_TILE]);

#endif
