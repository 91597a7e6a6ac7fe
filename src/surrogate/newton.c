/* newton.c -- second-order boosting over histograms.
 *
 * A node's rows are a contiguous range of one index array, split in place as the tree grows.  For each column
 * the node's derivatives are summed by code; a bit per occupied code says where to look, so a small node
 * costs its rows, not 256 bins. */
#include "surrogate/newton.h"

#include "num/portable.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* XGBoost takes no split that gains less than the first.  Gains that differ by less than the second, relative
 * to what they are the difference of, differ by rounding: such a tie stays with the lowest feature, then the
 * lowest cut. */
static const double LEAST_LOGISTIC_GAIN = 1e-6, ROUNDING = 1e-12;

struct sums {
    double g, h;
    uint32_t n;
};

struct fit {
    const struct bins *bins;
    const double *y;
    const struct newton_options *options;
    struct forest *forest;
    double *margin, *g, *h; /* of each row */
    uint16_t *rows;         /* grouped by node */
    uint16_t *right;        /* scratch of a partition */
    size_t n_rows;          /* in this tree's sample */
    uint8_t *in_use;        /* column is; NULL: all are */
    uint32_t *drawn;
    struct sums bin[BINS_MAX];
};

struct range {
    size_t begin, end; /* in `rows` */
    bool closed;       /* these very rows were not worth splitting one level up */
};

struct best_split {
    double gain;
    size_t feature;
    uint8_t cut, above; /* best cut, and the next occupied code; above 0: none found */
};

static struct sums add(struct sums a, struct sums b)
{
    return (struct sums){a.g + b.g, a.h + b.h, a.n + b.n};
}

static struct sums subtract(struct sums a, struct sums b)
{
    return (struct sums){a.g - b.g, a.h - b.h, a.n - b.n};
}

static double score(const struct fit *f, struct sums s)
{
    return s.g * s.g / (s.h + f->options->lambda);
}

static bool allowed(const struct fit *f, struct sums s)
{
    return s.n >= (uint32_t)f->options->boost.min_leaf &&
           s.h >= f->options->min_child_weight * (1 - ROUNDING) && s.h + f->options->lambda > 0;
}

/* ---- splitting a node ---- */

/* Sums up the node by code and returns which codes occur. */
static void fill_bins(struct fit *f, struct range node, const uint8_t *codes, uint64_t occupied[4])
{
    memset(occupied, 0, 4 * sizeof *occupied);
    for (size_t i = node.begin; i < node.end; i++) {
        size_t row = f->rows[i];
        uint8_t code = codes[row];
        struct sums one = {f->g[row], f->h[row], 1};
        bool seen = occupied[code / 64] >> code % 64 & 1;
        occupied[code / 64] |= (uint64_t)1 << code % 64;
        f->bin[code] = seen ? add(f->bin[code], one) : one;
    }
}

static void consider(const struct fit *f, struct sums left, struct sums total, double parent, size_t feature,
                     unsigned code, unsigned above, struct best_split *best)
{
    struct sums right = subtract(total, left);
    if (!allowed(f, left) || !allowed(f, right)) return;
    double sum = score(f, left) + score(f, right), gain = sum - parent;
    if (gain <= best->gain + ROUNDING * sum) return;
    *best =
        (struct best_split){.gain = gain, .feature = feature, .cut = (uint8_t)code, .above = (uint8_t)above};
}

static void search_column(struct fit *f, struct range node, size_t feature, struct sums total, double parent,
                          struct best_split *best)
{
    uint64_t occupied[4];
    struct sums left = {0};
    fill_bins(f, node, f->bins->column[feature].codes, occupied);
    unsigned last = BINS_MAX;
    for (unsigned word = 0; word < 4; word++) {
        for (uint64_t bits = occupied[word]; bits; bits &= bits - 1) {
            unsigned code = 64 * word + (unsigned)__builtin_ctzll(bits);
            if (last < BINS_MAX) consider(f, left, total, parent, feature, last, code, best);
            left = add(left, f->bin[code]);
            last = code;
        }
    }
}

static struct sums total_of(const struct fit *f, struct range node)
{
    struct sums total = {0};
    for (size_t i = node.begin; i < node.end; i++)
        total = add(total, (struct sums){f->g[f->rows[i]], f->h[f->rows[i]], 1});
    return total;
}

/* Stable, so that sums run in row order whatever the tree. */
static size_t partition(struct fit *f, struct range node, const uint8_t *codes, uint8_t cut)
{
    size_t left = node.begin, n_right = 0;
    for (size_t i = node.begin; i < node.end; i++) {
        uint16_t row = f->rows[i];
        if (codes[row] > cut)
            f->right[n_right++] = row;
        else
            f->rows[left++] = row;
    }
    memcpy(f->rows + left, f->right, n_right * sizeof *f->right);
    return left;
}

/* Splits a node and its descendants; `at` counts nodes in heap order, from 0. */
static void grow(struct fit *f, int tree, size_t at, struct range node, int depth)
{
    size_t n_splits = ((size_t)1 << f->options->boost.depth) - 1;
    struct sums total = total_of(f, node);
    if (depth == f->options->boost.depth) {
        double leaf = node.begin == node.end ? 0 : -total.g / (total.h + f->options->lambda);
        f->forest->leaves[(size_t)tree * (n_splits + 1) + (at - n_splits)] = f->options->boost.rate * leaf;
        return;
    }
    struct best_split best = {.gain = f->options->loss == LOSS_LOGISTIC ? LEAST_LOGISTIC_GAIN : 0};
    double parent = score(f, total);
    for (size_t j = 0; j < f->bins->columns && node.end - node.begin > 1 && !node.closed; j++)
        if (!f->in_use || f->in_use[j]) search_column(f, node, j, total, parent, &best);
    uint8_t cut = FOREST_NO_SPLIT;
    size_t middle = node.end;
    if (best.above) {
        const struct bin_column *c = &f->bins->column[best.feature];
        cut = wni_bins_middle_cut(c, best.cut, best.above);
        middle = partition(f, node, c->codes, cut);
    }
    f->forest->features[(size_t)tree * n_splits + at] = (uint16_t)best.feature;
    f->forest->cuts[(size_t)tree * n_splits + at] = cut;
    grow(f, tree, 2 * at + 1, (struct range){node.begin, middle, .closed = !best.above}, depth + 1);
    grow(f, tree, 2 * at + 2, (struct range){middle, node.end, .closed = !best.above}, depth + 1);
}

/* ---- boosting ---- */

static void derive(struct fit *f)
{
    for (size_t i = 0; i < f->bins->n; i++) {
        if (f->options->loss == LOSS_SQUARED) {
            f->g[i] = f->margin[i] - f->y[i];
            f->h[i] = 1;
        } else {
            double p = 1 / (1 + wni_exp(-f->margin[i]));
            f->g[i] = p - f->y[i];
            f->h[i] = fmax(p * (1 - p), 1e-16);
        }
    }
}

static void draw_sample(struct fit *f, struct rng *rng)
{
    const struct boost_options *o = &f->options->boost;
    f->n_rows = f->bins->n;
    for (size_t i = 0; i < f->n_rows; i++)
        f->rows[i] = (uint16_t)i;
    if (o->row_share < 1) {
        f->n_rows = (size_t)fmax(1, floor(o->row_share * (double)f->bins->n));
        wni_rng_sample(rng, (uint32_t)f->bins->n, (uint32_t)f->n_rows, f->drawn);
        for (size_t i = 0; i < f->n_rows; i++)
            f->rows[i] = (uint16_t)f->drawn[i];
    }
    if (!f->in_use) return;
    uint32_t k = (uint32_t)fmax(1, floor(o->column_share * (double)f->bins->columns));
    memset(f->in_use, 0, f->bins->columns);
    wni_rng_sample(rng, (uint32_t)f->bins->columns, k, f->drawn);
    for (uint32_t i = 0; i < k; i++)
        f->in_use[f->drawn[i]] = 1;
}

/* Moves every row, sampled or not, by its leaf. */
static void step(struct fit *f, int tree)
{
    size_t n_splits = ((size_t)1 << f->forest->depth) - 1;
    const uint16_t *features = f->forest->features + (size_t)tree * n_splits;
    const uint8_t *cuts = f->forest->cuts + (size_t)tree * n_splits;
    const double *leaves = f->forest->leaves + (size_t)tree * (n_splits + 1);
    for (size_t i = 0; i < f->bins->n; i++) {
        size_t at = 0;
        while (at < n_splits)
            at = 2 * at + 1 + (f->bins->column[features[at]].codes[i] > cuts[at]);
        f->margin[i] += leaves[at - n_splits];
    }
}

static double start_value(const struct fit *f)
{
    if (f->options->loss == LOSS_LOGISTIC) return 0;
    double sum = 0;
    for (size_t i = 0; i < f->bins->n; i++)
        sum += f->y[i];
    return sum / (double)f->bins->n;
}

static wn_status allocate(struct fit *f, struct arena *scratch)
{
    size_t n = f->bins->n, columns = f->bins->columns;
    f->margin = arena_new(scratch, double, n);
    f->g = arena_new(scratch, double, n);
    f->h = arena_new(scratch, double, n);
    f->rows = arena_new(scratch, uint16_t, n);
    f->right = arena_new(scratch, uint16_t, n);
    f->drawn = arena_new(scratch, uint32_t, n > columns ? n : columns);
    if (f->options->boost.column_share < 1 && !(f->in_use = arena_new(scratch, uint8_t, columns)))
        return WN_ENOMEM;
    return f->margin && f->g && f->h && f->rows && f->right && f->drawn ? WN_OK : WN_ENOMEM;
}

wn_status wni_newton_fit(struct forest *forest, const struct bins *bins, const double *y,
                         const struct newton_options *options, struct rng *rng, struct arena *keep,
                         struct arena *scratch)
{
    struct fit *f = arena_new(scratch, struct fit, 1);
    if (!f) return WN_ENOMEM;
    *f = (struct fit){.bins = bins, .y = y, .options = options, .forest = forest};
    wn_status st = wni_forest_init(forest, options->boost.trees, options->boost.depth, keep);
    if (!st) st = allocate(f, scratch);
    if (st) return st;
    forest->start = start_value(f);
    for (size_t i = 0; i < bins->n; i++)
        f->margin[i] = forest->start;
    for (int tree = 0; tree < options->boost.trees; tree++) {
        derive(f);
        draw_sample(f, rng);
        grow(f, tree, 0, (struct range){.end = f->n_rows}, 0);
        step(f, tree);
    }
    return WN_OK;
}
