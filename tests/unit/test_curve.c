/*
 * A curve is what caches of each capacity do, one by one.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/recency.h"
#include "cl/rng.h"
#include "../../lib/study/curve_int.h"
#include "unit.h"

#define NCOLUMNS	3
#define NEVENTS		600
#define NMEMBERS	40		/* at most */
#define NKEYS		501		/* the same */

struct shape {
	uint32_t	experts[NCOLUMNS];
	uint32_t	largest;	/* event */
	uint32_t	every;		/* so many events there may be one */
	uint32_t	nrounds;
	uint32_t	step;		/* of rounds, in members */
};

static const struct shape few = { { 8, 5, 1 }, 8, 50, 12, 1 };
static const struct shape many = { { 300, 200, 1 }, NMEMBERS, 200, 3, 4 };

static struct cl_keys *
make_keys(const struct shape *shape)
{
	struct cl_model *m = cl_model_new(NCOLUMNS, NULL);
	struct cl_keys *keys;
	uint32_t i;

	assert(m != NULL);
	for (i = 0; i < NCOLUMNS; i++) {
		m->layers[i].nexperts = shape->experts[i];
		m->layers[i].k = 1;
	}
	keys = cl_keys_new(m, NULL);
	assert(keys != NULL);
	cl_model_free(m);
	return (keys);
}

struct event {
	uint32_t	column;
	uint32_t	n;
	uint32_t	key[NMEMBERS];
};

/* The places in time of the accesses to a pool, and of the next use of each. */
struct future {
	struct cl_cache_places places;
	uint32_t	at[NEVENTS * NMEMBERS + NKEYS];
	uint32_t	next[NEVENTS][NMEMBERS];
	uint32_t	first[NKEYS];
};

/* Events of up to `most` members; a few larger ones where `most` is small. */
static void
make_events(struct event *e, const struct cl_keys *keys,
    const struct shape *shape, uint32_t round)
{
	uint32_t most = 1 + round * shape->step % shape->largest;
	uint64_t seed = 1000 + round;
	const struct cl_keys_column *col;
	uint32_t i, j, at, n, key;

	for (i = 0; i < NEVENTS; i++, e++) {
		e->column = i % NCOLUMNS;
		col = &keys->column[e->column];
		n = 1 + (uint32_t)cl_rng_below(&seed,
		    i % shape->every == 49 ? shape->largest : most);
		for (at = 0; at < n && at < col->nexperts;) {
			key = col->base + (uint32_t)cl_rng_below(&seed,
			    1 + cl_rng_below(&seed, col->nexperts));
			for (j = 0; j < at && e->key[j] != key; j++)
				continue;
			if (j == at)
				e->key[at++] = key;
			else if (cl_rng_below(&seed, 3) == 0)
				break;
		}
		e->n = at;
	}
}

/* Give every access its place in time, and that of the next use; see cache.h. */
static void
foretell(const struct event *events, enum cl_contract contract,
    uint32_t base, uint32_t nkeys, struct future *f)
{
	uint32_t i, j, k, n = 0, place, *at = f->at, *met = f->first;
	const struct event *e;

	for (i = 0; i < NEVENTS; i++)
		if (events[i].key[0] - base < nkeys)
			n += events[i].n;
	f->places = (struct cl_cache_places){ at, n };
	for (k = 0; k < nkeys; k++)
		at[met[k] = n + k] = k;
	for (i = NEVENTS; i-- > 0;) {
		e = &events[i];
		if (e->key[0] - base >= nkeys)
			continue;
		n -= e->n;
		for (j = 0; j < e->n; j++)
			f->next[i][j] = met[e->key[j] - base];
		for (j = 0; j < e->n; j++) {
			place = contract == CL_CONTRACT_EVENT ? n : n + j;
			for (k = 0; contract == CL_CONTRACT_EVENT &&
			    k < e->n; k++)
				place += e->key[k] < e->key[j];
			at[met[e->key[j] - base] = place] = e->key[j] - base;
		}
	}
}

/* Hits of one cache for the keys of a column, or of all. */
static uint64_t
hits_of_one(const struct event *events, const struct future *f,
    const char *policy, enum cl_contract contract, uint32_t base,
    uint32_t nkeys, uint32_t nslots)
{
	struct cl_cache_pool pool = { nkeys, nslots };
	struct cl_cache_options o = { .pools = &pool, .npools = 1,
	    .nevent = NMEMBERS, .contract = contract };
	uint32_t i, j, key[NMEMBERS];
	struct cl_cache *cache;
	uint64_t hits = 0;

	assert(cl_cache_policy_parse(policy, &o.policy, NULL) == CL_OK);
	assert((cache = cl_cache_new(&o, NULL)) != NULL);
	if (o.policy.info->foresees != CL_FUTURE_NONE)
		assert(cl_cache_begin(cache, &f->places, f->first, NULL) ==
		    CL_OK);
	for (i = 0; i < NEVENTS; i++) {
		if (events[i].key[0] < base ||
		    events[i].key[0] >= base + nkeys)
			continue;
		for (j = 0; j < events[i].n; j++)
			key[j] = events[i].key[j] - base;
		if (o.policy.info->foresees != CL_FUTURE_NONE)
			cl_cache_foretell(cache, key, f->next[i],
			    events[i].n);
		hits += cl_cache_serve(cache, 0, key, events[i].n)->nhits;
	}
	cl_cache_free(cache);
	return (hits);
}

static void
check_scope(const struct event *events, const struct cl_curve *curve,
    uint32_t scope, const char *policy, enum cl_contract contract,
    uint32_t base, uint32_t nkeys)
{
	struct future *f = calloc(1, sizeof(*f));
	struct cl_curve_counts counts;
	uint64_t hits = 0;
	uint32_t c;

	assert(f != NULL);
	foretell(events, contract, base, nkeys, f);
	cl_curve_counts(curve, scope, &counts);
	assert(counts.ncapacities == nkeys && counts.from[0] == 0);
	for (c = 1; c <= nkeys; c++) {
		hits += counts.from[c];
		assert(hits == hits_of_one(events, f, policy, contract, base,
		    nkeys, c));
	}
	assert(counts.cold == counts.accesses - hits);
	free(f);
}

/* All events go through the curve; how often the stack of all was cut. */
static uint32_t
draw(struct cl_curve *curve, const struct event *events, const struct future *f)
{
	uint32_t i, depth, ncuts = 0;

	for (i = 0; i < NEVENTS; i++) {
		depth = curve->scope[0].depth;
		cl_curve_event(curve, events[i].column, events[i].key,
		    f == NULL ? NULL : f->next[i], events[i].n);
		ncuts += curve->scope[0].depth < depth;
	}
	return (ncuts);
}

static void
check_curve(const struct shape *shape, enum cl_curve_policy policy,
    enum cl_contract contract)
{
	struct cl_curve_options o = { .policy = policy, .contract = contract,
	    .layers = true };
	const char *name = policy == CL_CURVE_LRU ? "lru" : "belady";
	struct event *events = calloc(NEVENTS, sizeof(*events));
	struct cl_keys *keys = make_keys(shape);
	struct future *f = calloc(1, sizeof(*f));
	uint32_t round, i, ncuts = 0;
	struct cl_curve *curve;

	assert(events != NULL && f != NULL && keys->nkeys <= NKEYS);
	for (round = 0; round < shape->nrounds; round++) {
		make_events(events, keys, shape, round);
		foretell(events, contract, 0, keys->nkeys, f);
		assert((curve = cl_curve_new(keys, &o, NULL)) != NULL);
		ncuts += draw(curve, events,
		    policy == CL_CURVE_BELADY ? f : NULL);
		check_scope(events, curve, 0, name, contract, 0, keys->nkeys);
		for (i = 0; i < NCOLUMNS; i++)
			check_scope(events, curve, i + 1, name, contract,
			    keys->column[i].base, keys->column[i].nexperts);
		cl_curve_free(curve);
	}
	assert((ncuts > 0) == (policy == CL_CURVE_LRU &&
	    contract == CL_CONTRACT_EVENT));
	cl_keys_free(keys);
	free(events);
	free(f);
}

static void
an_lru_curve_is_lru_at_every_capacity(void)
{

	check_curve(&few, CL_CURVE_LRU, CL_CONTRACT_EVENT);
	check_curve(&few, CL_CURVE_LRU, CL_CONTRACT_SERIAL);
	check_curve(&few, CL_CURVE_LRU, CL_CONTRACT_RETAIN);
	check_curve(&many, CL_CURVE_LRU, CL_CONTRACT_EVENT);
	check_curve(&many, CL_CURVE_LRU, CL_CONTRACT_SERIAL);
	check_curve(&many, CL_CURVE_LRU, CL_CONTRACT_RETAIN);
}

static void
a_belady_curve_is_belady_at_every_capacity(void)
{

	check_curve(&few, CL_CURVE_BELADY, CL_CONTRACT_EVENT);
	check_curve(&few, CL_CURVE_BELADY, CL_CONTRACT_SERIAL);
	check_curve(&many, CL_CURVE_BELADY, CL_CONTRACT_EVENT);
	check_curve(&many, CL_CURVE_BELADY, CL_CONTRACT_SERIAL);
}

static void
a_belady_curve_under_retain_is_refused(void)
{
	struct cl_keys *keys = make_keys(&few);
	struct cl_curve_options o = { .policy = CL_CURVE_BELADY,
	    .contract = CL_CONTRACT_RETAIN };
	struct cl_err err = { 0 };

	assert(cl_curve_new(keys, &o, &err) == NULL);
	assert(err.code == CL_EINVAL && strstr(err.msg, "retain") != NULL);
	cl_keys_free(keys);
}

/* An event of two in a curve of its own. */
static void
use_two(enum cl_curve_policy policy, const uint32_t *next)
{
	static const uint32_t keys[] = { 0, 1, 2 };
	struct cl_curve_options o = { .policy = policy,
	    .contract = CL_CONTRACT_EVENT };
	struct cl_curve *curve = cl_curve_new(make_keys(&few), &o, NULL);

	assert(curve != NULL);
	cl_curve_event(curve, 0, keys, next, 2);
	cl_curve_event(curve, 0, keys + 2, next, 1);
}

static void
tell_belady_nothing(void)
{

	use_two(CL_CURVE_BELADY, NULL);
}

static void
tell_belady_times(void)
{
	static const uint32_t never[] = { UINT32_MAX, UINT32_MAX };

	use_two(CL_CURVE_BELADY, never);
}

static void
tell_lru_places(void)
{
	static const uint32_t next[] = { 4, 5 };

	use_two(CL_CURVE_LRU, next);
}

static void
next_uses_are_for_belady_and_are_places(void)
{

	assert(unit_aborts(tell_belady_nothing));
	assert(unit_aborts(tell_belady_times));
	assert(unit_aborts(tell_lru_places));
}

struct list {
	uint32_t	*key;		/* the most recent first */
	uint32_t	 n;
};

static uint32_t
rank_in_list(const struct list *l, uint32_t key)
{
	uint32_t i;

	for (i = 0; i < l->n && l->key[i] != key; i++)
		continue;
	return (i == l->n ? 0 : i + 1);
}

static void
use_in_list(struct list *l, uint32_t key)
{
	uint32_t rank = rank_in_list(l, key);

	memmove(l->key + 1, l->key, (rank == 0 ? l->n++ : rank - 1) *
	    sizeof(*l->key));
	l->key[0] = key;
}

/* Ranks against a list: those of up to most keys, together or in turn. */
static void
check_ranks(uint32_t nkeys, uint32_t most, uint32_t nuses)
{
	struct cl_recency *r = cl_recency_new(nkeys, NULL);
	struct list l = { malloc(nkeys * sizeof(uint32_t)), 0 };
	uint32_t key[100], rank[100], before, i, j, n, from;
	uint64_t seed = nkeys;
	bool together;

	assert(r != NULL && l.key != NULL && most <= 100);
	for (i = 0; i < nuses; i += n) {
		n = 1 + (uint32_t)cl_rng_below(&seed, most);
		from = (uint32_t)cl_rng_below(&seed,
		    1 + cl_rng_below(&seed, nkeys));
		together = cl_rng_below(&seed, 2) > 0;
		for (j = 0; j < n; j++)
			key[j] = 7 + (from + j * (nkeys - 1)) % nkeys;
		if (together)
			cl_recency_event(r, key, n, 7, rank);
		else
			cl_recency_use(r, key, n, 7, rank);
		for (j = 0; j < n && together; j++)
			assert(rank[j] == rank_in_list(&l, key[j] - 7));
		for (j = 0; j < n; j++) {
			before = rank_in_list(&l, key[j] - 7);
			assert(together || rank[j] == before);
			use_in_list(&l, key[j] - 7);
		}
		assert(cl_recency_rank(r, from) == n);
	}
	cl_recency_free(r);
	free(l.key);
}

static void
a_rank_is_the_place_in_a_list(void)
{

	check_ranks(1, 1, 10);
	check_ranks(2, 1, 100);
	check_ranks(63, 1, 3000);
	check_ranks(256, 1, 20000);
	check_ranks(257, 1, 20000);
	check_ranks(9000, 1, 40000);
	check_ranks(16, 16, 1000);
	check_ranks(256, 100, 20000);
	check_ranks(384, 100, 20000);
	check_ranks(9000, 50, 60000);
}

static void
a_reset_keeps_what_caches_hold(void)
{
	struct cl_keys *keys = make_keys(&few);
	struct cl_curve_options o = { .contract = CL_CONTRACT_EVENT };
	struct cl_curve *curve = cl_curve_new(keys, &o, NULL);
	struct cl_curve_counts counts;
	uint32_t key[] = { 1, 2 };

	assert(curve != NULL);
	cl_curve_event(curve, 0, key, NULL, 2);
	cl_curve_reset(curve);
	cl_curve_event(curve, 0, key, NULL, 2);
	cl_curve_counts(curve, 0, &counts);
	assert(counts.accesses == 2 && counts.cold == 0);
	assert(counts.from[1] == 1 && counts.from[2] == 1);
	cl_curve_free(curve);
	cl_keys_free(keys);
}

static const struct unit table[] = {
	{ "a rank is the place in a list, together or in turn",
	    a_rank_is_the_place_in_a_list },
	{ "an lru curve is lru at every capacity",
	    an_lru_curve_is_lru_at_every_capacity },
	{ "a belady curve is belady at every capacity",
	    a_belady_curve_is_belady_at_every_capacity },
	{ "a belady curve under retain is refused",
	    a_belady_curve_under_retain_is_refused },
	{ "next uses are for belady, and are places",
	    next_uses_are_for_belady_and_are_places },
	{ "a reset keeps what caches hold", a_reset_keeps_what_caches_hold },
};

UNIT_MAIN(table)
