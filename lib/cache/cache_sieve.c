/*
 * SIEVE (Zhang et al., NSDI 2024): a queue in the order of admission, and a
 * hand that goes from the oldest towards the newest and round.  A use sets a
 * key's bit; the hand clears the bits that it passes, and throws out the first
 * key without one, from wherever it is.  Nothing else moves.
 *
 * Each pool has a ring.  Its hand rests on the next key that it looks at, or
 * on the ring itself, from where it goes on with the oldest.
 */

#include <stdlib.h>

#include "cache_int.h"
#include "cache_list_int.h"

struct sieve {
	uint32_t	 ring;		/* of pool 0; the others follow */
	struct link	*link;
	uint32_t	*hand;		/* of each pool */
	uint16_t	*used;		/* of each key: its bit */
};

static void
sieve_free(void *state)
{
	struct sieve *s = state;

	if (s == NULL)
		return;
	free(s->link);
	free(s->hand);
	free(s->used);
	free(s);
}

static void *
sieve_open(const struct cl_cache *c)
{
	struct sieve *s;
	uint32_t i;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		return (NULL);
	s->ring = c->nkeys;
	s->link = calloc((size_t)c->nkeys + c->npools, sizeof(*s->link));
	s->hand = calloc(c->npools, sizeof(*s->hand));
	s->used = calloc(c->nkeys, sizeof(*s->used));
	if (s->link == NULL || s->hand == NULL || s->used == NULL) {
		sieve_free(s);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++) {
		ring_init(s->link, s->ring + i);
		s->hand[i] = s->ring + i;
	}
	return (s);
}

/*
 * The key that the hand stops at, or the ring where all are pinned: it goes
 * round twice at most, since what it passes unpinned it takes the next time.
 * Where it must not pass pinned keys, it may rest on the first that it meets,
 * and that is the one.
 */
INLINE uint32_t
sift(const struct cl_cache *c, const struct pool *p, struct sieve *s,
    uint32_t ring, const bool pass)
{
	uint32_t key = s->hand[p->number], steps;

	for (steps = 0; steps < 2 * (p->nslots + 1);
	    steps++, key = s->link[key].newer) {
		if (key == ring)
			continue;
		if (cache_pinned(c, key)) {
			if (pass)
				continue;
			s->hand[p->number] = key;
			return (key);
		}
		if (!s->used[key])
			return (key);
		s->used[key] = 0;
	}
	return (ring);
}

/* A key that is not pinned leaves for another, and the hand moves on. */
INLINE void
replace(struct sieve *s, const struct pool *p, uint32_t old, uint32_t key)
{

	s->hand[p->number] = s->link[old].newer;
	ring_remove(s->link, old);
	ring_add(s->link, s->ring + p->number, key);
}

INLINE bool
sieve_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct sieve *s = c->state;
	uint32_t ring = s->ring + p->number, old;

	if (!pool_full(p)) {
		ring_add(s->link, ring, key);
		return (true);
	}
	if ((old = sift(c, p, s, ring, true)) == ring)
		return (false);
	replace(s, p, old, key);
	*victim = old;
	return (true);
}

/* The access that admitted a key sets no bit. */
INLINE void
sieve_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct sieve *s = c->state;

	(void)p;
	s->used[key] = !fresh;
}

INLINE bool
sieve_early(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct sieve *s = c->state;

	*victim = sift(c, p, s, s->ring + p->number, false);
	if (cache_pinned(c, *victim))
		return (false);
	replace(s, p, *victim, key);
	return (true);
}

POLICY_SERVE_COUNTING(sieve,
    cache_event(c, p, keys, n, sieve_admit, sieve_use, true),
    cache_serial_early(c, p, keys, n, sieve_admit, sieve_use, sieve_early))

const struct policy cl_cache_sieve = {
	.info = { .name = "sieve", .summary = "a hand sifts out what was not "
	    "used since it last came by", .paper = "Zhang et al., NSDI 2024" },
	.open = sieve_open,
	.free = sieve_free,
	.serve = sieve_serve,
};
