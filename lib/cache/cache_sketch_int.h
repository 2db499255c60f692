#ifndef CACHE_SKETCH_INT_H
#define CACHE_SKETCH_INT_H

/*
 * The counts of policies that have fewer counters than keys.
 */

#include "cache_int.h"

/*
 * Counts in fewer counters than keys: a key has a few of them, and the lowest
 * is its count.  Keys are counted from the first of their pool.
 */
struct sketch {
	uint32_t	 ncounters;
	uint32_t	*count;
	uint32_t	*place;		/* of each key, of its counters */
};

/* Places are the caller's to fill in; -1 when out of memory. */
int		 cl_cache_sketch_init(struct sketch *, uint32_t nkeys,
		    uint32_t ncounters, uint32_t nhashes);
uint64_t	 cl_cache_sketch_hash(uint64_t key, uint64_t seed);
void		 cl_cache_sketch_halve(struct sketch *);
void		 cl_cache_sketch_free(struct sketch *);	/* what is in it */

static inline void
sketch_add(struct sketch *s, uint32_t key, uint32_t nhashes, uint32_t limit)
{
	const uint32_t *place = s->place + (size_t)key * nhashes;
	uint32_t i;

	for (i = 0; i < nhashes; i++)
		s->count[place[i]] += s->count[place[i]] < limit;
}

static inline uint32_t
sketch_count(const struct sketch *s, uint32_t key, uint32_t nhashes)
{
	const uint32_t *place = s->place + (size_t)key * nhashes;
	uint32_t i, n = UINT32_MAX;

	for (i = 0; i < nhashes; i++)
		if (s->count[place[i]] < n)
			n = s->count[place[i]];
	return (n);
}

#endif /* CACHE_SKETCH_INT_H */
