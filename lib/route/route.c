/*
 * A rule applied to a row of scores, step by step as cl/rule.h states it.
 * Scores are gated for all experts only where the selection or a softmax asks
 * for it.  Scratch is made once, for the largest rule.
 */

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/route.h"
#include "route_int.h"

#define NORM_MIN	6.103515625e-05f /* 2^-14, the least half float */
#define CLEARLY		(1 + 0x1p-20f)
#define CLEAR_MIN	0x1p-100f

struct cl_route {
	uint32_t	 nexperts;	/* fixed at cl_route_new */
	float		*x;		/* scores with the gate bias */
	float		*p;		/* gates */
	float		*s;		/* selection scores */
	int32_t		*key;
	double		*wide;		/* scratch of the gates */
	uint16_t	*near;		/* the chosen, and the next best */
	struct cl_route_top top;	/* scratch of the selection */
	float		*group_score;
	int32_t		*group_key;
	uint16_t	*groups;	/* best first */
};

struct cl_route *
cl_route_new(uint32_t nexperts, struct cl_err *err)
{
	struct cl_route *rt;
	size_t n = nexperts, padded = n + CL_ROUTE_PAD;

	if (n == 0 || n > CL_RULE_EXPERTS_MAX) {
		cl_fail(err, CL_EINVAL, "a router for %u experts; 1 to %d",
		    nexperts, CL_RULE_EXPERTS_MAX);
		return (NULL);
	}
	if ((rt = calloc(1, sizeof(*rt))) == NULL)
		goto nomem;
	rt->nexperts = nexperts;
	if ((rt->x = calloc(n, sizeof(*rt->x))) == NULL ||
	    (rt->p = calloc(n, sizeof(*rt->p))) == NULL ||
	    (rt->s = calloc(n, sizeof(*rt->s))) == NULL ||
	    (rt->key = calloc(padded, sizeof(*rt->key))) == NULL ||
	    (rt->wide = calloc(n, sizeof(*rt->wide))) == NULL ||
	    (rt->near = calloc(n, sizeof(*rt->near))) == NULL ||
	    (rt->top.candidate = calloc(n, sizeof(uint16_t))) == NULL ||
	    (rt->top.heap = calloc(n, sizeof(uint64_t))) == NULL ||
	    (rt->group_score = calloc(n, sizeof(*rt->group_score))) == NULL ||
	    (rt->group_key = calloc(padded, sizeof(*rt->group_key))) == NULL ||
	    (rt->groups = calloc(n, sizeof(*rt->groups))) == NULL)
		goto nomem;
	return (rt);
nomem:
	cl_route_free(rt);
	cl_fail_nomem(err, "a router");
	return (NULL);
}

static const float *
add_bias(float *sum, const float *a, const float *bias, uint32_t n)
{
	uint32_t i;

	if (bias == NULL)
		return (a);
	for (i = 0; i < n; i++)
		sum[i] = a[i] + bias[i];
	return (sum);
}

/* Gates of all experts into rt->p; false where a softmax gives no numbers. */
static bool
gate_all(struct cl_route *rt, const struct cl_rule *rule, const float *x)
{

	if (rule->gate == CL_GATE_SOFTMAX)
		return (cl_route_softmax(x, rt->p, rule->nexperts, rt->wide));
	cl_route_gate_each(rule->gate, x, rt->p, rule->nexperts, rt->wide);
	return (true);
}

/*
 * The sum of the two greatest, which are sought in four strands.  NaN is above
 * nothing, and so counts as -inf.
 */
static float
group_score(const float *s, uint32_t n)
{
	const four none = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };
	four first = none, second = none, v, lesser;
	float tail[4] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };
	float a = -INFINITY, b = -INFINITY;
	uint32_t i;

	for (i = 0; i < n; i += 4) {
		if (n - i < 4)
			memcpy(tail, s + i, (n - i) * sizeof(*s));
		memcpy(&v, n - i < 4 ? tail : s + i, sizeof(v));
		lesser = cl_route_pick(v > first, first, v);
		first = cl_route_pick(v > first, v, first);
		second = cl_route_pick(lesser > second, lesser, second);
	}
	for (i = 0; i < 4; i++) {
		b = first[i] > b ? first[i] : b;
		b = first[i] > a ? a : b;
		a = first[i] > a ? first[i] : a;
	}
	for (i = 0; i < 4; i++)
		b = second[i] > b ? second[i] : b;
	return (n == 1 || a == INFINITY ? a : a + b);
}

/* Take the experts of all but the best groups out of the choice. */
static void
drop_groups(struct cl_route *rt, const struct cl_rule *rule, const float *s)
{
	uint32_t size = rule->nexperts / rule->ngroup;
	uint32_t g, i;
	int32_t *key;

	for (g = 0; g < rule->ngroup; g++)
		rt->group_score[g] = group_score(s + g * size, size);
	cl_route_keys(rt->group_score, rt->group_score, rule->ngroup,
	    rt->group_key);
	cl_route_top(rt->group_key, rule->ngroup, rule->ngroup, rt->groups,
	    &rt->top);
	for (g = rule->ngroup_used; g < rule->ngroup; g++) {
		key = rt->key + rt->groups[g] * size;
		for (i = 0; i < size; i++)
			key[i] = CL_ROUTE_NEVER;
	}
}

/* The experts with the greatest selection scores s, which x led to. */
static void
choose(struct cl_route *rt, const struct cl_rule *rule, const float *x,
    const float *s, uint16_t *ids)
{

	s = add_bias(rt->s, s, rule->sel_bias, rule->nexperts);
	cl_route_keys(s, x, rule->nexperts, rt->key);
	if (rule->ngroup > 1 && rule->ngroup_used < rule->ngroup)
		drop_groups(rt, rule, s);
	cl_route_top(rt->key, rule->nexperts, rule->k, ids, &rt->top);
}

static void
no_weights(float *w, uint32_t n)
{
	uint32_t j;

	for (j = 0; j < n; j++)
		w[j] = NAN;
}

/* From gates of the chosen to their weights, in place. */
static void
finish(struct cl_route *rt, const struct cl_rule *rule, float *w, uint32_t n)
{
	float divisor;
	double sum = 0;
	uint32_t j;

	if (rule->softmax_w && !cl_route_softmax(w, w, n, rt->wide))
		no_weights(w, n);
	if (rule->norm) {
		for (j = 0; j < n; j++)
			sum += w[j];
		divisor = (float)sum;
		divisor = divisor < NORM_MIN ? NORM_MIN : divisor;
		for (j = 0; j < n; j++)
			w[j] /= divisor;
	}
	for (j = 0; j < n; j++)
		w[j] *= rule->scale;
}

/* The weights of experts whose raw scores, bias included, are in x. */
static void
weigh(struct cl_route *rt, const struct cl_rule *rule, const float *x,
    const uint16_t *ids, uint32_t n, float *w)
{
	uint32_t j;

	if (rule->gate == CL_GATE_SOFTMAX && !gate_all(rt, rule, x)) {
		no_weights(w, n);
		return;
	}
	if (rule->gate == CL_GATE_SOFTMAX)
		x = rt->p;
	for (j = 0; j < n; j++)
		w[j] = x[ids[j]];
	if (rule->gate != CL_GATE_SOFTMAX)
		cl_route_gate_each(rule->gate, w, w, n, rt->wide);
	finish(rt, rule, w, n);
}

/* Select by gates, which are then at hand for the weights. */
static void
choose_by_gates(struct cl_route *rt, const struct cl_rule *rule,
    const float *x, uint16_t *ids, float *w)
{
	bool numbers = gate_all(rt, rule, x);
	uint32_t j;

	choose(rt, rule, x, rt->p, ids);
	if (w == NULL)
		return;
	for (j = 0; j < rule->k; j++)
		w[j] = rt->p[ids[j]];
	if (numbers)
		finish(rt, rule, w, rule->k);
	else
		no_weights(w, rule->k);
}

/*
 * A gate grows weakly with its score.  So where the k + 1 greatest scores are
 * finite and their gates clearly fall, the gates of all others lie at or below
 * the last of them, and the choice is that of the scores: few gates tell what
 * all of them would.  Clearly means by more than the rounding of a softmax's
 * common factor, which is left out here, and above where floats thin out.
 */
static bool
choose_clear(struct cl_route *rt, const struct cl_rule *rule, const float *x,
    uint16_t *ids)
{
	uint32_t n = rule->k < rule->nexperts ? rule->k + 1 : rule->k, j;
	float *p = rt->p;

	cl_route_keys(x, x, rule->nexperts, rt->key);
	cl_route_top(rt->key, rule->nexperts, n, rt->near, &rt->top);
	for (j = 0; j < n; j++)
		p[j] = x[rt->near[j]];
	if (!(p[0] < INFINITY && p[n - 1] > -INFINITY))
		return (false);
	if (rule->gate == CL_GATE_SOFTMAX)
		cl_route_softmax_terms(p, n, p[0], rt->wide);
	else
		cl_route_gate_each(rule->gate, p, p, n, rt->wide);
	for (j = 1; j < n; j++)
		if (!(p[j - 1] > p[j] * CLEARLY))
			return (false);
	if (!(p[n - 1] > CLEAR_MIN))
		return (false);
	memcpy(ids, rt->near, rule->k * sizeof(*ids));
	return (true);
}

/* Is the selection by gates that are not the scores themselves? */
static bool
is_gated(const struct cl_rule *rule)
{

	return (rule->select == CL_SELECT_PROBS &&
	    rule->gate != CL_GATE_SOFTMAX_WEIGHT);
}

/* Is choose_clear right to try, and not work done twice? */
static bool
may_be_clear(const struct cl_rule *rule, const float *weights)
{

	return (rule->sel_bias == NULL && rule->ngroup == rule->ngroup_used &&
	    (weights == NULL || rule->gate != CL_GATE_SOFTMAX));
}

void
cl_route_choose(struct cl_route *rt, const struct cl_rule *rule,
    const float *scores, uint16_t *ids, float *weights)
{
	const float *x;

	assert(rule->nexperts <= rt->nexperts);
	assert(rule->select != CL_SELECT_TABLE);
	x = add_bias(rt->x, scores, rule->gate_bias, rule->nexperts);
	if (is_gated(rule)) {
		if (!may_be_clear(rule, weights) ||
		    !choose_clear(rt, rule, x, ids)) {
			choose_by_gates(rt, rule, x, ids, weights);
			return;
		}
	} else if (rule->select == CL_SELECT_SIGMOID) {
		cl_route_gate_each(CL_GATE_SIGMOID, x, rt->p, rule->nexperts,
		    rt->wide);
		choose(rt, rule, x, rt->p, ids);
	} else
		choose(rt, rule, x, x, ids);
	if (weights != NULL)
		weigh(rt, rule, x, ids, rule->k, weights);
}

void
cl_route_weigh(struct cl_route *rt, const struct cl_rule *rule,
    const float *scores, const uint16_t *ids, uint32_t n, float *weights)
{
	const float *x;

	assert(rule->nexperts <= rt->nexperts && n <= rt->nexperts);
	x = add_bias(rt->x, scores, rule->gate_bias, rule->nexperts);
	weigh(rt, rule, x, ids, n, weights);
}

void
cl_route_free(struct cl_route *rt)
{

	if (rt == NULL)
		return;
	free(rt->x);
	free(rt->p);
	free(rt->s);
	free(rt->key);
	free(rt->wide);
	free(rt->near);
	free(rt->top.candidate);
	free(rt->top.heap);
	free(rt->group_score);
	free(rt->group_key);
	free(rt->groups);
	free(rt);
}
