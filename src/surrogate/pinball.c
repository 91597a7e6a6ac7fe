/* pinball.c -- boosting all quantile levels in step.
 *
 * Two facts make this fast.  The gradient of the pinball loss takes only two values, so what a split needs to
 * know are counts. And all levels see the same rows in the same column orders, so one sweep over a column
 * serves several levels.  Trees grow level by level: the nodes of all trees at one depth are split eight at a
 * time (pinball_kernel.inc has the sweep). */
#include "surrogate/pinball.h"

#include "num/order.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    LANES = 8,       /* nodes handled by one sweep */
    NO_LANE = LANES, /* the mark of a row that belongs to none of them: all zero */
    NODES_MAX = 1 << FOREST_DEPTH_MAX,
    FEW = 12, /* so many values are selected from by sorting them */
};

typedef uint8_t bytes
    __attribute__((vector_size(16))); /* rows of node k in lane k, positive gradients in lane k + 8 */
typedef uint16_t counts __attribute__((vector_size(32))); /* likewise */
typedef char chars __attribute__((vector_size(16)));
typedef int16_t shorts __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(32)));
typedef int64_t longs __attribute__((vector_size(32)));
typedef float floats __attribute__((vector_size(32)));

/* The best split of a node: improvement = square / product / N, exact. */
struct split {
    uint64_t square;  /* (c N - C n)^2 */
    uint64_t product; /* n (N - n); 0: none found */
    uint16_t feature;
    uint8_t cut;
};

/* A cut that beat the threshold of some lane when it was met. */
struct noted {
    counts left;
    uint16_t feature;
    uint8_t cut;
};

enum { NOTED_MAX = 128 };

/* The nodes of one level that are in the current group of eight. */
struct lane_source {
    const uint8_t *node, *above;
    unsigned first_node, n_nodes, first_lane;
};

struct sweep {
    floats n_rows, n_above; /* N and C of each lane */
    floats threshold;       /* a little below the best improvement (times N) met so far */
    floats min_leaf;
    counts total;
    bytes marks[2 * (LANES + 1)];
    bytes *rows;                  /* what each row adds to the counts */
    struct lane_source no_source; /* a level none of whose nodes is in the group */
    struct split best[LANES];
    size_t n_noted;
    struct noted noted[NOTED_MAX];
};

struct level {
    double alpha;
    struct forest *forest;
    double *fit;       /* current prediction of each row */
    uint8_t *node;     /* of each row, within the current depth */
    uint8_t *above;    /* 1: y above the fit, that is a positive gradient */
    double *residuals; /* grouped by leaf */
    struct split *splits;
};

struct fit {
    const struct bins *bins;
    const double *y;
    const struct boost_options *options;
    struct rng *rng;
    enum simd simd;
    struct level *levels;
    size_t n_levels;
    struct sweep *sweep;
    double *other;      /* scratch of selections */
    uint8_t *next;      /* scratch: a row's side of its split */
    uint8_t *in_sample; /* row is in this tree's sample; NULL: all are */
    uint8_t *in_use;    /* column is; NULL: all are */
    uint32_t *drawn;
};

/* ---- choosing a split ---- */

static unsigned __int128 times(uint64_t a, uint64_t b)
{
    return (unsigned __int128)a * b;
}

/* Strictly better only: columns and cuts come in increasing order, so ties stay with the lowest feature, then
 * the lowest cut. */
static void compare_lane(struct sweep *s, const struct noted *it, int k)
{
    int64_t n = it->left[k], c = it->left[k + LANES], N = s->total[k], C = s->total[k + LANES];
    int64_t d = c * N - C * n;
    uint64_t square = (uint64_t)(d * d), product = (uint64_t)(n * (N - n));
    struct split *best = &s->best[k];
    if (n < (int64_t)s->min_leaf[k] || N - n < (int64_t)s->min_leaf[k] || d == 0) return;
    if (best->product && times(square, best->product) <= times(best->square, product)) return;
    *best = (struct split){.square = square, .product = product, .feature = it->feature, .cut = it->cut};
}

static __attribute__((noinline)) void compare_exactly(struct sweep *s, const struct noted *it,
                                                      const ints *lanes)
{
    for (int k = 0; k < LANES; k++)
        if ((*lanes)[k]) compare_lane(s, it, k);
}

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#define ANY(mask)        (((longs)(mask))[0] | ((longs)(mask))[1] | ((longs)(mask))[2] | ((longs)(mask))[3])
#define WIDEN(half)      __builtin_convertvector(half, ints)
#define WIDEN_BYTES(sum) __builtin_convertvector(sum, counts)
#include "surrogate/pinball_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET
#undef ANY

#if defined(__x86_64__)
#if !defined(__clang__) /* GCC 12 makes four instructions of a conversion where there is one */
#undef WIDEN
#undef WIDEN_BYTES
#define WIDEN(half)      ((ints)__builtin_ia32_pmovzxwd256((shorts)(half)))
#define WIDEN_BYTES(sum) ((counts)__builtin_ia32_pmovzxbw256((chars)(sum)))
#endif
#define ANY(mask)     (__builtin_ia32_movmskps256((floats)(mask)) != 0)
#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2")))
#include "surrogate/pinball_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET

#define KERNEL(name)  name##_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512bw,avx512vl")))
#include "surrogate/pinball_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET
#undef ANY
#endif
#undef WIDEN
#undef WIDEN_BYTES

static void mark_rows(const struct fit *f, const struct lane_source *sources, size_t n_sources)
{
#if defined(__x86_64__)
    if (f->simd == SIMD_AVX512)
        mark_rows_avx512(f->sweep, f->bins->n, sources, n_sources);
    else if (f->simd == SIMD_AVX2)
        mark_rows_avx2(f->sweep, f->bins->n, sources, n_sources);
    else
#endif
        mark_rows_plain(f->sweep, f->bins->n, sources, n_sources);
}

static void settle(const struct fit *f)
{
#if defined(__x86_64__)
    if (f->simd == SIMD_AVX512)
        settle_avx512(f->sweep);
    else if (f->simd == SIMD_AVX2)
        settle_avx2(f->sweep);
    else
#endif
        settle_plain(f->sweep);
}

static void sweep_column(const struct fit *f, size_t j)
{
    const struct bin_column *column = &f->bins->column[j];
#if defined(__x86_64__)
    if (f->simd == SIMD_AVX512)
        sweep_column_avx512(f->sweep, column, f->bins->n, (uint16_t)j);
    else if (f->simd == SIMD_AVX2)
        sweep_column_avx2(f->sweep, column, f->bins->n, (uint16_t)j);
    else
#endif
        sweep_column_plain(f->sweep, column, f->bins->n, (uint16_t)j);
}

static void set_marks(struct sweep *s)
{
    memset(s->marks, 0, sizeof s->marks);
    for (int k = 0; k < LANES; k++) {
        s->marks[2 * k][k] = s->marks[2 * k + 1][k] = 1;
        s->marks[2 * k + 1][k + LANES] = 1;
    }
}

/* Totals of the group's nodes, and no split yet. */
static void start_sweep(struct sweep *s)
{
    for (int k = 0; k < LANES; k++) {
        s->n_rows[k] = s->total[k];
        s->n_above[k] = s->total[k + LANES];
        s->threshold[k] = 0;
        s->best[k] = (struct split){0};
    }
    s->n_noted = 0;
}

/* Takes the rows that this tree does not see out of the sweep. */
static void drop_rows(struct sweep *s, const uint8_t *in_sample, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (in_sample[i]) continue;
        s->total -= __builtin_convertvector(s->rows[i], counts);
        s->rows[i] = (bytes){0};
    }
}

/* Splits the nodes of a group: those numbered [first, first + LANES) when the nodes of all levels at this
 * depth are counted through. */
static void split_group(struct fit *f, size_t first, unsigned n_nodes)
{
    struct lane_source sources[LANES];
    size_t n_sources = 0;
    for (size_t l = first / n_nodes; l < f->n_levels && l * n_nodes < first + LANES; l++) {
        size_t from = l * n_nodes > first ? l * n_nodes : first, to = (l + 1) * n_nodes;
        if (to > first + LANES) to = first + LANES;
        sources[n_sources++] = (struct lane_source){.node = f->levels[l].node,
                                                    .above = f->levels[l].above,
                                                    .first_node = (unsigned)(from - l * n_nodes),
                                                    .n_nodes = (unsigned)(to - from),
                                                    .first_lane = (unsigned)(from - first)};
    }
    mark_rows(f, sources, n_sources);
    if (f->in_sample) drop_rows(f->sweep, f->in_sample, f->bins->n);
    start_sweep(f->sweep);
    for (size_t j = 0; j < f->bins->columns; j++)
        if (!f->in_use || f->in_use[j]) sweep_column(f, j);
    settle(f);
    for (size_t k = 0; k < LANES && first + k < f->n_levels * n_nodes; k++)
        f->levels[(first + k) / n_nodes].splits[(first + k) % n_nodes] = f->sweep->best[k];
}

/* ---- carrying splits out ---- */

/* The first bin above `cut` that has a row of the node. */
static uint8_t next_bin(const uint8_t *codes, const uint8_t *node, size_t n, uint8_t k, uint8_t cut)
{
    uint8_t lowest = 255;
    for (size_t i = 0; i < n; i++) { /* no branches: becomes byte vectors */
        uint8_t counts_not = (uint8_t)((node[i] != k) | (codes[i] <= cut)),
                code = codes[i] | (uint8_t)-counts_not;
        lowest = code < lowest ? code : lowest;
    }
    return lowest;
}

static void send_right(const uint8_t *codes, const uint8_t *node, size_t n, uint8_t k, uint8_t cut,
                       uint8_t *restrict next)
{
    for (size_t i = 0; i < n; i++)
        next[i] |= (uint8_t)((node[i] == k) & (codes[i] > cut));
}

static void descend(uint8_t *restrict node, const uint8_t *restrict right, size_t n)
{
    for (size_t i = 0; i < n; i++)
        node[i] = (uint8_t)(2 * node[i] + right[i]);
}

static void apply_splits(struct fit *f, struct level *level, int tree, int depth)
{
    size_t n = f->bins->n, n_nodes = (size_t)1 << depth, n_splits = ((size_t)1 << f->options->depth) - 1;
    uint16_t *features = level->forest->features + (size_t)tree * n_splits + (n_nodes - 1);
    uint8_t *cuts = level->forest->cuts + (size_t)tree * n_splits + (n_nodes - 1);
    memset(f->next, 0, n);
    for (size_t k = 0; k < n_nodes; k++) {
        const struct split *split = &level->splits[k];
        features[k] = split->feature;
        cuts[k] = FOREST_NO_SPLIT;
        if (!split->product) continue;
        const struct bin_column *c = &f->bins->column[split->feature];
        uint8_t above = next_bin(c->codes, level->node, n, (uint8_t)k, split->cut);
        cuts[k] = wni_bins_middle_cut(c, split->cut, above);
        send_right(c->codes, level->node, n, (uint8_t)k, cuts[k], f->next);
    }
    descend(level->node, f->next, n);
}

/* ---- leaves ---- */

/* Writes the values below (with `equal`, at or below) the pivot to the front of `to`, the others behind them,
 * and returns how many are in front.  Every value is stored at both places and only one of the two moves on:
 * no branch, and no load waits for a store. */
static size_t split(const double *restrict from, size_t n, double pivot, bool equal, double *restrict to)
{
    size_t front = 0, back = n;
    for (size_t i = 0; i < n; i++) {
        double value = from[i];
        bool in_front = equal ? value <= pivot : value < pivot;
        to[front] = value;
        to[back - 1] = value;
        front += in_front;
        back -= !in_front;
    }
    return front;
}

/* A guess at the k-th smallest: the value of that rank in a small even sample. */
static double guess_kth(const double *x, size_t n, size_t k)
{
    enum { SAMPLE = 7 };
    double sample[SAMPLE] = {0};
    for (size_t i = 0; i < SAMPLE; i++) {
        size_t at = i;
        double value = x[i * (n - 1) / (SAMPLE - 1)];
        for (; at > 0 && sample[at - 1] > value; at--)
            sample[at] = sample[at - 1];
        sample[at] = value;
    }
    return sample[k * SAMPLE / n];
}

static double select_few(double *x, size_t n, size_t k)
{
    for (size_t i = 1; i < n; i++) {
        double value = x[i];
        size_t at = i;
        for (; at > 0 && x[at - 1] > value; at--)
            x[at] = x[at - 1];
        x[at] = value;
    }
    return x[k];
}

/* The k-th smallest of n values; they and `other`, of the same length, are overwritten.  Quickselect back and
 * forth between the two arrays. */
static double select_kth(double *x, double *other, size_t n, size_t k)
{
    while (n > FEW) {
        double pivot = guess_kth(x, n, k), *moved = other;
        size_t front = split(x, n, pivot, false, other);
        if (front == 0) { /* the pivot is the least: put it and its equals aside, so that there is progress */
            front = split(x, n, pivot, true, other);
            if (k < front || front == 0) return pivot; /* 0: a NaN, from values that overflow */
        }
        size_t skip = k < front ? 0 : front;
        other = x + skip;
        x = moved + skip;
        n = k < front ? front : n - front;
        k -= skip;
    }
    return select_few(x, n, k);
}

/* Groups the residuals of the sampled rows by leaf; leaf k's are those from ends[k-1] to ends[k]. */
static void group_residuals(const struct fit *f, struct level *level, uint32_t ends[NODES_MAX + 1])
{
    size_t n = f->bins->n, n_leaves = (size_t)1 << f->options->depth;
    const uint8_t *leaf = level->node, *in_sample = f->in_sample;
    uint32_t *next = ends + 1;
    memset(ends, 0, (n_leaves + 1) * sizeof *ends);
    for (size_t i = 0; i < n; i++)
        next[leaf[i]] += in_sample ? in_sample[i] : 1;
    for (size_t k = 0, sum = 0; k < n_leaves; k++) { /* counts become starts */
        size_t count = next[k];
        next[k] = (uint32_t)sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++) /* and starts become ends */
        if (!in_sample || in_sample[i]) level->residuals[next[leaf[i]]++] = f->y[i] - level->fit[i];
}

static void move_rows(const double *restrict y, const double *restrict leaves, const uint8_t *restrict leaf,
                      size_t n, double *restrict fit, uint8_t *restrict above)
{
    for (size_t i = 0; i < n; i++)
        fit[i] += leaves[leaf[i]];
    for (size_t i = 0; i < n; i++)
        above[i] = y[i] > fit[i];
}

/* Every leaf takes the quantile of its rows' residuals; then all rows move. */
static void set_leaves(struct fit *f, struct level *level, int tree)
{
    size_t n_leaves = (size_t)1 << f->options->depth;
    double *leaves = level->forest->leaves + (size_t)tree * n_leaves;
    uint32_t ends[NODES_MAX + 1];
    group_residuals(f, level, ends);
    for (size_t k = 0; k < n_leaves; k++) {
        size_t begin = ends[k], count = ends[k + 1] - begin;
        if (!count) continue;
        double quantile = select_kth(level->residuals + begin, f->other + begin, count,
                                     wni_quantile_lower_index(count, level->alpha));
        leaves[k] = f->options->rate * quantile;
    }
    move_rows(f->y, leaves, level->node, f->bins->n, level->fit, level->above);
}

/* ---- boosting ---- */

static void draw_share(struct fit *f, uint8_t *chosen, size_t n, double share)
{
    uint32_t k = (uint32_t)fmax(1, floor(share * (double)n));
    memset(chosen, 0, n);
    wni_rng_sample(f->rng, (uint32_t)n, k, f->drawn);
    for (uint32_t i = 0; i < k; i++)
        chosen[f->drawn[i]] = 1;
}

static void start_tree(struct fit *f)
{
    if (f->in_sample) draw_share(f, f->in_sample, f->bins->n, f->options->row_share);
    if (f->in_use) draw_share(f, f->in_use, f->bins->columns, f->options->column_share);
    for (size_t l = 0; l < f->n_levels; l++)
        memset(f->levels[l].node, 0, f->bins->n);
}

static void grow_trees(struct fit *f, int tree)
{
    start_tree(f);
    for (int depth = 0; depth < f->options->depth; depth++) {
        unsigned n_nodes = 1u << depth;
        for (size_t first = 0; first < f->n_levels * n_nodes; first += LANES)
            split_group(f, first, n_nodes);
        for (size_t l = 0; l < f->n_levels; l++)
            apply_splits(f, &f->levels[l], tree, depth);
    }
    for (size_t l = 0; l < f->n_levels; l++)
        set_leaves(f, &f->levels[l], tree);
}

static wn_status start_level(struct fit *f, struct level *level, struct forest *forest, double alpha,
                             const double *sorted, struct arena *keep, struct arena *scratch)
{
    size_t n = f->bins->n, stride = f->bins->stride;
    wn_status st = wni_forest_init(forest, f->options->trees, f->options->depth, keep);
    if (st) return st;
    *level = (struct level){.alpha = alpha, .forest = forest};
    level->fit = arena_new(scratch, double, n);
    level->residuals = arena_new(scratch, double, n);
    level->node = arena_new(scratch, uint8_t, stride);
    level->above = arena_new(scratch, uint8_t, stride);
    level->splits = arena_new(scratch, struct split, (size_t)1 << f->options->depth);
    if (!level->fit || !level->residuals || !level->node || !level->above || !level->splits) return WN_ENOMEM;
    forest->start = wni_quantile_linear(sorted, n, alpha);
    for (size_t i = 0; i < n; i++) {
        level->fit[i] = forest->start;
        level->above[i] = f->y[i] > forest->start;
    }
    return WN_OK;
}

/* Vectors want 32-byte alignment, the arena gives 16. */
static void *aligned_alloc32(struct arena *arena, size_t size)
{
    char *p = wni_arena_alloc(arena, size + 32, 1);
    return p ? p + (32 - (uintptr_t)p % 32) % 32 : NULL;
}

static wn_status start_fit(struct fit *f, struct arena *scratch)
{
    size_t n = f->bins->n, columns = f->bins->columns, larger = n > columns ? n : columns;
    bool rows = f->options->row_share < 1, some = f->options->column_share < 1;
    f->sweep = aligned_alloc32(scratch, sizeof *f->sweep);
    bytes *marked = aligned_alloc32(scratch, n * sizeof *marked);
    f->other = arena_new(scratch, double, n);
    f->next = arena_new(scratch, uint8_t, f->bins->stride);
    f->levels = arena_new(scratch, struct level, f->n_levels);
    if (!f->sweep || !marked || !f->other || !f->next || !f->levels) return WN_ENOMEM;
    f->sweep->rows = marked;
    f->sweep->no_source = (struct lane_source){.node = f->next, .above = f->next};
    f->sweep->min_leaf = (floats){0} + (float)f->options->min_leaf;
    set_marks(f->sweep);
    if (rows && !(f->in_sample = arena_new(scratch, uint8_t, n))) return WN_ENOMEM;
    if (some && !(f->in_use = arena_new(scratch, uint8_t, columns))) return WN_ENOMEM;
    if ((rows || some) && !(f->drawn = arena_new(scratch, uint32_t, larger))) return WN_ENOMEM;
    return WN_OK;
}

wn_status wni_pinball_fit(struct forest *forests, const double *levels, size_t n_levels,
                          const struct bins *bins, const double *y, const struct boost_options *options,
                          struct rng *rng, enum simd simd, struct arena *keep, struct arena *scratch)
{
    assert(bins->n <= PINBALL_ROWS_MAX);
    struct fit f = {.bins = bins, .y = y, .options = options, .rng = rng, .simd = simd, .n_levels = n_levels};
    double *sorted = arena_new(scratch, double, bins->n);
    wn_status st = sorted ? start_fit(&f, scratch) : WN_ENOMEM;
    if (st) return st;
    memcpy(sorted, y, bins->n * sizeof *y);
    wni_sort(sorted, bins->n);
    for (size_t l = 0; l < n_levels && !st; l++)
        st = start_level(&f, &f.levels[l], &forests[l], levels[l], sorted, keep, scratch);
    for (int tree = 0; tree < options->trees && !st; tree++)
        grow_trees(&f, tree);
    return st;
}
