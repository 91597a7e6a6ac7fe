/* test_decimal.c -- rounding to decimals: exact digits at every magnitude, idempotent, monotone, nearest. */
#include "tests/check.h"

#include "base/number.h"
#include "core/decimal.h"

/* The decimal that a double prints as: how many significant digits, and the power of ten of the last one. */
static void read_decimal(double x, int *digits, int *last_place)
{
    char text[WNI_NUMBER_MAX + 16], mantissa[32];
    int n = 0, exponent;
    for (int precision = 11; precision <= 16; precision++) { /* trailing zeros are dropped below */
        snprintf(text, sizeof text, "%.*e", precision, x);
        if (strtod(text, NULL) == x) break;
    }
    const char *at = text[0] == '-' ? text + 1 : text;
    for (; *at != 'e'; at++)
        if (*at != '.') mantissa[n++] = *at;
    exponent = atoi(at + 1);
    while (n > 1 && mantissa[n - 1] == '0')
        n--;
    *digits = n;
    *last_place = exponent - (n - 1);
}

static void the_reader_reads(void **state)
{
    (void)state;
    static const struct {
        double x;
        int digits, last_place;
    } cases[] = {{1, 1, 0},       {1200, 2, 2},    {0.1, 1, -1},
                 {-12.34, 4, -2}, {1e300, 1, 300}, {123456789012e-20, 12, -20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int digits, last_place;
        read_decimal(cases[i].x, &digits, &last_place);
        CHECK_INT(digits, cases[i].digits);
        CHECK_INT(last_place, cases[i].last_place);
    }
}

static void check_significant(double x)
{
    int digits, last_place;
    double v = wni_decimal_significant(x);
    read_decimal(v, &digits, &last_place);
    CHECK(digits <= DECIMAL_DIGITS, "%.17g became %.17g", x, v);
    CHECK(wni_decimal_significant(v) == v, "%.17g is %.17g once, %.17g twice", x, v,
          wni_decimal_significant(v));
    char text[64]; /* the C library rounds exactly; ours may differ in the choice between two that are equally
                      near */
    snprintf(text, sizeof text, "%.11e", x);
    double exact = strtod(text, NULL);
    CHECK(v == exact || fabs(fabs(v - x) - fabs(exact - x)) <= 4e-16 * x,
          "%.17g became %.17g, expected %.17g", x, v, exact);
}

static void significant_digits_at_every_magnitude(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(1, 0, 1);
    for (int i = 0; i < 60000; i++)
        check_significant(check_magnitude(&rng, -300, 300));
    for (int i = 0; i < 60000; i++)
        check_significant(check_magnitude(&rng, -13, 36)); /* where arithmetic does it */
}

static void significant_digits_around_powers_of_ten(void **state)
{
    (void)state;
    static const double factors[] = {1,         1 - 1e-16, 1 + 3e-16, 1 - 4e-13, 1 - 6e-13,
                                     1 + 4e-12, 1 + 6e-12, 0.9999999, 5,         2.5};
    for (int e = -299; e <= 300; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        double power = strtod(text, NULL);
        CHECK_DOUBLE(wni_decimal_significant(power), power);
        for (size_t i = 0; i < sizeof factors / sizeof *factors && e < 300; i++)
            check_significant(power * factors[i]);
        check_significant(nextafter(power, 0));
        if (e < 300) check_significant(nextafter(power, INFINITY));
    }
}

static void significant_values_written_as_text_stay(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(2, 0, 1);
    for (int i = 0; i < 50000; i++) {
        char text[32];
        int digits = check_between(&rng, 1, DECIMAL_DIGITS), exponent = check_between(&rng, -285, 285);
        uint64_t n = 1;
        while (digits--)
            n *= 10;
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)(1 + wni_rng_below(&rng, n - 1)),
                 exponent);
        double x = strtod(text, NULL);
        CHECK(wni_decimal_significant(x) == x, "%s became %.17g", text, wni_decimal_significant(x));
    }
}

static void rounding_is_monotone(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(3, 0, 1);
    for (int i = 0; i < 50000; i++) {
        double x = check_magnitude(&rng, -300, 299), y = x * (1 + check_magnitude(&rng, -17, -10));
        CHECK(wni_decimal_significant(x) <= wni_decimal_significant(y), "%.17g above %.17g", x, y);
        double low, high;
        check_linear_range(&rng, &low, &high);
        if (!(high - low >= 1e-290 && fmax(fabs(low), fabs(high)) <= 1e300)) continue;
        int places = wni_decimal_places(high - low, fmax(fabs(low), fabs(high)));
        x = check_uniform(&rng, low, high), y = fmin(high, x + (high - x) * check_magnitude(&rng, -16, 0));
        CHECK(wni_decimal_round(x, places) <= wni_decimal_round(y, places), "%.17g above %.17g, %d places", x,
              y, places);
    }
}

/* How many places a range gets. */
static void places_of_a_range(void **state)
{
    (void)state;
    static const struct {
        double min, max;
        int places;
    } cases[] = {
        {0, 1, 12},
        {0, 0.99, 13},
        {-1, 1, 12},
        {0, 10, 11},
        {0, 1e12, 0},
        {0, 1e13, -1},
        {0, 1e300, -288},
        {0, 1e-290, 302},
        {-1e300, 1e300, -288},
        {1000, 1001, 11},
        {1e8, 1e8 + 1, 6},
        {-1e8 - 1, -1e8, 6},
        {1e15, 1e15 + 1e6, -1},
        {0, 1e22, -10},
        {0, 9.99e22, -10},
        {0, 1e23, -11},
        {0, 9.9e-23, 35},
        {998, 999, 12},
        {0, 9.99999999e33, -21},
        {0, 1e34, -22},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double min = cases[i].min, max = cases[i].max;
        int places = wni_decimal_places(max - min, fmax(fabs(min), fabs(max)));
        CHECK(places == cases[i].places, "%g..%g: %d places, expected %d", min, max, places, cases[i].places);
    }
}

static void values_of_a_linear_range(void **state)
{
    (void)state;
    struct rng rng = wni_rng_stream(4, 0, 1);
    int checked = 0;
    for (int i = 0; i < 60000; i++) {
        double low, high;
        check_linear_range(&rng, &low, &high);
        double range = high - low, largest = fmax(fabs(low), fabs(high));
        if (!(range >= 1e-290 && largest <= 1e300 && range >= 1e-10 * largest)) continue;
        int places = wni_decimal_places(high - low, fmax(fabs(low), fabs(high))), digits, last_place;
        double x = check_chance(&rng, 10) ? low : check_uniform(&rng, low, high),
               v = wni_decimal_round(x, places);
        read_decimal(v, &digits, &last_place);
        CHECK(v == 0 || last_place >= -places, "%.17g became %.17g with %d places", x, v, places);
        CHECK(wni_decimal_round(v, places) == v, "%.17g is %.17g once", x, v);
        /* half a unit of the last place, itself at most 1e-12 of the range or 1e-14 of the bounds */
        double within = 0.5001 * fmax(1e-12 * range, 1e-14 * largest);
        CHECK(fabs(v - x) <= within, "%.17g became %.17g in %.17g..%.17g", x, v, low, high);
        checked++;
    }
    CHECK(checked > 40000, "only %d", checked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reader_reads),
        cmocka_unit_test(significant_digits_at_every_magnitude),
        cmocka_unit_test(significant_digits_around_powers_of_ten),
        cmocka_unit_test(significant_values_written_as_text_stay),
        cmocka_unit_test(rounding_is_monotone),
        cmocka_unit_test(places_of_a_range),
        cmocka_unit_test(values_of_a_linear_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
