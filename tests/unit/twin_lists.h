#ifndef TWIN_LISTS_H
#define TWIN_LISTS_H

/*
 * Twins of policies, written from cl-policies(7) with plain lists, slow and
 * obvious; and random traces that cache and twin serve side by side, under
 * event and serial, in small pools with all their corners and in some larger
 * ones.  A cache that only counts goes along: its counts and its digest must
 * be those of the outcomes.
 */

#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/hash.h"
#include "cl/rng.h"
#include "unit.h"

#define TWIN_KEYS	400u
#define TWIN_EVENT	20u		/* more than a word of the digest */

enum { A, B, C, D, NLISTS };

/* Lists of keys, the newest first, of which A and B are resident. */
struct twin {
	uint32_t	 nslots;
	uint32_t	 n[NLISTS];
	uint32_t	 key[NLISTS][TWIN_KEYS];
	bool		 pinned[TWIN_KEYS];
	bool		 seen[TWIN_KEYS];
	/* what more a policy knows */
	uint32_t	 uses[TWIN_KEYS];
	uint32_t	 used[TWIN_KEYS];
	uint32_t	 now;
	uint32_t	 hand;
	double		 target;
};

struct form {
	const char	*policy;
	bool		 (*admit)(struct twin *, uint32_t key, uint32_t *victim);
	void		 (*use)(struct twin *, uint32_t key, bool fresh);
};

static inline bool
in(const struct twin *t, int list, uint32_t key)
{
	uint32_t i;

	for (i = 0; i < t->n[list]; i++)
		if (t->key[list][i] == key)
			return (true);
	return (false);
}

static inline void
out(struct twin *t, int list, uint32_t key)
{
	uint32_t i = 0;

	while (t->key[list][i] != key)
		i++;
	t->n[list]--;
	memmove(&t->key[list][i], &t->key[list][i + 1],
	    (t->n[list] - i) * sizeof(t->key[list][0]));
}

static inline void
first(struct twin *t, int list, uint32_t key)
{

	memmove(&t->key[list][1], &t->key[list][0],
	    t->n[list] * sizeof(t->key[list][0]));
	t->key[list][0] = key;
	t->n[list]++;
}

static inline void
drop_last(struct twin *t, int list)
{

	if (t->n[list] > 0)
		t->n[list]--;
}

/* The last that is not pinned; false where there is none. */
static inline bool
last_free(const struct twin *t, int list, uint32_t *key)
{
	uint32_t i;

	for (i = t->n[list]; i-- > 0;)
		if (!t->pinned[t->key[list][i]]) {
			*key = t->key[list][i];
			return (true);
		}
	return (false);
}

static inline uint32_t
share(const struct twin *t, uint32_t percent)
{
	uint32_t n = t->nslots * percent / 100;

	return (n > 0 ? n : 1);
}

/* Serve an event by the contract's steps, and compare. */
static inline void
twin_event(struct twin *t, const struct form *f, const uint32_t *keys,
    uint32_t n, const struct cl_cache_outcome *got, uint32_t at)
{
	bool hit[TWIN_EVENT], kept;
	uint32_t i, victim;
	uint8_t class;

	memset(t->pinned, 0, sizeof(t->pinned));
	for (i = 0; i < n; i++) {
		hit[i] = in(t, A, keys[i]) || in(t, B, keys[i]);
		t->pinned[keys[i]] = hit[i];
	}
	for (i = 0; i < n; i++) {
		victim = CL_CACHE_NO_KEY;
		kept = hit[i] || f->admit(t, keys[i], &victim);
		if (!kept)
			victim = CL_CACHE_NO_KEY;
		t->pinned[keys[i]] = kept;
		class = hit[i] ? CL_CLASS_HIT : t->seen[keys[i]] ?
		    CL_CLASS_CAPACITY : CL_CLASS_COLD;
		t->seen[keys[i]] = true;
		assert(got->victim[at + i] == victim);
		assert(got->class[at + i] ==
		    (class | (kept ? 0 : CL_CACHE_NOT_KEPT)));
	}
	for (i = 0; i < n; i++)
		f->use(t, keys[i], !hit[i]);
}

/* What a cache that only counts makes of an outcome: cl-stats(5), DIGEST. */
static inline void
twin_count(const struct cl_cache_outcome *got, uint32_t n,
    const uint64_t *names, struct cl_cache_counts *counts, uint64_t *digest)
{
	uint64_t word = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		counts->accesses++;
		counts->cold += (got->class[i] & 3) == CL_CLASS_COLD;
		counts->capacity += (got->class[i] & 3) == CL_CLASS_CAPACITY;
		counts->bypass += (got->class[i] & CL_CACHE_NOT_KEPT) != 0;
		if (got->victim[i] != CL_CACHE_NO_KEY) {
			counts->evictions++;
			*digest = cl_hash_mix(*digest, names[got->victim[i]]);
		}
		word |= (uint64_t)got->class[i] << 4 * (i % 16);
		if (i % 16 == 15 || i == n - 1) {
			*digest = cl_hash_mix(*digest, word);
			word = 0;
		}
	}
}

/* Distinct keys, some of them far more often than others. */
static inline uint32_t
twin_keys(uint64_t *rng, uint32_t nkeys, uint32_t most, uint32_t *keys)
{
	uint32_t n = 1 + (uint32_t)cl_rng_below(rng, most), i, j;

	for (i = 0; i < n; i += j == i) {
		keys[i] = (uint32_t)cl_rng_below(rng,
		    1 + cl_rng_below(rng, nkeys));
		for (j = 0; j < i && keys[j] != keys[i];)
			j++;
	}
	return (n);
}

static inline void
twin_trace(const struct form *f, uint64_t *rng, enum cl_contract contract,
    const struct cl_cache_pool *pool, uint32_t nevents)
{
	struct cl_cache_options o = { .pools = pool, .npools = 1,
	    .nevent = TWIN_EVENT, .contract = contract };
	struct cl_cache_counts counts = { 0 }, theirs = { 0 };
	uint64_t names[TWIN_KEYS], digest = 0, their_digest = 0;
	uint32_t keys[TWIN_EVENT], n, i, e, most;
	const struct cl_cache_outcome *got;
	struct twin t = { .nslots = pool->nslots };
	struct cl_cache *c, *counted;

	for (i = 0; i < TWIN_KEYS; i++)
		names[i] = cl_rng_next(rng);
	assert(cl_cache_policy_parse(f->policy, &o.policy, NULL) == CL_OK);
	assert((c = cl_cache_new(&o, NULL)) != NULL);
	o.names = names;
	assert((counted = cl_cache_new(&o, NULL)) != NULL);
	for (e = 0; e < nevents; e++) {
		most = e % 16 == 0 ? TWIN_EVENT : 8;
		n = twin_keys(rng, pool->nkeys, most < pool->nkeys / 2 ? most :
		    pool->nkeys / 2, keys);
		got = cl_cache_serve(c, 0, keys, n);
		if (contract == CL_CONTRACT_EVENT)
			twin_event(&t, f, keys, n, got, 0);
		else
			for (i = 0; i < n; i++)
				twin_event(&t, f, keys + i, 1, got, i);
		twin_count(got, n, names, &counts, &digest);
		cl_cache_count(counted, 0, keys, n, &theirs, &their_digest);
		assert(digest == their_digest);
	}
	counts.rejects = theirs.rejects;
	assert(memcmp(&counts, &theirs, sizeof(counts)) == 0);
	cl_cache_free(counted);
	cl_cache_free(c);
}

/* Traces for a policy, in pools of all sizes. */
static inline void
twin_traces(const struct form *f)
{
	struct cl_cache_pool small = { .nkeys = 20 };
	struct cl_cache_pool large = { .nkeys = TWIN_KEYS };
	uint64_t rng = 5;
	uint32_t i, contract;

	for (i = 0; i < 120; i++) {
		contract = i % 2 == 0 ? CL_CONTRACT_EVENT : CL_CONTRACT_SERIAL;
		small.nslots = 1 + (uint32_t)cl_rng_below(&rng, 12);
		twin_trace(f, &rng, contract, &small, 400);
		if (i % 10 >= 2)
			continue;
		large.nslots = 1 + (uint32_t)cl_rng_below(&rng, 300);
		if (i % 20 < 2)		/* whole words of bits */
			large.nslots = (1 + large.nslots / 64) * 64;
		twin_trace(f, &rng, contract, &large, 1500);
	}
}

#endif /* TWIN_LISTS_H */
