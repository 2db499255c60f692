#ifndef ROUTE_INT_H
#define ROUTE_INT_H

/*
 * What the parts of route share: gates over arrays of scores (route_gate.c)
 * and the selection of the greatest by integer keys (route_top.c).
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/rule.h"

/* Four numbers, as gcc and clang compute with them; a quad is also a mask. */
typedef int32_t quad __attribute__((vector_size(16)));
typedef float four __attribute__((vector_size(16)));

static inline four
cl_route_pick(quad mask, four yes, four no)
{

	return ((four)(((quad)yes & mask) | ((quad)no & ~mask)));
}

/*
 * Order-preserving keys of scores: a finite or infinite float has the key of
 * its place in the order of floats, and these lie outside.
 */
#define CL_ROUTE_FIRST	INT32_MAX	/* a raw score of +inf */
#define CL_ROUTE_MINUS	(INT32_MIN + 2)	/* a raw score of -inf */
#define CL_ROUTE_NAN	(INT32_MIN + 1)
#define CL_ROUTE_NEVER	INT32_MIN	/* may not be chosen */

/* p[i] = exp(p[i] - max), what a softmax sums and divides; n of them. */
void	cl_route_softmax_terms(float *p, uint32_t n, float max,
	    double *scratch);

/*
 * Softmax of x[0..n-1] into p, which may be x.  False where it gives no
 * numbers: with NaN, with +inf, or with -inf only.  p is then that of the
 * finite scores, with NaN and +inf as they were, which still orders them.
 * scratch holds n.
 */
bool	cl_route_softmax(const float *x, float *p, uint32_t n,
	    double *scratch);

/* A gate that looks at one score alone, for n of them; p may be x. */
void	cl_route_gate_each(enum cl_gate, const float *x, float *p,
	    uint32_t n, double *scratch);

/* Keys are padded to a multiple of this, and so must their arrays be. */
#define CL_ROUTE_PAD	8

/*
 * Keys of the scores s, given the raw scores x that they came from (they may
 * be the same array), and of the padding.
 */
void	cl_route_keys(const float *s, const float *x, uint32_t n,
	    int32_t *key);

/* Scratch of a selection from n. */
struct cl_route_top {
	uint16_t	*candidate;	/* n */
	uint64_t	*heap;		/* n */
};

/*
 * The k places of the greatest keys, greatest first, equal ones by lower
 * place.  At least k keys are not CL_ROUTE_NEVER.
 */
void	cl_route_top(const int32_t *key, uint32_t n, uint32_t k,
	    uint16_t *places, struct cl_route_top *);

#endif /* ROUTE_INT_H */
