/*
 * Columns in the order of their layers; bases are running sums, so that the
 * column of a key is found by bisection.
 */

#include <assert.h>
#include <stdlib.h>

#include "cl/err.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/trace.h"

static int
fill(struct cl_keys *keys, const struct cl_model *m, const uint32_t *layers,
    struct cl_err *err)
{
	struct cl_keys_column *col = keys->column;
	const struct cl_layer *l;
	uint32_t i;

	for (i = 0; i < keys->ncolumns; i++, col++) {
		l = &m->layers[layers[i]];
		col->layer = layers[i];
		col->base = keys->nkeys;
		col->nexperts = l->nexperts;
		col->k = l->k;
		col->expert_bytes = l->expert_bytes;
		if (l->nexperts > CL_KEYS_MAX - keys->nkeys)
			return (cl_fail(err, CL_ENOTSUP, "layers 0 to %u have "
			    "%llu experts; a replay holds at most %u",
			    layers[i], (unsigned long long)keys->nkeys +
			    l->nexperts, CL_KEYS_MAX));
		keys->nkeys += l->nexperts;
		if (l->nexperts > keys->nlargest)
			keys->nlargest = l->nexperts;
		if (l->k > keys->kmax)
			keys->kmax = l->k;
	}
	return (CL_OK);
}

struct cl_keys *
cl_keys_new(const struct cl_model *m, struct cl_err *err)
{
	struct cl_keys *keys;
	uint32_t *layers = NULL;
	int status;

	if ((keys = calloc(1, sizeof(*keys))) == NULL) {
		cl_fail_nomem(err, "the table of experts");
		return (NULL);
	}
	status = cl_trace_layers(m, &layers, &keys->ncolumns, err);
	if (status == CL_OK && keys->ncolumns == 0)
		status = cl_fail(err, CL_EINVAL, "no layer has experts: "
		    "there is nothing to cache");
	if (status == CL_OK && (keys->column = calloc(keys->ncolumns,
	    sizeof(*keys->column))) == NULL)
		status = cl_fail_nomem(err, "the table of experts");
	if (status == CL_OK)
		status = fill(keys, m, layers, err);
	free(layers);
	if (status != CL_OK) {
		cl_keys_free(keys);
		return (NULL);
	}
	return (keys);
}

uint32_t
cl_keys_column(const struct cl_keys *keys, uint32_t key)
{
	uint32_t lo = 0, hi = keys->ncolumns, mid;

	assert(key < keys->nkeys);
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (keys->column[mid].base <= key)
			lo = mid;
		else
			hi = mid;
	}
	return (lo);
}

void
cl_keys_free(struct cl_keys *keys)
{

	if (keys == NULL)
		return;
	free(keys->column);
	free(keys);
}
