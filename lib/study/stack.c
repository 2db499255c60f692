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

struct cl_stack {
	uint32_t	 depth;
	uint32_t	 nevent;
	uint32_t	 height;
	uint32_t	*key;		/* at each place from 1 */
	uint32_t	*place;		/* of each key; 0: none */
	uint64_t	*worth;		/* of each key */
	uint32_t	*pool;		/* ascending by worth */
	uint32_t	 npool;
	uint32_t	 event;		/* number of the event at hand, > 0 */
	uint32_t	*member;	/* of each key: the event it is in */
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
	s->key = calloc((size_t)nkeys + 1, sizeof(*s->key));
	s->place = calloc(nkeys, sizeof(*s->place));
	s->worth = calloc(nkeys, sizeof(*s->worth));
	s->pool = calloc((size_t)nevent + 1, sizeof(*s->pool));
	s->member = calloc(nkeys, sizeof(*s->member));
	if (s->key != NULL && s->place != NULL && s->worth != NULL &&
	    s->pool != NULL && s->member != NULL)
		return (s);

nomem:
	cl_fail_nomem(err, "a stack of experts");
	cl_stack_free(s);
	return (NULL);
}

const uint32_t *
cl_stack_places(const struct cl_stack *s)
{

	return (s->place);
}

static inline void
put(struct cl_stack *s, uint32_t place, uint32_t key)
{

	s->key[place] = key;
	s->place[key] = place;
}

static inline void
pool_add(struct cl_stack *s, uint32_t key)
{
	uint32_t i = s->npool++;

	while (i > 0 && s->worth[s->pool[i - 1]] > s->worth[key]) {
		s->pool[i] = s->pool[i - 1];
		i--;
	}
	s->pool[i] = key;
}

static inline bool
is_member(const struct cl_stack *s, uint32_t key)
{

	return (s->member[key] == s->event);
}

/* Caches no larger than the event: where it ends. */
static uint32_t
place_members(struct cl_stack *s, const uint32_t *keys, uint32_t n,
    uint32_t base)
{
	uint32_t most = n < s->depth ? n : s->depth, c, old, next = 0;

	for (c = 1; c <= most; c++) {
		old = c <= s->height ? s->key[c] : UINT32_MAX;
		if (old == UINT32_MAX)
			;
		else if (is_member(s, old)) {
			if (s->place[old] == c)
				continue;	/* nobody put it elsewhere */
		} else if (most == s->depth)
			s->place[old] = 0;	/* nothing else is kept */
		else
			pool_add(s, old);
		while (s->place[keys[next] - base] != 0 &&
		    s->place[keys[next] - base] <= c)
			next++;
		put(s, c, keys[next] - base);
	}
	return (most);
}

/* Larger ones: what else they keep. */
static void
place_others(struct cl_stack *s, uint32_t c)
{
	uint32_t old;

	while (s->npool > 0 && ++c <= s->depth) {
		old = c <= s->height ? s->key[c] : UINT32_MAX;
		if (old != UINT32_MAX && !is_member(s, old))
			pool_add(s, old);
		if (s->npool > 0)
			put(s, c, s->pool[--s->npool]);
		if (c > s->height)
			s->height = c;
	}
	while (s->npool > 0)			/* below the depth */
		s->place[s->pool[--s->npool]] = 0;
}

void
cl_stack_event(struct cl_stack *s, const uint32_t *keys,
    const uint64_t *worth, uint32_t n, uint32_t base)
{
	uint32_t i, c;

	assert(n <= s->nevent);
	if (++s->event == 0) {			/* 2^32 events: start anew */
		memset(s->member, 0, s->nkeys * sizeof(*s->member));
		s->event = 1;
	}
	for (i = 0; i < n; i++)
		s->member[keys[i] - base] = s->event;
	c = place_members(s, keys, n, base);
	if (c > s->height)
		s->height = c;
	place_others(s, c);
	for (i = 0; i < n; i++)
		s->worth[keys[i] - base] = worth[i];
}

void
cl_stack_append(struct cl_stack *s, uint32_t key)
{

	assert(s->height < s->depth && s->place[key] == 0);
	put(s, ++s->height, key);
}

void
cl_stack_deepen(struct cl_stack *s, uint32_t depth)
{

	assert(depth >= s->depth && depth <= s->nkeys);
	s->depth = depth;
}

uint32_t
cl_stack_height(const struct cl_stack *s)
{

	return (s->height);
}

void
cl_stack_free(struct cl_stack *s)
{

	if (s == NULL)
		return;
	free(s->key);
	free(s->place);
	free(s->worth);
	free(s->pool);
	free(s->member);
	free(s);
}
