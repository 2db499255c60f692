/*
 * LIRS (Jiang and Zhang, SIGMETRICS 2002): most slots are of LIR experts, used
 * twice within a short time, and a few of HIR ones, who pass through a queue.
 * A HIR that is used again while it is in the stack, that is, sooner than the
 * LIR used longest ago, changes places with that one.
 *
 * The stack is never built.  Who was used later than the LIR used longest ago
 * is in it, resident or not, and that time never goes back: so a clock, the
 * last use of each key and the LIRs in order of use say all that the stack
 * and its pruning would.  cl-policies(7) says what happens step by step.
 */

#include <stdlib.h>

#include "cache_list_int.h"
#include "cache_serve_int.h"

enum { LIR, HIR, NQUEUES };

enum { PARAM_HIR };

struct lirs {
	struct queues	*q;		/* of each pool */
	uint64_t	*used;		/* of each key: when, from 1; 0 never */
	uint64_t	 now;
};

static void
lirs_free(void *state)
{
	struct lirs *l = state;

	cl_cache_queues_free(l->q);
	free(l->used);
	free(l);
}

static void *
lirs_open(const struct cl_cache *c)
{
	struct lirs *l;

	if ((l = malloc(sizeof(*l))) == NULL)
		return (NULL);
	l->q = cl_cache_queues_open(c, NQUEUES);
	l->used = calloc(c->nkeys, sizeof(*l->used));
	l->now = 0;
	if (l->q == NULL || l->used == NULL) {
		lirs_free(l);
		return (NULL);
	}
	return (l);
}

INLINE bool
in_stack(const struct lirs *l, const struct queues *q, uint32_t key)
{

	return (q->n[LIR] > 0 &&
	    l->used[key] > l->used[queue_oldest(q, LIR)]);
}

/*
 * While there are more LIRs than there should be, the least recent one becomes
 * the most recent HIR; at an admission, the least recent unpinned one, and
 * where all are pinned this waits for a use.
 */
INLINE void
demote(const struct cl_cache *c, struct queues *q, uint32_t nlir,
    bool admission)
{
	uint32_t old;

	while (q->n[LIR] > nlir) {
		old = admission ? queue_victim(c, q, LIR) :
		    queue_oldest(q, LIR);
		if (old == NO_KEY)
			return;
		queue_move(q, HIR, old);
	}
}

INLINE bool
lirs_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct lirs *l = c->state;
	struct queues *q = &l->q[p->number];
	uint32_t nlir = p->nslots - pool_share(c, p, PARAM_HIR), old;
	bool soon = in_stack(l, q, key);

	if (pool_full(p)) {
		if ((old = queue_victim(c, q, HIR)) == NO_KEY &&
		    (old = queue_victim(c, q, LIR)) == NO_KEY)
			return (false);
		queue_remove(q, old);
		*victim = old;
	}
	l->used[key] = ++l->now;
	if (soon || q->n[LIR] < nlir) {
		queue_add(q, LIR, key);
		demote(c, q, nlir, true);
	} else
		queue_add(q, HIR, key);
	return (true);
}

INLINE void
lirs_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct lirs *l = c->state;
	struct queues *q = &l->q[p->number];
	uint32_t nlir = p->nslots - pool_share(c, p, PARAM_HIR);

	if (!cache_resident(c, key))
		return;
	if (!fresh && q->place[key] == HIR && in_stack(l, q, key)) {
		queue_move(q, LIR, key);
		demote(c, q, nlir, false);
	} else
		queue_touch(q, key);
	l->used[key] = ++l->now;
}

POLICY_SERVE(lirs)

const struct policy cl_cache_lirs = {
	.info = { .name = "lirs", .summary = "who is used again soonest stays, "
	    "the others pass through", .paper = "Jiang and Zhang 2002",
	    .param = {
		{ .name = "hir", .unit = "percent of the slots", .hi = 100,
		    .value = 1 },
		{ .name = "compat", .unit = "count as libCacheSim does",
		    .kind = CL_CACHE_FLAG } } },
	.open = lirs_open,
	.free = lirs_free,
	.serve = lirs_serve,
	.compat = &cl_cache_lirs_compat,
};
