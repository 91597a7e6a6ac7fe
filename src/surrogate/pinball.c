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
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    LANES = 8,           /* nodes handled by one sweep */
    NO_LANE = 2 * LANES, /* what a key says of a row that belongs to none of them */
    KEYS_MAX = 256,
    NODES_MAX = 1 << FOREST_DEPTH_MAX,
    FEW = 8, /* so many values are selected from by sorting them */
};

/* Counts of node k are a pair: positive gradients at 2 k, rows at 2 k + 1. */
typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint16_t counts __attribute__((vector_size(32)));
typedef int16_t shorts __attribute__((vector_size(32)));
typedef char chars __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(32)));
typedef int64_t longs __attribute__((vector_size(32)));
typedef float floats __attribute__((vector_size(32)));
typedef double doubles __attribute__((vector_size(32)));

/* The best split of a node: improvement = square / product / N, exact. */
struct split {
    uint64_t square;  /* (c N - C n)^2 */
    uint64_t product; /* n (N - n); 0: none found */
    uint16_t n, N;    /* rows to the left (all of them without a split) and in all */
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

/* The nodes of one level that are in the current group of eight: 1, 2, 4 or 8 of them. */
struct lane_source {
    const uint8_t *node, *above;
    unsigned first_node,
        n_nodes; /* a row's key has 2 (node - first_node) + above of each source, the first lowest */
};

/* The rows of a column in the order of their codes, up to its last cut.  A bin is a number of units of `unit`
 * rows; the last unit is filled up with the row that counts nothing.  So the inner loop has a fixed length,
 * and most bins are a single unit. */
struct walk {
    uint16_t *rows;  /* in units of half a mark, 8 bytes: what one instruction can address */
    uint16_t *units; /* of each bin; NULL: every bin is one */
    uint16_t n_cuts;
    uint8_t unit; /* 1, 2 or 4 */
    bool right;   /* the walk is over the rows right of the only cut: there are fewer of them */
};

struct sweep {
    counts total;     /* C and N of each lane */
    shorts weights;   /* N and -C */
    counts only_rows; /* a mask */
    floats threshold; /* a little below the best improvement (times N) met so far */
    ints packing[16]; /* see partition() */
    struct noted noted[NOTED_MAX];
    struct split best[LANES];
    bytes *marks[LANES + 1]; /* by the nodes of each level in the group, then by a row's key: what it adds */
    bytes *rows;             /* what each row adds to the counts; one more, that adds nothing */
    size_t n_noted;
    int min_leaf;
};

struct level {
    double alpha;
    struct forest *forest;
    double *fit;    /* current prediction of each row */
    uint8_t *node;  /* of each row, within the current depth */
    uint8_t *above; /* 1: y above the fit, that is a positive gradient */
    struct split *splits;
};

struct fit {
    const struct bins *bins;
    const double *y;
    const struct boost_options *options;
    struct rng *rng;
    const struct kernels *kernels;
    struct level *levels;
    size_t n_levels;
    struct walk *walks; /* one per column */
    struct sweep *sweep;
    double *residuals;  /* scratch: those of a level, grouped by leaf */
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
    int64_t c = it->left[2 * k], n = it->left[2 * k + 1], C = s->total[2 * k], N = s->total[2 * k + 1];
    int64_t d = c * N - C * n;
    uint64_t square = (uint64_t)(d * d), product = (uint64_t)(n * (N - n));
    struct split *best = &s->best[k];
    if (n < s->min_leaf || N - n < s->min_leaf || d == 0) return;
    if (best->product && times(square, best->product) <= times(best->square, product)) return;
    *best = (struct split){.square = square,
                           .product = product,
                           .n = (uint16_t)n,
                           .N = (uint16_t)N,
                           .feature = it->feature,
                           .cut = it->cut};
}

static __attribute__((noinline)) void compare_exactly(struct sweep *s, const struct noted *it,
                                                      const ints *lanes)
{
    for (int k = 0; k < LANES; k++)
        if ((*lanes)[k]) compare_lane(s, it, k);
}

/* ---- selecting (partition() is in pinball_kernel.inc) ---- */

/* A guess at the k-th smallest: the value of that rank in a small even sample, which is sorted without
 * branches. */
static double guess_kth(const double *x, size_t n, size_t k)
{
    enum { SAMPLE = 5 };
    static const uint8_t exchanges[][2] = {{0, 1}, {3, 4}, {2, 4}, {2, 3}, {1, 4},
                                           {0, 3}, {0, 2}, {1, 3}, {1, 2}};
    double sample[SAMPLE];
    for (size_t i = 0; i < SAMPLE; i++)
        sample[i] = x[i * (n - 1) / (SAMPLE - 1)];
#pragma GCC unroll 9
    for (size_t i = 0; i < sizeof exchanges / sizeof *exchanges; i++) {
        double a = sample[exchanges[i][0]], b = sample[exchanges[i][1]];
        sample[exchanges[i][0]] = a < b ? a : b;
        sample[exchanges[i][1]] = a < b ? b : a;
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

/* ---- instruction sets ---- */

/* What is compiled once for each of them. */
struct kernels {
    void (*mark_rows)(struct sweep *s, size_t n, const struct lane_source *sources, size_t n_sources);
    void (*sweep_column)(struct sweep *s, const struct walk *walk, uint16_t feature);
    void (*settle)(struct sweep *s);
    uint8_t (*next_bin)(const uint8_t *codes, const uint8_t *node, size_t n, uint8_t k, uint8_t cut);
    void (*send_right)(const uint8_t *codes, const uint8_t *node, size_t n, uint8_t k, uint8_t cut,
                       uint8_t *restrict next);
    uint32_t (*count)(const uint8_t *from, size_t n, uint8_t value);
    double (*select)(double *x, double *other, size_t n, size_t k, const ints *packing);
    void (*move_rows)(const double *restrict y, const double *restrict leaves, const uint8_t *restrict leaf,
                      size_t n, double *restrict fit, uint8_t *restrict above);
};

#define KERNELS(set)                                                                                         \
    {                                                                                                        \
        .mark_rows = mark_rows_##set, .sweep_column = sweep_column_##set, .settle = settle_##set,            \
        .next_bin = next_bin_##set, .send_right = send_right_##set, .count = count_##set,                    \
        .select = select_kth_##set, .move_rows = move_rows_##set,                                            \
    }

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#include "surrogate/pinball_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET

#if defined(__x86_64__)
#define KERNEL_X86
#define KERNEL(name)  name##_avx2
#define KERNEL_TARGET __attribute__((target("avx2,popcnt")))
#include "surrogate/pinball_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET

#define KERNEL(name)  name##_avx512
#define KERNEL_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx2,popcnt")))
#include "surrogate/pinball_kernel.inc"
#undef KERNEL
#undef KERNEL_TARGET
#undef KERNEL_X86
#endif

static const struct kernels *kernels_for(enum simd simd)
{
    static const struct kernels all[] = {
        [SIMD_NONE] = KERNELS(plain),
#if defined(__x86_64__)
        [SIMD_AVX2] = KERNELS(avx2),
        [SIMD_AVX512] = KERNELS(avx512),
#endif
    };
    assert(simd < sizeof all / sizeof *all);
    return &all[simd];
}

/* Totals of the group's nodes, and no split yet. */
static void start_sweep(struct sweep *s)
{
    for (int k = 0; k < LANES; k++) {
        s->weights[2 * k] = (int16_t)s->total[2 * k + 1];
        s->weights[2 * k + 1] = (int16_t)-s->total[2 * k];
        s->best[k] = (struct split){.n = s->total[2 * k + 1], .N = s->total[2 * k + 1]};
    }
    s->threshold = (floats){0};
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
    unsigned n_sources = 0, n_each = n_nodes < LANES ? n_nodes : LANES;
    for (size_t at = first; at < f->n_levels * n_nodes && at < first + LANES; at += n_each, n_sources++) {
        const struct level *level = &f->levels[at / n_nodes];
        sources[n_sources] = (struct lane_source){.node = level->node,
                                                  .above = level->above,
                                                  .first_node = (unsigned)(at % n_nodes),
                                                  .n_nodes = n_each};
    }
    f->kernels->mark_rows(f->sweep, f->bins->n, sources, n_sources);
    if (f->in_sample) drop_rows(f->sweep, f->in_sample, f->bins->n);
    start_sweep(f->sweep);
    for (size_t j = 0; j < f->bins->columns; j++)
        if (!f->in_use || f->in_use[j]) f->kernels->sweep_column(f->sweep, &f->walks[j], (uint16_t)j);
    f->kernels->settle(f->sweep);
    for (size_t k = 0; k < LANES && first + k < f->n_levels * n_nodes; k++)
        f->levels[(first + k) / n_nodes].splits[(first + k) % n_nodes] = f->sweep->best[k];
}

/* ---- carrying splits out ---- */

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
        uint8_t above = f->kernels->next_bin(c->codes, level->node, n, (uint8_t)k, split->cut);
        cuts[k] = wni_bins_middle_cut(c, split->cut, above);
        f->kernels->send_right(c->codes, level->node, n, (uint8_t)k, cuts[k], f->next);
    }
    descend(level->node, f->next, n);
}

/* ---- leaves ---- */

/* Where each leaf's residuals begin; how many there are the splits of the last depth know. */
static void find_starts(const struct level *level, size_t n_leaves, uint32_t starts[NODES_MAX + 1])
{
    starts[0] = 0;
    for (size_t k = 0; k < n_leaves; k += 2) {
        starts[k + 1] = starts[k] + level->splits[k / 2].n;
        starts[k + 2] = starts[k] + level->splits[k / 2].N;
    }
}

/* Groups the residuals of the sampled rows by leaf. */
static void group_simply(const struct fit *f, struct level *level, const uint32_t *starts, size_t n_leaves)
{
    uint32_t at[NODES_MAX];
    memcpy(at, starts, n_leaves * sizeof *at);
    for (size_t i = 0; i < f->bins->n; i++)
        if (!f->in_sample || f->in_sample[i]) f->residuals[at[level->node[i]]++] = f->y[i] - level->fit[i];
}

/* The same without a sample, for many rows.  A place counter that was just stored cannot be loaded again at
 * once, so four quarters of the rows are dealt out side by side, each with counters of its own. */
static void group_in_quarters(const struct fit *f, struct level *level, const uint32_t *starts,
                              size_t n_leaves)
{
    enum { PARTS = 4 };
    size_t n = f->bins->n, part = n / PARTS;
    const uint8_t *leaf = level->node;
    const double *y = f->y, *fit = level->fit;
    double *residuals = f->residuals;
    uint32_t at[PARTS][NODES_MAX];
    memcpy(at[0], starts, n_leaves * sizeof **at);
    for (size_t p = 1; p < PARTS; p++)
        for (size_t k = 0; k < n_leaves; k++)
            at[p][k] = at[p - 1][k] + f->kernels->count(leaf + (p - 1) * part, part, (uint8_t)k);
    for (size_t i = 0; i < part; i++)
        for (size_t p = 0; p < PARTS; p++) {
            size_t row = p * part + i;
            residuals[at[p][leaf[row]]++] = y[row] - fit[row];
        }
    for (size_t i = PARTS * part; i < n; i++)
        residuals[at[PARTS - 1][leaf[i]]++] = y[i] - fit[i];
}

/* Every leaf takes the quantile of its rows' residuals; then all rows move. */
static void set_leaves(struct fit *f, struct level *level, int tree)
{
    size_t n_leaves = (size_t)1 << f->options->depth;
    double *leaves = level->forest->leaves + (size_t)tree * n_leaves;
    uint32_t starts[NODES_MAX + 1];
    find_starts(level, n_leaves, starts);
    bool many = f->bins->n >= 512 && !f->in_sample;
    (many ? group_in_quarters : group_simply)(f, level, starts, n_leaves);
    for (size_t k = 0; k < n_leaves; k++) {
        size_t begin = starts[k], count = starts[k + 1] - begin;
        if (!count) continue;
        double quantile =
            f->kernels->select(f->residuals + begin, f->other + begin, count,
                               wni_quantile_lower_index(count, level->alpha), f->sweep->packing);
        leaves[k] = f->options->rate * quantile;
    }
    f->kernels->move_rows(f->y, leaves, level->node, f->bins->n, level->fit, level->above);
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
    level->node = arena_new(scratch, uint8_t, stride);
    level->above = arena_new(scratch, uint8_t, stride);
    level->splits = arena_new(scratch, struct split, (size_t)1 << f->options->depth);
    if (!level->fit || !level->node || !level->above || !level->splits) return WN_ENOMEM;
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

/* With n_each nodes of each level in a group, a key has the bits of 8 / n_each levels.  A level that is not
 * there looks like one whose rows are all in its first node with a negative gradient: nothing to split. */
static wn_status fill_marks(struct sweep *s, unsigned n_each, struct arena *scratch)
{
    unsigned n_keys = n_each == 8 ? NO_LANE : n_each == 4 ? 64 : KEYS_MAX;
    bytes *marks = s->marks[n_each] = aligned_alloc32(scratch, (n_keys + 1) * sizeof *marks);
    if (!marks) return WN_ENOMEM;
    memset(marks, 0, (n_keys + 1) * sizeof *marks); /* the last is that of NO_LANE */
    for (unsigned key = 0; key < n_keys; key++)
        for (unsigned lane = 0, rest = key; lane < LANES; lane += n_each, rest /= 2 * n_each) {
            unsigned at = 2 * (lane + rest % (2 * n_each) / 2);
            marks[key][at] = rest % 2;
            marks[key][at + 1] = 1;
        }
    return WN_OK;
}

static void fill_packing(struct sweep *s)
{
    for (int mask = 0; mask < 16; mask++) { /* a double is two of the eight 32-bit words */
        int at = 0;
        for (int in_front = 1; in_front >= 0; in_front--)
            for (int i = 0; i < 4; i++) {
                if ((mask >> i & 1) != in_front) continue;
                s->packing[mask][at++] = 2 * i;
                s->packing[mask][at++] = 2 * i + 1;
            }
    }
}

/* Rows of the bins [first, end), each bin filled up to whole units. */
static void lay_out(struct walk *w, const struct bin_column *c, size_t first, size_t end, uint16_t nobody)
{
    uint16_t *to = w->rows;
    bool one_each = true;
    for (size_t b = first; b < end; b++) {
        size_t at = b ? c->run_end[b - 1] : 0, n = c->run_end[b] - at;
        for (size_t i = 0; i < n; i++)
            *to++ = (uint16_t)(2 * c->order[at + i]);
        for (; n % w->unit; n++)
            *to++ = (uint16_t)(2 * nobody);
        w->units[b - first] = (uint16_t)(n / w->unit);
        one_each &= n == w->unit;
    }
    if (one_each) w->units = NULL;
}

/* Chooses the unit: the longest bin, if that is short; otherwise four, unless most bins are shorter.  Returns
 * the number of units. */
static size_t choose_unit(struct walk *w, const struct bin_column *c, size_t first, size_t end, size_t n)
{
    size_t longest = 0, fours = 0;
    for (size_t b = first; b < end; b++) {
        size_t rows = c->run_end[b] - (size_t)(b ? c->run_end[b - 1] : 0);
        longest = rows > longest ? rows : longest;
        fours += (rows + 3) / 4;
    }
    w->unit = longest <= 2 ? (uint8_t)longest : n > 2 * (end - first) ? 4 : 1;
    return w->unit == 4 ? fours : w->unit == 2 ? end - first : n;
}

static wn_status start_walk(struct walk *w, const struct bins *bins, size_t j, struct arena *scratch)
{
    const struct bin_column *c = &bins->column[j];
    size_t n_cuts = c->n_cuts, n = n_cuts ? c->run_end[n_cuts - 1] : 0; /* rows left of the last cut */
    *w = (struct walk){.n_cuts = (uint16_t)n_cuts, .right = n_cuts == 1 && 2 * n > bins->n};
    if (w->right) n = bins->n - n;
    size_t n_units = choose_unit(w, c, w->right, n_cuts + w->right, n);
    w->rows = arena_new(scratch, uint16_t, n_units * w->unit);
    w->units = arena_new(scratch, uint16_t, n_cuts);
    if (!w->rows || !w->units) return WN_ENOMEM;
    lay_out(w, c, w->right, n_cuts + w->right, (uint16_t)bins->n);
    return WN_OK;
}

static wn_status start_fit(struct fit *f, struct arena *scratch)
{
    size_t n = f->bins->n, columns = f->bins->columns, larger = n > columns ? n : columns;
    bool rows = f->options->row_share < 1, some = f->options->column_share < 1;
    f->sweep = aligned_alloc32(scratch, sizeof *f->sweep);
    bytes *marked = aligned_alloc32(scratch, (n + 1) * sizeof *marked);
    f->residuals = arena_new(scratch, double, n);
    f->other = arena_new(scratch, double, n);
    f->next = arena_new(scratch, uint8_t, f->bins->stride);
    f->levels = arena_new(scratch, struct level, f->n_levels);
    f->walks = arena_new(scratch, struct walk, columns);
    if (!f->sweep || !marked || !f->residuals || !f->other || !f->next || !f->levels || !f->walks)
        return WN_ENOMEM;
    *f->sweep = (struct sweep){.rows = marked};
    f->sweep->rows[n] = (bytes){0};
    f->sweep->min_leaf = f->options->min_leaf;
    for (int k = 0; k < LANES; k++)
        f->sweep->only_rows[2 * k + 1] = UINT16_MAX;
    fill_packing(f->sweep);
    for (unsigned n_each = 1; n_each <= LANES && n_each < 1u << f->options->depth; n_each *= 2)
        if (fill_marks(f->sweep, n_each, scratch)) return WN_ENOMEM;
    for (size_t j = 0; j < columns; j++)
        if (start_walk(&f->walks[j], f->bins, j, scratch)) return WN_ENOMEM;
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
    struct fit f = {.bins = bins,
                    .y = y,
                    .options = options,
                    .rng = rng,
                    .kernels = kernels_for(simd),
                    .n_levels = n_levels};
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
