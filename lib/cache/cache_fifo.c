/*
 * First in, first out: a queue for each pool in a circular array, which has
 * room for an event besides the pool's slots, for contract retain.  A pinned
 * key that is passed over stays the oldest: it moves up by one place, into
 * that of the victim behind it.
 */

#include <stdlib.h>

#include "cache_serve_int.h"

struct queue {
	uint32_t	*key;
	uint32_t	 size;		/* of the array */
	uint32_t	 first;		/* the oldest */
	uint32_t	 n;
};

struct fifo {
	struct queue	*queue;		/* of each pool */
	uint32_t	*key;		/* the arrays of all */
};

static void
fifo_free(void *state)
{
	struct fifo *f = state;

	if (f == NULL)
		return;
	free(f->queue);
	free(f->key);
	free(f);
}

static void *
fifo_open(const struct cl_cache *c)
{
	struct fifo *f;
	size_t n = 0;
	uint32_t i;

	if ((f = calloc(1, sizeof(*f))) == NULL)
		return (NULL);
	for (i = 0; i < c->npools; i++)
		n += (size_t)c->pool[i].nslots + c->nevent;
	f->queue = calloc(c->npools, sizeof(*f->queue));
	f->key = calloc(n, sizeof(*f->key));
	if (f->queue == NULL || f->key == NULL) {
		fifo_free(f);
		return (NULL);
	}
	for (i = 0, n = 0; i < c->npools; n += f->queue[i++].size) {
		f->queue[i].key = f->key + n;
		f->queue[i].size = c->pool[i].nslots + c->nevent;
	}
	return (f);
}

/* The place i places behind another. */
INLINE uint32_t
behind(const struct queue *q, uint32_t place, uint32_t i)
{

	place += i;
	return (place >= q->size ? place - q->size : place);
}

INLINE void
append(struct queue *q, uint32_t key)
{

	q->key[behind(q, q->first, q->n++)] = key;
}

INLINE uint32_t
take_first(struct queue *q)
{
	uint32_t key = q->key[q->first];

	q->first = behind(q, q->first, 1);
	q->n--;
	return (key);
}

/* The oldest key that is not pinned leaves the queue; or NO_KEY. */
INLINE uint32_t
take_unpinned(const struct cl_cache *c, struct queue *q)
{
	uint32_t i, key;

	for (i = 0; i < q->n; i++)
		if (!cache_pinned(c, q->key[behind(q, q->first, i)]))
			break;
	if (i == q->n)
		return (NO_KEY);
	key = q->key[behind(q, q->first, i)];
	for (; i > 0; i--)
		q->key[behind(q, q->first, i)] =
		    q->key[behind(q, q->first, i - 1)];
	(void)take_first(q);
	return (key);
}

INLINE bool
fifo_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct fifo *f = c->state;
	struct queue *q = &f->queue[p->number];

	if (pool_full(p) && (*victim = take_unpinned(c, q)) == NO_KEY)
		return (false);
	append(q, key);
	return (true);
}

/* What is written behind the newest counts for nothing, unless it misses. */
INLINE uint32_t
fifo_turn(struct cl_cache *c, struct pool *p, uint32_t key, bool miss)
{
	struct fifo *f = c->state;
	struct queue *q = &f->queue[p->number];
	uint32_t old = q->key[q->first];

	if (cache_pinned(c, old)) {
		if (miss) {
			old = take_unpinned(c, q);
			append(q, key);
		}
		return (old);
	}
	q->key[behind(q, q->first, q->n)] = key;
	q->first = behind(q, q->first, miss);
	return (old);
}

INLINE void
fifo_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	(void)c;
	(void)p;
	(void)key;
	(void)fresh;
}

INLINE void
fifo_enter(struct cl_cache *c, struct pool *p, uint32_t key)
{
	struct fifo *f = c->state;

	append(&f->queue[p->number], key);
}

INLINE uint32_t
fifo_evict(struct cl_cache *c, struct pool *p)
{
	struct fifo *f = c->state;

	return (take_first(&f->queue[p->number]));
}

POLICY_SERVE_TURNING(fifo)
POLICY_RETAIN(fifo)

const struct policy cl_cache_fifo = {
	.info = { .name = "fifo", .summary = "first in, first out",
	    .total_order = true },
	.open = fifo_open,
	.free = fifo_free,
	.serve = fifo_serve,
	.retain = fifo_retain,
};
