/*
 * W-TinyLFU (arXiv 1512.00727): a small window takes in every newcomer, and
 * whoever has to leave it must have been used more often than the one that
 * main would lose for it.
 *
 * A pool of n slots has a window of at most w keys and a main part of at most
 * m = n - w, in two segments: probation, and protected with at most p of them.
 * Each segment is a ring.  Counts are exact, one for each key, resident or
 * not: the keys are dense, and need no sketch.  They are halved after every
 * 10 n accesses, so that none is above 20 n.  cl-policies(7) says
 * what happens step by step.
 *
 * An admission throws out at most one key: where a candidate of the window
 * goes to main, the newcomer takes the slot of who left main for it.
 */

#include <stdlib.h>

#include "cache_list_int.h"
#include "cache_serve_int.h"
#include "cache_sketch_int.h"

#define NHASHES	4u		/* of the sketch: its rows */
#define NIBBLE	15u		/* what a counter of it counts to */

enum { PARAM_WINDOW, PARAM_PERIOD, PARAM_COUNT_MIN };

enum segment { WINDOW, PROBATION, PROTECTED, NSEGMENTS };

/* What the policy has of a pool. */
struct share {
	/* fixed at open */
	uint32_t	 first_key;
	uint32_t	 nkeys;
	uint32_t	 ring;		/* of the window; the others follow */
	uint32_t	 window_max;
	uint32_t	 main_max;
	uint32_t	 protected_max;
	uint64_t	 period;

	uint32_t	 n[NSEGMENTS];
	uint64_t	 accesses;	/* since counts were halved */
	struct sketch	 sketch;	/* with count-min */
};

struct wtinylfu {
	uint32_t	 npools;
	struct share	*share;		/* of each pool */
	struct link	*link;
	uint32_t	*count;		/* of each key; NULL with count-min */
	uint8_t		*segment;	/* of each key that is resident */
};

static void
wtinylfu_free(void *state)
{
	struct wtinylfu *w = state;
	uint32_t i;

	for (i = 0; w->share != NULL && i < w->npools; i++)
		cl_cache_sketch_free(&w->share[i].sketch);
	free(w->share);
	free(w->link);
	free(w->count);
	free(w->segment);
	free(w);
}

/* Four rows of four counters a slot, rounded up to a power of two. */
static int
make_sketch(struct sketch *s, const struct pool *p)
{
	uint32_t row = 4, key, *to, i;

	while (row / 4 < p->nslots)
		row *= 2;
	if (cl_cache_sketch_init(s, p->nkeys, NHASHES * row, NHASHES) != 0)
		return (-1);
	for (key = 0, to = s->place; key < p->nkeys; key++)
		for (i = 0; i < NHASHES; i++)
			*to++ = i * row + ((uint32_t)cl_cache_sketch_hash(
			    p->first_key + key, i) & (row - 1));
	return (0);
}

static int
make_share(struct share *s, struct link *link, const struct cl_cache *c,
    const struct pool *p)
{
	uint32_t i;

	s->first_key = p->first_key;
	s->nkeys = p->nkeys;
	s->ring = c->nkeys + NSEGMENTS * p->number;
	s->window_max = pool_share(c, p, PARAM_WINDOW);
	s->main_max = p->nslots == 0 ? 0 : p->nslots - s->window_max;
	s->protected_max = (uint32_t)((uint64_t)s->main_max * 8 / 10);
	s->period = c->param[PARAM_PERIOD] * p->nslots;
	for (i = WINDOW; i < NSEGMENTS; i++)
		ring_init(link, s->ring + i);
	return (c->param[PARAM_COUNT_MIN] ? make_sketch(&s->sketch, p) : 0);
}

static void *
wtinylfu_open(const struct cl_cache *c)
{
	struct wtinylfu *w;
	uint32_t i;

	if ((w = calloc(1, sizeof(*w))) == NULL)
		return (NULL);
	w->npools = c->npools;
	w->share = calloc(c->npools, sizeof(*w->share));
	w->link = calloc((size_t)c->nkeys + (size_t)NSEGMENTS * c->npools,
	    sizeof(*w->link));
	if (!c->param[PARAM_COUNT_MIN])
		w->count = calloc(c->nkeys, sizeof(*w->count));
	w->segment = calloc(c->nkeys, sizeof(*w->segment));
	if (w->share == NULL || w->link == NULL || w->segment == NULL ||
	    (w->count == NULL && !c->param[PARAM_COUNT_MIN]))
		goto fail;
	for (i = 0; i < c->npools; i++)
		if (make_share(&w->share[i], w->link, c, &c->pool[i]) != 0)
			goto fail;
	return (w);
fail:
	wtinylfu_free(w);
	return (NULL);
}

/* A key, in no segment now, becomes the most recent of one. */
INLINE void
enter(struct wtinylfu *w, struct share *s, enum segment to, uint32_t key)
{

	ring_add(w->link, s->ring + to, key);
	w->segment[key] = (uint8_t)to;
	s->n[to]++;
}

INLINE void
leave(struct wtinylfu *w, struct share *s, uint32_t key)
{

	ring_remove(w->link, key);
	s->n[w->segment[key]]--;
}

static inline void
count(struct wtinylfu *w, struct share *s, uint32_t key)
{

	if (w->count == NULL)
		sketch_add(&s->sketch, key - s->first_key, NHASHES, NIBBLE);
	else if (w->count[key] < UINT32_MAX)
		w->count[key]++;
}

static inline uint32_t
count_of(const struct wtinylfu *w, const struct share *s, uint32_t key)
{

	return (w->count == NULL ? sketch_count(&s->sketch,
	    key - s->first_key, NHASHES) : w->count[key]);
}

/*
 * The main victim: the least recent unpinned member of probation, else of
 * protected; NO_KEY where all are pinned.
 */
INLINE uint32_t
main_victim(const struct cl_cache *c, const struct wtinylfu *w,
    const struct share *s)
{
	uint32_t ring, key;

	for (ring = s->ring + PROBATION; ring <= s->ring + PROTECTED; ring++)
		if ((key = ring_victim(c, w->link, ring)) != ring)
			return (key);
	return (NO_KEY);
}

/*
 * A candidate, in no segment now, wants into main.  False: it is rejected.
 * True: it is in probation, and *victim has left for it where main was full.
 */
INLINE bool
contest(struct cl_cache *c, struct wtinylfu *w, struct share *s,
    uint32_t candidate, uint32_t *victim)
{
	uint32_t old;

	if (s->n[PROBATION] + s->n[PROTECTED] == s->main_max) {
		old = main_victim(c, w, s);
		if (old == NO_KEY ||
		    count_of(w, s, candidate) <= count_of(w, s, old)) {
			c->out.nrejects++;
			return (false);
		}
		leave(w, s, old);
		*victim = old;
	}
	enter(w, s, PROBATION, candidate);
	return (true);
}

INLINE bool
wtinylfu_admit(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{
	struct wtinylfu *w = c->state;
	struct share *s = &w->share[p->number];
	uint32_t old;

	if (s->n[WINDOW] == s->window_max) {
		old = ring_victim(c, w->link, s->ring + WINDOW);
		if (old == s->ring + WINDOW)
			return (contest(c, w, s, key, victim));
		leave(w, s, old);
		if (!contest(c, w, s, old, victim))
			*victim = old;
	}
	enter(w, s, WINDOW, key);
	return (true);
}

static void
halve(struct wtinylfu *w, struct share *s)
{
	uint32_t i;

	if (w->count == NULL)
		cl_cache_sketch_halve(&s->sketch);
	else
		for (i = 0; i < s->nkeys; i++)
			w->count[s->first_key + i] /= 2;
	s->accesses = 0;
}

/* From probation to protected, which sends back what it has no room for. */
INLINE void
promote(struct wtinylfu *w, struct share *s, uint32_t key)
{
	uint32_t old;

	leave(w, s, key);
	enter(w, s, PROTECTED, key);
	while (s->n[PROTECTED] > s->protected_max) {
		old = w->link[s->ring + PROTECTED].newer;
		leave(w, s, old);
		enter(w, s, PROBATION, old);
	}
}

INLINE void
wtinylfu_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct wtinylfu *w = c->state;
	struct share *s = &w->share[p->number];
	uint8_t segment;

	count(w, s, key);
	if (++s->accesses == s->period)
		halve(w, s);
	if (!cache_resident(c, key))
		return;
	segment = w->segment[key];
	if (segment == PROBATION && !fresh)
		promote(w, s, key);
	else
		ring_touch(w->link, s->ring + segment, key);
}

POLICY_SERVE(wtinylfu)

const struct policy cl_cache_wtinylfu = {
	.info = { .name = "wtinylfu",
	    .summary = "a window, then the more frequently used",
	    .paper = "arXiv 1512.00727",
	    .param = {
		{ .name = "window", .unit = "percent of the slots", .hi = 100,
		    .value = 1 },
		{ .name = "period", .unit = "accesses per slot to a halving",
		    .lo = 1, .hi = 1000, .value = 10, .implied = true },
		{ .name = "count-min", .unit = "count by a sketch",
		    .kind = CL_CACHE_FLAG },
		{ .name = "compat", .unit = "count as libCacheSim does",
		    .kind = CL_CACHE_FLAG } } },
	.open = wtinylfu_open,
	.free = wtinylfu_free,
	.serve = wtinylfu_serve,
	.compat = &cl_cache_wtinylfu_compat,
};
