/* newton.c -- second-order boosting over histograms.
 *
 * Derivatives are rounded to fixed point, so sums of them are exact: no order of summation changes a bit, and
 * a node's histogram is its parent's minus its sibling's.  Only the smaller of two siblings is summed up, all
 * columns in one sweep over its rows.  A bin is one 128-bit vector: g in one half, h and the number of rows
 * in the other.  A column of two values, as those of a category are, has only its rows of the higher value
 * summed up, mostly few; the others are the rest of the node's.  A node of few rows leaves most bins empty;
 * it has no histogram but one column's bins at a time, and a set of those it filled.
 *
 * A node's rows are a contiguous range of one index array, split in place as the tree grows. */
#include "surrogate/newton.h"

#include "num/portable.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* XGBoost takes no split that gains less than the first.  Sums that differ by less than the second,
 * relatively, differ by rounding: such a tie stays with the lowest feature, then the lowest cut. */
static const double LEAST_LOGISTIC_GAIN = 1e-6, ROUNDING = 1e-12;

/* [0]: g.  [1]: h above COUNT_BITS, the number of rows below, which with BINS_ROWS_MAX rows never carries. */
typedef int64_t sums __attribute__((vector_size(16)));
/* Bits that all rows together may take: few enough for reading() to turn them into doubles. */
enum { COUNT_BITS = 16, G_BITS = 50, H_BITS = 46 };
typedef double pair __attribute__((vector_size(16)));

struct node_sums { /* read back */
    double g, h;
    uint32_t n;
};

struct column_search;

struct fit {
    const struct bins *bins;
    const double *y;
    const struct newton_options *options;
    struct forest *forest;
    double *margin;        /* of each row */
    double g_unit, h_unit; /* what 1 of fixed point stands for: powers of two */
    int64_t least_h;       /* of a child, in the form of sums[1] with no rows */
    sums *derivatives;     /* of each row */
    uint32_t *first;       /* of each column, its first bin in a histogram; and behind the last */
    uint32_t *places;      /* in a histogram, of each row after the other; not the first bins of pairs */
    size_t *row_end;       /* where in `places` those of each row end, and from [-1] begin */
    uint32_t *pairs;       /* columns with two bins */
    size_t n_pairs;
    sums *histograms;             /* a tree's depth of them */
    struct column_search *search; /* scratch */
    sums *few;                    /* one column's bins of a node of few rows; all empty in between */
    uint16_t *rows;               /* grouped by node */
    uint16_t *right;              /* scratch of a partition */
    size_t n_rows;                /* in this tree's sample */
    uint8_t *in_use;              /* column is; NULL: all are */
    uint32_t *sample;             /* the rows in it, increasing */
    uint32_t *drawn;              /* columns */
};

struct node {
    size_t at; /* in heap order, from 0 */
    int depth;
    size_t begin, end; /* in `rows` */
    bool splits;       /* may be worth splitting */
    sums *histogram;   /* NULL: it has few rows, or does not split */
};

struct best_split {
    double sum; /* of the scores of both sides; only more than this is better */
    size_t feature;
    uint8_t cut;
    bool found;
};

/* ---- sums ---- */

/* g and h.  Both integers become doubles at once: added to the bits of 1.5 * 2^52 they are its last digits.
 * Exact below 2^51; x86 before AVX-512 has no such instruction for 64 bits. */
static pair reading(const struct fit *f, sums s)
{
    const pair magic = {0x1.8p52, 0x1.8p52}, units = {f->g_unit, f->h_unit};
    sums numbers = {s[0], s[1] >> COUNT_BITS};
    return ((pair)(numbers + (sums)magic) - magic) * units;
}

static uint32_t count_of(sums s)
{
    return (uint32_t)(s[1] & ((1 << COUNT_BITS) - 1));
}

static struct node_sums read_sums(const struct fit *f, sums s)
{
    pair read = reading(f, s);
    return (struct node_sums){read[0], read[1], count_of(s)};
}

static sums total_of(const struct fit *f, const struct node *node)
{
    sums total = {0};
    for (size_t i = node->begin; i < node->end; i++)
        total += f->derivatives[f->rows[i]];
    return total;
}

/* Whether both sides of a split could be large enough. */
static bool divisible(const struct fit *f, struct node_sums s)
{
    return s.n >= 2 * (uint32_t)f->options->boost.min_leaf &&
           s.h >= 2 * f->options->min_child_weight * (1 - ROUNDING);
}

static bool wants_splitting(const struct fit *f, const struct node *node)
{
    return node->depth < f->options->boost.depth && node->end - node->begin > 1 &&
           divisible(f, read_sums(f, total_of(f, node)));
}

static size_t n_bins(const struct fit *f)
{
    return f->first[f->bins->columns];
}

/* Whether going over a node's rows costs less than going over all bins; by measurement. */
static bool has_few_rows(const struct fit *f, const struct node *node)
{
    return (node->end - node->begin) * 4 * f->bins->columns <= n_bins(f);
}

/* Adds a node's rows to a histogram, or takes them out of it, but for first bins of pairs. */
static void move_rows(const struct fit *f, const struct node *node, bool out, sums *histogram)
{
    for (size_t i = node->begin; i < node->end; i++) {
        size_t row = f->rows[i];
        sums one = f->derivatives[row];
        if (out) one = -one;
        for (size_t k = f->row_end[row - 1], end = f->row_end[row]; k < end; k++)
            histogram[f->places[k]] += one;
    }
}

static void set_first_of_pairs(const struct fit *f, const struct node *node, sums *histogram)
{
    if (f->n_pairs == 0) return;
    sums total = total_of(f, node);
    for (size_t k = 0; k < f->n_pairs; k++) {
        sums *bin = histogram + f->first[f->pairs[k]];
        bin[0] = total - bin[1];
    }
}

static void fill_histogram(const struct fit *f, const struct node *node, sums *histogram)
{
    memset(histogram, 0, n_bins(f) * sizeof *histogram);
    move_rows(f, node, false, histogram);
    set_first_of_pairs(f, node, histogram);
}

/* ---- splitting a node ---- */

struct column_search {
    size_t n;               /* places to cut behind that leave enough on both sides */
    double g[BINS_MAX];     /* of all rows up to there */
    double h[BINS_MAX];     /* lambda included */
    double score[BINS_MAX]; /* of both sides */
    uint8_t code[BINS_MAX];
};

/* Running sums over the occupied bins.  A side grows with every bin, so places with enough on both sides lie
 * between a first and a last one.  Every bin there writes, an empty one is overwritten by the next. */
static void cut_behind(const struct fit *f, const sums *bins, size_t n_codes, sums total,
                       struct column_search *c)
{
    int64_t least_h = f->least_h;
    uint32_t least_n = (uint32_t)f->options->boost.min_leaf;
    double lambda = f->options->lambda;
    sums left = {0};
    size_t n = 0, code = 0;
    for (; code < n_codes; code++) {
        left += bins[code];
        if (left[1] >= least_h && count_of(left) >= least_n) break;
    }
    for (; code < n_codes; code++) {
        sums right = total - left;
        if (right[1] < least_h || count_of(right) < least_n) break;
        pair read = reading(f, left);
        c->g[n] = read[0];
        c->h[n] = read[1] + lambda;
        c->code[n] = (uint8_t)code;
        n += bins[code][1] != 0;
        if (code + 1 < n_codes) left += bins[code + 1];
    }
    c->n = n;
}

/* The same for a node of few rows. */
static void cut_behind_few(const struct fit *f, const struct node *node, size_t feature, sums total,
                           struct column_search *c)
{
    const uint8_t *codes = f->bins->column[feature].codes;
    int64_t least_h = f->least_h;
    uint32_t least_n = (uint32_t)f->options->boost.min_leaf;
    double lambda = f->options->lambda;
    uint64_t filled[(BINS_MAX + 63) / 64] = {0};
    sums left = {0};
    size_t n = 0;
    for (size_t i = node->begin; i < node->end; i++) {
        uint8_t code = codes[f->rows[i]];
        f->few[code] += f->derivatives[f->rows[i]];
        filled[code / 64] |= (uint64_t)1 << code % 64;
    }
    for (size_t word = 0; word < sizeof filled / sizeof *filled; word++)
        for (uint64_t rest = filled[word]; rest; rest &= rest - 1) {
            size_t code = word * 64 + (size_t)__builtin_ctzll(rest);
            left += f->few[code];
            f->few[code] = (sums){0};
            sums right = total - left;
            pair read = reading(f, left);
            c->g[n] = read[0];
            c->h[n] = read[1] + lambda;
            c->code[n] = (uint8_t)code;
            n += (left[1] >= least_h) & (right[1] >= least_h) & (count_of(left) >= least_n) &
                 (count_of(right) >= least_n);
        }
    c->n = n;
}

/* GL^2/(HL+lambda) + GR^2/(HR+lambda) with one division; a loop without branches, for vector units. */
static void score_cuts(struct column_search *c, double g, double h_and_two_lambda)
{
    for (size_t i = 0; i < c->n; i++) {
        double gl = c->g[i], gr = g - gl, hl = c->h[i], hr = h_and_two_lambda - hl;
        c->score[i] = (gl * gl * hr + gr * gr * hl) / (hl * hr);
    }
}

static void search_column(const struct fit *f, const struct node *node, size_t feature, sums total,
                          struct best_split *best)
{
    struct column_search *c = f->search;
    struct node_sums all = read_sums(f, total);
    size_t first = f->first[feature], n_codes = f->first[feature + 1] - first;
    if (node->histogram)
        cut_behind(f, node->histogram + first, n_codes, total, c);
    else
        cut_behind_few(f, node, feature, total, c);
    score_cuts(c, all.g, all.h + 2 * f->options->lambda);
    for (size_t i = 0; i < c->n; i++) {
        if (!(c->score[i] > best->sum)) continue;
        *best = (struct best_split){c->score[i] * (1 + ROUNDING), feature, c->code[i], true};
    }
}

static struct best_split find_split(const struct fit *f, const struct node *node)
{
    sums total = total_of(f, node);
    struct node_sums all = read_sums(f, total);
    double least = f->options->loss == LOSS_LOGISTIC ? LEAST_LOGISTIC_GAIN : 0;
    double parent = all.g * all.g / (all.h + f->options->lambda);
    struct best_split best = {.sum = parent * (1 + ROUNDING) + least};
    for (size_t j = 0; j < f->bins->columns; j++)
        if (!f->in_use || f->in_use[j]) search_column(f, node, j, total, &best);
    return best;
}

/* The cut halfway between the values on either side of the split. */
static uint8_t middle_cut(const struct fit *f, const struct node *node, const struct best_split *best)
{
    const struct bin_column *column = &f->bins->column[best->feature];
    uint8_t above = UINT8_MAX;
    for (size_t i = node->begin; i < node->end; i++) {
        uint8_t code = column->codes[f->rows[i]];
        above = code > best->cut && code < above ? code : above;
    }
    return wni_bins_middle_cut(column, best->cut, above);
}

/* Stable, so that rows stay in increasing order. */
static size_t partition(struct fit *f, const struct node *node, const uint8_t *codes, uint8_t cut)
{
    size_t left = node->begin, n_right = 0;
    for (size_t i = node->begin; i < node->end; i++) {
        uint16_t row = f->rows[i];
        bool right = codes[row] > cut;
        f->right[n_right] = row;
        f->rows[left] = row;
        n_right += right;
        left += !right;
    }
    memcpy(f->rows + left, f->right, n_right * sizeof *f->right);
    return left;
}

/* The smaller child is summed up into a histogram of its own, the larger takes over its parent's. */
static void hand_down(const struct fit *f, sums *parent, struct node *small, struct node *large)
{
    small->splits = wants_splitting(f, small);
    large->splits = wants_splitting(f, large);
    bool small_fills = small->splits && !has_few_rows(f, small);
    bool large_takes = large->splits && !has_few_rows(f, large);
    if (small_fills) {
        small->histogram = f->histograms + (size_t)small->depth * n_bins(f);
        fill_histogram(f, small, small->histogram);
    }
    if (!large_takes) return;
    large->histogram = parent;
    if (!small_fills) {
        move_rows(f, small, true, parent);
        set_first_of_pairs(f, large, parent);
        return;
    }
    for (size_t b = 0, n = n_bins(f); b < n; b++)
        parent[b] -= small->histogram[b];
}

/* Moves the node's rows, too. */
static void set_leaf(struct fit *f, int tree, const struct node *node)
{
    size_t n_splits = ((size_t)1 << f->options->boost.depth) - 1;
    struct node_sums total = read_sums(f, total_of(f, node));
    double leaf = total.n ? -total.g / (total.h + f->options->lambda) * f->options->boost.rate : 0;
    f->forest->leaves[(size_t)tree * (n_splits + 1) + (node->at - n_splits)] = leaf;
    for (size_t i = node->begin; i < node->end; i++)
        f->margin[f->rows[i]] += leaf;
}

/* Splits a node and its descendants. */
static void grow(struct fit *f, int tree, const struct node *node)
{
    if (node->depth == f->options->boost.depth) {
        set_leaf(f, tree, node);
        return;
    }
    struct best_split best = {0};
    if (node->splits) best = find_split(f, node);
    uint8_t cut = FOREST_NO_SPLIT;
    size_t middle = node->end, n_splits = ((size_t)1 << f->options->boost.depth) - 1;
    if (best.found) {
        cut = middle_cut(f, node, &best);
        middle = partition(f, node, f->bins->column[best.feature].codes, cut);
    }
    f->forest->features[(size_t)tree * n_splits + node->at] = (uint16_t)best.feature;
    f->forest->cuts[(size_t)tree * n_splits + node->at] = cut;
    struct node left = {2 * node->at + 1, node->depth + 1, node->begin, middle, false, NULL};
    struct node right = {2 * node->at + 2, node->depth + 1, middle, node->end, false, NULL};
    bool left_is_smaller = middle - node->begin < node->end - middle;
    struct node *small = left_is_smaller ? &left : &right, *large = left_is_smaller ? &right : &left;
    if (best.found) hand_down(f, node->histogram, small, large);
    grow(f, tree, small); /* first: the larger one's descendants write where its histogram is */
    grow(f, tree, large);
}

static void grow_tree(struct fit *f, int tree)
{
    struct node root = {.end = f->n_rows};
    root.splits = wants_splitting(f, &root);
    if (root.splits && !has_few_rows(f, &root)) {
        root.histogram = f->histograms;
        fill_histogram(f, &root, root.histogram);
    }
    grow(f, tree, &root);
}

/* ---- boosting ---- */

/* A power of two of which `rows` numbers up to `most` add up to less than 2^bits. */
static double unit_for(double most, size_t rows, int bits)
{
    int exponent;
    frexp(most * (double)rows, &exponent);
    return ldexp(1, exponent - bits > -1000 ? exponent - bits : -1000);
}

static void set_units(struct fit *f, double most_g, double most_h)
{
    double least = f->options->min_child_weight * (1 - ROUNDING);
    f->g_unit = unit_for(most_g, f->bins->n, G_BITS);
    f->h_unit = unit_for(most_h, f->bins->n, H_BITS);
    f->least_h = (int64_t)fmin(ceil(least / f->h_unit), ldexp(1, H_BITS)) * (1 << COUNT_BITS);
}

/* h is at least 1 unit, so that no row is lost: an empty bin is one without h. */
static void note(struct fit *f, size_t row, double g, double h)
{
    int64_t units = (int64_t)(h / f->h_unit);
    f->derivatives[row] = (sums){(int64_t)(g / f->g_unit), (units > 0 ? units : 1) * (1 << COUNT_BITS) + 1};
}

static void derive_squared(struct fit *f)
{
    double most = 0;
    for (size_t i = 0; i < f->bins->n; i++)
        most = fmax(most, fabs(f->margin[i] - f->y[i]));
    set_units(f, most, 1);
    for (size_t i = 0; i < f->bins->n; i++)
        note(f, i, f->margin[i] - f->y[i], 1);
}

static void derive_logistic(struct fit *f)
{
    set_units(f, 1, 0.25);
    for (size_t i = 0; i < f->bins->n; i++) {
        double p = 1 / (1 + wni_exp(-f->margin[i]));
        note(f, i, p - f->y[i], p * (1 - p));
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
        wni_rng_sample(rng, (uint32_t)f->bins->n, (uint32_t)f->n_rows, f->sample);
        for (size_t i = 0; i < f->n_rows; i++)
            f->rows[i] = (uint16_t)f->sample[i];
    }
    if (!f->in_use) return;
    uint32_t k = (uint32_t)fmax(1, floor(o->column_share * (double)f->bins->columns));
    memset(f->in_use, 0, f->bins->columns);
    wni_rng_sample(rng, (uint32_t)f->bins->columns, k, f->drawn);
    for (uint32_t i = 0; i < k; i++)
        f->in_use[f->drawn[i]] = 1;
}

/* Moves the rows that are not in the sample by their leaves. */
static void move_others(struct fit *f, int tree)
{
    size_t n_splits = ((size_t)1 << f->forest->depth) - 1, sampled = 0;
    const uint16_t *features = f->forest->features + (size_t)tree * n_splits;
    const uint8_t *cuts = f->forest->cuts + (size_t)tree * n_splits;
    const double *leaves = f->forest->leaves + (size_t)tree * (n_splits + 1);
    for (size_t i = 0; i < f->bins->n; i++) {
        if (sampled < f->n_rows && f->sample[sampled] == i) {
            sampled++;
            continue;
        }
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
    f->derivatives = arena_new(scratch, sums, n);
    f->first = arena_new(scratch, uint32_t, columns + 1);
    f->places = arena_new(scratch, uint32_t, n * columns);
    f->row_end = arena_new(scratch, size_t, n + 1);
    f->pairs = arena_new(scratch, uint32_t, columns);
    f->rows = arena_new(scratch, uint16_t, n);
    f->right = arena_new(scratch, uint16_t, n);
    f->sample = arena_new(scratch, uint32_t, n);
    f->drawn = arena_new(scratch, uint32_t, columns);
    f->search = arena_new(scratch, struct column_search, 1);
    f->few = arena_new(scratch, sums, BINS_MAX);
    if (f->options->boost.column_share < 1 && !(f->in_use = arena_new(scratch, uint8_t, columns)))
        return WN_ENOMEM;
    if (!f->margin || !f->derivatives || !f->first || !f->places || !f->row_end || !f->pairs || !f->rows ||
        !f->right || !f->sample || !f->search || !f->few || !f->drawn)
        return WN_ENOMEM;
    f->row_end++;
    for (size_t j = 0; j < columns; j++)
        f->first[j + 1] = f->first[j] + f->bins->column[j].n_cuts + 1;
    f->histograms = arena_new(scratch, sums, n_bins(f) * (size_t)f->options->boost.depth);
    return f->histograms ? WN_OK : WN_ENOMEM;
}

/* Where in a histogram each row counts. */
static void find_places(struct fit *f)
{
    size_t n = 0;
    for (size_t j = 0; j < f->bins->columns; j++)
        if (f->bins->column[j].n_cuts == 1) f->pairs[f->n_pairs++] = (uint32_t)j;
    for (size_t i = 0; i < f->bins->n; i++) {
        for (size_t j = 0; j < f->bins->columns; j++) {
            const struct bin_column *column = &f->bins->column[j];
            f->places[n] = f->first[j] + column->codes[i];
            n += column->n_cuts != 1 || column->codes[i] > 0;
        }
        f->row_end[i] = n;
    }
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
    find_places(f);
    forest->start = start_value(f);
    for (size_t i = 0; i < bins->n; i++)
        f->margin[i] = forest->start;
    for (int tree = 0; tree < options->boost.trees; tree++) {
        if (options->loss == LOSS_SQUARED)
            derive_squared(f);
        else
            derive_logistic(f);
        draw_sample(f, rng);
        grow_tree(f, tree);
        if (f->n_rows < bins->n) move_others(f, tree);
    }
    return WN_OK;
}
