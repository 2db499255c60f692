/*
 * lru: a cache of C slots that is never smaller than an event holds the C most
 * recent keys, so that a key hits from its rank on.  Smaller ones, which an
 * event overflows, are kept as a stack of their own; inclusion joins the two.
 * Under retain, where nothing is pinned, all of them hold the most recent keys.
 *
 * A cache that an event overflowed holds the most recent keys again when as
 * many as it has slots were used in events that did not.  So the stack, which
 * costs the more the deeper it is, grows where a prompt comes, to what that
 * event demands, and is cut behind it, to what the largest event since demands.
 *
 * belady: the stack is all there is.
 */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/keys.h"
#include "cl/recency.h"
#include "cl/stack.h"
#include "curve_int.h"

static int
open_scope(struct scope *s, const struct cl_curve *c, uint32_t base,
    uint32_t nkeys, uint32_t nlargest, struct cl_err *err)
{
	bool lru = c->o.policy == CL_CURVE_LRU;

	s->base = base;
	s->nkeys = nkeys;
	s->depth = lru ? 0 : nkeys;
	if ((s->from = calloc((size_t)nkeys + 1, sizeof(*s->from))) == NULL)
		return (cl_fail_nomem(err, "a curve"));
	if (lru && (s->recency = cl_recency_new(nkeys, err)) == NULL)
		return (err->code);
	if (lru && c->o.contract != CL_CONTRACT_EVENT)
		return (CL_OK);
	s->stack = cl_stack_new(nkeys, s->depth, nlargest, err);
	return (s->stack == NULL ? err->code : CL_OK);
}

static int
open_scopes(struct cl_curve *c, struct cl_err *err)
{
	const struct cl_keys_column *col = c->keys->column;
	uint32_t i;
	int status;

	status = open_scope(&c->scope[0], c, 0, c->keys->nkeys,
	    c->keys->nlargest, err);
	for (i = 1; i < c->nscopes && status == CL_OK; i++, col++)
		status = open_scope(&c->scope[i], c, col->base, col->nexperts,
		    col->nexperts, err);
	return (status);
}

struct cl_curve *
cl_curve_new(const struct cl_keys *keys, const struct cl_curve_options *o,
    struct cl_err *err)
{
	struct cl_curve *c;

	if (o->policy == CL_CURVE_BELADY && o->contract == CL_CONTRACT_RETAIN) {
		cl_fail(err, CL_EINVAL, "there is no curve of policy belady "
		    "under contract retain");
		return (NULL);
	}
	if ((c = calloc(1, sizeof(*c))) == NULL)
		goto nomem;
	c->keys = keys;
	c->o = *o;
	c->nscopes = o->layers ? keys->ncolumns + 1 : 1;
	c->scope = calloc(c->nscopes, sizeof(*c->scope));
	c->rank = calloc(keys->nlargest, sizeof(*c->rank));
	c->worth = calloc(keys->nlargest, sizeof(*c->worth));
	c->place = calloc(keys->nlargest, sizeof(*c->place));
	c->top = calloc(keys->nlargest, sizeof(*c->top));
	c->last = calloc(keys->nkeys, sizeof(*c->last));
	c->window = 1;
	if (c->scope == NULL || c->rank == NULL || c->worth == NULL ||
	    c->place == NULL || c->top == NULL || c->last == NULL)
		goto nomem;
	if (open_scopes(c, err) == CL_OK)
		return (c);
	cl_curve_free(c);
	return (NULL);

nomem:
	cl_fail_nomem(err, "a curve");
	cl_curve_free(c);
	return (NULL);
}

/*
 * Caches of less than n slots need a stack that deep.  Up to now ranks did, and
 * say what keys are worth: less than the members of the event at hand.
 */
static void
deepen(struct cl_curve *c, struct scope *s, uint32_t depth)
{
	uint32_t i, n;

	s->depth = depth;
	cl_stack_deepen(s->stack, depth);
	n = cl_recency_top(s->recency, c->top, depth);
	for (i = 0; i < n; i++)
		cl_stack_append(s->stack, c->top[i], c->worth[0] - 1 - i);
}

/*
 * Ranks are those before an event that the stack has taken.  Keys that were
 * used since the last one that overflowed all of it are the first in rank.  Cut
 * where they fill its caches, and where uses have paid for it to grow again.
 */
static void
cut(struct cl_curve *c, struct scope *s, uint32_t n)
{
	uint32_t i, since = s->since;

	if (n > s->depth) {
		s->since = s->most = 0;
		s->uses = 0;
		return;
	}
	for (i = 0; i < n; i++)
		since += c->rank[i] == 0 || c->rank[i] > s->since;
	s->since = since;
	s->uses += n;
	s->most = n > s->most ? n : s->most;
	if (since < s->depth || s->uses < s->nkeys)
		return;
	s->depth = s->most - 1;
	cl_stack_cut(s->stack, s->depth);
	s->since = s->most = 0;
	s->uses = 0;
}

/* Count what hits from which capacity on; 0: a key that is new. */
static inline void
count(struct scope *s, uint32_t from)
{

	if (from == 0)
		s->cold++;
	else
		s->from[from]++;
}

/* Caches that no event overflows: ranks do. */
static void
rank_event(struct cl_curve *c, struct scope *s, const uint32_t *keys,
    uint32_t n)
{
	uint32_t i;

	if (c->o.contract == CL_CONTRACT_SERIAL)
		cl_recency_use(s->recency, keys, n, s->base, c->rank);
	else
		cl_recency_event(s->recency, keys, n, s->base, c->rank);
	for (i = 0; i < n; i++)
		count(s, c->rank[i]);
}

/* lru under event: what is no place in the stack is a rank behind it. */
static void
lru_event(struct cl_curve *c, struct scope *s, const uint32_t *keys,
    uint32_t n)
{
	uint32_t i, rank;

	if (n > s->depth + 1)
		deepen(c, s, n - 1);
	cl_recency_event(s->recency, keys, n, s->base, c->rank);
	cl_stack_event(s->stack, keys, c->worth, n, s->base, c->place);
	for (i = 0; i < n; i++) {
		rank = c->rank[i] > s->depth ? c->rank[i] : s->depth + 1;
		rank = c->place[i] > 0 ? c->place[i] : rank;
		count(s, c->rank[i] == 0 ? 0 : rank);
	}
	cut(c, s, n);
}

static void
belady_event(struct cl_curve *c, struct scope *s, const uint32_t *keys,
    uint32_t n)
{
	uint32_t i;

	cl_stack_event(s->stack, keys, c->worth, n, s->base, c->place);
	for (i = 0; i < n; i++)
		count(s, c->place[i]);
}

static void
scope_event(struct cl_curve *c, struct scope *s, const uint32_t *keys,
    uint32_t n)
{

	s->accesses += n;
	if (s->stack == NULL)
		rank_event(c, s, keys, n);
	else if (s->recency == NULL)
		belady_event(c, s, keys, n);
	else
		lru_event(c, s, keys, n);
}

/* What members are worth: the more recent, or the sooner used again, more. */
static void
set_worth(struct cl_curve *c, const uint32_t *next, uint32_t n)
{
	uint32_t i;

	if (c->o.policy == CL_CURVE_LRU)
		for (i = 0; i < n; i++)
			c->worth[i] = c->now++;
	else
		for (i = 0; i < n; i++)
			c->worth[i] = UINT32_MAX - next[i];
}

static void
event(struct cl_curve *c, uint32_t column, const uint32_t *keys,
    const uint32_t *next, uint32_t n)
{

	if (c->scope[0].stack != NULL)
		set_worth(c, next, n);
	scope_event(c, &c->scope[0], keys, n);
	if (c->o.layers)
		scope_event(c, &c->scope[column + 1], keys, n);
}

void
cl_curve_use(struct cl_curve *c, const uint32_t *keys, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (c->last[keys[i]] == c->window)
			continue;
		c->used++;
		if (c->last[keys[i]] == 0) {
			c->fresh++;
			c->seen++;
		}
		c->last[keys[i]] = c->window;
	}
}

void
cl_curve_next_window(struct cl_curve *c)
{
	uint32_t i;

	c->used = c->fresh = 0;
	if (++c->window != 0)
		return;
	for (i = 0; i < c->keys->nkeys; i++)	/* 2^32 windows: start anew */
		c->last[i] = c->last[i] > 0;
	c->window = 2;
}

void
cl_curve_event(struct cl_curve *c, uint32_t column, const uint32_t *keys,
    const uint32_t *next, uint32_t n)
{
	uint32_t i;

	assert((next != NULL) == (c->o.policy == CL_CURVE_BELADY));
	if (c->o.contract != CL_CONTRACT_SERIAL ||
	    c->o.policy == CL_CURVE_LRU) {
		event(c, column, keys, next, n);
		return;
	}
	for (i = 0; i < n; i++)
		event(c, column, keys + i, next + i, 1);
}

void
cl_curve_reset(struct cl_curve *c)
{
	struct scope *s = c->scope;
	uint32_t i;

	for (i = 0; i < c->nscopes; i++, s++) {
		s->accesses = s->cold = 0;
		memset(s->from, 0, ((size_t)s->nkeys + 1) * sizeof(*s->from));
	}
}

void
cl_curve_counts(const struct cl_curve *c, uint32_t scope,
    struct cl_curve_counts *counts)
{
	const struct scope *s = &c->scope[scope];

	counts->accesses = s->accesses;
	counts->cold = s->cold;
	counts->ncapacities = s->nkeys;
	counts->from = s->from;
}

void
cl_curve_free(struct cl_curve *c)
{
	uint32_t i;

	if (c == NULL)
		return;
	for (i = 0; c->scope != NULL && i < c->nscopes; i++) {
		free(c->scope[i].from);
		cl_recency_free(c->scope[i].recency);
		cl_stack_free(c->scope[i].stack);
	}
	free(c->scope);
	free(c->rank);
	free(c->worth);
	free(c->place);
	free(c->top);
	free(c->last);
	free(c);
}
