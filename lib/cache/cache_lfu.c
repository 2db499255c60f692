/*
 * Least frequently used, in three forms that differ in what they count: lfu
 * since an expert's admission, lfu-ghost over all time, lfu-aged as lfu with
 * all counts halved now and then.  The victim is the expert of the lowest
 * count that is not pinned; of several, the one used longest ago.
 *
 * Each pool has a heap with the lowest at the root.  While an expert stays, its
 * rank only rises, so a use touches no heap: what is stored there is a lower
 * bound, brought up to date when it comes to the root.  The root is the victim
 * once it is up to date, and each use is paid for at most once.  Halving may
 * lower ranks: it makes the heaps anew.
 *
 * Pinned experts that come to the root are taken out, and newcomers are not
 * put in: both are members of the event at hand, whose use puts them in.
 * Where a victim was, the root is a hole until then.
 */

#include <stdlib.h>

#include "cache_int.h"

#define AGES_PER_SLOT	10u		/* lfu-aged:every=0 */

enum form { SINCE, GHOST, AGED };

struct rank {
	uint64_t	count;
	uint64_t	last;		/* the number of the last use */
};

struct entry {
	struct rank	rank;		/* or less */
	uint32_t	key;
};

struct heap {
	struct entry	*entry;
	uint32_t	 n;
	bool		 hole;		/* entry 0 is none */
	uint64_t	 accesses;	/* since all were halved */
};

struct lfu {
	uint64_t	 nuses;
	struct rank	*rank;		/* of each key */
	bool		*inside;	/* of each key: it is in its heap */
	struct entry	*entry;		/* of all heaps */
	struct heap	*heap;		/* of each pool */
};

static void
lfu_free(void *state)
{
	struct lfu *l = state;

	if (l == NULL)
		return;
	free(l->rank);
	free(l->inside);
	free(l->entry);
	free(l->heap);
	free(l);
}

static void *
lfu_open(const struct cl_cache *c)
{
	const struct pool *last = &c->pool[c->npools - 1];
	size_t n = (size_t)last->first_slot + last->nslots;
	struct lfu *l;
	uint32_t i;

	if ((l = calloc(1, sizeof(*l))) == NULL)
		return (NULL);
	l->rank = calloc(c->nkeys, sizeof(*l->rank));
	l->inside = calloc(c->nkeys, sizeof(*l->inside));
	l->entry = calloc(n + (size_t)c->npools * c->nevent,
	    sizeof(*l->entry));
	l->heap = calloc(c->npools, sizeof(*l->heap));
	if (l->rank == NULL || l->inside == NULL || l->entry == NULL ||
	    l->heap == NULL) {
		lfu_free(l);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++)
		l->heap[i].entry = l->entry + c->pool[i].first_slot +
		    (size_t)i * c->nevent;
	return (l);
}

INLINE bool
lower(const struct rank *a, const struct rank *b)
{

	return (a->count < b->count ||
	    (a->count == b->count && a->last < b->last));
}

/* Put e where i is, or below. */
static void
sift_down(struct heap *h, uint32_t i, struct entry e)
{
	uint32_t child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && lower(&h->entry[child + 1].rank,
		    &h->entry[child].rank))
			child++;
		if (!lower(&h->entry[child].rank, &e.rank))
			break;
		h->entry[i] = h->entry[child];
		i = child;
	}
	h->entry[i] = e;
}

/* The root leaves for good: the last entry takes its place. */
static void
close_hole(struct heap *h)
{

	h->hole = false;
	if (--h->n > 0)
		sift_down(h, 0, h->entry[h->n]);
}

static void
put(struct heap *h, struct entry e)
{
	uint32_t i, parent;

	if (h->hole) {
		h->hole = false;
		sift_down(h, 0, e);
		return;
	}
	for (i = h->n++; i > 0; i = parent) {
		parent = (i - 1) / 2;
		if (!lower(&e.rank, &h->entry[parent].rank))
			break;
		h->entry[i] = h->entry[parent];
	}
	h->entry[i] = e;
}

/* The lowest that is not pinned leaves its heap; or NO_KEY. */
static uint32_t
take_lowest(struct cl_cache *c, struct lfu *l, struct heap *h)
{
	struct entry *root = h->entry;
	uint32_t key;

	if (h->hole)
		close_hole(h);
	while (h->n > 0) {
		key = root->key;
		if (cache_pinned(c, key)) {
			l->inside[key] = false;
			close_hole(h);
		} else if (root->rank.last != l->rank[key].last) {
			sift_down(h, 0, (struct entry){ l->rank[key], key });
		} else {
			l->inside[key] = false;
			h->hole = true;
			return (key);
		}
	}
	return (NO_KEY);
}

/* Every count of the pool is halved, but one stays one. */
static void
halve(struct lfu *l, const struct pool *p, struct heap *h)
{
	uint32_t i, key;

	for (key = p->first_key; key < p->first_key + p->nkeys; key++)
		if (l->rank[key].count > 1)
			l->rank[key].count /= 2;
	if (h->hole)
		close_hole(h);
	for (i = 0; i < h->n; i++)
		h->entry[i].rank = l->rank[h->entry[i].key];
	for (i = h->n / 2; i-- > 0;)
		sift_down(h, i, h->entry[i]);
}

INLINE bool
admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim,
    enum form form)
{
	struct lfu *l = c->state;

	if (pool_full(p) && (*victim = take_lowest(c, l,
	    &l->heap[p->number])) == NO_KEY)
		return (false);
	if (form != GHOST)
		l->rank[key].count = 0;
	return (true);
}

INLINE void
use(struct cl_cache *c, struct pool *p, uint32_t key, enum form form)
{
	struct lfu *l = c->state;
	struct heap *h = &l->heap[p->number];
	uint64_t every;

	l->rank[key].count++;
	l->rank[key].last = ++l->nuses;
	if (!l->inside[key] && cache_resident(c, key)) {
		l->inside[key] = true;
		put(h, (struct entry){ l->rank[key], key });
	}
	if (form != AGED || p->nslots == 0)
		return;
	every = c->param[0] != 0 ? c->param[0] :
	    (uint64_t)AGES_PER_SLOT * p->nslots;
	if (++h->accesses >= every) {
		h->accesses = 0;
		halve(l, p, h);
	}
}

/* Under retain: its use will put it in. */
INLINE void
lfu_enter(struct cl_cache *c, struct pool *p, uint32_t key)
{
	struct lfu *l = c->state;

	(void)p;
	l->rank[key].count = 0;
}

INLINE void
ghost_enter(struct cl_cache *c, struct pool *p, uint32_t key)
{

	(void)c;
	(void)p;
	(void)key;
}

INLINE uint32_t
lfu_evict(struct cl_cache *c, struct pool *p)
{
	struct lfu *l = c->state;

	return (take_lowest(c, l, &l->heap[p->number]));
}

INLINE bool
lfu_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{

	return (admit(c, p, key, victim, SINCE));
}

INLINE void
lfu_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	(void)fresh;
	use(c, p, key, SINCE);
}

INLINE bool
ghost_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{

	return (admit(c, p, key, victim, GHOST));
}

INLINE void
ghost_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	(void)fresh;
	use(c, p, key, GHOST);
}

INLINE bool
aged_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{

	return (admit(c, p, key, victim, AGED));
}

INLINE void
aged_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	(void)fresh;
	use(c, p, key, AGED);
}

#define ghost_evict	lfu_evict
#define aged_enter	lfu_enter
#define aged_evict	lfu_evict

POLICY_SERVE(lfu)
POLICY_RETAIN(lfu)
POLICY_SERVE(ghost)
POLICY_RETAIN(ghost)
POLICY_SERVE(aged)
POLICY_RETAIN(aged)

const struct policy cl_cache_lfu = {
	.info = { .name = "lfu",
	    .summary = "least frequently used since admission",
	    .total_order = true },
	.open = lfu_open,
	.free = lfu_free,
	.serve = lfu_serve,
	.retain = lfu_retain,
};

const struct policy cl_cache_lfu_ghost = {
	.info = { .name = "lfu-ghost",
	    .summary = "least frequently used over all time",
	    .total_order = true },
	.open = lfu_open,
	.free = lfu_free,
	.serve = ghost_serve,
	.retain = ghost_retain,
};

const struct policy cl_cache_lfu_aged = {
	.info = { .name = "lfu-aged",
	    .summary = "lfu, with all counts halved now and then",
	    .param = { { .name = "every",
	    .unit = "accesses of a pool, 0 for 10 a slot",
	    .hi = UINT32_MAX } },
	    .total_order = true },
	.open = lfu_open,
	.free = lfu_free,
	.serve = aged_serve,
	.retain = aged_retain,
};
