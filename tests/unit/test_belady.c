/*
 * The policies that know the future against the true minimum, found by trying
 * every decision there is, on every short trace; and belady against a twin
 * that looks at every resident for each victim.
 */

#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/rng.h"
#include "unit.h"

#define FEW		4u		/* experts of short traces */
#define SETS		(1u << FEW)
#define LENGTH_MAX	8u		/* accesses of a short trace */
#define NKEYS		16u
#define NEVENTS		400u

/* A trace: event i is the n keys from key[i x n] on. */
struct trace {
	uint32_t	nevents;
	uint32_t	n;
	uint32_t	key[NEVENTS * FEW];
	uint32_t	next[NEVENTS * FEW];
	uint32_t	at[NEVENTS * FEW + NKEYS];	/* keys, by place */
	uint32_t	first[NKEYS];
};

/* Would access i of an event come before access j, by what follows or key? */
static bool
before(const struct trace *t, uint32_t i, uint32_t j, bool by_next)
{

	if (by_next)
		return (t->next[i] < t->next[j]);
	return (t->key[i] < t->key[j]);
}

/* Every access's place, and that of its key's next use, by looking for it. */
static void
look_ahead(struct trace *t, bool event, bool by_next)
{
	uint32_t place[NEVENTS * FEW + NKEYS], n = t->nevents * t->n;
	uint32_t e, i, j;

	for (i = 0; i < NKEYS; i++)
		place[n + i] = t->first[i] = n + i;
	for (e = t->nevents; e-- > 0;) {
		for (i = e * t->n; i < (e + 1) * t->n; i++) {
			for (j = i + 1; j < n && t->key[j] != t->key[i]; j++)
				;
			t->next[i] = place[j == n ? n + t->key[i] : j];
		}
		for (i = e * t->n; i < (e + 1) * t->n; i++) {
			place[i] = event ? e * t->n : i;
			for (j = e * t->n; event && j < (e + 1) * t->n; j++)
				place[i] += before(t, j, i, by_next);
			t->first[t->key[i]] = place[i];
		}
	}
	for (i = 0; i < n + NKEYS; i++)
		t->at[place[i]] = i < n ? t->key[i] : i - n;
}

/* A cache begins the trace. */
static void
begin(struct cl_cache *c, const struct trace *t)
{
	struct cl_cache_places places = { t->at, t->nevents * t->n };

	assert(cl_cache_begin(c, &places, t->first, NULL) == CL_OK);
}

static struct cl_cache_policy
policy_of(const char *text)
{
	struct cl_cache_policy p;

	assert(cl_cache_policy_parse(text, &p, NULL) == CL_OK);
	return (p);
}

static void
foresee(const char *policy, struct trace *t, enum cl_contract contract)
{

	look_ahead(t, contract == CL_CONTRACT_EVENT,
	    policy_of(policy).info->foresees == CL_FUTURE_PLACES);
}

static struct cl_cache *
cache_of(const char *policy, uint32_t nkeys, uint32_t nslots,
    enum cl_contract contract)
{
	struct cl_cache_pool pool = { nkeys, nslots };
	struct cl_cache_options o = { .pools = &pool, .npools = 1,
	    .nevent = nkeys, .contract = contract,
	    .policy = policy_of(policy) };
	struct cl_cache *c;

	c = cl_cache_new(&o, NULL);
	assert(c != NULL);
	return (c);
}

static const struct cl_cache_outcome *
serve(struct cl_cache *c, const struct trace *t, uint32_t event)
{
	const uint32_t *keys = t->key + event * t->n;

	cl_cache_foretell(c, keys, t->next + event * t->n, t->n);
	return (cl_cache_serve(c, 0, keys, t->n));
}

static uint32_t
misses_of(const char *policy, const struct trace *t, uint32_t nslots,
    enum cl_contract contract)
{
	struct cl_cache *c = cache_of(policy, FEW, nslots, contract);
	uint32_t i, misses = 0;

	begin(c, t);
	for (i = 0; i < t->nevents; i++)
		misses += t->n - serve(c, t, i)->nhits;
	cl_cache_free(c);
	return (misses);
}

static uint32_t
size_of(uint32_t set)
{
	uint32_t n = 0;

	for (; set != 0; set &= set - 1)
		n++;
	return (n);
}

/*
 * Mark in to[] every set of residents that can follow `set` when members i ..
 * n - 1 have yet to be admitted; with free choice any of them may be refused.
 */
static void
spread(uint32_t set, uint32_t pinned, const uint32_t *keys, uint32_t i,
    uint32_t n, uint32_t nslots, bool choice, bool *to)
{
	uint32_t v, key;
	bool full = size_of(set) == nslots;

	for (; i < n && (set & 1u << keys[i]); i++)
		;
	if (i == n) {
		to[set] = true;
		return;
	}
	key = 1u << keys[i];
	if (choice || (full && (set & ~pinned) == 0))
		spread(set, pinned, keys, i + 1, n, nslots, choice, to);
	if (!full)
		spread(set | key, pinned | key, keys, i + 1, n, nslots,
		    choice, to);
	for (v = 0; full && v < FEW; v++)
		if (set & ~pinned & 1u << v)
			spread((set & ~(1u << v)) | key, pinned | key, keys,
			    i + 1, n, nslots, choice, to);
}

/* The fewest misses, over all decisions there are. */
static uint32_t
minimum(const struct trace *t, uint32_t nslots, enum cl_contract contract,
    bool choice)
{
	uint32_t step = contract == CL_CONTRACT_EVENT ? t->n : 1;
	uint32_t best[SETS], after[SETS], i, j, set, s, least = UINT32_MAX;
	bool to[SETS];

	memset(best, 0xff, sizeof(best));
	best[0] = 0;
	for (i = 0; i < t->nevents * t->n; i += step) {
		memset(after, 0xff, sizeof(after));
		for (set = 0; set < SETS; set++) {
			if (best[set] == UINT32_MAX)
				continue;
			for (s = 0, j = i; j < i + step; j++)
				s |= 1u << t->key[j];
			memset(to, 0, sizeof(to));
			spread(set, set & s, t->key + i, 0, step, nslots,
			    choice, to);
			s = best[set] + size_of(s & ~set);
			for (j = 0; j < SETS; j++)
				if (to[j] && s < after[j])
					after[j] = s;
		}
		memcpy(best, after, sizeof(best));
	}
	for (set = 0; set < SETS; set++)
		if (best[set] < least)
			least = best[set];
	return (least);
}

/* Event i of all there are with n distinct members in their order. */
static bool
nth_event(uint32_t number, uint32_t n, uint32_t *keys)
{
	uint32_t i, j;

	for (i = 0; i < n; i++, number /= FEW) {
		keys[i] = number % FEW;
		for (j = 0; j < i; j++)
			if (keys[j] == keys[i])
				return (false);
	}
	return (true);
}

static void
hold(struct trace *t, enum cl_contract contract)
{
	uint32_t nslots;

	for (nslots = 1; nslots < FEW; nslots++) {
		foresee("belady", t, contract);
		assert(misses_of("belady", t, nslots, contract) ==
		    minimum(t, nslots, contract, false));
		foresee("belady-bypass", t, contract);
		assert(misses_of("belady-bypass", t, nslots, contract) ==
		    minimum(t, nslots, contract, true));
	}
}

/* Every trace of so many events of n members. */
static void
every_trace(uint32_t nevents, uint32_t n, enum cl_contract contract)
{
	struct trace t = { .nevents = nevents, .n = n };
	uint32_t number, rest, i, total = 1, each = 1;

	for (i = 0; i < n; i++)
		each *= FEW;
	for (i = 0; i < nevents; i++)
		total *= each;
	for (number = 0; number < total; number++) {
		rest = number;
		for (i = 0; i < nevents && nth_event(rest % each, n,
		    t.key + i * n); i++)
			rest /= each;
		if (i == nevents)
			hold(&t, contract);
	}
}

static void
serial_has_the_true_minimum(void)
{
	uint32_t length;

	for (length = 1; length <= LENGTH_MAX; length++)
		every_trace(length, 1, CL_CONTRACT_SERIAL);
}

static void
event_has_the_true_minimum(void)
{

	every_trace(4, 2, CL_CONTRACT_EVENT);
	every_trace(3, 3, CL_CONTRACT_EVENT);
}

static void
random_trace(struct trace *t, uint64_t *rng, uint32_t nevents, uint32_t n,
    uint32_t nkeys)
{
	uint32_t i, j;

	t->nevents = nevents;
	t->n = n;
	for (i = 0; i < nevents * n; i++)
		do {
			t->key[i] = (uint32_t)cl_rng_below(rng, nkeys);
			for (j = i - i % n; j < i && t->key[j] != t->key[i];
			    j++)
				;
		} while (j < i);
}

static void
longer_traces_have_it_too(void)
{
	struct trace t;
	uint64_t rng = 9;
	uint32_t i;

	for (i = 0; i < 200; i++) {
		random_trace(&t, &rng, 40, 1 + i % 3, FEW);
		hold(&t, CL_CONTRACT_EVENT);
		hold(&t, CL_CONTRACT_SERIAL);
	}
}

/* Of residents that are not pinned, the furthest, then the highest. */
static uint32_t
furthest(const bool *resident, const bool *pinned, const uint32_t *next)
{
	uint32_t i, v = CL_CACHE_NO_KEY;

	for (i = 0; i < NKEYS; i++)
		if (resident[i] && !pinned[i] &&
		    (v == CL_CACHE_NO_KEY || next[i] >= next[v]))
			v = i;
	return (v);
}

static void
belady_equals_its_twin(void)
{
	bool resident[NKEYS] = { false }, pinned[NKEYS];
	uint32_t next[NKEYS] = { 0 }, e, i, v, nslots, nused, key;
	const struct cl_cache_outcome *out;
	struct cl_cache *c;
	struct trace t;
	uint64_t rng = 3;

	for (nslots = 1; nslots <= NKEYS; nslots++) {
		memset(resident, 0, sizeof(resident));
		nused = 0;
		random_trace(&t, &rng, NEVENTS, 3, NKEYS);
		look_ahead(&t, true, false);
		c = cache_of("belady", NKEYS, nslots, CL_CONTRACT_EVENT);
		begin(c, &t);
		for (e = 0; e < t.nevents; e++) {
			out = serve(c, &t, e);
			memset(pinned, 0, sizeof(pinned));
			for (i = 3 * e; i < 3 * e + 3; i++)
				pinned[t.key[i]] = resident[t.key[i]];
			for (i = 0; i < 3; i++) {
				key = t.key[3 * e + i];
				v = CL_CACHE_NO_KEY;
				if (!resident[key] && nused == nslots) {
					v = furthest(resident, pinned, next);
					if (v != CL_CACHE_NO_KEY)
						resident[v] = false;
				} else
					nused += !resident[key];
				assert(out->victim[i] == v);
				resident[key] = pinned[key] =
				    !(out->class[i] & CL_CACHE_NOT_KEPT);
			}
			for (i = 3 * e; i < 3 * e + 3; i++)
				next[t.key[i]] = t.next[i];
		}
		cl_cache_free(c);
	}
}

/*
 * A warm cache that is told of a trace's future decides as one that was told
 * of both traces at once.
 */
static void
another_trace_is_foretold_anew(const char *policy)
{
	struct trace both, second;
	uint32_t i, half = NEVENTS / 2;
	const struct cl_cache_outcome *a, *b;
	struct cl_cache *one, *two;
	uint64_t rng = 21;

	random_trace(&both, &rng, NEVENTS, 2, NKEYS);
	second = both;
	memmove(second.key, both.key + 2 * half, half * 2 *
	    sizeof(second.key[0]));
	second.nevents = half;
	foresee(policy, &both, CL_CONTRACT_SERIAL);
	foresee(policy, &second, CL_CONTRACT_SERIAL);
	one = cache_of(policy, NKEYS, 5, CL_CONTRACT_SERIAL);
	two = cache_of(policy, NKEYS, 5, CL_CONTRACT_SERIAL);
	begin(one, &both);
	begin(two, &both);
	for (i = 0; i < half; i++) {
		(void)serve(one, &both, i);
		(void)serve(two, &both, i);
	}
	begin(two, &second);
	for (i = 0; i < half; i++) {
		a = serve(one, &both, half + i);
		b = serve(two, &second, i);
		assert(memcmp(a->class, b->class, 2) == 0);
		assert(memcmp(a->victim, b->victim, 2 *
		    sizeof(a->victim[0])) == 0);
	}
	cl_cache_free(one);
	cl_cache_free(two);
}

static void
a_warm_cache_is_foretold_anew(void)
{

	another_trace_is_foretold_anew("belady");
	another_trace_is_foretold_anew("belady-bypass");
}

static const struct unit units[] = {
	{ "serial: no decisions have fewer misses, on any short trace",
	    serial_has_the_true_minimum },
	{ "event: no decisions have fewer misses, on any short trace",
	    event_has_the_true_minimum },
	{ "no decisions have fewer misses on longer traces either",
	    longer_traces_have_it_too },
	{ "belady decides as a twin that looks at all",
	    belady_equals_its_twin },
	{ "a warm cache is told of another trace's future",
	    a_warm_cache_is_foretold_anew },
};

UNIT_MAIN(units)
