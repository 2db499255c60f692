/*
 * The policies that know the future against the true minimum, found by trying
 * every decision there is, on every short trace; and against a twin that looks
 * at every resident for each victim, in caches that have seen other traces.
 */

#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/order.h"
#include "cl/rng.h"
#include "unit.h"

#define FEW		4u		/* experts of short traces */
#define SETS		(1u << FEW)
#define LENGTH_MAX	8u		/* accesses of a short trace */
#define NKEYS		40u
#define NEVENTS		400u
#define NACCESSES	1600u
#define TABLE		64u		/* entries of belady's smallest one */

/* A trace: event i is the n keys from key[i x n] on. */
struct trace {
	uint32_t	nevents;
	uint32_t	n;
	uint32_t	key[NACCESSES];
	uint32_t	next[NACCESSES];
	uint32_t	at[NACCESSES + NKEYS];	/* keys, by place */
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
	uint32_t place[NACCESSES + NKEYS], n = t->nevents * t->n;
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

	look_ahead(t, contract != CL_CONTRACT_SERIAL,
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

/* Is access i the same as another one of its event before it? */
static bool
repeats(const struct trace *t, uint32_t i)
{
	uint32_t j = i - i % t->n;

	while (j < i && t->key[j] != t->key[i])
		j++;
	return (j < i);
}

static void
random_trace(struct trace *t, uint64_t *rng, uint32_t nevents, uint32_t n,
    uint32_t nkeys)
{
	uint32_t i;

	t->nevents = nevents;
	t->n = n;
	for (i = 0; i < nevents * n; i++)
		do
			t->key[i] = (uint32_t)cl_rng_below(rng, nkeys);
		while (repeats(t, i));
}

/* Of some keys alone, but for a while from access `any` on. */
static void
random_phase(struct trace *t, uint64_t *rng, uint32_t nevents, uint32_t n,
    uint32_t nkeys, uint32_t any)
{
	uint32_t i, base = (uint32_t)cl_rng_below(rng, nkeys);
	uint32_t some = n + (uint32_t)cl_rng_below(rng, nkeys - n + 1), of;

	t->nevents = nevents;
	t->n = n;
	for (i = 0; i < nevents * n; i++)
		do {
			of = i >= any && i < any + nkeys ? nkeys : some;
			t->key[i] = (base + (uint32_t)cl_rng_below(rng, of)) %
			    nkeys;
		} while (repeats(t, i));
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

/* What looks at all, and at nobody's places but those that are told. */
struct twin {
	bool		 bypass;
	uint32_t	 nslots;
	uint32_t	 nused;
	uint32_t	 naccesses;	/* places of uses */
	bool		 resident[NKEYS];
	bool		 pinned[NKEYS];
	uint32_t	 next[NKEYS];

	/* the event at hand */
	const uint32_t	*key;		/* of each member ... */
	const uint32_t	*then;		/* its use after this one */
	uint32_t	 n;
	bool		 hit[NKEYS];
	bool		 kept[NKEYS];
	uint32_t	 victim[NKEYS];
};

/* Of residents that are not pinned, the furthest. */
static uint32_t
furthest(const struct twin *w)
{
	uint32_t i, v = CL_CACHE_NO_KEY;

	for (i = 0; i < NKEYS; i++)
		if (w->resident[i] && !w->pinned[i] &&
		    (v == CL_CACHE_NO_KEY || w->next[i] > w->next[v]))
			v = i;
	return (v);
}

/* Room for one more: a free slot, or that of a victim. */
static bool
make_room(struct twin *w, uint32_t *victim)
{

	*victim = CL_CACHE_NO_KEY;
	if (w->nused < w->nslots) {
		w->nused++;
		return (true);
	}
	if ((*victim = furthest(w)) == CL_CACHE_NO_KEY)
		return (false);
	w->resident[*victim] = false;
	return (true);
}

/* All that are missing come in, one after another. */
static void
twin_admit(struct twin *w)
{
	uint32_t i, key;

	for (i = 0; i < w->n; i++) {
		key = w->key[i];
		if (!w->kept[i])
			w->kept[i] = make_room(w, &w->victim[i]);
		w->resident[key] = w->pinned[key] = w->kept[i];
	}
}

/* The nearest of all that are missing come in, while they gain by it. */
static void
twin_choose(struct twin *w)
{
	uint32_t i, best, v, left[NKEYS], nleft = 0, nkept = 0;
	bool full, in[NKEYS] = { false };

	for (;;) {
		for (best = w->n, i = 0; i < w->n; i++)
			if (!w->kept[i] && !in[i] && (best == w->n ||
			    w->then[i] < w->then[best]))
				best = i;
		full = w->nused + nkept == w->nslots;
		v = furthest(w);
		if (best == w->n || (full && (v == CL_CACHE_NO_KEY ||
		    w->then[best] > w->next[v] ||
		    w->then[best] >= w->naccesses)))
			break;
		in[best] = true;
		if (full)
			w->resident[left[nleft++] = v] = false;
		else
			nkept++;
	}
	w->nused += nkept;
	for (v = 0, i = 0; i < w->n; i++) {
		w->kept[i] |= in[i];
		w->resident[w->key[i]] = w->kept[i];
		if (in[i] && nkept > 0)
			nkept--;
		else if (in[i])
			w->victim[i] = left[v++];
	}
}

/* All come in, and who is furthest leaves, newcomer or not. */
static void
twin_retain(struct twin *w)
{
	uint32_t i, nin = w->nused, v, left[NKEYS], nleft = 0;
	bool old[NKEYS];

	memcpy(old, w->resident, sizeof(old));
	for (i = 0; i < w->n; i++) {
		nin += !w->resident[w->key[i]];
		w->resident[w->key[i]] = true;
		w->next[w->key[i]] = w->then[i];
	}
	for (; nin > w->nslots; nin--) {
		w->resident[v = furthest(w)] = false;
		if (old[v])
			left[nleft++] = v;
	}
	for (v = 0, i = 0; i < w->n; i++) {
		w->kept[i] = w->resident[w->key[i]];
		if (!w->kept[i] || old[w->key[i]])
			continue;
		if (w->nused < w->nslots)
			w->nused++;
		else
			w->victim[i] = left[v++];
	}
}

/* So many members from access i of a trace on are an event. */
static void
twin_serve(struct twin *w, const struct trace *t, uint32_t i, uint32_t n,
    enum cl_contract contract)
{

	w->key = t->key + i;
	w->then = t->next + i;
	w->n = n;
	memset(w->pinned, 0, sizeof(w->pinned));
	for (i = 0; i < n; i++) {
		w->victim[i] = CL_CACHE_NO_KEY;
		w->hit[i] = w->kept[i] = w->resident[w->key[i]];
		w->pinned[w->key[i]] = w->hit[i];
	}
	if (contract == CL_CONTRACT_RETAIN) {
		memset(w->pinned, 0, sizeof(w->pinned));
		twin_retain(w);
	} else if (w->bypass)
		twin_choose(w);
	else
		twin_admit(w);
	for (i = 0; i < n; i++)
		w->next[w->key[i]] = w->then[i];
}

/* A cache and its twin go through a trace, whatever they had before. */
static void
agree(struct cl_cache *c, struct twin *w, const struct trace *t,
    enum cl_contract contract)
{
	uint32_t n = contract == CL_CONTRACT_SERIAL ? 1 : t->n, e, i, j;
	const struct cl_cache_outcome *out;

	begin(c, t);
	memcpy(w->next, t->first, sizeof(w->next));
	w->naccesses = t->nevents * t->n;
	for (e = 0; e < t->nevents; e++) {
		out = serve(c, t, e);
		for (i = 0; i < t->n; i++) {
			j = i % n;
			if (j == 0)
				twin_serve(w, t, e * t->n + i, n, contract);
			assert(((out->class[i] & 3) == CL_CLASS_HIT) ==
			    w->hit[j]);
			assert(out->victim[i] == w->victim[j]);
			assert(!(out->class[i] & CL_CACHE_NOT_KEPT) ==
			    w->kept[j]);
		}
	}
}

static const struct way {
	const char	*policy;
	enum cl_contract contract;
} ways[] = {
	{ "belady", CL_CONTRACT_SERIAL },
	{ "belady", CL_CONTRACT_EVENT },
	{ "belady", CL_CONTRACT_RETAIN },
	{ "belady-bypass", CL_CONTRACT_SERIAL },
	{ "belady-bypass", CL_CONTRACT_EVENT },
};

#define NWAYS		(sizeof(ways) / sizeof(ways[0]))

/*
 * One cache and several traces, of lengths that the table confuses: where all
 * were over before, keys come that have not been used since.
 */
static void
a_few_traces(const struct way *way, uint64_t *rng)
{
	uint32_t nkeys = 4 + (uint32_t)cl_rng_below(rng, 13), i, nevents;
	uint32_t nslots = 1 + (uint32_t)cl_rng_below(rng, nkeys);
	uint32_t n = 1 + (uint32_t)cl_rng_below(rng, 3);
	struct cl_cache *c = cache_of(way->policy, nkeys, nslots,
	    way->contract);
	struct twin w = { .nslots = nslots,
	    .bypass = strcmp(way->policy, "belady") != 0 };
	struct trace t;

	for (i = 0; i < 6; i++) {
		nevents = TABLE * (uint32_t)cl_rng_below(rng, 4);
		if (cl_rng_below(rng, 4) == 0)
			nevents += (uint32_t)cl_rng_below(rng, TABLE);
		random_phase(&t, rng, nevents, n, nkeys, w.naccesses);
		foresee(way->policy, &t, way->contract);
		agree(c, &w, &t, way->contract);
	}
	cl_cache_free(c);
}

static void
traces_one_after_another_equal_the_twin(void)
{
	uint64_t rng = 3;
	uint32_t i, j;

	for (i = 0; i < NWAYS; i++)
		for (j = 0; j < 2000; j++)
			a_few_traces(&ways[i], &rng);
}

/* As many members as are few, and one more, in free and in taken slots. */
static void
large_events_equal_the_twin(void)
{
	struct trace t;
	struct cl_cache *c;
	uint64_t rng = 5;
	uint32_t i, n, nslots;

	for (i = 0; i < NWAYS; i++)
		for (n = CL_ORDER_FEW; n <= CL_ORDER_FEW + 1; n++)
			for (nslots = 1; nslots <= NKEYS; nslots++) {
				struct twin w = { .nslots = nslots,
				    .bypass = strcmp(ways[i].policy,
				    "belady") != 0 };

				random_trace(&t, &rng, 24, n, NKEYS);
				foresee(ways[i].policy, &t, ways[i].contract);
				c = cache_of(ways[i].policy, NKEYS, nslots,
				    ways[i].contract);
				agree(c, &w, &t, ways[i].contract);
				cl_cache_free(c);
			}
}

static const struct unit units[] = {
	{ "serial: no decisions have fewer misses, on any short trace",
	    serial_has_the_true_minimum },
	{ "event: no decisions have fewer misses, on any short trace",
	    event_has_the_true_minimum },
	{ "no decisions have fewer misses on longer traces either",
	    longer_traces_have_it_too },
	{ "one trace after another is decided as by a twin that looks at all",
	    traces_one_after_another_equal_the_twin },
	{ "so are events that are large", large_events_equal_the_twin },
};

UNIT_MAIN(units)
