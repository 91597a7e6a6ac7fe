/* npy.h -- arrays in NumPy's file format, as numpy.save() writes them.
 *
 * Read: float32 and float64, little-endian, C order, header versions 1.0, 2.0 and 3.0.  Anything else
 * (integers, objects, records, Fortran order, big-endian, a cut file, bytes after the array) is refused with
 * a message that names the file and what was found in it.  The array stays in the mapped file; elements are
 * read one at a time.
 *
 * The format: "\x93NUMPY", major, minor, the header's length (2 bytes in version 1, 4 in later ones,
 * little-endian), then a Python dictionary with the keys descr, fortran_order and shape, then the elements.
 */
#ifndef WNI_BENCH_NPY_H
#define WNI_BENCH_NPY_H

#include "bench/map.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { NPY_DIMS_MAX = 8 };

struct npy {
    struct map map;            /* empty when the array was parsed out of memory */
    const unsigned char *data; /* first element; not aligned */
    size_t n;                  /* elements in all */
    size_t ndim;               /* 0: a single number */
    size_t shape[NPY_DIMS_MAX];
    bool is_double; /* float64, otherwise float32 */
};

wn_status wni_npy_open(struct npy *a, const char *path, struct err *err);
void wni_npy_release(struct npy *a); /* an empty array is fine */

/* The same for a file that is already in memory; `bytes` must outlive the array.  `name` is for messages. */
wn_status wni_npy_parse(struct npy *a, const char *name, const void *bytes, size_t size, struct err *err);

/* "(62208, 1, 4)", for messages. */
void wni_npy_shape_text(const struct npy *a, char *out, size_t size);

/* Writes a version 1.0 file.  `data` holds floats or doubles in C order. */
wn_status wni_npy_write(const char *path, bool is_double, const size_t *shape, size_t ndim, const void *data,
                        struct err *err);

/* Element i of the flattened array, i < n. */
static inline double wni_npy_at(const struct npy *a, size_t i)
{
    if (a->is_double) {
        uint64_t bits;
        double x;
        memcpy(&bits, a->data + i * sizeof bits, sizeof bits);
        bits = le64toh(bits);
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    uint32_t bits;
    float x;
    memcpy(&bits, a->data + i * sizeof bits, sizeof bits);
    bits = le32toh(bits);
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

#endif
