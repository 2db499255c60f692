/*
 * The policies that count uses against slow twins written from cl-policies(7),
 * which look at every resident for each victim.
 */

#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/num.h"
#include "cl/rng.h"
#include "unit.h"

#define NEVENTS		3000u
#define MOST_KEYS	300u

/*
 * Few keys meet at every capacity, and an event may have them all.  Many make
 * lfru raise its borders and use a calendar whose days are of several events.
 */
static const struct size {
	uint32_t	nkeys;		/* at most MOST_KEYS */
	uint32_t	nevent;		/* members of an event, at most */
	uint32_t	step;		/* from one capacity to the next */
} sizes[] = {
	{ 24, 24, 1 },
	{ MOST_KEYS, 24, 59 },
};

enum form { LFU, GHOST, AGED, LFRU, STALE };

/* What a twin knows of a key. */
struct known {
	bool		resident;
	bool		pinned;
	uint64_t	since;		/* uses since admission */
	uint64_t	ever;		/* uses over all time */
	uint64_t	event;		/* of the last use */
	uint64_t	pass;		/* the same */
	uint64_t	last;		/* number of the last use */
};

struct twin {
	enum form	form;
	uint32_t	nkeys;
	uint32_t	nslots;
	uint32_t	nresident;
	uint64_t	every;		/* AGED */
	uint64_t	event;
	uint64_t	pass;
	uint64_t	nuses;
	struct known	k[MOST_KEYS];
};

/* Does a leave before b? */
static bool
before(const struct twin *t, const struct known *a, const struct known *b)
{
	uint64_t x = 0, y = 0;

	switch (t->form) {
	case LFU:
	case AGED:
		x = a->since;
		y = b->since;
		break;
	case GHOST:
		x = a->ever;
		y = b->ever;
		break;
	case LFRU:
		x = a->ever * (t->event - b->event + 1);
		y = b->ever * (t->event - a->event + 1);
		break;
	case STALE:
		x = a->pass == t->pass;
		y = b->pass == t->pass;
		break;
	}
	return (x != y ? x < y : a->last < b->last);
}

static uint32_t
victim_of(const struct twin *t)
{
	uint32_t i, v = CL_CACHE_NO_KEY;

	for (i = 0; i < t->nkeys; i++)
		if (t->k[i].resident && !t->k[i].pinned &&
		    (v == CL_CACHE_NO_KEY || before(t, &t->k[i], &t->k[v])))
			v = i;
	return (v);
}

/* Step 3 for a missing key; its victim. */
static uint32_t
admit(struct twin *t, uint32_t key)
{
	uint32_t v = CL_CACHE_NO_KEY;

	if (t->nresident < t->nslots)
		t->nresident++;
	else if ((v = victim_of(t)) == CL_CACHE_NO_KEY)
		return (v);
	else
		t->k[v].resident = false;
	t->k[key].resident = t->k[key].pinned = true;
	t->k[key].since = 0;
	return (v);
}

static void
use(struct twin *t, uint32_t key)
{
	uint32_t i;

	t->k[key].since++;
	t->k[key].ever++;
	t->k[key].event = t->event;
	t->k[key].pass = t->pass;
	t->k[key].last = ++t->nuses;
	if (t->form == AGED && t->nuses % t->every == 0)
		for (i = 0; i < t->nkeys; i++)
			if (t->k[i].since > 1)
				t->k[i].since /= 2;
}

static void
twin_event(struct twin *t, const uint32_t *s, uint32_t n,
    const struct cl_cache_outcome *out, uint32_t at)
{
	uint32_t i;

	t->event++;
	for (i = 0; i < n; i++)
		t->k[s[i]].pinned = t->k[s[i]].resident;
	for (i = 0; i < n; i++) {
		if (t->k[s[i]].resident) {
			assert(out->class[at + i] == CL_CLASS_HIT);
			assert(out->victim[at + i] == CL_CACHE_NO_KEY);
			continue;
		}
		assert(out->class[at + i] != CL_CLASS_HIT);
		assert(out->victim[at + i] == admit(t, s[i]));
		assert(t->k[s[i]].resident ==
		    !(out->class[at + i] & CL_CACHE_NOT_KEPT));
	}
	for (i = 0; i < n; i++)
		use(t, s[i]);
	for (i = 0; i < n; i++)
		t->k[s[i]].pinned = false;
}

/* All of S comes in and is used; then who is worst leaves, until all fit. */
static void
twin_retain(struct twin *t, const uint32_t *s, uint32_t n,
    const struct cl_cache_outcome *out)
{
	bool hit[MOST_KEYS];
	uint32_t i;

	t->event++;
	for (i = 0; i < n; i++) {
		hit[i] = t->k[s[i]].resident;
		if (!hit[i]) {
			t->k[s[i]].resident = true;
			t->k[s[i]].since = 0;
			t->nresident++;
		}
	}
	for (i = 0; i < n; i++)
		use(t, s[i]);
	for (; t->nresident > t->nslots; t->nresident--)
		t->k[victim_of(t)].resident = false;
	for (i = 0; i < n; i++) {
		assert((out->class[i] & 3) != CL_CLASS_HIT || hit[i]);
		assert(!(out->class[i] & CL_CACHE_NOT_KEPT) ==
		    t->k[s[i]].resident);
	}
}

/* Distinct keys, the lower ones more often. */
static uint32_t
random_event(uint64_t *rng, const struct size *size, uint32_t *keys)
{
	uint32_t n = 1 + (uint32_t)cl_rng_below(rng, size->nevent);
	uint32_t i = 0, j, key;

	if (cl_rng_below(rng, 4) != 0)
		n = 1 + n % 4;
	while (i < n) {
		key = (uint32_t)cl_rng_below(rng, size->nkeys);
		if (cl_rng_below(rng, 2) == 0)
			key = (uint32_t)cl_rng_below(rng, key + 1);
		for (j = 0; j < i && keys[j] != key; j++)
			;
		if (j == i)
			keys[i++] = key;
	}
	return (n);
}

static struct cl_cache *
cache_of(const char *policy, const struct size *size, uint32_t nslots,
    enum cl_contract contract)
{
	struct cl_cache_pool pool = { size->nkeys, nslots };
	struct cl_cache_options o = { .pools = &pool, .npools = 1,
	    .nevent = size->nevent, .contract = contract };
	struct cl_cache *c;

	assert(cl_cache_policy_parse(policy, &o.policy, NULL) == CL_OK);
	c = cl_cache_new(&o, NULL);
	assert(c != NULL);
	return (c);
}

static void
run_twin(const char *policy, enum form form, const struct size *size,
    uint32_t nslots, uint64_t every, enum cl_contract contract)
{
	struct cl_cache *c = cache_of(policy, size, nslots, contract);
	struct twin t = { .form = form, .nkeys = size->nkeys,
	    .nslots = nslots, .every = every };
	const struct cl_cache_outcome *out;
	uint64_t rng = 5 * nslots + form;
	uint32_t keys[MOST_KEYS], e, n, i;

	for (e = 0; e < NEVENTS; e++) {
		t.pass += e == 0 || cl_rng_below(&rng, 4) == 0;
		n = random_event(&rng, size, keys);
		out = cl_cache_serve(c, 0, keys, n);
		if (contract == CL_CONTRACT_RETAIN)
			twin_retain(&t, keys, n, out);
		else if (contract == CL_CONTRACT_EVENT)
			twin_event(&t, keys, n, out, 0);
		else
			for (i = 0; i < n; i++)
				twin_event(&t, keys + i, 1, out, i);
	}
	cl_cache_free(c);
}

static void
run_twins(const char *policy, enum form form, uint64_t every)
{
	const struct size *size;
	uint32_t nslots;
	uint64_t n;

	for (size = sizes; size < sizes + sizeof(sizes) / sizeof(sizes[0]);
	    size++)
		for (nslots = 1; nslots <= size->nkeys; nslots += size->step) {
			n = every == 0 ? UINT64_C(10) * nslots : every;
			run_twin(policy, form, size, nslots, n,
			    CL_CONTRACT_EVENT);
			run_twin(policy, form, size, nslots, n,
			    CL_CONTRACT_SERIAL);
			run_twin(policy, form, size, nslots, n,
			    CL_CONTRACT_RETAIN);
		}
}

static void
lfu_equals_its_twin(void)
{

	run_twins("lfu", LFU, 0);
}

static void
lfu_ghost_equals_its_twin(void)
{

	run_twins("lfu-ghost", GHOST, 0);
}

static void
lfu_aged_equals_its_twin(void)
{

	run_twins("lfu-aged", AGED, 0);
	run_twins("lfu-aged:every=1", AGED, 1);
	run_twins("lfu-aged:every=37", AGED, 37);
	run_twins("lfu-aged:every=400", AGED, 400);
}

static void
lfru_equals_its_twin(void)
{

	run_twins("lfru", LFRU, 0);
}

static void
least_stale_equals_its_twin(void)
{

	run_twins("least-stale", STALE, 0);
}

static void
products_are_compared_exactly(void)
{
	const uint64_t big = UINT64_MAX;

	assert(cl_mulcmp(3, 4, 2, 6) == 0);
	assert(cl_mulcmp(3, 4, 13, 1) == -1 && cl_mulcmp(13, 1, 3, 4) == 1);
	assert(cl_mulcmp(big, big, big, big) == 0);
	assert(cl_mulcmp(big, big, big, big - 1) == 1);
	assert(cl_mulcmp(big, 2, big - 1, 2) == 1);
	assert(cl_mulcmp(big, 1, 1, big - 1) == 1);
	assert(cl_mulcmp(1u << 31, 2, 1, UINT64_C(1) << 32) == 0);
	assert(cl_mulcmp(UINT64_C(1) << 40, UINT64_C(1) << 40, 1, big) == 1);
}

static const struct unit units[] = {
	{ "lfu decides as a twin that looks at all", lfu_equals_its_twin },
	{ "lfu-ghost decides as a twin that looks at all",
	    lfu_ghost_equals_its_twin },
	{ "lfu-aged decides as a twin that looks at all",
	    lfu_aged_equals_its_twin },
	{ "lfru decides as a twin that looks at all", lfru_equals_its_twin },
	{ "least-stale decides as a twin that marks passes",
	    least_stale_equals_its_twin },
	{ "products are compared exactly, however large",
	    products_are_compared_exactly },
};

UNIT_MAIN(units)
