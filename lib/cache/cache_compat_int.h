#ifndef CACHE_COMPAT_INT_H
#define CACHE_COMPAT_INT_H

/*
 * What forms that copy another simulator see of the cache.
 */

#include "cache_serve_int.h"

/*
 * Forms that copy another simulator count for count, faults and all, have one
 * verb: get, true for what that simulator calls a hit.  They serve one access
 * at a time, pin nothing, and may throw out several keys or none for one; a
 * hit need not be resident.  Slots they have all the same, by keep and drop:
 * what they keep has one as long as there are any.
 */
typedef bool policy_get(struct cl_cache *, struct pool *, uint32_t key);

INLINE void
compat_keep(struct cl_cache *c, struct pool *p, uint32_t key)
{

	if (cache_resident(c, key) || pool_full(p))
		return;
	if (c->slot != NULL)
		c->slot[key] = c->spare[p->first_slot + p->nused];
	c->known[key] = CL_CLASS_HIT;
	p->nused++;
}

INLINE void
compat_drop(struct cl_cache *c, struct pool *p, uint32_t key)
{

	if (!cache_resident(c, key))
		return;
	p->nused--;
	if (c->slot != NULL) {
		c->spare[p->first_slot + p->nused] = c->slot[key];
		c->slot[key] = CL_CACHE_NO_SLOT;
	}
	c->known[key] = CL_CLASS_CAPACITY;
	c->dropped = key;
	c->out.nvictims++;
}

/* One access; the class that it had. */
INLINE uint64_t
compat_access(struct cl_cache *c, struct pool *p, uint32_t key,
    policy_get *get)
{
	uint64_t class = c->known[key] == CL_CLASS_COLD ? CL_CLASS_COLD :
	    CL_CLASS_CAPACITY;

	c->dropped = NO_KEY;
	c->event++;
	if (p->nslots > 0 && get(c, p, key))
		return (CL_CLASS_HIT);
	if (!cache_resident(c, key)) {
		c->known[key] = CL_CLASS_CAPACITY;
		class |= CL_CACHE_NOT_KEPT;
		c->out.nbypass++;
	}
	return (class);
}

INLINE void
compat_serve(struct cl_cache *c, struct pool *p, const uint32_t *keys,
    uint32_t n, policy_get *get)
{
	uint64_t word = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		word |= compat_access(c, p, keys[i], get) <<
		    4 * (i % WORD_MEMBERS);
		if (c->names == NULL) {
			c->victim[i] = c->dropped;
			c->out_slot[i] = c->slot[keys[i]];
		} else if (c->dropped != NO_KEY)
			c->digest = cl_hash_mix(c->digest,
			    c->names[c->dropped]);
		if (i % WORD_MEMBERS == WORD_MEMBERS - 1 || i == n - 1) {
			cache_end_word(c, i, word);
			word = 0;
		}
	}
}

/* The serve verb of a form that has NAME_get. */
#define POLICY_COMPAT(name)						\
static void								\
name##_serve(struct cl_cache *c, struct pool *p, const uint32_t *keys,	\
    uint32_t n)								\
{									\
									\
	compat_serve(c, p, keys, n, name##_get);			\
}

#endif /* CACHE_COMPAT_INT_H */
