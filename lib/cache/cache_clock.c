/*
 * CLOCK: a circle of a place for each slot, and a hand.  A use sets a key's
 * bit; the hand clears the bits that it passes, and throws out the first key
 * without one, whose place the newcomer takes.
 */

#include <stdlib.h>

#include "cache_int.h"

struct clock {
	uint32_t	*hand;		/* of each pool: a place in its circle */
	uint32_t	*circle;	/* of each slot: the key there */
	uint16_t	*used;		/* of each key: its bit */
};

static void
clock_free(void *state)
{
	struct clock *k = state;

	if (k == NULL)
		return;
	free(k->hand);
	free(k->circle);
	free(k->used);
	free(k);
}

static void *
clock_open(const struct cl_cache *c)
{
	struct clock *k;
	size_t nslots = 0;
	uint32_t i;

	if ((k = calloc(1, sizeof(*k))) == NULL)
		return (NULL);
	for (i = 0; i < c->npools; i++)
		nslots += c->pool[i].nslots;
	k->hand = calloc(c->npools, sizeof(*k->hand));
	k->circle = calloc(nslots, sizeof(*k->circle));
	k->used = calloc(c->nkeys, sizeof(*k->used));
	if (k->hand == NULL || k->circle == NULL || k->used == NULL) {
		clock_free(k);
		return (NULL);
	}
	return (k);
}

/*
 * Where the hand stops, or nslots where all are pinned: it goes round twice at
 * most, since what it passes unpinned it takes the next time.
 */
INLINE uint32_t
turn(const struct cl_cache *c, const struct pool *p, struct clock *k,
    const uint32_t *circle)
{
	uint32_t hand = k->hand[p->number], steps, key;

	for (steps = 0; steps < 2 * p->nslots; steps++) {
		key = circle[hand];
		if (!cache_pinned(c, key)) {
			if (!k->used[key])
				return (hand);
			k->used[key] = 0;
		}
		hand = hand + 1 == p->nslots ? 0 : hand + 1;
	}
	return (p->nslots);
}

INLINE bool
clock_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct clock *k = c->state;
	uint32_t *circle = k->circle + p->first_slot, place = p->nused;

	if (pool_full(p)) {
		if ((place = turn(c, p, k, circle)) == p->nslots)
			return (false);
		*victim = circle[place];
		k->hand[p->number] = place + 1 == p->nslots ? 0 : place + 1;
	}
	circle[place] = key;
	return (true);
}

/* The access that admitted a key sets no bit. */
INLINE void
clock_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct clock *k = c->state;

	(void)p;
	k->used[key] = !fresh;
}

POLICY_SERVE(clock)

const struct policy cl_cache_clock = {
	.info = { .name = "clock", .summary = "first in, first out, but what "
	    "was used gets another round", .paper = "Corbato 1968" },
	.open = clock_open,
	.free = clock_free,
	.serve = clock_serve,
};
