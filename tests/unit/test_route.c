/*
 * route: random rows against the rule written down again the slow way, and
 * rows in which much is equal, or no number at all.
 */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/rng.h"
#include "cl/route.h"
#include "route_check.h"
#include "unit.h"

/* The rule again, by counting for each expert how many are better. */
struct slow {
	float		x[E_MAX], p[E_MAX], s[E_MAX];
	bool		out[E_MAX];
};

static float
slow_gate(enum cl_gate gate, float x)
{

	if (gate == CL_GATE_SIGMOID)
		return (1.0f / (1.0f + (float)exp(-(double)x)));
	if (gate == CL_GATE_SQRT_SOFTPLUS)
		return (sqrtf(x > 20 ? x :
		    (float)log(1.0f + (float)exp((double)x))));
	return (x);
}

static bool
slow_softmax(const float *x, float *p, uint32_t n)
{
	float max = -INFINITY;
	double sum = 0;
	bool numbers = true;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (isfinite(x[i]) && x[i] > max)
			max = x[i];
		if (isnan(x[i]) || x[i] == INFINITY)
			numbers = false;
	}
	if (max == -INFINITY)
		numbers = false;
	for (i = 0; i < n; i++)
		if (isfinite(x[i]))
			sum += (float)exp((double)(x[i] - max));
	for (i = 0; i < n; i++)
		p[i] = isfinite(x[i]) ? (float)exp((double)(x[i] - max)) *
		    (float)(1 / sum) : x[i] == -INFINITY ? 0 : x[i];
	return (numbers);
}

static int
slow_class(float x)
{

	return (isnan(x) ? 0 : !isinf(x) ? 2 : x > 0 ? 3 : 1);
}

static bool
slow_better(const struct slow *w, uint32_t a, uint32_t b)
{
	int ca = slow_class(w->x[a]), cb = slow_class(w->x[b]);

	if (w->out[a] || w->out[b])
		return (!w->out[a] && w->out[b]);
	if (ca != cb)
		return (ca > cb);
	if (ca == 2 && w->s[a] != w->s[b])
		return (w->s[a] > w->s[b]);
	return (a < b);
}

static float
slow_group(const float *s, uint32_t n)
{
	float best = -INFINITY;
	uint32_t i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++) {
			if (i == j && n > 1)
				continue;
			if (n == 1 && s[i] > best)
				best = s[i];
			if (n > 1 && (s[i] == INFINITY || s[j] == INFINITY))
				best = INFINITY;
			if (n > 1 && s[i] + s[j] > best)
				best = s[i] + s[j];
		}
	return (best);
}

static void
slow_groups(const struct cl_rule *r, struct slow *w)
{
	uint32_t size = r->nexperts / r->ngroup, better, g, h, i;
	float mine, other;

	for (g = 0; g < r->ngroup; g++) {
		mine = slow_group(w->s + g * size, size);
		for (better = 0, h = 0; h < r->ngroup; h++) {
			other = slow_group(w->s + h * size, size);
			better += other > mine || (other == mine && h < g);
		}
		for (i = 0; i < size; i++)
			w->out[g * size + i] = better >= r->ngroup_used;
	}
}

/* Weights of ids[] by the rule; false where it gives none. */
static bool
slow_weigh(const struct cl_rule *r, const struct slow *w,
    const uint16_t *ids, float *out)
{
	float sum = 0;
	uint32_t j;

	for (j = 0; j < r->k; j++)
		out[j] = w->p[ids[j]];
	if (r->softmax_w && !slow_softmax(out, out, r->k))
		return (false);
	for (j = 0; j < r->k; j++)
		sum += out[j];
	for (j = 0; j < r->k; j++) {
		if (r->norm)
			out[j] /= sum < 0x1p-14f ? 0x1p-14f : sum;
		out[j] *= r->scale;
		if (!isfinite(out[j]))
			return (false);
	}
	return (true);
}

static bool
slow_choose(const struct cl_rule *r, const float *scores, uint16_t *ids,
    float *weights)
{
	struct slow w = { 0 };
	bool numbers = true;
	uint32_t better, i, j;

	for (i = 0; i < r->nexperts; i++) {
		w.x[i] = scores[i];
		if (r->gate_bias != NULL)
			w.x[i] += r->gate_bias[i];
		w.p[i] = slow_gate(r->gate, w.x[i]);
	}
	if (r->gate == CL_GATE_SOFTMAX)
		numbers = slow_softmax(w.x, w.p, r->nexperts);
	for (i = 0; i < r->nexperts; i++) {
		w.s[i] = r->select == CL_SELECT_PROBS ? w.p[i] :
		    r->select == CL_SELECT_LOGITS ? w.x[i] :
		    slow_gate(CL_GATE_SIGMOID, w.x[i]);
		if (r->sel_bias != NULL)
			w.s[i] += r->sel_bias[i];
	}
	if (r->ngroup > 1)
		slow_groups(r, &w);
	for (i = 0; i < r->nexperts; i++) {
		for (better = 0, j = 0; j < r->nexperts; j++)
			better += slow_better(&w, j, i);
		if (better < r->k)
			ids[better] = (uint16_t)i;
	}
	return (slow_weigh(r, &w, ids, weights) && numbers);
}

/*
 * A score on a grid of eighths, so that ties abound and no two scores are
 * near without being equal; now and then one that is no number.
 */
static float
random_score(uint64_t *rng, uint64_t odds)
{

	if (odds > 0 && cl_rng_below(rng, odds) == 0)
		switch (cl_rng_below(rng, 4)) {
		case 0:
			return (INFINITY);
		case 1:
			return (NAN);
		default:
			return (-INFINITY);
		}
	return ((float)cl_rng_below(rng, 321) / 8 - 20);
}

static void
random_rule(struct cl_rule *r, uint64_t *rng, float *gate_bias,
    float *sel_bias)
{
	uint32_t i, kept, size;

	r->gate = (enum cl_gate)(1 + cl_rng_below(rng, 4));
	r->select = (enum cl_select)(1 + cl_rng_below(rng, 3));
	r->ngroup = 1 + (uint32_t)cl_rng_below(rng, 6);
	size = 1 + (uint32_t)cl_rng_below(rng, E_MAX / 6);
	r->nexperts = size * r->ngroup;
	r->ngroup_used = 1 + (uint32_t)cl_rng_below(rng, r->ngroup);
	kept = size * r->ngroup_used;
	r->k = 1 + (uint32_t)cl_rng_below(rng, kept);
	if (cl_rng_below(rng, 4) != 0 && r->k > 10)
		r->k = 1 + (uint32_t)cl_rng_below(rng, 10);
	r->norm = cl_rng_below(rng, 2) == 0;
	r->softmax_w = r->gate == CL_GATE_SOFTMAX_WEIGHT;
	r->scale = cl_rng_below(rng, 2) == 0 ? 1 : 2.5f;
	for (i = 0; i < r->nexperts; i++) {
		gate_bias[i] = (float)cl_rng_below(rng, 17) / 8 - 1;
		sel_bias[i] = (float)cl_rng_below(rng, 17) / 8 - 1;
	}
	r->gate_bias = cl_rng_below(rng, 4) == 0 ? gate_bias : NULL;
	r->sel_bias = cl_rng_below(rng, 2) == 0 ? sel_bias : NULL;
}

static void
random_rows(void)
{
	static const uint64_t odds[] = { 0, 0, 50, 3 };
	float gate_bias[E_MAX], sel_bias[E_MAX], scores[E_MAX];
	float want_w[E_MAX], w[E_MAX];
	uint16_t want[E_MAX], ids[E_MAX];
	struct cl_route *rt = cl_route_new(E_MAX, NULL);
	struct cl_rule r;
	uint64_t rng = 1;
	uint32_t i, row;

	assert(rt != NULL);
	for (row = 0; row < 4000; row++) {
		cl_rule_init(&r, 1, 1);
		random_rule(&r, &rng, gate_bias, sel_bias);
		assert(cl_rule_check(&r, NULL) == CL_OK);
		for (i = 0; i < r.nexperts; i++)
			scores[i] = random_score(&rng, odds[row % 4]);
		cl_route_choose(rt, &r, scores, ids, w);
		if (slow_choose(&r, scores, want, want_w))
			for (i = 0; i < r.k; i++)
				check_weight(w[i], want_w[i]);
		assert(memcmp(ids, want, r.k * sizeof(*ids)) == 0);
		cl_route_choose(rt, &r, scores, ids, NULL);
		assert(memcmp(ids, want, r.k * sizeof(*ids)) == 0);
	}
	cl_route_free(rt);
}

/* Choose k of n with the plain rule, normalised. */
static void
choose(enum cl_gate gate, const float *scores, uint32_t n, uint32_t k,
    uint16_t *ids, float *w)
{
	struct cl_route *rt = cl_route_new(n, NULL);
	struct cl_rule r;

	assert(rt != NULL);
	cl_rule_init(&r, n, k);
	r.gate = gate;
	r.softmax_w = gate == CL_GATE_SOFTMAX_WEIGHT;
	cl_route_choose(rt, &r, scores, ids, w);
	cl_route_free(rt);
}

static void
all_nan(void)
{
	float scores[64], w[8];
	uint16_t ids[8];
	int gate, i;

	for (i = 0; i < 64; i++)
		scores[i] = NAN;
	for (gate = CL_GATE_SOFTMAX; gate <= CL_GATE_SOFTMAX_WEIGHT; gate++) {
		choose((enum cl_gate)gate, scores, 64, 8, ids, w);
		for (i = 0; i < 8; i++)
			assert(ids[i] == i && isnan(w[i]));
	}
}

static void
equal_scores(void)
{
	float scores[200] = { 0 }, w[150];
	uint16_t ids[150];
	int gate, i;

	for (gate = CL_GATE_SOFTMAX; gate <= CL_GATE_SOFTMAX_WEIGHT; gate++) {
		choose((enum cl_gate)gate, scores, 200, 10, ids, w);
		for (i = 0; i < 10; i++)
			assert(ids[i] == i && w[i] == w[0]);
		choose((enum cl_gate)gate, scores, 200, 150, ids, w);
		for (i = 0; i < 150; i++)
			assert(ids[i] == i && w[i] == w[0]);
	}
}

/* The k-th place falls among equals: the lower ones get it. */
static void
straddling_ties(void)
{
	float scores[64] = { 0 }, w[8];
	uint16_t ids[8];
	int i;

	for (i = 60; i > 0; i -= 6)
		scores[i] = 1;
	scores[63] = 2;
	choose(CL_GATE_SOFTMAX, scores, 64, 8, ids, w);
	assert(ids[0] == 63);
	for (i = 1; i < 8; i++)
		assert(ids[i] == 6 * i);
}

/* Pairs one float apart, the greater at the higher place. */
static void
neighbouring_floats(void)
{
	float scores[256], w[128];
	uint16_t ids[128];
	uint32_t i;

	for (i = 0; i < 256; i += 2) {
		scores[i] = 1.0f + (float)(128 - i / 2) / 64;
		scores[i + 1] = nextafterf(scores[i], INFINITY);
	}
	choose(CL_GATE_SOFTMAX_WEIGHT, scores, 256, 128, ids, w);
	for (i = 0; i < 128; i += 2)
		assert(ids[i] == i + 1 && ids[i + 1] == i);
	choose(CL_GATE_SOFTMAX_WEIGHT, scores, 256, 9, ids, w);
	for (i = 0; i < 8; i += 2)
		assert(ids[i] == i + 1 && ids[i + 1] == i);
	assert(ids[8] == 9);
}

/*
 * Crowds of scores a few floats apart, which the gate mostly makes equal; the
 * choice is the same whether or not weights are asked for.
 */
static void
crowded_rows(void)
{
	float gate_bias[E_MAX], sel_bias[E_MAX], scores[E_MAX], w[E_MAX];
	uint16_t ids[E_MAX], alone[E_MAX], want[E_MAX];
	float want_w[E_MAX], crowd[6];
	struct cl_route *rt = cl_route_new(E_MAX, NULL);
	struct cl_rule r;
	uint64_t rng = 2;
	uint32_t i, n, row;

	assert(rt != NULL);
	for (row = 0; row < 2000; row++) {
		cl_rule_init(&r, 1, 1);
		random_rule(&r, &rng, gate_bias, sel_bias);
		r.sel_bias = NULL;
		r.ngroup = r.ngroup_used = 1;
		for (i = 0; i < 6; i++)
			crowd[i] = random_score(&rng, 0);
		for (i = 0; i < r.nexperts; i++) {
			scores[i] = crowd[cl_rng_below(&rng, 6)];
			for (n = (uint32_t)cl_rng_below(&rng, 4); n > 0; n--)
				scores[i] = nextafterf(scores[i], INFINITY);
		}
		cl_route_choose(rt, &r, scores, ids, w);
		cl_route_choose(rt, &r, scores, alone, NULL);
		assert(memcmp(ids, alone, r.k * sizeof(*ids)) == 0);
		(void)slow_choose(&r, scores, want, want_w);
		assert(memcmp(ids, want, r.k * sizeof(*ids)) == 0);
	}
	cl_route_free(rt);
}

/*
 * The best k of n scores by softmax, k of them weighed or not, against the
 * slow rule; true if two of them have the same gate.
 */
static bool
softmax_ties(struct cl_route *rt, const float *scores, uint32_t n, uint32_t k)
{
	uint16_t ids[8], want[8];
	float w[8];
	struct cl_rule r;
	uint32_t j;
	bool tie = false;

	cl_rule_init(&r, n, k);
	r.norm = false;
	(void)slow_choose(&r, scores, want, w);
	cl_route_choose(rt, &r, scores, ids, NULL);
	assert(memcmp(ids, want, k * sizeof(*ids)) == 0);
	cl_route_choose(rt, &r, scores, ids, w);
	assert(memcmp(ids, want, k * sizeof(*ids)) == 0);
	for (j = 1; j < k; j++)
		tie |= w[j] == w[j - 1];
	return (tie);
}

/* exp(x - max) differs, and the product with the common factor does not. */
static void
division_ties(void)
{
	float low[4] = { 0, -0x1p-10f, 0, 0 };	/* a sum of nearly two */
	float near[3] = { 0, 0, 0 };
	struct cl_route *rt = cl_route_new(4, NULL);
	uint32_t i, nlow = 0, nnear = 0;

	assert(rt != NULL);
	for (i = 0; i < 4000; i++) {
		near[1] = -(float)(i + 1) / 4096;
		near[0] = nextafterf(near[1], -INFINITY);
		nnear += softmax_ties(rt, near, 3, 3);
		low[2] = -104 + (float)i / 1024;	/* gates are denormal */
		low[3] = low[2] + 0x1p-8f;
		nlow += softmax_ties(rt, low, 4, 4);
	}
	assert(nnear > 100 && nlow > 100);
	cl_route_free(rt);
}

static void
zeros_are_equal(void)
{
	float scores[6] = { -1, -0.0f, 0, -0.0f, 0, 1 }, w[5];
	uint16_t ids[5];
	uint32_t i;

	choose(CL_GATE_SOFTMAX_WEIGHT, scores, 6, 5, ids, w);
	assert(ids[0] == 5);
	for (i = 1; i < 5; i++)
		assert(ids[i] == i && w[i] == w[1]);
}

static void
identical_rows(void)
{
	float scores[128], w[8], again_w[8];
	uint16_t ids[8], again[8];
	struct cl_route *rt = cl_route_new(300, NULL);
	struct cl_rule r;
	uint64_t rng = 3;
	int i;

	assert(rt != NULL);
	cl_rule_init(&r, 128, 8);
	for (i = 0; i < 128; i++)
		scores[i] = (float)cl_rng_below(&rng, 5) / 4;
	cl_route_choose(rt, &r, scores, ids, w);
	for (i = 0; i < 1000; i++) {
		cl_route_choose(rt, &r, scores, again, again_w);
		assert(memcmp(ids, again, sizeof(ids)) == 0);
		assert(memcmp(w, again_w, sizeof(w)) == 0);
	}
	cl_route_free(rt);
}

static void
widest_row(void)
{
	uint32_t i, n = CL_RULE_EXPERTS_MAX;
	float *scores = calloc(n, sizeof(*scores));
	uint16_t *ids = calloc(n, sizeof(*ids));

	assert(scores != NULL && ids != NULL);
	for (i = 0; i < n; i++)
		scores[i] = (float)i * 0x1p-14f;
	choose(CL_GATE_SOFTMAX, scores, n, n, ids, NULL);
	for (i = 0; i < n; i++)
		assert(ids[i] == n - 1 - i);
	choose(CL_GATE_SIGMOID, scores, n, 3, ids, NULL);
	assert(ids[0] == n - 1 && ids[1] == n - 2 && ids[2] == n - 3);
	free(ids);
	free(scores);
}

static void
sizes_are_bounded(void)
{
	struct cl_err err = { 0 };

	assert(cl_route_new(0, &err) == NULL && err.code == CL_EINVAL);
	err.code = CL_OK;
	assert(cl_route_new(CL_RULE_EXPERTS_MAX + 1, &err) == NULL &&
	    err.code == CL_EINVAL);
	cl_route_free(NULL);
}

static const struct unit units[] = {
	{ "random rules on random rows agree with the rule written slowly",
	    random_rows },
	{ "a row of NaN chooses the first k and weighs them as no number",
	    all_nan },
	{ "equal scores go to the lower experts", equal_scores },
	{ "a tie at the last place goes to the lower experts",
	    straddling_ties },
	{ "scores one float apart are told apart", neighbouring_floats },
	{ "scores that crowd tie where their gates round to the same float",
	    crowded_rows },
	{ "gates that a softmax's division makes equal tie", division_ties },
	{ "zeros are equal whatever their signs", zeros_are_equal },
	{ "the same row gives the same choice a thousand times",
	    identical_rows },
	{ "the widest row is ordered, whole and in part", widest_row },
	{ "a router for no experts or too many is refused",
	    sizes_are_bounded },
};

UNIT_MAIN(units)
