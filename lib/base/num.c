/*
 * The products that need more than 64 bits.
 */

#include <assert.h>

#include "cl/num.h"

/* a * b as hi:lo, by halves. */
static void
widen(uint64_t a, uint64_t b, uint64_t *hi, uint64_t *lo)
{
	uint64_t a0 = a & UINT32_MAX, a1 = a >> 32;
	uint64_t b0 = b & UINT32_MAX, b1 = b >> 32;
	uint64_t mid = a1 * b0 + ((a0 * b0) >> 32);
	uint64_t mid2 = a0 * b1 + (mid & UINT32_MAX);

	*hi = a1 * b1 + (mid >> 32) + (mid2 >> 32);
	*lo = a * b;
}

uint64_t
cl_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t hi, lo, q = 0;
	int i, carry;

	widen(a, b, &hi, &lo);
	assert(hi < c);
	for (i = 0; i < 64; i++) {
		carry = (int)(hi >> 63);
		hi = hi << 1 | lo >> 63;
		lo <<= 1;
		q <<= 1;
		if (carry || hi >= c) {
			hi -= c;
			q |= 1;
		}
	}
	return (q);
}

int
cl_mulcmp_wide(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t hi[2], lo[2];

	widen(a, b, &hi[0], &lo[0]);
	widen(c, d, &hi[1], &lo[1]);
	if (hi[0] != hi[1])
		return (hi[0] > hi[1] ? 1 : -1);
	return ((lo[0] > lo[1]) - (lo[0] < lo[1]));
}
