/*
 * A hit is an interval on the line of accesses, from the use before to this
 * one, through which a slot was its key's.  So the most hits are the most
 * intervals that fit on as many tracks as there are slots, and these are had by
 * taking intervals in the order of their ends: each goes on the track that was
 * left last among those that were left in time, or on one that is unused yet;
 * where there is neither, it is a miss.  What is taken is best for each
 * beginning of the line, as the hits of belady are, and so they are the same.
 *
 * Who may refuse what it misses has a track for each slot, and one that was
 * left at a place is free from that place on.  Who may not has a slot less, as
 * one is that of the access at hand, and between an access and the next there is
 * nobody else: a track that was left at the next place is in time, too, and
 * who is used twice on end always hits.
 *
 * Tracks are bits at the places where they were left, no two at one; a bit of
 * the level above says that a word is not zero.  The line is LENGTH places for
 * each key.  Where it ends, the places that matter move to its front in their
 * order: those of the last uses, those behind them, and those of the tracks.
 * They are at most four for each key, so that twelve accesses for each pay for
 * the step.  Place 0 is of nobody: a key that was not used is there.
 */

#include <assert.h>
#include <stdlib.h>

#include "cl/err.h"
#include "cl/opt.h"

#define WORD	64u			/* places */
#define LENGTH	16u			/* of the line, in keys */
#define LEVELS	3u			/* those above are looked through */

struct tracks {
	uint64_t	*level[LEVELS];
	uint32_t	 nunused;
	uint64_t	 nhits;
};

struct cl_opt {
	uint32_t	 nkeys;
	uint32_t	 nwords[LEVELS];
	uint32_t	 next;		/* the place of the next access */
	uint32_t	 end;		/* places */
	uint32_t	*place;		/* of each key's last use */
	struct tracks	 demand;
	struct tracks	 bypass;
	uint64_t	*matters;	/* a bit for each place, while moving */
	uint32_t	*before;	/* of each word: bits in those before */
	uint64_t	 accesses;
	uint64_t	 cold;
};

static int
open_tracks(const struct cl_opt *o, struct tracks *t, uint32_t ntracks)
{
	unsigned i;

	t->nunused = ntracks;
	for (i = 0; i < LEVELS; i++)
		if ((t->level[i] = calloc(o->nwords[i],
		    sizeof(*t->level[i]))) == NULL)
			return (CL_ENOMEM);
	return (CL_OK);
}

struct cl_opt *
cl_opt_new(uint32_t nkeys, uint32_t capacity, struct cl_err *err)
{
	struct cl_opt *o;
	uint32_t n;
	unsigned i;

	assert(nkeys > 0 && nkeys < 1u << 27 && capacity > 0);
	if ((o = calloc(1, sizeof(*o))) == NULL)
		goto nomem;
	o->nkeys = nkeys;
	o->next = 1;
	for (i = 0, n = LENGTH * nkeys; i < LEVELS; i++)
		o->nwords[i] = n = n / WORD + 1;
	o->end = o->nwords[0] * WORD;
	o->place = calloc(nkeys, sizeof(*o->place));
	o->matters = calloc(o->nwords[0], sizeof(*o->matters));
	o->before = calloc(o->nwords[0], sizeof(*o->before));
	if (capacity > nkeys)
		capacity = nkeys;
	if (o->place != NULL && o->matters != NULL && o->before != NULL &&
	    open_tracks(o, &o->demand, capacity - 1) == CL_OK &&
	    open_tracks(o, &o->bypass, capacity) == CL_OK)
		return (o);

nomem:
	cl_fail_nomem(err, "a bound of hits");
	cl_opt_free(o);
	return (NULL);
}

static inline uint32_t
highest(uint64_t word)
{

	return (WORD - 1 - (uint32_t)__builtin_clzll(word));
}

static inline uint64_t
bit(uint32_t i)
{

	return (UINT64_C(1) << i % WORD);
}

/* The last word below i of a level that is not zero, or UINT32_MAX. */
static uint32_t
last_below(const struct tracks *t, unsigned level, uint32_t i)
{
	uint64_t word;

	if (level == LEVELS) {
		while (i-- > 0)
			if (t->level[LEVELS - 1][i] != 0)
				return (i);
		return (UINT32_MAX);
	}
	word = t->level[level][i / WORD] & (bit(i) - 1);
	if (word != 0)
		return (i / WORD * WORD + highest(word));
	i = last_below(t, level + 1, i / WORD);
	return (i == UINT32_MAX ? i : i * WORD + highest(t->level[level][i]));
}

static inline void
put(struct tracks *t, uint32_t place)
{
	unsigned i;

	for (i = 0; i < LEVELS; i++, place /= WORD)
		t->level[i][place / WORD] |= bit(place);
}

static inline void
take(struct tracks *t, uint32_t place)
{
	unsigned i;

	for (i = 0; i < LEVELS; i++, place /= WORD)
		if ((t->level[i][place / WORD] &= ~bit(place)) != 0)
			return;
}

/* An interval that needs a track that was left by `from` ends at a place. */
static inline void
fit(struct tracks *t, uint32_t from, uint32_t place)
{
	uint32_t left = last_below(t, 0, from + 1);

	if (left != UINT32_MAX)
		take(t, left);
	else if (t->nunused > 0)
		t->nunused--;
	else
		return;
	put(t, place);
	t->nhits++;
}

/* Where a place moves to: how many that matter are not behind it. */
static inline uint32_t
moved(const struct cl_opt *o, uint32_t place)
{
	uint64_t word = o->matters[place / WORD] & (bit(place) * 2 - 1);

	return (o->before[place / WORD] +
	    (uint32_t)__builtin_popcountll(word));
}

/* None moves back, and none past another. */
static void
move_tracks(const struct cl_opt *o, struct tracks *t)
{
	uint64_t word;
	uint32_t i, j;

	for (i = 0; i < o->nwords[0]; i++) {
		word = t->level[0][i];
		t->level[0][i] = 0;
		for (; word != 0; word &= word - 1) {
			j = moved(o, i * WORD +
			    (uint32_t)__builtin_ctzll(word));
			t->level[0][j / WORD] |= bit(j);
		}
	}
	for (j = 1; j < LEVELS; j++) {
		for (i = 0; i < o->nwords[j]; i++)
			t->level[j][i] = 0;
		for (i = 0; i < o->nwords[j - 1]; i++)
			if (t->level[j - 1][i] != 0)
				t->level[j][i / WORD] |= bit(i);
	}
}

static void
move(struct cl_opt *o)
{
	uint32_t i, n = 0;

	for (i = 0; i < o->nwords[0]; i++)
		o->matters[i] = o->demand.level[0][i] | o->bypass.level[0][i];
	for (i = 0; i < o->nkeys; i++)
		if (o->place[i] != 0) {
			o->matters[o->place[i] / WORD] |= bit(o->place[i]);
			o->matters[(o->place[i] + 1) / WORD] |=
			    bit(o->place[i] + 1);
		}
	for (i = 0; i < o->nwords[0]; i++) {
		o->before[i] = n;
		n += (uint32_t)__builtin_popcountll(o->matters[i]);
	}
	move_tracks(o, &o->demand);
	move_tracks(o, &o->bypass);
	for (i = 0; i < o->nkeys; i++)
		if (o->place[i] != 0)
			o->place[i] = moved(o, o->place[i]);
	o->next = n;			/* behind the last use, which matters */
}

void
cl_opt_use(struct cl_opt *o, const uint32_t *keys, uint32_t n)
{
	uint32_t i, from, to;

	o->accesses += n;
	for (i = 0; i < n; i++) {
		from = o->place[keys[i]];
		o->place[keys[i]] = to = o->next++;
		if (from == 0)
			o->cold++;
		else {
			fit(&o->bypass, from, to);
			if (from + 1 == to)
				o->demand.nhits++;
			else
				fit(&o->demand, from + 1, to);
		}
		if (o->next == o->end - 1)
			move(o);
	}
}

void
cl_opt_reset(struct cl_opt *o)
{

	o->accesses = o->cold = 0;
	o->demand.nhits = o->bypass.nhits = 0;
}

void
cl_opt_counts(const struct cl_opt *o, struct cl_opt_counts *c)
{

	*c = (struct cl_opt_counts){ .accesses = o->accesses,
	    .cold = o->cold, .hits_demand = o->demand.nhits,
	    .hits_bypass = o->bypass.nhits };
}

void
cl_opt_free(struct cl_opt *o)
{
	unsigned i;

	if (o == NULL)
		return;
	for (i = 0; i < LEVELS; i++) {
		free(o->demand.level[i]);
		free(o->bypass.level[i]);
	}
	free(o->place);
	free(o->matters);
	free(o->before);
	free(o);
}
