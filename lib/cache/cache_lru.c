/*
 * Least recently used: a ring for each pool, whose victim is the least recent
 * key that is not pinned.
 *
 * Least-stale parts what the pass at hand has used from what it has not, which
 * goes first, the least recent first.  The former was used after the latter: it
 * is the same order, and parts from it only where prefetching brings in what
 * nobody used (arXiv 2608.07911).
 */

#include <stdlib.h>

#include "cache_int.h"

struct lru {
	uint32_t	 ring;		/* of pool 0; the others follow */
	struct link	*link;
};

static void
lru_free(void *state)
{
	struct lru *l = state;

	if (l == NULL)
		return;
	free(l->link);
	free(l);
}

static void *
lru_open(const struct cl_cache *c)
{
	struct lru *l;
	uint32_t i;

	if ((l = malloc(sizeof(*l))) == NULL)
		return (NULL);
	l->ring = c->nkeys;
	l->link = calloc((size_t)c->nkeys + c->npools, sizeof(*l->link));
	if (l->link == NULL) {
		free(l);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++)
		ring_init(l->link, l->ring + i);
	return (l);
}

static inline bool
lru_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct lru *l = c->state;
	uint32_t ring = l->ring + p->number, old;

	if (pool_full(p)) {
		if ((old = ring_victim(c, l->link, ring)) == ring)
			return (false);
		ring_remove(l->link, old);
		*victim = old;
	}
	ring_add(l->link, ring, key);
	return (true);
}

static inline void
lru_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct lru *l = c->state;

	(void)fresh;
	if (cache_resident(c, key))
		ring_touch(l->link, l->ring + p->number, key);
}

POLICY_SERVE(lru)

const struct policy cl_cache_lru = {
	.info = { "lru", "least recently used", NULL, { { 0 } } },
	.open = lru_open,
	.free = lru_free,
	.serve = lru_serve,
};

const struct policy cl_cache_least_stale = {
	.info = { .name = "least-stale", .paper = "arXiv 2602.03921",
	    .summary = "what the pass at hand has not used, the least recent "
	    "first" },
	.open = lru_open,
	.free = lru_free,
	.serve = lru_serve,
};
