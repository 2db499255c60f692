/*
 * What must hold of every policy of the table, on random events: each is tried
 * with its defaults, in caches of every size, under each contract it knows.
 * Forms that copy the faults of others are not among them.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/rng.h"
#include "unit.h"

#define NKEYS	24
#define NEVENTS	400

/* A cache, and what is known of its keys from the outcomes alone. */
struct watch {
	struct cl_cache	*cache;
	uint32_t	nslots;
	enum cl_contract contract;
	bool		in[NKEYS];
	bool		seen[NKEYS];
	uint32_t	nseen;
	uint64_t	misses;
	uint64_t	cold;
};

/* Is a policy all there once it is open: not loaded, nor told the future? */
static bool
is_plain(const struct cl_cache_policy_info *info, struct cl_cache_policy *p)
{

	return (info->foresees == CL_FUTURE_NONE && !info->loads &&
	    cl_cache_policy_parse(info->name, p, NULL) == CL_OK);
}

static bool
watch_new(struct watch *w, const struct cl_cache_policy *policy,
    enum cl_contract contract, uint32_t nslots)
{
	struct cl_cache_pool pool = { NKEYS, nslots };
	struct cl_cache_options o = { .pools = &pool, .npools = 1,
	    .nevent = NKEYS, .contract = contract, .policy = *policy };
	struct cl_err err = { 0 };

	memset(w, 0, sizeof(*w));
	w->nslots = policy->info->holds_all ? NKEYS : nslots;
	w->contract = contract;
	w->cache = cl_cache_new(&o, &err);
	assert((w->cache != NULL) == (contract != CL_CONTRACT_RETAIN ||
	    policy->info->total_order));
	return (w->cache != NULL);
}

static uint32_t
random_event(uint64_t *rng, uint32_t most, uint32_t *keys)
{
	uint32_t n = 1 + (uint32_t)cl_rng_below(rng, most), i, j;

	for (i = 0; i < n;) {
		/* The product of two is skewed. */
		keys[i] = (uint32_t)(cl_rng_below(rng, NKEYS) *
		    cl_rng_below(rng, NKEYS) / NKEYS);
		if (cl_rng_below(rng, 8) == 0)
			keys[i] = (uint32_t)cl_rng_below(rng, NKEYS);
		for (j = 0; j < i && keys[j] != keys[i]; j++)
			;
		i += j == i;
	}
	return (n);
}

static uint32_t
count_in(const struct watch *w)
{
	uint32_t i, n = 0;

	for (i = 0; i < NKEYS; i++)
		n += w->in[i];
	return (n);
}

/* No two residents have one slot, and all slots are the cache's. */
static void
check_slots(const struct watch *w)
{
	bool taken[NKEYS] = { false };
	uint32_t i, slot;

	for (i = 0; i < NKEYS; i++) {
		slot = cl_cache_slot(w->cache, i);
		assert((slot != CL_CACHE_NO_SLOT) == w->in[i]);
		if (!w->in[i])
			continue;
		assert(slot < w->nslots && !taken[slot]);
		taken[slot] = true;
	}
	assert(count_in(w) <= w->nslots);
	assert(cl_cache_resident(w->cache) == count_in(w));
}

static void
check_class(struct watch *w, uint32_t key, uint8_t class, bool was_in)
{

	class &= (uint8_t)~CL_CACHE_NOT_KEPT;
	if (was_in)
		assert(class == CL_CLASS_HIT);
	else
		assert(class == (w->seen[key] ? CL_CLASS_CAPACITY :
		    CL_CLASS_COLD));
	w->misses += class != CL_CLASS_HIT;
	w->cold += class == CL_CLASS_COLD;
	w->nseen += !w->seen[key];
	w->seen[key] = true;
}

static bool
among(const uint32_t *keys, uint32_t n, uint32_t key)
{

	while (n-- > 0)
		if (keys[n] == key)
			return (true);
	return (false);
}

/* Members from to to are one event: what the outcome says of it adds up. */
static void
check_event(struct watch *w, const uint32_t *keys,
    const struct cl_cache_outcome *out, uint32_t from, uint32_t to)
{
	bool was_in[NKEYS];
	uint32_t i, victim;

	memcpy(was_in, w->in, sizeof(was_in));
	for (i = from; i < to; i++) {
		check_class(w, keys[i], out->class[i], was_in[keys[i]]);
		if ((victim = out->victim[i]) == CL_CACHE_NO_KEY)
			continue;
		assert(!was_in[keys[i]] && was_in[victim] && w->in[victim]);
		assert(!(out->class[i] & CL_CACHE_NOT_KEPT));
		if (w->contract != CL_CONTRACT_RETAIN)
			assert(!among(keys + from, to - from, victim));
		w->in[victim] = false;
	}
	for (i = from; i < to; i++)
		if (!was_in[keys[i]])
			w->in[keys[i]] = !(out->class[i] & CL_CACHE_NOT_KEPT);
		else
			assert(w->in[keys[i]] ==
			    !(out->class[i] & CL_CACHE_NOT_KEPT));
}

static void
step(struct watch *w, const uint32_t *keys, uint32_t n)
{
	const struct cl_cache_outcome *out;
	uint32_t i;

	out = cl_cache_serve(w->cache, 0, keys, n);
	assert(out->nhits + out->nstaged + out->ncold + out->ncapacity == n);
	if (w->contract == CL_CONTRACT_SERIAL)
		for (i = 0; i < n; i++)
			check_event(w, keys, out, i, i + 1);
	else
		check_event(w, keys, out, 0, n);
	check_slots(w);
}

/* Each policy, contract and size in turn. */
static void
for_all(void (*what)(const struct cl_cache_policy *, enum cl_contract,
    uint32_t))
{
	const struct cl_cache_policy_info *info;
	struct cl_cache_policy policy;
	unsigned i, contract;
	uint32_t nslots;

	for (i = 0; (info = cl_cache_policy(i)) != NULL; i++) {
		if (!is_plain(info, &policy))
			continue;
		for (contract = CL_CONTRACT_EVENT;
		    contract <= CL_CONTRACT_RETAIN; contract++)
			for (nslots = 1; nslots <= NKEYS; nslots++)
				what(&policy, (enum cl_contract)contract,
				    nslots);
	}
}

static void
try_sums(const struct cl_cache_policy *policy, enum cl_contract contract,
    uint32_t nslots)
{
	uint32_t keys[NKEYS], e, n;
	uint64_t rng = nslots;
	struct watch w;

	if (!watch_new(&w, policy, contract, nslots))
		return;
	for (e = 0; e < NEVENTS; e++) {
		n = random_event(&rng, e % 8 == 0 ? NKEYS : 4, keys);
		step(&w, keys, n);
	}
	assert(w.cold == w.nseen);
	if (policy->info->holds_all)
		assert(w.misses == w.nseen);
	cl_cache_free(w.cache);
}

static void
outcomes_add_up(void)
{

	for_all(try_sums);
}

static void
try_full(const struct cl_cache_policy *policy, enum cl_contract contract,
    uint32_t nslots)
{
	uint32_t keys[NKEYS], e, n;
	uint64_t rng = 5;
	struct watch w;

	if (nslots < NKEYS || strcmp(policy->info->name, "none") == 0 ||
	    !watch_new(&w, policy, contract, nslots))
		return;
	for (e = 0; e < NEVENTS; e++) {
		n = random_event(&rng, 6, keys);
		step(&w, keys, n);
	}
	assert(w.misses == w.nseen);
	cl_cache_free(w.cache);
}

static void
a_cache_for_all_misses_each_once(void)
{

	for_all(try_full);
}

static void
try_single(const struct cl_cache_policy *policy, enum cl_contract contract,
    uint32_t nslots)
{
	uint64_t serial_rng = nslots, rng = nslots;
	uint32_t key, e;
	struct watch w, serial;

	/* retain may keep what event must throw out for a newcomer. */
	if (contract != CL_CONTRACT_EVENT)
		return;
	assert(watch_new(&w, policy, contract, nslots));
	assert(watch_new(&serial, policy, CL_CONTRACT_SERIAL, nslots));
	for (e = 0; e < NEVENTS; e++) {
		(void)random_event(&rng, 1, &key);
		step(&w, &key, 1);
		(void)random_event(&serial_rng, 1, &key);
		step(&serial, &key, 1);
		assert(memcmp(w.in, serial.in, sizeof(w.in)) == 0);
	}
	assert(w.misses == serial.misses);
	cl_cache_free(w.cache);
	cl_cache_free(serial.cache);
}

static void
events_of_one_are_serial(void)
{

	for_all(try_single);
}

/* The digest of cl-stats(5) of one outcome. */
static uint64_t
digest_of(uint64_t d, const uint64_t *names,
    const struct cl_cache_outcome *out, uint32_t n)
{
	uint64_t word = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (out->victim[i] != CL_CACHE_NO_KEY)
			d = cl_hash_mix(d, names[out->victim[i]]);
		word |= (uint64_t)out->class[i] << 4 * (i % 16);
		if (i % 16 == 15 || i == n - 1) {
			d = cl_hash_mix(d, word);
			word = 0;
		}
	}
	return (d);
}

static void
add(struct cl_cache_counts *sum, const struct cl_cache_outcome *out, uint32_t n)
{

	sum->accesses += n;
	sum->staged += out->nstaged;
	sum->cold += out->ncold;
	sum->capacity += out->ncapacity;
	sum->bypass += out->nbypass;
	sum->rejects += out->nrejects;
	sum->evictions += out->nvictims;
}

static void
try_counted(const struct cl_cache_policy *policy, enum cl_contract contract,
    uint32_t nslots)
{
	struct cl_cache_pool pool = { NKEYS, nslots };
	struct cl_cache_options o = { .pools = &pool, .npools = 1,
	    .nevent = NKEYS, .contract = contract, .policy = *policy };
	struct cl_cache_counts counts = { 0 }, sum = { 0 };
	uint64_t names[NKEYS], rng = nslots, d = 1, digest = 1;
	const struct cl_cache_outcome *out;
	uint32_t keys[NKEYS], e, n;
	struct cl_cache *counted;
	struct watch w;

	if (!watch_new(&w, policy, contract, nslots))
		return;
	for (e = 0; e < NKEYS; e++)
		names[e] = cl_rng_next(&rng);
	o.names = names;
	assert((counted = cl_cache_new(&o, NULL)) != NULL);
	for (e = 0; e < NEVENTS; e++) {
		n = random_event(&rng, e % 8 == 0 ? NKEYS : 4, keys);
		out = cl_cache_serve(w.cache, 0, keys, n);
		add(&sum, out, n);
		d = digest_of(d, names, out, n);
		cl_cache_count(counted, 0, keys, n, &counts, &digest);
		assert(d == digest);
	}
	assert(memcmp(&sum, &counts, sizeof(sum)) == 0);
	cl_cache_free(counted);
	cl_cache_free(w.cache);
}

static void
counting_alone_decides_alike(void)
{

	for_all(try_counted);
}

/* arXiv 2608.07911, event-atomic-toy-trace-v1: lru, 2 slots a layer. */
static void
the_conformance_trace_holds_under_retain(void)
{
	static const uint32_t steps[5][2] = { { 0, 1 }, { 0, 2 }, { 0, 1 },
	    { 0, 3 }, { 0, 1 } };
	struct cl_cache_policy policy;
	struct watch w;
	int i;

	assert(cl_cache_policy_parse("lru", &policy, NULL) == CL_OK);
	assert(watch_new(&w, &policy, CL_CONTRACT_RETAIN, 2));
	for (i = 0; i < 5; i++)
		step(&w, steps[i], 2);
	assert(w.misses == 6);
	cl_cache_free(w.cache);
}

/* All come in, then the oldest leave: of many members the last ones stay. */
static void
retain_keeps_the_most_recent_members(void)
{
	static const uint32_t keys[5] = { 4, 3, 2, 1, 0 };
	struct cl_cache_policy policy;
	struct watch w;

	assert(cl_cache_policy_parse("lru", &policy, NULL) == CL_OK);
	assert(watch_new(&w, &policy, CL_CONTRACT_RETAIN, 2));
	step(&w, keys, 5);
	assert(w.in[0] && w.in[1] && count_in(&w) == 2);
	step(&w, keys + 3, 2);
	assert(w.misses == 5);
	step(&w, keys, 5);
	assert(w.misses == 8 && w.in[0] && w.in[1] && count_in(&w) == 2);
	cl_cache_free(w.cache);
}

static void
others_refuse_retain_by_name(void)
{
	struct cl_cache_pool pool = { NKEYS, 2 };
	struct cl_cache_options o = { .pools = &pool, .npools = 1,
	    .nevent = NKEYS, .contract = CL_CONTRACT_RETAIN };
	struct cl_err err = { 0 };

	assert(cl_cache_policy_parse("clock", &o.policy, NULL) == CL_OK);
	assert(cl_cache_new(&o, &err) == NULL && err.code == CL_EINVAL);
	assert(strcmp(err.msg, "policy clock is no total order over experts, "
	    "which contract retain needs") == 0);
}

static const struct unit units[] = {
	{ "outcomes add up, pins and capacities hold, slots are never shared",
	    outcomes_add_up },
	{ "a cache for all experts misses each of them once",
	    a_cache_for_all_misses_each_once },
	{ "events of one member are serial", events_of_one_are_serial },
	{ "a cache that only counts decides alike",
	    counting_alone_decides_alike },
	{ "the published conformance trace holds under retain",
	    the_conformance_trace_holds_under_retain },
	{ "retain keeps the most recent of more members than slots",
	    retain_keeps_the_most_recent_members },
	{ "a policy without a total order refuses retain by its name",
	    others_refuse_retain_by_name },
};

UNIT_MAIN(units)
