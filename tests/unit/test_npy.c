/* test_npy.c -- bench/npy.h: files made byte by byte, files made by NumPy, and rubbish. */
#include "tests/check.h"

#include "bench/npy.h"

#include <sys/stat.h>

/* ---- files made by hand ---- */

struct bytes {
    unsigned char data[4096];
    size_t n;
};

static void put(struct bytes *b, const void *data, size_t n)
{
    CHECK(b->n + n <= sizeof b->data, "%zu", n);
    if (n) memcpy(b->data + b->n, data, n);
    b->n += n;
}

static void put_length(struct bytes *b, size_t length, size_t width)
{
    for (size_t i = 0; i < width; i++)
        put(b, &(unsigned char){(unsigned char)(length >> (8 * i))}, 1);
}

/* A file of that version with this header and these elements. */
static void make(struct bytes *b, int major, const char *header, const void *elements, size_t size)
{
    b->n = 0;
    put(b, "\x93NUMPY", 6);
    put(b, &(unsigned char){(unsigned char)major}, 1);
    put(b, "", 1);
    put_length(b, strlen(header), major == 1 ? 2 : 4);
    put(b, header, strlen(header));
    put(b, elements, size);
}

/* Parses a copy that ends where the bytes end, so that the address sanitizer sees one byte too many. */
static wn_status parse(const struct bytes *b, struct npy *a, struct err *err)
{
    unsigned char *copy = malloc(b->n ? b->n : 1);
    memcpy(copy, b->data, b->n);
    *err = (struct err){0};
    wn_status st = wni_npy_parse(a, "x.npy", copy, b->n, err);
    double sum = 0;
    for (size_t i = 0; !st && i < a->n; i++)
        sum += wni_npy_at(a, i);
    CHECK((st == WN_OK) == (err->text[0] == '\0'), "status %d, message '%s', sum %g", st, err->text, sum);
    free(copy);
    return st;
}

static void reads_every_version_and_both_types(void **state)
{
    (void)state;
    static const float singles[] = {1.5f, -2.25f, 3e-40f, INFINITY, -0.0f, 7};
    static const double doubles[] = {0.1, -1e300, 5e-324, -INFINITY, 0, 2};
    for (int major = 1; major <= 3; major++) {
        struct bytes b;
        struct npy a;
        struct err err = {0};
        make(&b, major, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n", singles,
             sizeof singles);
        CHECK_OK(wni_npy_parse(&a, "x", b.data, b.n, &err), err);
        CHECK_INT(a.is_double, false);
        CHECK_INT(a.ndim, 2);
        CHECK_INT(a.shape[0], 2);
        CHECK_INT(a.shape[1], 3);
        CHECK_INT(a.n, 6);
        for (size_t i = 0; i < 6; i++)
            CHECK_DOUBLE(wni_npy_at(&a, i), (double)singles[i]);
        make(&b, major, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }\n", doubles,
             sizeof doubles);
        CHECK_OK(wni_npy_parse(&a, "x", b.data, b.n, &err), err);
        CHECK_INT(a.is_double, true);
        CHECK_INT(a.ndim, 1);
        for (size_t i = 0; i < 6; i++)
            CHECK_DOUBLE(wni_npy_at(&a, i), doubles[i]);
    }
}

static void reads_every_way_to_write_the_header(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t ndim, n;
    } cases[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}", 2, 2},
        {"{\"shape\": (2L, 1L), \"fortran_order\": False, \"descr\": \"<f4\"}", 2, 2},
        {"{'fortran_order':False,'shape':(2,),'descr':'<f4'}", 1, 2},
        {"  {\n 'descr' : '<f4' ,\t'fortran_order' : False , 'shape' : ( 2 , 1 , ) , }\r\n  ", 2, 2},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 1, 1, 1, 1, 1, 1), }", 8, 2},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b;
        struct npy a;
        struct err err;
        make(&b, 1, cases[i].header, (float[]){1, 2}, 8);
        CHECK_OK(parse(&b, &a, &err), err);
        CHECK_INT(a.ndim, cases[i].ndim);
        CHECK_INT(a.n, cases[i].n);
    }
    struct bytes b;
    struct npy a;
    struct err err;
    make(&b, 2, "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 0, 3)}", NULL, 0);
    CHECK_OK(parse(&b, &a, &err), err);
    CHECK_INT(a.n, 0);
}

static void check_refused(int major, const char *header, size_t size, const char *why)
{
    static const unsigned char zeros[256];
    struct bytes b;
    struct npy a;
    struct err err;
    make(&b, major, header, zeros, size);
    CHECK_INT(parse(&b, &a, &err), WN_EINVAL);
    CHECK(strstr(err.text, "x.npy") && strstr(err.text, why), "header %s\n  gave '%s',\n  expected '%s'",
          header, err.text, why);
    CHECK(a.data == NULL && a.n == 0, "%zu", a.n);
}

static void refuses_what_is_not_ours_and_says_what_it_is(void **state)
{
    (void)state;
#define HEADER(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"
    static const struct {
        const char *header, *why;
    } cases[] = {
        {HEADER("'>f4'", "False", "(2,)"), "big-endian numbers ('>f4')"},
        {HEADER("'>f8'", "False", "(2,)"), "big-endian numbers ('>f8')"},
        {HEADER("'<i8'", "False", "(2,)"), "elements of type '<i8'"},
        {HEADER("'|O'", "False", "(2,)"), "elements of type '|O'"},
        {HEADER("'<f2'", "False", "(2,)"), "elements of type '<f2'"},
        {HEADER("'<f4 '", "False", "(2,)"), "elements of type '<f4 '"},
        {HEADER("'\x1b[2J\xff'", "False", "(2,)"), "elements of type '?[2J?'"},
        {HEADER("'a name that goes on and on and on'", "False", "(2,)"), "'a name that goes on and'"},
        {HEADER("[('a', '<f4'), ('b', '<f4')]", "False", "(1,)"), "records with named fields"},
        {HEADER("4", "False", "(2,)"), "'descr' is not a string"},
        {HEADER("'<f4", "False", "(2,)"), "elements of type '<f4, '"},
        {HEADER("'<f4'", "True", "(2, 1)"), "Fortran order"},
        {HEADER("'<f4'", "0", "(2,)"), "'fortran_order' is neither"},
        {HEADER("'<f4'", "False", "2"), "'shape' is not a tuple"},
        {HEADER("'<f4'", "False", "(2)"), "a number in brackets"},
        {HEADER("'<f4'", "False", "[2]"), "'shape' is not a tuple"},
        {HEADER("'<f4'", "False", "(-2,)"), "tuple of sizes"},
        {HEADER("'<f4'", "False", "(2.0,)"), "tuple of sizes"},
        {HEADER("'<f4'", "False", "(,)"), "tuple of sizes"},
        {HEADER("'<f4'", "False", "(2,,)"), "tuple of sizes"},
        {HEADER("'<f4'", "False", "(2 1)"), "tuple of sizes"},
        {HEADER("'<f4'", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 2)"), "more than 8 dimensions"},
        {HEADER("'<f4'", "False", "(99999999999999999999999,)"), "tuple of sizes"},
        {HEADER("'<f4'", "False", "(18446744073709551615, 18446744073709551615)"),
         "does not fit into memory"},
        {HEADER("'<f4'", "False", "(4611686018427387904,)"), "does not fit into memory"},
        {HEADER("'<f4'", "False", "(4611686018427387903,)"), "is cut short"},
        {HEADER("'<f4'", "False", "(3,)"),
         "is cut short: shape (3,) needs 12 bytes of elements, the file has 8"},
        {HEADER("'<f8'", "False", "(2,)"),
         "is cut short: shape (2,) needs 16 bytes of elements, the file has 8"},
        {HEADER("'<f4'", "False", "(1, 1)"), "has 4 bytes after its array of shape (1, 1)"},
        {HEADER("'<f4'", "False", "()"), "has 4 bytes after its array of shape ()"},
        {HEADER("'<f4'", "False", "(2,), 'extra': 1"), "a key that is not"},
        {HEADER("'<f4'", "False", "(2,), 'shape': (2,)"), "a key is there twice"},
        {HEADER("'<f4'", "False", "(2,)") "x", "text after the dictionary"},
        {"{'descr': '<f4', 'fortran_order': False}", "must all be there"},
        {"{'shape': (2,), 'fortran_order': False}", "must all be there"},
        {"{'descr': '<f4', 'shape': (2,)}", "must all be there"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "expected a comma"},
        {"{'descr' '<f4', 'fortran_order': False, 'shape': (2,)}", "expected a key and a colon"},
        {"{descr: '<f4', 'fortran_order': False, 'shape': (2,)}", "expected a key and a colon"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "expected a"},
        {"('descr', '<f4')", "it is not a dictionary"},
        {"{", "expected a key"},
        {"{}", "must all be there"},
        {"", "it is not a dictionary"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int major = 1; major <= 3; major++)
            check_refused(major, cases[i].header, 8, cases[i].why);
}

static void refuses_other_magic_and_versions(void **state)
{
    (void)state;
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
    check_refused(0, header, 8, "version 0.0; versions 1.0, 2.0 and 3.0 are read");
    check_refused(4, header, 8, "version 4.0");
    struct bytes b;
    struct npy a;
    struct err err;
    make(&b, 1, header, (float[]){1, 2}, 8);
    b.data[7] = 1;
    CHECK_INT(parse(&b, &a, &err), WN_EINVAL);
    CHECK(strstr(err.text, "version 1.1"), "%s", err.text);
    b.data[7] = 0;
    b.data[0] = 0x92;
    CHECK_INT(parse(&b, &a, &err), WN_EINVAL);
    CHECK_TEXT(err.text, "'x.npy' is not a .npy file: it does not begin with \\x93NUMPY");
}

static void refuses_lengths_that_lie(void **state)
{
    (void)state;
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
    static const struct {
        uint32_t length;
        const char *why;
    } cases[] = {{UINT32_MAX, "longer than"},
                 {65537, "longer than"},
                 {65536, "ends inside"},
                 {sizeof header + 8, "ends inside"},
                 {sizeof header - 2, "expected a"},
                 {0, "not a dictionary"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b;
        struct npy a;
        struct err err;
        make(&b, 2, header, (float[]){1, 2}, 8);
        for (size_t k = 0; k < 4; k++)
            b.data[8 + k] = (unsigned char)(cases[i].length >> (8 * k));
        CHECK_INT(parse(&b, &a, &err), WN_EINVAL);
        CHECK(strstr(err.text, cases[i].why), "length %u: %s", cases[i].length, err.text);
    }
}

static void a_cut_file_is_refused_wherever_it_is_cut(void **state)
{
    (void)state;
    for (int major = 1; major <= 3; major++) {
        struct bytes b;
        make(&b, major, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", (double[]){1, 2, 3, 4},
             32);
        struct npy a;
        struct err err;
        CHECK_OK(parse(&b, &a, &err), err);
        while (b.n-- > 0)
            CHECK_INT(parse(&b, &a, &err), WN_EINVAL);
    }
}

static void survives_changed_bytes(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(1, 0, 0);
    size_t accepted = 0;
    for (int round = 0; round < 20000; round++) {
        struct bytes b;
        make(&b, check_between(&rng, 1, 3), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
             NULL, 0);
        put(&b, (float[6]){1, 2, 3, 4, 5, 6}, 24);
        for (int k = check_between(&rng, 1, 3); k > 0; k--) {
            static const char likely[] = "'\"(){},:0123456789L <>f48TrueFalse";
            size_t at = wni_rng_below(&rng, b.n);
            b.data[at] = (unsigned char)(check_chance(&rng, 70)
                                             ? (unsigned char)likely[wni_rng_below(&rng, sizeof likely - 1)]
                                             : wni_rng_below(&rng, 256));
        }
        struct npy a;
        struct err err;
        wn_status st = parse(&b, &a, &err);
        CHECK(st == WN_OK || st == WN_EINVAL, "round %d: %d", round, st);
        accepted += st == WN_OK;
        if (!st) CHECK(a.n * (a.is_double ? 8 : 4) <= b.n, "round %d: %zu elements", round, a.n);
    }
    CHECK(accepted > 1000 && accepted < 15000, "%zu of 20000 accepted: the changes are too wild or too tame",
          accepted);
}

/* ---- files ---- */

static void opens_files_and_says_which_one_it_could_not(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX];
    check_tmp_make(dir);
    struct npy a;
    struct err err = {0};
    struct bytes b;
    make(&b, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", (double[]){4, 5, 6}, 24);
    CHECK_OK(wni_npy_open(&a, check_tmp_write(dir, "a.npy", b.data, b.n), &err), err);
    CHECK_DOUBLE(wni_npy_at(&a, 2), 6);
    wni_npy_release(&a);
    CHECK(a.data == NULL, "%p", (const void *)a.data);
    wni_npy_release(&a); /* twice is fine */

    CHECK_INT(wni_npy_open(&a, dir, &err), WN_EIO);
    CHECK(strstr(err.text, dir) && strstr(err.text, "not a regular file"), "%s", err.text);
    CHECK_INT(wni_npy_open(&a, "no/such.npy", &err), WN_EIO);
    CHECK_TEXT(err.text, "cannot open 'no/such.npy': No such file or directory");
    const char *empty = check_tmp_write(dir, "empty.npy", "", 0);
    CHECK_INT(wni_npy_open(&a, empty, &err), WN_EINVAL);
    CHECK(strstr(err.text, "is not a .npy file"), "%s", err.text);
    CHECK_INT(wni_npy_open(&a, empty, NULL), WN_EINVAL); /* nobody has to listen */
    char pipe_path[CHECK_PATH_MAX + 8];
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", dir);
    CHECK_INT(mkfifo(pipe_path, 0600), 0);
    CHECK_INT(wni_npy_open(&a, pipe_path, &err), WN_EIO); /* and does not wait for a writer */
    check_tmp_remove(dir);
}

static double golden_element(size_t i, bool is_double)
{
    double x = (double)i, y = (x * x - 7 * x) / 3 + 0.1;
    return is_double ? y : (double)(float)y;
}

static void reads_what_numpy_wrote(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool is_double;
        size_t ndim, shape[3];
    } cases[] = {{"v1_f4", false, 3, {2, 3, 4}}, {"v1_f8", true, 2, {5, 2}},  {"v2_f8", true, 1, {7}},
                 {"v3_f4", false, 3, {4, 1, 2}}, {"scalar_f8", true, 0, {0}}, {"empty_f4", false, 2, {0, 3}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[128];
        snprintf(path, sizeof path, "tests/golden/npy/%s.npy", cases[i].name);
        struct npy a;
        struct err err = {0};
        CHECK_OK(wni_npy_open(&a, path, &err), err);
        CHECK_INT(a.is_double, cases[i].is_double);
        CHECK_INT(a.ndim, cases[i].ndim);
        size_t n = 1;
        for (size_t k = 0; k < a.ndim; k++) {
            CHECK_INT(a.shape[k], cases[i].shape[k]);
            n *= a.shape[k];
        }
        CHECK_INT(a.n, n);
        for (size_t k = 0; k < n; k++)
            CHECK_DOUBLE(wni_npy_at(&a, k), golden_element(k, a.is_double));
        wni_npy_release(&a);
    }
}

static void refuses_what_numpy_wrote_for_others(void **state)
{
    (void)state;
    static const struct {
        const char *name, *why;
    } cases[] = {{"big_endian", "big-endian"}, {"fortran", "Fortran order"}, {"int64", "type '<i8'"},
                 {"half", "type '<f2'"},       {"complex", "type '<c16'"},   {"bool", "type '|b1'"},
                 {"records", "named fields"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[128];
        snprintf(path, sizeof path, "tests/golden/npy/%s.npy", cases[i].name);
        struct npy a;
        struct err err = {0};
        CHECK_INT(wni_npy_open(&a, path, &err), WN_EINVAL);
        CHECK(strstr(err.text, path) && strstr(err.text, cases[i].why), "%s: %s", cases[i].name, err.text);
    }
}

/* ---- writing ---- */

static size_t read_bytes(const char *path, unsigned char *out, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    size_t n = fread(out, 1, size, file);
    fclose(file);
    return n;
}

static void writes_the_bytes_that_numpy_writes(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX], path[CHECK_PATH_MAX + 16];
    check_tmp_make(dir);
    snprintf(path, sizeof path, "%s/a.npy", dir);
    float data[24];
    for (size_t i = 0; i < 24; i++)
        data[i] = (float)golden_element(i, false);
    struct err err = {0};
    CHECK_OK(wni_npy_write(path, false, (size_t[]){2, 3, 4}, 3, data, &err), err);
    unsigned char ours[512], theirs[512];
    size_t n = read_bytes(path, ours, sizeof ours);
    CHECK_INT(n, read_bytes("tests/golden/npy/v1_f4.npy", theirs, sizeof theirs));
    for (size_t i = 0; i < n; i++)
        CHECK(ours[i] == theirs[i], "byte %zu is %d, NumPy has %d", i, ours[i], theirs[i]);
    check_tmp_remove(dir);
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    char dir[CHECK_PATH_MAX], path[CHECK_PATH_MAX + 16];
    check_tmp_make(dir);
    snprintf(path, sizeof path, "%s/a.npy", dir);
    struct rng rng = wni_rng_stream(2, 0, 0);
    for (int round = 0; round < 200; round++) {
        size_t shape[NPY_DIMS_MAX], ndim = (size_t)check_between(&rng, 0, NPY_DIMS_MAX), n = 1;
        for (size_t i = 0; i < ndim; i++)
            n *= shape[i] = (size_t)check_between(&rng, round % 10 ? 1 : 0, 3);
        bool is_double = check_chance(&rng, 50);
        double doubles[6561];
        float singles[6561];
        for (size_t i = 0; i < n; i++) {
            uint64_t bits = wni_rng_u64(&rng); /* any bits: NaN, infinities, subnormal numbers */
            uint32_t half = (uint32_t)bits;
            memcpy(&doubles[i], &bits, sizeof bits);
            memcpy(&singles[i], &half, sizeof half);
        }
        struct err err = {0};
        struct npy a;
        CHECK_OK(
            wni_npy_write(path, is_double, shape, ndim, is_double ? (void *)doubles : (void *)singles, &err),
            err);
        CHECK_OK(wni_npy_open(&a, path, &err), err);
        CHECK_INT((a.data - a.map.data) % 64, 0);
        CHECK_INT(a.ndim, ndim);
        CHECK_INT(a.n, n);
        CHECK(!memcmp(a.shape, shape, ndim * sizeof *shape), "round %d", round);
        for (size_t i = 0; i < n; i++)
            CHECK_DOUBLE(wni_npy_at(&a, i), is_double ? doubles[i] : (double)singles[i]);
        wni_npy_release(&a);
    }
    struct err err = {0};
    CHECK_INT(wni_npy_write("no/such/folder/a.npy", true, NULL, 0, &(double){1}, &err), WN_EIO);
    CHECK(strstr(err.text, "cannot create 'no/such/folder/a.npy'"), "%s", err.text);
    CHECK_INT(wni_npy_write(path, true, (size_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1}, 9, &(double){1}, &err),
              WN_EINVAL);
    CHECK_INT(wni_npy_write("/dev/full", true, (size_t[]){1000}, 1, (double[1000]){0}, &err), WN_EIO);
    check_tmp_remove(dir);
}

static void shapes_as_text(void **state)
{
    (void)state;
    static const struct {
        size_t ndim, shape[3];
        const char *text;
    } cases[] = {
        {0, {0}, "()"}, {1, {7}, "(7,)"}, {2, {62208, 1}, "(62208, 1)"}, {3, {1, 0, 4}, "(1, 0, 4)"}};
    char text[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct npy a = {.ndim = cases[i].ndim};
        memcpy(a.shape, cases[i].shape, sizeof cases[i].shape);
        wni_npy_shape_text(&a, text, sizeof text);
        CHECK_TEXT(text, cases[i].text);
    }
    struct npy a = {.ndim = 3, .shape = {123456, 123456, 123456}};
    wni_npy_shape_text(&a, text, 10); /* cut, never overrun */
    CHECK_TEXT(text, "(123456, ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_version_and_both_types),
        cmocka_unit_test(reads_every_way_to_write_the_header),
        cmocka_unit_test(refuses_what_is_not_ours_and_says_what_it_is),
        cmocka_unit_test(refuses_other_magic_and_versions),
        cmocka_unit_test(refuses_lengths_that_lie),
        cmocka_unit_test(a_cut_file_is_refused_wherever_it_is_cut),
        cmocka_unit_test(survives_changed_bytes),
        cmocka_unit_test(opens_files_and_says_which_one_it_could_not),
        cmocka_unit_test(reads_what_numpy_wrote),
        cmocka_unit_test(refuses_what_numpy_wrote_for_others),
        cmocka_unit_test(writes_the_bytes_that_numpy_writes),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(shapes_as_text),
    };
    return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
