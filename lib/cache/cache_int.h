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
 *		where this event did not find it resident.  Knows no pins.
 *
 * One may have another, to be fast where the pool is full and somebody in it
 * is not pinned; it should do without a branch by miss:
 *
 *	turn	the key comes in, where it misses, for the one that is
 *		returned; else a resident is returned, and nothing happens.
 *
 * Or one may have one to admit early under serial, before members are used:
 * early (cache_early_word).  Or one to count in a full pool, where the members
 * that hit have no part in who leaves for those that miss:
 *
 *	word	up to a word of members are counted, at once, whichever the
 *		contract.  False: they must go one by one, and nothing happened.
 *
 * One that is a total order over experts has two more, for contract retain:
 *
 *	enter	a missing key comes in, however many there are: at most as
 *		many as an event has members beyond the pool's slots.  It is
 *		resident from then on.
 *	evict	the worst of all that are in leaves, and is returned.
 *
 * The contract is written once, below, and compiled into each policy with its
 * own verbs inline (POLICY_SERVE, POLICY_RETAIN): one indirect call an event,
 * not one a key; and twice, with an outcome for each member, or only counted.
 *
 * What is known of a key is one number: the class that its next access has, and
 * whether it is pinned.  Classes of an event are packed as the digest wants
 * them, 4 bits a member in words of 16, and misses are found by their bits:
 * a branch for each member could not be foretold.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "cl/cache.h"
#include "cl/hash.h"

#define NO_KEY		CL_CACHE_NO_KEY
#define PINNED		8u	/* added to a key's class */
#define NEWCOMER	4u	/* the same, under retain */
#define CLASS_MASK	3u
#define WORD_MEMBERS	16u	/* of 4 bits: the digest's words */
#define WORD_MISSES	UINT64_C(0x2222222222222222)
#define WORD_ONES	UINT64_C(0x1111111111111111)

/* What must be compiled into each policy to be fast. */
#define INLINE		static inline __attribute__((always_inline))

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
	bool	 wants_slots;		/* it goes by c->slot */
	/* The policy's own state for the cache, or NULL when out of memory. */
	void	*(*open)(const struct cl_cache *);
	void	 (*free)(void *);
	/* Of one that foresees: a trace, and first uses; -1: out of memory. */
	int	 (*begin)(struct cl_cache *, const uint32_t *first);
	void	 (*serve)(struct cl_cache *, struct pool *, const uint32_t *,
		    uint32_t);
	/* What the flag "compat" makes of it, or NULL where there is none. */
	const struct policy *compat;
	/* The same under retain, or NULL: see POLICY_RETAIN. */
	void	 (*retain)(struct cl_cache *, struct pool *, const uint32_t *,
		    uint32_t);
};

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
	uint32_t	 event;		/* number of the event at hand */
	uint16_t	*known;		/* of each key: class, PINNED */
	uint32_t	*slot;		/* of each key; NULL: nobody asks */
	uint32_t	*next;		/* of each key, as foretold, or NULL */
	struct cl_cache_places *places;	/* of each pool, likewise */
	uint32_t	*spare;		/* compat: slots, free ones behind */
	uint32_t	 dropped;	/* compat: the last, or NO_KEY */
	uint64_t	*word;		/* classes of the event at hand */

	const uint64_t	*names;		/* of keys; only counted */
	uint64_t	 digest;

	struct cl_cache_outcome out;
	uint8_t		*class;		/* out.class ... */
	uint32_t	*out_slot;
	uint32_t	*victim;
	uint32_t	*thrown;	/* under retain: residents, by order */
};

typedef bool policy_admit(struct cl_cache *, struct pool *, uint32_t key,
    uint32_t *victim);
typedef uint32_t policy_turn(struct cl_cache *, struct pool *, uint32_t key,
    bool miss);
typedef void policy_use(struct cl_cache *, struct pool *, uint32_t key,
    bool fresh);
typedef bool policy_word(struct cl_cache *, struct pool *, const uint32_t *keys,
    uint32_t n);
typedef void policy_enter(struct cl_cache *, struct pool *, uint32_t key);
typedef uint32_t policy_evict(struct cl_cache *, struct pool *);

INLINE bool
cache_resident(const struct cl_cache *c, uint32_t key)
{

	return ((c->known[key] & CLASS_MASK) == CL_CLASS_HIT);
}

/* A staged hit is admitted like a miss. */
INLINE uint64_t
word_admissions(uint64_t word)
{

	return ((word | word << 1) & WORD_MISSES);
}

INLINE bool
cache_pinned(const struct cl_cache *c, uint32_t key)
{

	return ((c->known[key] & PINNED) != 0);
}

INLINE bool
pool_full(const struct pool *p)
{

	return (p->nused == p->nslots);
}

/* So many percent of a pool's slots, rounded down, but at least one. */
INLINE uint32_t
pool_share(const struct cl_cache *c, const struct pool *p, unsigned param)
{
	uint64_t n = (uint64_t)p->nslots * c->param[param] / 100;

	return (n < 1 ? 1 : (uint32_t)n);
}

/* How many members the word has that begins with member from of n. */
INLINE uint32_t
word_members(uint32_t n, uint32_t from)
{

	return (n - from < WORD_MEMBERS ? n - from : WORD_MEMBERS);
}

/* The sum of 16 numbers of 4 bits, each 0 or 1. */
INLINE uint32_t
word_sum(uint64_t word)
{

	word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return ((uint32_t)(word * UINT64_C(0x0101010101010101) >> 56));
}

/* A key is kept, in the slot of its victim or in a free one. */
INLINE void
cache_place(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t i,
    uint32_t victim, uint64_t *digest, const bool counted)
{

	if (!counted)
		c->victim[i] = victim;
	if (c->slot != NULL) {
		c->slot[key] = victim != NO_KEY ? c->slot[victim] :
		    p->first_slot + p->nused;
		if (victim != NO_KEY)
			c->slot[victim] = CL_CACHE_NO_SLOT;
	}
	if (victim == NO_KEY) {
		p->nused++;
		return;
	}
	c->out.nvictims++;
	if (counted)
		*digest = cl_hash_mix(*digest, c->names[victim]);
}

/* Step 3 for member i, which missed; what is added to its class. */
INLINE uint64_t
cache_admit(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t i,
    uint16_t pin, uint64_t *digest, policy_admit *admit, const bool counted)
{
	uint32_t victim = NO_KEY;

	if (p->nslots == 0 || !admit(c, p, key, &victim)) {
		c->out.nbypass += c->known[key] != CL_CLASS_STAGED;
		c->known[key] = CL_CLASS_CAPACITY;
		return (CL_CACHE_NOT_KEPT);
	}
	cache_place(c, p, key, i, victim, digest, counted);
	if (victim != NO_KEY)
		c->known[victim] = CL_CLASS_CAPACITY;
	c->known[key] = pin;
	return (0);
}

/* Step 2 for up to a word of members; residents are pinned, if so asked. */
INLINE uint64_t
cache_classify(struct cl_cache *c, const uint32_t *keys, uint32_t n,
    const bool pin)
{
	uint64_t word = 0;
	uint32_t i;
	uint16_t known;

	for (i = 0; i < n; i++) {
		known = c->known[keys[i]];
		word |= (uint64_t)known << 4 * i;
		if (pin)
			c->known[keys[i]] = known == CL_CLASS_HIT ? PINNED :
			    known;
	}
	return (word);
}

/* Add up the classes of a word; how many are misses. */
INLINE uint32_t
cache_count_word(struct cl_cache *c, uint64_t word)
{
	uint64_t misses = word >> 1 & WORD_ONES;
	uint32_t ncapacity = word_sum(misses & word);
	uint32_t ncold = word_sum(misses & ~word);

	c->out.nstaged += word_sum(word & ~misses & WORD_ONES);
	c->out.ncapacity += ncapacity;
	c->out.ncold += ncold;
	return (ncapacity + ncold);
}

/* Member i is the last one of a word. */
INLINE void
cache_end_word(struct cl_cache *c, uint32_t i, uint64_t word)
{

	(void)cache_count_word(c, word);
	c->word[i / WORD_MEMBERS] = word;
	c->digest = cl_hash_mix(c->digest, word);
}

/* Step 4: all members are used, and the pins dropped. */
INLINE void
cache_use_all(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_use *use)
{
	uint32_t from, i, m;
	uint64_t word;

	for (from = 0; from < n; from += WORD_MEMBERS) {
		word = c->word[from / WORD_MEMBERS];
		m = word_members(n, from);
		for (i = 0; i < m; i++, word >>= 4) {
			use(c, p, keys[from + i], (word & CLASS_MASK) != 0);
			c->known[keys[from + i]] &= CLASS_MASK;
		}
	}
}

/* The first three of the contract's four steps for all members of an event. */
INLINE void
cache_event_admit(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, const bool counted)
{
	uint64_t digest = c->digest, word, misses;
	uint32_t from, i;

	c->event++;
	for (from = 0; from < n; from += WORD_MEMBERS)
		c->word[from / WORD_MEMBERS] = cache_classify(c, keys + from,
		    word_members(n, from), true);
	for (from = 0; from < n; from += WORD_MEMBERS) {
		word = c->word[from / WORD_MEMBERS];
		(void)cache_count_word(c, word);
		misses = word_admissions(word);
		for (; misses != 0; misses &= misses - 1) {
			i = (uint32_t)__builtin_ctzll(misses) / 4;
			word |= cache_admit(c, p, keys[from + i], from + i,
			    PINNED, &digest, admit, counted) << 4 * i;
		}
		c->word[from / WORD_MEMBERS] = word;
		digest = cl_hash_mix(digest, word);
	}
	c->digest = digest;
}

/* Serve all members as one event. */
INLINE void
cache_event(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, const bool counted)
{

	cache_event_admit(c, p, keys, n, admit, counted);
	cache_use_all(c, p, keys, n, use);
}

/*
 * Members at .. to of a word, each as an event of its own: nothing needs a pin.
 * The word with them.
 */
INLINE uint64_t
cache_serial_members(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t at, uint32_t to, uint64_t word, uint64_t *digest,
    policy_admit *admit, policy_use *use, const bool counted)
{
	uint64_t class;
	uint32_t i;

	for (i = at; i < to; i++) {
		class = c->known[keys[i]];
		c->event++;
		word |= class << 4 * (i % WORD_MEMBERS);
		if (class != CL_CLASS_HIT)
			word |= cache_admit(c, p, keys[i], i, CL_CLASS_HIT,
			    digest, admit, counted) << 4 * (i % WORD_MEMBERS);
		if (!counted)
			c->out_slot[i] = c->slot[keys[i]];
		use(c, p, keys[i], class != CL_CLASS_HIT);
	}
	return (word);
}

INLINE void
cache_serial(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, const bool counted)
{
	uint64_t digest = c->digest, word;
	uint32_t from;

	for (from = 0; from < n; from += WORD_MEMBERS) {
		word = cache_serial_members(c, p, keys, from,
		    from + word_members(n, from), 0, &digest, admit, use,
		    counted);
		(void)cache_count_word(c, word);
		c->word[from / WORD_MEMBERS] = word;
		digest = cl_hash_mix(digest, word);
	}
	c->digest = digest;
}

/*
 * Up to a word of members under serial, counted, in a full pool, with all
 * misses first, in order, and uses last.  That makes no difference as long as
 * early, which admits like admit, comes upon none of them: it knows them by
 * their pins.  It says false where it would, and from there on they go one by
 * one.
 */
INLINE void
cache_early_word(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_admit *early)
{
	uint64_t digest = c->digest, word, misses;
	uint32_t i, to = n, victim;

	word = cache_classify(c, keys, n, true);
	for (misses = word & WORD_MISSES; misses != 0; misses &= misses - 1) {
		i = (uint32_t)__builtin_ctzll(misses) / 4;
		if (!early(c, p, keys[i], &victim)) {
			to = i;
			break;
		}
		digest = cl_hash_mix(digest, c->names[victim]);
		c->known[victim] = CL_CLASS_CAPACITY;
		c->known[keys[i]] = PINNED;
		c->out.nvictims++;
	}
	c->event += to;
	for (i = 0; i < to; i++)
		use(c, p, keys[i], (word >> 4 * i & CLASS_MASK) != 0);
	for (i = 0; i < n; i++)
		c->known[keys[i]] &= CLASS_MASK;
	if (to < n)
		word = cache_serial_members(c, p, keys, to, n,
		    word & ((UINT64_C(1) << 4 * to) - 1), &digest, admit, use,
		    true);
	(void)cache_count_word(c, word);
	c->digest = cl_hash_mix(digest, word);
}

/* The same for all members, whatever the pool. */
INLINE void
cache_serial_early(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_admit *early)
{
	uint32_t from;

	if (!pool_full(p) || p->nslots == 0) {
		cache_serial(c, p, keys, n, admit, use, true);
		return;
	}
	for (from = 0; from < n; from += WORD_MEMBERS)
		cache_early_word(c, p, keys + from, word_members(n, from),
		    admit, use, early);
}

/* An event, counted, at once if it is a word. */
INLINE void
cache_event_at_once(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_word *word)
{

	if (pool_full(p) && n <= WORD_MEMBERS && word(c, p, keys, n))
		c->event++;
	else
		cache_event(c, p, keys, n, admit, use, true);
}

INLINE void
cache_serial_at_once(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_word *word)
{
	uint32_t from, m;

	for (from = 0; from < n; from += m) {
		m = word_members(n, from);
		if (pool_full(p) && word(c, p, keys + from, m))
			c->event += m;
		else
			cache_serial(c, p, keys + from, m, admit, use, true);
	}
}

/* Where miss is 1, the victim leaves; where it is 0, nothing happens. */
INLINE uint64_t
cache_turned(struct cl_cache *c, uint32_t victim, uint64_t miss,
    uint64_t digest)
{
	uint64_t mixed = cl_hash_mix(digest, c->names[victim]);

	c->known[victim] |= (uint16_t)(CL_CLASS_CAPACITY * miss);
	c->out.nvictims += (uint32_t)miss;
	return (digest ^ ((digest ^ mixed) & (0 - miss)));
}

/*
 * An event, counted, without a branch that depends on what hits.  With more
 * slots than members, somebody is never pinned.
 */
INLINE void
cache_event_turning(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_turn *turn)
{
	uint64_t digest = c->digest, word, miss;
	uint32_t from, i, m, victim;

	if (!pool_full(p) || p->nslots <= n) {
		cache_event(c, p, keys, n, admit, use, true);
		return;
	}
	c->event++;
	for (from = 0; from < n; from += WORD_MEMBERS)
		c->word[from / WORD_MEMBERS] = cache_classify(c, keys + from,
		    word_members(n, from), true);
	for (from = 0; from < n; from += WORD_MEMBERS) {
		word = c->word[from / WORD_MEMBERS];
		m = word_members(n, from);
		for (i = 0; i < m; i++) {
			miss = word >> (4 * i + 1) & 1;
			victim = turn(c, p, keys[from + i], miss != 0);
			digest = cache_turned(c, victim, miss, digest);
			c->known[keys[from + i]] = PINNED;
		}
		(void)cache_count_word(c, word);
		digest = cl_hash_mix(digest, word);
	}
	cache_use_all(c, p, keys, n, use);
	c->digest = digest;
}

/*
 * The same, counted, without a branch that depends on what hits.  A full pool
 * stays full.
 */
INLINE void
cache_serial_turning(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_admit *admit, policy_use *use, policy_turn *turn)
{
	uint64_t digest = c->digest, word = 0, class, miss;
	uint32_t i, key, victim;

	if (!pool_full(p) || p->nslots == 0) {
		cache_serial(c, p, keys, n, admit, use, true);
		return;
	}
	for (i = 0; i < n; i++) {
		key = keys[i];
		class = c->known[key];
		miss = class >> 1;
		victim = turn(c, p, key, miss != 0);
		digest = cache_turned(c, victim, miss, digest);
		c->known[key] = CL_CLASS_HIT;
		word |= class << 4 * (i % WORD_MEMBERS);
		use(c, p, key, miss != 0);
		if (i % WORD_MEMBERS == WORD_MEMBERS - 1 || i == n - 1) {
			(void)cache_count_word(c, word);
			digest = cl_hash_mix(digest, word);
			word = 0;
		}
	}
	c->event += n;
	c->digest = digest;
}

/*
 * Whoever has to leave for the members that came in is thrown out: residents
 * by their order into c->thrown, newcomers to stay where they are.
 */
INLINE void
cache_cut(struct cl_cache *c, struct pool *p, uint32_t nnew,
    policy_evict *evict)
{
	uint32_t nin, nthrown = 0, key;

	for (nin = p->nused + nnew; nin > p->nslots; nin--) {
		key = evict(c, p);
		if (c->known[key] != NEWCOMER)
			c->thrown[nthrown++] = key;
		c->known[key] = CL_CLASS_CAPACITY;
	}
}

/* Newcomer i stays: a free slot, or that of the next one thrown out. */
INLINE void
cache_keep(struct cl_cache *c, struct pool *p, uint32_t key, uint32_t i,
    uint32_t *nthrown)
{
	uint32_t victim = p->nused < p->nslots ? NO_KEY :
	    c->thrown[(*nthrown)++];

	if (c->names != NULL)
		cache_place(c, p, key, i, victim, &c->digest, true);
	else {
		cache_place(c, p, key, i, victim, &c->digest, false);
		c->out_slot[i] = c->slot[key];
	}
}

/*
 * Contract retain: members come in, all are used, and the worst leave until
 * the rest fits.
 */
INLINE void
cache_retain(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_enter *enter, policy_use *use, policy_evict *evict)
{
	uint32_t i, nnew = 0, nthrown = 0, key;
	uint64_t class, word = 0;

	c->event++;
	for (i = 0; i < n; i++) {
		c->class[i] = (uint8_t)c->known[keys[i]];
		if (c->class[i] != CL_CLASS_HIT) {
			c->known[keys[i]] = NEWCOMER;
			enter(c, p, keys[i]);
			nnew++;
		}
	}
	for (i = 0; i < n; i++)
		use(c, p, keys[i], c->class[i] != CL_CLASS_HIT);
	if (c->names == NULL)
		for (i = 0; i < n; i++)
			c->out_slot[i] = c->slot[keys[i]];
	cache_cut(c, p, nnew, evict);
	for (i = 0; i < n; i++) {
		key = keys[i];
		class = c->class[i];
		if (c->known[key] == CL_CLASS_CAPACITY) {
			c->out.nbypass += class >= CL_CLASS_COLD;
			class |= CL_CACHE_NOT_KEPT;
		} else if (class != CL_CLASS_HIT) {
			cache_keep(c, p, key, i, &nthrown);
			c->known[key] = CL_CLASS_HIT;
		}
		word |= class << 4 * (i % WORD_MEMBERS);
		if (i % WORD_MEMBERS == WORD_MEMBERS - 1 || i == n - 1) {
			cache_end_word(c, i, word);
			word = 0;
		}
	}
}

/* The serve verb of a policy that has NAME_admit and NAME_use. */
#define POLICY_SERVE(name)						\
POLICY_SERVE_COUNTING(name,						\
    cache_event(c, p, keys, n, name##_admit, name##_use, true),		\
    cache_serial(c, p, keys, n, name##_admit, name##_use, true))

/* The same, if it has NAME_turn as well. */
#define POLICY_SERVE_TURNING(name)					\
POLICY_SERVE_COUNTING(name,						\
    cache_event_turning(c, p, keys, n, name##_admit, name##_use,	\
    name##_turn),							\
    cache_serial_turning(c, p, keys, n, name##_admit, name##_use,	\
    name##_turn))

/* The same, if it has NAME_word as well. */
#define POLICY_SERVE_AT_ONCE(name)					\
POLICY_SERVE_COUNTING(name,						\
    cache_event_at_once(c, p, keys, n, name##_admit, name##_use,	\
    name##_word),							\
    cache_serial_at_once(c, p, keys, n, name##_admit, name##_use,	\
    name##_word))

/* The same, counted by verbs of its own. */
#define POLICY_SERVE_COUNTING(name, count_event, count_serial)		\
static void								\
name##_serve(struct cl_cache *c, struct pool *p, const uint32_t *keys,	\
    uint32_t n)								\
{									\
	bool event = c->contract == CL_CONTRACT_EVENT;			\
									\
	if (c->names != NULL && event)					\
		count_event;						\
	else if (c->names != NULL)					\
		count_serial;						\
	else if (event)							\
		cache_event(c, p, keys, n, name##_admit, name##_use,	\
		    false);						\
	else								\
		cache_serial(c, p, keys, n, name##_admit, name##_use,	\
		    false);						\
}

/* Its retain verb, if it has NAME_enter and NAME_evict as well. */
#define POLICY_RETAIN(name)						\
static void								\
name##_retain(struct cl_cache *c, struct pool *p, const uint32_t *keys,	\
    uint32_t n)								\
{									\
									\
	cache_retain(c, p, keys, n, name##_enter, name##_use,		\
	    name##_evict);						\
}

/* The policy that a row of the table is of. */
const struct policy	*cl_cache_policy_find(
			    const struct cl_cache_policy_info *);

/* The policies, a file each. */
extern const struct policy cl_cache_arc;
extern const struct policy cl_cache_belady;
extern const struct policy cl_cache_belady_bypass;
extern const struct policy cl_cache_clock;
extern const struct policy cl_cache_fifo;
extern const struct policy cl_cache_infinite;
extern const struct policy cl_cache_least_stale;
extern const struct policy cl_cache_lecar;
extern const struct policy cl_cache_lfru;
extern const struct policy cl_cache_lfu;
extern const struct policy cl_cache_lfu_aged;
extern const struct policy cl_cache_lfu_ghost;
extern const struct policy cl_cache_lirs;
extern const struct policy cl_cache_lirs_compat;	/* no row of its own */
extern const struct policy cl_cache_lru;
extern const struct policy cl_cache_none;
extern const struct policy cl_cache_random;
extern const struct policy cl_cache_s3fifo;
extern const struct policy cl_cache_sieve;
extern const struct policy cl_cache_slru;
extern const struct policy cl_cache_static;
extern const struct policy cl_cache_twoq;
extern const struct policy cl_cache_wtinylfu;
extern const struct policy cl_cache_wtinylfu_compat;	/* no row of its own */

#endif /* CACHE_INT_H */
