/*
 * Gates as ggml computes them on a CPU, in float32 with sums in double
 * (ggml/src/ggml-cpu: ops.cpp, vec.cpp, unary-ops.cpp): the rounding is part
 * of the rule, since experts whose gates round to the same float tie.  Only
 * the exponential is our own.  The order of sums is fixed here, and differs
 * from ggml's, which depends on the processor; a double absorbs that.
 */

#include <float.h>
#include <math.h>
#include <string.h>

#include "cl/elem.h"
#include "route_int.h"

#define SOFTPLUS_MAX	20.0f		/* above it ggml takes x itself */

/* The greatest finite score, or -inf; *odd if one is NaN or +inf. */
static float
greatest_finite(const float *x, uint32_t n, bool *odd)
{
	const four none = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };
	four max = none, v;
	quad below, all = { -1, -1, -1, -1 };
	float tail[4] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };
	uint32_t i, take;

	for (i = 0; i < n; i += 4) {
		take = n - i < 4 ? n - i : 4;
		if (take == 4)
			memcpy(&v, x + i, sizeof(v));
		else {
			memcpy(tail, x + i, take * sizeof(*x));
			memcpy(&v, tail, sizeof(v));
		}
		below = v < INFINITY;
		all &= below;
		v = cl_route_pick(below, v, none);
		max = cl_route_pick(v > max, v, max);
	}
	*odd = (all[0] & all[1] & all[2] & all[3]) == 0;
	for (i = 1; i < 4; i++)
		max[0] = max[i] > max[0] ? max[i] : max[0];
	return (max[0]);
}

/* Round each of e to float, into p, and return their sum, in four strands. */
static double
round_and_sum(const double *e, float *p, uint32_t n)
{
	double a = 0, b = 0, c = 0, d = 0;
	uint32_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		a += p[i] = (float)e[i];
		b += p[i + 1] = (float)e[i + 1];
		c += p[i + 2] = (float)e[i + 2];
		d += p[i + 3] = (float)e[i + 3];
	}
	for (; i < n; i++)
		a += p[i] = (float)e[i];
	return ((a + b) + (c + d));
}

static void
scale(float *p, float by, uint32_t n)
{
	four v;
	uint32_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		memcpy(&v, p + i, sizeof(v));
		v *= by;
		memcpy(p + i, &v, sizeof(v));
	}
	for (; i < n; i++)
		p[i] *= by;
}

void
cl_route_softmax_terms(float *p, uint32_t n, float max, double *e)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		e[i] = p[i] - max;
	cl_elem_exp(e, n);
	for (i = 0; i < n; i++)
		p[i] = (float)e[i];
}

/* Softmax of what is finite; NaN and +inf stay as they are. */
static void
softmax_odd(const float *x, float max, float *p, uint32_t n, double *e)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		e[i] = x[i] < INFINITY ? x[i] - max : -INFINITY;
	cl_elem_exp(e, n);
	for (i = 0; i < n; i++)
		sum += (float)e[i];
	for (i = 0; i < n; i++)
		p[i] = x[i] < INFINITY ? (float)e[i] * (float)(1 / sum) :
		    x[i];
}

bool
cl_route_softmax(const float *x, float *p, uint32_t n, double *e)
{
	float max;
	uint32_t i;
	bool odd;

	max = greatest_finite(x, n, &odd);
	if (max == -INFINITY) {			/* nothing finite */
		for (i = 0; i < n; i++)
			p[i] = x[i] == -INFINITY ? 0 : x[i];
		return (false);
	}
	if (odd) {
		softmax_odd(x, max, p, n, e);
		return (false);
	}
	for (i = 0; i < n; i++)
		e[i] = x[i] - max;
	cl_elem_exp(e, n);
	scale(p, (float)(1 / round_and_sum(e, p, n)), n);
	return (true);
}

/*
 * 1 / (1 + exp(-x)) in float, but where exp(-x) leaves a float's range, so
 * that gates that are denormal floats stay in order.
 */
static void
sigmoid(const float *x, float *p, uint32_t n, double *e)
{
	float q;
	uint32_t i;

	for (i = 0; i < n; i++)
		e[i] = -x[i];
	cl_elem_exp(e, n);
	for (i = 0; i < n; i++) {
		q = 1.0f / (1.0f + (float)e[i]);
		p[i] = e[i] > FLT_MAX ? (float)(1 / (1 + e[i])) : q;
	}
}

static void
sqrt_softplus(const float *x, float *p, uint32_t n, double *e)
{
	float v;
	uint32_t i;

	for (i = 0; i < n; i++)
		e[i] = x[i];
	cl_elem_exp(e, n);
	for (i = 0; i < n; i++) {
		v = x[i];
		if (v <= SOFTPLUS_MAX)
			v = (float)cl_elem_ln(1.0f + (float)e[i]);
		p[i] = sqrtf(v);
	}
}

void
cl_route_gate_each(enum cl_gate gate, const float *x, float *p, uint32_t n,
    double *scratch)
{
	uint32_t i;

	if (gate == CL_GATE_SIGMOID)
		sigmoid(x, p, n, scratch);
	else if (gate == CL_GATE_SQRT_SOFTPLUS)
		sqrt_softplus(x, p, n, scratch);
	else if (p != x)
		for (i = 0; i < n; i++)
			p[i] = x[i];
}
