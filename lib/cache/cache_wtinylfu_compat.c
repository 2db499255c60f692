/*
 * W-TinyLFU as libCacheSim counts it, for comparison.  The window is part of
 * the slots, the segments of main are shares of the rest, and what is rounded
 * off belongs to none of them.  Uses are counted by a counting Bloom filter of
 * ten hashes, which adds to all ten counters: at hits in main, when a newcomer
 * comes in, and once more for whoever leaves the window.
 *
 * The window takes in newcomers without a bound as long as there are slots.  A
 * miss of a full pool empties it from its oldest on until one of them has lost
 * against main, so that it may throw out several; where none loses, main's
 * victim leaves besides.
 */

#include <stdlib.h>

#include "cache_compat_int.h"
#include "cache_int.h"
#include "cache_list_int.h"
#include "cache_sketch_int.h"

#define NHASHES		10u
#define SEED_A		0x12345678u
#define SEED_B		0x12344321u
#define PER_ENTRY	14.37758756605117	/* ln(1000) / ln(2)^2 */
#define PERIOD		32u		/* hits per slot of main to a halving */

enum { WINDOW, PROBATION, PROTECTED, NQUEUES };

enum { PARAM_WINDOW };

struct share {
	/* fixed at open */
	uint32_t	 first_key;
	uint32_t	 window_max;
	uint32_t	 main_max;
	uint32_t	 probation_max;
	uint32_t	 protected_max;

	struct sketch	 sketch;
	uint64_t	 hits;		/* in main, since counts were halved */
};

struct wtinylfu {
	uint32_t	 npools;
	struct queues	*q;		/* of each pool */
	struct share	*share;		/* of each pool */
};

static void
wtinylfu_compat_free(void *state)
{
	struct wtinylfu *w = state;
	uint32_t i;

	for (i = 0; w->share != NULL && i < w->npools; i++)
		cl_cache_sketch_free(&w->share[i].sketch);
	cl_cache_queues_free(w->q);
	free(w->share);
	free(w);
}

/* The places of a key's counters: those of keys as 64-bit numbers. */
static void
find_places(struct sketch *s, uint32_t first_key, uint32_t nkeys)
{
	uint32_t *to = s->place, key, a, b, i;

	for (key = first_key; key < first_key + nkeys; key++) {
		a = (uint32_t)cl_cache_sketch_hash(key, SEED_A);
		b = (uint32_t)cl_cache_sketch_hash(key, SEED_B);
		for (i = 0; i < NHASHES; i++)
			*to++ = (a + i * b) % s->ncounters;
	}
}

static int
make_share(struct share *s, const struct cl_cache *c, const struct pool *p)
{
	double wanted;
	uint32_t n;

	s->first_key = p->first_key;
	s->window_max = (uint32_t)(p->nslots * c->param[PARAM_WINDOW] / 100);
	s->main_max = p->nslots - s->window_max;
	s->probation_max = s->main_max / 5;
	s->protected_max = (uint32_t)((uint64_t)s->main_max * 4 / 5);
	wanted = PER_ENTRY * s->main_max;
	n = (uint32_t)wanted;
	if (n < wanted)
		n++;
	if (n < NHASHES)
		n = 2 * NHASHES;
	if (cl_cache_sketch_init(&s->sketch, p->nkeys, n, NHASHES) != 0)
		return (-1);
	find_places(&s->sketch, p->first_key, p->nkeys);
	return (0);
}

static void *
wtinylfu_compat_open(const struct cl_cache *c)
{
	struct wtinylfu *w;
	uint32_t i;

	if ((w = calloc(1, sizeof(*w))) == NULL)
		return (NULL);
	w->npools = c->npools;
	w->q = cl_cache_queues_open(c, NQUEUES);
	w->share = calloc(c->npools, sizeof(*w->share));
	if (w->q == NULL || w->share == NULL)
		goto fail;
	for (i = 0; i < c->npools; i++)
		if (make_share(&w->share[i], c, &c->pool[i]) != 0)
			goto fail;
	return (w);
fail:
	wtinylfu_compat_free(w);
	return (NULL);
}

INLINE void
count(struct share *s, uint32_t key)
{

	sketch_add(&s->sketch, key - s->first_key, NHASHES, UINT32_MAX);
}

/* Main's victim, of which there is one: the oldest of the lower segment. */
INLINE uint32_t
main_oldest(const struct queues *q)
{

	return (queue_oldest(q, q->n[PROBATION] > 0 ? PROBATION : PROTECTED));
}

INLINE void
throw_out(struct cl_cache *c, struct queues *q, struct pool *p, uint32_t key)
{

	queue_remove(q, key);
	compat_drop(c, p, key);
}

/* To the lower segment with room, or else to the lowest. */
INLINE void
enter_main(struct queues *q, const struct share *s, uint32_t key)
{

	queue_move(q, q->n[PROBATION] >= s->probation_max &&
	    q->n[PROTECTED] < s->protected_max ? PROTECTED : PROBATION, key);
}

/* The oldest of the window leaves it; false: for good. */
INLINE bool
compete(struct cl_cache *c, struct queues *q, struct share *s, struct pool *p)
{
	uint32_t key = queue_oldest(q, WINDOW), old, at = s->first_key;
	bool won = true;

	if (q->n[PROBATION] + q->n[PROTECTED] == s->main_max) {
		old = main_oldest(q);
		won = sketch_count(&s->sketch, key - at, NHASHES) >
		    sketch_count(&s->sketch, old - at, NHASHES);
		throw_out(c, q, p, won ? old : key);
	}
	if (won)
		enter_main(q, s, key);
	else
		c->out.nrejects++;
	count(s, key);
	return (won);
}

/* A hit in main counts; the segments send down what they have no room for. */
INLINE void
promote(struct cl_cache *c, struct queues *q, struct share *s, struct pool *p,
    uint32_t key)
{

	queue_move(q, PROTECTED, key);
	while (q->n[PROTECTED] > s->protected_max) {
		queue_move(q, PROBATION, queue_oldest(q, PROTECTED));
		while (q->n[PROBATION] > s->probation_max)
			throw_out(c, q, p, queue_oldest(q, PROBATION));
	}
	count(s, key);
	if (++s->hits >= (uint64_t)PERIOD * s->main_max) {
		s->hits = 0;
		cl_cache_sketch_halve(&s->sketch);
	}
}

INLINE bool
wtinylfu_compat_get(struct cl_cache *c, struct pool *p, uint32_t key)
{
	struct wtinylfu *w = c->state;
	struct share *s = &w->share[p->number];
	struct queues *q = &w->q[p->number];
	bool won = true;

	if (q->place[key] == WINDOW) {
		queue_touch(q, key);
		return (true);
	}
	if (q->place[key] != NOWHERE) {
		promote(c, q, s, p, key);
		return (true);
	}
	if (s->window_max == 0 || s->probation_max == 0)
		return (false);
	if (pool_full(p)) {
		while (q->n[WINDOW] > 0 && won)
			won = compete(c, q, s, p);
		if (won)
			throw_out(c, q, p, main_oldest(q));
	}
	queue_add(q, WINDOW, key);
	compat_keep(c, p, key);
	count(s, key);
	return (false);
}

POLICY_COMPAT(wtinylfu_compat)

const struct policy cl_cache_wtinylfu_compat = {
	.open = wtinylfu_compat_open,
	.free = wtinylfu_compat_free,
	.serve = wtinylfu_compat_serve,
};
