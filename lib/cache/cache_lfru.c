/*
 * Least frequently and recently used: the victim is the expert with the lowest
 * score, all its uses ever / (now - last use + 1), that is not pinned.  Now
 * and the last use are the numbers of their events; equal scores are told
 * apart by the last use, which members of an event have in order.
 *
 * Scores change with time, each at its own pace: turned upside down, age /
 * uses is a straight line in time, and the victim the one on top.  Each pool
 * has a kinetic tournament over its slots: every node knows which of the lines
 * below it is on top, and until when nothing below it changes.  A use only
 * lowers a line, so that it touches no tree: what is stored there is an upper
 * bound, brought up to date when it comes to the root, as in lfu.  Nothing is
 * ever searched: a victim costs the changes that are due, and one path.
 *
 * Pinned experts that come to the root are taken out, and newcomers are not
 * put in: both are members of the event at hand, whose use puts them in.
 */

#include <stdlib.h>

#include "cl/num.h"
#include "cache_int.h"

struct line {
	uint32_t	key;
	uint64_t	count;
	uint64_t	event;		/* of the last use */
	uint64_t	last;		/* its number among all uses */
};

struct node {
	struct line	top;		/* key NO_KEY: none below */
	uint64_t	until;		/* nothing changes before this event */
};

/* Node 1 is the root, 2i and 2i + 1 are below i; slots are the leaves. */
struct tree {
	struct node	*node;
	uint32_t	 nleaves;	/* a power of two */
	uint32_t	 hole;		/* a leaf to be emptied or filled, or 0 */
};

struct lfru {
	uint32_t	 event;		/* of the cache, as last seen */
	uint64_t	 now;		/* how many there were */
	uint64_t	 nuses;
	struct line	*line;		/* of each key */
	bool		*inside;	/* of each key: it is in its tree */
	struct tree	*tree;		/* of each pool */
	struct node	*node;		/* of all trees */
};

static void
lfru_free(void *state)
{
	struct lfru *l = state;

	if (l == NULL)
		return;
	free(l->line);
	free(l->inside);
	free(l->tree);
	free(l->node);
	free(l);
}

/* The trees' sizes; returns how many nodes they have. */
static size_t
plant(struct tree *tree, const struct cl_cache *c)
{
	size_t nnodes = 0;
	uint32_t i, n;

	for (i = 0; i < c->npools; i++) {
		for (n = 1; n < c->pool[i].nslots; n *= 2)
			;
		tree[i].nleaves = n;
		nnodes += 2 * (size_t)n;
	}
	return (nnodes);
}

static void *
lfru_open(const struct cl_cache *c)
{
	struct node *node;
	struct lfru *l;
	size_t i, nnodes;
	uint32_t key;

	if ((l = calloc(1, sizeof(*l))) == NULL)
		return (NULL);
	l->line = calloc(c->nkeys, sizeof(*l->line));
	l->inside = calloc(c->nkeys, sizeof(*l->inside));
	l->tree = calloc(c->npools, sizeof(*l->tree));
	nnodes = l->tree == NULL ? 0 : plant(l->tree, c);
	node = l->node = calloc(nnodes, sizeof(*l->node));
	if (l->line == NULL || l->inside == NULL || nnodes == 0 ||
	    node == NULL) {
		lfru_free(l);
		return (NULL);
	}
	for (i = 0; i < nnodes; i++) {
		node[i].top.key = NO_KEY;
		node[i].until = UINT64_MAX;
	}
	for (i = 0; i < c->npools; i++) {
		l->tree[i].node = node;
		node += 2 * (size_t)l->tree[i].nleaves;
	}
	for (key = 0; key < c->nkeys; key++)
		l->line[key].key = key;
	return (l);
}

/* Is a the one to leave, rather than b, in event now? */
INLINE bool
above(const struct line *a, const struct line *b, uint64_t now)
{
	int order = cl_mulcmp(now - a->event + 1, b->count,
	    now - b->event + 1, a->count);

	return (order > 0 || (order == 0 && a->last < b->last));
}

/*
 * The first event in which b will be above a, which is above it now: never
 * where b does not rise faster.  Else a's last use was not after b's, and in
 * units of events that have passed, b->count x (their distance) / (difference
 * of counts) is when they meet.
 */
INLINE uint64_t
overtakes(const struct line *a, const struct line *b, uint64_t now)
{
	uint64_t product;

	if (b->count >= a->count)
		return (UINT64_MAX);
	if (!cl_mul(b->count, b->event - a->event, &product))
		return (now + 1);		/* sooner is safe */
	return (b->event + product / (a->count - b->count));
}

/* What the two below make of node i. */
static void
pull(struct node *node, uint32_t i, uint64_t now)
{
	const struct node *a = &node[2 * i], *b = a + 1, *swap;
	uint64_t until = a->until < b->until ? a->until : b->until, t;

	if (a->top.key == NO_KEY || (b->top.key != NO_KEY &&
	    above(&b->top, &a->top, now))) {
		swap = a;
		a = b;
		b = swap;
	}
	node[i].top = a->top;
	if (b->top.key != NO_KEY) {
		t = overtakes(&a->top, &b->top, now);
		until = t < until ? t : until;
	}
	node[i].until = until;
}

/* Let time pass in the nodes whose time has come. */
static void
advance(struct tree *t, uint32_t i, uint64_t now)
{

	if (t->node[i].until > now)
		return;
	advance(t, 2 * i, now);
	advance(t, 2 * i + 1, now);
	pull(t->node, i, now);
}

/* Give a leaf another line, in a tree whose time is now. */
static void
set(struct tree *t, uint32_t leaf, struct line line, uint64_t now)
{
	uint32_t i;

	t->node[leaf].top = line;
	for (i = leaf / 2; i > 0; i /= 2)
		pull(t->node, i, now);
}

static void
empty(struct tree *t, uint32_t leaf, uint64_t now)
{

	set(t, leaf, (struct line){ .key = NO_KEY }, now);
}

INLINE uint32_t
leaf_of(const struct cl_cache *c, const struct pool *p, const struct tree *t,
    uint32_t key)
{

	return (t->nleaves + c->slot[key] - p->first_slot);
}

/* Which event is it? */
INLINE uint64_t
tick(const struct cl_cache *c, struct lfru *l)
{

	if (l->event != c->event) {
		l->event = c->event;
		l->now++;
	}
	return (l->now);
}

/* The one on top that is not pinned leaves its tree; or NO_KEY. */
static uint32_t
take_top(struct cl_cache *c, struct lfru *l, struct pool *p, struct tree *t)
{
	uint64_t now = l->now;
	uint32_t key, leaf;

	advance(t, 1, now);
	if (t->hole != 0)
		empty(t, t->hole, now);
	t->hole = 0;
	while ((key = t->node[1].top.key) != NO_KEY) {
		leaf = leaf_of(c, p, t, key);
		if (cache_pinned(c, key)) {
			l->inside[key] = false;
			empty(t, leaf, now);
		} else if (t->node[1].top.last != l->line[key].last) {
			set(t, leaf, l->line[key], now);
		} else {
			l->inside[key] = false;
			t->hole = leaf;
			return (key);
		}
	}
	return (NO_KEY);
}

INLINE bool
lfru_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct lfru *l = c->state;

	(void)key;
	(void)tick(c, l);
	if (!pool_full(p))
		return (true);
	*victim = take_top(c, l, p, &l->tree[p->number]);
	return (*victim != NO_KEY);
}

INLINE void
lfru_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct lfru *l = c->state;
	struct tree *t = &l->tree[p->number];
	uint32_t leaf;

	(void)fresh;
	l->line[key].count++;
	l->line[key].event = tick(c, l);
	l->line[key].last = ++l->nuses;
	if (l->inside[key] || !cache_resident(c, key))
		return;
	l->inside[key] = true;
	leaf = leaf_of(c, p, t, key);
	if (t->hole == leaf)
		t->hole = 0;
	advance(t, 1, l->now);
	set(t, leaf, l->line[key], l->now);
}

POLICY_SERVE(lfru)

const struct policy cl_cache_lfru = {
	.info = { .name = "lfru",
	    .summary = "fewest uses ever for the time since the last one" },
	.wants_slots = true,
	.open = lfru_open,
	.free = lfru_free,
	.serve = lfru_serve,
};
