/* mlp_kernel.h -- one tile through the network, written once and compiled for registers of several widths.
 *
 * Included by mlp.c with KERNEL(name), KERNEL_LANES and KERNEL_TARGET defined.  Lanes are columns of the tile, so the width
 * decides how many columns go together but not in which order anything is summed.  Two rows of weights at a time: enough
 * independent sums to hide the latency of an addition, few enough for the sixteen registers of the oldest x86-64. */

#include "bench/mlp.h"

typedef float KERNEL(vec) __attribute__((vector_size(KERNEL_LANES * sizeof(float))));
typedef int32_t KERNEL(mask) __attribute__((vector_size(KERNEL_LANES * sizeof(float))));
#define VEC KERNEL(vec)
#define VECS (MLP_TILE / KERNEL_LANES)
#define INLINE KERNEL_TARGET static inline __attribute__((always_inline))

struct KERNEL(sums) {
    VEC of[2][VECS]; /* two outputs of every column */
};

INLINE void KERNEL(sum_rows)(struct KERNEL(sums) *s, const float *row0, float bias0, const float *row1, float bias1,
                             const VEC *in, size_t n)
{
    struct KERNEL(sums) t;
    for (size_t v = 0; v < VECS; v++) {
        t.of[0][v] = (VEC){0} + bias0;
        t.of[1][v] = (VEC){0} + bias1;
    }
    for (size_t k = 0; k < n; k++)
        for (size_t v = 0; v < VECS; v++) {
            t.of[0][v] += row0[k] * in[k * VECS + v];
            t.of[1][v] += row1[k] * in[k * VECS + v];
        }
    *s = t;
}

/* max(x, 0), by pointer: a vector as an argument would need a calling convention of its own. */
INLINE void KERNEL(cut_negative)(VEC *x)
{
    *x = (VEC)((KERNEL(mask))*x & (*x > (VEC){0}));
}

INLINE void KERNEL(normalise)(const struct mlp *m, const struct mlp_norm *norm, const VEC *x, VEC *y)
{
    for (size_t i = 0; i < m->width; i++)
        for (size_t v = 0; v < VECS; v++) y[i * VECS + v] = x[i * VECS + v] * norm->scale[i] + norm->shift[i];
}

/* z = z1 * max(z2, 0), each pair of outputs in one go so that the 2 hidden rows are never stored. */
INLINE void KERNEL(gated_linear)(const struct mlp *m, size_t layer, const VEC *y, VEC *z)
{
    const float *weight = m->layer[layer].weight0, *bias = m->layer[layer].bias0;
    for (size_t i = 0; i < m->hidden; i++) {
        size_t j = i + m->hidden;
        struct KERNEL(sums) s;
        KERNEL(sum_rows)(&s, weight + i * m->width, bias[i], weight + j * m->width, bias[j], y, m->width);
        for (size_t v = 0; v < VECS; v++) {
            KERNEL(cut_negative)(&s.of[1][v]);
            z[i * VECS + v] = s.of[0][v] * s.of[1][v];
        }
    }
}

INLINE void KERNEL(add_linear)(const struct mlp *m, size_t layer, const VEC *z, VEC *x)
{
    const float *weight = m->layer[layer].weight1, *bias = m->layer[layer].bias1;
    for (size_t i = 0; i < m->width; i += 2) { /* the width is even: checked at loading */
        struct KERNEL(sums) s;
        KERNEL(sum_rows)(&s, weight + i * m->hidden, bias[i], weight + (i + 1) * m->hidden, bias[i + 1], z, m->hidden);
        for (size_t v = 0; v < VECS; v++) {
            x[i * VECS + v] += s.of[0][v];
            x[(i + 1) * VECS + v] += s.of[1][v];
        }
    }
}

INLINE void KERNEL(head)(const struct mlp *m, VEC *y, float out[MLP_OUTPUTS_MAX][MLP_TILE])
{
    for (size_t i = 0; i < m->width * VECS; i++) KERNEL(cut_negative)(&y[i]);
    for (size_t i = 0; i < m->n_outputs; i++) {
        size_t j = i + 1 < m->n_outputs ? i + 1 : i;
        struct KERNEL(sums) s;
        KERNEL(sum_rows)(&s, m->head_weight + i * m->width, m->head_bias[i], m->head_weight + j * m->width, m->head_bias[j],
                         y, m->width);
        memcpy(out[i], s.of[0], sizeof s.of[0]);
    }
}

KERNEL_TARGET static void KERNEL(run_tile)(const struct mlp *m, const float *prefix, size_t varying, const float *values,
                                           float out[MLP_OUTPUTS_MAX][MLP_TILE])
{
    VEC x[MLP_WIDTH_MAX * VECS], y[MLP_WIDTH_MAX * VECS], z[MLP_HIDDEN_MAX * VECS], in[VECS];
    memcpy(in, values, sizeof in);
    for (size_t i = 0; i < m->width; i++)
        for (size_t v = 0; v < VECS; v++)
            x[i * VECS + v] = prefix[i] + m->first_weight[i * m->n_inputs + varying] * in[v];
    for (size_t layer = 0; layer < m->n_layers; layer++) {
        KERNEL(normalise)(m, &m->layer[layer].norm, x, y);
        KERNEL(gated_linear)(m, layer, y, z);
        KERNEL(add_linear)(m, layer, z, x);
    }
    KERNEL(normalise)(m, &m->last_norm, x, y);
    KERNEL(head)(m, y, out);
}

#undef VEC
#undef VECS
#undef INLINE
#undef KERNEL
#undef KERNEL_LANES
#undef KERNEL_TARGET
