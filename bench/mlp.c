/* mlp.c -- loads the weights and runs tiles. */
#include "bench/mlp.h"

#include "base/node.h"
#include "bench/family.h"

#include <endian.h>
#include <math.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- running ---- */

#define KERNEL(name) name##_plain
#define KERNEL_LANES 4 /* what every x86-64 and ARM64 has */
#define KERNEL_TARGET
#include "bench/mlp_kernel.inc"

#if defined(__x86_64__)
#define KERNEL(name)  name##_avx2
#define KERNEL_LANES  8
#define KERNEL_TARGET __attribute__((target("avx2")))
#include "bench/mlp_kernel.inc"

static bool has_avx2(void)
{
    const char *wish = getenv("WINNOW_SIMD");
    return !(wish && !strcmp(wish, "none")) && __builtin_cpu_supports("avx2");
}
#else
#define run_tile_avx2 run_tile_plain
static bool has_avx2(void)
{
    return false;
}
#endif

void wni_mlp_tile(const struct mlp *m, const float *prefix, size_t varying, const float values[MLP_TILE],
                  float out[MLP_OUTPUTS_MAX][MLP_TILE])
{
    if (m->avx2)
        run_tile_avx2(m, prefix, varying, values, out);
    else
        run_tile_plain(m, prefix, varying, values, out);
}

void wni_mlp_embed(const struct mlp *m, const uint32_t *codes, float *x)
{
    for (size_t i = 0; i < m->n_embeddings; i++) {
        size_t width = m->embedding[i].width;
        memcpy(x, m->embedding[i].rows + codes[i] * width, width * sizeof *x);
        x += width;
    }
}

void wni_mlp_prefix(const struct mlp *m, const float *x, size_t varying, float *prefix)
{
    for (size_t i = 0; i < m->width; i++) {
        float sum = m->first_bias[i];
        for (size_t j = 0; j < m->n_inputs; j++)
            if (j != varying) sum += m->first_weight[i * m->n_inputs + j] * x[j];
        prefix[i] = sum;
    }
}

/* ---- loading ---- */

struct loader {
    struct document doc;
    const struct node *tensors;
    const char *file; /* weights.json */
    struct mlp *m;
    struct err *err;
};

/* The tensor of this name, or NULL. */
static const struct node *find_tensor(const struct loader *l, const char *name)
{
    for (size_t i = 0; i < l->tensors->n; i++) {
        const struct node *n = wni_node_get(l->tensors->items[i], "name");
        if (n && n->kind == NODE_SCALAR && !strcmp(n->text, name)) return l->tensors->items[i];
    }
    return NULL;
}

/* A size or an offset; sizes far above what any of our networks has are refused, so that products cannot
 * overflow. */
static bool get_size(const struct node *n, size_t *out)
{
    int64_t value;
    if (!n || !wni_node_int(n, &value) || value < 0 || value > INT32_MAX) return false;
    *out = (size_t)value;
    return true;
}

/* Finds a tensor of one or two dimensions.  A size that is not 0 on entry must be met; the others are filled
 * in. */
static wn_status get_tensor(const struct loader *l, const char *name, size_t *rows, size_t *cols,
                            const float **out)
{
    const struct node *tensor = find_tensor(l, name);
    if (!tensor) return wni_fail(l->err, WN_EINVAL, "'%s': there is no tensor '%s'", l->file, name);
    const struct node *shape = wni_node_get(tensor, "shape");
    size_t offset, n_rows, n_cols = 1, dims = cols ? 2 : 1;
    bool fine = shape && shape->kind == NODE_LIST && shape->n == dims && get_size(shape->items[0], &n_rows) &&
                (dims == 1 || get_size(shape->items[1], &n_cols)) &&
                get_size(wni_node_get(tensor, "offset"), &offset);
    fine = fine && n_rows && n_cols && (!*rows || *rows == n_rows) && (!cols || !*cols || *cols == n_cols);
    if (!fine)
        return wni_fail(l->err, WN_EINVAL, "'%s': tensor '%s' has a shape that does not fit", l->file, name);
    size_t floats = l->m->map.size / sizeof(float);
    if (offset > floats || n_rows * n_cols > floats - offset)
        return wni_fail(l->err, WN_EINVAL, "'%s': tensor '%s' ends beyond the %zu floats of weights.f32",
                        l->file, name, floats);
    *rows = n_rows;
    if (cols) *cols = n_cols;
    *out = (const float *)(const void *)l->m->map.data + offset;
    return WN_OK;
}

/* PREFIX.norm's mean, variance, weight and bias as scale and shift. */
static wn_status get_norm(const struct loader *l, const char *prefix, struct mlp_norm *norm)
{
    static const char *const parts[] = {"weight", "bias", "running_mean", "running_var"};
    const float *p[4] = {0};
    size_t n = l->m->width;
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.%s", prefix, parts[i]);
        wn_status st = get_tensor(l, name, &n, NULL, &p[i]);
        if (st) return st;
    }
    float *scale = arena_new(&l->m->arena, float, n), *shift = arena_new(&l->m->arena, float, n);
    if (!scale || !shift) return wni_fail_memory(l->err);
    for (size_t i = 0; i < n; i++) {
        double factor = (double)p[0][i] / sqrt((double)p[3][i] + 1e-5);
        scale[i] = (float)factor;
        shift[i] = (float)((double)p[1][i] - (double)p[2][i] * factor);
    }
    *norm = (struct mlp_norm){scale, shift};
    return WN_OK;
}

static wn_status get_embeddings(const struct loader *l)
{
    struct mlp *m = l->m;
    for (;; m->n_embeddings++) {
        char name[64];
        snprintf(name, sizeof name, "embds_fct.%zu.weight", m->n_embeddings);
        if (!find_tensor(l, name)) return WN_OK;
        if (m->n_embeddings == MLP_EMBEDDINGS_MAX)
            return wni_fail(l->err, WN_EINVAL, "'%s': more than %d embeddings", l->file, MLP_EMBEDDINGS_MAX);
        size_t rows = 0, width = 0;
        const float *at = NULL;
        wn_status st = get_tensor(l, name, &rows, &width, &at);
        if (st) return st;
        m->embedding[m->n_embeddings].rows = at;
        m->embedding[m->n_embeddings].n = rows;
        m->embedding[m->n_embeddings].width = width;
        m->n_embedded += width;
    }
}

static wn_status get_layer(const struct loader *l, size_t i)
{
    struct mlp *m = l->m;
    char name[64];
    const char *const parts[] = {"linear0.weight", "linear0.bias", "linear1.weight", "linear1.bias"};
    const float **where[] = {&m->layer[i].weight0, &m->layer[i].bias0, &m->layer[i].weight1,
                             &m->layer[i].bias1};
    size_t both = 2 * m->hidden;
    for (size_t k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "layers.%zu.%s", i, parts[k]);
        size_t *rows = k < 2 ? &both : &m->width, *cols = k == 0 ? &m->width : k == 2 ? &m->hidden : NULL;
        wn_status st = get_tensor(l, name, rows, cols, where[k]);
        if (st) return st;
        if (k == 0) m->hidden = both / 2; /* the first layer tells; linear1 then has to agree */
    }
    snprintf(name, sizeof name, "layers.%zu.norm", i);
    return get_norm(l, name, &m->layer[i].norm);
}

static wn_status get_layers(const struct loader *l)
{
    struct mlp *m = l->m;
    for (;; m->n_layers++) {
        char name[64];
        snprintf(name, sizeof name, "layers.%zu.linear0.weight", m->n_layers);
        if (!find_tensor(l, name)) return WN_OK;
        if (m->n_layers == MLP_LAYERS_MAX)
            return wni_fail(l->err, WN_EINVAL, "'%s': more than %d layers", l->file, MLP_LAYERS_MAX);
        wn_status st = get_layer(l, m->n_layers);
        if (st) return st;
        if (m->hidden > MLP_HIDDEN_MAX)
            return wni_fail(l->err, WN_EINVAL, "'%s': layers wider than %d", l->file, MLP_HIDDEN_MAX);
    }
}

static wn_status get_all(struct loader *l)
{
    struct mlp *m = l->m;
    wn_status st = get_embeddings(l);
    if (!st) st = get_tensor(l, "first_layer.weight", &m->width, &m->n_inputs, &m->first_weight);
    if (!st) st = get_tensor(l, "first_layer.bias", &m->width, NULL, &m->first_bias);
    if (st) return st;
    if (m->width > MLP_WIDTH_MAX || m->width % 2 || m->n_inputs > MLP_INPUTS_MAX ||
        m->n_inputs <= m->n_embedded)
        return wni_fail(l->err, WN_EINVAL,
                        "'%s': cannot run a network of width %zu with %zu inputs, %zu of them embedded",
                        l->file, m->width, m->n_inputs, m->n_embedded);
    st = get_layers(l);
    if (!st) st = get_norm(l, "last_normalization", &m->last_norm);
    if (!st) st = get_tensor(l, "head.weight", &m->n_outputs, &m->width, &m->head_weight);
    if (!st) st = get_tensor(l, "head.bias", &m->n_outputs, NULL, &m->head_bias);
    if (!st && m->n_outputs > MLP_OUTPUTS_MAX)
        st = wni_fail(l->err, WN_EINVAL, "'%s': more than %d outputs", l->file, MLP_OUTPUTS_MAX);
    return st;
}

wn_status wni_mlp_open(struct mlp *m, const char *folder, struct err *err)
{
    *m = (struct mlp){.avx2 = has_avx2()};
    struct loader l = {.m = m, .err = err};
    l.file = wni_path_join(&m->arena, folder, "weights.json");
    const char *weights = wni_path_join(&m->arena, folder, "weights.f32");
    wn_status st = l.file && weights ? WN_OK : wni_fail_memory(err);
    if (!st && htole32(1) != 1)
        st = wni_fail(err, WN_EINVAL, "'%s': this machine is not little-endian", weights);
    if (!st) st = wni_document_load(&l.doc, l.file, err);
    if (!st) st = wni_map_open(&m->map, weights, err);
    if (!st) {
        l.tensors = wni_node_get(l.doc.root, "tensors");
        if (l.tensors && l.tensors->kind == NODE_LIST)
            st = get_all(&l);
        else
            st = wni_fail(err, WN_EINVAL, "'%s': there is no list of tensors", l.file);
    }
    wni_document_release(&l.doc);
    if (st) wni_mlp_release(m);
    return st;
}

void wni_mlp_release(struct mlp *m)
{
    wni_map_release(&m->map);
    wni_arena_release(&m->arena);
    *m = (struct mlp){0};
}
