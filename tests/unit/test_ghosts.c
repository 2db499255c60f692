/*
 * Policies that remember who has left, against twins written from
 * cl-policies(7) with plain lists, slow and plain, on random traces of small
 * pools: arc, 2q, s3fifo and lirs, under event and serial.
 */

#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cl/rng.h"
#include "unit.h"

#define NKEYS	20
#define NEVENT	6
#define EVENTS	400
#define TRACES	60

enum { A, B, C, D, NLISTS };

/* Lists of keys, the newest first; what more a policy knows. */
struct twin {
	uint32_t	 nslots;
	uint32_t	 n[NLISTS];
	uint32_t	 key[NLISTS][NKEYS];
	bool		 pinned[NKEYS];
	uint32_t	 uses[NKEYS];
	uint32_t	 used[NKEYS];
	uint32_t	 now;
	double		 target;
};

struct form {
	const char	*policy;
	bool		 (*admit)(struct twin *, uint32_t key, uint32_t *victim);
	void		 (*use)(struct twin *, uint32_t key, bool fresh);
};

static bool
in(const struct twin *t, int list, uint32_t key)
{
	uint32_t i;

	for (i = 0; i < t->n[list]; i++)
		if (t->key[list][i] == key)
			return (true);
	return (false);
}

static void
out(struct twin *t, int list, uint32_t key)
{
	uint32_t i = 0;

	while (t->key[list][i] != key)
		i++;
	t->n[list]--;
	memmove(&t->key[list][i], &t->key[list][i + 1],
	    (t->n[list] - i) * sizeof(t->key[list][0]));
}

static void
first(struct twin *t, int list, uint32_t key)
{

	memmove(&t->key[list][1], &t->key[list][0],
	    t->n[list] * sizeof(t->key[list][0]));
	t->key[list][0] = key;
	t->n[list]++;
}

static void
drop_last(struct twin *t, int list)
{

	if (t->n[list] > 0)
		t->n[list]--;
}

/* The last that is not pinned; false where there is none. */
static bool
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

static uint32_t
share(const struct twin *t, uint32_t percent)
{
	uint32_t n = t->nslots * percent / 100;

	return (n > 0 ? n : 1);
}

/* arc: A is T1, B is T2, C is B1, D is B2. */
static bool
arc_admit(struct twin *t, uint32_t key, uint32_t *victim)
{
	bool was1 = in(t, C, key), was2 = in(t, D, key), from1, ghost = true;
	double n1 = t->n[C], n2 = t->n[D], p = t->target;

	if (t->n[A] + t->n[B] < t->nslots) {
		first(t, A, key);
		return (true);
	}
	if (was1)
		p += n2 / n1 > 1 ? n2 / n1 : 1;
	if (was2)
		p -= n1 / n2 > 1 ? n1 / n2 : 1;
	p = p < 0 ? 0 : p > t->nslots ? t->nslots : p;
	from1 = (t->n[A] > 0 && t->n[A] > p) ||
	    (t->n[A] > 0 && t->n[A] == p && was2) || t->n[B] == 0;
	if (!last_free(t, from1 ? A : B, victim)) {
		from1 = !from1;
		if (!last_free(t, from1 ? A : B, victim))
			return (false);
	}
	t->target = p;
	if (was1)
		out(t, C, key);
	else if (was2)
		out(t, D, key);
	else {
		ghost = t->n[A] < t->nslots;
		if (t->n[A] + t->n[C] == t->nslots)
			drop_last(t, C);
		else if (t->n[A] + t->n[B] + t->n[C] + t->n[D] ==
		    2 * t->nslots)
			drop_last(t, D);
	}
	out(t, from1 ? A : B, *victim);
	if (ghost)
		first(t, from1 ? C : D, *victim);
	first(t, was1 || was2 ? B : A, key);
	return (true);
}

static void
arc_use(struct twin *t, uint32_t key, bool fresh)
{
	int list = in(t, A, key) ? A : B;

	if (!in(t, list, key))
		return;
	out(t, list, key);
	first(t, fresh ? list : B, key);
}

/* 2q: A is IN, B is MAIN, C the ghosts. */
static bool
twoq_admit(struct twin *t, uint32_t key, uint32_t *victim)
{
	bool ghost = in(t, C, key);
	int from = t->n[A] > share(t, 25) ? A : B;

	if (t->n[A] + t->n[B] < t->nslots) {
		first(t, A, key);
		return (true);
	}
	if (!last_free(t, from, victim)) {
		from = from == A ? B : A;
		if (!last_free(t, from, victim))
			return (false);
	}
	if (ghost)
		out(t, C, key);
	out(t, from, *victim);
	if (from == A) {
		if (t->n[C] == share(t, 50))
			drop_last(t, C);
		first(t, C, *victim);
	}
	first(t, ghost ? B : A, key);
	return (true);
}

static void
twoq_use(struct twin *t, uint32_t key, bool fresh)
{

	(void)fresh;
	if (in(t, B, key)) {
		out(t, B, key);
		first(t, B, key);
	}
}

/* s3fifo: A is small, B main, C the ghosts. */
static bool
main_gives(struct twin *t, uint32_t *victim)
{

	while (last_free(t, B, victim)) {
		if (t->uses[*victim] == 0)
			return (true);
		t->uses[*victim]--;
		out(t, B, *victim);
		first(t, B, *victim);
	}
	return (false);
}

static bool
small_gives(struct twin *t, uint32_t *victim)
{

	while (last_free(t, A, victim)) {
		if (t->uses[*victim] < 2)
			return (true);
		out(t, A, *victim);
		first(t, B, *victim);
		t->uses[*victim] = 0;
		if (t->n[B] > t->nslots - share(t, 10))
			return (main_gives(t, victim));
	}
	return (main_gives(t, victim));
}

static bool
s3fifo_admit(struct twin *t, uint32_t key, uint32_t *victim)
{
	bool ghost = in(t, C, key);

	if (t->n[A] + t->n[B] == t->nslots) {
		if (t->n[A] >= share(t, 10) || !main_gives(t, victim))
			if (!small_gives(t, victim))
				return (false);
		if (ghost)
			out(t, C, key);
		if (in(t, A, *victim)) {
			out(t, A, *victim);
			if (t->n[C] == share(t, 90))
				drop_last(t, C);
			first(t, C, *victim);
		} else
			out(t, B, *victim);
	}
	first(t, ghost ? B : A, key);
	t->uses[key] = 0;
	return (true);
}

static void
s3fifo_use(struct twin *t, uint32_t key, bool fresh)
{

	if (!fresh && t->uses[key] < 3)
		t->uses[key]++;
}

/* lirs: A is LIR, B the resident HIR; the stack goes by times of use. */
static bool
stacked(const struct twin *t, uint32_t key)
{

	return (t->n[A] > 0 && t->used[key] > t->used[t->key[A][t->n[A] - 1]]);
}

static void
demote(struct twin *t, bool admission)
{
	uint32_t old;

	while (t->n[A] > t->nslots - share(t, 1)) {
		old = t->key[A][t->n[A] - 1];
		if (admission && !last_free(t, A, &old))
			return;
		out(t, A, old);
		first(t, B, old);
	}
}

static bool
lirs_admit(struct twin *t, uint32_t key, uint32_t *victim)
{
	bool soon = stacked(t, key);

	if (t->n[A] + t->n[B] == t->nslots) {
		if (!last_free(t, B, victim) && !last_free(t, A, victim))
			return (false);
		out(t, in(t, B, *victim) ? B : A, *victim);
	}
	first(t, soon || t->n[A] < t->nslots - share(t, 1) ? A : B, key);
	t->used[key] = ++t->now;
	demote(t, true);
	return (true);
}

static void
lirs_use(struct twin *t, uint32_t key, bool fresh)
{
	int list = in(t, A, key) ? A : B, to = list;

	if (!in(t, list, key))
		return;
	if (!fresh && stacked(t, key))
		to = A;
	out(t, list, key);
	first(t, to, key);
	demote(t, false);
	t->used[key] = ++t->now;
}

/* Serve an event by the contract's steps, and compare. */
static void
event(struct twin *t, const struct form *f, const uint32_t *keys, uint32_t n,
    const struct cl_cache_outcome *got, uint32_t at)
{
	bool hit[NEVENT];
	uint32_t i, victim;

	memset(t->pinned, 0, sizeof(t->pinned));
	for (i = 0; i < n; i++) {
		hit[i] = in(t, A, keys[i]) || in(t, B, keys[i]);
		t->pinned[keys[i]] = hit[i];
	}
	for (i = 0; i < n; i++) {
		victim = CL_CACHE_NO_KEY;
		if (!hit[i] && f->admit(t, keys[i], &victim))
			t->pinned[keys[i]] = true;
		else if (!hit[i])
			victim = CL_CACHE_NO_KEY;
		assert(got->victim[at + i] == victim);
		assert(((got->class[at + i] & 3) == CL_CLASS_HIT) == hit[i]);
	}
	for (i = 0; i < n; i++)
		f->use(t, keys[i], !hit[i]);
}

static void
trace(const struct form *f, uint64_t *rng, enum cl_contract contract)
{
	struct cl_cache_pool pool = { NKEYS,
	    1 + (uint32_t)cl_rng_below(rng, 12) };
	struct cl_cache_options o = { .pools = &pool, .npools = 1,
	    .nevent = NEVENT, .contract = contract };
	uint32_t keys[NEVENT], n, i, j, e;
	const struct cl_cache_outcome *got;
	struct twin t = { .nslots = pool.nslots };
	struct cl_cache *c;

	assert(cl_cache_policy_parse(f->policy, &o.policy, NULL) == CL_OK);
	assert((c = cl_cache_new(&o, NULL)) != NULL);
	for (e = 0; e < EVENTS; e++) {
		n = 1 + (uint32_t)cl_rng_below(rng, NEVENT);
		for (i = 0; i < n; i += j == i) {
			keys[i] = (uint32_t)cl_rng_below(rng,
			    1 + cl_rng_below(rng, NKEYS));
			for (j = 0; j < i && keys[j] != keys[i];)
				j++;
		}
		got = cl_cache_serve(c, 0, keys, n);
		if (contract == CL_CONTRACT_EVENT)
			event(&t, f, keys, n, got, 0);
		else
			for (i = 0; i < n; i++)
				event(&t, f, keys + i, 1, got, i);
	}
	cl_cache_free(c);
}

static void
traces(const struct form *f)
{
	uint64_t rng = 5;
	uint32_t i;

	for (i = 0; i < TRACES; i++) {
		trace(f, &rng, CL_CONTRACT_EVENT);
		trace(f, &rng, CL_CONTRACT_SERIAL);
	}
}

static void
arc_decides_as_its_twin(void)
{

	traces(&(struct form){ "arc", arc_admit, arc_use });
}

static void
twoq_decides_as_its_twin(void)
{

	traces(&(struct form){ "2q", twoq_admit, twoq_use });
}

static void
s3fifo_decides_as_its_twin(void)
{

	traces(&(struct form){ "s3fifo", s3fifo_admit, s3fifo_use });
}

static void
lirs_decides_as_its_twin(void)
{

	traces(&(struct form){ "lirs", lirs_admit, lirs_use });
}

static const struct unit units[] = {
	{ "arc decides as its twin does", arc_decides_as_its_twin },
	{ "2q decides as its twin does", twoq_decides_as_its_twin },
	{ "s3fifo decides as its twin does", s3fifo_decides_as_its_twin },
	{ "lirs decides as its twin does", lirs_decides_as_its_twin },
};

UNIT_MAIN(units)
