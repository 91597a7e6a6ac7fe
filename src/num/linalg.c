/* linalg.c -- which BLAS and LAPACK routine does what. */
#include "num/linalg.h"

#include "num/portable.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

void wni_linalg_one_thread(void)
{
    if (!getenv("OPENBLAS_NUM_THREADS") && openblas_get_num_threads() != 1) openblas_set_num_threads(1);
}

bool wni_cholesky(double *a, size_t n, size_t ld)
{
    /* The _work variants skip LAPACKE's search for NaN, which costs a pass and may allocate. */
    return n == 0 || LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)n, a, (int)ld) == 0;
}

/* By halves: products of triangles do nearly all of it.  OpenBLAS's own dtrtri goes column by column up to
 * several hundred rows, at a third of the speed. */
static void invert_triangle(double *l, size_t n, size_t ld)
{
    if (n <= 32) {
        LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', (int)n, l, (int)ld);
        return;
    }
    size_t half = n / 2, rest = n - half;
    double *below = l + half, *corner = l + half * ld + half;
    invert_triangle(l, half, ld);
    invert_triangle(corner, rest, ld);
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)rest, (int)half, -1,
                corner, (int)ld, below, (int)ld);
    cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, (int)rest, (int)half, 1, l,
                (int)ld, below, (int)ld);
}

void wni_cholesky_inverse(double *l, size_t n, size_t ld)
{
    if (n == 0) return;
    invert_triangle(l, n, ld);
    LAPACKE_dlauum_work(LAPACK_COL_MAJOR, 'L', (int)n, l, (int)ld);
}

double wni_cholesky_half_logdet(const double *l, size_t n, size_t ld)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += wni_log(l[i * ld + i]);
    return sum;
}

static void solve(CBLAS_TRANSPOSE transposed, const double *l, size_t n, size_t ld, double *b, size_t m,
                  size_t ldb)
{
    if (n == 0 || m == 0) return;
    if (m == 1)
        cblas_dtrsv(CblasColMajor, CblasLower, transposed, CblasNonUnit, (int)n, l, (int)ld, b, 1);
    else
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, transposed, CblasNonUnit, (int)n, (int)m, 1, l,
                    (int)ld, b, (int)ldb);
}

void wni_solve_lower(const double *l, size_t n, size_t ld, double *b, size_t m, size_t ldb)
{
    solve(CblasNoTrans, l, n, ld, b, m, ldb);
}

void wni_solve_upper(const double *l, size_t n, size_t ld, double *b, size_t m, size_t ldb)
{
    solve(CblasTrans, l, n, ld, b, m, ldb);
}

void wni_multiply_transposed(double alpha, const double *a, size_t lda, size_t k, size_t m, const double *b,
                             size_t ldb, size_t n, double beta, double *c, size_t ldc)
{
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)n, (int)k, alpha, a, (int)lda, b,
                (int)ldb, beta, c, (int)ldc);
}

void wni_multiply_symmetric(const double *a, size_t n, size_t lda, const double *b, size_t ldb, size_t m,
                            double *c, size_t ldc)
{
    cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, (int)n, (int)m, 1, a, (int)lda, b, (int)ldb, 0, c,
                (int)ldc);
}

void wni_multiply(double alpha, const double *a, size_t n, size_t k, size_t lda, const double *b, size_t ldb,
                  size_t m, double *c, size_t ldc)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)m, (int)k, alpha, a, (int)lda, b,
                (int)ldb, 0, c, (int)ldc);
}

void wni_multiply_by_itself(double alpha, const double *a, size_t n, size_t k, size_t lda, double *c,
                            size_t ldc)
{
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)k, alpha, a, (int)lda, 0, c, (int)ldc);
}

void wni_multiply_vector(const double *a, size_t n, size_t m, size_t lda, const double *x, double *y)
{
    cblas_dgemv(CblasColMajor, CblasTrans, (int)n, (int)m, 1, a, (int)lda, x, 1, 0, y, 1);
}

static bool append_row(double *l, size_t n, size_t ld, double *row)
{
    cblas_dcopy((int)n, l + n, (int)ld, row, 1);
    wni_solve_lower(l, n, ld, row, 1, n);
    cblas_dcopy((int)n, row, 1, l + n, (int)ld);
    double left = l[n * ld + n] - cblas_ddot((int)n, row, 1, row, 1);
    if (!(left > 0)) return false;
    l[n * ld + n] = sqrt(left);
    return true;
}

bool wni_cholesky_append(double *l, size_t n, size_t m, size_t ld, double *work)
{
    double *rows = l + n, *corner = l + n * ld + n;
    if (m == 1) return append_row(l, n, ld, work);
    if (n && m) {
        /* rows of L: solve X L' = rows, then what is left of the corner is theirs alone */
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)m, (int)n, 1, l,
                    (int)ld, rows, (int)ld);
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)m, (int)n, -1, rows, (int)ld, 1, corner,
                    (int)ld);
    }
    return wni_cholesky(corner, m, ld);
}
