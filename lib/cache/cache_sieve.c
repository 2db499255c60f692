/*
 * SIEVE (Zhang et al., NSDI 2024): a queue in the order of admission, and a
 * hand that goes from the oldest towards the newest and round.  A use sets a
 * key's bit; the hand clears the bits that it passes, and throws out the first
 * key without one, from wherever it is.  Nothing else moves.
 *
 * So each pool has two queues: of those that the hand has yet to pass, where
 * newcomers go behind, and of those that it has passed.  The hand takes from
 * the first, and adds to the second.  When nobody is left before it, the second
 * becomes the first, at once: a newcomer has to wait for all who are older.
 */

#include <stdlib.h>

#include "cache_serve_int.h"

struct queue {
	uint32_t	*ahead;		/* a circle */
	uint32_t	*passed;	/* as large */
	uint32_t	 mask;		/* of places in the circle */
	uint32_t	 first;		/* ahead: what is looked at next */
	uint32_t	 end;		/* ahead: behind the newest */
	uint32_t	 npassed;
};

struct sieve {
	struct queue	*queue;		/* of each pool */
	uint32_t	*key;		/* the arrays of all */
	uint16_t	*used;		/* of each key: its bit, as not 0 */
};

static void
sieve_free(void *state)
{
	struct sieve *s = state;

	if (s == NULL)
		return;
	free(s->queue);
	free(s->key);
	free(s->used);
	free(s);
}

/* Room for a word of newcomers before their victims leave, and for one more. */
static uint32_t
circle_size(const struct pool *p)
{
	uint32_t size = 2 * WORD_MEMBERS;

	while (size < p->nslots + WORD_MEMBERS + 1)
		size *= 2;
	return (size);
}

static void *
sieve_open(const struct cl_cache *c)
{
	uint32_t i, size;
	struct sieve *s;
	size_t n = 0;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		return (NULL);
	for (i = 0; i < c->npools; i++)
		n += 2 * (size_t)circle_size(&c->pool[i]);
	s->queue = calloc(c->npools, sizeof(*s->queue));
	s->key = calloc(n, sizeof(*s->key));
	s->used = calloc(c->nkeys, sizeof(*s->used));
	if (s->queue == NULL || s->key == NULL || s->used == NULL) {
		sieve_free(s);
		return (NULL);
	}
	for (i = 0, n = 0; i < c->npools; i++, n += 2 * (size_t)size) {
		size = circle_size(&c->pool[i]);
		s->queue[i].mask = size - 1;
		s->queue[i].ahead = s->key + n;
		s->queue[i].passed = s->key + n + size;
	}
	return (s);
}

/* Where the hand has passed the newest, the oldest is next. */
INLINE void
go_round(struct queue *q)
{
	uint32_t *passed = q->passed;

	if (q->first != q->end)
		return;
	q->passed = q->ahead;
	q->ahead = passed;
	q->first = 0;
	q->end = q->npassed;
	q->npassed = 0;
}

/*
 * The key that the hand stops at, which leaves the queue, or NO_KEY where all
 * are pinned: it goes round twice at most, since what it passes unpinned it
 * takes the next time.  That a pinned key loses its bit does no harm: its use
 * is still to come.
 */
INLINE uint32_t
sift(const struct cl_cache *c, struct sieve *s, struct queue *q,
    uint32_t nslots)
{
	uint32_t key, looks;
	bool stays;

	for (looks = 0; looks < 2 * nslots; looks++) {
		key = q->ahead[q->first++ & q->mask];
		stays = s->used[key] != 0 || cache_pinned(c, key);
		s->used[key] = 0;
		if (stays)
			q->passed[q->npassed++] = key;
		go_round(q);
		if (!stays)
			return (key);
	}
	return (NO_KEY);
}

INLINE bool
sieve_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct sieve *s = c->state;
	struct queue *q = &s->queue[p->number];

	if (pool_full(p) && (*victim = sift(c, s, q, p->nslots)) == NO_KEY)
		return (false);
	q->ahead[q->end++ & q->mask] = key;
	return (true);
}

/* The access that admitted a key sets no bit. */
INLINE void
sieve_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct sieve *s = c->state;

	(void)p;
	s->used[key] = !fresh;
}

/*
 * The victims of n misses, who leave the queue.  False, and nothing happened,
 * if the hand would come upon a key with that mark, or round.
 */
INLINE bool
sift_word(struct sieve *s, struct queue *q, uint32_t n, uint16_t mark,
    uint32_t *victim)
{
	uint32_t *passed = q->passed + q->npassed, at = q->first, i = 0, key;
	uint16_t *used = s->used, bit;

	for (; i < n; at++) {
		key = q->ahead[at & q->mask];
		bit = used[key];
		if (bit == mark || at == q->end)
			break;
		used[key] = 0;
		*passed = victim[i] = key;	/* one of them */
		passed += bit != 0;
		i += bit == 0;
	}
	if (i < n || at == q->end) {
		while (passed > q->passed + q->npassed)
			used[*--passed] = 1;
		return (false);
	}
	q->npassed = (uint32_t)(passed - q->passed);
	q->first = at;
	return (true);
}

/*
 * All members are used, and those that miss enter, behind the end that q knows,
 * before anybody leaves.  So the hand must not come upon a member that hits,
 * whose bit has a mark.  An older bit may happen to look the same, which costs
 * time and nothing else.
 */
INLINE bool
sieve_word(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n)
{
	struct sieve *s = c->state;
	struct queue *q = &s->queue[p->number];
	uint32_t *ahead = q->ahead, mask = q->mask, end = q->end, class, i, key;
	uint16_t *known = c->known, *used = s->used, old[WORD_MEMBERS];
	uint16_t mark = (uint16_t)(c->event | 1);
	uint32_t victim[WORD_MEMBERS], nmisses;
	const uint64_t *names = c->names;
	uint64_t word = 0, digest = c->digest;

	for (i = 0; i < n; i++) {
		key = keys[i];
		class = known[key];
		word |= (uint64_t)class << 4 * i;
		known[key] = CL_CLASS_HIT;
		old[i] = used[key];
		used[key] = (uint16_t)(mark & ((class >> 1) - 1));
		ahead[end & mask] = key;
		end += class >> 1;
	}
	nmisses = end - q->end;
	if (!sift_word(s, q, nmisses, mark, victim)) {
		for (i = 0; i < n; i++) {
			known[keys[i]] = word >> 4 * i & CLASS_MASK;
			used[keys[i]] = old[i];
		}
		return (false);
	}
	q->end = end;
	c->out.nvictims += cache_count_word(c, word);
	for (i = 0; i < nmisses; i++) {
		key = victim[i];
		known[key] = CL_CLASS_CAPACITY;
		digest = cl_hash_mix(digest, names[key]);
	}
	c->digest = cl_hash_mix(digest, word);
	return (true);
}

POLICY_SERVE_AT_ONCE(sieve)

const struct policy cl_cache_sieve = {
	.info = { .name = "sieve", .summary = "a hand sifts out what was not "
	    "used since it last came by", .paper = "Zhang et al., NSDI 2024" },
	.open = sieve_open,
	.free = sieve_free,
	.serve = sieve_serve,
};
