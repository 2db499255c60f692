/*
 * LeCaR (Vietri and others, HotStorage 2018): two experts, LRU and LFU, each
 * name a victim, and a weighted coin says whose is taken.  What one of them
 * threw out is remembered as its ghost; that ghost missed, it loses weight, the
 * more the sooner it comes back.
 *
 * For LRU the residents are in a queue.  For LFU they are in levels, one for
 * each count that any of them has, the lowest first; a level is a ring with
 * its least recent member at the end.  There are never more levels than
 * residents, so that each pool has one for each slot.
 */

#include <stdlib.h>

#include "cl/rng.h"
#include "cache_list_int.h"
#include "cache_serve_int.h"

#define LEARN		0.45		/* the learning rate */
#define FADE		5.298317366548036 /* -ln(0.005): over n accesses */
#define WEIGHT_MAX	0.99

enum { LIVE, GHOST_LRU, GHOST_LFU, NQUEUES };

enum { PARAM_SEED };

/* Level 0 of a pool is none: the ring of its levels, the lowest the oldest. */
struct levels {
	uint32_t	 ring;		/* of level 0's members, in link */
	uint32_t	 nfree;
	uint32_t	*free;		/* levels without members */
	struct link	*order;		/* of levels: newer is higher */
	uint64_t	*count;		/* of each level */
	uint32_t	*n;		/* members of each level */
};

struct share {
	struct levels	 levels;
	double		 lru;		/* its weight; the other has the rest */
	uint64_t	 rng;
	uint64_t	 now;		/* accesses recorded */
};

struct lecar {
	uint32_t	 npools;
	struct queues	*q;		/* of each pool */
	struct share	*share;		/* of each pool */
	struct link	*link;		/* of keys, then of levels' rings */
	uint32_t	*level;		/* of each key that is resident */
	uint64_t	*left;		/* of each ghost: when */
};

static void
lecar_free(void *state)
{
	struct lecar *l = state;
	uint32_t i;

	for (i = 0; l->share != NULL && i < l->npools; i++) {
		free(l->share[i].levels.free);
		free(l->share[i].levels.order);
		free(l->share[i].levels.count);
		free(l->share[i].levels.n);
	}
	cl_cache_queues_free(l->q);
	free(l->share);
	free(l->link);
	free(l->level);
	free(l->left);
	free(l);
}

static int
make_levels(struct levels *v, struct link *link, uint32_t ring, uint32_t nslots)
{
	uint32_t n = nslots + 1, i;

	v->ring = ring;
	v->free = calloc(n, sizeof(*v->free));
	v->order = calloc(n, sizeof(*v->order));
	v->count = calloc(n, sizeof(*v->count));
	v->n = calloc(n, sizeof(*v->n));
	if (v->free == NULL || v->order == NULL || v->count == NULL ||
	    v->n == NULL)
		return (-1);
	ring_init(v->order, 0);
	for (i = n - 1; i > 0; i--)
		v->free[v->nfree++] = i;
	for (i = 0; i < n; i++)
		ring_init(link, ring + i);
	return (0);
}

static void *
lecar_open(const struct cl_cache *c)
{
	const struct pool *last = &c->pool[c->npools - 1];
	size_t nlevels = (size_t)last->first_slot + last->nslots + c->npools;
	struct lecar *l;
	uint32_t i;

	if ((l = calloc(1, sizeof(*l))) == NULL)
		return (NULL);
	l->npools = c->npools;
	l->q = cl_cache_queues_open(c, NQUEUES);
	l->share = calloc(c->npools, sizeof(*l->share));
	l->link = calloc(c->nkeys + nlevels, sizeof(*l->link));
	l->level = calloc(c->nkeys, sizeof(*l->level));
	l->left = calloc(c->nkeys, sizeof(*l->left));
	if (l->q == NULL || l->share == NULL || l->link == NULL ||
	    l->level == NULL || l->left == NULL)
		goto fail;
	for (i = 0; i < c->npools; i++) {
		l->share[i].lru = 0.5;
		l->share[i].rng = c->param[PARAM_SEED];
		if (make_levels(&l->share[i].levels, l->link, c->nkeys +
		    c->pool[i].first_slot + i, c->pool[i].nslots) != 0)
			goto fail;
	}
	return (l);
fail:
	lecar_free(l);
	return (NULL);
}

/* A key joins those of a count, whose level is right above another or new. */
INLINE void
join(struct lecar *l, struct levels *v, uint32_t key, uint64_t count,
    uint32_t below)
{
	uint32_t level = v->order[below].newer;

	if (level == 0 || v->count[level] != count) {
		level = v->free[--v->nfree];
		v->count[level] = count;
		v->order[level].older = below;
		v->order[level].newer = v->order[below].newer;
		v->order[v->order[below].newer].older = level;
		v->order[below].newer = level;
	}
	ring_add(l->link, v->ring + level, key);
	l->level[key] = level;
	v->n[level]++;
}

INLINE void
quit(struct lecar *l, struct levels *v, uint32_t key)
{
	uint32_t level = l->level[key];

	ring_remove(l->link, key);
	if (--v->n[level] == 0) {
		ring_remove(v->order, level);
		v->free[v->nfree++] = level;
	}
}

/* The least recent unpinned key of the lowest level that has one. */
INLINE uint32_t
lowest(const struct cl_cache *c, const struct lecar *l, const struct levels *v)
{
	uint32_t level, key;

	for (level = v->order[0].newer; level != 0;
	    level = v->order[level].newer)
		if ((key = ring_victim(c, l->link, v->ring + level)) !=
		    v->ring + level)
			return (key);
	return (NO_KEY);
}

/* e^-x for x >= 0, by these very steps on any machine. */
static double
fade(double x)
{
	double term = 1, sum = 1;
	int i;

	if (x > 64)
		return (0);
	for (x /= 128, i = 1; i < 12; i++) {
		term *= -x / i;
		sum += term;
	}
	for (i = 0; i < 7; i++)
		sum *= sum;
	return (sum);
}

/* A ghost is missed: who threw it out loses weight. */
INLINE void
learn(struct lecar *l, struct share *s, const struct queues *q, uint32_t key,
    uint32_t nslots)
{
	double since = (double)(s->now - l->left[key]);
	double lose = fade(LEARN * fade(FADE * since / nslots));
	double lru = s->lru, lfu = 1 - s->lru;

	if (q->place[key] == GHOST_LRU)
		lru *= lose;
	else
		lfu *= lose;
	lru /= lru + lfu;
	if (lru > WEIGHT_MAX)
		lru = WEIGHT_MAX;
	if (lru < 1 - WEIGHT_MAX)
		lru = 1 - WEIGHT_MAX;
	s->lru = lru;
}

/* It leaves, as a ghost of its expert's unless both had named it. */
INLINE void
retire(struct lecar *l, struct share *s, struct queues *q, uint32_t key,
    uint8_t to, uint32_t nslots)
{
	uint32_t nghosts = nslots < 2 ? 1 : nslots / 2;

	quit(l, &s->levels, key);
	if (to == NOWHERE) {
		queue_remove(q, key);
		return;
	}
	if (q->n[to] == nghosts)
		queue_remove(q, queue_oldest(q, to));
	queue_move(q, to, key);
	l->left[key] = s->now;
}

INLINE bool
lecar_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct lecar *l = c->state;
	struct share *s = &l->share[p->number];
	struct queues *q = &l->q[p->number];
	uint32_t recent, rare;

	if (pool_full(p)) {
		if ((recent = queue_victim(c, q, LIVE)) == NO_KEY)
			return (false);
		rare = lowest(c, l, &s->levels);
		if (q->place[key] != NOWHERE) {
			learn(l, s, q, key, p->nslots);
			queue_remove(q, key);
		}
		*victim = recent;
		if (recent == rare)
			retire(l, s, q, recent, NOWHERE, p->nslots);
		else if (cl_rng_unit(&s->rng) < s->lru)
			retire(l, s, q, recent, GHOST_LRU, p->nslots);
		else {
			*victim = rare;
			retire(l, s, q, rare, GHOST_LFU, p->nslots);
		}
	}
	queue_add(q, LIVE, key);
	join(l, &s->levels, key, 1, 0);
	return (true);
}

INLINE void
lecar_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct lecar *l = c->state;
	struct share *s = &l->share[p->number];
	struct levels *v = &s->levels;
	uint32_t level = l->level[key], below;

	s->now++;
	if (!cache_resident(c, key))
		return;
	queue_touch(&l->q[p->number], key);
	if (fresh) {
		ring_touch(l->link, v->ring + level, key);
		return;
	}
	below = v->n[level] > 1 ? level : v->order[level].older;
	quit(l, v, key);
	join(l, v, key, v->count[level] + 1, below);
}

POLICY_SERVE(lecar)

const struct policy cl_cache_lecar = {
	.info = { .name = "lecar",
	    .summary = "lru or lfu, by a coin that learns from their ghosts",
	    .paper = "Vietri and others 2018",
	    .param = { { .name = "seed", .unit = "of the coin",
		.hi = UINT64_MAX, .value = 1 } } },
	.open = lecar_open,
	.free = lecar_free,
	.serve = lecar_serve,
};
