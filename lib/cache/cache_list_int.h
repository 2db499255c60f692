#ifndef CACHE_LIST_INT_H
#define CACHE_LIST_INT_H

/*
 * Orders that policies keep: rings of keys, and queues of them.
 */

#include "cache_int.h"

/*
 * Orders over resident keys as rings through sentinels, the most recent first.
 * Links are arrays over all keys with the sentinels behind them, so that no
 * key is ever searched for; a ring is named by its sentinel.
 */
struct link {
	uint32_t	newer;		/* nearer to the most recent */
	uint32_t	older;
};

INLINE void
ring_init(struct link *link, uint32_t ring)
{

	link[ring].newer = link[ring].older = ring;
}

INLINE void
ring_remove(struct link *link, uint32_t key)
{
	uint32_t newer = link[key].newer, older = link[key].older;

	link[newer].older = older;
	link[older].newer = newer;
}

INLINE void
ring_add(struct link *link, uint32_t ring, uint32_t key)
{
	uint32_t second = link[ring].older;

	link[key].newer = ring;
	link[key].older = second;
	link[second].newer = key;
	link[ring].older = key;
}

/* A member becomes the most recent. */
INLINE void
ring_touch(struct link *link, uint32_t ring, uint32_t key)
{

	ring_remove(link, key);
	ring_add(link, ring, key);
}

/*
 * The least recent member that is not pinned, or the ring: at most as many
 * steps away as the event has members.
 */
INLINE uint32_t
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

#endif /* CACHE_LIST_INT_H */
