/* ei.c -- expected improvement: many points at a time, and one with its gradient. */
#include "surrogate/ei.h"

#include "num/portable.h"
#include "num/stats.h"

#include <math.h>
#include <string.h>

double wni_expected_improvement(double mean, double deviation, double *by_mean, double *by_deviation)
{
    double u = -mean / deviation, below = wni_normal_cdf(u), density = wni_normal_pdf(u);
    *by_mean = -below;
    *by_deviation = density;
    return deviation * (u * below + density);
}

wn_status wni_ei_init(struct ei *ei, const struct gp_member *members, size_t n_members,
                      const double *incumbent, double margin, struct arena *arena)
{
    size_t work = 0, columns = members[0].posterior->n_columns, width = members[0].posterior->width;
    *ei = (struct ei){.members = members,
                      .n_members = n_members,
                      .width = width,
                      .n_columns = columns,
                      .incumbent = incumbent,
                      .margin = margin};
    for (size_t k = 0; k < n_members; k++) {
        size_t batch = wni_gp_predict_scratch(members[k].posterior, EI_BATCH);
        work = batch > work ? batch : work;
        size_t point = n_members * wni_gp_point_scratch(members[k].posterior);
        work = point > work ? point : work;
    }
    ei->means = arena_new(arena, double, columns *EI_BATCH);
    ei->variances = arena_new(arena, double, EI_BATCH);
    ei->part_mean = arena_new(arena, double, columns *(EI_BATCH + 2));
    ei->part_gradient = arena_new(arena, double, width + EI_BATCH);
    ei->work = arena_new(arena, double, work);
    return ei->means && ei->variances && ei->part_mean && ei->part_gradient && ei->work ? WN_OK : WN_ENOMEM;
}

/* ---- many points ---- */

static void predict_batch(struct ei *ei, const double *x, size_t m, double *mean, double *variance)
{
    size_t cells = m * ei->n_columns;
    double *part_variance = ei->part_gradient;
    memset(mean, 0, cells * sizeof *mean);
    if (variance) memset(variance, 0, m * sizeof *variance);
    for (size_t k = 0; k < ei->n_members; k++) {
        const struct gp_member *member = &ei->members[k];
        double w = member->weight;
        wni_gp_predict(member->posterior, x, m, member->level, ei->part_mean, variance ? part_variance : NULL,
                       ei->work);
        for (size_t i = 0; i < cells; i++)
            mean[i] += w * ei->part_mean[i];
        for (size_t i = 0; variance && i < m; i++)
            variance[i] += w * part_variance[i];
    }
}

void wni_ei_predict(struct ei *ei, const double *x, size_t m, double *mean, double *variance)
{
    for (size_t at = 0; at < m; at += EI_BATCH)
        predict_batch(ei, x + at * ei->width, m - at < EI_BATCH ? m - at : EI_BATCH,
                      mean + at * ei->n_columns, variance ? variance + at : NULL);
}

double wni_ei_prior(const struct ei *ei)
{
    double sum = 0;
    for (size_t k = 0; k < ei->n_members; k++)
        sum += ei->members[k].weight * wni_gp_prior(ei->members[k].posterior, ei->members[k].level);
    return sum;
}

static double average(const struct ei *ei, const double *mean, double variance)
{
    double sum = 0, deviation = sqrt(variance), by_mean, by_deviation;
    for (size_t c = 0; c < ei->n_columns; c++)
        sum += wni_expected_improvement(mean[c] - ei->incumbent[c] + ei->margin, deviation, &by_mean,
                                        &by_deviation);
    return sum / (double)ei->n_columns;
}

void wni_ei_scores(struct ei *ei, const double *x, size_t m, double *out)
{
    for (size_t at = 0; at < m; at += EI_BATCH) {
        size_t batch = m - at < EI_BATCH ? m - at : EI_BATCH;
        predict_batch(ei, x + at * ei->width, batch, ei->means, ei->variances);
        for (size_t i = 0; i < batch; i++)
            out[at + i] = average(ei, ei->means + i * ei->n_columns, ei->variances[i]);
    }
}

/* ---- one point ---- */

/* Each member's kernel column stays in its part of `work` for the gradient. */
static double *member_work(const struct ei *ei, size_t k)
{
    double *work = ei->work;
    for (size_t i = 0; i < k; i++)
        work += wni_gp_point_scratch(ei->members[i].posterior);
    return work;
}

static void predict_point(struct ei *ei, const double *x, double *mean, double *variance)
{
    memset(mean, 0, ei->n_columns * sizeof *mean);
    *variance = 0;
    for (size_t k = 0; k < ei->n_members; k++) {
        const struct gp_member *member = &ei->members[k];
        double part;
        wni_gp_point(member->posterior, x, member->level, ei->part_mean, &part, member_work(ei, k));
        for (size_t c = 0; c < ei->n_columns; c++)
            mean[c] += member->weight * ei->part_mean[c];
        *variance += member->weight * part;
    }
}

/* Turns means into derivatives of EI by them; returns EI. */
static double differentiate(const struct ei *ei, double *mean, double variance, double *by_variance)
{
    double sum = 0, deviation = sqrt(variance), share = 1 / (double)ei->n_columns;
    *by_variance = 0;
    for (size_t c = 0; c < ei->n_columns; c++) {
        double by_mean, by_deviation;
        sum += share * wni_expected_improvement(mean[c] - ei->incumbent[c] + ei->margin, deviation, &by_mean,
                                                &by_deviation);
        mean[c] = share * by_mean;
        *by_variance += share * by_deviation / (2 * deviation);
    }
    return sum;
}

double wni_ei_minus_log(struct ei *ei, const double *x, double *gradient)
{
    double variance, by_variance, *by_mean = ei->means;
    predict_point(ei, x, by_mean, &variance);
    double value = differentiate(ei, by_mean, variance, &by_variance);
    if (!(value > 1e-300)) return INFINITY;
    memset(gradient, 0, ei->width * sizeof *gradient);
    for (size_t k = 0; k < ei->n_members; k++) {
        double w = ei->members[k].weight, *weighted = ei->part_mean;
        for (size_t c = 0; c < ei->n_columns; c++)
            weighted[c] = w * by_mean[c];
        wni_gp_point_gradient(ei->members[k].posterior, weighted, w * by_variance, member_work(ei, k),
                              ei->part_gradient);
        for (size_t d = 0; d < ei->width; d++)
            gradient[d] -= ei->part_gradient[d] / value;
    }
    return -wni_log(value);
}
