#ifndef CACHE_INT_H
#define CACHE_INT_H

/*
 * What a policy sees of the cache, and the one way an event is served.
 *
 * A policy is a struct policy: it keeps an order over the resident keys of
 * each pool, in memory of its own made by open: arrays over all keys, since
 * no key belongs to two pools.  It has two verbs, each for a pool:
 *
 *	admit	a missing key wants in.  True: it is kept, and *victim is who
 *		left for it, or NO_KEY where a slot was free.  False: it is not
 *		kept, and nobody left.  A key for which cache_pinned() holds
 *		must not leave.  Whoever is refused by admission, be it the key
 *		or one that had to leave for it, is counted in out.nrejects.
 *	use	a key of the event, resident or not, is recorded as used; fresh
 *		where this event did not find it resident.
 *
 * The contract is written once, below, and compiled into each policy with its
 * own verbs inline (POLICY_SERVE): one indirect call an event, not one a key.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "cl/cache.h"

#define NO_KEY	CL_CACHE_NO_KEY

struct pool {
	/* fixed at open */
	uint32_t	 number;
	uint32_t	 first_key;
	uint32_t	 nkeys;
	uint32_t	 first_slot;
	uint32_t	 nslots;

	uint32_t	 nused;		/* slots in use; those below are */
};

struct policy {
	struct cl_cache_policy_info info;
	/* The policy's own state for the cache, or NULL when out of memory. */
	void	*(*open)(const struct cl_cache *);
	void	 (*free)(void *);
	/* Of one that foresees: another trace, and its first uses. */
	void	 (*begin)(struct cl_cache *, const uint32_t *next);
	void	 (*serve)(struct cl_cache *, struct pool *, const uint32_t *,
		    uint32_t);
	/* What the flag "compat" makes of it, or NULL where there is none. */
	const struct policy *compat;
};

enum seen { UNSEEN, SEEN, STAGED };	/* STAGED: and not resident */

struct cl_cache {
	/* fixed at open */
	const struct policy *policy;
	uint64_t	 param[CL_CACHE_PARAMS_MAX];	/* the policy's */
	enum cl_contract contract;
	uint32_t	 nkeys;
	uint32_t	 npools;
	uint32_t	 nevent;
	void		*state;		/* the policy's */

	struct pool	*pool;
	uint32_t	 event;		/* number of the event at hand, > 0 */
	uint32_t	*slot;		/* of each key, or CL_CACHE_NO_SLOT */
	uint32_t	*pinned;	/* of each key: the event that pinned it */
	uint8_t		*seen;		/* of each key: an enum seen */
	uint32_t	*next;		/* of each key, as foretold, or NULL */
	uint32_t	*spare;		/* compat: slots, the free ones behind */
	uint32_t	 dropped;	/* compat: the last, or NO_KEY */

	struct cl_cache_outcome out;
	uint8_t		*class;		/* out.class ... */
	uint32_t	*out_slot;
	uint32_t	*victim;
};

typedef bool policy_admit(struct cl_cache *, struct pool *, uint32_t key,
    uint32_t *victim);
typedef void policy_use(struct cl_cache *, struct pool *, uint32_t key,
    bool fresh);

static inline bool
cache_resident(const struct cl_cache *c, uint32_t key)
{

	return (c->slot[key] != CL_CACHE_NO_SLOT);
}

static inline bool
cache_pinned(const struct cl_cache *c, uint32_t key)
{

	return (c->pinned[key] == c->event);
}

static inline bool
pool_full(const struct pool *p)
{

	return (p->nused == p->nslots);
}

/* So many percent of a pool's slots, rounded down, but at least one. */
static inline uint32_t
pool_share(const struct cl_cache *c, const struct pool *p, unsigned param)
{
	uint64_t n = (uint64_t)p->nslots * c->param[param] / 100;

	return (n < 1 ? 1 : (uint32_t)n);
}

/* Member i is not resident. */
static inline void
cache_miss(struct cl_cache *c, uint32_t key, uint32_t i)
{

	if (c->seen[key] == SEEN) {
		c->class[i] = CL_CLASS_CAPACITY;
		c->out.ncapacity++;
	} else if (c->seen[key] == STAGED) {
		c->class[i] = CL_CLASS_STAGED;
		c->seen[key] = SEEN;
		c->out.nstaged++;
	} else {
		c->class[i] = CL_CLASS_COLD;
		c->seen[key] = SEEN;
		c->out.ncold++;
	}
}

/* Step 2 of the contract: classify members from to to; pin what is there. */
static inline void
cache_classify(struct cl_cache *c, const uint32_t *keys, uint32_t from,
    uint32_t to)
{
	uint32_t i, key;

	for (i = from; i < to; i++) {
		key = keys[i];
		if (cache_resident(c, key)) {
			c->class[i] = CL_CLASS_HIT;
			c->pinned[key] = c->event;
			c->out.nhits++;
		} else
			cache_miss(c, key, i);
	}
}

/* Step 3 for one missing key: a slot for it, by whoever has to leave. */
static inline void
cache_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t i,
    policy_admit *admit)
{
	uint32_t victim = NO_KEY, slot;

	if (p->nslots == 0 || !admit(c, p, key, &victim)) {
		c->out.nbypass += c->class[i] != CL_CLASS_STAGED;
		c->class[i] |= CL_CACHE_NOT_KEPT;
		return;
	}
	if (victim == NO_KEY)
		slot = p->first_slot + p->nused++;
	else {
		slot = c->slot[victim];
		c->slot[victim] = CL_CACHE_NO_SLOT;
		c->victim[i] = victim;
		c->out.nvictims++;
	}
	c->slot[key] = slot;
	c->pinned[key] = c->event;
}

/* Serve members from to to as one event, by the contract's four steps. */
static inline void
cache_event(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t from, uint32_t to, policy_admit *admit, policy_use *use)
{
	uint32_t i;

	c->event++;
	cache_classify(c, keys, from, to);
	for (i = from; i < to; i++) {
		c->victim[i] = NO_KEY;
		if (c->class[i] != CL_CLASS_HIT)
			cache_admit(c, p, keys[i], i, admit);
		c->out_slot[i] = c->slot[keys[i]];
	}
	for (i = from; i < to; i++)
		use(c, p, keys[i], c->class[i] != CL_CLASS_HIT);
}

/*
 * Orders over resident keys as rings through sentinels, the most recent first.
 * Links are arrays over all keys with the sentinels behind them, so that no
 * key is ever searched for; a ring is named by its sentinel.
 */
struct link {
	uint32_t	newer;		/* nearer to the most recent */
	uint32_t	older;
};

static inline void
ring_init(struct link *link, uint32_t ring)
{

	link[ring].newer = link[ring].older = ring;
}

static inline void
ring_remove(struct link *link, uint32_t key)
{
	uint32_t newer = link[key].newer, older = link[key].older;

	link[newer].older = older;
	link[older].newer = newer;
}

static inline void
ring_add(struct link *link, uint32_t ring, uint32_t key)
{
	uint32_t second = link[ring].older;

	link[key].newer = ring;
	link[key].older = second;
	link[second].newer = key;
	link[ring].older = key;
}

/* A member becomes the most recent. */
static inline void
ring_touch(struct link *link, uint32_t ring, uint32_t key)
{

	ring_remove(link, key);
	ring_add(link, ring, key);
}

/*
 * The least recent member that is not pinned, or the ring: at most as many
 * steps away as the event has members.
 */
static inline uint32_t
ring_victim(const struct cl_cache *c, const struct link *link, uint32_t ring)
{
	uint32_t key = link[ring].newer;

	while (key != ring && cache_pinned(c, key))
		key = link[key].newer;
	return (key);
}

/*
 * The queues of a pool: rings side by side, each key in at most one of them.
 * Ghosts, keys that are remembered but not resident, have queues like others.
 */
#define QUEUES_MAX	4u
#define NOWHERE		UINT8_MAX

struct queues {
	struct link	*link;		/* of all keys, then of all rings */
	uint8_t		*place;		/* of each key: its queue, or NOWHERE */
	uint32_t	 ring;		/* of queue 0; the others follow */
	uint32_t	 n[QUEUES_MAX];	/* members */
};

/* For each pool that many queues, empty; NULL when out of memory. */
struct queues	*cl_cache_queues_open(const struct cl_cache *,
		    unsigned nqueues);
void		 cl_cache_queues_free(struct queues *);	/* NULL is legal */

/* A key that is nowhere becomes the most recent of a queue. */
static inline void
queue_add(struct queues *q, unsigned to, uint32_t key)
{

	ring_add(q->link, q->ring + to, key);
	q->place[key] = (uint8_t)to;
	q->n[to]++;
}

static inline void
queue_remove(struct queues *q, uint32_t key)
{

	ring_remove(q->link, key);
	q->n[q->place[key]]--;
	q->place[key] = NOWHERE;
}

static inline void
queue_move(struct queues *q, unsigned to, uint32_t key)
{

	queue_remove(q, key);
	queue_add(q, to, key);
}

/* A member becomes the most recent of its queue. */
static inline void
queue_touch(struct queues *q, uint32_t key)
{
	uint32_t ring = q->ring + q->place[key];

	if (q->link[ring].older != key)
		ring_touch(q->link, ring, key);
}

/* The least recent member of a queue that is not empty. */
static inline uint32_t
queue_oldest(const struct queues *q, unsigned from)
{

	return (q->link[q->ring + from].newer);
}

/* The least recent member that is not pinned, or NO_KEY. */
static inline uint32_t
queue_victim(const struct cl_cache *c, const struct queues *q, unsigned from)
{
	uint32_t ring = q->ring + from, key = ring_victim(c, q->link, ring);

	return (key == ring ? NO_KEY : key);
}

/* The serve verb of a policy that has NAME_admit and NAME_use. */
#define POLICY_SERVE(name)						\
static void								\
name##_serve(struct cl_cache *c, struct pool *p, const uint32_t *keys,	\
    uint32_t n)								\
{									\
	uint32_t i;							\
									\
	if (c->contract == CL_CONTRACT_EVENT)				\
		cache_event(c, p, keys, 0, n, name##_admit, name##_use);\
	else								\
		for (i = 0; i < n; i++)					\
			cache_event(c, p, keys, i, i + 1, name##_admit,	\
			    name##_use);				\
}

/*
 * Forms that copy another simulator count for count, faults and all, have one
 * verb: get, true for what that simulator calls a hit.  They serve one access
 * at a time, pin nothing, and may throw out several keys or none for one; a
 * hit need not be resident.  Slots they have all the same, by keep and drop:
 * what they keep has one as long as there are any.
 */
typedef bool policy_get(struct cl_cache *, struct pool *, uint32_t key);

static inline void
compat_keep(struct cl_cache *c, struct pool *p, uint32_t key)
{

	if (!cache_resident(c, key) && !pool_full(p))
		c->slot[key] = c->spare[p->first_slot + p->nused++];
}

static inline void
compat_drop(struct cl_cache *c, struct pool *p, uint32_t key)
{

	if (!cache_resident(c, key))
		return;
	c->spare[p->first_slot + --p->nused] = c->slot[key];
	c->slot[key] = CL_CACHE_NO_SLOT;
	c->dropped = key;
	c->out.nvictims++;
}

static inline void
compat_serve(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_get *get)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		c->dropped = NO_KEY;
		c->event++;
		if (p->nslots > 0 && get(c, p, keys[i])) {
			c->class[i] = CL_CLASS_HIT;
			c->out.nhits++;
		} else {
			cache_miss(c, keys[i], i);
			if (!cache_resident(c, keys[i])) {
				c->class[i] |= CL_CACHE_NOT_KEPT;
				c->out.nbypass++;
			}
		}
		c->victim[i] = c->dropped;
		c->out_slot[i] = c->slot[keys[i]];
	}
}

/* The serve verb of a form that has NAME_get. */
#define POLICY_COMPAT(name)						\
static void								\
name##_serve(struct cl_cache *c, struct pool *p, const uint32_t *keys,	\
    uint32_t n)								\
{									\
									\
	compat_serve(c, p, keys, n, name##_get);			\
}

/* The policy that a row of the table is of. */
const struct policy	*cl_cache_policy_find(
			    const struct cl_cache_policy_info *);

/* The policies, a file each. */
extern const struct policy cl_cache_arc;
extern const struct policy cl_cache_belady;
extern const struct policy cl_cache_belady_bypass;
extern const struct policy cl_cache_least_stale;
extern const struct policy cl_cache_lfru;
extern const struct policy cl_cache_lfu;
extern const struct policy cl_cache_lfu_aged;
extern const struct policy cl_cache_lfu_ghost;
extern const struct policy cl_cache_lirs;
extern const struct policy cl_cache_lirs_compat;	/* no row of its own */
extern const struct policy cl_cache_lru;
extern const struct policy cl_cache_s3fifo;
extern const struct policy cl_cache_twoq;
extern const struct policy cl_cache_wtinylfu;

#endif /* CACHE_INT_H */
