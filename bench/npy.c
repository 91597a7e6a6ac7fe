/* npy.c -- reads the header of a .npy file, which is a small Python literal, and trusts nothing in it. */
#include "bench/npy.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>

enum {
    MAGIC_LENGTH = 6,
    HEADER_MAX = 1 << 16, /* ours have about 100 bytes; records with thousands of fields are refused anyway */
    ALIGNMENT = 64,       /* of the first element, as NumPy pads it */
};
static const char MAGIC[MAGIC_LENGTH + 1] = "\x93NUMPY";

/* ---- the header's dictionary ---- */

struct header {
    const char *at, *end; /* what is still to be read */
    const char *file;
    struct err *err;
    bool has_descr, has_order, has_shape;
};

static wn_status bad_header(const struct header *h, const char *what)
{
    return wni_fail(h->err, WN_EINVAL, "'%s': malformed .npy header: %s", h->file, what);
}

static void skip_blanks(struct header *h)
{
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\n' || *h->at == '\t' || *h->at == '\r'))
        h->at++;
}

/* Takes the character if it comes next, blanks in front of it aside. */
static bool take(struct header *h, char c)
{
    skip_blanks(h);
    if (h->at == h->end || *h->at != c) return false;
    h->at++;
    return true;
}

static bool take_word(struct header *h, const char *word)
{
    skip_blanks(h);
    size_t n = strlen(word);
    if ((size_t)(h->end - h->at) < n || memcmp(h->at, word, n) != 0) return false;
    h->at += n;
    return true;
}

struct slice {
    const char *text;
    size_t length;
};

static bool slice_is(struct slice s, const char *text)
{
    return s.length == strlen(text) && !memcmp(s.text, text, s.length);
}

/* A string in single or double quotes; the ones we want hold no escapes. */
static bool take_string(struct header *h, struct slice *out)
{
    skip_blanks(h);
    if (h->at == h->end || (*h->at != '\'' && *h->at != '"')) return false;
    char quote = *h->at;
    const char *from = h->at + 1;
    const char *to = memchr(from, quote, (size_t)(h->end - from));
    if (!to) return false;
    *out = (struct slice){from, (size_t)(to - from)};
    h->at = to + 1;
    return true;
}

/* Copies for a message, with everything unprintable replaced: a file is not a terminal's friend. */
static void printable(struct slice s, char *out, size_t size)
{
    size_t n = s.length < size - 1 ? s.length : size - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = s.text[i] >= ' ' && s.text[i] <= '~' ? s.text[i] : '?';
    out[n] = '\0';
}

static wn_status read_descr(struct npy *a, struct header *h)
{
    struct slice type;
    skip_blanks(h);
    if (h->at < h->end && *h->at == '[')
        return wni_fail(h->err, WN_EINVAL,
                        "'%s' holds records with named fields; only float32 and float64 are read", h->file);
    if (!take_string(h, &type)) return bad_header(h, "'descr' is not a string");
    a->is_double = slice_is(type, "<f8");
    if (a->is_double || slice_is(type, "<f4")) return WN_OK;
    char found[24];
    printable(type, found, sizeof found);
    if (slice_is(type, ">f4") || slice_is(type, ">f8"))
        return wni_fail(h->err, WN_EINVAL,
                        "'%s' holds big-endian numbers ('%s'); only little-endian ones are read", h->file,
                        found);
    return wni_fail(h->err, WN_EINVAL,
                    "'%s' holds elements of type '%s'; only float32 '<f4' and float64 '<f8' are read",
                    h->file, found);
}

static wn_status read_order(struct header *h)
{
    if (take_word(h, "False")) return WN_OK;
    if (take_word(h, "True"))
        return wni_fail(h->err, WN_EINVAL,
                        "'%s' is in Fortran order; only C order is read (numpy.ascontiguousarray)", h->file);
    return bad_header(h, "'fortran_order' is neither True nor False");
}

static bool take_size(struct header *h, size_t *out)
{
    skip_blanks(h);
    if (h->at == h->end || *h->at < '0' || *h->at > '9') return false;
    size_t n = 0;
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, (size_t)(*h->at - '0'), &n))
            return false;
    if (h->at < h->end && *h->at == 'L') h->at++; /* Python 2 wrote (3L, 4L) */
    *out = n;
    return true;
}

/* A tuple: (), (3,), (3, 4) and with a comma at the end. */
static wn_status read_shape(struct npy *a, struct header *h)
{
    if (!take(h, '(')) return bad_header(h, "'shape' is not a tuple");
    bool more = true;
    while (!take(h, ')')) {
        if (a->ndim == NPY_DIMS_MAX)
            return wni_fail(h->err, WN_EINVAL, "'%s' has more than %d dimensions", h->file, NPY_DIMS_MAX);
        if (!more || !take_size(h, &a->shape[a->ndim]))
            return bad_header(h, "'shape' is not a tuple of sizes");
        a->ndim++;
        more = take(h, ',');
    }
    if (a->ndim == 1 && !more) return bad_header(h, "'shape' is a number in brackets, not a tuple");
    return WN_OK;
}

static wn_status read_entry(struct npy *a, struct header *h)
{
    struct slice key;
    if (!take_string(h, &key) || !take(h, ':')) return bad_header(h, "expected a key and a colon");
    bool *seen = slice_is(key, "descr")           ? &h->has_descr
                 : slice_is(key, "fortran_order") ? &h->has_order
                 : slice_is(key, "shape")         ? &h->has_shape
                                                  : NULL;
    if (!seen) return bad_header(h, "a key that is not descr, fortran_order or shape");
    if (*seen) return bad_header(h, "a key is there twice");
    *seen = true;
    if (seen == &h->has_descr) return read_descr(a, h);
    return seen == &h->has_order ? read_order(h) : read_shape(a, h);
}

static wn_status read_dictionary(struct npy *a, struct header *h)
{
    if (!take(h, '{')) return bad_header(h, "it is not a dictionary");
    bool more = true;
    while (!take(h, '}')) {
        if (!more) return bad_header(h, "expected a comma or a closing brace");
        wn_status st = read_entry(a, h);
        if (st) return st;
        more = take(h, ',');
    }
    skip_blanks(h);
    if (h->at != h->end) return bad_header(h, "text after the dictionary");
    if (!h->has_descr || !h->has_order || !h->has_shape)
        return bad_header(h, "descr, fortran_order and shape must all be there");
    return WN_OK;
}

/* ---- the file around it ---- */

/* Finds the dictionary behind magic, version and length; *offset is where the elements begin. */
static wn_status find_header(struct header *h, const unsigned char *bytes, size_t size, size_t *offset)
{
    if (size < MAGIC_LENGTH || memcmp(bytes, MAGIC, MAGIC_LENGTH) != 0)
        return wni_fail(h->err, WN_EINVAL, "'%s' is not a .npy file: it does not begin with \\x93NUMPY",
                        h->file);
    if (size < MAGIC_LENGTH + 2) return bad_header(h, "the file ends before the version");
    unsigned major = bytes[MAGIC_LENGTH], minor = bytes[MAGIC_LENGTH + 1];
    if (major < 1 || major > 3 || minor != 0)
        return wni_fail(h->err, WN_EINVAL, "'%s' has .npy version %u.%u; versions 1.0, 2.0 and 3.0 are read",
                        h->file, major, minor);
    size_t width = major == 1 ? 2 : 4, from = MAGIC_LENGTH + 2 + width, length = 0;
    if (size < from) return bad_header(h, "the file ends before the header's length");
    for (size_t i = 0; i < width; i++)
        length |= (size_t)bytes[MAGIC_LENGTH + 2 + i] << (8 * i);
    if (length > HEADER_MAX) return bad_header(h, "it is longer than 65536 bytes");
    if (length > size - from) return bad_header(h, "the file ends inside it");
    h->at = (const char *)bytes + from;
    h->end = h->at + length;
    *offset = from + length;
    return WN_OK;
}

/* Elements in all, and whether the file holds exactly those. */
static wn_status check_size(struct npy *a, const char *name, size_t available, struct err *err)
{
    char shape[128];
    wni_npy_shape_text(a, shape, sizeof shape);
    size_t bytes = a->is_double ? sizeof(double) : sizeof(float);
    bool fits = true;
    a->n = 1;
    for (size_t i = 0; i < a->ndim; i++)
        fits = !__builtin_mul_overflow(a->n, a->shape[i], &a->n) && fits;
    fits = !__builtin_mul_overflow(a->n, bytes, &bytes) && fits;
    if (!fits)
        return wni_fail(err, WN_EINVAL, "'%s': an array of shape %s does not fit into memory", name, shape);
    if (bytes > available)
        return wni_fail(err, WN_EINVAL,
                        "'%s' is cut short: shape %s needs %zu bytes of elements, the file has %zu", name,
                        shape, bytes, available);
    if (bytes < available)
        return wni_fail(err, WN_EINVAL, "'%s' has %zu bytes after its array of shape %s", name,
                        available - bytes, shape);
    return WN_OK;
}

wn_status wni_npy_parse(struct npy *a, const char *name, const void *bytes, size_t size, struct err *err)
{
    *a = (struct npy){0};
    struct npy parsed = {0};
    struct header h = {.file = name, .err = err};
    size_t offset = 0;
    wn_status st = find_header(&h, bytes, size, &offset);
    if (!st) st = read_dictionary(&parsed, &h);
    if (!st) st = check_size(&parsed, name, size - offset, err);
    if (st) return st;
    *a = parsed;
    a->data = (const unsigned char *)bytes + offset;
    return WN_OK;
}

wn_status wni_npy_open(struct npy *a, const char *path, struct err *err)
{
    *a = (struct npy){0};
    struct map map;
    wn_status st = wni_map_open(&map, path, err);
    if (st) return st;
    st = wni_npy_parse(a, path, map.data, map.size, err);
    a->map = map;
    if (st) wni_npy_release(a);
    return st;
}

void wni_npy_release(struct npy *a)
{
    wni_map_release(&a->map);
    *a = (struct npy){0};
}

void wni_npy_shape_text(const struct npy *a, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < a->ndim && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%zu", i ? ", " : "(", a->shape[i]);
    if (used < size) snprintf(out + used, size - used, "%s", a->ndim == 0 ? "()" : a->ndim == 1 ? ",)" : ")");
}

/* ---- writing ---- */

static void build_header(struct buf *b, bool is_double, const struct npy *a)
{
    char shape[256];
    wni_npy_shape_text(a, shape, sizeof shape);
    wni_buf_printf(b, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", is_double ? "<f8" : "<f4",
                   shape);
    while ((MAGIC_LENGTH + 4 + b->len + 1) % ALIGNMENT && !b->failed)
        wni_buf_putc(b, ' ');
    wni_buf_putc(b, '\n');
}

/* Elements go out little-endian whatever the machine is. */
static bool write_elements(FILE *file, bool is_double, const void *data, size_t n)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < n; i++) {
        uint64_t wide;
        uint32_t narrow;
        if (is_double) {
            memcpy(&wide, bytes + i * sizeof wide, sizeof wide);
            wide = htole64(wide);
            if (fwrite(&wide, sizeof wide, 1, file) != 1) return false;
        } else {
            memcpy(&narrow, bytes + i * sizeof narrow, sizeof narrow);
            narrow = htole32(narrow);
            if (fwrite(&narrow, sizeof narrow, 1, file) != 1) return false;
        }
    }
    return true;
}

static bool write_all(FILE *file, const struct buf *header, bool is_double, const void *data, size_t n)
{
    unsigned char prefix[4] = {1, 0, (unsigned char)(header->len & 0xff), (unsigned char)(header->len >> 8)};
    return fwrite(MAGIC, MAGIC_LENGTH, 1, file) == 1 && fwrite(prefix, sizeof prefix, 1, file) == 1 &&
           fwrite(header->data, header->len, 1, file) == 1 && write_elements(file, is_double, data, n);
}

wn_status wni_npy_write(const char *path, bool is_double, const size_t *shape, size_t ndim, const void *data,
                        struct err *err)
{
    struct npy a = {.n = 1, .ndim = ndim};
    if (ndim > NPY_DIMS_MAX)
        return wni_fail(err, WN_EINVAL, "'%s': more than %d dimensions", path, NPY_DIMS_MAX);
    for (size_t i = 0; i < ndim; i++) {
        a.shape[i] = shape[i];
        a.n = wni_size_mul(a.n, shape[i]);
    }
    struct buf header = {0};
    build_header(&header, is_double, &a);
    FILE *file = NULL;
    wn_status st = header.failed ? wni_fail_memory(err) : WN_OK;
    if (!st && !(file = fopen(path, "wb")))
        st = wni_fail(err, WN_EIO, "cannot create '%s': %s", path, strerror(errno));
    if (!st && !write_all(file, &header, is_double, data, a.n))
        st = wni_fail(err, WN_EIO, "cannot write '%s': %s", path, strerror(errno));
    if (file && fclose(file) && !st)
        st = wni_fail(err, WN_EIO, "cannot write '%s': %s", path, strerror(errno));
    wni_buf_release(&header);
    return st;
}
