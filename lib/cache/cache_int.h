#ifndef CACHE_INT_H
#define CACHE_INT_H

/*
 * What a policy sees of the cache, and the one way an event is served.
 *
 * A policy is a struct policy: it keeps an order over the resident keys in
 * memory of its own, made by open, and has two verbs:
 *
 *	admit	a missing key wants in.  True: it is kept, and *victim is who
 *		left for it, or NO_KEY where a slot was free.  False: it is not
 *		kept, and nobody left.  A key for which cache_pinned() holds
 *		must not leave.
 *	use	a key of the event, resident or not, is recorded as used.
 *
 * The contract is written once, below, and compiled into each policy with its
 * own verbs inline (POLICY_SERVE): one indirect call an event, not one a key.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/cache.h"

#define NO_KEY	CL_CACHE_NO_KEY

struct policy {
	struct cl_cache_policy_info info;
	/* The policy's own state for the cache, or NULL when out of memory. */
	void	*(*open)(const struct cl_cache *);
	void	 (*free)(void *);
	void	 (*serve)(struct cl_cache *, const uint32_t *, uint32_t);
};

struct cl_cache {
	/* fixed at open */
	const struct policy *policy;
	enum cl_contract contract;
	uint32_t	 nkeys;
	uint32_t	 nslots;
	uint32_t	 nevent;
	void		*state;		/* the policy's */

	uint32_t	 nused;		/* slots in use; those below are */
	uint32_t	 event;		/* number of the event at hand, > 0 */
	uint32_t	*slot;		/* of each key, or CL_CACHE_NO_SLOT */
	uint32_t	*pinned;	/* of each key: the event that pinned it */
	uint8_t		*seen;		/* of each key: used before */

	struct cl_cache_outcome out;
	uint8_t		*class;		/* out.class ... */
	uint32_t	*out_slot;
	uint32_t	*victim;
};

static inline bool
cache_resident(const struct cl_cache *c, uint32_t key)
{

	return (c->slot[key] != CL_CACHE_NO_SLOT);
}

static inline bool
cache_pinned(const struct cl_cache *c, uint32_t key)
{

	return (c->pinned[key] == c->event);
}

static inline bool
cache_full(const struct cl_cache *c)
{

	return (c->nused == c->nslots);
}

/* Step 2 of the contract: classify members from to to; pin what is there. */
static inline void
cache_classify(struct cl_cache *c, const uint32_t *keys, uint32_t from,
    uint32_t to)
{
	uint32_t i, key;

	for (i = from; i < to; i++) {
		key = keys[i];
		if (cache_resident(c, key)) {
			c->class[i] = CL_CLASS_HIT;
			c->pinned[key] = c->event;
			c->out.nhits++;
		} else if (c->seen[key]) {
			c->class[i] = CL_CLASS_CAPACITY;
			c->out.ncapacity++;
		} else {
			c->class[i] = CL_CLASS_COLD;
			c->seen[key] = 1;
			c->out.ncold++;
		}
	}
}

/* Step 3 for one missing key: a slot for it, by whoever has to leave. */
static inline void
cache_admit(struct cl_cache *c, uint32_t key, uint32_t i,
    bool (*admit)(struct cl_cache *, uint32_t, uint32_t *))
{
	uint32_t victim = NO_KEY, slot;

	if (!admit(c, key, &victim)) {
		c->class[i] |= CL_CACHE_NOT_KEPT;
		c->out.nbypass++;
		return;
	}
	if (victim == NO_KEY)
		slot = c->nused++;
	else {
		slot = c->slot[victim];
		c->slot[victim] = CL_CACHE_NO_SLOT;
		c->victim[i] = victim;
		c->out.nvictims++;
	}
	c->slot[key] = slot;
	c->pinned[key] = c->event;
}

/* Serve members from to to as one event, by the contract's four steps. */
static inline void
cache_event(struct cl_cache *c, const uint32_t *keys, uint32_t from,
    uint32_t to, bool (*admit)(struct cl_cache *, uint32_t, uint32_t *),
    void (*use)(struct cl_cache *, uint32_t))
{
	uint32_t i;

	c->event++;
	cache_classify(c, keys, from, to);
	for (i = from; i < to; i++) {
		c->victim[i] = NO_KEY;
		if (c->class[i] != CL_CLASS_HIT)
			cache_admit(c, keys[i], i, admit);
		c->out_slot[i] = c->slot[keys[i]];
	}
	for (i = from; i < to; i++)
		use(c, keys[i]);
}

/* The serve verb of a policy that has NAME_admit and NAME_use. */
#define POLICY_SERVE(name)						\
static void								\
name##_serve(struct cl_cache *c, const uint32_t *keys, uint32_t n)	\
{									\
	uint32_t i;							\
									\
	if (c->contract == CL_CONTRACT_EVENT)				\
		cache_event(c, keys, 0, n, name##_admit, name##_use);	\
	else								\
		for (i = 0; i < n; i++)					\
			cache_event(c, keys, i, i + 1, name##_admit,	\
			    name##_use);				\
}

/* The policies, a file each. */
extern const struct policy cl_cache_lru;

#endif /* CACHE_INT_H */
