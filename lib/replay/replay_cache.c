/*
 * The cache of a replay: its slots as one pool for all layers, dealt to a pool
 * for each, or to a pool for each size of experts.  Pools follow the keys: the
 * columns, or the classes.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/budget.h"
#include "cl/err.h"
#include "replay_int.h"

/* A pool for each column. */
static int
deal_slots(struct cl_replay *r, struct cl_cache_pool *pools,
    struct cl_err *err)
{
	uint32_t *nexperts, *share, i, n = r->keys->ncolumns;

	if ((nexperts = calloc(n, 2 * sizeof(*nexperts))) == NULL)
		return (cl_fail_nomem(err, "the cache's pools"));
	share = nexperts + n;
	for (i = 0; i < n; i++)
		nexperts[i] = r->keys->column[i].nexperts;
	cl_budget_deal(r->o.nslots, nexperts, share, n);
	for (i = 0; i < n; i++) {
		pools[i].nkeys = nexperts[i];
		pools[i].nslots = share[i];
		r->column[i].pool = i;
	}
	free(nexperts);
	return (CL_OK);
}

/* A pool for each class; the keys of each stand together. */
static int
split_slots(struct cl_replay *r, struct cl_cache_pool *pools,
    struct cl_err *err)
{
	const struct cl_keys *keys = r->keys;
	const struct cl_budget_class *class = r->o.classes.class;
	uint32_t i, c, last = 0;

	for (i = 0; i < r->o.classes.n; i++)
		pools[i].nslots = class[i].nslots;
	for (i = 0; i < keys->ncolumns; i++) {
		c = cl_budget_class(&r->o.classes,
		    keys->column[keys->order[i]].expert_bytes);
		if (c < last)
			return (cl_fail(err, CL_EINVAL, "partition class "
			    "needs the keys of each class together"));
		last = c;
		pools[c].nkeys += keys->column[keys->order[i]].nexperts;
		r->column[keys->order[i]].pool = c;
	}
	return (CL_OK);
}

static bool
same_classes(const struct cl_budget_classes *a,
    const struct cl_budget_classes *b)
{
	uint32_t i;

	for (i = 0; i < a->n && i < b->n; i++)
		if (a->class[i].nslots != b->class[i].nslots ||
		    a->class[i].expert_bytes != b->class[i].expert_bytes)
			return (false);
	return (a->n == b->n);
}

/* The cache of a replay that is over; what it holds must be the same here. */
static int
take_over(struct cl_replay *r, struct cl_err *err)
{
	struct cl_replay *b = r->o.before;

	if (b->cache == NULL || b->keys->nkeys != r->keys->nkeys ||
	    memcmp(b->name, r->name, b->keys->nkeys * sizeof(*r->name)) != 0)
		return (cl_fail(err, CL_EINVAL, "a cache cannot go on with "
		    "other layers and experts"));
	if (b->o.nslots != r->o.nslots || b->o.contract != r->o.contract ||
	    b->o.partition != r->o.partition ||
	    !same_classes(&b->o.classes, &r->o.classes) ||
	    !cl_cache_policy_equal(&b->o.policy, &r->o.policy))
		return (cl_fail(err, CL_EINVAL, "a cache cannot go on with "
		    "other slots, contract, policy or partition"));
	if (b->counts != r->counts)
		return (cl_fail(err, CL_EINVAL, "a cache that reads, "
		    "prefetches or logs cannot go on with one that only "
		    "counts"));
	r->cache = b->cache;
	b->cache = NULL;
	free(r->name);				/* the cache has the other */
	r->name = b->name;
	b->name = NULL;
	r->buffer = b->buffer;
	b->buffer = NULL;
	return (CL_OK);
}

/* A buffer for each slot, which staging may exchange for one of its own. */
static int
make_buffers(struct cl_replay *r, struct cl_err *err)
{
	uint32_t i;

	if (r->o.device == NULL)
		return (CL_OK);
	if ((r->buffer = calloc(r->o.nslots, sizeof(*r->buffer))) == NULL)
		return (cl_fail_nomem(err, "the cache's slots"));
	for (i = 0; i < r->o.nslots; i++)
		r->buffer[i] = i;
	return (CL_OK);
}

int
cl_replay_make_cache(struct cl_replay *r, struct cl_err *err)
{
	struct cl_cache_options o = {
		.npools = 1,
		.nevent = r->keys->nlargest,
		.contract = r->o.contract,
		.policy = r->o.policy,
		.names = r->counts ? r->name : NULL,
	};
	struct cl_cache_pool *pools;
	int status = CL_OK;

	if ((pools = calloc(r->keys->ncolumns, sizeof(*pools))) == NULL)
		return (cl_fail_nomem(err, "the cache's pools"));
	pools[0].nkeys = r->keys->nkeys;
	pools[0].nslots = r->o.nslots;
	if (r->o.partition == CL_PARTITION_LAYER) {
		o.npools = r->keys->ncolumns;
		status = deal_slots(r, pools, err);
	} else if (r->o.partition == CL_PARTITION_CLASS) {
		o.npools = r->o.classes.n;
		pools[0].nkeys = 0;
		status = split_slots(r, pools, err);
	}
	o.pools = pools;
	if (status == CL_OK && r->o.before != NULL)
		status = take_over(r, err);
	else if (status == CL_OK && (r->cache = cl_cache_new(&o, err)) == NULL)
		status = err->code;
	if (status == CL_OK)
		status = cl_replay_open_rival(r, &o, err);
	free(pools);
	if (status == CL_OK && r->buffer == NULL)
		status = make_buffers(r, err);
	return (status);
}
