/*
 * Counts are 32 bits; before one wraps, all of its pair of columns are halved,
 * which keeps their order.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/host.h"
#include "cl/keys.h"
#include "cl/transition.h"

struct cl_transition {
	const struct cl_keys *keys;
	uint32_t	**count;	/* of columns c - 1 and c, from 1 on */
	uint64_t	*sum;		/* of each expert of a layer */
};

/* The system would promise more than it has: ask first. */
static int
check_memory(const struct cl_keys *keys, struct cl_err *err)
{
	const struct cl_keys_column *col = keys->column;
	uint64_t limit = cl_host_memory(""), nbytes = 0;
	uint32_t c;

	for (c = 1; c < keys->ncolumns; c++)
		nbytes += (uint64_t)col[c - 1].nexperts * col[c].nexperts *
		    sizeof(uint32_t);
	if (limit == 0 || nbytes <= limit)
		return (CL_OK);
	return (cl_fail(err, CL_ENOMEM, "counts of transitions between %u "
	    "experts need %llu bytes, and this process may use %llu bytes of "
	    "memory", keys->nkeys, (unsigned long long)nbytes,
	    (unsigned long long)limit));
}

struct cl_transition *
cl_transition_new(const struct cl_keys *keys, struct cl_err *err)
{
	const struct cl_keys_column *col = keys->column;
	struct cl_transition *t;
	uint32_t c;

	if (check_memory(keys, err) != CL_OK)
		return (NULL);
	if ((t = calloc(1, sizeof(*t))) == NULL)
		goto nomem;
	t->keys = keys;
	t->count = calloc(keys->ncolumns, sizeof(*t->count));
	t->sum = calloc(keys->nlargest, sizeof(*t->sum));
	if (t->count == NULL || t->sum == NULL)
		goto nomem;
	for (c = 1; c < keys->ncolumns; c++) {
		t->count[c] = calloc((size_t)col[c - 1].nexperts *
		    col[c].nexperts, sizeof(**t->count));
		if (t->count[c] == NULL)
			goto nomem;
	}
	return (t);

nomem:
	cl_fail_nomem(err, "transitions between experts");
	cl_transition_free(t);
	return (NULL);
}

static uint32_t *
row(const struct cl_transition *t, uint32_t c, uint16_t id)
{

	return (t->count[c] + (size_t)id * t->keys->column[c].nexperts);
}

/* Put an expert in its place among the best so far, of which there are n. */
static uint32_t
insert(const uint64_t *sum, uint16_t *ids, uint32_t n, uint32_t width,
    uint16_t id)
{
	uint32_t i = n < width ? n++ : width;

	for (; i > 0 && sum[ids[i - 1]] < sum[id]; i--)
		if (i < width)
			ids[i] = ids[i - 1];
	if (i < width)
		ids[i] = id;
	return (n);
}

uint32_t
cl_transition_choose(struct cl_transition *t, uint32_t c,
    const struct cl_cell *before, uint16_t *ids, uint32_t width)
{
	uint32_t i, e, n = 0, nexperts = t->keys->column[c].nexperts;
	const uint32_t *count;

	memset(t->sum, 0, nexperts * sizeof(*t->sum));
	for (i = 0; i < before->n; i++) {
		count = row(t, c, before->ids[i]);
		for (e = 0; e < nexperts; e++)
			t->sum[e] += count[e];
	}
	for (e = 0; e < nexperts; e++)
		if (t->sum[e] > 0)
			n = insert(t->sum, ids, n, width, (uint16_t)e);
	return (n);
}

static void
halve(struct cl_transition *t, uint32_t c)
{
	const struct cl_keys_column *col = t->keys->column;
	size_t i, n = (size_t)col[c - 1].nexperts * col[c].nexperts;

	for (i = 0; i < n; i++)
		t->count[c][i] /= 2;
}

void
cl_transition_tell(struct cl_transition *t, uint32_t c,
    const struct cl_cell *before, const struct cl_cell *cell)
{
	uint32_t i, j, *count;

	for (i = 0; i < before->n; i++) {
		count = row(t, c, before->ids[i]);
		for (j = 0; j < cell->n; j++) {
			if (count[cell->ids[j]] == UINT32_MAX)
				halve(t, c);
			count[cell->ids[j]]++;
		}
	}
}

void
cl_transition_free(struct cl_transition *t)
{
	uint32_t c;

	if (t == NULL)
		return;
	for (c = 1; t->count != NULL && c < t->keys->ncolumns; c++)
		free(t->count[c]);
	free(t->count);
	free(t->sum);
	free(t);
}
