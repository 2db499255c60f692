/*
 * LIRS as libCacheSim counts it, for comparison.  It builds the stack, holds
 * it to twice the slots by dropping the oldest ghosts, and differs from the
 * paper in one point: a HIR that is used when it has left the stack makes a
 * LIR give way all the same.  With room for one HIR alone, that LIR pushes out
 * the very key that was used, which goes on as resident in the stack: its next
 * use is a phantom hit.
 *
 * Of the keys in the stack a LIR is in no queue, a HIR in that of the resident
 * ones or of the ghosts; a phantom is a HIR of the stack in neither.
 * Resident, with a slot, are the LIRs and the resident HIRs; in a pool of two
 * there may be too many of them, since its LIRs are miscounted.
 */

#include <stdlib.h>

#include "cache_compat_int.h"
#include "cache_int.h"
#include "cache_list_int.h"

enum { STACK, NSTACKS };		/* of stack */
enum { HIR, GHOST, NQUEUES };		/* of q */

enum { PARAM_HIR };

struct lirs {
	struct queues	*stack;		/* of each pool */
	struct queues	*q;		/* of each pool */
	uint32_t	*nlir;		/* of each pool */
	uint8_t		*lir;		/* of each key: is it one? */
};

static void
lirs_compat_free(void *state)
{
	struct lirs *l = state;

	cl_cache_queues_free(l->stack);
	cl_cache_queues_free(l->q);
	free(l->nlir);
	free(l->lir);
	free(l);
}

static void *
lirs_compat_open(const struct cl_cache *c)
{
	struct lirs *l;

	if ((l = malloc(sizeof(*l))) == NULL)
		return (NULL);
	l->stack = cl_cache_queues_open(c, NSTACKS);
	l->q = cl_cache_queues_open(c, NQUEUES);
	l->nlir = calloc(c->npools, sizeof(*l->nlir));
	l->lir = calloc(c->nkeys, sizeof(*l->lir));
	if (l->stack == NULL || l->q == NULL || l->nlir == NULL ||
	    l->lir == NULL) {
		lirs_compat_free(l);
		return (NULL);
	}
	return (l);
}

/* What lies below the last LIR leaves the stack; its top stays. */
static void
prune(struct lirs *l, const struct pool *p)
{
	struct queues *stack = &l->stack[p->number], *q = &l->q[p->number];
	uint32_t key;

	while (stack->n[STACK] > 1 &&
	    !l->lir[key = queue_oldest(stack, STACK)]) {
		if (q->place[key] == GHOST)
			queue_remove(q, key);
		queue_remove(stack, key);
	}
}

/* The oldest resident HIR is thrown out: a ghost where the stack has it. */
static void
drop_hir(struct cl_cache *c, struct lirs *l, struct pool *p)
{
	struct queues *q = &l->q[p->number];
	uint32_t key = queue_oldest(q, HIR);

	queue_remove(q, key);
	if (l->stack[p->number].place[key] == STACK)
		queue_add(q, GHOST, key);
	compat_drop(c, p, key);
}

/*
 * Make room for another LIR: the lowest of the stack becomes a HIR, and maybe
 * one leaves.  In a pool of two that lowest may be no LIR but any HIR.
 */
static void
demote(struct cl_cache *c, struct lirs *l, struct pool *p, uint32_t nhir)
{
	struct queues *stack = &l->stack[p->number], *q = &l->q[p->number];
	uint32_t key;

	while (l->nlir[p->number] >= p->nslots - nhir) {
		key = queue_oldest(stack, STACK);
		queue_remove(stack, key);
		l->lir[key] = 0;
		l->nlir[p->number]--;
		while (q->n[HIR] >= nhir)
			drop_hir(c, l, p);
		if (q->place[key] == GHOST)
			queue_remove(q, key);
		queue_add(q, HIR, key);
		compat_keep(c, p, key);
		prune(l, p);
	}
}

static void
become_lir(struct lirs *l, const struct pool *p, uint32_t key)
{

	l->lir[key] = 1;
	l->nlir[p->number]++;
}

/* A key that was found: in the stack, among the resident HIRs, or in both. */
static void
hit(struct cl_cache *c, struct lirs *l, struct pool *p, uint32_t key,
    uint32_t nhir)
{
	struct queues *stack = &l->stack[p->number], *q = &l->q[p->number];
	bool queued = q->place[key] == HIR;

	if (queued)
		queue_touch(q, key);
	if (stack->place[key] != STACK) {
		demote(c, l, p, nhir);
		queue_add(stack, STACK, key);
		return;
	}
	queue_touch(stack, key);
	if (l->lir[key]) {
		prune(l, p);
		return;
	}
	if (queued)
		queue_remove(q, key);
	demote(c, l, p, nhir);
	become_lir(l, p, key);
	compat_keep(c, p, key);			/* a phantom has no slot */
}

static void
insert(struct cl_cache *c, struct lirs *l, struct pool *p, uint32_t key,
    uint32_t nhir)
{
	struct queues *stack = &l->stack[p->number], *q = &l->q[p->number];

	if (q->place[key] == GHOST) {
		queue_touch(stack, key);
		demote(c, l, p, nhir);
		queue_remove(q, key);
		become_lir(l, p, key);
	} else if (l->nlir[p->number] < p->nslots - nhir) {
		queue_add(stack, STACK, key);
		become_lir(l, p, key);
	} else {
		while (q->n[HIR] >= nhir)
			drop_hir(c, l, p);
		queue_add(stack, STACK, key);
		queue_add(q, HIR, key);
	}
	compat_keep(c, p, key);
}

/* The oldest ghosts leave a stack that is too high. */
static void
limit(struct lirs *l, const struct pool *p)
{
	struct queues *stack = &l->stack[p->number], *q = &l->q[p->number];
	uint32_t key;

	while (stack->n[STACK] > 2 * p->nslots && q->n[GHOST] > 0) {
		key = queue_oldest(q, GHOST);
		queue_remove(q, key);
		queue_remove(stack, key);
	}
}

static bool
lirs_compat_get(struct cl_cache *c, struct pool *p, uint32_t key)
{
	struct lirs *l = c->state;
	uint32_t nhir = pool_share(c, p, PARAM_HIR);
	uint8_t place = l->q[p->number].place[key];
	bool found = place == HIR || (place != GHOST &&
	    l->stack[p->number].place[key] == STACK);

	if (nhir == p->nslots)
		return (false);			/* no LIRs, no cache */
	if (found)
		hit(c, l, p, key, nhir);
	else
		insert(c, l, p, key, nhir);
	limit(l, p);
	return (found);
}

POLICY_COMPAT(lirs_compat)

const struct policy cl_cache_lirs_compat = {
	.open = lirs_compat_open,
	.free = lirs_compat_free,
	.serve = lirs_compat_serve,
};
