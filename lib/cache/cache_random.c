/*
 * Random: each unpinned key is the victim with the same chance.  The members
 * of each pool stand in an array in no order, which has room for an event
 * besides the pool's slots, for contract retain.  Numbers come from a seed, the
 * same for each pool.
 */

#include <stdlib.h>

#include "cl/rng.h"
#include "cache_serve_int.h"

struct urn {
	uint32_t	*key;
	uint32_t	 n;
	uint64_t	 rng;
};

struct lottery {
	struct urn	*urn;		/* of each pool */
	uint32_t	*key;		/* the arrays of all */
};

static void
random_free(void *state)
{
	struct lottery *l = state;

	if (l == NULL)
		return;
	free(l->urn);
	free(l->key);
	free(l);
}

static void *
random_open(const struct cl_cache *c)
{
	struct lottery *l;
	size_t n = 0;
	uint32_t i;

	if ((l = calloc(1, sizeof(*l))) == NULL)
		return (NULL);
	for (i = 0; i < c->npools; i++)
		n += (size_t)c->pool[i].nslots + c->nevent;
	l->urn = calloc(c->npools, sizeof(*l->urn));
	l->key = calloc(n, sizeof(*l->key));
	if (l->urn == NULL || l->key == NULL) {
		random_free(l);
		return (NULL);
	}
	for (i = 0, n = 0; i < c->npools; i++) {
		l->urn[i].key = l->key + n;
		l->urn[i].rng = c->param[0];
		n += (size_t)c->pool[i].nslots + c->nevent;
	}
	return (l);
}

/*
 * A key that is not pinned is drawn and leaves, or NO_KEY.  Pinned ones that
 * are drawn go behind those that are left to draw from.
 */
INLINE uint32_t
draw(const struct cl_cache *c, struct urn *u)
{
	uint32_t left, i, key;

	for (left = u->n; left > 0; left--) {
		i = (uint32_t)cl_rng_below(&u->rng, left);
		key = u->key[i];
		u->key[i] = u->key[left - 1];
		if (!cache_pinned(c, key)) {
			u->key[left - 1] = u->key[--u->n];
			return (key);
		}
		u->key[left - 1] = key;
	}
	return (NO_KEY);
}

INLINE bool
random_admit(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{
	struct lottery *l = c->state;
	struct urn *u = &l->urn[p->number];

	if (pool_full(p) && (*victim = draw(c, u)) == NO_KEY)
		return (false);
	u->key[u->n++] = key;
	return (true);
}

INLINE void
random_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	(void)c;
	(void)p;
	(void)key;
	(void)fresh;
}

INLINE void
random_enter(struct cl_cache *c, struct pool *p, uint32_t key)
{
	struct lottery *l = c->state;
	struct urn *u = &l->urn[p->number];

	u->key[u->n++] = key;
}

INLINE uint32_t
random_evict(struct cl_cache *c, struct pool *p)
{
	struct lottery *l = c->state;

	return (draw(c, &l->urn[p->number]));
}

POLICY_SERVE(random)
POLICY_RETAIN(random)

const struct policy cl_cache_random = {
	.info = { .name = "random", .summary = "any, with the same chance",
	    .total_order = true,
	    .param = { { .name = "seed", .unit = "of its numbers",
	    .hi = UINT64_MAX, .value = 1 } } },
	.open = random_open,
	.free = random_free,
	.serve = random_serve,
	.retain = random_retain,
};
