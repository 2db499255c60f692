/*
 * Gates as ggml computes them on a CPU, in float32 with sums in double
 * (ggml/src/ggml-cpu: ops.cpp, vec.cpp, unary-ops.cpp): the rounding is part
 * of the rule, since experts whose gates round to the same float tie.  Only
 * the exponential is our own.  The order of sums is fixed here, and differs
 * from ggml's, which depends on the processor; a double absorbs that.
 */

#include <float.h>
#include <math.h>

#include "cl/elem.h"
#include "route_int.h"

#define SOFTPLUS_MAX	20.0f		/* above it ggml takes x itself */
#define LANES		4		/* of a sum: independent additions */

/* The greatest finite score, or -inf; *odd if one is NaN or +inf. */
static float
greatest_finite(const float *x, uint32_t n, bool *odd)
{
	float lane[LANES] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY };
	float v, max = -INFINITY;
	uint32_t i, j, strange = 0;

	for (i = 0; i + LANES <= n; i += LANES)
		for (j = 0; j < LANES; j++) {
			v = x[i + j];
			strange |= !(v < INFINITY);
			v = v < INFINITY ? v : -INFINITY;
			lane[j] = v > lane[j] ? v : lane[j];
		}
	for (; i < n; i++) {
		v = x[i];
		strange |= !(v < INFINITY);
		v = v < INFINITY ? v : -INFINITY;
		max = v > max ? v : max;
	}
	for (j = 0; j < LANES; j++)
		max = lane[j] > max ? lane[j] : max;
	*odd = strange != 0;
	return (max);
}

/* Round each of e to float and return their sum. */
static double
round_and_sum(double *e, uint32_t n)
{
	double lane[LANES] = { 0, 0, 0, 0 };
	uint32_t i, j;

	for (i = 0; i + LANES <= n; i += LANES)
		for (j = 0; j < LANES; j++) {
			e[i + j] = (float)e[i + j];
			lane[j] += e[i + j];
		}
	for (; i < n; i++) {
		e[i] = (float)e[i];
		lane[0] += e[i];
	}
	return ((lane[0] + lane[1]) + (lane[2] + lane[3]));
}

bool
cl_route_softmax(const float *x, float *p, uint32_t n, double *e)
{
	float inv, max;
	uint32_t i;
	bool odd;

	max = greatest_finite(x, n, &odd);
	if (max == -INFINITY) {			/* nothing finite */
		for (i = 0; i < n; i++)
			p[i] = x[i] == -INFINITY ? 0 : x[i];
		return (false);
	}
	for (i = 0; i < n; i++)
		e[i] = x[i] - max;
	if (odd)
		for (i = 0; i < n; i++)
			if (!(x[i] < INFINITY))
				e[i] = -INFINITY;
	cl_elem_exp(e, n);
	inv = (float)(1 / round_and_sum(e, n));
	if (!odd)
		for (i = 0; i < n; i++)
			p[i] = (float)e[i] * inv;
	else
		for (i = 0; i < n; i++)
			p[i] = x[i] < INFINITY ? (float)e[i] * inv : x[i];
	return (!odd);
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
