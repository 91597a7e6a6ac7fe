/* stats.c -- normal and chi-square probabilities, Wilcoxon, Holm and Friedman. */
#include "num/stats.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "num/order.h"
#include "num/portable.h"

#define SQRT_HALF      0.70710678118654752440
#define INV_SQRT_2PI   0.39894228040143267794
#define MAX_AUTO_EXACT 50 /* differences; SciPy's limit */

/* ---- normal distribution --------------------------------------------------------------------- */

double wni_normal_pdf(double x)
{
    return INV_SQRT_2PI * wni_exp_square(x, -0.5);
}

double wni_normal_cdf(double x)
{
    /* In the lower tail erfc(-x sqrt(1/2)) would turn the rounding of its argument into x^2 ulp, so the steep
     * factor is taken of x itself; erfcx is flat and forgives the rounding. */
    if (x < -1.0) return 0.5 * wni_exp_square(x, -0.5) * wni_erfcx(-x * SQRT_HALF);
    return 0.5 * wni_erfc(-x * SQRT_HALF);
}

/* Numerator and denominator, constant term first, of a rational function of degree 7. */
struct rational {
    double num[8], den[8];
};

static double evaluate(const struct rational *f, double x)
{
    double a = f->num[7], b = f->den[7];
    for (int k = 6; k >= 0; k--) {
        a = a * x + f->num[k];
        b = b * x + f->den[k];
    }
    return a / b;
}

/* Wichura, "The percentage points of the normal distribution" (Applied Statistics 37, 1988), algorithm AS
 * 241, PPND16: its three rational approximations, around 1/2 and in two parts of the tail. */
static const struct rational middle = {
    {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
     4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
    {1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3, 2.1213794301586595867e4,
     3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3},
};
static const struct rational tail = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
     1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2,
     7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9},
};
static const struct rational far_tail = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
     2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5,
     2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15},
};

double wni_normal_quantile(double p)
{
    if (!(p > 0.0 && p < 1.0)) return p == 0.0 ? -INFINITY : p == 1.0 ? INFINITY : NAN;
    double q = p - 0.5;
    if (fabs(q) <= 0.425) return q * evaluate(&middle, 0.180625 - q * q);
    double r = sqrt(-wni_log(q < 0.0 ? p : 1.0 - p));
    double x = r <= 5.0 ? evaluate(&tail, r - 1.6) : evaluate(&far_tail, r - 5.0);
    return q < 0.0 ? -x : x;
}

/* ---- incomplete gamma ------------------------------------------------------------------------ */

/* log Gamma(a) - [(a - 1/2) log a - a + log(2 pi)/2] for a >= 16: Stirling's series. */
static double stirling_rest(double a)
{
    double i = 1.0 / a, s = i * i;
    return i * (1.0 / 12 - s * (1.0 / 360 -
                                s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188 - s * 691.0 / 360360)))));
}

/* x^a e^-x / Gamma(a), with Gamma(b) by Stirling's formula for b = a + n >= 16 and Gamma(a) = Gamma(b) / (a
 * ... (b-1)). The huge powers cancel on paper, not in floating point: (x/b)^a and e^(b-x) are what is left of
 * them. */
static double gamma_factor(double a, double x)
{
    double n = a < 16.0 ? ceil(16.0 - a) : 0.0, b = a + n, ratio = 1.0;
    for (double k = 0.0; k < n; k += 1.0)
        ratio *= (a + k) / b;
    double excess = (x - b) / b;
    double exponent = n > 0.0 ? a * wni_log(x / b) - (x - b) : a * (wni_log1p(excess) - excess);
    return ratio * INV_SQRT_2PI * sqrt(b) * wni_exp(exponent - stirling_rest(b));
}

static double gamma_p_series(double a, double x) /* x < a + 1: the terms shrink from the start */
{
    double term = 1.0 / a, sum = term;
    for (double b = a + 1.0; term > sum * 0x1p-54; b += 1.0) {
        term *= x / b;
        sum += term;
    }
    return sum * gamma_factor(a, x);
}

/* Legendre's continued fraction by Lentz's method as modified by Thompson and Barnett (1986).  x >= a + 1:
 * all partial denominators are positive, none can vanish. */
static double gamma_q_fraction(double a, double x)
{
    double b = x + 1.0 - a, c = DBL_MAX, d = 1.0 / b, f = d;
    for (double k = 1.0; k < 1e7; k += 1.0) {
        double an = -k * (k - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        f *= c * d;
        if (fabs(c * d - 1.0) < 0x1p-52) break;
    }
    return f * gamma_factor(a, x);
}

double wni_gamma_q(double a, double x)
{
    assert(a > 0.0);
    if (isnan(x)) return x;
    if (x <= 0.0) return 1.0;
    if (x > DBL_MAX) return 0.0;
    return x < a + 1.0 ? 1.0 - gamma_p_series(a, x) : gamma_q_fraction(a, x);
}

double wni_chi2_sf(double x, double df)
{
    return wni_gamma_q(0.5 * df, 0.5 * x);
}

/* ---- Wilcoxon -------------------------------------------------------------------------------- */

size_t wni_wilcoxon_work(size_t n, enum wilcoxon_mode mode)
{
    bool maybe_exact = mode == WILCOXON_EXACT || (mode == WILCOXON_AUTO && n <= MAX_AUTO_EXACT);
    return 2 * n + (maybe_exact ? n * (n + 1) + 1 : 0);
}

struct signed_ranks {
    const double *size; /* |d| of the nonzero differences, sorted */
    size_t n;
    double w_plus;   /* sum of the ranks of positive differences */
    double tie_term; /* sum of t^3 - t over groups of t equal sizes */
};

/* Ranks without an index: sort all sizes and the sizes of positive differences, then walk both. */
static struct signed_ranks rank_differences(const double *d, size_t n, double *all, double *positive)
{
    struct signed_ranks s = {.size = all};
    size_t n_positive = 0;
    for (size_t i = 0; i < n; i++) {
        if (d[i] != 0.0) all[s.n++] = fabs(d[i]);
        if (d[i] > 0.0) positive[n_positive++] = d[i];
    }
    wni_sort(all, s.n);
    wni_sort(positive, n_positive);
    for (size_t i = 0, j, p = 0; i < s.n; i = j) {
        for (j = i + 1; j < s.n && all[j] == all[i]; j++)
            continue;
        double t = (double)(j - i), rank = 0.5 * (double)(i + 1 + j);
        s.tie_term += t * (t * t - 1.0);
        for (; p < n_positive && positive[p] == all[i]; p++)
            s.w_plus += rank;
    }
    return s;
}

/* Two-sided p given the ranks: every sign pattern is equally likely.  prob[w] becomes the probability of rank
 * sum w/2; doubled ranks are integers even for ties.  Probabilities are sums of multiples of 2^-n: exact up
 * to n = 53. */
static double exact_p(const struct signed_ranks *s, double *prob)
{
    size_t top = 0;
    prob[0] = 1.0;
    for (size_t i = 0, j; i < s->n; i = j) {
        for (j = i + 1; j < s->n && s->size[j] == s->size[i]; j++)
            continue;
        size_t doubled = i + 1 + j;
        for (size_t m = i; m < j; m++) {
            for (size_t w = top + 1; w <= top + doubled; w++)
                prob[w] = 0.0;
            top += doubled;
            for (size_t w = top + 1; w-- > 0;)
                prob[w] = 0.5 * (prob[w] + (w >= doubled ? prob[w - doubled] : 0.0));
        }
    }
    size_t at = (size_t)(2.0 * s->w_plus);
    if (at > top - at) at = top - at; /* the distribution is symmetric */
    double p = 0.0;
    for (size_t w = 0; w <= at; w++)
        p += prob[w];
    return p < 0.5 ? 2.0 * p : 1.0;
}

static double approximate_p(const struct signed_ranks *s, double statistic)
{
    double n = (double)s->n, mean = n * (n + 1.0) * 0.25;
    double variance = (n * (n + 1.0) * (2.0 * n + 1.0) - 0.5 * s->tie_term) / 24.0;
    return 2.0 * wni_normal_cdf(-fabs((statistic - mean) / sqrt(variance)));
}

static bool any_nan(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(x[i])) return true;
    return false;
}

void wni_wilcoxon(const double *d, size_t n, enum wilcoxon_mode mode, double *work, struct wilcoxon *out)
{
    if (any_nan(d, n)) {
        *out = (struct wilcoxon){.n = n, .w_plus = NAN, .w_minus = NAN, .statistic = NAN, .p = NAN};
        return;
    }
    struct signed_ranks s = rank_differences(d, n, work, work + n);
    double total = 0.5 * (double)s.n * ((double)s.n + 1.0), w_minus = total - s.w_plus;
    bool plain = s.n == n && s.tie_term == 0.0;
    bool exact = mode == WILCOXON_EXACT || (mode == WILCOXON_AUTO && n <= MAX_AUTO_EXACT && plain);
    *out = (struct wilcoxon){
        .n = s.n,
        .w_plus = s.w_plus,
        .w_minus = w_minus,
        .statistic = fmin(s.w_plus, w_minus),
        .exact = exact,
        .p = 1.0,
    };
    if (s.n > 0) out->p = exact ? exact_p(&s, work + 2 * n) : approximate_p(&s, out->statistic);
}

/* ---- Holm and Friedman ----------------------------------------------------------------------- */

void wni_holm(const double *p, size_t n, double *adjusted, uint32_t *work)
{
    uint32_t *order = work;
    wni_argsort(p, n, order, work + n);
    double floor = 0.0; /* a larger p never ends with a smaller adjusted one */
    for (size_t i = 0; i < n; i++) {
        double v = p[order[i]] * (double)(n - i);
        floor = fmin(fmax(floor, v), 1.0);
        adjusted[order[i]] = isnan(v) ? v : floor;
    }
}

/* Mean rank of v among sorted x[0..k), where it occurs. */
static double rank_in(const double *x, size_t k, double v)
{
    size_t below = 0, upto = 0;
    while (below < k && x[below] < v)
        below++;
    for (upto = below; upto < k && x[upto] == v; upto++)
        continue;
    return 0.5 * (double)(below + 1 + upto);
}

/* Adds a block's ranks to sums and returns its sum of t^3 - t over ties. */
static double add_block(const double *row, size_t k, double *sums, double *sorted)
{
    for (size_t j = 0; j < k; j++)
        sorted[j] = row[j];
    wni_sort(sorted, k);
    for (size_t j = 0; j < k; j++)
        sums[j] += rank_in(sorted, k, row[j]); /* O(k^2); k is a handful of methods */
    double ties = 0.0;
    for (size_t i = 0, j; i < k; i = j) {
        for (j = i + 1; j < k && sorted[j] == sorted[i]; j++)
            continue;
        double t = (double)(j - i);
        ties += t * (t * t - 1.0);
    }
    return ties;
}

void wni_friedman(const double *table, size_t blocks, size_t treatments, double *work, struct friedman *out)
{
    assert(blocks >= 1 && treatments >= 2);
    double *sums = work, *sorted = work + treatments, ties = 0.0, squares = 0.0;
    double n = (double)blocks, k = (double)treatments;
    double start = any_nan(table, blocks * treatments) ? NAN : 0.0;
    for (size_t j = 0; j < treatments; j++)
        sums[j] = start;
    for (size_t i = 0; i < blocks; i++)
        ties += add_block(table + i * treatments, treatments, sums, sorted);
    for (size_t j = 0; j < treatments; j++) {
        squares += sums[j] * sums[j];
        sums[j] /= n; /* mean rank */
    }
    double correction = 1.0 - ties / (k * (k * k - 1.0) * n);
    if (correction == 0.0) {
        *out = (struct friedman){.statistic = 0.0, .p = 1.0};
        return;
    }
    out->statistic = (12.0 / (k * n * (k + 1.0)) * squares - 3.0 * n * (k + 1.0)) / correction;
    out->p = wni_chi2_sf(out->statistic, k - 1.0);
}

void wni_normal_scores(double *x, size_t n, double *ranks, uint32_t *work)
{
    wni_ranks_average(x, n, ranks, work);
    for (size_t i = 0; i < n; i++)
        x[i] = wni_normal_quantile((ranks[i] - 0.5) / (double)n);
}
