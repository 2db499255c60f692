#ifndef CL_ELEM_H
#define CL_ELEM_H

/*
 * Elementary functions that are the same on every machine: IEEE double
 * additions and multiplications in a stated order and nothing of libm, whose
 * last bit differs from one to the next.  The error is below 2^-48 of the
 * value, so that rounding to float is right but for one case in millions.
 * Must be compiled without contraction (-ffp-contract=off).
 */

#include <stddef.h>

/* Beyond this exp() is 0 or infinite as a float, and is not told apart. */
#define CL_ELEM_EXP_MAX		110.0

/*
 * y[i] = exp(y[i]) for n of them, in place, each argument first brought into
 * -CL_ELEM_EXP_MAX to CL_ELEM_EXP_MAX; not a number stays that.
 */
void	cl_elem_exp(double *y, size_t n);

/* ln(x), for x that is finite, positive and no denormal. */
double	cl_elem_ln(double x);

#endif /* CL_ELEM_H */
