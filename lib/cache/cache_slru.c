/*
 * Segmented LRU (Karedla, Love, Wherry 1994): what was used again since it
 * came in is protected from what was not.  Each pool has two rings, probation
 * and protected, the second with at most so many keys; what it has no room for
 * goes back on probation.
 */

#include <stdlib.h>

#include "cache_list_int.h"
#include "cache_serve_int.h"

enum segment { PROBATION, PROTECTED, NSEGMENTS };

struct slru {
	uint32_t	 ring;		/* probation of pool 0, protected */
	struct link	*link;
	uint32_t	*protected_max;	/* of each pool */
	uint32_t	*nprotected;	/* of each pool */
	uint16_t	*segment;	/* of each key that is resident */
};

static void
slru_free(void *state)
{
	struct slru *s = state;

	if (s == NULL)
		return;
	free(s->link);
	free(s->protected_max);
	free(s->nprotected);
	free(s->segment);
	free(s);
}

static void *
slru_open(const struct cl_cache *c)
{
	struct slru *s;
	uint64_t max;
	uint32_t i;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		return (NULL);
	s->ring = c->nkeys;
	s->link = calloc((size_t)c->nkeys + (size_t)NSEGMENTS * c->npools,
	    sizeof(*s->link));
	s->protected_max = calloc(c->npools, sizeof(*s->protected_max));
	s->nprotected = calloc(c->npools, sizeof(*s->nprotected));
	s->segment = calloc(c->nkeys, sizeof(*s->segment));
	if (s->link == NULL || s->protected_max == NULL ||
	    s->nprotected == NULL || s->segment == NULL) {
		slru_free(s);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++) {
		max = c->pool[i].nslots * c->param[0] / 100;
		s->protected_max[i] = max < 1 ? 1 : (uint32_t)max;
		ring_init(s->link, s->ring + NSEGMENTS * i + PROBATION);
		ring_init(s->link, s->ring + NSEGMENTS * i + PROTECTED);
	}
	return (s);
}

/* A victim: unpinned, least recent, probation before protected; or NO_KEY. */
INLINE uint32_t
least(const struct cl_cache *c, const struct slru *s, uint32_t rings)
{
	uint32_t ring, key;

	for (ring = rings + PROBATION; ring <= rings + PROTECTED; ring++)
		if ((key = ring_victim(c, s->link, ring)) != ring)
			return (key);
	return (NO_KEY);
}

INLINE bool
slru_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct slru *s = c->state;
	uint32_t rings = s->ring + NSEGMENTS * p->number, old;

	if (pool_full(p)) {
		if ((old = least(c, s, rings)) == NO_KEY)
			return (false);
		s->nprotected[p->number] -= s->segment[old];
		ring_remove(s->link, old);
		*victim = old;
	}
	ring_add(s->link, rings + PROBATION, key);
	s->segment[key] = PROBATION;
	return (true);
}

/* From probation to protected, whose least recent makes room. */
INLINE void
promote(struct slru *s, const struct pool *p, uint32_t rings, uint32_t key)
{
	uint32_t old;

	ring_remove(s->link, key);
	ring_add(s->link, rings + PROTECTED, key);
	s->segment[key] = PROTECTED;
	if (++s->nprotected[p->number] <= s->protected_max[p->number])
		return;
	old = s->link[rings + PROTECTED].newer;
	ring_remove(s->link, old);
	ring_add(s->link, rings + PROBATION, old);
	s->segment[old] = PROBATION;
	s->nprotected[p->number]--;
}

/* The access that admitted a key does not promote it. */
INLINE void
slru_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct slru *s = c->state;
	uint32_t rings = s->ring + NSEGMENTS * p->number;

	if (!cache_resident(c, key))
		return;
	if (s->segment[key] == PROBATION && !fresh)
		promote(s, p, rings, key);
	else
		ring_touch(s->link, rings + s->segment[key], key);
}

POLICY_SERVE(slru)

const struct policy cl_cache_slru = {
	.info = { .name = "slru", .summary = "least recently used, but what "
	    "was used again is protected", .paper = "Karedla et al. 1994",
	    .param = { { .name = "protected", .unit = "percent of the slots",
	    .hi = 100, .value = 80 } } },
	.open = slru_open,
	.free = slru_free,
	.serve = slru_serve,
};
