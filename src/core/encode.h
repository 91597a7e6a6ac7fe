/* encode.h -- configurations as rows of numbers for models.
 *
 * unit: every parameter in [0,1] in its scale.  Discrete ranges own an interval of equal width around each
 * value (ints: [v - step/2, v + step/2]; ordinals by index, or by log value when declared so), encoded by its
 * middle value. Categoricals are one-hot, a pair is one column; constants and one-valued parameters have
 * none. tree: raw numbers (trees do not care about monotone maps), ordinals of words by index, one 0/1 column
 * per category.
 *
 * Both round-trip exactly: decode(encode(c)) == c for every configuration of the space. */
#ifndef WNI_CORE_ENCODE_H
#define WNI_CORE_ENCODE_H

#include "core/space.h"

void wni_encode_unit(const struct space *space, const double *config,
                     double *row); /* row[space->unit_width] */
/* Any row is decoded: numbers are clamped to [0,1] and rounded to the nearest value, one-hot takes the
 * largest. */
void wni_decode_unit(const struct space *space, const double *row, double *config);

void wni_encode_tree(const struct space *space, const double *config,
                     double *row); /* row[space->tree_width] */
/* Any row is decoded: to the nearest value, or the largest ordinal not above the number. */
void wni_decode_tree(const struct space *space, const double *row, double *config);

/* Columns a parameter takes, and one value to and from the unit interval (not for categoricals). */
size_t wni_param_unit_columns(const struct param *p);
size_t wni_param_tree_columns(const struct param *p);
double wni_param_to_unit(const struct param *p, double value);
double wni_param_from_unit(const struct param *p, double u);

#endif
