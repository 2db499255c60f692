/*
 * Columns in the order of their layers; bases are running sums over all of
 * them in one order, by which the column of a key is found by bisection.
 */

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cl/err.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/trace.h"

/* All but where its keys begin. */
static void
describe(struct cl_keys *keys, struct cl_keys_column *col, uint32_t layer,
    const struct cl_layer *l)
{

	col->layer = layer;
	col->nexperts = l->nexperts;
	col->k = l->k;
	col->expert_bytes = l->expert_bytes;
	if (l->nexperts > keys->nlargest)
		keys->nlargest = l->nexperts;
	if (l->k > keys->kmax)
		keys->kmax = l->k;
}

static int
fill(struct cl_keys *keys, const struct cl_model *m, const uint32_t *layers,
    struct cl_err *err)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < keys->ncolumns; i++) {
		describe(keys, &keys->column[i], layers[i],
		    &m->layers[layers[i]]);
		n += keys->column[i].nexperts;
		if (n > CL_KEYS_MAX)
			return (cl_fail(err, CL_ENOTSUP, "layers 0 to %u have "
			    "%llu experts; a replay holds at most %u",
			    layers[i], (unsigned long long)n, CL_KEYS_MAX));
	}
	return (CL_OK);
}

/* A column is the next one in the order of bases. */
static void
place(struct cl_keys *keys, uint32_t *nplaced, uint32_t column)
{

	keys->order[(*nplaced)++] = column;
	keys->column[column].base = keys->nkeys;
	keys->nkeys += keys->column[column].nexperts;
}

static bool
alike(const struct cl_keys *keys, uint32_t i, uint32_t j)
{

	return (keys->column[i].expert_bytes == keys->column[j].expert_bytes);
}

/* Is a column the first one of its class? */
static bool
leads(const struct cl_keys *keys, uint32_t i)
{
	uint32_t first = 0;

	while (!alike(keys, first, i))
		first++;
	return (first == i);
}

static void
place_all(struct cl_keys *keys, bool by_class)
{
	uint32_t i, j, n = 0;

	for (i = 0; i < keys->ncolumns && !by_class; i++)
		place(keys, &n, i);
	for (i = 0; i < keys->ncolumns && by_class; i++) {
		if (!leads(keys, i))
			continue;
		for (j = i; j < keys->ncolumns; j++)
			if (alike(keys, i, j))
				place(keys, &n, j);
	}
}

static struct cl_keys *
make(const struct cl_model *m, bool by_class, struct cl_err *err)
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
	if (status == CL_OK && ((keys->column = calloc(keys->ncolumns,
	    sizeof(*keys->column))) == NULL || (keys->order = calloc(
	    keys->ncolumns, sizeof(*keys->order))) == NULL))
		status = cl_fail_nomem(err, "the table of experts");
	if (status == CL_OK)
		status = fill(keys, m, layers, err);
	free(layers);
	if (status != CL_OK) {
		cl_keys_free(keys);
		return (NULL);
	}
	place_all(keys, by_class);
	return (keys);
}

struct cl_keys *
cl_keys_new(const struct cl_model *m, struct cl_err *err)
{

	return (make(m, false, err));
}

struct cl_keys *
cl_keys_for(enum cl_partition partition, const struct cl_model *m,
    struct cl_err *err)
{

	return (make(m, partition == CL_PARTITION_CLASS, err));
}

bool
cl_keys_same(const struct cl_keys *a, const struct cl_keys *b)
{
	const struct cl_keys_column *p = a->column, *q = b->column;
	uint32_t i;

	for (i = 0; i < a->ncolumns && i < b->ncolumns; i++, p++, q++)
		if (p->layer != q->layer || p->base != q->base ||
		    p->nexperts != q->nexperts ||
		    p->expert_bytes != q->expert_bytes)
			return (false);
	return (a->ncolumns == b->ncolumns);
}

uint32_t
cl_keys_column(const struct cl_keys *keys, uint32_t key)
{
	uint32_t lo = 0, hi = keys->ncolumns, mid;

	assert(key < keys->nkeys);
	while (hi - lo > 1) {
		mid = lo + (hi - lo) / 2;
		if (keys->column[keys->order[mid]].base <= key)
			lo = mid;
		else
			hi = mid;
	}
	return (keys->order[lo]);
}

void
cl_keys_free(struct cl_keys *keys)
{

	if (keys == NULL)
		return;
	free(keys->column);
	free(keys->order);
	free(keys);
}
