/* linalg.h -- dense symmetric systems, by LAPACKE and OpenBLAS (docs/adr/0010).
 *
 * Matrices are column-major with leading dimension `ld`; of symmetric ones only the lower triangle is read or
 * written.  One thread: a second one would add in another order.  Same bits on the same kind of processor,
 * not across kinds.  Nothing here allocates. */
#ifndef WNI_NUM_LINALG_H
#define WNI_NUM_LINALG_H

#include <stdbool.h>
#include <stddef.h>

/* Tells OpenBLAS to use one thread, unless OPENBLAS_NUM_THREADS says otherwise.  Once before the first use is
 * enough, more often does no harm. */
void wni_linalg_one_thread(void);

/* A = L L', in place; false when A is not positive definite to rounding (A is spoilt then). */
bool wni_cholesky(double *a, size_t n, size_t ld);

/* The inverse of A from its factor, in place. */
void wni_cholesky_inverse(double *l, size_t n, size_t ld);

/* Half the logarithm of the determinant: the sum of the logarithms of the diagonal. */
double wni_cholesky_half_logdet(const double *l, size_t n, size_t ld);

/* B := L^-1 B or L^-T B for m columns. */
void wni_solve_lower(const double *l, size_t n, size_t ld, double *b, size_t m, size_t ldb);
void wni_solve_upper(const double *l, size_t n, size_t ld, double *b, size_t m, size_t ldb);

/* C := alpha A' B + beta C; A is k x m, B is k x n, C is m x n. */
void wni_multiply_transposed(double alpha, const double *a, size_t lda, size_t k, size_t m, const double *b,
                             size_t ldb, size_t n, double beta, double *c, size_t ldc);

/* C := A B for symmetric n x n A; B and C are n x m. */
void wni_multiply_symmetric(const double *a, size_t n, size_t lda, const double *b, size_t ldb, size_t m,
                            double *c, size_t ldc);

/* C := alpha A B; A is n x k, B is k x m, C is n x m. */
void wni_multiply(double alpha, const double *a, size_t n, size_t k, size_t lda, const double *b, size_t ldb,
                  size_t m, double *c, size_t ldc);

/* C := alpha A A' for n x k A. */
void wni_multiply_by_itself(double alpha, const double *a, size_t n, size_t k, size_t lda, double *c,
                            size_t ldc);

/* y := A' x for n x m A. */
void wni_multiply_vector(const double *a, size_t n, size_t m, size_t lda, const double *x, double *y);

/* L[0..n) is a factor already and stays as it is.  Rows n .. n + m of the lower triangle hold those of a
 * larger matrix and become rows of its factor.  false when that matrix is not positive definite.  `work`
 * holds n.  O(n^2 m): what was there is not factored again.  Appending one by one and all at once differ in
 * rounding. */
bool wni_cholesky_append(double *l, size_t n, size_t m, size_t ld, double *work);

#endif
