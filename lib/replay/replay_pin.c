/*
 * Pins: what a policy that loads has before the first event.  Each pool gets
 * those of its experts that were used most, of equals the lower key, as far as
 * its slots reach; what was never used is left out.
 */

#include <stdlib.h>

#include "cl/device.h"
#include "cl/err.h"
#include "replay_int.h"

struct pin {
	uint64_t	uses;
	uint32_t	key;
	uint32_t	column;
};

static int
compare(const void *a, const void *b)
{
	const struct pin *x = a, *y = b;

	if (x->uses != y->uses)
		return (x->uses > y->uses ? -1 : 1);
	return ((x->key > y->key) - (x->key < y->key));
}

/* Read one, before the clock starts. */
static int
read_pin(struct cl_replay *r, const struct pin *pin, struct cl_err *err)
{
	const struct column *col = &r->column[pin->column];
	uint32_t expert = pin->key - col->base;
	int status;

	cl_device_read(r->o.device, r->job, col->layer, expert,
	    cl_device_slot(r->o.device, cl_cache_slot(r->cache, pin->key)),
	    CL_IO_DEMAND);
	status = cl_device_wait(r->o.device, r->job, col->layer, expert, err);
	r->retries += r->job->nretries;
	return (status);
}

static int
load(struct cl_replay *r, const struct pin *pin, size_t n, struct cl_err *err)
{
	uint32_t pool;
	size_t i;
	int status;

	for (i = 0; i < n && pin[i].uses > 0; i++) {
		pool = r->column[pin[i].column].pool;
		if (cl_cache_room(r->cache, pool) == 0)
			continue;
		cl_cache_load(r->cache, pool, pin[i].key);
		r->preload++;
		r->preload_bytes += r->column[pin[i].column].expert_bytes;
		if (r->o.device != NULL && (status = read_pin(r, &pin[i],
		    err)) != CL_OK)
			return (status);
	}
	return (CL_OK);
}

int
cl_replay_pin(struct cl_replay *r, const uint64_t *uses, struct cl_err *err)
{
	const struct cl_keys_column *col = r->keys->column;
	uint32_t i, e, key, n = 0;
	struct pin *pin;
	int status;

	if ((pin = calloc(r->keys->nkeys, sizeof(*pin))) == NULL)
		return (cl_fail_nomem(err, "the pinned experts"));
	for (i = 0; i < r->keys->ncolumns; i++)
		for (e = 0; e < col[i].nexperts; e++) {
			key = col[i].base + e;
			pin[n++] = (struct pin){ uses[key], key, i };
		}
	qsort(pin, n, sizeof(*pin), compare);
	status = load(r, pin, n, err);
	free(pin);
	return (status);
}
