/*
 * 2Q, full version (Johnson and Shasha, VLDB 1994): newcomers pass a FIFO
 * queue, IN, and leave their ghosts in OUT; who comes back while his ghost is
 * there goes to MAIN, which is in order of use.
 *
 * IN may fill the pool while MAIN is small, since it gives up a member only
 * where it has more than its share.  OUT holds no key that is resident.
 * cl-policies(7) says what happens step by step.
 */

#include <stdlib.h>

#include "cache_list_int.h"
#include "cache_serve_int.h"

enum { IN, MAIN, OUT, NQUEUES };

enum { PARAM_IN, PARAM_OUT };

static void
twoq_free(void *state)
{

	cl_cache_queues_free(state);
}

static void *
twoq_open(const struct cl_cache *c)
{

	return (cl_cache_queues_open(c, NQUEUES));
}

/* A member of IN leaves, and its ghost may push out the oldest one. */
INLINE void
retire(struct queues *q, uint32_t key, uint32_t nout)
{

	if (q->n[OUT] == nout)
		queue_remove(q, queue_oldest(q, OUT));
	queue_move(q, OUT, key);
}

INLINE bool
twoq_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct queues *q = (struct queues *)c->state + p->number;
	bool ghost = q->place[key] == OUT;
	unsigned from = MAIN;
	uint32_t old;

	if (!pool_full(p)) {
		queue_add(q, IN, key);
		return (true);
	}
	if (q->n[IN] > pool_share(c, p, PARAM_IN))
		from = IN;
	if ((old = queue_victim(c, q, from)) == NO_KEY &&
	    (old = queue_victim(c, q, IN + MAIN - from)) == NO_KEY)
		return (false);
	if (ghost)
		queue_remove(q, key);
	if (q->place[old] == IN)
		retire(q, old, pool_share(c, p, PARAM_OUT));
	else
		queue_remove(q, old);
	*victim = old;
	queue_add(q, ghost ? MAIN : IN, key);
	return (true);
}

INLINE void
twoq_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct queues *q = (struct queues *)c->state + p->number;

	(void)fresh;
	if (q->place[key] == MAIN)
		queue_touch(q, key);
}

POLICY_SERVE(twoq)

const struct policy cl_cache_twoq = {
	.info = { .name = "2q", .summary = "a FIFO queue, and an LRU for who "
	    "comes back soon", .paper = "Johnson and Shasha 1994",
	    .param = {
		{ .name = "in", .unit = "percent of the slots", .hi = 100,
		    .value = 25 },
		{ .name = "out", .unit = "ghosts, in percent of the slots",
		    .hi = 1000, .value = 50 } } },
	.open = twoq_open,
	.free = twoq_free,
	.serve = twoq_serve,
};
