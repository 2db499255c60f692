/*
 * Why there is a stack, and how an event changes it.
 *
 * R(C) is what a cache of C slots holds before an event of s keys, S.  Caches
 * that are full have C keys.  Let R(C - 1) be within R(C).
 *
 * C <= s: every member of S in R(C) is a hit and is pinned; missing members
 * are admitted in order until all slots are pinned.  So the cache ends with
 * its hits and with the first C - hits of the others, and nothing else.  Going
 * from C - 1 to C, the key at place C either is a member that is not among
 * these yet, and then it is what C has more; or the next member in order is.
 *
 * C > s: the cache ends with all of S and with those C - s of its other keys
 * that are worth most.  Going from C - 1 to C, its other keys grow by the key
 * at place C, unless that is a member; what C has more is the best of those
 * that have not been placed yet: the pool.
 *
 * Either way the new R(C - 1) is within the new R(C).  The pool is at most as
 * large as the event, and where it is empty nothing below has changed.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/stack.h"

#define NONE		UINT32_MAX

struct slot {
	uint64_t	 worth;
	uint32_t	 key;
};

struct cl_stack {
	uint32_t	 depth;
	uint32_t	 nevent;
	uint32_t	 height;
	struct slot	*slot;		/* each place from 1 */
	uint32_t	*place;		/* of each key; 0: none */
	struct slot	*pool;		/* ascending by worth */
	uint32_t	 npool;
	uint32_t	 event;		/* number of the event at hand, > 0 */
	uint32_t	*member;	/* of each key: the event it is in */
	uint32_t	*at;		/* each place's member, or NONE */
	bool		*placed;	/* of each member */
	uint32_t	 nkeys;
};

struct cl_stack *
cl_stack_new(uint32_t nkeys, uint32_t depth, uint32_t nevent,
    struct cl_err *err)
{
	struct cl_stack *s;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		goto nomem;
	s->depth = depth;
	s->nevent = nevent;
	s->nkeys = nkeys;
	s->slot = calloc((size_t)nkeys + 1, sizeof(*s->slot));
	s->place = calloc(nkeys, sizeof(*s->place));
	s->pool = calloc((size_t)nevent + 1, sizeof(*s->pool));
	s->member = calloc(nkeys, sizeof(*s->member));
	s->at = calloc((size_t)nevent + 1, sizeof(*s->at));
	s->placed = calloc(nevent, sizeof(*s->placed));
	if (s->slot != NULL && s->place != NULL && s->pool != NULL &&
	    s->member != NULL && s->at != NULL && s->placed != NULL)
		return (s);

nomem:
	cl_fail_nomem(err, "a stack of experts");
	cl_stack_free(s);
	return (NULL);
}

static inline void
put(struct cl_stack *s, uint32_t place, uint64_t worth, uint32_t key)
{

	s->slot[place].worth = worth;
	s->slot[place].key = key;
	s->place[key] = place;
}

/*
 * No cache is larger than the event: they end with members alone.  Where none
 * was there before, and it is so where events come by turns of many layers,
 * these are the first in order.
 */
static void
place_only_members(struct cl_stack *s, const uint32_t *keys,
    const uint64_t *worth, uint32_t n, uint32_t base, const uint32_t *place)
{
	uint32_t c, i, next = 0, hits = 0;

	for (c = 1; c <= s->height; c++)
		s->place[s->slot[c].key] = 0;
	s->height = s->depth;
	for (i = 0; i < n; i++)
		hits |= place[i];
	for (c = 1; hits == 0 && c <= s->depth; c++)
		put(s, c, worth[c - 1], keys[c - 1] - base);
	if (hits == 0)
		return;
	for (c = 1; c <= s->depth; c++)
		s->at[c] = NONE;
	for (i = 0; i < n; i++) {
		s->at[place[i]] = i;
		s->placed[i] = false;
	}
	for (c = 1; c <= s->depth; c++) {
		i = s->at[c];
		if (i == NONE || s->placed[i]) {
			while (s->placed[next])
				next++;
			i = next;
		}
		s->placed[i] = true;
		put(s, c, worth[i], keys[i] - base);
	}
}

static inline bool
is_member(const struct cl_stack *s, uint32_t key)
{

	return (s->member[key] == s->event);
}

static inline void
pool_add(struct cl_stack *s, const struct slot *slot)
{
	uint32_t i = s->npool++;

	while (i > 0 && s->pool[i - 1].worth > slot->worth) {
		s->pool[i] = s->pool[i - 1];
		i--;
	}
	assert(i == 0 || s->pool[i - 1].worth < slot->worth);
	s->pool[i] = *slot;
}

/* Caches no larger than the event. */
static void
place_members(struct cl_stack *s, const uint32_t *keys, uint32_t n,
    uint32_t base)
{
	uint32_t c, next = 0;

	for (c = 1; c <= n; c++) {
		if (c <= s->height) {
			if (!is_member(s, s->slot[c].key))
				pool_add(s, &s->slot[c]);
			else if (s->place[s->slot[c].key] == c)
				continue;	/* nobody put it elsewhere */
		}
		while (s->place[keys[next] - base] != 0 &&
		    s->place[keys[next] - base] <= c)
			next++;
		put(s, c, 0, keys[next] - base);
	}
	if (n > s->height)
		s->height = n;
}

/* Larger ones: what else they keep. */
static void
place_others(struct cl_stack *s, uint32_t c)
{

	while (s->npool > 0 && ++c <= s->depth) {
		if (c > s->height)
			s->height = c;
		else if (!is_member(s, s->slot[c].key))
			pool_add(s, &s->slot[c]);
		if (s->npool > 0) {
			s->npool--;
			put(s, c, s->pool[s->npool].worth,
			    s->pool[s->npool].key);
		}
	}
	while (s->npool > 0)			/* below the depth */
		s->place[s->pool[--s->npool].key] = 0;
}

void
cl_stack_event(struct cl_stack *s, const uint32_t *keys,
    const uint64_t *worth, uint32_t n, uint32_t base, uint32_t *place)
{
	uint32_t i;

	assert(n <= s->nevent);
	for (i = 0; i < n; i++)
		place[i] = s->place[keys[i] - base];
	if (n >= s->depth) {
		place_only_members(s, keys, worth, n, base, place);
		return;
	}
	if (++s->event == 0) {			/* 2^32 events: start anew */
		memset(s->member, 0, s->nkeys * sizeof(*s->member));
		s->event = 1;
	}
	for (i = 0; i < n; i++)
		s->member[keys[i] - base] = s->event;
	place_members(s, keys, n, base);
	place_others(s, n);
	for (i = 0; i < n; i++)
		s->slot[s->place[keys[i] - base]].worth = worth[i];
}

void
cl_stack_append(struct cl_stack *s, uint32_t key, uint64_t worth)
{

	if (s->place[key] == 0) {
		assert(s->height < s->depth);
		s->place[key] = ++s->height;
		s->slot[s->height].key = key;
	}
	s->slot[s->place[key]].worth = worth;
}

void
cl_stack_deepen(struct cl_stack *s, uint32_t depth)
{

	assert(depth >= s->depth && depth <= s->nkeys);
	s->depth = depth;
}

void
cl_stack_cut(struct cl_stack *s, uint32_t depth)
{

	assert(depth <= s->depth);
	s->depth = depth;
	for (; s->height > depth; s->height--)
		s->place[s->slot[s->height].key] = 0;
}

void
cl_stack_free(struct cl_stack *s)
{

	if (s == NULL)
		return;
	free(s->slot);
	free(s->place);
	free(s->pool);
	free(s->member);
	free(s->at);
	free(s->placed);
	free(s);
}
