/*
 * cache/ against a slow twin written from the contract's four steps, the
 * published conformance trace, and the exact facts that must hold of any LRU.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/rng.h"
#include "unit.h"

#define NKEYS	24

static struct cl_cache *
cache_of(uint32_t nslots, enum cl_contract contract)
{
	struct cl_cache_options o = { NKEYS, nslots, NKEYS, contract, "lru" };
	struct cl_err err = { 0 };
	struct cl_cache *c = cl_cache_new(&o, &err);

	assert(c != NULL);
	return (c);
}

/* The twin: a list of residents, most recent first, moved by hand. */
struct twin {
	uint32_t	n;
	uint32_t	nslots;
	uint32_t	key[NKEYS];
	bool		seen[NKEYS];
};

static uint32_t
place_of(const struct twin *t, uint32_t key)
{
	uint32_t i;

	for (i = 0; i < t->n && t->key[i] != key; i++)
		;
	return (i);
}

static void
take_out(struct twin *t, uint32_t place)
{

	memmove(t->key + place, t->key + place + 1,
	    (t->n - place - 1) * sizeof(t->key[0]));
	t->n--;
}

static void
put_first(struct twin *t, uint32_t key)
{

	memmove(t->key + 1, t->key, t->n * sizeof(t->key[0]));
	t->key[0] = key;
	t->n++;
}

static bool
among(const uint32_t *keys, uint32_t n, uint32_t key)
{

	while (n-- > 0)
		if (keys[n] == key)
			return (true);
	return (false);
}

/* One event by the contract; what it does to member i is compared at once. */
static void
twin_event(struct twin *t, const uint32_t *s, uint32_t n,
    const struct cl_cache_outcome *out, uint32_t at)
{
	bool pinned[NKEYS] = { false }, hit[NKEYS];
	uint32_t i, v, victim;
	uint8_t class;

	for (i = 0; i < n; i++) {
		hit[i] = place_of(t, s[i]) < t->n;
		pinned[s[i]] |= hit[i];
	}
	for (i = 0; i < n; i++) {
		victim = CL_CACHE_NO_KEY;
		class = hit[i] ? CL_CLASS_HIT :
		    (t->seen[s[i]] ? CL_CLASS_CAPACITY : CL_CLASS_COLD);
		t->seen[s[i]] = true;
		if (!hit[i]) {
			for (v = t->n; v > 0 && pinned[t->key[v - 1]]; v--)
				;
			if (t->n == t->nslots && v > 0) {
				victim = t->key[v - 1];
				take_out(t, v - 1);
			}
			if (t->n < t->nslots) {
				put_first(t, s[i]);
				pinned[s[i]] = true;
			} else
				class |= CL_CACHE_NOT_KEPT;
		}
		assert(out->class[at + i] == class);
		assert(out->victim[at + i] == victim);
	}
	for (i = 0; i < n; i++)
		if (place_of(t, s[i]) < t->n) {
			take_out(t, place_of(t, s[i]));
			put_first(t, s[i]);
		}
}

static uint32_t
random_event(uint64_t *rng, uint32_t *keys)
{
	uint32_t n = 1 + (uint32_t)cl_rng_below(rng, NKEYS), i = 0, key;

	if (cl_rng_below(rng, 4) != 0)
		n = 1 + n % 4;
	while (i < n) {
		key = (uint32_t)cl_rng_below(rng, NKEYS);
		if (!among(keys, i, key))
			keys[i++] = key;
	}
	return (n);
}

static void
run_twins(enum cl_contract contract)
{
	const struct cl_cache_outcome *out;
	struct cl_cache *c;
	struct twin t;
	uint64_t rng = 7;
	uint32_t keys[NKEYS], nslots, e, n, i;

	for (nslots = 1; nslots <= NKEYS; nslots++) {
		c = cache_of(nslots, contract);
		memset(&t, 0, sizeof(t));
		t.nslots = nslots;
		for (e = 0; e < 500; e++) {
			n = random_event(&rng, keys);
			out = cl_cache_serve(c, keys, n);
			assert(out->nhits + out->ncold + out->ncapacity == n);
			if (contract == CL_CONTRACT_EVENT)
				twin_event(&t, keys, n, out, 0);
			else
				for (i = 0; i < n; i++)
					twin_event(&t, keys + i, 1, out, i);
			assert(cl_cache_resident(c) == t.n);
		}
		cl_cache_free(c);
	}
}

static void
event_equals_its_twin(void)
{

	run_twins(CL_CONTRACT_EVENT);
}

static void
serial_equals_its_twin(void)
{

	run_twins(CL_CONTRACT_SERIAL);
}

/*
 * arXiv 2608.07911, event-atomic-toy-trace-v1, with its per-layer capacity of
 * 2 as a cache of its own for each layer.
 */
static void
the_conformance_trace_holds(void)
{
	static const uint32_t steps[5][2] = { { 0, 1 }, { 0, 2 }, { 0, 1 },
	    { 0, 3 }, { 0, 1 } };
	const struct cl_cache_outcome *out;
	struct cl_cache *c = cache_of(2, CL_CONTRACT_EVENT);
	int i;

	for (i = 0; i < 5; i++) {
		out = cl_cache_serve(c, steps[i], 2);
		assert(out->nhits == (i == 0 ? 0u : 1u));
		assert(out->ncold + out->ncapacity == (i == 0 ? 2u : 1u));
	}
	cl_cache_free(c);
}

/* Hits of the cyclic pattern 0..n-1 in events of one layer each. */
static uint32_t
cyclic_hits(uint32_t n, uint32_t nslots)
{
	struct cl_cache *c = cache_of(nslots, CL_CONTRACT_EVENT);
	uint32_t token, key, keys[2], hits = 0;

	for (token = 0; token < 10; token++)
		for (key = 0; key < n; key += 2) {
			keys[0] = key;
			keys[1] = key + 1;
			hits += cl_cache_serve(c, keys, 2)->nhits;
		}
	cl_cache_free(c);
	return (hits);
}

static void
below_one_tokens_demand_lru_hits_nothing(void)
{

	assert(cyclic_hits(16, 16) == 9 * 16);
	assert(cyclic_hits(16, 14) == 0);
}

/* The hits of the same random events at every capacity. */
static void
what_hits_small_hits_large(void)
{
	struct cl_cache *small, *large;
	uint64_t rng;
	uint32_t keys[NKEYS], n, i, e, nslots;
	const struct cl_cache_outcome *a, *b;

	for (nslots = 1; nslots < NKEYS; nslots++) {
		small = cache_of(nslots, CL_CONTRACT_SERIAL);
		large = cache_of(nslots + 1, CL_CONTRACT_SERIAL);
		rng = nslots;
		for (e = 0; e < 300; e++) {
			n = random_event(&rng, keys);
			a = cl_cache_serve(small, keys, n);
			b = cl_cache_serve(large, keys, n);
			for (i = 0; i < n; i++)
				assert(a->class[i] != CL_CLASS_HIT ||
				    b->class[i] == CL_CLASS_HIT);
		}
		cl_cache_free(small);
		cl_cache_free(large);
	}
}

static void
slots_are_never_shared(void)
{
	const struct cl_cache_outcome *out;
	struct cl_cache *c = cache_of(5, CL_CONTRACT_EVENT);
	uint32_t keys[NKEYS], owner[5], n, i, e, slot;
	uint64_t rng = 3;

	for (e = 0; e < 2000; e++) {
		n = random_event(&rng, keys);
		out = cl_cache_serve(c, keys, n);
		for (i = 0; i < 5; i++)
			owner[i] = CL_CACHE_NO_KEY;
		for (i = 0; i < n; i++) {
			if ((slot = out->slot[i]) == CL_CACHE_NO_SLOT) {
				assert(out->class[i] & CL_CACHE_NOT_KEPT);
				continue;
			}
			assert(slot < 5 && owner[slot] == CL_CACHE_NO_KEY);
			owner[slot] = keys[i];
			assert(cl_cache_slot(c, keys[i]) == slot);
		}
	}
	cl_cache_free(c);
}

static void
a_cache_that_cannot_be_is_refused(void)
{
	struct cl_cache_options o = { 8, 0, 8, CL_CONTRACT_EVENT, "lru" };
	struct cl_err err = { 0 };

	assert(cl_cache_new(&o, &err) == NULL && err.code == CL_EINVAL);
	o.nslots = 9;
	assert(cl_cache_new(&o, NULL) == NULL);
	o.nslots = 8;
	o.policy = "LRU";
	memset(&err, 0, sizeof(err));
	assert(cl_cache_new(&o, &err) == NULL);
	assert(strstr(err.msg, "\"LRU\"") != NULL);
}

static const struct unit units[] = {
	{ "event replay equals a twin that follows the contract by hand",
	    event_equals_its_twin },
	{ "serial replay equals a twin that follows the contract by hand",
	    serial_equals_its_twin },
	{ "the published conformance trace gives its 12 hits and 18 misses",
	    the_conformance_trace_holds },
	{ "below one token's demand a global LRU hits nothing",
	    below_one_tokens_demand_lru_hits_nothing },
	{ "what hits in a small LRU hits in a larger one",
	    what_hits_small_hits_large },
	{ "no slot belongs to two members of an event",
	    slots_are_never_shared },
	{ "a cache of no slots, too many, or no known policy is refused",
	    a_cache_that_cannot_be_is_refused },
};

UNIT_MAIN(units)
