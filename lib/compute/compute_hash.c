/*
 * The positional hash of a slab: eight lanes, so that their multiplications
 * overlap.  A step of a lane can be undone, given the word or the lane before
 * it; so a change of one word never goes unseen.
 */

#include <string.h>

#include "cl/hash.h"
#include "cl/rng.h"
#include "compute_int.h"

#define NLANES	8

/* Little-endian; compilers make one load of it. */
static inline uint64_t
word(const uint8_t *p)
{

	return ((uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
	    (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
	    (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
	    (uint64_t)p[7] << 56);
}

static void
stripes(uint64_t lane[NLANES], const uint8_t *p, size_t n)
{
	uint64_t a = lane[0], b = lane[1], c = lane[2], d = lane[3];
	uint64_t e = lane[4], f = lane[5], g = lane[6], h = lane[7];

	for (; n > 0; n--, p += 8 * NLANES) {
		cl_compute_ahead(p, 8 * NLANES);
		a = cl_hash_mix(a, word(p));
		b = cl_hash_mix(b, word(p + 8));
		c = cl_hash_mix(c, word(p + 16));
		d = cl_hash_mix(d, word(p + 24));
		e = cl_hash_mix(e, word(p + 32));
		f = cl_hash_mix(f, word(p + 40));
		g = cl_hash_mix(g, word(p + 48));
		h = cl_hash_mix(h, word(p + 56));
	}
	lane[0] = a, lane[1] = b, lane[2] = c, lane[3] = d;
	lane[4] = e, lane[5] = f, lane[6] = g, lane[7] = h;
}

uint64_t
cl_compute_hash(uint64_t seed, const uint8_t *p, size_t n)
{
	uint8_t last[8 * NLANES] = { 0 };
	uint64_t lane[NLANES], s = 0;
	size_t whole = n / sizeof(last), nlast = n % sizeof(last);
	unsigned i;

	for (i = 0; i < NLANES; i++)
		lane[i] = cl_rng_next(&seed);
	stripes(lane, p, whole);
	if (nlast > 0) {
		memcpy(last, p + whole * sizeof(last), nlast);
		stripes(lane, last, 1);
	}
	for (i = 0; i < NLANES; i++)
		s = cl_hash_mix(s, lane[i]);
	return (s);
}
