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
 *
 * Of lfu-ghost, most newcomers are the next victims: the counts that they bring
 * are low, but for those of hot experts.  The root is not enough for the
 * newcomers of an event, so some wait in front of the heap, in order; the
 * highest goes on into the heap when they are too many, or to fill a hole.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cache_serve_int.h"

#define AGES_PER_SLOT	10u		/* lfu-aged:every=0 */
#define FRONT		16u		/* two events' newcomers, or so */

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
	uint32_t	 nfront;
	struct entry	 front[FRONT];	/* the lowest last */
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

/* The root, or the hole there, goes: the last entry takes its place. */
static void
drop_root(struct heap *h)
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

/* Put e to the front, or in the heap where it, or another, is too high. */
static void
put_front(struct heap *h, struct entry e)
{
	uint32_t i;

	if (h->nfront < FRONT) {
		for (i = h->nfront++; i > 0 && lower(&h->front[i - 1].rank,
		    &e.rank); i--)
			h->front[i] = h->front[i - 1];
		h->front[i] = e;
		return;
	}
	if (lower(&h->front[0].rank, &e.rank)) {
		put(h, e);
		return;
	}
	put(h, h->front[0]);
	for (i = 1; i < FRONT && lower(&e.rank, &h->front[i].rank); i++)
		h->front[i - 1] = h->front[i];
	h->front[i - 1] = e;
}

/* With the highest in front, or the last entry. */
static void
fill_hole(struct heap *h)
{

	if (h->nfront == 0) {
		drop_root(h);
		return;
	}
	put(h, h->front[0]);
	h->nfront--;
	memmove(h->front, h->front + 1, h->nfront * sizeof(h->front[0]));
}

/* Is the lowest of all in front? */
INLINE bool
front_leads(const struct heap *h)
{
	const struct rank *last;
	uint32_t i = h->hole ? 1 : 0;

	if (h->nfront == 0)
		return (false);
	last = &h->front[h->nfront - 1].rank;
	return ((i >= h->n || lower(last, &h->entry[i].rank)) &&
	    (i == 0 || i + 1 >= h->n || lower(last, &h->entry[i + 1].rank)));
}

/* The lowest that is not pinned leaves its heap; or NO_KEY. */
static uint32_t
take_lowest(struct cl_cache *c, struct lfu *l, struct heap *h)
{
	const struct entry *e;
	bool leads, pinned;
	uint32_t key;

	while (h->n - h->hole + h->nfront > 0) {
		leads = front_leads(h);
		if (!leads && h->hole)
			fill_hole(h);
		e = leads ? &h->front[h->nfront - 1] : h->entry;
		key = e->key;
		pinned = cache_pinned(c, key);
		if (!pinned && e->rank.last != l->rank[key].last) {
			if (leads) {
				h->nfront--;
				put_front(h, (struct entry){ l->rank[key],
				    key });
			} else
				sift_down(h, 0, (struct entry){ l->rank[key],
				    key });
			continue;
		}
		l->inside[key] = false;
		if (leads)
			h->nfront--;
		else if (pinned)
			drop_root(h);
		else
			h->hole = true;
		if (!pinned)
			return (key);
	}
	return (NO_KEY);
}

/* Every count of the pool is halved, but one stays one. */
static void
halve(struct lfu *l, const struct pool *p, struct heap *h)
{
	uint32_t i, key;

	assert(h->nfront == 0);			/* that is for GHOST alone */
	for (key = p->first_key; key < p->first_key + p->nkeys; key++)
		if (l->rank[key].count > 1)
			l->rank[key].count /= 2;
	if (h->hole)
		drop_root(h);
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
count_use(struct lfu *l, uint32_t key)
{

	l->rank[key].count++;
	l->rank[key].last = ++l->nuses;
}

INLINE void
use(struct cl_cache *c, struct pool *p, uint32_t key, enum form form)
{
	struct lfu *l = c->state;
	struct heap *h = &l->heap[p->number];
	uint64_t every;

	count_use(l, key);
	if (!l->inside[key] && cache_resident(c, key)) {
		l->inside[key] = true;
		if (form == GHOST && c->contract != CL_CONTRACT_SERIAL)
			put_front(h, (struct entry){ l->rank[key], key });
		else
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

/*
 * An event, counted.  All uses are before all puts: who is to be put in could
 * not be foretold.
 */
static void
ghost_count_event(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n)
{
	struct lfu *l = c->state;
	struct heap *h = &l->heap[p->number];
	uint32_t from, i, m, out, key;

	cache_event_admit(c, p, keys, n, ghost_admit, true);
	for (from = 0; from < n; from += m) {
		m = word_members(n, from);
		for (i = 0, out = 0; i < m; i++) {
			key = keys[from + i];
			count_use(l, key);
			out |= (uint32_t)!l->inside[key] << i;
			c->known[key] &= CLASS_MASK;
		}
		for (; out != 0; out &= out - 1) {
			key = keys[from + (uint32_t)__builtin_ctz(out)];
			if (cache_resident(c, key)) {
				l->inside[key] = true;
				put_front(h, (struct entry){ l->rank[key],
				    key });
			}
		}
	}
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
POLICY_SERVE_COUNTING(ghost, ghost_count_event(c, p, keys, n),
    cache_serial(c, p, keys, n, ghost_admit, ghost_use, true))
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
