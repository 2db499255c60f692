#ifndef CL_NUM_H
#define CL_NUM_H

/*
 * Checked arithmetic on counts, sizes and offsets that come from files, and
 * the few bit helpers everybody needs.  Cannot fail but by saying so.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* *r = a + b, or false where 64 bits do not hold it. */
static inline bool
cl_add(uint64_t a, uint64_t b, uint64_t *r)
{

	*r = a + b;
	return (*r >= a);
}

/* *r = a * b, or false where 64 bits do not hold it. */
static inline bool
cl_mul(uint64_t a, uint64_t b, uint64_t *r)
{

	*r = a * b;
	return (a == 0 || *r / a == b);
}

/* *r = a as a size_t, or false where this machine's size_t does not hold it. */
static inline bool
cl_size(uint64_t a, size_t *r)
{

	*r = (size_t)a;
	return (*r == a);
}

/* n rounded up to a multiple of to (a power of two); n must be < 2^64 - to. */
static inline uint64_t
cl_roundup(uint64_t n, uint64_t to)
{

	return ((n + to - 1) & ~(to - 1));
}

static inline bool
cl_ispow2(uint64_t n)
{

	return (n != 0 && (n & (n - 1)) == 0);
}

/*
 * How many bits are set.  By hand, as without an instruction for it, which the
 * least x86-64 has not, gcc's __builtin_popcountll is a call that looks bytes
 * up in a table; where there is one, gcc knows this for what it is.
 */
static inline uint32_t
cl_popcount(uint64_t v)
{

	v -= v >> 1 & UINT64_C(0x5555555555555555);
	v = (v & UINT64_C(0x3333333333333333)) +
	    (v >> 2 & UINT64_C(0x3333333333333333));
	v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return ((uint32_t)(v * UINT64_C(0x0101010101010101) >> 56));
}

/* floor(a * b / c) without overflow; c > 0 and the result must fit. */
uint64_t	cl_muldiv(uint64_t a, uint64_t b, uint64_t c);

/* Is a * b less (-1), equal (0) or more (1) than c * d?  For large factors. */
int	cl_mulcmp_wide(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* The same for any. */
static inline int
cl_mulcmp(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{

	if ((a | b | c | d) > UINT32_MAX)
		return (cl_mulcmp_wide(a, b, c, d));
	return ((a * b > c * d) - (a * b < c * d));
}

#endif /* CL_NUM_H */
