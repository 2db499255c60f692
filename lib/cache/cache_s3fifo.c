/*
 * S3-FIFO (Yang and others, SOSP 2023): newcomers pass a small FIFO queue; who
 * was used twice there goes on to the main one, who was not leaves a ghost,
 * and a ghost that is missed enters main at once.  Main is a clock: its oldest
 * goes round again while it has uses left.
 *
 * A key has counted its uses, to 3, since it entered the queue it is in.
 * cl-policies(7) says what happens step by step, and what the form is that
 * copies libCacheSim: there small gives way first even where it is smaller
 * than its share, and refuses a key as large as itself.
 */

#include <stdlib.h>

#include "cache_compat_int.h"
#include "cache_list_int.h"
#include "cache_serve_int.h"

#define USES_MAX	3
#define PROMOTE		2		/* uses in small that lead to main */

enum { SMALL, MAIN, GHOST, NQUEUES };

enum { PARAM_SMALL, PARAM_GHOST, PARAM_COMPAT };

struct s3fifo {
	struct queues	*q;		/* of each pool */
	uint8_t		*uses;		/* of each key */
};

static void
s3fifo_free(void *state)
{
	struct s3fifo *s = state;

	cl_cache_queues_free(s->q);
	free(s->uses);
	free(s);
}

static void *
s3fifo_open(const struct cl_cache *c)
{
	struct s3fifo *s;

	if ((s = malloc(sizeof(*s))) == NULL)
		return (NULL);
	s->q = cl_cache_queues_open(c, NQUEUES);
	s->uses = calloc(c->nkeys, sizeof(*s->uses));
	if (s->q == NULL || s->uses == NULL) {
		s3fifo_free(s);
		return (NULL);
	}
	return (s);
}

INLINE void
enter(struct s3fifo *s, struct queues *q, unsigned to, uint32_t key)
{

	queue_add(q, to, key);
	s->uses[key] = 0;
}

/* A member of small is thrown out, and its ghost may push out the oldest. */
INLINE void
retire(struct queues *q, uint32_t key, uint32_t nghosts)
{

	if (q->n[GHOST] == nghosts)
		queue_remove(q, queue_oldest(q, GHOST));
	queue_move(q, GHOST, key);
}

/*
 * Who main gives up: its oldest unpinned member without uses left.  Those
 * before it use one up and go round; each has a few, so that this ends.
 */
INLINE uint32_t
turn(const struct cl_cache *c, struct s3fifo *s, struct queues *q)
{
	uint32_t ring = q->ring + MAIN, key = queue_oldest(q, MAIN), next;
	bool left = false;

	for (;; key = next) {
		if (key == ring) {
			if (!left)
				return (NO_KEY);
			left = false;
			key = queue_oldest(q, MAIN);
		}
		next = q->link[key].newer;
		if (cache_pinned(c, key))
			continue;
		if (s->uses[key] == 0)
			return (key);
		s->uses[key]--;
		left = true;
		ring_touch(q->link, ring, key);
	}
}

/*
 * The same, or the first pinned member where one is met before.  Who goes round
 * stays where it is: the ring's own place moves, once for all of them.
 */
INLINE uint32_t
turn_to(const struct cl_cache *c, struct s3fifo *s, struct queues *q)
{
	uint32_t ring = q->ring + MAIN, first = queue_oldest(q, MAIN), key;

	if (q->n[MAIN] == 0)
		return (NO_KEY);
	for (key = first;; key = q->link[key].newer) {
		if (key == ring)
			continue;
		if (cache_pinned(c, key) || s->uses[key] == 0)
			break;
		s->uses[key]--;
	}
	if (key != first) {
		ring_remove(q->link, ring);
		ring_add(q->link, key, ring);
	}
	return (key);
}

/*
 * Who small gives up: its oldest unpinned member that was not used enough.
 * Those before it move to main; where that is too much for main, main gives up
 * one instead.  Pinned members as above.
 */
INLINE uint32_t
sift(const struct cl_cache *c, struct s3fifo *s, struct queues *q,
    uint32_t nmain, const bool pass)
{
	uint32_t ring = q->ring + SMALL, key = queue_oldest(q, SMALL), next;

	for (; key != ring; key = next) {
		next = q->link[key].newer;
		if (cache_pinned(c, key)) {
			if (pass)
				continue;
			return (key);
		}
		if (s->uses[key] < PROMOTE)
			return (key);
		queue_remove(q, key);
		enter(s, q, MAIN, key);
		if (q->n[MAIN] > nmain)
			return (pass ? turn(c, s, q) : turn_to(c, s, q));
	}
	return (NO_KEY);
}

/*
 * Who a full pool gives up.  What has moved before a pinned member was met
 * leads to the same member when it is asked again.
 */
INLINE uint32_t
find_victim(const struct cl_cache *c, struct s3fifo *s, struct queues *q,
    const struct pool *p, const bool pass)
{
	uint32_t nsmall = pool_share(c, p, PARAM_SMALL), old = NO_KEY;

	if (q->n[SMALL] < nsmall)
		old = pass ? turn(c, s, q) : turn_to(c, s, q);
	if (old == NO_KEY)
		old = sift(c, s, q, p->nslots - nsmall, pass);
	if (old == NO_KEY)
		old = pass ? turn(c, s, q) : turn_to(c, s, q);
	return (old);
}

/* The victim leaves for a key, and small ones leave a ghost. */
INLINE void
replace(const struct cl_cache *c, struct s3fifo *s, struct queues *q,
    const struct pool *p, uint32_t old, uint32_t key)
{
	bool ghost = q->place[key] == GHOST;

	if (ghost)
		queue_remove(q, key);
	if (q->place[old] == SMALL)
		retire(q, old, pool_share(c, p, PARAM_GHOST));
	else
		queue_remove(q, old);
	enter(s, q, ghost ? MAIN : SMALL, key);
}

INLINE bool
s3fifo_admit(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{
	struct s3fifo *s = c->state;
	struct queues *q = &s->q[p->number];

	if (!pool_full(p)) {
		enter(s, q, q->place[key] == GHOST ? MAIN : SMALL, key);
		return (true);
	}
	if ((*victim = find_victim(c, s, q, p, true)) == NO_KEY)
		return (false);
	replace(c, s, q, p, *victim, key);
	return (true);
}

INLINE bool
s3fifo_early(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{
	struct s3fifo *s = c->state;
	struct queues *q = &s->q[p->number];

	*victim = find_victim(c, s, q, p, false);
	if (cache_pinned(c, *victim))
		return (false);
	replace(c, s, q, p, *victim, key);
	return (true);
}

INLINE void
s3fifo_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct s3fifo *s = c->state;

	(void)p;
	s->uses[key] = (uint8_t)(s->uses[key] +
	    (!fresh & (s->uses[key] < USES_MAX)));	/* no branch */
}

POLICY_SERVE_COUNTING(s3fifo,
    cache_event(c, p, keys, n, s3fifo_admit, s3fifo_use, true),
    cache_serial_early(c, p, keys, n, s3fifo_admit, s3fifo_use, s3fifo_early))

/*
 * The form that copies libCacheSim: small gives way unless main is above its
 * share, however little it holds, and whoever it sends on to main stays there.
 */
INLINE void
make_room(struct cl_cache *c, struct s3fifo *s, struct pool *p,
    uint32_t nsmall)
{
	struct queues *q = &s->q[p->number];
	uint32_t old;

	if (q->n[MAIN] > p->nslots - nsmall || q->n[SMALL] == 0)
		old = turn(c, s, q);
	else
		old = sift(c, s, q, UINT32_MAX, true);
	if (old == NO_KEY)
		return;				/* all have moved to main */
	if (q->place[old] == SMALL)
		retire(q, old, pool_share(c, p, PARAM_GHOST));
	else
		queue_remove(q, old);
	compat_drop(c, p, old);
}

INLINE bool
s3fifo_compat_get(struct cl_cache *c, struct pool *p, uint32_t key)
{
	struct s3fifo *s = c->state;
	struct queues *q = &s->q[p->number];
	uint32_t nsmall = (uint32_t)(p->nslots * c->param[PARAM_SMALL] / 100);
	bool ghost = q->place[key] == GHOST;

	if (cache_resident(c, key)) {
		s3fifo_use(c, p, key, false);
		return (true);
	}
	if (ghost)
		queue_remove(q, key);
	if (nsmall == 0)
		return (false);
	while (pool_full(p))
		make_room(c, s, p, nsmall);
	if (ghost || nsmall > 1) {
		enter(s, q, ghost ? MAIN : SMALL, key);
		compat_keep(c, p, key);
	}
	return (false);
}

POLICY_COMPAT(s3fifo_compat)

static const struct policy compat = {
	.open = s3fifo_open,
	.free = s3fifo_free,
	.serve = s3fifo_compat_serve,
};

const struct policy cl_cache_s3fifo = {
	.info = { .name = "s3fifo", .summary = "a small FIFO queue to prove "
	    "oneself in, then a clock", .paper = "Yang and others 2023",
	    .param = {
		{ .name = "small", .unit = "percent of the slots", .hi = 100,
		    .value = 10 },
		{ .name = "ghost", .unit = "ghosts, in percent of the slots",
		    .hi = 1000, .value = 90 },
		{ .name = "compat", .unit = "count as libCacheSim does",
		    .kind = CL_CACHE_FLAG } } },
	.open = s3fifo_open,
	.free = s3fifo_free,
	.serve = s3fifo_serve,
	.compat = &compat,
};
