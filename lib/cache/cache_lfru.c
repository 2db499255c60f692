/*
 * Least frequently and recently used: the victim is the expert with the lowest
 * score, all its uses ever / (now - last use + 1), that is not pinned.  Now
 * and the last use are the numbers of their events; equal scores are told
 * apart by the last use, which members of an event have in order.
 *
 * Scores change with time, each at its own pace, so that no order of them
 * would last.  What lasts is that of two with the same count the one used
 * longer ago has the lower score.  Each pool has rings for counts that are
 * alike, eight for each power of two, and in each its residents in order of
 * last use.  Whoever comes next in a ring has at least the score that the
 * ring's least count makes with its age, which only falls: a victim costs a
 * look at each ring's oldest, and at the next as long as that is not more than
 * the lowest score so far.
 *
 * A newcomer is put in by its use, which comes before its pin is dropped.
 */

#include <stdlib.h>

#include "cl/num.h"
#include "cache_int.h"
#include "cache_list_int.h"

#define PART_BITS	3u		/* parts of a power of two */
#define PARTS		(1u << PART_BITS)
#define NRINGS		((64u - PART_BITS + 1) * PARTS)
#define NWORDS		((NRINGS + 63u) / 64u)

struct stamp {
	uint64_t	count;
	uint64_t	event;		/* of the last use */
	uint64_t	last;		/* its number among all uses */
};

struct rings {
	uint32_t	 first;		/* ring; the others follow */
	uint64_t	 filled[NWORDS];	/* by bits: it has members */
};

struct lfru {
	uint32_t	 event;		/* of the cache, as last seen */
	uint64_t	 now;		/* how many there were */
	uint64_t	 nuses;
	struct stamp	*stamp;		/* of each key */
	struct rings	*rings;		/* of each pool */
	struct link	*link;		/* of keys, then of all rings */
};

static void
lfru_free(void *state)
{
	struct lfru *l = state;

	if (l == NULL)
		return;
	free(l->stamp);
	free(l->rings);
	free(l->link);
	free(l);
}

static void *
lfru_open(const struct cl_cache *c)
{
	size_t nlinks = c->nkeys + (size_t)c->npools * NRINGS, i;
	struct lfru *l;

	if (nlinks > UINT32_MAX || (l = calloc(1, sizeof(*l))) == NULL)
		return (NULL);
	l->stamp = calloc(c->nkeys, sizeof(*l->stamp));
	l->rings = calloc(c->npools, sizeof(*l->rings));
	l->link = calloc(nlinks, sizeof(*l->link));
	if (l->stamp == NULL || l->rings == NULL || l->link == NULL) {
		lfru_free(l);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++)
		l->rings[i].first = c->nkeys + (uint32_t)i * NRINGS;
	for (i = c->nkeys; i < nlinks; i++)
		ring_init(l->link, (uint32_t)i);
	return (l);
}

/* Which ring is a count's?  Those below PARTS have one each. */
INLINE uint32_t
ring_of(uint64_t count)
{
	uint32_t shift;

	if (count < PARTS)
		return ((uint32_t)count);
	shift = 63 - (uint32_t)__builtin_clzll(count) - PART_BITS;
	return (shift * PARTS + (uint32_t)(count >> shift));
}

/* The least count of a ring. */
INLINE uint64_t
least_of(uint32_t ring)
{

	return (ring < PARTS ? ring :
	    (uint64_t)(ring % PARTS + PARTS) << (ring / PARTS - 1));
}

INLINE void
put(struct lfru *l, struct rings *r, uint32_t ring, uint32_t key)
{

	ring_add(l->link, r->first + ring, key);
	r->filled[ring / 64] |= UINT64_C(1) << ring % 64;
}

INLINE void
take(struct lfru *l, struct rings *r, uint32_t ring, uint32_t key)
{
	bool rest;

	ring_remove(l->link, key);
	rest = l->link[r->first + ring].newer != r->first + ring;
	r->filled[ring / 64] &= ~((uint64_t)!rest << ring % 64);
}

/* Which event is it? */
INLINE uint64_t
tick(const struct cl_cache *c, struct lfru *l)
{

	if (l->event != c->event) {
		l->event = c->event;
		l->now++;
	}
	return (l->now);
}

/*
 * The lowest of a ring that is not pinned, if it is lower than the lowest of
 * all rings so far, or NO_KEY; that one otherwise.
 */
INLINE uint32_t
lowest_of(const struct cl_cache *c, const struct lfru *l, uint32_t first,
    uint32_t ring, uint32_t lowest)
{
	const struct stamp *s, *low = lowest == NO_KEY ? NULL :
	    &l->stamp[lowest];
	uint32_t key = l->link[first + ring].newer;
	uint64_t least = least_of(ring), age;
	int order;

	for (; key != first + ring; key = l->link[key].newer) {
		s = &l->stamp[key];
		age = l->now - s->event + 1;
		if (low != NULL && cl_mulcmp(least, l->now - low->event + 1,
		    low->count, age) > 0)
			break;
		if (cache_pinned(c, key))
			continue;
		order = low == NULL ? -1 : cl_mulcmp(s->count,
		    l->now - low->event + 1, low->count, age);
		if (order < 0 || (order == 0 && s->last < low->last)) {
			lowest = key;
			low = s;
		}
	}
	return (lowest);
}

/* The lowest that is not pinned leaves its ring; or NO_KEY. */
static uint32_t
take_lowest(const struct cl_cache *c, struct lfru *l, struct rings *r)
{
	uint32_t i, lowest = NO_KEY;
	uint64_t filled;

	for (i = 0; i < NWORDS; i++)
		for (filled = r->filled[i]; filled != 0; filled &= filled - 1)
			lowest = lowest_of(c, l, r->first, i * 64 +
			    (uint32_t)__builtin_ctzll(filled), lowest);
	if (lowest != NO_KEY)
		take(l, r, ring_of(l->stamp[lowest].count), lowest);
	return (lowest);
}

INLINE bool
lfru_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct lfru *l = c->state;

	(void)key;
	(void)tick(c, l);
	if (!pool_full(p))
		return (true);
	*victim = take_lowest(c, l, &l->rings[p->number]);
	return (*victim != NO_KEY);
}

INLINE void
lfru_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct lfru *l = c->state;
	struct rings *r = &l->rings[p->number];
	struct stamp *s = &l->stamp[key];

	if (!fresh)
		take(l, r, ring_of(s->count), key);
	s->count++;
	s->event = tick(c, l);
	s->last = ++l->nuses;
	if (cache_resident(c, key))
		put(l, r, ring_of(s->count), key);
}

/* Its use will put it in. */
INLINE void
lfru_enter(struct cl_cache *c, struct pool *p, uint32_t key)
{

	(void)c;
	(void)p;
	(void)key;
}

INLINE uint32_t
lfru_evict(struct cl_cache *c, struct pool *p)
{
	struct lfru *l = c->state;

	return (take_lowest(c, l, &l->rings[p->number]));
}

POLICY_SERVE(lfru)
POLICY_RETAIN(lfru)

const struct policy cl_cache_lfru = {
	.info = { .name = "lfru",
	    .summary = "fewest uses ever for the time since the last one",
	    .total_order = true },
	.open = lfru_open,
	.free = lfru_free,
	.serve = lfru_serve,
	.retain = lfru_retain,
};
