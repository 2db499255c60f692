/*
 * The quality of decisions against a twin that looks at everybody, on random
 * events; and what must come of traces whose answer is known.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/lookahead.h"
#include "cl/quality.h"
#include "cl/rng.h"
#include "unit.h"

#define NCOLUMNS	2u
#define NEXPERTS	7u
#define NKEYS		(NCOLUMNS * NEXPERTS)
#define NEVENTS		400u
#define MEMBERS		4u

static struct cl_keys_column column[NCOLUMNS] = {
	{ .layer = 1, .base = 0, .nexperts = NEXPERTS, .k = MEMBERS },
	{ .layer = 4, .base = NEXPERTS, .nexperts = NEXPERTS, .k = MEMBERS }
};
static uint32_t order[NCOLUMNS] = { 0, 1 };
static const struct cl_keys keys = { .order = order, .ncolumns = NCOLUMNS, .nkeys = NKEYS,
    .nlargest = NEXPERTS, .kmax = MEMBERS, .column = column };

static struct {
	uint32_t	key[MEMBERS];
	uint32_t	n;
	uint32_t	time[MEMBERS];	/* of each access */
} event[NEVENTS];
static uint32_t end;

struct twin {
	struct cl_quality_sum all;
	struct cl_quality_sum column[NCOLUMNS];
	bool		 in[NKEYS];
	bool		 gone[NKEYS];
	uint64_t	 left_at[NKEYS];
	uint64_t	 tokens;
	uint64_t	 returns[66];
};

static void
set_times(enum cl_contract contract)
{
	uint32_t i, k;

	for (end = 0, i = 0; i < NEVENTS; i++) {
		for (k = 0; k < event[i].n; k++)
			event[i].time[k] = contract == CL_CONTRACT_SERIAL ?
			    end++ : end;
		end += contract != CL_CONTRACT_SERIAL;
	}
}

/* Distinct keys of one column. */
static void
random_events(uint64_t seed)
{
	uint32_t i, k, e, base;
	bool in[NEXPERTS];

	for (i = 0; i < NEVENTS; i++) {
		memset(in, 0, sizeof(in));
		base = cl_rng_below(&seed, 2) == 0 ? 0 : NEXPERTS;
		event[i].n = 1 + (uint32_t)cl_rng_below(&seed, MEMBERS);
		for (k = 0; k < event[i].n; in[e] = true) {
			e = (uint32_t)cl_rng_below(&seed, NEXPERTS);
			e = (uint32_t)cl_rng_below(&seed, e + 1);
			if (!in[e])
				event[i].key[k++] = base + e;
		}
	}
}

static uint32_t
next_use(uint32_t key, uint32_t now)
{
	uint32_t i, k;

	for (i = 0; i < NEVENTS; i++)
		for (k = 0; k < event[i].n; k++)
			if (event[i].key[k] == key && event[i].time[k] > now)
				return (event[i].time[k]);
	return (CL_LOOKAHEAD_NEVER);
}

static uint32_t
clip(uint32_t v)
{

	return (v < end ? v : end);
}

static void
twin_victim(struct cl_quality_sum *s, uint32_t next, uint32_t newcomer,
    uint32_t far, bool retain)
{

	s->evictions++;
	s->optimal += far <= next;
	s->regret += far > next ? clip(far) - clip(next) : 0;
	s->never_stayed += far == CL_LOOKAHEAD_NEVER && next != CL_LOOKAHEAD_NEVER;
	s->newcomer_later += !retain && newcomer > next;
}

/* far is 0 where nobody else could have left: all are used after time 0. */
static void
twin_event(struct twin *t, enum cl_contract contract, bool by_layer,
    const uint32_t *key, uint32_t n, uint32_t now,
    const struct cl_cache_outcome *out)
{
	bool retain = contract == CL_CONTRACT_RETAIN, member[NKEYS] = { false };
	uint32_t i, k, far = 0, next;
	unsigned b;
	uint64_t d;

	for (i = 0; i < n; i++) {
		member[key[i]] = true;
		if ((out->class[i] & 3) == CL_CLASS_HIT || !t->gone[key[i]])
			continue;
		t->gone[key[i]] = false;
		t->all.returned++;
		t->column[key[i] / NEXPERTS].returned++;
		for (d = t->tokens - t->left_at[key[i]], b = 0; d > 0; d /= 2)
			b++;
		t->returns[b]++;
	}
	for (i = 0; i < n; i++)
		if (out->victim[i] != CL_CACHE_NO_KEY)
			t->in[out->victim[i]] = false;
	for (i = 0; i < n; i++)
		if ((out->class[i] & CL_CACHE_NOT_KEPT) == 0)
			t->in[key[i]] = true;
	for (k = 0; k < NKEYS; k++) {
		if (!t->in[k] || (member[k] && !retain) ||
		    (by_layer && k / NEXPERTS != key[0] / NEXPERTS))
			continue;
		next = next_use(k, now);
		far = next > far ? next : far;
	}
	for (i = 0; i < n; i++) {
		if ((k = out->victim[i]) != CL_CACHE_NO_KEY) {
			twin_victim(&t->all, next_use(k, now),
			    next_use(key[i], now), far, retain);
			twin_victim(&t->column[k / NEXPERTS],
			    next_use(k, now), next_use(key[i], now), far,
			    retain);
			t->gone[k] = true;
			t->left_at[k] = t->tokens;
		} else if ((out->class[i] & 3) != CL_CLASS_HIT && far > 0 &&
		    (out->class[i] & CL_CACHE_NOT_KEPT) != 0) {
			t->all.refusals++;
			t->all.refusals_optimal += next_use(key[i], now) >= far;
			t->column[key[i] / NEXPERTS].refusals++;
			t->column[key[i] / NEXPERTS].refusals_optimal +=
			    next_use(key[i], now) >= far;
		}
	}
}

/* All events, each a pass, and what the cache must know of them. */
static struct cl_lookahead *
look_ahead(struct cl_cache *c, const struct cl_cache_options *o, bool by_layer)
{
	enum cl_cache_future future = o->policy.info->foresees;
	struct cl_lookahead *l = cl_lookahead_new(&keys, NULL);
	struct cl_event of[NCOLUMNS];
	struct cl_pass pass = { .event = of };
	uint32_t i;

	assert(l != NULL);
	for (i = 0; i < NEVENTS; i++) {
		memset(of, 0, sizeof(of));
		of[event[i].key[0] / NEXPERTS].keys = event[i].key;
		of[event[i].key[0] / NEXPERTS].n = event[i].n;
		assert(cl_lookahead_add(l, &pass, NULL) == CL_OK);
	}
	assert(cl_lookahead_look(l, o->contract, future, by_layer ? order :
	    NULL, o->npools, NULL) == CL_OK);
	assert(cl_lookahead_tell_times(l, o->contract, NULL) == CL_OK);
	assert(cl_lookahead_end(l) == end);
	if (future != CL_FUTURE_NONE)
		assert(cl_cache_begin(c, cl_lookahead_places(l),
		    cl_lookahead_first(l), NULL) == CL_OK);
	return (l);
}

/* A run of all events; the sum of all, checked against the twin. */
static struct cl_quality_sum
run(const char *policy, enum cl_contract contract, bool by_layer,
    uint32_t nslots)
{
	const struct cl_cache_pool pools[] = {
		{ by_layer ? NEXPERTS : NKEYS, nslots }, { NEXPERTS, nslots } };
	struct cl_cache_options o = { .pools = pools, .nevent = NEXPERTS,
	    .npools = by_layer ? NCOLUMNS : 1, .contract = contract };
	struct cl_quality_options qo = { &keys, contract,
	    by_layer ? order : NULL, 0 };
	const uint32_t *const *place, *next;
	const struct cl_pass *pass;
	struct cl_lookahead *l;
	const struct cl_cache_outcome *out;
	struct cl_quality_sum sum;
	struct cl_quality *q;
	struct cl_cache *c;
	struct twin t;
	uint32_t i, k, step, m, at;

	memset(&t, 0, sizeof(t));
	set_times(contract);
	qo.end = end;
	assert(cl_cache_policy_parse(policy, &o.policy, NULL) == CL_OK);
	c = cl_cache_new(&o, NULL);
	q = cl_quality_new(&qo, NULL);
	assert(c != NULL && q != NULL);
	l = look_ahead(c, &o, by_layer);
	for (i = 0; i < NEVENTS; i++) {
		step = contract == CL_CONTRACT_SERIAL ? 1 : event[i].n;
		at = event[i].key[0] / NEXPERTS;
		assert(cl_lookahead_next(l, &pass, &place) == CL_OK);
		next = cl_lookahead_times(l)[at];
		for (k = 0; k < event[i].n; k += step) {
			for (m = 0; m < step; m++)
				assert(next[k + m] == next_use(
				    event[i].key[k + m],
				    event[i].time[k + m]));
			if (o.policy.info->foresees != CL_FUTURE_NONE)
				cl_cache_foretell(c, event[i].key + k,
				    place[at] + k, step);
			out = cl_cache_serve(c, by_layer ? at : 0,
			    event[i].key + k, step);
			twin_event(&t, contract, by_layer, event[i].key + k,
			    step, event[i].time[k], out);
			cl_quality_event(q, i % 2, event[i].key + k,
			    next + k, step, out);
		}
		cl_quality_tokens(q, i % 3);
		t.tokens += i % 3;
	}
	sum = *cl_quality_sum(q, -1, -1);
	assert(memcmp(&sum, &t.all, sizeof(sum)) == 0);
	for (i = 0; i < NCOLUMNS; i++)
		assert(memcmp(cl_quality_sum(q, -1, i), &t.column[i],
		    sizeof(sum)) == 0);
	assert(cl_quality_sum(q, 0, -1)->evictions +
	    cl_quality_sum(q, 1, -1)->evictions == sum.evictions);
	for (i = 0; i < 66; i++)
		assert(cl_quality_returns(q, i) == t.returns[i]);
	cl_quality_free(q);
	cl_cache_free(c);
	cl_lookahead_free(l);
	return (sum);
}

static void
it_is_its_twin(void)
{
	static const char *const policies[] = { "lru", "fifo", "lfu",
	    "random", "wtinylfu:window=30", "sieve", "arc", "s3fifo", "none",
	    "infinite", "belady" };
	struct cl_cache_policy p;
	uint64_t evictions = 0, refusals = 0;
	struct cl_quality_sum s;
	unsigned i, w;

	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		for (w = 0; w < 18; w++) {
			assert(cl_cache_policy_parse(policies[i], &p, NULL) ==
			    CL_OK);
			if (w / 6 == CL_CONTRACT_RETAIN &&
			    !p.info->total_order)
				continue;
			random_events(0x9ea1 + w);
			s = run(policies[i], (enum cl_contract)(w / 6),
			    w % 2 != 0, 2 + w % 3 * 2);
			evictions += s.evictions;
			refusals += s.refusals;
		}
	assert(evictions > 10000 && refusals > 100);
}

static void
belady_has_nothing_to_regret(void)
{
	struct cl_quality_sum s;
	unsigned w;

	for (w = 0; w < 12; w++) {
		random_events(77 + w);
		s = run("belady", w % 2 == 0 ? CL_CONTRACT_EVENT :
		    CL_CONTRACT_SERIAL, w / 6 != 0, 2 + w % 3 * 2);
		assert(s.evictions > 0 && s.optimal == s.evictions);
		assert(s.regret == 0 && s.never_stayed == 0);
		s = run("belady-bypass", CL_CONTRACT_SERIAL, w / 6 != 0,
		    2 + w % 3 * 2);
		assert(s.refusals > 0 && s.refusals_optimal == s.refusals);
		assert(s.optimal == s.evictions && s.newcomer_later == 0);
	}
}

/* Round and round over one key more than fits: the victim is needed next. */
static void
lru_on_a_circle_is_always_wrong(void)
{
	struct cl_quality_sum s;
	uint32_t i, n = 5;

	for (i = 0; i < NEVENTS; i++) {
		event[i].n = 1;
		event[i].key[0] = i % (n + 1);
	}
	s = run("lru", CL_CONTRACT_SERIAL, false, n);
	assert(s.evictions == NEVENTS - n);
	/* At the end, nobody is used again before or behind another. */
	assert(s.optimal <= 1 && s.returned == NEVENTS - n - 1);
	/* The victim is wanted after 1 access, the furthest after n. */
	assert(s.regret >= (uint64_t)(n - 1) * (NEVENTS - 2 * n - 2));
	assert(s.regret <= (uint64_t)(n - 1) * s.evictions);
}

static const struct unit units[] = {
	{ "victims, refusals, regret and returns are those of a twin that looks"
	    " at everybody", it_is_its_twin },
	{ "belady has nothing to regret", belady_has_nothing_to_regret },
	{ "lru on a circle is always wrong, by as much as there is",
	    lru_on_a_circle_is_always_wrong },
};

UNIT_MAIN(units)
