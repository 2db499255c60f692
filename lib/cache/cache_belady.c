/*
 * Belady's choice, with the future known: the victim is the expert whose next
 * use is furthest away, of several the one with the higher key (IBM Systems
 * Journal 5(2), 1966).  belady admits whoever misses; belady-bypass only who
 * will be used before somebody who could leave instead, which is the fewest
 * misses that any policy can have.  Under event that takes more than the next
 * use: members of one event are told apart by what follows it, since those
 * that are hits there must stay, and the missing members are chosen together.
 *
 * Next uses are places, of which no two experts of a pool share one, so each
 * pool has a bit for each place: it is set where a resident is used next.  Two
 * levels above have a bit for each word that is not 0.  Whoever is furthest is
 * found by the highest bit of a word in each level, the top one of which is
 * walked down from where the last mark was: words there are few, one for 2^18
 * places.  A use only sets a bit: the one of its own place stays, and time
 * leaves it behind.  Whose a bit is says the array of all places, but that is
 * far away in memory: a small table, which forgets, is asked first.
 *
 * Members of the event at hand have none ahead until they are used.  Where a
 * bit is found whose expert is no unpinned resident, it was left behind, and
 * all residents are pinned.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/order.h"
#include "cache_serve_int.h"

#define LEVELS		3u
#define WORD_LOG	6u		/* of 64 bits */

struct marks {
	uint64_t	*level[LEVELS];	/* the lowest first */
	const uint32_t	*key;		/* in each place */
	uint32_t	*recent;	/* the same of some; by its low bits */
	uint32_t	 mask;		/* these */
	uint64_t	 last;		/* set: place + 1, key; 0: none is */
};

struct belady {
	uint64_t	*words;		/* of all marks */
	uint32_t	*recent;	/* likewise */
	struct marks	*marks;		/* of each pool */

	/* belady-bypass: the event at hand */
	const uint32_t	*keys;
	uint32_t	 nkeys;
	bool		 planned;
	uint32_t	*wish;		/* missing members, the nearest first */
	uint32_t	 last;		/* of them that is kept */
	uint32_t	*leaver;	/* who leaves for them */
	uint32_t	 nleavers;
	uint32_t	 nleft;		/* of them that have left */
};

static void
belady_free(void *state)
{
	struct belady *b = state;

	if (b == NULL)
		return;
	free(b->words);
	free(b->recent);
	free(b->marks);
	free(b->wish);
	free(b->leaver);
	free(b);
}

/* Entries of a pool's table of recent marks. */
static uint32_t
table_size(const struct pool *p)
{
	uint32_t n = 64;

	while (n < 4 * p->nkeys)
		n *= 2;
	return (n);
}

static void *
belady_open(const struct cl_cache *c)
{
	struct belady *b;
	size_t n = 0;
	uint32_t i;

	if ((b = calloc(1, sizeof(*b))) == NULL)
		return (NULL);
	b->marks = calloc(c->npools, sizeof(*b->marks));
	b->wish = calloc(c->nevent, sizeof(*b->wish));
	b->leaver = calloc(c->nevent, sizeof(*b->leaver));
	if (b->marks == NULL || b->wish == NULL || b->leaver == NULL) {
		belady_free(b);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++)
		n += table_size(&c->pool[i]);
	if ((b->recent = calloc(n, sizeof(*b->recent))) == NULL) {
		belady_free(b);
		return (NULL);
	}
	for (n = 0, i = 0; i < c->npools; i++) {
		b->marks[i].recent = b->recent + n;
		b->marks[i].mask = table_size(&c->pool[i]) - 1;
		n += table_size(&c->pool[i]);
	}
	return (b);
}

/* Which bit of its word is that of i? */
INLINE uint64_t
bit(uint32_t i)
{

	return (UINT64_C(1) << (i % 64));
}

INLINE uint32_t
highest(uint64_t word)
{

	return (63 - (uint32_t)__builtin_clzll(word));
}

/* Behind the last mark, and whose it is. */
INLINE uint32_t
end_of(const struct marks *m)
{

	return ((uint32_t)(m->last >> 32));
}

INLINE uint32_t
last_key(const struct marks *m)
{

	return ((uint32_t)m->last);
}

/* End and key are one number: what is further is more, without a branch. */
INLINE void
mark(struct marks *m, uint32_t key, uint32_t place)
{
	uint64_t this = (uint64_t)(place + 1) << 32 | key;
	uint32_t i, at = place;

	for (i = 0; i < LEVELS; i++, at >>= WORD_LOG)
		m->level[i][at >> WORD_LOG] |= bit(at);
	m->recent[place & m->mask] = key;
	m->last = this > m->last ? this : m->last;
}

/* Which one is the last now, and was behind the one that has gone? */
INLINE uint32_t
find_end(const struct marks *m)
{
	uint32_t i, at = (end_of(m) - 1) >> LEVELS * WORD_LOG;

	while (m->level[LEVELS - 1][at] == 0)
		if (at-- == 0)
			return (0);
	for (i = LEVELS; i-- > 0;)
		at = at << WORD_LOG | highest(m->level[i][at]);
	return (at + 1);
}

/* Whose place is that? */
INLINE uint32_t
whose(const struct cl_cache *c, const struct marks *m, uint32_t place)
{
	uint32_t key = m->recent[place & m->mask];

	return (c->next[key] == place ? key : m->key[place]);
}

/* The last mark goes, and whose it was is returned. */
INLINE uint32_t
take_last(const struct cl_cache *c, struct marks *m)
{
	uint32_t i, at, key = last_key(m);
	uint64_t gone = 1, *word;

	for (i = 0, at = end_of(m) - 1; i < LEVELS; i++, at >>= WORD_LOG) {
		word = &m->level[i][at >> WORD_LOG];
		*word &= ~(gone << at % 64);
		gone &= *word == 0;
	}
	at = find_end(m);
	m->last = at == 0 ? 0 : (uint64_t)at << 32 | whose(c, m, at - 1);
	return (key);
}

/* Who is furthest away and not pinned, or NO_KEY. */
INLINE uint32_t
furthest(const struct cl_cache *c, const struct marks *m)
{

	return (m->last != 0 && c->known[last_key(m)] == CL_CLASS_HIT ?
	    last_key(m) : NO_KEY);
}

INLINE bool
belady_admit(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{
	struct belady *b = c->state;
	struct marks *m = &b->marks[p->number];

	(void)key;
	if (!pool_full(p))
		return (true);
	if ((*victim = furthest(c, m)) == NO_KEY)
		return (false);
	(void)take_last(c, m);
	return (true);
}

INLINE void
belady_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct belady *b = c->state;

	(void)fresh;
	if (cache_resident(c, key))
		mark(&b->marks[p->number], key, c->next[key]);
}

/* Under retain: its use will put it in. */
INLINE void
belady_enter(struct cl_cache *c, struct pool *p, uint32_t key)
{

	(void)c;
	(void)p;
	(void)key;
}

/* Nobody is pinned, and newcomers are in as well. */
INLINE uint32_t
belady_evict(struct cl_cache *c, struct pool *p)
{
	struct belady *b = c->state;

	return (take_last(c, &b->marks[p->number]));
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return ((x > y) - (x < y));
}

static void
sort(uint32_t *number, uint32_t n)
{
	uint32_t few[CL_ORDER_FEW], rank[CL_ORDER_FEW], i;

	if (n > CL_ORDER_FEW) {
		qsort(number, n, sizeof(*number), compare);
		return;
	}
	cl_order_ranks(number, n, rank);
	memcpy(few, number, n * sizeof(*number));
	for (i = 0; i < n; i++)
		number[rank[i]] = few[i];
}

/* Is that place nearer than the furthest?  Nobody is nearer who never comes. */
INLINE bool
nearer(const struct cl_cache *c, const struct pool *p, const struct marks *m,
    uint32_t place)
{

	return (place < end_of(m) && place < c->places[p->number].naccesses &&
	    furthest(c, m) != NO_KEY);
}

/*
 * Who of the event's missing members is kept: the nearest take the free slots,
 * then one after another the places of the furthest, while they are nearer.
 * Where no slot is free, who is not nearer now will not be.
 */
static void
plan(struct cl_cache *c, struct belady *b, struct pool *p)
{
	struct marks *m = &b->marks[p->number];
	uint32_t i, n = 0, nfree = p->nslots - p->nused;
	uint32_t end = nfree > 0 ? UINT32_MAX : end_of(m);

	b->planned = true;
	b->nleavers = b->nleft = 0;
	for (i = 0; i < b->nkeys; i++) {
		b->wish[n] = c->next[b->keys[i]];
		n += !cache_resident(c, b->keys[i]) & (b->wish[n] < end);
	}
	sort(b->wish, n);
	for (i = nfree < n ? nfree : n; i < n && nearer(c, p, m, b->wish[i]);
	    i++)
		b->leaver[b->nleavers++] = take_last(c, m);
	b->last = i == 0 ? 0 : b->wish[i - 1];
}

/* Under serial nobody else is missing. */
INLINE bool
bypass_admit_one(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{
	struct belady *b = c->state;
	struct marks *m = &b->marks[p->number];

	if (!pool_full(p))
		return (true);
	if (!nearer(c, p, m, c->next[key])) {
		c->out.nrejects++;
		return (false);
	}
	*victim = take_last(c, m);
	return (true);
}

INLINE bool
bypass_admit(struct cl_cache *c, struct pool *p, uint32_t key,
    uint32_t *victim)
{
	struct belady *b = c->state;

	if (c->contract == CL_CONTRACT_SERIAL)
		return (bypass_admit_one(c, p, key, victim));
	if (!b->planned)
		plan(c, b, p);
	if (c->next[key] > b->last) {
		c->out.nrejects++;
		return (false);
	}
	if (pool_full(p))
		*victim = b->leaver[b->nleft++];
	return (true);
}

INLINE void
bypass_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{

	belady_use(c, p, key, fresh);
}

/* How many words a level has for so many bits. */
static size_t
words(uint32_t nbits)
{

	return (nbits / 64 + 1);
}

/* Deal words to the levels of all pools; returns how many. */
static size_t
deal(const struct cl_cache *c, struct belady *b, uint64_t *from)
{
	struct marks *m;
	size_t n = 0;
	uint32_t i, k, nplaces;

	for (i = 0; i < c->npools; i++) {
		m = &b->marks[i];
		nplaces = c->places[i].naccesses + c->pool[i].nkeys;
		m->key = c->places[i].key;
		m->last = 0;
		for (k = 0; k < LEVELS; k++) {
			m->level[k] = from == NULL ? NULL : from + n;
			n += words(nplaces >> k * WORD_LOG);
		}
	}
	return (n);
}

/* Places are counted anew, and so are next uses, of whoever is resident. */
static int
belady_begin(struct cl_cache *c)
{
	struct belady *b = c->state;
	uint32_t i, k, key;

	free(b->words);
	if ((b->words = calloc(deal(c, b, NULL), sizeof(*b->words))) == NULL)
		return (-1);
	(void)deal(c, b, b->words);
	for (i = 0; i < c->npools; i++)
		for (k = 0; k < c->pool[i].nkeys; k++) {
			key = c->pool[i].first_key + k;
			if (cache_resident(c, key))
				mark(&b->marks[i], key, c->next[key]);
		}
	return (0);
}

POLICY_SERVE(belady)
POLICY_RETAIN(belady)
POLICY_SERVE(bypass)

static void
planned_serve(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n)
{
	struct belady *b = c->state;

	b->keys = keys;
	b->nkeys = n;
	b->planned = false;
	bypass_serve(c, p, keys, n);
}

#define PAPER	"Belady 1966, IBM Systems Journal 5(2)"

const struct policy cl_cache_belady = {
	.info = { .name = "belady", .foresees = CL_FUTURE_EVENTS,
	    .paper = PAPER, .total_order = true,
	    .summary = "furthest next use; the fewest misses from empty "
	    "where all are admitted" },
	.open = belady_open,
	.free = belady_free,
	.begin = belady_begin,
	.serve = belady_serve,
	.retain = belady_retain,
};

const struct policy cl_cache_belady_bypass = {
	.info = { .name = "belady-bypass",
	    .foresees = CL_FUTURE_PLACES, .paper = PAPER,
	    .summary = "furthest next use or none; the fewest misses from "
	    "empty, on demand" },
	.open = belady_open,
	.free = belady_free,
	.begin = belady_begin,
	.serve = planned_serve,
};
