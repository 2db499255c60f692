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

#include "cache_int.h"

#define PERIOD	10		/* accesses per slot from halving to halving */

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
};

struct wtinylfu {
	struct share	*share;		/* of each pool */
	struct link	*link;
	uint32_t	*count;		/* of each key */
	uint8_t		*segment;	/* of each key that is resident */
};

static void
wtinylfu_free(void *state)
{
	struct wtinylfu *w = state;

	if (w == NULL)
		return;
	free(w->share);
	free(w->link);
	free(w->count);
	free(w->segment);
	free(w);
}

static void
make_share(struct share *s, struct link *link, const struct cl_cache *c,
    const struct pool *p)
{
	uint64_t window = (uint64_t)p->nslots * c->param[0] / 100;
	uint32_t i;

	s->first_key = p->first_key;
	s->nkeys = p->nkeys;
	s->ring = c->nkeys + NSEGMENTS * p->number;
	s->window_max = window < 1 ? 1 : (uint32_t)window;
	s->main_max = p->nslots == 0 ? 0 : p->nslots - s->window_max;
	s->protected_max = (uint32_t)((uint64_t)s->main_max * 8 / 10);
	s->period = (uint64_t)PERIOD * p->nslots;
	for (i = WINDOW; i < NSEGMENTS; i++)
		ring_init(link, s->ring + i);
}

static void *
wtinylfu_open(const struct cl_cache *c)
{
	struct wtinylfu *w;
	uint32_t i;

	if ((w = calloc(1, sizeof(*w))) == NULL)
		return (NULL);
	w->share = calloc(c->npools, sizeof(*w->share));
	w->link = calloc((size_t)c->nkeys + (size_t)NSEGMENTS * c->npools,
	    sizeof(*w->link));
	w->count = calloc(c->nkeys, sizeof(*w->count));
	w->segment = calloc(c->nkeys, sizeof(*w->segment));
	if (w->share == NULL || w->link == NULL || w->count == NULL ||
	    w->segment == NULL) {
		wtinylfu_free(w);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++)
		make_share(&w->share[i], w->link, c, &c->pool[i]);
	return (w);
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
		if (old == NO_KEY || w->count[candidate] <= w->count[old]) {
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
	uint32_t *count = w->count + s->first_key, i;

	for (i = 0; i < s->nkeys; i++)
		count[i] /= 2;
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

	w->count[key]++;
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
	    .param = { { .name = "window", .unit = "percent of the slots",
	    .hi = 100, .value = 1 } } },
	.open = wtinylfu_open,
	.free = wtinylfu_free,
	.serve = wtinylfu_serve,
};
