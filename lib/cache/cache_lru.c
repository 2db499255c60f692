/*
 * Least recently used: a ring for each pool with all of its keys, the resident
 * ones before the others, and a border at the least recent resident.  So a key
 * that comes in moves like one that is used, without a branch between them,
 * and who is thrown out stays where it is: the border passes over it.
 *
 * Where the border passes over a pinned key, that key is a member of the event
 * and is about to become most recent.
 *
 * Least-stale parts what the pass at hand has used from what it has not, which
 * goes first, the least recent first.  The former was used after the latter: it
 * is the same order, and parts from it only where prefetching brings in what
 * nobody used (arXiv 2608.07911).
 */

#include <stdlib.h>

#include "cache_list_int.h"
#include "cache_serve_int.h"

struct lru {
	uint32_t	 ring;		/* of pool 0; the others follow */
	struct link	*link;
	uint32_t	*border;	/* of each pool; its ring: nobody is */
};

static void
lru_free(void *state)
{
	struct lru *l = state;

	if (l == NULL)
		return;
	free(l->link);
	free(l->border);
	free(l);
}

static void
make_ring(struct lru *l, const struct pool *p)
{
	uint32_t ring = l->ring + p->number, key;

	ring_init(l->link, ring);
	for (key = p->first_key; key < p->first_key + p->nkeys; key++)
		ring_add(l->link, ring, key);
	l->border[p->number] = ring;
}

static void *
lru_open(const struct cl_cache *c)
{
	struct lru *l;
	uint32_t i;

	if ((l = calloc(1, sizeof(*l))) == NULL)
		return (NULL);
	l->ring = c->nkeys;
	l->link = calloc((size_t)c->nkeys + c->npools, sizeof(*l->link));
	l->border = calloc(c->npools, sizeof(*l->border));
	if (l->link == NULL || l->border == NULL) {
		lru_free(l);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++)
		make_ring(l, &c->pool[i]);
	return (l);
}

/* A key becomes the most recent of those that are in. */
INLINE void
lru_touch(struct lru *l, struct pool *p, uint32_t key)
{
	uint32_t ring = l->ring + p->number, border = l->border[p->number];

	border = border == key ? l->link[key].newer : border;
	ring_touch(l->link, ring, key);
	l->border[p->number] = border == ring ? key : border;
}

INLINE bool
lru_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct lru *l = c->state;
	uint32_t ring = l->ring + p->number, old = l->border[p->number];

	(void)key;
	if (!pool_full(p))
		return (true);
	while (old != ring && cache_pinned(c, old))
		old = l->link[old].newer;
	l->border[p->number] = old;
	if (old == ring)
		return (false);
	l->border[p->number] = l->link[old].newer;
	*victim = old;
	return (true);
}

/* The border passes over the one that leaves. */
INLINE uint32_t
lru_turn(struct cl_cache *c, struct pool *p, uint32_t key, bool miss)
{
	struct lru *l = c->state;
	uint32_t old = l->border[p->number], newer = l->link[old].newer;

	(void)key;
	l->border[p->number] = miss ? newer : old;
	return (old);
}

INLINE void
lru_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	(void)fresh;
	if (cache_resident(c, key))
		lru_touch(c->state, p, key);
}

INLINE void
lru_enter(struct cl_cache *c, struct pool *p, uint32_t key)
{

	lru_touch(c->state, p, key);
}

INLINE uint32_t
lru_evict(struct cl_cache *c, struct pool *p)
{
	struct lru *l = c->state;
	uint32_t old = l->border[p->number];

	l->border[p->number] = l->link[old].newer;
	return (old);
}

/* All members of a word become most recent, in order; what they were. */
INLINE uint64_t
lru_touch_all(struct cl_cache *c, struct lru *l, struct pool *p,
    const uint32_t *keys, uint32_t n)
{
	uint32_t ring = l->ring + p->number, border = l->border[p->number];
	uint64_t word = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		word |= (uint64_t)c->known[keys[i]] << 4 * i;
		c->known[keys[i]] = CL_CLASS_HIT;
		border = border == keys[i] ? l->link[border].newer : border;
		ring_touch(l->link, ring, keys[i]);
	}
	l->border[p->number] = border;
	return (word);
}

/*
 * An event, counted.  In a full pool with more slots than members, who leaves
 * is the same after they have been used as before: so they need no pins.
 */
static void
lru_count_event(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n)
{
	struct lru *l = c->state;
	uint32_t from, i, nmisses, border;
	uint64_t digest = c->digest;

	if (!pool_full(p) || p->nslots <= n) {
		cache_event(c, p, keys, n, lru_admit, lru_use, true);
		return;
	}
	c->event++;
	for (from = 0; from < n; from += WORD_MEMBERS)
		c->word[from / WORD_MEMBERS] = lru_touch_all(c, l, p,
		    keys + from, word_members(n, from));
	border = l->border[p->number];
	for (from = 0; from < n; from += WORD_MEMBERS) {
		nmisses = cache_count_word(c, c->word[from / WORD_MEMBERS]);
		for (i = 0; i < nmisses; i++) {
			c->known[border] = CL_CLASS_CAPACITY;
			digest = cl_hash_mix(digest, c->names[border]);
			border = l->link[border].newer;
		}
		c->out.nvictims += nmisses;
		digest = cl_hash_mix(digest, c->word[from / WORD_MEMBERS]);
	}
	l->border[p->number] = border;
	c->digest = digest;
}

POLICY_SERVE_COUNTING(lru, lru_count_event(c, p, keys, n),
    cache_serial_turning(c, p, keys, n, lru_admit, lru_use, lru_turn))
POLICY_RETAIN(lru)

const struct policy cl_cache_lru = {
	.info = { .name = "lru", .summary = "least recently used",
	    .total_order = true },
	.open = lru_open,
	.free = lru_free,
	.serve = lru_serve,
	.retain = lru_retain,
};

const struct policy cl_cache_least_stale = {
	.info = { .name = "least-stale", .paper = "arXiv 2602.03921",
	    .summary = "what the pass at hand has not used, the least recent "
	    "first", .total_order = true },
	.open = lru_open,
	.free = lru_free,
	.serve = lru_serve,
	.retain = lru_retain,
};
