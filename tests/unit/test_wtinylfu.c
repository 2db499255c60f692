/*
 * The policy wtinylfu against its brute-force twin, and slots dealt to layers
 * against cards dealt by hand.  Every counter and every victim must be equal
 * on random traces, whose events range from one expert to more than there are
 * slots.
 */

#include <string.h>

#include "cl/budget.h"
#include "cl/cache.h"
#include "cl/err.h"
#include "cl/rng.h"
#include "twin_wtinylfu.h"
#include "unit.h"

#define TRACES	200
#define EVENTS	400

struct shape {
	uint32_t	 nlayers;
	uint32_t	 nexperts[TWIN_LAYERS];
	uint32_t	 base[TWIN_LAYERS];	/* key of expert 0 in the cache */
	uint32_t	 nkeys;
	uint32_t	 nslots;
	uint32_t	 window;
	uint64_t	 skew;		/* the larger, the fewer are popular */
};

static void
random_shape(uint64_t *rng, struct shape *s)
{
	uint32_t i;

	memset(s, 0, sizeof(*s));
	s->nlayers = 1 + (uint32_t)cl_rng_below(rng, TWIN_LAYERS);
	for (i = 0; i < s->nlayers; i++) {
		s->nexperts[i] = 1 + (uint32_t)cl_rng_below(rng, TWIN_EXPERTS);
		s->base[i] = s->nkeys;
		s->nkeys += s->nexperts[i];
	}
	s->nslots = 1 + (uint32_t)cl_rng_below(rng, s->nkeys);
	if (cl_rng_below(rng, 2) == 0)		/* fewer than an event has */
		s->nslots = 1 + (s->nslots - 1) % 12;
	s->window = cl_rng_below(rng, 3) == 0 ? 1 :
	    (uint32_t)cl_rng_below(rng, 101);
	s->skew = 1 + cl_rng_below(rng, 4);
}

/* Distinct experts of a layer; low ids come more often. */
static uint32_t
random_event(uint64_t *rng, const struct shape *s, uint32_t layer,
    uint32_t *expert)
{
	uint32_t all = s->nexperts[layer], n, i, j, e;
	uint64_t k;

	n = 1 + (uint32_t)cl_rng_below(rng, all);
	if (cl_rng_below(rng, 8) != 0)
		n = 1 + (n - 1) % 8;
	for (i = 0; i < n; i++) {
		e = all;
		for (k = 0; k < s->skew; k++)
			e = (uint32_t)cl_rng_below(rng, (uint64_t)e) + 1;
		for (e--, j = 0; j < i; )	/* the next one not yet there */
			if (expert[j] == e) {
				e = (e + 1) % all;
				j = 0;
			} else
				j++;
		expert[i] = e;
	}
	return (n);
}

static struct cl_cache *
open_cache(const struct shape *s, enum cl_contract contract, bool by_layer)
{
	struct cl_cache_pool pools[TWIN_LAYERS];
	struct cl_cache_options o = { .pools = pools, .npools = 1,
	    .nevent = TWIN_EXPERTS, .contract = contract };
	uint32_t share[TWIN_LAYERS], i;
	struct cl_cache *c;
	char text[40];

	(void)snprintf(text, sizeof(text), "wtinylfu:window=%u", s->window);
	assert(cl_cache_policy_parse(text, &o.policy, NULL) == CL_OK);
	pools[0].nkeys = s->nkeys;
	pools[0].nslots = s->nslots;
	if (by_layer) {
		o.npools = s->nlayers;
		cl_budget_deal(s->nslots, s->nexperts, share, s->nlayers);
		for (i = 0; i < s->nlayers; i++) {
			pools[i].nkeys = s->nexperts[i];
			pools[i].nslots = share[i];
		}
	}
	assert((c = cl_cache_new(&o, NULL)) != NULL);
	return (c);
}

/* The key of the cache as one of the twin's. */
static unsigned
twins_key(const struct shape *s, uint32_t key)
{
	uint32_t layer = s->nlayers - 1;

	while (key < s->base[layer])
		layer--;
	return (twin_key(layer, key - s->base[layer]));
}

struct counts {
	uint64_t	 accesses, hits, cold, capacity;
	uint64_t	 bypasses, rejects, evictions;
};

static void
add(struct counts *n, const struct cl_cache_outcome *out, uint32_t members)
{

	n->accesses += members;
	n->hits += out->nhits;
	n->cold += out->ncold;
	n->capacity += out->ncapacity;
	n->bypasses += out->nbypass;
	n->rejects += out->nrejects;
	n->evictions += out->nvictims;
}

static void
compare(const struct counts *n, const struct twin *t)
{

	assert(n->accesses == t->accesses);
	assert(n->hits == t->hits);
	assert(n->cold == t->cold);
	assert(n->capacity == t->capacity);
	assert(n->bypasses == t->bypasses);
	assert(n->rejects == t->rejects);
	assert(n->evictions == t->evictions);
}

/* One random trace to its end; *seen adds up what happened in it. */
static void
run_trace(uint64_t seed, enum cl_contract contract, bool by_layer,
    struct counts *seen)
{
	static struct twin t;
	const struct cl_cache_outcome *out;
	struct counts n = { 0 };
	uint32_t expert[TWIN_EXPERTS], key[TWIN_EXPERTS], e, i, layer, k;
	uint64_t rng = seed, left = 0;
	struct cl_cache *c;
	struct shape s;

	random_shape(&rng, &s);
	c = open_cache(&s, contract, by_layer);
	twin_init(&t, contract == CL_CONTRACT_SERIAL, by_layer, s.nlayers,
	    s.nexperts, s.nslots, s.window);
	for (e = 0; e < EVENTS; e++) {
		layer = e % s.nlayers;
		k = random_event(&rng, &s, layer, expert);
		for (i = 0; i < k; i++)
			key[i] = s.base[layer] + expert[i];
		out = cl_cache_serve(c, by_layer ? layer : 0, key, k);
		twin_event(&t, layer, expert, k);
		add(&n, out, k);
		for (i = 0; i < k; i++)
			if (out->victim[i] != CL_CACHE_NO_KEY)
				assert(twins_key(&s, out->victim[i]) ==
				    t.victim[left++]);
		compare(&n, &t);
		assert(cl_cache_resident(c) == t.admits - t.evictions);
	}
	cl_cache_free(c);
	seen->hits += n.hits;
	seen->bypasses += n.bypasses;
	seen->rejects += n.rejects;
	seen->evictions += n.evictions;
}

/* All traces; each thing that can happen did so often. */
static void
run_traces(enum cl_contract contract, bool by_layer)
{
	struct counts seen = { 0 };
	uint64_t i;

	for (i = 0; i < TRACES; i++)
		run_trace(1000 + i, contract, by_layer, &seen);
	assert(seen.hits > 10000 && seen.evictions > 10000);
	assert(seen.rejects > 10000);
	assert(contract == CL_CONTRACT_SERIAL || seen.bypasses > 1000);
}

static void
event_global(void)
{

	run_traces(CL_CONTRACT_EVENT, false);
}

static void
event_by_layer(void)
{

	run_traces(CL_CONTRACT_EVENT, true);
}

static void
serial_global(void)
{

	run_traces(CL_CONTRACT_SERIAL, false);
}

static void
serial_by_layer(void)
{

	run_traces(CL_CONTRACT_SERIAL, true);
}

/* Every number of slots, and layers that are full before the others. */
static void
slots_are_dealt_like_cards(void)
{
	static const uint32_t nexperts[6] = { 3, 64, 1, 17, 64, 0 };
	uint32_t n, i, card, share[6], want[6];

	for (n = 0; n <= 149; n++) {
		cl_budget_deal(n, nexperts, share, 6);
		memset(want, 0, sizeof(want));
		for (card = 0, i = 0; card < n; i = (i + 1) % 6)
			if (want[i] < nexperts[i]) {
				want[i]++;
				card++;
			}
		assert(memcmp(share, want, sizeof(share)) == 0);
	}
}

static const struct unit units[] = {
	{ "under event, over one pool, wtinylfu equals its twin",
	    event_global },
	{ "under event, by layer, wtinylfu equals its twin",
	    event_by_layer },
	{ "under serial, over one pool, wtinylfu equals its twin",
	    serial_global },
	{ "under serial, by layer, wtinylfu equals its twin",
	    serial_by_layer },
	{ "slots are dealt to layers like cards, full layers passed over",
	    slots_are_dealt_like_cards },
};

UNIT_MAIN(units)
