/*
 * Counts of all keys in fewer counters than keys.  A key has a few counters,
 * told by a hash of it, and has been counted as often as the lowest of them
 * says, or less often.  Since keys are dense, the places of their counters are
 * worked out once, when the sketch is made: no hash is taken afterwards.
 */

#include <stdlib.h>

#include "cache_int.h"
#include "cache_sketch_int.h"

/* XXH64 of the 8 bytes of a key, as its specification has it. */
uint64_t
cl_cache_sketch_hash(uint64_t key, uint64_t seed)
{
	const uint64_t p1 = UINT64_C(0x9e3779b185ebca87);
	const uint64_t p2 = UINT64_C(0xc2b2ae3d27d4eb4f);
	const uint64_t p3 = UINT64_C(0x165667b19e3779f9);
	const uint64_t p4 = UINT64_C(0x85ebca77c2b2ae63);
	const uint64_t p5 = UINT64_C(0x27d4eb2f165667c5);
	uint64_t k = key * p2, h = seed + p5 + sizeof(key);

	k = (k << 31 | k >> 33) * p1;
	h ^= k;
	h = (h << 27 | h >> 37) * p1 + p4;
	h = (h ^ h >> 33) * p2;
	h = (h ^ h >> 29) * p3;
	return (h ^ h >> 32);
}

void
cl_cache_sketch_free(struct sketch *s)
{

	free(s->count);
	free(s->place);
}

int
cl_cache_sketch_init(struct sketch *s, uint32_t nkeys, uint32_t ncounters,
    uint32_t nhashes)
{

	s->ncounters = ncounters;
	s->count = calloc(ncounters, sizeof(*s->count));
	s->place = calloc((size_t)nkeys * nhashes, sizeof(*s->place));
	return (s->count != NULL && s->place != NULL ? 0 : -1);
}

void
cl_cache_sketch_halve(struct sketch *s)
{
	uint32_t i;

	for (i = 0; i < s->ncounters; i++)
		s->count[i] /= 2;
}
