#ifndef CL_ORDER_H
#define CL_ORDER_H

/*
 * The order of a few numbers, by counting: all are compared with all, which has
 * no branch that the numbers decide.  Those of a sort cannot be foretold, and
 * cost more, up to some dozens of numbers.  Cannot fail.
 */

#include <stdint.h>

#define CL_ORDER_FEW	32u		/* numbers, up to which it pays */

/*
 * How many are less than each of n numbers: the place that it has where they
 * are sorted, the first of them for those that are equal.  Its time grows with
 * n x n: more than CL_ORDER_FEW are for a sort.  The two must not overlap.
 */
static inline void
cl_order_ranks(const uint32_t *number, uint32_t n, uint32_t *rank)
{
	uint32_t i, j, less;

	for (i = 0; i < n; i++) {
		for (less = 0, j = 0; j < n; j++)
			less += number[j] < number[i];
		rank[i] = less;
	}
}

#endif /* CL_ORDER_H */
