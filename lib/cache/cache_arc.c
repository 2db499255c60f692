/*
 * ARC, the adaptive replacement cache (Megiddo and Modha, FAST 2003): what was
 * used once in T1, more often in T2, and the ghosts of both in B1 and B2.  A
 * miss that is a ghost says which of the two was too small, and the target for
 * T1 moves towards it.
 *
 * |T1| + |B1| is at most the number of slots and all four together at most
 * twice that.  There are no ghosts before the pool is full, and full it stays.
 * cl-policies(7) says what happens step by step.
 *
 * B1 begins where T1 ends, in one ring, and B2 where T2 ends in another; keys
 * that are nowhere come last in either.  So what leaves a queue stays where it
 * is: a border passes over it.  A key moves when it is used, and only then, to
 * the front of a ring; from its admission until then it is its place alone that
 * says where it belongs.
 *
 * Where a border passes over a pinned key, that key is a member of the event
 * and is about to move.
 */

#include <stdlib.h>

#include "cache_list_int.h"
#include "cache_serve_int.h"

/* Places of keys.  Bit 0 is the ring of a member. */
enum { T1, T2, B1, B2, NONE };
#define GHOST	2u		/* added for who leaves T1 or T2 */
#define LOST	4u		/* added for who leaves B1 or B2 */

/* The queues of a pool: [0] is of T1 and B1, [1] of T2 and B2. */
struct arc_pool {
	uint32_t	 ring;		/* that of [0]; the other follows */
	uint32_t	 nt1;		/* members of T1 */
	uint32_t	 n[2];		/* members of both queues */
	uint32_t	 last[2];	/* the oldest resident, or the ring */
	uint32_t	 end[2];	/* the oldest member, or the ring */
	double		 target;	/* for T1, 0 to nslots */
	/* T1 that large gives one up: [1] for a newcomer in B2, [0] others. */
	uint32_t	 large[2];
};

struct arc {
	struct link	*link;		/* of all keys, then of all rings */
	/* Of each key.  Not 8 bits: chars may alias all else, which is slow. */
	uint16_t	*place;
	struct arc_pool	*pool;
};

static void
arc_free(void *state)
{
	struct arc *a = state;

	free(a->link);
	free(a->place);
	free(a->pool);
	free(a);
}

INLINE void
set_target(struct arc_pool *q, double target, uint32_t nslots)
{
	uint32_t down = (uint32_t)target, up = down + (down < target);

	q->target = target;
	q->large[0] = down < nslots ? down + 1 : nslots;
	q->large[1] = up > 1 ? up : 1;
}

static void
make_pool(struct arc *a, const struct pool *p, uint32_t ring)
{
	struct arc_pool *q = &a->pool[p->number];
	uint32_t key, i;

	q->ring = ring;
	for (i = 0; i < 2; i++) {
		ring_init(a->link, ring + i);
		q->last[i] = q->end[i] = ring + i;
	}
	for (key = p->first_key; key < p->first_key + p->nkeys; key++) {
		ring_add(a->link, ring, key);
		a->place[key] = NONE;
	}
	set_target(q, 0, p->nslots);
}

static void *
arc_open(const struct cl_cache *c)
{
	struct arc *a;
	uint32_t i;

	if ((a = malloc(sizeof(*a))) == NULL)
		return (NULL);
	a->link = calloc((size_t)c->nkeys + 2 * (size_t)c->npools,
	    sizeof(*a->link));
	a->place = calloc((size_t)c->nkeys + 1, sizeof(*a->place));
	a->pool = calloc(c->npools, sizeof(*a->pool));
	if (a->link == NULL || a->place == NULL || a->pool == NULL) {
		arc_free(a);
		return (NULL);
	}
	for (i = 0; i < c->npools; i++)
		make_pool(a, &c->pool[i], c->nkeys + 2 * i);
	return (a);
}

/* The target after a miss of a ghost. */
INLINE void
learn(struct arc_pool *q, unsigned place, uint32_t nslots)
{
	uint32_t nb1 = q->n[0] - q->nt1, nb2 = q->n[1] - (nslots - q->nt1);
	double target = q->target, n1 = nb1, n2 = nb2;

	if (place == B1) {
		target += nb2 > nb1 ? n2 / n1 : 1;
		target = target < nslots ? target : nslots;
	} else {
		target -= nb1 > nb2 ? n1 / n2 : 1;
		target = target > 0 ? target : 0;
	}
	set_target(q, target, nslots);
}

/*
 * The first that is not pinned, from a border on; or the ring, if there is
 * none, or if the border is not to pass over pinned keys and would.
 */
INLINE uint32_t
unpinned(const struct cl_cache *c, const struct link *link, uint32_t key,
    uint32_t ring, const bool pass)
{

	while (key != ring && cache_pinned(c, key))
		key = pass ? link[key].newer : ring;
	return (key);
}

/*
 * A newcomer that is no ghost belongs to T1; where that makes one too many, the
 * oldest of B1 or B2 is forgotten.  False, and nothing happens, if a border is
 * not to pass over pinned keys and would.
 */
INLINE bool
enter(const struct cl_cache *c, const struct arc *a, struct arc_pool *q,
    uint32_t nslots, uint32_t key, const bool pass)
{
	unsigned i = q->n[0] < nslots;
	uint32_t old;

	if (q->n[0] + q->n[1] >= 2 * nslots || i == 0) {
		old = unpinned(c, a->link, q->end[i], q->ring + i, pass);
		if (old == q->ring + i)
			return (false);
		q->end[i] = a->link[old].newer;
		q->n[1] -= i;
		a->place[old] |= LOST;
	}
	q->n[0] += i;
	a->place[key] = T1;
	return (true);
}

/* One of T1, B1 or B2 belongs to T2, which gets a slot of T1's for it. */
INLINE void
promote(const struct arc *a, struct arc_pool *q, uint32_t key)
{
	unsigned i = a->place[key] & 1;

	q->n[0] -= i ^ 1;
	q->n[1] += i ^ 1;
	q->nt1--;
	a->place[key] = T2;
}

/*
 * A missing key of a full pool comes in, and the oldest of T1 leaves if T1 is
 * large, of T2 if not, which leaves T1 the slot; of the other where all members
 * of the one are pinned.  False, and nothing happens, if all of both are, or if
 * a border is not to pass over pinned keys and would.
 */
INLINE bool
replace(const struct cl_cache *c, const struct arc *a, struct arc_pool *q,
    uint32_t nslots, uint32_t key, uint32_t *victim, const bool pass)
{
	unsigned place = a->place[key], from;
	double target = q->target;
	uint32_t old;

	if (place < NONE)
		learn(q, place, nslots);
	from = q->nt1 < q->large[place == B2] ? T2 : T1;
	old = unpinned(c, a->link, q->last[from], q->ring + from, pass);
	if (pass && old == q->ring + from) {
		from = T1 + T2 - from;
		old = unpinned(c, a->link, q->last[from], q->ring + from, pass);
	}
	if (old == q->ring + from) {
		set_target(q, target, nslots);
		return (false);
	}
	if (place < NONE)
		promote(a, q, key);
	else if (!enter(c, a, q, nslots, key, pass))
		return (false);
	q->nt1 += from == T2;
	q->last[from] = a->link[old].newer;
	a->place[old] |= GHOST;
	*victim = old;
	return (true);
}

INLINE bool
arc_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t *victim)
{
	struct arc *a = c->state;
	struct arc_pool *q = &a->pool[p->number];

	if (pool_full(p))
		return (replace(c, a, q, p->nslots, key, victim, true));
	q->n[0]++;
	q->nt1++;
	a->place[key] = T1;
	return (true);
}

/* A border, once a key has left where it is for the front of that ring. */
INLINE uint32_t
border_after(uint32_t border, uint32_t key, uint32_t newer, uint32_t ring)
{

	border = border == key ? newer : border;
	return (border == ring ? key : border);
}

INLINE void
arc_use(struct cl_cache *c, struct pool *p, uint32_t key, bool fresh)
{
	struct arc *a = c->state;
	struct arc_pool *q = &a->pool[p->number];
	unsigned place = a->place[key], to = place | !fresh, once = place ^ to;
	uint32_t newer = a->link[key].newer, ring = q->ring + to, i;

	if (!cache_resident(c, key))
		return;
	q->nt1 -= once;
	q->n[0] -= once;
	q->n[1] += once;
	for (i = 0; i < 2; i++) {
		q->last[i] = border_after(q->last[i], key, newer, ring);
		q->end[i] = border_after(q->end[i], key, newer, ring);
	}
	ring_touch(a->link, ring, key);
	a->place[key] = (uint16_t)to;
}

/*
 * All members of a word are pinned; their classes, and a bit for each that
 * bears on who leaves: for a miss, and for a hit in T1.
 */
INLINE uint64_t
pin_word(struct cl_cache *c, const struct arc *a, const uint32_t *keys,
    uint32_t n, uint64_t *turns)
{
	uint64_t word = 0, once = 0;
	uint32_t i;
	uint16_t known;

	for (i = 0; i < n; i++) {
		known = c->known[keys[i]];
		c->known[keys[i]] = known | PINNED;
		word |= (uint64_t)known << 4 * i;
		once |= (uint64_t)(a->place[keys[i]] == T1) << 4 * i;
	}
	*turns = (word >> 1 & WORD_ONES) | once;
	return (word);
}

/*
 * The border of T1 or T2, of n members, if all of them have just come to the
 * front.
 */
INLINE void
find_border(const struct arc *a, struct arc_pool *q, unsigned i, uint32_t n)
{
	uint32_t ring = q->ring + i, key = ring;

	if (q->last[i] != ring)
		return;
	for (; n > 0; n--)
		key = a->link[key].older;
	q->last[i] = key;
	q->end[i] = q->end[i] == ring ? key : q->end[i];
}

/*
 * Pinned members become resident and are used; they have the places they are to
 * have.  Once borders have passed over all of them they need no more heed.
 */
INLINE void
use_pinned(struct cl_cache *c, const struct arc *a, struct arc_pool *q,
    uint32_t nslots, const uint32_t *keys, uint32_t n)
{
	uint32_t i, ring;

	for (i = 0; i < 2; i++) {
		ring = q->ring + i;
		q->last[i] = unpinned(c, a->link, q->last[i], ring, true);
		q->end[i] = unpinned(c, a->link, q->end[i], ring, true);
	}
	for (i = 0; i < n; i++) {
		ring_touch(a->link, q->ring + a->place[keys[i]], keys[i]);
		c->known[keys[i]] = CL_CLASS_HIT;
	}
	find_border(a, q, 0, q->nt1);
	find_border(a, q, 1, nslots - q->nt1);
}

/*
 * Up to a word of members under serial, counted, in a full pool: first, in
 * order, what bears on who leaves, and then the moves of all.  That makes no
 * difference as long as no border comes upon a member; where one would, the
 * rest go one by one.  The pointers are a copy, which nothing can alias.
 */
INLINE void
count_word(struct cl_cache *c, struct pool *p, const uint32_t *keys, uint32_t n)
{
	const struct arc a = *(const struct arc *)c->state;
	struct arc_pool *q = &a.pool[p->number];
	uint64_t digest = c->digest, word, turns;
	uint16_t *known = c->known;
	uint32_t i, to = n, key, victim;

	word = pin_word(c, &a, keys, n, &turns);
	for (; turns != 0; turns &= turns - 1) {
		i = (uint32_t)__builtin_ctzll(turns) / 4;
		key = keys[i];
		if (a.place[key] == T1) {
			promote(&a, q, key);
			continue;
		}
		if (!replace(c, &a, q, p->nslots, key, &victim, false)) {
			to = i;
			word &= (UINT64_C(1) << 4 * to) - 1;
			break;
		}
		digest = cl_hash_mix(digest, c->names[victim]);
		known[victim] = CL_CLASS_CAPACITY;
	}
	for (i = to; i < n; i++)
		known[keys[i]] &= CLASS_MASK;
	use_pinned(c, &a, q, p->nslots, keys, to);
	c->event += to;
	c->out.nvictims += word_sum(word >> 1 & WORD_ONES);
	if (to < n)
		word = cache_serial_members(c, p, keys, to, n, word, &digest,
		    arc_admit, arc_use, true);
	(void)cache_count_word(c, word);
	c->digest = cl_hash_mix(digest, word);
}

/* Where there are few slots, borders often come upon members. */
static void
arc_count_serial(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n)
{
	uint32_t from, m;

	if (!pool_full(p) || p->nslots < 2 * word_members(n, 0)) {
		cache_serial(c, p, keys, n, arc_admit, arc_use, true);
		return;
	}
	for (from = 0; from < n; from += m) {
		m = word_members(n, from);
		count_word(c, p, keys + from, m);
	}
}

POLICY_SERVE_COUNTING(arc,
    cache_event(c, p, keys, n, arc_admit, arc_use, true),
    arc_count_serial(c, p, keys, n))

const struct policy cl_cache_arc = {
	.info = { .name = "arc", .summary = "recency or frequency, whichever "
	    "of their ghosts is missed", .paper = "Megiddo and Modha 2003" },
	.open = arc_open,
	.free = arc_free,
	.serve = arc_serve,
};
