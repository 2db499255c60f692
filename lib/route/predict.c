/*
 * Predictors of a layer's choice.  Each has state by layer alone; `previous`
 * by sequence as well, in a table that a sequence number indexes directly.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/predict.h"
#include "cl/rng.h"
#include "cl/route.h"
#include "cl/rule.h"

#define NOBODY	UINT64_MAX

struct layer {
	uint32_t	 number;
	uint32_t	 nexperts;
	uint32_t	 width;
	struct cl_rule	 rule;		/* a borrowed one, with its own k */
	uint32_t	 base;		/* in a sequence's ids, in `order` */

	/* of experts, the most popular first */
	uint64_t	*uses;		/* of each expert */
	uint16_t	*order;
	uint16_t	*place;		/* of each expert in order */
};

struct cl_predict {
	struct cl_predict_options o;
	uint32_t	 nlayers;
	struct layer	*layer;
	uint32_t	 nids;		/* widths of all layers */
	struct cl_route	*route;

	/* previous: of each sequence that is remembered, by remainder */
	uint64_t	*seq;		/* whose row it is, or NOBODY */
	uint16_t	*ids;		/* [CL_PREDICT_SEQUENCES][nids] */
	uint16_t	*count;		/* [CL_PREDICT_SEQUENCES][nlayers] */
};

static int
make_popular(struct layer *l, struct cl_err *err)
{
	uint32_t e;

	l->uses = calloc(l->nexperts, sizeof(*l->uses));
	l->order = calloc(l->nexperts, sizeof(*l->order));
	l->place = calloc(l->nexperts, sizeof(*l->place));
	if (l->uses == NULL || l->order == NULL || l->place == NULL)
		return (cl_fail_nomem(err, "the predictor"));
	for (e = 0; e < l->nexperts; e++)
		l->order[e] = l->place[e] = (uint16_t)e;
	return (CL_OK);
}

static int
make_previous(struct cl_predict *p, struct cl_err *err)
{
	size_t n = CL_PREDICT_SEQUENCES;

	p->seq = calloc(n, sizeof(*p->seq));
	p->ids = calloc(n * p->nids, sizeof(*p->ids));
	p->count = calloc(n * p->nlayers, sizeof(*p->count));
	if (p->seq == NULL || p->ids == NULL || p->count == NULL)
		return (cl_fail_nomem(err, "the predictor"));
	cl_predict_forget(p);
	return (CL_OK);
}

static int
make_layers(struct cl_predict *p, const struct cl_predict_layer *from,
    uint32_t *nexperts, struct cl_err *err)
{
	struct layer *l = p->layer;
	uint32_t i, width;

	for (i = 0; i < p->nlayers; i++, l++, from++) {
		l->number = from->number;
		l->nexperts = from->rule->nexperts;
		width = p->o.width == 0 ? from->rule->k : p->o.width;
		l->width = width < l->nexperts ? width : l->nexperts;
		l->rule = *from->rule;
		l->rule.k = cl_rule_reach(from->rule);
		if (l->rule.k > l->width)
			l->rule.k = l->width;
		l->base = p->nids;
		p->nids += l->width;
		if (l->nexperts > *nexperts)
			*nexperts = l->nexperts;
		if (p->o.kind == CL_PREDICT_POPULAR &&
		    make_popular(l, err) != CL_OK)
			return (CL_ENOMEM);
	}
	return (CL_OK);
}

struct cl_predict *
cl_predict_new(const struct cl_predict_options *o,
    const struct cl_predict_layer *layers, uint32_t nlayers,
    struct cl_err *err)
{
	struct cl_predict *p;
	uint32_t nexperts = 1;
	int status;

	if ((p = calloc(1, sizeof(*p))) == NULL ||
	    (p->layer = calloc(nlayers, sizeof(*p->layer))) == NULL) {
		cl_fail_nomem(err, "the predictor");
		cl_predict_free(p);
		return (NULL);
	}
	p->o = *o;
	p->nlayers = nlayers;
	status = make_layers(p, layers, &nexperts, err);
	if (status == CL_OK && o->kind == CL_PREDICT_PREVIOUS)
		status = make_previous(p, err);
	if (status == CL_OK && o->kind == CL_PREDICT_AHEAD &&
	    (p->route = cl_route_new(nexperts, err)) == NULL)
		status = CL_ENOMEM;
	if (status == CL_OK)
		return (p);
	cl_predict_free(p);
	return (NULL);
}

uint32_t
cl_predict_width(const struct cl_predict *p, uint32_t i)
{

	return (p->layer[i].width);
}

static uint32_t
previous(const struct cl_predict *p, uint32_t i, uint32_t seq, uint16_t *ids)
{
	size_t row = seq % CL_PREDICT_SEQUENCES;
	uint32_t n;

	if (p->seq[row] != seq)
		return (0);
	n = p->count[row * p->nlayers + i];
	memcpy(ids, p->ids + row * p->nids + p->layer[i].base,
	    n * sizeof(*ids));
	return (n);
}

static uint32_t
popular(const struct layer *l, uint16_t *ids)
{
	uint32_t n;

	for (n = 0; n < l->width && l->uses[l->order[n]] > 0; n++)
		ids[n] = l->order[n];
	return (n);
}

/* Does the oracle know of it?  The first output of splitmix64 of each word. */
static bool
known(const struct cl_predict *p, uint64_t token, uint32_t layer,
    uint32_t expert)
{
	uint64_t state = p->o.seed, h;

	state = cl_rng_next(&state) ^ token;
	state = cl_rng_next(&state) ^ layer;
	state = cl_rng_next(&state) ^ expert;
	h = cl_rng_next(&state);
	return ((h >> 32) * CL_PREDICT_SURE >> 32 < p->o.recall);
}

static uint32_t
oracle(const struct cl_predict *p, const struct layer *l,
    const struct cl_predict_cell *cell, uint16_t *ids)
{
	uint32_t i, n = 0;

	for (i = 0; i < cell->n && i < l->width; i++)
		if (known(p, cell->token, l->number, cell->ids[i]))
			ids[n++] = cell->ids[i];
	return (n);
}

uint32_t
cl_predict_choose(struct cl_predict *p, uint32_t i,
    const struct cl_predict_cell *cell, uint16_t *ids)
{
	const struct layer *l = &p->layer[i];

	switch (p->o.kind) {
	case CL_PREDICT_PREVIOUS:
		return (previous(p, i, cell->seq, ids));
	case CL_PREDICT_POPULAR:
		return (popular(l, ids));
	case CL_PREDICT_AHEAD:
		if (cell->forecast == NULL || l->rule.select == CL_SELECT_TABLE)
			break;
		cl_route_choose(p->route, &l->rule, cell->forecast, ids, NULL);
		return (l->rule.k);
	case CL_PREDICT_ORACLE:
		return (oracle(p, l, cell, ids));
	case CL_PREDICT_OFF:
		break;
	}
	return (0);
}

/* One use more; the expert goes past those that it has passed. */
static void
count_use(struct layer *l, uint16_t e)
{
	uint16_t other;
	uint32_t at;

	l->uses[e]++;
	for (at = l->place[e]; at > 0; at--) {
		other = l->order[at - 1];
		if (l->uses[other] > l->uses[e] ||
		    (l->uses[other] == l->uses[e] && other < e))
			break;
		l->order[at] = other;
		l->place[other] = (uint16_t)at;
	}
	l->order[at] = e;
	l->place[e] = (uint16_t)at;
}

static void
remember(struct cl_predict *p, uint32_t i, const struct cl_predict_cell *cell)
{
	size_t row = cell->seq % CL_PREDICT_SEQUENCES;
	const struct layer *l = &p->layer[i];
	uint32_t n = cell->n < l->width ? cell->n : l->width;

	if (p->seq[row] != cell->seq) {
		p->seq[row] = cell->seq;
		memset(p->count + row * p->nlayers, 0,
		    p->nlayers * sizeof(*p->count));
	}
	p->count[row * p->nlayers + i] = (uint16_t)n;
	if (n > 0)
		memcpy(p->ids + row * p->nids + l->base, cell->ids,
		    n * sizeof(*p->ids));
}

void
cl_predict_tell(struct cl_predict *p, uint32_t i,
    const struct cl_predict_cell *cell)
{
	uint32_t j;

	if (p->o.kind == CL_PREDICT_PREVIOUS)
		remember(p, i, cell);
	if (p->o.kind == CL_PREDICT_POPULAR)
		for (j = 0; j < cell->n; j++)
			count_use(&p->layer[i], cell->ids[j]);
}

void
cl_predict_forget(struct cl_predict *p)
{
	size_t row;

	for (row = 0; p->seq != NULL && row < CL_PREDICT_SEQUENCES; row++)
		p->seq[row] = NOBODY;
}

void
cl_predict_free(struct cl_predict *p)
{
	uint32_t i;

	if (p == NULL)
		return;
	for (i = 0; p->layer != NULL && i < p->nlayers; i++) {
		free(p->layer[i].uses);
		free(p->layer[i].order);
		free(p->layer[i].place);
	}
	free(p->layer);
	cl_route_free(p->route);
	free(p->seq);
	free(p->ids);
	free(p->count);
	free(p);
}
