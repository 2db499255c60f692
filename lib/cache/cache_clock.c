/*
 * CLOCK: a circle of a place for each slot, and a hand.  A use sets the bit of
 * a key's place; the hand clears the bits that it passes, and throws out the
 * first key without one, whose place the newcomer takes.  Bits are looked at
 * by words of 64, so that a search is a step as a rule, however many it passes.
 *
 * A pinned key is passed as if it had been used.  That may clear its bit: it is
 * a member of the event at hand, whose use will set it again.
 */

#include <stdlib.h>

#include "cache_int.h"

#define WORD	64u			/* places */

struct circle {
	uint32_t	 nplaces;
	uint32_t	 last;		/* word of bits */
	uint32_t	 hand;		/* the place that is looked at next */
	uint32_t	 most;		/* early: so many places are free of */
					/* members, from the hand on */
	uint32_t	*key;		/* at each place */
	uint64_t	*bit;
};

struct clock {
	struct circle	*circle;	/* of each pool */
	uint32_t	*place;		/* of each key that is resident */
	uint32_t	*key;		/* the arrays of all */
	uint64_t	*bit;
};

static void
clock_free(void *state)
{
	struct clock *k = state;

	if (k == NULL)
		return;
	free(k->circle);
	free(k->place);
	free(k->key);
	free(k->bit);
	free(k);
}

static void *
clock_open(const struct cl_cache *c)
{
	const struct pool *p = c->pool;
	size_t nslots = 0, nwords = 0;
	struct clock *k;
	uint32_t i;

	if ((k = calloc(1, sizeof(*k))) == NULL)
		return (NULL);
	for (i = 0; i < c->npools; i++) {
		nslots += p[i].nslots;
		nwords += p[i].nslots / WORD + 1;
	}
	k->circle = calloc(c->npools, sizeof(*k->circle));
	k->place = calloc(c->nkeys, sizeof(*k->place));
	k->key = calloc(nslots, sizeof(*k->key));
	k->bit = calloc(nwords, sizeof(*k->bit));
	if (k->circle == NULL || k->place == NULL || k->key == NULL ||
	    k->bit == NULL) {
		clock_free(k);
		return (NULL);
	}
	for (i = 0, nwords = 0; i < c->npools; i++) {
		k->circle[i].nplaces = p[i].nslots;
		k->circle[i].last = p[i].nslots == 0 ? 0 :
		    (p[i].nslots - 1) / WORD;
		k->circle[i].key = k->key + p[i].first_slot;
		k->circle[i].bit = k->bit + nwords;
		nwords += p[i].nslots / WORD + 1;
	}
	return (k);
}

INLINE uint64_t
bit_of(uint32_t place)
{

	return (UINT64_C(1) << place % WORD);
}

/* The places of a word whose bits are clear. */
INLINE uint64_t
clear_places(const struct circle *o, uint32_t w)
{
	uint64_t all = w == o->last ? UINT64_MAX >> (WORD - 1 -
	    (o->nplaces - 1) % WORD) : UINT64_MAX;

	return (~o->bit[w] & all);
}

INLINE uint32_t
next_word(const struct circle *o, uint32_t w)
{

	return (w == o->last ? 0 : w + 1);
}

/*
 * Where the hand stops, or NO_KEY where all are pinned: it goes round twice at
 * most, since what it passes unpinned it takes the next time.
 */
INLINE uint32_t
search(const struct cl_cache *c, struct circle *o)
{
	uint32_t w = o->hand / WORD, i, place;
	uint64_t from = -bit_of(o->hand), clear;

	for (i = 0; i < 2 * (o->last + 1) + 1; i++) {
		clear = clear_places(o, w) & from;
		for (; clear != 0; clear &= clear - 1) {
			place = w * WORD + (uint32_t)__builtin_ctzll(clear);
			if (cache_pinned(c, o->key[place]))
				continue;
			o->bit[w] &= ~(from & (bit_of(place) - 1));
			return (place);
		}
		o->bit[w] &= ~from;
		w = next_word(o, w);
		from = UINT64_MAX;
	}
	return (NO_KEY);
}

/* The key at a place, whose bit is clear, leaves for another. */
INLINE void
replace(struct clock *k, struct circle *o, uint32_t place, uint32_t key)
{

	o->key[place] = key;
	k->place[key] = place;
	o->hand = place + 1 == o->nplaces ? 0 : place + 1;
}

INLINE bool
clock_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct clock *k = c->state;
	struct circle *o = &k->circle[p->number];
	uint32_t place = p->nused;

	if (!pool_full(p)) {
		o->key[place] = key;
		k->place[key] = place;
		return (true);
	}
	if ((place = search(c, o)) == NO_KEY)
		return (false);
	*victim = o->key[place];
	replace(k, o, place, key);
	return (true);
}

/* The access that admitted a key sets no bit. */
INLINE void
clock_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct clock *k = c->state;
	uint32_t place = k->place[key];

	k->circle[p->number].bit[place / WORD] |=
	    (uint64_t)!fresh << place % WORD;
}

/* Places from one to another, along the circle. */
INLINE uint32_t
ahead(const struct circle *o, uint32_t from, uint32_t to)
{

	return (to - from + (to < from ? o->nplaces : 0));
}

/*
 * Where the hand stops among those that it may pass, of which none is pinned;
 * where it would not stop there, NO_KEY, and nothing has changed.
 */
INLINE uint32_t
step(struct circle *o)
{
	uint32_t first = o->hand / WORD, w = first, place;
	uint64_t from = -bit_of(o->hand), clear = clear_places(o, w) & from;

	while (clear == 0) {
		if ((w = next_word(o, w)) == first)
			return (NO_KEY);
		clear = clear_places(o, w);
	}
	place = w * WORD + (uint32_t)__builtin_ctzll(clear);
	if (ahead(o, o->hand, place) >= o->most)
		return (NO_KEY);
	for (; first != w; first = next_word(o, first)) {
		o->bit[first] &= ~from;
		from = UINT64_MAX;
	}
	o->bit[w] &= ~(from & (bit_of(place) - 1));
	return (place);
}

/* How far ahead of the hand the nearest of the members is that hit. */
INLINE void
clock_begin(const struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n)
{
	struct clock *k = c->state;
	struct circle *o = &k->circle[p->number];
	uint32_t most = o->nplaces, i, places;

	for (i = 0; i < n; i++) {
		places = ahead(o, o->hand, k->place[keys[i]]);
		places |= cache_resident(c, keys[i]) ? 0 : UINT32_MAX;
		most = places < most ? places : most;
	}
	o->most = most;
}

INLINE bool
clock_early(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct clock *k = c->state;
	struct circle *o = &k->circle[p->number];
	uint32_t hand = o->hand, place;

	if ((place = step(o)) == NO_KEY)
		return (false);
	*victim = o->key[place];
	replace(k, o, place, key);
	o->most -= ahead(o, hand, place) + 1;
	return (true);
}

POLICY_SERVE_COUNTING(clock,
    cache_event(c, p, keys, n, clock_admit, clock_use, true),
    cache_serial_early(c, p, keys, n, clock_admit, clock_use, clock_begin,
    clock_early, false))

const struct policy cl_cache_clock = {
	.info = { .name = "clock", .summary = "first in, first out, but what "
	    "was used gets another round", .paper = "Corbato 1968" },
	.open = clock_open,
	.free = clock_free,
	.serve = clock_serve,
};
