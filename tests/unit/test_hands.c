/*
 * Policies that mark what is used, or keep it in segments, against twins:
 * clock, sieve and slru; what random makes of chance; and what a miss costs.
 */

#include <stdlib.h>

#include "twin_lists.h"

#define MANY_SLOTS	100000u
#define MANY_MISSES	10000000u

/* Does a hand?  Else it passes. */
static bool
stops_at(struct twin *t, uint32_t key)
{
	bool marked = t->uses[key] > 0;

	if (t->pinned[key])
		return (false);
	t->uses[key] = 0;
	return (!marked);
}

/* clock: A is the circle, by places; uses are marks. */
static bool
clock_admit(struct twin *t, uint32_t key, uint32_t *victim)
{
	uint32_t *place = t->key[A];

	t->uses[key] = 0;
	if (t->n[A] < t->nslots) {
		place[t->n[A]++] = key;
		return (true);
	}
	if (!last_free(t, A, victim))
		return (false);
	for (;;) {
		*victim = place[t->hand];
		if (stops_at(t, *victim))
			break;
		t->hand = (t->hand + 1) % t->nslots;
	}
	place[t->hand] = key;
	t->hand = (t->hand + 1) % t->nslots;
	return (true);
}

/* sieve: A is the queue; so many are older than who the hand looks at next. */
static bool
sieve_admit(struct twin *t, uint32_t key, uint32_t *victim)
{

	t->uses[key] = 0;
	if (t->n[A] < t->nslots) {
		first(t, A, key);
		return (true);
	}
	if (!last_free(t, A, victim))
		return (false);
	for (;;) {
		*victim = t->key[A][t->n[A] - 1 - t->hand];
		if (stops_at(t, *victim))
			break;
		t->hand = (t->hand + 1) % t->nslots;
	}
	out(t, A, *victim);
	if (t->hand == t->n[A])		/* he was the newest */
		t->hand = 0;
	first(t, A, key);
	return (true);
}

static void
mark(struct twin *t, uint32_t key, bool fresh)
{

	t->uses[key] = !fresh;
}

/* slru: A is on probation, B protected. */
static bool
slru_admit(struct twin *t, uint32_t key, uint32_t *victim)
{

	if (t->n[A] + t->n[B] == t->nslots) {
		if (!last_free(t, A, victim) && !last_free(t, B, victim))
			return (false);
		out(t, in(t, A, *victim) ? A : B, *victim);
	}
	first(t, A, key);
	return (true);
}

static void
slru_use(struct twin *t, uint32_t key, bool fresh)
{
	uint32_t old;

	if (!in(t, A, key) && !in(t, B, key))
		return;
	out(t, in(t, A, key) ? A : B, key);
	first(t, fresh ? A : B, key);
	while (t->n[B] > share(t, 80)) {
		old = t->key[B][t->n[B] - 1];
		out(t, B, old);
		first(t, A, old);
	}
}

static void
clock_decides_as_its_twin(void)
{

	twin_traces(&(struct form){ "clock", clock_admit, mark });
}

static void
sieve_decides_as_its_twin(void)
{

	twin_traces(&(struct form){ "sieve", sieve_admit, mark });
}

static void
slru_decides_as_its_twin(void)
{

	twin_traces(&(struct form){ "slru", slru_admit, slru_use });
}

/* 16 slots, each the victim's in 2000 of 32000 misses, give or take 5 sigma. */
static void
random_takes_each_as_often(void)
{
	struct cl_cache_pool pool = { .nkeys = 32, .nslots = 16 };
	struct cl_cache_options o = { .pools = &pool, .npools = 1,
	    .nevent = 1, .contract = CL_CONTRACT_SERIAL };
	uint32_t often[16] = { 0 }, nmisses = 0, key, i;
	const struct cl_cache_outcome *got;
	struct cl_cache *c;
	uint64_t rng = 3;

	assert(cl_cache_policy_parse("random", &o.policy, NULL) == CL_OK);
	assert((c = cl_cache_new(&o, NULL)) != NULL);
	while (nmisses < 32000) {
		key = (uint32_t)cl_rng_below(&rng, pool.nkeys);
		got = cl_cache_serve(c, 0, &key, 1);
		if (got->victim[0] == CL_CACHE_NO_KEY)
			continue;
		often[got->slot[0]]++;
		nmisses++;
	}
	for (i = 0; i < 16; i++)
		assert(often[i] > 2000 - 217 && often[i] < 2000 + 217);
	cl_cache_free(c);
}

/*
 * Of 8 members 7 go round through all keys, which are too many, and one is any:
 * so that hands have marks to pass.
 */
static void
miss_often(const struct cl_cache_policy *policy, const uint64_t *names)
{
	struct cl_cache_pool pool = { .nkeys = 2 * MANY_SLOTS,
	    .nslots = MANY_SLOTS };
	struct cl_cache_options o = { .pools = &pool, .npools = 1,
	    .nevent = 8, .contract = CL_CONTRACT_SERIAL, .policy = *policy,
	    .names = names };
	struct cl_cache_counts n = { 0 };
	uint64_t rng = 1, digest = 0;
	uint32_t keys[8], i, next = 0;
	struct cl_cache *c;

	assert((c = cl_cache_new(&o, NULL)) != NULL);
	while (n.cold + n.capacity < MANY_MISSES) {
		for (i = 0; i < 7; i++)
			keys[i] = next++ % pool.nkeys;
		keys[7] = (uint32_t)((next + cl_rng_below(&rng,
		    pool.nkeys - 7)) % pool.nkeys);
		cl_cache_count(c, 0, keys, 8, &n, &digest);
	}
	assert(n.evictions + n.bypass + cl_cache_resident(c) ==
	    n.cold + n.capacity);
	cl_cache_free(c);
}

/*
 * Nothing is timed: a policy that looked at all slots for each miss would look
 * 10^12 times, and be stopped long before.
 */
static void
misses_do_not_cost_a_look_at_all_slots(void)
{
	const struct cl_cache_policy_info *info;
	struct cl_cache_policy policy;
	uint64_t *names;
	unsigned i;

	assert((names = calloc(2 * MANY_SLOTS, sizeof(*names))) != NULL);
	for (i = 0; (info = cl_cache_policy(i)) != NULL; i++)
		if (!info->holds_all && info->foresees == CL_FUTURE_NONE &&
		    cl_cache_policy_parse(info->name, &policy, NULL) == CL_OK)
			miss_often(&policy, names);
	free(names);
}

static const struct unit units[] = {
	{ "clock decides as its twin does", clock_decides_as_its_twin },
	{ "sieve decides as its twin does", sieve_decides_as_its_twin },
	{ "slru decides as its twin does", slru_decides_as_its_twin },
	{ "random takes each as often as any other",
	    random_takes_each_as_often },
	{ "a miss does not cost a look at all slots",
	    misses_do_not_cost_a_look_at_all_slots },
};

UNIT_MAIN(units)
