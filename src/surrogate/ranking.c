/* ranking.c -- counts inversions by merge sort. */
#include "surrogate/ranking.h"

#include "num/order.h"

#include <string.h>

/* Merges the sorted halves of from[0..n) and counts pairs where the later one is smaller. */
static uint64_t merge(const double *from, size_t half, size_t n, double *to)
{
    uint64_t inversions = 0;
    size_t a = 0, b = half;
    for (size_t i = 0; i < n; i++) {
        if (b == n || (a < half && from[a] <= from[b])) {
            to[i] = from[a++];
        } else {
            inversions += half - a;
            to[i] = from[b++];
        }
    }
    return inversions;
}

uint64_t wni_misordered(const double *y, const double *f, size_t n, double *work, uint32_t *order)
{
    double *now = work, *next = work + n;
    uint64_t inversions = 0;
    wni_argsort(y, n, order, order + n);
    for (size_t i = 0; i < n; i++)
        now[i] = f[order[i]];
    for (size_t from = 0, to; from < n; from = to) { /* nothing is wrong among equal values of y */
        for (to = from + 1; to < n && y[order[to]] == y[order[from]];)
            to++;
        wni_sort(now + from, to - from);
    }
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run) {
            size_t length = n - at < 2 * run ? n - at : 2 * run;
            inversions += merge(now + at, length < run ? length : run, length, next + at);
        }
        double *swap = now;
        now = next;
        next = swap;
    }
    return inversions;
}
