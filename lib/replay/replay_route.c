/*
 * Routing that heeds the cache: what the tokens of a pass use of a column is
 * chosen anew when its event comes, by what is resident then, and becomes the
 * event.  All tokens of a pass see the same residents.
 *
 * A cell without scores, or of a layer that does not choose by scores, stays
 * as it is.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/model.h"
#include "cl/smart.h"
#include "replay_int.h"

int
cl_replay_open_route(struct cl_replay *r, const struct cl_model *m,
    struct cl_err *err)
{
	const struct cl_keys *keys = r->keys;
	struct routing *x = &r->routing;
	uint32_t i;

	if (!cl_smart_on(&r->o.smart))
		return (CL_OK);
	x->rules = calloc(keys->ncolumns, sizeof(*x->rules));
	x->resident = calloc(keys->nlargest, sizeof(*x->resident));
	x->stamped = calloc(keys->nkeys, sizeof(*x->stamped));
	x->list = calloc(keys->nlargest, sizeof(*x->list));
	x->ids = calloc(keys->nlargest, sizeof(*x->ids));
	if (x->rules == NULL || x->resident == NULL || x->stamped == NULL ||
	    x->list == NULL || x->ids == NULL)
		return (cl_fail_nomem(err, "cache-aware routing"));
	for (i = 0; i < keys->ncolumns; i++)
		x->rules[i] = &m->layers[keys->column[i].layer].rule;
	x->smart = cl_smart_new(&r->o.smart, x->rules, keys->ncolumns, err);
	return (x->smart == NULL ? err->code : CL_OK);
}

static void
find_residents(struct cl_replay *r, uint32_t c)
{
	const struct cl_keys_column *col = &r->keys->column[c];
	uint8_t *resident = r->routing.resident;
	uint32_t e, key;

	for (e = 0; e < col->nexperts; e++) {
		key = col->base + e;
		resident[e] = cl_cache_slot(r->cache, key) !=
		    CL_CACHE_NO_SLOT || cl_cache_staged(r->cache, key);
	}
}

static void
add_price(struct cl_replay *r, uint32_t c, const struct cl_smart_price *p,
    unsigned phase)
{
	struct cl_tally_phase *t = r->phase[phase];

	t->n[CL_N_CHOICES] += p->choices;
	t->n[CL_N_SUBSTITUTED] += p->substituted;
	t->n[CL_N_DROPPED] += p->dropped;
	t->f[CL_F_DROPPED_MASS] += p->dropped_mass;
	t->f[CL_F_GATE_TOTAL] += p->gate_total;
	if (p->max_delta > t->f[CL_F_MAX_DELTA])
		t->f[CL_F_MAX_DELTA] = p->max_delta;
	r->column[c].tally->substituted += p->substituted;
	r->column[c].tally->dropped += p->dropped;
}

/* What token t uses by a cell, the first *n of x->ids. */
static int
route(struct cl_replay *r, uint32_t c, uint32_t t, const struct cl_cell *cell,
    struct cl_smart_price *price, uint32_t *n, struct cl_err *err)
{
	struct routing *x = &r->routing;

	if (cell->scores == NULL || x->rules[c]->select == CL_SELECT_TABLE) {
		memcpy(x->ids, cell->ids, cell->n * sizeof(*x->ids));
		price->choices += cell->n;
		*n = cell->n;
		return (CL_OK);
	}
	*n = cl_smart_choose(x->smart, c, cell->scores, cell->ids, cell->n,
	    x->resident, x->ids, price);
	if (*n == cell->n &&
	    memcmp(x->ids, cell->ids, *n * sizeof(*x->ids)) == 0)
		return (CL_OK);
	r->digest = cl_decision_digest_change(r->digest,
	    r->keys->column[c].layer, x->ids, *n);
	return (r->o.events ? cl_replay_note_choice(r, t, cell->ids, x->ids,
	    cell->n, *n, err) : CL_OK);
}

static void
next_stamp(struct cl_replay *r)
{
	struct routing *x = &r->routing;

	if (++x->stamp != 0)
		return;
	memset(x->stamped, 0, r->keys->nkeys * sizeof(*x->stamped));
	x->stamp = 1;				/* 2^32 events: start anew */
}

const struct cl_event *
cl_replay_route(struct cl_replay *r, const struct cl_pass *pass, uint32_t c,
    unsigned phase, struct cl_err *err)
{
	const struct cl_keys_column *col = &r->keys->column[c];
	const struct cl_cell *cell = pass->cell + (size_t)c * pass->ncells;
	struct cl_smart_price price = { 0 };
	struct routing *x = &r->routing;
	uint32_t t, j, n, key;

	x->event = (struct cl_event){ .keys = x->list };
	next_stamp(r);
	find_residents(r, c);
	for (t = 0; t < pass->ncells; t++, cell++) {
		if (cell->n == 0)
			continue;
		if (route(r, c, t, cell, &price, &n, err) != CL_OK)
			return (NULL);
		for (j = 0; j < n; j++) {
			key = col->base + x->ids[j];
			if (x->stamped[key] != x->stamp) {
				x->stamped[key] = x->stamp;
				x->list[x->event.n++] = key;
			}
		}
	}
	add_price(r, c, &price, phase);
	/* Where nobody is left there is no event, but changes are told. */
	if (r->log.nchanges > 0 && x->event.n == 0 &&
	    cl_replay_log(r, &r->column[c], phase, err) != CL_OK)
		return (NULL);
	return (&x->event);
}

void
cl_replay_close_route(struct cl_replay *r)
{

	cl_smart_free(r->routing.smart);
	free(r->routing.rules);
	free(r->routing.resident);
	free(r->routing.stamped);
	free(r->routing.list);
	free(r->routing.ids);
}
