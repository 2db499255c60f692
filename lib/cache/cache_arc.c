/*
 * ARC, the adaptive replacement cache (Megiddo and Modha, FAST 2003): what was
 * used once in T1, more often in T2, and the ghosts of both in B1 and B2.  A
 * miss that is a ghost says which of the two was too small, and the target for
 * T1 moves towards it.
 *
 * |T1| + |B1| is at most the number of slots and all four together at most
 * twice that.  There are no ghosts before the pool is full, and full it stays.
 * cl-policies(7) says what happens step by step.
 */

#include <stdlib.h>

#include "cache_int.h"
#include "cache_list_int.h"

enum { T1, T2, B1, B2, NQUEUES };

struct arc {
	struct queues	*q;		/* of each pool */
	double		*target;	/* of each pool: for T1, 0 to nslots */
};

static void
arc_free(void *state)
{
	struct arc *a = state;

	cl_cache_queues_free(a->q);
	free(a->target);
	free(a);
}

static void *
arc_open(const struct cl_cache *c)
{
	struct arc *a;

	if ((a = malloc(sizeof(*a))) == NULL)
		return (NULL);
	a->q = cl_cache_queues_open(c, NQUEUES);
	a->target = calloc(c->npools, sizeof(*a->target));
	if (a->q == NULL || a->target == NULL) {
		arc_free(a);
		return (NULL);
	}
	return (a);
}

/* The target after a miss of a key in that place. */
INLINE double
learn(const struct queues *q, unsigned place, double target, uint32_t nslots)
{
	double n1 = q->n[B1], n2 = q->n[B2];

	if (place == B1) {
		target += n2 > n1 ? n2 / n1 : 1;
		return (target < nslots ? target : nslots);
	}
	if (place == B2) {
		target -= n1 > n2 ? n1 / n2 : 1;
		return (target > 0 ? target : 0);
	}
	return (target);
}

/*
 * Who has to leave: the least recent of T1 where that is above its target, of
 * T2 where not; of the other where all members of the one are pinned.
 */
INLINE uint32_t
choose(const struct cl_cache *c, const struct queues *q, double target,
    unsigned place)
{
	unsigned from = T2;
	uint32_t old;

	if ((q->n[T1] > 0 && (q->n[T1] > target ||
	    (q->n[T1] == target && place == B2))) || q->n[T2] == 0)
		from = T1;
	if ((old = queue_victim(c, q, from)) == NO_KEY)
		old = queue_victim(c, q, T1 + T2 - from);
	return (old);
}

/* A newcomer that is no ghost needs room among those that are. */
INLINE void
forget(struct queues *q, uint32_t nslots)
{

	if (q->n[T1] + q->n[B1] >= nslots) {
		if (q->n[B1] > 0)
			queue_remove(q, queue_oldest(q, B1));
	} else if (q->n[T1] + q->n[T2] + q->n[B1] + q->n[B2] >= 2 * nslots)
		queue_remove(q, queue_oldest(q, B2));
}

INLINE bool
arc_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct arc *a = c->state;
	struct queues *q = &a->q[p->number];
	unsigned place = q->place[key];
	double target;
	uint32_t old;

	if (!pool_full(p)) {
		queue_add(q, T1, key);
		return (true);
	}
	target = learn(q, place, a->target[p->number], p->nslots);
	if ((old = choose(c, q, target, place)) == NO_KEY)
		return (false);
	a->target[p->number] = target;
	if (place != NOWHERE)
		queue_remove(q, key);
	else
		forget(q, p->nslots);
	if (place == NOWHERE && q->n[T1] == p->nslots)
		queue_remove(q, old);		/* B1 has no room for it */
	else
		queue_move(q, q->place[old] == T1 ? B1 : B2, old);
	*victim = old;
	queue_add(q, place == NOWHERE ? T1 : T2, key);
	return (true);
}

INLINE void
arc_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct arc *a = c->state;
	struct queues *q = &a->q[p->number];

	if (!cache_resident(c, key))
		return;
	if (fresh || q->place[key] == T2)
		queue_touch(q, key);
	else
		queue_move(q, T2, key);
}

POLICY_SERVE(arc)

const struct policy cl_cache_arc = {
	.info = { .name = "arc", .summary = "recency or frequency, whichever "
	    "of their ghosts is missed", .paper = "Megiddo and Modha 2003" },
	.open = arc_open,
	.free = arc_free,
	.serve = arc_serve,
};
