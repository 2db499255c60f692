/*
 * A row for each expert: what followed on it.  Memory follows what did, not
 * what could: a row is a list of experts and their counts while it is short,
 * and has a count for every expert of the layer once it holds a part of them.
 * Counts are 32 bits; before one wraps, all of its pair of columns are halved,
 * which keeps their order.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/keys.h"
#include "cl/transition.h"

#define LIST_LEAST	8	/* experts in a list */
#define LIST_PART	8	/* of a layer: what the longest list may hold */

struct row {
	uint32_t	 n;		/* counts in use */
	uint32_t	 cap;
	uint32_t	*count;
	uint16_t	*id;		/* whose; NULL: of every expert */
};

struct cl_transition {
	const struct cl_keys *keys;
	struct row	*row;		/* by key; the last column has none */
	uint64_t	*sum;		/* of each expert of a layer */
	uint64_t	 nbytes;	/* of all rows */
	uint64_t	 limit;		/* 0: there is none */
};

struct cl_transition *
cl_transition_new(const struct cl_keys *keys, uint64_t limit,
    struct cl_err *err)
{
	struct cl_transition *t;

	if ((t = calloc(1, sizeof(*t))) == NULL)
		goto nomem;
	t->keys = keys;
	t->limit = limit;
	t->row = calloc(keys->nkeys, sizeof(*t->row));
	t->sum = calloc(keys->nlargest, sizeof(*t->sum));
	if (t->row == NULL || t->sum == NULL)
		goto nomem;
	return (t);

nomem:
	cl_fail_nomem(err, "transitions between experts");
	cl_transition_free(t);
	return (NULL);
}

/* What followed, in the column behind c, on one of its experts. */
static struct row *
row_of(const struct cl_transition *t, uint32_t c, uint16_t id)
{

	return (&t->row[t->keys->column[c].base + id]);
}

/* The system would promise more than it has: ask first. */
static int
take_memory(struct cl_transition *t, uint64_t nbytes, struct cl_err *err)
{

	if (t->limit != 0 && nbytes > t->limit - t->nbytes)
		return (cl_fail(err, CL_ENOMEM, "counts of transitions between "
		    "experts need more than the %llu bytes of memory that "
		    "they may take", (unsigned long long)t->limit));
	t->nbytes += nbytes;
	return (CL_OK);
}

/* A list becomes a count for each of n experts. */
static int
spread(struct cl_transition *t, struct row *row, uint32_t n,
    struct cl_err *err)
{
	uint32_t *count, i;
	int status;

	if ((status = take_memory(t, n * sizeof(*count), err)) != CL_OK)
		return (status);
	if ((count = calloc(n, sizeof(*count))) == NULL)
		return (cl_fail_nomem(err, "transitions between experts"));
	for (i = 0; i < row->n; i++)
		count[row->id[i]] = row->count[i];
	t->nbytes -= row->cap * (sizeof(*row->count) + sizeof(*row->id));
	free(row->count);
	free(row->id);
	*row = (struct row){ .n = n, .cap = n, .count = count };
	return (CL_OK);
}

/*
 * Room for one more in a list, for which it may cease to be one.  Experts have
 * 16 bits, so that no list is longer than 2^16 / LIST_PART: no size wraps.
 */
static int
grow(struct cl_transition *t, struct row *row, uint32_t nexperts,
    struct cl_err *err)
{
	uint32_t cap = row->cap == 0 ? LIST_LEAST : 2 * row->cap;
	uint32_t *count;
	uint16_t *id;
	int status;

	if (cap > nexperts / LIST_PART)
		return (spread(t, row, nexperts, err));
	if ((status = take_memory(t, (cap - row->cap) *
	    (sizeof(*count) + sizeof(*id)), err)) != CL_OK)
		return (status);
	count = realloc(row->count, cap * sizeof(*count));
	if (count != NULL)
		row->count = count;
	id = realloc(row->id, cap * sizeof(*id));
	if (id != NULL)
		row->id = id;
	if (count == NULL || id == NULL)
		return (cl_fail_nomem(err, "transitions between experts"));
	row->cap = cap;
	return (CL_OK);
}

/* The count of an expert in a row; it has one from now on. */
static int
find(struct cl_transition *t, struct row *row, uint32_t nexperts, uint16_t id,
    uint32_t **count, struct cl_err *err)
{
	uint32_t i;
	int status;

	for (i = 0; row->id != NULL && i < row->n; i++)
		if (row->id[i] == id) {
			*count = &row->count[i];
			return (CL_OK);
		}
	if (row->n == row->cap && (row->cap == 0 || row->id != NULL) &&
	    (status = grow(t, row, nexperts, err)) != CL_OK)
		return (status);
	if (row->id == NULL)
		*count = &row->count[id];
	else {
		row->id[row->n] = id;
		row->count[row->n] = 0;
		*count = &row->count[row->n++];
	}
	return (CL_OK);
}

static void
add(uint64_t *sum, const struct row *row)
{
	uint32_t i;

	if (row->id == NULL)
		for (i = 0; i < row->n; i++)
			sum[i] += row->count[i];
	else
		for (i = 0; i < row->n; i++)
			sum[row->id[i]] += row->count[i];
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

	memset(t->sum, 0, nexperts * sizeof(*t->sum));
	for (i = 0; i < before->n; i++)
		add(t->sum, row_of(t, c - 1, before->ids[i]));
	for (e = 0; e < nexperts; e++)
		if (t->sum[e] > 0)
			n = insert(t->sum, ids, n, width, (uint16_t)e);
	return (n);
}

static void
halve(struct cl_transition *t, uint32_t c)
{
	struct row *row = row_of(t, c, 0);
	uint32_t n = t->keys->column[c].nexperts, i;

	for (; n > 0; n--, row++)
		for (i = 0; i < row->n; i++)
			row->count[i] /= 2;
}

int
cl_transition_tell(struct cl_transition *t, uint32_t c,
    const struct cl_cell *before, const struct cl_cell *cell,
    struct cl_err *err)
{
	uint32_t i, j, *count, nexperts = t->keys->column[c].nexperts;
	struct row *row;
	int status;

	for (i = 0; i < before->n; i++) {
		row = row_of(t, c - 1, before->ids[i]);
		for (j = 0; j < cell->n; j++) {
			if ((status = find(t, row, nexperts, cell->ids[j],
			    &count, err)) != CL_OK)
				return (status);
			if (*count == UINT32_MAX)
				halve(t, c - 1);
			++*count;
		}
	}
	return (CL_OK);
}

void
cl_transition_free(struct cl_transition *t)
{
	uint32_t i;

	if (t == NULL)
		return;
	for (i = 0; t->row != NULL && i < t->keys->nkeys; i++) {
		free(t->row[i].count);
		free(t->row[i].id);
	}
	free(t->row);
	free(t->sum);
	free(t);
}
