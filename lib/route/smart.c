/*
 * A choice is changed in place, rank by rank; what it cost is read off both
 * versions of it at the end, so that every kind is priced alike.
 */

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/route.h"
#include "cl/rule.h"
#include "cl/smart.h"

enum { OUT, PLAIN, NEW };		/* bits of a mark */

struct layer {
	const struct cl_rule *rule;
	struct cl_rule	 wide;		/* rank: the rule with k = M */
	struct cl_rule	 gates;		/* the rule whose weights are gates */
	uint64_t	 cells;
	double		 spread;	/* sum of largest minus smallest */
};

struct cl_smart {
	struct cl_smart_options o;
	uint32_t	 nlayers;
	struct layer	*layer;
	struct cl_route	*route;
	/* Of the largest layer. */
	uint8_t		*mark;		/* of each expert */
	float		*raised;	/* scores */
	uint16_t	*order;
	float		*gate;
};

static void
make_layer(struct layer *l, const struct cl_rule *rule, uint32_t among)
{
	uint32_t reach = cl_rule_reach(rule);

	l->rule = rule;
	l->wide = *rule;
	l->wide.k = among < rule->k ? rule->k : among < reach ? among : reach;
	l->gates = *rule;
	if (rule->softmax_w) {
		l->gates.gate = CL_GATE_SOFTMAX;
		l->gates.softmax_w = false;
	}
	l->gates.norm = false;
	l->gates.scale = 1;
}

struct cl_smart *
cl_smart_new(const struct cl_smart_options *o,
    const struct cl_rule *const *rules, uint32_t nlayers, struct cl_err *err)
{
	struct cl_smart *s;
	uint32_t i, n = 1;

	if ((s = calloc(1, sizeof(*s))) == NULL)
		goto nomem;
	s->o = *o;
	s->nlayers = nlayers;
	if ((s->layer = calloc(nlayers, sizeof(*s->layer))) == NULL)
		goto nomem;
	for (i = 0; i < nlayers; i++) {
		make_layer(&s->layer[i], rules[i], o->among);
		n = rules[i]->nexperts > n ? rules[i]->nexperts : n;
	}
	s->mark = calloc(n, sizeof(*s->mark));
	s->raised = calloc(n, sizeof(*s->raised));
	s->order = calloc(n, sizeof(*s->order));
	s->gate = calloc(n, sizeof(*s->gate));
	if (s->mark == NULL || s->raised == NULL || s->order == NULL ||
	    s->gate == NULL)
		goto nomem;
	if ((s->route = cl_route_new(n, err)) != NULL)
		return (s);
	cl_smart_free(s);
	return (NULL);

nomem:
	cl_fail_nomem(err, "cache-aware routing");
	cl_smart_free(s);
	return (NULL);
}

/* The resident that scores most, of those that are not marked; or E. */
static uint32_t
best_resident(const struct cl_smart *s, const struct layer *l,
    const float *scores, const uint8_t *resident)
{
	uint32_t e, best = l->rule->nexperts;

	for (e = 0; e < l->rule->nexperts; e++)
		if (resident[e] && s->mark[e] == OUT &&
		    (best == l->rule->nexperts || scores[e] > scores[best]))
			best = e;
	return (best);
}

static void
choose_delta(struct cl_smart *s, const struct layer *l, const float *scores,
    const uint8_t *resident, uint16_t *ids, uint32_t n)
{
	uint32_t i, e;

	for (i = 0; i < n; i++) {
		if (resident[ids[i]])
			continue;
		e = best_resident(s, l, scores, resident);
		if (e == l->rule->nexperts ||
		    !((double)scores[ids[i]] - (double)scores[e] <=
		    s->o.value))
			continue;
		s->mark[e] = NEW;
		ids[i] = (uint16_t)e;
	}
}

static void
choose_rank(struct cl_smart *s, const struct layer *l, const float *scores,
    const uint8_t *resident, uint16_t *ids, uint32_t n)
{
	uint32_t i, at = 0;

	cl_route_choose(s->route, &l->wide, scores, s->order, NULL);
	for (i = s->o.keep; i < n; i++) {
		if (resident[ids[i]])
			continue;
		while (at < l->wide.k && (!resident[s->order[at]] ||
		    s->mark[s->order[at]] != OUT))
			at++;
		if (at == l->wide.k)
			return;
		s->mark[s->order[at]] = NEW;
		ids[i] = s->order[at];
	}
}

/* Largest minus smallest; 0 where that is no finite number. */
static double
spread(const float *scores, uint32_t n)
{
	double lo = scores[0], hi = scores[0], d;
	uint32_t i;

	for (i = 1; i < n; i++) {
		if (scores[i] < lo)
			lo = scores[i];
		if (scores[i] > hi)
			hi = scores[i];
	}
	d = hi - lo;
	return (isfinite(d) ? d : 0);
}

static void
choose_prior(struct cl_smart *s, struct layer *l, const float *scores,
    const uint8_t *resident, uint16_t *ids, uint32_t n)
{
	uint32_t e;
	float by;

	l->cells++;
	l->spread += spread(scores, l->rule->nexperts);
	by = (float)(s->o.value * (l->spread / (double)l->cells));
	for (e = 0; e < l->rule->nexperts; e++)
		s->raised[e] = resident[e] ? scores[e] + by : scores[e];
	cl_route_choose(s->route, l->rule, s->raised, s->order, NULL);
	memcpy(ids, s->order, n * sizeof(*ids));
}

/* What the changed choice costs: pairs of what left and what came, by rank. */
static void
add_price(struct cl_smart *s, const float *scores, const uint16_t *plain,
    const uint16_t *ids, uint32_t n, struct cl_smart_price *price)
{
	uint32_t i, j = 0;
	double gap, lost;

	for (i = 0; i < n; i++)
		s->mark[plain[i]] = PLAIN;
	for (i = 0; i < n; i++)
		s->mark[ids[i]] |= NEW;
	for (i = 0; i < n; i++) {
		if (s->mark[plain[i]] & NEW)
			continue;
		while (s->mark[ids[j]] & PLAIN)
			j++;
		gap = (double)scores[plain[i]] - (double)scores[ids[j]];
		lost = (double)s->gate[plain[i]] - (double)s->gate[ids[j]];
		price->substituted++;
		price->dropped_mass += lost;
		if (gap > price->max_delta)
			price->max_delta = gap;
		j++;
	}
}

/*
 * Leave out what is missing and has a small share, and move it behind the
 * others; how many are left.
 */
static uint32_t
drop(struct cl_smart *s, const struct layer *l, const uint8_t *resident,
    uint16_t *ids, uint32_t n, struct cl_smart_price *price)
{
	double sum = 0, gate;
	uint32_t i, left = 0, out = 0;

	for (i = 0; i < n; i++)
		sum += (double)s->gate[ids[i]];
	for (i = 0; i < n; i++) {
		gate = (double)s->gate[ids[i]];
		if (!resident[ids[i]] &&
		    gate * l->rule->k < s->o.drop * sum) {
			price->dropped++;
			price->dropped_mass += gate;
			s->order[out++] = ids[i];
		} else
			ids[left++] = ids[i];
	}
	memcpy(ids + left, s->order, out * sizeof(*ids));
	return (left);
}

/* The gates of all experts, once a cell; what is no number weighs nothing. */
static void
weigh(struct cl_smart *s, const struct layer *l, const float *scores)
{
	uint32_t e;

	for (e = 0; e < l->rule->nexperts; e++)
		s->order[e] = (uint16_t)e;
	cl_route_weigh(s->route, &l->gates, scores, s->order,
	    l->rule->nexperts, s->gate);
	for (e = 0; e < l->rule->nexperts; e++)
		if (!isfinite(s->gate[e]))
			s->gate[e] = 0;
}

uint32_t
cl_smart_choose(struct cl_smart *s, uint32_t i, const float *scores,
    const uint16_t *plain, uint32_t n, const uint8_t *resident, uint16_t *ids,
    struct cl_smart_price *price)
{
	struct layer *l = &s->layer[i];
	uint32_t j;

	weigh(s, l, scores);
	memset(s->mark, OUT, l->rule->nexperts);
	for (j = 0; j < n; j++) {
		ids[j] = plain[j];
		s->mark[plain[j]] = PLAIN;
		price->gate_total += (double)s->gate[plain[j]];
	}
	price->choices += n;
	if (s->o.kind == CL_SMART_DELTA)
		choose_delta(s, l, scores, resident, ids, n);
	else if (s->o.kind == CL_SMART_RANK)
		choose_rank(s, l, scores, resident, ids, n);
	else if (s->o.kind == CL_SMART_PRIOR && n == l->rule->k)
		choose_prior(s, l, scores, resident, ids, n);
	memset(s->mark, OUT, l->rule->nexperts);
	add_price(s, scores, plain, ids, n, price);
	return (s->o.drop > 0 ? drop(s, l, resident, ids, n, price) : n);
}

void
cl_smart_free(struct cl_smart *s)
{

	if (s == NULL)
		return;
	cl_route_free(s->route);
	free(s->layer);
	free(s->mark);
	free(s->raised);
	free(s->order);
	free(s->gate);
	free(s);
}
