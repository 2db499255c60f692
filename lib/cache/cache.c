/*
 * The cache: dense arrays over all keys, and a policy from the table.  The
 * arrays of an outcome have room for the largest event.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/cache.h"
#include "cl/err.h"
#include "cache_int.h"

static const struct policy *const table[] = {
	&cl_cache_lru,
};

#define NPOLICIES	(sizeof(table) / sizeof(table[0]))

const struct cl_cache_policy_info *
cl_cache_policy(unsigned i)
{

	return (i < NPOLICIES ? &table[i]->info : NULL);
}

static const struct policy *
find(const char *name, struct cl_err *err)
{
	size_t i;

	for (i = 0; i < NPOLICIES; i++)
		if (strcmp(table[i]->info.name, name) == 0)
			return (table[i]);
	cl_fail(err, CL_EINVAL, "no cache policy is called \"%s\"", name);
	return (NULL);
}

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
	    (c->state = c->policy->open(c)) == NULL)
		return (cl_fail_nomem(err, "the cache's tables"));
	for (key = 0; key < c->nkeys; key++)
		c->slot[key] = CL_CACHE_NO_SLOT;
	c->out.class = c->class;
	c->out.slot = c->out_slot;
	c->out.victim = c->victim;
	return (CL_OK);
}

struct cl_cache *
cl_cache_new(const struct cl_cache_options *o, struct cl_err *err)
{
	const struct policy *policy;
	struct cl_cache *c;

	if ((policy = find(o->policy, err)) == NULL)
		return (NULL);
	if (o->nslots == 0 || o->nslots > o->nkeys || o->nevent == 0) {
		cl_fail(err, CL_EINVAL, "a cache of %u slots for %u experts",
		    o->nslots, o->nkeys);
		return (NULL);
	}
	if ((c = calloc(1, sizeof(*c))) == NULL) {
		cl_fail_nomem(err, "the cache");
		return (NULL);
	}
	c->policy = policy;
	c->contract = o->contract;
	c->nkeys = o->nkeys;
	c->nslots = o->nslots;
	c->nevent = o->nevent;
	if (allocate(c, err) != CL_OK) {
		cl_cache_free(c);
		return (NULL);
	}
	return (c);
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
cl_cache_serve(struct cl_cache *c, const uint32_t *keys, uint32_t n)
{

	assert(n <= c->nevent);
	if (UINT32_MAX - c->event <= n)
		renumber(c);
	c->out.nhits = c->out.ncold = c->out.ncapacity = 0;
	c->out.nbypass = c->out.nrejects = c->out.nvictims = 0;
	c->policy->serve(c, keys, n);
	return (&c->out);
}

uint32_t
cl_cache_resident(const struct cl_cache *c)
{

	return (c->nused);
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
	free(c->slot);
	free(c->pinned);
	free(c->seen);
	free(c->class);
	free(c->out_slot);
	free(c->victim);
	free(c);
}
