/*
 * Policies that remember who has left, against twins: arc, 2q, s3fifo and
 * lirs.
 */

#include "twin_lists.h"

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

static void
arc_decides_as_its_twin(void)
{

	twin_traces(&(struct form){ "arc", arc_admit, arc_use });
}

static void
twoq_decides_as_its_twin(void)
{

	twin_traces(&(struct form){ "2q", twoq_admit, twoq_use });
}

static void
s3fifo_decides_as_its_twin(void)
{

	twin_traces(&(struct form){ "s3fifo", s3fifo_admit, s3fifo_use });
}

static void
lirs_decides_as_its_twin(void)
{

	twin_traces(&(struct form){ "lirs", lirs_admit, lirs_use });
}

static const struct unit units[] = {
	{ "arc decides as its twin does", arc_decides_as_its_twin },
	{ "2q decides as its twin does", twoq_decides_as_its_twin },
	{ "s3fifo decides as its twin does", s3fifo_decides_as_its_twin },
	{ "lirs decides as its twin does", lirs_decides_as_its_twin },
};

UNIT_MAIN(units)
