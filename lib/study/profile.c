/*
 * Token by token, and layer by layer within each.  Sets of experts are marks
 * in an array by number, so that to ask for a member is one look.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/events.h"
#include "cl/hash.h"
#include "cl/keys.h"
#include "cl/model.h"
#include "cl/predict.h"
#include "cl/prefix.h"
#include "cl/trace.h"
#include "profile_int.h"

static int
open_previous(struct cl_profile *p, const struct cl_model *m,
    struct cl_err *err)
{
	struct cl_predict_options o = { .kind = CL_PREDICT_PREVIOUS };
	const struct cl_keys *keys = p->keys;
	struct cl_predict_layer *layers;
	uint32_t c;

	if ((layers = calloc(keys->ncolumns, sizeof(*layers))) == NULL)
		return (cl_fail_nomem(err, "a profile"));
	for (c = 0; c < keys->ncolumns; c++) {
		layers[c].number = keys->column[c].layer;
		layers[c].rule = &m->layers[keys->column[c].layer].rule;
	}
	p->previous = cl_predict_new(&o, layers, keys->ncolumns, err);
	free(layers);
	return (p->previous == NULL ? err->code : CL_OK);
}

struct cl_profile *
cl_profile_new(const struct cl_keys *keys, const struct cl_model *m,
    struct cl_err *err)
{
	struct cl_profile *p;
	struct rank *rank;
	uint32_t c;

	if ((p = calloc(1, sizeof(*p))) == NULL)
		goto nomem;
	p->keys = keys;
	p->column = calloc(keys->ncolumns, sizeof(*p->column));
	p->uses = calloc(keys->nkeys, sizeof(*p->uses));
	p->last = calloc(keys->nkeys, sizeof(*p->last));
	p->marked = calloc(keys->nlargest, sizeof(*p->marked));
	p->before = calloc(keys->nlargest, sizeof(*p->before));
	if (p->column == NULL || p->uses == NULL || p->last == NULL ||
	    p->marked == NULL || p->before == NULL)
		goto nomem;
	for (c = 0; c < keys->ncolumns; c++) {
		if ((rank = calloc((size_t)keys->column[c].k + 1,
		    sizeof(*rank))) == NULL)
			goto nomem;
		p->column[c].rank = rank;
	}
	if (open_previous(p, m, err) == CL_OK &&
	    (p->prefix = cl_prefix_new(err)) != NULL)
		return (p);
	cl_profile_free(p);
	return (NULL);

nomem:
	cl_fail_nomem(err, "a profile");
	cl_profile_free(p);
	return (NULL);
}

/* Mark a set of experts; marks before it are forgotten. */
static void
mark(struct cl_profile *p, const uint16_t *ids, uint32_t n)
{
	uint32_t i;

	if (++p->mark == 0) {			/* 2^32 sets: start anew */
		memset(p->marked, 0, p->keys->nlargest * sizeof(*p->marked));
		p->mark = 1;
	}
	for (i = 0; i < n; i++)
		p->marked[ids[i]] = p->mark;
}

/* Against what the last token of the sequence chose here. */
static void
count_reuse(struct cl_profile *p, uint32_t c,
    const struct cl_predict_cell *cell)
{
	struct rank *rank = p->column[c].rank;
	uint32_t i, k = p->keys->column[c].k, n;

	n = cl_predict_choose(p->previous, c, cell, p->before);
	if (n == 0)
		return;
	mark(p, p->before, n);
	for (i = 0; i < cell->n && i < k; i++) {
		rank[i].choices++;
		rank[i].repeated += p->marked[cell->ids[i]] == p->mark;
		rank[i].pairs += n;
		rank[i].same += i < n && p->before[i] == cell->ids[i];
	}
}

static unsigned
power_of(uint64_t distance)
{
	unsigned n = 0;

	while (distance /= 2)
		n++;
	return (n);
}

static void
count_uses(struct cl_profile *p, uint32_t c, const struct cl_cell *cell)
{
	struct profile_column *col = &p->column[c];
	uint32_t i, key;

	col->cells++;
	col->choices += cell->n;
	for (i = 0; i < cell->n; i++) {
		key = p->keys->column[c].base + cell->ids[i];
		p->uses[key]++;
		if (p->last[key] == 0)
			col->first++;
		else
			col->rest[power_of(p->token - p->last[key])]++;
	}
}

/* Against what the token chooses in the next layer. */
static void
count_overlap(struct cl_profile *p, uint32_t c, const struct cl_cell *cell,
    const struct cl_cell *next)
{
	struct profile_column *col = &p->column[c];
	uint32_t i;

	if (next->n == 0)
		return;
	mark(p, cell->ids, cell->n);
	col->beside += cell->n;
	col->beside_next += next->n;
	col->pairs += (uint64_t)cell->n * next->n;
	for (i = 0; i < next->n; i++)
		col->shared += p->marked[next->ids[i]] == p->mark;
}

static void
note_last(struct cl_profile *p, uint32_t c,
    const struct cl_predict_cell *cell)
{
	uint32_t i;

	for (i = 0; i < cell->n; i++)
		p->last[p->keys->column[c].base + cell->ids[i]] = p->token;
	cl_predict_tell(p->previous, c, cell);
}

/*
 * What makes two tokens the same: their ids or, where these are not known, all
 * that they chose.
 */
static uint64_t
identity(const struct cl_profile *p, const struct cl_pass *pass, uint32_t i)
{
	const struct cl_cell *cell = pass->cell + i;
	uint64_t h = 0;
	uint32_t c, j;

	if (pass->token[i].token >= 0)
		return ((uint64_t)pass->token[i].token);
	for (c = 0; c < p->keys->ncolumns; c++, cell += pass->ncells)
		for (j = 0; j < cell->n; j++)
			h = cl_hash_mix(h, (uint64_t)c << 32 | cell->ids[j]);
	return (h);
}

/* Token i of a pass, through all layers. */
static void
take_token(struct cl_profile *p, const struct cl_pass *pass, uint32_t i)
{
	const struct cl_cell *cell = pass->cell + i;
	struct cl_predict_cell told = { .seq = pass->token[i].seq };
	uint32_t c;

	told.token = p->token++;
	if (!pass->skipped)
		cl_prefix_add(p->prefix, told.seq, pass->token[i].pos,
		    identity(p, pass, i));
	for (c = 0; c < p->keys->ncolumns; c++, cell += pass->ncells) {
		if (cell->n == 0)
			continue;
		told.ids = cell->ids;
		told.n = cell->n;
		if (!pass->skipped) {
			count_reuse(p, c, &told);
			count_uses(p, c, cell);
			if (c + 1 < p->keys->ncolumns)
				count_overlap(p, c, cell,
				    cell + pass->ncells);
		}
		note_last(p, c, &told);
	}
}

void
cl_profile_pass(struct cl_profile *p, const struct cl_pass *pass)
{
	uint32_t i;

	for (i = 0; i < pass->ncells; i++)
		take_token(p, pass, i);
}

void
cl_profile_reset(struct cl_profile *p)
{
	struct rank *rank;
	uint32_t c, i;

	for (c = 0; c < p->keys->ncolumns; c++) {
		rank = p->column[c].rank;
		for (i = 0; i <= p->keys->column[c].k; i++)
			rank[i] = (struct rank){ 0 };
		p->column[c] = (struct profile_column){ .rank = rank };
	}
	memset(p->uses, 0, p->keys->nkeys * sizeof(*p->uses));
	cl_prefix_reset(p->prefix);
}

void
cl_profile_free(struct cl_profile *p)
{
	uint32_t c;

	if (p == NULL)
		return;
	for (c = 0; p->column != NULL && c < p->keys->ncolumns; c++)
		free(p->column[c].rank);
	free(p->column);
	free(p->uses);
	free(p->last);
	free(p->marked);
	free(p->before);
	cl_predict_free(p->previous);
	cl_prefix_free(p->prefix);
	free(p);
}
