/* order.c -- sorting and what follows from it.
 *
 * Doubles are compared through their bits read as integers (flipped for negative numbers): one total order in
 * which -0 < +0, and no comparison that NaN could make inconsistent.  Sorting and selection first move NaNs
 * to the end. */
#include "num/order.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- comparison ------------------------------------------------------------------------------ */

static inline int64_t key(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return (int64_t)(b ^ -(b >> 63) >> 1); /* flips all but the sign of negative numbers */
}

static inline bool less(double a, double b)
{
    return key(a) < key(b);
}

static inline void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

/* Moves NaNs to the end and returns how many numbers come before them. */
static size_t nan_last(double *x, size_t n)
{
    size_t end = n;
    for (size_t i = 0; i < end;) {
        if (isnan(x[i]))
            swap(&x[i], &x[--end]);
        else
            i++;
    }
    return end;
}

/* ---- sorting --------------------------------------------------------------------------------- */

enum { SMALL = 24 }; /* insertion sort is faster up to here */

static void insertion_sort(double *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double v = x[i];
        size_t j = i;
        for (; j > 0 && less(v, x[j - 1]); j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
}

static void sift_down(double *x, size_t root, size_t n)
{
    double v = x[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && less(x[child], x[child + 1])) child++;
        if (!less(v, x[child])) break;
        x[root] = x[child];
    }
    x[root] = v;
}

static void heap_sort(double *x, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(x, i, n);
    for (size_t end = n; end-- > 1;) {
        swap(&x[0], &x[end]);
        sift_down(x, 0, end);
    }
}

static inline void order3(double *a, double *b, double *c) /* *b becomes the median */
{
    if (less(*b, *a)) swap(a, b);
    if (less(*c, *b)) swap(b, c);
    if (less(*b, *a)) swap(a, b);
}

/* Hoare partition around a median of three (of nine when n is large).  Returns p with 0 < p < n such that
 * nothing in x[0..p) is larger than anything in x[p..n).  n >= 3.
 *
 * The pivot itself stops both scans the first time, and whatever was swapped stops them later, so they stay
 * in range; the pivot's place is inside, so at least one element ends on each side. */
static size_t partition(double *x, size_t n)
{
    size_t mid = n / 2;
    if (n > 256) {
        size_t s = n / 8;
        order3(&x[0], &x[s], &x[2 * s]);
        order3(&x[mid - s], &x[mid], &x[mid + s]);
        order3(&x[n - 1 - 2 * s], &x[n - 1 - s], &x[n - 1]);
        order3(&x[s], &x[mid], &x[n - 1 - s]);
    } else {
        order3(&x[0], &x[mid], &x[n - 1]);
    }
    double pivot = x[mid];
    size_t i = 0, j = n - 1;
    for (;;) {
        while (less(x[i], pivot))
            i++;
        while (less(pivot, x[j]))
            j--;
        if (i >= j) break;
        swap(&x[i++], &x[j--]);
    }
    return i;
}

static int split_budget(size_t n)
{
    int log2n = 0;
    while (n >>= 1)
        log2n++;
    return 2 * log2n;
}

static void intro_sort(double *x, size_t n, int budget)
{
    while (n > SMALL) {
        if (budget-- == 0) {
            heap_sort(x, n);
            return;
        }
        size_t p = partition(x, n);
        if (p < n - p) { /* recurse into the smaller part only: the stack stays below log2 n */
            intro_sort(x, p, budget);
            x += p;
            n -= p;
        } else {
            intro_sort(x + p, n - p, budget);
            n = p;
        }
    }
    insertion_sort(x, n);
}

void wni_sort(double *x, size_t n)
{
    n = nan_last(x, n);
    intro_sort(x, n, split_budget(n));
}

double wni_select(double *x, size_t n, size_t k)
{
    assert(k < n);
    double *begin = x;
    size_t numbers = nan_last(x, n), at = k;
    if (k >= numbers) return x[k];
    int budget = split_budget(numbers);
    while (numbers > SMALL && budget-- > 0) {
        size_t p = partition(x, numbers);
        if (at < p) {
            numbers = p;
        } else {
            x += p;
            numbers -= p;
            at -= p;
        }
    }
    if (numbers > SMALL)
        heap_sort(x, numbers);
    else
        insertion_sort(x, numbers);
    return begin[k];
}

/* ---- stable index sort ----------------------------------------------------------------------- */

/* For indices equal values must tie, so zeros share a key and NaNs share the largest. */
static inline bool value_less(double a, double b)
{
    return a < b || (isnan(b) && !isnan(a));
}

enum { RUN = 16 };

static void insertion_argsort(const double *x, uint32_t *index, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint32_t v = index[i];
        size_t j = i;
        for (; j > 0 && value_less(x[v], x[index[j - 1]]); j--)
            index[j] = index[j - 1];
        index[j] = v;
    }
}

/* Merges index[0..mid) and index[mid..n), both sorted.  `work` holds mid. */
static void merge(const double *x, uint32_t *index, size_t mid, size_t n, uint32_t *work)
{
    if (!value_less(x[index[mid]], x[index[mid - 1]])) return;
    memcpy(work, index, mid * sizeof *index);
    size_t a = 0, b = mid, to = 0;
    while (a < mid && b < n) {
        bool right = value_less(x[index[b]], x[work[a]]); /* strictly: the left one goes first on ties */
        index[to++] = right ? index[b++] : work[a++];
    }
    memcpy(index + to, work + a, (mid - a) * sizeof *index);
}

void wni_argsort(const double *x, size_t n, uint32_t *out, uint32_t *work)
{
    assert(n <= UINT32_MAX);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint32_t)i;
    for (size_t i = 0; i < n; i += RUN)
        insertion_argsort(x, out + i, n - i < RUN ? n - i : RUN);
    for (size_t run = RUN; run < n; run *= 2)
        for (size_t i = 0; n - i > run; i += 2 * run) {
            size_t size = n - i < 2 * run ? n - i : 2 * run;
            merge(x, out + i, run, size, work);
            if (n - i <= 2 * run) break;
        }
}

/* ---- quantiles ------------------------------------------------------------------------------- */

/* NumPy 1.22 and later: interpolate from the nearer end, so that the result is monotonic in t. */
static double lerp(double a, double b, double t)
{
    double d = b - a;
    if (a == b || t == 0.0) return a;
    if (!isfinite(d)) return a * (1.0 - t) + b * t;
    return t >= 0.5 ? b - d * (1.0 - t) : a + d * t;
}

double wni_quantile_linear(const double *sorted, size_t n, double q)
{
    assert(n > 0 && q >= 0.0 && q <= 1.0);
    if (isnan(sorted[n - 1])) return sorted[n - 1];
    double at = (double)(n - 1) * q;
    size_t i = (size_t)at;
    if (i >= n - 1) return sorted[n - 1];
    return lerp(sorted[i], sorted[i + 1], at - (double)i);
}

size_t wni_quantile_lower_index(size_t n, double q)
{
    assert(n > 0 && q >= 0.0 && q <= 1.0);
    /* scikit-learn turns the level into a percentage and back, which moves 5/6 up by one ulp and so the 5/6
     * quantile of 6 values from the 5th to the 6th.  We follow, to be comparable leaf by leaf. */
    double weight = q * 100.0 / 100.0 * (double)n;
    size_t reach = (size_t)ceil(weight);
    if (reach > n) reach = n;
    return reach > 0 ? reach - 1 : 0;
}

double wni_quantile_lower(const double *sorted, size_t n, double q)
{
    return sorted[wni_quantile_lower_index(n, q)];
}

size_t wni_conformal_rank(size_t n, double level)
{
    assert(level >= 0.0 && level <= 1.0);
    double count = (double)n + 1.0, k = count * level, nearest = rint(k);
    /* Levels come out of a few operations on numbers near 1, so they are off by some 1e-16: 1e-14 covers that
     * and is far finer than any level meant to differ from a multiple of 1/(n+1). */
    k = fabs(k - nearest) <= 1e-14 * count ? nearest : ceil(k);
    return k < 1.0 ? 1 : (size_t)k;
}

/* ---- ranks and moments ----------------------------------------------------------------------- */

static inline bool tied(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

void wni_ranks_average(const double *x, size_t n, double *ranks, uint32_t *work)
{
    uint32_t *index = work;
    wni_argsort(x, n, index, work + n);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && tied(x[index[i]], x[index[j]]); j++)
            continue;
        double rank = 0.5 * (double)(i + 1 + j);
        for (size_t m = i; m < j; m++)
            ranks[index[m]] = rank;
    }
}

/* Neumaier's compensated sum: the low parts that additions lose are gathered and added at the end. */
double wni_mean(const double *x, size_t n)
{
    double sum = 0.0, lost = 0.0;
    for (size_t i = 0; i < n; i++) {
        double s = sum + x[i];
        lost += fabs(sum) >= fabs(x[i]) ? (sum - s) + x[i] : (x[i] - s) + sum;
        sum = s;
    }
    if (!isfinite(sum)) return sum / (double)n; /* inf - inf in the lost part must not turn inf into NaN */
    return (sum + lost) / (double)n;
}

double wni_variance(const double *x, size_t n, size_t ddof)
{
    if (n <= ddof) return NAN;
    double mean = wni_mean(x, n), squares = 0.0, rest = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = x[i] - mean;
        squares += d * d;
        rest += d;
    }
    return (squares - rest * rest / (double)n) /
           (double)(n - ddof); /* the mean was rounded: take that back */
}
