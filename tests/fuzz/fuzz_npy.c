/* fuzz_npy.c -- whatever the bytes are, reading them as a .npy file ends in an array inside them or in a
 * message. */
#include "bench/npy.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct npy a;
    struct err err = {0};
    wn_status st = wni_npy_parse(&a, "fuzz.npy", data, size, &err);
    if (st != WN_OK) {
        MUST(st == WN_EINVAL && err.text[0] && !a.data && !a.n);
        return 0;
    }
    size_t width = a.is_double ? 8 : 4, n = 1;
    for (size_t i = 0; i < a.ndim; i++)
        n *= a.shape[i];
    MUST(n == a.n && a.ndim <= NPY_DIMS_MAX);
    MUST(a.data >= data && a.data + n * width == data + size);
    volatile double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += wni_npy_at(&a, i);
    char shape[32];
    wni_npy_shape_text(&a, shape, sizeof shape);
    return 0;
}
