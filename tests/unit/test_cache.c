/*
 * cache/ against a slow twin written from the contract's four steps, the
 * published conformance trace, and the exact facts that must hold of any LRU.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/rng.h"
#include "unit.h"

#define NKEYS	24

static struct cl_cache_policy
policy_of(const char *text)
{
	struct cl_cache_policy p;

	assert(cl_cache_policy_parse(text, &p, NULL) == CL_OK);
	return (p);
}

static struct cl_cache *
pools_of(const struct cl_cache_pool *pools, uint32_t npools,
    enum cl_contract contract, const char *policy)
{
	struct cl_cache_options o = { pools, npools, NKEYS, contract,
	    policy_of(policy), NULL };
	struct cl_err err = { 0 };
	struct cl_cache *c = cl_cache_new(&o, &err);

	assert(c != NULL);
	return (c);
}

static struct cl_cache *
cache_of(uint32_t nslots, enum cl_contract contract)
{
	struct cl_cache_pool pool = { NKEYS, nslots };

	return (pools_of(&pool, 1, contract, "lru"));
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
random_event(uint64_t *rng, uint32_t nkeys, uint32_t *keys)
{
	uint32_t n = 1 + (uint32_t)cl_rng_below(rng, nkeys), i = 0, key;

	if (cl_rng_below(rng, 4) != 0)
		n = 1 + n % 4;
	while (i < n) {
		key = (uint32_t)cl_rng_below(rng, nkeys);
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
			n = random_event(&rng, NKEYS, keys);
			out = cl_cache_serve(c, 0, keys, n);
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
		out = cl_cache_serve(c, 0, steps[i], 2);
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
			hits += cl_cache_serve(c, 0, keys, 2)->nhits;
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
			n = random_event(&rng, NKEYS, keys);
			a = cl_cache_serve(small, 0, keys, n);
			b = cl_cache_serve(large, 0, keys, n);
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
		n = random_event(&rng, NKEYS, keys);
		out = cl_cache_serve(c, 0, keys, n);
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

/*
 * Two pools of 12 keys: whatever the other serves, each decides as if it were
 * alone, in slots of its own.
 */
static void
pools_are_caches_of_their_own(const char *policy, enum cl_contract contract)
{
	static const struct cl_cache_pool pools[2] = { { 12, 4 }, { 12, 5 } };
	const struct cl_cache_outcome *both, *one;
	struct cl_cache *c, *alone[2];
	uint32_t keys[NKEYS], shifted[NKEYS], e, n, i, p;
	uint64_t rng = 11;

	c = pools_of(pools, 2, contract, policy);
	alone[0] = pools_of(&pools[0], 1, contract, policy);
	alone[1] = pools_of(&pools[1], 1, contract, policy);
	for (e = 0; e < 2000; e++) {
		p = (uint32_t)cl_rng_below(&rng, 2);
		n = random_event(&rng, 12, keys);
		for (i = 0; i < n; i++)
			shifted[i] = keys[i] + 12 * p;
		both = cl_cache_serve(c, p, shifted, n);
		one = cl_cache_serve(alone[p], 0, keys, n);
		assert(both->nrejects == one->nrejects);
		for (i = 0; i < n; i++) {
			assert(both->class[i] == one->class[i]);
			assert(both->victim[i] == (one->victim[i] ==
			    CL_CACHE_NO_KEY ? CL_CACHE_NO_KEY :
			    one->victim[i] + 12 * p));
			assert(both->slot[i] == (one->slot[i] ==
			    CL_CACHE_NO_SLOT ? CL_CACHE_NO_SLOT :
			    one->slot[i] + pools[0].nslots * p));
		}
	}
	assert(cl_cache_resident(c) == 9);
	cl_cache_free(c);
	cl_cache_free(alone[0]);
	cl_cache_free(alone[1]);
}

static void
a_pool_does_not_know_of_others(void)
{

	pools_are_caches_of_their_own("lru", CL_CONTRACT_EVENT);
	pools_are_caches_of_their_own("lru", CL_CONTRACT_SERIAL);
	pools_are_caches_of_their_own("wtinylfu", CL_CONTRACT_EVENT);
	pools_are_caches_of_their_own("wtinylfu:window=50",
	    CL_CONTRACT_SERIAL);
}

static void
a_pool_without_slots_keeps_nothing(void)
{
	static const struct cl_cache_pool pools[2] = { { 12, 1 }, { 12, 0 } };
	static const char *const policies[] = { "lru", "wtinylfu" };
	const struct cl_cache_outcome *out;
	uint32_t keys[2] = { 12, 13 }, i, e;
	struct cl_cache *c;

	for (i = 0; i < 2; i++) {
		c = pools_of(pools, 2, CL_CONTRACT_EVENT, policies[i]);
		for (e = 0; e < 3; e++) {
			out = cl_cache_serve(c, 1, keys, 2);
			assert(out->nbypass == 2 && out->nrejects == 0);
			assert(out->ncold == (e == 0 ? 2 : 0));
			assert(out->nhits == 0 && out->nvictims == 0);
		}
		assert(cl_cache_resident(c) == 0);
		cl_cache_free(c);
	}
}

static void
a_cache_that_cannot_be_is_refused(void)
{
	struct cl_cache_pool pool = { 8, 0 };
	struct cl_cache_options o = { &pool, 1, 8, CL_CONTRACT_EVENT,
	    policy_of("lru"), NULL };
	struct cl_err err = { 0 };

	assert(cl_cache_new(&o, &err) == NULL && err.code == CL_EINVAL);
	pool.nslots = 9;
	memset(&err, 0, sizeof(err));
	assert(cl_cache_new(&o, &err) == NULL && err.code == CL_EINVAL);
	pool.nkeys = (1u << 27) + 1;
	memset(&err, 0, sizeof(err));
	assert(cl_cache_new(&o, &err) == NULL && err.code == CL_EINVAL);
}

static void
text_is(const char *from, const char *to)
{
	struct cl_cache_policy p = policy_of(from);
	char buf[CL_CACHE_POLICY_TEXT];

	assert(strcmp(cl_cache_policy_text(&p, buf), to) == 0);
}

static void
policies_are_written_in_full(void)
{

	text_is("lru", "lru");
	text_is("wtinylfu", "wtinylfu:window=1");
	text_is("wtinylfu:window=0", "wtinylfu:window=0");
	text_is("wtinylfu:window=100", "wtinylfu:window=100");
	text_is("wtinylfu:period=10", "wtinylfu:window=1");
	text_is("wtinylfu:count-min,period=9",
	    "wtinylfu:window=1,period=9,count-min");
}

static void
refused(const char *text, const char *message)
{
	struct cl_cache_policy p;
	struct cl_err err = { 0 };

	assert(cl_cache_policy_parse(text, &p, &err) == CL_EINVAL);
	assert(strcmp(err.msg, message) == 0);
}

/* The message names every policy of the table. */
static void
no_policy(const char *text, const char *vis)
{
	const struct cl_cache_policy_info *info;
	char message[512];
	size_t at;
	unsigned i;

	at = (size_t)snprintf(message, sizeof(message),
	    "no cache policy is called \"%s\"; there are ", vis);
	for (i = 0; (info = cl_cache_policy(i)) != NULL; i++)
		at += (size_t)snprintf(message + at, sizeof(message) - at,
		    "%s%s", i == 0 ? "" : ", ", info->name);
	refused(text, message);
}

static void
an_unknown_policy_is_refused_with_those_there_are(void)
{

	no_policy("", "");
	no_policy("LRU", "LRU");
	no_policy("lr\033u:window=1", "lr?u");
}

static void
what_no_policy_takes_is_refused(void)
{
#define TAKES	": policy wtinylfu takes window=1 (percent of the slots, " \
		"0 to 100), period=10 (accesses per slot to a halving, 1 to " \
		"1000), count-min (count by a sketch), compat (count as " \
		"libCacheSim does)"
	refused("lru:", "\"\" is none of its parameters: policy lru takes no "
	    "parameters");
	refused("lru:window=1", "\"window=1\" is none of its parameters: "
	    "policy lru takes no parameters");
	refused("wtinylfu:", "\"\" is none of its parameters" TAKES);
	refused("wtinylfu:win=1", "\"win=1\" is none of its parameters" TAKES);
	refused("wtinylfu:windows=1",
	    "\"windows=1\" is none of its parameters" TAKES);
	refused("wtinylfu:window", "\"window\" is not such a number" TAKES);
	refused("wtinylfu:window=", "\"window=\" is not such a number" TAKES);
	refused("wtinylfu:window=101",
	    "\"window=101\" is not such a number" TAKES);
	refused("wtinylfu:window=-1",
	    "\"window=-1\" is not such a number" TAKES);
	refused("wtinylfu:window=1%",
	    "\"window=1%\" is not such a number" TAKES);
	refused("wtinylfu:window=000000000000000000001",
	    "\"window=000000000000000000001\" is not such a number" TAKES);
	refused("wtinylfu:window=1,", "\"\" is none of its parameters" TAKES);
	refused("wtinylfu:window=1,window=1",
	    "\"window=1\" is there twice" TAKES);
	refused("static:a.clt,b", "\"b\" is a second file: policy static "
	    "takes FILE (a trace to choose them by; without, what is "
	    "replayed: hindsight)");
#undef TAKES
}

static void
what_is_staged_is_a_staged_hit_once(void)
{
	struct cl_cache *c = cache_of(1, CL_CONTRACT_EVENT);
	const uint32_t both[] = { 3, 4 }, four[] = { 4 };
	const struct cl_cache_outcome *out;

	cl_cache_stage(c, 3);
	cl_cache_stage(c, 4);
	cl_cache_stage(c, 5);
	assert(cl_cache_staged(c, 3) && cl_cache_resident(c) == 0);
	out = cl_cache_serve(c, 0, both, 2);
	assert(out->nstaged == 2 && out->ncold + out->ncapacity == 0);
	assert(out->nhits == 0 && out->nbypass == 0);	/* bypasses are misses */
	assert(out->class[0] == CL_CLASS_STAGED && out->slot[0] == 0);
	assert(out->class[1] == (CL_CLASS_STAGED | CL_CACHE_NOT_KEPT));
	assert(!cl_cache_staged(c, 3) && !cl_cache_staged(c, 4));
	out = cl_cache_serve(c, 0, four, 1);
	assert(out->class[0] == CL_CLASS_CAPACITY && out->victim[0] == 3);
	cl_cache_unstage(c, 5);
	out = cl_cache_serve(c, 0, (const uint32_t[]){ 5 }, 1);
	assert(out->class[0] == CL_CLASS_CAPACITY);	/* no longer cold */
	cl_cache_free(c);
}

static const struct unit units[] = {
	{ "event replay equals a twin that follows the contract by hand",
	    event_equals_its_twin },
	{ "serial replay equals a twin that follows the contract by hand",
	    serial_equals_its_twin },
	{ "what is staged is a staged hit once, and never cold",
	    what_is_staged_is_a_staged_hit_once },
	{ "the published conformance trace gives its 12 hits and 18 misses",
	    the_conformance_trace_holds },
	{ "below one token's demand a global LRU hits nothing",
	    below_one_tokens_demand_lru_hits_nothing },
	{ "what hits in a small LRU hits in a larger one",
	    what_hits_small_hits_large },
	{ "no slot belongs to two members of an event",
	    slots_are_never_shared },
	{ "each pool decides as if it were alone, in slots of its own",
	    a_pool_does_not_know_of_others },
	{ "a pool without slots keeps nothing",
	    a_pool_without_slots_keeps_nothing },
	{ "a cache of no slots or too many is refused",
	    a_cache_that_cannot_be_is_refused },
	{ "a policy's text has all its parameters",
	    policies_are_written_in_full },
	{ "an unknown policy is refused, and those there are are told",
	    an_unknown_policy_is_refused_with_those_there_are },
	{ "what no policy takes is refused, and what it takes is told",
	    what_no_policy_takes_is_refused },
};

UNIT_MAIN(units)
