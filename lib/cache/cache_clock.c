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

#include "cl/num.h"
#include "cache_serve_int.h"

#define WORD	64u			/* places */

struct circle {
	uint32_t	 nplaces;
	uint32_t	 last;		/* word of bits */
	uint32_t	 hand;		/* the place that is looked at next */
	uint32_t	*key;		/* at each place */
	uint64_t	*bit;		/* and one word more than they need */
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
		nwords += p[i].nslots / WORD + 2;
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
		nwords += p[i].nslots / WORD + 2;
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

/* Places from the hand on, at most WORD of them, without the circle's start. */
INLINE uint64_t
clear_ahead(const struct circle *o)
{
	const uint64_t *bit = o->bit + o->hand / WORD;
	uint32_t left = o->nplaces - o->hand, by = o->hand % WORD;
	uint64_t set = bit[0] >> by | bit[1] << 1 << (WORD - 1 - by);

	return (~set & (left < WORD ? bit_of(left) - 1 : UINT64_MAX));
}

/* The hand goes on over so many places, at most WORD, and clears their bits. */
INLINE void
pass(struct circle *o, uint32_t n)
{
	uint64_t *bit = o->bit + o->hand / WORD;
	uint64_t passed = n < WORD ? bit_of(n) - 1 : UINT64_MAX;
	uint32_t by = o->hand % WORD;

	bit[0] &= ~(passed << by);
	bit[1] &= ~(passed >> 1 >> (WORD - 1 - by));
	o->hand = o->hand + n == o->nplaces ? 0 : o->hand + n;
}

/* The misses of a word take these places in front of the hand; the digest. */
INLINE uint64_t
take_places(struct cl_cache *c, struct clock *k, struct circle *o,
    const uint32_t *keys, uint64_t misses, uint64_t clear)
{
	uint32_t hand = o->hand, *at = o->key + hand, *place = k->place;
	uint32_t n = 0, key, victim;
	uint16_t *known = c->known;
	uint64_t digest = c->digest;

	for (; misses != 0; misses &= misses - 1, clear &= clear - 1) {
		n = (uint32_t)__builtin_ctzll(clear);
		key = keys[(uint32_t)__builtin_ctzll(misses) / 4];
		victim = at[n];
		at[n] = key;
		place[key] = hand + n++;
		known[victim] = CL_CLASS_CAPACITY;
		known[key] = CL_CLASS_HIT;
		digest = cl_hash_mix(digest, c->names[victim]);
	}
	pass(o, n);
	return (digest);
}

/*
 * The hand may go as far as the nearest member that hits: what is before that
 * is the same after they have been used.
 */
INLINE bool
clock_word(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n)
{
	struct clock *k = c->state;
	struct circle *o = &k->circle[p->number];
	uint32_t nearest = WORD, i, ahead, nmisses;
	uint64_t word = 0, clear = clear_ahead(o), digest;
	uint16_t class;

	for (i = 0; i < n; i++) {
		class = c->known[keys[i]];
		word |= (uint64_t)class << 4 * i;
		ahead = (k->place[keys[i]] - o->hand) | (0u - (uint32_t)class);
		nearest = ahead < nearest ? ahead : nearest;
	}
	clear &= nearest < WORD ? bit_of(nearest) - 1 : UINT64_MAX;
	nmisses = word_sum(word >> 1 & WORD_ONES);
	if (cl_popcount(clear) < nmisses)
		return (false);
	digest = take_places(c, k, o, keys, word & WORD_MISSES, clear);
	for (i = 0; i < n; i++)
		clock_use(c, p, keys[i], (word >> 4 * i & CLASS_MASK) != 0);
	c->out.nvictims += nmisses;
	(void)cache_count_word(c, word);
	c->digest = cl_hash_mix(digest, word);
	return (true);
}

POLICY_SERVE_AT_ONCE(clock)

const struct policy cl_cache_clock = {
	.info = { .name = "clock", .summary = "first in, first out, but what "
	    "was used gets another round", .paper = "Corbato 1968" },
	.open = clock_open,
	.free = clock_free,
	.serve = clock_serve,
};
