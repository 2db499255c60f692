#ifndef CL_ROUTE_H
#define CL_ROUTE_H

/*
 * route/: scores and rules to experts; knows no cache and no file.
 *
 * Applies a router rule (cl/rule.h) to one row of raw scores.  Selection
 * compares float32 values as llama.cpp does, and breaks ties by the lower
 * expert: +inf first, then finite scores, then -inf, then NaN.  Always k
 * different experts.  The exponential is our own, in double and without
 * fused operations, so that the same scores give the same experts and weights
 * on every machine.  A router owns scratch: one per thread.
 */

#include <stdint.h>

#include "cl/rule.h"

struct cl_err;
struct cl_route;

/* A router for rules of at most nexperts experts. */
struct cl_route	*cl_route_new(uint32_t nexperts, struct cl_err *);

/*
 * Choose rule->k experts for scores[0..E-1]: ids in rank order, and their
 * weights unless weights is NULL (not a number where the rule gives none).
 * Cannot fail; the rule must have passed cl_rule_check and select by scores.
 */
void	cl_route_choose(struct cl_route *, const struct cl_rule *,
	    const float *scores, uint16_t *ids, float *weights);

/* The weights of given experts (n of them, each < E), by the same rule. */
void	cl_route_weigh(struct cl_route *, const struct cl_rule *,
	    const float *scores, const uint16_t *ids, uint32_t n,
	    float *weights);

void	cl_route_free(struct cl_route *);		/* NULL is legal */

#endif /* CL_ROUTE_H */
