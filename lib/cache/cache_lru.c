/*
 * Least recently used.  The resident keys form a ring through a sentinel,
 * most recent first; links are arrays over all keys, so that no key is ever
 * searched for.  The victim is the least recent key that is not pinned: at
 * most as many steps away as the event has members.
 */

#include <stdlib.h>

#include "cache_int.h"

struct lru {
	uint32_t	 ring;		/* the sentinel: number of keys */
	struct link {
		uint32_t	newer;	/* nearer to the most recent */
		uint32_t	older;
	}		*link;		/* of each key and the sentinel */
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

	if ((l = malloc(sizeof(*l))) == NULL)
		return (NULL);
	l->ring = c->nkeys;
	if ((l->link = calloc((size_t)c->nkeys + 1, sizeof(*l->link))) ==
	    NULL) {
		free(l);
		return (NULL);
	}
	l->link[l->ring].newer = l->link[l->ring].older = l->ring;
	return (l);
}

static inline void
unlink_key(struct link *link, uint32_t key)
{
	uint32_t newer = link[key].newer, older = link[key].older;

	link[newer].older = older;
	link[older].newer = newer;
}

static inline void
make_newest(struct link *link, uint32_t ring, uint32_t key)
{
	uint32_t second = link[ring].older;

	link[key].newer = ring;
	link[key].older = second;
	link[second].newer = key;
	link[ring].older = key;
}

static inline bool
lru_admit(struct cl_cache *c, uint32_t key, uint32_t *victim)
{
	struct lru *l = c->state;
	uint32_t old;

	if (cache_full(c)) {
		old = l->link[l->ring].newer;
		while (old != l->ring && cache_pinned(c, old))
			old = l->link[old].newer;
		if (old == l->ring)
			return (false);
		unlink_key(l->link, old);
		*victim = old;
	}
	make_newest(l->link, l->ring, key);
	return (true);
}

static inline void
lru_use(struct cl_cache *c, uint32_t key)
{
	struct lru *l = c->state;

	if (!cache_resident(c, key))
		return;
	unlink_key(l->link, key);
	make_newest(l->link, l->ring, key);
}

POLICY_SERVE(lru)

const struct policy cl_cache_lru = {
	.info = { "lru", "least recently used" },
	.open = lru_open,
	.free = lru_free,
	.serve = lru_serve,
};
