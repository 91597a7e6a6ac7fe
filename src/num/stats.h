/* stats.h -- the normal distribution and the rank tests that compare tuning methods.
 *
 * Same bits on every machine (num/portable.h).  No function allocates.  Tests follow SciPy's conventions;
 * where ours deviate, the comment says so.  Tables are row-major. */
#ifndef WNI_NUM_STATS_H
#define WNI_NUM_STATS_H

#include <stddef.h>
#include <stdint.h>

/* ---- distributions --------------------------------------------------------------------------- */

/* Density of the standard normal; relative error below 5e-16. */
double wni_normal_pdf(double x);

/* P(Z <= x); relative error below 1e-15 in the lower tail down to its underflow at x = -38.5.  For the upper
 * tail use wni_normal_cdf(-x): 1 - cdf(x) cancels. */
double wni_normal_cdf(double x);

/* The x with wni_normal_cdf(x) = p; relative error below 1e-15.  -inf at 0, inf at 1, NaN outside [0, 1]. */
double wni_normal_quantile(double p);

/* Regularised upper incomplete gamma function Q(a, x), a > 0; 1 for x <= 0.  Relative error below 1e-13 for a
 * up to 5000 while the result is above 1e-200.  Takes O(sqrt a) steps near x = a, fewer elsewhere. */
double wni_gamma_q(double a, double x);

/* P(X > x) for a chi-square variable with df > 0 degrees of freedom. */
double wni_chi2_sf(double x, double df);

/* ---- Wilcoxon signed-rank test --------------------------------------------------------------- */

enum wilcoxon_mode {
    WILCOXON_AUTO,   /* exact for n <= 50 without zeros and without ties, else approximate */
    WILCOXON_EXACT,  /* exact given the ranks; ties are allowed (mean ranks), zeros are dropped */
    WILCOXON_APPROX, /* normal approximation, variance corrected for ties, no continuity correction */
};

struct wilcoxon {
    size_t n;         /* differences left after dropping zeros */
    double w_plus;    /* sum of the ranks of |d| over positive d; w_plus + w_minus = n(n+1)/2 */
    double w_minus;   /* the same over negative d */
    double statistic; /* the smaller of the two */
    double p;         /* two-sided; 1 if n = 0, NaN if a difference is NaN */
    int exact;        /* whether p is the exact one */
};

/* Doubles that wni_wilcoxon needs as `work` for n differences. */
size_t wni_wilcoxon_work(size_t n, enum wilcoxon_mode mode);

/* Tests whether paired differences d[0..n) are symmetric about 0.
 *
 * As scipy.stats.wilcoxon (zero_method "wilcox", no correction): same statistic, same p in exact and
 * approximate mode, and the same choice between them when there are no ties.  With ties and n <= 50, SciPy
 * 1.10 takes the table for no ties and a truncated statistic; AUTO approximates there.  SciPy refuses n = 0.
 *
 * O(n log n); exact mode O(n^3) with n(n+1) doubles of work: keep n below a few hundred. */
void wni_wilcoxon(const double *d, size_t n, enum wilcoxon_mode mode, double *work, struct wilcoxon *out);

/* ---- several comparisons --------------------------------------------------------------------- */

/* Holm's step-down adjustment of n p-values (Scandinavian Journal of Statistics 6, 1979): adjusted[i] <=
 * alpha rejects hypothesis i with family-wise error at most alpha.  NaN stays NaN but is counted.  `work`
 * holds 2n; p and adjusted may not overlap. */
void wni_holm(const double *p, size_t n, double *adjusted, uint32_t *work);

struct friedman {
    double statistic; /* chi-square, corrected for ties */
    double p;         /* from the chi-square distribution with treatments - 1 degrees of freedom */
};

/* Friedman's test that no treatment ranks differently: table[block * treatments + treatment], at least one
 * block and two treatments.  `work` holds 2 * treatments; on return work[0..treatments) are the treatments'
 * mean ranks.  As scipy.stats.friedmanchisquare, except that a table where every block is all ties gives
 * statistic 0 and p 1.  A NaN in the table makes every result NaN.  O(blocks * treatments^2). */
void wni_friedman(const double *table, size_t blocks, size_t treatments, double *work, struct friedman *out);

/* Replaces n values by normal scores: the one of rank r becomes the (r - 1/2)/n quantile of the standard
 * normal, and equal values share theirs.  Only the order of the values matters.  `ranks` holds n, `work` 2n.
 */
void wni_normal_scores(double *x, size_t n, double *ranks, uint32_t *work);

#endif
