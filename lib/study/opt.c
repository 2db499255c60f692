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
 * one is that of the access at hand, and between an access and the next there
 * is nobody else: a track that was left at the next place is in time, too, and
 * who is used twice on end always hits.
 *
 * Tracks are bits at the places where they were left, no two at one; unused
 * ones are before the first use.  The word in which the next place is is looked
 * at as it is; of those before it, a bit of the level above says which are not
 * zero.  Most who hit find their track in the word they ask first, and most who
 * miss come from before the first track, so one branch that is seldom taken
 * leaves both to arithmetic: a branch by hit could not be foretold.
 *
 * The line is LENGTH places for each key.  Where it ends, the places that
 * matter move to its front in their order: those of the last uses, those behind
 * them, and those of the tracks.  They are at most four for each key, so that
 * twelve accesses for each pay for the step.  Places below FRONT are of nobody:
 * a key that was not used is at 0, where no track is, nor at the next.
 */

#include <assert.h>
#include <stdlib.h>

#include "cl/err.h"
#include "cl/num.h"
#include "cl/opt.h"

#define WORD	64u			/* places */
#define LENGTH	16u			/* of the line, in keys */
#define LEVELS	3u			/* those above are looked through */
#define FRONT	2u			/* places */

struct tracks {
	uint64_t	*level[LEVELS];
	uint32_t	 first;		/* no word below is not zero */
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

/* Words from .. to are no longer that of the next place. */
static void
leave(struct tracks *t, uint32_t from, uint32_t to)
{
	uint32_t i, at;

	for (; from < to; from++)
		for (i = 1, at = from; i < LEVELS &&
		    t->level[i - 1][at] != 0; i++, at /= WORD)
			t->level[i][at / WORD] |= bit(at);
}

/* Unused ones end at place end. */
static int
open_tracks(const struct cl_opt *o, struct tracks *t, uint32_t ntracks,
    uint32_t end)
{
	uint32_t i;

	for (i = 0; i < LEVELS; i++)
		if ((t->level[i] = calloc(o->nwords[i],
		    sizeof(*t->level[i]))) == NULL)
			return (CL_ENOMEM);
	for (i = end - ntracks; i < end; i++)
		t->level[0][i / WORD] |= bit(i);
	leave(t, 0, end / WORD);
	return (CL_OK);
}

struct cl_opt *
cl_opt_new(uint32_t nkeys, uint32_t capacity, struct cl_err *err)
{
	struct cl_opt *o;
	uint32_t i, n;

	assert(nkeys > 0 && nkeys < 1u << 27 && capacity > 0);
	if (capacity > nkeys)
		capacity = nkeys;
	if ((o = calloc(1, sizeof(*o))) == NULL)
		goto nomem;
	o->nkeys = nkeys;
	o->next = FRONT + capacity;
	for (i = 0, n = LENGTH * nkeys + WORD; i < LEVELS; i++)
		o->nwords[i] = n = n / WORD + 1;
	o->end = o->nwords[0] * WORD;
	o->place = calloc(nkeys, sizeof(*o->place));
	o->matters = calloc(o->nwords[0], sizeof(*o->matters));
	o->before = calloc(o->nwords[0], sizeof(*o->before));
	if (o->place != NULL && o->matters != NULL && o->before != NULL &&
	    open_tracks(o, &o->demand, capacity - 1, o->next) == CL_OK &&
	    open_tracks(o, &o->bypass, capacity, o->next) == CL_OK)
		return (o);

nomem:
	cl_fail_nomem(err, "a bound of hits");
	cl_opt_free(o);
	return (NULL);
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

/* The last word below i with a track, or i itself where there is none. */
static uint32_t
climb(struct tracks *t, uint32_t i)
{
	uint32_t word = last_below(t, 1, i);

	if (word != UINT32_MAX)
		return (word);
	t->first = i;
	return (i);
}

/* Word i has become zero. */
static void
forget(struct tracks *t, uint32_t i)
{
	unsigned level;

	for (level = 1; level < LEVELS; level++, i /= WORD)
		if ((t->level[level][i / WORD] &= ~bit(i)) != 0)
			return;
}

/*
 * An interval that needs a track that was left by `from` ends at a place; 1 if
 * there is one.  Before the first word nothing is looked for: there, a bit too
 * many makes what is tested other than zero, and arithmetic have a bit to find
 * where nothing is taken.  A test in two parts would be two branches.
 */
static inline uint64_t
fit(struct tracks *t, uint32_t from, uint32_t place)
{
	uint32_t i = from / WORD, at;
	uint64_t word = t->level[0][i], left = word & (bit(from) * 2 - 1);
	uint64_t some = left | (i <= t->first), hit;

	if (some == 0) {
		i = climb(t, i);
		word = t->level[0][i];
		left = i == from / WORD ? 0 : word;
		some = left | 1;
	}
	hit = left != 0;
	at = highest(some);
	t->level[0][i] = word & ~(hit << at);
	if (word == bit(at))
		forget(t, i);
	t->level[0][place / WORD] |= hit << place % WORD;
	return (hit);
}

/* Where a place moves to: how many that matter are not behind it. */
static inline uint32_t
moved(const struct cl_opt *o, uint32_t place)
{
	uint64_t word = o->matters[place / WORD] & (bit(place) * 2 - 1);

	return (o->before[place / WORD] + cl_popcount(word));
}

/*
 * In place, from the front on, as none moves to a higher place: where one is
 * put was read before, and tracks keep their order.
 */
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
	for (j = 1; j < LEVELS; j++)
		for (i = 0; i < o->nwords[j]; i++)
			t->level[j][i] = 0;
	leave(t, 0, o->next / WORD);
	t->first = 0;
}

static void
move(struct cl_opt *o)
{
	uint32_t i, n = FRONT - 1;

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
		n += cl_popcount(o->matters[i]);
	}
	o->next = n;			/* behind the last use, which matters */
	move_tracks(o, &o->demand);
	move_tracks(o, &o->bypass);
	for (i = 0; i < o->nkeys; i++)
		if (o->place[i] != 0)
			o->place[i] = moved(o, o->place[i]);
}

/* The word of the last place is full. */
static void
turn(struct cl_opt *o)
{

	leave(&o->demand, o->next / WORD - 1, o->next / WORD);
	leave(&o->bypass, o->next / WORD - 1, o->next / WORD);
	if (o->next == o->end - WORD)
		move(o);
}

void
cl_opt_use(struct cl_opt *o, const uint32_t *keys, uint32_t n)
{
	uint64_t ndemand = 0, nbypass = 0;
	uint32_t i, from, to, ncold = 0;

	for (i = 0; i < n; i++) {
		from = o->place[keys[i]];
		o->place[keys[i]] = to = o->next++;
		ncold += from == 0;
		nbypass += fit(&o->bypass, from, to);
		if (from + 1 == to)
			ndemand++;
		else
			ndemand += fit(&o->demand, from + 1, to);
		if (o->next % WORD == 0)
			turn(o);
	}
	o->accesses += n;
	o->cold += ncold;
	o->demand.nhits += ndemand;
	o->bypass.nhits += nbypass;
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
