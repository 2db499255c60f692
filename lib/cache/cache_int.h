#ifndef CACHE_INT_H
#define CACHE_INT_H

/*
 * What a policy sees of the cache, and what the cache has of a policy.
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
 * They become what the cache calls in cache_serve_int.h.
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
	/* Of one that foresees: another trace; -1: out of memory. */
	int	 (*begin)(struct cl_cache *);
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
	uint32_t	*next;		/* of each key, in the trace, or NULL */
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
