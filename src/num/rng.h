/* rng.h -- random numbers that are a pure function of (seed, trial, purpose, how many were drawn).
 *
 * The generator is counter-based (Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3", SC 2011).  A block of four 32-bit words is a keyed mixing of a 128-bit counter; there is
 * no state to evolve.  The study's seed is the key; trial number and purpose fill three counter words, so no
 * two streams share a counter and they are independent by construction, with no hashing of seeds and no
 * stream to skip ahead in.  A new draw in one place therefore never shifts the numbers of another.
 *
 * struct rng is plain data: copying it saves the position, and the copy continues exactly as the original
 * would.  All results are the same on every machine. */
#ifndef WNI_NUM_RNG_H
#define WNI_NUM_RNG_H

#include <stddef.h>
#include <stdint.h>

enum { RNG_WORDS = 16 }; /* made at a time: four blocks side by side in vector registers */

struct rng {
    uint32_t key[2];     /* the seed, low word first */
    uint32_t counter[4]; /* next block, purpose, trial low, trial high */
    uint32_t words[RNG_WORDS];
    uint32_t used; /* of those; RNG_WORDS: the next draw makes new ones */
};

/* One block: the ten-round bijection of `counter` under `key`. */
void wni_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* The stream of trial `trial` for `purpose` (a small number per use: proposal, hold-out split, ...).  It
 * has 2^34 - 16 words; drawing more is a bug and asserts.  Costs nothing until the first draw. */
struct rng wni_rng_stream(uint64_t seed, uint64_t trial, uint32_t purpose);

/* The next word of the stream, or two words as one (the earlier is the lower half). */
uint32_t wni_rng_u32(struct rng *rng);
uint64_t wni_rng_u64(struct rng *rng);

/* Uniform on [0, 1), a multiple of 2^-53.  Uses one u64. */
double wni_rng_uniform(struct rng *rng);

/* Fills out[0..n) with what n calls of wni_rng_uniform would return, somewhat faster. */
void wni_rng_fill_uniform(struct rng *rng, double *out, size_t n);

/* Uniform on 0 .. n-1, exactly (no modulo bias); n > 0.  Uses one u32 for n < 2^32, else one u64, and another
 * with probability below n/2^32 (n/2^64) when the first falls in the uneven rest. */
uint64_t wni_rng_below(struct rng *rng, uint64_t n);

/* Standard normal, by inversion of one u64, so every draw uses the same number of words.  |z| < 8.21. */
double wni_rng_normal(struct rng *rng);

/* Puts x[0..n) into random order, all n! orders equally likely. */
void wni_rng_shuffle(struct rng *rng, uint32_t *x, uint32_t n);

/* Writes a random permutation of 0 .. n-1. */
void wni_rng_permutation(struct rng *rng, uint32_t *out, uint32_t n);

/* Writes k distinct numbers out of 0 .. n-1, in increasing order, every k-subset equally likely; k <= n.
 * Shuffle them if the order has to be random too.  Needs no memory beyond `out`.  Costs k draws and O(k^2)
 * bytes moved while k^2 <= 128 n, n draws otherwise. */
void wni_rng_sample(struct rng *rng, uint32_t n, uint32_t k, uint32_t *out);

#endif
