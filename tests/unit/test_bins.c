/* test_bins.c -- cuts, codes and orders of columns, against sorting and counting by hand. */
#include "tests/unit/boost_world.h"

#include <float.h>

/* ---- the slow versions ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Distinct values of a column in increasing order; returns how many. */
static size_t distinct_values(const struct table *t, size_t j, double *sorted, double *distinct)
{
    size_t k = 0;
    for (size_t i = 0; i < t->n; i++)
        sorted[i] = t->x[i * t->columns + j];
    qsort(sorted, t->n, sizeof *sorted, compare_doubles);
    for (size_t i = 0; i < t->n; i++)
        if (!i || sorted[i] != sorted[i - 1]) distinct[k++] = sorted[i];
    return k;
}

static void check_cut(double cut, double below, double above)
{
    long double middle = ((long double)below + (long double)above) / 2;
    double step = nextafter(fmax(fabs(below), fabs(above)), INFINITY) - fmax(fabs(below), fabs(above));
    CHECK(below <= cut && cut < above, "cut %.17g between %.17g and %.17g", cut, below, above);
    CHECK(fabsl((long double)cut - middle) <= (long double)step,
          "cut %.17g, middle of %.17g and %.17g is %.17Lg", cut, below, above, middle);
}

/* Every rank k n / 256 that does not fall within a run of equal values, else the end of that run: after how
 * many of the sorted rows there is a cut. */
static size_t quantile_places(const double *sorted, size_t n, size_t *places)
{
    size_t made = 0;
    for (size_t k = 1; k < BINS_MAX; k++) {
        size_t at = k * n / BINS_MAX;
        while (at < n && sorted[at] == sorted[at - 1])
            at++;
        bool new = at < n;
        for (size_t i = 0; i < made; i++)
            new = new &&places[i] != at;
        if (new) places[made++] = at;
    }
    return made;
}

static void check_cuts(const struct bin_column *c, const struct table *t, size_t j, struct arena *arena)
{
    double *sorted = arena_new(arena, double, t->n), *distinct = arena_new(arena, double, t->n);
    size_t k = distinct_values(t, j, sorted, distinct);
    if (k <= BINS_MAX) {
        CHECK_INT(c->n_cuts, k - 1);
        for (size_t b = 0; b < c->n_cuts; b++)
            check_cut(c->cuts[b], distinct[b], distinct[b + 1]);
        return;
    }
    size_t places[BINS_MAX], made = quantile_places(sorted, t->n, places);
    CHECK_INT(c->n_cuts, made);
    for (size_t b = 0; b < made; b++)
        check_cut(c->cuts[b], sorted[places[b] - 1], sorted[places[b]]);
    if (k == t->n) CHECK_INT(made, BINS_MAX - 1);
}

static uint8_t slow_code(const struct bin_column *c, double value)
{
    int below = 0;
    for (size_t b = 0; b < c->n_cuts; b++)
        below += c->cuts[b] < value;
    return (uint8_t)below;
}

/* order, run_end, low and high say the same as the codes. */
static void check_runs(const struct bin_column *c, const struct table *t, size_t j)
{
    for (size_t b = 0; b <= c->n_cuts; b++) {
        size_t rows = 0;
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < t->n; i++) {
            double value = t->x[i * t->columns + j];
            rows += c->codes[i] <= b;
            if (c->codes[i] == b) low = fmin(low, value), high = fmax(high, value);
        }
        CHECK(c->run_end[b] == rows, "bin %zu ends at %d, expected %zu", b, c->run_end[b], rows);
        CHECK(c->low[b] == low && c->high[b] == high, "bin %zu is %.17g..%.17g, expected %.17g..%.17g", b,
              c->low[b], c->high[b], low, high);
    }
    CHECK_INT(c->run_end[c->n_cuts], t->n);
    for (size_t i = 0; i + 1 < t->n; i++) {
        uint16_t a = c->order[i], b = c->order[i + 1];
        CHECK(a < t->n && b < t->n && (c->codes[a] < c->codes[b] || (c->codes[a] == c->codes[b] && a < b)),
              "place %zu: rows %d (code %d) and %d (code %d)", i, a, c->codes[a], b, c->codes[b]);
    }
}

static void check_bins(const struct table *t)
{
    struct arena arena = {0}, work = {0};
    struct bins bins = table_bins(t->x, t->n, t->columns, &arena);
    CHECK_INT(bins.n, t->n);
    CHECK_INT(bins.columns, t->columns);
    CHECK_INT(bins.stride, table_stride(t->n));
    for (size_t j = 0; j < t->columns; j++) {
        const struct bin_column *c = &bins.column[j];
        check_cuts(c, t, j, &work);
        for (size_t i = 0; i < t->n; i++)
            CHECK_INT(c->codes[i], slow_code(c, t->x[i * t->columns + j]));
        check_runs(c, t, j);
    }
    wni_arena_release(&work);
    wni_arena_release(&arena);
}

/* ---- all shapes ---- */

static void agrees_with_counting(void **state)
{
    (void)state;
    static const size_t sizes[] = {1,   2,   3,   24,  25,  31,  32,  33,  64,
                                   255, 256, 257, 258, 400, 511, 512, 513, 700};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (enum column_kind kind = 0; kind <= N_COLUMN_KINDS; kind++) {
            struct arena arena = {0};
            struct rng rng = wni_rng_stream(sizes[s], kind, 1);
            struct table t = table_random(&rng, sizes[s], 3, kind, TARGET_NORMAL, &arena);
            check_bins(&t);
            wni_arena_release(&arena);
        }
}

/* k distinct values in n rows, on both sides of every limit: the short list (24), the exact cuts (256). */
static void any_number_of_distinct_values(void **state)
{
    (void)state;
    static const size_t numbers[] = {1, 2, 23, 24, 25, 26, 200, 254, 255, 256, 257, 258, 300, 512, 599};
    for (size_t s = 0; s < sizeof numbers / sizeof *numbers; s++) {
        struct arena arena = {0};
        struct rng rng = wni_rng_stream(3, numbers[s], 1);
        struct table t = table_random(&rng, 600, 2, COLUMN_NORMAL, TARGET_NORMAL, &arena);
        for (size_t i = 0; i < t.n; i++) {
            t.x[2 * i] = sqrt((double)((i * 7) % numbers[s])); /* evenly often */
            t.x[2 * i + 1] = i < numbers[s] ? (double)i : 0;   /* one of them nearly always */
        }
        check_bins(&t);
        wni_arena_release(&arena);
    }
}

static void most_rows(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(4, 0, 1);
    struct table t = table_random(&rng, BINS_ROWS_MAX, 1, COLUMN_NORMAL, TARGET_NORMAL, &arena);
    struct bins bins = table_bins(t.x, t.n, 1, &arena);
    check_cuts(&bins.column[0], &t, 0, &arena);
    check_runs(&bins.column[0], &t, 0);
    for (size_t b = 0; b < BINS_MAX; b++) { /* 65535 rows in 256 bins */
        int rows = bins.column[0].run_end[b] - (b ? bins.column[0].run_end[b - 1] : 0);
        CHECK(rows == 255 || rows == 256, "bin %zu holds %d rows", b, rows);
    }
    wni_arena_release(&arena);
}

/* ---- special values ---- */

static struct bin_column column_of(struct arena *arena, const double *values, size_t n)
{
    struct bins bins = table_bins(values, n, 1, arena);
    return bins.column[0];
}

/* Values that crowd together: on a logarithmic scale, beside an outlier, in two heaps, mirrored, in order. */
static void crowded_values(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(5, 0, 1);
    for (size_t n = 25; n <= 1600; n *= 4) {
        struct table t = table_random(&rng, n, 6, COLUMN_NORMAL, TARGET_CONSTANT, &arena);
        for (size_t i = 0; i < n; i++) {
            double u = wni_rng_uniform(&rng), *row = t.x + 6 * i;
            row[0] = pow(1e4, u);
            row[1] = i == n / 2 ? 1e300 : u;
            row[2] = u + (i % 2 ? 1e9 : 0);
            row[3] = -pow(1e4, u);
            row[4] = (double)i;
            row[5] = floor(u * 60) * 0x1p-1040; /* the range is so small that its reciprocal overflows */
        }
        check_bins(&t);
    }
    wni_arena_release(&arena);
}

static void zeros_are_one_value(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct bin_column c = column_of(&arena, (double[]){0.0, -0.0, 1.0, -0.0}, 4);
    CHECK_INT(c.n_cuts, 1);
    CHECK_INT(wni_bins_code(&c, -0.0), 0);
    CHECK_INT(wni_bins_code(&c, 0.0), 0);
    CHECK_INT(wni_bins_code(&c, 1.0), 1);
    wni_arena_release(&arena);
}

static void a_constant_has_no_cut(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct bin_column c = column_of(&arena, (double[]){7, 7, 7}, 3);
    CHECK_INT(c.n_cuts, 0);
    CHECK_INT(c.run_end[0], 3);
    CHECK_DOUBLE(c.low[0], 7);
    CHECK_DOUBLE(c.high[0], 7);
    CHECK_INT(wni_bins_code(&c, -INFINITY) + wni_bins_code(&c, 7) + wni_bins_code(&c, INFINITY), 0);
    wni_arena_release(&arena);
}

/* Between neighbouring doubles there is no other: the lower one is the cut, and the upper lies above it. */
static void neighbouring_doubles_are_told_apart(void **state)
{
    (void)state;
    static const double starts[] = {1, -1, 0, 1e300, -1e300, DBL_MIN, -DBL_MIN, 1.9999999999999998};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        struct arena arena = {0};
        double values[40];
        values[0] = starts[s];
        for (int i = 1; i < 40; i++)
            values[i] = nextafter(values[i - 1], INFINITY);
        struct bin_column c = column_of(&arena, values, 40);
        CHECK_INT(c.n_cuts, 39);
        for (int i = 0; i < 40; i++)
            CHECK_INT(wni_bins_code(&c, values[i]), i);
        wni_arena_release(&arena);
    }
}

/* The distance of the ends of the range of doubles is not a double; the cut still lies between. */
static void the_whole_range_of_doubles(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct bin_column c = column_of(&arena, (double[]){-DBL_MAX, DBL_MAX}, 2);
    CHECK_INT(c.n_cuts, 1);
    CHECK(c.cuts[0] >= -DBL_MAX && c.cuts[0] < DBL_MAX, "cut %g", c.cuts[0]);
    CHECK_INT(c.codes[0], 0);
    CHECK_INT(c.codes[1], 1);
    wni_arena_release(&arena);
}

/* ---- other rows ---- */

static void encodes_values_never_seen(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(5, 0, 1);
    struct table t = table_random(&rng, 300, 12, N_COLUMN_KINDS, TARGET_NORMAL, &arena);
    struct bins bins = table_bins(t.x, t.n, t.columns, &arena);
    enum { ROWS = 333, STRIDE = 352 };
    double *other = arena_new(&arena, double, ROWS *t.columns);
    for (size_t i = 0; i < ROWS * t.columns; i++) {
        const struct bin_column *c = &bins.column[i % t.columns];
        double cut = c->n_cuts ? c->cuts[wni_rng_below(&rng, c->n_cuts)] : 0;
        const double values[] = {
            -INFINITY,           INFINITY, cut, nextafter(cut, INFINITY), nextafter(cut, -INFINITY),
            wni_rng_normal(&rng)};
        other[i] = values[wni_rng_below(&rng, 6)];
    }
    uint8_t *codes = arena_new(&arena, uint8_t, STRIDE * t.columns);
    memset(codes, 77, STRIDE * t.columns);
    wni_bins_encode(&bins, other, ROWS, codes, STRIDE);
    for (size_t j = 0; j < t.columns; j++) {
        const struct bin_column *c = &bins.column[j];
        for (size_t i = 0; i < ROWS; i++)
            CHECK_INT(codes[j * STRIDE + i], slow_code(c, other[i * t.columns + j]));
        for (size_t i = ROWS; i < STRIDE; i++)
            CHECK_INT(codes[j * STRIDE + i], 77);
        CHECK_INT(wni_bins_code(c, -INFINITY), 0);
        CHECK_INT(wni_bins_code(c, INFINITY), c->n_cuts);
        for (size_t b = 0; b < c->n_cuts; b++) /* a value on the cut goes left */
            CHECK_INT(wni_bins_code(c, c->cuts[b]), b);
    }
    wni_arena_release(&arena);
}

/* Between any two bins, against looking at every cut.  Exactly: the columns are such that no distance is
 * rounded. */
static void finds_the_middle_cut(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(7, 0, 1);
    for (int round = 0; round < 20; round++) {
        struct arena arena = {0};
        double values[60];
        for (int i = 0; i < 60; i++)
            values[i] = check_between(&rng, 0, round % 2 ? 40 : 100000) / 1024.0;
        struct bin_column c = column_of(&arena, values, 60);
        for (size_t below = 0; below <= c.n_cuts; below++)
            for (size_t above = below + 1; above <= c.n_cuts; above++) {
                double middle = (c.high[below] + c.low[above]) / 2;
                size_t nearest = below;
                for (size_t b = below; b < above; b++)
                    if (fabs(c.cuts[b] - middle) < fabs(c.cuts[nearest] - middle)) nearest = b;
                CHECK_INT(wni_bins_middle_cut(&c, (uint8_t)below, (uint8_t)above), nearest);
            }
        wni_arena_release(&arena);
    }
}

/* Where the values between are too small to move the middle, or it is no double, the cut still lies in the
 * gap. */
static void the_middle_cut_of_a_vast_gap(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct bin_column c = column_of(&arena, (double[]){-DBL_MAX, -1, 0, 1e-5, 1e-4, 1, 1e200, DBL_MAX}, 8);
    CHECK_INT(wni_bins_middle_cut(&c, 2, 6),
              5); /* 5e199: far above the cut between 1e-4 and 1, at the one above 1 */
    for (size_t below = 0; below < 7; below++)
        for (size_t above = below + 1; above <= 7; above++) {
            uint8_t cut = wni_bins_middle_cut(&c, (uint8_t)below, (uint8_t)above);
            CHECK(below <= cut && cut < above, "between %zu and %zu: %d", below, above, cut);
        }
    wni_arena_release(&arena);
}

/* A table asks its training rows like any others. */
static void training_rows_encode_to_their_codes(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct rng rng = wni_rng_stream(6, 0, 1);
    struct table t = table_random(&rng, 500, 20, N_COLUMN_KINDS, TARGET_NORMAL, &arena);
    struct bins bins = table_bins(t.x, t.n, t.columns, &arena);
    uint8_t *codes = table_codes(&bins, t.x, t.n, &arena);
    for (size_t j = 0; j < t.columns; j++) {
        assert_memory_equal(codes + j * bins.stride, bins.column[j].codes, t.n);
        for (size_t i = t.n; i < bins.stride; i++)
            CHECK_INT(bins.column[j].codes[i], 0);
    }
    wni_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_counting),
        cmocka_unit_test(any_number_of_distinct_values),
        cmocka_unit_test(most_rows),
        cmocka_unit_test(crowded_values),
        cmocka_unit_test(zeros_are_one_value),
        cmocka_unit_test(a_constant_has_no_cut),
        cmocka_unit_test(neighbouring_doubles_are_told_apart),
        cmocka_unit_test(the_whole_range_of_doubles),
        cmocka_unit_test(encodes_values_never_seen),
        cmocka_unit_test(finds_the_middle_cut),
        cmocka_unit_test(the_middle_cut_of_a_vast_gap),
        cmocka_unit_test(training_rows_encode_to_their_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
