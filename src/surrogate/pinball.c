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
    BLOCK = 8, /* cuts that are dismissed together */
    FEW = 8,   /* so many values are selected from by sorting them */
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
    uint16_t c, C;    /* of those, with a positive gradient */
    uint16_t feature;
    uint8_t cut;
};

/* Cuts that were worked out, some of which may be a lane's best. */
struct look {
    counts left[BLOCK];
    floats gain[BLOCK]; /* improvement times N, but for rounding; 0: not a cut, or not allowed */
    uint16_t feature[BLOCK];
    uint8_t cut[BLOCK];
};

enum { LOOKS_MAX = 16 }; /* kept before they are settled; a group needs ten or so */

/* The nodes of one level that are in the current group of eight: 1, 2, 4 or 8 of them. */
struct lane_source {
    const uint8_t *node, *above;
    unsigned first_node,
        n_nodes; /* a row's key has 2 (node - first_node) + above of each source, the first lowest */
};

/* Eight neighbouring cuts of a column. */
struct block {
    counts last; /* counts to the left of its last cut */
    union {
        ints largest; /* |d| of its cuts, after the sweep */
        floats bound; /* of their improvements (times N), once weighed */
    };
};

/* The rows of a column in the order of their codes, up to its last cut.
 *
 * They come in stretches of `unit` rows.  A bin is one of them, or several; its last is filled up with the
 * row that counts nothing.  So the inner loop has a fixed length and nothing to mispredict, at the price of
 * counting through some stretches that do not end at a cut.  A column of few long bins has a stretch for each
 * bin instead, as long as that is. */
struct walk {
    uint16_t *rows;    /* in units of half a mark, 8 bytes: what one instruction can address */
    int32_t *cuts;     /* of each stretch: -1, or 0 if the bin goes on after it; NULL: all are -1 */
    uint16_t *lengths; /* of each stretch; NULL: `unit` */
    uint8_t *cut_at;   /* by stretch: the cut at the end of its bin; not with `lengths` */
    struct block *blocks;
    uint16_t n_units, n_blocks;
    uint8_t unit; /* 1, 2 or 4; 0 with `lengths` */
    bool right;   /* the walk is over the rows right of the only cut: there are fewer of them */
};

struct sweep {
    counts total;     /* C and N of each lane */
    shorts weights;   /* N and -C */
    counts only_rows; /* a mask */
    floats per_row;   /* 1 / max(C, N - C): at least so many rows it takes to make a unit of d */
    floats threshold; /* a little below the best improvement (times N) met so far */
    ints packing[16]; /* see partition() */
    struct look looks[LOOKS_MAX + 2], *next_look; /* the next one is being filled */
    size_t n_entered;                             /* cuts of short columns in this group so far */
    struct split best[LANES];
    bytes *marks[LANES + 1]; /* by the nodes of each level in the group, then by a row's key: what it adds */
    bytes *rows;             /* what each row adds to the counts; one more, that adds nothing */
    int min_leaf;
};

struct level {
    double alpha;
    struct forest *forest;
    double *fit;          /* current prediction of each row */
    uint8_t *node;        /* of each row, within the current depth */
    uint8_t *above;       /* 1: y above the fit, that is a positive gradient */
    struct split *splits; /* of the current tree, in heap order */
};

/* What each leaf needs of its residuals; see plan_leaf(). */
struct leaf_plan {
    uint8_t above[NODES_MAX];      /* 1: the residual that is looked for is a positive one */
    uint16_t rank[NODES_MAX];      /* its rank among those on its side of 0 */
    uint16_t start[NODES_MAX + 1]; /* where those of each leaf are put */
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
    double *residuals;         /* scratch: the ones of a level that matter, grouped by leaf */
    uint16_t *list;            /* scratch: rows whose residuals matter */
    bytes pick[8], minus[8];   /* by leaf: shuffles its 16-bit place to the front; -1 in its place */
    uint64_t places[KEYS_MAX]; /* of the bits of a byte that are set: a byte each */
    double *other;             /* scratch of selections */
    uint8_t *next;             /* scratch: a row's side of its split */
    uint8_t *in_sample;        /* row is in this tree's sample; NULL: all are */
    uint8_t *in_use;           /* column is; NULL: all are */
    uint32_t *drawn;
};

/* ---- choosing a split ---- */

static unsigned __int128 times(uint64_t a, uint64_t b)
{
    return (unsigned __int128)a * b;
}

/* Of equally good cuts the one of the lowest feature, then the lowest, wins. */
static void compare_exactly(struct sweep *s, const struct look *look, unsigned place)
{
    unsigned k = place % LANES, i = place / LANES;
    int64_t c = look->left[i][2 * k], n = look->left[i][2 * k + 1], C = s->total[2 * k],
            N = s->total[2 * k + 1];
    int64_t d = c * N - C * n;
    struct split *best = &s->best[k], it = {.square = (uint64_t)(d * d),
                                            .product = (uint64_t)(n * (N - n)),
                                            .n = (uint16_t)n,
                                            .N = (uint16_t)N,
                                            .c = (uint16_t)c,
                                            .C = (uint16_t)C,
                                            .feature = look->feature[i],
                                            .cut = look->cut[i]};
    unsigned __int128 ours = times(it.square, best->product), theirs = times(best->square, it.product);
    bool before = it.feature < best->feature || (it.feature == best->feature && it.cut < best->cut);
    if (!best->product || ours > theirs || (ours == theirs && before)) *best = it;
}

/* A bit for each lane that is not 0. */
static unsigned lanes_of(ints mask)
{
    unsigned bits = 0;
    for (int k = 0; k < LANES; k++)
        bits |= (unsigned)(mask[k] != 0) << k;
    return bits;
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
    void (*choose)(struct sweep *s, const struct walk *walk, uint16_t feature);
    void (*settle)(struct sweep *s);
    uint8_t (*next_bin)(const uint8_t *codes, const uint8_t *node, size_t n, uint8_t k, uint8_t cut);
    void (*send_right)(const uint8_t *codes, const uint8_t *node, size_t n, uint8_t k, uint8_t cut,
                       uint8_t *restrict next);
    uint32_t (*count)(const uint8_t *from, size_t n);
    size_t (*list_rows)(const struct fit *f, const struct level *level, const struct leaf_plan *plan,
                        size_t n_leaves);
    void (*put_residuals)(const struct fit *f, const struct level *level, const struct leaf_plan *plan,
                          size_t n_leaves, size_t n);
    double (*select)(double *x, double *other, size_t n, size_t k, const ints *packing);
    void (*move_rows)(const double *restrict y, const double *restrict leaves, const uint8_t *restrict leaf,
                      size_t n, double *restrict fit, uint8_t *restrict above);
};

#define KERNELS(set)                                                                                         \
    {                                                                                                        \
        .mark_rows = mark_rows_##set, .sweep_column = sweep_column_##set, .choose = choose_##set,            \
        .settle = settle_##set, .next_bin = next_bin_##set, .send_right = send_right_##set,                  \
        .count = count_##set, .list_rows = list_rows_##set, .put_residuals = put_residuals_##set,            \
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
    ints N = (ints)s->total >> 16, C = (ints)s->total & UINT16_MAX, others = N - C;
    ints larger = (C & (C > others)) | (others & ~(C > others));
    s->weights = (shorts)(N - C * 65536); /* pairs of N and -C */
    s->per_row = 1.0f / __builtin_convertvector(larger | (larger == 0), floats);
    for (int k = 0; k < LANES; k++)
        s->best[k] = (struct split){
            .n = (uint16_t)N[k], .N = (uint16_t)N[k], .c = (uint16_t)C[k], .C = (uint16_t)C[k]};
    s->threshold = (floats){0};
    s->next_look = s->looks;
    s->n_entered = 0;
}

/* Fills the last block of single cuts up with none. */
static void finish_entering(struct sweep *s)
{
    if (s->n_entered % BLOCK == 0) return;
    for (size_t i = s->n_entered % BLOCK; i < BLOCK; i++)
        s->next_look->gain[i] = (floats){0};
    s->next_look++;
}

/* Takes the rows that this tree does not see out of the sweep. */
static void drop_rows(struct sweep *s, const uint8_t *in_sample, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!in_sample[i]) s->rows[i] = (bytes){0};
}

/* The counts of a root. */
static void count_root(const struct fit *f, const struct level *level, struct split *whole)
{
    size_t n = f->bins->n;
    uint32_t rows = (uint32_t)n, positive = 0;
    if (f->in_sample) {
        rows = f->kernels->count(f->in_sample, n);
        for (size_t i = 0; i < n; i++)
            positive += f->in_sample[i] & level->above[i];
    } else {
        positive = f->kernels->count(level->above, n);
    }
    *whole = (struct split){.n = (uint16_t)rows, .c = (uint16_t)positive};
}

/* The counts of a node: its parent's split knows them. */
static void count_node(struct fit *f, size_t number, unsigned n_nodes, counts *total, int lane)
{
    const struct level *level = &f->levels[number / n_nodes];
    size_t node = number % n_nodes;
    struct split parent = {0};
    if (n_nodes == 1)
        count_root(f, level, &parent);
    else
        parent = level->splits[(n_nodes + node) / 2 - 1];
    bool right = node % 2;
    (*total)[2 * lane] = right ? (uint16_t)(parent.C - parent.c) : parent.c;
    (*total)[2 * lane + 1] = right ? (uint16_t)(parent.N - parent.n) : parent.n;
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
    f->sweep->total = (counts){0};
    for (int k = 0; k < LANES && first + (size_t)k < f->n_levels * n_nodes; k++)
        count_node(f, first + (size_t)k, n_nodes, &f->sweep->total, k);
    start_sweep(f->sweep);
    for (size_t j = 0; j < f->bins->columns; j++)
        if (!f->in_use || f->in_use[j]) f->kernels->sweep_column(f->sweep, &f->walks[j], (uint16_t)j);
    finish_entering(f->sweep);
    for (size_t j = 0; j < f->bins->columns; j++)
        if (!f->in_use || f->in_use[j]) f->kernels->choose(f->sweep, &f->walks[j], (uint16_t)j);
    f->kernels->settle(f->sweep);
    for (size_t k = 0; k < LANES && first + k < f->n_levels * n_nodes; k++)
        f->levels[(first + k) / n_nodes].splits[n_nodes - 1 + (first + k) % n_nodes] = f->sweep->best[k];
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
        const struct split *split = &level->splits[n_nodes - 1 + k];
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

/* What is needed of each leaf is the residual of a certain rank.  The gradients tell how many residuals are
 * positive, hence on which side of 0 that one is; rows on the other side are not even looked at. */
static void plan_leaf(struct leaf_plan *plan, size_t k, size_t n, size_t positive, double alpha)
{
    size_t rank = n ? wni_quantile_lower_index(n, alpha) : 0, others = n - positive;
    bool above = rank >= others;
    plan->above[k] = above;
    plan->rank[k] = (uint16_t)(above ? rank - others : rank);
    plan->start[k + 1] = (uint16_t)(plan->start[k] + (above ? positive : others));
}

/* The splits of the last depth know all counts. */
static void plan_leaves(const struct level *level, size_t n_leaves, struct leaf_plan *plan)
{
    plan->start[0] = 0;
    for (size_t k = 0; k < n_leaves; k += 2) {
        const struct split *s = &level->splits[(n_leaves + k) / 2 - 1];
        plan_leaf(plan, k, s->n, s->c, level->alpha);
        plan_leaf(plan, k + 1, (size_t)(s->N - s->n), (size_t)(s->C - s->c), level->alpha);
    }
}

/* Every leaf takes the quantile of its rows' residuals; then all rows move. */
static void set_leaves(struct fit *f, struct level *level, int tree)
{
    size_t n_leaves = (size_t)1 << f->options->depth;
    double *leaves = level->forest->leaves + (size_t)tree * n_leaves;
    struct leaf_plan plan;
    plan_leaves(level, n_leaves, &plan);
    size_t n_listed = f->kernels->list_rows(f, level, &plan, n_leaves);
    f->kernels->put_residuals(f, level, &plan, n_leaves, n_listed);
    for (size_t k = 0; k < n_leaves; k++) {
        size_t begin = plan.start[k], count = plan.start[k + 1] - begin;
        if (!count) continue;
        double quantile = f->kernels->select(f->residuals + begin, f->other + begin, count, plan.rank[k],
                                             f->sweep->packing);
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

/* For list_rows() and put_residuals(). */
static void fill_places(struct fit *f)
{
    uint64_t *places = f->places;
    for (unsigned k = 0; k < 8; k++) {
        f->pick[k][0] = (uint8_t)(2 * k);
        f->pick[k][1] = (uint8_t)(2 * k + 1);
        f->minus[k][2 * k] = f->minus[k][2 * k + 1] = UINT8_MAX;
    }
    places[0] = 0;
    for (unsigned byte = 1; byte < KEYS_MAX; byte++)
        places[byte] = places[byte & (byte - 1)] << 8 | (unsigned)__builtin_ctz(byte);
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

/* Rows of bin b; returns how many. */
static size_t put_rows(const struct bin_column *c, size_t b, uint16_t *to)
{
    size_t begin = b ? c->run_end[b - 1] : 0, n = c->run_end[b] - begin;
    for (size_t i = 0; i < n; i++)
        to[i] = (uint16_t)(2 * c->order[begin + i]);
    return n;
}

/* The bins [first, end), a stretch each. */
static void lay_out_bins(struct walk *w, const struct bin_column *c, size_t first, size_t end)
{
    uint16_t *to = w->rows;
    for (size_t b = first; b < end; b++) {
        w->lengths[b - first] = (uint16_t)put_rows(c, b, to);
        to += w->lengths[b - first];
    }
}

/* The bins left of n_cuts cuts, each filled up to whole stretches; then the last cut again, to fill a block.
 */
static void lay_out_units(struct walk *w, const struct bin_column *c, size_t n_cuts, uint16_t nobody)
{
    uint16_t *to = w->rows, *end = to + (size_t)w->n_blocks * BLOCK * w->unit;
    size_t k = 0;
    for (size_t b = 0; b < n_cuts; b++) {
        uint16_t *bin_end = to + put_rows(c, b, to);
        for (; to < bin_end; to += w->unit, k++) {
            w->cut_at[k] = (uint8_t)b;
            if (w->cuts) w->cuts[k] = to + w->unit < bin_end ? 0 : -1;
        }
        for (; bin_end < to; bin_end++)
            *bin_end = (uint16_t)(2 * nobody);
    }
    for (; to < end; to += w->unit, k++) {
        w->cut_at[k] = (uint8_t)(n_cuts - 1);
        if (w->cuts) w->cuts[k] = -1;
        for (size_t i = 0; i < w->unit; i++)
            to[i] = (uint16_t)(2 * nobody);
    }
}

static size_t count_units(const struct bin_column *c, size_t first, size_t end, size_t unit)
{
    size_t sum = 0;
    for (size_t b = first; b < end; b++)
        sum += ((size_t)(c->run_end[b] - (b ? c->run_end[b - 1] : 0)) + unit - 1) / unit;
    return sum;
}

/* Chooses the cheapest kind of walk for n rows in bins [first, end).  Costs are in instructions: two for a
 * row, nine for a stretch; for a block 30 more to weigh it, and a look or so for a column; for a stretch of
 * variable length 45, half of it for a branch that is mispredicted. */
static void choose_unit(struct walk *w, const struct bin_column *c, size_t first, size_t end, size_t n)
{
    size_t best = 2 * n + 45 * (end - first);
    w->n_units = (uint16_t)(end - first);
    for (size_t unit = 1; unit <= 4 && !w->right; unit *= 2) {
        size_t units = count_units(c, first, end, unit), blocks = (units + BLOCK - 1) / BLOCK;
        size_t cost = blocks * (BLOCK * (2 * unit + 9) + 30) + 150;
        if (cost >= best) continue;
        best = cost;
        w->unit = (uint8_t)unit;
        w->n_units = (uint16_t)units;
        w->n_blocks = (uint16_t)blocks;
    }
}

static wn_status allocate_walk(struct walk *w, size_t n, size_t n_cuts, struct arena *scratch)
{
    size_t room = w->unit ? (size_t)w->n_blocks * BLOCK : w->n_units;
    w->rows = arena_new(scratch, uint16_t, w->unit ? room * w->unit : n);
    if (!w->unit) {
        w->lengths = arena_new(scratch, uint16_t, room);
        return w->rows && w->lengths ? WN_OK : WN_ENOMEM;
    }
    w->cut_at = arena_new(scratch, uint8_t, room);
    w->blocks = aligned_alloc32(scratch, w->n_blocks * sizeof *w->blocks);
    if (!w->rows || !w->cut_at || !w->blocks) return WN_ENOMEM;
    if (w->n_units > n_cuts && !(w->cuts = arena_new(scratch, int32_t, room))) return WN_ENOMEM;
    return WN_OK;
}

static wn_status start_walk(struct walk *w, const struct bins *bins, size_t j, struct arena *scratch)
{
    const struct bin_column *c = &bins->column[j];
    size_t n_cuts = c->n_cuts, n = n_cuts ? c->run_end[n_cuts - 1] : 0; /* rows left of the last cut */
    *w = (struct walk){.right = n_cuts == 1 && 2 * n > bins->n};
    if (w->right) n = bins->n - n;
    choose_unit(w, c, w->right, n_cuts + w->right, n);
    wn_status st = allocate_walk(w, n, n_cuts, scratch);
    if (st) return st;
    if (w->unit)
        lay_out_units(w, c, n_cuts, (uint16_t)bins->n);
    else
        lay_out_bins(w, c, w->right, n_cuts + w->right);
    return WN_OK;
}

static wn_status start_fit(struct fit *f, struct arena *scratch)
{
    size_t n = f->bins->n, columns = f->bins->columns, larger = n > columns ? n : columns;
    bool rows = f->options->row_share < 1, some = f->options->column_share < 1;
    f->sweep = aligned_alloc32(scratch, sizeof *f->sweep);
    void *shared = aligned_alloc32(scratch, (n + 1) * sizeof(bytes));
    f->next = arena_new(scratch, uint8_t, f->bins->stride);
    f->list = arena_new(scratch, uint16_t, n + 8);
    f->levels = arena_new(scratch, struct level, f->n_levels);
    f->walks = arena_new(scratch, struct walk, columns);
    if (!f->sweep || !shared || !f->next || !f->list || !f->levels || !f->walks) return WN_ENOMEM;
    f->residuals = shared; /* marks are made anew before each sweep: their place is free in between */
    f->other = f->residuals + n;
    *f->sweep = (struct sweep){.rows = shared};
    f->sweep->rows[n] = (bytes){0};
    f->sweep->min_leaf = f->options->min_leaf;
    for (int k = 0; k < LANES; k++)
        f->sweep->only_rows[2 * k + 1] = UINT16_MAX;
    fill_packing(f->sweep);
    fill_places(f);
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
    wn_status st = start_fit(&f, scratch);
    if (st) return st;
    memcpy(f.residuals, y, bins->n * sizeof *y); /* still free */
    wni_sort(f.residuals, bins->n);
    for (size_t l = 0; l < n_levels && !st; l++)
        st = start_level(&f, &f.levels[l], &forests[l], levels[l], f.residuals, keep, scratch);
    for (int tree = 0; tree < options->trees && !st; tree++)
        grow_trees(&f, tree);
    return st;
}
