/* paper_claims.c -- what the paper says, one by one, beside what was measured.
 *
 * A claim is a row of a table: a sentence and the question it comes down to.  The verdict is computed from
 * the comparisons and the surrogate scores, never written down. */
#include "bench/paper.h"

#include "plot/figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum verdict { HOLDS, FAILS, NOT_TESTABLE };

enum question {
    LEADS_RANK,       /* the method has the lowest mean rank of its group, which should hold `others` */
    LEADS_REGRET,     /* ... the lowest normalised regret */
    BEATS,            /* ... a lower mean rank than each of `others`, and the test tells them apart */
    AHEAD,            /* ... a lower mean rank than each of `others`, significant or not */
    TREES_ARE_BETTER, /* surrogates: error of QR and CQR below that of GP at every n */
    CONFORMAL_HELPS,  /* surrogates: calibration error of CQR below that of QR from n = 64 on */
    GP_IS_SLOWEST,    /* surrogates: time at n = 1024 */
    LOOKS_AT_NOISE,   /* illustration: proposals go where the noise is */
    HAS_CURVES,       /* the data has learning curves of the family named in `others` */
};

enum { MIDDLE = 1 << 1, END = 1 << 3, ALWAYS = 15 }; /* bits of wni_moments */

static const struct claim {
    const char *says;
    const char *group, *method, *others;
    enum question question;
    unsigned moments; /* bit i: wni_moments[i] */
} claims[] = {
    {"Single fidelity: CQR has the best average rank in the middle and at the end of the budget.",
     "single-fidelity", "cqr", "rs tpe gp rea bore", LEADS_RANK, MIDDLE | END},
    {"Single fidelity: CQR has the lowest normalised regret in the middle and at the end of the budget.",
     "single-fidelity", "cqr", "rs tpe gp rea bore", LEADS_REGRET, MIDDLE | END},
    {"Single fidelity: at the end CQR is significantly better than RS, TPE, GP, REA and BORE.",
     "single-fidelity", "cqr", "rs tpe gp rea bore", BEATS, END},
    {"Multi-fidelity: CQR+MF is significantly better than ASHA at every time.", "multi-fidelity", "cqr+mf",
     "asha", BEATS, ALWAYS},
    {"Multi-fidelity: CQR+MF is significantly better than the other model-based methods (BOHB, Hyper-Tune, "
     "MOBSTER) "
     "in the middle and at the end.",
     "multi-fidelity", "cqr+mf", "bohb ht mob", BEATS, MIDDLE | END},
    {"Multi-fidelity: CQR+MF has the lowest normalised regret in the middle and at the end.",
     "multi-fidelity", "cqr+mf", "asha bohb ht mob", LEADS_REGRET, MIDDLE | END},
    {"Variants: without the conformal correction, QR+MF trails CQR+MF.", "variants", "cqr+mf", "qr+mf", AHEAD,
     MIDDLE | END},
    {"Variants: of the methods that use the last value under ASHA, CQR+MF has the best average rank at the "
     "end.",
     "variants", "cqr+mf", "asha rea+mf gp+mf bore+mf qr+mf", LEADS_RANK, END},
    {"Beyond the paper: with TPE and GP as released (random for long, always random; the GP left out), CQR "
     "has the best average rank in the middle and at the end.",
     "released-baselines", "cqr", "rs tpe-late rea bore", LEADS_RANK, MIDDLE | END},
    {"Beyond the paper: with TPE as released, CQR is significantly better than it in the middle and at the "
     "end.",
     "released-baselines", "cqr", "tpe-late", BEATS, MIDDLE | END},
    {"Beyond the paper: on real learning curves CQR+MF is significantly better than ASHA at every time.",
     "real-curves", "cqr+mf", "asha", BEATS, ALWAYS},
    {"Beyond the paper: on real learning curves QR+MF trails CQR+MF.", "real-curves", "cqr+mf", "qr+mf",
     AHEAD, MIDDLE | END},
    {"Multi-fidelity results on FCNet with its learning curves.", "", "", "fcnet", HAS_CURVES, 0},
    {"Surrogates: boosted quantiles (QR, CQR) predict better than a GP at every number of observations.", "",
     "", "", TREES_ARE_BETTER, 0},
    {"Surrogates: the conformal correction improves calibration from 64 observations on.", "", "", "",
     CONFORMAL_HELPS, 0},
    {"Surrogates: at 1024 observations the GP is the slowest.", "", "", "", GP_IS_SLOWEST, 0},
    {"Illustration: sampling from quantiles looks where the noise is largest, a model of the mean would not.",
     "", "", "", LOOKS_AT_NOISE, 0},
};

/* ---- questions about groups ---- */

static size_t point_of(size_t moment)
{
    return (size_t)lround(wni_moments[moment] * METRIC_POINTS) - 1;
}

/* The lowest of the others' values; *who is NULL when there are none. */
static double rival(const struct comparison *c, size_t method, const double *mean, size_t stride,
                    const char **who)
{
    double best = INFINITY;
    *who = NULL;
    for (size_t m = 0; m < c->contest.n_methods; m++) {
        if (m == method || mean[m * stride] >= best) continue;
        best = mean[m * stride];
        *who = wni_contest_method(c, m);
    }
    return best;
}

static bool next_name(const char **list, char name[32])
{
    size_t n = strcspn(*list, " ");
    snprintf(name, 32, "%.*s", (int)n, *list);
    *list += n + ((*list)[n] == ' ');
    return n > 0;
}

/* Names those of `others` that the group lacks; false when there are none. */
static bool lacks_rivals(const struct claim *claim, const struct comparison *c, struct buf *why)
{
    const char *list = claim->others;
    char name[32];
    bool lacks = false;
    while (next_name(&list, name)) {
        if (wni_group_method(c, name) != SIZE_MAX) continue;
        wni_buf_printf(why, "%s%s", lacks ? ", " : "Not in this program: ", name);
        lacks = true;
    }
    if (lacks) wni_buf_puts(why, ". ");
    return lacks;
}

static enum verdict leads(const struct claim *claim, const struct comparison *c, struct buf *why)
{
    size_t method = wni_group_method(c, claim->method);
    enum verdict verdict = HOLDS;
    bool regret = claim->question == LEADS_REGRET;
    for (size_t i = 0; i < MOMENTS; i++) {
        if (!(claim->moments >> i & 1)) continue;
        const double *mean = regret ? c->standings.regret.mean + point_of(i) : c->at[i].mean_rank;
        size_t stride = regret ? METRIC_POINTS : 1;
        const char *who;
        double next = rival(c, method, mean, stride, &who), own = mean[method * stride];
        if (!(own < next)) verdict = FAILS;
        wni_buf_printf(why, "%.0f %%: %s %s %.3g, best other %s %.3g. ", 100 * wni_moments[i], claim->method,
                       regret ? "regret" : "rank", own, who ? who : "none", next);
    }
    return verdict;
}

static bool beats_at(const struct claim *claim, const struct comparison *c, size_t method, size_t other,
                     size_t i, struct buf *why)
{
    const struct difference *d = &c->at[i];
    double p = d->adjusted[method * d->n + other];
    bool ahead = d->mean_rank[method] < d->mean_rank[other];
    wni_buf_printf(why, "%.0f %%: rank %.2f, %s %.2f, p = %.2g. ", 100 * wni_moments[i], d->mean_rank[method],
                   wni_contest_method(c, other), d->mean_rank[other], p);
    return ahead && (claim->question == AHEAD || p <= d->alpha);
}

static enum verdict beats(const struct claim *claim, const struct comparison *c, struct buf *why)
{
    size_t method = wni_group_method(c, claim->method);
    const char *list = claim->others;
    enum verdict verdict = HOLDS;
    char name[32];
    while (next_name(&list, name)) {
        size_t other = wni_group_method(c, name);
        for (size_t i = 0; other != SIZE_MAX && i < MOMENTS; i++)
            if (claim->moments >> i & 1 && !beats_at(claim, c, method, other, i, why)) verdict = FAILS;
    }
    return verdict;
}

/* Where it fails: the method's rank at the end and the best of the others', family by family. */
static void by_family(const struct claim *claim, const struct comparison *c, struct buf *why)
{
    size_t method = wni_group_method(c, claim->method);
    const char *before = "By family at 100 %: ";
    for (size_t t = 0; t < c->contest.n_tasks; t++) {
        const struct task *task = wni_contest_task(c, t);
        double rank[CONTEST_METHODS_MAX];
        const char *who;
        if (!wni_family_begins(c, t)) continue;
        for (size_t m = 0; m < c->contest.n_methods; m++)
            rank[m] = wni_family_rank(c, task->family, m);
        double next = rival(c, method, rank, 1, &who);
        wni_buf_printf(why, "%s%s%s %.2f (%s %.2f)", before, task->family, wni_honesty_mark(task->honesty),
                       rank[method], who ? who : "none", next);
        before = ", ";
    }
    wni_buf_puts(why, ". ");
}

static enum verdict ask_group(const struct claim *claim, const struct archive *a,
                              const struct comparison *all, struct buf *why)
{
    const struct comparison *c = NULL;
    for (size_t g = 0; g < a->plan.n_groups; g++)
        if (!strcmp(a->plan.groups[g].name, claim->group)) c = &all[g];
    if (!c) {
        wni_buf_printf(why, "The group '%s' is not part of this page.", claim->group);
        return NOT_TESTABLE;
    }
    if (!c->contest.n_blocks || wni_group_method(c, claim->method) == SIZE_MAX) {
        wni_buf_printf(why, "The group '%s' has no finished runs of %s to compare.", claim->group,
                       claim->method);
        return NOT_TESTABLE;
    }
    bool lead = claim->question == LEADS_RANK || claim->question == LEADS_REGRET;
    enum verdict verdict = lead ? leads(claim, c, why) : beats(claim, c, why);
    /* losing to those that are here is enough; winning against some of them is not */
    if (lacks_rivals(claim, c, why) && verdict == HOLDS) verdict = NOT_TESTABLE;
    if (verdict == FAILS && claim->question != LEADS_REGRET) by_family(claim, c, why);
    wni_buf_printf(why, "(%zu tasks, %zu pairs of task and seed)", c->contest.n_tasks, c->contest.n_blocks);
    return verdict;
}

/* ---- questions about surrogates and the illustration ---- */

enum { GP, QR, CQR };

static bool measured(const struct paper_measures *s, size_t size, const size_t *models, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (!s->all[size][models[k]].n) return false;
    return true;
}

static enum verdict trees_are_better(const struct paper_measures *s, struct buf *why)
{
    static const size_t needed[] = {GP, QR, CQR};
    enum verdict verdict = HOLDS;
    for (size_t i = 0; i < SURROGATE_SIZES; i++) {
        if (!measured(s, i, needed, 3)) {
            wni_buf_puts(why, "Not every surrogate was measured.");
            return NOT_TESTABLE;
        }
        const struct surrogate_mean *m = s->all[i];
        if (!(m[QR].mae < m[GP].mae && m[CQR].mae < m[GP].mae)) verdict = FAILS;
        wni_buf_printf(why, "n = %llu: mean absolute error GP %.2f, QR %.2f, CQR %.2f. ",
                       (unsigned long long)wni_surrogate_sizes[i], m[GP].mae, m[QR].mae, m[CQR].mae);
    }
    return verdict;
}

static enum verdict conformal_helps(const struct paper_measures *s, struct buf *why)
{
    static const size_t needed[] = {QR, CQR};
    enum verdict verdict = HOLDS;
    for (size_t i = 1; i < SURROGATE_SIZES; i++) {
        if (!measured(s, i, needed, 2)) {
            wni_buf_puts(why, "Not every surrogate was measured.");
            return NOT_TESTABLE;
        }
        const struct surrogate_mean *m = s->all[i];
        if (!(m[CQR].calibration < m[QR].calibration)) verdict = FAILS;
        wni_buf_printf(why, "n = %llu: calibration error QR %.3f, CQR %.3f. ",
                       (unsigned long long)wni_surrogate_sizes[i], m[QR].calibration, m[CQR].calibration);
    }
    return verdict;
}

static enum verdict gp_is_slowest(const struct paper_measures *s, struct buf *why)
{
    static const size_t needed[] = {GP, QR, CQR};
    const struct surrogate_mean *m = s->all[SURROGATE_SIZES - 1];
    if (!measured(s, SURROGATE_SIZES - 1, needed, 3)) {
        wni_buf_puts(why, "Not every surrogate was measured.");
        return NOT_TESTABLE;
    }
    wni_buf_printf(why, "Seconds: GP %.3g, QR %.3g, CQR %.3g.", m[GP].seconds, m[QR].seconds, m[CQR].seconds);
    return m[GP].seconds > m[QR].seconds && m[GP].seconds > m[CQR].seconds ? HOLDS : FAILS;
}

/* Half of [0, 2 pi] is within pi/4 of a peak of the noise: a flat search puts half of its proposals there. */
static enum verdict looks_at_noise(const struct paper_measures *s, struct buf *why)
{
    double near = 0, all = 0;
    for (size_t k = 0; k < ILLUSTRATION_BINS; k++) {
        double x = ((double)k + 0.5) / ILLUSTRATION_BINS; /* of two pi; the peaks are at 1/4 and 3/4 */
        all += s->proposals[k];
        if (fabs(x - 0.25) < 0.125 || fabs(x - 0.75) < 0.125) near += s->proposals[k];
    }
    if (!(all > 0)) {
        wni_buf_puts(why, "The illustration was not drawn.");
        return NOT_TESTABLE;
    }
    wni_buf_printf(
        why, "%.0f %% of the proposals of %.0f fits are within π/4 of π/2 or 3π/2; a flat search has 50 %%.",
        100 * near / all, all);
    return near / all > 0.75 ? HOLDS : FAILS;
}

/* Do the tables of a family hold curves?  NULL: none of them takes part. */
static const struct task *task_of_family(const struct archive *a, const char *family)
{
    const struct task *found = NULL;
    for (size_t t = 0; t < a->plan.n_tasks; t++)
        if (!strcmp(a->plan.tasks[t].family, family) && (!found || a->plan.tasks[t].n_levels > 1))
            found = &a->plan.tasks[t];
    return found;
}

static enum verdict has_curves(const struct claim *claim, const struct archive *a, struct buf *why)
{
    const struct task *task = task_of_family(a, claim->others);
    if (task && task->n_levels > 1) {
        wni_buf_printf(why, "%s has learning curves here; it takes part in the multi-fidelity groups.",
                       claim->others);
        return HOLDS;
    }
    if (task)
        wni_buf_printf(
            why,
            "The %s tables at hand hold final values only; tools/import-fcnet brings the curves of the "
            "original files.",
            claim->others);
    else
        wni_buf_printf(why, "No table of %s is part of this page.", claim->others);
    return NOT_TESTABLE;
}

/* ---- the page ---- */

static enum verdict ask(const struct claim *claim, const struct archive *a, const struct comparison *all,
                        const struct paper_measures *measures, struct buf *why)
{
    switch (claim->question) {
    case TREES_ARE_BETTER:
        return trees_are_better(measures, why);
    case CONFORMAL_HELPS:
        return conformal_helps(measures, why);
    case GP_IS_SLOWEST:
        return gp_is_slowest(measures, why);
    case LOOKS_AT_NOISE:
        return looks_at_noise(measures, why);
    case HAS_CURVES:
        return has_curves(claim, a, why);
    default:
        return ask_group(claim, a, all, why);
    }
}

static void put_claim(struct page *page, struct buf *csv, const struct claim *claim, enum verdict verdict,
                      const struct buf *why)
{
    static const char *const words[] = {"holds", "does not hold", "not testable"};
    static const char *const classes[] = {"holds", "fails", "open"};
    wni_page_row(page);
    wni_page_cell(page, "%s", claim->says);
    wni_buf_printf(&page->html, "<td class=\"%s\">%s</td>", classes[verdict], words[verdict]);
    wni_page_cell(page, "%s", wni_buf_text(why));
    wni_buf_csv_field(csv, claim->says);
    wni_buf_printf(csv, ",%s,", words[verdict]);
    wni_buf_csv_field(csv, wni_buf_text(why));
    wni_buf_putc(csv, '\n');
}

wn_status wni_claims_section(struct page *page, const struct archive *archive,
                             const struct comparison *comparisons, const struct paper_measures *means,
                             struct err *err)
{
    static const char *const columns[] = {"the paper says", "here", "measured"};
    struct buf csv = {0}, why = {0};
    wn_status st = WN_OK;
    wni_buf_puts(&csv, "claim,verdict,measured\n");
    wni_page_heading(page, 2, "claims", "The paper's claims");
    wni_page_text(
        page, "Significance: pairwise Wilcoxon signed-rank tests on ranks within task and seed, adjusted by "
              "Holm over all pairs of the group, α = 0.05. It decides only where a claim says so: to lead or "
              "to trail is a matter of the means, and may be chance. Beyond the paper: questions of ours.");
    if (archive->plan.seeds < 10)
        wni_page_text(page, "With %llu seeds the verdicts are preliminary.",
                      (unsigned long long)archive->plan.seeds);
    wni_page_table(page, "", columns, 3);
    for (size_t i = 0; i < sizeof claims / sizeof *claims && !st; i++) {
        wni_buf_clear(&why);
        enum verdict verdict = ask(&claims[i], archive, comparisons, means, &why);
        if (why.failed) st = wni_fail_memory(err);
        if (!st) put_claim(page, &csv, &claims[i], verdict, &why);
    }
    wni_page_table_end(page);
    if (!st) st = wni_write_file(page->directory, "claims.csv", &csv, err);
    wni_buf_release(&csv);
    wni_buf_release(&why);
    return st;
}
