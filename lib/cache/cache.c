/*
 * The cache: dense arrays over all keys, pools that share them out, and a
 * policy from the table.  The arrays of an outcome have room for the largest
 * event.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cache_int.h"

#define KEYS_MAX	(1u << 27)	/* so that policies may count in 32 bits */

static int
allocate(struct cl_cache *c, struct cl_err *err)
{
	uint32_t key;

	c->slot = calloc(c->nkeys, sizeof(*c->slot));
	c->pinned = calloc(c->nkeys, sizeof(*c->pinned));
	c->seen = calloc(c->nkeys, sizeof(*c->seen));
	c->class = calloc(c->nevent, sizeof(*c->class));
	c->out_slot = calloc(c->nevent, sizeof(*c->out_slot));
	c->victim = calloc(c->nevent, sizeof(*c->victim));
	if (c->slot == NULL || c->pinned == NULL || c->seen == NULL ||
	    c->class == NULL || c->out_slot == NULL || c->victim == NULL ||
	    (c->policy->info.foresees && (c->next = calloc(c->nkeys,
	    sizeof(*c->next))) == NULL) ||
	    (c->state = c->policy->open(c)) == NULL)
		return (cl_fail_nomem(err, "the cache's tables"));
	for (key = 0; key < c->nkeys; key++)
		c->slot[key] = CL_CACHE_NO_SLOT;
	c->out.class = c->class;
	c->out.slot = c->out_slot;
	c->out.victim = c->victim;
	return (CL_OK);
}

/* The policy, or what its flag "compat" makes of it. */
static int
choose_policy(struct cl_cache *c, const struct cl_cache_options *o,
    struct cl_err *err)
{
	uint32_t slot;

	c->policy = cl_cache_policy_find(o->policy.info);
	memcpy(c->param, o->policy.value, sizeof(c->param));
	c->contract = o->contract;
	if (!cl_cache_policy_compat(&o->policy))
		return (CL_OK);
	if (o->contract != CL_CONTRACT_SERIAL)
		return (cl_fail(err, CL_EINVAL, "policy %s:compat copies a "
		    "simulator that serves one access at a time: it takes "
		    "the contract serial", o->policy.info->name));
	c->policy = c->policy->compat;
	if ((c->spare = calloc(c->nkeys, sizeof(*c->spare))) == NULL)
		return (cl_fail_nomem(err, "the cache's slots"));
	for (slot = 0; slot < c->nkeys; slot++)
		c->spare[slot] = slot;
	return (CL_OK);
}

/* Deal keys and slots to the pools, in their order. */
static int
make_pools(struct cl_cache *c, const struct cl_cache_options *o,
    struct cl_err *err)
{
	const struct cl_cache_pool *from = o->pools;
	uint32_t i, nslots = 0;

	if ((c->pool = calloc(o->npools, sizeof(*c->pool))) == NULL)
		return (cl_fail_nomem(err, "the cache's pools"));
	for (i = 0; i < o->npools; i++, from++) {
		if (from->nslots > from->nkeys)
			return (cl_fail(err, CL_EINVAL, "a pool of %u slots "
			    "for %u experts", from->nslots, from->nkeys));
		if (from->nkeys > KEYS_MAX - c->nkeys)
			return (cl_fail(err, CL_EINVAL, "a cache for more "
			    "than %u experts", KEYS_MAX));
		c->pool[i].number = i;
		c->pool[i].first_key = c->nkeys;
		c->pool[i].nkeys = from->nkeys;
		c->pool[i].first_slot = nslots;
		c->pool[i].nslots = from->nslots;
		c->nkeys += from->nkeys;
		nslots += from->nslots;
	}
	c->npools = o->npools;
	return (nslots > 0 ? CL_OK : cl_fail(err, CL_EINVAL, "a cache of no "
	    "slots for %u experts", c->nkeys));
}

struct cl_cache *
cl_cache_new(const struct cl_cache_options *o, struct cl_err *err)
{
	struct cl_cache *c;

	assert(o->npools > 0 && o->nevent > 0);
	if ((c = calloc(1, sizeof(*c))) == NULL) {
		cl_fail_nomem(err, "the cache");
		return (NULL);
	}
	c->nevent = o->nevent;
	if (make_pools(c, o, err) != CL_OK ||
	    choose_policy(c, o, err) != CL_OK || allocate(c, err) != CL_OK) {
		cl_cache_free(c);
		return (NULL);
	}
	return (c);
}

void
cl_cache_foretell(struct cl_cache *c, const uint32_t *keys,
    const uint32_t *next, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		c->next[keys[i]] = next[i];
}

void
cl_cache_begin(struct cl_cache *c, const uint32_t *first)
{

	c->policy->begin(c, first);
}

/*
 * Event numbers are 32 bits, for the sake of the processor's caches; before
 * they wrap, every pin is forgotten and they start anew.
 */
static void
renumber(struct cl_cache *c)
{

	memset(c->pinned, 0, c->nkeys * sizeof(*c->pinned));
	c->event = 0;
}

const struct cl_cache_outcome *
cl_cache_serve(struct cl_cache *c, uint32_t pool, const uint32_t *keys,
    uint32_t n)
{

	assert(pool < c->npools && n <= c->nevent);
	if (UINT32_MAX - c->event <= n)
		renumber(c);
	c->out.nhits = c->out.nstaged = c->out.ncold = c->out.ncapacity = 0;
	c->out.nbypass = c->out.nrejects = c->out.nvictims = 0;
	c->policy->serve(c, &c->pool[pool], keys, n);
	return (&c->out);
}

void
cl_cache_stage(struct cl_cache *c, uint32_t key)
{

	assert(!cache_resident(c, key) && c->seen[key] != STAGED);
	c->seen[key] = STAGED;
}

void
cl_cache_unstage(struct cl_cache *c, uint32_t key)
{

	assert(c->seen[key] == STAGED);
	c->seen[key] = SEEN;
}

bool
cl_cache_staged(const struct cl_cache *c, uint32_t key)
{

	return (c->seen[key] == STAGED);
}

uint32_t
cl_cache_resident(const struct cl_cache *c)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->npools; i++)
		n += c->pool[i].nused;
	return (n);
}

uint32_t
cl_cache_slot(const struct cl_cache *c, uint32_t key)
{

	return (c->slot[key]);
}

void
cl_cache_free(struct cl_cache *c)
{

	if (c == NULL)
		return;
	if (c->state != NULL)
		c->policy->free(c->state);
	free(c->pool);
	free(c->slot);
	free(c->pinned);
	free(c->seen);
	free(c->next);
	free(c->spare);
	free(c->class);
	free(c->out_slot);
	free(c->victim);
	free(c);
}
