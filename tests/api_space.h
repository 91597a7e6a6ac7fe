/* api_space.h -- a space with one parameter of every kind, made through winnow.h, and its JSON. */
#ifndef WNI_TESTS_API_SPACE_H
#define WNI_TESTS_API_SPACE_H

#include "winnow.h"

static const char api_space_json[] =
    "{\"lr\": {\"type\": \"float\", \"min\": 1e-05, \"max\": 0.1, \"scale\": \"log\"}, "
    "\"dropout\": {\"type\": \"float\", \"min\": 0, \"max\": 0.5, \"step\": 0.1}, "
    "\"units\": {\"type\": \"int\", \"min\": 16, \"max\": 512, \"scale\": \"log\"}, "
    "\"depth\": {\"type\": \"int\", \"min\": 2, \"max\": 8, \"step\": 2}, "
    "\"batch\": {\"type\": \"ordinal\", \"values\": [16, 64, 256], \"scale\": \"log\"}, "
    "\"size\": {\"type\": \"ordinal\", \"values\": [\"small\", \"large\"]}, "
    "\"activation\": {\"type\": \"categorical\", \"values\": [\"relu\", \"tanh\", \"gelu\"]}, "
    "\"nesterov\": {\"type\": \"bool\"}, "
    "\"epochs\": {\"type\": \"constant\", \"value\": 10}}";

/* Makes every call, whatever became of those before; *failed counts the ones that did not succeed.  NULL: no
 * memory for the space itself. */
static inline wn_space *api_space_new(int *failed)
{
    wn_space *s = wn_space_new();
    *failed = 0;
    if (!s) return NULL;
    *failed += wn_space_float(s, "lr", 1e-5, 0.1, WN_LOG) != WN_OK;
    *failed += wn_space_float_step(s, "dropout", 0, 0.5, 0.1) != WN_OK;
    *failed += wn_space_int(s, "units", 16, 512, WN_LOG) != WN_OK;
    *failed += wn_space_int_step(s, "depth", 2, 8, 2) != WN_OK;
    *failed += wn_space_ordinal(s, "batch", (const double[]){16, 64, 256}, 3, WN_LOG) != WN_OK;
    *failed += wn_space_ordinal_strings(s, "size", (const char *const[]){"small", "large"}, 2) != WN_OK;
    *failed +=
        wn_space_categorical(s, "activation", (const char *const[]){"relu", "tanh", "gelu"}, 3) != WN_OK;
    *failed += wn_space_bool(s, "nesterov") != WN_OK;
    *failed += wn_space_constant(s, "epochs", "10") != WN_OK;
    return s;
}

#endif
