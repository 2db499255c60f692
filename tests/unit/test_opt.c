/*
 * The bound of hits is what caches with these policies do, access by access.
 */

#include <stdlib.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/opt.h"
#include "cl/rng.h"
#include "unit.h"

#define NFEW	3000u			/* accesses */
#define NMANY	1500000u

static void *
room(size_t n, size_t size)
{
	void *p = calloc(n, size);

	assert(p != NULL);
	return (p);
}

/* A few keys are used most, and which these are drifts. */
static uint32_t *
make_uses(uint32_t n, uint32_t nkeys, uint64_t *rng)
{
	uint32_t i, *key = room(n, sizeof(*key));

	for (i = 0; i < n; i++)
		key[i] = (uint32_t)((cl_rng_below(rng, 1 + cl_rng_below(rng,
		    nkeys)) + i / 500) % nkeys);
	return (key);
}

/* Which accesses hit in a cache with that policy; the caller's to free. */
static bool *
replay(const char *policy, const uint32_t *key, uint32_t n, uint32_t nkeys,
    uint32_t capacity)
{
	struct cl_cache_pool pool = { nkeys, capacity };
	struct cl_cache_options o = { .pools = &pool, .npools = 1,
	    .nevent = 1, .contract = CL_CONTRACT_SERIAL };
	uint32_t *at = room(n + nkeys, sizeof(*at)), i;
	uint32_t *met = room(nkeys, sizeof(*met));
	uint32_t *next = room(n, sizeof(*next));
	struct cl_cache_places places = { at, n };
	bool *hit = room(n, sizeof(*hit));
	struct cl_cache *cache;

	for (i = 0; i < nkeys; i++)
		at[met[i] = n + i] = i;
	for (i = n; i-- > 0;) {
		next[i] = met[key[i]];
		met[at[i] = key[i]] = i;
	}
	assert(cl_cache_policy_parse(policy, &o.policy, NULL) == CL_OK);
	assert((cache = cl_cache_new(&o, NULL)) != NULL);
	assert(cl_cache_begin(cache, &places, met, NULL) == CL_OK);
	for (i = 0; i < n; i++) {
		cl_cache_foretell(cache, &key[i], &next[i], 1);
		hit[i] = cl_cache_serve(cache, 0, &key[i], 1)->nhits == 1;
	}
	cl_cache_free(cache);
	free(at);
	free(met);
	free(next);
	return (hit);
}

static void
check(const uint32_t *key, uint32_t n, uint32_t nkeys, uint32_t capacity)
{
	bool *demand = replay("belady", key, n, nkeys, capacity);
	bool *bypass = replay("belady-bypass", key, n, nkeys, capacity);
	bool *used = room(nkeys, sizeof(*used));
	struct cl_opt *opt = cl_opt_new(nkeys, capacity, NULL);
	struct cl_opt_counts now, before = { 0 };
	uint32_t i;

	assert(opt != NULL);
	for (i = 0; i < n; i++, before = now) {
		cl_opt_use(opt, &key[i], 1);
		cl_opt_counts(opt, &now);
		assert(now.accesses == i + 1);
		assert(now.cold - before.cold == !used[key[i]]);
		assert(now.hits_demand - before.hits_demand == demand[i]);
		assert(now.hits_bypass - before.hits_bypass == bypass[i]);
		used[key[i]] = true;
	}
	cl_opt_free(opt);
	free(demand);
	free(bypass);
	free(used);
}

static void
each_hit_of_the_bound_is_one_of_belady_and_of_bypass(void)
{
	static const uint32_t sizes[] = { 1, 2, 3, 7, 20, 96 };
	uint32_t *key, c;
	uint64_t rng = 7;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (c = 1; c <= sizes[i]; c += 1 + c / 8) {
			key = make_uses(NFEW, sizes[i], &rng);
			check(key, NFEW, sizes[i], c);
			free(key);
		}
}

/* As many keys as need several words of the highest level. */
static void
so_it_is_where_the_line_is_long(void)
{
	uint64_t rng = 3;
	uint32_t nkeys = 40000, *key = make_uses(NMANY, nkeys, &rng);

	check(key, NMANY, nkeys, nkeys / 3);
	free(key);
}

static void
a_cache_for_all_keys_misses_the_first_use_of_each(void)
{
	struct cl_opt *opt = cl_opt_new(3, 99, NULL);
	static const uint32_t key[] = { 0, 1, 2, 2, 1, 0, 1 };
	struct cl_opt_counts n;

	assert(opt != NULL);
	cl_opt_use(opt, key, 7);
	cl_opt_counts(opt, &n);
	assert(n.accesses == 7 && n.cold == 3);
	assert(n.hits_demand == 4 && n.hits_bypass == 4);
	cl_opt_free(opt);
}

static void
a_reset_keeps_what_is_held(void)
{
	struct cl_opt *opt = cl_opt_new(3, 1, NULL);
	static const uint32_t key[] = { 0, 1, 0 };
	struct cl_opt_counts n;

	assert(opt != NULL);
	cl_opt_use(opt, key, 2);
	cl_opt_reset(opt);
	cl_opt_use(opt, key + 2, 1);
	cl_opt_counts(opt, &n);
	assert(n.accesses == 1 && n.cold == 0);
	assert(n.hits_demand == 0 && n.hits_bypass == 1);
	cl_opt_free(opt);
}

static const struct unit table[] = {
	{ "each hit of the bound is one of belady and of bypass",
	    each_hit_of_the_bound_is_one_of_belady_and_of_bypass },
	{ "so it is where the line is long", so_it_is_where_the_line_is_long },
	{ "a cache for all keys misses the first use of each",
	    a_cache_for_all_keys_misses_the_first_use_of_each },
	{ "a reset keeps what is held", a_reset_keeps_what_is_held },
};

UNIT_MAIN(table)
