#ifndef CL_RNG_H
#define CL_RNG_H

/*
 * Seeded numbers that are the same on every machine: splitmix64 (Steele, Lea
 * and Flood 2014).  The state is one word, the caller's.
 */

#include <stdint.h>

/* The mixing function alone: a good hash of one word. */
static inline uint64_t
cl_rng_mix(uint64_t z)
{

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31);
}

/* The next 64 bits. */
static inline uint64_t
cl_rng_next(uint64_t *state)
{

	return (cl_rng_mix(*state += UINT64_C(0x9e3779b97f4a7c15)));
}

/* The next uniform number in [0, 1), of 53 bits. */
static inline double
cl_rng_unit(uint64_t *state)
{

	return ((double)(cl_rng_next(state) >> 11) * 0x1p-53);
}

/* The next number below n (n > 0), without bias, by rejection. */
static inline uint64_t
cl_rng_below(uint64_t *state, uint64_t n)
{
	uint64_t x, limit = UINT64_MAX - UINT64_MAX % n;

	do
		x = cl_rng_next(state);
	while (x >= limit);
	return (x % n);
}

#endif /* CL_RNG_H */
