/*
 * Belady's choice, with the future known: the victim is the expert whose next
 * use is furthest away, of several the one with the higher key (IBM Systems
 * Journal 5(2), 1966).  belady admits whoever misses; belady-bypass only who
 * will be used before somebody who could leave instead, which is the fewest
 * misses that any policy can have.  Under event that takes more than the next
 * use: members of one event are told apart by what follows it, since those
 * that are hits there must stay, and the missing members are chosen together.
 *
 * Each pool has a heap of four children a node, the furthest at the root, whose
 * entries are next use and key in one number.  An expert's next use only moves
 * away, when it is used: it rises from near the leaves.  A victim leaves a
 * hole at the root, which the newcomer fills when it is used.
 *
 * Members of the event at hand have it as their next use until they are used,
 * and so are nearer than all others: where one of them is at the root,
 * everybody is pinned.
 */

#include <assert.h>
#include <stdlib.h>

#include "cache_int.h"

#define ARITY	4u
#define HOLE	UINT64_MAX		/* further than all */

struct heap {
	uint64_t	*entry;		/* next use x 2^32 + key */
	uint32_t	 n;
};

struct belady {
	uint64_t	*entry;		/* of all heaps */
	uint32_t	*place;		/* of each key that is in its heap */
	struct heap	*heap;		/* of each pool */

	/* belady-bypass: the event at hand */
	const uint32_t	*keys;
	uint32_t	 nkeys;
	bool		 planned;
	uint64_t	*wish;		/* missing members, the nearest first */
	uint64_t	 last;		/* of them that is kept */
	uint32_t	*leaver;	/* who leaves for them */
	uint32_t	 nleavers;
	uint32_t	 nleft;		/* of them that have left */
};

static void
belady_free(void *state)
{
	struct belady *b = state;

	if (b == NULL)
		return;
	free(b->entry);
	free(b->place);
	free(b->heap);
	free(b->wish);
	free(b->leaver);
	free(b);
}

static void *
belady_open(const struct cl_cache *c)
{
	const struct pool *last = &c->pool[c->npools - 1];
	struct belady *b;
	uint32_t i;

	if ((b = calloc(1, sizeof(*b))) == NULL)
		return (NULL);
	b->entry = calloc((size_t)last->first_slot + last->nslots +
	    (size_t)c->npools * c->nevent, sizeof(*b->entry));
	b->place = calloc(c->nkeys, sizeof(*b->place));
	b->heap = calloc(c->npools, sizeof(*b->heap));
	b->wish = calloc(c->nevent, sizeof(*b->wish));
	b->leaver = calloc(c->nevent, sizeof(*b->leaver));
	if (b->entry == NULL || b->place == NULL || b->heap == NULL ||
	    b->wish == NULL || b->leaver == NULL) {
		belady_free(b);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++)
		b->heap[i].entry = b->entry + c->pool[i].first_slot +
		    (size_t)i * c->nevent;
	return (b);
}

INLINE uint64_t
entry_of(const struct cl_cache *c, uint32_t key)
{

	return ((uint64_t)c->next[key] << 32 | key);
}

INLINE uint32_t
key_of(uint64_t entry)
{

	return ((uint32_t)(entry & UINT32_MAX));
}

INLINE void
place(struct belady *b, struct heap *h, uint32_t i, uint64_t e)
{

	h->entry[i] = e;
	b->place[key_of(e)] = i;
}

/* Put e where i is, or above. */
INLINE void
sift_up(struct belady *b, struct heap *h, uint32_t i, uint64_t e)
{
	uint32_t parent;

	for (; i > 0; i = parent) {
		parent = (i - 1) / ARITY;
		if (h->entry[parent] >= e)
			break;
		place(b, h, i, h->entry[parent]);
	}
	place(b, h, i, e);
}

/* Put e where i is, or below. */
static void
sift_down(struct belady *b, struct heap *h, uint32_t i, uint64_t e)
{
	uint32_t child, end, far;

	while ((child = ARITY * i + 1) < h->n) {
		end = child + ARITY < h->n ? child + ARITY : h->n;
		for (far = child++; child < end; child++)
			if (h->entry[child] > h->entry[far])
				far = child;
		if (h->entry[far] < e)
			break;
		place(b, h, i, h->entry[far]);
		i = far;
	}
	place(b, h, i, e);
}

INLINE void
close_hole(struct belady *b, struct heap *h)
{

	if (h->n == 0 || h->entry[0] != HOLE)
		return;
	if (--h->n > 0)
		sift_down(b, h, 0, h->entry[h->n]);
}

/* Who is furthest away and not pinned, or NO_KEY. */
INLINE uint32_t
furthest(const struct cl_cache *c, struct belady *b, struct heap *h)
{
	uint32_t key;

	close_hole(b, h);
	if (h->n == 0)
		return (NO_KEY);
	key = key_of(h->entry[0]);
	return (cache_pinned(c, key) ? NO_KEY : key);
}

INLINE bool
belady_admit(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{
	struct belady *b = c->state;
	struct heap *h = &b->heap[p->number];

	(void)key;
	if (!pool_full(p))
		return (true);
	if ((*victim = furthest(c, b, h)) == NO_KEY)
		return (false);
	h->entry[0] = HOLE;
	return (true);
}

INLINE void
belady_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct belady *b = c->state;
	struct heap *h = &b->heap[p->number];
	uint64_t e = entry_of(c, key);

	assert(c->next[key] != CL_CACHE_UNTOLD);
	c->next[key] = CL_CACHE_UNTOLD;
	if (!cache_resident(c, key))
		return;
	if (!fresh)
		sift_up(b, h, b->place[key], e);
	else if (h->n > 0 && h->entry[0] == HOLE)
		sift_down(b, h, 0, e);
	else
		sift_up(b, h, h->n++, e);
}

/* Under retain: its use will put it in. */
INLINE void
belady_enter(struct cl_cache *c, struct pool *p, uint32_t key)
{

	(void)c;
	(void)p;
	(void)key;
}

INLINE uint32_t
belady_evict(struct cl_cache *c, struct pool *p)
{
	struct belady *b = c->state;
	struct heap *h = &b->heap[p->number];
	uint32_t key = furthest(c, b, h);

	h->entry[0] = HOLE;
	return (key);
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return ((x > y) - (x < y));
}

/*
 * Who of the event's missing members is kept: the nearest take the free slots,
 * then one after another the places of the furthest, while they are nearer.
 */
static void
plan(struct cl_cache *c, struct belady *b, struct pool *p,
    const uint32_t *keys, uint32_t nkeys)
{
	struct heap *h = &b->heap[p->number];
	uint32_t i, n = 0, nfree = p->nslots - p->nused, far;

	b->planned = true;
	b->nleavers = b->nleft = 0;
	for (i = 0; i < nkeys; i++)
		if (!cache_resident(c, keys[i]))
			b->wish[n++] = entry_of(c, keys[i]);
	if (n > 1)
		qsort(b->wish, n, sizeof(*b->wish), compare);
	for (i = nfree < n ? nfree : n; i < n; i++) {
		if ((far = furthest(c, b, h)) == NO_KEY ||
		    b->wish[i] >> 32 >= h->entry[0] >> 32)
			break;
		b->leaver[b->nleavers++] = far;
		h->entry[0] = HOLE;
	}
	b->last = i == 0 ? 0 : b->wish[i - 1];
}

INLINE bool
bypass_admit(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{
	struct belady *b = c->state;

	if (c->contract == CL_CONTRACT_SERIAL)
		plan(c, b, p, &key, 1);
	else if (!b->planned)
		plan(c, b, p, b->keys, b->nkeys);
	if (entry_of(c, key) > b->last) {
		c->out.nrejects++;
		return (false);
	}
	if (pool_full(p))
		*victim = b->leaver[b->nleft++];
	return (true);
}

INLINE void
bypass_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	belady_use(c, p, key, fresh);
}

/* A cache begins another trace: all next uses are other ones. */
static void
belady_begin(struct cl_cache *c, const uint32_t *next)
{
	struct belady *b = c->state;
	struct heap *h;
	uint32_t i, k, key;

	for (i = 0; i < c->npools; i++) {
		h = &b->heap[i];
		h->n = 0;
		for (k = 0; k < c->pool[i].nkeys; k++) {
			key = c->pool[i].first_key + k;
			if (cache_resident(c, key))
				sift_up(b, h, h->n++,
				    (uint64_t)next[key] << 32 | key);
		}
	}
}

POLICY_SERVE(belady)
POLICY_RETAIN(belady)
POLICY_SERVE(bypass)

static void
planned_serve(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n)
{
	struct belady *b = c->state;

	b->keys = keys;
	b->nkeys = n;
	b->planned = false;
	bypass_serve(c, p, keys, n);
}

#define PAPER	"Belady 1966, IBM Systems Journal 5(2)"

const struct policy cl_cache_belady = {
	.info = { .name = "belady", .foresees = CL_FUTURE_EVENTS,
	    .paper = PAPER, .total_order = true,
	    .summary = "furthest next use; the fewest misses where all are "
	    "admitted" },
	.open = belady_open,
	.free = belady_free,
	.begin = belady_begin,
	.serve = belady_serve,
	.retain = belady_retain,
};

const struct policy cl_cache_belady_bypass = {
	.info = { .name = "belady-bypass",
	    .foresees = CL_FUTURE_PLACES, .paper = PAPER,
	    .summary = "furthest next use or none; the fewest misses there "
	    "can be" },
	.open = belady_open,
	.free = belady_free,
	.begin = belady_begin,
	.serve = planned_serve,
};
