/* encode.c -- the unit and tree encodings.
 *
 * Why the round trip through logarithms is exact: neighbours on the 12-digit grid are at least 1e-12 apart in
 * the logarithm. On the widest range allowed, 1e-300 to 1e300, logarithms are below 691 and their differences
 * below 1382, where an ulp is 1.1e-13 and 2.3e-13; log (0.6 ulp), the difference, the quotient, the product
 * and the sum (half an ulp each) then add up to at most 4.4e-13, less than half a step.  Everyday ranges stay
 * below 1e-14. */
#include "core/encode.h"

#include "num/portable.h"

#include <math.h>

static bool is_one_hot(const struct param *p)
{
    return p->kind == PARAM_CATEGORICAL && p->count > 2;
}

size_t wni_param_unit_columns(const struct param *p)
{
    if (p->count == 1) return 0;
    return is_one_hot(p) ? (size_t)p->count : 1;
}

size_t wni_param_tree_columns(const struct param *p)
{
    return wni_param_unit_columns(p);
}

/* ---- one value ---- */

/* Where a value or its logarithm lies in the interval. */
static double place(const struct param *p, double x)
{
    double u = (x - p->unit_from) / p->unit_span;
    return u < 0 ? 0 : u > 1 ? 1 : u;
}

static double from_scale(const struct param *p, double u)
{
    double x = p->unit_from + u * p->unit_span;
    return p->scale == WN_LOG ? wni_exp(x) : x;
}

double wni_param_to_unit(const struct param *p, double value)
{
    if (p->count == 1) return 0.5;
    if (p->logs) return place(p, p->logs[(size_t)value]);
    if (p->kind == PARAM_ORDINAL) return (value + 0.5) / (double)p->count;
    if (p->labels) return value / (double)(p->count - 1);
    if (p->count == 0 && value <= p->min) return 0;
    if (p->count == 0 && value >= p->max) return 1;
    return place(p, p->scale == WN_LOG ? wni_log(value) : value);
}

/* The ordinal whose logarithm is nearest. */
static double nearest_log_ordinal(const struct param *p, double log_x)
{
    size_t low = 0, high = (size_t)p->count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (2 * log_x > p->logs[middle] + p->logs[middle + 1])
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low;
}

static double by_index(const struct param *p, double k)
{
    double last = (double)(p->count - 1);
    return k >= last ? last : k > 0 ? k : 0;
}

static double ordinal_from_unit(const struct param *p, double u)
{
    if (p->logs) return nearest_log_ordinal(p, p->unit_from + u * p->unit_span);
    return by_index(p, floor(u * (double)p->count));
}

double wni_param_from_unit(const struct param *p, double u)
{
    u = u >= 0 ? u <= 1 ? u : 1 : 0; /* NaN becomes 0 */
    if (p->count == 1) return wni_param_value_at(p, 0);
    if (p->kind == PARAM_ORDINAL) return ordinal_from_unit(p, u);
    if (p->labels) return by_index(p, rint(u * (double)(p->count - 1)));
    if (u == 0 || u == 1) return u == 0 ? p->min : p->max;
    return wni_param_nearest(p, from_scale(p, u));
}

/* ---- rows ---- */

static void put_one_hot(double *row, size_t n, double value)
{
    for (size_t k = 0; k < n; k++)
        row[k] = 0;
    row[(size_t)value] = 1;
}

static double largest_column(const double *row, size_t n)
{
    size_t best = 0;
    for (size_t k = 1; k < n; k++)
        if (row[k] > row[best]) best = k;
    return (double)best;
}

void wni_encode_unit(const struct space *space, const double *config, double *row)
{
    for (size_t i = 0; i < space->n; i++) {
        const struct param *p = &space->params[i];
        size_t columns = wni_param_unit_columns(p);
        if (columns > 1)
            put_one_hot(row, columns, config[i]);
        else if (columns == 1)
            row[0] = wni_param_to_unit(p, config[i]);
        row += columns;
    }
}

void wni_decode_unit(const struct space *space, const double *row, double *config)
{
    for (size_t i = 0; i < space->n; i++) {
        const struct param *p = &space->params[i];
        size_t columns = wni_param_unit_columns(p);
        config[i] = columns > 1 ? largest_column(row, columns) : wni_param_from_unit(p, columns ? row[0] : 0);
        row += columns;
    }
}

void wni_encode_tree(const struct space *space, const double *config, double *row)
{
    for (size_t i = 0; i < space->n; i++) {
        const struct param *p = &space->params[i];
        size_t columns = wni_param_tree_columns(p);
        if (columns > 1)
            put_one_hot(row, columns, config[i]);
        else if (columns == 1)
            row[0] = p->numbers ? p->numbers[(size_t)config[i]] : config[i];
        row += columns;
    }
}

/* The largest ordinal that is not above x, the first if there is none. */
static double from_tree(const struct param *p, double x)
{
    if (!p->numbers) return wni_param_nearest(p, x);
    size_t low = 0, high = (size_t)p->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (p->numbers[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    return (double)low;
}

void wni_decode_tree(const struct space *space, const double *row, double *config)
{
    for (size_t i = 0; i < space->n; i++) {
        const struct param *p = &space->params[i];
        size_t columns = wni_param_tree_columns(p);
        config[i] = columns > 1 ? largest_column(row, columns) : from_tree(p, columns ? row[0] : 0);
        row += columns;
    }
}
