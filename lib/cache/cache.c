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

#define KEYS_MAX	(1u << 27)	/* policies may count in 32 bits */

/* What is known of keys, and the arrays of an outcome where one is wanted. */
static int
allocate(struct cl_cache *c, struct cl_err *err)
{
	uint32_t key;
	bool ok;

	c->known = calloc(c->nkeys, sizeof(*c->known));
	c->word = calloc(c->nevent / WORD_MEMBERS + 1, sizeof(*c->word));
	c->class = calloc(c->nevent, sizeof(*c->class));
	c->thrown = calloc(c->nevent, sizeof(*c->thrown));
	ok = c->known != NULL && c->word != NULL && c->class != NULL &&
	    c->thrown != NULL;
	if (c->names == NULL || c->policy->wants_slots) {
		c->slot = calloc(c->nkeys, sizeof(*c->slot));
		ok = ok && c->slot != NULL;
	}
	if (c->names == NULL) {
		c->out_slot = calloc(c->nevent, sizeof(*c->out_slot));
		c->victim = calloc(c->nevent, sizeof(*c->victim));
		ok = ok && c->out_slot != NULL && c->victim != NULL;
	}
	if (c->names == NULL) {
		c->spare = calloc(c->nkeys, sizeof(*c->spare));
		ok = ok && c->spare != NULL;
	}
	if (c->policy->info.foresees) {
		c->next = calloc(c->nkeys, sizeof(*c->next));
		c->places = calloc(c->npools, sizeof(*c->places));
		ok = ok && c->next != NULL && c->places != NULL;
	}
	if (!ok || (c->state = c->policy->open(c)) == NULL)
		return (cl_fail_nomem(err, "the cache's tables"));
	for (key = 0; key < c->nkeys; key++)
		c->known[key] = CL_CLASS_COLD;
	for (key = 0; c->slot != NULL && key < c->nkeys; key++)
		c->slot[key] = CL_CACHE_NO_SLOT;
	for (key = 0; c->spare != NULL && key < c->nkeys; key++)
		c->spare[key] = key;
	c->out.class = c->class;
	c->out.slot = c->out_slot;
	c->out.victim = c->victim;
	return (CL_OK);
}

int
cl_cache_check(const struct cl_cache_policy *p, enum cl_contract contract,
    struct cl_err *err)
{

	if (cl_cache_policy_compat(p))
		return (contract == CL_CONTRACT_SERIAL ? CL_OK :
		    cl_fail(err, CL_EINVAL, "policy %s:compat copies a "
		    "simulator that serves one access at a time: it takes "
		    "the contract serial", p->info->name));
	if (contract == CL_CONTRACT_RETAIN && !p->info->total_order)
		return (cl_fail(err, CL_EINVAL, "policy %s is no total order "
		    "over experts, which contract retain needs",
		    p->info->name));
	return (CL_OK);
}

/* The policy, or what its flag "compat" makes of it. */
static int
choose_policy(struct cl_cache *c, const struct cl_cache_options *o,
    struct cl_err *err)
{

	c->policy = cl_cache_policy_find(o->policy.info);
	memcpy(c->param, o->policy.value, sizeof(c->param));
	c->contract = o->contract;
	if (cl_cache_policy_compat(&o->policy))
		c->policy = c->policy->compat;
	return (cl_cache_check(&o->policy, o->contract, err));
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
		c->pool[i].nslots = c->policy->info.holds_all ?
		    from->nkeys : from->nslots;
		c->nkeys += from->nkeys;
		nslots += c->pool[i].nslots;
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
	c->names = o->names;
	if (choose_policy(c, o, err) != CL_OK ||
	    make_pools(c, o, err) != CL_OK || allocate(c, err) != CL_OK) {
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

int
cl_cache_begin(struct cl_cache *c, const struct cl_cache_places *places,
    const uint32_t *first, struct cl_err *err)
{

	memcpy(c->places, places, c->npools * sizeof(*places));
	memcpy(c->next, first, c->nkeys * sizeof(*first));
	return (c->policy->begin(c) == 0 ? CL_OK :
	    cl_fail_nomem(err, "the cache's view of what is to come"));
}

uint32_t
cl_cache_room(const struct cl_cache *c, uint32_t pool)
{

	return (c->pool[pool].nslots - c->pool[pool].nused);
}

void
cl_cache_load(struct cl_cache *c, uint32_t pool, uint32_t key)
{
	struct pool *p = &c->pool[pool];

	assert(c->policy->info.loads && !pool_full(p));
	if (c->slot != NULL)
		c->slot[key] = p->first_slot + p->nused;
	c->known[key] = CL_CLASS_HIT;
	p->nused++;
}

static void
serve(struct cl_cache *c, uint32_t pool, const uint32_t *keys, uint32_t n)
{

	assert(pool < c->npools && n <= c->nevent);
	c->out.nstaged = c->out.ncold = c->out.ncapacity = 0;
	c->out.nbypass = c->out.nrejects = c->out.nvictims = 0;
	if (c->contract == CL_CONTRACT_RETAIN)
		c->policy->retain(c, &c->pool[pool], keys, n);
	else
		c->policy->serve(c, &c->pool[pool], keys, n);
}

void
cl_cache_count(struct cl_cache *c, uint32_t pool, const uint32_t *keys,
    uint32_t n, struct cl_cache_counts *counts, uint64_t *digest)
{
	const struct cl_cache_outcome *out = &c->out;

	assert(c->names != NULL);
	c->digest = *digest;
	serve(c, pool, keys, n);
	*digest = c->digest;
	counts->accesses += n;
	counts->staged += out->nstaged;
	counts->cold += out->ncold;
	counts->capacity += out->ncapacity;
	counts->bypass += out->nbypass;
	counts->rejects += out->nrejects;
	counts->evictions += out->nvictims;
}

/*
 * Only what is missing gets a victim below, and a slot in the order of
 * members; the rest of the outcome is filled in around it.
 */
const struct cl_cache_outcome *
cl_cache_serve(struct cl_cache *c, uint32_t pool, const uint32_t *keys,
    uint32_t n)
{
	uint32_t i;

	assert(c->names == NULL);
	for (i = 0; i < n; i++)
		c->victim[i] = NO_KEY;
	serve(c, pool, keys, n);
	for (i = 0; i < n; i++)
		c->class[i] = c->word[i / WORD_MEMBERS] >>
		    4 * (i % WORD_MEMBERS) & 0xf;
	if (c->contract == CL_CONTRACT_EVENT)
		for (i = 0; i < n; i++)
			c->out_slot[i] = c->slot[keys[i]];
	c->out.nhits = n - c->out.nstaged - c->out.ncold - c->out.ncapacity;
	return (&c->out);
}

void
cl_cache_stage(struct cl_cache *c, uint32_t key)
{

	assert(c->names == NULL);
	assert(c->known[key] == CL_CLASS_COLD ||
	    c->known[key] == CL_CLASS_CAPACITY);
	c->known[key] = CL_CLASS_STAGED;
}

void
cl_cache_unstage(struct cl_cache *c, uint32_t key)
{

	assert(c->known[key] == CL_CLASS_STAGED);
	c->known[key] = CL_CLASS_CAPACITY;
}

bool
cl_cache_staged(const struct cl_cache *c, uint32_t key)
{

	return (c->known[key] == CL_CLASS_STAGED);
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

	return (c->slot == NULL ? CL_CACHE_NO_SLOT : c->slot[key]);
}

void
cl_cache_free(struct cl_cache *c)
{

	if (c == NULL)
		return;
	if (c->state != NULL)
		c->policy->free(c->state);
	free(c->pool);
	free(c->known);
	free(c->slot);
	free(c->next);
	free(c->places);
	free(c->spare);
	free(c->word);
	free(c->class);
	free(c->thrown);
	free(c->out_slot);
	free(c->victim);
	free(c);
}
